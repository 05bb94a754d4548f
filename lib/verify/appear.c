/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protected names that appear: to try what takes them away is to make them,
 * and nothing is made in the workspace of the box that is tried. So the second
 * box (other.c) has an empty workspace of its own and the same `protect`; in
 * it agentbox-verify makes a name for each pattern that its plan watches, and
 * when it has ended the host looks for them from outside. Everything is taken
 * away again, what was moved to the quarantine as well. Spec: internal.h.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
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
#include "base/json.h"
#include "path/glob.h"
#include "path/lexical.h"
#include "verify/ask.h"

/* No pattern is about it: it shows that the two sides look at one place. */
#define KEPT "agentbox-verify-kept"
/* What stands for a wildcard. */
#define ANY "any"
/* Of where the workspace is, in each field. */
#define AT_ROOM 64
#define NAMES_A_LINE 100u /* MAX_ARGS of libexec/verify/main.c */
#define MAX_NAMES 1000u
#define MAX_ANSWER 16384u /* a few lines, and one path in %XX */

typedef struct names {
	char *items[MAX_NAMES]; /* owned, in the workspace */
	size_t count, patterns; /* of so many there is a name for `count` */
} names;

static void names_end(names *n)
{
	if (n)
		for (size_t i = 0; i < n->count; i++)
			free(n->items[i]);
	free(n);
}

bool ab_appear_is_wanted(const ab_verify_run *run)
{
	return json_array_size(json_object_get(run->plan, "watches")) > 0;
}

/* --- where ---------------------------------------------------------------- */

/* The state directory no box may see: lib/walls/tree.c. */
int ab_appear_lay(ab_verify_run *run)
{
	char path[sizeof(run->scratch)] = "", id[AB_ID_SIZE];
	int r = ab_id_new(id);

	if (r)
		return r;
	snprintf(path, sizeof(path), AB_VERIFY_SCRATCH_DIR "/"
		 AB_VERIFY_SCRATCH "%.16s", id);
	/* nobody's who guessed the name: it must be a new one */
	if (mkdir(path, 0700))
		return -errno;
	memcpy(run->scratch, path, sizeof(path));
	run->scratch_fd = ab_leftover_hold(AT_FDCWD, path);
	return 0;
}

void ab_appear_end(ab_verify_run *run)
{
	ab_autofd int dir = -1;

	/* it is called once more when all is over */
	if (!run->scratch[0])
		return;
	ab_leftover_remove(AT_FDCWD, run->scratch);
	ab_cleanup_fd(&run->scratch_fd);
	run->scratch[0] = '\0';
	if (!run->other_id[0] || run->bait.state_fd < 0)
		return;
	dir = ab_fd_lift(openat(run->bait.state_fd, "quarantine", O_RDONLY |
				O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (dir >= 0)
		ab_leftover_remove(dir, run->other_id);
}

/* --- which ---------------------------------------------------------------- */

/* A name that the pattern matches, or NULL: none that is found this way. */
static char *name_for(const char *pattern)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(AB_MAX_PATH);
	const char *name;

	for (const char *at = pattern; b && *at;) {
		size_t wild = strspn(at, "*?");

		if (wild)
			ab_bytes_appendf(b, ANY);
		else
			ab_bytes_append_char(b, *at);
		at += wild ? wild : 1;
	}
	if (!b || !ab_bytes_ok(b))
		return NULL;
	name = agentbox_bytes_get_data(b);
	return ab_glob_match(pattern, name, 0) ? ab_strdup(name) : NULL;
}

/* One of the two is above the other: both cannot be files. */
static bool is_in_the_way(const names *n, const char *name)
{
	for (size_t i = 0; i < n->count; i++)
		if (ab_path_is_below(name, n->items[i]) ||
		    ab_path_is_below(n->items[i], name))
			return true;
	return false;
}

/* Up to what fits a program's input. */
static names *list_names(const json_t *plan)
{
	const json_t *watches = json_object_get(plan, "watches");
	names *n = ab_new(names);
	size_t bytes = 0;

	if (n)
		n->patterns = json_array_size(watches);
	for (size_t i = 0; n && i < json_array_size(watches); i++) {
		char *name = name_for(json_string_value(
			json_array_get(watches, i)));
		size_t size = name ? 3 * strlen(name) + AT_ROOM : 0;

		if (!name || is_in_the_way(n, name) || n->count == MAX_NAMES ||
		    bytes + size > AB_VERIFY_MAX_INPUT / 2) {
			free(name);
			continue;
		}
		bytes += size;
		n->items[n->count++] = name;
	}
	return n;
}

/* --- in the box ----------------------------------------------------------- */

/* The lines of its input; the last of all is the name that stays. */
static agentbox_bytes *write_lines(const char *at, const names *n,
				   size_t *lines)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(AB_VERIFY_MAX_INPUT);

	*lines = 0;
	for (size_t i = 0; b && i <= n->count; i++) {
		const char *name = i < n->count ? n->items[i] : KEPT;

		if (i % NAMES_A_LINE == 0)
			ab_bytes_appendf(b, "%s%zu\tplant", i ? "\n" : "",
					 (*lines)++);
		ab_bytes_appendf(b, "\t");
		ab_verify_put_field(b, at, strlen(at));
		ab_verify_put_field(b, "/", 1);
		ab_verify_put_field(b, name, strlen(name));
	}
	if (b)
		ab_bytes_appendf(b, "\n");
	return b && ab_bytes_ok(b) ? ab_steal(&b) : NULL;
}

/* Was every line answered with "ok"? What was not is said in `why`, owned. */
static bool is_made(char *said, size_t lines, char **why)
{
	char *line = strsep(&said, "\n");

	for (size_t i = 0; line && i < lines; i++) {
		char *how, *text;

		line = strsep(&said, "\n");
		how = line ? strchr(line, '\t') : NULL;
		text = how ? strchr(how + 1, '\t') : NULL;
		if (!text)
			return false;
		*text++ = '\0';
		if (strcmp(how + 1, "ok") == 0)
			continue;
		ab_verify_decode(text);
		*why = ab_asprintf("no name can be made: %s", text);
		return false;
	}
	/* the last line has its end as well */
	return line && said;
}

/* The program has all of its input before it begins, and says little. */
static int start(ab_verify_run *run, const agentbox_bytes *input, int *to,
		 int *from, agentbox_process **out)
{
	agentbox_command *c = NULL;
	ab_autofd int in = -1, said = -1;
	size_t n = agentbox_bytes_get_size(input);
	int pair[2];
	int32_t rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	in = pair[0];
	*to = pair[1];
	if (send(*to, agentbox_bytes_get_data(input), n,
		 MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)n)
		return -EMSGSIZE;
	if (shutdown(*to, SHUT_WR))
		return -errno;
	if (pipe2(pair, O_CLOEXEC))
		return -errno;
	*from = pair[0];
	said = pair[1];
	rc = ab_verify_make_command(run->context, in, said, &c, NULL);
	if (rc == 0)
		rc = agentbox_sandbox_spawn(run->other, c, out, NULL);
	agentbox_command_free(c);
	return rc ? -EIO : 0;
}

/* Up to its end, which what carries it may be late with. -1: there is none. */
static ssize_t hear_all(int fd, char *said, uint64_t deadline)
{
	size_t n = 0;

	while (n < MAX_ANSWER &&
	       ab_fd_poll(fd, POLLIN, ab_clock_left_ms(deadline)) > 0) {
		ssize_t r = read(fd, said + n, MAX_ANSWER - n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -1 : (ssize_t)n;
		n += (size_t)r;
	}
	return -1;
}

/* In time, and before who asked wants no more of it. */
static bool has_ended(const ab_verify_run *run, agentbox_process *process,
		      uint64_t deadline)
{
	struct pollfd fds[] = {
		{ .fd = agentbox_process_get_fd(process), .events = POLLIN },
		{ .fd = run->options ? run->options->stop_fd : -1,
		  .events = POLLIN },
	};

	return ab_fd_poll_many(fds, AB_ARRAY_LEN(fds),
			       ab_clock_left_ms(deadline)) > 0 &&
	       !fds[1].revents &&
	       agentbox_process_wait(process, ab_clock_left_ms(deadline),
				     NULL) == 0;
}

/* NULL: every name was made and the command has ended; else why not, owned. */
static char *plant(ab_verify_run *run, const names *n, uint64_t deadline)
{
	agentbox_process *process = NULL;
	ab_auto(agentbox_bytes) *input = NULL;
	ab_autofree char *said = ab_realloc(NULL, MAX_ANSWER + 1, 1);
	char *why = NULL;
	ab_autofd int to = -1, from = -1;
	ssize_t size = -1;
	ab_box_walls walls;
	size_t lines;

	ab_box_walls_of(run->other, &walls);
	if (walls.workspace)
		input = write_lines(walls.workspace, n, &lines);
	if (said && input && start(run, input, &to, &from, &process) == 0 &&
	    has_ended(run, process, deadline))
		size = hear_all(from, said, deadline);
	agentbox_process_free(process);
	if (size > 0)
		said[size] = '\0';
	if (size > 0 && is_made(said, lines, &why))
		return NULL;
	return why ? why : ab_strdup("agentbox-verify did not answer in the "
				     "second box");
}

/* --- from outside --------------------------------------------------------- */

static bool is_there(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR);
}

static void tell(ab_verify_run *run, uint32_t verdict, char *result,
		 const char *answer)
{
	ab_verify_add(run->report, "protect.appearing", "protect",
		      "make protected names in a second box of the same "
		      "/protect, with a workspace of its own",
		      false, verdict, result, ab_strdup(answer));
}

static void look(ab_verify_run *run, const names *n)
{
	ab_autofd int dir = ab_fd_lift(open(run->scratch, O_RDONLY |
					    O_DIRECTORY | O_NOFOLLOW |
					    O_CLOEXEC));
	const char *first = NULL;
	size_t left = 0;

	if (dir < 0 || !is_there(dir, KEPT)) {
		tell(run, AB_VERDICT_UNKNOWN,
		     ab_strdup("what was made is not where it should be"),
		     "not known");
		return;
	}
	for (size_t i = 0; i < n->count; i++) {
		if (!is_there(dir, n->items[i]))
			continue;
		left++;
		first = first ? first : n->items[i];
	}
	if (left)
		tell(run, AB_VERDICT_MISSING,
		     ab_asprintf("%zu of %zu names stayed, the first is %s",
				 left, n->count, first), "nothing");
	else
		tell(run, AB_VERDICT_PASS,
		     ab_asprintf("of %zu of %zu patterns a name was made and "
				 "moved away", n->count, n->patterns),
		     "agentbox-init");
}

void ab_appear_try(ab_verify_run *run, uint64_t deadline)
{
	ab_auto(json_t) *plan = NULL;
	names *n = NULL;
	char *why;

	if (!ab_appear_is_wanted(run))
		return;
	if (!run->scratch[0] || !run->other ||
	    ab_box_plan(run->other, &plan, NULL)) {
		tell(run, AB_VERDICT_UNKNOWN,
		     ab_strdup("no second box with a workspace can be raised"),
		     "not known");
		return;
	}
	n = list_names(plan);
	why = n && n->count ? plant(run, n, deadline)
			    : ab_strdup("no name is watched");
	if (why)
		tell(run, AB_VERDICT_UNKNOWN, why, "not known");
	else
		look(run, n);
	names_end(n);
}
