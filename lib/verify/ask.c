/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What agentbox-verify is asked: the rows of the two tables, and for each path
 * of the plan or of the host the one that is meant, as lines of its input.
 * Nothing is judged here but whether a policy opens what a row tries.
 * Spec: libexec/verify/main.c, internal.h.
 */
#include "config.h"

#include "verify/ask.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "path/lexical.h"
#include "wire/gateway.h"

#define MAX_SOCKETS 64
#define HOST_SOCKET \
	"ENOENT=rootfs EACCES=permissions EPERM=seccomp ECONNREFUSED=nobody"

static ab_question *add(ab_questions *q, const ab_question *item)
{
	if (!ab_grow(&q->items, &q->room, q->count + 1, sizeof(*q->items))) {
		q->nomem = true;
		return NULL;
	}
	q->items[q->count] = *item;
	return &q->items[q->count++];
}

void ab_questions_end(ab_questions *q)
{
	for (size_t i = 0; i < q->count; i++) {
		free(q->items[i].op);
		free(q->items[i].owned_id);
	}
	free(q->items);
}

void ab_verify_put_field(agentbox_bytes *b, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c > ' ' && c < 0x7f && c != '%')
			ab_bytes_append_char(b, (char)c);
		else
			ab_bytes_appendf(b, "%%%02x", c);
	}
}

/* The words of `text` as fields; a list of words stays several. */
static void put_words(agentbox_bytes *b, const char *text)
{
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, " ");

		ab_bytes_append_char(b, '\t');
		ab_verify_put_field(b, at, n);
		at += n + (at[n] == ' ');
	}
}

/*
 * The operation of a row with what its `%NAME`s stand for, as the fields of a
 * line; NULL: there is none of it, *why says why, or no memory (*why NULL).
 */
static char *expand(const ab_verify_run *run, const char *op, const char **why)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(AB_VERIFY_MAX_INPUT);
	bool is_list = false;

	*why = NULL;
	for (const char *at = op; b && *at;) {
		size_t n = strcspn(at, " ");
		char name[32];
		const char *value = NULL;

		if (at == op)
			;
		else if (*at == '%')
			is_list = !strncmp(at, "%variables", n) ||
				  !strncmp(at, "%system", n);
		if (*at == '%' && n < sizeof(name)) {
			memcpy(name, at + 1, n - 1);
			name[n - 1] = '\0';
			value = ab_bait_get(&run->bait, name, why);
			/* one of several places may be missing */
			if (!value && strcmp(name, "workspace") != 0 &&
			    strcmp(name, "system") != 0)
				return NULL;
		}
		*why = NULL;
		if (*at != '%') {
			if (at != op)
				ab_bytes_append_char(b, '\t');
			ab_verify_put_field(b, at, n);
		} else if (value && is_list) {
			put_words(b, value);
		} else if (value) {
			ab_bytes_append_char(b, '\t');
			ab_verify_put_field(b, value, strlen(value));
		}
		at += n + (at[n] == ' ');
	}
	return b && ab_bytes_ok(b) ? ab_strdup(agentbox_bytes_get_data(b))
				   : NULL;
}

static void ask(ab_questions *q, const ab_verify_run *run, ab_question item,
		const char *op)
{
	item.op = expand(run, op, &item.why);
	if (!item.op && !item.why)
		q->nomem = true;
	else if (!add(q, &item))
		free(item.op);
}

static bool is_allowed(const ab_verify_run *run, const char *name)
{
	const ab_policy_list *allow = &run->policy->syscalls.allow;

	for (size_t i = 0; i < allow->count; i++) {
		if (strcmp(allow->items[i], name) == 0)
			return true;
	}
	return false;
}

static void ask_calls(ab_questions *q, const ab_verify_run *run)
{
	for (size_t i = 0; i < ab_verify_call_count; i++) {
		const ab_verify_call *c = &ab_verify_calls[i];
		ab_question item = { .id = c->id, .wall = "seccomp",
				  .tries = c->tries, .needs = AB_WALL_SECCOMP,
				  .refused = c->refused ? c->refused
							: "EPERM ENOSYS" };
		ab_autofree char *op = NULL;

		if (is_allowed(run, c->name)) {
			item.why = "/syscalls/allow names it";
			item.unasked = AB_VERDICT_NOT_APPLICABLE;
			add(q, &item);
			continue;
		}
		op = ab_asprintf("call %ld %s", c->number, c->args);
		if (op)
			ask(q, run, item, op);
		else
			q->nomem = true;
	}
}

/* Where a path of the host is in the box by this step; owned, or NULL. */
static char *inside_of(const json_t *step, const char *path,
				 size_t n)
{
	const char *from = json_string_value(json_object_get(step, "from"));
	const char *at = json_string_value(json_object_get(step, "at"));
	const char *kind = json_string_value(json_object_get(step, "kind"));
	size_t len = from ? strlen(from) : 0;

	if (!from || !at || !kind || strcmp(kind, "bind") != 0 || n <= len ||
	    strncmp(path, from, len) != 0 || path[len] != '/')
		return NULL;
	return ab_asprintf("%s%.*s", at, (int)(n - len), path + len);
}

bool ab_verify_shows(const ab_verify_run *run, const char *path)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *at = json_string_value(json_object_get(m, "at"));
		const char *kind =
			json_string_value(json_object_get(m, "kind"));
		bool is_tree = kind && (!strcmp(kind, "bind") ||
					!strcmp(kind, "tmpfs"));

		if (at && ((is_tree && ab_path_is_below(path, at)) ||
			   ab_path_is_below(at, path)))
			return true;
	}
	return false;
}

/* One operation on one path, for what is in no table. Takes item.owned_id. */
static void ask_path(ab_questions *q, ab_question item, const char *op,
		     const char *path)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(AB_VERIFY_MAX_INPUT);

	item.id = item.owned_id;
	if (b && !item.why) {
		ab_bytes_appendf(b, "%s\t", op);
		ab_verify_put_field(b, path, strlen(path));
		if (ab_bytes_ok(b))
			item.op = ab_strdup(agentbox_bytes_get_data(b));
	}
	if (item.id && (item.op || item.why) && add(q, &item))
		return;
	q->nomem = true;
	free(item.op);
	free(item.owned_id);
}

const json_t *ab_verify_step_above(const ab_verify_run *run,
				   const char *wanted, const char *path)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");
	const json_t *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *at = json_string_value(json_object_get(m, "at"));
		const char *kind =
			json_string_value(json_object_get(m, "kind"));

		if (at && kind && !strcmp(kind, wanted) &&
		    ab_path_is_below(path, at) && strlen(at) >= longest) {
			best = m;
			longest = strlen(at);
		}
	}
	return best;
}

/* Something that should be asked, and cannot be: unknown. */
static void ask_not(ab_questions *q, const char *id, const char *why)
{
	const ab_question item = {
		.id = id, .wall = "sockets", .refused = HOST_SOCKET,
		.tries = "connect to a socket of the host that a tree shows",
		.why = why,
	};

	if (!add(q, &item))
		q->nomem = true;
}

/*
 * Sockets that somebody of the host listens on at a path which a tree of the
 * box shows: proc_net(5), unix. The walk finds them too, but for the trees
 * that it leaves out.
 */
static void ask_sockets(ab_questions *q, const ab_verify_run *run)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");
	int sys_errno;
	ab_autofree char *all = ab_proc_text(getpid(), "net/unix", &sys_errno);
	size_t asked = 0;

	if (!all)
		ask_not(q, "sockets.list", "the host's list of sockets cannot "
					   "be read");
	for (char *at = all; at && (at = strchr(at, '/')) != NULL;) {
		size_t n = strcspn(at, "\n");

		for (size_t i = 0; i < json_array_size(mounts); i++) {
			const json_t *m = json_array_get(mounts, i);
			ab_question item = { .wall = "sockets",
					  .tries = "connect to a socket of the "
						   "host that a tree shows",
					  .refused = HOST_SOCKET };
			ab_autofree char *inside =
				inside_of(m, at, n);

			if (!inside || ++asked > MAX_SOCKETS)
				continue;
			item.owned_id = ab_asprintf("sockets%s", inside);
			ask_path(q, item, "unix", inside);
		}
		at += n;
	}
	if (asked > MAX_SOCKETS)
		ask_not(q, "sockets.more", "too many sockets of the host are "
					   "shown: the first 64 were tried");
}

/* Trees of the host that the policy does not mount. */
static void ask_paths(ab_questions *q, const ab_verify_run *run)
{
	for (const char *const *p = ab_verify_host_paths; *p; p++) {
		ab_question item = { .wall = "rootfs",
				  .tries = "reach a tree of the host",
				  .needs = AB_WALL_ROOTFS,
				  .refused = "ENOENT=rootfs ENOTDIR=rootfs "
					     "EACCES=landlock ENXIO=rootfs" };

		item.owned_id = ab_asprintf("files%s", *p);
		if (ab_verify_shows(run, *p)) {
			item.why = "/mounts shows it or a part of it";
			item.unasked = AB_VERDICT_NOT_APPLICABLE;
		}
		ask_path(q, item, "read", *p);
	}
}

const char *ab_verify_wall_of(const json_t *step)
{
	const char *at = json_string_value(json_object_get(step, "at"));
	const char *kind = json_string_value(json_object_get(step, "kind"));

	if (!at || !kind)
		return "mounts";
	/* the kernel's own settings are held by the same steps */
	if (ab_path_is_below(at, "/proc"))
		return "proc";
	return strcmp(kind, "protect") && strcmp(kind, "pin") ? "mounts" :
								"protect";
}

/* Protected paths that are there, and trees that are read-only. */
static void ask_mounts(ab_questions *q, const ab_verify_run *run)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *at = json_string_value(json_object_get(m, "at"));
		const char *kind =
			json_string_value(json_object_get(m, "kind"));
		const char *access =
			json_string_value(json_object_get(m, "access"));
		bool is_protected = kind && !strcmp(kind, "protect");
		ab_question item = {
			.wall = ab_verify_wall_of(m),
			.tries = is_protected ? "write to a protected path"
					      : "write to a read-only tree",
			.needs = AB_WALL_ROOTFS,
			.refused = "EROFS=mounts EACCES=landlock ENOENT=mounts",
		};

		if (!at || !access || strcmp(access, "read") != 0)
			continue;
		item.owned_id = ab_asprintf(
			"%s%s", is_protected ? "protect" : "read-only", at);
		ask_path(q, item, "change", at);
	}
}

static bool allows_any(const ab_verify_run *run)
{
	const ab_policy_list *allow = &run->policy->network.allow;

	for (size_t i = 0; i < allow->count; i++) {
		if (allow->items[i][0] == '*')
			return true;
	}
	return false;
}

/* Why a row is not asked at all; NULL: it is. */
static const char *why_not_asked(const ab_verify_run *run, uint32_t needs,
				 uint32_t *verdict)
{
	*verdict = AB_VERDICT_NOT_APPLICABLE;
	if ((needs & AB_WALL_NETNS) &&
	    run->policy->network.mode == AB_NET_HOST)
		return "/network/mode is host";
	if ((needs & AB_NEEDS_GATEWAY) &&
	    run->policy->network.mode != AB_NET_GATEWAY)
		return "/network/mode is not gateway";
	if ((needs & AB_NEEDS_LIST) && allows_any(run))
		return "/network/allow is *";
	/* a box with no process of its own to look at tries nothing either */
	if ((needs & AB_NEEDS_OWN_NET) && !run->has_own_net &&
	    (run->walls.expected & AB_WALL_NETNS))
		return "it would leave the machine: see namespace.net";
	if ((needs & AB_NEEDS_OWN_TREE) && !run->has_own_tree &&
	    (run->walls.expected & AB_WALL_MOUNTNS))
		return "it would walk through the host's files: see "
		       "namespace.mount";
	*verdict = AB_VERDICT_WEAKER;
	/* it would walk through the host's files, not the box's */
	if ((needs & ~run->walls.expected) & AB_WALL_ROOTFS)
		return "nothing: no tree of its own in this tier";
	return NULL;
}

static void ask_table(ab_questions *q, const ab_verify_run *run)
{
	for (size_t i = 0; i < ab_verify_probe_count; i++) {
		const ab_verify_probe *p = &ab_verify_probes[i];
		ab_question item = { .id = p->id, .wall = p->wall,
				  .tries = p->tries, .refused = p->refused,
				  .needs = p->needs & ~AB_NEEDS_OTHER };

		/* every address leads to it */
		if (run->policy->network.mode == AB_NET_GATEWAY &&
		    !strcmp(item.wall, "network"))
			item.wall = "gateway";
		item.why = why_not_asked(run, p->needs, &item.unasked);
		if (!item.why) {
			item.unasked = 0;
			ask(q, run, item, p->op);
		} else if (!add(q, &item)) {
			q->nomem = true;
		}
	}
}

void ab_questions_ask(ab_questions *q, const ab_verify_run *run)
{
	ask_calls(q, run);
	ask_table(q, run);
	ask_paths(q, run);
	ask_sockets(q, run);
	ask_mounts(q, run);
}

/* The gateway, with the key that was good until now. */
void ab_questions_ask_revoked(ab_questions *q, const ab_verify_run *run)
{
	const ab_question item = {
		.id = "network.revoked", .wall = "gateway",
		.tries = "use the box's own key after it was revoked",
		.refused = "ECONNRESET=gateway ECONNREFUSED=gateway "
			   "EACCES=gateway ETIMEDOUT=gateway",
	};

	ask(q, run, item,
	    "knock " AB_GATEWAY_IPV4_TEXT " 3128 agentbox-verify.example:443 "
	    "%key");
}
