/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of a box: PID 1 is killed and the pid namespace with it; where
 * there is none (tier landlock) every descendant is hunted down. Then the
 * cgroups that were made for the box are removed. Nothing else on the host is
 * touched. Spec: DESIGN.md section 2, pid_namespaces(7).
 */
#include "config.h"

#include "holder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"

#define CGROUP_TRIES 100
#define HUNT_ROUNDS 1000

static void nap_ms(long ms)
{
	struct timespec ts = {.tv_nsec = ms * 1000000};

	nanosleep(&ts, NULL);
}

/*
 * As subreaper we inherit whoever a killed process leaves. All are stopped
 * before any is killed, in each round: a killed process makes room for
 * another, and of a chain that grows at its end no round may take only the
 * head. False: some still live, or nobody can say.
 */
static bool hunt(void)
{
	for (int i = 0; i < HUNT_ROUNDS; i++) {
		pid_t r;

		do {
			r = waitpid(-1, NULL, WNOHANG | __WALL);
		} while (r > 0);
		if (r < 0 && errno == ECHILD)
			return true;
		init_kill_below(getpid());
		nap_ms(1);
	}
	return false;
}

/* False: what they do from now on nobody sees. */
static bool end_processes(init_box *box)
{
	if (box->pid_one <= 0)
		return true;
	kill(box->pid_one, SIGKILL);
	if (box->plan.tier >= AB_TIER_LANDLOCK)
		return hunt();
	while (waitpid(box->pid_one, NULL, __WALL) < 0 && errno == EINTR)
		;
	return true;
}

static void remove_cgroup(const char *path)
{
	char file[AB_MAX_PATH + 32];
	int fd;

	/* cgroup v2, 5.14; elsewhere the namespace's end has done it */
	snprintf(file, sizeof(file), "%s/cgroup.kill", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)ab_fd_write_full(fd, "1", 1);
		close(fd);
	}
	for (int i = 0; i < CGROUP_TRIES; i++) {
		if (rmdir(path) == 0 || errno != EBUSY)
			return;
		nap_ms(2);
	}
}

/*
 * Whoever closes an inotify instance last waits some 15 ms for the kernel to
 * have forgotten its watches, and the host waits for our exit. So the last
 * reference is one of the kernel's own: an io_uring's table of files, which a
 * worker takes down after we are gone. A child left behind to close it would
 * be the orphan, and then the zombie, of a host that is PID 1 of a container.
 * Where io_uring is switched off the end just takes longer. Nothing is ever
 * submitted to the ring. io_uring_setup(2), io_uring_register(2).
 */
static void leave_to_kernel(int fd)
{
	enum { REGISTER_FILES = 2, PARAMS_SIZE = 120 };
	_Alignas(8) unsigned char params[PARAMS_SIZE] = {0};
	long ring;

	if (fd < 0)
		return;
	ring = syscall(SYS_io_uring_setup, 1, params);
	if (ring >= 0)
		(void)syscall(SYS_io_uring_register, ring, REGISTER_FILES, &fd,
			      1);
}

_Noreturn void init_end_box(holder *h, const init_failure *failure)
{
	init_box *box = h->box;
	bool is_empty = end_processes(box);

	init_flush_relays(h);
	init_settle_last(h, is_empty);
	for (uint32_t i = 0; i < box->plan.cgroup_count; i++)
		remove_cgroup(box->plan.cgroups[i]);
	/* last: who hears of the failure may rely on nothing being left */
	if (failure)
		init_send_failure(box, box->control_fd);
	leave_to_kernel(box->inotify_fd);
	_exit(failure ? 1 : 0);
}

_Noreturn void init_end_unheard(init_box *box)
{
	static holder h;

	h.box = box;
	init_end_box(&h, NULL);
}
