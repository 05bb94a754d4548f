/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Secrets from the canonical tree. A way of delivery that is not listed is
 * none; only injection needs no mention. Spec: policy/secrets.h.
 */
#include "config.h"

#include "policy/secrets.h"

#include <jansson.h>

#include "base/alloc.h"
#include "base/error.h"
#include "policy/tree.h"
#include "policy/value.h"

#define WHERE "/secrets"

static uint32_t ways_of(const json_t *secret)
{
	const json_t *delivery = json_object_get(secret, "delivery");
	uint32_t ways = 0;

	for (uint32_t i = 0; i < AB_BROKER_WAY_COUNT; i++)
		if (ab_tree_has(delivery, ab_broker_ways[i]))
			ways |= 1u << i;
	return ways;
}

static int32_t read_euids(ab_wire_secret *s, const json_t *list,
			  agentbox_error **err)
{
	size_t n = json_array_size(list);

	s->has_euids = list != NULL;
	if (n > AB_BROKER_MAX_EUIDS)
		return ab_error_set(err, AGENTBOX_ELIMIT, WHERE,
				    "more than %d euids of the secret \"%s\"",
				    AB_BROKER_MAX_EUIDS, s->name);
	for (size_t i = 0; i < n; i++)
		s->euids[i] = (uint32_t)json_integer_value(
			json_array_get(list, i));
	s->euid_count = (uint32_t)n;
	return 0;
}

/* Hosts are of routes, too: of any other way they say nothing here. */
static int32_t read_git(ab_wire_secret *s, const json_t *secret,
			agentbox_error **err)
{
	const json_t *hosts = json_object_get(secret, "hosts");
	const char *user = ab_tree_string(secret, "user");
	size_t n = json_array_size(hosts);

	s->user = "";
	if (!(s->ways & AB_BROKER_GIT))
		return 0;
	if (n > AB_BROKER_MAX_HOSTS)
		return ab_error_set(err, AGENTBOX_ELIMIT, WHERE,
				    "more than %d hosts of the secret \"%s\"",
				    AB_BROKER_MAX_HOSTS, s->name);
	for (size_t i = 0; i < n; i++)
		s->hosts[i] = json_string_value(json_array_get(hosts, i));
	s->host_count = (uint32_t)n;
	s->user = user ? user : "";
	return 0;
}

/* A time of at least a millisecond; what is not there stays as it is. */
static int32_t read_time(const ab_wire_secret *s, const json_t *secret,
			 const char *key, uint64_t *ms, agentbox_error **err)
{
	const char *text = ab_tree_string(secret, key);
	char why[AB_WHY_SIZE] = "is none";

	if (text && (!ab_value_duration(text, ms, why) || !*ms))
		return ab_error_set(err, AGENTBOX_EPOLICY, WHERE,
				    "the \"%s\" of the secret \"%s\" %s", key,
				    s->name, why);
	return 0;
}

/* For how long a value is leased, and how far that can be renewed. */
static int32_t read_times(ab_wire_secret *s, const json_t *secret,
			  agentbox_error **err)
{
	int32_t rc;

	s->ttl_ms = AB_BROKER_DEFAULT_TTL_MS;
	rc = read_time(s, secret, "ttl", &s->ttl_ms, err);
	s->max_ttl_ms = AB_BROKER_DEFAULT_MAX_TTL_MS;
	if (s->max_ttl_ms < s->ttl_ms)
		s->max_ttl_ms = s->ttl_ms;
	if (rc == 0)
		rc = read_time(s, secret, "max_ttl", &s->max_ttl_ms, err);
	if (s->ttl_ms > s->max_ttl_ms)
		s->ttl_ms = s->max_ttl_ms;
	return rc;
}

static int32_t add(ab_wire_broker *b, const json_t *secret, uint32_t ways,
		   agentbox_error **err)
{
	ab_wire_secret *s = &b->items[b->count];
	int32_t rc;

	if (b->count == AB_BROKER_MAX_SECRETS)
		return ab_error_set(err, AGENTBOX_ELIMIT, WHERE,
				    "more than %d secrets are delivered to the "
				    "box itself", AB_BROKER_MAX_SECRETS);
	s->name = ab_tree_string(secret, "name");
	s->ways = ways;
	rc = read_euids(s, json_object_get(secret, "euids"), err);
	if (rc == 0)
		rc = read_git(s, secret, err);
	if (rc == 0)
		rc = read_times(s, secret, err);
	b->count += rc == 0;
	return rc;
}

int32_t ab_policy_broker_init(const agentbox_policy *policy,
			      ab_wire_broker *out, agentbox_error **err)
{
	const json_t *list = ab_policy_section(policy, WHERE);
	ab_wire_broker made = { 0 };
	int32_t rc = 0;

	made.items = ab_calloc(AB_BROKER_MAX_SECRETS, sizeof(*made.items));
	if (!made.items)
		return ab_error_nomem(err);
	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
		const json_t *secret = json_array_get(list, i);
		uint32_t ways = ways_of(secret);

		if (ways)
			rc = add(&made, secret, ways, err);
	}
	if (rc == 0)
		*out = made;
	else
		ab_wire_broker_end(&made);
	return rc;
}
