/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox network: the stored allowlist, one for each account of policies
 * and one for boxes without. What an entry means is the library's; here is a
 * file that is whole or refused, that nobody else can write, and that is
 * replaced at once. Empty is nothing. Specification: agentbox(1).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "text.h"
#include "tool.h"

#define VERSION_KEY "agentbox_network"
#define MOST_ENTRIES 1000
#define MOST_BYTES (1 << 20)
#define LOCK_SECONDS 10

/* One list, and where it is. Zeroed, with -1: nothing to end. */
typedef struct store {
	const char *account; /* NULL: of boxes without one */
	char *name, *path;   /* in the directory; for people */
	int dir_fd, lock_fd;
	json_t *allow;
	/* a state directory that is none: for a box, whoever raises it tells,
	   and nothing is allowed */
	bool is_for_box;
} store;

static void end(store *s)
{
	free(s->name);
	free(s->path);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	json_decref(s->allow);
}

/* --- entries -------------------------------------------------------------- */

/* A policy that grants these hosts and nothing else; `allow` is borrowed. */
static agentbox_policy *policy_of(tool *t, json_t *allow, agentbox_error **err)
{
	json_t *o = json_pack("{s:i, s:{s:s, s:O}}", "agentbox", 1, "network",
			      "mode", "gateway", "allow", allow);
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	agentbox_policy *policy = NULL;

	json_decref(o);
	if (text)
		(void)agentbox_policy_parse(t->context, text, strlen(text),
					    &policy, err);
	free(text);
	return policy;
}

/* What the library says of an entry, without its place in our document. */
static const char *why_of(const agentbox_error *err)
{
	const char *message = err ? agentbox_error_get_message(err)
				  : "cannot be read";
	const char *line = strstr(message, ": line ");
	const char *rest = line ? strstr(line + 2, ": ") : NULL;

	return rest ? rest + 2 : message;
}

/* One entry in the one spelling there is for it; NULL: told why it is none. */
static json_t *canonical(tool *t, json_t *entry, int status, const char *about)
{
	json_t *list = json_pack("[O]", entry), *kept = NULL;
	const char *text = json_string_value(entry);
	agentbox_policy *policy = NULL;
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;
	json_t *document;

	if (list && text)
		policy = policy_of(t, list, &err);
	if (policy && agentbox_policy_to_json(policy, &bytes, &err) == 0) {
		document = tool_json_of(bytes);
		kept = json_incref(json_array_get(json_object_get(
			json_object_get(document, "network"), "allow"), 0));
		json_decref(document);
	}
	if (!kept)
		tool_refuse(t, status, "EPOLICY", about, "%s",
			    text ? why_of(err) : "is no text");
	agentbox_error_free(err);
	agentbox_policy_unref(policy);
	json_decref(list);
	return kept;
}

/* Is everything that `entry` names named by the hosts of `list`? */
static bool covers(tool *t, json_t *list, json_t *entry)
{
	json_t *one = json_pack("[O]", entry);
	agentbox_policy *parent = policy_of(t, list, NULL);
	agentbox_policy *child = one ? policy_of(t, one, NULL) : NULL;
	bool yes = parent && child &&
		   agentbox_policy_contains(parent, child, NULL) == 0;

	agentbox_policy_unref(parent);
	agentbox_policy_unref(child);
	json_decref(one);
	return yes;
}

static bool has(const json_t *list, const json_t *entry)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_equal(json_array_get(list, i), entry))
			return true;
	return false;
}

/* --- the file ------------------------------------------------------------- */

/* NULL, or why nothing is taken from it, or put there. */
static const char *judge(int fd, bool directory)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return "cannot be looked at";
	if (directory ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
		return directory ? "is no directory" : "is no regular file";
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return "belongs to another user";
	if (st.st_mode & 022)
		return "can be written by others";
	return !directory && st.st_size > MOST_BYTES ? "is too long" : NULL;
}

static int refuse_file(tool *t, const char *path, const char *why)
{
	return tool_refuse(t, TOOL_REFUSED, "EACCES", path, "%s; nothing is "
			   "taken from it", why);
}

/* A directory of ours below `at`: -1 and errno, or -1 and *rc told. */
static int open_below(tool *t, int at, const char *name, const char *path,
		      bool make, int *rc)
{
	int fd;
	const char *why;

	if (make && mkdirat(at, name, 0700) < 0 && errno != EEXIST)
		return -1;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
		    (at == AT_FDCWD ? 0 : O_NOFOLLOW));
	why = fd < 0 ? NULL : judge(fd, true);
	if (why) {
		*rc = refuse_file(t, path, why);
		close(fd);
		fd = -1;
	}
	return fd;
}

/* dir_fd stays -1 where there is no such directory and none is made. */
static int open_place(tool *t, store *s, bool make)
{
	char *place = text_format("%s/network", t->state);
	int rc = 0, state;

	if (make)
		tool_make_state_parents(t);
	state = open_below(t, AT_FDCWD, t->state, t->state, make, &rc);
	if (state < 0 && !rc && !s->is_for_box && (make || errno != ENOENT)) {
		free(place);
		return tool_refuse(t, TOOL_REFUSED, "EACCES", "--state",
				   "the state directory %s cannot be opened: "
				   "%s", t->state, strerror(errno));
	}
	if (state >= 0 && place)
		s->dir_fd = open_below(t, state, "network", place, make, &rc);
	if (!rc && state >= 0 && s->dir_fd < 0 && (make || errno != ENOENT))
		rc = tool_refuse(t, TOOL_REFUSED, "EACCES", place,
				 "cannot be opened: %s", strerror(errno));
	if (state >= 0)
		close(state);
	free(place);
	return rc;
}

/* Whoever changes the list does it alone. */
static int lock(tool *t, store *s)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	s->lock_fd = openat(s->dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC |
			    O_NOFOLLOW | O_NONBLOCK, 0600);
	if (s->lock_fd < 0)
		return tool_refuse(t, TOOL_REFUSED, "EACCES", s->path,
				   "cannot be locked: %s", strerror(errno));
	for (int i = 0; i < LOCK_SECONDS * 50; i++) {
		if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		nanosleep(&pause, NULL);
	}
	return tool_refuse(t, TOOL_REFUSED, "EBUSY", s->path,
			   "somebody else has been changing it for %d seconds",
			   LOCK_SECONDS);
}

/* The list of a document, entry by entry, or told what is wrong with it. */
static int take_list(tool *t, store *s, json_t *root)
{
	json_t *allow = json_object_get(root, "allow");

	if (json_integer_value(json_object_get(root, VERSION_KEY)) != 1 ||
	    json_object_size(root) != 2 || !json_is_array(allow) ||
	    json_array_size(allow) > MOST_ENTRIES)
		return tool_refuse(t, TOOL_BAD_INPUT, "EPARSE", s->path,
				   "is no stored allowlist; 'agentbox network "
				   "reset' begins anew");
	for (size_t i = 0; i < json_array_size(allow); i++) {
		char *about = text_format("%s: entry %zu", s->path, i + 1);
		json_t *entry = canonical(t, json_array_get(allow, i),
					  TOOL_BAD_INPUT, about);

		free(about);
		if (!entry)
			return TOOL_BAD_INPUT;
		if (!has(s->allow, entry))
			json_array_append(s->allow, entry);
		json_decref(entry);
	}
	return 0;
}

static int read_list(tool *t, store *s)
{
	int fd = openat(s->dir_fd, s->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
			O_NONBLOCK | O_NOCTTY);
	const char *why;
	json_t *root;
	int rc;

	if (fd < 0 && errno == ENOENT)
		return 0;
	why = fd < 0 ? strerror(errno) : judge(fd, false);
	if (why) {
		if (fd >= 0)
			close(fd);
		return refuse_file(t, s->path, why);
	}
	root = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	close(fd);
	rc = take_list(t, s, root);
	json_decref(root);
	return rc;
}

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return fsync(fd) == 0;
}

/* The whole new list in place of the whole old one. */
static int write_list(tool *t, const store *s)
{
	json_t *root = json_pack("{s:i, s:O}", VERSION_KEY, 1, "allow",
				 s->allow);
	char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
	char *fresh = text_format("%s.new", s->name);
	bool good = false;
	int fd = -1;

	json_decref(root);
	errno = ENOMEM;
	if (text && fresh) {
		(void)unlinkat(s->dir_fd, fresh, 0);
		fd = openat(s->dir_fd, fresh, O_WRONLY | O_CREAT | O_EXCL |
			    O_CLOEXEC | O_NOFOLLOW, 0600);
		good = fd >= 0 && write_all(fd, text, strlen(text)) &&
		       renameat(s->dir_fd, fresh, s->dir_fd, s->name) == 0;
	}
	int saved = errno;
	if (fd >= 0)
		close(fd);
	if (good)
		(void)fsync(s->dir_fd);
	free(text);
	free(fresh);
	if (good)
		return 0;
	bool refused = saved == EACCES || saved == EPERM || saved == EROFS;
	return tool_refuse(t, refused ? TOOL_REFUSED : TOOL_INTERNAL,
			   refused ? "EACCES" : "ESYS", s->path,
			   "cannot be written, and is as it was: %s",
			   strerror(saved));
}

/* --- finding it ----------------------------------------------------------- */

/* Would a policy take it? The name is a part of a file's. */
static bool is_account(tool *t, const char *account)
{
	json_t *o = json_pack("{s:i, s:s}", "agentbox", 1, "account", account);
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	agentbox_policy *policy = NULL;
	bool yes = text && !strchr(account, '/') &&
		   agentbox_policy_parse(t->context, text, strlen(text),
					 &policy, NULL) == 0;

	agentbox_policy_unref(policy);
	json_decref(o);
	free(text);
	return yes;
}

/* 0 with *s to end, or an exit status, with *s to end as well. */
static int open_store(tool *t, const char *account, bool change,
		      bool is_for_box, store *s)
{
	int rc;

	*s = (store){ .account = account, .dir_fd = -1, .lock_fd = -1,
		      .allow = json_array(), .is_for_box = is_for_box };
	if (account && !is_account(t, account))
		return tool_refuse(t, TOOL_USAGE, "EINVAL", "--account",
				   "'%s' is not the name of an account",
				   account);
	rc = tool_need_state(t);
	if (rc)
		return rc;
	s->name = account ? text_format("account-%s.json", account)
			  : strdup("allow.json");
	s->path = s->name ? text_format("%s/network/%s", t->state, s->name)
			  : NULL;
	if (!s->path || !s->allow)
		return tool_refuse(t, TOOL_INTERNAL, "ENOMEM", NULL,
				   "out of memory");
	rc = open_place(t, s, change);
	return rc || !change ? rc : lock(t, s);
}

int tool_stored_allow(tool *t, const char *account, json_t **allow)
{
	store s;
	int rc;

	*allow = NULL;
	if (!t->state) {
		*allow = json_array();
		return 0;
	}
	rc = open_store(t, account, false, true, &s);
	if (!rc && s.dir_fd >= 0)
		rc = read_list(t, &s);
	if (!rc)
		*allow = json_incref(s.allow);
	end(&s);
	return rc;
}

/* --- the subcommands ------------------------------------------------------ */

static int tell(tool *t, const store *s, const char *what, json_t *changed)
{
	if (t->json)
		return tool_print_json(t, json_pack(
			"{s:s*, s:s, s:O, s:o*}", "account", s->account,
			"file", s->path, "allow", s->allow, what, changed));
	for (size_t i = 0; i < json_array_size(changed); i++)
		text_note("%s: %s", what, json_string_value(
			json_array_get(changed, i)));
	json_decref(changed);
	return 0;
}

int tool_network_show(tool *t, const tool_args *args)
{
	store s;
	int rc = open_store(t, tool_get(args, "--account"), false, false, &s);

	if (!rc && s.dir_fd >= 0)
		rc = read_list(t, &s);
	if (!rc && t->json)
		rc = tell(t, &s, "changed", NULL);
	else if (!rc && !json_array_size(s.allow))
		text_note("nothing is allowed");
	for (size_t i = 0; !rc && !t->json && i < json_array_size(s.allow);
	     i++) {
		rc = tool_write_line(t, text_format("%s\n", json_string_value(
			json_array_get(s.allow, i))));
	}
	end(&s);
	return rc;
}

/* Every operand in its canonical form, or none. */
static int take_operands(tool *t, const tool_args *args, json_t **out)
{
	*out = json_array();
	for (int i = 0; i < args->operand_count; i++) {
		const char *url = strstr(args->operands[i], "://");

		if (url)
			return tool_refuse(t, TOOL_BAD_INPUT, "EPOLICY", NULL,
					   "'%s' is a URL; write its host "
					   "alone: '%.*s'", args->operands[i],
					   (int)strcspn(url + 3, "/?#"),
					   url + 3);
		json_t *text = json_string(args->operands[i]);
		json_t *entry = canonical(t, text, TOOL_BAD_INPUT, NULL);

		json_decref(text);
		if (!entry)
			return TOOL_BAD_INPUT;
		json_array_append_new(*out, entry);
	}
	return 0;
}

int tool_network_allow(tool *t, const tool_args *args)
{
	json_t *given = NULL, *added = json_array();
	int rc = take_operands(t, args, &given);
	store s = { .dir_fd = -1, .lock_fd = -1 };

	if (!rc)
		rc = open_store(t, tool_get(args, "--account"), true, false,
				&s);
	if (!rc)
		rc = read_list(t, &s);
	for (size_t i = 0; !rc && i < json_array_size(given); i++) {
		json_t *entry = json_array_get(given, i);

		if (has(s.allow, entry)) {
			if (!t->json)
				text_note("allowed already: %s",
					  json_string_value(entry));
			continue;
		}
		json_array_append(s.allow, entry);
		json_array_append(added, entry);
	}
	if (!rc && json_array_size(s.allow) > MOST_ENTRIES)
		rc = tool_refuse(t, TOOL_REFUSED, "ELIMIT", s.path,
				 "would have more than %d entries",
				 MOST_ENTRIES);
	if (!rc && json_array_size(added))
		rc = write_list(t, &s);
	if (!rc)
		rc = tell(t, &s, "allowed", json_incref(added));
	json_decref(given);
	json_decref(added);
	end(&s);
	return rc;
}

/* What stays and lets an entry be reached though it was taken away. */
static void warn_left(tool *t, const store *s, json_t *entry)
{
	const char *text = json_string_value(entry);

	for (size_t i = 0; i < json_array_size(s->allow); i++) {
		json_t *left = json_array_get(s->allow, i);
		json_t *one = json_pack("[O]", left);

		if (one && covers(t, one, entry))
			text_warning("'%s' is still allowed by '%s'", text,
				     json_string_value(left));
		json_decref(one);
	}
}

/* All that one operand names; how many were taken. */
static size_t take_away(tool *t, store *s, json_t *entry, json_t *removed)
{
	json_t *one = json_pack("[O]", entry);
	size_t before = json_array_size(s->allow);

	for (size_t i = before; one && i-- > 0;) {
		json_t *e = json_array_get(s->allow, i);

		if (!json_equal(e, entry) && !covers(t, one, e))
			continue;
		json_array_append(removed, e);
		json_array_remove(s->allow, i);
	}
	json_decref(one);
	return before - json_array_size(s->allow);
}

int tool_network_disallow(tool *t, const tool_args *args)
{
	json_t *given = NULL, *removed = json_array();
	int rc = take_operands(t, args, &given);
	store s = { .dir_fd = -1, .lock_fd = -1 };

	if (!rc)
		rc = open_store(t, tool_get(args, "--account"), true, false,
				&s);
	if (!rc)
		rc = read_list(t, &s);
	for (size_t i = 0; !rc && i < json_array_size(given); i++) {
		json_t *entry = json_array_get(given, i);
		bool none = !take_away(t, &s, entry, removed);

		warn_left(t, &s, entry);
		if (none)
			rc = tool_refuse(t, TOOL_NOT_FOUND, "ENOTFOUND",
					 s.path, "has no entry '%s'; nothing "
					 "was changed",
					 json_string_value(entry));
	}
	if (!rc)
		rc = write_list(t, &s);
	if (!rc)
		rc = tell(t, &s, "disallowed", json_incref(removed));
	json_decref(given);
	json_decref(removed);
	end(&s);
	return rc;
}

int tool_network_reset(tool *t, const tool_args *args)
{
	store s;
	int rc = open_store(t, tool_get(args, "--account"), true, false, &s);

	/* whatever is there: the way out where it cannot be read */
	if (!rc && unlinkat(s.dir_fd, s.name, 0) < 0 && errno != ENOENT)
		rc = tool_refuse(t, TOOL_REFUSED, "EACCES", s.path,
				 "cannot be removed: %s", strerror(errno));
	if (!rc && t->json)
		rc = tell(t, &s, "changed", NULL);
	else if (!rc)
		text_note("nothing is allowed");
	end(&s);
	return rc;
}
