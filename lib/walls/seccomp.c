/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the tables in syscalls.c and a policy's `syscalls` section to the BPF
 * program that agentbox-init loads. libseccomp compiles the rows as a binary
 * tree; a few instructions of ours go before them for what its rule language
 * cannot say: "newer than the tables" and "neither of two values".
 *
 * Refuses: unknown names, and an `allow` that names a call the walls rest on.
 * A row that libseccomp does not take is an error, never a missing row.
 *
 * Spec: DESIGN.md section 6; seccomp(2); Documentation/userspace-api/
 * seccomp_filter.rst.
 */
#include "config.h"

#include "walls/internal.h"

#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seccomp.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "walls/syscalls.h"
#include "wire/plan.h"

#define X32_BIT 0x40000000u
#define PROLOGUE_LEN 39
#define MAX_FILTER_INSNS 4096 /* BPF_MAXINSNS of the kernel */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARG_LOW 0u
#else
#define ARG_LOW 4u
#endif
#define LOW(i) \
	((uint32_t)offsetof(struct seccomp_data, args) + 8u * (i) + ARG_LOW)
#define HIGH(i) (LOW(i) ^ 4u)

typedef struct filter {
	size_t n;
	uint64_t key;
	uint8_t data[];
} filter;

/* One per policy; a slot per group of tiers, filled at first need. */
typedef struct cache {
	_Atomic(filter *) slot[2];
} cache;

static void cache_end(void *p)
{
	cache *c = p;

	if (!c)
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(c->slot); i++)
		free(atomic_load(&c->slot[i]));
	free(c);
}

static bool list_has(const ab_policy_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i], name) == 0)
			return true;
	}
	return false;
}

/* Whether some row of a table says that no policy may reopen `name`. */
static bool rows_core(const ab_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if ((rows[i].flags & AB_ROW_CORE) &&
		    strcmp(rows[i].name, name) == 0)
			return true;
	}
	return false;
}

static bool is_core(const char *name)
{
	return rows_core(ab_rows_default, ab_rows_default_count, name) ||
	       rows_core(ab_rows_landlock, ab_rows_landlock_count, name);
}

static int rows_number(const ab_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].number && strcmp(rows[i].name, name) == 0)
			return rows[i].number;
	}
	return __NR_SCMP_ERROR;
}

/* The number of a call here, or __NR_SCMP_ERROR for no such name. */
static int resolve(const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	if (nr == __NR_SCMP_ERROR)
		nr = rows_number(ab_rows_default, ab_rows_default_count, name);
	if (nr == __NR_SCMP_ERROR)
		nr = rows_number(ab_rows_strict, ab_rows_strict_count, name);
	return nr;
}

static int32_t check_names(const ab_policy_list *list, bool allow,
			   agentbox_error **err)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->items[i];

		if (resolve(name) == __NR_SCMP_ERROR)
			return ab_error_set(err, AGENTBOX_EPOLICY,
					    allow ? "/syscalls/allow" :
						    "/syscalls/deny",
					    "no system call is called '%s'",
					    name);
		if (allow && is_core(name))
			return ab_error_set(err, AGENTBOX_EPOLICY,
					    "/syscalls/allow",
					    "'%s' cannot be allowed: a wall of "
					    "the box rests on its refusal",
					    name);
	}
	return 0;
}

static struct scmp_arg_cmp compare(const ab_row_arg *arg)
{
	struct scmp_arg_cmp c = { .arg = arg->index };

	switch ((enum ab_row_compare)arg->compare) {
	case AB_CMP_NONE:
		break;
	case AB_CMP_BITS:
		c.op = SCMP_CMP_MASKED_EQ;
		c.datum_a = arg->mask;
		c.datum_b = arg->value;
		break;
	case AB_CMP_NE:
		c.op = SCMP_CMP_NE;
		c.datum_a = arg->value;
		break;
	case AB_CMP_GT:
		c.op = SCMP_CMP_GT;
		c.datum_a = arg->value;
		break;
	}
	return c;
}

static int32_t add(scmp_filter_ctx ctx, uint32_t action, int nr,
		   const char *name, const ab_row_arg *args,
		   agentbox_error **err)
{
	struct scmp_arg_cmp cmp[AB_ROW_ARGS];
	unsigned int n = 0;
	int rc;

	for (size_t i = 0; args && i < AB_ROW_ARGS; i++) {
		if (args[i].compare != AB_CMP_NONE)
			cmp[n++] = compare(&args[i]);
	}
	rc = seccomp_rule_add_array(ctx, action, nr, n, n ? cmp : NULL);
	if (rc == -ENOMEM)
		return ab_error_nomem(err);
	if (rc < 0)
		return ab_error_sys_code(err, AGENTBOX_EWALL, -rc, "seccomp",
					 "cannot compile the rule for '%s'",
					 name);
	return 0;
}

static uint32_t act(int32_t row_action)
{
	return row_action ? SCMP_ACT_ERRNO((uint32_t)row_action) :
			    SCMP_ACT_ALLOW;
}

static int32_t add_row(scmp_filter_ctx ctx, const ab_row *row,
		       agentbox_error **err)
{
	int nr = seccomp_syscall_resolve_name(row->name);

	if (nr == __NR_SCMP_ERROR)
		nr = row->number ? row->number : __NR_SCMP_ERROR;
	/* not a call of this architecture at all */
	if (nr == __NR_SCMP_ERROR)
		return 0;
	return add(ctx, act(row->action), nr, row->name, row->arg, err);
}

typedef struct choice {
	const ab_policy_syscalls *syscalls;
	bool strict, landlock, no_net;
} choice;

static bool row_applies(const ab_row *row, const choice *c)
{
	if ((row->flags & AB_ROW_LANDLOCK) && !c->landlock)
		return false;
	if ((row->flags & AB_ROW_NO_NET) && !c->no_net)
		return false;
	return (row->flags & (c->strict ? AB_ROW_STRICT : AB_ROW_DEFAULT)) != 0;
}

static bool is_named(const choice *c, const ab_row *row)
{
	return list_has(&c->syscalls->deny, row->name) ||
	       list_has(&c->syscalls->allow, row->name);
}

/* Whole-call rules of the policy go first; rows of the same call are out. */
static int32_t add_named(scmp_filter_ctx ctx, const choice *c,
			 agentbox_error **err)
{
	const ab_policy_syscalls *s = c->syscalls;

	/* what an allow list does not name is refused already */
	for (size_t i = 0; i < s->deny.count && !c->strict; i++) {
		const char *name = s->deny.items[i];
		int32_t rc = add(ctx, SCMP_ACT_ERRNO(EPERM), resolve(name),
				 name, NULL, err);

		if (rc)
			return rc;
	}
	if (!c->strict)
		return 0;
	for (size_t i = 0; i < s->allow.count; i++) {
		const char *name = s->allow.items[i];
		int32_t rc;

		if (list_has(&s->deny, name))
			continue;
		rc = add(ctx, SCMP_ACT_ALLOW, resolve(name), name, NULL, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* One rule of the landlock tier refuses all of the call. */
static bool is_refused_whole(const choice *c, const char *name)
{
	for (size_t i = 0; i < ab_rows_landlock_count; i++) {
		const ab_row *row = &ab_rows_landlock[i];

		if (row_applies(row, c) && row->action &&
		    row->arg[0].compare == AB_CMP_NONE &&
		    strcmp(row->name, name) == 0)
			return true;
	}
	return false;
}

static int32_t add_default(scmp_filter_ctx ctx, const choice *c,
			   const ab_row *rows, size_t n, agentbox_error **err)
{
	for (size_t i = 0; i < n; i++) {
		int32_t rc;

		if (!row_applies(&rows[i], c) || is_named(c, &rows[i]))
			continue;
		/* no finer rules beside it */
		if (rows[i].arg[0].compare != AB_CMP_NONE &&
		    is_refused_whole(c, rows[i].name))
			continue;
		rc = add_row(ctx, &rows[i], err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * In an allow list a refusing row of the landlock tier takes back what the
 * strict row allows: the whole call, or one value of it. What is left of the
 * value an allowing row gives back.
 */
static int32_t add_narrowed(scmp_filter_ctx ctx, const choice *c,
			    const ab_row *row, agentbox_error **err)
{
	for (size_t i = 0; i < ab_rows_landlock_count; i++) {
		const ab_row *cut = &ab_rows_landlock[i];

		if (!row_applies(cut, c) || !cut->action ||
		    strcmp(cut->name, row->name) != 0)
			continue;
		if (cut->arg[0].compare == AB_CMP_NONE)
			return 0;
		if (memcmp(&cut->arg[0], &row->arg[0], sizeof(cut->arg[0])) ==
		    0)
			return 0;
	}
	return add_row(ctx, row, err);
}

static int32_t add_strict(scmp_filter_ctx ctx, const choice *c,
			  agentbox_error **err)
{
	int32_t rc = 0;

	for (size_t i = 0; i < ab_rows_strict_count && !rc; i++) {
		if (!is_named(c, &ab_rows_strict[i]))
			rc = add_narrowed(ctx, c, &ab_rows_strict[i], err);
	}
	for (size_t i = 0; i < ab_rows_landlock_count && !rc; i++) {
		const ab_row *row = &ab_rows_landlock[i];

		if (row_applies(row, c) && !row->action && !is_named(c, row))
			rc = add_row(ctx, row, err);
	}
	return rc;
}

/* Instructions by name: a jump says how many it skips, to a place below. */
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define IF(op, value, then, other) \
	BPF_JUMP(BPF_JMP | BPF_##op | BPF_K, (value), (then), (other))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))

static uint32_t number_of(const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	/* of a call this architecture has not: no number is that */
	return nr < 0 ? UINT32_MAX : (uint32_t)nr;
}

/*
 * Before libseccomp's program, for the native architecture only (foreign
 * ones are its business, and it kills them): ENOSYS for numbers past the
 * tables; personality(2) refused but for 0 (as it is) and 0xffffffff (the
 * query; the kernel takes the persona as an unsigned int); the mark of a
 * command set by nobody without the key (wire/plan.h; the kernel takes the
 * resource as an unsigned int, and a NULL new limit only asks).
 *
 * RLIMIT_CORE stays 1 (limits.c), whatever is asked for: with 0, which is what
 * programs ask for that hold a secret, the host's program of core_pattern would
 * be started for the next crash. They are told that it is done; nothing of them
 * is dumped either way.
 */
static void prologue(struct sock_filter out[PROLOGUE_LEN], bool personality,
		     uint64_t key)
{
	enum { SETRLIMIT = 11, PRLIMIT = 14, CORE = 17, CORE_SET = 21,
	       MARK = 27, KEY = 31, REFUSE = 35, UNKNOWN, PRETEND, ACCEPT,
	       GO_ON };
	const uint32_t nr_personality =
		personality ? number_of("personality") : UINT32_MAX;
	const struct sock_filter code[] = {
		/* 0 */ LOAD(offsetof(struct seccomp_data, arch)),
		/* 1 */ IF(JEQ, seccomp_arch_native(), 0, GO_ON - 2),
		/* 2 */ LOAD(offsetof(struct seccomp_data, nr)),
		/* 3 */ IF(JGE, X32_BIT, GO_ON - 4, 0),
		/* 4 */ IF(JGT, AB_SYSCALL_NEWEST, UNKNOWN - 5, 0),
		/* 5 */ IF(JEQ, number_of("prlimit64"), PRLIMIT - 6, 0),
		/* 6 */ IF(JEQ, number_of("setrlimit"), SETRLIMIT - 7, 0),
		/* 7 */ IF(JEQ, nr_personality, 0, GO_ON - 8),
		/* 8 */ LOAD(LOW(0)),
		/* 9 */ IF(JEQ, 0, GO_ON - 10, 0),
		/* 10 */ IF(JEQ, UINT32_MAX, GO_ON - 11, REFUSE - 11),
		/* SETRLIMIT */ LOAD(LOW(0)),
		/* 12 */ IF(JEQ, AB_MARK_RESOURCE, REFUSE - 13, 0),
		/* 13 */ IF(JEQ, RLIMIT_CORE, PRETEND - 14, GO_ON - 14),
		/* PRLIMIT */ LOAD(LOW(1)),
		/* 15 */ IF(JEQ, AB_MARK_RESOURCE, MARK - 16, 0),
		/* 16 */ IF(JEQ, RLIMIT_CORE, 0, GO_ON - 17),
		/* CORE */ LOAD(LOW(2)),
		/* 18 */ IF(JEQ, 0, 0, CORE_SET - 19),
		/* 19 */ LOAD(HIGH(2)),
		/* 20 */ IF(JEQ, 0, GO_ON - 21, 0),
		/* CORE_SET */ LOAD(LOW(0)),
		/* 22 */ IF(JEQ, 0, 0, REFUSE - 23),
		/* 23 */ LOAD(LOW(3)),
		/* 24 */ IF(JEQ, 0, 0, REFUSE - 25),
		/* 25 */ LOAD(HIGH(3)),
		/* 26 */ IF(JEQ, 0, PRETEND - 27, REFUSE - 27),
		/* MARK */ LOAD(LOW(2)),
		/* 28 */ IF(JEQ, 0, 0, KEY - 29),
		/* 29 */ LOAD(HIGH(2)),
		/* 30 */ IF(JEQ, 0, GO_ON - 31, 0),
		/* KEY */ LOAD(LOW(4)),
		/* 32 */ IF(JEQ, (uint32_t)key, 0, REFUSE - 33),
		/* 33 */ LOAD(HIGH(4)),
		/* 34 */ IF(JEQ, (uint32_t)(key >> 32), ACCEPT - 35, 0),
		/* REFUSE */ RETURN(SECCOMP_RET_ERRNO | EPERM),
		/* UNKNOWN */ RETURN(SECCOMP_RET_ERRNO | ENOSYS),
		/* PRETEND */ RETURN(SECCOMP_RET_ERRNO | 0),
		/* ACCEPT */ RETURN(SECCOMP_RET_ALLOW),
	};

	static_assert(AB_ARRAY_LEN(code) == PROLOGUE_LEN &&
			      PROLOGUE_LEN == (int)GO_ON,
		      "the jumps fit");
	memcpy(out, code, sizeof(code));
}

/* libseccomp writes to an fd only; a memfd is the one without a path. */
static int32_t export(scmp_filter_ctx ctx, bool personality, filter **out,
		      agentbox_error **err)
{
	const size_t head = PROLOGUE_LEN * sizeof(struct sock_filter);
	ab_autofd int fd = ab_fd_lift(memfd_create("agentbox-seccomp",
						   MFD_CLOEXEC));
	ab_autofree filter *f = NULL;
	off_t size;
	int rc;

	if (fd < 0)
		return ab_error_sys(err, errno, "seccomp",
				    "cannot make a memfd for the filter");
	rc = seccomp_export_bpf(ctx, fd);
	if (rc < 0)
		return ab_error_sys_code(err, AGENTBOX_EWALL, -rc, "seccomp",
					 "cannot compile the filter");
	size = lseek(fd, 0, SEEK_END);
	if (size <= 0 || (size_t)size % sizeof(struct sock_filter) ||
	    (size_t)size > (MAX_FILTER_INSNS - PROLOGUE_LEN) *
				   sizeof(struct sock_filter))
		return ab_error_set(err, AGENTBOX_ELIMIT, "seccomp",
				    "the filter does not fit the kernel's "
				    "bound of %d instructions",
				    MAX_FILTER_INSNS);
	f = ab_calloc(1, sizeof(*f) + head + (size_t)size);
	if (!f)
		return ab_error_nomem(err);
	f->n = head + (size_t)size;
	/* 0 means that commands bear no mark */
	while (f->key == 0 && rc >= 0)
		rc = ab_random(&f->key, sizeof(f->key));
	if (rc < 0)
		return ab_error_sys(err, -rc, "seccomp",
				    "no random number for the filter");
	prologue((struct sock_filter *)(void *)f->data, personality, f->key);
	if (lseek(fd, 0, SEEK_SET) != 0 ||
	    ab_fd_read_full(fd, f->data + head, (size_t)size) != size)
		return ab_error_sys(err, errno, "seccomp",
				    "cannot read the filter back");
	*out = ab_steal(&f);
	return 0;
}

static int32_t fill(scmp_filter_ctx ctx, const choice *c, agentbox_error **err)
{
	int32_t rc;

	if (seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
			     SCMP_ACT_KILL_PROCESS) < 0 ||
	    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0)
		return ab_error_set(err, AGENTBOX_EWALL, "seccomp",
				    "libseccomp is too old: 2.5 is needed");
	rc = add_named(ctx, c, err);
	if (rc)
		return rc;
	if (c->strict)
		return add_strict(ctx, c, err);
	rc = add_default(ctx, c, ab_rows_default, ab_rows_default_count, err);
	if (rc)
		return rc;
	return add_default(ctx, c, ab_rows_landlock, ab_rows_landlock_count,
			   err);
}

static int32_t compile(const choice *c, filter **out, agentbox_error **err)
{
	scmp_filter_ctx ctx;
	int32_t rc;

	rc = check_names(&c->syscalls->deny, false, err);
	if (!rc)
		rc = check_names(&c->syscalls->allow, true, err);
	if (rc)
		return rc;
	ctx = seccomp_init(c->strict ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW);
	if (!ctx)
		return ab_error_nomem(err);
	rc = fill(ctx, c, err);
	if (!rc)
		rc = export(ctx, !list_has(&c->syscalls->allow, "personality"),
			    out, err);
	seccomp_release(ctx);
	return rc;
}

static cache *get_cache(agentbox_policy *policy)
{
	cache *c = ab_policy_cache_get(policy);

	if (c)
		return c;
	c = ab_new(cache);
	/* put releases ours when another thread was first */
	return c ? ab_policy_cache_put(policy, c, cache_end) : NULL;
}

int32_t ab_walls_seccomp(agentbox_policy *policy, uint32_t tier,
			 const void **out, size_t *n, uint64_t *key,
			 agentbox_error **err)
{
	const ab_policy *p = ab_policy_get(policy);
	const choice c = {
		.syscalls = &p->syscalls,
		.strict = p->syscalls.profile != AB_SYSCALLS_DEFAULT,
		.landlock = tier == AB_TIER_LANDLOCK,
		.no_net = p->network.mode != AB_NET_HOST,
	};
	cache *cached = get_cache(policy);
	_Atomic(filter *) *slot;
	filter *f, *none = NULL;
	int32_t rc;

	if (!cached)
		return ab_error_nomem(err);
	slot = &cached->slot[c.landlock];
	f = atomic_load(slot);
	if (!f) {
		rc = compile(&c, &f, err);
		if (rc)
			return rc;
		if (!atomic_compare_exchange_strong(slot, &none, f)) {
			free(f);
			f = none;
		}
	}
	*out = f->data;
	*n = f->n;
	*key = f->key;
	return 0;
}
