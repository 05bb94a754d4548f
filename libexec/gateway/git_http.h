/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Git's smart HTTP as a table: what a request to one repository does.
 * gitprotocol-http(5). The dumb protocol, archives, LFS and whatever else a
 * server offers below a repository are neither.
 */
#ifndef GATEWAY_GIT_HTTP_H
#define GATEWAY_GIT_HTTP_H

#include <stddef.h>

enum ab_git_act {
	AB_GIT_NEITHER = 0,
	AB_GIT_FETCH,
	AB_GIT_PUSH
};

/* `path` is what follows the repository, `query` has no "?". */
enum ab_git_act ab_git_request(const char *method, size_t method_len,
			       const char *path, size_t path_len,
			       const char *query, size_t query_len);

/* The fields of a request that git's servers read; ends with NULL. */
extern const char *const ab_git_fields[];

#endif
