/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * File descriptors: CLOEXEC from birth, EINTR handled here and nowhere else,
 * and never one of 0-2, which a host that closed its standard streams would
 * take for its own. Libc only. Spec: fd.h, STYLE.md section 7.
 */
#include "config.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* linux/memfd.h, 6.3 */
#endif

#define FD_FIRST 3
#define FD_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define SLURP_FIRST 4096u
#define POLL_MAX_MS (INT64_C(1000) * 86400 * 366)

int ab_fd_dup_from(int fd, int min)
{
	int n = fcntl(fd, F_DUPFD_CLOEXEC, min);

	return n < 0 ? -errno : n;
}

int ab_fd_dup(int fd)
{
	return ab_fd_dup_from(fd, FD_FIRST);
}

int ab_fd_make_dir(int dirfd, const char *name, mode_t mode)
{
	if (mkdirat(dirfd, name, mode))
		return errno == EEXIST ? 0 : -errno;
	return fchmodat(dirfd, name, mode, 0) ? -errno : 0;
}

int ab_fd_lift(int fd)
{
	int lifted;

	if (fd < 0 || fd >= FD_FIRST)
		return fd;
	lifted = ab_fd_dup(fd);
	close(fd);
	return lifted;
}

DIR *ab_fd_open_list(int dirfd, const char *path)
{
	int fd = ab_fd_lift(openat(dirfd, path, O_RDONLY | O_DIRECTORY |
				   O_NOFOLLOW | O_CLOEXEC));
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int saved = errno;

	if (!dir && fd >= 0)
		close(fd);
	errno = saved;
	return dir;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

struct dirent *ab_fd_next(DIR *dir, int *error)
{
	struct dirent *e;

	do {
		errno = 0;
		e = readdir(dir);
	} while (e && is_dots(e->d_name));
	if (error)
		*error = e ? 0 : errno;
	return e;
}

ssize_t ab_fd_read_full(int fd, void *p, size_t n)
{
	uint8_t *to = p;
	size_t done = 0;

	while (done < n) {
		ssize_t r = read(fd, to + done, n - done);

		if (r == 0)
			break;
		if (r > 0)
			done += (size_t)r;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)done;
}

int ab_fd_write_full(int fd, const void *p, size_t n)
{
	const uint8_t *from = p;
	size_t done = 0;

	while (done < n) {
		ssize_t r = write(fd, from + done, n - done);

		if (r >= 0)
			done += (size_t)r;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* A directory has no bytes; a device might have no end. */
static int slurp_check(int fd, size_t *hint)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) &&
	    !S_ISSOCK(st.st_mode))
		return -EINVAL;
	*hint = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 0;
	return 0;
}

/*
 * Room for one byte more than was read so far, and for the NUL. The extra
 * byte is how EOF at exactly max is told from a longer file.
 */
static bool slurp_grow(char **data, size_t *cap, size_t max)
{
	size_t limit, want;
	char *grown;

	if (!ab_add_size(max, 2, &limit))
		limit = SIZE_MAX;
	if (!ab_mul_size(*cap, 2, &want) || want > limit)
		want = limit;
	grown = ab_realloc(*data, want, 1);
	if (!grown)
		return false;
	*data = grown;
	*cap = want;
	return true;
}

int ab_fd_slurp(int fd, size_t max, char **out, size_t *n)
{
	ab_autofree char *data = NULL;
	size_t hint = 0, cap, len = 0;
	int r = slurp_check(fd, &hint);

	if (r)
		return r;
	if (hint > max)
		return -EFBIG;
	cap = hint < SLURP_FIRST ? SLURP_FIRST / 2 : hint / 2 + 2;
	for (;;) {
		ssize_t got;

		if (len + 1 >= cap || !data)
			if (!slurp_grow(&data, &cap, max))
				return -ENOMEM;
		got = ab_fd_read_full(fd, data + len, cap - 1 - len);
		if (got < 0)
			return (int)got;
		len += (size_t)got;
		if (len > max)
			return -EFBIG;
		if (len < cap - 1)
			break;
	}
	data[len] = '\0';
	*out = ab_steal(&data);
	*n = len;
	return 0;
}

int ab_fd_poll_many(struct pollfd *fds, size_t n, int64_t timeout_ms)
{
	uint64_t deadline = 0;

	if (timeout_ms > POLL_MAX_MS)
		timeout_ms = POLL_MAX_MS;
	if (timeout_ms >= 0)
		deadline = ab_clock_boot_ns() + (uint64_t)timeout_ms * 1000000u;
	for (;;) {
		struct timespec ts, *wait = NULL;
		int r;

		if (timeout_ms >= 0) {
			int64_t left = ab_clock_left_ms(deadline);

			ts.tv_sec = (time_t)(left / 1000);
			ts.tv_nsec = (long)(left % 1000) * 1000000;
			wait = &ts;
		}
		r = ppoll(fds, (nfds_t)n, wait, NULL);
		if (r >= 0)
			return r;
		if (errno != EINTR)
			return -errno;
	}
}

int ab_fd_poll(int fd, short events, int64_t timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = events};
	int r = ab_fd_poll_many(&p, 1, timeout_ms);

	return r > 0 ? p.revents : r;
}

int ab_fd_seqpacket_pair(int pair[2])
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	fds[0] = ab_fd_lift(fds[0]);
	fds[1] = ab_fd_lift(fds[1]);
	if (fds[0] < 0 || fds[1] < 0) {
		int r = fds[0] < 0 ? fds[0] : fds[1];

		ab_cleanup_fd(&fds[0]);
		ab_cleanup_fd(&fds[1]);
		return r;
	}
	pair[0] = fds[0];
	pair[1] = fds[1];
	return 0;
}

/* Never executable where the kernel knows how to say so (6.3). */
static int memfd_new(const char *name)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd < 0 ? -errno : ab_fd_lift(fd);
}

int ab_fd_memfd_sealed(const char *name, const void *p, size_t n)
{
	ab_autofd int fd = memfd_new(name);
	int r;

	if (fd < 0)
		return fd;
	r = ab_fd_write_full(fd, p, n);
	if (r)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0 || fcntl(fd, F_ADD_SEALS, FD_SEALS))
		return -errno;
	return ab_steal_fd(&fd);
}

bool ab_fd_is_trusted(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) &&
	       (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int ab_fd_stat(int fd, struct stat *st)
{
	/* newer libcs ask by a call that could also name a file, which a helper
	   behind a filter has not; on these the kernel's layout is libc's */
#if defined(__x86_64__) || defined(__aarch64__)
	long r = syscall(SYS_fstat, fd, st);
#else
	int r = fstat(fd, st);
#endif

	return r ? -errno : 0;
}

int ab_fd_check_sealed(int fd, size_t max, size_t *n)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);
	int r;

	if (seals < 0)
		return -errno;
	if ((seals & FD_SEALS) != FD_SEALS)
		return -EPERM;
	r = ab_fd_stat(fd, &st);
	if (r)
		return r;
	if (st.st_size < 0 || (uintmax_t)st.st_size > max)
		return -EFBIG;
	*n = (size_t)st.st_size;
	return 0;
}

int ab_fd_map_sealed(int fd, size_t max, void **map, size_t *n)
{
	int r = ab_fd_check_sealed(fd, max, n);
	void *p;

	if (r || *n == 0)
		return r ? r : -EPROTO;
	p = mmap(NULL, *n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*map = p;
	return 0;
}

int ab_fd_set_nonblock(int fd, int on)
{
	int flags = fcntl(fd, F_GETFL);
	int want;

	if (flags < 0)
		return -errno;
	want = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	if (want != flags && fcntl(fd, F_SETFL, want))
		return -errno;
	return 0;
}

static int socket_option(int fd, int option)
{
	socklen_t n = sizeof(int);
	int value = 0;

	return getsockopt(fd, SOL_SOCKET, option, &value, &n) ? -errno : value;
}

/*
 * connect(2), unix(7): AF_UNSPEC dissolves a datagram socket's connection,
 * and one of TCP; a UNIX stream's stays. A peer that closed leaves ENOTCONN
 * or not, by kernel; nothing is lost with refusing it.
 */
int ab_fd_check_connected_unix(int fd)
{
	struct sockaddr_un peer;
	socklen_t n = sizeof(peer);
	int domain = socket_option(fd, SO_DOMAIN);
	int type = domain < 0 ? domain : socket_option(fd, SO_TYPE);

	if (type < 0)
		return type;
	if (domain != AF_UNIX ||
	    (type != SOCK_STREAM && type != SOCK_SEQPACKET))
		return -EPERM;
	if (getpeername(fd, (struct sockaddr *)(void *)&peer, &n))
		return errno == ENOTCONN ? -EPERM : -errno;
	return 0;
}

int ab_fd_check_unix_name(int fd)
{
	struct sockaddr_un name;
	socklen_t n = sizeof(name);

	if (getsockname(fd, (struct sockaddr *)(void *)&name, &n))
		return -errno;
	return n > sizeof(sa_family_t) ? 0 : -EPERM;
}

int ab_fd_take_unix_name(int fd)
{
	const struct sockaddr_un any = { .sun_family = AF_UNIX };
	int rc = ab_fd_check_unix_name(fd);

	if (rc != -EPERM)
		return rc;
	if (bind(fd, (const struct sockaddr *)(const void *)&any,
		 sizeof(sa_family_t)) < 0 && errno != EINVAL)
		return -errno;
	/* another thread may have been first */
	return ab_fd_check_unix_name(fd);
}
