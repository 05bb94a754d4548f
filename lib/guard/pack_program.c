/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Program blocks of a pack: names, options, what is done with the words.
 */
#include "config.h"

#include "guard/pack.h"

#include <string.h>

#include "guard/git.h"
#include "guard/pack_internal.h"

static const struct {
	const char *name;
	uint32_t bit;
} taints[] = {
	{ "remote", AB_TAINT_REMOTE },
	{ "decode", AB_TAINT_DECODE | AB_TAINT_PICK },
	{ "decoded", AB_TAINT_DECODE }, { "pick", AB_TAINT_PICK },
	{ "cred", AB_TAINT_CRED },     { "env", AB_TAINT_ENV },
	{ "file", AB_TAINT_FILE },     { "hook", AB_TAINT_HOOK },
	{ "temp", AB_TAINT_TEMP },     { "var", AB_TAINT_VAR },
	{ "process", AB_TAINT_PROCESS }, { "data", AB_TAINT_DATA },
	{ "quoted", AB_TAINT_QUOTED }, { "tree", AB_TAINT_TREE },
	{ "secret", AB_TAINT_SECRET }, { "endless", AB_TAINT_ENDLESS },
	{ "every", AB_TAINT_EVERY },
};

int32_t ab_pack_taint(struct ab_pack_reader *r, char *text, uint32_t *taint)
{
	*taint = 0;
	for (char *p = text; p;) {
		char *end = strchr(p, '|');
		size_t n = end ? (size_t)(end - p) : strlen(p), i;

		for (i = 0; i < AB_ARRAY_LEN(taints); i++) {
			if (strlen(taints[i].name) == n &&
			    !memcmp(taints[i].name, p, n))
				break;
		}
		if (i == AB_ARRAY_LEN(taints))
			return ab_pack_bad(r, p, "no source '%.*s'", (int)n,
					   p);
		*taint |= taints[i].bit;
		p = end ? end + 1 : NULL;
	}
	return 0;
}

int32_t ab_pack_options(struct ab_pack_reader *r, const struct ab_program *p,
			char *text, uint64_t *mask)
{
	const struct ab_option *all = p->option_count
		? r->pack->options + p->option : NULL;

	*mask = 0;
	for (char *s = text; s;) {
		char *end = strchr(s, '|');
		size_t n = end ? (size_t)(end - s) : strlen(s);
		uint32_t i;

		for (i = 0; i < p->option_count; i++) {
			if (all[i].len == n && !memcmp(all[i].name, s, n))
				break;
		}
		if (i == p->option_count)
			return ab_pack_bad(r, s, "%s has no option '%.*s'",
					   p->name, (int)n, s);
		*mask |= UINT64_C(1) << all[i].group;
		s = end ? end + 1 : NULL;
	}
	return 0;
}

/* What a command of that name is without being in the table. */
static const struct ab_program *other_name(const struct ab_pack *pack,
					   const char *name, size_t n)
{
	const struct ab_program *p = ab_pack_find(pack, name, n);
	char lower[64];

	if (p || n > sizeof(lower))
		return p;
	for (size_t i = 0; i < n; i++)
		lower[i] = name[i] >= 'A' && name[i] <= 'Z' ?
				   (char)(name[i] | 0x20) :
				   name[i];
	return ab_pack_find(pack, lower, n);
}

/*
 * May this layer make a program of that name? What the table says of a
 * program is found by the name of the command, so a new name can take a
 * command out of the rules of the old one: "sudo/rm" is no wrapper, and
 * "python3.11" and "Python3" would run no inline program. `up`: the program of
 * a subcommand.
 */
static int32_t check_new(struct ab_pack_reader *r, const char *name, size_t n,
			 const struct ab_program *up, bool make)
{
	const struct ab_program *p = up ? NULL : other_name(r->pack, name, n);

	if (r->layer == AB_LAYER_BASE)
		return 0;
	if (up && !make)
		return ab_pack_bad(r, name,
				   "'%s' has no subcommand '%.*s'; say it in "
				   "two words", up->name,
				   (int)(n - up->name_len - 1),
				   name + up->name_len + 1);
	if (r->layer != AB_LAYER_PROJECT)
		return 0;
	if (up && up->layer != AB_LAYER_PROJECT)
		return ab_pack_bad(r, name, "a project adds no subcommand to "
				   "'%s'", up->name);
	if (p)
		return ab_pack_bad(r, name, "'%.*s' is '%s' already", (int)n,
				   name, p->name);
	return 0;
}

static int32_t make_program(struct ab_pack_reader *r, char *name, size_t n,
			    bool make, uint32_t *number)
{
	struct ab_pack *pack = r->pack;
	uint32_t parent = 0;
	char *slash = memrchr(name, '/', n);
	const struct ab_program *up =
		slash ? ab_pack_program(pack, name, (size_t)(slash - name)) :
			NULL;
	int32_t rc;

	if (slash && !up)
		return ab_pack_bad(r, name, "no program '%.*s'",
				   (int)(slash - name), name);
	rc = check_new(r, name, n, up, make);
	if (rc < 0)
		return rc;
	if (up) {
		parent = (uint32_t)(up - pack->programs) + 1;
		pack->programs[parent - 1].has_subs = true;
	}
	struct ab_program *p = ab_pack_add(pack, programs);

	if (!p)
		return ab_pack_full(r);
	p->name = name;
	p->name_len = (uint32_t)n;
	p->layer = (uint8_t)r->layer;
	/* a rule only names it, and a project can only tighten */
	p->is_stranger = r->layer == AB_LAYER_PROJECT ||
			 (r->layer == AB_LAYER_HOST && !make);
	p->hash = ab_pack_hash(name, n);
	p->key = ab_pack_key(name, n);
	p->is_git_name = ab_git_is_command(
		&(struct ab_word){ .text = name, .len = (uint32_t)n });
	p->parent = parent;
	p->depth = parent ? (uint8_t)(pack->programs[parent - 1].depth + 1) : 0;
	p->next = pack->buckets[p->hash % AB_PACK_BUCKETS];
	pack->buckets[p->hash % AB_PACK_BUCKETS] = pack->programs_count;
	*number = pack->programs_count - 1;
	return 0;
}

/* name[n] is NUL. */
static int32_t one_program(struct ab_pack_reader *r, char *name, size_t n,
			   bool make, struct ab_pack_list *list)
{
	const struct ab_program *have = ab_pack_program(r->pack, name, n);
	const char *as = NULL;
	uint32_t number = 0;

	if (list->count == AB_PACK_MAX_TOKENS)
		return ab_pack_too_many(r, AB_PACK_MAX_TOKENS, "programs");
	if (!n || n > 63)
		return ab_pack_bad(r, name, "a program needs a name");
	if (have && make)
		return ab_pack_bad(r, name, "program '%.*s' is there already",
				   (int)n, name);
	if (!have && !make && r->layer != AB_LAYER_BASE &&
	    (have = other_name(r->pack, name, n)))
		as = name;
	if (!have) {
		int32_t rc = make_program(r, name, n, make, &number);

		if (rc < 0)
			return rc;
	} else {
		number = (uint32_t)(have - r->pack->programs);
	}
	list->items[list->count].program = number;
	list->items[list->count++].as = as;
	return 0;
}

static int32_t set_programs(struct ab_pack_reader *r, char *name, size_t n,
			    bool make, struct ab_pack_list *list)
{
	for (uint32_t i = 0; i < r->pack->sets_count; i++) {
		struct ab_set set = r->pack->sets[i];

		if (strlen(set.name) != n || memcmp(set.name, name, n) != 0)
			continue;
		for (uint32_t k = 0; k < set.count; k++) {
			char *s = (char *)(uintptr_t)
					  r->pack->strings[set.first + k];
			int32_t rc = one_program(r, s, strlen(s), make, list);

			if (rc < 0)
				return rc;
		}
		return 0;
	}
	return ab_pack_bad(r, name, "no set '%.*s'", (int)n, name);
}

int32_t ab_pack_programs(struct ab_pack_reader *r, char *text, bool make,
			 struct ab_pack_list *list)
{
	for (char *p = text; p;) {
		char *end = strchr(p, ',');
		size_t n = end ? (size_t)(end - p) : strlen(p);
		int32_t rc;

		if (end)
			*end = '\0';
		if (*p == '@')
			rc = set_programs(r, p + 1, n - 1, make, list);
		else
			rc = one_program(r, p, n, make, list);
		if (rc < 0)
			return rc;
		p = end ? end + 1 : NULL;
	}
	return 0;
}

/* The options of the parent come first, with the same groups. */
static int32_t inherit(struct ab_pack_reader *r, struct ab_program *p)
{
	struct ab_pack *pack = r->pack;

	p->option = pack->options_count;
	if (!p->parent)
		return 0;
	const struct ab_program *up = &pack->programs[p->parent - 1];
	uint32_t from = up->option, count = up->option_count;

	for (uint32_t i = 0; i < count; i++) {
		struct ab_option *o = ab_pack_add(pack, options);

		if (!o)
			return ab_pack_full(r);
		*o = pack->options[from + i];
	}
	p->option_count = count;
	p->group_count = up->group_count;
	p->is_net = up->is_net;
	return 0;
}

/* The bits of `-h|-help`; 0: one of them is no such word. */
static uint8_t help_bits(const char *words)
{
	static const char *const names[] = { "-h", "-help", "--help", "help" };
	uint8_t bits = 0;

	for (const char *p = words; p;) {
		size_t n = strcspn(p, "|"), i = 0;

		while (i < AB_ARRAY_LEN(names) &&
		       (strlen(names[i]) != n || memcmp(names[i], p, n) != 0))
			i++;
		if (i == AB_ARRAY_LEN(names))
			return 0;
		bits |= (uint8_t)(1u << i);
		p = p[n] ? p + n + 1 : NULL;
	}
	return bits;
}

/* The programs that the words from there on name, of which a line lets more
   pass. */
static int32_t vouched_programs(struct ab_pack_reader *r, uint32_t from,
				struct ab_pack_list *list)
{
	if (r->layer == AB_LAYER_PROJECT)
		return ab_pack_bad(r, r->words[0],
				   "a project can only tighten");
	for (uint32_t i = from; i < r->count; i++) {
		int32_t rc = ab_pack_programs(r, r->words[i], false, list);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int32_t ab_pack_read_help(struct ab_pack_reader *r)
{
	struct ab_pack_list list = { .count = 0 };
	uint8_t bits = r->count > 2 ? help_bits(r->words[1]) : 0;

	if (!bits)
		return ab_pack_bad(r, r->words[0],
				   "help -h|-help|--help|help PROGRAM");
	int32_t rc = vouched_programs(r, 2, &list);

	for (uint32_t i = 0; rc == 0 && i < list.count; i++)
		r->pack->programs[list.items[i].program].help |= bits;
	return rc;
}

int32_t ab_pack_read_common(struct ab_pack_reader *r)
{
	struct ab_pack_list list = { .count = 0 };
	int32_t rc = r->count > 1 ? vouched_programs(r, 1, &list) :
				    ab_pack_bad(r, r->words[0],
						"common PROGRAM");

	for (uint32_t i = 0; rc == 0 && i < list.count; i++)
		r->pack->programs[list.items[i].program].is_common = true;
	return rc;
}

int32_t ab_pack_open_program(struct ab_pack_reader *r)
{
	struct ab_pack_list list = { .count = 0 };

	r->first = r->pack->programs_count;
	for (uint32_t i = 1; i < r->count; i++) {
		int32_t rc = ab_pack_programs(r, r->words[i], true, &list);

		if (rc < 0)
			return rc;
	}
	r->last = r->pack->programs_count;
	if (r->first == r->last)
		return ab_pack_bad(r, r->words[0], "program NAME...");
	int32_t rc = inherit(r, &r->pack->programs[r->first]);

	if (rc < 0)
		return rc;
	struct ab_program model = r->pack->programs[r->first];

	for (uint32_t i = r->first; i < r->last; i++) {
		struct ab_program *p = &r->pack->programs[i];

		p->option = model.option;
		p->option_count = model.option_count;
		p->group_count = model.group_count;
		p->is_net = model.is_net;
		p->role = r->pack->roles_count;
	}
	return 0;
}

static int32_t add_option(struct ab_pack_reader *r, char *spec)
{
	struct ab_program *p = &r->pack->programs[r->first];
	size_t n = strlen(spec);
	uint8_t arity = 0;

	if (n > 2 && !strcmp(spec + n - 2, "=?")) {
		arity = 2;
		n -= 2;
	} else if (n > 2 && !strcmp(spec + n - 2, "==")) {
		arity = 3;
		n -= 2;
	} else if (n > 1 && spec[n - 1] == '=') {
		arity = 1;
		n--;
	}
	spec[n] = '\0';
	if (p->group_count == AB_PACK_MAX_GROUPS)
		return ab_pack_too_many(r, AB_PACK_MAX_GROUPS,
					"options of a program");
	for (char *s = spec; s;) {
		char *end = strchr(s, ',');
		size_t len = end ? (size_t)(end - s) : strlen(s);

		if (!len || len > 63 || (*s != '-' && *s != '+'))
			return ab_pack_bad(r, s, "an option begins with '-'");
		struct ab_option *o = ab_pack_add(r->pack, options);

		if (!o)
			return ab_pack_full(r);
		o->name = s;
		o->len = (uint8_t)len;
		o->group = p->group_count;
		o->arity = arity;
		o->letter = len == 2 && *s == '-' ? s[1] : '\0';
		o->third = len > 2 ? s[2] : '\0';
		p->option_count++;
		s = end ? end + 1 : NULL;
	}
	p->group_count++;
	return 0;
}

static const char *const role_names[] = {
	[AB_ROLE_READ] = "read",     [AB_ROLE_SHOW] = "show",
	[AB_ROLE_LIST] = "list",     [AB_ROLE_WRITE] = "write",
	[AB_ROLE_DELETE] = "delete", [AB_ROLE_REMOVE] = "remove",
	[AB_ROLE_TREE] = "tree",     [AB_ROLE_SEND] = "send",
	[AB_ROLE_SAVE] = "save",     [AB_ROLE_RUN] = "run",
	[AB_ROLE_TRUNCATE] = "truncate",
	[AB_ROLE_ARITH] = "arith",   [AB_ROLE_SHELL] = "shell",   [AB_ROLE_EVAL] = "eval",
	[AB_ROLE_WRAP] = "wrap",     [AB_ROLE_CODE] = "code",
	[AB_ROLE_TEXT] = "text",     [AB_ROLE_CHDIR] = "chdir",
	[AB_ROLE_UNPACK] = "unpack", [AB_ROLE_EXPAND] = "expand",
	[AB_ROLE_LINK] = "link",
	[AB_ROLE_ALIAS] = "alias",   [AB_ROLE_MOVE] = "move",
	[AB_ROLE_FETCH] = "fetch",   [AB_ROLE_PARSE] = "parse",
	[AB_ROLE_SPLIT] = "split",
};

static int32_t read_selector(struct ab_pack_reader *r, char *s,
			     struct ab_role *role)
{
	const struct ab_program *p = &r->pack->programs[r->first];

	if (!strcmp(s, "all")) {
		role->select = AB_SEL_FROM;
		role->a = 1;
	} else if (!strcmp(s, "last")) {
		role->select = AB_SEL_LAST;
	} else if (!strcmp(s, "but-last")) {
		role->select = AB_SEL_BUT_LAST;
	} else if (*s >= '1' && *s <= '9') {
		role->a = (uint8_t)(*s - '0');
		role->select = s[1] == '-' ? AB_SEL_FROM : AB_SEL_NTH;
	} else if (!strcmp(s, "here")) {
		role->select = AB_SEL_HERE;
	} else if (!strncmp(s, "file:", 5) && !role->text) {
		role->select = AB_SEL_FILE;
		role->text = s + 5;
	} else if (!strncmp(s, "env:", 4) && !role->text) {
		role->select = AB_SEL_ENV;
		role->text = s + 4;
	} else if (!strncmp(s, "key:", 4) && !role->text) {
		role->select = AB_SEL_KEY;
		role->text = s + 4;
	} else if (!strncmp(s, "until:", 6)) {
		role->select = AB_SEL_UNTIL;
		return ab_pack_options(r, p, s + 6, &role->mask);
	} else if (!strcmp(s, "at:all")) {
		role->select = AB_SEL_AT;
		role->a = 1;
	} else if (!strncmp(s, "from:", 5) && !role->text) {
		role->select = AB_SEL_AT;
		role->text = "=<";
		return ab_pack_options(r, p, s + 5, &role->mask);
	} else if (!strncmp(s, "at:", 3)) {
		role->select = AB_SEL_AT;
		return ab_pack_options(r, p, s + 3, &role->mask);
	} else if (*s == '-' || *s == '+') {
		role->select = AB_SEL_OPTION;
		return ab_pack_options(r, p, s, &role->mask);
	} else {
		return ab_pack_bad(r, s, "no words are called '%s'", s);
	}
	return 0;
}

/* The options of a condition; output SOURCE if -P=1 has a value, too. */
static int32_t read_condition(struct ab_pack_reader *r, char *spec, bool is_if,
			      struct ab_role *role)
{
	const struct ab_program *p = &r->pack->programs[r->first];
	char *eq = strchr(spec, '=');

	if (eq) {
		if (!is_if || role->kind != AB_ROLE_OUTPUT || role->text ||
		    !eq[1])
			return ab_pack_bad(r, spec,
					   "only 'output' asks for a value");
		*eq = '\0';
		role->text = eq + 1;
	}
	return ab_pack_options(r, p, spec,
			       !is_if	    ? &role->unless
			       : role->need ? &role->also
					    : &role->need);
}

static int32_t read_conditions(struct ab_pack_reader *r, uint32_t i,
			       struct ab_role *role)
{
	for (; i < r->count; i += 2) {
		char *what = r->words[i];
		char *value = i + 1 < r->count ? r->words[i + 1] : NULL;
		bool is_if = !strcmp(what, "if");
		bool is_with = !strcmp(what, "with") &&
			       role->kind == AB_ROLE_WRAP &&
			       role->select != AB_SEL_UNTIL;
		int32_t rc = 0;

		if (!value ||
		    (!is_if && !is_with && strcmp(what, "unless") != 0))
			return ab_pack_bad(r, what, "if CONDITION or unless "
						    "CONDITION");
		if (is_with)
			rc = ab_pack_options(r, &r->pack->programs[r->first],
					     value, &role->mask);
		else if (!strcmp(value, "none") || !strcmp(value, "some"))
			role->none = (*value == 'n') == is_if ? 1 : 2;
		else if (is_if && !strcmp(value, "path"))
			role->none = 3;
		else if (is_if && !strcmp(value, "name"))
			role->none = 4;
		else if (is_if && !strcmp(value, "one"))
			role->none = 5;
		else
			rc = read_condition(r, value, is_if, role);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int32_t stdin_role(struct ab_pack_reader *r, struct ab_role *role,
			  uint32_t *next)
{
	const char *what = r->count > 1 ? r->words[1] : "";

	*next = 2;
	if (!strcmp(what, "shell")) {
		role->kind = AB_ROLE_STDIN_SHELL;
	} else if (!strcmp(what, "args")) {
		role->kind = AB_ROLE_STDIN_ARGS;
	} else if (!strcmp(what, "code") || !strcmp(what, "text")) {
		if (r->count < 3)
			return ab_pack_bad(r, what, "in which language?");
		role->kind = *what == 'c' ? AB_ROLE_STDIN_CODE
					  : AB_ROLE_STDIN_TEXT;
		role->text = r->words[2];
		role->format = ab_format_of(role->text);
		*next = 3;
	} else {
		return ab_pack_bad(r, r->words[0],
				   "stdin is shell, code, text or args");
	}
	return 0;
}

static int32_t plain_role(struct ab_pack_reader *r, struct ab_role *role,
			  uint32_t *next)
{
	uint32_t at = 1, kind;
	int32_t rc;

	for (kind = 0; kind < AB_ARRAY_LEN(role_names); kind++) {
		if (!strcmp(role_names[kind], r->words[0]))
			break;
	}
	if (kind == AB_ARRAY_LEN(role_names))
		return ab_pack_bad(r, r->words[0],
				   "'%s' says nothing about a program",
				   r->words[0]);
	role->kind = (uint8_t)kind;
	if (kind == AB_ROLE_CODE || kind == AB_ROLE_TEXT) {
		if (r->count < 3)
			return ab_pack_bad(r, r->words[0],
					   "%s LANGUAGE WORDS", r->words[0]);
		role->text = r->words[at++];
		role->format = ab_format_of(role->text);
	}
	if (at >= r->count)
		return ab_pack_bad(r, r->words[0], "of which words?");
	*next = at + 1;
	rc = read_selector(r, r->words[at], role);
	/* all words from one on: no other selection has a first one */
	if (rc == 0 && kind == AB_ROLE_WRAP && !role->a &&
	    role->select != AB_SEL_UNTIL)
		return ab_pack_bad(r, r->words[at],
				   "wrap 2, wrap 2- or wrap until:-exec");
	return rc;
}

/* What vouches for the output of a program, or for the program itself: where
   it is known, more is let pass. */
static int32_t vouch(struct ab_pack_reader *r, const char *word)
{
	return r->layer == AB_LAYER_PROJECT
		       ? ab_pack_bad(r, word, "a project can only tighten")
		       : 0;
}

static int32_t add_role(struct ab_pack_reader *r)
{
	struct ab_role role = { 0 };
	uint32_t next = 2;
	int32_t rc = 0;

	if (!strcmp(r->words[0], "stdin")) {
		rc = stdin_role(r, &role, &next);
	} else if (!strcmp(r->words[0], "output")) {
		role.kind = AB_ROLE_OUTPUT;
		if (r->count < 2)
			return ab_pack_bad(r, r->words[0], "output SOURCE");
		rc = ab_pack_taint(r, r->words[1], &role.taint);
		if (rc == 0 &&
		    (role.taint & (AB_TAINT_TEMP | AB_TAINT_QUOTED)))
			rc = vouch(r, r->words[1]);
	} else {
		rc = plain_role(r, &role, &next);
	}
	if (rc == 0)
		rc = read_conditions(r, next, &role);
	if (rc < 0)
		return rc;
	struct ab_role *have = ab_pack_add(r->pack, roles);

	if (!have)
		return ab_pack_full(r);
	*have = role;
	r->pack->programs[r->first].role_count++;
	r->pack->programs[r->first].role_kinds |= UINT32_C(1) << role.kind;
	if (role.kind >= AB_ROLE_SHELL && role.kind <= AB_ROLE_WRAP)
		r->pack->programs[r->first].is_wrapper = true;
	return 0;
}

static int32_t set_style(struct ab_pack_reader *r)
{
	static const char *const styles[] = { "gnu", "posix", "long", "tar",
					      "plain", "second", "first" };

	for (uint8_t i = 0; i < AB_ARRAY_LEN(styles) && r->count == 2; i++) {
		if (!strcmp(styles[i], r->words[1])) {
			r->pack->programs[r->first].style = i;
			return 0;
		}
	}
	return ab_pack_bad(r, r->words[0],
			   "style is gnu, posix, second, long, tar or plain");
}

static bool set_flag(struct ab_program *p, const char *word)
{
	if (!strcmp(word, "net"))
		p->is_net = true;
	else if (!strcmp(word, "env"))
		p->has_env = true;
	else if (!strcmp(word, "pass"))
		p->is_pass = true;
	else if (!strcmp(word, "names"))
		p->is_names = true;
	else if (!strcmp(word, "listed"))
		p->is_listed = true;
	else if (!strcmp(word, "located"))
		p->is_located = true;
	else if (!strcmp(word, "nohelp"))
		p->keeps_help = true;
	else if (!strcmp(word, "git"))
		p->is_git = true;
	else if (!strcmp(word, "builtin"))
		p->is_builtin = true;
	else if (!strcmp(word, "equals"))
		p->takes_equals = true;
	else if (!strcmp(word, "typed"))
		p->is_typed = true;
	else if (!strcmp(word, "commands"))
		p->has_commands = true;
	else if (!strcmp(word, "package"))
		p->is_package = true;
	else if (!strcmp(word, "modules"))
		p->has_modules = true;
	else
		return false;
	return true;
}

int32_t ab_pack_read_program(struct ab_pack_reader *r)
{
	struct ab_program *p = &r->pack->programs[r->first];
	int32_t rc = 0;

	if (!strcmp(r->words[0], "opt")) {
		for (uint32_t i = 1; i < r->count && rc == 0; i++)
			rc = add_option(r, r->words[i]);
	} else if (!strcmp(r->words[0], "style")) {
		rc = set_style(r);
	} else if (r->count != 1 || !set_flag(p, r->words[0])) {
		rc = add_role(r);
	} else if (p->is_builtin || p->is_names || p->is_listed ||
		   p->is_located) {
		rc = vouch(r, r->words[0]);
	}
	if (rc < 0)
		return rc;
	struct ab_program model = r->pack->programs[r->first];

	/* all of a block are the same but for their names and places */
	for (uint32_t i = r->first + 1; i < r->last; i++) {
		struct ab_program *to = &r->pack->programs[i];
		struct ab_program keep = *to;

		*to = model;
		to->name = keep.name;
		to->name_len = keep.name_len;
		to->hash = keep.hash;
		to->key = keep.key;
		to->is_git_name = keep.is_git_name;
		to->next = keep.next;
		to->parent = keep.parent;
		to->depth = keep.depth;
		to->has_subs = keep.has_subs;
		to->links = keep.links;
	}
	return 0;
}
