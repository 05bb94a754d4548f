/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The demo's screen: cells, headings, colours where they are wanted. It is 80
 * columns wide, or as wide as a narrower terminal was at the start.
 */
#include "demo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS 80
#define LEAST_COLUMNS 40

static bool colours;
static int columns = COLUMNS;
static int column; /* of the line that is being written */

void screen_open(void)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	struct winsize size = { 0 };

	colours = isatty(STDOUT_FILENO) && !(no && *no) && term &&
		  strcmp(term, "dumb") != 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col &&
	    size.ws_col < COLUMNS)
		columns = size.ws_col > LEAST_COLUMNS ? size.ws_col
						      : LEAST_COLUMNS;
}

bool screen_is_narrow(void)
{
	return columns < COLUMNS;
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
	/* what does not fit beside the last one stands below it */
	if (column > 4 && column + n > columns)
		column = printf("\n    ") - 1;
	if (tinted)
		put(tint, text);
	else
		fputs(text, stdout);
	column += n;
	if (width > n && column + width - n < columns)
		column += printf("%*s", width - n, "");
	fflush(stdout);
}

void line_end(void)
{
	putchar('\n');
	column = 0;
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
	gap = columns - 1 - (int)strlen(title) - (int)strlen(text);
	if (any++)
		putchar('\n');
	put(TINT_HEAD, title);
	if (*text)
		printf("%s%*s%s", gap > 0 ? "" : "\n", gap > 0 ? gap : 2, "",
		       text);
	line_end();
}

void paragraph(enum tint tint, const char *text)
{
	char row[COLUMNS];

	while (*text) {
		size_t n = strlen(text);

		if (n > (size_t)columns - 4) {
			n = (size_t)columns - 4;
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
