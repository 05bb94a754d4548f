/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes as a log: the scanner must agree with jansson on every line, and
 * verify, show and report must neither crash nor call it anchored.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentbox/audit.h"
#include "audit/internal.h"
#include "base/fd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int32_t ignore(void *data, const char *line, size_t n)
{
	(void)data;
	if (!n || line[n - 1] != '\n')
		abort();
	for (size_t i = 0; i + 1 < n; i++) {
		if (line[i] < 0x20 || line[i] > 0x7e)
			abort();
	}
	return 0;
}

static void compare_lines(const char *p, size_t n)
{
	while (n) {
		const char *end = memchr(p, '\n', n);
		size_t len = end ? (size_t)(end - p) : n;
		ab_audit_frame a, b;

		if (ab_audit_scan(p, len, &a) != ab_audit_scan_slow(p, len, &b))
			abort();
		p += end ? len + 1 : len;
		n -= end ? len + 1 : len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = ab_fd_memfd_sealed("fuzz", data, size);
	agentbox_context *context = NULL;
	agentbox_bytes *report = NULL;
	char path[40];
	const char *paths[1] = { path };

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	compare_lines((const char *)data, size);
	if (agentbox_context_new(&context, NULL) == 0) {
		(void)agentbox_audit_verify(context, paths, 1, NULL, NULL, NULL,
					    &report, NULL);
		if (report && strstr(agentbox_bytes_get_data(report),
				     "\"tail\":\"anchored\""))
			abort();
		agentbox_bytes_free(report);
		report = NULL;
		(void)agentbox_audit_show(context, paths, 1, NULL, ignore, NULL,
					  NULL);
		(void)agentbox_audit_report(context, paths, 1, NULL, &report,
					    NULL);
		agentbox_bytes_free(report);
	}
	agentbox_context_unref(context);
	close(fd);
	return 0;
}
