/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A repository found and its references read. What it refuses, by name: a
 * ".git" that points elsewhere (a linked worktree, a submodule), a link, names
 * by SHA-256, reftable, a HEAD without a commit; where the host names it, what
 * could be two repositories. Spec: gitrepository-layout(5), git-pack-refs(1),
 * gitrevisions(7), git-worktree(1).
 */
#include "config.h"

#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/attr.h"
#include "base/fd.h"
#include "base/hash.h"
#include "tree.h"

#define REF_MAX 1024
#define PACKED_MAX ((size_t)64 << 20)
/* A reference may name another one, five deep (git's own bound). */
#define REFS_DEEP 5

static int fail(git_place *p, int32_t code, int sys_errno, const char *where,
		const char *message)
{
	return copy_fail(p->failure, code, sys_errno, where, message);
}

static bool exists(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* --- which format -------------------------------------------------------- */

static bool has_promisor(const git_place *p)
{
	uint8_t *raw = malloc(RAW_SIZE);
	int fd = open_beneath(p->objects_fd, "pack", O_RDONLY | O_DIRECTORY);
	bool found = false;
	long n;

	while (raw && fd >= 0 && !found && (n = read_names(fd, raw)) > 0) {
		for (long at = 0; at < n;) {
			const raw_dirent *d = (const void *)(raw + at);
			size_t len = strlen(d->name);

			at += d->len;
			found |= len > 9 && strcmp(d->name + len - 9,
						   ".promisor") == 0;
		}
	}
	if (fd >= 0)
		close(fd);
	free(raw);
	return found;
}

const char *place_why_missing(const git_place *p)
{
	if (p->is_shallow)
		return "an object is missing: the clone is shallow, and its "
		       "history ends before it";
	if (p->is_partial)
		return "an object is missing: the clone is partial, and "
		       "nothing is fetched";
	if (p->borrows)
		return "an object is missing: the repository borrows from "
		       "another (objects/info/alternates), which is not read";
	return "an object is missing";
}

static int refuse_pointer(git_place *p, int source_fd)
{
	struct stat st;

	if (fstatat(source_fd, ".git", &st, AT_SYMLINK_NOFOLLOW))
		return fail(p, errno == ENOENT ? AGENTBOX_ENOTFOUND
					       : AGENTBOX_ESYS,
			    errno, ".git", "the source has no repository");
	if (S_ISLNK(st.st_mode))
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, ".git",
			    "'.git' is a symbolic link, which is not followed");
	if (S_ISREG(st.st_mode))
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, ".git",
			    "'.git' points to a repository elsewhere (a linked "
			    "worktree or a submodule), which is not read; the "
			    "host can name that repository");
	return fail(p, AGENTBOX_EUNSUPPORTED, 0, ".git",
		    "'.git' is no directory");
}

static bool is_bare(int fd)
{
	struct stat head, objects, refs;

	return fstatat(fd, "HEAD", &head, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(fd, "objects", &objects, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(fd, "refs", &refs, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(head.st_mode) && S_ISDIR(objects.st_mode) &&
	       S_ISDIR(refs.st_mode);
}

static int read_packed(git_place *p)
{
	int fd = open_beneath(p->git_fd, "packed-refs", O_RDONLY | O_NONBLOCK);
	struct stat st;
	int r;

	if (fd == -ENOENT)
		return 0;
	if (fd == -EACCES || fd == -EPERM)
		return fail(p, AGENTBOX_EACCES, -fd, ".git/packed-refs",
			    "the source may not read it");
	if (fd == -ELOOP || fd == -EXDEV)
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, ".git/packed-refs",
			    "it is elsewhere, behind a link or a mount");
	if (fd < 0)
		return fail(p, AGENTBOX_ESYS, -fd, ".git/packed-refs",
			    "cannot read it");
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return fail(p, AGENTBOX_EPARSE, 0, ".git/packed-refs",
			    "it is no file");
	}
	r = ab_fd_slurp(fd, PACKED_MAX, &p->packed, &p->packed_len);
	close(fd);
	if (r == -EFBIG)
		return fail(p, AGENTBOX_ELIMIT, 0, ".git/packed-refs",
			    "it is over 64 MiB");
	return r ? fail(p, AGENTBOX_ESYS, -r, ".git/packed-refs",
			"cannot read it")
		 : 0;
}

/* p->git_fd is there. */
static int open_inside(git_place *p)
{
	if (exists(p->git_fd, "commondir"))
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, ".git/commondir",
			    "a linked worktree keeps its objects elsewhere");
	if (exists(p->git_fd, "reftable"))
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, ".git/reftable",
			    "references in reftable format cannot be read");
	p->objects_fd = open_beneath(p->git_fd, "objects",
				     O_RDONLY | O_DIRECTORY);
	if (p->objects_fd == -ENOTDIR || p->objects_fd == -ELOOP ||
	    p->objects_fd == -EXDEV)
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, ".git/objects",
			    "the objects are elsewhere, behind a link or a "
			    "mount, which is not followed");
	if (p->objects_fd < 0)
		return fail(p, p->objects_fd == -ENOENT	  ? AGENTBOX_ENOTFOUND
			       : p->objects_fd == -EACCES ? AGENTBOX_EACCES
							  : AGENTBOX_ESYS,
			    -p->objects_fd, ".git/objects",
			    "the source has no repository that can be read");
	p->is_shallow = exists(p->git_fd, "shallow");
	p->borrows = exists(p->objects_fd, "info/alternates");
	p->is_partial = has_promisor(p);
	return read_packed(p);
}

/*
 * It is one, or has one in ".git". What is both could be made so by who may
 * write there, and the host said only one thing.
 */
int place_open_named(git_place *p, int fd, copy_failure *failure)
{
	bool bare = is_bare(fd);

	*p = (git_place){ .failure = failure, .git_fd = -1, .objects_fd = -1 };
	if (exists(fd, "commondir"))
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, "repository",
			    "it is what a repository knows of a linked "
			    "worktree; name the repository itself");
	if (bare && exists(fd, ".git"))
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, "repository",
			    "it is a repository and has another in '.git'");
	p->git_fd = open_beneath(fd, bare ? "." : ".git",
				 O_RDONLY | O_DIRECTORY);
	if (p->git_fd == -EACCES)
		return fail(p, AGENTBOX_EACCES, EACCES, "repository",
			    "the source may not read it");
	if (p->git_fd == -EXDEV)
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, "repository",
			    "its '.git' is on another file system; name that "
			    "directory");
	if (p->git_fd == -ENOENT)
		return fail(p, AGENTBOX_ENOTFOUND, 0, "repository",
			    "what was named is no repository and has none");
	return p->git_fd < 0 ? refuse_pointer(p, fd) : open_inside(p);
}

int place_open(git_place *p, int source_fd, copy_failure *failure)
{
	*p = (git_place){ .failure = failure, .git_fd = -1, .objects_fd = -1 };
	p->git_fd = open_beneath(source_fd, ".git", O_RDONLY | O_DIRECTORY);
	if (p->git_fd == -ENOENT && is_bare(source_fd))
		p->git_fd = open_beneath(source_fd, ".",
					 O_RDONLY | O_DIRECTORY);
	if (p->git_fd == -EACCES)
		return fail(p, AGENTBOX_EACCES, EACCES, ".git",
			    "the source may not read it");
	if (p->git_fd == -EXDEV)
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, ".git",
			    "'.git' is on another file system");
	return p->git_fd < 0 ? refuse_pointer(p, source_fd) : open_inside(p);
}

/* --- references ---------------------------------------------------------- */

/* What git allows, roughly, and nothing that is no path (git-check-ref-
   format(1)). */
static bool is_ref_name(const char *s)
{
	size_t n = strlen(s);

	if (!n || n >= REF_MAX || s[0] == '/' || s[n - 1] == '/' ||
	    strstr(s, "..") || strstr(s, "//") || strstr(s, "/.") ||
	    s[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c <= 0x20 || c == 0x7f || strchr("~^:?*[\\", c))
			return false;
	}
	return true;
}

/* The first line of a small file; -ENOENT when there is none. */
static int read_line(git_place *p, const char *name, char line[REF_MAX])
{
	int fd = open_beneath(p->git_fd, name, O_RDONLY | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return fd == -ENOTDIR || fd == -ELOOP ? -ENOENT : fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -ENOENT;
	}
	n = ab_fd_read_full(fd, line, REF_MAX - 1);
	close(fd);
	if (n < 0)
		return (int)n;
	line[n] = 0;
	line[strcspn(line, "\r\n")] = 0;
	return 0;
}

/* The line of packed-refs that ends in this name. */
static bool find_packed(const git_place *p, const char *name,
			char line[REF_MAX])
{
	size_t len = strlen(name);
	const char *at = p->packed, *end = at + p->packed_len;

	while (at && at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((eol ? eol : end) - at);

		if (n > len && at[n - len - 1] == ' ' && at[0] != '#' &&
		    memcmp(at + n - len, name, len) == 0 &&
		    n - len - 1 < REF_MAX) {
			memcpy(line, at, n - len - 1);
			line[n - len - 1] = 0;
			return true;
		}
		at = eol ? eol + 1 : end;
	}
	return false;
}

static int parse_oid(git_place *p, const char *text, const char *where,
		     uint8_t oid[OID_SIZE])
{
	size_t n = strlen(text);

	if (n == OID_HEX && ab_unhex(text, n, oid, OID_SIZE) == 0)
		return 0;
	if (n == 64 && strspn(text, "0123456789abcdef") == n)
		return fail(p, AGENTBOX_EUNSUPPORTED, 0, where,
			    "the repository names its objects by SHA-256, "
			    "which cannot be read");
	return fail(p, AGENTBOX_EPARSE, 0, where,
		    "a reference of the repository is malformed");
}

/* What stands in packed-refs is below refs/ and nothing else. */
static bool is_packable(const char *name)
{
	return strncmp(name, "refs/", 5) == 0;
}

/* Every worktree has these of its own, and a linked one not here. */
static bool is_elsewhere(const char *first, const char *name)
{
	return strncmp(first, "worktrees/", 10) == 0 &&
	       (strncmp(name, "refs/bisect/", 12) == 0 ||
		strncmp(name, "refs/rewritten/", 15) == 0 ||
		strncmp(name, "refs/worktree/", 14) == 0);
}

/* 1: there is no such reference. */
static int follow(git_place *p, const char *first, uint8_t oid[OID_SIZE])
{
	char name[REF_MAX], line[REF_MAX];

	snprintf(name, sizeof(name), "%s", first);
	for (int i = 0; i < REFS_DEEP; i++) {
		int r = read_line(p, name, line);

		if (r == -ENOENT &&
		    (!is_packable(name) || !find_packed(p, name, line)))
			return 1;
		if (r == -EACCES || r == -EPERM)
			return fail(p, AGENTBOX_EACCES, -r, name,
				    "the source may not read the reference");
		if (r && r != -ENOENT)
			return fail(p, AGENTBOX_ESYS, -r, name,
				    "cannot read the reference");
		if (strncmp(line, "ref:", 4) != 0)
			return parse_oid(p, line, first, oid);
		snprintf(name, sizeof(name), "%s",
			 line + 4 + strspn(line + 4, " \t"));
		if (!is_ref_name(name) || strncmp(name, "refs/", 5) != 0)
			return fail(p, AGENTBOX_EPARSE, 0, first,
				    "it points to what is no reference");
		if (is_elsewhere(first, name))
			return fail(p, AGENTBOX_EUNSUPPORTED, 0, first,
				    "it points to a reference of the worktree "
				    "itself, which is not read");
	}
	return fail(p, AGENTBOX_EPARSE, 0, first,
		    "references point to one another without end");
}

int place_head(git_place *p, const char *name, uint8_t oid[OID_SIZE])
{
	int r;

	if (strlen(name) == OID_HEX &&
	    ab_unhex(name, OID_HEX, oid, OID_SIZE) == 0)
		return 0;
	if (!is_ref_name(name))
		return fail(p, AGENTBOX_EINVAL, 0, "head",
			    "the head is neither the full name of a commit "
			    "nor that of a reference");
	r = follow(p, name, oid);
	if (r != 1)
		return r;
	return fail(p, AGENTBOX_ENOTFOUND, 0, name,
		    strcmp(name, "HEAD") == 0
			    ? "HEAD has no commit yet"
			    : "the repository has no such reference");
}

int place_resolve(git_place *p, const char *name, uint8_t oid[OID_SIZE])
{
	/* the order of gitrevisions(7), without the repository's own files */
	static const char *const before[] = { "", "refs/", "refs/tags/",
					      "refs/heads/", "refs/remotes/" };
	char full[REF_MAX + 32];

	if (strlen(name) == OID_HEX &&
	    ab_unhex(name, OID_HEX, oid, OID_SIZE) == 0)
		return 0;
	if (!is_ref_name(name))
		return fail(p, AGENTBOX_EINVAL, 0, "base",
			    "the base is neither the full name of a commit "
			    "nor that of a reference");
	for (size_t i = 0; i < AB_ARRAY_LEN(before); i++) {
		int r;

		if (!before[i][0] && strncmp(name, "refs/", 5) != 0 &&
		    strcmp(name, "HEAD") != 0)
			continue;
		snprintf(full, sizeof(full), "%s%s", before[i], name);
		if (strlen(full) >= REF_MAX)
			break;
		r = follow(p, full, oid);
		if (r <= 0)
			return r;
	}
	return fail(p, AGENTBOX_ENOTFOUND, 0, name,
		    "the repository has no reference of the base's name");
}
