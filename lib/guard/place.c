/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What only the program knows about where its agent stands. Text only; refuses
 * a path that could be read in two ways. Spec: agentbox/guard.h.
 */
#include "config.h"

#include "guard/place.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "path/lexical.h"

int32_t agentbox_place_new(agentbox_place **place, agentbox_error **err)
{
	agentbox_place *p;

	if (!place)
		return ab_error_set(err, AGENTBOX_EINVAL, "place",
				    "place must not be NULL");
	p = ab_new(agentbox_place);
	if (!p)
		return ab_error_nomem(err);
	*place = p;
	return 0;
}

void agentbox_place_free(agentbox_place *place)
{
	if (!place)
		return;
	free(place->cwd.text);
	free(place->home.text);
	free(place->root.text);
	for (size_t i = 0; i < place->temp_count; i++)
		free(place->temp[i].text);
	free(place);
}

/* A clean copy of an absolute path. */
static int32_t make_path(const char *path, size_t n, const char *what,
			 struct ab_place_path *out, agentbox_error **err)
{
	char clean[AB_MAX_PATH];
	int len = ab_path_normalise(path, n, clean, sizeof(clean));
	char *copy;

	if (len == -ENAMETOOLONG)
		return ab_error_set(err, AGENTBOX_ELIMIT, what,
				    "%s is longer than %d bytes", what,
				    AB_MAX_PATH - 1);
	if (len < 0)
		return ab_error_set(err, AGENTBOX_EINVAL, what,
				    "%s is not an absolute path without '..'",
				    what);
	copy = ab_memdup0(clean, (size_t)len);
	if (!copy)
		return ab_error_nomem(err);
	*out = (struct ab_place_path){ copy, (size_t)len };
	return 0;
}

static int32_t set_path(agentbox_place *place, struct ab_place_path *slot,
			const char *path, size_t n, const char *what,
			agentbox_error **err)
{
	struct ab_place_path fresh = { 0 };
	int32_t r;

	if (!place)
		return ab_error_set(err, AGENTBOX_EINVAL, "place",
				    "place must not be NULL");
	r = path ? make_path(path, n, what, &fresh, err) : 0;
	if (r < 0)
		return r;
	free(slot->text);
	*slot = fresh;
	return 0;
}

int32_t agentbox_place_set_cwd(agentbox_place *place, const char *path,
			       size_t n, agentbox_error **err)
{
	return set_path(place, place ? &place->cwd : NULL, path, n, "cwd", err);
}

int32_t agentbox_place_set_home(agentbox_place *place, const char *path,
				size_t n, agentbox_error **err)
{
	return set_path(place, place ? &place->home : NULL, path, n, "home",
			err);
}

int32_t agentbox_place_set_root(agentbox_place *place, const char *path,
				size_t n, agentbox_error **err)
{
	return set_path(place, place ? &place->root : NULL, path, n, "root",
			err);
}

int32_t agentbox_place_add_temp(agentbox_place *place, const char *path,
				size_t n, agentbox_error **err)
{
	int32_t r;

	if (!place || !path)
		return ab_error_set(err, AGENTBOX_EINVAL, "temp",
				    "%s must not be NULL",
				    place ? "path" : "place");
	if (place->temp_count == AB_MAX_TEMP_DIRS)
		return ab_error_set(err, AGENTBOX_ELIMIT, "temp",
				    "more than %d temporary directories",
				    AB_MAX_TEMP_DIRS);
	r = make_path(path, n, "temp", &place->temp[place->temp_count], err);
	if (r == 0)
		place->temp_count++;
	return r;
}
