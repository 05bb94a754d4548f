/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is mounted below a workspace, or another tree that a box writes to, when
 * the plan is made. The box sees it and can write it like the rest, so it is
 * looked through as another tree is; but only where the kernel itself has the
 * file system, by its name in mountinfo: a server that does not answer is asked
 * for nothing, not even for its type.
 * Spec: proc_pid_mountinfo(5), sandbox case 87.
 */
#include "config.h"

#include "walls/protect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/fd.h"
#include "base/limits.h"
#include "path/lexical.h"
#include "path/resolve.h"

#define MAX_LISTED 8 /* notes */
#define MAX_SUBMOUNTS 1024
#define MAX_TABLE (16u << 20)

/* None of them waits for anybody but a disk. */
static const char *const local_types[] = {
	"ext2", "ext3", "ext4", "xfs", "btrfs", "bcachefs", "f2fs", "zfs",
	"jfs", "reiserfs", "nilfs2", "vfat", "exfat", "ntfs3", "udf",
	"iso9660", "squashfs", "erofs", "tmpfs", "ramfs", "overlay",
};

static bool is_local_type(const char *type, size_t n)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(local_types); i++) {
		if (strlen(local_types[i]) == n &&
		    strncmp(local_types[i], type, n) == 0)
			return true;
	}
	return false;
}

/* Is it this path, with blanks and the like as \ooo? */
static bool is_point(const char *field, const char *path)
{
	for (; *path; path++) {
		unsigned int c = (unsigned char)*field;

		if (c == '\\') {
			c = 0;
			for (int i = 1; i <= 3; i++) {
				if (field[i] < '0' || field[i] > '7')
					return false;
				c = 8 * c + (unsigned int)(field[i] - '0');
			}
			field += 3;
		}
		if (c != (unsigned char)*path)
			return false;
		field++;
	}
	return *field == ' ';
}

/* The fifth field of a line, and what is behind the hyphen. */
static bool read_line(const char *line, const char *end, const char **point,
		      const char **type)
{
	const char *at = line;

	for (int i = 0; i < 4 && at && at < end; i++) {
		at = memchr(at, ' ', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	*point = at;
	*type = at && at < end ? memmem(at, (size_t)(end - at), " - ", 3) : NULL;
	if (!*type)
		return false;
	*type += 3;
	return true;
}

/* All that is mounted there, one on the other, is local. */
static bool is_local(const char *table, const char *path)
{
	bool is = false;

	for (const char *line = table, *end; *line;
	     line = *end ? end + 1 : end) {
		const char *point, *type;

		end = strchrnul(line, '\n');
		if (!read_line(line, end, &point, &type) ||
		    !is_point(point, path))
			continue;
		is = is_local_type(type, strcspn(type, " \n"));
		if (!is)
			return false;
	}
	return is;
}

static char *read_table(void)
{
	ab_autofd int fd = ab_fd_lift(open("/proc/self/mountinfo",
					   O_RDONLY | O_CLOEXEC));
	char *table = NULL;
	size_t n = 0;

	if (fd < 0 || ab_fd_slurp(fd, MAX_TABLE, &table, &n))
		return NULL;
	return table;
}

static void note_unseen(ab_protect *p, const char *path)
{
	if (p->skipped++ < MAX_LISTED)
		ab_build_note(p->b, "'%s' is a mount of its own: the box sees "
			      "it, and what is protected in it is not held",
			      path);
}

void ab_protect_meet_mount(ab_protect *p, const char *path)
{
	const char *host = ab_build_join(p->b, p->root, path);

	for (size_t i = 0; host && i < p->submount_count; i++) {
		if (strcmp(p->submounts[i], host) == 0)
			return;
	}
	if (p->submount_count >= MAX_SUBMOUNTS)
		note_unseen(p, path);
	else if (host && ab_build_grow(p->b, &p->submounts, p->submount_count,
				       sizeof(*p->submounts)))
		p->submounts[p->submount_count++] = host;
}

/* Through no link: who works beside us in the tree may have put one above. */
static int open_mount(const char *host)
{
	ab_autofd int top = ab_fd_lift(open("/", O_PATH | O_DIRECTORY |
							 O_CLOEXEC));

	if (top < 0)
		return -errno;
	return ab_fd_lift(ab_path_open_beneath(top, host + 1,
					       O_PATH | O_DIRECTORY |
						       O_NOFOLLOW,
					       0, AB_PATH_NO_SYMLINKS));
}

/* Its root, with p->is_submount set. */
static int32_t look_from(ab_protect *p, const char *host, bool links,
			 agentbox_error **err)
{
	ab_autofd int fd = open_mount(host);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_protect_freeze(p, "it cannot be opened", err);
	/* its owner, the agent, could change its mode; nobody else's */
	if (faccessat(fd, ".", R_OK | X_OK, AT_EACCESS) < 0)
		return st.st_uid == geteuid() ?
			       ab_protect_freeze(p, "it is closed by its mode",
						 err) :
			       0;
	p->root_dev = st.st_dev;
	return ab_protect_scan_tree(p, fd, links, err);
}

static int32_t look_into(ab_protect *p, const char *host, const char *inside,
			 bool links, agentbox_error **err)
{
	int32_t rc;

	p->root = host;
	p->root_inside = inside;
	p->is_submount = true;
	rc = look_from(p, host, links, err);
	p->is_submount = false;
	return rc;
}

static bool is_workspace(const ab_protect *p, const char *top)
{
	return strcmp(top, p->b->workspace.path) == 0;
}

/* Below this tree, and not in the workspace, which was looked through first. */
static const char *rest_below(const ab_protect *p, const char *host,
			      const char *top)
{
	if (!is_workspace(p, top) &&
	    ab_path_rest(host, p->b->workspace.path))
		return NULL;
	return ab_path_rest(host, top);
}

int32_t ab_protect_scan_submounts(ab_protect *p, const char *top,
				  const char *top_inside, bool links,
				  agentbox_error **err)
{
	ab_autofree char *table = p->submount_count ? read_table() : NULL;
	int32_t rc = 0;

	/* one that is looked into may hold others */
	for (size_t i = 0; i < p->submount_count && !rc && !p->frozen; i++) {
		const char *host = p->submounts[i];
		const char *rest = rest_below(p, host, top);
		const char *inside;

		if (!rest)
			continue;
		if (!table || !is_local(table, host)) {
			if (!links)
				note_unseen(p, is_workspace(p, top) ? rest
							      : host);
			continue;
		}
		if (!links)
			ab_build_note(p->b, "'%s' is a mount of its own below "
				      "%s: the protected names that are there "
				      "are read-only, but nothing watches for "
				      "new ones", rest, is_workspace(p, top) ?
				      "the workspace" : top_inside);
		inside = ab_build_join(p->b, top_inside, rest);
		if (!inside)
			return 0; /* sticky */
		rc = look_into(p, host, inside, links, err);
	}
	p->halt = false;
	return rc;
}
