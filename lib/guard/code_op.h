/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What makes words of words in an expression of an inline program (code_op.c),
 * as code_expr.c reads it.
 */
#ifndef AB_GUARD_CODE_OP_H
#define AB_GUARD_CODE_OP_H

#include "guard/code.h"

enum ab_op {
	AB_OP_NONE,
	AB_OP_ROOT,
	AB_OP_GROUP,
	AB_OP_STRING, /* an expression in a string */
	AB_OP_LIST,
	AB_OP_PATH,  /* Path("a", "b") */
	AB_OP_JOIN,  /* os.path.join("a", "b") */
	AB_OP_BELOW, /* path.join("a", "b") of js */
	AB_OP_SAME,
	AB_OP_EXPAND,
	AB_OP_UNDER, /* ruby: expand_path("a", "b") */
	AB_OP_HERE,
	AB_OP_HOME,
	AB_OP_PARENT,
	AB_OP_FORMAT,   /* "{}".format("a") */
	AB_OP_SPRINTF,  /* sprintf("%s", "a") */
	AB_OP_FILL,	/* ("%s"):format("a") */
	AB_OP_WORDS,    /* join(" ", list) */
	AB_OP_TABLE,    /* table.concat(list, " ") */
	AB_OP_PASTE,    /* R's paste("a", "b") */
	AB_OP_PASTE0,
	AB_OP_BETWEEN,  /* " ".join(list) */
	AB_OP_OF_WORDS, /* list.join(" ") */
	AB_OP_LINE,     /* shlex.join(list) */
	AB_OP_SPLIT,
	AB_OP_SLICE,    /* list.slice(1) */
	AB_OP_CONCAT,   /* list.concat(more) */
	AB_OP_VARIABLE, /* getenv("HOME") */
	AB_OP_GLOB,
	AB_OP_NAMES, /* of what is in a directory */
	/* code_text.c */
	AB_OP_BASE64,
	AB_OP_HEX,
	AB_OP_BUFFER, /* Buffer.from("x", "base64") */
	AB_OP_REPLACE,
	AB_OP_REPLACE_ONE, /* the first */
	AB_OP_CUT,	   /* "a:b".split(":") */
	AB_OP_LOWER,
	AB_OP_UPPER,
	AB_OP_ANY, /* one of what it is given: max("a", "b") */
	AB_OP_ELEMENT /* one of a list: list.pop() */
};

/* What it is given. */
struct ab_op_args {
	enum ab_op op;
	bool has_comma;
	struct ab_made of; /* what it is a method of; a list's elements */
	struct ab_made_args args;
};

/* What is made of it. False: that is not known. */
bool ab_op_make(struct ab_code *k, struct ab_op_args *f, struct ab_made *m);
/* []string{"a"}, new String[]{"a"}, vec!["a"]: what ends its elements; the
   lexer, behind `t`, then is behind the bracket. 0: it is no list. */
char ab_op_list(const struct ab_code *k, const struct ab_token *t,
		struct ab_lexer *x);
/* What of a list is left by what stands in the brackets behind it: `1:`,
   `1..-1`, `1..$#a`. How many bytes that is, with the bracket that closes; 0:
   it is no list, or that is not understood. */
uint32_t ab_op_slice(const char *s, uint32_t left, struct ab_made *m);
/* What a list has at text[from..end-1], behind the bracket that opens and with
   the one that closes: at a place that is told, or anywhere. False: it is no
   list, or a part of one is taken. */
bool ab_op_index(struct ab_code *k, uint32_t from, uint32_t end,
		 struct ab_made *m);
bool ab_op_is_range(const struct ab_code *k, uint32_t from, uint32_t end);
/* --- code_text.c --- */
/* The same as ab_op_make(), of the calls that are read there. */
bool ab_op_text(struct ab_code *k, const struct ab_op_args *f,
		struct ab_made *m);
/* --- code_op.c --- */
/* It makes more than it was given. */
bool ab_op_is_making(enum ab_op op);
/* The call that has the name, as owner.name(); and the method of what has been
   made. walks: what a loop goes through. */
enum ab_op ab_op_of_call(const struct ab_code *k, const struct ab_token *t,
			 const struct ab_token *owner);
enum ab_op ab_op_of_method(const struct ab_code *k, const struct ab_token *t,
			   const struct ab_made *of, bool walks);

/* --- code_variable.c --- */
enum ab_said {
	AB_SAID_NOT,
	AB_SAID_HERE, /* the directory at hand */
	AB_SAID
};

/* os.sep, environ["HOME"]: what that name has which is none of the program's;
   the lexer is behind it. */
enum ab_said ab_code_said(struct ab_code *k, const struct ab_token *t,
			  const struct ab_token *owner, struct ab_lexer *x,
			  struct ab_made *m);
/* The values of a name; false: it is a list, or a map, in more ways than one.
 */
bool ab_code_values_of(struct ab_code *k, const struct ab_named *n,
		       bool is_index, struct ab_made *m);
/* l.pop(, d.get(: one of what it has is taken; x is behind the name. */
bool ab_op_takes_one(const struct ab_code *k, const struct ab_named *n,
		     struct ab_lexer x);
/* d.get(x, "a"): what that is where the map has no such key; x is behind the
   bracket. */
void ab_op_default(struct ab_code *k, struct ab_lexer x, struct ab_made *m);
/* Any of the values of a list or a map, however many it was; false: it is none.
 */
bool ab_code_element_of(struct ab_code *k, const struct ab_named *n,
			struct ab_made *m);
/* A string with what is known of the names in it; false: nothing is. */
bool ab_code_read_variables(struct ab_code *k, const struct ab_token *t,
			    struct ab_made *m);

#endif
