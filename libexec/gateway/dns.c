/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One query in, one answer out. Spec: dns.h. */
#include "config.h"

#include "dns.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"

static const char *const reasons[] = {
	[AB_DNS_UNREAD] = "unread",
	[AB_DNS_OK] = "ok",
	[AB_DNS_SHORT] = "dns_short",
	[AB_DNS_RESPONSE] = "dns_response",
	[AB_DNS_LONG] = "dns_long",
	[AB_DNS_OPCODE] = "dns_opcode",
	[AB_DNS_COUNTS] = "dns_counts",
	[AB_DNS_NAME] = "dns_name",
	[AB_DNS_TRAILING] = "dns_trailing",
	[AB_DNS_EDNS] = "dns_edns",
	[AB_DNS_EDNS_VERSION] = "dns_edns_version",
	[AB_DNS_CLASS] = "dns_class",
	[AB_DNS_TYPE] = "dns_type",
	[AB_DNS_NO_HOST] = "dns_no_host",
};

static_assert(AB_ARRAY_LEN(reasons) == AB_DNS_REASON_COUNT,
	      "a reason without a name");

const char *ab_dns_reason_name(enum ab_dns_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ? reasons[reason] :
							"unknown";
}

/* RFC 1035 section 4.1.1 */
#define FLAG_QR 0x8000u
#define FLAG_OPCODE 0x7800u
#define FLAG_AA 0x0400u
#define FLAG_TC 0x0200u
#define FLAG_RD 0x0100u
#define FLAG_RA 0x0080u
#define FLAG_CD 0x0010u
#define TYPE_OPT 41
#define CLASS_IN 1
#define EDNS_DO 0x8000u
#define OPT_SIZE 11
#define ANSWER_OVERHEAD 12 /* pointer, type, class, ttl, length */

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* --- reading ----------------------------------------------------------- */

/*
 * The question's name into text with dots; a byte that is a dot inside a label
 * becomes NUL, which no host name has. Pointers are refused: in front of the
 * only name there is nothing they could point at.
 */
static enum ab_dns_reason read_name(const uint8_t *m, size_t n, size_t *at,
				    char text[256], size_t *len)
{
	size_t i = *at;

	*len = 0;
	for (;;) {
		unsigned label;

		if (i >= n)
			return AB_DNS_NAME;
		label = m[i++];
		if (label == 0)
			break;
		/* 255 with the lengths and the root (RFC 1035 section 3.1) */
		if (label > 63 || label > n - i || *len + label + 1 > 254)
			return AB_DNS_NAME;
		for (unsigned j = 0; j < label; j++) {
			char c = (char)m[i + j];

			text[(*len)++] = c == '.' ? '\0' : c;
		}
		text[(*len)++] = '.';
		i += label;
	}
	*at = i;
	return AB_DNS_OK;
}

/* RFC 6891 section 6.1.2, with every option inside its length. */
static enum ab_dns_reason read_opt(const uint8_t *m, size_t n, size_t *at,
				   ab_dns_query *q)
{
	const uint8_t *p = m + *at;
	size_t left = n - *at;
	size_t len;
	uint16_t size;

	if (left < OPT_SIZE || p[0] != 0 || get16(p + 1) != TYPE_OPT)
		return AB_DNS_EDNS;
	len = get16(p + 9);
	if (len > left - OPT_SIZE)
		return AB_DNS_EDNS;
	for (size_t i = 0; i < len;) {
		size_t option;

		if (len - i < 4)
			return AB_DNS_EDNS;
		option = get16(p + OPT_SIZE + i + 2);
		if (option > len - i - 4)
			return AB_DNS_EDNS;
		i += 4 + option;
	}
	size = get16(p + 3);
	q->has_edns = true;
	if (size > q->udp_size)
		q->udp_size = size < AB_DNS_UDP_MAX ? size : AB_DNS_UDP_MAX;
	q->dnssec_ok = (get16(p + 7) & EDNS_DO) != 0;
	*at += OPT_SIZE + len;
	return p[6] ? AB_DNS_EDNS_VERSION : AB_DNS_OK;
}

/* Transfers, ANY, mail lists, and the types between 128 and 255 that ask for
   more than data (RFC 6895 section 3.1). */
static bool is_meta(uint16_t type)
{
	return type == 0 || type == TYPE_OPT || (type >= 128 && type <= 255);
}

static enum ab_dns_reason judge_question(ab_dns_query *q, const char *text,
					 size_t len)
{
	enum ab_target_reason reason;

	if (q->class_ != CLASS_IN)
		return AB_DNS_CLASS;
	if (is_meta(q->type))
		return AB_DNS_TYPE;
	reason = ab_target_only_name(text, len, &q->name);
	q->target_reason = (uint8_t)reason;
	return reason ? AB_DNS_NO_HOST : AB_DNS_OK;
}

static enum ab_dns_reason read_query(const uint8_t *m, size_t n,
				     ab_dns_query *q)
{
	char text[256];
	size_t len;
	size_t at = AB_DNS_HEAD;
	enum ab_dns_reason reason;

	if (n < AB_DNS_HEAD)
		return AB_DNS_SHORT;
	q->id = get16(m);
	q->flags = get16(m + 2);
	if (q->flags & FLAG_QR)
		return AB_DNS_RESPONSE;
	if (n > AB_DNS_QUERY_MAX)
		return AB_DNS_LONG;
	if (q->flags & FLAG_OPCODE)
		return AB_DNS_OPCODE;
	if (get16(m + 4) != 1 || get16(m + 6) || get16(m + 8) ||
	    get16(m + 10) > 1 || (q->flags & FLAG_TC))
		return AB_DNS_COUNTS;
	reason = read_name(m, n, &at, text, &len);
	if (reason != AB_DNS_OK || n - at < 4)
		return AB_DNS_NAME;
	q->type = get16(m + at);
	q->class_ = get16(m + at + 2);
	at += 4;
	q->question_len = (uint16_t)(at - AB_DNS_HEAD);
	q->has_question = true;
	if (get16(m + 10)) {
		reason = read_opt(m, n, &at, q);
		if (reason != AB_DNS_OK)
			return reason;
	}
	if (at != n)
		return AB_DNS_TRAILING;
	return judge_question(q, text, len);
}

enum ab_dns_reason ab_dns_read(const void *message, size_t n,
			       ab_dns_query *out)
{
	enum ab_dns_reason reason;

	memset(out, 0, sizeof(*out));
	out->udp_size = AB_DNS_UDP_MIN;
	reason = read_query(message, n, out);
	out->reason = (uint8_t)reason;
	return reason;
}

/* --- writing ----------------------------------------------------------- */

static uint8_t *put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
	return p + 2;
}

/* What a query that was not read is told; -1: nothing. */
static int error_code(const ab_dns_query *q)
{
	switch ((enum ab_dns_reason)q->reason) {
	case AB_DNS_OPCODE:
		return AB_DNS_NOTIMP;
	case AB_DNS_LONG:
	case AB_DNS_COUNTS:
	case AB_DNS_NAME:
	case AB_DNS_TRAILING:
	case AB_DNS_EDNS:
		return AB_DNS_FORMERR;
	case AB_DNS_EDNS_VERSION:
		return AB_DNS_BADVERS;
	case AB_DNS_CLASS:
	case AB_DNS_TYPE:
		return AB_DNS_REFUSED;
	case AB_DNS_NO_HOST:
		/* the root exists, and is nobody's host */
		return q->target_reason == AB_TARGET_EMPTY ? AB_DNS_REFUSED :
							     AB_DNS_NXDOMAIN;
	case AB_DNS_OK:
	case AB_DNS_UNREAD:
	case AB_DNS_SHORT:
	case AB_DNS_RESPONSE:
	case AB_DNS_REASON_COUNT:
		break;
	}
	return -1;
}

static uint8_t *put_opt(uint8_t *p, const ab_dns_query *q, unsigned code)
{
	*p++ = 0;
	p = put16(p, TYPE_OPT);
	p = put16(p, AB_DNS_UDP_MAX);
	p = put16(p, code >> 4 << 8); /* upper bits of the code, version 0 */
	p = put16(p, q->dnssec_ok ? EDNS_DO : 0);
	return put16(p, 0);
}

/* Is it an address of the question's type? */
static bool fits(const ab_dns_query *q, const ab_address *a)
{
	return (q->type == AB_DNS_A && a->family == AB_ADDRESS_IPV4) ||
	       (q->type == AB_DNS_AAAA && a->family == AB_ADDRESS_IPV6);
}

static uint8_t *put_address(uint8_t *p, const ab_dns_query *q,
			    const ab_address *a, uint32_t ttl)
{
	size_t n = q->type == AB_DNS_A ? 4 : 16;

	p = put16(p, 0xc000 | AB_DNS_HEAD); /* the name of the question */
	p = put16(p, q->type);
	p = put16(p, CLASS_IN);
	p = put16(p, ttl >> 16 & 0x7fff);
	p = put16(p, ttl & 0xffff);
	p = put16(p, (unsigned)n);
	memcpy(p, a->bytes, n);
	return p + n;
}

static size_t count_fitting(const ab_dns_query *q, const ab_address *addresses,
			    size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count && n < AB_DNS_ADDRESSES_MAX; i++)
		n += fits(q, &addresses[i]);
	return n;
}

static size_t answer_size(const ab_dns_query *q, size_t answers)
{
	size_t each = ANSWER_OVERHEAD + (q->type == AB_DNS_A ? 4 : 16);

	return AB_DNS_HEAD + q->question_len + answers * each +
	       (q->has_edns ? OPT_SIZE : 0);
}

size_t ab_dns_answer(const ab_dns_query *q, const void *message,
		     enum ab_dns_code code, const ab_address *addresses,
		     size_t count, uint32_t ttl, bool tcp,
		     uint8_t out[AB_DNS_ANSWER_MAX])
{
	unsigned flags = FLAG_QR | FLAG_AA | FLAG_RA;
	int error = error_code(q);
	size_t answers = 0;
	uint8_t *p = out;

	static_assert(AB_DNS_HEAD + 255 + 4 +
				      AB_DNS_ADDRESSES_MAX *
					      (ANSWER_OVERHEAD + 16) +
				      OPT_SIZE <=
			      AB_DNS_ANSWER_MAX,
		      "the longest answer");
	if (q->reason != AB_DNS_OK && error < 0)
		return 0;
	if (error >= 0)
		code = (enum ab_dns_code)error;
	else if (code == AB_DNS_NOERROR)
		answers = count_fitting(q, addresses, count);
	flags |= q->flags & (FLAG_OPCODE | FLAG_RD | FLAG_CD);
	if (!tcp && answer_size(q, answers) > q->udp_size) {
		flags |= FLAG_TC;
		answers = 0;
	}
	p = put16(p, q->id);
	p = put16(p, flags | (code & 15));
	p = put16(p, q->has_question);
	p = put16(p, (unsigned)answers);
	p = put16(p, 0);
	p = put16(p, q->has_edns);
	if (q->has_question) {
		memcpy(p, (const uint8_t *)message + AB_DNS_HEAD,
		       q->question_len);
		p += q->question_len;
	}
	for (size_t i = 0; answers; i++) {
		if (!fits(q, &addresses[i]))
			continue;
		p = put_address(p, q, &addresses[i], ttl);
		answers--;
	}
	if (q->has_edns)
		p = put_opt(p, q, code);
	return (size_t)(p - out);
}

/* --- TCP --------------------------------------------------------------- */

int ab_dns_frame_read(ab_dns_frame *frame, const void *p, size_t n,
		      size_t *used)
{
	const uint8_t *b = p;
	size_t i = 0;

	*used = 0;
	/* the last one was taken */
	if (frame->head == 2 && frame->have == frame->len) {
		frame->head = 0;
		frame->have = 0;
		frame->len = 0;
	}
	while (!frame->bad && i < n) {
		if (frame->head < 2) {
			frame->len = (uint16_t)(frame->len << 8 | b[i++]);
			if (++frame->head < 2)
				continue;
			frame->bad = frame->len < AB_DNS_HEAD ||
				     frame->len > AB_DNS_QUERY_MAX;
			continue;
		}
		frame->message[frame->have++] = b[i++];
		if (frame->have == frame->len) {
			*used = i;
			return 1;
		}
	}
	*used = i;
	return frame->bad ? -1 : 0;
}
