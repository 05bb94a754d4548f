/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A name that is plainly inside (guard/near.c) is what path.c says when it
 * takes it apart: for every path of up to three of these names, from several
 * directories, homes and roots.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "guard/check.h"

#define MEMORY (1u << 20)

static const char *const names[] = {
	"src", "a", ".", "..", "", ".git", ".GIT", "git", ".env", ".env.local",
	"env", "id_rsa", "key.pem", "x.pem", ".ssh", "known_hosts", "etc",
	"passwd", "tmp", "home", "proc", "root", "main.c", "Makefile",
	"package.json", ".github", "workflows", "file:", "~", ".npmrc", "x\r",
	"credentials", "node_modules", ".bashrc", "shadow", "config", ".env\r",
	"quick", "word", "axb",
};

static const struct {
	const char *cwd, *root, *home, *temp;
} places[] = {
	{ "/srv/repo", "/srv/repo", "/home/u", "/tmp" },
	{ "/srv/repo/src", "/srv/repo", "/home/u", "/tmp" },
	{ "/srv/repo", "/srv/repo", "/home/u", "/srv/repo/a" },
	{ "/srv/repo", "/srv/repo", "/srv/repo/home", "/tmp" },
	{ "/srv/u/repo", "/srv/u/repo", "/srv/u", "/tmp" },
	{ "/srv/u/.ssh", "/srv/u", "/srv/u", "/tmp" },
	{ "/srv/.github/workflows", "/srv", NULL, NULL },
	{ "/home/u", "/home/u", "/home/u", NULL },
	{ "/tmp/repo", "/tmp/repo", "/home/u", "/tmp" },
	{ "/etc", "/etc", "/root", NULL },
	{ "/etc/ssh", "/etc", "/root", NULL },
	{ "/", "/", "/root", NULL },
	{ "/srv/other", "/srv/repo", "/home/u", "/tmp" },
	{ "/srv/repo/.git/x", "/srv/repo", "/home/u", "/tmp" },
	{ "/srv/repository", "/srv/repo", "/home/u", "/tmp" },
	/* what is not told as temporary or special is by its name */
	{ "/tmp/repo", "/tmp/repo", "/home/u", NULL },
	{ "/var/tmp/repo", "/var/tmp/repo", "/home/u", NULL },
	{ "/dev/shm/repo", "/dev/shm/repo", "/home/u", NULL },
	{ "/proc/self/root", "/proc/self/root", "/home/u", NULL },
	{ "/proc/self/cwd/a", "/proc/self/cwd/a", "/home/u", NULL },
	{ "/usr/src/repo", "/usr/src/repo", "/home/u", NULL },
	/* directories that are listed, and such as nobody writes them */
	{ "/srv/repo/.ssh", "/srv/repo", "/home/u", "/tmp" },
	{ "/srv/repo/credentials/x", "/srv/repo", "/home/u", "/tmp" },
	{ "/srv/repo/.GIT/x", "/srv/repo", "/home/u", "/tmp" },
	{ "/srv/repo/", "/srv/repo/", "/home/u", "/tmp" },
	{ "/srv/../repo", "/srv/../repo", "/home/u", "/tmp" },
	{ "/srv/./repo", "/srv/./repo", "/home/u", "/tmp" },
	{ "/srv//repo", "/srv//repo", "/home/u", "/tmp" },
	{ "/srv/..", "/srv/..", "/home/u", "/tmp" },
	{ "/srv/repo/..", "/srv/repo", "/home/u", "/tmp" },
	{ "/repo", "/repo", "/home/u", "/tmp" },
	{ "/home", "/home", "/home/u", "/tmp" },
	/* related to the home and to what is temporary, either way */
	{ "/srv/u/repo", "/srv/u/repo", "/srv/u/repo", NULL },
	{ "/srv/u/repo", "/srv/u/repo", "/srv/u/repo/x", NULL },
	{ "/srv/t/repo", "/srv/t/repo", "/home/u", "/srv/t" },
	{ "/srv/t/repo", "/srv/t/repo", "/home/u", "/srv/t/repo" },
};

/* Lists without a literal name, which only a host's pack has. */
static const char odd_pack[] =
	"pack odd 1\n"
	"class odd\n"
	"\t**/q*/w* /s*/r*/z* **/?x? ~/v*/** /*/*/m*\n";

static unsigned near_count, far_count;

static struct ab_known_path path_of(const char *text)
{
	return (struct ab_known_path){ text,
				       text ? (uint32_t)strlen(text) : 0 };
}

static void on_found(void *user, const struct ab_shell_found *found)
{
	(void)user;
	(void)found;
}

static void try_word(struct ab_check *c, const char *text)
{
	struct ab_word w = { .text = text, .len = (uint32_t)strlen(text) };
	void *mark = c->scratch->low;

	if (!ab_path_is_near(c, &w)) {
		far_count++;
		return;
	}
	near_count++;
	const struct ab_word *first = c->first_cwd;

	c->first_cwd = NULL; /* takes it apart */
	ck_assert_msg(ab_path_classes(c, &w) == AB_NEAR, "%s from %.*s", text,
		      (int)c->cwd->len, c->cwd->text);
	c->first_cwd = first;
	ab_arena_release(c->scratch, mark);
}

static void try_place(struct ab_check *c, size_t i)
{
	struct ab_known_path temp = path_of(places[i].temp);
	struct ab_shell_place_text place = {
		.cwd = path_of(places[i].cwd), .root = path_of(places[i].root),
		.home = path_of(places[i].home), .temps = &temp,
		.temp_count = places[i].temp != NULL,
	};
	struct ab_word cwd = { .text = place.cwd.text, .len = place.cwd.len };
	char text[256];

	c->place = &place;
	c->cwd = c->first_cwd = &cwd;
	c->near_dir = NULL;
	for (size_t a = 0; a < AB_ARRAY_LEN(names); a++) {
		try_word(c, names[a]);
		for (size_t b = 0; b < AB_ARRAY_LEN(names); b++) {
			snprintf(text, sizeof(text), "%s/%s", names[a],
				 names[b]);
			try_word(c, text);
			for (size_t k = 0; a < 8 && k < AB_ARRAY_LEN(names);
			     k++) {
				snprintf(text, sizeof(text), "%s/%s/%s",
					 names[a], names[b], names[k]);
				try_word(c, text);
			}
		}
	}
}

static unsigned char memory[MEMORY];

static struct ab_pack *new_pack(bool is_odd)
{
	struct ab_pack *pack = ab_pack_new();

	ck_assert_ptr_nonnull(pack);
	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_BASE, "base",
				      ab_base_rules, ab_base_rules_len, NULL),
			 0);
	if (is_odd)
		ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_HOST, "odd",
					      odd_pack, sizeof(odd_pack) - 1,
					      NULL),
				 0);
	return pack;
}

static void try_pack(bool is_odd)
{
	struct ab_arena arena;
	struct ab_pack *pack = new_pack(is_odd);
	struct ab_check c = { .pack = pack, .scratch = &arena, .high = &arena,
			      .report = on_found };

	ab_arena_init(&arena, memory, sizeof(memory));
	for (size_t i = 0; i < AB_ARRAY_LEN(places); i++)
		try_place(&c, i);
	ab_pack_free(pack);
}

START_TEST(a_name_that_is_near_is_what_the_long_way_says)
{
	try_pack(true);
	try_pack(false);
	/* both ways are gone */
	ck_assert_uint_gt(near_count, 1000);
	ck_assert_uint_gt(far_count, 1000);
}
END_TEST

/* What may be another name, another directory, or too long for one. */
START_TEST(what_is_not_sure_is_not_near)
{
	struct ab_known_path temp = path_of("/tmp");
	struct ab_shell_place_text place = {
		.cwd = path_of("/srv/repo"), .root = path_of("/srv/repo"),
		.home = path_of("/home/u"), .temps = &temp, .temp_count = 1,
	};
	struct ab_word cwd = { .text = "/srv/repo", .len = 9 }, other = cwd;
	struct ab_hole hole = { .at = 1, .len = 1, .kind = AB_HOLE_PATTERN };
	struct ab_word w = { .text = "src/a", .len = 5 };
	struct ab_word away = { .text = "/srv/rope", .len = 9 };
	struct ab_pack *pack = new_pack(false);
	struct ab_arena arena;
	struct ab_check c = { .pack = pack, .scratch = &arena, .high = &arena,
			      .report = on_found, .place = &place };
	char text[257];

	ab_arena_init(&arena, memory, sizeof(memory));
	c.cwd = c.first_cwd = &cwd;
	ck_assert(ab_path_is_near(&c, &w));
	w.holes = &hole;
	w.hole_count = 1;
	ck_assert(!ab_path_is_near(&c, &w));
	w.hole_count = 0;
	/* env -C: the same text, and yet another directory */
	c.cwd = &other;
	ck_assert(!ab_path_is_near(&c, &w));
	c.cwd = c.first_cwd = NULL;
	ck_assert(!ab_path_is_near(&c, &w));
	/* after cd */
	c.cwd = c.first_cwd = &away;
	ck_assert(!ab_path_is_near(&c, &w));
	away.len = 4;
	away.text = cwd.text;
	ck_assert(!ab_path_is_near(&c, &w));
	c.cwd = c.first_cwd = &cwd;
	ck_assert(ab_path_is_near(&c, &w));
	memset(text, 'a', sizeof(text));
	w.text = text;
	w.len = 255;
	ck_assert(ab_path_is_near(&c, &w));
	w.len = 256;
	ck_assert(!ab_path_is_near(&c, &w));
	w.text = "~/a";
	w.len = 3;
	ck_assert(!ab_path_is_near(&c, &w));
	/* nothing is inside of no root */
	w = (struct ab_word){ .text = "src/a", .len = 5 };
	place.root = path_of(NULL);
	c.near_dir = NULL;
	ck_assert(!ab_path_is_near(&c, &w));
	ab_pack_free(pack);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard near");
	TCase *tc = tcase_create("near");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_name_that_is_near_is_what_the_long_way_says);
	tcase_add_test(tc, what_is_not_sure_is_not_near);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
