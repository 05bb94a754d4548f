/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the holder knows of a direct workspace's protected names. */
#ifndef AB_INIT_WATCHER_H
#define AB_INIT_WATCHER_H

#include "holder.h"

/*
 * A mount of the plan that the host can take away by a rename: a SELF step
 * (protected, or a pinned ancestor), or what covers a place in a host tree.
 */
typedef struct guarded {
	const ab_plan_step *step;
	const ab_plan_step *cover; /* the step whose tree it lies in */
	const char *target; /* absolute, inside */
	/* the same place on the host: below the tree it is in, which the host
	   may move; -1: that was not there */
	int tree_fd;
	char *host; /* all of it, as it was at start, owned */
	const char *below; /* the end of it */
	const char *rest; /* relative to the workspace; NULL: not in it */
	uint32_t flags;
	bool is_gone;	 /* the host removed it: from now on it is missing */
	bool is_mounted; /* as of the last look at the mount table */
	bool is_absent;	 /* nothing is there, as of that look */
	bool is_failed;	 /* told already that it cannot be mounted again */
	bool is_deferred; /* removed; judged when the host settles */
	bool is_doubtful; /* away while the agent ran; not mounted since */
	bool is_adopted;  /* adopt.c: the host made it later */
	bool is_new;	  /* the same, and it was never mounted */
	int parent_fd;	  /* of an adopted one: it was made in this one */
	uint32_t absent_looks; /* one after another */
	uint64_t absent_ns; /* since when nothing is there; 0: something is */
	uint64_t absent_begun; /* the last command that was begun before that */
} guarded;

/* A directory; path: relative, owned, NULL when it is watched no more. */
typedef struct watched {
	int wd;
	char *path;
} watched;

/* A pattern, or a proper head of one: the name of something above it. */
typedef struct name_rule {
	const char *text;
	bool is_head;
	uint32_t next; /* in its bucket; 0: none, else index + 1 */
} name_rule;

/*
 * What stood at a name when the box began, or came later and was the host's:
 * nobody in the box could change it. record.c, left.c.
 */
typedef struct seen {
	const char *path; /* relative to the workspace */
	uint32_t kind;	  /* enum seen_kind */
	uint32_t type;	  /* S_IFMT */
	uint64_t ino;
	uint64_t made_ns; /* 0: the file system does not say */
	uint64_t changed_ns;
} seen;

enum seen_kind {
	/* covered by a mount of its own: this very inode is the host's,
	   whatever has been done to it */
	SEEN_HELD = 1,
	/* out of the agent's reach by something else, or it has other names:
	   the host's as long as nothing was done to it */
	SEEN_LEFT = 2,
	/* another file system is mounted there: below it nothing was seen */
	SEEN_MOUNT = 3
};

/* By which it is known whether anybody of a box lives: its PID 1. life.c. */
typedef struct life {
	char boot[40];
	uint64_t pid_ns;  /* whose number it is */
	uint64_t time_ns; /* by whose clock it was started; 0: no such */
	uint64_t started;
	uint32_t pid;
} life;

#define INIT_NAME_BUCKETS 512u
#define INIT_MAX_POINTERS 256u
#define INIT_MAX_ADOPTED 256u
#define INIT_MAX_AWAITED 16u
#define INIT_MAX_COVERED 16u
/* Git makes the parts of a work tree well within this. */
#define INIT_AWAIT_NS 30000000ull

struct watcher {
	init_box *box;
	int workspace_fd;  /* O_PATH */
	const char *own; /* where quarantines lie in the workspace, or NULL */
	size_t own_len;
	int quarantine_fd; /* locked, for ourselves */
	int unsettled_fd;  /* where the record of this box is, or -1 */
	bool is_torn;	   /* that record: no more is added */
	int namespace_fds[2]; /* user, mount; from PID 1 */
	/* our own: polling it takes the notice away (proc(5)) */
	int mountinfo_fd;
	/* epoll, edge-triggered, of the inotify fd: the events stay in it */
	int edge_fd;
	uint64_t next_check_ns; /* not before, CLOCK_BOOTTIME */
	uint64_t check_at_ns;	/* one is due then; 0: none */
	uint64_t names_at_ns;	/* the same for names, while no command runs */
	uint64_t sync_at_ns;	/* the record goes to the disk; 0: it has */
	int inside_fd; /* the workspace as the box has it; O_PATH, inside.c */
	bool is_inside_unknown; /* it could not be had in this settle */
	int demand_fd;	   /* eventfd: the host has to settle, see demand() */
	watched *dirs;	   /* by wd; see dirs.c */
	size_t dir_count, dir_room;
	size_t watch_count; /* of them */
	/* too many directories, or no inotify: look through all every time */
	bool is_rescan;
	uint64_t entries; /* seen by the look-through that runs now */
	uint64_t total;	  /* in the workspace, about */
	bool is_judging;  /* else: what is there at start */
	bool is_late;	  /* something there is not held, see see_at_start() */
	bool is_first;	  /* that is judged now; the box is not ready yet */
	bool is_whole;	  /* a look-through of everything runs */
	bool is_lost;	  /* something could not be judged by itself */
	bool is_doubtful; /* something failed in the last settle */
	bool is_covered;  /* the host has mounted something since the start */
	/* there; told of. Not one of more than these is known by its name */
	char *covered[INIT_MAX_COVERED];
	size_t covered_count;
	bool has_more_covered;
	bool has_left; /* some name, since the mounts were looked at */
	bool has_deferred; /* some removed mount, see guarded.is_deferred */
	bool is_again;	  /* the agent changed it while we looked */
	bool is_full;	  /* AB_MAX_SCAN_ENTRIES */
	/* of this settle; 0: as long as it takes. See init_begin_looking() */
	uint64_t limit_ns, most_ns;
	uint64_t looking_count; /* of what was quarantined before it */
	bool is_cut;		/* and it was given up */
	size_t max_path;  /* of a path below the workspace */
	uint32_t serial;  /* of quarantined names */
	guarded *guarded;
	size_t guarded_count;
	const guarded **sealed; /* the read-only ones, by their paths */
	size_t sealed_count;
	/* all in the workspace but those that were adopted, by their paths: an
	   agent makes names by the hundred thousand */
	const guarded **by_rest;
	size_t by_rest_count;
	/* as many of the first ones, by their targets: one of a large
	   workspace has as many as its mount table has lines */
	guarded **by_target;
	size_t by_target_count;
	/* where something else was mounted already */
	char **mounts;
	size_t mount_count;
	bool is_git; /* some pattern protects what git runs */
	/* nobody was there, all was judged; a later command has another
	   started_ns than this (adopt.c) */
	bool is_quiet;
	uint64_t quiet_ns;
	bool has_adopted; /* and not mounted yet */
	size_t adopted_count;
	uint64_t quarantined, reprotected, failed; /* since the start */
	uint64_t told[3]; /* of these, in the last reply to a SETTLE */
	int last_errno;	  /* of a path that failed since then, positive */
	/* rules by their last component; any: those with a wildcard there */
	name_rule *rules;
	size_t rule_count;
	uint32_t buckets[INIT_NAME_BUCKETS], any;
	/* protected names that no wall holds, or behind one, at start */
	char **known;
	size_t known_count;
	/* small files that say where a repository is, believed so far */
	char *pointers[INIT_MAX_POINTERS];
	size_t pointer_count;
	/* those that are not good yet, and since when: git is at it */
	struct {
		char *path;
		uint64_t since_ns;
	} awaited[INIT_MAX_AWAITED];
	size_t awaited_count;
	bool is_last; /* nothing is waited for any more */
	/* left.c: of a box that is gone, by their paths; else NULL */
	seen *seen;
	size_t seen_count;
	seen **by_ino; /* of these those that are not mounts */
	size_t by_ino_count;
};

/* Nothing is open, and it watches nothing. */
#define INIT_WATCHER_NONE                                      \
	{                                                      \
		.workspace_fd = -1, .quarantine_fd = -1,       \
		.unsettled_fd = -1, .namespace_fds = {-1, -1}, \
		.inside_fd = -1, .mountinfo_fd = -1,           \
		.demand_fd = -1, .edge_fd = -1                 \
	}

/*
 * search.c: the first of `count` items of `size` bytes, sorted by `compare`,
 * that does not come before `key`; count: none.
 */
size_t init_find_first(const void *list, size_t count, size_t size,
		       const void *key,
		       int (*compare)(const void *item, const void *key));

/* names.c: is this a name that must not appear? */
/* Index the patterns of the plan. 0 or -ENOMEM. */
int init_index_names(watcher *w);
/* What the walls hold, leads to it, or was there at start. */
bool init_is_held(const watcher *w, const char *path);
/* No other mount gives the box to write what this one, which is read-only and
   in the workspace, holds. */
bool init_is_only_way(const watcher *w, const guarded *g);
/* path is dir, or in it. */
bool init_is_path_below(const char *path, const char *dir);
/* This path itself is bound read-only. */
int init_list_sealed(watcher *w);
bool init_is_sealed(const watcher *w, const char *path);
/* Some rule is about this path, held or not. type: DT_*. */
bool init_is_named(const watcher *w, const char *path, unsigned char type);
/* Some pattern names this path itself; held or not. */
bool init_is_protected(const watcher *w, const char *path);
/* type: DT_*, also DT_UNKNOWN. Reads links and pointer files. */
bool init_is_unwanted(watcher *w, const char *path, unsigned char type);
/* The name was there at start: it is not the agent's. 0 or -ENOMEM. */
int init_keep_known(watcher *w, const char *path);
/*
 * Where a relative text leads from a directory of the workspace, by its
 * letters: only leading "..". False: out of the workspace, or not plain.
 */
bool init_lead(const char *dir, size_t dir_len, const char *text, char *out,
	       size_t size);

/* bare.c: git directories by structure. */
/* Would git run this, in a directory that is one but is called otherwise? */
bool init_is_bare_part(const watcher *w, const char *path);
/* Some component above it is a `.git`. */
bool init_is_below_git(const char *path);
/* With this name a directory may be one: quarantine what git would run. */
void init_check_bare(watcher *w, const char *path);

/* pointers.c: .git files and what they name. */
/* A new pointer file at path may stay; it is looked at again every time. */
bool init_take_pointer(watcher *w, const char *path);
/* It was taken, and may be whoever's. */
bool init_knows_pointer(const watcher *w, const char *path);
/* Is it of a kind that init_take_pointer understands? */
bool init_is_pointer(const char *path);
/*
 * It is one that is not good, and may be in a moment: git makes the parts of a
 * work tree one after the other. False: it was not for too long.
 */
bool init_await_pointer(watcher *w, const char *path);
/* Look at those again. */
void init_check_awaited(watcher *w);
/* A regular file of at most size bytes, by its whole. */
bool init_read_small(const watcher *w, const char *path, char *out,
		     size_t size, size_t *len);
/* The place of jj's repository: a file there says where it is instead. */
bool init_is_jj(const char *path);
/* Quarantine those that are no longer what they were. */
void init_check_pointers(watcher *w);

/* watch.c */
/*
 * A settle begins. Who plants faster than that is taken away is not waited for
 * longer than the host waits for an answer: then it has failed, as it has if
 * there is more than can be taken away in that time. The next goes on.
 */
void init_begin_looking(watcher *w);
/* The same at the end of the box, when nobody plants any more. */
void init_begin_last_look(watcher *w);
/* The rules, and what else is to be known, before the first look. 0 or -1. */
int init_prepare_look(watcher *w);
/* Judge what appeared, if there are patterns. */
void init_settle_names(watcher *w);
/* Can names appear, or change, without an event? */
bool init_is_blind(const watcher *w);
/* From here on the host settles before it starts or ends a command. */
void init_demand(watcher *w);
/*
 * Has the host mounted something there since the start, or above it? The box
 * has what is below that, and nobody can look at it.
 */
bool init_is_covered(const watcher *w, const char *path);
/* The names are looked at again without being asked, if nobody asks. */
void init_look_soon(watcher *w);
/* This path could not be judged, or not be moved. */
void init_fail_path(watcher *w, const char *path, int sys_errno);

/* dirs.c. path: of a directory in the workspace. False: no memory. */
bool init_keep_dir(watcher *w, int wd, const char *path);
/* NULL: no such one. Until the next that is kept or forgotten. */
const char *init_find_dir(const watcher *w, int wd);
void init_forget_dir(watcher *w, int wd);

/*
 * settle.c: look at the names that appeared without being asked; the host is
 * made to settle before it starts or ends a command if there was any.
 */
void init_settle_unasked(watcher *w);
/* Before the box is ready: what came after the plan had looked. */
void init_judge_late(watcher *w);

/* adopt.c: what the host makes while the agent is not there */
/* Nobody of the agent's was there since everything was judged. */
bool init_is_hosts(const watcher *w);
/* Everything that appeared is judged. began_ns: before that was begun. */
void init_mark_quiet(watcher *w, uint64_t began_ns, bool was_absent);
/* When the last command was begun; 0: none was. */
uint64_t init_last_begun(const watcher *w);
/* An unwanted name is the host's: it is guarded from now on. */
bool init_adopt(watcher *w, const char *path);
/* The plan holds nothing there, or the box has something else there. */
bool init_is_left(const watcher *w, const char *path);
/* -ESTALE: what it was made in is elsewhere, and nobody knows whose this is.
   Any other error: that cannot be told, and it stays the host's. */
int init_check_place(watcher *w, const guarded *g);
/* In a child in the box: cover it. -ESTALE: it is not the host's for sure,
   and nothing is held by a mount of ours. self: /proc/self/fd of the child,
   by the host's /proc. */
int init_bind_adopted(const watcher *w, const guarded *g, int root, int self);
/* It is a name that must not appear again. */
void init_give_up(watcher *w, guarded *g);

/* quarantine.c: take one entry out of the way and report it. */
void init_quarantine(watcher *w, const char *path);
/* The same for what must not stay in the workspace under any name. */
void init_quarantine_outside(watcher *w, const char *path);

/*
 * record.c: that this box runs, and what stood in its workspace when it began
 * (wire/plan.h, AB_UNSETTLED_DIR).
 */
/* 0 or -errno. */
int init_begin_record(watcher *w);
/* It came later: said if it is the host's. Where that cannot be written it is
   not known as such by who reads the record. */
void init_add_to_record(watcher *w, const guarded *g);
/* It is to go to the disk in a moment; and do that when it is time. */
void init_sync_soon(watcher *w);
void init_sync_record(watcher *w, uint64_t now);
/* What is at a path now, on the workspace's own mount; or -errno. */
int init_see(const watcher *w, const char *path, seen *out);
/*
 * Open the record beside the quarantine, and decode it: patterns and the place
 * in the box into the plan, the rest into w->seen. The descriptor (owned), or
 * -errno: -ENODATA when it does not say what stood there.
 */
int init_open_record(watcher *w);
int init_read_record(watcher *w, int fd, seen *top, life *of);

/* life.c */
/* 0 or -errno. */
int init_see_life(pid_t pid, life *out);
/* A pidfd (owned), readable when nobody of that box lives any more. -ESRCH:
   it is so by now; any other error: nobody can tell. */
int init_open_life(const life *l);
/* is_settled: no protected name of it stands in the workspace. */
void init_end_record(const watcher *w, bool is_settled);

/* left.c, while what an earlier box left is looked through. */
/* It, or what it is in, stood there when that box began. */
bool init_stood(const watcher *w, const char *path);
/* The same of this name by itself, and under it: nothing below is new. */
bool init_stood_as(const watcher *w, const char *path);
/* Something else stood there, or in it, or over it: told as a failure, since
   nobody knows who has changed it. */
bool init_doubt(watcher *w, const char *path);

/* Make a directory (O_PATH) one its owner can read and search. */
void init_make_passable(int dir_fd);

/* The parent of path, every directory on the way made passable; or -errno. */
int init_open_parent(watcher *w, const char *path);

/* guard.c */
bool init_is_guarded_step(const ab_plan *plan, uint32_t i);
int init_list_guarded(watcher *w);
/* Watch where guarded names are, when the workspace's scan does not. */
void init_watch_parents(watcher *w);

/* absent.c */
bool init_agent_is_absent(const watcher *w);

/* remount.c */
/* What an attempt says where nothing of that name is. */
bool init_is_nowhere(int r);
/*
 * Make mounts again that the host's renames have detached. 0, or -errno when
 * one of them cannot be made: nothing may be started then. settling: the host
 * asked, and starts nothing meanwhile.
 */
int init_check_mounts(watcher *w, bool settling);
/* Is this name of the workspace a read-only mount, says the mount table? */
bool init_is_in_table(const watcher *w, const char *path);
/* What the box has at an absolute path, by a child that enters it; -errno. */
int init_borrow(const watcher *w, const char *path, int flags);

/* inside.c */
/*
 * In the box this very name of the workspace is a read-only mount. Where the
 * plan has none the host has moved what was protected: the mount goes along.
 * Another name of the same file, a hard link, has none.
 */
bool init_is_moved(watcher *w, const char *path);
/* Another mount is there now: the workspace is looked up again. */
void init_forget_inside(watcher *w);

#endif
