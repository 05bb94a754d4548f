/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One check against a pack: what is known around the command, the commands
 * taken apart, what was found. Shared by the files of the shell check; the
 * way in is guard/shell.h.
 *
 * Memory is the check's scratch arena, given back command by command. When it
 * runs out the check ends with the rule parse.limit, which denies.
 */
#ifndef AB_GUARD_CHECK_H
#define AB_GUARD_CHECK_H

#include <string.h>

#include "base/arena.h"
#include "guard/pack.h"
#include "guard/shell.h"
#include "path/glob.h"
#include "shell/shell.h"
#include "shell/word.h"

#define AB_CHECK_MAX_DEPTH 64	/* wrappers around a command */
/* Bytes of programs and statements that are gone through, each time that one
   is run: a file may be run by every line. */
#define AB_CHECK_MAX_TEXT (4u << 20)
#define AB_CHECK_MAX_NAMES 72	/* programs that a pattern may name */
#define AB_CHECK_MAX_PARTS 256	/* components of a path */
#define AB_CHECK_KNOWN_PATHS 16
#define AB_CHECK_WRITTEN 16 /* files of the text that a pattern may take */
#define AB_CHECK_SEATS 8 /* of paths that come again */

struct ab_chain {
	const struct ab_chain *up;
	const char *name;
	uint32_t len;
	/* a script that a shell reads from its stdin, which is this stream or
	   (NULL) its own redirection: `read` there reads lines of it */
	bool is_stdin;
	const struct ab_stream *in;
	uint32_t depth; /* of the commands that stand in no other */
	bool is_image; /* they act in the image of a container */
	bool is_part; /* of a file that is not seen: only denials count */
	bool is_later; /* they run between any two commands */
	const char *source; /* of tmux: they were made of that, name and text */
	uint32_t source_len;
};

/* The words of one command against its program. */
struct ab_use {
	const struct ab_program *program; /* the deepest; NULL: not known */
	const struct ab_word *words;	  /* words[0] names it */
	uint32_t count;
	uint64_t options; /* groups that are present */
	/* those that --x=false, --no-x and their kind may have taken back:
	   nothing is excused by them */
	uint64_t doubted;
	uint64_t heads;	  /* ab_head_bit() of the words and values */
	uint64_t starts;  /* ab_start_bit() of them, when it was asked for */
	/* the same of the program's name, behind its directory; 0: it was not
	   looked at */
	uint64_t name_head;
	uint32_t *operands; /* numbers of words */
	uint32_t operand_count;
	/* operands that may be the value of an option that nobody knows */
	uint64_t doubtful;
	uint32_t base[8]; /* first operand at each depth of subcommands */
	struct ab_value {
		uint8_t group;
		uint32_t word, at; /* the value is words[word] from byte at */
		uint32_t option;   /* the word of the option */
	} *values;
	uint32_t value_count;
	bool has_hole;	  /* in a word behind the name */
	bool is_help;	  /* --help or --version: does nothing else */
	bool is_open;	  /* find: ab_find_is_open() */
	bool is_unsure;	  /* an option of a wrapper that is not in the table */
	uint32_t in_taint; /* of stdin */
	const struct ab_word *in_text; /* all of stdin, when known */
	bool has_stdin;	  /* something is piped or redirected to it */
	const struct ab_word *env_value; /* of the assignment at hand */
	struct ab_held *held; /* NULL: its words are few */
};

/* What each word of many would ask of all of them again. */
struct ab_held {
	bool has_exports; /* ab_defined_export() has looked at them */
	uint8_t links[]; /* of the pack, AB_HELD_*: its clause's tests hold */
};

enum { AB_HELD_NO = 1, AB_HELD_YES };

/* A path that was looked at, by its bytes and the directory it was in. */
struct ab_seat {
	uint64_t classes; /* 0: nobody sits there */
	const char *dir;  /* NULL: it is absolute */
	uint32_t dir_len, len;
	char text[48];
};

/* What is known of a command's words as paths. */
struct ab_known_paths {
	const struct ab_word *words;
	uint32_t count;
	uint32_t known; /* a bit for each */
	uint64_t classes[AB_CHECK_KNOWN_PATHS];
};

/* What a program that copies has read before the last. */
struct ab_copied {
	const struct ab_copied *next;
	const struct ab_word *path;
};

/* The words in front of a command, which may give it variables. */
struct ab_given {
	const struct ab_given *up;
	const struct ab_word *words;
	uint32_t count;
};

struct ab_parts;  /* files_unpack.c */
struct ab_trap;	  /* traps.c */
struct ab_linked; /* links.c */
struct ab_deferred; /* defined.c */
struct ab_dump;	  /* dumps.c */
struct ab_edited; /* files_edit.c */

/* Modules that inline programs import, each by the one before. */
struct ab_module {
	const struct ab_word *path;
	const struct ab_module *outer;
};

struct ab_check {
	const struct ab_pack *pack;
	const struct ab_shell_place_text *place;
	struct ab_arena *scratch; /* given back after each command */
	struct ab_arena *high;	  /* what lives as long as the check */
	struct ab_shell_run *run;	   /* NULL: an argv alone */
	const struct ab_shell_command *command; /* being visited; or NULL */
	const struct ab_chain *chain;
	uint32_t flags;		  /* of the command: enum ab_shell_place */
	uint32_t depth;
	const struct ab_module *module; /* the innermost; or NULL */
	uint32_t modules;	  /* that were run */
	uint32_t out_taint;	  /* of what the command prints */
	uint32_t saved_taint;
	const struct ab_stream *in_list; /* of the file that stdin is */
	struct ab_stream *out_list; /* for the one that it prints to */
	bool is_strict, is_broken;
	bool is_excused;  /* the command may do what would be asked about */
	bool in_is_file; /* stdin is redirected from a name */
	bool in_is_loose; /* and more may be in it than is known */
	bool in_is_device; /* ... below /dev */
	bool is_image; /* what is pushed now acts in the image of a container */
	bool is_part; /* what is run now is a part of a file, see ab_chain */
	bool is_stdin_text; /* what is pushed now is the stdin of who runs it */
	bool is_on_script;  /* stdin is what a shell reads its script from */
	bool has_script_copy; /* ... and so may be another descriptor */
	bool has_stdin_link;  /* a file may be a link to it */
	bool reads_file, reads_fd; /* stdin.c: the words of a command do */
	bool is_single;	 /* one argument of many is tried */
	/* curl has what one of its patterns stands for, or a command what its
	   file of options says */
	bool is_globbed;
	bool is_probe;	 /* what is found is looked at, not told */
	bool is_for_git; /* git does what the words are judged for */
	uint8_t left_out; /* words of the command at hand that may be none */
	bool is_reading_named; /* files that a tool finds by their names */
	const char *source; /* the text of commands that is taken apart */
	uint32_t source_len;
	const char *found; /* the word that stands for what find found */
	bool is_found_wide; /* which is all below / or a home */
	bool is_again;	 /* the same command in another directory */
	bool is_perhaps; /* a text that it runs is one of several */
	enum ab_shell_when when; /* ... and runs then */
	bool is_linked;	 /* paths lead through the links of the text */
	bool met_link;	 /* a path at hand would */
	bool has_link_choice; /* through another one at the same name */
	bool is_one_pass; /* a link that it makes itself was not there then */
	bool has_lost_link; /* one in the worktree is not known any more */
	bool has_stray_link; /* one at a place that is not known */
	uint8_t link_choice; /* which of them, the newest first */
	uint32_t link_moves; /* so far */
	/* stayed.c: its variable, where the command at hand stands should a cd
	   have failed (or NULL), and that is not in the worktree */
	const struct variable *stayed;
	const struct ab_word *stays;
	bool stays_far;
	bool is_physical; /* set -P: cd does */
	bool keeps_files; /* `set -C`, chmod: what is written may not be */
	bool keeps_last; /* what is done is done to the link itself */
	bool is_reading; /* only what is done to files counts */
	bool has_cwd;	 /* of the run: a text began in another one */
	bool has_dots;	 /* a pattern takes names with a dot in front */
	bool has_fold;	 /* ... and in either case of letters */
	bool has_cdable; /* `cd NAME` may lead to $NAME */
	bool has_files;	 /* the text wrote one that is followed */
	bool has_foreign; /* ... or one of what others made */
	bool has_root;	 /* git told where the worktree is */
	const struct ab_stream *noted; /* by git, the last */
	uint32_t noted_at;
	bool has_names;	 /* a stream's note says which files find takes */
	bool has_lists;	 /* a file has names in it: lists.c */
	bool has_holed_file; /* the name of one has holes */
	uint64_t file_names; /* two bits for the last name of each */
	/* their variables, the first of them, for patterns */
	const char *written[AB_CHECK_WRITTEN];
	uint64_t lost_modules; /* ab_file_module_bit() of those beyond it */
	uint32_t written_count;
	/* code_make.c: what makefiles were expanded to, those that others
	   included, and the last that were read; a recipe gives a make that
	   it runs more than names of targets */
	size_t make_bytes;
	uint32_t makefiles, make_count;
	struct ab_make_read {
		const char *text;
		uint32_t len, holes;
		uint64_t hash;
	} makes[4];
	bool is_make_told;
	bool is_make_given; /* make NAME=VALUE: those below have it, too */
	struct ab_dump *dump; /* that waits for who reads it; or NULL */
	/* the text made, when one leads away; before that, those that do not */
	struct ab_linked *links, *near_links;
	struct ab_trap *traps; /* texts that run later */
	/* asked about in functions; the outermost that is being defined */
	struct ab_deferred *deferred;
	uint32_t deferred_count, defining_depth;
	const struct ab_shell_function *defining;
	bool defining_traps; /* there was a trap when it began */
	bool is_exporting; /* functions, to callers that are not seen */
	bool has_loose; /* a file of the text may hold another one */
	bool has_edits; /* something was put into one: files_edit.c */
	const struct ab_word *edited; /* that is what */
	const struct ab_edited *edited_patterns;
	const struct ab_parts *parts; /* of files that were taken apart */
	uint32_t printed; /* bytes that were followed through programs */
	uint32_t trees; /* archives off the network that were taken apart */
	/* what a program that copies has read so far */
	uint32_t copy_taint;
	const struct ab_word *copy_text, *copy_from;
	const struct ab_copied *copied; /* those before it, the last first */
	const char *copy_name; /* a variable that may be more than one text */
	uint32_t copy_name_len;
	const struct ab_word *cwd; /* NULL: unknown */
	/* the command's own words, the directory in which it began, and what is
	   known as paths from there of the words at hand */
	const struct ab_word *argv, *first_cwd;
	uint32_t argc;
	struct ab_known_paths *paths, own_paths;
	/* the last word of which ab_word_slice() took all */
	const struct ab_word *whole;
	/* near.c: the last directory that was looked at; text stays */
	const char *near_dir;
	uint32_t near_len;
	bool is_near;
	struct ab_seat seats[AB_CHECK_SEATS];
	/* the file of the redirection at hand, and its classes; 0: unknown */
	const struct ab_word *target;
	uint64_t target_classes;
	uint32_t text_read; /* bytes of programs and statements */
	/* programs that run in each other, by a call that runs a text: one of
	   them has such (code_removed.c) */
	uint8_t codes;
	bool has_unseen, has_kept;
	ab_guard_report *report;
	ab_guard_command *told;
	struct ab_stream *own_in; /* of the command at hand: own_stdin() */
	const struct ab_given *given; /* by the wrappers around what runs */
	const struct ab_shell_assign *assigns; /* of the command at hand */
	uint32_t assign_count;
	void *user;
	const struct ab_use *use; /* for reports */
};

static inline void *ab_check_alloc(struct ab_check *c, size_t size)
{
	void *p = ab_arena_low(c->scratch, size);

	c->is_broken |= !p;
	return p;
}

/* What is run is a part of a file that nobody sees. */
static inline bool ab_check_is_part(const struct ab_check *c)
{
	return AB_UNLIKELY(c->is_part || (c->chain && c->chain->is_part));
}

/* What is found from here on depends on the directory: place.h. */
static inline void ab_check_want_cwd(const struct ab_check *c)
{
	if (c->place->wants_cwd)
		*c->place->wants_cwd = true;
}
/* A finding of clause or rule; word NULL: the whole command. */
void ab_check_clause(struct ab_check *c, const struct ab_clause *clause,
		     const struct ab_word *word) AB_COLD;
void ab_check_known(struct ab_check *c, enum ab_known known, uint8_t verdict,
		    const struct ab_word *word) AB_COLD;

/* --- argv.c --- */
bool ab_use_read(struct ab_check *c, const struct ab_program *p,
		 const struct ab_word *words, uint32_t count,
		 struct ab_use *use);
/* ab_start_bit() of its words and values. */
uint64_t ab_use_starts(struct ab_use *use);
/* An option may have the letter: most greps have no -l. */
bool ab_use_has_letter(const struct ab_use *use, char letter);
/* One of its words is that. */
bool ab_use_has_word(const struct ab_use *use, const char *text);
/* The test of find at a word is behind `!`, or in a group that is. */
bool ab_is_negated(const struct ab_use *use, uint32_t word);
/* find: how many of its operands are where it starts; the others are words of
   its expression, and of what it runs. */
uint32_t ab_find_starts(const struct ab_use *use);
/* find: what the test takes is cut off by -prune, and nothing is done to it. */
bool ab_is_pruned(const struct ab_use *use, uint32_t test);
/* find: a removal that no test before it narrows: `-delete -name x`, and in
   one of several alternatives `-name x -o -delete`. */
bool ab_find_is_open(const struct ab_use *use);
/* find: the test of names stands behind one `!`, in no group, and beside no
   alternative: what it takes is left alone. */
bool ab_find_leaves_out(const struct ab_use *use, uint32_t test);
/* The same of some test that takes what lies in a .git. */
bool ab_find_spares_git(const struct ab_use *use);
/* w from byte `at`, at most len bytes. */
bool ab_word_slice(struct ab_check *c, const struct ab_word *w, uint32_t at,
		   uint32_t len, struct ab_word *out);

/* --- argv_role.c --- */
typedef void ab_role_fn(struct ab_check *c, const struct ab_use *use,
			const struct ab_role *role, const struct ab_word *w);
/* The options that surely count, where one of them excuses the command. */
static inline uint64_t ab_sure_options(const struct ab_use *use)
{
	return use->options & ~use->doubted;
}
/* One of the operands is a path, as `pip install .` has it. */
bool ab_has_path(const struct ab_use *use);
static inline bool ab_role_applies(const struct ab_use *use,
				   const struct ab_role *role)
{
	uint32_t n = use->operand_count - use->base[use->program->depth];

	return role->is_always ||
	       ((!role->need || (use->options & role->need)) &&
		(!role->also || (use->options & role->also)) &&
		!(ab_sure_options(use) & role->unless) &&
		(role->none != 1 || !n) && (role->none != 2 || n) &&
		(role->none != 5 || n == 1) &&
		(role->none < 3 || role->none > 4 ||
		 (n && ab_has_path(use) == (role->none == 3))));
}
/* Calls fn for each word that the role means. */
void ab_role_each(struct ab_check *c, const struct ab_use *use,
		  const struct ab_role *role, ab_role_fn *fn);

/* --- path.c --- */
uint64_t ab_path_classes(struct ab_check *c, const struct ab_word *w);
/* --- near.c --- */
/* A name inside the worktree that no pack lists: its classes are AB_NEAR. */
bool ab_path_is_near(struct ab_check *c, const struct ab_word *w);
#define AB_NEAR (AB_CLASS(ANY) | AB_CLASS(INSIDE) | AB_CLASS(SUBDIR))
/* --- path.c --- */
/* The word as an absolute path in scratch; NULL when it is not known. */
const char *ab_path_text(struct ab_check *c, const struct ab_word *w,
			 uint32_t *len);
/* The same for a directory; a pattern among the project's own, `packages/x*`,
   stands for one of them, which no pack lists. */
const char *ab_dir_text(struct ab_check *c, const struct ab_word *w,
			uint32_t *len);

/* --- match.c --- */
/* Of a command of so many words; NULL, also when there is no memory, which ends
   the check. */
struct ab_held *ab_held_new(struct ab_check *c, uint32_t count);
bool ab_all_hold(struct ab_check *c, const struct ab_use *use, uint32_t test,
		 uint32_t count, uint32_t base);
/* What the rules of its program say of the command. */
void ab_check_clauses(struct ab_check *c, struct ab_use *use);
/* Most fail by their options. */
static inline bool ab_tests_hold(struct ab_check *c, const struct ab_use *use,
				 const struct ab_clause *clause, uint32_t base)
{
	return (!clause->need || (use->options & clause->need)) &&
	       !(ab_sure_options(use) & clause->never) &&
	       ab_all_hold(c, use, clause->test, clause->test_count, base);
}
bool ab_value_check(struct ab_check *c, uint8_t value,
		    const struct ab_word *w);
/* /:/host and type=bind,src=/ give a container what is the host's. */
bool ab_value_is_bind_root(struct ab_check *c, const struct ab_word *w);
/* A test of find by that name takes whatever there is. */
bool ab_value_is_any_name(const struct ab_word *w);
/* --- value_host.c --- */
/* It has a name or an address of the metadata service in it. */
bool ab_value_is_metadata(const struct ab_word *w);
bool ab_value_is_localhost(const struct ab_word *w);
/* ... and no other word of the command is an address of another one. */
bool ab_value_is_local(const struct ab_check *c, const struct ab_word *w);
/* The host of an address in it; the word itself where there is none. */
const char *ab_value_host(const struct ab_word *w, uint32_t *len);
/* An address of the network; a repository of a forge, also by NAME/REPOSITORY
   alone; a flake from elsewhere; host:path. */
bool ab_value_is_url(const struct ab_word *w);
bool ab_value_is_hosted(const struct ab_word *w);
bool ab_value_is_flake_url(const struct ab_word *w);
bool ab_value_is_remote_path(const struct ab_word *w);
/* --- value_secret.c --- */
/* A variable in it has such a name. */
bool ab_value_names(const struct ab_word *w, bool (*is_name)(const char *name));
/* A variable in it has the name of a secret. */
bool ab_value_has_secret(const struct ab_word *w);
/* SECRET when a word behind the name has one. */
uint32_t ab_secret_taint(const struct ab_use *use);
/* Of what a variable of that name holds. */
uint32_t ab_secret_named(const char *name);
/* The name of a variable, in capitals. */
bool ab_value_is_secret(const char *name);
/* Its host has the name that the variable's begins with: X_TOKEN for x.com. */
bool ab_value_is_hosted_for(const struct ab_word *w, const char *name,
			    uint32_t len);
/* A variable that is one and goes to somebody else than who it is named after;
   of a query or of a field `name=$X`. */
bool ab_value_is_sent(const struct ab_check *c, const struct ab_word *w);
bool ab_value_is_sent_field(const struct ab_check *c, const struct ab_word *w);
/* --- value.c --- */
/* Files in .git, which a test beside it may leave out. */
bool ab_value_is_in_git(int value);
void ab_check_path(struct ab_check *c, const struct ab_use *use,
		   enum ab_role_kind kind, const struct ab_word *w);
void ab_check_flow(struct ab_check *c, const struct ab_use *use,
		   enum ab_sink sink, uint32_t taint,
		   const struct ab_word *w);
void ab_check_env(struct ab_check *c, const char *name, uint32_t len,
		  const struct ab_word *value);
uint32_t ab_holes_taint(const struct ab_word *w);
static inline uint32_t ab_word_taint(const struct ab_word *w)
{
	return w->hole_count ? ab_holes_taint(w) : 0;
}
/* --- pattern.c --- */
/* A pattern of the shell's or of find's may take the name; fold: in either
   case of letters. */
bool ab_pattern_may_take(const char *p, size_t n, const char *name, size_t len,
			 bool fold);
/* The same pattern with what takes one byte only written as that byte; out
   has room for n. */
size_t ab_pattern_plain(const char *p, size_t n, char *out);

/* The glob of a listed path takes a name. */
static inline bool ab_part_takes(const struct ab_part *want, const char *name,
				 size_t n)
{
	size_t k = want->len - 1u;

	if (want->shape == AB_SHAPE_ANY)
		return ab_glob_match_name(want->text, want->len, name, n, 0);
	if (n < k)
		return false;
	return want->shape == AB_SHAPE_TAIL ?
		       !memcmp(want->text + 1, name + n - k, k) :
		       !memcmp(want->text, name, k);
}

/* --- text.c, code.c --- */
void ab_check_text(struct ab_check *c, const char *lang,
		   const struct ab_word *text);
/* What is no beginning of anything: an expression in a string. */
void ab_check_text_inside(struct ab_check *c, const char *lang,
			  const struct ab_word *text);
/* `BEGIN; $x`, `-- all\n$x`: what a statement of it does is not known, as if
   nothing else was there. */
bool ab_text_opens(const struct ab_word *w, const char *lang);
void ab_check_code(struct ab_check *c, const struct ab_use *use,
		   const char *lang, const struct ab_word *text);

/* The program is what nobody knows, and nothing else: `python -c "$CODE"`. */
static inline bool ab_code_is_value(const struct ab_word *text)
{
	return text->hole_count &&
	       (!text->len || (text->len == 1 && *text->text == '\n'));
}

/* --- command.c --- */
/* Judges one command. */
void ab_check_words(struct ab_check *c, const struct ab_word *words,
		    uint32_t count, uint32_t in_taint,
		    const struct ab_word *in_text, bool has_stdin);
/* A text for a shell: of now, or of a child with arguments. */
void ab_check_script(struct ab_check *c, const struct ab_word *text,
		     bool is_child, const struct ab_word *args,
		     uint32_t arg_count, const char *how);

#endif
