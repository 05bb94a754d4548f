/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a check goes through most is laid out for it once a layer was read:
 * the links of a list lie one behind the other, with what decides most of
 * them at hand, and what tells options apart is one byte each, side by side.
 * Nothing here changes what any of them means.
 */
#include "config.h"

#include "guard/pack_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "guard/text.h"

struct settle {
	const struct ab_pack *pack;
	struct ab_link *links;
	uint32_t count;
};

/* The bits of what a word that the patterns take begins with; 0: anything. */
static uint64_t heads_of_pred(const struct ab_pack *pack,
			      const struct ab_pred *pred)
{
	uint64_t heads = 0;

	if (pred->kind != AB_PRED_GLOB)
		return 0;
	for (uint32_t i = 0; i < pred->count; i++) {
		char first = *pack->strings[pred->first + i];

		if (!first || first == '*' || first == '?')
			return 0;
		heads |= ab_head_bit(first);
	}
	return heads;
}

/* The same by ab_start_bit(). */
static uint64_t starts_of_pred(const struct ab_pack *pack,
			       const struct ab_pred *pred)
{
	uint64_t starts = 0;

	if (pred->kind != AB_PRED_GLOB)
		return 0;
	for (uint32_t i = 0; i < pred->count; i++) {
		const char *text = pack->strings[pred->first + i];
		size_t n = strcspn(text, "*?");

		if (!n || (n < 4 && text[n]))
			return 0;
		starts |= ab_start_bit(text, n);
	}
	return starts;
}

/* Of two such needs the one that fewer words have. */
static uint64_t rarer(uint64_t a, uint64_t b)
{
	uint64_t x = a, y = b;

	if (!a || !b)
		return a | b;
	while (x && y) {
		x &= x - 1;
		y &= y - 1;
	}
	return x ? b : a;
}

/* The same of a test: each of its preds has to take a word. */
static void settle_begins(const struct ab_pack *pack, const struct ab_test *t,
			  struct ab_link *to)
{
	uint32_t count = t->kind == AB_TEST_WORDS ? t->count : 1;

	if (t->is_not || (t->kind != AB_TEST_WORDS &&
			  t->kind != AB_TEST_OPERAND &&
			  t->kind != AB_TEST_WORD && t->kind != AB_TEST_VALUE))
		return;
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_pred *pred = &pack->preds[t->pred + i];

		to->heads = rarer(to->heads, heads_of_pred(pack, pred));
		to->starts = rarer(to->starts, starts_of_pred(pack, pred));
	}
}

static bool needs_hole(const struct ab_pack *pack, const struct ab_test *t)
{
	const struct ab_pred *pred;

	if (t->is_not)
		return false;
	if (t->kind == AB_TEST_HOLE)
		return true;
	if (t->kind != AB_TEST_OPERAND && t->kind != AB_TEST_WORD &&
	    t->kind != AB_TEST_VALUE)
		return false;
	pred = &pack->preds[t->pred];
	return pred->kind == AB_PRED_VALUE && ab_value_needs_hole(pred->value);
}

/* What the words must have for the clause to hold. */
static void settle_needs(const struct ab_pack *pack, const struct ab_clause *c,
			 struct ab_link *to)
{
	for (uint32_t i = 0; i < c->test_count; i++) {
		const struct ab_test *t = &pack->tests[c->test + i];

		settle_begins(pack, t, to);
		/* no value without its option */
		if (!to->yes && t->kind == AB_TEST_VALUE && !t->is_not)
			to->yes = t->mask;
		to->needs_hole |= needs_hole(pack, t);
	}
}

/* What the program's name must begin with for the clause to hold. */
static void settle_name(const struct ab_pack *pack, const struct ab_clause *c,
			struct ab_link *to)
{
	for (uint32_t i = 0; i < c->test_count && !to->heads; i++) {
		const struct ab_test *t = &pack->tests[c->test + i];

		if (t->kind == AB_TEST_NAME && !t->is_not)
			to->heads = heads_of_pred(pack, &pack->preds[t->pred]);
	}
}

/* Moves the list behind those before it; of a path its classes decide. */
static void move_list(struct settle *s, uint32_t *list, bool is_path)
{
	uint32_t at = *list;

	if (at)
		*list = s->count + 1;
	while (at) {
		const struct ab_link *from = &s->pack->links[at - 1];
		const struct ab_clause *c = &s->pack->clauses[from->clause];
		struct ab_link *to = &s->links[s->count++];

		to->clause = from->clause;
		to->test = c->test;
		to->test_count = c->test_count;
		to->yes = is_path ? c->classes : c->need;
		to->no = is_path ? c->unless : c->never;
		to->next = from->next ? s->count + 1 : 0;
		if (is_path)
			settle_name(s->pack, c, to);
		else
			settle_needs(s->pack, c, to);
		at = from->next;
	}
}

/* Which links of a list of paths a class decides about. */
static void settle_hits(struct ab_pack *pack, size_t kind,
			const struct ab_link *links, uint32_t count)
{
	pack->path_counts[kind] = count;
	memset(pack->path_hits[kind], 0, sizeof(pack->path_hits[kind]));
	pack->path_heads[kind] = 0;
	bool has_need = true;

	for (uint32_t i = 0; i < count; i++) {
		if (links[i].yes & AB_CLASS(ANY)) {
			pack->path_heads[kind] |= links[i].heads;
			has_need &= links[i].heads != 0;
		}
		for (uint64_t yes = links[i].yes; yes; yes &= yes - 1)
			pack->path_hits[kind][__builtin_ctzll(yes)] |=
				UINT64_C(1) << i % 64;
	}
	if (!has_need)
		pack->path_heads[kind] = 0;
}

/* The longest word of a clause behind its first: most texts have none such, and
   need not be looked through for the first. */
static uint32_t needed_word(const struct ab_text_want *words, uint32_t count)
{
	uint32_t hash = 0;
	size_t longest = 1;

	for (uint32_t i = 1; i < count; i++) {
		const char *w = words[i].text;
		size_t n = strlen(w);

		if (*w >= 'A' && strncmp(w, "not:", 4) != 0 &&
		    !strchr(w, '|') && n > longest) {
			longest = n;
			hash = ab_text_hash(w, (uint32_t)n);
		}
	}
	return hash;
}

/* What the first token of each text clause in the list may be. */
static void settle_texts(const struct ab_pack *pack, struct ab_link *links,
			 uint32_t at)
{
	for (; at; at = links[at - 1].next) {
		struct ab_link *link = &links[at - 1];
		const struct ab_clause *c = &pack->clauses[link->clause];

		const struct ab_text_want *want = &pack->wants[c->token];
		struct ab_text_bits heads = ab_text_heads(want->text);

		link->heads = heads.low;
		link->highs = heads.high;
		link->first = ab_text_first(want->text);
		link->needs = needed_word(want, c->token_count);
	}
}

static bool settle_links(struct ab_pack *pack)
{
	uint32_t room = pack->links_room;
	struct settle s = { .pack = pack };

	if (!room)
		return true;
	s.links = ab_calloc(room, sizeof(*s.links));
	if (!s.links)
		return false;
	for (uint32_t i = 0; i < pack->programs_count; i++)
		move_list(&s, &pack->programs[i].links, false);
	for (size_t i = 0; i < AB_ROLE_KINDS; i++) {
		uint32_t first = s.count;

		move_list(&s, &pack->path_links[i], true);
		settle_hits(pack, i, s.links + first, s.count - first);
	}
	for (size_t i = 0; i < AB_SINK_COUNT; i++)
		move_list(&s, &pack->flow_links[i], false);
	for (size_t i = 0; i < AB_TEXT_LISTS; i++) {
		move_list(&s, &pack->text_links[i], false);
		settle_texts(pack, s.links, pack->text_links[i]);
	}
	free(pack->links);
	pack->links = s.links;
	pack->links_count = s.count;
	return true;
}

static bool settle_options(struct ab_pack *pack)
{
	uint32_t n = pack->options_count;

	free(pack->letters);
	free(pack->keys);
	pack->letters = ab_calloc(n + 1, 1);
	pack->keys = ab_calloc(n + 1, 1);
	if (!pack->letters || !pack->keys)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct ab_option *o = &pack->options[i];

		pack->letters[i] = (unsigned char)o->letter;
		pack->keys[i] = o->len > 3 ? ab_option_key(o->name) : 0;
	}
	return true;
}

/* Numbers fit: AB_PACK_MAX_ITEMS. */
static bool settle_ends(struct ab_pack *pack)
{
	uint16_t next[256], *first = pack->end_first;
	uint32_t n = pack->ends_count;

	free(pack->end_order);
	pack->end_order = ab_calloc(n + 1, sizeof(*pack->end_order));
	if (!pack->end_order)
		return false;
	memset(first, 0, sizeof(pack->end_first));
	for (uint32_t i = 0; i < n; i++)
		first[(unsigned char)pack->ends[i].key + 1]++;
	for (unsigned byte = 0; byte < 256; byte++)
		first[byte + 1] = (uint16_t)(first[byte + 1] + first[byte]);
	memcpy(next, first, sizeof(next));
	for (uint32_t i = 0; i < n; i++)
		pack->end_order[next[(unsigned char)pack->ends[i].key]++] =
			(uint16_t)i;
	return true;
}

static bool is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_plain_name(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_letter(name[i]) &&
		    (i == 0 || !((name[i] >= '0' && name[i] <= '9') ||
				 name[i] == '.' || name[i] == '_' ||
				 name[i] == '-')))
			return false;
	}
	return true;
}

/* The first one keeps a seat that two would have. Numbers fit:
   AB_PACK_MAX_ITEMS. */
static void settle_seats(struct ab_pack *pack)
{
	memset(pack->seats, 0, sizeof(pack->seats));
	for (uint32_t i = 0; i < pack->programs_count; i++) {
		const struct ab_program *p = &pack->programs[i];
		uint16_t *seat = &pack->seats[ab_pack_seat(p->key)];

		if (p->key && !*seat && is_plain_name(p->name, p->name_len))
			*seat = (uint16_t)(i + 1);
	}
}

/* What is done with a role, in the end, is done with each word that it
   selects: ab_role_each(). */
static bool is_each(const struct ab_role *role)
{
	return role->kind < AB_ROLE_KINDS || role->kind == AB_ROLE_ARITH ||
	       role->kind == AB_ROLE_CODE || role->kind == AB_ROLE_CHDIR ||
	       role->kind == AB_ROLE_UNPACK || role->kind == AB_ROLE_EXPAND ||
	       role->kind == AB_ROLE_LINK ||
	       role->kind == AB_ROLE_ALIAS || role->kind == AB_ROLE_MOVE;
}

/* It is for ab_run_stdin() to say whether that is done. */
static bool is_stdin(const struct ab_role *role)
{
	return role->kind >= AB_ROLE_STDIN_SHELL &&
	       role->kind <= AB_ROLE_STDIN_TEXT;
}

static void settle_role(struct ab_role *role)
{
	switch ((enum ab_select)role->select) {
	case AB_SEL_NTH:
	case AB_SEL_FROM:
		role->least = role->a;
		break;
	case AB_SEL_LAST:
	case AB_SEL_BUT_LAST:
		role->least = 1;
		break;
	case AB_SEL_OPTION:
	case AB_SEL_AT:
		role->least = role->a;
		role->given = role->mask;
		break;
	case AB_SEL_NONE:
	case AB_SEL_KEY:
	case AB_SEL_UNTIL:
	case AB_SEL_HERE:
	case AB_SEL_FILE:
	case AB_SEL_ENV:
		break;
	}
}

/* Most roles of most commands select nothing. */
static void settle_roles(struct ab_pack *pack)
{
	for (uint32_t i = 0; i < pack->programs_count; i++) {
		const struct ab_program *p = &pack->programs[i];

		for (uint32_t k = 0; k < p->role_count; k++) {
			struct ab_role *role = &pack->roles[p->role + k];

			role->least = 0;
			role->given = 0;
			role->is_always = !role->need && !role->also &&
					  !role->unless && !role->none;
			if (is_each(role))
				settle_role(role);
			if (!role->given && !is_stdin(role))
				role->given = role->need;
		}
	}
	/* of find's options some do not count, and have values */
	for (uint32_t i = 0; i < pack->programs_count; i++) {
		const struct ab_program *p = &pack->programs[i];

		for (uint32_t k = 0; p->is_names && k < p->role_count; k++)
			pack->roles[p->role + k].given = 0;
	}
}

static void settle_preds(struct ab_pack *pack)
{
	for (uint32_t i = 0; i < pack->preds_count; i++) {
		struct ab_pred *pred = &pack->preds[i];

		if (pred->kind == AB_PRED_GLOB)
			pred->heads = heads_of_pred(pack, pred);
	}
}

static uint64_t class_bit(const struct ab_pack *pack, const char *name)
{
	for (uint32_t i = 0; i < pack->classes_count; i++) {
		if (!strcmp(pack->classes[i].name, name))
			return UINT64_C(1) << (i + AB_CLASS_COMPUTED);
	}
	return 0;
}

static void settle_classes(struct ab_pack *pack)
{
	pack->bin_dir = class_bit(pack, "bin-dir");
	pack->net_device = class_bit(pack, "net-device");
	pack->proc_status = class_bit(pack, "proc-status");
	pack->home_keys = class_bit(pack, "cred-ssh") |
		     class_bit(pack, "cred-cloud") |
		     class_bit(pack, "cred-token") |
		     class_bit(pack, "cred-system") |
		     class_bit(pack, "dotenv");
}

bool ab_pack_settle(struct ab_pack *pack)
{
	settle_classes(pack);
	settle_seats(pack);
	settle_preds(pack);
	settle_roles(pack);
	return settle_links(pack) && settle_options(pack) && settle_ends(pack);
}
