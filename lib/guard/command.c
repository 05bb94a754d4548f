/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One command with its words: which program, which of its rules, what it
 * does with paths, what it runs in turn.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/key.h"
#include "guard/command.h"
#include "guard/found.h"
#include "guard/git.h"

/* --- names -------------------------------------------------------------- */

uint32_t ab_name_base(const struct ab_word *w)
{
	const char *slash = memrchr(w->text, '/', w->len);

	return slash ? (uint32_t)(slash - w->text) + 1 : 0;
}

bool ab_names_program(const struct ab_check *c, const struct ab_word *w)
{
	uint32_t base = ab_name_base(w);

	return ab_pack_find(c->pack, w->text + base, w->len - base) != NULL;
}

/* ${CC:-gcc}, where the text gave CC nothing: it is that, or what the host has
   it be. */
static bool is_own_tool(const struct ab_check *c, const struct ab_hole *h)
{
	const struct ab_word *w;

	if (!h->name || !strcmp(h->name, "SHELL"))
		return true;
	/* "${1:-gcc}": who calls it says */
	if (h->origin || !c->run || (*h->name >= '0' && *h->name <= '9'))
		return false;
	/* : "${CC:=gcc}" gives it that */
	w = ab_shell_get(c->run, h->name, strlen(h->name), NULL);
	return !w || (w->hole_count == 1 && w->holes->name &&
		      w->holes->kind == AB_HOLE_LIKELY &&
		      !strcmp(w->holes->name, h->name));
}

/* Whether the name is decided by the text: the last component is. */
static bool is_unknown_name(const struct ab_check *c, const struct ab_word *w,
			    bool *has_pattern)
{
	bool unknown = false;

	*has_pattern = false;
	if (AB_LIKELY(!w->hole_count))
		return false;
	uint32_t base = ab_name_base(w);

	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];

		if (h->kind == AB_HOLE_PATTERN) {
			*has_pattern = true;
			continue;
		}
		if (h->kind == AB_HOLE_HOME || h->kind == AB_HOLE_PROC ||
		    h->at + h->len < base ||
		    (base && h->at + h->len == base && h->len) ||
		    (base && h->at < base))
			continue;
		if (h->kind == AB_HOLE_LIKELY && is_own_tool(c, h))
			continue;
		unknown = true;
	}
	return unknown;
}

/* What stands in a name, by one look at each byte. */
enum { HAS_ODD = 1, HAS_SLASH = 2, HAS_EQUALS = 4, HAS_CAPITAL = 8 };

static const uint8_t name_bytes[256] = {
	[0 ... 0x1f] = HAS_ODD, [0x7f ... 0xff] = HAS_ODD,
	['/'] = HAS_SLASH,	['='] = HAS_EQUALS,
	['A' ... 'Z'] = HAS_CAPITAL,
};

/* And the name's hash, for what holds no slash. */
static unsigned spelling(const struct ab_word *w, uint32_t *hash)
{
	uint32_t h = AB_PACK_HASH;
	unsigned has = 0;

	for (uint32_t i = 0; i < w->len; i++) {
		has |= name_bytes[(unsigned char)w->text[i]];
		h = ab_pack_hash_byte(h, w->text[i]);
	}
	*hash = ab_pack_hash_end(h);
	return has;
}

/* --- paths -------------------------------------------------------------- */

/* `php artisan ...`, `python manage.py ...`: the script has rules itself; and
   `sh /usr/lib/git-core/git-filter-branch` is that command of git. */
static void run_script(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *w)
{
	const struct ab_program *p = NULL;
	/* who reads it with `.` wants its functions */
	bool is_git = !use->program->is_builtin &&
		      memchr(w->text, '-', w->len) && ab_git_is_script(w);
	uint32_t base, i = 0;

	if (!is_git && !ab_has_role(use->program, AB_ROLE_STDIN_CODE))
		return;
	while (i < use->count && &use->words[i] != w)
		i++;
	base = ab_name_base(w);
	if (!is_git)
		p = ab_pack_program(c->pack, w->text + base, w->len - base);
	if ((is_git || (p && p->links)) && i < use->count)
		ab_run_words(c, use, use->words + i, use->count - i);
}

uint32_t ab_status_taint(struct ab_check *c, const struct ab_word *w)
{
	if (AB_UNLIKELY(w->len > 4 && !memcmp(w->text, "/dev", 4)))
		return ab_fill_is_source(w) ? AB_TAINT_ENDLESS : 0;
	return w->len > 4 && !memcmp(w->text, "/proc", 5) &&
			       (ab_path_classes(c, w) & c->pack->proc_status)
		       ? AB_TAINT_PROCESS
		       : 0;
}

/* realpath of what mktemp made, where no link was put in its place. */
static uint32_t resolved_taint(const struct ab_check *c,
			       const struct ab_use *use,
			       const struct ab_word *w)
{
	if (w->len || w->hole_count != 1 || w->holes->is_cut ||
	    c->has_stray_link || !ab_word_equals(&use->words[0], "realpath"))
		return 0;
	return ab_word_taint(w) & AB_TAINT_TEMP;
}

static void path_word(struct ab_check *c, const struct ab_use *use,
		      const struct ab_role *role, const struct ab_word *w)
{
	uint32_t taint;

	if (ab_is_stdin_name(w) && role->kind != AB_ROLE_REMOVE) {
		c->has_stdin_link |= !strcmp(use->program->name, "ln");
		return;
	}
	if (role->kind == AB_ROLE_SAVE) {
		if (!use->program->is_net) {
			ab_file_pipe(c, w);
			return;
		}
		/* scp: only what comes from another machine */
		if (role->select == AB_SEL_BUT_LAST &&
		    !memchr(w->text, ':', w->len))
			return;
		ab_file_save(c, w, AB_TAINT_REMOTE, NULL,
			     role->select != AB_SEL_OPTION);
		return;
	}
	c->keeps_last = role->kind == AB_ROLE_DELETE ||
			role->kind == AB_ROLE_REMOVE ||
			(role->kind == AB_ROLE_WRITE &&
			 (ab_has_role(use->program, AB_ROLE_LINK) ||
			  ab_has_role(use->program, AB_ROLE_ALIAS)));
	ab_check_path(c, use, (enum ab_role_kind)role->kind, w);
	c->keeps_last = false;
	switch ((enum ab_role_kind)role->kind) {
	case AB_ROLE_LIST:
		c->out_taint |= ab_status_taint(c, w) |
				resolved_taint(c, use, w);
		if (use->program->is_pass)
			ab_file_read(c, w);
		break;
	case AB_ROLE_DELETE:
		if (use->program->is_pass)
			ab_file_read(c, w);
		break;
	case AB_ROLE_READ:
	case AB_ROLE_SHOW:
		if (use->program->is_pass) {
			ab_file_read(c, w);
			/* `gzip -c FILE | nc ...`, as cat FILE has */
			if (role->kind == AB_ROLE_SHOW &&
			    !ab_word_equals(w, "-"))
				c->out_taint |= AB_TAINT_FILE;
		}
		taint = ab_word_taint(w);
		for (uint32_t i = 0; i < w->hole_count; i++) {
			if (w->holes[i].kind == AB_HOLE_PROC)
				c->out_taint |= taint;
		}
		c->out_taint |= ab_file_taint(c, w) | ab_status_taint(c, w);
		break;
	case AB_ROLE_WRITE:
		if (AB_UNLIKELY(use->in_taint & AB_TAINT_ENDLESS) &&
		    ab_fill_goes_on(use))
			ab_fill_check(c, use, AB_TAINT_ENDLESS, w);
		if (!use->program->is_pass) {
			ab_file_make(c, use, w);
			break;
		}
		if (AB_LIKELY(c->copy_from != NULL))
			ab_file_enter(c, use, role, w);
		ab_file_copy(c, use, w);
		break;
	case AB_ROLE_SEND:
		ab_check_flow(c, use, AB_SINK_NET, ab_file_taint(c, w), w);
		break;
	case AB_ROLE_RUN:
		ab_file_run(c, use, w);
		if (AB_UNLIKELY(c->found != NULL))
			ab_check_is_found(c, w, false);
		/* ruby -I/tmp -r x */
		if (AB_UNLIKELY(c->written_count) &&
		    (role->select == AB_SEL_OPTION ||
		     role->select == AB_SEL_ENV))
			ab_file_run_module(c, use, w);
		run_script(c, use, w);
		break;
	default:
		break;
	}
}

static void parse_word(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role, const struct ab_word *w)
{
	static const struct ab_role run = { .kind = AB_ROLE_RUN };

	(void)role;
	if (!ab_file_is_only_parsed(c, w))
		path_word(c, use, &run, w);
}

/* let 'a[$(...)]=1': bash expands what stands in the subscript. */
/* declare x='$(y)' keeps a text, where `-i` reckons with it, and 'x=([$(y)]=z)'
   is a list. */
static bool is_kept_text(const struct ab_use *use, const struct ab_word *w)
{
	const char *eq = memchr(w->text, '=', w->len);
	const char *open = memchr(w->text, '[', w->len);

	if (!use->program->has_env || !eq || (open && open < eq) ||
	    (eq + 1 < w->text + w->len && eq[1] == '('))
		return false;
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *o = &use->words[i];

		if (o->len > 1 && *o->text == '-' &&
		    memchr(o->text, 'i', o->len))
			return false;
	}
	return true;
}

static void arith_word(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role, const struct ab_word *w)
{
	(void)role;
	if (((ab_seek(w->text, w->len, '$') < w->len &&
	      memmem(w->text, w->len, "$(", 2)) ||
	     ab_seek(w->text, w->len, '`') < w->len) &&
	    !is_kept_text(use, w))
		ab_run_embedded(c, w);
}

static void chdir_word(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role, const struct ab_word *w)
{
	(void)use;
	(void)role;
	c->cwd = ab_cwd_after(c, w);
}

/* What comes off the network is taken apart there. */
static void unpack_word(struct ab_check *c, const struct ab_use *use,
			const struct ab_role *role, const struct ab_word *w)
{
	uint32_t taint = (use->in_taint | c->out_taint) & AB_TAINT_REMOTE;

	(void)role;
	if (AB_UNLIKELY(c->links || c->near_links))
		ab_link_unpack(c, w);
	if (AB_UNLIKELY(taint))
		ab_file_unpack(c, w, taint);
}

/* gunzip x.sh.gz: x.sh is what came off the network then. */
static void expand_word(struct ab_check *c, const struct ab_use *use,
			const struct ab_role *role, const struct ab_word *w)
{
	uint32_t taint = ab_file_taint(c, w) & AB_TAINT_REMOTE;
	const char *dot = memrchr(w->text, '.', w->len);
	struct ab_word name;

	(void)use;
	(void)role;
	if (taint && dot &&
	    ab_word_slice(c, w, 0, (uint32_t)(dot - w->text), &name))
		ab_file_save(c, &name, taint, NULL, false);
}

static bool is_web(const struct ab_word *w)
{
	return w->len > 4 && !memcmp(w->text, "http", 4);
}

/* scp host:a.sh dir: what it is called there, or all that lies in it. */
static void fetch_word(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role, const struct ab_word *w)
{
	(void)role;
	for (uint32_t i = use->base[use->program->depth];
	     i < use->operand_count; i++) {
		const struct ab_word *from = &use->words[use->operands[i]];
		const char *colon = memchr(from->text, ':', from->len);

		/* namespace/pod:file is one, too; ./a:b and /a:b are here */
		if (from == w || !colon || is_web(from) ||
		    *from->text == '/' || *from->text == '.')
			continue;
		ab_file_fetch(c, from, w);
	}
}

/* An option of those has that value, as it stands or first in a list. */
static bool has_value(const struct ab_use *use, uint64_t options,
		      const char *text)
{
	size_t n = strlen(text);

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *w = &use->words[v->word];
		uint32_t end = v->at + (uint32_t)n;

		if ((options >> v->group & 1) && w->len >= end &&
		    !memcmp(w->text + v->at, text, n) &&
		    (w->len == end || w->text[end] == ','))
			return true;
	}
	return false;
}

static void apply_role(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role)
{
	switch ((enum ab_role_kind)role->kind) {
	case AB_ROLE_SHELL:
	case AB_ROLE_EVAL:
		ab_run_shell(c, use, role);
		break;
	case AB_ROLE_ARITH:
		ab_role_each(c, use, role, arith_word);
		break;
	case AB_ROLE_WRAP:
		ab_run_wrap(c, use, role);
		break;
	case AB_ROLE_CODE:
		ab_role_each(c, use, role, ab_run_code);
		break;
	case AB_ROLE_TEXT:
		ab_run_text(c, use, role);
		break;
	case AB_ROLE_CHDIR:
		ab_role_each(c, use, role, chdir_word);
		break;
	case AB_ROLE_UNPACK:
		ab_role_each(c, use, role, unpack_word);
		break;
	case AB_ROLE_EXPAND:
		ab_role_each(c, use, role, expand_word);
		break;
	case AB_ROLE_LINK:
	case AB_ROLE_ALIAS:
	case AB_ROLE_MOVE:
		ab_role_each(c, use, role, ab_link_word);
		break;
	case AB_ROLE_FETCH:
		ab_role_each(c, use, role, fetch_word);
		break;
	case AB_ROLE_SPLIT:
		ab_file_split(c, use, role);
		break;
	case AB_ROLE_PARSE:
		ab_role_each(c, use, role, parse_word);
		break;
	case AB_ROLE_OUTPUT:
		if (!role->text || has_value(use, role->need, role->text))
			c->out_taint |= role->taint;
		break;
	case AB_ROLE_STDIN_SHELL:
	case AB_ROLE_STDIN_CODE:
	case AB_ROLE_STDIN_TEXT:
	case AB_ROLE_STDIN_ARGS:
		break;
	default:
		ab_role_each(c, use, role, path_word);
	}
}

/* --- the command -------------------------------------------------------- */

/* A host's rule lets this command do what would be asked about. */
static bool is_excused(struct ab_check *c, const struct ab_use *use)
{
	uint32_t base = use->base[use->program->depth];

	for (uint32_t at = use->program->links; at;) {
		const struct ab_link *link = &c->pack->links[at - 1];
		const struct ab_clause *clause =
			&c->pack->clauses[link->clause];

		at = link->next;
		if (clause->verdict == AB_V_ALLOW &&
		    ab_tests_hold(c, use, clause, base))
			return true;
	}
	return false;
}

static uint32_t argument_taint(const struct ab_use *use)
{
	uint32_t taint = 0;

	if (AB_LIKELY(!use->has_hole))
		return 0;
	for (uint32_t i = 1; i < use->count; i++) {
		if (use->words[i].hole_count)
			taint |= ab_word_taint(&use->words[i]);
	}
	return taint;
}

/* `tool completion bash`: functions for the shell that asks for them. */
static bool is_completion(const struct ab_word *w)
{
	return !w->hole_count &&
	       ((w->len == 10 && !memcmp(w->text, "completion", 10)) ||
		(w->len == 11 && !memcmp(w->text, "completions", 11)));
}

/* What the output of a program is made of, but for its roles. */
static void default_output(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_program *p = use->program;
	uint32_t keep = AB_TAINT_REMOTE | AB_TAINT_CRED | AB_TAINT_ENV |
			AB_TAINT_DECODE | AB_TAINT_PICK | AB_TAINT_PROCESS |
			AB_TAINT_DATA;

	if (!ab_is_stranger(p) &&
	    (p->is_builtin || ab_has_role(p, AB_ROLE_OUTPUT)))
		;
	else if (use->count > 1 && is_completion(&use->words[1]))
		c->out_taint |= AB_TAINT_HOOK;
	else
		c->out_taint |= AB_TAINT_FILE;
	if (p && (p->is_pass || p->is_wrapper))
		c->out_taint |= use->in_taint &
				(keep | AB_TAINT_FILE | AB_TAINT_SECRET);
	c->out_taint |= argument_taint(use) & keep;
	/* jq --arg t "$TOKEN", sed "s/x/$TOKEN/" */
	if (AB_UNLIKELY(use->has_hole) && p && p->is_pass)
		c->out_taint |= ab_secret_taint(use);
	if (AB_UNLIKELY((c->out_taint | use->in_taint) & AB_TAINT_ENDLESS)) {
		if (ab_fill_goes_on(use))
			c->out_taint |= use->in_taint & AB_TAINT_ENDLESS;
		else if (!(p && p->is_wrapper)) /* that has its own */
			c->out_taint &= ~(uint32_t)AB_TAINT_ENDLESS;
	}
}

/* `nc host 80 <file` sends it, as `cat file | nc host 80` does. */
static uint32_t sent_taint(const struct ab_check *c, const struct ab_use *use)
{
	return c->in_is_file && !c->in_is_device
		       ? use->in_taint | AB_TAINT_FILE
		       : use->in_taint;
}

static void judge_use(struct ab_check *c, struct ab_use *use)
{
	const struct ab_program *p = use->program;
	const struct ab_word *cwd = c->cwd;
	uint32_t n = use->operand_count - use->base[p->depth];

	c->copy_taint = 0;
	c->copy_text = c->copy_from = NULL;
	c->copied = NULL;
	c->copy_name = NULL;
	ab_check_clauses(c, use);
	if (p->is_net) {
		ab_check_flow(c, use, AB_SINK_NET, argument_taint(use), NULL);
		if (use->has_stdin)
			ab_check_flow(c, use, AB_SINK_NET, sent_taint(c, use),
				      NULL);
	}
	const struct ab_role *role = c->pack->roles + p->role;
	const struct ab_role *end = role + p->role_count;

	for (; role < end; role++) {
		if (n < role->least ||
		    (role->given && !(use->options & role->given)))
			continue;
		if (role->kind >= AB_ROLE_STDIN_SHELL &&
		    role->kind <= AB_ROLE_STDIN_TEXT)
			ab_run_stdin(c, use, role);
		else if (ab_role_applies(use, role))
			apply_role(c, use, role);
	}
	c->cwd = cwd;
	c->copied = NULL;
}

static void on_probe(void *user, const struct ab_shell_found *f)
{
	uint8_t *worst = user;

	if (f->verdict > *worst)
		*worst = f->verdict;
}

static bool is_count(const struct ab_word *w)
{
	return w->len && !w->hole_count && *w->text >= '0' && *w->text <= '9';
}

/* What a wrapper would be used for; `reboot` may be a subcommand. */
static bool is_likely_inner(const struct ab_check *c, const struct ab_word *w)
{
	uint32_t base = ab_name_base(w);
	const struct ab_program *p =
		ab_pack_find(c->pack, w->text + base, w->len - base);

	return p && (p->is_git || p->is_wrapper ||
		     ab_has_role(p, AB_ROLE_REMOVE) ||
		     ab_has_role(p, AB_ROLE_DELETE) ||
		     ab_has_role(p, AB_ROLE_WRITE) ||
		     ab_has_role(p, AB_ROLE_SHELL));
}

/* What the words would do as a command. */
static uint8_t probe(struct ab_check *c, const struct ab_word *words,
		     uint32_t count)
{
	ab_guard_report *report = c->report;
	ab_guard_command *told = c->told;
	uint32_t taint = c->out_taint;
	uint8_t worst = 0;
	void *user = c->user;

	if (count < 2 || !ab_names_program(c, words))
		return 0;
	c->report = on_probe;
	c->user = &worst;
	c->told = NULL;
	c->is_probe = true;
	ab_check_words(c, words, count, 0, NULL, false);
	c->report = report;
	c->user = user;
	c->told = told;
	c->is_probe = false;
	c->out_taint = taint;
	return worst;
}

/* `x exec NAME sh -c TEXT`: where such a shell begins; count: nowhere. */
static uint32_t find_shell(const struct ab_check *c,
			   const struct ab_word *words, uint32_t count)
{
	for (uint32_t i = 2; i + 2 < count; i++) {
		const struct ab_word *w = &words[i];
		uint32_t base = ab_name_base(w);
		const struct ab_program *p;

		if (w[1].len < 2 || w[1].text[0] != '-' ||
		    w[1].text[w[1].len - 1] != 'c')
			continue;
		p = ab_pack_find(c->pack, w->text + base, w->len - base);
		if (p && ab_has_role(p, AB_ROLE_SHELL) &&
		    ab_has_role(p, AB_ROLE_STDIN_SHELL))
			return i;
	}
	return count;
}

/* `retry 3 rm -rf /`: the first operand, where it begins a command that is
   denied; count: it does not. Words further behind are more often data. */
static uint32_t find_inner(struct ab_check *c, const struct ab_word *words,
			   uint32_t count)
{
	uint32_t i = 1;

	while (i < count && (!words[i].len || *words[i].text == '-' ||
			     is_count(&words[i])))
		i++;
	return i < count && is_likely_inner(c, &words[i]) &&
			       probe(c, &words[i], count - i) == AB_V_DENY
		       ? i
		       : count;
}

/* `retry 3 rm -rf /`, `with-env x -- git push`: a program that nobody knows
   and that may run what its words are. Asked about when that is denied. */
static void probe_words(struct ab_check *c, const struct ab_word *words,
			uint32_t count)
{
	uint32_t at[2] = { 1, count };

	if (c->is_probe)
		return;
	at[1] = find_inner(c, words, count);
	if (at[1] < count) {
		ab_check_known(c, AB_KNOWN_WRAPPER, AB_V_ASK, &words[at[1]]);
		return;
	}
	while (at[0] < count && !(words[at[0]].len == 2 &&
				  !memcmp(words[at[0]].text, "--", 2)))
		at[0]++;
	at[0]++;
	at[1] = find_shell(c, words, count);
	for (size_t i = 0; i < AB_ARRAY_LEN(at); i++) {
		if (at[i] >= count ||
		    probe(c, words + at[i], count - at[i]) != AB_V_DENY)
			continue;
		ab_check_known(c, AB_KNOWN_WRAPPER, AB_V_ASK, &words[at[i]]);
		return;
	}
}

/* What was not found under its very name is looked at by its name again. */
static bool may_be_git(const struct ab_program *p, const struct ab_word *w)
{
	if (!p || w->hole_count || p->name_len > w->len)
		return !p || !p->is_git;
	return !p->is_git && (p->is_git_name || p->name_len < w->len);
}

/* No rule and no role looks at its words: echo and its kind. */
static bool is_inert(const struct ab_program *p)
{
	return !p->links && !p->role_count && !p->is_net && !p->has_subs &&
	       !p->has_env && !p->is_git && !p->is_located;
}

void ab_judge_program(struct ab_check *c, const struct ab_program *p,
		      struct ab_use *use)
{
	const struct ab_word *words = use->words;
	const struct ab_use *outer = c->use;
	bool was_excused = c->is_excused;
	uint32_t count = use->count;

	c->use = use;
	c->is_excused = false;
	if (AB_UNLIKELY(use->in_text && use->in_text->hole_count) &&
	    ab_value_has_secret(use->in_text))
		use->in_taint |= AB_TAINT_SECRET;
	use->held = ab_held_new(c, count);
	if (AB_UNLIKELY(c->has_files))
		ab_file_before(c, use);
	if (p && is_inert(p)) {
		use->program = p;
	} else if (p && AB_UNLIKELY(p->has_commands) &&
		   ab_split_commands(c, use)) {
		use->program = p;
	} else if (p && ab_use_read(c, p, words, count, use)) {
		c->is_excused = c->pack->has_excuses && is_excused(c, use);
		if (p->is_git)
			ab_check_git(c, words, count);
		if (!use->is_help)
			judge_use(c, use);
	}
	/* gh pr merge --help, where the table says so */
	if (may_be_git(p, words) &&
	    !(AB_UNLIKELY(use->is_help) && use->program->help))
		ab_check_git(c, words, count);
	if (count > 1 && (!use->is_help || ab_is_stranger(p)) &&
	    (!use->heads || (use->heads & ab_head_bit('-'))) &&
	    !(p && p->is_builtin))
		ab_check_outs(c, use);
	if (AB_UNLIKELY(c->is_on_script) && ab_takes_script(c, use))
		ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, NULL);
	if (ab_is_stranger(p) && count > 2 && words[0].len)
		probe_words(c, words, count);
	if (AB_UNLIKELY(use->has_hole) && p && use->operand_count &&
	    !p->is_git && !p->is_builtin && !use->is_help)
		ab_run_without(c, use);
	if (AB_UNLIKELY(c->written_count) && use->has_hole && p && p->is_pass &&
	    ab_has_role(p, AB_ROLE_WRITE))
		ab_file_after(c, use);
	default_output(c, use);
	if (p && !use->is_help && c->command &&
	    (c->command->place.out || c->command->redir_count ||
	     p->is_names ||
	     AB_UNLIKELY(ab_list_in(c->command) != NULL)))
		ab_wrap_names(c, use);
	c->use = outer;
	c->is_excused = was_excused;
}

static const struct ab_program *lower_name(struct ab_check *c,
					   const struct ab_word *w)
{
	uint32_t base = ab_name_base(w), n = w->len - base;
	AB_UNINITIALIZED char text[64];
	bool changed = false;

	if (n >= sizeof(text))
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		char ch = w->text[base + i];

		text[i] = ch >= 'A' && ch <= 'Z' ? (char)(ch | 0x20) : ch;
		changed |= text[i] != ch;
	}
	return changed ? ab_pack_find(c->pack, text, n) : NULL;
}

/* time -f FORMAT -o FILE rm: the shell's own time has no such options, which
   are those of the program. */
static void judge_time(struct ab_check *c, const struct ab_use *use)
{
	struct ab_word *words =
		ab_check_alloc(c, (use->count + 1) * sizeof(*words));

	if (!words)
		return;
	words[0] = (struct ab_word){ .text = "time", .len = 4,
				     .span = use->words[0].span };
	memcpy(words + 1, use->words, use->count * sizeof(*words));
	ab_check_words(c, words, use->count + 1, use->in_taint, use->in_text,
		       use->has_stdin);
}

/* The program of a name that ab_pack_seated() does not know, NULL where nobody
   knows it. False: it was judged as what else it is. */
static bool look_up(struct ab_check *c, const struct ab_use *use,
		    const struct ab_program **found)
{
	const struct ab_word *words = use->words;
	uint32_t count = use->count;
	bool has_pattern;
	bool lenient = c->flags & AB_SHELL_DEFINITION;
	bool unknown = is_unknown_name(c, &words[0], &has_pattern);
	bool is_judged = false;
	uint32_t hash;
	unsigned has = spelling(&words[0], &hash);
	uint32_t base = 0;

	if (AB_UNLIKELY(has & HAS_SLASH)) {
		base = ab_name_base(&words[0]);
		if (AB_UNLIKELY(c->found != NULL))
			ab_check_is_found(c, &words[0], true);
	}
	if (AB_UNLIKELY(unknown)) {
		uint32_t taint = ab_word_taint(&words[0]);

		is_judged = !lenient && ab_judge_found(c, use);
		if (!lenient && !is_judged)
			ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, words);
		ab_check_flow(c, NULL, AB_SINK_EVAL,
			      taint & (AB_TAINT_REMOTE | AB_TAINT_CRED),
			      words);
	}
	/* what the text put there, whatever it is called */
	if (AB_UNLIKELY(base || unknown) &&
	    ab_file_command(c, words, count, use->in_taint, use->in_text,
			    use->has_stdin))
		return false;
	/* $SUDO rm: what is not set leaves the next word; `time -v rm` */
	if (count > 1 && ((unknown && !words[0].len &&
			   !(is_judged && words[0].is_quoted)) ||
			  (words[0].len > 1 && *words[0].text == '-' &&
			   ab_names_program(c, &words[1])))) {
		ab_check_words(c, words + 1, count - 1, use->in_taint,
			       use->in_text, use->has_stdin);
		return false;
	}
	if (count > 1 && words[0].len > 1 && *words[0].text == '-' &&
	    !words[0].hole_count) {
		judge_time(c, use);
		return false;
	}
	if (has_pattern) {
		ab_judge_pattern(c, use);
		return false;
	}
	/* env BASH_FUNC_x%%=..., which is no name for a shell */
	if (AB_UNLIKELY(has & HAS_EQUALS)) {
		const char *eq = memchr(words[0].text, '=', words[0].len);

		ab_check_env(c, words[0].text,
			     (uint32_t)(eq - words[0].text), &words[0]);
	}
	/* !rm: the last one in the history that began like this */
	if (words[0].len > 1 && *words[0].text == '!' && !words[0].is_quoted)
		ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, words);
	/* /proc/self/exe: whoever runs it */
	if (words[0].len > 6 && !memcmp(words[0].text, "/proc/", 6))
		ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, words);
	if ((has & HAS_ODD) || (!words[0].len && !unknown))
		ab_check_known(c, AB_KNOWN_CONTROL, AB_V_ASK, words);
	const struct ab_program *p =
		AB_UNLIKELY(base)
			? ab_pack_find(c->pack, words[0].text + base,
				       words[0].len - base)
			: ab_pack_find_hash(c->pack, words[0].text,
					    words[0].len, hash);

	/* build/bench is the project's own, and so is ./Configure */
	if (AB_UNLIKELY(base) && (p ? p->is_common : has & HAS_CAPITAL) &&
	    ab_is_of_project(c, &words[0]))
		p = NULL;
	else if (!p && (has & HAS_CAPITAL) && (p = lower_name(c, words)) &&
		 p->links)
		ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, words);
	/* csh: setenv NAME VALUE */
	if (!p && count > 2 && ab_word_equals(&words[0], "setenv"))
		ab_check_env(c, words[1].text, words[1].len, &words[2]);
	*found = p;
	return true;
}

/* They are words of the text's own command, which keeps them. */
static bool stays(const struct ab_check *c, const struct ab_word *words)
{
	const struct ab_shell_command *m = c->command;

	return m && m->is_kept && words >= m->argv &&
	       words < m->argv + m->argc;
}

static bool is_part_of(const struct ab_known_paths *paths,
		       const struct ab_word *words)
{
	return paths && words >= paths->words &&
	       words < paths->words + paths->count;
}

void ab_check_words(struct ab_check *c, const struct ab_word *words,
		    uint32_t count, uint32_t in_taint,
		    const struct ab_word *in_text, bool has_stdin)
{
	static const struct ab_use nothing;
	void *mark = c->scratch->low;
	const struct ab_program *p;

	if (!count || c->is_broken)
		return;
	if (c->depth >= AB_CHECK_MAX_DEPTH) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, words);
		return;
	}
	AB_UNINITIALIZED struct ab_known_paths paths;
	struct ab_known_paths *outer = c->paths;
	struct ab_use use = nothing;

	/* words that stand not in the command's own are made for this call */
	if (AB_UNLIKELY(c->depth) && !is_part_of(outer, words)) {
		paths.words = words;
		paths.count = count;
		paths.known = 0;
		c->paths = &paths;
	}
	use.words = words;
	use.count = count;
	use.in_taint = in_taint;
	use.in_text = in_text;
	use.has_stdin = has_stdin;
	use.has_hole = true; /* until the words were looked at */
	c->depth++;
	if (c->told)
		c->told(c->user, words, count, c->chain, stays(c, words));
	p = words->hole_count ? NULL
			      : ab_pack_seated(c->pack, words->text,
					       words->len);
	/* such a name is nothing else */
	use.name_head = p ? ab_head_bit(*words->text) : 0;
	if (AB_LIKELY(p) || look_up(c, &use, &p))
		ab_judge_program(c, p, &use);
	c->depth--;
	c->paths = outer;
	ab_arena_release(c->scratch, mark);
}
