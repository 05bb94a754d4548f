/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Heads, chunked bodies and paths on any bytes; the first byte chooses, the
 * second how the input is cut. A reader fed in pieces says what it says of
 * the whole; a head that is written anew is read as the same message, by
 * rules at least as strict; a path's spelling is its own.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "http_chunk.h"
#include "http_path.h"
#include "http_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM 80000

static void again_is_the_same(const ab_http_head *head, const char *buf)
{
	static char text[ROOM];
	ab_http_rewrite rewrite = { .default_port = 80 };
	ab_http_out out = { .p = text, .size = sizeof(text) };
	ab_http_head again;
	bool request = head->kind == AB_HTTP_REQUEST;

	if (head->form == AB_HTTP_FORM_CONNECT)
		return;
	if (!(request ? ab_http_write_request(&out, head, buf, &rewrite) :
			ab_http_write_response(&out, head, buf, &rewrite)))
		abort();
	/* ours can be a little longer than what was read */
	if (out.len > AB_HTTP_HEAD_MAX - 400 || head->field_count > 95 ||
	    head->target.len > AB_HTTP_TARGET_MAX - 1)
		return;
	ab_http_head_init(&again, head->kind);
	if (ab_http_head_read(&again, text, out.len) != AB_HTTP_OK ||
	    again.len != out.len || again.length != head->length ||
	    again.status != head->status ||
	    (request && (again.body != head->body ||
			 !ab_target_same_host(&again.host, &head->host) ||
			 again.host.port != head->host.port)))
		abort();
}

static void read_head(enum ab_http_kind kind, size_t step, const char *s,
		      size_t n)
{
	ab_http_head whole;
	ab_http_head pieces;
	ab_http_exchange exchange = { 0 };
	enum ab_http_reason reason;
	enum ab_http_reason want;

	ab_http_head_init(&whole, kind);
	ab_http_head_init(&pieces, kind);
	want = ab_http_head_read(&whole, s, n);
	for (size_t at = 0; at < n; at += step)
		ab_http_head_read(&pieces, s, at);
	reason = ab_http_head_read(&pieces, s, n);
	if (reason != want || memcmp(&whole, &pieces, sizeof(whole)) != 0)
		abort();
	if (want != AB_HTTP_OK)
		return;
	if (whole.len > n || whole.len > AB_HTTP_HEAD_MAX)
		abort();
	if (kind == AB_HTTP_REQUEST ||
	    ab_http_response_judge(&whole, &exchange) == AB_HTTP_OK)
		again_is_the_same(&whole, s);
}

static void read_chunks(size_t step, const char *s, size_t n)
{
	ab_chunk c = { 0 };
	size_t at = 0;
	uint64_t total = 0;

	for (size_t end = 0; end < n;) {
		enum ab_chunk_reason reason = AB_CHUNK_MORE;

		end = end + step < n ? end + step : n;
		while (at < end && reason <= AB_CHUNK_DATA) {
			size_t used;
			size_t len;

			reason = ab_chunk_read(&c, s + at, end - at, &used,
					       &len);
			if (len > used || used > end - at ||
			    (reason == AB_CHUNK_DATA && len == 0) ||
			    (reason == AB_CHUNK_MORE && used != end - at))
				abort();
			at += used;
			total += len;
		}
		if (reason > AB_CHUNK_DATA)
			break;
	}
	if (total != c.total || total > n)
		abort();
}

static void read_path(unsigned flags, const char *s, size_t n)
{
	char *out = malloc(n ? n : 1);
	char *again = malloc(n ? n : 1);
	size_t len;
	size_t again_len;

	if (out && again &&
	    ab_http_path(s, n, flags, out, n, &len) == AB_PATH_OK &&
	    (ab_http_path(out, len, flags, again, len, &again_len) !=
		     AB_PATH_OK ||
	     again_len != len || memcmp(out, again, len) != 0 ||
	     memmem(out, len, "/../", 4) || memmem(out, len, "//", 2) ||
	     (len >= 3 && memcmp(out + len - 3, "/..", 3) == 0)))
		abort();
	free(out);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data + 2;
	size_t step;

	if (size < 2)
		return 0;
	step = data[1] ? data[1] : 1;
	size -= 2;
	switch (data[0] % 4) {
	case 0:
		read_head(AB_HTTP_REQUEST, step, s, size);
		break;
	case 1:
		read_head(AB_HTTP_RESPONSE, step, s, size);
		break;
	case 2:
		read_chunks(step, s, size);
		break;
	default:
		read_path(data[1] & AB_PATH_KEEP_SLASH, s, size);
	}
	return 0;
}
