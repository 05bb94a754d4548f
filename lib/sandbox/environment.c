/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The environment of a command: what the policy sets, then the host's
 * variables that the policy passes, then what the program set for this
 * command. Nothing else reaches the box; the library's own environment is
 * never read (DESIGN.md section 4).
 */
#include "config.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "sandbox/internal.h"

typedef struct env_list {
	char **items;
	size_t count, room;
} env_list;

void ab_environment_free(char **envp)
{
	for (size_t i = 0; envp && envp[i]; i++)
		free(envp[i]);
	free(envp);
}

static size_t find(const env_list *l, const char *name)
{
	size_t n = strlen(name);
	size_t i = 0;

	while (i < l->count && (strncmp(l->items[i], name, n) != 0 ||
				l->items[i][n] != '='))
		i++;
	return i;
}

static void drop(env_list *l, const char *name)
{
	size_t i = find(l, name);

	if (i == l->count)
		return;
	free(l->items[i]);
	l->items[i] = l->items[--l->count];
	l->items[l->count] = NULL;
}

/* `room` was made large enough by the caller. */
static bool put(env_list *l, const char *name, const char *value)
{
	char *item = ab_asprintf("%s=%s", name, value);
	if (!item)
		return false;
	size_t i = find(l, name);
	if (i < l->count)
		free(l->items[i]);
	else
		l->count++;
	l->items[i] = item;
	return true;
}

static bool passes(const ab_policy_env *env, const char *name)
{
	if (env->pass_all)
		return true;
	for (size_t i = 0; i < env->pass.count; i++)
		if (strcmp(env->pass.items[i], name) == 0)
			return true;
	return false;
}

/* "NAME=value" */
static bool put_pair(env_list *l, const char *pair)
{
	ab_autofree char *name = ab_strdup(pair);
	char *value = name ? strchr(name, '=') : NULL;

	if (!value)
		return false;
	*value++ = '\0';
	return put(l, name, value);
}

static bool fill(env_list *l, const ab_policy_env *env, const char *home,
		 char *const *gateway, const agentbox_command *c)
{
	for (size_t i = 0; gateway && gateway[i]; i++)
		if (!put_pair(l, gateway[i]))
			return false;
	if (home && !put(l, "HOME", home))
		return false;
	for (size_t i = 0; i < env->set_count; i++)
		if (!put(l, env->set_names[i], env->set_values[i]))
			return false;
	for (size_t i = 0; i < c->env_count; i++) {
		const ab_env_entry *e = &c->env[i];
		/* What the policy sets, no passed variable can change. */
		if (e->from_host && passes(env, e->name) &&
		    find(l, e->name) == l->count &&
		    !put(l, e->name, e->value))
			return false;
	}
	for (size_t i = 0; i < c->env_count; i++) {
		const ab_env_entry *e = &c->env[i];
		if (e->from_host)
			continue;
		if (!e->value)
			drop(l, e->name);
		else if (!put(l, e->name, e->value))
			return false;
	}
	return true;
}

int32_t ab_environment_build(const agentbox_policy *policy, const char *home,
			     char *const *gateway,
			     const agentbox_command *command, char ***out,
			     size_t *n, agentbox_error **err)
{
	const ab_policy_env *env = &ab_policy_get(policy)->env;
	env_list l = { .room = env->set_count + command->env_count + 2 };

	for (size_t i = 0; gateway && gateway[i]; i++)
		l.room++;
	l.items = ab_calloc(l.room, sizeof(*l.items));
	if (!l.items)
		return ab_error_nomem(err);
	if (!fill(&l, env, home, gateway, command)) {
		ab_environment_free(l.items);
		return ab_error_nomem(err);
	}
	*out = l.items;
	*n = l.count;
	return 0;
}
