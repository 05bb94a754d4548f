/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * File descriptors: every one is CLOEXEC from birth, EINTR is handled here
 * and nowhere else. Functions return 0/bytes/fd or -errno (internal form;
 * public functions turn it into an agentbox_error).
 */
#ifndef AB_BASE_FD_H
#define AB_BASE_FD_H

#include <dirent.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"

/* dup to an fd >= 3, CLOEXEC. */
int ab_fd_dup(int fd);
/* dup to an fd >= min, CLOEXEC. */
int ab_fd_dup_from(int fd, int min);
/*
 * Move a fresh owned fd out of 0-2, where a host that closed its standard
 * streams would make it land; closed on failure. Passes -errno through.
 */
int ab_fd_lift(int fd);
/* mkdirat(2) with this mode whatever the umask is; 0 also where there is a
   directory of that name, which stays as it is, or -errno. */
int ab_fd_make_dir(int dirfd, const char *name, mode_t mode);
/*
 * The entries of a directory, no link, by an offset of their own: "." lists
 * one that stays open. closedir(3) it; NULL with errno.
 */
DIR *ab_fd_open_list(int dirfd, const char *path);
/*
 * The next entry but "." and ".."; NULL at the end. A list that broke off was
 * not read to its end: *error is its errno then, else 0. Whoever only tidies up
 * passes NULL.
 */
struct dirent *ab_fd_next(DIR *dir, int *error);
/* Whole transfer or error; read stops at EOF and returns the count. */
ssize_t ab_fd_read_full(int fd, void *p, size_t n);
int ab_fd_write_full(int fd, const void *p, size_t n);
/*
 * Everything up to `max` bytes as NUL-terminated owned memory; -EFBIG past
 * it, -EISDIR/-EINVAL when fd is not a regular file, pipe or socket.
 */
int ab_fd_slurp(int fd, size_t max, char **out, size_t *n);
/* poll() one fd; timeout in ms, -1 for ever. >0 revents, 0 timeout. */
int ab_fd_poll(int fd, short events, int64_t timeout_ms);
/* The same for several: the count of ready ones, 0 on timeout. */
int ab_fd_poll_many(struct pollfd *fds, size_t n, int64_t timeout_ms);
/* SOCK_SEQPACKET, CLOEXEC pair. */
int ab_fd_seqpacket_pair(int pair[2]);
/* memfd with p,n, sealed SEAL|SHRINK|GROW|WRITE, offset 0. */
int ab_fd_memfd_sealed(const char *name, const void *p, size_t n);
struct stat;
/* fstat(2) itself, never by the call that takes a path, too; 0 or -errno. */
int ab_fd_stat(int fd, struct stat *st);
/*
 * Nobody but root and the caller could have written it. Whoever can write a
 * program, or put another in its place, runs code with the rights of who
 * starts it. Named ACL entries count: their mask is the group bits.
 */
bool ab_fd_is_trusted(const struct stat *st);
/*
 * 0 when fd is a memfd with all four seals and at most max bytes (size out).
 * -EINVAL: not a memfd; -EPERM: a seal is missing; -EFBIG: over max.
 */
int ab_fd_check_sealed(int fd, size_t max, size_t *n);
/* The same, mapped to be read, munmap(2) by the caller; -EPROTO: empty. */
int ab_fd_map_sealed(int fd, size_t max, void **map, size_t *n);
int ab_fd_set_nonblock(int fd, int on);
/*
 * 0 when fd is a connected UNIX stream or seqpacket socket, which reaches its
 * one peer for ever; -EPERM for any other, which its holder can send
 * elsewhere in the network namespace it was made in; else -errno.
 */
int ab_fd_check_connected_unix(int fd);
/*
 * Such a socket without a name can be given a free one of the abstract names
 * of the network namespace it was made in by whoever holds it, once. 0 when
 * it has one; -EPERM when not; else -errno.
 */
int ab_fd_check_unix_name(int fd);
/*
 * Gives it a name nobody has, so that nobody else can: bind(2) without an
 * address, unix(7), "Autobind feature". 0 also when it had one.
 */
int ab_fd_take_unix_name(int fd);

#endif
