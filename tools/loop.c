/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals, streams and the box's events while a command runs. Signals are
 * read from a descriptor, so nothing happens in a handler; what the tool was
 * started with as ignored stays ignored (nohup, background jobs of a shell
 * without job control).
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <agentbox/verify.h>

#include "session.h"
#include "text.h"

#define BACKGROUND_MS 300 /* how often to look whether we are in front */
#define LAST_BYTES_MS 1000
#define MOST_POLLFDS (5 + 2 * PUMPS)

static const int signals[] = { SIGINT,	SIGTERM, SIGHUP, SIGQUIT, SIGUSR1,
			       SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH };

int session_catch_signals(session *s)
{
	struct sigaction old, ignore = { .sa_handler = SIG_IGN };
	sigset_t blocked;

	sigemptyset(&s->handled);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], NULL, &old);
		if (old.sa_handler != SIG_IGN || signals[i] == SIGCONT ||
		    signals[i] == SIGWINCH)
			sigaddset(&s->handled, signals[i]);
	}
	blocked = s->handled;
	sigaddset(&blocked, SIGTTOU); /* putting the terminal back must work */
	sigprocmask(SIG_BLOCK, &blocked, &s->before);
	sigaction(SIGPIPE, &ignore, NULL);
	s->signal_fd = signalfd(-1, &s->handled, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0)
		return tool_refuse(s->t, TOOL_INTERNAL, "ESYS", NULL,
				   "cannot listen for signals: %s",
				   strerror(errno));
	return 0;
}

static int next_signal(session *s)
{
	struct signalfd_siginfo info;
	ssize_t n = read(s->signal_fd, &info, sizeof(info));

	return n == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

static bool ends(int signum)
{
	return signum == SIGINT || signum == SIGTERM || signum == SIGHUP ||
	       signum == SIGQUIT || signum == SIGUSR1 || signum == SIGUSR2;
}

int session_pending_signal(session *s)
{
	int signum, found = 0;

	while (s->signal_fd >= 0 && (signum = next_signal(s)))
		if (ends(signum))
			found = signum;
	return found;
}

static void send_size(session *s)
{
	uint32_t rows, columns;

	if (s->master < 0)
		return;
	terminal_size(&rows, &columns);
	agentbox_process_resize(s->process, rows, columns, NULL);
}

static bool foreground(void)
{
	return !isatty(0) || terminal_foreground(0);
}

/* In front again, or for the first time. */
static void take_terminal(session *s)
{
	if (s->raw_wanted && !terminal_is_raw() && !s->is_asking &&
	    foreground() && terminal_raw(0))
		send_size(s);
}

void session_suspend(session *s, bool by_key)
{
	sigset_t stop;

	/*
	 * The command leads an orphaned process group in its box, where the
	 * kernel drops SIGTSTP (setpgid(2)); SIGSTOP is what stops it.
	 */
	agentbox_process_kill(s->process, SIGSTOP, NULL);
	terminal_restore();
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	kill(by_key ? 0 : getpid(), SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here the tool stands still */
	sigprocmask(SIG_BLOCK, &stop, NULL);
	take_terminal(s);
	agentbox_process_kill(s->process, SIGCONT, NULL);
}

static void handle_signal(session *s, int signum)
{
	switch (signum) {
	case SIGTSTP:
		session_suspend(s, false);
		return;
	case SIGCONT:
		take_terminal(s);
		break;
	case SIGWINCH:
		send_size(s);
		return;
	default:
		break;
	}
	if (ends(signum))
		s->interrupted = signum;
	agentbox_process_kill(s->process, signum, NULL);
	/* who waits in execve(2) for an answer takes no other signal */
	if (ends(signum))
		shield_interrupted(s);
}

#define MOST_REFUSALS 20

/* What is told once, and not without end; `line` is taken. */
static void tell_once(json_t **told, const char *who, char *line)
{
	if (!*told)
		*told = json_object();
	if (line && !json_object_get(*told, line) &&
	    json_object_size(*told) < MOST_REFUSALS) {
		text_warning("%s: %s", who, line);
		json_object_set_new(*told, line, json_true());
		if (json_object_size(*told) == MOST_REFUSALS)
			text_note("no more of the %s is told here; --audit "
				  "records it", who);
	}
	free(line);
}

void shield_tell(session *s, char *line)
{
	tell_once(&s->tripped, "shield", line);
}

#define MOST_OF_BOX 10000 /* events that the box can cause at will */

/* What went well is for the audit and for programs; there is no end of it. */
static bool is_kept(const session *s, const char *kind)
{
	static const char *const at_will[] = { "denied", "failed", "tripwire",
					       "ask", "mismatch" };
	bool well = !strcmp(kind, "allowed") || !strcmp(kind, "closed");
	bool bounded = well;

	for (size_t i = 0; i < sizeof(at_will) / sizeof(*at_will); i++)
		bounded |= !strcmp(kind, at_will[i]);
	if (!bounded)
		return true;
	return (s->t->json || !well) &&
	       json_array_size(s->events) < MOST_OF_BOX;
}

void session_take_events(session *s)
{
	agentbox_event *event = NULL;

	agentbox_sandbox_dispatch(s->box, NULL);
	while (agentbox_sandbox_next_event(s->box, &event, NULL) == 0) {
		if (!strcmp(agentbox_event_get_kind(event), "ask"))
			shield_asked(s, agentbox_event_get_object(event),
				     agentbox_event_get_detail(event));
		if (!strcmp(agentbox_event_get_kind(event), "shield"))
			s->shield_lost = true;
		/* libexec/init/holder.c */
		if (!strcmp(agentbox_event_get_kind(event), "ended") &&
		    !strcmp(agentbox_event_get_detail(event),
			    "a signal asked it to end"))
			s->asked_to_end = true;
		if (is_kept(s, agentbox_event_get_kind(event)))
			json_array_append_new(s->events, json_pack(
				"{s:s, s:s, s:s}", "kind",
				agentbox_event_get_kind(event), "object",
				agentbox_event_get_object(event), "detail",
				agentbox_event_get_detail(event)));
		agentbox_event_free(event);
		event = NULL;
	}
}

/* What the shield saw; what it asks is told where it is answered. */
static bool tell_shield(session *s, const char *kind, const char *detail)
{
	bool refused = !strncmp(detail, "refused: ", 9);

	if (!strcmp(kind, "tripwire"))
		shield_tell(s, text_format("%s%s", refused ? ""
					   : "let through: ", detail));
	else if (!strcmp(kind, "mismatch"))
		shield_tell(s, text_format("mismatch: %s", detail));
	else if (!strcmp(kind, "shield"))
		text_error("the shield of this box has ended: the kernel "
			   "refuses every program that would be executed in "
			   "it now, and the exit status will be 125");
	else
		return !strcmp(kind, "ask");
	return true;
}

static void tell_words(session *s, const char *kind, const char *object,
		       const char *detail)
{
	const char *dash = *detail ? ": " : "";

	/* a count of lost ones; else the detail is a path or a reason */
	if (!strcmp(object, "events") && detail[0] >= '0' && detail[0] <= '9')
		text_warning("%s", detail);
	else if (!strcmp(kind, "quarantined"))
		text_warning("'%s' is protected and was created in the box; "
			     "it was moved away%s%s%s", object, dash, detail,
			     strstr(object, ".git/") ?
			     " (agentbox(7), repositories made in a box)" : "");
	else if (!strcmp(kind, "unprotected"))
		text_warning("'%s' could not be protected again; no further "
			     "command starts%s%s", object, dash, detail);
	else if (!strcmp(kind, "reprotected"))
		text_note("'%s' was replaced on the host and is protected "
			  "again", object);
	else if (!strcmp(kind, "limit"))
		text_warning("limit %s%s%s", object, dash, detail);
	else if (!strcmp(kind, "denied"))
		tell_once(&s->denied, "network",
			  text_format("%s: %s", object, detail));
	else if (!tell_shield(s, kind, detail) &&
		 strcmp(kind, "ended") != 0 && strcmp(kind, "allowed") != 0 &&
		 strcmp(kind, "closed") != 0)
		text_note("%s %s%s%s", kind, object, dash, detail);
}

/* What a box names is in one line: another one could look like ours. */
static void tell_event(session *s, const json_t *e)
{
	char *object = text_clean_line(text_of(e, "object"));
	char *detail = text_clean_line(text_of(e, "detail"));

	tell_words(s, text_of(e, "kind"), object ? object : "",
		   detail ? detail : "out of memory");
	free(object);
	free(detail);
}

void session_tell_events(session *s)
{
	for (; s->events_told < json_array_size(s->events); s->events_told++)
		if (!s->t->json)
			tell_event(s, json_array_get(s->events,
						     s->events_told));
}

static int shorter(int64_t a, int64_t b)
{
	int64_t least = a < 0 ? b : b < 0 ? a : a < b ? a : b;

	return least > 60000 ? 60000 : (int)least;
}

static int timeout_of(session *s, bool front)
{
	int64_t ms = agentbox_sandbox_get_timeout_ms(s->box);

	if (s->audit)
		ms = shorter(ms, agentbox_audit_get_timeout_ms(s->audit));
	if (s->owner)
		ms = shorter(ms, agentbox_owner_get_timeout_ms(s->owner));
	if (!front || s->is_asking || (s->raw_wanted && !terminal_is_raw()))
		ms = shorter(ms, BACKGROUND_MS);
	return shorter(ms, -1);
}

/* Others reach the box; nobody else answers what only a host could. */
void session_serve(session *s)
{
	agentbox_request *request = NULL;

	agentbox_owner_dispatch(s->owner, NULL);
	while (agentbox_owner_next_request(s->owner, &request, NULL) == 0) {
		if (!agentbox_verify_answer(request, &s->box, 1))
			agentbox_request_reply(
				request, AGENTBOX_EUNSUPPORTED,
				"'agentbox run' takes no such request", NULL);
		request = NULL;
	}
}

/* One look at everything; true when the command has ended. */
static int turn(session *s)
{
	struct pollfd fds[MOST_POLLFDS];
	size_t n = 0;
	bool front = foreground();
	bool asking = shield_is_asking(s, front);

	fds[n++] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
	fds[n++] = (struct pollfd){
		.fd = agentbox_process_get_fd(s->process), .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = agentbox_sandbox_get_fd(s->box),
				    .events = POLLIN };
	/* an entry without a descriptor is passed over, poll(2) */
	fds[n++] = (struct pollfd){
		.fd = s->owner ? agentbox_owner_get_fd(s->owner) : -1,
		.events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = asking && front ? 0 : -1,
				    .events = POLLIN };
	for (int i = 0; i < PUMPS && !asking; i++)
		n += pump_poll(&s->pumps[i], fds + n, front);
	if (poll(fds, n, timeout_of(s, front)) < 0 && errno != EINTR)
		return -1;

	for (int signum; (signum = next_signal(s));)
		handle_signal(s, signum);
	if (front)
		take_terminal(s);
	if (fds[4].revents)
		shield_read_answer(s);
	for (int i = 0; i < PUMPS && !asking; i++)
		pump_move(s, &s->pumps[i], front);
	if (fds[2].revents) {
		session_take_events(s);
		if (!terminal_is_raw())
			session_tell_events(s);
	}
	if (s->audit)
		agentbox_audit_dispatch(s->audit, NULL);
	if (s->owner)
		session_serve(s);
	return fds[1].revents != 0;
}

int session_loop(session *s)
{
	int ended = 0;

	take_terminal(s);
	/* one that a person reads and types on */
	s->may_ask = isatty(0) && isatty(2);
	while (!ended)
		ended = turn(s);
	s->may_ask = false;
	shield_drop_question(s);
	return ended < 0 ? TOOL_INTERNAL : 0;
}

void session_flush(session *s, bool ended)
{
	struct pollfd fds[1 + 2 * PUMPS];
	int quiet = ended ? LAST_BYTES_MS : 0;

	for (;;) {
		bool pending = false;
		size_t n = 1;
		fds[0] = (struct pollfd){ .fd = s->signal_fd,
					  .events = POLLIN };
		for (int i = PUMP_OUT; i < PUMPS; i++) {
			pending |= pump_pending(&s->pumps[i]);
			n += pump_poll(&s->pumps[i], fds + n, true);
		}
		if (n == 1)
			return;
		int got = poll(fds, n, pending ? -1 : quiet);
		if (got == 0 || (got < 0 && errno != EINTR))
			return;
		if (ends(next_signal(s)))
			return;
		for (int i = PUMP_OUT; i < PUMPS; i++)
			pump_move(s, &s->pumps[i], true);
	}
}
