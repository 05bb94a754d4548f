/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files with several names: the other names of what is protected are held too,
 * and names outside the trees of the box are told. Spec: inodes.h, case 21.
 */
#include "config.h"

#include "walls/protect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"

#define MAX_LISTED 8 /* names in one note */

/* First round: count a name of a file that has several. */
static void count_name(ab_protect *p, const char *path, const struct stat *st,
		       bool guarded)
{
	ab_inode *e = ab_inodes_add(&p->inodes, st);

	if (!e) {
		p->b->nomem |= !p->inodes.full;
		return;
	}
	e->seen++;
	e->guarded |= guarded;
	p->links_guarded |= guarded;
	if (!e->name && p->inodes.names < AB_MAX_LINKED_NAMES) {
		e->name = p->root == p->b->workspace.path ?
				  ab_build_str(p->b, path) :
				  ab_build_join(p->b, p->root, path);
		p->inodes.names++;
	}
}

/* Second round: other names of protected files are protected. */
static int32_t hold_name(ab_protect *p, const char *path, const struct stat *st,
			 agentbox_error **err)
{
	const ab_inode *e = ab_inodes_find(&p->inodes, st);
	char host[AB_MAX_PATH];
	int32_t rc;

	if (!e || !e->guarded)
		return 0;
	rc = ab_protect_host_of(p, path, host, sizeof(host), err);
	return rc ? rc : ab_protect_hold(p, host, true, err);
}

int32_t ab_protect_see_name(ab_protect *p, const char *path, bool is_second,
			    int dirfd, const char *name, bool guarded,
			    agentbox_error **err)
{
	struct stat st;

	if (fstatat(dirfd, name, &st,
		    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_nlink < 2)
		return 0;
	if (is_second)
		return guarded ? 0 : hold_name(p, path, &st, err);
	count_name(p, path, &st, guarded);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of files that are known outside the workspace too; a few of them. */
static void report_outside(ab_protect *p, bool guarded, const char *what)
{
	const char *names[AB_MAX_LINKED_NAMES];
	char list[512];
	size_t count = 0, n = 0, used = 0;

	for (size_t i = 0; i < p->inodes.room; i++) {
		const ab_inode *e = &p->inodes.slots[i];

		if (!e->ino || e->seen >= e->nlink || e->guarded != guarded)
			continue;
		count++;
		if (e->name && n < AB_MAX_LINKED_NAMES)
			names[n++] = e->name;
	}
	if (count == 0)
		return;
	qsort(names, n, sizeof(*names), compare_names);
	list[0] = '\0';
	for (size_t i = 0; i < n && i < MAX_LISTED; i++) {
		int len = snprintf(list + used, sizeof(list) - used, "%s'%s'",
				   i ? ", " : "", names[i]);

		if (len < 0 || (size_t)len >= sizeof(list) - used)
			break;
		used += (size_t)len;
	}
	list[used] = '\0';
	ab_build_note(p->b, "%zu %s of the workspace have another name outside "
		      "it (hard link): what is written to one is written "
		      "there: %s%s",
		      count, what, list, count > MAX_LISTED ? ", ..." : "");
}

void ab_protect_report_links(ab_protect *p)
{
	report_outside(p, true, "protected files");
	report_outside(p, false, "files");
	if (p->inodes.full)
		ab_build_note(p->b, "more than %u files have several names; "
			      "the rest was not counted",
			      AB_MAX_LINKED_INODES);
}

static int32_t mark_guarded(ab_protect *p, int dirfd, const char *name,
			    unsigned depth, agentbox_error **err);

/* Another file system has no names of what is here; a mount of this one has. */
static bool is_elsewhere(int dirfd, const char *name)
{
	struct stat here, there;

	return fstat(dirfd, &here) == 0 &&
	       fstatat(dirfd, name, &there,
		       AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
	       here.st_dev != there.st_dev;
}

static int32_t mark_below(ab_protect *p, int dirfd, const char *name,
			  unsigned depth, agentbox_error **err)
{
	int fd = depth < AB_MAX_SCAN_DEPTH
			 ? ab_protect_open_level(p, dirfd, name)
			 : -1;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	const char *why;
	int error = 0;
	int32_t rc = 0;

	if (fd >= 0 && !dir) {
		close(fd);
		return ab_error_nomem(err);
	}
	if (!dir)
		p->unmarked |= depth >= AB_MAX_SCAN_DEPTH ||
			       (errno == EXDEV ? !is_elsewhere(dirfd, name)
					       : errno != ENOENT);
	while (dir && !rc && !p->halt && (e = ab_fd_next(dir, &error))) {
		why = ab_protect_count_entry(p);
		rc = why ? ab_protect_freeze(p, why, err) :
			   mark_guarded(p, fd, e->d_name, depth + 1, err);
	}
	if (dir)
		closedir(dir);
	if (!rc && error)
		rc = ab_protect_freeze(p, "a protected directory cannot be "
				       "read to its end", err);
	return rc;
}

/* Everything protected, however it came to be: which inodes it holds. */
static int32_t mark_guarded(ab_protect *p, int dirfd, const char *name,
			    unsigned depth, agentbox_error **err)
{
	struct stat st;
	ab_inode *e;

	if (fstatat(dirfd, name, &st,
		    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return mark_below(p, dirfd, name, depth, err);
	if (!S_ISREG(st.st_mode) || st.st_nlink < 2)
		return 0;
	e = ab_inodes_add(&p->inodes, &st);
	if (!e && p->inodes.full)
		return ab_protect_freeze(p, "more files have several names "
					 "than can be told apart (bound "
					 "AB_MAX_LINKED_INODES)", err);
	if (!e) {
		p->b->nomem = true;
		return 0;
	}
	e->guarded = p->links_guarded = true;
	return 0;
}

/*
 * Not all that is protected could be looked at: every file with a name that
 * nobody has met may be part of it.
 */
static int32_t mark_unaccounted(ab_protect *p, agentbox_error **err)
{
	size_t n = 0;

	if (p->inodes.full)
		return ab_protect_freeze(p, "a protected directory cannot be "
					 "looked into, and more files have "
					 "several names than can be told "
					 "apart", err);
	for (size_t i = 0; i < p->inodes.room; i++) {
		ab_inode *e = &p->inodes.slots[i];

		if (!e->ino || e->guarded || e->seen >= e->nlink)
			continue;
		e->guarded = p->links_guarded = true;
		n++;
	}
	if (n)
		ab_build_note(p->b, "a protected directory cannot be looked "
			      "into: %zu files of which not every name was "
			      "found are read-only, they may be in there", n);
	return 0;
}

int32_t ab_protect_hold_links(ab_protect *p, agentbox_error **err)
{
	size_t n = p->count;
	int32_t rc = 0;

	p->entries = 0;
	for (size_t i = 0; i < n && !rc && !p->halt; i++) {
		const ab_guarded *g = &p->set[i];
		ab_autofd int fd = -1;

		if (!g->readonly)
			continue;
		if (!g->dir) {
			rc = mark_guarded(p, AT_FDCWD, g->host, 0, err);
			continue;
		}
		/* by itself first: what leads to it may cross mounts */
		fd = ab_fd_lift(open(g->host, O_PATH | O_DIRECTORY |
						      O_NOFOLLOW | O_CLOEXEC));
		if (fd >= 0)
			rc = mark_below(p, fd, ".", 0, err);
		else
			p->unmarked |= errno != ENOENT;
	}
	if (!rc && p->unmarked && !p->frozen)
		rc = mark_unaccounted(p, err);
	if (rc || !p->links_guarded || p->frozen)
		return rc;
	p->entries = 0;
	return ab_protect_scan(p, true, err);
}
