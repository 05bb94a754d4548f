/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the walls keep with a policy: its filters (seccomp.c) and the tree of
 * the last compile (memo.c). Made at first need, ended with the policy; any
 * number of threads compile from one policy at once.
 */
#include "config.h"

#include "walls/internal.h"

#include <stdlib.h>

#include "base/alloc.h"

static void cache_end(void *p)
{
	ab_cache *c = p;

	if (!c)
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(c->filter); i++)
		free(atomic_load(&c->filter[i]));
	ab_memo_unref(c->memo);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

ab_cache *ab_cache_of(agentbox_policy *policy)
{
	ab_cache *c = ab_policy_cache_get(policy);

	if (c)
		return c;
	c = ab_new(ab_cache);
	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	/* put releases ours when another thread was first */
	return ab_policy_cache_put(policy, c, cache_end);
}

ab_memo *ab_cache_get_memo(agentbox_policy *policy)
{
	ab_cache *c = ab_cache_of(policy);
	ab_memo *m;

	if (!c)
		return NULL;
	pthread_mutex_lock(&c->lock);
	m = c->memo;
	ab_memo_ref(m);
	pthread_mutex_unlock(&c->lock);
	return m;
}

void ab_cache_put_memo(agentbox_policy *policy, ab_memo *memo)
{
	ab_cache *c = ab_cache_of(policy);
	ab_memo *old = memo;

	if (c && memo) {
		pthread_mutex_lock(&c->lock);
		old = c->memo;
		c->memo = memo;
		pthread_mutex_unlock(&c->lock);
	}
	ab_memo_unref(old);
}
