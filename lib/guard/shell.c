/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The visitor of the shell check: what stands around a command (streams, the
 * working directory, functions) is made ready here, redirs.c reads the
 * redirections and command.c judges the words; dirs.c follows `cd`, shopts.c
 * the options of the shell. See shell.h.
 */
#include "config.h"

#include "guard/shell.h"

#include <string.h>

#include "base/alloc.h"
#include "guard/check.h"
#include "guard/command.h"
#include "guard/files.h"
#include "guard/git.h"
#include "guard/path.h"
#include "guard/prints.h"
#include "guard/decision.h"

#define CWD AB_SHELL_CWD
#define SCRATCH_BYTES (192u << 10)

struct visit {
	struct ab_check check;
	struct ab_arena scratch;
	void *scratch_begin;
	struct ab_word first_cwd;
	/* an argv that is judged in place of the text's one command */
	const struct ab_word *argv;
	size_t argc;
	bool has_input; /* an exec gave the shell another stdin */
	const struct variable *cwd; /* of CWD; NULL: the run has none */
	bool is_lost; /* ... of a loop: more of them than are known */
	bool is_split; /* what is judged is in one of several directories, of
			  which each is known */
	const struct ab_chain *left; /* a script that is read no more */
};

size_t ab_shell_check_room(size_t n)
{
	return AB_SHELL_ARENA(n) + SCRATCH_BYTES + 64;
}

/* --- state -------------------------------------------------------------- */

/* After `[ c ] && cd web`: in that, or in the first one. NULL: one that nobody
   knows is among them. */
static AB_COLD const struct ab_word *one_of_several(const struct visit *v,
						    struct ab_shell_run *run)
{
	const struct ab_word *w, *first = NULL;

	for (uint32_t i = 0; !v->is_lost; i++) {
		w = ab_shell_get_one(run, CWD, sizeof(CWD) - 1, i);
		if (!w)
			return first;
		if (!w->len || w->hole_count || i == AB_SHELL_ALTERNATIVES - 1)
			return NULL;
		first = first ? first : w;
	}
	return NULL;
}

static inline void prepare(struct visit *v, struct ab_shell_run *run,
			   const struct ab_shell_place_of *place)
{
	struct ab_check *c = &v->check;

	v->scratch.low = v->scratch_begin;
	c->run = run;
	c->flags = place->flags;
	c->chain = place->tag;
	c->use = NULL;
	c->depth = 0;
	c->out_taint = 0;
	c->own_in = c->out_list = NULL;
	c->in_list = NULL;
	c->in_is_file = c->in_is_loose = c->is_on_script = false;
	c->assigns = NULL;
	c->assign_count = 0;
	for (const struct ab_chain *k = c->chain; k; k = k->up)
		c->depth++;
	c->cwd = v->cwd ? ab_shell_value(run, v->cwd) : NULL;
	v->is_split = false;
	if (!c->cwd) {
		c->cwd = v->first_cwd.len ? &v->first_cwd : NULL;
	} else if (AB_UNLIKELY(c->cwd->hole_count || !c->cwd->len)) {
		c->cwd = one_of_several(v, run);
		v->is_split = c->cwd != NULL;
	}
	c->first_cwd = c->cwd;
	if (AB_UNLIKELY(c->stayed != NULL))
		ab_stayed_prepare(c);
	c->argc = 0;
	c->paths = NULL;
}

/* --- commands ----------------------------------------------------------- */

static bool is_fork_bomb(const struct ab_shell_command *m)
{
	uint32_t flags = m->place.flags;

	/* f() { f | f & }; or f() { g | g & }; g() { f | f & } */
	if (AB_UNLIKELY(m->place.function) && m->argc &&
	    (m->calls_back ||
	     ab_word_equals(&m->argv[0], m->place.function)) &&
	    (flags & AB_SHELL_BACKGROUND || m->place.pipe_count > 1))
		return true;
	return flags & AB_SHELL_FORKING;
}

static void check_assigns(struct ab_check *c, const struct ab_shell_command *m)
{
	static const struct ab_word unknown = { .text = "" };

	if (AB_LIKELY(!m->assign_count))
		return;
	for (uint32_t i = 0; i < m->assign_count; i++) {
		const struct ab_shell_assign *a = &m->assigns[i];
		const struct ab_word *value =
			a->value_count ? &a->values[0] : &unknown;

		ab_check_env(c, a->name, a->name_len, value);
		ab_note_variable(c, a->name, a->name_len, value);
	}
}

#define LETTER(ch) (1u << ((ch) & 31)) /* in either case */

/* The word may be one of those that ab_note_word() knows, by its length and
   its first two letters: most are not. */
static inline bool is_notable(const struct ab_word *w)
{
	/* how long a word is nobody foresees: no branch for that */
	const char *s = w->len < sizeof("dotglob") - 1 ? "       " : w->text;

	s += *s == '-' ? 2 : 0;
	switch (*s) {
	case 'b':
	case 'B':
	case 'c':
	case 'C':
	case 'd':
	case 'D':
	case 'g':
	case 'G':
	case 'l':
	case 'S':
		return LETTER(s[1]) & (LETTER('a') | LETTER('d') | LETTER('h') |
				       LETTER('l') | LETTER('o') | LETTER('_'));
	case 'n':
	case 'N':
		return LETTER(s[1]) & (LETTER('o') | LETTER('u'));
	case '_':
		return true;
	default:
		return false;
	}
}

/* What ab_is_shopt() is of, beside zsh's setopt. */
#define AB_SHOPTS                                                       \
	(AB_BUILTIN(SHOPT) | AB_BUILTIN(COMMAND) | AB_BUILTIN(BUILTIN))

/* What a pattern takes from now on: shopt -s dotglob, bash -O dotglob, zsh's
   setopt globdots. */
static void note_options(struct ab_check *c, enum ab_builtin builtin,
			 const struct ab_word *argv, uint32_t argc)
{
	bool may_be = ((UINT64_C(1) << builtin) & AB_SHOPTS) ||
		      (argc && argv->len == sizeof("setopt") - 1);
	bool is_unsure = AB_UNLIKELY(may_be) && ab_is_shopt(argv, argc);

	if (AB_UNLIKELY(is_unsure) && ab_drops_options(c, argv, argc))
		return;
	for (uint32_t i = 0; is_unsure && i < argc; i++) {
		if (argv[i].hole_count)
			c->has_dots = c->has_fold = c->has_cdable = true;
	}
	for (uint32_t i = 0; i < argc; i++) {
		if (is_notable(&argv[i]))
			ab_note_word(c, &argv[i]);
	}
}

/* After `[ c ] && cd /etc`: what is done there, and what where it was before,
   each of which may have been. */
struct dirs {
	struct ab_shell_readings readings;
	const struct ab_word *was; /* where it is judged first */
	const struct ab_word *before; /* and last: where it was once; or NULL */
	uint32_t next;
	bool is_last;
};

/* False: it is in one directory, or in one that nobody knows. */
static inline bool first_dir(struct visit *v, struct dirs *d)
{
	struct ab_check *c = &v->check;
	const struct ab_word *before =
		AB_UNLIKELY(c->flags & AB_SHELL_UNMOVED) ? ab_dir_unmoved(c)
							 : NULL;

	bool is_one = AB_LIKELY(!v->cwd || (c->cwd && !v->is_split)) ||
		      !ab_shell_get_one(c->run, CWD, sizeof(CWD) - 1, 0);

	c->is_one_pass = is_one && !before && AB_LIKELY(!c->links);
	if (c->is_one_pass)
		return false;
	*d = (struct dirs){ .was = c->cwd, .next = v->is_split,
			    .is_last = is_one, .before = before };
	c->met_link = c->has_link_choice = false;
	c->link_choice = 0;
	ab_links_settle(c);
	ab_shell_reading_begin(c->run, &d->readings);
	return true;
}

static AB_COLD bool next_dir(struct visit *v, struct dirs *d)
{
	struct ab_check *c = &v->check;
	const struct ab_word *cwd;

	ab_shell_reading_end(c->run, &d->readings);
	c->own_paths.known = 0;
	if (AB_UNLIKELY(c->met_link &&
			(!c->is_linked || c->has_link_choice))) {
		/* the same, where links of the text lead */
		c->link_choice += c->is_linked;
		if (c->link_choice == AB_MAX_LINK_CHOICES)
			ab_links_give_up(c);
		c->is_linked = c->is_again = true;
		c->has_link_choice = false;
		ab_shell_reading_begin(c->run, &d->readings);
		return true;
	}
	c->is_linked = c->met_link = c->has_link_choice = false;
	c->link_choice = 0;
	while (!d->is_last && d->next <= AB_SHELL_ALTERNATIVES) {
		cwd = ab_shell_get_one(c->run, CWD, sizeof(CWD) - 1,
				       d->next++);
		d->is_last = !cwd;
		c->cwd = cwd ? cwd : &v->first_cwd;
		if (c->cwd->hole_count || !c->cwd->len)
			continue;
		c->first_cwd = c->cwd;
		c->is_again = true;
		ab_shell_reading_begin(c->run, &d->readings);
		return true;
	}
	if (AB_UNLIKELY(d->before != NULL)) {
		c->cwd = c->first_cwd = d->before;
		d->before = NULL;
		c->is_again = true;
		ab_shell_reading_begin(c->run, &d->readings);
		return true;
	}
	ab_shell_reading_join(c->run, &d->readings);
	ab_shell_pushed_by(c->run, d->readings.count);
	c->cwd = c->first_cwd = d->was;
	c->is_again = false;
	return false;
}

/* `exec <f` where the shell reads its script from its stdin: it goes on with
   the file. */
static void leave_script(struct visit *v, const struct ab_shell_command *m,
			 const struct ab_input *in)
{
	struct ab_check *c = &v->check;

	if (AB_LIKELY(!c->chain || !c->chain->is_stdin) || c->is_on_script ||
	    m->place.in != c->chain->in)
		return;
	if (m->place.depth == c->chain->depth &&
	    !(m->place.flags & AB_SHELL_MAYBE))
		v->left = c->chain;
	c->is_stdin_text = true;
	if (in->text)
		ab_check_script(c, in->text, true, NULL, 0, NULL);
	c->is_stdin_text = false;
	ab_check_flow(c, NULL, AB_SINK_SHELL, in->taint, NULL);
}

static bool has_left(const struct visit *v)
{
	const struct ab_chain *k = v->check.chain;

	while (v->left && k && k != v->left)
		k = k->up;
	return v->left && k;
}

/* It is in another directory now, or ends: traps that may run there. */
static void run_traps(struct visit *v, enum ab_builtin builtin)
{
	struct ab_check *c = &v->check;
	const struct ab_word *cwd;

	if (AB_LIKELY(!c->traps))
		return;
	if (builtin == AB_BUILTIN_EXIT) {
		ab_traps_run(c, true);
		return;
	}
	cwd = ab_shell_get(c->run, CWD, sizeof(CWD) - 1, NULL);
	if (cwd && cwd->len && !cwd->hole_count &&
	    ab_path_classes(c, cwd) != AB_NEAR)
		ab_traps_run(c, false);
}

/* The text is over, or a subshell. */
static void on_finish(void *user, struct ab_shell_run *run,
		      const struct ab_shell_place_of *place)
{
	struct visit *v = user;

	if (AB_LIKELY(!v->check.traps))
		return;
	prepare(v, run, place);
	ab_traps_end(&v->check, place->depth);
}

/* 2>&1: what it says of its words is there, too. */
static uint32_t unquoted_by(const struct ab_shell_command *m)
{
	for (uint32_t i = 0; i < m->redir_count; i++) {
		if (m->redirs[i].kind == AB_REDIR_DUP_OUT)
			return AB_TAINT_QUOTED;
	}
	return 0;
}

#define AB_CHDIRS                                                       \
	(AB_BUILTIN(CD) | AB_BUILTIN(PUSHD) | AB_BUILTIN(POPD))
#define AB_FRONTS (AB_BUILTIN(COMMAND) | AB_BUILTIN(BUILTIN))

/* What a command does to the shell: what stands behind `command` does, and a
   function in its place does what is in its body. */
struct act {
	enum ab_builtin builtin;
	const struct ab_word *argv;
	uint32_t argc;
};

static inline struct act act_of(const struct ab_shell_command *m,
				enum ab_builtin builtin,
				const struct ab_word *argv, uint32_t argc)
{
	struct act a = { builtin, argv, argc };
	uint32_t skip;

	if (AB_UNLIKELY(m->callee != NULL) && !m->callee->is_perhaps) {
		a.builtin = AB_BUILTIN_NONE;
	} else if (AB_UNLIKELY((UINT64_C(1) << builtin) & AB_FRONTS)) {
		skip = ab_find_builtin(argv, argc);
		a.argv += skip;
		a.argc -= skip;
		a.builtin = a.argc ? ab_shell_builtin(a.argv)
				   : AB_BUILTIN_NONE;
	}
	return a;
}

static void act_dir(struct ab_check *c, const struct ab_shell_command *m,
		    const struct act *a)
{
	struct ab_shell_readings readings = { 0 };

	if (AB_LIKELY(!m->callee)) {
		ab_dir_change(c, a->builtin, a->argv, a->argc);
		return;
	}
	/* that, or what the function does */
	ab_shell_reading_begin(c->run, &readings);
	ab_dir_change(c, a->builtin, a->argv, a->argc);
	ab_shell_reading_end(c->run, &readings);
	ab_shell_reading_begin(c->run, &readings);
	ab_shell_reading_end(c->run, &readings);
	ab_shell_reading_join(c->run, &readings);
}

/* What goes on into a stream, where that is known. */
static void tell_output(struct ab_check *c, const struct ab_word *argv,
			uint32_t argc, const struct ab_input *in)
{
	struct ab_word text, *stays;

	if (AB_LIKELY(!in->text && !c->has_files) ||
	    !ab_prints(c, argv, argc, in->text, &text))
		return;
	stays = ab_check_alloc(c, sizeof(*stays));
	if (!stays)
		return;
	*stays = text;
	ab_shell_tell(c->run, stays);
}

/* `cd -`, or by way of CDPATH: it says where it is then. */
static bool says_where(const struct ab_check *c, const struct act *act)
{
	for (uint32_t i = 1; i < act->argc; i++) {
		if (ab_word_equals(&act->argv[i], "-"))
			return true;
	}
	return ab_shell_get(c->run, "CDPATH", 6, NULL) != NULL;
}

/* `trap -p`, `local`: what there is; `rm -v`: what is done. */
static bool says_all(const struct act *act, char letter)
{
	for (uint32_t i = 1; i < act->argc; i++) {
		const struct ab_word *w = &act->argv[i];

		if (w->len > 1 && *w->text == '-' &&
		    memchr(w->text, letter, w->len))
			return true;
	}
	return act->argc < 2;
}

/* echo x >&2 */
static bool is_to_stderr(const struct ab_shell_command *m)
{
	bool is = false;

	for (uint32_t i = 0; i < m->redir_count; i++) {
		const struct ab_shell_redir *r = &m->redirs[i];

		if (r->fd == 2 || r->fd < 0)
			return false;
		if (r->fd == 1)
			is = r->kind == AB_REDIR_DUP_OUT &&
			     ab_word_equals(&r->target, "2");
	}
	return is;
}

/* Nothing comes from it into what its command writes to. */
static bool is_mute(const struct ab_check *c, const struct ab_shell_command *m,
		    const struct act *act)
{
	static const uint64_t mute =
		AB_BUILTIN(BREAK) | AB_BUILTIN(BRACKET) | AB_BUILTIN(COLON) |
		AB_BUILTIN(CONTINUE) | AB_BUILTIN(EXIT) | AB_BUILTIN(FALSE) |
		AB_BUILTIN(LET) | AB_BUILTIN(READ) | AB_BUILTIN(RETURN) |
		AB_BUILTIN(SHIFT) | AB_BUILTIN(SLEEP) | AB_BUILTIN(TEST) |
		AB_BUILTIN(TRUE) | AB_BUILTIN(UNSET) | AB_BUILTIN(WAIT) |
		/* its text writes for itself, and one that nobody knows is
		   asked about */
		AB_BUILTIN(EVAL);
	static const char *const names[] = { "mkdir", "umask", "rm", "touch" };

	if (!m->argc || (m->callee && !m->callee->is_perhaps) ||
	    (UINT64_C(1) << act->builtin) & mute || is_to_stderr(m))
		return true;
	if (act->builtin == AB_BUILTIN_CD)
		return !says_where(c, act);
	if (act->builtin == AB_BUILTIN_TRAP || act->builtin == AB_BUILTIN_LOCAL)
		return !says_all(act, 'p');
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_word_equals(&m->argv[0], names[i]))
			return !says_all(act, 'v');
	}
	return m->output && !m->output->len && !m->output->hole_count;
}

/* What it writes is beside what others wrote there. */
static void tell_taint(struct ab_stream *out, uint32_t taint, bool is_mute)
{
	if (is_mute)
		out->taint |= taint & ~AB_STREAM_GOOD;
	else if (out->is_told)
		out->taint = ab_taint_join(out->taint, taint);
	else
		out->taint |= taint;
	out->is_told |= !is_mute;
}

/* What the command does in the directory at hand. */
static void judge_command(struct visit *v, const struct ab_shell_command *m,
			  const struct ab_word *argv, uint32_t argc,
			  const struct act *act, struct ab_input *in)
{
	struct ab_check *c = &v->check;
	const struct ab_shell_redir *out = NULL;

	if (AB_UNLIKELY(m->redir_count)) {
		out = ab_check_command_redirs(c, m, argv, argc, in);
		if ((in->text && c->has_files) || c->in_list)
			ab_tell_input(c, m, in);
	}
	if (AB_LIKELY(!m->callee) || m->callee->is_perhaps)
		ab_check_spelled(c, m, argv, argc, in);
	if (c->has_names)
		ab_check_found(c, argv, argc);
	if (AB_UNLIKELY(m->redir_count && m->place.in && m->place.in->note) &&
	    act->argc == 1 && ab_word_equals(act->argv, "exec"))
		m->place.in->note = NULL; /* what is read may be another */
	/* exec >f: what comes after it is written there */
	if (out && act->argc == 1 && ab_word_equals(act->argv, "exec"))
		ab_file_pipe(c, &out->target);
	else if (out && m->argc)
		ab_save_command(c, m, out, in);
	else if (!out && m->place.out)
		tell_taint(m->place.out, c->out_taint & ~unquoted_by(m),
			   is_mute(c, m, act));
	if (AB_UNLIKELY(out && m->place.out) &&
	    ab_redirs_may_reach(c->run, m->redirs, m->redir_count))
		tell_taint(m->place.out, c->out_taint, false);
	if (AB_UNLIKELY(m->place.out && m->argc)) {
		if (!out && !(m->redir_count &&
			      ab_is_file_input(m->redirs, m->redir_count) &&
			      ab_file_is_loose(c, &m->redirs[0].target)))
			tell_output(c, argv, argc, in);
		if (AB_UNLIKELY(m->place.out == c->noted))
			ab_git_note_else(c, m);
	}
	if (((UINT64_C(1) << act->builtin) & AB_CHDIRS) ||
	    (act->argc > 1 && ab_word_equals(act->argv, "dirs")))
		act_dir(c, m, act);
	if (AB_UNLIKELY(m->redir_count) && act->argc == 1 &&
	    ab_word_equals(act->argv, "exec") && in->has) {
		/* the shell's own stdin from now on */
		ab_fd_save(c, 0, in->taint, in->text);
		v->has_input = true;
		leave_script(v, m, in);
	}
}

#define AB_EXPORTERS                                                    \
	(AB_BUILTIN(SET) | AB_BUILTIN(EXPORT) | AB_BUILTIN(DECLARE) |   \
	 AB_BUILTIN(TYPESET) | AB_BUILTIN(READONLY) |                   \
	 AB_BUILTIN(BUILTIN) | AB_BUILTIN(COMMAND) |                    \
	 AB_BUILTIN(SHOPT) | AB_BUILTIN(LOCAL))

/* What a builtin leaves behind that was judged. */
static void after_builtin(struct visit *v, const struct act *act,
			  enum ab_builtin first, const struct ab_word *argv,
			  uint32_t argc)
{
	struct ab_check *c = &v->check;
	enum ab_builtin builtin = act->builtin;

	if ((UINT64_C(1) << builtin) & AB_CHDIRS) {
		v->cwd = ab_shell_variable(c->run, CWD, sizeof(CWD) - 1);
		v->is_lost |= (c->flags & AB_SHELL_LOOP) != 0;
		run_traps(v, builtin);
	} else if (builtin == AB_BUILTIN_EXIT) {
		run_traps(v, builtin);
	} else if (builtin == AB_BUILTIN_SET) {
		ab_note_set(c, act->argv, act->argc);
		ab_note_exported(c, act->argv, act->argc);
	}
	if ((UINT64_C(1) << first) & AB_EXPORTERS)
		ab_defined_export(c, argv, argc);
}

static enum ab_shell_answer on_command(void *user, struct ab_shell_run *run,
				       const struct ab_shell_command *m)
{
	struct visit *v = user;
	struct ab_check *c = &v->check;
	struct ab_input in = { 0 };
	AB_UNINITIALIZED struct dirs dirs;
	const struct ab_word *argv = m->argv;
	uint32_t argc = m->argc;
	enum ab_builtin builtin = m->builtin;
	bool is_loop = m->place.flags & AB_SHELL_LOOP;
	uint64_t known = is_loop ? ab_known_beside(c) : 0;

	prepare(v, run, &m->place);
	if (AB_UNLIKELY(c->dump != NULL))
		ab_dump_next(c, m);
	c->command = m;
	if (AB_UNLIKELY(v->argv)) {
		argv = v->argv;
		argc = (uint32_t)v->argc;
		builtin = ab_shell_builtin(argv);
		v->argv = NULL;
	} else if (is_fork_bomb(m)) {
		ab_check_known(c, AB_KNOWN_FORKBOMB, AB_V_DENY, NULL);
	}
	if (m->place.in) {
		in.has = true;
		in.taint = m->place.in->taint;
		in.text = m->place.in->value;
	} else if (AB_UNLIKELY(v->has_input)) {
		const struct ab_word *have = ab_fd_content(c, 0);

		in.has = have != NULL;
		in.taint = have ? ab_fd_taint(c, 0, have) : 0;
		in.text = have && have->len ? have : NULL;
	}
	if (AB_UNLIKELY(c->has_root))
		argv = ab_git_root_words(c, argv, argc);
	c->argv = c->own_paths.words = argv;
	c->argc = c->own_paths.count = argc;
	c->own_paths.known = 0;
	c->paths = &c->own_paths;
	c->is_on_script = AB_UNLIKELY(c->chain && c->chain->is_stdin) &&
			  ab_is_on_script(c, m) && !has_left(v);
	check_assigns(c, m);
	note_options(c, builtin, argv, argc);
	c->assigns = m->assigns;
	c->assign_count = m->assign_count;
	struct act act = act_of(m, builtin, argv, argc);
	bool is_split = first_dir(v, &dirs);

	do {
		struct ab_input mine = in;

		judge_command(v, m, argv, argc, &act, &mine);
	} while (AB_UNLIKELY(is_split) && next_dir(v, &dirs));
	if (AB_UNLIKELY(c->has_cwd && !v->cwd))
		v->cwd = ab_shell_variable(run, CWD, sizeof(CWD) - 1);
	if ((UINT64_C(1) << builtin) &
	    (AB_CHDIRS | AB_BUILTIN(EXIT) | AB_EXPORTERS))
		after_builtin(v, &act, builtin, argv, argc);
	if (AB_UNLIKELY(c->traps))
		ab_traps_wake(c);
	if (is_loop && known != ab_known_beside(c))
		ab_shell_learn(run);
	c->command = NULL;
	return c->is_broken ? AB_SHELL_STOP : AB_SHELL_GO;
}

/* select reads what is answered. */
static void check_menu(struct visit *v, struct ab_shell_run *run,
		       const struct ab_shell_scope *s)
{
	struct ab_check *c = &v->check;

	prepare(v, run, &s->place);
	if (c->chain && c->chain->is_stdin && s->in == c->chain->in &&
	    !has_left(v))
		ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, NULL);
}

static enum ab_shell_answer on_begin(void *user, struct ab_shell_run *run,
				     const struct ab_shell_scope *s)
{
	struct visit *v = user;
	struct ab_check *c = &v->check;
	struct ab_input in = { 0 };
	const struct ab_shell_redir *out;
	AB_UNINITIALIZED struct dirs dirs;
	bool is_split;

	if (AB_UNLIKELY(c->dump != NULL))
		ab_dump_tell(c);
	if (s->kind == AB_SCOPE_DEFINITION && s->function) {
		prepare(v, run, &s->place);
		ab_defined_shadow(c, s->function);
	}
	if (s->kind == AB_SCOPE_DEFINITION || s->kind == AB_SCOPE_CALL)
		ab_defined_begin(c, s);
	if (AB_UNLIKELY(s->is_menu))
		check_menu(v, run, s);
	if (!s->redir_count)
		return AB_SHELL_GO;
	prepare(v, run, &s->place);
	is_split = first_dir(v, &dirs);
	do {
		ab_check_redirs(c, s->redirs, s->redir_count, false, &in, &out);
	} while (AB_UNLIKELY(is_split) && next_dir(v, &dirs));
	if (in.has && s->in) {
		ab_list_open(c, s->in, in.taint);
		if (in.text && !is_split && c->is_one_pass &&
		    ab_is_file_input(s->redirs, s->redir_count) &&
		    !ab_file_is_loose(c, &s->redirs[0].target))
			s->in->value = in.text;
		ab_pass_note(s);
	}
	return c->is_broken ? AB_SHELL_STOP : AB_SHELL_GO;
}

static void end_definition(struct visit *v, struct ab_shell_run *run,
			   const struct ab_shell_scope *s)
{
	struct ab_check *c = &v->check;
	struct ab_shell_command none = { .place = s->place, .span = s->span };

	ab_defined_end(c, s);
	if (AB_LIKELY(!s->function ||
		      (!c->traps && !ab_is_trap_name(s->function))))
		return;
	prepare(v, run, &s->place);
	c->command = &none;
	ab_traps_define(c, s->function);
	c->command = NULL;
}

static enum ab_shell_answer on_end(void *user, struct ab_shell_run *run,
				   const struct ab_shell_scope *s)
{
	struct visit *v = user;
	AB_UNINITIALIZED struct dirs dirs;
	bool is_split;

	if (s->redir_count) {
		prepare(v, run, &s->place);
		is_split = first_dir(v, &dirs);
		do {
			ab_save_output(&v->check, s);
		} while (AB_UNLIKELY(is_split) && next_dir(v, &dirs));
	}
	if (s->kind == AB_SCOPE_DEFINITION)
		end_definition(v, run, s);
	if (AB_UNLIKELY(v->check.traps) && s->kind == AB_SCOPE_CALL)
		ab_traps_leave(&v->check);
	return v->check.is_broken ? AB_SHELL_STOP : AB_SHELL_GO;
}

/* --- the check ---------------------------------------------------------- */

static void check_result(struct visit *v, const struct ab_shell_result *r)
{
	struct ab_check *c = &v->check;
	struct ab_word w = { .text = "", .span = r->span };

	switch (r->status) {
	case AB_SHELL_OK:
	case AB_SHELL_STOPPED:
		if (!r->lacks_end)
			break;
		/* fall through */
	case AB_SHELL_UNTERMINATED:
	case AB_SHELL_SYNTAX:
		ab_check_known(c, AB_KNOWN_UNTERMINATED, AB_V_ASK, &w);
		break;
	case AB_SHELL_LIMIT:
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, &w);
		break;
	}
}

static bool begin_visit(struct visit *v, const struct ab_shell_request *q)
{
	void *memory = ab_arena_high(q->arena, SCRATCH_BYTES);

	ab_clear(v, sizeof(*v));
	v->check.pack = q->pack;
	v->check.place = q->place;
	v->check.is_strict = q->place->is_strict;
	v->check.report = q->report;
	v->check.told = q->command;
	v->check.user = q->user;
	v->check.high = q->arena;
	if (!memory)
		return false;
	ab_arena_init(&v->scratch, memory, SCRATCH_BYTES);
	v->scratch_begin = v->scratch.low;
	v->check.scratch = &v->scratch;
	if (q->place->cwd.text)
		v->first_cwd = (struct ab_word){ .text = q->place->cwd.text,
						 .len = q->place->cwd.len };
	return true;
}

/* With limits it is the second reading of a text, whose errors in syntax say
 * nothing: what they are in may be for bash. */
static bool run_visit(struct visit *v, const struct ab_shell_request *q,
		      const char *text, size_t n,
		      const struct ab_shell_limits *limits,
		      struct ab_shell_result *result)
{
	/* these have neither redirections nor a name */
	static const struct ab_shell_visitor visitor = {
		.command = on_command,
		.begin = on_begin,
		.end = on_end,
		.finish = on_finish,
		.named = ab_secret_named,
		.untold = 1u << AB_SCOPE_PIPELINE | 1u << AB_SCOPE_STAGE |
			  1u << AB_SCOPE_BRANCH | 1u << AB_SCOPE_COPROC |
			  1u << AB_SCOPE_SUBSTITUTION,
		.kept = AB_MAX_SHOWN_COMMANDS,
	};
	struct ab_shell_context context = {
		.home = q->place->home.text, .home_len = q->place->home.len,
		.cwd = q->place->cwd.text, .cwd_len = q->place->cwd.len,
	};
	const struct ab_shell_tree *tree =
		ab_shell_parse(q->arena, text, n, limits, result);

	v->cwd = NULL;
	v->check.traps = NULL;
	v->check.links = v->check.near_links = NULL;
	v->check.has_lost_link = false;
	v->check.has_stray_link = false;
	v->check.has_edits = false;
	v->check.edited_patterns = NULL;
	v->check.deferred = NULL;
	v->check.dump = NULL;
	v->check.make_bytes = 0;
	v->check.makefiles = v->check.make_count = 0;
	v->check.is_make_told = false;
	v->check.is_make_given = false;
	memset(v->check.makes, 0, sizeof(v->check.makes));
	v->check.defining = NULL;
	v->check.deferred_count = v->check.defining_depth = 0;
	if (tree)
		ab_shell_run(q->arena, tree, &context, &visitor, v, result);
	ab_dump_tell(&v->check);
	ab_defined_tell(&v->check);
	if (!v->check.is_broken &&
	    (!limits || result->status == AB_SHELL_LIMIT))
		check_result(v, result);
	if (v->check.is_broken)
		ab_check_known(&v->check, AB_KNOWN_LIMIT, AB_V_DENY, NULL);
	return !v->check.is_broken;
}

static void report_denied(void *user, const struct ab_shell_found *found)
{
	const struct ab_shell_request *q = user;

	if (found->verdict == AB_V_DENY)
		q->report(q->user, found);
}

/*
 * The text once more, as dash reads it, which is `sh` in many places. It runs
 * each line before it reads the next: of one that does not end, nothing. What
 * is an error to us may be none to it, and a limit is one for both.
 * What would be asked about counts only as it was read first: most such texts
 * are for bash, and make little sense here.
 */
static bool visit_as_dash(struct visit *v, const struct ab_shell_request *q,
			  const char *text, size_t n)
{
	const struct ab_shell_limits limits = { .posix = true };
	struct ab_shell_result result;

	if (!ab_shell_parse(q->arena, text, n, &limits, &result))
		return false;
	if (result.status == AB_SHELL_UNTERMINATED) {
		n = result.span.begin;
		while (n && text[n - 1] != '\n')
			n--;
	}
	v->check.report = report_denied;
	v->check.user = (void *)(uintptr_t)q;
	v->check.told = NULL;
	return !n || run_visit(v, q, text, n, &limits, &result);
}

bool ab_shell_check_text(const struct ab_shell_request *q, const char *text,
			 size_t n)
{
	AB_UNINITIALIZED struct visit v;
	struct ab_shell_result result;

	if (!begin_visit(&v, q))
		return false;
	ab_check_bytes(&v.check, text, n);
	/* what would end the text at its first NUL sees another one */
	size_t cut = strnlen(text, n);

	if (cut < n && !run_visit(&v, q, text, cut, NULL, &result))
		return false;
	if (!run_visit(&v, q, text, n, NULL, &result))
		return false;
	return !result.differs || visit_as_dash(&v, q, text, n);
}

bool ab_shell_check_argv(const struct ab_shell_request *q,
			 const struct ab_word *words, size_t count)
{
	static const struct ab_word none = { .text = "" };
	struct ab_shell_result result;
	struct visit v;

	if (!begin_visit(&v, q))
		return false;
	for (size_t i = 0; i < count; i++) {
		/* execve(2) would end the argument there */
		if (memchr(words[i].text, 0, words[i].len))
			ab_check_known(&v.check, AB_KNOWN_CONTROL, AB_V_ASK,
				       &words[i]);
	}
	/* a command to stand for it: texts can be pushed from its place */
	v.argv = count ? words : &none;
	v.argc = count ? count : 1;
	if (!run_visit(&v, q, ":", 1, NULL, &result))
		return false;
	return !result.differs || visit_as_dash(&v, q, ":", 1);
}
