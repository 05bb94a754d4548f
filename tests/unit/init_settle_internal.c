/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What agentbox-init makes of a look at a protected name: is it gone, moved,
 * or still the host's? Its parts are linked with a clock and with neighbours
 * that answer what a test says; files and mounts are real.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "base/fd.h"
#include "init_neighbours.h"
#include "sys.h"
#include "watcher.h"

#define MS 1000000ull

static char top[4096];
static bool is_late_adopted, is_moved_meanwhile;
static unsigned names_looks;
static int mount_error;
static init_shared shared;
static init_box box;
static watcher w;
static guarded list[2];
static const ab_plan_step self_step = {.kind = AB_STEP_SELF,
				       .flags = AB_MOUNT_RDONLY,
				       .target = "/w/d/x"};

int init_mount_self(int root_fd, const char *path, uint32_t flags)
{
	int tree;

	(void)flags;
	if (mount_error)
		return mount_error;
	/* a command begins just then */
	atomic_store(&shared.started_ns, 7);
	tree = ab_sys_open_tree(root_fd, path, OPEN_TREE_CLONE | O_CLOEXEC);
	if (tree >= 0 && ab_sys_move_mount(tree, "", root_fd, path,
					   MOVE_MOUNT_F_EMPTY_PATH))
		return -EIO;
	return tree;
}

static void replace_dir(void);

void init_settle_names(watcher *x)
{
	/* all was looked through */
	x->is_lost = false;
	x->has_adopted |= is_late_adopted;
	names_looks++;
	if (!is_moved_meanwhile)
		return;
	is_moved_meanwhile = false;
	x->has_adopted = true;
	replace_dir();
}

int init_bind_self(int root_fd, const char *path, uint32_t flags)
{
	(void)root_fd;
	(void)path;
	(void)flags;
	return mount_error;
}

int init_bind_nothing(int root_fd, const char *path)
{
	return init_bind_self(root_fd, path, 0);
}

int init_bind_tree(int root_fd, const char *path, int tree_fd)
{
	return init_bind_self(root_fd, path, (uint32_t)tree_fd);
}

int init_clone_source(init_box *b, const ab_plan_step *s)
{
	(void)b;
	(void)s;
	return -EINVAL;
}

int init_new_tmpfs(uint64_t size, uint32_t mode, uint64_t attrs)
{
	(void)size;
	(void)mode;
	(void)attrs;
	return -EINVAL;
}

uint64_t init_mount_attrs(uint32_t flags)
{
	return flags;
}

bool init_is_path_below(const char *path, const char *dir)
{
	return strncmp(path, dir, strlen(dir)) == 0;
}

bool init_is_below_git(const char *path)
{
	return strstr(path, ".git/") != NULL;
}

bool init_knows_pointer(const watcher *x, const char *path)
{
	(void)x;
	(void)path;
	return false;
}

bool init_read_small(const watcher *x, const char *path, char *out,
		     size_t size, size_t *len)
{
	(void)x;
	(void)path;
	(void)out;
	(void)size;
	*len = 0;
	return false;
}

bool init_is_blind(const watcher *x)
{
	return x->is_rescan;
}

void init_begin_looking(watcher *x)
{
	x->is_cut = false;
}

void init_begin_last_look(watcher *x)
{
	x->is_cut = false;
}

void init_fail_path(watcher *x, const char *path, int sys_errno)
{
	(void)x;
	(void)path;
	(void)sys_errno;
}

void init_demand(watcher *x)
{
	ck_assert_int_eq(eventfd_write(x->demand_fd, 1), 0);
}

static bool is_demanded(void)
{
	return ab_fd_poll(w.demand_fd, POLLIN, 0) > 0;
}

/* --- a name that the host has removed --- */

static int open_top(const char *rest)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", top, rest);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static void set_table(const char *text)
{
	ck_assert_int_eq(ftruncate(w.mountinfo_fd, 0), 0);
	ck_assert_int_eq(lseek(w.mountinfo_fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(ab_fd_write_full(w.mountinfo_fd, text, strlen(text)),
			 0);
}

#define MOUNTED "1 0 0:1 / /w/d/x ro,relatime - ext4 x rw\n"

static void setup(void)
{
	static char host[4200];

	snprintf(top, sizeof(top), "%s/init-settle-XXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(top));
	snprintf(host, sizeof(host), "%s/d", top);
	ck_assert_int_eq(mkdir(host, 0755), 0);
	snprintf(host, sizeof(host), "%s/d/x", top);
	around.now_ns = 1000 * MS;
	box = (init_box){.shared = &shared};
	w = (watcher){.box = &box,
		      .workspace_fd = open_top(""),
		      .namespace_fds = {-1, -1},
		      .inside_fd = -1,
		      .mountinfo_fd = memfd_create("table", MFD_CLOEXEC),
		      .demand_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		      .guarded = list,
		      .guarded_count = 1};
	list[0] = (guarded){.step = &self_step,
			    .flags = AB_MOUNT_RDONLY,
			    .target = "/w/d/x",
			    .host = host,
			    .below = "d/x",
			    .rest = "d/x",
			    .tree_fd = w.workspace_fd,
			    .parent_fd = -1};
	around.is_agent_there = true;
	set_table(MOUNTED);
	ck_assert_int_eq(init_check_mounts(&w, false), 0);
	ck_assert(list[0].is_mounted);
	set_table("");
}

/* By itself, at this time after the last one. */
static bool is_gone_after(uint64_t ns)
{
	around.now_ns += ns;
	ck_assert_int_eq(init_check_mounts(&w, false), 0);
	ck_assert(list[0].is_gone || list[0].is_deferred);
	return list[0].is_gone;
}

START_TEST(what_is_away_for_a_moment_is_looked_at_again_soon)
{
	ck_assert(!is_gone_after(0));
	ck_assert_uint_eq(w.check_at_ns, around.now_ns + 2 * MS);
	for (int i = 0; i < 9; i++)
		ck_assert(!is_gone_after(MS));
	ck_assert(!is_gone_after(MS - 1));
	ck_assert_str_eq(around.told, "");
	ck_assert(is_gone_after(1));
	ck_assert_uint_eq(w.reprotected, 1);
	ck_assert_ptr_nonnull(
		strstr(around.told, "it was removed on the host"));
}
END_TEST

/* A holder that had to wait may have looked into two gaps, far apart. */
START_TEST(looks_that_are_far_apart_are_three)
{
	ck_assert(!is_gone_after(0));
	ck_assert(!is_gone_after(5000 * MS));
	ck_assert(is_gone_after(5000 * MS));
}
END_TEST

START_TEST(what_was_seen_meanwhile_is_away_since_then)
{
	ck_assert(!is_gone_after(0));
	ck_assert(!is_gone_after(9 * MS));
	set_table(MOUNTED);
	ck_assert_int_eq(init_check_mounts(&w, false), 0);
	ck_assert(!list[0].is_deferred);
	set_table("");
	for (int i = 0; i < 4; i++)
		ck_assert(!is_gone_after(3 * MS));
	ck_assert(is_gone_after(MS));
}
END_TEST

START_TEST(at_rest_the_host_has_as_long_as_it_likes_until_it_asks)
{
	around.is_agent_there = false;
	for (int i = 0; i < 20; i++)
		ck_assert(!is_gone_after(1000 * MS));
	/* it asks: some time passes with each look */
	around.tick_ns = MS;
	list[0].absent_ns = list[0].absent_looks = 0;
	ck_assert_int_eq(init_check_mounts(&w, true), 0);
	ck_assert(list[0].is_gone);
	ck_assert_uint_ge(list[0].absent_looks, 3);
	around.tick_ns = 0;
}
END_TEST

/* By their targets, of which two may be the same; one was adopted later. */
START_TEST(each_mount_of_the_table_is_found)
{
	static const char *const targets[] = {"/w/b", "/w/a", "/w/b", "/w/c",
					      "/w", "/w/b"};
	static const ab_plan_step cover = {.kind = AB_STEP_HIDE};
	static guarded all[AB_ARRAY_LEN(targets)];
	guarded *sorted[] = {&all[4], &all[1], &all[0], &all[2], &all[3]};
	static const bool is_mounted[] = {true, false, true, true, false, true};

	for (size_t i = 0; i < AB_ARRAY_LEN(targets); i++)
		all[i] = (guarded){.step = &cover, .target = targets[i],
				   .host = list[0].host, .tree_fd = -1};
	w.guarded = all;
	w.guarded_count = AB_ARRAY_LEN(targets);
	w.by_target = sorted;
	w.by_target_count = AB_ARRAY_LEN(sorted);
	set_table("1 0 0:1 / /w/b ro - x x rw\n1 0 0:1 / /w/ab ro - x x rw\n"
		  "1 0 0:1 / /w/c ro - x x rw\n1 0 0:1 / /x ro - x x rw\n"
		  "1 0 0:1 / / ro - x x rw\n");
	ck_assert_int_eq(init_check_mounts(&w, false), 0);
	for (size_t i = 0; i < AB_ARRAY_LEN(targets); i++)
		ck_assert_int_eq(all[i].is_mounted, is_mounted[i]);
}
END_TEST

START_TEST(a_settle_that_sees_it_come_back_takes_nothing)
{
	ck_assert(!is_gone_after(0));
	set_table(MOUNTED);
	ck_assert_int_eq(init_check_mounts(&w, true), 0);
	ck_assert(!list[0].is_gone);
	ck_assert_str_eq(around.told, "");
}
END_TEST

/* --- what the host made later --- */

static void adopt(void)
{
	list[0].is_adopted = list[0].is_new = true;
	list[0].parent_fd = open_top("d");
	w.is_quiet = true;
	w.quiet_ns = 0;
}

static void replace_dir(void)
{
	char from[4200], to[4200];

	snprintf(from, sizeof(from), "%s/d", top);
	snprintf(to, sizeof(to), "%s/e", top);
	ck_assert_int_eq(rename(from, to), 0);
	ck_assert_int_eq(init_check_place(&w, &list[0]), -ESTALE);
	ck_assert_int_eq(mkdir(from, 0755), 0);
}

START_TEST(only_what_is_elsewhere_for_sure_is_displaced)
{
	static const int unknown[] = {-EMFILE, -ENFILE, -ENOMEM, -EIO,
				      -EPERM};

	adopt();
	ck_assert_int_eq(init_check_place(&w, &list[0]), 0);
	for (size_t i = 0; i < AB_ARRAY_LEN(unknown); i++) {
		around.open_error = unknown[i];
		ck_assert_int_eq(init_check_place(&w, &list[0]), unknown[i]);
	}
	around.open_error = 0;
	ck_assert(!around.is_parent_asked);
	replace_dir();
	ck_assert_int_eq(init_check_place(&w, &list[0]), -ESTALE);
}
END_TEST

/* Mounted or not: nobody knows whether that is what it was. */
START_TEST(a_mounted_one_that_cannot_be_looked_up_is_told)
{
	adopt();
	set_table(MOUNTED);
	around.open_error = -EMFILE;
	ck_assert_int_eq(init_check_mounts(&w, true), -EMFILE);
	ck_assert_ptr_nonnull(strstr(around.told, strerror(EMFILE)));
	ck_assert_uint_eq(w.failed, 1);
	ck_assert(!list[0].is_gone);
	/* once, and no command begins meanwhile */
	around.told[0] = '\0';
	ck_assert_int_eq(init_check_mounts(&w, true), -EMFILE);
	ck_assert_str_eq(around.told, "");
	ck_assert_uint_eq(w.failed, 1);
	around.open_error = 0;
	ck_assert_int_eq(init_check_mounts(&w, true), 0);
	ck_assert(!list[0].is_gone);
	around.open_error = -EIO;
	ck_assert_int_eq(init_check_mounts(&w, true), -EIO);
	ck_assert_uint_eq(w.failed, 2);
	/* as the kernel says when somebody renames just then */
	around.open_error = 0;
	ck_assert_int_eq(init_check_mounts(&w, true), 0);
	around.open_error = -EAGAIN;
	around.told[0] = '\0';
	ck_assert_int_eq(init_check_mounts(&w, true), -EAGAIN);
	ck_assert_str_eq(around.told, "");
}
END_TEST

START_TEST(a_mode_hides_neither_the_same_nor_another_directory)
{
	adopt();
	around.open_error = -EACCES;
	ck_assert_int_eq(init_check_place(&w, &list[0]), 0);
	ck_assert(around.is_parent_asked);
	replace_dir();
	around.open_error = -EACCES;
	ck_assert_int_eq(init_check_place(&w, &list[0]), -ESTALE);
}
END_TEST

static void make_file(void)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/d/x", top);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

/* By the path that the box has it at: the target without its slash. */
static int bind_it(int self)
{
	static guarded g;

	g = list[0];
	g.target = "/d/x";
	return init_bind_adopted(&w, &g, w.workspace_fd, self);
}

START_TEST(a_failed_look_at_it_is_told_and_is_no_reason_to_take_it)
{
	make_file();
	adopt();
	around.open_error = -EMFILE;
	ck_assert_int_eq(bind_it(-1), -EMFILE);
	around.open_error = -ENOENT;
	ck_assert_int_eq(bind_it(-1), -ESTALE);
	around.open_error = 0;
	mount_error = -ENOSPC;
	ck_assert_int_eq(bind_it(-1), -ENOSPC);
}
END_TEST

/* What setns(2) says of a namespace that is none, or of any: a container
   refuses it. */
static int no_namespace(void)
{
	return setns(-1, CLONE_NEWUSER) ? errno : 0;
}

/* It came before the box was ready: whose it is has nothing to do with that. */
START_TEST(a_first_mount_that_fails_leaves_it_the_hosts)
{
	make_file();
	adopt();
	w.is_quiet = false;
	w.is_late = is_late_adopted = true;
	/* there are no namespaces to enter */
	init_judge_late(&w);
	init_mark_quiet(&w, 0, true);
	ck_assert_ptr_nonnull(strstr(around.told,
				     strerror(no_namespace())));
	ck_assert(list[0].is_failed && !list[0].is_gone);
	/* the host asks, before it starts anything */
	ck_assert_int_lt(init_check_mounts(&w, true), 0);
	ck_assert(list[0].is_new && !list[0].is_gone);
	mount_error = -ENOSPC;
	ck_assert_int_eq(bind_it(-1), -ENOSPC);
	ck_assert(w.is_quiet && w.quiet_ns == init_last_begun(&w));
}
END_TEST

/*
 * What was taken for the host's until the last look at the mounts is judged
 * before the host is told that all is well, or the host has to ask again.
 */
START_TEST(what_is_given_up_last_is_judged)
{
	holder h = {.box = &box, .watcher = &w};
	uint64_t values[4];

	adopt();
	set_table(MOUNTED);
	init_settle_unasked(&w);
	ck_assert(!is_demanded());
	is_moved_meanwhile = true;
	init_settle_unasked(&w);
	ck_assert(list[0].is_gone);
	ck_assert(w.is_lost && is_demanded());
	names_looks = 0;
	ck_assert_int_eq(init_settle(&h, values), 0);
	ck_assert_uint_eq(names_looks, 1);
	ck_assert(!w.is_lost && !is_demanded());
}
END_TEST

START_TEST(what_is_given_up_last_is_judged_at_once)
{
	holder h = {.box = &box, .watcher = &w};
	uint64_t values[4];

	adopt();
	set_table(MOUNTED);
	is_moved_meanwhile = true;
	ck_assert_int_eq(init_settle(&h, values), 0);
	ck_assert(list[0].is_gone);
	ck_assert_uint_eq(names_looks, 2);
	ck_assert(!w.is_lost && !is_demanded());
}
END_TEST

/* Nobody was there when it went, and somebody may have been before it came. */
START_TEST(what_comes_back_beside_a_command_is_doubtful)
{
	around.is_agent_there = false;
	ck_assert(!is_gone_after(0));
	atomic_store(&shared.started_ns, 5);
	ck_assert(!is_gone_after(MS));
	ck_assert(!list[0].is_doubtful);
	make_file();
	/* there are no namespaces to enter */
	ck_assert_int_eq(init_check_mounts(&w, false), -no_namespace());
	ck_assert(list[0].is_doubtful);
	/* until it is mounted */
	set_table(MOUNTED);
	ck_assert_int_eq(init_check_mounts(&w, false), 0);
	ck_assert(!list[0].is_doubtful);
}
END_TEST

START_TEST(what_comes_back_while_nobody_is_there_is_not)
{
	around.is_agent_there = false;
	atomic_store(&shared.started_ns, 5);
	ck_assert(!is_gone_after(0));
	make_file();
	ck_assert_int_eq(init_check_mounts(&w, false), -no_namespace());
	ck_assert(!list[0].is_doubtful);
}
END_TEST

/* --- the end of the box --- */

/* The record of the box goes when nothing fails then. */
START_TEST(what_failed_before_fails_at_the_end_as_well)
{
	int r;

	make_file();
	/* there are no namespaces to enter, or entering is refused */
	r = init_check_mounts(&w, false);
	ck_assert(r == -EBADF || r == -EPERM);
	ck_assert_int_eq(init_check_mounts(&w, false), r);
	ck_assert_uint_eq(w.failed, 1);
	w.is_last = true;
	ck_assert_int_eq(init_check_mounts(&w, false), r);
	ck_assert_uint_eq(w.failed, 2);
}
END_TEST

/* What leads there counts as held as long as it may come back. */
START_TEST(a_link_on_the_way_is_doubtful_at_the_end)
{
	around.open_error = -ELOOP;
	ck_assert(!is_gone_after(0));
	ck_assert_uint_eq(w.failed, 0);
	w.is_last = true;
	ck_assert_int_eq(init_check_mounts(&w, false), 0);
	ck_assert_uint_eq(w.failed, 1);
	ck_assert_ptr_nonnull(
		strstr(around.told, "away when the box ended"));
}
END_TEST

START_TEST(a_file_on_the_way_is_doubtful_at_the_end)
{
	ck_assert_int_eq(unlinkat(w.workspace_fd, "d", AT_REMOVEDIR), 0);
	ck_assert_int_eq(mknodat(w.workspace_fd, "d", S_IFREG | 0644, 0), 0);
	w.is_last = true;
	ck_assert_int_eq(init_check_mounts(&w, false), 0);
	ck_assert_uint_eq(w.failed, 1);
}
END_TEST

START_TEST(a_link_of_the_hosts_is_not)
{
	around.open_error = -ELOOP;
	w.is_last = w.is_quiet = true;
	w.quiet_ns = init_last_begun(&w);
	ck_assert_int_eq(init_check_mounts(&w, false), 0);
	ck_assert_uint_eq(w.failed, 0);
}
END_TEST

START_TEST(what_is_away_at_the_end_is_nothing)
{
	w.is_last = true;
	ck_assert_int_eq(init_check_mounts(&w, false), 0);
	ck_assert_uint_eq(w.failed, 0);
	ck_assert(!list[0].is_gone);
}
END_TEST

/* --- a name that may have been moved with its mount --- */

/* The table is that of a moment ago, and lies. */
START_TEST(what_is_no_mount_is_not_looked_for_in_the_table)
{
	make_file();
	box.plan.workspace_inside = "/w";
	set_table(MOUNTED);
	/* no namespace of its own: it has the workspace that we have */
	ck_assert(!init_is_moved(&w, "d/x"));
	/* what cannot be asked the kernel */
	ck_assert(init_is_in_table(&w, "d/x"));
	ck_assert_int_eq(unlinkat(w.workspace_fd, "d/x", 0), 0);
	ck_assert(init_is_moved(&w, "d/x"));
	box.plan.namespaces = AB_NS_MOUNT;
	make_file();
	ck_assert(init_is_moved(&w, "d/x"));
	set_table("");
	ck_assert(!init_is_moved(&w, "d/x"));
}
END_TEST

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || ab_fd_write_full(fd, text, strlen(text)))
		_exit(77);
	close(fd);
}

static void enter_namespaces(void)
{
	unsigned uid = geteuid();
	char map[64];

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		_exit(77);
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	put("/proc/self/uid_map", map);
	close(w.workspace_fd);
	w.workspace_fd = open_top("");
}

static void in_namespaces(const char *name, int (*what)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(what());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		ab_test_skip(name, "no user namespace of one's own");
		return;
	}
	ck_assert_int_eq(status, 0);
}

static int bind_path(const char *rest)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/%s", top, rest);
	/* valgrind reads each name */
	return mount(path, path, "none", MS_BIND, NULL);
}

/* A mount is what the table says of it; below a pinned directory as well. */
static int look_at_mounted(void)
{
	static const ab_plan_step cover = {.target = "/w"};

	enter_namespaces();
	if (bind_path("d/x") || !init_is_moved(&w, "d/x"))
		return 1;
	set_table("");
	if (init_is_moved(&w, "d/x"))
		return 2;
	set_table(MOUNTED);
	if (umount2(list[0].host, MNT_DETACH) || bind_path("d"))
		return 3;
	/* nobody knows of that one: the table is asked */
	if (!init_is_moved(&w, "d/x"))
		return 4;
	list[1] = (guarded){.step = &self_step, .cover = &cover, .rest = "d"};
	w.guarded_count = 2;
	if (init_is_moved(&w, "d/x"))
		return 5;
	list[1].is_gone = true;
	return init_is_moved(&w, "d/x") ? 0 : 6;
}

START_TEST(a_mount_is_what_the_table_says_of_it)
{
	make_file();
	box.plan.workspace_inside = "/w";
	set_table(MOUNTED);
	in_namespaces("a_mount_is_what_the_table_says_of_it", look_at_mounted);
}
END_TEST

/* In a mount namespace of its own. 0: it is not mounted any more. */
static int mount_too_late(void)
{
	char *table = NULL;
	int self, fd;
	size_t n = 0;

	enter_namespaces();
	close(list[0].parent_fd);
	list[0].parent_fd = open_top("d");
	self = open("/proc/self/fd", O_PATH | O_CLOEXEC);
	if (bind_it(self) != -ESTALE)
		return 1;
	fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ab_fd_slurp(fd, 1 << 20, &table, &n))
		return 2;
	return strstr(table, top) ? 3 : 0;
}

START_TEST(a_mount_that_comes_too_late_is_taken_back)
{
	make_file();
	adopt();
	in_namespaces("a_mount_that_comes_too_late_is_taken_back",
		      mount_too_late);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("init_settle");
	TCase *removed = tcase_create("removed");
	TCase *made = tcase_create("made");
	TCase *ended = tcase_create("ended");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(removed, setup, NULL);
	tcase_add_test(removed,
		       what_is_away_for_a_moment_is_looked_at_again_soon);
	tcase_add_test(removed, looks_that_are_far_apart_are_three);
	tcase_add_test(removed, what_was_seen_meanwhile_is_away_since_then);
	tcase_add_test(removed,
		       at_rest_the_host_has_as_long_as_it_likes_until_it_asks);
	tcase_add_test(removed, each_mount_of_the_table_is_found);
	tcase_add_test(removed, a_settle_that_sees_it_come_back_takes_nothing);
	suite_add_tcase(s, removed);
	tcase_add_checked_fixture(made, setup, NULL);
	tcase_add_test(made, only_what_is_elsewhere_for_sure_is_displaced);
	tcase_add_test(made, a_mounted_one_that_cannot_be_looked_up_is_told);
	tcase_add_test(made,
		       a_mode_hides_neither_the_same_nor_another_directory);
	tcase_add_test(made,
		       a_failed_look_at_it_is_told_and_is_no_reason_to_take_it);
	tcase_add_test(made, a_first_mount_that_fails_leaves_it_the_hosts);
	tcase_add_test(made, a_mount_that_comes_too_late_is_taken_back);
	tcase_add_test(made, what_comes_back_beside_a_command_is_doubtful);
	tcase_add_test(made, what_comes_back_while_nobody_is_there_is_not);
	tcase_add_test(made, what_is_given_up_last_is_judged);
	tcase_add_test(made, what_is_given_up_last_is_judged_at_once);
	tcase_add_test(made, what_is_no_mount_is_not_looked_for_in_the_table);
	tcase_add_test(made, a_mount_is_what_the_table_says_of_it);
	suite_add_tcase(s, made);
	tcase_add_checked_fixture(ended, setup, NULL);
	tcase_add_test(ended, what_failed_before_fails_at_the_end_as_well);
	tcase_add_test(ended, a_link_on_the_way_is_doubtful_at_the_end);
	tcase_add_test(ended, a_file_on_the_way_is_doubtful_at_the_end);
	tcase_add_test(ended, a_link_of_the_hosts_is_not);
	tcase_add_test(ended, what_is_away_at_the_end_is_nothing);
	suite_add_tcase(s, ended);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
