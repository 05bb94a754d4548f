/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arithmetic on constants (bash(1), ARITHMETIC EVALUATION): operator
 * precedence with two explicit stacks. Only what is surely a number is an
 * answer; anything odd, also an assignment, is "not known".
 */
#include "config.h"

#include "base/digit.h"
#include "shell/state.h"

enum { DEPTH = 64 };

struct arith {
	struct ab_shell_run *run;
	const char *s;
	uint32_t at, len;
	int64_t values[DEPTH];
	uint32_t value_count;
	uint8_t ops[DEPTH]; /* index into table; 255: ( */
	uint32_t op_count;
};

static const struct {
	char text[3];
	uint8_t len, level;
} table[] = {
	{ "**", 2, 12 }, { "<<", 2, 9 }, { ">>", 2, 9 }, { "<=", 2, 8 },
	{ ">=", 2, 8 },	 { "==", 2, 7 }, { "!=", 2, 7 }, { "&&", 2, 3 },
	{ "||", 2, 2 },	 { "*", 1, 11 }, { "/", 1, 11 }, { "%", 1, 11 },
	{ "+", 1, 10 },	 { "-", 1, 10 }, { "<", 1, 8 },	 { ">", 1, 8 },
	{ "&", 1, 6 },	 { "^", 1, 5 },	 { "|", 1, 4 },
};

enum { UNARY_MINUS = 64, UNARY_PLUS, UNARY_NOT, UNARY_FLIP, PAREN = 255 };

static uint8_t level_of(uint8_t op)
{
	return op == PAREN ? 0 : op >= UNARY_MINUS ? 13 : table[op].level;
}

static bool power(int64_t base, int64_t exponent, int64_t *out)
{
	uint64_t result = 1, b = (uint64_t)base;

	if (exponent < 0 || exponent > 64)
		return false;
	while (exponent-- > 0)
		result *= b;
	*out = (int64_t)result;
	return true;
}

static bool binary(uint8_t op, int64_t a, int64_t b, int64_t *out)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	switch (op) {
	case 0:
		return power(a, b, out);
	case 1:
		*out = (int64_t)(x << (y & 63));
		return true;
	case 2:
		*out = a >> (y & 63);
		return true;
	case 3:
		*out = a <= b;
		return true;
	case 4:
		*out = a >= b;
		return true;
	case 5:
		*out = a == b;
		return true;
	case 6:
		*out = a != b;
		return true;
	case 7:
		*out = a && b;
		return true;
	case 8:
		*out = a || b;
		return true;
	case 9:
		*out = (int64_t)(x * y);
		return true;
	case 10:
	case 11:
		if (b == 0 || b == -1)
			return false;
		*out = op == 10 ? a / b : a % b;
		return true;
	case 12:
		*out = (int64_t)(x + y);
		return true;
	case 13:
		*out = (int64_t)(x - y);
		return true;
	case 14:
		*out = a < b;
		return true;
	case 15:
		*out = a > b;
		return true;
	case 16:
		*out = a & b;
		return true;
	case 17:
		*out = a ^ b;
		return true;
	default:
		*out = a | b;
		return true;
	}
}

static bool reduce(struct arith *a)
{
	uint8_t op = a->ops[--a->op_count];
	int64_t *top = &a->values[a->value_count - 1];

	if (op == PAREN || a->value_count == 0)
		return false;
	switch (op) {
	case UNARY_MINUS:
		*top = (int64_t)(0 - (uint64_t)*top);
		return true;
	case UNARY_PLUS:
		return true;
	case UNARY_NOT:
		*top = !*top;
		return true;
	case UNARY_FLIP:
		*top = ~*top;
		return true;
	default:
		break;
	}
	if (a->value_count < 2)
		return false;
	a->value_count--;
	/* an error, which ends the line */
	if (AB_UNLIKELY((op == 10 || op == 11) && !top[0]))
		a->run->has_ended = true;
	return binary(op, top[-1], top[0], &top[-1]);
}

static bool push_op(struct arith *a, uint8_t op)
{
	if (a->op_count == DEPTH)
		return false;
	a->ops[a->op_count++] = op;
	return true;
}

static bool push_value(struct arith *a, int64_t value)
{
	if (a->value_count == DEPTH)
		return false;
	a->values[a->value_count++] = value;
	return true;
}

static bool number(struct arith *a)
{
	uint32_t base = 10, i = a->at;
	uint64_t value = 0;

	if (a->s[i] == '0' && i + 1 < a->len) {
		bool is_hex = a->s[i + 1] == 'x' || a->s[i + 1] == 'X';

		base = is_hex ? 16 : 8;
		i += is_hex ? 2 : 0;
	}
	for (; i < a->len; i++) {
		int d = ab_digit(a->s[i]);

		if (a->s[i] == '#' && base == 10 && value >= 2 &&
		    value <= 36) {
			base = (uint32_t)value;
			value = 0;
			continue;
		}
		if (d < 0)
			break;
		if ((uint32_t)d >= base)
			return false;
		value = value * base + (uint32_t)d;
	}
	if (i < a->len && (ab_shell_name[(unsigned char)a->s[i]] ||
			   a->s[i] == '#'))
		return false;
	a->at = i;
	return push_value(a, (int64_t)value);
}

/* A variable that holds a plain number; an unset one is 0. */
static bool variable(struct arith *a)
{
	uint32_t begin = a->at;
	const struct value *v;
	const struct ab_word *w;
	int64_t n = 0;
	uint32_t i = 0;

	while (a->at < a->len && ab_shell_name[(unsigned char)a->s[a->at]])
		a->at++;
	v = ab_run_value(a->run, a->s + begin, a->at - begin);
	if (v->kind == VALUE_UNSET)
		return push_value(a, 0);
	if (v->kind != VALUE_SCALAR)
		return false;
	w = v->words;
	if (w->hole_count || w->len == 0 || w->len > 18 ||
	    (w->text[0] == '0' && w->len > 1))
		return false;
	i = w->text[0] == '-';
	if (i == w->len)
		return false;
	for (; i < w->len; i++) {
		if (w->text[i] < '0' || w->text[i] > '9')
			return false;
		n = n * 10 + w->text[i] - '0';
	}
	return push_value(a, w->text[0] == '-' ? -n : n);
}

/* A value, or a sign before one. *done: it was a value. */
static bool operand(struct arith *a, bool *done)
{
	char c = a->s[a->at];

	*done = false;
	if (c >= '0' && c <= '9') {
		*done = true;
		return number(a);
	}
	if (ab_shell_name[(unsigned char)c]) {
		*done = true;
		return variable(a);
	}
	a->at++;
	switch (c) {
	case '(':
		return push_op(a, PAREN);
	case '-':
		return a->at < a->len && a->s[a->at] != '-' &&
		       push_op(a, UNARY_MINUS);
	case '+':
		return a->at < a->len && a->s[a->at] != '+' &&
		       push_op(a, UNARY_PLUS);
	case '!':
		return push_op(a, UNARY_NOT);
	case '~':
		return push_op(a, UNARY_FLIP);
	default:
		return false;
	}
}

static bool close_paren(struct arith *a)
{
	while (a->op_count && a->ops[a->op_count - 1] != PAREN)
		if (!reduce(a))
			return false;
	if (!a->op_count)
		return false;
	a->op_count--;
	a->at++;
	return true;
}

static bool operation(struct arith *a)
{
	uint32_t left = a->len - a->at;

	for (uint8_t i = 0; i < AB_ARRAY_LEN(table); i++) {
		uint8_t n = table[i].len;

		if (left < n || memcmp(a->s + a->at, table[i].text, n) != 0)
			continue;
		if (left > n && a->s[a->at + n] == '=' && table[i].level != 7 &&
		    table[i].level != 8)
			return false; /* an assignment */
		if (n == 1 && left > 1 && a->s[a->at + 1] == a->s[a->at])
			return false; /* ++ or -- */
		a->at += n;
		while (a->op_count &&
		       (level_of(a->ops[a->op_count - 1]) > table[i].level ||
			(level_of(a->ops[a->op_count - 1]) ==
				 table[i].level &&
			 table[i].level != 12)))
			if (!reduce(a))
				return false;
		return push_op(a, i);
	}
	return false;
}

bool ab_arith(struct ab_shell_run *run, const char *text, uint32_t len,
	      int64_t *value)
{
	struct arith a = { .run = run, .s = text, .len = len };
	bool has_operand = false;

	/* longer ones are not worth the time, so they are not known */
	if (len > 256)
		return false;
	for (;;) {
		while (a.at < len && strchr(" \t\n\"", a.s[a.at]) &&
		       a.s[a.at])
			a.at++;
		if (a.at == len)
			break;
		if (!has_operand) {
			if (!operand(&a, &has_operand))
				return false;
		} else if (a.s[a.at] == ')') {
			if (!close_paren(&a))
				return false;
		} else {
			if (!operation(&a))
				return false;
			has_operand = false;
		}
	}
	if (!has_operand) {
		*value = 0;
		return a.op_count == 0 && a.value_count == 0;
	}
	while (a.op_count)
		if (!reduce(&a))
			return false;
	*value = a.values[0];
	return a.value_count == 1;
}

uint32_t ab_decimal(char text[24], int64_t value)
{
	uint64_t n = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[24];
	uint32_t len = 0, out = 0;

	do {
		digits[len++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	if (value < 0)
		text[out++] = '-';
	while (len)
		text[out++] = digits[--len];
	text[out] = '\0';
	return out;
}
