/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pure parts of the shield: its messages, its copy of the grants, the
 * calls under way, and what the checks say of an exec.
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <check.h>

#include "abtest.h"
#include "base/attr.h"
#include "guard/exec.h"
#include "parts.h"
#include "shield/internal.h"
#include "wire/message.h"
#include "wire/shield.h"

static const ab_shield_record sample = {
	.kind = AB_SHIELD_EXEC, .answer = AB_SHIELD_ASKED, .verdict = 2,
	.flags = AB_SHIELD_CUT, .id = 7, .pid = 12, .object = "/bin/x",
	.command = "x y", .rule = "r", .reason = "why", .call = "c",
	.lost = 3,
};

static size_t put(const ab_shield_record *m, uint8_t *memory, size_t size)
{
	ab_writer w;

	ab_writer_init_fixed(&w, memory, size);
	ab_shield_record_put(&w, m);
	ck_assert(!w.bad);
	return w.len;
}

static int get(const uint8_t *p, size_t n, ab_shield_record *out)
{
	ab_reader r;

	ab_reader_init(&r, p, n);
	(void)ab_get_u64(&r);
	return ab_shield_record_get(&r, out);
}

START_TEST(records_come_back_and_nothing_else_does)
{
	uint8_t memory[512];
	size_t n = put(&sample, memory, sizeof(memory));
	ab_shield_record back, odd;

	ck_assert_int_eq(get(memory, n, &back), 0);
	ck_assert_uint_eq(back.id, 7);
	ck_assert_str_eq(back.command, "x y");
	ck_assert_uint_eq(back.lost, 3);
	for (size_t i = 8; i < n; i++)
		ck_assert_int_eq(get(memory, i, &back), -EPROTO);
	odd = sample;
	odd.kind = AB_SHIELD_KINDS + 1;
	ck_assert_int_eq(get(memory, put(&odd, memory, sizeof(memory)), &back),
			 -EPROTO);
	odd = sample;
	odd.id = 0;
	ck_assert_int_eq(get(memory, put(&odd, memory, sizeof(memory)), &back),
			 -EPROTO);
	odd = sample;
	odd.flags = AB_SHIELD_FLAGS + 1;
	ck_assert_int_eq(get(memory, put(&odd, memory, sizeof(memory)), &back),
			 -EPROTO);
}
END_TEST

START_TEST(plans_of_another_build_and_odd_ones_are_refused)
{
	const ab_shield_plan plan = { .build_id = "b", .box_id = "0", .mode = 2,
				      .ask_ms = 1, .workspace = "/w",
				      .home = "", .policy = "{}" };
	ab_shield_plan back, odd = plan;
	uint8_t memory[256];
	ab_reader r;
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ck_assert_int_eq(ab_shield_plan_put(&w, &plan), 0);
	ab_reader_init(&r, memory, w.len);
	ck_assert_int_eq(ab_shield_plan_get(&r, "b", &back), 0);
	ck_assert_str_eq(back.policy, "{}");
	ab_reader_init(&r, memory, w.len);
	ck_assert_int_eq(ab_shield_plan_get(&r, "c", &back), -ESTALE);
	ab_reader_init(&r, memory, w.len - 1);
	ck_assert_int_eq(ab_shield_plan_get(&r, "b", &back), -EPROTO);
	/* a shield that is off is none */
	odd.mode = 3;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ck_assert_int_eq(ab_shield_plan_put(&w, &odd), 0);
	ab_reader_init(&r, memory, w.len);
	ck_assert_int_eq(ab_shield_plan_get(&r, "b", &back), -EPROTO);
}
END_TEST

static int take(ab_sh_grants *g, uint32_t count, const char *const *names)
{
	uint8_t memory[1024];
	ab_reader r;
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, count);
	for (size_t i = 0; names[i]; i++)
		ab_put_str(&w, names[i]);
	ab_reader_init(&r, memory, w.len);
	return ab_sh_grants_take(g, &r);
}

START_TEST(what_is_read_of_a_peer_needs_a_grant_that_is_in_force)
{
	static const char *const names[] = { "0123", "src", "4567", "doc",
					     NULL };
	static const char *const odd[] = { "0123", NULL };
	ab_sh_grants g = { .own = "ff" };

	/* a host that tells of none leaves it to the mount */
	ck_assert(ab_sh_grants_cover(&g, "src", 3));
	ck_assert_int_eq(take(&g, 2, names), 0);
	ck_assert(ab_sh_grants_cover(&g, "src", 3));
	ck_assert(ab_sh_grants_cover(&g, "doc/x", 3));
	ck_assert(!ab_sh_grants_cover(&g, "sr", 2));
	ck_assert(!ab_sh_grants_cover(&g, "srcs", 4));
	ck_assert(!ab_sh_grants_cover(&g, "0123", 4));
	ck_assert(!ab_sh_grants_cover(&g, "", 0));
	ck_assert_int_eq(take(&g, 1, odd), -EPROTO);
	ck_assert(!ab_sh_grants_cover(&g, "src", 3));
}
END_TEST

START_TEST(only_what_is_granted_may_be_read)
{
	static ab_sh_grants g = { .own = "me" };
	const char *const two[] = { "b1", "peer", "b2", "other", NULL };
	const char *const none[] = { NULL };

	ck_assert_ptr_null(ab_sh_grants_refuse(&g, "database", "me", "drop"));
	ck_assert_ptr_nonnull(ab_sh_grants_refuse(&g, "files", "b1", "read"));
	ck_assert_int_eq(take(&g, 2, two), 0);
	ck_assert_ptr_null(ab_sh_grants_refuse(&g, "files", "b1", "read"));
	ck_assert_ptr_null(ab_sh_grants_refuse(&g, "files", "other", "read"));
	ck_assert_ptr_nonnull(ab_sh_grants_refuse(&g, "files", "B1", "read"));
	ck_assert_ptr_nonnull(ab_sh_grants_refuse(&g, "files", "b1", "Read"));
	ck_assert_ptr_nonnull(ab_sh_grants_refuse(&g, "DATABASE", "b1",
						  "read"));
	ck_assert_int_eq(ab_sh_grants_scope(&g, "billing"), 0);
	ck_assert_ptr_nonnull(ab_sh_grants_refuse(&g, "billing", "b1",
						  "read"));
	/* one word for what is not granted and what is not there */
	ck_assert_ptr_eq(ab_sh_grants_refuse(&g, "files", "b3", "read"),
			 ab_sh_grants_refuse(&g, "files", "x", "read"));
	/* a list that says one thing and brings another leaves nothing */
	ck_assert_int_eq(take(&g, 1, two), -EPROTO);
	ck_assert_ptr_nonnull(ab_sh_grants_refuse(&g, "files", "b1", "read"));
	ck_assert_int_eq(take(&g, 3, two), -EPROTO);
	ck_assert_uint_eq(g.count, 0);
	ck_assert_int_eq(take(&g, 0, none), 0);
	for (size_t i = 0; i < g.tool_count; i++)
		free(g.tools[i]);
}
END_TEST

/* A tool is scoped under each of its spellings, by the policy's patterns. */
START_TEST(scoped_tools_are_those_of_the_scope)
{
	static const struct {
		const char *entry; /* of the policy; NULL: none */
		const char *tool;
		bool is_scoped;
	} rows[] = {
		{ NULL, "mcp__pg__run_query", true },
		{ NULL, "postgres.query", true },
		{ NULL, "getSecret", true },
		{ NULL, "k8s_deploy", true },
		{ NULL, "grafana:dashboards", true },
		{ NULL, "d\xd0\xb0tabase", true },
		{ NULL, "a\nb", true },
		{ NULL, "read\xff", true },
		{ NULL, "__", true },
		{ NULL, "files", false },
		{ NULL, "mcp__fs__read_file", false },
		{ "crm:*", "mcp__crm__export", true },
		{ "crm:*", "crm.list", true },
		{ "crm:*", "mcp__crmx__export", false },
		{ "crm:export", "mcp__crm__export", true },
		{ "crm:export", "mcp__crm__import", false },
		{ "billing", "functions.Billing", true },
		{ "*", "files", true },
	};
	const char *const one[] = { "b1", "peer", NULL };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ab_sh_grants *g = calloc(1, sizeof(*g));

		ck_assert_ptr_nonnull(g);
		strcpy(g->own, "me");
		ck_assert_int_eq(take(g, 1, one), 0);
		if (rows[i].entry)
			ck_assert_int_eq(ab_sh_grants_scope(g, rows[i].entry),
					 0);
		ck_assert_msg(!!ab_sh_grants_refuse(g, rows[i].tool, "b1",
						    "read") ==
				      rows[i].is_scoped,
			      "%s of %s", rows[i].tool,
			      rows[i].entry ? rows[i].entry : "no list");
		ck_assert_ptr_null(ab_sh_grants_refuse(g, rows[i].tool, "me",
						       "read"));
		if (rows[i].entry)
			free(g->tools[0]);
		free(g);
	}
}
END_TEST

START_TEST(calls_cover_what_happens_while_they_last)
{
	static ab_sh_calls c;
	char id[8];

	ck_assert(ab_sh_calls_cover(&c));
	ck_assert_int_eq(ab_sh_calls_begin(&c, ""), -EINVAL);
	ck_assert(ab_sh_calls_cover(&c));
	ck_assert_int_eq(ab_sh_calls_begin(&c, "a"), 0);
	ck_assert_int_eq(ab_sh_calls_begin(&c, "a"), -EEXIST);
	ck_assert_str_eq(ab_sh_calls_one(&c), "a");
	ck_assert_int_eq(ab_sh_calls_begin(&c, "b"), 0);
	ck_assert_str_eq(ab_sh_calls_one(&c), "");
	ck_assert_int_eq(ab_sh_calls_end(&c, "a"), 0);
	ck_assert_str_eq(ab_sh_calls_one(&c), "b");
	ck_assert_int_eq(ab_sh_calls_end(&c, "a"), -ENOENT);
	ck_assert_int_eq(ab_sh_calls_end(&c, "b"), 0);
	ck_assert(!ab_sh_calls_cover(&c));
	for (int i = 0; i < AB_SHIELD_MAX_CALLS; i++) {
		snprintf(id, sizeof(id), "%d", i);
		ck_assert_int_eq(ab_sh_calls_begin(&c, id), 0);
	}
	ck_assert_int_eq(ab_sh_calls_begin(&c, "x"), -E2BIG);
}
END_TEST

/* --- what the checks say of an exec --------------------------------------- */

static uint32_t judge(const char *path, bool by_git, const char *const *words)
{
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	ab_exec_finding f = { .verdict = AGENTBOX_VERDICT_NONE };
	const char *args[8] = { NULL };
	size_t lens[8] = { 0 };
	ab_exec_judge j;
	ab_exec e = { .path = path, .path_len = strlen(path), .args = args,
		      .lens = lens, .by_git = by_git, .cwd = "/workspace",
		      .cwd_len = 10 };

	for (; words[e.count]; e.count++) {
		args[e.count] = words[e.count];
		lens[e.count] = strlen(words[e.count]);
	}
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_policy_builtin(context, "workspace", &policy,
						 NULL), 0);
	ck_assert_int_eq(ab_exec_judge_init(&j, policy, "/workspace",
					    "/home/agent", NULL), 0);
	ab_exec_check(&j, &e, &f);
	ab_exec_judge_end(&j);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	return f.verdict;
}

#define JUDGE(path, by_git, ...) \
	judge(path, by_git, (const char *const[]){ __VA_ARGS__, NULL })

static const char *known(const ab_sh_memo *memo, const char *path,
			 const char *text, size_t n)
{
	const ab_sh_words w = { path, text, strlen(path), n };
	static char cwd[16];
	size_t len = 0;
	const char *at = ab_sh_memo_find(memo, &w, &len);

	if (!at)
		return NULL;
	ck_assert_uint_lt(len, sizeof(cwd));
	memcpy(cwd, at, len);
	cwd[len] = '\0';
	return cwd;
}

START_TEST(what_is_known_has_the_very_same_words)
{
	static const char text[] = "cat\0cat\0a b";
	static char longest[AB_SH_MEMO_BYTES];
	ab_sh_memo *memo = calloc(1, sizeof(*memo));
	const ab_sh_words w = { "/bin/cat", text, 8, sizeof(text) };
	ab_sh_words big = { "/p", longest, 2, AB_SH_MEMO_BYTES - 2 };

	ck_assert_ptr_nonnull(memo);
	ck_assert_ptr_null(known(memo, "", "", 0));
	ab_sh_memo_keep(memo, &w, "/w", 2);
	ck_assert_str_eq(known(memo, "/bin/cat", text, sizeof(text)), "/w");
	/* each byte and each length counts, wherever it is kept */
	for (size_t i = 0; i < sizeof(text); i++) {
		char other[sizeof(text)];

		memcpy(other, text, sizeof(text));
		other[i] ^= 1;
		memo->slots[0] = memo->slots[1];
		for (size_t k = 0; k < AB_SH_MEMO_SLOTS; k++)
			if (memo->slots[k].is_used)
				memo->slots[0] = memo->slots[k];
		for (size_t k = 1; k < AB_SH_MEMO_SLOTS; k++)
			memo->slots[k] = memo->slots[0];
		ck_assert_ptr_null(known(memo, "/bin/cat", other,
					 sizeof(other)));
		ck_assert_ptr_null(known(memo, "/bin/cat", text, i));
	}
	ck_assert_ptr_null(known(memo, "/bin/ca", text, sizeof(text)));
	ck_assert_ptr_null(known(memo, "/bin/caT", text, sizeof(text)));
	ck_assert_str_eq(known(memo, "/bin/cat", text, sizeof(text)), "/w");
	/* what has no room is not known */
	ab_sh_memo_keep(memo, &big, "", 0);
	ck_assert_str_eq(known(memo, "/p", longest, big.text_len), "");
	memset(memo, 0, sizeof(*memo));
	ab_sh_memo_keep(memo, &big, "/", 1);
	big.text_len++;
	ab_sh_memo_keep(memo, &big, "", 0);
	for (size_t k = 0; k < AB_SH_MEMO_SLOTS; k++)
		ck_assert(!memo->slots[k].is_used);
	free(memo);
}
END_TEST

START_TEST(both_names_of_a_program_are_judged)
{
	const char *const none[] = { NULL };

	ck_assert_uint_eq(JUDGE("/usr/bin/git", false, "git", "status"),
			  AGENTBOX_VERDICT_ALLOW);
	ck_assert_uint_eq(JUDGE("/usr/bin/git", false, "git", "push"),
			  AGENTBOX_VERDICT_DENY);
	ck_assert_uint_eq(JUDGE("/usr/bin/git", false, "true", "push"),
			  AGENTBOX_VERDICT_DENY);
	ck_assert_uint_eq(JUDGE("/bin/busybox", false, "git", "push"),
			  AGENTBOX_VERDICT_DENY);
	ck_assert_uint_eq(JUDGE("/bin/sh", false, "-sh", "-c", "git push"),
			  AGENTBOX_VERDICT_DENY);
	ck_assert_uint_eq(JUDGE("/usr/lib/git-core/git", false, "git", "add"),
			  AGENTBOX_VERDICT_ALLOW);
	ck_assert_uint_eq(judge("/usr/bin/true", false, none),
			  AGENTBOX_VERDICT_ALLOW);
	ck_assert_uint_eq(judge("/usr/sbin/reboot", false, none),
			  JUDGE("/usr/sbin/reboot", false, "reboot"));
}
END_TEST

START_TEST(what_git_tidies_of_itself_is_its_own)
{
	ck_assert_uint_eq(JUDGE("/usr/lib/git-core/git", true, "git",
				"maintenance", "run", "--auto", "--quiet"),
			  AGENTBOX_VERDICT_ALLOW);
	ck_assert_uint_eq(JUDGE("/usr/lib/git-core/git", true, "git", "gc",
				"--auto"), AGENTBOX_VERDICT_ALLOW);
	ck_assert_uint_ne(JUDGE("/usr/bin/git", false, "git", "maintenance",
				"run", "--auto"), AGENTBOX_VERDICT_ALLOW);
	ck_assert_uint_ne(JUDGE("/usr/lib/git-core/git", true, "git", "gc"),
			  AGENTBOX_VERDICT_ALLOW);
	ck_assert_uint_ne(JUDGE("/usr/lib/git-core/git", true, "git", "push",
				"--auto"), AGENTBOX_VERDICT_ALLOW);
	/* what git starts for others is not git */
	ck_assert_uint_ne(JUDGE("/usr/bin/sudo", true, "sudo", "gc", "--auto"),
			  AGENTBOX_VERDICT_ALLOW);
	ck_assert_uint_ne(JUDGE("/usr/bin/sudo", true, "git", "gc", "--auto"),
			  AGENTBOX_VERDICT_ALLOW);
	ck_assert_uint_ne(JUDGE("/usr/bin/git", true, "sudo", "gc", "--auto"),
			  AGENTBOX_VERDICT_ALLOW);
}
END_TEST

/* --- addresses ------------------------------------------------------------ */

static ab_sh_address address_of(const void *bytes, size_t n)
{
	ab_sh_address a;

	ck_assert_int_eq(ab_sh_address_get(&a, bytes, n, false), 0);
	return a;
}

START_TEST(addresses_are_read_from_their_bytes)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET,
				  .sin_port = htons(443),
				  .sin_addr.s_addr = htonl(0xc0000207) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
				   .sin6_port = htons(80) };
	struct sockaddr_un un = { .sun_family = AF_UNIX,
				  .sun_path = "/run/x" };
	struct sockaddr_storage big = { .ss_family = AF_INET };
	uint8_t long_one[129] = { AF_INET };
	ab_sh_address a = address_of(&v4, sizeof(v4));

	ck_assert_uint_eq(a.kind, AB_SH_INTERNET);
	ck_assert_str_eq(a.text, "192.0.2.7:443");
	ck_assert_str_eq(address_of(&big, sizeof(big)).text, "0.0.0.0");
	memcpy(&v6.sin6_addr.s6_addr[10], "\xff\xff\x7f\0\0\1", 6);
	ck_assert_str_eq(address_of(&v6, sizeof(v6)).text, "127.0.0.1:80");
	ck_assert_uint_eq(address_of(&un, sizeof(un)).kind, AB_SH_PATH);
	ck_assert_str_eq(address_of(&un, 2 + 6).text, "/run/x");
	ck_assert_str_eq(address_of(&un, 2 + 4).text, "/run");
	ck_assert_uint_eq(address_of(&un, 2).kind, AB_SH_OTHER);
	memcpy(un.sun_path, "\0abc", 4);
	ck_assert_str_eq(address_of(&un, 2 + 4).text, "unix:@abc");
	ck_assert_uint_eq(address_of("\x10\0", 2).kind, AB_SH_OTHER);
	ck_assert_str_eq(address_of("\x10\0", 2).text, "address family 16");
	ck_assert_uint_eq(address_of("", 0).kind, AB_SH_OTHER);
	/* a connection ends with it, a datagram leaves for it all the same */
	v4.sin_family = AF_UNSPEC;
	ck_assert_uint_eq(address_of(&v4, sizeof(v4)).kind, AB_SH_OTHER);
	ck_assert_int_eq(ab_sh_address_get(&a, &v4, sizeof(v4), true), 0);
	ck_assert_uint_eq(a.kind, AB_SH_INTERNET);
	ck_assert_str_eq(a.text, "192.0.2.7:443");
	ck_assert_int_eq(ab_sh_address_get(&a, &v4, 15, true), -EINVAL);
	v4.sin_family = AF_INET;
	/* what the kernel takes for none, or nobody here knows */
	ck_assert_int_eq(ab_sh_address_get(&a, &v4, 1, false), -EINVAL);
	ck_assert_int_eq(ab_sh_address_get(&a, &v4, 15, false), -EINVAL);
	ck_assert_int_eq(ab_sh_address_get(&a, &v6, 23, false), -EINVAL);
	ck_assert_int_eq(ab_sh_address_get(&a, long_one, 129, true), -EINVAL);
}
END_TEST

static bool lets(const ab_sh_network *n, const char *text)
{
	ab_target t;

	ck_assert_int_eq(ab_target_authority(text, strlen(text), 0, &t),
			 AB_TARGET_OK);
	return ab_sh_network_refuse(n, &t) == NULL;
}

START_TEST(addresses_are_judged_as_the_policy_says)
{
	static const char *const allow[] = { "1.1.1.1:443" };
	static const char *const deny[] = { "8.8.4.4" };
	const ab_policy_network policy = {
		.allow = { allow, 1, true }, .deny = { deny, 1, true },
	};
	ab_sh_network n = { 0 };

	ck_assert(lets(&n, "127.1.2.3:1") && lets(&n, "[::]:1"));
	ck_assert(!lets(&n, "192.0.0.1:3128") && !lets(&n, "8.8.8.8:53"));
	ck_assert_int_eq(ab_sh_network_init(&n, &policy), 0);
	n.mode = AB_NET_GATEWAY;
	ck_assert(lets(&n, "192.0.0.1:3128") && lets(&n, "198.19.1.2:443"));
	ck_assert(lets(&n, "[fd61:6762:6f78::1]:53"));
	ck_assert(!lets(&n, "192.0.0.8:1") && !lets(&n, "198.20.0.1:1"));
	ck_assert(!lets(&n, "[fd61:6762:6f79::1]:53"));
	ck_assert(lets(&n, "1.1.1.1:443"));
	ck_assert(!lets(&n, "1.1.1.1:80") && !lets(&n, "8.8.8.8:443"));
	n.mode = AB_NET_HOST;
	ck_assert(lets(&n, "8.8.8.8:443") && lets(&n, "10.0.0.1:22"));
	ck_assert(!lets(&n, "169.254.169.254:80"));
	ck_assert(!lets(&n, "8.8.4.4:443"));
	/* a mode that nobody knows opens nothing */
	n.mode = 77;
	ck_assert(!lets(&n, "1.1.1.1:443"));
	ab_allow_end(&n.allow);
}
END_TEST

/* --- names ---------------------------------------------------------------- */

/* Links of a tree that is nowhere; what is not in it is a directory. */
static const struct {
	const char *path, *text;
	int error;
} links[] = {
	{ "/a", "b/c", 0 },	   { "/b/up", "../..", 0 },
	{ "/abs", "/b", 0 },	   { "/loop", "loop", 0 },
	{ "/two", "abs/c", 0 },	   { "/gone", NULL, ENOENT },
	{ "/b/none", NULL, ENOENT }, { "/b/shut", NULL, EACCES },
	{ "/shut", NULL, EACCES }, { "/w/p/link", "/b", 0 },
	{ "/slash", "b/", 0 },	   { "/odd", NULL, EIO },
};

static ssize_t read_a_link(void *arg, const char *path, char *out,
			   size_t size)
{
	++*(int *)arg;
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		if (strcmp(path, links[i].path) != 0)
			continue;
		if (!links[i].text)
			return -links[i].error;
		ck_assert_uint_lt(strlen(links[i].text), size);
		memcpy(out, links[i].text, strlen(links[i].text));
		return (ssize_t)strlen(links[i].text);
	}
	return 0;
}

static const struct {
	const char *start, *path;
	bool follow;
	const char *out; /* NULL: `error`, or nowhere */
	int error;
} names[] = {
	{ "", "/x/y", true, "/x/y", 0 },
	{ "", "//x/./y/../z//", true, "/x/z", 0 },
	{ "", "/../../x", true, "/x", 0 },
	{ "", "/", true, "/", 0 },
	{ "/x", "..", true, "/", 0 },
	{ "/x", "y", true, "/x/y", 0 },
	{ "/x", "", true, "/x", 0 },
	{ "/x", "/y", true, "/y", 0 },
	{ "", "/a", true, "/b/c", 0 },
	{ "", "/a", false, "/a", 0 },
	{ "", "/a/", false, "/b/c", 0 },
	{ "", "/a/d", false, "/b/c/d", 0 },
	{ "", "/b/up/x", true, "/x", 0 },
	{ "", "/two/d", true, "/b/c/d", 0 },
	{ "", "/slash/d", true, "/b/d", 0 },
	/* where it begins the kernel has said, and there is no link in it */
	{ "/abs", "x", true, "/abs/x", 0 },
	{ "/x", "../abs/z", true, "/b/z", 0 },
	{ "/", "abs", true, "/b", 0 },
	{ "/w/p", ".", true, "/w/p", 0 },
	{ "/w/p", "link", true, "/w/p/link", 0 },
	{ "", "/gone", true, "/gone", 0 },
	{ "", "/b/none", true, "/b/none", 0 },
	{ "", "/gone/x", true, NULL, 0 },
	{ "", "/b/shut/x", true, NULL, 0 },
	{ "", "/shut/x", true, NULL, -EACCES },
	{ "", "/odd", true, NULL, -EIO },
	{ "", "/loop", true, NULL, -ELOOP },
	{ "pipe:[1]", "x", true, NULL, 0 },
	{ "", "x", true, NULL, 0 },
	/* no link below it is followed, and what is beside it is not below */
	{ "", "/w/p/link/x", true, "/w/p/link/x", 0 },
	{ "", "/w/p/../../a", true, "/b/c", 0 },
	{ "", "/w/pp", true, "/w/pp", 0 },
};

START_TEST(names_are_what_the_kernel_would_find)
{
	int calls = 0;
	const ab_sh_tree tree = { read_a_link, &calls, "/w/p" };
	char out[AB_MAX_PATH];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ssize_t n = ab_sh_resolve(&tree, names[i].start, names[i].path,
					  names[i].follow, out, sizeof(out));

		if (!names[i].out)
			ck_assert_msg(n == names[i].error, "%s: %zd",
				      names[i].path, n);
		else
			ck_assert_msg(n > 0 && strcmp(out, names[i].out) == 0,
				      "%s: %zd '%s'", names[i].path, n, out);
	}
	ck_assert(ab_sh_is_below("/w/p", "/w/p"));
	ck_assert(ab_sh_is_below("/w/p/x", "/w/p"));
	ck_assert(!ab_sh_is_below("/w/pp", "/w/p"));
}
END_TEST

/* A link that says a long path again and again. */
static ssize_t read_long_link(void *arg, const char *path, char *out,
			      size_t size)
{
	size_t n = 0;

	++*(int *)arg;
	if (strcmp(path, "/y/y") != 0)
		return 0;
	while (n + 16 < size)
		n += (size_t)sprintf(out + n, "/z/..");
	return (ssize_t)(n + (size_t)sprintf(out + n, "/y/y"));
}

/* Every path that there can be is walked; however often links make it longer,
   the work is bounded. */
START_TEST(names_are_walked_within_a_bound)
{
	int calls = 0;
	const ab_sh_tree tree = { read_a_link, &calls, NULL };
	const ab_sh_tree longer = { read_long_link, &calls, NULL };
	char path[AB_MAX_PATH] = "", out[AB_MAX_PATH], small[8];

	for (size_t i = 0; i + 3 < sizeof(path); i += 2)
		memcpy(path + i, "/y", 3);
	ck_assert_int_eq(ab_sh_resolve(&tree, "", path, true, out,
				       sizeof(out)), sizeof(path) - 2);
	ck_assert_str_eq(out, path);
	calls = 0;
	ck_assert_int_eq(ab_sh_resolve(&longer, "", "/y/y", true, out,
				       sizeof(out)), -ELOOP);
	ck_assert_int_le(calls, AB_MAX_PATH);
	ck_assert_int_eq(ab_sh_resolve(&tree, "", "/x/long/name", true, small,
				       sizeof(small)), -ENAMETOOLONG);
}
END_TEST

/* --- a shield that tells without end -------------------------------------- */

#define WITHOUT_END 100000

typedef struct endless {
	agentbox_shield *shield;
	int fd; /* the shield's end */
	int told;
} endless;

static void tell_one(const endless *e)
{
	uint8_t memory[512];
	size_t n = put(&sample, memory, sizeof(memory));

	ck_assert_int_eq(ab_message_send(e->fd, memory, n, NULL, 0, 0), 0);
}

/* For each that is read there is another one. */
static void tell_on(void *arg, const ab_shield_record *m)
{
	endless *e = arg;

	if (m && ++e->told < WITHOUT_END)
		tell_one(e);
}

static void begin_endless(endless *e)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				    pair), 0);
	*e = (endless){ .fd = pair[1] };
	e->shield = calloc(1, sizeof(*e->shield));
	ck_assert_ptr_nonnull(e->shield);
	e->shield->owner = getpid();
	e->shield->told = tell_on;
	e->shield->arg = e;
	e->shield->helper = (ab_helper){ .control_fd = pair[0], .pidfd = -1 };
	pthread_mutex_init(&e->shield->lock, NULL);
	tell_one(e);
}

static void end_endless(endless *e)
{
	/* no process is behind it */
	close(e->shield->helper.control_fd);
	pthread_mutex_destroy(&e->shield->lock);
	free(e->shield);
	close(e->fd);
}

START_TEST(a_box_that_executes_without_end_holds_nobody)
{
	endless e;

	begin_endless(&e);
	ab_shield_drain(e.shield);
	ck_assert_int_gt(e.told, 0);
	ck_assert_int_lt(e.told, WITHOUT_END);
	ck_assert(!e.shield->has_ended);
	end_endless(&e);
}
END_TEST

START_TEST(records_are_no_answer)
{
	endless e;

	begin_endless(&e);
	ck_assert_int_eq(agentbox_shield_is_alive(e.shield), 0);
	ck_assert_int_gt(e.told, 0);
	ck_assert_int_lt(e.told, WITHOUT_END);
	ck_assert(e.shield->has_ended);
	end_endless(&e);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shield");
	TCase *c = tcase_create("shield");
	SRunner *sr;
	int failed;

	tcase_set_timeout(c, 60 * ab_test_slowness());
	tcase_add_checked_fixture(c, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(c,
		       what_is_read_of_a_peer_needs_a_grant_that_is_in_force);
	tcase_add_test(c, records_come_back_and_nothing_else_does);
	tcase_add_test(c, plans_of_another_build_and_odd_ones_are_refused);
	tcase_add_test(c, only_what_is_granted_may_be_read);
	tcase_add_test(c, scoped_tools_are_those_of_the_scope);
	tcase_add_test(c, calls_cover_what_happens_while_they_last);
	tcase_add_test(c, what_is_known_has_the_very_same_words);
	tcase_add_test(c, both_names_of_a_program_are_judged);
	tcase_add_test(c, what_git_tidies_of_itself_is_its_own);
	tcase_add_test(c, addresses_are_read_from_their_bytes);
	tcase_add_test(c, addresses_are_judged_as_the_policy_says);
	tcase_add_test(c, names_are_what_the_kernel_would_find);
	tcase_add_test(c, names_are_walked_within_a_bound);
	tcase_add_test(c, a_box_that_executes_without_end_holds_nobody);
	tcase_add_test(c, records_are_no_answer);
	suite_add_tcase(s, c);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
