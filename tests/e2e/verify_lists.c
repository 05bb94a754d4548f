/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The verification lists of the two-wall and the contained-run models, of a
 * live box that has everything they speak of: each line of the table in
 * VERIFY-CASES.md names findings, there is one for each name, and it passes.
 * The tests that the table names are run by tests/lists.
 */
#include "verify_lib.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "abtest.h"

#define LISTS "## The verification lists of"

/* Of the policy, whose walls the two models are; then nothing is left of the
   way out. */
static agentbox_verify *test_all(void)
{
	agentbox_verify_options *options = NULL;
	agentbox_verify *report = NULL;
	agentbox_error *err = NULL;
	int fd = open(host_path("outside/secret"), O_RDONLY | O_CLOEXEC);

	box_raise(NULL, "\"network\":{\"mode\":\"gateway\","
			"\"allow\":[\"allowed.example:443\"]}");
	REQUIRE(fd >= 0 && agentbox_verify_options_new(&options, &err) == 0 &&
		agentbox_verify_options_add_secret(options, "token", fd,
						   &err) == 0 &&
		agentbox_verify_options_set_revoke(options, 1, &err) == 0 &&
		agentbox_verify_run(box(), options, &report, &err) == 0, "%s",
		agentbox_error_get_message(err));
	close(fd);
	agentbox_verify_options_free(options);
	return report;
}

/* Of a tree in which the box has something of its own nothing is asked. */
static bool is_shown(const agentbox_verify *report, size_t i)
{
	return !strcmp(agentbox_verify_get_verdict(report, i),
		       "not-applicable") &&
	       strstr(agentbox_verify_get_answer(report, i), "/mounts shows");
}

/* "a.b" is one finding, "a.*" and "a/..." are all that begin so. */
static size_t check_finding(const agentbox_verify *report, const char *item,
			    const char *name)
{
	size_t n = strcspn(name, "*"), found = 0;

	if (strstr(name, "/..."))
		n = (size_t)(strstr(name, "...") - name);
	for (size_t i = 0; i < agentbox_verify_get_count(report); i++) {
		const char *probe = agentbox_verify_get_probe(report, i);

		if (strncmp(probe, name, n) != 0 || (!name[n] && probe[n]))
			continue;
		if (is_shown(report, i))
			continue;
		found++;
		CHECK(!strcmp(agentbox_verify_get_verdict(report, i), "pass"),
		      "%s: %s: %s: %s", item, probe,
		      agentbox_verify_get_verdict(report, i),
		      agentbox_verify_get_result(report, i));
	}
	return found;
}

/* "| what must hold | `finding`, ... | `test`, ... |" */
static size_t check_row(const agentbox_verify *report, char *line)
{
	char *item, *findings, *name;
	size_t count = 0;

	strsep(&line, "|");
	item = strsep(&line, "|");
	item += *item == ' ';
	findings = strsep(&line, "|");
	REQUIRE(findings && line && *line, "no row of the table");
	while (strsep(&findings, "`") && (name = strsep(&findings, "`"))) {
		size_t found = check_finding(report, item, name);

		CHECK(found > 0, "%s: no finding %s", item, name);
		count += found;
	}
	e2e_note("%s: %zu findings", item, count);
	return count;
}

static void every_finding_of_both_lists_passes(void)
{
	char *text = host_read(e2e_text("%s/tests/e2e/VERIFY-CASES.md",
					ab_test_srcdir()));
	agentbox_verify *report;
	size_t rows = 0, findings = 0;
	char *line;

	box_needs_namespaces();
	box_needs("gateway");
	e2e_seconds(60);
	REQUIRE(text && (text = strstr(text, LISTS)), "no lists");
	report = test_all();
	CHECK(agentbox_verify_is_good(report) == 1, "missing: %s, unknown: %s",
	      verify_walls(report, "missing"), verify_walls(report, "unknown"));
	strsep(&text, "\n");
	while ((line = strsep(&text, "\n")) && strncmp(line, "## ", 3) != 0) {
		if (*line != '|' || !strncmp(line, "|---", 4) ||
		    !strncmp(line, "| must hold", 11))
			continue;
		findings += check_row(report, line);
		rows++;
	}
	/* no external service, no file, no secret, no other key, at once */
	CHECK(rows == 7, "%zu rows", rows);
	CHECK(findings > 20, "%zu findings", findings);
	agentbox_verify_free(report);
}

static const struct e2e_case cases[] = {
	CASE(every_finding_of_both_lists_passes),
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
