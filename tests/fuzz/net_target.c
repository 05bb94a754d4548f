/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hosts and authorities: a refusal leaves nothing, what is accepted has one
 * spelling that is read as itself, in LDH and dots, and the classes of ranges
 * know it. An allowlist with the same text as its one entry answers.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "net/allow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const ab_target *t)
{
	size_t label = 0;

	if (t->name_len < 2 || strlen(t->name) != t->name_len)
		abort();
	for (size_t i = 0; i <= t->name_len; i++) {
		char c = t->name[i];

		if (c == '.' || c == '\0') {
			if (i == label || i - label > 63)
				abort();
			label = i + 1;
		} else if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
			   c != '-') {
			abort();
		}
	}
}

static void check(enum ab_target_reason reason, const ab_target *t)
{
	static const ab_target zero;
	char text[AB_TARGET_TEXT_SIZE];
	char again_text[AB_TARGET_TEXT_SIZE];
	ab_target again;

	if (reason) {
		if (memcmp(t, &zero, sizeof(zero)) != 0)
			abort();
		return;
	}
	if (t->kind == AB_TARGET_NAME)
		check_name(t);
	ab_target_text(t, 0, text);
	if (ab_target_authority(text, strlen(text), 1, &again))
		abort();
	again.port = t->port;
	ab_target_text(&again, 0, again_text);
	if (strcmp(text, again_text) != 0 || !ab_target_same_host(t, &again))
		abort();
}

static void check_allow(const char *s, size_t n, const ab_target *t)
{
	char text[600];
	const char *items[] = { text };
	ab_allow_text lists = { 0 };
	ab_allow_error bad;
	ab_allow allow = { 0 };
	ab_address address;

	if (n >= sizeof(text))
		return;
	memcpy(text, s, n);
	text[n] = '\0';
	lists.list[AB_ALLOW_LIST_ALLOW].items = items;
	lists.list[AB_ALLOW_LIST_ALLOW].count = 1;
	if (ab_allow_init(&allow, &lists, &bad) < 0) {
		if (!bad.why[0])
			abort();
		return;
	}
	/* what is only listed is never a private or special address */
	if (ab_allow_target(&allow, t, NULL) == AB_ALLOW_OK &&
	    t->kind == AB_TARGET_ADDRESS &&
	    ab_range_of(&t->address, NULL) != AB_RANGE_PUBLIC)
		abort();
	(void)ab_address_parse(s, n, &address);
	if (ab_allow_address(&allow, t, &address) == AB_ALLOW_OK &&
	    ab_range_of(&address, NULL) != AB_RANGE_PUBLIC)
		abort();
	ab_allow_end(&allow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	ab_target t;

	check(ab_target_host(s, size, &t), &t);
	check(ab_target_bare_host(s, size, &t), &t);
	check(ab_target_only_name(s, size, &t), &t);
	check(ab_target_authority(s, size, 0, &t), &t);
	check(ab_target_authority(s, size, 80, &t), &t);
	check_allow(s, size, &t);
	return 0;
}
