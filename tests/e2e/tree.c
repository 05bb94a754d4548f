/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The harness: what a tree of the host was and is, as text: kinds, modes,
 * owners, links, times, hashes. It follows no link. Spec: tests/e2e/box.h.
 */
#include "host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "box.h"

struct listing {
	char *text;
	size_t used, cap;
};

static void listing_add(struct listing *l, const char *line)
{
	size_t n = strlen(line);

	if (l->used + n + 1 > l->cap) {
		l->cap = (l->cap + n + 4096) * 2;
		l->text = realloc(l->text, l->cap);
		if (!l->text)
			abort();
	}
	memcpy(l->text + l->used, line, n + 1);
	l->used += n;
}

/* FNV-1a: tells a change, not an attack on the hash. */
static uint64_t hash_file(int dir, const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
			O_CLOEXEC);
	unsigned char buffer[65536];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0)
		for (ssize_t i = 0; i < n; i++)
			h = (h ^ buffer[i]) * 0x100000001b3u;
	if (fd >= 0)
		close(fd);
	return h;
}

static void list_entry(struct listing *l, int dir, const char *name,
		       const char *path);

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_dir(struct listing *l, int parent, const char *name,
		     const char *path)
{
	char *names[4096];
	size_t n = 0;
	struct dirent *entry;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		return;
	while ((entry = readdir(dir)) && n < 4096)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			names[n++] = e2e_text("%s", entry->d_name);
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++)
		list_entry(l, dirfd(dir), names[i],
			   e2e_text("%s/%s", path, names[i]));
	closedir(dir);
}

static void list_entry(struct listing *l, int dir, const char *name,
		       const char *path)
{
	char target[4096] = "";
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		listing_add(l, e2e_text("%s %s\n", path,
					strerrorname_np(errno)));
		return;
	}
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = 0;
	}
	listing_add(l, e2e_text(
		"%s %o %u:%u links=%lu ino=%lu size=%lld mtime=%lld.%09ld "
		"%016llx%s%s\n", path, st.st_mode, st.st_uid, st.st_gid,
		(unsigned long)st.st_nlink, (unsigned long)st.st_ino,
		(long long)st.st_size, (long long)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec, S_ISREG(st.st_mode) ?
		(unsigned long long)hash_file(dir, name) : 0,
		*target ? " -> " : "", target));
	if (S_ISDIR(st.st_mode))
		list_dir(l, dir, name, path);
}

char *host_tree(const char *path)
{
	struct listing l = { 0 };

	listing_add(&l, "");
	list_entry(&l, AT_FDCWD, path, ".");
	return e2e_keep(l.text);
}

void host_same_tree(const char *what, const char *before, const char *after)
{
	size_t n = 0, start = 0;

	while (before[n] && before[n] == after[n]) {
		n++;
		if (before[n - 1] == '\n')
			start = n;
	}
	CHECK(before[n] == after[n], "%s changed\nwas: %.*s\nis:  %.*s", what,
	      (int)strcspn(before + start, "\n"), before + start,
	      (int)strcspn(after + start, "\n"), after + start);
}
