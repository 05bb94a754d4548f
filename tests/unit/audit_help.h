/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the audit tests share: a log in a fresh directory, and its bytes. */
#ifndef AUDIT_HELP_H
#define AUDIT_HELP_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abtest.h"
#include "audit/audit.h"
#include "audit/internal.h"

#define HASH_EMPTY                                                  \
	"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca4" \
	"95991b7852b855"

typedef struct fixture {
	agentbox_context *context;
	char dir[512], log[600], key[600], anchor[600];
} fixture;

static inline void fixture_begin(fixture *f)
{
	memset(f, 0, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "%s/audit.XXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(f->dir));
	snprintf(f->log, sizeof(f->log), "%s/log", f->dir);
	snprintf(f->key, sizeof(f->key), "%s/key", f->dir);
	snprintf(f->anchor, sizeof(f->anchor), "%s/anchor", f->dir);
	ck_assert_int_eq(agentbox_context_new(&f->context, NULL), 0);
}

static inline void fixture_end(fixture *f)
{
	char command[700];

	agentbox_context_unref(f->context);
	snprintf(command, sizeof(command), "rm -rf '%s'", f->dir);
	ck_assert_int_eq(system(command), 0);
}

static inline void ok_(int32_t rc, agentbox_error *err, int line)
{
	ck_assert_msg(rc == 0, "line %d: %s: %s", line,
		      agentbox_error_name(rc),
		      agentbox_error_get_message(err));
}
#define OK(call)                           \
	do {                               \
		agentbox_error *err = NULL; \
		int32_t rc_ = (call);      \
		ok_(rc_, err, __LINE__);   \
	} while (0)

static inline agentbox_audit *audit_at(fixture *f, bool has_key)
{
	agentbox_audit *a = NULL;

	OK(agentbox_audit_new(f->context, &a, &err));
	OK(agentbox_audit_set_path(a, f->log, &err));
	if (has_key)
		OK(agentbox_audit_set_key_file(a, f->key, &err));
	return a;
}

static inline agentbox_audit *opened(fixture *f, bool has_key)
{
	agentbox_audit *a = audit_at(f, has_key);

	OK(agentbox_audit_open(a, &err));
	return a;
}

static inline void put(agentbox_audit *a, const char *type, const char *json)
{
	OK(agentbox_audit_append(a, type, json, json ? strlen(json) : 0,
				 &err));
}

/* n records with different subjects. */
static inline void put_many(agentbox_audit *a, int n)
{
	char json[128];

	for (int i = 0; i < n; i++) {
		snprintf(json, sizeof(json),
			 "{\"subject\":\"file-%d\",\"verdict\":\"allow\"}", i);
		put(a, "check.write", json);
	}
}

static inline char *slurp(const char *path, size_t *n)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *p;

	ck_assert_msg(fd >= 0, "open %s", path);
	ck_assert_int_eq(fstat(fd, &st), 0);
	p = calloc(1, (size_t)st.st_size + 1);
	ck_assert_int_eq(read(fd, p, (size_t)st.st_size), st.st_size);
	close(fd);
	*n = (size_t)st.st_size;
	return p;
}

static inline void spill(const char *path, const char *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, p, n), (ssize_t)n);
	close(fd);
}

static inline char *text_of(agentbox_bytes *b)
{
	char *s = strdup(agentbox_bytes_get_data(b));

	agentbox_bytes_free(b);
	return s;
}

static inline char *anchor_of(agentbox_audit *a)
{
	agentbox_bytes *b = NULL;

	OK(agentbox_audit_get_anchor(a, &b, &err));
	return text_of(b);
}

static inline char *key_of(agentbox_audit *a)
{
	agentbox_bytes *b = NULL;

	OK(agentbox_audit_get_key(a, &b, &err));
	return text_of(b);
}

typedef struct verdict {
	int32_t rc;
	json_t *report; /* owned */
} verdict;

static inline verdict verify_paths(fixture *f, const char *const *paths,
				   size_t count, const char *key,
				   const char *anchor, const char *start)
{
	verdict v = { 0 };
	agentbox_bytes *b = NULL;

	v.rc = agentbox_audit_verify(f->context, paths, count, key, anchor,
				     start, &b, NULL);
	if (b)
		v.report = json_loads(agentbox_bytes_get_data(b), 0, NULL);
	agentbox_bytes_free(b);
	return v;
}

static inline verdict verify(fixture *f, const char *key, const char *anchor)
{
	const char *path = f->log;

	return verify_paths(f, &path, 1, key, anchor, NULL);
}

static inline const char *word(const verdict *v, const char *key)
{
	const char *s = json_string_value(json_object_get(v->report, key));

	return s ? s : "";
}

static inline long long number(const verdict *v, const char *key)
{
	return json_integer_value(json_object_get(v->report, key));
}

/* The verdict and one number of its report, which is freed. */
static inline void judged_(verdict v, int32_t rc, const char *key,
			   long long n, int line)
{
	ck_assert_msg(v.rc == rc, "line %d: %s", line,
		      agentbox_error_name(v.rc));
	ck_assert_msg(rc != AGENTBOX_ETAMPERED ||
			      !strcmp(word(&v, "status"), "tampered"),
		      "line %d: %s", line, word(&v, "status"));
	ck_assert_msg(number(&v, key) == n, "line %d: %s is %lld", line, key,
		      number(&v, key));
	json_decref(v.report);
}
#define JUDGED(v, rc, key, n) judged_(v, rc, key, n, __LINE__)

/* Start of line i (0-based) in a log. */
static inline char *line_at(char *p, int i)
{
	while (i-- > 0) {
		p = strchr(p, '\n');
		ck_assert_ptr_nonnull(p);
		p++;
	}
	return p;
}

static inline json_t *record_at(const char *path, int i)
{
	size_t n = 0;
	char *all = slurp(path, &n), *at = line_at(all, i);
	json_t *doc = json_loadb(at, strcspn(at, "\n"), 0, NULL);

	free(all);
	ck_assert_ptr_nonnull(doc);
	return doc;
}

static inline const char *field(const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));

	return s ? s : "";
}

static inline TCase *audit_cases(void (*setup)(void), void (*teardown)(void))
{
	TCase *tc = tcase_create("lib/audit");

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 180);
	return tc;
}

/* The exit status. */
static inline int audit_run(const char *name, TCase *tc)
{
	Suite *s = suite_create(name);
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
