/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every subcommand needs: the context, the state directory, failures
 * told once with their exit status, output that notices when it is cut.
 * Specification: agentbox(1).
 */
#include "config.h"

#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

/* Drop ".", ".." and doubled slashes of an absolute path, in place. */
static void clean_path(char *path)
{
	char *to = path;

	for (const char *p = path; *p;) {
		size_t slash = strspn(p, "/");
		const char *name = p + slash;
		size_t n = strcspn(name, "/");
		if (n == 2 && name[0] == '.' && name[1] == '.') {
			while (to > path && *--to != '/')
				;
		} else if (n && !(n == 1 && name[0] == '.')) {
			*to++ = '/';
			memmove(to, name, n);
			to += n;
		}
		p = name + n;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

char *tool_absolute(const char *path)
{
	char *out = NULL;

	if (path[0] == '/') {
		out = strdup(path);
	} else {
		char *cwd = getcwd(NULL, 0);
		out = cwd ? text_format("%s/%s", cwd, path) : NULL;
		free(cwd);
	}
	if (out)
		clean_path(out);
	return out;
}

const char *tool_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	if (n == 1)
		return path[1] ? path : "";
	if (strncmp(path, top, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	return path + n;
}

/*
 * A home that is not absolute is no home: what is relative moves with cwd. Nor
 * is one that is not there, as that of many a service's user: it is not ours
 * to make.
 */
static char *default_state(void)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (state && state[0] == '/')
		return text_format("%s/agentbox", state);
	if (!home || home[0] != '/') {
		struct passwd *pw = getpwuid(geteuid());
		home = pw ? pw->pw_dir : NULL;
	}
	if (!home || home[0] != '/' || access(home, F_OK) < 0)
		return NULL;
	return text_format("%s/.local/state/agentbox", home);
}

void tool_make_state_parents(const tool *t)
{
	char *path = t->state ? strdup(t->state) : NULL;

	for (char *p = path ? strchr(path + 1, '/') : NULL; p;
	     p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			break;
		*p = '/';
	}
	free(path);
}

static void hear_log(void *data, int32_t level, const char *message)
{
	tool *t = data;

	/* one document may be read several times */
	if (level <= AGENTBOX_LOG_WARNING && t->last_warning &&
	    !strcmp(t->last_warning, message))
		return;
	if (level <= AGENTBOX_LOG_WARNING) {
		free(t->last_warning);
		t->last_warning = strdup(message);
		text_warning("%s", message);
	} else if (t->verbose) {
		text_note("%s", message);
	}
}

/*
 * A tool that was built and not installed has its helpers in the build tree;
 * owned, NULL when this is no build tree. The library judges who may write
 * there, as it does everywhere.
 */
static char *helpers_of_build(void)
{
	static const char *const tails[] = { "/tools/.libs", "/tools" };
	char *exe = realpath("/proc/self/exe", NULL);
	char *slash = exe ? strrchr(exe, '/') : NULL;
	char *dir = NULL;

	if (slash)
		*slash = '\0';
	for (size_t i = 0; slash && !dir && i < 2; i++) {
		size_t n = strlen(tails[i]), all = strlen(exe);
		if (all <= n || strcmp(exe + all - n, tails[i]) != 0)
			continue;
		exe[all - n] = '\0';
		char *mark = text_format("%s/config.status", exe);
		if (mark && access(mark, F_OK) == 0)
			dir = text_format("%s/libexec", exe);
		free(mark);
		break;
	}
	free(exe);
	return dir;
}

int tool_open(tool *t, const tool_args *args)
{
	const char *state = tool_get(args, "--state");
	const char *helpers = tool_get(args, "--helper-dir");
	agentbox_error *err = NULL;

	t->state_owned = state ? tool_absolute(state) : default_state();
	if (t->state_owned)
		clean_path(t->state_owned);
	t->state = t->state_owned;
	t->helper_dir_owned = helpers ? tool_absolute(helpers)
				      : helpers_of_build();
	if (agentbox_context_new(&t->context, &err) < 0 ||
	    agentbox_context_set_log(t->context, hear_log, t, &err) < 0)
		return tool_fail(t, err, NULL);
	if (t->state &&
	    agentbox_context_set_state_dir(t->context, t->state, &err) < 0)
		return tool_fail_as(t, TOOL_BAD_INPUT, err, "--state");
	if (t->helper_dir_owned &&
	    agentbox_context_set_helper_dir(t->context, t->helper_dir_owned,
					    &err) < 0)
		return tool_fail_as(t, TOOL_BAD_INPUT, err, "--helper-dir");
	return 0;
}

void tool_end(tool *t)
{
	agentbox_context_unref(t->context);
	free(t->state_owned);
	free(t->helper_dir_owned);
	free(t->last_warning);
}

int tool_status_of(int32_t code)
{
	static const struct {
		int32_t code;
		int status;
	} table[] = {
		{ AGENTBOX_OK, TOOL_OK },
		{ AGENTBOX_EPARSE, TOOL_BAD_INPUT },
		{ AGENTBOX_EPOLICY, TOOL_BAD_INPUT },
		{ AGENTBOX_ENOTFOUND, TOOL_NOT_FOUND },
		{ AGENTBOX_EACCES, TOOL_REFUSED },
		{ AGENTBOX_EDENIED, TOOL_REFUSED },
		{ AGENTBOX_ELIMIT, TOOL_REFUSED },
		{ AGENTBOX_EBUSY, TOOL_REFUSED },
		{ AGENTBOX_EEXIST, TOOL_REFUSED },
		{ AGENTBOX_ECLOSED, TOOL_NOT_FOUND },
		{ AGENTBOX_ECANCELED, TOOL_REFUSED },
		{ AGENTBOX_ETIMEOUT, TOOL_TIMED_OUT },
		{ AGENTBOX_ETAMPERED, TOOL_TAMPERED },
		{ AGENTBOX_EWALL, TOOL_NO_BOX },
		{ AGENTBOX_EHELPER, TOOL_NO_BOX },
		/* what cannot be read; of a box to be raised see fail_box() */
		{ AGENTBOX_EUNSUPPORTED, TOOL_BAD_INPUT },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].code == code)
			return table[i].status;
	return TOOL_INTERNAL;
}

const char tool_no_state_hint[] =
	"there is no home directory to keep one in: give --state DIR, or set "
	"XDG_STATE_HOME";

/* The document of --json; words that are no UTF-8 are told cleaned. */
static void write_failure(tool *t, int status, const char *code,
			  const char *where, const char *about,
			  const char *message)
{
	if (!t->json || t->json_written)
		return;
	tool_print_json(t, json_pack("{s:i, s:{s:s, s:o, s:o, s:o*}}",
				     "exit", status, "error", "code", code,
				     "where", text_json(where), "message",
				     text_json(message), "about",
				     about ? text_json(about) : NULL));
}

static void say_failure(tool *t, int status, const char *code,
			const char *where, const char *about,
			const char *message)
{
	/* The message repeats `where` for documents; a stage is added, once. */
	bool stage = where[0] && where[0] != '/' && !strstr(message, where) &&
		     !(about && !strcmp(about, where));
	char *line = text_format("%s%s%s%s%s [%s]", about ? about : "",
				 about ? ": " : "", stage ? where : "",
				 stage ? ": " : "", message, code);

	text_error(line ? line : message);
	free(line);
	if (!t->state && strstr(message, "state directory"))
		text_note("%s", tool_no_state_hint);
	write_failure(t, status, code, where, about, message);
}

int tool_usage(tool *t, const char *message)
{
	text_error(message);
	write_failure(t, TOOL_USAGE, "EINVAL", "", NULL, message);
	return TOOL_USAGE;
}

int tool_fail_as(tool *t, int status, agentbox_error *err, const char *about)
{
	say_failure(t, status,
		    agentbox_error_name(agentbox_error_get_code(err)),
		    agentbox_error_get_where(err), about,
		    agentbox_error_get_message(err));
	agentbox_error_free(err);
	return status;
}

/* Of a failed call what was named is to blame where it says so. */
static int status_of_call(int32_t number)
{
	switch (number) {
	case ENOENT:
		return TOOL_NOT_FOUND;
	case EISDIR:
	case ENOTDIR:
	case ELOOP:
	case ENAMETOOLONG:
		return TOOL_BAD_INPUT;
	default:
		return TOOL_INTERNAL;
	}
}

int tool_fail(tool *t, agentbox_error *err, const char *about)
{
	int32_t code = agentbox_error_get_code(err);
	int status = code == AGENTBOX_ESYS ?
			     status_of_call(agentbox_error_get_errno(err)) :
			     tool_status_of(code);

	return tool_fail_as(t, status, err, about);
}

int tool_fail_name(tool *t, agentbox_error *err, const char *about)
{
	return agentbox_error_get_code(err) == AGENTBOX_EINVAL
		       ? tool_fail_as(t, TOOL_USAGE, err, about)
		       : tool_fail(t, err, about);
}

bool tool_is_about_state(const tool *t, const agentbox_error *err)
{
	const char *where = agentbox_error_get_where(err);

	return (!*where || !t->state || !strcmp(where, t->state)) &&
	       strstr(agentbox_error_get_message(err), "state directory");
}

int tool_need_state(tool *t)
{
	if (t->state)
		return 0;
	return tool_refuse(t, TOOL_REFUSED, "EACCES", "--state",
			   "there is no state directory");
}

bool tool_is_about_helper(const agentbox_error *err)
{
	return agentbox_error_get_code(err) == AGENTBOX_EHELPER &&
	       agentbox_error_get_errno(err) != ETOOMANYREFS &&
	       !strstr(agentbox_error_get_message(err), "/dev/null");
}

void tool_note_helper(void)
{
	text_note("is libagentbox completely installed? --helper-dir names "
		  "another place");
}

int tool_no_path(tool *t, const char *about)
{
	return tool_refuse(t, TOOL_NOT_FOUND, "ENOTFOUND", about,
			   "the current directory is not known: %s",
			   strerror(errno));
}

int tool_refuse(tool *t, int status, const char *code, const char *about,
		const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	char *message = text_vformat(format, ap);
	va_end(ap);
	say_failure(t, status, code, "", about, message ? message : "");
	free(message);
	return status;
}

int tool_write_out(tool *t, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t done = write(STDOUT_FILENO, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		/* Who inherits SIGPIPE ignored is told the same way. */
		if (done < 0 && errno == EPIPE)
			return TOOL_SIGNAL + SIGPIPE;
		if (done < 0) {
			t->json_written = true;
			return tool_refuse(t, TOOL_INTERNAL, "ESYS", NULL,
					   "cannot write standard output: %s",
					   strerror(errno));
		}
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int tool_write_line(tool *t, char *line)
{
	int rc = line ? tool_write_out(t, line, strlen(line)) : TOOL_INTERNAL;

	free(line);
	return rc;
}

int tool_print_json(tool *t, json_t *root)
{
	char *text = root ? json_dumps(root, JSON_SORT_KEYS | JSON_INDENT(2) |
				       JSON_ENCODE_ANY) : NULL;
	int rc;

	t->json_written = true;
	json_decref(root);
	rc = tool_write_line(t, text ? text_format("%s\n", text) : NULL);
	free(text);
	return rc;
}

int tool_print_rows(tool *t, json_t *rows, char *(*line_of)(const json_t *row),
		    const char *none)
{
	json_t *row;
	size_t i;
	int rc = 0;

	if (!rows)
		return tool_refuse(t, TOOL_INTERNAL, "ENOMEM", NULL,
				   "out of memory");
	if (t->json)
		return tool_print_json(t, rows);
	json_array_foreach(rows, i, row) {
		rc = tool_write_line(t, line_of(row));
		if (rc)
			break;
	}
	if (!json_array_size(rows) && none)
		text_note("%s", none);
	json_decref(rows);
	return rc;
}

json_t *tool_json_of(agentbox_bytes *bytes)
{
	json_t *root = bytes ? json_loadb(agentbox_bytes_get_data(bytes),
					  agentbox_bytes_get_size(bytes),
					  JSON_REJECT_DUPLICATES, NULL) : NULL;

	agentbox_bytes_free(bytes);
	return root;
}

/*
 * 0-2 are open from here on, so that nothing of ours lands there. What goes to
 * a standard output that was closed fails as it would without us: EBADF.
 */
static bool secure_stdio(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) != fd)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	tool t = { .json = false };
	tool_args args = { .command = NULL };

	if (!secure_stdio())
		return TOOL_INTERNAL;
	/* a limit of file size is a reason that is told, not an end */
	signal(SIGXFSZ, SIG_IGN);
	/* the command may write there too: a line of ours is one write */
	setvbuf(stderr, NULL, _IOLBF, 0);
	text_begin(stderr);
	int rc = tool_parse(&t, argc, argv, &args);
	if (rc < 0) { /* not answered yet */
		rc = tool_open(&t, &args);
		if (rc == 0)
			rc = args.command->main(&t, &args);
	}
	tool_args_end(&args);
	tool_end(&t);
	return rc;
}
