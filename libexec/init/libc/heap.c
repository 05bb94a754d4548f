/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory and directories. Blocks of a power of two, kept in a list per size
 * when they are freed; large ones come from the kernel and go back to it.
 * No process here allocates much: the launcher a few arrays per command,
 * PID 1 a record per command, the holder a name per watched directory.
 * Spec: malloc(3), readdir(3), getdents64(2).
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SMALLEST 5	/* 32 bytes with the head */
#define LARGEST 16	/* from here on each block is a mapping */
#define CHUNK (64u << 10)
#define DIR_BUFFER 32768

typedef struct head {
	size_t size; /* of the whole block */
	struct head *next;
} head;

static head *spare[LARGEST + 1];

static head *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static unsigned class_of(size_t size)
{
	unsigned c = SMALLEST;

	while ((size_t)1 << c < size)
		c++;
	return c;
}

static head *take(unsigned c)
{
	size_t size = (size_t)1 << c;
	head *h = spare[c];

	if (h) {
		spare[c] = h->next;
		return h;
	}
	h = map(CHUNK);
	if (!h)
		return NULL;
	for (size_t at = size; at < CHUNK; at += size) {
		head *other = (head *)((uint8_t *)h + at);

		other->size = size;
		other->next = spare[c];
		spare[c] = other;
	}
	h->size = size;
	return h;
}

void *malloc(size_t n)
{
	size_t size;
	head *h;

	if (n > PTRDIFF_MAX - CHUNK) {
		errno = ENOMEM;
		return NULL;
	}
	size = n + sizeof(head);
	if (size >= (size_t)1 << LARGEST) {
		size = (size + 4095) & ~(size_t)4095;
		h = map(size);
		if (h)
			h->size = size;
	} else {
		h = take(class_of(size));
	}
	return h ? h + 1 : NULL;
}

void free(void *p)
{
	head *h = (head *)p - 1;
	unsigned c;

	if (!p)
		return;
	if (h->size > (size_t)1 << LARGEST ||
	    (h->size == (size_t)1 << LARGEST)) {
		munmap(h, h->size);
		return;
	}
	c = class_of(h->size);
	h->next = spare[c];
	spare[c] = h;
}

void *calloc(size_t count, size_t size)
{
	size_t n;
	void *p;

	if (__builtin_mul_overflow(count, size, &n)) {
		errno = ENOMEM;
		return NULL;
	}
	p = malloc(n);
	return p ? memset(p, 0, n) : NULL;
}

void *realloc(void *p, size_t n)
{
	size_t old = p ? ((head *)p - 1)->size - sizeof(head) : 0;
	void *q;

	if (p && n <= old)
		return p;
	q = malloc(n);
	if (q && p) {
		memcpy(q, p, old);
		free(p);
	}
	return q;
}

char *strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = malloc(n);

	return copy ? memcpy(copy, s, n) : NULL;
}

struct __dirstream {
	int fd;
	size_t at, n;
	_Alignas(struct dirent) char buffer[DIR_BUFFER];
};

DIR *fdopendir(int fd)
{
	DIR *dir = malloc(sizeof(*dir));

	if (!dir)
		return NULL;
	dir->fd = fd;
	dir->at = dir->n = 0;
	return dir;
}

DIR *opendir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* struct dirent is what getdents64 writes, on 64-bit machines */
struct dirent *readdir(DIR *dir)
{
	struct dirent *e;

	if (dir->at >= dir->n) {
		long n = syscall(SYS_getdents64, dir->fd, dir->buffer,
				 sizeof(dir->buffer));

		if (n <= 0)
			return NULL;
		dir->at = 0;
		dir->n = (size_t)n;
	}
	e = (struct dirent *)(void *)(dir->buffer + dir->at);
	dir->at += e->d_reclen;
	return e;
}

int dirfd(DIR *dir)
{
	return dir->fd;
}

int closedir(DIR *dir)
{
	int r = close(dir->fd);

	free(dir);
	return r;
}
