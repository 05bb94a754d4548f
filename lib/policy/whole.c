/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What only the whole document can get wrong, after extends, merges and
 * narrowing: sections that contradict each other, lists that grew too long,
 * a role without a kind. Spec: policy/tree.h, agentbox-policy(5).
 */
#include "config.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "policy/items.h"
#include "policy/tree.h"
#include "policy/way.h"

static int32_t check_orchestration(ab_way *w, const json_t *tree)
{
	const json_t *require = json_object_get(tree, "require");
	const char *network = ab_tree_string(json_object_get(tree, "network"),
					     "mode");
	const char *mode = ab_tree_string(tree, "mode");

	if (!json_is_true(ab_tree_get(tree, "orchestration", "enabled")))
		return 0;
	ab_way_key(w, "orchestration");
	ab_way_key(w, "enabled");
	if (mode && strcmp(mode, "bare") == 0)
		return ab_way_fail(w, AGENTBOX_EPOLICY,
				   "a bare box may not orchestrate: it has no "
				   "walls to pass on");
	if (network && strcmp(network, "host") == 0)
		return ab_way_fail(w, AGENTBOX_EPOLICY,
				   "a box with network mode \"host\" may not "
				   "orchestrate; use \"gateway\" or \"none\"");
	if (require && !ab_tree_has(require, "netns"))
		return ab_way_fail(w, AGENTBOX_EPOLICY,
				   "without the network wall a box may not "
				   "orchestrate; add \"netns\" to \"require\"");
	ab_way_leave(w);
	ab_way_leave(w);
	return 0;
}

static int32_t check_bare(ab_way *w, const json_t *tree)
{
	static const char *const none[] = { "secrets", "routes" };
	const char *mode = ab_tree_string(tree, "mode");

	if (!mode || strcmp(mode, "bare") != 0)
		return 0;
	for (size_t i = 0; i < AB_ARRAY_LEN(none); i++) {
		if (json_array_size(json_object_get(tree, none[i])) == 0)
			continue;
		ab_way_key(w, none[i]);
		return ab_way_fail(w, AGENTBOX_EPOLICY,
				   "a bare box holds no secrets and no routes");
	}
	return 0;
}

/* A route leads somewhere, and one to a repository says how far it goes. */
static const char *judge_route(const json_t *route)
{
	const char *kind = ab_tree_string(route, "kind");
	const char *preset = ab_tree_string(route, "preset");

	if (strncmp(ab_tree_string(route, "prefix"), "/mcp", 4) == 0 &&
	    strchr("/", ab_tree_string(route, "prefix")[4]))
		return "is below \"/mcp\", where the servers of \"tools\" "
		       "are reached";
	if (!preset && !ab_tree_string(route, "upstream"))
		return "has no \"upstream\" and no \"preset\"";
	if (!kind || strcmp(kind, "git") != 0)
		return NULL;
	if (!ab_tree_string(route, "access"))
		return "to a repository has no \"access\": write \"read\" "
		       "for fetch alone, or \"write\"";
	if (preset || json_object_get(route, "open") ||
	    json_object_get(route, "websocket"))
		return "to a repository has no \"preset\", \"open\" or "
		       "\"websocket\"";
	return NULL;
}

static int32_t check_route_forms(ab_way *w, const json_t *tree)
{
	const json_t *routes = json_object_get(tree, "routes");

	for (size_t i = 0; i < json_array_size(routes); i++) {
		const json_t *route = json_array_get(routes, i);
		const char *why = judge_route(route);

		if (!why)
			continue;
		ab_way_key(w, "routes");
		ab_way_number(w, i);
		return ab_way_fail(w, AGENTBOX_EPOLICY,
				   "route \"%.80s\" %s",
				   ab_tree_string(route, "prefix"), why);
	}
	return 0;
}

/* The first of the list that injects a secret nobody lists; NULL: none. */
static const json_t *find_unlisted(const json_t *list, const json_t *secrets,
				   const char **name)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *v = json_array_get(list, i);
		size_t j = 0;

		*name = ab_tree_string(json_object_get(v, "inject"), "secret");
		while (*name && j < json_array_size(secrets) &&
		       strcmp(ab_tree_string(json_array_get(secrets, j),
					     "name"), *name) != 0)
			j++;
		if (*name && j == json_array_size(secrets))
			return v;
	}
	return NULL;
}

static int32_t check_routes(ab_way *w, const json_t *tree)
{
	const json_t *secrets = json_object_get(tree, "secrets");
	const char *name;
	const json_t *v = find_unlisted(json_object_get(tree, "routes"),
					secrets, &name);

	if (v) {
		ab_way_key(w, "routes");
		return ab_way_fail(w, AGENTBOX_EPOLICY,
				   "route \"%.80s\" injects \"%.80s\", which "
				   "\"secrets\" does not list",
				   ab_tree_string(v, "prefix"), name);
	}
	v = find_unlisted(ab_tree_get(tree, "tools", "servers"), secrets,
			  &name);
	if (!v)
		return 0;
	ab_way_key(w, "tools");
	ab_way_key(w, "servers");
	return ab_way_fail(w, AGENTBOX_EPOLICY,
			   "server \"%.80s\" injects \"%.80s\", which "
			   "\"secrets\" does not list",
			   ab_tree_string(v, "name"), name);
}

static bool names_any(const json_t *hosts)
{
	for (size_t i = 0; i < json_array_size(hosts); i++) {
		const char *s = json_string_value(json_array_get(hosts, i));

		if (s[0] == '*' && s[1] != '.')
			return true;
	}
	return false;
}

/*
 * NULL, or what is wrong with it. A password for git is bound to hosts:
 * without them it would be everybody's who says he is a git server.
 */
static const char *judge_secret(const json_t *secret)
{
	const json_t *delivery = json_object_get(secret, "delivery");
	const json_t *hosts = json_object_get(secret, "hosts");
	const json_t *command = json_object_get(secret, "command");
	const char *program = json_string_value(json_array_get(command, 0));

	if (ab_tree_has(delivery, "git") && (!hosts || names_any(hosts)))
		return "is delivered to git for no hosts, or for any; name "
		       "them in \"hosts\"";
	if (!command)
		return NULL;
	return program && program[0] == '/' ? NULL
	       : "has a \"command\" whose program is no absolute path";
}

static int32_t check_secrets(ab_way *w, const json_t *tree)
{
	const json_t *secrets = json_object_get(tree, "secrets");

	for (size_t i = 0; i < json_array_size(secrets); i++) {
		const json_t *v = json_array_get(secrets, i);
		const char *why = judge_secret(v);

		if (!why)
			continue;
		ab_way_key(w, "secrets");
		ab_way_number(w, i);
		return ab_way_fail(w, AGENTBOX_EPOLICY, "secret \"%.80s\" %s",
				   ab_tree_string(v, "name"), why);
	}
	return 0;
}

static int32_t check_places(ab_way *w, const json_t *tree)
{
	const json_t *workspace = json_object_get(tree, "workspace");
	const json_t *mounts = json_object_get(tree, "mounts");
	const char *at = ab_tree_string(workspace, "at");
	const char *path = ab_tree_string(workspace, "path");

	if (at && strcmp(at, "same") == 0)
		at = path;
	else if (!at && path)
		at = "/workspace";
	for (size_t i = 0; at && i < json_array_size(mounts); i++) {
		const char *to = ab_tree_string(json_array_get(mounts, i),
						"to");

		if (strcmp(to, at) != 0)
			continue;
		ab_way_key(w, "workspace");
		return ab_way_fail(w, AGENTBOX_EPOLICY,
				   "the workspace and a mount are both at "
				   "\"%.80s\"", at);
	}
	return 0;
}

static int32_t check_same(ab_way *w, const json_t *tree)
{
	const json_t *workspace = json_object_get(tree, "workspace");
	const char *at = ab_tree_string(workspace, "at");
	const char *path = ab_tree_string(workspace, "path");
	char item[AB_ITEM_SIZE];
	char why[AB_WHY_SIZE];

	if (!at || !path || strcmp(at, "same") != 0 ||
	    ab_item_target(path, strlen(path), item, why))
		return 0;
	ab_way_key(w, "workspace");
	ab_way_key(w, "path");
	return ab_way_fail(w, AGENTBOX_EPOLICY, "\"%.80s\" %s", path, why);
}

/* Merging and narrowing add lists up; the bounds of the parser hold. */
static int32_t check_sizes(ab_way *w, const ab_field *table,
			   const json_t *object)
{
	for (const ab_field *f = table; f->key; f++) {
		const json_t *v = json_object_get(object, f->key);
		size_t n = json_array_size(v);
		int32_t r = 0;

		ab_way_key(w, f->key);
		if (f->type == AB_T_OBJECT && v)
			r = check_sizes(w, f->table, v);
		else if (n > ab_schema_list_max(f))
			r = ab_way_fail(w, AGENTBOX_ELIMIT,
					"%zu entries; at most %zu", n,
					ab_schema_list_max(f));
		if (r < 0)
			return r;
		ab_way_leave(w);
	}
	return 0;
}

static int32_t check_role(ab_way *w, const json_t *tree)
{
	const json_t *role = json_object_get(tree, "role");

	if (!role || json_object_get(role, "kind"))
		return 0;
	ab_way_key(w, "role");
	return ab_way_fail(w, AGENTBOX_EPOLICY, "\"kind\" is missing; write "
			   "\"engineer\" or \"manager\"");
}

/* Which commits are two of, and which of another's, nobody could tell. */
static int32_t check_snapshot(ab_way *w, const json_t *tree)
{
	const json_t *snapshot = json_object_get(tree, "snapshot");
	const char *git = ab_tree_string(snapshot, "git");
	bool is_named = json_object_get(snapshot, "repository");

	if (is_named != !!json_object_get(snapshot, "git_head")) {
		ab_way_key(w, "snapshot");
		ab_way_key(w, is_named ? "repository" : "git_head");
		return ab_way_fail(w, AGENTBOX_EPOLICY,
				   "\"repository\" and \"git_head\" say "
				   "together which commit of which repository; "
				   "one alone says nothing");
	}
	if (!git || strcmp(git, "range") != 0 ||
	    json_object_get(snapshot, "git_base"))
		return 0;
	ab_way_key(w, "snapshot");
	ab_way_key(w, "git");
	return ab_way_fail(w, AGENTBOX_EPOLICY,
			   "git \"range\" needs a \"git_base\": the branch, "
			   "tag or commit from which the branch parted");
}

int32_t ab_tree_check_places(const json_t *tree, agentbox_error **err)
{
	agentbox_error *local = NULL;
	ab_way w = { .err = &local };

	if (check_places(&w, tree) < 0)
		return ab_error_move(err, &local);
	return 0;
}

int32_t ab_tree_check_whole(const json_t *tree, const ab_json_index *index,
			    agentbox_error **err)
{
	agentbox_error *local = NULL;
	ab_way w = { .index = index, .err = &local };

	if (check_sizes(&w, ab_schema, tree) < 0 ||
	    check_orchestration(&w, tree) < 0 || check_bare(&w, tree) < 0 ||
	    check_secrets(&w, tree) < 0 || check_routes(&w, tree) < 0 ||
	    check_route_forms(&w, tree) < 0 || check_places(&w, tree) < 0 ||
	    check_same(&w, tree) < 0 || check_role(&w, tree) < 0 ||
	    check_snapshot(&w, tree) < 0)
		return ab_error_move(err, &local);
	return 0;
}
