/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host's part of the credential broker: it is asked for values in its
 * dispatch and answers with descriptors, which nobody here reads. Whether the
 * box may have one at all, the gateway has judged before it asks.
 * Spec: DESIGN.md section 9, gateway cases 144, 148, 151.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "gateway/internal.h"
#include "wire/message.h"

int32_t ab_gateway_keep_files(agentbox_gateway *gw, const int *fds,
			      size_t count, agentbox_error **err)
{
	for (size_t i = 0; i < count; i++) {
		int fd = ab_fd_dup(fds[i]);

		if (fd < 0)
			return ab_error_sys(err, -fd, "broker",
					    "no descriptor left");
		gw->files[gw->file_count++] = fd;
	}
	return 0;
}

/* A gateway that was killed could not do it. In a forked child they are the
   parent's. */
void ab_gateway_drop_files(agentbox_gateway *gw)
{
	for (size_t i = 0; i < gw->file_count; i++) {
		/* on a tmpfs there is no reason for it to fail */
		if (gw->owner == getpid() && ftruncate(gw->files[i], 0))
			ab_log(gw->context, AGENTBOX_LOG_ERROR,
			       "a file of a secret could not be emptied "
			       "(errno %d)", errno);
		close(gw->files[i]);
	}
	gw->file_count = 0;
}

/* The gateway forgets who left or waited too long; so there may be more here
   than it asks for at once. One without room it calls late. */
int ab_gateway_take_need(agentbox_gateway *gw, ab_reader *r)
{
	uint32_t serial = ab_get_u32(r);
	const char *name = ab_get_str(r);
	ab_gateway_need *need;

	if (!ab_reader_done(r) || !ab_broker_name_ok(name))
		return -EPROTO;
	if (gw->need_count == AB_GATEWAY_MAX_NEEDS)
		return 0;
	need = &gw->needs[gw->need_count];
	need->serial = serial;
	memcpy(need->name, name, strlen(name) + 1);
	gw->need_count++;
	return 0;
}

/* The oldest one, and whom to ask; false: there is none. */
static bool pop(agentbox_gateway *gw, ab_gateway_need *need,
		agentbox_secret_provider *provider, void **data)
{
	bool any;

	pthread_mutex_lock(&gw->lock);
	/* for a box that was revoked nobody is asked any more */
	any = gw->need_count > 0 && !gw->has_ended && !gw->is_revoked;
	if (any) {
		*need = gw->needs[0];
		memmove(gw->needs, gw->needs + 1,
			--gw->need_count * sizeof(*gw->needs));
		gw->serving = need;
		gw->is_named = !gw->provider;
	}
	*provider = gw->provider;
	*data = gw->provider_data;
	pthread_mutex_unlock(&gw->lock);
	return any;
}

/* One that has no room will tell the box that nobody answered. */
void ab_gateway_give(agentbox_gateway *gw, uint32_t serial, int32_t result,
		     int fd)
{
	uint8_t memory[AB_MESSAGE_HEADER + 16];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_GW_VALUE);
	ab_put_u32(&w, fd >= 0);
	ab_put_u32(&w, serial);
	ab_put_i32(&w, result);
	pthread_mutex_lock(&gw->lock);
	if (!gw->has_ended)
		(void)ab_message_send(gw->helper.control_fd, w.data, w.len,
				      &fd, fd >= 0, MSG_DONTWAIT);
	pthread_mutex_unlock(&gw->lock);
}

static void served(agentbox_gateway *gw)
{
	pthread_mutex_lock(&gw->lock);
	gw->serving = NULL;
	pthread_mutex_unlock(&gw->lock);
}

/* The host's provider; one that names a program has no other answer. */
static void ask_provider(agentbox_gateway *gw, const ab_gateway_need *need,
			 agentbox_secret_provider provider, void *data)
{
	int32_t fd = -1, rc = provider(data, need->name, &fd);

	if (rc == 0 && fd < 0)
		rc = AGENTBOX_ENOTFOUND;
	if (!gw->is_named)
		ab_gateway_give(gw, need->serial, rc, rc ? -1 : fd);
	if (fd >= 0)
		close(fd);
}

static void give_stored(agentbox_gateway *gw, const ab_gateway_need *need)
{
	ab_autofd int fd = -1;
	int32_t rc = agentbox_secret_open(gw->context, need->name, &fd, NULL);

	ab_gateway_give(gw, need->serial, rc, rc ? -1 : fd);
}

void ab_gateway_serve(agentbox_gateway *gw)
{
	agentbox_secret_provider provider;
	ab_gateway_need need;
	void *data;

	if (!gw || gw->owner != getpid())
		return;
	ab_gateway_serve_runs(gw);
	for (int i = 0; i < AB_GATEWAY_MAX_NEEDS &&
			pop(gw, &need, &provider, &data); i++) {
		if (provider)
			ask_provider(gw, &need, provider, data);
		else if (!ab_gateway_run_named(gw, &need))
			give_stored(gw, &need);
		served(gw);
	}
}

int32_t agentbox_gateway_set_provider(agentbox_gateway *gw,
				      agentbox_secret_provider provider,
				      void *data, agentbox_error **err)
{
	int32_t rc = ab_gateway_usable(gw, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&gw->lock);
	gw->provider = provider;
	gw->provider_data = data;
	pthread_mutex_unlock(&gw->lock);
	return 0;
}

/* Who asked for it has been refused. Lock held. */
static void drop_needs(agentbox_gateway *gw, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < gw->need_count; i++)
		if (strcmp(gw->needs[i].name, name) != 0)
			gw->needs[kept++] = gw->needs[i];
	gw->need_count = kept;
	if (gw->serving && strcmp(gw->serving->name, name) == 0)
		gw->serving->is_dropped = true;
}

int32_t agentbox_gateway_forget_secret(agentbox_gateway *gw, const char *name,
				       uint64_t *count, agentbox_error **err)
{
	int32_t result = 0, rc = ab_gateway_usable(gw, err);
	uint64_t ended;

	if (rc)
		return rc;
	if (!name || !ab_broker_name_ok(name))
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "not the name of a secret");
	ended = ab_gateway_end(gw, AB_MSG_GW_FORGET, name, &result);
	pthread_mutex_lock(&gw->lock);
	drop_needs(gw, name);
	ab_gateway_end_runs(gw, name);
	pthread_mutex_unlock(&gw->lock);
	if (result)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "name",
				    "the box is given no secret \"%s\"", name);
	if (count)
		*count = ended;
	return 0;
}
