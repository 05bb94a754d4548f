/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The life of a box: compile the plan, start agentbox-init, wait for the
 * walls, and end it all. A wall that cannot be raised ends in an error with
 * its name; a weaker tier is tried only when the policy allows it
 * (DESIGN.md sections 1 and 6).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "sandbox/internal.h"
#include "wire/message.h"

#define STOP_TIMEOUT_MS 5000
#define MAX_LEFT 64 /* boxes that were killed over one workspace */
#define READY_FDS AB_GATEWAY_MAX_FDS /* of LISTENERS; 3 of READY */

int32_t agentbox_sandbox_options_new(agentbox_sandbox_options **options,
				     agentbox_error **err)
{
	if (!options)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "options is NULL");
	agentbox_sandbox_options *o = ab_new(agentbox_sandbox_options);
	if (!o)
		return ab_error_nomem(err);
	o->timeout_ms = AB_DEFAULT_START_TIMEOUT_MS;
	*options = o;
	return 0;
}

void agentbox_sandbox_options_free(agentbox_sandbox_options *o)
{
	if (!o)
		return;
	agentbox_audit_unref(o->audit);
	free(o->resolver);
	free(o);
}

int32_t agentbox_sandbox_options_set_audit(agentbox_sandbox_options *o,
					   agentbox_audit *audit,
					   agentbox_error **err)
{
	if (!o)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "options is NULL");
	agentbox_audit *old = o->audit;
	o->audit = audit ? agentbox_audit_ref(audit) : NULL;
	agentbox_audit_unref(old);
	return 0;
}

int32_t agentbox_sandbox_options_set_timeout(agentbox_sandbox_options *o,
					     uint32_t milliseconds,
					     agentbox_error **err)
{
	if (!o || !milliseconds)
		return ab_error_set(err, AGENTBOX_EINVAL, "timeout",
				    "a box cannot be raised in 0 ms");
	o->timeout_ms = milliseconds;
	return 0;
}

int32_t agentbox_sandbox_options_set_resolver(agentbox_sandbox_options *o,
					      const char *servers,
					      agentbox_error **err)
{
	char *copy = NULL;

	if (!o)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "options is NULL");
	if (servers && strlen(servers) > AB_MAX_NAME)
		return ab_error_set(err, AGENTBOX_EINVAL, "resolver",
				    "the name servers' addresses are too "
				    "long");
	if (servers && *servers && !(copy = ab_strdup(servers)))
		return ab_error_nomem(err);
	free(o->resolver);
	o->resolver = copy;
	return 0;
}

agentbox_sandbox *ab_box_ref(agentbox_sandbox *box)
{
	atomic_fetch_add(&box->refs, 1);
	return box;
}

void ab_box_unref(agentbox_sandbox *box)
{
	if (!box || atomic_fetch_sub(&box->refs, 1) != 1)
		return;
	ab_gateway_free(box->gateway);
	ab_shield_free(box->shield);
	free(box->resolver);
	ab_events_end(&box->events);
	json_decref(box->notes);
	json_decref(box->noted);
	json_decref(box->limits);
	json_decref(box->weaker);
	agentbox_audit_unref(box->audit);
	agentbox_policy_unref(box->policy);
	agentbox_context_unref(box->context);
	pthread_mutex_destroy(&box->settle_lock);
	pthread_mutex_destroy(&box->lock);
	free(box);
}

agentbox_policy *ab_box_policy(const agentbox_sandbox *box)
{
	return box->policy;
}

int32_t ab_box_usable(const agentbox_sandbox *box, agentbox_error **err)
{
	if (box->owner != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "box",
				    "box %s belongs to process %d; a forked "
				    "child cannot use it", box->id,
				    (int)box->owner);
	if (atomic_load(&box->ended))
		return ab_error_set(err, AGENTBOX_ECLOSED, "box",
				    "box %s has ended", box->id);
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Undo one attempt to raise; the handle can try again. */
static void lower(agentbox_sandbox *box)
{
	close_fd(&box->spawn_fd);
	close_fd(&box->mountinfo_fd);
	close_fd(&box->watch_fd);
	ab_box_drop_listeners(box);
	ab_gateway_stop(box->gateway);
	close_fd(&box->notify_fd);
	ab_shield_stop(box->shield);
	ab_events_closing(box, box->helper.control_fd);
	ab_helper_stop(&box->helper, STOP_TIMEOUT_MS);
	close_fd(&box->uid_fd);
	ab_compiled_end(&box->compiled);
	memset(&box->compiled, 0, sizeof(box->compiled));
	box->compiled.plan_fd = -1;
}

/* Nobody has been in it. */
static void lower_unused(agentbox_sandbox *box)
{
	box->compiled.is_told = true;
	lower(box);
}

/* What init said when it gave up, as an error and as a stage. */
typedef struct failure {
	char stage[256];
	agentbox_error *error;
} failure;

static int32_t read_failed(ab_reader *r, failure *why, agentbox_error **err)
{
	ab_msg_failed m;

	if (ab_msg_get_failed(r, &m) < 0)
		return ab_error_set(err, AGENTBOX_EPROTO, "init",
				    "agentbox-init sent a malformed failure");
	size_t n = strlen(m.stage);
	if (n >= sizeof(why->stage))
		n = sizeof(why->stage) - 1;
	memcpy(why->stage, m.stage, n);
	why->stage[n] = '\0';
	if (m.sys_errno)
		return ab_error_sys_code(err, AGENTBOX_EWALL, m.sys_errno,
					 m.stage, "%s", m.message);
	return ab_error_set(err, AGENTBOX_EWALL, m.stage, "%s", m.message);
}

/*
 * init says what stands; what the plan asked for must be among it. The second
 * line of defence, outside init: a defect there gives an error, not a box.
 */
static int32_t judge_walls(const agentbox_sandbox *box, const ab_msg_ready *m,
			   agentbox_error **err)
{
	uint32_t missing = box->compiled.expected_walls & ~m->walls;

	if (missing)
		return ab_error_set(err, AGENTBOX_EWALL,
				    ab_walls_first_name(missing),
				    "agentbox-init did not raise the wall "
				    "'%s' that the plan asks for",
				    ab_walls_first_name(missing));
	return 0;
}

static int32_t read_ready(agentbox_sandbox *box, ab_reader *r, int *fds,
			  size_t fd_count, agentbox_error **err)
{
	ab_msg_ready m;
	int32_t rc;

	if (fd_count < 1 || ab_msg_get_ready(r, &m) < 0)
		return ab_error_set(err, AGENTBOX_EPROTO, "init",
				    "agentbox-init sent a malformed report");
	box->spawn_fd = ab_steal_fd(&fds[0]);
	if (fd_count > 1)
		box->mountinfo_fd = ab_steal_fd(&fds[1]);
	if (fd_count > 2)
		box->watch_fd = ab_steal_fd(&fds[2]);

	if (!ab_walls_take_notes(&box->compiled, m.notes))
		return ab_error_nomem(err);
	rc = judge_walls(box, &m, err);
	if (rc < 0)
		return rc;
	box->walls = m.walls;
	box->landlock_abi = m.landlock_abi;
	box->notes = ab_steal(&box->compiled.notes);
	box->noted = ab_steal(&box->compiled.noted);
	box->limits = ab_steal(&box->compiled.limits);
	box->weaker = ab_steal(&box->compiled.weaker);
	return 0;
}

/* The way to the gateway is made; they wait here until the box is ready. */
static int32_t read_listeners(agentbox_sandbox *box, ab_reader *r, int *fds,
			      size_t fd_count, agentbox_error **err)
{
	uint32_t flags = ab_get_u32(r);

	if (!ab_reader_done(r) || !fd_count || box->listener_count)
		return ab_error_set(err, AGENTBOX_EPROTO, "init",
				    "agentbox-init sent malformed listeners");
	box->listener_flags = flags;
	for (size_t i = 0; i < fd_count; i++)
		box->listeners[box->listener_count++] = ab_steal_fd(&fds[i]);
	return AGENTBOX_EAGAIN;
}

/* What tells of watched calls; the same. */
static int32_t read_notices(agentbox_sandbox *box, const ab_reader *r, int *fds,
			    size_t fd_count, agentbox_error **err)
{
	if (!ab_reader_done(r) || fd_count != 1 || box->notify_fd >= 0)
		return ab_error_set(err, AGENTBOX_EPROTO, "init",
				    "agentbox-init sent a malformed listener");
	box->notify_fd = ab_steal_fd(&fds[0]);
	return AGENTBOX_EAGAIN;
}

/* The same of the broker. */
static int32_t read_broker(agentbox_sandbox *box, const ab_reader *r, int *fds,
			   size_t fd_count, agentbox_error **err)
{
	if (!ab_reader_done(r) || !fd_count || box->broker_fd_count ||
	    fd_count > AB_ARRAY_LEN(box->broker_fds))
		return ab_error_set(err, AGENTBOX_EPROTO, "init",
				    "agentbox-init sent a malformed broker");
	for (size_t i = 0; i < fd_count; i++)
		box->broker_fds[box->broker_fd_count++] = ab_steal_fd(&fds[i]);
	return AGENTBOX_EAGAIN;
}

/* Wait for READY or FAILED. Events may come first (skipped mounts). */
static int32_t await_ready(agentbox_sandbox *box, uint64_t deadline,
			   failure *why, agentbox_error **err)
{
	uint8_t buf[AB_MAX_MESSAGE];

	for (;;) {
		int fds[READY_FDS];
		size_t fd_count = 0;

		for (size_t i = 0; i < READY_FDS; i++)
			fds[i] = -1;
		int ready = ab_fd_poll(box->helper.control_fd, POLLIN,
				       ab_clock_left_ms(deadline));
		if (ready == 0)
			return ab_error_set(err, AGENTBOX_ETIMEOUT, "init",
					    "the box was not ready in time");
		if (ready < 0)
			return ab_error_sys(err, -ready, "init",
					    "cannot wait for agentbox-init");
		ssize_t n = ab_message_recv(box->helper.control_fd, buf,
					    sizeof(buf), fds, READY_FDS,
					    &fd_count, 0);
		if (n == 0)
			return ab_error_set(err, AGENTBOX_EHELPER, "init",
					    "agentbox-init died while raising "
					    "the box");
		if (n < 0)
			return ab_error_sys_code(err, AGENTBOX_EPROTO, (int)-n,
						 "init", "cannot read from "
						 "agentbox-init");
		ab_reader r;
		ab_reader_init(&r, buf, (size_t)n);
		uint32_t kind = ab_get_u32(&r);
		uint32_t announced = ab_get_u32(&r);
		int32_t rc;
		if (r.bad || announced != fd_count)
			rc = ab_error_set(err, AGENTBOX_EPROTO, "init",
					  "agentbox-init announced %u "
					  "descriptors and sent %zu",
					  announced, fd_count);
		else if (kind == AB_MSG_LISTENERS)
			rc = read_listeners(box, &r, fds, fd_count, err);
		else if (kind == AB_MSG_NOTICES)
			rc = read_notices(box, &r, fds, fd_count, err);
		else if (kind == AB_MSG_BROKER)
			rc = read_broker(box, &r, fds, fd_count, err);
		else if (kind == AB_MSG_READY)
			rc = read_ready(box, &r, fds, fd_count, err);
		else if (kind == AB_MSG_FAILED)
			rc = read_failed(&r, why, err);
		else if (kind == AB_MSG_EVENT && !fd_count &&
			 ab_events_push(box, buf, (size_t)n) == 0)
			rc = AGENTBOX_EAGAIN;
		else
			rc = ab_error_set(err, AGENTBOX_EPROTO, "init",
					  "agentbox-init sent message %u",
					  kind);
		for (size_t i = 0; i < READY_FDS; i++)
			close_fd(&fds[i]);
		if (rc != AGENTBOX_EAGAIN)
			return rc;
	}
}

/* agentbox-init while the plan is compiled. */
typedef struct early {
	agentbox_context *context;
	ab_launch launch;
	int32_t rc;
	agentbox_error *error; /* told when nothing else went wrong */
} early;

static void begin(void *data, int head_fd)
{
	early *e = data;

	e->rc = ab_helper_launch(e->context, "agentbox-init", head_fd,
				 &e->launch, &e->error);
}

static void cancel(void *data)
{
	early *e = data;

	ab_helper_cancel(&e->launch, STOP_TIMEOUT_MS);
}

/*
 * Without a descriptor: who has used up those that a user may have in flight
 * (unix(7), ETOOMANYREFS), a box of ours perhaps, must not keep us from
 * raising another.
 */
static int send_plan_bytes(agentbox_sandbox *box)
{
	uint8_t memory[AB_PLAN_CHUNK];
	struct stat st;
	ab_writer w;

	if (fstat(box->compiled.plan_fd, &st) < 0)
		return -errno;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_PLAN);
	ab_put_u32(&w, 0);
	ab_put_u64(&w, (uint64_t)st.st_size);
	int rc = ab_message_send(box->helper.control_fd, w.data, w.len, NULL,
				 0, 0);
	for (off_t at = 0; rc == 0 && at < st.st_size;) {
		ssize_t n = pread(box->compiled.plan_fd,
				  memory + AB_MESSAGE_HEADER,
				  sizeof(memory) - AB_MESSAGE_HEADER, at);
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		rc = ab_message_send(box->helper.control_fd, memory,
				     AB_MESSAGE_HEADER + (size_t)n, NULL, 0,
				     0);
		at += n;
	}
	return rc;
}

static int32_t send_plan(agentbox_sandbox *box, agentbox_error **err)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_PLAN);
	ab_put_u32(&w, 1);
	int rc = ab_message_send(box->helper.control_fd, w.data, w.len,
				 &box->compiled.plan_fd, 1, 0);
	if (rc == -ETOOMANYREFS)
		rc = send_plan_bytes(box);
	/* who has said why is heard first, by await_ready() */
	if (rc < 0 && rc != -EPIPE && rc != -ECONNRESET)
		return ab_error_sys_code(err, AGENTBOX_EHELPER, -rc, "init",
					 "cannot send the plan");
	return 0;
}

/*
 * agentbox-init makes the namespaces while the host looks at its files: both
 * take about as long. It mounts nothing before it has the whole plan.
 */
static int32_t compile_and_start(agentbox_sandbox *box,
				 ab_compile_input *input, uint64_t deadline,
				 agentbox_error **err)
{
	early e = { .context = box->context };
	const ab_compile_early hooks = { begin, cancel, &e };
	int32_t rc;

	input->early = &hooks;
	rc = ab_walls_compile(box->context, box->policy, input, &box->compiled,
			      err);
	input->early = NULL;
	if (rc == 0 && e.rc)
		rc = ab_error_move(err, &e.error);
	else
		agentbox_error_free(e.error);
	if (rc == 0)
		rc = ab_helper_greet(&e.launch, ab_clock_left_ms(deadline),
				     &box->helper, err);
	return rc ? rc : send_plan(box, err);
}

/* One attempt. */
static int32_t raise_at(agentbox_sandbox *box, ab_compile_input *input,
			uint64_t deadline, failure *why)
{
	agentbox_error **err = &why->error;
	int32_t rc = ab_uid_claim(input->probe, box->id, &input->uid_try,
				  &box->uid_fd, err);
	if (rc < 0)
		return rc;
	rc = compile_and_start(box, input, deadline, err);
	if (rc == 0)
		rc = await_ready(box, deadline, why, err);
	if (rc == 0)
		rc = ab_box_start_gateway(box, deadline, err);
	if (rc == 0)
		rc = ab_box_start_shield(box, deadline, err);
	if (rc < 0) {
		lower_unused(box);
		return rc;
	}
	for (size_t i = 0; i < box->compiled.path_fd_count; i++)
		close_fd(&box->compiled.path_fds[i]);
	box->compiled.path_fd_count = 0;
	close_fd(&box->compiled.plan_fd);
	return 0;
}

/* What to try after a failure, in *input; false: nothing the policy allows. */
static bool step_down(agentbox_sandbox *box, ab_compile_input *input,
		      const failure *why)
{
	const char *weaker = NULL;
	uint32_t next;

	if (ab_walls_may_skip_idmap(box->policy, input->no_idmap, why->stage)) {
		input->no_idmap = true;
		return true;
	}
	next = ab_walls_next_tier(box->policy, input->tier, why->stage,
				  &weaker);
	if (!next)
		return false;
	ab_log(box->context, AGENTBOX_LOG_WARNING,
	       "box %s: tier %s is not to be had (%s); trying %s", box->id,
	       ab_walls_tier_name(input->tier),
	       agentbox_error_get_message(why->error),
	       ab_walls_tier_name(next));
	input->tier = next;
	return true;
}

/*
 * One attempt; and another for each box that was killed over this workspace
 * and what it left is put right.
 */
static int32_t raise_over(agentbox_sandbox *box, ab_compile_input *input,
			  uint64_t deadline, failure *why)
{
	for (unsigned i = 0;; i++) {
		ab_left left = { "" };

		input->left = &left;
		int32_t rc = raise_at(box, input, deadline, why);
		input->left = NULL;
		if (rc == 0 || !left.id[0] || i == MAX_LEFT)
			return rc;
		agentbox_error_free(why->error);
		why->error = NULL;
		rc = ab_box_settle_left(box, &left, deadline, &why->error);
		if (rc)
			return rc;
	}
}

/* Down the ladder of tiers, as far as the policy allows. */
static int32_t raise_tiers(agentbox_sandbox *box, uint32_t timeout_ms,
			   agentbox_error **err)
{
	uint64_t deadline = ab_clock_boot_ns() + timeout_ms * 1000000ull;
	ab_probe probe;

	int32_t rc = ab_probe_machine(&probe, box->policy, err);
	if (rc < 0)
		return rc;
	ab_compile_input input = { .box_id = box->id, .probe = &probe,
				   .tier = ab_walls_first_tier(box->policy) };
	for (;;) {
		failure why = { "", NULL };
		rc = raise_over(box, &input, deadline, &why);
		if (rc == 0) {
			box->tier = input.tier;
			box->watched = box->watch_fd >= 0;
			return 0;
		}
		if (rc != AGENTBOX_EWALL || !why.stage[0] ||
		    !step_down(box, &input, &why))
			return ab_error_move(err, &why.error);
		agentbox_error_free(why.error);
	}
}

static agentbox_sandbox *make(agentbox_context *context,
			      agentbox_policy *policy, agentbox_audit *audit)
{
	agentbox_sandbox *box = ab_new(agentbox_sandbox);
	if (!box)
		return NULL;
	atomic_init(&box->refs, 1);
	atomic_init(&box->ended, false);
	atomic_init(&box->revoked, false);
	box->owner = getpid();
	box->uid_fd = box->spawn_fd = -1;
	box->mountinfo_fd = box->watch_fd = box->notify_fd = -1;
	box->helper = (ab_helper){ .control_fd = -1, .pidfd = -1 };
	box->compiled.plan_fd = -1;
	ab_events_init(&box->events);
	box->context = ab_context_use(context);
	box->policy = agentbox_policy_ref(policy);
	box->audit = audit ? agentbox_audit_ref(audit) : NULL;
	pthread_mutex_init(&box->lock, NULL);
	pthread_mutex_init(&box->settle_lock, NULL);
	return box;
}

void ab_box_facts_of(const agentbox_sandbox *box, ab_box_facts *facts)
{
	const ab_compiled *c = &box->compiled;

	*facts = (ab_box_facts){
		.account = ab_policy_get(box->policy)->account,
		.workspace = c->workspace_host,
		.workspace_dev = c->workspace_dev,
		.workspace_ino = c->workspace_ino,
		.is_reader = c->share != NULL,
		.owner = box->owner,
	};
}

int32_t agentbox_sandbox_new(agentbox_context *context,
			     agentbox_policy *policy,
			     const agentbox_sandbox_options *options,
			     agentbox_sandbox **sandbox, agentbox_error **err)
{
	if (!context || !policy || !sandbox)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "context, policy or sandbox is NULL");
	agentbox_sandbox *box = make(context, policy,
				     options ? options->audit : NULL);
	if (!box)
		return ab_error_nomem(err);
	if (options && options->resolver &&
	    !(box->resolver = ab_strdup(options->resolver))) {
		ab_box_unref(box);
		return ab_error_nomem(err);
	}
	int rnd = ab_id_new(box->id);
	int32_t rc = rnd < 0 ? ab_error_sys(err, -rnd, "", "no random bits for "
					    "a box id")
			     : raise_tiers(box, options ? options->timeout_ms
				     : AB_DEFAULT_START_TIMEOUT_MS, err);
	/* The box is recorded before anything can run in it. */
	if (rc == 0)
		rc = ab_record_box(box, "box.start", err);
	if (rc < 0) {
		lower_unused(box);
		ab_box_unref(box);
		return rc;
	}
	*sandbox = box;
	return 0;
}

/*
 * Say that we are done (shutdown acts on the socket, so a forked child's copy
 * of it does not matter) and read what the box has to say until it is gone.
 */
static int last_drain(agentbox_sandbox *box)
{
	/* where names are protected, all is looked through once more */
	uint64_t ms = box->watched ? AB_REQUEST_TIMEOUT_MS : STOP_TIMEOUT_MS;
	uint64_t deadline = ab_clock_boot_ns() + ms * 1000000ull;

	/* the launcher goes while the holder ends the others */
	if (box->spawn_fd >= 0)
		shutdown(box->spawn_fd, SHUT_WR);
	shutdown(box->helper.control_fd, SHUT_WR);
	/* what it has to say of a box without protected paths finds room */
	if (!box->watched)
		(void)ab_fd_poll(box->helper.pidfd, POLLIN,
				 ab_clock_left_ms(deadline));
	for (;;) {
		int rc = ab_fd_poll(box->helper.control_fd, POLLIN,
				    ab_clock_left_ms(deadline));
		if (rc <= 0)
			return rc ? rc : -ETIMEDOUT;
		rc = ab_control_take(box, 0, NULL, NULL);
		if (rc == -ECONNRESET)
			return 0;
		if (rc < 0 && rc != -EAGAIN)
			return rc;
	}
}

/*
 * 0, or -errno: not all was put right. tells: the caller is told of that, so
 * the next box over this workspace may be raised (wire/plan.h). A holder that
 * was killed has left its record, and did not look to the end, whatever it told
 * before: that stays.
 */
static int end_watched(agentbox_sandbox *box, bool tells)
{
	uint64_t before = box->events.unprotected;
	ab_compiled *c = &box->compiled;
	int rc = last_drain(box);

	ab_settle_finish(box);
	if (rc < 0)
		return rc;
	c->is_told = tells && box->has_looked;
	if (box->has_looked || box->events.unprotected > before)
		return -EBUSY;
	if (c->record && (faccessat(AT_FDCWD, c->record, F_OK, 0) == 0 ||
			  errno != ENOENT))
		return -EOWNERDEAD;
	return 0;
}

static int32_t end(agentbox_sandbox *box, bool tells, agentbox_error **err)
{
	if (box->lowered)
		return 0;
	pthread_mutex_lock(&box->settle_lock);
	pthread_mutex_lock(&box->lock);
	int rc = end_watched(box, tells);
	atomic_store(&box->ended, true);
	lower(box);
	box->lowered = true;
	if (rc < 0)
		box->unprotected = true;
	pthread_mutex_unlock(&box->lock);
	pthread_mutex_unlock(&box->settle_lock);
	ab_events_publish(box);
	int32_t recorded = ab_record_box(box, "box.end", err);
	if (recorded < 0)
		return recorded;
	if (rc < 0 && box->watched)
		return ab_error_sys_code(err, AGENTBOX_EWALL, -rc, "protect",
					 "protected paths of box %s could not "
					 "be put right at its end; look at its "
					 "events and its workspace", box->id);
	return 0;
}

int32_t agentbox_sandbox_end(agentbox_sandbox *box, agentbox_error **err)
{
	if (!box)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox is NULL");
	if (box->owner != getpid())
		return ab_box_usable(box, err);
	return end(box, true, err);
}

void agentbox_sandbox_free(agentbox_sandbox *box)
{
	if (!box)
		return;
	int saved = errno;
	if (box->owner == getpid()) {
		(void)end(box, false, NULL);
	} else {
		/* A forked child: its copies of the descriptors go, the box
		   and its directories stay with their owner. */
		close_fd(&box->uid_fd);
		close_fd(&box->spawn_fd);
		close_fd(&box->mountinfo_fd);
		close_fd(&box->watch_fd);
		close_fd(&box->helper.control_fd);
		close_fd(&box->helper.pidfd);
	}
	ab_box_unref(box);
	errno = saved;
}

agentbox_gateway *agentbox_sandbox_get_gateway(const agentbox_sandbox *box)
{
	return box ? box->gateway : NULL;
}

agentbox_shield *agentbox_sandbox_get_shield(const agentbox_sandbox *box)
{
	return box ? box->shield : NULL;
}

const char *agentbox_sandbox_get_id(const agentbox_sandbox *box)
{
	return box ? box->id : "";
}

const char *agentbox_sandbox_get_tier(const agentbox_sandbox *box)
{
	if (!box)
		return "";
	return ab_walls_tier_name(box->tier);
}

/* Made when somebody asks: a box that nobody asks about is raised sooner. */
int32_t agentbox_sandbox_walls_to_json(const agentbox_sandbox *box,
				       agentbox_bytes **json,
				       agentbox_error **err)
{
	if (!box || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox or json is NULL");
	json_t *report = ab_walls_report(box->walls, box->landlock_abi,
					 box->tier, box->notes, box->noted,
					 box->weaker);
	int32_t rc = report ? ab_json_canonical(report, json, err)
			    : ab_error_nomem(err);
	json_decref(report);
	return rc;
}

int32_t agentbox_sandbox_limits_to_json(const agentbox_sandbox *box,
					agentbox_bytes **json,
					agentbox_error **err)
{
	if (!box || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox or json is NULL");
	return ab_json_canonical(box->limits, json, err);
}

/* What a box of this policy would be; owned. */
static int32_t describe(agentbox_context *context, agentbox_policy *policy,
			const char *id, uint32_t tier, json_t **plan,
			agentbox_error **err)
{
	ab_compiled compiled = { .plan_fd = -1 };
	ab_probe probe;

	int32_t rc = ab_probe_machine(&probe, policy, err);
	if (rc < 0)
		return rc;
	ab_compile_input input = { .box_id = id, .probe = &probe,
				   .tier = tier, .dry = true };
	rc = ab_walls_compile(context, policy, &input, &compiled, err);
	if (rc < 0)
		return rc;
	*plan = ab_steal(&compiled.description);
	ab_compiled_end(&compiled);
	return *plan ? 0 : ab_error_nomem(err);
}

int32_t agentbox_sandbox_plan_to_json(agentbox_context *context,
				      agentbox_policy *policy,
				      agentbox_bytes **json,
				      agentbox_error **err)
{
	static const char id[] = "00000000000000000000000000000000";
	ab_auto(json_t) *plan = NULL;

	if (!context || !policy || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "context, policy or json is NULL");
	int32_t rc = describe(context, policy, id, ab_walls_first_tier(policy),
			      &plan, err);
	return rc ? rc : ab_json_canonical(plan, json, err);
}

int32_t ab_box_plan(const agentbox_sandbox *box, json_t **plan,
		    agentbox_error **err)
{
	return describe(box->context, box->policy, box->id, box->tier, plan,
			err);
}

void ab_box_walls_of(const agentbox_sandbox *box, ab_box_walls *walls)
{
	const ab_compiled *c = &box->compiled;

	*walls = (ab_box_walls){
		.context = box->context,
		.holder = box->helper.pid,
		.tier = box->tier,
		.landlock_abi = box->landlock_abi,
		.walls = box->walls,
		.expected = c->expected_walls,
		.limits = box->limits,
		.notes = box->notes,
		.weaker = box->weaker,
		.cgroups = c->cgroups,
		.cgroup_count = c->cgroup_count,
		.workspace = c->workspace_inside,
	};
}

int32_t agentbox_sandbox_kill_all(agentbox_sandbox *box, agentbox_error **err)
{
	if (!box)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox is NULL");
	int32_t rc = ab_box_usable(box, err);
	if (rc < 0)
		return rc;
	return ab_control_request(box, AB_MSG_KILL_ALL, 0, -1, NULL, NULL,
				  err);
}
