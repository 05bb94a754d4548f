/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for a job, and what it did in words. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "text.h"

json_t *tool_job_report(const agentbox_snapshot *job)
{
	agentbox_bytes *bytes = NULL;
	json_t *all = NULL;

	if (agentbox_snapshot_report(job, &bytes, NULL) < 0)
		return NULL;
	const char *p = agentbox_bytes_get_data(bytes);
	const char *end = p + agentbox_bytes_get_size(bytes);
	all = json_array();
	while (all && p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);
		json_t *line = json_loadb(p, n, 0, NULL);

		if (!line || json_array_append_new(all, line) < 0) {
			json_decref(all);
			all = NULL;
		}
		p = nl ? nl + 1 : end;
	}
	agentbox_bytes_free(bytes);
	return all;
}

static long long count_of(const json_t *v, const char *key)
{
	return (long long)json_integer_value(json_object_get(v, key));
}

void tool_job_tell(const json_t *counts, const char *about)
{
	long long files = count_of(counts, "files");
	double size = (double)count_of(counts, "bytes");
	const char *unit = "bytes";

	if (size >= 1024 * 1024) {
		size /= 1024 * 1024;
		unit = "MiB";
	} else if (size >= 1024) {
		size /= 1024;
		unit = "KiB";
	}
	const char *job = text_of(counts, "job");
	if (!strcmp(job, "scrub")) {
		text_note("%s: gone, and empty for who still holds it", about);
		return;
	}
	if (!strcmp(job, "verify")) {
		text_note("%s: as its manifest says, %lld file%s", about, files,
			  files == 1 ? "" : "s");
		return;
	}
	char admitted[64] = "";
	if (count_of(counts, "admitted"))
		snprintf(admitted, sizeof(admitted), ", %lld admitted",
			 count_of(counts, "admitted"));
	text_note("%s: %lld file%s, %.*f %s%s; %lld left out%s%s", about, files,
		  files == 1 ? "" : "s", *unit == 'b' ? 0 : 1, size, unit,
		  is_true(counts, "unchanged") ? ", unchanged" : "",
		  count_of(counts, "left_out"), admitted,
		  strcmp(job, "explain") != 0 &&
		  strcmp(job, "unpack") != 0 && count_of(counts, "left_out") ?
		  " ('agentbox snapshot explain' tells what and why)" : "");
}

/* One line a place: what, and why. */
static int print_lines(tool *t, const json_t *lines)
{
	json_t *v;
	size_t i;
	int rc = 0;

	json_array_foreach(lines, i, v) {
		const char *reason = text_of(v, "reason");
		const char *rule = text_of(v, "rule");
		char *path = text_clean_line(text_of(v, "path"));
		json_int_t at = json_integer_value(json_object_get(v, "line"));
		char where[32] = "";

		if (at)
			snprintf(where, sizeof(where), ":%lld", (long long)at);
		char *line = text_format("%s%s\t%s%s%s\n", path ? path : "",
					 where, *reason ? reason :
					 text_of(v, "problem"),
					 *rule ? ": " : "", rule);
		free(path);
		rc = tool_write_line(t, line);
		if (rc)
			break;
	}
	return rc;
}

static json_t *counts_of(const agentbox_snapshot *job)
{
	agentbox_bytes *bytes = NULL;

	if (agentbox_snapshot_to_json(job, &bytes, NULL) < 0)
		return NULL;
	return tool_json_of(bytes);
}

/* Nobody reads the archive any more: no fault, and nothing to be said. */
static bool is_cut_off(const agentbox_error *err)
{
	return agentbox_error_get_errno(err) == EPIPE &&
	       !strcmp(agentbox_error_get_where(err), "archive");
}

int tool_job_wait(tool *t, agentbox_snapshot *job, const char *about,
		  bool lines, tool_job_last *last, void *data)
{
	agentbox_error *err = NULL;

	text_progress_begin("reading the tree");
	int32_t r = agentbox_snapshot_wait(job, -1, &err);
	text_progress_end();

	json_t *report = lines ? tool_job_report(job) : NULL;
	json_t *counts = counts_of(job);
	int rc = 0;
	if (report && !t->json)
		rc = print_lines(t, report);
	if (r < 0 && is_cut_off(err)) {
		agentbox_error_free(err);
		rc = TOOL_SIGNAL + SIGPIPE;
	} else if (r < 0) {
		rc = tool_fail_name(t, err, about);
	} else if (last && (rc = last(t, data)) != 0) {
		/* it has said why */
	} else if (t->json) {
		if (report)
			json_object_set(counts, "report", report);
		rc = tool_print_json(t, json_incref(counts));
	} else if (!rc) {
		tool_job_tell(counts, about);
	}
	json_decref(report);
	json_decref(counts);
	return rc;
}
