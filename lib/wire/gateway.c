/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The gateway's plan and messages as bytes; what is read is bounded and
 * refused when anything is left over. Spec: gateway.h. Libc only.
 */
#include "config.h"

#include "wire/gateway.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

void ab_gateway_lists_put(ab_writer *w, const ab_gateway_lists *lists)
{
	for (size_t i = 0; i < AB_GATEWAY_LISTS; i++) {
		ab_put_u32(w, lists->count[i]);
		for (uint32_t j = 0; j < lists->count[i]; j++)
			ab_put_str(w, lists->items[i][j]);
	}
}

void ab_gateway_lists_end(ab_gateway_lists *lists)
{
	for (size_t i = 0; i < AB_GATEWAY_LISTS; i++)
		free(lists->items[i]);
	memset(lists, 0, sizeof(*lists));
}

static int get_lists(ab_reader *r, ab_gateway_lists *lists)
{
	for (size_t i = 0; i < AB_GATEWAY_LISTS; i++) {
		uint32_t n = ab_get_count(r, AB_GATEWAY_MAX_LIST);

		lists->items[i] = ab_calloc((size_t)n + 1,
					    sizeof(*lists->items[i]));
		if (!lists->items[i])
			return -ENOMEM;
		lists->count[i] = n;
		for (uint32_t j = 0; j < n; j++)
			lists->items[i][j] = ab_get_str(r);
	}
	return r->bad ? -EPROTO : 0;
}

int ab_gateway_lists_get(ab_reader *r, ab_gateway_lists *lists)
{
	ab_gateway_lists got = { 0 };
	int rc = get_lists(r, &got);

	if (rc == 0 && !ab_reader_done(r))
		rc = -EPROTO;
	if (rc)
		ab_gateway_lists_end(&got);
	else
		*lists = got;
	return rc;
}

static void put_rates(ab_writer *w, const ab_gateway_rates *rates)
{
	ab_put_u64(w, rates->connections);
	ab_put_u64(w, rates->requests_per_minute);
	ab_put_u64(w, rates->bytes_per_second);
	ab_put_u64(w, rates->budget_requests);
	ab_put_u64(w, rates->budget_bytes);
	ab_put_u64(w, rates->budget_tokens);
}

static void get_rates(ab_reader *r, ab_gateway_rates *rates)
{
	rates->connections = ab_get_u64(r);
	rates->requests_per_minute = ab_get_u64(r);
	rates->bytes_per_second = ab_get_u64(r);
	rates->budget_requests = ab_get_u64(r);
	rates->budget_bytes = ab_get_u64(r);
	rates->budget_tokens = ab_get_u64(r);
}

static void put_names(ab_writer *w, const ab_gateway_plan *p)
{
	ab_put_u32(w, p->name_count);
	for (uint32_t i = 0; i < p->name_count; i++) {
		ab_put_str(w, p->names[i].name);
		put_rates(w, &p->names[i].rates);
	}
}

static void get_names(ab_reader *r, ab_gateway_plan *p)
{
	p->name_count = ab_get_count(r, AB_GATEWAY_MAX_NAMES);
	for (uint32_t i = 0; i < p->name_count; i++) {
		p->names[i].name = ab_get_str(r);
		get_rates(r, &p->names[i].rates);
	}
}

int ab_gateway_plan_put(ab_writer *w, const ab_gateway_plan *p)
{
	ab_put_str(w, p->build_id);
	ab_put_str(w, p->box_id);
	ab_put_bytes(w, p->key_hash, AB_GATEWAY_HASH_SIZE);
	ab_put_u32(w, p->flags);
	ab_put_str(w, p->resolver);
	put_rates(w, &p->rates);
	put_names(w, p);
	ab_wire_routes_put(w, &p->routes);
	ab_put_bytes(w, p->tools.p, p->tools.len);
	ab_put_bytes(w, p->identity.p, p->identity.len);
	ab_wire_broker_put(w, &p->broker);
	ab_gateway_lists_put(w, &p->lists);
	return w->bad ? -EMSGSIZE : 0;
}

int ab_gateway_plan_get(ab_reader *r, const char *build_id,
			ab_gateway_plan *out)
{
	ab_gateway_plan p = { 0 };
	size_t n;
	int rc;

	p.build_id = ab_get_str(r);
	if (r->bad)
		return -EPROTO;
	if (strcmp(p.build_id, build_id) != 0)
		return -ESTALE;
	p.box_id = ab_get_str(r);
	p.key_hash = ab_get_bytes(r, &n);
	if (n != AB_GATEWAY_HASH_SIZE)
		return -EPROTO;
	p.flags = ab_get_u32(r);
	p.resolver = ab_get_str(r);
	get_rates(r, &p.rates);
	get_names(r, &p);
	rc = ab_wire_routes_get(r, &p.routes);
	p.tools.p = ab_get_bytes(r, &p.tools.len);
	p.identity.p = ab_get_bytes(r, &p.identity.len);
	if (rc == 0)
		rc = ab_wire_broker_get(r, &p.broker);
	if (rc == 0)
		rc = ab_gateway_lists_get(r, &p.lists);
	if (rc) {
		ab_wire_routes_end(&p.routes);
		ab_wire_broker_end(&p.broker);
		return rc;
	}
	*out = p;
	return 0;
}

void ab_gateway_record_put(ab_writer *w, const ab_gateway_record *m)
{
	ab_put_u32(w, AB_MSG_GW_RECORD);
	ab_put_u32(w, 0);
	ab_put_u32(w, m->kind);
	ab_put_str(w, m->how ? m->how : "");
	ab_put_str(w, m->target ? m->target : "");
	ab_put_str(w, m->reason ? m->reason : "");
	ab_put_str(w, m->rule ? m->rule : "");
	ab_put_str(w, m->detail ? m->detail : "");
	ab_put_u64(w, m->up);
	ab_put_u64(w, m->down);
	ab_put_u64(w, m->lost);
	ab_put_u32(w, m->has_peer);
	ab_put_u32(w, m->peer_uid);
	ab_put_u32(w, m->peer_pid);
}

int ab_gateway_record_get(ab_reader *r, ab_gateway_record *m)
{
	uint32_t has_peer;

	m->kind = ab_get_u32(r);
	m->how = ab_get_str(r);
	m->target = ab_get_str(r);
	m->reason = ab_get_str(r);
	m->rule = ab_get_str(r);
	m->detail = ab_get_str(r);
	m->up = ab_get_u64(r);
	m->down = ab_get_u64(r);
	m->lost = ab_get_u64(r);
	has_peer = ab_get_u32(r);
	m->has_peer = has_peer;
	m->peer_uid = ab_get_u32(r);
	m->peer_pid = ab_get_u32(r);
	return ab_reader_done(r) && has_peer <= 1 && m->kind >= 1 &&
			       m->kind <= AB_GATEWAY_KINDS
		       ? 0
		       : -EPROTO;
}
