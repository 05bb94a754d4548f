/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The credential helper of git: lines come on standard input, and a password
 * goes to standard output where the policy has one for that host. It stores
 * nothing and erases nothing, as the value is the host's; and it says nothing
 * where there is no password, so that git goes on to its next helper. Never
 * for anything but https. Spec: gitcredentials(7), git-credential(1).
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "secret.h"

#define MAX_INPUT 65536
/* What forges that look at the token alone take for a user. */
#define ANYBODY "x-access-token"

typedef struct request {
	const char *protocol, *host, *user;
} request;

/* Lines of key=value until an empty one; what it does not know it ignores. */
static void read_lines(char *text, request *out)
{
	const struct {
		const char *key;
		const char **to;
	} keys[] = {
		{"protocol=", &out->protocol},
		{"host=", &out->host},
		{"username=", &out->user},
	};

	while (*text && *text != '\n') {
		size_t n = strcspn(text, "\n");
		char *next = text + n + (text[n] == '\n');

		text[n] = '\0';
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			if (strncmp(text, keys[i].key,
				    strlen(keys[i].key)) == 0)
				*keys[i].to = text + strlen(keys[i].key);
		text = next;
	}
}

/* All that comes, so that who writes it is not hurt. */
static int read_request(char *buffer, request *out)
{
	ssize_t n = ab_fd_read_full(STDIN_FILENO, buffer, MAX_INPUT);

	*out = (request){"", "", ""};
	if (n < 0)
		return (int)n;
	if (n == MAX_INPUT || memchr(buffer, '\0', (size_t)n))
		return -EPROTO;
	buffer[n] = '\0';
	read_lines(buffer, out);
	return 0;
}

/* "host:port"; false: it is none that anybody could be asked for. */
static bool name_host(const char *host, char *out, size_t size)
{
	const char *end = strrchr(host, ']');
	bool has_port = strchr(end ? end : host, ':') != NULL;
	int n = snprintf(out, size, "%s%s", host, has_port ? "" : ":443");

	return host[0] && n > 0 && (size_t)n < size;
}

/*
 * One line, which may have an end: a line more would be a word to git. How
 * long it is, or -1.
 */
static ssize_t judge_value(const char *p, ssize_t n)
{
	if (n > 0 && p[n - 1] == '\n')
		n--;
	for (ssize_t i = 0; i < n; i++)
		if ((unsigned char)p[i] < ' ' || p[i] == 0x7f)
			return -1;
	return n > 0 ? n : -1;
}

static int print_value(const request *r, const reply *a)
{
	static char value[AB_BROKER_MAX_VALUE];
	ssize_t n = read_value(a->fd, value);
	int status = 0;

	if (n < 0) {
		status = complain(INTERNAL, r->host, strerror((int)-n));
	} else if ((n = judge_value(value, n)) < 0) {
		status = complain(INTERNAL, r->host, "the value is no "
				  "password of one line");
	} else {
		if (!r->user[0])
			printf("username=%s\n",
			       a->m.user[0] ? a->m.user : ANYBODY);
		printf("password=%.*s\npassword_expiry_utc=%lld\n", (int)n,
		       value, (long long)time(NULL) +
				      (long long)(a->m.left_ms / 1000));
		if (fflush(stdout))
			status = complain(INTERNAL, "standard output",
					  strerror(errno));
	}
	explicit_bzero(value, sizeof(value));
	return status;
}

static int give(const request *r)
{
	char host[AB_BROKER_MAX_HOST + 1];
	ab_broker_ask q = {.verb = AB_BROKER_GET_GIT, .name = host,
			   .user = r->user};
	reply a;
	int status;

	if (strcmp(r->protocol, "https") != 0 ||
	    strlen(r->user) > AB_BROKER_MAX_USER ||
	    !name_host(r->host, host, sizeof(host)))
		return 0;
	status = put_question(&q, &a);
	if (status == 0 && a.m.result == AB_BROKER_OK)
		status = print_value(r, &a);
	else if (status == 0 && a.m.result != AB_BROKER_REFUSED)
		status = say_result(r->host, a.m.result);
	if (a.fd >= 0)
		close(a.fd);
	return status;
}

int git(const char *operation)
{
	static char buffer[MAX_INPUT + 1];
	request r;
	int e = read_request(buffer, &r);

	if (strcmp(operation, "get") != 0)
		return 0;
	return e ? complain(INTERNAL, "standard input", strerror(-e))
		 : give(&r);
}
