/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tree with every row of both tables planted: what is not to be read is in
 * the snapshot neither by name, nor by content, nor by inode, nor in an
 * archive made of it, nor in a repository synthesised from commits of it.
 * Rows: tests/data/snapshot-names.jsonl and snapshot-content.jsonl; DESIGN.md
 * section 8.
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
/* What a planted file holds; its marker is not all of it, when its name is
   one that is kept. */
static const char *holds = MARKER "\n";
/* A commit has none: a second name in it is a file of its own. */
static bool has_inodes = true;

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
static void plant_name(json_t *row, size_t i)
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
		put_beside(path, entries, holds);
		if (!entries)
			host_write(e2e_text("%s/inner.c", path), holds);
	} else if (host_exists(path)) {
		return; /* it is among what stands beside it */
	} else {
		host_write(path, holds);
		REQUIRE(!has_inodes ||
			link(path, e2e_text("%s/zz-alias.c", tree)) == 0,
			"link: %s", strerror(errno));
	}
	json_object_set_new(row, "planted", json_true());
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

/* Every row with a name of its own. */
static json_t *plant_names(void)
{
	json_t *rows = rows_of("snapshot-names.jsonl");
	json_t *row;
	size_t i;

	e2e_seconds(120);
	json_array_foreach(rows, i, row)
		if (is_planted(row))
			plant_name(row, i);
	CHECK(planted > 900, "%zu rows", planted);
	return rows;
}

static void every_name_is_left_out(void)
{
	json_t *rows = plant_names();
	copy_end end = copy();

	CHECK(end.done.left_out >= planted, "%llu of %zu left out",
	      (unsigned long long)end.done.left_out, planted);
	CHECK(look() > 3, "nothing was kept");
	the_archive_has_none();
	json_decref(rows);
}

/* --- names that are kept -------------------------------------------------- */

/* What is kept by its name, or when its content shows that it is public. */
static bool is_kept(const json_t *row)
{
	const char *profile = text_of(row, "profile");

	return strlen(text_of(row, "path")) < LONGEST &&
	       (strcmp(text_of(row, "out"), "kept") == 0 ||
		json_is_true(json_object_get(row, "proof"))) &&
	       (!*profile || strcmp(profile, "strict") == 0) &&
	       !json_object_get(row, "include") &&
	       !json_object_get(row, "exclude") &&
	       !json_object_get(row, "ignore") &&
	       !json_object_get(row, "entries");
}

/* How many rows of secret-paths.md ("keys-6/id_rsa") were planted. */
static size_t rows_of_the_table(const json_t *rows)
{
	json_t *seen = json_object();
	const json_t *row;
	size_t i, n;

	json_array_foreach(rows, i, row) {
		const char *id = text_of(row, "id");
		size_t head = strcspn(id, "0123456789");
		size_t digits = strspn(id + head, "0123456789");

		if (json_object_get(row, "planted") && head > 1 && digits &&
		    id[head - 1] == '-' && strchr("/#", id[head + digits]))
			json_object_setn_new(seen, id, head + digits,
					     json_true());
	}
	n = json_object_size(seen);
	json_decref(seen);
	return n;
}

/*
 * The rest of the table: a name that is kept, or a certificate in front, lets
 * no secret through. With those that are left out it is every row but one,
 * which is a size.
 */
static void what_is_kept_is_looked_into(void)
{
	content_random seed = { 88172645463325252u };
	json_t *rows;
	json_t *row;
	size_t i, n, by_name;

	rows = plant_names();
	by_name = planted;
	holds = content_text(&seed,
			     "-----BEGIN CERTIFICATE-----\n^B64^\n"
			     "-----END CERTIFICATE-----\n"
			     "token: ^^ghp_^C30^\n" MARKER "\n",
			     &n);
	json_array_foreach(rows, i, row)
		if (is_kept(row))
			plant_name(row, i);
	CHECK(planted > by_name + 1200, "%zu kept names", planted - by_name);
	CHECK(rows_of_the_table(rows) == 177, "%zu rows of the table",
	      rows_of_the_table(rows));
	copy_end end = copy();

	CHECK(end.done.left_out >= planted, "%llu of %zu left out",
	      (unsigned long long)end.done.left_out, planted);
	e2e_note("%zu rows left out by name, %zu others by what they hold",
		 by_name, planted - by_name);
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
	if (has_inodes || i == 0)
		put(e2e_text("%s.late.txt", at), lines, FAR - i * 64, p, n,
		    false);
	put(e2e_text("%s.wide.txt", at), "\xff\xfe", 2, p, n, true);
}

static void plant_contents(void)
{
	json_t *rows = rows_of("snapshot-content.jsonl");
	const json_t *row, *hit;
	size_t i, k;

	e2e_seconds(120);
	planted = 0;
	host_mkdir(host_path("ws/c"));
	json_array_foreach(rows, i, row) {
		json_array_foreach(json_object_get(row, "hit"), k, hit) {
			const char *template = json_string_value(hit);
			content_random own = content_seed(template, 0);
			size_t n;
			char *p = content_text(&own, template, &n);

			plant_text(text_of(row, "rule"), k, p, n);
			free(p);
		}
	}
	json_decref(rows);
	CHECK(planted > 600, "%zu texts", planted);
}

static void every_content_is_left_out(void)
{
	plant_contents();
	copy_end end = copy();

	CHECK(end.done.left_out >= planted, "%llu of %zu left out",
	      (unsigned long long)end.done.left_out, planted);
	CHECK(look() > 3, "nothing was kept");
	the_archive_has_none();
}

/* --- commits -------------------------------------------------------------- */

/* What a program of git says of the snapshot. */
static char *git_says(const char *command, size_t *n)
{
	const char *out = host_path("said");
	char *p;
	int fd;

	REQUIRE(system(e2e_text("HOME=/ GIT_CONFIG_NOSYSTEM=1 git -c "
				"safe.directory='*' -C '%s' %s >'%s' 2>&1",
				snap_path(""), command, out)) == 0,
		"git %s: %s", command, host_read(out));
	fd = open(out, O_RDONLY | O_CLOEXEC);
	REQUIRE(fd >= 0, "%s", out);
	p = slurp(fd, n);
	close(fd);
	return p;
}

/* In no object as it is when inflated, and git finds all of them. */
static void no_object_has_it(void)
{
	size_t n;
	char *p = git_says("cat-file --batch-all-objects --batch "
			   "--unordered", &n);

	CHECK(n > 100, "%zu bytes of objects", n);
	CHECK(!has_marker(p, n), "an object has what was planted");
	free(p);
	free(git_says("fsck --strict --full", &n));
	p = git_says("for-each-ref", &n);
	CHECK(!has_marker(p, n), "a name of the source's");
	free(p);
}

static void no_name_is_in(const char *commit, const json_t *rows)
{
	size_t n, i;
	char *p = git_says(e2e_text("ls-tree -r -z --name-only %s", commit),
			   &n);
	const json_t *row;

	json_array_foreach(rows, i, row) {
		const char *path = e2e_text("r%zu/%s/", i, path_of(row));
		size_t len = strlen(path);

		if (!json_object_get(row, "planted"))
			continue;
		CHECK(!memmem(p, n, path, len), "%s in %s", path, commit);
		path = e2e_text("r%zu/%s", i, path_of(row));
		CHECK(!memmem(p, n, path, len), "%s in %s", path, commit);
	}
	free(p);
}

static uint64_t number(agentbox_snapshot *job, const char *part,
		       const char *key)
{
	agentbox_bytes *text = NULL;
	json_t *v;
	uint64_t found;

	REQUIRE(agentbox_snapshot_to_json(job, &text, NULL) == 0, "to_json");
	v = json_loads(agentbox_bytes_get_data(text), 0, NULL);
	found = (uint64_t)json_integer_value(json_object_get(
		part ? json_object_get(v, part) : v, key));
	json_decref(v);
	agentbox_bytes_free(text);
	return found;
}

/* A snapshot of the commits, which are all that is left in the workspace. */
static void copy_commits(const char *mode, size_t least)
{
	agentbox_snapshot_options *o = NULL;
	agentbox_snapshot *job = NULL;
	agentbox_error *err = NULL;
	int source = open(host_path("ws"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int dest = open(host_path("out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_range = strcmp(mode, "range") == 0;

	/* the one before goes aside */
	(void)rename(snap_path(""), host_path("out/before"));
	(void)rename(host_path("out/.snap.agentbox"),
		     host_path("out/.before.agentbox"));
	REQUIRE(agentbox_snapshot_options_new(&o, &err) == 0 &&
			agentbox_snapshot_options_set_git(
				o, mode, is_range ? "base" : NULL, &err) == 0 &&
			agentbox_snapshot_copy(copy_context(), source, "ws",
					       dest, "snap", o, &job,
					       &err) == 0 &&
			agentbox_snapshot_wait(job, -1, &err) == 0,
		"%s: %s", mode, agentbox_error_get_message(err));
	uint64_t out = number(job, NULL, "left_out");

	if (is_range)
		out += number(job, "git", "base_left_out");

	CHECK(out >= least, "%llu of %zu left out of %s",
	      (unsigned long long)out, least, mode);
	agentbox_snapshot_free(job);
	agentbox_snapshot_options_free(o);
	close(dest);
	close(source);
}

static void commit_all(void)
{
	int status;
	char *said = HOST_RUN(&status, "python3",
			      e2e_text("%s/tests/e2e/commit_tree.py",
				       ab_test_srcdir()),
			      host_path("ws"), MARKER);

	REQUIRE(status == 0, "%s", said);
}

static void needs_git(void)
{
	if (!host_exists(e2e_text("%s/agentbox-git", ab_test_helper_dir())))
		e2e_skip("agentbox-git is not in this build");
	host_run((const char *const[]){ "rm", "-rf", ws_path(".git"), NULL },
		 NULL);
	host_mkdir(host_path("out"));
	has_inodes = false;
}

static void no_name_is_in_a_repository(void)
{
	json_t *rows;

	needs_git();
	rows = plant_names();
	commit_all();
	copy_commits("head", planted / 3);
	CHECK(look() > 3, "nothing was kept");
	no_object_has_it();
	no_name_is_in("HEAD", rows);
	copy_commits("range", planted);
	CHECK(look() > 3, "nothing was kept");
	no_object_has_it();
	no_name_is_in("HEAD", rows);
	no_name_is_in("HEAD~1", rows);
	json_decref(rows);
}

static void no_content_is_in_a_repository(void)
{
	needs_git();
	plant_contents();
	commit_all();
	copy_commits("range", planted);
	CHECK(look() > 3, "nothing was kept");
	no_object_has_it();
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(every_name_is_left_out),
		CASE(what_is_kept_is_looked_into),
		CASE(every_content_is_left_out),
		CASE(no_name_is_in_a_repository),
		CASE(no_content_is_in_a_repository),
		CASES_END
	};

	e2e_most_seconds = 360;
	return e2e_main(argc, argv, cases);
}
