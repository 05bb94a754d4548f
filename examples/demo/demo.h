/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of the demo share. The demo uses only <agentbox/...>, so it
 * is also a larger example; jansson reads the library's reports.
 */
#ifndef DEMO_H
#define DEMO_H

#include <agentbox/agentbox.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* --- screen.c: one screen of 80 columns, or fewer ------------------------ */

enum tint { TINT_GOOD, TINT_BAD, TINT_WARN, TINT_HEAD, TINT_DIM };

/* Colours on a terminal that has not been asked to be without (NO_COLOR). */
void screen_open(void);
/* Under 80 columns tables have one column. */
bool screen_is_narrow(void);
/* printf, cut at `width` columns and padded to it; tinted. */
void cell(enum tint tint, bool tinted, int width, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void line_end(void);
void heading(const char *title, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Wraps to the screen, indented by two. */
void paragraph(enum tint tint, const char *text);
/* " 1.9 GiB", "64": for limits. */
void show_number(char *out, size_t size, const char *limit, json_int_t n);

/* --- facts.c: what the host can see for itself --------------------------- */

struct process_set {
	struct {
		pid_t pid;
		unsigned long long start;
	} item[1024];
	size_t count;
};

void facts_descendants(struct process_set *set);
/* How many of them still live (a recycled number is another process). */
size_t facts_alive(const struct process_set *set);
size_t facts_mounts(void);
size_t facts_fds(void);
/* Cgroup directories with the box's id in their name. */
size_t facts_cgroups(const char *id);
/* Entries of a directory, . and .. not counted; 0 when it is not there. */
size_t facts_entries(const char *path);
double facts_now_ms(void);

/* --- demo.c -------------------------------------------------------------- */

struct demo {
	agentbox_context *context;
	agentbox_policy *policy;
	agentbox_sandbox *box;
	agentbox_audit *audit;
	char work[2048];   /* of the demo: everything below goes in here */
	char tree[4096];   /* the copy of the source tree, the workspace */
	char log[4096];	   /* the audit log */
	char secret[4096]; /* a file outside */
	char outside[4096]; /* a directory outside */
	int listener;	   /* a service of the host, on loopback */
	int port;
	bool build;	   /* a test of the demo does without */
	bool weaker;	   /* the walls the policy asks for cannot stand here */
	json_t *walls, *limits;
	unsigned failures; /* what should have been stopped and was not */
};

#define DEMO_PIDS 128

struct outcome {
	char text[512]; /* first line of standard output */
	char last[512]; /* its last line */
	char tail[512]; /* last line of standard error */
	int status;
	double ms;
};

/* One command in the box; false when it could not be started. */
bool demo_run(struct demo *d, const char *const *argv, struct outcome *out);
bool wall_stands(const struct demo *d, const char *name);

/* --- attacks.c ----------------------------------------------------------- */

void attacks(struct demo *d);

#endif
