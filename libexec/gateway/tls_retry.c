/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two machines, one inside the other. Spec: tls_retry.h. */
#include "config.h"

#include "tls_retry.h"

#include <stdbool.h>

#define RECORD_HEAD 5
#define RECORD_MAX (16384 + 2048) /* TLSCiphertext, RFC 5246 section 6.2.3 */
#define MESSAGE_HEAD 4
#define RANDOM_AT (MESSAGE_HEAD + 2) /* behind the version */
#define RANDOM_END (RANDOM_AT + 32)

/* IANA TLS ContentType and HandshakeType values */
#define HANDSHAKE 22
#define HELLO_REQUEST 0
#define SERVER_HELLO 2
#define OLD_RETRY 6 /* of the drafts of 1.3 up to 21 */

/* RFC 8446 section 4.1.3: SHA-256 of "HelloRetryRequest" */
static const uint8_t retry_random[32] = {
	0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
	0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
	0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
};

/* --- messages ------------------------------------------------------------- */

/* The rest of the first is stepped over, and the next one looked at. */
static enum ab_retry take_retry(ab_retry_reader *r, uint32_t left)
{
	if (r->asked)
		return AB_RETRY_TWICE;
	r->asked = 1;
	r->skip = left;
	r->at = 0;
	r->length = 0;
	return AB_RETRY_MORE;
}

/* Its head is whole: what kind of message it is. */
static enum ab_retry begin_message(ab_retry_reader *r)
{
	switch (r->message) {
	case HELLO_REQUEST:
		r->at = 0;
		return r->length ? AB_RETRY_BAD : AB_RETRY_MORE;
	case SERVER_HELLO:
		/* one without a random is none */
		return r->length >= RANDOM_END - MESSAGE_HEAD ? AB_RETRY_MORE
							      : AB_RETRY_BAD;
	case OLD_RETRY:
		return take_retry(r, r->length);
	}
	return AB_RETRY_BAD;
}

static enum ab_retry read_message_head(ab_retry_reader *r, uint8_t b)
{
	if (r->at == 0)
		r->message = b;
	else
		r->length = r->length << 8 | b;
	return ++r->at < MESSAGE_HEAD ? AB_RETRY_MORE : begin_message(r);
}

/* The version says nothing: it is that of 1.2, or of a draft. */
static enum ab_retry read_message(ab_retry_reader *r, uint8_t b)
{
	if (r->skip) {
		r->skip--;
		return AB_RETRY_MORE;
	}
	if (r->at < MESSAGE_HEAD)
		return read_message_head(r, b);
	/* a ServerHello: of others nothing follows their heads */
	if (r->at >= RANDOM_AT && b != retry_random[r->at - RANDOM_AT])
		return AB_RETRY_NO;
	if (++r->at < RANDOM_END)
		return AB_RETRY_MORE;
	return take_retry(r, r->length - (RANDOM_END - MESSAGE_HEAD));
}

/* --- records -------------------------------------------------------------- */

/* change_cipher_spec to heartbeat: what may come first as well */
static bool is_record(uint8_t type)
{
	return type >= 20 && type <= 24;
}

static enum ab_retry read_record_head(ab_retry_reader *r, uint8_t b)
{
	switch (r->head_at++) {
	case 0:
		r->type = b;
		return is_record(b) ? AB_RETRY_MORE : AB_RETRY_BAD;
	case 1:
		return b == 3 ? AB_RETRY_MORE : AB_RETRY_BAD;
	case 2:
		return AB_RETRY_MORE;
	case 3:
		r->record_left = (uint16_t)(b << 8);
		return AB_RETRY_MORE;
	}
	r->record_left = (uint16_t)(r->record_left | b);
	if (!r->record_left)
		r->head_at = 0;
	return r->record_left <= RECORD_MAX ? AB_RETRY_MORE : AB_RETRY_BAD;
}

static enum ab_retry read_byte(ab_retry_reader *r, uint8_t b)
{
	if (r->head_at < RECORD_HEAD)
		return read_record_head(r, b);
	if (--r->record_left == 0)
		r->head_at = 0;
	return r->type == HANDSHAKE ? read_message(r, b) : AB_RETRY_MORE;
}

enum ab_retry ab_retry_read(ab_retry_reader *r, const void *p, size_t n)
{
	const uint8_t *bytes = p;

	for (size_t i = 0; i < n && r->reason == AB_RETRY_MORE; i++)
		r->reason = (uint8_t)read_byte(r, bytes[i]);
	return r->reason == AB_RETRY_MORE && r->asked
		       ? AB_RETRY_YES : (enum ab_retry)r->reason;
}
