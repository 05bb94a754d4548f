/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names folded and undecorated, see fold.h. Characters first: what NFKC and
 * case folding make ASCII becomes ASCII, what has no width goes (UAX 15 and
 * UAX 44, Default_Ignorable_Code_Point; HFS+ ignores some of them, so that
 * git's own CVE-2014-9390 list is among them). Accents stay, since no rule
 * has one, but not on a dot-name: there they can only be a disguise.
 */
#include "config.h"

#include "base/digit.h"
#include "snapshot/fold.h"

#include <errno.h>
#include <string.h>

#include "base/attr.h"
#include "base/fold.h"
#include "base/utf8.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void put(ab_form *form, const char *p, size_t n)
{
	if (n > sizeof(form->text) - 1 - form->len)
		n = sizeof(form->text) - 1 - form->len; /* cannot be */
	memcpy(form->text + form->len, p, n);
	form->len += n;
}

static void fold_one(ab_form *form, uint32_t c, const char *p, size_t n,
		     bool strip_marks)
{
	const char *text;
	char ascii;

	if (ab_fold_is_invisible(c) || (strip_marks && ab_fold_is_mark(c)))
		return;
	ascii = ab_fold_char(c);
	if (!ascii && strip_marks)
		ascii = ab_fold_base(c);
	text = ascii ? NULL : ab_fold_string(c);
	if (ascii)
		put(form, &ascii, 1);
	else if (text)
		put(form, text, strlen(text));
	else
		put(form, p, n);
}

/* ASCII text at the beginning of p, copied as lower case: its length. */
static size_t fold_ascii(ab_form *form, const char *p, size_t n)
{
	size_t i = 0;

	if (n > sizeof(form->text) - 1 - form->len)
		n = sizeof(form->text) - 1 - form->len; /* cannot be */
	for (; i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '\\'; i++)
		form->text[form->len + i] = lower(p[i]);
	form->len += i;
	return i;
}

static int fold(ab_form *form, const char *name, size_t n, bool strip_marks)
{
	form->len = 0;
	form->is_plain = true;
	for (size_t i = 0; i < n;) {
		uint32_t c;
		size_t len;

		i += fold_ascii(form, name + i, n - i);
		if (i == n)
			break;
		len = ab_utf8_decode(name + i, n - i, &c);
		/* C1 controls reach a terminal as the escape does */
		if (len == 0 || c < 0xa0)
			return -EILSEQ;
		form->is_plain = false;
		fold_one(form, c, name + i, len, strip_marks);
		i += len;
	}
	return 0;
}

int ab_form_begin(ab_form *form, const char *name, size_t n)
{
	size_t i = 0;
	int r;

	if (n > AB_MAX_NAME)
		return -ENAMETOOLONG;
	r = fold(form, name, n, false);
	if (r < 0 || form->is_plain)
		return r;
	while (i < form->len && form->text[i] == ' ')
		i++;
	return i < form->len && form->text[i] == '.'
		       ? fold(form, name, n, true)
		       : 0;
}

static void cut(ab_form *form, size_t at, size_t n)
{
	memmove(form->text + at, form->text + at + n, form->len - at - n);
	form->len -= n;
	form->is_plain = false;
}

static bool begins(const ab_form *form, const char *s)
{
	size_t n = strlen(s);

	return form->len > n && memcmp(form->text, s, n) == 0;
}

/* Spaces around, dots behind; of dots in front one stays. */
static bool trim(ab_form *form)
{
	size_t front = 0;
	bool has_dot = false;
	size_t before = form->len;

	if (before > 1 && !strchr(" .", form->text[before - 1]) &&
	    form->text[0] != ' ' &&
	    (form->text[0] != '.' || !strchr(" .", form->text[1])))
		return false;
	while (form->len > 0 && (form->text[form->len - 1] == ' ' ||
				 form->text[form->len - 1] == '.'))
		form->len--;
	while (front < form->len &&
	       (form->text[front] == ' ' || form->text[front] == '.'))
		has_dot |= form->text[front++] == '.';
	if (front > has_dot)
		cut(form, 0, front - has_dot);
	if (front > 0 && has_dot)
		form->text[0] = '.';
	if (form->len == before)
		return false;
	form->is_plain = false;
	return true;
}

/* %20 and all other printable ones. */
static bool decode(ab_form *form)
{
	size_t to = 0;
	size_t from = 0;

	if (!memchr(form->text, '%', form->len))
		return false;
	while (from < form->len) {
		char c = form->text[from];
		int high = -1;
		int low = -1;

		if (c == '%' && from + 2 < form->len) {
			high = ab_hex_digit(form->text[from + 1]);
			low = ab_hex_digit(form->text[from + 2]);
		}
		if (high >= 2 && low >= 0 && high * 16 + low < 127) {
			c = lower((char)(high * 16 + low));
			from += 2;
		}
		form->text[to++] = c;
		from++;
	}
	if (to == form->len)
		return false;
	form->len = to;
	form->is_plain = false;
	return true;
}

static bool strip_front(ab_form *form)
{
	static const char *const fronts[] = {
		".#", "._", "~$", "copy of ", "backup of ", "kopie von ",
		"copie de ", "copia de "};
	const char *colon = memchr(form->text, ':', form->len);

	if (form->len > 2 && form->text[0] == '#' &&
	    form->text[form->len - 1] == '#') {
		form->len--;
		cut(form, 0, 1);
		return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(fronts); i++) {
		if (form->text[0] == fronts[i][0] && begins(form, fronts[i])) {
			cut(form, 0, strlen(fronts[i]));
			return true;
		}
	}
	if (!colon || colon == form->text)
		return false;
	/* a stream of NTFS: .git::$INDEX_ALLOCATION is .git */
	form->len = (size_t)(colon - form->text);
	form->is_plain = false;
	return true;
}

/* " (copy 2)", "(another copy)", " (3rd copy)", " (Kopie)": its length. */
static size_t bracketed_copy(const ab_form *form, size_t end)
{
	static const char *const words[] = {"copy", "copia", "copie", "kopi"};
	const char *p = form->text + end;
	size_t n = 1;

	while (n < end && n < 24 && p[-(ptrdiff_t)n] != '(')
		n++;
	if (n >= end || p[-(ptrdiff_t)n] != '(')
		return 0;
	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		if (memmem(p - n, n, words[i], strlen(words[i])))
			return n + 1 < end && p[-(ptrdiff_t)n - 1] == ' '
				       ? n + 1
				       : n;
	}
	return 0;
}

/* " (1)", " (copy)", " 2" that end at `end`: their length. */
static size_t copy_mark(const ab_form *form, size_t end)
{
	static const struct {
		size_t n;
		const char *text;
	} marks[] = {
#define MARK(s) {sizeof(s) - 1, s}
		MARK(" (copy)"), MARK(" - copy"), MARK(" copy"), MARK("-copy"),
		MARK("_copy"),	 MARK(".copy"),	  MARK(" - kopie"),
		MARK(" - copie"), MARK(" - copia"), MARK(" backup"),
		MARK("-backup"), MARK("_backup"), MARK(".backup"),
		MARK("-bak"),	 MARK("_bak"),	  MARK(".bak"),	 MARK("-old"),
		MARK("_old"),	 MARK(".old"),	  MARK("-orig"), MARK("_orig"),
		MARK(".orig")
#undef MARK
	};
	size_t at = end;

	if (end < 2 || !strchr("aeypkdg)0123456789", form->text[end - 1]))
		return 0;
	if (form->text[end - 1] == ')') {
		size_t n = bracketed_copy(form, end);

		if (n > 0)
			return n;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(marks); i++)
		if (end > marks[i].n &&
		    form->text[end - marks[i].n] == marks[i].text[0] &&
		    memcmp(form->text + end - marks[i].n, marks[i].text,
			   marks[i].n) == 0)
			return marks[i].n;
	if (at > 1 && form->text[at - 1] == ')')
		at--;
	while (at > 1 && is_digit(form->text[at - 1]) && end - at < 5)
		at--;
	if (at == end)
		return 0;
	if (form->text[end - 1] == ')') {
		if (form->text[at - 1] != '(' || end - at < 2 || at < 2)
			return 0;
		at--;
		at -= at > 1 && form->text[at - 1] == ' ';
		return end - at;
	}
	return form->text[at - 1] == ' ' && at > 1 ? end - at + 1 : 0;
}

/* Before the last suffix or at the end. */
static bool strip_copy_mark(ab_form *form)
{
	const char *dot = memrchr(form->text, '.', form->len);
	size_t end = dot && dot > form->text ? (size_t)(dot - form->text)
					     : form->len;
	size_t n = copy_mark(form, form->len);

	if (n > 0) {
		form->len -= n;
		form->is_plain = false;
		return true;
	}
	n = end < form->len ? copy_mark(form, end) : 0;
	if (n > 0)
		cut(form, end - n, n);
	return n > 0;
}

/* What SQLite keeps beside a database: pages of it. */
static bool strip_companion(ab_form *form)
{
	static const char *const ends[] = {"-journal", "-shm", "-wal"};

	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		size_t n = strlen(ends[i]);

		if (form->len > n &&
		    memcmp(form->text + form->len - n, ends[i], n) == 0) {
			form->len -= n;
			form->is_plain = false;
			return true;
		}
	}
	return false;
}

static bool strip_suffix(ab_form *form)
{
	static const char *const ends[] = {
		"b64",	   "back",	"backup",   "bak",	"bak1",
		"bak2",	   "base64",	"bck",	    "bk",	"bkp",
		"bz2",	   "copy",	"crdownload", "dev",	"development",
		"disabled", "dpkg-dist", "dpkg-new", "dpkg-old", "dpkg-tmp",
		"gz",	   "kate-swp",	"live",	    "local",	"lock",
		"lz4",	   "lzma",	"mine",	    "new",	"off",
		"old",	   "orig",	"pacnew",   "pacsave",	"part",
		"partial", "preprod",	"prev",	    "prod",	"production",
		"qa",	   "rej",	"rpmnew",   "rpmorig",	"rpmsave",
		"sav",	   "save",	"stage",    "staging",	"swn",
		"swo",	   "swp",	"temp",	    "tmp",	"uat",
		"ucf-dist", "ucf-new",	"ucf-old",  "work",	"xz",
		"z",	   "zst"};
	const char *dot = memrchr(form->text, '.', form->len);
	size_t n = form->len;

	if (n > 1 && (form->text[n - 1] == '~' ||
		      (n > 2 && memcmp(form->text + n - 2, ",v", 2) == 0))) {
		form->len = form->text[n - 1] == '~' ? n - 1 : n - 2;
		form->is_plain = false;
		return true;
	}
	if (!dot || dot == form->text)
		return false;
	n = (size_t)(form->text + form->len - dot) - 1;
	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		if (dot[1] == ends[i][0] && strlen(ends[i]) == n &&
		    memcmp(dot + 1, ends[i], n) == 0) {
			form->len -= n + 1;
			form->is_plain = false;
			return true;
		}
	}
	return false;
}

/* "-prod", "_work": where it is used, behind what has no suffix any more. */
static bool strip_stage(ab_form *form)
{
	static const char *const words[] = {"live",	  "local",   "prod",
					    "production", "staging", "work"};

	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i]);
		const char *p = form->text + form->len - n;

		if (form->len < n + 2 || (p[-1] != '-' && p[-1] != '_') ||
		    memcmp(p, words[i], n) != 0)
			continue;
		form->len -= n + 1;
		form->is_plain = false;
		return true;
	}
	return false;
}

static bool is_year(const char *p)
{
	return memcmp(p, "19", 2) == 0 || memcmp(p, "20", 2) == 0;
}

/* ".1", "~1", ".2024", "-20240131", ".2024-01-31_12:00" */
static bool strip_number(ab_form *form, bool is_manual)
{
	size_t at = form->len;
	size_t digits = 0;

	while (at > 0 && (is_digit(form->text[at - 1]) ||
			  (digits && strchr("-_:t", form->text[at - 1])))) {
		digits += is_digit(form->text[at - 1]);
		at--;
	}
	if (digits >= 4 && at > 1 && strchr(".-_", form->text[at]))
		at++;
	if (digits == 0 || at < 2 || !strchr(".-_~", form->text[at - 1]))
		return false;
	if (digits < 6 && !(digits == 4 && form->len - at == 4 &&
			    is_year(form->text + at)) &&
	    (form->len - at != digits || digits > 2 ||
	     !strchr(".~", form->text[at - 1]) ||
	     (is_manual && form->text[at - 1] == '.')))
		return false;
	form->len = at - 1;
	form->is_plain = false;
	return true;
}

bool ab_form_next(ab_form *form, bool is_manual)
{
	return trim(form) || decode(form) || strip_front(form) ||
	       strip_suffix(form) || strip_companion(form) ||
	       strip_copy_mark(form) || strip_stage(form) ||
	       strip_number(form, is_manual);
}

bool ab_form_short_name(ab_form *form)
{
	const char *tilde = memchr(form->text, '~', form->len);
	size_t at = tilde ? (size_t)(tilde - form->text) : 0;

	if (at == 0 || at > 6 || at + 1 == form->len ||
	    !is_digit(form->text[at + 1]) || form->text[0] == '.')
		return false;
	form->len = at + 1;
	memmove(form->text + 1, form->text, at);
	form->text[0] = '.';
	form->is_plain = false;
	return true;
}

/* ".a1b2c3" at the end, as mkstemp(3) makes names their own. */
static size_t random_suffix(const ab_form *form)
{
	const char *dot = memrchr(form->text, '.', form->len);
	size_t n = dot ? (size_t)(form->text + form->len - dot) : 0;

	for (size_t i = 1; i < n; i++)
		if (!is_digit(dot[i]) && !(dot[i] >= 'a' && dot[i] <= 'z'))
			return 0;
	return n == 7 ? n : 0;
}

bool ab_form_temporary_name(ab_form *form)
{
	size_t n = random_suffix(form);

	if (form->len < 6 || form->text[0] != '.')
		return false;
	if (n > 0 && form->len > n + 1)
		form->len -= n;
	else if (memcmp(form->text + form->len - 4, ".sw", 3) != 0)
		return false;
	cut(form, 0, 1);
	return true;
}
