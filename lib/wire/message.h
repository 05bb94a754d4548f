/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One datagram on a SOCK_SEQPACKET socket with its file descriptors. A
 * receiver says exactly how many fds it expects at most and learns how many
 * came; MSG_TRUNC, MSG_CTRUNC, foreign control data or a different count
 * close all received fds and give -EPROTO, because a receiver with stale fd
 * numbers is a hole (RECIPES.md section 2).
 *
 * Compiled into the library and into every helper: libc only. -errno form.
 */
#ifndef AB_WIRE_MESSAGE_H
#define AB_WIRE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* First u32 of every message: its kind; second: the number of fds with it. */
#define AB_MESSAGE_HEADER 8

/* Send; fds are borrowed. flags: 0 or MSG_DONTWAIT. 0 or -errno. */
int ab_message_send(int sock, const void *p, size_t n, const int *fds,
		    size_t fd_count, int flags);
/*
 * Receive one datagram: bytes into p, fds (CLOEXEC) into fds. Returns the
 * size, 0 at end of stream, -EAGAIN with MSG_DONTWAIT, -EPROTO as above.
 */
ssize_t ab_message_recv(int sock, void *p, size_t size, int *fds,
			size_t max_fds, size_t *fd_count, int flags);

/*
 * hello: the first message of every helper.
 * u32 kind, u32 fds=1, str build_id, str name; fd: the helper's own pidfd.
 */
#define AB_MSG_HELLO 1u
int ab_message_send_hello(int sock, const char *build_id, const char *name,
			  int pidfd);
/*
 * Instead of it, from a helper that cannot say it: u32 kind, u32 fds=0,
 * i32 errno, str scheduling: what of it could not be made as that of others,
 * or "". Sent last, so errors are ignored.
 */
#define AB_MSG_NO_HELLO 2u
void ab_message_send_no_hello(int sock, int sys_errno, const char *scheduling);

#endif
