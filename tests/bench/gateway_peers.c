/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The relays and proxies that the gateway is compared with, each one process
 * on loopback with the least configuration that lets it serve: no log, no
 * list, one thread. They judge nothing and record nothing.
 */
#include "gateway.h"

#include "bench.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct sockaddr_in loopback(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons((uint16_t)port);
	return a;
}

static int free_port(void)
{
	struct sockaddr_in a = loopback(0);
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (void *)&a, n) ||
	    getsockname(fd, (void *)&a, &n))
		abort();
	close(fd);
	return ntohs(a.sin_port);
}

bool port_is_served(int port, int ms)
{
	struct sockaddr_in a = loopback(port);

	for (; ms > 0; ms -= 20) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		bool open = fd >= 0 && connect(fd, (void *)&a, sizeof(a)) == 0;

		close(fd);
		if (open)
			return true;
		poll(NULL, 0, 20);
	}
	return false;
}

/* --- configurations ------------------------------------------------------- */

static void write_haproxy(FILE *f, int port, int origin)
{
	fprintf(f,
		"global\n maxconn 9000\n nbthread 1\n"
		"defaults\n mode tcp\n timeout connect 10s\n"
		" timeout client 60s\n timeout server 60s\n"
		"listen bench\n bind 127.0.0.1:%d\n server o 127.0.0.1:%d\n",
		port, origin);
}

/* Debian has the module beside the program's directory. */
static void write_nginx(FILE *f, int port, int origin)
{
	const char *path = getenv("PATH");
	char *copy = strdup(path ? path : "/usr/sbin"), *save = NULL;

	for (char *dir = strtok_r(copy, ":", &save); dir;
	     dir = strtok_r(NULL, ":", &save)) {
		char file[4096];

		snprintf(file, sizeof(file),
			 "%s/../lib/nginx/modules/ngx_stream_module.so", dir);
		if (access(file, R_OK) == 0) {
			fprintf(f, "load_module %s;\n", file);
			break;
		}
	}
	free(copy);
	fprintf(f,
		"daemon off;\nmaster_process off;\npid nginx.pid;\n"
		"events { worker_connections 40000; }\n"
		"stream { server { listen 127.0.0.1:%d; "
		"proxy_pass 127.0.0.1:%d; } }\n", port, origin);
}

static void write_haproxy_route(FILE *f, int port, int origin)
{
	fprintf(f,
		"global\n maxconn 4000\n nbthread 1\n"
		"defaults\n mode http\n timeout connect 10s\n"
		" timeout client 60s\n timeout server 60s\n"
		"listen bench\n bind 127.0.0.1:%d\n http-reuse always\n"
		" http-request set-header x-api-key " CREDENTIAL "\n"
		" server o 127.0.0.1:%d ssl verify required ca-file %s/ca.pem "
		"sni str(localhost) verifyhost localhost\n",
		port, origin, directory);
}

static void write_nginx_route(FILE *f, int port, int origin)
{
	static const char *const kinds[] = { "client_body", "proxy", "fastcgi",
					     "uwsgi", "scgi" };

	fprintf(f,
		"daemon off;\nmaster_process off;\npid nginx.pid;\n"
		"events { worker_connections 4096; }\n"
		"http { access_log off; keepalive_requests 1000000;\n");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		fprintf(f, "%s_temp_path %s/%s;\n", kinds[i], directory,
			kinds[i]);
	fprintf(f,
		"upstream o { server 127.0.0.1:%d; keepalive 16; "
		"keepalive_requests 1000000; }\n"
		"server { listen 127.0.0.1:%d; location / {\n"
		"proxy_pass https://o; proxy_http_version 1.1;\n"
		"proxy_set_header Connection \"\";\n"
		"proxy_set_header x-api-key " CREDENTIAL ";\n"
		"proxy_ssl_verify on; proxy_ssl_name localhost;\n"
		"proxy_ssl_server_name on;\n"
		"proxy_ssl_trusted_certificate %s/ca.pem; } } }\n",
		origin, port, directory);
}

static void write_tinyproxy(FILE *f, int port, int origin)
{
	(void)origin;
	fprintf(f,
		"Port %d\nListen 127.0.0.1\nTimeout 60\nAllow 127.0.0.1\n"
		"MaxClients 10000\nLogLevel Critical\nDisableViaHeader Yes\n",
		port);
}

static void write_squid(FILE *f, int port, int origin)
{
	(void)origin;
	fprintf(f,
		"http_port 127.0.0.1:%d\nhttp_access allow all\n"
		"cache deny all\naccess_log none\ncache_log /dev/null\n"
		"max_filedescriptors 65536\n"
		"pid_filename none\nshutdown_lifetime 0 seconds\n", port);
}

struct peer {
	const char *program, *name, *kind;
	void (*write)(FILE *f, int port, int origin);
	const char *argv[8]; /* FILE and DIR are put in */
};

static const struct peer peers[] = {
	{ "haproxy", "haproxy, TCP, copies", "direct", write_haproxy,
	  { "haproxy", "-db", "-f", "FILE" } },
	{ "nginx", "nginx, stream", "direct", write_nginx,
	  { "nginx", "-e", "/dev/null", "-p", "DIR", "-c", "FILE" } },
	{ "tinyproxy", "tinyproxy, CONNECT", "proxy", write_tinyproxy,
	  { "tinyproxy", "-d", "-c", "FILE" } },
	{ "squid", "squid, CONNECT", "proxy", write_squid,
	  { "squid", "-N", "-f", "FILE" } },
};

static const struct peer route_peers[] = {
	{ "haproxy", "haproxy, HTTP", "direct", write_haproxy_route,
	  { "haproxy", "-db", "-f", "FILE" } },
	{ "nginx", "nginx, HTTP", "direct", write_nginx_route,
	  { "nginx", "-e", "/dev/null", "-p", "DIR", "-c", "FILE" } },
};

/* --- processes ------------------------------------------------------------ */

pid_t start_program(const char *const *argv, const int fds[3])
{
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int rc;

	posix_spawn_file_actions_init(&fa);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&fa, fds[i], i);
	rc = posix_spawnp(&pid, argv[0], &fa, NULL,
			  (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	return rc ? 0 : pid;
}

static pid_t start(const struct peer *p, const char *file, const char *dir)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	const char *argv[8] = { NULL };
	pid_t pid;

	for (int i = 0; i < 7 && p->argv[i]; i++)
		argv[i] = strcmp(p->argv[i], "FILE") == 0  ? file
			  : strcmp(p->argv[i], "DIR") == 0 ? dir
							   : p->argv[i];
	pid = start_program(argv, (const int[]){ fd, fd, fd });
	close(fd);
	return pid;
}

static void end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool begin(const struct peer *p, bench_way *way,
		  int origin)
{
	char file[4200];
	FILE *f;

	snprintf(file, sizeof(file), "%s/%s.conf", directory, p->name);
	*way = (bench_way){ p->name, p->kind, free_port(), 0 };
	f = fopen(file, "w");
	if (!f)
		return false;
	p->write(f, way->port, origin);
	fclose(f);
	way->pid = start(p, file, directory);
	if (way->pid && port_is_served(way->port, 5000))
		return true;
	end(way->pid);
	return false;
}

static int begin_all(const struct peer *all, size_t n, bench_way *ways,
		     int origin)
{
	int count = 0;

	for (size_t i = 0; i < n; i++) {
		if (!peer_installed(all[i].program))
			table_skip(all[i].name, "not installed");
		else if (begin(&all[i], &ways[count], origin))
			count++;
		else
			table_skip(all[i].name, "cannot run here");
	}
	return count;
}

#define ALL(list) (list), sizeof(list) / sizeof(*(list))

int peers_begin(bench_way *ways, int origin)
{
	table_title("peers");
	return begin_all(ALL(peers), ways, origin);
}

int route_peers_begin(bench_way *ways, int origin)
{
	return begin_all(ALL(route_peers), ways, origin);
}

void peers_end(bench_way *ways, int count)
{
	for (int i = 0; i < count; i++)
		end(ways[i].pid);
}
