/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an agent does who knows that the box's walls are about to be tried, and
 * would have one that is missing look as if it stood, or the other way round.
 * Spec: tests/e2e/attacker.c, verify_agent.c.
 */
#include "attacker.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void say(const char *text)
{
	printf("%s\n", text);
	fflush(stdout);
}

static pid_t youngest(void)
{
	pid_t last = 0;
	struct dirent *e;
	DIR *proc = opendir("/proc");

	while (proc && (e = readdir(proc)))
		last = atoi(e->d_name) > last ? atoi(e->d_name) : last;
	if (proc)
		closedir(proc);
	return last;
}

/*
 * Sends a signal to every process as soon as there is one of that number:
 * those that live for a moment only are not to be found in /proc.
 */
static long do_signal_next(char **argv)
{
	time_t end = time(NULL) + number(argv[1]);

	say("looking");
	while (time(NULL) < end) {
		pid_t last = youngest();

		for (int i = 0; i < 400; i++)
			kill(last + 1 + i % 4, (int)number(argv[0]));
	}
	return 0;
}

static void set_modes(char **dirs, mode_t mode)
{
	for (; *dirs; dirs++)
		chmod(*dirs, mode);
}

/*
 * Closes directories of its own as soon as somebody makes a file there, and
 * opens them a moment later: who looks whether a file can be made, and then
 * makes something else, is refused that.
 */
static long do_close_after_file(char **argv)
{
	time_t end = time(NULL) + number(argv[0]);
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char events[4096];

	for (char **dir = argv + 1; *dir; dir++) {
		if (inotify_add_watch(fd, *dir, IN_CREATE) < 0)
			return 98;
	}
	say("looking");
	while (time(NULL) < end) {
		for (int i = 0; i < 100000; i++) {
			if (read(fd, events, sizeof(events)) <= 0)
				continue;
			set_modes(argv + 1, 0555);
			usleep(100);
			set_modes(argv + 1, 0755);
		}
	}
	return 0;
}

/* Takes every process that the box may have, and keeps them. */
static long do_take_processes(char **argv)
{
	long most = number(argv[0]);
	pid_t pid = 1;

	while (pid > 0 && most-- > 0) {
		pid = fork();
		if (pid == 0) {
			sleep(300);
			_exit(0);
		}
	}
	say(pid < 0 && errno == EAGAIN ? "looking" : "all");
	sleep(300);
	return 0;
}

const struct attack attacks_verify[] = {
	{ "do-signal-next", 2, do_signal_next },
	{ "do-close-after-file", 2, do_close_after_file },
	{ "do-take-processes", 1, do_take_processes },
	{ NULL, 0, NULL },
};
