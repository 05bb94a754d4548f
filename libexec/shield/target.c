/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading from a process that waits in a call. A number may be another's by
 * the time it is used, so what was read is believed only when the kernel says
 * afterwards that the notice is still open: then it was that process all the
 * time, for it cannot end or be reused while it waits (seccomp_unotify(2)).
 * What its other threads write meanwhile is theirs: nothing read here is what
 * the kernel will see.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"
#include "state.h"

#define PAGE AB_PAGE
/* Pointers of argv that are read at once, and bytes of each at first. */
#define BATCH 64u
#define FIRST 128u

/* linux/pidfd.h as of 6.13: kernel ABI */
#define PIDFD_OF_THREAD O_EXCL
#define PID_INFO_PID 1u

typedef struct pid_info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8], exit_code;
} pid_info;

static_assert(sizeof(pid_info) == _IOC_SIZE(AB_PIDFD_GET_INFO),
	      "the kernel's first one");

bool ab_caller_is_valid(const ab_caller *t)
{
	uint64_t id = t->notice;

	return ioctl(t->sh->notify_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* Not past the end of a page, which may be the last one there is. */
static size_t to_page_end(uint64_t address, size_t n)
{
	size_t left = PAGE - (size_t)(address % PAGE);

	return n < left ? n : left;
}

static ssize_t read_memory(const ab_caller *t, uint64_t address, void *out,
			   size_t n)
{
	struct iovec local = { .iov_base = out, .iov_len = n };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address,
				.iov_len = n };
	ssize_t got = process_vm_readv(t->pid, &local, 1, &remote, 1, 0);

	return got < 0 ? -errno : got;
}

/* A string into the room that is left; *cut when it is longer than that. */
static int read_string(const ab_caller *t, uint64_t address, const char **out,
		       size_t *len, bool *cut)
{
	ab_sh *sh = t->sh;
	char *start = sh->bytes + sh->used, *at = start;

	for (;;) {
		size_t room = sizeof(sh->bytes) - sh->used;
		ssize_t got;
		char *end;

		*cut = room == 0;
		if (*cut)
			break;
		got = read_memory(t, address, at, to_page_end(address, room));
		if (got <= 0)
			return got ? (int)got : -EFAULT;
		end = memchr(at, '\0', (size_t)got);
		sh->used += end ? (size_t)(end - at) + 1 : (size_t)got;
		at = end ? end : at + got;
		address += (uint64_t)got;
		if (end)
			break;
	}
	*out = start;
	*len = (size_t)(at - start);
	return 0;
}

/*
 * The beginnings of some strings in one call; those that are whole count. What
 * the kernel does for each piece costs more than what it copies, and arguments
 * lie side by side: those that touch, in one page, are one piece.
 */
typedef struct beginnings {
	char bytes[(BATCH + 1) * FIRST]; /* a string adds no more than FIRST */
	struct iovec pieces[BATCH + 1];
	size_t piece_count;
	const char *at[BATCH + 1];
	size_t len[BATCH + 1]; /* SIZE_MAX: not whole */
} beginnings;

/* The piece that these bytes were made part of, or a new one. */
static size_t add_piece(beginnings *b, uint64_t address, size_t size)
{
	size_t i = 0;

	for (; i < b->piece_count; i++) {
		struct iovec *v = &b->pieces[i];
		uint64_t start = (uintptr_t)v->iov_base;
		uint64_t end = start + v->iov_len;

		if (address / PAGE != start / PAGE || address > end ||
		    address + size < start)
			continue;
		if (address < start)
			start = address;
		if (end < address + size)
			end = address + size;
		*v = (struct iovec){ (void *)(uintptr_t)start, end - start };
		return i;
	}
	b->pieces[b->piece_count++] =
		(struct iovec){ (void *)(uintptr_t)address, size };
	return i;
}

/* Where a string is whole in what was read of its piece. */
static void find_end(beginnings *b, size_t i, const char *piece,
		     uint64_t address, uint64_t start, size_t size)
{
	size_t skip = (size_t)(address - start);
	const char *end = skip < size ? memchr(piece + skip, '\0', size - skip)
				      : NULL;

	b->at[i] = piece + skip;
	b->len[i] = end ? (size_t)(end - b->at[i]) : SIZE_MAX;
}

static void read_beginnings(const ab_caller *t, const uint64_t *at, size_t n,
			    beginnings *b)
{
	struct iovec local = { .iov_base = b->bytes };
	uint8_t piece[BATCH + 1];
	size_t done[BATCH + 2] = { 0 };
	ssize_t got;

	b->piece_count = 0;
	for (size_t i = 0; i < n; i++)
		piece[i] = (uint8_t)add_piece(b, at[i],
					      to_page_end(at[i], FIRST));
	for (size_t i = 0; i < b->piece_count; i++)
		done[i + 1] = done[i] + b->pieces[i].iov_len;
	local.iov_len = done[b->piece_count];
	got = process_vm_readv(t->pid, &local, 1, b->pieces, b->piece_count, 0);
	for (size_t i = 0; i < n; i++) {
		const struct iovec *v = &b->pieces[piece[i]];
		size_t from = done[piece[i]];
		size_t have = got > (ssize_t)from ? (size_t)got - from : 0;

		find_end(b, i, b->bytes + from, at[i], (uintptr_t)v->iov_base,
			 have < v->iov_len ? have : v->iov_len);
	}
}

/* The same from what was read already: whether all of them are whole there. */
static bool find_beginnings(const ab_sh *sh, const uint64_t *at, size_t n,
			    beginnings *b)
{
	for (size_t i = 0; i < n; i++) {
		size_t left = 0;
		const char *start = ab_pages_find(sh, at[i], &left);
		const char *end = start ? memchr(start, '\0', left) : NULL;

		if (!end)
			return false;
		b->at[i] = start;
		b->len[i] = (size_t)(end - start);
	}
	return true;
}

static int take_string(const ab_caller *t, const beginnings *b, size_t i,
		       uint64_t address, const char **out, size_t *len,
		       bool *cut)
{
	ab_sh *sh = t->sh;
	size_t n = b->len[i];

	if (n == SIZE_MAX || sizeof(sh->bytes) - sh->used < n + 1)
		return read_string(t, address, out, len, cut);
	*out = memcpy(sh->bytes + sh->used, b->at[i], n + 1);
	*len = n;
	sh->used += n + 1;
	return 0;
}

/* Pointers to the end of the page, from what was read already; their bytes. */
static ssize_t find_pointers(const ab_caller *t, uint64_t address,
			     uint64_t out[BATCH])
{
	size_t left = 0;
	const char *from = ab_pages_find(t->sh, address, &left);

	if (left > BATCH * sizeof(*out))
		left = BATCH * sizeof(*out);
	if (!from || left < sizeof(*out))
		return 0;
	memcpy(out, from, left);
	return (ssize_t)left;
}

/* Up to BATCH of argv; *last when its end is among them. -errno. */
static int read_pointers(const ab_caller *t, uint64_t address,
			 uint64_t out[BATCH], size_t *n, bool *last)
{
	size_t bytes = to_page_end(address, BATCH * sizeof(*out));
	ssize_t got = find_pointers(t, address, out);

	/* a pointer may lie across two pages */
	if (bytes < sizeof(*out))
		bytes = sizeof(*out);
	if (!got)
		got = read_memory(t, address, out, bytes);
	if (got < (ssize_t)sizeof(*out))
		return got < 0 ? (int)got : -EFAULT;
	*n = (size_t)got / sizeof(*out);
	*last = false;
	for (size_t i = 0; i < *n && !*last; i++) {
		if (out[i] == 0) {
			*n = i;
			*last = true;
		}
	}
	return 0;
}

/* A batch of argv, after the file's name when that was not read yet. */
static int read_batch(const ab_caller *t, uint64_t path, const uint64_t *at,
		      size_t n, ab_exec *out, bool *cut)
{
	uint64_t all[BATCH + 1] = { path };
	size_t first = path != 0;
	AB_UNINITIALIZED beginnings b;
	int r = 0;

	memcpy(all + first, at, n * sizeof(*at));
	if (!find_beginnings(t->sh, all, n + first, &b))
		read_beginnings(t, all, n + first, &b);
	if (first)
		r = take_string(t, &b, 0, path, &out->path, &out->path_len,
				cut);
	for (size_t i = 0; i < n && !r && !*cut; i++) {
		if (out->count == AB_EXEC_MAX_ARGS) {
			*cut = true;
			break;
		}
		r = take_string(t, &b, first + i, at[i],
				&t->sh->args[out->count],
				&t->sh->lens[out->count], cut);
		out->count += !r;
	}
	return r;
}

static int read_all(const ab_caller *t, uint64_t path, uint64_t argv,
		    ab_exec *out, bool *cut)
{
	uint64_t at[BATCH];
	bool last = argv == 0; /* execve(2): the same as an empty one */
	size_t n = 0;
	int r;

	do {
		r = argv ? read_pointers(t, argv, at, &n, &last) : 0;
		if (!r)
			r = read_batch(t, path, at, n, out, cut);
		if (!r && path)
			ab_pages_learn(t->sh, path, argv, at, n);
		path = 0;
		argv += n * sizeof(*at);
	} while (!r && !last && !*cut);
	return r;
}

int ab_caller_read_exec(const ab_caller *t, uint64_t path, uint64_t argv,
			ab_exec *out, uint32_t *flags)
{
	ab_sh *sh = t->sh;
	bool cut = false;
	int r;

	sh->used = 0;
	*out = (ab_exec){ .path = "", .args = sh->args, .lens = sh->lens,
			  .decision = &sh->decision };
	if (path == 0)
		return -EFAULT;
	ab_pages_read(t, path, argv);
	r = read_all(t, path, argv, out, &cut);
	if (cut)
		*flags |= AB_SHIELD_CUT;
	return r;
}

int ab_caller_read_text(const ab_caller *t, uint64_t address,
			const char **out)
{
	bool cut = false;
	size_t n;
	int r = read_string(t, address, out, &n, &cut);

	return r ? r : cut ? -ENAMETOOLONG : 0;
}

int ab_caller_read(const ab_caller *t, uint64_t address, void *out, size_t n)
{
	ssize_t got = read_memory(t, address, out, n);

	return got < 0 ? (int)got : (size_t)got == n ? 0 : -EFAULT;
}

pid_t ab_caller_leader(const ab_caller *t)
{
	pid_info info = { .mask = PID_INFO_PID };
	ab_autofd int fd = (int)syscall(SYS_pidfd_open, t->pid,
					PIDFD_OF_THREAD);

	if (fd < 0 || ioctl(fd, AB_PIDFD_GET_INFO, &info) < 0 ||
	    !(info.mask & PID_INFO_PID))
		return t->pid;
	return (pid_t)info.tgid;
}

ssize_t ab_caller_link(const ab_caller *t, const char *name, char *out,
		       size_t size)
{
	char path[64], *at = path + 16;
	size_t len = strlen(name) + 1;
	ssize_t n;

	out[0] = '\0';
	/* without a number it would be a path from the root */
	if (t->pid <= 0)
		return -ESRCH;
	if (len > sizeof(path) - 16)
		return -ENAMETOOLONG;
	/* "PID/NAME", and no more work than that */
	memcpy(at, name, len);
	*--at = '/';
	for (uint32_t pid = (uint32_t)t->pid; pid; pid /= 10)
		*--at = (char)('0' + pid % 10);
	n = readlinkat(t->sh->proc_fd, at, out, size - 1);
	if (n < 0)
		n = -errno;
	else if (n == 0 || (size_t)n == size - 1)
		n = -ENAMETOOLONG; /* the kernel names everything */
	out[n > 0 ? n : 0] = '\0';
	return n;
}

ssize_t ab_caller_cwd(const ab_caller *t, const char **out)
{
	ab_sh *sh = t->sh;

	if (sh->cwd_notice != t->notice || sh->cwd_len <= 0) {
		sh->cwd_len = ab_caller_link(t, "cwd", sh->cwd,
					     sizeof(sh->cwd));
		sh->cwd_notice = t->notice;
	}
	*out = sh->cwd;
	return sh->cwd_len;
}
