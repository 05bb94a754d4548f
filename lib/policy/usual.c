/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The usual of records, see policy/usual.h. Judges nothing: a record that
 * lacks what it must have is refused elsewhere and stays as it is here.
 */
#include "config.h"

#include "policy/usual.h"

#include <string.h>

#include "base/alloc.h"
#include "policy/tree.h"
#include "policy/value.h"
#include "wire/broker.h"

static json_t *copy_of(const json_t *object)
{
	return json_copy((json_t *)(uintptr_t)object);
}

void ab_usual_inject(const json_t *inject, const ab_preset *preset,
		     bool is_git, const char **header, const char **scheme)
{
	const char *h = ab_tree_string(inject, "header");
	const char *s = ab_tree_string(inject, "scheme");

	if (!h && preset) {
		h = preset->header;
		if (!s)
			s = preset->scheme ? preset->scheme : "";
	}
	if (!h)
		h = "authorization";
	if (!s && strcmp(h, "authorization") == 0)
		s = is_git ? "Basic" : "Bearer";
	*header = h;
	*scheme = s ? s : "";
}

/* The `inject` of `record`, if there is one, written out in it. */
static int set_inject(json_t *record, const ab_preset *preset, bool is_git)
{
	const json_t *inject = json_object_get(record, "inject");
	const char *header;
	const char *scheme;
	json_t *whole;

	if (!inject)
		return 0;
	ab_usual_inject(inject, preset, is_git, &header, &scheme);
	whole = copy_of(inject);
	/* the setters refuse NULL */
	if (json_object_set_new(whole, "header", json_string(header)) < 0 ||
	    json_object_set_new(whole, "scheme", json_string(scheme)) < 0) {
		json_decref(whole);
		return -1;
	}
	return json_object_set_new(record, "inject", whole);
}

json_t *ab_usual_route(const json_t *route)
{
	const char *kind = ab_tree_string(route, "kind");
	const ab_preset *preset = ab_preset_find(ab_tree_string(route,
								"preset"));
	ab_auto(json_t) *whole = copy_of(route);
	int bad = !whole;

	if (!kind)
		bad |= json_object_set_new(whole, "kind", json_string("http"));
	if (preset && !ab_tree_string(route, "upstream"))
		bad |= json_object_set_new(whole, "upstream",
					   json_string(preset->upstream));
	if (!bad)
		bad = set_inject(whole, preset,
				 kind && strcmp(kind, "git") == 0);
	return bad ? NULL : ab_steal(&whole);
}

json_t *ab_usual_server(const json_t *server)
{
	static const char *const grants[] = { "pins", "grant", "resources",
					      "prompts" };
	ab_auto(json_t) *whole = copy_of(server);
	int bad = !whole;

	/* nothing is granted, and nothing is pinned, where nothing is listed */
	for (size_t i = 0; i < AB_ARRAY_LEN(grants); i++)
		if (!json_object_get(server, grants[i]))
			bad |= json_object_set_new(whole, grants[i],
						   json_array());
	if (!bad)
		bad = set_inject(whole, NULL, false);
	return bad ? NULL : ab_steal(&whole);
}

/* 24h, or the ttl if that is longer. */
static const char *usual_max_ttl(const json_t *held)
{
	const char *ttl = ab_tree_string(held, "ttl");
	char why[AB_WHY_SIZE];
	uint64_t ms = 0;

	return ttl && ab_value_duration(ttl, &ms, why) &&
			       ms > AB_BROKER_DEFAULT_MAX_TTL_MS ?
		       ttl :
		       "24h";
}

/* By injection alone, for the usual time, to whoever it is and wherever. */
json_t *ab_usual_secret(const json_t *held, const json_t *c)
{
	static const char *const any[] = { "euids", "hosts" };
	ab_auto(json_t) *whole = copy_of(held);
	int bad = !whole;

	if (json_object_get(c, "delivery") && !json_object_get(held, "delivery"))
		bad |= json_object_set_new(whole, "delivery",
					   json_pack("[s]", "inject"));
	if (json_object_get(c, "ttl") && !json_object_get(held, "ttl"))
		bad |= json_object_set_new(whole, "ttl", json_string("15m"));
	if (json_object_get(c, "max_ttl") && !json_object_get(held, "max_ttl"))
		bad |= json_object_set_new(whole, "max_ttl",
					   json_string(usual_max_ttl(held)));
	/* what is not held narrows: git, which needs hosts, names them */
	for (size_t i = 0; i < AB_ARRAY_LEN(any); i++) {
		json_t *own = json_object_get(c, any[i]);

		if (own && !json_object_get(held, any[i]))
			bad |= json_object_set(whole, any[i], own);
	}
	return bad ? NULL : ab_steal(&whole);
}
