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
#include "guard/check.h"
#include "guard/git.h"
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

/* What is found by the short way is what the long one finds, and no name that
   means more than itself is found by it. */
START_TEST(the_short_way_to_a_program_is_the_long_one)
{
	static const char *const others[] = {
		"",	"[",	"-n",  "!rm",	   "RM",     "Git",
		"a=b",	"../rm", "rm/",	"docker/run", "gcc-12", "rm ",
		"rm\n", "mkfs.*", "nosuch", "environment",
	};
	struct ab_pack *pack = base_pack();
	uint32_t seated = 0, is_short = 0;

	for (uint32_t i = 0; i < pack->programs_count; i++) {
		const struct ab_program *p = &pack->programs[i], *q;

		q = ab_pack_seated(pack, p->name, p->name_len);
		ck_assert_ptr_eq(ab_pack_find(pack, p->name, p->name_len), p);
		ck_assert_msg(!q || q == p, "%s is another", p->name);
		ck_assert_msg(!q || (*p->name >= 'a' && *p->name <= 'z' &&
				     !strpbrk(p->name, "/=*")),
			      "%s is no plain name", p->name);
		seated += q != NULL;
		is_short += p->name_len <= 8 && !p->depth;
	}
	ck_assert_uint_gt(seated, is_short / 2);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		ck_assert_msg(!ab_pack_seated(pack, others[i],
					      strlen(others[i])),
			      "'%s' is found", others[i]);
	ck_assert_ptr_null(ab_pack_seated(pack, "rm\0", 3));
	ck_assert_ptr_nonnull(ab_pack_seated(pack, "rm", 2));
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
	{ "program zz\n\twrap last\n", "p:2:7", "wrap 2" },
	{ "program zz\n\topt -x=\n\twrap -x\n", "p:3:7", "wrap 2" },
	{ "program zz\n\tcode python key:of\n", "p:2:14", "no words" },
	{ "rule x.y deny\n\twhen sudo/rm\n", "p:2:7", "in two words" },
	{ "help -x ls\n", "p:1:1", "help -h" },
	{ "help -h\n", "p:1:1", "help -h" },
	{ "common\n", "p:1:1", "common PROGRAM" },
	{ "rule parse.limit deny\n\tmachine\n", "p:2:2", "cannot be loosened" },
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

/* Bounds other than that of a table: the pack is too large, not the memory. */
static const struct {
	const char *before, *unit; /* # is the number */
	int count;
} large[] = {
	{ "program zz\n\topt", " -x#", AB_PACK_MAX_GROUPS + 1 },
	{ "", "rule x.y# deny\n", AB_PACK_MAX_RULES + 1 },
	{ "", "class c#\n", AB_PACK_MAX_CLASSES },
	{ "class c /", "a", 256 },
	{ "rule x.y deny\n\twhen ls a", "|b#", 256 },
	{ "set s", " p#", 60 },
	{ "rule x.y deny\n\twhen z", ",p#", AB_PACK_MAX_TOKENS },
};

START_TEST(a_bound_is_told_as_one)
{
	struct ab_pack *pack = base_pack();
	agentbox_error *err = NULL;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int32_t r;

	ck_assert_ptr_nonnull(f);
	fputs(large[_i].before, f);
	for (int i = 0; i < large[_i].count; i++)
		for (const char *p = large[_i].unit; *p; p++)
			if (*p == '#')
				fprintf(f, "%d", i);
			else
				fputc(*p, f);
	fclose(f);
	r = ab_pack_read(pack, AB_LAYER_HOST, "p", text, len, &err);
	if (large[_i].count == 60)
		ck_assert_int_eq(r, 0);
	else
		ck_assert_msg(r == AGENTBOX_ELIMIT &&
			      strstr(agentbox_error_get_message(err),
				     "at most"),
			      "%d: %s", r, agentbox_error_get_message(err));
	agentbox_error_free(err);
	free(text);
	ab_pack_free(pack);
}
END_TEST

START_TEST(a_pack_with_nul_or_too_many_bytes_is_refused)
{
	static char big[AB_PACK_MAX_BYTES + 1];
	struct ab_pack *pack = base_pack();
	agentbox_rules *rules = NULL;

	memset(big, '\n', sizeof(big));
	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_HOST, "p", "a\0b", 3,
				      NULL), AGENTBOX_EPARSE);
	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_HOST, "p", big,
				      sizeof(big), NULL), AGENTBOX_ELIMIT);
	ab_pack_free(pack);
	/* nothing is read of what is too long */
	ck_assert_int_eq(agentbox_rules_new(&rules, NULL), 0);
	for (size_t n = AB_PACK_MAX_BYTES + 1; n; n = n > n << 1 ? 0 : n << 1)
		ck_assert_int_eq(agentbox_rules_add(rules, AGENTBOX_RULES_HOST,
						    "p", "x", n, NULL),
				 AGENTBOX_ELIMIT);
	agentbox_rules_free(rules);
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

/*
 * A pack that is read with the line still denied, or refused: what a project
 * says must not take a command out of the rules.
 */
#define RM_PYTHON "python3.11 -c 'import os; os.system(\"rm -rf /\")'"
#define OURS(verdict, when)                                                    \
	"rule x.y " verdict "\n\treason r\n\tadvice a\n\twhen " when "\n"

static const struct {
	int layer;
	const char *text, *line;
	int least; /* verdict; 0: the pack is refused */
} takes[] = {
	{ AB_LAYER_PROJECT, "program sudo/rm\n", "sudo rm -rf /", 0 },
	{ AB_LAYER_PROJECT, "program rm/..\n", "rm -rf ..", 0 },
	{ AB_LAYER_PROJECT, "program python3.11\n", RM_PYTHON, 0 },
	{ AB_LAYER_PROJECT, "program rm.exe\n", "rm.exe -rf /", 0 },
	{ AB_LAYER_PROJECT, "program RM\n", "RM -rf /", 0 },
	{ AB_LAYER_PROJECT, "program x,Bash\n", "curl x | Bash", 0 },
	{ AB_LAYER_PROJECT, "program Python3.11\n", RM_PYTHON, 0 },
	{ AB_LAYER_PROJECT, "program mine\n", "mine sh -c 'rm -rf /'",
	  AB_V_DENY },
	{ AB_LAYER_PROJECT, "program mine\n\topt -c --env=\n\tread all\n",
	  "mine -c --env=x eval 'rm -rf /'", AB_V_DENY },
	{ AB_LAYER_PROJECT, "program mine\n\tlist all\n", "mine 3 rm -rf /",
	  AB_V_ASK },
	{ AB_LAYER_PROJECT, "program mine\n\topt -x\n",
	  "mine -x --help -- rm -rf /", AB_V_ASK },
	{ AB_LAYER_PROJECT, "program mine\n\twrap 2-\n", "mine -o /etc/passwd",
	  AB_V_DENY },
	{ AB_LAYER_PROJECT, "program mine\n\topt -o\n", "mine -o /etc/passwd",
	  AB_V_DENY },
	{ AB_LAYER_PROJECT, OURS("ask", "mine prod"), "mine sh -c 'rm -rf /'",
	  AB_V_DENY },
	{ AB_LAYER_HOST, OURS("deny", "mine prod"), "mine sh -c 'rm -rf /'",
	  AB_V_DENY },
	{ AB_LAYER_PROJECT, "program mine\n\toutput env\n", "mine | sh",
	  AB_V_DENY },
	{ AB_LAYER_PROJECT, "program mine\n\toutput process\n",
	  "eval set -- $(mine)", AB_V_DENY },
	{ AB_LAYER_PROJECT, "program mine\n\toutput temp\n",
	  "rm -rf $(mine)", 0 },
	{ AB_LAYER_PROJECT, "program mine\n\toutput quoted\n",
	  "eval set -- $(mine)", 0 },
	{ AB_LAYER_PROJECT, "program mine\n\tbuiltin\n", "mine -o /etc/x",
	  0 },
	{ AB_LAYER_PROJECT, "program mine\n\tnames\n", "git log $(mine)",
	  0 },
	{ AB_LAYER_HOST, "program mine\n\toutput temp\n", "rm -rf $(mine)",
	  AB_V_ALLOW },
	{ AB_LAYER_PROJECT, "program mine\nprogram mine/rm\n", "rm -rf /",
	  AB_V_DENY },
	{ AB_LAYER_PROJECT, OURS("ask", "sudo/rm"), "sudo rm -rf /", 0 },
	{ AB_LAYER_PROJECT, OURS("ask", "sudo rm"), "sudo rm -rf /",
	  AB_V_DENY },
	{ AB_LAYER_PROJECT, OURS("ask", "python3.11 x"), RM_PYTHON,
	  AB_V_DENY },
	{ AB_LAYER_PROJECT, OURS("ask", "python3.11 x"), "python3.11 x",
	  AB_V_ASK },
	{ AB_LAYER_PROJECT, OURS("ask", "python3.11 x"),
	  "/usr/bin/python3.11 x", AB_V_ASK },
	{ AB_LAYER_PROJECT, OURS("ask", "ls,RM x"), "RM -rf /", AB_V_DENY },
	{ AB_LAYER_HOST, OURS("deny", "python3.11 x"), RM_PYTHON, AB_V_DENY },
	{ AB_LAYER_HOST, OURS("deny", "cat,python3.11,python3.12 x"),
	  "python3.12 x", AB_V_DENY },
	{ AB_LAYER_PROJECT, "rule fs.rm-root deny\n\treason nothing\n",
	  "rm -rf /", 0 },
	{ AB_LAYER_PROJECT, "rule fs.rm-root deny\n\tadvice go on\n",
	  "rm -rf /", 0 },
	{ AB_LAYER_PROJECT, "rule fs.rm-root deny\n\ttry ls\n", "rm -rf /",
	  0 },
	{ AB_LAYER_PROJECT, "help -h rm\n", "rm -h", 0 },
	{ AB_LAYER_PROJECT, "rule net.metadata deny\n\tmachine\n", "ls", 0 },
	{ AB_LAYER_HOST, "help -h rm\n", "rm -rf / -h", AB_V_DENY },
	{ AB_LAYER_PROJECT, "rule exec.sudo deny\n\twhen doas x\n",
	  "doas x", AB_V_DENY },
};

struct worst {
	int verdict;
};

static void see(void *user, const struct ab_shell_found *found)
{
	struct worst *w = user;

	if (found->verdict > w->verdict)
		w->verdict = found->verdict;
}

/* The verdict on the line by this pack alone. */
static int judge(const struct ab_pack *pack, const char *line)
{
	static const struct ab_shell_place_text place = {
		.cwd = { "/srv/repo", 9 },
		.root = { "/srv/repo", 9 },
	};
	size_t n = strlen(line), room = ab_shell_check_room(n);
	void *memory = malloc(room);
	struct worst w = { AB_V_ALLOW };
	struct ab_arena arena;
	struct ab_shell_request q = { .pack = pack, .place = &place,
				      .arena = &arena, .report = see,
				      .user = &w };

	ck_assert_ptr_nonnull(memory);
	ab_arena_init(&arena, memory, room);
	if (!ab_shell_check_text(&q, line, n))
		w.verdict = AB_V_DENY;
	free(memory);
	return w.verdict;
}

START_TEST(a_pack_takes_no_command_out_of_the_rules)
{
	struct ab_pack *pack = base_pack();
	agentbox_error *err = NULL;
	int32_t r = ab_pack_read(pack, (enum ab_pack_layer)takes[_i].layer,
				 "p", takes[_i].text, strlen(takes[_i].text),
				 &err);

	ck_assert_msg((r < 0) == !takes[_i].least, "%s: %s", takes[_i].text,
		      r < 0 ? agentbox_error_get_message(err) : "accepted");
	if (r == 0)
		ck_assert_msg(judge(pack, takes[_i].line) >= takes[_i].least,
			      "%s allows %s", takes[_i].text, takes[_i].line);
	agentbox_error_free(err);
	ab_pack_free(pack);
}
END_TEST

/* What a host lets pass is not for a project to widen. */
START_TEST(a_project_adds_nothing_to_what_a_host_lets_pass)
{
	static const char ours[] = OURS("allow low", "ssh build");
	static const char more[] = "rule x.y allow\n\twhen sudo\n";
	struct ab_pack *pack = base_pack();

	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_HOST, "h", ours,
				      strlen(ours), NULL), 0);
	ck_assert_int_eq(judge(pack, "sudo ls"), AB_V_ASK);
	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_PROJECT, "p", more,
				      strlen(more), NULL), AGENTBOX_EPARSE);
	ck_assert_int_eq(judge(pack, "sudo ls"), AB_V_ASK);
	ab_pack_free(pack);
}
END_TEST

/* More rules about paths than a word has bits. */
START_TEST(a_path_rule_counts_wherever_it_stands)
{
	struct ab_pack *pack = base_pack();
	char text[8192];
	size_t n = (size_t)snprintf(
		text, sizeof(text),
		"class first\n\t**/first.txt\nclass middle\n\t**/middle.txt\n"
		"class last\n\t**/last.txt\n"
		"rule a.first deny high\n\treason r\n\tpath read first\n");

	for (int i = 0; i < 100; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "rule b.b%d ask low\n\treason r\n"
				      "\tpath read middle\n", i);
	n += (size_t)snprintf(text + n, sizeof(text) - n,
			      "rule c.last deny high\n\treason r\n"
			      "\tpath read last\n");
	agentbox_error *err = NULL;
	int32_t r = ab_pack_read(pack, AB_LAYER_HOST, "h", text, n, &err);

	ck_assert_msg(r == 0, "%s: %s", agentbox_error_get_where(err),
		      agentbox_error_get_message(err));
	ck_assert_uint_gt(pack->path_counts[AB_ROLE_READ], 100);
	ck_assert_int_eq(judge(pack, "cat first.txt"), AB_V_DENY);
	ck_assert_int_eq(judge(pack, "cat middle.txt"), AB_V_ASK);
	ck_assert_int_eq(judge(pack, "cat last.txt"), AB_V_DENY);
	ck_assert_int_eq(judge(pack, "cat other.txt"), AB_V_ALLOW);
	ab_pack_free(pack);
}
END_TEST

/* The verdict of a rule is that of its mildest condition. */
START_TEST(what_is_fixed_keeps_its_conditions)
{
	static const char text[] = "rule x.y ask high fixed\n\tdeny when ls\n";
	static const char same[] = "rule x.y ask\n";
	struct ab_pack *pack = base_pack();

	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_BASE, "b", text,
				      strlen(text), NULL), 0);
	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_HOST, "h", same,
				      strlen(same), NULL), 0);
	ck_assert_int_eq(judge(pack, "ls"), AB_V_DENY);
	ab_pack_free(pack);
}
END_TEST

/* A word has at most one value, however many options begin with a plus. */
/* Commands whose program is no git name are not asked whether they are git:
   so it must be known of each, also of the later ones of a block. */
START_TEST(a_program_knows_whether_its_name_is_gits)
{
	static const char text[] = "program zz,gitg,zy\n\topt -a\n";
	struct ab_pack *pack = base_pack();
	uint32_t count = 0;

	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_HOST, "p", text,
				      sizeof(text) - 1, NULL), 0);
	for (uint32_t i = 0; i < pack->programs_count; i++) {
		const struct ab_program *p = &pack->programs[i];
		struct ab_word name = { .text = p->name, .len = p->name_len };

		ck_assert_msg(p->is_git_name == ab_git_is_command(&name),
			      "%.*s", (int)p->name_len, p->name);
		count += p->is_git_name;
	}
	ck_assert_uint_ge(count, 5);
	ck_assert(ab_pack_program(pack, "gitg", 4)->is_git_name);
	ck_assert(!ab_pack_program(pack, "zy", 2)->is_git_name);
	ab_pack_free(pack);
}
END_TEST

START_TEST(many_plus_options_take_no_room_of_others)
{
	static const struct ab_word words[] = {
		{ .text = "zz", .len = 2 }, { .text = "+a", .len = 2 },
		{ .text = "+b", .len = 2 }, { .text = "+c", .len = 2 },
	};
	struct ab_pack *pack = base_pack();
	char text[1024] = "program zz\n\topt";
	size_t n = strlen(text);
	unsigned char memory[4096];
	struct ab_arena arena;
	struct ab_check check = { .pack = pack, .scratch = &arena };
	struct ab_use use = { 0 };

	for (int i = 0; i < 60; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " +%c%c=",
				      'a' + i % 26, 'a' + i / 26);
	n += (size_t)snprintf(text + n, sizeof(text) - n,
			      "\nrule x.y deny\n\twhen zz +ac %%1=last\n");
	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_HOST, "p", text, n,
				      NULL), 0);
	ab_arena_init(&arena, memory, sizeof(memory));
	ck_assert(ab_use_read(&check, ab_pack_program(pack, "zz", 2), words, 4,
			      &use));
	ck_assert_uint_eq(use.value_count, 3);
	ck_assert_uint_eq(use.options, (UINT64_C(1) << 60) - 1);
	ck_assert_int_eq(judge(pack, "zz +a +b +c +d +e last"), AB_V_DENY);
	ck_assert_int_eq(judge(pack, "zz +a +b +c +d +e first"), AB_V_ALLOW);
	ab_pack_free(pack);
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

/* What agentbox-rules(5) offers and the base pack does not use. */
START_TEST(a_pack_may_ask_for_what_is_not_known)
{
	static const struct {
		const char *test, *match, *not_match;
	} rows[] = {
		{ "%hole", "zz a \"$x\"", "zz a *.c ~/b" },
		{ "%hole", "zz $(cat x)", "zz b" },
		{ "%1=:hole", "zz \"$x\" a", "zz a \"$x\"" },
		{ "%any=:hole", "zz a b\"$x\"c", "zz a b" },
		{ "%any=:secret", "zz \"$(printenv)\"", "zz \"$x\"" },
		{ "%any=:huge", "zz 512K 4g", "zz 512K 4m" },
		{ "%any=:huge", "zz 99999999k", "zz 512k" },
	};
	char text[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		agentbox_error *err = NULL;
		int32_t r;

		snprintf(text, sizeof(text),
			 "program zz\nrule a.b deny\n\treason x\n"
			 "\twhen zz %s\n\tmatch %s\n\tnot_match %s\n",
			 rows[i].test, rows[i].match, rows[i].not_match);
		r = add(AGENTBOX_RULES_HOST, text, &err);
		ck_assert_msg(r == 0, "%s: %s: %s", rows[i].test,
			      agentbox_error_get_where(err),
			      agentbox_error_get_message(err));
	}
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
	tcase_add_test(t, the_short_way_to_a_program_is_the_long_one);
	tcase_add_test(t, every_rule_says_why_and_has_a_severity);
	tcase_add_loop_test(t, a_broken_pack_is_refused_with_its_place, 0,
			    (int)(sizeof(broken) / sizeof(broken[0])));
	tcase_add_test(t, a_pack_with_nul_or_too_many_bytes_is_refused);
	tcase_add_test(t, a_project_can_tighten_and_add_but_not_loosen);
	tcase_add_loop_test(t, a_bound_is_told_as_one, 0,
			    (int)(sizeof(large) / sizeof(large[0])));
	tcase_add_loop_test(t, a_pack_takes_no_command_out_of_the_rules, 0,
			    (int)(sizeof(takes) / sizeof(takes[0])));
	tcase_add_test(t, a_project_adds_nothing_to_what_a_host_lets_pass);
	tcase_add_test(t, a_path_rule_counts_wherever_it_stands);
	tcase_add_test(t, what_is_fixed_keeps_its_conditions);
	tcase_add_test(t, many_plus_options_take_no_room_of_others);
	tcase_add_test(t, a_program_knows_whether_its_name_is_gits);
	tcase_add_test(t, examples_that_fail_refuse_the_pack);
	tcase_add_test(t, a_pack_may_ask_for_what_is_not_known);
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
