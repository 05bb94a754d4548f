/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The handle of a gateway for the box it belongs to. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/secret.h"
#include "gateway/internal.h"

#define STOP_TIMEOUT_MS 1000

int ab_gateway_fd(const agentbox_gateway *gw)
{
	return gw ? gw->helper.control_fd : -1;
}

int ab_gateway_runs_fd(const agentbox_gateway *gw)
{
	return gw ? gw->runs_fd : -1;
}

int ab_gateway_pidfd(const agentbox_gateway *gw)
{
	return gw ? gw->helper.pidfd : -1;
}

void ab_gateway_drain(agentbox_gateway *gw)
{
	int32_t result;
	uint64_t value;
	char text[8];
	int rc = 0;

	if (!gw || gw->owner != getpid() ||
	    pthread_mutex_trylock(&gw->lock) != 0)
		return; /* who waits for an answer reads the socket */
	while (rc == 0)
		rc = ab_gateway_take(gw, 0, &result, &value, text,
				     sizeof(text));
	pthread_mutex_unlock(&gw->lock);
}

void ab_gateway_end_helper(agentbox_gateway *gw)
{
	if (gw->closing && gw->helper.control_fd >= 0)
		gw->closing(gw->arg, gw->helper.control_fd);
	ab_helper_stop(&gw->helper, STOP_TIMEOUT_MS);
}

void ab_gateway_stop(agentbox_gateway *gw)
{
	if (!gw || gw->owner != getpid())
		return;
	ab_gateway_drain(gw);
	pthread_mutex_lock(&gw->lock);
	gw->has_ended = true;
	ab_gateway_end_helper(gw);
	ab_gateway_drop_files(gw);
	ab_gateway_end_runs(gw, NULL);
	pthread_mutex_unlock(&gw->lock);
}

char *const *ab_gateway_environment(const agentbox_gateway *gw)
{
	return gw ? gw->env : NULL;
}

void ab_gateway_free(agentbox_gateway *gw)
{
	int saved = errno;

	if (!gw)
		return;
	if (gw->owner == getpid()) {
		ab_gateway_end_helper(gw);
	} else {
		if (gw->helper.control_fd >= 0)
			close(gw->helper.control_fd);
		if (gw->helper.pidfd >= 0)
			close(gw->helper.pidfd);
	}
	ab_gateway_drop_files(gw);
	ab_gateway_runs_end(gw);
	agentbox_policy_unref(gw->policy);
	agentbox_context_unref(gw->context);
	for (size_t i = 0; gw->env && gw->env[i]; i++)
		free(gw->env[i]);
	free(gw->env);
	free(gw->previews);
	ab_gateway_drop_questions(gw);
	ab_secret_free(gw->key);
	pthread_mutex_destroy(&gw->lock);
	free(gw);
	errno = saved;
}
