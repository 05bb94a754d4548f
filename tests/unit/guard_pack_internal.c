/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packs: the built-in one proves itself; broken ones are refused with the
 * place; layers can do what agentbox-rules(5) says they can. Spec: DESIGN.md
 * section 7.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "agentbox/guard.h"
#include "guard/pack.h"
#include "guard/shell.h"

static struct ab_pack *base_pack(void)
{
	struct ab_pack *pack = ab_pack_new();
	agentbox_error *err = NULL;
	int32_t r;

	ck_assert_ptr_nonnull(pack);
	r = ab_pack_read(pack, AB_LAYER_BASE, "base", ab_base_rules,
			 ab_base_rules_len, &err);
	ck_assert_msg(r == 0, "%s: %s", agentbox_error_get_where(err),
		      agentbox_error_get_message(err));
	return pack;
}

START_TEST(the_built_in_pack_proves_itself)
{
	struct ab_pack *pack = base_pack();
	agentbox_error *err = NULL;
	int32_t r = ab_pack_verify(pack, AB_LAYER_BASE, "base", &err);

	ck_assert_msg(r == 0, "%s: %s", agentbox_error_get_where(err),
		      agentbox_error_get_message(err));
	for (int i = 0; i < AB_KNOWN_COUNT; i++)
		ck_assert_uint_ne(pack->known[i], UINT16_MAX);
	ck_assert_uint_ge(pack->rules_count, 100);
	ab_pack_free(pack);
}
END_TEST

START_TEST(every_rule_says_why_and_has_a_severity)
{
	struct ab_pack *pack = base_pack();

	for (uint32_t i = 0; i < pack->rules_count; i++) {
		const struct ab_rule *rule = &pack->rules[i];

		ck_assert_msg(*rule->reason, "%s has no reason", rule->id);
		ck_assert_msg(rule->alternative, "%s offers nothing",
			      rule->id);
		ck_assert_msg(rule->severity >= 1, "%s is nothing", rule->id);
	}
	ab_pack_free(pack);
}
END_TEST

/* --- broken packs -------------------------------------------------------- */

struct broken {
	const char *text, *where, *message;
};

static const struct broken broken[] = {
	{ "rule x deny\n", "p:1:6", "an id looks like" },
	{ "rule x.y maybe\n", "p:1:10", "rule ID" },
	{ "rule x.y deny nasty\n", "p:1:15", "is not 'nasty'" },
	{ "\twhen ls\n", "p:1:2", "needs a block" },
	{ "thing\n", "p:1:1", "begins no block" },
	{ "# c\n\nrule x.y deny\n\twhen ls -Z\n", "p:4:10", "no option" },
	{ "rule x.y deny\n\twhen ls %9\n", "p:2:11", "is no test" },
	{ "rule x.y deny\n\twhen ls \"a\n", "p:2:10", "not closed" },
	{ "rule x.y deny\n\twhen ls \"\\q\"\n", "p:2:11", "no such escape" },
	{ "rule x.y deny\n\twhen ls !\n", "p:2:10", "'!' goes before" },
	{ "rule x.y deny\n\tpath write nowhere\n", "p:2:13", "no class" },
	{ "rule x.y deny\n\tpath eat git\n", "p:2:7", "no access" },
	{ "rule x.y deny\n\tflow remote shell\n", "p:2:2", "flow SOURCE" },
	{ "rule x.y deny\n\tflow sea -> shell\n", "p:2:7", "no source" },
	{ "rule x.y deny\n\tmatch_c a\\z\n", "p:2:11", "no such escape" },
	{ "rule x.y deny\n\tmatch\n", "p:2:2", "nothing behind" },
	{ "rule fs.rm-root deny\nrule x.y deny\nrule x.y ask\n", "p:3:6",
	  "is there already" },
	{ "class git\n", "p:1:7", "there already" },
	{ "class mine\n\tetc/x\n", "p:2:2", "a path begins" },
	{ "program rm\n", "p:1:9", "there already" },
	{ "program none/sub\n", "p:1:9", "no program 'none'" },
	{ "program zz\n\topt x\n", "p:2:6", "begins with '-'" },
	{ "program zz\n\tstyle odd\n", "p:2:2", "style is" },
	{ "program zz\n\tread\n", "p:2:2", "of which words" },
	{ "program zz\n\tread 1 if -q\n", "p:2:12", "no option" },
	{ "program zz\n\tdance 1\n", "p:2:2", "says nothing" },
	{ "program zz\n\tcode python\n", "p:2:2", "LANGUAGE" },
	{ "set a b\nset a c\n", "p:2:5", "there already" },
	{ "rule x.y deny\n\twhen @nothing\n", "p:2:8", "no set" },
	{ "rule parse.limit ask\n", "p:1:18", "cannot be loosened" },
	{ "pack a\n", "p:1:1", "pack NAME VERSION" },
};

START_TEST(a_broken_pack_is_refused_with_its_place)
{
	const struct broken *b = &broken[_i];
	struct ab_pack *pack = base_pack();
	agentbox_error *err = NULL;
	int32_t r = ab_pack_read(pack, AB_LAYER_HOST, "p", b->text,
				 strlen(b->text), &err);

	ck_assert_msg(r < 0, "accepted: %s", b->text);
	ck_assert_str_eq(agentbox_error_get_where(err), b->where);
	ck_assert_msg(strstr(agentbox_error_get_message(err), b->message),
		      "%s", agentbox_error_get_message(err));
	agentbox_error_free(err);
	ab_pack_free(pack);
}
END_TEST

START_TEST(a_pack_with_nul_or_too_many_bytes_is_refused)
{
	static char big[AB_PACK_MAX_BYTES + 1];
	struct ab_pack *pack = base_pack();

	memset(big, '\n', sizeof(big));
	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_HOST, "p", "a\0b", 3,
				      NULL), AGENTBOX_EPARSE);
	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_HOST, "p", big,
				      sizeof(big), NULL), AGENTBOX_ELIMIT);
	ab_pack_free(pack);
}
END_TEST

/* --- layers --------------------------------------------------------------- */

static int32_t add(int32_t layer, const char *text, agentbox_error **err)
{
	agentbox_rules *rules = NULL;
	int32_t r = agentbox_rules_new(&rules, NULL);

	ck_assert_int_eq(r, 0);
	r = agentbox_rules_add(rules, layer, "p", text, strlen(text), err);
	agentbox_rules_free(rules);
	return r;
}

static const char tighter[] =
	"rule exec.sudo deny\n"
	"rule mine.deploy deny high\n"
	"\treason it deploys\n"
	"\tadvice ask the host\n"
	"\twhen deployer --prod\n"
	"\tmatch deployer --prod\n"
	"\tnot_match deployer --dry\n"
	"program deployer-x\n";

static const char with_program[] =
	"program deployer\n"
	"\topt --prod --dry\n"
	"rule mine.deploy deny high\n"
	"\treason it deploys\n"
	"\tadvice ask the host\n"
	"\twhen deployer --prod\n"
	"\tmatch deployer --prod\n"
	"\tmatch sudo deployer --pro\n"
	"\tnot_match deployer --dry\n";

START_TEST(a_project_can_tighten_and_add_but_not_loosen)
{
	agentbox_error *err = NULL;

	ck_assert_int_lt(add(AGENTBOX_RULES_PROJECT, tighter, NULL), 0);
	ck_assert_int_eq(add(AGENTBOX_RULES_PROJECT, with_program, &err), 0);
	ck_assert_int_eq(add(AGENTBOX_RULES_PROJECT, "rule exec.sudo deny\n",
			     &err), 0);
	ck_assert_int_eq(add(AGENTBOX_RULES_PROJECT, "rule fs.rm-root ask\n",
			     NULL), AGENTBOX_EPARSE);
	ck_assert_int_eq(add(AGENTBOX_RULES_PROJECT,
			     "rule mine.x allow low\n\twhen ls\n\tmatch ls\n"
			     "\tnot_match cat\n", NULL), AGENTBOX_EPARSE);
	ck_assert_int_eq(add(AGENTBOX_RULES_HOST, "rule exec.sudo allow\n",
			     &err), 0);
	ck_assert_int_eq(add(AGENTBOX_RULES_HOST, "rule parse.limit ask\n",
			     NULL), AGENTBOX_EPARSE);
}
END_TEST

START_TEST(examples_that_fail_refuse_the_pack)
{
	agentbox_error *err = NULL;

	ck_assert_int_eq(add(AGENTBOX_RULES_HOST,
			     "rule a.b deny\n\treason x\n\twhen ls -l\n"
			     "\tmatch cat\n\tnot_match rm\n", &err),
			 AGENTBOX_EPARSE); /* ls has no -l here */
	agentbox_error_free(err);
	err = NULL;
	ck_assert_int_eq(add(AGENTBOX_RULES_HOST,
			     "rule a.b deny\n\treason x\n\twhen ls\n"
			     "\tmatch cat f\n\tnot_match rm\n", &err),
			 AGENTBOX_EPOLICY);
	ck_assert_str_eq(agentbox_error_get_where(err), "p:4:1");
	agentbox_error_free(err);
	err = NULL;
	ck_assert_int_eq(add(AGENTBOX_RULES_HOST,
			     "rule a.b deny\n\treason x\n\twhen ls\n"
			     "\tmatch ls\n\tnot_match ls -l\n", &err),
			 AGENTBOX_EPOLICY);
	ck_assert_str_eq(agentbox_error_get_where(err), "p:5:1");
	agentbox_error_free(err);
	err = NULL;
	ck_assert_int_eq(add(AGENTBOX_RULES_HOST,
			     "rule a.b deny\n\treason x\n\ttry rm -rf /\n"
			     "\twhen ls\n\tmatch ls\n\tnot_match cat\n", &err),
			 AGENTBOX_EPOLICY);
	agentbox_error_free(err);
	ck_assert_int_eq(add(AGENTBOX_RULES_HOST,
			     "rule a.b deny\n\twhen ls\n\tmatch ls\n", NULL),
			 AGENTBOX_EPOLICY); /* no not_match */
}
END_TEST

static bool torture(void *data)
{
	struct ab_pack *pack = ab_pack_new();
	int32_t r = AGENTBOX_ENOMEM;

	(void)data;
	if (pack)
		r = ab_pack_read(pack, AB_LAYER_BASE, "p", with_program,
				 sizeof(with_program) - 1, NULL);
	ab_pack_free(pack);
	return r == 0;
}

START_TEST(a_pack_survives_every_failed_allocation)
{
	uint64_t failed = ab_torture(torture, NULL, 1000, NULL);

	ck_assert(!ab_torture_available() || failed > 5);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("guard_pack");
	TCase *t = tcase_create("packs");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, the_built_in_pack_proves_itself);
	tcase_add_test(t, every_rule_says_why_and_has_a_severity);
	tcase_add_loop_test(t, a_broken_pack_is_refused_with_its_place, 0,
			    (int)(sizeof(broken) / sizeof(broken[0])));
	tcase_add_test(t, a_pack_with_nul_or_too_many_bytes_is_refused);
	tcase_add_test(t, a_project_can_tighten_and_add_but_not_loosen);
	tcase_add_test(t, examples_that_fail_refuse_the_pack);
	tcase_add_test(t, a_pack_survives_every_failed_allocation);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
