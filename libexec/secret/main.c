/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-secret: what the processes of a box ask their credential broker
 * with. It is seen in the box at AB_BROKER_PROGRAM, static, and has no right
 * that any other program of the box does not have: the key comes from the
 * environment, and the gateway judges. A value goes from the sealed memfd to
 * standard output and is on no command line. Spec: DESIGN.md section 9,
 * wire/broker.h, agentbox-secret(1).
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"
#include "secret.h"
#include "wire/message.h"

#define NAME "agentbox-secret"
#define WAIT_MS 30000

int complain(int status, const char *what, const char *why)
{
	fprintf(stderr, NAME ": %s%s%s\n", what, why[0] ? ": " : "", why);
	return status;
}

static int usage(void)
{
	fputs("usage: " NAME " get [--file] NAME\n"
	      "       " NAME " renew NAME\n"
	      "       " NAME " release NAME\n"
	      "       " NAME " list\n"
	      "       " NAME " git get|store|erase\n", stderr);
	return USAGE;
}

/* --- one question -------------------------------------------------------- */

static int open_broker(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX,
				.sun_path = AB_BROKER_SOCKET};
	ab_autofd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return -errno;
	return ab_steal_fd(&fd);
}

static int send_ask(int fd, const ab_broker_ask *q)
{
	uint8_t memory[AB_BROKER_MAX_ASK];
	ab_writer w;
	int r;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_broker_ask_put(&w, q);
	r = w.bad ? -EMSGSIZE : ab_message_send(fd, w.data, w.len, NULL, 0, 0);
	explicit_bzero(memory, sizeof(memory));
	return r;
}

static int receive(int fd, reply *out)
{
	size_t count = 0;
	ab_reader r;
	int ready = ab_fd_poll(fd, POLLIN, WAIT_MS);
	ssize_t n;

	if (ready <= 0)
		return ready ? ready : -ETIMEDOUT;
	n = ab_message_recv(fd, out->memory, sizeof(out->memory), &out->fd, 1,
			    &count, 0);
	if (n <= 0)
		return n ? (int)n : -ECONNRESET;
	ab_reader_init(&r, out->memory, (size_t)n);
	if (ab_get_u32(&r) != AB_MSG_BROKER_ANSWER ||
	    ab_get_u32(&r) != count || ab_broker_answer_get(&r, &out->m))
		return -EPROTO;
	return 0;
}

int say_result(const char *name, uint32_t result)
{
	switch ((enum ab_broker_result)result) {
	case AB_BROKER_OK:
		return 0;
	case AB_BROKER_REFUSED:
		return complain(REFUSED, name, "refused; the host's record "
				"says why");
	case AB_BROKER_BUSY:
		return complain(REFUSED, name, "too many questions; try again "
				"later");
	case AB_BROKER_NONE:
		return complain(NOT_FOUND, name, "nobody has a value for it");
	case AB_BROKER_LATE:
		return complain(NOT_FOUND, name, "who has the value did not "
				"answer in time");
	case AB_BROKER_ENDED:
		return complain(NOT_FOUND, name, "no lease of it is in force");
	case AB_BROKER_FAILED:
	case AB_BROKER_RESULT_COUNT:
		break;
	}
	return complain(INTERNAL, name, "the broker could not deliver it");
}

int put_question(const ab_broker_ask *question, reply *out)
{
	const char *key = getenv("AGENTBOX_KEY");
	ab_broker_ask q = *question;
	ab_autofd int fd = -1;
	int r;

	out->fd = -1;
	if (!key || strlen(key) != AB_BROKER_KEY_LEN)
		return complain(INTERNAL, "AGENTBOX_KEY is not the key of a "
				"box", "");
	q.key = key;
	fd = open_broker();
	r = fd < 0 ? fd : send_ask(fd, &q);
	if (r == 0)
		r = receive(fd, out);
	/* it was there, and took no question: of so many, or of this box */
	if (r == -EPIPE || r == -ECONNRESET)
		return complain(REFUSED, "the broker has hung up",
				"too many connections at once, or it is "
				"revoked");
	return r ? complain(INTERNAL, "no answer of the broker", strerror(-r))
		 : 0;
}

/* 0, or an exit status and it was said why. */
static int ask(uint32_t verb, const char *name, reply *out)
{
	const ab_broker_ask q = {.verb = verb, .name = name};
	int status;

	if (verb != AB_BROKER_LIST && !ab_broker_name_ok(name))
		return complain(REFUSED, name, "not the name of a secret");
	status = put_question(&q, out);
	return status ? status : say_result(name, out->m.result);
}

/* --- what is done with the answer ---------------------------------------- */

ssize_t read_value(int fd, char *buffer)
{
	size_t n = 0;
	int r = fd < 0 ? -EPROTO
		       : ab_fd_check_sealed(fd, AB_BROKER_MAX_VALUE, &n);

	return r ? r : ab_fd_read_full(fd, buffer, n);
}

static int copy_out(int fd)
{
	static char buffer[AB_BROKER_MAX_VALUE];
	ssize_t n = read_value(fd, buffer);
	int r = n < 0 ? (int)n
		      : ab_fd_write_full(STDOUT_FILENO, buffer, (size_t)n);

	explicit_bzero(buffer, sizeof(buffer));
	return r;
}

static int get(const char *name)
{
	reply a;
	int status = ask(AB_BROKER_GET, name, &a), r;

	if (status)
		return status;
	r = copy_out(a.fd);
	if (a.fd >= 0)
		close(a.fd);
	return r ? complain(INTERNAL, name, strerror(-r)) : 0;
}

static int get_file(const char *name)
{
	reply a;
	int status = ask(AB_BROKER_GET_FILE, name, &a);

	if (status == 0)
		printf("%s/%s\n", AB_BROKER_FILES, name);
	return status;
}

/* How long it lasts from now on, in seconds. */
static int renew(const char *name)
{
	reply a;
	int status = ask(AB_BROKER_RENEW, name, &a);

	if (status == 0)
		printf("%llu\n", (unsigned long long)(a.m.left_ms / 1000));
	return status;
}

static int release(const char *name)
{
	reply a;

	return ask(AB_BROKER_RELEASE, name, &a);
}

static void print_left(uint64_t left_ms)
{
	if (left_ms)
		printf("\t%llu", (unsigned long long)((left_ms + 999) / 1000));
	else
		printf("\t-");
}

static void print_row(const ab_broker_row *row)
{
	const char *between = "\t";

	printf("%s", row->name);
	for (size_t i = 0; i < AB_BROKER_WAY_COUNT; i++) {
		if (!(row->ways & 1u << i))
			continue;
		printf("%s%s", between, ab_broker_ways[i]);
		between = ",";
	}
	printf("\t%llu", (unsigned long long)(row->ttl_ms / 1000));
	for (size_t i = 0; i < AB_BROKER_WAY_COUNT; i++)
		print_left(row->left_ms[i]);
	printf("\n");
}

/* NAME, its ways, seconds of a lease, and what is left of each way's. */
static int list(void)
{
	reply a;
	int status = ask(AB_BROKER_LIST, "", &a);

	for (uint32_t i = 0; status == 0 && i < a.m.row_count; i++)
		print_row(&a.m.rows[i]);
	return status;
}

static int run(int argc, char **argv)
{
	static const struct {
		const char *verb;
		int (*run)(const char *name);
	} verbs[] = {
		{"get", get}, {"renew", renew}, {"release", release},
		{"git", git},
	};

	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list();
	if (argc == 4 && strcmp(argv[1], "get") == 0 &&
	    strcmp(argv[2], "--file") == 0)
		return get_file(argv[3]);
	for (size_t i = 0; argc == 3 && i < AB_ARRAY_LEN(verbs); i++)
		if (strcmp(argv[1], verbs[i].verb) == 0)
			return verbs[i].run(argv[2]);
	return usage();
}

int main(int argc, char **argv)
{
	int status = run(argc, argv);

	if (fflush(stdout) && status == 0)
		status = complain(INTERNAL, "standard output",
				  strerror(errno));
	return status;
}
