/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The box's mount table against the plan that its policy makes: nothing is
 * mounted that the plan does not mount, nothing is writable, may hold devices
 * or set-user-ID programs, or hears of the host's mounts that should not, and
 * what the plan hides or protects is hidden and protected. The table is read
 * in the host's /proc. Spec: proc_pid_mountinfo(5), lib/walls/report.c.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "path/lexical.h"
#include "path/resolve.h"
#include "verify/internal.h"

static const char table_probe[] = "mounts.table";
static const char table_tried[] = "compare the mount table with the plan";

typedef struct mount_row {
	char *device;			  /* borrowed from the text */
	char *at, *options, *tags, *type;
	char *settings;			  /* of the file system: "size=..." */
} mount_row;

/* mountinfo writes blanks and the like as \ooo. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		bool is_octal = p[0] == '\\' && p[1] >= '0' && p[1] <= '3';

		if (is_octal && p[2] && p[3]) {
			*to++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 +
				       (p[3] - '0'));
			p += 3;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/* One line, cut in place. */
static bool cut(char *line, mount_row *m)
{
	char *rest = strstr(line, " - "), *field;

	if (!rest)
		return false;
	*rest = '\0';
	m->type = rest + 3;
	/* the type, the device, the settings */
	m->settings = strrchr(m->type, ' ') ? strrchr(m->type, ' ') + 1 :
					      (char *)"";
	m->type[strcspn(m->type, " ")] = '\0';
	for (int i = 0; i < 6; i++) {
		field = strsep(&line, " ");
		if (!field || !*field)
			return false;
		if (i == 2)
			m->device = field;
		if (i == 4)
			m->at = field;
		if (i == 5)
			m->options = field;
	}
	m->tags = line ? line : (char *)"";
	unescape(m->at);
	return true;
}

static bool has_option(const char *options, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = options; *at;) {
		size_t len = strcspn(at, ",");

		if (len == n && strncmp(at, name, n) == 0)
			return true;
		at += len + (at[len] == ',');
	}
	return false;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* Of a minimal /dev and a /proc: libexec/init/dev.c. */
static bool is_usual(const char *at)
{
	static const char *const usual[] = {
		"/",	       "/dev",	      "/dev/null", "/dev/zero",
		"/dev/full",   "/dev/random", "/dev/urandom", "/dev/tty",
		"/dev/pts",    "/dev/shm",    "/dev/mqueue",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(usual); i++) {
		if (!strcmp(usual[i], at))
			return true;
	}
	return false;
}

static bool is_device(const char *at)
{
	return is_usual(at) && strncmp(at, "/dev/", 5) == 0 &&
	       strcmp(at, "/dev/shm") != 0 && strcmp(at, "/dev/mqueue") != 0;
}

/*
 * The step of the plan that a mount is of: the one at that very place, the
 * last one where there are several; else a tree above it, which may bring
 * mounts of its own along. NULL: none.
 */
static const json_t *step_of(const ab_verify_run *run, const char *at)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");
	const json_t *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *place = text_of(m, "at");
		size_t n = strlen(place);

		if (!strcmp(place, at) ? n >= longest
				       : !strcmp(text_of(m, "kind"), "bind") &&
						 n > longest &&
						 ab_path_is_below(at, place)) {
			best = m;
			longest = n;
		}
	}
	return best;
}

/* Is it to be a file system that was made for this box? */
static bool is_to_be_own(const json_t *step, const char *at)
{
	static const char *const kinds[] = { "tmpfs", "proc", "dev", "mqueue",
					     "secrets" };

	for (size_t i = 0; step && i < AB_ARRAY_LEN(kinds); i++) {
		if (!strcmp(text_of(step, "kind"), kinds[i]))
			return true;
	}
	return !step && (!is_device(at) || !strcmp(at, "/dev/pts"));
}

/* proc_pid_mountinfo(5), field 3: is a mount of the owner's of this device? */
static bool is_owners(const char *owners, const char *device)
{
	size_t n = strlen(device);

	for (const char *line = owners; *line;) {
		const char *end = strchrnul(line, '\n'), *at = line;

		for (int i = 0; at < end && i < 2; i++)
			at += strcspn(at, " \n") + 1;
		if (end > at && (size_t)(end - at) > n &&
		    !strncmp(at, device, n) && at[n] == ' ')
			return true;
		line = end + (*end == '\n');
	}
	return false;
}

/* The wall that keeps what no plan has from standing at a place. */
static const char *wall_of_place(const char *at)
{
	if (ab_path_is_below(at, "/proc"))
		return "proc";
	return ab_path_is_below(at, "/dev") ? "devices" : "rootfs";
}

/* Why a mount is not as the plan has it; owned; NULL: it is, or no memory. */
static char *judge(const ab_verify_run *run, const mount_row *m,
		   const char *owners, const char **wall, bool *nomem)
{
	const json_t *step = step_of(run, m->at);
	const char *why = NULL;
	char *text;

	*wall = "mounts";
	if (!step && !is_usual(m->at) && strcmp(m->at, "/proc") != 0) {
		*wall = wall_of_place(m->at);
		why = "is no mount of the plan";
	} else if (is_to_be_own(step, m->at) && is_owners(owners, m->device)) {
		*wall = wall_of_place(m->at);
		why = "is the host's own";
	} else if (strstr(m->tags, "master:") || strstr(m->tags, "shared:")) {
		why = "hears of the host's mounts";
	} else if (!strcmp(m->at, "/") && !has_option(m->options, "ro")) {
		*wall = "rootfs";
		why = "is writable";
	} else if (!is_device(m->at) && !has_option(m->options, "nodev")) {
		why = "may hold devices";
	} else if (!is_device(m->at) && !has_option(m->options, "nosuid")) {
		why = "may hold set-user-ID programs";
	} else if (step && !has_option(m->options, "ro") &&
		   (!strcmp(text_of(step, "access"), "read") ||
		    !strcmp(text_of(step, "kind"), "hide"))) {
		*wall = ab_verify_wall_of(step);
		why = "is writable";
	} else if (step && !strcmp(text_of(step, "kind"), "tmpfs") &&
		   strncmp(m->settings, "size=", 5) != 0 &&
		   !strstr(m->settings, ",size=")) {
		*wall = "limits";
		why = "is not bounded";
	} else if (step && json_is_false(json_object_get(step, "exec")) &&
		   !has_option(m->options, "noexec")) {
		why = "may hold programs to execute";
	}
	if (!why)
		return NULL;
	text = ab_asprintf("%s %s", m->at, why);
	*nomem |= !text;
	return text;
}

/* Steps that must be mounts of their own, else they do not hold. */
static bool is_needed(const char *kind)
{
	return !strcmp(kind, "hide") || !strcmp(kind, "protect") ||
	       !strcmp(kind, "pin");
}

static bool is_mounted(const mount_row *rows, size_t count, const char *at)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(rows[i].at, at))
			return true;
	}
	return false;
}

/* Is there something at a path of the box? 0, or an errno that says why not. */
static int look_at_path(const ab_verify_run *run, const char *at)
{
	ab_autofd int root = -1, fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)run->prober);
	root = ab_fd_lift(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (root < 0)
		return errno == ENOENT ? ESRCH : errno;
	/* what is there belongs to the agent: no link leads out */
	fd = ab_path_open_beneath(root, at + (*at == '/'),
				  O_PATH | O_NOFOLLOW, 0, 0);
	return fd < 0 ? -fd : 0;
}

/* What is planned and no mount of the table: is that right? */
static uint32_t judge_unmounted(const ab_verify_run *run, const json_t *step,
				char **result)
{
	const char *at = text_of(step, "at");
	int sys_errno = 0;

	if (!strcmp(text_of(step, "kind"), "hide"))
		sys_errno = look_at_path(run, at);
	/* nothing is there to be seen */
	if (sys_errno == ENOENT || sys_errno == ENOTDIR)
		return AB_VERDICT_PASS;
	*result = sys_errno ? ab_asprintf("%s: %s", at,
					  strerrordesc_np(sys_errno)) :
			      ab_asprintf("%s is not held by a mount", at);
	return sys_errno ? AB_VERDICT_UNKNOWN : AB_VERDICT_MISSING;
}

static void look_for_steps(ab_verify_run *run, const mount_row *rows,
			   size_t count)
{
	static const char probe[] = "mounts.protected";
	static const char tried[] =
		"look for the mounts of protected and hidden paths";
	const json_t *mounts = json_object_get(run->plan, "mounts");
	size_t held = 0;
	bool bad = false;

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		uint32_t verdict = AB_VERDICT_PASS;
		char *result = NULL;

		if (!is_needed(text_of(m, "kind")))
			continue;
		if (is_mounted(rows, count, text_of(m, "at")))
			held++;
		else
			verdict = judge_unmounted(run, m, &result);
		if (verdict == AB_VERDICT_PASS)
			continue;
		bad = true;
		ab_verify_add(run->report, probe, ab_verify_wall_of(m), tried,
			      true, verdict, result, ab_strdup("nothing"));
	}
	if (held && !bad)
		ab_verify_add(run->report, probe, "protect", tried, true,
			      AB_VERDICT_PASS,
			      ab_asprintf("%zu, each held by a mount", held),
			      ab_strdup("mounts"));
}

static size_t read_rows(char *text, mount_row **out)
{
	size_t count = 0, n = 0;
	mount_row *rows;

	for (const char *p = text; (p = strchr(p, '\n')); p++)
		n++;
	rows = ab_calloc(n + 1, sizeof(*rows));
	*out = rows;
	while (rows && text && *text) {
		char *line = strsep(&text, "\n");

		/* what is not understood may be any mount */
		if (count == n || !cut(line, &rows[count]))
			return 0;
		count++;
	}
	return count;
}

static void look_at_rows(ab_verify_run *run, const mount_row *rows,
			 size_t count, const char *owners)
{
	bool nomem = false, bad = false;

	for (size_t i = 0; i < count; i++) {
		const char *wall;
		char *why = judge(run, &rows[i], owners, &wall, &nomem);

		if (!why)
			continue;
		bad = true;
		ab_verify_add(run->report, table_probe, wall, table_tried,
			      true, AB_VERDICT_MISSING, why,
			      ab_strdup("nothing"));
	}
	run->report->nomem |= nomem;
	if (!bad && !nomem)
		ab_verify_add(run->report, table_probe, "mounts", table_tried,
			      true,
			      AB_VERDICT_PASS,
			      ab_asprintf("%zu mounts, each as planned", count),
			      ab_strdup("mounts"));
}

void ab_verify_table(ab_verify_run *run, char *mountinfo, const char *owners)
{
	ab_autofree mount_row *rows = NULL;
	size_t count = read_rows(mountinfo, &rows);

	if (!count) {
		ab_verify_tell(run, table_probe, "mounts", table_tried,
			       AB_VERDICT_UNKNOWN, "not to be found out",
			       "no memory, or a line that is none");
		return;
	}
	look_at_rows(run, rows, count, owners);
	look_for_steps(run, rows, count);
}

void ab_verify_mounts(ab_verify_run *run)
{
	ab_autofree char *text = NULL, *owners = NULL;
	int sys_errno = 0;

	/* a tier without a tree of its own has the host's */
	if (!(run->walls.expected & AB_WALL_ROOTFS)) {
		ab_verify_tell(run, table_probe, "mounts", table_tried,
			       AB_VERDICT_WEAKER, "the host's own mounts",
			       "landlock alone, where there is one");
		return;
	}
	text = ab_proc_text(run->prober, "mountinfo", &sys_errno);
	if (text)
		owners = ab_proc_text(getpid(), "mountinfo", &sys_errno);
	if (owners)
		ab_verify_table(run, text, owners);
	else
		ab_verify_tell(run, table_probe, "mounts", table_tried,
			       AB_VERDICT_UNKNOWN, "not to be found out",
			       strerrordesc_np(sys_errno));
}
