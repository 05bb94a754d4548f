/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A snapshot against its manifest: every file that is listed is there with
 * its mode, size and bytes, nothing else is, and all of it belongs to one
 * owner. The manifest itself is compared with the record when the host has
 * one. Reads only. Spec: wire/copy.h (VERIFY), snapshot/manifest.h.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/alloc.h"
#include "base/attr.h"
#include "snapshot/manifest.h"
#include "snapshot/report.h"
#include "tree.h"

#define MANIFEST_PATH AB_MANIFEST_DIR "/" AB_MANIFEST_NAME
#define BUFFER_SIZE ((size_t)1 << 20)
#define MANIFEST_MAX ((size_t)4 << 30)

typedef struct verifying {
	copy_job *job;
	copy_failure failure;
	tree tree;
	walk walk;
	ab_report report;
	ab_manifest_reader manifest;
	ab_manifest_entry next; /* of the manifest, when has_next */
	bool has_next, has_repository;
	int tree_fd;
	uid_t owner;
	path path;
	uint8_t *buffer; /* owned */
	copy_read counts;
} verifying;

static void problem(verifying *g, const char *p, size_t n, const char *what)
{
	ab_report_problem(&g->report, p, n, what);
	g->counts.left_out++;
}

static void here(verifying *g, const char *what)
{
	problem(g, g->path.text, g->path.len, what);
}

static void advance(verifying *g)
{
	int r = ab_manifest_next(&g->manifest, &g->next);

	g->has_next = r == 1;
	if (r < 0)
		problem(g, MANIFEST_PATH, strlen(MANIFEST_PATH), "format");
}

/* -errno, or 0 with the sum. */
static int hash_file(verifying *g, int fd, uint8_t sum[AB_SHA256_SIZE])
{
	ab_sha256_stream s;

	ab_sha256_begin(&s, g->job->hash);
	for (;;) {
		ssize_t n = read(fd, g->buffer, BUFFER_SIZE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		ab_sha256_add(&s, g->buffer, (size_t)n);
	}
	ab_sha256_end(&s, sum);
	return 0;
}

static void check_file(verifying *g, const ab_manifest_entry *e)
{
	ab_autofd int fd = open_beneath(g->tree_fd, g->path.text,
					O_RDONLY | O_NONBLOCK);
	uint8_t sum[AB_SHA256_SIZE];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		here(g, "unreadable");
		return;
	}
	if ((st.st_mode & 07777) != e->mode)
		here(g, "mode");
	if (st.st_uid != g->owner)
		here(g, "owner");
	if ((uint64_t)st.st_size != e->size)
		here(g, "size");
	else if (e->has_hash &&
		 (hash_file(g, fd, sum) ||
		  memcmp(sum, e->sha256, sizeof(sum)) != 0))
		here(g, "content");
	g->counts.bytes += (uint64_t)st.st_size;
}

static void visit_file(verifying *g)
{
	while (g->has_next) {
		int by = ab_record_order(g->next.path, g->next.path_len,
					 g->path.text, g->path.len);

		if (by > 0)
			break;
		if (by == 0) {
			check_file(g, &g->next);
			advance(g);
			return;
		}
		problem(g, g->next.path, g->next.path_len, "missing");
		advance(g);
	}
	here(g, "extra");
}

static void visit_dir(verifying *g)
{
	ab_autofd int fd = open_beneath(g->tree_fd, g->path.text,
					O_RDONLY | O_DIRECTORY);
	struct stat st;

	g->counts.directories++;
	if (fd < 0 || fstat(fd, &st))
		here(g, "unreadable");
	else if ((st.st_mode & 07777) != 0555)
		here(g, "mode");
	else if (st.st_uid != g->owner)
		here(g, "owner");
}

/* A repository that was made has a list of its own. */
static bool is_elsewhere(const verifying *g)
{
	return strcmp(g->path.text, AB_MANIFEST_DIR) == 0 ||
	       (g->has_repository && strcmp(g->path.text, ".git") == 0);
}

static void visit_below(verifying *g, uint32_t index)
{
	const tree *t = &g->tree;
	const entry *dir = &t->entries[index];

	for (uint32_t i = 0; i < dir->count; i++) {
		const entry *e = &t->entries[dir->first + i];
		size_t len = g->path.len;

		if (!path_push(&g->path, entry_name(t, e), e->name_len))
			continue;
		if (is_elsewhere(g)) {
			/* judged on its own */
		} else if (e->kind == ENTRY_FILE) {
			g->counts.files++;
			visit_file(g);
		} else if (is_walked(e)) {
			visit_dir(g);
			/* depth is bounded by COPY_MAX_DEPTH */
			visit_below(g, dir->first + i);
		} else {
			here(g, "kind");
		}
		path_pop(&g->path, len);
	}
}

/* Nothing lies beside the manifest. */
static void check_own_place(verifying *g)
{
	ab_autofd int fd = open_beneath(g->tree_fd, AB_MANIFEST_DIR,
					O_RDONLY | O_DIRECTORY);
	long n = 0;

	while (fd >= 0 && (n = read_names(fd, g->buffer)) > 0) {
		for (long at = 0; at < n;) {
			const raw_dirent *d = (const void *)(g->buffer + at);

			at += d->len;
			if (strcmp(d->name, ".") == 0 ||
			    strcmp(d->name, "..") == 0 ||
			    strcmp(d->name, AB_MANIFEST_NAME) == 0 ||
			    (g->has_repository &&
			     strcmp(d->name, AB_MANIFEST_REPOSITORY) == 0))
				continue;
			problem(g, AB_MANIFEST_DIR, strlen(AB_MANIFEST_DIR),
				"extra");
		}
	}
	if (n < 0)
		problem(g, AB_MANIFEST_DIR, strlen(AB_MANIFEST_DIR),
			"unreadable");
}

/* One list: its lines are taken from then on. `known` NULL: by nobody. */
static int open_list(verifying *g, const char *at, const uint8_t *known)
{
	ab_autofd int fd = open_beneath(g->tree_fd, at, O_RDONLY);
	uint8_t sum[AB_SHA256_SIZE];
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size > MANIFEST_MAX || st.st_size == 0) {
		problem(g, at, strlen(at), "missing");
		return 0;
	}
	if (st.st_uid != g->owner)
		problem(g, at, strlen(at), "owner");
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return copy_fail(&g->failure, AGENTBOX_ESYS, errno, at,
				 "cannot read the manifest");
	g->job->hash(map, (size_t)st.st_size, sum);
	if (known && memcmp(sum, known, sizeof(sum)) != 0)
		problem(g, at, strlen(at), "content");
	if (ab_manifest_open(&g->manifest, map, (size_t)st.st_size))
		problem(g, at, strlen(at), "format");
	else
		advance(g);
	return 0;
}

static void visit_missing(verifying *g)
{
	for (; g->has_next; advance(g))
		problem(g, g->next.path, g->next.path_len, "missing");
}

static int verify_tree(verifying *g)
{
	const ab_record_tail *tail = &g->job->old.tail;

	if (open_list(g, MANIFEST_PATH, g->job->has_old ? tail->manifest
							: NULL))
		return -1;
	g->has_repository = g->manifest.head.has_head;
	check_own_place(g);
	visit_below(g, 0);
	visit_missing(g);
	return 0;
}

/* ".git", which is there and nowhere else but at the root. */
static int verify_repository(verifying *g)
{
	static const char at[] = AB_MANIFEST_DIR "/" AB_MANIFEST_REPOSITORY;
	const ab_record_tail *tail = &g->job->old.tail;
	const tree *t = &g->tree;
	const entry *root = &t->entries[0];

	uint64_t files = g->counts.files;

	if (!g->has_repository)
		return 0;
	if (open_list(g, at, g->job->has_old ? tail->git.repository : NULL))
		return -1;
	g->has_repository = false;
	for (uint32_t i = 0; i < root->count; i++) {
		const entry *e = &t->entries[root->first + i];

		if (strcmp(entry_name(t, e), ".git") != 0 || !is_walked(e) ||
		    !path_push(&g->path, entry_name(t, e), e->name_len))
			continue;
		visit_dir(g);
		visit_below(g, root->first + i);
		path_pop(&g->path, 0);
	}
	visit_missing(g);
	/* those of the source are told */
	g->counts.files = files;
	return 0;
}

static int verify_all(verifying *g, int sock)
{
	struct stat st;
	int fd, r;

	g->buffer = ab_calloc(BUFFER_SIZE, 1);
	if (!g->buffer || ab_report_begin(&g->report))
		return copy_fail(&g->failure, AGENTBOX_ENOMEM, 0, "verify",
				 "out of memory");
	if (fstat(g->tree_fd, &st))
		return copy_fail(&g->failure, AGENTBOX_ESYS, errno, "verify",
				 "cannot look at the snapshot");
	g->owner = st.st_uid;
	g->walk = (walk){ .job = g->job,
			  .failure = &g->failure,
			  .tree = &g->tree,
			  .root_fd = g->tree_fd };
	if ((st.st_mode & 07777) != 0555)
		problem(g, ".", 1, "mode");
	if (walk_tree(&g->walk) || verify_tree(g) || verify_repository(g))
		return -1;
	fd = ab_report_seal(&g->report);
	r = fd < 0 ? fd
		   : copy_send_word(sock, COPY_WORD_READ, &g->counts,
				    sizeof(g->counts), &fd, 1);
	return r ? copy_fail(&g->failure, AGENTBOX_ESYS, -r, "report",
			     "cannot make the report")
		 : 0;
}

void copy_verifier(copy_job *job, int sock, int tree_fd)
{
	const copy_place place = { { tree_fd, -1, -1 }, false,
				   job->supervisor };
	verifying *g = ab_new(verifying);
	ab_copy_plan plan = job->plan;
	const char *stage = "memory";
	copy_failure f;
	int r;

	plan.source_uid = plan.output_uid;
	plan.source_gid = plan.output_gid;
	r = g ? copy_take_role(COPY_READER, &plan, &place, &stage) : -ENOMEM;
	if (r) {
		(void)copy_fail(&f, AGENTBOX_EWALL, -r, stage,
				"the verifier cannot take its rights");
		copy_send_failure(sock, &f);
		_exit(1);
	}
	g->job = job;
	g->tree_fd = tree_fd;
	if (verify_all(g, sock)) {
		copy_send_failure(sock, &g->failure);
		_exit(1);
	}
	_exit(0);
}
