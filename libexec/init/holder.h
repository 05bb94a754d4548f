/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the holder keeps, and the files it is made of. */
#ifndef AB_INIT_HOLDER_H
#define AB_INIT_HOLDER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "init.h"

#define INIT_MAX_RELAYS 64

typedef struct relay relay;
typedef struct watcher watcher;

typedef struct holder {
	init_box *box;
	bool is_ready;
	bool link_closed;
	int plan_fd; /* not read yet, or -1 */
	int signal_fd; /* of those that ask it to end */
	relay *relays[INIT_MAX_RELAYS];
	watcher *watcher;
} holder;

/* end.c: kill everything below, clean up, exit. failure may be NULL. */
_Noreturn void init_end_box(holder *h, const init_failure *failure);

/* relay.c */
/* arg: of AB_MSG_RELAY */
int init_add_relay(holder *h, int file_fd, uint32_t arg, int *pipe_fd);
size_t init_poll_relays(holder *h, struct pollfd *fds);
void init_serve_relays(holder *h, const struct pollfd *fds, size_t n);
/* Everything that is in a pipe now reaches its file before this returns. */
void init_flush_relays(holder *h);
/* The same for the relays of a group, which then end. */
void init_end_relays(holder *h, uint32_t group);

/* watch.c */
int init_start_watching(holder *h);
/* Quarantine and re-protect; values: quarantined, reprotected, failed. */
int init_settle(holder *h, uint64_t values[4]);
/* The box is ready: look after its mounts from now on. 0 or -1 and why. */
int init_start_guarding(holder *h, int mountinfo_fd);
/* Two entries of a poll set, and what to do when it returns. */
#define INIT_GUARD_FDS 2
int64_t init_poll_guard(const holder *h, struct pollfd *fds);
void init_serve_guard(holder *h, const struct pollfd *fds);
/* PID 1 says that nobody of the agent's is left. */
void init_on_quiet(holder *h);
/* The box is dead: what it left behind is quarantined too. is_empty: and no
   process of it lives. */
void init_settle_last(holder *h, bool is_empty);

/* remount.c: the mount table of PID 1, a new one each time; or -errno */
int init_open_mountinfo(const watcher *w);
/* Takes both fds: the user and the mount namespace of the box. */
void init_keep_namespaces(watcher *w, const int fds[2]);

#endif
