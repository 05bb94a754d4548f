/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The front of the git check: is it git, which options come before the
 * subcommand, which subcommand is it. git(1) under OPTIONS. Also programs
 * that pass on to git: hub, gh, glab, jj.
 */
#include "config.h"

#include "guard/git_walk.h"

#include <string.h>

#include "base/attr.h"
#include "base/key.h"

enum program {
	PROGRAM_NONE,
	PROGRAM_GIT,	/* git, hub */
	PROGRAM_DASHED, /* git-status */
	PROGRAM_GH,
	PROGRAM_JJ,
	PROGRAM_RUNS,	/* gitk, scalar */
	PROGRAM_OTHER	/* tig, lazygit */
};

static const struct {
	const char *name;
	enum program program;
} programs[] = {
	{"git", PROGRAM_GIT},	   {"hub", PROGRAM_GIT},
	{"gh", PROGRAM_GH},	   {"glab", PROGRAM_GH},
	{"jj", PROGRAM_JJ},	   {"gitk", PROGRAM_RUNS},
	{"scalar", PROGRAM_RUNS},  {"git-cola", PROGRAM_OTHER},
	{"gitui", PROGRAM_OTHER},  {"tig", PROGRAM_OTHER},
	{"lazygit", PROGRAM_OTHER}, {"gitg", PROGRAM_OTHER},
	{"gitweb", PROGRAM_RUNS},  {"gitkraken", PROGRAM_OTHER},
	{"gittyup", PROGRAM_OTHER},
	/* git in python, by the same names */
	{"dulwich", PROGRAM_GIT},
};

/* What gh and glab do with the repository by running git. */
static const struct {
	const char *noun, *verb; /* verb NULL: any */
	enum ab_git_act act;
} passes[] = {
	{"repo", "sync", GIT_REMOTE},	   {"repo", "clone", GIT_REMOTE},
	{"repo", "fork", GIT_REMOTE},	   {"repo", "create", GIT_REMOTE},
	{"repo", "rename", GIT_REMOTE},	   {"repo", "delete", GIT_REMOTE},
	{"repo", "set-default", GIT_CONFIG}, {"pr", "checkout", GIT_TOPOLOGY},
	{"co", NULL, GIT_TOPOLOGY},	   {"pr", "create", GIT_REMOTE},
	{"pr", "new", GIT_REMOTE},	   {"pr", "merge", GIT_REMOTE},
	{"pr", "update-branch", GIT_REMOTE}, {"mr", "checkout", GIT_TOPOLOGY},
	{"mr", "create", GIT_REMOTE},	   {"mr", "merge", GIT_REMOTE},
	{"mr", "rebase", GIT_REMOTE},	   {"issue", "develop", GIT_BRANCH},
	{"gist", "clone", GIT_REMOTE},	   {"release", "create", GIT_REMOTE},
	{"auth", "setup-git", GIT_CONFIG_RUNS},
	{"auth", "git-credential", GIT_CREDENTIAL},
};

/* What gh and glab have of their own; another word is an alias or a program
   that somebody installed. */
static const char *const gh_nouns[] = {
	"a11y", "accessibility", "actions", "agent", "agent-task",
	"agent-tasks", "agents", "alias", "api", "at", "attestation", "auth",
	"browse", "cache", "changelog", "check-update", "ci", "cluster", "co",
	"codespace", "completion", "config", "copilot", "cs", "deploy-key",
	"duo", "environment", "exit-codes", "ext", "extension", "extensions",
	"formatting", "gist", "gpg-key", "help", "incident", "issue",
	"iteration", "job", "label", "licenses", "mcp", "merge-request",
	"milestone", "mintty", "mr", "opentofu", "org", "pipe", "pipeline",
	"pr", "preview", "project", "reference", "release", "repo", "rs",
	"ruleset", "run", "runner", "runner-controller", "sched", "schedule",
	"search", "secret", "securefile", "skd", "skill", "skills", "snippet",
	"ssh-key", "stack", "status", "terraform", "tf", "token", "user", "var",
	"variable", "version", "work-items", "workflow",
};

/* hub has these besides the commands of git: they change a remote. */
static const char *const hub_verbs[] = {
	"sync", "fork", "create", "delete", "pull-request", "pr", "release",
};

/* Options of git itself that change nothing. */
static const char *const inert_globals[] = {
	"-P", "--no-pager", "--no-optional-locks", "--no-replace-objects",
	"--literal-pathspecs", "--glob-pathspecs", "--noglob-pathspecs",
	"--icase-pathspecs", "--no-lazy-fetch", "--no-advice",
};
/* These print something and nothing else happens. */
static const char *const printing_globals[] = {
	"--exec-path", "--html-path", "--man-path", "--info-path",
	"--version", "-v",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct name {
	const char *text;
	size_t len;
	enum program program;
	bool is_odd; /* GIT, ./git, git.cmd: may be another program */
	bool is_hub;
};

/* Where only an administrator puts programs. */
static bool is_system_dir(const struct ab_word *w, size_t len)
{
	static const char *const dirs[] = {"/usr/bin", "/bin", "/usr/local/bin",
					   "/opt/homebrew/bin"};

	for (size_t i = 0; i < COUNT(dirs); i++)
		if (len == strlen(dirs[i]) &&
		    memcmp(w->text, dirs[i], len) == 0 &&
		    ab_git_unsure_from(w, 0) > w->len)
			return true;
	return false;
}

/* The program's name: what follows the last slash, all of it known. */
static bool base_name(const struct ab_word *w, struct name *n)
{
	size_t begin = w->len;

	while (begin > 0 && w->text[begin - 1] != '/')
		begin--;
	/* a hole behind the last slash: any name */
	if (ab_git_unread_from(w, begin) <= w->len ||
	    (!begin && ab_git_unread_from(w, 0) <= w->len))
		return false;
	n->text = w->text + begin;
	n->len = w->len - begin;
	n->is_odd = ab_git_is_guess(w) ||
		    (begin && !is_system_dir(w, begin - 1));
	if (n->len > 4 && n->text[n->len - 4] == '.' &&
	    (ab_git_is_fold(n->text + n->len - 3, 3, "exe") ||
	     ab_git_is_fold(n->text + n->len - 3, 3, "cmd") ||
	     ab_git_is_fold(n->text + n->len - 3, 3, "bat"))) {
		n->len -= 4;
		n->is_odd = true;
	}
	return n->len > 0;
}

/* Its two first letters, in any case, are those of a name of the table. */
static bool is_start(const char *text, size_t len)
{
#define LETTER(ch) (1u << ((ch) - 'a'))
	static const uint32_t seconds[26] = {
		['d' - 'a'] = LETTER('u'),
		['g' - 'a'] = LETTER('i') | LETTER('h') | LETTER('l'),
		['h' - 'a'] = LETTER('u'), ['j' - 'a'] = LETTER('j'),
		['l' - 'a'] = LETTER('a'), ['s' - 'a'] = LETTER('c'),
		['t' - 'a'] = LETTER('i'),
	};
#undef LETTER
	unsigned one, two;

	if (len < 2)
		return false;
	one = (unsigned char)(text[0] | 0x20) - (unsigned)'a';
	two = (unsigned char)(text[1] | 0x20) - (unsigned)'a';
	return one < 26 && two < 26 && (seconds[one] >> two & 1);
}

static bool name_program(const struct ab_word *w, struct name *n)
{
	bool is_folded;
	char first;

	n->program = PROGRAM_NONE;
	/* every command comes here; few begin like one of the table */
	if (!w->hole_count && w->len && *w->text != '/' && *w->text != '.' &&
	    !is_start(w->text, w->len) &&
	    ab_seek(w->text, w->len, '/') == w->len)
		return false;
	if (!base_name(w, n))
		return false;
	if (!is_start(n->text, n->len))
		return false;
	first = (char)(n->text[0] | 0x20);

	for (size_t i = 0; i < COUNT(programs); i++) {
		if (first != programs[i].name[0] ||
		    !ab_git_is_fold(n->text, n->len, programs[i].name))
			continue;
		n->program = programs[i].program;
		is_folded = memcmp(n->text, programs[i].name, n->len) != 0;
		n->is_odd |= is_folded;
		n->is_hub = n->program == PROGRAM_GIT &&
			    programs[i].name[0] == 'h';
		/* of the short names only git is git in capitals */
		return !is_folded || n->program == PROGRAM_GIT;
	}
	if (n->len > 4 && ab_git_is_fold(n->text, 4, "git-")) {
		n->program = PROGRAM_DASHED;
	}
	return n->program != PROGRAM_NONE;
}

bool ab_git_is_command(const struct ab_word *word)
{
	struct name n;

	return name_program(word, &n);
}

bool ab_git_is_script(const struct ab_word *word)
{
	struct name n;

	return name_program(word, &n) && n.program == PROGRAM_DASHED &&
	       ab_git_command_find(n.text + 4, n.len - 4);
}

static bool is_listed(const struct ab_word *w, const char *const *list,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ab_git_is(w, list[i]))
			return true;
	return false;
}

static bool starts(const struct ab_word *w, const char *text)
{
	size_t len = strlen(text);

	return w->len >= len && memcmp(w->text, text, len) == 0 &&
	       ab_git_unsure_from(w, 0) >= len;
}

static void judge_directory(struct ab_git_walk *walk, size_t word)
{
	const struct ab_word *w = &walk->words[word];

	if (ab_git_is(w, ""))
		return;
	if (ab_git_enter(walk, w).where != WHERE_INSIDE)
		ab_git_found_word(walk, GIT_DIRECTORY_OUT, word);
}

/* --git-dir and its like: only what the host registered. */
static void judge_repository(struct ab_git_walk *walk, size_t word,
			     size_t begin, bool is_git_dir)
{
	const struct ab_word *w = &walk->words[word];

	if (is_git_dir && walk->context->git_dir.text &&
	    ab_git_same_path(walk, w, begin, walk->context->git_dir))
		return;
	ab_git_found(walk, GIT_REPOSITORY, word, begin, w->len);
}

enum value_kind { DIRECTORY, KEY, KEY_ENV, GIT_DIR, OTHER_DIR, ASKED };

static void judge_global(struct ab_git_walk *walk, enum value_kind kind,
			 size_t word, size_t begin)
{
	switch (kind) {
	case DIRECTORY:
		judge_directory(walk, word);
		break;
	case KEY:
	case KEY_ENV:
		ab_git_judge_key(walk, word, begin, kind == KEY_ENV);
		break;
	case GIT_DIR:
	case OTHER_DIR:
		judge_repository(walk, word, begin, kind == GIT_DIR);
		break;
	case ASKED:
		ab_git_found_word(walk, GIT_GLOBAL, word);
		break;
	}
}

static const struct {
	const char *name;
	enum value_kind kind;
} valued[] = {
	{"-C", DIRECTORY},	  {"-c", KEY},
	{"--config-env", KEY_ENV}, {"--git-dir", GIT_DIR},
	{"--work-tree", OTHER_DIR}, {"--namespace", OTHER_DIR},
	{"--super-prefix", ASKED}, {"--attr-source", ASKED},
};

/* An option with a value: the index behind it, or 0. */
static size_t valued_global(struct ab_git_walk *walk, size_t word)
{
	const struct ab_word *w = &walk->words[word];

	for (size_t i = 0; i < COUNT(valued); i++) {
		const char *name = valued[i].name;
		size_t len = strlen(name);

		if (ab_git_is(w, name)) {
			if (word + 1 >= walk->count)
				return word + 1;
			if (ab_git_may_split(&walk->words[word + 1]))
				ab_git_found_word(walk, GIT_DYNAMIC, word + 1);
			judge_global(walk, valued[i].kind, word + 1, 0);
			return word + 2;
		}
		if (name[1] == '-' && w->len > len && w->text[len] == '=' &&
		    starts(w, name) && ab_git_unsure_from(w, 0) > len) {
			judge_global(walk, valued[i].kind, word, len + 1);
			return word + 1;
		}
	}
	/* glued: git takes -calias.x=y for an unknown option */
	if (starts(w, "-c") && w->len > 2) {
		ab_git_found_word(walk, GIT_GLOBAL, word);
		ab_git_judge_key(walk, word, 2, false);
		return word + 1;
	}
	return 0;
}

/*
 * Reads the options before the subcommand: the index of that, or the count
 * when there is none.
 */
static size_t globals(struct ab_git_walk *walk, size_t from)
{
	size_t i = from;

	while (i < walk->count) {
		const struct ab_word *w = &walk->words[i];
		size_t next;

		/* may be options, a command, or nothing at all */
		if (ab_git_is_guess(w))
			ab_git_found_word(walk, GIT_DYNAMIC, i);
		if (ab_git_may_be_option(w) || ab_git_may_split(w)) {
			ab_git_found_word(walk, GIT_DYNAMIC, i);
			if (w->len && !ab_git_may_be_option(w))
				return i;
			i++;
			continue;
		}
		if (!w->len || w->text[0] != '-')
			return i;
		if (is_listed(w, printing_globals, COUNT(printing_globals)) ||
		    ab_git_is(w, "--help") || ab_git_is(w, "-h") ||
		    starts(w, "--list-cmds="))
			return walk->count;
		next = valued_global(walk, i);
		if (!next && starts(w, "--exec-path="))
			ab_git_found_word(walk, GIT_EXEC_PATH, i);
		else if (!next && !is_listed(w, inert_globals,
					     COUNT(inert_globals)))
			ab_git_found_word(walk, GIT_GLOBAL, i);
		i = next ? next : i + 1;
	}
	return walk->count;
}

/* Every command the words before the hole could become is denied. */
static void judge_half_command(struct ab_git_walk *walk, size_t word)
{
	const struct ab_word *w = &walk->words[word];
	size_t unsure = w->hole_count ? w->holes[0].at : w->len;
	const struct ab_git_command *c;
	size_t count;
	enum ab_git_act act = GIT_OK;

	ab_git_found_word(walk, GIT_DYNAMIC, word);
	c = ab_git_commands(&count);
	for (size_t i = 0; unsure && i < count; i++) {
		if (strncmp(c[i].name, w->text, unsure) != 0)
			continue;
		if (ab_git_finding_of(c[i].act)->verdict != AB_GIT_DENY)
			return;
		act = c[i].act;
	}
	ab_git_found_word(walk, act, word);
}

/* One that somebody installed. Helpers are told apart by their names: those of
   gitcredentials(7) print secrets, those of gitremote-helpers(7) fetch and
   push. */
static enum ab_git_act installed_act(const char *name, size_t len)
{
	if (len > 11 && memcmp(name, "credential-", 11) == 0)
		return GIT_CREDENTIAL;
	if (len > 7 && memcmp(name, "remote-", 7) == 0)
		return GIT_REMOTE;
	return GIT_UNKNOWN_COMMAND;
}

static void judge_command(struct ab_git_walk *walk, size_t word,
			  const char *name, size_t len)
{
	const struct ab_git_command *c = ab_git_command_find(name, len);

	if (!c) {
		ab_git_found_word(walk, installed_act(name, len), word);
		return;
	}
	walk->command = c;
	walk->flags = c->preset;
	ab_git_start(walk, word);
	ab_git_walk_words(walk, word + 1);
}

static void judge_git(struct ab_git_walk *walk, bool is_hub)
{
	size_t at = globals(walk, 1);
	const struct ab_word *w;

	if (at >= walk->count)
		return;
	w = &walk->words[at];
	if (ab_git_is_guess(w))
		ab_git_found_word(walk, GIT_DYNAMIC, at);
	if (ab_git_unread_from(w, 0) <= w->len)
		judge_half_command(walk, at);
	else if (is_hub && is_listed(w, hub_verbs, COUNT(hub_verbs)))
		ab_git_found_word(walk, GIT_REMOTE, at);
	else
		judge_command(walk, at, w->text, w->len);
}

/* The next word that is no option; -R and its like take a value. */
static size_t next_noun(const struct ab_git_walk *walk, size_t from)
{
	size_t i = from;

	while (i < walk->count && walk->words[i].len &&
	       walk->words[i].text[0] == '-') {
		bool has_value = ab_git_is(&walk->words[i], "-R") ||
				 ab_git_is(&walk->words[i], "--repo") ||
				 ab_git_is(&walk->words[i], "--repository") ||
				 ab_git_is(&walk->words[i], "--hostname");

		i += has_value ? 2 : 1;
	}
	return i;
}

/* Is it the name, or could it become it? */
static bool may_be(const struct ab_git_walk *walk, size_t word,
		   const char *name, bool *is_sure)
{
	const struct ab_word *w;

	if (word >= walk->count)
		return false;
	w = &walk->words[word];
	if (ab_git_unread_from(w, 0) > w->len && !ab_git_is_guess(w))
		return ab_git_is(w, name);
	*is_sure = false;
	return true;
}

/* gh and glab do much that is not git's: only what runs git is judged. */
static void judge_gh(struct ab_git_walk *walk)
{
	static const char *const printing[] = {"--help", "-h", "--version",
					       "version"};
	size_t noun = next_noun(walk, 1);
	size_t verb = next_noun(walk, noun + 1);

	walk->result->verdict = AB_GIT_NONE;
	for (size_t i = 0; i < COUNT(passes); i++) {
		size_t at = passes[i].verb ? verb : noun;
		bool is_sure = true;

		if (!may_be(walk, noun, passes[i].noun, &is_sure) ||
		    (passes[i].verb &&
		     !may_be(walk, verb, passes[i].verb, &is_sure)))
			continue;
		ab_git_found_word(walk, is_sure ? passes[i].act : GIT_DYNAMIC,
				  at);
	}
	if (noun < walk->count && !walk->words[noun].hole_count &&
	    !is_listed(&walk->words[noun], gh_nouns, COUNT(gh_nouns)) &&
	    !(noun + 2 == walk->count &&
	      is_listed(&walk->words[noun + 1], printing, COUNT(printing))))
		ab_git_found_word(walk, GIT_UNKNOWN_COMMAND, noun);
}

static void judge_jj(struct ab_git_walk *walk)
{
	static const char *const remote[] = {"push", "fetch", "clone",
					     "remote"};
	static const char *const harmless[] = {"version", "help", "--version",
					       "--help", "-h"};
	size_t noun = next_noun(walk, 1);
	size_t verb = next_noun(walk, noun + 1);

	if (walk->count > 1 &&
	    is_listed(&walk->words[1], harmless, COUNT(harmless)))
		return;
	ab_git_found_word(walk, GIT_OTHER_TOOL, 0);
	if (noun >= walk->count || !ab_git_is(&walk->words[noun], "git") ||
	    verb >= walk->count)
		return;
	ab_git_found_word(walk,
			  is_listed(&walk->words[verb], remote, COUNT(remote))
				  ? GIT_REMOTE
				  : GIT_TOPOLOGY,
			  verb);
}

/* scripts/git-stats.sh: a program of the worktree's own, like any other, if
   git has no command of that name. */
static void judge_dashed(struct ab_git_walk *walk, const struct name *n)
{
	static const char *const printing[] = {"--help", "-h", "--version",
					       "-V"};
	const struct ab_word *w = walk->words;
	struct ab_git_place place;

	if (!ab_git_command_find(n->text + 4, n->len - 4)) {
		if (walk->count == 2 &&
		    is_listed(&w[1], printing, COUNT(printing))) {
			walk->result->verdict = AB_GIT_NONE;
			return;
		}
		place = ab_git_place_of(walk, w, 0);
		if (n->text > w->text && place.where == WHERE_INSIDE &&
		    !place.is_git_dir) {
			walk->result->verdict = AB_GIT_NONE;
			return;
		}
	}
	ab_git_found_word(walk, GIT_DASHED, 0);
	judge_command(walk, 0, n->text + 4, n->len - 4);
}

static void judge_program(struct ab_git_walk *walk, const struct name *n)
{
	switch (n->program) {
	case PROGRAM_NONE:
		break;
	case PROGRAM_GIT:
		judge_git(walk, n->is_hub);
		break;
	case PROGRAM_DASHED:
		judge_dashed(walk, n);
		break;
	case PROGRAM_GH:
		judge_gh(walk);
		break;
	case PROGRAM_JJ:
		judge_jj(walk);
		break;
	case PROGRAM_RUNS:
		ab_git_found_word(walk, GIT_RUNS, 0);
		break;
	case PROGRAM_OTHER:
		ab_git_found_word(walk, GIT_OTHER_TOOL, 0);
		break;
	}
}

/* No program gets a word with a NUL in it: what it gets is not known. */
static void judge_nul(struct ab_git_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++)
		if (walk->words[i].len &&
		    memchr(walk->words[i].text, '\0', walk->words[i].len))
			ab_git_found_word(walk, GIT_DYNAMIC, i);
}

void ab_git_check(const struct ab_word *words, size_t count,
		  const struct ab_git_context *context,
		  struct ab_git_result *result)
{
	AB_UNINITIALIZED char room[AB_GIT_PATH_MAX];
	struct name name = {0};
	struct ab_git_walk walk = {
		.words = words,
		.count = count,
		.context = context,
		.result = result,
		.cwd = context->cwd,
		.cwd_room = room,
		.first = AB_GIT_NO_WORD,
		.noted = AB_GIT_NO_WORD,
		.unsure = AB_GIT_NO_WORD,
	};

	*result = (struct ab_git_result){
		.verdict = AB_GIT_NONE,
		.word = AB_GIT_NOWHERE,
		.env = AB_GIT_NOWHERE,
	};
	if (!count || !name_program(&words[0], &name))
		return;
	result->verdict = AB_GIT_ALLOW;
	judge_program(&walk, &name);
	if (result->verdict == AB_GIT_NONE)
		return;
	if (name.is_odd)
		ab_git_found_word(&walk, GIT_DASHED, 0);
	ab_git_judge_env(&walk);
	judge_nul(&walk);
	/* what is refused already needs no look at where it is */
	if (result->verdict == AB_GIT_ALLOW && walk.command && !walk.is_help &&
	    ab_git_is_elsewhere(&walk))
		ab_git_found_word(&walk, GIT_DIRECTORY_OUT, 0);
}
