/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write guard's rules as a table over actions, and the check of one path.
 * It refuses what lies outside, what the role may not write, protected names,
 * files that have another name somewhere, and everything that is neither
 * file nor directory. It changes nothing: act.c and act_name.c do.
 * Spec: DESIGN.md section 7, agentbox/guard.h.
 */
#include "config.h"

#include "guard/write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "path/lexical.h"

/* What an action does; see the table. */
#define MODIFIES 0x01u
/* a link at the end is what is meant, not what it leads to */
#define ON_NAME 0x02u
/* a whole directory could move, go or be covered, with what is below it */
#define MOVES 0x04u
/* the inode changes, under every name it has */
#define ON_INODE 0x08u
/* makes or means something that is no directory */
#define ON_FILE 0x10u
#define NEVER 0x20u
/* nothing of these: an action that is not in the table is not known */
#define LOOKS 0x40u

static const unsigned actions[] = {
	[AGENTBOX_ACTION_READ] = LOOKS,
	[AGENTBOX_ACTION_WRITE] = MODIFIES | ON_INODE,
	[AGENTBOX_ACTION_CREATE] = MODIFIES | ON_INODE | MOVES | ON_FILE,
	[AGENTBOX_ACTION_MKDIR] = MODIFIES | ON_NAME,
	[AGENTBOX_ACTION_DELETE] = MODIFIES | ON_NAME | MOVES,
	[AGENTBOX_ACTION_RENAME] = MODIFIES | ON_NAME | MOVES,
	[AGENTBOX_ACTION_REPLACE] = MODIFIES | ON_NAME | MOVES,
	[AGENTBOX_ACTION_LINK] = MODIFIES | ON_NAME | ON_FILE,
	[AGENTBOX_ACTION_SYMLINK] = MODIFIES | ON_NAME | MOVES | ON_FILE,
	[AGENTBOX_ACTION_CHMOD] = MODIFIES | ON_INODE,
	[AGENTBOX_ACTION_TRUNCATE] = MODIFIES | ON_INODE | ON_FILE,
	[AGENTBOX_ACTION_UTIME] = MODIFIES | ON_INODE,
	[AGENTBOX_ACTION_XATTR] = MODIFIES | ON_INODE,
	[AGENTBOX_ACTION_CHOWN] = NEVER,
	[AGENTBOX_ACTION_MKNOD] = NEVER,
	[AGENTBOX_ACTION_BIND] = MODIFIES | ON_NAME | MOVES | ON_FILE,
};

bool ab_action_is_known(int32_t action)
{
	return action >= AGENTBOX_ACTION_READ &&
	       (size_t)action < AB_ARRAY_LEN(actions) && actions[action];
}

bool ab_action_is_on_name(int32_t action)
{
	return actions[action] & ON_NAME;
}

/* --- findings --- */

static bool deny(struct ab_path_judgement *j, const struct ab_target *t,
		 const char *rule, int32_t severity, const char *reason,
		 const char *alternative)
{
	j->verdict = AGENTBOX_VERDICT_DENY;
	j->finding = (struct ab_finding){
		.verdict = AGENTBOX_VERDICT_DENY,
		.severity = severity,
		.rule = rule,
		.reason = reason,
		.alternative = alternative,
		.span = { (uint32_t)t->begin, (uint32_t)t->end },
		.command = AB_NO_COMMAND,
		.word = UINT32_MAX,
	};
	return false;
}

static bool deny_target(struct ab_path_judgement *j, const struct ab_target *t)
{
	switch (t->why) {
	case AB_TARGET_GOOD:
		break;
	case AB_TARGET_SHAPE:
		snprintf(j->message, sizeof(j->message), "the path %s",
			 t->detail ? t->detail : "is malformed");
		return deny(j, t, "path.shape", AGENTBOX_SEVERITY_MEDIUM,
			    j->message, "write the path out, relative to the "
					"workspace");
	case AB_TARGET_ESCAPES:
		return deny(j, t, "path.escape", AGENTBOX_SEVERITY_HIGH,
			    "Path escapes workspace.",
			    "name a path in the workspace, without '..'");
	case AB_TARGET_LINKS:
		return deny(j, t, "path.link", AGENTBOX_SEVERITY_HIGH,
			    "symbolic links on the way form a loop, are too "
			    "many, or keep changing", NULL);
	case AB_TARGET_MOUNT:
		return deny(j, t, "path.mount", AGENTBOX_SEVERITY_HIGH,
			    "another file system is mounted on the way", NULL);
	case AB_TARGET_AREA:
		return deny(j, t, "path.area", AGENTBOX_SEVERITY_HIGH,
			    "the directory was replaced after the guard was "
			    "made", "ask the host for a new guard");
	case AB_TARGET_KERNEL:
		snprintf(j->message, sizeof(j->message),
			 "the path cannot be looked up: %s",
			 strerrordesc_np(t->error) ? strerrordesc_np(t->error) :
						     "unknown error");
		return deny(j, t, "path.kernel", AGENTBOX_SEVERITY_MEDIUM,
			    j->message, NULL);
	}
	return deny(j, t, "path.escape", AGENTBOX_SEVERITY_HIGH,
		    "Path escapes workspace.", NULL);
}

static bool deny_protected(struct ab_path_judgement *j,
			   const struct ab_target *t, const char *pattern)
{
	snprintf(j->message, sizeof(j->message),
		 "'%.200s' is protected: the host reads or runs it later",
		 pattern);
	return deny(j, t, "path.protected", AGENTBOX_SEVERITY_CRITICAL,
		    j->message, "ask the host to make this change");
}

/* --- rules --- */

static const char *in_area(const struct ab_target *t)
{
	return t->path + t->in_area;
}

/* Is the first component named so? */
static bool first_is(const char *path, const char *name)
{
	return ab_protect_is_name(path, strcspn(path, "/"), name);
}

/*
 * An engineer's own config carries his model and limits: writing it would be
 * raising them (F24). The journal beside it is his.
 */
static bool is_own_config(const struct ab_target *t)
{
	const char *rest = in_area(t);

	for (size_t i = 0; t->area->is_own && ab_policy_own_config[i]; i++) {
		if (first_is(rest, ab_policy_own_config[i]))
			return true;
	}
	return false;
}

static bool judge_role(const agentbox_guard *g, const struct ab_target *t,
		       struct ab_path_judgement *j)
{
	/* whatever else may be: protected/ of a team is nobody's */
	if (g->is_role && t->area->below && first_is(t->path, "protected"))
		return deny_protected(j, t, "protected");
	if (!t->area->write && g->is_role)
		return deny(j, t, "path.role", AGENTBOX_SEVERITY_HIGH,
			    "an engineer writes in its own agent directory, in "
			    "shared/ and in the worktrees of its task",
			    "write below shared/ or the agent's own directory");
	if (!t->area->write)
		return deny(j, t, "path.role", AGENTBOX_SEVERITY_HIGH,
			    "the workspace is read-only", NULL);
	if (is_own_config(t))
		return deny_protected(j, t, "config.*");
	return true;
}

/* gitrepository-layout(5): a file .git says where the repository is, and with
   that which configuration and hooks git runs. */
static bool is_git_file(const struct ab_target *t)
{
	const char *slash;
	const char *name;

	if (t->fd < 0 || !S_ISREG(t->st.st_mode))
		return false;
	slash = strrchr(t->path, '/');
	name = slash ? slash + 1 : t->path;
	return ab_protect_is_name(name, strlen(name), ".git");
}

static bool judge_names(const agentbox_guard *g, unsigned what,
			const struct ab_target *t, struct ab_path_judgement *j)
{
	/* a worktree was named by the host, so its own path is no matter */
	const char *path = t->area->alias ? in_area(t) : t->path;
	const char *pattern;

	if (!*in_area(t))
		return what & MOVES ?
			       deny(j, t, "path.role", AGENTBOX_SEVERITY_HIGH,
				    "it is the root of what may be written",
				    "name something in it") :
			       true;
	pattern = ab_protect_find(&g->protect, path,
				  what & MOVES || is_git_file(t));
	return pattern ? deny_protected(j, t, pattern) : true;
}

/* Is it about what is there, and not only about its name? */
static bool uses_object(unsigned what)
{
	return !(what & MODIFIES) || what & ON_INODE ||
	       (what & ON_FILE && !(what & MOVES));
}

static bool judge_inode(unsigned what, const struct ab_target *t,
			struct ab_path_judgement *j)
{
	mode_t type = t->fd >= 0 ? t->st.st_mode & S_IFMT : 0;

	if (t->is_dir_form && (t->fd >= 0 ? type != S_IFDIR :
					    (what & ON_FILE) != 0))
		return deny(j, t, "path.shape", AGENTBOX_SEVERITY_MEDIUM,
			    "the path ends in a slash and is no directory",
			    "leave out the slash");
	if (t->fd < 0)
		return true;
	if (type != S_IFREG && type != S_IFDIR && uses_object(what))
		return deny(j, t, "path.type", AGENTBOX_SEVERITY_HIGH,
			    "it is neither a file nor a directory", NULL);
	if (what & ON_FILE && !(what & MOVES) && type == S_IFDIR)
		return deny(j, t, "path.type", AGENTBOX_SEVERITY_MEDIUM,
			    "it is a directory", NULL);
	/* another name of it could be in protected/, or another agent's */
	if (what & ON_INODE && type == S_IFREG && t->st.st_nlink > 1)
		return deny(j, t, "path.hardlink", AGENTBOX_SEVERITY_HIGH,
			    "the file has another name (hard link), where it "
			    "would change as well",
			    "write a new file and rename it over this one");
	return true;
}

bool ab_write_judge(const agentbox_guard *guard, int32_t action,
		    const struct ab_target *t, struct ab_path_judgement *j)
{
	unsigned what = actions[action];

	j->verdict = AGENTBOX_VERDICT_DENY;
	if (t->why != AB_TARGET_GOOD)
		return deny_target(j, t);
	if (what & NEVER)
		return deny(j, t, "path.type", AGENTBOX_SEVERITY_HIGH,
			    "an agent makes no device nodes and gives no file "
			    "to another owner", NULL);
	/* a write to what is not there makes a file */
	if (action == AGENTBOX_ACTION_WRITE && t->fd < 0)
		what = actions[AGENTBOX_ACTION_CREATE];
	if (what & MODIFIES &&
	    (!judge_role(guard, t, j) || !judge_names(guard, what, t, j)))
		return false;
	if (!judge_inode(what, t, j))
		return false;
	j->verdict = AGENTBOX_VERDICT_ALLOW;
	return true;
}

bool ab_write_check(const agentbox_guard *guard, int32_t action, int dirfd,
		    const char *path, size_t n, struct ab_target *target,
		    struct ab_path_judgement *j)
{
	ab_target_find(guard, dirfd, path, n, !ab_action_is_on_name(action),
		       target);
	return ab_write_judge(guard, action, target, j);
}

/* --- public --- */

static int32_t check_call(const agentbox_guard *guard, int32_t action,
			  int32_t dirfd, const char *path, size_t n,
			  agentbox_error **err)
{
	int32_t r = ab_guard_check_handle(guard, err);

	if (r < 0)
		return r;
	if (!ab_action_is_known(action))
		return ab_error_set(err, AGENTBOX_EINVAL, "action",
				    "%d is not an action", action);
	if (dirfd < -1)
		return ab_error_set(err, AGENTBOX_EINVAL, "dirfd",
				    "dirfd is neither -1 nor an fd: the "
				    "working directory does not count");
	if (!path && n)
		return ab_error_set(err, AGENTBOX_EINVAL, "path",
				    "path must not be NULL");
	return 0;
}

int32_t agentbox_guard_check_path(agentbox_guard *guard, int32_t action,
				  int32_t dirfd, const char *path, size_t n,
				  agentbox_decision **decision,
				  agentbox_error **err)
{
	agentbox_decision *d = ab_decision_use(decision, err);
	struct ab_path_judgement j;
	ab_autotarget struct ab_target t;
	int32_t r;

	t.fd = -1;
	if (!d)
		return decision ? AGENTBOX_ENOMEM : AGENTBOX_EINVAL;
	r = check_call(guard, action, dirfd, path, n, err);
	if (r == 0)
		r = ab_decision_check_input(d, path, err);
	if (r == 0)
		r = ab_decision_begin(d, guard, AB_DECIDE_PATH,
				      path ? path : "", n, 0, err);
	if (r < 0)
		return r;
	if (!ab_write_check(guard, action, dirfd, d->text, n, &t, &j)) {
		if (j.finding.reason == j.message)
			j.finding.reason = ab_decision_say(d, "%s", j.message);
		ab_decision_add(d, &j.finding);
	}
	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	return 0;
}

int32_t agentbox_guard_allow_write(agentbox_guard *guard, const char *path,
				   size_t n)
{
	struct ab_path_judgement j;
	ab_autotarget struct ab_target t;

	t.fd = -1;
	return check_call(guard, AGENTBOX_ACTION_WRITE, -1, path, n, NULL) ==
		       0 &&
	       ab_write_check(guard, AGENTBOX_ACTION_WRITE, -1,
			      path ? path : "", n, &t, &j);
}
