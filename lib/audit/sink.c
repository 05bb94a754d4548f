/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where lines go: a file by path or fd, a pipe or socket, a callback, the
 * journal. One write(2) per line. A file is locked with flock(2) and its size
 * is compared before each write, so a second writer is refused even where
 * locks do not work; space for the line and for one more record is allocated
 * before the write, so that a full disk never leaves half a line. Refuses a
 * file others may write, and everything after a write it cannot undo.
 * Spec: audit.h; systemd's native journal protocol.
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define JOURNAL_WAIT_MS 1000
#define JOURNAL_HEAD                                              \
	"PRIORITY=5\nSYSLOG_IDENTIFIER=agentbox\nAGENTBOX_AUDIT=" \
	"1\nMESSAGE="

static int32_t check_file(int fd, const char *path, struct stat *st,
			  agentbox_error **err)
{
	if (fstat(fd, st) != 0)
		return ab_error_sys(err, errno, "", "cannot stat '%s'", path);
	if (!S_ISREG(st->st_mode))
		return ab_error_set(err, AGENTBOX_EACCES, "",
				    "'%s' is not a regular file", path);
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return ab_error_set(err, AGENTBOX_EACCES, "",
				    "'%s' belongs to another user", path);
	if (st->st_mode & 022)
		return ab_error_set(err, AGENTBOX_EACCES, "",
				    "'%s' is writable by others; make it 0600",
				    path);
	return 0;
}

static int32_t lock_file(int fd, const char *path, agentbox_error **err)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return ab_error_set(err, AGENTBOX_EBUSY, "",
				    "'%s' has another writer", path);
	return ab_error_sys(err, errno, "", "cannot lock '%s'", path);
}

static int open_as(const char *path, int flags)
{
	/* never 0 to 2, where a host that has them closed writes its own */
	return ab_fd_lift(open(path,
			       O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY |
				       O_NONBLOCK | flags,
			       0600));
}

/* O_CREAT without O_EXCL does not say whether it made anything. */
static int open_or_make(const char *path, int flags, bool *is_made)
{
	int fd = open_as(path, flags | (flags & O_CREAT ? O_EXCL : 0));

	*is_made = fd >= 0 && (flags & O_CREAT);
	if (fd < 0 && errno == EEXIST && !(flags & O_EXCL))
		fd = open_as(path, flags);
	return fd;
}

static bool leads_to(const char *path, int fd)
{
	struct stat st, now;

	return fstat(fd, &st) == 0 &&
	       fstatat(AT_FDCWD, path, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now.st_ino == st.st_ino && now.st_dev == st.st_dev;
}

int32_t ab_audit_open_file(const char *path, int flags, int *fd, bool *is_made,
			   agentbox_error **err)
{
	bool made = false;
	ab_autofd int f = open_or_make(path, flags, &made);
	struct stat st;
	int32_t rc;

	/* open(2): what a link, a directory or a socket says */
	if (f < 0 && (errno == ELOOP || errno == EISDIR || errno == ENXIO))
		return ab_error_set(err, AGENTBOX_EACCES, "",
				    "'%s' is not a regular file", path);
	if (f < 0)
		return ab_error_sys(err, errno, "", "cannot open '%s'", path);
	rc = check_file(f, path, &st, err);
	if (rc == 0)
		rc = lock_file(f, path, err);
	if (rc != 0)
		return rc;
	/* the file may have been rotated away before we had the lock */
	if (!leads_to(path, f))
		return ab_error_set(err, AGENTBOX_EBUSY, "",
				    "'%s' was replaced while it was opened",
				    path);
	if (is_made)
		*is_made = made;
	*fd = ab_steal_fd(&f);
	return 0;
}

void ab_audit_unmake_file(const char *path, int fd, bool *is_made)
{
	/* its lock is held: nobody else has begun anything in it */
	if (*is_made && leads_to(path, fd))
		(void)unlinkat(AT_FDCWD, path, 0);
	*is_made = false;
}

int32_t ab_audit_open_dir(const char *path, agentbox_error **err)
{
	const char *slash = strrchr(path, '/');
	ab_autofree char *dir = NULL;
	int fd;

	if (!slash)
		dir = ab_strdup(".");
	else
		dir = ab_memdup0(path, slash == path ? 1 :
						       (size_t)(slash - path));
	if (!dir)
		return ab_error_nomem(err);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd :
			 ab_error_sys(err, errno, "", "cannot open '%s'", dir);
}

int32_t ab_audit_sync_dir(const char *path, agentbox_error **err)
{
	ab_autofd int fd = ab_audit_open_dir(path, err);

	if (fd < 0)
		return fd;
	if (fsync(fd) != 0 && errno != EINVAL)
		return ab_error_sys(err, errno, "",
				    "cannot sync the directory of '%s'", path);
	return 0;
}

/*
 * The lock belongs to the open file description, and a duplicate shares that
 * of the caller: with a description of our own two audits on one file exclude
 * each other. Without /proc the duplicate has to do, and the size check.
 */
static int own_description(int fd)
{
	char link[40];
	int own;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	own = ab_fd_lift(open(link, O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY));
	return own >= 0 ? own : ab_fd_dup(fd);
}

static int32_t open_fd(ab_audit_sink *s, agentbox_error **err)
{
	struct stat st;
	int flags = fcntl(s->fd, F_GETFL);
	int own;
	int32_t rc;

	if (flags < 0 || fstat(s->fd, &st) != 0)
		return ab_error_sys(err, errno, "", "cannot use the log's fd");
	s->is_pipe = S_ISFIFO(st.st_mode);
	s->is_socket = S_ISSOCK(st.st_mode);
	s->is_regular = S_ISREG(st.st_mode);
	if (s->is_pipe || s->is_socket)
		return 0;
	if (!s->is_regular || !(flags & O_APPEND))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "the log's fd must be a pipe, a socket or "
				    "a regular file opened with O_APPEND");
	own = own_description(s->fd);
	if (own < 0)
		return ab_error_sys(err, -own, "", "cannot use the log's fd");
	close(s->fd);
	s->fd = own;
	rc = check_file(s->fd, "the log's fd", &st, err);
	if (rc == 0)
		rc = lock_file(s->fd, "the log's fd", err);
	s->size = (uint64_t)st.st_size;
	return rc;
}

static int32_t open_path(ab_audit_sink *s, agentbox_error **err)
{
	struct stat st;
	int32_t rc = ab_audit_open_file(s->path, O_CREAT | O_APPEND, &s->fd,
					&s->is_made, err);

	if (rc != 0)
		return rc;
	if (fstat(s->fd, &st) != 0)
		return ab_error_sys(err, errno, "", "cannot stat '%s'",
				    s->path);
	s->is_regular = true;
	s->size = (uint64_t)st.st_size;
	return 0;
}

static int32_t open_journal(ab_audit_sink *s, agentbox_error **err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *path = s->path ? s->path : JOURNAL_SOCKET;

	if (strlen(path) >= sizeof(to.sun_path))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "journal socket path is too long");
	memcpy(to.sun_path, path, strlen(path));
	s->fd = ab_fd_lift(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	if (s->fd < 0 ||
	    connect(s->fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		return ab_error_sys(err, errno, "",
				    "cannot reach the journal at '%s'", path);
	return 0;
}

int32_t ab_audit_sink_open(ab_audit_sink *s, agentbox_error **err)
{
	s->can_reserve = true;
	s->is_broken = false;
	s->is_made = false;
	s->reserved = 0;
	switch (s->kind) {
	case AB_AUDIT_SINK_PATH:
		return open_path(s, err);
	case AB_AUDIT_SINK_FD:
		return open_fd(s, err);
	case AB_AUDIT_SINK_JOURNAL:
		return open_journal(s, err);
	case AB_AUDIT_SINK_CALLBACK:
		return 0;
	default:
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "the audit has no sink; set a path, fd, "
				    "callback or journal");
	}
}

void ab_audit_sink_close(ab_audit_sink *s)
{
	int saved = errno;

	if (s->fd >= 0) {
		/* give back what was allocated past the end */
		if (s->is_regular && s->reserved > s->size &&
		    ftruncate(s->fd, (off_t)s->size) != 0)
			s->reserved = 0;
		close(s->fd);
	}
	s->fd = -1;
	errno = saved;
}

static int allocate(const ab_audit_sink *s, uint64_t to)
{
	int rc;

	do {
		rc = fallocate(s->fd, FALLOC_FL_KEEP_SIZE, (off_t)s->size,
			       (off_t)(to - s->size));
	} while (rc != 0 && errno == EINTR);
	return rc == 0 ? 0 : -errno;
}

int32_t ab_audit_sink_reserve(ab_audit_sink *s, size_t n, agentbox_error **err)
{
	uint64_t need = s->size + n + AB_AUDIT_RESERVE;
	int rc;

	if (!s->is_regular || !s->can_reserve || need <= s->reserved)
		return 0;
	rc = allocate(s, need + AB_AUDIT_RESERVE_STEP);
	if (rc == 0) {
		s->reserved = need + AB_AUDIT_RESERVE_STEP;
		return 0;
	}
	rc = allocate(s, need);
	if (rc == 0) {
		s->reserved = need;
		return 0;
	}
	if (rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG)
		return ab_error_sys_code(err, AGENTBOX_ESYS, ENOSPC, "",
					 "no room for the audit log");
	/* this file system cannot: short writes are undone instead */
	s->can_reserve = false;
	return 0;
}

/*
 * A pipe nobody reads: write(2) would raise SIGPIPE in the host, and the
 * library may not touch signal masks, so the pipe is asked first. What is
 * left is a reader that goes in this very moment (audit.h says so).
 */
static bool has_reader(int fd)
{
	int events = ab_fd_poll(fd, POLLOUT, 0);

	return events >= 0 && !(events & (POLLERR | POLLNVAL));
}

static ssize_t write_once(const ab_audit_sink *s, const char *p, size_t n)
{
	ssize_t done;

	if (s->is_pipe && !has_reader(s->fd)) {
		errno = EPIPE;
		return -1;
	}
	do {
		done = s->is_socket ? send(s->fd, p, n, MSG_NOSIGNAL) :
				      write(s->fd, p, n);
	} while (done < 0 && errno == EINTR);
	return done;
}

/* A pipe or socket takes the rest when it is ready; nothing can be undone. */
static int write_stream(ab_audit_sink *s, const char *p, size_t n)
{
	size_t sent = 0;

	while (sent < n) {
		ssize_t done = write_once(s, p + sent, n - sent);

		if (done >= 0) {
			sent += (size_t)done;
			continue;
		}
		if (errno != EAGAIN) {
			s->is_broken = sent > 0 || errno == EPIPE;
			return -errno;
		}
		if (ab_fd_poll(s->fd, POLLOUT, -1) < 0) {
			s->is_broken = sent > 0;
			return -EIO;
		}
	}
	return 0;
}

static int32_t write_file(ab_audit_sink *s, const char *p, size_t n,
			  agentbox_error **err)
{
	struct stat st;
	ssize_t done;
	int saved;

	if (fstat(s->fd, &st) != 0)
		return ab_error_sys(err, errno, "", "cannot stat the log");
	/* what is recorded there is gone when it is closed */
	if (s->kind == AB_AUDIT_SINK_PATH && st.st_nlink == 0) {
		s->is_broken = true;
		return ab_error_set(err, AGENTBOX_EBUSY, "",
				    "the log '%s' was removed under its writer",
				    s->path);
	}
	if ((uint64_t)st.st_size != s->size) {
		s->is_broken = true;
		return ab_error_set(err, AGENTBOX_EBUSY, "",
				    "the log changed under its writer: "
				    "%llu bytes where %llu were written",
				    (unsigned long long)st.st_size,
				    (unsigned long long)s->size);
	}
	done = write_once(s, p, n);
	saved = done < 0 ? errno : ENOSPC;
	if (done == (ssize_t)n) {
		s->size += n;
		return 0;
	}
	if (done > 0 && ftruncate(s->fd, (off_t)s->size) != 0)
		s->is_broken = true;
	return ab_error_sys_code(err, AGENTBOX_ESYS, saved, "",
				 "cannot write the log");
}

static int32_t write_journal(ab_audit_sink *s, const char *p, size_t n,
			     agentbox_error **err)
{
	/* the line has no newline but its last, so the simple form is right */
	struct iovec iov[2] = {
		{ (void *)JOURNAL_HEAD, sizeof(JOURNAL_HEAD) - 1 },
		{ (void *)p, n },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	ssize_t done;

	for (int tries = 0;; tries++) {
		done = sendmsg(s->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (done >= 0)
			return 0;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN || tries > 0 ||
		    ab_fd_poll(s->fd, POLLOUT, JOURNAL_WAIT_MS) <= 0)
			return ab_error_sys_code(err, AGENTBOX_ESYS, errno, "",
						 "cannot write to the journal");
	}
}

int32_t ab_audit_sink_write(ab_audit_sink *s, const char *line, size_t n,
			    agentbox_error **err)
{
	int rc;

	if (s->is_broken)
		return ab_error_set(err, AGENTBOX_ECLOSED, "",
				    "the log was given up after a write that "
				    "could not be completed");
	if (s->kind == AB_AUDIT_SINK_CALLBACK)
		return s->fn(s->data, line, n) == 0 ?
			       0 :
			       ab_error_set(err, AGENTBOX_ECANCELED, "",
					    "the audit callback refused the "
					    "record");
	if (s->kind == AB_AUDIT_SINK_JOURNAL)
		return write_journal(s, line, n, err);
	if (s->is_regular)
		return write_file(s, line, n, err);
	rc = write_stream(s, line, n);
	if (rc != 0)
		return ab_error_sys_code(err, AGENTBOX_ESYS, -rc, "",
					 "cannot write the log");
	return 0;
}

int32_t ab_audit_sink_sync(ab_audit_sink *s, agentbox_error **err)
{
	if (!s->is_regular || s->fd < 0)
		return 0;
	if (fdatasync(s->fd) == 0)
		return 0;
	/* the kernel may have dropped the pages: nothing after can be sure */
	s->is_broken = true;
	return ab_error_sys_code(err, AGENTBOX_ESYS, errno, "",
				 "cannot sync the log");
}
