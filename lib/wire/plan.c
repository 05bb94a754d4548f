/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plan as bytes. Encoding writes the fields in the order of the
 * structures; decoding refuses everything it would not have written: another
 * build, unknown tiers, kinds, flags and namespaces, relative or dotted paths,
 * counts over bounds, bytes left over. It opens and changes nothing.
 * Spec: plan.h, DESIGN.md section 2. Libc only.
 */
#include "config.h"

#include "wire/plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "wire/broker.h"
#include "wire/gateway.h"

#define PLAN_MAX_STEPS 16384u
#define PLAN_MAX_RULES 4096u
#define PLAN_MAX_RLIMITS 64u
#define PLAN_MAX_CGROUPS 16u
#define PLAN_MAX_SECCOMP (4096u * 8u) /* BPF_MAXINSNS of 8 bytes */
#define PLAN_RLIMIT_NLIMITS 16u	      /* getrlimit(2) */

#define STEP_FLAGS                                                      \
	(AB_MOUNT_RDONLY | AB_MOUNT_NOEXEC | AB_MOUNT_NOSYMFOLLOW |     \
	 AB_MOUNT_RECURSIVE | AB_MOUNT_OPTIONAL | AB_MOUNT_IDMAP)

static void put_step(ab_writer *w, const ab_plan_step *s)
{
	ab_put_u32(w, s->kind);
	ab_put_u32(w, s->flags);
	ab_put_str(w, s->source ? s->source : "");
	ab_put_str(w, s->target);
	ab_put_u64(w, s->dev);
	ab_put_u64(w, s->ino);
	ab_put_u64(w, s->size);
	ab_put_u32(w, s->mode);
	ab_put_u32(w, s->idmap_uid);
	ab_put_u32(w, s->idmap_gid);
	ab_put_bytes(w, s->content, s->content_len);
}

static void put_identity(ab_writer *w, const ab_plan *p)
{
	ab_put_str(w, p->build_id);
	ab_put_str(w, p->box_id);
	ab_put_str(w, p->hostname ? p->hostname : "");
	ab_put_u32(w, p->tier);
	ab_put_u32(w, p->namespaces);
	ab_put_u32(w, p->uid_inside);
	ab_put_u32(w, p->gid_inside);
	ab_put_u32(w, p->uid_outside);
	ab_put_u32(w, p->gid_outside);
	ab_put_u32(w, p->map_by_holder);
	ab_put_u32(w, p->drop_groups);
	ab_put_u32(w, p->host_sockets);
	ab_put_u32(w, p->watched_calls);
}

static void put_walls(ab_writer *w, const ab_plan *p)
{
	ab_put_u32(w, p->landlock_abi);
	ab_put_u64(w, p->landlock_fs);
	ab_put_u64(w, p->landlock_net);
	ab_put_u64(w, p->landlock_scope);
	ab_put_u32(w, p->rule_count);
	for (uint32_t i = 0; i < p->rule_count; i++) {
		ab_put_str(w, p->rules[i].path);
		ab_put_u64(w, p->rules[i].access);
	}
	ab_put_bytes(w, p->seccomp, p->seccomp_len);
	ab_put_u32(w, p->rlimit_count);
	for (uint32_t i = 0; i < p->rlimit_count; i++) {
		ab_put_u32(w, p->rlimits[i].resource);
		ab_put_u64(w, p->rlimits[i].soft);
		ab_put_u64(w, p->rlimits[i].hard);
	}
	ab_put_u32(w, p->cgroup_count);
	for (uint32_t i = 0; i < p->cgroup_count; i++)
		ab_put_str(w, p->cgroups[i]);
	ab_put_u64(w, p->mark_key);
	ab_put_u64(w, p->polled_memory);
	ab_put_u64(w, p->polled_pids);
}

static void put_workspace(ab_writer *w, const ab_plan *p)
{
	ab_put_str(w, p->workspace_inside ? p->workspace_inside : "");
	ab_put_str(w, p->workspace_host ? p->workspace_host : "");
	ab_put_u64(w, p->workspace_dev);
	ab_put_u64(w, p->workspace_ino);
	ab_put_str(w, p->quarantine_host ? p->quarantine_host : "");
	ab_put_u32(w, p->watch_count);
	for (uint32_t i = 0; i < p->watch_count; i++)
		ab_put_str(w, p->watches[i].pattern);
	ab_put_i32(w, p->oom_score_adj);
	ab_put_u32(w, p->is_head);
	ab_put_u32(w, p->gateway);
	ab_put_u32(w, p->gateway_port_count);
	for (uint32_t i = 0; i < p->gateway_port_count; i++)
		ab_put_u32(w, p->gateway_ports[i]);
	ab_put_u32(w, p->gateway_previews);
	ab_put_u32(w, p->is_left);
}

int ab_plan_encode(const ab_plan *plan, ab_writer *w)
{
	put_identity(w, plan);
	ab_put_u32(w, plan->step_count);
	for (uint32_t i = 0; i < plan->step_count; i++)
		put_step(w, &plan->steps[i]);
	put_walls(w, plan);
	put_workspace(w, plan);
	return w->bad ? -EMSGSIZE : 0;
}

/* Absolute, no empty, "." or ".." component, no slash at the end; "/" is. */
static bool path_is_plain(const char *s)
{
	if (s[0] != '/' || strlen(s) >= AB_MAX_PATH)
		return false;
	if (s[1] == '\0')
		return true;
	while (*s == '/') {
		size_t n = strcspn(++s, "/");

		if (n == 0 || n > AB_MAX_NAME || (n == 1 && s[0] == '.') ||
		    (n == 2 && s[0] == '.' && s[1] == '.'))
			return false;
		s += n;
	}
	return true;
}

static const char *get_path(ab_reader *r, bool may_be_empty)
{
	const char *s = ab_get_str(r);

	if (!(may_be_empty && s[0] == '\0') && !path_is_plain(s))
		r->bad = true;
	return s;
}

/* Names of secrets, each with its NUL. */
static bool names_are_known(const ab_plan_step *s)
{
	const char *p = s->content, *end = p + s->content_len;
	uint32_t count = 0;

	while (p < end) {
		size_t n = strnlen(p, (size_t)(end - p));

		if (p + n == end || !ab_broker_name_ok(p) ||
		    ++count > AB_BROKER_MAX_SECRETS)
			return false;
		p += n + 1;
	}
	return count > 0;
}

static bool step_is_known(const ab_plan_step *s)
{
	bool has_source =
		s->kind == AB_STEP_BIND || s->kind == AB_STEP_SYMLINK;

	if (s->kind == 0 || s->kind >= AB_STEP_KIND_COUNT ||
	    (s->flags & ~STEP_FLAGS) || (s->mode & ~07777u))
		return false;
	if (has_source != (s->source[0] != '\0'))
		return false;
	if (s->kind == AB_STEP_BIND && !path_is_plain(s->source))
		return false;
	if ((s->flags & AB_MOUNT_IDMAP) && s->kind != AB_STEP_BIND)
		return false;
	if (s->kind != AB_STEP_FILE && s->kind != AB_STEP_SECRETS &&
	    s->content_len)
		return false;
	if (s->kind == AB_STEP_SECRETS && !names_are_known(s))
		return false;
	/* the root itself is the box's own tmpfs */
	return s->target[1] != '\0';
}

static void get_step(ab_reader *r, ab_plan_step *s)
{
	s->kind = ab_get_u32(r);
	s->flags = ab_get_u32(r);
	s->source = ab_get_str(r);
	s->target = get_path(r, false);
	s->dev = ab_get_u64(r);
	s->ino = ab_get_u64(r);
	s->size = ab_get_u64(r);
	s->mode = ab_get_u32(r);
	s->idmap_uid = ab_get_u32(r);
	s->idmap_gid = ab_get_u32(r);
	s->content = ab_get_bytes(r, &s->content_len);
	if (!r->bad && !step_is_known(s))
		r->bad = true;
}

static bool box_id_is_good(const char *s)
{
	return strlen(s) == 32 && strspn(s, "0123456789abcdef") == 32;
}

static void get_identity(ab_reader *r, ab_plan *p)
{
	p->box_id = ab_get_str(r);
	p->hostname = ab_get_str(r);
	p->tier = ab_get_u32(r);
	p->namespaces = ab_get_u32(r);
	p->uid_inside = ab_get_u32(r);
	p->gid_inside = ab_get_u32(r);
	p->uid_outside = ab_get_u32(r);
	p->gid_outside = ab_get_u32(r);
	p->map_by_holder = ab_get_u32(r);
	p->drop_groups = ab_get_u32(r);
	p->host_sockets = ab_get_u32(r);
	p->watched_calls = ab_get_u32(r);
	if (r->bad)
		return;
	if (!box_id_is_good(p->box_id) || strlen(p->hostname) > 64 ||
	    p->tier < AB_TIER_FULL || p->tier > AB_TIER_BARE ||
	    (p->namespaces & ~AB_NS_ALL) || p->map_by_holder > 1 ||
	    p->drop_groups > 1 || p->host_sockets > 1 ||
	    (p->watched_calls & ~AB_WATCH_ALL) ||
	    p->uid_inside == UINT32_MAX ||
	    p->gid_inside == UINT32_MAX || p->uid_outside == UINT32_MAX ||
	    p->gid_outside == UINT32_MAX)
		r->bad = true;
	/* a tree without its own namespaces would be built on the host */
	if (p->tier < AB_TIER_LANDLOCK &&
	    (p->namespaces & (AB_NS_MOUNT | AB_NS_PID)) !=
		    (AB_NS_MOUNT | AB_NS_PID))
		r->bad = true;
	if (p->tier >= AB_TIER_LANDLOCK && p->namespaces)
		r->bad = true;
	/* who listens is the owner of the user namespace */
	if (p->watched_calls && !(p->namespaces & AB_NS_USER))
		r->bad = true;
}

/* count elements of size bytes, or NULL and bad. One more: never empty. */
static void *new_array(ab_reader *r, uint32_t count, size_t size)
{
	void *a = r->bad ? NULL : ab_calloc((size_t)count + 1, size);

	if (!a)
		r->bad = true;
	return a;
}

static void get_steps(ab_reader *r, ab_plan *p)
{
	uint32_t n = ab_get_count(r, PLAN_MAX_STEPS);

	p->steps = new_array(r, n, sizeof(*p->steps));
	if (!p->steps)
		return;
	p->step_count = n;
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		get_step(r, &p->steps[i]);
		if (p->steps[i].kind == AB_STEP_PROC &&
		    p->tier == AB_TIER_NO_PROC)
			r->bad = true;
	}
	if (p->tier >= AB_TIER_LANDLOCK && n)
		r->bad = true;
}

static void get_landlock(ab_reader *r, ab_plan *p)
{
	uint32_t n;

	p->landlock_abi = ab_get_u32(r);
	p->landlock_fs = ab_get_u64(r);
	p->landlock_net = ab_get_u64(r);
	p->landlock_scope = ab_get_u64(r);
	n = ab_get_count(r, PLAN_MAX_RULES);
	p->rules = new_array(r, n, sizeof(*p->rules));
	if (!p->rules)
		return;
	p->rule_count = n;
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		p->rules[i].path = get_path(r, false);
		p->rules[i].access = ab_get_u64(r);
		/* a right nobody handles is a mistake, not a grant */
		if (p->rules[i].access & ~p->landlock_fs)
			r->bad = true;
	}
}

static void get_limits(ab_reader *r, ab_plan *p)
{
	uint32_t n = ab_get_count(r, PLAN_MAX_RLIMITS);

	p->rlimits = new_array(r, n, sizeof(*p->rlimits));
	if (!p->rlimits)
		return;
	p->rlimit_count = n;
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		ab_plan_rlimit *l = &p->rlimits[i];

		l->resource = ab_get_u32(r);
		l->soft = ab_get_u64(r);
		l->hard = ab_get_u64(r);
		if (l->resource >= PLAN_RLIMIT_NLIMITS || l->soft > l->hard)
			r->bad = true;
	}
	n = ab_get_count(r, PLAN_MAX_CGROUPS);
	p->cgroups = new_array(r, n, sizeof(*p->cgroups));
	if (!p->cgroups)
		return;
	p->cgroup_count = n;
	for (uint32_t i = 0; i < n && !r->bad; i++)
		p->cgroups[i] = get_path(r, false);
	p->mark_key = ab_get_u64(r);
	p->polled_memory = ab_get_u64(r);
	p->polled_pids = ab_get_u64(r);
}

static void get_workspace(ab_reader *r, ab_plan *p)
{
	uint32_t n;

	p->workspace_inside = get_path(r, true);
	p->workspace_host = get_path(r, true);
	p->workspace_dev = ab_get_u64(r);
	p->workspace_ino = ab_get_u64(r);
	p->quarantine_host = get_path(r, true);
	n = ab_get_count(r, AB_MAX_PROTECTED);
	p->watches = new_array(r, n, sizeof(*p->watches));
	if (!p->watches)
		return;
	p->watch_count = n;
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		p->watches[i].pattern = ab_get_str(r);
		if (!p->watches[i].pattern[0])
			r->bad = true;
	}
	/* what must not appear needs a place to be moved to */
	if (n && (!p->workspace_host[0] || !p->workspace_inside[0] ||
		  !p->quarantine_host[0]))
		r->bad = true;
	p->oom_score_adj = ab_get_i32(r);
	if (p->oom_score_adj < -1000 || p->oom_score_adj > 1000)
		r->bad = true;
}

static void get_gateway(ab_reader *r, ab_plan *p)
{
	uint32_t n;

	p->gateway = ab_get_u32(r);
	n = ab_get_count(r, AB_GATEWAY_MAX_PORTS);
	p->gateway_ports = new_array(r, n, sizeof(*p->gateway_ports));
	if (!p->gateway_ports)
		return;
	p->gateway_port_count = n;
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		p->gateway_ports[i] = ab_get_u32(r);
		if (p->gateway_ports[i] == 0 || p->gateway_ports[i] > 65535)
			r->bad = true;
	}
	p->gateway_previews = ab_get_u32(r);
	/* it is reached from a network of the box's own */
	if (p->gateway > 1 || p->gateway_previews > p->gateway ||
	    (n && !p->gateway) ||
	    (p->gateway && (!(p->namespaces & AB_NS_NET) || p->is_head)))
		r->bad = true;
}

/* What a head says nothing about is not in it. */
static void get_head(ab_reader *r, ab_plan *p)
{
	p->is_head = ab_get_u32(r);
	if (p->is_head > 1)
		r->bad = true;
	if (p->is_head &&
	    (p->step_count || p->rule_count || p->landlock_abi ||
	     p->seccomp_len || p->rlimit_count || p->mark_key ||
	     p->polled_memory || p->polled_pids || p->watch_count ||
	     p->workspace_inside[0] || p->workspace_host[0] ||
	     p->quarantine_host[0]))
		r->bad = true;
}

/* Of a box that is gone: it has no part of one that is raised. */
static void get_left(ab_reader *r, ab_plan *p)
{
	p->is_left = ab_get_u32(r);
	if (p->is_left > 1)
		r->bad = true;
	if (p->is_left &&
	    (p->is_head || p->step_count || p->rule_count ||
	     p->cgroup_count || p->watch_count || p->namespaces ||
	     p->workspace_inside[0] || !p->workspace_host[0] ||
	     !p->quarantine_host[0]))
		r->bad = true;
}

int ab_plan_decode(const void *data, size_t n, const char *build_id,
		   ab_plan *out)
{
	ab_plan p = {0};
	ab_reader r;

	if (n > AB_MAX_PLAN_BYTES)
		return -EPROTO;
	ab_reader_init(&r, data, n);
	p.build_id = ab_get_str(&r);
	if (r.bad)
		return -EPROTO;
	if (strcmp(p.build_id, build_id) != 0)
		return -ESTALE;
	get_identity(&r, &p);
	get_steps(&r, &p);
	get_landlock(&r, &p);
	p.seccomp = ab_get_bytes(&r, &p.seccomp_len);
	if (p.seccomp_len % 8 || p.seccomp_len > PLAN_MAX_SECCOMP)
		r.bad = true;
	get_limits(&r, &p);
	get_workspace(&r, &p);
	get_head(&r, &p);
	get_gateway(&r, &p);
	get_left(&r, &p);
	if (!ab_reader_done(&r)) {
		ab_plan_end(&p);
		return -EPROTO;
	}
	*out = p;
	return 0;
}

void ab_plan_end(ab_plan *plan)
{
	free(plan->steps);
	free(plan->rules);
	free(plan->rlimits);
	free(plan->cgroups);
	free(plan->watches);
	free(plan->gateway_ports);
	memset(plan, 0, sizeof(*plan));
}

ab_plan ab_plan_head(const ab_plan *p)
{
	return (ab_plan){
		.build_id = p->build_id,
		.box_id = p->box_id,
		.hostname = p->hostname,
		.tier = p->tier,
		.namespaces = p->namespaces,
		.uid_inside = p->uid_inside,
		.gid_inside = p->gid_inside,
		.uid_outside = p->uid_outside,
		.gid_outside = p->gid_outside,
		.map_by_holder = p->map_by_holder,
		.drop_groups = p->drop_groups,
		.host_sockets = p->host_sockets,
		.watched_calls = p->watched_calls,
		.cgroups = p->cgroups,
		.cgroup_count = p->cgroup_count,
		.oom_score_adj = p->oom_score_adj,
		.is_head = 1,
	};
}

bool ab_plan_continues(const ab_plan *whole, const ab_plan *head)
{
	if (whole->is_head || !head->is_head ||
	    strcmp(whole->box_id, head->box_id) != 0 ||
	    strcmp(whole->hostname, head->hostname) != 0 ||
	    whole->tier != head->tier ||
	    whole->namespaces != head->namespaces ||
	    whole->uid_inside != head->uid_inside ||
	    whole->gid_inside != head->gid_inside ||
	    whole->uid_outside != head->uid_outside ||
	    whole->gid_outside != head->gid_outside ||
	    whole->map_by_holder != head->map_by_holder ||
	    whole->drop_groups != head->drop_groups ||
	    whole->host_sockets != head->host_sockets ||
	    whole->watched_calls != head->watched_calls ||
	    whole->oom_score_adj != head->oom_score_adj ||
	    whole->cgroup_count != head->cgroup_count)
		return false;
	for (uint32_t i = 0; i < head->cgroup_count; i++) {
		if (strcmp(whole->cgroups[i], head->cgroups[i]) != 0)
			return false;
	}
	return true;
}
