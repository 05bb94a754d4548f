/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-gateway: the one way out of one box. It follows the helper contract
 * (wire/helper.h), refuses a plan that is not sealed, of another build, or
 * malformed, and judges nothing before its own walls stand.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "build-id.h"
#include "kept.h"
#include "lists.h"
#include "state.h"
#include "wire/helper.h"
#include "wire/message.h"

#define NAME "agentbox-gateway"

static int fail(const char *stage, int sys_errno, const char *message)
{
	ab_helper_say_failed(AB_MSG_GW_FAILED, stage, sys_errno, message);
	return 1;
}

static int read_plan(ab_gateway_plan *plan)
{
	ab_reader reader;
	int r = ab_helper_map_plan(&reader);

	return r ? r : ab_gateway_plan_get(&reader, AB_BUILD_ID, plan);
}

static int receive_fds(uint32_t kind, int fds[AB_GATEWAY_MAX_FDS],
		       uint32_t *count, uint32_t *flags)
{
	uint8_t message[64];
	size_t got = 0;
	ab_reader r;
	ssize_t n = ab_message_recv(AB_HELPER_CONTROL_FD, message,
				    sizeof(message), fds, AB_GATEWAY_MAX_FDS,
				    &got, 0);

	if (n <= 0)
		return n ? (int)n : -ECANCELED;
	ab_reader_init(&r, message, (size_t)n);
	if (ab_get_u32(&r) != kind || ab_get_u32(&r) != got)
		return -EPROTO;
	*flags = ab_get_u32(&r);
	*count = (uint32_t)got;
	return ab_reader_done(&r) ? 0 : -EPROTO;
}

static size_t lesser(uint64_t a, uint64_t b)
{
	return (size_t)(a < b ? a : b);
}

/*
 * What there is of descriptors, dealt out: a pipe takes two and an eighth of
 * them all, the attempts of dials another, a client two of what is left; some
 * are for the listeners, the name servers and the stub.
 */
static void deal_files(ab_gw *gw, const ab_gateway_rates *rates)
{
	const uint64_t brokers = gw->broker ? 2 * AB_BROKER_CLIENTS +
					      AB_BROKER_MAX_SECRETS : 0;
	const uint64_t others = AB_KEPT_MAX + brokers;
	struct rlimit files;
	uint64_t all = UINT64_C(1) << 20, left;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < all)
		all = files.rlim_max;
	gw->pipes_max = lesser(AB_PIPES_MAX, all / 8 / 2);
	gw->dials_max = lesser(AB_DIALS_MAX, all / 8 / AB_DIAL_TRIES);
	left = all - 2 * gw->pipes_max - AB_DIAL_TRIES * gw->dials_max;
	left = left > others ? left - others : 0;
	gw->clients_max = lesser(AB_CLIENTS_MAX,
				 left > 256 ? (left - 128) / 2 : 64);
	if (rates->connections)
		gw->clients_max = lesser(gw->clients_max, rates->connections);
}

static void set_rates(ab_gw *gw, const ab_gateway_rates *rates)
{
	uint64_t now = gw->loop.now;

	deal_files(gw, rates);
	ab_bucket_init(&gw->records, AB_RECORDS_PER_SECOND,
		       AB_RECORDS_PER_SECOND, now);
	/* in sixtieths, so that a rate per minute is one per second of them */
	ab_bucket_init(&gw->new_names, 60 * AB_NAMES_PER_MINUTE,
		       AB_NAMES_PER_MINUTE, now);
	ab_bucket_init(&gw->failures, 200, 100, now);
}

static int make_routes(ab_gw *gw, const ab_wire_routes *routes,
		       char why[AB_WHY_SIZE])
{
	ab_roots_text roots[AB_ROUTE_ROOTS_MAX];

	if (!routes->count)
		return 0;
	for (uint32_t i = 0; i < routes->roots_count; i++)
		roots[i] = (ab_roots_text){ routes->roots[i].pem,
					    routes->roots[i].len };
	return ab_routes_new(gw, routes->items, routes->count, roots,
			     routes->roots_count, &gw->routes, why);
}

/* Everything that may still look at files. 0, or it has said why. */
static int prepare(ab_gw *gw)
{
	char why[AB_WHY_SIZE + 32] = "";
	ab_gateway_plan plan;
	int r = read_plan(&plan);

	if (r)
		return fail("plan", r == -ESTALE ? 0 : -r,
			    r == -ESTALE ? "library and helper are of "
					   "different builds"
					 : "it is not as announced");
	r = ab_routed_init(&gw->routed, &plan.routes);
	if (r == 0)
		r = ab_lists_compile(&plan.lists, &gw->routed, &gw->allow,
				     why, sizeof(why));
	if (r)
		return fail("lists", why[0] ? 0 : -r, why);
	memcpy(gw->key.hash, plan.key_hash, sizeof(gw->key.hash));
	gw->key.is_set = true;
	gw->is_audited = plan.flags & AB_GATEWAY_AUDITED;
	gw->has_previews = plan.flags & AB_GATEWAY_PREVIEWS;
	r = ab_loop_init(&gw->loop);
	if (r)
		return fail("loop", -r, "no descriptors");
	if (plan.broker.count)
		r = ab_broker_new(gw, &plan.broker, &gw->broker);
	ab_wire_broker_end(&plan.broker);
	if (r)
		return fail("memory", -r, "no memory");
	set_rates(gw, &plan.rates);
	r = ab_quotas_init(gw, &plan.rates, plan.names, plan.name_count);
	if (r)
		return fail("names", -r, "the names cannot be used");
	r = make_routes(gw, &plan.routes, why);
	if (r == 0 && plan.tools.len)
		r = ab_mcps_new(gw, &plan.tools, &plan.identity, &gw->mcps,
				why);
	ab_wire_routes_end(&plan.routes);
	if (r)
		return fail("routes", why[0] ? 0 : -r, why);
	r = ab_stub_begin(gw);
	if (r)
		return fail("memory", -r, "no memory");
	r = ab_resolver_new(gw, plan.resolver);
	ab_gateway_lists_end(&plan.lists);
	if (r)
		return fail("resolver", -r, "the name servers' addresses "
			    "cannot be used");
	return 0;
}

static int begin(ab_gw *gw)
{
	int fds[AB_GATEWAY_MAX_FDS];
	const char *stage = "broker";
	uint32_t count, flags, lent = 0;
	int r = 0;

	if (gw->broker)
		r = receive_fds(AB_MSG_GW_BROKER, fds, &count, &flags);
	if (r == 0 && gw->broker)
		r = ab_broker_begin(gw->broker, fds, count);
	if (r == 0) {
		stage = "listeners";
		r = receive_fds(AB_MSG_GW_LISTEN, fds, &count, &flags);
	}
	if (r == -ECANCELED)
		return 1;
	if (r == 0) {
		gw->has_ipv6 = flags & AB_GATEWAY_HAS_IPV6;
		lent = gw->has_previews ? AB_GATEWAY_PREVIEW_FDS : 0;
		r = count < lent ? -EPROTO
				 : ab_listen_begin(gw, fds, count - lent);
	}
	if (r == 0 && lent)
		r = ab_preview_begin(gw, fds + count - lent, lent);
	if (r == 0) {
		stage = "loop";
		r = ab_control_begin(gw);
	}
	if (r == 0)
		r = ab_confine(&stage);
	return r ? fail(stage, -r, "the gateway's own walls do not stand") : 0;
}

int main(void)
{
	ab_gw *gw;

	signal(SIGPIPE, SIG_IGN);
	umask(077);
	if (ab_helper_begin(NAME) || ab_helper_run_as_others())
		return 1;
	gw = ab_new(ab_gw);
	if (gw)
		gw->host_pidfd = ab_helper_open_host();
	if (!gw || gw->host_pidfd < 0 || ab_helper_say_hello(NAME))
		return 1;
	if (prepare(gw) || begin(gw) ||
	    ab_helper_say(AB_MSG_GW_READY))
		_exit(1);
	(void)ab_loop_run(&gw->loop);
	/* whatever went wrong: without us the box has no network */
	_exit(1);
}
