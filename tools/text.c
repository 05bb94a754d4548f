/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text for people: wrapping, colour, the progress line. It prints nothing a
 * terminal would obey that the tool did not choose itself. Behaviour:
 * agentbox(1), text.h.
 */
#include "config.h"

#include "text.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define NARROWEST 20
#define NARROW 60
#define WIDEST 100
#define PROGRESS_AFTER_S 1
/* No path that one reads is longer; the document of --json has it whole. */
#define LONG_WORD 400

/* How standard error (or the stream of help) is shown. */
static struct {
	bool terminal, color;
	int width;
} screen;

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool running, done, shown;
	const char *what;
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER };

void text_begin(FILE *f)
{
	int fd = fileno(f);
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");
	struct winsize size = { 0 };

	screen.terminal = isatty(fd);
	screen.color = screen.terminal && !(no_color && *no_color) && term &&
		       strcmp(term, "dumb") != 0;
	/* Errors are one line where they are no screen; help is a page. */
	screen.width = f == stdout ? 80 : 0;
	if (!screen.terminal)
		return;
	screen.width = 80;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		screen.width = size.ws_col;
	if (screen.width > WIDEST)
		screen.width = WIDEST;
	if (screen.width < NARROWEST)
		screen.width = NARROWEST;
}

int text_width(void)
{
	return screen.width;
}

static const char *color_code(enum text_color color)
{
	switch (color) {
	case TEXT_PLAIN:
		return "";
	case TEXT_BOLD:
		return "\033[1m";
	case TEXT_GOOD:
		return "\033[32m";
	case TEXT_WARN:
		return "\033[33m";
	case TEXT_BAD:
		return "\033[1;31m";
	}
	return "";
}

static void put_colored(FILE *f, enum text_color color, const char *s)
{
	if (!screen.color || color == TEXT_PLAIN) {
		fputs(s, f);
		return;
	}
	fprintf(f, "%s%s\033[0m", color_code(color), s);
}

/* U+2028-E, U+200B-F, U+2060-F: order, width and lines of what is around. */
static bool is_format(const unsigned char *s)
{
	return (s[1] == 0x80 && s[2] >= 0x8b && s[2] <= 0x8f) ||
	       (s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
	       (s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf);
}

/* The bytes of the character at `s`, 0 when it is none (RFC 3629). */
static int character(const unsigned char *s)
{
	int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2
		: *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* longer than need be, surrogates, past U+10FFFF */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/*
 * The bytes at `s` that change what is shown around them, 0 for none: C0, DEL
 * and, in UTF-8, C1, which a terminal obeys; what turns the direction of text
 * or has no width (Unicode Annex 9, section 2), so that one name shows as
 * another: the above, U+061C, U+FEFF and the tags U+E0000-7F.
 */
static int hidden(const unsigned char *s)
{
	if (*s < 0x20 || *s == 0x7f)
		return 1;
	if ((*s == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f) ||
	    (*s == 0xd8 && s[1] == 0x9c))
		return 2;
	if ((*s == 0xe2 && is_format(s)) ||
	    (*s == 0xef && s[1] == 0xbb && s[2] == 0xbf))
		return 3;
	return *s == 0xf3 && s[1] == 0xa0 && (s[2] == 0x80 || s[2] == 0x81) &&
	       s[3] ? 4 : 0;
}

static char *cleaned(const char *s, bool one_line)
{
	size_t n = strlen(s);
	char *out = malloc(4 * n + 1);
	char *to = out;

	if (!out)
		return NULL;
	for (const unsigned char *p = (const unsigned char *)s; *p;) {
		int whole = character(p);
		int escape = *p == '\n' ? one_line : whole ? hidden(p) : 1;

		/* what is no character is a control to some terminals (C1) */
		for (; !escape && whole > 0; whole--)
			*to++ = (char)*p++;
		for (; escape > 0; escape--)
			to += sprintf(to, "\\x%02x", *p++);
	}
	*to = '\0';
	return out;
}

char *text_clean(const char *s)
{
	return cleaned(s, false);
}

char *text_clean_line(const char *s)
{
	return cleaned(s, true);
}

json_t *text_json(const char *s)
{
	json_t *v = json_string(s);
	char *clean = v ? NULL : text_clean_line(s);

	if (clean)
		v = json_string(clean);
	free(clean);
	return v;
}

/* Columns of n bytes, one for each character. */
static int columns(const char *s, size_t n)
{
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)s[i] & 0xc0) != 0x80;
	return count;
}

/* Words of `s` from column `at` on, wrapped with `indent`. */
static void put_wrapped(FILE *f, int at, int indent, const char *s)
{
	bool start = true;

	while (*s) {
		size_t space = strspn(s, " ");
		size_t word = strcspn(s + space, " \n");
		int need = columns(s + space, word);
		if (screen.width && !start && word &&
		    at + (int)space + need > screen.width) {
			fprintf(f, "\n%*s", indent, "");
			at = indent;
			space = 0;
			s += strspn(s, " ");
		} else {
			fprintf(f, "%*s", (int)space, "");
			s += space;
		}
		fwrite(s, 1, word, f);
		at += (int)space + need;
		s += word;
		start = false;
		if (*s == '\n') {
			fputc('\n', f);
			s++;
			if (*s)
				fprintf(f, "%*s", indent, "");
			at = indent;
			start = true;
		}
	}
	fputc('\n', f);
}

void text_item(FILE *f, int indent, enum text_color color, const char *label,
	       const char *body)
{
	char *clean_label = text_clean(label), *clean = text_clean(body);
	int at = clean_label ? columns(clean_label, strlen(clean_label)) : 0;

	if (!clean_label || !clean)
		goto out;
	if (screen.width && indent > screen.width / 2)
		indent = 4;
	put_colored(f, color, clean_label);
	if (at >= indent && at && *clean) {
		fprintf(f, "\n%*s", indent, "");
	} else if (*clean) {
		fprintf(f, "%*s", indent - at, "");
	}
	put_wrapped(f, indent, indent, clean);
out:
	free(clean_label);
	free(clean);
}

char *text_vformat(const char *format, va_list ap)
{
	char *s = NULL;

	return vasprintf(&s, format, ap) < 0 ? NULL : s;
}

char *text_format(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	char *s = text_vformat(format, ap);
	va_end(ap);
	return s;
}

void text_line(FILE *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	char *s = text_vformat(format, ap);
	va_end(ap);
	if (!s)
		return;
	size_t lead = strspn(s, " ");
	fprintf(f, "%*s", (int)lead, "");
	char *clean = text_clean(s + lead);
	if (clean)
		put_wrapped(f, (int)lead, (int)lead, clean);
	free(clean);
	free(s);
}

static void put_prefixed(enum text_color color, const char *kind,
			 const char *message)
{
	char *clean = text_clean(message);

	if (!clean)
		return;
	put_colored(stderr, color, "agentbox:");
	fprintf(stderr, " %s", kind);
	put_wrapped(stderr, 10 + (int)strlen(kind),
		    screen.width < NARROW ? 2 : 10, clean);
	free(clean);
}

/*
 * A word that fills the screen hides what is said of it: its beginning and its
 * end. In place; never within a character, which cleaning would escape.
 */
static void shorten_words(char *s)
{
	while (*s) {
		size_t n = strcspn(s, " \n");
		size_t head = LONG_WORD / 2, tail = n - LONG_WORD / 4;

		if (n > LONG_WORD) {
			while (head && ((unsigned char)s[head] & 0xc0) == 0x80)
				head--;
			while (tail < n &&
			       ((unsigned char)s[tail] & 0xc0) == 0x80)
				tail++;
			memcpy(s + head, "...", 3);
			memmove(s + head + 3, s + tail, strlen(s + tail) + 1);
			n = head + 3 + n - tail;
		}
		s += n + (s[n] != '\0');
	}
}

void text_error(const char *message)
{
	char *s = strdup(message);

	if (s)
		shorten_words(s);
	put_prefixed(TEXT_BAD, "", s ? s : message);
	free(s);
}

static void put_va(enum text_color color, const char *kind, const char *format,
		   va_list ap)
{
	char *s = text_vformat(format, ap);

	if (s)
		put_prefixed(color, kind, s);
	free(s);
}

void text_note(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_va(TEXT_BOLD, "", format, ap);
	va_end(ap);
}

void text_warning(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_va(TEXT_WARN, "warning: ", format, ap);
	va_end(ap);
}

const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

bool is_true(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

static bool is_scalar(const json_t *v)
{
	return !json_is_object(v) && !json_is_array(v);
}

/* "text", "12", "yes", "no", "-"; into `buf` when it is no string. */
static const char *scalar(const json_t *v, char *buf, size_t size)
{
	if (json_is_string(v))
		return json_string_value(v);
	if (json_is_integer(v)) {
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT,
			 json_integer_value(v));
		return buf;
	}
	return json_is_true(v) ? "yes" : json_is_false(v) ? "no" : "-";
}

/* `out` (taken) and one item more, "key value" or a value; NULL: no scalar. */
static char *with_item(char *out, const char *key, const json_t *v)
{
	char buf[32], *grown = NULL;

	if (out && is_scalar(v))
		grown = text_format("%s%s%s%s%s", out, *out ? ", " : "", key,
				    *key ? " " : "",
				    scalar(v, buf, sizeof(buf)));
	free(out);
	return grown;
}

/* An array of scalars on one line; owned. */
static char *joined(const json_t *list)
{
	char *out = strdup("");
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v)
		out = with_item(out, "", v);
	return out;
}

/* A flat object on one line, "key value, key value"; owned. NULL: not flat. */
static char *flat(const json_t *object)
{
	char *out = strdup("");
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)object, key, v)
		out = with_item(out, key, v);
	return out;
}

static void outline_entry(FILE *f, int indent, const char *key,
			  const json_t *v)
{
	char buf[32];
	char *label = NULL;
	char *line = json_is_array(v) ? joined(v)
		     : json_is_object(v) ? flat(v) : NULL;
	const char *body = is_scalar(v) ? scalar(v, buf, sizeof(buf)) : line;

	if (asprintf(&label, "%*s%s", indent, "", key) < 0)
		goto out;
	if (body) {
		text_item(f, indent + 16, TEXT_PLAIN, label, body);
	} else {
		text_item(f, indent, TEXT_BOLD, label, "");
		text_outline(f, indent + 2, v);
	}
out:
	free(label);
	free(line);
}

void text_outline(FILE *f, int indent, const json_t *value)
{
	const char *key;
	json_t *v;
	size_t i;

	json_object_foreach((json_t *)value, key, v)
		outline_entry(f, indent, key, v);
	json_array_foreach(value, i, v)
		outline_entry(f, indent, "-", v);
}

static void *progress_main(void *unused)
{
	struct timespec until;

	(void)unused;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PROGRESS_AFTER_S;
	pthread_mutex_lock(&progress.lock);
	while (!progress.done)
		if (pthread_cond_timedwait(&progress.wake, &progress.lock,
					   &until) == ETIMEDOUT)
			break;
	if (!progress.done) {
		progress.shown = true;
		fprintf(stderr, "agentbox: %s...%s", progress.what,
			screen.terminal ? "" : "\n");
		fflush(stderr);
	}
	pthread_mutex_unlock(&progress.lock);
	return NULL;
}

void text_progress_begin(const char *what)
{
	sigset_t all, old;

	progress.what = what;
	progress.done = progress.shown = false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_cond_init(&progress.wake, NULL);
	progress.running = pthread_create(&progress.thread, NULL,
					  progress_main, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void text_progress_end(void)
{
	if (!progress.running)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.done = true;
	pthread_cond_signal(&progress.wake);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	pthread_cond_destroy(&progress.wake);
	progress.running = false;
	if (progress.shown && screen.terminal) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
}
