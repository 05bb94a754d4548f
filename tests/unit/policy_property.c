/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties of narrow and contains over random policies from fixed seeds.
 * "In effect" a child is narrow(parent, child): that is what a box is raised
 * from, so that is what the laws speak of.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "agentbox/policy.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "policy/policy.h"
#include "policy_random.h"

/* each is the same under valgrind, which takes a second for some */
#define ROUNDS (ab_test_slowness() > 1 ? 200u : 4000u)

static agentbox_context *context;

static void setup(void)
{
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
}

static void teardown(void)
{
	agentbox_context_unref(context);
}

/* NULL when the random document contradicts itself. */
static agentbox_policy *parse(const json_t *document)
{
	char *text = json_dumps(document, JSON_COMPACT);
	agentbox_policy *p = NULL;
	ab_auto(agentbox_error) *err = NULL;
	int32_t r = agentbox_policy_parse(context, text, strlen(text), &p,
					  &err);

	ck_assert_msg(r == 0 || r == AGENTBOX_EPOLICY, "%s: %s in %s",
		      agentbox_error_name(r), agentbox_error_get_message(err),
		      text);
	free(text);
	return p;
}

static agentbox_policy *random_policy(uint64_t *seed)
{
	for (;;) {
		ab_auto(json_t) *d = policy_random_document(seed);
		agentbox_policy *p = parse(d);

		if (p)
			return p;
	}
}

/* NULL when the child cannot be cut to fit. */
static agentbox_policy *narrow(agentbox_policy *p, agentbox_policy *c)
{
	agentbox_policy *out = NULL;
	ab_auto(agentbox_error) *err = NULL;
	int32_t r = agentbox_policy_narrow(p, c, &out, &err);

	ck_assert_msg(r == 0 || r == AGENTBOX_EDENIED || r == AGENTBOX_EPOLICY,
		      "%s", agentbox_error_get_message(err));
	return out;
}

static void show(const char *what, agentbox_policy *p)
{
	ab_auto(agentbox_bytes) *b = NULL;

	agentbox_policy_to_json(p, &b, NULL);
	fprintf(stderr, "%s: %s\n", what, agentbox_bytes_get_data(b));
}

static void must_contain(agentbox_policy *p, agentbox_policy *c, uint64_t round)
{
	ab_auto(agentbox_error) *err = NULL;

	if (agentbox_policy_contains(p, c, &err) == 0)
		return;
	show("parent", p);
	show("child", c);
	ck_abort_msg("round %llu: %s", (unsigned long long)round,
		     agentbox_error_get_message(err));
}

static void must_equal(agentbox_policy *a, agentbox_policy *b, uint64_t round)
{
	if (strcmp(agentbox_policy_get_digest(a),
		   agentbox_policy_get_digest(b)) == 0)
		return;
	show("one", a);
	show("two", b);
	ck_abort_msg("round %llu: the digests differ",
		     (unsigned long long)round);
}

START_TEST(a_policy_contains_itself_and_narrows_to_itself)
{
	uint64_t seed = 1;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		ab_auto(agentbox_policy) *p = random_policy(&seed);
		ab_auto(agentbox_policy) *n = NULL;

		must_contain(p, p, i);
		n = narrow(p, p);
		ck_assert_ptr_nonnull(n);
		must_equal(p, n, i);
	}
}
END_TEST

START_TEST(the_dump_parses_to_the_same_digest)
{
	uint64_t seed = 2;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		ab_auto(agentbox_policy) *p = random_policy(&seed);
		ab_auto(agentbox_policy) *q = NULL;
		ab_auto(agentbox_bytes) *b = NULL;

		ck_assert_int_eq(agentbox_policy_to_json(p, &b, NULL), 0);
		ck_assert_int_eq(
			agentbox_policy_parse(context,
					      agentbox_bytes_get_data(b),
					      agentbox_bytes_get_size(b), &q,
					      NULL), 0);
		must_equal(p, q, i);
	}
}
END_TEST

START_TEST(a_narrowed_child_is_contained_and_narrows_no_further)
{
	uint64_t seed = 3;
	unsigned narrowed = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		ab_auto(agentbox_policy) *p = random_policy(&seed);
		ab_auto(agentbox_policy) *c = random_policy(&seed);
		ab_auto(agentbox_policy) *n = narrow(p, c);
		ab_auto(agentbox_policy) *again = NULL;

		if (!n)
			continue;
		narrowed++;
		must_contain(p, n, i);
		again = narrow(p, n);
		ck_assert_ptr_nonnull(again);
		must_equal(n, again, i);
	}
	/* the property must not hold for want of cases */
	ck_assert_uint_gt(narrowed, ROUNDS / 4);
}
END_TEST

START_TEST(a_contained_child_loses_nothing_by_narrowing)
{
	uint64_t seed = 4;
	unsigned contained = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		ab_auto(agentbox_policy) *p = random_policy(&seed);
		ab_auto(agentbox_policy) *c = random_policy(&seed);
		ab_auto(agentbox_policy) *n = narrow(p, c);

		/* an arbitrary child rarely fits; its narrowed form does */
		if (i % 2 && n) {
			agentbox_policy_unref(c);
			c = agentbox_policy_ref(n);
			agentbox_policy_unref(n);
			n = narrow(p, c);
		}
		if (!n || agentbox_policy_contains(p, c, NULL) != 0)
			continue;
		contained++;
		must_contain(n, c, i);
	}
	ck_assert_uint_gt(contained, ROUNDS / 10);
}
END_TEST

START_TEST(containment_in_effect_is_transitive)
{
	uint64_t seed = 5;
	unsigned chains = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		ab_auto(agentbox_policy) *a = random_policy(&seed);
		ab_auto(agentbox_policy) *b = random_policy(&seed);
		ab_auto(agentbox_policy) *c = random_policy(&seed);
		ab_auto(agentbox_policy) *ab = narrow(a, b);
		ab_auto(agentbox_policy) *abc = ab ? narrow(ab, c) : NULL;

		if (!abc)
			continue;
		chains++;
		must_contain(a, abc, i);
	}
	ck_assert_uint_gt(chains, ROUNDS / 8);
}
END_TEST

START_TEST(what_asks_for_more_is_never_contained)
{
	uint64_t seed = 6;
	unsigned widened = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		ab_auto(json_t) *d = policy_random_document(&seed);
		ab_auto(agentbox_policy) *p = parse(d);
		ab_auto(agentbox_policy) *c = NULL;
		ab_auto(agentbox_policy) *n = NULL;
		const char *pointer;
		bool always = false;
		ab_auto(agentbox_error) *err = NULL;

		if (!p)
			continue;
		pointer = policy_random_widen(&seed, d, &always);
		c = parse(d);
		if (!c)
			continue;
		n = narrow(p, c);
		/* the widening may be no widening for this parent: then the
		   effect is the parent's own value, which must still hold */
		if (agentbox_policy_contains(p, c, &err) == 0) {
			ck_assert_msg(!always, "%s was let through", pointer);
			ck_assert_ptr_nonnull(n);
			must_contain(p, n, i);
			must_contain(n, c, i);
			continue;
		}
		widened++;
		ck_assert_int_eq(agentbox_error_get_code(err),
				 AGENTBOX_EDENIED);
		ck_assert_msg(strncmp(agentbox_error_get_where(err), pointer,
				      strcspn(pointer + 1, "/") + 1) == 0,
			      "%s is not at %s: %s",
			      agentbox_error_get_where(err), pointer,
			      agentbox_error_get_message(err));
	}
	ck_assert_uint_gt(widened, ROUNDS / 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_property");
	TCase *t = tcase_create("random");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_policy_contains_itself_and_narrows_to_itself);
	tcase_add_test(t, the_dump_parses_to_the_same_digest);
	tcase_add_test(t, a_narrowed_child_is_contained_and_narrows_no_further);
	tcase_add_test(t, a_contained_child_loses_nothing_by_narrowing);
	tcase_add_test(t, containment_in_effect_is_transitive);
	tcase_add_test(t, what_asks_for_more_is_never_contained);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
