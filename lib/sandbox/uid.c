/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A kernel uid of its own for every box of a root host. The claim is an
 * abstract socket name: the kernel keeps it unique in this network namespace
 * and gives it back when the last descriptor closes, however we end
 * (unix(7)), so there is no file to leave behind. Somebody who takes names on
 * purpose makes us take another id; he does not get one of ours.
 */
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "sandbox/internal.h"

#define MAX_TRIES 64

static int claim(uint32_t uid)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	ab_autofd int fd = ab_fd_lift(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC,
					     0));

	if (fd < 0)
		return -errno;
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1,
			 "agentbox-uid-%u", uid);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
				     1 + (size_t)n);
	if (bind(fd, (struct sockaddr *)&a, size) < 0)
		return -errno;
	return ab_steal_fd(&fd);
}

int32_t ab_uid_claim(const ab_probe *probe, const char *box_id,
		     uint32_t *uid_try, int *claim_fd, agentbox_error **err)
{
	*uid_try = 0;
	if (!ab_walls_pick_uid(probe, box_id, 0))
		return 0; /* an ordinary user's boxes share his uid */
	for (uint32_t i = 0; i < MAX_TRIES; i++) {
		int fd = claim(ab_walls_pick_uid(probe, box_id, i));
		if (fd >= 0) {
			*uid_try = i;
			*claim_fd = fd;
			return 0;
		}
		if (fd != -EADDRINUSE)
			return ab_error_sys(err, -fd, "userns",
					    "cannot claim a kernel uid");
	}
	return ab_error_set(err, AGENTBOX_ELIMIT, "userns",
			    "no free kernel uid in %d tries", MAX_TRIES);
}
