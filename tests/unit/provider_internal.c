/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which programs may be asked for a value: a table of files stands for the
 * file system. And the plan that names one, cut everywhere.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abtest.h"
#include "base/attr.h"
#include "provider.h"
#include "wire/provider.h"

/* whoever runs this */
#define US 1000000

static const struct {
	const char *path;
	unsigned mode, uid;
	const char *link;
	unsigned names; /* 0: one */
	const char *as; /* it is another name of this one */
} files[] = {
	{ "/", S_IFDIR | 0755, 0, NULL },
	{ "/bin", S_IFLNK | 0777, 0, "usr/bin" },
	{ "/usr", S_IFDIR | 0755, 0, NULL },
	{ "/usr/bin", S_IFDIR | 0755, 0, NULL },
	{ "/usr/bin/pass", S_IFREG | 0755, 0, NULL },
	{ "/usr/bin/away", S_IFLNK | 0777, 0, "/tmp/mine" },
	{ "/usr/bin/group", S_IFREG | 0775, 0, NULL },
	{ "/usr/bin/all", S_IFREG | 0757, 0, NULL },
	{ "/usr/bin/his", S_IFREG | 0755, 7, NULL },
	{ "/usr/bin/hislink", S_IFLNK | 0777, 7, "pass" },
	{ "/usr/bin/loop", S_IFLNK | 0777, 0, "loop" },
	{ "/usr/bin/empty", S_IFLNK | 0777, 0, "" },
	{ "/usr/bin/fifo", S_IFIFO | 0600, 0, NULL },
	{ "/usr/bin/up", S_IFLNK | 0777, 0, "../../people/us/mine" },
	{ "/usr/bin/perl", S_IFREG | 0755, 0, NULL, 2 },
	{ "/usr/bin/perl5", S_IFREG | 0755, 0, NULL, 2, "/usr/bin/perl" },
	{ "/usr/bin/git", S_IFREG | 0755, 0, NULL, 2 },
	{ "/usr/lib", S_IFDIR | 0755, 0, NULL },
	{ "/usr/lib/git", S_IFREG | 0755, 0, NULL, 2, "/usr/bin/git" },
	{ "/usr/local", S_IFDIR | 0755, 0, NULL },
	{ "/tmp", S_IFDIR | 01777, 0, NULL },
	{ "/tmp/mine", S_IFREG | 0700, US, NULL },
	{ "/tmp/link", S_IFLNK | 0777, US, "/usr/bin/pass" },
	{ "/people", S_IFDIR | 0755, 0, NULL },
	{ "/people/us", S_IFDIR | 0700, US, NULL },
	{ "/people/us/mine", S_IFREG | 0700, US, NULL },
	{ "/people/us/two", S_IFREG | 0700, US, NULL, 2 },
	{ "/people/us/shared", S_IFDIR | 0770, US, NULL },
	{ "/people/us/shared/x", S_IFREG | 0700, US, NULL },
	{ "/people/him", S_IFDIR | 0755, 7, NULL },
	{ "/people/him/x", S_IFREG | 0755, 0, NULL },
	{ "/other", S_IFDIR | 0755, 0, NULL },
	{ "/other/him", S_IFDIR | 0755, 0, NULL },
	{ "/other/him/x", S_IFREG | 0755, 0, NULL },
	{ "/other/himself", S_IFREG | 0755, 0, NULL },
	{ "/other/lost", S_IFREG | 0755, 0, NULL },
	{ "/merged", S_IFDIR | 0755, 0, NULL },
	{ "/merged/x", S_IFREG | 0755, 0, NULL },
	{ "/merged/work", S_IFDIR | 0755, 0, NULL },
	{ "/merged/work/x", S_IFREG | 0755, 0, NULL },
	{ "/upper", S_IFDIR | 0755, 0, NULL },
	{ "/upper/x", S_IFREG | 0755, 0, NULL },
	{ "/upper/work", S_IFDIR | 0755, 0, NULL },
	{ "/upper/work/x", S_IFREG | 0755, 0, NULL },
};

int fake_lstat(const char *path, struct stat *st);
int fake_fstatat(int dirfd, const char *path, struct stat *st, int flags);
ssize_t fake_readlink(const char *path, char *to, size_t size);

static size_t find(const char *path)
{
	size_t i = 0;

	while (i < AB_ARRAY_LEN(files) && strcmp(files[i].path, path) != 0)
		i++;
	return i;
}

int fake_lstat(const char *path, struct stat *st)
{
	size_t i = find(path);

	memset(st, 0, sizeof(*st));
	errno = ENOENT;
	if (i == AB_ARRAY_LEN(files))
		return -1;
	st->st_mode = files[i].mode;
	st->st_ino = (files[i].as ? find(files[i].as) : i) + 1;
	st->st_nlink = files[i].names ? files[i].names : 1;
	st->st_uid = files[i].uid == US ? geteuid() : files[i].uid;
	return 0;
}

static bool add(provider_origins *o, const char *before, const char *path)
{
	o->len += (size_t)sprintf(o->text + o->len, "%s%s", before,
				  strcmp(path, "/") == 0 ? "" : path) + 1;
	return true;
}

/* What is below /other is the same as what is below /people; /merged shows
   /people/us below, and is written in /upper. */
bool provider_origin(const char *path, bool writes, provider_origins *o)
{
	o->len = 0;
	if (strcmp(path, "/other/lost") == 0)
		return false;
	if (strncmp(path, "/other", 6) == 0)
		return add(o, "8:1 /people", path + 6);
	if (strncmp(path, "/merged", 7) != 0)
		return add(o, "8:1 ", path);
	return add(o, "0:40 ", path + 7) && add(o, "8:1 /upper", path + 7) &&
	       (writes || add(o, "8:1 /people/us", path + 7));
}

/* --- one directory, which is looked through ------------------------------ */

#define DIR_FD 77

static struct {
	char name[64]; /* with its slash; "": none is open */
	size_t at;
	struct dirent entry;
} dir;

DIR *fake_opendir(const char *path);
struct dirent *fake_next(DIR *d, int *error);
int fake_dirfd(DIR *d);
int fake_closedir(DIR *d);

DIR *fake_opendir(const char *path)
{
	ck_assert_str_eq(dir.name, "");
	ck_assert_uint_lt(strlen(path), sizeof(dir.name));
	strcpy(dir.name, path);
	dir.at = 0;
	return (DIR *)&dir;
}

static bool is_in_dir(const char *path)
{
	size_t n = strlen(dir.name);

	return strncmp(path, dir.name, n) == 0 && path[n] &&
	       !strchr(path + n, '/');
}

struct dirent *fake_next(DIR *d, int *error)
{
	struct stat st;

	ck_assert_ptr_eq(d, &dir);
	ck_assert_ptr_null(error);
	while (dir.at < AB_ARRAY_LEN(files) && !is_in_dir(files[dir.at].path))
		dir.at++;
	if (dir.at == AB_ARRAY_LEN(files))
		return NULL;
	ck_assert_int_eq(fake_lstat(files[dir.at].path, &st), 0);
	dir.entry.d_ino = st.st_ino;
	strcpy(dir.entry.d_name, files[dir.at++].path + strlen(dir.name));
	return &dir.entry;
}

int fake_dirfd(DIR *d)
{
	ck_assert_ptr_eq(d, &dir);
	return DIR_FD;
}

int fake_closedir(DIR *d)
{
	ck_assert_ptr_eq(d, &dir);
	dir.name[0] = '\0';
	return 0;
}

/* Of one name, which may be a link to a whole one; or in that directory. */
int fake_fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	size_t i = find(path);
	char whole[128];

	if (dirfd == DIR_FD && flags == AT_SYMLINK_NOFOLLOW) {
		snprintf(whole, sizeof(whole), "%s%s", dir.name, path);
		return fake_lstat(whole, st);
	}
	ck_assert(dirfd == AT_FDCWD && flags == 0);
	errno = EACCES;
	if (strcmp(path, "/hidden") == 0)
		return -1;
	return fake_lstat(i < AB_ARRAY_LEN(files) && files[i].link
				  ? files[i].link : path, st);
}

ssize_t fake_readlink(const char *path, char *to, size_t size)
{
	size_t i = find(path);
	size_t n;

	errno = EINVAL;
	if (i == AB_ARRAY_LEN(files) || !files[i].link)
		return -1;
	n = strlen(files[i].link);
	ck_assert_uint_lt(n, size);
	memcpy(to, files[i].link, n);
	return (ssize_t)n;
}

static bool trusts_for(uint32_t box_uid, const char *path,
		       const char *writable, char to[AB_MAX_PATH],
		       char why[WHY_SIZE])
{
	const ab_provider_plan plan = {
		.argv = { path }, .argc = 1, .box_uid = box_uid,
		/* an optional mount, of what is not there, stands before it */
		.writable = { "/none", writable },
		.writable_count = writable ? 2 : 1,
	};

	return provider_trusts(&plan, to, why);
}

/* An ordinary host's box has his id. */
static bool trusts(const char *path, const char *writable,
		   char to[AB_MAX_PATH], char why[WHY_SIZE])
{
	return trusts_for(geteuid(), path, writable, to, why);
}

START_TEST(a_program_is_not_the_agents)
{
	static const struct {
		const char *path, *writable, *why; /* NULL: trusted */
	} rows[] = {
		{ "/people/us/mine", "/people/us", "'/people/us' is where" },
		{ "/people/us/mine", "/people/us/mine", "mine' is where the" },
		{ "/people/us/mine", "/", "'/' is where the box can write" },
		{ "/people/us/mine", "/tmp/link", NULL },
		{ "/people/us/mine", "/people/us/shared", NULL },
		{ "/people/us/../us/mine", "/people/us", "'/people/us' is" },
		{ "/people/us/../../usr/bin/pass", "/people/us", "is where" },
		{ "/usr/bin/up", "/people/us", "'/people/us' is where" },
		{ "/usr/bin/pass", "/tmp/link", "'/usr/bin/pass' is where" },
		{ "/people/us/two", "/people/us/shared", "two' has another "
		  "name, which may be where" },
		{ "/people/us/two", "/nowhere", NULL },
		{ "/other/him/x", "/people/him", "'/other/him' is mounted "
		  "from where" },
		{ "/other/him/x", "/people/him/x", "'/other/him/x' is "
		  "mounted from where" },
		{ "/other/him/x", "/people", "'/other' is mounted from" },
		{ "/other/himself", "/people/him", NULL },
		{ "/other/him/x", "/usr/local", NULL },
		{ "/other/lost", "/usr/local", "'/other/lost' is mounted "
		  "from where the box can write, or that cannot be told" },
		{ "/usr/bin/pass", "/other/lost", "'/' is mounted from" },
		/* a layer of what is shown, and where what is written is */
		{ "/merged/x", "/people/us", "'/merged' is mounted from" },
		{ "/merged/x", "/upper/x", "'/merged/x' is mounted from" },
		{ "/upper/x", "/merged", "'/upper' is mounted from" },
		{ "/upper/work/x", "/merged/work", "'/upper/work' is mounted" },
		{ "/upper/x", "/merged/work", NULL },
		{ "/merged/x", "/merged/work", NULL },
		{ "/people/us/mine", "/merged", NULL },
		{ "/usr/bin/pass", "/hidden", "'/hidden', where the box can "
		  "write, cannot be looked at: Permission denied" },
	};
	char to[AB_MAX_PATH], why[WHY_SIZE];

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		bool good = trusts(rows[i].path, rows[i].writable, to, why);

		ck_assert_msg(good == !rows[i].why, "%s, %s", rows[i].path,
			      rows[i].writable);
		ck_assert_msg(good || strstr(why, rows[i].why), "%s: %s",
			      rows[i].path, why);
	}
}
END_TEST

START_TEST(a_name_elsewhere_counts_for_whom_the_box_writes_as)
{
	static const struct {
		const char *path, *writable;
		uint32_t box_uid;
		bool is_good;
	} rows[] = {
		/* of root, the box is somebody else, and so is its place */
		{ "/usr/bin/git", "/people/him", 7, true },
		{ "/usr/bin/git", NULL, 0, true },
		/* with the owner of its place: id-mapped */
		{ "/usr/bin/git", "/usr/local", 7, false },
		{ "/usr/lib/git", "/usr/local", 7, false },
		/* with its own id, wherever */
		{ "/usr/bin/git", "/people/him", 0, false },
		/* nobody knows */
		{ "/usr/bin/git", "/people/him", UINT32_MAX, false },
		/* both names are there, and nothing can be written */
		{ "/usr/bin/perl", "/usr/local", 0, true },
		{ "/usr/bin/perl5", "/usr/local", UINT32_MAX, true },
		{ "/usr/bin/perl", "/usr/bin", 7, false },
		{ "/usr/bin/perl", "/usr/bin/perl5", 7, false },
	};
	char to[AB_MAX_PATH], why[WHY_SIZE];

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++)
		ck_assert_msg(trusts_for(rows[i].box_uid, rows[i].path,
					 rows[i].writable, to, why) ==
				      rows[i].is_good,
			      "row %zu: %s, %s", i, rows[i].path,
			      rows[i].writable);
}
END_TEST

START_TEST(a_program_is_one_that_nobody_else_could_have_written)
{
	static const struct {
		const char *path, *to, *why; /* one of the last two */
	} rows[] = {
		{ "/usr/bin/pass", "/usr/bin/pass", NULL },
		{ "/bin/pass", "/usr/bin/pass", NULL },
		{ "//usr/./bin//pass", "/usr/bin/pass", NULL },
		{ "/../usr/bin/../bin/pass", "/usr/bin/pass", NULL },
		{ "/bin/../bin/pass", "/usr/bin/pass", NULL },
		{ "/people/us/mine", "/people/us/mine", NULL },
		{ "/usr/bin/up", "/people/us/mine", NULL },
		{ "/usr/bin/group", NULL, "'/usr/bin/group' is not trusted" },
		{ "/usr/bin/all", NULL, "'/usr/bin/all' is not trusted" },
		{ "/usr/bin/his", NULL, "'/usr/bin/his' is not trusted" },
		{ "/usr/bin/hislink", NULL, "is a link of somebody else's" },
		{ "/usr/bin/away", NULL, "'/tmp' is not trusted" },
		{ "/tmp/mine", NULL, "'/tmp' is not trusted" },
		{ "/tmp/link", NULL, "'/tmp' is not trusted" },
		{ "/tmp/../usr/bin/pass", NULL, "'/tmp' is not trusted" },
		{ "/people/us/shared/x", NULL, "'/people/us/shared' is not" },
		{ "/people/him/x", NULL, "'/people/him' is not trusted" },
		{ "/usr/bin/loop", NULL, "Too many levels" },
		{ "/usr/bin/empty", NULL, "is no regular file" },
		{ "/usr/bin/fifo", NULL, "is no regular file" },
		{ "/usr/bin", NULL, "is no regular file" },
		{ "/bin", NULL, "is no regular file" },
		{ "/", NULL, "'/' is no regular file" },
		{ "/usr/bin/none", NULL, "'/usr/bin/none' No such file" },
	};
	char to[AB_MAX_PATH], why[WHY_SIZE];

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		bool good = trusts(rows[i].path, NULL, to, why);

		ck_assert_msg(good == !rows[i].why, "%s", rows[i].path);
		if (good)
			ck_assert_str_eq(to, rows[i].to);
		else
			ck_assert_msg(strstr(why, rows[i].why), "%s: %s",
				      rows[i].path, why);
	}
}
END_TEST

START_TEST(a_path_is_bounded)
{
	char path[AB_MAX_PATH + 1], to[AB_MAX_PATH], why[WHY_SIZE];

	memset(path, '/', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ck_assert(!trusts(path, NULL, to, why));
	path[AB_MAX_PATH - 1] = '\0';
	ck_assert(!trusts(path, NULL, to, why));
	memset(path + 1, 'x', AB_MAX_PATH - 2);
	ck_assert(!trusts(path, NULL, to, why));
	memcpy(path, "/usr/bin/pass/", 14);
	ck_assert(!trusts(path, NULL, to, why));
}
END_TEST

static size_t put_plan(uint8_t *memory, size_t size, const char *const *argv,
		       uint32_t argc)
{
	ab_provider_plan plan = { .build_id = "id", .timeout_ms = 1,
				  .argc = argc, .box_uid = 70000,
				  .writable = { "/a", "/b" },
				  .writable_count = 2 };
	ab_writer w;

	for (uint32_t i = 0; i < argc && i < AB_PROVIDER_MAX_ARGS; i++)
		plan.argv[i] = argv[i];
	ab_writer_init_fixed(&w, memory, size);
	ck_assert_int_eq(ab_provider_plan_put(&w, &plan), 0);
	return w.len;
}

static int get_plan(const void *p, size_t n, const char *id,
		    ab_provider_plan *plan)
{
	ab_reader r;

	ab_reader_init(&r, p, n);
	return ab_provider_plan_get(&r, id, plan);
}

START_TEST(a_plan_is_read_whole_or_not_at_all)
{
	static const char *const argv[] = { "/bin/a", "", "b c" };
	static const char *const relative[] = { "bin/a" };
	uint8_t memory[512];
	ab_provider_plan plan;
	size_t n = put_plan(memory, sizeof(memory), argv, 3);

	ck_assert_int_eq(get_plan(memory, n, "id", &plan), 0);
	ck_assert_uint_eq(plan.argc, 3);
	ck_assert_str_eq(plan.argv[2], "b c");
	ck_assert_ptr_null(plan.argv[3]);
	ck_assert_uint_eq(plan.box_uid, 70000);
	ck_assert_uint_eq(plan.writable_count, 2);
	ck_assert_str_eq(plan.writable[1], "/b");
	ck_assert_int_eq(get_plan(memory, n, "other", &plan), -ESTALE);
	for (size_t cut = 0; cut < n; cut++)
		ck_assert_int_eq(get_plan(memory, cut, "id", &plan), -EPROTO);
	memory[n] = 0;
	ck_assert_int_eq(get_plan(memory, n + 1, "id", &plan), -EPROTO);
	n = put_plan(memory, sizeof(memory), relative, 1);
	ck_assert_int_eq(get_plan(memory, n, "id", &plan), -EPROTO);
	n = put_plan(memory, sizeof(memory), relative, 0);
	ck_assert_int_eq(get_plan(memory, n, "id", &plan), -EPROTO);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("provider");
	SRunner *r = srunner_create(s);
	TCase *t = tcase_create("provider");
	int failed;

	tcase_add_checked_fixture(t, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(t,
		       a_program_is_one_that_nobody_else_could_have_written);
	tcase_add_test(t, a_program_is_not_the_agents);
	tcase_add_test(t,
		       a_name_elsewhere_counts_for_whom_the_box_writes_as);
	tcase_add_test(t, a_path_is_bounded);
	tcase_add_test(t, a_plan_is_read_whole_or_not_at_all);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
