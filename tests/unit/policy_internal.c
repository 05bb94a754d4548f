/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of lib/policy: the plain form other rooms read, the schema
 * against the manual, values, mounts against a slow and simple oracle,
 * translation, the public getters, failing allocations.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abtest.h"
#include "base/bytes.h"
#include "base/context.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "path/glob.h"
#include "path/lexical.h"
#include "policy/compile.h"
#include "net/hosts.h"
#include "policy/policy.h"
#include "policy/schema.h"
#include "policy/value.h"
#include "policy/view.h"
#include "policy_random.h"

static agentbox_context *context;

static void setup(void)
{
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
}

static void teardown(void)
{
	agentbox_context_unref(context);
}

static agentbox_policy *parse(const char *text)
{
	agentbox_policy *p = NULL;
	ab_auto(agentbox_error) *err = NULL;
	int32_t r = agentbox_policy_parse(context, text, strlen(text), &p,
					  &err);

	ck_assert_msg(r == 0, "%s", agentbox_error_get_message(err));
	return p;
}

/* --- values ------------------------------------------------------------ */

START_TEST(sizes_are_exact)
{
	static const struct row {
		const char *text;
		uint64_t value;
		const char *canonical;
	} rows[] = {
		{ "4GiB", UINT64_C(4294967296), "4GiB" },
		{ "4GB", UINT64_C(4000000000), "4GB" },
		{ "1024MiB", UINT64_C(1) << 30, "1GiB" },
		{ "1000MB", UINT64_C(1000000000), "1GB" },
		{ "1B", 1, "1B" },
		{ "1536KiB", 1572864, "1536KiB" },
		{ "9223372036854775807B", INT64_MAX, "9223372036854775807B" },
	};
	char why[AB_WHY_SIZE];
	char text[AB_VALUE_SIZE];

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		uint64_t v = 0;

		ck_assert(ab_value_size(rows[i].text, false, &v, why));
		ck_assert_uint_eq(v, rows[i].value);
		ab_value_size_text(v, text);
		ck_assert_str_eq(text, rows[i].canonical);
	}
}
END_TEST

START_TEST(one_pattern_and_a_set_of_one_cover_the_same)
{
	static const char *const pool[] = {
		"*", "example.com", "*.example.com", "a.example.com",
		"*.a.example.com", "evil-example.com", "*.com", "com.evil",
		"10.0.0.0/8", "10.1.0.0/16", "10.128.0.0/9", "11.0.0.0/8",
		"2001:db8::/32", "2001:db8:1::/48", "::/0", "0.0.0.0/0",
		"127.0.0.1", "localhost", "a.example.com:443", "*:1-65535",
		"*.example.com:80,443", "a.example.com:80-90", "203.0.113.9"
	};
	char why[AB_WHY_SIZE];

	for (size_t i = 0; i < AB_ARRAY_LEN(pool); i++)
		for (size_t j = 0; j < AB_ARRAY_LEN(pool); j++)
			for (int deny = 0; deny < 2; deny++) {
				ab_host p;
				ab_host c;
				ab_host_set set;

				ck_assert(ab_host_parse(pool[i], &p, why));
				ck_assert(ab_host_parse(pool[j], &c, why));
				ck_assert_int_eq(ab_host_set_init(&set, &p, 1),
						 0);
				ck_assert_msg(
					ab_host_covers(&p, &c, deny) ==
						ab_host_set_covers(&set, &c,
								   deny),
					"%s and %s", pool[i], pool[j]);
			}
}
END_TEST

/* --- limits ------------------------------------------------------------ */

/* A document whose list `key` has n entries of the same kind. */
static char *long_list(const char *key, size_t n)
{
	char *text = malloc(n * 16 + 128);
	int at = sprintf(text,
			 "{\"agentbox\":1,\"extends\":\"builtin:workspace\","
			 "\"%s\":[",
			 key);

	for (size_t i = 0; i < n; i++)
		at += sprintf(text + at, "%s\"a%zu\"", i ? "," : "", i);
	sprintf(text + at, "]}");
	return text;
}

START_TEST(a_list_over_its_bound_is_named_by_its_pointer)
{
	static const struct {
		const char *key;
		size_t count;
	} rows[] = {
		{ "protect", AB_MAX_POLICY_ENTRIES + 1 },
		/* within the bound alone, over it with what it is added to */
		{ "protect+", AB_MAX_POLICY_ENTRIES },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		char *text = long_list(rows[i].key, rows[i].count);
		agentbox_policy *p = NULL;
		agentbox_error *err = NULL;
		int32_t r = agentbox_policy_parse(context, text, strlen(text),
						  &p, &err);

		ck_assert_int_eq(r, AGENTBOX_ELIMIT);
		ck_assert_msg(strncmp(agentbox_error_get_where(err), "/protect",
				      8) == 0,
			      "%s: '%s' (%s)", rows[i].key,
			      agentbox_error_get_where(err),
			      agentbox_error_get_message(err));
		agentbox_error_free(err);
		free(text);
	}
}
END_TEST

/* --- the schema -------------------------------------------------------- */

static char *manual;

static void check_documented(const ab_field *table)
{
	for (const ab_field *f = table; f->key; f++) {
		char macro[80];

		snprintf(macro, sizeof(macro), "Cm %s", f->key);
		ck_assert_msg(strstr(manual, macro) != NULL ||
				      strstr(manual, f->key) != NULL,
			      "agentbox-policy(5) does not name '%s'", f->key);
		if (f->table)
			check_documented(f->table);
		for (size_t i = 0; f->names && f->names[i]; i++)
			ck_assert_msg(strstr(manual, f->names[i]) != NULL,
				      "agentbox-policy(5) does not name '%s'",
				      f->names[i]);
	}
}

START_TEST(every_key_and_name_is_in_the_manual)
{
	char path[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/man/agentbox-policy.5",
		 ab_test_srcdir());
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	manual = calloc(1, 1 << 18);
	n = fread(manual, 1, (1 << 18) - 1, f);
	fclose(f);
	ck_assert_uint_gt(n, 1000);
	check_documented(ab_schema);
	for (size_t i = 0; ab_schema_features[i]; i++)
		ck_assert_ptr_nonnull(strstr(manual, ab_schema_features[i]));
	for (size_t i = 0; ab_code_that_runs_later[i].pattern; i++) {
		const char *name = ab_code_that_runs_later[i].pattern;

		ck_assert_msg(strstr(manual, name) != NULL,
			      "agentbox-policy(5) does not name '%s'", name);
	}
	free(manual);
}
END_TEST

START_TEST(every_feature_and_limit_has_its_name)
{
	for (uint32_t i = 0; i < AB_FEATURE_COUNT; i++)
		ck_assert_str_eq(ab_policy_feature_name(i),
				 ab_schema_features[i]);
	ck_assert_ptr_null(ab_schema_features[AB_FEATURE_COUNT]);
	ck_assert_ptr_null(ab_policy_feature_name(AB_FEATURE_COUNT));
	ck_assert_str_eq(ab_policy_feature_name(AB_FEATURE_NETNS), "netns");
	ck_assert_str_eq(ab_policy_feature_name(AB_FEATURE_SECCOMP), "seccomp");
	ck_assert_str_eq(ab_policy_feature_name(AB_FEATURE_PIDFD_PEER),
			 "peer-pidfd");
	ck_assert_str_eq(ab_policy_limit_name(AB_LIMIT_WALL), "wall");
	ck_assert_ptr_null(ab_policy_limit_name(AB_LIMIT_COUNT));
}
END_TEST

/* --- built-ins --------------------------------------------------------- */

START_TEST(every_builtin_parses_and_sets_what_it_must)
{
	const char *name;

	for (size_t i = 0; (name = agentbox_policy_builtin_name(i)); i++) {
		agentbox_policy *p = NULL;
		agentbox_policy *q = NULL;
		char prefixed[64];
		const ab_policy *d;

		ck_assert_int_eq(agentbox_policy_builtin(context, name, &p,
							 NULL), 0);
		snprintf(prefixed, sizeof(prefixed), "builtin:%s", name);
		ck_assert_int_eq(agentbox_policy_builtin(context, prefixed, &q,
							 NULL), 0);
		ck_assert_str_eq(agentbox_policy_get_digest(p),
				 agentbox_policy_get_digest(q));
		ck_assert_str_eq(agentbox_policy_get_name(p), name);
		d = ab_policy_get(p);
		ck_assert_int_eq(agentbox_policy_is_bare(p),
				 strcmp(name, "bare") == 0);
		for (size_t m = 0; m < d->mount_count; m++) {
			ck_assert_int_eq(d->mounts[m].access, AB_ACCESS_READ);
			ck_assert(d->mounts[m].optional);
			ck_assert(!ab_path_is_below(d->mounts[m].from, "/run"));
			ck_assert(!ab_path_is_below(d->mounts[m].from, "/tmp"));
			ck_assert(!ab_path_is_below(d->mounts[m].from,
						    "/home"));
			ck_assert(!ab_path_is_below("/etc/ssl/private",
						    d->mounts[m].from));
			ck_assert(!ab_path_is_below("/etc/shadow",
						    d->mounts[m].from));
		}
		if (d->mode == AB_MODE_SANDBOX) {
			ck_assert_uint_gt(d->mount_count, 5);
			ck_assert_int_eq(d->limits.value[AB_LIMIT_MEMORY].state,
					 AB_POLICY_SET);
			ck_assert_int_eq(d->limits.value[AB_LIMIT_CPUS].state,
					 AB_POLICY_SET);
			ck_assert_int_eq(d->limits.value[AB_LIMIT_PIDS].state,
					 AB_POLICY_SET);
			ck_assert_int_eq(d->limits.value[AB_LIMIT_WALL].state,
					 AB_POLICY_SET);
			ck_assert_int_eq(d->network.mode, AB_NET_NONE);
			ck_assert_uint_eq(d->require & AB_REQUIRE_DEFAULT,
					  AB_REQUIRE_DEFAULT);
			ck_assert_uint_gt(d->protect_count, 50);
		}
		agentbox_policy_unref(p);
		agentbox_policy_unref(q);
	}
	ck_assert_ptr_null(agentbox_policy_builtin_name(1000));
}
END_TEST

START_TEST(an_unknown_builtin_is_not_found)
{
	agentbox_policy *p = NULL;
	ab_auto(agentbox_error) *err = NULL;

	ck_assert_int_eq(agentbox_policy_builtin(context, "nope", &p, &err),
			 AGENTBOX_ENOTFOUND);
	ck_assert_ptr_null(p);
	ck_assert_ptr_nonnull(strstr(agentbox_error_get_message(err),
				     "legacy-home"));
}
END_TEST

START_TEST(protected_patterns_are_sound_and_cover_the_known_names)
{
	static const char *const names[] = {
		".git/hooks", ".git/config", ".git/modules/x/hooks", ".bashrc",
		".bash_profile", ".profile", ".zshrc", ".zprofile", ".zshenv",
		".envrc", ".mcp.json", ".vscode", ".idea", ".claude", ".codex",
		".cursor", ".gemini", ".gitmodules", ".git/info/attributes",
		".hg/hgrc", ".jj/repo/config.toml", "x.sublime-project",
		".dir-locals-2.el", ".lazy.lua", "lefthook.yaml",
		"lefthook-local.toml", ".lefthook-local.yml", "bunfig.toml",
		".config/mise", "mise.local.toml", ".mise.local.toml",
		"mise.ci.toml", "mise/config.toml", "mise/config.ci.toml",
		".crush.json", "crushrc", "opencode.jsonc", "kilo.json",
		".github/hooks", "rust-toolchain.toml", "Rust-Toolchain",
		".helix", ".lvimrc", ".vim", ".config/nvim", ".emacs.d",
		".ghci", ".ocamlinit", ".iex.exs", ".pdbrc", ".octaverc",
		".byebugrc", ".perldb", ".Renviron", ".direnvrc",
		".xsessionrc", ".xonshrc", ".config/nushell", ".psqlrc",
		".local/share/systemd", ".aws/config", ".kube/config",
		".docker/config.json", ".tool-versions", ".bundle/config",
		".mvn", ".yarn/releases", ".pnpmfile.mjs", ".overcommit.yml",
		".lefthook", "lefthook.jsonc", "tools/bazel",
		"jupyter_server_config.py", "commitlint.config.js",
		".local/lib"
	};
	/* what an agent is there to write */
	static const char *const free_names[] = {
		"Makefile", "package.json", "Cargo.toml", "mise", ".config",
		"config.toml", "README", ".github/workflows/ci.yml", "x.pth",
		".gitignore", ".editorconfig", ".env", "tools/build", ".cargo",
		".yarn", ".yarn/cache", "gradle.properties", "build.gradle",
		".gradle", ".docker", ".local", "lib", "model.pth",
		".python-version"
	};
	agentbox_policy *p = parse(
		"{\"agentbox\":1,\"protect\":[\"builtin:code-that-runs-later\","
		"\"docs/*.lock\"]}");
	const ab_policy *d = ab_policy_get(p);

	for (size_t i = 0; i < d->protect_count; i++)
		ck_assert_msg(ab_glob_check(d->protect[i].pattern,
					    strlen(d->protect[i].pattern)) == 0,
			      "%s", d->protect[i].pattern);
	for (size_t n = 0; n < AB_ARRAY_LEN(names); n++) {
		bool found = false;

		for (size_t i = 0; i < d->protect_count; i++)
			found |= ab_glob_match(d->protect[i].pattern, names[n],
					       AB_GLOB_FOLD);
		ck_assert_msg(found, "%s", names[n]);
	}
	for (size_t n = 0; n < AB_ARRAY_LEN(free_names); n++) {
		for (size_t i = 0; i < d->protect_count; i++)
			ck_assert_msg(!ab_glob_match(d->protect[i].pattern,
						     free_names[n],
						     AB_GLOB_FOLD),
				      "%s", free_names[n]);
	}
	agentbox_policy_unref(p);
}
END_TEST

/* --- the plain form ---------------------------------------------------- */

START_TEST(the_plain_form_says_what_the_document_says)
{
	agentbox_policy *p = parse(
		"{\"agentbox\":1,\"name\":\"n\","
		"\"workspace\":{\"path\":\"/srv//w/\",\"at\":\"same\","
		"\"mount\":\"overlay\",\"retain\":\"1h\"},"
		"\"mounts\":[{\"from\":\"/b\",\"to\":\"/z\",\"access\":"
		"\"write\",\"exec\":true},{\"to\":\"/y\",\"access\":\"hide\"}],"
		"\"env\":{\"set\":{\"B\":\"2\",\"A\":\"1\"},\"pass\":[\"*\"]},"
		"\"syscalls\":{\"profile\":\"strict\",\"deny\":[\"bpf\"]},"
		"\"limits\":{\"memory\":\"1GiB\",\"cpus\":\"1500m\",\"pids\":"
		"\"none\",\"require\":[\"pids\",\"memory\"]},"
		"\"network\":{\"mode\":\"gateway\",\"preview\":[8080,3000]},"
		"\"lifecycle\":{\"backoff\":\"1s..60s\"},"
		"\"require\":[\"seccomp\"],\"secrets\":[]}");
	const ab_policy *d = ab_policy_get(p);

	ck_assert_str_eq(d->name, "n");
	ck_assert_ptr_null(d->account);
	ck_assert_str_eq(d->workspace.path, "/srv/w");
	ck_assert_str_eq(d->workspace.at, "/srv/w");
	ck_assert_uint_eq(d->workspace.mount, AB_WORKSPACE_OVERLAY);
	ck_assert_uint_eq(d->workspace.retain_ms.value, 3600000);
	ck_assert_uint_eq(d->mount_count, 2);
	ck_assert_str_eq(d->mounts[0].to, "/y");
	ck_assert_ptr_null(d->mounts[0].from);
	ck_assert_uint_eq(d->mounts[0].access, AB_ACCESS_HIDE);
	ck_assert_str_eq(d->mounts[1].from, "/b");
	ck_assert(d->mounts[1].exec && !d->mounts[1].optional);
	ck_assert_str_eq(d->env.set_names[0], "A");
	ck_assert_str_eq(d->env.set_values[1], "2");
	ck_assert(d->env.pass_all);
	ck_assert_uint_eq(d->syscalls.profile, AB_SYSCALLS_STRICT);
	ck_assert(d->syscalls.deny.present && !d->syscalls.allow.present);
	ck_assert_uint_eq(d->limits.value[AB_LIMIT_MEMORY].value, 1u << 30);
	ck_assert_uint_eq(d->limits.value[AB_LIMIT_CPUS].value, 1500);
	ck_assert_uint_eq(d->limits.value[AB_LIMIT_PIDS].state, AB_POLICY_NONE);
	ck_assert_uint_eq(d->limits.value[AB_LIMIT_FILES].state,
			  AB_POLICY_ABSENT);
	ck_assert_uint_eq(d->limits.require, 1u << AB_LIMIT_MEMORY |
						     1u << AB_LIMIT_PIDS);
	ck_assert_uint_eq(d->network.mode, AB_NET_GATEWAY);
	ck_assert(d->network.transparent);
	ck_assert_uint_eq(d->network.preview[0], 3000);
	ck_assert_uint_eq(d->lifecycle.backoff_max_ms.value, 60000);
	ck_assert_uint_eq(d->require, AB_FEATURE_BIT(AB_FEATURE_SECCOMP));
	ck_assert_ptr_nonnull(ab_policy_section(p, "/secrets"));
	ck_assert_ptr_null(ab_policy_section(p, "/routes"));
	agentbox_policy_unref(p);
}
END_TEST

START_TEST(the_emptiest_document_grants_nothing)
{
	agentbox_policy *p = parse("{\"agentbox\":1}");
	const ab_policy *d = ab_policy_get(p);

	ck_assert_uint_eq(d->mode, AB_MODE_SANDBOX);
	ck_assert_uint_eq(d->mount_count, 0);
	ck_assert_ptr_null(d->workspace.path);
	ck_assert_uint_eq(d->network.mode, AB_NET_NONE);
	ck_assert_uint_eq(d->env.pass.count, 0);
	ck_assert(!d->orchestration.enabled);
	ck_assert_uint_eq(d->require, AB_REQUIRE_DEFAULT);
	agentbox_policy_unref(p);
}
END_TEST

START_TEST(a_role_adds_its_mounts_and_the_document_goes_first)
{
	agentbox_policy *p = parse(
		"{\"agentbox\":1,\"role\":{\"kind\":\"engineer\",\"team_dir\":"
		"\"/srv/team\",\"agent\":\"ada\",\"worktrees\":[\"/srv/wt\"]},"
		"\"mounts\":[{\"from\":\"/srv/team/shared\",\"to\":"
		"\"/srv/team/shared\",\"access\":\"read\"}]}");
	const ab_policy *d = ab_policy_get(p);
	static const struct {
		const char *to;
		uint32_t access;
	} wanted[] = {
		{ "/srv/team", AB_ACCESS_READ },
		{ "/srv/team/agents/ada", AB_ACCESS_WRITE },
		{ "/srv/team/protected", AB_ACCESS_READ },
		{ "/srv/team/shared", AB_ACCESS_READ },
		{ "/srv/wt", AB_ACCESS_WRITE },
	};

	ck_assert_uint_eq(d->mount_count, AB_ARRAY_LEN(wanted));
	for (size_t i = 0; i < d->mount_count; i++) {
		ck_assert_str_eq(d->mounts[i].to, wanted[i].to);
		ck_assert_uint_eq(d->mounts[i].access, wanted[i].access);
	}
	agentbox_policy_unref(p);
}
END_TEST

/* --- public odds and ends ---------------------------------------------- */

START_TEST(the_digest_is_over_the_dump_and_fixed)
{
	agentbox_policy *p = parse("{ \"name\" : \"n\", \"agentbox\" : 1 }");
	agentbox_policy *q = parse("{\"agentbox\":1,\"name\":\"m\"}");
	agentbox_bytes *dump = NULL;
	char digest[AB_DIGEST_SIZE];

	ck_assert_int_eq(agentbox_policy_to_json(p, &dump, NULL), 0);
	ck_assert_str_eq(agentbox_bytes_get_data(dump),
			 "{\"agentbox\":1,\"name\":\"n\"}");
	ab_digest(agentbox_bytes_get_data(dump), agentbox_bytes_get_size(dump),
		  digest);
	ck_assert_str_eq(agentbox_policy_get_digest(p), digest);
	/* printf '{"agentbox":1,"name":"n"}' | sha256sum */
	ck_assert_str_eq(
		digest,
		"sha256:"
		"91ec2face384669e25820a6bc2d698ec"
		"29eb81089a6359912a11f27993348189");
	ck_assert_str_ne(agentbox_policy_get_digest(p),
			 agentbox_policy_get_digest(q));
	agentbox_bytes_free(dump);
	agentbox_policy_unref(p);
	agentbox_policy_unref(q);
}
END_TEST

START_TEST(a_document_of_ten_megabytes_is_refused_in_one_clear_line)
{
	size_t n = 10u << 20;
	char *text = malloc(n);
	agentbox_policy *p = NULL;
	agentbox_error *err = NULL;

	memset(text, ' ', n);
	ck_assert_int_eq(agentbox_policy_parse(context, text, n, &p, &err),
			 AGENTBOX_ELIMIT);
	ck_assert_ptr_null(p);
	ck_assert_ptr_nonnull(strstr(agentbox_error_get_message(err),
				     "10485760 bytes"));
	agentbox_error_free(err);
	free(text);
}
END_TEST

START_TEST(null_arguments_are_refused_and_getters_are_empty)
{
	agentbox_policy *p = NULL;

	ck_assert_int_eq(agentbox_policy_parse(NULL, "", 0, &p, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_policy_parse(context, NULL, 0, &p, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_policy_contains(NULL, NULL, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_policy_narrow(NULL, NULL, &p, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_str_eq(agentbox_policy_get_digest(NULL), "");
	ck_assert_str_eq(agentbox_policy_get_name(NULL), "");
	ck_assert_int_eq(agentbox_policy_is_bare(NULL), 0);
	ck_assert_ptr_null(agentbox_policy_ref(NULL));
	agentbox_policy_unref(NULL);
}
END_TEST

START_TEST(a_workspace_can_be_set_and_is_checked)
{
	agentbox_policy *p = NULL;
	agentbox_policy *q = NULL;

	ck_assert_int_eq(agentbox_policy_builtin(context, "workspace", &p,
						 NULL), 0);
	ck_assert_int_eq(agentbox_policy_with_workspace(p, "/srv/x", NULL, &q,
							NULL), 0);
	ck_assert_str_eq(ab_policy_get(q)->workspace.path, "/srv/x");
	ck_assert_str_eq(ab_policy_get(q)->workspace.at, "/workspace");
	ck_assert_ptr_null(ab_policy_get(p)->workspace.path);
	agentbox_policy_unref(q);
	q = NULL;
	ck_assert_int_eq(agentbox_policy_with_workspace(p, "/srv/x", "same", &q,
							NULL), 0);
	ck_assert_str_eq(ab_policy_get(q)->workspace.at, "/srv/x");
	agentbox_policy_unref(q);
	q = NULL;
	ck_assert_int_eq(agentbox_policy_with_workspace(p, "x", NULL, &q, NULL),
			 AGENTBOX_EPOLICY);
	ck_assert_int_eq(agentbox_policy_with_workspace(p, "/", NULL, &q, NULL),
			 AGENTBOX_EPOLICY);
	ck_assert_int_eq(agentbox_policy_with_workspace(p, "/\xff", NULL, &q,
							NULL),
			 AGENTBOX_EPOLICY);
	ck_assert_ptr_null(q);
	agentbox_policy_unref(p);
}
END_TEST

START_TEST(a_fragment_replaces_or_appends)
{
	static const char more[] =
		"{\"mounts+\":[{\"from\":\"/data\",\"to\":\"/data\",\"access\":"
		"\"read\"}],\"limits\":{\"pids\":7}}";
	static const char less[] = "{\"mounts\":[]}";
	static const char bad[] = "{\"extends\":\"builtin:bare\"}";
	agentbox_policy *p = NULL;
	agentbox_policy *q = NULL;
	size_t before;

	ck_assert_int_eq(agentbox_policy_builtin(context, "workspace", &p,
						 NULL), 0);
	before = ab_policy_get(p)->mount_count;
	ck_assert_int_eq(agentbox_policy_merge(p, more, strlen(more), &q, NULL),
			 0);
	ck_assert_uint_eq(ab_policy_get(q)->mount_count, before + 1);
	ck_assert_uint_eq(ab_policy_get(q)->limits.value[AB_LIMIT_PIDS].value,
			  7);
	ck_assert_uint_eq(ab_policy_get(q)->limits.value[AB_LIMIT_MEMORY].state,
			  AB_POLICY_SET);
	agentbox_policy_unref(q);
	q = NULL;
	ck_assert_int_eq(agentbox_policy_merge(p, less, strlen(less), &q, NULL),
			 0);
	ck_assert_uint_eq(ab_policy_get(q)->mount_count, 0);
	agentbox_policy_unref(q);
	q = NULL;
	ck_assert_int_eq(agentbox_policy_merge(p, bad, strlen(bad), &q, NULL),
			 AGENTBOX_EPOLICY);
	ck_assert_ptr_null(q);
	agentbox_policy_unref(p);
}
END_TEST

static unsigned warnings;

static void count_warning(void *data, int32_t level, const char *message)
{
	(void)data;
	if (level == AGENTBOX_LOG_WARNING && strstr(message, "over-broad"))
		warnings++;
}

START_TEST(an_over_broad_pattern_is_reported_to_the_log)
{
	static const char text[] = "{\"agentbox\":1,\"network\":{\"allow\":["
				   "\"*.com\",\"a.com\"]}}";
	agentbox_context *own = NULL;
	agentbox_policy *p = NULL;

	ck_assert_int_eq(agentbox_context_new(&own, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_log(own, count_warning, NULL,
						  NULL), 0);
	ck_assert_int_eq(agentbox_policy_parse(own, text, strlen(text), &p,
					       NULL), 0);
	ck_assert_uint_eq(warnings, 1);
	agentbox_policy_unref(p);
	agentbox_context_unref(own);
}
END_TEST

static unsigned of_mode;

static void count_mode(void *data, int32_t level, const char *message)
{
	(void)data;
	if (level == AGENTBOX_LOG_WARNING && strstr(message, "network.mode is"))
		of_mode++;
}

START_TEST(hosts_without_a_network_are_reported_to_the_log)
{
	static const struct {
		const char *text;
		unsigned want;
	} rows[] = {
		{ "{\"agentbox\":1,\"network\":{\"allow\":[\"a.com\"]}}", 1 },
		{ "{\"agentbox\":1,\"network\":{\"allow+\":[\"a.com\"]},"
		  "\"extends\":\"builtin:workspace\"}", 1 },
		{ "{\"agentbox\":1,\"network\":{\"mode\":\"none\","
		  "\"allow\":[\"a.com\"]}}", 1 },
		{ "{\"agentbox\":1,\"network\":{\"allow\":[]}}", 0 },
		{ "{\"agentbox\":1,\"network\":{\"deny\":[\"a.com\"]}}", 0 },
		{ "{\"agentbox\":1,\"network\":{\"mode\":\"gateway\","
		  "\"allow\":[\"a.com\"]}}", 0 },
	};
	agentbox_context *own = NULL;

	ck_assert_int_eq(agentbox_context_new(&own, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_log(own, count_mode, NULL, NULL),
			 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		agentbox_policy *p = NULL;

		of_mode = 0;
		ck_assert_int_eq(agentbox_policy_parse(own, rows[i].text,
						       strlen(rows[i].text),
						       &p, NULL), 0);
		ck_assert_msg(of_mode == rows[i].want, "%s", rows[i].text);
		agentbox_policy_unref(p);
	}
	agentbox_context_unref(own);
}
END_TEST

static unsigned ended;

static void count_end(void *value)
{
	(void)value;
	ended++;
}

START_TEST(the_cache_keeps_the_first_and_ends_every_value_once)
{
	static char a;
	static char b;
	agentbox_policy *p = parse("{\"agentbox\":1}");

	ck_assert_ptr_null(ab_policy_cache_get(p));
	ck_assert_ptr_eq(ab_policy_cache_put(p, &a, count_end), &a);
	ck_assert_ptr_eq(ab_policy_cache_put(p, &b, count_end), &a);
	ck_assert_uint_eq(ended, 1);
	agentbox_policy_unref(p);
	ck_assert_uint_eq(ended, 2);
}
END_TEST

/* --- mounts against an oracle ------------------------------------------ */

/* Longest target that holds the path, by trying them all. */
static const ab_view_entry *oracle_find(const ab_view *v, const char *inside)
{
	const ab_view_entry *best = NULL;

	for (size_t i = 0; i < v->count; i++)
		if (ab_path_is_below(inside, v->items[i].to) &&
		    (!best || strlen(v->items[i].to) > strlen(best->to)))
			best = &v->items[i];
	return best;
}

/* Places in the box worth looking at: every target and probes below it. */
static void check_box_paths(const ab_view *parent, const ab_view *child,
			    agentbox_policy *p, agentbox_policy *n)
{
	static const char *const tails[] = { "", "sub", "sub/x", "x", "lib",
					     "team", "team/sub", "sub/x/y",
					     "team/sub/x", "other" };
	char inside[AB_MAX_PATH];
	char host[AB_MAX_PATH];

	for (size_t i = 0; i < child->count; i++)
		for (size_t t = 0; t < AB_ARRAY_LEN(tails); t++) {
			const ab_view_entry *e;
			uint32_t held;

			ab_path_join(child->items[i].to, tails[t], inside,
				     sizeof(inside));
			e = oracle_find(child, inside);
			if (!e->from)
				continue;
			ab_path_join(e->from, ab_path_rest(inside, e->to), host,
				     sizeof(host));
			held = 0;
			for (size_t j = 0; j < parent->count; j++) {
				const ab_view_entry *q = &parent->items[j];
				char at[AB_MAX_PATH];

				if (!q->from ||
				    !ab_path_is_below(host, q->from))
					continue;
				ab_path_join(q->to, ab_path_rest(host, q->from),
					     at, sizeof(at));
				if (oracle_find(parent, at) == q)
					held |= q->rights;
			}
			if (e->rights & ~held) {
				ab_auto(agentbox_bytes) *a = NULL;
				ab_auto(agentbox_bytes) *b = NULL;

				agentbox_policy_to_json(p, &a, NULL);
				agentbox_policy_to_json(n, &b, NULL);
				ck_abort_msg("%s shows %s with more:\n%s\n%s",
					     inside, host,
					     agentbox_bytes_get_data(a),
					     agentbox_bytes_get_data(b));
			}
		}
}

START_TEST(no_path_of_a_narrowed_box_shows_more_than_the_parent_sees)
{
	uint64_t seed = 7;
	unsigned judged = 0;

	for (int i = 0; i < 6000; i++) {
		agentbox_policy *two[2] = { NULL, NULL };
		agentbox_policy *n = NULL;
		ab_view views[2] = { 0 };

		for (int k = 0; k < 2; k++) {
			ab_auto(json_t) *d = policy_random_document(&seed);
			char *text = json_dumps(d, 0);

			agentbox_policy_parse(context, text, strlen(text),
					      &two[k], NULL);
			free(text);
		}
		if (two[0] && two[1] &&
		    agentbox_policy_narrow(two[0], two[1], &n, NULL) == 0) {
			ck_assert_int_eq(ab_view_init(&views[0],
						      ab_policy_get(two[0])),
					 0);
			ck_assert_int_eq(ab_view_init(&views[1],
						      ab_policy_get(n)), 0);
			check_box_paths(&views[0], &views[1], two[0], n);
			judged += views[1].count > 0;
			ab_view_end(&views[0]);
			ab_view_end(&views[1]);
		}
		agentbox_policy_unref(n);
		agentbox_policy_unref(two[0]);
		agentbox_policy_unref(two[1]);
	}
	ck_assert_uint_gt(judged, 500);
}
END_TEST

/* --- translation (B04, B05, B13) --------------------------------------- */

static int32_t translated(agentbox_policy *parent, const char *from,
			  char host[256])
{
	char text[512];
	agentbox_policy *c;
	agentbox_policy *out = NULL;
	int32_t r;

	snprintf(text, sizeof(text),
		 "{\"agentbox\":1,\"mounts\":[{\"from\":\"%s\",\"to\":\"/x\","
		 "\"access\":\"read\"}]}", from);
	c = parse(text);
	r = ab_policy_translate(parent, c, &out, NULL);
	if (r == 0)
		snprintf(host, 256, "%s", ab_policy_get(out)->mounts[0].from);
	agentbox_policy_unref(out);
	agentbox_policy_unref(c);
	return r;
}

START_TEST(a_request_from_inside_is_translated_to_host_terms)
{
	agentbox_policy *p = parse(
		"{\"agentbox\":1,\"mounts\":[{\"from\":\"/srv/team\",\"to\":"
		"\"/w\",\"access\":\"write\"},{\"from\":\"/opt/other\",\"to\":"
		"\"/w/deep\",\"access\":\"read\"},{\"to\":\"/w/hidden\","
		"\"access\":\"hide\"}]}");
	char host[256];

	ck_assert_int_eq(translated(p, "/w/sub", host), 0);
	ck_assert_str_eq(host, "/srv/team/sub");
	ck_assert_int_eq(translated(p, "/w/deep/a", host), 0);
	ck_assert_str_eq(host, "/opt/other/a");
	ck_assert_int_eq(translated(p, "/srv/team/sub", host),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(translated(p, "/w/hidden/x", host), AGENTBOX_EDENIED);
	ck_assert_int_eq(translated(p, "/wx", host), AGENTBOX_EDENIED);
	agentbox_policy_unref(p);
}
END_TEST

/* --- size and memory --------------------------------------------------- */

static agentbox_policy *many_hosts(const char *prefix)
{
	size_t room = 10000 * 48 + 100;
	char *text = malloc(room);
	size_t n = (size_t)snprintf(text, room,
				    "{\"agentbox\":1,\"network\":{\"allow\":[");
	agentbox_policy *p;

	for (int i = 0; i < 10000; i++)
		n += (size_t)snprintf(text + n, room - n,
				      "%s\"%s%d.example.com\"", i ? "," : "",
				      prefix, i);
	snprintf(text + n, room - n, "]}}");
	p = parse(text);
	free(text);
	return p;
}

START_TEST(ten_thousand_entries_against_ten_thousand_take_no_time)
{
	agentbox_policy *p = many_hosts("*.a");
	agentbox_policy *c = many_hosts("x.a");
	struct timespec a;
	struct timespec b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	ck_assert_int_eq(agentbox_policy_contains(p, c, NULL), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	/* far above what it needs, far below what a quadratic walk does */
	ck_assert_double_lt((double)(b.tv_sec - a.tv_sec),
			    10 * ab_test_slowness());
	agentbox_policy_unref(p);
	agentbox_policy_unref(c);
}
END_TEST

static bool run_once(void *data)
{
	static const char child[] =
		"{\"agentbox\":1,\"extends\":\"builtin:strict\",\"mounts+\":["
		"{\"from\":\"/usr\",\"to\":\"/u\",\"access\":\"write\"}],"
		"\"network\":{\"allow\":[\"a.com\"]}}";
	agentbox_policy *p = NULL;
	agentbox_policy *c = NULL;
	agentbox_policy *n = NULL;
	agentbox_error *err = NULL;
	int32_t r;

	(void)data;
	r = agentbox_policy_builtin(context, "workspace", &p, &err);
	if (r == 0)
		r = agentbox_policy_parse(context, child, strlen(child), &c,
					  &err);
	if (r == 0)
		r = agentbox_policy_narrow(p, c, &n, &err);
	ck_assert_msg(r == 0 || r == AGENTBOX_ENOMEM, "%s: %s",
		      agentbox_error_name(r), agentbox_error_get_message(err));
	ck_assert_int_eq(r == 0, n != NULL);
	agentbox_policy_unref(n);
	agentbox_policy_unref(c);
	agentbox_policy_unref(p);
	agentbox_error_free(err);
	return r == 0;
}

START_TEST(every_failing_allocation_is_an_ordinary_error)
{
	uint64_t tolerated = 0;

	uint64_t failed = ab_torture(run_once, NULL, 100000, &tolerated);

	ck_assert(failed > 50 || !ab_torture_available());
	/* none may go unnoticed: a policy without a part of it is wider */
	ck_assert_uint_eq(tolerated, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy");
	TCase *t = tcase_create("inside");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, sizes_are_exact);
	tcase_add_test(t, one_pattern_and_a_set_of_one_cover_the_same);
	tcase_add_test(t, a_list_over_its_bound_is_named_by_its_pointer);
	tcase_add_test(t, every_key_and_name_is_in_the_manual);
	tcase_add_test(t, every_feature_and_limit_has_its_name);
	tcase_add_test(t, every_builtin_parses_and_sets_what_it_must);
	tcase_add_test(t, an_unknown_builtin_is_not_found);
	tcase_add_test(
		t, protected_patterns_are_sound_and_cover_the_known_names);
	tcase_add_test(t, the_plain_form_says_what_the_document_says);
	tcase_add_test(t, the_emptiest_document_grants_nothing);
	tcase_add_test(t, a_role_adds_its_mounts_and_the_document_goes_first);
	tcase_add_test(t, the_digest_is_over_the_dump_and_fixed);
	tcase_add_test(
		t, a_document_of_ten_megabytes_is_refused_in_one_clear_line);
	tcase_add_test(t, null_arguments_are_refused_and_getters_are_empty);
	tcase_add_test(t, a_workspace_can_be_set_and_is_checked);
	tcase_add_test(t, a_fragment_replaces_or_appends);
	tcase_add_test(t, an_over_broad_pattern_is_reported_to_the_log);
	tcase_add_test(t, hosts_without_a_network_are_reported_to_the_log);
	tcase_add_test(t,
		       the_cache_keeps_the_first_and_ends_every_value_once);
	tcase_add_test(
		t, no_path_of_a_narrowed_box_shows_more_than_the_parent_sees);
	tcase_add_test(t, a_request_from_inside_is_translated_to_host_terms);
	tcase_add_test(t,
		       ten_thousand_entries_against_ten_thousand_take_no_time);
	tcase_add_test(t, every_failing_allocation_is_an_ordinary_error);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
