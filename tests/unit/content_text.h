/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts with secrets in them, made when the test runs: nothing that looks
 * like one is in this tree. In a template
 *
 *   ^^      nothing: keeps two halves apart
 *   ^X9^    9 random letters of class X of content_shape.c
 *   ^C30^   30 letters and digits and their CRC-32 in base62
 *   ^D18^   18 random digits in base64
 *   ^B...^  what is between in base64, ^U...^ in base64url without padding;
 *           templates again, ended by the '^' that closes
 */
#ifndef CONTENT_TEXT_H
#define CONTENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A generator of its own, so that a failure can be repeated. */
typedef struct content_random {
	uint64_t state;
} content_random;
uint64_t content_next(content_random *r);
/* One for this template and round: a row more changes nothing of the others. */
content_random content_seed(const char *template, unsigned round);

/* The text of a template, owned; its length in *n. */
char *content_text(content_random *r, const char *template, size_t *n);

#endif
