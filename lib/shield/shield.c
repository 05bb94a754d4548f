/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The handle of a shield for the box it belongs to. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "shield/internal.h"

#define STOP_TIMEOUT_MS 1000

int ab_shield_fd(const agentbox_shield *s)
{
	return s ? s->helper.control_fd : -1;
}

void ab_shield_end_helper(agentbox_shield *s, int64_t timeout_ms)
{
	if (s->closing && s->helper.control_fd >= 0)
		s->closing(s->arg, s->helper.control_fd);
	ab_helper_stop(&s->helper, timeout_ms);
}

void ab_shield_stop(agentbox_shield *s)
{
	if (!s || s->owner != getpid())
		return;
	ab_shield_drain(s);
	pthread_mutex_lock(&s->lock);
	s->has_ended = true;
	ab_shield_end_helper(s, STOP_TIMEOUT_MS);
	pthread_mutex_unlock(&s->lock);
}

void ab_shield_free(agentbox_shield *s)
{
	int saved = errno;

	if (!s)
		return;
	if (s->owner == getpid()) {
		ab_shield_end_helper(s, STOP_TIMEOUT_MS);
	} else {
		if (s->helper.control_fd >= 0)
			close(s->helper.control_fd);
		if (s->helper.pidfd >= 0)
			close(s->helper.pidfd);
	}
	ab_exec_judge_end(&s->judge);
	pthread_mutex_destroy(&s->lock);
	free(s);
	errno = saved;
}

/* The words for a record; owned, NULL: no memory. */
static char *join(const char *const *argv, size_t argc)
{
	char *text = ab_calloc(1, AB_SHIELD_MAX_COMMAND);
	size_t at = 0, room = AB_SHIELD_MAX_COMMAND - 1;

	for (size_t i = 0; text && i < argc && at < room; i++) {
		size_t n = strlen(argv[i]);

		if (i)
			text[at++] = ' ';
		n = n < room - at ? n : room - at;
		memcpy(text + at, argv[i], n);
		at += n;
	}
	return text;
}

static int32_t judge(const agentbox_shield *s, const char *const *argv,
		     size_t argc, const char *cwd, ab_exec_finding *f,
		     agentbox_error **err)
{
	ab_autofree const char **args = ab_calloc(argc + 1, sizeof(*args));
	ab_autofree size_t *lens = ab_calloc(argc + 1, sizeof(*lens));
	ab_exec e = { .args = args, .lens = lens, .count = argc,
		      .cwd = cwd, .cwd_len = cwd ? strlen(cwd) : 0 };

	if (!args || !lens || argc == 0)
		return ab_error_nomem(err);
	for (size_t i = 0; i < argc; i++) {
		args[i] = argv[i];
		lens[i] = strlen(argv[i]);
	}
	e.path = args[0];
	e.path_len = lens[0];
	ab_exec_check(&s->judge, &e, f);
	return 0;
}

static void tell(agentbox_shield *s, const char *const *argv, size_t argc,
		 const ab_exec_finding *f, bool refused)
{
	ab_autofree char *command = join(argv, argc);

	s->told(s->arg, &(ab_shield_record){
		.kind = AB_SHIELD_EXEC,
		.answer = refused ? AB_SHIELD_REFUSED : AB_SHIELD_LET,
		.verdict = f->verdict, .object = argv[0],
		.command = command ? command : "", .rule = f->rule,
		.reason = f->reason, .call = "" });
}

/* The host asked for it by name: what would be asked about is answered. */
static bool refuses(const agentbox_shield *s, uint32_t verdict)
{
	return (verdict == AGENTBOX_VERDICT_DENY &&
		s->mode != AB_SHIELD_AUDIT) ||
	       (verdict == AGENTBOX_VERDICT_ASK && s->mode == AB_SHIELD_DENY);
}

int32_t ab_shield_command(agentbox_shield *s, const char *const *argv,
			  size_t argc, const char *cwd, agentbox_error **err)
{
	ab_exec_finding f;
	bool ended, refused;
	int32_t rc;

	if (!s)
		return 0;
	ab_shield_drain(s);
	pthread_mutex_lock(&s->lock);
	ended = s->has_ended;
	pthread_mutex_unlock(&s->lock);
	if (ended)
		return ab_error_set(err, AGENTBOX_ECLOSED, "shield",
				    "the shield has ended; nothing is started "
				    "in the box any more");
	rc = judge(s, argv, argc, cwd, &f, err);
	if (rc)
		return rc;
	refused = refuses(s, f.verdict);
	if (f.verdict != AGENTBOX_VERDICT_ALLOW)
		tell(s, argv, argc, &f, refused);
	return refused ? ab_error_set(err, AGENTBOX_EDENIED, "shield",
				      "the shield refuses '%.64s': %s [%s]",
				      argv[0], f.reason, f.rule)
		       : 0;
}
