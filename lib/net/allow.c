/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of decisions about a connection. Spec: net/allow.h. */
#include "config.h"

#include "net/allow.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"

static const struct {
	const char *name, *text;
} reasons[] = {
	[AB_ALLOW_UNJUDGED] = { "unjudged", "was not judged" },
	[AB_ALLOW_OK] = { "ok", "is allowed" },
	[AB_ALLOW_NO_TARGET] = { "no_target", "names no host and port" },
	[AB_ALLOW_METADATA] = { "metadata",
				"is a metadata service or on this machine's "
				"link; nothing opens it" },
	[AB_ALLOW_RANGE] = { "special_range",
			     "is in a range that no host is in" },
	[AB_ALLOW_DENIED] = { "denied", "is in network.deny" },
	[AB_ALLOW_ROUTED] = { "routed", "is reached by its route alone" },
	[AB_ALLOW_NOT_LISTED] = { "not_listed", "is not in network.allow" },
	[AB_ALLOW_PORT] = { "port_not_listed",
			    "is in network.allow with other ports" },
	[AB_ALLOW_PRIVATE_NAME] = { "private_name",
				    "is a local name and not in "
				    "network.private" },
	[AB_ALLOW_PRIVATE_ADDRESS] = { "private_address",
				       "is a private address and not in "
				       "network.private" },
	[AB_ALLOW_RESOLVED_PRIVATE] = { "resolved_private",
					"leads to a private address; both "
					"have to be in network.private" },
	[AB_ALLOW_NO_ADDRESS] = { "no_address", "has no usable address" },
};

static_assert(AB_ARRAY_LEN(reasons) == AB_ALLOW_REASON_COUNT,
	      "a reason without a name");

const char *ab_allow_reason_name(enum ab_allow_reason reason)
{
	return reasons[(size_t)reason < AB_ARRAY_LEN(reasons) ? reason : 0]
		.name;
}

const char *ab_allow_reason_text(enum ab_allow_reason reason)
{
	return reasons[(size_t)reason < AB_ARRAY_LEN(reasons) ? reason : 0]
		.text;
}

/* --- loading ----------------------------------------------------------- */

static int load(const ab_allow_text *text, enum ab_allow_list which,
		ab_host_set *out, ab_allow_error *bad)
{
	size_t n = text->list[which].count;
	ab_autofree ab_host *hosts = ab_calloc(n ? n : 1, sizeof(*hosts));
	int r;

	bad->list = which;
	if (!hosts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *s = text->list[which].items[i];

		bad->index = i;
		if (!s || !ab_host_parse(s, &hosts[i], bad->why))
			return -EINVAL;
		/* an upstream is one host, whatever its port */
		if (which == AB_ALLOW_LIST_ROUTED)
			hosts[i].range_count = 0;
	}
	r = ab_host_set_init(out, ab_steal(&hosts), n);
	if (r < 0)
		ab_host_set_end(out);
	return r;
}

int ab_allow_init(ab_allow *out, const ab_allow_text *text,
		  ab_allow_error *bad)
{
	ab_allow made = { 0 };
	int r;

	memset(bad, 0, sizeof(*bad));
	r = load(text, AB_ALLOW_LIST_ALLOW, &made.allow, bad);
	if (r == 0)
		r = load(text, AB_ALLOW_LIST_DENY, &made.deny, bad);
	if (r == 0)
		r = load(text, AB_ALLOW_LIST_PRIVATE, &made.private_, bad);
	if (r == 0)
		r = load(text, AB_ALLOW_LIST_TCP, &made.tcp, bad);
	if (r == 0)
		r = load(text, AB_ALLOW_LIST_ROUTED, &made.routed, bad);
	if (r < 0)
		ab_allow_end(&made);
	else
		*out = made;
	return r;
}

void ab_allow_end(ab_allow *allow)
{
	ab_host_set_end(&allow->allow);
	ab_host_set_end(&allow->deny);
	ab_host_set_end(&allow->private_);
	ab_host_set_end(&allow->tcp);
	ab_host_set_end(&allow->routed);
}

/* --- parts of a decision ------------------------------------------------ */

static enum ab_range_class class_of(const ab_target *t)
{
	if (t->kind == AB_TARGET_NAME)
		return ab_name_class(t->name, t->name_len);
	return ab_range_of(&t->address, NULL);
}

/* What no policy opens; OK: go on. */
static enum ab_allow_reason judge_class(enum ab_range_class class_)
{
	if (class_ == AB_RANGE_METADATA)
		return AB_ALLOW_METADATA;
	return class_ == AB_RANGE_NEVER ? AB_ALLOW_RANGE : AB_ALLOW_OK;
}

/* The target `t` at another address, for a look-up in a set. */
static ab_target at_address(const ab_target *t, const ab_address *address)
{
	ab_target at = { .kind = AB_TARGET_ADDRESS, .port = t->port,
			 .address = *address };

	return at;
}

/* The address a NAT64's carries, as a target; false: none. */
static bool inner_of(const ab_target *t, ab_target *inner)
{
	ab_address address;

	if (t->kind != AB_TARGET_ADDRESS ||
	    !ab_range_inner(&t->address, &address))
		return false;
	*inner = at_address(t, &address);
	return true;
}

static const ab_host *find_denied(const ab_allow *allow, const ab_target *t)
{
	const ab_host *rule = ab_host_set_find(&allow->deny, t, true);
	ab_target inner;

	if (!rule && inner_of(t, &inner))
		rule = ab_host_set_find(&allow->deny, &inner, true);
	return rule;
}

static bool is_opened(const ab_allow *allow, const ab_target *t)
{
	ab_target inner;

	if (!ab_host_set_find(&allow->private_, t, false))
		return false;
	if (!inner_of(t, &inner) || class_of(&inner) == AB_RANGE_PUBLIC)
		return true;
	return ab_host_set_find(&allow->private_, &inner, false) != NULL;
}

/* Is the host listed with another port? For the reason alone. */
static enum ab_allow_reason not_listed(const ab_allow *allow,
				       const ab_target *t)
{
	ab_target any = *t;

	any.port = 0;
	return ab_host_set_find(&allow->allow, &any, false) ?
		       AB_ALLOW_PORT :
		       AB_ALLOW_NOT_LISTED;
}

/* --- decisions ---------------------------------------------------------- */

static enum ab_allow_reason judge(const ab_allow *allow, const ab_target *t,
				  bool is_granted, const ab_host **rule)
{
	enum ab_range_class class_ = class_of(t);
	enum ab_allow_reason reason = judge_class(class_);

	if (reason != AB_ALLOW_OK)
		return reason;
	*rule = find_denied(allow, t);
	if (*rule)
		return AB_ALLOW_DENIED;
	*rule = ab_host_set_find(&allow->routed, t, true);
	if (*rule)
		return AB_ALLOW_ROUTED;
	*rule = ab_host_set_find(&allow->allow, t, false);
	if (!*rule && !is_granted)
		return not_listed(allow, t);
	if (class_ == AB_RANGE_PUBLIC || is_opened(allow, t))
		return AB_ALLOW_OK;
	*rule = NULL;
	return t->kind == AB_TARGET_NAME ? AB_ALLOW_PRIVATE_NAME :
					   AB_ALLOW_PRIVATE_ADDRESS;
}

static enum ab_allow_reason judge_target(const ab_allow *allow,
					 const ab_target *t, bool is_granted,
					 const ab_host **rule)
{
	const ab_host *unused;

	if (!rule)
		rule = &unused;
	*rule = NULL;
	if (t->kind == AB_TARGET_NONE || t->port == 0)
		return AB_ALLOW_NO_TARGET;
	return judge(allow, t, is_granted, rule);
}

enum ab_allow_reason ab_allow_target(const ab_allow *allow, const ab_target *t,
				     const ab_host **rule)
{
	return judge_target(allow, t, false, rule);
}

enum ab_allow_reason ab_allow_granted(const ab_allow *allow,
				      const ab_target *t, const ab_host **rule)
{
	return judge_target(allow, t, true, rule);
}

bool ab_allow_is_tcp(const ab_allow *allow, const ab_target *t)
{
	/* what the host lets for once is read like all else */
	return t->port && ab_host_set_find(&allow->tcp, t, false) &&
	       ab_host_set_find(&allow->allow, t, false);
}

enum ab_allow_reason ab_allow_lookup(const ab_allow *allow, const ab_target *t)
{
	ab_target any = *t;
	const ab_host *rule = NULL;

	if (t->kind != AB_TARGET_NAME)
		return AB_ALLOW_NO_TARGET;
	any.port = 0;
	return judge(allow, &any, false, &rule);
}

enum ab_allow_reason ab_allow_address(const ab_allow *allow, const ab_target *t,
				      const ab_address *address)
{
	ab_target at = at_address(t, address);
	enum ab_range_class class_ = ab_range_of(address, NULL);
	enum ab_allow_reason reason = judge_class(class_);

	if (t->kind == AB_TARGET_NONE || t->port == 0)
		return AB_ALLOW_NO_TARGET;
	ab_address_unmap(&at.address);
	if (t->kind == AB_TARGET_ADDRESS && !ab_target_same_host(t, &at))
		return AB_ALLOW_NO_ADDRESS;
	if (reason != AB_ALLOW_OK)
		return reason;
	if (find_denied(allow, &at))
		return AB_ALLOW_DENIED;
	if (class_ == AB_RANGE_PUBLIC)
		return AB_ALLOW_OK;
	if (is_opened(allow, &at) && is_opened(allow, t))
		return AB_ALLOW_OK;
	return t->kind == AB_TARGET_NAME ? AB_ALLOW_RESOLVED_PRIVATE :
					   AB_ALLOW_PRIVATE_ADDRESS;
}

enum ab_allow_reason ab_allow_addresses(const ab_allow *allow,
					const ab_target *t,
					const ab_address *addresses,
					size_t count)
{
	if (count == 0 || count > AB_ALLOW_ADDRESSES)
		return AB_ALLOW_NO_ADDRESS;
	for (size_t i = 0; i < count; i++) {
		enum ab_allow_reason reason =
			ab_allow_address(allow, t, &addresses[i]);

		if (reason != AB_ALLOW_OK)
			return reason;
	}
	return AB_ALLOW_OK;
}
