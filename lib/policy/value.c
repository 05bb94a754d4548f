/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sizes, durations, CPU counts. Digits are read by hand with checked
 * arithmetic: strtoull accepts signs, spaces, octal and wraps. Refuses
 * whatever is not exactly the documented form. Spec: policy/value.h.
 */
#include "config.h"

#include "policy/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"

typedef struct unit {
	const char *name;
	uint64_t factor;
} unit;

static const unit size_units[] = {
	{ "TiB", UINT64_C(1) << 40 }, { "GiB", UINT64_C(1) << 30 },
	{ "MiB", UINT64_C(1) << 20 }, { "KiB", UINT64_C(1) << 10 },
	{ "TB", UINT64_C(1000000000000) }, { "GB", UINT64_C(1000000000) },
	{ "MB", UINT64_C(1000000) }, { "kB", UINT64_C(1000) },
	{ "B", 1 },
};

static const unit time_units[] = {
	{ "d", UINT64_C(86400000) }, { "h", UINT64_C(3600000) },
	{ "m", UINT64_C(60000) },    { "s", UINT64_C(1000) },
	{ "ms", 1 },
};

static const unit cpu_units[] = { { "m", 1 } };

enum reading { READ_OK, READ_FORM, READ_ZERO, READ_OVERFLOW };

/* Decimal digits, then exactly one unit name, within n bytes. */
static enum reading read_number(const char *s, size_t n, const unit *units,
				size_t count, uint64_t *out)
{
	uint64_t v = 0;
	size_t i = 0;
	bool overflow = false;

	while (i < n && s[i] >= '0' && s[i] <= '9') {
		if (i && s[0] == '0')
			return READ_FORM;
		overflow |= __builtin_mul_overflow(v, 10, &v);
		overflow |= __builtin_add_overflow(v, (uint64_t)(s[i] - '0'),
						   &v);
		i++;
	}
	if (i == 0)
		return READ_FORM;
	for (size_t u = 0; u < count; u++) {
		if (strlen(units[u].name) != n - i ||
		    memcmp(units[u].name, s + i, n - i) != 0)
			continue;
		overflow |= __builtin_mul_overflow(v, units[u].factor, &v);
		if (overflow || v > INT64_MAX)
			return READ_OVERFLOW;
		*out = v;
		return v ? READ_OK : READ_ZERO;
	}
	return READ_FORM;
}

/*
 * Guess what was meant, for the message only: `4 GiB`, `4gib`, `4G` become
 * "4GiB". Returns false when there is nothing to guess from.
 */
static bool guess(const char *s, const unit *units, size_t count,
		  char out[AB_VALUE_SIZE])
{
	char word[16] = { 0 };
	size_t digits;
	size_t n = 0;

	s += strspn(s, " +");
	digits = strspn(s, "0123456789");
	if (digits == 0 || digits > 15 || s[0] == '0')
		return false;
	for (const char *p = s + digits; *p; p++) {
		if (*p == ' ')
			continue;
		if (n + 1 == sizeof(word))
			return false;
		word[n++] = *p;
	}
	for (size_t u = 0; u < count; u++) {
		const char *name = units[u].name;

		if (strcasecmp(word, name) == 0 ||
		    (n == 1 && name[1] == 'i' &&
		     strncasecmp(word, name, 1) == 0)) {
			snprintf(out, AB_VALUE_SIZE, "%.*s%s", (int)digits, s,
				 name);
			return true;
		}
	}
	return false;
}

static bool refuse(enum reading r, const char *s, const char *kind,
		   const char *example, const unit *units, size_t count,
		   char why[AB_WHY_SIZE])
{
	char meant[AB_VALUE_SIZE];

	if (r == READ_ZERO)
		snprintf(why, AB_WHY_SIZE,
			 "is zero; leave it out or write a %s above zero",
			 kind);
	else if (r == READ_OVERFLOW)
		snprintf(why, AB_WHY_SIZE, "is too large a %s", kind);
	else
		snprintf(why, AB_WHY_SIZE, "is not a %s; write \"%s\"", kind,
			 guess(s, units, count, meant) ? meant : example);
	return false;
}

bool ab_value_size(const char *s, bool zero_ok, uint64_t *out,
		   char why[AB_WHY_SIZE])
{
	uint64_t v = 0;
	enum reading r = read_number(s, strlen(s), size_units,
				     AB_ARRAY_LEN(size_units), &v);

	if (r == READ_ZERO && zero_ok && strcmp(s, "0B") == 0)
		r = READ_OK;
	if (r != READ_OK)
		return refuse(r, s, "size", "4GiB", size_units,
			      AB_ARRAY_LEN(size_units), why);
	*out = v;
	return true;
}

bool ab_value_duration(const char *s, uint64_t *out, char why[AB_WHY_SIZE])
{
	uint64_t v = 0;
	enum reading r = read_number(s, strlen(s), time_units,
				     AB_ARRAY_LEN(time_units), &v);

	if (r != READ_OK)
		return refuse(r, s, "duration", "30m", time_units,
			      AB_ARRAY_LEN(time_units), why);
	*out = v;
	return true;
}

bool ab_value_cpus(const char *s, uint64_t *out, char why[AB_WHY_SIZE])
{
	uint64_t v = 0;
	enum reading r = read_number(s, strlen(s), cpu_units, 1, &v);

	if (r == READ_OK && v <= UINT32_MAX) {
		*out = v;
		return true;
	}
	if (r == READ_FORM)
		snprintf(why, AB_WHY_SIZE,
			 "is not a count of CPUs; write 2 or \"1500m\"");
	else
		refuse(r == READ_OK ? READ_OVERFLOW : r, s, "count of CPUs",
		       "1500m", cpu_units, 1, why);
	return false;
}

bool ab_value_backoff(const char *s, uint64_t *low, uint64_t *high,
		      char why[AB_WHY_SIZE])
{
	const char *dots = strstr(s, "..");

	if (dots &&
	    read_number(s, (size_t)(dots - s), time_units,
			AB_ARRAY_LEN(time_units), low) == READ_OK &&
	    read_number(dots + 2, strlen(dots + 2), time_units,
			AB_ARRAY_LEN(time_units), high) == READ_OK &&
	    *low <= *high)
		return true;
	snprintf(why, AB_WHY_SIZE,
		 "is not a range of durations; write \"1s..60s\"");
	return false;
}

/* The unit that divides v and leaves the smallest count; first wins ties. */
static void text(uint64_t v, const unit *units, size_t count,
		 char out[AB_VALUE_SIZE])
{
	const unit *best = &units[count - 1];

	for (size_t u = 0; u < count; u++)
		if (v && v % units[u].factor == 0 &&
		    v / units[u].factor < v / best->factor)
			best = &units[u];
	snprintf(out, AB_VALUE_SIZE, "%" PRIu64 "%s", v / best->factor,
		 best->name);
}

void ab_value_size_text(uint64_t v, char out[AB_VALUE_SIZE])
{
	text(v, size_units, AB_ARRAY_LEN(size_units), out);
}

void ab_value_duration_text(uint64_t ms, char out[AB_VALUE_SIZE])
{
	text(ms, time_units, AB_ARRAY_LEN(time_units), out);
}

void ab_value_backoff_text(uint64_t low, uint64_t high,
			   char out[AB_VALUE_SIZE])
{
	char a[AB_VALUE_SIZE];
	char b[AB_VALUE_SIZE];

	ab_value_duration_text(low, a);
	ab_value_duration_text(high, b);
	snprintf(out, AB_VALUE_SIZE, "%.22s..%.22s", a, b);
}
