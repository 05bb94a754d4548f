/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What no box may reach, made for the time of a self-test: a file and a
 * socket in the state directory, an abstract socket, a port of the loopback, a
 * System V segment; and the names of what is there anyway: the owner, the
 * holder, the first process, the launcher. A connection that arrives here was
 * let through, whatever the program in the box says of it.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "gateway/gateway.h"
#include "verify/internal.h"

#define FILE_NAME "file"
#define SOCKET_NAME "socket"

static ab_bait_value *slot(ab_bait *bait, const char *name)
{
	for (size_t i = 0; i < bait->count; i++) {
		if (strcmp(bait->values[i].name, name) == 0)
			return &bait->values[i];
	}
	if (bait->count == AB_MAX_BAIT)
		return NULL;
	bait->values[bait->count].name = name;
	return &bait->values[bait->count++];
}

int ab_bait_set(ab_bait *bait, const char *name, char *value)
{
	ab_bait_value *v = slot(bait, name);

	if (!value || !v) {
		free(value);
		return -ENOMEM;
	}
	free(v->value);
	v->value = value;
	return 0;
}

void ab_bait_set_why(ab_bait *bait, const char *name, const char *why)
{
	ab_bait_value *v = slot(bait, name);

	if (v)
		v->why = why;
}

const char *ab_bait_get(const ab_bait *bait, const char *name,
			const char **why)
{
	*why = "it is not known here";
	for (size_t i = 0; i < bait->count; i++) {
		const ab_bait_value *v = &bait->values[i];

		if (strcmp(v->name, name) != 0)
			continue;
		if (v->why)
			*why = v->why;
		return v->value;
	}
	return NULL;
}

/* A file and a socket in a directory of the state directory. */
static int lay_files(ab_bait *bait, const char *state)
{
	char path[sizeof(bait->dir) + sizeof(FILE_NAME) + 1];
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	ab_autofd int fd = -1;
	int n;

	if (mkdirat(bait->state_fd, bait->dir, 0755))
		return -errno;
	bait->dir_fd = ab_leftover_hold(bait->state_fd, bait->dir);
	snprintf(path, sizeof(path), "%s/" FILE_NAME, bait->dir);
	fd = openat(bait->state_fd, path,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0)
		return -errno;
	if (ab_bait_set(bait, "dir", ab_asprintf("%s/%s", state, bait->dir)) ||
	    ab_bait_set(bait, "file", ab_asprintf("%s/%s", state, path)))
		return -ENOMEM;
	/* sun_path is short: by the descriptor of the directory */
	n = snprintf(a.sun_path, sizeof(a.sun_path),
		     "/proc/self/fd/%d/%s/" SOCKET_NAME, bait->state_fd,
		     bait->dir);
	if (n < 0 || (size_t)n >= sizeof(a.sun_path))
		return 0;
	bait->unix_fd = ab_fd_lift(
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (bait->unix_fd < 0 ||
	    bind(bait->unix_fd, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(bait->unix_fd, 4)) {
		ab_bait_set_why(bait, "socket", "no socket can be made there");
		return 0;
	}
	return ab_bait_set(bait, "socket",
			   ab_asprintf("%s/%s/" SOCKET_NAME, state,
				       bait->dir));
}

static int lay_abstract(ab_bait *bait)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n;

	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "agentbox-%s",
		 bait->dir);
	n = strlen(a.sun_path + 1);
	bait->abstract_fd = ab_fd_lift(
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (bait->abstract_fd < 0 ||
	    bind(bait->abstract_fd, (struct sockaddr *)&a,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) ||
	    listen(bait->abstract_fd, 4)) {
		ab_bait_set_why(bait, "abstract", "no abstract socket can be made");
		return 0;
	}
	return ab_bait_set(bait, "abstract", ab_strdup(a.sun_path + 1));
}

static int lay_port(ab_bait *bait)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bait->tcp_fd = ab_fd_lift(
		socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (bait->tcp_fd < 0 ||
	    bind(bait->tcp_fd, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(bait->tcp_fd, 4) ||
	    getsockname(bait->tcp_fd, (struct sockaddr *)&a, &n)) {
		ab_bait_set_why(bait, "port", "no port of the loopback can be opened");
		return 0;
	}
	return ab_bait_set(bait, "port",
			   ab_asprintf("%u", (unsigned)ntohs(a.sin_port)));
}

static int lay_segment(ab_bait *bait)
{
	uint32_t key = 0;

	if (ab_random(&key, sizeof(key)) < 0)
		return -EIO;
	key |= 1; /* not IPC_PRIVATE */
	bait->shm_id = (int)syscall(SYS_shmget, key, 4096,
				    IPC_CREAT | IPC_EXCL | 0666);
	if (bait->shm_id < 0) {
		ab_bait_set_why(bait, "segment", "no System V segment can be made");
		return 0;
	}
	return ab_bait_set(bait, "segment", ab_asprintf("%u", key));
}

int ab_bait_set_process(ab_bait *bait, const char *name, const char *started,
			pid_t pid)
{
	int r = ab_bait_set(bait, name, ab_asprintf("%d", (int)pid));

	return r ? r
		 : ab_bait_set(bait, started,
			       ab_asprintf("%llu", (unsigned long long)
					   ab_proc_started(pid)));
}

static int add_word(char **list, const char *word)
{
	char *longer = ab_asprintf("%s%s%s", *list ? *list : "",
				   *list ? " " : "", word);

	free(*list);
	*list = longer;
	return longer ? 0 : -ENOMEM;
}

/* Names of what a command is given: lib/sandbox/environment.c. */
static int name_variables(ab_verify_run *run)
{
	const agentbox_gateway *gateway =
		agentbox_sandbox_get_gateway(run->box);
	char *const *pairs = gateway ? ab_gateway_environment(gateway) : NULL;
	const ab_policy_env *env = &run->policy->env;
	char *list = NULL;
	int r = add_word(&list, "HOME");

	for (; pairs && *pairs && !r; pairs++) {
		ab_autofree char *name =
			ab_memdup0(*pairs, strcspn(*pairs, "="));

		r = name ? add_word(&list, name) : -ENOMEM;
	}
	for (size_t i = 0; i < env->set_count && !r; i++)
		r = add_word(&list, env->set_names[i]);
	if (r) {
		free(list);
		return r;
	}
	return ab_bait_set(&run->bait, "variables", list);
}

/*
 * Large trees of the system's own that the box only reads: to look through
 * them takes long on a cold machine, and only root puts anything there. Their
 * sockets are known from another place: inside.c.
 */
static int name_system(ab_verify_run *run)
{
	static const char *const trees[] = { "/usr", "/nix/store" };
	char *list = NULL;
	int r = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(trees) && !r; i++) {
		const json_t *m = ab_verify_step_above(run, "bind",
						       trees[i]);
		const char *from =
			json_string_value(json_object_get(m, "from"));
		const char *access =
			json_string_value(json_object_get(m, "access"));

		if (from && access && !strcmp(from, trees[i]) &&
		    !strcmp(access, "read"))
			r = add_word(&list, trees[i]);
	}
	if (!r && list)
		return ab_bait_set(&run->bait, "system", list);
	free(list);
	return r;
}

static int lay(ab_verify_run *run, const char *state)
{
	ab_bait *bait = &run->bait;
	int r = lay_files(bait, state);

	if (r == 0)
		r = lay_abstract(bait);
	if (r == 0)
		r = lay_port(bait);
	if (r == 0)
		r = lay_segment(bait);
	if (r == 0)
		r = ab_bait_set_process(bait, "owner", "owner-started", getpid());
	if (r == 0)
		r = ab_bait_set_process(bait, "holder", "holder-started",
				 run->walls.holder);
	if (r == 0)
		r = name_variables(run);
	if (r == 0)
		r = name_system(run);
	if (r == 0 && run->walls.workspace)
		r = ab_bait_set(bait, "workspace",
				ab_strdup(run->walls.workspace));
	return r;
}

int32_t ab_bait_lay(ab_verify_run *run, agentbox_error **err)
{
	ab_bait *bait = &run->bait;
	const char *state = ab_context_state_dir(run->context);
	char id[AB_ID_SIZE];
	int32_t rc = ab_context_open_state(run->context, &bait->state_fd, err);
	int r;

	if (rc)
		return rc;
	ab_leftover_sweep(bait->state_fd, ".", AB_VERIFY_BAIT);
	ab_leftover_sweep(AT_FDCWD, AB_VERIFY_SCRATCH_DIR, AB_VERIFY_SCRATCH);
	r = ab_id_new(id);
	if (r == 0) {
		snprintf(bait->dir, sizeof(bait->dir), AB_VERIFY_BAIT "%.16s",
			 id);
		r = lay(run, state);
	}
	if (r == -ENOMEM)
		return ab_error_nomem(err);
	return r ? ab_error_sys(err, -r, "state",
				"cannot lay bait in the state directory '%s'",
				state)
		 : 0;
}

static const struct arrival {
	const char *probe, *wall, *tried;
	const char *by; /* the probe that tries to come */
	uint32_t needs;
} arrivals[] = {
	{ "arrived.port", "netns", "wait at a port of the host's loopback",
	  "sockets.loopback", AB_WALL_NETNS },
	{ "arrived.abstract", "netns", "wait at an abstract socket of the host",
	  "sockets.abstract", AB_WALL_NETNS },
	{ "arrived.socket", "rootfs", "wait at a socket in the state directory",
	  "sockets.path", 0 },
};

/*
 * Who got through and did not come here reached somebody in the box, where the
 * agent may listen at every port: that is no wall missing.
 */
static void take_back(ab_verify_run *run, const struct arrival *a)
{
	if (ab_verify_verdict_of(run->report, a->by) == AB_VERDICT_MISSING)
		ab_verify_amend(run->report, a->by, AB_VERDICT_PASS,
				ab_strdup("somebody in the box listens there; "
					  "nothing arrived at the host's"),
				ab_strdup(a->wall));
}

/*
 * One connection that was let through is enough, whoever it was. That none
 * came says something only where somebody is known to have tried.
 */
static void look_at_arrival(ab_verify_run *run, const struct arrival *a,
			    int fd)
{
	bool asked = (run->walls.expected & a->needs) == a->needs;
	uint32_t verdict = AB_VERDICT_UNKNOWN;
	const char *result = "not to be found out";
	const char *answer = "nobody tried, or nobody could listen";
	ab_autofd int arrived = -1;
	bool is_empty;

	if (fd >= 0)
		arrived = accept4(fd, NULL, NULL,
				  SOCK_CLOEXEC | SOCK_NONBLOCK);
	is_empty = fd >= 0 && arrived < 0 &&
		   errno == EAGAIN;
	if (arrived >= 0) {
		verdict = asked ? AB_VERDICT_MISSING : AB_VERDICT_WEAKER;
		result = "a connection arrived";
		answer = "nothing";
	} else if (is_empty && ab_verify_verdict_of(run->report, a->by) !=
				       AB_VERDICT_UNKNOWN) {
		verdict = AB_VERDICT_PASS;
		result = "nothing arrived";
		answer = a->wall;
		take_back(run, a);
	}
	ab_verify_add(run->report, a->probe, a->wall, a->tried, true, verdict,
		      ab_strdup(result), ab_strdup(answer));
}

void ab_bait_look(ab_verify_run *run)
{
	const int fds[] = { run->bait.tcp_fd, run->bait.abstract_fd,
			    run->bait.unix_fd };

	for (size_t i = 0; i < AB_ARRAY_LEN(arrivals); i++) {
		if (run->policy->network.mode != AB_NET_HOST ||
		    !(arrivals[i].needs & AB_WALL_NETNS))
			look_at_arrival(run, &arrivals[i], fds[i]);
	}
}

void ab_bait_end(ab_bait *bait)
{
	static const char *const names[] = { FILE_NAME, SOCKET_NAME };
	char path[sizeof(bait->dir) + 16];

	ab_cleanup_fd(&bait->unix_fd);
	ab_cleanup_fd(&bait->abstract_fd);
	ab_cleanup_fd(&bait->tcp_fd);
	if (bait->shm_id >= 0)
		syscall(SYS_shmctl, bait->shm_id, IPC_RMID, NULL);
	if (bait->state_fd >= 0 && bait->dir[0]) {
		for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
			snprintf(path, sizeof(path), "%s/%s", bait->dir,
				 names[i]);
			unlinkat(bait->state_fd, path, 0);
		}
		unlinkat(bait->state_fd, bait->dir, AT_REMOVEDIR);
	}
	ab_cleanup_fd(&bait->dir_fd);
	ab_cleanup_fd(&bait->state_fd);
	for (size_t i = 0; i < bait->count; i++)
		free(bait->values[i].value);
	bait->count = 0;
}
