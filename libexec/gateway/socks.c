/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The three messages of a SOCKS5 client. Spec: socks.h. */
#include "config.h"

#include "socks.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"

static const char *const reasons[] = {
	[AB_SOCKS_MORE] = "more",
	[AB_SOCKS_METHODS] = "methods",
	[AB_SOCKS_AUTH] = "auth",
	[AB_SOCKS_REQUEST] = "request",
	[AB_SOCKS_VERSION] = "socks_version",
	[AB_SOCKS_NO_METHODS] = "socks_no_methods",
	[AB_SOCKS_METHOD] = "socks_method",
	[AB_SOCKS_AUTH_FORM] = "socks_auth_form",
	[AB_SOCKS_DENIED] = "socks_denied",
	[AB_SOCKS_FORM] = "socks_form",
	[AB_SOCKS_COMMAND] = "socks_command",
	[AB_SOCKS_TYPE] = "socks_type",
	[AB_SOCKS_NAME] = "socks_name",
	[AB_SOCKS_PORT] = "socks_port",
};

static_assert(AB_ARRAY_LEN(reasons) == AB_SOCKS_REASON_COUNT,
	      "a reason without a name");

const char *ab_socks_reason_name(enum ab_socks_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ? reasons[reason] :
							"unknown";
}

enum state {
	K_VERSION = 0,
	K_METHOD_COUNT,
	K_METHODS,
	K_AUTH_VERSION,
	K_USER_LEN,
	K_USER,
	K_PASSWORD_LEN,
	K_PASSWORD,
	K_WAIT, /* for ab_socks_auth() */
	K_REQUEST_VERSION,
	K_COMMAND,
	K_RESERVED,
	K_TYPE,
	K_NAME_LEN,
	K_HOST,
	K_PORT_HIGH,
	K_PORT_LOW,
	K_END
};

#define METHOD_NONE 0
#define METHOD_PASSWORD 2
#define TYPE_IPV4 1
#define TYPE_NAME 3
#define TYPE_IPV6 4

static enum ab_socks_reason go(ab_socks *s, enum state state)
{
	s->state = (uint8_t)state;
	return AB_SOCKS_MORE;
}

/* --- methods and the password ------------------------------------------ */

static enum ab_socks_reason read_method(ab_socks *s, uint8_t b)
{
	if (b == (s->open ? METHOD_NONE : METHOD_PASSWORD))
		s->method_found = 1;
	if (--s->left)
		return AB_SOCKS_MORE;
	if (!s->method_found)
		return AB_SOCKS_METHOD;
	go(s, s->open ? K_REQUEST_VERSION : K_AUTH_VERSION);
	return AB_SOCKS_METHODS;
}

static enum ab_socks_reason field(ab_socks *s, uint8_t len, enum state next)
{
	s->left = len;
	return len ? go(s, next) : AB_SOCKS_AUTH_FORM;
}

static enum ab_socks_reason read_greeting(ab_socks *s, uint8_t b)
{
	switch ((enum state)s->state) {
	case K_VERSION:
		return b == 5 ? go(s, K_METHOD_COUNT) : AB_SOCKS_VERSION;
	case K_METHOD_COUNT:
		s->left = b;
		return b ? go(s, K_METHODS) : AB_SOCKS_NO_METHODS;
	default:
		return read_method(s, b);
	}
}

static enum ab_socks_reason read_password(ab_socks *s, uint8_t b)
{
	switch ((enum state)s->state) {
	case K_AUTH_VERSION:
		return b == 1 ? go(s, K_USER_LEN) : AB_SOCKS_AUTH_FORM;
	case K_USER_LEN:
		return field(s, b, K_USER);
	case K_USER:
		s->user[s->user_len++] = (char)b;
		return --s->left ? AB_SOCKS_MORE : go(s, K_PASSWORD_LEN);
	case K_PASSWORD_LEN:
		return field(s, b, K_PASSWORD);
	default:
		s->password[s->password_len++] = (char)b;
		if (--s->left)
			return AB_SOCKS_MORE;
		go(s, K_WAIT);
		return AB_SOCKS_AUTH;
	}
}

enum ab_socks_reason ab_socks_auth(ab_socks *s, bool good)
{
	explicit_bzero(s->password, sizeof(s->password));
	s->password_len = 0;
	if (s->state != K_WAIT || !good) {
		s->reason = AB_SOCKS_DENIED;
		return AB_SOCKS_DENIED;
	}
	return go(s, K_REQUEST_VERSION);
}

/* --- the request ------------------------------------------------------- */

static enum ab_socks_reason read_type(ab_socks *s, uint8_t b)
{
	s->type = b;
	if (b == TYPE_NAME)
		return go(s, K_NAME_LEN);
	if (b != TYPE_IPV4 && b != TYPE_IPV6)
		return AB_SOCKS_TYPE;
	s->left = b == TYPE_IPV4 ? 4 : 16;
	return go(s, K_HOST);
}

/* A name that spells a literal is the literal (case 90). */
static enum ab_socks_reason take_name(ab_socks *s)
{
	enum ab_target_reason reason =
		ab_target_bare_host(s->host, s->host_len, &s->target);

	s->target_reason = (uint8_t)reason;
	return reason ? AB_SOCKS_NAME : AB_SOCKS_REQUEST;
}

static enum ab_socks_reason take_target(ab_socks *s)
{
	enum ab_socks_reason reason = AB_SOCKS_REQUEST;

	if (s->port == 0)
		return AB_SOCKS_PORT;
	if (s->type == TYPE_NAME) {
		reason = take_name(s);
	} else {
		s->target.kind = AB_TARGET_ADDRESS;
		s->target.address.family = s->type == TYPE_IPV4 ?
						   AB_ADDRESS_IPV4 :
						   AB_ADDRESS_IPV6;
		memcpy(s->target.address.bytes, s->host, s->host_len);
		ab_address_unmap(&s->target.address);
	}
	if (reason == AB_SOCKS_REQUEST)
		s->target.port = s->port;
	go(s, K_END);
	return reason;
}

static enum ab_socks_reason read_request(ab_socks *s, uint8_t b)
{
	switch ((enum state)s->state) {
	case K_REQUEST_VERSION:
		return b == 5 ? go(s, K_COMMAND) : AB_SOCKS_FORM;
	case K_COMMAND:
		return b == 1 ? go(s, K_RESERVED) : AB_SOCKS_COMMAND;
	case K_RESERVED:
		return b == 0 ? go(s, K_TYPE) : AB_SOCKS_FORM;
	case K_TYPE:
		return read_type(s, b);
	case K_NAME_LEN:
		s->left = b;
		s->target_reason = b ? AB_TARGET_OK : AB_TARGET_EMPTY;
		return b ? go(s, K_HOST) : AB_SOCKS_NAME;
	case K_HOST:
		s->host[s->host_len++] = (char)b;
		return --s->left ? AB_SOCKS_MORE : go(s, K_PORT_HIGH);
	case K_PORT_HIGH:
		s->port = (uint16_t)(b << 8);
		return go(s, K_PORT_LOW);
	default:
		s->port = (uint16_t)(s->port | b);
		return take_target(s);
	}
}

static enum ab_socks_reason read_byte(ab_socks *s, uint8_t b)
{
	if (s->state <= K_METHODS)
		return read_greeting(s, b);
	return s->state <= K_PASSWORD ? read_password(s, b) :
					read_request(s, b);
}

enum ab_socks_reason ab_socks_read(ab_socks *s, const void *p, size_t n,
				   size_t *used)
{
	enum ab_socks_reason reason = (enum ab_socks_reason)s->reason;
	const uint8_t *b = p;
	size_t i = 0;

	*used = 0;
	/* the password is unjudged: nothing is read past it */
	if (reason == AB_SOCKS_MORE && s->state == K_WAIT)
		return AB_SOCKS_AUTH;
	while (reason == AB_SOCKS_MORE && i < n)
		reason = read_byte(s, b[i++]);
	*used = i;
	/* the end of a message is told once, a refusal and the target stay */
	if (reason >= AB_SOCKS_REQUEST)
		s->reason = (uint8_t)reason;
	return reason;
}

/* --- answers ----------------------------------------------------------- */

static size_t put(uint8_t out[AB_SOCKS_REPLY_SIZE], uint8_t a, uint8_t b)
{
	out[0] = a;
	out[1] = b;
	return 2;
}

static size_t request_reply(uint8_t code, uint8_t out[AB_SOCKS_REPLY_SIZE])
{
	memset(out, 0, AB_SOCKS_REPLY_SIZE);
	put(out, 5, code);
	out[3] = TYPE_IPV4;
	return AB_SOCKS_REPLY_SIZE;
}

size_t ab_socks_reply(const ab_socks *s, enum ab_socks_code code,
		      uint8_t out[AB_SOCKS_REPLY_SIZE])
{
	switch ((enum ab_socks_reason)s->reason) {
	case AB_SOCKS_NO_METHODS:
	case AB_SOCKS_METHOD:
		return put(out, 5, 0xff);
	case AB_SOCKS_AUTH_FORM:
	case AB_SOCKS_DENIED:
		return put(out, 1, 1);
	case AB_SOCKS_REQUEST:
		return request_reply((uint8_t)code, out);
	case AB_SOCKS_COMMAND:
		return request_reply(AB_SOCKS_NO_COMMAND, out);
	case AB_SOCKS_TYPE:
		return request_reply(AB_SOCKS_NO_TYPE, out);
	case AB_SOCKS_FORM:
	case AB_SOCKS_NAME:
	case AB_SOCKS_PORT:
		return request_reply(AB_SOCKS_FAILURE, out);
	case AB_SOCKS_MORE:
		/* a message of the client's has just ended */
		if (s->state == K_AUTH_VERSION)
			return put(out, 5, METHOD_PASSWORD);
		if (s->state == K_REQUEST_VERSION)
			return s->open ? put(out, 5, METHOD_NONE) :
					 put(out, 1, 0);
		return 0;
	case AB_SOCKS_METHODS:
	case AB_SOCKS_AUTH:
	case AB_SOCKS_VERSION:
	case AB_SOCKS_REASON_COUNT:
		break;
	}
	return 0;
}
