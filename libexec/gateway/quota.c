/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What may go, in requests and bytes: of the whole box, and of the names that
 * `network.names` lists. A target is of every entry that names it, and all of
 * them have to have something left. It counts what the box asked for, whichever
 * way it did; an entry that is an address is not of names that lead there.
 * Spec: agentbox-policy(5), gateway cases 116, 117.
 */
#include "config.h"

#include <errno.h>

#include "base/alloc.h"
#include "state.h"

static int begin_quota(ab_quota *q, const ab_gateway_name *limits,
		       uint64_t now)
{
	ab_host *host = ab_new(ab_host);
	char why[AB_WHY_SIZE];

	if (!host)
		return -ENOMEM;
	if (!ab_host_parse(limits->name, host, why)) {
		free(host);
		return -EPROTO;
	}
	q->budget_requests = limits->budget_requests;
	q->budget_bytes = limits->budget_bytes;
	q->has_rate = limits->requests_per_minute;
	ab_bucket_init(&q->rate, 60 * limits->requests_per_minute,
		       limits->requests_per_minute, now);
	return ab_host_set_init(&q->hosts, host, 1);
}

int ab_quotas_init(ab_gw *gw, const ab_gateway_name *names, uint32_t count)
{
	int rc = 0;

	gw->quotas = ab_calloc((size_t)count + 1, sizeof(*gw->quotas));
	if (!gw->quotas)
		return -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = begin_quota(&gw->quotas[i], &names[i], gw->loop.now);
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

bool ab_gw_count_bytes(ab_gw *gw, uint64_t names, uint64_t n)
{
	bool has_some;

	gw->bytes += n;
	ab_pace_take(&gw->pace, n);
	has_some = !gw->rates.budget_bytes ||
		   gw->bytes <= gw->rates.budget_bytes;
	for (; names; names &= names - 1) {
		ab_quota *q = &gw->quotas[__builtin_ctzll(names)];

		q->bytes += n;
		has_some &= !q->budget_bytes || q->bytes <= q->budget_bytes;
	}
	return has_some;
}

/* Of the one name: its budget first, which is of all that was asked for. */
static bool take_request(ab_gw *gw, ab_quota *q)
{
	q->requests++;
	return (!q->budget_requests || q->requests <= q->budget_requests) &&
	       (!q->has_rate || ab_bucket_take(&q->rate, 60, gw->loop.now));
}

bool ab_gw_count_request(ab_gw *gw, uint64_t names)
{
	bool may;

	gw->requests_ever++;
	may = (!gw->rates.budget_requests ||
	       gw->requests_ever <= gw->rates.budget_requests) &&
	      (!gw->rates.requests_per_minute ||
	       ab_bucket_take(&gw->requests, 60, gw->loop.now));
	for (; may && names; names &= names - 1)
		may = take_request(gw, &gw->quotas[__builtin_ctzll(names)]);
	return may;
}
