/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file tree of a box: what the policy mounts, the workspace, and what
 * every box has of its own (/proc, /dev, /tmp, a home, a few files in /etc).
 * The tree starts empty, so what is not named here does not exist inside.
 *
 * Refuses host trees that carry kernel interfaces or everybody's sockets,
 * the state directory, and, without a mount namespace, whatever would need
 * one. Spec: DESIGN.md sections 5 and 6; RECIPES.md section 1, item N.
 */
#include "config.h"

#include "walls/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "path/lexical.h"
#include "wire/gateway.h"

#define MAX_NET_FILE 65536
/*
 * Of host files given by value: one, and all of a box together. A larger one
 * costs more to copy, page by page, than to mount.
 */
#define MAX_COPY 16384
#define MAX_COPIES (1u << 20)

enum item_kind { ITEM_MOUNT, ITEM_WORKSPACE, ITEM_TMPFS };

/* Something with a place in the tree; sorted so that parents come first. */
typedef struct item {
	enum item_kind kind;
	const char *to;
	const ab_policy_mount *mount;
	uint64_t size;
	uint32_t mode;
	bool is_late; /* a link of the host, shown under its own name */
} item;

static int compare_items(const void *a, const void *b)
{
	return ab_path_order(((const item *)a)->to, ((const item *)b)->to);
}

/* What already stands at or above `path`, the nearest; NULL: the root. */
static const ab_view *view_at(const ab_build *b, const char *path)
{
	const ab_view *best = NULL;

	for (size_t i = 0; i < b->view_count; i++) {
		const ab_view *v = &b->views[i];

		if (v->inside && ab_path_is_below(path, v->inside) &&
		    (!best || strlen(v->inside) > strlen(best->inside)))
			best = v;
	}
	return best;
}

static bool view_below(const ab_build *b, const char *path)
{
	for (size_t i = 0; i < b->view_count; i++) {
		if (b->views[i].inside &&
		    ab_path_is_below(b->views[i].inside, path))
			return true;
	}
	return false;
}

/* The host's `path` is seen in the box under the same name. */
static bool same_inside(const ab_build *b, const char *path)
{
	const ab_view *v = view_at(b, path);

	return v && v->host && strcmp(v->host, v->inside) == 0;
}

static void add_bind(ab_build *b, ab_hostpath *h, const char *to, bool write,
		     bool exec, bool idmap)
{
	const char *host = ab_build_str(b, h->path);
	const ab_view view = { .inside = to,
			       .host = host,
			       .write = write,
			       .exec = exec,
			       .dir = S_ISDIR(h->mode) };

	if (ab_build_has_tree(b)) {
		ab_plan_step *s = ab_build_step(b, AB_STEP_BIND, 0, to);

		s->source = host;
		s->dev = h->dev;
		s->ino = h->ino;
		if (S_ISDIR(h->mode))
			s->flags |= AB_MOUNT_RECURSIVE;
		if (!write)
			s->flags |= AB_MOUNT_RDONLY;
		if (!exec)
			s->flags |= AB_MOUNT_NOEXEC;
		if (b->pool && idmap && b->input->no_idmap) {
			ab_build_note(b, "'%s' cannot be mapped to the box's "
				      "kernel uid: there it reads and writes "
				      "only what modes allow to others",
				      h->path);
		} else if (b->pool && idmap) {
			s->flags |= AB_MOUNT_IDMAP;
			s->idmap_uid = h->uid;
			s->idmap_gid = h->gid;
		}
	}
	ab_build_view(b, &view);
	ab_build_pin(b, h->fd);
	h->fd = -1;
}

/* A host link stays a link when what it names is visible under that name. */
static bool add_link(ab_build *b, const ab_policy_mount *m,
		     const ab_hostpath *h)
{
	char text[AB_MAX_PATH];
	ab_plan_step *s;

	if (!ab_build_has_tree(b) || strcmp(m->from, m->to) != 0 ||
	    !ab_host_is_link(m->from, text, sizeof(text)) ||
	    !same_inside(b, h->path) || view_at(b, m->to) ||
	    view_below(b, m->to))
		return false;
	s = ab_build_step(b, AB_STEP_SYMLINK, 0, m->to);
	s->source = ab_build_str(b, text);
	return true;
}

/* The bytes of a pinned regular file; NULL: not to be had by value. */
static char *read_pinned(ab_build *b, const ab_hostpath *h, size_t *n)
{
	ab_autofd int fd = ab_fd_lift(open(h->path, O_RDONLY | O_NOFOLLOW |
							   O_NONBLOCK |
							   O_CLOEXEC));
	struct stat st;
	char *text;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != h->dev ||
	    st.st_ino != h->ino || st.st_size > MAX_COPY ||
	    b->copied + (size_t)st.st_size > MAX_COPIES)
		return NULL;
	*n = (size_t)st.st_size;
	text = ab_build_own(b, ab_calloc(*n + 1, 1));
	/* being written to at this moment: then as a mount */
	if (!text || read(fd, text, *n + 1) != (ssize_t)*n)
		return NULL;
	b->copied += *n;
	return text;
}

/*
 * A small file of /etc that everybody may read is put into the box's own
 * /etc by value: dozens of mounts of single files would cost more than the
 * rest of the tree. It is the file of the moment the box was raised.
 */
static bool add_copy(ab_build *b, const ab_policy_mount *m,
		     const ab_hostpath *h)
{
	const ab_view view = { .inside = m->to,
			       .host = ab_build_str(b, h->path) };
	const char *text;
	ab_plan_step *s;
	size_t n = 0;

	if (!ab_build_has_tree(b) || m->access != AB_ACCESS_READ || m->exec ||
	    strcmp(m->from, m->to) != 0 || !ab_path_is_below(m->to, "/etc") ||
	    !S_ISREG(h->mode) || !(h->mode & 0004) || view_at(b, m->to))
		return false;
	text = read_pinned(b, h, &n);
	if (!text)
		return false;
	s = ab_build_step(b, AB_STEP_FILE, 0, m->to);
	s->mode = 0444;
	s->content = text;
	s->content_len = n;
	ab_build_view(b, &view);
	return true;
}

static bool is_private(const ab_hostpath *h)
{
	return (h->mode & 0004) == 0 ||
	       (S_ISDIR(h->mode) && (h->mode & 0001) == 0);
}

static int32_t add_hide(ab_build *b, const ab_policy_mount *m,
			const char *where, agentbox_error **err)
{
	if (!ab_build_has_tree(b)) {
		if (!view_at(b, m->to))
			return 0;
		return ab_error_set(err, AGENTBOX_EWALL, "mountns",
				    "'%s' cannot be hidden without a mount "
				    "namespace",
				    m->to);
	}
	if (!view_at(b, m->to))
		return 0; /* nothing is there to be seen */
	(void)where;
	ab_build_step(b, AB_STEP_HIDE, AB_MOUNT_OPTIONAL, m->to);
	return 0;
}

static int32_t check_socket(ab_build *b, const ab_hostpath *h,
			    const ab_policy_mount *m)
{
	if (S_ISSOCK(h->mode) || S_ISFIFO(h->mode))
		ab_build_note(b, "'%s' is a live channel to a host process, "
			      "given by the policy", m->from);
	return 0;
}

static bool is_link_by_name(const ab_policy_mount *m)
{
	char text[AB_MAX_PATH];

	return strcmp(m->from, m->to) == 0 &&
	       ab_host_is_link(m->from, text, sizeof(text));
}

/* Open it->mount, or leave it for later; *h.fd is -1 when there is nothing. */
static int32_t open_source(item *it, bool links, const char *where,
			   ab_hostpath *h, agentbox_error **err)
{
	const ab_policy_mount *m = it->mount;
	agentbox_error *e = NULL;
	int32_t rc;
	int r;

	h->fd = -1;
	if (it->is_late != links)
		return 0;
	r = links ? -ELOOP : ab_host_open_plain(m->from, h);
	if (r == 0 || (r == -ENOENT && m->optional))
		return 0;
	if (!links && is_link_by_name(m)) {
		it->is_late = true;
		return 0;
	}
	rc = ab_host_resolve(m->from, where, h, &e);
	if (rc == AGENTBOX_ENOTFOUND && m->optional) {
		agentbox_error_free(e);
		return 0;
	}
	return rc ? ab_error_move(err, &e) : 0;
}

/*
 * What a role gives read-only in a tree that it writes has to be there: a box
 * could make it, and every later one would trust what is in it.
 */
static int32_t check_missing(const ab_build *b, const ab_policy_mount *m,
			     const char *where, agentbox_error **err)
{
	const ab_view *v = view_at(b, m->to);
	struct stat st;

	if (!m->from_role || m->access != AB_ACCESS_READ || !v || !v->write ||
	    lstat(m->from, &st) == 0)
		return 0;
	return ab_error_set(err, AGENTBOX_ENOTFOUND, where,
			    "'%s' is not there, and the box could make it: "
			    "make the directory first", m->from);
}

static int32_t add_mount(ab_build *b, item *it, bool links,
			 agentbox_error **err)
{
	const ab_policy_mount *m = it->mount;
	ab_hostpath h;
	char where[AB_MAX_PATH + 16];
	int32_t rc;

	snprintf(where, sizeof(where), "mounts[%s]", m->to);
	if (m->access == AB_ACCESS_HIDE)
		return links ? 0 : add_hide(b, m, where, err);
	rc = open_source(it, links, where, &h, err);
	if (!rc && h.fd < 0 && !links)
		rc = check_missing(b, m, where, err);
	if (rc || h.fd < 0)
		return rc;
	rc = ab_host_check(&h, where, err);
	if (!rc)
		rc = ab_host_check_links(b, m->from, &h, where, err);
	if (!rc && !ab_build_has_tree(b) &&
	    strcmp(m->from, m->to) != 0)
		rc = ab_error_set(err, AGENTBOX_EWALL, "mountns",
				  "'%s' can only be shown as '%s' with a mount "
				  "namespace",
				  m->from, m->to);
	if (rc || (links && add_link(b, m, &h)) || add_copy(b, m, &h)) {
		close(h.fd);
		return rc;
	}
	check_socket(b, &h, m);
	add_bind(b, &h,
		 !ab_build_has_tree(b) ? ab_build_str(b, h.path) :
						      m->to,
		 m->access == AB_ACCESS_WRITE, m->exec,
		 m->access == AB_ACCESS_WRITE || is_private(&h));
	return 0;
}

static int32_t add_workspace(ab_build *b, agentbox_error **err)
{
	const ab_policy_workspace *w = &b->policy->workspace;
	bool landlock = !ab_build_has_tree(b);
	bool write = w->mount == AB_WORKSPACE_DIRECT;
	ab_hostpath h = { .fd = -1 };
	const char *at;
	int32_t rc;

	rc = ab_host_resolve(w->path, "workspace.path", &h, err);
	if (!rc)
		rc = ab_host_check(&h, "workspace.path", err);
	if (!rc)
		rc = ab_host_check_links(b, w->path, &h, "workspace.path",
					 err);
	if (!rc && !S_ISDIR(h.mode))
		rc = ab_error_set(err, AGENTBOX_EINVAL, "workspace.path",
				  "'%s' is not a directory", w->path);
	if (rc) {
		if (h.fd >= 0)
			close(h.fd);
		return rc;
	}
	at = w->at_same || !w->at ? ab_build_str(b, w->path) : w->at;
	if (landlock && at && strcmp(at, h.path) != 0) {
		ab_build_note(b, "the workspace is at '%s': without a mount "
			      "namespace it keeps its host path", h.path);
		at = ab_build_str(b, h.path);
	}
	if (write) {
		b->workspace = h;
		b->workspace.fd = ab_fd_dup(h.fd);
		if (b->workspace.fd < 0)
			b->nomem = true;
	}
	b->plan.workspace_host = ab_build_str(b, h.path);
	b->plan.workspace_inside = at;
	b->plan.workspace_dev = h.dev;
	b->plan.workspace_ino = h.ino;
	add_bind(b, &h, at, write, true, true);
	return 0;
}

int32_t ab_tree_find_workspace(ab_build *b, agentbox_error **err)
{
	const char *path = b->policy->workspace.path;
	ab_hostpath h = { .fd = -1 };
	int32_t rc;

	if (!path)
		return 0;
	rc = ab_host_resolve(path, "workspace.path", &h, err);
	if (rc)
		return rc;
	if (!S_ISDIR(h.mode))
		rc = ab_error_set(err, AGENTBOX_EINVAL, "workspace.path",
				  "'%s' is not a directory", path);
	b->plan.workspace_host = b->plan.workspace_inside =
		ab_build_str(b, h.path);
	b->plan.workspace_dev = h.dev;
	b->plan.workspace_ino = h.ino;
	ab_build_pin(b, h.fd);
	return rc;
}

static void add_tmpfs(ab_build *b, const item *it)
{
	const ab_view view = { .inside = it->to,
			       .write = true,
			       .exec = true,
			       .dir = true };
	ab_plan_step *s;

	if (!ab_build_has_tree(b))
		return; /* a private directory needs a mount namespace */
	s = ab_build_step(b, AB_STEP_TMPFS, 0, it->to);
	s->size = it->size;
	s->mode = it->mode;
	ab_build_view(b, &view);
}

/*
 * limits.disk, else a default. Pages of tmpfs are memory, and a box that
 * filled its memory with files could not start the command that removes
 * them: at most half of the memory limit, whoever counts it.
 */
uint64_t ab_tree_private_bytes(const ab_build *b)
{
	const ab_policy_number *disk = &b->policy->limits.value[AB_LIMIT_DISK];
	const ab_policy_number *mem = &b->policy->limits.value[AB_LIMIT_MEMORY];
	uint64_t n = AB_DEFAULT_PRIVATE_BYTES;

	if (disk->state == AB_POLICY_SET)
		n = disk->value;
	if (mem->state == AB_POLICY_SET && mem->value / 2 < n)
		n = mem->value / 2;
	return n < 4 * 65536 ? 4 * 65536 : n;
}

static int32_t add_items(ab_build *b, item *items, size_t n,
			 agentbox_error **err)
{
	qsort(items, n, sizeof(*items), compare_items);
	for (size_t i = 0; i < n; i++) {
		int32_t rc = 0;

		switch (items[i].kind) {
		case ITEM_MOUNT:
			rc = add_mount(b, &items[i], false, err);
			break;
		case ITEM_WORKSPACE:
			rc = add_workspace(b, err);
			break;
		case ITEM_TMPFS:
			add_tmpfs(b, &items[i]);
			break;
		}
		if (rc)
			return rc;
	}
	/* links last: only now is it known what they can point at */
	for (size_t i = 0; i < n; i++) {
		int32_t rc = items[i].kind == ITEM_MOUNT ?
				     add_mount(b, &items[i], true, err) :
				     0;

		if (rc)
			return rc;
	}
	return 0;
}

static void add_writable(ab_build *b, const char *path)
{
	char *real = realpath(path, NULL);

	/* what is not there is missed, or left out, when it is mounted */
	if (!real && errno != ENOMEM)
		return;
	real = ab_build_own(b, real);
	if (real)
		b->writable[b->writable_count++] = real;
}

/* Where this policy lets a box write, and so lets it make links. */
static void find_writable(ab_build *b)
{
	const ab_policy *p = b->policy;
	char *room = ab_calloc(p->mount_count + 1, sizeof(*b->writable));

	b->writable = (const char **)(void *)ab_build_own(b, room);
	if (!b->writable)
		return;
	if (p->workspace.path && p->workspace.mount != AB_WORKSPACE_READ)
		add_writable(b, p->workspace.path);
	for (size_t i = 0; i < p->mount_count; i++) {
		if (p->mounts[i].access == AB_ACCESS_WRITE)
			add_writable(b, p->mounts[i].from);
	}
}

static bool mounted_by_policy(const ab_policy *p, const char *to)
{
	for (size_t i = 0; i < p->mount_count; i++) {
		if (strcmp(p->mounts[i].to, to) == 0)
			return true;
	}
	return p->workspace.at && strcmp(p->workspace.at, to) == 0;
}

static int32_t collect(ab_build *b, agentbox_error **err)
{
	const ab_policy *p = b->policy;
	uint64_t bytes = ab_tree_private_bytes(b);
	item *items = ab_calloc(p->mount_count + 3, sizeof(*items));
	size_t n = 0;
	int32_t rc;

	if (!items)
		return ab_error_nomem(err);
	for (size_t i = 0; i < p->mount_count; i++)
		items[n++] = (item){ .kind = ITEM_MOUNT,
				     .to = p->mounts[i].to,
				     .mount = &p->mounts[i] };
	if (p->workspace.path)
		items[n++] = (item){ .kind = ITEM_WORKSPACE,
				     .to = p->workspace.at ?
						   p->workspace.at :
						   p->workspace.path };
	if (!mounted_by_policy(p, "/tmp"))
		items[n++] = (item){ .kind = ITEM_TMPFS,
				     .to = "/tmp",
				     .size = bytes / 2,
				     .mode = 01777 };
	if (!mounted_by_policy(p, AB_BOX_HOME))
		items[n++] = (item){ .kind = ITEM_TMPFS,
				     .to = AB_BOX_HOME,
				     .size = bytes / 4,
				     .mode = 0700 };
	find_writable(b);
	rc = add_items(b, items, n, err);
	free(items);
	return rc;
}

/*
 * What /proc tells about the host and not about the box, or lets an owner of
 * uid 0 change: the names that runc, crun and podman mask, and the host's
 * keys and interrupts. Names this kernel does not have cost nothing; a /proc
 * of the host that cannot be asked (none, or subset=pid) skips none.
 */
static void mask_proc(ab_build *b)
{
	static const struct {
		const char *path;
		bool readonly;
	} rows[] = {
		{ "/proc/acpi", false },
		{ "/proc/asound", false },
		{ "/proc/interrupts", false },
		{ "/proc/kcore", false },
		{ "/proc/key-users", false },
		{ "/proc/keys", false },
		{ "/proc/latency_stats", false },
		{ "/proc/sched_debug", false },
		{ "/proc/scsi", false },
		{ "/proc/sysrq-trigger", false },
		{ "/proc/timer_list", false },
		{ "/proc/timer_stats", false },
		{ "/proc/bus", true },
		{ "/proc/fs", true },
		{ "/proc/irq", true },
		{ "/proc/sys", true },
	};
	bool whole = faccessat(AT_FDCWD, "/proc/uptime", F_OK, 0) == 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		if (whole && faccessat(AT_FDCWD, rows[i].path, F_OK, 0) < 0 &&
		    errno == ENOENT)
			continue;
		ab_build_step(b, rows[i].readonly ? AB_STEP_SELF : AB_STEP_HIDE,
			      AB_MOUNT_OPTIONAL |
				      (rows[i].readonly ? AB_MOUNT_RDONLY |
						      AB_MOUNT_RECURSIVE :
							  0),
			      rows[i].path);
	}
}

/* /proc and /dev of the box's own. */
static void add_kernel_trees(ab_build *b)
{
	const ab_view dev = { .inside = "/dev",
			      .write = true,
			      .dir = true,
			      .device = true };
	const ab_view shm = { .inside = "/dev/shm",
			      .write = true,
			      .exec = true,
			      .dir = true };
	const ab_view proc = { .inside = "/proc", .dir = true, .proc = true };
	ab_plan_step *s;

	if (b->input->tier == AB_TIER_FULL) {
		ab_build_step(b, AB_STEP_PROC, 0, "/proc");
		mask_proc(b);
		ab_build_view(b, &proc);
	} else {
		ab_build_note(b, "no /proc: a new one cannot be mounted here");
	}
	s = ab_build_step(b, AB_STEP_DEV, 0, "/dev");
	s->size = ab_tree_private_bytes(b) / 4;
	ab_build_view(b, &dev);
	ab_build_view(b, &shm);
}

/* Merged /usr: /bin and its like are links (file-hierarchy(7)). */
static void add_usr_links(ab_build *b)
{
	static const char *const links[] = { "/bin",   "/sbin",  "/lib",
					     "/lib32", "/lib64", "/libx32" };
	char text[AB_MAX_PATH], target[AB_MAX_PATH + 2];

	for (size_t i = 0; i < AB_ARRAY_LEN(links); i++) {
		ab_plan_step *s;

		if (mounted_by_policy(b->policy, links[i]) ||
		    view_at(b, links[i]) || view_below(b, links[i]) ||
		    !ab_host_is_link(links[i], text, sizeof(text)))
			continue;
		snprintf(target, sizeof(target), "%s%s",
			 text[0] == '/' ? "" : "/", text);
		if (!same_inside(b, target))
			continue;
		s = ab_build_step(b, AB_STEP_SYMLINK, 0, links[i]);
		s->source = ab_build_str(b, text);
	}
	if (!view_at(b, "/var/tmp") && !view_below(b, "/var/tmp")) {
		ab_plan_step *s = ab_build_step(b, AB_STEP_SYMLINK, 0,
						"/var/tmp");

		s->source = "/tmp";
	}
}

static void add_file(ab_build *b, const char *path, const char *text)
{
	ab_plan_step *s;

	/* a mount of the policy shows its own */
	if (view_at(b, path))
		return;
	s = ab_build_step(b, AB_STEP_FILE, 0, path);
	s->mode = 0444;
	s->content = text ? text : "";
	s->content_len = strlen(s->content);
}

/* A host file by value, for boxes on the host's network; "" when absent. */
static const char *host_text(ab_build *b, const char *path)
{
	ab_autofd int fd = ab_fd_lift(open(path, O_RDONLY | O_NONBLOCK |
							 O_CLOEXEC));
	char *text = NULL;
	size_t n;

	if (fd < 0 || ab_fd_slurp(fd, MAX_NET_FILE, &text, &n) != 0)
		return "";
	return ab_build_own(b, text);
}

static void add_etc(ab_build *b)
{
	bool host_net = b->policy->network.mode == AB_NET_HOST;
	const char *hosts = ab_build_own(
		b, ab_asprintf("127.0.0.1 localhost %s\n"
			       "::1 localhost ip6-localhost ip6-loopback\n",
			       b->plan.hostname));

	add_file(b, "/etc/passwd",
		 "root:x:0:0:root:/:/usr/sbin/nologin\n" AB_BOX_USER
		 ":x:1000:1000:agent:" AB_BOX_HOME ":/bin/sh\n"
		 "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n");
	add_file(b, "/etc/group",
		 "root:x:0:\ntty:x:5:\n" AB_BOX_USER
		 ":x:1000:\nnogroup:x:65534:\n");
	add_file(b, "/etc/nsswitch.conf",
		 "passwd: files\ngroup: files\nshadow: files\n"
		 "hosts: files dns\nservices: files\nprotocols: files\n");
	add_file(b, "/etc/hostname",
		 ab_build_own(b, ab_asprintf("%s\n", b->plan.hostname)));
	add_file(b, "/etc/hosts",
		 host_net ? host_text(b, "/etc/hosts") : hosts);
	add_file(b, "/etc/resolv.conf",
		 host_net ? host_text(b, "/etc/resolv.conf")
		 : b->policy->network.mode == AB_NET_GATEWAY
			 ? "nameserver " AB_GATEWAY_IPV4_TEXT "\n" : "");
}

static bool has_step(const ab_build *b, uint32_t kind, const char *target)
{
	for (uint32_t i = 0; i < b->plan.step_count; i++) {
		const ab_plan_step *s = &b->plan.steps[i];

		if (s->kind == kind && s->target &&
		    strcmp(s->target, target) == 0)
			return true;
	}
	return false;
}

/* No directory above a cover may be moved away, and another made there. */
static void pin_above(ab_build *b, const ab_view *v, const char *rest)
{
	for (const char *p = strchr(rest, '/'); p; p = strchr(p + 1, '/')) {
		char *part = ab_build_own(
			b, ab_asprintf("%.*s", (int)(p - rest), rest));
		const char *at = ab_build_join(b, v->inside, part);
		const char *host = ab_build_join(b, v->host, part);
		struct stat st;

		if (!at || !host)
			return; /* sticky */
		/* what is covered later may not be there yet */
		if (lstat(host, &st) < 0 || !S_ISDIR(st.st_mode))
			return;
		if (!has_step(b, AB_STEP_SELF, at) &&
		    !has_step(b, AB_STEP_BIND, at))
			ab_build_step(b, AB_STEP_SELF, AB_MOUNT_RECURSIVE, at);
	}
}

/* The tree of the host that a mount point lies in; NULL: in none. */
static const ab_view *tree_around(const ab_build *b, const char *at)
{
	const ab_view *best = NULL;

	for (size_t i = 0; i < b->view_count; i++) {
		const ab_view *v = &b->views[i];

		if (v->inside && strcmp(v->inside, at) != 0 &&
		    ab_path_is_below(at, v->inside) &&
		    (!best || strlen(v->inside) > strlen(best->inside)))
			best = v;
	}
	return best && best->host ? best : NULL;
}

/*
 * A mount moves along with the directory above it: the agent could take away
 * what he may not write, and have a hidden file stand at a path that nobody
 * covers again when the host replaces it.
 */
static void pin_covers(ab_build *b)
{
	for (uint32_t i = 0, n = b->plan.step_count; i < n; i++) {
		const ab_plan_step *s = &b->plan.steps[i];
		const char *at = s->target;
		const ab_view *v;

		if (!at || (s->kind != AB_STEP_HIDE &&
			    s->kind != AB_STEP_BIND &&
			    s->kind != AB_STEP_TMPFS))
			continue;
		v = tree_around(b, at);
		if (v && v->write)
			pin_above(b, v, ab_path_rest(at, v->inside));
	}
}

static void mask_state(ab_build *b, const ab_view *v, const char *rest)
{
	const char *at = ab_build_join(b, v->inside, rest);

	if (!at)
		return; /* sticky */
	/* over a mask that the policy has there: a pin takes it along */
	if (v->write)
		pin_above(b, v, rest);
	/* two mounts, or the policy, may have it at one place */
	if (!has_step(b, AB_STEP_HIDE, at))
		ab_build_step(b, AB_STEP_HIDE, 0, at);
}

/* Case 33: the state directory is seen by no box, nor can it be replaced. */
static int32_t hide_state(ab_build *b, agentbox_error **err)
{
	const char *state = ab_context_state_dir(b->context);
	size_t n = b->view_count;
	char *canonical;
	int32_t rc = 0;

	if (!state)
		return 0;
	if (!b->input->dry) {
		/* made now, or a writable mount could make it first */
		ab_autofd int fd = -1;

		rc = ab_context_open_state(b->context, &fd, err);
		if (rc)
			return rc;
	}
	canonical = realpath(state, NULL);
	if (!canonical)
		return b->input->dry ? 0 :
				       ab_error_sys(err, errno, "state",
						    "cannot resolve '%s'",
						    state);
	for (size_t i = 0; i < n && !rc; i++) {
		const ab_view *v = &b->views[i];
		const char *rest =
			v->host ? ab_path_rest(canonical, v->host) : NULL;

		if (v->host && ab_path_is_below(v->host, canonical))
			rc = ab_error_set(err, AGENTBOX_EDENIED, v->inside,
					  "'%s' lies in the state directory "
					  "'%s', which no box may see",
					  v->host, canonical);
		else if (rest && !ab_build_has_tree(b))
			rc = ab_error_set(err, AGENTBOX_EWALL, "mountns",
					  "the state directory '%s' below '%s' "
					  "cannot be hidden without a mount "
					  "namespace",
					  canonical, v->host);
		else if (rest)
			mask_state(b, v, rest);
	}
	free(canonical);
	return rc;
}

int32_t ab_tree_compile(ab_build *b, agentbox_error **err)
{
	int32_t rc = collect(b, err);

	if (rc)
		return rc;
	if (ab_build_has_tree(b)) {
		add_kernel_trees(b);
		if (!view_at(b, "/run"))
			ab_build_step(b, AB_STEP_DIR, 0, "/run")->mode = 0755;
		add_usr_links(b);
		add_etc(b);
	} else {
		ab_build_note(b, "no private /tmp, home, /proc or /dev: set "
			      "TMPDIR to a directory of the workspace");
		/* a rule for /dev/pts would open every terminal of the uid */
		ab_build_note(b, "no terminal: the host's would be in reach");
	}
	if (ab_build_has_tree(b))
		pin_covers(b);
	return hide_state(b, err);
}
