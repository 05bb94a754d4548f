/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TLS to an upstream. Spec: tls_client.h. */
#include "config.h"

#include "tls_client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/fd.h"

#define ROOTS_MAX_BYTES (4u << 20)
#define ROOTS_MAX 4096
#define CHAIN_MAX 8

struct ab_tls_roots {
	SSL_CTX *ctx;
};

struct ab_tls {
	SSL *ssl;
	int fd;
	bool is_open; /* the handshake is over */
	bool failed;
	char host[AB_TARGET_TEXT_SIZE];
	const char *code;
	char why[320];
};

/* --- what was wrong ------------------------------------------------------- */

static void date_of(const ASN1_TIME *t, char out[16])
{
	struct tm tm;

	if (!t || !ASN1_TIME_to_tm(t, &tm) || !strftime(out, 16, "%F", &tm))
		snprintf(out, 16, "?");
}

static void say(ab_tls *tls, const char *code, const char *text)
{
	tls->failed = true;
	if (tls->code)
		return; /* the first reason is the reason */
	tls->code = code;
	snprintf(tls->why, sizeof(tls->why), "%s", text);
}

static void say_dated(ab_tls *tls, const char *code, const char *verb,
		      const ASN1_TIME *t, int depth)
{
	char date[16];
	char text[sizeof(tls->why)];

	date_of(t, date);
	snprintf(text, sizeof(text), "%s \"%s\" %s %s",
		 depth ? "a certificate of the authority over" :
			 "the certificate of",
		 tls->host, verb, date);
	say(tls, code, text);
}

static void say_host(ab_tls *tls, const char *code, const char *before,
		     const char *behind)
{
	char text[sizeof(tls->why)];

	snprintf(text, sizeof(text), "%s \"%s\" %s", before, tls->host,
		 behind);
	say(tls, code, text);
}

static void say_verify(ab_tls *tls, X509_STORE_CTX *store)
{
	int error = X509_STORE_CTX_get_error(store);
	int depth = X509_STORE_CTX_get_error_depth(store);
	const X509 *cert = X509_STORE_CTX_get_current_cert(store);

	switch (error) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		say_dated(tls, "tls_expired", "expired on",
			  cert ? X509_get0_notAfter(cert) : NULL, depth);
		return;
	case X509_V_ERR_CERT_NOT_YET_VALID:
		say_dated(tls, "tls_not_yet", "is valid only from",
			  cert ? X509_get0_notBefore(cert) : NULL, depth);
		return;
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		say_host(tls, "tls_name", "the certificate is not for",
			 "but for other hosts");
		return;
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_CERT_UNTRUSTED:
		say_host(tls, "tls_untrusted", "the certificate of",
			 "comes from an authority that is not trusted");
		return;
	default:
		say_host(tls, "tls_verify", "the certificate of",
			 X509_verify_cert_error_string(error));
	}
}

static int judge_chain(int good, X509_STORE_CTX *store)
{
	SSL *ssl = X509_STORE_CTX_get_ex_data(
		store, SSL_get_ex_data_X509_STORE_CTX_idx());
	ab_tls *tls = ssl ? SSL_get_app_data(ssl) : NULL;

	if (!good && tls)
		say_verify(tls, store);
	return good && tls;
}

/* --- roots ---------------------------------------------------------------- */

int ab_tls_start(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	unsigned char seed[1];

	sigaction(SIGPIPE, &ignore, NULL);
	if (!OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG |
				      OPENSSL_INIT_NO_ATEXIT |
				      OPENSSL_INIT_LOAD_SSL_STRINGS |
				      OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
			      NULL) ||
	    RAND_bytes(seed, sizeof(seed)) != 1)
		return -ENOMEM;
	return 0;
}

static bool harden(SSL_CTX *ctx)
{
	static const unsigned char alpn[] = "\x08http/1.1";

	SSL_CTX_set_security_level(ctx, 2);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION |
					 SSL_OP_NO_COMPRESSION |
					 SSL_OP_NO_TICKET);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
				      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				      SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, judge_chain);
	SSL_CTX_set_verify_depth(ctx, CHAIN_MAX);
	return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) &&
	       SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20:"
					    "DHE+AESGCM:!aNULL:!PSK:!SRP") &&
	       SSL_CTX_set_alpn_protos(ctx, alpn, sizeof(alpn) - 1) == 0;
}

/* An encrypted key in the file is nobody's to open: no question is asked. */
static int no_password(char *buf, int size, int writing, void *arg)
{
	(void)buf;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

/* How many certificates; -EINVAL, -ENOMEM. */
static int add_all(X509_STORE *store, BIO *bio)
{
	int count = 0;
	X509 *cert;
	unsigned long error;

	while ((cert = PEM_read_bio_X509(bio, NULL, no_password, NULL))) {
		int added = X509_STORE_add_cert(store, cert);

		X509_free(cert);
		if (!added)
			return -ENOMEM;
		if (++count > ROOTS_MAX)
			return -EINVAL;
	}
	error = ERR_peek_last_error();
	ERR_clear_error();
	return ERR_GET_REASON(error) == PEM_R_NO_START_LINE ? count : -EINVAL;
}

int ab_tls_roots_new(const char *pem, size_t n, ab_tls_roots **out,
		     char why[AB_WHY_SIZE])
{
	ab_tls_roots *roots = ab_new(ab_tls_roots);
	BIO *bio = n <= ROOTS_MAX_BYTES ? BIO_new_mem_buf(pem, (int)n) : NULL;
	int count = -ENOMEM;

	*out = NULL;
	snprintf(why, AB_WHY_SIZE, "out of memory");
	if (roots)
		roots->ctx = SSL_CTX_new(TLS_client_method());
	if (roots && roots->ctx && bio && harden(roots->ctx))
		count = add_all(SSL_CTX_get_cert_store(roots->ctx), bio);
	BIO_free(bio);
	if (count > 0) {
		*out = roots;
		return 0;
	}
	ab_tls_roots_free(roots);
	if (count == -ENOMEM && n <= ROOTS_MAX_BYTES)
		return -ENOMEM;
	snprintf(why, AB_WHY_SIZE, count == 0 ?
			 "holds no certificate in PEM" :
			 "is no list of certificates in PEM");
	return -EINVAL;
}

int ab_tls_roots_system(ab_tls_roots **out, char why[AB_WHY_SIZE])
{
	static const char *const files[] = {
		"/etc/ssl/certs/ca-certificates.crt",
		"/etc/pki/tls/certs/ca-bundle.crt",
		"/etc/ssl/ca-bundle.pem",
		"/etc/ssl/cert.pem",
	};

	*out = NULL;
	for (size_t i = 0; i < AB_ARRAY_LEN(files); i++) {
		ab_autofd int fd = open(files[i], O_RDONLY | O_CLOEXEC);
		ab_autofree char *pem = NULL;
		size_t n;

		if (fd >= 0 &&
		    ab_fd_slurp(fd, ROOTS_MAX_BYTES, &pem, &n) == 0)
			return ab_tls_roots_new(pem, n, out, why);
	}
	snprintf(why, AB_WHY_SIZE, "the system has no list of certificates; "
		 "install ca-certificates, or name one in the route's \"ca\"");
	return -ENOENT;
}

void ab_tls_roots_free(ab_tls_roots *roots)
{
	if (!roots)
		return;
	SSL_CTX_free(roots->ctx);
	free(roots);
}

/* --- connections ---------------------------------------------------------- */

/* Whose certificate it has to be, and the name that is asked for. */
static bool bind_name(SSL *ssl, const ab_target *target)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

	X509_VERIFY_PARAM_set_hostflags(
		param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
			       X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	if (target->kind == AB_TARGET_NAME)
		return SSL_set1_host(ssl, target->name) &&
		       SSL_set_tlsext_host_name(ssl, target->name);
	if (target->kind == AB_TARGET_ADDRESS)
		return X509_VERIFY_PARAM_set1_ip(
			param, target->address.bytes,
			target->address.family == AB_ADDRESS_IPV4 ? 4 : 16);
	return false;
}

ab_tls *ab_tls_new(const ab_tls_roots *roots, const ab_target *target, int fd)
{
	ab_tls *tls = ab_new(ab_tls);

	if (!tls) {
		close(fd);
		return NULL;
	}
	tls->fd = fd;
	ab_target_text(target, target->port, tls->host);
	tls->ssl = SSL_new(roots->ctx);
	if (!tls->ssl || !SSL_set_app_data(tls->ssl, tls) ||
	    !bind_name(tls->ssl, target) || !SSL_set_fd(tls->ssl, fd)) {
		ERR_clear_error();
		ab_tls_free(tls);
		return NULL;
	}
	SSL_set_connect_state(tls->ssl);
	return tls;
}

void ab_tls_free(ab_tls *tls)
{
	if (!tls)
		return;
	if (tls->ssl && tls->is_open && !tls->failed)
		SSL_shutdown(tls->ssl);
	ERR_clear_error();
	SSL_free(tls->ssl);
	if (tls->fd >= 0)
		close(tls->fd);
	free(tls);
}

int ab_tls_fd(const ab_tls *tls)
{
	return tls->fd;
}

static bool is_version_error(int reason)
{
	return reason == SSL_R_UNSUPPORTED_PROTOCOL ||
	       reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION ||
	       reason == SSL_R_VERSION_TOO_LOW ||
	       reason == SSL_R_UNSUPPORTED_SSL_VERSION;
}

static bool is_no_tls(int reason)
{
	return reason == SSL_R_WRONG_VERSION_NUMBER ||
	       reason == SSL_R_HTTP_REQUEST ||
	       reason == SSL_R_HTTPS_PROXY_REQUEST;
}

static void say_protocol(ab_tls *tls)
{
	unsigned long error = ERR_peek_last_error();
	int reason = ERR_GET_REASON(error);
	const char *text = error ? ERR_reason_error_string(error) : NULL;

	if (!error || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
		say_host(tls, "tls_cut", "the connection to",
			 "ended in the middle");
	else if (is_version_error(reason))
		say_host(tls, "tls_version", "the upstream",
			 "has neither TLS 1.2 nor 1.3");
	else if (is_no_tls(reason))
		say_host(tls, "tls_none", "the upstream", "speaks no TLS");
	else
		say_host(tls, "tls_protocol", "TLS with", text ? text :
								  "failed");
}

/* What a call that returned r <= 0 wants. */
static enum ab_tls_step step_of(ab_tls *tls, int r)
{
	int error = SSL_get_error(tls->ssl, r);

	switch (error) {
	case SSL_ERROR_WANT_READ:
		return AB_TLS_READ;
	case SSL_ERROR_WANT_WRITE:
		return AB_TLS_WRITE;
	case SSL_ERROR_ZERO_RETURN:
		return AB_TLS_END;
	default:
		say_protocol(tls);
		ERR_clear_error();
		return AB_TLS_FAILED;
	}
}

/* A server that was offered http/1.1 alone may choose nothing else. */
static bool has_our_protocol(const SSL *ssl)
{
	const unsigned char *name;
	unsigned n;

	SSL_get0_alpn_selected(ssl, &name, &n);
	return n == 0 || (n == 8 && memcmp(name, "http/1.1", 8) == 0);
}

enum ab_tls_step ab_tls_handshake(ab_tls *tls)
{
	int r;

	if (tls->failed)
		return AB_TLS_FAILED;
	ERR_clear_error();
	r = SSL_do_handshake(tls->ssl);
	if (r != 1) {
		enum ab_tls_step step = step_of(tls, r);

		if (step != AB_TLS_END)
			return step;
		say_protocol(tls);
		return AB_TLS_FAILED;
	}
	/* judge_chain() has seen to it; twice is not too often */
	if (SSL_get_verify_result(tls->ssl) != X509_V_OK || tls->failed) {
		say_host(tls, "tls_verify", "the certificate of",
			 "could not be verified");
		return AB_TLS_FAILED;
	}
	if (!has_our_protocol(tls->ssl)) {
		say_host(tls, "tls_alpn", "the upstream",
			 "speaks another protocol than http/1.1");
		return AB_TLS_FAILED;
	}
	tls->is_open = true;
	return AB_TLS_DONE;
}

enum ab_tls_step ab_tls_read(ab_tls *tls, void *p, size_t n, size_t *got)
{
	int r;

	*got = 0;
	if (!tls->is_open || tls->failed)
		return AB_TLS_FAILED;
	ERR_clear_error();
	r = SSL_read_ex(tls->ssl, p, n, got);
	return r == 1 ? AB_TLS_DONE : step_of(tls, r);
}

enum ab_tls_step ab_tls_write(ab_tls *tls, const void *p, size_t n,
			      size_t *put)
{
	int r;

	*put = 0;
	if (!tls->is_open || tls->failed)
		return AB_TLS_FAILED;
	ERR_clear_error();
	r = SSL_write_ex(tls->ssl, p, n, put);
	return r == 1 ? AB_TLS_DONE : step_of(tls, r);
}

bool ab_tls_is_silent(const ab_tls *tls)
{
	char byte;

	return tls->is_open && !tls->failed && !SSL_has_pending(tls->ssl) &&
	       recv(tls->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       errno == EAGAIN;
}

const char *ab_tls_code(const ab_tls *tls)
{
	return tls->code ? tls->code : "tls_failed";
}

const char *ab_tls_why(const ab_tls *tls)
{
	return tls->why[0] ? tls->why : "TLS failed";
}
