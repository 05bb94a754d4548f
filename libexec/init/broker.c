/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a box has of its credential broker: the socket it is asked on, and a
 * private tmpfs for secrets as files. PID 1 makes both while the tree is its
 * own and hands the descriptors out; the tree is read-only to all who come
 * later, so nobody in the box can take the socket's name, or replace, link or
 * remove a file, and who opened one reads nothing once it was truncated
 * (gateway cases 142, 146-148). Nobody here keeps a descriptor.
 * Spec: DESIGN.md section 9, unix(7), tmpfs(5).
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"
#include "wire/message.h"

#define BACKLOG 64

/* sys/socket.h of an older build machine may lack it; Linux 6.16 */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/*
 * No question has descriptors. Whose last one is dropped with a message, read
 * or not, is closed by who drops it, and a socket that lingers, in another
 * one's queue as well, makes him wait for as long as its sender chose. So the
 * kernel refuses them to the sender, for connections that come here, too;
 * an older one knows of no such thing (wire/message.h).
 */
static int refuse_fds(int fd)
{
	const int none = 0;

	return setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &none,
			  sizeof(none)) && errno != ENOPROTOOPT ? -errno : 0;
}

/* For whoever is in the box by now; what he may have the gateway judges. */
static int bind_here(int fd, const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t n = strlen(name);

	if (n >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	memcpy(a.sun_path, name, n + 1);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    fchmodat(AT_FDCWD, name, 0666, 0) || listen(fd, BACKLOG))
		return -errno;
	return 0;
}

/*
 * bind(2) knows no directory but the working one. The caller's own was the
 * host's, to which the ids of a box may have no way back.
 */
static int bind_in(int fd, int dir_fd, const char *name)
{
	int r;

	if (fchdir(dir_fd))
		return -errno;
	r = bind_here(fd, name);
	return chdir("/") ? -errno : r;
}

static int keep(init_box *box, int fd)
{
	if (fd < 0)
		return fd;
	if (box->broker_fd_count == AB_ARRAY_LEN(box->broker_fds)) {
		close(fd);
		return -E2BIG;
	}
	box->broker_fds[box->broker_fd_count++] = fd;
	return 0;
}

int init_make_broker(init_box *box, int dir_fd, const char *name)
{
	int fd = ab_fd_lift(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
						    SOCK_NONBLOCK, 0));
	int r;

	if (fd == -1)
		return -errno;
	if (fd < 0)
		return fd;
	r = refuse_fds(fd);
	if (r == 0)
		r = bind_in(fd, dir_fd, name);
	if (r == 0)
		return keep(box, fd);
	close(fd);
	return r;
}

int init_make_secrets(init_box *box, int tmpfs_fd, const ab_plan_step *step,
		      int *cover_fd)
{
	const char *name = step->content, *end = name + step->content_len;
	int r = 0;

	for (; r == 0 && name < end; name += strlen(name) + 1) {
		int fd = openat(tmpfs_fd, name,
				O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW |
					O_CLOEXEC, 0400);

		r = fd < 0 ? -errno : keep(box, ab_fd_lift(fd));
	}
	if (r)
		return r;
	*cover_fd = init_clone_tree(tmpfs_fd, 0,
				    init_mount_attrs(AB_MOUNT_RDONLY |
						     AB_MOUNT_NOEXEC |
						     AB_MOUNT_NOSYMFOLLOW),
				    -1);
	return *cover_fd < 0 ? *cover_fd : 0;
}

int init_lend_broker(init_box *box)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_writer w;
	int r;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LINK_BROKER);
	ab_put_u32(&w, box->broker_fd_count);
	r = ab_message_send(box->link_inside_fd, w.data, w.len,
			    box->broker_fds, box->broker_fd_count, 0);
	for (uint32_t i = 0; i < box->broker_fd_count; i++)
		close(box->broker_fds[i]);
	box->broker_fd_count = 0;
	return r ? init_fail(box, -r, "", "broker") : 0;
}
