/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a file's name says about what is in it: nothing here is left out for
 * its name, which filter.c does. See content_internal.h for the kinds.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"
#include "snapshot/place.h"

static bool is_one_of(const uint8_t *name, size_t n, const char *const *list,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (n == strlen(list[i]) && ab_content_has(name, n, list[i]))
			return true;
	}
	return false;
}

static bool has_end(const uint8_t *name, size_t n, const char *const *list,
		    size_t count)
{
	const uint8_t *dot = n ? memrchr(name, '.', n) : NULL;

	return dot &&
	       is_one_of(dot + 1, n - (size_t)(dot + 1 - name), list, count);
}

/* What a program reads its settings from, by how its name ends: a copy and
   a template have one more ending. */
static bool is_settings(const uint8_t *name, size_t n)
{
	static const char *const copies[] = { "bak",  "old", "orig", "save",
					      "j2",   "tpl", "tmpl", "erb",
					      "local" };
	static const char *const ends[] = {
		"yaml", "yml", "toml", "ini",	 "properties", "conf",
		"cfg",	"cnf", "env",  "config", "tf",	       "tfvars",
		"hcl",	"xml", "plist", "json",	 "json5",      "jsonc",
	};

	if (has_end(name, n, copies, AB_ARRAY_LEN(copies)))
		n = (size_t)((const uint8_t *)memrchr(name, '.', n) - name);
	return has_end(name, n, ends, AB_ARRAY_LEN(ends));
}

bool ab_content_names_file(const uint8_t *p, size_t n)
{
	static const char *const ends[] = {
		"pem", "key", "crt", "cer", "der", "pub", "p12", "pfx",
		"p8",  "jks", "txt", "asc", "gpg", "keystore",
	};

	return is_settings(p, n) || has_end(p, n, ends, AB_ARRAY_LEN(ends));
}

/* "x_test.go", "test_x.py", "x.spec.ts", "XTests.cs": what runs it tells a
   test by that. */
static bool is_test(const uint8_t *name, size_t n)
{
	static const char *const words[] = { "test", "tests", "spec" };
	const uint8_t *dot = n ? memrchr(name, '.', n) : NULL;
	size_t stem = dot ? (size_t)(dot - name) : 0;

	if (n > 5 && memcmp(name, "test_", 5) == 0)
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		size_t len = strlen(words[i]);
		const uint8_t *p;

		if (stem <= len)
			continue;
		p = name + stem - len;
		/* "LATEST.c" has capitals alone */
		if (ab_content_has(p, len, words[i]) &&
		    ((*p == 'T' && p[1] == 'e') ||
		     !ab_content_class('A', p[-1])))
			return true;
	}
	return false;
}

unsigned ab_content_kind(const char *path, size_t n)
{
	static const char *const locks[] = {
		"package-lock.json", "npm-shrinkwrap.json", "yarn.lock",
		"pnpm-lock.yaml",    "poetry.lock",	    "pipfile.lock",
		"uv.lock",	     "pdm.lock",	    "cargo.lock",
		"composer.lock",     "gemfile.lock",	    "go.sum",
		"flake.lock",	     "bun.lock",	    "deno.lock",
		"packages.lock.json", "podfile.lock",	    "mix.lock",
		"pubspec.lock",	     "gradle.lockfile",
	};
	static const char *const indexes[] = {
		"pip.conf", "pip.ini", "nuget.config", ".condarc", ".yarnrc",
		".yarnrc.yml", ".pnpmrc", "bunfig.toml", "pipfile",
		"poetry.toml", "uv.toml", "requirements.txt", ".gitmodules",
		".lfsconfig",
	};
	const char *slash = n ? memrchr(path, '/', n) : NULL;
	const char *name = slash ? slash + 1 : path;
	size_t len = slash ? n - (size_t)(name - path) : n;
	const uint8_t *p = (const uint8_t *)name;
	unsigned kind = 0;

	if (ab_place_is_of_tests(path, slash ? (size_t)(slash - path) : 0))
		kind |= AB_CONTENT_TESTS;
	if (is_test(p, len))
		kind |= AB_CONTENT_TEST;
	if (is_one_of(p, len, locks, AB_ARRAY_LEN(locks)))
		kind |= AB_CONTENT_LOCK_FILE;
	else if (is_one_of(p, len, indexes, AB_ARRAY_LEN(indexes)))
		kind |= AB_CONTENT_INDEX_FILE;
	else if (len && ab_content_has(p, len, "npmrc"))
		kind |= AB_CONTENT_NPMRC;
	else if (is_settings(p, len))
		kind |= AB_CONTENT_SETTINGS;
	return kind;
}
