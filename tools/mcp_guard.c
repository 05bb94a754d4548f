/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox mcp-guard: an MCP server on pipes behind the guard. Nothing of
 * either side reaches the other but what the guard writes; both die with one
 * another and with this process. The server's standard error is ours.
 * Specification: agentbox(1), agentbox_mcp(3).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "mcp.h"
#include "text.h"

#define GRACE_MS 5000 /* for a server whose client has gone */

typedef struct guard {
	mcp_session s;
	agentbox_policy *policy;
	json_t *document;
	char **argv; /* of the server: borrowed, or `owned` */
	char **owned;
	char *name;
	pid_t pid;
	int pid_fd, signal_fd;
	int signum;	     /* that ended it */
	int64_t deadline_ms; /* of the server's end; 0: none */
	bool ended;
	int server_status;
} guard;

/* --- which server -------------------------------------------------------- */

static bool same_command(const json_t *command, char *const *argv)
{
	json_t *v;
	size_t i;

	json_array_foreach(command, i, v)
		if (!argv[i] || strcmp(argv[i], json_string_value(v)) != 0)
			return false;
	return json_array_size(command) > 0 && !argv[i];
}

/* The policy's command as an argv; owned. */
static char **argv_of(const json_t *command)
{
	size_t n = json_array_size(command);
	char **argv = calloc(n + 1, sizeof(*argv));

	for (size_t i = 0; argv && i < n; i++)
		argv[i] = (char *)(uintptr_t)json_string_value(
			json_array_get(command, i));
	return argv;
}

/* By --server, or the one whose command this is. */
static int choose_server(guard *g, const tool_args *args)
{
	const char *name = tool_get(args, "--server");
	const json_t *found = NULL;
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(g->document,
							   "tools"),
					   "servers"), i, v) {
		const json_t *command = json_object_get(v, "command");
		if (name ? !strcmp(text_of(v, "name"), name)
			 : same_command(command, args->operands))
			found = found ? found : v;
	}
	if (!found)
		return tool_refuse(g->s.t, TOOL_REFUSED, "EDENIED",
				   name ? name : args->operands[0],
				   "the policy lists no such server: it needs "
				   "an entry with this %s in tools.servers",
				   name ? "name" : "command");
	const json_t *command = json_object_get(found, "command");
	if (!command)
		return tool_refuse(g->s.t, TOOL_BAD_INPUT, "EUNSUPPORTED",
				   text_of(found, "name"),
				   "is reached by a URL: a box with network "
				   "mode \"gateway\" has it at /mcp/%s of its "
				   "gateway; only a command is guarded here",
				   text_of(found, "name"));
	if (args->operand_count && !same_command(command, args->operands))
		return tool_refuse(g->s.t, TOOL_REFUSED, "EDENIED", name,
				   "the policy has another command for this "
				   "server");
	g->owned = argv_of(command);
	g->argv = g->owned;
	g->name = strdup(text_of(found, "name"));
	return g->argv && g->name ? 0 : TOOL_INTERNAL;
}

static int read_policy(guard *g, const tool_args *args)
{
	const char *file = tool_get(args, "--policy");
	const char *builtin = tool_get(args, "--builtin");
	char *name = file ? strdup(file)
			  : text_format("builtin:%s", builtin ? builtin
							      : "workspace");
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;
	int rc = name ? 0 : TOOL_INTERNAL;

	if (!rc && file && !strcmp(file, "-"))
		rc = tool_refuse(g->s.t, TOOL_USAGE, "EINVAL", "--policy",
				 "standard input is the client's");
	if (!rc)
		rc = tool_read_policy(g->s.t, name, &g->policy);
	if (!rc && agentbox_policy_to_json(g->policy, &bytes, &err) < 0)
		rc = tool_fail(g->s.t, err, name);
	if (!rc) {
		g->document = tool_json_of(bytes);
		g->s.digest = agentbox_policy_get_digest(g->policy);
		rc = g->document ? 0 : TOOL_INTERNAL;
	}
	free(name);
	return rc;
}

static int make_guard(guard *g)
{
	agentbox_error *err = NULL;
	json_t *identity = mcp_identity(g->document);
	char *text = identity ? json_dumps(identity, JSON_COMPACT) : NULL;
	int rc = 0;

	json_decref(identity);
	if (!text ||
	    agentbox_mcp_new(g->policy, g->name, &g->s.guard, &err) < 0 ||
	    agentbox_mcp_set_identity(g->s.guard, text, strlen(text),
				      &err) < 0)
		rc = tool_fail(g->s.t, err, g->name);
	free(text);
	return rc;
}

/* --- the server's process ------------------------------------------------ */

static void run_server(guard *g, int in, int out, pid_t parent,
		       const sigset_t *mask)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };

	/* also where this process is killed outright */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(TOOL_INTERNAL);
	setpgid(0, 0);
	sigaction(SIGPIPE, &dfl, NULL);
	sigaction(SIGXFSZ, &dfl, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0)
		_exit(TOOL_INTERNAL);
	syscall(SYS_close_range, 3, ~0U, 0);
	execvp(g->argv[0], g->argv);
	_exit(errno == ENOENT ? TOOL_NO_COMMAND : TOOL_CANNOT_EXEC);
}

static int start_server(guard *g, const sigset_t *mask)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	pid_t parent = getpid();

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return tool_refuse(g->s.t, TOOL_INTERNAL, "ESYS", NULL,
				   "cannot make a pipe: %s", strerror(errno));
	g->pid = fork();
	if (g->pid == 0)
		run_server(g, in[0], out[1], parent, mask);
	close(in[0]);
	close(out[1]);
	g->s.server.out = in[1];
	g->s.server.in = out[0];
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	if (g->pid < 0)
		return tool_refuse(g->s.t, TOOL_INTERNAL, "ESYS", NULL,
				   "cannot start '%s': %s", g->argv[0],
				   strerror(errno));
	setpgid(g->pid, g->pid);
	g->pid_fd = (int)syscall(SYS_pidfd_open, g->pid, 0);
	if (g->pid_fd < 0)
		return tool_refuse(g->s.t, TOOL_INTERNAL, "ESYS", NULL,
				   "cannot watch '%s': %s", g->argv[0],
				   strerror(errno));
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd > 2)
		close(*fd);
	*fd = -1;
}

/* The server's group: no child of it outlives the session. */
static void end_server(guard *g)
{
	int status = 0;

	if (g->pid <= 0)
		return;
	kill(-g->pid, SIGKILL);
	if (!g->ended)
		kill(g->pid, SIGKILL);
	while (waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
		;
	g->server_status = WIFSIGNALED(status) ? TOOL_SIGNAL + WTERMSIG(status)
					       : WEXITSTATUS(status);
}

/* --- the loop ------------------------------------------------------------ */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int catch_signals(guard *g, sigset_t *before)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, before);
	sigaction(SIGPIPE, &ignore, NULL);
	g->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return g->signal_fd < 0 ? TOOL_INTERNAL : 0;
}

static bool from_client(void *data, const char *p, size_t n)
{
	return mcp_take(data, AGENTBOX_MCP_CLIENT, p, n);
}

static bool from_server(void *data, const char *p, size_t n)
{
	return mcp_take(data, AGENTBOX_MCP_SERVER, p, n);
}

static int timeout_of(guard *g)
{
	int64_t audit = g->s.audit ?
				agentbox_audit_get_timeout_ms(g->s.audit) : -1;
	int64_t ms = 60000, left;

	if (audit >= 0 && audit < ms)
		ms = audit;
	left = g->deadline_ms ? g->deadline_ms - now_ms() : ms;
	return (int)(left < 0 ? 0 : left < ms ? left : ms);
}

static bool ready(const struct pollfd *p)
{
	return p->fd >= 0 && p->revents;
}

/* Neither is read whose answers the other does not take. */
static void ask(const guard *g, struct pollfd fds[6])
{
	const mcp_link *c = &g->s.client, *v = &g->s.server;
	bool client_full = link_waits(c) > LINK_HIGH;
	bool server_full = link_waits(v) > LINK_HIGH;

	fds[0] = (struct pollfd){ client_full || server_full ? -1 : c->in,
				  POLLIN, 0 };
	fds[1] = (struct pollfd){ client_full ? -1 : v->in, POLLIN, 0 };
	fds[2] = (struct pollfd){ link_waits(c) ? c->out : -1, POLLOUT, 0 };
	fds[3] = (struct pollfd){ link_waits(v) ? v->out : -1, POLLOUT, 0 };
	fds[4] = (struct pollfd){ g->signal_fd, POLLIN, 0 };
	fds[5] = (struct pollfd){ g->ended ? -1 : g->pid_fd, POLLIN, 0 };
}

/* The client has gone: the server hears it, and has a while to end. */
static void client_gone(guard *g)
{
	g->s.client.in = -1;
	if (!g->deadline_ms)
		g->deadline_ms = now_ms() + GRACE_MS;
}

/* One look at everything; false when it is over. */
static bool turn(guard *g)
{
	mcp_link *c = &g->s.client, *v = &g->s.server;
	struct signalfd_siginfo info;
	struct pollfd fds[6];

	if (c->in < 0 && !link_waits(v))
		close_fd(&v->out);
	ask(g, fds);
	if (poll(fds, 6, timeout_of(g)) < 0 && errno != EINTR)
		return false;
	if (g->s.audit)
		agentbox_audit_dispatch(g->s.audit, NULL);
	if (ready(&fds[4]) &&
	    read(g->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		g->signum = (int)info.ssi_signo;
		return false;
	}
	if (ready(&fds[2]) && !link_write(c))
		return false; /* nobody reads our answers */
	if (ready(&fds[3]) && !link_write(v))
		close_fd(&v->out);
	if (ready(&fds[0])) {
		int got = link_read(c, from_client, &g->s);
		if (got < 0)
			return false;
		if (got == 0)
			client_gone(g);
	}
	if (ready(&fds[1])) {
		int got = link_read(v, from_server, &g->s);
		if (got < 0)
			return false;
		if (got == 0)
			close_fd(&v->in);
	}
	g->ended = g->ended || ready(&fds[5]);
	if (v->in < 0 && !link_waits(c))
		return false; /* the server has said its last */
	return !g->deadline_ms || now_ms() < g->deadline_ms;
}

/* What was decided last still goes to the client, if it takes it. */
static void flush(guard *g)
{
	int64_t until = now_ms() + 1000;

	while (link_waits(&g->s.client) && now_ms() < until) {
		struct pollfd p = { g->s.client.out, POLLOUT, 0 };
		if (poll(&p, 1, 100) > 0 && !link_write(&g->s.client))
			break;
	}
}

static int status_of(const guard *g, bool client_ended)
{
	if (g->s.status)
		return g->s.status;
	if (g->signum)
		return TOOL_SIGNAL + g->signum;
	if (client_ended && g->server_status == TOOL_SIGNAL + SIGKILL)
		return 0; /* by us, after the grace */
	if (g->server_status == TOOL_NO_COMMAND)
		return tool_refuse(g->s.t, TOOL_NO_COMMAND, "ENOTFOUND", NULL,
				   "'%s' was not found", g->argv[0]);
	return g->server_status;
}

static int serve(guard *g)
{
	sigset_t before;
	int rc = catch_signals(g, &before);

	if (!rc)
		rc = start_server(g, &before);
	if (!rc) {
		while (turn(g))
			;
		flush(g);
	}
	close_fd(&g->s.server.out);
	close_fd(&g->s.server.in);
	/* a server that closed its output ends by itself, as a rule at once */
	for (int64_t until = now_ms() + (rc || g->s.status || g->signum ||
					 g->deadline_ms ? 0 : GRACE_MS);
	     !g->ended && g->pid_fd >= 0 && now_ms() < until;) {
		struct pollfd p = { g->pid_fd, POLLIN, 0 };
		g->ended = poll(&p, 1, 100) > 0;
	}
	end_server(g);
	return rc ? rc : status_of(g, g->deadline_ms != 0);
}

static int run(guard *g, const tool_args *args)
{
	const char *log = tool_get(args, "--audit");
	tool *t = g->s.t;
	agentbox_error *err = NULL;
	int rc;

	if (t->json)
		return tool_refuse(t, TOOL_USAGE, "EINVAL", "--json",
				   "standard output is the client's");
	if (!args->operand_count && !tool_has(args, "--server"))
		return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				   "SERVER is missing: give its command behind "
				   "--, or --server NAME of the policy");
	rc = read_policy(g, args);
	if (!rc)
		rc = choose_server(g, args);
	if (!rc)
		rc = make_guard(g);
	tool_make_state_parents(t);
	if (!rc && log)
		rc = tool_log_open(t, log, &g->s.audit);
	if (!rc)
		rc = serve(g);
	if (g->s.audit && agentbox_audit_close(g->s.audit, &err) < 0 && !rc)
		rc = tool_fail(t, err, "--audit"), err = NULL;
	agentbox_error_free(err);
	return rc;
}

int tool_mcp_guard(tool *t, const tool_args *args)
{
	guard g = { .s = { .t = t, .client = { .in = 0, .out = 1 },
			   .server = { .in = -1, .out = -1 } },
		    .pid_fd = -1, .signal_fd = -1 };
	int rc = run(&g, args);

	link_end(&g.s.client);
	link_end(&g.s.server);
	agentbox_mcp_free(g.s.guard);
	agentbox_audit_unref(g.s.audit);
	agentbox_policy_unref(g.policy);
	json_decref(g.document);
	free(g.owned);
	free(g.name);
	close_fd(&g.pid_fd);
	close_fd(&g.signal_fd);
	return rc;
}
