/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that some file system takes for protected ones, at every edge of the
 * tables of protect.c. The ranges here are those of Unicode 15,
 * DerivedCoreProperties.txt and CaseFolding.txt.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/attr.h"
#include "guard/protect.h"

static bool is(const char *name, const char *wanted)
{
	return ab_protect_is_name(name, strlen(name), wanted);
}

/* The UTF-8 of a character, and a NUL. */
static void encode(uint32_t c, char out[5])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	out[n] = '\0';
	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(lead[n] | c);
}

static const struct {
	const char *name, *wanted;
	bool is;
} names[] = {
	{ "protected", "protected", true },
	{ "PROTECTED", "protected", true },
	{ "pRoTeCtEd", "protected", true },
	{ "AZ", "az", true },
	{ "@Z", "`z", false },
	{ "a[", "a{", false },
	{ "protecte", "protected", false },
	{ "protectedd", "protected", false },
	{ ".protected", "protected", false },
	{ " protected", "protected", false },
	{ "protected.", "protected", true },
	{ "protected ", "protected", true },
	{ "protected. . ", "protected", true },
	{ "PROTECTED..", "protected", true },
	{ "protected\xe2\x80\x8b.", "protected", true },
	{ "protected.\xe2\x80\x8b", "protected", true },
	{ "pro.tected", "protected", false },
	{ "protected\xff", "protected", false },
	{ "protected\xc2", "protected", false },
	{ "protected\xe2\x80", "protected", false },
	{ "protected\xf3\xa0\x80", "protected", false },
	{ "protected\xe2\x80x", "protected", false },
	{ "\xe2\x80\x8b", "protected", false },
	{ "...", "protected", false },
	{ "config.j\xc5\xbfon", "config.json", true },
	{ "\xe2\x84\xaa" "rb5", "krb5", true },
	{ "\xc3\x9f", "ss", true },
	{ "\xe1\xba\x9e", "ss", true },
	{ "\xef\xac\x80", "ff", true },
	{ "\xef\xac\x81", "fi", true },
	{ "con\xef\xac\x81g.json", "config.json", true },
	{ "\xef\xac\x82", "fl", true },
	{ "\xef\xac\x83", "ffi", true },
	{ "\xef\xac\x84", "ffl", true },
	{ "\xef\xac\x85", "st", true },
	{ "\xef\xac\x86", "st", true },
	{ "\xc3\xa9", "e", false },
};

START_TEST(a_name_is_what_a_forgiving_file_system_makes_of_it)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		ck_assert_msg(is(names[i].name, names[i].wanted) ==
			      names[i].is, "%zu: %s as %s", i, names[i].name,
			      names[i].wanted);
}
END_TEST

static const uint32_t ignored[][2] = {
	{ 0xad, 0xad },	      { 0x34f, 0x34f },	    { 0x61c, 0x61c },
	{ 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
	{ 0x200b, 0x200f },   { 0x202a, 0x202e },   { 0x2060, 0x206f },
	{ 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 },   { 0xfff0, 0xfff8 },   { 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

START_TEST(what_is_ignored_may_stand_anywhere)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(ignored); i++) {
		for (uint32_t c = ignored[i][0] - 1; c <= ignored[i][1] + 1;
		     c++) {
			bool in = c >= ignored[i][0] && c <= ignored[i][1];
			char one[5], name[32];

			encode(c, one);
			snprintf(name, sizeof(name), "pro%stected", one);
			ck_assert_msg(is(name, "protected") == in, "U+%04X", c);
			snprintf(name, sizeof(name), "%sprotected%s", one, one);
			ck_assert_msg(is(name, "protected") == in, "U+%04X", c);
		}
	}
}
END_TEST

START_TEST(a_name_may_be_as_long_as_one_can_be)
{
	char name[257] = "protected";

	memset(name + 9, '.', 247);
	ck_assert(ab_protect_is_name(name, 255, "protected"));
	ck_assert(!ab_protect_is_name(name, 256, "protected"));
}
END_TEST

/* path, does it hold, what protects it */
static const struct {
	const char *path;
	bool holds;
	const char *by;
} paths[] = {
	{ ".git/hooks", false, ".git/hooks" },
	{ "a/b/.GIT/Hooks/x", false, ".git/hooks" },
	{ ".git./hooks", false, ".git/hooks" },
	{ ".git /hooks.", false, ".git/hooks" },
	{ ".g\xe2\x80\x8bit/hooks", false, ".git/hooks" },
	{ ".git", false, NULL },
	{ ".git", true, ".git/hooks" },
	{ ".git.", true, ".git/hooks" },
	{ "a/.git", true, ".git/hooks" },
	{ ".git/hook", true, NULL },
	{ ".git/index", true, NULL },
	{ "git/hooks", false, NULL },
	{ ".env", false, ".env" },
	{ "a/.ENV/b", false, ".env" },
	{ ".envrc", false, NULL },
	{ "x.pem", false, "*.pem" },
	{ "a/X.PEM", false, "*.pem" },
	{ "x.pem.", false, "*.pem" },
	{ "x.pen", false, NULL },
	{ "pem", false, NULL },
	{ "conf/a", false, "conf/a" },
	{ "x/conf/a", false, NULL },
	{ "conf", true, "conf/a" },
	{ "x/conf", true, NULL },
	{ "d1/x", false, "d?/x" },
	{ "D1/X", false, "d?/x" },
	{ "e1/x", false, NULL },
	{ "d1", true, "d?/x" },
	{ "", true, NULL },
};

START_TEST(a_path_is_protected_by_its_parts)
{
	ab_policy_protect all[] = {
		{ .pattern = ".git/hooks", .repository = true },
		{ .pattern = ".env" },
		{ .pattern = "*.pem" },
		{ .pattern = "conf/a" },
		{ .pattern = "d?/x" },
	};
	ab_policy policy = { .protect = all,
			     .protect_count = AB_ARRAY_LEN(all) };
	struct ab_protect_set set;

	ck_assert_int_eq(ab_protect_init(&set, &policy, NULL), 0);
	for (size_t i = 0; i < AB_ARRAY_LEN(paths); i++) {
		const char *by = ab_protect_find(&set, paths[i].path,
						 paths[i].holds);

		ck_assert_msg(by && paths[i].by ? !strcmp(by, paths[i].by) :
						  by == paths[i].by,
			      "%s: by %s", paths[i].path, by ? by : "nothing");
	}
	ab_protect_end(&set);
}
END_TEST

START_TEST(a_path_that_cannot_be_folded_is_protected)
{
	ab_policy policy = { 0 };
	struct ab_protect_set set;
	char path[5000];

	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(ab_protect_init(&set, &policy, NULL), 0);
	ck_assert_ptr_null(ab_protect_find(&set, path, false));
	path[4998] = '.';
	ck_assert_ptr_nonnull(ab_protect_find(&set, path, false));
	path[4095] = '\0';
	path[4094] = '.';
	ck_assert_ptr_null(ab_protect_find(&set, path, false));
	ab_protect_end(&set);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard_protect");
	TCase *t = tcase_create("names");
	SRunner *r;
	int failed;

	tcase_add_test(t, a_name_is_what_a_forgiving_file_system_makes_of_it);
	tcase_add_test(t, what_is_ignored_may_stand_anywhere);
	tcase_add_test(t, a_name_may_be_as_long_as_one_can_be);
	tcase_add_test(t, a_path_is_protected_by_its_parts);
	tcase_add_test(t, a_path_that_cannot_be_folded_is_protected);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
