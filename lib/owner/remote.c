/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client of an owner: find it, ask it, run commands in its boxes. Trusts
 * the peer's user id, not its bytes. Protocol: owner/protocol.h.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "owner/protocol.h"
#include "sandbox/sandbox.h"
#include "wire/message.h"

#define MAX_OWNERS 4096

struct agentbox_remote {
	pid_t user; /* getpid() of the process that opened it */
	int fd;
	uint32_t serial;
	char box[AB_OWNER_MAX_NAME + 1]; /* "": opened for the owner itself */
};

AB_DEFINE_AUTO(agentbox_remote, agentbox_remote_free)

void agentbox_remote_free(agentbox_remote *remote)
{
	if (!remote)
		return;
	int saved = errno;
	/* The owner sees the end though a forked child holds a copy. */
	if (remote->user == getpid())
		shutdown(remote->fd, SHUT_RDWR);
	close(remote->fd);
	free(remote);
	errno = saved;
}

static int32_t usable(const agentbox_remote *remote, agentbox_error **err)
{
	if (!remote)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "remote is NULL");
	if (remote->user != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "",
				    "the connection belongs to process %d",
				    (int)remote->user);
	return 0;
}

static int32_t timed_out(int64_t ms, agentbox_error **err)
{
	return ab_error_set(err, AGENTBOX_ETIMEOUT, "",
			    "no answer of the owner within %lld ms",
			    (long long)ms);
}

static int32_t lost(int rc, agentbox_error **err)
{
	if (rc == -EAGAIN) /* ab_owner_connect() bounds every send */
		return timed_out(AB_OWNER_CONNECT_MS, err);
	return ab_error_sys_code(err, AGENTBOX_ECLOSED, rc ? -rc : ECONNRESET,
				 "", "the owner of the box no longer answers");
}

typedef struct answered {
	uint32_t serial;
	int32_t code;
	const char *text; /* borrowed from the datagram */
	size_t size;
	int memfd; /* owned; the text, or -1 */
} answered;

static int32_t read_answer(int fd, uint8_t *buf, size_t size, answered *a,
			   agentbox_error **err)
{
	size_t fds = 0;
	ab_reader r;

	a->memfd = -1;
	ssize_t got = ab_message_recv(fd, buf, size, &a->memfd, 1, &fds, 0);
	if (got <= 0)
		return lost((int)got, err);
	ab_reader_init(&r, buf, (size_t)got);
	uint32_t kind = ab_get_u32(&r), announced = ab_get_u32(&r);
	a->serial = ab_get_u32(&r);
	a->code = ab_get_i32(&r);
	a->text = ab_get_bytes(&r, &a->size);
	if (kind == AB_OWNER_ANSWER && announced == fds && a->code <= 0 &&
	    ab_reader_done(&r))
		return 0;
	if (a->memfd >= 0)
		close(a->memfd);
	a->memfd = -1;
	return ab_error_set(err, AGENTBOX_EPROTO, "",
			    "malformed answer of the owner");
}

/*
 * The answer to `serial`. What answers an older request, one that was not
 * waited for to the end, is dropped.
 */
static int32_t await_serial(int fd, uint32_t serial, int64_t timeout_ms,
			    uint8_t *buf, size_t size, answered *a,
			    agentbox_error **err)
{
	uint64_t deadline = ab_clock_deadline(timeout_ms);

	for (;;) {
		int64_t left = ab_clock_left_ms(deadline);
		int ready = ab_fd_poll(fd, POLLIN, left);
		if (ready < 0)
			return lost(ready, err);
		if (ready == 0)
			return timed_out(timeout_ms, err);
		int32_t rc = read_answer(fd, buf, size, a, err);
		if (rc < 0 || a->serial == serial)
			return rc;
		if (a->memfd >= 0)
			close(a->memfd);
		if ((int32_t)(a->serial - serial) > 0)
			return ab_error_set(err, AGENTBOX_EPROTO, "",
					    "an answer to no request");
		if (left == 0)
			return timed_out(timeout_ms, err);
	}
}

/* The answer to `serial`; its text owned in *text when its code is 0. */
static int32_t await_answer(int fd, uint32_t serial, int64_t timeout_ms,
			    agentbox_bytes **text, agentbox_error **err)
{
	ab_autofree uint8_t *buf = ab_calloc(1, AB_MAX_MESSAGE);
	ab_autofree char *content = NULL;
	answered a;

	if (!buf)
		return ab_error_nomem(err);
	int32_t code = await_serial(fd, serial, timeout_ms, buf,
				    AB_MAX_MESSAGE, &a, err);
	if (code < 0)
		return code;
	ab_autofd int memfd = a.memfd;
	if (a.code < 0)
		return ab_error_set(err, a.code, "", "%.*s",
				    a.size > 900 ? 900 : (int)a.size, a.text);
	if (memfd >= 0) {
		int rc = ab_fd_check_sealed(memfd, AB_OWNER_MAX_TEXT, &a.size);
		if (rc == 0)
			rc = ab_fd_slurp(memfd, AB_OWNER_MAX_TEXT, &content,
					 &a.size);
		if (rc < 0)
			return lost(rc, err);
		a.text = content;
	}
	*text = ab_bytes_from(a.text, a.size);
	return *text ? 0 : ab_error_nomem(err);
}

static void start_request(ab_writer *w, void *memory, size_t size,
			  uint32_t kind, uint32_t fds, uint32_t serial)
{
	ab_writer_init_fixed(w, memory, size);
	ab_put_u32(w, kind);
	ab_put_u32(w, fds);
	ab_put_u32(w, serial);
}

/* What an owner says of itself: {"owner_pid", "owner_name", "boxes": [..]}. */
static int32_t list_of(int fd, json_t **out, agentbox_error **err)
{
	uint8_t memory[32];
	ab_auto(agentbox_bytes) *text = NULL;
	ab_auto(json_t) *list = NULL;
	ab_writer w;

	start_request(&w, memory, sizeof(memory), AB_OWNER_LIST, 0, 1);
	int rc = ab_message_send(fd, w.data, w.len, NULL, 0, 0);
	if (rc < 0)
		return lost(rc, err);
	int32_t code = await_answer(fd, 1, AB_OWNER_CONNECT_MS, &text, err);
	if (code == 0)
		code = ab_json_parse(agentbox_bytes_get_data(text),
				     agentbox_bytes_get_size(text),
				     AB_OWNER_MAX_TEXT, &list, NULL, err);
	if (code < 0)
		return code;
	if (!json_is_array(json_object_get(list, "boxes")))
		return ab_error_set(err, AGENTBOX_EPROTO, "",
				    "malformed list of an owner");
	*out = ab_steal(&list);
	return 0;
}

/*
 * Called with a connection to every live owner until it returns non-zero;
 * but after AGENTBOX_ETIMEOUT, and AGENTBOX_ECLOSED, the others are still
 * asked.
 */
typedef int32_t (*each_owner)(void *data, int fd, agentbox_error **err);

typedef struct walk {
	int dirfd;
	each_owner each;
	void *data;
	bool is_silent; /* out: an owner did not answer in time */
} walk;

/* The socket of an owner that died before it was renamed to its name. */
static bool is_stillborn(const char *name)
{
	return name[0] == '.' && ab_owner_process_is_gone(name + 1);
}

/* One that closed the connection may have ended, or have no room. */
static bool is_alive(int dirfd, const char *name)
{
	ab_autofd int fd = ab_owner_connect(dirfd, name);

	return fd != -ECONNREFUSED && fd != -ENOENT;
}

/* 1: the entry was removed. */
static int32_t visit(walk *w, const char *name, int32_t *result,
		     agentbox_error **err)
{
	bool is_owner = ab_owner_name_ok(name);
	struct stat st;

	*result = 0;
	if (!is_owner && !is_stillborn(name))
		return 0;
	/* What was put here by others refuses connections too. */
	if (fstatat(w->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISSOCK(st.st_mode))
		return 0;
	ab_autofd int fd = ab_owner_connect(w->dirfd, name);
	/* Nobody listens: the owner died without tidying up. A name is never
	   used twice, so nothing live is removed. One that is alive in
	   another pid namespace and between bind() and rename makes a new
	   socket when its first one is gone. */
	if (fd == -ECONNREFUSED)
		return unlinkat(w->dirfd, name, 0) == 0;
	if (fd >= 0 && is_owner)
		*result = w->each(w->data, fd, err);
	if (fd == -EAGAIN || *result == AGENTBOX_ETIMEOUT ||
	    (*result == AGENTBOX_ECLOSED && is_alive(w->dirfd, name)))
		w->is_silent = true;
	if (*result == AGENTBOX_ETIMEOUT || *result == AGENTBOX_ECLOSED)
		*result = 0;
	return 0;
}

static int32_t for_each_owner(agentbox_context *context, walk *w,
			      agentbox_error **err)
{
	ab_autofd int dirfd = -1;
	int32_t rc = ab_owner_open_dir(context, &dirfd, err);
	if (rc < 0)
		return rc;
	DIR *dir = ab_fd_open_list(dirfd, ".");
	int error = dir ? 0 : errno;
	struct dirent *e;
	w->dirfd = dirfd;
	size_t kept = 0;
	while (dir && rc == 0 && (e = ab_fd_next(dir, &error))) {
		if (visit(w, e->d_name, &rc, err) == 0 &&
		    ++kept > MAX_OWNERS && rc == 0)
			rc = ab_error_set(err, AGENTBOX_ELIMIT, AB_OWNER_DIR,
					  "more than %d entries in '%s' of the "
					  "state directory", MAX_OWNERS,
					  AB_OWNER_DIR);
	}
	if (rc == 0 && error)
		rc = ab_error_sys(err, error, AB_OWNER_DIR, "cannot read '%s'",
				  AB_OWNER_DIR);
	if (dir)
		closedir(dir);
	return rc;
}

/*
 * An owner that ends or lies while asked hides only its own boxes: 1 with
 * the list, 0 without, or an error of ours.
 */
static int32_t ask_list(int fd, json_t **list, agentbox_error **err)
{
	int32_t rc = list_of(fd, list, NULL);

	if (rc == AGENTBOX_ENOMEM)
		return ab_error_nomem(err);
	return rc == AGENTBOX_ETIMEOUT ? rc : rc == 0;
}

static int32_t add_list(void *data, int fd, agentbox_error **err)
{
	ab_auto(json_t) *list = NULL;

	int32_t rc = ask_list(fd, &list, err);
	if (rc <= 0)
		return rc;
	return json_array_extend(data, json_object_get(list, "boxes")) < 0
	       ? ab_error_nomem(err) : 0;
}

int32_t agentbox_remote_list(agentbox_context *context, agentbox_bytes **json,
			     agentbox_error **err)
{
	if (!context || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "context or json is NULL");
	ab_auto(json_t) *all = json_array();
	if (!all)
		return ab_error_nomem(err);
	walk w = { .each = add_list, .data = all };
	int32_t rc = for_each_owner(context, &w, err);
	if (rc < 0)
		return rc;
	return ab_json_canonical(all, json, err);
}

/* What every owner is told, and which boxes it says it was about. */
typedef struct taking {
	uint32_t kind;
	const char *name;
	json_t *all;
	int32_t failed; /* of the first that could not do it */
	agentbox_error *error;
} taking;

static int32_t ask_taking(int fd, const taking *t, json_t **list,
			  agentbox_error **err)
{
	uint8_t memory[512];
	ab_auto(agentbox_bytes) *text = NULL;
	ab_writer w;
	int rc;

	start_request(&w, memory, sizeof(memory), t->kind, 0, 1);
	ab_put_str(&w, t->name);
	rc = w.bad ? -EMSGSIZE
		   : ab_message_send(fd, w.data, w.len, NULL, 0, 0);
	if (rc < 0)
		return lost(rc, err);
	int32_t code = await_answer(fd, 1, AB_OWNER_CONNECT_MS, &text, err);
	if (code < 0)
		return code;
	return ab_json_parse(agentbox_bytes_get_data(text),
			     agentbox_bytes_get_size(text), AB_OWNER_MAX_TEXT,
			     list, NULL, err);
}

/* The next owner is asked in any case. */
static int32_t take(void *data, int fd, agentbox_error **err)
{
	ab_auto(json_t) *list = NULL;
	taking *t = data;
	int32_t rc = ask_taking(fd, t, &list, t->failed ? NULL : &t->error);

	/* if it ended, then its boxes with it */
	if (rc == AGENTBOX_ECLOSED) {
		agentbox_error_free(t->failed ? NULL : t->error);
		t->error = t->failed ? t->error : NULL;
		return rc;
	}
	if (rc < 0) {
		t->failed = t->failed ? t->failed : rc;
		return 0;
	}
	return json_array_extend(t->all, list) < 0 ? ab_error_nomem(err) : 0;
}

static int32_t take_from_all(agentbox_context *context, uint32_t kind,
			     const char *name, agentbox_bytes **json,
			     agentbox_error **err)
{
	ab_auto(json_t) *all = json_array();
	taking t = { .kind = kind, .name = name, .all = all };
	walk w = { .each = take, .data = &t };
	int32_t rc;

	if (!context || !name || !*name || strlen(name) > 255 || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "context, name or json is NULL, or no "
				    "name");
	if (!all)
		return ab_error_nomem(err);
	rc = for_each_owner(context, &w, err);
	if (rc == 0 && t.failed)
		return ab_error_move(err, &t.error);
	agentbox_error_free(t.error);
	if (rc < 0)
		return rc;
	if (w.is_silent)
		return ab_error_set(err, AGENTBOX_ETIMEOUT, "",
				    "an owner does not answer; what its boxes "
				    "have is not known");
	return ab_json_canonical(all, json, err);
}

int32_t agentbox_remote_revoke_identity(agentbox_context *context,
					const char *identity,
					agentbox_bytes **json,
					agentbox_error **err)
{
	return take_from_all(context, AB_OWNER_REVOKE, identity, json, err);
}

int32_t agentbox_remote_forget_secret(agentbox_context *context,
				      const char *name, agentbox_bytes **json,
				      agentbox_error **err)
{
	return take_from_all(context, AB_OWNER_FORGET, name, json, err);
}

typedef struct search {
	const char *what; /* "box" or "owner" */
	const char *key; /* "owner_name", "id", or "name": may be of two */
	const char *value;
	int fd; /* owned, the connection that was found */
} search;

static bool names(const json_t *box, const char *key, const char *value)
{
	const char *s = json_string_value(json_object_get(box, key));

	return s && strcmp(s, value) == 0;
}

static int32_t look(void *data, int fd, agentbox_error **err)
{
	search *s = data;
	ab_auto(json_t) *list = NULL;
	size_t i;
	json_t *box;

	int32_t rc = ask_list(fd, &list, err);
	if (rc <= 0)
		return rc;
	bool hit = names(list, s->key, s->value);
	json_array_foreach(json_object_get(list, "boxes"), i, box)
		hit |= names(box, s->key, s->value);
	if (!hit)
		return 0;
	if (s->fd >= 0)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "two live boxes have the name '%s': give "
				    "an id", s->value);
	s->fd = ab_fd_dup(fd);
	if (s->fd < 0)
		return ab_error_sys(err, -s->fd, "",
				    "cannot keep the connection");
	return strcmp(s->key, "name") != 0;
}

static int32_t open_found(agentbox_context *context, search *s,
			  const char *box, agentbox_remote **remote,
			  agentbox_error **err)
{
	walk w = { .each = look, .data = s };
	int32_t rc = for_each_owner(context, &w, err);
	ab_autofd int fd = s->fd;
	if (rc < 0)
		return rc;
	if (fd < 0 && w.is_silent)
		return ab_error_set(err, AGENTBOX_ETIMEOUT, "",
				    "an owner does not answer; whether %s "
				    "'%s' is there is not known",
				    s->what, s->value);
	if (fd < 0)
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "",
				    "no live %s '%s' in this state directory",
				    s->what, s->value);
	agentbox_remote *r = ab_new(agentbox_remote);
	if (!r)
		return ab_error_nomem(err);
	r->user = getpid();
	r->fd = ab_steal_fd(&fd);
	r->serial = 1; /* the list that found it */
	memcpy(r->box, box, strlen(box));
	*remote = r;
	return 0;
}

int32_t agentbox_remote_open(agentbox_context *context, const char *box,
			     agentbox_remote **remote, agentbox_error **err)
{
	search s = { .what = "box", .value = box, .fd = -1 };

	if (!context || !box || !remote)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "context, box or remote is NULL");
	if (!ab_owner_name_ok(box))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "'%s' is no box id or name", box);
	s.key = ab_is_id(box) ? "id" : "name";
	return open_found(context, &s, box, remote, err);
}

int32_t agentbox_remote_open_owner(agentbox_context *context, const char *name,
				   agentbox_remote **remote,
				   agentbox_error **err)
{
	search s = { .what = "owner", .key = "owner_name", .value = name,
		     .fd = -1 };

	if (!context || !name || !remote)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "context, name or remote is NULL");
	if (!ab_owner_name_ok(name))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "'%s' is no owner name", name);
	return open_found(context, &s, "", remote, err);
}

int32_t agentbox_remote_call(agentbox_remote *remote, const char *json,
			     int64_t timeout_ms, agentbox_bytes **reply,
			     agentbox_error **err)
{
	uint8_t memory[32];
	ab_writer w;

	int32_t rc = usable(remote, err);
	if (rc < 0)
		return rc;
	if (!json || !reply)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "json or reply is NULL");
	if (strlen(json) > AB_OWNER_MAX_TEXT)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "a text has at most %u bytes",
				    AB_OWNER_MAX_TEXT);
	ab_autofd int memfd = ab_fd_memfd_sealed("agentbox-call", json,
						 strlen(json));
	if (memfd < 0)
		return ab_error_sys(err, -memfd, "", "cannot make a memfd");
	start_request(&w, memory, sizeof(memory), AB_OWNER_CALL, 1,
		      ++remote->serial);
	int sent = ab_message_send(remote->fd, w.data, w.len, &memfd, 1, 0);
	if (sent < 0)
		return lost(sent, err);
	return await_answer(remote->fd, remote->serial, timeout_ms, reply, err);
}

/* The memfd with the command's bytes. */
static int32_t pack_command(const agentbox_command *c, int *memfd,
			    agentbox_error **err)
{
	ab_writer w;

	ab_writer_init(&w, AB_OWNER_MAX_COMMAND);
	ab_command_put(&w, c);
	int fd = w.bad ? -E2BIG : ab_fd_memfd_sealed("agentbox-command",
						     w.data, w.len);
	ab_writer_end(&w);
	if (fd < 0)
		return ab_error_sys(err, -fd, "argv",
				    "cannot pack the command");
	*memfd = fd;
	return 0;
}

int32_t agentbox_remote_spawn(agentbox_remote *remote,
			      const agentbox_command *c,
			      agentbox_process **process, agentbox_error **err)
{
	uint8_t memory[256];
	int fds[2 + AB_MAX_EXTRA_FDS], pair[2];
	agentbox_process *p = NULL;
	ab_autofd int memfd = -1;
	ab_writer w;

	int32_t rc = usable(remote, err);
	if (rc == 0 && (!c || !process || !remote->box[0]))
		rc = ab_error_set(err, AGENTBOX_EINVAL, "",
				  "no command, or the remote has no box");
	if (rc == 0)
		rc = pack_command(c, &memfd, err);
	if (rc < 0)
		return rc;
	int made = ab_fd_seqpacket_pair(pair);
	if (made < 0)
		return ab_error_sys(err, -made, "", "cannot make a channel");
	ab_autofd int theirs = pair[1];
	rc = ab_process_new(NULL, remote->box, pair[0], &p, err);
	if (rc < 0)
		return rc;

	size_t n = 0;
	fds[n++] = theirs;
	fds[n++] = memfd;
	n += ab_command_fds(c, fds + n);
	start_request(&w, memory, sizeof(memory), AB_OWNER_SPAWN, (uint32_t)n,
		      ++remote->serial);
	ab_put_str(&w, remote->box);
	int sent = w.bad ? -EMSGSIZE
		   : ab_message_send(remote->fd, w.data, w.len, fds, n, 0);
	ab_auto(agentbox_bytes) *answer = NULL;
	rc = sent < 0 ? lost(sent, err)
	     : await_answer(remote->fd, remote->serial,
			    3 * AB_SPAWN_DEADLINE_MS, &answer, err);
	if (rc == 0)
		rc = ab_process_await_started(p, ab_command_name(c),
					      AB_SPAWN_DEADLINE_MS, err);
	if (rc == AGENTBOX_EAGAIN)
		rc = ab_error_set(err, AGENTBOX_ETIMEOUT, "",
				  "the owner did not start '%s'",
				  ab_command_name(c));
	if (rc < 0) {
		agentbox_process_free(p);
		return rc;
	}
	*process = p;
	return 0;
}

int32_t agentbox_remote_kill_all(agentbox_remote *remote, agentbox_error **err)
{
	uint8_t memory[256];
	ab_auto(agentbox_bytes) *answer = NULL;
	ab_writer w;

	int32_t rc = usable(remote, err);
	if (rc < 0)
		return rc;
	if (!remote->box[0])
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "the remote was opened for an owner, not "
				    "for a box");
	start_request(&w, memory, sizeof(memory), AB_OWNER_KILL, 0,
		      ++remote->serial);
	ab_put_str(&w, remote->box);
	int sent = ab_message_send(remote->fd, w.data, w.len, NULL, 0, 0);
	if (sent < 0)
		return lost(sent, err);
	return await_answer(remote->fd, remote->serial, AB_REQUEST_TIMEOUT_MS,
			    &answer, err);
}
