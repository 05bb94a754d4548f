/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The git check: an argv with the environment it would run under goes in, a
 * verdict comes out. The caller has read the shell line, or was given an argv.
 *
 * Pure: no heap, no kernel, no state; constant stack; linear in the bytes of
 * the words. Everything borrowed: the result points into static tables.
 *
 * What it cannot see: repository configuration, hooks and attributes that are
 * there already, what a symbolic link names, and what a program does that is
 * not git. Those are for the walls and for ab_git_environment().
 */
#ifndef AB_GUARD_GIT_H
#define AB_GUARD_GIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shell/shell.h"

/* The values are those of the public verdicts. */
enum ab_git_verdict {
	AB_GIT_NONE = 0, /* words[0] runs no git: not for this check */
	AB_GIT_ALLOW = 1,
	AB_GIT_ASK = 2,
	AB_GIT_DENY = 3
};

enum ab_git_profile {
	AB_GIT_STRICT = 0, /* what would be ASK is DENY */
	AB_GIT_DEFAULT,
	AB_GIT_RELAXED /* a few denials are ASK: cherry-pick, temp output */
};

enum ab_git_severity {
	AB_GIT_LOW = 1,
	AB_GIT_MEDIUM,
	AB_GIT_HIGH,
	AB_GIT_CRITICAL
};

/* Bytes, borrowed. text NULL: unknown. */
struct ab_git_text {
	const char *text;
	size_t len;
};

/* An assignment in force: `NAME=value git ...`, an earlier export, env(1). */
struct ab_git_assign {
	struct ab_git_text name;
	const struct ab_word *value; /* NULL: unknown value */
	bool is_unset;		     /* env -u NAME, unset NAME */
};

/*
 * Paths are absolute, as text; what they name is the caller's knowledge. A
 * zeroed context is the strictest: nothing is inside.
 */
struct ab_git_context {
	enum ab_git_profile profile;
	bool has_tty;		     /* a person can answer `add -p` */
	struct ab_git_text cwd;	     /* NULL: unknown, so no path is inside */
	bool has_ifs; /* words may end elsewhere than at blanks */
	bool *wants_cwd;	     /* set where it is needed; or NULL */
	struct ab_git_text worktree; /* root of the assigned worktree */
	struct ab_git_text home;     /* what `~` is; NULL: outside */
	struct ab_git_text git_dir;  /* a --git-dir the host registered */
	const struct ab_git_text *temp_dirs; /* may be read, not written */
	size_t temp_count;
	const struct ab_git_assign *env;
	size_t env_count;
	const struct ab_word *out; /* the file that it prints into; or NULL */
	/* word->text[begin..] names a file of which git shows or keeps what
	 * is in it; or NULL */
	void (*read)(void *user, const struct ab_word *word, size_t begin);
	/* ... a file that git writes; or NULL */
	void (*write)(void *user, const struct ab_word *word, size_t begin);
	void *user;
};

struct ab_git_result {
	enum ab_git_verdict verdict;
	const char *rule;	 /* "git.remote"; NULL with NONE and ALLOW */
	enum ab_git_severity severity;
	const char *reason;	 /* a sentence without a full stop */
	const char *alternative; /* what to do instead, or NULL */
	/* What decided: words[word] when word < count; else env[env] when
	 * env < env_count. Bytes begin..end-1 of that word's text. */
	uint32_t word, env;
	uint32_t begin, end;
	bool is_content; /* it prints what is in files */
};

#define AB_GIT_NOWHERE UINT32_MAX

/*
 * Judges the words of one command. words[0] may be git, a path to it,
 * git-push, /usr/lib/git-core/git-push, a hole followed by one of these after
 * a slash, git.exe, or a program that passes on to git (hub, gh, jj, scalar,
 * gitk...). Anything else is NONE, also a words[0] that is only a hole: what
 * `$(which git)` is must be known by who expands it. No words: NONE.
 *
 * Wrappers (env, sudo, xargs, timeout...) must be gone. For xargs append the
 * arguments as one hole of AB_HOLE_FIELDS.
 *
 * The same words give the same verdict however they were written: quoting is
 * no input. The worst finding decides; of equals the first.
 */
void ab_git_check(const struct ab_word *words, size_t count,
		  const struct ab_git_context *context,
		  struct ab_git_result *result);

/*
 * What the command prints, as a note for the stream that it writes to, if that
 * is all that goes there; NULL: who knows. Each is one of the notes below, of
 * which temp is for who makes a new file among the temporary ones, and prints
 * its path.
 */
enum ab_git_note {
	AB_GIT_NAMES, /* of objects, which begin with no dash */
	AB_GIT_LINES, /* that begin with one */
	AB_GIT_REFS,  /* of branches and tags, which hold no blank */
	AB_GIT_REF_LINES, /* that begin with one */
	AB_GIT_FILES, /* of the worktree, seen from where it runs */
	AB_GIT_STATUS, /* lines of status --short */
	AB_GIT_ROOT,  /* of the worktree */
	AB_GIT_TEMP,
	AB_GIT_NOTES
};
extern const char ab_git_notes[AB_GIT_NOTES];
/* No dash and no blank anywhere: as harmless as a name. */
bool ab_git_is_plain(const struct ab_word *word);
const char *ab_git_prints(const struct ab_word *words, size_t count);

static inline bool ab_git_is_note(const void *note)
{
	return (uintptr_t)note - (uintptr_t)ab_git_notes < AB_GIT_NOTES;
}

/* All that was written to the stream is what its note says. */
static inline bool ab_git_is_all(const struct ab_stream *s)
{
	return s->writes <= (s->noted ? s->noted : 1);
}

/* Where the path begins in HEAD:path, :/path and path; SIZE_MAX: it has none,
   or one that is left out. */
size_t ab_git_path_in(const struct ab_word *word);

/* A file that is a command of git by its name: .../git-filter-branch. */
bool ab_git_is_script(const struct ab_word *word);

/* Is words[0] a program that ab_git_check() judges? */
bool ab_git_is_command(const struct ab_word *word);

/*
 * Judges one assignment as such: `export GIT_SSH_COMMAND=...` on its own.
 * NONE when git takes no notice of the name.
 */
void ab_git_check_assign(const struct ab_git_assign *assign,
			 const struct ab_git_context *context,
			 struct ab_git_result *result);

/*
 * The hardened environment for a host that must run git itself: "NAME=value"
 * number i, NULL at the end; and the same configuration as arguments for
 * between `git` and the subcommand. Either list suffices together with
 * nothing; see guard(3) for what it cannot switch off.
 */
const char *ab_git_environment(size_t i);
const char *ab_git_arguments(size_t i);

#endif
