/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a word means as a path: resolved as text against the working
 * directory, split into components, put into classes. Links are not followed:
 * that is for the walls.
 */
#include "config.h"

#include "guard/path.h"

#include <string.h>
#include <strings.h>

#include "base/key.h"
#include "guard/command.h"
#include "path/glob.h"

static void push_text(struct path *p, const char *text, uint32_t len);

static bool part_is(const struct part *part, const char *text)
{
	size_t n = strlen(text);

	return part->len == n && !memcmp(part->text, text, n);
}

/* /proc/self/root and /proc/self/cwd lead elsewhere. Where those of another
   process do nobody knows: they stay, and a class of paths has them. */
static void leave_proc(struct path *p)
{
	const struct ab_word *cwd = p->cwd;
	bool is_self = part_is(&p->parts[1], "self") ||
		       part_is(&p->parts[1], "thread-self");

	if (!is_self && !p->parts[1].kind)
		return;
	if (part_is(&p->parts[2], "root")) {
		p->count = 0;
	} else if (part_is(&p->parts[2], "cwd")) {
		p->count = 0;
		p->cwd = NULL;
		if (is_self && cwd)
			push_text(p, cwd->text, cwd->len);
		else
			p->from = FROM_NOWHERE;
	}
}

#define MAX_HOPS 8

/* A link of the text's own: on to where it leads. */
static AB_COLD void follow(struct path *p)
{
	const struct ab_linked *l = ab_link_at(p);

	if (!l)
		return;
	p->met_link = true;
	/* nobody knows where it ends: as of a path too long */
	p->is_too_long |= p->hops == MAX_HOPS;
	if (!p->is_linked || p->hops == MAX_HOPS)
		return;
	p->hops++;
	p->count = 0;
	if (!l->target_len) {
		p->from = FROM_NOWHERE;
		p->cwd = NULL;
		p->has_hole = true;
		return;
	}
	push_text(p, l->target, l->target_len);
}

static inline void push(struct path *p, const char *text, uint32_t len,
			uint8_t kind)
{
	if ((!len && kind != 2) || (len == 1 && *text == '.' && !kind))
		return;
	if (len == 2 && !kind && text[0] == '.' && text[1] == '.') {
		if (p->count)
			p->count--;
		else if (p->from != FROM_ROOT) {
			p->from = FROM_NOWHERE;
			p->went_up = true;
		}
		return;
	}
	if (p->count == AB_CHECK_MAX_PARTS) {
		p->is_too_long = true;
		return;
	}
	p->parts[p->count++] = (struct part){ text, len, kind };
	if (p->count == 3 && p->from == FROM_ROOT &&
	    part_is(&p->parts[0], "proc"))
		leave_proc(p);
	if (AB_UNLIKELY(p->links) && p->from == FROM_ROOT)
		follow(p);
}

static void push_text(struct path *p, const char *text, uint32_t len)
{
	for (uint32_t i = 0; i < len;) {
		uint32_t end = i + (uint32_t)ab_seek(text + i, len - i, '/');

		push(p, text + i, end - i, 0);
		i = end + 1;
	}
}

/* A variable that holds the directory for temporary files. */
static bool is_temp_name(const char *name)
{
	if (!name || (*name != 'T' && *name != 'R'))
		return false;
	return !strcmp(name, "TMPDIR") || !strcmp(name, "RUNNER_TEMP") ||
	       !strcmp(name, "TEMP") || !strcmp(name, "TMP");
}

static bool is_top(const struct part *part)
{
	static const char *const tops[] = {
		"bin",	"boot", "dev",	"etc",	"home", "lib",	 "lib32",
		"lib64", "media", "mnt", "opt", "proc", "root", "run",
		"sbin", "srv",	"sys",	"tmp",	"usr",	"var",	 "Users",
		"System", "Library", "Applications", "Volumes", "private",
		"nix", "snap", "lost+found", "cygdrive",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(tops); i++) {
		if (part->len && tops[i][0] == *part->text &&
		    strlen(tops[i]) == part->len &&
		    ab_same(tops[i], part->text, part->len))
			return true;
	}
	return false;
}

/* "$TMPDIR"/etc, "$TMPDIR"/\*: on many systems nobody sets that variable, and
   then it is /etc, and everything. */
static bool may_be_top(const struct ab_word *w)
{
	const struct ab_hole *h = w->holes;
	struct part part = { .text = w->text + h->len };
	const char *end = w->text + w->len;

	if (h->is_checked || h->kind == AB_HOLE_LIKELY || part.text == end ||
	    *part.text != '/')
		return false;
	while (part.text < end && *part.text == '/')
		part.text++;
	part.len = (uint32_t)(end - part.text);
	if (is_top(&part))
		return true;
	while (part.len && memchr("*?.[]!^", *part.text, 7)) {
		part.text++;
		part.len--;
	}
	return !part.len;
}

/* What mktemp printed. */
static bool is_new_temp(const struct ab_hole *h)
{
	return !h->is_cut && (ab_hole_taint(h) & AB_TAINT_TEMP);
}

/* A hole that starts the word: what is known of where that is. */
static enum path_from from_hole(const struct ab_word *w)
{
	const struct ab_hole *h = &w->holes[0];

	if (h->kind == AB_HOLE_HOME && !h->len)
		return FROM_HOME;
	if (is_temp_name(h->name) && !h->is_cut)
		return may_be_top(w) ? FROM_NOWHERE : FROM_TEMP;
	if (is_new_temp(h))
		return FROM_TEMP;
	return ab_path_usual(h) ? FROM_HOME : FROM_NOWHERE;
}

/* The same of a path that starts there, "$KUBECONFIG", and "$GNUPGHOME/x". */
static enum path_from start_hole(struct path *p, const struct ab_word *w)
{
	enum path_from from = from_hole(w);
	const char *usual = from == FROM_HOME ? ab_path_usual(&w->holes[0])
					      : NULL;

	if (!usual)
		return from;
	if (w->len && *w->text != '/')
		return FROM_NOWHERE;
	p->from = from;
	push_text(p, usual, (uint32_t)strlen(usual));
	return from;
}

/* "$X/y": in a directory of which nothing is known. */
static bool is_nowhere(const struct ab_word *w)
{
	return w->hole_count && !w->holes[0].at &&
	       (w->holes[0].kind == AB_HOLE_BYTES ||
		w->holes[0].kind == AB_HOLE_FIELDS) &&
	       from_hole(w) == FROM_NOWHERE;
}

static uint8_t kind_of(const struct ab_word *w, uint32_t at, uint32_t end,
		       uint32_t *h)
{
	uint8_t kind = 0;

	while (*h < w->hole_count && w->holes[*h].at + w->holes[*h].len < at)
		(*h)++;
	for (uint32_t i = *h; i < w->hole_count && w->holes[i].at <= end;
	     i++) {
		const struct ab_hole *hole = &w->holes[i];
		uint32_t hole_end = hole->at + hole->len;

		if (hole->len ? hole_end <= at || hole->at >= end
			      : hole->at < at)
			continue;
		if (hole->kind == AB_HOLE_PATTERN && kind < 1)
			kind = 1;
		else if (hole->kind == AB_HOLE_BYTES ||
			 hole->kind == AB_HOLE_FIELDS)
			kind = 2;
	}
	return kind;
}

static void start(struct ab_check *c, struct path *p, const struct ab_word *w,
		  uint32_t *at)
{
	const struct ab_word *cwd = c->cwd;

	if (w->hole_count && w->holes[0].at == 0 &&
	    (w->holes[0].kind == AB_HOLE_BYTES ||
	     w->holes[0].kind == AB_HOLE_FIELDS ||
	     (w->holes[0].kind == AB_HOLE_HOME && !w->holes[0].len))) {
		p->from = start_hole(p, w);
		p->is_new = is_new_temp(&w->holes[0]) && w->len &&
			    *w->text == '/' &&
			    (w->hole_count == 1 || w->holes[1].at);
		if (p->from != FROM_NOWHERE)
			return;
		p->is_checked = w->holes[0].is_checked &&
				w->holes[0].kind == AB_HOLE_BYTES &&
				w->hole_count == 1 && w->len &&
				*w->text == '/';
		p->has_hole = true;
		return;
	}
	p->from = FROM_ROOT;
	if (w->len && *w->text == '/')
		return;
	/* an address that is a path: file:///x, file://localhost/x */
	if (w->len > 7 && !strncasecmp(w->text, "file:/", 6)) {
		const char *slash = memchr(w->text + 7, '/', w->len - 7);

		*at = w->text[6] != '/' || !slash
			      ? 5
			      : (uint32_t)(slash - w->text);
		return;
	}
	/* ~name that nobody resolved */
	if (w->len && *w->text == '~' && w->hole_count &&
	    w->holes[0].kind == AB_HOLE_HOME) {
		p->from = FROM_HOME;
		*at = w->holes[0].len;
		return;
	}
	if (cwd)
		push_text(p, cwd->text, cwd->len);
	else
		p->from = FROM_NOWHERE;
}

/* `.g[i]t` is as good as `.git`. What is left of it may be no pattern. */
static const char *plain_part(struct ab_check *c, const char *text,
			      uint32_t *len, uint8_t *kind)
{
	char *out = NULL;

	/* a set takes the other case as well then, and a plain part does not */
	if (c->has_fold)
		return text;
	if (memchr(text, '[', *len) || memchr(text, '\\', *len))
		out = ab_check_alloc(c, *len);
	if (!out)
		return text;
	*len = (uint32_t)ab_pattern_plain(text, *len, out);
	/* nobody goes up by a pattern */
	if (*len <= 2 && *out == '.')
		return out;
	for (uint32_t i = 0; i < *len; i++) {
		if (memchr("*?[]\\({", out[i], 7))
			return out;
	}
	*kind = 0;
	return out;
}

/* "$1.env", "$f.profile" of an f that the text sets: a name that begins with
   something. Of a variable that nobody set, as far as the text tells, nothing
   may be left. */
static AB_COLD bool begins_named(const struct ab_check *c,
				 const struct ab_word *w, uint32_t at)
{
	for (uint32_t i = 0; i < w->hole_count && w->holes[i].at <= at; i++) {
		const struct ab_hole *h = &w->holes[i];

		if (h->at != at || h->len || h->is_test ||
		    (h->kind != AB_HOLE_BYTES && h->kind != AB_HOLE_FIELDS))
			continue;
		if (!h->name || (*h->name >= '0' && *h->name <= '9'))
			return true;
		return c->run && ab_shell_said(c->run, h->name,
					       strlen(h->name)) !=
					 AB_SHELL_UNSAID;
	}
	return false;
}

static void resolve(struct ab_check *c, const struct ab_word *w,
		    struct path *p)
{
	uint32_t at = 0, h = 0, len = w->len;

	/* the line end of another system */
	if (len && w->text[len - 1] == '\r')
		len--;
	p->count = 0;
	p->has_hole = p->is_too_long = p->went_up = p->has_homes = false;
	p->has_end_hole = p->is_new = false;
	p->has_ordinary = false;
	p->is_checked = false;
	p->has_dots = c->has_dots;
	/* find takes all names */
	p->has_hidden = c->has_dots || c->is_reading;
	p->has_fold = c->has_fold;
	p->cwd = c->cwd;
	p->links = c->links;
	p->is_linked = c->is_linked;
	p->met_link = p->has_choice = false;
	p->choice = c->link_choice;
	p->hops = 0;
	start(c, p, w, &at);
	for (uint32_t i = at; i < len;) {
		uint32_t end = i + (uint32_t)ab_seek(w->text + i, len - i,
						     '/');
		uint8_t kind = w->hole_count ? kind_of(w, i, end, &h) : 0;

		uint32_t n = end - i;
		bool is_named = kind == 2 && n && begins_named(c, w, i);

		/* the hole that the path starts at is no hole in it */
		if (kind == 2 && i == 0 && p->from != FROM_ROOT &&
		    w->holes[0].at == 0 && !is_named)
			kind = 0;
		if (kind == 2)
			p->has_hole = true;
		if (is_named)
			n = 0; /* what stands behind it is no name */
		const char *text = kind != 1 ? w->text + i :
				   plain_part(c, w->text + i, &n, &kind);

		if (AB_UNLIKELY(c->keeps_last) && end >= len)
			p->links = NULL;
		push(p, text, n, kind);
		i = end + 1;
	}
	/* a hole behind the last slash */
	if (w->hole_count && w->len && w->text[w->len - 1] == '/' &&
	    w->holes[w->hole_count - 1].at == w->len &&
	    kind_of(w, w->len, w->len, &h) == 2)
		p->has_hole = p->has_end_hole = true;
	/* "${x:-y}" of an x that the text gave a value: that, or y; "${x:+y}/z":
	   y/z, or /z */
	for (uint32_t i = 0; i < w->hole_count; i++)
		p->has_hole |= w->holes[i].kind == AB_HOLE_LIKELY &&
			       (w->holes[i].origin ||
				(w->holes[i].is_test &&
				 w->holes[i].len < w->len));
	if (p->from == FROM_NOWHERE)
		ab_check_want_cwd(c);
	c->met_link |= p->met_link;
	c->has_link_choice |= p->has_choice;
}

void ab_path_split(struct ab_check *c, const struct ab_word *w, struct path *p)
{
	struct ab_linked *links = c->links;

	c->links = NULL;
	resolve(c, w, p);
	c->links = links;
}

/* --- computed classes --------------------------------------------------- */

/* Every name there is: `*`, `.*`, `?*`. */
bool ab_part_is_all(const struct part *part)
{
	if (part->kind != 1)
		return false;
	for (uint32_t i = 0; i < part->len; i++) {
		if (!memchr("*?.[]!^@()", part->text[i], 10))
			return false;
	}
	return true;
}

/* [a-z], [!.], [[:alpha:]]: a set with the first byte of most names; *end is
   behind it. */
static bool is_wide_set(const char *s, uint32_t n, uint32_t *end)
{
	bool is_wide = n > 1 && (s[1] == '!' || s[1] == '^');
	uint32_t first = 1 + is_wide, i = first;

	while (i < n && (s[i] != ']' || i == first)) {
		if (s[i] == '[' && i + 1 < n && s[i + 1] == ':') {
			const char *close = memmem(s + i, n - i, ":]", 2);

			if (!close)
				return false;
			is_wide = true;
			i = (uint32_t)(close - s) + 2;
			continue;
		}
		is_wide |= i + 2 < n && s[i + 1] == '-' && s[i + 2] - s[i] > 12;
		i++;
	}
	*end = i + 1;
	return is_wide && i < n;
}

/* Most names that there are: `[a-z]*`, `!(x)`, `*[a-z]*`. */
static bool is_most(const struct part *part)
{
	const char *s = part->text, *close;
	uint32_t n = part->len, end;
	bool is_open = false;

	for (uint32_t i = 0; part->kind == 1 && i < n; i++) {
		if (s[i] == '!' && i + 1 < n && s[i + 1] == '(') {
			close = memchr(s + i, ')', n - i);
			if (!close)
				return false;
			i = (uint32_t)(close - s);
			is_open = true;
		} else if (s[i] == '[') {
			if (!is_wide_set(s + i, n - i, &end))
				return false;
			i += end - 1;
		} else if (s[i] == '*') {
			is_open = true;
		} else if (s[i] != '?') {
			return false;
		}
	}
	return is_open;
}

/* A directory as text against the first `count` components. */
static bool same_dir(const struct path *p, uint32_t count,
		     const struct ab_known_path *dir, bool *is_below,
		     bool *is_above)
{
	uint32_t i = 0, at = 1;

	*is_below = *is_above = false;
	if (!dir->text || p->from != FROM_ROOT)
		return false;
	for (; i < count && at < dir->len; i++) {
		const struct part *part = &p->parts[i];
		uint32_t end = at + part->len;

		if (part->kind || end > dir->len ||
		    dir->text[at] != *part->text ||
		    (end < dir->len && dir->text[end] != '/') ||
		    !ab_same(part->text, dir->text + at, part->len))
			return false;
		at = end + 1;
	}
	*is_above = at < dir->len;
	*is_below = i < count;
	return !*is_above && !*is_below;
}

/* In a directory of the worktree that is named: all that lies there, also with
   a dot in front, is still none of the names that a pack lists. */
static bool is_in_subdir(const struct ab_check *c, const struct path *p)
{
	bool below, above;

	for (uint32_t n = 1; n + 1 < p->count; n++) {
		if (same_dir(p, n, &c->place->root, &below, &above))
			return p->parts[n].kind == 0;
	}
	return false;
}

/* `certs`, `ssh-keys`, `TLS`: names of directories that keep keys. */
static bool keeps_keys(const struct part *part)
{
	static const char *const words[] = {
		"key", "cert", "ssl", "tls", "secret", "ssh", "pki",
		"cred", "private", "gpg", "vault",
	};

	for (uint32_t i = 0; i < part->len; i++) {
		for (size_t k = 0; k < AB_ARRAY_LEN(words); k++) {
			size_t n = strlen(words[k]);

			if (part->len - i >= n &&
			    !strncasecmp(part->text + i, words[k], n))
				return true;
		}
	}
	return false;
}

static bool is_ordinary(const struct ab_check *c, const struct path *p)
{
	bool below, above, is_inside = p->from == FROM_TEMP;
	uint32_t n = 0;

	while (!is_inside && ++n < p->count)
		is_inside = same_dir(p, n, &c->place->root, &below, &above);
	for (; is_inside && n + 1 < p->count; n++)
		is_inside = p->parts[n].kind != 2 && !keeps_keys(&p->parts[n]);
	return is_inside && !p->went_up;
}

bool ab_path_is_ordinary(const struct ab_check *c, struct path *p)
{
	if (!p->has_ordinary) {
		p->has_ordinary = true;
		p->is_ordinary = is_ordinary(c, p);
	}
	return p->is_ordinary;
}

bool ab_path_is_home(const struct ab_check *c, const struct path *p,
		     uint32_t count)
{
	bool below, above;

	if (p->from == FROM_HOME)
		return count == 0;
	if (p->from != FROM_ROOT)
		return false;
	if (same_dir(p, count, &c->place->home, &below, &above))
		return true;
	return (count == 1 && part_is(&p->parts[0], "root")) ||
	       (count == 2 && (part_is(&p->parts[0], "home") ||
			       part_is(&p->parts[0], "Users")));
}

/* The directory itself: the first `count` components. */
static uint64_t dir_class(const struct ab_check *c, const struct path *p,
			  uint32_t count, bool is_content, bool *is_below)
{
	uint64_t mask = 0;
	bool above;

	*is_below = false;
	if (ab_path_is_home(c, p, count) ||
	    (count == 2 && p->from == FROM_ROOT && p->parts[0].kind == 1 &&
	     (ab_part_may_be(p, &p->parts[0], "home", 4) ||
	      ab_part_may_be(p, &p->parts[0], "Users", 5))))
		mask |= AB_CLASS(HOME);
	if (p->from != FROM_ROOT)
		return mask;
	if (!count)
		return mask | AB_CLASS(ROOT);
	/* /h?me and all that is in it */
	if (count == 1 && is_content && p->parts[0].kind == 1 &&
	    (ab_part_may_be(p, &p->parts[0], "home", 4) ||
	     ab_part_may_be(p, &p->parts[0], "Users", 5)))
		mask |= AB_CLASS(TOP);
	if (count == 1 && is_top(&p->parts[0]) &&
	    !(is_content && part_is(&p->parts[0], "tmp")))
		mask |= AB_CLASS(TOP);
	if (same_dir(p, count, &c->place->root, is_below, &above))
		mask |= is_content ? AB_CLASS(EVERYTHING)
				   : AB_CLASS(WORKTREE);
	if (above)
		mask |= AB_CLASS(PARENT);
	return mask;
}

static bool in_temp(const struct ab_check *c, const struct path *p)
{
	bool below, above;

	if (p->from == FROM_TEMP)
		return true;
	if (p->from != FROM_ROOT || !p->count)
		return false;
	if (part_is(&p->parts[0], "tmp"))
		return p->count > 1;
	if (p->count > 2 && part_is(&p->parts[0], "var") &&
	    part_is(&p->parts[1], "tmp"))
		return true;
	if (p->count > 2 && part_is(&p->parts[0], "dev") &&
	    part_is(&p->parts[1], "shm"))
		return true;
	for (uint32_t i = 0; i < c->place->temp_count; i++) {
		if (same_dir(p, p->count, &c->place->temps[i], &below,
			     &above) || below)
			return true;
	}
	return false;
}

bool ab_part_may_be(const struct path *p, const struct part *part,
		    const char *name, size_t len)
{
	/* a name with a dot in front is matched by a dot only */
	if (*name == '.' && !p->has_hidden && part->text[0] != '.' &&
	    part->text[0] != '{' && part->text[0] != '@' &&
	    part->text[0] != '[')
		return false;
	if (ab_part_is_all(part))
		return *name != '.' || part->text[0] == '.' || p->has_dots;
	for (uint32_t i = 0; i < part->len; i++) {
		if (part->text[i] == '(')
			return true; /* extglob: may be anything */
	}
	return ab_pattern_may_take(part->text, part->len, name, len,
				   p->has_fold);
}

static bool has_git(const struct path *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		const struct part *part = &p->parts[i];

		if (part->kind == 1 ? ab_part_may_be(p, part, ".git", 4)
				    : part->len == 4 &&
					      !strncasecmp(part->text, ".git",
							   4))
			return true;
	}
	return false;
}

/* "${VAR:?}/name/...": never empty, and a name behind it that no directory of
   the system has, should it be `/`. */
static bool is_checked(const struct path *p)
{
	if (!p->is_checked || p->went_up || !p->count || is_top(&p->parts[0]))
		return false;
	for (uint32_t i = 0; i < p->count; i++) {
		if (p->parts[i].kind)
			return false;
	}
	return true;
}

/* "$tmp"/.[!.]*: there is nothing but what the text put into it. */
static bool is_new_content(const struct ab_check *c, const struct path *p)
{
	const struct part *part = &p->parts[0];

	return p->is_new && p->from == FROM_TEMP && p->count == 1 &&
	       part->kind == 1 && !c->has_stray_link &&
	       !memchr(part->text, '(', part->len) &&
	       (*part->text != '.' ||
		!ab_pattern_may_take(part->text, part->len, "..", 2, false));
}

/* x-$$, x-$RANDOM: digits, and at least one. */
static bool is_digits(const struct ab_hole *h)
{
	static const char *const names[] = { "$", "RANDOM", "SRANDOM",
					     "SECONDS", "EPOCHSECONDS",
					     "BASHPID", "PPID", "UID", "EUID",
					     "LINENO", "#", "?" };

	/* who read one of them has something else */
	if (AB_LIKELY(!h->name) || h->origin || h->one_of || h->part)
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (!strcmp(h->name, names[i]))
			return true;
	}
	return false;
}

/* x/y-$$: a name of its own below a directory that is told. */
static bool is_numbered(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		uint32_t at = w->holes[i].at;

		if (!at || w->text[at - 1] == '/' || !is_digits(&w->holes[i]))
			return false;
	}
	return w->hole_count > 0;
}

static uint64_t computed(const struct ab_check *c, const struct path *p)
{
	uint64_t mask = AB_CLASS(ANY);
	bool below, unused, is_in;
	uint32_t n = p->count;

	if (p->has_hole)
		mask |= AB_CLASS(HOLE);
	if (p->from == FROM_NOWHERE)
		mask |= AB_CLASS(UNKNOWN);
	if (is_checked(p))
		mask |= AB_CLASS(CHECKED);
	mask |= dir_class(c, p, n, false, &below);
	/* something in it, which is not known, if it is not empty */
	is_in = p->has_end_hole && (mask & AB_CLASS(WORKTREE));
	if (is_in)
		mask = (mask & ~AB_CLASS(WORKTREE)) | AB_CLASS(INSIDE);
	if (p->has_end_hole && n == 1 && part_is(&p->parts[0], "tmp"))
		mask &= ~AB_CLASS(TOP);
	if (n && (ab_part_is_all(&p->parts[n - 1]) ||
		  is_most(&p->parts[n - 1])))
		mask |= dir_class(c, p, n - 1, true, &unused);
	else if (n == 1 && p->parts[0].kind == 1 && p->from == FROM_ROOT)
		mask |= AB_CLASS(ROOT);
	if (has_git(p) && !is_new_content(c, p))
		mask |= AB_CLASS(GIT);
	if (in_temp(c, p))
		return mask | AB_CLASS(TEMP);
	if (below)
		mask |= AB_CLASS(INSIDE);
	if (below && p->parts[n - 1].kind == 0)
		mask |= AB_CLASS(SUBDIR);
	if (p->from == FROM_HOME ||
	    (p->from == FROM_ROOT && !below && !is_in &&
	     !(mask & AB_CLASS(WORKTREE))))
		mask |= AB_CLASS(OUTSIDE);
	if (p->went_up)
		mask |= AB_CLASS(OUTSIDE);
	return mask;
}

/* --- the whole word ------------------------------------------------------ */

/* Where the classes of a word stand when it comes again: nothing but its
   bytes and the directory decides them. NULL: that is not so, or it is long. */
static struct ab_seat *seat_of(struct ab_check *c, const struct ab_word *w)
{
	uint64_t key;

	if (w->hole_count || w->len > sizeof(c->seats[0].text) || c->links ||
	    (*w->text != '/' && (!c->cwd || c->cwd != c->first_cwd)))
		return NULL;
	key = w->len < 8 ? ab_key8(w->text, w->len)
			 : ab_load64(w->text + w->len - 8) + w->len;
	return &c->seats[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) %
			 AB_CHECK_SEATS];
}

static bool sits(const struct ab_check *c, const struct ab_seat *seat,
		 const struct ab_word *w)
{
	bool is_absolute = *w->text == '/';

	return seat->classes && seat->len == w->len &&
	       (is_absolute ? !seat->dir
			    : seat->dir == c->cwd->text &&
				      seat->dir_len == c->cwd->len) &&
	       ab_same(seat->text, w->text, w->len);
}

static void sit_down(const struct ab_check *c, struct ab_seat *seat,
		     const struct ab_word *w, uint64_t classes)
{
	bool is_absolute = *w->text == '/';

	seat->classes = classes;
	seat->dir = is_absolute ? NULL : c->cwd->text;
	seat->dir_len = is_absolute ? 0 : c->cwd->len;
	seat->len = w->len;
	ab_copy(seat->text, w->text, w->len);
}

uint64_t ab_path_classes_of(struct ab_check *c, const struct ab_word *w)
{
	AB_UNINITIALIZED struct path p;

	resolve(c, w, &p);
	return computed(c, &p) | ab_path_listed(c, &p);
}

static uint64_t find_classes(struct ab_check *c, const struct ab_word *w,
			     bool *is_too_long)
{
	AB_UNINITIALIZED struct path p;
	struct ab_seat *seat;
	uint64_t classes;
	bool stays;

	/* "$X" alone */
	if (w->hole_count == 1 && !w->len && is_nowhere(w)) {
		ab_check_want_cwd(c);
		return AB_CLASS(ANY) | AB_CLASS(HOLE) | AB_CLASS(UNKNOWN) |
		       (ab_names_are_own(w->holes) ? AB_CLASS(CHECKED) : 0);
	}
	stays = AB_UNLIKELY(c->stays) && ab_stayed_counts(c, w);
	seat = stays ? NULL : seat_of(c, w);
	if (seat && sits(c, seat, w))
		return seat->classes;
	resolve(c, w, &p);
	if (AB_UNLIKELY(p.has_dots))
		p.has_dots = !is_in_subdir(c, &p);
	*is_too_long = p.is_too_long;
	classes = computed(c, &p);
	if (AB_UNLIKELY(p.has_hole) && is_numbered(w))
		classes &= ~AB_CLASS(HOLE);
	if (!is_new_content(c, &p))
		classes |= ab_path_listed(c, &p);
	/* what goes through /proc/self/cwd is in no directory of its own */
	if (seat && !p.is_too_long && p.from == FROM_ROOT && p.cwd == c->cwd)
		sit_down(c, seat, w, classes);
	return stays ? ab_stayed_classes(c, w, classes) : classes;
}

/* Which of the words at hand it is; SIZE_MAX: none. */
static size_t own_number(const struct ab_check *c, const struct ab_word *w)
{
	const struct ab_known_paths *k = c->paths;
	size_t i;

	if (!k)
		return SIZE_MAX;
	i = ((uintptr_t)w - (uintptr_t)k->words) / sizeof(*w);
	return i < k->count && &k->words[i] == w ? i : SIZE_MAX;
}

/* The same for the value of an option that is all of a word: of the same bytes
   and holes. Where only what is read counts, it is another path. */
static size_t whole_number(const struct ab_check *c, const struct ab_word *w)
{
	const struct ab_word *of = c->whole;
	size_t i = of ? own_number(c, of) : SIZE_MAX;

	if (i == SIZE_MAX || w->text != of->text || w->len != of->len ||
	    w->holes != of->holes || w->hole_count != of->hole_count ||
	    c->is_reading)
		return SIZE_MAX;
	return i;
}

/* Many rules ask about the words of one command. */
uint64_t ab_path_classes(struct ab_check *c, const struct ab_word *w)
{
	size_t i = own_number(c, w);
	bool is_own;
	bool is_too_long;
	uint64_t classes;

	if (!w->len && !w->hole_count)
		return AB_CLASS(ANY);
	if (i == SIZE_MAX)
		i = whole_number(c, w);
	is_own = i < AB_CHECK_KNOWN_PATHS && c->cwd == c->first_cwd &&
		 !c->links;
	if (is_own && (c->paths->known >> i & 1))
		return c->paths->classes[i];
	if (w == c->target && c->target_classes && !c->links)
		return c->target_classes;
	is_too_long = false;
	classes = ab_path_is_near(c, w) ? AB_NEAR
					: find_classes(c, w, &is_too_long);
	if (is_too_long) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, w);
	} else if (is_own) {
		c->paths->known |= UINT32_C(1) << i;
		c->paths->classes[i] = classes;
	} else if (w == c->target) {
		c->target_classes = classes;
	}
	return classes;
}

/* The path as text; any: patterns in it as they stand. */
static const char *path_text(struct ab_check *c, const struct ab_word *w,
			     bool any, uint32_t *len)
{
	AB_UNINITIALIZED struct path p;
	size_t size = 1;

	if (is_nowhere(w)) { /* as resolve() would say of it */
		ab_check_want_cwd(c);
		return NULL;
	}
	resolve(c, w, &p);
	if (p.from != FROM_ROOT || p.has_hole || p.is_too_long)
		return NULL;
	for (uint32_t i = 0; i < p.count; i++)
		size += p.parts[i].len + 1;
	char *text = ab_check_alloc(c, size + 1);
	uint32_t n = 0;

	if (!text)
		return NULL;
	for (uint32_t i = 0; i < p.count; i++) {
		if (p.parts[i].kind && (!any || p.parts[i].kind != 1))
			return NULL;
		text[n++] = '/';
		memcpy(text + n, p.parts[i].text, p.parts[i].len);
		n += p.parts[i].len;
	}
	if (!n)
		text[n++] = '/';
	text[n] = '\0';
	*len = n;
	return text;
}

const char *ab_path_text(struct ab_check *c, const struct ab_word *w,
			 uint32_t *len)
{
	return path_text(c, w, false, len);
}

const char *ab_dir_text(struct ab_check *c, const struct ab_word *w,
			uint32_t *len)
{
	const uint64_t plain = AB_CLASS(ANY) | AB_CLASS(INSIDE);
	const char *text = path_text(c, w, false, len);

	if (text || !w->hole_count || (ab_path_classes(c, w) & ~plain))
		return text;
	return path_text(c, w, true, len);
}
