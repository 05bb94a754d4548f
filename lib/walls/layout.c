/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where cgroups are mounted and which of them are ours to write: v1 per
 * controller below our own path, v2 at our own path or its parent. Pure text
 * but for the access checks. A hierarchy that is mounted at a root that does
 * not contain us is not ours. Spec: cgroups(7), proc_pid_mountinfo(5).
 */
#include "config.h"

#include "walls/probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "path/lexical.h"

/* `list` is comma-separated and holds `word`. */
static bool has_word(const char *list, size_t n, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; p < list + n;) {
		const char *end = memchr(p, ',', (size_t)(list + n - p));
		size_t have = (size_t)((end ? end : list + n) - p);

		if (have == len && memcmp(p, word, len) == 0)
			return true;
		if (!end)
			break;
		p = end + 1;
	}
	return false;
}

/* "7:memory:/a/b": our path in the hierarchy of a controller. */
static bool own_path(const char *name, const char *own, char *out, size_t size)
{
	for (const char *line = own; line && *line;) {
		const char *end = strchr(line, '\n');
		size_t n = end ? (size_t)(end - line) : strlen(line);
		const char *list = memchr(line, ':', n);
		const char *path =
			list ? memchr(list + 1, ':',
				      n - (size_t)(list + 1 - line)) :
			       NULL;
		size_t len = path ? n - (size_t)(path + 1 - line) : 0;
		bool match = path &&
			     (*name ? has_word(list + 1,
					       (size_t)(path - list - 1),
					       name) :
				      path == list + 1);

		if (match && len > 0 && len < size && path[1] == '/') {
			memcpy(out, path + 1, len);
			out[len] = '\0';
			return true;
		}
		line = end ? end + 1 : NULL;
	}
	return false;
}

/* One line of mountinfo, cut at spaces in place of a copy. */
typedef struct mount_line {
	char text[2 * AB_MAX_PATH];
	const char *root, *point, *type, *options;
} mount_line;

static bool cut(mount_line *m, const char *line, size_t n)
{
	char *field[6] = { NULL }, *p;
	size_t i = 0;

	if (n >= sizeof(m->text))
		return false;
	memcpy(m->text, line, n);
	m->text[n] = '\0';
	p = strstr(m->text, " - ");
	if (!p)
		return false;
	*p = '\0';
	m->type = p + 3;
	p = strchr(p + 3, ' ');
	if (!p)
		return false;
	*p = '\0';
	m->options = strrchr(p + 1, ' ') ? strrchr(p + 1, ' ') + 1 : "";
	for (char *f = m->text; f && i < 6; i++) {
		char *space = strchr(f, ' ');

		if (space)
			*space++ = '\0';
		field[i] = f;
		f = space;
	}
	m->root = field[3];
	m->point = field[4];
	/* a mount point with escaped bytes is not worth decoding here */
	return i == 6 && !strchr(m->root, '\\') && !strchr(m->point, '\\');
}

bool ab_probe_cgroup_path(const char *name, const char *own,
			  const char *mounts, char *out, size_t size)
{
	char path[AB_MAX_PATH];

	if (!own_path(name, own, path, sizeof(path)))
		return false;
	for (const char *line = mounts; line && *line;) {
		const char *end = strchr(line, '\n');
		size_t n = end ? (size_t)(end - line) : strlen(line);
		mount_line m;
		const char *rest;

		if (cut(&m, line, n) &&
		    strcmp(m.type, *name ? "cgroup" : "cgroup2") == 0 &&
		    (!*name || has_word(m.options, strlen(m.options), name)) &&
		    (rest = ab_path_rest(path, m.root)) != NULL &&
		    ab_path_join(m.point, rest, out, size) > 0)
			return true;
		line = end ? end + 1 : NULL;
	}
	return false;
}

static bool may_write(const char *dir, const char *file)
{
	char path[2 * AB_MAX_PATH];

	snprintf(path, sizeof(path), "%s%s%s", dir, *file ? "/" : "", file);
	return faccessat(AT_FDCWD, path, *file ? W_OK : W_OK | X_OK,
			 AT_EACCESS) == 0;
}

/* A read-only cgroup mount says so here even to root: access(2), EROFS. */
static bool writable_v1(const char *name, const char *own, const char *mounts,
			char *out, size_t size)
{
	if (ab_probe_cgroup_path(name, own, mounts, out, size) &&
	    may_write(out, "") && may_write(out, "cgroup.procs"))
		return true;
	out[0] = '\0';
	return false;
}

/* Does a child of `dir` get the controller? cgroup.subtree_control says. */
static bool gives(const char *dir, const char *controller)
{
	char path[2 * AB_MAX_PATH], text[512];
	ab_autofd int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
	fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	n = fd < 0 ? -1 : ab_fd_read_full(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	for (ssize_t i = 0; i < n; i++) {
		if (text[i] == ' ' || text[i] == '\n')
			text[i] = ',';
	}
	return has_word(text, (size_t)n, controller);
}

static bool try_v2(ab_probe *p, const char *dir)
{
	if (!may_write(dir, "") || !may_write(dir, "cgroup.procs"))
		return false;
	p->cgroup2_memory = gives(dir, "memory");
	p->cgroup2_pids = gives(dir, "pids");
	p->cgroup2_cpu = gives(dir, "cpu");
	return p->cgroup2_memory || p->cgroup2_pids || p->cgroup2_cpu;
}

static void probe_v2(ab_probe *p, const char *own, const char *mounts)
{
	char *dir = p->cgroup2_path, *slash;

	if (!ab_probe_cgroup_path("", own, mounts, dir,
				  sizeof(p->cgroup2_path)))
		dir[0] = '\0';
	if (!dir[0] || try_v2(p, dir))
		return;
	/*
	 * We are a leaf, as every process must be: a sibling then. Entering
	 * it needs cgroup.procs of the common ancestor, checked as well.
	 */
	slash = strrchr(dir, '/');
	if (slash && slash != dir) {
		*slash = '\0';
		if (may_write(dir, "cgroup.subtree_control") && try_v2(p, dir))
			return;
	}
	p->cgroup2_memory = p->cgroup2_pids = p->cgroup2_cpu = false;
	dir[0] = '\0';
}

void ab_probe_cgroups(ab_probe *p, const char *own, const char *mounts)
{
	probe_v2(p, own, mounts);
	p->cgroup1_memory = writable_v1("memory", own, mounts,
					p->cgroup1_memory_path,
					sizeof(p->cgroup1_memory_path));
	p->cgroup1_pids = writable_v1("pids", own, mounts,
				      p->cgroup1_pids_path,
				      sizeof(p->cgroup1_pids_path));
	p->cgroup1_cpu = writable_v1("cpu", own, mounts, p->cgroup1_cpu_path,
				     sizeof(p->cgroup1_cpu_path));
}
