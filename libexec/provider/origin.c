/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where something is, whatever it is mounted as: a bind mount has the same
 * file system and the same path in it, under another name. From the kernel's
 * own list of mounts, by the number of the mount. Spec: provider.h,
 * proc_pid_mountinfo(5).
 */
#include "config.h"

#include "provider.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"

/* Up to the end of a field, in which \ooo stands for a byte. */
static char *take_field(char **at)
{
	char *begin = *at, *to = begin, *p = begin;

	for (; *p && *p != ' ' && *p != '\n'; p++) {
		bool is_octal = *p == '\\' && strspn(p + 1, "01234567") >= 3;

		*to++ = is_octal ? (char)((p[1] - '0') << 6 |
					  (p[2] - '0') << 3 | (p[3] - '0'))
				 : *p;
		p += is_octal ? 3 : 0;
	}
	*at = p + (*p != '\0');
	*to = '\0';
	return begin;
}

/* The number of the mount that this is on, or -1. */
static long find_mount(int fd)
{
	char path[64], text[1024];
	ab_autofd int info = -1;
	const char *found;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	n = info < 0 ? 0 : ab_fd_read_full(info, text, sizeof(text) - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	found = strstr(text, "mnt_id:");
	return found ? strtol(found + strlen("mnt_id:"), NULL, 10) : -1;
}

/* What is behind the place of the mount in a whole path; NULL: it is not. */
static const char *behind(const char *path, const char *place)
{
	size_t n = strcmp(place, "/") == 0 ? 0 : strlen(place);

	return strncmp(path, place, n) == 0 &&
	       (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/* One line of the list, for this mount; false: of another, or not to be had. */
static bool read_line(char *line, long mount, const char *path,
		      char out[PROVIDER_ORIGIN])
{
	const char *device, *root, *rest;
	int n;

	if (strtol(take_field(&line), NULL, 10) != mount)
		return false;
	(void)take_field(&line);
	device = take_field(&line);
	root = take_field(&line);
	rest = behind(path, take_field(&line));
	if (!rest || root[0] != '/')
		return false;
	n = snprintf(out, PROVIDER_ORIGIN, "%s %s%s", device,
		     strcmp(root, "/") == 0 ? "" : root,
		     strcmp(rest, "/") == 0 ? "" : rest);
	return n > 0 && n < PROVIDER_ORIGIN;
}

bool provider_origin(const char *path, char out[PROVIDER_ORIGIN])
{
	ab_autofd int fd = open(path, O_PATH | O_CLOEXEC);
	char link[64], real[AB_MAX_PATH + 1], *line = NULL;
	bool is_found = false;
	size_t size = 0;
	long mount;
	FILE *f;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fd < 0 ? -1 : readlink(link, real, sizeof(real) - 1);
	mount = fd < 0 ? -1 : find_mount(fd);
	f = n < 0 || mount < 0 ? NULL : fopen("/proc/self/mountinfo", "re");
	if (!f)
		return false;
	real[n] = '\0';
	while (!is_found && getline(&line, &size, f) > 0)
		is_found = read_line(line, mount, real, out);
	free(line);
	fclose(f);
	return is_found;
}
