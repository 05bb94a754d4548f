/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the text does to files and the working directory, kept in variables
 * that no shell can have: so subshells, branches and loops undo and join them
 * like any variable.
 */
#include "config.h"

#include "guard/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "guard/command.h"

#define FILE_PREFIX " file "
#define LATE_PREFIX " late " /* as long: when that was */
#define SURE_PREFIX " sure " /* as long: on every way something is in it */
#define FD_NAME 32 /* bytes of " fd N" */
#define COPY_MARK "\177ELF " /* the path of a program follows */

/* --- files -------------------------------------------------------------- */

/* A variable that holds bytes of unknown value from there. */
static bool mark_variable(struct ab_check *c, const char *name, uint32_t len,
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

/* "$t" of t=$(mktemp), "$DIR/x": the same holes are the same file, whatever
   they are. NULL: nothing says which they are. */
static const char *holed_path(struct ab_check *c, const struct ab_word *path,
			      uint32_t *len)
{
	size_t size = path->len + 1;
	uint32_t n = 0, from = 0;
	char *out, text[HOLE_TEXT];

	for (uint32_t i = 0; i < path->hole_count; i++) {
		const struct ab_hole *h = &path->holes[i];

		if ((h->kind != AB_HOLE_BYTES && h->kind != AB_HOLE_FIELDS) ||
		    (!h->origin && !h->name))
			return NULL;
		size += 2 + (h->origin ? HOLE_TEXT : strlen(h->name));
	}
	out = path->hole_count ? ab_check_alloc(c, size) : NULL;
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

static const char *file_name(struct ab_check *c, const struct ab_word *path,
			     bool is_kept, uint32_t *len)
{
	uint32_t n, skip = sizeof(FILE_PREFIX) - 1;
	const char *text = ab_path_text(c, path, &n);
	char *name;

	if (!text)
		text = holed_path(c, path, &n);
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
	memcpy(name, FILE_PREFIX, skip);
	memcpy(name + skip, text, n + 1);
	*len = n + skip;
	return name;
}

static bool last_component(struct ab_check *c, const struct ab_word *url,
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

/* A bit for names like this one. */
static uint64_t name_bit(const char *name, uint32_t len)
{
	return UINT64_C(1) << ((unsigned char)*name * 7u + len) % 64;
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
static uint64_t written_bit(const char *variable, uint32_t len)
{
	uint32_t from = last_name(variable, len);

	return from < len ? name_bit(variable + from, len - from) : UINT64_MAX;
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
static bool set_beside(struct ab_check *c, const char *prefix,
		       const char *variable, uint32_t len,
		       const struct ab_word *value)
{
	uint32_t skip = sizeof(FILE_PREFIX) - 1;
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

/* NULL: nothing, or more than one thing. */
static const struct ab_word *get_beside(struct ab_check *c, const char *prefix,
					const char *variable, uint32_t len)
{
	uint32_t skip = sizeof(FILE_PREFIX) - 1;
	char *name = ab_check_alloc(c, len + 1);
	const struct ab_word *w;
	bool is_exported;

	if (!name)
		return NULL;
	memcpy(name, prefix, skip);
	memcpy(name + skip, variable + skip, len - skip);
	name[len] = '\0';
	w = ab_shell_get(c->run, name, len, &is_exported);
	return w && w->len && !w->hole_count ? w : NULL;
}

/* The number of the archive after which the file was written, or which was
   taken apart in the directory: eight digits. */
static bool mark_late(struct ab_check *c, const char *variable, uint32_t len)
{
	char text[9];
	struct ab_word number = { .text = text, .len = sizeof(text) - 1 };

	snprintf(text, sizeof(text), "%08" PRIx32, c->trees);
	return set_beside(c, LATE_PREFIX, variable, len, &number);
}

static void note_written(struct ab_check *c, const char *variable, uint32_t len)
{
	c->has_files = true;
	c->file_names |= written_bit(variable, len);
	for (uint32_t i = 0; i < c->written_count; i++) {
		if (!strcmp(c->written[i], variable))
			return;
	}
	if (c->written_count < AB_CHECK_WRITTEN)
		c->written[c->written_count++] = variable;
}

static void save(struct ab_check *c, const struct ab_word *path, uint32_t taint,
		 const struct ab_word *content, bool is_new)
{
	uint32_t keep = AB_TAINT_REMOTE | AB_TAINT_DECODE | AB_TAINT_CRED |
			AB_TAINT_ENV | AB_TAINT_PICK;
	uint32_t len;

	if (taint & AB_TAINT_REMOTE)
		ab_check_path(c, c->use, AB_ROLE_WRITE, path);
	if (!(taint & keep) && !content)
		return;
	const char *variable = file_name(c, path, true, &len);
	bool good = true;

	if (!variable)
		return;
	note_written(c, variable, len);
	if (content && !keeps(c, variable, len, content))
		good = mark_variable(c, variable, len,
				     (taint & keep) | ab_word_taint(content) |
					     AB_TAINT_FILE,
				     AB_SHELL_SHARED);
	else if (!content)
		good = mark_variable(c, variable, len, taint & keep,
				     AB_SHELL_SHARED);
	if (!good || (is_new && c->trees && !mark_late(c, variable, len)))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

void ab_file_save(struct ab_check *c, const struct ab_word *path,
		  uint32_t taint, const struct ab_word *content, bool is_url)
{
	struct ab_word name;

	if (is_url) {
		if (!last_component(c, path, &name))
			return;
		path = &name;
	}
	save(c, path, taint, content, true);
}

/* /dev/fd/3 and the like: the 3; or -1. */
static int32_t fd_of(const struct ab_word *w)
{
	static const char *const names[] = { "/dev/fd/", "/proc/self/fd/" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		uint32_t n = (uint32_t)strlen(names[i]);

		if (!w->hole_count && w->len == n + 1 &&
		    !memcmp(w->text, names[i], n) && w->text[n] >= '0' &&
		    w->text[n] <= '9')
			return w->text[n] - '0';
	}
	return -1;
}

/* Nothing is known of it but that somebody writes into it. */
static bool is_pipe(const struct ab_word *content)
{
	return !content->len && (ab_word_taint(content) & AB_TAINT_FILE);
}

/* A program under another name. */
static bool is_copy(const struct ab_word *content)
{
	uint32_t n = sizeof(COPY_MARK) - 1;

	return content->len > n && !memcmp(content->text, COPY_MARK, n);
}

/* The bytes of both; false: out of memory. */
static bool join_words(struct ab_check *c, const struct ab_word *a,
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

static const struct ab_word *kept_content(struct ab_check *c,
					  const struct ab_word *path);

#define MAX_CONTENT 32768 /* of a file that grows */

static void append_to(struct ab_check *c, const struct ab_word *path,
		      uint32_t taint, const struct ab_word *content,
		      const struct ab_word *old)
{
	struct ab_word all;

	if (old && (is_copy(old) || is_pipe(old))) {
		content = NULL; /* it stays what it is */
	} else if (old) {
		if (old->len + content->len >= MAX_CONTENT ||
		    !join_words(c, old, content, &all)) {
			ab_file_pipe(c, path); /* more than can be judged */
			return;
		}
		content = &all;
	}
	/* who knows what was there before: what is added is in it */
	save(c, path, taint, content, false);
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
	const char *variable = file_name(c, path, false, &len);
	bool is_sure;

	if (!variable || !ab_shell_get_one(c->run, variable, len, 0)) {
		append_to(c, path, taint, content, old);
		return;
	}
	is_sure = get_beside(c, SURE_PREFIX, variable, len);
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
	if (!set_beside(c, SURE_PREFIX, variable, len, &sure))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

void ab_file_append(struct ab_check *c, const struct ab_word *path,
		    uint32_t taint, const struct ab_word *content)
{
	const struct ab_word *old = content ? kept_content(c, path) : NULL;

	if (old && !old->len && !is_pipe(old) && fd_of(path) < 0)
		append_each(c, path, taint, content, old);
	else
		append_to(c, path, taint, content, old);
}

void ab_file_pipe(struct ab_check *c, const struct ab_word *path)
{
	uint32_t len;
	const char *variable = file_name(c, path, true, &len);

	if (!variable)
		return;
	note_written(c, variable, len);
	if (!mark_variable(c, variable, len, AB_TAINT_FILE, AB_SHELL_SHARED) ||
	    (c->trees && !mark_late(c, variable, len)))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

void ab_file_unpack(struct ab_check *c, const struct ab_word *dir,
		    uint32_t taint)
{
	uint32_t len;
	struct ab_word last;
	const char *variable;
	char *name;

	/* hg clone https://host/name, bzr branch lp:name: called as there */
	if (memchr(dir->text, ':', dir->len) && last_component(c, dir, &last))
		dir = &last;
	variable = file_name(c, dir, false, &len);
	if (!variable)
		return;
	/* as a file's, with a slash behind it */
	name = ab_arena_high(c->high, len + 2);
	if (!name) {
		c->is_broken = true;
		return;
	}
	memcpy(name, variable, len);
	if (name[len - 1] != '/')
		name[len++] = '/';
	name[len] = '\0';
	c->trees++;
	if (!mark_variable(c, name, len, taint, AB_SHELL_SHARED) ||
	    !mark_late(c, name, len))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, dir);
}

/* A directory into which an archive off the network was taken apart. */
struct tree {
	const struct ab_word *content; /* unknown bytes from there */
	const char *rest;	       /* the file's path, from it on */
	uint32_t len, rest_len;	       /* of the directory's variable */
	bool is_root;		       /* it is the worktree's own */
};

/* The innermost one above the file. What lies in the worktree is not in an
   archive that was taken apart around it. */
static bool find_tree(struct ab_check *c, const char *variable, uint32_t len,
		      struct tree *out)
{
	const struct ab_known_path *root = &c->place->root;
	uint32_t skip = sizeof(FILE_PREFIX) - 1, inner = skip;
	const char *path = variable + skip;
	bool is_exported;

	if (root->text && root->len > 1 && len - skip > root->len + 1 &&
	    path[root->len] == '/' && !memcmp(path, root->text, root->len))
		inner = skip + root->len + 1;
	for (uint32_t n = len; n > skip && n >= inner; n--) {
		if (variable[n - 1] != '/')
			continue;
		out->content = ab_shell_get(c->run, variable, n, &is_exported);
		if (!out->content)
			continue;
		out->rest = variable + n;
		out->rest_len = len - n;
		out->len = n;
		out->is_root = inner > skip && n == inner;
		return true;
	}
	return false;
}

/* The file's variable; of a pattern as it stands: it tells the directory. */
static const char *tree_file(struct ab_check *c, const struct ab_word *path,
			     uint32_t *len)
{
	struct ab_word plain = *path;

	for (uint32_t i = 0; i < path->hole_count; i++) {
		if (path->holes[i].kind != AB_HOLE_PATTERN)
			return file_name(c, path, false, len);
	}
	plain.hole_count = 0;
	return file_name(c, &plain, false, len);
}

/* Eight digits; NULL: it is not known which. */
static const char *late_number(struct ab_check *c, const char *variable,
			       uint32_t len)
{
	const struct ab_word *w = get_beside(c, LATE_PREFIX, variable, len);

	return w && w->len == 8 ? w->text : NULL;
}

/* The text wrote the file after the archive was taken apart. */
static bool is_later(struct ab_check *c, const char *variable, uint32_t len,
		     const struct tree *tree)
{
	const char *file = late_number(c, variable, len);
	const char *dir = late_number(c, variable, tree->len);

	return file && dir && memcmp(file, dir, 8) >= 0;
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
			    : mark_variable(c, name, len, taint,
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

/* No file that the text wrote is called like this. */
static bool is_other_file(const struct ab_check *c, const struct ab_word *path)
{
	uint32_t from = path->len ? last_name(path->text, path->len) : 0;

	return !path->hole_count && from < path->len &&
	       !(c->file_names & name_bit(path->text + from, path->len - from));
}

/* The text says nothing of the file. */
static bool is_untold(const struct ab_check *c, const struct ab_word *path)
{
	uint32_t cwd = c->cwd ? c->cwd->len : 0;

	/* too long a path is refused by file_name() */
	return AB_LIKELY(!c->trees) &&
	       (!c->has_files || is_other_file(c, path)) &&
	       path->len + cwd + 2 < AB_MAX_PATH;
}

/* What the text itself put in. */
static const struct ab_word *kept_content(struct ab_check *c,
					  const struct ab_word *path)
{
	int32_t fd = fd_of(path);
	const char *variable;
	bool is_exported;
	uint32_t len;

	if (fd >= 0)
		return ab_fd_content(c, fd);
	if (is_untold(c, path))
		return NULL;
	variable = file_name(c, path, false, &len);
	return variable ? ab_shell_get(c->run, variable, len, &is_exported)
			: NULL;
}

bool ab_file_is_written(struct ab_check *c, const struct ab_word *path)
{
	return kept_content(c, path) != NULL;
}

/* The same where an archive may have brought another one. */
static AB_COLD const struct ab_word *
unpacked_content(struct ab_check *c, const struct ab_word *path,
		 const struct ab_word *w)
{
	struct ab_word *both;
	const char *variable;
	struct tree tree;
	uint32_t len;

	variable = tree_file(c, path, &len);
	if (!variable || !find_tree(c, variable, len, &tree))
		return w;
	if (!w)
		return tree.content;
	if (is_later(c, variable, len, &tree))
		return w;
	both = ab_check_alloc(c, sizeof(*both));
	return both && join_words(c, w, tree.content, both) ? both
							    : tree.content;
}

const struct ab_word *ab_file_content(struct ab_check *c,
				      const struct ab_word *path)
{
	const struct ab_word *w = kept_content(c, path);

	if (AB_LIKELY(!c->trees) || fd_of(path) >= 0)
		return w;
	return unpacked_content(c, path, w);
}

uint32_t ab_file_taint(struct ab_check *c, const struct ab_word *path)
{
	const struct ab_word *w = ab_file_content(c, path);

	return w ? ab_word_taint(w) & ~(uint32_t)AB_TAINT_VAR : 0;
}

/* sh FILE ARGS: how many words there are from the file on, itself one. */
static uint32_t words_from(const struct ab_use *use,
			   const struct ab_word *path)
{
	for (uint32_t i = 0; i < use->operand_count; i++) {
		if (&use->words[use->operands[i]] == path)
			return use->count - use->operands[i];
	}
	return 0;
}

/* <(...): its bytes are the script. */
static bool run_stream(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *path)
{
	for (uint32_t i = 0; i < path->hole_count; i++) {
		const struct ab_hole *h = &path->holes[i];

		if (h->kind != AB_HOLE_PROC || !h->origin)
			continue;
		uint32_t taint = h->origin->taint;

		if (h->origin->value)
			ab_check_script(c, h->origin->value,
					!use->program->is_builtin, path,
					words_from(use, path), NULL);
		else
			ab_check_flow(c, use, AB_SINK_SHELL,
				      taint ? taint : AB_TAINT_FILE, path);
		return true;
	}
	return false;
}

/* The words behind #!, at most two. */
static uint32_t first_line_words(struct ab_check *c,
				 const struct ab_word *content,
				 struct ab_word *out)
{
	const char *end = memchr(content->text, '\n', content->len);
	uint32_t stop = end ? (uint32_t)(end - content->text) : content->len;
	uint32_t i = 2, count = 0;

	while (count < 2) {
		while (i < stop && memchr(" \t", content->text[i], 2))
			i++;
		uint32_t from = i;

		while (i < stop && !memchr(" \t", content->text[i], 2))
			i++;
		if (i == from ||
		    !ab_word_slice(c, content, from, i - from, &out[count]))
			break;
		/* env -S splits, and so do we */
		if (!count || i - from != 2 ||
		    memcmp(content->text + from, "-S", 2) != 0)
			count++;
	}
	return count;
}

static const struct ab_role *program_role(struct ab_check *c,
					  const struct ab_program *p)
{
	const struct ab_role *code = NULL;

	for (uint32_t i = 0; i < p->role_count; i++) {
		const struct ab_role *role = &c->pack->roles[p->role + i];

		if (role->kind == AB_ROLE_STDIN_SHELL ||
		    role->kind == AB_ROLE_STDIN_CODE ||
		    role->kind == AB_ROLE_STDIN_TEXT)
			return role;
		if (role->kind == AB_ROLE_CODE && !code)
			code = role;
	}
	return code;
}

/* How a program reads the file that it runs: as its stdin, or inline; or as
   what the table says of a file of that name, which stands there like a
   program: setup.py, package.json. */
static const struct ab_role *reading_role(struct ab_check *c,
					  const struct ab_program *p,
					  const struct ab_word *path)
{
	const struct ab_role *role = program_role(c, p);
	uint32_t base = ab_name_base(path);

	/* node --run: that is no program of node's */
	if (path->len - base == 12 &&
	    !memcmp(path->text + base, "package.json", 12))
		role = NULL;
	if (!role && !path->hole_count)
		p = ab_pack_find(c->pack, path->text + base,
				 path->len - base);
	return role || !p ? role : program_role(c, p);
}

static void run_content(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *path,
			const struct ab_word *content)
{
	const struct ab_program *p = use->program;
	const struct ab_role *role = reading_role(c, p, path);

	ab_check_flow(c, use, AB_SINK_RUN,
		      ab_word_taint(content) & ~(uint32_t)AB_TAINT_VAR, path);
	if (is_pipe(content))
		ab_check_flow(c, use, AB_SINK_SHELL, AB_TAINT_FILE, path);
	if (!content->len || !role)
		return;
	if (role->kind == AB_ROLE_STDIN_SHELL)
		ab_check_script(c, content, !p->is_builtin, path,
				words_from(use, path), NULL);
	else if (role->kind == AB_ROLE_STDIN_TEXT)
		ab_check_text(c, role->text, content);
	else
		ab_run_code(c, use, role, content);
}

/* that a file may hold, after an `if`: with one more it is too much */
#define MAX_EITHER (AB_SHELL_ALTERNATIVES - 1)

/* What it may hold, where that is not one thing; NULL: no more of these. */
static const struct ab_word *either_content(struct ab_check *c,
					    const struct ab_word *path,
					    uint32_t i)
{
	const char *variable;
	const struct ab_word *one;
	char name[FD_NAME];
	int32_t fd = fd_of(path);
	uint32_t len;

	if (fd >= 0) {
		len = fd_variable(fd, name);
		variable = name;
	} else {
		variable = file_name(c, path, false, &len);
	}
	one = variable ? ab_shell_get_one(c->run, variable, len, i) : NULL;
	if (!one || i < MAX_EITHER)
		return one;
	ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
	return NULL;
}

bool ab_file_is_either(struct ab_check *c, const struct ab_word *path)
{
	return either_content(c, path, 0) != NULL;
}

/* A directory that stands in a worktree, not on top of an archive. */
static bool is_usual_dir(const char *path, uint32_t len)
{
	static const char *const names[] = {
		"api",	  "app",     "backend",	     "bin",    "build",
		"client", "docs",    "examples",     "frontend", "lib",
		"node_modules", "packages", "script", "scripts", "server",
		"src",	  "test",    "tests",	     "tools",  "venv",
		"web",
	};
	const char *slash = memchr(path, '/', len);
	uint32_t n = slash ? (uint32_t)(slash - path) : 0;

	if (n && *path == '.')
		return true;
	for (size_t i = 0; n && i < AB_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == n && !memcmp(path, names[i], n))
			return true;
	}
	return false;
}

/* What a tool put into the worktree so that it is run from there. */
static bool is_usual_program(const char *path, uint32_t len)
{
	static const char *const dirs[] = { "venv/bin/", ".venv/bin/",
					    "env/bin/", ".env/bin/",
					    "node_modules/.bin/" };

	for (size_t i = 0; i < AB_ARRAY_LEN(dirs); i++) {
		uint32_t n = (uint32_t)strlen(dirs[i]);

		if (len > n && !memcmp(path, dirs[i], n))
			return true;
	}
	return (len == 7 && !memcmp(path, "gradlew", 7)) ||
	       (len == 4 && !memcmp(path, "mvnw", 4));
}

/*
 * An archive was taken apart in the worktree's own directory: nobody knows
 * which names it brought beside those that stood there. What a tool reads by
 * itself, and the programs of an interpreter, are the worktree's; a script
 * for a shell, and what lies in a directory that the archive may have made,
 * are of the archive. use NULL: the file is the command.
 */
static bool is_of_worktree(struct ab_check *c, const struct ab_use *use,
			   const struct ab_word *path)
{
	const struct ab_role *role;
	const char *variable;
	struct tree tree;
	uint32_t len;

	if (AB_LIKELY(!c->trees) || fd_of(path) >= 0)
		return false;
	variable = tree_file(c, path, &len);
	if (!variable || !find_tree(c, variable, len, &tree) || !tree.is_root)
		return false;
	if (is_usual_program(tree.rest, tree.rest_len))
		return true;
	role = use ? program_role(c, use->program) : NULL;
	return use && (!role || role->kind != AB_ROLE_STDIN_SHELL) &&
	       (!memchr(tree.rest, '/', tree.rest_len) ||
		is_usual_dir(tree.rest, tree.rest_len));
}

/* A `cd` that failed left the shell where it was: the file of that name that
   the text wrote there. */
static const struct ab_word *left_text(struct ab_check *c,
				       const struct ab_word *path)
{
	const struct ab_word *cwd = c->cwd, *content = NULL, *was;
	bool is_exported;

	if (!c->has_files || path->hole_count || !path->len ||
	    *path->text == '/')
		return NULL;
	was = ab_shell_get(c->run, AB_CWD_BEFORE, sizeof(AB_CWD_BEFORE) - 1,
			   &is_exported);
	if (was && was->len && !was->hole_count) {
		c->cwd = was;
		content = kept_content(c, path);
		c->cwd = cwd;
	}
	return content && content->len ? content : NULL;
}

/* What the file holds that is run. */
static const struct ab_word *run_text(struct ab_check *c,
				      const struct ab_use *use,
				      const struct ab_word *path)
{
	const struct ab_word *content = is_of_worktree(c, use, path)
						? kept_content(c, path)
						: ab_file_content(c, path);

	return content || !c->run ? content : left_text(c, path);
}

/* sh i*: each file that the text wrote and the pattern may take. */
static void run_taken(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *path)
{
	uint32_t skip = sizeof(FILE_PREFIX) - 1, from = 0;
	struct ab_word all = *path, name = { .span = path->span };
	struct ab_word slash = { .text = "/", .len = 1 }, dir;

	if (path->len > 2 && !memcmp(path->text, "./", 2))
		from = 2;
	if (*path->text != '/' &&
	    (!c->cwd || c->cwd->hole_count ||
	     !ab_word_slice(c, path, from, path->len, &name) ||
	     !join_words(c, c->cwd, &slash, &dir) ||
	     !join_words(c, &dir, &name, &all)))
		return;
	for (uint32_t i = 0; i < c->written_count; i++) {
		name.text = c->written[i] + skip;
		name.len = (uint32_t)strlen(name.text);
		name.holes = NULL;
		name.hole_count = name.map_count = 0;
		if (ab_pattern_may_take(all.text, all.len, name.text, name.len,
					c->has_fold))
			ab_file_run(c, use, &name);
	}
}

/* Its name is that of a script, or says nothing. */
static bool may_be_script(const struct ab_word *path)
{
	static const char *const ends[] = { "sh",  "bash", "zsh", "ksh", "py",
					    "pl",  "rb",   "js",  "mjs", "php" };
	const char *base = path->text + ab_name_base(path);
	uint32_t len = path->len - ab_name_base(path);
	const char *dot = memrchr(base, '.', len);
	uint32_t n = dot ? (uint32_t)(base + len - dot - 1) : 0;

	for (size_t i = 0; dot && i < AB_ARRAY_LEN(ends); i++) {
		if (strlen(ends[i]) == n && !memcmp(dot + 1, ends[i], n))
			return true;
	}
	return !dot;
}

/* The path is what a command printed and nothing else: `ls | xargs sh`. */
static bool is_printed(const struct ab_word *path)
{
	return !path->len && path->hole_count == 1 && path->holes->origin;
}

bool ab_file_next(struct ab_check *c, uint32_t *i, struct ab_word *path)
{
	while (*i < c->written_count) {
		const char *name = c->written[(*i)++] + sizeof(FILE_PREFIX) - 1;

		*path = (struct ab_word){ .text = name, .span = path->span,
					  .len = (uint32_t)strlen(name) };
		if (may_be_script(path))
			return true;
	}
	return false;
}

/* It may be each of those. */
static void run_printed(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *path)
{
	struct ab_word name = { .span = path->span };
	uint32_t i = 0;

	while (ab_file_next(c, &i, &name))
		ab_file_run(c, use, &name);
}

static bool is_pattern(const struct ab_word *path)
{
	for (uint32_t i = 0; i < path->hole_count; i++) {
		if (path->holes[i].kind != AB_HOLE_PATTERN)
			return false;
	}
	return path->hole_count && path->len;
}

void ab_file_run(struct ab_check *c, const struct ab_use *use,
		 const struct ab_word *path)
{
	const struct ab_word *content, *one;
	bool was = c->is_perhaps;

	if (AB_UNLIKELY(c->written_count) && is_pattern(path))
		run_taken(c, use, path);
	else if (AB_UNLIKELY(c->written_count) && is_printed(path))
		run_printed(c, use, path);
	if (run_stream(c, use, path) || !(content = run_text(c, use, path)))
		return;
	c->is_perhaps |= !content->len; /* of what it may hold */
	run_content(c, use, path, content);
	for (uint32_t i = 0;
	     !content->len && (one = either_content(c, path, i)); i++) {
		if (one->len)
			run_content(c, use, path, one);
	}
	c->is_perhaps = was;
}

/* The file is the command: a script of a shell, or of what its first line
   names, or a copy of a program. */
static bool run_command(struct ab_check *c, const struct ab_word *content,
			const struct ab_word *words, uint32_t count,
			uint32_t in_taint, const struct ab_word *in_text,
			bool has_stdin)
{
	uint32_t skip = sizeof(COPY_MARK) - 1, n;
	struct ab_word *all;

	ab_check_flow(c, c->use, AB_SINK_RUN,
		      ab_word_taint(content) & ~(uint32_t)AB_TAINT_VAR, words);
	if (is_pipe(content))
		ab_check_flow(c, c->use, AB_SINK_SHELL, AB_TAINT_FILE, words);
	for (uint32_t i = 0; !content->len; i++) {
		const struct ab_word *one = either_content(c, &words[0], i);

		if (!one)
			return false;
		if (one->len)
			ab_check_script(c, one, true, words, count, NULL);
	}
	if (content->len < 3)
		return false;
	all = ab_check_alloc(c, (count + 2) * sizeof(*all));
	if (!all)
		return false;
	memcpy(all + 2, words, count * sizeof(*all));
	if (is_copy(content)) {
		if (!ab_word_slice(c, content, skip, UINT32_MAX, &all[2]))
			return false;
		all[2].span = words[0].span;
		ab_check_words(c, all + 2, count, in_taint, in_text,
			       has_stdin);
		return true;
	}
	if (memcmp(content->text, "#!", 2) != 0) {
		ab_check_script(c, content, true, words, count, NULL);
		return false;
	}
	n = first_line_words(c, content, all);
	if (!n)
		return false;
	memmove(all + n, all + 2, count * sizeof(*all));
	ab_check_words(c, all, n + count, in_taint, in_text, has_stdin);
	return true;
}

bool ab_file_command(struct ab_check *c, const struct ab_word *words,
		     uint32_t count, uint32_t in_taint,
		     const struct ab_word *in_text, bool has_stdin)
{
	const struct ab_word *content = run_text(c, NULL, &words[0]);
	bool was = c->is_perhaps, is_judged;

	if (!content)
		return false;
	c->is_perhaps |= !content->len;
	is_judged = run_command(c, content, words, count, in_taint, in_text,
				has_stdin);
	c->is_perhaps = was;
	return is_judged;
}

/* --- copies ------------------------------------------------------------- */

/* Where `from` goes when `to` is a directory. */
static bool inside_word(struct ab_check *c, const struct ab_word *from,
			const struct ab_word *to, struct ab_word *out)
{
	const char *slash = from->len ? memrchr(from->text, '/', from->len)
				      : NULL;
	const char *name = slash ? slash + 1 : from->text;
	uint32_t n = from->len - (uint32_t)(name - from->text);
	char *text = ab_check_alloc(c, to->len + n + 2);

	if (!text || !n)
		return false;
	memcpy(text, to->text, to->len);
	text[to->len] = '/';
	memcpy(text + to->len + 1, name, n);
	*out = *to;
	out->text = text;
	out->len = to->len + 1 + n;
	out->map = NULL;
	out->map_count = 0;
	return true;
}

/* A copy of /bin/rm is rm. */
static const struct ab_word *program_copy(struct ab_check *c,
					  const struct ab_word *path)
{
	uint32_t skip = sizeof(COPY_MARK) - 1;
	const char *slash = memrchr(path->text, '/', path->len);
	struct ab_word *w;
	char *text;

	if (path->hole_count || !slash || slash - path->text < 4 ||
	    memcmp(slash - 3, "bin", 3) != 0 || !ab_names_program(c, path))
		return NULL;
	w = ab_check_alloc(c, sizeof(*w));
	text = ab_check_alloc(c, path->len + skip + 1);
	if (!w || !text)
		return NULL;
	memcpy(text, COPY_MARK, skip);
	memcpy(text + skip, path->text, path->len);
	*w = (struct ab_word){ .text = text, .len = path->len + skip,
			       .span = path->span };
	return w;
}

/* Another one follows. */
static void note_copied(struct ab_check *c)
{
	struct ab_copied *copied = ab_check_alloc(c, sizeof(*copied));

	if (!copied)
		return;
	*copied = (struct ab_copied){ .next = c->copied,
				      .path = c->copy_from };
	c->copied = copied;
}

void ab_file_read(struct ab_check *c, const struct ab_word *path)
{
	const struct ab_word *content = ab_file_content(c, path);

	if (AB_UNLIKELY(c->copy_from))
		note_copied(c);
	c->copy_taint |= content ? ab_word_taint(content) &
					   ~(uint32_t)AB_TAINT_VAR
				 : 0;
	if (!content)
		content = program_copy(c, path);
	c->copy_text = content && content->len ? content : NULL;
	c->copy_from = path;
	c->copy_name = NULL;
	if (content && !content->len && ab_file_is_either(c, path))
		c->copy_name = file_name(c, path, false, &c->copy_name_len);
}

/* The file gets what the one that was read may hold. */
static void copy_either(struct ab_check *c, const struct ab_word *path)
{
	uint32_t len;
	const char *variable = file_name(c, path, true, &len);

	if (!variable)
		return;
	note_written(c, variable, len);
	if (!ab_shell_copy(c->run, c->copy_name, c->copy_name_len, variable,
			   len, AB_SHELL_SHARED) ||
	    (c->trees && !mark_late(c, variable, len)))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

/* cp A B DIR: those before the last one go there too. */
static void copy_others(struct ab_check *c, const struct ab_word *dir)
{
	const struct ab_word *last = c->copy_from;
	const struct ab_copied *all = c->copied;

	for (const struct ab_copied *one = all; one; one = one->next) {
		const struct ab_word *text;
		struct ab_word in;
		uint32_t taint = c->copy_taint;

		c->copy_taint = 0;
		c->copy_from = NULL;
		ab_file_read(c, one->path);
		text = c->copy_text;
		if (inside_word(c, one->path, dir, &in)) {
			if (c->copy_name)
				copy_either(c, &in);
			else if (text || c->copy_taint)
				ab_file_save(c, &in, c->copy_taint, text,
					     false);
		}
		c->copy_taint |= taint;
	}
	c->copied = all;
	c->copy_from = last;
}

static void copy_last(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *path)
{
	const struct ab_word *text = use->in_text ? use->in_text
						  : c->copy_text;
	uint32_t taint = use->in_taint | c->copy_taint;
	struct ab_word in;

	if (c->copy_name && !use->in_text) {
		copy_either(c, path);
		if (inside_word(c, c->copy_from, path, &in))
			copy_either(c, &in);
		return;
	}
	ab_file_save(c, path, taint, text, false);
	if (c->copy_from && (text || taint) &&
	    inside_word(c, c->copy_from, path, &in))
		ab_file_save(c, &in, taint, text, false);
}

void ab_file_copy(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *path)
{
	copy_last(c, use, path);
	if (AB_UNLIKELY(c->copied) &&
	    (c->has_files || c->trees))
		copy_others(c, path);
}

void ab_file_fetch(struct ab_check *c, const struct ab_word *from,
		   const struct ab_word *to)
{
	bool is_dir = to->len && memchr("/.", to->text[to->len - 1], 2);
	struct ab_word name, in;

	if (!last_component(c, from, &name)) {
		ab_file_unpack(c, to, AB_TAINT_REMOTE);
		return;
	}
	if (!is_dir)
		ab_file_save(c, to, AB_TAINT_REMOTE, NULL, false);
	if (!inside_word(c, &name, to, &in))
		return;
	ab_file_save(c, &in, AB_TAINT_REMOTE, NULL, false);
	/* one with a dot in it is a file, mostly */
	if (memchr(name.text, '.', name.len))
		return;
	if (!is_dir)
		ab_file_unpack(c, to, AB_TAINT_REMOTE);
	ab_file_unpack(c, &in, AB_TAINT_REMOTE);
}

/* --- the working directory ---------------------------------------------- */

/* cd "$(mktemp -d)"; NULL: it is another word. */
static const char *temp_dir(struct ab_check *c, const struct ab_word *w,
			    uint32_t *len)
{
	static const char base[] = AB_TEMP_DIR;
	const struct ab_hole *h = w->holes;
	char *text;

	if (w->hole_count != 1 || h->at || h->len || h->is_cut ||
	    h->kind != AB_HOLE_BYTES ||
	    ab_hole_taint(h) != AB_TAINT_TEMP || (w->len && *w->text != '/') ||
	    memmem(w->text, w->len, "..", 2))
		return NULL;
	*len = (uint32_t)(sizeof(base) - 1) + w->len;
	text = ab_check_alloc(c, *len + 1);
	if (!text)
		return NULL;
	memcpy(text, base, sizeof(base) - 1);
	memcpy(text + sizeof(base) - 1, w->text, w->len);
	text[*len] = '\0';
	return text;
}

const struct ab_word *ab_cwd_after(struct ab_check *c, const struct ab_word *w)
{
	struct ab_word *cwd;
	uint32_t len;
	/* a pattern of its own may take more than one, and then it stays where
	   it is; what a loop goes through is one */
	const char *text = w->is_quoted && (c->flags & AB_SHELL_LOOP) ?
				   ab_dir_text(c, w, &len) :
				   ab_path_text(c, w, &len);

	if (!text)
		text = temp_dir(c, w, &len);
	if (!text)
		return NULL;
	cwd = ab_check_alloc(c, sizeof(*cwd));
	if (!cwd)
		return NULL;
	*cwd = (struct ab_word){ .text = text, .len = len };
	return cwd;
}
