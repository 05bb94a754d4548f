/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The serving side: boxes under their names, clients of the same user, and
 * the commands those run. One epoll descriptor holds all of it; no client is
 * waited for. Protocol: owner/protocol.h.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "owner/internal.h"

#define EVENTS_PER_DISPATCH 64
/* How long no client is accepted after there was no descriptor for one. */
#define ACCEPT_PAUSE_MS 200
/* How often a box is looked at that settles after a command. */
#define SETTLE_POLL_MS 1

AB_DEFINE_AUTO(agentbox_owner, agentbox_owner_free)

int32_t ab_owner_usable(const agentbox_owner *o, agentbox_error **err)
{
	if (!o)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "owner is NULL");
	if (o->pid != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "",
				    "the owner belongs to process %d",
				    (int)o->pid);
	return 0;
}

int ab_owner_watch(agentbox_owner *o, int fd, ab_source *s)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = s };

	return epoll_ctl(o->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

void ab_owner_unwatch(agentbox_owner *o, int fd)
{
	if (o->pid == getpid())
		epoll_ctl(o->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void ab_owner_end_socket(agentbox_owner *o, int *fd)
{
	if (*fd < 0)
		return;
	ab_owner_unwatch(o, *fd);
	if (o->pid == getpid())
		shutdown(*fd, SHUT_RDWR);
	close(*fd);
	*fd = -1;
}

/* A name is held by a lock on a file beside the sockets: gone with us. */
static int32_t take_name(agentbox_owner *o, agentbox_error **err)
{
	char file[AB_OWNER_MAX_NAME + 8];

	snprintf(file, sizeof(file), ".%s.lock", o->name);
	o->name_lock_fd = ab_fd_lift(openat(o->dirfd, file, O_RDWR | O_CREAT |
					    O_NOFOLLOW | O_CLOEXEC, 0600));
	if (o->name_lock_fd < 0)
		return ab_error_sys(err, errno, AB_OWNER_DIR,
				    "cannot make '%s'", file);
	if (flock(o->name_lock_fd, LOCK_EX | LOCK_NB) < 0)
		return ab_error_set(err, AGENTBOX_EEXIST, "name",
				    "an owner named '%s' is alive", o->name);
	return 0;
}

/*
 * Bound under a name nobody connects to and renamed once it listens: a socket
 * that refuses connections is a dead owner's and is removed. 0 or -errno.
 */
static int bind_and_listen(agentbox_owner *o)
{
	struct sockaddr_un address;
	char id[AB_ID_SIZE];

	int rc = ab_id_new(id);
	if (rc < 0)
		return rc;
	snprintf(o->socket_name, sizeof(o->socket_name), ".%d-%.*s",
		 (int)o->pid, AB_OWNER_EPOCH_LEN, id);
	rc = ab_owner_address(o->dirfd, o->socket_name, &address);
	if (rc < 0)
		return rc;
	ab_autofd int fd = ab_fd_lift(socket(AF_UNIX, SOCK_SEQPACKET |
					     SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    fchmodat(o->dirfd, o->socket_name, 0600, 0) < 0 ||
	    listen(fd, AB_OWNER_MAX_CLIENTS) < 0 ||
	    renameat(o->dirfd, o->socket_name, o->dirfd,
		     o->socket_name + 1) < 0)
		return -errno;
	memmove(o->socket_name, o->socket_name + 1, strlen(o->socket_name));
	o->listen_fd = ab_steal_fd(&fd);
	return 0;
}

static int32_t listen_here(agentbox_owner *o, agentbox_error **err)
{
	int rc = -ENOENT;

	/* Seen from another pid namespace we are dead, and the socket may be
	   removed before it listens: then the next one. */
	for (int i = 0; i < 5 && rc == -ENOENT; i++)
		rc = bind_and_listen(o);
	if (rc < 0)
		return ab_error_sys(err, -rc, AB_OWNER_DIR,
				    "cannot listen in the state directory");
	o->listen_source.kind = SOURCE_LISTEN;
	if (ab_owner_watch(o, o->listen_fd, &o->listen_source) < 0)
		return ab_error_sys(err, errno, "", "epoll");
	return 0;
}

int32_t agentbox_owner_new(agentbox_context *context, const char *name,
			   agentbox_owner **owner, agentbox_error **err)
{
	if (!context || !owner)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "context or owner is NULL");
	if (name && !ab_owner_name_ok(name))
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "'%s' is no owner name", name);
	ab_auto(agentbox_owner) *o = ab_new(agentbox_owner);
	if (!o)
		return ab_error_nomem(err);
	o->pid = getpid();
	o->dirfd = o->listen_fd = o->epoll_fd = o->name_lock_fd = -1;
	o->context = ab_context_use(context);
	if (name)
		memcpy(o->name, name, strlen(name));
	int32_t rc = ab_owner_open_dir(context, &o->dirfd, err);
	if (rc == 0 && name)
		rc = take_name(o, err);
	if (rc < 0)
		return rc;
	ab_owner_sweep(o->dirfd);
	o->epoll_fd = ab_fd_lift(epoll_create1(EPOLL_CLOEXEC));
	if (o->epoll_fd < 0)
		return ab_error_sys(err, errno, "", "epoll");
	rc = listen_here(o, err);
	if (rc < 0)
		return rc;
	*owner = ab_steal(&o);
	return 0;
}

static void sweep(agentbox_owner *o)
{
	for (ab_client **at = &o->clients; *at;) {
		ab_client *c = *at;
		if (!c->gone) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		o->client_count--;
		free(c);
	}
	for (ab_job **at = &o->jobs; *at;) {
		ab_job *j = *at;
		if (!j->gone) {
			at = &j->next;
			continue;
		}
		*at = j->next;
		free(j);
	}
}

/*
 * A client that cannot be accepted stays in the queue and keeps the listener
 * readable: look away for a while, not at every poll of the host.
 */
static void pause_listening(agentbox_owner *o)
{
	ab_owner_unwatch(o, o->listen_fd);
	o->listen_again_ns = ab_clock_boot_ns() +
			     ACCEPT_PAUSE_MS * UINT64_C(1000000);
}

static void resume_listening(agentbox_owner *o)
{
	if (o->listen_again_ns && ab_clock_boot_ns() >= o->listen_again_ns &&
	    ab_owner_watch(o, o->listen_fd, &o->listen_source) == 0)
		o->listen_again_ns = 0;
}

static void accept_client(agentbox_owner *o)
{
	ab_autofd int fd = ab_fd_lift(accept4(o->listen_fd, NULL, NULL,
					      SOCK_CLOEXEC | SOCK_NONBLOCK));
	if (fd < 0 && errno != EAGAIN && errno != EINTR &&
	    errno != ECONNABORTED)
		pause_listening(o);
	if (fd < 0 || o->client_count >= AB_OWNER_MAX_CLIENTS ||
	    !ab_owner_peer_is_ours(fd))
		return;
	ab_client *c = ab_new(ab_client);
	if (!c)
		return;
	c->source.kind = SOURCE_CLIENT;
	c->owner = o;
	c->fd = fd;
	if (ab_owner_watch(o, fd, &c->source) < 0) {
		free(c);
		return;
	}
	ab_steal_fd(&fd);
	c->next = o->clients;
	o->clients = c;
	o->client_count++;
}

int32_t agentbox_owner_add(agentbox_owner *o, agentbox_sandbox *box,
			   const char *name, agentbox_error **err)
{
	int32_t rc = ab_owner_usable(o, err);
	if (rc < 0)
		return rc;
	if (!box)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "box is NULL");
	if (name && !ab_owner_name_ok(name))
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "'%s' is no box name: letters, digits, "
				    "'.', '_' and '-', %d at most, no '.' first",
				    name, AB_OWNER_MAX_NAME);
	if (name && ab_is_id(name))
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "'%s' is no box name: it has the form of "
				    "a box id", name);
	if ((name && ab_owner_find_box(o, name)) ||
	    ab_owner_find_box(o, agentbox_sandbox_get_id(box)))
		return ab_error_set(err, AGENTBOX_EEXIST, "name",
				    "box '%s' is served already",
				    name ? name : agentbox_sandbox_get_id(box));
	ab_served *s = ab_new(ab_served);
	if (!s)
		return ab_error_nomem(err);
	s->box = box;
	if (name)
		memcpy(s->name, name, strlen(name));
	s->next = o->boxes;
	o->boxes = s;
	return 0;
}

int32_t agentbox_owner_remove(agentbox_owner *o, agentbox_sandbox *box,
			      agentbox_error **err)
{
	int32_t rc = ab_owner_usable(o, err);
	if (rc < 0)
		return rc;
	if (!box)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "box is NULL");
	ab_served **at = &o->boxes;
	while (*at && (*at)->box != box)
		at = &(*at)->next;
	if (!*at)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "",
				    "the box is not served here");
	ab_served *s = *at;
	*at = s->next;
	free(s);
	ab_owner_end_works(o, box);
	for (ab_job *j = o->jobs; j; j = j->next)
		if (j->box == box)
			ab_job_end(j);
	sweep(o);
	return 0;
}

int32_t agentbox_owner_get_fd(const agentbox_owner *o)
{
	return o && o->pid == getpid() ? o->epoll_fd : -1;
}

int32_t agentbox_owner_get_timeout_ms(const agentbox_owner *o)
{
	if (!o || o->pid != getpid())
		return -1;
	for (const agentbox_request *q = o->requests; q; q = q->next)
		if (!q->handed_out)
			return 0;
	for (const ab_job *j = o->jobs; j; j = j->next)
		if (j->is_settling)
			return SETTLE_POLL_MS;
	int64_t ms = ab_owner_work_timeout_ms(o);
	if (o->listen_again_ns) {
		int64_t left = ab_clock_left_ms(o->listen_again_ns);

		ms = ms < 0 || left < ms ? left : ms;
	}
	return ms > INT32_MAX ? INT32_MAX : (int32_t)ms;
}

int32_t agentbox_owner_dispatch(agentbox_owner *o, agentbox_error **err)
{
	struct epoll_event events[EVENTS_PER_DISPATCH];

	int32_t rc = ab_owner_usable(o, err);
	if (rc < 0)
		return rc;
	resume_listening(o);
	int n = epoll_wait(o->epoll_fd, events, EVENTS_PER_DISPATCH, 0);
	if (n < 0 && errno != EINTR)
		return ab_error_sys(err, errno, "", "epoll");
	for (int i = 0; i < n; i++) {
		ab_source *s = events[i].data.ptr;
		ab_job *j;
		switch (s->kind) {
		case SOURCE_LISTEN:
			accept_client(o);
			break;
		case SOURCE_CLIENT:
			ab_client_ready((ab_client *)s);
			break;
		case SOURCE_JOB:
			j = (ab_job *)s;
			if (!j->gone)
				ab_job_ready(j);
			break;
		case SOURCE_REMOTE:
			j = (ab_job *)((char *)s -
				       offsetof(ab_job, remote_source));
			if (!j->gone)
				ab_job_told(j);
			break;
		case SOURCE_WORK:
			break; /* each has its turn below */
		}
	}
	for (ab_job *j = o->jobs; j; j = j->next)
		if (j->is_settling && !j->gone)
			ab_job_ready(j);
	ab_owner_work_all(o);
	sweep(o);
	return 0;
}

void agentbox_owner_free(agentbox_owner *o)
{
	if (!o)
		return;
	int saved = errno;
	bool mine = o->pid == getpid();
	if (mine && o->socket_name[0])
		unlinkat(o->dirfd, o->socket_name, 0);
	/* a forked child's copy is left alone: nothing of it is the child's */
	if (mine)
		ab_owner_end_works(o, NULL);
	for (ab_job *j = o->jobs; j; j = j->next)
		ab_job_end(j);
	for (ab_client *c = o->clients; c; c = c->next)
		ab_client_drop(c);
	sweep(o);
	while (o->boxes) {
		ab_served *s = o->boxes;
		o->boxes = s->next;
		free(s);
	}
	/* A request the host still holds is freed by the host. */
	for (agentbox_request *q = o->requests, *next; q; q = next) {
		next = q->next;
		q->owner = NULL;
		q->next = NULL;
		if (!q->handed_out)
			ab_request_end(q);
	}
	/* a child that was forked meanwhile has it open, too: flock(2) */
	if (mine && o->name_lock_fd >= 0)
		(void)flock(o->name_lock_fd, LOCK_UN);
	int fds[] = { o->listen_fd, o->epoll_fd, o->name_lock_fd, o->dirfd };
	for (size_t i = 0; i < AB_ARRAY_LEN(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	agentbox_context_unref(o->context);
	free(o);
	errno = saved;
}
