/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an owner and a remote say to each other, over SOCK_SEQPACKET. Each
 * request is u32 kind, u32 fd count, u32 serial, then its fields; each answer
 * AB_OWNER_ANSWER, u32 fd count, the request's serial, i32 code, bytes text. A
 * request's text or command is in a sealed memfd, and so is the text of an
 * answer that is long: then the answer carries one fd and empty bytes.
 *
 * A spawn's channel speaks wire/box.h, with the owner in the launcher's and
 * PID 1's place and one message more: AB_MSG_FAILED right before AB_MSG_EXITED
 * says that the command has ended with this status, but protected paths could
 * not be settled after it.
 */
#ifndef AB_OWNER_PROTOCOL_H
#define AB_OWNER_PROTOCOL_H

#include <stdbool.h>
#include <sys/types.h>

#include "agentbox/owner.h"
#include "base/hash.h"
#include "wire/codec.h"

#define AB_OWNER_ANSWER 200u
#define AB_OWNER_LIST 201u   /* no fields */
#define AB_OWNER_CALL 202u   /* fd: memfd with the JSON text */
#define AB_OWNER_SPAWN 203u  /* str box; fds: channel, memfd, descriptors */
#define AB_OWNER_KILL 204u   /* str box */
#define AB_OWNER_REVOKE 205u /* str identity; text: JSON as of the header */
#define AB_OWNER_FORGET 206u /* str secret; the same */

#define AB_OWNER_MAX_TEXT (1u << 20)
#define AB_OWNER_MAX_COMMAND (4u << 20)
#define AB_OWNER_MAX_CLIENTS 64
#define AB_OWNER_MAX_REQUESTS 64
#define AB_OWNER_MAX_NAME 64
/* Sockets are PID-EPOCH, with a '.' in front until they listen. */
#define AB_OWNER_EPOCH_LEN 16
/* At most this long for a connect, a send, and the answer to a list. */
#define AB_OWNER_CONNECT_MS 5000
#define AB_OWNER_DIR "owners"

/* Letters, digits, '.', '_', '-'; no leading '.'; 1 to 64 bytes. */
bool ab_owner_name_ok(const char *name);

/* The directory of owners' sockets, made 0700; owned fd, for reading. */
int32_t ab_owner_open_dir(agentbox_context *context, int *dirfd,
			  agentbox_error **err);

/*
 * A socket address below `dirfd` that fits sun_path whatever the directory's
 * length is. 0 or -errno.
 */
struct sockaddr_un;
int ab_owner_address(int dirfd, const char *name, struct sockaddr_un *out);
/*
 * Connect and check that the peer is ours. fd or -errno; -EAGAIN when
 * the owner took no connection within AB_OWNER_CONNECT_MS, as for sends on
 * the fd. -ECONNREFUSED: nobody listens.
 */
int ab_owner_connect(int dirfd, const char *name);
/* PID-EPOCH, and no process of our pid namespace has that number. */
bool ab_owner_process_is_gone(const char *name);
/*
 * Remove the sockets of owners that died without tidying up: their process is
 * gone and nobody listens. What cannot be told stays. Never waits.
 */
void ab_owner_sweep(int dirfd);
/* The process at the other end is this user's and lives in our user
   namespace: no box. */
bool ab_owner_peer_is_ours(int fd);

#endif
