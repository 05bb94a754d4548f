/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer: takes from the ring and makes directories, files, the manifest
 * and the record. It believes nothing it takes: a name is one component, a
 * level that was not entered is not left, and nothing is made outside the
 * staging directory, which no link can lead out of because it makes none.
 * Spec: job.h, DESIGN.md section 8, cases 39, 43-47, 63.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/alloc.h"
#include "base/fd.h"
#include "finish.h"
#include "levels.h"
#include "snapshot/manifest.h"
#include "snapshot/report.h"
#include "tree.h"

#define BUFFER_SIZE ((size_t)256 << 10)
/* Report and record: seconds do not matter here, a hung peer does. */
#define DIR_MODE 0555

/* The list of what is not of the source: a repository's few files. */
#define APART_ROOM ((size_t)16 << 10)
typedef struct apart {
	char text[APART_ROOM];
	size_t len;
	uint64_t files, bytes;
	uint8_t digest[AB_SHA256_SIZE];
} apart;

typedef struct writing {
	copy_job *job;
	copy_failure failure;
	int tree_fd, record_fd, old_fd, spare_fd;
	int manifest_fd, manifest_dirfd;
	levels levels;
	path path;
	ab_line line;
	uint8_t *buffer; /* owned, of the manifest */
	size_t buffered;
	ab_record_out record;
	ab_record_head head;
	copy_wrote wrote;
	copy_read read; /* what the reader said at the end */
	apart apart;
	/* a large file that is being written; fd -1: none */
	int large_fd;
	uint64_t large_size;
	char large_name[AB_MAX_NAME + 1];
	finisher finisher;
	finish_job *next; /* of the record that is being put */
} writing;

static int fail(writing *g, int sys_errno, const char *message)
{
	return copy_fail(&g->failure, AGENTBOX_ESYS, sys_errno, g->path.text,
			 message);
}

static int refuse(writing *g, const char *message)
{
	return copy_fail(&g->failure, AGENTBOX_EPROTO, 0, g->path.text,
			 message);
}

static int flush(writing *g)
{
	int r = ab_fd_write_full(g->manifest_fd, g->buffer, g->buffered);

	g->buffered = 0;
	return r ? fail(g, -r, "cannot write the manifest") : 0;
}

static int put_manifest(writing *g, const ab_record_entry *s)
{
	ab_manifest_entry e = {
		.path = g->path.text,
		.path_len = g->path.len,
		.mode = s->flags & AB_RECORD_EXEC ? 0555 : 0444,
		.size = s->size,
		.has_hash = !(g->job->plan.flags & AB_COPY_NO_HASHES),
	};

	memcpy(e.sha256, s->sha256, sizeof(e.sha256));
	ab_manifest_put(&g->line, &e);
	if (g->buffered + g->line.len > BUFFER_SIZE && flush(g))
		return -1;
	memcpy(g->buffer + g->buffered, g->line.text, g->line.len);
	g->buffered += g->line.len;
	return 0;
}

static int note_apart(writing *g, const ab_record_entry *source)
{
	ab_manifest_entry e = {
		.path = g->path.text,
		.path_len = g->path.len,
		.mode = source->flags & AB_RECORD_EXEC ? 0555 : 0444,
		.size = source->size,
		.has_hash = true,
	};
	apart *a = &g->apart;

	memcpy(e.sha256, source->sha256, sizeof(e.sha256));
	ab_manifest_put(&g->line, &e);
	if (g->line.bad || g->line.len > sizeof(a->text) - a->len)
		return refuse(g, "the reader sent too many files apart");
	memcpy(a->text + a->len, g->line.text, g->line.len);
	a->len += g->line.len;
	a->files++;
	a->bytes += source->size;
	return 0;
}

/* The file at the path is complete. */
static int note_file(writing *g, const ab_record_entry *source)
{
	ab_record_entry e = *source;

	if (source->flags & AB_RECORD_APART)
		return note_apart(g, source);

	if (e.admitted && !copy_admitted_rule(&e))
		return refuse(g, "the reader admits what is no rule's");
	e.path_len = (uint32_t)g->path.len;
	ab_record_add(&g->record, &e, g->path.text);
	g->wrote.files++;
	g->wrote.bytes += e.size;
	return put_manifest(g, &e);
}

/* --- names ---------------------------------------------------------------- */

/* A name out of the ring: copied first, then judged. */
static int take_name(writing *g, const ring_record *r, const char *in_ring,
		     char name[AB_MAX_NAME + 1])
{
	memcpy(name, in_ring, r->name_len);
	name[r->name_len] = 0;
	if (!copy_is_name(name, r->name_len))
		return refuse(g, "the reader sent no name");
	if (g->levels.depth == 1 && strcmp(name, AB_MANIFEST_DIR) == 0)
		return refuse(g, "the reader sent the manifest's name");
	if (!path_push(&g->path, name, r->name_len))
		return refuse(g, "the reader sent too long a path");
	return 0;
}

/* --- directories ---------------------------------------------------------- */

/* Are descriptors short that the finisher held? Then it is worth a try. */
static bool has_freed(writing *g, int r)
{
	if (r != -EMFILE)
		return false;
	finish_wait(&g->finisher);
	return true;
}

/* What there was to be of the generation before is not there. */
static int fail_link(writing *g, int sys_errno)
{
	if (sys_errno != ENOENT && sys_errno != EMLINK)
		return fail(g, sys_errno, "cannot link the file");
	return copy_fail(&g->failure, AGENTBOX_ETAMPERED, sys_errno,
			 g->path.text,
			 "the generation before lacks the file");
}

/* The directory that a file is to be made in. */
static int make_levels(writing *g)
{
	int r = levels_make(&g->levels);

	return r ? fail_link(g, -r) : 0;
}

static int put_dir(writing *g, const ring_record *r, const char *in_ring)
{
	char name[AB_MAX_NAME + 1];
	ab_record_entry e = r->source;
	size_t len = g->path.len;
	int rc;

	if (g->levels.depth > COPY_MAX_DEPTH)
		return refuse(g, "the reader went too deep");
	if (make_levels(g) || take_name(g, r, in_ring, name))
		return -1;
	rc = levels_enter(&g->levels, name, e.mtime_ns, len);
	if (rc)
		return fail(g, -rc, "cannot make the directory");
	if (e.flags & AB_RECORD_APART)
		return 0;
	g->path.text[g->path.len] = '/';
	e.path_len = (uint32_t)g->path.len + 1;
	e.admitted = e.admitted_line = 0;
	ab_record_add(&g->record, &e, g->path.text);
	g->path.text[g->path.len] = 0;
	g->wrote.directories++;
	return 0;
}

static int leave_dir(writing *g)
{
	const made_level *l = levels_last(&g->levels);
	size_t len = l->path_len;
	int r;

	if (g->levels.depth <= 1 || g->large_fd >= 0)
		return refuse(g, "the reader left what it did not enter");
	r = levels_leave(&g->levels, g->path.text + (len ? len + 1 : 0));
	/* the files that were due to be linked in it */
	if (r == -ENOENT || r == -EMLINK)
		return fail_link(g, -r);
	if (r)
		return fail(g, -r, "cannot finish the directory");
	path_pop(&g->path, len);
	return 0;
}

/* --- files ---------------------------------------------------------------- */

/* What went wrong in the finisher, of a file that was made before. */
static int check_finisher(writing *g)
{
	const finisher *f = &g->finisher;

	return finish_has_failed(f)
		       ? copy_fail(&g->failure, AGENTBOX_ESYS, f->sys_errno,
				   f->path, f->message)
		       : 0;
}

/* What the record that is being put leaves to the finisher. */
static void give(writing *g, int fd, const uint8_t *data, size_t len)
{
	finish_job *job = g->next;

	job->fd = fd;
	job->data = data;
	job->len = len;
	memcpy(job->path, g->path.text, g->path.len + 1);
}

static void give_end(writing *g, int fd, const ab_record_entry *source)
{
	finish_job *job = g->next;

	job->fd = fd;
	job->is_last = true;
	job->has_time = source != NULL;
	job->mtime_ns = source ? source->mtime_ns : 0;
}

static int open_new(writing *g, const char *name, mode_t mode)
{
	int fd = openat(levels_last(&g->levels)->fd, name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			mode);

	return fd < 0 ? -errno : fd;
}

/* The new file, or -1: failed, or *taken: the name is taken. */
static int make_file(writing *g, const char *name, mode_t mode, bool *taken)
{
	int fd = open_new(g, name, mode);

	if (has_freed(g, fd))
		fd = open_new(g, name, mode);
	*taken = fd == -EEXIST;
	if (*taken)
		g->wrote.collisions++;
	else if (fd < 0)
		(void)fail(g, -fd, "cannot make the file");
	return fd < 0 ? -1 : fd;
}

static int finish_file(writing *g, int fd, const ab_record_entry *source)
{
	give_end(g, fd, source);
	if (!(source->flags & AB_RECORD_APART))
		g->wrote.copied++;
	return note_file(g, source);
}

static mode_t mode_of(const ring_record *r)
{
	return r->source.flags & AB_RECORD_EXEC ? 0555 : 0444;
}

static int put_file(writing *g, const ring_record *r, const char *in_ring,
		    const uint8_t *data)
{
	char name[AB_MAX_NAME + 1];
	size_t len = g->path.len;
	bool taken;
	int fd, rc;

	if (r->data_len != r->source.size)
		return refuse(g, "the reader sent another size");
	if (make_levels(g) || take_name(g, r, in_ring, name))
		return -1;
	fd = make_file(g, name, mode_of(r), &taken);
	if (fd < 0) {
		path_pop(&g->path, len);
		return taken ? 0 : -1;
	}
	give(g, fd, data, r->data_len);
	g->next->is_whole = true;
	rc = finish_file(g, fd, &r->source);
	if (rc == 0)
		path_pop(&g->path, len);
	return rc;
}

/* Of the large file, whose name is not on the path while it is written. */
static int fail_large(writing *g, int sys_errno, const char *message)
{
	if (g->large_name[0])
		(void)path_push(&g->path, g->large_name,
				strlen(g->large_name));
	return fail(g, sys_errno, message);
}

static int put_data(writing *g, const ring_record *r, const uint8_t *data)
{
	size_t len = g->path.len;

	if (g->large_fd < 0)
		return refuse(g, "the reader sent data of no file");
	if (g->large_name[0] && !path_push(&g->path, g->large_name,
					   strlen(g->large_name)))
		return refuse(g, "the path is too long");
	give(g, g->large_fd, data, r->data_len);
	path_pop(&g->path, len);
	g->large_size += r->data_len;
	return 0;
}

static int begin_large(writing *g, const ring_record *r, const char *in_ring,
		       const uint8_t *data)
{
	size_t len = g->path.len;
	bool taken;

	if (g->large_fd >= 0)
		return refuse(g, "the reader sent two files at once");
	if (make_levels(g) || take_name(g, r, in_ring, g->large_name))
		return -1;
	g->large_size = 0;
	g->large_fd = make_file(g, g->large_name, mode_of(r), &taken);
	/* into nothing, so that what follows has a place */
	if (g->large_fd < 0 && taken) {
		g->large_name[0] = 0;
		g->large_fd = memfd_create("taken", MFD_CLOEXEC);
	}
	if (g->large_fd < 0)
		return -1;
	path_pop(&g->path, len);
	return put_data(g, r, data);
}

static int keep_large(writing *g, const ring_record *r, int fd)
{
	size_t len = g->path.len;

	if (g->large_size != r->source.size)
		return refuse(g, "the reader sent another size");
	if (!g->large_name[0]) {
		give_end(g, fd, NULL);
		return 0;
	}
	if (!path_push(&g->path, g->large_name, strlen(g->large_name)))
		return refuse(g, "the path is too long");
	give(g, fd, NULL, 0);
	if (finish_file(g, fd, &r->source))
		return -1;
	path_pop(&g->path, len);
	return 0;
}

static int end_large(writing *g, const ring_record *r, bool keep)
{
	int fd = g->large_fd;

	g->large_fd = -1;
	if (fd < 0)
		return keep ? refuse(g, "the reader ended no file") : 0;
	if (keep)
		return keep_large(g, r, fd);
	give_end(g, fd, NULL);
	if (g->large_name[0] &&
	    unlinkat(levels_last(&g->levels)->fd, g->large_name, 0))
		return fail_large(g, errno, "cannot remove the file");
	return 0;
}

static int put_link(writing *g, const ring_record *r, const char *in_ring)
{
	char name[AB_MAX_NAME + 1];
	size_t len = g->path.len;
	int rc;

	if (take_name(g, r, in_ring, name))
		return -1;
	rc = levels_link(&g->levels, name);
	/* case-insensitive destinations: as when it was made */
	if (rc == -EEXIST) {
		g->wrote.collisions++;
		path_pop(&g->path, len);
		return 0;
	}
	if (rc)
		return fail_link(g, -rc);
	g->wrote.linked++;
	if (note_file(g, &r->source))
		return -1;
	path_pop(&g->path, len);
	return 0;
}

static int put_one(writing *g, const ring_record *r, const char *name,
		   const uint8_t *data)
{
	if (g->large_fd >= 0 && r->kind != RING_DATA && r->kind != RING_END &&
	    r->kind != RING_DROP)
		return refuse(g, "the reader left a file open");
	switch ((enum ring_kind)r->kind) {
	case RING_DIR:
		return put_dir(g, r, name);
	case RING_UP:
		return leave_dir(g);
	case RING_FILE:
		return put_file(g, r, name, data);
	case RING_BEGIN:
		return begin_large(g, r, name, data);
	case RING_DATA:
		return put_data(g, r, data);
	case RING_END:
		return end_large(g, r, true);
	case RING_DROP:
		return end_large(g, r, false);
	case RING_LINK:
		return put_link(g, r, name);
	case RING_FINISH:
		break;
	}
	return refuse(g, "the reader sent something else");
}

static int take_one(writing *g, bool *is_end)
{
	ring *from = &g->job->ring;
	const uint8_t *data;
	const char *name;
	ring_record r;

	/* the reader may wait for room that the finisher has not given back */
	if (!ring_has_record(from))
		finish_flush(&g->finisher);
	if (ring_take(from, &r, &name, &data))
		return refuse(g, "the ring is broken");
	*is_end = r.kind == RING_FINISH;
	if (*is_end)
		return 0;
	if (!(g->job->plan.flags & AB_COPY_NO_HASHES))
		ring_hash(&r, data, g->job->hash);
	ring_pass(from, &r);
	g->next = finish_reserve(&g->finisher);
	g->next->fd = -1;
	g->next->len = 0;
	g->next->has_time = g->next->is_last = g->next->is_whole = false;
	g->next->end = from->taken;
	if (check_finisher(g) || put_one(g, &r, name, data))
		return -1;
	finish_commit(&g->finisher);
	return 0;
}

static int take_all(writing *g)
{
	bool is_end = false;

	while (!is_end) {
		if (take_one(g, &is_end))
			return -1;
	}
	finish_wait(&g->finisher);
	if (check_finisher(g))
		return -1;
	return g->levels.depth == 1 && g->large_fd < 0
		       ? 0
		       : refuse(g, "the reader ended in the middle");
}

/* --- the whole ------------------------------------------------------------ */

static off_t head_size(const writing *g)
{
	uint32_t mode = g->job->plan.git_mode;

	return (off_t)ab_manifest_head_size(mode != AB_COPY_GIT_NONE,
					    mode == AB_COPY_GIT_RANGE);
}

static int begin(writing *g)
{
	static const char dir[] = AB_MANIFEST_DIR;
	ab_autofd int dirfd = -1;
	ab_writer choice;
	struct stat st;
	int r;

	g->buffer = ab_calloc(BUFFER_SIZE, 1);
	if (!g->buffer)
		return fail(g, ENOMEM, "out of memory");
	if (mkdirat(g->tree_fd, dir, 0700))
		return fail(g, errno, "cannot make the manifest's directory");
	dirfd = openat(g->tree_fd, dir,
		       O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	g->manifest_fd = dirfd < 0 ? -1
				   : openat(dirfd, AB_MANIFEST_NAME,
					    O_RDWR | O_CREAT | O_EXCL |
						    O_NOFOLLOW | O_CLOEXEC,
					    0444);
	if (g->manifest_fd < 0 || fstat(g->tree_fd, &st) ||
	    lseek(g->manifest_fd, head_size(g), SEEK_SET) < 0)
		return fail(g, errno, "cannot make the manifest");
	g->manifest_dirfd = ab_steal_fd(&dirfd);
	ab_writer_init(&choice, AB_RECORD_CHOICE_MAX);
	ab_copy_choice_put(&choice, &g->job->plan);
	r = choice.bad ? -ENOMEM :
		ab_record_begin(&g->record, g->record_fd, g->job->hash,
				&g->head, g->job->plan.source_name,
				choice.data, choice.len);
	ab_writer_end(&choice);
	if (r)
		return fail(g, -r, "out of memory");
	r = levels_begin(&g->levels, &g->finisher, g->tree_fd, g->old_fd,
			 g->spare_fd);
	return r ? fail(g, -r, "out of memory") : 0;
}

/* The list of the repository's files, beside the manifest. */
static int finish_apart(writing *g)
{
	const ab_manifest_head head = { .files = g->apart.files,
					.bytes = g->apart.bytes,
					.has_hashes = true };
	ab_sha256_stream sum;
	int fd, r;

	if (!g->apart.files)
		return 0;
	ab_manifest_put_head(&g->line, &head);
	ab_sha256_begin(&sum, g->job->hash);
	ab_sha256_add(&sum, g->line.text, g->line.len);
	ab_sha256_add(&sum, g->apart.text, g->apart.len);
	ab_sha256_end(&sum, g->apart.digest);
	fd = openat(g->manifest_dirfd, AB_MANIFEST_REPOSITORY,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0444);
	if (fd < 0)
		return fail(g, errno, "cannot list the repository");
	r = ab_fd_write_full(fd, g->line.text, g->line.len);
	if (r == 0)
		r = ab_fd_write_full(fd, g->apart.text, g->apart.len);
	close(fd);
	return r ? fail(g, -r, "cannot list the repository") : 0;
}

static int finish_manifest(writing *g)
{
	const copy_git *git = &g->read.git;
	uint32_t mode = g->job->plan.git_mode;
	ab_manifest_head head = {
		.files = g->wrote.files,
		.bytes = g->wrote.bytes,
		.has_hashes = !(g->job->plan.flags & AB_COPY_NO_HASHES),
		.has_head = mode != AB_COPY_GIT_NONE,
		.has_base = mode == AB_COPY_GIT_RANGE,
	};
	struct stat st;
	void *map;

	memcpy(head.git_head, git->head, sizeof(head.git_head));
	memcpy(head.git_base, git->base, sizeof(head.git_base));
	if (flush(g) || finish_apart(g))
		return -1;
	ab_manifest_put_head(&g->line, &head);
	if (pwrite(g->manifest_fd, g->line.text, g->line.len, 0) !=
		    (ssize_t)g->line.len ||
	    fstat(g->manifest_fd, &st))
		return fail(g, errno, "cannot write the manifest");
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED,
		   g->manifest_fd, 0);
	if (map == MAP_FAILED)
		return fail(g, errno, "cannot read the manifest");
	g->job->hash(map, (size_t)st.st_size, g->wrote.digest);
	munmap(map, (size_t)st.st_size);
	if (fchmodat(g->tree_fd, AB_MANIFEST_DIR, DIR_MODE, 0))
		return fail(g, errno, "cannot finish the manifest");
	return 0;
}

/* It comes through the supervisor, sealed, when all is read. */
static int receive_report(writing *g, int sock, int *fd, size_t *n)
{
	enum copy_word word;
	size_t count = 0;

	if (copy_receive_word(sock, &word, &g->read, sizeof(g->read), fd, 1,
			      &count, 0) != (ssize_t)sizeof(g->read) ||
	    word != COPY_WORD_REPORT || count != 1)
		return refuse(g, "no report came");
	if (ab_fd_check_sealed(*fd, AB_REPORT_MAX, n))
		return fail(g, EPROTO, "the report is not sealed");
	return 0;
}

static void fill_git(const writing *g, ab_record_tail *tail)
{
	const copy_git *git = &g->read.git;
	ab_record_git *to = &tail->git;

	to->has_head = git->has_head;
	to->has_base = git->has_base;
	memcpy(to->head, git->head, sizeof(to->head));
	memcpy(to->base, git->base, sizeof(to->base));
	memcpy(to->source_head, git->source_head, sizeof(to->source_head));
	memcpy(to->source_base, git->source_base, sizeof(to->source_base));
	to->base_left_out = g->read.base_left_out;
	memcpy(to->repository, g->apart.digest, sizeof(to->repository));
	memcpy(tail->state, git->state, sizeof(tail->state));
}

static int finish_record(writing *g, int fd, size_t n)
{
	ab_record_tail tail = { .files = g->wrote.files,
				.directories = g->wrote.directories,
				.bytes = g->wrote.bytes };
	struct stat st;
	void *map = NULL;
	int r;

	tail.left_out = g->read.left_out;
	tail.admitted = g->read.admitted;
	fill_git(g, &tail);
	memcpy(tail.manifest, g->wrote.digest, sizeof(tail.manifest));
	if (fstat(g->tree_fd, &st))
		return fail(g, errno, "cannot look at the tree");
	tail.tree_dev = st.st_dev;
	tail.tree_ino = st.st_ino;
	if (n)
		map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return fail(g, errno, "cannot read the report");
	r = ab_record_finish(&g->record, map, n, &tail);
	return r ? fail(g, -r, "cannot write the record") : 0;
}

static int write_all(writing *g, int sock)
{
	ab_autofd int report = -1;
	size_t n = 0;
	int r;

	if (begin(g) || take_all(g) || receive_report(g, sock, &report, &n) ||
	    finish_manifest(g) || finish_record(g, report, n))
		return -1;
	r = copy_send_word(sock, COPY_WORD_WROTE, &g->wrote, sizeof(g->wrote),
			   NULL, 0);
	return r ? fail(g, -r, "nobody listens") : 0;
}

/* Everything it will work on comes with the first word. */
static int receive_start(writing *g, int sock)
{
	enum copy_word word;
	size_t count = 0;
	int fds[4];

	if (copy_receive_word(sock, &word, &g->head, sizeof(g->head), fds, 4,
			      &count, 0) != (ssize_t)sizeof(g->head) ||
	    word != COPY_WORD_START || count < 2)
		return -1;
	g->tree_fd = fds[0];
	g->record_fd = fds[1];
	g->old_fd = count >= 3 ? fds[2] : -1;
	g->spare_fd = count == 4 ? fds[3] : -1;
	return 0;
}

void copy_writer(copy_job *job, int sock)
{
	writing *g = ab_new(writing);
	const char *stage = "memory";
	int r;

	/* not wanted: nothing was to be written */
	if (!g || receive_start(g, sock))
		_exit(1);
	g->job = job;
	g->large_fd = -1;
	g->manifest_fd = -1;
	const copy_place place = { { g->tree_fd, g->old_fd, g->spare_fd },
				   true, job->supervisor };

	r = copy_take_rights(COPY_WRITER, &job->plan, &place, &stage);
	if (r == 0) {
		stage = "finisher";
		r = finish_start(&g->finisher, &job->ring);
	}
	if (r == 0) {
		stage = "seccomp";
		r = copy_take_filter(COPY_WRITER);
	}
	if (r)
		(void)copy_fail(&g->failure, AGENTBOX_EWALL, -r, stage,
				"the writer cannot take the output's rights");
	if (r || write_all(g, sock)) {
		copy_send_failure(sock, &g->failure);
		_exit(1);
	}
	_exit(0);
}
