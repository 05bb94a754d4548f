/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system call tables as data. syscalls.c holds rows and nothing else;
 * seccomp.c turns them into a filter. Refuses nothing by itself. Spec:
 * DESIGN.md section 6, RECIPES.md "Attacker's reading" K.
 */
#ifndef AB_WALLS_SYSCALLS_H
#define AB_WALLS_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The newest system call number that was looked at when the tables were
 * written (mseal, Linux 6.10; numbers from 424 on are the same on every
 * architecture). What is newer did not exist for us: ENOSYS.
 */
#define AB_SYSCALL_NEWEST 462

/* Which profiles and tiers a row belongs to. */
#define AB_ROW_DEFAULT 0x01u  /* deny list of `default` */
#define AB_ROW_STRICT 0x02u   /* allow list of `strict` */
#define AB_ROW_LANDLOCK 0x04u /* only in the landlock tier */
#define AB_ROW_NO_NET 0x08u   /* only when the network mode is none */
/* syscalls.allow may not name it: a wall rests on it */
#define AB_ROW_CORE 0x10u

enum ab_row_compare {
	AB_CMP_NONE = 0, /* the whole call */
	AB_CMP_BITS,	 /* (argument & mask) == value */
	AB_CMP_NE,	 /* argument != value */
	AB_CMP_GT	 /* argument > value, 64 bits, unsigned */
};

typedef struct ab_row_arg {
	uint32_t compare; /* enum ab_row_compare */
	uint32_t index;
	uint64_t mask, value;
} ab_row_arg;

#define AB_ROW_ARGS 3

typedef struct ab_row {
	const char *name;
	int32_t number; /* when libseccomp does not know the name; 0: none */
	uint32_t flags;
	int32_t action; /* 0: allow, else the errno */
	ab_row_arg arg[AB_ROW_ARGS];
} ab_row;

/* Rows of one table; later rows do not override earlier ones. */
extern const ab_row ab_rows_default[];
extern const size_t ab_rows_default_count;
extern const ab_row ab_rows_strict[];
extern const size_t ab_rows_strict_count;
extern const ab_row ab_rows_landlock[];
extern const size_t ab_rows_landlock_count;

#endif
