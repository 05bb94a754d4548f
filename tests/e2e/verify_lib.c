/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Spec: verify_lib.h. */
#include "verify_lib.h"

#include <stdlib.h>
#include <string.h>


static agentbox_verify *last;

static void end_last(void)
{
	agentbox_verify_free(last);
	last = NULL;
}

agentbox_verify *verify_box(void)
{
	agentbox_error *err = NULL;

	if (!last)
		atexit(end_last);
	end_last();
	REQUIRE(agentbox_verify_run(box(), NULL, &last, &err) == 0, "%s",
		agentbox_error_get_message(err));
	return last;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *verify_walls(const agentbox_verify *report, const char *verdict)
{
	const char *names[256], *list = "";
	size_t n = 0;

	for (size_t i = 0; i < agentbox_verify_get_count(report); i++) {
		if (n < 256 &&
		    !strcmp(agentbox_verify_get_verdict(report, i), verdict))
			names[n++] = agentbox_verify_get_wall(report, i);
	}
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
			list = e2e_text("%s%s%s", list, i ? " " : "",
					names[i]);
	}
	return list;
}

void verify_note(const agentbox_verify *report, const char *verdict)
{
	for (size_t i = 0; i < agentbox_verify_get_count(report); i++) {
		if (strcmp(agentbox_verify_get_verdict(report, i), verdict))
			continue;
		e2e_note("%s: %s [%s] %s: %s; answered: %s", verdict,
			 agentbox_verify_get_probe(report, i),
			 agentbox_verify_get_wall(report, i),
			 agentbox_verify_get_tried(report, i),
			 agentbox_verify_get_result(report, i),
			 agentbox_verify_get_answer(report, i));
	}
}

const char *verify_verdict(const agentbox_verify *report, const char *probe)
{
	for (size_t i = 0; i < agentbox_verify_get_count(report); i++) {
		if (!strcmp(agentbox_verify_get_probe(report, i), probe))
			return agentbox_verify_get_verdict(report, i);
	}
	return "";
}
