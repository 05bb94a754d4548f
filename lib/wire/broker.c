/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The broker's part of the gateway's plan and the frames of its socket as
 * bytes, and back with every claim checked: what a box sends is read here
 * first. Spec: broker.h. Libc only.
 */
#include "config.h"

#include "wire/broker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const char *const ab_broker_ways[AB_BROKER_WAY_COUNT] = {
	"memfd", "file", "git", "aws",
};

unsigned ab_broker_way_index(uint32_t way)
{
	return (unsigned)__builtin_ctz(way);
}

bool ab_broker_name_ok(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"abcdefghijklmnopqrstuvwxyz0123456789_-");

	return n && n <= AB_BROKER_MAX_NAME && !name[n] && name[0] != '-';
}

/* --- the plan ------------------------------------------------------------ */

static void put_secret(ab_writer *w, const ab_wire_secret *s)
{
	ab_put_str(w, s->name);
	ab_put_u32(w, s->ways);
	ab_put_u64(w, s->ttl_ms);
	ab_put_u64(w, s->max_ttl_ms);
	ab_put_u32(w, s->has_euids);
	ab_put_u32(w, s->euid_count);
	for (uint32_t i = 0; i < s->euid_count; i++)
		ab_put_u32(w, s->euids[i]);
	ab_put_u32(w, s->host_count);
	for (uint32_t i = 0; i < s->host_count; i++)
		ab_put_str(w, s->hosts[i]);
	ab_put_str(w, s->user);
}

void ab_wire_broker_put(ab_writer *w, const ab_wire_broker *broker)
{
	ab_put_u32(w, broker->count);
	for (uint32_t i = 0; i < broker->count; i++)
		put_secret(w, &broker->items[i]);
	ab_put_u32(w, broker->uid_inside);
	ab_put_u32(w, broker->uid_outside);
}

static void get_secret(ab_reader *r, ab_wire_secret *s)
{
	uint32_t has_euids;

	s->name = ab_get_str(r);
	s->ways = ab_get_u32(r);
	s->ttl_ms = ab_get_u64(r);
	s->max_ttl_ms = ab_get_u64(r);
	has_euids = ab_get_u32(r);
	s->has_euids = has_euids;
	s->euid_count = ab_get_count(r, AB_BROKER_MAX_EUIDS);
	for (uint32_t i = 0; i < s->euid_count; i++)
		s->euids[i] = ab_get_u32(r);
	s->host_count = ab_get_count(r, AB_BROKER_MAX_HOSTS);
	for (uint32_t i = 0; i < s->host_count; i++)
		s->hosts[i] = ab_get_str(r);
	s->user = ab_get_str(r);
	if (strlen(s->user) > AB_BROKER_MAX_USER ||
	    (s->host_count && !(s->ways & AB_BROKER_GIT)))
		r->bad = true;
	if (!ab_broker_name_ok(s->name) || !s->ways ||
	    (s->ways & ~AB_BROKER_WAYS) || !s->ttl_ms ||
	    s->max_ttl_ms < s->ttl_ms || has_euids > 1 ||
	    (s->euid_count && !has_euids))
		r->bad = true;
}

int ab_wire_broker_get(ab_reader *r, ab_wire_broker *out)
{
	ab_wire_broker b = { 0 };
	uint32_t n = ab_get_count(r, AB_BROKER_MAX_SECRETS);

	b.items = ab_calloc((size_t)n + 1, sizeof(*b.items));
	if (!b.items)
		return -ENOMEM;
	b.count = n;
	for (uint32_t i = 0; i < n && !r->bad; i++)
		get_secret(r, &b.items[i]);
	b.uid_inside = ab_get_u32(r);
	b.uid_outside = ab_get_u32(r);
	if (r->bad) {
		ab_wire_broker_end(&b);
		return -EPROTO;
	}
	*out = b;
	return 0;
}

void ab_wire_broker_end(ab_wire_broker *broker)
{
	free(broker->items);
	memset(broker, 0, sizeof(*broker));
}

uint32_t ab_wire_broker_files(const ab_wire_broker *broker)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < broker->count; i++)
		n += (broker->items[i].ways & AB_BROKER_FILE) != 0;
	return n;
}

/* --- the socket ---------------------------------------------------------- */

void ab_broker_ask_put(ab_writer *w, const ab_broker_ask *m)
{
	ab_put_u32(w, AB_MSG_BROKER_ASK);
	ab_put_u32(w, 0);
	ab_put_bytes(w, m->key, AB_BROKER_KEY_LEN);
	ab_put_u32(w, m->verb);
	ab_put_str(w, m->name);
	if (m->verb == AB_BROKER_GET_GIT)
		ab_put_str(w, m->user);
}

int ab_broker_ask_get(ab_reader *r, ab_broker_ask *m)
{
	size_t n;

	m->key = ab_get_bytes(r, &n);
	m->verb = ab_get_u32(r);
	m->name = ab_get_str(r);
	m->user = m->verb == AB_BROKER_GET_GIT ? ab_get_str(r) : "";
	if (!ab_reader_done(r) || n != AB_BROKER_KEY_LEN || !m->verb ||
	    m->verb >= AB_BROKER_VERB_COUNT)
		return -EPROTO;
	if (m->verb == AB_BROKER_LIST)
		return m->name[0] ? -EPROTO : 0;
	if (m->verb == AB_BROKER_GET_GIT)
		return m->name[0] && strlen(m->name) <= AB_BROKER_MAX_HOST &&
		       strlen(m->user) <= AB_BROKER_MAX_USER ? 0 : -EPROTO;
	return ab_broker_name_ok(m->name) ? 0 : -EPROTO;
}

void ab_broker_answer_put(ab_writer *w, const ab_broker_answer *m,
			  uint32_t fds)
{
	ab_put_u32(w, AB_MSG_BROKER_ANSWER);
	ab_put_u32(w, fds);
	ab_put_u32(w, m->result);
	ab_put_u64(w, m->left_ms);
	ab_put_u32(w, m->row_count);
	for (uint32_t i = 0; i < m->row_count; i++) {
		const ab_broker_row *row = &m->rows[i];

		ab_put_str(w, row->name);
		ab_put_u32(w, row->ways);
		ab_put_u64(w, row->ttl_ms);
		for (size_t j = 0; j < AB_BROKER_WAY_COUNT; j++)
			ab_put_u64(w, row->left_ms[j]);
	}
	ab_put_str(w, m->user);
}

int ab_broker_answer_get(ab_reader *r, ab_broker_answer *m)
{
	m->result = ab_get_u32(r);
	m->left_ms = ab_get_u64(r);
	m->row_count = ab_get_count(r, AB_BROKER_MAX_SECRETS);
	for (uint32_t i = 0; i < m->row_count; i++) {
		ab_broker_row *row = &m->rows[i];

		row->name = ab_get_str(r);
		row->ways = ab_get_u32(r);
		row->ttl_ms = ab_get_u64(r);
		for (size_t j = 0; j < AB_BROKER_WAY_COUNT; j++)
			row->left_ms[j] = ab_get_u64(r);
		if (!ab_broker_name_ok(row->name) || !row->ways ||
		    (row->ways & ~AB_BROKER_WAYS))
			r->bad = true;
	}
	m->user = ab_get_str(r);
	return ab_reader_done(r) && m->result < AB_BROKER_RESULT_COUNT
		       ? 0
		       : -EPROTO;
}
