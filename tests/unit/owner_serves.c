/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An owner serves its boxes to another process of the same user: the parent
 * owns, a forked child with a context of its own is the client. The parent
 * runs its loop until the child is done; the child's exit status is the
 * verdict.
 */
#include "config.h"

#include <agentbox/agentbox.h>
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abtest.h"
#include "base/fd.h"
#include "owner/protocol.h"
#include "sandbox/internal.h"
#include "wire/message.h"

static char state[4096];
/* on another file system; main's, which removes it */
static char shm[] = "/dev/shm/agentbox-owner-XXXXXX";
static agentbox_context *context;
static agentbox_owner *owner;
static agentbox_sandbox *box;

static agentbox_context *new_context(void)
{
	agentbox_context *c = NULL;

	ck_assert_int_eq(agentbox_context_new(&c, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_helper_dir(
		c, ab_test_helper_dir(), NULL), 0);
	ck_assert_int_eq(agentbox_context_set_state_dir(c, state, NULL), 0);
	return c;
}

static void setup_owner(void)
{
	static int n;

	snprintf(state, sizeof(state), "%s/state-%d-%d", ab_test_tmpdir(),
		 (int)getpid(), n++);
	context = new_context();
	ck_assert_int_eq(agentbox_owner_new(context, "keeper", &owner, NULL),
			 0);
}

/* false: no box can be raised here; the test ends as a skip. */
static bool setup_box(const char *test)
{
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;

	ck_assert_int_eq(agentbox_policy_builtin(context, "strict", &policy,
						 NULL), 0);
	int32_t rc = agentbox_sandbox_new(context, policy, NULL, &box, &err);
	agentbox_policy_unref(policy);
	if (rc == AGENTBOX_EWALL) {
		ab_test_skip(test, agentbox_error_get_message(err));
		agentbox_error_free(err);
		return false;
	}
	ck_assert_msg(rc == 0, "%s", agentbox_error_get_message(err));
	ck_assert_int_eq(agentbox_owner_add(owner, box, "mine", NULL), 0);
	return true;
}

static void teardown(void)
{
	agentbox_owner_free(owner);
	agentbox_sandbox_free(box);
	agentbox_context_unref(context);
	owner = NULL;
	box = NULL;
	context = NULL;
}

/* One turn of the host's loop; calls are answered by echo. */
static void serve_turn(void)
{
	struct pollfd p = { .fd = agentbox_owner_get_fd(owner),
			    .events = POLLIN };
	agentbox_request *q = NULL;

	poll(&p, 1, 20);
	ck_assert_int_eq(agentbox_owner_dispatch(owner, NULL), 0);
	while (agentbox_owner_next_request(owner, &q, NULL) == 0) {
		char *copy = strdup(agentbox_request_get_json(q));
		if (strcmp(copy, "slow") == 0)
			poll(NULL, 0, 300);
		agentbox_request_reply(q, strcmp(copy, "fail") == 0
				       ? AGENTBOX_EDENIED : 0, copy, NULL);
		free(copy);
	}
}

/* Run `body` in a child while we serve. */
static void serve_child(void (*body)(void))
{
	fflush(NULL);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		body();
		_exit(0);
	}
	int status = -1;
	do
		serve_turn();
	while (waitpid(pid, &status, WNOHANG) != pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "the client failed: status %d", status);
}

/* In the child: ck_assert would unwind into the parent's test. */
#define MUST(condition)                                               \
	do {                                                          \
		if (!(condition)) {                                   \
			fprintf(stderr, "# line %d: %s\n", __LINE__,  \
				#condition);                          \
			_exit(1);                                     \
		}                                                     \
	} while (0)

static void client_lists(void)
{
	agentbox_context *c = new_context();
	agentbox_bytes *json = NULL;

	MUST(agentbox_remote_list(c, &json, NULL) == 0);
	MUST(strstr(agentbox_bytes_get_data(json), "\"name\":\"mine\""));
	MUST(strstr(agentbox_bytes_get_data(json),
		    agentbox_sandbox_get_id(box)));
}

START_TEST(a_client_sees_the_boxes_of_a_live_owner)
{
	if (setup_box("a_client_sees_the_boxes_of_a_live_owner"))
		serve_child(client_lists);
}
END_TEST

static void client_runs(void)
{
	const char *argv[] = { "sh", "-c", "cat; exit 7" };
	agentbox_context *c = new_context();
	agentbox_remote *remote = NULL;
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	int in[2], out[2];
	char buf[16] = "";

	MUST(agentbox_remote_open(c, "mine", &remote, NULL) == 0);
	MUST(agentbox_command_new(argv, 3, &command, NULL) == 0);
	MUST(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	MUST(agentbox_command_set_fd(command, 0, in[0], NULL) == 0);
	MUST(agentbox_command_set_fd(command, 1, out[1], NULL) == 0);
	MUST(agentbox_remote_spawn(remote, command, &process, NULL) == 0);
	agentbox_command_free(command);
	close(in[0]);
	close(out[1]);
	/* The handle outlives the connection it came from. */
	agentbox_remote_free(remote);
	MUST(write(in[1], "hello", 5) == 5);
	close(in[1]);
	MUST(read(out[0], buf, sizeof(buf)) == 5 && !memcmp(buf, "hello", 5));
	MUST(agentbox_process_wait(process, 10000, NULL) == 0);
	MUST(agentbox_process_get_exit_status(process) == 7);
	MUST(strcmp(agentbox_process_get_reason(process), "exited") == 0);
	agentbox_process_free(process);
}

START_TEST(a_client_runs_a_command_with_its_own_descriptors)
{
	if (setup_box("a_client_runs_a_command_with_its_own_descriptors"))
		serve_child(client_runs);
}
END_TEST

static void client_kills(void)
{
	const char *argv[] = { "sleep", "1000" };
	agentbox_context *c = new_context();
	agentbox_remote *remote = NULL;
	agentbox_command *command = NULL;
	agentbox_process *one = NULL, *two = NULL;

	MUST(agentbox_remote_open(c, agentbox_sandbox_get_id(box), &remote,
				  NULL) == 0);
	MUST(agentbox_command_new(argv, 2, &command, NULL) == 0);
	MUST(agentbox_remote_spawn(remote, command, &one, NULL) == 0);
	MUST(agentbox_remote_spawn(remote, command, &two, NULL) == 0);
	MUST(agentbox_process_kill(one, SIGTERM, NULL) == 0);
	MUST(agentbox_process_wait(one, 10000, NULL) == 0);
	MUST(agentbox_process_get_signal(one) == SIGTERM);
	MUST(agentbox_process_wait(two, 0, NULL) == AGENTBOX_ETIMEOUT);
	MUST(agentbox_remote_kill_all(remote, NULL) == 0);
	MUST(agentbox_process_wait(two, 10000, NULL) == 0);
	MUST(agentbox_process_get_signal(two) == SIGKILL);
}

START_TEST(a_client_signals_its_command_and_kills_all)
{
	if (setup_box("a_client_signals_its_command_and_kills_all"))
		serve_child(client_kills);
}
END_TEST

static void client_is_refused(void)
{
	const char *argv[] = { "no-such-program" };
	agentbox_context *c = new_context();
	agentbox_remote *remote = NULL;
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	agentbox_error *err = NULL;

	MUST(agentbox_remote_open(c, "other", &remote, &err) ==
	     AGENTBOX_ENOTFOUND);
	MUST(strstr(agentbox_error_get_message(err), "other"));
	MUST(agentbox_remote_open(c, "../x", &remote, NULL) ==
	     AGENTBOX_EINVAL);
	MUST(agentbox_remote_open(c, "mine", &remote, NULL) == 0);
	MUST(agentbox_command_new(argv, 1, &command, NULL) == 0);
	MUST(agentbox_remote_spawn(remote, command, &process, NULL) ==
	     AGENTBOX_ENOTFOUND);
	MUST(!process);
}

START_TEST(what_does_not_exist_is_not_found)
{
	if (setup_box("what_does_not_exist_is_not_found"))
		serve_child(client_is_refused);
}
END_TEST

static void client_calls(void)
{
	agentbox_context *c = new_context();
	agentbox_remote *remote = NULL;
	agentbox_bytes *reply = NULL;
	agentbox_error *err = NULL;
	size_t n = 300000;
	char *big = malloc(n + 1);

	MUST(agentbox_remote_open_owner(c, "nobody", &remote, NULL) ==
	     AGENTBOX_ENOTFOUND);
	MUST(agentbox_remote_open_owner(c, "keeper", &remote, NULL) == 0);
	MUST(agentbox_remote_kill_all(remote, NULL) == AGENTBOX_EINVAL);
	MUST(agentbox_remote_call(remote, "[1]", 10000, &reply, NULL) == 0);
	MUST(strcmp(agentbox_bytes_get_data(reply), "[1]") == 0);
	MUST(agentbox_remote_call(remote, "fail", 10000, &reply, &err) ==
	     AGENTBOX_EDENIED);
	MUST(strcmp(agentbox_error_get_message(err), "fail") == 0);
	memset(big, 'x', n);
	big[n] = '\0';
	MUST(agentbox_remote_call(remote, big, 10000, &reply, NULL) == 0);
	MUST(agentbox_bytes_get_size(reply) == n);
	MUST(strcmp(agentbox_bytes_get_data(reply), big) == 0);
}

START_TEST(a_host_program_answers_calls)
{
	serve_child(client_calls);
}
END_TEST

/* A socket to the only owner of the state directory. */
static int connect_raw(void)
{
	char path[4200];
	struct dirent *e;

	snprintf(path, sizeof(path), "%s/owners", state);
	DIR *dir = opendir(path);
	if (!dir)
		return -1;
	while ((e = readdir(dir)) && e->d_name[0] == '.')
		;
	int fd = e ? ab_owner_connect(dirfd(dir), e->d_name) : -1;
	closedir(dir);
	return fd;
}

/* A list request on a raw connection: is there an answer? */
static bool lists_raw(int fd)
{
	const uint32_t request[3] = { AB_OWNER_LIST, 0, 1 };
	char answer[256];

	MUST(fd >= 0);
	(void)!send(fd, request, sizeof(request), MSG_NOSIGNAL);
	MUST(ab_fd_poll(fd, POLLIN, 10000) > 0);
	return recv(fd, answer, sizeof(answer), 0) > 0;
}

static void write_map(const char *path, unsigned int id)
{
	char map[32];
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int n = snprintf(map, sizeof(map), "%u %u 1", id, id);

	MUST(fd >= 0 && write(fd, map, (size_t)n) == n);
	close(fd);
}

/* As a box does that sees the state directory: the same user id, but not the
   same user namespace. Connected before or after, it makes no difference. */
static void client_lives_in_another_user_namespace(void)
{
	unsigned int uid = geteuid();
	char path[4200];
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct dirent *e;

	MUST(lists_raw(connect_raw()));
	MUST(unshare(CLONE_NEWUSER) == 0);
	write_map("/proc/self/uid_map", uid);
	MUST(geteuid() == uid);
	/* the client's own check refuses as well */
	MUST(connect_raw() == -EACCES);
	snprintf(path, sizeof(path), "%s/owners", state);
	MUST(chdir(path) == 0);
	DIR *dir = opendir(".");
	MUST(dir);
	while ((e = readdir(dir)) && e->d_name[0] == '.')
		;
	MUST(e);
	snprintf(at.sun_path, sizeof(at.sun_path), "%.100s", e->d_name);
	closedir(dir);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	MUST(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	MUST(!lists_raw(fd));
}

START_TEST(a_process_of_a_box_is_refused)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) ? 1 : 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (status != 0) {
		ab_test_skip("a_process_of_a_box_is_refused",
			     "user namespaces are refused here");
		return;
	}
	serve_child(client_lives_in_another_user_namespace);
}
END_TEST

/* Bytes that are no protocol, then a client that behaves. */
static void client_misbehaves(void)
{
	uint8_t noise[64];
	agentbox_bytes *json = NULL;

	for (unsigned i = 0; i < 300; i++) {
		int fd = connect_raw();
		if (fd < 0)
			continue;
		for (size_t k = 0; k < sizeof(noise); k++)
			noise[k] = (uint8_t)rand();
		if (i % 2) { /* a known kind, garbage behind it */
			uint32_t head[2] = { 201 + i % 4, i % 3 };
			memcpy(noise, head, sizeof(head));
		}
		send(fd, noise, i % sizeof(noise), MSG_NOSIGNAL);
		close(fd);
	}
	MUST(agentbox_remote_list(new_context(), &json, NULL) == 0);
}

START_TEST(a_client_that_misbehaves_disturbs_nobody)
{
	serve_child(client_misbehaves);
	ck_assert_int_eq(agentbox_owner_dispatch(owner, NULL), 0);
}
END_TEST

static void client_revokes_in_vain(void)
{
	agentbox_bytes *json = NULL;

	MUST(agentbox_remote_revoke_identity(new_context(), "a@b", &json,
					     NULL) == AGENTBOX_ETIMEOUT);
	MUST(json == NULL);
}

/* It lives and closes the connection: its boxes have what they had. */
START_TEST(what_an_owner_would_not_hear_is_not_revoked)
{
	int fds[AB_OWNER_MAX_CLIENTS];

	for (size_t i = 0; i < AB_ARRAY_LEN(fds); i++)
		ck_assert_int_ge(fds[i] = connect_raw(), 0);
	serve_child(client_revokes_in_vain);
	for (size_t i = 0; i < AB_ARRAY_LEN(fds); i++)
		close(fds[i]);
}
END_TEST

static bool is_quiet(void)
{
	struct pollfd p = { .fd = agentbox_owner_get_fd(owner),
			    .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

static void dispatch_until_quiet(void)
{
	for (int i = 0; i < 500 && !is_quiet(); i++)
		ck_assert_int_eq(agentbox_owner_dispatch(owner, NULL), 0);
	ck_assert(is_quiet());
}

static int kept_channel[2];

static void client_spawns_on_the_kept_channel(void)
{
	const char *argv[] = { "true" };
	uint8_t memory[256];
	agentbox_command *command = NULL;
	ab_writer bytes, request;

	MUST(agentbox_command_new(argv, 1, &command, NULL) == 0);
	ab_writer_init(&bytes, AB_OWNER_MAX_COMMAND);
	ab_command_put(&bytes, command);
	int fds[2] = { kept_channel[1], ab_fd_memfd_sealed("t", bytes.data,
							   bytes.len) };
	ab_writer_init_fixed(&request, memory, sizeof(memory));
	ab_put_u32(&request, AB_OWNER_SPAWN);
	ab_put_u32(&request, 2);
	ab_put_u32(&request, 1);
	ab_put_str(&request, "mine");
	MUST(ab_message_send(connect_raw(), request.data, request.len, fds, 2,
			     0) == 0);
	/* STARTED, EXITED, the end: the job is gone. */
	ssize_t n = 1;
	for (int i = 0; i < 3 && n > 0; i++) {
		MUST(ab_fd_poll(kept_channel[0], POLLIN, 10000) > 0);
		n = recv(kept_channel[0], memory, sizeof(memory), 0);
	}
	MUST(n == 0);
}

/* The parent's copies of a channel outlive the command they belonged to. */
START_TEST(a_kept_copy_of_a_channel_does_not_disturb_the_owner)
{
	if (!setup_box("a_kept_copy_of_a_channel_does_not_disturb_the_owner"))
		return;
	ck_assert_int_eq(ab_fd_seqpacket_pair(kept_channel), 0);
	serve_child(client_spawns_on_the_kept_channel);
	dispatch_until_quiet();
	for (int i = 0; i < 3; i++) {
		send(kept_channel[0], "12345678", 8, MSG_NOSIGNAL);
		ck_assert(is_quiet());
		ck_assert_int_eq(agentbox_owner_dispatch(owner, NULL), 0);
	}
	close(kept_channel[0]);
	ck_assert(is_quiet());
	close(kept_channel[1]);
	serve_child(client_lists);
}
END_TEST

START_TEST(a_forked_child_that_frees_its_copy_does_not_disturb_the_owner)
{
	uint8_t request[12] = { AB_OWNER_LIST, 0, 0, 0, 0, 0, 0, 0, 9 };
	uint8_t answer[256];
	int status;

	int fd = connect_raw();
	ck_assert_int_ge(fd, 0);
	dispatch_until_quiet();
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		bool used = agentbox_owner_get_fd(owner) >= 0 ||
			    agentbox_owner_get_timeout_ms(owner) != -1;

		agentbox_owner_free(owner);
		_exit(used);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ck_assert_int_eq(send(fd, request, 12, 0), 12);
	ck_assert(!is_quiet());
	dispatch_until_quiet();
	ck_assert_int_gt(recv(fd, answer, sizeof(answer), MSG_DONTWAIT), 0);
	ck_assert_int_eq(answer[0], AB_OWNER_ANSWER);
	close(fd);
}
END_TEST

/* A child of the host that holds copies of everything and does nothing. */
START_TEST(a_client_is_let_go_although_a_forked_child_lives)
{
	char buf[16];
	int fd = connect_raw();

	ck_assert_int_ge(fd, 0);
	dispatch_until_quiet();
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		pause();
		_exit(0);
	}
	ck_assert_int_eq(send(fd, "nonsense", 8, MSG_NOSIGNAL), 8);
	dispatch_until_quiet();
	ck_assert_int_eq(recv(fd, buf, sizeof(buf), MSG_DONTWAIT), 0);
	ck_assert(is_quiet());
	close(fd);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

static void client_is_impatient(void)
{
	agentbox_remote *remote = NULL;
	agentbox_bytes *reply = NULL;
	size_t n = 300000;
	char *big = malloc(n + 1);

	memset(big, 'x', n);
	big[n] = '\0';
	MUST(agentbox_remote_open_owner(new_context(), "keeper", &remote,
					NULL) == 0);
	int next_fd = dup(0);
	close(next_fd);
	/* The parent stops for a while when it reads "slow". */
	MUST(agentbox_remote_call(remote, "slow", 50, &reply, NULL) ==
	     AGENTBOX_ETIMEOUT);
	MUST(agentbox_remote_call(remote, big, 0, &reply, NULL) ==
	     AGENTBOX_ETIMEOUT);
	for (int i = 0; i < 3; i++) {
		char text[16];
		snprintf(text, sizeof(text), "[%d]", i);
		MUST(agentbox_remote_call(remote, text, 10000, &reply,
					  NULL) == 0);
		MUST(strcmp(agentbox_bytes_get_data(reply), text) == 0);
		agentbox_bytes_free(reply);
	}
	/* The late answer to the big text was a descriptor. */
	int fd = dup(0);
	MUST(fd == next_fd);
	free(big);
}

START_TEST(an_answer_that_comes_too_late_is_dropped)
{
	serve_child(client_is_impatient);
}
END_TEST

static void add_owner_entry(const char *name)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/owners/%s", state, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static bool has_owner_entry(const char *name)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/owners/%s", state, name);
	return access(path, F_OK) == 0;
}

START_TEST(a_directory_with_too_many_entries_is_an_error)
{
	agentbox_remote *remote = NULL;
	agentbox_bytes *json = NULL;
	char name[32];

	agentbox_owner_free(owner);
	owner = NULL;
	for (int i = 0; i < 4200; i++) {
		snprintf(name, sizeof(name), "junk-%d", i);
		add_owner_entry(name);
	}
	ck_assert_int_eq(agentbox_remote_list(context, &json, NULL),
			 AGENTBOX_ELIMIT);
	ck_assert_int_eq(agentbox_remote_open(context, "mine", &remote, NULL),
			 AGENTBOX_ELIMIT);
	ck_assert_ptr_null(json);
	ck_assert_ptr_null(remote);
}
END_TEST

/* A stopped owner whose queue of connections is full. */
START_TEST(a_stopped_owner_is_waited_for_a_bounded_time)
{
	agentbox_remote *remote = NULL;
	agentbox_error *err = NULL;
	int fds[AB_OWNER_MAX_CLIENTS + 1];
	struct timespec before, after;

	for (size_t i = 0; i < AB_ARRAY_LEN(fds); i++)
		ck_assert_int_ge(fds[i] = connect_raw(), 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	ck_assert_int_eq(agentbox_remote_open(context, "mine", &remote, &err),
			 AGENTBOX_ETIMEOUT);
	clock_gettime(CLOCK_MONOTONIC, &after);
	ck_assert_int_ge(after.tv_sec - before.tv_sec, 1);
	ck_assert_int_le(after.tv_sec - before.tv_sec, 20);
	agentbox_error_free(err);
	for (size_t i = 0; i < AB_ARRAY_LEN(fds); i++)
		close(fds[i]);
}
END_TEST

/* Bound, but never renamed: what a killed agentbox_owner_new() leaves. */
static void bind_unborn(pid_t pid, char *name, size_t size)
{
	char path[4200];
	struct sockaddr_un a;

	snprintf(name, size, ".%d-0123456789abcdef", (int)pid);
	snprintf(path, sizeof(path), "%s/owners", state);
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(ab_owner_address(dir, name, &a), 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
	close(dir);
}

START_TEST(a_socket_that_never_listened_goes_with_its_process)
{
	char dead[64], alive[64];
	agentbox_bytes *json = NULL;

	agentbox_owner_free(owner);
	owner = NULL;
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	bind_unborn(pid, dead, sizeof(dead));
	bind_unborn(getpid(), alive, sizeof(alive));
	add_owner_entry(".1-lock");
	add_owner_entry(".dies.lock");
	ck_assert_int_eq(agentbox_remote_list(context, &json, NULL), 0);
	agentbox_bytes_free(json);
	ck_assert(!has_owner_entry(dead));
	ck_assert(has_owner_entry(alive));
	ck_assert(has_owner_entry(".1-lock"));
	ck_assert(has_owner_entry(".dies.lock"));
}
END_TEST

START_TEST(without_a_free_descriptor_the_owner_does_not_spin)
{
	struct rlimit before, none;

	int client = connect_raw();
	ck_assert_int_ge(client, 0);
	int next = dup(0);
	ck_assert_int_ge(next, 0);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)next;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert(!is_quiet());
	ck_assert_int_eq(agentbox_owner_dispatch(owner, NULL), 0);
	bool quiet = is_quiet();
	int32_t ms = agentbox_owner_get_timeout_ms(owner);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert(quiet);
	ck_assert_int_gt(ms, 0);
	ck_assert_int_le(ms, 1000);
	poll(NULL, 0, ms);
	ck_assert_int_eq(agentbox_owner_dispatch(owner, NULL), 0);
	ck_assert_int_eq(agentbox_owner_get_timeout_ms(owner), -1);
	dispatch_until_quiet();
	serve_child(client_calls);
	close(client);
}
END_TEST

/* A box whose quarantine fails: the state is on another file system. */
static bool setup_unsettled_box(const char *test)
{
	agentbox_policy *plain = NULL, *policy = NULL;
	agentbox_error *err = NULL;
	char workspace[4200];
	struct stat a, b;

	snprintf(workspace, sizeof(workspace), "%s/ws-XXXXXX",
		 ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(workspace));
	teardown();
	snprintf(state, sizeof(state), "%s/s-XXXXXX", shm);
	if (!mkdtemp(state) || stat(state, &a) < 0 ||
	    stat(workspace, &b) < 0 || a.st_dev == b.st_dev) {
		ab_test_skip(test, "a second file system at /dev/shm");
		return false;
	}
	context = new_context();
	ck_assert_int_eq(agentbox_owner_new(context, NULL, &owner, NULL), 0);
	ck_assert_int_eq(agentbox_policy_builtin(context, "workspace", &plain,
						 NULL), 0);
	int32_t made = agentbox_policy_with_workspace(plain, workspace, NULL,
						      &policy, &err);
	ck_assert_msg(made == 0, "%s", agentbox_error_get_message(err));
	int32_t rc = agentbox_sandbox_new(context, policy, NULL, &box, &err);
	agentbox_policy_unref(policy);
	agentbox_policy_unref(plain);
	if (rc == AGENTBOX_EWALL) {
		ab_test_skip(test, agentbox_error_get_message(err));
		agentbox_error_free(err);
		return false;
	}
	ck_assert_msg(rc == 0, "%s", agentbox_error_get_message(err));
	ck_assert_int_eq(agentbox_owner_add(owner, box, "mine", NULL), 0);
	return true;
}

static void client_sees_that_settling_failed(void)
{
	/* Too deep to be looked through, and too far to be moved away. */
	const char *argv[] = { "sh", "-c",
		"d=deep; for i in $(seq 70); do d=$d/d; done; mkdir -p $d;"
		"exit 7" };
	agentbox_remote *remote = NULL;
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	uint8_t buf[2048];
	ab_msg_failed failed;
	ab_msg_exited exited;
	size_t fds = 0;
	ab_reader r;

	MUST(agentbox_remote_open(new_context(), "mine", &remote, NULL) == 0);
	MUST(agentbox_command_new(argv, 3, &command, NULL) == 0);
	MUST(agentbox_remote_spawn(remote, command, &process, NULL) == 0);
	MUST(ab_fd_poll(process->channel_fd, POLLIN, 20000) > 0);
	ssize_t n = ab_message_recv(process->channel_fd, buf, sizeof(buf),
				    NULL, 0, &fds, 0);
	MUST(n > 0);
	ab_reader_init(&r, buf, (size_t)n);
	MUST(ab_get_u32(&r) == AB_MSG_FAILED && ab_get_u32(&r) == 0);
	MUST(ab_msg_get_failed(&r, &failed) == 0);
	MUST(strcmp(failed.stage, "protect") == 0 && failed.message[0]);
	MUST(ab_fd_poll(process->channel_fd, POLLIN, 20000) > 0);
	n = ab_message_recv(process->channel_fd, buf, sizeof(buf), NULL, 0,
			    &fds, 0);
	MUST(n > 0);
	ab_reader_init(&r, buf, (size_t)n);
	MUST(ab_get_u32(&r) == AB_MSG_EXITED && ab_get_u32(&r) == 0);
	MUST(ab_msg_get_exited(&r, &exited) == 0);
	MUST(WIFEXITED(exited.status) && WEXITSTATUS(exited.status) == 7);
	agentbox_process_free(process);
}

START_TEST(a_status_whose_settling_failed_is_told_with_the_failure)
{
	if (setup_unsettled_box(
		"a_status_whose_settling_failed_is_told_with_the_failure"))
		serve_child(client_sees_that_settling_failed);
	teardown();
}
END_TEST

static int command_stdin[2], started[2];

static void client_ends_after_a_line(void)
{
	const char *argv[] = { "sh", "-c", "read x; echo >.envrc; exit 3" };
	agentbox_remote *remote = NULL;
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;

	MUST(agentbox_remote_open(new_context(), "mine", &remote, NULL) == 0);
	MUST(agentbox_command_new(argv, 3, &command, NULL) == 0);
	MUST(agentbox_command_set_fd(command, 0, command_stdin[0], NULL) == 0);
	MUST(agentbox_remote_spawn(remote, command, &process, NULL) == 0);
	MUST(write(started[1], "s", 1) == 1);
	MUST(agentbox_process_wait(process, 20000, NULL) == 0);
	MUST(agentbox_process_get_exit_status(process) == 3);
	agentbox_process_free(process);
}

static long signal_holder(int signum)
{
	return syscall(SYS_pidfd_send_signal, box->helper.pidfd, signum, NULL,
		       0);
}

/* A command ends while the holder of its box is stopped. */
static void serve_beside_a_stopped_holder(void)
{
	struct pollfd p = { .fd = started[0], .events = POLLIN };
	bool settling = false;

	while (poll(&p, 1, 0) == 0)
		serve_turn();
	ck_assert_int_eq(signal_holder(SIGSTOP), 0);
	ck_assert_int_eq(write(command_stdin[1], "\n", 1), 1);
	for (int i = 0; i < 20; i++) {
		struct timespec before, after;

		clock_gettime(CLOCK_MONOTONIC, &before);
		serve_turn();
		clock_gettime(CLOCK_MONOTONIC, &after);
		/* a settle that does not come would be waited for longer */
		ck_assert_int_le(after.tv_sec - before.tv_sec, 10);
		int32_t ms = agentbox_owner_get_timeout_ms(owner);
		settling |= ms > 0 && ms < 20;
	}
	ck_assert(settling);
	ck_assert_int_eq(signal_holder(SIGCONT), 0);
}

START_TEST(the_owner_does_not_wait_while_a_box_settles)
{
	const char *name = "the_owner_does_not_wait_while_a_box_settles";
	int status = 0;

	if (setup_unsettled_box(name)) {
		ck_assert_int_eq(pipe2(command_stdin, O_CLOEXEC), 0);
		ck_assert_int_eq(pipe2(started, O_CLOEXEC), 0);
		fflush(NULL);
		pid_t pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			client_ends_after_a_line();
			_exit(0);
		}
		serve_beside_a_stopped_holder();
		while (waitpid(pid, &status, WNOHANG) != pid)
			serve_turn();
		ck_assert_int_eq(status, 0);
		for (int i = 0; i < 2; i++) {
			close(command_stdin[i]);
			close(started[i]);
		}
	}
	teardown();
}
END_TEST

START_TEST(a_name_has_one_live_owner)
{
	agentbox_owner *second = NULL;

	ck_assert_int_eq(agentbox_owner_new(context, "keeper", &second, NULL),
			 AGENTBOX_EEXIST);
	ck_assert_ptr_null(second);
	agentbox_owner_free(owner);
	owner = NULL;
	ck_assert_int_eq(agentbox_owner_new(context, "keeper", &owner, NULL),
			 0);
}
END_TEST

/* It neither keeps the name nor gives it away. */
START_TEST(a_forked_child_is_no_owner_of_the_name)
{
	agentbox_owner *second = NULL;
	int status;

	fflush(NULL);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		agentbox_owner_free(owner);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(agentbox_owner_new(context, "keeper", &second, NULL),
			 AGENTBOX_EEXIST);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		alarm(60); /* if the test fails */
		pause();
		_exit(0);
	}
	agentbox_owner_free(owner);
	owner = NULL;
	ck_assert_int_eq(agentbox_owner_new(context, "keeper", &owner, NULL),
			 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(the_socket_of_a_dead_owner_is_removed)
{
	agentbox_bytes *json = NULL;
	char path[4200];
	int sockets = 0;

	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		agentbox_owner *o = NULL;
		MUST(agentbox_owner_new(new_context(), "dies", &o, NULL) == 0);
		_exit(0); /* without free: the socket file stays */
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	agentbox_owner_free(owner); /* or listing would ask ourselves */
	owner = NULL;
	ck_assert_int_eq(agentbox_remote_list(context, &json, NULL), 0);
	ck_assert_str_eq(agentbox_bytes_get_data(json), "[]");
	agentbox_bytes_free(json);
	snprintf(path, sizeof(path), "%s/owners", state);
	DIR *dir = opendir(path);
	for (struct dirent *e; (e = readdir(dir));)
		sockets += e->d_type == DT_SOCK;
	closedir(dir);
	ck_assert_int_eq(sockets, 0);
}
END_TEST

/* A child that owns and waits at `go`; its socket's name. */
static pid_t start_owner(int go, char *name, size_t size)
{
	int ready[2];

	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		agentbox_owner *o = NULL;
		char byte;

		MUST(agentbox_owner_new(new_context(), NULL, &o, NULL) == 0);
		MUST(write(ready[1], "", 1) == 1);
		MUST(read(go, &byte, 1) >= 0);
		_exit(0); /* without free: the socket file stays */
	}
	char byte, path[4200];
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	snprintf(path, sizeof(path), "%s/owners", state);
	DIR *dir = opendir(path);
	for (struct dirent *e; (e = readdir(dir));)
		if (strtol(e->d_name, NULL, 10) == pid)
			snprintf(name, size, "%s", e->d_name);
	closedir(dir);
	ck_assert(has_owner_entry(name));
	return pid;
}

START_TEST(a_new_owner_removes_the_sockets_of_dead_ones_alone)
{
	agentbox_owner *another = NULL;
	char dead[300] = "", unborn[64], alive[300] = "";
	int go[2][2];

	ck_assert_int_eq(pipe(go[0]) + pipe(go[1]), 0);
	pid_t first = start_owner(go[0][0], dead, sizeof(dead));
	ck_assert_int_eq(write(go[0][1], "", 1), 1);
	ck_assert_int_eq(waitpid(first, NULL, 0), first);
	bind_unborn(first, unborn, sizeof(unborn));
	pid_t second = start_owner(go[1][0], alive, sizeof(alive));
	add_owner_entry("1-0123456789abcdef"); /* no socket */
	ck_assert(!has_owner_entry(dead)); /* the second has swept */
	ck_assert(!has_owner_entry(unborn));
	ck_assert_int_eq(agentbox_owner_new(context, NULL, &another, NULL), 0);
	agentbox_owner_free(another);
	ck_assert(has_owner_entry(alive));
	ck_assert(has_owner_entry("1-0123456789abcdef"));
	ck_assert_int_eq(write(go[1][1], "", 1), 1);
	ck_assert_int_eq(waitpid(second, NULL, 0), second);
	for (int i = 0; i < 4; i++)
		close(go[i / 2][i % 2]);
}
END_TEST

START_TEST(a_directory_open_to_others_is_refused)
{
	agentbox_owner *o = NULL;
	char path[4200];

	snprintf(path, sizeof(path), "%s/owners", state);
	ck_assert_int_eq(chmod(path, 0755), 0);
	ck_assert_int_eq(agentbox_owner_new(context, NULL, &o, NULL),
			 AGENTBOX_EACCES);
	ck_assert_ptr_null(o);
}
END_TEST

START_TEST(without_a_state_directory_there_is_no_owner)
{
	agentbox_context *c = NULL;
	agentbox_owner *o = NULL;

	agentbox_context_new(&c, NULL);
	ck_assert_int_eq(agentbox_owner_new(c, NULL, &o, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_ptr_null(o);
	agentbox_context_unref(c);
}
END_TEST

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	Suite *s = suite_create("owner_serves");
	TCase *t = tcase_create("owner");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup_owner, teardown);
	tcase_add_test(t, a_client_sees_the_boxes_of_a_live_owner);
	tcase_add_test(t, a_client_runs_a_command_with_its_own_descriptors);
	tcase_add_test(t, a_client_signals_its_command_and_kills_all);
	tcase_add_test(t, what_does_not_exist_is_not_found);
	tcase_add_test(t, a_host_program_answers_calls);
	tcase_add_test(t, a_process_of_a_box_is_refused);
	tcase_add_test(t, a_client_that_misbehaves_disturbs_nobody);
	tcase_add_test(t, what_an_owner_would_not_hear_is_not_revoked);
	tcase_add_test(t, a_kept_copy_of_a_channel_does_not_disturb_the_owner);
	tcase_add_test(t,
		a_forked_child_that_frees_its_copy_does_not_disturb_the_owner);
	tcase_add_test(t, a_client_is_let_go_although_a_forked_child_lives);
	tcase_add_test(t, an_answer_that_comes_too_late_is_dropped);
	tcase_add_test(t, a_directory_with_too_many_entries_is_an_error);
	tcase_add_test(t, a_stopped_owner_is_waited_for_a_bounded_time);
	tcase_add_test(t, a_socket_that_never_listened_goes_with_its_process);
	tcase_add_test(t, without_a_free_descriptor_the_owner_does_not_spin);
	tcase_add_test(t,
		a_status_whose_settling_failed_is_told_with_the_failure);
	tcase_add_test(t, the_owner_does_not_wait_while_a_box_settles);
	tcase_add_test(t, a_name_has_one_live_owner);
	tcase_add_test(t, a_forked_child_is_no_owner_of_the_name);
	tcase_add_test(t, the_socket_of_a_dead_owner_is_removed);
	tcase_add_test(t, a_new_owner_removes_the_sockets_of_dead_ones_alone);
	tcase_add_test(t, a_directory_open_to_others_is_refused);
	tcase_add_test(t, without_a_state_directory_there_is_no_owner);
	suite_add_tcase(s, t);

	bool has_shm = mkdtemp(shm) != NULL;
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	/* a test that fails does not come to its teardown */
	if (has_shm)
		nftw(shm, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	return failed ? 1 : 0;
}
