/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of the attacker share. An attack does one thing and returns
 * what the kernel said: 0 or more when it succeeded, -errno when it was
 * refused. It never judges: that is the case's work.
 */
#ifndef ATTACKER_H
#define ATTACKER_H

#include <stddef.h>

struct attack {
	const char *name;
	/* number of arguments it needs */
	int argc;
	long (*run)(char **argv);
};

extern const struct attack attacks_exec[];
extern const struct attack attacks_files[];
extern const struct attack attacks_kernel[];
extern const struct attack attacks_odd[];
extern const struct attack attacks_process[];
extern const struct attack attacks_network[];
extern const struct attack attacks_load[];
extern const struct attack attacks_verify[];

/* A detail for the "OK" line. */
void detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* -errno after a failed call, else the value. */
long result(long value);

/* A decimal, octal or 0x number. */
long number(const char *text);

#endif
