/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options of a snapshot: plain values with defaults that are safe. Every
 * pattern is tried when it is given, so that a bad one is told where it was
 * written and not by a job.
 */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "policy/commit.h"
#include "policy/policy.h"
#include "policy/value.h"
#include "snapshot/job.h"

#define DEFAULT_MAX_FILE_BYTES (UINT64_C(50) << 20)
#define DEFAULT_MAX_DEPTH 128u
/* The deepest tree whose directories can all be held open at once. */
#define MAX_DEPTH 512u

void ab_snapshot_options_init(agentbox_snapshot_options *options)
{
	*options = (agentbox_snapshot_options){
		.profile = AB_FILTER_STRICT,
		.content = AB_CONTENT_STRICT,
		.hashes = true,
		.max_bytes = AB_USUAL_SNAPSHOT_BYTES,
		.max_files = AB_USUAL_SNAPSHOT_FILES,
		.max_file_bytes = DEFAULT_MAX_FILE_BYTES,
		.max_depth = DEFAULT_MAX_DEPTH,
		.deadline_ms = AB_USUAL_SNAPSHOT_MS,
	};
}

int32_t agentbox_snapshot_options_new(agentbox_snapshot_options **out,
				      agentbox_error **err)
{
	if (!out)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "options is NULL");
	agentbox_snapshot_options *o = ab_new(agentbox_snapshot_options);
	if (!o)
		return ab_error_nomem(err);
	ab_snapshot_options_init(o);
	*out = o;
	return 0;
}

static void patterns_end(ab_patterns *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i]);
	free(p->items);
}

void agentbox_snapshot_options_free(agentbox_snapshot_options *options)
{
	if (!options)
		return;
	patterns_end(&options->exclude);
	patterns_end(&options->include);
	patterns_end(&options->admit);
	patterns_end(&options->hidden);
	free(options->git_base);
	free(options->git_repository);
	free(options->git_head);
	agentbox_audit_unref(options->audit);
	free(options);
}

static int32_t given(const agentbox_snapshot_options *options, const void *p,
		     const char *what, agentbox_error **err)
{
	if (options && p)
		return 0;
	return ab_error_set(err, AGENTBOX_EINVAL, "", "%s is NULL",
			    options ? what : "options");
}

int32_t agentbox_snapshot_options_set_profile(
	agentbox_snapshot_options *options, const char *profile,
	agentbox_error **err)
{
	int32_t rc = given(options, profile, "profile", err);

	if (rc < 0)
		return rc;
	if (strcmp(profile, "strict") == 0)
		options->profile = AB_FILTER_STRICT;
	else if (strcmp(profile, "required") == 0)
		options->profile = AB_FILTER_REQUIRED;
	else
		return ab_error_set(err, AGENTBOX_EINVAL, "profile",
				    "\"%s\" is no profile; give \"strict\" or "
				    "\"required\"", profile);
	return 0;
}

int32_t agentbox_snapshot_options_set_content(
	agentbox_snapshot_options *options, const char *level,
	agentbox_error **err)
{
	int32_t rc = given(options, level, "level", err);

	if (rc < 0)
		return rc;
	if (strcmp(level, "strict") == 0)
		options->content = AB_CONTENT_STRICT;
	else if (strcmp(level, "high") == 0)
		options->content = AB_CONTENT_HIGH;
	else if (strcmp(level, "off") == 0)
		options->content = AB_CONTENT_OFF;
	else
		return ab_error_set(err, AGENTBOX_EINVAL, "content",
				    "\"%s\" is no level; give \"strict\", "
				    "\"high\" or \"off\"", level);
	return 0;
}

int32_t agentbox_snapshot_options_set_git(agentbox_snapshot_options *options,
					  const char *mode, const char *base,
					  agentbox_error **err)
{
	static const char *const names[] = {
		[AB_COPY_GIT_NONE] = "none",
		[AB_COPY_GIT_HEAD] = "head",
		[AB_COPY_GIT_RANGE] = "range",
	};
	int32_t rc = given(options, mode, "mode", err);
	uint32_t i = 0;

	if (rc < 0)
		return rc;
	while (i < 3 && strcmp(mode, names[i]) != 0)
		i++;
	if (i == 3)
		return ab_error_set(err, AGENTBOX_EINVAL, "git",
				    "\"%s\" is no mode; give \"none\", "
				    "\"head\" or \"range\"", mode);
	if ((i == AB_COPY_GIT_RANGE) != (base != NULL))
		return ab_error_set(err, AGENTBOX_EINVAL, "git",
				    base ? "a base is for \"range\" only" :
				    "\"range\" needs a base: a branch, a tag, "
				    "or the full name of a commit");
	if (base && !ab_commit_is_reference(base))
		return ab_error_set(err, AGENTBOX_EINVAL, "git",
				    "\"%s\" is neither a reference's name nor "
				    "a commit's", base);
	char *copy = base ? ab_strdup(base) : NULL;
	if (base && !copy)
		return ab_error_nomem(err);
	free(options->git_base);
	options->git_base = copy;
	options->git_mode = i;
	return 0;
}

enum list { EXCLUDE, INCLUDE, ADMIT, HIDDEN };

static ab_patterns *list_of(agentbox_snapshot_options *o, enum list which)
{
	ab_patterns *const lists[] = {
		[EXCLUDE] = &o->exclude,
		[INCLUDE] = &o->include,
		[ADMIT] = &o->admit,
		[HIDDEN] = &o->hidden,
	};

	return lists[which];
}

/* One pattern alone makes a filter, or is refused in the filter's words. */
static int32_t try_pattern(const char *pattern, enum list which,
			   agentbox_error **err)
{
	ab_auto(ab_filter) *filter = NULL;
	const char *const one[] = { pattern };
	ab_filter_options o = {
		.profile = AB_FILTER_STRICT,
		.exclude = one,
		.exclude_count = which == EXCLUDE,
		.include = one,
		.include_count = which == INCLUDE,
		.admit = one,
		.admit_count = which == ADMIT,
		.hidden = one,
		.hidden_count = which == HIDDEN,
	};

	return ab_filter_new(&o, &filter, err);
}

static int32_t add(agentbox_snapshot_options *options, const char *pattern,
		   enum list which, agentbox_error **err)
{
	int32_t rc = given(options, pattern, "pattern", err);
	ab_patterns *list;

	if (rc == 0)
		rc = try_pattern(pattern, which, err);
	if (rc < 0)
		return rc;
	list = list_of(options, which);
	if (list->count >= AB_FILTER_PATTERNS_MAX)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "more than %d patterns",
				    AB_FILTER_PATTERNS_MAX);
	char *copy = ab_strdup(pattern);
	char **items = copy ? ab_realloc(list->items, list->count + 1,
					 sizeof(*items)) : NULL;
	if (!items) {
		free(copy);
		return ab_error_nomem(err);
	}
	list->items = items;
	list->items[list->count++] = copy;
	return 0;
}

int32_t agentbox_snapshot_options_add_exclude(
	agentbox_snapshot_options *options, const char *pattern,
	agentbox_error **err)
{
	return add(options, pattern, EXCLUDE, err);
}

int32_t agentbox_snapshot_options_add_include(
	agentbox_snapshot_options *options, const char *pattern,
	agentbox_error **err)
{
	return add(options, pattern, INCLUDE, err);
}

int32_t agentbox_snapshot_options_add_admit(
	agentbox_snapshot_options *options, const char *admission,
	agentbox_error **err)
{
	return add(options, admission, ADMIT, err);
}

int32_t ab_snapshot_options_add_hidden(agentbox_snapshot_options *options,
				       const char *pattern,
				       agentbox_error **err)
{
	return add(options, pattern, HIDDEN, err);
}

int32_t agentbox_snapshot_options_set_hashes(
	agentbox_snapshot_options *options, int32_t on, agentbox_error **err)
{
	int32_t rc = given(options, options, "", err);

	if (rc == 0)
		options->hashes = on != 0;
	return rc;
}

static int32_t set(agentbox_snapshot_options *options, uint64_t *field,
		   uint64_t value, uint64_t max, const char *what,
		   agentbox_error **err)
{
	if (!options)
		return given(options, NULL, "", err);
	if (value == 0 || value > max)
		return ab_error_set(err, AGENTBOX_EINVAL, what,
				    "%s is 1 to %llu", what,
				    (unsigned long long)max);
	*field = value;
	return 0;
}

int32_t agentbox_snapshot_options_set_max_bytes(
	agentbox_snapshot_options *options, uint64_t bytes,
	agentbox_error **err)
{
	return set(options, options ? &options->max_bytes : NULL, bytes,
		   INT64_MAX, "max_bytes", err);
}

int32_t agentbox_snapshot_options_set_max_files(
	agentbox_snapshot_options *options, uint64_t files,
	agentbox_error **err)
{
	return set(options, options ? &options->max_files : NULL, files,
		   UINT32_MAX, "max_files", err);
}

int32_t agentbox_snapshot_options_set_max_file(
	agentbox_snapshot_options *options, uint64_t bytes,
	agentbox_error **err)
{
	return set(options, options ? &options->max_file_bytes : NULL, bytes,
		   INT64_MAX, "max_file_bytes", err);
}

int32_t agentbox_snapshot_options_set_max_depth(
	agentbox_snapshot_options *options, uint32_t depth,
	agentbox_error **err)
{
	uint64_t value = depth;
	int32_t rc = set(options, &value, depth, MAX_DEPTH, "max_depth", err);

	if (rc == 0)
		options->max_depth = depth;
	return rc;
}

int32_t agentbox_snapshot_options_set_deadline(
	agentbox_snapshot_options *options, uint64_t milliseconds,
	agentbox_error **err)
{
	return set(options, options ? &options->deadline_ms : NULL,
		   milliseconds, INT32_MAX, "deadline", err);
}

int32_t agentbox_snapshot_options_set_audit(
	agentbox_snapshot_options *options, agentbox_audit *audit,
	agentbox_error **err)
{
	int32_t rc = given(options, options, "", err);

	if (rc < 0)
		return rc;
	agentbox_audit *old = options->audit;
	options->audit = audit ? agentbox_audit_ref(audit) : NULL;
	agentbox_audit_unref(old);
	return 0;
}

/* --- a policy's section --- */

/* The pattern that is wrong is told by its place in the document. */
static int32_t add_all(agentbox_snapshot_options *o, const json_t *section,
		       const char *key, enum list which, agentbox_error **err)
{
	const json_t *array = json_object_get(section, key);
	ab_auto(agentbox_error) *error = NULL;
	char where[64];
	int32_t rc = 0;

	for (size_t i = 0; rc == 0 && i < json_array_size(array); i++) {
		const char *s = json_string_value(json_array_get(array, i));

		snprintf(where, sizeof(where), "/snapshot/%s/%zu", key, i);
		rc = s ? add(o, s, which, &error) :
			 ab_error_set(&error, AGENTBOX_EPOLICY, where,
				      "a pattern is no string");
	}
	return rc < 0 ? ab_error_set(err, rc, where, "%s: %s", where,
				     agentbox_error_get_message(error))
		      : 0;
}

int32_t ab_snapshot_options_add_excludes(agentbox_snapshot_options *options,
					 const void *section,
					 agentbox_error **err)
{
	return add_all(options, section, "exclude", EXCLUDE, err);
}

/* git and git_base; the latter means nothing without "range". */
static int32_t set_git(agentbox_snapshot_options *options, const char *git,
		       const json_t *section, agentbox_error **err)
{
	const char *base = json_string_value(
		json_object_get(section, "git_base"));

	if (strcmp(git, "range") != 0)
		return agentbox_snapshot_options_set_git(options, git, NULL,
							 err);
	if (!base || !ab_commit_is_reference(base))
		return ab_error_set(err, AGENTBOX_EPOLICY,
				    "/snapshot/git_base",
				    "git \"range\" needs a git_base: a branch, "
				    "a tag, or the full name of a commit");
	return agentbox_snapshot_options_set_git(options, git, base, err);
}

/*
 * Kept while no commits are asked for, for a host may ask for them afterwards,
 * and means this repository then. See make_plan().
 */
static int32_t set_repository(agentbox_snapshot_options *options,
			      const json_t *section, agentbox_error **err)
{
	ab_auto(agentbox_error) *error = NULL;
	int32_t rc = agentbox_snapshot_options_set_repository(
		options,
		json_string_value(json_object_get(section, "repository")),
		json_string_value(json_object_get(section, "git_head")),
		&error);

	options->may_be_idle = true;
	if (rc != AGENTBOX_EINVAL)
		return rc < 0 ? ab_error_copy(err, error) : 0;
	const char *where = strcmp(agentbox_error_get_where(error), "head") ?
				    "/snapshot/repository" :
				    "/snapshot/git_head";
	return ab_error_set(err, AGENTBOX_EPOLICY, where, "%s: %s", where,
			    agentbox_error_get_message(error));
}

static int32_t set_section(agentbox_snapshot_options *options,
			   const json_t *section, agentbox_error **err)
{
	const char *git = json_string_value(json_object_get(section, "git"));
	int32_t rc = 0;
	char why[AB_WHY_SIZE];
	const char *bytes = json_string_value(
		json_object_get(section, "max_bytes"));
	const char *deadline = json_string_value(
		json_object_get(section, "deadline"));
	const json_t *files = json_object_get(section, "max_files");
	uint64_t v;

	/* What the policy's own check let through fits; else it is told. */
	if (bytes && rc == 0)
		rc = ab_value_size(bytes, false, &v, why) ?
			     agentbox_snapshot_options_set_max_bytes(
				     options, v, err) :
			     ab_error_set(err, AGENTBOX_EPOLICY,
					  "/snapshot/max_bytes", "%s", why);
	if (deadline && rc == 0)
		rc = ab_value_duration(deadline, &v, why) ?
			     agentbox_snapshot_options_set_deadline(
				     options, v, err) :
			     ab_error_set(err, AGENTBOX_EPOLICY,
					  "/snapshot/deadline", "%s", why);
	if (files && rc == 0)
		rc = agentbox_snapshot_options_set_max_files(
			options, (uint64_t)json_integer_value(files), err);
	if (git && rc == 0)
		rc = set_git(options, git, section, err);
	if (rc == 0 && (git || json_object_get(section, "repository")))
		rc = set_repository(options, section, err);
	if (rc == 0)
		rc = add_all(options, section, "exclude", EXCLUDE, err);
	if (rc == 0)
		rc = add_all(options, section, "include", INCLUDE, err);
	if (rc == 0)
		rc = add_all(options, section, "admit", ADMIT, err);
	return rc;
}

static int32_t copy_all(ab_patterns *to, const ab_patterns *from)
{
	to->items = ab_calloc(from->count + 1, sizeof(*to->items));
	for (; to->items && to->count < from->count; to->count++) {
		to->items[to->count] = ab_strdup(from->items[to->count]);
		if (!to->items[to->count])
			return AGENTBOX_ENOMEM;
	}
	return to->items ? 0 : AGENTBOX_ENOMEM;
}

/* NULL is one too. */
static bool copy_text(char **to, const char *from)
{
	*to = from ? ab_strdup(from) : NULL;
	return *to || !from;
}

/* All but the audit. */
static bool copy_options(agentbox_snapshot_options *o,
			 const agentbox_snapshot_options *options)
{
	*o = *options;
	o->exclude = o->include = o->admit = o->hidden = (ab_patterns){ 0 };
	o->audit = NULL;
	o->git_base = o->git_repository = o->git_head = NULL;
	return copy_text(&o->git_base, options->git_base) &&
	       copy_text(&o->git_repository, options->git_repository) &&
	       copy_text(&o->git_head, options->git_head) &&
	       copy_all(&o->exclude, &options->exclude) == 0 &&
	       copy_all(&o->include, &options->include) == 0 &&
	       copy_all(&o->admit, &options->admit) == 0 &&
	       copy_all(&o->hidden, &options->hidden) == 0;
}

int32_t ab_snapshot_options_copy(const agentbox_snapshot_options *options,
				 agentbox_snapshot_options **out,
				 agentbox_error **err)
{
	agentbox_snapshot_options *o = ab_new(agentbox_snapshot_options);

	if (!o || !copy_options(o, options)) {
		agentbox_snapshot_options_free(o);
		return ab_error_nomem(err);
	}
	if (options->audit)
		o->audit = agentbox_audit_ref(options->audit);
	*out = o;
	return 0;
}

/* On a copy, so that a section that cannot be taken over changes nothing. */
int32_t ab_snapshot_options_set_section(agentbox_snapshot_options *options,
					const void *section,
					agentbox_error **err)
{
	agentbox_snapshot_options *o = ab_new(agentbox_snapshot_options);
	agentbox_snapshot_options swap;
	int32_t rc = 0;

	if (!o)
		return ab_error_nomem(err);
	if (!copy_options(o, options))
		rc = ab_error_nomem(err);
	if (rc == 0)
		rc = set_section(o, section, err);
	if (rc == 0) {
		swap = *options;
		*options = *o;
		options->audit = swap.audit;
		*o = swap;
		o->audit = NULL;
	}
	agentbox_snapshot_options_free(o);
	return rc;
}

int32_t agentbox_snapshot_options_set_policy(
	agentbox_snapshot_options *options, agentbox_policy *policy,
	agentbox_error **err)
{
	int32_t rc = given(options, policy, "policy", err);
	if (rc < 0)
		return rc;
	const void *section = ab_policy_section(policy, "/snapshot");
	return section ? ab_snapshot_options_set_section(options, section, err)
		       : 0;
}
