/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How fast the audit log is written (records a second, batch sync) and
 * verified (MB a second), as a table and one JSON line. DESIGN.md section 15.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agentbox/audit.h"

#define RECORDS 300000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(int32_t rc, agentbox_error *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench audit: %s\n", agentbox_error_get_message(err));
	exit(1);
}

static double append_all(agentbox_context *context, const char *path,
			 int32_t mode, int count)
{
	static const char fields[] =
		"{\"actor\":{\"box\":\"0123456789abcdef0123456789abcdef\","
		"\"generation\":1,\"uid\":1000,\"euid\":1000,\"pid\":4242},"
		"\"subject\":\"/workspace/src/main.c\",\"verdict\":\"allow\","
		"\"rule\":\"workspace.write\",\"config_hash\":\"sha256:"
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852"
		"b855\"}";
	agentbox_audit *a = NULL;
	agentbox_error *err = NULL;
	double start;

	(void)unlink(path);
	must(agentbox_audit_new(context, &a, &err), err);
	must(agentbox_audit_set_path(a, path, &err), err);
	must(agentbox_audit_set_sync(a, mode, 100, &err), err);
	must(agentbox_audit_open(a, &err), err);
	start = now();
	for (int i = 0; i < count; i++)
		must(agentbox_audit_append(a, "check.write", fields,
					   sizeof(fields) - 1, &err),
		     err);
	must(agentbox_audit_close(a, &err), err);
	start = now() - start;
	agentbox_audit_unref(a);
	return count / start;
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : "/var/tmp";
	agentbox_context *context = NULL;
	agentbox_bytes *report = NULL;
	agentbox_error *err = NULL;
	char path[512];
	const char *paths[1] = { path };
	double record, batch, never, best = 0, mb;
	FILE *f;

	snprintf(path, sizeof(path), "%s/agentbox-bench-audit.%d", dir,
		 (int)getpid());
	must(agentbox_context_new(&context, &err), err);
	record = append_all(context, path, AGENTBOX_AUDIT_SYNC_RECORD, 500);
	never = append_all(context, path, AGENTBOX_AUDIT_SYNC_NEVER, RECORDS);
	batch = append_all(context, path, AGENTBOX_AUDIT_SYNC_BATCH, RECORDS);
	f = fopen(path, "r");
	fseek(f, 0, SEEK_END);
	mb = (double)ftell(f) / 1e6;
	fclose(f);
	for (int i = 0; i < 5; i++) {
		double start = now(), rate;

		agentbox_bytes_free(report);
		report = NULL;
		must(agentbox_audit_verify(context, paths, 1, NULL, NULL, NULL,
					   &report, &err),
		     err);
		rate = mb / (now() - start);
		best = rate > best ? rate : best;
	}
	agentbox_bytes_free(report);
	printf("audit append, sync per record  %10.0f records/s\n", record);
	printf("audit append, batch 100 ms     %10.0f records/s "
	       "(target 100000)\n",
	       batch);
	printf("audit append, never synced     %10.0f records/s\n", never);
	printf("audit verify                   %10.0f MB/s (target 300)\n",
	       best);
	printf("{\"bench\":\"audit\",\"append_record\":%.0f,"
	       "\"append_batch\":%.0f,\"append_never\":%.0f,"
	       "\"verify_mb_s\":%.0f}\n",
	       record, batch, never, best);
	(void)unlink(path);
	agentbox_context_unref(context);
	return 0;
}
