/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of git's smart HTTP. Spec: git_http.h. */
#include "config.h"

#include "git_http.h"

#include <stdbool.h>
#include <string.h>

#include "base/attr.h"

static const struct {
	const char *method, *path, *query;
	enum ab_git_act act;
} table[] = {
	{ "GET", "/info/refs", "service=git-upload-pack", AB_GIT_FETCH },
	{ "POST", "/git-upload-pack", "", AB_GIT_FETCH },
	{ "GET", "/info/refs", "service=git-receive-pack", AB_GIT_PUSH },
	{ "POST", "/git-receive-pack", "", AB_GIT_PUSH },
};

const char *const ab_git_fields[] = {
	"accept", "accept-encoding", "accept-language", "cache-control",
	"content-encoding", "content-type", "git-protocol", "pragma",
	"user-agent", NULL
};

static bool is(const char *s, size_t n, const char *text)
{
	return strlen(text) == n && memcmp(s, text, n) == 0;
}

enum ab_git_act ab_git_request(const char *method, size_t method_len,
			       const char *path, size_t path_len,
			       const char *query, size_t query_len)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(table); i++)
		if (is(method, method_len, table[i].method) &&
		    is(path, path_len, table[i].path) &&
		    is(query, query_len, table[i].query))
			return table[i].act;
	return AB_GIT_NEITHER;
}
