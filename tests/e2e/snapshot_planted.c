/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tree with every row of both tables planted: what is not to be read is in
 * the snapshot neither by name, nor by content, nor by inode, nor in an
 * archive made of it. Rows: tests/data/snapshot-names.jsonl and
 * snapshot-content.jsonl; DESIGN.md section 8.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/snapshot.h"

#include "abtest.h"
#include "box.h"
#include "copy.h"
#include "tests/unit/content_text.h"

/* In every planted file, and in nothing that is to be kept. */
#define MARKER "PLANTED-4711"
#define LONGEST 250
/* Past the first window of the scan and the first piece of the ring. */
#define FAR ((size_t)1300 << 10)

static size_t planted;

static json_t *rows_of(const char *file)
{
	char *path = e2e_text("%s/tests/data/%s", ab_test_srcdir(), file);
	json_t *rows = json_array();
	char *line = NULL;
	size_t room = 0;
	FILE *f = fopen(path, "re");

	REQUIRE(f, "%s: %s", path, strerror(errno));
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);

		REQUIRE(row, "%s", line);
		json_array_append_new(rows, row);
	}
	free(line);
	fclose(f);
	return rows;
}

/* --- names ---------------------------------------------------------------- */

static const char *text_of(const json_t *row, const char *key)
{
	const char *s = json_string_value(json_object_get(row, key));

	return s ? s : "";
}

/* Bytes that are no text come in hex. */
static char *path_of(const json_t *row)
{
	const char *hex = text_of(row, "hex");
	static char out[4096];
	size_t n = 0;
	unsigned byte;

	if (!*hex)
		return e2e_text("%s", text_of(row, "path"));
	for (; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
		out[n] = (char)byte;
	out[n] = 0;
	return out;
}

/*
 * What a strict copy without a word of the host leaves out by a name, whatever
 * it holds (rows with a "proof" are kept when their content shows it).
 */
static bool is_planted(const json_t *row)
{
	const char *out = text_of(row, "out");
	const char *profile = text_of(row, "profile");

	/* what no file system takes; SNAPSHOT-CASES.md, row 9, is of such */
	return strlen(text_of(row, "path")) < LONGEST &&
	       (strcmp(out, "name") == 0 || strcmp(out, "structure") == 0 ||
		strcmp(out, "name-encoding") == 0) &&
	       (!*profile || strcmp(profile, "strict") == 0) &&
	       !json_object_get(row, "include") &&
	       !json_object_get(row, "exclude") &&
	       !json_object_get(row, "ignore") &&
	       !json_is_true(json_object_get(row, "proof")) &&
	       !json_is_true(json_object_get(row, "passage"));
}

/* "name" or "name/" in a directory. */
static void put_beside(const char *dir, const json_t *names, const char *text)
{
	const json_t *v;
	size_t i;

	json_array_foreach(names, i, v) {
		const char *s = json_string_value(v);
		char *path = e2e_text("%s/%s", dir, s);

		if (s[0] && s[strlen(s) - 1] == '/')
			host_mkdir(path);
		else if (!host_exists(path))
			host_write(path, text);
	}
}

/*
 * In a tree of its own, so that rows are not beside one another; one of a
 * program's work, for that is what the root of a row's tree stands for.
 */
static void plant_name(const json_t *row, size_t i)
{
	char *tree = e2e_text("%s/r%zu", host_path("ws"), i);
	char *path = e2e_text("%s/%s", tree, path_of(row));
	const json_t *entries = json_object_get(row, "entries");
	char *dir = e2e_text("%s", path);

	*strrchr(dir, '/') = 0;
	host_mkdir(dir);
	put_beside(dir, json_object_get(row, "siblings"), "beside\n");
	if (!strchr(path_of(row), '/') && !json_object_get(row, "siblings"))
		host_write(e2e_text("%s/package.json", tree), "{}\n");
	if (json_is_true(json_object_get(row, "dir")) || entries) {
		host_mkdir(path);
		put_beside(path, entries, MARKER "\n");
		if (!entries)
			host_write(e2e_text("%s/inner.c", path), MARKER "\n");
	} else if (!host_exists(path)) {
		host_write(path, MARKER "\n");
		REQUIRE(link(path, e2e_text("%s/zz-alias.c", tree)) == 0,
			"link: %s", strerror(errno));
	}
	planted++;
}

/* --- what came over ------------------------------------------------------- */

static bool has_marker(const char *p, size_t n)
{
	return memmem(p, n, MARKER, strlen(MARKER)) != NULL;
}

static char *slurp(int fd, size_t *n)
{
	struct stat st;
	char *p;

	REQUIRE(fstat(fd, &st) == 0, "fstat");
	*n = (size_t)st.st_size;
	p = malloc(*n + 1);
	REQUIRE(p && pread(fd, p, *n, 0) == (ssize_t)*n, "read");
	return p;
}

static void look_below(int dirfd, const char *at, size_t *files)
{
	DIR *d = fdopendir(dirfd);
	struct dirent *e;
	size_t n;

	while (d && (e = readdir(d))) {
		char *path = e2e_text("%s/%s", at, e->d_name);
		struct stat st;
		char *p;
		int fd;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		fd = openat(dirfd, e->d_name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		REQUIRE(fd >= 0 && fstat(fd, &st) == 0, "%s", path);
		if (S_ISDIR(st.st_mode)) {
			look_below(fd, path, files);
			continue;
		}
		CHECK(S_ISREG(st.st_mode) && st.st_nlink == 1,
		      "%s: mode %o, %lu names", path, st.st_mode,
		      (unsigned long)st.st_nlink);
		p = slurp(fd, &n);
		CHECK(!has_marker(p, n), "%s was planted", path);
		free(p);
		close(fd);
		(*files)++;
	}
	if (d)
		closedir(d);
}

static size_t look(void)
{
	size_t files = 0;

	look_below(open(snap_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "",
		   &files);
	return files;
}

static copy_end copy(void)
{
	copy_task task;

	copy_init(&task, AB_COPY_MAKE);
	copy_end end = copy_do(&task);

	REQUIRE(end.code == 0, "%d %s: %s", end.code, end.where, end.message);
	return end;
}

/* A tar that is not compressed has every byte as it is. */
static void the_archive_has_none(void)
{
	int source = open(host_path("ws"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = open(host_path("all.tar"),
		      O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	agentbox_snapshot *job = NULL;
	agentbox_error *err = NULL;
	size_t n;
	char *p;

	REQUIRE(source >= 0 && fd >= 0, "all.tar");
	if (!host_exists(e2e_text("%s/agentbox-archive",
				  ab_test_helper_dir()))) {
		e2e_note("archives are not in this build");
		return;
	}
	REQUIRE(agentbox_snapshot_pack(copy_context(), source, "a tree", fd,
				       "tar", NULL, &job, &err) == 0 &&
			agentbox_snapshot_wait(job, -1, &err) == 0,
		"%s", agentbox_error_get_message(err));
	agentbox_snapshot_free(job);
	close(source);
	p = slurp(fd, &n);
	CHECK(n >= 10240, "%zu bytes", n);
	CHECK(!has_marker(p, n), "the archive has what was planted");
	free(p);
	close(fd);
}

static void every_name_is_left_out(void)
{
	json_t *rows = rows_of("snapshot-names.jsonl");
	const json_t *row;
	size_t i;

	e2e_seconds(120);
	json_array_foreach(rows, i, row)
		if (is_planted(row))
			plant_name(row, i);
	CHECK(planted > 900, "%zu rows", planted);
	copy_end end = copy();

	CHECK(end.done.left_out >= planted, "%llu of %zu left out",
	      (unsigned long long)end.done.left_out, planted);
	CHECK(look() > 3, "nothing was kept");
	the_archive_has_none();
	json_decref(rows);
}

/* --- contents ------------------------------------------------------------- */

static void put(const char *path, const char *before, size_t n_before,
		const char *p, size_t n, bool wide)
{
	static const char end[] = "\n" MARKER "\n";
	FILE *f = fopen(path, "we");

	REQUIRE(f, "%s", path);
	fwrite(before, 1, n_before, f);
	for (size_t i = 0; i < n; i++) {
		fputc(p[i], f);
		if (wide)
			fputc(0, f);
	}
	if (wide)
		fwrite("\n", 1, 2, f);
	fwrite(end, 1, sizeof(end) - 1, f);
	REQUIRE(fclose(f) == 0, "%s", path);
	planted++;
}

/* As it is; late in a large file; as UTF-16. */
static void plant_text(const char *rule, size_t i, const char *p, size_t n)
{
	static char lines[FAR];
	char *at = e2e_text("%s/%s-%zu", host_path("ws/c"), rule, i);

	if (!lines[0])
		for (size_t k = 0; k < FAR; k++)
			lines[k] = k % 64 == 63 ? '\n' : 'a';
	put(e2e_text("%s.txt", at), "", 0, p, n, false);
	put(e2e_text("%s.late.txt", at), lines, FAR - i * 64, p, n, false);
	put(e2e_text("%s.wide.txt", at), "\xff\xfe", 2, p, n, true);
}

static void every_content_is_left_out(void)
{
	content_random seed = { 88172645463325252u };
	json_t *rows = rows_of("snapshot-content.jsonl");
	const json_t *row, *hit;
	size_t i, k;

	e2e_seconds(120);
	planted = 0;
	host_mkdir(host_path("ws/c"));
	json_array_foreach(rows, i, row) {
		json_array_foreach(json_object_get(row, "hit"), k, hit) {
			const char *template = json_string_value(hit);
			size_t n;
			char *p = content_text(&seed, template, &n);

			plant_text(text_of(row, "rule"), k, p, n);
			free(p);
		}
	}
	CHECK(planted > 600, "%zu texts", planted);
	copy_end end = copy();

	CHECK(end.done.left_out >= planted, "%llu of %zu left out",
	      (unsigned long long)end.done.left_out, planted);
	CHECK(look() > 3, "nothing was kept");
	the_archive_has_none();
	json_decref(rows);
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(every_name_is_left_out),
		CASE(every_content_is_left_out),
		CASES_END
	};

	e2e_most_seconds = 240;
	return e2e_main(argc, argv, cases);
}
