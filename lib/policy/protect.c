/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * builtin:code-that-runs-later: names in a workspace that some program of
 * the host reads later and runs code from, so that a box which may write
 * them has left the box. One row per name: which program is why. Patterns
 * are matched without case, because a workspace may be on a case-folding
 * file system (case 25). Files that are meant to be edited and only run when
 * a person says so (Makefile, package.json) are not here: they are listed in
 * the change report (case 32). Spec: DESIGN.md section 6, cases 1-15.
 */
#include "config.h"

#include "policy/compile.h"

#define FILE_OF(p) { .pattern = p, .repository = true, .builtin = true }
#define DIR_OF(p) \
	{ .pattern = p, .repository = true, .dir = true, .builtin = true }

const ab_policy_protect ab_code_that_runs_later[] = {
	/* git: hooks, filters, aliases, fsmonitor, editors, includes */
	DIR_OF(".git/hooks"),
	FILE_OF(".git/config"),
	FILE_OF(".git/config.worktree"),
	FILE_OF(".git/info/attributes"),
	/* where a linked worktree's configuration really is */
	FILE_OF(".git/commondir"),
	FILE_OF(".git/gitdir"),
	/* submodules: git directories of their own, at any depth */
	DIR_OF(".git/modules/**/hooks"),
	FILE_OF(".git/modules/**/config"),
	FILE_OF(".git/modules/**/config.worktree"),
	FILE_OF(".git/modules/**/info/attributes"),
	/* linked worktrees of this repository */
	FILE_OF(".git/worktrees/*/config.worktree"),
	FILE_OF(".git/worktrees/*/commondir"),
	FILE_OF(".git/worktrees/*/gitdir"),
	/* objects read from elsewhere */
	FILE_OF(".git/objects/info/alternates"),
	/* `update = !command` */
	FILE_OF(".gitmodules"),
	/* extensions, hooks and aliases of the others */
	FILE_OF(".hg/hgrc"),
	FILE_OF(".jj/repo/config.toml"),
	/* a home as the workspace */
	FILE_OF(".gitconfig"),
	DIR_OF(".config/git"),

	/* shells, at start */
	FILE_OF(".bashrc"),
	FILE_OF(".bash_profile"),
	FILE_OF(".bash_login"),
	FILE_OF(".bash_logout"),
	FILE_OF(".bash_aliases"),
	FILE_OF(".profile"),
	FILE_OF(".inputrc"),
	FILE_OF(".zshrc"),
	FILE_OF(".zprofile"),
	FILE_OF(".zshenv"),
	FILE_OF(".zlogin"),
	FILE_OF(".zlogout"),
	FILE_OF(".kshrc"),
	FILE_OF(".cshrc"),
	FILE_OF(".tcshrc"),
	FILE_OF(".login"),
	DIR_OF(".config/fish"),
	/* sessions and services of a home */
	FILE_OF(".xprofile"),
	FILE_OF(".xinitrc"),
	FILE_OF(".xsession"),
	FILE_OF(".pam_environment"),
	DIR_OF(".config/autostart"),
	DIR_OF(".config/systemd"),
	DIR_OF(".config/environment.d"),
	FILE_OF(".ssh/config"),
	FILE_OF(".ssh/authorized_keys"),
	FILE_OF(".ssh/authorized_keys2"),
	FILE_OF(".ssh/rc"),
	FILE_OF(".ssh/environment"),
	FILE_OF(".gnupg/gpg.conf"),
	FILE_OF(".gnupg/gpg-agent.conf"),
	FILE_OF(".forward"),

	/* on entering the directory */
	FILE_OF(".envrc"),
	FILE_OF(".autoenv"),
	FILE_OF(".autoenv.zsh"),
	FILE_OF("mise.toml"),
	FILE_OF(".mise.toml"),
	FILE_OF(".mise.local.toml"),
	DIR_OF(".mise"),
	DIR_OF(".config/mise"),
	FILE_OF(".exrc"),
	FILE_OF(".vimrc"),
	FILE_OF(".nvimrc"),
	FILE_OF(".nvim.lua"),
	FILE_OF(".lazy.lua"),
	FILE_OF(".dir-locals.el"),
	FILE_OF(".dir-locals-2.el"),
	FILE_OF(".gdbinit"),
	FILE_OF(".lldbinit"),
	FILE_OF(".tmux.conf"),
	FILE_OF(".screenrc"),

	/* editors and their tasks */
	DIR_OF(".vscode"),
	DIR_OF(".idea"),
	DIR_OF(".fleet"),
	DIR_OF(".zed"),
	DIR_OF(".devcontainer"),
	FILE_OF(".devcontainer.json"),
	FILE_OF("*.code-workspace"),
	FILE_OF("*.sublime-project"),

	/* agent programs: hooks, servers, permissions */
	FILE_OF(".mcp.json"),
	DIR_OF(".claude"),
	FILE_OF(".claude.json"),
	DIR_OF(".codex"),
	DIR_OF(".cursor"),
	DIR_OF(".gemini"),
	DIR_OF(".windsurf"),
	DIR_OF(".continue"),
	DIR_OF(".roo"),
	DIR_OF(".cline"),
	DIR_OF(".amazonq"),
	DIR_OF(".kiro"),
	DIR_OF(".opencode"),
	FILE_OF("opencode.json"),
	DIR_OF(".junie"),
	DIR_OF(".qwen"),
	DIR_OF(".crush"),
	FILE_OF(".aider.conf.yml"),
	DIR_OF(".agentbox"),

	/* run by git or a build on the host without being asked */
	DIR_OF(".husky"),
	FILE_OF(".pre-commit-config.yaml"),
	FILE_OF("lefthook.*"),
	FILE_OF(".lefthook.*"),
	FILE_OF("lefthook-local.*"),
	FILE_OF(".lefthook-local.*"),
	FILE_OF("bunfig.toml"),
	FILE_OF(".npmrc"),
	FILE_OF(".yarnrc"),
	FILE_OF(".yarnrc.yml"),
	FILE_OF(".pnpmfile.cjs"),
	FILE_OF(".cargo/config"),
	FILE_OF(".cargo/config.toml"),
	FILE_OF("pip.conf"),
	FILE_OF(".pypirc"),
	FILE_OF(".pythonrc"),
	FILE_OF("sitecustomize.py"),
	FILE_OF("usercustomize.py"),
	FILE_OF(".bazelrc"),
	FILE_OF(".irbrc"),
	FILE_OF(".pryrc"),
	FILE_OF(".Rprofile"),
	{ .pattern = NULL },
};
