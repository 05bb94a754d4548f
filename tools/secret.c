/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * --secret NAME=FILE: the file goes to the box's gateway unread. One that
 * others can read is no secret and is refused. Specification: agentbox(1).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session.h"
#include "text.h"

/* NULL, or what is wrong with it. */
static const char *judge(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return "cannot be looked at";
	if (!S_ISREG(st.st_mode))
		return "is no regular file";
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return "belongs to another user";
	if (st.st_mode & 077)
		return "can be read by others; chmod it to 0600";
	return NULL;
}

static int give(session *s, const char *name, const char *file)
{
	agentbox_gateway *gateway = agentbox_sandbox_get_gateway(s->box);
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const char *why = fd < 0 ? strerror(errno) : judge(fd);
	agentbox_error *err = NULL;
	int rc = 0;

	if (why)
		rc = tool_refuse(s->t, TOOL_BAD_INPUT, "EACCES", "--secret",
				 "'%s' %s", file, why);
	else if (!gateway)
		rc = tool_refuse(s->t, TOOL_BAD_INPUT, "EINVAL", "--secret",
				 "this box has no gateway: the policy's "
				 "network mode is not 'gateway'");
	else if (agentbox_gateway_set_secret(gateway, name, fd, &err) < 0)
		rc = tool_fail_as(s->t, TOOL_BAD_INPUT, err, "--secret");
	if (fd >= 0)
		close(fd);
	return rc;
}

int tool_give_secrets(session *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->args->value_count; i++) {
		const tool_value *v = &s->args->values[i];
		char *name, *file;

		if (strcmp(v->option->name, "--secret") != 0)
			continue;
		name = strdup(v->value);
		file = name ? strchr(name, '=') : NULL;
		if (!file || file == name || !file[1]) {
			rc = tool_refuse(s->t, TOOL_USAGE, "EINVAL",
					 "--secret", "'%s' is not NAME=FILE",
					 v->value);
		} else {
			*file++ = '\0';
			rc = give(s, name, file);
		}
		free(name);
	}
	return rc;
}
