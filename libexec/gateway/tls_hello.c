/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two machines, one inside the other: records hand their bytes to the
 * message, which is read field by field. Every length is held against the one
 * around it before anything inside is read. Spec: tls_hello.h.
 */
#include "config.h"

#include "tls_hello.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"

static const char *const reasons[] = {
	[AB_HELLO_MORE] = "more",
	[AB_HELLO_OK] = "ok",
	[AB_HELLO_NOT_TLS] = "not_tls",
	[AB_HELLO_SSLV2] = "tls_sslv2",
	[AB_HELLO_RECORD] = "tls_record",
	[AB_HELLO_TYPE] = "tls_type",
	[AB_HELLO_LONG] = "tls_long",
	[AB_HELLO_VERSION] = "tls_version",
	[AB_HELLO_LENGTH] = "tls_length",
	[AB_HELLO_SESSION_ID] = "tls_session_id",
	[AB_HELLO_CIPHERS] = "tls_ciphers",
	[AB_HELLO_COMPRESSION] = "tls_compression",
	[AB_HELLO_TWICE] = "tls_twice",
	[AB_HELLO_EXTENSIONS] = "tls_extensions",
	[AB_HELLO_SNI] = "sni_malformed",
	[AB_HELLO_SNI_NAME] = "sni_name",
	[AB_HELLO_ALPN] = "tls_alpn",
	[AB_HELLO_TRAILING] = "tls_trailing",
	[AB_HELLO_SNI_ABSENT] = "sni_absent",
	[AB_HELLO_SNI_MISMATCH] = "sni_mismatch",
	[AB_HELLO_ECH] = "ech",
};

static_assert(AB_ARRAY_LEN(reasons) == AB_HELLO_REASON_COUNT,
	      "a reason without a name");

const char *ab_hello_reason_name(enum ab_hello_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ? reasons[reason] :
							"unknown";
}

enum state {
	H_TYPE = 0,
	H_LENGTH,
	H_VERSION,
	H_RANDOM,
	H_SESSION_LEN,
	H_SESSION,
	H_CIPHERS_LEN,
	H_CIPHERS,
	H_COMPRESSION_LEN,
	H_COMPRESSION,
	H_EXTENSIONS_LEN,
	H_EXT_TYPE,
	H_EXT_LEN,
	H_EXT_SKIP,
	H_SNI_LIST_LEN,
	H_SNI_TYPE,
	H_SNI_LEN,
	H_SNI_NAME,
	H_ALPN_LIST_LEN,
	H_ALPN_LEN,
	H_ALPN_NAME,
	H_VERSIONS_LEN,
	H_VERSIONS,
	H_END
};

/* IANA TLS ExtensionType values */
#define EXT_SERVER_NAME 0
#define EXT_ALPN 16
#define EXT_EARLY_DATA 42
#define EXT_SUPPORTED_VERSIONS 43

#define TLS_1_2 0x0303
#define TLS_1_3 0x0304

/* Every codepoint under which a name was ever hidden: RFC 9849 and its
   drafts (0xfe08 to 0xfe0d), outer_extensions, and ESNI before it. */
static bool is_ech(unsigned type)
{
	return (type >= 0xfe08 && type <= 0xfe0d) || type == 0xfd00 ||
	       type == 0xffce || type == 0xff02 || type == 0xff03;
}

/* --- small parts ------------------------------------------------------- */

/* One byte of a number of `size` bytes; true once it is whole in h->number. */
static bool number(ab_hello *h, unsigned size, uint8_t b)
{
	if (h->size_bytes == 0)
		h->number = 0;
	h->number = h->number << 8 | b;
	if (++h->size_bytes < size)
		return false;
	h->size_bytes = 0;
	return true;
}

static enum ab_hello_reason go(ab_hello *h, enum state state)
{
	h->state = (uint8_t)state;
	return AB_HELLO_MORE;
}

/* Step over n bytes, and come out at `then`, now if n is 0. */
static enum ab_hello_reason skip(ab_hello *h, uint32_t n, enum state in,
				 enum state then)
{
	if (n > h->body_left)
		return AB_HELLO_LENGTH;
	h->skip = n;
	return go(h, n ? in : then);
}

static enum ab_hello_reason skipped(ab_hello *h, enum state then)
{
	return --h->skip ? AB_HELLO_MORE : go(h, then);
}

/* --- extensions -------------------------------------------------------- */

/* An extension is whole: what it held has to have filled it. */
static enum ab_hello_reason end_extension(ab_hello *h)
{
	if (h->extension_left)
		return AB_HELLO_LENGTH;
	return go(h, h->extensions_left ? H_EXT_TYPE : H_END);
}

static enum ab_hello_reason begin_extension(ab_hello *h)
{
	if (h->extension_count == AB_HELLO_EXTENSIONS_MAX)
		return AB_HELLO_EXTENSIONS;
	for (size_t i = 0; i < h->extension_count; i++)
		if (h->seen[i] == h->extension)
			return AB_HELLO_TWICE;
	h->seen[h->extension_count++] = h->extension;
	if (is_ech(h->extension))
		h->flags |= AB_HELLO_HAS_ECH;
	if (h->extension == EXT_EARLY_DATA)
		h->flags |= AB_HELLO_EARLY_DATA;
	switch (h->extension) {
	case EXT_SERVER_NAME:
		return h->extension_left ? go(h, H_SNI_LIST_LEN) :
					   AB_HELLO_SNI;
	case EXT_ALPN:
		return h->extension_left ? go(h, H_ALPN_LIST_LEN) :
					   AB_HELLO_ALPN;
	case EXT_SUPPORTED_VERSIONS:
		return h->extension_left ? go(h, H_VERSIONS_LEN) :
					   AB_HELLO_LENGTH;
	}
	return h->extension_left ? go(h, H_EXT_SKIP) : end_extension(h);
}

static enum ab_hello_reason extension_length(ab_hello *h, uint8_t b)
{
	if (!number(h, 2, b))
		return AB_HELLO_MORE;
	if (h->number > h->extensions_left)
		return AB_HELLO_LENGTH;
	h->extension_left = h->number;
	h->extensions_left -= h->number;
	return begin_extension(h);
}

/* --- server_name ------------------------------------------------------- */

static enum ab_hello_reason take_sni(ab_hello *h)
{
	enum ab_target_reason reason;

	/* RFC 6066 section 3: without a trailing dot, and no literal */
	if (h->name[h->name_len - 1] == '.')
		reason = AB_TARGET_LABEL;
	else
		reason = ab_target_only_name(h->name, h->name_len, &h->sni);
	h->target_reason = (uint8_t)reason;
	if (reason)
		return AB_HELLO_SNI_NAME;
	h->flags |= AB_HELLO_HAS_SNI;
	/* a second entry, or anything else behind the name */
	if (h->extension_left)
		return AB_HELLO_SNI;
	return end_extension(h);
}

static enum ab_hello_reason read_sni(ab_hello *h, uint8_t b)
{
	switch ((enum state)h->state) {
	case H_SNI_LIST_LEN:
		if (!number(h, 2, b))
			return AB_HELLO_MORE;
		return h->number == h->extension_left && h->number > 3 ?
			       go(h, H_SNI_TYPE) :
			       AB_HELLO_SNI;
	case H_SNI_TYPE:
		return b == 0 ? go(h, H_SNI_LEN) : AB_HELLO_SNI;
	case H_SNI_LEN:
		if (!number(h, 2, b))
			return AB_HELLO_MORE;
		if (h->number == 0 || h->number > 255 ||
		    h->number > h->extension_left)
			return AB_HELLO_SNI;
		h->skip = h->number;
		h->name_len = 0;
		return go(h, H_SNI_NAME);
	default:
		h->name[h->name_len++] = (char)b;
		return --h->skip ? AB_HELLO_MORE : take_sni(h);
	}
}

/* --- ALPN -------------------------------------------------------------- */

static enum ab_hello_reason take_protocol(ab_hello *h)
{
	if (h->name_len == 2 && memcmp(h->name, "h2", 2) == 0)
		h->flags |= AB_HELLO_ALPN_H2;
	else if (h->name_len == 8 && memcmp(h->name, "http/1.1", 8) == 0)
		h->flags |= AB_HELLO_ALPN_HTTP11;
	else
		h->flags |= AB_HELLO_ALPN_OTHER;
	h->flags |= AB_HELLO_HAS_ALPN;
	return h->extension_left ? go(h, H_ALPN_LEN) : end_extension(h);
}

static enum ab_hello_reason read_alpn(ab_hello *h, uint8_t b)
{
	switch ((enum state)h->state) {
	case H_ALPN_LIST_LEN:
		if (!number(h, 2, b))
			return AB_HELLO_MORE;
		return h->number == h->extension_left && h->number ?
			       go(h, H_ALPN_LEN) :
			       AB_HELLO_ALPN;
	case H_ALPN_LEN:
		if (b == 0 || b > h->extension_left)
			return AB_HELLO_ALPN;
		h->skip = b;
		h->name_len = 0;
		return go(h, H_ALPN_NAME);
	default:
		h->name[h->name_len++] = (char)b;
		return --h->skip ? AB_HELLO_MORE : take_protocol(h);
	}
}

/* --- supported_versions ------------------------------------------------ */

static enum ab_hello_reason read_versions(ab_hello *h, uint8_t b)
{
	if (h->state == H_VERSIONS_LEN)
		return b == h->extension_left && b && b % 2 == 0 ?
			       go(h, H_VERSIONS) :
			       AB_HELLO_LENGTH;
	if (!number(h, 2, b))
		return AB_HELLO_MORE;
	if (h->number == TLS_1_3)
		h->flags |= AB_HELLO_TLS13;
	if (h->number == TLS_1_3 || h->number == TLS_1_2)
		h->any_version = 1;
	if (h->extension_left)
		return AB_HELLO_MORE;
	return h->any_version ? end_extension(h) : AB_HELLO_VERSION;
}

/* --- the fixed part ---------------------------------------------------- */

static enum ab_hello_reason read_head(ab_hello *h, uint8_t b)
{
	switch ((enum state)h->state) {
	case H_TYPE:
		return b == 1 ? go(h, H_LENGTH) : AB_HELLO_TYPE;
	case H_LENGTH:
		if (!number(h, 3, b))
			return AB_HELLO_MORE;
		if (h->number > AB_HELLO_MAX - 4)
			return AB_HELLO_LONG;
		/* version, random, and the shortest lists */
		if (h->number < 2 + 32 + 1 + 4 + 2)
			return AB_HELLO_LENGTH;
		h->body_left = h->number;
		return go(h, H_VERSION);
	case H_VERSION:
		if (!number(h, 2, b))
			return AB_HELLO_MORE;
		/* 1.3 says 1.2 here (RFC 8446 section 4.1.2) */
		return h->number == TLS_1_2 ?
			       skip(h, 32, H_RANDOM, H_SESSION_LEN) :
			       AB_HELLO_VERSION;
	case H_SESSION_LEN:
		return b > 32 ? AB_HELLO_SESSION_ID :
				skip(h, b, H_SESSION, H_CIPHERS_LEN);
	case H_RANDOM:
		return skipped(h, H_SESSION_LEN);
	default:
		return skipped(h, H_CIPHERS_LEN);
	}
}

static enum ab_hello_reason read_lists(ab_hello *h, uint8_t b)
{
	switch ((enum state)h->state) {
	case H_CIPHERS_LEN:
		if (!number(h, 2, b))
			return AB_HELLO_MORE;
		if (h->number == 0 || h->number % 2)
			return AB_HELLO_CIPHERS;
		return skip(h, h->number, H_CIPHERS, H_COMPRESSION_LEN);
	case H_CIPHERS:
		return skipped(h, H_COMPRESSION_LEN);
	case H_COMPRESSION_LEN:
		if (b == 0)
			return AB_HELLO_COMPRESSION;
		h->compressions = b;
		return skip(h, b, H_COMPRESSION, H_EXTENSIONS_LEN);
	case H_COMPRESSION:
		h->null_compression |= b == 0;
		if (--h->skip)
			return AB_HELLO_MORE;
		if (!h->null_compression)
			return AB_HELLO_COMPRESSION;
		return go(h, h->body_left ? H_EXTENSIONS_LEN : H_END);
	default:
		if (!number(h, 2, b))
			return AB_HELLO_MORE;
		if (h->number != h->body_left)
			return AB_HELLO_LENGTH;
		h->extensions_left = h->number;
		return go(h, h->number ? H_EXT_TYPE : H_END);
	}
}

static enum ab_hello_reason read_extension(ab_hello *h, uint8_t b)
{
	if (h->state == H_EXT_LEN)
		return extension_length(h, b);
	if (h->state == H_EXT_TYPE) {
		if (!number(h, 2, b))
			return AB_HELLO_MORE;
		h->extension = (uint16_t)h->number;
		return h->extensions_left < 2 ? AB_HELLO_LENGTH :
						go(h, H_EXT_LEN);
	}
	return h->extension_left ? AB_HELLO_MORE : end_extension(h);
}

static bool in_extension(const ab_hello *h)
{
	return h->state >= H_EXT_SKIP && h->state < H_END;
}

/* One byte of the message, counted against everything it is inside of. */
static enum ab_hello_reason read_byte(ab_hello *h, uint8_t b)
{
	if (h->state >= H_VERSION) {
		if (h->body_left == 0)
			return AB_HELLO_LENGTH;
		h->body_left--;
	}
	if (h->state == H_EXT_TYPE || h->state == H_EXT_LEN) {
		if (h->extensions_left == 0)
			return AB_HELLO_LENGTH;
		h->extensions_left--;
	}
	if (in_extension(h)) {
		if (h->extension_left == 0)
			return AB_HELLO_LENGTH;
		h->extension_left--;
	}
	if (h->state <= H_SESSION)
		return read_head(h, b);
	if (h->state <= H_EXTENSIONS_LEN)
		return read_lists(h, b);
	if (h->state <= H_EXT_SKIP)
		return read_extension(h, b);
	if (h->state <= H_SNI_NAME)
		return read_sni(h, b);
	return h->state <= H_ALPN_NAME ? read_alpn(h, b) :
					 read_versions(h, b);
}

static enum ab_hello_reason read_body(ab_hello *h, uint8_t b)
{
	enum ab_hello_reason reason = read_byte(h, b);

	if (reason != AB_HELLO_MORE || h->state != H_END)
		return reason;
	if (h->body_left)
		return AB_HELLO_LENGTH;
	/* RFC 8446 section 4.1.2: exactly the null method */
	if ((h->flags & AB_HELLO_TLS13) && h->compressions != 1)
		return AB_HELLO_COMPRESSION;
	return AB_HELLO_OK;
}

/* --- records ----------------------------------------------------------- */

enum record_state {
	R_TYPE = 0,
	R_MAJOR,
	R_MINOR,
	R_LENGTH_HIGH,
	R_LENGTH_LOW,
	R_BODY
};

static enum ab_hello_reason read_record_head(ab_hello *h, uint8_t b)
{
	bool first = h->wire <= 5;

	switch ((enum record_state)h->record_state++) {
	case R_TYPE:
		if (b == 22)
			return AB_HELLO_MORE;
		if (!first)
			return AB_HELLO_RECORD;
		/* the high bit of a two-byte length: RFC 6101 appendix E.1 */
		return b & 0x80 ? AB_HELLO_SSLV2 : AB_HELLO_NOT_TLS;
	case R_MAJOR:
		if (b == 3)
			return AB_HELLO_MORE;
		return first ? AB_HELLO_NOT_TLS : AB_HELLO_RECORD;
	case R_MINOR:
		/* 1.0 to 1.3 are said here for one reason or another; 3.0 is
		   SSLv3 */
		return b >= 1 && b <= 4 ? AB_HELLO_MORE : AB_HELLO_RECORD;
	case R_LENGTH_HIGH:
		h->record_left = (uint16_t)(b << 8);
		return AB_HELLO_MORE;
	case R_LENGTH_LOW:
	case R_BODY:
		break;
	}
	h->record_left = (uint16_t)(h->record_left | b);
	return h->record_left && h->record_left <= 16384 ? AB_HELLO_MORE :
							     AB_HELLO_RECORD;
}

static enum ab_hello_reason read_wire(ab_hello *h, uint8_t b)
{
	enum ab_hello_reason reason;

	if (h->wire++ == AB_HELLO_WIRE_MAX)
		return AB_HELLO_LONG;
	if (h->record_state != R_BODY)
		return read_record_head(h, b);
	reason = read_body(h, b);
	if (--h->record_left == 0)
		h->record_state = R_TYPE;
	else if (reason == AB_HELLO_OK)
		return AB_HELLO_TRAILING;
	return reason;
}

enum ab_hello_reason ab_hello_read(ab_hello *h, const void *p, size_t n,
				   size_t *used)
{
	enum ab_hello_reason reason = (enum ab_hello_reason)h->reason;
	const uint8_t *b = p;
	size_t i = 0;

	while (reason == AB_HELLO_MORE && i < n)
		reason = read_wire(h, b[i++]);
	h->reason = (uint8_t)reason;
	*used = i;
	return reason;
}

/* --- judging ----------------------------------------------------------- */

enum ab_hello_reason ab_hello_judge(const ab_hello *h, const ab_target *target,
				    unsigned permit)
{
	if (h->reason != AB_HELLO_OK)
		return h->reason ? (enum ab_hello_reason)h->reason :
				   AB_HELLO_LENGTH;
	if ((h->flags & AB_HELLO_HAS_ECH) && !(permit & AB_HELLO_PERMIT_ECH))
		return AB_HELLO_ECH;
	if (!(h->flags & AB_HELLO_HAS_SNI)) {
		if (target->kind == AB_TARGET_ADDRESS ||
		    (target->kind == AB_TARGET_NAME &&
		     (permit & AB_HELLO_PERMIT_NO_SNI)))
			return AB_HELLO_OK;
		return AB_HELLO_SNI_ABSENT;
	}
	return ab_target_same_host(&h->sni, target) ? AB_HELLO_OK :
						      AB_HELLO_SNI_MISMATCH;
}
