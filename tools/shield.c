/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shield of a box as run and shell have it: what is asked goes to whoever
 * sits at the terminal, and is refused where nobody does. While a question
 * stands, the terminal is ours alone: nothing of the box is written to it, and
 * what was typed before is no answer. Specification: agentbox(1), TERMINALS
 * AND STREAMS; agentbox_shield(3).
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "session.h"
#include "text.h"

#define QUESTION_MS 60000 /* the shield waits as long, and no longer */
#define INTERRUPT_MS 2000 /* the next program is part of what was ended */
#define SAME_MS 1000 /* who looks along PATH asks for each directory */
#define MOST_WRITES 64

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void answer(session *s, const char *id, int32_t allow)
{
	agentbox_shield *shield = agentbox_sandbox_get_shield(s->box);
	int32_t rc = agentbox_shield_answer(shield, id, allow, NULL);

	if (allow && rc < 0)
		text_warning("shield: it is too late, it was refused");
}

static void take_question(session *s, const char *id, const char *what)
{
	const char *why = now_ms() < s->no_asks_until
			  ? "what asks was interrupted"
			  : s->refused && now_ms() < s->refused_until &&
			    !strcmp(s->refused, what)
			  ? "it was just refused"
			  : s->may_ask && terminal_foreground(0)
			  ? NULL : "nobody is here to be asked";

	if (why) {
		answer(s, id, 0);
		shield_tell(s, text_format("refused, for %s: %s", why, what));
		return;
	}
	if (!s->asks)
		s->asks = json_array();
	json_array_append_new(s->asks, json_pack(
		"{s:s, s:s, s:I}", "id", id, "what", what, "until",
		(json_int_t)(now_ms() + QUESTION_MS)));
}

/* In one line: a box's own could look like ours, or push it off the screen. */
void shield_asked(session *s, const char *id, const char *what)
{
	char *line = text_clean_line(what);

	if (line)
		take_question(s, id, line);
	else
		answer(s, id, 0);
	free(line);
}

/* What was written before the question stands before it. */
static void write_out(session *s)
{
	for (int n = 0; n < MOST_WRITES; n++)
		for (int i = PUMP_OUT; i < PUMPS; i++)
			pump_move(s, &s->pumps[i], true);
}

static void put_question(session *s, const json_t *ask)
{
	write_out(s);
	terminal_restore();
	tcflush(0, TCIFLUSH);
	text_warning("shield: asked about: %s", text_of(ask, "what"));
	fputs("agentbox: run it? \"yes\" and Enter, anything else refuses: ",
	      stderr);
	fflush(stderr);
	s->is_asking = true;
}

static void end_question(session *s)
{
	json_array_remove(s->asks, 0);
	s->is_asking = false;
}

bool shield_is_asking(session *s, bool front)
{
	const json_t *ask;

	while ((ask = json_array_get(s->asks, 0)) &&
	       json_integer_value(json_object_get(ask, "until")) <= now_ms()) {
		if (s->is_asking)
			fputc('\n', stderr);
		text_warning("shield: refused after a minute without an "
			     "answer: %s", text_of(ask, "what"));
		answer(s, text_of(ask, "id"), 0);
		end_question(s);
	}
	if (ask && front && !s->is_asking)
		put_question(s, ask);
	return s->is_asking;
}

void shield_read_answer(session *s)
{
	const json_t *ask = json_array_get(s->asks, 0);
	char line[256];
	ssize_t n = read(0, line, sizeof(line) - 1);

	if (!ask)
		return;
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	if (n <= 0)
		fputc('\n', stderr);
	answer(s, text_of(ask, "id"), !strcmp(line, "yes"));
	if (strcmp(line, "yes") != 0) {
		free(s->refused);
		s->refused = strdup(text_of(ask, "what"));
		s->refused_until = now_ms() + SAME_MS;
	}
	end_question(s);
}

void shield_drop_question(session *s)
{
	if (s->is_asking)
		fputc('\n', stderr);
	while (json_array_size(s->asks)) {
		answer(s, text_of(json_array_get(s->asks, 0), "id"), 0);
		json_array_remove(s->asks, 0);
	}
	s->is_asking = false;
}

void shield_interrupted(session *s)
{
	if (!json_array_size(s->asks))
		return;
	shield_drop_question(s);
	s->no_asks_until = now_ms() + INTERRUPT_MS;
}
