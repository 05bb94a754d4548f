/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a shield sees with, told honestly: the kernel has other witnesses of
 * what a box does, and who reads a report must not think that they look.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "shield/internal.h"

/* linux/landlock.h, linux/capability.h, linux/fanotify.h: kernel ABI */
#define LANDLOCK_VERSION 1u
#define LANDLOCK_AUDIT_ABI 7
#define CAP_VERSION_3 0x20080522u
#define CAP_AUDIT_READ_BIT 37u
#define FAN_CLASS_CONTENT_CLOEXEC 5u

#define NOT_READ "no part of this build reads it"

static bool may_read_audit(void)
{
	struct {
		uint32_t version;
		int32_t pid;
	} head = { CAP_VERSION_3, 0 };
	struct {
		uint32_t effective, permitted, inheritable;
	} sets[2] = { { 0, 0, 0 } };

	return syscall(SYS_capget, &head, sets) == 0 &&
	       (sets[CAP_AUDIT_READ_BIT / 32].effective &
		(UINT32_C(1) << CAP_AUDIT_READ_BIT % 32));
}

/* Landlock's denials: from Linux 6.15 on in the log of the kernel's audit. */
static const char *look_for_landlock(char *why, size_t size)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0,
			   LANDLOCK_VERSION);

	if (abi < LANDLOCK_AUDIT_ABI) {
		snprintf(why, size, "Landlock's ABI is %ld here, and %d is "
			 "needed", abi < 0 ? 0 : abi, LANDLOCK_AUDIT_ABI);
		return "missing";
	}
	if (!may_read_audit()) {
		snprintf(why, size, "the kernel's audit is read with "
			 "CAP_AUDIT_READ, which this process has not");
		return "missing";
	}
	snprintf(why, size, "%s", NOT_READ);
	return "unused";
}

/* One that may decide: an ordinary user's marks tell neither of a mount nor
   of who it was. */
static const char *look_for_fanotify(char *why, size_t size)
{
	long fd = syscall(SYS_fanotify_init, FAN_CLASS_CONTENT_CLOEXEC,
			  O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		close((int)fd);
		snprintf(why, size, "%s", NOT_READ);
		return "unused";
	}
	snprintf(why, size, errno == ENOSYS ? "this kernel has none"
					    : "to mark a mount takes "
					      "CAP_SYS_ADMIN, which this "
					      "process has not");
	return "missing";
}

static bool add(json_t *list, const char *name, const char *state,
		const char *why)
{
	return json_array_append_new(list, json_pack("{s:s, s:s, s:s}",
						     "name", name, "state",
						     state, "reason", why)) ==
	       0;
}

static json_t *witnesses(bool has_ended)
{
	json_t *list = json_array();
	char landlock_why[128], fanotify_why[128];
	const char *landlock = look_for_landlock(landlock_why,
						 sizeof(landlock_why));
	const char *fanotify = look_for_fanotify(fanotify_why,
						 sizeof(fanotify_why));

	if (list &&
	    add(list, "seccomp", has_ended ? "missing" : "used",
		has_ended ? "the shield has ended; what is watched is refused"
			  : "") &&
	    add(list, "landlock-audit", landlock, landlock_why) &&
	    add(list, "fanotify", fanotify, fanotify_why))
		return list;
	json_decref(list);
	return NULL;
}

static json_t *watched(uint32_t watch)
{
	json_t *list = json_pack("[s]", "exec");
	bool bad = !list;

	if (!bad && (watch & AB_SHIELD_WATCH_CONNECT))
		bad = json_array_append_new(list, json_string("connect"));
	if (!bad && (watch & AB_SHIELD_WATCH_PEERS))
		bad = json_array_append_new(list, json_string("peers"));
	if (!bad && (watch & AB_SHIELD_WATCH_READS))
		bad = json_array_append_new(list, json_string("reads"));
	if (!bad)
		return list;
	json_decref(list);
	return NULL;
}

int32_t agentbox_shield_report(agentbox_shield *s, agentbox_bytes **json,
			       agentbox_error **err)
{
	static const char *const modes[] = { "deny", "ask", "audit" };
	ab_auto(json_t) *report = NULL;
	bool has_ended;

	if (!s || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "shield or json is NULL");
	if (s->owner != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "shield",
				    "a forked child cannot use the shield");
	ab_shield_drain(s);
	pthread_mutex_lock(&s->lock);
	has_ended = s->has_ended;
	pthread_mutex_unlock(&s->lock);
	report = json_pack("{s:s, s:o, s:o}", "mode",
			   modes[s->mode < 3 ? s->mode : 0], "watched",
			   watched(s->watch), "witnesses",
			   witnesses(has_ended));
	if (!report)
		return ab_error_nomem(err);
	return ab_json_canonical(report, json, err);
}
