/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of the scope. From the outside in:
 *
 *   check.c   a call: the tool's name, then every value, then the verdict
 *   read.c    the arguments: strict JSON, value by value, with places
 *   look.c    one text and all that it is an encoding of, within a budget
 *   decode*.c the encodings
 *   plain.c   characters to the ASCII that they stand for
 *   find*.c   names in plain text, and whether they stand where a name does
 *   shared.c  paths to what peers share, where a tool would write
 *   names.c   the names, as they are compared
 *   tool.c    which tools are scoped
 *
 * Everything works on memory of the decision (base/arena.h) and is linear in
 * the size of the arguments: a text is looked at once per encoding it may be,
 * and the bytes of all that are counted (AB_SCOPE_WORK).
 */
#ifndef AB_SCOPE_INTERNAL_H
#define AB_SCOPE_INTERNAL_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/scope.h"
#include "base/arena.h"
#include "base/attr.h"
#include "net/address.h"

AB_DEFINE_AUTO(agentbox_scope, agentbox_scope_unref)

#define AB_SCOPE_MAX_NAMES 4096
#define AB_SCOPE_MAX_DOCUMENT (4u << 20)
#define AB_SCOPE_MAX_ID 64
#define AB_SCOPE_MAX_ALIAS 255
#define AB_SCOPE_MAX_TOOL 256
/* Arguments: beyond these a scoped tool is refused, any other one asked. */
#define AB_SCOPE_MAX_ARGS (2u << 20)
#define AB_SCOPE_MAX_DEPTH 64
/* Encodings within encodings. */
#define AB_SCOPE_LEVELS 6
/* Bytes that may be looked at, per byte of arguments, and at least. */
#define AB_SCOPE_WORK 96u
#define AB_SCOPE_WORK_LEAST (256u << 10)
#define AB_SCOPE_MAX_HINTS 32

/* --- names ---------------------------------------------------------------- */

enum ab_scope_owner {
	AB_SCOPE_OWN = 0, /* the caller and its boxes */
	AB_SCOPE_PEER,	  /* readable: a live grant */
	AB_SCOPE_OTHER	  /* known to the host; nothing says so */
};

struct ab_scope_box {
	const char *id;	   /* borrowed from the document */
	const char *mount; /* below .shared; PEER only */
	enum ab_scope_owner owner;
};

struct ab_scope_name {
	char *fold;	  /* owned: lower case, '_' and '.' as '-' */
	const char *text; /* borrowed: as it was given */
	size_t len;
	uint32_t box;
	bool is_weak; /* a word, or short: counts only where a name stands */
	bool is_hex;  /* 16 or more hex digits, an id of random bits */
	bool is_bare; /* a UUID without its dashes: found, and not the name */
	unsigned least; /* is_hex: so many of its digits are enough */
};

struct ab_scope_address {
	ab_address address;
	uint32_t box;
};

struct agentbox_scope {
	atomic_uint references;
	agentbox_policy *policy; /* owned */
	json_t *document;	 /* owned: {id, names, boxes, grants, ...} */
	json_t *tools;		 /* owned: the list of the policy */
	struct ab_scope_box *boxes;
	size_t box_count; /* 0 is the caller */
	struct ab_scope_name *names; /* sorted by fold */
	size_t name_count;
	struct ab_scope_address *addresses;
	size_t address_count;
	bool has_hex;	  /* one of the names is_hex */
	bool starts[256]; /* the first character of some name */
	char **families;  /* "sb-" of own ids like sb-1, folded */
	size_t family_count;
};

/* Lower case; '_' and '.' are '-'. */
char ab_scope_fold(char c);
static inline bool ab_scope_is_alnum(char c)
{
	return (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}
static inline bool ab_scope_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
/* The grammar of ids and names: [A-Za-z0-9][A-Za-z0-9._-]{0,63} */
bool ab_scope_is_id(const char *s);
/* boxes, names, families of scope->document. 0 or an error. */
int32_t ab_scope_compile(agentbox_scope *scope, agentbox_error **err);
/* Is `text` exactly a name of the caller's or its boxes'? */
bool ab_scope_is_own(const agentbox_scope *scope, const char *text, size_t n);
/* The name whose folded form it is, weak ones too; or NULL. */
const struct ab_scope_name *ab_scope_find_name(const agentbox_scope *scope,
					       const char *text, size_t n);
/* A document that was read, as it is kept. *out is owned. */
int32_t ab_scope_read_document(const char *text, size_t n, json_t **out,
			       agentbox_error **err);
/* One of whom only is known that he is there; once, however often he comes. */
int32_t ab_scope_add_other(json_t *document, const json_t *box,
			   agentbox_error **err);
/* The grants of `list` that are the caller's; the rest become others. */
int32_t ab_scope_take_grants(json_t *document, const json_t *list,
			     agentbox_error **err);
/* policy and document are taken, also on failure. */
int32_t ab_scope_make(agentbox_policy *policy, json_t *document,
		      json_t *tools, agentbox_scope **scope,
		      agentbox_error **err);

/* --- tools ---------------------------------------------------------------- */

enum ab_scope_tool {
	AB_TOOL_BAD = 0, /* no name */
	AB_TOOL_OTHER,
	AB_TOOL_SCOPED
};
enum ab_scope_tool ab_scope_tool(const agentbox_scope *scope, const char *name,
				 size_t n);
/* Does its name say that it writes? */
enum ab_scope_writes {
	AB_WRITES_NOT = 0, /* or does not say so */
	AB_WRITES_MAYBE,   /* copy, unzip, sed */
	AB_WRITES,
	AB_WRITES_PATCH, /* what a patch says, under whatever key */
	AB_WRITES_AWAY /* what it is given goes: move, delete */
};
enum ab_scope_writes ab_scope_tool_writes(const char *name, size_t n);
/* Words of a kind (ab_policy_scope_kinds), and of what tools do. */
bool ab_scope_is_kind_word(const char *kind, const char *w, size_t n);
bool ab_scope_is_verb(const char *w, size_t n);
/* One that is of the kind where nothing but verbs stands beside it. */
bool ab_scope_is_bare_word(const char *kind, const char *w, size_t n);
enum ab_scope_writes ab_scope_is_writing(const char *w, size_t n);

/*
 * The words of a name or key, folded: split at what is no letter or digit and
 * where camelCase has a hump. Returns how many; words[i] point into `buf`.
 */
#define AB_SCOPE_MAX_WORDS 24
struct ab_scope_words {
	char buf[AB_SCOPE_MAX_TOOL + 1];
	const char *words[AB_SCOPE_MAX_WORDS];
	size_t lens[AB_SCOPE_MAX_WORDS];
	size_t count;
	bool is_cut;	 /* there was more */
	bool is_foreign; /* something in it is not ASCII */
};
void ab_scope_split(struct ab_scope_words *w, const char *text, size_t n);

/* What an argument is called. */
enum ab_scope_key {
	AB_KEY_PLAIN = 0,
	AB_KEY_BOX,	/* names a box: sandbox_id, vm, peer */
	AB_KEY_TARGET,	/* where something goes: host, database, namespace */
	AB_KEY_PATH,	/* path, file */
	AB_KEY_TOOL,	/* a tool within the call */
	AB_KEY_NAME	/* id, name: of what holds it */
};
enum ab_scope_key ab_scope_key(const char *key, size_t n);
/* What a path under a key is for. */
enum ab_scope_place {
	AB_PLACE_OTHER = 0,
	AB_PLACE_PATH, /* path, file, target, uri */
	AB_PLACE_INTO, /* to, output, destination: it is written */
	AB_PLACE_FROM, /* from, source: it is read */
	AB_PLACE_TEXT  /* content, pattern: it is no path */
};
enum ab_scope_place ab_scope_place(const char *key, size_t n);
/* The same for one word in a text: "sandbox", "namespace". */
bool ab_scope_is_box_word(const char *w, size_t n);
bool ab_scope_is_target_word(const char *w, size_t n);

/* --- plain text ----------------------------------------------------------- */

#define AB_MARK_CHANGED 1u /* stood for this character, was not it */
#define AB_MARK_GAP 2u	   /* something unseen was before it */
#define AB_MARK_OPEN 4u	   /* and then something that is not literal */

struct ab_plain {
	const char *c;	     /* without a NUL, so strchr(3) may be asked */
	const uint8_t *mark; /* NULL: all 0 */
	size_t n;
	bool end_gap; /* something unseen behind the last one */
};

static inline size_t ab_scope_skip_spaces(const struct ab_plain *p, size_t i)
{
	while (i < p->n && ab_scope_is_space(p->c[i]))
		i++;
	return i;
}

/*
 * The plain form of any bytes; borrowed from them where they are plain ASCII.
 * False: no memory.
 */
bool ab_scope_plain(struct ab_arena *a, const char *text, size_t n,
		    struct ab_plain *out);

/* --- looking -------------------------------------------------------------- */

enum ab_scope_what {
	AB_SAW_BOX = 1,	 /* `name` */
	AB_SAW_UNKNOWN,	 /* somebody, by where it stands or how it looks */
	AB_SAW_PATTERN,	 /* several, by a pattern or an unfinished name */
	AB_SAW_PERHAPS,	 /* a word that is also a name: `name` */
	AB_SAW_OWN_LIKE, /* the caller's own, disguised: `name` */
	AB_SAW_OPAQUE,	 /* compressed or encrypted */
	AB_SAW_LIMIT	 /* too deep or too much */
};

struct ab_scope_look {
	const agentbox_scope *scope;
	struct ab_arena *arena;
	uint64_t work;	   /* bytes that may still be looked at */
	uint64_t steps;	   /* bytes that were */
	enum ab_scope_key key; /* of the text */
	bool is_key;	   /* the text is a key itself */
	bool is_data;	   /* bytes: a word in them is chance */
	bool is_spelled;   /* all of the value is this text in some encoding */
	bool is_scoped;	   /* for a scoped tool: .shared is a box's */
	unsigned level;
	unsigned named; /* times that names were put in */
	void *data;
	void (*saw)(void *data, enum ab_scope_what what,
		    const struct ab_scope_name *name, unsigned level);
};

/* Pay for n more bytes; false: there is no more work left. */
bool ab_scope_pay(struct ab_scope_look *l, size_t n);

/*
 * Compressed or encrypted, by how it begins: nothing more can be known. Where
 * the bytes are all of a value, `is_whole`, a little says it; else a stream of
 * zlib, which chance begins now and then, is read to its end.
 */
bool ab_scope_is_packed(const char *bytes, size_t n, bool is_whole);
/* The same anywhere in what escapes stood for. */
bool ab_scope_holds_packed(struct ab_scope_look *l, const char *text,
			   size_t n);

/* Look at n bytes and at what they encode. */
void ab_scope_look(struct ab_scope_look *l, const char *text, size_t n);
/* Look at n bytes that stood as numbers: a text, or something compressed. */
void ab_scope_look_bytes(struct ab_scope_look *l, const char *bytes, size_t n);
/* Words of a list, with a space between: names, places and rows of codes. */
void ab_scope_look_line(struct ab_scope_look *l, const char *line, size_t n);

/* Look at one plain text; `joined`: quotes were taken out. */
void ab_scope_find(struct ab_scope_look *l, const struct ab_plain *p,
		   bool joined);
/* Does the weak name at [i, e) stand where a name of a box stands? */
bool ab_scope_in_place(const struct ab_plain *p, size_t i, size_t e);
/* Does a word begin at i, end before e? */
bool ab_scope_begins(const struct ab_plain *p, size_t i);
bool ab_scope_ends(const struct ab_plain *p, size_t e);
/* Is it the name, character by character, as it was given? */
bool ab_scope_is_exact(const struct ab_plain *p, size_t i, size_t e,
		       const struct ab_scope_name *name);
/* Places where a box is named, whatever the name: .shared/X, --sandbox=X. */
void ab_scope_find_places(struct ab_scope_look *l, const struct ab_plain *p);
/* IP addresses, in any spelling, that are a box's. */
void ab_scope_find_addresses(struct ab_scope_look *l,
			     const struct ab_plain *p);
/* Sixteen bytes that are an id of as many. */
void ab_scope_find_id_bytes(struct ab_scope_look *l, const char *bytes,
			    size_t n);
/* Four or sixteen bytes that are one. */
void ab_scope_find_address_bytes(struct ab_scope_look *l, const char *bytes,
				 size_t n);

/* --- decoding ------------------------------------------------------------- */

/*
 * A text that is made of another one, of which only the lines are kept in
 * which something changed: the others were looked at already, and a large
 * text with one escape is not read twice for it. A line that is long ends at
 * a space. Begins with a newline when something was left out.
 */
struct ab_scope_text {
	char *p;
	size_t n;
	size_t line;  /* where the last one begins */
	bool changed; /* something in it */
	bool any;     /* something at all */
	bool left_out;
};
bool ab_scope_text_begin(struct ab_scope_look *l, struct ab_scope_text *t,
			 size_t room);
/* The character c of the other text was put into it as it is. */
void ab_scope_text_copied(struct ab_scope_text *t, char c);
/* The character c was made; it is at most as long as what it was made of. */
void ab_scope_text_put(struct ab_scope_text *t, uint32_t c);
/* Up to `most` digits of `base` at p; how many there are. */
size_t ab_scope_number(const char *p, size_t n, int base, size_t most,
		       uint32_t *value);
/* False: nothing changed. */
bool ab_scope_text_end(struct ab_scope_text *t, char **out, size_t *n);

/* Each takes what it makes from l->arena (low); false: nothing was there. */
bool ab_scope_unescape(struct ab_scope_look *l, const struct ab_plain *p,
		       char **out, size_t *n);
bool ab_scope_printable(struct ab_scope_look *l, const struct ab_plain *p,
			char **out, size_t *n);
bool ab_scope_named(struct ab_scope_look *l, const struct ab_plain *p,
		    char **out, size_t *n);
bool ab_scope_join(struct ab_scope_look *l, const struct ab_plain *p,
		   struct ab_plain *out);
bool ab_scope_literals(struct ab_scope_look *l, const struct ab_plain *p,
		       char **out, size_t *n);
bool ab_scope_punycode(struct ab_scope_look *l, const struct ab_plain *p,
		       char **out, size_t *n);
bool ab_scope_unwrap(struct ab_scope_look *l, const struct ab_plain *p,
		     char **out, size_t *n);
/* Calls `take` for what each run of an encoding's characters decodes to. */
typedef void (*ab_scope_take)(struct ab_scope_look *l, const char *text,
			      size_t n, bool is_whole);
void ab_scope_runs(struct ab_scope_look *l, const struct ab_plain *p,
		   ab_scope_take take);
/* And for each row of numbers. */
void ab_scope_codes(struct ab_scope_look *l, const struct ab_plain *p,
		    ab_scope_take take);

/* --- reading -------------------------------------------------------------- */

enum ab_scope_type {
	AB_VALUE_STRING = 1,
	AB_VALUE_KEY,
	AB_VALUE_NUMBER,
	AB_VALUE_WORD,	/* true, false, null */
	AB_VALUE_JOINED	/* the strings of one array or object, and the
			   numbers among them, one after the other with NULs
			   between */,
	AB_VALUE_BYTES	/* numbers of one array, as bytes */
};

struct ab_scope_frame {
	bool is_object;
	enum ab_scope_key key;	 /* of what it stands under */
	enum ab_scope_key child; /* of the value that comes */
	size_t key_begin, key_end; /* of the member, without its quotes */
	size_t index;
	uint64_t serial;
};

struct ab_scope_reader {
	const char *text;
	size_t n, at;
	struct ab_arena *arena;
	struct ab_scope_frame frames[AB_SCOPE_MAX_DEPTH];
	size_t depth;
	uint64_t serial;
	uint64_t *seen; /* hashes of keys, open addressing */
	size_t seen_size;
	char *strings, *bytes; /* what is gathered for JOINED and BYTES */
	size_t string_len, string_count, byte_len;
	bool has_string; /* not numbers alone */
	const char *why;   /* not JSON that means one thing */
	bool is_limit;	   /* `why` is about size or depth */
	enum ab_scope_key parent; /* key of the object that holds the value */
	enum ab_scope_key key;	  /* of the value */
	size_t begin, end;	  /* the value in the text */
	void *data;
	void (*value)(struct ab_scope_reader *r, enum ab_scope_type type,
		      const char *text, size_t n);
};

/* False: r->why. `arena` has at least 8 * n + 4096 bytes left. */
bool ab_scope_read(struct ab_scope_reader *r);
/* The JSON pointer of the value; NULL: no memory. */
const char *ab_scope_pointer(const struct ab_scope_reader *r,
			     struct ab_arena *high);

/* --- checking ------------------------------------------------------------- */

/* Of a call that is looked at: check.c fills it for the verdict or hints. */
struct ab_scope_hint {
	uint32_t box;
	unsigned level;
	bool is_key;
	const char *pointer;
	size_t begin, end;
};

struct ab_scope_call {
	const agentbox_scope *scope;
	const char *tool, *args;
	size_t tool_len, args_len;
	const char *pass; /* a target that may be named, or NULL */
	bool pass_used;
	bool is_scoped;
	enum ab_scope_writes writes;
	struct ab_scope_hint hints[AB_SCOPE_MAX_HINTS];
	size_t hint_count, hint_total;
	bool is_unread;	 /* not JSON: nothing was looked at */
	bool is_partial; /* a limit was reached */
	uint64_t steps;
};

/*
 * Is the text, a member's name or a value, a path to what a peer shares, in a
 * place where a tool would write it? AGENTBOX_VERDICT_*.
 */
int32_t ab_scope_judge_path(struct ab_scope_look *l,
			    const struct ab_scope_reader *r, bool is_key,
			    enum ab_scope_writes writes, const char *text,
			    size_t n);

int32_t ab_scope_judge(struct ab_scope_call *call,
		       agentbox_decision **decision, agentbox_error **err);

#endif
