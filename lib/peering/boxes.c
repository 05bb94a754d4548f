/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who is alive. Boxes of this process were told to the handle; others are
 * asked of their owners, whose answers are checked as bytes of a stranger,
 * though only a process of the same user can give them.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agentbox/owner.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "peering/internal.h"
#include "policy/policy.h"
#include "sandbox/sandbox.h"

#define MAX_LIST (16u << 20)

void ab_peer_box_end(ab_peer_box *box)
{
	free(box->account);
	free(box->workspace);
	json_decref(box->snapshot);
	json_decref(box->hidden);
	*box = (ab_peer_box){ .local = NULL };
}

uint64_t ab_peer_started(pid_t pid)
{
	char path[32], text[1024], *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	ab_autofd int fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	ssize_t n = fd < 0 ? -1 : ab_fd_read_full(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* the name in parentheses may hold anything: fields follow the last */
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* Owned copy of text or of nothing; false: no memory. */
static bool copy(const char *s, char **out)
{
	*out = s ? ab_strdup(s) : NULL;
	return !s || *out;
}

static int32_t take_local(agentbox_sandbox *sandbox, ab_peer_box *out,
			  agentbox_error **err)
{
	const json_t *section = ab_policy_section(ab_box_policy(sandbox),
						  "/snapshot");
	ab_box_facts f;

	ab_box_facts_of(sandbox, &f);
	ab_peer_box b = { .dev = f.workspace_dev, .ino = f.workspace_ino,
			  .is_reader = f.is_reader, .owner = f.owner,
			  .local = sandbox,
			  .hidden = ab_box_hidden(sandbox) };
	snprintf(b.id, sizeof(b.id), "%s", agentbox_sandbox_get_id(sandbox));
	if (section)
		b.snapshot = json_deep_copy(section);
	if ((section && !b.snapshot) || !b.hidden ||
	    !copy(f.account, &b.account) || !copy(f.workspace, &b.workspace)) {
		ab_peer_box_end(&b);
		return ab_error_nomem(err);
	}
	*out = b;
	return 0;
}

static int32_t take_remote(json_t *v, ab_peer_box *out, agentbox_error **err)
{
	const char *id = json_string_value(json_object_get(v, "id"));
	json_t *w = json_object_get(v, "workspace");
	ab_peer_box b = {
		.dev = (uint64_t)json_integer_value(json_object_get(w, "dev")),
		.ino = (uint64_t)json_integer_value(json_object_get(w, "ino")),
		.is_reader = json_is_true(json_object_get(v, "reads_peers")),
		.owner = (pid_t)json_integer_value(
			json_object_get(v, "owner_pid")),
	};
	json_t *section = json_object_get(v, "snapshot");
	json_t *hidden = json_object_get(v, "hidden");

	if (!json_is_array(hidden))
		return ab_error_set(err, AGENTBOX_EPROTO, "owner",
				    "an owner does not say what a box of its "
				    "does not see");
	if (!id || strlen(id) != AB_ID_SIZE - 1)
		return ab_error_set(err, AGENTBOX_EPROTO, "owner",
				    "an owner lists a box without an id");
	memcpy(b.id, id, AB_ID_SIZE);
	if (json_is_object(section))
		b.snapshot = json_incref(section);
	b.hidden = json_incref(hidden);
	if (!copy(json_string_value(json_object_get(v, "account")),
		  &b.account) ||
	    !copy(json_string_value(json_object_get(w, "path")),
		  &b.workspace)) {
		ab_peer_box_end(&b);
		return ab_error_nomem(err);
	}
	*out = b;
	return 0;
}

static int32_t find_remote(agentbox_peering *p, const char *box,
			   ab_peer_box *out, agentbox_error **err)
{
	ab_auto(agentbox_bytes) *text = NULL;
	ab_auto(json_t) *all = NULL;
	const char *key = ab_is_id(box) ? "id" : "name";
	json_t *v, *found = NULL;
	size_t i;

	int32_t rc = agentbox_remote_list(p->context, &text, err);
	if (rc == 0)
		rc = ab_json_parse(agentbox_bytes_get_data(text),
				   agentbox_bytes_get_size(text), MAX_LIST,
				   &all, NULL, err);
	if (rc < 0)
		return rc;
	json_array_foreach(all, i, v) {
		const char *s = json_string_value(json_object_get(v, key));

		if (!s || strcmp(s, box) != 0)
			continue;
		if (found)
			return ab_error_set(err, AGENTBOX_EINVAL, "box",
					    "two live boxes have the name "
					    "'%s': give an id", box);
		found = v;
	}
	if (!found)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "box",
				    "no live box has the id or name '%s', or "
				    "its owner does not serve it", box);
	return take_remote(found, out, err);
}

int32_t ab_peer_box_find(agentbox_peering *p, const char *box,
			 ab_peer_box *out, agentbox_error **err)
{
	for (const ab_known *k = p->boxes; k; k = k->next)
		if (strcmp(agentbox_sandbox_get_id(k->sandbox), box) == 0 ||
		    (k->name[0] && strcmp(k->name, box) == 0))
			return take_local(k->sandbox, out, err);
	return find_remote(p, box, out, err);
}
