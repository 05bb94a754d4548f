/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * So many bytes a second: what goes over is owed, and who would read more
 * waits until it is paid. What is read at once is bounded by who reads, so a
 * debt is small. Spec: DESIGN.md section 9, gateway case 116.
 */
#include "config.h"

#include "pace.h"

#define SECOND INT64_C(1000000000)
/* above it nothing of ours is the limit, and sums stay in 63 bits */
#define FASTEST (UINT64_C(1) << 33)
/* one wake-up moves this part of a second's bytes */
#define PARTS 20

void ab_pace_init(ab_pace *p, ab_loop *loop, uint64_t per_second)
{
	if (per_second > FASTEST)
		per_second = 0;
	*p = (ab_pace){ .loop = loop, .per_second = (int64_t)per_second,
			.level = (int64_t)per_second,
			.filled_ns = loop->now };
}

static void fill(ab_pace *p)
{
	uint64_t now = p->loop->now;
	int64_t passed = (int64_t)(now - p->filled_ns), more;

	if (__builtin_mul_overflow(passed, p->per_second, &more))
		more = INT64_MAX;
	more /= SECOND;
	/* what is less than a byte goes on counting */
	if (!more)
		return;
	p->filled_ns = now;
	/* a second's worth at most; the level is never above it */
	p->level = more >= p->per_second - p->level ? p->per_second
						    : p->level + more;
}

void ab_pace_take(ab_pace *p, uint64_t n)
{
	if (!p->per_second)
		return;
	fill(p);
	if (n > INT64_MAX / 4)
		n = INT64_MAX / 4;
	p->level -= (int64_t)n;
	if (p->level < -(INT64_MAX / 4))
		p->level = -(INT64_MAX / 4);
}

static void go_on(void *arg)
{
	ab_pace *p = arg;
	ab_paced *all = p->waiting;

	/* who still has to wait comes back to the list, which is new */
	p->waiting = NULL;
	if (all)
		all->back = &all;
	while (all) {
		ab_paced *one = all;

		ab_paced_forget(one);
		one->go_on(one->arg);
	}
}

bool ab_pace_wait(ab_pace *p, ab_paced *w, void (*then)(void *arg), void *arg)
{
	uint64_t ms;

	if (!p->per_second)
		return false;
	fill(p);
	if (p->level > 0)
		return false;
	if (!w->back) {
		*w = (ab_paced){ p->waiting, &p->waiting, then, arg };
		if (w->next)
			w->next->back = &w->next;
		p->waiting = w;
	}
	if (!ab_timer_is_set(&p->timer)) {
		ms = (uint64_t)(-p->level) / (uint64_t)p->per_second * 1000 +
		     (uint64_t)(-p->level) % (uint64_t)p->per_second * 1000 /
			     (uint64_t)p->per_second;
		ab_timer_set(p->loop, &p->timer, ms + 1000 / PARTS, go_on, p);
	}
	return true;
}

void ab_paced_forget(ab_paced *w)
{
	if (!w->back)
		return;
	*w->back = w->next;
	if (w->next)
		w->next->back = w->back;
	w->next = NULL;
	w->back = NULL;
}
