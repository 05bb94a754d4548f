/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `--output /etc/x`, `-out=/etc/x`, `--go_out=..`: where a program writes of
 * which the table says nothing, or nothing of that option. So many programs
 * are told by the same few names where to write that the name is enough. Only
 * a value that leads away from where the agent stands is looked at.
 */
#include "config.h"

#include "guard/check.h"

#include "guard/command.h"

#define MAX_NAME 24

/* Without their dashes and in small letters. */
static const char *const names[] = {
	"out",		"output",     "outdir",		 "outputdir",
	"outfile",	"outputfile", "outputdirectory", "outputpath",
	"outputfolder", "outputroot", "outfilename",	 "outpath",
	"dest",		"destdir",    "destination",	 "targetdir",
	"targetpath",	"junitxml",   "basetemp",	 "logfile",
	"savedir",	"saveto",     "savepath",	 "packdestination",
	"distpath",	"workpath",   "builddir",	 "reportdir",
	"reportsdir",	"resultsdir", "coveragedirectory", "coveragedir",
	"installdir",	"exportpath", "exportdir",	 "dumpdir",
	"sitedir",	"pluginout",
};

/* Such a path leads elsewhere, or to a name that is special. */
static bool leads_away(const struct ab_word *w, uint32_t at)
{
	char ch = at < w->len ? w->text[at] : '\0';

	return ch == '/' || ch == '~' || ch == '.';
}

/* `--Output_Dir`: outputdir. 0: it is too long. */
static uint32_t plain_name(const char *s, uint32_t n, char out[MAX_NAME])
{
	uint32_t len = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (s[i] == '-' || s[i] == '_')
			continue;
		if (len == MAX_NAME)
			return 0;
		out[len++] = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] | 0x20)
							: s[i];
	}
	return len;
}

/* protoc --cpp_out: as each of its plugins has it. */
static bool is_plugin(const char *s, uint32_t n)
{
	return n > 6 && s[1] == '-' && !memcmp(s + n - 4, "_out", 4);
}

static bool says_where(const char *s, uint32_t n)
{
	char plain[MAX_NAME];
	uint32_t len = plain_name(s, n, plain);

	if (is_plugin(s, n))
		return true;
	for (size_t i = 0; len > 2 && i < AB_ARRAY_LEN(names); i++) {
		if (*names[i] == *plain && strlen(names[i]) == len &&
		    !memcmp(names[i], plain, len))
			return true;
	}
	return false;
}

static void write_from(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *w, uint32_t at)
{
	struct ab_word path;

	if (leads_away(w, at) && ab_word_slice(c, w, at, w->len, &path))
		ab_check_path(c, use, AB_ROLE_WRITE, &path);
}

/* -o FILE, -oFILE: of a program that is known only if it says so. */
static void short_option(struct ab_check *c, const struct ab_use *use,
			 uint32_t i)
{
	const struct ab_word *w = &use->words[i];

	for (uint32_t k = 0; use->program && k < use->value_count; k++) {
		if (use->values[k].option == i)
			write_from(c, use, &use->words[use->values[k].word],
				   use->values[k].at);
	}
	if (!ab_is_stranger(use->program))
		return;
	if (w->len > 2)
		write_from(c, use, w, 2);
	else if (i + 1 < use->count)
		write_from(c, use, &use->words[i + 1], 0);
}

static void long_option(struct ab_check *c, const struct ab_use *use,
			uint32_t i)
{
	const struct ab_word *w = &use->words[i];
	const char *eq = memchr(w->text, '=', w->len);
	uint32_t n = eq ? (uint32_t)(eq - w->text) : w->len;

	if (eq && leads_away(w, n + 1) && says_where(w->text, n))
		write_from(c, use, w, n + 1);
	else if (!eq && i + 1 < use->count &&
		 leads_away(&use->words[i + 1], 0) && says_where(w->text, n))
		write_from(c, use, &use->words[i + 1], 0);
}

/* docker run: the files are the container's. */
static bool is_elsewhere(const struct ab_chain *k)
{
	static const char *const others[] = { "docker", "podman", "nerdctl",
					      "kubectl", "oc", "ssh" };

	for (; k; k = k->up) {
		for (size_t i = 0; i < AB_ARRAY_LEN(others); i++) {
			size_t n;

			if (!k->len || *k->name != *others[i])
				continue;
			n = strlen(others[i]);
			if (k->len >= n && !memcmp(k->name, others[i], n) &&
			    (k->len == n || memchr("/-", k->name[n], 2)))
				return true;
		}
	}
	return false;
}

void ab_check_outs(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_program *p = use->program;

	/* what a wrapper runs is looked at by itself, where it runs */
	if (!ab_is_stranger(p) &&
	    (p->is_wrapper || p->is_git || p->is_names))
		return;
	if (AB_UNLIKELY(c->chain) && is_elsewhere(c->chain))
		return;
	const struct ab_word *end = use->words + use->count;

	for (const struct ab_word *w = use->words + 1; w < end; w++) {
		uint32_t i = (uint32_t)(w - use->words);

		if (AB_LIKELY(w->len < 2 || *w->text != '-'))
			continue;
		if (w->len == 2 && w->text[1] == '-')
			return;
		if (w->text[1] == 'o' && (w->len == 2 || leads_away(w, 2)))
			short_option(c, use, i);
		else if (w->len > 3) /* -rf is no name */
			long_option(c, use, i);
	}
}
