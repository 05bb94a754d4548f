/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The environment for a host that must run git itself in a repository that an
 * agent could write to. It leaves the configuration of system and user aside
 * and overrules what the repository's own would run.
 *
 * Keys with a name of the repository's choosing in them cannot be overruled
 * from outside: filter.x.clean, merge.x.driver, alias.x, diff.x.textconv,
 * diff.x.command, trailer.x.command, tar.x.command, hook.x.command,
 * difftool.x.cmd, mergetool.x.cmd and man.x.cmd; nor can diff.external (give
 * --no-ext-diff --no-textconv to every diff) and core.worktree (set GIT_DIR
 * and GIT_WORK_TREE). git bisect reads no configuration while it changes refs,
 * in 2.39 at least, and runs .git/hooks/reference-transaction. Against these
 * helps only that the agent cannot write .git/config and .git/hooks: that is
 * the wall, this is the belt. Source: git-config(1), git(1).
 */
#include "config.h"

#include "guard/git.h"

/*
 * Keys that git reads last. In the environment by GIT_CONFIG_COUNT, so that
 * it suffices alone; as -c for who cannot set the environment, which does
 * less: transports of the repository's own naming stay.
 */
#define OVERRIDES(X)                                                           \
	X(0, "core.fsmonitor", "false")                                        \
	X(1, "core.hooksPath", "/dev/null")                                    \
	X(2, "core.sshCommand", "false")                                       \
	X(3, "core.gitProxy", "false")                                         \
	X(4, "core.askPass", "false")                                          \
	X(5, "core.pager", "cat")                                              \
	X(6, "core.editor", "false")                                           \
	X(7, "core.attributesFile", "/dev/null")                               \
	X(8, "core.alternateRefsCommand", "false")                             \
	X(9, "credential.helper", "")                                          \
	X(10, "gpg.program", "false")                                          \
	X(11, "gpg.ssh.program", "false")                                      \
	X(12, "gpg.x509.program", "false")                                     \
	X(13, "gpg.ssh.defaultKeyCommand", "false")                            \
	X(14, "commit.gpgSign", "false")                                       \
	X(15, "tag.gpgSign", "false")                                          \
	X(16, "log.showSignature", "false")                                    \
	X(17, "protocol.allow", "never")                                       \
	X(18, "protocol.ext.allow", "never")                                   \
	X(19, "protocol.file.allow", "never")                                  \
	X(20, "safe.bareRepository", "explicit")                               \
	X(21, "submodule.recurse", "false")                                    \
	X(22, "fetch.recurseSubmodules", "false")                              \
	X(23, "uploadpack.packObjectsHook", "false")                           \
	X(24, "gc.auto", "0")                                                  \
	X(25, "maintenance.auto", "false")                                     \
	X(26, "interactive.diffFilter", "cat")                                 \
	X(27, "tar.tar.gz.command", "gzip -cn")                                \
	X(28, "tar.tgz.command", "gzip -cn")

#define OVERRIDE_COUNT "29"

static const char *const environment[] = {
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_SYSTEM=/dev/null",
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_PAGER=cat",
	"GIT_EDITOR=false",
	"GIT_SEQUENCE_EDITOR=false",
	"GIT_ASKPASS=false",
	"SSH_ASKPASS=false",
	"GIT_SSH_COMMAND=false",
	"GIT_PROXY_COMMAND=false",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_ALLOW_PROTOCOL=none",
	"GIT_PROTOCOL_FROM_USER=0",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_NO_REPLACE_OBJECTS=1",
	"GIT_CONFIG_COUNT=" OVERRIDE_COUNT,
#define ROW(i, key, value)                                                     \
	"GIT_CONFIG_KEY_" #i "=" key, "GIT_CONFIG_VALUE_" #i "=" value,
	OVERRIDES(ROW)
#undef ROW
};

static const char *const arguments[] = {
#define ROW(i, key, value) "-c", key "=" value,
	OVERRIDES(ROW)
#undef ROW
};

const char *ab_git_environment(size_t i)
{
	return i < sizeof(environment) / sizeof(environment[0]) ? environment[i]
								: NULL;
}

const char *ab_git_arguments(size_t i)
{
	return i < sizeof(arguments) / sizeof(arguments[0]) ? arguments[i]
							    : NULL;
}
