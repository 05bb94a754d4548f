/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The allowlist: rows of tests/data/net-allow.jsonl {id, allow, deny,
 * private, tcp, routed, unread?, ask, at?, lookup?, rule?, out}: may `ask` be
 * asked for, and if it may, be connected to at the addresses `at`; or {bad,
 * index, out}: the list and entry that fail the load. Then what narrow and
 * contains make of two policies, asked through the tables: a child's box
 * reaches nothing its parent's does not.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "agentbox/policy.h"
#include "base/attr.h"
#include "base/context.h"
#include "base/error.h"
#include "net/allow.h"
#include "net_rows.h"
#include "policy/policy.h"

#define MOST 64

static const char *const list_names[AB_ALLOW_LIST_COUNT] = { "allow", "deny",
							     "private", "tcp",
							     "routed" };

static void lists_of(const json_t *row, const char *items[][MOST],
		     ab_allow_text *text)
{
	memset(text, 0, sizeof(*text));
	for (size_t l = 0; l < AB_ALLOW_LIST_COUNT; l++) {
		const json_t *list = json_object_get(row, list_names[l]);
		size_t n = json_array_size(list);

		ck_assert(n <= MOST);
		for (size_t i = 0; i < n; i++)
			items[l][i] = json_string_value(
				json_array_get(list, i));
		text->list[l].items = items[l];
		text->list[l].count = n;
	}
}

static enum ab_allow_reason ask(const ab_allow *allow, const json_t *row,
				const char *id)
{
	const char *text = net_text(row, "ask");
	const json_t *at = json_object_get(row, "at");
	ab_address addresses[MOST];
	char rule_text[AB_HOST_TEXT_SIZE];
	const ab_host *rule = NULL;
	enum ab_allow_reason reason;
	ab_target t;

	ck_assert_msg(ab_target_authority(text, strlen(text),
					  net_flag(row, "lookup"), &t) == 0,
		      "%s: %s", id, text);
	if (net_flag(row, "lookup"))
		return ab_allow_lookup(allow, &t);
	reason = ab_allow_target(allow, &t, &rule);
	ck_assert_msg(reason != AB_ALLOW_OK || rule, "%s: no rule", id);
	ck_assert_msg(ab_allow_is_tcp(allow, &t) == net_flag(row, "unread"),
		      "%s: unread", id);
	if (net_text(row, "rule")) {
		ab_host_text(rule, rule_text);
		ck_assert_str_eq(rule_text, net_text(row, "rule"));
	}
	if (!at)
		return reason;
	/* what is asked at an address is what may be asked for */
	ck_assert_msg(reason == AB_ALLOW_OK ||
			      strcmp(ab_allow_reason_name(reason),
				     net_text(row, "out")) == 0,
		      "%s: %s", id, ab_allow_reason_name(reason));
	for (size_t i = 0; i < json_array_size(at); i++) {
		const char *s = json_string_value(json_array_get(at, i));

		ck_assert(ab_address_parse(s, strlen(s), &addresses[i]));
	}
	return ab_allow_addresses(allow, &t, addresses, json_array_size(at));
}

static void allow_row(const json_t *row, const char *id)
{
	const char *items[AB_ALLOW_LIST_COUNT][MOST];
	const char *bad_list = net_text(row, "bad");
	enum ab_allow_reason reason;
	ab_allow allow = { 0 };
	ab_allow_text text;
	ab_allow_error bad;
	int r;

	lists_of(row, items, &text);
	r = ab_allow_init(&allow, &text, &bad);
	if (bad_list) {
		static const ab_allow zero;

		ck_assert_msg(r == -EINVAL, "%s: loads", id);
		ck_assert_str_eq(list_names[bad.list], bad_list);
		ck_assert_int_eq((json_int_t)bad.index,
				 json_integer_value(
					 json_object_get(row, "index")));
		ck_assert_msg(bad.why[0], "%s: no advice", id);
		ck_assert_int_eq(memcmp(&allow, &zero, sizeof(zero)), 0);
		return;
	}
	ck_assert_msg(r == 0, "%s: %s[%zu] %s", id, list_names[bad.list],
		      bad.index, bad.why);
	reason = ask(&allow, row, id);
	ck_assert_msg(strcmp(ab_allow_reason_name(reason),
			     net_text(row, "out")) == 0,
		      "%s: %s", id, ab_allow_reason_name(reason));
	ck_assert(ab_allow_reason_text(reason)[0]);
	ab_allow_end(&allow);
}

START_TEST(the_allowlist_decides_as_the_rows_say)
{
	net_each_row("net-allow.jsonl", 150, allow_row);
}
END_TEST

/* A yes of the host's stands in for `allow` and for nothing else. */
START_TEST(what_is_granted_is_refused_for_everything_but_the_list)
{
	static const char *const deny[] = { "bad.test" };
	static const char *const opened[] = { "10.0.0.0/8", "in.local" };
	static const char *const routed[] = { "api.test" };
	static const struct {
		const char *target;
		enum ab_allow_reason reason;
	} rows[] = {
		{ "any.test:443", AB_ALLOW_OK },
		{ "8.8.8.8:443", AB_ALLOW_OK },
		{ "10.0.0.1:443", AB_ALLOW_OK },
		{ "in.local:443", AB_ALLOW_OK },
		{ "bad.test:443", AB_ALLOW_DENIED },
		{ "api.test:443", AB_ALLOW_ROUTED },
		{ "out.local:443", AB_ALLOW_PRIVATE_NAME },
		{ "192.168.0.1:443", AB_ALLOW_PRIVATE_ADDRESS },
		{ "169.254.169.254:80", AB_ALLOW_METADATA },
		{ "224.0.0.1:443", AB_ALLOW_RANGE },
	};
	ab_allow_text text = { 0 };
	ab_allow_error bad;
	ab_allow allow;

	text.list[AB_ALLOW_LIST_DENY].items = deny;
	text.list[AB_ALLOW_LIST_DENY].count = 1;
	text.list[AB_ALLOW_LIST_PRIVATE].items = opened;
	text.list[AB_ALLOW_LIST_PRIVATE].count = 2;
	text.list[AB_ALLOW_LIST_ROUTED].items = routed;
	text.list[AB_ALLOW_LIST_ROUTED].count = 1;
	ck_assert_int_eq(ab_allow_init(&allow, &text, &bad), 0);
	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		const char *s = rows[i].target;
		ab_target t;

		ck_assert_int_eq(ab_target_authority(s, strlen(s), 0, &t), 0);
		ck_assert_msg(ab_allow_granted(&allow, &t, NULL) ==
				      rows[i].reason, "%s", s);
		ck_assert_msg(ab_allow_target(&allow, &t, NULL) != AB_ALLOW_OK,
			      "%s", s);
	}
	ab_allow_end(&allow);
}
END_TEST

START_TEST(a_zeroed_table_allows_nothing)
{
	static const ab_allow zero;
	static const ab_target none;
	ab_address a = { .family = AB_ADDRESS_IPV4, .bytes = { 8, 8, 8, 8 } };
	ab_target t;

	ck_assert_int_eq(ab_target_authority("a.test:1", 8, 0, &t), 0);
	ck_assert_int_eq(ab_allow_target(&zero, &t, NULL),
			 AB_ALLOW_NOT_LISTED);
	ck_assert_int_eq(ab_allow_target(&zero, &none, NULL),
			 AB_ALLOW_NO_TARGET);
	ck_assert_int_eq(ab_allow_address(&zero, &none, &a),
			 AB_ALLOW_NO_TARGET);
	memset(&a, 0, sizeof(a));
	ck_assert_int_eq(ab_allow_address(&zero, &t, &a), AB_ALLOW_RANGE);
	ck_assert_int_ne(AB_ALLOW_UNJUDGED, AB_ALLOW_OK);
}
END_TEST

/* --- against a slow oracle and through policies -------------------------- */

static uint32_t state = 2463534242;

static uint32_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

static const char *const patterns[] = {
	"*", "a.test", "b.a.test", "*.a.test", "*.b.a.test", "*.test",
	"c.b.a.test:443", "a.test:443", "a.test:80,8000-8100", "*.a.test:80",
	"8.8.8.8", "8.8.0.0/16", "8.0.0.0/8:443", "10.0.0.0/8", "10.1.0.0/16",
	"10.1.2.3:80", "127.0.0.1", "localhost", "*.internal", "x.internal",
	"db", "169.254.0.0/16", "2606:4700::/32", "[2606:4700::1]:443",
	"fc00::/7", "64:ff9b::/96", "::/0", "0.0.0.0/0", "*:443", "*.test:22",
	"metadata.google.internal", "::1"
};
static const char *const hosts[] = {
	"a.test", "b.a.test", "c.b.a.test", "xa.test", "test.a", "8.8.8.8",
	"8.8.4.4", "9.9.9.9", "10.1.2.3", "10.2.3.4", "127.0.0.1", "localhost",
	"x.internal", "y.internal", "db", "169.254.169.254", "[2606:4700::1]",
	"[2606:4701::1]", "[fc00::1]", "[64:ff9b::8.8.8.8]",
	"[64:ff9b::10.1.2.3]", "[::1]", "metadata.google.internal", "[4000::1]"
};
static const unsigned ports[] = { 22, 80, 443, 8050, 8200 };

static ab_target pick_target(void)
{
	char text[100];
	ab_target t;

	snprintf(text, sizeof(text), "%s:%u",
		 hosts[next_random() % AB_ARRAY_LEN(hosts)],
		 ports[next_random() % AB_ARRAY_LEN(ports)]);
	ck_assert_int_eq(ab_target_authority(text, strlen(text), 0, &t), 0);
	return t;
}

static ab_address pick_address(void)
{
	ab_target t;

	do {
		t = pick_target();
	} while (t.kind != AB_TARGET_ADDRESS);
	return t.address;
}

static size_t pick_patterns(const char *items[MOST], bool star)
{
	size_t n = next_random() % 7;

	for (size_t i = 0; i < n; i++) {
		do {
			items[i] = patterns[next_random() %
					    AB_ARRAY_LEN(patterns)];
		} while (!star && items[i][0] == '*' && items[i][1] != '.');
	}
	return n;
}

/* One list entry after another, as a reader of the manual would. */
static bool oracle_has(const char *const *items, size_t n, const ab_target *t,
		       bool deny)
{
	ab_host want = { 0 };
	char text[AB_TARGET_TEXT_SIZE];
	char why[AB_WHY_SIZE];

	ab_target_text(t, 0, text);
	ck_assert(ab_host_parse(text, &want, why));
	for (size_t i = 0; i < n; i++) {
		ab_host p;

		ck_assert(ab_host_parse(items[i], &p, why));
		if (ab_host_covers(&p, &want, deny))
			return true;
	}
	return false;
}

START_TEST(the_table_finds_what_reading_the_list_finds)
{
	for (int round = 0; round < 20000; round++) {
		const char *items[MOST];
		ab_allow_text text = { 0 };
		ab_allow_error bad;
		ab_allow allow;
		ab_target t = pick_target();
		bool deny = next_random() & 1;
		size_t n = pick_patterns(items, true);

		text.list[0].items = items;
		text.list[0].count = n;
		ck_assert_int_eq(ab_allow_init(&allow, &text, &bad), 0);
		ck_assert(oracle_has(items, n, &t, deny) ==
			  (ab_host_set_find(&allow.allow, &t, deny) != NULL));
		ab_allow_end(&allow);
	}
}
END_TEST

static agentbox_context *context;

/* `absent`: lists may be left out, which a child inherits. */
static agentbox_policy *random_policy(bool absent)
{
	char text[8192];
	size_t n = (size_t)sprintf(
		text, "{\"agentbox\":1,\"network\":{\"mode\":\"gateway\"");
	ab_auto(agentbox_error) *err = NULL;
	agentbox_policy *p = NULL;
	const char *items[MOST];

	for (size_t l = 0; l < 3; l++) {
		size_t count = pick_patterns(items, l != 2);

		if (absent && next_random() % 6 == 0)
			continue;
		n += (size_t)sprintf(text + n, ",\"%s\":[", list_names[l]);
		for (size_t i = 0; i < count; i++)
			n += (size_t)sprintf(text + n, "%s\"%s\"",
					     i ? "," : "", items[i]);
		n += (size_t)sprintf(text + n, "]");
	}
	sprintf(text + n, "}}");
	/* an entry in both lists is refused: try another document */
	agentbox_policy_parse(context, text, strlen(text), &p, &err);
	return p;
}

static void table_of(const agentbox_policy *p, ab_allow *out)
{
	const ab_policy_network *net = &ab_policy_get(p)->network;
	ab_allow_text text = { 0 };
	ab_allow_error bad;

	text.list[AB_ALLOW_LIST_ALLOW].items = net->allow.items;
	text.list[AB_ALLOW_LIST_ALLOW].count = net->allow.count;
	text.list[AB_ALLOW_LIST_DENY].items = net->deny.items;
	text.list[AB_ALLOW_LIST_DENY].count = net->deny.count;
	text.list[AB_ALLOW_LIST_PRIVATE].items = net->private_.items;
	text.list[AB_ALLOW_LIST_PRIVATE].count = net->private_.count;
	text.list[AB_ALLOW_LIST_TCP].items = net->tcp.items;
	text.list[AB_ALLOW_LIST_TCP].count = net->tcp.count;
	ck_assert_int_eq(ab_allow_init(out, &text, &bad), 0);
}

static bool passes(const ab_allow *allow, const ab_target *t,
		   const ab_address *a)
{
	return ab_allow_target(allow, t, NULL) == AB_ALLOW_OK &&
	       ab_allow_address(allow, t, a) == AB_ALLOW_OK;
}

static void compare_tables(const ab_allow *p, const ab_allow *c,
			   const ab_allow *e, bool contained)
{
	for (int i = 0; i < 200; i++) {
		ab_target t = pick_target();
		ab_address a = t.kind == AB_TARGET_ADDRESS ? t.address :
							      pick_address();
		bool effective = passes(e, &t, &a);
		ab_target any = t;

		any.port = 0;
		if (effective) {
			ck_assert(passes(p, &t, &a));
			ck_assert(passes(c, &t, &a));
			if (t.kind == AB_TARGET_NAME)
				ck_assert_int_eq(ab_allow_lookup(e, &any),
						 AB_ALLOW_OK);
		} else if (contained && passes(c, &t, &a)) {
			/* only a denial of the parent's takes it away */
			ck_assert(!passes(p, &t, &a));
		}
	}
}

START_TEST(a_child_reaches_nothing_its_parent_does_not)
{
	int contained_count = 0;

	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	for (int round = 0; round < 1500; round++) {
		agentbox_policy *p = random_policy(true);
		agentbox_policy *c = random_policy(false);
		agentbox_policy *e = NULL;
		ab_allow tables[3];
		bool contained;

		if (p && c) {
			ck_assert_int_eq(
				agentbox_policy_narrow(p, c, &e, NULL), 0);
			contained = agentbox_policy_contains(p, c, NULL) == 0;
			contained_count += contained;
			table_of(p, &tables[0]);
			table_of(c, &tables[1]);
			table_of(e, &tables[2]);
			compare_tables(&tables[0], &tables[1], &tables[2],
				       contained);
			for (size_t i = 0; i < 3; i++)
				ab_allow_end(&tables[i]);
		}
		agentbox_policy_unref(p);
		agentbox_policy_unref(c);
		agentbox_policy_unref(e);
	}
	agentbox_context_unref(context);
	ck_assert_int_gt(contained_count, 20);
}
END_TEST

static bool load_body(void *data)
{
	static const char *const items[] = { "a.test", "*.b.test:443",
					     "10.0.0.0/8" };
	ab_allow_text text = { 0 };
	ab_allow allow = { 0 };
	ab_allow_error bad;
	int r;

	(void)data;
	for (size_t l = 0; l < AB_ALLOW_LIST_COUNT; l++) {
		text.list[l].items = items;
		text.list[l].count = AB_ARRAY_LEN(items);
	}
	r = ab_allow_init(&allow, &text, &bad);
	ck_assert(r == 0 || (r == -ENOMEM && allow.allow.items == NULL));
	ab_allow_end(&allow);
	return r == 0;
}

START_TEST(a_load_without_memory_leaves_nothing)
{
	ab_torture(load_body, NULL, 100, NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("net_allow");
	TCase *tc = tcase_create("net_allow");
	SRunner *sr;
	int bad;

	tcase_set_timeout(tc, 60 * ab_test_slowness());
	tcase_add_test(tc, the_allowlist_decides_as_the_rows_say);
	tcase_add_test(
		tc, what_is_granted_is_refused_for_everything_but_the_list);
	tcase_add_test(tc, a_zeroed_table_allows_nothing);
	tcase_add_test(tc, the_table_finds_what_reading_the_list_finds);
	tcase_add_test(tc, a_child_reaches_nothing_its_parent_does_not);
	tcase_add_test(tc, a_load_without_memory_leaves_nothing);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
