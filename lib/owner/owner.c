/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The serving side: boxes under their names, clients of the same user, and
 * the commands those run. One epoll descriptor holds all of it; nothing
 * waits. Protocol: owner/protocol.h. A process that a client runs is ended
 * when the client closes its channel, as for a host of its own.
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
#include "base/bytes.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "owner/protocol.h"
#include "sandbox/sandbox.h"
#include "wire/message.h"

#define EVENTS_PER_DISPATCH 64
/* How long no client is accepted after there was no descriptor for one. */
#define ACCEPT_PAUSE_MS 200
/* How often a box is looked at that settles after a command. */
#define SETTLE_POLL_MS 1

/* First member of everything an epoll event can point at. */
enum source_kind { SOURCE_LISTEN, SOURCE_CLIENT, SOURCE_JOB, SOURCE_REMOTE };

typedef struct source {
	enum source_kind kind;
} source;

typedef struct served {
	agentbox_sandbox *box; /* borrowed */
	char name[AB_OWNER_MAX_NAME + 1];
	struct served *next;
} served;

typedef struct client {
	source source;
	int fd;
	bool gone; /* closed; freed at the end of the dispatch */
	agentbox_owner *owner;
	struct client *next;
} client;

/* A command of a client: our process, and the channel towards the client. */
typedef struct job {
	source source; /* the process's channel */
	source remote_source;
	int remote_fd;
	bool gone;
	bool is_settling; /* it has ended; the box was asked to settle */
	agentbox_owner *owner;
	agentbox_sandbox *box;
	agentbox_process *process;
	struct job *next;
} job;

struct agentbox_request {
	agentbox_owner *owner; /* NULL once the owner was freed */
	client *client;	       /* NULL once it went away */
	uint32_t serial;
	char *json;
	agentbox_request *next; /* in the owner's list of open requests */
	bool handed_out;
};

struct agentbox_owner {
	pid_t pid;
	char name[AB_OWNER_MAX_NAME + 1];
	char socket_name[AB_OWNER_MAX_NAME + 1];
	agentbox_context *context;
	int dirfd, listen_fd, epoll_fd;
	int name_lock_fd;
	source listen_source;
	uint64_t listen_again_ns; /* not listening until then; 0: listening */
	served *boxes;
	client *clients;
	size_t client_count;
	job *jobs;
	agentbox_request *requests;
	size_t request_count;
};

AB_DEFINE_AUTO(agentbox_command, agentbox_command_free)
AB_DEFINE_AUTO(agentbox_owner, agentbox_owner_free)

static int32_t usable(const agentbox_owner *o, agentbox_error **err)
{
	if (!o)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "owner is NULL");
	if (o->pid != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "",
				    "the owner belongs to process %d",
				    (int)o->pid);
	return 0;
}

static int watch(agentbox_owner *o, int fd, source *s)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = s };

	return epoll_ctl(o->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

/*
 * Before a watched descriptor is closed: close(2) takes it out of the epoll
 * set only when no copy is left, and the client, or a child forked by the
 * host, may have one; the event would then point at freed memory. Only in
 * the owner's own process: a forked child shares the set.
 */
static void unwatch(agentbox_owner *o, int fd)
{
	if (o->pid == getpid())
		epoll_ctl(o->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* The same for a socket of ours, which ends even if copies of it live. */
static void end_socket(agentbox_owner *o, int *fd)
{
	if (*fd < 0)
		return;
	unwatch(o, *fd);
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
	if (watch(o, o->listen_fd, &o->listen_source) < 0)
		return ab_error_sys(err, errno, "", "epoll");
	return 0;
}

int32_t agentbox_owner_new(agentbox_context *context, const char *name,
			   agentbox_owner **owner, agentbox_error **err)
{
	if (!context || !owner || (name && !ab_owner_name_ok(name)))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "no context, or '%s' is no owner name",
				    name ? name : "");
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
	o->epoll_fd = ab_fd_lift(epoll_create1(EPOLL_CLOEXEC));
	if (o->epoll_fd < 0)
		return ab_error_sys(err, errno, "", "epoll");
	rc = listen_here(o, err);
	if (rc < 0)
		return rc;
	*owner = ab_steal(&o);
	return 0;
}

/* Jobs: commands that clients run. */

static void end_job(job *j)
{
	if (j->gone)
		return;
	j->gone = true;
	end_socket(j->owner, &j->remote_fd);
	unwatch(j->owner, agentbox_process_get_fd(j->process));
	agentbox_process_free(j->process); /* ends what still runs */
	j->process = NULL;
}

static void sweep(agentbox_owner *o)
{
	for (client **at = &o->clients; *at;) {
		client *c = *at;
		if (!c->gone) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		o->client_count--;
		free(c);
	}
	for (job **at = &o->jobs; *at;) {
		job *j = *at;
		if (!j->gone) {
			at = &j->next;
			continue;
		}
		*at = j->next;
		free(j);
	}
}

/*
 * The process's channel is readable: it has ended. Its status is told even
 * when settling after it failed, but behind that failure: a client that does
 * not know the failure does not take the status for a good one.
 */
static void job_ended(job *j)
{
	ab_auto(agentbox_error) *error = NULL;
	uint8_t memory[2048];
	ab_writer w;
	int sent = 0;

	int32_t rc = agentbox_process_wait(j->process, 0, &error);
	if (rc == AGENTBOX_ETIMEOUT) {
		/* not yet; its channel stays readable once it has ended */
		if (ab_process_has_ended(j->process) && !j->is_settling) {
			unwatch(j->owner, agentbox_process_get_fd(j->process));
			j->is_settling = true;
		}
		return;
	}
	const ab_msg_exited *exited = ab_process_exited(j->process);
	if (rc < 0 && exited) {
		char text[1024];
		snprintf(text, sizeof(text), "%s",
			 agentbox_error_get_message(error));
		ab_msg_failed m = { .stage = "protect", .message = text };
		ab_writer_init_fixed(&w, memory, sizeof(memory));
		ab_msg_put_failed(&w, AB_MSG_FAILED, &m);
		sent = ab_message_send(j->remote_fd, w.data, w.len, NULL, 0,
				       MSG_DONTWAIT);
	}
	if (sent == 0 && exited) {
		ab_writer_init_fixed(&w, memory, sizeof(memory));
		ab_msg_put_exited(&w, exited);
		ab_message_send(j->remote_fd, w.data, w.len, NULL, 0,
				MSG_DONTWAIT);
	}
	end_job(j);
}

/* The client's end: a signal, or its end. */
static void job_told(job *j)
{
	uint8_t buf[64];
	size_t fds = 0;
	ab_msg_signal m;
	ab_reader r;

	ssize_t n = ab_message_recv(j->remote_fd, buf, sizeof(buf), NULL, 0,
				    &fds, MSG_DONTWAIT);
	if (n == -EAGAIN)
		return;
	ab_reader_init(&r, buf, n > 0 ? (size_t)n : 0);
	if (n > 0 && ab_get_u32(&r) == AB_MSG_SIGNAL && ab_get_u32(&r) == 0 &&
	    ab_msg_get_signal(&r, &m) == 0)
		agentbox_process_kill(j->process, m.signum, NULL);
	else
		end_job(j);
}

static int32_t start_job(agentbox_owner *o, agentbox_sandbox *box, int *channel,
			 const agentbox_command *c, agentbox_error **err)
{
	uint8_t memory[32];
	ab_writer w;
	job *j = ab_new(job);

	if (!j)
		return ab_error_nomem(err);
	j->source.kind = SOURCE_JOB;
	j->remote_source.kind = SOURCE_REMOTE;
	j->owner = o;
	j->box = box;
	int32_t rc = agentbox_sandbox_spawn(box, c, &j->process, err);
	if (rc < 0) {
		free(j);
		return rc;
	}
	j->remote_fd = ab_steal_fd(channel);
	j->next = o->jobs;
	o->jobs = j;

	int pty_fd = ab_process_pty_fd(j->process);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_STARTED);
	ab_put_u32(&w, pty_fd >= 0);
	ab_put_u32(&w, (uint32_t)agentbox_process_get_pid(j->process));
	int sent = ab_message_send(j->remote_fd, w.data, w.len, &pty_fd,
				   pty_fd >= 0, MSG_DONTWAIT);
	if (sent < 0 ||
	    watch(o, agentbox_process_get_fd(j->process), &j->source) < 0 ||
	    watch(o, j->remote_fd, &j->remote_source) < 0) {
		end_job(j);
		return ab_error_set(err, AGENTBOX_ESYS, "",
				    "cannot serve the command");
	}
	return 0;
}

/* Requests: what clients ask. */

static void drop_client(client *c)
{
	if (c->gone)
		return;
	c->gone = true;
	end_socket(c->owner, &c->fd);
	for (agentbox_request *q = c->owner->requests; q; q = q->next)
		if (q->client == c)
			q->client = NULL;
}

static void answer(client *c, uint32_t serial, int32_t code, const char *text,
		   size_t n)
{
	uint8_t memory[4096];
	ab_autofd int memfd = -1;
	ab_writer w;

	/* Long texts travel as a memfd; an error message is cut to fit. */
	if (n > 2048 && code == 0) {
		memfd = ab_fd_memfd_sealed("agentbox-answer", text, n);
		if (memfd < 0) {
			code = AGENTBOX_ENOMEM;
			text = "out of memory";
		}
		n = memfd < 0 ? strlen(text) : 0;
	}
	if (n > 2048)
		n = 2048;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_OWNER_ANSWER);
	ab_put_u32(&w, memfd >= 0);
	ab_put_u32(&w, serial);
	ab_put_i32(&w, code);
	ab_put_bytes(&w, text, n);
	/* A client that does not read its answers is not waited for. */
	if (w.bad || ab_message_send(c->fd, w.data, w.len, &memfd, memfd >= 0,
				     MSG_DONTWAIT) < 0)
		drop_client(c);
}

static void answer_error(client *c, uint32_t serial, int32_t code,
			 const agentbox_error *error)
{
	const char *text = agentbox_error_get_message(error);

	answer(c, serial, code, text, strlen(text));
}

static json_t *describe(const agentbox_owner *o, const served *s)
{
	agentbox_policy *policy = ab_box_policy(s->box);

	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:s}",
			 "id", agentbox_sandbox_get_id(s->box),
			 "name", s->name,
			 "tier", agentbox_sandbox_get_tier(s->box),
			 "owner_pid", (int)o->pid, "owner_name", o->name,
			 "policy", agentbox_policy_get_name(policy),
			 "config_hash", agentbox_policy_get_digest(policy));
}

static void serve_list(agentbox_owner *o, client *c, uint32_t serial)
{
	ab_auto(agentbox_bytes) *text = NULL;
	ab_auto(agentbox_error) *error = NULL;
	ab_auto(json_t) *all = json_pack("{s:i, s:s, s:[]}", "owner_pid",
					 (int)o->pid, "owner_name", o->name,
					 "boxes");
	json_t *boxes = json_object_get(all, "boxes");

	for (const served *s = o->boxes; s; s = s->next)
		if (json_array_append_new(boxes, describe(o, s)) < 0) {
			answer(c, serial, AGENTBOX_ENOMEM, "", 0);
			return;
		}
	int32_t rc = all ? ab_json_canonical(all, &text, &error)
			 : AGENTBOX_ENOMEM;
	if (rc < 0)
		answer_error(c, serial, rc, error);
	else
		answer(c, serial, 0, agentbox_bytes_get_data(text),
		       agentbox_bytes_get_size(text));
}

static agentbox_sandbox *find_box(const agentbox_owner *o, const char *name)
{
	for (const served *s = o->boxes; s; s = s->next)
		if (strcmp(agentbox_sandbox_get_id(s->box), name) == 0 ||
		    (s->name[0] && strcmp(s->name, name) == 0))
			return s->box;
	return NULL;
}

static int32_t slurp_memfd(int fd, size_t max, char **text, size_t *n,
			   agentbox_error **err)
{
	int rc = ab_fd_check_sealed(fd, max, n);
	if (rc == 0)
		rc = ab_fd_slurp(fd, max, text, n);
	if (rc < 0)
		return ab_error_sys_code(err, AGENTBOX_EPROTO, -rc, "",
					 "the request's text is no sealed "
					 "memfd within %zu bytes", max);
	return 0;
}

static int32_t queue_call(agentbox_owner *o, client *c, uint32_t serial, int fd,
			  agentbox_error **err)
{
	ab_autofree char *json = NULL;
	size_t n = 0;

	if (o->request_count >= AB_OWNER_MAX_REQUESTS)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "%d requests are waiting",
				    AB_OWNER_MAX_REQUESTS);
	int32_t rc = slurp_memfd(fd, AB_OWNER_MAX_TEXT, &json, &n, err);
	if (rc < 0)
		return rc;
	if (memchr(json, '\0', n))
		return ab_error_set(err, AGENTBOX_EPARSE, "", "NUL in a text");
	agentbox_request *q = ab_new(agentbox_request);
	if (!q)
		return ab_error_nomem(err);
	q->owner = o;
	q->client = c;
	q->serial = serial;
	q->json = ab_steal(&json);
	agentbox_request **end = &o->requests;
	while (*end)
		end = &(*end)->next;
	*end = q;
	o->request_count++;
	return 0;
}

static int32_t serve_spawn(agentbox_owner *o, const char *name, int *fds,
			   size_t fd_count, agentbox_error **err)
{
	ab_auto(agentbox_command) *command = NULL;
	ab_autofree char *bytes = NULL;
	size_t n = 0;
	ab_reader r;

	agentbox_sandbox *box = find_box(o, name);
	if (!box)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "",
				    "no box '%s' here", name);
	if (fd_count < 2)
		return ab_error_set(err, AGENTBOX_EPROTO, "",
				    "a spawn without its descriptors");
	int32_t rc = slurp_memfd(fds[1], AB_OWNER_MAX_COMMAND, &bytes, &n, err);
	if (rc < 0)
		return rc;
	ab_reader_init(&r, bytes, n);
	rc = ab_command_get(&r, fds + 2, fd_count - 2, &command, err);
	if (rc == 0)
		rc = start_job(o, box, &fds[0], command, err);
	return rc;
}

static int32_t serve_kill(agentbox_owner *o, const char *name,
			  agentbox_error **err)
{
	agentbox_sandbox *box = find_box(o, name);

	if (!box)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "",
				    "no box '%s' here", name);
	return agentbox_sandbox_kill_all(box, err);
}

/* One datagram of a client; false: it broke the protocol. */
static bool serve(agentbox_owner *o, client *c, ab_reader *r, int *fds,
		  size_t fd_count)
{
	ab_auto(agentbox_error) *error = NULL;
	uint32_t kind = ab_get_u32(r);
	uint32_t announced = ab_get_u32(r);
	uint32_t serial = ab_get_u32(r);
	bool has_box = kind == AB_OWNER_SPAWN || kind == AB_OWNER_KILL;
	const char *name = has_box ? ab_get_str(r) : "";
	int32_t rc;

	if (announced != fd_count || !ab_reader_done(r))
		return false;
	switch (kind) {
	case AB_OWNER_LIST:
		serve_list(o, c, serial);
		return true;
	case AB_OWNER_CALL:
		if (fd_count != 1)
			return false;
		rc = queue_call(o, c, serial, fds[0], &error);
		if (rc < 0)
			answer_error(c, serial, rc, error);
		return true; /* answered by agentbox_request_reply() */
	case AB_OWNER_SPAWN:
		rc = serve_spawn(o, name, fds, fd_count, &error);
		break;
	case AB_OWNER_KILL:
		rc = serve_kill(o, name, &error);
		break;
	default:
		return false;
	}
	answer_error(c, serial, rc, error);
	return true;
}

static void client_ready(agentbox_owner *o, client *c)
{
	uint8_t buf[4096];
	int fds[2 + AB_MAX_EXTRA_FDS];
	size_t fd_count = 0;
	ab_reader r;

	if (c->gone)
		return;
	ssize_t n = ab_message_recv(c->fd, buf, sizeof(buf), fds,
				    AB_ARRAY_LEN(fds), &fd_count, MSG_DONTWAIT);
	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		drop_client(c);
		return;
	}
	ab_reader_init(&r, buf, (size_t)n);
	if (!serve(o, c, &r, fds, fd_count))
		drop_client(c);
	for (size_t i = 0; i < fd_count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/*
 * A client that cannot be accepted stays in the queue and keeps the listener
 * readable: look away for a while, not at every poll of the host.
 */
static void pause_listening(agentbox_owner *o)
{
	unwatch(o, o->listen_fd);
	o->listen_again_ns = ab_clock_boot_ns() +
			     ACCEPT_PAUSE_MS * UINT64_C(1000000);
}

static void resume_listening(agentbox_owner *o)
{
	if (o->listen_again_ns && ab_clock_boot_ns() >= o->listen_again_ns &&
	    watch(o, o->listen_fd, &o->listen_source) == 0)
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
	client *c = ab_new(client);
	if (!c)
		return;
	c->source.kind = SOURCE_CLIENT;
	c->owner = o;
	c->fd = fd;
	if (watch(o, fd, &c->source) < 0) {
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
	int32_t rc = usable(o, err);
	if (rc < 0)
		return rc;
	if (!box || (name && !ab_owner_name_ok(name)))
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "no box, or '%s' is no box name",
				    name ? name : "");
	if ((name && find_box(o, name)) ||
	    find_box(o, agentbox_sandbox_get_id(box)))
		return ab_error_set(err, AGENTBOX_EEXIST, "name",
				    "box '%s' is served already",
				    name ? name : agentbox_sandbox_get_id(box));
	served *s = ab_new(served);
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
	int32_t rc = usable(o, err);
	if (rc < 0)
		return rc;
	served **at = &o->boxes;
	while (*at && (*at)->box != box)
		at = &(*at)->next;
	if (!*at)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "",
				    "the box is not served here");
	served *s = *at;
	*at = s->next;
	free(s);
	for (job *j = o->jobs; j; j = j->next)
		if (j->box == box)
			end_job(j);
	sweep(o);
	return 0;
}

int32_t agentbox_owner_get_fd(const agentbox_owner *o)
{
	return o ? o->epoll_fd : -1;
}

int32_t agentbox_owner_get_timeout_ms(const agentbox_owner *o)
{
	if (!o)
		return -1;
	for (const agentbox_request *q = o->requests; q; q = q->next)
		if (!q->handed_out)
			return 0;
	for (const job *j = o->jobs; j; j = j->next)
		if (j->is_settling)
			return SETTLE_POLL_MS;
	return o->listen_again_ns
	       ? (int32_t)ab_clock_left_ms(o->listen_again_ns) : -1;
}

int32_t agentbox_owner_dispatch(agentbox_owner *o, agentbox_error **err)
{
	struct epoll_event events[EVENTS_PER_DISPATCH];

	int32_t rc = usable(o, err);
	if (rc < 0)
		return rc;
	resume_listening(o);
	int n = epoll_wait(o->epoll_fd, events, EVENTS_PER_DISPATCH, 0);
	if (n < 0 && errno != EINTR)
		return ab_error_sys(err, errno, "", "epoll");
	for (int i = 0; i < n; i++) {
		source *s = events[i].data.ptr;
		job *j;
		switch (s->kind) {
		case SOURCE_LISTEN:
			accept_client(o);
			break;
		case SOURCE_CLIENT:
			client_ready(o, (client *)s);
			break;
		case SOURCE_JOB:
			j = (job *)s;
			if (!j->gone)
				job_ended(j);
			break;
		case SOURCE_REMOTE:
			j = (job *)((char *)s - offsetof(job, remote_source));
			if (!j->gone)
				job_told(j);
			break;
		}
	}
	for (job *j = o->jobs; j; j = j->next)
		if (j->is_settling && !j->gone)
			job_ended(j);
	sweep(o);
	return 0;
}

int32_t agentbox_owner_next_request(agentbox_owner *o,
				    agentbox_request **request,
				    agentbox_error **err)
{
	int32_t rc = usable(o, err);
	if (rc < 0)
		return rc;
	if (!request)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "request is NULL");
	for (agentbox_request *q = o->requests; q; q = q->next)
		if (!q->handed_out) {
			q->handed_out = true;
			*request = q;
			return 0;
		}
	return AGENTBOX_EAGAIN;
}

const char *agentbox_request_get_json(const agentbox_request *request)
{
	return request ? request->json : "";
}

/* Take it out of its owner's list and free it. */
static void end_request(agentbox_request *q)
{
	agentbox_request **at = q->owner ? &q->owner->requests : NULL;

	while (at && *at && *at != q)
		at = &(*at)->next;
	if (at && *at) {
		*at = q->next;
		q->owner->request_count--;
	}
	free(q->json);
	free(q);
}

int32_t agentbox_request_reply(agentbox_request *q, int32_t code,
			       const char *text, agentbox_error **err)
{
	if (!q || code > 0 || !text) {
		agentbox_request_free(q);
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "request or text is NULL, or %d is no "
				    "result code", code);
	}
	bool there = q->client != NULL;
	if (there && strlen(text) > AB_OWNER_MAX_TEXT)
		answer(q->client, q->serial, AGENTBOX_ELIMIT,
		       "the answer is too long", 22);
	else if (there)
		answer(q->client, q->serial, code, text, strlen(text));
	end_request(q);
	if (!there)
		return ab_error_set(err, AGENTBOX_ECLOSED, "",
				    "the client went away");
	return 0;
}

void agentbox_request_free(agentbox_request *q)
{
	if (!q)
		return;
	if (q->client)
		answer(q->client, q->serial, AGENTBOX_ECANCELED,
		       "the request was not answered", 28);
	end_request(q);
}

void agentbox_owner_free(agentbox_owner *o)
{
	if (!o)
		return;
	int saved = errno;
	bool mine = o->pid == getpid();
	if (mine && o->socket_name[0])
		unlinkat(o->dirfd, o->socket_name, 0);
	for (job *j = o->jobs; j; j = j->next)
		end_job(j);
	for (client *c = o->clients; c; c = c->next)
		drop_client(c);
	sweep(o);
	while (o->boxes) {
		served *s = o->boxes;
		o->boxes = s->next;
		free(s);
	}
	/* A request the host still holds is freed by the host. */
	for (agentbox_request *q = o->requests, *next; q; q = next) {
		next = q->next;
		q->owner = NULL;
		q->next = NULL;
		if (!q->handed_out)
			end_request(q);
	}
	int fds[] = { o->listen_fd, o->epoll_fd, o->name_lock_fd, o->dirfd };
	for (size_t i = 0; i < AB_ARRAY_LEN(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	agentbox_context_unref(o->context);
	free(o);
	errno = saved;
}
