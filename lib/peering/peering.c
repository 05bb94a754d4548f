/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handle: the store, the boxes of this process, lists.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "peering/internal.h"
#include "walls/walls.h"

int32_t ab_peering_usable(const agentbox_peering *p, agentbox_error **err)
{
	if (!p)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "peering is NULL");
	if (p->owner != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "",
				    "the peering belongs to process %d; a "
				    "forked child cannot use it",
				    (int)p->owner);
	return 0;
}

void agentbox_peering_free(agentbox_peering *peering)
{
	if (!peering)
		return;
	int saved = errno;
	while (peering->boxes) {
		ab_known *k = peering->boxes;
		peering->boxes = k->next;
		free(k);
	}
	ab_store_close(peering->store);
	agentbox_audit_unref(peering->audit);
	agentbox_context_unref(peering->context);
	free(peering);
	errno = saved;
}

/* --- the public calls --- */

int32_t agentbox_peering_new(agentbox_context *context, agentbox_audit *audit,
			     agentbox_peering **peering, agentbox_error **err)
{
	if (!context || !peering)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "context or peering is NULL");
	ab_auto(agentbox_peering) *p = ab_new(agentbox_peering);
	if (!p)
		return ab_error_nomem(err);
	p->owner = getpid();
	p->context = ab_context_use(context);
	p->audit = audit ? agentbox_audit_ref(audit) : NULL;
	int32_t rc = ab_store_open(context, &p->store, err);
	if (rc == 0)
		rc = ab_peer_sweep(p, err);
	if (rc < 0)
		return rc;
	*peering = ab_steal(&p);
	return 0;
}

static bool name_ok(const char *s)
{
	size_t n = strnlen(s, AB_PEER_BOX_NAME_MAX + 1);

	if (n == 0 || n > AB_PEER_BOX_NAME_MAX || s[0] == '.')
		return false;
	return strspn(s, "abcdefghijklmnopqrstuvwxyz"
			 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

static ab_known **find_known(agentbox_peering *p,
			     const agentbox_sandbox *sandbox)
{
	ab_known **at = &p->boxes;

	while (*at && (*at)->sandbox != sandbox)
		at = &(*at)->next;
	return at;
}

int32_t agentbox_peering_add(agentbox_peering *peering,
			     agentbox_sandbox *sandbox, const char *name,
			     agentbox_error **err)
{
	int32_t rc = ab_peering_usable(peering, err);
	if (rc < 0)
		return rc;
	if (!sandbox || (name && !name_ok(name)))
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "no box, or '%s' is no box name",
				    name ? name : "");
	if (name && ab_is_id(name))
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "'%s' is no box name: it has the form of "
				    "a box id", name);
	for (const ab_known *k = peering->boxes; k; k = k->next)
		if (k->sandbox == sandbox ||
		    (name && strcmp(k->name, name) == 0))
			return ab_error_set(err, AGENTBOX_EEXIST, "name",
					    "box '%s' is known already",
					    name ? name :
					    agentbox_sandbox_get_id(sandbox));
	ab_known *k = ab_new(ab_known);
	if (!k)
		return ab_error_nomem(err);
	k->sandbox = sandbox;
	if (name)
		memcpy(k->name, name, strlen(name));
	k->next = peering->boxes;
	peering->boxes = k;
	return 0;
}

int32_t agentbox_peering_remove(agentbox_peering *peering,
				agentbox_sandbox *sandbox,
				agentbox_error **err)
{
	int32_t rc = ab_peering_usable(peering, err);
	if (rc < 0)
		return rc;
	if (!sandbox)
		return ab_error_set(err, AGENTBOX_EINVAL, "sandbox",
				    "sandbox is NULL");
	ab_known **at = find_known(peering, sandbox);
	if (!*at)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "sandbox",
				    "the box was not made known");
	const char *id = agentbox_sandbox_get_id(sandbox);
	rc = ab_peer_revoke_all(peering, "source", id, "source ended", err);
	if (rc == 0)
		rc = ab_peer_revoke_all(peering, "reader", id, "reader ended", err);
	if (rc < 0)
		return rc;
	ab_known *k = *at;
	*at = k->next;
	free(k);
	return 0;
}

int32_t agentbox_peering_list(agentbox_peering *peering, int32_t all,
			      agentbox_bytes **json, agentbox_error **err)
{
	ab_auto(json_t) *rows = NULL;
	int32_t rc = ab_peering_usable(peering, err);

	if (rc == 0 && !json)
		rc = ab_error_set(err, AGENTBOX_EINVAL, "", "json is NULL");
	if (rc == 0)
		rc = ab_grant_list(peering->store, all != 0, &rows, err);
	return rc < 0 ? rc : ab_json_canonical(rows, json, err);
}
