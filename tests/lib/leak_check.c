/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The leak checker as a Check fixture. In a file of its own, because the demo
 * builds a fuzz target from the rest where Check is not installed.
 */
#include "config.h"

#include "abtest.h"

#include <check.h>

static ab_leak_mark *test_mark;

void ab_leak_setup(void)
{
	test_mark = ab_leak_mark_new();
}

void ab_leak_teardown(void)
{
	char text[4096] = "";
	size_t n = 1;

	if (test_mark)
		n = ab_leak_report(test_mark, text, sizeof(text));
	ab_leak_mark_free(test_mark);
	test_mark = NULL;
	ck_assert_msg(n == 0, "%s", text);
}
