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
 * alone, whose memory the agent cannot read. So does whatever this program
 * opens and renames itself: see keyed.c.
 * Spec: DESIGN.md section 12, seccomp(2), seccomp_unotify(2).
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
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

#define ONE (struct sock_filter)
#define LOAD(at) ONE BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define IF(op, value, then, other) \
	ONE BPF_JUMP(BPF_JMP | BPF_##op | BPF_K, (value), (then), (other))
#define RETURN(what) ONE BPF_STMT(BPF_RET | BPF_K, (what))

/* Calls that are watched in one way; flags: only with one of `mask`, or
   where a whole argument is not 0 (mask 0). */
typedef struct watched {
	uint32_t set;	    /* AB_WATCH_* */
	int key;	    /* the argument that may hold the key; -1: none */
	int flags;	    /* an argument; -1: each such call */
	uint32_t mask;
	uint32_t calls[16]; /* ends with NONE */
} watched;

#define NONE UINT32_MAX /* no number is that */
#define KEYED 5
#define TO_WRITE (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/*
 * To read is watched on demand alone: every program opens files to read them,
 * and each stop costs. Of two rows for one call the first counts. openat2(2)
 * tells its flags by a pointer; the agent's own filter has none of it
 * (walls/syscalls.c), nor of io_uring.
 */
static const watched table[] = {
	{ AB_WATCH_EXEC, 4, -1, 0, { SYS_execve, NONE } },
	{ AB_WATCH_EXEC, -1, -1, 0, { SYS_execveat, NONE } },
	{ AB_WATCH_CONNECT, -1, -1, 0, { SYS_connect, NONE } },
	{ AB_WATCH_CONNECT, -1, 4, 0, { SYS_sendto, NONE } },
	{ AB_WATCH_CONNECT, -1, 2, MSG_FASTOPEN, { SYS_sendmsg, NONE } },
	{ AB_WATCH_CONNECT, -1, 3, MSG_FASTOPEN, { SYS_sendmmsg, NONE } },
	{ AB_WATCH_READS, KEYED, -1, 0,
	  { SYS_openat,
#ifdef SYS_open
	    SYS_open,
#endif
	    NONE } },
	{ AB_WATCH_PEERS, KEYED, 2, TO_WRITE, { SYS_openat, NONE } },
#ifdef SYS_open
	{ AB_WATCH_PEERS, KEYED, 1, TO_WRITE, { SYS_open, NONE } },
#endif
	{ AB_WATCH_PEERS, KEYED, -1, 0,
	  { SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_unlinkat,
	    SYS_mkdirat, SYS_mknodat, SYS_truncate, SYS_bind,
#ifdef SYS_renameat
	    SYS_renameat,
#endif
	    NONE } },
#ifdef SYS_rename /* the calls that newer machines do without */
	{ AB_WATCH_PEERS, KEYED, -1, 0,
	  { SYS_rename, SYS_link, SYS_symlink, SYS_unlink, SYS_mkdir,
	    SYS_rmdir, SYS_mknod, SYS_creat, NONE } },
#endif
};

typedef struct filter {
	struct sock_filter code[192];
	uint16_t len;
	bool is_full;
} filter;

static void put(filter *f, struct sock_filter one)
{
	if (f->len < AB_ARRAY_LEN(f->code))
		f->code[f->len++] = one;
	else
		f->is_full = true;
}

/* Behind it: what is asked about, whatever the key. */
static void put_question(filter *f, const watched *w, uint64_t key)
{
	if (w->key >= 0) {
		put(f, IF(JEQ, (uint32_t)key, 0, 3));
		put(f, LOAD(HIGH(w->key)));
		put(f, IF(JEQ, (uint32_t)(key >> 32), 0, 1));
		put(f, RETURN(SECCOMP_RET_ALLOW));
	}
	put(f, RETURN(SECCOMP_RET_USER_NOTIF));
}

/* Its flags first: what they have not is not asked about. */
static void put_flags(filter *f, const watched *w)
{
	if (w->flags < 0)
		return;
	put(f, LOAD(LOW(w->flags)));
	if (w->mask) {
		put(f, IF(JSET, w->mask, 1, 0));
	} else {
		put(f, IF(JEQ, 0, 0, 3));
		put(f, LOAD(HIGH(w->flags)));
		put(f, IF(JEQ, 0, 0, 1));
	}
	put(f, RETURN(SECCOMP_RET_ALLOW));
}

/* In front of it the number is loaded, and so it is behind. */
static void put_watched(filter *f, const watched *w, uint64_t key)
{
	uint16_t at;
	uint8_t n = 0;

	while (w->calls[n] != NONE)
		n++;
	for (uint8_t i = 0; i < n; i++)
		put(f, IF(JEQ, w->calls[i], (uint8_t)(n - i), 0));
	at = f->len;
	put(f, ONE BPF_STMT(BPF_JMP | BPF_JA, 0));
	put_flags(f, w);
	if (w->key >= 0)
		put(f, LOAD(LOW(w->key)));
	put_question(f, w, key);
	if (!f->is_full)
		f->code[at].k = (uint32_t)(f->len - at - 1);
}

static int install(uint32_t calls, uint64_t key)
{
	filter f = { .len = 0 };
	struct sock_fprog program = { .filter = f.code };
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
			      SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	long fd;

	put(&f, LOAD(offsetof(struct seccomp_data, arch)));
	put(&f, IF(JEQ, OUR_ARCH, 1, 0));
	put(&f, RETURN(SECCOMP_RET_KILL_PROCESS));
	put(&f, LOAD(offsetof(struct seccomp_data, nr)));
	put(&f, IF(JGE, X32_BIT, 0, 1));
	put(&f, RETURN(SECCOMP_RET_KILL_PROCESS));
	for (size_t i = 0; i < AB_ARRAY_LEN(table); i++)
		if (calls & table[i].set)
			put_watched(&f, &table[i], key);
	put(&f, RETURN(SECCOMP_RET_ALLOW));
	if (f.is_full)
		return -E2BIG;
	program.len = f.len;
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
	init_set_key(box->exec_key);
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
