/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What holds a box less than the strongest box here is held: one list, made
 * from what was compiled, that every report repeats (the walls report, the
 * plan, doctor, verify, the audit record of the start, the lines of the tool),
 * so that none of them forgets what another says. It judges nothing: what the
 * policy requires was refused before. Spec: DESIGN.md section 6.
 */
#include "config.h"

#include "walls/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

static void weaker(ab_build *b, const char *wall, const char *what,
		   const char *why, const char *fix)
{
	json_t *o = json_pack("{s:s,s:o,s:s,s:s}", "wall", wall, "what",
			      ab_build_text(what), "why", why, "fix", fix);

	if (json_array_append_new(b->out->weaker, o))
		b->nomem = true;
}

static void tell_tier(ab_build *b)
{
	if (b->input->tier == AB_TIER_NO_PROC)
		weaker(b, "proc", "the box has no /proc of its own",
		       "a new one cannot be mounted here: parts of the "
		       "container's are covered",
		       "start the container with unmasked paths");
	if (b->input->tier != AB_TIER_LANDLOCK)
		return;
	weaker(b, "namespaces",
	       "the box is in the host's namespaces: Landlock and seccomp "
	       "alone hold it",
	       "the kernel refuses user namespaces here",
	       "agentbox doctor says what stands in the way");
	if (b->probe->landlock_abi < 6)
		weaker(b, "landlock-scope",
		       "signals to other processes of the same user are not "
		       "stopped",
		       "Landlock level 6 is needed", "Linux 6.12");
}

static void tell_landlock(ab_build *b)
{
	if (b->probe->landlock_abi == 0)
		weaker(b, "landlock", "mounts alone hold files",
		       "this kernel has no Landlock",
		       "a kernel from 5.13 on with 'landlock' in its lsm= "
		       "list");
}

static void tell_network(ab_build *b)
{
	if (b->policy->network.mode == AB_NET_HOST)
		weaker(b, "netns",
		       "the box is on the host's network: every service the "
		       "host can reach, it can",
		       "the policy asks for the host's network",
		       "network mode 'gateway' or 'none'");
}

static void tell_ids(ab_build *b)
{
	char what[128];

	if (b->pool && b->input->no_idmap)
		weaker(b, "idmap",
		       "files of the workspace are not mapped to the box's "
		       "kernel uid: only their modes hold it",
		       "a file system here cannot map ids",
		       "a workspace on ext4, xfs or btrfs; on "
		       "tmpfs with Linux 6.3 or later");
	if (b->pool)
		return;
	snprintf(what, sizeof(what), "%u supplementary groups stay in force: "
				     "files open to them are open to the box",
		 b->probe->group_count);
	if (b->probe->group_count)
		weaker(b, "groups", what,
		       "only a root host with a range of ids drops them",
		       "run as a user without them, or as root where more "
		       "than one id is mapped");
	if (b->probe->euid == 0)
		weaker(b, "ids",
		       ab_build_has_tree(b) ?
			       "the box has no kernel uid of its own" :
			       "the box runs as uid 0 without capabilities",
		       "one id is mapped here",
		       "run as an ordinary user, or where a range of ids is "
		       "mapped");
}

static void tell_limit(ab_build *b, const char *name, const json_t *l)
{
	const char *by = json_string_value(json_object_get(l, "mechanism"));
	const char *note = json_string_value(json_object_get(l, "note"));
	const char *fix = json_string_value(json_object_get(l, "fix"));
	char wall[64], what[128];

	if (!json_is_integer(json_object_get(l, "requested")) ||
	    json_is_true(json_object_get(l, "hard")))
		return;
	snprintf(wall, sizeof(wall), "limits.%s", name);
	if (!by || !strcmp(by, "none"))
		snprintf(what, sizeof(what), "nothing holds this limit");
	else
		snprintf(what, sizeof(what), "the limit is soft, held by %s "
					     "alone", by);
	weaker(b, wall, what, note ? note : "", fix ? fix : "");
}

void ab_weaker_compile(ab_build *b)
{
	const char *name;
	json_t *l;

	/* what the rest would say follows from it */
	if (ab_build_is_bare(b)) {
		weaker(b, "mode",
		       "no wall stands: what runs in the box can do all that "
		       "its host can",
		       "the policy's mode is 'bare'",
		       "leave the mode out of the policy");
		return;
	}
	tell_tier(b);
	tell_landlock(b);
	tell_network(b);
	tell_ids(b);
	json_object_foreach(b->out->limits, name, l)
		tell_limit(b, name, l);
}
