/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * builtin:code-that-runs-later: names in a workspace that some program of
 * the host reads later and runs code from, so that a box which may write
 * them has left the box. One row per name, after the kind and the program
 * that is why. A name belongs here when its program runs what it names
 * without being asked, or takes it for an order of its user; and where a
 * program has one such name, all of its names are here. A last component
 * without a wildcard costs a look at a workspace next to nothing. Patterns
 * are matched without case, because a workspace may be on a case-folding
 * file system (case 25). Files that are meant to be edited and only run when
 * a person says so (Makefile, package.json) are not here: they are listed in
 * the change report (case 32). Spec: DESIGN.md section 6, cases 1-15.
 *
 * Compared in November 2026 with what the programs document themselves:
 * lefthook ("Config file name"), lint-staged (configFiles.js), commitlint
 * ("Config via file"), pnpm (".pnpmfile.cjs"), mise ("Configuration"), Helix
 * ("languages.toml files"), lua-language-server ("Configuration File"),
 * bazelisk, Jupyter (jupyter_core: the current directory until 4.11), Crush
 * ("Configuration File Locations", "Hooks"; not found there: crushrc), Kilo
 * ("Config File Locations"), Copilot ("Hooks configuration"), opencode
 * ("Plugins"), Droid ("Hooks"), OpenHands ("Repository Customization"), Qwen
 * Code (its settings schema), DuckDB (CLI), iex(1), GHCi ("The .ghci file"),
 * ocaml (toplevel), pry ("Pry rc"), PsySH ("Configuration"), sqlite3(1),
 * curl ("config"). git, shells, editors and ssh are as their man pages say.
 * The others are from experience.
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
	FILE_OF(".gitmodules"), /* git submodule */
	/* extensions, hooks and aliases of the others */
	FILE_OF(".hg/hgrc"), /* hg: hooks */
	FILE_OF(".hg/hgrc-not-shared"), /* its share-safe part */
	FILE_OF(".jj/repo/config.toml"), /* jj: tools it runs */
	FILE_OF(".jj/workspace-config.toml"), /* jj: the workspace's part */
	FILE_OF(".sl/config"), /* Sapling: hooks */
	/* a home as the workspace */
	FILE_OF(".gitconfig"), /* git, home */
	DIR_OF(".config/git"), /* git, home */
	FILE_OF(".hgrc"), /* hg: hooks, extensions */
	DIR_OF(".config/hg"), /* the same */
	FILE_OF(".jjconfig.toml"), /* jj: tools it runs */
	DIR_OF(".config/jj"), /* the same */
	/* diff-cmd and tunnels */
	DIR_OF(".subversion"), /* svn */

	/* shells, at start */
	FILE_OF(".bashrc"), /* bash */
	FILE_OF(".bash_profile"), /* bash */
	FILE_OF(".bash_login"), /* bash */
	FILE_OF(".bash_logout"), /* bash */
	FILE_OF(".bash_aliases"), /* bash */
	FILE_OF(".profile"), /* sh */
	FILE_OF(".inputrc"), /* readline: key bindings */
	FILE_OF(".zshrc"), /* zsh */
	FILE_OF(".zprofile"), /* zsh */
	FILE_OF(".zshenv"), /* zsh */
	FILE_OF(".zlogin"), /* zsh */
	FILE_OF(".zlogout"), /* zsh */
	FILE_OF(".kshrc"), /* ksh */
	FILE_OF(".mkshrc"), /* mksh */
	FILE_OF(".shrc"), /* ash and kin */
	FILE_OF(".cshrc"), /* csh */
	FILE_OF(".tcshrc"), /* tcsh */
	FILE_OF(".login"), /* csh */
	DIR_OF(".config/fish"), /* fish */
	DIR_OF(".config/zsh"), /* zsh with ZDOTDIR */
	DIR_OF(".config/nushell"), /* nu */
	DIR_OF(".config/powershell"), /* pwsh profile */
	DIR_OF(".config/elvish"), /* elvish rc */
	DIR_OF(".config/xonsh"), /* xonsh */
	FILE_OF(".xonshrc"), /* xonsh */
	FILE_OF(".bash_completion"), /* sourced by completion */
	FILE_OF(".p10k.zsh"), /* a prompt of zsh */
	/* the prompt runs its commands */
	FILE_OF(".config/starship.toml"), /* starship */
	/* first in the PATH of a login */
	DIR_OF(".local/bin"), /* ~/.profile */
	/* sessions and services of a home */
	FILE_OF(".xprofile"), /* X session */
	FILE_OF(".xinitrc"), /* startx */
	FILE_OF(".xsession"), /* X session */
	FILE_OF(".xsessionrc"), /* X session */
	FILE_OF(".xserverrc"), /* startx */
	FILE_OF(".pam_environment"), /* pam_env */
	DIR_OF(".config/autostart"), /* desktop entries */
	DIR_OF(".config/systemd"), /* user units */
	DIR_OF(".config/environment.d"), /* PATH, LD_PRELOAD */
	DIR_OF(".local/share/systemd"), /* user units */
	/* what a menu or a message starts */
	DIR_OF(".local/share/applications"), /* desktop entries */
	DIR_OF(".local/share/dbus-1"), /* activation */
	DIR_OF(".config/plasma-workspace"), /* env scripts */
	/* window managers: what a session begins with */
	DIR_OF(".config/i3"), /* i3 */
	DIR_OF(".i3"), /* i3 */
	DIR_OF(".config/sway"), /* sway */
	DIR_OF(".config/hypr"), /* Hyprland */
	DIR_OF(".config/openbox"), /* autostart */
	DIR_OF(".config/awesome"), /* rc.lua */
	DIR_OF(".config/bspwm"), /* bspwmrc */
	DIR_OF(".config/qtile"), /* config.py */
	DIR_OF(".xmonad"), /* xmonad.hs */
	FILE_OF(".ssh/config"), /* ProxyCommand */
	FILE_OF(".ssh/authorized_keys"), /* who may log in */
	FILE_OF(".ssh/authorized_keys2"), /* the same */
	FILE_OF(".ssh/rc"), /* run by sshd */
	FILE_OF(".ssh/environment"), /* LD_PRELOAD */
	FILE_OF(".gnupg/gpg.conf"), /* photo-viewer */
	FILE_OF(".gnupg/gpg-agent.conf"), /* pinentry-program */
	FILE_OF(".gnupg/gpgsm.conf"), /* agent-program */
	FILE_OF(".gnupg/scdaemon.conf"), /* a driver library */
	FILE_OF(".gnupg/dirmngr.conf"), /* an LDAP wrapper */
	FILE_OF(".forward"), /* pipes of incoming mail */
	FILE_OF(".procmailrc"), /* pipes of incoming mail */
	FILE_OF(".mailcap"), /* viewers */
	FILE_OF(".muttrc"), /* mutt: backquotes */
	DIR_OF(".mutt"), /* the same */
	DIR_OF(".config/mutt"), /* the same */
	FILE_OF(".msmtprc"), /* passwordeval */
	FILE_OF(".mbsyncrc"), /* PassCmd */
	/* credential_process, exec, credHelpers and plug-ins */
	FILE_OF(".aws/config"), /* credential_process */
	FILE_OF(".aws/credentials"), /* the same */
	FILE_OF(".kube/config"), /* exec */
	FILE_OF(".docker/config.json"), /* credHelpers */
	DIR_OF(".docker/cli-plugins"), /* plug-ins */
	DIR_OF(".config/containers"), /* hooks, runtimes */
	FILE_OF(".terraformrc"), /* provider overrides */
	DIR_OF(".terraform.d"), /* plug-ins */
	DIR_OF(".vagrant.d"), /* a Vagrantfile for all */
	/* pagers, shell escapes, use_askpass, LESSOPEN */
	FILE_OF(".psqlrc"), /* psql: \! */
	FILE_OF(".sqliterc"), /* sqlite3: .shell */
	DIR_OF(".config/sqlite3"), /* the same */
	FILE_OF(".my.cnf"), /* mysql: pager */
	FILE_OF(".mongoshrc.js"), /* mongosh */
	FILE_OF(".duckdbrc"), /* duckdb: .shell */
	FILE_OF(".wgetrc"), /* use_askpass */
	FILE_OF(".curlrc"), /* writes any file */
	FILE_OF(".config/curlrc"), /* the same */
	FILE_OF(".lesskey"), /* less: LESSOPEN */
	DIR_OF(".config/lesskey"), /* the same */

	/* on entering the directory */
	FILE_OF(".envrc"), /* direnv */
	FILE_OF(".autoenv"), /* autoenv */
	FILE_OF(".autoenv.zsh"), /* zsh-autoenv */
	FILE_OF(".autoenv_leave.zsh"), /* on leaving it */
	FILE_OF(".direnvrc"), /* functions of .envrc */
	DIR_OF(".config/direnv"), /* direnvrc, lib/ */
	DIR_OF(".shadowenv.d"), /* shadowenv */
	FILE_OF(".rvmrc"), /* rvm: sourced */
	FILE_OF(".asdfrc"), /* asdf: hooks */
	/* `path:` a program of the workspace */
	FILE_OF(".tool-versions"), /* asdf */
	FILE_OF("mise.toml"), /* mise: hooks, env */
	FILE_OF(".mise.toml"), /* the same */
	FILE_OF("mise.*.toml"), /* of an environment, or local */
	FILE_OF(".mise.*.toml"), /* the same */
	FILE_OF("mise/config.toml"), /* mise's other places */
	FILE_OF("mise/config.*.toml"), /* the same */
	DIR_OF(".mise"), /* the same */
	DIR_OF(".config/mise"), /* the same */
	FILE_OF(".exrc"), /* vi */
	FILE_OF(".vimrc"), /* vim */
	FILE_OF(".gvimrc"), /* gvim */
	FILE_OF(".lvimrc"), /* vim-localvimrc */
	DIR_OF(".vim"), /* vim: plug-ins, coc */
	DIR_OF(".config/nvim"), /* nvim */
	FILE_OF(".nvimrc"), /* nvim */
	FILE_OF(".nvim.lua"), /* nvim */
	FILE_OF(".lazy.lua"), /* lazy.nvim */
	FILE_OF(".dir-locals.el"), /* emacs: eval */
	FILE_OF(".dir-locals-2.el"), /* the same */
	FILE_OF(".emacs"), /* emacs */
	FILE_OF(".emacs.el"), /* emacs */
	DIR_OF(".emacs.d"), /* emacs */
	DIR_OF(".config/emacs"), /* emacs */
	FILE_OF(".spacemacs"), /* emacs */
	DIR_OF(".spacemacs.d"), /* emacs */
	DIR_OF(".doom.d"), /* emacs */
	DIR_OF(".config/doom"), /* emacs */
	FILE_OF(".nanorc"), /* nano: speller */
	DIR_OF(".config/nano"), /* the same */
	FILE_OF(".gdbinit"), /* gdb */
	FILE_OF(".gdbearlyinit"), /* gdb */
	DIR_OF(".config/gdb"), /* gdb */
	FILE_OF(".lldbinit"), /* lldb */
	FILE_OF(".tmux.conf"), /* tmux */
	DIR_OF(".config/tmux"), /* tmux */
	FILE_OF(".screenrc"), /* screen */
	DIR_OF(".config/zellij"), /* zellij */
	/* which shell a terminal starts */
	DIR_OF(".config/alacritty"), /* alacritty */
	DIR_OF(".config/kitty"), /* kitty */
	DIR_OF(".config/wezterm"), /* wezterm */
	FILE_OF(".wezterm.lua"), /* wezterm */

	/* editors and their tasks */
	DIR_OF(".vscode"), /* tasks, settings */
	DIR_OF(".idea"), /* run configurations */
	DIR_OF(".fleet"), /* Fleet */
	DIR_OF(".zed"), /* Zed: servers, tasks */
	DIR_OF(".helix"), /* languages.toml: servers */
	DIR_OF(".nova"), /* Nova: tasks */
	DIR_OF(".theia"), /* Theia: tasks */
	DIR_OF(".externalToolBuilders"), /* Eclipse */
	/* the same for a whole home */
	DIR_OF(".config/helix"), /* helix */
	DIR_OF(".config/zed"), /* Zed */
	DIR_OF(".config/Code"), /* VS Code */
	DIR_OF(".config/VSCodium"), /* VSCodium */
	DIR_OF(".config/Cursor"), /* Cursor */
	DIR_OF(".config/JetBrains"), /* IntelliJ and kin */
	/* language servers: what they load or start when a file is opened */
	FILE_OF(".luarc.json"), /* runtime.plugin */
	FILE_OF(".luarc.jsonc"), /* the same */
	FILE_OF("rust-analyzer.toml"), /* overrideCommand */
	FILE_OF("hie.yaml"), /* cradle: bios */
	FILE_OF(".merlin"), /* -ppx */
	FILE_OF(".ycm_extra_conf.py"), /* YouCompleteMe */
	DIR_OF(".devcontainer"), /* initializeCommand */
	FILE_OF(".devcontainer.json"), /* the same */
	FILE_OF("*.code-workspace"), /* tasks, settings */
	FILE_OF("*.sublime-project"), /* servers, build systems */

	/* agent programs: hooks, servers, permissions */
	FILE_OF(".mcp.json"), /* servers */
	DIR_OF(".claude"), /* Claude Code */
	FILE_OF(".claude.json"), /* Claude Code, home */
	DIR_OF(".codex"), /* Codex */
	DIR_OF(".cursor"), /* Cursor */
	DIR_OF(".gemini"), /* Gemini CLI */
	DIR_OF(".windsurf"), /* Windsurf */
	DIR_OF(".continue"), /* Continue */
	FILE_OF(".continuerc.json"), /* Continue */
	DIR_OF(".roo"), /* Roo Code */
	DIR_OF(".cline"), /* Cline */
	DIR_OF(".amazonq"), /* Amazon Q */
	DIR_OF(".kiro"), /* Kiro */
	DIR_OF(".opencode"), /* opencode: plug-ins */
	FILE_OF("opencode.json"), /* the same */
	FILE_OF("opencode.jsonc"), /* opencode: plug-ins */
	DIR_OF(".config/opencode"), /* the same, home */
	DIR_OF(".kilocode"), /* Kilo: mcp.json */
	DIR_OF(".kilo"), /* the same */
	FILE_OF("kilo.json"), /* the same */
	FILE_OF("kilo.jsonc"), /* the same */
	DIR_OF(".config/kilo"), /* the same, home */
	DIR_OF(".junie"), /* Junie */
	DIR_OF(".qwen"), /* Qwen Code */
	DIR_OF(".crush"), /* Crush */
	FILE_OF(".crush.json"), /* Crush: $(command), hooks */
	FILE_OF("crush.json"), /* the same */
	FILE_OF(".crushrc"), /* Crush: a shell script */
	FILE_OF("crushrc"), /* the same */
	DIR_OF(".config/crush"), /* the same, home */
	FILE_OF(".aider.conf.yml"), /* aider: lint-cmd */
	DIR_OF(".github/hooks"), /* Copilot CLI: hooks */
	DIR_OF(".copilot"), /* Copilot CLI, home */
	DIR_OF(".amp"), /* Amp: servers */
	DIR_OF(".config/amp"), /* the same, home */
	DIR_OF(".augment"), /* Auggie: hooks */
	DIR_OF(".factory"), /* Droid: hooks */
	DIR_OF(".trae"), /* Trae: mcp.json */
	DIR_OF(".qoder"), /* Qoder: hooks */
	DIR_OF(".codebuddy"), /* CodeBuddy: hooks */
	DIR_OF(".iflow"), /* iFlow: servers */
	DIR_OF(".openhands"), /* OpenHands: setup.sh */
	DIR_OF(".pi"), /* pi: extensions */
	DIR_OF(".omp"), /* omp: extensions */
	DIR_OF(".config/goose"), /* goose: extensions */
	DIR_OF(".agentbox"), /* ours */

	/* run by git or a build on the host without being asked */
	DIR_OF(".husky"), /* husky */
	FILE_OF(".pre-commit-config.yaml"), /* pre-commit */
	FILE_OF("lefthook.yml"), /* lefthook */
	FILE_OF("lefthook.yaml"), /* lefthook */
	FILE_OF("lefthook.toml"), /* lefthook */
	FILE_OF("lefthook.json"), /* lefthook */
	FILE_OF("lefthook.jsonc"), /* lefthook */
	FILE_OF(".lefthook.yml"), /* lefthook */
	FILE_OF(".lefthook.yaml"), /* lefthook */
	FILE_OF(".lefthook.toml"), /* lefthook */
	FILE_OF(".lefthook.json"), /* lefthook */
	FILE_OF(".lefthook.jsonc"), /* lefthook */
	FILE_OF("lefthook-local.yml"), /* lefthook */
	FILE_OF("lefthook-local.yaml"), /* lefthook */
	FILE_OF("lefthook-local.toml"), /* lefthook */
	FILE_OF("lefthook-local.json"), /* lefthook */
	FILE_OF("lefthook-local.jsonc"), /* lefthook */
	FILE_OF(".lefthook-local.yml"), /* lefthook */
	FILE_OF(".lefthook-local.yaml"), /* lefthook */
	FILE_OF(".lefthook-local.toml"), /* lefthook */
	FILE_OF(".lefthook-local.json"), /* lefthook */
	FILE_OF(".lefthook-local.jsonc"), /* lefthook */
	/* the scripts that the above run */
	DIR_OF(".lefthook"), /* lefthook */
	DIR_OF(".lefthook-local"), /* lefthook */
	FILE_OF(".overcommit.yml"), /* overcommit */
	DIR_OF(".git-hooks"), /* overcommit's own */
	FILE_OF(".lintstagedrc"), /* lint-staged, from a hook */
	FILE_OF(".lintstagedrc.json"), /* the same */
	FILE_OF(".lintstagedrc.yaml"), /* the same */
	FILE_OF(".lintstagedrc.yml"), /* the same */
	FILE_OF(".lintstagedrc.js"), /* the same */
	FILE_OF(".lintstagedrc.cjs"), /* the same */
	FILE_OF(".lintstagedrc.mjs"), /* the same */
	FILE_OF(".lintstagedrc.ts"), /* the same */
	FILE_OF(".lintstagedrc.cts"), /* the same */
	FILE_OF(".lintstagedrc.mts"), /* the same */
	FILE_OF("lint-staged.config.js"), /* the same */
	FILE_OF("lint-staged.config.cjs"), /* the same */
	FILE_OF("lint-staged.config.mjs"), /* the same */
	FILE_OF("lint-staged.config.ts"), /* the same */
	FILE_OF("lint-staged.config.cts"), /* the same */
	FILE_OF("lint-staged.config.mts"), /* the same */
	FILE_OF(".commitlintrc"), /* commitlint, from a hook */
	FILE_OF(".commitlintrc.json"), /* the same */
	FILE_OF(".commitlintrc.yaml"), /* the same */
	FILE_OF(".commitlintrc.yml"), /* the same */
	FILE_OF(".commitlintrc.js"), /* the same */
	FILE_OF(".commitlintrc.cjs"), /* the same */
	FILE_OF(".commitlintrc.mjs"), /* the same */
	FILE_OF(".commitlintrc.ts"), /* the same */
	FILE_OF(".commitlintrc.cts"), /* the same */
	FILE_OF(".commitlintrc.mts"), /* the same */
	FILE_OF("commitlint.config.js"), /* the same */
	FILE_OF("commitlint.config.cjs"), /* the same */
	FILE_OF("commitlint.config.mjs"), /* the same */
	FILE_OF("commitlint.config.ts"), /* the same */
	FILE_OF("commitlint.config.cts"), /* the same */
	FILE_OF("commitlint.config.mts"), /* the same */
	FILE_OF("bunfig.toml"), /* bun: preload */
	FILE_OF(".npmrc"), /* npm: script-shell, registry */
	FILE_OF(".yarnrc"), /* yarn: yarn-path */
	FILE_OF(".yarnrc.yml"), /* yarn: yarnPath, plugins */
	/* what that names: the program, its plug-ins, an editor's tools */
	DIR_OF(".yarn/releases"), /* yarnPath */
	DIR_OF(".yarn/plugins"), /* plugins: */
	DIR_OF(".yarn/sdks"), /* an editor's tools */
	FILE_OF(".pnpmfile.cjs"), /* pnpm: hooks */
	FILE_OF(".pnpmfile.mjs"), /* pnpm: hooks */
	FILE_OF(".cargo/config"), /* cargo: rustc-wrapper */
	FILE_OF(".cargo/config.toml"), /* the same */
	/* `path`: the compiler that the rustup proxies run */
	FILE_OF("rust-toolchain"), /* rustup */
	FILE_OF("rust-toolchain.toml"), /* rustup */
	/* GOFLAGS=-toolexec */
	DIR_OF(".config/go"), /* go env */
	FILE_OF("pip.conf"), /* pip: where code is from */
	DIR_OF(".config/pip"), /* pip, home */
	DIR_OF(".pip"), /* pip, home */
	FILE_OF("uv.toml"), /* uv: where code is from */
	DIR_OF(".config/uv"), /* the same, home */
	FILE_OF(".condarc"), /* the same of conda */
	FILE_OF(".gemrc"), /* the same of gem */
	FILE_OF(".bundle/config"), /* the same of bundler */
	DIR_OF(".bundle/plugin"), /* bundler: plug-ins */
	FILE_OF("nuget.config"), /* the same of NuGet */
	DIR_OF(".config/nix"), /* nix.conf */
	FILE_OF(".pypirc"), /* twine: where code goes */
	FILE_OF(".pythonrc"), /* PYTHONSTARTUP */
	FILE_OF("sitecustomize.py"), /* python: imported */
	FILE_OF("usercustomize.py"), /* the same */
	DIR_OF(".local/lib"), /* python: what it imports */
	FILE_OF(".bazelrc"), /* bazel: --workspace_status_command */
	FILE_OF(".bazeliskrc"), /* which bazel */
	FILE_OF(".bazelversion"), /* a fork of it */
	FILE_OF("tools/bazel"), /* run in place of bazel */
	FILE_OF(".buckconfig"), /* buck: tools */
	FILE_OF(".buckconfig.local"), /* the same */
	/* options of a virtual machine: agents, class paths, extensions */
	DIR_OF(".mvn"), /* mvn */
	FILE_OF(".jvmopts"), /* sbt */
	FILE_OF(".sbtopts"), /* sbt */
	FILE_OF(".m2/settings.xml"), /* mvn, home */
	FILE_OF(".m2/extensions.xml"), /* mvn 4, home */
	FILE_OF(".gradle/gradle.properties"), /* gradle, home */
	FILE_OF(".gradle/init.gradle"), /* gradle, home */
	FILE_OF(".gradle/init.gradle.kts"), /* gradle, home */
	DIR_OF(".gradle/init.d"), /* gradle, home */
	FILE_OF("ansible.cfg"), /* ansible: plug-ins */
	FILE_OF(".ansible.cfg"), /* ansible, home */
	/* interpreters and debuggers: read in the directory, or in a home */
	FILE_OF(".irbrc"), /* irb */
	FILE_OF(".pryrc"), /* pry */
	DIR_OF(".config/pry"), /* pry */
	FILE_OF(".Rprofile"), /* R */
	FILE_OF(".Renviron"), /* R */
	FILE_OF(".RData"), /* R: .First of a saved image */
	FILE_OF(".pythonrc.py"), /* PYTHONSTARTUP */
	FILE_OF(".pdbrc"), /* pdb */
	FILE_OF(".pdbrc.py"), /* pdb++ */
	DIR_OF(".ipython"), /* IPython: startup/ */
	DIR_OF(".jupyter"), /* Jupyter */
	FILE_OF("jupyter_config.py"), /* Jupyter */
	FILE_OF("jupyter_config.json"), /* Jupyter */
	FILE_OF("jupyter_server_config.py"), /* Jupyter */
	FILE_OF("jupyter_server_config.json"), /* Jupyter */
	FILE_OF("jupyter_notebook_config.py"), /* Jupyter */
	FILE_OF("jupyter_notebook_config.json"), /* Jupyter */
	FILE_OF("jupyter_lab_config.py"), /* Jupyter */
	FILE_OF("jupyter_lab_config.json"), /* Jupyter */
	FILE_OF("irbrc"), /* irb */
	FILE_OF("_irbrc"), /* irb */
	DIR_OF(".config/irb"), /* irb */
	FILE_OF(".byebugrc"), /* byebug */
	FILE_OF(".rdbgrc"), /* rdbg */
	FILE_OF(".rdbgrc.rb"), /* rdbg */
	FILE_OF(".perldb"), /* perl -d */
	FILE_OF(".ghci"), /* ghci */
	FILE_OF(".ghc/ghci.conf"), /* ghci */
	FILE_OF(".config/ghc/ghci.conf"), /* ghci */
	FILE_OF(".ocamlinit"), /* ocaml */
	DIR_OF(".config/ocaml"), /* ocaml: init.ml */
	FILE_OF(".iex.exs"), /* iex */
	FILE_OF(".erlang"), /* erl */
	FILE_OF(".octaverc"), /* octave */
	FILE_OF(".julia/config/startup.jl"), /* julia */
	FILE_OF(".psysh.php"), /* PsySH */
	DIR_OF(".config/psysh"), /* PsySH */
	DIR_OF(".psysh"), /* PsySH */
	FILE_OF(".sbclrc"), /* sbcl */
	FILE_OF(".guile"), /* guile */
	{ .pattern = NULL },
};

const char *const ab_policy_own_config[] = { "config.yaml", "config.yml",
					     "config.json", "config.toml",
					     NULL };
