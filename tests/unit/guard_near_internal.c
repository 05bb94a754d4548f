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
	"credentials", "node_modules", ".bashrc", "shadow", "config",
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
};

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

START_TEST(a_name_that_is_near_is_what_the_long_way_says)
{
	static unsigned char memory[MEMORY];
	struct ab_arena arena;
	struct ab_pack *pack = ab_pack_new();
	struct ab_check c = { .pack = pack, .scratch = &arena, .high = &arena,
			      .report = on_found };

	ck_assert_ptr_nonnull(pack);
	ck_assert_int_eq(ab_pack_read(pack, AB_LAYER_BASE, "base",
				      ab_base_rules, ab_base_rules_len, NULL),
			 0);
	ab_arena_init(&arena, memory, sizeof(memory));
	for (size_t i = 0; i < AB_ARRAY_LEN(places); i++)
		try_place(&c, i);
	ab_pack_free(pack);
	/* both ways are gone */
	ck_assert_uint_gt(near_count, 1000);
	ck_assert_uint_gt(far_count, 1000);
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
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
