/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notices of the kernel and their answers. Each is judged, told to the host
 * and then answered. With an audit the record is handed over before the
 * caller goes on: where the host does not read, what waits is bounded, then
 * nothing more is taken from the kernel (the callers just wait), and after a
 * while it is refused, and so is what comes then, until he reads again.
 * Without one a record that finds no room is counted.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "policy/policy.h"
#include "state.h"
#include "wire/helper.h"
#include "wire/message.h"

#define NS_PER_MS UINT64_C(1000000)

void ab_sh_answer(ab_sh *sh, uint64_t notice, int error)
{
	struct seccomp_notif_resp a = {
		.id = notice,
		.error = error,
		.flags = error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE,
	};

	/* ENOENT: it was killed meanwhile */
	(void)ioctl(sh->notify_fd, SECCOMP_IOCTL_NOTIF_SEND, &a);
}

/* --- telling -------------------------------------------------------------- */

/* `record`: the bytes that were told. */
static void settle(ab_sh *sh, uint32_t answer, uint64_t ask, uint64_t notice,
		   const uint8_t *record, size_t n)
{
	if (answer == AB_SHIELD_ASKED &&
	    ab_sh_add_ask(sh, ask, notice, record, n))
		return;
	if (notice)
		ab_sh_answer(sh, notice, answer == AB_SHIELD_LET ? 0
								 : -EACCES);
}

/* True: sent, or the host is gone and so are we. */
static bool try_send(ab_sh *sh, const uint8_t *p, size_t n, int flags)
{
	int r = ab_message_send(AB_HELPER_CONTROL_FD, p, n, NULL, 0, flags);

	if (r == -EAGAIN || r == -ENOBUFS || r == -ENOMEM)
		return false;
	if (r)
		_exit(0);
	sh->is_unheard = false;
	return true;
}

/* Its record is kept until the host reads; false: there is no room. */
static bool wait_for_host(ab_sh *sh, const ab_shield_record *m,
			  const ab_writer *w, uint64_t notice)
{
	ab_sh_waiting *to;
	uint8_t *copy;

	if (sh->is_unheard || sh->waiting_count == AB_WAITING_MAX)
		return false;
	copy = ab_calloc(1, w->len);
	if (!copy)
		return false;
	memcpy(copy, w->data, w->len);
	if (!sh->waiting_count)
		sh->stuck_at = ab_clock_boot_ns() + AB_WAITING_MS * NS_PER_MS;
	to = &sh->waiting[(sh->waiting_first + sh->waiting_count++) %
			  AB_WAITING_MAX];
	*to = (ab_sh_waiting){ notice, m->answer, w->len, copy, m->id };
	return true;
}

bool ab_sh_deliver(ab_sh *sh, ab_shield_record *m, uint64_t notice)
{
	uint8_t memory[AB_SHIELD_MAX_RECORD + 2048];
	bool must = sh->is_audited || m->answer == AB_SHIELD_ASKED;
	/* who asks reads until he is answered: there will be room */
	int flags = notice ? MSG_DONTWAIT : 0;
	ab_writer w;

	if (!notice)
		ab_sh_flush(sh, flags);
	m->lost = sh->lost;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_shield_record_put(&w, m);
	/* before the answer: who saw the command end has it */
	if (!w.bad && (!must || !sh->waiting_count) &&
	    try_send(sh, w.data, w.len, flags)) {
		sh->lost = 0;
		settle(sh, m->answer, m->id, notice, w.data, w.len);
	} else if (!w.bad && !must) {
		/* it may be lost, so nobody has to wait for it */
		sh->lost++;
		settle(sh, m->answer, 0, notice, NULL, 0);
	} else if (w.bad || !notice || !wait_for_host(sh, m, &w, notice)) {
		settle(sh, AB_SHIELD_REFUSED, 0, notice, NULL, 0);
		return false;
	}
	return true;
}

static void end_first(ab_sh *sh, uint32_t answer)
{
	ab_sh_waiting *w = &sh->waiting[sh->waiting_first];

	settle(sh, answer, w->ask, w->notice, w->record, w->len);
	free(w->record);
	sh->waiting_first = (sh->waiting_first + 1) % AB_WAITING_MAX;
	sh->waiting_count--;
	sh->stuck_at = ab_clock_boot_ns() + AB_WAITING_MS * NS_PER_MS;
}

void ab_sh_flush(ab_sh *sh, int flags)
{
	while (sh->waiting_count) {
		const ab_sh_waiting *w = &sh->waiting[sh->waiting_first];

		if (!try_send(sh, w->record, w->len, flags))
			return;
		end_first(sh, w->answer);
	}
}

uint64_t ab_sh_next_end(const ab_sh *sh)
{
	uint64_t at = ab_sh_next_ask(sh);

	if (sh->waiting_count && (!at || sh->stuck_at < at))
		at = sh->stuck_at;
	return at;
}

void ab_sh_expire(ab_sh *sh, uint64_t now)
{
	ab_sh_expire_asks(sh, now);
	if (!sh->waiting_count || sh->stuck_at > now)
		return;
	/* not recorded, not let through */
	sh->is_unheard = true;
	while (sh->waiting_count)
		end_first(sh, AB_SHIELD_REFUSED);
}

/* --- a notice ------------------------------------------------------------- */

static uint32_t answer_for(ab_sh *sh, uint32_t verdict)
{
	if (verdict == AGENTBOX_VERDICT_ALLOW || sh->mode == AB_SHIELD_AUDIT)
		return AB_SHIELD_LET;
	if (sh->mode == AB_SHIELD_ASK && verdict == AGENTBOX_VERDICT_ASK &&
	    ab_sh_may_ask(sh))
		return AB_SHIELD_ASKED;
	return AB_SHIELD_REFUSED;
}

/* 0, or -errno, which is the answer then. */
static int look(ab_sh *sh, const struct seccomp_notif *n,
		ab_shield_record *m, ab_exec_finding *f, bool *quiet)
{
	const ab_caller t = { sh, (pid_t)n->pid, n->id };
	int r = 0;

	if (n->data.nr == SYS_execve || n->data.nr == SYS_execveat)
		r = ab_sh_look_at_exec(&t, n, m, f);
	else if (!ab_sh_look_at_place(&t, n, m, f, quiet))
		_exit(1); /* nobody asks about such a call */
	*quiet |= r != 0;
	return r;
}

/*
 * Of who waits no longer nothing is told, for nothing goes on, and what was
 * read may be another's. Where nothing is told anyway the answer finds no such
 * notice: one call less.
 */
static bool is_waiting(ab_sh *sh, const struct seccomp_notif *n)
{
	const ab_caller t = { .sh = sh, .notice = n->id };

	return ab_caller_is_valid(&t);
}

static void on_call(ab_sh *sh, const struct seccomp_notif *n)
{
	ab_exec_finding f = { .verdict = AGENTBOX_VERDICT_DENY };
	ab_shield_record m = { .kind = AB_SHIELD_EXEC, .pid = n->pid,
			       .object = "", .command = "" };
	bool quiet = false;
	int error = look(sh, n, &m, &f, &quiet);

	if (!ab_sh_calls_cover(&sh->calls))
		m.flags |= AB_SHIELD_MISMATCH | AB_SHIELD_UNCALLED;
	/* without an audit the host drops what is as it should be */
	if (!sh->is_audited && f.verdict == AGENTBOX_VERDICT_ALLOW &&
	    !(m.flags & AB_SHIELD_MISMATCH))
		quiet = true;
	if (quiet) {
		ab_sh_answer(sh, n->id, error);
		return;
	}
	if (!is_waiting(sh, n))
		return;
	m.verdict = f.verdict;
	m.rule = f.rule;
	m.reason = f.reason;
	m.call = ab_sh_calls_one(&sh->calls);
	m.answer = answer_for(sh, f.verdict);
	if (m.answer == AB_SHIELD_ASKED)
		m.id = ++sh->ask_last;
	ab_sh_deliver(sh, &m, n->id);
}

/* Before Linux 6.6 it waits on, and nobody minds. */
static bool is_over(const ab_sh *sh)
{
	struct pollfd p = { .fd = sh->notify_fd, .events = POLLIN };

	return ab_fd_poll_many(&p, 1, 0) == 1 && (p.revents & ~POLLIN);
}

bool ab_sh_wait_for_notice(const ab_sh *sh, ab_sh_notice *out, bool *ended)
{
	memset(out, 0, sizeof(*out));
	if (ioctl(sh->notify_fd, SECCOMP_IOCTL_NOTIF_RECV, &out->notice) == 0)
		return true;
	/* it was killed before it was read */
	if (errno == ENOENT)
		*ended = is_over(sh);
	else if (errno != EINTR)
		_exit(1);
	return false;
}

void ab_sh_on_notice(ab_sh *sh, const ab_sh_notice *notice)
{
	on_call(sh, &notice->notice);
}
