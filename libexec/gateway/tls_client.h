/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TLS to an upstream: verified, or there is no connection. TLS 1.2 and 1.3
 * (RFC 5246, RFC 8446), chain and name (RFC 9525), ALPN "http/1.1"; no
 * renegotiation, no compression, no session is kept, so there is no
 * resumption and no early data (gateway cases 64, 65). Certificates are not
 * asked for revocation: nothing but the upstream is ever connected to.
 * OpenSSL 3.0 over a non-blocking descriptor; it reads no configuration, and
 * no file after ab_tls_start() and ab_tls_roots_*().
 */
#ifndef GATEWAY_TLS_CLIENT_H
#define GATEWAY_TLS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "net/target.h"

/* Once, before the process gives up files. Ignores SIGPIPE, which OpenSSL's
   write(2) would raise. 0 or -ENOMEM. */
int ab_tls_start(void);

/* Whom to believe. */
typedef struct ab_tls_roots ab_tls_roots;
/* PEM with at least one certificate. 0; -EINVAL with `why`; -ENOMEM. */
int ab_tls_roots_new(const char *pem, size_t n, ab_tls_roots **out,
		     char why[AB_WHY_SIZE]);
/* The system's list. -ENOENT when there is none. */
int ab_tls_roots_system(ab_tls_roots **out, char why[AB_WHY_SIZE]);
void ab_tls_roots_free(ab_tls_roots *roots);

enum ab_tls_step {
	AB_TLS_DONE = 0,
	AB_TLS_READ,  /* again when the descriptor is readable */
	AB_TLS_WRITE, /* again when it is writable */
	AB_TLS_END,   /* the upstream has closed, and said so */
	AB_TLS_FAILED /* for good: ab_tls_code(), ab_tls_why() */
};

typedef struct ab_tls ab_tls;

/*
 * A connection to `target` over fd, which is taken in any case. NULL: out of
 * memory. The roots live longer than it.
 */
ab_tls *ab_tls_new(const ab_tls_roots *roots, const ab_target *target, int fd);
/* Says goodbye if that can be done at once, and closes; NULL is ignored. */
void ab_tls_free(ab_tls *tls);
int ab_tls_fd(const ab_tls *tls);

/* Until DONE, nothing of ours is sent. */
enum ab_tls_step ab_tls_handshake(ab_tls *tls);
/* DONE: *got > 0 bytes. With room for 16 KiB nothing stays behind inside. */
enum ab_tls_step ab_tls_read(ab_tls *tls, void *p, size_t n, size_t *got);
/* DONE: *put > 0 bytes are on their way. After READ or WRITE the next call
   has to begin with the same bytes, wherever they are by then. */
enum ab_tls_step ab_tls_write(ab_tls *tls, const void *p, size_t n,
			      size_t *put);

/* Nothing has come that was not read, here or at the descriptor, nor the end:
   what is there before anything was asked answers nothing. */
bool ab_tls_is_silent(const ab_tls *tls);

/* Why it failed: "tls_expired", stable; and a line for people. */
const char *ab_tls_code(const ab_tls *tls);
const char *ab_tls_why(const ab_tls *tls);

#endif
