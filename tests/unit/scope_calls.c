/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How well the scope does on calls nobody wrote for its code: rows of
 * tests/data/scope-calls.jsonl, {id, kind: "scope", document} and {id, kind,
 * scope, tool, args, crosses, hints?}. The rates are printed kind by kind and
 * held; "beyond" is what text does not show, and is counted only. Then layer by
 * layer (DESIGN.md section 12), each with the others off: what the resolver
 * stops, what a hint tells of, what the shield's gate refuses when it is asked
 * about the sandboxes that there are, whom the prompt names. And the property
 * behind them: whatever encodings an id is put through, one in the
 * other, up to the depth, it is found.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "agentbox/scope.h"
#include "base/attr.h"
#include "net_rows.h"
#include "parts.h"

/* --- rates ---------------------------------------------------------------- */

struct kind {
	char name[32];
	unsigned calls, crossing, caught, asked, false_hits, hints_wrong;
};

static struct kind kinds[16];
static size_t kind_count;
static struct {
	char id[32];
	agentbox_scope *scope;
	json_t *document;
	ab_sh_grants grants;
} scopes[8];
static size_t scope_count;

static agentbox_scope *make_scope(const json_t *document)
{
	static const char text[] = "{\"agentbox\":1,\"mode\":\"bare\"}";
	char *doc = json_dumps(document, 0);
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	agentbox_scope *scope = NULL;

	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_policy_parse(context, text, strlen(text),
					       &policy, NULL), 0);
	ck_assert_int_eq(agentbox_scope_new(policy, doc, strlen(doc), &scope,
					    NULL), 0);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	free(doc);
	return scope;
}

static size_t scope_of(const char *id)
{
	for (size_t i = 0; i < scope_count; i++)
		if (strcmp(scopes[i].id, id) == 0)
			return i;
	ck_abort_msg("no scope %s", id);
	return 0;
}

static const char *text_of(const json_t *list, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(list, i),
						 key));
}

/* The shield's own copy of the grants, as the host sends it. */
static void fill_grants(ab_sh_grants *g, const json_t *document)
{
	const json_t *list = json_object_get(document, "grants");

	snprintf(g->own, sizeof(g->own), "%s", net_text(document, "id"));
	g->is_told = true;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *source = text_of(list, i, "source");
		const char *name = text_of(list, i, "name");
		ab_sh_grant *to = &g->items[g->count++];

		snprintf(to->box, sizeof(to->box), "%s", source);
		snprintf(to->name, sizeof(to->name), "%s",
			 name ? name : source);
	}
}

static struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < kind_count; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	ck_assert(kind_count < AB_ARRAY_LEN(kinds));
	snprintf(kinds[kind_count].name, sizeof(kinds[0].name), "%s", name);
	return &kinds[kind_count++];
}

/* Each peer that is wanted is named, and no other. */
static bool hints_are(agentbox_scope *s, const char *tool, const char *args,
		      const json_t *want)
{
	agentbox_bytes *bytes = NULL;
	bool good = true;
	json_t *all;
	const json_t *got;

	ck_assert_int_eq(agentbox_scope_hint(s, tool, strlen(tool), args,
					     strlen(args), &bytes, NULL), 0);
	all = json_loads(agentbox_bytes_get_data(bytes), 0, NULL);
	got = json_object_get(all, "hints");
	for (size_t i = 0; i < json_array_size(want); i++) {
		bool found = false;

		for (size_t j = 0; j < json_array_size(got); j++)
			found |= json_equal(json_array_get(want, i),
					    json_object_get(
						    json_array_get(got, j),
						    "sandbox"));
		good &= found;
	}
	good &= json_array_size(want) > 0 || json_array_size(got) == 0;
	json_decref(all);
	agentbox_bytes_free(bytes);
	return good;
}

/* --- layers --------------------------------------------------------------- */

static struct layer {
	const char *name;
	unsigned crossing, caught; /* what is to be stopped or told */
	unsigned other, false_hits;
} layers[] = { { "1 resolver", 0, 0, 0, 0 },
	       { "2 hints", 0, 0, 0, 0 },
	       { "3 shield's gate", 0, 0, 0, 0 },
	       { "4 prompt", 0, 0, 0, 0 } };

static void count_layer(struct layer *layer, bool crosses, bool hit)
{
	layer->crossing += crosses;
	layer->caught += crosses && hit;
	layer->other += !crosses;
	layer->false_hits += !crosses && hit;
}

/*
 * The gate is asked about a tool, a sandbox and what is to be done: about all
 * that can be read for a call that crosses (to read them, if it does not write
 * below .shared), about the hinted one for a call that reads.
 */
static void count_gate(const json_t *row, size_t at)
{
	const char *tool = net_text(row, "tool");
	const json_t *peers = json_object_get(scopes[at].document, "grants");
	const json_t *hinted = json_object_get(row, "hints");
	const char *action = strcmp(net_text(row, "kind"), "writing") == 0 ?
				     "write" : "read";
	bool crosses = net_flag(row, "crosses");
	bool all = true;

	for (size_t i = 0; crosses && i < json_array_size(peers); i++)
		all &= ab_sh_grants_refuse(&scopes[at].grants, tool,
					   text_of(peers, i, "source"),
					   action) != NULL;
	if (crosses && json_array_size(peers))
		count_layer(&layers[2], true, all);
	for (size_t i = 0; !crosses && i < json_array_size(hinted); i++)
		count_layer(&layers[2], false,
			    ab_sh_grants_refuse(&scopes[at].grants, tool,
						json_string_value(
							json_array_get(hinted,
								       i)),
						action) != NULL);
}

static bool is_told(const char *prompt, const char *id)
{
	char words[128];

	snprintf(words, sizeof(words), "read access to sandbox %s at ", id);
	return strstr(prompt, words) != NULL;
}

static void count_prompt(size_t at)
{
	const json_t *peers = json_object_get(scopes[at].document, "grants");
	const json_t *others = json_object_get(scopes[at].document, "others");
	agentbox_bytes *bytes = NULL;
	const char *text;

	ck_assert_int_eq(agentbox_scope_prompt(scopes[at].scope, &bytes, NULL),
			 0);
	text = agentbox_bytes_get_data(bytes);
	for (size_t i = 0; i < json_array_size(peers); i++)
		count_layer(&layers[3], true,
			    is_told(text, text_of(peers, i, "source")));
	for (size_t i = 0; i < json_array_size(others); i++)
		count_layer(&layers[3], false,
			    is_told(text, text_of(others, i, "id")));
	agentbox_bytes_free(bytes);
}

/* Of a hundred, in each layer alone. */
#define LEAST_CAUGHT 90

static double percent(unsigned part, unsigned all)
{
	return all ? 100.0 * part / all : 0;
}

static void print_layers(void)
{
	printf("%-16s %8s %7s %7s %6s %6s %7s\n", "layer", "crossing",
	       "caught", "", "other", "false", "");
	for (size_t i = 0; i < AB_ARRAY_LEN(layers); i++) {
		const struct layer *l = &layers[i];

		printf("%-16s %8u %7u %6.1f%% %6u %6u %6.1f%%\n", l->name,
		       l->crossing, l->caught, percent(l->caught, l->crossing),
		       l->other, l->false_hits,
		       percent(l->false_hits, l->other));
	}
}

/* --- kinds of calls ------------------------------------------------------- */

static void count(struct kind *k, const json_t *row, int32_t verdict)
{
	bool crosses = net_flag(row, "crosses");
	bool hit = verdict != AGENTBOX_VERDICT_ALLOW;

	k->calls++;
	k->crossing += crosses;
	k->caught += crosses && hit;
	k->false_hits += !crosses && hit;
	k->asked += verdict == AGENTBOX_VERDICT_ASK;
	count_layer(&layers[0], crosses, hit);
	if (hit != crosses)
		printf("  %s: %s\n", net_text(row, "id"),
		       hit ? "false hit" : "missed");
}

static void take_scope(const json_t *row, const char *id)
{
	size_t at = scope_count++;

	ck_assert(at < AB_ARRAY_LEN(scopes));
	snprintf(scopes[at].id, sizeof(scopes[at].id), "%s", id);
	scopes[at].document = json_deep_copy(json_object_get(row, "document"));
	scopes[at].scope = make_scope(scopes[at].document);
	fill_grants(&scopes[at].grants, scopes[at].document);
	count_prompt(at);
}

static void take_call(const json_t *row, const char *id)
{
	const char *tool = net_text(row, "tool");
	const json_t *hints = json_object_get(row, "hints");
	struct kind *k;
	agentbox_scope *s;
	agentbox_decision *d = NULL;
	bool told;
	size_t at;
	char *args;

	if (strcmp(net_text(row, "kind"), "scope") == 0) {
		take_scope(row, id);
		return;
	}
	k = kind_of(net_text(row, "kind"));
	at = scope_of(net_text(row, "scope"));
	s = scopes[at].scope;
	args = json_dumps(json_object_get(row, "args"), JSON_ENCODE_ANY);
	ck_assert_int_eq(agentbox_scope_check(s, tool, strlen(tool), args,
					      strlen(args), &d, NULL), 0);
	count(k, row, agentbox_decision_get_verdict(d));
	count_gate(row, at);
	told = !hints || hints_are(s, tool, args, hints);
	if (hints)
		count_layer(&layers[1], json_array_size(hints) > 0,
			    json_array_size(hints) ? told : !told);
	if (!told) {
		k->hints_wrong++;
		printf("  %s: hints\n", id);
	}
	agentbox_decision_free(d);
	free(args);
}

START_TEST(crossings_are_caught_and_everyday_calls_are_not)
{
	unsigned calls = 0;

	net_each_row("scope-calls.jsonl", 300, take_call);
	printf("%-16s %6s %8s %7s %6s %6s %6s\n", "kind", "calls", "crossing",
	       "caught", "false", "asked", "hints");
	for (size_t i = 0; i < kind_count; i++) {
		const struct kind *k = &kinds[i];

		printf("%-16s %6u %8u %7u %6u %6u %6u\n", k->name, k->calls,
		       k->crossing, k->caught, k->false_hits, k->asked,
		       k->hints_wrong);
		calls += k->calls;
	}
	print_layers();
	fflush(stdout);
	for (size_t i = 0; i < kind_count; i++) {
		const struct kind *k = &kinds[i];
		bool beyond = strcmp(k->name, "beyond") == 0;

		ck_assert_msg(beyond || k->caught == k->crossing, "%s",
			      k->name);
		ck_assert_msg(k->false_hits == 0, "%s", k->name);
		ck_assert_msg(k->hints_wrong == 0, "%s", k->name);
	}
	ck_assert_uint_ge(calls, 300);
	for (size_t i = 0; i < AB_ARRAY_LEN(layers); i++) {
		const struct layer *l = &layers[i];

		ck_assert_msg(l->false_hits == 0, "%s", l->name);
		/* the first cannot know "beyond", the third a call in a call */
		ck_assert_msg(l->caught * 100 >= l->crossing * LEAST_CAUGHT,
			      "%s", l->name);
	}
	for (size_t i = 0; i < scope_count; i++) {
		agentbox_scope_unref(scopes[i].scope);
		json_decref(scopes[i].document);
	}
}
END_TEST

/* --- compositions --------------------------------------------------------- */

struct text {
	char p[65536];
	size_t n;
};

static uint64_t seed = 42;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void put(struct text *t, const char *s)
{
	t->n += (size_t)snprintf(t->p + t->n, sizeof(t->p) - t->n, "%s", s);
}

static void put_char(struct text *t, char c)
{
	if (t->n + 1 < sizeof(t->p))
		t->p[t->n++] = c;
	t->p[t->n] = '\0';
}

/* Each byte as a number of `base`, at least `width` digits. */
static void each(struct text *to, const struct text *from, const char *before,
		 unsigned base, size_t width, const char *after)
{
	for (size_t i = 0; i < from->n; i++) {
		unsigned value = (unsigned char)from->p[i];
		char digits[16];
		size_t n = sizeof(digits);

		digits[--n] = '\0';
		do {
			digits[--n] = "0123456789abcdef"[value % base];
			value /= base;
		} while (value || sizeof(digits) - 1 - n < width);
		put(to, before);
		put(to, digits + n);
		put(to, after);
	}
}

static void bits(struct text *to, const struct text *from, unsigned width,
		 const char *alphabet)
{
	uint32_t have = 0;
	unsigned count = 0;

	for (size_t i = 0; i < from->n; i++) {
		have = have << 8 | (unsigned char)from->p[i];
		for (count += 8; count >= width; count -= width)
			put_char(to, alphabet[have >> (count - width) &
					      ((1u << width) - 1)]);
		have &= 0xffff;
	}
	if (count)
		put_char(to, alphabet[have << (width - count) &
				      ((1u << width) - 1)]);
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* Each byte as a number, or all of them `width` bits at a time. */
static const struct encoding {
	const char *before, *after;
	unsigned base;
	unsigned width;
	const char *alphabet;
} encodings[] = {
	{ "%", "", 16, 2, NULL },
	{ "\\x", "", 16, 2, NULL },
	{ "\\x{", "}", 16, 1, NULL },
	{ "\\o{", "}", 8, 1, NULL },
	{ "\\N{U+", "}", 16, 4, NULL },
	{ "\\u", "", 16, 4, NULL },
	{ "\\", "", 16, 4, NULL },
	{ "\\", "", 8, 3, NULL },
	{ "&#", ";", 10, 1, NULL },
	{ "=", "", 16, 2, NULL },
	{ "", "", 16, 2, NULL },
	{ "", " ", 10, 1, NULL },
	{ "", " ", 2, 8, NULL },
	{ "0", ", ", 8, 3, NULL },
	{ "", "", 0, 6, LETTERS "+/" },
	{ "", "", 0, 6, LETTERS "-_" },
	{ "", "", 0, 5, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" },
	{ "", "", 0, 5, "0123456789ABCDEFGHIJKLMNOPQRSTUV" },
	{ "+", "-", 0, 6, LETTERS "+/" }, /* UTF-7 */
};

static void encode(struct text *to, const struct text *from,
		   const struct encoding *e)
{
	to->n = 0;
	if (!e->alphabet) {
		each(to, from, e->before, e->base, e->width, e->after);
		return;
	}
	if (!*e->before) {
		bits(to, from, e->width, e->alphabet);
		return;
	}
	for (size_t i = 0; i < from->n; i++) {
		static struct text wide = { .n = 2 };

		wide.p[1] = from->p[i];

		put(to, e->before);
		bits(to, &wide, e->width, e->alphabet);
		put(to, e->after);
	}
}

static json_t *call_of(const struct text *t)
{
	json_t *value = json_stringn(t->p, t->n);

	switch (pick(4)) {
	case 0:
		return json_pack("{s:[{s:o}]}", "a", "b", value);
	case 1:
		return json_pack("{s:i, s:o}", "a", 1, "host", value);
	case 2:
		json_decref(value);
		return json_pack("{s:i}", t->p, 1);
	default:
		return json_pack("[o]", value);
	}
}

/* Digits that stand for a plain reader of the next encoding in one piece. */
START_TEST(every_composition_of_encodings_is_seen_through)
{
	static struct text a, b;
	json_t *document = json_pack("{s:s, s:[{s:s},{s:s}]}", "id", "own-box",
				     "others", "id", "sb-2", "id",
				     "b7e151628aed2a6abf7158809cf4f3c7");
	agentbox_scope *s = make_scope(document);

	for (unsigned round = 0; round < 3000; round++) {
		static const char *const cores[] = {
			"sb-2", "host=sb-2 port=5432", "SB_2",
			"b7e151628aed2a6abf7158809cf4f3c7",
			"https://sb-2.example.test/x?y",
		};
		unsigned depth = 1 + pick(4);
		char path[64] = "";
		json_t *call;
		char *args;

		a.n = (size_t)snprintf(a.p, sizeof(a.p), "%s",
				       cores[pick(AB_ARRAY_LEN(cores))]);
		for (unsigned i = 0; i < depth && a.n < 3000; i++) {
			unsigned how = pick(AB_ARRAY_LEN(encodings));

			encode(&b, &a, &encodings[how]);
			memcpy(&a, &b, sizeof(a));
			snprintf(path + strlen(path),
				 sizeof(path) - strlen(path), " %u", how);
		}
		call = call_of(&a);
		args = json_dumps(call, 0);
		ck_assert_msg(agentbox_scope_blocked(s, "db_query", 8, args,
						     strlen(args)),
			      "round %u:%s: %.300s", round, path, args);
		free(args);
		json_decref(call);
	}
	agentbox_scope_unref(s);
	json_decref(document);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("scope_calls");
	TCase *tc = tcase_create("scope_calls");
	SRunner *sr;
	int bad;

	tcase_add_test(tc, crossings_are_caught_and_everyday_calls_are_not);
	tcase_add_test(tc, every_composition_of_encodings_is_seen_through);
	tcase_set_timeout(tc, 120 * ab_test_slowness());
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
