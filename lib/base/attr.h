/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cleanup attributes and ownership words for locals. A pointer in this code
 * base is borrowed, owned or taken; ab_steal() hands an owned one on.
 */
#ifndef AB_BASE_ATTR_H
#define AB_BASE_ATTR_H

#include <stdlib.h>

#define AB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* Rare: what leads to a call of it is laid out beside the way. */
#define AB_COLD __attribute__((cold))
/* On the way of each command of a text, where the compiler guesses that a
   pointer is there, or a loop goes round, and most often it is not so: a jump
   over what is rare costs more than the test before it. */
#define AB_LIKELY(is) __builtin_expect(!!(is), 1)
#define AB_UNLIKELY(is) __builtin_expect(!!(is), 0)
#define AB_MUST_CHECK __attribute__((warn_unused_result))
#define AB_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* A large local that is written before it is read: the compiler's zeroing of
   locals would cost more than what is done with it. */
#if defined(__has_attribute)
#if __has_attribute(uninitialized)
#define AB_UNINITIALIZED __attribute__((uninitialized))
#endif
#endif
#ifndef AB_UNINITIALIZED
#define AB_UNINITIALIZED
#endif

/* free() through the variable's address, for the cleanup attribute. */
void ab_cleanup_free(void *pp);
/* close() keeping errno; -1 is ignored. */
void ab_cleanup_fd(int *fd);

#define ab_autofree __attribute__((cleanup(ab_cleanup_free)))
#define ab_autofd __attribute__((cleanup(ab_cleanup_fd)))

/* ab_auto(agentbox_policy) needs AB_DEFINE_AUTO(agentbox_policy, unref_fn). */
#define ab_auto(type) __attribute__((cleanup(ab_auto_##type))) type
#define AB_DEFINE_AUTO(type, end)                                            \
	static inline __attribute__((unused)) void ab_auto_##type(type **pp) \
	{                                                                    \
		if (*pp)                                                     \
			end(*pp);                                            \
	}

#define ab_steal(pp)                         \
	__extension__({                      \
		__typeof__(*(pp)) ab_p_ = *(pp); \
		*(pp) = NULL;                \
		ab_p_;                       \
	})

static inline int ab_steal_fd(int *fd)
{
	int v = *fd;
	*fd = -1;
	return v;
}

#endif
