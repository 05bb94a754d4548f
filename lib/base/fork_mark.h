/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether this process is the one that made something, asked often: getpid(2)
 * is a system call each time, and takes a tenth of a check of a short text.
 * A page that the kernel empties in a child says it with one load.
 *
 * It refuses to guess: without such a page the process is asked for. A child
 * that shares our memory (vfork(2)) shares the mark: it is still us.
 */
#ifndef AB_BASE_FORK_MARK_H
#define AB_BASE_FORK_MARK_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

struct ab_fork_mark {
	volatile uint32_t *page; /* owned; not 0 in who made it; or NULL */
	pid_t pid;
};

/* Cannot fail. Zeroed: made by nobody. */
void ab_fork_mark_init(struct ab_fork_mark *m);
void ab_fork_mark_end(struct ab_fork_mark *m);

static inline bool ab_fork_mark_is_ours(const struct ab_fork_mark *m)
{
	return m->page ? *m->page != 0 : m->pid == getpid();
}

#endif
