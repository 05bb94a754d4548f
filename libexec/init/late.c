/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the plan, at once or in two parts: a head, from which the
 * namespaces are made while the host looks at its files, and the whole, which
 * the holder gets from the host and hands on to PID 1, with the trees that
 * only the holder of a root host may clone. It refuses a plan that is not
 * sealed, of another build or malformed, and a whole that says something else
 * than its head did. Nothing is mounted from a head. Spec: wire/plan.h.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "build-id.h"
#include "wire/message.h"

#define MAX_TREES AB_MAX_MESSAGE_FDS

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

static int send_trees(init_box *box, const uint32_t *steps, const int *fds,
		      size_t n)
{
	uint8_t memory[AB_MESSAGE_HEADER + 4 * MAX_TREES];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LINK_TREES);
	ab_put_u32(&w, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		ab_put_u32(&w, steps[i]);
	return ab_message_send(box->link_holder_fd, w.data, w.len, fds, n, 0);
}

static int send_plan(init_box *box, int plan_fd, uint32_t trees)
{
	uint8_t memory[AB_MESSAGE_HEADER + 8];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LINK_PLAN);
	ab_put_u32(&w, 1);
	ab_put_u32(&w, trees);
	ab_put_u32(&w, box->walls & AB_WALL_IDMAP);
	return ab_message_send(box->link_holder_fd, w.data, w.len, &plan_fd, 1,
			       0);
}

/* The plan and as many messages as the trees need. */
static int hand_over(init_box *box, int plan_fd)
{
	const uint32_t count = box->plan.step_count;
	uint32_t steps[MAX_TREES], trees = 0;
	int fds[MAX_TREES], r;
	size_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		trees += box->tree_fds[i] >= 0;
	r = send_plan(box, plan_fd, trees);
	for (uint32_t i = 0; i < count && r == 0; i++) {
		if (box->tree_fds[i] >= 0) {
			steps[n] = i;
			fds[n++] = box->tree_fds[i];
		}
		if (n == MAX_TREES || (n && i + 1 == count)) {
			r = send_trees(box, steps, fds, n);
			n = 0;
		}
	}
	return r;
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
	return judge_sent(box, send_plan(box, plan_fd, 0));
}

int init_take_plan(init_box *box, int plan_fd)
{
	const bool has_trees = box->plan.map_by_holder;
	int r = has_trees ? 0 : send_plan(box, plan_fd, 0);

	if (init_read_plan(box, plan_fd) || init_prepare_trees(box))
		return -1;
	box->awaits_plan = false;
	if (has_trees)
		r = hand_over(box, plan_fd);
	for (uint32_t i = 0; i < box->plan.step_count; i++)
		ab_cleanup_fd(&box->tree_fds[i]);
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
	for (size_t i = 0; i < n; i++) {
		uint32_t step = ab_get_u32(r);

		if (r->bad || step >= box->plan.step_count ||
		    box->tree_fds[step] >= 0)
			return init_fail(box, EPROTO, "", "plan");
		box->tree_fds[step] = fds[i];
	}
	return 0;
}

int init_await_plan(init_box *box)
{
	uint8_t message[AB_MESSAGE_HEADER + 4 * MAX_TREES];
	int fds[MAX_TREES];
	size_t count = 0;
	uint32_t trees;
	ab_reader r;

	if (!box->awaits_plan)
		return 0;
	if (receive(box, AB_MSG_LINK_PLAN, message, sizeof(message), fds,
		    &count, &r))
		return -1;
	trees = ab_get_u32(&r);
	box->walls |= ab_get_u32(&r);
	if (count != 1 || !ab_reader_done(&r))
		return init_fail(box, EPROTO, "", "plan");
	init_pass_plan(box, fds[0]);
	if (init_read_plan(box, fds[0]) || init_list_trees(box))
		return -1;
	close(fds[0]);
	for (box->awaits_plan = false; trees; trees -= (uint32_t)count) {
		if (receive(box, AB_MSG_LINK_TREES, message, sizeof(message),
			    fds, &count, &r) ||
		    take_trees(box, &r, fds, count))
			return -1;
		if (count == 0 || count > trees)
			return init_fail(box, EPROTO, "", "plan");
	}
	return 0;
}
