/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The messages of a box as bytes: one put and one get per structure, fields
 * in the structure's order. A get refuses bytes left over, values outside
 * what the other side may say, and counts over bounds. Spec: box.h. Libc only.
 */
#include "config.h"

#include "wire/box.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"

#define BOX_MAX_SIGNAL 64 /* signal(7): the last real-time signal */

static void put_header(ab_writer *w, uint32_t kind, uint32_t fds)
{
	ab_put_u32(w, kind);
	ab_put_u32(w, fds);
}

static int done(const ab_reader *r)
{
	return ab_reader_done(r) ? 0 : -EPROTO;
}

void ab_msg_put_ready(ab_writer *w, uint32_t kind, uint32_t fds,
		      const ab_msg_ready *m)
{
	put_header(w, kind, fds);
	ab_put_u32(w, m->walls);
	ab_put_u32(w, m->landlock_abi);
	ab_put_u32(w, m->pid_one);
	ab_put_u32(w, m->launcher);
	ab_put_str(w, m->notes);
}

int ab_msg_get_ready(ab_reader *r, ab_msg_ready *m)
{
	m->walls = ab_get_u32(r);
	m->landlock_abi = ab_get_u32(r);
	m->pid_one = ab_get_u32(r);
	m->launcher = ab_get_u32(r);
	m->notes = ab_get_str(r);
	return done(r);
}

void ab_msg_put_failed(ab_writer *w, uint32_t kind, const ab_msg_failed *m)
{
	put_header(w, kind, 0);
	ab_put_str(w, m->stage);
	ab_put_i32(w, m->sys_errno);
	ab_put_str(w, m->message);
}

int ab_msg_get_failed(ab_reader *r, ab_msg_failed *m)
{
	m->stage = ab_get_str(r);
	m->sys_errno = ab_get_i32(r);
	m->message = ab_get_str(r);
	return done(r);
}

void ab_msg_put_event(ab_writer *w, uint32_t kind, const ab_msg_event *m)
{
	put_header(w, kind, 0);
	ab_put_u32(w, m->kind);
	ab_put_str(w, m->object);
	ab_put_str(w, m->detail);
}

int ab_msg_get_event(ab_reader *r, ab_msg_event *m)
{
	m->kind = ab_get_u32(r);
	m->object = ab_get_str(r);
	m->detail = ab_get_str(r);
	if (m->kind < AB_EVENT_QUARANTINED || m->kind > AB_EVENT_ENDED)
		r->bad = true;
	return done(r);
}

void ab_msg_put_request(ab_writer *w, uint32_t fds, const ab_msg_request *m)
{
	put_header(w, m->kind, fds);
	ab_put_u32(w, m->serial);
	ab_put_u32(w, m->arg);
}

int ab_msg_get_request(ab_reader *r, uint32_t kind, ab_msg_request *m)
{
	if (kind < AB_MSG_SETTLE || kind > AB_MSG_RELAY)
		return -EPROTO;
	m->kind = kind;
	m->serial = ab_get_u32(r);
	m->arg = ab_get_u32(r);
	return done(r);
}

void ab_msg_put_reply(ab_writer *w, uint32_t kind, uint32_t fds,
		      const ab_msg_reply *m)
{
	put_header(w, kind, fds);
	ab_put_u32(w, m->serial);
	ab_put_i32(w, m->result);
	for (size_t i = 0; i < AB_ARRAY_LEN(m->values); i++)
		ab_put_u64(w, m->values[i]);
}

int ab_msg_get_reply(ab_reader *r, ab_msg_reply *m)
{
	m->serial = ab_get_u32(r);
	m->result = ab_get_i32(r);
	for (size_t i = 0; i < AB_ARRAY_LEN(m->values); i++)
		m->values[i] = ab_get_u64(r);
	return done(r);
}

void ab_msg_put_spawn(ab_writer *w, const ab_msg_spawn *m)
{
	ab_put_u32(w, m->flags);
	ab_put_u32(w, m->rows);
	ab_put_u32(w, m->cols);
	ab_put_u32(w, m->wall_ms);
	ab_put_u32(w, m->relays);
	ab_put_str(w, m->cwd);
	ab_put_u32(w, m->target_count);
	for (uint32_t i = 0; i < m->target_count; i++)
		ab_put_u32(w, m->targets[i]);
	ab_put_u32(w, m->argc);
	for (uint32_t i = 0; i < m->argc; i++)
		ab_put_str(w, m->argv[i]);
	ab_put_u32(w, m->envc);
	for (uint32_t i = 0; i < m->envc; i++)
		ab_put_str(w, m->envp[i]);
}

/* A NULL-terminated array of borrowed strings, or NULL and bad. */
static const char **get_strings(ab_reader *r, uint32_t max, uint32_t *count)
{
	uint32_t n = ab_get_count(r, max);
	const char **list;

	if (r->bad)
		return NULL;
	list = ab_calloc((size_t)n + 1, sizeof(*list));
	if (!list) {
		r->bad = true;
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		list[i] = ab_get_str(r);
	*count = n;
	return list;
}

static uint32_t *get_targets(ab_reader *r, uint32_t *count)
{
	uint32_t n = ab_get_count(r, AB_MAX_EXTRA_FDS + 3);
	uint32_t *list;

	if (r->bad)
		return NULL;
	list = ab_calloc((size_t)n + 1, sizeof(*list));
	if (!list) {
		r->bad = true;
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		list[i] = ab_get_u32(r);
		if (list[i] >= AB_MAX_TARGET_FD)
			r->bad = true;
		for (uint32_t k = 0; k < i; k++) {
			/* two fds for one number: which one is a guess */
			if (list[k] == list[i])
				r->bad = true;
		}
	}
	*count = n;
	return list;
}

int ab_msg_get_spawn(ab_reader *r, ab_msg_spawn *m)
{
	uint32_t rows, cols;

	memset(m, 0, sizeof(*m));
	m->flags = ab_get_u32(r);
	rows = ab_get_u32(r);
	cols = ab_get_u32(r);
	m->rows = (uint16_t)rows;
	m->cols = (uint16_t)cols;
	m->wall_ms = ab_get_u32(r);
	m->relays = ab_get_u32(r);
	m->cwd = ab_get_str(r);
	m->targets = get_targets(r, &m->target_count);
	m->argv = get_strings(r, AB_MAX_ARGS, &m->argc);
	m->envp = get_strings(r, AB_MAX_ARGS, &m->envc);
	if (!ab_reader_done(r) || (m->flags & ~AB_SPAWN_PTY) ||
	    rows > UINT16_MAX || cols > UINT16_MAX || m->argc == 0 ||
	    m->argv[0][0] == '\0') {
		ab_msg_spawn_end(m);
		return -EPROTO;
	}
	return 0;
}

void ab_msg_spawn_end(ab_msg_spawn *m)
{
	free((void *)(uintptr_t)m->targets);
	free((void *)(uintptr_t)m->argv);
	free((void *)(uintptr_t)m->envp);
	memset(m, 0, sizeof(*m));
}

void ab_msg_put_register(ab_writer *w, const ab_msg_register *m)
{
	put_header(w, AB_MSG_REGISTER, 1);
	ab_put_u32(w, m->pid);
	ab_put_u32(w, m->wall_ms);
	ab_put_u64(w, m->started_ns);
	ab_put_u32(w, m->relays);
}

int ab_msg_get_register(ab_reader *r, ab_msg_register *m)
{
	m->pid = ab_get_u32(r);
	m->wall_ms = ab_get_u32(r);
	m->started_ns = ab_get_u64(r);
	m->relays = ab_get_u32(r);
	/* 0 and 1 would make kill(2) mean everybody or ourselves */
	if (m->pid < 2 || m->pid > INT32_MAX)
		r->bad = true;
	return done(r);
}

void ab_msg_put_exited(ab_writer *w, const ab_msg_exited *m)
{
	put_header(w, AB_MSG_EXITED, 0);
	ab_put_i32(w, m->status);
	ab_put_u32(w, m->reason);
	ab_put_u64(w, m->utime_us);
	ab_put_u64(w, m->stime_us);
	ab_put_u64(w, m->maxrss_kib);
	ab_put_u64(w, m->wall_us);
	ab_put_u64(w, m->minflt);
	ab_put_u64(w, m->majflt);
	ab_put_u64(w, m->inblock);
	ab_put_u64(w, m->oublock);
	ab_put_u64(w, m->nvcsw);
	ab_put_u64(w, m->nivcsw);
}

int ab_msg_get_exited(ab_reader *r, ab_msg_exited *m)
{
	m->status = ab_get_i32(r);
	m->reason = ab_get_u32(r);
	m->utime_us = ab_get_u64(r);
	m->stime_us = ab_get_u64(r);
	m->maxrss_kib = ab_get_u64(r);
	m->wall_us = ab_get_u64(r);
	m->minflt = ab_get_u64(r);
	m->majflt = ab_get_u64(r);
	m->inblock = ab_get_u64(r);
	m->oublock = ab_get_u64(r);
	m->nvcsw = ab_get_u64(r);
	m->nivcsw = ab_get_u64(r);
	if (m->reason > AB_REASON_CLOSED)
		r->bad = true;
	return done(r);
}

void ab_msg_put_signal(ab_writer *w, const ab_msg_signal *m)
{
	put_header(w, AB_MSG_SIGNAL, 0);
	ab_put_i32(w, m->signum);
	ab_put_u32(w, m->group);
}

int ab_msg_get_signal(ab_reader *r, ab_msg_signal *m)
{
	m->signum = ab_get_i32(r);
	m->group = ab_get_u32(r);
	if (m->signum < 1 || m->signum > BOX_MAX_SIGNAL || m->group > 1)
		r->bad = true;
	return done(r);
}
