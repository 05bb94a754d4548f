/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the plan, at once or in two parts: a head, from which the
 * namespaces are made while the host looks at its files, and the whole, which
 * the holder gets from the host and hands on to PID 1. It refuses a plan that
 * is not sealed, of another build or malformed, and a whole that says something
 * else than its head did. Nothing is mounted from a head.
 *
 * PID 1 clones the host's trees itself. Of a root host it asks the holder for
 * those that are to be id-mapped, before it begins, and for each that it could
 * not make, as one whose path the box's ids do not lead to: the holder looks
 * into the plan that the host gave it, and what fails then is told by it.
 * Spec: wire/plan.h.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "build-id.h"
#include "wire/message.h"

/* So many at once: PID 1 mounts the first while the next are made. */
#define MAX_TREES 4

/* It stays mapped: what is decoded points into it. */
static int map_plan(init_box *box, int plan_fd, ab_plan *out)
{
	void *map;
	size_t n;
	int r = ab_fd_map_sealed(plan_fd, AB_MAX_PLAN_BYTES, &map, &n);

	if (r)
		return init_fail(box, -r, "the plan must be a sealed memfd",
				 "plan");
	r = ab_plan_decode(map, n, AB_BUILD_ID, out);
	if (r)
		return init_fail(box, -r,
				 r == -ESTALE ? "library and agentbox-init "
						"are of different builds"
					      : "",
				 "plan");
	return 0;
}

int init_read_plan(init_box *box, int plan_fd)
{
	ab_plan plan;

	if (map_plan(box, plan_fd, &plan))
		return -1;
	if (box->plan.is_head && !ab_plan_continues(&plan, &box->plan)) {
		ab_plan_end(&plan);
		return init_fail(box, EPROTO,
				 "the plan is not the one that was begun",
				 "plan");
	}
	ab_plan_end(&box->plan);
	box->plan = plan;
	return 0;
}

static int send_plan(init_box *box, int plan_fd)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LINK_PLAN);
	ab_put_u32(&w, 1);
	return ab_message_send(box->link_holder_fd, w.data, w.len, &plan_fd, 1,
			       0);
}

int init_take_tree(init_box *box, uint32_t step)
{
	int fd = box->tree_fds[step];

	box->tree_fds[step] = -1;
	return fd < 0 ? -ENOENT : fd;
}

/* Those of the steps from `from` up to `end`, which are at most MAX_TREES. */
static int send_trees(init_box *box, uint32_t from, uint32_t end)
{
	uint8_t memory[AB_MESSAGE_HEADER + 8 + 4 * MAX_TREES];
	uint32_t steps[MAX_TREES];
	int fds[MAX_TREES], r;
	size_t n = 0;
	ab_writer w;

	for (uint32_t i = from; i < end; i++) {
		if (box->tree_fds[i] < 0)
			continue;
		steps[n] = i;
		fds[n++] = box->tree_fds[i];
	}
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LINK_TREES);
	ab_put_u32(&w, (uint32_t)n);
	ab_put_u32(&w, end);
	ab_put_u32(&w, box->walls & AB_WALL_IDMAP);
	for (size_t i = 0; i < n; i++)
		ab_put_u32(&w, steps[i]);
	r = ab_message_send(box->link_holder_fd, w.data, w.len, fds, n, 0);
	for (size_t i = 0; i < n; i++)
		close(init_take_tree(box, steps[i]));
	return r;
}

static bool is_wanted(const ab_plan *p, uint32_t i, uint32_t wanted)
{
	return wanted == AB_WANTS_MAPPED
		       ? (p->steps[i].flags & AB_MOUNT_IDMAP) != 0
		       : i == wanted;
}

/* -1: a tree could not be made; *sent: 0 or -errno of handing over. */
static int make_and_send_trees(init_box *box, uint32_t wanted, int *sent)
{
	const uint32_t count = box->plan.step_count;
	uint32_t from = 0, trees = 0;

	for (uint32_t i = 0; i < count && *sent == 0; i++) {
		if (is_wanted(&box->plan, i, wanted) &&
		    init_prepare_tree(box, i))
			return -1;
		trees += box->tree_fds[i] >= 0;
		if (trees < MAX_TREES && i + 1 < count)
			continue;
		*sent = send_trees(box, from, i + 1);
		from = i + 1;
		trees = 0;
	}
	return 0;
}

/* PID 1 is gone: it has said why, or the holder sees it end. */
static int judge_sent(init_box *box, int r)
{
	return r && r != -EPIPE && r != -ECONNRESET
		       ? init_fail(box, -r, "", "plan")
		       : 0;
}

int init_forward_plan(init_box *box, int plan_fd)
{
	box->awaits_plan = false;
	return judge_sent(box, send_plan(box, plan_fd));
}

int init_take_plan(init_box *box, int plan_fd)
{
	int r = send_plan(box, plan_fd);

	if (init_read_plan(box, plan_fd))
		return -1;
	box->awaits_plan = false;
	return judge_sent(box, r);
}

int init_give_trees(init_box *box, uint32_t wanted)
{
	int r = 0;

	if (!box->plan.map_by_holder ||
	    (wanted != AB_WANTS_MAPPED && wanted >= box->plan.step_count))
		return init_fail(box, EPROTO, "", "mounts");
	if ((!box->tree_fds && init_list_trees(box)) ||
	    make_and_send_trees(box, wanted, &r))
		return -1;
	return judge_sent(box, r);
}

/* One message of the holder, of this kind, or the box is given up. */
static int receive(init_box *box, uint32_t kind, uint8_t *message, size_t size,
		   int *fds, size_t *count, ab_reader *r)
{
	ssize_t n = ab_message_recv(box->link_inside_fd, message, size, fds,
				    MAX_TREES, count, 0);

	/* the holder is gone: so is the box */
	if (n == 0)
		_exit(1);
	if (n < 0)
		return init_fail(box, (int)-n, "", "plan");
	ab_reader_init(r, message, (size_t)n);
	if (ab_get_u32(r) != kind || ab_get_u32(r) != *count)
		return init_fail(box, EPROTO, "", "plan");
	return 0;
}

static int take_trees(init_box *box, ab_reader *r, const int *fds, size_t n)
{
	uint32_t end = ab_get_u32(r);

	box->walls |= ab_get_u32(r);
	for (size_t i = 0; i < n; i++) {
		uint32_t step = ab_get_u32(r);

		if (r->bad || step >= end || end > box->plan.step_count ||
		    box->tree_fds[step] >= 0)
			return init_fail(box, EPROTO, "", "plan");
		box->tree_fds[step] = fds[i];
	}
	if (!ab_reader_done(r) || end <= box->trees_end)
		return init_fail(box, EPROTO, "", "plan");
	box->trees_end = end;
	return 0;
}

int init_await_tree(init_box *box, uint32_t step)
{
	uint8_t message[AB_MESSAGE_HEADER + 8 + 4 * MAX_TREES];
	int fds[MAX_TREES];
	size_t count = 0;
	ab_reader r;

	while (step >= box->trees_end) {
		if (receive(box, AB_MSG_LINK_TREES, message, sizeof(message),
			    fds, &count, &r) ||
		    take_trees(box, &r, fds, count))
			return -1;
	}
	return 0;
}

/* From the first step on, or from this one. */
static int ask_for_trees(init_box *box, uint32_t wanted)
{
	uint8_t memory[AB_MESSAGE_HEADER + 4];
	ab_writer w;
	int r;

	box->trees_end = wanted == AB_WANTS_MAPPED ? 0 : wanted;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LINK_WANTED);
	ab_put_u32(&w, 0);
	ab_put_u32(&w, wanted);
	r = ab_message_send(box->link_inside_fd, w.data, w.len, NULL, 0, 0);
	return r ? init_fail(box, -r, "", "mounts") : 0;
}

int init_ask_tree(init_box *box, uint32_t step)
{
	/* the answers before come first */
	return init_await_tree(box, box->plan.step_count - 1) ||
			       ask_for_trees(box, step) ||
			       init_await_tree(box, box->plan.step_count - 1)
		       ? -1
		       : 0;
}

static int ask_for_mapped(init_box *box)
{
	const ab_plan *p = &box->plan;

	box->trees_end = p->step_count;
	for (uint32_t i = 0; p->map_by_holder && i < p->step_count; i++) {
		if (p->steps[i].flags & AB_MOUNT_IDMAP)
			return ask_for_trees(box, AB_WANTS_MAPPED);
	}
	return 0;
}

static int receive_plan(init_box *box)
{
	uint8_t message[AB_MESSAGE_HEADER];
	int fds[MAX_TREES];
	size_t count = 0;
	ab_reader r;

	if (receive(box, AB_MSG_LINK_PLAN, message, sizeof(message), fds,
		    &count, &r))
		return -1;
	if (count != 1 || !ab_reader_done(&r))
		return init_fail(box, EPROTO, "", "plan");
	init_pass_plan(box, fds[0]);
	if (init_read_plan(box, fds[0]))
		return -1;
	close(fds[0]);
	box->awaits_plan = false;
	return 0;
}

int init_await_plan(init_box *box)
{
	/* else the first launcher works here while we sleep */
	if ((!box->awaits_plan ||
	     ab_fd_poll(box->link_inside_fd, POLLIN, 0) > 0) &&
	    init_push_first(box))
		return -1;
	if (box->awaits_plan && receive_plan(box))
		return -1;
	return init_list_trees(box) ? -1 : ask_for_mapped(box);
}
