/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-verify in the box: started as a command of the agent's would be,
 * told the probes when the outside was looked at, and its answers judged by
 * the table. The agent cannot trace it (it is not dumpable) and can end or
 * stop it: then what it did not answer is unknown. What it writes is read
 * with bounds all the same. Spec: libexec/verify/main.c.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/spawn.h"
#include "path/lexical.h"
#include "verify/internal.h"

#define PROGRAM_FD 9
#define PROGRAM_PATH "/proc/self/fd/9"
#define MAX_INPUT 60000u /* libexec/verify/main.c; a pipe holds 65536 */
#define MAX_OUTPUT (1u << 20)
#define HELLO "agentbox-verify\t"
#define MAX_SOCKETS 64
#define HOST_SOCKET \
	"ENOENT=rootfs EACCES=permissions EPERM=seccomp ECONNREFUSED=nobody"

/* One line that was sent, and what came back. */
typedef struct question {
	const char *id, *wall, *tries;
	char *op;		/* owned; NULL: not asked, see `why` */
	const char *refused;	/* "EPERM=seccomp ..." */
	uint32_t needs;
	const char *why;	/* of op NULL */
	char *owned_id;		/* for what is not in a table */
	uint32_t skip;		/* verdict without op: unknown or n/a */
} question;

typedef struct questions {
	question *items;
	size_t count, room;
	bool nomem;
} questions;

/* --- the program --------------------------------------------------------- */

static int32_t make_command(ab_verify_run *run, agentbox_command **out,
			    agentbox_error **err)
{
	static const char *const argv[] = { PROGRAM_PATH };
	agentbox_command *c = NULL;
	ab_autofd int program = -1, in = -1, from = -1;
	int pair[2];
	int32_t rc = ab_helper_open_program(run->context, "agentbox-verify",
					    &program, err);

	if (rc)
		return rc;
	if (pipe2(pair, O_CLOEXEC))
		return ab_error_sys(err, errno, "", "cannot make a pipe");
	in = pair[0];
	run->to_fd = pair[1];
	if (pipe2(pair, O_CLOEXEC))
		return ab_error_sys(err, errno, "", "cannot make a pipe");
	run->from_fd = pair[0];
	from = pair[1];
	rc = agentbox_command_new(argv, 1, &c, err);
	if (rc == 0)
		rc = agentbox_command_set_cwd(c, "/", err);
	if (rc == 0)
		rc = agentbox_command_set_fd(c, 0, in, err);
	if (rc == 0)
		rc = agentbox_command_set_fd(c, 1, from, err);
	if (rc == 0)
		rc = ab_command_set_program(c, PROGRAM_FD, program, err);
	if (rc)
		agentbox_command_free(c);
	else
		*out = c;
	return rc;
}

/* A line of what it says, without its end; -errno. Blocks until `deadline`. */
static ssize_t read_line(ab_verify_run *run, char *line, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		int r = ab_fd_poll(run->from_fd, POLLIN,
				   ab_clock_left_ms(run->deadline));

		if (r <= 0)
			return r ? r : -ETIMEDOUT;
		/* byte by byte: a few kilobytes, once */
		ssize_t got = read(run->from_fd, line + n, 1);
		if (got == 0)
			return -EPIPE;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0 && line[n++] == '\n') {
			line[n - 1] = '\0';
			return (ssize_t)n - 1;
		}
	}
	return -EMSGSIZE;
}

static int take_hello(ab_verify_run *run)
{
	char line[256];
	ssize_t n = read_line(run, line, sizeof(line));

	if (n < 0)
		return (int)n;
	if (strncmp(line, HELLO, strlen(HELLO)) != 0 ||
	    strcmp(line + strlen(HELLO), agentbox_build_id()) != 0)
		return -ESTALE;
	return 0;
}

/* Not to be run: told in every finding of the inside. */
static int32_t give_up(ab_verify_run *run, const char *what, int sys_errno,
		       agentbox_error **err)
{
	ab_cleanup_fd(&run->to_fd);
	run->to_fd = -1;
	run->why_not = ab_asprintf("%s: %s", what,
				   strerrordesc_np(sys_errno));
	return run->why_not ? 0 : ab_error_nomem(err);
}

int32_t ab_verify_start(ab_verify_run *run, agentbox_error **err)
{
	ab_auto(agentbox_error) *why = NULL;
	agentbox_command *c = NULL;
	int32_t rc = make_command(run, &c, err);
	int r;

	if (rc)
		return rc;
	rc = agentbox_sandbox_spawn(run->box, c, &run->process, &why);
	agentbox_command_free(c);
	/* that the box does not run it is a finding; the rest is an error */
	if (rc == AGENTBOX_ENOTFOUND || rc == AGENTBOX_EACCES ||
	    rc == AGENTBOX_EDENIED /* the shield refuses it */ ||
	    rc == AGENTBOX_ETIMEOUT || rc == AGENTBOX_EWALL ||
	    (rc == AGENTBOX_ECLOSED && !ab_box_usable(run->box, NULL))) {
		run->why_not = ab_strdup(agentbox_error_get_message(why));
		return run->why_not ? 0 : ab_error_nomem(err);
	}
	if (rc)
		return ab_error_move(err, &why);
	r = take_hello(run);
	if (r == -ESTALE)
		return ab_error_set(err, AGENTBOX_EHELPER, "agentbox-verify",
				    "agentbox-verify is of another build than "
				    "the library");
	return r ? give_up(run, "agentbox-verify did not answer", -r, err) : 0;
}

/* --- the questions ------------------------------------------------------- */

static question *add(questions *q, const question *item)
{
	if (q->count == q->room) {
		size_t room = q->room * 2 + 64;
		question *more = ab_realloc(q->items, room, sizeof(*more));

		if (!more) {
			q->nomem = true;
			return NULL;
		}
		q->items = more;
		q->room = room;
	}
	q->items[q->count] = *item;
	return &q->items[q->count++];
}

static void end_questions(questions *q)
{
	for (size_t i = 0; i < q->count; i++) {
		free(q->items[i].op);
		free(q->items[i].owned_id);
	}
	free(q->items);
}

/* As one field of a line: libexec/verify/main.c. */
static void put_field(agentbox_bytes *b, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c > ' ' && c < 0x7f && c != '%')
			ab_bytes_append_char(b, (char)c);
		else
			ab_bytes_appendf(b, "%%%02x", c);
	}
}

/* The words of `text` as fields; a list of words stays several. */
static void put_words(agentbox_bytes *b, const char *text)
{
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, " ");

		ab_bytes_append_char(b, '\t');
		put_field(b, at, n);
		at += n + (at[n] == ' ');
	}
}

/*
 * The operation of a row with what its `%NAME`s stand for, as the fields of a
 * line; NULL: there is none of it, *why says why, or no memory (*why NULL).
 */
static char *expand(const ab_verify_run *run, const char *op, const char **why)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(MAX_INPUT);
	bool is_list = false;

	*why = NULL;
	for (const char *at = op; b && *at;) {
		size_t n = strcspn(at, " ");
		char name[32];
		const char *value = NULL;

		if (at == op)
			;
		else if (*at == '%')
			is_list = !strncmp(at, "%variables", n) ||
				  !strncmp(at, "%system", n);
		if (*at == '%' && n < sizeof(name)) {
			memcpy(name, at + 1, n - 1);
			name[n - 1] = '\0';
			value = ab_bait_get(&run->bait, name, why);
			/* one of several places may be missing */
			if (!value && strcmp(name, "workspace") != 0 &&
			    strcmp(name, "system") != 0)
				return NULL;
		}
		*why = NULL;
		if (*at != '%') {
			if (at != op)
				ab_bytes_append_char(b, '\t');
			put_field(b, at, n);
		} else if (value && is_list) {
			put_words(b, value);
		} else if (value) {
			ab_bytes_append_char(b, '\t');
			put_field(b, value, strlen(value));
		}
		at += n + (at[n] == ' ');
	}
	return b && ab_bytes_ok(b) ? ab_strdup(agentbox_bytes_get_data(b))
				   : NULL;
}

static void ask(questions *q, const ab_verify_run *run, question item,
		const char *op)
{
	item.op = expand(run, op, &item.why);
	if (!item.op && !item.why)
		q->nomem = true;
	else if (!add(q, &item))
		free(item.op);
}

static bool is_allowed(const ab_verify_run *run, const char *name)
{
	const ab_policy_list *allow = &run->policy->syscalls.allow;

	for (size_t i = 0; i < allow->count; i++) {
		if (strcmp(allow->items[i], name) == 0)
			return true;
	}
	return false;
}

static void ask_calls(questions *q, const ab_verify_run *run)
{
	for (size_t i = 0; i < ab_verify_call_count; i++) {
		const ab_verify_call *c = &ab_verify_calls[i];
		question item = { .id = c->id, .wall = "seccomp",
				  .tries = c->tries, .needs = AB_WALL_SECCOMP,
				  .refused = c->refused ? c->refused
							: "EPERM ENOSYS" };
		ab_autofree char *op = NULL;

		if (is_allowed(run, c->name)) {
			item.why = "/syscalls/allow names it";
			item.skip = AB_VERDICT_NOT_APPLICABLE;
			add(q, &item);
			continue;
		}
		op = ab_asprintf("call %ld %s", c->number, c->args);
		if (op)
			ask(q, run, item, op);
		else
			q->nomem = true;
	}
}

/* Where a path of the host is in the box by this step; owned, or NULL. */
static char *inside_of(const json_t *step, const char *path,
				 size_t n)
{
	const char *from = json_string_value(json_object_get(step, "from"));
	const char *at = json_string_value(json_object_get(step, "at"));
	const char *kind = json_string_value(json_object_get(step, "kind"));
	size_t len = from ? strlen(from) : 0;

	if (!from || !at || !kind || strcmp(kind, "bind") != 0 || n <= len ||
	    strncmp(path, from, len) != 0 || path[len] != '/')
		return NULL;
	return ab_asprintf("%s%.*s", at, (int)(n - len), path + len);
}

bool ab_verify_shows(const ab_verify_run *run, const char *path)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *at = json_string_value(json_object_get(m, "at"));
		const char *kind =
			json_string_value(json_object_get(m, "kind"));
		bool is_tree = kind && (!strcmp(kind, "bind") ||
					!strcmp(kind, "tmpfs"));

		if (at && ((is_tree && ab_path_is_below(path, at)) ||
			   ab_path_is_below(at, path)))
			return true;
	}
	return false;
}

/* One operation on one path, for what is in no table. Takes item.owned_id. */
static void ask_path(questions *q, question item, const char *op,
		     const char *path)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(MAX_INPUT);

	item.id = item.owned_id;
	if (b && !item.why) {
		ab_bytes_appendf(b, "%s\t", op);
		put_field(b, path, strlen(path));
		if (ab_bytes_ok(b))
			item.op = ab_strdup(agentbox_bytes_get_data(b));
	}
	if (item.id && (item.op || item.why) && add(q, &item))
		return;
	q->nomem = true;
	free(item.op);
	free(item.owned_id);
}

const json_t *ab_verify_bind_of(const ab_verify_run *run, const char *path)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");
	const json_t *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *at = json_string_value(json_object_get(m, "at"));
		const char *kind =
			json_string_value(json_object_get(m, "kind"));

		if (at && kind && !strcmp(kind, "bind") &&
		    ab_path_is_below(path, at) && strlen(at) >= longest) {
			best = m;
			longest = strlen(at);
		}
	}
	return best;
}

/*
 * Sockets that somebody of the host listens on at a path which a tree of the
 * box shows: proc_net(5), unix. The walk finds them too, but for the trees
 * that it leaves out.
 */
static void ask_sockets(questions *q, const ab_verify_run *run)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");
	int sys_errno;
	ab_autofree char *all = ab_proc_text(getpid(), "net/unix", &sys_errno);
	size_t asked = 0;

	for (char *at = all; at && (at = strchr(at, '/')) != NULL;) {
		size_t n = strcspn(at, "\n");

		for (size_t i = 0; i < json_array_size(mounts); i++) {
			const json_t *m = json_array_get(mounts, i);
			question item = { .wall = "sockets",
					  .tries = "connect to a socket of the "
						   "host that a tree shows",
					  .refused = HOST_SOCKET };
			ab_autofree char *inside =
				inside_of(m, at, n);

			if (!inside || asked++ >= MAX_SOCKETS)
				continue;
			item.owned_id = ab_asprintf("sockets%s", inside);
			ask_path(q, item, "unix", inside);
		}
		at += n;
	}
}

/* Trees of the host that the policy does not mount. */
static void ask_paths(questions *q, const ab_verify_run *run)
{
	for (const char *const *p = ab_verify_host_paths; *p; p++) {
		question item = { .wall = "rootfs",
				  .tries = "reach a tree of the host",
				  .needs = AB_WALL_ROOTFS,
				  .refused = "ENOENT=rootfs ENOTDIR=rootfs "
					     "EACCES=landlock ENXIO=rootfs" };

		item.owned_id = ab_asprintf("files%s", *p);
		if (ab_verify_shows(run, *p)) {
			item.why = "/mounts shows it or a part of it";
			item.skip = AB_VERDICT_NOT_APPLICABLE;
		}
		ask_path(q, item, "read", *p);
	}
}

const char *ab_verify_wall_of(const json_t *step)
{
	const char *at = json_string_value(json_object_get(step, "at"));
	const char *kind = json_string_value(json_object_get(step, "kind"));

	if (!at || !kind || (strcmp(kind, "protect") && strcmp(kind, "pin")))
		return "mounts";
	/* the kernel's own settings are held by the same step */
	return ab_path_is_below(at, "/proc") ? "proc" : "protect";
}

/* Protected paths that are there, and trees that are read-only. */
static void ask_mounts(questions *q, const ab_verify_run *run)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *at = json_string_value(json_object_get(m, "at"));
		const char *kind =
			json_string_value(json_object_get(m, "kind"));
		const char *access =
			json_string_value(json_object_get(m, "access"));
		bool is_protected = kind && !strcmp(kind, "protect");
		question item = {
			.wall = ab_verify_wall_of(m),
			.tries = is_protected ? "write to a protected path"
					      : "write to a read-only tree",
			.needs = AB_WALL_ROOTFS,
			.refused = "EROFS=mounts EACCES=landlock ENOENT=mounts",
		};

		if (!at || !access || strcmp(access, "read") != 0)
			continue;
		item.owned_id = ab_asprintf(
			"%s%s", is_protected ? "protect" : "read-only", at);
		ask_path(q, item, "change", at);
	}
}

static bool allows_any(const ab_verify_run *run)
{
	const ab_policy_list *allow = &run->policy->network.allow;

	for (size_t i = 0; i < allow->count; i++) {
		if (allow->items[i][0] == '*')
			return true;
	}
	return false;
}

/* Why a row is not asked at all; NULL: it is. */
static const char *why_not_asked(const ab_verify_run *run, uint32_t needs,
				 uint32_t *verdict)
{
	*verdict = AB_VERDICT_NOT_APPLICABLE;
	if ((needs & AB_WALL_NETNS) &&
	    run->policy->network.mode == AB_NET_HOST)
		return "/network/mode is host";
	if ((needs & AB_NEEDS_GATEWAY) &&
	    run->policy->network.mode != AB_NET_GATEWAY)
		return "/network/mode is not gateway";
	if ((needs & AB_NEEDS_LIST) && allows_any(run))
		return "/network/allow is *";
	/* a box with no process of its own to look at tries nothing either */
	if ((needs & AB_NEEDS_OWN_NET) && !run->has_own_net &&
	    (run->walls.expected & AB_WALL_NETNS))
		return "it would leave the machine: see namespace.net";
	*verdict = AB_VERDICT_WEAKER;
	/* it would walk through the host's files, not the box's */
	if ((needs & ~run->walls.expected) & AB_WALL_ROOTFS)
		return "nothing: no tree of its own in this tier";
	return NULL;
}

static void ask_table(questions *q, const ab_verify_run *run)
{
	for (size_t i = 0; i < ab_verify_probe_count; i++) {
		const ab_verify_probe *p = &ab_verify_probes[i];
		question item = { .id = p->id, .wall = p->wall,
				  .tries = p->tries, .refused = p->refused,
				  .needs = p->needs & ~AB_NEEDS_OTHER };

		item.why = why_not_asked(run, p->needs, &item.skip);
		if (!item.why) {
			item.skip = 0;
			ask(q, run, item, p->op);
		} else if (!add(q, &item)) {
			q->nomem = true;
		}
	}
}

/* --- the answers --------------------------------------------------------- */

/* "E13" or a name: what the table writes; the kernel's numbers are libc's. */
static bool is_error(const char *name, size_t n, int number)
{
	const char *own = strerrorname_np(number);

	return own && strlen(own) == n && strncmp(own, name, n) == 0;
}

/* The wall that a refusal is of, by "EPERM=seccomp ..."; owned; NULL: none. */
static char *find_wall(const question *item, int number, bool *nomem)
{
	const char *own = strerrorname_np(number);

	for (const char *at = item->refused; *at;) {
		size_t n = strcspn(at, " "), name = strcspn(at, "= ");

		if (name < n && is_error(at, name, number)) {
			char *wall = ab_asprintf("%.*s (%s)",
						 (int)(n - name - 1),
						 at + name + 1, own);

			*nomem = !wall;
			return wall;
		}
		if (name == n && is_error(at, name, number)) {
			char *wall = ab_asprintf("%s (%s)", item->wall, own);

			*nomem = !wall;
			return wall;
		}
		at += n + (at[n] == ' ');
	}
	return NULL;
}

static void decode(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		char hex[3] = "";
		unsigned long c = 0;

		if (*p == '%' && p[1] && p[2]) {
			memcpy(hex, p + 1, 2);
			c = strtoul(hex, NULL, 16);
			p += 2;
			/* a report is text: control characters are not */
			*to++ = c >= ' ' && c < 0x7f ? (char)c : '?';
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/*
 * Is every one of these paths in a tree of the host that the policy mounts?
 * Then the policy shows it, and no wall is missing. The list may be cut off:
 * what does not begin with a slash is not shown.
 */
static bool is_shown(const ab_verify_run *run, const char *paths)
{
	char path[AB_MAX_PATH];

	for (const char *at = paths; *at;) {
		size_t n = strcspn(at, " ");

		if (*at != '/' || n >= sizeof(path))
			return false;
		memcpy(path, at, n);
		path[n] = '\0';
		if (!ab_verify_bind_of(run, path))
			return false;
		at += n + (at[n] == ' ');
	}
	return *paths != '\0';
}

/* The finding of one answer: "ok", "e13", "s31" or "?", and a text. */
static void judge(ab_verify_run *run, const question *item, const char *how,
		  const char *text)
{
	bool asked = (run->walls.expected & item->needs) == item->needs;
	char *result = NULL, *answer = NULL;
	uint32_t verdict = AB_VERDICT_UNKNOWN;
	bool nomem = false;
	int number = 0;

	if (how[0] == 'e' || how[0] == 's')
		number = (int)strtol(how + 1, NULL, 10);
	if (!strcmp(how, "ok")) {
		verdict = asked ? AB_VERDICT_MISSING : AB_VERDICT_WEAKER;
		if (!strcmp(item->wall, "sockets") && is_shown(run, text))
			verdict = AB_VERDICT_WEAKER;
		result = ab_asprintf("it was let%s%s", *text ? ": " : "",
				     text);
		answer = ab_strdup("nothing");
	} else if (how[0] == 'e' && number > 0) {
		answer = find_wall(item, number, &nomem);
		verdict = answer ? AB_VERDICT_PASS : AB_VERDICT_MISSING;
		/* the kernel's own answer means that the filter gave none */
		if (!answer && strcmp(item->wall, "seccomp") != 0)
			verdict = AB_VERDICT_UNKNOWN;
		if (verdict == AB_VERDICT_MISSING && !asked)
			verdict = AB_VERDICT_WEAKER;
		result = ab_asprintf("%s%s%s", strerrordesc_np(number)
				     ? strerrordesc_np(number) : how,
				     *text ? ": " : "", text);
		if (!answer && !nomem)
			answer = ab_strdup(verdict == AB_VERDICT_UNKNOWN
					   ? "not known" : "the kernel itself");
	} else if (how[0] == 's' && number == 31 /* SIGSYS */) {
		verdict = AB_VERDICT_PASS;
		result = ab_strdup("it was ended by SIGSYS");
		answer = ab_strdup("seccomp (SIGSYS)");
	} else {
		result = ab_asprintf("not to be found out%s%s",
				     *text ? ": " : "", text);
		answer = ab_strdup("not known");
	}
	ab_verify_add(run->report, item->id, item->wall, item->tries, true,
		      verdict, result, answer);
}

/* What was not asked, or has no answer. */
static void judge_unasked(ab_verify_run *run, const question *item,
			  const char *why)
{
	uint32_t verdict = item->skip ? item->skip : AB_VERDICT_UNKNOWN;

	ab_verify_add(run->report, item->id, item->wall, item->tries, true,
		      verdict, ab_strdup("not tried"), ab_strdup(why));
}

static int send_all(ab_verify_run *run, const questions *q)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(MAX_INPUT);
	int r;

	for (size_t i = 0; b && i < q->count; i++) {
		if (q->items[i].op)
			ab_bytes_appendf(b, "%zu\t%s\n", i, q->items[i].op);
	}
	if (!b || !ab_bytes_ok(b))
		return b && ab_bytes_is_over(b) ? -EMSGSIZE : -ENOMEM;
	r = ab_fd_write_full(run->to_fd, agentbox_bytes_get_data(b),
			     agentbox_bytes_get_size(b));
	ab_cleanup_fd(&run->to_fd);
	run->to_fd = -1;
	return r;
}

/* Why the rest has no answer; NULL: everything was said. */
static const char *take_answers(ab_verify_run *run, questions *q)
{
	char line[8192];
	ssize_t n = 0;

	for (size_t taken = 0; taken <= q->count; taken++) {
		char *how, *text, *end;
		unsigned long i;

		n = read_line(run, line, sizeof(line));
		if (n < 0 || !strcmp(line, "end"))
			break;
		i = strtoul(line, &end, 10);
		how = *end == '\t' ? end + 1 : NULL;
		text = how ? strchr(how, '\t') : NULL;
		if (!text || i >= q->count || !q->items[i].op)
			return "agentbox-verify said something else";
		*text++ = '\0';
		decode(text);
		judge(run, &q->items[i], how, text);
		free(ab_steal(&q->items[i].op));
		q->items[i].why = "";
	}
	return n == -ETIMEDOUT ? "it did not answer in time"
	       : n < 0	       ? "agentbox-verify was ended"
			       : NULL;
}

void ab_verify_inside(ab_verify_run *run)
{
	questions q = { NULL, 0, 0, false };
	const char *why = run->why_not;

	ask_calls(&q, run);
	ask_table(&q, run);
	ask_paths(&q, run);
	ask_sockets(&q, run);
	ask_mounts(&q, run);
	if (!why && !q.nomem) {
		int r = send_all(run, &q);

		why = r ? strerrordesc_np(-r) : take_answers(run, &q);
	}
	if (!why)
		why = "agentbox-verify did not say";
	for (size_t i = 0; i < q.count; i++) {
		const question *item = &q.items[i];

		if (item->op || !item->why)
			judge_unasked(run, item, why);
		else if (*item->why)
			judge_unasked(run, item, item->why);
	}
	if (q.nomem)
		run->report->nomem = true;
	end_questions(&q);
}
