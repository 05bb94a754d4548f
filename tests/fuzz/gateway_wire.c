/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ClientHello and the answer to it, SOCKS5, DNS over UDP and TCP, and event
 * streams on any bytes; the first byte chooses, the second how the input is
 * cut. Fed in pieces a reader says what it says of the whole; what is accepted
 * is canonical; an answer is no longer than it may be and repeats its question.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dns.h"
#include "socks.h"
#include "sse.h"
#include "tls_hello.h"
#include "tls_retry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t next_end(size_t end, size_t step, size_t n)
{
	return n - end > step ? end + step : n;
}

static void check_name(const ab_target *t)
{
	ab_target again;

	if (t->kind != AB_TARGET_NAME || strlen(t->name) != t->name_len ||
	    ab_target_only_name(t->name, t->name_len, &again) ||
	    !ab_target_same_host(t, &again))
		abort();
}

static void read_hello(size_t step, const uint8_t *p, size_t n)
{
	ab_hello whole = { 0 };
	ab_hello pieces = { 0 };
	size_t used;
	size_t at = 0;

	ab_hello_read(&whole, p, n, &used);
	if (used > n || (whole.reason == AB_HELLO_MORE && used != n))
		abort();
	for (size_t end = 0; end < n;) {
		size_t taken;

		end = next_end(end, step, n);
		if (ab_hello_read(&pieces, p + at, end - at, &taken))
			end = n;
		at += taken;
	}
	if (at != used || memcmp(&whole, &pieces, sizeof(whole)) != 0)
		abort();
	if (whole.reason != AB_HELLO_OK)
		return;
	if (whole.flags & AB_HELLO_HAS_SNI)
		check_name(&whole.sni);
	/* cut by one byte it is not whole */
	memset(&pieces, 0, sizeof(pieces));
	if (ab_hello_read(&pieces, p, used - 1, &at) != AB_HELLO_MORE)
		abort();
}

static void read_retry(size_t step, const uint8_t *p, size_t n)
{
	ab_retry_reader whole = { 0 };
	ab_retry_reader pieces = { 0 };

	ab_retry_read(&whole, p, n);
	for (size_t at = 0; at < n;) {
		size_t end = next_end(at, step, n);

		ab_retry_read(&pieces, p + at, end - at);
		at = end;
	}
	if (memcmp(&whole, &pieces, sizeof(whole)) != 0)
		abort();
}

static void read_socks(bool open, size_t step, const uint8_t *p, size_t n)
{
	ab_socks s = { .open = open };
	uint8_t reply[AB_SOCKS_REPLY_SIZE];
	size_t at = 0;

	for (size_t end = 0; end < n;) {
		enum ab_socks_reason reason;
		size_t used;

		end = next_end(end, step, n);
		do {
			reason = ab_socks_read(&s, p + at, end - at, &used);
			if (used > end - at)
				abort();
			at += used;
			if (reason == AB_SOCKS_AUTH)
				ab_socks_auth(&s, true);
			if (ab_socks_reply(&s, AB_SOCKS_OK, reply) >
			    sizeof(reply))
				abort();
		} while (reason != AB_SOCKS_MORE && reason < AB_SOCKS_REQUEST);
		if (reason == AB_SOCKS_MORE)
			continue;
		if (reason == AB_SOCKS_REQUEST &&
		    (s.target.port == 0 ||
		     s.target.kind == AB_TARGET_NONE))
			abort();
		return;
	}
}

static void read_dns(const uint8_t *p, size_t n)
{
	ab_address addresses[] = {
		{ .family = AB_ADDRESS_IPV4, .bytes = { 198, 18, 0, 1 } },
		{ .family = AB_ADDRESS_IPV6, .bytes = { 0xfd, 0x99 } },
	};
	uint8_t out[AB_DNS_ANSWER_MAX];
	ab_dns_query q;
	enum ab_dns_reason reason = ab_dns_read(p, n, &q);
	size_t len = ab_dns_answer(&q, p, AB_DNS_NOERROR, addresses, 2, 60,
				   false, out);

	if (reason == AB_DNS_OK)
		check_name(&q.name);
	if (len == 0) {
		if (reason != AB_DNS_SHORT && reason != AB_DNS_RESPONSE)
			abort();
		return;
	}
	/* an address only for what was understood; never more than was asked
	   for, and the question as it was */
	if (len > q.udp_size || !(out[2] & 0x80) ||
	    (out[7] && (reason != AB_DNS_OK ||
			(q.type != AB_DNS_A && q.type != AB_DNS_AAAA))) ||
	    (q.has_question && memcmp(out + AB_DNS_HEAD, p + AB_DNS_HEAD,
				      q.question_len) != 0))
		abort();
}

static void read_frames(size_t step, const uint8_t *p, size_t n)
{
	ab_dns_frame frame = { 0 };
	size_t at = 0;

	for (size_t end = 0; end < n;) {
		end = next_end(end, step, n);
		while (at < end) {
			size_t used;
			int r = ab_dns_frame_read(&frame, p + at, end - at,
						  &used);

			if (used > end - at || frame.have > frame.len ||
			    (r == 0 && used != end - at))
				abort();
			if (r < 0)
				return;
			if (r == 1)
				read_dns(frame.message, frame.len);
			at += used;
		}
	}
}

/* A sum over all events. */
static uint64_t sum_events(size_t step, const char *p, size_t n)
{
	enum ab_sse_reason reason = AB_SSE_MORE;
	uint64_t sum = 1469598103934665603u;
	char room[256];
	size_t at = 0;
	ab_sse s;

	ab_sse_init(&s, room, sizeof(room));
	for (size_t end = 0; end < n && reason <= AB_SSE_EVENT;) {
		end = next_end(end, step, n);
		while (at < end && reason <= AB_SSE_EVENT) {
			size_t used;

			reason = ab_sse_read(&s, p + at, end - at, &used);
			if (used > end - at || s.len > sizeof(room) ||
			    strlen(s.id) >= AB_SSE_ID_SIZE)
				abort();
			at += used;
			if (reason != AB_SSE_EVENT)
				continue;
			for (size_t i = 0; i < s.len; i++)
				sum = (sum ^ (uint8_t)room[i]) * 1099511628211u;
			sum = (sum ^ strlen(s.type)) * 1099511628211u;
			sum = (sum ^ strlen(s.id)) * 1099511628211u;
		}
	}
	return sum ^ reason;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t step;

	if (size < 2)
		return 0;
	step = data[1] ? data[1] : 1;
	switch (data[0] % 7) {
	case 0:
		read_hello(step, data + 2, size - 2);
		break;
	case 1:
		read_socks(false, step, data + 2, size - 2);
		break;
	case 2:
		read_socks(true, step, data + 2, size - 2);
		break;
	case 3:
		read_dns(data + 2, size - 2);
		break;
	case 4:
		read_frames(step, data + 2, size - 2);
		break;
	case 6:
		read_retry(step, data + 2, size - 2);
		break;
	default:
		if (size > 2 && sum_events(step, (const char *)data + 2,
					   size - 2) !=
					sum_events(size, (const char *)data + 2,
						   size - 2))
			abort();
	}
	return 0;
}
