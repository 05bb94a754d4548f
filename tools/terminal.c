/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The terminal the tool runs on. While a box has a terminal of its own, ours
 * only carries bytes (raw); it is put back on every way out, also when a
 * signal that means a defect kills the tool. Only SIGKILL leaves it raw.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "session.h"

/* Touched by the crash handler: plain words and one struct set before. */
static struct termios saved;
static volatile sig_atomic_t raw_fd = -1;

static const int crashes[] = { SIGSEGV, SIGBUS,	 SIGABRT, SIGFPE,
			       SIGILL,	SIGSYS,	 SIGTRAP, SIGXCPU,
			       SIGXFSZ, SIGALRM, SIGPROF, SIGVTALRM };

bool terminal_foreground(int fd)
{
	pid_t group = tcgetpgrp(fd);

	/* Not our controlling terminal: no job control stands in the way. */
	return group < 0 || group == getpgrp();
}

void terminal_restore(void)
{
	int keep = errno;

	if (raw_fd >= 0)
		tcsetattr(raw_fd, TCSADRAIN, &saved);
	raw_fd = -1;
	errno = keep;
}

bool terminal_is_raw(void)
{
	return raw_fd >= 0;
}

static void crash(int signum)
{
	if (raw_fd >= 0)
		tcsetattr(raw_fd, TCSANOW, &saved);
	raise(signum); /* SA_RESETHAND: now it kills */
}

static void catch_crashes(void)
{
	struct sigaction sa = { .sa_handler = crash,
				.sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i], &sa, NULL);
}

bool terminal_raw(int fd)
{
	struct termios raw;

	if (raw_fd >= 0)
		return true;
	if (tcgetattr(fd, &saved) < 0)
		return false;
	raw = saved;
	cfmakeraw(&raw);
	catch_crashes();
	raw_fd = fd;
	if (tcsetattr(fd, TCSADRAIN, &raw) == 0)
		return true;
	raw_fd = -1;
	return false;
}

void terminal_size(uint32_t *rows, uint32_t *columns)
{
	struct winsize size;

	*rows = 24;
	*columns = 80;
	for (int fd = 0; fd <= 2; fd++) {
		if (ioctl(fd, TIOCGWINSZ, &size) < 0 || !size.ws_row ||
		    !size.ws_col)
			continue;
		*rows = size.ws_row;
		*columns = size.ws_col;
		return;
	}
}

/* proc(5): SigIgn of /proc/PID/status; a shell at its prompt ignores it. */
static bool ignores_suspend(pid_t pid)
{
	char path[64], line[256];
	unsigned long long mask = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "SigIgn:", 7))
			mask = strtoull(line + 7, NULL, 16);
	if (f)
		fclose(f);
	return mask >> (SIGTSTP - 1) & 1;
}

bool terminal_suspends(int master, char c)
{
	struct termios in;
	pid_t leader = tcgetsid(master);

	/* What the box calls its key is its own matter: with `stty susp e` it
	   would put a person into his shell in the middle of a line. */
	if (raw_fd < 0 || !(saved.c_lflag & ISIG) ||
	    (unsigned char)c != saved.c_cc[VSUSP])
		return false;
	/* tty_ioctl(4): asked at the master, these answer for the slave. */
	if (tcgetattr(master, &in) < 0 || !(in.c_lflag & ISIG) ||
	    in.c_cc[VSUSP] == _POSIX_VDISABLE ||
	    (unsigned char)c != in.c_cc[VSUSP])
		return false;
	return leader > 0 && tcgetpgrp(master) == leader &&
	       !ignores_suspend(leader);
}

/* termios(3): as the key does without us, unless NOFLSH says otherwise. */
void terminal_flush(void)
{
	if (raw_fd >= 0 && !(saved.c_lflag & NOFLSH))
		tcflush(raw_fd, TCIFLUSH);
}
