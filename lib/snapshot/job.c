/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A job of agentbox-copy or agentbox-archive as its host sees it: started
 * with a sealed plan and the directories, told of by messages, ended by one.
 * What the helper sends is checked as bytes of a stranger. The control socket
 * stays open until free(), so that cancel may come from any thread.
 */
#include "config.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
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
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/spawn.h"
#include "snapshot/job.h"
#include "wire/message.h"

#define START_TIMEOUT_MS 10000
/* How long past its deadline a job may take to say so itself. */
#define GRACE_MS 5000
#define END_TIMEOUT_MS 2000
/* JSON lines of what was left out; a tree of long names reaches it last. */
#define MAX_REPORT (UINT64_C(1) << 30)
#define MAX_MESSAGES 64
/* The owner of what a root host's jobs write: neither a user nor a box. */
#define OUTPUT_ID 65533u

enum job_state { JOB_RUNNING, JOB_DONE, JOB_FAILED };

struct agentbox_snapshot {
	pid_t owner;
	agentbox_context *context;
	agentbox_audit *audit;
	ab_helper helper;
	uint32_t job;
	bool holds;	   /* it will say STAGED, once */
	uint64_t deadline; /* CLOCK_BOOTTIME ns; 0: none */
	enum job_state state;
	ab_copy_progress progress;
	ab_copy_done done;
	char digest[AB_DIGEST_SIZE];
	agentbox_error *error; /* with JOB_FAILED */
	int report_fd;	       /* -1: none */
	int staged_fd;	       /* -1: not staged, or told to publish */
	char *subject;	       /* source's name, for the audit */
	const char *program;   /* that does it; static */
	/* where done's commits are */
	char ids[4][AB_COPY_GIT_ID_SIZE];
};

void ab_snapshot_record_name(const char *name,
			     char out[AB_SNAPSHOT_RECORD_SIZE])
{
	size_t n = strnlen(name, AB_MAX_NAME);

	out[0] = '.';
	memcpy(out + 1, name, n);
	memcpy(out + 1 + n, ".agentbox", sizeof(".agentbox"));
}

/* Archives and repositories are parsed where nothing else is. */
static const char *helper_of(uint32_t job, uint32_t git_mode)
{
	if (git_mode != AB_COPY_GIT_NONE)
		return "agentbox-git";
	return job == AB_COPY_PACK || job == AB_COPY_UNPACK ?
		       "agentbox-archive" :
		       "agentbox-copy";
}

static const char *job_name(uint32_t job)
{
	static const char *const names[] = {
		[AB_COPY_MAKE] = "copy",     [AB_COPY_EXPLAIN] = "explain",
		[AB_COPY_VERIFY] = "verify", [AB_COPY_PACK] = "pack",
		[AB_COPY_UNPACK] = "unpack", [AB_COPY_SCRUB] = "scrub",
	};
	return job < AB_ARRAY_LEN(names) && names[job] ? names[job] : "";
}

/* --- the end --- */

static int32_t record(agentbox_snapshot *s, const char *type,
		      const char *verdict, agentbox_error **err)
{
	if (!s->audit)
		return 0;
	ab_auto(json_t) *f = json_pack(
		"{s:{s:I, s:I, s:i}, s:o*, s:s, s:s}", "actor", "uid",
		(json_int_t)getuid(), "euid", (json_int_t)geteuid(), "pid",
		(int)s->owner, "subject",
		ab_audit_text(s->audit, s->subject, strlen(s->subject)),
		"action", job_name(s->job), "verdict", verdict);
	if (f && s->state == JOB_DONE &&
	    (json_object_set_new(f, "digest", json_string(s->digest)) < 0 ||
	     json_object_set_new(f, "files", json_integer(
			(json_int_t)s->done.files)) < 0 ||
	     json_object_set_new(f, "left_out", json_integer(
			(json_int_t)s->done.left_out)) < 0 ||
	     json_object_set_new(f, "admitted", json_integer(
			(json_int_t)s->done.admitted)) < 0))
		return ab_error_nomem(err);
	if (f && s->error &&
	    json_object_set_new(f, "reason",
				ab_audit_text(s->audit,
					      agentbox_error_get_message(
						      s->error),
					      strlen(agentbox_error_get_message(
						      s->error)))) < 0)
		return ab_error_nomem(err);
	return f ? ab_audit_record(s->audit, type, f, err) :
		   ab_error_nomem(err);
}

static void fail(agentbox_snapshot *s, agentbox_error **error)
{
	s->state = JOB_FAILED;
	agentbox_error_free(s->error);
	s->error = *error;
	*error = NULL;
	record(s, "snapshot.end", "error", NULL);
}

static void end_well(agentbox_snapshot *s)
{
	agentbox_error *error = NULL;

	s->state = JOB_DONE;
	if (record(s, "snapshot.end", "allow", &error) < 0)
		fail(s, &error);
}

static int32_t lost(agentbox_snapshot *s, const char *what,
		    agentbox_error **err)
{
	return ab_error_set(err, AGENTBOX_EHELPER, s->program,
			    "%s %s; job \"%s\" was not finished, and what "
			    "was published before is as it was", s->program,
			    what, job_name(s->job));
}

/* --- messages --- */

static void take_report(agentbox_snapshot *s, int *fd)
{
	size_t n;

	if (s->report_fd >= 0 || *fd < 0 ||
	    ab_fd_check_sealed(*fd, MAX_REPORT, &n) < 0)
		return;
	s->report_fd = ab_steal_fd(fd);
}

/* A commit's name, which the message's reader has looked at. */
static const char *keep_id(agentbox_snapshot *s, size_t i, const char *id)
{
	memcpy(s->ids[i], id, strlen(id) + 1);
	return s->ids[i];
}

static int take_done(agentbox_snapshot *s, ab_reader *r, int *fd)
{
	agentbox_error *error = NULL;
	ab_copy_done m;

	if (ab_copy_done_get(r, &m) < 0 || strlen(m.digest) >= AB_DIGEST_SIZE)
		return -EPROTO;
	take_report(s, fd);
	if (s->report_fd < 0)
		return -EPROTO;
	memcpy(s->digest, m.digest, strlen(m.digest) + 1);
	s->done = m;
	s->done.digest = s->digest;
	s->done.git_head = keep_id(s, 0, m.git_head);
	s->done.git_base = keep_id(s, 1, m.git_base);
	s->done.source_head = keep_id(s, 2, m.source_head);
	s->done.source_base = keep_id(s, 3, m.source_base);
	if (s->job == AB_COPY_VERIFY && m.left_out) {
		ab_error_set(&error, AGENTBOX_ETAMPERED, s->subject,
			     "'%s' is not what its manifest says: %llu places "
			     "differ; the report names them", s->subject,
			     (unsigned long long)m.left_out);
		fail(s, &error);
	} else {
		end_well(s);
	}
	return 0;
}

/* Only what a job makes takes room: it is the destination that has none. */
static const char *what_to_do(int sys_errno)
{
	switch (sys_errno) {
	case ENOSPC:
		return "; its disk is full: make room there (bytes, or inodes: "
		       "df -i), or choose another destination";
	case EDQUOT:
		return "; a quota of its disk is used up: make room there, or "
		       "choose another destination";
	}
	return "";
}

static int take_failed(agentbox_snapshot *s, ab_reader *r, int *fd)
{
	agentbox_error *error = NULL;
	ab_copy_failed m;

	if (ab_copy_failed_get(r, &m) < 0)
		return -EPROTO;
	if (m.sys_errno)
		ab_error_sys_code(&error, m.code, m.sys_errno, m.where, "%s%s",
				  m.message, what_to_do(m.sys_errno));
	else
		ab_error_set(&error, m.code, m.where, "%s", m.message);
	take_report(s, fd);
	fail(s, &error);
	return 0;
}

static int take_message(agentbox_snapshot *s, const uint8_t *p, size_t n,
			int *fd)
{
	ab_reader r;

	ab_reader_init(&r, p, n);
	uint32_t kind = ab_get_u32(&r), announced = ab_get_u32(&r);
	if (r.bad || announced != (*fd >= 0))
		return -EPROTO;
	switch (kind) {
	case AB_MSG_COPY_PROGRESS:
		return ab_copy_progress_get(&r, &s->progress);
	case AB_MSG_COPY_DONE:
		return take_done(s, &r, fd);
	case AB_MSG_COPY_FAILED:
		return take_failed(s, &r, fd);
	case AB_MSG_COPY_STAGED:
		if (!s->holds || *fd < 0 || !ab_reader_done(&r))
			return -EPROTO;
		s->holds = false;
		s->staged_fd = ab_steal_fd(fd);
		return 0;
	default:
		return -EPROTO;
	}
}

/* What waits on the socket, no more than a bounded number of messages. */
static int32_t pump(agentbox_snapshot *s, agentbox_error **err)
{
	ab_autofree uint8_t *buf = ab_calloc(1, AB_MAX_MESSAGE);
	agentbox_error *error = NULL;

	if (!buf)
		return ab_error_nomem(err);
	for (int i = 0; i < MAX_MESSAGES && s->state == JOB_RUNNING; i++) {
		ab_autofd int fd = -1;
		size_t fds = 0;
		ssize_t n = ab_message_recv(s->helper.control_fd, buf,
					    AB_MAX_MESSAGE, &fd, 1, &fds,
					    MSG_DONTWAIT);
		if (n == -EAGAIN)
			break;
		if (n <= 0) {
			lost(s, "ended without a word", &error);
			fail(s, &error);
		} else if (take_message(s, buf, (size_t)n, &fd) < 0) {
			ab_error_set(&error, AGENTBOX_EPROTO, s->program,
				     "%s sent what it may not send",
				     s->program);
			fail(s, &error);
		}
	}
	return 0;
}

static int32_t usable(const agentbox_snapshot *s, agentbox_error **err)
{
	if (!s)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "job is NULL");
	if (s->owner != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "",
				    "the job belongs to process %d; a forked "
				    "child cannot use it", (int)s->owner);
	return 0;
}

/* Its control socket stays: cancel may be using it. */
static void kill_helper(const agentbox_snapshot *s)
{
	(void)pidfd_send_signal(s->helper.pidfd, SIGKILL, NULL, 0);
}

/* --- a host's loop --- */

static bool is_ours(const agentbox_snapshot *s)
{
	return s && s->owner == getpid();
}

int32_t agentbox_snapshot_get_fd(const agentbox_snapshot *job)
{
	return is_ours(job) ? job->helper.control_fd : -1;
}

int32_t agentbox_snapshot_get_timeout_ms(const agentbox_snapshot *job)
{
	if (!is_ours(job) || job->state != JOB_RUNNING)
		return -1;
	return (int32_t)ab_clock_left_ms(job->deadline);
}

int32_t agentbox_snapshot_dispatch(agentbox_snapshot *job,
				   agentbox_error **err)
{
	agentbox_error *error = NULL;
	int32_t rc = usable(job, err);

	if (rc < 0 || job->state != JOB_RUNNING)
		return rc;
	rc = pump(job, err);
	if (rc == 0 && job->state == JOB_RUNNING &&
	    ab_clock_left_ms(job->deadline) == 0) {
		kill_helper(job);
		ab_error_set(&error, AGENTBOX_ETIMEOUT, "deadline",
			     "job \"%s\" did not end at its deadline and was "
			     "killed", job_name(job->job));
		fail(job, &error);
	}
	return rc;
}

static int32_t outcome(const agentbox_snapshot *s, agentbox_error **err)
{
	return s->state == JOB_DONE ? 0 : ab_error_copy(err, s->error);
}

int32_t agentbox_snapshot_wait(agentbox_snapshot *job, int64_t timeout_ms,
			       agentbox_error **err)
{
	int32_t rc = usable(job, err);
	uint64_t until = ab_clock_deadline(timeout_ms);

	while (rc == 0) {
		rc = agentbox_snapshot_dispatch(job, err);
		if (rc < 0 || job->state != JOB_RUNNING)
			break;
		int64_t left = ab_clock_left_ms(until);
		int64_t own = agentbox_snapshot_get_timeout_ms(job);
		if (left == 0)
			return ab_error_set(err, AGENTBOX_ETIMEOUT, "wait",
					    "job \"%s\" has not ended after "
					    "%lld ms", job_name(job->job),
					    (long long)timeout_ms);
		if (own >= 0 && (left < 0 || own < left))
			left = own;
		int ready = ab_fd_poll(job->helper.control_fd, POLLIN, left);
		if (ready < 0)
			return ab_error_sys(err, -ready, job->program,
					    "cannot wait for %s",
					    job->program);
	}
	return rc < 0 ? rc : outcome(job, err);
}

/* One word to the helper. */
static int32_t tell(agentbox_snapshot *job, uint32_t kind,
		    agentbox_error **err)
{
	uint8_t memory[16];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, kind);
	ab_put_u32(&w, 0);
	int sent = ab_message_send(job->helper.control_fd, w.data, w.len, NULL,
				   0, MSG_DONTWAIT);
	/* who has ended, or was asked often, need not be asked again */
	if (sent < 0 && sent != -EPIPE && sent != -EAGAIN &&
	    sent != -ECONNRESET)
		return ab_error_sys(err, -sent, job->program,
				    "cannot speak to %s", job->program);
	return 0;
}

int32_t agentbox_snapshot_cancel(agentbox_snapshot *job, agentbox_error **err)
{
	int32_t rc = usable(job, err);

	return rc < 0 ? rc : tell(job, AB_MSG_COPY_CANCEL, err);
}

void agentbox_snapshot_free(agentbox_snapshot *job)
{
	if (!job)
		return;
	int saved = errno;
	if (job->owner == getpid()) {
		if (job->state == JOB_RUNNING)
			agentbox_snapshot_cancel(job, NULL);
		ab_helper_stop(&job->helper, END_TIMEOUT_MS);
	} else {
		close(job->helper.control_fd);
		close(job->helper.pidfd);
	}
	ab_cleanup_fd(&job->report_fd);
	ab_cleanup_fd(&job->staged_fd);
	agentbox_error_free(job->error);
	agentbox_audit_unref(job->audit);
	agentbox_context_unref(job->context);
	free(job->subject);
	free(job);
	errno = saved;
}

void ab_snapshot_kill(agentbox_snapshot *job)
{
	agentbox_error *error = NULL;

	if (job->state != JOB_RUNNING)
		return;
	kill_helper(job);
	(void)ab_fd_poll(job->helper.pidfd, POLLIN, END_TIMEOUT_MS);
	(void)pump(job, NULL);
	if (job->state != JOB_RUNNING)
		return;
	lost(job, "was ended", &error);
	fail(job, &error);
}

int ab_snapshot_staged_fd(const agentbox_snapshot *job)
{
	return job->staged_fd;
}

int32_t ab_snapshot_publish(agentbox_snapshot *job, agentbox_error **err)
{
	int32_t rc = tell(job, AB_MSG_COPY_PUBLISH, err);

	if (rc == 0)
		ab_cleanup_fd(&job->staged_fd);
	job->staged_fd = -1;
	return rc;
}

/* --- what it says --- */

const char *agentbox_snapshot_get_phase(const agentbox_snapshot *job)
{
	static const char *const names[] = {
		[AB_PHASE_WALK] = "walk",
		[AB_PHASE_COPY] = "copy",
		[AB_PHASE_PUBLISH] = "publish",
		[AB_PHASE_CLEAN] = "clean",
	};

	if (!job || job->state == JOB_FAILED)
		return "failed";
	if (job->state == JOB_DONE)
		return "done";
	return job->progress.phase ? names[job->progress.phase] : "walk";
}

uint64_t agentbox_snapshot_get_files(const agentbox_snapshot *job)
{
	return job ? job->progress.files : 0;
}

uint64_t agentbox_snapshot_get_files_in_all(const agentbox_snapshot *job)
{
	return job ? job->progress.files_in_all : 0;
}

uint64_t agentbox_snapshot_get_bytes(const agentbox_snapshot *job)
{
	return job ? job->progress.bytes : 0;
}

const char *agentbox_snapshot_get_digest(const agentbox_snapshot *job)
{
	return job && job->state == JOB_DONE ? job->digest : "";
}

const ab_copy_done *ab_snapshot_done(const agentbox_snapshot *job)
{
	return job->state == JOB_DONE ? &job->done : NULL;
}

/* It ended well, or with findings: its numbers and lines are there. */
static int32_t has_ended(const agentbox_snapshot *job, agentbox_error **err)
{
	int32_t rc = usable(job, err);

	if (rc == 0 && job->state == JOB_RUNNING)
		rc = ab_error_set(err, AGENTBOX_EBUSY, "",
				  "job \"%s\" has not ended",
				  job_name(job->job));
	return rc;
}

/* The commits; what was left out of the base alone is not in left_out. */
static json_t *git_of(const ab_copy_done *d)
{
	if (!*d->git_base)
		return json_pack("{s:s, s:s}", "head", d->git_head,
				 "source_head", d->source_head);
	return json_pack("{s:s, s:s, s:s, s:s, s:I}", "head", d->git_head,
			 "base", d->git_base, "source_head", d->source_head,
			 "source_base", d->source_base, "base_left_out",
			 (json_int_t)d->base_left_out);
}

int32_t agentbox_snapshot_to_json(const agentbox_snapshot *job,
				  agentbox_bytes **json, agentbox_error **err)
{
	if (!json)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "json is NULL");
	int32_t rc = has_ended(job, err);
	if (rc == 0)
		rc = outcome(job, err);
	if (rc < 0)
		return rc;

	const ab_copy_done *d = &job->done;
	ab_auto(json_t) *v = json_pack(
		"{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
		"s:I, s:s}",
		"job", job_name(job->job), "unchanged", (int)d->unchanged,
		"generation", (json_int_t)d->generation,
		"files", (json_int_t)d->files,
		"directories", (json_int_t)d->directories,
		"bytes", (json_int_t)d->bytes,
		"copied", (json_int_t)d->copied,
		"linked", (json_int_t)d->linked,
		"left_out", (json_int_t)d->left_out,
		"admitted", (json_int_t)d->admitted,
		"torn", (json_int_t)d->torn,
		"raced", (json_int_t)d->raced,
		"swap_ns", (json_int_t)d->swap_ns, "digest", job->digest);
	if (!v || (*d->git_head && json_object_set_new(v, "git", git_of(d)) < 0))
		return ab_error_nomem(err);
	return ab_json_canonical(v, json, err);
}

int32_t agentbox_snapshot_report(const agentbox_snapshot *job,
				 agentbox_bytes **lines, agentbox_error **err)
{
	struct stat st;

	if (!lines)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "lines is NULL");
	int32_t rc = has_ended(job, err);
	if (rc < 0)
		return rc;
	if (job->report_fd < 0)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "report",
				    "job \"%s\" ended without a report",
				    job_name(job->job));
	if (fstat(job->report_fd, &st) < 0 ||
	    lseek(job->report_fd, 0, SEEK_SET) < 0)
		return ab_error_sys(err, errno, "report",
				    "cannot read the report");
	ab_autofree char *text = NULL;
	size_t n = 0;
	int got = ab_fd_slurp(job->report_fd, (size_t)MAX_REPORT, &text, &n);
	if (got < 0)
		return ab_error_sys(err, -got, "report",
				    "cannot read the report");
	agentbox_bytes *b = ab_bytes_from(text, n);
	if (!b)
		return ab_error_nomem(err);
	*lines = b;
	return 0;
}

/* --- the start --- */

static int32_t check_dir(int fd, const char *what, struct stat *st,
			 agentbox_error **err)
{
	if (fstat(fd, st) < 0)
		return ab_error_sys(err, errno, what, "no descriptor of a "
				    "directory");
	if (!S_ISDIR(st->st_mode))
		return ab_error_set(err, AGENTBOX_EINVAL, what,
				    "the descriptor is not of a directory");
	return 0;
}

static int32_t put_filter(ab_writer *w, const agentbox_snapshot_options *o,
			  agentbox_error **err)
{
	ab_filter_options f = {
		.profile = o->profile,
		.is_unscanned = o->content == AB_CONTENT_OFF,
		.exclude = (const char *const *)o->exclude.items,
		.exclude_count = o->exclude.count,
		.include = (const char *const *)o->include.items,
		.include_count = o->include.count,
		.admit = (const char *const *)o->admit.items,
		.admit_count = o->admit.count,
		.hidden = (const char *const *)o->hidden.items,
		.hidden_count = o->hidden.count,
	};

	ab_writer_init(w, AB_MAX_PLAN_BYTES);
	ab_filter_put(w, &f);
	return w->bad ? ab_error_set(err, AGENTBOX_ELIMIT, "options",
				     "the patterns are too many for a job") :
			0;
}

/* As root: read with the rights of who owns the tree, write as a third. */
static void set_rights(ab_copy_plan *plan, const ab_snapshot_job *job,
		       const struct stat *source)
{
	plan->source_uid = plan->source_gid = UINT32_MAX;
	plan->output_uid = plan->output_gid = UINT32_MAX;
	if (geteuid() != 0)
		return;
	/* what an archive is before it is judged is nobody's */
	if (job->job == AB_COPY_UNPACK)
		plan->source_uid = plan->source_gid = OUTPUT_ID;
	if (job->source_fd >= 0) {
		bool owner = job->source_uid == AB_SNAPSHOT_OWNER;
		plan->source_uid = owner ? source->st_uid : job->source_uid;
		plan->source_gid = owner ? source->st_gid : job->source_gid;
	}
	plan->output_uid = plan->output_gid = OUTPUT_ID;
}

/* What a plan says that its host must know as well. */
typedef struct job_start {
	uint64_t deadline_ms;
	const char *program;
	int repository_fd; /* owned, or -1 */
} job_start;

static int32_t make_plan(const ab_snapshot_job *job,
			 const agentbox_snapshot_options *o, int *plan_fd,
			 job_start *start, agentbox_error **err)
{
	struct stat source = { 0 }, st;
	int32_t rc = 0;
	ab_writer filter, w;
	ab_reader r;

	if (job->source_fd >= 0)
		rc = check_dir(job->source_fd, "source", &source, err);
	if (rc == 0 && job->dest_fd >= 0)
		rc = check_dir(job->dest_fd, "destination", &st, err);
	if (rc < 0)
		return rc;
	rc = put_filter(&filter, o, err);
	ab_copy_plan plan = {
		.build_id = agentbox_build_id(),
		.job = job->job,
		.fds = (job->source_fd >= 0 ? AB_COPY_FD_SOURCE : 0) |
		       (job->dest_fd >= 0 ? AB_COPY_FD_DEST : 0) |
		       (job->staging_fd >= 0 ? AB_COPY_FD_STAGING : 0) |
		       (job->record_fd >= 0 ? AB_COPY_FD_RECORD : 0) |
		       (job->stream_fd >= 0 ? AB_COPY_FD_STREAM : 0),
		.flags = job->flags | (o->hashes ? 0 : AB_COPY_NO_HASHES),
		.max_bytes = o->max_bytes,
		.max_files = o->max_files,
		.max_file_bytes = o->max_file_bytes,
		.deadline_ms = o->deadline_ms,
		.max_depth = o->max_depth,
		.content_level = o->content,
		.git_mode = o->git_mode,
		.git_base = o->git_base ? o->git_base : "",
		.git_repository = o->git_repository ? o->git_repository : "",
		.git_head = o->git_head ? o->git_head : "",
		.dest_name = job->dest_name ? job->dest_name : "",
		.record_name = job->record_name ? job->record_name : "",
		.source_name = job->source_name ? job->source_name : "",
		.filter = filter.data,
		.filter_len = filter.len,
	};
	if (!o->git_mode && o->may_be_idle)
		plan.git_repository = plan.git_head = "";
	set_rights(&plan, job, &source);
	if (job->job == AB_COPY_SCRUB)
		plan.deadline_ms = 0; /* half an end is none */
	ab_reader_init(&r, job->choice, job->choice_len);
	if (rc == 0 && job->choice && ab_copy_choice_get(&r, &plan) < 0)
		rc = ab_error_set(err, AGENTBOX_ETAMPERED, "options",
				  "the record's options cannot be read");
	if (job->job == AB_COPY_VERIFY || job->job == AB_COPY_SCRUB) {
		plan.git_mode = AB_COPY_GIT_NONE;
		plan.git_base = plan.git_repository = plan.git_head = "";
	}
	if (rc == 0 && plan.git_mode && job->job != AB_COPY_MAKE &&
	    job->job != AB_COPY_EXPLAIN)
		rc = ab_error_set(err, AGENTBOX_EUNSUPPORTED, "git",
				  "an archive is of a directory; make a "
				  "snapshot of the commit and pack that");
	if (rc == 0)
		rc = ab_snapshot_open_repository(&plan, job->choice,
						 &start->repository_fd, err);
	start->deadline_ms = plan.deadline_ms;
	start->program = helper_of(job->job, plan.git_mode);
	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	if (rc == 0)
		ab_copy_plan_put(&w, &plan);
	if (rc == 0 && w.bad)
		rc = ab_error_set(err, AGENTBOX_ELIMIT, "options",
				  "the plan of the job is too long");
	if (rc == 0) {
		int fd = ab_fd_memfd_sealed("agentbox-copy", w.data, w.len);
		if (fd < 0)
			rc = ab_error_sys(err, -fd, "plan",
					  "cannot make a memfd");
		else
			*plan_fd = fd;
	}
	ab_writer_end(&w);
	ab_writer_end(&filter);
	return rc;
}

static int32_t send_go(agentbox_snapshot *s, const ab_snapshot_job *job,
		       int repository_fd, agentbox_error **err)
{
	const int all[AB_COPY_MAX_FDS] = { job->source_fd, job->dest_fd,
					   job->staging_fd, job->record_fd,
					   job->stream_fd, repository_fd };
	int fds[AB_COPY_MAX_FDS];
	size_t count = 0;
	uint8_t memory[16];
	ab_writer w;

	for (size_t i = 0; i < AB_COPY_MAX_FDS; i++)
		if (all[i] >= 0)
			fds[count++] = all[i];
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_COPY_GO);
	ab_put_u32(&w, (uint32_t)count);
	int sent = ab_message_send(s->helper.control_fd, w.data, w.len, fds,
				   count, 0);
	return sent < 0 ? ab_error_sys_code(err, AGENTBOX_EHELPER, -sent,
					    s->program, "cannot hand %s its "
					    "directories", s->program) :
			  0;
}

static agentbox_snapshot *make(agentbox_context *context,
			       const ab_snapshot_job *job,
			       const agentbox_snapshot_options *o,
			       const job_start *start)
{
	agentbox_snapshot *s = ab_new(agentbox_snapshot);

	if (!s)
		return NULL;
	s->owner = getpid();
	s->context = ab_context_use(context);
	s->audit = o->audit ? agentbox_audit_ref(o->audit) : NULL;
	s->helper = (ab_helper){ .control_fd = -1, .pidfd = -1 };
	s->job = job->job;
	s->program = start->program;
	s->holds = job->flags & AB_COPY_HOLD;
	if (start->deadline_ms)
		s->deadline = ab_clock_boot_ns() +
			      (start->deadline_ms + GRACE_MS) *
				      UINT64_C(1000000);
	s->report_fd = s->staged_fd = -1;
	s->subject = ab_strdup(job->source_name ? job->source_name :
			       job->dest_name ? job->dest_name : "");
	if (!s->subject) {
		agentbox_snapshot_free(s);
		return NULL;
	}
	return s;
}

int32_t ab_snapshot_start(agentbox_context *context,
			  const ab_snapshot_job *job, agentbox_snapshot **out,
			  agentbox_error **err)
{
	agentbox_snapshot_options defaults;
	const agentbox_snapshot_options *o = job->options;
	ab_autofd int plan_fd = -1;

	if (!o) {
		ab_snapshot_options_init(&defaults);
		o = &defaults;
	}
	job_start start = { .repository_fd = -1 };
	int32_t rc = make_plan(job, o, &plan_fd, &start, err);
	ab_autofd int repository_fd = start.repository_fd;
	if (rc < 0)
		return rc;
	ab_auto(agentbox_snapshot) *s = make(context, job, o, &start);
	if (!s)
		return ab_error_nomem(err);
	rc = record(s, "snapshot.start", "allow", err);
	if (rc == 0)
		rc = ab_helper_start(context, s->program, plan_fd,
				     START_TIMEOUT_MS, &s->helper, err);
	if (rc == 0)
		rc = send_go(s, job, repository_fd, err);
	if (rc < 0)
		return rc;
	*out = ab_steal(&s);
	return 0;
}
