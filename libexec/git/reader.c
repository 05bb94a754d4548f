/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of agentbox-git, in the place of that of agentbox-copy
 * (libexec/copy/job.h): a commit of a repository instead of a directory. It
 * has the source's rights to read, the ring, and a spool; supervisor and
 * writer are the same, and with them staging, publishing and what a kill
 * leaves. Nothing here runs a program, a hook or a filter, or reads a
 * configuration. Spec: DESIGN.md section 8, cases 68, 76-89.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/alloc.h"
#include "base/fd.h"
#include "build.h"
#include "supervise.h"

/* All that parsing may take, maps of a source's packs among it. */
#define MEMORY_MAX ((rlim_t)16 << 30)

typedef struct git_reading {
	copy_job *job;
	int sock;
	copy_failure failure;
	git_place place;
	objects objects;
	ab_filter *filter;
	side head, base;
	build build;
	int64_t committed; /* when, says the source */
	uint8_t head_id[OID_SIZE], base_id[OID_SIZE];
	uint8_t state[AB_SHA256_SIZE];
	char *ignore; /* the directory's own patterns */
	size_t ignore_len;
} git_reading;

static bool has_base(const git_reading *g)
{
	return g->job->plan.git_mode == AB_COPY_GIT_RANGE;
}

/* --- a file that shrinks while it is mapped ------------------------------ */

static int bus_sock = -1;
static copy_failure bus_failure;

static void on_bus(int number)
{
	(void)number;
	copy_send_failure(bus_sock, &bus_failure);
	_exit(1);
}

static void catch_bus(int sock)
{
	struct sigaction action = { .sa_handler = on_bus };

	bus_sock = sock;
	(void)copy_fail(&bus_failure, AGENTBOX_EPARSE, 0, ".git/objects",
			"the repository changed while it was read");
	(void)sigaction(SIGBUS, &action, NULL);
}

/* --- which commits ------------------------------------------------------- */

static int read_ignore(git_reading *g)
{
	int fd = open_beneath(g->job->source_fd, AB_FILTER_IGNORE_NAME,
			      O_RDONLY | O_NONBLOCK);
	struct stat st;
	int r;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	r = ab_fd_slurp(fd, AB_FILTER_IGNORE_MAX, &g->ignore, &g->ignore_len);
	close(fd);
	if (r == -EFBIG)
		return copy_fail(&g->failure, AGENTBOX_ELIMIT, 0,
				 AB_FILTER_IGNORE_NAME, "it is over 64 KiB");
	return r ? copy_fail(&g->failure, AGENTBOX_ESYS, -r,
			     AB_FILTER_IGNORE_NAME, "cannot read it")
		 : 0;
}

static int find_base(git_reading *g, git_commit *head)
{
	const char *name = g->job->plan.git_base;
	git_commit *base = NULL;
	uint8_t oid[OID_SIZE];
	git_oid id;
	int r;

	if (place_resolve(&g->place, name, oid) ||
	    objects_peel(&g->objects, oid, name, &base))
		return -1;
	r = git_merge_base(&id, g->objects.repo, git_commit_id(head),
			   git_commit_id(base));
	git_commit_free(base);
	if (r == GIT_ENOTFOUND && !g->place.is_shallow &&
	    !g->place.is_partial && !g->place.borrows)
		return copy_fail(&g->failure, AGENTBOX_ENOTFOUND, 0, name,
				 "the head and the base have no commit in "
				 "common, or an object of their history is "
				 "missing");
	if (r)
		return objects_fail(&g->objects, NULL, name, r);
	memcpy(g->base_id, id.id, OID_SIZE);
	return 0;
}

static int find_commits(git_reading *g, git_commit **head)
{
	const copy_job *job = g->job;
	bool is_named = job->repository_fd >= 0;
	const char *name = is_named ? job->plan.git_head : "HEAD";
	uint8_t oid[OID_SIZE];
	int r = is_named ? place_open_named(&g->place, job->repository_fd,
					    &g->failure)
			 : place_open(&g->place, job->source_fd, &g->failure);

	if (r || objects_open(&g->objects, &g->place, &g->failure) ||
	    place_head(&g->place, name, oid) ||
	    objects_peel(&g->objects, oid, name, head))
		return -1;
	memcpy(g->head_id, git_commit_id(*head)->id, OID_SIZE);
	g->committed = git_commit_time(*head);
	return has_base(g) ? find_base(g, *head) : 0;
}

/* What a refresh compares: the commits, and the patterns beside them. */
static void digest_state(git_reading *g)
{
	ab_sha256_stream s;

	ab_sha256_begin(&s, g->job->hash);
	ab_sha256_add(&s, g->head_id, OID_SIZE);
	ab_sha256_add(&s, g->base_id, OID_SIZE);
	if (g->ignore_len)
		ab_sha256_add(&s, g->ignore, g->ignore_len);
	ab_sha256_end(&s, g->state);
}

/* --- the sides ----------------------------------------------------------- */

static int list_side(git_reading *g, side *s, const char *called,
		     const git_commit *commit)
{
	const uint8_t *id = git_commit_tree_id(commit)->id;

	s->called = called;
	if (g->ignore && side_add_ignore(s, &g->objects, g->ignore,
					 g->ignore_len))
		return -1;
	/* what either side says is to be left out, is */
	if (s == &g->base &&
	    side_add_own_ignore(s, &g->objects, g->head.nodes[0].oid))
		return -1;
	if (side_add_own_ignore(s, &g->objects, id))
		return -1;
	return side_list(s, g->job, &g->objects, g->filter, id);
}

static int list_sides(git_reading *g, const git_commit *head)
{
	git_commit *base = NULL;
	git_oid id;
	int r;

	if (list_side(g, &g->head, "head", head))
		return -1;
	if (!has_base(g))
		return 0;
	memcpy(id.id, g->base_id, OID_SIZE);
	r = git_commit_lookup(&base, g->objects.repo, &id);
	if (r)
		return objects_fail(&g->objects, g->base_id, "base", r);
	r = list_side(g, &g->base, "base", base);
	git_commit_free(base);
	return r;
}

/* --- the job ------------------------------------------------------------- */

static int64_t time_of(int64_t committed)
{
	/* what an index holds is 32 bits, and 0 stands for nothing; its own
	   time is a second later, which is not to come */
	if (committed < 2)
		committed = 2;
	if (committed > INT32_MAX)
		committed = INT32_MAX;
	return (committed - 1) * INT64_C(1000000000);
}

static int prepare(git_reading *g)
{
	const ab_copy_plan *plan = &g->job->plan;
	agentbox_error *err = NULL;
	build *b = &g->build;
	ab_reader r;
	int32_t rc;

	ab_reader_init(&r, plan->filter, plan->filter_len);
	rc = ab_filter_get(&r, &g->filter, &err);
	if (rc < 0)
		return copy_fail(&g->failure, rc, 0,
				 agentbox_error_get_where(err),
				 agentbox_error_get_message(err));
	b->job = b->emitter.job = g->job;
	b->failure = &g->failure;
	b->objects = &g->objects;
	b->filter = g->filter;
	b->content = ab_content_new();
	b->head = &g->head;
	b->base = has_base(g) ? &g->base : NULL;
	b->is_sent = plan->job == AB_COPY_MAKE;
	b->out.spool = -1;
	return b->content ? 0
			  : copy_fail(&g->failure, AGENTBOX_ENOMEM, 0,
				      "reader", "out of memory");
}

static int begin_making(git_reading *g)
{
	int fd = g->job->spool_fd >= 0
			 ? g->job->spool_fd
			 : memfd_create("agentbox-pack", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : out_begin(&g->build.out, fd);

	if (r)
		return copy_fail(&g->failure, AGENTBOX_ESYS, -r, "repository",
				 "cannot make the pack");
	g->build.emitter.mtime_ns = time_of(g->committed);
	if (copy_send_word(g->sock, COPY_WORD_BUILD, NULL, 0, NULL, 0))
		return copy_fail(&g->failure, AGENTBOX_ESYS, EPIPE, "reader",
				 "nobody listens");
	return 0;
}

static int make(git_reading *g, const git_commit *head)
{
	const ab_record_tail *old = &g->job->old.tail;

	if (g->build.is_sent && g->job->has_old &&
	    memcmp(old->state, g->state, sizeof(old->state)) == 0) {
		g->build.counts.unchanged = 1;
		return 0;
	}
	if (list_sides(g, head) || (g->build.is_sent && begin_making(g)))
		return -1;
	return build_all(&g->build);
}

static int report(git_reading *g)
{
	ab_report report;
	build *b = &g->build;
	int fd, r;

	if (ab_report_begin(&report))
		return copy_fail(&g->failure, AGENTBOX_ENOMEM, 0, "report",
				 "out of memory");
	if (g->head.nodes && !b->counts.unchanged)
		build_report(b, &report);
	fd = ab_report_seal(&report);
	ab_report_end(&report);
	b->counts.git.has_head = 1;
	b->counts.git.has_base = has_base(g);
	memcpy(b->counts.git.source_head, g->head_id, OID_SIZE);
	memcpy(b->counts.git.source_base, g->base_id, OID_SIZE);
	memcpy(b->counts.git.head, b->head_made, OID_SIZE);
	memcpy(b->counts.git.base, b->base_made, OID_SIZE);
	memcpy(b->counts.git.state, g->state, sizeof(g->state));
	r = fd < 0 ? fd
		   : copy_send_word(g->sock, COPY_WORD_READ, &b->counts,
				    sizeof(b->counts), &fd, 1);
	return r ? copy_fail(&g->failure, AGENTBOX_ESYS, -r, "report",
			     "cannot make the report")
		 : 0;
}

static int read_all(git_reading *g)
{
	git_commit *head = NULL;

	atomic_store(&g->job->counters->phase, AB_PHASE_WALK);
	if (prepare(g) || read_ignore(g) || find_commits(g, &head))
		return -1;
	digest_state(g);
	return make(g, head) ? -1 : report(g);
}

static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct rlimit memory = { MEMORY_MAX, MEMORY_MAX };

	(void)setrlimit(RLIMIT_AS, &memory);
#endif
}

void copy_reader(copy_job *job, int sock)
{
	const copy_place place = { { job->source_fd, job->repository_fd, -1 },
				   false, job->supervisor };
	git_reading *g = ab_new(git_reading);
	const char *stage = "libgit2";
	int r = g && objects_init() == 0 ? 0 : -ENOMEM;
	copy_failure f;

	catch_bus(sock);
	limit_memory();
	if (r == 0)
		r = copy_take_role(COPY_READER, &job->plan, &place, &stage);
	if (r) {
		(void)copy_fail(&f, AGENTBOX_EWALL, -r, stage,
				"the reader cannot take the source's rights");
		copy_send_failure(sock, &f);
		_exit(1);
	}
	g->job = job;
	g->sock = sock;
	if (read_all(g)) {
		copy_send_failure(sock, &g->failure);
		_exit(1);
	}
	/* the memory goes with the process */
	_exit(0);
}

const char copy_program[] = "agentbox-git";

/* The program is agentbox-copy's but for the reader: what has none of it is
   asked there. */
void copy_verifier(copy_job *job, int sock, int tree_fd)
{
	copy_failure f;

	(void)job;
	(void)tree_fd;
	(void)copy_fail(&f, AGENTBOX_EUNSUPPORTED, 0, "job",
			"agentbox-copy verifies");
	copy_send_failure(sock, &f);
	_exit(1);
}

static int refuse(supervision *s)
{
	return copy_fail(&s->failure, AGENTBOX_EUNSUPPORTED, 0, "job",
			 "archives are agentbox-archive's");
}

int copy_pack(supervision *s)
{
	return refuse(s);
}

int copy_unpack(supervision *s)
{
	return refuse(s);
}
