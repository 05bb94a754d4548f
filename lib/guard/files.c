/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the text does to files, kept in variables that no shell can have: so
 * subshells, branches and loops undo and join them like any variable.
 * files_run.c has how such files are run, files_copy.c how they are copied,
 * files_unpack.c what archives bring.
 *
 * Refuses what is too much to be kept: a path that is too long, and more texts
 * than a file may hold; one that grows beyond what can be judged is unknown.
 */
#include "config.h"

#include "guard/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "guard/command.h"
#include "guard/path.h"

#define SURE_PREFIX " sure " /* as long: on every way something is in it */
#define LOOSE_PREFIX " over " /* as long: "0", or else it may be another text */
#define FD_NAME 32 /* bytes of " fd N" */
#define KEPT_TAINTS                                                     \
	(AB_TAINT_REMOTE | AB_TAINT_DECODE | AB_TAINT_CRED |            \
	 AB_TAINT_ENV | AB_TAINT_PICK)

/* --- files -------------------------------------------------------------- */

/* A variable that holds bytes of unknown value from there. */
bool ab_file_mark(struct ab_check *c, const char *name, uint32_t len,
		  uint32_t taint, enum ab_shell_owner owner)
{
	struct ab_hole hole = { .kind = AB_HOLE_BYTES };
	struct ab_word word = { .text = "", .holes = &hole, .hole_count = 1 };

	hole.origin = ab_shell_stream(c->run, (struct ab_span){ 0, 0 });
	if (!hole.origin)
		return false;
	hole.origin->taint = taint;
	return ab_shell_set(c->run, name, len, &word, owner);
}

#define HOLE_SIGN '\177' /* around what stands for a hole in a name */
#define HOLE_TEXT 16 /* bytes of one that comes from a stream, at most */

/* The stream's address in hexadecimal, the last digit first. */
static uint32_t hole_text(const struct ab_hole *h, char out[HOLE_TEXT])
{
	uint64_t left = (uintptr_t)h->origin;
	uint32_t n = 0;

	for (; left; left >>= 4)
		out[n++] = "0123456789abcdef"[left & 15];
	return n;
}

/* How much room a name needs that is made of those; 0: nothing says which one
   of them is. */
static size_t holed_size(const struct ab_word *path)
{
	size_t size = path->len + 1;

	for (uint32_t i = 0; i < path->hole_count; i++) {
		const struct ab_hole *h = &path->holes[i];

		if ((h->kind != AB_HOLE_BYTES && h->kind != AB_HOLE_FIELDS) ||
		    (!h->origin && !h->name))
			return 0;
		size += 2 + (h->origin ? HOLE_TEXT : strlen(h->name));
	}
	return size;
}

/* "$t" of t=$(mktemp), "$DIR/x": the same holes are the same file, whatever
   they are. NULL: nothing says which they are. */
static const char *holed_path(struct ab_check *c, const struct ab_word *path,
			      uint32_t *len)
{
	size_t size = path->hole_count ? holed_size(path) : 0;
	uint32_t n = 0, from = 0;
	char *out, text[HOLE_TEXT];

	out = size ? ab_check_alloc(c, size) : NULL;
	for (uint32_t i = 0; out && i < path->hole_count; i++) {
		const struct ab_hole *h = &path->holes[i];
		const char *as = h->origin ? text : h->name;
		uint32_t m = h->origin ? hole_text(h, text)
				       : (uint32_t)strlen(as);

		memcpy(out + n, path->text + from, h->at - from);
		n += h->at - from;
		from = h->at;
		out[n++] = HOLE_SIGN;
		memcpy(out + n, as, m);
		n += m;
		out[n++] = HOLE_SIGN;
	}
	if (!out)
		return NULL;
	memcpy(out + n, path->text + from, path->len - from);
	n += path->len - from;
	out[n] = '\0';
	*len = n;
	return out;
}

/* A name in a directory that nobody knows: the same in the same one. */
static const char *nowhere_path(struct ab_check *c, const struct ab_word *path,
				uint32_t *len)
{
	static const char dir[] = { HOLE_SIGN, '/' };
	const char *text = path->text;
	uint32_t n = path->len;
	char *out;

	while (n > 1 && text[0] == '.' && text[1] == '/') {
		text += 2;
		n -= 2;
	}
	if (path->hole_count || !n || *text == '/' || *text == '~')
		return NULL;
	out = ab_check_alloc(c, sizeof(dir) + n + 1);
	if (!out)
		return NULL;
	memcpy(out, dir, sizeof(dir));
	memcpy(out + sizeof(dir), text, n);
	*len = n + sizeof(dir);
	out[*len] = '\0';
	return out;
}

/* After cd "$T": x is "$T/x". The text is seen from there or, of a new
   directory, begins with what stands for that. NULL: it is not there. */
static const char *dir_path(struct ab_check *c, const char *text, uint32_t *len)
{
	static const char base[] = AB_TEMP_DIR;
	bool is_exported, is_temp = *text == '/';
	const struct ab_word *w = ab_shell_get(c->run, AB_CWD_WORD,
					       sizeof(AB_CWD_WORD) - 1,
					       &is_exported);
	uint32_t skip = is_temp ? sizeof(base) - 1 : 0, n;
	const char *dir;
	char *out;

	if (!w || w->hole_count != 1)
		return NULL;
	skip += is_temp ? w->len : 0;
	while (!is_temp && *len - skip > 2 && !memcmp(text + skip, "./", 2))
		skip += 2;
	dir = holed_path(c, w, &n);
	if (!dir || *len <= skip)
		return NULL;
	if (is_temp && (text[skip] != '/' ||
			memcmp(text + skip - w->len, w->text, w->len) != 0))
		return NULL;
	out = ab_check_alloc(c, n + *len - skip + 2);
	if (!out)
		return NULL;
	memcpy(out, dir, n);
	if (!is_temp)
		out[n++] = '/';
	memcpy(out + n, text + skip, *len - skip);
	*len = n + *len - skip;
	out[*len] = '\0';
	return out;
}

const char *ab_file_name(struct ab_check *c, const struct ab_word *path,
			 bool is_kept, uint32_t *len)
{
	uint32_t n, skip = sizeof(AB_FILE_PREFIX) - 1;
	const char *text = ab_path_text(c, path, &n);
	char *name;

	if (text && AB_UNLIKELY(n > sizeof(AB_TEMP_DIR) &&
				!memcmp(text, "/tmp/tmp.X", 10))) {
		const char *other = dir_path(c, text, &n);

		text = other ? other : text;
	}
	if (!text)
		text = holed_path(c, path, &n);
	if (!text && !c->cwd && !path->hole_count && path->len &&
	    !memchr("/~", *path->text, 2)) {
		n = path->len;
		text = dir_path(c, path->text, &n);
	}
	if (!text && !c->cwd)
		text = nowhere_path(c, path, &n);
	if (!text)
		return NULL;
	if (n >= AB_MAX_PATH) { /* no such path, and nobody can follow it */
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
		return NULL;
	}
	/* the shell keeps the names of its variables where they are */
	name = is_kept ? ab_arena_high(c->high, n + skip + 1)
		       : ab_check_alloc(c, n + skip + 1);
	if (!name) {
		c->is_broken = true;
		return NULL;
	}
	memcpy(name, AB_FILE_PREFIX, skip);
	memcpy(name + skip, text, n + 1);
	*len = n + skip;
	return name;
}

bool ab_file_last(struct ab_check *c, const struct ab_word *url,
		  struct ab_word *out)
{
	uint32_t end = url->len, from;
	const char *query = memchr(url->text, '?', url->len);

	if (query)
		end = (uint32_t)(query - url->text);
	const char *slash = memrchr(url->text, '/', end);

	if (!slash) /* host:file */
		slash = memrchr(url->text, ':', end);
	from = slash ? (uint32_t)(slash - url->text) + 1 : 0;
	return ab_word_slice(c, url, from, end - from, out) && out->len;
}

/* Two bits for names like this one. */
static uint64_t name_bits(const char *name, uint32_t len)
{
	uint32_t first = (unsigned char)*name;
	uint32_t last = (unsigned char)name[len - 1];

	return UINT64_C(1) << (first * 7 + len) % 64 |
	       UINT64_C(1) << (last * 11 + len * 5 + first) % 64;
}

/* Where the last name in a path begins; len: it has none that stays as it is
   when the path is resolved (/proc/self/cwd does not). */
static uint32_t last_name(const char *text, uint32_t len)
{
	const char *slash = memrchr(text, '/', len);
	uint32_t from = slash ? (uint32_t)(slash - text) + 1 : 0;
	bool is_odd = from == len || text[from] == '.' ||
		      text[from] == '~' || text[len - 1] == '\r' ||
		      (len - from == 4 && !memcmp(text + from, "root", 4)) ||
		      (len - from == 3 && !memcmp(text + from, "cwd", 3));

	return is_odd ? len : from;
}

/* The bit of a file's variable; of one whose last name is odd all bits. */
static uint64_t written_bits(const char *variable, uint32_t len)
{
	uint32_t from = last_name(variable, len);

	return from < len ? name_bits(variable + from, len - from) : UINT64_MAX;
}

/* The path has a hole that may be any bytes, and so no name but that of
   holed_path(), which is not the name of any file. */
static bool is_other_holed(const struct ab_check *c, const struct ab_word *path)
{
	uint32_t i = 0;
	size_t size;

	while (i < path->hole_count && path->holes[i].kind != AB_HOLE_BYTES &&
	       path->holes[i].kind != AB_HOLE_FIELDS)
		i++;
	if (i == path->hole_count)
		return false;
	size = holed_size(path);
	return !size ||
	       (!c->has_holed_file && !c->parts && size < AB_MAX_PATH);
}

/* src/x*.c, which has no name but where a set in it takes one byte only. */
static bool is_pattern_name(const struct ab_check *c,
			    const struct ab_word *path, uint32_t from)
{
	const struct ab_hole *last = &path->holes[path->hole_count - 1];
	const char *name = path->text + from;
	uint32_t n = path->len - from;

	return last->kind == AB_HOLE_PATTERN && last->len &&
	       last->at + last->len > from && !memchr(name, '[', n) &&
	       !memchr(name, '\\', n) && !c->links;
}

/* No file that the text wrote is called like this. */
static bool is_other_file(const struct ab_check *c, const struct ab_word *path)
{
	uint32_t from = path->len ? last_name(path->text, path->len) : 0;
	uint64_t bits;

	if (path->hole_count &&
	    (is_other_holed(c, path) || is_pattern_name(c, path, from)))
		return true;
	if (path->hole_count || from >= path->len)
		return false;
	bits = name_bits(path->text + from, path->len - from);
	return (c->file_names & bits) != bits;
}

bool ab_file_is_untold(const struct ab_check *c, const struct ab_word *path)
{
	uint32_t cwd = c->cwd ? c->cwd->len : 0;

	/* too long a path is refused by ab_file_name() */
	return AB_LIKELY(!c->trees && !c->has_edits) &&
	       (!c->has_files || is_other_file(c, path)) &&
	       path->len + cwd + 2 < AB_MAX_PATH;
}

/* False: that is too much to be kept, and no more known. */
static bool keeps(struct ab_check *c, const char *variable, uint32_t len,
		  const struct ab_word *content)
{
	const struct ab_word *kept;

	if (!ab_shell_set(c->run, variable, len, content, AB_SHELL_SHARED))
		return false;
	kept = ab_shell_get(c->run, variable, len, NULL);
	return kept && kept->len == content->len;
}

/* What else is known of the file, in a variable with another prefix. */
bool ab_file_set_beside(struct ab_check *c, const char *prefix,
			const char *variable, uint32_t len,
			const struct ab_word *value)
{
	uint32_t skip = sizeof(AB_FILE_PREFIX) - 1;
	char *name = ab_arena_high(c->high, len + 1);

	if (!name) {
		c->is_broken = true;
		return false;
	}
	memcpy(name, prefix, skip);
	memcpy(name + skip, variable + skip, len - skip);
	name[len] = '\0';
	return ab_shell_set(c->run, name, len, value, AB_SHELL_SHARED);
}

const struct ab_word *ab_file_beside(struct ab_check *c, const char *prefix,
				     const char *variable, uint32_t len)
{
	uint32_t skip = sizeof(AB_FILE_PREFIX) - 1;
	char *name = ab_check_alloc(c, len + 1);

	if (!name)
		return NULL;
	memcpy(name, prefix, skip);
	memcpy(name + skip, variable + skip, len - skip);
	name[len] = '\0';
	return ab_shell_get(c->run, name, len, NULL);
}

/* NULL: nothing, or more than one thing. */
const struct ab_word *ab_file_get_beside(struct ab_check *c,
					 const char *prefix,
					 const char *variable, uint32_t len)
{
	const struct ab_word *w = ab_file_beside(c, prefix, variable, len);

	return w && w->len && !w->hole_count ? w : NULL;
}

void ab_file_note(struct ab_check *c, const char *variable, uint32_t len)
{
	c->has_files = true;
	c->file_names |= written_bits(variable, len);
	c->has_holed_file |= memchr(variable, HOLE_SIGN, len) != NULL;
	for (uint32_t i = 0; i < c->written_count; i++) {
		if (!strcmp(c->written[i], variable))
			return;
	}
	if (c->written_count < AB_CHECK_WRITTEN)
		c->written[c->written_count++] = variable;
	else
		c->lost_modules |= ab_file_module_bit(variable, len);
}

bool ab_file_is_loose(struct ab_check *c, const struct ab_word *path)
{
	const struct ab_word *w;
	const char *variable;
	uint32_t len;

	if (AB_LIKELY(!c->has_loose) || ab_file_fd(path) >= 0)
		return false;
	variable = ab_file_name(c, path, false, &len);
	w = variable ? ab_file_beside(c, LOOSE_PREFIX, variable, len) : NULL;
	return w && !ab_word_equals(w, "0");
}

/* is_loose: who knows what was written over it. Who runs it is still judged by
   what it was; who reads it reads something else. variable: its name. */
static void set_loose_at(struct ab_check *c, const struct ab_word *path,
			 const char *variable, uint32_t len, bool is_loose)
{
	static const struct ab_word no = { .text = "0", .len = 1 },
				    yes = { .text = "1", .len = 1 };

	if (AB_LIKELY(is_loose ? !c->has_files : !c->has_loose) ||
	    ab_file_fd(path) >= 0 ||
	    (is_loose && !ab_shell_get(c->run, variable, len, NULL)))
		return;
	c->has_loose |= is_loose;
	if (!ab_file_set_beside(c, LOOSE_PREFIX, variable, len,
				is_loose ? &yes : &no))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

void ab_file_loosen(struct ab_check *c, const struct ab_word *path)
{
	const char *variable;
	uint32_t len;

	if (AB_LIKELY(!c->has_files) || ab_file_is_untold(c, path))
		return;
	variable = ab_file_name(c, path, false, &len);
	if (variable)
		set_loose_at(c, path, variable, len, true);
}

const struct ab_word *ab_file_part(uint32_t taint, const struct ab_word *known)
{
	return taint & KEPT_TAINTS ? NULL : known;
}

/* Its variable; NULL: nothing was put into one. */
static const char *save(struct ab_check *c, const struct ab_word *path,
			uint32_t taint, const struct ab_word *content,
			bool is_new, uint32_t *len)
{
	uint32_t keep = KEPT_TAINTS;

	if (taint & AB_TAINT_REMOTE)
		ab_check_path(c, c->use, AB_ROLE_WRITE, path);
	if (!(taint & keep) && !content) {
		ab_file_loosen(c, path);
		return NULL;
	}
	const char *variable = ab_file_name(c, path, true, len);
	bool good = true;

	if (!variable)
		return NULL;
	ab_file_note(c, variable, *len);
	if (content && !keeps(c, variable, *len, content))
		good = ab_file_mark(c, variable, *len,
				    (taint & keep) | ab_word_taint(content) |
					    AB_TAINT_FILE,
				    AB_SHELL_SHARED);
	else if (!content)
		good = ab_file_mark(c, variable, *len, taint & keep,
				    AB_SHELL_SHARED);
	set_loose_at(c, path, variable, *len, false);
	if (AB_UNLIKELY(c->has_edits) && is_new)
		ab_edit_drop(c, path);
	if (!good || (is_new && c->trees && !ab_tree_mark(c, variable, *len)))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
	return variable;
}

/* The text put something else into it. */
static bool may_stay(struct ab_check *c, const struct ab_word *path,
		     const struct ab_word *content)
{
	const struct ab_word *old =
		ab_file_fd(path) < 0 ? ab_file_kept(c, path) : NULL;

	return old && !ab_file_is_pipe(old) && !ab_file_is_copy(old) &&
	       (old->hole_count || content->hole_count ||
		old->len != content->len ||
		memcmp(old->text, content->text, old->len) != 0);
}

static void add_one(struct ab_check *c, const struct ab_word *path,
		    uint32_t taint, const struct ab_word *content)
{
	struct ab_shell_readings readings = { 0 };
	uint32_t len;

	if (AB_LIKELY(!c->has_files) || !content ||
	    !may_stay(c, path, content)) {
		(void)save(c, path, taint, content, true, &len);
		return;
	}
	ab_shell_reading_begin(c->run, &readings);
	(void)save(c, path, taint, content, false, &len);
	ab_shell_reading_end(c->run, &readings);
	ab_shell_reading_begin(c->run, &readings);
	ab_shell_reading_end(c->run, &readings);
	ab_shell_reading_join(c->run, &readings);
}

/* The name is that one, or below it. */
static bool is_under(const struct ab_word *w, const char *dir, uint32_t len)
{
	return len && w->len >= len && ab_same(dir, w->text, len) &&
	       (w->len == len || w->text[len] == '/');
}

/* The first `len` bytes of a name are that instead. */
static bool rename_to(struct ab_check *c, struct ab_word *w, uint32_t len,
		      const char *to, uint32_t to_len)
{
	uint32_t rest = w->len - len;
	char *text = to_len ? ab_check_alloc(c, (size_t)to_len + rest + 1)
			    : NULL;

	if (!text)
		return false;
	memcpy(text, to, to_len);
	memcpy(text + to_len, w->text + len, rest);
	text[to_len + rest] = '\0';
	w->text = text;
	w->len = to_len + rest;
	return true;
}

/* What is linked to the name at i goes behind the others. */
static uint32_t add_linked(struct ab_check *c, struct ab_linked *l,
			   struct ab_word *names, uint32_t count, uint32_t i)
{
	for (; l; l = l->next) {
		struct ab_word *to = &names[count];
		bool is_link = is_under(&names[i], l->path, l->len);
		bool *is_told = names[i].len > (is_link ? l->len
							: l->target_len)
					? &l->is_told_below : &l->is_told;

		if (*is_told || (!is_link && !is_under(&names[i], l->target,
						       l->target_len)))
			continue;
		*is_told = true;
		*to = names[i];
		count += is_link ? rename_to(c, to, l->len, l->target,
					     l->target_len)
				 : rename_to(c, to, l->target_len, l->path,
					     l->len);
	}
	return count;
}

static uint32_t untold(struct ab_linked *l)
{
	uint32_t n = 0;

	for (; l; l = l->next) {
		l->is_told = l->is_told_below = false;
		n += 2;
	}
	return n;
}

#define MAX_LINKED 32 /* names of a file that are followed */

/* `ln t1 t2; ln t2 t3; echo x >t1`: what is called t3 has it, too. */
static AB_COLD void add_by_links(struct ab_check *c, const struct ab_word *path,
				 uint32_t taint, const struct ab_word *content)
{
	uint32_t most = 1 + untold(c->near_links) + untold(c->links), n = 1;
	struct ab_word *names = ab_check_alloc(c, most * sizeof(*names));

	if (!names)
		return;
	names[0] = (struct ab_word){ .span = path->span };
	names[0].text = ab_path_text(c, path, &names[0].len);
	/* each link is told once, and once of what is below, so they find
	   room */
	for (uint32_t i = 0; names[0].text && i < n; i++) {
		if (i == MAX_LINKED) {
			ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, path);
			return;
		}
		if (i)
			add_one(c, &names[i], taint, content);
		n = add_linked(c, c->near_links, names, n, i);
		n = add_linked(c, c->links, names, n, i);
	}
}

void ab_file_add(struct ab_check *c, const struct ab_word *path,
		 uint32_t taint, const struct ab_word *content)
{
	add_one(c, path, taint, content);
	if (AB_UNLIKELY(c->near_links || c->links))
		add_by_links(c, path, taint, content);
}

void ab_file_save(struct ab_check *c, const struct ab_word *path,
		  uint32_t taint, const struct ab_word *content, bool is_url)
{
	struct ab_word name;
	uint32_t len;

	c->has_foreign |= (taint & (AB_TAINT_REMOTE | AB_TAINT_DECODE)) != 0;
	if (is_url) {
		if (!ab_file_last(c, path, &name))
			return;
		path = &name;
	}
	if (AB_UNLIKELY(c->keeps_files) && content)
		add_one(c, path, taint, content);
	else
		(void)save(c, path, taint, content, true, &len);
	if (AB_UNLIKELY(c->near_links || c->links))
		add_by_links(c, path, taint, content);
}

static bool begins_fd(const struct ab_word *w, const char *name, uint32_t *n)
{
	*n = (uint32_t)strlen(name);
	return w->len >= *n && !memcmp(w->text, name, *n);
}

/* /dev/fd/3 and the like: the 3; or -1. */
int32_t ab_file_fd(const struct ab_word *w)
{
	uint32_t n;
	int32_t fd = 0;

	if (w->hole_count || (!begins_fd(w, "/dev/fd/", &n) &&
			      !begins_fd(w, "/proc/self/fd/", &n)))
		return -1;
	if (w->len == n || w->len > n + 3)
		return -1;
	for (uint32_t i = n; i < w->len; i++) {
		if (w->text[i] < '0' || w->text[i] > '9')
			return -1;
		fd = fd * 10 + (w->text[i] - '0');
	}
	return fd;
}

/* /dev/fd/$n, /proc/$$/fd/3 */
bool ab_file_is_any_fd(const struct ab_word *w)
{
	uint32_t n;

	if (AB_LIKELY(!w->hole_count))
		return false;
	return begins_fd(w, "/dev/fd/", &n) ||
	       (begins_fd(w, "/proc/", &n) &&
		memmem(w->text + n, w->len - n, "/fd/", 4));
}

/* The bytes of both; false: out of memory. */
bool ab_file_join(struct ab_check *c, const struct ab_word *a,
		  const struct ab_word *b, struct ab_word *out)
{
	uint32_t count = a->hole_count + b->hole_count;
	char *text = ab_check_alloc(c, (size_t)a->len + b->len + 1);
	struct ab_hole *holes =
		ab_check_alloc(c, (count + 1) * sizeof(*holes));

	if (!text || !holes)
		return false;
	memcpy(text, a->text, a->len);
	memcpy(text + a->len, b->text, b->len);
	if (a->hole_count)
		memcpy(holes, a->holes, a->hole_count * sizeof(*holes));
	for (uint32_t i = 0; i < b->hole_count; i++) {
		holes[a->hole_count + i] = b->holes[i];
		holes[a->hole_count + i].at += a->len;
	}
	*out = (struct ab_word){ .text = text, .len = a->len + b->len,
				 .holes = holes, .hole_count = count,
				 .span = b->span };
	return true;
}

#define MAX_CONTENT 32768 /* of a file that grows */

static void append_to(struct ab_check *c, const struct ab_word *path,
		      uint32_t taint, const struct ab_word *content,
		      const struct ab_word *old)
{
	const char *variable;
	struct ab_word all;
	uint32_t len;

	if (old && (ab_file_is_copy(old) || ab_file_is_pipe(old))) {
		content = NULL; /* it stays what it is */
	} else if (old) {
		if (old->len + content->len >= MAX_CONTENT ||
		    !ab_file_join(c, old, content, &all)) {
			ab_file_pipe(c, path); /* more than can be judged */
			return;
		}
		content = &all;
	}
	/* who knows what was there before: what is added is in it */
	variable = save(c, path, taint, content, false, &len);
	if (!old && content && variable)
		set_loose_at(c, path, variable, len, true);
}

#define MAX_APPEND 4 /* texts that a file which grows may hold */

/* Behind each of the texts that it may hold, or behind what nobody knows. */
static void append_each(struct ab_check *c, const struct ab_word *path,
			uint32_t taint, const struct ab_word *content,
			const struct ab_word *old)
{
	static const struct ab_word sure = { .text = "1", .len = 1 };
	struct ab_shell_readings readings = { 0 };
	const struct ab_word *one;
	uint32_t len, i = 0;
	const char *variable = ab_file_name(c, path, false, &len);
	bool is_sure;

	if (!variable || !ab_shell_get_one(c->run, variable, len, 0)) {
		append_to(c, path, taint, content, old);
		return;
	}
	is_sure = ab_file_get_beside(c, SURE_PREFIX, variable, len);
	while ((one = ab_shell_get_one(c->run, variable, len, i)) || !is_sure) {
		ab_shell_reading_begin(c->run, &readings);
		if (i < MAX_APPEND)
			append_to(c, path, taint, content, one);
		else
			ab_file_pipe(c, path); /* more than can be judged */
		ab_shell_reading_end(c->run, &readings);
		if (!one || i++ == MAX_APPEND)
			break;
	}
	readings.count += i > MAX_APPEND; /* or it is what it was */
	ab_shell_reading_join(c->run, &readings);
	if (!ab_file_set_beside(c, SURE_PREFIX, variable, len, &sure))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

void ab_file_append(struct ab_check *c, const struct ab_word *path,
		    uint32_t taint, const struct ab_word *content)
{
	const struct ab_word *old = content ? ab_file_kept(c, path) : NULL;

	if (old && !old->len && !ab_file_is_pipe(old) && ab_file_fd(path) < 0)
		append_each(c, path, taint, content, old);
	else
		append_to(c, path, taint, content, old);
	if (AB_UNLIKELY(c->near_links || c->links))
		add_by_links(c, path, taint, content);
}

void ab_file_pipe(struct ab_check *c, const struct ab_word *path)
{
	uint32_t len;
	const char *variable = ab_file_name(c, path, true, &len);

	if (!variable)
		return;
	ab_file_note(c, variable, len);
	if (!ab_file_mark(c, variable, len, AB_TAINT_FILE, AB_SHELL_SHARED) ||
	    (c->trees && !ab_tree_mark(c, variable, len)))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

/* The variable that holds what descriptor fd is; -1: one that a {name} chose,
   which are all one. */
static uint32_t fd_variable(int64_t fd, char name[FD_NAME])
{
	return (uint32_t)snprintf(name, FD_NAME, " fd %" PRId64, fd);
}

void ab_fd_save(struct ab_check *c, int64_t fd, uint32_t taint,
		const struct ab_word *content)
{
	char name[FD_NAME];
	uint32_t len = fd_variable(fd < 0 ? -1 : fd, name);
	bool good = content ? ab_shell_set(c->run, name, len, content,
					   AB_SHELL_INHERITED)
			    : ab_file_mark(c, name, len, taint,
					   AB_SHELL_INHERITED);

	if (!good)
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, NULL);
}

const struct ab_word *ab_fd_content(struct ab_check *c, int64_t fd)
{
	char name[FD_NAME];
	bool is_exported;

	return ab_shell_get(c->run, name, fd_variable(fd, name),
			    &is_exported);
}

uint32_t ab_fd_taint(struct ab_check *c, int64_t fd,
		     const struct ab_word *content)
{
	char name[FD_NAME];
	bool is_either = !content->len &&
			 ab_shell_get_one(c->run, name, fd_variable(fd, name),
					  0);

	return ab_word_taint(content) | (is_either ? AB_TAINT_FILE : 0);
}

/* What the text itself put in. */
const struct ab_word *ab_file_kept(struct ab_check *c,
				   const struct ab_word *path)
{
	int32_t fd = ab_file_fd(path);
	const struct ab_word *w;
	const char *variable;
	bool is_exported;
	uint32_t len;

	if (fd >= 0)
		return ab_fd_content(c, fd);
	if (ab_file_is_untold(c, path))
		return NULL;
	variable = ab_file_name(c, path, false, &len);
	if (!variable)
		return NULL;
	w = ab_shell_get(c->run, variable, len, &is_exported);
	return w || AB_LIKELY(!c->parts) ? w
					 : ab_part_content(c, variable, len);
}

bool ab_file_is_written(struct ab_check *c, const struct ab_word *path)
{
	return ab_file_kept(c, path) != NULL;
}

const struct ab_word *ab_file_content(struct ab_check *c,
				      const struct ab_word *path)
{
	const struct ab_word *w = ab_file_kept(c, path);

	if (AB_LIKELY(!c->trees) || ab_file_fd(path) >= 0)
		return w;
	return ab_tree_content(c, path, w);
}

uint32_t ab_file_taint(struct ab_check *c, const struct ab_word *path)
{
	const struct ab_word *w = ab_file_content(c, path);

	return w ? ab_word_taint(w) & ~(uint32_t)AB_TAINT_VAR : 0;
}

/* that a file may hold, after an `if`: with one more it is too much */
#define MAX_EITHER (AB_SHELL_ALTERNATIVES - 1)

/* What it may hold, where that is not one thing; NULL: no more of these. */
const struct ab_word *ab_file_either(struct ab_check *c,
				     const struct ab_word *path,
				     uint32_t i)
{
	const char *variable;
	const struct ab_word *one;
	char name[FD_NAME];
	int32_t fd = ab_file_fd(path);
	uint32_t len;

	if (fd >= 0) {
		len = fd_variable(fd, name);
		variable = name;
	} else {
		variable = ab_file_name(c, path, false, &len);
	}
	one = variable ? ab_shell_get_one(c->run, variable, len, i) : NULL;
	if (!one || i < MAX_EITHER)
		return one;
	ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
	return NULL;
}

bool ab_file_is_either(struct ab_check *c, const struct ab_word *path)
{
	return ab_file_either(c, path, 0) != NULL;
}
