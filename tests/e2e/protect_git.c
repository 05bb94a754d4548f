/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Real git on both sides of a direct workspace. The host works with its
 * repository while a box is over it: at rest, with a process of the agent
 * left behind, or with a command that runs. At rest its git succeeds and what
 * it made stays, read-only in the box; else what may be the agent's is taken
 * and told, nothing in silence. Rows 9-11, 102 and 112 of
 * tests/e2e/SANDBOX-CASES.md.
 */
#include "box.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* After a command the box's own processes still have to find that it is at
   rest, which nobody can ask for: ten milliseconds, on an idle machine. */
#define REST_US 300000
#define COUNT(list) (sizeof(list) / sizeof(*(list)))

struct work {
	const char *name;
	const char *before; /* in base, before the box is raised */
	const char *host;   /* in base: must succeed */
	const char *after;  /* in base: what has to hold */
	bool is_taken;	    /* what it makes, where an agent could have */
	bool is_timed;	    /* a file of it is waited for, not for long */
};

#define GIT_ENV \
	"export HOME=$PWD/home GIT_CONFIG_GLOBAL=/dev/null " \
	"GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=a@b " \
	"GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=a@b " \
	"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow " \
	"GIT_CONFIG_VALUE_0=always; "

static const struct work works[] = {
	{ "commit", "", "echo x >>ws/f; git -C ws commit -qam x",
	  "git -C ws log -1 --format=%s | grep -q x", false },
	{ "branch and switch", "", "git -C ws switch -qc other; "
	  "echo x >ws/g; git -C ws add g; git -C ws commit -qm g; "
	  "git -C ws switch -q main", "git -C ws cat-file -e other:g", false },
	{ "gc", "", "git -C ws gc -q --prune=now", NULL, false },
	{ "repack", "", "git -C ws repack -adq", NULL, false },
	{ "config", "", "git -C ws config alias.x log; "
	  "git -C ws config user.name Bob", "git -C ws config user.name", false },
	{ "stash", "", "echo y >>ws/f; git -C ws stash -q; "
	  "git -C ws stash pop -q", "grep -q y ws/f", false },
	{ "rebase", "git -C ws switch -qc b; echo b >ws/b; git -C ws add b; "
	  "git -C ws commit -qm b; git -C ws switch -q main; echo m >ws/m; "
	  "git -C ws add m; git -C ws commit -qm m;",
	  "git -C ws switch -q b; git -C ws rebase -q main",
	  "git -C ws cat-file -e b:m", false },
	{ "a tracked protected file comes and goes",
	  "echo mine >ws/.envrc; git -C ws add -f .envrc; "
	  "git -C ws commit -qm e; git -C ws switch -qc none; "
	  "git -C ws rm -q .envrc; git -C ws commit -qm n; "
	  "git -C ws switch -q main;",
	  "echo mine2 >ws/.envrc; git -C ws stash -q; git -C ws stash pop -q",
	  "grep -q mine2 ws/.envrc", false },
	{ "worktree outside", "", "git -C ws worktree add -q ../x",
	  "git -C x status && git -C ws worktree prune && "
	  "git -C ws worktree list | grep -q /x", false, true },
	{ "worktree inside", "", "git -C ws worktree add -q wt",
	  "git -C ws/wt status && git -C ws worktree prune && "
	  "git -C ws worktree list | grep -q /wt", false, true },
	{ "worktree outside, removed", "", "git -C ws worktree add -q ../x; "
	  "git -C ws worktree remove ../x", "[ ! -e ws/.git/worktrees/x ]", false, true },
	{ "worktree outside, moved", "", "git -C ws worktree add -q ../x; "
	  "git -C ws worktree move ../x ../y", "git -C y status && "
	  "git -C ws worktree prune && git -C y status", false, true },
	{ "worktree of before is moved", "git -C ws worktree add -q ../x;",
	  "git -C ws worktree move ../x ../y; git -C y status",
	  "git -C ws worktree prune && git -C y status", false, true },
	{ "init", "", "git init -q ws/n", "[ -e ws/n/.git/config ]", true },
	{ "clone", "", "git clone -q other ws/n",
	  "[ \"$(git -C ws/n remote)\" = origin ]", true },
	{ "submodule add", "", "git -C ws submodule --quiet add ../other n",
	  "git -C ws/n status && git -C ws submodule status | grep -q n", true },
	{ "submodule update", "git clone -q ws w0; "
	  "git -C w0 submodule --quiet add ../other n; "
	  "git -C w0 commit -qm n; rm -rf ws; git clone -q w0 ws; rm -rf w0;",
	  "git -C ws submodule --quiet update --init", "git -C ws/n status", true },
};

/* Its exit status; what it said is kept. */
static int run(const char *script, const char **said)
{
	int status = -1;

	*said = HOST_RUN(&status, "sh", "-c",
			 e2e_text("cd '%s' && " GIT_ENV "{ set -e; %s\n} 2>&1",
				  host_base(), script));
	return status;
}

static void on_host(const char *script)
{
	const char *said;
	int status = run(script, &said);

	CHECK(status == 0, "host: %s: %s", script, said);
}

/* Nothing below the workspace holds what the agent wrote. */
static void check_nothing_written(const char *what)
{
	const char *said;
	int status = run("grep -rl evil ws || test $? -eq 1", &said);

	CHECK(status == 0 && !said[0], "%s: %d: %s", what, status, said);
}

static void begin(const char *before)
{
	e2e_seconds(30);
	if (!host_has("git"))
		e2e_skip("git is not installed");
	on_host("rm -rf ws other x y w0 home state/quarantine/*; "
		"mkdir -p home; git init -q -b main ws; echo 1 >ws/f; "
		"git -C ws add f; git -C ws commit -qm first; "
		"git clone -q ws other; git -C ws gc -q");
	on_host(e2e_text("%s true", before));
	box_raise(NULL, NULL);
	box_forget_events();
}

/* How many were taken, as told; each is where the event says it is. */
static unsigned count_taken(void)
{
	agentbox_event *event = NULL;
	unsigned n = 0;

	agentbox_sandbox_dispatch(box(), NULL);
	while (agentbox_sandbox_next_event(box(), &event, NULL) == 0) {
		const char *detail = agentbox_event_get_detail(event);

		if (!strcmp(agentbox_event_get_kind(event), "quarantined")) {
			n++;
			CHECK(host_exists(detail), "lost: %s", detail);
		} else {
			e2e_note("event %s '%s': %s",
				 agentbox_event_get_kind(event),
				 agentbox_event_get_object(event), detail);
		}
		agentbox_event_free(event);
	}
	return n;
}

/* As many as lie in the quarantine: nothing was taken in silence. */
static unsigned check_told(const struct work *w, const char *mode)
{
	unsigned told = count_taken(), there = 0;
	const char *said;

	run("find state/quarantine -mindepth 2 -maxdepth 2 "
	    "! -path '*/unsettled/*' | wc -l", &said);
	sscanf(said, "%u", &there);
	CHECK(told == there, "%s, %s: %u told, %u there", w->name, mode, told,
	      there);
	return told;
}

/* False: what it made was taken, as it may be of a git that had to wait for
   a processor; so it is to be tried again. Never the last time. */
static bool try(const struct work *w, const char *mode, bool is_last)
{
	bool is_quiet = !strcmp(mode, "quiet");
	bool may = w->is_taken && !is_quiet, is_slow;
	agentbox_process *p = NULL;
	const char *said;
	unsigned taken;
	int status;

	e2e_note("%s: %s", mode, w->name);
	begin(w->before);
	box_sh(strcmp(mode, "left") ? "true" :
	       "(sleep 30 >/dev/null 2>&1 &)");
	if (!strcmp(mode, "running"))
		p = BOX_START(-1, "/bin/sh", "-c",
			      "while [ ! -e /workspace/.stop ]; do "
			      "sleep 0.01; done");
	else
		usleep(REST_US);
	status = run(w->host, &said);
	usleep(50000);
	if (p) {
		host_write(ws_path(".stop"), "");
		agentbox_process_wait(p, SOON_MS, NULL);
		agentbox_process_free(p);
	}
	box_sh("true");
	taken = check_told(w, mode);
	is_slow = taken && (w->is_timed || is_quiet) && !is_last;
	CHECK(status == 0 || may || is_slow, "%s, %s: %s", w->name, mode, said);
	CHECK(!taken || may || is_slow, "%s, %s: %u taken", w->name, mode,
	      taken);
	if (w->after && !may && !is_slow)
		on_host(w->after);
	/* whatever is there now, the agent cannot write to it */
	box_sh("for i in $(find . -path '*/.git*' \\( -name config -o "
	       "-name hooks -o -name gitdir -o -name .gitmodules \\)); do "
	       "echo evil >>$i; echo evil >$i/pre-commit; done");
	check_nothing_written(e2e_text("%s, %s: written", w->name, mode));
	box_end();
	return !is_slow;
}

/* Not once in so many times is it the machine's load. */
static void try_each(const char *mode)
{
	for (size_t i = 0; i < COUNT(works); i++)
		for (int left = 9; !try(&works[i], mode, left == 0); left--)
			e2e_note("%s: taken, again", works[i].name);
}

static void case_102_git_of_a_host_at_rest(void)
{
	try_each("quiet");
}

static void case_102_git_beside_a_process_left_behind(void)
{
	try_each("left");
}

static void case_102_git_beside_a_command(void)
{
	try_each("running");
}

/* As /home often is: the way from there to the root leaves it. */
static void case_102_a_workspace_below_a_mount_of_its_own(void)
{
	bool is_tried = false;

	if (geteuid() != 0 || unshare(CLONE_NEWNS))
		e2e_skip("needs root for a mount of its own");
	REQUIRE(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
			mount(host_base(), host_base(), NULL, MS_BIND, NULL) ==
				0,
		"%m");
	e2e_mark_again();
	for (size_t i = 0; i < COUNT(works); i++) {
		if (strncmp(works[i].name, "worktree outside", 16) != 0)
			continue;
		is_tried = true;
		for (int left = 9; !try(&works[i], "left", left == 0); left--)
			e2e_note("%s: taken, again", works[i].name);
	}
	CHECK(is_tried, "no work tree outside");
}

/* What is not the host's git's, or may be the agent's, after a quiet host. */
struct plant {
	const char *name;
	const char *host;  /* at rest, in base */
	const char *agent; /* then */
	const char *later; /* the host again, or NULL */
	const char *after; /* what has to hold */
	const char *told;  /* ends what was quarantined */
};

#define INIT_N "git init -q ws/n; git -C ws/n config user.name mine; "
static const struct plant plants[] = {
	{ "what leads there is moved", INIT_N,
	  "mv n n2; mkdir -p n/.git; echo evil >n/.git/config", NULL,
	  "git -C ws/n2 config user.name | grep mine", "n/.git/config" },
	{ "a link is put above it", INIT_N,
	  "mkdir -p d/hooks; echo evil >d/config; mv n/.git n/g; "
	  "ln -s ../d n/.git", NULL, "grep -q mine ws/n/g/config", "n/.git" },
	{ "a file is put above it", INIT_N,
	  "mkdir -p d/hooks; echo evil >d/config; mv n/.git n/g; "
	  "echo gitdir: ../d >n/.git", NULL, "grep -q mine ws/n/g/config",
	  "n/.git" },
	{ "it is moved, and back", INIT_N,
	  "mv n n2; mv n2 n; echo evil >>n/.git/config", NULL,
	  "git -C ws/n config user.name | grep mine", NULL },
	{ "the host removes it, the agent makes it", INIT_N "rm -rf ws/n;",
	  "mkdir -p n/.git; echo evil >n/.git/config", NULL, "true",
	  "n/.git/config" },
	{ "the host makes it again", INIT_N "rm -rf ws/n; sleep 0.05; " INIT_N,
	  "echo evil >>n/.git/config; echo evil >n/.git/hooks/h", NULL,
	  "git -C ws/n config user.name | grep mine", NULL },
	{ "the host writes it again later", INIT_N, "true",
	  "git -C ws/n config user.name mine2", "git -C ws/n config user.name "
	  "| grep mine2", NULL },
	{ "a hard link of another", "mkdir -p ws/o/.git; "
	  "ln ws/.git/config ws/o/.git/config;",
	  "echo evil >>o/.git/config", NULL, "true", "o/.git/config" },
	{ "a branch brings a file", "git -C ws checkout -q planted",
	  "true", NULL, "true", ".envrc" },
	{ "a branch brings a command for git", "git -C ws checkout -q commands",
	  "true", NULL, "true", ".gitmodules" },
	{ "a bare repository by its structure", "git -C ws checkout -q bare",
	  "true", NULL, "true", "b/config" },
};

#define PLANTED \
	"git -C ws switch -qc planted; echo evil >ws/.envrc; " \
	"git -C ws add -f .envrc; git -C ws commit -qm e; " \
	"git -C ws switch -q main; git -C ws switch -qc commands; " \
	"printf '[submodule \"x\"]\\n\\tupdate = !evil\\n' >ws/.gitmodules; " \
	"git -C ws add -f .gitmodules; git -C ws commit -qm m; " \
	"git -C ws switch -q main; git -C ws switch -qc bare; " \
	"mkdir -p ws/b/objects ws/b/refs; echo evil >ws/b/config; " \
	"echo ref: refs/heads/x >ws/b/HEAD; touch ws/b/objects/x ws/b/refs/x; " \
	"git -C ws add -f b; git -C ws commit -qm b; git -C ws switch -q main;"

/* False: the box was not at rest yet when the host began, as may be on a busy
   machine, so what that made was taken. Nothing evil stays in any case. */
static bool plant(const struct plant *t, bool is_last)
{
	const char *said, *planted;
	bool is_good;

	e2e_note("%s", t->name);
	begin(PLANTED);
	box_sh("true");
	usleep(REST_US);
	is_good = run(t->host, &said) == 0;
	usleep(50000);
	box_sh("%s", t->agent);
	if (t->later) {
		usleep(REST_US);
		is_good &= run(t->later, &said) == 0;
	}
	box_sh("echo evil >>n/.git/config; true");
	is_good &= t->told ? box_event("quarantined", t->told, 0) != NULL :
			     !box_event("quarantined", NULL, 0);
	/* 1: grep looked at everything and found nothing */
	CHECK(run("grep -rl evil ws --exclude-dir=d || test $? -eq 1",
		  &planted) == 0, "%s: not looked through: %s", t->name,
	      planted);
	CHECK(!planted[0], "%s: planted: %s", t->name, planted);
	is_good &= run(t->after, &said) == 0;
	CHECK(is_good || !is_last, "%s: taken, or not told of: %s", t->name,
	      said);
	box_end();
	return is_good || is_last;
}

static void case_102_what_the_host_made_is_no_cover(void)
{
	for (size_t i = 0; i < COUNT(plants); i++)
		for (int left = 9; !plant(&plants[i], left == 0); left--)
			e2e_note("%s: again", plants[i].name);
}

/* However close to its end: it was not the host. */
static void case_102_what_ends_after_planting_is_the_agent(void)
{
	unsigned told = 0;

	begin("");
	e2e_seconds(60);
	for (int i = 0; i < 40; i++) {
		box_sh("(sleep 0.0%d; mkdir -p l%d/.git; "
		       "echo evil >l%d/.git/config) >/dev/null 2>&1 & "
		       "mkdir -p c%d/.git; echo evil >c%d/.git/config",
		       i % 10, i, i, i, i);
		usleep((unsigned)(i % 7) * 20000);
	}
	/* who was left behind may have to wait for a processor */
	for (int i = 0; i < 400 && told < 80; i++) {
		e2e_sleep_ms(50);
		told += count_taken();
	}
	box_sh("true");
	check_nothing_written("planted");
	told += count_taken();
	CHECK(told == 80, "%u are told", told);
}

/* One is begun and has no process yet while the holder finds that there is
   none: what it makes in the end is not the host's. */
static void case_102_what_is_in_the_making_is_the_agent(void)
{
	unsigned told = 0;

	box_use_mutant("agentbox-init", "launcher-that-pauses");
	begin("");
	e2e_seconds(60);
	for (unsigned i = 0; i < 20; i++) {
		box_sh("true");
		usleep(i % 4 * 10000);
		box_sh("mkdir -p l%u/.git; echo evil >l%u/.git/config", i, i);
		told += count_taken();
	}
	box_sh("true");
	check_nothing_written("planted");
	told += count_taken();
	CHECK(told == 20, "%u are told", told);
}

/* Who ends gives his child to PID 1 in that moment: one of them is there. */
static void case_102_a_chain_of_processes_is_the_agent(void)
{
	begin("");
	e2e_seconds(60);
	box_sh("(perl -e 'for (1 .. 1500) { exit if fork; "
	       "select undef, undef, undef, 0.0005 + rand 0.002 } "
	       "select undef, undef, undef, 0.5; mkdir \"l\"; "
	       "mkdir \"l/.git\"; open F, \">l/.git/config\"; "
	       "print F \"evil\"; close F; sleep 2' >/dev/null 2>&1 &)");
	CHECK(box_event("quarantined", "l/.git/config", 45000), "not told");
	box_sh("true");
	check_nothing_written("planted");
}

#define EXCHANGED 40

/* As git does: what was mounted there is detached. */
static void replace_config(int git_dir)
{
	int fd = openat(git_dir, "c", O_CREAT | O_WRONLY | O_TRUNC, 0644);

	if (fd < 0 || write(fd, "mine\n", 5) != 5 ||
	    renameat(git_dir, "c", git_dir, "config"))
		CHECK(false, "config: %m");
	close(fd);
}

/* What leads there is now the host's, now the agent's. */
static void case_102_what_leads_there_is_exchanged(void)
{
	agentbox_process *p;
	int dirs[EXCHANGED];

	begin("");
	e2e_seconds(60);
	box_sh("true");
	usleep(REST_US);
	on_host(e2e_text("for i in $(seq 0 %d); do mkdir -p ws/n/$i/.git; "
			 "echo mine >ws/n/$i/.git/config; done",
			 EXCHANGED - 1));
	usleep(REST_US);
	for (int i = 0; i < EXCHANGED; i++)
		dirs[i] = open(ws_path(e2e_text("n/%d/.git", i)), O_PATH);
	p = BOX_START(-1, "/bin/sh", "-c",
		      e2e_text("cd /workspace; for i in $(seq 0 %d); do "
			       "mkdir -p e/$i/.git; "
			       "echo evil >e/$i/.git/config; done; touch go; "
			       "perl -e '$n = \"n\"; $e = \"e\"; "
			       "while (! -e \".stop\") { "
			       "for (1 .. 101) { syscall(%d, -100, $n, "
			       "-100, $e, 2) == 0 and $m++ } } "
			       "open F, \">exchanged\" if $m'; "
			       "for f in [ne]/*/.git/config; do "
			       "if grep -q evil $f && ! echo evil >>$f; then "
			       "echo bound >>bound; fi; done",
			       EXCHANGED - 1, SYS_renameat2));
	for (int i = 0; i < 1000 && !host_exists(ws_path("go")); i++)
		e2e_sleep_ms(10);
	for (int i = 0; i < 20 * EXCHANGED; i++) {
		replace_config(dirs[i % EXCHANGED]);
		usleep(i % EXCHANGED ? 200 : 20000);
	}
	host_write(ws_path(".stop"), "");
	agentbox_process_wait(p, 30000, NULL);
	agentbox_process_free(p);
	for (int i = 0; i < EXCHANGED; i++)
		close(dirs[i]);
	box_sh("true");
	CHECK(host_exists(ws_path("exchanged")), "nothing was exchanged");
	CHECK(!host_exists(ws_path("bound")), "the agent's was bound: %s",
	      host_read(ws_path("bound")));
	check_nothing_written("kept");
	CHECK(count_taken() > 0, "not told");
}

/* The agent's own git: what works goes on to, refusals are told. */
static void case_112_git_of_the_agent(void)
{
	struct outcome o;

	begin("");
	o = box_sh("export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
		   "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b HOME=/tmp; "
		   "set -e; echo 2 >>f; git commit -qam two; "
		   "git switch -qc work; echo 3 >>f; git commit -qam three; "
		   "git stash list; git tag t1; git switch -q main; "
		   "git merge -q work; git gc -q; git repack -adq; "
		   "git worktree add -q wt; cd wt; echo 4 >>f; "
		   "git commit -qam four");
	CHECK(o.status == 0, "%s", o.err);
	CHECK(!count_taken(), "taken of an ordinary day's work");
	on_host("git -C ws fsck && git -C ws log --format=%s wt -- | grep four");
	o = box_sh("git config user.name evil");
	CHECK(o.status != 0, "the configuration was written");
	o = box_sh("git -C wt status && git worktree list | grep -q wt");
	CHECK(o.status == 0, "%s", o.err);
	box_sh("git init -q n");
	CHECK(count_taken() > 0, "a new repository is not told");
	CHECK(!host_exists(ws_path("n/.git/config")), "it stands");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_102_git_of_a_host_at_rest),
		CASE(case_102_git_beside_a_process_left_behind),
		CASE(case_102_git_beside_a_command),
		CASE(case_102_a_workspace_below_a_mount_of_its_own),
		CASE(case_102_what_the_host_made_is_no_cover),
		CASE(case_102_what_ends_after_planting_is_the_agent),
		CASE(case_102_what_is_in_the_making_is_the_agent),
		CASE(case_102_a_chain_of_processes_is_the_agent),
		CASE(case_102_what_leads_there_is_exchanged),
		CASE(case_112_git_of_the_agent),
		CASES_END,
	};

	/* a box for each piece of work */
	e2e_most_seconds = 300;
	return e2e_main(argc, argv, cases);
}
