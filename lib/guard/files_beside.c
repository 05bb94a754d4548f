/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a command does to files of the text beside what its words say: the
 * copy that `cp -b` and `sed -i.bak` make first, the names that rename(1)
 * gives, the files that a pattern of `mv t* d` takes or a directory has, and
 * what keeps a file as it is although it is written. Each is judged as the
 * command that says so.
 *
 * Refuses to know what an expression of rename makes of a name, but where it
 * is nothing but two texts.
 */
#include "config.h"

#include "guard/files.h"

#include <string.h>

#include "base/key.h"
#include "guard/command.h"

#define MAX_TAKEN 64 /* files of the text that stand for patterns */

/* What a program does of this, by its name. */
enum {
	DOES_NOTHING,
	DOES_COPY,
	DOES_EDIT,
	DOES_RENAME,
	DOES_LIMIT,
	DOES_MODES,
	DOES_RUN
};

static const struct {
	const char *name;
	uint8_t len, does;
} programs[] = {
	{ "cp", 2, DOES_COPY },		  { "mv", 2, DOES_COPY },
	{ "ln", 2, DOES_COPY },		  { "install", 7, DOES_COPY },
	{ "sed", 3, DOES_EDIT },	  { "perl", 4, DOES_EDIT },
	{ "rsync", 5, DOES_COPY },
	{ "ruby", 4, DOES_EDIT },	  { "rename", 6, DOES_RENAME },
	{ "prename", 7, DOES_RENAME },	  { "perl-rename", 11, DOES_RENAME },
	{ "file-rename", 11, DOES_RENAME }, { "rename.ul", 9, DOES_RENAME },
	{ "ulimit", 6, DOES_LIMIT },	  { "chmod", 5, DOES_MODES },
	{ "chattr", 6, DOES_MODES },	  { "sh", 2, DOES_RUN },
	{ "bash", 4, DOES_RUN },	  { "dash", 4, DOES_RUN },
	{ "ksh", 3, DOES_RUN },		  { "zsh", 3, DOES_RUN },
};

#define LEN(n) (1u << (n))
#define ANY_LEN UINT16_MAX

/* How long a name of those is that begins so; a path, or a g in front. */
static const uint16_t heads[256] = {
	['c'] = LEN(2) | LEN(5) | LEN(6),   ['m'] = LEN(2),
	['l'] = LEN(2),			    ['i'] = LEN(7),
	['s'] = LEN(2) | LEN(3),	    ['p'] = LEN(4) | LEN(7) | LEN(11),
	['r'] = LEN(4) | LEN(5) | LEN(6) | LEN(9),   ['f'] = LEN(11),
	['u'] = LEN(6),			    ['b'] = LEN(4),
	['d'] = LEN(4),			    ['k'] = LEN(3),
	['z'] = LEN(3),
	['g'] = LEN(3) | LEN(4) | LEN(6) | LEN(8),
	['/'] = ANY_LEN,		    ['.'] = ANY_LEN,
	['~'] = ANY_LEN,
};

static inline bool may_be_one(const struct ab_word *w)
{
	uint32_t lens = w->len ? heads[(unsigned char)*w->text] : 0;

	return lens && (lens == ANY_LEN || (w->len < 16 && lens >> w->len & 1));
}

static uint8_t what_does(const struct ab_word *w)
{
	char head = *w->text;
	uint32_t at = head == '/' || head == '.' || head == '~'
			      ? ab_name_base(w) : 0;

	at += at + 1 < w->len && w->text[at] == 'g';
	for (size_t i = 0; i < AB_ARRAY_LEN(programs); i++) {
		if (programs[i].len == w->len - at &&
		    programs[i].name[0] == w->text[at] &&
		    ab_same(programs[i].name, w->text + at, programs[i].len))
			return programs[i].does;
	}
	return DOES_NOTHING;
}

/* NAME FROM TO, and what it says of this is not told. */
static void as_if(struct ab_check *c, const char *name,
		  const struct ab_word *from, const struct ab_word *to)
{
	struct ab_word words[3] = { { .text = name }, *from, *to };
	ab_guard_command *told = c->told;
	uint32_t taint = c->out_taint;

	words[0].len = (uint32_t)strlen(name);
	words[0].span = from->span;
	c->told = NULL;
	ab_check_words(c, words, 3, 0, NULL, false);
	c->told = told;
	c->out_taint = taint;
}

/* DIR/NAME of the file, with other bytes for the name. */
static bool beside(struct ab_check *c, const struct ab_word *path,
		   const char *name, uint32_t n, struct ab_word *out)
{
	uint32_t base = ab_name_base(path);
	char *text = ab_check_alloc(c, (size_t)base + n + 1);

	if (!text || !n)
		return false;
	memcpy(text, path->text, base);
	memcpy(text + base, name, n);
	*out = (struct ab_word){ .text = text, .len = base + n,
				 .span = path->span };
	return true;
}

/* One more of few files; what is beyond them is not known. */
static bool take(struct ab_check *c, uint32_t *left, const struct ab_word *w)
{
	if (AB_UNLIKELY(!*left)) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, w);
		return false;
	}
	--*left;
	return true;
}

/* --- backups -------------------------------------------------------------- */

/* What goes behind the name, or where a star in it is. */
struct backup {
	const char *suffix;
	uint32_t len;
	bool is_made, is_numbered;
	uint32_t left; /* files of patterns that are looked at */
};

static void set_suffix(struct backup *b, const char *s, uint32_t n)
{
	b->is_made = true;
	b->suffix = s;
	b->len = n;
}

/* cp -b, -S X, --backup=numbered */
static void read_copying(const struct ab_use *use, struct backup *b)
{
	set_suffix(b, "~", 1);
	b->is_made = false;
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i], *next = w + 1;
		bool has_next = i + 1 < use->count;

		if (w->len < 2 || *w->text != '-')
			continue;
		if (w->len > 8 && !memcmp(w->text, "--suffix", 8))
			set_suffix(b, w->text + 9, w->len - 9);
		else if (ab_word_equals(w, "--suffix") && has_next)
			set_suffix(b, next->text, next->len);
		else if (w->len > 2 && !memcmp(w->text, "--b", 3))
			b->is_made = b->is_numbered = true;
		for (uint32_t k = 1; k < w->len && w->text[1] != '-'; k++) {
			if (memchr("tmog", w->text[k], 4))
				break;
			b->is_made |= w->text[k] == 'b';
			if (w->text[k] != 'S')
				continue;
			if (k + 1 < w->len)
				set_suffix(b, w->text + k + 1, w->len - k - 1);
			else if (has_next)
				set_suffix(b, next->text, next->len);
			break;
		}
	}
}

/* sed -i.bak, -ni.bak, --in-place=.bak, perl -pi.bak */
static void read_editing(const struct ab_use *use, struct backup *b)
{
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];
		const char *eq = w->len > 4 && !memcmp(w->text, "--i", 3)
					 ? memchr(w->text, '=', w->len) : NULL;

		if (eq)
			set_suffix(b, eq + 1,
				   w->len - (uint32_t)(eq - w->text) - 1);
		if (w->len < 3 || *w->text != '-' || w->text[1] == '-')
			continue;
		for (uint32_t k = 1; k + 1 < w->len; k++) {
			if (memchr("efMmIlFdCx", w->text[k], 10))
				break;
			if (w->text[k] != 'i')
				continue;
			set_suffix(b, w->text + k + 1, w->len - k - 1);
			break;
		}
	}
}

/* The copy that is made of a file before it is written. */
static void keep_one(struct ab_check *c, const struct backup *b,
		     const struct ab_word *path)
{
	uint32_t base = ab_name_base(path), n = path->len - base;
	const char *star = memchr(b->suffix, '*', b->len), *s = b->suffix;
	uint32_t front = star ? (uint32_t)(star - s) : 0;
	uint32_t behind = b->len - front - (star != NULL);
	char *name = ab_check_alloc(c, (size_t)b->len + n + 4);
	struct ab_word to;

	if (!name || !ab_file_kept(c, path))
		return;
	memcpy(name, s, front);
	memcpy(name + front, path->text + base, n);
	memcpy(name + front + n, star ? star + 1 : s, behind);
	if (beside(c, path, name, front + n + behind, &to))
		as_if(c, "cp", path, &to);
	memcpy(name, path->text + base, n);
	memcpy(name + n, ".~1~", 4);
	if (b->is_numbered && beside(c, path, name, n + 4, &to))
		as_if(c, "cp", path, &to);
}

static bool is_operand(const struct ab_word *w)
{
	return w->len && *w->text != '-';
}

/* Where the value of -t begins: -t DIR, -at DIR, -tDIR and
   --target-directory=DIR; 0: it is not that option. */
static uint32_t target_at(const struct ab_word *w)
{
	if (w->len < 2 || *w->text != '-')
		return 0;
	if (w->text[1] == '-')
		return w->len > 2 && w->text[2] == 't' ?
			       (uint32_t)ab_seek(w->text, w->len, '=') + 1 : 0;
	for (uint32_t i = 1; i < w->len; i++) {
		if (w->text[i] == 't')
			return i + 1;
		if (memchr("Smog", w->text[i], 4))
			return 0;
	}
	return 0;
}

/* That of the last such option, or the last word: -t of rsync is about time. */
static void target_dir(struct ab_check *c, const struct ab_use *use,
		       struct ab_word *out)
{
	bool is_rsync = use->words->text[use->words->len - 1] == 'c';

	*out = use->words[use->count - 1];
	for (uint32_t i = 1; i < use->count && !is_rsync; i++) {
		const struct ab_word *w = &use->words[i];
		uint32_t at = target_at(w);

		if (at >= w->len && i + 1 < use->count)
			*out = use->words[i + 1];
		else if (at && at < w->len)
			ab_word_slice(c, w, at, w->len, out);
	}
}

/* Each operand may be the target, or a directory with it in. */
static void keep_targets(struct ab_check *c, const struct ab_use *use,
			 const struct backup *b)
{
	struct ab_word slash = { .text = "/", .len = 1 }, dir, in, name;

	target_dir(c, use, &dir);
	keep_one(c, b, &dir);
	for (uint32_t i = 1; i < use->count && i < MAX_TAKEN; i++) {
		const struct ab_word *w = &use->words[i];
		uint32_t base = ab_name_base(w);

		if (w->text == dir.text || !is_operand(w))
			continue;
		if (ab_word_slice(c, w, base, w->len, &name) &&
		    ab_file_join(c, &dir, &slash, &in) &&
		    ab_file_join(c, &in, &name, &in))
			keep_one(c, b, &in);
	}
}

/* The file, or each of the text that a pattern takes. */
static void keep_edited(struct ab_check *c, struct backup *b,
			const struct ab_word *w)
{
	struct ab_word all, name;
	uint32_t i = 0;

	if (!ab_file_is_pattern(w)) {
		keep_one(c, b, w);
		return;
	}
	if (!ab_file_pattern(c, w, &all))
		return;
	while (ab_file_taken(c, &all, &i, &name) && take(c, &b->left, w))
		keep_one(c, b, &name);
}

/* --- other names ---------------------------------------------------------- */

/* s/X/Y/ */
static bool read_change(const struct ab_word *w, struct ab_word *from,
			struct ab_word *to)
{
	const char *s = w->text, *end = s + w->len, *mid, *stop;

	if (w->len < 4 || *s != 's' || memchr("\\ \n", s[1], 3))
		return false;
	mid = memchr(s + 2, s[1], (size_t)(end - s) - 2);
	stop = mid ? memchr(mid + 1, s[1], (size_t)(end - mid) - 1) : NULL;
	if (!stop)
		return false;
	*from = (struct ab_word){ .text = s + 2,
				  .len = (uint32_t)(mid - s) - 2 };
	*to = (struct ab_word){ .text = mid + 1,
				.len = (uint32_t)(stop - mid) - 1 };
	/* ^, $ and \. say where it stands, or that it is one */
	if (from->len && *from->text == '^') {
		from->text++;
		from->len--;
	}
	from->len -= from->len && from->text[from->len - 1] == '$';
	if (from->len && *from->text == '\\') {
		from->text++;
		from->len--;
	}
	return true;
}

static void rename_one(struct ab_check *c, const struct ab_word *path,
		       const struct ab_word *from, const struct ab_word *to)
{
	uint32_t base = ab_name_base(path), n = path->len - base, at;
	const char *s = path->text + base;
	const char *hit = memmem(s, n, from->text, from->len);
	char *name = ab_check_alloc(c, (size_t)n + to->len + 1);
	struct ab_word out;

	if (!hit || !name || !ab_file_kept(c, path))
		return;
	at = (uint32_t)(hit - s);
	memcpy(name, s, at);
	memcpy(name + at, to->text, to->len);
	memcpy(name + at + to->len, hit + from->len, n - at - from->len);
	if (beside(c, path, name, n + to->len - from->len, &out))
		as_if(c, "mv", path, &out);
}

static void rename_files(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_word *words = use->words;
	struct ab_word from, to, all, name;
	uint32_t i = 1, left = MAX_TAKEN;

	while (i < use->count && !is_operand(&words[i]))
		i++;
	if (i + 1 >= use->count)
		return;
	if (!read_change(&words[i], &from, &to)) {
		from = words[i++];
		to = words[i];
	}
	for (i++; i < use->count; i++) {
		uint32_t k = 0;

		if (!ab_file_is_pattern(&words[i]))
			rename_one(c, &words[i], &from, &to);
		else if (ab_file_pattern(c, &words[i], &all))
			while (ab_file_taken(c, &all, &k, &name) &&
			       take(c, &left, &words[i]))
				rename_one(c, &name, &from, &to);
	}
}

/* --- what stays ----------------------------------------------------------- */

/* bash -C -c TEXT, bash -eC: the options in front of the text. */
static bool is_careful(const struct ab_use *use)
{
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len < 2 || *w->text != '-' || w->text[1] == '-')
			return false;
		if (memchr(w->text, 'C', w->len))
			return true;
		if (memchr(w->text, 'c', w->len))
			return false;
	}
	return false;
}

/* ulimit -f 0: what is written may find no room. */
static bool limits_files(const struct ab_use *use)
{
	/* without a letter it is that of files */
	return ab_use_has_letter(use, 'f') ||
	       (use->count > 1 && *use->words[1].text != '-');
}

/* --- what lies in a directory --------------------------------------------- */

/* DIR/REST */
static bool below(struct ab_check *c, const struct ab_word *dir,
		  const char *rest, uint32_t n, struct ab_word *out)
{
	struct ab_word slash = { .text = "/", .len = 1 };
	struct ab_word name = { .text = rest, .len = n, .span = dir->span };

	return ab_file_join(c, dir, &slash, out) &&
	       ab_file_join(c, out, &name, out);
}

/* cp -r d e: the files of the text in d are in e then, or in e/d. */
static void copy_below(struct ab_check *c, const struct ab_word *from,
		       const struct ab_word *to, uint32_t *left)
{
	uint32_t len, count = c->written_count, n = from->len;
	const char *path = from->hole_count ? NULL
					    : ab_path_text(c, from, &len);
	struct ab_word file = { .span = from->span }, name, in;

	while (n > 1 && from->text[n - 1] == '/')
		n--;
	if (!path || len < 2 || !ab_word_slice(c, from, 0, n, &name) ||
	    !ab_word_slice(c, &name, ab_name_base(&name), n, &name))
		return;
	for (uint32_t i = 0; i < count; i++) {
		file.text = c->written[i] + sizeof(AB_FILE_PREFIX) - 1;
		file.len = (uint32_t)strlen(file.text);
		if (file.len <= len + 1 || file.text[len] != '/' ||
		    memcmp(file.text, path, len) != 0)
			continue;
		if (!take(c, left, from))
			return;
		const char *rest = file.text + len + 1;
		uint32_t rest_len = file.len - len - 1;

		if (below(c, to, rest, rest_len, &in))
			as_if(c, "cp", &file, &in);
		if (name.len && below(c, to, name.text, name.len, &in) &&
		    below(c, &in, rest, rest_len, &in))
			as_if(c, "cp", &file, &in);
	}
}

/* cp takes a directory with -r, -R or -a, and install none. */
static bool takes_dirs(const struct ab_use *use)
{
	const struct ab_word *name = use->words;
	char last = name->text[name->len - 1];

	if (last != 'p')
		return last != 'l';
	return ab_use_has_letter(use, 'r') || ab_use_has_letter(use, 'R') ||
	       ab_use_has_letter(use, 'a');
}

static void copy_dirs(struct ab_check *c, const struct ab_use *use)
{
	uint32_t left = takes_dirs(use) ? MAX_TAKEN : 0;
	struct ab_word to;

	if (!left)
		return;
	target_dir(c, use, &to);
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->text != to.text && is_operand(w))
			copy_below(c, w, &to, &left);
	}
}

static void keep_all(struct ab_check *c, const struct ab_use *use,
		     bool is_copy)
{
	struct backup b = { .left = MAX_TAKEN };

	if (is_copy)
		read_copying(use, &b);
	else
		read_editing(use, &b);
	if (b.is_made && is_copy)
		keep_targets(c, use, &b);
	for (uint32_t i = 1; b.is_made && !is_copy && i < use->count; i++) {
		if (is_operand(&use->words[i]))
			keep_edited(c, &b, &use->words[i]);
	}
}

void ab_file_before(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_word *w = use->words;
	uint8_t does;

	/* most names begin otherwise */
	if (use->count < 2 || !may_be_one(w))
		return;
	does = what_does(w);
	switch (does) {
	case DOES_COPY:
		copy_dirs(c, use);
		keep_all(c, use, true);
		break;
	case DOES_EDIT:
		keep_all(c, use, false);
		break;
	case DOES_RENAME:
		rename_files(c, use);
		break;
	case DOES_LIMIT:
		c->keeps_files |= limits_files(use);
		break;
	case DOES_MODES:
		ab_note_modes(c, use->words, use->count);
		break;
	case DOES_RUN:
		c->keeps_files |= is_careful(use);
		break;
	default:
		break;
	}
}

/* --- patterns ------------------------------------------------------------- */

/* The words with the files of the text for each pattern; 0: it takes none. */
static uint32_t put_taken(struct ab_check *c, const struct ab_use *use,
			  struct ab_word *all)
{
	uint32_t n = 0, left = MAX_TAKEN;
	struct ab_word path, name;

	for (uint32_t i = 0; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];
		uint32_t k = 0;

		if (!i || !ab_file_is_pattern(w)) {
			all[n++] = *w;
			continue;
		}
		while (ab_file_pattern(c, w, &path) &&
		       ab_file_taken(c, &path, &k, &name) && take(c, &left, w))
			all[n++] = name;
	}
	return left < MAX_TAKEN ? n : 0;
}

void ab_file_after(struct ab_check *c, const struct ab_use *use)
{
	ab_guard_command *told = c->told;
	uint32_t taint = c->out_taint, n;
	struct ab_word *all;

	all = ab_check_alloc(c, (use->count + MAX_TAKEN) * sizeof(*all));
	n = all ? put_taken(c, use, all) : 0;
	if (!n)
		return;
	c->told = NULL;
	ab_check_words(c, all, n, use->in_taint, use->in_text, use->has_stdin);
	c->told = told;
	c->out_taint = taint;
}
