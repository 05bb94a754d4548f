/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox_command: argv, environment, descriptors, limits. Judges every
 * descriptor when it is set, so that a directory or an O_PATH fd never gets
 * as far as a message (DESIGN.md section 4, RECIPES.md section 2).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "sandbox/internal.h"

#ifndef NSFS_MAGIC
#define NSFS_MAGIC 0x6e736673
#endif
#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446
#endif

int32_t agentbox_command_new(const char *const *argv, size_t argc,
			     agentbox_command **command, agentbox_error **err)
{
	if (!argv || !argc || !command)
		return ab_error_set(err, AGENTBOX_EINVAL, "argv",
				    "a command needs at least its name");
	if (argc > AB_MAX_ARGS)
		return ab_error_set(err, AGENTBOX_ELIMIT, "argv",
				    "%zu arguments; at most %d", argc,
				    AB_MAX_ARGS);

	agentbox_command *c = ab_new(agentbox_command);
	if (!c)
		return ab_error_nomem(err);
	c->argv = ab_calloc(argc + 1, sizeof(*c->argv));
	if (!c->argv)
		goto fail;
	size_t total = 0;
	for (size_t i = 0; i < argc; i++) {
		if (!argv[i]) {
			agentbox_command_free(c);
			return ab_error_set(err, AGENTBOX_EINVAL, "argv",
					    "argument %zu is NULL", i);
		}
		total += strlen(argv[i]) + 1;
		if (total > AB_MAX_ARGV_BYTES) {
			agentbox_command_free(c);
			return ab_error_set(err, AGENTBOX_ELIMIT, "argv",
					    "arguments exceed %u bytes",
					    AB_MAX_ARGV_BYTES);
		}
		c->argv[i] = ab_strdup(argv[i]);
		if (!c->argv[i])
			goto fail;
		c->argc++;
	}
	if (!c->argv[0][0]) {
		agentbox_command_free(c);
		return ab_error_set(err, AGENTBOX_EINVAL, "argv",
				    "the command name is empty");
	}
	*command = c;
	return 0;

fail:
	agentbox_command_free(c);
	return ab_error_nomem(err);
}

void agentbox_command_free(agentbox_command *c)
{
	if (!c)
		return;
	int saved = errno;
	for (size_t i = 0; c->argv && i < c->argc; i++)
		free(c->argv[i]);
	free(c->argv);
	free(c->cwd);
	for (size_t i = 0; i < c->env_count; i++) {
		free(c->env[i].name);
		free(c->env[i].value);
	}
	free(c->env);
	for (size_t i = 0; i < c->fd_count; i++)
		close(c->fds[i].fd);
	free(c);
	errno = saved;
}

int32_t agentbox_command_set_cwd(agentbox_command *c, const char *path,
				 agentbox_error **err)
{
	if (!c || !path)
		return ab_error_set(err, AGENTBOX_EINVAL, "cwd",
				    "command or path is NULL");
	if (path[0] != '/' || strlen(path) >= AB_MAX_PATH)
		return ab_error_set(err, AGENTBOX_EINVAL, "cwd",
				    "'%s' is not an absolute path inside the "
				    "box", path);
	char *copy = ab_strdup(path);
	if (!copy)
		return ab_error_nomem(err);
	free(c->cwd);
	c->cwd = copy;
	return 0;
}

static int32_t add_env(agentbox_command *c, const char *name,
		       const char *value, bool from_host, agentbox_error **err)
{
	if (!c || !name)
		return ab_error_set(err, AGENTBOX_EINVAL, "env",
				    "command or name is NULL");
	if (!name[0] || strchr(name, '='))
		return ab_error_set(err, AGENTBOX_EINVAL, "env",
				    "'%s' is not a variable name", name);
	if (c->env_count >= AB_MAX_POLICY_ENTRIES)
		return ab_error_set(err, AGENTBOX_ELIMIT, "env",
				    "more than %d variables",
				    AB_MAX_POLICY_ENTRIES);

	ab_autofree char *n = ab_strdup(name);
	ab_autofree char *v = value ? ab_strdup(value) : NULL;
	if (!n || (value && !v))
		return ab_error_nomem(err);
	ab_env_entry *grown = ab_realloc(c->env, c->env_count + 1,
					 sizeof(*grown));
	if (!grown)
		return ab_error_nomem(err);
	c->env = grown;
	c->env[c->env_count++] = (ab_env_entry){
		.name = ab_steal(&n), .value = ab_steal(&v),
		.from_host = from_host };
	return 0;
}

int32_t agentbox_command_set_env(agentbox_command *c, const char *name,
				 const char *value, agentbox_error **err)
{
	return add_env(c, name, value, false, err);
}

int32_t agentbox_command_set_host_env(agentbox_command *c, const char *name,
				      const char *value, agentbox_error **err)
{
	if (!value)
		return ab_error_set(err, AGENTBOX_EINVAL, "env",
				    "a host variable needs a value");
	return add_env(c, name, value, true, err);
}

/*
 * What may go into a box. An fd of a directory or a namespace is a way out
 * of it; anonymous inodes (epoll, userfaultfd, bpf, pidfd, mounts) are
 * refused as a class because each is a capability of its own.
 */
static int32_t judge_fd(int fd, ab_fd_slot *slot, agentbox_error **err)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return ab_error_sys_code(err, AGENTBOX_EINVAL, errno, "fd",
					 "fd %d is not open", fd);
	if (flags & O_PATH)
		return ab_error_set(err, AGENTBOX_EDENIED, "fd",
				    "fd %d is an O_PATH descriptor; only pipes,"
				    " sockets, terminals and regular files go"
				    " into a box", fd);
	struct stat st;
	struct statfs fs;
	if (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0)
		return ab_error_sys(err, errno, "fd", "cannot judge fd %d", fd);
	if (fs.f_type == NSFS_MAGIC || fs.f_type == PROC_SUPER_MAGIC ||
	    fs.f_type == SYSFS_MAGIC || fs.f_type == PID_FS_MAGIC)
		return ab_error_set(err, AGENTBOX_EDENIED, "fd",
				    "fd %d is of a kernel file system; it "
				    "would reach out of the box", fd);

	slot->relay = false;
	switch (st.st_mode & S_IFMT) {
	case S_IFSOCK:
		slot->socket = true; /* judged at spawn, by the policy */
		return 0;
	case S_IFIFO:
		return 0;
	case S_IFCHR:
		if (isatty(fd) || st.st_rdev == 0x0103)
			return 0; /* a terminal, or /dev/null (1:3) */
		return ab_error_set(err, AGENTBOX_EDENIED, "fd",
				    "fd %d is a character device; only "
				    "terminals and /dev/null go into a box",
				    fd);
	case S_IFREG: {
		int mode = flags & O_ACCMODE;
		if (mode == O_RDWR)
			return ab_error_set(err, AGENTBOX_EDENIED, "fd",
					    "fd %d is a file open for reading "
					    "and writing; open it for one of "
					    "them, so that it can be relayed",
					    fd);
		slot->relay = true;
		slot->into_box = mode == O_RDONLY;
		return 0;
	}
	default:
		return ab_error_set(err, AGENTBOX_EDENIED, "fd",
				    "fd %d is a %s; only pipes, sockets, "
				    "terminals and regular files go into a box",
				    fd, S_ISDIR(st.st_mode) ? "directory"
				    : S_ISBLK(st.st_mode) ? "block device"
				    : "special inode");
	}
}

/* A duplicate of `fd`; one set twice keeps the last. */
static int32_t put_fd(agentbox_command *c, ab_fd_slot slot, int fd,
		      agentbox_error **err)
{
	size_t at = 0;
	while (at < c->fd_count && c->fds[at].target != slot.target)
		at++;
	if (at == AB_MAX_EXTRA_FDS)
		return ab_error_set(err, AGENTBOX_ELIMIT, "fd",
				    "more than %d descriptors",
				    AB_MAX_EXTRA_FDS);
	slot.fd = ab_fd_dup(fd);
	if (slot.fd < 0)
		return ab_error_sys(err, -slot.fd, "fd",
				    "cannot duplicate fd %d", fd);
	if (at < c->fd_count)
		close(c->fds[at].fd);
	else
		c->fd_count++;
	c->fds[at] = slot;
	return 0;
}

int32_t agentbox_command_set_fd(agentbox_command *c, int32_t target,
				int32_t fd, agentbox_error **err)
{
	if (!c || target < 0 || target > 1023 || fd < 0)
		return ab_error_set(err, AGENTBOX_EINVAL, "fd",
				    "target %d or fd %d is out of range",
				    target, fd);
	ab_fd_slot slot = { .target = target, .fd = -1 };
	int32_t rc = judge_fd(fd, &slot, err);
	return rc < 0 ? rc : put_fd(c, slot, fd, err);
}

int32_t ab_command_set_program(agentbox_command *c, int target, int fd,
			       agentbox_error **err)
{
	const ab_fd_slot slot = { .target = target, .fd = -1 };

	c->is_ours = true;
	return put_fd(c, slot, fd, err);
}

int32_t agentbox_command_set_pty(agentbox_command *c, uint32_t rows,
				 uint32_t columns, agentbox_error **err)
{
	if (!c || !rows || !columns || rows > UINT16_MAX ||
	    columns > UINT16_MAX)
		return ab_error_set(err, AGENTBOX_EINVAL, "pty",
				    "%u rows by %u columns is no terminal "
				    "size", rows, columns);
	c->pty = true;
	c->rows = (uint16_t)rows;
	c->cols = (uint16_t)columns;
	return 0;
}

int32_t agentbox_command_set_wall(agentbox_command *c, uint32_t milliseconds,
				  agentbox_error **err)
{
	if (!c)
		return ab_error_set(err, AGENTBOX_EINVAL, "wall",
				    "command is NULL");
	c->wall_ms = milliseconds;
	return 0;
}
