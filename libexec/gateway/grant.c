/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Judging, asking the host, leasing. A question waits at the host with few
 * others, for a bounded time, and is judged again when the value has come: a
 * secret that was revoked meanwhile, and a process that has ended, get none.
 * A record is sent before a value is. Spec: grant.h.
 */
#include "config.h"

#include "grant.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/secret.h"
#include "value.h"
#include "wire/helper.h"
#include "wire/message.h"

#define VALUE_MS 10000 /* the host's time to answer */
#define ASKED_MAX 8    /* at the host, at once */
#define PER_SECOND 50
#define BURST 100

bool ab_grant_tell(const ab_asker *a, uint32_t kind, const char *name,
		   const char *reason, const char *detail, bool required)
{
	return ab_gw_tell(a->grants->gw, &(ab_gw_record){
		.kind = kind, .how = "broker", .target = name,
		.reason = reason, .detail = detail, .has_peer = a->has_peer,
		.peer_uid = a->uid, .peer_pid = a->pid }, required);
}

/* --- who may have what --------------------------------------------------- */

bool ab_grant_has_euid(const ab_granted *s, uint32_t uid)
{
	if (!s->spec->has_euids)
		return true;
	for (uint32_t i = 0; i < s->spec->euid_count; i++)
		if (s->spec->euids[i] == uid)
			return true;
	return false;
}

uint32_t ab_grant_ways(const ab_grants *g)
{
	uint32_t ways = 0;

	for (uint32_t i = 0; i < g->plan.count; i++)
		ways |= g->plan.items[i].ways;
	return ways;
}

ab_granted *ab_grant_find(ab_grants *g, const char *name)
{
	for (uint32_t i = 0; i < g->plan.count; i++)
		if (strcmp(g->plan.items[i].name, name) == 0)
			return &g->secrets[i];
	return NULL;
}

const char *ab_grant_judge(const ab_asker *a, const ab_granted *s,
			   uint32_t way)
{
	if (!s)
		return "not_listed";
	if (s->is_forgotten)
		return "revoked";
	if (!ab_grant_has_euid(s, a->uid))
		return "euid";
	if (way && !(s->spec->ways & way))
		return "delivery";
	return NULL;
}

/* One that names no user is for any. */
static bool is_for_user(const ab_granted *s, const char *user)
{
	return !user[0] || !s->spec->user[0] ||
	       strcmp(user, s->spec->user) == 0;
}

ab_granted *ab_grant_for_git(const ab_asker *a, const char *host,
			     const char *user, const char **why)
{
	ab_grants *g = a->grants;
	ab_granted *found = NULL;
	ab_target t;

	*why = "malformed";
	if (ab_target_authority(host, strlen(host), 0, &t) != AB_TARGET_OK ||
	    !t.port)
		return NULL;
	*why = "not_listed";
	for (uint32_t i = 0; i < g->plan.count; i++) {
		ab_granted *s = &g->secrets[i];

		if (!is_for_user(s, user) ||
		    !ab_host_set_find(&s->hosts, &t, false))
			continue;
		*why = found ? "ambiguous"
			     : ab_grant_judge(a, s, AB_BROKER_GIT);
		if (found || *why)
			return NULL;
		found = s;
	}
	return found;
}

/* --- leases -------------------------------------------------------------- */

bool ab_grant_is_live(const ab_granted *s)
{
	for (size_t i = 0; i < AB_BROKER_WAY_COUNT; i++)
		if (ab_lease_is_live(&s->leases[i]))
			return true;
	return false;
}

void ab_grant_settle(ab_granted *s)
{
	for (size_t i = 0; i < AB_BROKER_WAY_COUNT; i++)
		ab_lease_settle(&s->leases[i]);
}

int64_t ab_grant_end(ab_granted *s, const char *reason)
{
	int64_t count = 0;

	for (size_t i = 0; i < AB_BROKER_WAY_COUNT; i++) {
		count += ab_lease_is_live(&s->leases[i]);
		ab_lease_end(&s->leases[i], reason);
	}
	return count;
}

/* --- the host ------------------------------------------------------------ */

void ab_grant_forget(ab_asker *a)
{
	ab_asker **at = &a->grants->waiting;

	if (!a->serial)
		return;
	while (*at && *at != a)
		at = &(*at)->next;
	if (*at)
		*at = a->next;
	a->grants->asked--;
	a->serial = 0;
	ab_timer_clear(ab_gw_loop(a->grants->gw), &a->timer);
}

static void on_late(void *arg)
{
	ab_asker *a = arg;

	ab_grant_tell(a, AB_GW_FAILED, a->secret->spec->name, "no_answer",
		      "who has the value did not answer", false);
	ab_grant_forget(a);
	a->answer(a, AB_BROKER_LATE);
}

static bool ask_host(uint32_t serial, const char *name)
{
	uint8_t memory[AB_MESSAGE_HEADER + 128];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_GW_NEED);
	ab_put_u32(&w, 0);
	ab_put_u32(&w, serial);
	ab_put_str(&w, name);
	return !w.bad && !ab_message_send(AB_HELPER_CONTROL_FD, w.data, w.len,
					  NULL, 0, MSG_DONTWAIT);
}

void ab_grant_ask(ab_asker *a, ab_granted *s, uint32_t way)
{
	ab_grants *g = a->grants;
	uint32_t serial = ++g->serial ? g->serial : ++g->serial;

	if (g->asked >= ASKED_MAX || !ask_host(serial, s->spec->name)) {
		ab_grant_tell(a, AB_GW_DENIED, s->spec->name, "busy",
			      "too many questions at once", false);
		a->answer(a, AB_BROKER_BUSY);
		return;
	}
	g->asked++;
	a->serial = serial;
	a->secret = s;
	a->way = way;
	a->next = g->waiting;
	g->waiting = a;
	ab_timer_set(ab_gw_loop(g->gw), &a->timer, VALUE_MS, on_late, a);
}

int64_t ab_grant_revoke(ab_grants *g, const char *name)
{
	ab_granted *s = ab_grant_find(g, name);
	ab_asker *a = g->waiting;

	if (!s)
		return -ENOENT;
	s->is_forgotten = true;
	while (a) {
		bool waits_for_it = a->secret == s;

		if (waits_for_it) {
			ab_grant_forget(a);
			ab_grant_tell(a, AB_GW_DENIED, name, "revoked", "",
				      false);
			a->answer(a, AB_BROKER_REFUSED);
		}
		/* who is answered may be gone, and the list another one */
		a = waits_for_it ? g->waiting : a->next;
	}
	return ab_grant_end(s, "revoked");
}

/* --- what the host answers ----------------------------------------------- */

static ab_asker *find_asker(ab_grants *g, uint32_t serial)
{
	ab_asker *a = g->waiting;

	while (a && (!serial || a->serial != serial))
		a = a->next;
	return a;
}

static const char *why_failed(int rc)
{
	return rc == -EINVAL ? "the value has not the form that this way needs"
	       : rc == -ESTALE ? "the value has expired"
			       : "no descriptor or no memory";
}

static void no_value(ab_asker *a, int32_t result)
{
	char detail[64];

	snprintf(detail, sizeof(detail), "nobody has a value for it (%d)",
		 result);
	ab_grant_tell(a, AB_GW_FAILED, a->secret->spec->name, "no_value",
		      detail, false);
	a->answer(a, AB_BROKER_NONE);
}

/* n bytes of it are in g->value. */
static void deliver(ab_asker *a, size_t n)
{
	const ab_wire_secret *spec = a->secret->spec;
	unsigned index = ab_broker_way_index(a->way);
	ab_lease *lease = &a->secret->leases[index];
	char detail[64];
	int rc;

	snprintf(detail, sizeof(detail), "for %llu s",
		 (unsigned long long)(spec->ttl_ms / 1000));
	/* before it is handed out, or it is not */
	if (!ab_grant_tell(a, AB_GW_ALLOWED, spec->name,
			   ab_broker_ways[index], detail, true)) {
		a->answer(a, AB_BROKER_BUSY);
		return;
	}
	rc = a->way == AB_BROKER_FILE
		     ? ab_lease_fill(lease, a->grants->value, n)
		     : a->put(a, a->grants->value, n);
	if (rc < 0) {
		ab_lease_end(lease, "failed");
		ab_grant_tell(a, AB_GW_FAILED, spec->name, "failed",
			      why_failed(rc), false);
		a->answer(a, AB_BROKER_FAILED);
		return;
	}
	ab_lease_begin(lease);
	a->answer(a, AB_BROKER_OK);
}

void ab_grant_value(ab_grants *g, uint32_t serial, int32_t result, int fd)
{
	ab_asker *a = find_asker(g, serial);
	const char *why;
	ssize_t n;

	if (!a)
		return;
	ab_grant_forget(a);
	why = a->secret->is_forgotten ? "revoked"
	      : a->is_alive && !a->is_alive(a) ? "peer_gone" : NULL;
	if (why) {
		ab_grant_tell(a, AB_GW_DENIED, a->secret->spec->name, why, "",
			      false);
		a->answer(a, AB_BROKER_REFUSED);
		return;
	}
	n = fd < 0 ? result : ab_value_read(fd, g->value, AB_BROKER_MAX_VALUE);
	if (fd < 0 || n <= 0)
		no_value(a, (int32_t)n);
	else
		deliver(a, (size_t)n);
	explicit_bzero(g->value, AB_BROKER_MAX_VALUE);
}

/* --- all of it ----------------------------------------------------------- */

static int parse_hosts(const ab_wire_secret *spec, ab_host_set *out)
{
	ab_host *hosts = ab_calloc((size_t)spec->host_count + 1,
				   sizeof(*hosts));
	char why[AB_WHY_SIZE];

	if (!hosts)
		return -ENOMEM;
	for (uint32_t i = 0; i < spec->host_count; i++) {
		if (!ab_host_parse(spec->hosts[i], &hosts[i], why)) {
			free(hosts);
			return -EPROTO;
		}
	}
	return ab_host_set_init(out, hosts, spec->host_count);
}

static int begin_secret(ab_grants *g, uint32_t i)
{
	const ab_wire_secret *spec = &g->plan.items[i];
	ab_granted *s = &g->secrets[i];

	s->spec = spec;
	for (uint32_t w = 0; w < AB_BROKER_WAY_COUNT; w++)
		s->leases[w] = (ab_lease){ .gw = g->gw, .secret = spec,
					   .file_fd = -1, .way = 1u << w };
	return parse_hosts(spec, &s->hosts);
}

int ab_grants_init(ab_grants *g, ab_gw *gw, ab_wire_broker *plan)
{
	int rc = 0;

	g->value = ab_secret_new(AB_BROKER_MAX_VALUE);
	if (!g->value)
		return -ENOMEM;
	g->gw = gw;
	g->plan = *plan;
	*plan = (ab_wire_broker){ 0 };
	ab_bucket_init(&g->rate, BURST, PER_SECOND, gw->loop.now);
	for (uint32_t i = 0; rc == 0 && i < g->plan.count; i++)
		rc = begin_secret(g, i);
	return rc;
}
