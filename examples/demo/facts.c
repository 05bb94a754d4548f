/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the host sees for itself, in /proc and /sys: the demo does not take
 * the library's word for it that nothing is left.
 */
#include "demo.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double facts_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* State, parent and start time of a process (proc_pid_stat(5)). */
static bool look_up(pid_t pid, char *state, pid_t *parent,
		    unsigned long long *start)
{
	char path[64], text[1024];
	FILE *f;
	size_t n;
	char *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	/* the name in brackets may hold anything: count from its end */
	p = strrchr(text, ')');
	if (!p || !p[1] || !p[2])
		return false;
	*state = p[2];
	*parent = (pid_t)strtol(p + 3, NULL, 10);
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	*start = p ? strtoull(p + 1, NULL, 10) : 0;
	return true;
}

static bool is_below_us(pid_t pid)
{
	unsigned long long start;
	char state;

	for (int hops = 0; hops < 64 && pid > 1; hops++) {
		if (!look_up(pid, &state, &pid, &start))
			return false;
		if (pid == getpid())
			return true;
	}
	return false;
}

void facts_descendants(struct process_set *set)
{
	const size_t most = sizeof(set->item) / sizeof(set->item[0]);
	DIR *dir = opendir("/proc");
	struct dirent *e;

	set->count = 0;
	while (dir && set->count < most && (e = readdir(dir))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10), parent;
		unsigned long long start;
		char state;

		if (pid > 0 && look_up(pid, &state, &parent, &start) &&
		    state != 'Z' && is_below_us(pid)) {
			set->item[set->count].pid = pid;
			set->item[set->count++].start = start;
		}
	}
	if (dir)
		closedir(dir);
}

size_t facts_alive(const struct process_set *set)
{
	size_t alive = 0;

	for (size_t i = 0; i < set->count; i++) {
		unsigned long long start;
		pid_t parent;
		char state;

		if (look_up(set->item[i].pid, &state, &parent, &start) &&
		    start == set->item[i].start)
			alive++;
	}
	return alive;
}

size_t facts_mounts(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	size_t n = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

size_t facts_entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	size_t n = 0;

	while (dir && (e = readdir(dir)))
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (dir)
		closedir(dir);
	return n;
}

size_t facts_fds(void)
{
	/* opendir's own is among them, each time */
	return facts_entries("/proc/self/fd");
}

/* nftw(3) takes no context: the program has one thread and one box. */
static const char *wanted;
static size_t found;

static int visit(const char *path, const struct stat *st, int kind,
		 struct FTW *at)
{
	(void)st;
	found += kind == FTW_D && strstr(path + at->base, wanted) != NULL;
	return 0;
}

size_t facts_cgroups(const char *id)
{
	wanted = id;
	found = 0;
	nftw("/sys/fs/cgroup", visit, 16, FTW_PHYS);
	return found;
}
