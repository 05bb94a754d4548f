/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox peer: one box reads a snapshot of another. Boxes are found through
 * their owners, so that the two may belong to different processes of this
 * user. Specification: agentbox(1), agentbox_peering(3).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <agentbox/peering.h>

#include "job.h"
#include "log.h"
#include "text.h"

typedef struct peer {
	agentbox_audit *audit;
	agentbox_peering *peering;
	agentbox_bytes *grant; /* its id */
} peer;

static void peer_end(peer *p)
{
	agentbox_bytes_free(p->grant);
	agentbox_peering_free(p->peering);
	agentbox_audit_unref(p->audit);
}

static int open_store(tool *t, peer *p)
{
	agentbox_error *err = NULL;
	int rc = 0;

	if (agentbox_peering_new(t->context, p->audit, &p->peering,
					&err) < 0)
		rc = tool_fail(t, err, tool_is_about_state(t, err) ? "--state"
								   : NULL);
	return rc;
}

static int have_state(tool *t)
{
	int rc = tool_need_state(t);

	tool_make_state_parents(t);
	return rc;
}

static int open_log(tool *t, const tool_args *args, peer *p)
{
	const char *log = tool_get(args, "--audit");

	return log ? tool_log_open(t, log, &p->audit) : 0;
}

static int peer_begin(tool *t, const tool_args *args, peer *p)
{
	int rc = have_state(t);

	if (!rc)
		rc = open_log(t, args, p);
	return rc ? rc : open_store(t, p);
}

static int both(tool *t, const tool_args *args, const char **reader,
		const char **source)
{
	*reader = tool_get(args, "--reader");
	*source = tool_get(args, "--source");
	if (*reader && *source)
		return 0;
	return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
			   "give %s", *reader ? "--source BOX" :
			   "--reader BOX and --source BOX");
}

/* Words that are missing are told before anything is looked at. */
static int begin_both(tool *t, const tool_args *args, peer *p)
{
	const char *reader, *source;
	int rc = both(t, args, &reader, &source);

	return rc ? rc : peer_begin(t, args, p);
}

static int find(tool *t, const tool_args *args, peer *p)
{
	const char *reader = tool_get(args, "--reader");
	const char *source = tool_get(args, "--source");
	agentbox_error *err = NULL;
	int rc = 0;

	if (agentbox_peering_find(p->peering, reader, source, &p->grant,
					 &err) < 0)
		rc = tool_fail(t, err, source);
	return rc;
}

static int end_job(tool *t, agentbox_peer_job *job, const char *about,
		   bool is_detached)
{
	agentbox_error *err = NULL;
	json_t *counts = NULL;
	agentbox_bytes *bytes = NULL;

	text_progress_begin("reading the tree");
	int32_t r = agentbox_peer_job_wait(job, -1, &err);
	text_progress_end();
	int rc = r < 0 ? tool_fail(t, err, about) : 0;
	agentbox_snapshot *copy = agentbox_peer_job_get_snapshot(job);
	if (!rc && copy && agentbox_snapshot_to_json(copy, &bytes, NULL) == 0)
		counts = tool_json_of(bytes);
	if (!rc && t->json)
		rc = tool_print_json(t, json_pack(
			"{s:s, s:O?}", "grant",
			agentbox_peer_job_get_grant(job), "counts", counts));
	else if (!rc && is_detached)
		text_note("%s: gone, and who has it open reads on", about);
	else if (!rc && counts)
		tool_job_tell(counts, about);
	json_decref(counts);
	agentbox_peer_job_free(job);
	return rc;
}

int tool_peer_grant(tool *t, const tool_args *args)
{
	agentbox_snapshot_options *options = NULL;
	const char *reader, *source;
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	peer p = { .audit = NULL };
	int rc = both(t, args, &reader, &source);

	if (!rc)
		rc = peer_begin(t, args, &p);
	/* without options: the `snapshot` section of the source's policy */
	if (!rc && tool_snapshot_has_options(args))
		rc = tool_snapshot_options(t, args, &options);
	if (!rc && agentbox_peering_grant(p.peering, reader, source,
					  tool_get(args, "--as"), options,
					  &job, &err) < 0)
		rc = agentbox_error_get_code(err) == AGENTBOX_EINVAL ?
			     tool_fail_as(t, TOOL_USAGE, err, NULL) :
			     tool_fail(t, err, NULL);
	if (!rc)
		rc = end_job(t, job, source, false);
	agentbox_snapshot_options_free(options);
	peer_end(&p);
	return rc;
}

int tool_peer_refresh(tool *t, const tool_args *args)
{
	agentbox_snapshot_options *options = NULL;
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	peer p = { .audit = NULL };
	int rc = begin_both(t, args, &p);

	if (!rc && tool_snapshot_has_options(args))
		rc = tool_snapshot_options(t, args, &options);
	if (!rc)
		rc = find(t, args, &p);
	if (!rc && agentbox_peering_refresh(
			   p.peering, agentbox_bytes_get_data(p.grant),
			   options, &job, &err) < 0)
		rc = tool_fail(t, err, tool_get(args, "--source"));
	if (!rc)
		rc = end_job(t, job, tool_get(args, "--source"), false);
	agentbox_snapshot_options_free(options);
	peer_end(&p);
	return rc;
}

int tool_peer_revoke(tool *t, const tool_args *args)
{
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	const char *reader, *source, *how = tool_get(args, "--revoke");
	peer p = { .audit = NULL };
	int rc = both(t, args, &reader, &source), log_rc = 0;

	if (!rc)
		rc = have_state(t);
	/* what a log cannot take is revoked all the same */
	if (!rc)
		log_rc = open_log(t, args, &p);
	if (!rc)
		rc = open_store(t, &p);
	if (!rc)
		rc = find(t, args, &p);
	if (!rc && agentbox_peering_revoke(
			   p.peering, agentbox_bytes_get_data(p.grant),
			   how, &job, &err) < 0)
		rc = agentbox_error_get_code(err) == AGENTBOX_EINVAL ?
			     tool_fail_as(t, TOOL_USAGE, err, "--revoke") :
			     tool_fail(t, err, tool_get(args, "--source"));
	if (!rc)
		rc = end_job(t, job, tool_get(args, "--source"),
			     how && !strcmp(how, "detach"));
	peer_end(&p);
	return rc ? rc : log_rc;
}

static char *grant_line(const json_t *v)
{
	return text_format("%s\t%s\t%s\t%s\tgeneration %lld, %lld files\n",
			   text_of(v, "reader"), text_of(v, "source"),
			   text_of(v, "name"), text_of(v, "state"),
			   (long long)json_integer_value(
				   json_object_get(v, "generation")),
			   (long long)json_integer_value(
				   json_object_get(v, "files")));
}

int tool_peer_list(tool *t, const tool_args *args)
{
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;
	peer p = { .audit = NULL };
	int rc = peer_begin(t, args, &p);

	if (!rc && agentbox_peering_list(p.peering, tool_has(args, "--all"),
					 &bytes, &err) < 0)
		rc = tool_fail(t, err, NULL);
	if (!rc)
		rc = tool_print_rows(t, tool_json_of(bytes), grant_line,
				     "no box is granted anything");
	peer_end(&p);
	return rc;
}
