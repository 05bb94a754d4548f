/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Secrets as arguments of programs: which option of which program takes one,
 * and where in the argument it stands. Soft: a table cannot be complete.
 */
#ifndef AB_AUDIT_ARGUMENTS_H
#define AB_AUDIT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a text. */
typedef struct ab_audit_span {
	size_t at, len;
} ab_audit_span;

/* Which part of the value is secret. */
enum ab_audit_part {
	AB_PART_NOTHING,
	AB_PART_ALL,
	AB_PART_AFTER_COLON, /* user:password */
	AB_PART_AFTER_COMMA, /* user,password */
	AB_PART_AFTER_PERCENT, /* user%password */
	AB_PART_AFTER_SLASH, /* user/password@place */
	AB_PART_AFTER_EQUALS, /* key=value, whatever the key */
	AB_PART_HEADER, /* Name: value, by the name */
	AB_PART_COOKIE, /* name=value is one, a bare word is a file */
	AB_PART_PASS, /* openssl's pass:value */
};

/* Where the value stands. */
#define AB_APART 1u /* the next argument */
#define AB_GLUED 2u /* the rest of this one: -pVALUE, --user=VALUE */
#define AB_BOTH (AB_APART | AB_GLUED)
#define AB_REST 4u /* every argument from here on */

/* Words that must have come before: programs, and what they are told to do. */
enum ab_audit_word {
	AB_WORD_AWS,
	AB_WORD_AZ,
	AB_WORD_CARGO,
	AB_WORD_CONFIG,
	AB_WORD_CURL,
	AB_WORD_DATABASE_CLI,
	AB_WORD_ENC,
	AB_WORD_GH,
	AB_WORD_HTPASSWD,
	AB_WORD_HTTPIE,
	AB_WORD_KUBECTL,
	AB_WORD_LDAP,
	AB_WORD_LFTP,
	AB_WORD_LOGIN,
	AB_WORD_MONGO,
	AB_WORD_MYSQL,
	AB_WORD_NGROK,
	AB_WORD_OPENSSL,
	AB_WORD_RABBITMQ,
	AB_WORD_RAR,
	AB_WORD_REDIS,
	AB_WORD_REGISTRY,
	AB_WORD_SECRET,
	AB_WORD_SECURE_STRING,
	AB_WORD_SETTING,
	AB_WORD_SEVENZIP,
	AB_WORD_SMB,
	AB_WORD_SQLCMD,
	AB_WORD_SQLPLUS,
	AB_WORD_SSH,
	AB_WORD_SSHPASS,
	AB_WORD_SSH_KEYGEN,
	AB_WORD_TWINE,
	AB_WORD_USERADD,
	AB_WORD_VAULT,
	AB_WORD_ZIP,
	AB_WORD_COUNT
};
#define AB_WORD(name) (UINT64_C(1) << AB_WORD_##name)

typedef struct ab_audit_option {
	uint64_t needs; /* all of these words came before; 0: any program */
	const char *name; /* -x, --xyz, or a word */
	uint8_t where, part;
	uint8_t skip; /* arguments between the option and its value */
} ab_audit_option;

/* secret_options.c; the rows that may match are tried in their order */
extern const ab_audit_option ab_audit_options[];
extern const size_t ab_audit_options_count;
/* The bit of a word, 0 for any other; a program without its directory. */
uint64_t ab_audit_word_bit(const char *p, size_t n);

/* What has been seen of one argument list. Zeroed at its start. */
typedef struct ab_audit_arguments {
	uint64_t seen;
	const ab_audit_option *option; /* its value is to come; or NULL */
	size_t skip;
} ab_audit_arguments;

/* The next argument; what of it is secret, len 0 for nothing. */
ab_audit_span ab_audit_argument(ab_audit_arguments *a, const char *p,
				size_t n);
/*
 * A text read as command lines, twice: with quotes as a shell reads them, and
 * without, for lines within lines. Marks what is secret with 1 in mask, which
 * may be NULL; returns whether there is something.
 */
bool ab_audit_mark_arguments(const char *p, size_t n, char *mask);

#endif
