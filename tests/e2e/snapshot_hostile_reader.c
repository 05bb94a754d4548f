/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-copy with a reader that somebody has taken over: it puts into the
 * ring what the file "script" of the source says, a record a line:
 *
 *   d NAME | u | l NAME        down into a directory, up, link
 *   f NAME TEXT | F NAME TEXT  a file; with a size that is not its own
 *   b NAME TEXT | a TEXT       a large file begins; more of it
 *   e SIZE | x                 it ends; it is dropped
 *   z | r | A NAME             another kind; no record; a rule that is none
 *
 * "EMPTY" is the empty name.
 */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "job.h"
#include "snapshot/report.h"

#define NO_KIND 99
/* What the test links has this size. */
#define LINKED_SIZE 4

static uint64_t files;

static void put(ring *to, uint32_t kind, const char *name, const char *text,
		uint64_t size)
{
	size_t name_len = strcmp(name, "EMPTY") == 0 ? 0 : strlen(name);
	size_t n = strlen(text);
	ring_record *r = ring_reserve(to, name_len, n);

	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->name_len = (uint32_t)name_len;
	r->data_len = n;
	r->source.size = size;
	r->source.ino = ++files;
	memcpy(ring_name(r), name, name_len);
	memcpy(ring_data(r), text, n);
	ring_commit(to, r);
}

static void put_admitted(ring *to, const char *name)
{
	ring_record *r = ring_reserve(to, strlen(name), 0);

	memset(r, 0, sizeof(*r));
	r->kind = RING_FILE;
	r->name_len = (uint32_t)strlen(name);
	r->source.admitted = UINT16_MAX;
	memcpy(ring_name(r), name, strlen(name));
	ring_commit(to, r);
}

static void put_nonsense(ring *to)
{
	ring_record *r = ring_reserve(to, 0, 0);

	memset(r, 0, sizeof(*r));
	r->kind = RING_FILE;
	ring_commit(to, r);
	r->name_len = UINT32_MAX;
}

static void put_line(ring *to, char *line)
{
	char *rest = NULL;
	const char *op = strtok_r(line, " ", &rest);
	const char *name = strtok_r(NULL, " ", &rest);
	const char *text = strtok_r(NULL, " ", &rest);

	name = name ? name : "";
	text = text ? text : "";
	switch (op ? op[0] : 0) {
	case 'd':
		put(to, RING_DIR, name, "", 0);
		break;
	case 'u':
		put(to, RING_UP, "", "", 0);
		break;
	case 'l':
		put(to, RING_LINK, name, "", LINKED_SIZE);
		break;
	case 'f':
		put(to, RING_FILE, name, text, strlen(text));
		break;
	case 'F':
		put(to, RING_FILE, name, text, strlen(text) + 1);
		break;
	case 'b':
		put(to, RING_BEGIN, name, text, 0);
		break;
	case 'a':
		put(to, RING_DATA, "", name, 0);
		break;
	case 'e':
		put(to, RING_END, "", "", strtoull(name, NULL, 10));
		break;
	case 'x':
		put(to, RING_DROP, "", "", 0);
		break;
	case 'z':
		put(to, NO_KIND, "", "", 0);
		break;
	case 'r':
		put_nonsense(to);
		break;
	case 'A':
		put_admitted(to, name);
		break;
	default:
		break;
	}
}

static void put_script(copy_job *job)
{
	static char text[1 << 16];
	char *rest = NULL;
	int fd = openat(job->source_fd, "script", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : ab_fd_read_full(fd, text, sizeof(text) - 1);

	if (n < 0)
		_exit(1);
	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		put_line(&job->ring, line);
	put(&job->ring, RING_FINISH, "", "", 0);
	ring_flush(&job->ring);
}

void copy_reader(copy_job *job, int sock)
{
	static const copy_read counts;
	ab_report report;
	int fd;

	if (copy_send_word(sock, COPY_WORD_BUILD, NULL, 0, NULL, 0) ||
	    ab_report_begin(&report))
		_exit(1);
	put_script(job);
	fd = ab_report_seal(&report);
	if (copy_send_word(sock, COPY_WORD_READ, &counts, sizeof(counts), &fd,
			   1))
		_exit(1);
	_exit(0);
}
