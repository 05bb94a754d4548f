/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a test finds the things it tests. Spec: tests/lib/abtest.h. */
#include "config.h"

#include "abtest.h"

#include <stdio.h>
#include <stdlib.h>

static const char *env_or(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value && *value ? value : fallback;
}

const char *ab_test_srcdir(void)
{
	return env_or("AB_TEST_SRCDIR", AB_TEST_TOP_SRCDIR);
}

const char *ab_test_builddir(void)
{
	return env_or("AB_TEST_BUILDDIR", AB_TEST_TOP_BUILDDIR);
}

const char *ab_test_helper_dir(void)
{
	return env_or("AB_TEST_HELPER_DIR", AB_TEST_TOP_BUILDDIR "/libexec");
}

const char *ab_test_tool(void)
{
	return env_or("AB_TEST_TOOL", AB_TEST_TOP_BUILDDIR "/tools/agentbox");
}

const char *ab_test_tmpdir(void)
{
	return env_or("TMPDIR", "/tmp");
}

double ab_test_slowness(void)
{
	double times = strtod(env_or("AB_TEST_SLOWNESS", "1"), NULL);

	return times > 1 ? times : 1;
}

unsigned int ab_test_patience(unsigned int seconds)
{
	double times = strtod(env_or("CK_TIMEOUT_MULTIPLIER", "1"), NULL);

	return times > 1 ? (unsigned int)(seconds * times) : seconds;
}

void ab_test_skip(const char *name, const char *reason)
{
	printf("# SKIP %s: %s\n", name, reason);
	fflush(stdout);
}

void ab_test_skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	exit(77);
}
