/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The demo's screen: cells, headings, colours where they are wanted. */
#include "demo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS 80

static bool colours;

void screen_open(void)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	colours = isatty(STDOUT_FILENO) && !(no && *no) && term &&
		  strcmp(term, "dumb") != 0;
}

static void put(enum tint tint, const char *text)
{
	static const char *const codes[] = { "32", "1;31", "33", "1", "2" };

	if (colours)
		printf("\033[%sm%s\033[0m", codes[tint], text);
	else
		fputs(text, stdout);
}

void cell(enum tint tint, bool tinted, int width, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (width > 0 && n >= width) {
		n = width - 1;
		text[n - 1] = '.';
		text[n] = '\0';
	}
	if (tinted)
		put(tint, text);
	else
		fputs(text, stdout);
	if (width > n)
		printf("%*s", width - n, "");
	fflush(stdout);
}

void line_end(void)
{
	putchar('\n');
	fflush(stdout);
}

void heading(const char *title, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	static int any;
	int gap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	gap = COLUMNS - 1 - (int)strlen(title) - (int)strlen(text);
	if (any++)
		putchar('\n');
	put(TINT_HEAD, title);
	if (*text)
		printf("%*s%s", gap > 1 ? gap : 1, "", text);
	putchar('\n');
}

void paragraph(enum tint tint, const char *text)
{
	char row[COLUMNS];

	while (*text) {
		size_t n = strlen(text);

		if (n > COLUMNS - 4) {
			n = COLUMNS - 4;
			while (n > 20 && text[n] != ' ')
				n--;
		}
		snprintf(row, sizeof(row), "%.*s", (int)n, text);
		fputs("  ", stdout);
		put(tint, row);
		putchar('\n');
		text += n;
		text += strspn(text, " ");
	}
	fflush(stdout);
}

void show_number(char *out, size_t size, const char *limit, json_int_t n)
{
	bool bytes = strcmp(limit, "memory") == 0 || strcmp(limit, "disk") == 0;
	double gib = (double)n / (1 << 30);

	if (bytes && gib >= 1)
		snprintf(out, size, "%.4g GiB", gib);
	else if (bytes)
		snprintf(out, size, "%.4g MiB", gib * 1024);
	else if (strcmp(limit, "cpus") == 0)
		snprintf(out, size, "%.4g", (double)n / 1000);
	else if (strcmp(limit, "wall") == 0)
		snprintf(out, size, "%.4g s", (double)n / 1000);
	else
		snprintf(out, size, "%lld", (long long)n);
}
