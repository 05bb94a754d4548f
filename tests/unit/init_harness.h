/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Speaks to agentbox-init without the library: plans by hand, the protocol
 * of wire/box.h, one process. For the unit tests of init and its benchmark.
 */
#ifndef INIT_HARNESS_H
#define INIT_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/box.h"
#include "wire/plan.h"

typedef struct ih_box {
	int control, pidfd, spawn, mountinfo, inotify;
	pid_t pid;
	uint32_t walls, pid_one, launcher, landlock_abi;
	char notes[2048];
	char failed_stage[256], failed_message[600];
	int failed_errno;
	uint32_t serial;
	/* the last events seen while waiting for replies */
	char events[8192];
	uint32_t event_kinds[64];
	size_t event_count;
} ih_box;

#define IH_MAX_STEPS 64

/* A plan with room; ih_plan_init fills what every test needs. */
typedef struct ih_plan {
	ab_plan p;
	ab_plan_step steps[IH_MAX_STEPS];
	ab_plan_rule rules[16];
	ab_plan_rlimit rlimits[8];
	ab_plan_watch watches[16];
} ih_plan;

/* /usr and its links, /proc, /dev, /tmp; all namespaces; Landlock; seccomp. */
void ih_plan_init(ih_plan *plan);
ab_plan_step *ih_step(ih_plan *plan, uint32_t kind, const char *target);
/* A bind of an existing host path, with its inode. */
ab_plan_step *ih_bind(ih_plan *plan, const char *source, const char *target,
		      uint32_t flags);
/* Tier landlock of the same plan. */
void ih_plan_flatten(ih_plan *plan);

/* 0, or -errno with failed_* set. helper: path of agentbox-init. */
/* What the host says they are, base/processor.h; NULL: nothing. */
extern const char *ih_processors;
int ih_raise(ih_box *box, const char *helper, const ab_plan *plan);
/* Its hello cannot be sent; returns when it has ended. */
int ih_raise_deaf(const char *helper, const ab_plan *plan);
/* Ends the program as skipped where no box can have namespaces or mounts. */
void ih_needs_namespaces(const char *helper);
/* The same from any plan bytes. */
int ih_raise_bytes(ih_box *box, const char *helper, const void *p, size_t n,
		   bool sealed);
/* A head, then the plan that rest_fd (borrowed) is. */
int ih_raise_two(ih_box *box, const char *helper, const ab_plan *head,
		 int rest_fd);
/* Closes control and waits; true when the helper ended within 2 s. */
bool ih_end(ih_box *box);

typedef struct ih_command {
	const char *const *argv;
	const char *const *envp; /* NULL: PATH and HOME */
	const char *cwd;	 /* NULL: / */
	const int *fds;
	const uint32_t *targets;
	size_t fd_count;
	uint32_t flags, wall_ms;
	uint16_t rows, cols;
	bool big;
} ih_command;

/* The channel, or -errno. */
int ih_spawn(ih_box *box, const ih_command *command);
/* Wait for STARTED: pid, or -errno (with failed_* set). pty may be NULL. */
int ih_started(ih_box *box, int channel, int *pty);
int ih_exited(int channel, ab_msg_exited *m);
int ih_signal(int channel, int signum, bool group);
/* Spawn sh -c, collect at most size-1 bytes of output, wait status or <0. */
int ih_shell(ih_box *box, const char *script, char *out, size_t size);
/* A request and its reply; events on the way are collected. */
int ih_request(ih_box *box, uint32_t kind, uint32_t arg, int fd,
	       ab_msg_reply *reply, int *reply_fd);
bool ih_saw_event(const ih_box *box, uint32_t kind, const char *object);
/* Read control for events until there is one of this kind or the time ends. */
bool ih_wait_event(ih_box *box, uint32_t kind, int timeout_ms);

#endif
