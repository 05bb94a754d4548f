/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loopback: without it "localhost" is ENETUNREACH for every test suite, even
 * in a box without network (RECIPES.md, tools). Nothing else is configured
 * here. Spec: netdevice(7).
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int init_raise_loopback(init_box *box)
{
	ab_autofd int fd = -1;
	struct ifreq ifr = {.ifr_name = "lo"};

	if (!(box->plan.namespaces & AB_NS_NET))
		return 0;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ifr.ifr_flags = IFF_UP | IFF_RUNNING;
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr)) {
		init_note(box, "loopback stays down: %s", strerror(errno));
		return 0;
	}
	box->walls |= AB_WALL_LOOPBACK;
	return 0;
}
