/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What owners left that died: a killed host removes nothing, and a machine on
 * which nobody lists boxes would keep its socket for ever. Removes no socket
 * that somebody may listen at, and no other kind of file. Spec:
 * owner/protocol.h.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "owner/protocol.h"

/* More entries than this are looked at by nobody else either. */
#define MAX_LOOKED_AT 4096

bool ab_owner_process_is_gone(const char *name)
{
	char *end = NULL;

	if (name[0] < '1' || name[0] > '9')
		return false;
	long pid = strtol(name, &end, 10);
	return pid <= INT32_MAX && *end == '-' &&
	       strlen(end + 1) == AB_OWNER_EPOCH_LEN &&
	       strspn(end + 1, "0123456789abcdef") == AB_OWNER_EPOCH_LEN &&
	       kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/*
 * An owner in another pid namespace has a number that is none here: only a
 * refused connection proves that nobody listens. Full queues say EAGAIN.
 */
static bool is_refused(int dirfd, const char *name)
{
	struct sockaddr_un address;
	ab_autofd int fd = ab_fd_lift(socket(AF_UNIX, SOCK_SEQPACKET |
					     SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

	return fd >= 0 && ab_owner_address(dirfd, name, &address) == 0 &&
	       connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 &&
	       errno == ECONNREFUSED;
}

static void sweep_entry(int dirfd, const char *name)
{
	struct stat st;

	/* what others put here refuses connections too */
	if (ab_owner_process_is_gone(name + (name[0] == '.')) &&
	    fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISSOCK(st.st_mode) && is_refused(dirfd, name))
		unlinkat(dirfd, name, 0);
}

void ab_owner_sweep(int dirfd)
{
	/* the caller reads this directory, too */
	DIR *dir = ab_fd_open_list(dirfd, ".");
	const struct dirent *e;

	for (int i = 0; dir && i < MAX_LOOKED_AT && (e = ab_fd_next(dir, NULL));
	     i++)
		sweep_entry(dirfd, e->d_name);
	if (dir)
		closedir(dir);
}
