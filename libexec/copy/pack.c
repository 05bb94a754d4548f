/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packer: takes from the ring what the writer of a snapshot takes, and
 * puts it into an archive. A file goes out when it is complete and found
 * clean, so that no byte of one that is not reaches the stream; larger ones
 * wait in memory, which the plan's limit of one file bounds. The manifest
 * comes last. Refuses what the writer refuses. It can open nothing. Spec:
 * archives.h, job.h.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "archives.h"
#include "base/alloc.h"
#include "base/fd.h"
#include "snapshot/manifest.h"
#include "tree.h"

typedef struct packing {
	copy_job *job;
	copy_failure failure;
	archive_out *out;
	size_t levels[COPY_MAX_DEPTH + 1]; /* lengths of path */
	size_t depth;
	path path;
	ab_line line;
	int manifest_fd;
	int64_t newest; /* what the manifest is dated by */
	copy_wrote wrote;
	/* a large file that is not whole yet; fd -1: none */
	int large_fd;
	uint64_t large_size;
	char large_name[AB_MAX_NAME + 1];
} packing;

static int fail(packing *g, int sys_errno, const char *message)
{
	return copy_fail(&g->failure, AGENTBOX_ESYS, sys_errno, g->path.text,
			 message);
}

static int refuse(packing *g, const char *message)
{
	return copy_fail(&g->failure, AGENTBOX_EPROTO, 0, g->path.text,
			 message);
}

static int sent(packing *g, int r)
{
	return r ? copy_fail(&g->failure, AGENTBOX_ESYS, -r, "archive",
			     archive_out_error(g->out))
		 : 0;
}

static int take_name(packing *g, const ring_record *r, const char *in_ring,
		     char name[AB_MAX_NAME + 1])
{
	memcpy(name, in_ring, r->name_len);
	name[r->name_len] = 0;
	if (!copy_is_name(name, r->name_len))
		return refuse(g, "the reader sent no name");
	if (g->depth == 1 && strcmp(name, AB_MANIFEST_DIR) == 0)
		return refuse(g, "the reader sent the manifest's name");
	if (!path_push(&g->path, name, r->name_len))
		return refuse(g, "the reader sent too long a path");
	return 0;
}

static int put_dir(packing *g, const ring_record *r, const char *in_ring)
{
	char name[AB_MAX_NAME + 1];
	size_t len = g->path.len;

	if (g->depth > COPY_MAX_DEPTH)
		return refuse(g, "the reader went too deep");
	if (take_name(g, r, in_ring, name))
		return -1;
	g->levels[g->depth++] = len;
	g->wrote.directories++;
	return sent(g, archive_out_dir(g->out, g->path.text,
				       r->source.mtime_ns));
}

static int leave_dir(packing *g)
{
	if (g->depth <= 1)
		return refuse(g, "the reader left what it did not enter");
	path_pop(&g->path, g->levels[--g->depth]);
	return 0;
}

static int put_manifest(packing *g, const ab_record_entry *s)
{
	ab_manifest_entry e = {
		.path = g->path.text,
		.path_len = g->path.len,
		.mode = s->flags & AB_RECORD_EXEC ? 0555 : 0444,
		.size = s->size,
		.has_hash = !(g->job->plan.flags & AB_COPY_NO_HASHES),
	};
	int r;

	memcpy(e.sha256, s->sha256, sizeof(e.sha256));
	ab_manifest_put(&g->line, &e);
	r = ab_fd_write_full(g->manifest_fd, g->line.text, g->line.len);
	return r ? fail(g, -r, "cannot keep the manifest") : 0;
}

/* The file at the path, all of it. */
static int put_whole(packing *g, const ab_record_entry *s, const void *p)
{
	if (sent(g, archive_out_file(g->out, g->path.text, s->size,
				     s->flags & AB_RECORD_EXEC, s->mtime_ns,
				     p)))
		return -1;
	if (s->mtime_ns > g->newest)
		g->newest = s->mtime_ns;
	g->wrote.files++;
	g->wrote.copied++;
	g->wrote.bytes += s->size;
	return put_manifest(g, s);
}

static int put_file(packing *g, const ring_record *r, const char *in_ring,
		    const uint8_t *data)
{
	char name[AB_MAX_NAME + 1];
	size_t len = g->path.len;

	if (r->data_len != r->source.size)
		return refuse(g, "the reader sent another size");
	if (take_name(g, r, in_ring, name) || put_whole(g, &r->source, data))
		return -1;
	path_pop(&g->path, len);
	return 0;
}

/* Of the large file, whose name is not on the path until it is whole. */
static int fail_large(packing *g, int sys_errno, const char *message)
{
	(void)path_push(&g->path, g->large_name, strlen(g->large_name));
	return fail(g, sys_errno, message);
}

static int put_data(packing *g, const ring_record *r, const uint8_t *data)
{
	int rc;

	if (g->large_fd < 0)
		return refuse(g, "the reader sent data of no file");
	if (r->data_len > g->job->plan.max_file_bytes - g->large_size)
		return refuse(g, "the reader sent more than a file may have");
	rc = ab_fd_write_full(g->large_fd, data, r->data_len);
	g->large_size += r->data_len;
	return rc ? fail_large(g, -rc, "cannot keep the file until it is "
				       "whole") : 0;
}

static int begin_large(packing *g, const ring_record *r, const char *in_ring,
		       const uint8_t *data)
{
	size_t len = g->path.len;

	if (g->large_fd >= 0)
		return refuse(g, "the reader sent two files at once");
	if (take_name(g, r, in_ring, g->large_name))
		return -1;
	path_pop(&g->path, len);
	g->large_size = 0;
	g->large_fd = memfd_create("large", MFD_CLOEXEC);
	if (g->large_fd < 0)
		return fail_large(g, errno, "cannot keep the file until it is "
					    "whole");
	return put_data(g, r, data);
}

static int put_large(packing *g, const ring_record *r)
{
	size_t len = g->path.len;
	void *map;
	int rc;

	if (g->large_size == 0 || g->large_size != r->source.size)
		return refuse(g, "the reader sent another size");
	map = mmap(NULL, g->large_size, PROT_READ, MAP_SHARED, g->large_fd, 0);
	if (map == MAP_FAILED)
		return fail_large(g, errno, "cannot read the file again");
	if (!path_push(&g->path, g->large_name, strlen(g->large_name)))
		rc = refuse(g, "the path is too long");
	else
		rc = put_whole(g, &r->source, map);
	munmap(map, g->large_size);
	path_pop(&g->path, len);
	return rc;
}

static int end_large(packing *g, const ring_record *r, bool keep)
{
	int rc = 0;

	if (g->large_fd < 0)
		return keep ? refuse(g, "the reader ended no file") : 0;
	if (keep)
		rc = put_large(g, r);
	close(g->large_fd);
	g->large_fd = -1;
	return rc;
}

static int put_one(packing *g, const ring_record *r, const char *name,
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
	case RING_FINISH:
		break;
	}
	return refuse(g, "the reader sent something else");
}

static int take_all(packing *g)
{
	for (;;) {
		const uint8_t *data;
		const char *name;
		ring_record r;

		if (ring_take(&g->job->ring, &r, &name, &data))
			return refuse(g, "the ring is broken");
		if (r.kind == RING_FINISH)
			break;
		if (!(g->job->plan.flags & AB_COPY_NO_HASHES))
			ring_hash(&r, data, g->job->hash);
		if (put_one(g, &r, name, data))
			return -1;
		ring_release(&g->job->ring, &r);
	}
	return g->depth == 1 && g->large_fd < 0
		       ? 0
		       : refuse(g, "the reader ended in the middle");
}

/* --- the manifest --------------------------------------------------------- */

static int begin_manifest(packing *g)
{
	off_t head = (off_t)ab_manifest_head_size(false, false);

	g->manifest_fd = memfd_create("manifest", MFD_CLOEXEC);
	if (g->manifest_fd < 0 || lseek(g->manifest_fd, head, SEEK_SET) < 0)
		return fail(g, errno, "cannot begin the manifest");
	return 0;
}

static int put_manifest_file(packing *g, const void *map, size_t n)
{
	static const char file[] = AB_MANIFEST_DIR "/" AB_MANIFEST_NAME;
	int r = archive_out_dir(g->out, AB_MANIFEST_DIR, g->newest);

	if (r == 0)
		r = archive_out_file(g->out, file, n, false, g->newest, map);
	return sent(g, r);
}

static int finish_manifest(packing *g)
{
	const ab_manifest_head head = {
		.files = g->wrote.files,
		.bytes = g->wrote.bytes,
		.has_hashes = !(g->job->plan.flags & AB_COPY_NO_HASHES),
	};
	off_t n = lseek(g->manifest_fd, 0, SEEK_CUR);
	void *map;
	int r;

	ab_manifest_put_head(&g->line, &head);
	if (n < 0 || pwrite(g->manifest_fd, g->line.text, g->line.len, 0) !=
			     (ssize_t)g->line.len)
		return fail(g, errno, "cannot finish the manifest");
	map = mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, g->manifest_fd, 0);
	if (map == MAP_FAILED)
		return fail(g, errno, "cannot read the manifest");
	g->job->hash(map, (size_t)n, g->wrote.digest);
	r = put_manifest_file(g, map, (size_t)n);
	munmap(map, (size_t)n);
	return r;
}

/* --- the whole ------------------------------------------------------------ */

/* The reader has ended well: only now the archive gets its end. */
static int await_report(packing *g, int sock)
{
	enum copy_word word;
	size_t count = 0;
	copy_read read;
	int fd = -1;

	if (copy_receive_word(sock, &word, &read, sizeof(read), &fd, 1, &count,
			      0) != (ssize_t)sizeof(read) ||
	    word != COPY_WORD_REPORT)
		return refuse(g, "no report came");
	if (fd >= 0)
		close(fd);
	return 0;
}

static int pack_all(packing *g, int sock)
{
	int r;

	if (begin_manifest(g) || take_all(g) || finish_manifest(g) ||
	    await_report(g, sock) || sent(g, archive_out_end(g->out)))
		return -1;
	r = copy_send_word(sock, COPY_WORD_WROTE, &g->wrote, sizeof(g->wrote),
			   NULL, 0);
	return r ? fail(g, -r, "nobody listens") : 0;
}

static bool is_told_to_start(int sock)
{
	enum copy_word word;
	size_t count = 0;
	char none[1];

	return copy_receive_word(sock, &word, none, sizeof(none), NULL, 0,
				 &count, 0) == 0 &&
	       word == COPY_WORD_START;
}

void copy_packer(copy_job *job, int sock, const int fds[2])
{
	const copy_place nowhere = { { -1, -1, -1 }, false,
				     job->supervisor };
	packing *g = ab_new(packing);
	const char *stage = "memory";
	int r;

	if (!g || !is_told_to_start(sock))
		_exit(1);
	g->job = job;
	g->depth = 1;
	g->large_fd = -1;
	r = archive_prepare();
	g->out = r ? NULL : archive_out_new(fds[0], job->plan.flags);
	if (r || !g->out)
		r = copy_fail(&g->failure, AGENTBOX_EUNSUPPORTED, -r, "archive",
			      "libarchive here cannot write this format");
	else if ((r = copy_take_role(COPY_PACKER, &job->plan, &nowhere,
				     &stage)))
		(void)copy_fail(&g->failure, AGENTBOX_EWALL, -r, stage,
				"the packer cannot give its rights away");
	if (r || pack_all(g, sock)) {
		copy_send_failure(sock, &g->failure);
		_exit(1);
	}
	_exit(0);
}
