/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mount namespace in which a part of /proc is covered, as in a container:
 * the kernel then refuses a new proc in a user namespace below it
 * (mount_too_revealing() of fs/namespace.c). One proc that can be seen whole,
 * anywhere, would be enough for it to allow one: a chroot of somebody else's
 * has its own. So all that can be reached are covered, not /proc alone.
 *
 * A header of its own, for `without` is linked with nothing.
 */
#ifndef TESTS_COVER_PROC_H
#define TESTS_COVER_PROC_H

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static int cover_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

/* Who may not, as in a container root, is himself in a user namespace. */
static int cover_begin(void)
{
	unsigned int uid = geteuid(), gid = getegid();
	char text[64];

	if (uid || unshare(CLONE_NEWNS)) {
		if (unshare(CLONE_NEWNS | CLONE_NEWUSER))
			return -1;
		(void)cover_write("/proc/self/setgroups", "deny");
		snprintf(text, sizeof(text), "%u %u 1", uid, uid);
		if (cover_write("/proc/self/uid_map", text))
			return -1;
		snprintf(text, sizeof(text), "%u %u 1", gid, gid);
		if (cover_write("/proc/self/gid_map", text))
			return -1;
	}
	return mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL);
}

/* "\040" of mountinfo is a blank, in place: proc_pid_mountinfo(5). */
static void cover_decode(char *path)
{
	char *to = path;

	for (const char *p = path; *p; p++) {
		if (p[0] == '\\' && strspn(p + 1, "01234567") >= 3) {
			char digits[4] = { p[1], p[2], p[3], '\0' };

			*to++ = (char)strtol(digits, NULL, 8);
			p += 3;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/*
 * Here, not in the process that asks: what was opened before is on the mounts
 * of before. 0, or -1 with errno. A proc that cannot be reached is under
 * something, which does the same.
 */
static int cover_procs(void)
{
	char line[8192], path[4096], below[4200];
	FILE *f;

	if (cover_begin())
		return -1;
	f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, " - proc ") ||
		    sscanf(line, "%*s %*s %*s / %4095s", path) != 1)
			continue;
		cover_decode(path);
		snprintf(below, sizeof(below), "%s/irq", path);
		if (strcmp(path, "/proc") != 0)
			(void)mount("none", below, "tmpfs", 0, NULL);
	}
	fclose(f);
	return mount("none", "/proc/irq", "tmpfs", 0, NULL);
}

#endif
