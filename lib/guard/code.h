/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An inline program as code.c reads it: its tokens, its calls (code_calls.c,
 * code_apply.c, code_judge.c) and their arguments (code_args.c), the strings
 * that stand for words (code_words.c), and what its names stand for
 * (code_names.c).
 */
#ifndef AB_GUARD_CODE_H
#define AB_GUARD_CODE_H

#include "guard/check.h"
#include "guard/text.h"

enum ab_call {
	AB_CALL_NONE,
	AB_CALL_SHELL, /* one string is a line, several are an argv */
	AB_CALL_REMOVE,
	AB_CALL_DELETE,
	AB_CALL_WRITE,
	AB_CALL_READ,
	AB_CALL_OPEN, /* by its mode */
	AB_CALL_CHMOD,
	AB_CALL_SQL,
	AB_CALL_RENAME,
	AB_CALL_COPY,
	AB_CALL_LINK,  /* the first is what it leads to */
	AB_CALL_ALIAS, /* a hard one */
	AB_CALL_FETCH, /* an address, and the file that gets it */
	AB_CALL_GLOB, /* names by a pattern */
	AB_CALL_WALK, /* all that lies below */
	AB_CALL_FIND, /* ... and has such a name */
	AB_CALL_CODE, /* of the same language */
	AB_CALL_CHDIR,
	AB_CALL_READS,	/* all that it is given */
	AB_CALL_WRITES, /* the same */
	AB_CALL_URL,	/* a file only as file:///x */
	AB_CALL_PATH,	/* by the method behind it */
	AB_CALL_PIPE,	/* lines, each read by the next */
	AB_CALL_LOAD,	/* the file is run as code of the same language */
	AB_CALL_ARGV,	/* its own name is the program */
	AB_CALL_GIT	/* ... or a command of git */
};

enum {
	AB_PY = 1,
	AB_PERL = 2,
	AB_RUBY = 4,
	AB_JS = 8,
	AB_PHP = 16,
	AB_LUA = 32,
	AB_AWK = 64,
	AB_OTHER = 128,
	AB_ALL_LANGS = 255
};

#define AB_CODE_STRINGS 64 /* of one call */
#define AB_CODE_NAMES 64  /* of a program, that are known */
#define AB_CODE_RESULTS 32 /* ... of what its functions return */
#define AB_CODE_VALUES 32 /* of a name */

#define AB_CODE_OWN 16	  /* functions of a program, that are known */

struct ab_args;
struct ab_made;
struct functions; /* code_params.c */
struct ab_remote; /* code_remote.c */

/* ab_token.quote of a name that stands for what the function returns that has
   it, x(): a variable, or a method, may have the same. */
#define AB_CODE_RESULT '\1'

/* x = "a", x = ["a", "b"], for x in ["a", "b"], system as x. */
struct ab_named {
	struct ab_token name;
	uint8_t call; /* another name of this one; 0: it has values */
	bool is_list; /* all of them together; otherwise one of them */
	bool is_any;  /* a list, and one of them too */
	bool is_path; /* x = Path("a") */
	bool is_noted; /* is_unknown, of what a function returns */
	bool is_unknown; /* it is also given what is not known */
	bool is_nested;	 /* a list of those lists that `begins` tells */
	bool is_map;	 /* what a table has, without its keys */
	bool is_used;	 /* it may have been, before what is read now */
	bool is_cut;  /* there is more of it */
	uint32_t begins; /* a bit for each value that begins a list */
	uint32_t edits;	 /* how often something was added or changed */
	uint32_t forks;	 /* alternatives that are what it was before */
	/* a name that it is made of, and its edits then */
	struct ab_token source;
	uint32_t source_edits;
	uint32_t count, room;
	struct ab_word *words;
};

#define AB_CODE_ENTRIES 8
#define AB_CODE_LATE 8

/* name = and for name in, of what is not known before the parameters are. */
struct ab_late {
	struct ab_lexer x;
	struct ab_token name;
	bool is_each;
};

#define AB_CODE_TOOLS 4

/* exe = os.path.join(d, "a") */
struct ab_tool {
	struct ab_token name;
	struct ab_word word;
};

#define AB_CODE_RESTS 8

/* sh("a", x): the words that a parameter has all of, from that argument on. */
struct ab_rest {
	struct ab_lexer x;
	struct ab_token to;
	uint32_t from;
};

#define AB_CODE_BRACKETS 16

/* awk: where expressions begin, in brackets that are open. */
struct ab_pipes {
	uint32_t depth;
	uint32_t begin[AB_CODE_BRACKETS + 1];
};

#define AB_CODE_PROGRAMS 8

/* git = local["git"] */
struct ab_code_program {
	struct ab_token name, program;
};

struct ab_code {
	struct ab_check *c;
	const struct ab_use *use;
	const struct ab_word *text;
	struct ab_lexer x;
	const char *name; /* of the language */
	uint8_t lang;
	/* ab_code_find_modules() */
	uint16_t modules; /* AB_MODULE_* that it names */
	uint8_t alias_count;
	struct ab_token aliases[4]; /* import subprocess as x */
	bool runs_input; /* a call runs what is not in the program */
	bool is_input_code; /* ... as the same language */
	struct ab_token before; /* the token before the one at hand */
	struct ab_token behind; /* and the one before that */
	struct ab_pipes pipes;
	struct ab_named *names;
	uint32_t name_count, result_count;
	uint32_t value_room; /* of all names */
	bool has_functions;  /* it defines some that may run before */
	bool changes_each;   /* perl: a loop may change what it goes through */
	struct functions *functions;
	/* names of the table that are its own functions' and nothing else's */
	struct ab_token own[AB_CODE_OWN];
	uint32_t own_count;
	/* names that are given what is not known, each once */
	struct ab_token *unknown;
	uint32_t unknown_count;
	bool is_unknown; /* there are more of them: all may be */
	/* names that stand for what is in a directory */
	struct ab_token entries[AB_CODE_ENTRIES];
	uint32_t entry_count;
	/* what is made of a parameter, until those are known */
	struct ab_late late[AB_CODE_LATE];
	uint32_t late_count;
	struct ab_tool tools[AB_CODE_TOOLS];
	uint32_t tool_count;
	struct ab_rest rests[AB_CODE_RESTS];
	uint32_t rest_count;
	uint8_t libraries; /* of code_program.c; 0: unseen */
	struct ab_code_program programs[AB_CODE_PROGRAMS];
	uint32_t program_count;
	bool waits; /* what was read last is such */
	struct ab_token function; /* in whose body the lexer is, or was last */
	uint32_t function_at; /* how far in that begins */
	uint32_t braces;      /* that are open, of javascript */
	bool is_decorated;    /* what comes next is */
	uint32_t tuple_at; /* the last name that was given a part of one */
	char *last; /* the text that was put together last; or NULL */
	size_t last_size;
	struct ab_word cwd; /* of chdir("x"), from there on; or of no length */
	bool is_away;	    /* chdir(x): where that is, is not known */
	/* the words behind the program, if it takes them */
	const struct ab_word *argv;
	uint32_t argv_count;
	/* of code_written.c */
	const struct ab_child *children;
	const struct ab_target *targets;
	uint32_t target_count;
	struct ab_started *started, *last_started;
	uint32_t started_count;
	bool has_lines; /* it gives some to a shell */
	bool has_handed; /* of code_handed.c */
	bool has_removed; /* it has a call that removes all below a name */
	bool has_unseen;  /* ... that is not followed */
	uint8_t temporaries; /* names that were asked about for that */
	uint32_t loose;	 /* a bit for each enum ab_call of what is computed */
	uint32_t removals; /* of what is computed; once is_counted */
	bool is_counted;
	uint8_t narrows; /* 1: names tell which, 2: they do not; 0: unseen */
	uint32_t filled; /* calls that were given those words */
	const struct ab_remote *remote; /* code_remote.c; or NULL */
	uint8_t reads;	 /* 1: it does, 2: it does not; 0: unseen */
	uint8_t trees;	 /* the same of calls that remove all below a name */
	uint8_t sockets; /* the same of connections of its own */
	uint8_t classes; /* ... and of those that it may define */
	uint8_t members; /* ... and of self.x */
	uint32_t looked; /* how often all was looked through for a pattern */
	/* of what may be a pattern: where it ends as code, and how often that
	   was the end of the text */
	uint32_t doubt_end, doubts;
};

enum {
	AB_MODULE_SUBPROCESS = 1,
	AB_MODULE_CHILD = 2, /* child_process */
	AB_MODULE_COMMANDS = 4, /* something that may run commands, of js */
	AB_MODULE_DENO = 8,
	AB_MODULE_MOCK = 16,
	AB_MODULE_GIT = 32, /* a library that has the commands of git */
	AB_MODULE_SH = 64,  /* ... or any program as a method */
	AB_MODULE_ARCHIVE = 128,
	AB_MODULE_TESTING = 256, /* of go */
	AB_MODULE_PROCESS = 512	 /* Process.Start(), of whose words not all are
				    followed */
};

/* --- code_words.c --- */
/* How the tokens of an expression make words: "a" + b + "c" is one. */
enum ab_joint {
	AB_JOINT_NONE,
	AB_JOINT_STRING,   /* a string ends here */
	AB_JOINT_OPEN,	   /* behind a `+` */
	AB_JOINT_COMPUTED, /* in what is not known of a word */
};

enum ab_piece {
	AB_PIECE_OTHER,
	AB_PIECE_NEW,  /* begins a word */
	AB_PIECE_MORE, /* belongs to the last word */
	AB_PIECE_HOLE  /* something that is not known follows the last word */
};

/* is_text: the token is a string, or a name that stands for one. */
enum ab_piece ab_code_piece(const struct ab_code *k, enum ab_joint *joint,
			    const struct ab_token *t, bool is_text);
/* "a" + "b", "a" . "b" */
bool ab_code_is_joint(const struct ab_code *k, const struct ab_token *t);
/* `x` of perl, ruby and php: what x prints. */
bool ab_code_runs_text(const struct ab_code *k, const struct ab_token *t);
/* A string token as a word; of what it runs it is not known. False: no
   memory. */
bool ab_code_word(struct ab_code *k, const struct ab_token *t,
		  struct ab_word *w);
/* The same as it stands there. */
bool ab_code_text_word(struct ab_code *k, const struct ab_token *t,
		       struct ab_word *w);
/* The same without what names and expressions in it stand for. */
bool ab_code_plain_word(struct ab_code *k, const struct ab_token *t,
			struct ab_word *w);
/* The next word of qw(...), behind `t`. */
bool ab_code_bare_word(const struct ab_code *k, const struct ab_token *all,
		       struct ab_token *t);
/* The next expression in a string, from `from` on: "#{x}", f"{x}". */
bool ab_code_field(const struct ab_code *k, const struct ab_token *t,
		   uint32_t from, uint32_t *at, uint32_t *end);
void ab_code_append(struct ab_code *k, struct ab_word *w,
		    const struct ab_word *more);
void ab_code_hole(struct ab_code *k, struct ab_word *w);

/* --- code_table.c --- */
/* The bit of a language, AB_OTHER of what has no name here. */
uint8_t ab_code_lang(const char *lang);
/* The call of the table that it names, enum ab_call; 0: none. */
uint8_t ab_code_call(const struct ab_code *k, const struct ab_token *t);
uint8_t ab_code_call_of(const struct ab_code *k, const char *s, uint32_t len);
/* The table has the name for the language, whoever's it is. */
bool ab_code_is_known(const struct ab_code *k, const struct ab_token *t);
/* The names of the table in their order, once for each row; NULL: no more. */
const char *ab_code_call_name(size_t i);
/* How often something in a part of the text takes away files whose names it
   computes. */
uint32_t ab_code_count_removals(const struct ab_code *k,
				const struct ab_word *text);

/* --- code_calls.c --- */
/* The byte behind the blanks from `at` on; 0: the end. */
char ab_code_next_byte(const struct ab_word *text, uint32_t at);
/* The byte before the blanks at `at`, and where it is. */
char ab_code_last_byte(const struct ab_word *text, uint32_t *at);
/* A byte of a name, but for what stands before it. */
bool ab_code_is_letter(char ch);
/* What it names that runs commands: once, or time is not linear. */
void ab_code_find_modules(struct ab_code *k);
/* Something in the program takes away files whose names it computes; which, is
   not followed. */
bool ab_code_takes_away(struct ab_code *k);
/* It reads files. */
bool ab_code_reads_files(struct ab_code *k);
/* It reads its stdin. */
bool ab_code_reads_input(const struct ab_code *k);
/* js: /x/.exec(y) */
bool ab_code_is_match(struct ab_code *k, const struct ab_token *t);
/* go: cmd := "x", t.Run(name, f), java: String cmd = "x", rust: for cmd in x. */
bool ab_code_runs_nothing(const struct ab_code *k, const struct ab_token *t);
/* The word at hand is called, or handed on to be: not what is imported, and
   not the exec() of a pattern. The lexer is behind it. */
bool ab_code_is_run(struct ab_code *k, const struct ab_token *t);
/* Whether the first argument of the call at the lexer, the first word of a
   list, is computed (is_computed), or that or what the program reads
   (is_fed). */
void ab_code_see_first(const struct ab_code *k, struct ab_args *a);
/* Where the arguments of a call without brackets end: system "a", "b" or die */
bool ab_code_ends_words(const struct ab_code *k, const struct ab_token *t);
bool ab_code_is_one_of(const struct ab_code *k, const struct ab_token *t,
		       const char *const *names, size_t count);
/* What this returns is made of the strings that it is given. */
bool ab_code_hands_on(const struct ab_code *k, const struct ab_token *t);
/* What has this name runs a command and nothing else that has it; the lexer is
   behind it. */
bool ab_code_is_command(const struct ab_code *k, const struct ab_token *t);
/* The same of a name that is not called there. */
bool ab_code_names_command(const struct ab_code *k, const struct ab_token *t);
/* What has this name runs a text as code; the lexer is behind it. */
bool ab_code_is_code(const struct ab_code *k, const struct ab_token *t);
/* perl and ruby: `eval` of a text, where `eval {` is a block. */
bool ab_code_has_eval(const struct ab_code *k);
/* It has the name as a word. */
bool ab_code_text_has(const struct ab_word *text, const char *name);
bool ab_code_has_name(const struct ab_code *k, const char *name);

/* --- code_named.c --- */
/* package.json: its scripts, and a justfile: its recipes, as far as the
   command asks for them. */
void ab_check_npm(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *text);
void ab_check_just(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *text);

/* --- code_lines.c --- */
/* Calls of tcl, NAME: COMMAND. */
void ab_check_lines(struct ab_check *c, const struct ab_use *use,
		    const char *lang,
		    const struct ab_word *text);
void ab_check_m4(struct ab_check *c, const struct ab_word *text);

/* --- code_make.c --- */
void ab_check_make(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *text);

/* --- code_ex.c --- */
/* Lines of ed and ex: the files in them. */
void ab_check_ex(struct ab_check *c, const struct ab_use *use,
		 const struct ab_word *text);
/* Lines of dc, gdb and others that give a command to a shell. */
void ab_check_escapes(struct ab_check *c, const char *lang,
		      const struct ab_word *text);
void ab_check_cmake(struct ab_check *c, const struct ab_use *use,
		    const struct ab_word *text);

/* --- code_image.c --- */
/* RUN lines of a container's file, for the command that builds it. */
void ab_check_image(struct ab_check *c, const struct ab_use *use,
		    const struct ab_word *text);

/* --- code_tasks.c --- */
/* Commands behind keys and in lists of whatever format. */
void ab_check_tasks(struct ab_check *c, const struct ab_word *text);
/* The text with what is one string to python in one; false: no memory. */
bool ab_tasks_join(struct ab_check *c, const struct ab_word *text,
		   struct ab_word *out);
/* shell("...") of a Snakefile */
void ab_check_shell_calls(struct ab_check *c, const struct ab_word *text);
/* "..." of text[at..end-1]: each a command, or all of them one. */
void ab_check_strings(struct ab_check *c, const struct ab_word *text,
		      uint32_t at, uint32_t end);
void ab_check_actions(struct ab_check *c, const struct ab_word *text);
void ab_check_generate(struct ab_check *c, const struct ab_word *text);
/* --- code_xml.c --- */
/* What ant and maven run, remove and write. */
void ab_check_xml(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *text);
/* cmd = "..." */
void ab_check_keyed(struct ab_check *c, const char *lang,
		    const struct ab_word *text);
/* --- code_tasks.c --- */
/* Tests of bats, which are bash but for their heads. */
void ab_check_bats(struct ab_check *c, const struct ab_word *text);

/* --- code_jq.c --- */
/* Scripts that a program of jq puts into a package.json, and the environment
   that it prints. */
void ab_check_jq(struct ab_check *c, const struct ab_word *text);

/* --- code_config.c --- */
/* Options of the command that stand in a file of this kind. */
void ab_check_config(struct ab_check *c, const struct ab_use *use,
		     const char *kind, const struct ab_word *text);

/* --- code_args.c --- */
struct ab_args {
	struct ab_token name; /* of the call */
	struct ab_word words[AB_CODE_STRINGS];
	uint32_t count;
	struct ab_token number_token; /* the last number, as chmod has it */
	bool is_cut; /* there is more of it */
	/* so many of the first are the first argument, if that is a list */
	uint32_t listed;
	bool has_list;
	bool is_second; /* ... and no word of it is known: none is of that */
	uint32_t two; /* one more than the words of the first two; 0: all are */
	enum ab_joint joint;
	/* words[which] is any of its values behind the head; or NULL */
	const struct ab_named *each;
	uint32_t which;
	struct ab_word head;
	bool has_head;
	/* the same of another name behind it, from words[pair_at] on */
	const struct ab_named *pair;
	uint32_t pair_at;
	bool is_bare; /* nothing was said behind the home */
	bool is_home; /* "~/x" is expanded */
	uint32_t first; /* words of the first argument */
	bool is_run; /* ab_code_is_run() */
	bool is_handed; /* ... by what it is given to, with each word */
	bool is_fed, is_computed, is_fetched; /* ab_code_see_first() */
	bool is_taken_away; /* of a call that removes */
	bool is_command; /* ... that runs one: what is computed is a word */
	bool takes_list; /* spawn("git", words) */
	bool is_either;	 /* "a" if x else "b" */
	bool is_written; /* O_WRONLY */
	bool is_module;	 /* the next string is the name of one */
	bool has_input;	 /* input="a": what it finds on its stdin */
	struct ab_word input; /* if known */
	bool has_more; /* x="a", whatever that says: is it a word? */
	bool has_dir;	 /* cwd="a": where it is run */
	struct ab_word dir;
	/* the last word is a home, which a "/" or a join() goes on with */
	bool is_open, is_joined, has_slash;
	/* the words behind the program are among them; before any string */
	bool has_argv, is_argv_first;
	uint32_t remote_at; /* the last token that ab_code_is_remote() */
	/* what runs in place of the first word: perl's system {"rm"} ...,
	   python's executable="rm" */
	bool has_block;
	struct ab_word block;
};

/* The arguments from the lexer's place on. */
void ab_code_read_args(struct ab_code *k, struct ab_args *a);
/* --- code_pair.c --- */
/* True: what the name stands for is put behind what another one does, and is
   judged with each value of that. */
bool ab_code_begin_pair(struct ab_args *a, const struct ab_named *n);
void ab_code_judge_pair(struct ab_code *k, enum ab_call kind,
			struct ab_args *a);
/* --- code_block.c --- */
/* system {"x"} ...: how many brackets are open behind it. */
int ab_code_read_block(struct ab_code *k, struct ab_args *a);
/* Something is made of the string behind which the lexer is: "..."[::-1]. */
bool ab_code_is_changed(const struct ab_code *k);
/* ruby: system({"A" => "b"}, "make"): the token begins what is no command. */
bool ab_code_is_environment(const struct ab_code *k, const struct ab_token *t);
/* Path.home(), os.homedir(), Dir.home, environ["HOME"], env.HOME; the lexer
   is behind it. */
bool ab_code_is_home(const struct ab_code *k, const struct ab_token *t);
/* x = [...] more than once: it is one of those lists. */
bool ab_code_has_lists(const struct ab_named *n);

/* --- code_apply.c --- */
/* The call that begins with a token, with each value of its arguments, which
   are read into a. */
void ab_code_apply(struct ab_code *k, struct ab_args *a, enum ab_call kind,
		   const struct ab_token *t);
/* Path("x").write_text(...): what is done with it stands behind it. */
enum ab_call ab_code_path_method(const struct ab_code *k,
				 struct ab_lexer *behind);

/* --- code_awk.c --- */
/* A token of a program of awk, which may make it run a command or write a file;
   the lexer is behind it. */
void ab_code_awk_token(struct ab_code *k, const struct ab_token *t);
/* Files that it writes and reads by names. */
void ab_code_check_awk(struct ab_code *k);

/* --- code_written.c --- */
/* A command that it starts: perhaps a shell that reads what it writes. */
void ab_code_note_child(struct ab_code *k, const struct ab_args *a);
/* One that is a list: it may run a file that the program writes. */
void ab_code_note_started(struct ab_code *k, const struct ab_args *a);
/* A file that it writes. */
void ab_code_note_target(struct ab_code *k, const struct ab_word *path);
/* And what these are given. */
void ab_code_check_writes(struct ab_code *k);
/* It has a connection of its own, and not one of a client of some protocol. */
bool ab_code_has_socket(struct ab_code *k);

/* --- code_other.c --- */
/* Commands in backquotes and those that are computed, of a language that is
   known by its calls alone. */
void ab_code_check_other(struct ab_code *k);

/* --- code_env.c --- */
/* Variables of the environment that it sets. */
void ab_code_check_env(struct ab_code *k);

/* --- code_handed.c --- */
/* A call that runs a command is given to something, or kept, and nobody sees
   with what it is called there; a: what stands beside it. */
void ab_code_note_handed(struct ab_code *k, const struct ab_token *t,
			 const struct ab_args *a);
/* The same of a string that names it. */
void ab_code_handed_string(struct ab_code *k, const struct ab_token *t);
/* "ev" + "al" */
void ab_code_pieced_name(struct ab_code *k, const struct ab_token *t);
void ab_code_check_handed(struct ab_code *k);

/* --- code_files.c --- */
/* A string that is the name of a file: what is called with it reads it. */
void ab_code_read_string(struct ab_code *k, const struct ab_token *t);
/* The same of all names in a text, with quotes or without. */
void ab_check_files(struct ab_check *c, const struct ab_use *use,
		    const char *lang, const struct ab_word *text);

/* --- code_judge.c --- */
/* One call with arguments that are known as far as they ever are. */
void ab_code_judge(struct ab_code *k, enum ab_call kind, struct ab_args *a);
/* The file is written: with what the network sent, where the program reads
   that. */
void ab_code_write(struct ab_code *k, const struct ab_word *w);
/* The names that a pattern takes, as paths of the shell: false: it is none. */
bool ab_code_glob(struct ab_code *k, struct ab_word *w, bool is_deep);

/* --- code_judge_run.c --- */
/* The calls of ab_code_judge() that run something; is_known: the first word is
   one that is known as a whole. */
void ab_code_judge_shell(struct ab_code *k, struct ab_args *a, bool is_known);
/* A line that is a shell and its options, "/bin/bash -x": it runs what it is
   given on its stdin. */
bool ab_code_is_shell(const struct ab_code *k, const struct ab_word *w);
void ab_code_judge_code(struct ab_code *k, struct ab_args *a, bool is_known);
void ab_code_judge_pipe(struct ab_code *k, struct ab_args *a);
/* repo.git.cherry_pick("x"): the name of the call is a word. */
void ab_code_judge_method(struct ab_code *k, bool is_git, struct ab_args *a);

/* --- code_remote.c --- */
/* It has something from the network, by a call or a child. */
bool ab_code_fetches(struct ab_code *k);
/* ... and writes that into something: a file, a child. */
bool ab_code_feeds(struct ab_code *k);
/* The token is such a thing, once one of those two was asked; x is behind it,
   and `before` and `behind` are what they are in ab_code. */
bool ab_code_is_remote(const struct ab_code *k, const struct ab_token *t,
		       struct ab_lexer x, const struct ab_token *before,
		       const struct ab_token *behind);
/* A word that is such a thing. */
void ab_code_remote_hole(struct ab_code *k, struct ab_word *w);
/* What runs it as code and is not in the table. */
void ab_code_check_remote(struct ab_code *k);
/* The string is the address of a module. */
void ab_code_import(struct ab_code *k, const struct ab_token *t);

/* --- code_flow.c --- */
/* Secrets of its environment that it sends away, and what it reads and then
   takes away with all below it. */
void ab_code_check_flow(struct ab_code *k);

/* --- code_result.c --- */
/* A word of the program: what a function returns may begin there. */
void ab_code_read_result(struct ab_code *k, const struct ab_token *before,
			 const struct ab_token *t);
/* What the function of that name returns; NULL: that is not known. */
const struct ab_named *ab_code_result(const struct ab_code *k,
				      const struct ab_token *t);

/* --- code_removed.c --- */
/* What the call removes is none that is followed; x: at its arguments. */
bool ab_code_is_unseen(struct ab_code *k, const struct ab_args *a,
		       struct ab_lexer x);
/* Among what the program keeps is the name of a place of the system. */
bool ab_code_keeps_system(struct ab_code *k);

/* --- code_flow_names.c --- */
/* A name of what says who one is, or (is_reading) of what is no file. */
bool ab_code_is_header(const char *name, uint32_t len, bool is_reading);
bool ab_code_reads_environment(const struct ab_code *k,
			       const struct ab_token *t);
/* It sends what it is given, whoever has it; or where a client has it. */
bool ab_code_is_sender(const struct ab_code *k, const struct ab_token *t);
bool ab_code_is_verb(const struct ab_code *k, const struct ab_token *t);
/* What it returns has in it what it was given. */
bool ab_code_carries(const struct ab_code *k, const struct ab_token *t);
/* What of a request is the file that it sends. */
bool ab_code_is_payload(const struct ab_code *k, const struct ab_token *t);
/* It reads a file or stdin; a file and nothing else. */
bool ab_code_is_reader(const struct ab_code *k, const struct ab_token *t);
bool ab_code_is_file_reader(const struct ab_code *k, const struct ab_token *t);
bool ab_code_is_print(const struct ab_code *k, const struct ab_token *t);
/* It has, or the string is, perhaps the name of a file with a private key. */
bool ab_code_has_keys(const struct ab_code *k);
bool ab_code_has_key_name(const struct ab_code *k, const struct ab_token *t);

/* --- code_loose.c --- */
/* What runs a command or names a file without being a call; a is room. */
void ab_code_loose(struct ab_code *k, struct ab_args *a,
		   const struct ab_token *t);

/* --- code_module.c --- */
/* A file that the text wrote is run, unless it is one that is being run; false:
   the text did not write it. */
bool ab_code_run_file(struct ab_code *k, const struct ab_word *w);
/* The same of what may be the file, or the module. */
void ab_code_run_module(struct ab_code *k, const struct ab_word *name);
/* What a token names that runs so: import x, require("x"). */
void ab_code_module(struct ab_code *k, const struct ab_token *t);
/* All tokens of the program once more, when it has written its files. */
void ab_code_modules_again(struct ab_code *k);

/* --- code_made.c --- */
#define AB_MADE_ARGS 8

/* What an expression makes: one of some words, or a list. */
struct ab_made {
	struct ab_word *words;
	uint32_t count, room; /* no room: the words are another one's */
	bool is_list; /* all of them together */
	bool is_path; /* it has the methods of one */
	bool is_cut;  /* there are more of them */
};

/* What a format is filled with, some of it by a name. */
struct ab_made_args {
	struct ab_made all[AB_MADE_ARGS];
	struct ab_token keys[AB_MADE_ARGS];
	uint32_t count;
};

enum ab_glue {
	AB_GLUE_TEXT,
	AB_GLUE_PATH, /* a slash between; from the root on it begins anew */
	AB_GLUE_BELOW /* a slash between */
};

void ab_made_word(struct ab_code *k, struct ab_made *m,
		  const struct ab_word *w);
void ab_made_text(struct ab_code *k, struct ab_made *m, const char *s);
void ab_made_hole(struct ab_code *k, struct ab_made *m);
void ab_made_home(struct ab_code *k, struct ab_made *m);
void ab_made_entry(struct ab_code *k, struct ab_made *m);
/* One more of them. */
void ab_made_add(struct ab_code *k, struct ab_made *m,
		 const struct ab_word *w);
/* All of it is known; and what its values begin with. */
bool ab_made_is_known(const struct ab_made *m);
bool ab_made_begins(const struct ab_made *m);
/* Those of its values of which not even that is known are left out, or are one
   that is not known at all. */
void ab_made_cut(struct ab_code *k, struct ab_made *m, bool keeps_hole);
/* Each of a with each of b; two lists are one. */
void ab_made_join(struct ab_code *k, struct ab_made *a,
		  const struct ab_made *b, enum ab_glue glue);
void ab_made_either(struct ab_code *k, struct ab_made *a,
		    const struct ab_made *b);
void ab_made_words(struct ab_code *k, struct ab_made *list,
		   const struct ab_made *between);
void ab_made_split(struct ab_code *k, struct ab_made *m);
void ab_made_parent(struct ab_code *k, struct ab_made *m);
void ab_made_expand(struct ab_code *k, struct ab_made *m);
/* sign: what a place in the text begins with, `{` or `%`. */
void ab_made_format(struct ab_code *k, struct ab_made *m,
		    const struct ab_made_args *args, char sign);

/* --- code_expr.c --- */
/* What an expression is read for. */
enum ab_need {
	AB_NEED_ANY,
	AB_NEED_MADE,	/* none is wanted that is only a string or a name */
	AB_NEED_WALKED, /* ... and p.glob("x") is what is gone through */
	AB_NEED_WORD	/* ... but one in which a string stands is a word */
};
/* An expression at the lexer, which then is behind what was read of it. False:
   it is none that the text tells, or none that is wanted. */
bool ab_code_read_expr(struct ab_code *k, struct ab_lexer *x, struct ab_made *m,
		       enum ab_need need);

/* --- code_program.c --- */
/* python: the call of a library that runs the program it is named after. */
void ab_code_run_program(struct ab_code *k, struct ab_args *a,
			 const struct ab_token *t);

/* --- code_argv.c --- */
/* The words behind the program, if it takes them. */
void ab_code_find_argv(struct ab_code *k);
/* A name that stands for those. */
bool ab_code_is_argv(const struct ab_code *k, const struct ab_token *t);
/* What the call may do to them. */
void ab_code_note_argv(struct ab_code *k, enum ab_call kind,
		       const struct ab_args *a);
/* And that is judged. */
void ab_code_check_argv(struct ab_code *k);

/* --- code_walk.c --- */
/* What is called at `at` gets literals only: os.remove("x.tmp"). */
bool ab_code_is_literal_call(const struct ab_word *text, uint32_t at,
			     uint32_t len);
/* Of what the program goes through, a part that its names tell is taken away;
   w then is a pattern of files there, else it stays. is_glob: what it goes
   through is that part. */
void ab_code_narrow_walk(struct ab_code *k, struct ab_word *w, bool is_glob);
/* One of all that is in a directory is taken away, where the directory was
   judged as what it goes through. */
bool ab_code_is_narrow_entry(struct ab_code *k, enum ab_call kind,
			     const struct ab_word *w);
/* What is given at `at` is a pattern, as that says it: rglob("*.pyc"). */
bool ab_code_is_narrow_glob(const struct ab_code *k, uint32_t at);

/* --- code_home.c --- */
/* What the program joins to a home. */
void ab_code_check_home(struct ab_code *k);

/* --- code_params.c --- */
/* What the functions of the program are called with. */
void ab_code_find_params(struct ab_code *k);
/* What a name is handed on that is given to one of them; once all are read. */
void ab_code_link_params(struct ab_code *k);
/* One of them: it may be another one's list. */
bool ab_code_is_linked(const struct ab_code *k, const struct ab_token *t);
/* Those of them that are made of what is not known; false: no more. */
bool ab_code_settle_links(struct ab_code *k);
/* The word calls such a function: what that does is read in its body. */
bool ab_code_is_own(const struct ab_code *k, const struct ab_token *t);
/* It has the name of a function of the program. */
bool ab_code_is_defined(const struct ab_code *k, const struct ab_token *t);

/* --- code_rest.c --- */
/* To the next argument; false: there is none. */
bool ab_code_next_argument(const struct ab_code *k, struct ab_lexer *x,
			   bool is_bare, bool *is_cut);
/* What is given from an argument on is not all literal, and is read when the
   names are known; false: it is to be read at once. */
bool ab_code_defer_rest(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *to, uint32_t from);
void ab_code_read_rests(struct ab_code *k);
/* *x, ...x, behind the sign: words that are known in part. */
bool ab_code_spreads_cut(const struct ab_code *k, const struct ab_token *t);

/* --- code_tool.c --- */
/* sys.executable, process.execPath: the program that runs this one. */
bool ab_code_own_program(const struct ab_code *k, const struct ab_token *t,
			 struct ab_word *w);
/* What is given to the name may be a path whose last part is known; and it is
   also given something else. */
void ab_code_note_tool(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *name);
void ab_code_drop_tool(struct ab_code *k, const struct ab_token *name);
/* Such a path, or a name that has it, at the lexer. */
bool ab_code_read_tool(struct ab_code *k, struct ab_lexer *x,
		       struct ab_made *m);

/* --- code_tricks.c --- */
/* It may give a name to something else without saying so. */
bool ab_code_has_tricks(const struct ab_code *k);
/* It may define functions. */
bool ab_code_may_define(const struct ab_code *k);
/* ... and call them by a string. */
bool ab_code_calls_by_name(const struct ab_code *k);
/* The name of what makes an object of a class. */
bool ab_code_is_constructor(const struct ab_code *k, const struct ab_token *t);
/* js: name(a) {, in a class: a method of it; x is behind the bracket. */
bool ab_code_is_method(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *t);
/* Behind the name of a class: in ruby behind its `.new`, too. */
struct ab_lexer ab_code_behind_new(const struct ab_code *k);
/* The sign before a name makes it a member of an object, where the program has
   some that it reads as self.x: it is that x, too, when it is set as a.x. */
bool ab_code_is_own_member(struct ab_code *k, const struct ab_token *dot);
/* Behind self.x =: the x that is a parameter, which is told by its name. */
bool ab_code_is_itself(const struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *t);

/* --- code_value.c --- */
enum ab_setting {
	AB_VALUE_SET,  /* name = */
	AB_VALUE_MORE, /* name += */
	AB_VALUE_EACH  /* for name in */
};

/* What stands behind `name =` or `for name in`; the sign that ended it, if it
   was one. */
char ab_code_read_value(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *name, enum ab_setting kind);
void ab_code_add_value(struct ab_code *k, struct ab_named *n,
		       const struct ab_word *w, bool is_more);
void ab_code_add_hole(struct ab_code *k, struct ab_named *n);
/* The name is one of what an expression makes; is_each: of its elements. */
bool ab_code_set_made(struct ab_code *k, const struct ab_token *name,
		      struct ab_made *m, bool is_each);
/* Where that needs a parameter it is read later. */
void ab_code_wait(struct ab_code *k, struct ab_lexer x,
		  const struct ab_token *name, bool is_each);
void ab_code_read_late(struct ab_code *k);
/* A word of which nothing is known. */
bool ab_code_is_hole(const struct ab_word *w);
/* How many values, or lists, it may be. */
uint32_t ab_code_alternatives(const struct ab_named *n);
/* The name, to change its last value, which begins at *from; what it was
   before is kept where that may have been used. NULL: which that is, is not
   known, and noted so. */
struct ab_named *ab_code_change(struct ab_code *k, const struct ab_token *name,
				uint32_t *from);

/* What is changed may be another one's list, too. */
void ab_code_note_shared(struct ab_code *k, const struct ab_token *name);

/* --- code_change.c --- */
/* c[1] = "x", c.insert(1, "x"), c << "x": what is done to the name t, before
   which `before` stands; the lexer is behind it. True: it is such. */
bool ab_code_read_change(struct ab_code *k, const struct ab_token *before,
			 const struct ab_token *t);

/* --- code_names.c --- */
struct ab_named *ab_code_add_named(struct ab_code *k, const struct ab_token *t);
/* Without the sigil of perl. */
struct ab_token ab_code_bare_name(const struct ab_code *k,
				  const struct ab_token *t);
bool ab_code_is_sign(const struct ab_code *k, const struct ab_token *t,
		     char sign);
static inline bool ab_code_is_text(const struct ab_code *k,
				   const struct ab_token *t, const char *s)
{
	return t->kind == AB_TOKEN_WORD && k->text->text[t->at] == *s &&
	       t->len == strlen(s) && !memcmp(k->text->text + t->at, s, t->len);
}
/* Two tokens of the same bytes. */
static inline bool ab_code_is_same(const struct ab_code *k,
				   const struct ab_token *a,
				   const struct ab_token *b)
{
	const char *s = k->text->text;

	return a->len == b->len && !memcmp(s + a->at, s + b->at, a->len);
}

/* What the names of the program stand for, wherever that is said. */
void ab_code_find_names(struct ab_code *k);
/* What makes a path of a string, and has methods: Path, Pathname. */
bool ab_code_is_path_type(const struct ab_code *k, const struct ab_token *t);
/* One more value that a parameter is given, at the lexer; and one that is not
   known. */
void ab_code_read_param(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *name);
/* It is given what is not known; and those that have values know so. */
void ab_code_note_unknown(struct ab_code *k, const struct ab_token *t);
/* None, 0: before it is given something; the lexer is before it. */
bool ab_code_is_nothing(const struct ab_code *k, struct ab_lexer x);
/* ... and that was noted of it. */
bool ab_code_is_noted(const struct ab_code *k, const struct ab_token *t);
void ab_code_settle_names(struct ab_code *k);
void ab_code_cut_name(struct ab_code *k, const struct ab_token *t);
const struct ab_named *ab_code_named(const struct ab_code *k,
				     const struct ab_token *t);
/* The same for a name that stands for values and is not called or taken
   apart; the lexer is behind it. */
const struct ab_named *ab_code_value(const struct ab_code *k,
				     const struct ab_token *t);

#endif
