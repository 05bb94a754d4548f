/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The context: two directories and a log callback. It opens nothing when it
 * is made, and refuses to change once something was made from it. It holds
 * no fd and no lock, so that it is as good in a forked child as before.
 * Spec: base.h, context.h.
 */
#include "config.h"

#include "base/context.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"

struct agentbox_context {
	atomic_uint refs;
	atomic_bool is_sealed;
	char *helper_dir; /* owned, NULL for the default */
	char *state_dir;  /* owned, NULL for none */
	agentbox_log_fn log_fn;
	void *log_data; /* borrowed */
};

int32_t agentbox_context_new(agentbox_context **context, agentbox_error **err)
{
	agentbox_context *c;

	if (!context)
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "context must not be NULL");
	c = ab_new(agentbox_context);
	if (!c)
		return ab_error_nomem(err);
	atomic_init(&c->refs, 1);
	atomic_init(&c->is_sealed, false);
	*context = c;
	return AGENTBOX_OK;
}

agentbox_context *agentbox_context_ref(agentbox_context *context)
{
	if (context)
		atomic_fetch_add_explicit(&context->refs, 1,
					  memory_order_relaxed);
	return context;
}

void agentbox_context_unref(agentbox_context *context)
{
	int saved = errno;

	if (!context || atomic_fetch_sub_explicit(&context->refs, 1,
						  memory_order_acq_rel) != 1)
		return;
	free(context->helper_dir);
	free(context->state_dir);
	free(context);
	errno = saved;
}

agentbox_context *ab_context_use(agentbox_context *context)
{
	atomic_store(&context->is_sealed, true);
	return agentbox_context_ref(context);
}

static int32_t check_settable(const agentbox_context *context,
			      agentbox_error **err)
{
	if (!context)
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "context must not be NULL");
	if (atomic_load(&context->is_sealed))
		return ab_error_set(err, AGENTBOX_EBUSY, NULL,
				    "the context is in use; set it up before "
				    "making anything from it");
	return AGENTBOX_OK;
}

/*
 * A copy without trailing slashes: "link/" would follow the link that
 * O_NOFOLLOW is to refuse.
 */
static int32_t set_dir(char **slot, const char *what, const char *path,
		       agentbox_error **err)
{
	size_t len = path ? strlen(path) : 0;
	char *copy = NULL;

	if (path && path[0] != '/')
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "%s directory '%s' must be an absolute "
				    "path", what, path);
	if (len >= AB_MAX_PATH)
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "%s directory is longer than %d bytes",
				    what, AB_MAX_PATH - 1);
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (path) {
		copy = ab_memdup0(path, len);
		if (!copy)
			return ab_error_nomem(err);
	}
	free(*slot);
	*slot = copy;
	return AGENTBOX_OK;
}

int32_t agentbox_context_set_helper_dir(agentbox_context *context,
					const char *path, agentbox_error **err)
{
	int32_t r = check_settable(context, err);

	return r ? r : set_dir(&context->helper_dir, "helper", path, err);
}

int32_t agentbox_context_set_state_dir(agentbox_context *context,
				       const char *path, agentbox_error **err)
{
	int32_t r = check_settable(context, err);

	return r ? r : set_dir(&context->state_dir, "state", path, err);
}

int32_t agentbox_context_set_log(agentbox_context *context, agentbox_log_fn fn,
				 void *data, agentbox_error **err)
{
	int32_t r = check_settable(context, err);

	if (r)
		return r;
	context->log_fn = fn;
	context->log_data = data;
	return AGENTBOX_OK;
}

const char *ab_context_helper_dir(const agentbox_context *context)
{
	return context->helper_dir;
}

const char *ab_context_state_dir(const agentbox_context *context)
{
	return context->state_dir;
}

static int open_dir(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : ab_fd_lift(fd);
}

/* mkdir -p with 0700; an ancestor that exists is left as it is. */
static int make_dirs(const char *path)
{
	ab_autofree char *prefix = ab_strdup(path);
	int r = 0;

	if (!prefix)
		return -ENOMEM;
	for (char *p = prefix + 1; r == 0 && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		r = ab_fd_make_dir(AT_FDCWD, prefix, 0700);
		*p = '/';
	}
	return r ? r : ab_fd_make_dir(AT_FDCWD, prefix, 0700);
}

/* The opened directory is judged, not its name. */
static int32_t judge_state(int fd, const char *path, agentbox_error **err)
{
	struct stat st;

	if (fstat(fd, &st))
		return ab_error_sys(err, errno, NULL,
				    "cannot read the mode of state directory "
				    "'%s'", path);
	if (st.st_uid != geteuid())
		return ab_error_set(err, AGENTBOX_EDENIED, NULL,
				    "state directory '%s' belongs to uid %u, "
				    "not to the caller; choose another", path,
				    (unsigned)st.st_uid);
	if (st.st_mode & 077)
		return ab_error_set(err, AGENTBOX_EDENIED, NULL,
				    "state directory '%s' is open to others "
				    "(mode %04o); name one of its own, or run "
				    "chmod 700 if it is that", path,
				    (unsigned)(st.st_mode & 07777));
	return AGENTBOX_OK;
}

static int32_t refuse_state(const char *path, int sys_errno,
			    agentbox_error **err)
{
	if (sys_errno == ENOTDIR || sys_errno == ELOOP)
		return ab_error_set(err, AGENTBOX_EDENIED, NULL,
				    "state directory '%s' is a symbolic link "
				    "or not a directory; name the directory "
				    "itself", path);
	return ab_error_sys(err, sys_errno, NULL,
			    "cannot open state directory '%s'", path);
}

int32_t ab_context_open_state(agentbox_context *context, int *dirfd,
			      agentbox_error **err)
{
	const char *path = context->state_dir;
	ab_autofd int fd = -1;
	int32_t r;

	if (!path)
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "no state directory; set one with "
				    "agentbox_context_set_state_dir()");
	fd = open_dir(path);
	if (fd == -ENOENT) {
		int made = make_dirs(path);

		if (made)
			return ab_error_sys(err, -made, NULL,
					    "cannot create state directory "
					    "'%s'", path);
		fd = open_dir(path);
	}
	if (fd < 0)
		return refuse_state(path, -fd, err);
	r = judge_state(fd, path, err);
	if (r)
		return r;
	*dirfd = ab_steal_fd(&fd);
	return AGENTBOX_OK;
}

void ab_log(const agentbox_context *context, int32_t level, const char *fmt,
	    ...)
{
	char line[AB_MAX_ERROR_TEXT];
	int saved = errno;
	va_list ap;

	if (!context || !context->log_fn)
		return;
	va_start(ap, fmt);
	if (vsnprintf(line, sizeof(line), fmt, ap) < 0)
		line[0] = '\0';
	va_end(ap);
	for (char *p = line; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
	context->log_fn(context->log_data, level, line);
	errno = saved;
}

int32_t ab_context_open_dir(agentbox_context *context, const char *name,
			    int *dirfd, agentbox_error **err)
{
	ab_autofd int state = -1, fd = -1;
	struct stat st;
	int32_t rc = ab_context_open_state(context, &state, err);

	if (rc < 0)
		return rc;
	int r = ab_fd_make_dir(state, name, 0700);

	if (r)
		return ab_error_sys(err, -r, name,
				    "cannot make '%s' in the state directory",
				    name);
	fd = ab_fd_lift(openat(state, name, O_RDONLY | O_DIRECTORY |
					    O_NOFOLLOW | O_CLOEXEC));
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_error_sys(err, errno, name,
				    "cannot open '%s' in the state directory",
				    name);
	if (st.st_uid != geteuid() || (st.st_mode & 077))
		return ab_error_set(err, AGENTBOX_EACCES, name,
				    "'%s' in the state directory belongs to "
				    "others or is open to them; remove it",
				    name);
	*dirfd = ab_steal_fd(&fd);
	return 0;
}
