/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protected paths that are not there when the box is raised, what the host
 * itself does to protected paths while a box lives, odd names, and the
 * library's own state. Rows 2, 11-14, 30, 32, 33 and 102 of
 * tests/e2e/SANDBOX-CASES.md.
 */
#include "box.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REFUSED "EROFS|EACCES"

/* What the box made at ws/name is gone from there, and was reported. */
static void quarantined(const char *name)
{
	CHECK(!host_exists(ws_path(name)),
	      "%s stands on the host after the command's end", name);
	CHECK(box_event("quarantined", name, 0), "no event for %s", name);
}

static void case_002_missing_hooks_are_quarantined(void)
{
	char *before;
	int status;

	HOST_RUN(&status, "rm", "-r", ws_path(".git/hooks"));
	before = host_tree(ws_path(".git/config"));
	box_raise(NULL, NULL);
	CHECK(!host_exists(ws_path(".git/hooks")),
	      "a placeholder was made on the host");
	box_sh("mkdir .git/hooks && printf '#!/bin/sh\\necho evil\\n' "
	       ">.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit");
	CHECK(!host_exists(ws_path(".git/hooks/pre-commit")),
	      "a hook stands on the host after the command's end");
	CHECK(box_event("quarantined", ".git/hooks", 0) ||
	      box_event("quarantined", "pre-commit", 0), "not reported");
	/* and again: the next command starts from a clean place */
	box_sh("mkdir -p .git/hooks; echo evil >.git/hooks/post-merge");
	CHECK(!host_exists(ws_path(".git/hooks/post-merge")),
	      "a second hook stands on the host");
	box_end();
	CHECK(!host_exists(ws_path(".git/hooks/post-merge")), "left");
	host_same_tree(".git/config", before,
		       host_tree(ws_path(".git/config")));
}

/* How many names were told of as moved away, and how many as lost. */
static unsigned int told_of(unsigned int *lost)
{
	agentbox_event *event = NULL;
	unsigned int told = 0, n;

	agentbox_sandbox_dispatch(box(), NULL);
	while (agentbox_sandbox_next_event(box(), &event, NULL) == 0) {
		const char *kind = agentbox_event_get_kind(event);
		const char *object = agentbox_event_get_object(event);
		const char *detail = agentbox_event_get_detail(event);

		if (strcmp(kind, "quarantined") == 0 &&
		    strcmp(object, "events") == 0 &&
		    sscanf(detail, "%u events were lost", &n) == 1)
			*lost += n;
		else if (strcmp(kind, "quarantined") == 0)
			told++;
		agentbox_event_free(event);
	}
	return told;
}

/* However many there are: no name is moved away in silence. */
static void case_002_each_of_many_is_reported(void)
{
	unsigned int told, lost = 0;

	e2e_seconds(60);
	box_raise(NULL, NULL);
	box_sh("seq 900 | sed 's,^,d,' | xargs mkdir && for d in d*; do "
	       "echo evil >$d/.envrc; done");
	CHECK(!host_exists(ws_path("d1/.envrc")), "it stands");
	told = told_of(&lost);
	CHECK(told == 900 && lost == 0, "%u of 900, %u lost", told, lost);
	/* nobody reads while nobody waits: then how many is what is told */
	told = 0;
	box_sh("setsid sh -c 'sleep 0.2; for d in d*; do echo evil >$d/.envrc; "
	       "done; : >over' >/dev/null 2>&1 &");
	CHECK(E2E_SOON(host_exists(ws_path("over"))), "it does not end");
	(void)E2E_SOON(!host_exists(ws_path("d99/.envrc")));
	e2e_sleep_ms(500);
	(void)E2E_SOON((told += told_of(&lost)) + lost >= 900);
	CHECK(told + lost == 900, "%u told, %u lost", told, lost);
	CHECK(lost > 0, "the control: the socket held all of them");
}

/* The report comes before the exit, not some time later. */
static void case_002_quarantine_precedes_the_exit(void)
{
	agentbox_process *p;
	agentbox_error *err = NULL;

	box_raise(NULL, NULL);
	for (int i = 0; i < 20; i++) {
		const char *name = e2e_text("d%d/.envrc", i);

		host_mkdir(ws_path(e2e_text("d%d", i)));
		p = BOX_START(-1, "/bin/sh", "-c",
			      e2e_text("echo evil >%s", name));
		REQUIRE(agentbox_process_wait(p, SOON_MS, &err) == 0, "%s",
			agentbox_error_get_message(err));
		CHECK(!host_exists(ws_path(name)),
		      "%s stands when wait() returned", name);
		agentbox_process_free(p);
	}
}

static void case_011_new_repository_is_reported(void)
{
	struct outcome o;

	box_raise(NULL, NULL);
	o = box_sh("mkdir -p sub/.git/hooks sub/.git/objects sub/.git/refs && "
		   "echo 'ref: refs/heads/main' >sub/.git/HEAD && "
		   "echo '[core]' >sub/.git/config && "
		   "echo '#!/bin/sh' >sub/.git/hooks/post-checkout && "
		   "chmod +x sub/.git/hooks/post-checkout");
	CHECK(o.status == 0, "%s", o.err);
	CHECK(!host_exists(ws_path("sub/.git/hooks/post-checkout")) ||
	      box_event("created", "sub/.git/hooks/post-checkout", 0) ||
	      box_event("created", "sub/.git/hooks", 0) ||
	      box_event("created", "sub/.git", 0),
	      "a new repository's hook is on the host, unreported");
	if (!host_has("git"))
		return;
	o = BOX_RUN("git", "init", "-q", "fresh");
	CHECK(box_event("created", NULL, 0) ||
	      box_event("quarantined", NULL, 0),
	      "git init was not reported: %s", o.err);
}

static void case_012_submodule_commands_are_reported(void)
{
	box_raise(NULL, NULL);
	box_sh("printf '[submodule \"x\"]\\n\\tupdate = !evil\\n' "
	       ">.gitmodules");
	CHECK(!host_exists(ws_path(".gitmodules")) ||
	      box_event("created", ".gitmodules", 0) ||
	      box_event("quarantined", ".gitmodules", 0),
	      ".gitmodules with a command is on the host, unreported");
}

static const char *const startup[] = {
	".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile",
	".zshenv", ".envrc", NULL
};

static const char *const agents[] = {
	".mcp.json", ".vscode/tasks.json", ".vscode/settings.json",
	".idea/workspace.xml", ".claude/settings.json",
	".claude/settings.local.json", ".codex/config.toml",
	".cursor/mcp.json", ".gemini/settings.json", NULL
};

/* The file is gone; the event may name it or the directory that holds it. */
static void created_is_quarantined(const char *name)
{
	char *dir = e2e_text("%s", name), *slash = strrchr(dir, '/');
	struct outcome o;

	box_forget_events();
	if (slash)
		*slash = 0;
	o = box_sh("mkdir -p \"$(dirname %s)\"; echo evil >%s", name, name);
	CHECK(o.status == 0, "%s: %s", name, o.err);
	CHECK(!host_exists(ws_path(name)),
	      "%s stands on the host after the command's end", name);
	CHECK(box_event("quarantined", name, 0) ||
	      box_event("quarantined", dir, 0), "no event for %s", name);
}

static void case_013_missing_startup_files_are_quarantined(void)
{
	box_raise(NULL, NULL);
	for (size_t i = 0; startup[i]; i++)
		created_is_quarantined(startup[i]);
	/* what is not protected stays */
	box_sh("echo fine >notes.txt");
	CHECK(host_exists(ws_path("notes.txt")), "notes.txt is gone");
}

static void case_014_missing_configuration_is_quarantined(void)
{
	box_raise(NULL, NULL);
	for (size_t i = 0; agents[i]; i++)
		created_is_quarantined(agents[i]);
}

/* Every way to make a name: rename, link, symlink, tmpfile, mknod. */
static void case_014_every_way_to_make_a_name_is_seen(void)
{
	static const char *const ways[] = {
		"rename /workspace/a /workspace/d/.envrc",
		"link /workspace/b /workspace/d/.envrc",
		"symlink /bin/true /workspace/d/.envrc",
		"tmpfile /workspace /workspace/d/.envrc",
		"mkfifo /workspace/d/.envrc",
		"mkdir /workspace/d/.envrc",
		"bind-unix /workspace/d/.envrc",
	};

	host_write(ws_path("a"), "evil\n");
	host_write(ws_path("b"), "evil\n");
	host_mkdir(ws_path("d"));
	box_raise(NULL, NULL);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		box_forget_events();
		ATTACK("OK", "%s", ways[i]);
		quarantined("d/.envrc");
	}
}

/* A repository of jj may be made, a file that names another may not. */
static void case_014_a_jj_workspace_is_quarantined(void)
{
	struct outcome o;

	host_mkdir(ws_path("old"));
	host_mkdir(ws_path("old/.jj"));
	host_write(ws_path("old/.jj/repo"), "../../main\n");
	box_raise(NULL, NULL);
	o = box_sh("mkdir -p new/.jj/repo/store evil lone/.jj && "
		   "echo '[ui]' >evil/config.toml && "
		   "printf ../../evil >lone/.jj/repo");
	CHECK(o.status == 0, "%s", o.err);
	quarantined("lone/.jj/repo");
	CHECK(host_exists(ws_path("new/.jj/repo/store")), "it is gone");
	CHECK(host_exists(ws_path("old/.jj/repo")), "the host's is gone");
	o = box_sh("printf ../../evil >old/.jj/repo");
	CHECK(o.status != 0 && strstr(o.err, "Read-only"), "%s", o.err);
}

/* Made in a directory that is made in the same command, and moved in. */
static void case_014_moved_in_directories_are_searched(void)
{
	box_raise(NULL, NULL);
	box_sh("mkdir -p x/y/z; echo evil >x/y/z/.envrc");
	quarantined("x/y/z/.envrc");
	box_forget_events();
	box_sh("mkdir -p /tmp/t && mkdir p && cd p && mkdir q && "
	       "echo evil >q/r && mv q/r q/.mcp.json && mv q ../q");
	quarantined("q/.mcp.json");
}

static void case_030_odd_names_in_a_policy(void)
{
	static const char *const names[] = {
		"--help", "-rf", "a b", "$(touch evil)", "; touch evil",
		"quote\\\"quote", "tab\\tname",
	};
	char longest[256];

	box_needs_namespaces();
	memset(longest, 'n', 255);
	longest[255] = 0;
	for (size_t i = 0; i <= sizeof(names) / sizeof(*names); i++) {
		bool is_long = i == sizeof(names) / sizeof(*names);
		const char *json = is_long ? longest : names[i];
		/* the same name, JSON's escapes undone */
		const char *name = strcmp(json, "quote\\\"quote") == 0 ?
			"quote\"quote" : strcmp(json, "tab\\tname") == 0 ?
			"tab\tname" : json;
		int32_t code;
		char *where, *message;
		agentbox_policy *policy = NULL;
		agentbox_error *err = NULL;
		char *doc = box_document("workspace", NULL, e2e_text(
			"\"protect+\":[\"%s\"]", json));

		host_write(ws_path(name), "keep\n");
		if (agentbox_policy_parse(box_context(), doc, strlen(doc),
					  &policy, &err) != 0) {
			/* refused with its place is a fair answer too */
			CHECK(*agentbox_error_get_where(err), "%s: no place",
			      json);
			e2e_note("refused: %s",
				 agentbox_error_get_message(err));
			agentbox_error_free(err);
			continue;
		}
		agentbox_policy_unref(policy);
		if (!CHECK(box_try(doc, &code, &where, &message),
			   "'%s': %s: %s", json, where, message))
			continue;
		struct outcome o = BOX_RUN("/attack/attacker", "write",
					   e2e_text("/workspace/%s", name));
		CHECK(strstr(o.out, "EROFS") || strstr(o.out, "EACCES"),
		      "'%s' is not protected: %s", json, o.out);
		CHECK(strcmp(host_read(ws_path(name)), "keep\n") == 0,
		      "'%s' was changed", json);
		box_end();
	}
	CHECK(!host_exists(ws_path("evil")), "a name was run as a command");
}

static void case_030_bytes_json_cannot_hold_are_refused(void)
{
	static const char *const bad[] = { "a\\u0000b", "a\xff\xfe",
					   "\xc3\x28", "a\\ud800b" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		agentbox_policy *policy = NULL;
		agentbox_error *err = NULL;
		char *doc = box_document("workspace", NULL, e2e_text(
			"\"protect+\":[\"%s\"]", bad[i]));
		int32_t r = agentbox_policy_parse(box_context(), doc,
						  strlen(doc), &policy, &err);

		CHECK(r == AGENTBOX_EPARSE || r == AGENTBOX_EPOLICY,
		      "name %zu: %s", i, agentbox_error_name(r));
		CHECK(*agentbox_error_get_message(err), "no message");
		agentbox_error_free(err);
		agentbox_policy_unref(policy);
	}
}

static void case_032_build_files_may_be_written(void)
{
	box_raise(NULL, NULL);
	ATTACK("OK", "write /workspace/Makefile");
	ATTACK("OK", "create /workspace/package.json");
	CHECK(strstr(host_read(ws_path("Makefile")), "evil"), "not written");
}

static void case_033_own_state_is_out_of_reach(void)
{
	char *before;

	host_symlink(host_path("state"), ws_path("state-link"));
	host_mkdir(host_path("open"));
	host_write(host_path("state/kept"), "state\n");
	chmod(host_path("open"), 0777);
	before = host_tree(host_path("state/kept"));
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"%s\","
			   "\"access\":\"write\"}", host_base(), host_base()),
		  NULL);
	/* the mount itself is there and writable */
	ATTACK("OK", "create %s/open/file", host_base());
	ATTACK("EROFS|EACCES|ENOENT|EPERM", "create %s/state/evil",
	       host_base());
	ATTACK("EACCES|ENOENT|EPERM", "read %s/state/kept", host_base());
	ATTACK("EROFS|EACCES|ENOENT|EPERM", "write %s/state/kept",
	       host_base());
	ATTACK("EROFS|EACCES|ENOENT|EPERM|ELOOP",
	       "create /workspace/state-link/evil");
	ATTACK("EBUSY|EXDEV|EROFS|EACCES|EPERM", "rename %s/state %s/state2",
	       host_base(), host_base());
	CHECK(!host_exists(host_path("state/evil")), "written");
	host_same_tree("state/kept", before,
		       host_tree(host_path("state/kept")));
}

/* The state directory named through a link is the same place. */
static void case_033_state_behind_a_link(void)
{
	agentbox_context *context = NULL;
	agentbox_sandbox *s = NULL;
	agentbox_error *err = NULL;
	agentbox_policy *policy;
	int32_t r;

	host_symlink("state", host_path("state-link"));
	policy = box_policy(box_document("workspace", NULL, NULL));
	REQUIRE(agentbox_context_new(&context, &err) == 0, "context");
	r = agentbox_context_set_state_dir(context, host_path("state-link"),
					   &err);
	if (r == 0)
		r = agentbox_sandbox_new(context, policy, NULL, &s, &err);
	/* base.h: "must not be a symbolic link" */
	CHECK(r < 0, "a linked state directory was taken");
	CHECK(r == AGENTBOX_EDENIED || r == AGENTBOX_EHELPER, "%s: %s",
	      agentbox_error_name(r), agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_sandbox_free(s);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
}

/* The host's own tools replace protected files; the binds come back. */
static void host_sets_user(void)
{
	int status;

	/* as git config does: a lock file renamed over it */
	host_write(ws_path(".git/config.lock"),
		   "[core]\n\tbare = false\n[user]\n\tname = Bob\n");
	REQUIRE(rename(ws_path(".git/config.lock"),
		       ws_path(".git/config")) == 0, "%m");
	if (host_has("git"))
		HOST_RUN(&status, "git", "-C", ws_path(""), "-c",
			 "safe.directory=*", "config", "user.name", "Bob");
}

static void case_102_host_replaces_a_protected_file(void)
{
	box_raise(NULL, NULL);
	ATTACK(REFUSED, "write /workspace/.git/config");
	host_sets_user();
	ATTACK(REFUSED, "write /workspace/.git/config");
	ATTACK(REFUSED, "overwrite /workspace/.git/config");
	CHECK(strstr(host_read(ws_path(".git/config")), "Bob"),
	      "the host's change is gone");
	CHECK(!strstr(host_read(ws_path(".git/config")), "evil"),
	      ".git/config was written");
	CHECK(box_event("reprotected", ".git/config", SOON_MS), "no event");
}

static void case_102_host_replaces_the_hooks_directory(void)
{
	int status;

	box_raise(NULL, NULL);
	HOST_RUN(&status, "rm", "-r", ws_path(".git/hooks"));
	host_mkdir(ws_path(".git/hooks"));
	ATTACK("EROFS|EACCES", "create /workspace/.git/hooks/pre-commit");
	CHECK(!host_exists(ws_path(".git/hooks/pre-commit")),
	      "a hook was planted");
	CHECK(box_event("reprotected", ".git/hooks", SOON_MS), "no event");
}

static void case_102_host_replaces_again_and_again(void)
{
	box_raise(NULL, NULL);
	for (int i = 0; i < 25; i++) {
		host_write(ws_path(".git/config.lock"), e2e_text(
			"[user]\n\tname = n%d\n", i));
		REQUIRE(rename(ws_path(".git/config.lock"),
			       ws_path(".git/config")) == 0, "%m");
		ATTACK(REFUSED, "write /workspace/.git/config");
	}
	CHECK(strstr(host_read(ws_path(".git/config")), "n24"), "lost");
	CHECK(!strstr(host_read(ws_path(".git/config")), "evil"), "written");
}

/* A command that runs while the host replaces: watched, not only polled. */
static void case_102_replaced_under_a_running_command(void)
{
	agentbox_process *p;
	agentbox_error *err = NULL;

	box_raise(NULL, NULL);
	p = BOX_START(-1, "/bin/sh", "-c",
		      "while [ ! -e /workspace/go ]; do sleep 0.05; done; "
		      "sleep 2; echo evil >>.git/config");
	host_sets_user();
	host_write(ws_path("go"), "");
	REQUIRE(agentbox_process_wait(p, SOON_MS, &err) == 0, "%s",
		agentbox_error_get_message(err));
	CHECK(!strstr(host_read(ws_path(".git/config")), "evil"),
	      "written two seconds after the host's replacement");
	agentbox_process_free(p);
}

/* The host removes a protected file: what then appears is not let stand. */
static void case_102_host_removes_a_protected_file(void)
{
	host_write(ws_path(".envrc"), "export A=1\n");
	box_raise(NULL, NULL);
	ATTACK(REFUSED, "write /workspace/.envrc");
	REQUIRE(unlink(ws_path(".envrc")) == 0, "%m");
	box_sh("echo evil >.envrc");
	CHECK(!host_exists(ws_path(".envrc")),
	      ".envrc stands after the host removed it");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_002_missing_hooks_are_quarantined),
		CASE(case_002_each_of_many_is_reported),
		CASE(case_002_quarantine_precedes_the_exit),
		CASE(case_011_new_repository_is_reported),
		CASE(case_012_submodule_commands_are_reported),
		CASE(case_013_missing_startup_files_are_quarantined),
		CASE(case_014_missing_configuration_is_quarantined),
		CASE(case_014_every_way_to_make_a_name_is_seen),
		CASE(case_014_a_jj_workspace_is_quarantined),
		CASE(case_014_moved_in_directories_are_searched),
		CASE(case_030_odd_names_in_a_policy),
		CASE(case_030_bytes_json_cannot_hold_are_refused),
		CASE(case_032_build_files_may_be_written),
		CASE(case_033_own_state_is_out_of_reach),
		CASE(case_033_state_behind_a_link),
		CASE(case_102_host_replaces_a_protected_file),
		CASE(case_102_host_replaces_the_hooks_directory),
		CASE(case_102_host_replaces_again_and_again),
		CASE(case_102_replaced_under_a_running_command),
		CASE(case_102_host_removes_a_protected_file),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
