/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a secret must not be: in the environment, the arguments and the memory
 * of the box's processes, in the box's own file systems, in the workspace and
 * in the state directory. Looked for from outside, because a box that is told
 * what to look for has it. Bounded: what was not looked at is unknown. What is
 * read on the way may hold the secret and is wiped. Spec: proc_pid_maps(5),
 * proc_pid_mem(5), the kernel's admin-guide/mm/pagemap.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/secret.h"
#include "verify/internal.h"

#define MIN_SECRET 8
#define MAX_SECRET 8192
#define CHUNK (256u * 1024)
#define MAX_BYTES (2ull << 30)
#define MAX_ENTRIES 200000u
#define MAX_DEPTH 48
#define PAGE 4096

/* One place that is looked through for one secret. */
typedef struct search {
	const ab_verify_secret *secret;
	uint64_t deadline, bytes;
	uint32_t entries;
	uint8_t *chunk; /* CHUNK bytes and what a match needs before them */
	bool is_hidden; /* pages that are not read may hold something */
	bool is_cut;	/* not everything was looked at */
	char *found;	/* owned: where */
	bool nomem;
} search;

int32_t agentbox_verify_options_add_secret(agentbox_verify_options *o,
					   const char *name, int32_t fd,
					   agentbox_error **err)
{
	ab_verify_secret *s;
	char last = '\n';
	ssize_t n;

	if (!o || !name || !*name || fd < 0)
		return ab_error_set(err, AGENTBOX_EINVAL, "secret",
				    "options or name is NULL, or no "
				    "descriptor");
	if (o->secret_count == AB_MAX_VERIFY_SECRETS)
		return ab_error_set(err, AGENTBOX_ELIMIT, "secret",
				    "more than %d secrets",
				    AB_MAX_VERIFY_SECRETS);
	s = &o->secrets[o->secret_count];
	s->name = ab_strdup(name);
	s->value = ab_secret_new(MAX_SECRET + 1);
	n = s->value ? pread(fd, s->value, MAX_SECRET + 1, 0) : -1;
	while (n > 0 && (last == '\n' || last == '\r')) {
		last = ((const char *)s->value)[n - 1];
		n -= last == '\n' || last == '\r';
	}
	if (s->name && s->value && n >= MIN_SECRET && n <= MAX_SECRET) {
		s->size = (size_t)n;
		o->secret_count++;
		return 0;
	}
	bool nomem = !s->name || !s->value;
	free(ab_steal(&s->name));
	ab_secret_free(ab_steal(&s->value));
	return nomem ? ab_error_nomem(err)
		     : ab_error_set(err, AGENTBOX_EINVAL, "secret",
				    "secret '%s' cannot be read, or has not "
				    "%d to %d bytes", name, MIN_SECRET,
				    MAX_SECRET);
}

static void tell_found(search *s, const char *where)
{
	if (s->found)
		return;
	s->found = ab_strdup(where);
	s->nomem |= !s->found;
}

/* False: enough. */
static bool may_go_on(search *s)
{
	if (s->found || s->nomem)
		return false;
	if (s->bytes < MAX_BYTES && s->entries < MAX_ENTRIES &&
	    ab_clock_boot_ns() < s->deadline)
		return true;
	s->is_cut = true;
	return false;
}

/*
 * From `at` up to `end` of a file, or of a memory, whose pages may be such
 * that nobody reads them (proc_pid_mem(5)): these are passed over one by one,
 * and counted.
 */
static bool is_in_file(search *s, int fd, uint64_t at, uint64_t end,
		       bool is_memory)
{
	size_t kept = 0, keep = s->secret->size - 1;

	while (at < end && may_go_on(s)) {
		size_t want = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		ssize_t n = pread(fd, s->chunk + kept, want, (off_t)at);

		if (n < 0 && is_memory && errno == EIO) {
			s->is_cut |= s->is_hidden;
			s->entries++;
			at += PAGE;
			kept = 0;
			continue;
		}
		if (n < 0)
			s->is_cut = true;
		if (n <= 0)
			return false;
		s->bytes += (uint64_t)n;
		at += (uint64_t)n;
		kept += (size_t)n;
		if (memmem(s->chunk, kept, s->secret->value, s->secret->size))
			return true;
		if (kept > keep) {
			memmove(s->chunk, s->chunk + kept - keep, keep);
			kept = keep;
		}
	}
	return false;
}

/* --- processes ----------------------------------------------------------- */

/*
 * A process that has ended holds nothing; of any other it is not known, but of
 * our own, which are given no secret and are nobody's to read.
 */
static void note_unread(const ab_verify_run *run, search *s, const ab_proc *p,
			int sys_errno)
{
	bool is_ours = p->pid == run->walls.holder || p->pid == run->first ||
		       p->pid == run->launcher || p->pid == run->prober;
	bool is_refused = sys_errno == EACCES || sys_errno == EPERM;

	s->is_cut |= !ab_proc_is_gone(sys_errno) && !(is_ours && is_refused);
}

static void look_at_text(const ab_verify_run *run, search *s,
			 const ab_proc *p, const char *name)
{
	char path[64], where[96];
	ab_autofd int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)p->pid, name);
	fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	snprintf(where, sizeof(where), "%s of process %d of the box", name,
		 (int)p->pid_inside);
	if (fd < 0)
		note_unread(run, s, p, errno);
	else if (is_in_file(s, fd, 0, UINT32_MAX, false))
		tell_found(s, where);
}

/* One of a process's mappings: proc_pid_maps(5), proc_pid_smaps(5). */
typedef struct mapping {
	uint64_t from, to;
	bool is_readable, is_writable, is_shared, is_secret;
	bool has_counts; /* else the next three are not known */
	bool has_pages, has_own, is_swapped;
} mapping;

static bool is_header(const char *line, mapping *m)
{
	char *end;
	uint64_t from = strtoull(line, &end, 16);

	if (end == line || *end != '-')
		return false;
	*m = (mapping){ .from = from };
	m->to = strtoull(end + 1, &end, 16);
	if (end[0] != ' ' || strcspn(end + 1, " \n") != 4)
		return false;
	m->is_readable = end[1] == 'r';
	m->is_writable = end[2] == 'w';
	m->is_shared = end[4] == 's';
	m->is_secret = memmem(end, strcspn(end, "\n"), "/secretmem",
			      strlen("/secretmem")) != NULL;
	return true;
}

static void take_count(const char *line, mapping *m)
{
	static const char rss[] = "Rss:", own[] = "Anonymous:",
			  swap[] = "Swap:";

	if (!strncmp(line, rss, strlen(rss))) {
		m->has_counts = true;
		m->has_pages = strtoull(line + strlen(rss), NULL, 10) != 0;
	} else if (!strncmp(line, own, strlen(own))) {
		m->has_own = strtoull(line + strlen(own), NULL, 10) != 0;
	} else if (!strncmp(line, swap, strlen(swap))) {
		m->is_swapped = strtoull(line + strlen(swap), NULL, 10) != 0;
	}
}

/* The next of the list; false: there is none. *at goes on. */
static bool next_mapping(const char **at, mapping *m)
{
	bool has_one = false;
	mapping other;

	for (const char *line = *at; *line; line = *at) {
		if (!is_header(line, has_one ? &other : m))
			take_count(line, m);
		else if (has_one)
			return true;
		else
			has_one = true;
		*at = line + strcspn(line, "\n");
		*at += **at == '\n';
	}
	return has_one;
}

/* What is only a file's is not: a file of the box's is looked at as such. */
static bool may_hold(const mapping *m)
{
	if (!m->has_counts)
		return true;
	return m->is_swapped ||
	       (m->has_pages && (m->is_writable || m->is_shared || m->has_own));
}

/* linux/fs.h as of 6.7 */
struct scan_region {
	uint64_t start, end, categories;
};
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages,
		category_inverted, category_mask, category_anyof_mask,
		return_mask;
};
#define SCAN_PRESENT (1u << 3)
#define SCAN_SWAPPED (1u << 4)
#define SCAN _IOWR('f', 16, struct scan_arg)

/*
 * The next pages of a private mapping that were ever touched: of gigabytes
 * that a program has only reserved nothing has to be read. What no kernel
 * tells is taken for touched.
 */
static bool next_pages(int pagemap, uint64_t from, const mapping *m,
		       struct scan_region *pages)
{
	/* no category is returned: what lies side by side is one region */
	struct scan_arg arg = {
		.size = sizeof(arg),
		.start = from,
		.end = m->to,
		.vec = (uintptr_t)pages,
		.vec_len = 1,
		.category_anyof_mask = SCAN_PRESENT | SCAN_SWAPPED,
	};
	int n = pagemap < 0 || m->is_shared ? -1 : ioctl(pagemap, SCAN, &arg);

	if (n < 0)
		*pages = (struct scan_region){ .start = from, .end = m->to };
	return n < 0 ? from < m->to : n == 1;
}

static bool is_in_mapping(search *s, int mem, int pagemap, const mapping *m)
{
	struct scan_region pages;

	for (uint64_t at = m->from;
	     may_go_on(s) && next_pages(pagemap, at, m, &pages); at = pages.end)
		if (is_in_file(s, mem, pages.start, pages.end, true))
			return true;
	return false;
}

/*
 * Whatever is in memory, whether or not the process can read or write it now.
 * What memfd_secret(2) gave is read by nobody, and what may not be read not on
 * every kernel: not known.
 */
static void look_at_memory(const ab_verify_run *run, search *s,
			   const ab_proc *p)
{
	int sys_errno;
	ab_autofree char *maps = ab_proc_text(p->pid, "smaps", &sys_errno);
	char path[64], where[96];
	ab_autofd int fd = -1, pagemap = -1;
	const char *at;
	mapping m;

	/* a kernel may have none */
	if (!maps)
		maps = ab_proc_text(p->pid, "maps", &sys_errno);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)p->pid);
	snprintf(where, sizeof(where), "the memory of process %d of the box",
		 (int)p->pid_inside);
	fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	if (!maps || fd < 0) {
		note_unread(run, s, p, maps ? errno : sys_errno);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)p->pid);
	pagemap = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	for (at = maps; may_go_on(s) && next_mapping(&at, &m);) {
		s->is_hidden = !m.is_readable;
		s->is_cut |= m.is_secret;
		if (may_hold(&m) && is_in_mapping(s, fd, pagemap, &m))
			tell_found(s, where);
	}
}

static void look_at_environment(ab_verify_run *run, search *s)
{
	for (size_t i = 0; i < run->proc_count && may_go_on(s); i++) {
		look_at_text(run, s, &run->procs[i], "environ");
		look_at_text(run, s, &run->procs[i], "cmdline");
	}
}

static void look_at_memories(ab_verify_run *run, search *s)
{
	for (size_t i = 0; i < run->proc_count && may_go_on(s); i++)
		look_at_memory(run, s, &run->procs[i]);
}

/* --- files --------------------------------------------------------------- */

static void look_at_dir(search *s, int fd, const char *path, int depth);

static void look_at_entry(search *s, int dir_fd, const char *name,
			  const char *path, int depth)
{
	ab_autofree char *below = ab_asprintf("%s/%s", path, name);
	struct stat st;
	ab_autofd int fd = -1;

	s->entries++;
	s->nomem |= !below;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW)) {
		s->is_cut |= errno != ENOENT;
		return;
	}
	if (!below || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return;
	fd = ab_fd_lift(openat(dir_fd, name,
			       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				       O_CLOEXEC));
	if (fd < 0 || fstat(fd, &st)) {
		s->is_cut |= errno != ENOENT;
		return;
	}
	if (S_ISDIR(st.st_mode))
		look_at_dir(s, ab_steal_fd(&fd), below, depth + 1);
	else if (S_ISREG(st.st_mode) &&
		 is_in_file(s, fd, 0, (uint64_t)st.st_size, false))
		tell_found(s, below);
}

/* Takes fd. */
static void look_at_dir(search *s, int fd, const char *path, int depth)
{
	DIR *dir = depth > MAX_DEPTH ? NULL : fdopendir(fd);
	struct dirent *e;
	int error = 0;

	if (!dir) {
		s->is_cut = true;
		close(fd);
		return;
	}
	while (may_go_on(s) && (e = ab_fd_next(dir, &error)))
		look_at_entry(s, dirfd(dir), e->d_name, path, depth);
	s->is_cut |= error != 0;
	closedir(dir);
}

static void look_at_tree(search *s, const char *open_as, const char *name)
{
	int fd = ab_fd_lift(
		open(open_as, O_RDONLY | O_DIRECTORY | O_CLOEXEC));

	if (fd >= 0)
		look_at_dir(s, fd, name, 0);
	else if (errno != ENOENT)
		s->is_cut = true;
}

/* What the box can have written to, as it sees it; and our own state. */
static void look_at_disk(ab_verify_run *run, search *s)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");
	const char *state = run->state;

	for (size_t i = 0; i < json_array_size(mounts) && may_go_on(s); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *at = json_string_value(json_object_get(m, "at"));
		const char *kind =
			json_string_value(json_object_get(m, "kind"));
		const char *access =
			json_string_value(json_object_get(m, "access"));
		ab_autofree char *path = NULL;
		bool is_dev = kind && !strcmp(kind, "dev");
		bool is_bind = kind && !strcmp(kind, "bind") && access &&
			       !strcmp(access, "write");

		if (!at || !kind ||
		    !(is_bind || is_dev || !strcmp(kind, "tmpfs")))
			continue;
		path = ab_asprintf("/proc/%d/root%s%s", (int)run->prober, at,
				   is_dev ? "/shm" : "");
		if (path)
			look_at_tree(s, path, at);
		else
			s->nomem = true;
	}
	if (state && may_go_on(s))
		look_at_tree(s, state, state);
}

/* --- all of it ----------------------------------------------------------- */

static const struct place {
	const char *name, *tried;
	void (*look)(ab_verify_run *run, search *s);
} places[] = {
	{ "environment", "look for it in environments and arguments",
	  look_at_environment },
	{ "memory", "look for it in the memory of the box's processes",
	  look_at_memories },
	{ "disk", "look for it in the box's files and the state directory",
	  look_at_disk },
};

static void look_for(ab_verify_run *run, search *s, const struct place *p)
{
	ab_autofree char *id =
		ab_asprintf("secrets.%s.%s", s->secret->name, p->name);
	uint32_t verdict;

	if (run->prober)
		p->look(run, s);
	else
		s->is_cut = true;
	verdict = s->found     ? AB_VERDICT_MISSING
		  : s->is_cut ? AB_VERDICT_UNKNOWN
			      : AB_VERDICT_PASS;
	if (s->nomem || !id)
		run->report->nomem = true;
	else
		ab_verify_add(run->report, id, "secrets", p->tried, true,
			      verdict,
			      s->found ? ab_asprintf("it is in %s", s->found)
				       : ab_strdup(s->is_cut
						   ? "not all was looked at"
						   : "it is not there"),
			      ab_strdup(s->found ? "nothing" : "secrets"));
	free(ab_steal(&s->found));
}

void ab_verify_secrets(ab_verify_run *run)
{
	uint8_t *chunk;

	if (!run->options || !run->options->secret_count)
		return;
	chunk = ab_calloc(1, CHUNK + MAX_SECRET);
	if (!chunk) {
		run->report->nomem = true;
		return;
	}
	for (size_t i = 0; i < run->options->secret_count; i++) {
		for (size_t k = 0; k < AB_ARRAY_LEN(places); k++) {
			search s = { .secret = &run->options->secrets[i],
				     .deadline = run->deadline,
				     .chunk = chunk };

			look_for(run, &s, &places[k]);
		}
	}
	explicit_bzero(chunk, CHUNK + MAX_SECRET);
	free(chunk);
}
