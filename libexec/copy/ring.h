/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring of bytes in shared memory from one process to one other. Its memory
 * is mapped twice in a row, so that every record is in one piece. Whoever has
 * to wait sleeps on an eventfd; the other wakes him when there is enough to
 * do. The taker trusts nothing in it: counts are checked, and what is judged
 * is copied out first.
 */
#ifndef AB_COPY_RING_H
#define AB_COPY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "snapshot/record.h"

#define RING_SIZE ((size_t)4 << 20)
/* The most data of one record; a larger file comes in several. */
#define RING_DATA_MAX ((size_t)1 << 20)

enum ring_kind {
	RING_DIR = 1, /* name, source: go down into a new directory */
	RING_UP,      /* leave it */
	RING_FILE,    /* name, source, data: a whole file */
	RING_BEGIN,   /* name, source: a large file begins (again) */
	RING_DATA,    /* data of it */
	RING_END,     /* source: it is complete */
	RING_DROP,    /* it is not to be kept */
	RING_LINK,    /* name, source: as in the generation before */
	RING_FINISH   /* nothing follows */
};

typedef struct ring_record {
	uint32_t kind, name_len;
	uint64_t data_len;
	ab_record_entry source;
} ring_record;

typedef struct ring_shared {
	_Alignas(64) _Atomic uint64_t put;
	_Alignas(64) _Atomic uint64_t taken;
	_Alignas(64) _Atomic uint32_t putter_waits;
	_Atomic uint32_t taker_waits;
	_Atomic uint32_t putter_rests; /* until it runs again, or for ever */
} ring_shared;

typedef struct ring {
	ring_shared *shared;
	uint8_t *data;
	int put_event, take_event; /* the putter's, the taker's */
	uint64_t put, taken;	   /* this side's own count */
	uint64_t told;		   /* put when the taker was last woken */
	/* the putter's: completes what was put, before it can be seen */
	void (*settle)(void *data);
	void *settle_data;
} ring;

/* 0 or -errno. Both processes inherit it. */
int ring_make(ring *r);
/* Who has no business with it cannot touch it any more. */
void ring_leave(ring *r);

/* Room for a record with so much data, waiting for it; where the name goes
   is after the record, the data after the padded name. */
ring_record *ring_reserve(ring *r, size_t name_len, size_t data_len);
static inline uint8_t *ring_name(ring_record *record)
{
	return (uint8_t *)(record + 1);
}
static inline size_t ring_padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}
static inline uint8_t *ring_data(ring_record *record)
{
	return ring_name(record) + ring_padded(record->name_len);
}
/* What was reserved has its lengths; the rest of it too, or settle() knows. */
void ring_commit(ring *r, const ring_record *record);
/* Has the taker taken all that it was told of, and waits? A hint. */
bool ring_taker_waits(const ring *r);
/* Is so much waiting for the taker that he is the slower one? */
bool ring_is_behind(const ring *r);
/* The taker need not wait for more. */
void ring_flush(ring *r);
/* The same; nothing follows, so that this side's processor is free. */
void ring_end(ring *r);

/*
 * The next record, waiting for it: copied to *out, its name and data
 * borrowed until ring_release(). 0, or -EPROTO for what cannot be one.
 */
int ring_take(ring *r, ring_record *out, const char **name,
	      const uint8_t **data);
void ring_release(ring *r, const ring_record *record);
/*
 * The same in two steps: the taker is past the record, and somebody of his
 * needs what lies before the position `end` no more, r->taken it was then.
 */
void ring_pass(ring *r, const ring_record *record);
void ring_release_to(ring *r, uint64_t end);
/* Is there a record, so that ring_take() would not wait? */
bool ring_has_record(const ring *r);
/* A whole file that its putter left unhashed: hashed now. */
void ring_hash(ring_record *record, const uint8_t *data, ab_sha256_fn hash);
/* Does the putter wait for room, or has it ended? A hint: it is its word. */
bool ring_putter_rests(const ring *r);

/* What both sides wait with: an eventfd(2). */
void ring_wake(int event);
void ring_sleep(int event);

#endif
