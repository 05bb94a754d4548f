/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* git inside a shell line: it has a table of its own. */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "base/attr.h"
#include "guard/command.h"
#include "guard/found.h"
#include "guard/git.h"

static struct ab_git_text git_text(const struct ab_known_path *p)
{
	return (struct ab_git_text){ .text = p->text, .len = p->len };
}

static bool is_temp_dir(const struct ab_word *cwd)
{
	size_t n = sizeof(AB_TEMP_DIR) - 1;

	return cwd->len >= n && !memcmp(cwd->text, AB_TEMP_DIR, n);
}

/* cd /srv/$x: nobody knows where, but above it is known, and not the agent's
   own. */
static AB_COLD struct ab_git_text cwd_above(struct ab_check *c)
{
	const uint64_t own = AB_CLASS(INSIDE) | AB_CLASS(SUBDIR) |
			     AB_CLASS(WORKTREE) | AB_CLASS(TEMP);
	const struct ab_word *w = ab_shell_get(c->run, AB_CWD_WORD,
					       sizeof(AB_CWD_WORD) - 1, NULL);
	struct ab_word dir;
	const char *end;

	if (!w || !w->hole_count || !w->len || *w->text != '/')
		return (struct ab_git_text){ 0 };
	end = w->holes[0].at ? memrchr(w->text, '/', w->holes[0].at) : NULL;
	if (!end || end == w->text)
		return (struct ab_git_text){ 0 };
	dir = (struct ab_word){ .text = w->text,
				.len = (uint32_t)(end - w->text) };
	if (ab_path_classes(c, &dir) & own)
		return (struct ab_git_text){ 0 };
	return (struct ab_git_text){ .text = dir.text, .len = dir.len };
}

static bool git_context(struct ab_check *c, struct ab_git_context *g)
{
	struct ab_git_text *temps;

	*g = (struct ab_git_context){
		.profile = c->place->is_git_strict ? AB_GIT_STRICT
			   : c->place->is_git_relaxed ? AB_GIT_RELAXED
						      : AB_GIT_DEFAULT,
		.worktree = git_text(&c->place->root),
		.home = git_text(&c->place->home),
	};
	/* whose repository that would be is not known */
	if (c->cwd && !is_temp_dir(c->cwd))
		g->cwd = (struct ab_git_text){ .text = c->cwd->text,
					       .len = c->cwd->len };
	else if (AB_UNLIKELY(!c->cwd && c->run))
		g->cwd = cwd_above(c);
	g->wants_cwd = c->place->wants_cwd;
	if (!c->place->temp_count)
		return true;
	temps = ab_check_alloc(c, c->place->temp_count * sizeof(*temps));
	if (!temps)
		return false;
	for (uint32_t i = 0; i < c->place->temp_count; i++)
		temps[i] = git_text(&c->place->temps[i]);
	g->temp_dirs = temps;
	g->temp_count = c->place->temp_count;
	return true;
}

static void git_report(struct ab_check *c, const struct ab_git_result *r,
		       const struct ab_word *words, uint32_t count,
		       struct ab_span span)
{
	struct ab_shell_found found = {
		.rule = r->rule,
		.reason = r->reason,
		.alternative = r->alternative,
		.number = UINT16_MAX,
		.verdict = (uint8_t)r->verdict,
		.severity = (uint8_t)r->severity,
		.span = span,
		.words = words,
		.count = count,
		.chain = c->chain,
	};

	if (!(ab_check_is_part(c) && found.verdict != AB_V_DENY) &&
	    !ab_defined_defer(c, &found))
		c->report(c->user, &found);
}

/* What the shell has for all that it starts. The others are judged where they
   are set; these are harmless for most programs, or can be set unseen. */
static const struct {
	const char *name;
	bool is_inherited; /* it is there from the start */
} variables[] = {
	{ "HOME", true },	      { "XDG_CONFIG_HOME", true },
	{ "GIT_SSH_COMMAND", false }, { "GIT_SSH", false },
	{ "GIT_PAGER", false },	      { "GIT_EDITOR", false },
	{ "GIT_SEQUENCE_EDITOR", false }, { "GIT_EXTERNAL_DIFF", false },
	{ "GIT_ASKPASS", false },     { "GIT_PROXY_COMMAND", false },
	{ "GIT_EXEC_PATH", false },   { "GIT_DIR", false },
	{ "GIT_WORK_TREE", false },   { "GIT_INDEX_FILE", false },
	{ "GIT_CONFIG_GLOBAL", false }, { "GIT_CONFIG_SYSTEM", false },
	{ "GIT_CONFIG_COUNT", false }, { "GIT_CONFIG_PARAMETERS", false },
	{ "GIT_TEMPLATE_DIR", false },
};

/* How they begin. */
#define LETTERS (ab_shell_letter('H') | ab_shell_letter('X') | \
		 ab_shell_letter('G'))

static void add_variable(struct ab_check *c, struct ab_git_assign *env,
			 uint32_t *n, size_t i)
{
	size_t len = strlen(variables[i].name);
	bool is_exported;
	const struct ab_word *value = ab_shell_get(c->run, variables[i].name,
						   len, &is_exported);

	if (value && (is_exported || variables[i].is_inherited ||
		      c->is_exporting))
		env[(*n)++] = (struct ab_git_assign){
			.name = { .text = variables[i].name, .len = len },
			.value = value };
}

/* The others are judged where env(1) is. */
static bool is_for_git(const char *name, uint32_t len)
{
	static const char *const names[] = { "HOME", "XDG_CONFIG_HOME",
					     "PAGER", "EDITOR", "VISUAL",
					     "LESS" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return true;
	}
	return false;
}

/* env HOME=/x git: the words in front of it. */
static bool add_given(struct ab_check *c, const struct ab_given *given,
		      struct ab_git_assign *env, uint32_t *n)
{
	for (uint32_t i = 0; i < given->count; i++) {
		const struct ab_word *w = &given->words[i];
		const char *eq = w->len ? memchr(w->text, '=', w->len) : NULL;
		struct ab_word *value;
		uint32_t len;

		if (!eq || *w->text == '-')
			continue;
		len = (uint32_t)(eq - w->text);
		if (!is_for_git(w->text, len))
			continue;
		value = ab_check_alloc(c, sizeof(*value));
		if (!value || !ab_word_slice(c, w, len + 1, w->len, value))
			return false;
		env[(*n)++] = (struct ab_git_assign){
			.name = { .text = w->text, .len = len },
			.value = value };
	}
	return true;
}

/* All that the command is given, by whatever is in front of it. */
static AB_COLD bool add_env(struct ab_check *c, struct ab_git_context *g)
{
	uint32_t room = c->assign_count + AB_ARRAY_LEN(variables), n = 0;
	struct ab_git_assign *env;

	for (const struct ab_given *v = c->given; v; v = v->up)
		room += v->count;
	env = ab_check_alloc(c, room * sizeof(*env));
	if (!env)
		return false;
	for (; n < c->assign_count; n++) {
		const struct ab_shell_assign *a = &c->assigns[n];

		env[n] = (struct ab_git_assign){
			.name = { .text = a->name, .len = a->name_len },
			.value = a->value_count == 1 ? a->values : NULL,
		};
	}
	for (const struct ab_given *v = c->given; v; v = v->up) {
		if (!add_given(c, v, env, &n))
			return false;
	}
	for (size_t i = 0; c->run && i < AB_ARRAY_LEN(variables); i++)
		add_variable(c, env, &n, i);
	g->env = env;
	g->env_count = n;
	return true;
}

static bool have_holes(const struct ab_word *words, uint32_t count)
{
	uint32_t holes = 0;

	for (uint32_t i = 1; i < count; i++)
		holes |= words[i].hole_count;
	return holes;
}

/* '.env*': git itself finds what a star stands for, also for a dot in front. */
static bool be_pattern(struct ab_check *c, struct ab_word *path)
{
	struct ab_hole *hole;

	if (path->hole_count || !path->len ||
	    (!memchr(path->text, '*', path->len) &&
	     !memchr(path->text, '?', path->len) &&
	     !memchr(path->text, '[', path->len)))
		return true;
	hole = ab_check_alloc(c, sizeof(*hole));
	if (!hole)
		return false;
	*hole = (struct ab_hole){ .len = path->len, .kind = AB_HOLE_PATTERN };
	path->holes = hole;
	path->hole_count = 1;
	return true;
}

/* It may be a file of secrets, as with cat. */
static void on_read(void *user, const struct ab_word *word, size_t begin)
{
	struct ab_check *c = user;
	bool was_reading = c->is_reading;
	struct ab_word path;

	if (!c->use || !ab_word_slice(c, word, (uint32_t)begin, UINT32_MAX,
				      &path) || !be_pattern(c, &path))
		return;
	c->is_reading = true;
	ab_check_path(c, c->use, AB_ROLE_SHOW, &path);
	c->is_reading = was_reading;
}

/* --output=.claude/settings.json: as with a redirection there. */
static void on_write(void *user, const struct ab_word *word, size_t begin)
{
	struct ab_check *c = user;
	struct ab_word path;

	if (c->use && ab_word_slice(c, word, (uint32_t)begin, UINT32_MAX,
				    &path))
		ab_check_path(c, c->use, AB_ROLE_WRITE, &path);
}

/* base64 -d | xargs git: whatever command somebody did not want to be seen. */
static void check_decoded(struct ab_check *c, const struct ab_word *words,
			  uint32_t at)
{
	uint32_t taint = ab_word_taint(&words[at]) &
			 (AB_TAINT_DECODE | AB_TAINT_REMOTE);

	for (uint32_t i = 1; i < at && taint; i++) {
		if (!words[i].len || *words[i].text != '-')
			return;
	}
	if (taint)
		ab_check_flow(c, c->use, AB_SINK_SHELL, taint, &words[at]);
}

/* The word of the command, where each -C before it goes to. */
static uint32_t enter(struct ab_check *c, const struct ab_word *words,
		      uint32_t count)
{
	uint32_t i = 1;

	for (; i + 1 < count && words[i].len && *words[i].text == '-'; i++) {
		if (ab_word_equals(&words[i], "-C"))
			c->cwd = ab_cwd_after(c, &words[++i]);
		else if (ab_word_equals(&words[i], "-c"))
			i++;
	}
	return i;
}

/* True: it is denied. */
static bool judge_git(struct ab_check *c, const struct ab_word *words,
		      uint32_t count)
{
	const struct ab_word *cwd = c->cwd;
	struct ab_git_context g;
	struct ab_git_result r = { 0 };

	if (!git_context(c, &g))
		return false;
	if (AB_UNLIKELY(have_holes(words, count)))
		g.has_ifs = c->run && ab_shell_get(c->run, "IFS", 3, NULL);
	if (AB_UNLIKELY(c->command && c->command->redir_count))
		g.out = ab_stdout_file(c->command);
	g.read = on_read;
	g.write = on_write;
	g.user = c;
	if (AB_UNLIKELY(c->assign_count || c->given ||
			(c->run && ab_shell_has_letters(c->run, LETTERS))) &&
	    !add_env(c, &g))
		return false;
	enter(c, words, count);
	ab_git_check(words, count, &g, &r);
	c->cwd = cwd;
	/* git log -p | curl -d @-: the work, as an archive of it */
	if (r.is_content)
		c->out_taint |= AB_TAINT_DATA;
	if (r.verdict == AB_GIT_NONE || r.verdict == AB_GIT_ALLOW ||
	    (r.verdict == AB_GIT_ASK && c->is_excused))
		return false;
	/* git config -l | nc: as of what a rule of the pack saw */
	if (!strncmp(r.rule, "cred.", 5))
		c->out_taint |= AB_TAINT_CRED;
	struct ab_span span = { words[0].span.begin,
				words[count - 1].span.end };

	/* xargs: what it reads may stand anywhere */
	if (span.end < span.begin)
		span = words[0].span;
	if (r.word < count && words[r.word].hole_count)
		check_decoded(c, words, r.word);
	if (r.word < count)
		span = ab_word_span(&words[r.word], r.begin,
				    r.end - r.begin);
	else if (r.env < c->assign_count)
		span = c->assigns[r.env].span;
	git_report(c, &r, words, count, span);
	return r.verdict == AB_GIT_DENY;
}

/* It runs in the worktree, and in no other repository that somebody named. */
static bool is_at_home(struct ab_check *c)
{
	const uint64_t own = AB_CLASS(ANY) | AB_CLASS(INSIDE) |
			     AB_CLASS(SUBDIR) | AB_CLASS(WORKTREE);
	struct ab_word here = { .text = ".", .len = 1 };

	return c->cwd && c->place->root.text && !c->assign_count &&
	       !c->given && !(ab_path_classes(c, &here) & ~own);
}

static void on_secret(void *user, const struct ab_shell_found *found)
{
	bool *has = user;

	(void)found;
	*has = true;
}

bool ab_git_names_secret(struct ab_check *c, const struct ab_word *w, size_t at)
{
	ab_guard_report *report = c->report;
	uint32_t taint = c->out_taint;
	void *user = c->user;
	bool has = false, was_probe = c->is_probe;

	c->report = on_secret;
	c->user = &has;
	c->is_probe = true;
	on_read(c, w, at);
	c->report = report;
	c->user = user;
	c->is_probe = was_probe;
	c->out_taint = taint;
	return has;
}

/* git status --ignored, check-ignore .*, clean -ndX: they tell of what a
   .gitignore names. */
static bool tells_ignored(const struct ab_word *words, uint32_t count)
{
	bool is_status = ab_word_equals(&words[1], "status");
	bool is_clean = ab_word_equals(&words[1], "clean");

	if (!is_status && !is_clean && !ab_word_equals(&words[1],
						       "check-ignore"))
		return false;
	for (uint32_t i = 2; i < count; i++) {
		const struct ab_word *w = &words[i];
		bool is_option = w->len && *w->text == '-';

		if (is_status ? w->len > 8 && !memcmp(w->text, "--ignored", 9) :
		    is_clean ? is_option && w->text[w->len > 1] != '-' &&
				       (memchr(w->text, 'x', w->len) ||
					memchr(w->text, 'X', w->len)) :
			       w->hole_count &&
				       w->holes->kind == AB_HOLE_PATTERN)
			return true;
	}
	return false;
}

/* git ls-files -o: with all that a .gitignore names, where secrets are. */
static bool lists_ignored(const struct ab_word *words, uint32_t count)
{
	bool is_other = false, is_ignored = false, is_narrow = false;

	for (uint32_t i = 2; i < count; i++) {
		const struct ab_word *w = &words[i];
		bool is_brief = w->len > 1 && *w->text == '-' &&
				w->text[1] != '-';

		is_other |= is_brief ? memchr(w->text, 'o', w->len) != NULL
				     : ab_word_equals(w, "--others");
		is_ignored |= is_brief ? memchr(w->text, 'i', w->len) != NULL
				       : ab_word_equals(w, "--ignored");
		is_narrow |= is_brief ? w->text[1] == 'x' || w->text[1] == 'X'
				      : !w->len || *w->text != '-' ||
						(w->len > 6 &&
						 !memcmp(w->text, "--excl", 6));
		/* git ls-files -o src: of that only */
		if (!w->len || *w->text != '-')
			return false;
	}
	return ab_word_equals(&words[1], "ls-files") && is_other &&
	       (is_ignored || !is_narrow);
}

/* The names are kept then, for those who read the stream; of an object the
   word that named it, HEAD:.env. */
static void note_secrets(struct ab_check *c, struct ab_stream *out,
			 const struct ab_word *words, uint32_t count)
{
	bool is_object = out->note == &ab_git_notes[AB_GIT_NAMES];
	bool is_files = out->note == &ab_git_notes[AB_GIT_FILES];
	AB_UNINITIALIZED struct ab_word files[AB_MAX_STARTS];
	struct ab_names *names;
	uint32_t n = 0;

	for (uint32_t i = 2; i < count; i++) {
		size_t at = ab_git_path_in(&words[i]);

		if (at >= words[i].len || (is_object && !at) ||
		    !ab_git_names_secret(c, &words[i], at))
			continue;
		if (ab_found_is_full(c, words, n))
			break;
		files[n] = words[i];
		if (is_object ||
		    (ab_word_slice(c, &words[i], (uint32_t)at, UINT32_MAX,
				   &files[n]) && be_pattern(c, &files[n])))
			n++;
	}
	if (!n && (lists_ignored(words, count) || tells_ignored(words, count)))
		files[n++] = (struct ab_word){ .text = "./.env", .len = 6,
					       .span = words[0].span };
	names = n ? ab_names_keep(c, out, files, n) : NULL;
	if (!names)
		return;
	names->is_read = true;
	names->inside = is_files ? out : NULL;
}

/* Into a file: `git ls-files '*.env' >l`. */
static void note_list(struct ab_check *c, const struct ab_word *words,
		      uint32_t count)
{
	struct ab_stream file = { .kind = AB_STREAM_REDIRECT };
	const char *note;

	if (count < 3)
		return;
	note = ab_git_prints(words, count);
	if (note != &ab_git_notes[AB_GIT_FILES] &&
	    note != &ab_git_notes[AB_GIT_NAMES] &&
	    !ab_word_equals(&words[1], "ls-files") &&
	    !ab_word_equals(&words[1], "ls-tree") &&
	    !tells_ignored(words, count))
		return;
	note_secrets(c, &file, words, count);
	c->out_list = ab_list_made(c, &file);
}

/* $(git rev-parse HEAD), with nothing else in it, and `git tag | head -1`. */
static void note_names(struct ab_check *c, const struct ab_word *words,
		       uint32_t count)
{
	/* git ls-files -s .env: the hashes of what is called so */
	static const char *const listing[] = { "ls-files", "ls-tree" };
	const struct ab_shell_command *m = c->command;
	struct ab_stream *out = m ? m->place.out : NULL;
	const char *note;

	if (AB_LIKELY(!m || (!out && !m->redir_count)) || c->argv != words ||
	    c->is_probe || c->is_again)
		return;
	if (!ab_has_stdout(m)) {
		note_list(c, words, count);
		return;
	}
	if (!out)
		return;
	if (out->kind != AB_STREAM_COMMAND && out->kind != AB_STREAM_PIPE &&
	    out->kind != AB_STREAM_PROC_IN)
		return;
	if (AB_UNLIKELY(count > 2 && tells_ignored(words, count))) {
		note_secrets(c, out, words, count);
		return;
	}
	note = ab_git_prints(words, count);
	if (!note) {
		if (count > 2 && (ab_word_equals(&words[1], listing[0]) ||
				  ab_word_equals(&words[1], listing[1])))
			note_secrets(c, out, words, count);
		return;
	}
	/* elsewhere they could end in the middle */
	if (note != &ab_git_notes[AB_GIT_NAMES] &&
	    ab_shell_get(c->run, "IFS", 3, NULL))
		return;
	if (note >= &ab_git_notes[AB_GIT_FILES] && !is_at_home(c))
		return;
	c->has_root |= note == &ab_git_notes[AB_GIT_ROOT];
	/* `git merge-base A B || git rev-parse B`: one of several like it, each
	   of which counts once, however often it is told */
	if (!out->note) {
		out->noted = 1;
	} else if (c->noted != out || out->note != note) {
		out->note = NULL;
		out->noted = 0;
		return;
	} else if (m->span.begin > c->noted_at) {
		out->noted++;
	}
	out->note = note;
	c->noted = out;
	c->noted_at = m->span.begin;
	if (note == &ab_git_notes[AB_GIT_FILES] ||
	    note == &ab_git_notes[AB_GIT_NAMES])
		note_secrets(c, out, words, count);
}

/* `git describe || echo v0`, `git rev-parse --show-toplevel || pwd`. */
void ab_git_note_else(struct ab_check *c, const struct ab_shell_command *m)
{
	struct ab_stream *out = m->place.out;
	bool is_like;

	if (c->noted != out || c->is_again || m->span.begin <= c->noted_at)
		return;
	if (out->note == &ab_git_notes[AB_GIT_ROOT])
		is_like = m->argc == 1 && m->builtin == AB_BUILTIN_PWD &&
			  is_at_home(c);
	else
		is_like = m->argc == 2 && m->builtin == AB_BUILTIN_ECHO &&
			  out->note != &ab_git_notes[AB_GIT_STATUS] &&
			  ab_git_is_plain(&m->argv[1]);
	if (!is_like || m->redir_count || m->callee)
		return;
	out->noted++;
	c->noted_at = m->span.begin;
}

/* "$(git rev-parse --show-toplevel)/x", of a command that is_at_home(). */
static bool is_rooted(const struct ab_word *w, const struct ab_known_path *root)
{
	const struct ab_hole *h = w->holes;

	if (!w->hole_count || h->at || h->len || h->name || h->is_cut ||
	    !h->origin || h->origin->note != &ab_git_notes[AB_GIT_ROOT] ||
	    !ab_git_is_all(h->origin) || (w->len && *w->text != '/'))
		return false;
	for (uint32_t i = 0; h->kind == AB_HOLE_FIELDS && i < root->len; i++) {
		if (memchr(" \t\n*?[\\", root->text[i], 7))
			return false;
	}
	return h->kind == AB_HOLE_BYTES || h->kind == AB_HOLE_FIELDS;
}

static bool put_root(struct ab_check *c, const struct ab_word *w,
		     struct ab_word *out)
{
	const struct ab_known_path *root = &c->place->root;
	uint32_t n = w->hole_count - 1;
	char *text = ab_check_alloc(c, root->len + w->len + 1);
	struct ab_hole *holes = ab_check_alloc(c, (n + 1) * sizeof(*holes));

	if (!text || !holes)
		return false;
	memcpy(text, root->text, root->len);
	memcpy(text + root->len, w->text, w->len);
	text[root->len + w->len] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		holes[i] = w->holes[i + 1];
		holes[i].at += root->len;
	}
	*out = *w;
	out->text = text;
	out->len = root->len + w->len;
	out->holes = holes;
	out->hole_count = n;
	out->map = NULL;
	out->map_count = 0;
	return true;
}

const struct ab_word *ab_git_root_words(struct ab_check *c,
					const struct ab_word *words,
					uint32_t count)
{
	struct ab_word *all = NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (AB_LIKELY(!is_rooted(&words[i], &c->place->root)))
			continue;
		if (!all) {
			all = ab_check_alloc(c, count * sizeof(*all));
			if (!all)
				return words;
			memcpy(all, words, count * sizeof(*all));
		}
		if (!put_root(c, &words[i], &all[i]))
			return words;
	}
	return all ? all : words;
}

/* The same words, where names that find or ls told are noted as git's are. */
static const struct ab_word *note_files(struct ab_check *c,
					const struct ab_word *words,
					uint32_t count)
{
	struct ab_stream *told = NULL;
	struct ab_word *all = NULL;

	for (uint32_t i = 1; i < count; i++) {
		const struct ab_word *w = &words[i];
		struct ab_hole *hole;

		if (w->hole_count != 1 ||
		    !ab_names_are_inside(w->holes->origin))
			continue;
		if (!all) {
			all = ab_check_alloc(c, count * sizeof(*all));
			told = ab_check_alloc(c, sizeof(*told));
			if (!all || !told)
				return words;
			memcpy(all, words, count * sizeof(*all));
			*told = *w->holes->origin;
			told->note = &ab_git_notes[AB_GIT_FILES];
		}
		hole = ab_check_alloc(c, sizeof(*hole));
		if (!hole)
			return words;
		*hole = *w->holes;
		hole->origin = told;
		all[i].holes = hole;
	}
	return all ? all : words;
}

/* git mv a .vscode/tasks.json: as with mv, where -C goes to. */
static void judge_move(struct ab_check *c, const struct ab_word *words,
		       uint32_t count)
{
	const struct ab_word *cwd = c->cwd;
	uint32_t i = enter(c, words, count);

	c->is_for_git = true;
	if (i + 2 < count && ab_word_equals(&words[i], "mv"))
		ab_check_words(c, words + i, count - i, 0, NULL, false);
	c->is_for_git = false;
	c->cwd = cwd;
}

/* git apply x.patch: what it puts into files that may be run. */
static void read_patches(struct ab_check *c, const struct ab_word *words,
			 uint32_t count)
{
	const struct ab_word *content = c->use ? c->use->in_text : NULL;

	if (content)
		ab_edit_patch(c, NULL, content);
	for (uint32_t i = 2; c->has_files && i < count; i++) {
		content = ab_file_content(c, &words[i]);
		if (content && content->len)
			ab_edit_patch(c, NULL, content);
	}
}

static bool is_patching(const struct ab_word *words, uint32_t count)
{
	return count > 1 && (ab_word_equals(&words[1], "apply") ||
			     ab_word_equals(&words[1], "am"));
}

/* /usr/bin/g?t push: what the pattern is taken for. */
static const struct ab_word *spell_out(struct ab_check *c,
				       const struct ab_word *words,
				       uint32_t count)
{
	struct ab_word *all;

	if (!c->use || !c->use->program || !c->use->program->is_git)
		return words;
	all = ab_check_alloc(c, count * sizeof(*all));
	if (!all)
		return words;
	memcpy(all, words, count * sizeof(*all));
	all[0] = (struct ab_word){ .text = "git", .len = 3,
				   .span = words[0].span };
	return all;
}

/* git hash-object --stdin-paths <<< FILE, git cat-file --batch <<< HEAD:FILE */
static bool reads_list(const struct ab_word *w)
{
	return (w->len >= 9 && !memcmp(w->text, "--stdin-p", 9)) ||
	       (w->len >= 7 && !memcmp(w->text, "--batch", 7) &&
		!(w->len >= 10 && !memcmp(w->text, "--batch-ch", 10)));
}

/* git rev-parse HEAD:.env | git cat-file --batch */
static void read_noted(struct ab_check *c)
{
	const struct ab_shell_command *m = c->command;
	const struct ab_names *names =
		m && ab_has_stdin(m) ? ab_names_noted(m->place.in) : NULL;

	for (uint32_t i = 0; names && i < names->count; i++) {
		size_t at = ab_git_path_in(&names->words[i]);

		if (at < names->words[i].len)
			on_read(c, &names->words[i], at);
	}
}

static void read_listed(struct ab_check *c, const struct ab_word *words,
			uint32_t count)
{
	const struct ab_word *in = c->use ? c->use->in_text : NULL;
	uint32_t i = 1, from = 0;

	while (i < count && !reads_list(&words[i]))
		i++;
	if (i < count && !in)
		read_noted(c);
	for (uint32_t at = 0; in && i < count && at <= in->len; at++) {
		struct ab_word path;

		/* the last of them is where a path can begin */
		if (at < in->len && !memchr("\n:", in->text[at], 2))
			continue;
		if (at > from && (at == in->len || in->text[at] == '\n') &&
		    ab_word_slice(c, in, from, at - from, &path))
			on_read(c, &path, 0);
		from = at + 1;
	}
}

void ab_check_git(struct ab_check *c, const struct ab_word *words,
		  uint32_t count)
{
	if (AB_UNLIKELY(words[0].hole_count) && !ab_git_is_command(&words[0]))
		words = spell_out(c, words, count);
	if (ab_git_is_command(&words[0])) {
		if (AB_UNLIKELY(c->use && c->use->has_stdin))
			read_listed(c, words, count);
		bool is_denied = judge_git(c,
					   AB_UNLIKELY(c->has_names)
						   ? note_files(c, words, count)
						   : words,
					   count);

		note_names(c, words, count);
		if (AB_UNLIKELY(is_patching(words, count)))
			read_patches(c, words, count);
		if (!is_denied)
			judge_move(c, words, count);
	}
}

void ab_check_git_assign(struct ab_check *c, const char *name, uint32_t len,
			 const struct ab_word *value)
{
	struct ab_git_context g;
	struct ab_git_result r = { 0 };
	struct ab_git_assign a = { .name = { .text = name, .len = len },
				   .value = value };

	if (!git_context(c, &g))
		return;
	ab_git_check_assign(&a, &g, &r);
	if (r.verdict == AB_GIT_ASK || r.verdict == AB_GIT_DENY)
		git_report(c, &r, NULL, 0,
			   value ? value->span : (struct ab_span){ 0 });
}
