/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Git's configuration syntax, as git reads it: sections old and new, quotes,
 * escapes, continued lines, comments, either line end. What git would die of
 * is read on, because the next git or another reader may not.
 *
 * Which keys make git run something is a table; everything else is data.
 * Spec: git-config(1), "Syntax" and "Variables".
 */
#include "config.h"

#include "walls/gitconfig.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define END (-1)

static int get(ab_gitconfig *c)
{
	int ch;

	if (c->p == c->end)
		return END;
	ch = (unsigned char)*c->p++;
	if (ch == '\r' && c->p < c->end && *c->p == '\n')
		ch = (unsigned char)*c->p++;
	return ch;
}

static bool is_space(int ch)
{
	return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

static bool is_alpha(int ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

static bool is_key(int ch)
{
	return is_alpha(ch) || (ch >= '0' && ch <= '9') || ch == '-';
}

static void add_lower(char *out, size_t size, int ch)
{
	size_t n = strlen(out);

	if (n + 1 >= size)
		return; /* no key of ours is so long */
	out[n] = (char)(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch);
	out[n + 1] = '\0';
}

static void skip_line(ab_gitconfig *c, int ch)
{
	while (ch != '\n' && ch != END)
		ch = get(c);
}

/* After the bracket, up to and with the other one. */
static void read_section(ab_gitconfig *c)
{
	bool quoted = false, base = true;
	int ch;

	c->section[0] = '\0';
	while ((ch = get(c)) != END && ch != '\n') {
		if (ch == ']' && !quoted)
			return;
		if (ch == '"')
			quoted = !quoted;
		else if (ch == '\\' && quoted)
			ch = get(c);
		if (!is_key(ch))
			base = false;
		if (base)
			add_lower(c->section, sizeof(c->section), ch);
	}
}

static int unescape(int ch)
{
	switch (ch) {
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'n':
		return '\n';
	}
	return ch;
}

static void read_value(ab_gitconfig *c)
{
	bool quoted = false, comment = false;
	size_t n = 0, keep = 0;
	int ch;

	while ((ch = get(c)) != END && ch != '\n') {
		if (comment)
			continue;
		if (!quoted && (ch == '#' || ch == ';')) {
			comment = true;
			continue;
		}
		if (!quoted && is_space(ch)) {
			if (n)
				c->value[n++] = (char)ch;
			continue;
		}
		if (ch == '\\') {
			ch = get(c);
			if (ch == '\n' || ch == END)
				continue;
			c->value[n++] = (char)unescape(ch);
		} else if (ch == '"') {
			quoted = !quoted;
		} else {
			c->value[n++] = (char)ch;
		}
		keep = n;
	}
	c->value[keep] = '\0';
}

bool ab_gitconfig_init(ab_gitconfig *c, const char *text, size_t n)
{
	/* git skips a byte order mark */
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		n -= 3;
	}
	*c = (ab_gitconfig){ .p = text, .end = text + n };
	c->value = ab_calloc(n + 1, 1);
	return c->value != NULL;
}

bool ab_gitconfig_next(ab_gitconfig *c)
{
	int ch;

	while ((ch = get(c)) != END) {
		if (is_space(ch))
			continue;
		if (ch == '[') {
			read_section(c);
			continue;
		}
		c->key[0] = '\0';
		for (; is_key(ch); ch = get(c))
			add_lower(c->key, sizeof(c->key), ch);
		while (ch == ' ' || ch == '\t')
			ch = get(c);
		if (ch != '=' || !c->key[0]) {
			skip_line(c, ch);
			continue;
		}
		read_value(c);
		return true;
	}
	return false;
}

void ab_gitconfig_end(ab_gitconfig *c)
{
	free(c->value);
	*c = (ab_gitconfig){ 0 };
}

enum ab_gitconfig_kind ab_gitconfig_kind(const ab_gitconfig *c)
{
	static const struct {
		const char *section, *key; /* NULL: any */
		enum ab_gitconfig_kind kind;
	} rows[] = {
		{ "include", "path", AB_GITCONFIG_INCLUDE },
		{ "includeif", "path", AB_GITCONFIG_INCLUDE },
		{ "core", "worktree", AB_GITCONFIG_TREE },
		{ "core", "hookspath", AB_GITCONFIG_PATH },
		{ "core", "attributesfile", AB_GITCONFIG_PATH },
		{ "init", "templatedir", AB_GITCONFIG_PATH },
		{ "alias", NULL, AB_GITCONFIG_COMMAND },
		{ "browser", NULL, AB_GITCONFIG_COMMAND },
		{ "core", "alternaterefscommand", AB_GITCONFIG_COMMAND },
		{ "core", "askpass", AB_GITCONFIG_COMMAND },
		{ "core", "editor", AB_GITCONFIG_COMMAND },
		{ "core", "fsmonitor", AB_GITCONFIG_COMMAND },
		{ "core", "gitproxy", AB_GITCONFIG_COMMAND },
		{ "core", "pager", AB_GITCONFIG_COMMAND },
		{ "core", "sshcommand", AB_GITCONFIG_COMMAND },
		{ "credential", "helper", AB_GITCONFIG_COMMAND },
		{ "diff", "command", AB_GITCONFIG_COMMAND },
		{ "diff", "external", AB_GITCONFIG_COMMAND },
		{ "diff", "textconv", AB_GITCONFIG_COMMAND },
		{ "difftool", NULL, AB_GITCONFIG_COMMAND },
		{ "filter", NULL, AB_GITCONFIG_COMMAND },
		{ "gpg", NULL, AB_GITCONFIG_COMMAND },
		{ "guitool", "cmd", AB_GITCONFIG_COMMAND },
		{ "help", "browser", AB_GITCONFIG_COMMAND },
		{ "hook", "command", AB_GITCONFIG_COMMAND },
		{ "imap", "tunnel", AB_GITCONFIG_COMMAND },
		{ "instaweb", NULL, AB_GITCONFIG_COMMAND },
		{ "interactive", "difffilter", AB_GITCONFIG_COMMAND },
		{ "man", NULL, AB_GITCONFIG_COMMAND },
		{ "merge", "driver", AB_GITCONFIG_COMMAND },
		{ "mergetool", NULL, AB_GITCONFIG_COMMAND },
		{ "pager", NULL, AB_GITCONFIG_COMMAND },
		{ "remote", "receivepack", AB_GITCONFIG_COMMAND },
		{ "remote", "uploadpack", AB_GITCONFIG_COMMAND },
		{ "sendemail", NULL, AB_GITCONFIG_COMMAND },
		{ "sequence", "editor", AB_GITCONFIG_COMMAND },
		{ "submodule", "update", AB_GITCONFIG_COMMAND },
		{ "tar", "command", AB_GITCONFIG_COMMAND },
		{ "trailer", "cmd", AB_GITCONFIG_COMMAND },
		{ "trailer", "command", AB_GITCONFIG_COMMAND },
		{ "uploadpack", "packobjectshook", AB_GITCONFIG_COMMAND },
		{ "web", "browser", AB_GITCONFIG_COMMAND },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		if (strcmp(c->section, rows[i].section) == 0 &&
		    (!rows[i].key || strcmp(c->key, rows[i].key) == 0))
			return rows[i].kind;
	}
	return AB_GITCONFIG_DATA;
}

bool ab_gitconfig_find(const char *text, const char *section, const char *key,
		       char *out, size_t size)
{
	ab_gitconfig c;
	bool found = false;

	if (!ab_gitconfig_init(&c, text, strlen(text)))
		return false;
	while (ab_gitconfig_next(&c)) {
		if (strcmp(c.section, section) != 0 ||
		    strcmp(c.key, key) != 0 || strlen(c.value) >= size)
			continue;
		memcpy(out, c.value, strlen(c.value) + 1);
		found = true;
	}
	ab_gitconfig_end(&c);
	return found;
}
