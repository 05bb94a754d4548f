/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One run of a command in a box, as run and shell share it: the box
 * (run.c), the streams (streams.c), the terminal (terminal.c) and the loop
 * that keeps them going (loop.c).
 */
#ifndef TOOLS_SESSION_H
#define TOOLS_SESSION_H

#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include <agentbox/audit.h>
#include <agentbox/gateway.h>
#include <agentbox/owner.h>
#include <agentbox/sandbox.h>

#include "tool.h"

#define PUMP_BYTES 16384

/* Bytes from one descriptor to another, never more than one buffer of them. */
typedef struct pump {
	int from, to;	    /* -1: this side has ended */
	bool own_from, own_to; /* close it when it has ended */
	bool keyboard;	    /* read only in the terminal's foreground */
	bool to_terminal;   /* the box's terminal: its end of input is ^D */
	bool open;	    /* in use at all */
	char last;	    /* last byte that went on */
	size_t start, end;
	char bytes[PUMP_BYTES];
} pump;

enum { PUMP_IN, PUMP_OUT, PUMP_ERR, PUMPS };

typedef struct session {
	tool *t;
	const tool_args *args;
	tool_plan plan;
	agentbox_audit *audit;
	agentbox_sandbox *box;
	agentbox_owner *owner; /* serves it under --name, or NULL */
	agentbox_process *process;
	json_t *events; /* what the box reported, for people and --json */
	size_t events_told;
	json_t *previews; /* ports of the box and of this machine, or NULL */
	json_t *denied; /* what of the network was told as refused */
	json_t *tripped; /* what the shield was told to have seen */
	json_t *asks; /* what the shield asks and waits for, oldest first */
	bool may_ask; /* somebody sits at the terminal */
	bool is_asking; /* the question stands there */
	int64_t no_asks_until; /* milliseconds of CLOCK_BOOTTIME; so below */
	char *refused; /* what a person said no to last */
	int64_t refused_until;
	bool shield_lost; /* it has ended before the box */
	bool ended; /* the box was ended; its handle is left */
	int lost; /* errno of output that could not be passed on, or 0 */
	agentbox_error *unsettled; /* protected paths are not right, or NULL */

	int signal_fd;
	sigset_t handled, before;
	int interrupted; /* the last signal that ends things, or 0 */
	bool asked_to_end; /* the box was, by a signal of its own */
	bool raw_wanted; /* a terminal of ours is passed through raw */

	bool pty, no_pty; /* has one; cannot have one */
	int master; /* host side of the box's terminal, or -1 */
	pump pumps[PUMPS];
} session;

/* run.c: after the plan: signals, the log, the box, and its name. 0 or an exit
   status, already said; session_close() in any case. */
int session_open(session *s);
/* End the box and everything; the status to exit with, `rc` if not 0. */
int session_close(session *s, int rc);
/* A command with the environment and directory that the options say. */
int session_command(session *s, const char *const *argv, size_t argc,
		    agentbox_command **command);

/* secret.c: what --secret names goes to the box's gateway; 0 or an exit
   status, already said. */
int tool_give_secrets(session *s);

/* preview.c: what --preview names is opened; 0 or an exit status, said. */
int tool_open_previews(session *s);

/* shield.c */
/* The shield asks about `id`: a person, or it is refused. */
void shield_asked(session *s, const char *id, const char *what);
/* loop.c: of the shield, once, and not without end; `line` is taken. */
void shield_tell(session *s, char *line);
/* Does a question stand on the terminal? Put the next one, if there is one. */
bool shield_is_asking(session *s, bool front);
/* A line was typed. */
void shield_read_answer(session *s);
/* Whatever is asked is refused; and what comes next, when a signal that ends
   things was sent to the command while something was asked. */
void shield_drop_question(session *s);
void shield_interrupted(session *s);

/* streams.c: standard streams of the command; 0 or an exit status. */
int streams_plan(session *s, agentbox_command *command);
/* After the start: connect the terminal. 0 or an exit status. */
int streams_connect(session *s);
void streams_end(session *s);
/* Add what a pump waits for to `fds`; how many were added (0-2). */
size_t pump_poll(const pump *p, struct pollfd *fds, bool foreground);
/* Move what can be moved without waiting. */
void pump_move(session *s, pump *p, bool foreground);
bool pump_pending(const pump *p);

/* loop.c */
int session_catch_signals(session *s);
/* Others that reach the box under its name. */
void session_serve(session *s);
/* Run until the command has ended; 0 or an exit status. */
int session_loop(session *s);
/* What is still on its way; `ended`: nothing more will be written. */
void session_flush(session *s, bool ended);
void session_take_events(session *s);
void session_tell_events(session *s);
/* A signal that came meanwhile and ends things, or 0. */
int session_pending_signal(session *s);
/* Stop with the command until continued; by_key: our job stops with us. */
void session_suspend(session *s, bool by_key);

/* terminal.c: the terminal the tool itself runs on. */
bool terminal_foreground(int fd);
bool terminal_raw(int fd);
void terminal_restore(void);
bool terminal_is_raw(void);
void terminal_size(uint32_t *rows, uint32_t *columns);
/*
 * Is `c` the suspend key of our terminal and of the box's, and would it stop
 * the command that the tool started (and not a job of a shell in the box)?
 */
bool terminal_suspends(int master, char c);
/* What was typed after the suspend key is for nobody. */
void terminal_flush(void);

#endif
