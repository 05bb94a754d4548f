/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Previews: the host's listener, on its loopback and made here, is given to
 * the gateway, which alone keeps it. Spec: DESIGN.md section 9.
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"
#include "gateway/internal.h"

#define BACKLOG 64

/* A listener on 127.0.0.1, or -errno; *port is where. */
static int listen_on(uint32_t *port)
{
	ab_autofd int fd = ab_fd_lift(socket(AF_INET,
					     SOCK_STREAM | SOCK_CLOEXEC |
						     SOCK_NONBLOCK, 0));
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	const int on = 1;

	if (fd < 0)
		return fd == -1 ? -errno : fd;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = htons((uint16_t)*port);
	/* what is left of an earlier one's connections is nobody's */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(fd, BACKLOG) || getsockname(fd, (struct sockaddr *)&at, &n))
		return -errno;
	*port = ntohs(at.sin_port);
	return ab_steal_fd(&fd);
}

static int32_t is_opened(const agentbox_gateway *gw, uint32_t port,
			 agentbox_error **err)
{
	for (size_t i = 0; i < gw->preview_count; i++)
		if (gw->previews[i] == port)
			return 0;
	return ab_error_set(err, AGENTBOX_EDENIED, "/network/preview",
			    "port %u is not in the policy's network.preview",
			    port);
}

static int32_t refused(int32_t result, uint32_t port, agentbox_error **err)
{
	switch (-result) {
	case EEXIST:
		return ab_error_set(err, AGENTBOX_EEXIST, "port",
				    "port %u of the box is open already",
				    port);
	case ENOENT:
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "port",
				    "port %u of the box is not open", port);
	case E2BIG:
		return ab_error_set(err, AGENTBOX_ELIMIT, "port",
				    "no more than 16 ports of a box can be "
				    "open");
	}
	return ab_error_sys(err, -result, "gateway",
			    "the gateway cannot serve port %u", port);
}

/* fd -1: it ends. */
static int32_t tell(agentbox_gateway *gw, uint32_t port, int fd,
		    agentbox_error **err)
{
	char name[12], text[8];
	int32_t result = 0, rc;

	snprintf(name, sizeof(name), "%u", port);
	rc = ab_gateway_request(gw, AB_MSG_GW_PREVIEW, name, fd, &result, text,
				sizeof(text), err);
	return rc || !result ? rc : refused(result, port, err);
}

static int32_t check(const agentbox_gateway *gw, uint32_t port,
		     agentbox_error **err)
{
	int32_t rc = ab_gateway_usable(gw, err);

	if (rc)
		return rc;
	return port >= 1 && port <= 65535 ? 0
		: ab_error_set(err, AGENTBOX_EINVAL, "port", "not a port");
}

int32_t agentbox_gateway_open_preview(agentbox_gateway *gw, uint32_t port,
				      uint32_t host_port, uint32_t *bound,
				      agentbox_error **err)
{
	ab_autofd int fd = -1;
	int32_t rc = check(gw, port, err);

	if (!rc && host_port > 65535)
		rc = ab_error_set(err, AGENTBOX_EINVAL, "host_port",
				  "not a port");
	if (!rc)
		rc = is_opened(gw, port, err);
	if (rc)
		return rc;
	fd = listen_on(&host_port);
	if (fd < 0)
		return ab_error_sys_code(err, fd == -EADDRINUSE
					 ? AGENTBOX_EBUSY
					 : fd == -EACCES ? AGENTBOX_EACCES
					 : AGENTBOX_ESYS, -fd, "host_port",
					 "cannot listen on 127.0.0.1 port %u",
					 host_port);
	rc = tell(gw, port, fd, err);
	if (!rc && bound)
		*bound = host_port;
	return rc;
}

int32_t agentbox_gateway_close_preview(agentbox_gateway *gw, uint32_t port,
				       agentbox_error **err)
{
	int32_t rc = check(gw, port, err);

	return rc ? rc : tell(gw, port, -1, err);
}
