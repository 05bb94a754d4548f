/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a run: what is known of variables, functions and streams, and
 * the stack of what is being visited. Shared by the files of lib/shell that
 * make up the run; nobody else includes it.
 */
#ifndef AB_SHELL_STATE_H
#define AB_SHELL_STATE_H

#include <string.h>

#include "base/attr.h"
#include "shell/tree.h"

enum value_kind {
	VALUE_UNSET,
	VALUE_UNKNOWN,
	VALUE_SCALAR, /* words[0] */
	VALUE_ARRAY   /* words[0..count-1], at 0..count-1 or at `keys` */
};

/* Of `declare`: what becomes of a text that is assigned. */
enum value_attributes {
	VALUE_INTEGER = 1,
	VALUE_LOWER = 2,
	VALUE_UPPER = 4,
	VALUE_MAP = 8,	/* -A */
	VALUE_LIST = 16 /* -a: of a declaration; then it is an ARRAY */
};

/* Immutable once made; lives at the high end of the arena. */
struct value {
	const struct ab_word *words;
	uint32_t count;
	uint8_t kind;	    /* enum value_kind */
	uint8_t attributes; /* enum value_attributes */
	uint8_t part;	    /* enum ab_hole_part, of UNKNOWN */
	bool is_loose;	    /* one of the words may be many, or none */
	uint8_t shifted;    /* of what those are, so many are gone */
	const struct ab_word *keys;
	struct ab_stream *origin;
	/* UNKNOWN, but one of two arrays, or of two scalars: after
	 * `[ c ] && a+=(x)` that with x and that without. Both or none. */
	const struct value *one, *other;
};

enum variable_flags {
	VARIABLE_EXPORTED = 1,
	VARIABLE_ATTRIBUTED = 2, /* its value may have attributes */
	VARIABLE_READONLY = 4,
	VARIABLE_NAMEREF = 8,
	VARIABLE_SHARED = 16, /* of no shell: AB_SHELL_SHARED */
	/* exported on one way only, in a subshell, or not any more */
	VARIABLE_MAYBE_EXPORTED = 32,
	VARIABLE_LATER = 64 /* `later` counts */
};

struct variable {
	struct variable *chain;
	const char *name; /* NUL-terminated */
	uint32_t len, flags;
	uint32_t hash;
	uint32_t joins;
	const struct value *value;
	uint64_t when;	/* what was forgotten later than this is unknown */
	/* NAMEREF: which other one is set with it; NULL: nobody knows */
	const char *refers;
	uint32_t refers_len;
	uint64_t stamp; /* of the branch that saw it last */
	const struct value *joined;
	/* LATER: what it may be at any time, whatever was put into it */
	const struct value *later;
	const struct visit_frame *local_to; /* the innermost call */
};

/* A value that an assignment replaced, newest first. */
struct undo {
	struct undo *older;
	struct variable *variable;
	const struct value *value;
	union {
		uint64_t when;
		const struct visit_frame *local_to; /* of a local */
	};
};

/* What a variable was at the end of one of several branches. */
struct outcome {
	struct outcome *next;
	struct variable *variable;
	const struct value *value;
};

struct function {
	struct function *chain;
	struct ab_shell_function public;
	const struct ab_shell_tree *tree;
	const struct cmd *body;
	uint32_t active;
	bool is_later; /* a text that may run at any time defines it anew */
};

struct alias {
	struct alias *next;
	const char *name;
	uint32_t len;
	const struct ab_word *value;
	const struct ab_shell_tree *tree;
	uint32_t visible; /* where in that tree it begins to count */
	bool is_active;
};

/* Output of a command, in order. */
struct piece {
	struct piece *next;
	const struct ab_word *word;
};

struct stream {
	struct ab_stream public;
	struct piece *pieces, **tail;
	uint32_t uncertain; /* run->uncertain when it was made */
	bool is_unknown;    /* something unknown was written */
	bool is_unsure;	    /* some of the pieces perhaps were not */
	bool is_taken;	    /* a loop reads of it, nobody knows how much */
	bool has_sure;	    /* some of it is surely written */
	/* COMMAND: one of the few texts that are perhaps written to it, or what
	   nobody knows; or NULL */
	const struct value *either;
	const struct ab_word *likely; /* what its only command printed, if no
					 link leads elsewhere */
	/* it gives one of these, the names of programs */
	const struct ab_word *found;
	uint32_t found_count;
};

/* A piece of a word while it is put together. */
enum segment_flags {
	SEGMENT_QUOTED = 1,
	SEGMENT_SPLIT = 2, /* of an unquoted expansion: fields split in it */
	SEGMENT_BREAK = 4, /* no text: a field ends here ("$@"); one word has
			    * the string `text` there */
	SEGMENT_MARK = 8,  /* no text: a separator in ${x/a/b} */
	SEGMENT_BRACE = 16, /* one of { , } outside of quotes */
	SEGMENT_NONE = 32, /* "$@" of nothing: quotes that make no word */
	SEGMENT_MAPPED = 64 /* text of several places, quoted */
};

struct segment {
	struct segment *next;
	const char *text;
	uint32_t len;
	struct ab_span span;
	uint8_t flags, hole; /* enum ab_hole_kind, or 0 */
	union {
		struct { /* of its hole */
			const char *name;
			struct ab_stream *origin;
			bool is_checked, is_test, is_cut, may_vanish;
			uint8_t part;
			const struct value *one_of;
		};
		struct { /* MAPPED: as a word's, but at map_from is its first
			    byte */
			const struct ab_map *map;
			uint32_t map_count, map_from;
		};
	};
};

struct segments {
	struct segment *first, **tail;
};

struct fields {
	struct ab_word *words;
	uint32_t count, room;
};

enum visit {
	VISIT_LIST,	/* commands one after the other */
	VISIT_SIMPLE,	/* a simple command whose words run commands */
	VISIT_COMPOUND,
	VISIT_SUBSTITUTION,
	VISIT_TEXT,	/* pushed */
	VISIT_CALL,
	VISIT_WORDS	/* substitutions of words, for what lies below */
};

/* A variable that a command sets for its own time. */
struct passing {
	struct passing *next;
	const char *name;
	uint32_t len;
	const struct value *value;
};

struct visit_frame {
	struct visit_frame *below, *above;
	const struct ab_shell_tree *tree;
	struct ab_shell_place_of place; /* how it stands itself */
	void *mark; /* arena low when it began */
	uint32_t functions; /* run->function_count when it began */
	uint8_t kind;
	/* what follows is cleared when it begins */
	uint8_t phase, op;
	bool is_background, is_branch, is_again, is_late, is_sure, is_unmoved;
	bool falls, has_fallen; /* of a case: by `;&`, `;;&` */
	bool is_loop, is_body; /* LIST: a loop's, behind its condition */
	bool has_late; /* SIMPLE, COMPOUND: a >(...) comes after it */
	bool was_posix; /* TEXT: run->limits.posix */
	struct ab_shell_place_of inner; /* how what is in it stands */
	const struct cmd *cmd;	/* SIMPLE, COMPOUND */
	const struct cmd *at;	/* LIST: the command that is next or runs */
	const struct clause *clause;
	/* WORDS: where it is */
	struct word *word, *outer;
	struct part *part, *outer_part;
	struct redir *redir;
	const struct ab_shell_tree *inner_tree; /* of a here-document */
	/* marks: of its branch, of a pipeline's stage, of a list with & */
	struct undo *undo, *stage_undo, *list_undo, *perhaps_undo;
	struct outcome *outcomes;
	uint32_t branches, index, count, factor;
	/* LOOP: ab_run_losses() when it began, and run->learned; TEXT: what
	 * they were */
	uint64_t forgotten, learned, unnamed;
	uint32_t exits; /* run->exits when the loop or the branch began */
	struct stream *stream; /* SUBSTITUTION; LIST: out of the stage */
	struct ab_stream *pipe; /* LIST: out of the stage before */
	struct part *target;	/* SUBSTITUTION: who gets the stream */
	struct fields words;	/* COMPOUND */
	/* LOOP, CALL: run->jumps and where the shell was when it began;
	 * LIST: run->told and where it was before what `||` stands behind */
	const struct value *stood[2];
	uint32_t jumps, told;
	/* LIST, IF: run->moves at the beginning of `a && b || c` or of a
	 * condition; UINT32_MAX: a cd before it may have failed */
	uint32_t moves;
	uint32_t began; /* LIST: run->moves at the beginning of it all */
	/* LIST: run->told before the right side of `||`; COMPOUND: before a
	 * branch */
	uint32_t left;
	uint32_t uncertain; /* CALL: run->uncertain when it began */
	struct undo *again; /* LOOP: where its last round began */
	struct ab_shell_scope scope;
	/* TEXT, CALL */
	const struct value *saved; /* "@" */
	struct undo *locals;
	struct function *function;
	struct alias *alias;
	struct pushed *pushed;
	uint64_t child;
	struct function *functions_before;
	struct alias *aliases_before;
	uint64_t function_mask;
};

/* A text that waits for its command's callback to return. */
struct pushed {
	struct pushed *next;
	struct ab_shell_text text;
	struct passing *passing;
	struct alias *alias;
	uint32_t again; /* by so many readings more */
};

struct reckoned {
	struct reckoned *next;
	const struct ab_word *word;
};

#define VARIABLE_BUCKETS 64

/* Values of one command that are one of two; its readings are 1 << that. */
#define AB_SHELL_READS 3
/* More than those: a command that has read them all is read again, and picks
 * what it did. */
#define AB_SHELL_PICKS 8

struct ab_shell_run {
	struct ab_arena *arena;
	const unsigned char *arena_end; /* where high was at first */
	const struct ab_shell_visitor *visitor;
	void *user;
	struct ab_shell_result *result;
	const struct ab_shell_context *context;
	const struct ab_shell_tree *root;
	struct ab_shell_limits limits;

	struct variable *variables[VARIABLE_BUCKETS];
	struct variable *stands[2]; /* AB_SHELL_CWD, AB_SHELL_DIRS */
	struct variable *stayed; /* AB_SHELL_STAYED */
	uint32_t variable_count;
	uint32_t letters; /* ab_shell_letter() of what each begins with */
	struct undo *trail;
	uint32_t branch_depth; /* assignments are noted when > 0 */
	uint64_t clock, forgotten, child;
	uint64_t unnamed; /* when any variable may have been set last */
	uint64_t learned; /* ab_shell_learn(), how often */
	struct function *functions;
	uint64_t function_mask; /* a bit per bucket that holds one */
	uint32_t function_count, alias_count;
	struct alias *aliases;
	struct visit_frame *call; /* the innermost, for `local` */

	struct visit_frame *top;
	struct pushed *pushed, **pushed_tail;
	const struct ab_word *output; /* ab_shell_tell() */
	struct reckoned *reckoned; /* what integers got that is no number */
	const struct ab_word *input;  /* ab_shell_tell_input() */
	bool is_reading_of; /* the command at hand is one of several readings */
	bool is_stopped;
	uint32_t uncertain;
	uint32_t later; /* texts at hand that run between any two commands */
	bool sets_any;	/* one of those sets nobody knows what */
	bool keeps_pwd; /* as a readonly variable: a cd moves and fails */
	/* an error ended a line: what is assigned since then is, or is not */
	bool has_ended;
	bool is_at_move; /* the command that was told last is a cd or pushd */
	bool has_acted;	 /* a program ran, or may have */
	bool may_lack_functions; /* any of them may be undefined again */
	bool may_inherit; /* a local has the value of what it hides */
	uint32_t options; /* enum ab_shell_option */
	uint32_t told;	/* commands */
	uint32_t jumps; /* out of a loop's round, elsewhere than it began */
	uint32_t exits; /* break, continue, return, exit */
	uint32_t moves; /* cd, pushd, popd */
	uint32_t overlooked; /* at the last at whose failure nobody looked */
	/* run->told at the last exit, return, break or continue,
	 * run->uncertain, ab_run_subshell(), and the call that is left (not by
	 * an exit) */
	uint32_t left, left_at, left_depth;
	const struct visit_frame *left_call;
	bool is_exit;  /* it was one, and nothing keeps the shell from it */
	bool doubts_exits; /* a trap was set, or a builtin turned off */
	uint32_t steps;
	uint32_t kept; /* commands whose argv may still be put to stay */
	uint64_t expansion; /* bytes that expansions may still make */
	uint32_t text_depth;
	uint64_t text_budget;
	uint32_t factor; /* how often what is visited is visited anew */
	const struct ab_shell_command *command;
	const struct cmd *simple; /* what it is in the text */
	/* Values that are one of two, in the words of the command at hand, and
	 * how many there are, also of those that found no room here. While
	 * it is read: a bit for each that is the other one, and for each that
	 * was asked for. */
	const struct value *reads[AB_SHELL_READS];
	uint32_t read_count, reading, readings_seen;
	bool is_reading;
	/* What the command at hand picked from lists, the last of them. */
	struct pick {
		const struct value *from, *value;
		int64_t at;
	} picks[AB_SHELL_PICKS];
	uint32_t pick_count;
};

/* state.c */
void ab_run_limit(struct ab_shell_run *run, const char *message) AB_COLD;
/* NULL when the arena is full, and the run ends at the next step. */
static inline void *ab_run_low(struct ab_shell_run *run, size_t size)
{
	void *p = ab_arena_low(run->arena, size);

	if (AB_UNLIKELY(!p))
		ab_run_limit(run, "the arena is too small");
	return p;
}

static inline void *ab_run_high(struct ab_shell_run *run, size_t size)
{
	void *p = ab_arena_high(run->arena, size);

	if (AB_UNLIKELY(!p))
		ab_run_limit(run, "the arena is too small");
	return p;
}

struct variable *ab_run_find(const struct ab_shell_run *run, const char *name,
			     size_t len);
/* What it is now: never NULL. name need not exist. */
const struct value *ab_run_value(const struct ab_shell_run *run,
				 const char *name, size_t len);
void ab_run_set_value(struct ab_shell_run *run, struct variable *v,
		      const struct value *value);
/* Something that the text does not say was done to it since it was set. */
static inline bool ab_run_is_lost(const struct ab_shell_run *run,
				  const struct variable *v)
{
	return v->when < run->forgotten ||
	       (AB_UNLIKELY(v->when < run->unnamed) &&
		ab_shell_name[(unsigned char)*v->name] == AB_NAME);
}
static inline bool ab_run_is_text(const struct value *v)
{
	return v->kind == VALUE_SCALAR || v->kind == VALUE_ARRAY;
}
/* The same for what ab_run_find() gave, also NULL. */
const struct value *ab_run_value_of(const struct ab_shell_run *run,
				    const struct variable *v);
/* What stands in subscripts of the texts that integers were given runs. */
void ab_run_reckon(struct ab_shell_run *run,
		   const struct ab_shell_place_of *place);
void ab_run_assign(struct ab_shell_run *run, const char *name, size_t len,
		   const struct value *value, uint32_t flags);
/* The same of v, whatever it refers to: what it was comes back. */
void ab_run_restore(struct ab_shell_run *run, struct variable *v,
		    const struct value *value);
/* declare -n NAME=TARGET; target NULL: nobody knows. is_sure: it surely does
 * not refer to another one any more. */
void ab_run_refer(struct ab_shell_run *run, const char *name, size_t len,
		  const struct ab_word *target, bool is_sure);
/* What it surely refers to, or itself; NULL: a variable that was never set.
 * *name is that of what comes back, if it is another. */
struct variable *ab_run_target(const struct ab_shell_run *run,
			       struct variable *v,
			       const struct ab_word **name);
/* A variable was set, and nobody knows which. */
static inline void ab_run_set_any(struct ab_shell_run *run)
{
	run->unnamed = ++run->clock;
}

/* Grows when something is forgotten. */
static inline uint64_t ab_run_losses(const struct ab_shell_run *run)
{
	return run->forgotten + run->unnamed;
}

/* array.c: what an assignment makes of an old value, of which nothing changes.
 * The new one has the attributes. */
const struct value *ab_value_assigned(struct ab_shell_run *run,
				      const struct value *old,
				      uint32_t attributes,
				      const struct ab_shell_assign *a);
/* `declare` of a name alone. */
const struct value *ab_value_declared(struct ab_shell_run *run,
				      const struct value *old,
				      uint32_t attributes);
const struct value *ab_value_with(struct ab_shell_run *run,
				  const struct value *v, uint32_t attributes);
/* `unset 'a[i]'` */
const struct value *ab_value_without(struct ab_shell_run *run,
				     const struct value *old,
				     const struct ab_word *subscript);
/* Some of the words may be many, or none. */
bool ab_value_is_loose(const struct ab_word *words, uint32_t count);
/* The field of that number, from 0, is words[n], or the first that its pattern
   takes. */
bool ab_value_is_first(const struct ab_shell_run *run,
		       const struct ab_word *words, uint32_t n);
/* ${a[i]} of an array; NULL: it has none, or nobody knows. */
const struct ab_word *ab_value_element(struct ab_shell_run *run,
				       const struct value *v,
				       const struct ab_word *subscript,
				       bool *is_known);

/* A word that stays. */
const struct ab_word *ab_run_keep(struct ab_shell_run *run,
				  const struct ab_word *word);
const struct value *ab_run_scalar(struct ab_shell_run *run,
				  const struct ab_word *word);
const struct value *ab_run_array(struct ab_shell_run *run,
				 const struct ab_word *words, uint32_t count);
/* The same bytes, and the same where they are not known. */
bool ab_run_same_word(const struct ab_word *a, const struct ab_word *b);
/* Where all of the words come from: a stream with the taint of them all. */
struct ab_stream *ab_run_blend(struct ab_shell_run *run,
			       const struct ab_word *words, uint32_t count);
/* realpath WORD, which wrote to it what nobody knows. */
void ab_run_likely(struct ab_shell_run *run, struct ab_stream *stream,
		   const struct ab_word *word);
/* Of a word without an origin: what the names in it say; or NULL. */
struct ab_stream *ab_run_said(struct ab_shell_run *run,
			      const struct ab_word *word);
/* Not known, but one of the two where they are of a kind. */
const struct value *ab_run_either(struct ab_shell_run *run,
				  struct ab_stream *origin,
				  const struct value *a,
				  const struct value *b);
/* choice.c: v, or of several values the one that the command at hand is read
 * with. */
const struct value *ab_choice_read(struct ab_shell_run *run,
				   const struct value *v);
/* $(command -v x || which y || echo z): the stream is told what it gives. */
void ab_choice_found(struct ab_shell_run *run,
		     const struct ab_shell_tree *tree, const struct part *part);
#define AB_CHOICE_ANY INT64_MAX
/* What words[at] of a list may be whose words may be many, or none: one of
 * several, or, of more than have readings, an ARRAY of them all. at < 0: from
 * the end. */
const struct value *ab_choice_pick(struct ab_shell_run *run,
				   const struct value *list, int64_t at);
/* The list without its first n, which are not known. */
const struct value *ab_choice_shift(struct ab_shell_run *run,
				    const struct value *list, int64_t n);
const struct value *ab_run_unknown(struct ab_shell_run *run,
				   struct ab_stream *origin);
const struct value *ab_run_part(struct ab_shell_run *run,
				struct ab_stream *origin,
				enum ab_hole_part part);
extern const struct value ab_run_unset;
/* Nothing is known of it. */
extern const struct value ab_run_anything;
/* Not known, and the text has said nothing of it: told by where it is. */
extern const struct value ab_run_absent;

/* Branches: begin gives a mark; back goes to the state at the mark and keeps
 * what the variables were; join makes of the state and all that was kept what
 * is true after any of `branches`. */
static inline struct undo *ab_run_branch(struct ab_shell_run *run)
{
	run->branch_depth++;
	return run->trail;
}

void ab_run_back(struct ab_shell_run *run, struct undo *mark,
		 struct outcome **outcomes);
void ab_run_join(struct ab_shell_run *run, struct outcome *outcomes,
		 uint32_t branches);
/* What v is where two ways meet. */
const struct value *ab_run_meet(struct ab_shell_run *run,
				const struct variable *v,
				const struct value *a, const struct value *b);
/* sure.c: its success is sure: nothing but assignments without commands in
 * them, a way to where one can go, or what does nothing. */
bool ab_run_is_sure(const struct ab_shell_run *run,
		    const struct ab_shell_tree *tree, const struct cmd *cmd);
/* later.c: a text is over that may not have run, or not now. */
void ab_later_begin(struct ab_shell_run *run, struct visit_frame *f);
void ab_later_end(struct ab_shell_run *run, const struct visit_frame *f);
/* A variable that may be anything whatever it is set to, if it has a name. */
void ab_later_any(struct ab_shell_run *run, struct variable *v) AB_COLD;
/* After a loop that began at mark: what changed in it is unknown. True when
 * something did. is_whole: it was left nowhere but at the end of a round, so
 * where the shell is then counts, and not where it was on the way. is_seen: all
 * of its rounds were visited, and what they left in variables is known. */
bool ab_run_blur(struct ab_shell_run *run, struct undo *mark, bool is_whole,
		 bool is_seen);
/* A call that began at mark is over: nobody behind it sees its "$@" again. */
void ab_run_outlive(struct ab_shell_run *run, struct undo *mark);
/* The round since mark changed what the one before had left as it was. */
bool ab_run_goes_on(struct ab_shell_run *run, const struct undo *mark);
/* Where the shell is, and what pushd left. */
void ab_run_stands(const struct ab_shell_run *run, const struct value *at[2]);
/* AB_SHELL_STAYED is taken back for what comes where a cd is known to have
 * succeeded: ask at the beginning, and whether there was one since. */
uint32_t ab_run_moves(const struct ab_shell_run *run);
void ab_run_arrive(struct ab_shell_run *run, uint32_t moves);
/* One since then may have failed, and what comes does not ask. */
void ab_run_overlook(struct ab_shell_run *run, uint32_t moves);
/* Which subshell a place is in; 0: none. */
static inline uint32_t ab_run_subshell(const struct ab_shell_place_of *place)
{
	return place->flags & AB_SHELL_SUBSHELL ? place->depth : 0;
}
/* The last jump came after so many commands were told, on the way at hand and
   in the same shell. */
static inline bool ab_run_left_since(const struct ab_shell_run *run,
				     uint32_t told,
				     const struct ab_shell_place_of *place)
{
	return run->left > told && run->left_at == run->uncertain &&
	       run->left_depth == ab_run_subshell(place);
}
/* A text that nobody knows was run, of a file or by eval. */
void ab_run_forget(struct ab_shell_run *run, bool is_eval);
/* The loop around what is visited; or NULL. */
const struct visit_frame *ab_run_loop(const struct ab_shell_run *run);
/* `break` and the like, out of the loop or call: where the shell is then may be
 * where that ends. NULL: out of something else. */
void ab_run_jump(struct ab_shell_run *run, const struct visit_frame *from,
		 uint32_t flags);
/* A variable of another name is not what it was at mark. */
bool ab_run_has_changed(const struct ab_shell_run *run, const struct undo *mark,
			const char *but, uint32_t len);

struct stream *ab_run_stream(struct ab_shell_run *run,
			     enum ab_stream_kind kind, struct ab_span span);
/* Something was written to it: word, or NULL when nobody knows what. */
void ab_run_write(struct ab_shell_run *run, struct ab_stream *stream,
		  const struct ab_word *word);
/* Its value from now on. */
void ab_run_close(struct ab_shell_run *run, struct stream *stream,
		  bool is_substitution);
void ab_run_define(struct ab_shell_run *run, struct function *f);
struct function *ab_run_function(const struct ab_shell_run *run,
				 const char *name, size_t len);
/* The one of that name before it, or NULL. */
const struct function *ab_run_older(const struct function *f);
/* `unset -f NAME`, perhaps. */
void ab_run_undefine(struct ab_shell_run *run, const struct ab_word *name);

/* expand.c: words to fields, in scratch memory */
enum expand_mode {
	EXPAND_FIELDS = 0, /* braces, splitting, patterns */
	EXPAND_ONE,	   /* one word, no splitting; patterns stay text */
	EXPAND_PATTERN,	   /* one word, patterns are holes */
	EXPAND_VALUE	   /* of an assignment: what follows PART_ASSIGN */
};

void ab_expand_word(struct ab_shell_run *run, const struct ab_shell_tree *tree,
		    const struct word *word, enum expand_mode mode,
		    struct fields *out);
/* What stands between the [ and ] of NAME[...]=; false: there is nothing. */
bool ab_expand_subscript(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct word *word, struct ab_word *out);
/* One word, whatever happens. */
void ab_expand_one(struct ab_shell_run *run, const struct ab_shell_tree *tree,
		   const struct word *word, enum expand_mode mode,
		   struct ab_word *out);
/* fields.c */
/* What separates fields; false: nobody knows. */
bool ab_run_ifs(const struct ab_shell_run *run, const char **text,
		uint32_t *len);
bool ab_fields_grow(struct ab_shell_run *run, struct fields *out);
/* One more, cleared; NULL: LIMIT. */
static inline struct ab_word *ab_fields_new(struct ab_shell_run *run,
					    struct fields *out)
{
	if (AB_UNLIKELY(out->count == out->room) && !ab_fields_grow(run, out))
		return NULL;
	return memset(&out->words[out->count++], 0, sizeof(struct ab_word));
}

/* Segments to fields. */
void ab_expand_fields(struct ab_shell_run *run, struct segment *list,
		      enum expand_mode mode, struct fields *out);
void ab_segments_add_word(struct ab_shell_run *run, struct segments *list,
			  const struct ab_word *word, uint32_t flags);
struct segment *ab_segments_add(struct ab_shell_run *run,
				struct segments *list, const char *text,
				uint32_t len, struct ab_span span,
				uint32_t flags);
struct segment *ab_segments_hole(struct ab_shell_run *run,
				 struct segments *list, enum ab_hole_kind kind,
				 struct ab_span span, const char *name,
				 struct ab_stream *origin);

/* param.c */
void ab_expand_param(struct ab_shell_run *run,
		     const struct ab_shell_tree *tree, const struct part *part,
		     struct segments *list, struct segment **args,
		     struct segment *index);
/* Is there something to run in ${x@P}? Its text, or NULL. */

/* brace.c: makes more lists of one; NULL when there is nothing to expand.
 * *count lists. A limit: one list that is a hole. */
struct segment **ab_expand_braces(struct ab_shell_run *run,
				  struct segment *list, uint32_t *count);

/* arith.c */
bool ab_arith(struct ab_shell_run *run, const char *text, uint32_t len,
	      int64_t *value);
/* Decimal digits of value. */
uint32_t ab_decimal(char text[24], int64_t value);

/* output.c */
bool ab_output_of(struct ab_shell_run *run, const struct ab_word *argv,
		  uint32_t argc, struct ab_word *out);

/* builtin.c: what a command does to the state */
void ab_builtin_effects(struct ab_shell_run *run,
			const struct ab_shell_tree *tree,
			const struct ab_shell_command *c);
/* The builtin that `command` and `builtin` lead to, or that itself; *skip words
 * are in front of it. */
enum ab_builtin ab_builtin_behind_front(const struct ab_shell_command *c,
					uint32_t *skip);
static inline enum ab_builtin
ab_builtin_behind(const struct ab_shell_command *c, uint32_t *skip)
{
	if (AB_UNLIKELY(c->builtin == AB_BUILTIN_COMMAND ||
			c->builtin == AB_BUILTIN_BUILTIN))
		return ab_builtin_behind_front(c, skip);
	*skip = 0;
	return c->builtin;
}
/* How long the name at `from` is; 0: there is none. */
uint32_t ab_builtin_name_len(const struct ab_word *w, uint32_t from);
/* text[from..] of a word as a word. */
struct ab_word ab_builtin_tail(struct ab_shell_run *run,
			       const struct ab_word *w, uint32_t from);
/* The word of a command that sets what it names: the name is not known. */
bool ab_builtin_is_any_name(const struct ab_shell_command *c,
			    const struct ab_word *w);
/* Whether no byte before `end` lies in a hole. */
bool ab_builtin_is_exact(const struct ab_word *w, uint32_t end);
/* The options at the start: how many words, and their letters. */
uint32_t ab_builtin_options(const struct ab_word *argv, uint32_t argc,
			    char letters[16]);
/* The variables that an arithmetic text may change. */
void ab_arith_effects(struct ab_shell_run *run, const struct ab_word *text);

/* builtin_read.c */
/* A command that has place.in was told: whatever reads of that, or what it
 * starts may, leaves nobody knows what to the next. */
void ab_builtin_take(const struct ab_shell_command *c);
/* < <(...): what is known of it, or NULL. */
const struct ab_word *ab_builtin_proc_text(const struct ab_word *w);
/* A name of what another descriptor reads: /dev/stdin, /proc/self/fd/3. */
bool ab_may_name_fd(const struct ab_word *w);
void ab_builtin_mapfile(struct ab_shell_run *run,
			const struct ab_shell_tree *tree,
			const struct ab_shell_command *c,
			const struct ab_word *argv, uint32_t argc);
void ab_builtin_read(struct ab_shell_run *run,
		     const struct ab_shell_tree *tree,
		     const struct ab_shell_command *c,
		     const struct ab_word *argv, uint32_t argc);

/* visit.c: frames */
struct visit_frame *ab_visit_enter(struct ab_shell_run *run, enum visit kind,
				   const struct ab_shell_tree *tree,
				   const struct ab_shell_place_of *place);
void ab_visit_leave(struct ab_shell_run *run);
void ab_visit_list(struct ab_shell_run *run, const struct ab_shell_tree *tree,
		   const struct cmd *list,
		   const struct ab_shell_place_of *place);
void ab_visit_begin(struct ab_shell_run *run,
		    const struct ab_shell_scope *scope);
void ab_visit_end(struct ab_shell_run *run,
		  const struct ab_shell_scope *scope);
/* Whether words, redirections or patterns run commands. */
bool ab_visit_needs_words(const struct cmd *cmd);
void ab_visit_words(struct ab_shell_run *run, const struct visit_frame *f,
		    const struct cmd *cmd, bool is_late);
/* stdin and stdout of a compound or a call that is redirected. What a
 * descriptor beside stdin leads to, and a menu reads, is known no more. */
void ab_visit_redirect(struct ab_shell_run *run, struct visit_frame *f);
/* It is over: what it wrote into its file is known. */
void ab_visit_close(struct ab_shell_run *run, const struct visit_frame *f);
void ab_visit_call(struct ab_shell_run *run, struct function *function,
		   const struct ab_shell_command *c, struct passing *passing);
/* True: text has commands in it, and a frame that visits them. */
bool ab_visit_embedded(struct ab_shell_run *run, const struct ab_word *word,
		       const struct ab_shell_place_of *place);
/* What was pushed, and is not of a command. */
void ab_visit_waiting(struct ab_shell_run *run,
		      const struct ab_shell_place_of *place);
/* What the visitor has to say at the end of a shell. True: there is more to
 * visit. */
bool ab_visit_last(struct ab_shell_run *run,
		   const struct ab_shell_place_of *place);
void ab_visit_pushed(struct ab_shell_run *run, struct pushed *pushed,
		     const struct ab_shell_place_of *place);
static inline void ab_visit_answer(struct ab_shell_run *run,
				   enum ab_shell_answer a)
{
	run->is_stopped |= a == AB_SHELL_STOP;
}

/* simple.c */
void ab_visit_simple(struct ab_shell_run *run,
		     const struct ab_shell_tree *tree, const struct cmd *cmd,
		     const struct ab_shell_place_of *place);
/* A word of an exact one, in the text itself. */
void ab_visit_exact(const struct ab_shell_tree *tree, const struct word *w,
		    struct ab_word *out);
/* redirect.c: redirections, expanded. */
uint32_t ab_visit_redirs(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct cmd *cmd, struct ab_shell_redir **out);
void ab_visit_step_words(struct ab_shell_run *run, struct visit_frame *f);
void ab_visit_step_substitution(struct ab_shell_run *run,
				struct visit_frame *f);
void ab_visit_step_text(struct ab_shell_run *run, struct visit_frame *f);
void ab_visit_step_call(struct ab_shell_run *run, struct visit_frame *f);
void ab_visit_step_compound(struct ab_shell_run *run, struct visit_frame *f);

#endif
