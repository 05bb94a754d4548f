/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring between reader and writer. Refuses, on the taker's side, counts
 * and lengths that do not fit. Spec: ring.h, eventfd(2).
 */
#include "config.h"

#include "ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"

/* Waking somebody costs more than a small file: do it for several. */
#define TELL_TAKER ((size_t)256 << 10)
#define TELL_PUTTER (RING_SIZE / 2)

/*
 * No memfd: that is a file, and has no room where RLIMIT_FSIZE is small. A
 * shared mapping of size 0 is another one of the same pages: mremap(2).
 */
static int map_twice(uint8_t **out)
{
	uint8_t *p = mmap(NULL, 2 * RING_SIZE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED ||
	    mmap(p, RING_SIZE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED ||
	    mremap(p, 0, RING_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   p + RING_SIZE) == MAP_FAILED)
		return -errno;
	*out = p;
	return 0;
}

int ring_make(ring *r)
{
	void *shared = mmap(NULL, sizeof(ring_shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	memset(r, 0, sizeof(*r));
	if (shared == MAP_FAILED)
		return -errno;
	r->shared = shared;
	r->put_event = ab_fd_lift(eventfd(0, EFD_CLOEXEC));
	r->take_event = ab_fd_lift(eventfd(0, EFD_CLOEXEC));
	if (r->put_event < 0 || r->take_event < 0)
		return -EMFILE;
	return map_twice(&r->data);
}

void ring_leave(ring *r)
{
	(void)munmap(r->data, 2 * RING_SIZE);
	(void)munmap(r->shared, sizeof(ring_shared));
	memset(r, 0, sizeof(*r));
	r->put_event = r->take_event = -1;
}

void ring_wake(int event)
{
	uint64_t one = 1;

	while (write(event, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void ring_sleep(int event)
{
	uint64_t count;

	while (read(event, &count, sizeof(count)) < 0 && errno == EINTR)
		;
}

void ring_flush(ring *r)
{
	if (r->settle)
		r->settle(r->settle_data);
	r->told = r->put;
	atomic_store(&r->shared->put, r->put);
	if (atomic_exchange(&r->shared->taker_waits, 0))
		ring_wake(r->take_event);
}

void ring_end(ring *r)
{
	ring_flush(r);
	atomic_store(&r->shared->putter_rests, 1);
}

bool ring_taker_waits(const ring *r)
{
	return atomic_load(&r->shared->taker_waits) != 0;
}

bool ring_is_behind(const ring *r)
{
	return r->put - atomic_load(&r->shared->taken) > RING_SIZE / 2;
}

static size_t room(ring *r)
{
	return RING_SIZE -
	       (size_t)(r->put - atomic_load(&r->shared->taken));
}

ring_record *ring_reserve(ring *r, size_t name_len, size_t data_len)
{
	size_t need = sizeof(ring_record) + ring_padded(name_len) +
		      ring_padded(data_len);

	while (room(r) < need) {
		ring_flush(r);
		atomic_store(&r->shared->putter_waits, 1);
		atomic_store(&r->shared->putter_rests, 1);
		if (room(r) < need)
			ring_sleep(r->put_event);
		atomic_store(&r->shared->putter_rests, 0);
		atomic_store(&r->shared->putter_waits, 0);
	}
	return (ring_record *)(void *)(r->data + r->put % RING_SIZE);
}

static uint64_t size_of(const ring_record *record)
{
	return sizeof(*record) + ring_padded(record->name_len) +
	       ring_padded(record->data_len);
}

void ring_commit(ring *r, const ring_record *record)
{
	r->put += size_of(record);
	if (r->put - r->told >= TELL_TAKER)
		ring_flush(r);
}

static size_t ready(const ring *r)
{
	return (size_t)(atomic_load(&r->shared->put) - r->taken);
}

bool ring_has_record(const ring *r)
{
	return ready(r) != 0;
}

bool ring_putter_rests(const ring *r)
{
	return atomic_load(&r->shared->putter_rests) != 0;
}

static void wait_for_record(ring *r)
{
	while (!ready(r)) {
		/* nothing is left to take: there is room, or soon will be */
		if (atomic_load(&r->shared->taken) == r->taken &&
		    atomic_exchange(&r->shared->putter_waits, 0))
			ring_wake(r->put_event);
		atomic_store(&r->shared->taker_waits, 1);
		if (!ready(r))
			ring_sleep(r->take_event);
		atomic_store(&r->shared->taker_waits, 0);
	}
}

int ring_take(ring *r, ring_record *out, const char **name,
	      const uint8_t **data)
{
	const uint8_t *at = r->data + r->taken % RING_SIZE;
	size_t have;

	wait_for_record(r);
	have = ready(r);
	if (have > RING_SIZE || have < sizeof(*out))
		return -EPROTO;
	memcpy(out, at, sizeof(*out));
	if (out->name_len > AB_MAX_NAME || out->data_len > RING_DATA_MAX ||
	    size_of(out) > have)
		return -EPROTO;
	*name = (const char *)at + sizeof(*out);
	*data = at + sizeof(*out) + ring_padded(out->name_len);
	return 0;
}

void ring_hash(ring_record *record, const uint8_t *data, ab_sha256_fn hash)
{
	if (record->kind != RING_FILE ||
	    record->source.flags & AB_RECORD_HASHED)
		return;
	hash(data, record->data_len, record->source.sha256);
	record->source.flags |= AB_RECORD_HASHED;
}

void ring_pass(ring *r, const ring_record *record)
{
	r->taken += size_of(record);
}

void ring_release_to(ring *r, uint64_t end)
{
	atomic_store(&r->shared->taken, end);
	if (atomic_load(&r->shared->put) - end < RING_SIZE - TELL_PUTTER &&
	    atomic_load(&r->shared->putter_waits) &&
	    atomic_exchange(&r->shared->putter_waits, 0))
		ring_wake(r->put_event);
}

void ring_release(ring *r, const ring_record *record)
{
	ring_pass(r, record);
	ring_release_to(r, r->taken);
}
