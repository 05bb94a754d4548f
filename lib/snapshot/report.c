/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report as JSON lines. It refuses nothing and loses nothing silently:
 * what does not fit is counted. Spec: report.h, wire/copy.h.
 */
#include "config.h"

#include "snapshot/report.h"

#include <errno.h>
#include <string.h>

#include "base/fd.h"
#include "snapshot/line.h"

#define DROPPED_ROOM 64

int ab_report_begin(ab_report *report)
{
	report->lines = 0;
	report->dropped = 0;
	report->bytes = ab_bytes_new(AB_REPORT_MAX);
	return report->bytes ? 0 : -ENOMEM;
}

void ab_report_end(ab_report *report)
{
	agentbox_bytes_free(report->bytes);
	report->bytes = NULL;
}

static void finish(ab_report *report, ab_line *line)
{
	size_t have = agentbox_bytes_get_size(report->bytes);

	ab_line_add(line, "}\n");
	report->lines++;
	if (line->bad || report->dropped ||
	    have + line->len + DROPPED_ROOM > AB_REPORT_MAX ||
	    !ab_bytes_append(report->bytes, line->text, line->len))
		report->dropped++;
}

void ab_report_left_out(ab_report *report, const char *path, size_t n,
			const ab_report_left *why)
{
	char tier[2] = { why->tier, 0 };
	ab_line line;

	ab_line_begin(&line);
	ab_line_add(&line, "{");
	ab_line_path(&line, path, n);
	ab_line_add(&line, ",\"reason\":\"");
	ab_line_add(&line, why->reason == AB_KEPT
				   ? "admitted"
				   : ab_left_out_name(why->reason));
	ab_line_add(&line, "\"");
	if (why->rule && why->rule[0]) {
		ab_line_add(&line, ",\"rule\":\"");
		ab_line_text(&line, why->rule, strlen(why->rule));
		ab_line_add(&line, "\"");
	}
	if (why->tier) {
		ab_line_add(&line, ",\"tier\":\"");
		ab_line_text(&line, tier, 1);
		ab_line_add(&line, "\"");
	}
	if (why->line) {
		ab_line_add(&line, ",\"line\":");
		ab_line_number(&line, why->line);
	}
	if (why->is_base)
		ab_line_add(&line, ",\"in\":\"base\"");
	finish(report, &line);
}

void ab_report_problem(ab_report *report, const char *path, size_t n,
		       const char *problem)
{
	ab_line line;

	ab_line_begin(&line);
	ab_line_add(&line, "{");
	ab_line_path(&line, path, n);
	ab_line_add(&line, ",\"problem\":\"");
	ab_line_add(&line, problem);
	ab_line_add(&line, "\"");
	finish(report, &line);
}

int ab_report_seal(ab_report *report)
{
	ab_line line;

	if (report->dropped) {
		ab_line_begin(&line);
		ab_line_add(&line, "{\"dropped\":");
		ab_line_number(&line, report->dropped);
		ab_line_add(&line, "}\n");
		if (!ab_bytes_append(report->bytes, line.text, line.len))
			return -ENOMEM;
	}
	return ab_fd_memfd_sealed("agentbox-report",
				  agentbox_bytes_get_data(report->bytes),
				  agentbox_bytes_get_size(report->bytes));
}
