/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox check: ask the guards, do nothing. Every judgement is the
 * library's (agentbox_guard(3)); here are the options that make a guard, the
 * rows of --jsonl, and the exit status: the worst verdict of all.
 */
#include "config.h"

#include <agentbox/guard.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"
#include "tool.h"

struct check {
	tool *t;
	const tool_args *args;
	agentbox_guard *guard;
	agentbox_place *place;
	agentbox_decision *decision;
	int cwd_fd;
	int32_t action; /* of paths */
	bool is_text;	/* commands, not paths */
	bool is_git;	/* an argv may leave out the git it begins with */
	int32_t worst; /* AGENTBOX_VERDICT_* */
	json_t *all;   /* decisions, for --json */
	int bad_rows;
};

/* --- the guard --- */

static json_t *role_of(const tool_args *args, char *team)
{
	const char *kind = tool_get(args, "--role");
	const char *agent = tool_get(args, "--agent");

	return json_pack("{s:{s:s*, s:s*, s:s*}}", "role", "kind", kind,
			 "team_dir", team, "agent", agent);
}

/* The role's options laid over the policy, so that it checks them. */
static int lay_role(struct check *c, agentbox_policy **policy)
{
	const char *dir = tool_get(c->args, "--team-dir");
	/* an empty one stays empty: the policy says that it is no directory */
	char *team = dir ? (*dir ? tool_absolute(dir) : strdup("")) : NULL;
	json_t *role = role_of(c->args, team);
	char *text = role ? json_dumps(role, JSON_COMPACT) : NULL;
	agentbox_policy *laid = NULL;
	agentbox_error *err = NULL;
	int rc = TOOL_BAD_INPUT;

	if (text && agentbox_policy_merge(*policy, text, strlen(text), &laid,
					  &err) == 0) {
		agentbox_policy_unref(*policy);
		*policy = laid;
		rc = 0;
	} else {
		rc = text ? tool_fail_as(c->t, TOOL_BAD_INPUT, err, NULL) :
			    tool_refuse(c->t, TOOL_BAD_INPUT, "EINVAL", NULL,
					"--role, --team-dir and --agent are "
					"text");
	}
	free(text);
	free(team);
	json_decref(role);
	return rc;
}

static int read_policy(struct check *c, agentbox_policy **policy)
{
	const char *file = tool_get(c->args, "--policy");
	const char *builtin = tool_get(c->args, "--builtin");
	const char *kind = tool_get(c->args, "--role");
	bool role = kind || tool_has(c->args, "--team-dir") ||
		    tool_has(c->args, "--agent");
	char *name;
	int rc;

	if (file && builtin)
		return tool_refuse(c->t, TOOL_USAGE, "EINVAL", NULL,
				   "--policy and --builtin exclude each other");
	if (kind && !file && !builtin &&
	    (!strcmp(kind, "manager") || !strcmp(kind, "engineer")))
		builtin = kind;
	name = file ? strdup(file) :
		      text_format("builtin:%s", builtin ? builtin :
							  "workspace");
	if (!name)
		return TOOL_INTERNAL;
	rc = tool_read_policy(c->t, name, policy);
	free(name);
	return rc || !role ? rc : lay_role(c, policy);
}

/*
 * A check of commands looks at text only, so a directory that is not there is
 * known by its name; a check of paths needs it.
 */
static int open_dir(struct check *c, const char *dir, int *fd)
{
	*fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*fd >= 0 || c->is_text)
		return 0;
	return tool_refuse(c->t, TOOL_NOT_FOUND, "ENOTFOUND", dir,
			   "cannot open the directory: %s", strerror(errno));
}

typedef int32_t (*place_fn)(agentbox_place *place, const char *path, size_t n,
			    agentbox_error **err);

/* The path as the kernel knows it, else as it is written. */
static int know_path(struct check *c, place_fn set, const char *dir,
		     const char *option)
{
	agentbox_error *err = NULL;
	char *path = realpath(dir, NULL);
	int rc = 0;

	if (!path)
		path = tool_absolute(dir);
	if (!path)
		return tool_no_path(c->t, option);
	if (set(c->place, path, strlen(path), &err) < 0)
		rc = tool_fail_as(c->t, TOOL_BAD_INPUT, err, option);
	free(path);
	return rc;
}

/* What the policy names is the root; else --workspace, else where we are. */
static int open_root(struct check *c, agentbox_policy *policy, int *fd)
{
	agentbox_bytes *bytes = NULL;
	json_t *document;
	const char *named;
	const char *dir;

	if (agentbox_policy_to_json(policy, &bytes, NULL) < 0)
		return TOOL_INTERNAL;
	document = tool_json_of(bytes);
	named = text_of(json_object_get(document, "role"), "team_dir");
	if (!*named && !json_object_get(document, "role"))
		named = text_of(json_object_get(document, "workspace"),
				"path");
	dir = tool_get(c->args, "--workspace");
	dir = dir ? dir : *named ? named : ".";
	int rc = open_dir(c, dir, fd);
	if (!rc && *fd < 0)
		rc = know_path(c, agentbox_place_set_root, dir, "--workspace");
	json_decref(document);
	return rc;
}

static int make_place(struct check *c)
{
	const char *cwd = tool_get(c->args, "--cwd");
	const char *home = getenv("HOME");
	const char *temp = getenv("TMPDIR");
	agentbox_error *err = NULL;
	int rc;

	cwd = cwd ? cwd : ".";
	if (agentbox_place_new(&c->place, &err) < 0 ||
	    agentbox_place_add_temp(c->place, "/tmp", 4, &err) < 0)
		return tool_fail(c->t, err, NULL);
	rc = open_dir(c, cwd, &c->cwd_fd);
	if (!rc)
		rc = know_path(c, agentbox_place_set_cwd, cwd, "--cwd");
	/* what is no clean absolute path is not known */
	if (home)
		agentbox_place_set_home(c->place, home, strlen(home), NULL);
	if (temp)
		agentbox_place_add_temp(c->place, temp, strlen(temp), NULL);
	return rc;
}

static int open_check(struct check *c)
{
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	int root = -1;
	int rc = read_policy(c, &policy);

	if (!rc)
		rc = make_place(c);
	if (!rc)
		rc = open_root(c, policy, &root);
	if (!rc && agentbox_guard_new(policy, root, &c->guard, &err) < 0)
		rc = tool_fail_as(c->t, TOOL_BAD_INPUT, err, NULL);
	if (root >= 0)
		close(root);
	agentbox_policy_unref(policy);
	return rc;
}

static void end_check(struct check *c)
{
	agentbox_decision_free(c->decision);
	agentbox_place_free(c->place);
	agentbox_guard_unref(c->guard);
	json_decref(c->all);
	if (c->cwd_fd >= 0)
		close(c->cwd_fd);
}

/* --- judging --- */

static int32_t judge_path(struct check *c, const char *path, size_t n,
			  agentbox_error **err)
{
	return agentbox_guard_check_path(c->guard, c->action, c->cwd_fd, path,
					 n, &c->decision, err);
}

static int32_t judge_line(struct check *c, const char *line, size_t n,
			  agentbox_error **err)
{
	return agentbox_guard_check_shell(c->guard, c->place, line, n,
					  &c->decision, err);
}

static void note_verdict(struct check *c)
{
	int32_t verdict = agentbox_decision_get_verdict(c->decision);

	if (verdict > c->worst)
		c->worst = verdict;
}

static const char *verdict_name(int32_t verdict)
{
	return verdict == AGENTBOX_VERDICT_ALLOW ? "allow" :
	       verdict == AGENTBOX_VERDICT_ASK	 ? "ask" :
						   "deny";
}

static int explain(struct check *c)
{
	agentbox_bytes *text = NULL;
	agentbox_error *err = NULL;

	if (agentbox_decision_explain(c->decision, &text, &err) < 0)
		return tool_fail(c->t, err, NULL);
	fputs(agentbox_bytes_get_data(text), stderr);
	agentbox_bytes_free(text);
	return 0;
}

/* For people: a line, what to do instead, or everything with --explain. */
static int tell(struct check *c, const char *subject)
{
	const agentbox_decision *d = c->decision;
	const char *other = agentbox_decision_get_alternative(d);
	char *clean;

	if (tool_has(c->args, "--explain"))
		return explain(c);
	clean = text_clean_line(subject);
	if (agentbox_decision_get_verdict(d) == AGENTBOX_VERDICT_ALLOW)
		text_line(stderr, "allow: %s", clean ? clean : "");
	else
		text_line(stderr, "%s: %s: %s [%s]",
			  verdict_name(agentbox_decision_get_verdict(d)),
			  clean ? clean : "", agentbox_decision_get_reason(d),
			  agentbox_decision_get_rule(d));
	if (*other)
		text_line(stderr, "  instead: %s", other);
	free(clean);
	return 0;
}

/* One decision is there: told, or kept for the document. */
static int take_decision(struct check *c, const char *subject)
{
	agentbox_bytes *json = NULL;
	agentbox_error *err = NULL;

	note_verdict(c);
	if (!c->t->json)
		return tell(c, subject);
	if (tool_has(c->args, "--explain")) {
		int rc = explain(c);
		if (rc)
			return rc;
	}
	if (agentbox_decision_to_json(c->decision, &json, &err) < 0)
		return tool_fail(c->t, err, NULL);
	return json_array_append_new(c->all, tool_json_of(json)) == 0 ?
		       0 :
		       TOOL_INTERNAL;
}

/* --- rows --- */

/* {"id": ...} of a row, "," at its end; "" when there is none. Owned. */
static char *id_text(const json_t *row)
{
	const json_t *id = json_object_get(row, "id");
	char *value = id ? json_dumps(id, JSON_COMPACT | JSON_ENCODE_ANY) :
			   NULL;
	char *text = value ? text_format("\"id\":%s,", value) : strdup("");

	free(value);
	return text;
}

static int print_bad_row(struct check *c, const json_t *row, const char *why)
{
	char *id = id_text(row);
	char *line = id ? text_format("{%s\"verdict\":\"deny\",\"rule\":"
				      "\"row\",\"reason\":\"%s\"}\n", id, why) :
			  NULL;
	int rc = tool_write_line(c->t, line);

	c->bad_rows++;
	c->worst = AGENTBOX_VERDICT_DENY;
	free(id);
	return rc;
}

static int print_row(struct check *c, const json_t *row)
{
	agentbox_bytes *json = NULL;
	agentbox_error *err = NULL;
	char *id = id_text(row);
	char *line = NULL;
	int rc;

	if (agentbox_decision_to_json(c->decision, &json, &err) < 0) {
		free(id);
		agentbox_error_free(err);
		return print_bad_row(c, row, "the decision is not to be shown");
	}
	/* the object without its opening brace */
	if (id)
		line = text_format("{%s%s\n", id,
				   agentbox_bytes_get_data(json) + 1);
	rc = tool_write_line(c->t, line);
	agentbox_bytes_free(json);
	free(id);
	return rc;
}

/* The words of a row; a git goes before them, that may be left out. */
struct words {
	const char **args;
	size_t *lens;
	size_t n; /* without the git before them */
};

static bool is_git(const struct words *w, size_t i)
{
	const char *slash = memrchr(w->args[i], '/', w->lens[i]);
	const char *name = slash ? slash + 1 : w->args[i];

	return strcmp(name, "git") == 0;
}

static int32_t judge_words(struct check *c, const struct words *w,
			   bool with_git, agentbox_error **err)
{
	size_t first = with_git ? 0 : 1;

	return agentbox_guard_check_argv(c->guard, c->place, w->args + first,
					 w->lens + first, w->n + 1 - first,
					 &c->decision, err);
}

static bool is_unknown_to_git(const struct check *c)
{
	const char *rule = agentbox_decision_get_rule(c->decision);

	return rule && strcmp(rule, "git.unknown") == 0;
}

/*
 * Whether these words run the git that they name, as a wrapper does. Of what
 * is allowed a decision does not tell: so the guard is asked about the words
 * up to that git with one behind it that no git knows.
 */
static int32_t leads_to_git(struct check *c, const struct words *w,
			    bool *leads, agentbox_error **err)
{
	static const char unknown[] = "no-such-command";
	struct words probe = *w;
	size_t git = 1;
	int32_t r;

	*leads = false;
	while (git <= w->n && !is_git(w, git))
		git++;
	/* the word after it has room: the array has one more than words */
	if (git > w->n)
		return 0;
	const char *arg = w->args[git + 1];
	size_t len = w->lens[git + 1];

	probe.n = git + 1;
	probe.args[git + 1] = unknown;
	probe.lens[git + 1] = strlen(unknown);
	r = judge_words(c, &probe, false, err);
	*leads = r >= 0 && is_unknown_to_git(c) &&
		 agentbox_decision_get_wrapper(c->decision, 0);
	probe.args[git + 1] = arg;
	probe.lens[git + 1] = len;
	return r;
}

/*
 * Who asks about git may write the whole command, "env A=1 git push", or what
 * follows git, as operands do: words that are allowed as a command of their
 * own say nothing about git. Only what git does not know and what the guard
 * knows to run git, "nohup git status", was a whole command then; "deploy
 * /srv/git" may be an alias.
 */
static int32_t judge_git(struct check *c, const struct words *w,
			 agentbox_error **err)
{
	int32_t r = judge_words(c, w, false, err);
	bool leads = false;

	if (r < 0 || is_git(w, 1) ||
	    agentbox_decision_get_verdict(c->decision) !=
		    AGENTBOX_VERDICT_ALLOW)
		return r;
	r = judge_words(c, w, true, err);
	if (r < 0 || !is_unknown_to_git(c))
		return r;
	r = leads_to_git(c, w, &leads, err);
	return r < 0 ? r : judge_words(c, w, !leads, err);
}

/* The strings of an array; -1 when it is none. */
static int32_t judge_array(struct check *c, const json_t *array,
			   const char **why, agentbox_error **err)
{
	struct words w = { .n = json_array_size(array) };
	int32_t r = -1;

	w.args = calloc(w.n + 2, sizeof(*w.args));
	w.lens = calloc(w.n + 2, sizeof(*w.lens));
	*why = w.n && w.args && w.lens ? NULL : "argv is no list of arguments";
	if (!*why) {
		w.args[0] = "git";
		w.lens[0] = strlen(w.args[0]);
	}
	for (size_t i = 1; i <= w.n && !*why; i++) {
		const json_t *one = json_array_get(array, i - 1);

		w.args[i] = json_string_value(one);
		w.lens[i] = json_string_length(one);
		if (!w.args[i])
			*why = "an argument is no string";
	}
	if (!*why)
		r = c->is_git ? judge_git(c, &w, err) :
				judge_words(c, &w, false, err);
	free(w.lens);
	free(w.args);
	return r;
}

/* What is wrong with a row, or NULL: the decision is there. */
static const char *judge_row(struct check *c, const json_t *row,
			     agentbox_error **err)
{
	const json_t *path = json_object_get(row, "path");
	const json_t *line = json_object_get(row, "cmd");
	const json_t *argv = json_object_get(row, "argv");
	const char *why = NULL;

	if (!json_is_object(row))
		return "the row is not a JSON object";
	if (!c->is_text && (line || argv))
		return "a command is not for check write and check read";
	if (c->is_text && line && json_is_string(line) && !argv)
		judge_line(c, json_string_value(line),
			   json_string_length(line), err);
	else if (c->is_text && argv && !line)
		judge_array(c, argv, &why, err);
	else if (c->is_text)
		why = "the row has neither cmd nor argv, or both";
	else if (!json_is_string(path))
		why = "the row has no path";
	else
		judge_path(c, json_string_value(path),
			   json_string_length(path), err);
	return why;
}

static int take_row(struct check *c, const char *line, size_t n)
{
	json_t *row = json_loadb(line, n, JSON_ALLOW_NUL |
						  JSON_REJECT_DUPLICATES, NULL);
	agentbox_error *err = NULL;
	const char *why = judge_row(c, row, &err);
	int rc;

	if (why) {
		rc = print_bad_row(c, row, why);
	} else if (err) {
		agentbox_error_free(err);
		rc = print_bad_row(c, row, "the row could not be judged");
	} else {
		note_verdict(c);
		rc = print_row(c, row);
	}
	json_decref(row);
	return rc;
}

static int take_rows(struct check *c)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int rc = 0;

	while (rc == 0 && (n = getline(&line, &room, stdin)) >= 0) {
		while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
			n--;
		if (n > 0)
			rc = take_row(c, line, (size_t)n);
	}
	if (rc == 0 && ferror(stdin))
		rc = tool_refuse(c->t, TOOL_BAD_INPUT, "ESYS", NULL,
				 "cannot read standard input: %s",
				 strerror(errno));
	free(line);
	return rc;
}

/* --- both --- */

static int status_of(const struct check *c)
{
	if (c->bad_rows)
		return TOOL_BAD_INPUT;
	return c->worst <= AGENTBOX_VERDICT_ALLOW ? TOOL_OK :
	       c->worst == AGENTBOX_VERDICT_ASK	  ? TOOL_ASK :
						    TOOL_DENY;
}

static int take_paths(struct check *c)
{
	int rc = 0;

	for (int i = 0; i < c->args->operand_count && rc == 0; i++) {
		const char *path = c->args->operands[i];
		agentbox_error *err = NULL;

		if (judge_path(c, path, strlen(path), &err) < 0)
			return tool_fail(c->t, err, path);
		rc = take_decision(c, path);
	}
	return rc;
}

static int take_line(struct check *c)
{
	const char *line = c->args->operands[0];
	agentbox_error *err = NULL;

	if (judge_line(c, line, strlen(line), &err) < 0)
		return tool_fail(c->t, err, NULL);
	return take_decision(c, line);
}

/* The operands as a command; `first` (may be NULL) goes before them. */
static int take_words(struct check *c, const char *first)
{
	size_t count = (size_t)c->args->operand_count + (first ? 1 : 0);
	const char **args = calloc(count, sizeof(*args));
	size_t *lens = calloc(count, sizeof(*lens));
	agentbox_error *err = NULL;
	int rc = TOOL_INTERNAL;

	if (args && lens) {
		size_t at = 0;

		if (first)
			args[at++] = first;
		for (int i = 0; i < c->args->operand_count; i++)
			args[at++] = c->args->operands[i];
		for (size_t i = 0; i < count; i++)
			lens[i] = strlen(args[i]);
		rc = agentbox_guard_check_argv(c->guard, c->place, args, lens,
					       count, &c->decision,
					       &err) < 0 ?
			     tool_fail(c->t, err, NULL) :
			     take_decision(c, args[0]);
	}
	free(lens);
	free(args);
	return rc;
}

static int take_argv(struct check *c)
{
	return take_words(c, NULL);
}

static int take_git(struct check *c)
{
	return take_words(c, "git");
}

static int run_check(struct check *c, int (*take)(struct check *c),
		     const char *operand)
{
	bool rows = tool_has(c->args, "--jsonl");
	int rc;

	c->cwd_fd = -1;
	c->all = json_array();
	if (!rows && !c->args->operand_count)
		rc = tool_lacks(c->t, c->args, operand);
	else if (rows && c->args->operand_count)
		rc = tool_refuse(c->t, TOOL_USAGE, "EINVAL", NULL,
				 "with --jsonl the rows come on standard "
				 "input");
	else
		rc = open_check(c);
	if (rc == 0)
		rc = rows ? take_rows(c) : take(c);
	if (rc == 0 && c->t->json && !rows)
		rc = tool_print_json(
			c->t, json_pack("{s:s, s:O}", "verdict",
					verdict_name(c->worst), "decisions",
					c->all));
	if (rc == 0)
		rc = status_of(c);
	end_check(c);
	return rc;
}

int tool_check_write(tool *t, const tool_args *args)
{
	struct check c = { .t = t, .args = args,
			   .action = AGENTBOX_ACTION_WRITE };

	return run_check(&c, take_paths, "PATH");
}

int tool_check_read(tool *t, const tool_args *args)
{
	struct check c = { .t = t, .args = args,
			   .action = AGENTBOX_ACTION_READ };

	return run_check(&c, take_paths, "PATH");
}

int tool_check_shell(tool *t, const tool_args *args)
{
	struct check c = { .t = t, .args = args, .is_text = true };

	if (args->operand_count > 1 && !tool_has(args, "--jsonl")) {
		char *message = text_format(
			"check shell: '%s' is one operand too many: quote the "
			"line, before which options stand, or ask 'agentbox "
			"check argv'",
			args->operands[1]);
		int rc = tool_usage(t, message ? message : "out of memory");

		free(message);
		return rc;
	}
	return run_check(&c, take_line, "LINE");
}

int tool_check_argv(tool *t, const tool_args *args)
{
	struct check c = { .t = t, .args = args, .is_text = true };

	return run_check(&c, take_argv, "CMD");
}

int tool_check_git(tool *t, const tool_args *args)
{
	struct check c = {
		.t = t, .args = args, .is_text = true, .is_git = true
	};

	return run_check(&c, take_git, "ARG");
}
