/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An engineer's own config.*, in his agent directory, carries his limits: it
 * is read-only in his box, as it is for the write guard (lib/guard/write.c).
 * One that is not there cannot be held; below the workspace it is waited for
 * like any protected name, elsewhere it is only said. It never writes to the
 * host. Spec: DESIGN.md section 7.
 */
#include "config.h"

#include "walls/protect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "path/lexical.h"

bool ab_protect_has_role(const ab_policy *policy)
{
	return policy->role.kind == AB_ROLE_ENGINEER;
}

/* As a case-folding file system would read it. */
static bool is_config(const char *name)
{
	for (size_t i = 0; ab_policy_own_config[i]; i++) {
		if (strcasecmp(name, ab_policy_own_config[i]) == 0)
			return true;
	}
	return false;
}

static int32_t hold_present(ab_protect *p, DIR *dir, const char *host,
			    agentbox_error **err)
{
	char path[AB_MAX_PATH];
	struct dirent *e;
	int32_t rc = 0;
	int error = 0;

	while (!rc && (e = ab_fd_next(dir, &error))) {
		if (++p->entries > p->max_entries)
			return ab_protect_hold(p, host, true, err);
		if (is_config(e->d_name) &&
		    ab_path_join(host, e->d_name, path, sizeof(path)) > 0)
			rc = ab_protect_add(p, path, err);
	}
	return !rc && error ? ab_error_sys(err, error, "role",
					   "cannot read '%s' to its end",
					   host) : rc;
}

static void await_missing(ab_protect *p, const char *host)
{
	bool is_inside = p->b->workspace.fd >= 0 &&
			 ab_path_is_below(host, p->b->workspace.path);
	bool is_missing = false;
	char path[AB_MAX_PATH];
	struct stat st;

	for (size_t i = 0; ab_policy_own_config[i]; i++) {
		if (ab_path_join(host, ab_policy_own_config[i], path,
				 sizeof(path)) < 0 ||
		    lstat(path, &st) == 0)
			continue;
		is_missing = true;
		if (is_inside)
			ab_protect_watch(p, path);
	}
	if (is_missing && !is_inside)
		ab_build_note(p->b, "a config.* that is not yet in '%s' could "
			      "be made in the box: outside the workspace "
			      "nothing watches for it", host);
}

int32_t ab_protect_role(ab_protect *p, agentbox_error **err)
{
	const ab_policy_role *role = &p->b->policy->role;
	char own[AB_MAX_PATH];
	ab_hostpath h = { .fd = -1 };
	agentbox_error *e = NULL;
	int n;

	n = snprintf(own, sizeof(own), "%s/agents/%s", role->team_dir,
		     role->agent);
	if (n < 0 || (size_t)n >= sizeof(own))
		return ab_error_set(err, AGENTBOX_ELIMIT, "role",
				    "the agent's directory has too long a "
				    "path");
	int32_t rc = ab_host_resolve(own, "role", &h, &e);
	if (rc == AGENTBOX_ENOTFOUND) {
		agentbox_error_free(e);
		return 0;
	}
	if (rc)
		return ab_error_move(err, &e);
	ab_autofd int top = h.fd;
	DIR *dir = ab_fd_open_list(top, ".");

	if (!dir)
		return ab_error_sys(err, errno, "role", "cannot read '%s'",
				    h.path);
	rc = hold_present(p, dir, h.path, err);
	closedir(dir);
	if (!rc)
		await_missing(p, h.path);
	return rc;
}
