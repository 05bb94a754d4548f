/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the canonical tree to the plain structure other rooms read. Decides
 * nothing but what absent means; a number that cannot be read stays ABSENT,
 * a name stays 0, which is the narrow end of every enum here.
 * Spec: policy/policy.h.
 */
#include "config.h"

#include "policy/compile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "path/lexical.h"
#include "policy/tree.h"

/* Zeroed memory that lives as long as the plain policy. */
static void *keep(ab_policy_plain *out, size_t count, size_t size)
{
	void *p;

	if (!ab_grow(&out->blocks, &out->block_room, out->block_count + 1,
		     sizeof(*out->blocks)))
		return NULL;
	p = ab_calloc(count ? count : 1, size);
	if (p)
		out->blocks[out->block_count++] = p;
	return p;
}

static const char *keep_join(ab_policy_plain *out, const char *base,
			     const char *rest)
{
	size_t size = strlen(base) + strlen(rest) + 2;
	char *p = keep(out, size, 1);

	return p && ab_path_join(base, rest, p, size) > 0 ? p : NULL;
}

void ab_policy_plain_end(ab_policy_plain *plain)
{
	for (size_t i = 0; i < plain->block_count; i++)
		free(plain->blocks[i]);
	free(plain->blocks);
	memset(plain, 0, sizeof(*plain));
}

/* --- reading ----------------------------------------------------------- */

/* A section of the tree together with its table. */
typedef struct section {
	const json_t *object;
	const ab_field *table;
} section;

static section open_section(const json_t *tree, const char *key)
{
	const ab_field *f = ab_schema_find(ab_schema, key, NULL);

	return (section){ json_object_get(tree, key), f->table };
}

static section open_below(const section *s, const char *key)
{
	const ab_field *f = ab_schema_find(s->table, key, NULL);

	return (section){ json_object_get(s->object, key), f->table };
}

static uint32_t read_enum(const section *s, const char *key)
{
	const ab_field *f = ab_schema_find(s->table, key, NULL);
	const char *text = ab_tree_string(s->object, key);
	int i = text ? ab_schema_index(f, text) : f->fallback;

	return i < 0 ? 0 : (uint32_t)i;
}

static bool read_bool(const section *s, const char *key)
{
	const ab_field *f = ab_schema_find(s->table, key, NULL);
	const json_t *v = json_object_get(s->object, key);

	return v ? json_is_true(v) : f->fallback != 0;
}

static ab_policy_number read_number(const section *s, const char *key)
{
	const ab_field *f = ab_schema_find(s->table, key, NULL);
	const json_t *v = json_object_get(s->object, key);
	ab_policy_number n = { AB_POLICY_ABSENT, 0 };

	if (!v)
		return n;
	n.value = ab_tree_number(f, v);
	n.state = AB_POLICY_SET;
	if (n.value == UINT64_MAX)
		n = (ab_policy_number){ AB_POLICY_NONE, 0 };
	return n;
}

static bool read_list(ab_policy_plain *out, const section *s, const char *key,
		      ab_policy_list *list)
{
	const json_t *v = json_object_get(s->object, key);
	const char **items;

	list->present = v != NULL;
	list->count = json_array_size(v);
	items = keep(out, list->count, sizeof(*items));
	if (!items)
		return false;
	for (size_t i = 0; i < list->count; i++)
		items[i] = json_string_value(json_array_get(v, i));
	list->items = items;
	return true;
}

static uint32_t read_mask(const json_t *list, const char *const *names)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		for (uint32_t bit = 0; names[bit]; bit++)
			if (strcmp(names[bit], json_string_value(json_array_get(
						       list, i))) == 0)
				mask |= UINT32_C(1) << bit;
	return mask;
}

/* --- sections ---------------------------------------------------------- */

static bool compile_role(ab_policy_plain *out, const json_t *tree)
{
	section s = open_section(tree, "role");
	ab_policy_role *role = &out->policy.role;

	if (s.object)
		role->kind = 1 + read_enum(&s, "kind");
	role->team_dir = ab_tree_string(s.object, "team_dir");
	role->agent = ab_tree_string(s.object, "agent");
	return read_list(out, &s, "worktrees", &role->worktrees);
}

static void compile_workspace(ab_policy_plain *out, const json_t *tree)
{
	section s = open_section(tree, "workspace");
	ab_policy_workspace *w = &out->policy.workspace;
	const char *at = ab_tree_string(s.object, "at");

	w->path = ab_tree_string(s.object, "path");
	w->at_same = at && strcmp(at, "same") == 0;
	w->at = w->at_same ? w->path : at ? at : "/workspace";
	w->mount = read_enum(&s, "mount");
	w->retain_ms = read_number(&s, "retain");
}

static int compare_mounts(const void *a, const void *b)
{
	return strcmp(((const ab_policy_mount *)a)->to,
		      ((const ab_policy_mount *)b)->to);
}

static ab_policy_mount *find_mount(ab_policy_mount *mounts, size_t n,
				   const char *to)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(mounts[i].to, to) == 0)
			return &mounts[i];
	return NULL;
}

/*
 * A mount of the role at the same place as on the host. What the document
 * itself puts at that place goes before it.
 */
static void add_role_mount(ab_policy_plain *out, ab_policy_mount *mounts,
			   size_t *n, const char *path, uint32_t access)
{
	const char *at = out->policy.workspace.at;

	if (!path || find_mount(mounts, *n, path) ||
	    (out->policy.workspace.path && at && strcmp(at, path) == 0))
		return;
	mounts[(*n)++] = (ab_policy_mount){
		.from = path,
		.to = path,
		.access = access,
		.exec = access == AB_ACCESS_WRITE,
		.optional = true,
		.from_role = true,
	};
}

/*
 * A manager writes anywhere below the team directory, an engineer to his own
 * directory, his worktrees and shared/; protected/ nobody (DESIGN.md
 * section 7).
 */
static bool add_role_mounts(ab_policy_plain *out, ab_policy_mount *mounts,
			    size_t *n)
{
	const ab_policy_role *role = &out->policy.role;
	bool manager = role->kind == AB_ROLE_MANAGER;
	const char *agents = NULL;
	const char *own = NULL;
	const char *shared;
	const char *guarded;

	if (role->kind == AB_ROLE_NONE || !role->team_dir)
		return true;
	shared = keep_join(out, role->team_dir, "shared");
	guarded = keep_join(out, role->team_dir, "protected");
	if (role->agent) {
		agents = keep_join(out, role->team_dir, "agents");
		own = agents ? keep_join(out, agents, role->agent) : NULL;
	}
	if (!shared || !guarded || (role->agent && !own))
		return false;
	add_role_mount(out, mounts, n, guarded, AB_ACCESS_READ);
	add_role_mount(out, mounts, n, role->team_dir,
		       manager ? AB_ACCESS_WRITE : AB_ACCESS_READ);
	if (!manager) {
		add_role_mount(out, mounts, n, shared, AB_ACCESS_WRITE);
		add_role_mount(out, mounts, n, own, AB_ACCESS_WRITE);
	}
	for (size_t i = 0; i < role->worktrees.count; i++)
		add_role_mount(out, mounts, n, role->worktrees.items[i],
			       AB_ACCESS_WRITE);
	return true;
}

static bool compile_mounts(ab_policy_plain *out, const json_t *tree)
{
	const json_t *list = json_object_get(tree, "mounts");
	size_t n = json_array_size(list);
	size_t room = n + 4 + out->policy.role.worktrees.count;
	ab_policy_mount *mounts = keep(out, room, sizeof(*mounts));
	const ab_field *f = ab_schema_find(ab_schema, "mounts", NULL);

	if (!mounts)
		return false;
	for (size_t i = 0; i < n; i++) {
		section s = { json_array_get(list, i), f->table };

		mounts[i].from = ab_tree_string(s.object, "from");
		mounts[i].to = ab_tree_string(s.object, "to");
		mounts[i].access = read_enum(&s, "access");
		mounts[i].exec = read_bool(&s, "exec");
		mounts[i].optional = read_bool(&s, "optional") ||
				     mounts[i].access == AB_ACCESS_HIDE;
	}
	if (!add_role_mounts(out, mounts, &n))
		return false;
	qsort(mounts, n, sizeof(*mounts), compare_mounts);
	out->policy.mounts = mounts;
	out->policy.mount_count = n;
	return true;
}

struct pair {
	const char *name, *value;
};

static int compare_pairs(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->name,
		      ((const struct pair *)b)->name);
}

static bool compile_env(ab_policy_plain *out, const json_t *tree)
{
	section s = open_section(tree, "env");
	json_t *set = json_object_get(s.object, "set");
	ab_policy_env *env = &out->policy.env;
	size_t n = json_object_size(set);
	ab_autofree struct pair *pairs = ab_calloc(n ? n : 1, sizeof(*pairs));
	const char **names = keep(out, n, sizeof(*names));
	const char **values = keep(out, n, sizeof(*values));
	const char *key;
	json_t *value;
	size_t i = 0;

	if (!pairs || !names || !values || !read_list(out, &s, "pass",
						      &env->pass))
		return false;
	json_object_foreach (set, key, value)
		pairs[i++] = (struct pair){ key, json_string_value(value) };
	qsort(pairs, n, sizeof(*pairs), compare_pairs);
	for (i = 0; i < n; i++) {
		names[i] = pairs[i].name;
		values[i] = pairs[i].value;
	}
	env->set_names = names;
	env->set_values = values;
	env->set_count = n;
	env->pass_all = env->pass.count == 1 &&
			strcmp(env->pass.items[0], "*") == 0;
	return true;
}

static bool compile_protect(ab_policy_plain *out, const json_t *tree)
{
	const json_t *list = json_object_get(tree, "protect");
	size_t count = json_array_size(list);
	size_t builtins = 0;
	size_t n = 0;
	ab_policy_protect *protect;

	while (ab_code_that_runs_later[builtins].pattern)
		builtins++;
	protect = keep(out, count + builtins, sizeof(*protect));
	if (!protect)
		return false;
	for (size_t i = 0; i < count; i++) {
		const char *s = json_string_value(json_array_get(list, i));

		if (strncmp(s, "builtin:", 8) == 0) {
			memcpy(protect + n, ab_code_that_runs_later,
			       builtins * sizeof(*protect));
			n += builtins;
		} else {
			protect[n++].pattern = s;
		}
	}
	out->policy.protect = protect;
	out->policy.protect_count = n;
	return true;
}

static bool compile_syscalls(ab_policy_plain *out, const json_t *tree)
{
	section s = open_section(tree, "syscalls");
	ab_policy_syscalls *to = &out->policy.syscalls;

	to->profile = read_enum(&s, "profile");
	return read_list(out, &s, "deny", &to->deny) &&
	       read_list(out, &s, "allow", &to->allow);
}

static void compile_limits(ab_policy_plain *out, const json_t *tree)
{
	section s = open_section(tree, "limits");
	ab_policy_limits *to = &out->policy.limits;

	for (uint32_t i = 0; i < AB_LIMIT_COUNT; i++)
		to->value[i] = read_number(&s, ab_schema_limits[i]);
	to->require = read_mask(json_object_get(s.object, "require"),
				ab_schema_limits);
}

static void compile_lifecycle(ab_policy_plain *out, const json_t *tree)
{
	section s = open_section(tree, "lifecycle");
	ab_policy_lifecycle *to = &out->policy.lifecycle;
	const json_t *backoff = json_object_get(s.object, "backoff");

	to->restart = read_enum(&s, "restart");
	to->idle_action = read_enum(&s, "idle_action");
	to->orphan = read_enum(&s, "orphan");
	to->max_restarts = read_number(&s, "max_restarts");
	to->timeout_ms = read_number(&s, "timeout");
	to->grace_ms = read_number(&s, "grace");
	to->idle_ms = read_number(&s, "idle");
	if (backoff) {
		to->backoff_min_ms.state = AB_POLICY_SET;
		to->backoff_max_ms.state = AB_POLICY_SET;
		ab_tree_backoff(backoff, &to->backoff_min_ms.value,
				&to->backoff_max_ms.value);
	}
}

static void read_rates(const section *s, ab_policy_rates *to)
{
	section rate = open_below(s, "rate");
	section budget = open_below(s, "budget");

	to->requests_per_minute = read_number(&rate, "requests_per_minute");
	to->bytes_per_second = read_number(&rate, "bytes_per_second");
	to->connections = read_number(&rate, "connections");
	to->budget_requests = read_number(&budget, "requests");
	to->budget_bytes = read_number(&budget, "bytes");
	to->budget_tokens = read_number(&budget, "tokens");
}

static bool compile_names(ab_policy_plain *out, const section *network)
{
	section list = open_below(network, "names");
	size_t n = json_array_size(list.object);
	ab_policy_name *names = keep(out, n, sizeof(*names));

	for (size_t i = 0; names && i < n; i++) {
		section s = { json_array_get(list.object, i), list.table };

		names[i].name = ab_tree_string(s.object, "name");
		read_rates(&s, &names[i].rates);
	}
	out->policy.network.names = names;
	out->policy.network.name_count = n;
	return names != NULL;
}

static bool compile_network(ab_policy_plain *out, const json_t *tree)
{
	section s = open_section(tree, "network");
	const json_t *preview = json_object_get(s.object, "preview");
	ab_policy_network *to = &out->policy.network;
	uint16_t *ports = keep(out, json_array_size(preview), sizeof(*ports));

	if (!ports || !read_list(out, &s, "allow", &to->allow) ||
	    !read_list(out, &s, "deny", &to->deny) ||
	    !read_list(out, &s, "private", &to->private_) ||
	    !read_list(out, &s, "tcp", &to->tcp))
		return false;
	to->mode = read_enum(&s, "mode");
	to->transparent = read_bool(&s, "transparent");
	to->preview_count = json_array_size(preview);
	for (size_t i = 0; i < to->preview_count; i++)
		ports[i] = (uint16_t)json_integer_value(
			json_array_get(preview, i));
	to->preview = ports;
	read_rates(&s, &to->rates);
	return compile_names(out, &s);
}

static void compile_orchestration(ab_policy_plain *out, const json_t *tree)
{
	section s = open_section(tree, "orchestration");
	ab_policy_orchestration *to = &out->policy.orchestration;
	ab_policy_number depth = read_number(&s, "max_depth");

	to->enabled = read_bool(&s, "enabled");
	to->max_children = read_number(&s, "max_children").value;
	/* 1, children only, is the default when enabled */
	to->max_depth = depth.state == AB_POLICY_ABSENT && to->enabled ?
				AB_USUAL_DEPTH : depth.value;
	to->max_total_cpus_milli = read_number(&s, "max_total_cpus").value;
	to->max_total_memory = read_number(&s, "max_total_memory").value;
	to->max_total_disk = read_number(&s, "max_total_disk").value;
}

static void compile_top(ab_policy_plain *out, const json_t *tree)
{
	section top = { tree, ab_schema };
	section run = open_section(tree, "run");
	section shield = open_section(tree, "shield");
	const json_t *require = json_object_get(tree, "require");
	ab_policy *p = &out->policy;

	p->name = ab_tree_string(tree, "name");
	p->account = ab_tree_string(tree, "account");
	p->workspace_id = ab_tree_string(tree, "workspace_id");
	p->identity = ab_tree_string(tree, "identity");
	p->profile = ab_tree_string(run.object, "profile");
	p->template_ = ab_tree_string(run.object, "template");
	p->image = ab_tree_string(run.object, "image");
	p->mode = read_enum(&top, "mode");
	p->peering = read_enum(&top, "peering");
	p->shield = read_enum(&shield, "mode");
	p->shield_watch = read_mask(json_object_get(shield.object, "watch"),
				    ab_schema_watches);
	p->require = require ? read_mask(require, ab_schema_features) :
		     p->mode == AB_MODE_BARE ? 0 :
					       AB_REQUIRE_DEFAULT;
	p->prefer = read_mask(json_object_get(tree, "prefer"),
			      ab_schema_features);
}

int32_t ab_policy_compile(const json_t *tree, ab_policy_plain *out,
			  agentbox_error **err)
{
	compile_top(out, tree);
	compile_workspace(out, tree);
	compile_limits(out, tree);
	compile_lifecycle(out, tree);
	compile_orchestration(out, tree);
	if (compile_role(out, tree) && compile_mounts(out, tree) &&
	    compile_env(out, tree) && compile_protect(out, tree) &&
	    compile_syscalls(out, tree) && compile_network(out, tree))
		return 0;
	ab_policy_plain_end(out);
	return ab_error_nomem(err);
}
