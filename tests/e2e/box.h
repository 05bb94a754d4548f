/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The harness of the end-to-end suite: a temporary host with a workspace, a
 * box over it, probes inside, and a comparison of what the host's files were
 * and are.
 *
 * Every case runs in a process of its own, with ten seconds to live (as
 * often as CK_TIMEOUT_MULTIPLIER says, ten times under the runner), and
 * prints one line of TAP. What a case starts with:
 *
 *   base/ws        the workspace, a small git repository
 *   base/outside   files of the host that no box may see or change
 *   base/tools     the attacker, mounted read-only at /attack
 *   base/state     the context's state directory
 *
 * At its end the box is freed, and the case fails when a descriptor, a
 * process, a mount or a cgroup is left, or when anything below outside/ or
 * tools/ changed. Memory is kept until the process ends.
 */
#ifndef E2E_BOX_H
#define E2E_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agentbox/audit.h"
#include "agentbox/base.h"
#include "agentbox/policy.h"
#include "agentbox/sandbox.h"
#include "agentbox/walls.h"

struct e2e_case {
	const char *name;
	void (*run)(void);
};

#define CASE(name) { #name, name }
#define CASES_END { NULL, NULL }

/* `main` of a suite. argv names cases to run, default all; -l lists. */
int e2e_main(int argc, char **argv, const struct e2e_case *cases);

/*
 * A failed check is reported and the case goes on. The condition is looked at
 * before the arguments of the message, which may be what it has set.
 */
#define CHECK(cond, ...) \
	__extension__({ \
		bool good_ = (cond); \
		e2e_check(good_, __FILE__, __LINE__, #cond, __VA_ARGS__); \
	})
/* A failed requirement ends the case. */
#define REQUIRE(cond, ...) \
	do { \
		bool needed_ = (cond); \
		if (!e2e_check(needed_, __FILE__, __LINE__, #cond, \
			       __VA_ARGS__)) \
			e2e_end(); \
	} while (0)
bool e2e_check(bool good, const char *file, int line, const char *what,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* How many checks have failed, for a forked part of a case. */
size_t e2e_failures(void);
/* A line for whoever reads the log. */
void e2e_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Tear down and end the case with what was found so far. */
void e2e_end(void) __attribute__((noreturn));
/* The case cannot run here; `reason` names the missing feature or program. */
void e2e_skip(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
/* More time than ten seconds, for cases that say why. */
void e2e_seconds(unsigned int seconds);
/* Past this a case is killed from outside; a long program raises it. */
extern unsigned int e2e_most_seconds;

/* What is open and mounted now is not a leak. */
void e2e_mark_again(void);

/* Text kept until the case ends. */
char *e2e_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The next line that comes out of there, without its end; kept as well. */
char *e2e_line(int fd);
/* How often it stands there, none over another. */
size_t e2e_count(const char *text, const char *what);
int64_t e2e_now_ms(void);
void e2e_sleep_ms(int64_t ms);
/* What has to come is waited for so long: on a busy machine it comes late. */
#define SOON_MS 30000
/* Until `is` holds; its last value. */
#define E2E_SOON(is)                                                  \
	({                                                            \
		int64_t soon_until = e2e_now_ms() + SOON_MS;          \
		bool soon_is;                                         \
								      \
		while (!(soon_is = (is)) && e2e_now_ms() < soon_until) \
			e2e_sleep_ms(10);                             \
		soon_is;                                              \
	})

/* The host's side; paths are absolute, parents are made. */
const char *host_base(void);
const char *host_path(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
/* A path in the workspace. */
const char *ws_path(const char *relative);
void host_mkdir(const char *path);
void host_write(const char *path, const char *text);
void host_write_mode(const char *path, const char *text, mode_t mode);
void host_symlink(const char *target, const char *path);
/* The whole file, NULL when there is none. */
char *host_read(const char *path);
bool host_exists(const char *path);
/* A minimal repository at `path`, without a git program. */
void host_repository(const char *path);
/* Runs a program on the host, waits; its standard output. */
char *host_run(const char *const *argv, int *status);
#define HOST_RUN(status, ...) \
	host_run((const char *const[]){ __VA_ARGS__, NULL }, (status))
/* The program is installed on the host. */
bool host_has(const char *program);
/* A listing of everything below path: kinds, modes, owners, times, hashes. */
char *host_tree(const char *path);
void host_same_tree(const char *what, const char *before, const char *after);
/* A file path of a listening socket; the fd. */
int host_listen_unix(const char *path);
/* Open fds of this process. */
size_t host_fd_count(pid_t pid);
/* KiB resident. */
size_t host_rss_kib(pid_t pid);

/* The box. One per case is held here; more by hand with box_raise_at(). */
agentbox_context *box_context(void);
/* The document of a box over base/ws: `mounts` are more elements of the
   mounts list, `keys` more members of the document; NULL for none. */
char *box_document(const char *builtin, const char *mounts, const char *keys);
/* A document becomes a policy, or the case ends. */
agentbox_policy *box_policy(const char *document);
/* Skips the case where none of the namespaces of `full` can be had. */
void box_needs_namespaces(void);
/* Skips the case where the library was built without it. */
void box_needs(const char *feature);
/* The audit of the boxes that are raised from now on; borrowed, or NULL. */
void box_set_audit(agentbox_audit *audit);
/* One of their own, a file; to the end of the box: its text, kept. */
void box_open_log(void);
char *box_close_log(void);
/* Raise it, or the case ends; skips when the machine cannot by `full`. */
agentbox_sandbox *box_raise(const char *mounts, const char *keys);
agentbox_sandbox *box_raise_document(const char *document);
/* Try it: NULL and the error when it is refused. */
agentbox_sandbox *box_try(const char *document, int32_t *code, char **where,
			  char **message);
/* The boxes from now on are raised with helpers of which one is a mutant that
   leaves this out (mutant/); what it leaves out later stands in
   mutant/agentbox-mutant of the host's directory. */
void box_use_mutant(const char *helper, const char *leaves_out);
/* The box of the case, after box_raise. */
agentbox_sandbox *box(void);
/* Free the box of the case now. */
void box_end(void);

struct outcome {
	int32_t result; /* of capture */
	int status;	/* exit status, -1: a signal */
	int signal;
	char reason[16];
	const char *out, *err;
	const char *error; /* message when result is not 0 */
};

/* Run in the box and collect. */
struct outcome box_run(const char *const *argv);
#define BOX_RUN(...) box_run((const char *const[]){ __VA_ARGS__, NULL })
struct outcome box_run_in(agentbox_sandbox *sandbox, const char *const *argv);
/* sh -c */
struct outcome box_sh(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
/* A command that is not collected. */
agentbox_process *box_start(const char *const *argv, int out_fd);
#define BOX_START(out_fd, ...) \
	box_start((const char *const[]){ __VA_ARGS__, NULL }, (out_fd))

/*
 * One attack in the box: its result word ("OK", "EPERM", ...). The whole
 * text behind the name is kept in attack_detail(). The arguments are split
 * at blanks.
 */
const char *box_attack(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
/* The same on the host, as this user. */
const char *host_attack(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
const char *attack_detail(void);
/* The attack's result is one of the words "EPERM|EACCES". */
#define ATTACK(expected, ...) \
	e2e_expect(__FILE__, __LINE__, "box", (expected), \
		   e2e_text(__VA_ARGS__), box_attack(__VA_ARGS__))
#define CONTROL(expected, ...) \
	e2e_expect(__FILE__, __LINE__, "control", (expected), \
		   e2e_text(__VA_ARGS__), host_attack(__VA_ARGS__))
bool e2e_expect(const char *file, int line, const char *where,
		const char *expected, const char *attack, const char *got);
/* `word` is one of "a|b|c". */
bool one_of(const char *word, const char *words);

/*
 * Dispatches up to timeout_ms until an event of this kind arrives whose
 * object ends in `object` (NULL: any); its detail, or NULL.
 */
char *box_event(const char *kind, const char *object, int timeout_ms);
/* Forget what has arrived. */
void box_forget_events(void);
/* A word of the walls report: does the text contain it. */
char *box_walls(void);
char *box_limits(void);

/* pid on the host of the init inside, or of anything with this comm or
   argv[0] below this process; 0 for none. */
pid_t host_descendant(const char *name);
/* One of exactly this name, in this state of proc_pid_stat(5), or 0. */
pid_t host_descendant_in(const char *name, char state);
/* Count of living descendants, zombies excluded. */
size_t host_descendants(void);
/* Each one's line of proc_pid_stat(5); their count. */
size_t host_look_at_descendants(void (*look)(const char *stat));
/* Those of this name. */
size_t host_descendants_of(const char *name);
/* To all that were there at one moment, as who stops a service does. */
void host_signal_descendants(int signum);
/* Stop it, and wait until its last thread has stopped: one that runs may do
   more after kill(2) has returned. */
bool host_stop(pid_t pid);
/* Is the process gone within ms? */
bool host_gone(pid_t pid, int64_t ms);

#endif
