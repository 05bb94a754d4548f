/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the files of this room: the plan while it grows. Strings and
 * arrays of the plan live in the build until it is encoded. Memory running
 * out is sticky: builders write into a scratch object and the compile ends in
 * ENOMEM before anything is sealed, so no step can go missing silently.
 */
#ifndef AB_WALLS_INTERNAL_H
#define AB_WALLS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"
#include "policy/policy.h"
#include "walls/walls.h"

#define AB_BOX_USER "agent"
#define AB_BOX_HOME "/home/agent"
#define AB_BOX_ID 1000u
#define AB_DEFAULT_PRIVATE_BYTES (UINT64_C(1) << 30)
/* of the processes in pids: PID 1, launcher, holder's own child */
#define AB_PIDS_OF_OURS 3u

/* A host path resolved once: fd pins the inode. */
typedef struct ab_hostpath {
	char path[AB_MAX_PATH]; /* canonical: absolute, no links */
	int fd;			/* O_PATH, owned */
	uint64_t dev, ino;
	uint32_t mode, uid, gid;
} ab_hostpath;

/* What is mounted where, for Landlock, hides and the state directory. */
typedef struct ab_view {
	const char *inside; /* in the build's memory */
	const char *host;   /* canonical, NULL for our own tmpfs */
	bool write, exec, dir, device, proc;
} ab_view;

typedef struct ab_build {
	agentbox_context *context;
	agentbox_policy *handle;
	const ab_policy *policy;
	const ab_compile_input *input;
	const ab_probe *probe;
	ab_compiled *out;
	ab_plan plan;

	bool nomem;
	void **owned;
	size_t owned_count;
	ab_plan_step scratch_step;

	ab_view *views;
	size_t view_count;

	/* canonical host trees that boxes of this policy write to */
	const char **writable;
	size_t writable_count;

	size_t copied; /* bytes of host files in the plan */
	bool pool;     /* the box gets a kernel uid of its own */
	bool has_begun; /* input->early knows the head of the plan */
	ab_hostpath workspace; /* fd -1: none */
} ab_build;

/* A mount namespace, and so a file tree of its own. */
static inline bool ab_build_has_tree(const ab_build *b)
{
	return b->input->tier < AB_TIER_LANDLOCK;
}

static inline bool ab_build_is_bare(const ab_build *b)
{
	return b->input->tier == AB_TIER_BARE;
}

/*
 * build.c: never NULL for step; strings are NULL only when nomem is set.
 * grow: room for one more than `count` in *array, which doubles at powers of
 * two; or false and nomem.
 */
bool ab_build_grow(ab_build *b, void *array, size_t count, size_t size);
char *ab_build_own(ab_build *b, char *taken);
char *ab_build_str(ab_build *b, const char *s);
char *ab_build_join(ab_build *b, const char *base, const char *rest);
ab_plan_step *ab_build_step(ab_build *b, uint32_t kind, uint32_t flags,
			    const char *target);
/* strcmp() for paths, with a directory right before what lies below it. */
int ab_path_order(const char *a, const char *b);
void ab_build_view(ab_build *b, const ab_view *view);
void ab_build_rule(ab_build *b, const char *path, uint64_t access);
void ab_build_rlimit(ab_build *b, uint32_t resource, uint64_t value);
void ab_build_watch(ab_build *b, const char *pattern);
/* An O_PATH fd that the compiled plan keeps open; takes fd. */
void ab_build_pin(ab_build *b, int fd);
void ab_build_cgroup(ab_build *b, const char *path);
void ab_build_note(ab_build *b, const char *fmt, ...) AB_PRINTF(2, 3);
/* One that a program can tell from others, by its kind: agentbox_walls(3). */
void ab_build_note_of(ab_build *b, const char *kind, const char *object,
		      const char *fmt, ...) AB_PRINTF(4, 5);
/* Names are bytes: what is no UTF-8 has \xNN for each high byte. */
json_t *ab_build_text(const char *s);
void ab_build_end(ab_build *b);

/* resolve.c */

/*
 * Open an absolute host path on which no link is, nor any other spelling of
 * it: then it is its own canonical name. 0, or -errno and *out is as it was:
 * -ELOOP for a link, -ENOSYS and others where this cannot be asked at all.
 */
int ab_host_open_plain(const char *path, ab_hostpath *out);
/*
 * Follow the links of an absolute host path once and open what is there,
 * O_PATH. ENOTFOUND, EACCES, ESYS with `where`.
 */
int32_t ab_host_resolve(const char *path, const char *where, ab_hostpath *out,
			agentbox_error **err);
/* EDENIED for trees no box may see: /, /proc, /sys, /dev, /run, /tmp. */
int32_t ab_host_check(const ab_hostpath *host, const char *where,
		      agentbox_error **err);
/*
 * EDENIED when `path`, which led to `host`, goes through a symbolic link that
 * lies in one of b->writable: who was in there chose where it leads.
 */
int32_t ab_host_check_links(const ab_build *b, const char *path,
			    const ab_hostpath *host, const char *where,
			    agentbox_error **err);
/* True when p is the link text of a symbolic link; text into buf. */
bool ab_host_is_link(const char *p, char *buf, size_t size);

/* compile.c: a plan as a sealed memfd (owned). ELIMIT. */
int32_t ab_plan_seal(const ab_plan *plan, int *fd, agentbox_error **err);

/* tree.c, landlock.c, protect.c, limits.c: parts of one compile */
int32_t ab_tree_compile(ab_build *b, agentbox_error **err);
/* What the private tmpfs of the box may hold together. */
uint64_t ab_tree_private_bytes(const ab_build *b);
/* Only where the workspace is: a bare box has nothing else. */
int32_t ab_tree_find_workspace(ab_build *b, agentbox_error **err);
int32_t ab_landlock_compile(ab_build *b, agentbox_error **err);
int32_t ab_protect_compile(ab_build *b, agentbox_error **err);
int32_t ab_limits_compile(ab_build *b, agentbox_error **err);
/* weaker.c: when all else is compiled */
void ab_weaker_compile(ab_build *b);
/* broker.c: can this policy's secrets be delivered, and what the box sees. */
int32_t ab_broker_check(const ab_build *b, agentbox_error **err);
int32_t ab_broker_compile(ab_build *b, agentbox_error **err);
/* share.c: the mount at which grants appear, when the policy asks for it. */
int32_t ab_share_compile(ab_build *b, agentbox_error **err);
void ab_share_end(ab_compiled *c);
/* quarantine.c: before the workspace is looked at: EWALL, see ab_left. */
int32_t ab_quarantine_check(const ab_build *b, agentbox_error **err);
/* A place for what must not appear, if there are such names. */
int32_t ab_quarantine_make(ab_build *b, agentbox_error **err);
/* The mask of landlock rights that exist at an ABI. */
uint64_t ab_landlock_fs_mask(uint32_t abi);

/* report.c */
int32_t ab_require_check(ab_build *b, agentbox_error **err);
json_t *ab_describe(const ab_plan *plan, const ab_compiled *out);

#endif
