/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A rule pack: classes of paths, programs with their option grammars, rules.
 * Text in, an immutable table out; after loading any thread may read it. The
 * format is agentbox-rules(5). Three layers go into one table: the built-in
 * pack, the host's, the project's; the last can only tighten.
 *
 * Refuses, with line and column: anything it does not know, a name that is
 * not defined, a bound of guard/pack.h, a layer that loosens what it may not.
 */
#ifndef AB_GUARD_PACK_H
#define AB_GUARD_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/base.h"
#include "base/attr.h"
#include "base/key.h"
#include "guard/text.h"

#define AB_PACK_MAX_BYTES (1u << 20)
#define AB_PACK_MAX_RULES 512
#define AB_PACK_MAX_CLASSES 64
#define AB_PACK_MAX_GROUPS 64	 /* options of one program */
#define AB_PACK_MAX_ITEMS 60000 /* of any one table */
#define AB_PACK_MAX_TOKENS 512	 /* in one line */
#define AB_PACK_MAX_TEXTS 16

enum ab_pack_layer { AB_LAYER_BASE, AB_LAYER_HOST, AB_LAYER_PROJECT };

enum ab_pack_verdict { AB_V_NONE, AB_V_ALLOW, AB_V_ASK, AB_V_DENY };

/* Where a stream of bytes came from. */
enum ab_taint {
	AB_TAINT_REMOTE = 1u << 0, /* the network */
	AB_TAINT_DECODE = 1u << 1, /* a decoder or a transformation */
	AB_TAINT_CRED = 1u << 2,   /* a credential file */
	AB_TAINT_ENV = 1u << 3,	   /* the environment as a whole */
	AB_TAINT_FILE = 1u << 4,   /* a program's output, a file's content */
	AB_TAINT_HOOK = 1u << 5,   /* ssh-agent -s and its kind */
	AB_TAINT_VAR = 1u << 7,	   /* a variable nobody set here */
	AB_TAINT_PROCESS = 1u << 9, /* numbers of processes that run */
	AB_TAINT_DATA = 1u << 10,   /* a dump of a database, an archive */
	AB_TAINT_PICK = 1u << 11,   /* some of the lines, as they were */
	AB_TAINT_TREE = 1u << 13,   /* the names of all files, or all tracked */
	AB_TAINT_SECRET = 1u << 14, /* a variable named like a secret */
	AB_TAINT_ENDLESS = 1u << 15, /* it does not end by itself */
	AB_TAINT_EVERY = 1u << 16,  /* with PROCESS: all there are */
	/* of AB_STREAM_GOOD */
	AB_TAINT_TEMP = 1u << 24,   /* the name of a new temporary file */
	AB_TAINT_FOUND = 1u << 25,  /* with others: ab_names_are_own() */
	AB_TAINT_QUOTED = 1u << 26  /* with FILE: words as a shell reads them */
};

/* Who takes it. */
enum ab_sink {
	AB_SINK_SHELL, /* a shell's script: stdin, -c, source */
	AB_SINK_EVAL,
	AB_SINK_CODE, /* another interpreter's program */
	AB_SINK_RUN,  /* a file that is run */
	AB_SINK_NET,
	AB_SINK_TEXT, /* a database client */
	AB_SINK_DISK, /* a file, of what does not end */
	AB_SINK_COUNT
};

enum ab_style {
	AB_STYLE_GNU,	/* -ab, --long, anywhere */
	AB_STYLE_POSIX, /* the same, before the first operand */
	AB_STYLE_LONG,	/* -long as one word */
	AB_STYLE_TAR,	/* the first operand may be a bundle */
	AB_STYLE_PLAIN,	/* no options: all words are operands */
	AB_STYLE_SECOND, /* as POSIX, before the second operand */
	AB_STYLE_FIRST	/* as LONG, before the first operand */
};

/* What a program does with some of its words. */
enum ab_role_kind {
	AB_ROLE_READ,
	AB_ROLE_SHOW, /* reads and prints */
	AB_ROLE_LIST,
	AB_ROLE_WRITE,
	AB_ROLE_DELETE,
	AB_ROLE_REMOVE, /* with everything below */
	AB_ROLE_TREE,	/* changes mode or owner of everything below */
	AB_ROLE_SEND,	/* a file goes to the network */
	AB_ROLE_SAVE,	/* what was downloaded is written; without a net:
			   a pipe is made */
	AB_ROLE_RUN,	/* the file is run */
	AB_ROLE_TRUNCATE,
	AB_ROLE_KINDS,
	AB_ROLE_SHELL = AB_ROLE_KINDS, /* text for a shell */
	AB_ROLE_EVAL,
	AB_ROLE_ARITH, /* may hold substitutions in subscripts */
	AB_ROLE_WRAP, /* words of another command */
	AB_ROLE_CODE, /* a program in `lang` */
	AB_ROLE_TEXT, /* statements in `lang` */
	AB_ROLE_CHDIR,
	AB_ROLE_UNPACK, /* an archive is taken apart there */
	AB_ROLE_LINK,	/* becomes a link to what was read */
	AB_ROLE_ALIAS,	/* ... which is seen from the working directory */
	AB_ROLE_MOVE,	/* what was read goes there, with the links in it */
	AB_ROLE_EXPAND, /* what it holds goes to its name without the suffix */
	AB_ROLE_FETCH,	/* gets what an operand on another machine holds */
	AB_ROLE_PARSE,	/* the file is parsed, which may run a part of it */
	AB_ROLE_SPLIT,	/* what was read goes in parts into such files */
	AB_ROLE_STDIN_SHELL,
	AB_ROLE_STDIN_CODE,
	AB_ROLE_STDIN_TEXT,
	AB_ROLE_STDIN_ARGS, /* xargs */
	AB_ROLE_OUTPUT
};

enum ab_select {
	AB_SEL_NONE,
	AB_SEL_NTH,    /* operand a */
	AB_SEL_FROM,   /* operands a, a+1, ... */
	AB_SEL_LAST,
	AB_SEL_BUT_LAST,
	AB_SEL_OPTION, /* values of the options in mask */
	AB_SEL_KEY,    /* of=FILE */
	AB_SEL_UNTIL,  /* words after the options in mask up to `;` or `+` */
	AB_SEL_AT,     /* @FILE in the values of the options in mask, or in
			  operands, if a; behind the sign text, if any */
	AB_SEL_HERE,   /* no word: the working directory */
	AB_SEL_FILE,   /* ... a file in it */
	AB_SEL_ENV     /* what a variable names that the program is given */
};

struct ab_role {
	uint8_t kind, select, a;
	/* only: 1 without operands, 2 with, 3 with a path, 4 with others,
	   5 with one */
	uint8_t none;
	/* laid out once: without so many operands, and one of these options
	   (0: no need), it selects no word or does not apply; nothing else
	   decides about that */
	uint8_t least;
	bool is_always;
	uint8_t format; /* of code: ab_format_of(text) */
	uint64_t given;
	uint32_t taint;
	/* option groups: the values of; of wrap: what the words go to */
	uint64_t mask;
	uint64_t need, also, unless;	   /* one of each but the last */
	const char *text;	     /* key or language */
};

/* What a text is that a program runs, by the name in the pack: formats.c. Most
   are programs in a language. */
enum ab_format {
	AB_FORMAT_LANGUAGE,
	AB_FORMAT_SED,
	AB_FORMAT_FILES,
	AB_FORMAT_VIM,
	AB_FORMAT_VIML,
	AB_FORMAT_TCL,
	AB_FORMAT_M4,
	AB_FORMAT_MAKE,
	AB_FORMAT_PIECE,
	AB_FORMAT_PATCH,
	AB_FORMAT_CURL,
	AB_FORMAT_LISTED,
	AB_FORMAT_GLOBS,
	AB_FORMAT_DOCKER,
	AB_FORMAT_PROCFILE,
	AB_FORMAT_TMUX,
	AB_FORMAT_NPM,
	AB_FORMAT_TASKS,
	AB_FORMAT_SNAKE,
	AB_FORMAT_GENERATE,
	AB_FORMAT_XML,
	AB_FORMAT_BAZEL,
	AB_FORMAT_TERRAFORM,
	AB_FORMAT_JQ,
	AB_FORMAT_BATS,
	AB_FORMAT_JUST,
	AB_FORMAT_SHELL,
	AB_FORMAT_CMAKE,
	AB_FORMAT_CONFIG,
	AB_FORMAT_CARGO,
	AB_FORMAT_ARIA,
	AB_FORMAT_YARN,
	AB_FORMAT_BANG,
	AB_FORMAT_GDB,
	AB_FORMAT_GNUPLOT,
	AB_FORMAT_SOURCE
};
uint8_t ab_format_of(const char *name);

struct ab_option {
	const char *name; /* with its dashes */
	uint8_t len, group, arity; /* 0 none, 1 one, 2 only glued, 3 two */
	char letter; /* of a short option; 0: it is another */
	char third;  /* byte of the name: tells most apart; 0: none */
};

enum ab_pred_kind { AB_PRED_GLOB, AB_PRED_CLASS, AB_PRED_VALUE };

struct ab_pred {
	uint8_t kind, count;
	uint8_t value;	  /* AB_PRED_VALUE: ab_value_check() */
	union {
		uint64_t classes; /* AB_PRED_CLASS */
		/* AB_PRED_GLOB: ab_head_bit() of what it takes; 0: anything */
		uint64_t heads;
	};
	uint32_t first;	  /* AB_PRED_GLOB: pack->strings[first..] */
};

enum ab_test_kind {
	AB_TEST_OPTION,
	AB_TEST_VALUE,	 /* of an option */
	AB_TEST_WORDS,	 /* positional words: preds first..first+count */
	AB_TEST_OPERAND, /* select a: 1.. nth, 0 any, 255 last */
	AB_TEST_WORD,	 /* any word after the name, 255 the last */
	AB_TEST_COUNT,	 /* operands at least a, at most b */
	AB_TEST_STDIN,
	AB_TEST_HOLE, /* operand a has an unknown part */
	AB_TEST_ENV,  /* the value of the assignment */
	AB_TEST_GIVEN, /* NAME=VALUE that the command gets */
	AB_TEST_NAME  /* of the program, without its directory */
};

struct ab_test {
	uint8_t kind, a, b;
	bool is_not;
	uint64_t mask;
	uint32_t pred, count; /* pack->preds */
};

struct ab_clause {
	uint16_t rule;
	uint8_t verdict;
	uint16_t test_count;
	uint32_t test;
	uint64_t classes, unless; /* of a path clause */
	/* what its tests of options come to: one of these must be there, if
	   any; none of those may */
	uint64_t need, never;
	uint32_t taint;		  /* of a flow clause */
	const char *lang;	  /* of a text clause */
	uint32_t token, token_count; /* pack->wants, of a text clause */
	bool is_bounded;	  /* text: up to the end of a statement */
};

/* A bit for the first byte of a word. */
static inline uint64_t ab_head_bit(char byte)
{
	return UINT64_C(1) << ((unsigned char)byte & 63);
}

/* A bit for how a word of `n` bytes begins, at least one: for its first four
   bytes. */
static inline uint64_t ab_start_bit(const char *p, size_t n)
{
	uint32_t start = (uint32_t)ab_key8(p, n < 4 ? n : 4);

	return UINT64_C(1) << (start * UINT32_C(0x9e3779b1) >> 26);
}

/* A bit for how a word of `n` bytes, at least one, begins: for its first two
   bytes, whatever the case of letters in them. */
static inline uint64_t ab_pair_bit(const char *p, size_t n)
{
	unsigned first = (unsigned char)*p | 0x20u;
	unsigned second = n > 1 ? (unsigned char)p[1] | 0x20u : 0;

	return UINT64_C(1) << ((first * 37u + second * 11u) >> 2 & 63);
}

/* Lists of text clauses: few languages share one. */
#define AB_TEXT_LISTS 64

/* Of a list; next is an index + 1. yes and no come from the clause: of a path
   its classes and unless; else need (0: no need) and never. heads (0: no
   need): of a program's clauses what one of its words, or of the values in
   them, must begin with, and starts the same by ab_start_bit(); of a path's
   what the program's name must; of a text's, with highs, by ab_text_bits(),
   what a token must be. */
struct ab_link {
	union {
		uint64_t yes;
		uint64_t needs; /* of a text clause: ab_text_hash() of its
				   longest word; 0: none */
	};
	union {
		uint64_t no;
		uint64_t highs; /* of a text clause */
	};
	uint64_t heads, starts;
	uint32_t clause, next;
	union {
		uint32_t test;	/* of the clause, and their number */
		uint32_t first; /* of a text clause: ab_text_first() */
	};
	uint16_t test_count;
	bool needs_hole; /* one of the words must have an unknown part */
};

enum {
	AB_HELP_H = 1,	   /* -h */
	AB_HELP_LONG = 2,  /* -help */
	AB_HELP_USUAL = 4, /* --help, where `nohelp` is said */
	AB_HELP_WORD = 8   /* help, as the last of a few words */
};

struct ab_program {
	const char *name;
	uint64_t key; /* a name of eight bytes at most (base/key.h); or 0 */
	uint32_t hash, name_len;
	uint32_t next; /* in its bucket, index + 1 */
	uint32_t parent; /* index + 1 */
	uint8_t style, group_count, depth, layer;
	bool has_subs, is_net, has_env; /* NAME=value operands first */
	bool is_git; /* the git table judges it first */
	bool is_git_name; /* or at all */
	bool is_wrapper, keeps_help, is_pass, is_builtin;
	bool takes_equals; /* -x=VALUE is -x VALUE, also of what is below */
	bool is_typed;	 /* its text for a shell is keys */
	bool has_commands; /* of its own: `;` begins another one */
	bool has_modules; /* -mNAME ARGS is -m NAME ARGS */
	bool is_package; /* what it wraps is a package, NAME@VERSION */
	bool is_names; /* prints names of what lies below its operands */
	bool is_listed; /* prints its operands, or what is right below */
	bool is_located; /* prints all names with an operand in them */
	bool is_common; /* a file of the project may have its name */
	/* no base and no host says what it does: its words may be a command,
	   as those of a program that nobody knows */
	bool is_stranger;
	uint8_t help; /* AB_HELP_*: words that ask for help and nothing else */
	uint32_t option, option_count;
	uint32_t role, role_count;
	uint32_t role_kinds; /* a bit for each enum ab_role_kind it has */
	uint32_t links; /* clauses, index + 1 */
};

struct ab_rule {
	const char *id, *reason, *alternative;
	bool is_command; /* the alternative is one */
	uint8_t verdict, severity, layer;
	bool is_strict; /* denied in the strict profile */
	bool is_fixed;	/* no layer may loosen it */
	bool is_machine; /* it says nothing of the image of a container */
	uint32_t line;
};

struct ab_example {
	uint16_t rule;
	bool is_match;
	const char *text;
	uint32_t len, line;
};

struct ab_class {
	const char *name;
	uint32_t pattern, pattern_count;
};

struct ab_path_pattern {
	const char *text;
	uint8_t class_bit, base; /* 0 anywhere, 1 absolute, 2 home */
	bool is_not;
	bool is_deep; /* has a `**`: any number of components */
	bool is_open; /* its last component takes what nobody knows */
	uint16_t component, component_count; /* pack->parts */
	uint32_t part;
	uint32_t key_hash, next; /* in its bucket, index + 1 */
	uint32_t next_end; /* in path_first or path_last */
};

struct ab_part {
	const char *text;
	uint16_t len;
	uint8_t kind; /* 0 literal, 1 glob, 2 `**` */
	char first, last; /* what a name begins and ends with; 0: anything */
	uint8_t shape; /* of a glob: enum ab_shape */
};

/* Globs that need no more than a look at one end: `*.pem`, `id_*`. */
enum ab_shape { AB_SHAPE_ANY, AB_SHAPE_TAIL, AB_SHAPE_HEAD };

/* Of each pattern, what tells most apart: where it begins and how the last
   component does. */
struct ab_end {
	char first, last; /* as in ab_part, also of a literal; 0: anything */
	uint8_t kind;	  /* of that component; 2: nothing is known */
	uint8_t base;	  /* as in ab_path_pattern */
	char head; /* the first byte of an absolute one; 0: anything */
	char key;  /* the last byte of its last literal; 0: it has none */
	bool is_not;
};

struct ab_env {
	const char *name;
	uint32_t len, hash, next, clause; /* index + 1 */
	bool is_prefix;
};

struct ab_set {
	const char *name;
	uint32_t first, count; /* strings */
};

/* Classes that are computed, bits below the named ones. */
enum {
	AB_CLASS_ROOT,
	AB_CLASS_TOP,
	AB_CLASS_HOME,
	AB_CLASS_PARENT,
	AB_CLASS_WORKTREE,
	AB_CLASS_EVERYTHING,
	AB_CLASS_INSIDE,
	AB_CLASS_TEMP,
	AB_CLASS_OUTSIDE,
	AB_CLASS_GIT,
	AB_CLASS_HOLE,
	AB_CLASS_UNKNOWN,
	AB_CLASS_SUBDIR,
	AB_CLASS_CHECKED,
	AB_CLASS_ANY,
	AB_CLASS_COMPUTED
};
#define AB_CLASS(name) (UINT64_C(1) << AB_CLASS_##name)

#define AB_TABLES(X)                                                         \
	X(programs, struct ab_program)                                        \
	X(options, struct ab_option)                                          \
	X(roles, struct ab_role)                                              \
	X(tests, struct ab_test)                                              \
	X(preds, struct ab_pred)                                              \
	X(clauses, struct ab_clause)                                          \
	X(links, struct ab_link)                                              \
	X(rules, struct ab_rule)                                              \
	X(examples, struct ab_example)                                        \
	X(classes, struct ab_class)                                           \
	X(patterns, struct ab_path_pattern)                                   \
	X(parts, struct ab_part)                                              \
	X(ends, struct ab_end)                                                \
	X(envs, struct ab_env)                                                \
	X(sets, struct ab_set)                                                \
	X(strings, const char *)                                              \
	X(wants, struct ab_text_want)

#define AB_PACK_BUCKETS 4096
#define AB_PACK_SEAT_BITS 12
#define AB_PATH_BUCKETS 512
#define AB_ENV_BUCKETS 128

static inline uint32_t ab_env_prefix_of(char first)
{
	return 1 + ((uint32_t)(unsigned char)first & 31);
}

struct ab_pack {
#define X(name, type)                                                         \
	type *name;                                                           \
	uint32_t name##_count, name##_room;
	AB_TABLES(X)
#undef X
	/* of each option: its letter, and what tells its name from most */
	unsigned char *letters, *keys;
	/* numbers of ends by their key, and where those of each byte begin */
	uint16_t *end_order;
	uint16_t end_first[257];
	/* a copy of each text that was read; everything points in here */
	char *text[AB_PACK_MAX_TEXTS];
	uint32_t text_count;
	const char *name, *version;
	bool has_excuses; /* a rule of a host allows something */
	uint32_t buckets[AB_PACK_BUCKETS];
	/* most programs by the key of their name, index + 1: those whose name
	   is short and looks like one */
	uint16_t seats[1 << AB_PACK_SEAT_BITS];
	uint32_t path_buckets[AB_PATH_BUCKETS];
	/* patterns without a literal component: all; those of one name that
	   begins with a byte, or ends with one; the rest */
	uint32_t path_free, path_first[256], path_last[256], path_rest;
	/* lengths of literals that begin so, and that end so */
	uint64_t path_keys[256], path_tails[256];
	uint32_t env_buckets[AB_ENV_BUCKETS];
	/* by their first byte, ab_env_prefix_of(); 0: what any name begins
	   with */
	uint32_t env_prefixes[33];
	uint32_t path_links[AB_ROLE_KINDS];
	uint64_t path_mask[AB_ROLE_KINDS];
	/* of each list: how long it is, and by class which of its links want
	   that: number n has bit n % 64 */
	uint32_t path_counts[AB_ROLE_KINDS];
	uint64_t path_hits[AB_ROLE_KINDS][64];
	/* of the links that want any path: what the program's name must begin
	   with, by ab_head_bit(); 0: no need */
	uint64_t path_heads[AB_ROLE_KINDS];
	uint32_t flow_links[AB_SINK_COUNT];
	uint32_t flow_mask[AB_SINK_COUNT];
	uint32_t text_links[AB_TEXT_LISTS]; /* by ab_lang_key() */
	/* classes that the code itself asks about, by their name: where the
	   system keeps programs, connections, a home its keys; 0: none */
	uint64_t bin_dir, net_device, home_keys, proc_status;
	/* rules that the code itself finds, by their id; 0xffff when absent */
	uint16_t known[16];
};

enum ab_known {
	AB_KNOWN_LIMIT,
	AB_KNOWN_UNTERMINATED,
	AB_KNOWN_CONTROL,
	AB_KNOWN_DYNAMIC,
	AB_KNOWN_FORKBOMB,
	AB_KNOWN_SHADOW,
	AB_KNOWN_SSH,
	AB_KNOWN_INLINE,
	AB_KNOWN_OPAQUE,
	AB_KNOWN_WRAPPER,
	AB_KNOWN_COUNT
};

/*
 * Reads one layer into the pack, after the layers below it. `where` of an
 * error is "NAME:line:column". On failure the pack may only be freed.
 */
int32_t ab_pack_read(struct ab_pack *pack, enum ab_pack_layer layer,
		     const char *name, const char *text, size_t n,
		     agentbox_error **err) AB_MUST_CHECK;
struct ab_pack *ab_pack_new(void);
void ab_pack_free(struct ab_pack *pack);

/* The built-in pack as text. */
extern const char ab_base_rules[];
extern const size_t ab_base_rules_len;

/* Begins with AB_PACK_HASH. */
#define AB_PACK_HASH 2166136261u
static inline uint32_t ab_pack_hash_byte(uint32_t h, char byte)
{
	return (h ^ (unsigned char)byte) * 16777619u;
}

static inline uint32_t ab_pack_hash_end(uint32_t h)
{
	return h ^ (h >> 15);
}

static inline uint32_t ab_pack_hash(const char *p, size_t n)
{
	uint32_t h = AB_PACK_HASH;

	for (size_t i = 0; i < n; i++)
		h = ab_pack_hash_byte(h, p[i]);
	return ab_pack_hash_end(h);
}

/* What tells a short name from every other; 0: of a long one. */
static inline uint64_t ab_pack_key(const char *name, size_t n)
{
	return n && n <= 8 ? ab_key8(name, n) : 0;
}

/* The key of a long option, or of what abbreviates one: of bytes 2 and 3. */
static inline unsigned char ab_option_key(const char *name)
{
	return (unsigned char)((unsigned char)name[2] * 31u +
			       (unsigned char)name[3]);
}

/* A bit for the length of a name in path_keys. */
static inline uint64_t ab_pack_length(size_t n)
{
	return UINT64_C(1) << (n < 63 ? n : 63);
}

/* A literal of a listed path may be called so: most names are none. */
static inline bool ab_pack_may_list(const struct ab_pack *pack,
				    const char *name, size_t n)
{
	return pack->path_keys[(unsigned char)name[0]] &
	       pack->path_tails[(unsigned char)name[n - 1]] &
	       ab_pack_length(n);
}

static inline size_t ab_pack_seat(uint64_t key)
{
	return (key * UINT64_C(0x9e3779b97f4a7c15)) >>
	       (64 - AB_PACK_SEAT_BITS);
}

/* A program of the table by its very name, of small letters, digits, `.`, `_`
   and `-` behind a letter; NULL: there is none, or ab_pack_find() knows. */
static inline const struct ab_program *
ab_pack_seated(const struct ab_pack *pack, const char *name, size_t n)
{
	const struct ab_program *p;
	uint64_t key = ab_pack_key(name, n);
	uint32_t number = key ? pack->seats[ab_pack_seat(key)] : 0;

	if (!number)
		return NULL;
	p = &pack->programs[number - 1];
	return p->key == key && p->name_len == n ? p : NULL;
}

/* By its name, "docker/run" for a subcommand; NULL when not in the table. */
const struct ab_program *ab_pack_program(const struct ab_pack *pack,
					 const char *name, size_t n);
/* The program that a command of this name is: also python3.11, git.exe and
   mkfs.ext4 where the table has python, git and mkfs.*; or NULL. */
const struct ab_program *ab_pack_find(const struct ab_pack *pack,
				      const char *name, size_t n);
/* The same; hash is ab_pack_hash() of the name. */
const struct ab_program *ab_pack_find_hash(const struct ab_pack *pack,
					   const char *name, size_t n,
					   uint32_t hash);
/* A rule's number or 0xffff. */
uint16_t ab_pack_rule(const struct ab_pack *pack, const char *id, size_t n);

#endif
