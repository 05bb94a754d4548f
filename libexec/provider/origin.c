/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where something is, whatever it is mounted as: a bind mount has the same
 * file system and the same path in it, under another name, and what an overlay
 * shows is in its layers as well, of which it writes the upper one. From the
 * kernel's own list of mounts, by the number of the mount. A layer is found by
 * the name it was mounted by; of the overlay that is the root, as containers
 * have it, the layers have no names here, and so nobody writes them here.
 * What stands behind other file systems (fuse(4), nfs(5)) is not looked for.
 * Spec: provider.h, proc_pid_mountinfo(5), the kernel's filesystems/overlayfs.
 */
#include "config.h"

#include "provider.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"

#define MAX_DEPTH 8 /* of overlays whose layers are on overlays */

typedef struct mount {
	char *line; /* owned; the others are in it */
	char *device, *root, *at, *type, *options;
} mount;

/* --- the list ------------------------------------------------------------- */

/* \ooo stands for a byte. */
static void decode(char *text)
{
	char *to = text;

	for (char *p = text; *p; p++) {
		bool is_octal = *p == '\\' && strspn(p + 1, "01234567") >= 3;

		*to++ = is_octal ? (char)((p[1] - '0') << 6 |
					  (p[2] - '0') << 3 | (p[3] - '0'))
				 : *p;
		p += is_octal ? 3 : 0;
	}
	*to = '\0';
}

static char *take_field(char **at)
{
	char *begin = *at + strspn(*at, " ");
	char *end = begin + strcspn(begin, " \n");

	*at = end + (*end != '\0');
	*end = '\0';
	return begin;
}

/* A line: "ID PARENT DEVICE ROOT AT OPTIONS [TAG...] - TYPE SOURCE OPTIONS" */
static bool read_line(char *line, long id, mount *m)
{
	const char *tag;

	if (strtol(take_field(&line), NULL, 10) != id)
		return false;
	(void)take_field(&line);
	m->device = take_field(&line);
	m->root = take_field(&line);
	m->at = take_field(&line);
	do
		tag = take_field(&line);
	while (*tag && strcmp(tag, "-") != 0);
	m->type = take_field(&line);
	(void)take_field(&line);
	m->options = take_field(&line);
	decode(m->root);
	decode(m->at);
	return m->root[0] == '/';
}

/* The mount with this number. */
static bool find_mount(long id, mount *m)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	bool is_found = false;
	size_t size = 0;

	*m = (mount){ 0 };
	while (f && !is_found && getline(&m->line, &size, f) > 0)
		is_found = read_line(m->line, id, m);
	if (f)
		fclose(f);
	return is_found;
}

/* The number of the mount that this is on, or -1. */
static long number_of(int fd)
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

/* "/" is nothing before a name. */
static const char *plain(const char *path)
{
	return strcmp(path, "/") == 0 ? "" : path;
}

/* --- origins -------------------------------------------------------------- */

static bool add(provider_origins *o, const char *device, const char *within)
{
	size_t room = sizeof(o->text) - o->len;
	int n = snprintf(o->text + o->len, room, "%s %s", device, within);

	if (n < 0 || (size_t)n >= room)
		return false;
	o->len += (size_t)n + 1;
	return true;
}

static bool add_all(provider_origins *o, const char *path, const char *within,
		    bool writes, int depth);

static bool is_of_root(const mount *m)
{
	ab_autofd int fd = open("/", O_PATH | O_CLOEXEC);
	bool is = false;
	mount root;

	if (fd >= 0 && find_mount(number_of(fd), &root))
		is = strcmp(root.device, m->device) == 0;
	if (fd >= 0)
		free(root.line);
	return is;
}

/* One layer, in which `within` is what is meant. */
static bool add_layer(provider_origins *o, const mount *m, const char *layer,
		      const char *within, bool writes, int depth)
{
	/* of another's directory, or with what was written in two ways */
	if (layer[0] != '/' || strchr(layer, '\\'))
		return false;
	if (access(layer, F_OK) == 0)
		return add_all(o, layer, within, writes, depth + 1);
	return errno == ENOENT && is_of_root(m);
}

/* "lowerdir=A:B::C", and "lowerdir+=A" for each since Linux 6.8 */
static bool add_option(provider_origins *o, const mount *m, char *option,
		       const char *within, bool writes, int depth)
{
	char *value = strchr(option, '='), *layer;
	bool is_good = true, is_upper;

	if (!value)
		return true;
	*value++ = '\0';
	is_upper = strcmp(option, "upperdir") == 0;
	if (!is_upper && (writes || (strncmp(option, "lowerdir", 8) != 0 &&
				     strncmp(option, "datadir", 7) != 0)))
		return true;
	decode(value);
	if (is_upper || option[strlen(option) - 1] == '+')
		return add_layer(o, m, value, within, writes, depth);
	if (strchr(value, '\\'))
		return false;
	while (is_good && (layer = strsep(&value, ":")))
		is_good = !*layer ||
			  add_layer(o, m, layer, within, writes, depth);
	return is_good;
}

static bool add_layers(provider_origins *o, const mount *m, const char *within,
		       bool writes, int depth)
{
	char *rest = m->options, *option;
	bool is_good = true;

	while (is_good && (option = strsep(&rest, ",")))
		is_good = add_option(o, m, option, within, writes, depth);
	return is_good;
}

/* Of `within` in what is at the path. */
static bool add_of(provider_origins *o, const char *real, mount *m,
		   const char *within, bool writes, int depth)
{
	const char *rest = behind(real, m->at);
	char whole[2 * AB_MAX_PATH];
	int n;

	if (!rest)
		return false;
	n = snprintf(whole, sizeof(whole), "%s%s%s", plain(m->root),
		     plain(rest), plain(within));
	if (n < 0 || (size_t)n >= sizeof(whole) || !add(o, m->device, whole))
		return false;
	return strcmp(m->type, "overlay") != 0 ||
	       add_layers(o, m, whole, writes, depth);
}

static bool add_all(provider_origins *o, const char *path, const char *within,
		    bool writes, int depth)
{
	ab_autofd int fd = depth < MAX_DEPTH ? open(path, O_PATH | O_CLOEXEC)
					     : -1;
	char link[64], real[AB_MAX_PATH + 1];
	bool is_good;
	ssize_t n;
	mount m;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fd < 0 ? -1 : readlink(link, real, sizeof(real) - 1);
	if (n < 0)
		return false;
	real[n] = '\0';
	is_good = find_mount(number_of(fd), &m) &&
		  add_of(o, real, &m, within, writes, depth);
	free(m.line);
	return is_good;
}

bool provider_origin(const char *path, bool writes, provider_origins *o)
{
	o->len = 0;
	return add_all(o, path, "", writes, 0);
}
