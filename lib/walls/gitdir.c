/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where git finds what it runs: hooks and configuration of a repository, of
 * the common directory of a work tree, of submodules below .git/modules, the
 * directory core.hooksPath names and the files that include.path names.
 * Everything of it that lies in a writable tree of the box gets protected;
 * what lies elsewhere cannot be written anyway.
 *
 * Reads only what git itself reads, bounded, and believes none of it: a
 * value it does not understand protects nothing less, because the files are
 * read-only before anybody could change them.
 * Spec: gitrepository-layout(5), git-config(1), githooks(5); cases 9, 10.
 */
#include "config.h"

#include "walls/protect.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "path/lexical.h"

#define MAX_CONFIG (1u << 20)
#define MAX_POINTER 8192
#define MAX_GITDIR_DEPTH 8

/* One `key = value` after another of a configuration text. */
typedef struct config {
	const char *p;
	char section[64], key[64], value[AB_MAX_PATH];
} config;

static void lower(char *out, size_t size, const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n && i + 1 < size; i++)
		out[i] = (char)tolower((unsigned char)p[i]);
	out[i] = '\0';
}

/* Quotes and the simple escapes; a comment ends an unquoted value. */
static void read_value(config *c, const char *p, const char *end)
{
	size_t n = 0, keep = 0;
	bool quoted = false;

	for (; p < end && n + 1 < sizeof(c->value); p++) {
		if (*p == '"') {
			quoted = !quoted;
			keep = n;
			continue;
		}
		if (!quoted && (*p == '#' || *p == ';'))
			break;
		if (*p == '\\' && p + 1 < end)
			p++;
		c->value[n++] = *p;
		if (quoted || !isspace((unsigned char)*p))
			keep = n;
	}
	c->value[keep] = '\0';
}

static void read_section(config *c, const char *p, const char *end)
{
	const char *from = ++p;

	while (p < end && *p != ']' && *p != '"' &&
	       !isspace((unsigned char)*p))
		p++;
	lower(c->section, sizeof(c->section), from, (size_t)(p - from));
}

static bool next(config *c)
{
	while (c->p && *c->p) {
		const char *line = c->p;
		const char *end = strchr(line, '\n');
		const char *eq;

		if (!end)
			end = line + strlen(line);
		c->p = *end ? end + 1 : end;
		while (line < end && isspace((unsigned char)*line))
			line++;
		if (line < end && *line == '[') {
			read_section(c, line, end);
			/* git allows a key after the bracket */
			line = memchr(line, ']', (size_t)(end - line));
			if (!line)
				continue;
			line++;
			while (line < end && isspace((unsigned char)*line))
				line++;
		}
		eq = memchr(line, '=', (size_t)(end - line));
		if (!eq || *line == '#' || *line == ';')
			continue;
		for (const char *k = eq; k > line; k--) {
			if (isspace((unsigned char)k[-1]))
				continue;
			lower(c->key, sizeof(c->key), line, (size_t)(k - line));
			break;
		}
		eq++;
		while (eq < end && isspace((unsigned char)*eq))
			eq++;
		read_value(c, eq, end);
		return true;
	}
	return false;
}

bool ab_gitdir_config(const char *text, const char *section, const char *key,
		      char *out, size_t size)
{
	config c = { .p = text };
	bool found = false;

	while (next(&c)) {
		if (strcmp(c.section, section) != 0 ||
		    strcmp(c.key, key) != 0 || strlen(c.value) >= size)
			continue;
		memcpy(out, c.value, strlen(c.value) + 1);
		found = true;
	}
	return found;
}

/* A small regular file of the workspace; NULL when it is anything else. */
static char *slurp(const char *path, size_t max)
{
	/* NONBLOCK: a FIFO planted there must not hold the host */
	ab_autofd int fd = ab_fd_lift(open(path, O_RDONLY | O_NOFOLLOW |
							 O_NONBLOCK |
							 O_CLOEXEC));
	struct stat st;
	char *text = NULL;
	size_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    ab_fd_slurp(fd, max, &text, &n) != 0)
		return NULL;
	return text;
}

/* `value` as git takes it, relative to `base`, into out. False: not ours. */
static bool to_path(const char *base, const char *value, char *out, size_t size)
{
	int n;

	if (!*value || *value == '~' || *value == '%')
		return false; /* a home or git's own prefix: not a workspace */
	n = *value == '/' ? snprintf(out, size, "%s", value) :
			    snprintf(out, size, "%s/%s", base, value);
	return n > 0 && (size_t)n < size;
}

/*
 * Protect a path as written in a file: where it leads, every link on the way,
 * and the name that is missing.
 */
static int32_t add_written(ab_protect *p, const char *base, const char *value,
			   agentbox_error **err)
{
	char path[2 * AB_MAX_PATH], end[AB_MAX_PATH];
	bool there;
	int32_t rc;

	if (!to_path(base, value, path, sizeof(path)))
		return 0;
	rc = ab_protect_follow(p, path, end, &there, err);
	return rc || !there ? rc : ab_protect_add(p, end, err);
}

static int32_t add_configured(ab_protect *p, const char *dir, const char *file,
			      const char *top, agentbox_error **err)
{
	char path[AB_MAX_PATH];
	ab_autofree char *text = NULL;
	config c = { 0 };
	int32_t rc = 0;

	if (ab_path_join(dir, file, path, sizeof(path)) < 0)
		return 0;
	text = slurp(path, MAX_CONFIG);
	c.p = text;
	while (!rc && next(&c)) {
		if (strcmp(c.section, "core") == 0 &&
		    strcmp(c.key, "hookspath") == 0)
			rc = add_written(p, top, c.value, err);
		else if ((strcmp(c.section, "include") == 0 ||
			  strcmp(c.section, "includeif") == 0) &&
			 strcmp(c.key, "path") == 0)
			rc = add_written(p, dir, c.value, err);
	}
	return rc;
}

static int32_t protect_dir(ab_protect *p, const char *dir, const char *top,
			   unsigned depth, agentbox_error **err);

/* Directories of the same kind below: submodules, linked work trees. */
static int32_t protect_children(ab_protect *p, const char *dir,
				const char *name, const char *top,
				unsigned depth, agentbox_error **err)
{
	char path[AB_MAX_PATH], child[AB_MAX_PATH];
	struct dirent *e;
	DIR *d;
	int32_t rc = 0;

	if (ab_path_join(dir, name, path, sizeof(path)) < 0)
		return 0;
	d = opendir(path);
	while (d && !rc && (e = readdir(d)) != NULL) {
		struct stat st;

		if (e->d_name[0] == '.')
			continue;
		if (++p->entries > p->max_entries)
			break; /* the scan itself reports the bound */
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISDIR(st.st_mode) ||
		    ab_path_join(path, e->d_name, child, sizeof(child)) < 0)
			continue;
		rc = protect_dir(p, child, top, depth + 1, err);
	}
	if (d)
		closedir(d);
	return rc;
}

/*
 * One git directory. Submodules may have slashes in their names, so what is
 * not a git directory itself below modules/ is looked into as well.
 */
static int32_t protect_dir(ab_protect *p, const char *dir, const char *top,
			   unsigned depth, agentbox_error **err)
{
	static const char *const names[] = { "hooks", "config", "commondir",
					     "config.worktree", "gitdir",
					     "info/attributes",
					     "objects/info/alternates" };
	char path[AB_MAX_PATH];
	struct stat st;
	int32_t rc = 0;

	if (depth > MAX_GITDIR_DEPTH) {
		ab_build_note(p->b, "git directories are nested deeper than "
			      "%d, so one is read-only as a whole: '%.200s'",
			      MAX_GITDIR_DEPTH, dir);
		return ab_protect_hold(p, dir, true, err);
	}
	if (ab_path_join(dir, "HEAD", path, sizeof(path)) < 0)
		return 0;
	if (lstat(path, &st) < 0)
		return depth ? protect_children(p, dir, "", top, depth, err) :
			       0;
	for (size_t i = 0; i < AB_ARRAY_LEN(names) && !rc; i++) {
		/* the first three count as soon as they appear: watched */
		if (ab_path_join(dir, names[i], path, sizeof(path)) < 0 ||
		    (i > 2 && lstat(path, &st) < 0))
			continue;
		rc = ab_protect_add(p, path, err);
	}
	if (!rc)
		rc = add_configured(p, dir, "config", top, err);
	if (!rc)
		rc = add_configured(p, dir, "config.worktree", top, err);
	if (!rc)
		rc = protect_children(p, dir, "modules", top, depth, err);
	if (!rc)
		rc = protect_children(p, dir, "worktrees", top, depth, err);
	return rc;
}

/*
 * Where the first line of a pointer file after `prefix` leads. *there is false
 * when it is no pointer or leads nowhere; then that is watched.
 */
static int32_t read_pointer(ab_protect *p, const char *file,
			    const char *prefix, const char *base, char *out,
			    bool *there, agentbox_error **err)
{
	ab_autofree char *text = slurp(file, MAX_POINTER);
	char path[2 * AB_MAX_PATH];

	*there = false;
	if (!text || strncmp(text, prefix, strlen(prefix)) != 0)
		return 0;
	text[strcspn(text, "\r\n")] = '\0';
	if (!to_path(base, text + strlen(prefix), path, sizeof(path)))
		return 0;
	return ab_protect_follow(p, path, out, there, err);
}

static int32_t protect_common(ab_protect *p, const char *dir, const char *top,
			      agentbox_error **err)
{
	char path[AB_MAX_PATH], common[AB_MAX_PATH];
	bool there;
	int32_t rc;

	if (ab_path_join(dir, "commondir", path, sizeof(path)) < 0)
		return 0;
	rc = read_pointer(p, path, "", dir, common, &there, err);
	return rc || !there ? rc : protect_dir(p, common, top, 0, err);
}

int32_t ab_gitdir_protect(ab_protect *p, const char *git, const char *top,
			  agentbox_error **err)
{
	char dir[AB_MAX_PATH];
	struct stat st;
	bool there;
	int32_t rc;

	if (lstat(git, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return protect_dir(p, git, top, 0, err);
	/* a file or a link says where the repository is: it stays as it is */
	rc = ab_protect_add_itself(p, git, err);
	if (rc)
		return rc;
	rc = S_ISREG(st.st_mode) ?
		     read_pointer(p, git, "gitdir: ", top, dir, &there, err) :
		     ab_protect_follow(p, git, dir, &there, err);
	if (rc || !there)
		return rc;
	rc = protect_dir(p, dir, top, 0, err);
	return rc ? rc : protect_common(p, dir, top, err);
}
