/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-gateway with one wall left out, for the tests of the self-test, and
 * for them only: as mutant.c for agentbox-init. Which one stands in the file
 * `agentbox-mutant` beside the program. None of them lets anything out of the
 * machine: what the list would have refused is never dialled nor asked for.
 */
#include "config.h"

#include "state.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

bool __wrap_ab_key_in_head(const ab_key *key, const ab_http_head *head,
			   const char *buf, enum ab_key_where where);
bool __real_ab_key_in_head(const ab_key *key, const ab_http_head *head,
			   const char *buf, enum ab_key_where where);
enum ab_allow_reason __wrap_ab_allow_target(const ab_allow *allow,
					    const ab_target *target,
					    const ab_host **rule);
enum ab_allow_reason __real_ab_allow_target(const ab_allow *allow,
					    const ab_target *target,
					    const ab_host **rule);
ab_dial *__wrap_ab_gw_dial(ab_gw *gw, const ab_target *target, unsigned flags,
			   void (*done)(void *arg,
					const ab_dial_result *result),
			   void *arg);
ab_dial *__real_ab_gw_dial(ab_gw *gw, const ab_target *target, unsigned flags,
			   void (*done)(void *arg,
					const ab_dial_result *result),
			   void *arg);
int __wrap_ab_resolver_new(ab_gw *gw, const char *servers);
int __real_ab_resolver_new(ab_gw *gw, const char *servers);
void __wrap_ab_kept_end_all(ab_gw *gw);
void __real_ab_kept_end_all(ab_gw *gw);
int __wrap_ab_confine(const char **stage);
int __real_ab_confine(const char **stage);

static char wall[32];

static bool lacks(const char *name)
{
	return strcmp(wall, name) == 0;
}

/* Before it gives up the right to. */
int __wrap_ab_resolver_new(ab_gw *gw, const char *servers)
{
	char path[4200];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	ab_autofd int fd = -1;
	char *slash;

	(void)servers;
	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		strcpy(slash, "/agentbox-mutant");
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	n = fd < 0 ? 0 : read(fd, wall, sizeof(wall) - 1);
	wall[n > 0 ? n : 0] = '\0';
	wall[strcspn(wall, "\n")] = '\0';
	return __real_ab_resolver_new(gw, "127.0.0.1:9");
}

/* Whoever comes has the key. */
bool __wrap_ab_key_in_head(const ab_key *key, const ab_http_head *head,
			   const char *buf, enum ab_key_where where)
{
	return lacks("key") || __real_ab_key_in_head(key, head, buf, where);
}

/* Whatever is asked for stands on the list. */
enum ab_allow_reason __wrap_ab_allow_target(const ab_allow *allow,
					    const ab_target *target,
					    const ab_host **rule)
{
	return lacks("list") ? AB_ALLOW_OK
			     : __real_ab_allow_target(allow, target, rule);
}

/* A name leads nowhere, see above; to an address it fails as it does without
   memory. */
ab_dial *__wrap_ab_gw_dial(ab_gw *gw, const ab_target *target, unsigned flags,
			   void (*done)(void *arg,
					const ab_dial_result *result),
			   void *arg)
{
	return target->kind == AB_TARGET_ADDRESS
		       ? NULL
		       : __real_ab_gw_dial(gw, target, flags, done, arg);
}

/* A part of the revocation, which is not one any more. */
void __wrap_ab_kept_end_all(ab_gw *gw)
{
	if (lacks("revocation"))
		gw->is_revoked = false;
	__real_ab_kept_end_all(gw);
}

int __wrap_ab_confine(const char **stage)
{
	return lacks("confinement") ? 0 : __real_ab_confine(stage);
}
