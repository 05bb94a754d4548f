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
	uint32_t relays; /* which end with it; 0: none */
	uint64_t oom_seen; /* kills of the memory limit before it started */
	/* what descends from it is being ended; its end is told after that */
	uint32_t looks_left;
	uint64_t hunt_end_ns;
} command;

typedef struct pid_one {
	init_box *box;
	int epoll_fd, signal_fd;
	command *commands;
	uint64_t command_count, spawn_count;
	bool has_ended; /* one of them; its message is to be sent */
	uint64_t registered_ns; /* started_ns of the last one registered */
	/* the command in flight ended before it was registered */
	struct {
		pid_t pid; /* 0: none */
		int status;
		uint64_t started_ns, ended_ns;
		struct rusage usage;
	} early;
	/* the counter of our cgroup's OOM killer, or -1, and its last value */
	int oom_fd;
	uint64_t oom_count;
	pid_t launcher_pid;
	pid_t first_pid; /* of the one that first.c has made */
	uint64_t replaced_ns; /* when the launcher that runs took over */
	bool is_killing; /* nobody is continued or replaced meanwhile */
	uint64_t relaunch_ns, relaunch_count, relaunch_total, relaunch_at_ns;
	uint64_t poll_at_ns;
	/* descent.c: the next look, and how long after it another */
	uint64_t hunt_at_ns, hunt_wait_ns;
	uint64_t over_at_ns;  /* the first time limit that ends; 0: none */
	uint32_t looks_left; /* for who has outlived his time limit */
	uint64_t quiet_at_ns; /* the holder hears then that somebody ended */
} pid_one;

/* With all that descends from it. */
void init_kill_command(pid_one *one, command *c, uint32_t reason);
/* Everybody in the box, the launcher too, which is replaced. 0 or -errno. */
int init_kill_all(pid_one *one, uint32_t reason);

/* descent.c: what descends from a command. */
/* What is of this command shall end; it is held back until then. */
void init_start_hunt(pid_one *one, command *c);
/* At this time something has to be ended that outlived its command. */
void init_keep_time(pid_one *one, uint64_t over_ns);
/* One look, or two: kill whom it finds, and say when to look again. */
void init_hunt(pid_one *one, uint64_t now_ns);
/* The command that pid descends from and that has not ended, or NULL. */
command *init_owner_of(pid_one *one, pid_t pid);

/* limits.c: polled limits, where the kernel has no hard ones. */
void init_prepare_polling(pid_one *one);
void init_poll_limits(pid_one *one, uint64_t now_ns);
/* Before the host's tree is left. A box without such a cgroup has none. */
void init_open_oom_counter(pid_one *one);
uint64_t init_count_oom_kills(const pid_one *one);

#endif
