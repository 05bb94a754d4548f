/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The jobs of agentbox-archive, as their supervisor. A pack is a copy whose
 * writer writes an archive. An unpack has two stages: parser and extractor
 * make a private tree of an archive, and when both are gone that tree is
 * copied as any other is; only the copy is published. Spec: archives.h,
 * wire/copy.h.
 */
#include "config.h"

#include "archives.h"

#include <errno.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "staging.h"

const char copy_program[] = "agentbox-archive";

/* --- pack ----------------------------------------------------------------- */

static int start_packing(supervision *s)
{
	int r = copy_send_word(s->writer.sock, COPY_WORD_START, NULL, 0, NULL,
			       0);

	return r ? copy_fail(&s->failure, AGENTBOX_EHELPER, -r, "packer",
			     "cannot start the packer")
		 : 0;
}

int copy_pack(supervision *s)
{
	s->begin = start_packing;
	if (copy_start_reader(s) ||
	    copy_start(s, &s->writer, copy_packer, s->job->stream_fd, -1) ||
	    copy_supervisor_role(s))
		return -1;
	return copy_wait_for_both(s);
}

/* --- unpack --------------------------------------------------------------- */

/* The first stage's end is the second's begin. */
static void read_when_told(copy_job *job, int sock, const int fds[2])
{
	enum copy_word word;
	size_t count = 0;
	char none[1];

	(void)fds; /* job->source_fd */
	ring_leave(&job->other);
	if (copy_receive_word(sock, &word, none, sizeof(none), NULL, 0, &count,
			      0) != 0 ||
	    word != COPY_WORD_START)
		_exit(1);
	copy_reader(job, sock);
}

typedef struct unpacking {
	supervision *s;
	char name[STAGING_NAME]; /* of the tree as it is in the archive */
	int spool_fd;
	helper reader, writer; /* of the second stage */
} unpacking;

static int fail(const unpacking *u, int sys_errno, const char *message)
{
	return copy_fail(&u->s->failure, AGENTBOX_ESYS, sys_errno, "staging",
			 message);
}

/* Where the archive goes before it is judged: private, swept if we die. */
static int make_places(unpacking *u)
{
	copy_job *job = u->s->job;
	const ab_copy_plan *p = &job->plan;
	char name[STAGING_NAME];

	job->source_fd = staging_make_dir(job, job->staging_fd, u->name);
	if (job->source_fd < 0)
		return fail(u, -job->source_fd, "cannot make a directory");
	if ((p->source_uid != UINT32_MAX || p->source_gid != UINT32_MAX) &&
	    fchown(job->source_fd, p->source_uid, p->source_gid))
		return fail(u, errno, "cannot give the directory away");
	u->spool_fd = staging_make_file(job, job->staging_fd, name);
	if (u->spool_fd < 0)
		return fail(u, -u->spool_fd, "cannot make a file");
	return unlinkat(job->staging_fd, name, 0)
		       ? fail(u, errno, "cannot make a file")
		       : 0;
}

/* Each stage has a ring of its own, which the other cannot touch. */
static void swap_rings(copy_job *job)
{
	ring r = job->ring;

	job->ring = job->other;
	job->other = r;
}

static int start_stages(unpacking *u)
{
	supervision *s = u->s;
	copy_job *job = s->job;
	int r = ring_make(&job->other);

	if (r)
		return fail(u, -r, "no memory for a ring");
	if (copy_start(s, &s->reader, read_when_told, job->source_fd, -1) ||
	    copy_start_writer(s))
		return -1;
	u->reader = s->reader;
	u->writer = s->writer;
	s->reader = s->writer = (helper){ .pidfd = -1, .sock = -1 };
	swap_rings(job);
	r = copy_start(s, &s->reader, copy_parser, job->stream_fd,
		       u->spool_fd) ||
	    copy_start(s, &s->writer, copy_extractor, job->source_fd, -1);
	swap_rings(job);
	return r ? -1 : copy_supervisor_role(s);
}

static int run_stages(unpacking *u)
{
	supervision *s = u->s;
	int r;

	s->is_parsing = s->writer.wanted = true;
	if (copy_wait_for_both(s))
		return -1;
	copy_stop(&s->reader);
	copy_stop(&s->writer);
	s->reader = u->reader;
	s->writer = u->writer;
	u->reader = u->writer = (helper){ .pidfd = -1, .sock = -1 };
	s->is_parsing = s->has_wrote = false;
	r = copy_send_word(s->reader.sock, COPY_WORD_START, NULL, 0, NULL, 0);
	return r ? copy_fail(&s->failure, AGENTBOX_EHELPER, -r, "reader",
			     "cannot start the reader")
		 : copy_make(s);
}

int copy_unpack(supervision *s)
{
	copy_job *job = s->job;
	unpacking u = { .s = s,
			.spool_fd = -1,
			.reader = { .pidfd = -1, .sock = -1 },
			.writer = { .pidfd = -1, .sock = -1 } };
	int r;

	if (job->plan.flags & AB_COPY_REPLACE)
		return copy_fail(&s->failure, AGENTBOX_EUNSUPPORTED, 0, "job",
				 "an archive makes a first generation only");
	staging_sweep(job->staging_fd);
	staging_sweep(job->record_fd);
	r = copy_open_old(s) || make_places(&u) || start_stages(&u) ||
			    run_stages(&u)
		    ? -1
		    : 0;
	copy_stop(&s->reader);
	copy_stop(&s->writer);
	copy_stop(&u.reader);
	copy_stop(&u.writer);
	if (u.name[0])
		(void)staging_remove(job->staging_fd, u.name, false, NULL);
	return r;
}
