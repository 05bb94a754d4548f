/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The forms of the write guard that act on names: made, taken away, moved. A
 * name is changed through an O_PATH fd of its directory, which was opened by
 * the very path that was judged: rename, unlink and the like take one
 * component and follow nothing. Spec: guard/act.h.
 */
#include "config.h"

#include "guard/act.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* renameat2(2) */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

/* The directory of a judged name, and the name in it. */
struct place_in {
	int fd; /* owned */
	const char *name;
};

static int open_place(const struct ab_target *t, struct place_in *p)
{
	p->fd = ab_target_open_parent(t, &p->name);
	return p->fd < 0 ? p->fd : 0;
}

/* A lost race for the directory is judged anew. */
static bool is_race(int r)
{
	return r == -ELOOP || r == -EXDEV;
}

static int32_t remove_name(struct ab_act *c, const struct ab_act_path *e,
			   int flags)
{
	for (int i = 0; i < AB_ACT_RACES; i++) {
		ab_autotarget struct ab_target t;
		struct ab_path_judgement j;
		struct place_in at;
		int r;

		t.fd = -1;
		if (!ab_act_judge(c, AGENTBOX_ACTION_DELETE, e, false, &t, &j))
			return ab_act_denied(c, e, &j);
		r = open_place(&t, &at);
		if (is_race(r))
			continue;
		if (r == 0) {
			r = unlinkat(at.fd, at.name, flags) < 0 ? -errno : 0;
			ab_cleanup_fd(&at.fd);
		}
		return ab_act_done(c, r, "remove it");
	}
	return ab_act_no_rest(c);
}

int32_t agentbox_guard_unlink(agentbox_guard *guard, int32_t dirfd,
			      const char *path, size_t n,
			      agentbox_decision **decision,
			      agentbox_error **err)
{
	ab_autoact struct ab_act c = { .guard = guard, .err = err };
	struct ab_act_path e = { dirfd, path, n, 0 };
	int32_t r = ab_act_begin(&c, decision, &e, NULL);

	return r < 0 ? r : remove_name(&c, &e, 0);
}

int32_t agentbox_guard_rmdir(agentbox_guard *guard, int32_t dirfd,
			     const char *path, size_t n,
			     agentbox_decision **decision,
			     agentbox_error **err)
{
	ab_autoact struct ab_act c = { .guard = guard, .err = err };
	struct ab_act_path e = { dirfd, path, n, 0 };
	int32_t r = ab_act_begin(&c, decision, &e, NULL);

	return r < 0 ? r : remove_name(&c, &e, AT_REMOVEDIR);
}

/* --- mkdir --- */

/* One directory; 0, or -errno. */
static int make_directory(const struct ab_target *t, mode_t mode)
{
	struct place_in at;
	int r = open_place(t, &at);

	if (r < 0)
		return r;
	r = mkdirat(at.fd, at.name, mode) < 0 ? -errno : 0;
	ab_cleanup_fd(&at.fd);
	return r;
}

/*
 * The directories above a target that is not there: each is judged like the
 * target itself. Only those that are missing are made.
 */
static int make_above(struct ab_act *c, const struct ab_target *t, mode_t mode,
		      struct ab_path_judgement *j)
{
	/* of t only: it holds no fd, for nothing is there */
	struct ab_target up = *t;

	for (size_t i = t->in_area; t->path[i]; i++) {
		int r;

		if (t->path[i] != '/' || i == t->in_area)
			continue;
		memcpy(up.path, t->path, i);
		up.path[i] = '\0';
		if (!ab_write_judge(c->guard, AGENTBOX_ACTION_MKDIR, &up, j))
			return -EPERM;
		r = make_directory(&up, mode);
		if (r < 0 && r != -EEXIST)
			return r;
	}
	return 0;
}

static int32_t make_path(struct ab_act *c, const struct ab_act_path *e,
			 mode_t mode, bool parents)
{
	for (int i = 0; i < AB_ACT_RACES; i++) {
		ab_autotarget struct ab_target t;
		struct ab_path_judgement j;
		int r;

		t.fd = -1;
		if (!ab_act_judge(c, AGENTBOX_ACTION_MKDIR, e, parents, &t, &j))
			return ab_act_denied(c, e, &j);
		if (parents && t.fd >= 0 && S_ISDIR(t.st.st_mode))
			return ab_act_allowed(c);
		r = parents && t.fd < 0 ? make_above(c, &t, mode, &j) : 0;
		if (r == -EPERM && j.verdict != AGENTBOX_VERDICT_ALLOW)
			return ab_act_denied(c, e, &j);
		if (r == 0)
			r = make_directory(&t, mode);
		if (r == 0)
			return ab_act_allowed(c);
		if (!is_race(r) && !(r == -EEXIST && parents && t.fd < 0))
			return ab_act_kernel_said(c, r == -EINVAL ? EEXIST : -r,
					   "make the directory");
	}
	return ab_act_no_rest(c);
}

int32_t agentbox_guard_mkdir(agentbox_guard *guard, int32_t dirfd,
			     const char *path, size_t n, uint32_t mode,
			     int32_t parents, agentbox_decision **decision,
			     agentbox_error **err)
{
	ab_autoact struct ab_act c = { .guard = guard, .err = err };
	struct ab_act_path e = { dirfd, path, n, 0 };
	int32_t r = ab_act_begin(&c, decision, &e, NULL);

	if (r < 0)
		return r;
	if (mode & ~0777u)
		return ab_error_set(err, AGENTBOX_EINVAL, "mode",
				    "a mode is at most 0777");
	return make_path(&c, &e, (mode_t)mode, parents != 0);
}

/* --- two names --- */

/* How the two ends of a call are judged and what is then done. */
struct pair {
	struct ab_act_path from, to;
	int32_t actions[4]; /* on from, on to, again on from and on to; or 0 */
	int (*act)(const struct place_in *from, const struct place_in *to,
		   unsigned flags);
	unsigned flags;
	const char *what;
};

static int act_on_places(const struct pair *p, const struct ab_target *from,
			 const struct ab_target *to)
{
	struct place_in a = { -1, NULL };
	struct place_in b = { -1, NULL };
	int r = open_place(from, &a);

	if (r == 0)
		r = open_place(to, &b);
	if (r == 0)
		r = p->act(&a, &b, p->flags);
	ab_cleanup_fd(&a.fd);
	ab_cleanup_fd(&b.fd);
	return r;
}

static int32_t change_pair(struct ab_act *c, const struct pair *p)
{
	for (int i = 0; i < AB_ACT_RACES; i++) {
		ab_autotarget struct ab_target a;
		ab_autotarget struct ab_target b;
		struct ab_path_judgement j;
		int r;

		a.fd = b.fd = -1;
		if (!ab_act_judge(c, p->actions[0], &p->from, false, &a, &j) ||
		    (p->actions[2] &&
		     !ab_write_judge(c->guard, p->actions[2], &a, &j)))
			return ab_act_denied(c, &p->from, &j);
		if (!ab_act_judge(c, p->actions[1], &p->to, false, &b, &j) ||
		    (p->actions[3] &&
		     !ab_write_judge(c->guard, p->actions[3], &b, &j)))
			return ab_act_denied(c, &p->to, &j);
		if (a.fd < 0)
			return ab_act_kernel_said(c, ENOENT, p->what);
		/* no file is called x/, as the kernel has it */
		if (b.is_dir_form && !S_ISDIR(a.st.st_mode))
			return ab_act_kernel_said(c, ENOTDIR, p->what);
		r = act_on_places(p, &a, &b);
		if (is_race(r) && r != -EXDEV)
			continue;
		return ab_act_done(c, r, p->what);
	}
	return ab_act_no_rest(c);
}

static int rename_places(const struct place_in *from, const struct place_in *to,
			 unsigned flags)
{
	return renameat2(from->fd, from->name, to->fd, to->name, flags) < 0 ?
		       -errno :
		       0;
}

int32_t agentbox_guard_rename(agentbox_guard *guard, int32_t from_dirfd,
			      const char *from, size_t from_n,
			      int32_t to_dirfd, const char *to, size_t to_n,
			      uint32_t flags, agentbox_decision **decision,
			      agentbox_error **err)
{
	ab_autoact struct ab_act c = { .guard = guard, .err = err };
	struct pair p = {
		.from = { from_dirfd, from, from_n, 0 },
		.to = { to_dirfd, to, to_n, 0 },
		.actions = { AGENTBOX_ACTION_RENAME, AGENTBOX_ACTION_REPLACE },
		.act = rename_places,
		.what = "rename it",
	};
	int32_t r = ab_act_begin(&c, decision, &p.from, &p.to);

	if (r < 0)
		return r;
	if (flags > AGENTBOX_RENAME_EXCHANGE)
		return ab_error_set(err, AGENTBOX_EINVAL, "flags",
				    "NOREPLACE or EXCHANGE, not both");
	if (flags == AGENTBOX_RENAME_NOREPLACE)
		p.flags = RENAME_NOREPLACE;
	if (flags == AGENTBOX_RENAME_EXCHANGE) {
		p.flags = RENAME_EXCHANGE;
		p.actions[2] = AGENTBOX_ACTION_REPLACE;
		p.actions[3] = AGENTBOX_ACTION_RENAME;
	}
	return change_pair(&c, &p);
}

static int link_places(const struct place_in *from, const struct place_in *to,
		       unsigned flags)
{
	struct stat st;

	/* a link that was put there would be linked itself: flags is 0 */
	if (linkat(from->fd, from->name, to->fd, to->name, (int)flags) < 0)
		return -errno;
	if (fstatat(to->fd, to->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode))
		return 0;
	unlinkat(to->fd, to->name, 0);
	return -EBUSY;
}

int32_t agentbox_guard_link(agentbox_guard *guard, int32_t from_dirfd,
			    const char *from, size_t from_n, int32_t to_dirfd,
			    const char *to, size_t to_n,
			    agentbox_decision **decision, agentbox_error **err)
{
	ab_autoact struct ab_act c = { .guard = guard, .err = err };
	struct pair p = {
		.from = { from_dirfd, from, from_n, 0 },
		.to = { to_dirfd, to, to_n, 0 },
		.actions = { AGENTBOX_ACTION_LINK, AGENTBOX_ACTION_REPLACE },
		.act = link_places,
		.what = "link it",
	};
	int32_t r = ab_act_begin(&c, decision, &p.from, &p.to);

	return r < 0 ? r : change_pair(&c, &p);
}

/* --- symbolic links --- */

/*
 * Does the text, read from the directory of the link, stay in the area? What
 * it meets on the way is not looked at: every use is judged again.
 */
static bool text_stays(const struct ab_target *t, const char *text)
{
	long depth = 0;

	for (const char *p = t->path + t->in_area; *p; p++)
		depth += *p == '/';
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.')
			depth--;
		else if (n && !(n == 1 && p[0] == '.'))
			depth++;
		if (depth < 0)
			return false;
		p += n;
		p += strspn(p, "/");
	}
	return text[0] != '/';
}

static int32_t make_link(struct ab_act *c, const struct ab_act_path *e,
			 const char *text)
{
	for (int i = 0; i < AB_ACT_RACES; i++) {
		ab_autotarget struct ab_target t;
		struct ab_path_judgement j;
		struct place_in at;
		int r;

		t.fd = -1;
		if (!ab_act_judge(c, AGENTBOX_ACTION_SYMLINK, e, false, &t, &j))
			return ab_act_denied(c, e, &j);
		if (!text_stays(&t, text)) {
			t.why = AB_TARGET_ESCAPES;
			ab_write_judge(c->guard, AGENTBOX_ACTION_SYMLINK, &t,
				       &j);
			return ab_act_denied(c, e, &j);
		}
		if (t.is_dir_form && t.fd < 0)
			return ab_act_kernel_said(c, ENOENT, "make the link");
		r = open_place(&t, &at);
		if (is_race(r))
			continue;
		if (r == 0) {
			r = symlinkat(text, at.fd, at.name) < 0 ? -errno : 0;
			ab_cleanup_fd(&at.fd);
		}
		return ab_act_done(c, r, "make the link");
	}
	return ab_act_no_rest(c);
}

int32_t agentbox_guard_symlink(agentbox_guard *guard, const char *text,
			       size_t text_n, int32_t dirfd, const char *path,
			       size_t n, agentbox_decision **decision,
			       agentbox_error **err)
{
	ab_autoact struct ab_act c = { .guard = guard, .err = err };
	struct ab_act_path e = { dirfd, path, n, 0 };
	char copy[AB_MAX_PATH];
	size_t kept = text && text_n < sizeof(copy) ? text_n : 0;
	int32_t r;

	/* now: the decision that is begun anew may have lent it */
	if (kept)
		memcpy(copy, text, kept);
	copy[kept] = '\0';
	r = ab_act_begin(&c, decision, &e, NULL);
	if (r < 0)
		return r;
	if (text_n >= sizeof(copy))
		return ab_error_set(err, AGENTBOX_ELIMIT, "text",
				    "the text of a link has %zu bytes",
				    text_n);
	if (!kept || strlen(copy) != kept)
		return ab_error_set(err, AGENTBOX_EINVAL, "text",
				    "the text of a link is empty or has a NUL");
	return make_link(&c, &e, copy);
}
