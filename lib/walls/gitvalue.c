/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a git configuration leads to: files it includes, with all they
 * include, places git runs hooks and filters from, programs and scripts that
 * a command line names. What of it lies in a writable tree gets protected.
 *
 * A value is never run and never believed: a word that names a file of the
 * work tree is held, one that does not is left. A file that is there and
 * cannot be read may say anything, so then nothing in the box may be written.
 * Spec: git-config(1), "Includes", "Values", gitattributes(5).
 */
#include "config.h"

#include "walls/protect.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "path/lexical.h"
#include "walls/gitconfig.h"

#define MAX_CONFIG (1u << 20)
#define MAX_INCLUDES 10 /* deep, as in git itself */
#define MAX_FILES 1000	/* of one repository */
#define MAX_NOTES 8
#define LEASE_NS UINT64_C(5000000000)

#define PARTS " \t\n\"'`;&|()<>{}=,!"

/* A file to be read; the path is in the build's memory, as it is written. */
typedef struct config_file {
	const char *path;
	unsigned depth; /* of includes */
} config_file;

/* One repository and its files, those it includes behind the first. */
typedef struct source {
	ab_protect *p;
	const char *dir, *top; /* git directory, work tree */
	char tree[2 * AB_MAX_PATH]; /* core.worktree, or "" */
	config_file files[MAX_FILES];
	size_t file_count, at;
	unsigned notes;
} source;

static int32_t cannot_read(ab_protect *p, const char *path, int e,
			   agentbox_error **err)
{
	char why[512];

	if (e == ENOMEM)
		return ab_error_nomem(err);
	snprintf(why, sizeof(why), "'%.300s' says what git runs and cannot be "
		 "read (%s)", path, strerrorname_np(e));
	return ab_protect_freeze(p, why, err);
}

/* A lease of another process is broken by asking, if it does not ask again. */
static int open_text(const char *path)
{
	uint64_t deadline = ab_clock_boot_ns() + LEASE_NS;
	int fd;

	/* NONBLOCK: what has become a FIFO must not hold the host */
	while ((fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
					O_CLOEXEC)) < 0 &&
	       errno == EWOULDBLOCK && ab_clock_boot_ns() < deadline)
		ab_fd_poll_many(NULL, 0, 10);
	return fd < 0 ? -errno : ab_fd_lift(fd);
}

int32_t ab_protect_read(ab_protect *p, const char *path, size_t max,
			char **text, size_t *n, agentbox_error **err)
{
	ab_autofd int fd = -1;
	struct stat st;
	int e;

	*text = NULL;
	*n = 0;
	if (lstat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ?
			       0 :
			       cannot_read(p, path, errno, err);
	if (!S_ISREG(st.st_mode))
		return 0;
	fd = open_text(path);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return cannot_read(p, path, -fd, err);
	e = fstat(fd, &st) < 0 ? -errno :
	    S_ISREG(st.st_mode) ? ab_fd_slurp(fd, max, text, n) :
				  -EINVAL;
	return e ? cannot_read(p, path, -e, err) : 0;
}

static int32_t add_file(source *s, const char *path, agentbox_error **err)
{
	unsigned depth = s->file_count ? s->files[s->at].depth + 1 : 0;

	if (depth > MAX_INCLUDES)
		return 0; /* git refuses to run then */
	if (s->file_count == MAX_FILES)
		return ab_protect_freeze(s->p, "a git configuration includes "
					       "too many files", err);
	path = ab_build_str(s->p->b, path);
	if (path)
		s->files[s->file_count++] = (config_file){ path, depth };
	return 0;
}

/* A path as it is written, absolute by now: what it leads to. */
static int32_t take(source *s, const char *path, bool is_include,
		    agentbox_error **err)
{
	char end[AB_MAX_PATH];
	bool there;
	int32_t rc;

	if (strlen(path) >= AB_MAX_PATH)
		return 0; /* the kernel takes no such path either */
	rc = ab_protect_follow(s->p, path, end, &there, err);
	if (!rc && there)
		rc = ab_protect_add(s->p, end, err);
	if (!rc && there && is_include)
		rc = add_file(s, path, err);
	return rc;
}

/*
 * `~/x`, `~ada/x`: whose home it is does not matter. What lies in a tree of
 * the box lies below a directory above that tree, whichever is the home.
 */
static int32_t take_home(source *s, const char *rest, bool is_include,
			 agentbox_error **err)
{
	char home[AB_MAX_PATH], path[2 * AB_MAX_PATH], *slash;
	int32_t rc = 0;

	for (size_t i = 0; i < s->p->b->view_count && !rc; i++) {
		const ab_view *v = &s->p->b->views[i];

		if (!v->host || !v->write)
			continue;
		snprintf(home, sizeof(home), "%s", v->host);
		do {
			struct stat st;

			snprintf(path, sizeof(path), "%s/%s", home, rest);
			/* missing, it is meant when it leads into the tree */
			if (lstat(path, &st) == 0 || errno != ENOENT ||
			    (strcmp(home, v->host) != 0 &&
			     ab_path_is_below(path, v->host)))
				rc = take(s, path, is_include, err);
			slash = strrchr(home, '/');
			if (slash)
				*slash = '\0';
		} while (slash && !rc);
	}
	return rc;
}

/* A value that is a path, against one base. */
static int32_t take_path(source *s, const char *base, const char *value,
			 bool is_include, agentbox_error **err)
{
	char path[3 * AB_MAX_PATH];
	const char *slash = strchr(value, '/');

	if (!*value || *value == '%')
		return 0; /* git's own prefix: no workspace */
	if (*value == '~')
		return slash ? take_home(s, slash + 1, is_include, err) : 0;
	if (*value == '/')
		return take(s, value, is_include, err);
	if (!*base || strlen(value) >= AB_MAX_PATH)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", base, value);
	return take(s, path, is_include, err);
}

/* Hooks run in the work tree, or in a git directory that has none. */
static int32_t take_place(source *s, const char *value, agentbox_error **err)
{
	const char *const bases[] = { s->top, s->tree, s->dir };
	int32_t rc = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(bases) && !rc; i++) {
		/* what a base that is not meant lacks is not waited for */
		char path[3 * AB_MAX_PATH];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", bases[i], value);
		if (i == 0 || lstat(path, &st) == 0)
			rc = take_path(s, bases[i], value, false, err);
	}
	return rc;
}

static void note_program(source *s, const ab_gitconfig *c, const char *path)
{
	if (s->notes++ < MAX_NOTES)
		ab_build_note(s->p->b, "'%.300s' is named by %s.%s of '%.300s' "
			      "and so read-only in the box", path, c->section,
			      c->key, s->dir);
}

/* One word of a command line, when it names a file. */
static int32_t take_word(source *s, const ab_gitconfig *c, const char *base,
			 const char *word, bool is_first, agentbox_error **err)
{
	char path[3 * AB_MAX_PATH];
	struct stat st;

	if (!*base || strlen(word) >= AB_MAX_PATH)
		return 0;
	if (*word == '~')
		return take_path(s, base, word, false, err);
	/* "$(git rev-parse --show-toplevel)/x" leaves "/x" */
	snprintf(path, sizeof(path), "%s/%s", base, word);
	if (lstat(path, &st) < 0) {
		bool is_absent = errno == ENOENT || errno == ENOTDIR;
		/* a program that is to come */
		bool is_program = is_first && strchr(word, '/') &&
				  *word != '/';

		return is_absent && !is_program ? 0 :
						  take(s, path, false, err);
	}
	if (S_ISDIR(st.st_mode) ||
	    (S_ISLNK(st.st_mode) && stat(path, &st) == 0 &&
	     S_ISDIR(st.st_mode)))
		return 0;
	note_program(s, c, word);
	return take(s, path, false, err);
}

static int32_t take_everywhere(source *s, const ab_gitconfig *c,
			       const char *word, bool is_first,
			       agentbox_error **err)
{
	struct stat st;
	int32_t rc = 0;

	/* an option, or a name that says nothing */
	if (!*word || *word == '-' || !word[strspn(word, "./")])
		return 0;
	if (*word == '/' && lstat(word, &st) == 0 && !S_ISDIR(st.st_mode))
		rc = take(s, word, false, err);
	if (!rc)
		rc = take_word(s, c, s->top, word, is_first, err);
	if (!rc)
		rc = take_word(s, c, s->tree, word, false, err);
	if (!rc && strchr(word, '/'))
		rc = take_word(s, c, s->dir, word, false, err);
	return rc;
}

/* Where the words of a line are, after `cd x`, `git -C x`, `make -C x`. */
typedef struct place {
	char dir[AB_MAX_PATH]; /* "": where the line begins */
	bool is_next; /* the next word is one */
} place;

static bool names_place(const char *word)
{
	return strcmp(word, "cd") == 0 || strcmp(word, "pushd") == 0 ||
	       strcmp(word, "-C") == 0;
}

static void go(place *at, const char *word)
{
	char dir[2 * AB_MAX_PATH];
	int n = *word == '/' || !*at->dir ?
			snprintf(dir, sizeof(dir), "%s", word) :
			snprintf(dir, sizeof(dir), "%s/%s", at->dir, word);

	if (n > 0 && (size_t)n < sizeof(at->dir))
		memcpy(at->dir, dir, (size_t)n + 1);
}

/* A word as it is, and from where the line has gone. */
static int32_t take_there(source *s, const ab_gitconfig *c, place *at,
			  const char *word, bool is_first,
			  agentbox_error **err)
{
	char path[2 * AB_MAX_PATH];
	int32_t rc = take_everywhere(s, c, word, is_first, err);
	bool was_next = at->is_next;

	if (rc || !*word)
		return rc;
	at->is_next = !was_next && names_place(word);
	if (was_next)
		go(at, word);
	if (was_next || at->is_next || !*at->dir || *word == '/' ||
	    *word == '~' || *word == '-' || strlen(word) >= AB_MAX_PATH)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", at->dir, word);
	return take_everywhere(s, c, path, strncmp(word, "./", 2) == 0, err);
}

/*
 * A line for the shell: every piece between what parts words, and the line
 * as one word. The name of a variable is no word.
 */
static int32_t take_words(source *s, const ab_gitconfig *c, char *line,
			  agentbox_error **err)
{
	place at = { .dir = "" };
	bool is_first = true;
	int32_t rc = 0;

	while (*line && !rc) {
		size_t n = strcspn(line, PARTS "$");
		char after = line[n];

		line[n] = '\0';
		rc = take_there(s, c, &at, line, is_first, err);
		is_first = is_first && n == 0;
		at.is_next = at.is_next && (!after || !strchr(";&|\n", after));
		line += n + (after != '\0');
		while (after == '$' && (isalnum((unsigned char)*line) ||
					*line == '_'))
			line++;
	}
	return rc;
}

/* What stands in quotes may be one word with blanks in it. */
static int32_t take_quoted(source *s, const ab_gitconfig *c, char *line,
			   agentbox_error **err)
{
	int32_t rc = 0;

	while (line[strcspn(line, "\"'")] && !rc) {
		char *from = line + strcspn(line, "\"'");
		char *to = strchr(from + 1, *from);

		if (!to)
			break;
		*to = '\0';
		rc = take_everywhere(s, c, from + 1, false, err);
		*to = *from;
		line = to + 1;
	}
	return rc;
}

static int32_t take_command(source *s, const ab_gitconfig *c,
			    agentbox_error **err)
{
	const char *value = c->value;
	ab_autofree char *line = NULL;
	int32_t rc = 0;

	/* else a command of git's own, or of a name that git makes up */
	if ((strcmp(c->section, "alias") == 0 ||
	     strcmp(c->key, "update") == 0) && *value != '!')
		return 0;
	if (strcmp(c->section, "credential") == 0 && *value != '!' &&
	    *value != '/')
		return 0;
	line = ab_strdup(value);
	if (!line)
		return ab_error_nomem(err);
	if (line[strcspn(line, PARTS "$")])
		rc = take_everywhere(s, c, value, false, err);
	if (!rc)
		rc = take_quoted(s, c, line, err);
	return rc ? rc : take_words(s, c, line, err);
}

static int32_t take_value(source *s, const ab_gitconfig *c, const char *base,
			  agentbox_error **err)
{
	switch (ab_gitconfig_kind(c)) {
	case AB_GITCONFIG_DATA:
	case AB_GITCONFIG_TREE:
		return 0;
	case AB_GITCONFIG_INCLUDE:
		return take_path(s, base, c->value, true, err);
	case AB_GITCONFIG_PATH:
		return take_place(s, c->value, err);
	case AB_GITCONFIG_COMMAND:
		return take_command(s, c, err);
	}
	return 0;
}

/* First where the work tree is: other values are relative to that. */
static void find_tree(source *s, ab_gitconfig *c)
{
	ab_gitconfig from = *c;

	while (ab_gitconfig_next(c)) {
		const char *v = c->value;

		if (ab_gitconfig_kind(c) == AB_GITCONFIG_TREE &&
		    strlen(v) < AB_MAX_PATH)
			snprintf(s->tree, sizeof(s->tree), "%s%s%s",
				 *v == '/' ? "" : s->dir, *v == '/' ? "" : "/",
				 v);
	}
	*c = from;
}

/* `path` is as it is written: what is relative in the file is so to that. */
static int32_t read_config(source *s, const char *path, agentbox_error **err)
{
	ab_autofree char *text = NULL;
	char end[AB_MAX_PATH], base[AB_MAX_PATH];
	ab_gitconfig c;
	bool there;
	size_t n;
	int32_t rc;

	rc = ab_protect_follow(s->p, path, end, &there, err);
	if (!rc && there)
		rc = ab_protect_read(s->p, end, MAX_CONFIG, &text, &n, err);
	if (rc || !text)
		return rc;
	snprintf(base, sizeof(base), "%.*s",
		 (int)(strrchr(path, '/') - path), path);
	if (!ab_gitconfig_init(&c, text, n))
		return ab_error_nomem(err);
	find_tree(s, &c);
	while (!rc && !s->p->halt && ab_gitconfig_next(&c))
		rc = take_value(s, &c, base, err);
	ab_gitconfig_end(&c);
	return rc;
}

int32_t ab_gitdir_follow(ab_protect *p, const char *dir, const char *file,
			 const char *top, agentbox_error **err)
{
	char path[AB_MAX_PATH];
	source *s;
	int32_t rc;

	if (ab_path_join(dir, file, path, sizeof(path)) < 0)
		return 0; /* the kernel takes no such path either */
	s = ab_new(source);
	if (!s)
		return ab_error_nomem(err);
	s->p = p;
	s->dir = dir;
	s->top = top;
	rc = add_file(s, path, err);
	for (; s->at < s->file_count && !rc && !p->halt; s->at++)
		rc = read_config(s, s->files[s->at].path, err);
	free(s);
	return rc;
}
