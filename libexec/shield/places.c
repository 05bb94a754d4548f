/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a call is about that connects, opens a file or changes a name (that of
 * a bound socket is one): an address, or names as the box's own tree has them.
 * Names are found by reading links alone, below the process's root in /proc,
 * so nothing of an agent's is ever opened here. What is below .shared is a
 * peer's, and no grant lets anybody write there: whoever tries does what no
 * layer has allowed; and so does who reads it without a grant in force.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/limits.h"
#include "state.h"

#define HERE (-1) /* no argument: from the working directory on */

/* By their arguments: up to two paths, each with its directory. */
typedef struct names_call {
	uint32_t nr;
	const char *name;
	struct {
		int8_t dir, path, flags; /* flags: -1 none */
		uint32_t nofollow, follow; /* of the flags; both 0: `not` */
		bool not;
	} at[2];
	uint32_t count;
} names_call;

#define PATH(d, p) { d, p, -1, 0, 0, false }
#define NAME(d, p) { d, p, -1, 0, 0, true }
#define OPEN(d, p, f) { d, p, f, O_NOFOLLOW, 0, false }

static const names_call names_calls[] = {
	{ SYS_openat, "open", { OPEN(0, 1, 2) }, 1 },
	{ SYS_truncate, "truncate", { PATH(HERE, 0) }, 1 },
	{ SYS_renameat2, "rename", { NAME(0, 1), NAME(2, 3) }, 2 },
	{ SYS_linkat, "link",
	  { { 0, 1, 4, 0, AT_SYMLINK_FOLLOW, true }, NAME(2, 3) }, 2 },
	{ SYS_symlinkat, "symlink", { NAME(1, 2) }, 1 },
	{ SYS_unlinkat, "unlink", { NAME(0, 1) }, 1 },
	{ SYS_mkdirat, "mkdir", { NAME(0, 1) }, 1 },
	{ SYS_mknodat, "mknod", { NAME(0, 1) }, 1 },
	{ SYS_bind, "bind", { { 0 } }, 0 }, /* see look_at_bind() */
#ifdef SYS_renameat
	{ SYS_renameat, "rename", { NAME(0, 1), NAME(2, 3) }, 2 },
#endif
#ifdef SYS_open
	{ SYS_open, "open", { OPEN(HERE, 0, 1) }, 1 },
	{ SYS_creat, "open", { PATH(HERE, 0) }, 1 },
	{ SYS_rename, "rename", { NAME(HERE, 0), NAME(HERE, 1) }, 2 },
	{ SYS_link, "link", { NAME(HERE, 0), NAME(HERE, 1) }, 2 },
	{ SYS_symlink, "symlink", { NAME(HERE, 1) }, 1 },
	{ SYS_unlink, "unlink", { NAME(HERE, 0) }, 1 },
	{ SYS_rmdir, "rmdir", { NAME(HERE, 0) }, 1 },
	{ SYS_mkdir, "mkdir", { NAME(HERE, 0) }, 1 },
	{ SYS_mknod, "mknod", { NAME(HERE, 0) }, 1 },
#endif
};

/* --- names ---------------------------------------------------------------- */

/*
 * "self" in the box's /proc is who asks, and that is not us: its own entry of
 * ours has the same links. Threads have other numbers there, and the box's
 * own entry for each of them. False: `path` is none of these.
 */
static bool own_entry(const ab_caller *t, const char *path, char *name,
		      size_t size)
{
	static const char self[] = "/proc/self/", task[] = "task/";
	static const char thread[] = "/proc/thread-self/";
	bool is_self = strncmp(path, self, sizeof(self) - 1) == 0;

	if (!is_self && strncmp(path, thread, sizeof(thread) - 1) != 0)
		return false;
	path += is_self ? sizeof(self) - 1 : sizeof(thread) - 1;
	if (strncmp(path, task, sizeof(task) - 1) == 0)
		snprintf(name, size, "%d/root/proc/%s", (int)t->pid,
			 path + sizeof(task) - 1);
	else
		snprintf(name, size, "%d/%s",
			 (int)(is_self ? ab_caller_leader(t) : t->pid), path);
	return true;
}

static ssize_t read_box_link(void *arg, const char *path, char *out,
			     size_t size)
{
	const ab_caller *t = arg;
	char name[AB_MAX_PATH + 64];
	ssize_t n;

	if (strcmp(path, "/proc/self") == 0 ||
	    strcmp(path, "/proc/thread-self") == 0)
		return 0;
	if (!own_entry(t, path, name, sizeof(name)))
		snprintf(name, sizeof(name), "%d/root%s", (int)t->pid, path);
	n = readlinkat(t->sh->proc_fd, name, out, size);
	if (n < 0)
		return errno == EINVAL ? 0 : -errno;
	return (size_t)n < size ? n : -ENAMETOOLONG;
}

/*
 * Where a name begins; "": nowhere. 0, or -errno where that cannot be said: of
 * a directory deeper than PATH_MAX the kernel has no name.
 */
static int find_start(const ab_caller *t, int dirfd, const char *path,
		      char out[AB_MAX_PATH])
{
	const char *cwd;
	char name[32];
	ssize_t n;

	out[0] = '\0';
	if (path[0] == '/')
		return 0;
	if (dirfd == AT_FDCWD) {
		n = ab_caller_cwd(t, &cwd);
		if (n > 0)
			memcpy(out, cwd, (size_t)n + 1);
	} else {
		snprintf(name, sizeof(name), "fd/%d", dirfd);
		n = ab_caller_link(t, name, out, AB_MAX_PATH);
	}
	return n < 0 && n != -ENOENT ? (int)n : 0;
}

/* Length, 0: nowhere, -errno. */
static ssize_t resolve(const ab_caller *t, int dirfd, const char *path,
		       bool follow, char *out, size_t size)
{
	const ab_sh_tree tree = { read_box_link, (void *)(uintptr_t)t,
				  t->sh->shared };
	char start[AB_MAX_PATH];
	int r = find_start(t, dirfd, path, start);

	return r ? r : ab_sh_resolve(&tree, start, path, follow, out, size);
}

/*
 * The same. Where this side cannot read the kernel may: a page that may only
 * be written is one. So only no address at all is nowhere; any other bad one
 * is asked about, and would have failed with EFAULT anyway.
 */
static ssize_t find_name(const ab_caller *t, int dirfd, uint64_t address,
			 bool follow, char *out, size_t size)
{
	const char *path;
	int r = address ? ab_caller_read_text(t, address, &path) : 0;

	if (!address || r)
		return r;
	return resolve(t, dirfd, path, follow, out, size);
}

static bool is_followed(const struct seccomp_data *d, const names_call *c,
			uint32_t i)
{
	int at = c->at[i].flags;
	uint32_t flags = at < 0 ? 0 : (uint32_t)d->args[at];

	if (c->at[i].not)
		return flags & c->at[i].follow;
	return !(flags & c->at[i].nofollow) &&
	       (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
}

/* 1: a name of a peer's is in sh->place, 0: none is, -errno. */
static int look_at_names(const ab_caller *t, const struct seccomp_notif *n,
			 const names_call *c)
{
	ab_sh *sh = t->sh;
	ssize_t len;

	for (uint32_t i = 0; i < c->count; i++) {
		int dir = c->at[i].dir == HERE
				  ? AT_FDCWD
				  : (int)n->data.args[c->at[i].dir];

		len = find_name(t, dir, n->data.args[c->at[i].path],
				is_followed(&n->data, c, i), sh->place,
				sizeof(sh->place));
		if (len < 0)
			return (int)len;
		if (len && ab_sh_is_below(sh->place, sh->shared))
			return 1;
	}
	return 0;
}

static void say_unread(ab_sh *sh, ab_shield_record *m, ab_exec_finding *f)
{
	sh->place[0] = '\0';
	m->object = m->command = sh->place;
	m->flags |= AB_SHIELD_UNREAD;
	ab_exec_find(f, AGENTBOX_VERDICT_ASK, "shield.unread",
		     "what it names cannot be read");
}

/* Of a program of the host's own nothing is told. */
static bool is_own(const ab_sh *sh, int error)
{
	return error == -EPERM && sh->own;
}

static void say_call(ab_sh *sh, const char *call, ab_shield_record *m)
{
	snprintf(sh->command, sizeof(sh->command), "%s %.4000s", call,
		 sh->place);
	m->object = sh->place;
	m->command = sh->command;
}

static void say_peer(ab_sh *sh, const char *call, ab_shield_record *m,
		     ab_exec_finding *f)
{
	say_call(sh, call, m);
	m->flags |= AB_SHIELD_MISMATCH;
	ab_exec_find(f, AGENTBOX_VERDICT_DENY, "shield.peer",
		     "nothing but reading is granted of a peer");
}

/* --- addresses ------------------------------------------------------------ */

/* Where the address of a call lies and how long it is: 0 or -errno. */
static int find_address(const ab_caller *t, const struct seccomp_notif *n,
			uint64_t *at, uint64_t *size)
{
	const struct seccomp_data *d = &n->data;
	struct msghdr head;
	int r;

	switch (d->nr) {
	case SYS_bind:
	case SYS_connect:
		*at = d->args[1];
		*size = (uint32_t)d->args[2];
		return 0;
	case SYS_sendto:
		*at = d->args[4];
		*size = (uint32_t)d->args[5];
		return 0;
	default:
		/* of several messages the first one connects */
		r = ab_caller_read(t, d->args[1], &head, sizeof(head));
		*at = (uintptr_t)head.msg_name;
		*size = head.msg_namelen;
		return r;
	}
}

static int read_address(const ab_caller *t, const struct seccomp_notif *n,
			ab_sh_address *out)
{
	uint8_t bytes[AB_SH_ADDRESS_BYTES];
	uint64_t at = 0, size = 0;
	bool is_sent = n->data.nr != SYS_connect && n->data.nr != SYS_bind;
	int r = find_address(t, n, &at, &size);

	if (!r && size > sizeof(bytes))
		r = -EINVAL;
	if (!r && size)
		r = ab_caller_read(t, at, bytes, size);
	if (!r)
		r = ab_sh_address_get(out, bytes, size, is_sent);
	return r;
}

/* A socket with a name in the file system may be a peer's: 1, 0, -errno. */
static int look_at_socket(const ab_caller *t, const ab_sh_address *a,
			  bool follow)
{
	ssize_t n = resolve(t, AT_FDCWD, a->text, follow, t->sh->place,
			    sizeof(t->sh->place));

	if (n < 0)
		return (int)n;
	return n && ab_sh_is_below(t->sh->place, t->sh->shared);
}

static void look_at_address(const ab_caller *t, const struct seccomp_notif *n,
			    ab_shield_record *m, ab_exec_finding *f,
			    bool *quiet)
{
	ab_sh *sh = t->sh;
	const char *why = NULL;
	ab_sh_address a;
	int r = read_address(t, n, &a);

	if (!r && a.kind == AB_SH_PATH)
		r = look_at_socket(t, &a, true);
	*quiet = is_own(sh, r);
	if (r < 0) {
		say_unread(sh, m, f);
		return;
	}
	if (r) {
		say_peer(sh, "connect", m, f);
		return;
	}
	snprintf(sh->place, sizeof(sh->place), "%s", a.text);
	m->object = m->command = sh->place;
	ab_exec_find(f, AGENTBOX_VERDICT_ALLOW, "", "");
	if (a.kind == AB_SH_INTERNET)
		why = ab_sh_network_refuse(&sh->network, &a.target);
	if (why)
		ab_exec_find(f, AGENTBOX_VERDICT_DENY, "shield.address", why);
}

/* --- which of them -------------------------------------------------------- */

/* It makes a name; what is no address the kernel refuses: 1, 0, -errno. */
static int look_at_bind(const ab_caller *t, const struct seccomp_notif *n)
{
	ab_sh_address a;
	int r = read_address(t, n, &a);

	if (r)
		return r == -EINVAL ? 0 : r;
	return a.kind == AB_SH_PATH ? look_at_socket(t, &a, false) : 0;
}

#define TO_WRITE (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

static bool is_read(const struct seccomp_notif *n)
{
	switch (n->data.nr) {
	case SYS_openat:
		return !(n->data.args[2] & TO_WRITE);
#ifdef SYS_open
	case SYS_open:
		return !(n->data.args[1] & TO_WRITE);
#endif
	default:
		return false;
	}
}

/* Of a peer's file in sh->place. False: it is the list of the peers. */
static bool say_read(ab_sh *sh, ab_shield_record *m, ab_exec_finding *f)
{
	const char *name = sh->place + strlen(sh->shared);

	name += strspn(name, "/");
	if (!*name)
		return false;
	say_call(sh, "read", m);
	m->kind = AB_SHIELD_READ;
	ab_exec_find(f, AGENTBOX_VERDICT_ALLOW, "", "");
	if (ab_sh_grants_cover(&sh->grants, name, strcspn(name, "/")))
		return true;
	m->flags |= AB_SHIELD_MISMATCH;
	ab_exec_find(f, AGENTBOX_VERDICT_DENY, "shield.peer",
		     "no grant to read it is in force");
	return true;
}

static bool look_at_files(const ab_caller *t, const struct seccomp_notif *n,
			  ab_shield_record *m, ab_exec_finding *f, bool *quiet)
{
	const names_call *c = NULL;
	int r;

	for (size_t i = 0; i < AB_ARRAY_LEN(names_calls) && !c; i++)
		if ((uint32_t)n->data.nr == names_calls[i].nr)
			c = &names_calls[i];
	if (!c)
		return false;
	m->kind = AB_SHIELD_PEER;
	r = c->count ? look_at_names(t, n, c) : look_at_bind(t, n);
	*quiet = r == 0 || is_own(t->sh, r);
	if (*quiet)
		return true;
	if (r < 0)
		say_unread(t->sh, m, f);
	else if (is_read(n))
		*quiet = !say_read(t->sh, m, f);
	else
		say_peer(t->sh, c->name, m, f);
	return true;
}

ssize_t ab_sh_follow(const ab_caller *t, int dirfd, const char *path,
		     char *out, size_t size)
{
	return resolve(t, dirfd, path, true, out, size);
}

int ab_sh_find_file(const ab_caller *t, int dirfd, const char *path)
{
	static const char deleted[] = " (deleted)";
	char *out = t->sh->place, text[AB_MAX_PATH];
	ssize_t n = resolve(t, dirfd, path, true, out, sizeof(t->sh->place));
	size_t len = strlen(out);

	/* what /proc says of a file that is open and has no name */
	if (n < 0 || !len ||
	    (len >= sizeof(deleted) &&
	     !strcmp(out + len + 1 - sizeof(deleted), deleted)))
		return 0;
	/* where it ended, there or further up */
	n = read_box_link((void *)(uintptr_t)t, out, text, sizeof(text));
	return n == -ENOENT || n == -ENOTDIR ? (int)n : 0;
}

bool ab_sh_look_at_place(const ab_caller *t,
			 const struct seccomp_notif *notice,
			 ab_shield_record *m, ab_exec_finding *f, bool *quiet)
{
	t->sh->used = 0;
	switch (notice->data.nr) {
	case SYS_connect:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
		m->kind = AB_SHIELD_CONNECT;
		look_at_address(t, notice, m, f, quiet);
		return true;
	default:
		return look_at_files(t, notice, m, f, quiet);
	}
}
