/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader: walks, compares, reads what is new, and reports. It can write
 * nothing but the ring and the report. Spec: job.h, DESIGN.md section 8.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/alloc.h"
#include "reading.h"

typedef struct step_level {
	int fd;
	uint32_t index, next;
	size_t path_len;
	bool entered;
	struct stat st;
} step_level;

/* The pass over the tree; below `reading` because only this file steps. */
typedef struct passing {
	reading g;
	step_level levels[COPY_MAX_DEPTH + 1];
	size_t depth;
} passing;

static void put_dir(passing *p, const step_level *l)
{
	reading *g = &p->g;
	const entry *e = &g->tree.entries[l->index];
	ring_record *r = ring_reserve(&g->job->ring, e->name_len, 0);

	memset(r, 0, sizeof(*r));
	r->kind = RING_DIR;
	r->name_len = e->name_len;
	r->source.ino = e->ino;
	r->source.mode = l->st.st_mode;
	r->source.mtime_ns = time_ns(&l->st.st_mtim);
	memcpy(ring_name(r), entry_name(&g->tree, e), e->name_len);
	ring_commit(&g->job->ring, r);
}

static void put_plain(reading *g, enum ring_kind kind)
{
	ring_record *r = ring_reserve(&g->job->ring, 0, 0);

	memset(r, 0, sizeof(*r));
	r->kind = kind;
	ring_commit(&g->job->ring, r);
}

/* `g` is the first member of its passing. */
static void enter_all(reading *g)
{
	passing *p = (passing *)(void *)g;

	for (size_t i = 1; i < p->depth; i++) {
		if (!p->levels[i].entered)
			put_dir(p, &p->levels[i]);
		p->levels[i].entered = true;
	}
	g->is_pending = false;
}

static void look_for_pending(passing *p)
{
	p->g.is_pending = false;
	for (size_t i = 1; i < p->depth; i++)
		p->g.is_pending |= !p->levels[i].entered;
}

static void leave(entry *e, enum ab_left_out reason)
{
	if (e->reason == AB_KEPT) {
		e->reason = (uint8_t)reason;
		e->rule = 0;
		e->tier = 0;
	}
	e->flags = (uint8_t)((e->flags | ENTRY_SKIPPED) & ~ENTRY_PASSAGE);
	e->count = 0;
}

static int go_down(passing *p, uint32_t index)
{
	reading *g = &p->g;
	step_level *l = &p->levels[p->depth];
	entry *e = &g->tree.entries[index];

	memset(l, 0, sizeof(*l));
	l->fd = open_beneath(p->depth ? l[-1].fd : g->walk.root_fd,
			     p->depth ? entry_name(&g->tree, e) : ".",
			     O_PATH | O_DIRECTORY);
	if (l->fd < 0 && reason_of(-l->fd) == AB_OUT_REASONS)
		return copy_fail(&g->failure, AGENTBOX_ESYS, -l->fd,
				 g->path.text, "cannot open the directory");
	if (l->fd < 0) {
		leave(e, AB_OUT_RACED);
		return 0;
	}
	if (fstat(l->fd, &l->st) || (p->depth && l->st.st_ino != e->ino)) {
		close(l->fd);
		leave(e, AB_OUT_RACED);
		return 0;
	}
	l->index = index;
	l->path_len = g->path.len;
	l->entered = p->depth == 0;
	p->depth++;
	if (g->pass != PASS_BUILD)
		return 0;
	if (e->flags & ENTRY_PASSAGE)
		g->is_pending = true;
	else
		enter_all(g);
	return 0;
}

static void go_up(passing *p)
{
	step_level *l = &p->levels[--p->depth];

	close(l->fd);
	if (p->g.pass == PASS_BUILD && l->entered && p->depth)
		put_plain(&p->g, RING_UP);
	look_for_pending(p);
}

static int link_file(passing *p, const entry *e)
{
	reading *g = &p->g;
	ab_record_cursor at = { .pos = (size_t)e->first * 8 };
	ab_record_entry was;
	const char *text;
	ring_record *r;

	if (ab_record_next(&g->job->old, &at, &was, &text) != 1)
		return copy_fail(&g->failure, AGENTBOX_ETAMPERED, 0,
				 g->path.text, "the record changed");
	if (was.size > g->job->plan.max_bytes - g->bytes)
		return copy_fail(&g->failure, AGENTBOX_ELIMIT, 0,
				 g->path.text,
				 "max_bytes: more than may be copied");
	enter_all(g);
	r = ring_reserve(&g->job->ring, e->name_len, 0);
	memset(r, 0, sizeof(*r));
	r->kind = RING_LINK;
	r->name_len = e->name_len;
	r->source = was;
	memcpy(ring_name(r), entry_name(&g->tree, e), e->name_len);
	ring_commit(&g->job->ring, r);
	g->bytes += was.size;
	g->counts.linked++;
	g->counts.files++;
	atomic_fetch_add(&g->job->counters->files, 1);
	atomic_store(&g->job->counters->bytes, g->bytes);
	return 0;
}

static int pass_file(passing *p, int dirfd, uint32_t index)
{
	const entry *e = &p->g.tree.entries[index];

	if (e->reason != AB_KEPT && !e->proof)
		return 0;
	if (e->flags & ENTRY_MATCH)
		return p->g.pass == PASS_BUILD ? link_file(p, e) : 0;
	return read_file(&p->g, dirfd, index, enter_all);
}

static int pass_dir(passing *p, uint32_t index)
{
	reading *g = &p->g;

	if (walk_reach(&g->walk, index))
		return -1;
	return is_walked(&g->tree.entries[index]) ? go_down(p, index) : 0;
}

static int pass_step(passing *p)
{
	reading *g = &p->g;
	step_level *l = &p->levels[p->depth - 1];
	const entry *dir = &g->tree.entries[l->index];
	const entry *e;
	uint32_t index;
	int r = 0;

	path_pop(&g->path, l->path_len);
	if (l->next == dir->count) {
		go_up(p);
		return 0;
	}
	index = dir->first + l->next++;
	e = &g->tree.entries[index];
	if (!path_push(&g->path, entry_name(&g->tree, e), e->name_len))
		return 0;
	if (e->kind == ENTRY_FILE)
		r = pass_file(p, l->fd, index);
	else if (e->kind == ENTRY_DIR)
		r = pass_dir(p, index);
	/* nothing is gained by more files now */
	if (r == 0 && ring_is_behind(&g->job->ring))
		r = walk_step(&g->walk);
	return r;
}

static int run_pass(passing *p, enum pass pass)
{
	reading *g = &p->g;
	int r;

	g->pass = pass;
	g->bytes = 0;
	g->finds_new = false;
	memset(&g->counts, 0, sizeof(g->counts));
	atomic_store(&g->job->counters->phase, AB_PHASE_COPY);
	atomic_store(&g->job->counters->files, 0);
	path_pop(&g->path, 0);
	r = go_down(p, 0);
	while (r == 0 && p->depth &&
	       !(pass == PASS_PROBE && g->finds_new))
		r = pass_step(p);
	while (p->depth)
		close(p->levels[--p->depth].fd);
	if (r == 0)
		r = walk_finish(&g->walk);
	if (r == 0 && pass == PASS_BUILD) {
		put_plain(g, RING_FINISH);
		ring_end(&g->job->ring);
	}
	return r;
}

/* --- the report ----------------------------------------------------------- */

static bool has_finding(const entry *e)
{
	return e->reason == AB_OUT_CONTENT || (e->flags & ENTRY_ADMITTED);
}

static void report_entry(reading *g, ab_report *report, const entry *e)
{
	const ab_report_left why = {
		.reason = (enum ab_left_out)e->reason,
		.rule = g->tree.rules[e->rule],
		.tier = (char)e->tier,
		.line = e->kind == ENTRY_FILE && has_finding(e) ? e->count
								: 0,
	};

	ab_report_left_out(report, g->path.text, g->path.len, &why);
	if (e->reason == AB_KEPT) {
		g->counts.admitted++;
		return;
	}
	g->counts.left_out++;
	if (e->reason == AB_OUT_TORN)
		g->counts.torn++;
	if (e->reason == AB_OUT_RACED)
		g->counts.raced++;
}

static void report_below(reading *g, ab_report *report, uint32_t index)
{
	const entry *dir = &g->tree.entries[index];

	for (uint32_t i = 0; i < dir->count; i++) {
		const entry *e = &g->tree.entries[dir->first + i];
		size_t len = g->path.len;
		bool fits = path_push(&g->path, entry_name(&g->tree, e),
				      e->name_len);

		/* whose path is too long is told as where it is */
		if (e->reason != AB_KEPT || (e->flags & ENTRY_ADMITTED))
			report_entry(g, report, e);
		/* depth is bounded by COPY_MAX_DEPTH */
		if (fits && is_walked(e))
			report_below(g, report, dir->first + i);
		path_pop(&g->path, len);
	}
}

static int make_report(reading *g)
{
	ab_report report;
	int fd;

	if (ab_report_begin(&report))
		return -ENOMEM;
	path_pop(&g->path, 0);
	report_below(g, &report, 0);
	fd = ab_report_seal(&report);
	ab_report_end(&report);
	return fd;
}

/* --- the job -------------------------------------------------------------- */

static int prepare(reading *g)
{
	const ab_copy_plan *plan = &g->job->plan;
	agentbox_error *err = NULL;
	ab_reader r;
	int32_t rc;

	ab_reader_init(&r, plan->filter, plan->filter_len);
	rc = ab_filter_get(&r, &g->filter, &err);
	if (rc < 0)
		return copy_fail(&g->failure, rc, 0,
				 agentbox_error_get_where(err),
				 agentbox_error_get_message(err));
	g->content = ab_content_new();
	g->scratch = ab_calloc(RING_DATA_MAX + 8, 1);
	if (!g->content || !g->scratch)
		return copy_fail(&g->failure, AGENTBOX_ENOMEM, 0, "reader",
				 "out of memory");
	g->walk = (walk){ .job = g->job,
			  .filter = g->filter,
			  .failure = &g->failure,
			  .tree = &g->tree,
			  .root_fd = g->job->source_fd };
	g->job->ring.settle = hash_owed;
	g->job->ring.settle_data = g;
	return 0;
}

static int explain(passing *p)
{
	if (run_pass(p, PASS_EXPLAIN))
		return -1;
	p->g.counts.directories = p->g.tree.kept_dirs - 1;
	p->g.counts.bytes = p->g.bytes;
	return 0;
}

static int make(passing *p, int sock)
{
	reading *g = &p->g;
	bool same = g->job->has_old && compare_with_record(g);

	/* nothing differs but what the record does not know: look at it */
	if (same && g->unknown && run_pass(p, PASS_PROBE))
		return -1;
	if (same && !g->finds_new) {
		memset(&g->counts, 0, sizeof(g->counts));
		g->counts.unchanged = 1;
		return 0;
	}
	if (copy_send_word(sock, COPY_WORD_BUILD, NULL, 0, NULL, 0))
		return copy_fail(&g->failure, AGENTBOX_ESYS, EPIPE, "reader",
				 "nobody listens");
	return run_pass(p, PASS_BUILD);
}

static int read_all(passing *p, int sock)
{
	reading *g = &p->g;
	int fd, r;

	atomic_store(&g->job->counters->phase, AB_PHASE_WALK);
	if (prepare(g) || walk_begin(&g->walk))
		return -1;
	/*
	 * A first copy need not wait for the whole walk: what a directory has
	 * is judged when it is listed, and a file with a second name waits
	 * for the end (inodes.c).
	 */
	if ((g->job->has_old || g->job->plan.job != AB_COPY_MAKE) &&
	    walk_finish(&g->walk))
		return -1;
	r = g->job->plan.job == AB_COPY_EXPLAIN ? explain(p) : make(p, sock);
	if (r)
		return r;
	fd = make_report(g);
	if (fd < 0)
		return copy_fail(&g->failure, AGENTBOX_ESYS, -fd, "report",
				 "cannot make the report");
	r = copy_send_word(sock, COPY_WORD_READ, &g->counts,
			   sizeof(g->counts), &fd, 1);
	close(fd);
	return r ? copy_fail(&g->failure, AGENTBOX_ESYS, -r, "report",
			     "cannot send the report")
		 : 0;
}

void copy_reader(copy_job *job, int sock)
{
	const copy_place place = { { job->source_fd, -1, -1 }, false,
				   job->supervisor };
	passing *p = ab_new(passing);
	const char *stage = "memory";
	int r = p ? copy_take_role(COPY_READER, &job->plan, &place, &stage)
		  : -ENOMEM;
	copy_failure f;

	if (r) {
		(void)copy_fail(&f, AGENTBOX_EWALL, -r, stage,
				"the reader cannot take the source's rights");
		copy_send_failure(sock, &f);
		_exit(1);
	}
	p->g.job = job;
	if (read_all(p, sock)) {
		copy_send_failure(sock, &p->g.failure);
		_exit(1);
	}
	/* the memory goes with the process */
	_exit(0);
}
