/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The supervisor's inside: what it holds for one job. */
#ifndef AB_COPY_SUPERVISE_H
#define AB_COPY_SUPERVISE_H

#include "job.h"
#include "staging.h"

/* One of the other processes. */
typedef struct helper {
	pid_t pid;  /* 0: none */
	int pidfd, sock;
	bool wanted; /* its end is a failure of the job */
} helper;

typedef struct supervision {
	copy_job *job;
	/* the reader has something to write: tell the writer to begin */
	int (*begin)(struct supervision *s);
	copy_failure failure;
	helper reader, writer, scout;
	bool is_parsing; /* they are the parser and the extractor */
	bool cancelled;
	uint64_t told_ns; /* of the last progress */

	/* the generation there */
	int old_tree_fd;  /* locked; -1: none */
	int old_record_fd; /* locked; -1: none */
	uint8_t boot[AB_RECORD_BOOT_SIZE];
	uint64_t generation; /* of the record there; 0: none */

	/* what is being made; "" names: nothing */
	char tree_name[STAGING_NAME], record_name[STAGING_NAME];
	int tree_fd, record_fd;
	/* what no generation needs any more: "" or -1: nothing */
	char spare_name[STAGING_NAME];
	int spare_fd;	   /* locked */
	removal *clearing; /* of it, or NULL */

	copy_read read;
	copy_wrote wrote;
	bool has_read, has_wrote, may_publish;
	int turn_fd; /* held until it is published; -1: not */
	int report_fd;
	uint64_t swap_ns;
} supervision;

/* publish.c; each 0, or -1 with s->failure. */
/* What is there: opened and locked; the record, when it may be used. */
int copy_open_old(supervision *s);
int copy_open_for_verify(supervision *s);
/* A staging directory and a record, and the writer told of them. */
int copy_begin_output(supervision *s);
int copy_publish(supervision *s);
/* A piece of what is to be cleared away, while others work. */
void copy_clear(supervision *s);
/* Is there more? */
bool copy_has_to_clear(const supervision *s);
/*
 * The record that this job began with lies there no more, as after a scrub:
 * nothing can be published, and who scrubs waits for us.
 */
bool copy_is_ended(const supervision *s);
/* It failed, its helpers may live: nothing a scrub would wait for is left. */
void copy_give_up(supervision *s);
/* Nothing of this job is left. */
void copy_abandon(supervision *s);
/* Of what cannot be made, moved or opened in a directory of ours (-errno). */
int32_t copy_code_of(int r);
/* The tree that has the snapshot's name; -errno. */
int copy_open_tree(const copy_job *job);
/* Every snapshot has a manifest, and one without is no snapshot. */
bool copy_has_manifest(int tree);

/* scrub.c */
int copy_scrub(supervision *s, ab_copy_done *done);

/*
 * supervise.c. What a process of the job is: it has its socket, the ring's
 * events and these descriptors (-1: none), and does not return.
 */
typedef void copy_main(copy_job *job, int sock, const int fds[2]);
int copy_start(supervision *s, helper *h, copy_main *entry, int fd,
	       int more_fd);
int copy_start_reader(supervision *s);
int copy_start_writer(supervision *s);
void copy_stop(helper *h);
/* After the last start. */
int copy_supervisor_role(supervision *s);
/* Until neither reader nor writer is wanted. */
int copy_wait_for_both(supervision *s);
/* With both started: wait for the tree, hold it if asked to, publish. */
int copy_make(supervision *s);

/*
 * archive.c in agentbox-archive; agentbox-copy has no_archive.c, which
 * refuses: what cannot be parsed there cannot be attacked there.
 */
extern const char copy_program[];
int copy_pack(supervision *s);
int copy_unpack(supervision *s);

#endif
