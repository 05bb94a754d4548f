/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox policy: a document checked, shown, compared, cut. All judgement
 * is the library's (agentbox_policy(3)).
 */
#include "config.h"

#include <agentbox/snapshot.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "tool.h"

/* What only the snapshots know: which rules there are to be admitted. */
static int check_snapshot(tool *t, const char *file, agentbox_policy *policy)
{
	agentbox_snapshot_options *options = NULL;
	agentbox_error *err = NULL;
	int32_t rc = agentbox_snapshot_options_new(&options, &err);

	if (rc == 0)
		rc = agentbox_snapshot_options_set_policy(options, policy,
							  &err);
	agentbox_snapshot_options_free(options);
	return rc == 0 ? 0 : tool_fail(t, err, file);
}

int tool_policy_check(tool *t, const tool_args *args)
{
	const char *file = args->operands[0];
	agentbox_policy *policy = NULL;
	int rc = tool_read_policy(t, file, &policy);

	if (!rc)
		rc = check_snapshot(t, file, policy);
	if (rc) {
		agentbox_policy_unref(policy);
		return rc;
	}
	const char *name = agentbox_policy_get_name(policy);
	bool bare = agentbox_policy_is_bare(policy);
	if (t->json)
		rc = tool_print_json(t, json_pack(
			"{s:s, s:s, s:s, s:s, s:b}", "file", file, "status",
			"good", "name", name, "digest",
			agentbox_policy_get_digest(policy), "bare", bare));
	else
		text_note("%s: good%s%s%s", file, *name ? ", named " : "",
			  name, bare ? "; it is bare: it raises no wall" : "");
	agentbox_policy_unref(policy);
	return rc;
}

static int print_policy(tool *t, agentbox_policy *policy)
{
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;

	if (agentbox_policy_to_json(policy, &bytes, &err) < 0)
		return tool_fail(t, err, NULL);
	return tool_print_json(t, tool_json_of(bytes));
}

int tool_policy_show(tool *t, const tool_args *args)
{
	agentbox_policy *policy = NULL;
	int rc = tool_read_policy(t, args->operands[0], &policy);

	if (!rc)
		rc = print_policy(t, policy);
	agentbox_policy_unref(policy);
	return rc;
}

int tool_policy_digest(tool *t, const tool_args *args)
{
	agentbox_policy *policy = NULL;
	int rc = tool_read_policy(t, args->operands[0], &policy);

	if (rc)
		return rc;
	const char *digest = agentbox_policy_get_digest(policy);
	rc = t->json ? tool_print_json(t, json_pack("{s:s}", "digest", digest))
		     : tool_write_line(t, text_format("%s\n", digest));
	agentbox_policy_unref(policy);
	return rc;
}

static int read_pair(tool *t, const tool_args *args, agentbox_policy **parent,
		     agentbox_policy **child)
{
	if (!strcmp(args->operands[0], "-") && !strcmp(args->operands[1], "-"))
		return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				   "only one of PARENT and CHILD can be \"-\"");
	int rc = tool_read_policy(t, args->operands[0], parent);

	return rc ? rc : tool_read_policy(t, args->operands[1], child);
}

int tool_policy_contains(tool *t, const tool_args *args)
{
	agentbox_policy *parent = NULL, *child = NULL;
	agentbox_error *err = NULL;
	int rc = read_pair(t, args, &parent, &child);

	if (!rc && agentbox_policy_contains(parent, child, &err) < 0)
		rc = tool_fail(t, err, args->operands[1]);
	else if (!rc && t->json)
		rc = tool_print_json(t, json_pack("{s:b}", "contains", 1));
	else if (!rc)
		text_note("%s asks for nothing that %s does not hold",
			  args->operands[1], args->operands[0]);
	agentbox_policy_unref(parent);
	agentbox_policy_unref(child);
	return rc;
}

int tool_policy_narrow(tool *t, const tool_args *args)
{
	agentbox_policy *parent = NULL, *child = NULL, *cut = NULL;
	agentbox_error *err = NULL;
	int rc = read_pair(t, args, &parent, &child);

	if (!rc && agentbox_policy_narrow(parent, child, &cut, &err) < 0)
		rc = tool_fail(t, err, args->operands[1]);
	else if (!rc)
		rc = print_policy(t, cut);
	agentbox_policy_unref(parent);
	agentbox_policy_unref(child);
	agentbox_policy_unref(cut);
	return rc;
}
