/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which records show and report are about. Refuses unknown keys: a filter
 * that was misspelt must not answer with everything.
 * Spec: agentbox_audit_show(3).
 */
#include "config.h"

#include "audit/internal.h"

#include <string.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/json.h"

static const char *const known[] = { "run",	"box",	"group", "type",
				     "verdict", "rule", "since", "until" };

/* The beginning of a record's timestamp, or all of it. */
static bool is_time(const char *s)
{
	static const char shape[] = "0000-00-00T00:00:00.000000Z";
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if (shape[i] == '0' ? s[i] < '0' || s[i] > '9'
				    : s[i] != shape[i])
			return false;
	return n >= sizeof("0000") - 1;
}

static bool is_verdict(const char *s)
{
	return strcmp(s, "none") == 0 || strcmp(s, "allow") == 0 ||
	       strcmp(s, "ask") == 0 || strcmp(s, "deny") == 0;
}

/* What would match nothing, by mistake. */
static int32_t check_value(const char *key, const char *value,
			   agentbox_error **err)
{
	bool is_of_time = strcmp(key, "since") == 0 ||
			  strcmp(key, "until") == 0;

	if (is_of_time && !is_time(value))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "audit filter: '%s' is no time in UTC; "
				    "write 2026-01-31T12:00:00.000000Z, or "
				    "its beginning", value);
	if (strcmp(key, "verdict") == 0 && !is_verdict(value))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "audit filter: verdict '%s' is not none, "
				    "allow, ask or deny", value);
	return 0;
}

int32_t ab_audit_filter_parse(ab_audit_filter *f, const char *json,
			      agentbox_error **err)
{
	ab_auto(json_t) *doc = NULL;
	const char *key;
	json_t *value;
	int32_t rc;

	f->doc = NULL;
	if (!json)
		return 0;
	rc = ab_json_parse(json, strlen(json), AB_MAX_MESSAGE, &doc, NULL,
			   err);
	if (rc != 0)
		return rc;
	if (!json_is_object(doc))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "an audit filter is an object");
	json_object_foreach(doc, key, value) {
		bool is_known = false;

		for (size_t i = 0; i < AB_ARRAY_LEN(known); i++)
			is_known = is_known || strcmp(key, known[i]) == 0;
		if (!is_known || !json_is_string(value))
			return ab_error_set(err, AGENTBOX_EINVAL, "",
					    "audit filter: '%s' is unknown or "
					    "not a string",
					    key);
		rc = check_value(key, json_string_value(value), err);
		if (rc != 0)
			return rc;
	}
	f->doc = ab_steal(&doc);
	return 0;
}

static bool is_same(const json_t *value, const char *want)
{
	const char *s = json_string_value(value);

	return s && strcmp(s, want) == 0;
}

static bool matches_type(const json_t *value, const char *want)
{
	const char *s = json_string_value(value);
	size_t n = strlen(want);

	if (s && n && want[n - 1] == '*')
		return strncmp(s, want, n - 1) == 0;
	return is_same(value, want);
}

/* RFC 3339 UTC with a fixed number of digits sorts as text. */
static bool matches_time(const json_t *value, const char *want, bool is_since)
{
	const char *s = json_string_value(value);

	if (!s)
		return false;
	return is_since ? strcmp(s, want) >= 0 : strcmp(s, want) <= 0;
}

static bool matches_one(const json_t *record, const char *key,
			const char *want)
{
	const json_t *box =
		json_object_get(json_object_get(record, "actor"), "box");

	if (strcmp(key, "type") == 0)
		return matches_type(json_object_get(record, key), want);
	if (strcmp(key, "since") == 0 || strcmp(key, "until") == 0)
		return matches_time(json_object_get(record, "timestamp"), want,
				    key[0] == 's');
	if (strcmp(key, "box") == 0)
		return is_same(box, want);
	if (strcmp(key, "run") == 0)
		return is_same(box, want) ||
		       is_same(json_object_get(record, "run"), want);
	return is_same(json_object_get(record, key), want);
}

bool ab_audit_filter_matches(const ab_audit_filter *f, const json_t *record)
{
	const char *key;
	json_t *value;

	if (!f->doc)
		return true;
	json_object_foreach(f->doc, key, value) {
		if (!matches_one(record, key, json_string_value(value)))
			return false;
	}
	return true;
}
