/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox_walls_probe(): what this machine can hold, found by raising an
 * empty box of every tier through agentbox-init, and of the strongest once
 * more with the way to a gateway; for what is missing the cause and what a
 * person can do. Reads settings only to explain a refusal
 * that the kernel gave, never to predict one.
 *
 * Spec: include/agentbox/walls.h, agentbox_walls(3), case 80.
 */
#include "config.h"

#include "agentbox/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/spawn.h"
#include "walls/walls.h"
#include "wire/box.h"
#include "wire/gateway.h"
#include "wire/message.h"

#define RAISE_TIMEOUT_MS 10000 /* as that of a box */
#define STOP_TIMEOUT_MS 2000
#define MAX_MOUNTINFO (1u << 20)
#define ANSWER_FDS AB_GATEWAY_MAX_FDS /* of LISTENERS; 3 of READY */

/* The emptiest box: nothing is required, so every tier may answer. */
static const char empty_policy[] =
	"{\"agentbox\":1,\"name\":\"probe\",\"require\":[],"
	"\"network\":{\"mode\":\"none\"}}";
/* The same with a way to a gateway that lets nothing through. */
static const char gateway_policy[] =
	"{\"agentbox\":1,\"name\":\"probe\",\"require\":[],"
	"\"network\":{\"mode\":\"gateway\",\"allow\":[]}}";

typedef struct outcome {
	bool raised;
	bool gate, ipv6; /* the way to a gateway was made */
	uint32_t walls;
	int sys_errno;
	char stage[256], message[512];
} outcome;

static bool setting(const char *path, char *out, size_t size)
{
	ab_autofd int fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	ssize_t n = fd < 0 ? -1 : ab_fd_read_full(fd, out, size - 1);

	if (n <= 0)
		return false;
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return true;
}

static bool setting_is(const char *path, const char *value)
{
	char text[64];

	return setting(path, text, sizeof(text)) && strcmp(text, value) == 0;
}

/* A filter of somebody else is already over us: a container's. */
static bool filtered(void)
{
	char text[8192];
	ab_autofd int fd = ab_fd_lift(open("/proc/self/status",
					   O_RDONLY | O_CLOEXEC));
	ssize_t n = fd < 0 ? -1 : ab_fd_read_full(fd, text, sizeof(text) - 1);
	const char *line;

	if (n <= 0)
		return false;
	text[n] = '\0';
	line = strstr(text, "\nSeccomp:\t");
	return line && line[10] == '2';
}

/* The line of fdinfo that names the mount, or "": proc_pid_fdinfo(5). */
static void mount_of(const char *path, char out[32])
{
	ab_autofd int fd = ab_fd_lift(open(path, O_PATH | O_CLOEXEC));
	char at[48], text[512] = "";
	const char *line;

	out[0] = '\0';
	snprintf(at, sizeof(at), "/proc/self/fdinfo/%d", fd);
	ab_autofd int info = fd < 0 ? -1 : ab_fd_lift(open(at, O_RDONLY |
							       O_CLOEXEC));
	if (info < 0 || ab_fd_read_full(info, text, sizeof(text) - 1) <= 0)
		return;
	line = strstr(text, "mnt_id:");
	if (line)
		snprintf(out, 32, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Only where init is in the same mount namespace, and may be looked at. */
static bool has_another_root_than_init(void)
{
	struct stat own, inits;
	char here[32], there[32];

	if (stat("/proc/self/ns/mnt", &own) != 0 ||
	    stat("/proc/1/ns/mnt", &inits) != 0 || own.st_ino != inits.st_ino)
		return false;
	mount_of("/", here);
	mount_of("/proc/1/root", there);
	return here[0] && there[0] && strcmp(here, there) != 0;
}

/*
 * unshare(2), EPERM: in a chroot the kernel makes no user namespaces. A
 * directory that is no mount cannot be the root of a mount namespace:
 * mountinfo, which shows what is below the root, then has no "/".
 */
static bool in_chroot(void)
{
	ab_autofree char *text = ab_calloc(1, MAX_MOUNTINFO + 1);
	ab_autofd int fd = ab_fd_lift(open("/proc/self/mountinfo",
					   O_RDONLY | O_CLOEXEC));
	ssize_t n = fd < 0 || !text
		    ? -1 : ab_fd_read_full(fd, text, MAX_MOUNTINFO);

	if (n <= 0 || n == MAX_MOUNTINFO)
		return false;
	for (char *line = text; line && *line; line = strchr(line, '\n')) {
		char *at = line += *line == '\n';

		/* id, parent, device, root, and where it is: proc(5) */
		for (int i = 0; i < 4 && at; i++)
			at = strchr(at + (i > 0), ' ');
		if (at && strncmp(at, " / ", 3) == 0)
			return has_another_root_than_init();
	}
	return true;
}

typedef struct advice {
	const char *cause, *fix;
} advice;

static advice explain_userns(const ab_probe *p, int sys_errno)
{
	if (setting_is("/proc/sys/user/max_user_namespaces", "0"))
		return (advice){ "user.max_user_namespaces is 0",
				 "sysctl -w user.max_user_namespaces=15000" };
	if (p->euid != 0 &&
	    setting_is("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		return (advice){ "kernel.unprivileged_userns_clone is 0",
				 "sysctl -w "
				 "kernel.unprivileged_userns_clone=1" };
	if (p->euid != 0 &&
	    setting_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
		       "1"))
		return (advice){
			"AppArmor restricts user namespaces",
			"give agentbox-init an AppArmor profile with 'userns,' "
			"or sysctl -w "
			"kernel.apparmor_restrict_unprivileged_userns=0"
		};
	if (in_chroot())
		return (advice){ "this is a chroot, where the kernel makes no "
				 "user namespaces",
				 "start the program in a mount namespace whose "
				 "root that directory is: a container, or "
				 "systemd-nspawn -D" };
	if (filtered())
		return (advice){ "the container's seccomp filter refuses "
				 "namespaces",
				 "start the container with a profile that "
				 "allows unshare and clone of namespaces" };
	if (sys_errno == ENOSPC)
		return (advice){ "the limit of user namespaces is reached, or "
				 "they are nested too deep",
				 "raise user.max_user_namespaces" };
	if (p->euid == 0)
		return (advice){ "a capability is missing: CAP_SYS_ADMIN, "
				 "CAP_SETUID, CAP_SETGID or CAP_SETFCAP",
				 "run with these capabilities, or as an "
				 "ordinary user" };
	return (advice){ "the kernel refuses user namespaces",
			 "a kernel with CONFIG_USER_NS and a place that is no "
			 "chroot, or the landlock tier (\"require\" without "
			 "userns)" };
}

static advice explain(const ab_probe *p, const outcome *o)
{
	const char *proc = strstr(o->stage, "] /proc");

	if (o->sys_errno == ENOSPC && (strcmp(o->stage, "netns") == 0 ||
				       strcmp(o->stage, "gateway netns") == 0))
		return (advice){ "the limit of network namespaces is reached: "
				 "a box takes one, with a gateway two",
				 "raise user.max_net_namespaces" };
	if (strncmp(o->stage, "userns", 6) == 0 ||
	    strncmp(o->stage, "mountns", 7) == 0)
		return explain_userns(p, o->sys_errno);
	if ((proc && !proc[7]) || strcmp(o->stage, "proc") == 0)
		return (advice){ "a new /proc is refused: parts of the "
				 "container's own are covered",
				 "start the container with unmasked paths, or "
				 "accept the tier no-proc" };
	if (strncmp(o->stage, "landlock", 8) == 0)
		return (advice){ "this kernel has no Landlock",
				 "a kernel from 5.13 on with 'landlock' in "
				 "its lsm= list" };
	if (strncmp(o->stage, "scheduling", 10) == 0)
		return (advice){ "this program runs before others, and is not "
				 "let to change that for the box",
				 "start it without chrt, nice or ionice, or "
				 "with a filter that allows "
				 "sched_setscheduler, setpriority, ioprio_set "
				 "and prlimit64" };
	if (strncmp(o->stage, "cgroup", 6) == 0)
		return (advice){ "the cgroup cannot be entered",
				 "delegate it, with its common ancestor" };
	return (advice){ "", "" };
}

/* One message of the holder; EAGAIN: the answer comes after it. */
static int32_t read_message(ab_helper *helper, uint8_t *text, outcome *o,
			    agentbox_error **err)
{
	int fds[AB_MAX_MESSAGE_FDS];
	size_t fd_count = 0;
	ab_msg_failed failed = { 0 };
	ab_msg_ready ready = { 0 };
	ab_reader r;
	uint32_t kind;
	ssize_t n;

	if (ab_fd_poll(helper->control_fd, POLLIN, RAISE_TIMEOUT_MS) <= 0)
		return ab_error_set(err, AGENTBOX_ETIMEOUT, "agentbox-init",
				    "no answer within %d ms",
				    RAISE_TIMEOUT_MS);
	n = ab_message_recv(helper->control_fd, text, AB_MAX_MESSAGE, fds,
			    ANSWER_FDS, &fd_count, 0);
	for (size_t i = 0; n > 0 && i < fd_count; i++)
		close(fds[i]);
	if (n <= 0)
		return ab_error_set(err, AGENTBOX_EHELPER, "agentbox-init",
				    "it ended without an answer");
	ab_reader_init(&r, text, (size_t)n);
	kind = ab_get_u32(&r);
	ab_get_u32(&r);
	if (kind == AB_MSG_LISTENERS && fd_count && !o->gate) {
		o->gate = true;
		o->ipv6 = ab_get_u32(&r) & AB_GATEWAY_HAS_IPV6;
		return AGENTBOX_EAGAIN;
	}
	if (kind == AB_MSG_READY && ab_msg_get_ready(&r, &ready) == 0) {
		o->raised = true;
		o->walls = ready.walls;
		return 0;
	}
	if (kind != AB_MSG_FAILED || ab_msg_get_failed(&r, &failed) != 0)
		return ab_error_set(err, AGENTBOX_EPROTO, "agentbox-init",
				    "an answer of another kind");
	o->sys_errno = failed.sys_errno;
	snprintf(o->stage, sizeof(o->stage), "%s", failed.stage);
	snprintf(o->message, sizeof(o->message), "%s", failed.message);
	return 0;
}

/* What the holder says after its hello. */
static int32_t read_answer(ab_helper *helper, outcome *o, agentbox_error **err)
{
	ab_autofree uint8_t *text = ab_calloc(1, AB_MAX_MESSAGE);
	int32_t rc;

	if (!text)
		return ab_error_nomem(err);
	/* the way to a gateway comes once, before the answer */
	do
		rc = read_message(helper, text, o, err);
	while (rc == AGENTBOX_EAGAIN);
	return rc;
}

static int32_t raise_tier(agentbox_context *context, agentbox_policy *policy,
			  const ab_probe *probe, uint32_t tier, outcome *o,
			  agentbox_error **err)
{
	char id[AB_ID_SIZE];
	const ab_compile_input input = { .box_id = id,
					 .probe = probe,
					 .tier = tier };
	ab_compiled compiled;
	ab_helper helper;
	agentbox_error *e = NULL;
	int32_t rc;

	if (ab_id_new(id) != 0)
		return ab_error_set(err, AGENTBOX_ESYS, NULL,
				    "the kernel gives no randomness");
	rc = ab_walls_compile(context, policy, &input, &compiled, &e);
	if (rc == AGENTBOX_EWALL) {
		snprintf(o->stage, sizeof(o->stage), "%s",
			 agentbox_error_get_where(e));
		snprintf(o->message, sizeof(o->message), "%s",
			 agentbox_error_get_message(e));
		agentbox_error_free(e);
		return 0;
	}
	if (rc)
		return ab_error_move(err, &e);
	rc = ab_helper_start(context, "agentbox-init", compiled.plan_fd,
			     RAISE_TIMEOUT_MS, &helper, err);
	if (!rc) {
		rc = read_answer(&helper, o, err);
		ab_helper_stop(&helper, STOP_TIMEOUT_MS);
	}
	ab_compiled_end(&compiled);
	return rc;
}

static int add_missing(json_t *list, const char *what, const char *cause,
		       const char *fix)
{
	return json_array_append_new(list,
				     json_pack("{s:s,s:s,s:s}", "what", what,
					       "cause", cause, "fix", fix));
}

static int add_tier(json_t *tiers, json_t *missing, const ab_probe *p,
		    uint32_t tier, const outcome *o)
{
	const char *name = ab_walls_tier_name(tier);
	advice a = { "", "" };
	const char *cause;
	int bad = 0;

	if (!o->raised)
		a = explain(p, o);
	cause = a.cause[0] ? a.cause : o->message;
	if (!o->raised && tier == AB_TIER_FULL)
		bad |= add_missing(missing, "tier full", cause, a.fix);
	return bad | json_object_set_new(
			     tiers, name,
			     json_pack("{s:b,s:s,s:i,s:s,s:s,s:s}", "available",
				       o->raised, "stage", o->stage, "errno",
				       o->sys_errno, "message", o->message,
				       "cause", cause, "fix", a.fix));
}

static int add_facts(json_t *doc, const ab_probe *p)
{
	int bad = 0;

	bad |= json_object_set_new(doc, "kernel", json_string(p->kernel));
	bad |= json_object_set_new(
		doc, "landlock",
		json_pack("{s:i,s:b,s:b,s:b}", "abi", (int)p->landlock_abi,
			  "truncate", p->landlock_abi >= 3, "net",
			  p->landlock_abi >= 4, "scope", p->landlock_abi >= 6));
	bad |= json_object_set_new(doc, "seccomp", json_boolean(p->seccomp));
	bad |= json_object_set_new(
		doc, "kernel_features",
		json_pack("{s:b,s:b,s:b,s:b}", "openat2", p->openat2,
			  "mount_beneath", p->mount_beneath, "tmpfs_noswap",
			  p->noswap, "peer_pidfd", p->peer_pidfd));
	bad |= json_object_set_new(
		doc, "ids",
		json_pack("{s:I,s:b,s:b,s:I,s:I,s:I}", "uid",
			  (json_int_t)p->euid, "root", p->root, "uid_pool",
			  p->uid_pool, "uid_pool_first",
			  (json_int_t)p->uid_pool_first, "uid_pool_count",
			  (json_int_t)p->uid_pool_count,
			  "supplementary_groups",
			  (json_int_t)p->group_count));
	bad |= json_object_set_new(
		doc, "cgroups",
		json_pack("{s:{s:s,s:b,s:b,s:b},s:{s:s,s:s,s:s}}", "v2",
			  "path", p->cgroup2_path, "memory", p->cgroup2_memory,
			  "pids", p->cgroup2_pids, "cpu", p->cgroup2_cpu, "v1",
			  "memory", p->cgroup1_memory_path, "pids",
			  p->cgroup1_pids_path, "cpu", p->cgroup1_cpu_path));
	return bad;
}

static int add_missing_facts(json_t *missing, const ab_probe *p)
{
	int bad = 0;

	if (p->landlock_abi == 0)
		bad |= add_missing(missing, "landlock",
				   "this kernel has no Landlock",
				   "a kernel from 5.13 on with 'landlock' in "
				   "its lsm= list");
	else if (p->landlock_abi < 6)
		bad |= add_missing(missing, "landlock-scope",
				   "this kernel's Landlock is older",
				   "Linux 6.12");
	if (!p->seccomp)
		bad |= add_missing(missing, "seccomp",
				   "no filters in this kernel",
				   "CONFIG_SECCOMP_FILTER");
	return bad;
}

/* Every limit that there is, so that each is told of. */
static const char limits_policy[] =
	"{\"agentbox\":1,\"name\":\"probe\",\"require\":[],"
	"\"network\":{\"mode\":\"none\"},\"limits\":{\"memory\":\"1GiB\","
	"\"cpus\":1,\"pids\":64,\"disk\":\"1GiB\",\"files\":256,"
	"\"wall\":\"1h\"}}";

/* What holds less in the strongest box here: the list that a box reports. */
static int32_t add_weaker(agentbox_context *context, const ab_probe *p,
			  uint32_t tier, json_t *doc, agentbox_error **err)
{
	static const char id[] = "00000000000000000000000000000000";
	const ab_compile_input input = { .box_id = id,
					 .probe = p,
					 .tier = tier,
					 .dry = true };
	ab_auto(agentbox_policy) *policy = NULL;
	ab_compiled compiled = { .plan_fd = -1 };
	int32_t rc;

	/* there is no box that could be weaker */
	if (!tier)
		return json_object_set_new(doc, "weaker", json_array()) ?
			       ab_error_nomem(err) : 0;
	rc = agentbox_policy_parse(context, limits_policy,
				   sizeof(limits_policy) - 1, &policy, err);
	if (!rc)
		rc = ab_walls_compile(context, policy, &input, &compiled, err);
	if (!rc && json_object_set(doc, "weaker", compiled.weaker))
		rc = ab_error_nomem(err);
	ab_compiled_end(&compiled);
	return rc;
}

static int32_t probe_tiers(agentbox_context *context, const ab_probe *p,
			   json_t *doc, json_t *missing, uint32_t *best_tier,
			   agentbox_error **err)
{
	ab_auto(agentbox_policy) *policy = NULL;
	ab_auto(json_t) *tiers = json_object();
	const char *best = "none";
	int32_t rc;

	rc = agentbox_policy_parse(context, empty_policy,
				   sizeof(empty_policy) - 1, &policy, err);
	for (uint32_t t = AB_TIER_FULL; t <= AB_TIER_LANDLOCK && !rc; t++) {
		outcome o = { 0 };

		rc = raise_tier(context, policy, p, t, &o, err);
		if (rc)
			return rc;
		if (o.raised && strcmp(best, "none") == 0) {
			best = ab_walls_tier_name(t);
			*best_tier = t;
		}
		if (!tiers || add_tier(tiers, missing, p, t, &o))
			return ab_error_nomem(err);
	}
	if (rc)
		return rc;
	if (json_object_set(doc, "tiers", tiers) ||
	    json_object_set_new(doc, "best_tier", json_string(best)))
		return ab_error_nomem(err);
	return 0;
}

static advice explain_gateway(const ab_probe *p, const outcome *o)
{
	if (o->sys_errno == EOPNOTSUPP &&
	    strcmp(o->stage, "gateway interfaces") == 0)
		return (advice){ "this kernel has no veth(4)",
				 "modprobe veth, or a kernel with "
				 "CONFIG_VETH" };
	if (strncmp(o->stage, "agentbox-gateway", 16) == 0)
		return (advice){ "", "install agentbox-gateway of this build "
				 "beside agentbox-init" };
	if (strcmp(o->stage, "build") == 0)
		return (advice){ "", "build with c-ares 1.18 and OpenSSL 3.0 "
				 "or later" };
	if (strcmp(o->stage, "tier") == 0)
		return (advice){ "", "what the tiers need, see there" };
	return explain(p, o);
}

/* An error that is an answer: the gateway cannot be had, and why. */
static int32_t note_refusal(outcome *o, const char *stage, agentbox_error **e,
			    agentbox_error **err)
{
	if (agentbox_error_get_code(*e) == AGENTBOX_ENOMEM)
		return ab_error_move(err, e);
	o->raised = false;
	o->sys_errno = agentbox_error_get_errno(*e);
	snprintf(o->stage, sizeof(o->stage), "%s", stage);
	snprintf(o->message, sizeof(o->message), "%s",
		 agentbox_error_get_message(*e));
	agentbox_error_free(*e);
	*e = NULL;
	return 0;
}

/*
 * Its program, which says of which build it is, and ends for want of a plan;
 * then an empty box with the way to it.
 */
static int32_t raise_gateway(agentbox_context *context, const ab_probe *p,
			     uint32_t tier, outcome *o, agentbox_error **err)
{
	ab_auto(agentbox_policy) *policy = NULL;
	agentbox_error *e = NULL;
	ab_helper helper;
	int32_t rc;

#ifndef HAVE_GATEWAY
	snprintf(o->stage, sizeof(o->stage), "build");
	snprintf(o->message, sizeof(o->message),
		 "agentbox-gateway is not in this build");
	return 0;
#endif
	if (tier != AB_TIER_FULL && tier != AB_TIER_NO_PROC) {
		snprintf(o->stage, sizeof(o->stage), "tier");
		snprintf(o->message, sizeof(o->message),
			 "no tier with a network namespace can be raised");
		return 0;
	}
	if (ab_helper_start(context, "agentbox-gateway", -1, RAISE_TIMEOUT_MS,
			    &helper, &e))
		return note_refusal(o, "agentbox-gateway", &e, err);
	ab_helper_stop(&helper, STOP_TIMEOUT_MS);
	rc = agentbox_policy_parse(context, gateway_policy,
				   sizeof(gateway_policy) - 1, &policy, err);
	if (rc)
		return rc;
	if (raise_tier(context, policy, p, tier, o, &e))
		return note_refusal(o, "agentbox-init", &e, err);
	return 0;
}

static int32_t probe_gateway(agentbox_context *context, const ab_probe *p,
			     uint32_t tier, json_t *doc, agentbox_error **err)
{
	outcome o = { 0 };
	advice a = { "", "" };
	int32_t rc = raise_gateway(context, p, tier, &o, err);
	bool good = o.raised && o.gate;

	if (rc)
		return rc;
	if (!good)
		a = explain_gateway(p, &o);
	if (json_object_set_new(
		    doc, "gateway",
		    json_pack("{s:b,s:b,s:s,s:i,s:s,s:s,s:s}", "available",
			      good, "ipv6", good && o.ipv6, "stage", o.stage,
			      "errno", o.sys_errno, "message", o.message,
			      "cause", a.cause[0] ? a.cause : o.message, "fix",
			      a.fix)))
		return ab_error_nomem(err);
	return 0;
}

int32_t agentbox_walls_probe(agentbox_context *context, agentbox_bytes **json,
			     agentbox_error **err)
{
	ab_auto(json_t) *doc = json_object();
	ab_auto(json_t) *missing = json_array();
	uint32_t tier = 0;
	ab_probe p;
	int32_t rc;

	if (!context || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "context and json must not be NULL");
	if (!doc || !missing)
		return ab_error_nomem(err);
	rc = ab_probe_machine(&p, NULL, err);
	if (!rc)
		rc = probe_tiers(context, &p, doc, missing, &tier, err);
	if (!rc)
		rc = probe_gateway(context, &p, tier, doc, err);
	if (!rc)
		rc = add_weaker(context, &p, tier, doc, err);
	if (rc)
		return rc;
	if (add_facts(doc, &p) || add_missing_facts(missing, &p) ||
	    json_object_set(doc, "missing", missing))
		return ab_error_nomem(err);
	return ab_json_canonical(doc, json, err);
}
