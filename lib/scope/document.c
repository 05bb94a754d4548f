/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The document of a scope: who the caller is, what is his, what he may read,
 * and whom else the host knows. It refuses every name that could say more
 * than itself where it is shown (L23). Spec: agentbox_scope(3).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "scope/internal.h"

static int32_t refuse(agentbox_error **err, const char *where, const char *why)
{
	return ab_error_set(err, AGENTBOX_EPOLICY, where, "%s", why);
}

static bool is_alias(const char *s)
{
	size_t n = strlen(s);

	if (n < 2 || n > AB_SCOPE_MAX_ALIAS)
		return false;
	for (size_t i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] == 0x7f || (s[i] & 0x80) ||
		    strchr("\"'\\<>`", s[i]))
			return false;
	return true;
}

static int32_t check_list(const json_t *list, bool aliases, const char *where,
			  agentbox_error **err)
{
	if (list && !json_is_array(list))
		return refuse(err, where, "a list of names is an array");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *s = json_string_value(json_array_get(list, i));

		if (!s || (aliases ? !is_alias(s) : !ab_scope_is_id(s)))
			return refuse(err, where,
				      aliases ? "an alias is 2 to 255 "
						"printable characters without "
						"quotes or spaces" :
						"a name is 1 to 64 letters, "
						"digits, '.', '_', '-'");
	}
	return 0;
}

static bool is_one_of(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (strcmp(key, *keys) == 0)
			return true;
	return false;
}

static int32_t check_box(const json_t *box, const char *where,
			 const char *const *keys, agentbox_error **err)
{
	const char *key;
	json_t *value;
	int32_t r;

	if (!json_is_object(box))
		return refuse(err, where, "a box is an object with an id");
	json_object_foreach ((json_t *)(uintptr_t)box, key, value)
		if (keys && !is_one_of(key, keys))
			return ab_error_set(err, AGENTBOX_EPOLICY, where,
					    "unknown key '%s'", key);
	if (!json_object_get(box, "id"))
		return refuse(err, where, "the key 'id' is missing");
	if (!json_is_string(json_object_get(box, "id")) ||
	    !ab_scope_is_id(json_string_value(json_object_get(box, "id"))))
		return refuse(err, where, "an id is 1 to 64 letters, digits, "
					  "'.', '_', '-'");
	r = check_list(json_object_get(box, "names"), false, where, err);
	return r == 0 ? check_list(json_object_get(box, "aliases"), true,
				   where, err) : r;
}

static int32_t check_boxes(const json_t *document, const char *key,
			   agentbox_error **err)
{
	static const char *const keys[] = { "id", "names", "aliases", NULL };
	const json_t *list = json_object_get(document, key);
	char where[48];

	snprintf(where, sizeof(where), "/%s", key);
	if (list && !json_is_array(list))
		return refuse(err, where, "a list of boxes is an array");
	for (size_t i = 0; i < json_array_size(list); i++) {
		int32_t r;

		snprintf(where, sizeof(where), "/%s/%zu", key, i);
		r = check_box(json_array_get(list, i), where, keys, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- grants --------------------------------------------------------------- */

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static bool is_callers(const json_t *document, const char *reader)
{
	const json_t *boxes = json_object_get(document, "boxes");

	if (strcmp(reader, text_of(document, "id")) == 0)
		return true;
	for (size_t i = 0; i < json_array_size(boxes); i++)
		if (strcmp(reader, text_of(json_array_get(boxes, i), "id")) ==
		    0)
			return true;
	return false;
}

int32_t ab_scope_add_other(json_t *document, const json_t *box,
			   agentbox_error **err)
{
	json_t *others = json_object_get(document, "others");

	for (size_t i = 0; i < json_array_size(others); i++)
		if (json_equal(json_array_get(others, i), box))
			return 0;
	if (json_array_size(others) >= AB_SCOPE_MAX_NAMES)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "more than %d names", AB_SCOPE_MAX_NAMES);
	if (json_array_append_new(others, json_deep_copy(box)) < 0)
		return ab_error_nomem(err);
	return 0;
}

static int32_t add_reader(json_t *document, const char *id,
			  agentbox_error **err)
{
	ab_auto(json_t) *box = NULL;

	if (!*id || is_callers(document, id))
		return 0;
	box = json_pack("{s:s}", "id", id);
	return box ? ab_scope_add_other(document, box, err) :
		     ab_error_nomem(err);
}

/* A grant as a box: its source; with the name below .shared when it is live. */
static int32_t add_source(json_t *document, const json_t *grant, bool is_live,
			  const char *where, agentbox_error **err)
{
	const char *source = text_of(grant, "source");
	const char *name = text_of(grant, "name");
	ab_auto(json_t) *box = NULL;
	int32_t r;

	if (is_callers(document, source))
		return 0;
	name = *name ? name : source;
	if (is_live && !ab_scope_is_id(name))
		return refuse(err, where, "a name is 1 to 64 letters, digits, "
					  "'.', '_', '-'");
	box = json_pack("{s:s, s:s*, s:O*, s:O*}", "id", source, "name",
			is_live ? name : NULL, "names",
			json_object_get(grant, "names"), "aliases",
			json_object_get(grant, "aliases"));
	if (!box)
		return ab_error_nomem(err);
	r = check_box(box, where, NULL, err);
	if (r < 0 || !is_live)
		return r < 0 ? r : ab_scope_add_other(document, box, err);
	if (json_array_append(json_object_get(document, "grants"), box) < 0)
		return ab_error_nomem(err);
	return 0;
}

static int32_t take_grant(json_t *document, const json_t *grant,
			  const char *where, agentbox_error **err)
{
	static const char *const strings[] = { "reader", "source", "name",
					       "state", NULL };
	const char *reader;
	const char *state;
	bool is_ours;
	int32_t r;

	for (size_t i = 0; strings[i]; i++) {
		const json_t *v = json_object_get(grant, strings[i]);

		if (v && !json_is_string(v))
			return refuse(err, where, "a grant's reader, source, "
						  "name and state are text");
	}
	if (!json_is_object(grant) || !ab_scope_is_id(text_of(grant, "source")))
		return refuse(err, where, "a grant has the id of its source");
	reader = text_of(grant, "reader");
	state = text_of(grant, "state");
	if (*reader && !ab_scope_is_id(reader))
		return refuse(err, where, "the reader's id is none");
	is_ours = !*reader || is_callers(document, reader);
	/* other readers' grants, and dead ones, say only who there is */
	r = add_source(document, grant,
		       is_ours && (!*state || strcmp(state, "live") == 0),
		       where, err);
	return r == 0 && !is_ours ? add_reader(document, reader, err) : r;
}

int32_t ab_scope_take_grants(json_t *document, const json_t *list,
			     agentbox_error **err)
{
	char where[48];

	if (list && !json_is_array(list))
		return refuse(err, "/grants", "grants are an array");
	for (size_t i = 0; i < json_array_size(list); i++) {
		int32_t r;

		snprintf(where, sizeof(where), "/grants/%zu", i);
		r = take_grant(document, json_array_get(list, i), where, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the whole ------------------------------------------------------------ */

static json_t *array_of(const json_t *d, const char *key)
{
	const json_t *list = json_object_get(d, key);

	return list ? json_deep_copy(list) : json_array();
}

int32_t ab_scope_read_document(const char *text, size_t n, json_t **out,
			       agentbox_error **err)
{
	static const char *const keys[] = { "id",    "names",  "aliases",
					    "boxes", "grants", "others", NULL };
	ab_auto(json_t) *d = NULL;
	ab_auto(json_t) *kept = NULL;
	int32_t r = ab_json_parse(text, n, AB_SCOPE_MAX_DOCUMENT, &d, NULL,
				  err);

	if (r == 0)
		r = check_box(d, "", keys, err);
	if (r == 0)
		r = check_boxes(d, "boxes", err);
	if (r == 0)
		r = check_boxes(d, "others", err);
	if (r < 0)
		return r;
	kept = json_pack("{s:O, s:o, s:o, s:o, s:[], s:o}", "id",
			 json_object_get(d, "id"), "names",
			 array_of(d, "names"), "aliases",
			 array_of(d, "aliases"), "boxes", array_of(d, "boxes"),
			 "grants", "others", array_of(d, "others"));
	if (!kept)
		return ab_error_nomem(err);
	r = ab_scope_take_grants(kept, json_object_get(d, "grants"), err);
	if (r == 0)
		*out = ab_steal(&kept);
	return r;
}
