/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of the self-test. A run has four parts: bait is laid that no box
 * may reach (bait.c); agentbox-verify is started in the box and, while it
 * waits, its process and its neighbours are read in /proc (proc.c, outside.c,
 * limits.c, mounts.c); then it is told the probes and its answers are judged
 * by the table (probes.c, calls.c, judge.c); the report is made (report.c,
 * exposure.c). The agent can stop that program, so nobody waits for it: a run
 * has a descriptor, a timeout and turns (run.c), which a caller who has time
 * waits for (agentbox_verify_run) and an owner takes between others
 * (answer.c). Spec: agentbox/verify.h, DESIGN.md sections 1 and 12.
 */
#ifndef AB_VERIFY_INTERNAL_H
#define AB_VERIFY_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agentbox/verify.h"
#include "base/attr.h"
#include "base/hash.h"
#include "policy/policy.h"
#include "sandbox/sandbox.h"
#include "wire/plan.h"

#define AB_VERIFY_TIMEOUT_MS 120000

enum ab_verdict {
	AB_VERDICT_UNKNOWN = 0, /* fail closed: what nobody judged */
	AB_VERDICT_PASS,
	AB_VERDICT_MISSING,
	AB_VERDICT_WEAKER,
	AB_VERDICT_NOT_APPLICABLE
};

#define AB_MAX_VERIFY_SECRETS 32
typedef struct ab_verify_secret {
	char *name;  /* owned */
	void *value; /* owned, ab_secret_new() */
	size_t size;
} ab_verify_secret;

struct agentbox_verify_options {
	uint32_t timeout_ms;
	bool revoke;
	int stop_fd; /* borrowed; readable: the run ends. -1: none */
	ab_verify_secret secrets[AB_MAX_VERIFY_SECRETS];
	size_t secret_count;
};

typedef struct ab_finding {
	const char *wall, *tried; /* static */
	uint32_t verdict;	  /* enum ab_verdict */
	bool hard;
	char *probe, *result, *answer; /* owned */
} ab_finding;

struct agentbox_verify {
	ab_finding *findings;
	size_t count, room;
	bool nomem; /* something could not be written down */
	bool is_bare;
	char box_id[AB_ID_SIZE];
	const char *tier;
	char *policy_name, *config_hash;
	json_t *controls, *exposure, *notes, *weaker;
	uint32_t exposure_sum;
};

/* What the probes can name, `%NAME` in the table. */
#define AB_MAX_BAIT 32
typedef struct ab_bait_value {
	const char *name;
	char *value; /* owned; NULL: there is none here, see `why` */
	const char *why;
} ab_bait_value;

typedef struct ab_bait {
	int state_fd;
	char dir[40];	   /* below the state directory */
	int dir_fd;	   /* holds it: leftover.c */
	int unix_fd, abstract_fd, tcp_fd, shm_id;
	ab_bait_value values[AB_MAX_BAIT];
	size_t count;
} ab_bait;

/* A process of the box, as the host's /proc shows it. */
typedef struct ab_proc {
	pid_t pid, parent;
	pid_t pid_inside; /* the last of NSpid */
	uint64_t started; /* field 22 of stat */
} ab_proc;

/* What a run waits for. */
enum ab_verify_stage {
	AB_VERIFY_HELLO,
	AB_VERIFY_ANSWERS,
	AB_VERIFY_END, /* of the program */
	AB_VERIFY_DONE
};

struct ab_questions;

typedef struct ab_verify_run {
	agentbox_sandbox *box;
	agentbox_context *context;
	const ab_policy *policy;
	ab_box_walls walls;
	json_t *plan; /* what the box should be, as a document */
	agentbox_verify *report;
	ab_bait bait;
	uint64_t deadline;
	const agentbox_verify_options *options; /* or NULL */
	const char *state; /* the state directory; borrowed */

	/* the program in the box */
	agentbox_sandbox *other; /* raised beside it, NULL: could not be */
	char other_id[AB_ID_SIZE];
	char scratch[40]; /* its workspace on the host; "": it has none */
	int scratch_fd;	  /* holds it: leftover.c */
	bool is_announced; /* to the shield, as a program of ours */
	agentbox_process *process;
	int to_fd, from_fd; /* its standard streams; -1 */
	char *why_not;	    /* it could not be run; owned */
	enum ab_verify_stage stage;
	bool has_revoked;    /* it is another one, that is asked afterwards */
	bool is_settling;    /* it has ended: look again soon */
	int epoll_fd;	     /* what is waited for */
	char line[8192];     /* what it has said of a line */
	size_t line_len;
	agentbox_bytes *input; /* what it is told; owned */
	size_t told;
	struct ab_questions *asked; /* owned */
	size_t answers;

	ab_proc *procs; /* the holder and all below it */
	size_t proc_count;
	const char *procs_why; /* NULL: they are known */
	pid_t first, launcher, prober; /* the host's numbers, 0: unknown */
	uid_t owner;	       /* whose process raised the box */
	/* seen from outside */
	bool has_own_net, has_own_tree;
} ab_verify_run;

/* report.c */

/*
 * Write a finding down. probe is copied, wall and tried are static; result
 * and answer are formatted by the caller (taken; NULL: out of memory, which
 * makes the report fail).
 */
void ab_verify_add(agentbox_verify *report, const char *probe,
		   const char *wall, const char *tried, bool hard,
		   uint32_t verdict, char *result, char *answer);
/* The first finding of that name, if there is one, says this; as above. */
void ab_verify_amend(agentbox_verify *report, const char *probe,
		     uint32_t verdict, char *result, char *answer);
const char *ab_verdict_name(uint32_t verdict);
bool ab_verify_has(const agentbox_verify *report, uint32_t verdict);
/* What falls with another wall is told under that one: at the end. */
void ab_verify_find_causes(agentbox_verify *report);
/* Of the first finding of that name; unknown: there is none. */
uint32_t ab_verify_verdict_of(const agentbox_verify *report,
			      const char *probe);
/* The design's table of controls, filled in: owned; NULL: no memory. */
json_t *ab_verify_controls(const ab_verify_run *run);

/* exposure.c: 0 or -ENOMEM */
int ab_verify_expose(ab_verify_run *run);

/* bait.c */
int32_t ab_bait_lay(ab_verify_run *run, agentbox_error **err);
/* The value, or NULL and why there is none. */
const char *ab_bait_get(const ab_bait *bait, const char *name,
			const char **why);
/* Takes `value`; 0 or -ENOMEM. */
int ab_bait_set(ab_bait *bait, const char *name, char *value);
int ab_bait_set_process(ab_bait *bait, const char *name, const char *started,
			pid_t pid);
/* Why there is none of that name; static. */
void ab_bait_set_why(ab_bait *bait, const char *name, const char *why);
/* Was something caught? Called after the probes. */
void ab_bait_look(ab_verify_run *run);
void ab_bait_end(ab_bait *bait);

/* other.c */
/*
 * A second box of the same owner, with nothing in it, whose processes and key
 * the first must not reach. What cannot be raised, or not by then, is a
 * finding: 0 or ENOMEM.
 */
int32_t ab_other_raise(ab_verify_run *run, uint64_t deadline,
		       agentbox_error **err);

/* appear.c */
/* Does the tried box watch for names at all? */
bool ab_appear_is_wanted(const ab_verify_run *run);
/* An empty workspace for the second box, in run->scratch: 0 or -errno. */
int ab_appear_lay(ab_verify_run *run);
/* Names are made there, and looked for; waits for them until then at most. */
void ab_appear_try(ab_verify_run *run, uint64_t deadline);
/* What is left of it goes, when the second box has ended. */
void ab_appear_end(ab_verify_run *run);

/* leftover.c */
/* What is made for the time of a test, each with 16 hex digits behind it: in
   the state directory, and where a box can have its workspace. */
#define AB_VERIFY_BAIT "verify-"
#define AB_VERIFY_SCRATCH_DIR "/tmp"
#define AB_VERIFY_SCRATCH "agentbox-verify-"
/* In use as long as this is open: a descriptor, or -1, and then nothing that
   is swept knows of it but by its age. */
int ab_leftover_hold(int dirfd, const char *name);
void ab_leftover_remove(int dirfd, const char *name);
/* What the dead have left of such in the directory `path`. */
void ab_leftover_sweep(int dirfd, const char *path, const char *prefix);

/* proc.c */
/* The text of /proc/PID/NAME; owned, NULL: *sys_errno. */
char *ab_proc_text(pid_t pid, const char *name, int *sys_errno);
/* A line of status: what is behind "NAME:\t", up to its end; false: none. */
bool ab_proc_line(const char *status, const char *name, char *out,
		  size_t size);
/* The process of a pidfd; 0 or less: not known, or it has ended. */
pid_t ab_proc_of(int pidfd);
/* The number of a namespace, 0 and *sys_errno. */
uint64_t ab_proc_namespace(pid_t pid, const char *name, int *sys_errno);
/* Field 22 of /proc/PID/stat; 0: there is none. */
uint64_t ab_proc_started(pid_t pid);
/* Is there none, or what is left of one? What cannot be read has not ended. */
bool ab_proc_has_ended(pid_t pid);
/*
 * Who traces one of its threads, but those that descend from `below` (0:
 * nobody is meant). 0: nobody does; -errno: not known.
 */
long ab_proc_tracer(pid_t pid, pid_t below);
/*
 * Every thread by its number, until `look` says something else than 0; that is
 * returned. A thread of which it says that it is gone is passed over. -errno:
 * not known.
 */
long ab_proc_each_thread(pid_t pid,
			 long (*look)(void *arg, pid_t pid, const char *thread),
			 void *arg);
/* Is it an errno of ab_proc_text() for a process that has ended? */
bool ab_proc_is_gone(int sys_errno);
/* Fills procs, or procs_why. */
void ab_proc_find(ab_verify_run *run);

/* outside.c, limits.c, mounts.c */
/* Not the holder and its own, which are outside of the box. */
bool ab_verify_is_inside(const ab_verify_run *run, const ab_proc *p);
void ab_verify_outside(ab_verify_run *run);
void ab_verify_mounts(ab_verify_run *run);
/* The same for a text: a command's status, limits, and mountinfo (changed). */
void ab_verify_status(ab_verify_run *run, const char *status);
void ab_verify_limits(ab_verify_run *run, const char *limits);
/* The same of every process there is, by its number. */
void ab_verify_look_at_all_cgroups(ab_verify_run *run);
/* scheduling.c: of the program; and the same for texts and what ioprio_get(2)
   said, or -errno. */
void ab_verify_look_at_scheduling(ab_verify_run *run, const char *limits);
void ab_verify_look_at_all_scheduling(ab_verify_run *run);
void ab_verify_scheduling(ab_verify_run *run, const char *stat,
			  const char *limits, long io_priority);
/* A process beside the box: has it given up what it does not need? */
void ab_verify_confined(ab_verify_run *run, const char *probe,
			const char *wall, pid_t pid);
/* owners: the mountinfo of the owner */
void ab_verify_table(ab_verify_run *run, char *mountinfo,
		     const char *owners);
/* A hard finding of words that stand still; they are copied. */
void ab_verify_tell(ab_verify_run *run, const char *probe, const char *wall,
		    const char *tried, uint32_t verdict, const char *result,
		    const char *answer);
/* Where the box was raised without this wall, its lack is the policy's. */
uint32_t ab_verify_lacking(const ab_verify_run *run, uint32_t wall);

/* secrets.c: while the program waits, for its view of the box's files */
void ab_verify_secrets(ab_verify_run *run);

/* inside.c: nothing of it waits */
/* The command that runs it, with these standard streams; owned. */
int32_t ab_verify_make_command(agentbox_context *context, int in, int out,
			       agentbox_command **command,
			       agentbox_error **err);
/* The program is started; that the box does not run it is a finding. */
int32_t ab_verify_start(ab_verify_run *run, agentbox_error **err);
/* *is_over: it has said hello, or it will not. */
int32_t ab_verify_hear_hello(ab_verify_run *run, bool *is_over,
			     agentbox_error **err);
/* Everything, or what has to fail after a revocation. */
int32_t ab_verify_ask(ab_verify_run *run, agentbox_error **err);
/* The stage is another one when there is nothing more to be heard. */
int32_t ab_verify_hear_answers(ab_verify_run *run, agentbox_error **err);
/* It said what it had to say: its status is not asked for. */
bool ab_verify_has_ended(ab_verify_run *run);
/* What is left of it goes. */
void ab_verify_stop(ab_verify_run *run);

/*
 * run.c: a run from its beginning to its report. wait_ms: the most that it
 * waits for the second box and for the program in it; everything else is for
 * turns.
 */
#define AB_VERIFY_WAIT_MS 20000
#define AB_VERIFY_OWNER_WAIT_MS 5000 /* others wait as well */
int32_t ab_verify_begin(agentbox_sandbox *sandbox,
			const agentbox_verify_options *options,
			uint32_t wait_ms, ab_verify_run **out,
			agentbox_error **err);
/* Readable when a turn has something to do, or after so many ms. */
int ab_verify_fd(const ab_verify_run *run);
int64_t ab_verify_timeout_ms(const ab_verify_run *run);
/* Waits for nobody. The stage is AB_VERIFY_DONE when there is a report. */
int32_t ab_verify_turn(ab_verify_run *run, agentbox_error **err);
void ab_verify_end(ab_verify_run *run);

/* ask.c */
/* Does the policy mount something at a path, above or below it? */
bool ab_verify_shows(const ab_verify_run *run, const char *path);
/* The innermost step of this kind that it lies in; borrowed, NULL: none. */
const json_t *ab_verify_step_above(const ab_verify_run *run,
				   const char *wanted, const char *path);
/* The wall that a step of the plan is of. Static. */
const char *ab_verify_wall_of(const json_t *step);

/*
 * probes.c, calls.c: the table. `op` is the operation of agentbox-verify and
 * its arguments, separated by blanks; `%NAME` is a bait. `refused`: what a
 * refusal looks like and which wall it is of, "ENOENT=rootfs EACCES=landlock";
 * another error is no refusal but unknown. `needs`: AB_WALL_* that the probe
 * rests on; where the box was raised without all of them, what succeeds is
 * weaker and not missing.
 */
#define AB_NEEDS_GATEWAY 0x80000000u /* network.mode is gateway */
#define AB_NEEDS_LIST 0x40000000u    /* and network.allow is not "*" */
/* not tried where it would leave the machine: no network of the box's own */
#define AB_NEEDS_OWN_NET 0x20000000u
/* not tried where it would walk through the host's files */
#define AB_NEEDS_OWN_TREE 0x10000000u
#define AB_NEEDS_OTHER                                           \
	(AB_NEEDS_GATEWAY | AB_NEEDS_LIST | AB_NEEDS_OWN_NET |   \
	 AB_NEEDS_OWN_TREE)
typedef struct ab_verify_probe {
	const char *id, *wall, *tries, *op, *refused;
	uint32_t needs;
} ab_verify_probe;
extern const ab_verify_probe ab_verify_probes[];
extern const size_t ab_verify_probe_count;

/* A call that the filter refuses before the kernel looks at it. */
typedef struct ab_verify_call {
	const char *id, *name, *tries;
	long number;
	const char *args;
	const char *refused; /* NULL: "EPERM ENOSYS" */
} ab_verify_call;
extern const ab_verify_call ab_verify_calls[];
extern const size_t ab_verify_call_count;

/* Host trees that no box sees unless its policy mounts them. */
extern const char *const ab_verify_host_paths[];

#endif
