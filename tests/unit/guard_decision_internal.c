/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lib/guard: decisions and places, without any check behind them. */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "agentbox/guard.h"
#include "base/alloc.h"
#include "base/attr.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/limits.h"
#include "guard/decision.h"
#include "guard/place.h"

#define LINE "cd /tmp && sudo rm -rf /"

static const struct ab_finding ask = {
	.verdict = AGENTBOX_VERDICT_ASK,
	.severity = AGENTBOX_SEVERITY_CRITICAL,
	.rule = "a.ask",
	.reason = "somebody should look",
	.command = AB_NO_COMMAND,
};

static const struct ab_finding deny = {
	.verdict = AGENTBOX_VERDICT_DENY,
	.severity = AGENTBOX_SEVERITY_LOW,
	.rule = "a.deny",
	.reason = "it removes \"/\"",
	.alternative = "name a directory",
	.span = { 15, 24 },
	.command = 0,
};

static agentbox_decision *begin(const char *text, size_t n)
{
	agentbox_decision *d = NULL;

	ck_assert_ptr_nonnull(ab_decision_use(&d, NULL));
	ck_assert_int_eq(ab_decision_begin(d, NULL, AB_DECIDE_SHELL, text, n,
					   4096, NULL), 0);
	return d;
}

static void add_rm(agentbox_decision *d)
{
	static const char *const wrappers[] = { "sudo" };
	struct ab_word words[] = {
		{ .text = "rm", .len = 2, .span = { 15, 17 } },
		{ .text = "-rf", .len = 3, .span = { 18, 21 } },
		{ .text = "/", .len = 1, .span = { 22, 24 } },
	};
	struct ab_resolved rm = { words, 3, wrappers, 1 };

	ck_assert_uint_eq(ab_decision_add_command(d, &rm, true), 0);
	memset(words, 0, sizeof(words)); /* it was copied */
}

START_TEST(a_decision_nobody_ended_is_a_denial)
{
	agentbox_decision *d = NULL;

	ck_assert_int_eq(agentbox_decision_get_verdict(NULL),
			 AGENTBOX_VERDICT_DENY);
	ck_assert_int_eq(agentbox_decision_new(&d, NULL), 0);
	ck_assert_int_eq(agentbox_decision_get_verdict(d),
			 AGENTBOX_VERDICT_DENY);
	ck_assert_str_eq(agentbox_decision_get_rule(d), "guard.unfinished");
	ck_assert_int_eq(ab_decision_begin(d, NULL, AB_DECIDE_SHELL, "x", 1, 0,
					   NULL), 0);
	ck_assert_int_eq(agentbox_decision_get_verdict(d),
			 AGENTBOX_VERDICT_DENY);
	ck_assert_int_eq(ab_decision_end(d, AGENTBOX_VERDICT_ALLOW),
			 AGENTBOX_VERDICT_ALLOW);
	ck_assert_int_eq(agentbox_decision_get_verdict(d),
			 AGENTBOX_VERDICT_ALLOW);
	ck_assert_str_eq(agentbox_decision_get_rule(d), "");
	/* used again, it is a denial at once */
	ck_assert_ptr_eq(ab_decision_use(&d, NULL), d);
	ck_assert_int_eq(agentbox_decision_get_verdict(d),
			 AGENTBOX_VERDICT_DENY);
	agentbox_decision_free(d);
}
END_TEST

START_TEST(the_worst_finding_decides)
{
	agentbox_decision *d = begin(LINE, strlen(LINE));

	ab_decision_add(d, &ask);
	ab_decision_add(d, &deny);
	ab_decision_add(d, &ask);
	ck_assert_int_eq(ab_decision_end(d, AGENTBOX_VERDICT_ALLOW),
			 AGENTBOX_VERDICT_DENY);
	ck_assert_str_eq(agentbox_decision_get_rule(d), "a.deny");
	ck_assert_int_eq(agentbox_decision_get_severity(d),
			 AGENTBOX_SEVERITY_LOW);
	ck_assert_uint_eq(agentbox_decision_get_begin(d), 15);
	ck_assert_uint_eq(agentbox_decision_get_end(d), 24);
	agentbox_decision_free(d);
}
END_TEST

START_TEST(of_equals_the_first_decides)
{
	agentbox_decision *d = begin(LINE, strlen(LINE));
	struct ab_finding second = ask;

	second.rule = "b.ask";
	ab_decision_add(d, &ask);
	ab_decision_add(d, &second);
	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	ck_assert_str_eq(agentbox_decision_get_rule(d), "a.ask");
	ck_assert_str_eq(agentbox_decision_get_alternative(d), "");
	agentbox_decision_free(d);
}
END_TEST

/* The least verdict of the end against one finding; 0: there is none. */
START_TEST(the_end_is_the_worse_of_both)
{
	static const struct {
		int32_t base, found, verdict;
		const char *rule;
	} rows[] = {
		{ 1, 0, 1, "" },	{ 1, 1, 1, "a.ask" },
		{ 1, 2, 2, "a.ask" },	{ 1, 3, 3, "a.ask" },
		{ 2, 0, 2, "guard.unfinished" },
		{ 2, 1, 2, "guard.unfinished" },
		{ 2, 2, 2, "a.ask" },	{ 2, 3, 3, "a.ask" },
		{ 3, 0, 3, "guard.unfinished" },
		{ 3, 2, 3, "guard.unfinished" },
		{ 3, 3, 3, "a.ask" },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		agentbox_decision *d = begin("x", 1);
		struct ab_finding f = ask;

		f.verdict = rows[i].found;
		if (f.verdict)
			ab_decision_add(d, &f);
		ck_assert_int_eq(ab_decision_end(d, rows[i].base),
				 rows[i].verdict);
		ck_assert_str_eq(agentbox_decision_get_rule(d), rows[i].rule);
		agentbox_decision_free(d);
	}
}
END_TEST

START_TEST(no_verdict_is_a_denial)
{
	static const int32_t odd[] = { AGENTBOX_VERDICT_NONE, -1, 4, 1000 };

	for (size_t i = 0; i < AB_ARRAY_LEN(odd); i++) {
		agentbox_decision *d = begin("x", 1);
		struct ab_finding f = ask;

		ck_assert_int_eq(ab_decision_end(d, odd[i]),
				 AGENTBOX_VERDICT_DENY);
		ck_assert_str_ne(agentbox_decision_get_reason(d), "");
		ab_decision_begin(d, NULL, AB_DECIDE_SHELL, "x", 1, 0, NULL);
		f.verdict = odd[i];
		ab_decision_add(d, &f);
		ck_assert_int_eq(ab_decision_end(d, AGENTBOX_VERDICT_ALLOW),
				 AGENTBOX_VERDICT_DENY);
		agentbox_decision_free(d);
	}
}
END_TEST

START_TEST(what_was_lost_is_a_denial)
{
	agentbox_decision *d = begin("x", 1);

	ab_decision_add(d, &ask);
	ab_decision_fail(d);
	ck_assert_int_eq(ab_decision_end(d, AGENTBOX_VERDICT_ALLOW),
			 AGENTBOX_VERDICT_DENY);
	ck_assert_str_eq(agentbox_decision_get_rule(d), "guard.limit");
	ab_decision_begin(d, NULL, AB_DECIDE_SHELL, "x", 1, 0, NULL);
	ck_assert_ptr_null(ab_arena_low(&d->arena, (size_t)1 << 40));
	ck_assert_int_eq(ab_decision_end(d, AGENTBOX_VERDICT_ALLOW),
			 AGENTBOX_VERDICT_DENY);
	agentbox_decision_free(d);
}
END_TEST

START_TEST(more_findings_than_are_kept_still_decide)
{
	agentbox_decision *d = begin("x", 1);
	agentbox_bytes *json = NULL;

	for (int i = 0; i < AB_MAX_FINDINGS + 5; i++)
		ab_decision_add(d, &ask);
	ab_decision_add(d, &deny);
	ck_assert_int_eq(ab_decision_end(d, AGENTBOX_VERDICT_ALLOW),
			 AGENTBOX_VERDICT_DENY);
	ck_assert_int_eq(agentbox_decision_to_json(d, &json, NULL), 0);
	ck_assert_ptr_nonnull(strstr(agentbox_bytes_get_data(json),
				     "\"findings_left_out\":6"));
	agentbox_bytes_free(json);
	agentbox_decision_free(d);
}
END_TEST

START_TEST(the_command_that_decided_is_shown)
{
	agentbox_decision *d = begin(LINE, strlen(LINE));
	size_t n = 0;

	add_rm(d);
	ab_decision_add(d, &deny);
	ck_assert_uint_eq(agentbox_decision_get_argc(d), 0);
	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	ck_assert_uint_eq(agentbox_decision_get_argc(d), 3);
	ck_assert_str_eq(agentbox_decision_get_arg(d, 1, &n), "-rf");
	ck_assert_uint_eq(n, 3);
	ck_assert_ptr_null(agentbox_decision_get_arg(d, 3, &n));
	ck_assert_str_eq(agentbox_decision_get_wrapper(d, 0), "sudo");
	ck_assert_ptr_null(agentbox_decision_get_wrapper(d, 1));
	agentbox_decision_free(d);
}
END_TEST

/* The command of a finding; with none the first, if there is no other or
   nothing was found. */
START_TEST(no_command_is_shown_that_may_be_the_wrong_one)
{
	for (uint32_t commands = 0; commands < 3; commands++) {
		for (int finding = 0; finding < 3; finding++) {
			agentbox_decision *d = begin(LINE, strlen(LINE));
			struct ab_finding f = ask;
			bool shown = commands && (finding != 1 ||
						  commands == 1);

			for (uint32_t i = 0; i < commands; i++) {
				struct ab_word w = { .text = i ? "b" : "a",
						     .len = 1 };
				struct ab_resolved c = { &w, 1, NULL, 0 };

				ck_assert_uint_eq(ab_decision_add_command(
							  d, &c, true), i);
			}
			f.command = finding == 1 || !commands ?
					    AB_NO_COMMAND :
					    commands - 1;
			if (finding)
				ab_decision_add(d, &f);
			ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
			ck_assert_uint_eq(agentbox_decision_get_argc(d), shown);
			if (shown)
				ck_assert_str_eq(
					agentbox_decision_get_arg(d, 0, NULL),
					finding == 2 && commands == 2 ? "b" :
									"a");
			agentbox_decision_free(d);
		}
	}
}
END_TEST

START_TEST(so_many_commands_are_kept_and_no_more)
{
	agentbox_decision *d = begin("x", 1);
	struct ab_word w = { .text = "x", .len = 1 };
	struct ab_resolved c = { &w, 1, NULL, 0 };
	size_t room = 128 * AB_MAX_COMMANDS;

	ck_assert_int_eq(ab_decision_begin(d, NULL, AB_DECIDE_SHELL, "x", 1,
					   room, NULL), 0);
	for (uint32_t i = 0; i < AB_MAX_SHOWN_COMMANDS; i++)
		ck_assert_uint_eq(ab_decision_add_command(d, &c, false), i);
	ck_assert_uint_eq(ab_decision_add_command(d, &c, false),
			  AB_NO_COMMAND);
	for (uint32_t i = AB_MAX_SHOWN_COMMANDS; i < AB_MAX_COMMANDS; i++)
		ck_assert_uint_eq(ab_decision_add_command(d, &c, true), i);
	ck_assert_uint_eq(ab_decision_add_command(d, &c, true),
			  AB_NO_COMMAND);
	ck_assert_int_eq(ab_decision_end(d, AGENTBOX_VERDICT_ALLOW),
			 AGENTBOX_VERDICT_ALLOW);
	agentbox_decision_free(d);
}
END_TEST

/* Wherever the memory ends. */
START_TEST(a_command_that_cannot_be_copied_is_a_denial)
{
	bool was_kept = false;

	for (size_t used = 0; used < 9000; used += 8) {
		agentbox_decision *d = begin(LINE, strlen(LINE));
		struct ab_word words[] = { { .text = "rm", .len = 2 },
					   { .text = "/", .len = 1 } };
		static const char *const wrappers[] = { "sudo" };
		struct ab_resolved c = { words, 2, wrappers, 1 };
		uint32_t index;

		if (!ab_arena_low(&d->arena, used)) {
			agentbox_decision_free(d);
			break;
		}
		index = ab_decision_add_command(d, &c, true);
		ck_assert_int_eq(ab_decision_end(d, AGENTBOX_VERDICT_ALLOW),
				 index == 0 ? AGENTBOX_VERDICT_ALLOW :
					      AGENTBOX_VERDICT_DENY);
		was_kept |= index == 0;
		ck_assert(index == 0 || index == AB_NO_COMMAND);
		agentbox_decision_free(d);
	}
	ck_assert(was_kept);
}
END_TEST

START_TEST(json_holds_any_bytes)
{
	static const char odd[] = "a\0b\xff\"\\\n\x7f\xc3\xa9\xed\xa0\x80";
	agentbox_decision *d = begin(odd, sizeof(odd) - 1);
	agentbox_bytes *json = NULL;
	json_t *tree;

	add_rm(d);
	ab_decision_add(d, &deny);
	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	ck_assert_int_eq(agentbox_decision_to_json(d, &json, NULL), 0);
	tree = json_loads(agentbox_bytes_get_data(json), 0, NULL);
	ck_assert_ptr_nonnull(tree);
	ck_assert_str_eq(json_string_value(json_object_get(tree, "subject")),
			 "a\xef\xbf\xbd" "b\xef\xbf\xbd\"\\\n\x7f\xc3\xa9"
			 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	ck_assert_str_eq(json_string_value(json_object_get(tree, "verdict")),
			 "deny");
	ck_assert_str_eq(json_string_value(json_array_get(
				 json_object_get(tree, "argv"), 2)), "/");
	ck_assert_uint_eq(json_array_size(json_object_get(tree, "findings")),
			  1);
	json_decref(tree);
	agentbox_bytes_free(json);
	agentbox_decision_free(d);
}
END_TEST

START_TEST(people_see_carets_below_what_was_found)
{
	agentbox_decision *d = begin(LINE, strlen(LINE));
	agentbox_bytes *text = NULL;

	add_rm(d);
	ab_decision_add(d, &deny);
	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	ck_assert_int_eq(agentbox_decision_explain(d, &text, NULL), 0);
	ck_assert_str_eq(agentbox_bytes_get_data(text),
			 "deny a.deny: it removes \"/\"\n"
			 "  deny a.deny (low): it removes \"/\"\n"
			 "    cd /tmp && sudo rm -rf /\n"
			 "                   ^^^^^^^^^\n"
			 "    instead: name a directory\n"
			 "commands as they would be run:\n"
			 "  [sudo] rm -rf /\n"
			 "    from 15-17 18-21 22-24\n");
	agentbox_bytes_free(text);
	agentbox_decision_free(d);
}
END_TEST

START_TEST(a_line_cannot_write_on_the_terminal)
{
	static const char odd[] = "a\x1b[2J\r\n\x9b\xc2\x9b\xe2\x80\xae\xff\t";
	agentbox_decision *d = begin(odd, sizeof(odd) - 1);
	agentbox_bytes *text = NULL;
	const char *p;

	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	ck_assert_int_eq(agentbox_decision_explain(d, &text, NULL), 0);
	for (p = agentbox_bytes_get_data(text); *p; p++)
		ck_assert(*p == '\n' || (*p >= ' ' && *p < 0x7f));
	ck_assert_ptr_nonnull(strstr(agentbox_bytes_get_data(text),
				     "a\\x1b[2J\\x0d\\n\\x9b\\xc2\\x9b"));
	agentbox_bytes_free(text);
	agentbox_decision_free(d);
}
END_TEST

/* A rule's words may be those of a project. */
START_TEST(a_rule_cannot_write_on_the_terminal)
{
	static const char *const wrappers[] = { "su\x1b[1mdo" };
	struct ab_word word = { .text = "x", .len = 1 };
	struct ab_resolved command = { &word, 1, wrappers, 1 };
	struct ab_finding odd = deny;
	agentbox_decision *d = begin("x", 1);
	agentbox_bytes *text = NULL;

	odd.rule = "a.\x1b[2J";
	odd.reason = "\xe2\x80\xae\xd8\x9c\xc2\x9b\x7f \xe8\xb5\xa4\xc3\xa4";
	odd.alternative = "\xef\xbb\xbf\xe2\x81\xa6\xf3\xa0\x80\x81\r";
	ck_assert_uint_eq(ab_decision_add_command(d, &command, true), 0);
	ab_decision_add(d, &odd);
	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	ck_assert_int_eq(agentbox_decision_explain(d, &text, NULL), 0);
	ck_assert_str_eq(agentbox_bytes_get_data(text),
			 "deny a.\\x1b[2J: \\xe2\\x80\\xae\\xd8\\x9c\\xc2"
			 "\\x9b\\x7f \xe8\xb5\xa4\xc3\xa4\n"
			 "  deny a.\\x1b[2J (low): \\xe2\\x80\\xae\\xd8\\x9c"
			 "\\xc2\\x9b\\x7f \xe8\xb5\xa4\xc3\xa4\n"
			 "    x\n"
			 "    instead: \\xef\\xbb\\xbf\\xe2\\x81\\xa6\\xf3"
			 "\\xa0\\x80\\x81\\x0d\n"
			 "commands as they would be run:\n"
			 "  [su\\x1b[1mdo] x\n"
			 "    from 0-0\n");
	agentbox_bytes_free(text);
	agentbox_decision_free(d);
}
END_TEST

static const struct {
	const char *bytes;
	bool is_shown;
} characters[] = {
	{ "\x1f", false },	    { " ", true },
	{ "~", true },		    { "\x7f", false },
	{ "\xc2\x80", false },	    { "\xc2\xa0", false },
	{ "\xc2\xa1", true },	    { "\xc2\xac", true },
	{ "\xc2\xad", false },	    { "\xc2\xae", true },
	{ "\xd8\x9b", true },	    { "\xd8\x9c", false },
	{ "\xd8\x9d", true },	    { "\xe2\x80\x8a", true },
	{ "\xe2\x80\x8b", false }, { "\xe2\x80\x8f", false },
	{ "\xe2\x80\x90", true },  { "\xe2\x80\xa7", true },
	{ "\xe2\x80\xa8", false }, { "\xe2\x80\xae", false },
	{ "\xe2\x80\xaf", true },  { "\xe2\x81\x9f", true },
	{ "\xe2\x81\xa0", false }, { "\xe2\x81\xaf", false },
	{ "\xe2\x81\xb0", true },  { "\xef\xbb\xbe", true },
	{ "\xef\xbb\xbf", false }, { "\xef\xbc\x80", true },
	{ "\xf3\x9f\xbf\xbf", true },
	{ "\xf3\xa0\x80\x80", false },
	{ "\xf3\xa0\xbf\xbf", false },
	{ "\xf3\xa1\x80\x80", true }, { "\xed\xa0\x80", false },
};

/* In a rule each is shown as it is or spelled out; in the line none that may
   be wider than a column is shown. */
START_TEST(a_character_is_shown_or_spelled_out)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(characters); i++) {
		const char *bytes = characters[i].bytes;
		agentbox_decision *d = begin(bytes, strlen(bytes));
		struct ab_finding odd = ask;
		agentbox_bytes *text = NULL;
		char hex[32] = "", in_rule[64], in_line[64];

		for (size_t k = 0; bytes[k]; k++)
			snprintf(hex + 4 * k, 5, "\\x%02x",
				 (unsigned char)bytes[k]);
		snprintf(in_rule, sizeof(in_rule), "a.ask: %s\n",
			 characters[i].is_shown ? bytes : hex);
		snprintf(in_line, sizeof(in_line), "\n    %s\n",
			 characters[i].is_shown && strlen(bytes) < 3 ? bytes :
								       hex);
		odd.reason = bytes;
		odd.span = (struct ab_span){ 0, (uint32_t)strlen(bytes) };
		ab_decision_add(d, &odd);
		ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
		ck_assert_int_eq(agentbox_decision_explain(d, &text, NULL), 0);
		ck_assert_msg(strstr(agentbox_bytes_get_data(text), in_rule) &&
			      strstr(agentbox_bytes_get_data(text), in_line),
			      "%zu: %s", i, agentbox_bytes_get_data(text));
		agentbox_bytes_free(text);
		agentbox_decision_free(d);
	}
}
END_TEST

/* What an ALLOW says of its commands, and words that need quotes. */
START_TEST(json_names_the_command_of_an_allow_if_there_is_one)
{
	for (uint32_t commands = 0; commands < 3; commands++) {
		agentbox_decision *d = begin(LINE, strlen(LINE));
		agentbox_bytes *json = NULL, *text = NULL;
		struct ab_word w[] = { { .text = "a b", .len = 3 },
				       { .text = "", .len = 0 },
				       { .text = "c'", .len = 2 },
				       { .text = "d", .len = 1 } };
		struct ab_resolved c = { w, 4, NULL, 0 };

		for (uint32_t i = 0; i < commands; i++)
			ab_decision_add_command(d, &c, false);
		ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
		ck_assert_int_eq(agentbox_decision_to_json(d, &json, NULL), 0);
		ck_assert_int_eq(!!strstr(agentbox_bytes_get_data(json),
					  "\"argv\":[\"a b\",\"\",\"c'\","
					  "\"d\"]"), commands == 1);
		ck_assert_ptr_null(strstr(agentbox_bytes_get_data(json),
					  "left_out"));
		ck_assert_int_eq(agentbox_decision_explain(d, &text, NULL), 0);
		ck_assert_int_eq(!!strstr(agentbox_bytes_get_data(text),
					  "'a b' '' 'c'' d\n"),
				 commands > 0);
		agentbox_bytes_free(text);
		agentbox_bytes_free(json);
		agentbox_decision_free(d);
	}
}
END_TEST

START_TEST(a_severity_has_its_name)
{
	static const struct {
		int32_t severity;
		const char *name;
	} rows[] = { { -1, "critical" }, { 0, "none" },	  { 1, "low" },
		     { 2, "medium" },	 { 3, "high" },	  { 4, "critical" },
		     { 5, "critical" } };

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		agentbox_decision *d = begin("x", 1);
		struct ab_finding f = ask;
		agentbox_bytes *json = NULL;
		char wanted[64];

		f.severity = rows[i].severity;
		ab_decision_add(d, &f);
		ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
		snprintf(wanted, sizeof(wanted), "\"severity\":\"%s\",",
			 rows[i].name);
		ck_assert_int_eq(agentbox_decision_to_json(d, &json, NULL), 0);
		ck_assert_ptr_nonnull(strstr(agentbox_bytes_get_data(json),
					     wanted));
		/* and no place where there is none */
		ck_assert_ptr_null(strstr(agentbox_bytes_get_data(json),
					  "\"span\""));
		agentbox_bytes_free(json);
		agentbox_decision_free(d);
	}
}
END_TEST

START_TEST(a_span_beyond_the_text_is_harmless)
{
	agentbox_decision *d = begin("short", 5);
	struct ab_finding f = deny;
	agentbox_bytes *text = NULL;

	f.span = (struct ab_span){ 3, 4000000000u };
	f.command = 77;
	ab_decision_add(d, &f);
	f.span = (struct ab_span){ 4000000000u, 3 };
	ab_decision_add(d, &f);
	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	ck_assert_int_eq(agentbox_decision_explain(d, &text, NULL), 0);
	ck_assert_uint_eq(agentbox_decision_get_argc(d), 0);
	agentbox_bytes_free(text);
	agentbox_decision_free(d);
}
END_TEST

START_TEST(a_second_check_of_the_size_allocates_nothing)
{
	agentbox_decision *d = begin(LINE, strlen(LINE));

	if (!ab_torture_available()) {
		agentbox_decision_free(d);
		return;
	}
	ab_alloc_fail_after(0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(ab_decision_begin(d, NULL, AB_DECIDE_SHELL,
						   LINE, strlen(LINE), 4096,
						   NULL), 0);
		add_rm(d);
		ab_decision_add(d, &deny);
		ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	}
	ck_assert_uint_eq(ab_alloc_count(), 0);
	agentbox_decision_free(d);
}
END_TEST

/* A large room serves the next large check, and no small one keeps it. */
START_TEST(a_large_room_stays_while_checks_are_large)
{
	const size_t large = (size_t)20 << 20;
	agentbox_decision *d = begin(LINE, strlen(LINE));
	const size_t small = d->memory_size;
	size_t have;

	ck_assert_int_eq(ab_decision_begin(d, NULL, AB_DECIDE_SHELL, LINE,
					   strlen(LINE), large, NULL), 0);
	have = d->memory_size;
	ck_assert_uint_ge(have, large);
	if (ab_torture_available())
		ab_alloc_fail_after(0);
	ck_assert_int_eq(ab_decision_begin(d, NULL, AB_DECIDE_SHELL, LINE,
					   strlen(LINE), large / 2, NULL), 0);
	if (ab_torture_available())
		ck_assert_uint_eq(ab_alloc_count(), 0);
	ck_assert_uint_eq(d->memory_size, have);
	ck_assert_int_eq(ab_decision_begin(d, NULL, AB_DECIDE_SHELL, LINE,
					   strlen(LINE), 4096, NULL), 0);
	ck_assert_uint_eq(d->memory_size, small);
	agentbox_decision_free(d);
}
END_TEST

START_TEST(as_much_text_as_is_allowed_is_taken)
{
	char *text = calloc(1, AB_MAX_CHECK_TEXT);
	agentbox_decision *d = NULL;

	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(ab_decision_use(&d, NULL));
	ck_assert_int_eq(ab_decision_begin(d, NULL, AB_DECIDE_SHELL, text,
					   AB_MAX_CHECK_TEXT, 0, NULL), 0);
	ck_assert_uint_eq(d->text_len, AB_MAX_CHECK_TEXT);
	agentbox_decision_free(d);
	free(text);
}
END_TEST

START_TEST(too_much_text_is_refused)
{
	agentbox_decision *d = NULL;
	agentbox_error *err = NULL;

	ck_assert_ptr_nonnull(ab_decision_use(&d, NULL));
	ck_assert_int_eq(ab_decision_begin(d, NULL, AB_DECIDE_SHELL, NULL,
					   SIZE_MAX, 0, &err),
			 AGENTBOX_ELIMIT);
	ck_assert_int_eq(agentbox_decision_get_verdict(d),
			 AGENTBOX_VERDICT_DENY);
	agentbox_error_free(err);
	agentbox_decision_free(d);
}
END_TEST

static bool torture(void *data)
{
	agentbox_decision *d = NULL;
	agentbox_bytes *json = NULL;
	agentbox_bytes *text = NULL;
	bool good = ab_decision_use(&d, NULL) &&
		    ab_decision_begin(d, NULL, AB_DECIDE_SHELL, LINE,
				      strlen(LINE), 4096, NULL) == 0;

	(void)data;
	if (good) {
		add_rm(d);
		ab_decision_add(d, &deny);
		ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
		good = agentbox_decision_to_json(d, &json, NULL) == 0 &&
		       agentbox_decision_explain(d, &text, NULL) == 0;
	}
	ck_assert_int_eq(agentbox_decision_get_verdict(d),
			 AGENTBOX_VERDICT_DENY);
	agentbox_bytes_free(json);
	agentbox_bytes_free(text);
	agentbox_decision_free(d);
	return good;
}

START_TEST(every_allocation_may_fail)
{
	uint64_t tolerated = 0;
	uint64_t n = ab_torture(torture, NULL, 200, &tolerated);

	if (ab_torture_available())
		ck_assert_uint_ge(n, 4);
	ck_assert_uint_eq(tolerated, 0);
}
END_TEST

START_TEST(a_place_takes_clean_absolute_paths)
{
	agentbox_place *p = NULL;

	ck_assert_int_eq(agentbox_place_new(&p, NULL), 0);
	ck_assert_int_eq(agentbox_place_set_cwd(p, "//a/./b/", 8, NULL), 0);
	ck_assert_str_eq(p->cwd.text, "/a/b");
	ck_assert_int_eq(agentbox_place_set_cwd(p, "a", 1, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_place_set_cwd(p, "/a/../b", 7, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_place_set_cwd(p, "/a\0b", 4, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_place_set_cwd(p, "", 0, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_str_eq(p->cwd.text, "/a/b");
	ck_assert_int_eq(agentbox_place_set_cwd(p, NULL, 0, NULL), 0);
	ck_assert_ptr_null(p->cwd.text);
	ck_assert_int_eq(agentbox_place_set_home(p, "/home/u", 7, NULL), 0);
	ck_assert_int_eq(agentbox_place_set_root(p, "/", 1, NULL), 0);
	for (int i = 0; i < AB_MAX_TEMP_DIRS; i++)
		ck_assert_int_eq(agentbox_place_add_temp(p, "/tmp", 4, NULL),
				 0);
	ck_assert_int_eq(agentbox_place_add_temp(p, "/tmp", 4, NULL),
			 AGENTBOX_ELIMIT);
	ck_assert_int_eq(agentbox_place_add_temp(NULL, "/tmp", 4, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_place_set_home(NULL, "/", 1, NULL),
			 AGENTBOX_EINVAL);
	agentbox_place_free(p);
	agentbox_place_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard decision");
	TCase *tc = tcase_create("decision");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(tc, a_decision_nobody_ended_is_a_denial);
	tcase_add_test(tc, the_worst_finding_decides);
	tcase_add_test(tc, of_equals_the_first_decides);
	tcase_add_test(tc, the_end_is_the_worse_of_both);
	tcase_add_test(tc, no_command_is_shown_that_may_be_the_wrong_one);
	tcase_add_test(tc, so_many_commands_are_kept_and_no_more);
	tcase_add_test(tc, a_command_that_cannot_be_copied_is_a_denial);
	tcase_add_test(tc, no_verdict_is_a_denial);
	tcase_add_test(tc, what_was_lost_is_a_denial);
	tcase_add_test(tc, more_findings_than_are_kept_still_decide);
	tcase_add_test(tc, the_command_that_decided_is_shown);
	tcase_add_test(tc, json_holds_any_bytes);
	tcase_add_test(tc, people_see_carets_below_what_was_found);
	tcase_add_test(tc, a_line_cannot_write_on_the_terminal);
	tcase_add_test(tc, a_rule_cannot_write_on_the_terminal);
	tcase_add_test(tc, a_character_is_shown_or_spelled_out);
	tcase_add_test(tc, json_names_the_command_of_an_allow_if_there_is_one);
	tcase_add_test(tc, a_severity_has_its_name);
	tcase_add_test(tc, a_span_beyond_the_text_is_harmless);
	tcase_add_test(tc, a_second_check_of_the_size_allocates_nothing);
	tcase_add_test(tc, a_large_room_stays_while_checks_are_large);
	tcase_add_test(tc, as_much_text_as_is_allowed_is_taken);
	tcase_add_test(tc, too_much_text_is_refused);
	tcase_add_test(tc, every_allocation_may_fail);
	tcase_add_test(tc, a_place_takes_clean_absolute_paths);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
