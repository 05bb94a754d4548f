/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a walk found: every name of the source, judged, in byte order of the
 * paths. 32 bytes and the name for each. A directory's names lie in one block;
 * blocks are in the order of the walk.
 */
#ifndef AB_COPY_TREE_H
#define AB_COPY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "job.h"
#include "snapshot/filter.h"

enum entry_kind { ENTRY_FILE, ENTRY_DIR, ENTRY_LINK, ENTRY_SPECIAL };

#define ENTRY_PASSAGE 0x1u /* left out, but something below it may be kept */
#define ENTRY_MATCH 0x2u   /* as in the record; `first` says where */
#define ENTRY_SKIPPED 0x4u /* left out before anything of it was listed */
#define ENTRY_REACHED 0x8u /* a directory that the walk came to */
#define ENTRY_ADMITTED 0x10u /* kept, though `rule` found something */

typedef struct entry {
	uint64_t ino;
	uint32_t name; /* in tree.names */
	/* a directory's block; of a file `first` is the entry of the record,
	   in units of eight bytes, and `count` the line of a finding */
	uint32_t first, count;
	uint16_t rule; /* in tree.rules */
	uint8_t kind, reason, tier, proof, flags, name_len;
} entry;

typedef struct tree {
	entry *entries; /* owned; [0] is the root */
	size_t count, room;
	char *names;	   /* owned, NUL-terminated each */
	size_t names_len, names_room;
	const char **rules; /* owned array of borrowed text; [0] is "" */
	size_t rule_count, rule_room;
	uint64_t kept_files, kept_dirs;
	bool owned_by_us; /* O_NOATIME may be used */
	/* sets of the tree's own ignore files; rules point into them */
	ab_filter_ignore *ignore;
	/* inodes of what was left out by name, sorted; made when needed */
	uint64_t *left;
	size_t left_count, left_room;
	bool has_left, left_in_part;
} tree;

/* A path that grows and shrinks by a name. */
typedef struct path {
	char text[AB_MAX_PATH + 2];
	size_t len;
} path;
/* False: it would be longer than a path may be. */
bool path_push(path *p, const char *name, size_t n);
void path_pop(path *p, size_t len);

/* Byte order of whole paths: a directory's name goes on with a slash. */
int name_order(const char *a, size_t an, bool a_is_dir, const char *b,
	       size_t bn, bool b_is_dir);

static inline const char *entry_name(const tree *t, const entry *e)
{
	return t->names + e->name;
}
static inline bool is_walked(const entry *e)
{
	return e->kind == ENTRY_DIR &&
	       (e->reason == AB_KEPT || (e->flags & ENTRY_PASSAGE)) &&
	       !(e->flags & ENTRY_SKIPPED);
}

typedef struct walking walking; /* walk.c */
typedef struct walk {
	copy_job *job;
	const ab_filter *filter; /* NULL: every name is kept */
	copy_failure *failure;
	tree *tree;
	int root_fd;
	walking *going; /* owned; NULL before it begins and when it is over */
	bool has_failed;
} walk;

/* All of it. 0, or -1 with *failure, as all of these. */
int walk_tree(walk *w);
/*
 * Piece by piece, for who copies meanwhile: what is walked is judged for
 * good. Each may move the entries and the names of the tree.
 */
int walk_begin(walk *w);
int walk_step(walk *w);
/* Until this directory is listed and judged, or is not to be walked. */
int walk_reach(walk *w, uint32_t index);
int walk_finish(walk *w);
void tree_end(tree *t);
/* The number of a rule's text (borrowed for as long as the tree). */
uint16_t tree_rule(tree *t, const char *rule);

/*
 * Below a directory of the source without links or mounts. -errno; an
 * interrupted look at a tree in motion (EAGAIN) is tried again.
 */
int open_beneath(int dirfd, const char *name, int flags);

/* Why something cannot be opened; AB_OUT_REASONS: the job cannot go on. */
enum ab_left_out reason_of(int sys_errno);

/* inodes.c: is this inode one of those left out by name? Collects them when
   asked first, at the end of the walk. True also when that cannot be known. */
bool is_left_out(walk *w, uint64_t ino, uint64_t nlink);

static inline int64_t time_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* Raw names of a directory. */
typedef struct raw_dirent {
	uint64_t ino;
	int64_t off;
	uint16_t len;
	uint8_t type;
	char name[];
} raw_dirent;
#define RAW_SIZE 65536
/* Bytes in `buffer`, 0 at the end, -errno. */
long read_names(int fd, void *buffer);

#endif
