/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a program asks of a self-test. Spec: agentbox/verify.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/secret.h"
#include "verify/internal.h"

int32_t agentbox_verify_options_new(agentbox_verify_options **options,
				    agentbox_error **err)
{
	agentbox_verify_options *o;

	if (!options)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "options is NULL");
	o = ab_new(agentbox_verify_options);
	if (!o)
		return ab_error_nomem(err);
	o->stop_fd = -1;
	o->timeout_ms = AB_VERIFY_TIMEOUT_MS;
	*options = o;
	return 0;
}

void agentbox_verify_options_free(agentbox_verify_options *options)
{
	if (!options)
		return;
	for (size_t i = 0; i < options->secret_count; i++) {
		free(options->secrets[i].name);
		ab_secret_free(options->secrets[i].value);
	}
	free(options);
}

int32_t agentbox_verify_options_set_timeout(agentbox_verify_options *options,
					    uint32_t milliseconds,
					    agentbox_error **err)
{
	if (!options)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "options is NULL");
	if (!milliseconds)
		return ab_error_set(err, AGENTBOX_EINVAL, "timeout",
				    "a box cannot be verified in 0 ms");
	options->timeout_ms = milliseconds;
	return 0;
}

int32_t agentbox_verify_options_set_revoke(agentbox_verify_options *options,
					   int32_t revoke,
					   agentbox_error **err)
{
	if (!options)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "options is NULL");
	options->revoke = revoke != 0;
	return 0;
}

int32_t agentbox_verify_options_set_stop_fd(agentbox_verify_options *options,
					    int32_t fd, agentbox_error **err)
{
	if (!options)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "options is NULL");
	if (fd != -1 && fcntl(fd, F_GETFD) < 0)
		return ab_error_sys_code(err, AGENTBOX_EINVAL, errno, "fd",
					 "fd %d is not open", fd);
	options->stop_fd = fd;
	return 0;
}
