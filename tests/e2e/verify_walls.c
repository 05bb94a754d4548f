/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each wall is taken away in turn, by a build of agentbox-init or of
 * agentbox-gateway that leaves one out and says that it stands
 * (tests/e2e/mutant), and the self-test names
 * exactly that wall: nothing else is missing, nothing is unknown.
 */
#include "verify_lib.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For which boxes, and which machines. */
#define OWN_IDS 1 /* a root host's, which have a kernel uid of their own */
#define ALONE 2	  /* shows nothing of the host's but its programs */

struct mutant {
	const char *leaves_out; /* of mutant.c */
	const char *wall;	/* what the report has to name */
	const char *probe;	/* which finding says so */
	int what;
	const char *limit; /* one that a resource limit must hold here */
};

#define MUTANTS(M) \
	M(without_seccomp, "seccomp", "seccomp", "seccomp.mode", 0) \
	M(without_landlock, "landlock", "landlock", "files.node", 0) \
	M(without_empty_capability_sets, "caps", "caps", \
	  "capabilities.bounding", 0) \
	M(with_an_inheritable_capability, "inheritable", "caps", \
	  "capabilities.inheritable", 0) \
	M(with_an_ambient_capability, "ambient", "caps", \
	  "capabilities.effective", 0) \
	M(without_no_new_privs, "no_new_privs", "no_new_privs", \
	  "no-new-privs", 0) \
	M(with_an_init_that_can_be_traced, "init", "init", \
	  "process.trace-launcher", 0) \
	M(with_an_init_whose_tree_can_be_entered, "init", "init", \
	  "process.root-launcher", 0) \
	M(without_a_user_namespace, "userns", "userns", "namespace.user", \
	  ALONE | OWN_IDS) \
	M(without_a_mount_namespace, "mountns", "mountns", \
	  "namespace.mount", ALONE) \
	M(without_a_pid_namespace, "pidns", "pidns", "namespace.pid", ALONE) \
	M(without_a_network_namespace, "netns", "netns", "namespace.net", 0) \
	M(without_an_ipc_namespace, "ipcns", "ipcns", "namespace.ipc", 0) \
	M(without_a_uts_namespace, "utsns", "utsns", "namespace.uts", 0) \
	M(without_a_cgroup_namespace, "cgroupns", "cgroupns", \
	  "namespace.cgroup", 0) \
	M(with_a_kernel_uid_of_0, "uid", "uid", "ids.kernel", \
	  ALONE | OWN_IDS) \
	M(with_a_group_of_the_host, "groups", "groups", "ids.groups", \
	  OWN_IDS) \
	M(without_a_cgroup, "cgroup", "cgroup", "cgroup", 0) \
	M(without_resource_limits, "limits", "limits", "limits.files", 0) \
	M(without_a_limit_of_files, "limit-files", "limits", \
	  "limits.files", 0) \
	M(without_a_limit_of_processes, "limit-pids", "limits", \
	  "limits.pids", 0, "pids") \
	M(without_a_limit_of_file_sizes, "limit-disk", "limits", \
	  "limits.disk", 0) \
	M(with_core_files, "limit-core", "limits", "core", 0) \
	M(without_a_size_of_tmp, "tmpfs-size", "limits", "mounts.table", 0) \
	M(without_protected_paths, "protect", "protect", \
	  "mounts.protected", 0) \
	M(without_a_quarantine, "appear", "protect", "protect.appearing", 0) \
	M(with_a_kernel_whose_settings_can_be_changed, "proc", "proc", \
	  "mounts.protected", 0) \
	M(without_masks_in_proc, "masked", "proc", "mounts.protected", 0) \
	M(with_the_proc_of_the_host, "host-proc", "proc", "process.owner", \
	  ALONE) \
	M(without_read_only_mounts, "mounts", "mounts", "mounts.table", 0) \
	M(with_programs_where_none_are, "noexec", "mounts", "mounts.table", \
	  0) \
	M(with_mounts_that_may_hold_devices, "nodev", "mounts", \
	  "mounts.table", 0) \
	M(with_mounts_that_may_hold_suid_programs, "nosuid", "mounts", \
	  "mounts.table", 0) \
	M(with_a_mount_that_is_not_private, "propagation", "mounts", \
	  "mounts.table", 0) \
	M(with_a_path_that_is_not_hidden, "hide", "mounts", \
	  "mounts.protected", 0) \
	M(with_a_tree_of_the_host, "rootfs", "rootfs", "mounts.table", 0) \
	M(with_a_tmp_of_the_host, "tmp", "rootfs", "mounts.table", 0) \
	M(with_a_root_that_can_be_written_to, "root", "rootfs", \
	  "mounts.table", 0) \
	M(with_another_device, "devices", "devices", "mounts.table", 0) \
	M(with_the_terminals_of_the_host, "terminals", "devices", \
	  "mounts.table", 0) \
	M(with_the_shared_memory_of_the_host, "shm", "devices", \
	  "mounts.table", 0) \
	M(with_a_descriptor_that_leaked, "descriptors", "descriptors", \
	  "descriptors", 0) \
	M(with_a_variable_that_leaked, "environment", "environment", \
	  "environment", 0)

/* Without a wall left out the mutant is as the installed program is. */
static void a_mutant_without_a_file_is_green(void)
{
	agentbox_verify *report;

	box_use_mutant("agentbox-init", "nothing");
	box_raise(NULL, NULL);
	box_needs_namespaces();
	report = verify_box();
	verify_note(report, "missing");
	verify_note(report, "unknown");
	CHECK(agentbox_verify_is_good(report) == 1, "not good");
}

/* What one needs it for is unknown; the other box is there all the same. */
static void a_second_box_without_a_workspace_is_one(void)
{
	static const char *const probes[] = { "other.process", "other.signal" };
	agentbox_verify *report;

	box_use_mutant("agentbox-init", "nothing");
	box_raise(NULL, NULL);
	box_needs_namespaces();
	host_write(host_path("mutant/agentbox-mutant"), "box-with-watches");
	report = verify_box();
	CHECK(!strcmp(verify_verdict(report, "protect.appearing"), "unknown"),
	      "%s", verify_verdict(report, "protect.appearing"));
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
		CHECK(!strcmp(verify_verdict(report, probes[i]), "pass"),
		      "%s: %s", probes[i], verify_verdict(report, probes[i]));
}

/* Can this host give its boxes ids that are not its own? */
static bool has_own_ids(void)
{
	agentbox_verify *report;
	bool is_own = false;

	box_raise(NULL, NULL);
	report = verify_box();
	for (size_t i = 0; i < agentbox_verify_get_count(report); i++) {
		if (!strcmp(agentbox_verify_get_probe(report, i),
			    "ids.kernel"))
			is_own = strcmp(agentbox_verify_get_result(report, i),
					e2e_text("kernel uid %u",
						 (unsigned)geteuid())) != 0;
	}
	box_end();
	return is_own;
}

static bool is_held_by(const char *limit, const char *mechanism)
{
	const char *at = strstr(box_limits(), e2e_text("\"%s\":{", limit));
	const char *end = at ? strchr(at, '}') : NULL;
	const char *held = at ? strstr(at, e2e_text("\"mechanism\":\"%s",
						    mechanism))
			      : NULL;

	return held && held < end;
}

/* Skips the case where a box without this wall cannot be raised. */
static void raise_mutant(const struct mutant *m)
{
	box_needs_namespaces();
	box_use_mutant("agentbox-init", "nothing");
	if ((m->what & OWN_IDS) && !has_own_ids())
		e2e_skip("boxes have the ids of the host's user here");
	host_write(host_path("mutant/agentbox-mutant"), m->leaves_out);
	host_write(ws_path("hidden"), "nobody reads this");
	/* fewer files than a process has anywhere else */
	if (m->what & ALONE)
		box_raise_document("{\"agentbox\":1,"
				   "\"extends\":\"builtin:strict\","
				   "\"limits\":{\"files\":64}}");
	else
		box_raise("{\"to\":\"/workspace/hidden\","
			  "\"access\":\"hide\"}",
			  "\"limits\":{\"files\":64,\"pids\":200,"
			  "\"disk\":\"64MiB\"}");
	if ((!strcmp(m->wall, "cgroup") &&
	     !strstr(box_limits(), "\"mechanism\":\"cgroup")) ||
	    (m->limit && !is_held_by(m->limit, "rlimit")))
		e2e_skip("it is not what holds a limit here");
}

static void try_mutant(const struct mutant *m)
{
	agentbox_verify *report;

	raise_mutant(m);
	report = verify_box();
	verify_note(report, "missing");
	verify_note(report, "unknown");
	CHECK(agentbox_verify_is_good(report) == 0, "a box without %s is good",
	      m->leaves_out);
	CHECK(!strcmp(verify_walls(report, "missing"), m->wall),
	      "without %s: '%s' is named, not '%s'", m->leaves_out,
	      verify_walls(report, "missing"), m->wall);
	CHECK(!strcmp(verify_verdict(report, m->probe), "missing"), "%s: %s",
	      m->probe, verify_verdict(report, m->probe));
	/* what falls with it may also not be known */
	CHECK(one_of(verify_walls(report, "unknown"),
		     e2e_text("%s|", m->wall)), "unknown: %s",
	      verify_walls(report, "unknown"));
}

#define DEFINE(name, ...) \
	static void name(void) \
	{ \
		try_mutant(&(const struct mutant){ __VA_ARGS__ }); \
	}
MUTANTS(DEFINE)

/* What the tree shows too much, to anybody, Landlock does not open. */
static void a_path_outside_is_refused_twice_over(void)
{
	const char *name = e2e_text("agentbox-%d", (int)getpid());
	const char *path = e2e_text("/dev/shm/%s", name);
	struct outcome o;

	box_use_mutant("agentbox-init", "rootfs");
	box_needs_namespaces();
	box_raise(NULL, NULL);
	if (!strstr(box_walls(), "landlock(7), level"))
		e2e_skip("this kernel has no Landlock");
	host_write_mode(path, "of the host", 0666);
	o = box_sh("cat /leak/%s", name);
	CHECK(o.status != 0 && !*o.out, "read: %s", o.out);
	o = box_sh("echo changed >/leak/%s", name);
	CHECK(o.status != 0, "written");
	o = box_sh("echo more >/leak/%s-2", name);
	CHECK(o.status != 0, "made");
	CHECK(!strcmp(host_read(path), "of the host"), "%s", host_read(path));
	e2e_note("%s", o.err);
	unlink(e2e_text("%s-2", path));
	unlink(path);
}

/* The agent sees what is made, and closes the directories for the node. */
static void without_landlock_whatever_the_agent_closes(void)
{
	agentbox_process *p;

	e2e_seconds(60);
	box_use_mutant("agentbox-init", "landlock");
	box_needs_namespaces();
	box_raise(NULL, NULL);
	if (!strstr(box_walls(), "landlock(7), level"))
		e2e_skip("this kernel has no Landlock");
	p = BOX_START(-1, "/attack/attacker", "do-close-after-file", "300",
		      "/tmp", "/dev/shm", "/workspace");
	for (int i = 0; i < 12; i++) {
		agentbox_verify *report = verify_box();

		CHECK(strcmp(verify_verdict(report, "files.node"), "pass"),
		      "Landlock answered");
	}
	agentbox_process_kill(p, SIGKILL, NULL);
	agentbox_process_wait(p, -1, NULL);
	agentbox_process_free(p);
}

static const struct gateway_mutant {
	const char *leaves_out;
	const char *probes[2]; /* that have to say so */
} gateways[] = {
	{ "key", { "network.no-key", "other.key" } },
	{ "list", { "network.name" } },
	{ "revocation", { "network.revoked" } },
	{ "confinement", { "gateway.confined" } },
	{ "nothing", { NULL } },
};

/* What is missing is the gateway, as long as those probes say so. */
static void try_gateway(const struct gateway_mutant *m)
{
	agentbox_verify_options *options = NULL;
	agentbox_verify *report = NULL;
	agentbox_error *err = NULL;

	box_needs_namespaces();
	box_needs("gateway");
	box_use_mutant("agentbox-gateway", m->leaves_out);
	box_raise(NULL, "\"network\":{\"mode\":\"gateway\","
			"\"allow\":[\"allowed.example:443\"]}");
	REQUIRE(agentbox_verify_options_new(&options, &err) == 0 &&
		agentbox_verify_options_set_revoke(options, 1, &err) == 0 &&
		agentbox_verify_run(box(), options, &report, &err) == 0, "%s",
		agentbox_error_get_message(err));
	agentbox_verify_options_free(options);
	verify_note(report, "missing");
	verify_note(report, "unknown");
	CHECK(!strcmp(verify_walls(report, "unknown"), ""), "unknown: %s",
	      verify_walls(report, "unknown"));
	CHECK(!strcmp(verify_walls(report, "missing"),
		      m->probes[0] ? "gateway" : ""), "'%s' is named",
	      verify_walls(report, "missing"));
	for (size_t i = 0; i < 2 && m->probes[i]; i++)
		CHECK(!strcmp(verify_verdict(report, m->probes[i]), "missing"),
		      "%s is %s", m->probes[i],
		      verify_verdict(report, m->probes[i]));
	agentbox_verify_free(report);
}

#define GATEWAY(n) \
	static void gateway_##n(void) \
	{ \
		try_gateway(&gateways[n]); \
	}
GATEWAY(0)
GATEWAY(1)
GATEWAY(2)
GATEWAY(3)
GATEWAY(4)

#define LIST(name, ...) CASE(name),
static const struct e2e_case cases[] = {
	CASE(a_mutant_without_a_file_is_green),
	CASE(a_second_box_without_a_workspace_is_one),
	MUTANTS(LIST)
	CASE(a_path_outside_is_refused_twice_over),
	CASE(without_landlock_whatever_the_agent_closes),
	{ "with_a_gateway_that_asks_for_no_key", gateway_0 },
	{ "with_a_gateway_that_knows_no_list", gateway_1 },
	{ "with_a_gateway_that_revokes_nothing", gateway_2 },
	{ "with_a_gateway_that_is_not_confined", gateway_3 },
	{ "with_the_mutant_of_a_gateway_that_has_all", gateway_4 },
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
