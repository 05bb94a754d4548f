/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox snapshot: filtered copies of a source tree, made, refreshed,
 * explained, verified, ended, written to archives and read from them.
 * Specification: agentbox(1), agentbox_snapshot(3).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job.h"
#include "text.h"

/* --- options --- */

static int32_t set_number(agentbox_snapshot_options *o, const char *name,
			  const char *value, agentbox_error **err)
{
	char *end = NULL;
	errno = 0;
	unsigned long long n = strtoull(value, &end, 10);

	if (errno || !*value || *end || *value == '-' || *value == '+')
		n = 0; /* which the library refuses by name */
	if (!strcmp(name, "--max-bytes"))
		return agentbox_snapshot_options_set_max_bytes(o, n, err);
	if (!strcmp(name, "--max-files"))
		return agentbox_snapshot_options_set_max_files(o, n, err);
	return agentbox_snapshot_options_set_deadline(o, n * 1000, err);
}

/* none, head, range=BASE */
static int32_t set_git(agentbox_snapshot_options *o, const char *value,
		       agentbox_error **err)
{
	static const char range[] = "range=";

	if (strncmp(value, range, sizeof(range) - 1) == 0)
		return agentbox_snapshot_options_set_git(
			o, "range", value + sizeof(range) - 1, err);
	return agentbox_snapshot_options_set_git(o, value, NULL, err);
}

static int32_t set_option(agentbox_snapshot_options *o, const char *name,
			  const char *value, agentbox_error **err)
{
	if (!strcmp(name, "--exclude"))
		return agentbox_snapshot_options_add_exclude(o, value, err);
	if (!strcmp(name, "--include"))
		return agentbox_snapshot_options_add_include(o, value, err);
	if (!strcmp(name, "--admit"))
		return agentbox_snapshot_options_add_admit(o, value, err);
	if (!strcmp(name, "--profile"))
		return agentbox_snapshot_options_set_profile(o, value, err);
	if (!strcmp(name, "--content"))
		return agentbox_snapshot_options_set_content(o, value, err);
	if (!strcmp(name, "--git"))
		return set_git(o, value, err);
	if (!strcmp(name, "--no-hashes"))
		return agentbox_snapshot_options_set_hashes(o, 0, err);
	if (!strcmp(name, "--max-bytes") || !strcmp(name, "--max-files") ||
	    !strcmp(name, "--deadline"))
		return set_number(o, name, value, err);
	return 0; /* of the tool, or of the command */
}

/* --repository and --head, which say one thing together. */
static int set_repository(tool *t, const tool_args *args,
			  agentbox_snapshot_options *o)
{
	const char *dir = tool_get(args, "--repository");
	const char *head = tool_get(args, "--head");
	agentbox_error *err = NULL;

	if (!dir && !head)
		return 0;
	char *path = dir ? realpath(dir, NULL) : NULL;
	if (dir && !path)
		return tool_refuse(t, errno == EACCES ? TOOL_REFUSED :
						       TOOL_NOT_FOUND,
				   errno == EACCES ? "EACCES" : "ENOTFOUND",
				   dir, "cannot find the repository: %s",
				   strerror(errno));
	int32_t r = agentbox_snapshot_options_set_repository(o, path, head,
							     &err);
	free(path);
	return r < 0 ? tool_fail_as(t, TOOL_USAGE, err, head ? "--head" :
				    "--repository") : 0;
}

int tool_snapshot_options(tool *t, const tool_args *args,
			  agentbox_snapshot_options **options)
{
	const char *file = tool_get(args, "--policy");
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	int rc = file ? tool_read_policy(t, file, &policy) : 0;

	if (rc)
		return rc;
	const char *about = file;
	int32_t r = agentbox_snapshot_options_new(options, &err);
	if (r == 0 && policy)
		r = agentbox_snapshot_options_set_policy(*options, policy,
							 &err);
	agentbox_policy_unref(policy);
	for (size_t i = 0; r == 0 && i < args->value_count; i++) {
		about = args->values[i].option->name;
		r = set_option(*options, about, args->values[i].value, &err);
	}
	rc = r == 0 ? set_repository(t, args, *options) :
		      tool_fail_as(t, TOOL_USAGE, err, about);
	if (rc) {
		agentbox_snapshot_options_free(*options);
		*options = NULL;
	}
	return rc;
}

bool tool_snapshot_has_options(const tool_args *args)
{
	static const char *const names[] = {
		"--policy", "--exclude", "--include", "--admit", "--profile",
		"--content", "--git", "--repository", "--head", "--no-hashes",
		"--max-bytes", "--max-files", "--deadline",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (tool_has(args, names[i]))
			return true;
	return false;
}

/* --- places --- */

static int open_source(tool *t, const char *path, int *fd)
{
	static const struct {
		int sys_errno, status;
		const char *code;
	} table[] = {
		{ ENOENT, TOOL_NOT_FOUND, "ENOTFOUND" },
		{ EACCES, TOOL_REFUSED, "EACCES" },
		{ EPERM, TOOL_REFUSED, "EACCES" },
		{ ENOTDIR, TOOL_BAD_INPUT, "EINVAL" },
		{ ELOOP, TOOL_BAD_INPUT, "EINVAL" },
		{ ENAMETOOLONG, TOOL_BAD_INPUT, "EINVAL" },
		{ 0, TOOL_INTERNAL, "ESYS" },
	};
	size_t i = 0;

	*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd >= 0)
		return 0;
	while (table[i].sys_errno && table[i].sys_errno != errno)
		i++;
	return tool_refuse(t, table[i].status, table[i].code, path,
			   "cannot open the directory: %s", strerror(errno));
}

typedef struct place {
	char *path;	  /* owned, absolute */
	const char *name; /* in it */
	int fd;		  /* the directory that holds it */
} place;

static void place_end(place *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->path);
}

/* DST is a name in a directory that is there. */
static int open_place(tool *t, const char *path, place *p)
{
	*p = (place){ .path = tool_absolute(path), .fd = -1 };
	char *slash = p->path ? strrchr(p->path, '/') : NULL;

	if (!slash)
		return tool_no_path(t, path);
	if (!slash[1])
		return tool_refuse(t, TOOL_USAGE, "EINVAL", path,
				   "is no name for a snapshot");
	*slash = '\0';
	int rc = open_source(t, slash == p->path ? "/" : p->path, &p->fd);
	*slash = '/';
	p->name = slash + 1;
	return rc;
}

/* The same, where something is to be made: one who may not learns where. */
static int open_destination(tool *t, const char *path, place *p)
{
	int rc = open_place(t, path, p);

	if (rc || faccessat(p->fd, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return rc;
	p->path[p->name - p->path - (p->name > p->path + 1)] = '\0';
	return tool_refuse(t, TOOL_REFUSED, "EACCES", p->path,
			   "cannot write to the directory: %s",
			   strerror(errno));
}

/* --- the jobs --- */

static int end_job(tool *t, agentbox_snapshot *job, const char *about,
		   bool lines)
{
	int rc = tool_job_wait(t, job, about, lines, NULL, NULL);

	agentbox_snapshot_free(job);
	return rc;
}

int tool_snapshot_copy(tool *t, const tool_args *args)
{
	agentbox_snapshot_options *options = NULL;
	agentbox_snapshot *job = NULL;
	agentbox_error *err = NULL;
	char *name = tool_absolute(args->operands[0]);
	place dst = { .fd = -1 };
	int source = -1;
	int rc = name ? 0 : tool_no_path(t, args->operands[0]);

	if (!rc)
		rc = tool_snapshot_options(t, args, &options);
	if (!rc)
		rc = open_source(t, args->operands[0], &source);
	if (!rc)
		rc = open_destination(t, args->operands[1], &dst);
	if (!rc && agentbox_snapshot_copy(t->context, source, name, dst.fd,
					  dst.name, options, &job, &err) < 0)
		rc = tool_fail_name(t, err, args->operands[1]);
	if (!rc)
		rc = end_job(t, job, args->operands[1], false);
	agentbox_snapshot_options_free(options);
	if (source >= 0)
		close(source);
	place_end(&dst);
	free(name);
	return rc;
}

/* "\xNN" of a path that is not UTF-8, back to the byte. */
static void decode(char *s)
{
	char *to = s;
	unsigned byte;

	for (; *s; s++) {
		if (s[0] == '\\' && sscanf(s, "\\x%2x", &byte) == 1) {
			*to++ = (char)byte;
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* Where the record says it came from; owned, NULL after saying why not. */
static char *source_of(tool *t, const place *dst, const char *about, int *rc)
{
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;

	if (agentbox_snapshot_describe(dst->fd, dst->name, &bytes, &err) < 0) {
		*rc = tool_fail_name(t, err, about);
		return NULL;
	}
	json_t *v = tool_json_of(bytes);
	char *source = strdup(text_of(v, "source"));
	if (source && json_is_true(json_object_get(v, "encoded")))
		decode(source);
	json_decref(v);
	if (!source)
		*rc = TOOL_INTERNAL;
	return source;
}

int tool_snapshot_refresh(tool *t, const tool_args *args)
{
	const char *about = args->operands[0];
	agentbox_snapshot_options *options = NULL;
	agentbox_snapshot *job = NULL;
	agentbox_error *err = NULL;
	place dst = { .fd = -1 };
	char *source = NULL;
	int fd = -1;
	int rc = 0;

	/* without options of its own: those it was made with */
	if (tool_snapshot_has_options(args))
		rc = tool_snapshot_options(t, args, &options);
	if (!rc)
		rc = open_destination(t, about, &dst);
	if (!rc)
		source = source_of(t, &dst, about, &rc);
	if (!rc)
		rc = open_source(t, source, &fd);
	if (!rc && agentbox_snapshot_refresh(t->context, fd, dst.fd, dst.name,
					     options, &job, &err) < 0)
		rc = tool_fail_name(t, err, about);
	if (!rc)
		rc = end_job(t, job, about, false);
	agentbox_snapshot_options_free(options);
	if (fd >= 0)
		close(fd);
	free(source);
	place_end(&dst);
	return rc;
}

int tool_snapshot_explain(tool *t, const tool_args *args)
{
	const char *about = args->operands[0];
	agentbox_snapshot_options *options = NULL;
	agentbox_snapshot *job = NULL;
	agentbox_error *err = NULL;
	int fd = -1;
	int rc = tool_snapshot_options(t, args, &options);

	if (!rc)
		rc = open_source(t, about, &fd);
	if (!rc && agentbox_snapshot_explain(t->context, fd, options, &job,
					     &err) < 0)
		rc = tool_fail_name(t, err, about);
	if (!rc)
		rc = end_job(t, job, about, true);
	agentbox_snapshot_options_free(options);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int at_place(tool *t, const tool_args *args,
		    int32_t (*start)(agentbox_context *, int32_t, const char *,
				     agentbox_snapshot **, agentbox_error **),
		    bool lines)
{
	const char *about = args->operands[0];
	agentbox_snapshot *job = NULL;
	agentbox_error *err = NULL;
	place dst = { .fd = -1 };
	int rc = open_place(t, about, &dst);

	if (!rc && start(t->context, dst.fd, dst.name, &job, &err) < 0)
		rc = tool_fail_name(t, err, about);
	if (!rc)
		rc = end_job(t, job, about, lines);
	place_end(&dst);
	return rc;
}

int tool_snapshot_verify(tool *t, const tool_args *args)
{
	return at_place(t, args, agentbox_snapshot_verify, true);
}

int tool_snapshot_scrub(tool *t, const tool_args *args)
{
	return at_place(t, args, agentbox_snapshot_scrub, false);
}

/* --- archives --- */

/* "zip" of "x.zip"; NULL when its name does not say. */
static const char *format_of(const char *file)
{
	static const char *const suffixes[][2] = {
		{ ".zip", "zip" },	   { ".tar.gz", "tar.gz" },
		{ ".tgz", "tar.gz" },	   { ".tar.zst", "tar.zst" },
		{ ".tzst", "tar.zst" },
	};
	size_t n = file ? strlen(file) : 0;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t k = strlen(suffixes[i][0]);

		if (n > k && !strcmp(file + n - k, suffixes[i][0]))
			return suffixes[i][1];
	}
	return NULL;
}

static int no_output(tool *t, const char *file)
{
	return tool_refuse(t, errno == ENOENT ? TOOL_NOT_FOUND : TOOL_REFUSED,
			   errno == EEXIST ? "EEXIST" : "EACCES", file,
			   "cannot make the file: %s", strerror(errno));
}

/* Where an archive goes. */
typedef struct output {
	const char *file; /* NULL: standard output */
	int fd;
	bool is_unnamed; /* gets its name when it is whole */
	bool is_whole;	 /* and stays, though telling of it may fail */
} output;

/* One without a name where the file is to be; -1 where there are none. */
static int open_unnamed(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *dir = slash ? strndup(file, (size_t)(slash - file) + 1)
			  : strdup(".");
	int fd = dir ? open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666) : -1;

	free(dir);
	return fd;
}

static int open_new(tool *t, output *out)
{
	struct stat st;

	/* known at once, though it is found again at the end */
	if (lstat(out->file, &st) == 0) {
		errno = EEXIST;
		return no_output(t, out->file);
	}
	out->fd = open_unnamed(out->file);
	out->is_unnamed = out->fd >= 0;
	if (out->fd < 0)
		out->fd = open(out->file,
			       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return out->fd >= 0 ? 0 : no_output(t, out->file);
}

/* It is whole: before anybody is told that it is there. */
static int name_output(tool *t, void *data)
{
	output *out = data;
	char link[40];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", out->fd);
	if (out->is_unnamed && linkat(AT_FDCWD, link, AT_FDCWD, out->file,
				      AT_SYMLINK_FOLLOW) < 0)
		return no_output(t, out->file);
	out->is_whole = true;
	return 0;
}

/* Half an archive is none, whatever ended the tool. */
static void close_output(const output *out)
{
	if (!out->file || out->fd < 0)
		return;
	if (!out->is_whole && !out->is_unnamed)
		unlink(out->file);
	close(out->fd);
}

/* Standard output, or the new file that is to be one. */
static int open_output(tool *t, output *out)
{
	if (out->file)
		return open_new(t, out);
	if (t->json)
		return tool_refuse(t, TOOL_USAGE, "EINVAL", "--json",
				   "standard output is for the archive; give "
				   "--output FILE");
	if (isatty(STDOUT_FILENO))
		return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				   "an archive is not for a terminal; give "
				   "--output FILE, or a pipe");
	out->fd = STDOUT_FILENO;
	return 0;
}

static int pack(tool *t, const tool_args *args, const char *name, int source,
		output *out, const agentbox_snapshot_options *options)
{
	const char *format = tool_get(args, "--format");
	agentbox_snapshot *job = NULL;
	agentbox_error *err = NULL;

	if (!format)
		format = format_of(tool_get(args, "--output"));
	if (agentbox_snapshot_pack(t->context, source, name, out->fd, format,
				   options, &job, &err) < 0)
		return tool_fail_name(t, err, "--format");
	int rc = tool_job_wait(t, job, args->operands[0], false, name_output,
			       out);
	agentbox_snapshot_free(job);
	return rc;
}

int tool_snapshot_tar(tool *t, const tool_args *args)
{
	output out = { .file = tool_get(args, "--output"), .fd = -1 };
	agentbox_snapshot_options *options = NULL;
	char *name = tool_absolute(args->operands[0]);
	int source = -1;
	int rc = name ? 0 : tool_no_path(t, args->operands[0]);

	if (!rc)
		rc = tool_snapshot_options(t, args, &options);
	if (!rc)
		rc = open_source(t, args->operands[0], &source);
	if (!rc)
		rc = open_output(t, &out);
	if (!rc)
		rc = pack(t, args, name, source, &out, options);
	close_output(&out);
	agentbox_snapshot_options_free(options);
	if (source >= 0)
		close(source);
	free(name);
	return rc;
}

static int open_archive(tool *t, const char *file, int *fd)
{
	bool is_input = !strcmp(file, "-");

	if (is_input && isatty(STDIN_FILENO))
		return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				   "standard input is a terminal, not an "
				   "archive");
	*fd = is_input ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	return *fd >= 0 ? 0 :
		tool_refuse(t, errno == ENOENT ? TOOL_NOT_FOUND : TOOL_REFUSED,
			    errno == ENOENT ? "ENOTFOUND" : "EACCES", file,
			    "cannot open the archive: %s", strerror(errno));
}

int tool_snapshot_untar(tool *t, const tool_args *args)
{
	const char *file = args->operands[0];
	agentbox_snapshot_options *options = NULL;
	agentbox_snapshot *job = NULL;
	agentbox_error *err = NULL;
	char *name = strcmp(file, "-") ? tool_absolute(file) : strdup(file);
	place dst = { .fd = -1 };
	int in = -1;
	int rc = name ? 0 : tool_no_path(t, file);

	if (!rc)
		rc = tool_snapshot_options(t, args, &options);
	if (!rc)
		rc = open_archive(t, file, &in);
	if (!rc)
		rc = open_destination(t, args->operands[1], &dst);
	if (!rc && agentbox_snapshot_unpack(t->context, in, name, dst.fd,
					    dst.name, options, &job, &err) < 0)
		rc = tool_fail_name(t, err, args->operands[1]);
	if (!rc)
		rc = end_job(t, job, file, true);
	agentbox_snapshot_options_free(options);
	if (in > STDERR_FILENO)
		close(in);
	place_end(&dst);
	free(name);
	return rc;
}
