/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name that a path has in a box when every symbolic link in it was
 * followed as the kernel would: one component after the other, with a bound
 * on links, components and bytes. Pure: who asks reads the links. Spec:
 * parts.h, path_resolution(7).
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "parts.h"

#define MOST_LINKS 40 /* path_resolution(7) */
/* as many as any one path has; those of its links are counted with them */
#define MOST_PARTS (AB_MAX_PATH / 2)

typedef struct walk {
	const ab_sh_tree *tree;
	char *out; /* no link in it, no slash at its end; "" is the root */
	size_t len, size;
	char rest[2 * AB_MAX_PATH];
	const char *at;
	int links, parts;
} walk;

bool ab_sh_is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (!path[n] || path[n] == '/');
}

static void go_up(walk *w)
{
	while (w->len && w->out[w->len - 1] != '/')
		w->len--;
	w->len -= w->len > 0;
	w->out[w->len] = '\0';
}

static int go_down(walk *w, const char *name, size_t n)
{
	if (++w->parts > MOST_PARTS)
		return -ELOOP;
	if (n >= w->size - w->len - 1)
		return -ENAMETOOLONG;
	w->out[w->len++] = '/';
	memcpy(w->out + w->len, name, n);
	w->len += n;
	w->out[w->len] = '\0';
	return 0;
}

/* What a link says comes before what is left. */
static int splice(walk *w, const char *text, size_t n)
{
	size_t left = strlen(w->at);

	if (++w->links > MOST_LINKS)
		return -ELOOP;
	if (n + 1 + left >= sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + n + 1, w->at, left + 1);
	memcpy(w->rest, text, n);
	w->rest[n] = '/';
	w->at = w->rest;
	if (text[0] == '/')
		w->len = 0;
	else
		go_up(w);
	w->out[w->len] = '\0';
	return 0;
}

/*
 * The component that was just gone to: 0 to go on, 1 when it leads nowhere,
 * and so the call will fail, -errno.
 */
static int look(walk *w, bool last)
{
	char text[AB_MAX_PATH];
	ssize_t n = w->tree->readlink(w->tree->arg, w->out, text,
				      sizeof(text));

	if (n > 0)
		return splice(w, text, (size_t)n);
	if (n == 0 || (n == -ENOENT && last))
		return 0;
	/* not of the box, but of who asks: nothing at all can be seen */
	if (n == -EACCES && w->parts == 1)
		return -EACCES;
	return n == -ENOENT || n == -EACCES || n == -ENOTDIR ? 1 : (int)n;
}

static int step(walk *w, bool follow)
{
	size_t n = strcspn(w->at, "/"), slashes = strspn(w->at + n, "/");
	const char *name = w->at;
	bool last = !name[n + slashes];
	int r;

	w->at += n + slashes;
	if (n == 1 && name[0] == '.')
		return 0;
	if (n == 2 && name[0] == '.' && name[1] == '.') {
		go_up(w);
		return 0;
	}
	r = go_down(w, name, n);
	/* nothing there is a link that anybody follows */
	if (r || (w->tree->plain && ab_sh_is_below(w->out, w->tree->plain)))
		return r;
	return last && !follow && !slashes ? 0 : look(w, last);
}

/* The kernel's own name of a directory: no link in it is looked for. */
static int begin(walk *w, const char *start)
{
	size_t n = strlen(start);

	if (n >= w->size)
		return -ENAMETOOLONG;
	memcpy(w->out, start, n + 1);
	w->len = n == 1 ? 0 : n;
	w->out[w->len] = '\0';
	w->parts = w->len > 0;
	return 0;
}

ssize_t ab_sh_resolve(const ab_sh_tree *tree, const char *start,
		      const char *path, bool follow, char *out, size_t size)
{
	walk w = { .tree = tree, .out = out, .size = size };
	size_t n = strlen(path);
	int r;

	out[0] = '\0';
	if (path[0] != '/' && start[0] != '/')
		return 0; /* a descriptor that is no directory */
	if (n >= sizeof(w.rest))
		return -ENAMETOOLONG;
	memcpy(w.rest, path, n + 1);
	w.at = w.rest + strspn(w.rest, "/");
	r = path[0] == '/' ? 0 : begin(&w, start);
	while (!r && *w.at) {
		r = step(&w, follow);
		w.at += strspn(w.at, "/");
	}
	if (!r && !w.len)
		go_down(&w, "", 0);
	return r < 0 ? r : r ? 0 : (ssize_t)w.len;
}
