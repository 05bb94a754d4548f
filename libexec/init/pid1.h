/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What PID 1 keeps: its commands, the launcher's life and the timers. */
#ifndef AB_INIT_PID1_H
#define AB_INIT_PID1_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "init.h"

/* One command: a session leader whose channel the host waits on. */
typedef struct command {
	struct command *next;
	pid_t pid;
	int channel_fd; /* -1: closed */
	bool has_ended;
	int status;
	uint32_t reason;
	uint64_t started_ns, ended_ns, deadline_ns;
	struct rusage usage;
} command;

typedef struct pid_one {
	init_box *box;
	int epoll_fd, signal_fd;
	command *commands;
	uint64_t command_count, spawn_count;
	bool has_ended; /* one of them; its message is to be sent */
	/* the command in flight ended before it was registered */
	struct {
		pid_t pid; /* 0: none */
		int status;
		uint64_t ended_ns;
		struct rusage usage;
	} early;
	pid_t launcher_pid;
	uint64_t relaunch_ns, relaunch_count, relaunch_total, relaunch_at_ns;
	uint64_t poll_at_ns;
} pid_one;

void init_kill_command(command *c, uint32_t reason);

/* limits.c: polled limits, where the kernel has no hard ones. */
void init_prepare_polling(pid_one *one);
void init_poll_limits(pid_one *one, uint64_t now_ns);

#endif
