/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes, strings and the little of printf that agentbox-init uses. Compiled
 * so that the compiler does not turn these loops into calls of themselves.
 * An unknown conversion is written as it stands, never read past. Spec: the
 * man pages, section 3.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	void *at = to;

	__asm__ volatile("rep movsb"
			 : "+D"(at), "+S"(from), "+c"(n)
			 :
			 : "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if ((uintptr_t)t - (uintptr_t)f >= n)
		return memcpy(to, from, n);
	while (n--)
		t[n] = f[n];
	return to;
}

void *memset(void *p, int c, size_t n)
{
	void *at = p;

	__asm__ volatile("rep stosb"
			 : "+D"(at), "+c"(n)
			 : "a"(c)
			 : "memory");
	return p;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (size_t i = 0; i < n; i++) {
		if (x[i] != y[i])
			return x[i] - y[i];
	}
	return 0;
}

void *memchr(const void *p, int c, size_t n)
{
	const uint8_t *x = p;

	for (size_t i = 0; i < n; i++) {
		if (x[i] == (uint8_t)c)
			return (void *)(uintptr_t)(x + i);
	}
	return NULL;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (a[i] != b[i] || !a[i])
			return (uint8_t)a[i] - (uint8_t)b[i];
	}
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(uintptr_t)s;
		if (!*s)
			return NULL;
	}
}

char *strrchr(const char *s, int c)
{
	const char *found = NULL;

	for (;; s++) {
		if (*s == (char)c)
			found = s;
		if (!*s)
			return (char *)(uintptr_t)found;
	}
}

size_t strcspn(const char *s, const char *reject)
{
	size_t n = 0;

	while (s[n] && !strchr(reject, s[n]))
		n++;
	return n;
}

size_t strspn(const char *s, const char *accept)
{
	size_t n = 0;

	while (s[n] && strchr(accept, s[n]))
		n++;
	return n;
}

char *strtok_r(char *restrict s, const char *restrict delim,
	       char **restrict save)
{
	char *end;

	s = s ? s : *save;
	s += strspn(s, delim);
	if (!*s) {
		*save = s;
		return NULL;
	}
	end = s + strcspn(s, delim);
	*save = *end ? end + 1 : end;
	*end = '\0';
	return s;
}

/* Decimal only; a value too large stays the largest. */
static unsigned long long digits(const char *s, char **end)
{
	unsigned long long v = 0;

	for (; *s >= '0' && *s <= '9'; s++) {
		if (__builtin_mul_overflow(v, 10ull, &v) ||
		    __builtin_add_overflow(v, (unsigned)(*s - '0'), &v))
			v = UINT64_MAX;
	}
	if (end)
		*end = (char *)(uintptr_t)s;
	return v;
}

unsigned long long strtoull(const char *restrict s, char **restrict end,
			    int base)
{
	(void)base;
	return digits(s + strspn(s, " "), end);
}

long strtol(const char *restrict s, char **restrict end, int base)
{
	const char *at = s + strspn(s, " ");
	bool negative = *at == '-';
	unsigned long long v = digits(at + negative, end);

	(void)base;
	if (end && *end == at + negative)
		*end = (char *)(uintptr_t)s;
	if (v > INT64_MAX)
		v = INT64_MAX;
	return negative ? -(long)v : (long)v;
}

static const struct {
	int number;
	const char *text;
} errors[] = {
	{EPERM, "Operation not permitted"},
	{ENOENT, "No such file or directory"},
	{ESRCH, "No such process"},
	{EINTR, "Interrupted system call"},
	{EIO, "Input/output error"},
	{ENXIO, "No such device or address"},
	{E2BIG, "Argument list too long"},
	{ENOEXEC, "Exec format error"},
	{EBADF, "Bad file descriptor"},
	{ECHILD, "No child processes"},
	{EAGAIN, "Resource temporarily unavailable"},
	{ENOMEM, "Cannot allocate memory"},
	{EACCES, "Permission denied"},
	{EFAULT, "Bad address"},
	{EBUSY, "Device or resource busy"},
	{EEXIST, "File exists"},
	{EXDEV, "Invalid cross-device link"},
	{ENODEV, "No such device"},
	{ENOTDIR, "Not a directory"},
	{EISDIR, "Is a directory"},
	{EINVAL, "Invalid argument"},
	{ENFILE, "Too many open files in system"},
	{EMFILE, "Too many open files"},
	{ENOTTY, "Inappropriate ioctl for device"},
	{ETXTBSY, "Text file busy"},
	{EFBIG, "File too large"},
	{ENOSPC, "No space left on device"},
	{EROFS, "Read-only file system"},
	{EMLINK, "Too many links"},
	{EPIPE, "Broken pipe"},
	{ENAMETOOLONG, "File name too long"},
	{ENOSYS, "Function not implemented"},
	{ENOTEMPTY, "Directory not empty"},
	{ELOOP, "Too many levels of symbolic links"},
	{EPROTO, "Protocol error"},
	{EOVERFLOW, "Value too large for defined data type"},
	{EUSERS, "Too many users"},
	{EMSGSIZE, "Message too long"},
	{EOPNOTSUPP, "Operation not supported"},
	{ETIMEDOUT, "Connection timed out"},
	{ESTALE, "Stale file handle"},
	{EDQUOT, "Disk quota exceeded"},
	{ECANCELED, "Operation canceled"},
	{ELIBBAD, "Accessing a corrupted shared library"},
};

char *strerror(int number)
{
	static char unknown[32];

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (errors[i].number == number)
			return (char *)(uintptr_t)errors[i].text;
	}
	snprintf(unknown, sizeof(unknown), "error %d", number);
	return unknown;
}

typedef struct sink {
	char *at;
	size_t size, n;
} sink;

static void put(sink *s, char c)
{
	if (s->n + 1 < s->size)
		s->at[s->n] = c;
	s->n++;
}

static void put_number(sink *s, unsigned long long v, unsigned base,
		       int width, char pad)
{
	char text[24];
	int n = 0;

	do {
		text[n++] = (char)('0' + v % base);
		v /= base;
	} while (v);
	while (width-- > n)
		put(s, pad);
	while (n)
		put(s, text[--n]);
}

static void put_signed(sink *s, long v, int width, char pad)
{
	if (v < 0) {
		put(s, '-');
		put_number(s, -(unsigned long long)v, 10, width - 1, pad);
	} else {
		put_number(s, (unsigned long long)v, 10, width, pad);
	}
}

static int number(const char **at)
{
	int v = 0;

	while (**at >= '0' && **at <= '9' && v < 100000)
		v = v * 10 + (*(*at)++ - '0');
	return v;
}

/* %[0][width][.precision|.*][l|ll](s|d|u|o|%) */
static const char *convert(sink *s, const char *f, va_list *ap)
{
	const char *start = f - 1, *text;
	char pad = *f == '0' ? '0' : ' ';
	int width = number(&f), precision = -1, longs = 0;

	if (*f == '.') {
		f++;
		if (*f == '*') {
			precision = va_arg(*ap, int);
			f++;
		} else {
			precision = number(&f);
		}
	}
	for (; *f == 'l'; f++)
		longs++;
	switch (*f) {
	case 's':
		text = va_arg(*ap, const char *);
		for (; precision-- && *text; text++)
			put(s, *text);
		return f + 1;
	case 'd':
		put_signed(s, longs ? va_arg(*ap, long) : va_arg(*ap, int),
			   width, pad);
		return f + 1;
	case 'u':
	case 'o':
		put_number(s,
			   longs ? va_arg(*ap, unsigned long)
				 : va_arg(*ap, unsigned),
			   *f == 'o' ? 8 : 10, width, pad);
		return f + 1;
	case '%':
		put(s, '%');
		return f + 1;
	}
	put(s, *start);
	return start + 1;
}

int vsnprintf(char *restrict to, size_t size, const char *restrict f,
	      va_list args)
{
	sink s = {.at = to, .size = size};
	va_list ap;

	va_copy(ap, args);
	while (*f) {
		if (*f == '%')
			f = convert(&s, f + 1, &ap);
		else
			put(&s, *f++);
	}
	va_end(ap);
	if (size)
		to[s.n < size ? s.n : size - 1] = '\0';
	return (int)s.n;
}

int snprintf(char *restrict to, size_t size, const char *restrict f, ...)
{
	va_list ap;
	int n;

	va_start(ap, f);
	n = vsnprintf(to, size, f, ap);
	va_end(ap);
	return n;
}
