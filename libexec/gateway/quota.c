/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What may go: of the whole box, and of the names that `network.names` lists.
 * A target is of every entry that names it, and all of them have to have
 * something left. It counts what the box asked for, whichever way it did; an
 * entry that is an address is not of names that lead there.
 * Spec: agentbox-policy(5), gateway cases 116, 117.
 */
#include "config.h"

#include <errno.h>

#include "base/alloc.h"
#include "state.h"

static void begin_quota(ab_gw *gw, ab_quota *q, const ab_gateway_rates *may)
{
	q->may = *may;
	/* in sixtieths, so that a rate per minute is one per second of them */
	ab_bucket_init(&q->requests_left, 60 * may->requests_per_minute,
		       may->requests_per_minute, gw->loop.now);
	ab_pace_init(&q->pace, &gw->loop, may->bytes_per_second);
}

static int begin_name(ab_gw *gw, ab_quota *q, const ab_gateway_name *name)
{
	ab_host *host = ab_new(ab_host);
	char why[AB_WHY_SIZE];

	if (!host)
		return -ENOMEM;
	if (!ab_host_parse(name->name, host, why)) {
		free(host);
		return -EPROTO;
	}
	begin_quota(gw, q, &name->rates);
	return ab_host_set_init(&q->hosts, host, 1);
}

int ab_quotas_init(ab_gw *gw, const ab_gateway_rates *box,
		   const ab_gateway_name *names, uint32_t count)
{
	int rc = 0;

	begin_quota(gw, &gw->quota, box);
	gw->quotas = ab_calloc((size_t)count + 1, sizeof(*gw->quotas));
	if (!gw->quotas)
		return -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = begin_name(gw, &gw->quotas[i], &names[i]);
	gw->quota_count = rc ? 0 : count;
	return rc;
}

uint64_t ab_gw_names(const ab_gw *gw, const ab_target *t)
{
	uint64_t names = 0;

	for (uint32_t i = 0; i < gw->quota_count; i++)
		/* as a denial: "*" is of every address */
		if (ab_host_set_find(&gw->quotas[i].hosts, t, true))
			names |= UINT64_C(1) << i;
	return names;
}

/* One after the other, and NULL. */
static ab_quota *next(const ab_gw *gw, uint64_t *names)
{
	ab_quota *q = *names ? &gw->quotas[__builtin_ctzll(*names)] : NULL;

	*names &= *names - 1;
	return q;
}

/* --- bytes ---------------------------------------------------------------- */

bool ab_gw_count_bytes(ab_gw *gw, uint64_t names, uint64_t n)
{
	bool has_some = true;

	for (ab_quota *q = &gw->quota; q; q = next(gw, &names)) {
		q->bytes += n;
		ab_pace_take(&q->pace, n);
		has_some &= !q->may.budget_bytes ||
			    q->bytes <= q->may.budget_bytes;
	}
	return has_some;
}

bool ab_gw_is_paced(const ab_gw *gw, uint64_t names)
{
	for (const ab_quota *q = &gw->quota; q; q = next(gw, &names))
		if (q->pace.per_second)
			return true;
	return false;
}

/* It waits for one of them, and asks all of them again. */
bool ab_gw_wait(ab_gw *gw, uint64_t names, ab_paced *w,
		void (*then)(void *arg), void *arg)
{
	bool waits = false;

	for (ab_quota *q = &gw->quota; q && !waits; q = next(gw, &names))
		waits = ab_pace_wait(&q->pace, w, then, arg);
	return waits;
}

/* --- requests and connections --------------------------------------------- */

/* The budget first, which is of all that was asked for. */
static bool take_request(ab_gw *gw, ab_quota *q)
{
	q->requests++;
	return (!q->may.budget_requests ||
		q->requests <= q->may.budget_requests) &&
	       (!q->may.requests_per_minute ||
		ab_bucket_take(&q->requests_left, 60, gw->loop.now));
}

bool ab_gw_count_request(ab_gw *gw, uint64_t names)
{
	bool may = true;

	for (ab_quota *q = &gw->quota; q && may; q = next(gw, &names))
		may = take_request(gw, q);
	return may;
}

/* The box's own are counted as they are accepted. */
bool ab_gw_has_room(const ab_gw *gw, uint64_t names)
{
	const ab_quota *q;

	while ((q = next(gw, &names)))
		if (q->may.connections && q->connections >= q->may.connections)
			return false;
	return true;
}

void ab_gw_join(ab_gw *gw, uint64_t names)
{
	ab_quota *q;

	while ((q = next(gw, &names)))
		q->connections++;
}

void ab_gw_let_go(ab_gw *gw, uint64_t names)
{
	ab_quota *q;

	while ((q = next(gw, &names)))
		q->connections--;
}

/* --- tokens --------------------------------------------------------------- */

bool ab_gw_needs_tokens(const ab_gw *gw, uint64_t names)
{
	const ab_quota *q;

	while ((q = next(gw, &names)))
		if (q->may.budget_tokens)
			return true;
	return false;
}

bool ab_gw_counts_tokens(const ab_gw *gw, uint64_t names)
{
	for (const ab_quota *q = &gw->quota; q; q = next(gw, &names))
		if (q->may.budget_tokens)
			return true;
	return false;
}

bool ab_gw_has_tokens(const ab_gw *gw, uint64_t names)
{
	for (const ab_quota *q = &gw->quota; q; q = next(gw, &names))
		if (q->may.budget_tokens && q->tokens >= q->may.budget_tokens)
			return false;
	return true;
}

/* One answer tells less than 2^47: no sum goes around. */
void ab_gw_count_tokens(ab_gw *gw, uint64_t names, uint64_t n)
{
	for (ab_quota *q = &gw->quota; q; q = next(gw, &names))
		q->tokens += n;
}
