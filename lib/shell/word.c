/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From bytes of a word back to the text they were written as (shell/word.h).
 */
#include "config.h"

#include "shell/word.h"

uint32_t ab_word_entry(const struct ab_word *w, uint32_t at)
{
	uint32_t low = 0, count = w->map_count;

	/* without a branch that nobody foresees */
	while (count > 1) {
		uint32_t half = count / 2;

		low += w->map[low + half].at <= at ? half : 0;
		count -= half;
	}
	return low;
}

/* Where the byte at `at`, or the place before it, came from; `i` is its entry
   of the map. */
static inline struct ab_span span_of(const struct ab_word *w, uint32_t at,
				     uint32_t i)
{
	struct ab_span span = w->span;
	uint32_t first = 0, last = w->len;

	if (w->map_count) {
		span = w->map[i].span;
		first = w->map[i].at;
		if (i + 1 < w->map_count)
			last = w->map[i + 1].at;
	}
	if (span.end - span.begin != last - first || at >= last)
		return span;
	span.begin += at - first;
	span.end = span.begin + 1;
	return span;
}

/* at .. at+len-1, which lie in that entry: most end where they begin. */
static inline struct ab_span inside(const struct ab_map *map, uint32_t end,
				    uint32_t at, uint32_t len)
{
	struct ab_span span = map->span;

	if (span.end - span.begin != end - map->at)
		return span;
	span.begin += at - map->at;
	span.end = span.begin + len;
	return span;
}

struct ab_span ab_word_mapped_span(const struct ab_word *w, uint32_t at,
				   uint32_t len)
{
	uint32_t i = ab_word_entry(w, at), end = at + len - 1, next = w->len;
	struct ab_span first, last;

	if (i + 1 < w->map_count)
		next = w->map[i + 1].at;
	if (w->map_count && len && at < next && len <= next - at)
		return inside(&w->map[i], next, at, len);
	first = span_of(w, at, i);
	if (len == 0) {
		first.end = first.begin;
		return first;
	}
	if (next <= end && i + 1 < w->map_count)
		i = ab_word_entry(w, end);
	last = span_of(w, end, i);
	if (last.begin < first.begin)
		first.begin = last.begin;
	if (last.end > first.end)
		first.end = last.end;
	return first;
}
