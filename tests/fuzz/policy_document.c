/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any bytes as a policy document: what parses dumps to text that parses to
 * the same digest, contains itself, and narrows to itself. Two documents
 * (separated by a NUL) are narrowed: the result is contained in the parent.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "agentbox/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(agentbox_policy *a, agentbox_policy *b)
{
	if (strcmp(agentbox_policy_get_digest(a),
		   agentbox_policy_get_digest(b)) != 0)
		abort();
}

static agentbox_policy *parse(agentbox_context *context, const void *p,
			      size_t n)
{
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	int32_t r = agentbox_policy_parse(context, p, n, &policy, &err);

	if ((r == 0) != (policy != NULL) || (r != 0) != (err != NULL) ||
	    strchr(agentbox_error_get_message(err), '\n'))
		abort();
	agentbox_error_free(err);
	return policy;
}

static void check_dump(agentbox_context *context, agentbox_policy *p)
{
	agentbox_bytes *dump = NULL;
	agentbox_policy *again;

	if (agentbox_policy_to_json(p, &dump, NULL) != 0)
		abort();
	again = parse(context, agentbox_bytes_get_data(dump),
		      agentbox_bytes_get_size(dump));
	/* only the size of the text may stand in the way */
	if (!again && agentbox_bytes_get_size(dump) <= 1u << 20)
		abort();
	if (again)
		check_same(p, again);
	agentbox_policy_unref(again);
	agentbox_bytes_free(dump);
}

static void check_pair(agentbox_policy *p, agentbox_policy *c)
{
	agentbox_policy *n = NULL;
	agentbox_policy *again = NULL;

	if (agentbox_policy_narrow(p, c, &n, NULL) != 0) {
		if (agentbox_policy_contains(p, c, NULL) == 0)
			abort();
		return;
	}
	if (agentbox_policy_contains(p, n, NULL) != 0 ||
	    agentbox_policy_narrow(p, n, &again, NULL) != 0)
		abort();
	check_same(n, again);
	agentbox_policy_unref(again);
	agentbox_policy_unref(n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
	size_t first = nul ? (size_t)(nul - data) : size;
	agentbox_context *context = NULL;
	agentbox_policy *p;
	agentbox_policy *c = NULL;

	if (agentbox_context_new(&context, NULL) != 0)
		return 0;
	p = parse(context, size ? (const char *)data : "", first);
	if (nul)
		c = parse(context, nul + 1, size - first - 1);
	if (p) {
		check_dump(context, p);
		check_pair(p, p);
	}
	if (p && c) {
		check_pair(p, c);
		check_pair(c, p);
	}
	agentbox_policy_unref(c);
	agentbox_policy_unref(p);
	agentbox_context_unref(context);
	return 0;
}
