/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a command prints when its arguments decide that: echo, printf, and
 * those that print nothing.
 */
#include "config.h"

#include <strings.h>

#include "base/digit.h"
#include "base/key.h"
#include "base/utf8.h"
#include "shell/state.h"

static bool is_octal(unsigned char c)
{
	return c >= '0' && c <= '7';
}

/* Up to `most` digits of a number after the escape's letter. */
static uint32_t hex_number(const unsigned char *s, uint32_t len, uint32_t most,
			   uint32_t *used)
{
	uint32_t value = 0, i = 2;

	while (i < len && i < 2 + most && ab_hex_digit((char)s[i]) >= 0)
		value = value * 16 + (uint32_t)ab_hex_digit((char)s[i++]);
	*used = i;
	return value;
}

/* The escape at s[0] == '\\', of which len bytes are there: at most 4 bytes
 * into out. */
uint32_t ab_decode_escape(const unsigned char *s, uint32_t len, char *out,
			  uint32_t *used, bool is_ansi)
{
	static const char from[] = "abefnrtvE\\\"'?";
	static const char to[] = "\a\b\033\f\n\r\t\v\033\\\"'?";
	const char *known;
	uint32_t value = 0, i;

	*used = len < 2 ? len : 2;
	out[0] = '\\';
	if (len < 2)
		return 1;
	known = s[1] ? strchr(from, s[1]) : NULL;
	if (known && (is_ansi || (s[1] != '\'' && s[1] != '?'))) {
		out[0] = to[known - from];
		return 1;
	}
	if (is_octal(s[1])) {
		uint32_t most = !is_ansi && s[1] == '0' ? 5 : 4;

		for (i = 1; i < len && i < most && is_octal(s[i]); i++)
			value = value * 8 + s[i] - '0';
		*used = i;
		out[0] = (char)value;
		return 1;
	}
	switch (s[1]) {
	case 'x':
		value = hex_number(s, len, 2, used);
		if (*used == 2)
			break;
		out[0] = (char)value;
		return 1;
	case 'u':
	case 'U':
		value = hex_number(s, len, s[1] == 'u' ? 4 : 8, used);
		if (*used == 2)
			break;
		return ab_utf8_put(out, value & 0x1fffff);
	case 'c':
		if (!is_ansi || len < 3)
			break;
		*used = 3;
		out[0] = (char)(s[2] & 0x1f);
		return 1;
	default:
		break;
	}
	out[1] = (char)s[1];
	return 2;
}

/* Adds a word with its backslash escapes decoded. False at \c: no more. */
static bool add_decoded(struct ab_shell_run *run, struct segments *list,
			const struct ab_word *w)
{
	uint32_t at = 0, begin = 0;

	if (w->hole_count || !memchr(w->text, '\\', w->len)) {
		ab_segments_add_word(run, list, w, SEGMENT_QUOTED);
		return true;
	}
	while (at < w->len) {
		uint32_t used, len;
		char *out;

		if (w->text[at] != '\\') {
			at++;
			continue;
		}
		if (at > begin)
			ab_segments_add(run, list, w->text + begin, at - begin,
					ab_word_span(w, begin, at - begin),
					SEGMENT_QUOTED);
		if (at + 1 < w->len && w->text[at + 1] == 'c')
			return false;
		out = ab_run_low(run, 8);
		if (!out)
			return false;
		len = ab_decode_escape((const unsigned char *)w->text + at,
				       w->len - at, out, &used, false);
		ab_segments_add(run, list, out, len,
				ab_word_span(w, at, used), SEGMENT_QUOTED);
		at = begin = at + used;
	}
	if (at > begin)
		ab_segments_add(run, list, w->text + begin, at - begin,
				ab_word_span(w, begin, at - begin),
				SEGMENT_QUOTED);
	return true;
}

/* -n, -e, -E and their bundles. */
static bool echo_option(const struct ab_word *w, bool *newline, bool *decode)
{
	if (w->hole_count || w->len < 2 || w->text[0] != '-')
		return false;
	for (uint32_t i = 1; i < w->len; i++)
		if (!strchr("neE", w->text[i]) || !w->text[i])
			return false;
	for (uint32_t i = 1; i < w->len; i++) {
		if (w->text[i] == 'n')
			*newline = false;
		else
			*decode = w->text[i] == 'e';
	}
	return true;
}

/* An escape that the echo of some shells decodes and that of others does not:
 * \162, and \0162 without -e. */
static bool has_octal(const struct ab_word *w, bool decode)
{
	for (size_t i = ab_seek(w->text, w->len, '\\'); i + 1 < w->len;
	     i += 1 + ab_seek(w->text + i + 1, w->len - i - 1, '\\'))
		if (is_octal((unsigned char)w->text[i + 1]) &&
		    !(decode && w->text[i + 1] == '0'))
			return true;
	return false;
}

/* What dash prints otherwise, and may make two commands of one. */
static bool has_escape(const struct ab_word *w)
{
	return ab_seek(w->text, w->len, '\\') < w->len;
}

/* Patterns, and words that may not be there: nobody knows what it prints. */
static bool is_lost(const struct ab_word *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_word *w = &words[i];

		for (uint32_t k = 0; k < w->hole_count; k++)
			if (w->holes[k].kind == AB_HOLE_PATTERN ||
			    w->holes[k].may_vanish)
				return true;
	}
	return false;
}

static bool print_echo(struct ab_shell_run *run, struct segments *list,
		       const struct ab_word *argv, uint32_t argc)
{
	bool newline = true, decode = run->limits.posix;
	uint32_t i = 1;

	if (run->limits.posix) {
		/* dash knows -n alone, and decodes */
		newline = argc < 2 || !ab_word_equals(&argv[1], "-n");
		i += !newline;
	}
	while (!run->limits.posix && i < argc &&
	       echo_option(&argv[i], &newline, &decode))
		i++;
	for (uint32_t k = i; k < argc; k++) {
		if (has_octal(&argv[k], decode))
			return false;
		run->result->differs |= !decode && has_escape(&argv[k]);
	}
	for (uint32_t first = i; i < argc && !run->arena->is_full; i++) {
		if (i > first)
			ab_segments_add(run, list, " ", 1, argv[i].span,
					SEGMENT_QUOTED);
		if (!decode)
			ab_segments_add_word(run, list, &argv[i],
					     SEGMENT_QUOTED);
		else if (!add_decoded(run, list, &argv[i]))
			return true;
	}
	if (newline)
		ab_segments_add(run, list, "\n", 1, argv[0].span,
				SEGMENT_QUOTED);
	return true;
}

/* %d, %o, %x: no sign for those that have none. */
static bool print_number(struct ab_shell_run *run, struct segments *list,
			 const struct ab_word *format, char how,
			 const struct ab_word *argument)
{
	const char *names = how == 'X' ? "0123456789ABCDEF" :
					 "0123456789abcdef";
	char *digits = ab_run_low(run, 24);
	uint32_t shift = how == 'o' ? 3 : 4, at = 24;
	int64_t n = 0;
	uint64_t left;

	if (!digits || (argument && (argument->hole_count ||
				     !ab_arith(run, argument->text,
					       argument->len, &n))))
		return false;
	if (how == 'd' || how == 'i') {
		ab_segments_add(run, list, digits, ab_decimal(digits, n),
				format->span, SEGMENT_QUOTED);
		return true;
	}
	left = (uint64_t)n;
	do {
		digits[--at] = names[left & ((1u << shift) - 1)];
		left >>= shift;
	} while (left);
	ab_segments_add(run, list, digits + at, 24 - at, format->span,
			SEGMENT_QUOTED);
	return true;
}

/* One directive of a format at f[at] == '%': false when it is not followed. */
static bool directive(struct ab_shell_run *run, struct segments *list,
		      const struct ab_word *format, uint32_t *at,
		      const struct ab_word *argument, bool *took)
{
	uint32_t i = *at + 1;

	if (i >= format->len)
		return false;
	*at = i + 1;
	*took = format->text[i] != '%';
	switch (format->text[i]) {
	case '%':
		ab_segments_add(run, list, "%", 1,
				ab_word_span(format, i, 1), SEGMENT_QUOTED);
		return true;
	case 's':
		if (argument)
			ab_segments_add_word(run, list, argument,
					     SEGMENT_QUOTED);
		return true;
	case 'b':
		return !argument ||
		       add_decoded(run, list, argument);
	case 'c':
		if (argument && argument->hole_count)
			return false;
		if (argument && argument->len)
			ab_segments_add(run, list, argument->text, 1,
					ab_word_span(argument, 0, 1),
					SEGMENT_QUOTED);
		return true;
	case 'd':
	case 'i':
	case 'o':
	case 'x':
	case 'X':
		return print_number(run, list, format, format->text[i],
				    argument);
	default:
		return false;
	}
}

/* The format once, with arguments from *next on. */
static bool format_once(struct ab_shell_run *run, struct segments *list,
			const struct ab_word *format,
			const struct ab_word *argv, uint32_t argc,
			uint32_t *next)
{
	uint32_t at = 0;

	while (at < format->len) {
		uint32_t begin = at;
		bool took = false;
		struct ab_word text = *format;

		while (at < format->len && format->text[at] != '%')
			at++;
		if (at > begin) {
			text.text += begin;
			text.len = at - begin;
			text.map_count = 0;
			text.span = ab_word_span(format, begin, at - begin);
			if (!add_decoded(run, list, &text))
				return true;
			continue;
		}
		if (!directive(run, list, format, &at,
			       *next < argc ? &argv[*next] : NULL, &took))
			return false;
		if (took && *next < argc)
			(*next)++;
	}
	return true;
}

static bool print_printf(struct ab_shell_run *run, struct segments *list,
			 const struct ab_word *argv, uint32_t argc)
{
	uint32_t i = 1, before;

	if (i < argc && ab_word_equals(&argv[i], "--"))
		i++;
	if (i >= argc || argv[i].hole_count ||
	    (argv[i].len && argv[i].text[0] == '-'))
		return false;
	argv += i;
	argc -= i;
	i = 1;
	do {
		before = i;
		if (run->arena->is_full ||
		    !format_once(run, list, &argv[0], argv, argc, &i))
			return false;
	} while (i < argc && i > before);
	return true;
}

/* Builtins that print nothing with these arguments. */
static bool is_silent(enum ab_builtin builtin, const struct ab_word *argv,
		      uint32_t argc)
{
	const uint64_t always =
		AB_BUILTIN(COLON) | AB_BUILTIN(TRUE) | AB_BUILTIN(FALSE) |
		AB_BUILTIN(CD) | AB_BUILTIN(UNSET) | AB_BUILTIN(SHIFT) |
		AB_BUILTIN(RETURN) | AB_BUILTIN(BREAK) |
		AB_BUILTIN(CONTINUE) | AB_BUILTIN(EXIT) | AB_BUILTIN(SHOPT) |
		AB_BUILTIN(WAIT) | AB_BUILTIN(TEST) | AB_BUILTIN(BRACKET) |
		AB_BUILTIN(SLEEP);
	const uint64_t with_arguments =
		AB_BUILTIN(EXPORT) | AB_BUILTIN(READONLY) | AB_BUILTIN(LOCAL) |
		AB_BUILTIN(DECLARE) | AB_BUILTIN(TYPESET) | AB_BUILTIN(SET) |
		AB_BUILTIN(TRAP);
	uint64_t bit = UINT64_C(1) << builtin;

	return (bit & always) || ((bit & with_arguments) && argc > 1 &&
				  argv[1].len && argv[1].text[0] != '-');
}

/* which NAME, command -v NAME, type -p NAME: most likely a path to it. */
static bool print_path(struct ab_shell_run *run, struct segments *list,
		       enum ab_builtin builtin, const struct ab_word *argv,
		       uint32_t argc)
{
	struct segment *s;
	const struct ab_word *name = &argv[argc - 1];

	if (!(argc == 2 && builtin == AB_BUILTIN_WHICH) &&
	    !(argc == 3 && builtin == AB_BUILTIN_COMMAND &&
	      ab_word_equals(&argv[1], "-v")) &&
	    !(argc == 3 && builtin == AB_BUILTIN_TYPE &&
	      (ab_word_equals(&argv[1], "-p") ||
	       ab_word_equals(&argv[1], "-P"))))
		return false;
	if (name->hole_count || name->len == 0)
		return false;
	s = ab_segments_hole(run, list, AB_HOLE_LIKELY, name->span, NULL,
			     NULL);
	if (s) {
		s->text = name->text;
		s->len = name->len;
	}
	return true;
}

/* Where the shell is, whatever the text said that $PWD be. */
static const struct value *here(struct ab_shell_run *run)
{
	const struct variable *kept = ab_run_find(run, AB_SHELL_CWD,
						  sizeof(AB_SHELL_CWD) - 1);
	const struct value *pwd = ab_run_value(run, "PWD", 3);
	const struct value *v = kept ? ab_run_value_of(run, kept) : pwd;

	if (v->kind != VALUE_SCALAR || !v->words->len ||
	    (!kept && run->context->cwd &&
	     (v->words->len != run->context->cwd_len ||
	      memcmp(v->words->text, run->context->cwd, v->words->len) != 0)))
		return &ab_run_absent;
	return v;
}

static bool print_pwd(struct ab_shell_run *run, struct segments *list,
		      const struct ab_word *argv, uint32_t argc)
{
	const struct value *v = here(run);

	if (argc != 1 || v->kind != VALUE_SCALAR)
		return false;
	ab_segments_add_word(run, list, v->words, SEGMENT_QUOTED);
	ab_segments_add(run, list, "\n", 1, argv[0].span, SEGMENT_QUOTED);
	return true;
}

/* How much of it is a home, which may stand at its begin; or UINT32_MAX, where
   more of it is not known. */
static uint32_t home_of(const struct ab_word *w)
{
	if (!w->hole_count)
		return 0;
	return w->hole_count == 1 && w->holes->kind == AB_HOLE_HOME &&
			       !w->holes->at
		       ? w->holes->len
		       : UINT32_MAX;
}

/* dirname PATH: all before its last name. */
static bool print_dirname(struct ab_shell_run *run, struct segments *list,
			  const struct ab_word *argv, uint32_t argc)
{
	const struct ab_word *w = &argv[argc - 1];
	const uint32_t home = home_of(w);
	struct ab_word part = *w;
	uint32_t len = w->len;

	if (argc != 2 || !len || home > len || w->text[0] == '-')
		return false;
	while (len > home && w->text[len - 1] == '/')
		len--;
	if (home && len == home) /* what is around it */
		return false;
	while (len > home && w->text[len - 1] != '/')
		len--;
	while (len > home && len > 1 && w->text[len - 1] == '/')
		len--;
	part.len = len;
	if (len)
		ab_segments_add_word(run, list, &part, SEGMENT_QUOTED);
	else
		ab_segments_add(run, list, w->text[0] == '/' ? "/" : ".", 1,
				w->span, SEGMENT_QUOTED);
	ab_segments_add(run, list, "\n", 1, argv[0].span, SEGMENT_QUOTED);
	return true;
}

/* Of the names in w behind those in out[0..len): without `.` and `..`. */
static uint32_t resolve(char *out, uint32_t len, const struct ab_word *w)
{
	for (uint32_t at = 0, end; at < w->len; at = end + 1) {
		const char *slash = memchr(w->text + at, '/', w->len - at);
		uint32_t n;

		end = slash ? (uint32_t)(slash - w->text) : w->len;
		n = end - at;
		if (!n || (n == 1 && w->text[at] == '.'))
			continue;
		if (n == 2 && !memcmp(w->text + at, "..", 2)) {
			while (len && out[--len] != '/')
				;
			continue;
		}
		out[len++] = '/';
		memcpy(out + len, w->text + at, n);
		len += n;
	}
	return len;
}

/* /, /usr, /home/u and what the directory at hand lies in: no link that the
   text made stands there. Of what is below nobody knows where it leads. */
static bool is_near_root(const char *s, uint32_t len, const struct ab_word *cwd)
{
	static const char *const tops[] = { "/home/", "/usr/", "/etc/",
					    "/Users/" };
	uint32_t count = 0;

	for (uint32_t i = 0; i < len; i++)
		count += s[i] == '/';
	if (count <= 1)
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(tops) && count == 2; i++) {
		size_t n = strlen(tops[i]);

		if (len > n && !memcmp(s, tops[i], n))
			return true;
	}
	return cwd && cwd->len >= len && !memcmp(s, cwd->text, len) &&
	       (cwd->len == len || cwd->text[len] == '/');
}

/* realpath PATH, readlink -f PATH. */
static bool print_realpath(struct ab_shell_run *run, struct segments *list,
			   const struct ab_word *argv, uint32_t argc)
{
	const struct value *pwd = here(run);
	const struct ab_word *w = &argv[argc - 1];
	const struct ab_word *cwd = pwd->kind == VALUE_SCALAR ? pwd->words
							      : NULL;
	bool is_link = ab_word_equals(argv, "readlink");
	uint32_t len = 0;
	char *out;

	if ((argc != 3 && (is_link || argc != 2)) || !w->len ||
	    *w->text == '-' ||
	    (argc == 3 && (argv[1].len != 2 || argv[1].text[0] != '-' ||
			   !memchr("fems", argv[1].text[1], 4))))
		return false;
	if (w->hole_count == 1 && w->holes->kind == AB_HOLE_HOME &&
	    w->holes->len == w->len) {
		ab_segments_add_word(run, list, w, SEGMENT_QUOTED);
		ab_segments_add(run, list, "\n", 1, w->span, SEGMENT_QUOTED);
		return true;
	}
	if (cwd && (cwd->hole_count || !cwd->len || *cwd->text != '/'))
		cwd = NULL;
	if (w->hole_count || (*w->text != '/' && !cwd))
		return false;
	out = ab_run_low(run, w->len + (cwd ? cwd->len : 0) + 3);
	if (!out)
		return false;
	if (*w->text != '/')
		len = resolve(out, 0, cwd);
	len = resolve(out, len, w);
	if (!is_near_root(out, len, cwd))
		return false;
	if (!len)
		out[len++] = '/';
	out[len++] = '\n';
	ab_segments_add(run, list, out, len, w->span, SEGMENT_QUOTED);
	return true;
}

/* basename PATH: its last name. */
static bool print_basename(struct ab_shell_run *run, struct segments *list,
			   const struct ab_word *argv, uint32_t argc)
{
	const struct ab_word *w = &argv[1], *suffix = &argv[2];
	uint32_t len, begin;

	if (argc < 2 || argc > 3 || home_of(w) > w->len || !w->len ||
	    *w->text == '-' || (argc == 3 && suffix->hole_count))
		return false;
	for (len = w->len; len > 1 && w->text[len - 1] == '/';)
		len--;
	for (begin = len; begin && w->text[begin - 1] != '/';)
		begin--;
	if (begin < home_of(w)) /* the user's name */
		return false;
	begin -= begin == len; /* the root */
	if (argc == 3 && suffix->len < len - begin &&
	    !memcmp(w->text + len - suffix->len, suffix->text, suffix->len))
		len -= suffix->len;
	ab_segments_add(run, list, w->text + begin, len - begin,
			ab_word_span(w, begin, len - begin), SEGMENT_QUOTED);
	ab_segments_add(run, list, "\n", 1, argv[0].span, SEGMENT_QUOTED);
	return true;
}

static bool is_number(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++)
		if (w->text[i] < '0' || w->text[i] > '9')
			return false;
	return w->len;
}

#define MAX_NUMBERS 64 /* that seq prints and are known */

/* seq [FROM [STEP]] TO of plain numbers. */
static bool print_seq(struct ab_shell_run *run, struct segments *list,
		      const struct ab_word *argv, uint32_t argc)
{
	int64_t n[3] = { 1, 1, 1 };
	uint32_t count = 0;

	if (argc < 2 || argc > 4)
		return false;
	for (uint32_t i = 1; i < argc; i++) {
		const struct ab_word *w = &argv[i];
		/* of two, the second is the last */
		uint32_t to = i + 1 == argc ? 2 : i - 1;

		if (w->hole_count || !w->len || w->len > 9 ||
		    (*w->text == '0' && w->len > 1) ||
		    !is_number(w))
			return false;
		n[to] = 0;
		for (uint32_t k = 0; k < w->len; k++)
			n[to] = n[to] * 10 + w->text[k] - '0';
	}
	if (!n[1] || n[2] < n[0] || (n[2] - n[0]) / n[1] >= MAX_NUMBERS)
		return false;
	for (int64_t i = n[0]; i <= n[2] && count < MAX_NUMBERS; i += n[1]) {
		char *digits = ab_run_low(run, 24);
		uint32_t len = digits ? ab_decimal(digits, i) : 0;

		if (!digits)
			return false;
		digits[len] = '\n';
		ab_segments_add(run, list, digits, len + 1, argv[0].span,
				SEGMENT_QUOTED);
		count++;
	}
	return true;
}

/*
 * ls -d NAME: the name, or nothing where it is not there, which nobody knows:
 * an unknown beginning, of a path from the root an unknown end, says that it
 * may be something else. Of several, one that is left out moves the others,
 * and ls has an order of its own.
 */
static bool print_ls(struct ab_shell_run *run, struct segments *list,
		     const struct ab_word *argv, uint32_t argc)
{
	const struct ab_word *w = &argv[argc - 1];
	bool is_relative;

	if (argc != 3 || (!ab_word_equals(&argv[1], "-d") &&
			  !ab_word_equals(&argv[1], "-1d") &&
			  !ab_word_equals(&argv[1], "-d1")))
		return false;
	if (ab_value_is_loose(w, 1) || !w->len || *w->text == '-')
		return false;
	is_relative = !w->hole_count && *w->text != '/';
	if (is_relative)
		ab_segments_hole(run, list, AB_HOLE_BYTES, w->span, NULL,
				 NULL);
	ab_segments_add_word(run, list, w, SEGMENT_QUOTED);
	if (!is_relative)
		ab_segments_hole(run, list, AB_HOLE_BYTES, w->span, NULL,
				 NULL);
	ab_segments_add(run, list, "\n", 1, w->span, SEGMENT_QUOTED);
	return true;
}

/* git config --get core.hooksPath: what lies there is run as .git/hooks is. */
static bool print_hooks(struct ab_shell_run *run, struct segments *list,
			const struct ab_word *argv, uint32_t argc, uint32_t i)
{
	static const char key[] = "core.hookspath", dir[] = "/.git/hooks\n";
	const struct ab_word *last = &argv[argc - 1];

	if (last->hole_count || last->len != sizeof(key) - 1 ||
	    strncasecmp(last->text, key, last->len) != 0)
		return false;
	for (i++; i + 1 < argc; i++) {
		const struct ab_word *w = &argv[i];

		if (w->hole_count ||
		    (*w->text != '-' && !ab_word_equals(w, "get")))
			return false;
		/* --default=x, --file=x: any text */
		if (memchr(w->text, '=', w->len) &&
		    (w->len < 7 || memcmp(w->text, "--type=", 7) != 0))
			return false;
	}
	ab_segments_hole(run, list, AB_HOLE_BYTES, argv[0].span, NULL, NULL);
	ab_segments_add(run, list, dir, sizeof(dir) - 1, argv[0].span,
			SEGMENT_QUOTED);
	return true;
}

/* git rev-parse --git-dir and its kind: a .git somewhere, or below it. */
static bool print_git_dir(struct ab_shell_run *run, struct segments *list,
			  const struct ab_word *argv, uint32_t argc)
{
	static const char *const dirs[] = { "--git-dir", "--absolute-git-dir",
					    "--git-common-dir" };
	static const char format[] = "--path-format=";
	const struct ab_word *below = NULL;
	uint32_t i = argc > 2 && ab_word_equals(&argv[1], "-C") ? 3 : 1;
	bool is_dir = false;

	if (i < argc && ab_word_equals(&argv[i], "config"))
		return print_hooks(run, list, argv, argc, i);
	if (i >= argc || !ab_word_equals(&argv[i++], "rev-parse"))
		return false;
	while (i < argc && argv[i].len >= sizeof(format) - 1 &&
	       !memcmp(argv[i].text, format, sizeof(format) - 1))
		i++;
	if (i + 2 == argc && ab_word_equals(&argv[i], "--git-path"))
		below = &argv[i + 1];
	for (size_t k = 0; k < AB_ARRAY_LEN(dirs) && i + 1 == argc; k++)
		is_dir |= ab_word_equals(&argv[i], dirs[k]);
	if ((!is_dir && !below) || (below && ab_value_is_loose(below, 1)))
		return false;
	ab_segments_hole(run, list, AB_HOLE_BYTES, argv[0].span, NULL, NULL);
	ab_segments_add(run, list, "/.git", 5, argv[0].span, SEGMENT_QUOTED);
	if (below) {
		ab_segments_add(run, list, "/", 1, below->span,
				SEGMENT_QUOTED);
		ab_segments_add_word(run, list, below, SEGMENT_QUOTED);
	}
	ab_segments_add(run, list, "\n", 1, argv[0].span, SEGMENT_QUOTED);
	return true;
}

/* `command echo x`, `env -- echo x`: how many words stand before the name. */
static uint32_t words_before(const struct ab_word *argv, uint32_t argc)
{
	static const char *const names[] = { "command", "builtin", "env",
					     "nohup", "exec" };
	char first = argv->len ? *argv->text : '\0';
	uint32_t i = 0;

	/* each of the names begins with one of these */
	if (first != 'c' && first != 'b' && first != 'e' && first != 'n')
		return 0;
	for (bool any = true; any && i + 1 < argc;) {
		any = i && (ab_word_equals(&argv[i], "--") ||
			    (argv[i].len && *argv[i].text != '=' &&
			     memchr(argv[i].text, '=', argv[i].len)));
		for (size_t k = 0; k < AB_ARRAY_LEN(names) && !any; k++)
			any = ab_word_equals(&argv[i], names[k]);
		i += any;
	}
	return i;
}

/* /usr/bin/printf prints what printf does. */
static enum ab_builtin builtin_at(const struct ab_word *w)
{
	enum ab_builtin builtin = ab_shell_builtin(w);
	const char *slash;

	/* no name has a slash in it */
	if (builtin != AB_BUILTIN_NONE || w->hole_count || w->len < 5)
		return builtin;
	slash = memrchr(w->text, '/', w->len);
	if (!slash || slash - w->text < 3 || memcmp(slash - 3, "bin", 3) != 0)
		return AB_BUILTIN_NONE;
	slash++;
	return ab_shell_builtin_of(slash,
				   w->len - (size_t)(slash - w->text));
}

/* Whatever its words are: [ $x ]. */
static bool is_mute(enum ab_builtin builtin)
{
	const uint64_t mute = AB_BUILTIN(TEST) | AB_BUILTIN(BRACKET) |
			      AB_BUILTIN(COLON) | AB_BUILTIN(TRUE) |
			      AB_BUILTIN(FALSE);

	return UINT64_C(1) << builtin & mute;
}

/* What it prints is put together in *list. */
static bool print(struct ab_shell_run *run, struct segments *list,
		  const struct ab_word *argv, uint32_t argc)
{
	uint32_t before = words_before(argv, argc);
	enum ab_builtin builtin;

	/* command -v NAME is one of those that are known */
	if (before && before < argc && argv[before].len &&
	    *argv[before].text != '-') {
		argv += before;
		argc -= before;
	}
	builtin = builtin_at(argv);
	if (builtin == AB_BUILTIN_NONE && ab_word_equals(argv, "dirname"))
		return print_dirname(run, list, argv, argc);
	if (builtin == AB_BUILTIN_NONE && ab_word_equals(argv, "git"))
		return print_git_dir(run, list, argv, argc);
	if (builtin == AB_BUILTIN_NONE && ab_word_equals(argv, "basename"))
		return print_basename(run, list, argv, argc);
	if (builtin == AB_BUILTIN_NONE && (ab_word_equals(argv, "realpath") ||
					   ab_word_equals(argv, "readlink")))
		return print_realpath(run, list, argv, argc);
	if (builtin == AB_BUILTIN_NONE && ab_word_equals(argv, "seq"))
		return print_seq(run, list, argv, argc);
	if (builtin == AB_BUILTIN_NONE)
		return ab_word_equals(argv, "ls") &&
		       print_ls(run, list, argv, argc);
	if (builtin == AB_BUILTIN_BUILTIN && argc > 1)
		return false;
	if (builtin == AB_BUILTIN_ECHO)
		return !is_lost(argv + 1, argc - 1) &&
		       print_echo(run, list, argv, argc);
	if (is_mute(builtin))
		return true;
	if (ab_value_is_loose(argv + 1, argc - 1))
		return false;
	if (builtin == AB_BUILTIN_PRINTF)
		return print_printf(run, list, argv, argc);
	if (builtin == AB_BUILTIN_PWD)
		return print_pwd(run, list, argv, argc);
	return is_silent(builtin, argv, argc) ||
	       print_path(run, list, builtin, argv, argc);
}

bool ab_output_of(struct ab_shell_run *run, const struct ab_word *argv,
		  uint32_t argc, struct ab_word *out)
{
	struct segments list = { NULL, &list.first };
	struct fields fields = { 0 };

	if (argc == 0 || !print(run, &list, argv, argc) ||
	    run->arena->is_full)
		return false;
	ab_expand_fields(run, list.first, EXPAND_ONE, &fields);
	if (!fields.count)
		return false;
	*out = fields.words[0];
	if (!out->len && !out->hole_count)
		out->span = argv->span;
	return true;
}
