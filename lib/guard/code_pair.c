/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A call with two names of which each stands for several things: run(cmd, args)
 * of a function that is called with ("git", ["add"]) and ("npm", ["ci"]). Where
 * the values were given together they belong together; where nobody knows
 * that, each is judged with each. A third such name is not followed.
 */
#include "config.h"

#include "guard/code.h"

#define MAX_PAIRS 64 /* of a call */

/* Words that are one value of the name. */
struct value {
	uint32_t from, to;
};

static bool has_several(const struct ab_named *n)
{
	return n->is_list ? ab_code_has_lists(n) : n->count > 1;
}

/* The value that begins with word `from`. */
static struct value value_at(const struct ab_named *n, uint32_t from)
{
	struct value v = { from, from + 1 };

	while (n->is_list && v.to < n->count && !(n->begins >> v.to & 1))
		v.to++;
	return v;
}

static uint32_t count_values(const struct ab_named *n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n->count; i = value_at(n, i).to)
		count++;
	return count;
}

/* Words of the call that are the name's. */
static uint32_t length(const struct ab_named *n)
{
	return n->is_list ? n->count : 1;
}

static bool is_as_given(const struct ab_word *a, const struct ab_word *b)
{
	return a->text == b->text && a->len == b->len &&
	       a->hole_count == b->hole_count;
}

bool ab_code_begin_pair(struct ab_args *a, const struct ab_named *n)
{
	const struct ab_named *each = a->each;
	uint32_t count = length(n);

	if (AB_LIKELY(!each) || each == n || !a->is_command || a->has_head ||
	    !has_several(n) || each->is_any || n->is_any)
		return false;
	if (a->pair || a->count + count > AB_CODE_STRINGS) {
		a->is_cut = true;
		return false;
	}
	/* f"{a} {b}", [a + "/x", b] */
	if ((a->joint != AB_JOINT_NONE && a->joint != AB_JOINT_STRING) ||
	    a->count != a->which + length(each) ||
	    !is_as_given(&a->words[a->which], &each->words[0]))
		return false;
	a->pair = n;
	a->pair_at = a->count;
	for (uint32_t i = 0; i < count; i++)
		a->words[a->count++] = n->words[i];
	return true;
}

static void put(struct ab_args *one, const struct ab_word *words, uint32_t from,
		uint32_t to)
{
	for (uint32_t i = from; i < to && one->count < AB_CODE_STRINGS; i++)
		one->words[one->count++] = words[i];
}

/* Nothing else gave them a value than the calls, each of which gave both: of
   those that there was no room for, nobody knows anything. */
static bool is_together(const struct ab_code *k, const struct ab_args *a)
{
	return (count_values(a->each) == count_values(a->pair) ||
		a->each->is_cut || a->pair->is_cut) &&
	       !ab_code_is_linked(k, &a->each->name) &&
	       !ab_code_is_linked(k, &a->pair->name) &&
	       !a->each->edits == !a->pair->edits;
}

static void judge_values(struct ab_code *k, enum ab_call kind,
			 const struct ab_args *a, struct value v,
			 struct value w, struct ab_args *one)
{
	uint32_t behind = a->pair_at + length(a->pair);

	*one = *a;
	one->each = one->pair = NULL;
	one->count = a->which;
	put(one, a->each->words, v.from, v.to);
	put(one, a->words, a->which + length(a->each), a->pair_at);
	put(one, a->pair->words, w.from, w.to);
	put(one, a->words, behind, a->count);
	k->last = NULL; /* a text of somebody else */
	ab_code_judge(k, kind, one);
}

void ab_code_judge_pair(struct ab_code *k, enum ab_call kind,
			struct ab_args *a)
{
	const struct ab_named *n = a->each, *m = a->pair;
	struct ab_args *one = ab_check_alloc(k->c, sizeof(*one));
	bool is_one = is_together(k, a);
	struct value v, w;
	uint32_t j;

	if (!one)
		return;
	if (!is_one && count_values(n) * count_values(m) > MAX_PAIRS)
		a->is_cut = true;
	w.to = 0;
	for (uint32_t i = 0, rest = MAX_PAIRS; i < n->count && rest; i = v.to) {
		v = value_at(n, i);
		for (j = is_one ? w.to : 0; j < m->count && rest; j = w.to) {
			w = value_at(m, j);
			judge_values(k, kind, a, v, w, one);
			a->is_cut = false; /* that was said */
			rest--;
			if (is_one || k->c->is_broken)
				break;
		}
	}
}
