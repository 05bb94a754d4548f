/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is said to a gateway and what it says. It stands next to the agent's
 * world, so everything is parsed strictly: whatever is malformed ends it, and
 * with it the box's network. Messages: wire/gateway.h.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "gateway/internal.h"
#include "wire/message.h"

#define STOP_TIMEOUT_MS 200

int32_t ab_gateway_lists_of(const ab_policy *policy, ab_gateway_lists *lists,
			    agentbox_error **err)
{
	const ab_policy_list *from[AB_GATEWAY_LISTS] = { &policy->network.allow,
					 &policy->network.deny,
					 &policy->network.private_,
					 &policy->network.tcp };

	memset(lists, 0, sizeof(*lists));
	for (size_t i = 0; i < AB_GATEWAY_LISTS; i++) {
		if (from[i]->count > AB_GATEWAY_MAX_LIST)
			return ab_error_set(err, AGENTBOX_ELIMIT, "/network",
					    "more than %d hosts (bound "
					    "AB_GATEWAY_MAX_LIST)",
					    AB_GATEWAY_MAX_LIST);
		lists->items[i] = ab_calloc(from[i]->count + 1,
					    sizeof(*lists->items[i]));
		if (!lists->items[i]) {
			ab_gateway_lists_end(lists);
			return ab_error_nomem(err);
		}
		lists->count[i] = (uint32_t)from[i]->count;
		for (size_t j = 0; j < from[i]->count; j++)
			lists->items[i][j] = from[i]->items[j];
	}
	return 0;
}

void ab_gateway_lose(agentbox_gateway *gw)
{
	if (gw->has_ended)
		return;
	gw->has_ended = true;
	ab_gateway_end_helper(gw);
	ab_gateway_drop_files(gw);
	ab_gateway_end_runs(gw, NULL);
	gw->need_count = 0;
	gw->told(gw->arg, NULL);
}

static int take_reply(ab_reader *r, uint32_t serial, int32_t *result,
		      uint64_t *value, char *text, size_t size)
{
	uint32_t got = ab_get_u32(r);
	int32_t code = ab_get_i32(r);
	uint64_t v = ab_get_u64(r);
	const char *s = ab_get_str(r);
	size_t n = strlen(s);

	if (!ab_reader_done(r) || !serial || got != serial)
		return -EPROTO;
	*result = code;
	*value = v;
	n = n < size ? n : size - 1;
	memcpy(text, s, n);
	text[n] = '\0';
	return 1;
}

static int take(agentbox_gateway *gw, uint32_t serial, int32_t *result,
		uint64_t *value, char *text, size_t size)
{
	uint8_t *message = gw->message;
	ab_gateway_record record;
	size_t count = 0;
	ab_reader r;
	ssize_t n = ab_message_recv(gw->helper.control_fd, message,
				    sizeof(gw->message), NULL, 0, &count,
				    MSG_DONTWAIT);

	if (n <= 0)
		return n ? (int)n : -ECONNRESET;
	ab_reader_init(&r, message, (size_t)n);
	uint32_t kind = ab_get_u32(&r);
	if (ab_get_u32(&r) != 0)
		return -EPROTO;
	if (kind == AB_MSG_GW_REPLY)
		return take_reply(&r, serial, result, value, text, size);
	if (kind == AB_MSG_GW_ASK || kind == AB_MSG_GW_APPROVE)
		return ab_gateway_take_question(gw, &r,
						kind == AB_MSG_GW_APPROVE);
	if (kind == AB_MSG_GW_NEED)
		return ab_gateway_take_need(gw, &r);
	if (kind != AB_MSG_GW_RECORD || ab_gateway_record_get(&r, &record) < 0)
		return -EPROTO;
	gw->told(gw->arg, &record);
	return 0;
}

int ab_gateway_take(agentbox_gateway *gw, uint32_t serial, int32_t *result,
		    uint64_t *value, char *text, size_t size)
{
	int rc = gw->has_ended ? -ECONNRESET
			       : take(gw, serial, result, value, text, size);

	if (rc < 0 && rc != -EAGAIN)
		ab_gateway_lose(gw);
	return rc;
}

static int ask(agentbox_gateway *gw, uint32_t kind, const char *name, int fd,
	       int32_t *result, uint64_t *value, char *text, size_t size)
{
	uint64_t deadline = ab_clock_boot_ns() +
			    AB_GATEWAY_ANSWER_MS * UINT64_C(1000000);
	uint32_t serial = ++gw->serial ? gw->serial : ++gw->serial;
	uint8_t memory[AB_GATEWAY_MAX_REQUEST];
	ab_writer w;
	int rc;

	if (gw->has_ended)
		return -ECONNRESET;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, kind);
	ab_put_u32(&w, fd >= 0);
	ab_put_u32(&w, serial);
	if (name)
		ab_put_str(&w, name);
	rc = ab_message_send(gw->helper.control_fd, w.data, w.len, &fd,
			     fd >= 0, MSG_DONTWAIT);
	while (rc >= 0) {
		rc = ab_fd_poll(gw->helper.control_fd, POLLIN,
				ab_clock_left_ms(deadline));
		if (rc == 0)
			rc = -ETIMEDOUT;
		if (rc > 0)
			rc = ab_gateway_take(gw, serial, result, value, text,
					     size);
		if (rc == 1)
			return 0;
		if (rc == -EAGAIN)
			rc = 0;
	}
	ab_gateway_lose(gw);
	return rc;
}

int ab_gateway_ask(agentbox_gateway *gw, uint32_t kind, const char *name,
		   int fd, int32_t *result, uint64_t *value, char *text,
		   size_t size)
{
	int rc = ask(gw, kind, name, fd, result, value, text, size);

	/* who waited may have taken a question off the socket */
	if (gw->need_count)
		gw->wake(gw->arg);
	return rc;
}

int32_t ab_gateway_usable(const agentbox_gateway *gw, agentbox_error **err)
{
	if (!gw)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "gateway is NULL");
	if (gw->owner != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "gateway",
				    "a forked child cannot use the gateway");
	return 0;
}

int32_t agentbox_gateway_is_alive(const agentbox_gateway *gateway)
{
	agentbox_gateway *gw = (agentbox_gateway *)(uintptr_t)gateway;
	bool alive;

	if (ab_gateway_usable(gw, NULL))
		return 0;
	pthread_mutex_lock(&gw->lock);
	alive = !gw->has_ended && !gw->is_revoked;
	pthread_mutex_unlock(&gw->lock);
	return alive;
}

int32_t ab_gateway_request(agentbox_gateway *gw, uint32_t kind,
			   const char *name, int fd, int32_t *result,
			   char *text, size_t size, agentbox_error **err)
{
	uint64_t value;
	int failed = 0;
	bool is_over;

	pthread_mutex_lock(&gw->lock);
	is_over = gw->is_revoked || gw->has_ended;
	if (!is_over)
		failed = ab_gateway_ask(gw, kind, name, fd, result, &value,
					text, size);
	pthread_mutex_unlock(&gw->lock);
	if (is_over)
		return ab_error_set(err, AGENTBOX_ECLOSED, "gateway",
				    "the gateway is revoked or has ended; "
				    "the box has no network");
	return !failed ? 0 : ab_error_sys_code(err, AGENTBOX_ECLOSED, -failed,
					       "gateway", "the gateway no "
					       "longer answers");
}

uint64_t ab_gateway_end(agentbox_gateway *gw, uint32_t kind, const char *name,
			int32_t *result)
{
	uint64_t count = 0;
	char text[8];

	pthread_mutex_lock(&gw->lock);
	/* one that does not answer is dead now, and that ends all */
	if (!gw->is_revoked && !gw->has_ended &&
	    ab_gateway_ask(gw, kind, name, -1, result, &count, text,
			   sizeof(text)))
		*result = 0;
	gw->is_revoked |= kind == AB_MSG_GW_REVOKE;
	pthread_mutex_unlock(&gw->lock);
	return count;
}

static int32_t seal_lists(const ab_policy *policy, int *fd,
			  agentbox_error **err)
{
	ab_gateway_lists lists;
	ab_writer w;
	int32_t rc = ab_gateway_lists_of(policy, &lists, err);
	int made;

	if (rc)
		return rc;
	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	ab_gateway_lists_put(&w, &lists);
	ab_gateway_lists_end(&lists);
	made = w.bad ? -ENOMEM
		     : ab_fd_memfd_sealed("agentbox-lists", w.data, w.len);
	ab_writer_end(&w);
	if (made < 0)
		return ab_error_sys(err, -made, "gateway",
				    "cannot seal the lists");
	*fd = made;
	return 0;
}

int32_t agentbox_gateway_reload(agentbox_gateway *gw, agentbox_policy *policy,
				agentbox_error **err)
{
	ab_autofd int fd = -1;
	char text[AB_WHY_SIZE + 64] = "";
	int32_t result = 0, rc = ab_gateway_usable(gw, err);

	if (rc)
		return rc;
	if (!policy)
		return ab_error_set(err, AGENTBOX_EINVAL, "policy",
				    "policy is NULL");
	if (ab_policy_get(policy)->network.mode != AB_NET_GATEWAY)
		return ab_error_set(err, AGENTBOX_EINVAL, "/network/mode",
				    "the policy's network mode is not "
				    "'gateway'");
	rc = seal_lists(ab_policy_get(policy), &fd, err);
	if (rc)
		return rc;
	rc = ab_gateway_request(gw, AB_MSG_GW_LISTS, NULL, fd, &result, text,
				sizeof(text), err);
	if (rc)
		return rc;
	if (result)
		return ab_error_set(err, AGENTBOX_EPOLICY, "/network",
				    "the lists were refused, the old ones "
				    "stay: %s", text);
	return 0;
}

int32_t agentbox_gateway_revoke(agentbox_gateway *gw, uint64_t *count,
				agentbox_error **err)
{
	int32_t result = 0, rc = ab_gateway_usable(gw, err);
	uint64_t cut;

	if (rc)
		return rc;
	cut = ab_gateway_end(gw, AB_MSG_GW_REVOKE, NULL, &result);
	pthread_mutex_lock(&gw->lock);
	ab_gateway_end_runs(gw, NULL);
	pthread_mutex_unlock(&gw->lock);
	if (count)
		*count = cut;
	return 0;
}

int32_t agentbox_gateway_remove_route(agentbox_gateway *gw, const char *prefix,
				      uint64_t *count, agentbox_error **err)
{
	int32_t result = 0, rc = ab_gateway_usable(gw, err);
	uint64_t cut = 0;

	if (rc)
		return rc;
	if (!prefix)
		return ab_error_set(err, AGENTBOX_EINVAL, "prefix",
				    "prefix is NULL");
	/* no route has a longer one */
	if (strlen(prefix) > AB_GATEWAY_MAX_REQUEST / 2)
		result = -ENOENT;
	else
		cut = ab_gateway_end(gw, AB_MSG_GW_UNROUTE, prefix, &result);
	if (result)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "prefix",
				    "there is no route \"%.200s\"", prefix);
	if (count)
		*count = cut;
	return 0;
}

static int32_t secret_refused(int32_t result, const char *name,
			      agentbox_error **err)
{
	switch (-result) {
	case ENOENT:
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "name",
				    "no route injects the secret \"%.64s\"",
				    name);
	case EACCES:
		return ab_error_set(err, AGENTBOX_EACCES, "fd",
				    "the value of the secret \"%.64s\" is no "
				    "regular file", name);
	case EBADF:
		return ab_error_set(err, AGENTBOX_EACCES, "fd",
				    "the value of the secret \"%.64s\" is not "
				    "open for reading", name);
	case EFBIG:
		return ab_error_set(err, AGENTBOX_ELIMIT, "fd",
				    "the value of the secret \"%.64s\" is "
				    "longer than a header may be", name);
	case EINVAL:
		return ab_error_set(err, AGENTBOX_EINVAL, "fd",
				    "the value of the secret \"%.64s\" is not "
				    "one line of 8 printable characters or "
				    "more without space around it", name);
	}
	return ab_error_sys(err, -result, "fd",
			    "the secret \"%.64s\" cannot be read", name);
}

int32_t agentbox_gateway_set_secret(agentbox_gateway *gw, const char *name,
				    int32_t fd, agentbox_error **err)
{
	int32_t result = 0, rc = ab_gateway_usable(gw, err);
	char text[8];

	if (rc)
		return rc;
	if (!name || !*name || strlen(name) > 64)
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "not the name of a secret");
	/* before it is sent: what cannot be sent would cost the connection */
	if (fd != -1 && fcntl(fd, F_GETFD) < 0)
		return ab_error_sys_code(err, AGENTBOX_EINVAL, errno, "fd",
					 "fd %d is not open", fd);
	rc = ab_gateway_request(gw, AB_MSG_GW_SECRET, name, fd, &result, text,
				sizeof(text), err);
	if (rc)
		return rc;
	return result ? secret_refused(result, name, err) : 0;
}
