/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Leases in force: a timer, and an entry among what is live, so that a
 * revocation of the box's identity ends them. Spec: lease.h, gateway cases
 * 145-148.
 */
#include "config.h"

#include "lease.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define NS_PER_MS 1000000u

static int write_all(int fd, const char *p, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t r = pwrite(fd, p + at, n - at, (off_t)at);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -errno : -EIO;
		at += (size_t)r;
	}
	return 0;
}

/* Who has it open reads nothing; who has mapped it gets SIGBUS. */
static void empty(const ab_lease *lease)
{
	static const char zeroes[4096];
	struct stat st;

	if (lease->file_fd < 0)
		return;
	if (ab_fd_stat(lease->file_fd, &st) == 0)
		for (off_t at = 0; at < st.st_size; at += sizeof(zeroes))
			if (pwrite(lease->file_fd, zeroes, sizeof(zeroes),
				   at) < 0)
				break;
	if (ftruncate(lease->file_fd, 0))
		_exit(1); /* the host empties it; the box has no network */
}

int ab_lease_fill(ab_lease *lease, const char *p, size_t n)
{
	int rc;

	empty(lease);
	rc = write_all(lease->file_fd, p, n);
	if (rc)
		empty(lease);
	return rc;
}

void ab_lease_end(ab_lease *lease, const char *reason)
{
	if (!ab_lease_is_live(lease))
		return;
	lease->ends_ns = 0;
	ab_live_remove(&lease->live);
	ab_timer_clear(ab_gw_loop(lease->gw), &lease->timer);
	empty(lease);
	ab_gw_tell(lease->gw, &(ab_gw_record){
		.kind = AB_GW_CLOSED, .how = "broker",
		.target = lease->secret->name, .reason = reason,
		.detail = ab_broker_ways[ab_broker_way_index(lease->way)] },
		   false);
}

static void on_end(void *arg)
{
	ab_lease_end(arg, "expired");
}

static void cut(void *arg)
{
	ab_lease_end(arg, "revoked");
}

static uint64_t after(const ab_lease *lease, uint64_t ms)
{
	uint64_t ns;

	return __builtin_mul_overflow(ms, NS_PER_MS, &ns) ||
	       __builtin_add_overflow(ab_gw_loop(lease->gw)->now, ns, &ns)
		       ? UINT64_MAX : ns;
}

static void extend(ab_lease *lease)
{
	lease->ends_ns = after(lease, lease->secret->ttl_ms);
	if (lease->ends_ns > lease->latest_ns)
		lease->ends_ns = lease->latest_ns;
	ab_timer_set_at(ab_gw_loop(lease->gw), &lease->timer, lease->ends_ns,
			on_end, lease);
}

void ab_lease_begin(ab_lease *lease)
{
	if (!ab_lease_is_live(lease))
		ab_live_add(lease->gw, &lease->live, cut, lease);
	lease->latest_ns = after(lease, lease->secret->max_ttl_ms);
	extend(lease);
}

void ab_lease_renew(ab_lease *lease)
{
	if (ab_lease_is_live(lease))
		extend(lease);
}

/* The machine slept, or we were stopped: what is asked comes in the same turn
   as the clock, and before it. */
void ab_lease_settle(ab_lease *lease)
{
	if (lease->ends_ns <= ab_gw_loop(lease->gw)->now)
		ab_lease_end(lease, "expired");
}

uint64_t ab_lease_left_ms(const ab_lease *lease)
{
	uint64_t now = ab_gw_loop(lease->gw)->now;

	return lease->ends_ns > now ? (lease->ends_ns - now) / NS_PER_MS : 0;
}
