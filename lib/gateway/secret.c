/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stored secrets: one file each below `secrets` of the state directory, of
 * mode 0600, replaced as a whole. It refuses to hand out what others can read,
 * and what is no regular file. Values pass guarded memory when they are put,
 * and nothing when they are opened.
 * Spec: DESIGN.md section 9, issue 5, STYLE.md section 5.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/secret.h"
#include "gateway/internal.h"

#define DIRECTORY "secrets"
#define MAX_STORED 1024
#define MADE_SIZE 18

static int32_t check_name(const char *name, agentbox_error **err)
{
	if (name && ab_broker_name_ok(name))
		return 0;
	return ab_error_set(err, AGENTBOX_EINVAL, "name",
			    "not the name of a secret; use up to %d letters, "
			    "digits, _ and -", AB_BROKER_MAX_NAME);
}

static int32_t open_store(agentbox_context *context, const char *name,
			  int *dirfd, agentbox_error **err)
{
	int32_t rc = context ? check_name(name, err)
			     : ab_error_set(err, AGENTBOX_EINVAL, "context",
					    "context is NULL");

	return rc ? rc : ab_context_open_dir(context, DIRECTORY, dirfd, err);
}

/* NULL, or what is wrong with it. */
static const char *judge(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "is no regular file";
	if (st->st_uid != geteuid())
		return "belongs to another user";
	if (st->st_mode & 077)
		return "can be read by others; chmod it to 0600";
	if (st->st_size > AB_BROKER_MAX_VALUE)
		return "is longer than 64 KiB";
	return NULL;
}

int32_t agentbox_secret_open(agentbox_context *context, const char *name,
			     int32_t *fd, agentbox_error **err)
{
	ab_autofd int dir = -1, file = -1;
	const char *why;
	struct stat st;
	int32_t rc;

	if (!fd)
		return ab_error_set(err, AGENTBOX_EINVAL, "fd", "fd is NULL");
	rc = open_store(context, name, &dir, err);
	if (rc)
		return rc;
	file = ab_fd_lift(openat(dir, name, O_RDONLY | O_NOFOLLOW |
					    O_NONBLOCK | O_CLOEXEC));
	if (file < 0 && errno == ENOENT)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "name",
				    "no secret \"%s\" is stored", name);
	if (file < 0 || fstat(file, &st))
		return ab_error_sys(err, errno, "name",
				    "cannot open the secret \"%s\"", name);
	why = judge(&st);
	if (why)
		return ab_error_set(err, AGENTBOX_EACCES, "name",
				    "the file of the secret \"%s\" %s", name,
				    why);
	*fd = ab_steal_fd(&file);
	return 0;
}

/* All of fd; how many bytes, or -errno. */
static ssize_t read_value(int fd, char *p)
{
	ssize_t n = ab_fd_read_full(fd, p, AB_BROKER_MAX_VALUE + 1);

	if (n > AB_BROKER_MAX_VALUE)
		return -EFBIG;
	return n ? n : -ENODATA;
}

/* ".HEX" is a value on its way to its name: no secret has one with a dot. */
static int name_made(char made[MADE_SIZE])
{
	uint8_t bits[(MADE_SIZE - 2) / 2];
	int rc = ab_random(bits, sizeof(bits));

	made[0] = '.';
	if (rc == 0)
		ab_hex(bits, sizeof(bits), made + 1);
	return rc;
}

/*
 * What a writer that was killed has left is a value under no name. Writers
 * hold the directory, so who has it alone sees nobody's work: those go. The
 * descriptor's own hold ends with it, and is shared from here on.
 */
static int hold(int dir)
{
	struct dirent *e;
	DIR *d = NULL;

	if (flock(dir, LOCK_EX | LOCK_NB) == 0)
		d = ab_fd_open_list(dir, ".");
	while (d && (e = ab_fd_next(d, NULL)))
		if (e->d_name[0] == '.' && strlen(e->d_name) == MADE_SIZE - 1)
			(void)unlinkat(dir, e->d_name, 0);
	if (d)
		closedir(d);
	return flock(dir, LOCK_SH) ? -errno : 0;
}

static int write_as(int dir, const char *name, const char *p, size_t n)
{
	char made[MADE_SIZE];
	ab_autofd int file = -1;
	int rc = name_made(made);

	if (rc == 0)
		rc = hold(dir);
	if (rc)
		return rc;
	file = ab_fd_lift(openat(dir, made, O_WRONLY | O_CREAT | O_EXCL |
					    O_NOFOLLOW | O_CLOEXEC, 0600));
	if (file < 0)
		return -errno;
	rc = ab_fd_write_full(file, p, n);
	if (rc == 0 && (fsync(file) || renameat(dir, made, dir, name) ||
			fsync(dir)))
		rc = -errno;
	if (rc)
		(void)unlinkat(dir, made, 0);
	return rc;
}

int32_t agentbox_secret_put(agentbox_context *context, const char *name,
			    int32_t fd, agentbox_error **err)
{
	ab_autofd int dir = -1;
	int32_t rc = open_store(context, name, &dir, err);
	char *p;
	ssize_t n;

	if (rc)
		return rc;
	if (fcntl(fd, F_GETFD) < 0)
		return ab_error_sys_code(err, AGENTBOX_EINVAL, errno, "fd",
					 "fd %d is not open", fd);
	p = ab_secret_new(AB_BROKER_MAX_VALUE + 1);
	if (!p)
		return ab_error_nomem(err);
	n = read_value(fd, p);
	if (n > 0)
		n = write_as(dir, name, p, (size_t)n);
	ab_secret_free(p);
	if (n == -EFBIG)
		return ab_error_set(err, AGENTBOX_ELIMIT, "fd",
				    "the value is longer than 64 KiB");
	if (n == -ENODATA)
		return ab_error_set(err, AGENTBOX_EINVAL, "fd",
				    "the value is empty");
	return n ? ab_error_sys(err, (int)-n, "fd",
				"cannot store the secret \"%s\"", name)
		 : 0;
}

int32_t agentbox_secret_remove(agentbox_context *context, const char *name,
			       agentbox_error **err)
{
	ab_autofd int dir = -1;
	int32_t rc = open_store(context, name, &dir, err);

	if (rc)
		return rc;
	(void)hold(dir);
	if (unlinkat(dir, name, 0) == 0)
		return fsync(dir) ? ab_error_sys(err, errno, "name",
						 "cannot remove the secret "
						 "\"%s\" for good", name)
				  : 0;
	if (errno == ENOENT)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "name",
				    "no secret \"%s\" is stored", name);
	return ab_error_sys(err, errno, "name",
			    "cannot remove the secret \"%s\"", name);
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* Names in the directory, sorted; owned. */
static int32_t collect(int dir, char ***names, size_t *count,
		       agentbox_error **err)
{
	DIR *d = ab_fd_open_list(dir, ".");
	int error = d ? 0 : errno;
	struct dirent *e;
	int32_t rc = 0;

	while (d && rc == 0 && (e = ab_fd_next(d, &error))) {
		if (!ab_broker_name_ok(e->d_name))
			continue;
		if (*count == MAX_STORED)
			rc = ab_error_set(err, AGENTBOX_ELIMIT, DIRECTORY,
					  "more than %d secrets are stored",
					  MAX_STORED);
		else if (!((*names)[*count] = ab_strdup(e->d_name)))
			rc = ab_error_nomem(err);
		else
			++*count;
	}
	if (d)
		closedir(d);
	if (rc == 0 && error)
		rc = ab_error_sys(err, error, DIRECTORY,
				  "cannot read the stored secrets");
	qsort(*names, *count, sizeof(**names), by_name);
	return rc;
}

/* {"name", "bytes", "problem": null or a text} */
static json_t *describe(int dir, const char *name)
{
	const char *why = "cannot be looked at";
	struct stat st = { 0 };

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		why = judge(&st);
	return json_pack("{s:s, s:I, s:s?}", "name", name, "bytes",
			 (json_int_t)st.st_size, "problem", why);
}

int32_t agentbox_secret_list(agentbox_context *context, agentbox_bytes **json,
			     agentbox_error **err)
{
	ab_auto(json_t) *list = json_array();
	ab_autofd int dir = -1;
	char **names = ab_calloc(MAX_STORED, sizeof(*names));
	size_t count = 0;
	int32_t rc = !json || !context
			? ab_error_set(err, AGENTBOX_EINVAL, "",
				       "context or json is NULL")
			: list && names ? 0 : ab_error_nomem(err);

	if (rc == 0)
		rc = ab_context_open_dir(context, DIRECTORY, &dir, err);
	if (rc == 0)
		rc = collect(dir, &names, &count, err);
	for (size_t i = 0; i < count; i++) {
		if (rc == 0 && json_array_append_new(list,
						     describe(dir, names[i])))
			rc = ab_error_nomem(err);
		free(names[i]);
	}
	free(names);
	return rc ? rc : ab_json_canonical(list, json, err);
}
