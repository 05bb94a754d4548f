/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kinds of values that a pattern cannot say: file modes, addresses, remote
 * paths. In a pack: `%1=:mode-777`.
 */
#include "config.h"

#include "guard/check.h"
#include "guard/pack_internal.h"

#include <string.h>
#include <strings.h>

#include "guard/found.h"

enum value {
	VALUE_MODE_777,
	VALUE_MODE_WORLD,
	VALUE_MODE_STICKY,
	VALUE_MODE_SETUID,
	VALUE_MODE_NONE,
	VALUE_URL,
	VALUE_REMOTE_PATH,
	VALUE_LOCALHOST,
	VALUE_HUGE,
	VALUE_FOREIGN_PATH,
	VALUE_EMPTY,
	VALUE_HOLE,
	VALUE_BIND_ROOT,
	VALUE_NUMBER,
	VALUE_TAINTED,
	VALUE_LABEL_HOLE,
	VALUE_METADATA,
	VALUE_UMASK,
	VALUE_PARENT,
	VALUE_SECRET_NAME,
	VALUE_BIND_HOME,
	VALUE_GIT_PATTERN,
	VALUE_GIT_PATH,
	VALUE_GIT_REGEX,
	VALUE_SOME_NAME,
	VALUE_SOME_PART,
	VALUE_UNKNOWN_NAME,
	VALUE_UNKNOWN_VERB,
	VALUE_HUGE_COUNT,
	VALUE_WIDE,
	VALUE_PROCESS,
	VALUE_HOSTED,
	VALUE_FLAKE_URL,
	VALUE_GIT_INSIDE,
	VALUE_EX_SHELL,
	VALUE_EVERY_PROCESS,
	VALUE_PROC_NUMBER,
	VALUE_OWN_GROUP,
	VALUE_AT_FILE,
	VALUE_RANGE,
	VALUE_SENT_SECRET,
	VALUE_SENT_FIELD,
	VALUE_TREE_NAME,
	VALUE_PIPE,
	VALUE_COUNT
};

static const char *const names[VALUE_COUNT] = {
	"mode-777",	"mode-world",	"mode-sticky", "mode-setuid",
	"mode-none",	"url",		"remote-path", "localhost",
	"huge",		"foreign-path", "empty",       "hole",
	"bind-root",	"number",	"secret",      "secret-or-output",
	"metadata",	"umask",	"parent",      "secret-variable",
	"bind-home",	"git-pattern",	"git-path",    "git-regex",
	"some-name",	"some-part",	"unknown-name", "unknown-verb",
	"huge-count",	"wide",
	"process",	"hosted",	"flake-url",   "git-inside",
	"ex-shell",
	"every-process", "proc-number", "own-group",   "at-file",
	"range",	"sent-secret",	"sent-field",  "tree-name",
	"pipe",
};

int ab_value_named(const char *name)
{
	for (int i = 0; i < VALUE_COUNT; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return -1;
}

bool ab_value_is_in_git(int value)
{
	return value == VALUE_GIT_INSIDE;
}

/* What a mode gives: bits as in chmod(2), setuid ones kept. */
struct mode {
	uint32_t gives;	 /* of 07777, set or added */
	bool is_octal, is_good;
};

static bool octal_mode(const char *s, uint32_t n, struct mode *m)
{
	uint32_t value = 0;

	if (!n || n > 6)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '7')
			return false;
		value = value * 8 + (uint32_t)(s[i] - '0');
	}
	*m = (struct mode){ .gives = value, .is_octal = true,
			    .is_good = true };
	return true;
}

/* One clause of a symbolic mode: [ugoa]*([-+=]([rwxXst]*|[ugo]|[0-7]+))+ */
static bool symbolic_clause(const char *s, uint32_t n, struct mode *m)
{
	uint32_t i = 0, who = 0;
	struct mode octal;
	char op = 0;

	/* rsync: of directories or of files */
	i += n && (*s == 'D' || *s == 'F');
	while (i < n && memchr("ugoa", s[i], 4)) {
		who |= s[i] == 'u' ? 0700u
		     : s[i] == 'g' ? 0070u
		     : s[i] == 'o' ? 0007u
				   : 0777u;
		i++;
	}
	if (i == n || !memchr("+-=", s[i], 3))
		return false;
	/* without anybody named the umask keeps others from writing */
	bool is_masked = !who;
	uint32_t mask = who ? who : 0755u;

	for (; i < n; i++) {
		uint32_t bits = 0;

		switch (s[i]) {
		case '+':
		case '-':
		case '=':
			op = s[i];
			/* chmod(1): =777 is no clause of letters */
			if (!octal_mode(s + i + 1, n - i - 1, &octal))
				continue;
			bits = octal.gives;
			i = n;
			break;
		case 'r':
			bits |= 0444u & mask;
			break;
		case 'w':
			bits |= 0222u & mask;
			break;
		case 'x':
		case 'X':
			bits |= 0111u & mask;
			break;
		case 's':
			bits |= (is_masked ? 0700u : mask) & 0700u ? 04000u
								   : 0u;
			bits |= mask & 0070u ? 02000u : 0u;
			break;
		case 'u':
			/* what its owner may do, who may write */
			bits |= 0777u & mask;
			break;
		case 't':
		case 'g':
		case 'o':
			break;
		default:
			return false;
		}
		if (op != '-')
			m->gives |= bits;
	}
	return true;
}

static struct mode mode_of(const struct ab_word *w)
{
	struct mode m = { 0 };

	if (octal_mode(w->text, w->len, &m))
		return m;
	m.is_good = w->len > 0;
	for (uint32_t at = 0; at < w->len && m.is_good;) {
		const char *comma = memchr(w->text + at, ',', w->len - at);
		uint32_t end = comma ? (uint32_t)(comma - w->text) : w->len;

		m.is_good = symbolic_clause(w->text + at, end - at, &m);
		at = end + 1;
	}
	if (!m.is_good)
		m.gives = 0;
	return m;
}

static inline bool contains(const struct ab_word *w, const char *text)
{
	const char *first = memchr(w->text, *text, w->len);

	return first && memmem(first, (size_t)(w->text + w->len - first), text,
			       strlen(text)) != NULL;
}

static bool is_ex_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* vi: `!` runs a command, but for what makes a command of its own more so:
   `wq!`, `Lazy! sync`. */
static bool is_ex_shell(const struct ab_word *w)
{
	static const char *const reads[] = { "r", "re", "rea", "read" };
	const char *s = w->text, *norm = memmem(s, w->len, "norm", 4);
	uint32_t from;

	for (uint32_t i = 0; i + 1 < w->len; i++) {
		if (s[i] != '!')
			continue;
		for (from = i; from && is_ex_letter(s[from - 1]);)
			from--;
		if (from == i || (from && s[from - 1] == '\'') ||
		    (norm && norm < s + i))
			return true;
		for (size_t n = 0; n < AB_ARRAY_LEN(reads); n++) {
			if (strlen(reads[n]) == i - from &&
			    !memcmp(reads[n], s + from, i - from))
				return true;
		}
	}
	return false;
}

/* It ends with a byte that stands for itself, and none of these. */
static bool ends_otherwise(const struct ab_word *w, const char *ends)
{
	char last = w->len ? w->text[w->len - 1] : '*';

	return !strchr("*?]\\)", last) && !strchr(ends, last);
}

/* ".gi*t", "[.]git": what find takes for .git; "*" and ".*" are no word
   about it. What ends as ".git" is a repository, too. */
static bool is_git_pattern(const struct ab_word *w)
{
	static const char name[] = ".git";
	uint32_t signs = 0;

	if (w->len >= 4 && !memcmp(w->text + w->len - 4, name, 4))
		return true;
	if (ends_otherwise(w, "tT"))
		return false;
	for (uint32_t k = 0; k < w->len; k++)
		signs += w->text[k] != '*' && w->text[k] != '?';
	return signs >= 2 &&
	       ab_pattern_may_take(w->text, w->len, name, 4, true);
}

/* A name that find looks for may be one of those in .git; a star alone is no
   word about it. */
static bool is_git_inside(const struct ab_word *w)
{
	static const char *const inside[] = {
		"HEAD",	    "ORIG_HEAD", "FETCH_HEAD", "packed-refs",
		"config",   "index",	 "refs",       "objects",
		"pack-0.pack", "pack-0.idx",
	};
	uint32_t signs = 0;

	if (ends_otherwise(w, "Dskgx"))
		return false;
	for (uint32_t k = 0; k < w->len; k++)
		signs += w->text[k] != '*' && w->text[k] != '?';
	for (size_t i = 0; signs && i < AB_ARRAY_LEN(inside); i++) {
		if (ab_pattern_may_take(w->text, w->len, inside[i],
					strlen(inside[i]), false))
			return true;
	}
	return false;
}

/* The same of find's -path, where a star takes slashes as well: something in
   a .git here or further down. */
static bool is_git_path(const struct ab_word *w)
{
	static const char *const paths[] = {
		".git", "./.git", "./.git/config", "./.git/hooks/x",
		"./a/.git", "./a/.git/config"
	};
	uint32_t signs = 0;

	if (ends_otherwise(w, "tgxTGX"))
		return false;
	for (uint32_t k = 0; k < w->len; k++)
		signs += !memchr("*?/", w->text[k], 3) &&
			 !(k == 0 && w->text[k] == '.');
	for (size_t i = 0; signs && i < AB_ARRAY_LEN(paths); i++) {
		if (ab_pattern_may_take(w->text, w->len, paths[i],
					strlen(paths[i]), true))
			return true;
	}
	return false;
}

/* Behind what may be this letter in either case, or NULL. *is_said: not only
   because anything may be there. */
static const char *skip_letter(const char *s, const char *end, char letter,
			       bool *is_said)
{
	bool is_inside = false;

	if (s == end)
		return NULL;
	if (*s == '.')
		return s + 1;
	if (*s != '[') {
		if ((*s | 0x20) != letter)
			return NULL;
		*is_said = true;
		return s + 1;
	}
	/* a set: ranges and what is not in it are taken for all letters */
	for (const char *at = ++s; s < end && (*s != ']' || s == at); s++)
		is_inside |= (*s | 0x20) == letter || *s == '-' ||
			     (*s == '^' && s == at) || *s == '[';
	if (s == end || !is_inside)
		return NULL;
	if (s[-1] == ':' && s + 1 < end && s[1] == ']')
		s++; /* [[:alpha:]] */
	*is_said = true;
	return s + 1;
}

/* And of its -regex: `.git` as a name of its own, `\.git`, `[.]git` or `.*git`
   in it. */
static bool is_git_regex(const struct ab_word *w)
{
	const char *s = w->text, *end = w->text + w->len;

	for (const char *at = s + 1; at < end; at++) {
		bool is_said = false;
		const char *t = memchr(".*+?])}", at[-1], 7) ? at : NULL;

		for (const char *letter = "git"; t && *letter; letter++)
			t = skip_letter(t, end, *letter, &is_said);
		if (t && is_said &&
		    (t == end || memchr("/\\.*+?[({|)$", *t, 12)))
			return true;
	}
	return false;
}

/* Of a test of find: it takes whatever there is. */
static bool is_any_name(const struct ab_word *w)
{
	bool takes_all = w->len == 1;

	for (uint32_t i = 0; i < w->len; i++) {
		if (!memchr("*?./+^$()\\|", w->text[i], 11))
			return false;
		takes_all |= w->text[i] == '*' || w->text[i] == '+';
	}
	return takes_all && !w->hole_count;
}

bool ab_value_is_any_name(const struct ab_word *w)
{
	return is_any_name(w);
}

/* Nobody knows what it takes: "$X", "*$X*". */
static bool is_unknown_name(const struct ab_word *w)
{
	uint32_t from = w->len > 1 && !memcmp(w->text, "./", 2) ? 2 : 0;

	for (uint32_t i = from; i < w->len; i++)
		if (!memchr("*?/", w->text[i], 3))
			return false;
	for (uint32_t i = 0; i < w->hole_count; i++)
		if (w->holes[i].kind == AB_HOLE_BYTES ||
		    w->holes[i].kind == AB_HOLE_FIELDS)
			return true;
	return false;
}

/* A pattern that is open at its end: `*`, `src/x*`. */
static bool is_wide(const struct ab_word *w)
{
	return w->len && w->text[w->len - 1] == '*';
}

/* A size over 1 GiB: 2G, 1T, 5GB, 4294967296. */
static bool is_huge(const struct ab_word *w)
{
	double value = 0;
	uint32_t i = 0;

	while (i < w->len && w->text[i] >= '0' && w->text[i] <= '9')
		value = value * 10 + (w->text[i++] - '0');
	if (!i)
		return false;
	if (i < w->len) {
		switch (w->text[i] & ~0x20) {
		case 'K':
			value *= 1 << 10;
			break;
		case 'M':
			value *= 1 << 20;
			break;
		case 'G':
			value *= 1 << 30;
			break;
		case 'T':
		case 'P':
		case 'E':
			return value > 0;
		}
	}
	return value > (double)(1 << 30);
}

/* The number behind KEY= of dd, with its unit; or `other`. */
static double dd_size(const struct ab_use *use, const char *key, double other)
{
	static const char units[] = "cwbkKMGTPEZYRQ";
	static const double sizes[] = { 1, 2, 512, 1024, 1024, 1 << 20,
					1 << 30, 1e12, 1e15, 1e18, 1e21,
					1e24, 1e27, 1e30 };
	size_t n = strlen(key);

	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];
		uint32_t k = (uint32_t)n;
		double value = 0;

		if (w->len <= n || memcmp(w->text, key, n) != 0)
			continue;
		while (k < w->len && w->text[k] >= '0' && w->text[k] <= '9')
			value = value * 10 + (w->text[k++] - '0');
		const char *unit =
			k < w->len ? strchr(units, w->text[k]) : NULL;

		other = unit && *unit ? value * sizes[unit - units] : value;
	}
	return other;
}

/* count= of dd: so many blocks are over 1 GiB. */
static bool is_huge_count(const struct ab_check *c, const struct ab_word *w)
{
	const double most = 1 << 30;
	double bs;

	if (!c->use || w->len < 6 || memcmp(w->text, "count=", 6) != 0)
		return false;
	if (w->hole_count) /* who knows how many */
		return true;
	bs = dd_size(c->use, "bs=", dd_size(c->use, "ibs=", 512));
	return dd_size(c->use, "count=", 0) * bs > most;
}

/* A PATH with a directory that is not the system's and not what was in it
   before: also the worktree's, for what lies there the agent wrote. */
static bool is_foreign_path(struct ab_check *c, const struct ab_word *w)
{
	for (uint32_t at = 0; at <= w->len;) {
		const char *colon = at < w->len
			? memchr(w->text + at, ':', w->len - at) : NULL;
		uint32_t end = colon ? (uint32_t)(colon - w->text) : w->len;
		struct ab_word dir;

		if (!ab_word_slice(c, w, at, end - at, &dir))
			return true;
		at = end + 1;
		uint64_t classes = ab_path_classes(c, &dir);

		if (!(classes & (c->pack->bin_dir | AB_CLASS(HOLE))))
			return true;
	}
	return false;
}

/* What a container gets of the host: SRC:DST, or type=bind,src=SRC,... */
static bool bind_source(struct ab_check *c, const struct ab_word *w,
			struct ab_word *out)
{
	static const char *const keys[] = { "src=", "source=" };
	uint32_t at = 0, end = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(keys); i++) {
		const char *hit = memmem(w->text, w->len, keys[i],
					 strlen(keys[i]));

		if (hit && (hit == w->text || hit[-1] == ','))
			at = (uint32_t)(hit - w->text) +
			     (uint32_t)strlen(keys[i]);
	}
	for (end = at; end < w->len; end++) {
		if (w->text[end] == (at ? ',' : ':'))
			break;
	}
	if (!at && end == w->len) /* a volume without a name */
		return false;
	return ab_word_slice(c, w, at, end - at, out);
}

/* A host directory that is the system's, or a door to the daemon. */
bool ab_value_is_bind_root(struct ab_check *c, const struct ab_word *w)
{
	static const char *const exact[] = { "/", "/root", "/home", "/var",
					     "/usr", "/proc", "/sys", "/dev",
					     "/boot", "/run", "/var/run",
					     "/lib", "/bin", "/etc",
					     "/var/lib", "/var/lib/docker",
					     "/var/lib/containerd",
					     "/var/lib/kubelet", "/usr/bin",
					     "/usr/local/bin", "/sbin" };
	static const char *const fine[] = { "/etc/localtime", "/etc/timezone",
					    "/etc/hosts", "/etc/hostname",
					    "/etc/resolv.conf",
					    "/etc/ssl/certs",
					    "/etc/machine-id",
					    "/etc/os-release" };
	struct ab_word source;
	uint32_t n;

	if (contains(w, "docker.sock") || contains(w, "containerd.sock") ||
	    contains(w, "podman.sock") || contains(w, "crio.sock"))
		return true;
	if (!bind_source(c, w, &source) || !source.len ||
	    !(*source.text == '/' || *source.text == '.'))
		return false;
	const char *path = ab_path_text(c, &source, &n);

	if (!path)
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(exact); i++) {
		if (!strcmp(path, exact[i]))
			return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(fine); i++) {
		if (!strcmp(path, fine[i]))
			return false;
	}
	return !strncmp(path, "/etc/", 5);
}

/* A home, or where its keys are; or what holds the worktree, and others. */
static bool is_bind_home(struct ab_check *c, const struct ab_word *w)
{
	struct ab_word source;

	return bind_source(c, w, &source) &&
	       (ab_path_classes(c, &source) &
		(AB_CLASS(HOME) | AB_CLASS(PARENT) | c->pack->home_keys));
}

/* `git ls-files | while read f`: "$f", and no other file named after it. */
static bool is_tree_name(const struct ab_word *w)
{
	const struct ab_hole *h;

	if (!w->hole_count)
		return false;
	h = &w->holes[w->hole_count - 1];
	return h->at + h->len == w->len && !h->is_cut &&
	       (ab_hole_taint(h) & AB_TAINT_TREE);
}

/* Of kill: what is no signal any more, and whom -1 means. */
static bool is_every_process(const struct ab_check *c, const struct ab_word *w)
{
	uint32_t i = 0;

	if (!c->use || w < c->use->words + 2 ||
	    w >= c->use->words + c->use->count || w->hole_count)
		return false;
	while (i < w->len && memchr(" \t", w->text[i], 2))
		i++;
	if (i == w->len || w->text[i] != '-')
		return false;
	i++;
	while (i < w->len && w->text[i] == '0')
		i++;
	return i + 1 == w->len && w->text[i] == '1';
}

/* -$$: all that were started together with this shell. */
static bool is_own_group(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		const char *name = w->holes[i].name;

		if (name && (!strcmp(name, "$") || !strcmp(name, "BASHPID")))
			return w->len == 1 && *w->text == '-' &&
			       w->holes[i].at == 1;
	}
	return false;
}

/* /proc itself, or a pattern right below it. */
static bool is_proc(const struct ab_word *w)
{
	static const char proc[] = "/proc/";
	uint32_t n = sizeof(proc) - 1;

	if (w->len < n - 1 || memcmp(w->text, proc, w->len < n ? w->len : n))
		return false;
	return w->len <= n || (w->hole_count && w->holes->at == n &&
			       w->holes->kind == AB_HOLE_PATTERN);
}

static bool is_of_proc(const struct ab_stream *in)
{
	const struct ab_names *noted = ab_names_noted(in);

	for (uint32_t i = 0; noted && i < noted->count; i++) {
		if (is_proc(&noted->words[i]))
			return true;
	}
	return false;
}

/* $(...) that stands in the command, or what xargs has put there. */
static bool is_own(const struct ab_check *c, const struct ab_hole *h)
{
	return !h->name &&
	       (!h->span.end ||
		(c->command && h->span.begin >= c->command->span.begin &&
		 h->span.end <= c->command->span.end));
}

/* for p in /proc/[0-9]*; ls /proc | xargs; $(ps -e -o pid=): numbers of what
   runs, whatever it is. What a loop goes through it may choose among. */
static bool is_proc_number(const struct ab_check *c, const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];
		const struct variable *v =
			h->name ? ab_shell_variable(c->run, h->name,
						    strlen(h->name)) : NULL;
		const struct ab_word *value =
			v ? ab_shell_value(c->run, v) : NULL;

		if ((value && is_proc(value)) || is_of_proc(h->origin) ||
		    (ab_hole_taint(h) & AB_TAINT_EVERY && is_own(c, h)) ||
		    (h->origin && c->command &&
		     is_of_proc(c->command->place.in)))
			return true;
	}
	return false;
}

/* OPTS, DOCKER_ARGS, CFLAGS, extra_args_2; not CARGO_CMD, nor TARGET. */
static bool is_part_of_name(const char *name, const char *part)
{
	size_t n = strlen(part);

	for (const char *s = strstr(name, part); s; s = strstr(s + 1, part)) {
		const char *end = s + n;

		if (!strncasecmp(end, "ion", 3))
			end += 3;
		else if (!strncasecmp(end, "ument", 5))
			end += 5;
		end += *end == 's' || *end == 'S';
		if (!*end || *end == '_' || (*end >= '0' && *end <= '9'))
			return true;
	}
	return false;
}

/* $OPTS, "$@": what others give, most often options and all that follows. */
static bool is_handed_on(const struct ab_hole *h)
{
	static const char *const parts[] = { "OPT", "ARG", "FLAG",
					     "opt", "arg", "flag" };

	if (!h->name)
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(parts); i++) {
		if (is_part_of_name(h->name, parts[i]))
			return true;
	}
	return !strcmp(h->name, "@") || !strcmp(h->name, "*");
}

/* The next word names what the program does. */
static bool sub_is_next(const struct ab_check *c, const struct ab_word *w)
{
	const struct ab_use *use = c->use;
	const struct ab_program *p = use->program;
	AB_UNINITIALIZED char name[128];

	while (p->parent && w < use->words + use->operands[use->base[p->depth] -
							   1])
		p = &c->pack->programs[p->parent - 1];
	if (w + 1 >= use->words + use->count ||
	    p->name_len + w[1].len + 1 >= sizeof(name))
		return false;
	memcpy(name, p->name, p->name_len);
	name[p->name_len] = '/';
	memcpy(name + p->name_len + 1, w[1].text, w[1].len);
	return ab_pack_program(c->pack, name, p->name_len + 1 + w[1].len);
}

/* `docker $X`, `kubectl ${X}get`: which of its commands it is, is not said. */
static bool is_unknown_verb(const struct ab_check *c, const struct ab_word *w)
{
	bool has = false;

	/* of a function its calls tell more */
	if (!c->use || !c->use->program || (c->flags & AB_SHELL_DEFINITION) ||
	    w < c->use->words || w >= c->use->words + c->use->count)
		return false;
	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];

		has |= (h->kind == AB_HOLE_BYTES ||
			h->kind == AB_HOLE_FIELDS) &&
		       !h->is_test && !h->one_of && !is_handed_on(h);
	}
	return has && !sub_is_next(c, w);
}

/* {2..65535}: more words than are made of it. */
static bool is_range(const struct ab_check *c, const struct ab_word *w)
{
	const struct ab_hole *h = w->holes;

	return w >= c->argv && w < c->argv + c->argc && !w->len &&
	       w->hole_count == 1 && !h->name && !h->origin &&
	       h->kind == AB_HOLE_FIELDS;
}

/* @FILE or NAME@FILE; behind a `=` it is an address of mail. @- is stdin. */
static bool is_at_file(const struct ab_word *w)
{
	const char *at = memchr(w->text, '@', w->len);
	const char *end = w->text + w->len;

	return at && !memchr(w->text, '=', (size_t)(at - w->text)) &&
	       !(end - at == 2 && at[1] == '-');
}

static bool is_parent_name(const char *name)
{
	return !strcmp(name, "PPID");
}

static bool is_number(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if (w->text[i] < '0' || w->text[i] > '9')
			return false;
	}
	return w->len > 0;
}

/* 000, 0, 00: lets others write; 0002: the group, and others read. */
static bool is_relaxed_umask(const struct ab_word *w)
{
	struct mode m = { 0 };

	return octal_mode(w->text, w->len, &m) &&
	       (!(m.gives & 02) || !(m.gives & 024));
}

bool ab_value_needs_hole(uint8_t value)
{
	return value == VALUE_HOLE || value == VALUE_TAINTED ||
	       value == VALUE_LABEL_HOLE || value == VALUE_PARENT ||
	       value == VALUE_SECRET_NAME || value == VALUE_OWN_GROUP ||
	       value == VALUE_RANGE || value == VALUE_PROC_NUMBER ||
	       value == VALUE_SENT_SECRET ||
	       value == VALUE_SENT_FIELD || value == VALUE_TREE_NAME ||
	       value == VALUE_UNKNOWN_VERB;
}

bool ab_value_check(struct ab_check *c, uint8_t value, const struct ab_word *w)
{
	struct mode m = { 0 };

	if (value <= VALUE_MODE_NONE)
		m = mode_of(w);
	switch ((enum value)value) {
	case VALUE_MODE_777:
		return (m.gives & 01777) == 0777;
	case VALUE_MODE_WORLD:
		return (m.gives & 02) && !(m.gives & 01000);
	case VALUE_MODE_STICKY:
		return (m.gives & 02) && (m.gives & 01000);
	case VALUE_MODE_SETUID:
		return m.gives & 06000;
	case VALUE_MODE_NONE:
		return m.is_octal && !(m.gives & 0777);
	case VALUE_URL:
		return ab_value_is_url(w);
	case VALUE_REMOTE_PATH:
		return ab_value_is_remote_path(w);
	case VALUE_LOCALHOST:
		return ab_value_is_local(c, w);
	case VALUE_HUGE:
		return is_huge(w);
	case VALUE_FOREIGN_PATH:
		return is_foreign_path(c, w);
	case VALUE_EMPTY:
		return !w->len && !w->hole_count;
	case VALUE_HOLE:
		return ab_word_taint(w) != 0;
	case VALUE_BIND_ROOT:
		return ab_value_is_bind_root(c, w);
	case VALUE_GIT_PATTERN:
		return is_git_pattern(w);
	case VALUE_GIT_PATH:
		return is_git_path(w);
	case VALUE_GIT_REGEX:
		return is_git_regex(w);
	case VALUE_HUGE_COUNT:
		return is_huge_count(c, w);
	case VALUE_SOME_NAME:
		return !is_any_name(w);
	case VALUE_SOME_PART: /* of a name: most have each letter */
		return w->len > 1 && !is_any_name(w);
	case VALUE_WIDE:
		return is_wide(w);
	case VALUE_UNKNOWN_NAME:
		return is_unknown_name(w);
	case VALUE_UNKNOWN_VERB:
		return is_unknown_verb(c, w);
	case VALUE_BIND_HOME:
		return is_bind_home(c, w);
	case VALUE_NUMBER:
		return is_number(w);
	case VALUE_TAINTED:
		return ab_word_taint(w) & (AB_TAINT_CRED | AB_TAINT_ENV);
	case VALUE_LABEL_HOLE:
		return ab_word_taint(w) & ~(uint32_t)AB_TAINT_VAR;
	case VALUE_PROCESS:
		return ab_word_taint(w) & AB_TAINT_PROCESS;
	case VALUE_HOSTED:
		return ab_value_is_hosted(w);
	case VALUE_FLAKE_URL:
		return ab_value_is_flake_url(w);
	case VALUE_GIT_INSIDE:
		return is_git_inside(w);
	case VALUE_EX_SHELL:
		return is_ex_shell(w);
	case VALUE_TREE_NAME:
		return is_tree_name(w);
	case VALUE_EVERY_PROCESS:
		return is_every_process(c, w);
	case VALUE_PROC_NUMBER:
		return is_proc_number(c, w);
	case VALUE_OWN_GROUP:
		return is_own_group(w);
	case VALUE_PIPE:
		return w->len && *w->text == '|';
	case VALUE_AT_FILE:
		return is_at_file(w);
	case VALUE_RANGE:
		return is_range(c, w);
	case VALUE_SENT_SECRET:
		return ab_value_is_sent(c, w);
	case VALUE_SENT_FIELD:
		return ab_value_is_sent_field(c, w);
	case VALUE_METADATA:
		return ab_value_is_metadata(w);
	case VALUE_UMASK:
		return is_relaxed_umask(w);
	case VALUE_PARENT:
		return ab_value_names(w, is_parent_name);
	case VALUE_SECRET_NAME:
		return ab_value_has_secret(w);
	case VALUE_COUNT:
		break;
	}
	return false;
}
