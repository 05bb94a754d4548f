/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each wall is taken away in turn, by a build of agentbox-init or of
 * agentbox-gateway that leaves one out and says that it stands
 * (tests/e2e/mutant), and the self-test names
 * exactly that wall: nothing else is missing, nothing is unknown.
 */
#include "verify_lib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abtest.h"

static const struct mutant {
	const char *leaves_out; /* of mutant.c */
	const char *wall;	/* what the report has to name */
} mutants[] = {
	{ "seccomp", "seccomp" },
	{ "landlock", "landlock" },
	{ "caps", "caps" },
	{ "no_new_privs", "no_new_privs" },
	{ "init", "init" },
	{ "netns", "netns" },
	{ "ipcns", "ipcns" },
	{ "utsns", "utsns" },
	{ "cgroupns", "cgroupns" },
	{ "cgroup", "cgroup" },
	{ "limits", "limits" },
	{ "protect", "protect" },
	{ "proc", "proc" },
	{ "mounts", "mounts" },
	{ "rootfs", "rootfs" },
	{ "root", "rootfs" },
	{ "devices", "devices" },
	{ "descriptors", "descriptors" },
	{ "hide", "mounts" },
};

/* A directory of helpers of which one is the mutant. */
static void use_mutant(const char *helper, const char *leaves_out)
{
	const char *dir = host_path("mutant");
	int status;

	host_mkdir(dir);
	chmod(dir, 0755);
	HOST_RUN(&status, "sh", "-c",
		 "cp \"$0\"/agentbox-* \"$2\" && "
		 "cp \"$1\"/tests/e2e/mutant/\"$3\" \"$2\"",
		 ab_test_helper_dir(), ab_test_builddir(), dir, helper);
	REQUIRE(status == 0, "cannot copy the mutant");
	host_write(host_path("mutant/agentbox-mutant"), leaves_out);
	setenv("AB_TEST_HELPER_DIR", dir, 1);
}

/* Without a wall left out the mutant is as the installed program is. */
static void a_mutant_without_a_file_is_green(void)
{
	agentbox_verify *report;

	use_mutant("agentbox-init", "nothing");
	box_raise(NULL, NULL);
	box_needs_namespaces();
	report = verify_box();
	verify_note(report, "missing");
	verify_note(report, "unknown");
	CHECK(agentbox_verify_is_good(report) == 1, "not good");
}

static void try_mutant(const struct mutant *m)
{
	agentbox_verify *report;

	use_mutant("agentbox-init", m->leaves_out);
	host_write(ws_path("hidden"), "nobody reads this");
	/* fewer files than a process has anywhere else */
	box_raise("{\"to\":\"/workspace/hidden\",\"access\":\"hide\"}",
		  "\"limits\":{\"files\":64}");
	box_needs_namespaces();
	if (!strcmp(m->wall, "cgroup") &&
	    !strstr(box_limits(), "\"mechanism\":\"cgroup")) {
		e2e_note("no cgroup holds anything here");
		return;
	}
	report = verify_box();
	verify_note(report, "missing");
	verify_note(report, "unknown");
	CHECK(agentbox_verify_is_good(report) == 0, "a box without %s is good",
	      m->leaves_out);
	CHECK(!strcmp(verify_walls(report, "missing"), m->wall),
	      "without %s: '%s' is named, not '%s'", m->leaves_out,
	      verify_walls(report, "missing"), m->wall);
	CHECK(!strcmp(verify_walls(report, "unknown"), ""), "unknown: %s",
	      verify_walls(report, "unknown"));
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
	use_mutant("agentbox-gateway", m->leaves_out);
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

#define MUTANT(n) \
	static void mutant_##n(void) \
	{ \
		try_mutant(&mutants[n]); \
	}
MUTANT(0)
MUTANT(1)
MUTANT(2)
MUTANT(3)
MUTANT(4)
MUTANT(5)
MUTANT(6)
MUTANT(7)
MUTANT(8)
MUTANT(9)
MUTANT(10)
MUTANT(11)
MUTANT(12)
MUTANT(13)
MUTANT(14)
MUTANT(15)
MUTANT(16)
MUTANT(17)
MUTANT(18)

static const struct e2e_case cases[] = {
	CASE(a_mutant_without_a_file_is_green),
	{ "without_seccomp", mutant_0 },
	{ "without_landlock", mutant_1 },
	{ "without_empty_capability_sets", mutant_2 },
	{ "without_no_new_privs", mutant_3 },
	{ "with_an_init_that_can_be_traced", mutant_4 },
	{ "without_a_network_namespace", mutant_5 },
	{ "without_an_ipc_namespace", mutant_6 },
	{ "without_a_uts_namespace", mutant_7 },
	{ "without_a_cgroup_namespace", mutant_8 },
	{ "without_a_cgroup", mutant_9 },
	{ "without_resource_limits", mutant_10 },
	{ "without_protected_paths", mutant_11 },
	{ "with_a_kernel_whose_settings_can_be_changed", mutant_12 },
	{ "without_read_only_mounts", mutant_13 },
	{ "with_a_tree_of_the_host", mutant_14 },
	{ "with_a_root_that_can_be_written_to", mutant_15 },
	{ "with_another_device", mutant_16 },
	{ "with_a_descriptor_that_leaked", mutant_17 },
	{ "with_a_path_that_is_not_hidden", mutant_18 },
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
