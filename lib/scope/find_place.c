/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places in a text where a box's name stands: below .shared/, beside the word
 * sandbox, behind a host's `@`, as the value of --target. There even a plain
 * word is a name (in_place), and in some of them anything but the caller's own
 * name is refused, known or not (find_places). Every look around is bounded.
 */
#include "config.h"

#include <string.h>

#include "scope/internal.h"

#define FAR 255

struct span {
	size_t begin, end;
};

static bool is_wordy(char c)
{
	return ab_scope_is_alnum(c) || c == '_' || c == '-';
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`' || c == '\\';
}

static bool is_word(const struct ab_plain *p, struct span w, const char *s)
{
	if (w.end - w.begin != strlen(s))
		return false;
	for (size_t i = w.begin; i < w.end; i++)
		if (ab_scope_fold(p->c[i]) != s[i - w.begin])
			return false;
	return true;
}

static bool is_among(const struct ab_plain *p, struct span w,
		     const char *const *words)
{
	for (; *words; words++)
		if (is_word(p, w, *words))
			return true;
	return false;
}

/* The word that ends before `at`, spaces and quotes between. */
static struct span word_before(const struct ab_plain *p, size_t at)
{
	size_t limit = at > FAR ? at - FAR : 0;
	struct span w = { at, at };

	while (w.end > limit && (ab_scope_is_space(p->c[w.end - 1]) ||
				 is_quote(p->c[w.end - 1])))
		w.end--;
	w.begin = w.end;
	while (w.begin > limit && is_wordy(p->c[w.begin - 1]))
		w.begin--;
	return w;
}

static struct span word_behind(const struct ab_plain *p, size_t at)
{
	size_t limit = p->n - at > FAR ? at + FAR : p->n;
	struct span w = { at, at };

	if (w.begin + 2 < limit && p->c[w.begin] == '\'' &&
	    p->c[w.begin + 1] == 's')
		w.begin += 2;
	while (w.begin < limit && ab_scope_is_space(p->c[w.begin]))
		w.begin++;
	w.end = w.begin;
	while (w.end < limit && is_wordy(p->c[w.end]))
		w.end++;
	return w;
}

static bool is_box_word(const struct ab_plain *p, struct span w)
{
	char word[24];
	size_t n = w.end - w.begin;

	if (n == 0 || n >= sizeof(word))
		return false;
	for (size_t i = 0; i < n; i++)
		word[i] = ab_scope_fold(p->c[w.begin + i]);
	return ab_scope_is_box_word(word, n);
}

/* --- what stands before a word -------------------------------------------- */

static bool after_path(const struct ab_plain *p, size_t i)
{
	static const char *const above[] = { "--", "-shared", "workspaces",
					     "agents", "peers", NULL };
	struct span w = { i - 1, i - 1 };

	while (w.begin > 0 && w.end - w.begin < FAR &&
	       (is_wordy(p->c[w.begin - 1]) || p->c[w.begin - 1] == '.'))
		w.begin--;
	return is_among(p, w, above) || is_box_word(p, w);
}

static bool is_web(const struct ab_plain *p, size_t scheme_end)
{
	static const char *const web[] = { "http", "https", "ws",  "wss",
					   "file", "s3",    "gs",  "git",
					   "ssh",  "ftp",   "data", NULL };
	struct span w = { scheme_end, scheme_end };

	while (w.begin > 0 && w.end - w.begin < 16 &&
	       is_wordy(p->c[w.begin - 1]))
		w.begin--;
	return is_among(p, w, web);
}

/* In scheme://HERE, or the database of scheme://host/HERE. */
static bool in_authority(const struct ab_plain *p, size_t i)
{
	size_t limit = i > FAR ? i - FAR : 0;
	size_t slashes = 0;

	for (size_t at = i; at > limit; at--) {
		char c = p->c[at - 1];

		if (c == '/' && at > 1 && p->c[at - 2] == '/')
			return slashes == 0 ||
			       (slashes == 1 && at > 2 &&
				p->c[at - 3] == ':' && !is_web(p, at - 3));
		if (c == '/')
			slashes++;
		else if (!is_wordy(c) && !strchr(".@:%[]", c))
			return false;
		else if (c == '@' && slashes == 0 && at > 1)
			return ab_scope_is_alnum(p->c[at - 2]);
	}
	return false;
}

static bool is_name_key(const struct ab_plain *p, struct span w)
{
	enum ab_scope_key key =
		ab_scope_key(p->c + w.begin, w.end - w.begin);

	return w.end > w.begin &&
	       (key == AB_KEY_BOX || key == AB_KEY_TARGET ||
		is_word(p, w, "search-path"));
}

/* Before a value or pattern at `at`: quotes, and ".*", "(", "%" of it. */
static size_t opening(const struct ab_plain *p, size_t at, size_t limit)
{
	while (at > limit) {
		char c = p->c[at - 1];

		if (!ab_scope_is_space(c) && !is_quote(c) &&
		    !(c && strchr("(^[{%*", c)) &&
		    !(c == '.' && at < p->n && p->c[at] == '*'))
			break;
		at--;
	}
	return at;
}

/* "a|b|" and "'a', 'b', " before `at`: where the list begins. */
static size_t list_begin(const struct ab_plain *p, size_t at, size_t limit)
{
	for (unsigned k = 0; k < 16; k++) {
		size_t sign = opening(p, at, limit);
		struct span w;

		if (sign == limit || (p->c[sign - 1] != '|' &&
				      p->c[sign - 1] != ','))
			return sign;
		w = word_before(p, sign - 1);
		if (w.begin == w.end || w.begin < limit)
			return sign;
		at = w.begin;
	}
	return at;
}

/* -n, -h, -d of kubectl, psql, redis-cli */
static bool is_short_option(const struct ab_plain *p, struct span w)
{
	return w.end - w.begin == 2 && p->c[w.begin] == '-' &&
	       strchr("hndHN", p->c[w.begin + 1]) != NULL;
}

/*
 * "service: X", "--target=X", "-n=X", "search_path to 'X'", "host = 'X'", and
 * the same with several: "namespace=~"a|X"", "host in ('a', X)", "service like
 * '%X%'".
 */
static bool after_sign(const struct ab_plain *p, size_t i)
{
	static const char *const signs[] = { "in", "like", "ilike", NULL };
	size_t limit = i > FAR ? i - FAR : 0;
	size_t at = list_begin(p, i, limit);
	size_t first = ab_scope_skip_spaces(p, at);
	struct span w;

	if (at > limit && strchr("=:~", p->c[at - 1]) && p->c[at - 1]) {
		while (at > limit && p->c[at - 1] &&
		       strchr("=:~!", p->c[at - 1]))
			at--;
		w = word_before(p, at);
		return is_name_key(p, w) ||
		       (w.end == at && is_short_option(p, w));
	}
	w = word_before(p, at);
	if (is_word(p, w, "to") &&
	    is_word(p, word_before(p, w.begin), "search-path"))
		return true;
	/* "a service like X" is a sentence */
	return is_among(p, w, signs) && !is_wordy(p->c[first]) &&
	       is_name_key(p, word_before(p, w.begin));
}

/* "ssh X", "ssh X@host" */
static bool after_login(const struct ab_plain *p, struct span before)
{
	static const char *const programs[] = { "ssh",	"scp",	"sftp",
						"rsync", "mosh", NULL };

	return is_among(p, before, programs);
}

/* "--namespace X", "-n X" */
static bool after_option(const struct ab_plain *p, struct span before)
{
	size_t n = before.end - before.begin;
	const char *w = p->c + before.begin;

	if (is_short_option(p, before))
		return true;
	return n > 2 && w[0] == '-' && w[1] == '-' && is_name_key(p, before);
}

/* "use X", "\c X", "from X.table" */
static bool after_sql(const struct ab_plain *p, struct span before, size_t e)
{
	static const char *const verbs[] = { "use", "database", "schema",
					     "connect", "catalog", NULL };
	static const char *const tables[] = { "from", "join", "into", "update",
					      "table", "truncate", NULL };

	if (is_among(p, before, verbs))
		return true;
	if (is_word(p, before, "c") && before.begin &&
	    p->c[before.begin - 1] == '\\')
		return true;
	while (e < p->n && is_quote(p->c[e]))
		e++;
	return e < p->n && p->c[e] == '.' && is_among(p, before, tables);
}

static bool near_box(const struct ab_plain *p, size_t i, size_t e)
{
	struct span w = { i, i };

	for (int k = 0; k < 3; k++) {
		w = word_before(p, w.begin);
		if (w.begin == w.end)
			break;
		if (is_box_word(p, w))
			return true;
	}
	w.end = e;
	for (int k = 0; k < 2; k++) {
		w = word_behind(p, w.end);
		if (w.begin == w.end)
			break;
		if (is_box_word(p, w))
			return true;
	}
	return false;
}

/* "bob:5432" */
static bool has_port(const struct ab_plain *p, size_t i, size_t e)
{
	return e + 2 < p->n && p->c[e] == ':' && p->c[e + 1] >= '1' &&
	       p->c[e + 1] <= '9' && p->c[e + 2] >= '0' && p->c[e + 2] <= '9' &&
	       (i == 0 || ab_scope_is_space(p->c[i - 1]) ||
		is_quote(p->c[i - 1]) || strchr("(=,", p->c[i - 1]));
}

bool ab_scope_in_place(const struct ab_plain *p, size_t i, size_t e)
{
	struct span before;

	if (i > 0 && p->c[i - 1] == '/' && after_path(p, i))
		return true;
	if (i > 0 && strchr("/.@:", p->c[i - 1]) && in_authority(p, i))
		return true;
	if (has_port(p, i, e) || after_sign(p, i))
		return true;
	before = word_before(p, i);
	return after_option(p, before) || after_sql(p, before, e) ||
	       after_login(p, before) || near_box(p, i, e);
}

/* --- places that name somebody in any case -------------------------------- */

static bool is_nothing(const struct ab_plain *p, struct span x)
{
	static const char *const words[] = { "true", "false", "null", "none",
					     "nil",  "yes",   "no",   "on",
					     "off",  "0",     "1",
					     "undefined", NULL };

	return x.begin == x.end || is_among(p, x, words);
}

/* The name at x, in a place where one stands. `sure`: also an unknown one. */
static void saw_place(struct ab_scope_look *l, const struct ab_plain *p,
		      struct span x, bool sure)
{
	const struct ab_scope_name *name;

	if (is_nothing(p, x))
		return;
	name = ab_scope_find_name(l->scope, p->c + x.begin, x.end - x.begin);
	if (!name) {
		if (sure)
			l->saw(l->data, AB_SAW_UNKNOWN, NULL, l->level);
		return;
	}
	if (l->scope->boxes[name->box].owner != AB_SCOPE_OWN)
		l->saw(l->data, AB_SAW_BOX, name, l->level);
	else if (!ab_scope_is_exact(p, x.begin, x.end, name))
		l->saw(l->data, AB_SAW_OWN_LIKE, name, l->level);
}

static struct span name_at(const struct ab_plain *p, size_t at)
{
	struct span x = { at, at };

	while (x.end < p->n && x.end - at < FAR &&
	       (is_wordy(p->c[x.end]) || p->c[x.end] == '.'))
		x.end++;
	while (x.end > x.begin && p->c[x.end - 1] == '.')
		x.end--;
	return x;
}

/* Segments behind .shared/: whatever is one level below it. */
static size_t below_shared(struct ab_scope_look *l, const struct ab_plain *p,
			   size_t at)
{
	size_t depth = 0;

	for (unsigned k = 0; k < 32 && at < p->n && p->c[at] == '/'; k++) {
		struct span x;

		while (at < p->n && p->c[at] == '/')
			at++;
		x = (struct span){ at, at };
		while (x.end < p->n && x.end - at < FAR &&
		       (is_wordy(p->c[x.end]) || p->c[x.end] == '.'))
			x.end++;
		at = x.end;
		if (is_word(p, x, "-"))
			continue;
		if (is_word(p, x, "--")) {
			depth -= depth > 0;
			continue;
		}
		if (depth++ == 0)
			saw_place(l, p, x, l->is_scoped);
	}
	return at;
}

static bool is_shared(const struct ab_plain *p, size_t i)
{
	struct span w = { i, i + 7 };

	return p->n - i >= 7 && p->c[i] == '.' && is_word(p, w, "-shared") &&
	       (i == 0 || !(is_wordy(p->c[i - 1]) || p->c[i - 1] == '.')) &&
	       i + 7 < p->n && p->c[i + 7] == '/';
}

static bool has(const struct ab_plain *p, struct span w, const char *s)
{
	size_t n = strlen(s);

	for (size_t i = w.begin; i + n <= w.end; i++) {
		struct span part = { i, i + n };

		if (is_word(p, part, s))
			return true;
	}
	return false;
}

/* Where the value begins behind "sandbox_id" :, = or a space after an
   option; 0: there is none. */
static size_t value_at(const struct ab_plain *p, struct span w, bool option)
{
	size_t at = w.end;
	size_t sign;

	while (at < p->n && (is_quote(p->c[at]) || ab_scope_is_space(p->c[at])))
		at++;
	sign = at;
	if (at < p->n && (p->c[at] == ':' || p->c[at] == '='))
		at++;
	else if (!option || at == w.end)
		return 0;
	if (at < p->n && at > sign && p->c[at] == '=') /* a comparison */
		return 0;
	if (at < p->n && at > sign && p->c[at] == '>')
		at++;
	while (at < p->n && at - w.end < FAR &&
	       (is_quote(p->c[at]) || ab_scope_is_space(p->c[at])))
		at++;
	return at < p->n && p->c[at] != '-' ? at : 0;
}

/* A word that names boxes at [w): what it names. */
static void around_word(struct ab_scope_look *l, const struct ab_plain *p,
			struct span w)
{
	static const char *const plurals[] = { "sandboxes", "boxes", "vms",
					       "microvms", "peers", NULL };
	bool sandbox = has(p, w, "sandbox") || has(p, w, "microvm");
	bool option = w.begin > 1 && p->c[w.begin - 1] == '-' &&
		      p->c[w.begin - 2] == '-';
	bool quoted = w.begin > 0 && is_quote(p->c[w.begin - 1]) &&
		      has(p, w, "id");
	size_t at;

	if (w.end < p->n && p->c[w.end] == '/' && is_among(p, w, plurals) &&
	    (w.begin == 0 || p->c[w.begin - 1] == '/')) {
		saw_place(l, p, name_at(p, w.end + 1), sandbox);
		return;
	}
	if (ab_scope_key(p->c + w.begin, w.end - w.begin) != AB_KEY_BOX)
		return;
	at = value_at(p, w, option);
	if (at)
		saw_place(l, p, name_at(p, at), sandbox || option || quoted);
}

void ab_scope_find_places(struct ab_scope_look *l, const struct ab_plain *p)
{
	for (size_t i = 0; i < p->n;) {
		struct span w = { i, i };

		if (p->c[i] == '.' && is_shared(p, i)) {
			i = below_shared(l, p, i + 7);
			continue;
		}
		while (w.begin < p->n && p->c[w.begin] == '-')
			w.begin++;
		w.end = w.begin;
		while (w.end < p->n && is_wordy(p->c[w.end]))
			w.end++;
		if (w.end - w.begin <= 40 &&
		    (has(p, w, "box") || has(p, w, "vm") || has(p, w, "peer")))
			around_word(l, p, w);
		i = w.end > i ? w.end : i + 1;
	}
}
