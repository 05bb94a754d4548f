/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which names of a tree may be in a snapshot (DESIGN.md section 8). Judged by
 * name alone: what a file holds is content.h's question, what kind of thing
 * it is the walk's. The rules are data (names.c); a host adds patterns in the
 * manner of gitignore(5). Nothing in the tree can re-include anything.
 *
 * Pure and immutable once made; any thread. Compiled into agentbox-copy and
 * agentbox-git. Whatever cannot be judged is left out.
 */
#ifndef AB_SNAPSHOT_FILTER_H
#define AB_SNAPSHOT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/base.h"
#include "base/attr.h"
#include "snapshot/content.h"
#include "wire/codec.h"

/* A pattern longer, or with more `**`, is refused when the filter is made. */
#define AB_FILTER_PATTERN_MAX 4096
#define AB_FILTER_DOUBLE_STARS_MAX 8
#define AB_FILTER_PATTERNS_MAX 4096

enum ab_filter_profile {
	AB_FILTER_STRICT, /* tiers X, S and B out, C kept when clean */
	AB_FILTER_REQUIRED /* the required names only; `.env*` without
			      exception */
};

/*
 * What a host asks for; everything borrowed. Patterns as in gitignore(5),
 * without `!`: no slash inside, a name in any directory; with one, from the
 * root of the tree; a trailing slash, directories only. ASCII case does not
 * count in `exclude`, it does in `include`.
 */
typedef struct ab_filter_options {
	enum ab_filter_profile profile;
	/* nobody looks through the files: nothing is kept for being clean */
	bool is_unscanned;
	const char *const *exclude; /* patterns that leave out more */
	size_t exclude_count;
	/*
	 * Exact paths, or patterns, that bring back what tiers S, B and
	 * exclude took; tier X only when written "force:". No required name
	 * comes back (the templates of `.env` do), nor what is left out for
	 * its encoding, its structure as a repository, or by the tree.
	 */
	const char *const *include;
	size_t include_count;
	/*
	 * "RULE:PATTERN": what this rule of the content scan finds in these
	 * files does not count; the other rules' findings do. Patterns as in
	 * include, and a directory stands for all below it. A rule of tier H
	 * is sure by its form, so what it finds is admitted file by file:
	 * only a path from the root without wildcards.
	 */
	const char *const *admit;
	size_t admit_count;
	/*
	 * Patterns as in exclude, of what the source does not see itself: no
	 * include brings it back.
	 */
	const char *const *hidden;
	size_t hidden_count;
} ab_filter_options;

/* Why something is not in a snapshot; a stable name each. */
enum ab_left_out {
	AB_KEPT = 0,
	AB_OUT_NAME,	      /* "name": a rule of the table */
	AB_OUT_HOST,	      /* "exclude": a pattern of the host */
	AB_OUT_TREE,	      /* "ignore-file": .agentboxignore of the tree */
	AB_OUT_ENCODING,      /* "name-encoding": no UTF-8, control bytes,
				 backslash */
	AB_OUT_STRUCTURE,     /* "structure": bare repository, objects of
				 one, environment */
	AB_OUT_CONTENT,	      /* "content": a secret was found in it */
	AB_OUT_ALIAS,	      /* "alias": another name of what was left out */
	AB_OUT_LINK,	      /* "symlink" */
	AB_OUT_SPECIAL,	      /* "special": FIFO, socket, device */
	AB_OUT_MOUNT,	      /* "mount": another file system begins there */
	AB_OUT_SIZE,	      /* "size": over the limit of one file */
	AB_OUT_DEPTH,	      /* "depth" */
	AB_OUT_RACED,	      /* "raced": was something else when opened */
	AB_OUT_TORN,	      /* "torn": changed while it was read */
	AB_OUT_UNREADABLE,    /* "unreadable": the source may not read it */
	AB_OUT_COLLISION,     /* "collision": the name is taken at the
				 destination */
	AB_OUT_HIDDEN,	      /* "hidden": from the source, too */
	AB_OUT_REASONS
};
const char *ab_left_out_name(enum ab_left_out reason);

/* Left out by its name, unless its content proves that it is public. */
enum ab_filter_proof {
	AB_PROOF_NONE = 0,
	AB_PROOF_PEM, /* nothing but certificates, public keys, parameters */
	AB_PROOF_PGP, /* nothing but PGP signatures or public keys, armoured */
	AB_PROOF_ASC, /* the same, or text without anything armoured */
	AB_PROOF_XML, /* XML without a word of logins: not Maven's servers */
	AB_PROOF_SEALED, /* YAML that has its secrets encrypted or elsewhere */
	AB_PROOF_KEY,	 /* nothing but what PEM or PGP says is public */
	AB_PROOF_TEXT,	 /* text, where a database or an image has bytes */
	AB_PROOF_SCHEMA	 /* SQL without a row of data, and no dump */
};
#define AB_FILTER_PROOF_MAX 1048576

typedef struct ab_filter_verdict {
	enum ab_left_out reason; /* AB_KEPT: kept if its content is clean */
	char tier;		 /* 'X' 'S' 'C' 'B' 'A', or 0: no rule */
	/*
	 * Of a regular file that is left out: it may be kept all the same
	 * when ab_filter_proves() says so of its whole content.
	 */
	enum ab_filter_proof proof;
	/*
	 * Of a directory that is left out: `include` names something below
	 * it. It may be walked, and only what ab_filter_name() keeps there
	 * is kept, if the mark goes with it.
	 */
	bool is_passage;
	/* Of a directory: to be given back in ab_filter_names.mark. */
	uint32_t mark;
	const char *rule; /* the pattern or the rule's id; borrowed from the
			     filter (the ignore set); "" when none */
} ab_filter_verdict;

/*
 * The names in one directory, for rules that ask what else is there
 * (`target/` beside Cargo.toml; HEAD, objects/ and refs/ in one place).
 */
typedef struct ab_filter_names {
	/* Exactly this name, and of this kind. */
	bool (*has)(const void *data, const char *name, bool is_directory);
	/*
	 * The i-th name in any order, or NULL past the end. Names come out
	 * before anything was judged. The function may be NULL: unknown.
	 */
	const char *(*at)(const void *data, size_t i, bool *is_directory);
	const void *data;
	/* What the verdict on this directory said last; 0 for the root. */
	uint32_t mark;
} ab_filter_names;

typedef struct ab_filter ab_filter;

/*
 * Errors: AGENTBOX_EPOLICY with the pattern as `where` ("exclude[3]") when
 * one is malformed, too long or has too many `**`; AGENTBOX_ELIMIT for too
 * many; AGENTBOX_ENOMEM.
 */
int32_t ab_filter_new(const ab_filter_options *options, ab_filter **out,
		      agentbox_error **err);
void ab_filter_free(ab_filter *filter);
AB_DEFINE_AUTO(ab_filter, ab_filter_free)

/* The options as bytes for a helper's plan, and a filter from them. */
void ab_filter_put(ab_writer *w, const ab_filter_options *options);
int32_t ab_filter_get(ab_reader *r, ab_filter **out, agentbox_error **err);

/*
 * A tree's own .agentboxignore (any bytes, at most AB_FILTER_IGNORE_MAX): it
 * may only leave out more. Malformed lines are skipped, and counted in
 * `skipped` when it is not NULL. The result is a set that the caller gives to
 * ab_filter_name() beside the filter.
 */
#define AB_FILTER_IGNORE_MAX 65536
#define AB_FILTER_IGNORE_NAME ".agentboxignore"
typedef struct ab_filter_ignore ab_filter_ignore;
int ab_filter_ignore_parse(const void *p, size_t n, ab_filter_ignore **out,
			   size_t *skipped);
void ab_filter_ignore_free(ab_filter_ignore *ignore);

/*
 * Judge one name: `path` is relative to the root of the tree, clean, its
 * last component the name (n bytes, not NUL-terminated: any bytes but NUL).
 * The components above it were judged and kept before, or are a passage.
 * `siblings` are the names beside it, itself among them; NULL or one without
 * `at`: unknown, then a rule that asks leaves out only what is certain. So
 * siblings may be NULL only when no directory above is a passage. `ignore`
 * may be NULL.
 */
void ab_filter_name(const ab_filter *filter, const ab_filter_ignore *ignore,
		    const char *path, size_t n, bool is_directory,
		    const ab_filter_names *siblings, ab_filter_verdict *out);

/*
 * Judge a directory by what is in it, before anything of it is copied; its
 * name was kept (or is a passage) and entries->mark is what was said then.
 * Of the root of the tree ("", 0) only what is tier X counts: it was chosen.
 * *out has the mark for the names below.
 */
void ab_filter_listing(const ab_filter *filter, const char *path, size_t n,
		       const ab_filter_names *entries, ab_filter_verdict *out);

/*
 * Begin the scan of a file of the tree (ab_content_begin()), with what the
 * host admits there.
 */
void ab_filter_begin_content(const ab_filter *filter, ab_content *scanner,
			     enum ab_content_level level, const char *path,
			     size_t n);

/*
 * Is the whole content of a file, at most AB_FILTER_PROOF_MAX bytes, what
 * `proof` asks for? The content scan has its say as well.
 */
bool ab_filter_proves(enum ab_filter_proof proof, const void *p, size_t n);

/* The rules, for the manual, tests and `agentbox snapshot explain`. */
size_t ab_filter_rule_count(void);
const char *ab_filter_rule(size_t i, char *tier);

#endif
