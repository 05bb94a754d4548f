/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a shell would do with a text: ab_shell_parse() makes a tree of any
 * bytes, ab_shell_run() walks it in the order of execution with everything
 * resolved that the text alone decides, and tells a visitor each command.
 *
 * Nothing is executed, opened or looked up. No heap, no recursion, constant C
 * stack; time is linear in the text and in what the limits allow to be
 * visited twice. Grammar: POSIX sh and bash 5.2 as bash reads it, with extglob
 * on. Where another shell by the name of sh would find other commands in the
 * text, the result says so, and the text can be read a second time as dash
 * does.
 *
 * Aliases count from the line after their definition on. What a command may
 * do that lies outside of the text is not seen: files, the environment, what
 * is installed, what a shell makes of it that is neither bash nor dash.
 *
 * What it refuses to do: guess. A value that the text does not decide is a
 * hole (shell/word.h). Where two ways meet (if, case, loops, `&&`) a variable
 * that differs is a hole; when it is one of two values, a command of it that
 * is no builtin is told twice, with each (of three such: eight times), and what
 * it does to the visitor's own variables is perhaps. A text
 * beyond the limits ends with AB_SHELL_LIMIT, which a guard must not allow.
 *
 * Everything handed out lives in the arena. What a visitor is given lives
 * until its callback returns, unless said otherwise.
 */
#ifndef AB_SHELL_SHELL_H
#define AB_SHELL_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "shell/word.h"

enum ab_shell_status {
	AB_SHELL_OK = 0,
	AB_SHELL_UNTERMINATED, /* the text ends inside something */
	AB_SHELL_SYNTAX,
	AB_SHELL_LIMIT,	  /* a limit was met; something was not looked at */
	AB_SHELL_STOPPED  /* the visitor said so */
};

/* The first thing that went wrong, also inside a text that was pushed. */
struct ab_shell_result {
	enum ab_shell_status status;
	struct ab_span span; /* in the original text */
	const char *message; /* static: "unterminated quote"; NULL when OK */
	/* Not of an error: some of what was read is other commands to dash:
	 * $'\'', $[, [[ x || y ]] and what echo does with a backslash. */
	bool differs;
	/* Neither: a here-document whose delimiter does not come. All that
	 * stands behind it is in it. */
	bool lacks_end;
};

/* 0 means the default, which stands behind each. */
struct ab_shell_limits {
	bool posix; /* read the text as dash does; as bash */
	uint32_t bytes;	   /* of a text; 1 MiB */
	uint32_t depth;	   /* of nested constructs; 256 */
	uint32_t texts;	   /* pushed texts and calls inside each other; 16 */
	uint32_t words;	   /* words that one command may grow to; 4096 */
	uint32_t value;	   /* bytes a value may grow to; 64 KiB */
	uint32_t variables; /* 2048, the visitor's own among them */
	uint32_t steps; /* commands visited; 16 Ki + 1 per 2 bytes of text */
};

struct ab_shell_tree; /* made by parse, read by run and print */

/*
 * Parses text[0..len-1], which is copied first, to the low end. After
 * UNTERMINATED and SYNTAX the tree holds what was understood, before and after
 * the place, so that a guard finds the guarded words in it; such a tree is a
 * guess. NULL, with LIMIT, when the text is too long or the arena too small.
 * An arena of AB_SHELL_ARENA(len) is never too small for parsing.
 */
const struct ab_shell_tree *ab_shell_parse(struct ab_arena *arena,
					   const char *text, size_t len,
					   const struct ab_shell_limits *limits,
					   struct ab_shell_result *result);

/* Enough for any text of len bytes; a usual line needs a tenth. */
#define AB_SHELL_ARENA(len) (65536 + (size_t)(len) * 96)

/*
 * A channel that bytes go through: a pipe, the output of a substitution, what
 * a compound command is redirected to, a here-string that `read` reads. NULL
 * where one is expected: the terminal, or whatever the shell itself was given.
 * Lives as long as the run.
 */
enum ab_stream_kind {
	AB_STREAM_PIPE = 1,	/* between two commands of a pipeline */
	AB_STREAM_COMMAND,	/* $(...) or `...` */
	AB_STREAM_PROC_IN,	/* <(...): the commands inside write it */
	AB_STREAM_PROC_OUT,	/* >(...): the commands inside read it */
	AB_STREAM_REDIRECT,	/* stdin or stdout of a redirected compound */
	AB_STREAM_COPROC,
	AB_STREAM_JOIN	  /* bytes of one of several streams */
};

/* The bits of a taint that speak for a stream: they are true of something that
 * is made of several only where they are of each. */
#define AB_STREAM_GOOD UINT32_C(0xff000000)

static inline uint32_t ab_taint_join(uint32_t a, uint32_t b)
{
	return ((a | b) & ~AB_STREAM_GOOD) | (a & b & AB_STREAM_GOOD);
}

struct ab_stream {
	enum ab_stream_kind kind;
	/* The visitor's own, 0 at first. Set it when a command writes to the
	 * stream. A JOIN has the bits of its parts, of AB_STREAM_GOOD those
	 * that all of them have. */
	uint32_t taint;
	/* The same, NULL at first; not joined. */
	const void *note;
	uint32_t writes; /* commands that wrote to it, and may have */
	uint32_t noted;	 /* the visitor's own: of these */
	bool is_told;	 /* the visitor's own: something of it has a taint */
	struct ab_span span;
	/* All that is ever written to it, when that is known: echo and printf
	 * of constants, cat of a here-document, : and true. May have holes.
	 * Complete once its commands were visited. Or NULL. */
	const struct ab_word *value;
	/* REDIRECT, PIPE, PROC_IN: the same, where some of it is perhaps not
	 * written; is_part: and more is, that nobody knows */
	const struct ab_word *most;
	bool is_part;
};

/* All of its bytes are known, and these. `text` is not empty. */
static inline bool ab_word_equals(const struct ab_word *w, const char *text)
{
	uint32_t second = w->len > 1; /* most differ by then */

	return w->hole_count == 0 && w->len && w->text[0] == text[0] &&
	       w->text[second] == text[second] && strlen(text) == w->len &&
	       memcmp(w->text, text, w->len) == 0;
}

static inline uint32_t ab_hole_taint(const struct ab_hole *hole)
{
	return hole->origin ? hole->origin->taint : 0;
}

enum ab_redir_kind {
	AB_REDIR_READ = 1,	/* <  */
	AB_REDIR_WRITE,		/* >  */
	AB_REDIR_CLOBBER,	/* >| */
	AB_REDIR_APPEND,	/* >> */
	AB_REDIR_READ_WRITE,	/* <> */
	AB_REDIR_WRITE_BOTH,	/* &> and >&FILE: stdout and stderr */
	AB_REDIR_APPEND_BOTH,	/* &>> */
	AB_REDIR_DUP_IN,	/* <&  target: digits, digits-, - or a hole */
	AB_REDIR_DUP_OUT,	/* >& */
	AB_REDIR_HERE_DOC,	/* << and <<-; target is the body, expanded */
	AB_REDIR_HERE_STRING	/* <<< target is the text, without a newline */
};

struct ab_shell_redir {
	enum ab_redir_kind kind;
	int32_t fd;	     /* what it is for; -1: {name}> chose one */
	bool is_quoted;	     /* here-document: the delimiter was quoted */
	struct ab_word target;
	struct ab_span span; /* from the operator to the target's end */
};

/* Of those that lead fd 1 elsewhere: that may be where it was, as
 * `>//dev/stdout` and `3>&1 >&3` are; with run, also a file that may be a link
 * to it. */
struct ab_shell_run;
bool ab_redirs_may_reach(const struct ab_shell_run *run,
			 const struct ab_shell_redir *all, uint32_t count);

/* `> >(...)`: what reads it; or NULL */
struct ab_stream *ab_redir_process(const struct ab_shell_redir *r);

struct ab_shell_assign {
	const char *name; /* NUL-terminated; "a" for a[1]=x */
	uint32_t name_len;
	bool is_append;	  /* += */
	bool is_array;	  /* a=(...) or a[i]=... */
	bool is_list;	  /* a=(...): value_count may be != 1 */
	bool is_odd;	  /* something in it that is not followed */
	const struct ab_word *values;
	/* what stands in [...]: of each value of a list (text NULL: nothing),
	 * of a[i]= one; NULL: no value has any */
	const struct ab_word *keys;
	uint32_t value_count;
	struct ab_span span; /* of all of it */
};

/* Where a command stands. */
enum ab_shell_place {
	AB_SHELL_BACKGROUND = 1 << 0,	/* & at the end of its list */
	AB_SHELL_NEGATED = 1 << 1,	/* ! */
	AB_SHELL_CONDITION = 1 << 2,	/* of if, while, until */
	AB_SHELL_MAYBE = 1 << 3,	/* after && or ||, in if, case, loops */
	AB_SHELL_LOOP = 1 << 4,		/* in the body of a loop */
	AB_SHELL_ENDLESS = 1 << 5,	/* `while :`, `for ((;;))` around it */
	AB_SHELL_SUBSHELL = 1 << 6,	/* its effects on the shell are lost */
	AB_SHELL_SUBSTITUTION = 1 << 7, /* in $(), ``, <(), >() */
	AB_SHELL_DEFINITION = 1 << 8,	/* in a function's body that nobody
					 * called: arguments unknown */
	AB_SHELL_CALLED = 1 << 9,	/* in a function's body, called */
	AB_SHELL_AGAIN = 1 << 10,	/* seen before: a loop's next round */
	AB_SHELL_GUESS = 1 << 11,	/* the text has a syntax error */
	AB_SHELL_PIPE_BOTH = 1 << 12,	/* |& takes its stderr too */
	AB_SHELL_UNMOVED = 1 << 13,	/* behind `cd d ||`: it stands where it
					 * stood before that */
	AB_SHELL_PACED = 1 << 14,	/* the list of such a loop, which waits
					 * for what it started or is left */
	AB_SHELL_FORKING = 1 << 15	/* BACKGROUND in ENDLESS, not PACED */
};

struct ab_shell_place_of {
	uint32_t flags;		/* enum ab_shell_place */
	uint32_t depth;		/* texts, calls and subshells around it */
	/* What the surroundings give it as stdin and stdout, before its own
	 * redirections. */
	struct ab_stream *in, *out;
	/* What its descriptors above 1 may lead to besides: `|&`, 2>&1 around
	 * it; or NULL. */
	struct ab_stream *others;
	uint32_t pipe_index, pipe_count; /* 0 of 1 outside of a pipeline */
	const char *function;	/* innermost function around it, or NULL */
	void *tag;		/* of the innermost pushed text, or NULL */
};

struct ab_shell_function {
	const char *name; /* NUL-terminated; lives as long as the run */
	uint32_t name_len;
	struct ab_span span; /* of the definition */
	/* as it is written; NULL: something in it is not known */
	const char *text;
	uint32_t text_len;
	/* defined on one way only, or undefined again: a call may be that of
	   the one before it, or of a program */
	bool is_perhaps;
};

/* Commands that have a part in what a run knows; the other names: NONE. */
enum ab_builtin {
	AB_BUILTIN_NONE,
	AB_BUILTIN_ALIAS,
	AB_BUILTIN_BRACKET,
	AB_BUILTIN_BREAK,
	AB_BUILTIN_BUILTIN,
	AB_BUILTIN_CAT,
	AB_BUILTIN_CD,
	AB_BUILTIN_COLON,
	AB_BUILTIN_COMMAND,
	AB_BUILTIN_CONTINUE,
	AB_BUILTIN_DECLARE,
	AB_BUILTIN_DOT,
	AB_BUILTIN_ECHO,
	AB_BUILTIN_EVAL,
	AB_BUILTIN_EXIT,
	AB_BUILTIN_EXPORT,
	AB_BUILTIN_FALSE,
	AB_BUILTIN_GETOPTS,
	AB_BUILTIN_LET,
	AB_BUILTIN_LOCAL,
	AB_BUILTIN_MAPFILE,
	AB_BUILTIN_POPD,
	AB_BUILTIN_PRINTF,
	AB_BUILTIN_PUSHD,
	AB_BUILTIN_PWD,
	AB_BUILTIN_READ,
	AB_BUILTIN_READARRAY,
	AB_BUILTIN_READONLY,
	AB_BUILTIN_RETURN,
	AB_BUILTIN_SET,
	AB_BUILTIN_SHIFT,
	AB_BUILTIN_SHOPT,
	AB_BUILTIN_SLEEP,
	AB_BUILTIN_SOURCE,
	AB_BUILTIN_TEST,
	AB_BUILTIN_TRAP,
	AB_BUILTIN_TRUE,
	AB_BUILTIN_TYPE,
	AB_BUILTIN_TYPESET,
	AB_BUILTIN_UNSET,
	AB_BUILTIN_WAIT,
	AB_BUILTIN_WHICH
};
#define AB_BUILTIN(name) (UINT64_C(1) << AB_BUILTIN_##name)

enum ab_builtin ab_shell_builtin_of(const char *name, size_t len);
static inline enum ab_builtin ab_shell_builtin(const struct ab_word *w)
{
	return w->hole_count ? AB_BUILTIN_NONE :
			       ab_shell_builtin_of(w->text, w->len);
}

/* One simple command. argc 0: assignments or redirections alone. */
struct ab_shell_command {
	struct ab_span span;
	const struct ab_word *argv;
	uint32_t argc;
	bool is_kept; /* argv stays, and is bytes of the text as they stand */
	enum ab_builtin builtin; /* argv[0] */
	const struct ab_shell_assign *assigns;
	uint32_t assign_count;
	/* NAME=(...) among the words of `declare` and the like, in order; in
	 * argv they are NAME= */
	const struct ab_shell_assign *lists;
	uint32_t list_count;
	const struct ab_shell_redir *redirs;
	uint32_t redir_count;
	struct ab_shell_place_of place;
	/* argv[0] names it; its body comes next, with the arguments, unless
	 * the visitor answers AB_SHELL_SKIP; or NULL */
	const struct ab_shell_function *callee;
	bool calls_back; /* the callee is running already */
	/* What it prints, when it writes to place.out and that is known
	 * (struct ab_stream), or NULL; see ab_shell_output(). */
	const struct ab_word *output;
};

enum ab_shell_scope_kind {
	AB_SCOPE_PIPELINE = 1,	/* of two or more */
	AB_SCOPE_STAGE,		/* an element of it; its own subshell */
	AB_SCOPE_SUBSHELL,	/* (...) and what runs with & */
	AB_SCOPE_GROUP,		/* {...} */
	AB_SCOPE_BRANCH,	/* what may not run; states join at its end */
	AB_SCOPE_LOOP,		/* for, while, until, select: all its rounds */
	AB_SCOPE_IF,
	AB_SCOPE_CASE,		/* words: the subject */
	AB_SCOPE_SUBSTITUTION,	/* out (PROC_OUT: in) is its stream */
	AB_SCOPE_DEFINITION,	/* a body where it is defined */
	AB_SCOPE_CALL,		/* a body where it is called */
	AB_SCOPE_TEXT,		/* what the visitor pushed */
	AB_SCOPE_COPROC,
	AB_SCOPE_TEST,		/* [[ ]]: words: its operands */
	AB_SCOPE_ARITH		/* (( )) */
};

/* begin and end of a scope; both get the same values. place is how it stands
 * outside; in and out are what the commands inside see. */
struct ab_shell_scope {
	enum ab_shell_scope_kind kind;
	struct ab_span span;
	struct ab_shell_place_of place;
	struct ab_stream *in, *out;
	const struct ab_shell_redir *redirs; /* of the compound */
	uint32_t redir_count;
	const struct ab_word *words; /* of for, case, select, [[ ]] */
	uint32_t word_count;
	const struct ab_shell_function *function; /* DEFINITION, CALL */
	bool is_menu; /* select: it reads what is answered */
};

struct ab_shell_run; /* lives while ab_shell_run() does */

/* What a callback answers. */
enum ab_shell_answer {
	AB_SHELL_GO = 0,
	AB_SHELL_SKIP, /* command: do not visit the function's body */
	AB_SHELL_STOP  /* end the run with AB_SHELL_STOPPED */
};

/* Any may be NULL. A command is told before its effects (assignments,
 * `export`, what a visitor
 * makes of `cd`: AB_SHELL_CWD) are in the state. What $(...) in its words
 * does was told before it; what >(...) does comes after it. */
struct ab_shell_visitor {
	enum ab_shell_answer (*command)(void *user, struct ab_shell_run *run,
					const struct ab_shell_command *command);
	enum ab_shell_answer (*begin)(void *user, struct ab_shell_run *run,
				      const struct ab_shell_scope *scope);
	enum ab_shell_answer (*end)(void *user, struct ab_shell_run *run,
				    const struct ab_shell_scope *scope);
	/* all was visited, or all of the (...) or child's text of that place;
	 * what is pushed now is visited in that shell, and then it is over */
	void (*finish)(void *user, struct ab_shell_run *run,
		       const struct ab_shell_place_of *place);
	/* the taint of what a variable holds that the text does not know, where
	 * its name says so */
	uint32_t (*named)(const char *name);
	/* bits 1 << enum ab_shell_scope_kind: these are not told */
	uint32_t untold;
	/* of the first so many commands of nothing but plain words argv is
	 * put where it stays: is_kept */
	uint32_t kept;
};

/* What is known outside of the text. Zeroed: nothing. */
struct ab_shell_context {
	const char *home, *cwd; /* absolute, or NULL; $HOME and $PWD */
	uint32_t home_len, cwd_len;
};

/*
 * Visits what the tree would execute. The tree is the arena's latest or
 * older; result is that of the parse and is made worse, never better.
 */
void ab_shell_run(struct ab_arena *arena, const struct ab_shell_tree *tree,
		  const struct ab_shell_context *context,
		  const struct ab_shell_visitor *visitor, void *user,
		  struct ab_shell_result *result);

/*
 * For callbacks.
 */

/* When a text runs that is visited now: between any two commands from here on,
 * after which the variables that it sets may be that; or when the shell ends,
 * and nothing of what it does to that stays. */
enum ab_shell_when { AB_SHELL_NOW, AB_SHELL_LATER, AB_SHELL_LAST };

/* A text that the command just told would run: `eval`, `bash -c`, trap... */
struct ab_shell_text {
	struct ab_word text; /* holes in it stay holes */
	bool is_child; /* a new shell: args are $0, $1...; its effects are lost,
			* it knows exported variables and no functions. false:
			* the shell itself: eval, source, trap */
	/* copied; false: more than one are "$@" as long as it runs */
	const struct ab_word *args;
	uint32_t arg_count;
	/* is_child: the directory that it begins in, where that is not the
	 * shell's own; no bytes: nobody knows. Copied. */
	const struct ab_word *cwd;
	/* is_child: NAME=VALUE that it is given, and other words. Copied. */
	const struct ab_word *given;
	uint32_t given_count;
	/* NULL: those of the command */
	struct ab_stream *in, *out;
	void *tag; /* for the commands inside: place.tag */
	bool is_perhaps; /* one of several: what it does may not be done */
	enum ab_shell_when when; /* not is_child: of the shell itself */
	bool is_bash; /* is_child: no dash reads it, whatever `sh` is */
	bool is_part; /* of something: where it ends within a quote is told to
		       * nobody */
};

/*
 * Visit it when the callback (command, finish, the end of a definition) has
 * returned; several
 * in the order of the calls. False: a limit was met, and the run will end with
 * LIMIT.
 */
bool ab_shell_push(struct ab_shell_run *run, const struct ab_shell_text *text);
/*
 * What the command at hand prints, which the visitor knows and the shell does
 * not: `cat` of a file that the text wrote. Borrowed for the whole run.
 */
void ab_shell_tell(struct ab_shell_run *run, const struct ab_word *output);
/* What the file holds that a redirection gives it as stdin, likewise: `read`
 * and mapfile read of it. */
void ab_shell_tell_input(struct ab_shell_run *run, const struct ab_word *input);
/* The command at hand pushed that text already, by another reading. */
bool ab_shell_has_pushed(struct ab_shell_run *run, const struct ab_word *text);
/* After so many readings: what not each of them pushed is perhaps. */
void ab_shell_pushed_by(struct ab_shell_run *run, uint32_t readings);

/* The words joined by spaces, as eval does; lives until the callback returns.
 * False: LIMIT. */
bool ab_shell_join(struct ab_shell_run *run, const struct ab_word *words,
		   uint32_t count, struct ab_word *out);

/*
 * Variables. A name that no shell can have (with a space) is the visitor's
 * own: a place for state that must follow subshells and joins, such as the
 * working directory. `read <&5` gets where " fd 5" came from. What is set but
 * not known is a word of one hole; NULL:
 * never set in the text, unset, an array. Names are copied.
 */
const struct ab_word *ab_shell_get(const struct ab_shell_run *run,
				   const char *name, size_t len,
				   bool *is_exported);
/* What the text says of it: a value; one on some ways only; nothing. */
enum ab_shell_said { AB_SHELL_SAID, AB_SHELL_PERHAPS, AB_SHELL_UNSAID };
enum ab_shell_said ab_shell_said(const struct ab_shell_run *run,
				 const char *name, size_t len);
/* It surely is: exported by the shell at hand, and never on one way only. */
bool ab_shell_is_exported(const struct ab_shell_run *run, const char *name,
			  size_t len);
/* The visitor's own that the run itself looks at: the working directory, empty
 * where it is not known. $PWD is that after a cd, pushd or popd. */
#define AB_SHELL_CWD " cwd"
/* What pushd and popd left, which a loop may leave as it was. */
#define AB_SHELL_DIRS " dirs"
/* Where the shell still is should a cd have failed at which nobody looked: the
 * visitor sets it at the cd, and the run takes it back where that succeeded:
 * behind its `&&`, in the body of its `if`, after a `||` that left. */
#define AB_SHELL_STAYED " stayed"
/* The same for who asks often: the variable, which stays where it is as long
 * as the run, and what it is now. NULL: never set. */
struct variable;
/* Was one set whose name begins with one of these capitals? */
static inline uint32_t ab_shell_letter(char ch)
{
	return ch >= 'A' && ch <= 'Z' ? UINT32_C(1) << (ch - 'A') : 0;
}
bool ab_shell_has_letters(const struct ab_shell_run *run, uint32_t letters);
const struct variable *ab_shell_variable(const struct ab_shell_run *run,
					 const char *name, size_t len);
const struct ab_word *ab_shell_value(const struct ab_shell_run *run,
				     const struct variable *v);
/* Of what it may be, after an `if` or a loop, the one with that number; or
   NULL. Of a shared one no more than these are known. */
#define AB_SHELL_ALTERNATIVES 9
const struct ab_word *ab_shell_get_one(const struct ab_shell_run *run,
				       const char *name, size_t len,
				       uint32_t index);
/* The same of a word that is nothing but such a variable, "$v", where no
 * command is read: of a redirection around several. */
const struct ab_word *ab_shell_choice(const struct ab_word *w, uint32_t index);
/* The names of programs of which the stream has one, which was looked for:
 * $(command -v x || command -v y). NULL: no more. */
const struct ab_word *ab_shell_found(const struct ab_stream *s, uint32_t index);
/* Whose it is: a shell's own and its subshells'; that of a shell and of all
 * that it starts; everybody's, as a file is: what a subshell does to it stays
 * done. */
enum ab_shell_owner {
	AB_SHELL_OWN,
	AB_SHELL_INHERITED,
	AB_SHELL_SHARED
};

/* value NULL: unknown from now on. The value is copied. False: LIMIT. */
bool ab_shell_set(struct ab_shell_run *run, const char *name, size_t len,
		  const struct ab_word *value, enum ab_shell_owner owner);
/* The other gets what this one is, all that it may be. False: LIMIT. */
bool ab_shell_copy(struct ab_shell_run *run, const char *name, size_t len,
		   const char *to, size_t to_len, enum ab_shell_owner owner);
/* A command has several readings, one of which is what it does: begin and end
 * stand around each, the next begins where the first did. After join each may
 * have been, and one was. Zeroed at first. */
struct ab_shell_readings {
	struct undo *undo;
	struct outcome *outcomes;
	uint32_t count;
};
void ab_shell_reading_begin(struct ab_shell_run *run,
			    struct ab_shell_readings *readings);
void ab_shell_reading_end(struct ab_shell_run *run,
			  struct ab_shell_readings *readings);
void ab_shell_reading_join(struct ab_shell_run *run,
			   struct ab_shell_readings *readings);
/* Nothing is known any more: eval or source of what nobody knows. The run does
 * this itself after eval, source and `.` when nothing was pushed. */
void ab_shell_forget(struct ab_shell_run *run);
bool ab_shell_has_aliases(const struct ab_shell_run *run);
/* The visitor knows something more that is no variable: what a loop holds is
   seen once more. */
void ab_shell_learn(struct ab_shell_run *run);

/* What may hold from now on, and never surely does: a pattern without names is
 * no word; what stands last in a pipe is done by the shell itself, as in ksh
 * and zsh; any file is a link to what is written to as stdout. */
enum ab_shell_option {
	AB_SHELL_NULLGLOB = 1,
	AB_SHELL_LASTPIPE = 2,
	AB_SHELL_STDOUT_LINK = 4
};
void ab_shell_note_option(struct ab_shell_run *run,
			  enum ab_shell_option option);

/* A new stream, for what a visitor starts itself. NULL: LIMIT. */
struct ab_stream *ab_shell_stream(struct ab_shell_run *run,
				  struct ab_span span);

/* What echo, printf, `:`, true print: false when that is not known. */
bool ab_shell_output(struct ab_shell_run *run, const struct ab_word *argv,
		     uint32_t argc, struct ab_word *out);

/* The function of that name as known now, or NULL. */
const struct ab_shell_function *
ab_shell_function(const struct ab_shell_run *run, const char *name, size_t len);
/* Whether there is any. */
bool ab_shell_has_functions(const struct ab_shell_run *run);
/* Changes when a function or an alias is defined. */
uint32_t ab_shell_definitions(const struct ab_shell_run *run);

#endif
