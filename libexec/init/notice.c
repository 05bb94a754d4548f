/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The filter that asks agentbox-shield about some calls of the box. PID 1
 * takes it before it forks anybody: so there is one listener for the life of
 * the box, which survives every launcher, and a second one is refused by the
 * kernel (EBUSY) as well as by the agent's own filter. That one, which each
 * launcher adds, comes on top: of two answers the kernel takes the stricter,
 * and a refusal is stricter than a question.
 *
 * Without a listener the kernel answers ENOSYS to what is asked about: who
 * ends the shield ends every exec in the box. The launcher's own exec is the
 * host's, which has judged it; it passes a key that is known to agentbox-init
 * alone, whose memory the agent cannot read.
 * Spec: DESIGN.md section 12, seccomp(2), seccomp_unotify(2).
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "wire/message.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

/* linux/seccomp.h as of 5.19 */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5)
#endif

#define X32_BIT 0x40000000u

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARG_LOW 0u
#else
#define ARG_LOW 4u
#endif
#define LOW(i) \
	((uint32_t)offsetof(struct seccomp_data, args) + 8u * (i) + ARG_LOW)
#define HIGH(i) (LOW(i) ^ 4u)

#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define IF(op, value, then, other) \
	BPF_JUMP(BPF_JMP | BPF_##op | BPF_K, (value), (then), (other))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))

static int install(uint32_t calls, uint64_t key)
{
	enum { EXECVE = 8, ASK = 12, ALLOW, KILL };
	const uint32_t none = UINT32_MAX; /* no number is that */
	const bool exec = calls & AB_WATCH_EXEC;
	struct sock_filter code[] = {
		/* 0 */ LOAD(offsetof(struct seccomp_data, arch)),
		/* 1 */ IF(JEQ, OUR_ARCH, 0, KILL - 2),
		/* 2 */ LOAD(offsetof(struct seccomp_data, nr)),
		/* 3 */ IF(JGE, X32_BIT, KILL - 4, 0),
		/* 4 */ IF(JEQ, exec ? SYS_execve : none, EXECVE - 5, 0),
		/* 5 */ IF(JEQ, exec ? SYS_execveat : none, ASK - 6, 0),
		/* 6 */ IF(JEQ, calls & AB_WATCH_CONNECT ? SYS_connect : none,
			   ASK - 7, 0),
		/* 7 */ RETURN(SECCOMP_RET_ALLOW),
		/* EXECVE */ LOAD(LOW(4)),
		/* 9 */ IF(JEQ, (uint32_t)key, 0, ASK - 10),
		/* 10 */ LOAD(HIGH(4)),
		/* 11 */ IF(JEQ, (uint32_t)(key >> 32), ALLOW - 12, 0),
		/* ASK */ RETURN(SECCOMP_RET_USER_NOTIF),
		/* ALLOW */ RETURN(SECCOMP_RET_ALLOW),
		/* KILL */ RETURN(SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {.len = AB_ARRAY_LEN(code),
					   .filter = code};
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
			      SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	long fd;

	_Static_assert(AB_ARRAY_LEN(code) == KILL + 1, "the jumps fit");
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	/* before 5.19: a signal takes the question back, and it comes again */
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	return fd < 0 ? -errno : (int)fd;
}

int init_raise_notices(init_box *box)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_autofd int fd = -1;
	ab_writer w;
	int r;

	if (!box->plan.watched_calls)
		return 0;
	if (getrandom(&box->exec_key, sizeof(box->exec_key), 0) !=
	    sizeof(box->exec_key))
		return init_fail(box, EIO, "", "shield");
	/* of the kernel it is CLOEXEC */
	fd = ab_fd_lift(install(box->plan.watched_calls, box->exec_key));
	if (fd < 0)
		return init_fail(box, -fd,
				 fd == -EBUSY ? "somebody watches the calls of "
						"this host already, and there "
						"can be one only"
					      : "",
				 "shield");
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LINK_NOTICES);
	ab_put_u32(&w, 1);
	r = ab_message_send(box->link_inside_fd, w.data, w.len, &fd, 1, 0);
	if (r)
		return init_fail(box, -r, "", "shield");
	box->walls |= AB_WALL_NOTICES;
	return 0;
}
