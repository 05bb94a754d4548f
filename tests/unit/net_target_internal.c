/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hosts and addresses: rows of tests/data/net-target.jsonl {id, how, in,
 * out}: `how` is host, bare, authority or name, `out` the canonical text or
 * the reason; rows of net-ranges.jsonl {id, address, class, row?}; the edges
 * of every row of the table; Python's ipaddress on the same literals.
 */
#include "config.h"

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/attr.h"
#include "net/ranges.h"
#include "net/target.h"
#include "net_rows.h"

/* --- targets ------------------------------------------------------------ */

static enum ab_target_reason parse(const char *how, const char *s, size_t n,
				   ab_target *t)
{
	if (strcmp(how, "host") == 0)
		return ab_target_host(s, n, t);
	if (strcmp(how, "bare") == 0)
		return ab_target_bare_host(s, n, t);
	if (strcmp(how, "name") == 0)
		return ab_target_only_name(s, n, t);
	if (strcmp(how, "authority80") == 0)
		return ab_target_authority(s, n, 80, t);
	ck_assert_str_eq(how, "authority");
	return ab_target_authority(s, n, 0, t);
}

static void target_row(const json_t *row, const char *id)
{
	static const ab_target zero;
	char text[AB_TARGET_TEXT_SIZE];
	ab_target t;
	ab_target again;
	size_t n;
	char *in = net_take(row, "in", &n);
	enum ab_target_reason reason = parse(net_text(row, "how"), in, n, &t);

	free(in);
	if (reason) {
		ck_assert_msg(memcmp(&t, &zero, sizeof(t)) == 0,
			      "%s: refused and yet a target", id);
		snprintf(text, sizeof(text), "%s",
			 ab_target_reason_name(reason));
	} else {
		ab_target_text(&t, 0, text);
		/* what is written is read as the same */
		ck_assert_int_eq(ab_target_authority(text, strlen(text),
						     1, &again),
				 0);
		ck_assert(ab_target_same_host(&t, &again));
		ck_assert(t.port == 0 || t.port == again.port);
	}
	ck_assert_msg(strcmp(text, net_text(row, "out")) == 0, "%s: %s", id,
		      text);
}

START_TEST(hosts_have_one_spelling)
{
	net_each_row("net-target.jsonl", 100, target_row);
}
END_TEST

START_TEST(the_locale_does_not_fold)
{
	/* i and I are no pair in Turkish; skipped silently where it is absent:
	   the rows then run under C once more */
	setlocale(LC_ALL, "tr_TR.UTF-8");
	net_each_row("net-target.jsonl", 100, target_row);
	setlocale(LC_ALL, "C");
}
END_TEST

/* --- ranges ------------------------------------------------------------- */

static const char *const classes[] = { "never", "metadata", "private",
				       "public" };

static enum ab_range_class class_of(const char *text, const ab_range **row)
{
	ab_address a;

	ck_assert_msg(ab_address_parse(text, strlen(text), &a), "%s", text);
	return ab_range_of(&a, row);
}

static void range_row(const json_t *row, const char *id)
{
	const char *text = net_text(row, "address");
	const char *name = net_text(row, "name");
	const char *want = net_text(row, "class");
	const ab_range *found = NULL;
	enum ab_range_class got;

	if (name)
		got = ab_name_class(name, strlen(name));
	else
		got = class_of(text, &found);
	ck_assert_msg(strcmp(classes[got], want) == 0, "%s: %s is %s", id,
		      name ? name : text, classes[got]);
	if (net_text(row, "row"))
		ck_assert_msg(found && strcmp(found->name,
					      net_text(row, "row")) == 0,
			      "%s: by %s", id, found ? found->name : "nothing");
	if (!name)
		ck_assert((found == NULL) == (got == AB_RANGE_PUBLIC));
}

START_TEST(special_ranges_are_known)
{
	net_each_row("net-ranges.jsonl", 100, range_row);
}
END_TEST

/* The last address of a row. */
static ab_address last_of(const ab_range *row)
{
	ab_address a = { .family = row->family };
	unsigned bits = row->family == AB_ADDRESS_IPV4 ? 32 : 128;

	memcpy(a.bytes, row->address, 16);
	for (unsigned i = row->prefix; i < bits; i++)
		a.bytes[i / 8] |= (uint8_t)(0x80u >> (i % 8));
	return a;
}

/* The address before (step -1) or after; false at the end of the space. */
static bool neighbour(ab_address *a, int step)
{
	int n = a->family == AB_ADDRESS_IPV4 ? 4 : 16;

	for (int i = n - 1; i >= 0; i--) {
		a->bytes[i] = (uint8_t)(a->bytes[i] + step);
		if (a->bytes[i] != (step > 0 ? 0 : 0xff))
			return true;
	}
	return false;
}

START_TEST(both_edges_of_every_range_are_in_it)
{
	size_t count;
	const ab_range *table = ab_range_table(&count);

	for (size_t i = 0; i < count; i++) {
		ab_address first = { .family = table[i].family };
		ab_address last = last_of(&table[i]);

		memcpy(first.bytes, table[i].address, 16);
		ck_assert_msg(ab_range_of(&first, NULL) <= table[i].class_,
			      "first of %s", table[i].name);
		ck_assert_msg(ab_range_of(&last, NULL) <= table[i].class_,
			      "last of %s", table[i].name);
		ck_assert(table[i].source[0]);
		ck_assert(ab_range_overlaps_special(table[i].family,
						    table[i].address,
						    table[i].prefix));
	}
}
END_TEST

/* Beside a range is what the table's other rows say, never its own. */
START_TEST(beside_a_range_its_row_does_not_decide)
{
	size_t count;
	const ab_range *table = ab_range_table(&count);
	const ab_range *row;

	for (size_t i = 0; i < count; i++) {
		ab_address before = { .family = table[i].family };
		ab_address after = last_of(&table[i]);

		memcpy(before.bytes, table[i].address, 16);
		if (neighbour(&before, -1)) {
			ab_range_of(&before, &row);
			ck_assert(row != &table[i]);
		}
		if (neighbour(&after, 1)) {
			ab_range_of(&after, &row);
			ck_assert(row != &table[i]);
		}
	}
}
END_TEST

/* --- Python's ipaddress ------------------------------------------------- */

static uint32_t state = 12345;

static uint32_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/* Literals, near-literals and rubbish of the same letters. */
static void random_literal(char *out)
{
	static const char four[] = "0123456789..";
	static const char six[] = "0123456789abcdefABF::::..";
	const char *letters = next_random() & 1 ? four : six;
	size_t n = 1 + next_random() % 24;
	ab_address a = { .family = next_random() & 1 ? 4 : 6 };

	switch (next_random() % 3) {
	case 0:
		for (size_t i = 0; i < n; i++)
			out[i] = letters[next_random() % strlen(letters)];
		out[n] = '\0';
		return;
	default:
		for (size_t i = 0; i < (a.family == 4 ? 4 : 16); i++)
			a.bytes[i] = next_random() & 3 ? 0 :
							 (uint8_t)next_random();
		ab_address_text(&a, out);
		/* sometimes with one byte changed */
		if (next_random() % 2)
			out[next_random() % strlen(out)] =
				six[next_random() % strlen(six)];
	}
}

static const char script[] =
	"import ipaddress, sys\n"
	"for line in sys.stdin:\n"
	"    text, ours, klass = line.rstrip('\\n').split(' ')\n"
	"    try:\n"
	"        a = ipaddress.ip_address(text)\n"
	"    except ValueError:\n"
	"        a = None\n"
	"    theirs = str(a) if a is not None else '-'\n"
	/* ipaddress writes ::ffff:a.b.c.d in hexadecimal as we do */
	"    if theirs != ours:\n"
	"        print('reads', text, 'as', theirs, 'we', ours)\n"
	"    if a is None:\n"
	"        continue\n"
	"    m = getattr(a, 'ipv4_mapped', None)\n"
	"    a = m if m is not None else a\n"
	"    bad = (not a.is_global or a.is_multicast or a.is_reserved)\n"
	"    if bad and klass == 'public':\n"
	"        print('calls', text, 'special; we', klass)\n"
	"print('end')\n";

START_TEST(python_reads_the_same_literals_and_calls_none_of_ours_private)
{
	char name[4096];
	char line[512];
	char command[8300];
	FILE *f;

	snprintf(name, sizeof(name), "%s/literals", ab_test_tmpdir());
	f = fopen(name, "we");
	ck_assert_ptr_nonnull(f);
	for (int i = 0; i < 40000; i++) {
		char text[64];
		char ours[AB_ADDRESS_TEXT_SIZE] = "-";
		const char *klass = "-";
		ab_address a;

		random_literal(text);
		if (ab_address_parse(text, strlen(text), &a)) {
			ab_address_text(&a, ours);
			klass = classes[ab_range_of(&a, NULL)];
		}
		fprintf(f, "%s %s %s\n", text, ours, klass);
	}
	fclose(f);
	snprintf(line, sizeof(line), "%s/peer.py", ab_test_tmpdir());
	f = fopen(line, "we");
	ck_assert_ptr_nonnull(f);
	fputs(script, f);
	fclose(f);
	snprintf(command, sizeof(command), "python3 -B '%s' <'%s'", line, name);
	f = popen(command, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	ck_assert_str_eq(line, "end\n");
	ck_assert_int_eq(pclose(f), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("net_target");
	TCase *tc = tcase_create("net_target");
	SRunner *sr;
	int bad;

	tcase_add_test(tc, hosts_have_one_spelling);
	tcase_add_test(tc, the_locale_does_not_fold);
	tcase_add_test(tc, special_ranges_are_known);
	tcase_add_test(tc, both_edges_of_every_range_are_in_it);
	tcase_add_test(tc, beside_a_range_its_row_does_not_decide);
	tcase_add_test(
		tc,
		python_reads_the_same_literals_and_calls_none_of_ours_private);
	tcase_set_timeout(tc, 60 * ab_test_slowness());
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
