/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of routes and its verdicts. Spec: route_table.h. */
#include "config.h"

#include "route_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digit.h"
#include "git_http.h"
#include "gw.h"
#include "http_internal.h"

static const struct {
	const char *name;
	unsigned status;
	const char *text;
} reasons[] = {
	[AB_ROUTE_UNJUDGED] = { "unjudged", 500, "the request was not judged" },
	[AB_ROUTE_OK] = { "ok", 200, "" },
	[AB_ROUTE_NONE] = { "no_route", 404, "no route has this path" },
	[AB_ROUTE_FORM] = { "route_form", 400, "a route takes a path alone" },
	[AB_ROUTE_PATH] = { "route_path", 400,
			    "the path could be read in two ways" },
	[AB_ROUTE_LONG] = { "route_long", 414, "the path is too long" },
	[AB_ROUTE_METHOD] = { "route_method", 405,
			      "this route is for reading" },
	[AB_ROUTE_CLOSED] = { "route_closed", 403,
			      "this path is closed; the policy can open it" },
	[AB_ROUTE_QUERY] = { "query_credential", 400,
			     "the query holds a credential or a method" },
	[AB_ROUTE_NOT_GIT] = { "not_git", 403,
			       "this route is one repository: fetch and push "
			       "over smart HTTP" },
	[AB_ROUTE_PUSH] = { "push_denied", 403,
			    "the policy allows fetch here, not push" },
	[AB_ROUTE_UPGRADE] = { "upgrade_denied", 403,
			       "the policy allows no websocket here" },
	[AB_ROUTE_PROTOCOL] = { "protocol_credential", 400,
				"a websocket's protocol holds a credential" },
	[AB_ROUTE_NO_KEY] = { "no_key", 401,
			      "the key of the box is missing or wrong" },
	[AB_ROUTE_REMOVED] = { "route_removed", 403,
			       "the host has taken this route away" },
	[AB_ROUTE_NO_SECRET] = { "no_secret", 503,
				 "the host has not given this route its "
				 "secret" },
	[AB_ROUTE_RATE] = { "rate", 429, "too many requests a minute" },
	[AB_ROUTE_CONNECTIONS] = { "connections", 429,
				   "too many requests at once" },
	[AB_ROUTE_TOKENS] = { "budget_tokens", 429,
			      "the policy's tokens are used up" },
	[AB_ROUTE_UNCOUNTED] = { AB_TOKENS_UNTOLD, 403,
				 AB_TOKENS_UNTOLD_WHY },
	[AB_ROUTE_UPSTREAM] = { "upstream", 502,
				"the upstream cannot be reached" },
	[AB_ROUTE_TLS] = { "upstream_tls", 502,
			   "the upstream could not be verified" },
	[AB_ROUTE_ANSWER] = { "upstream_answer", 502,
			      "the upstream's answer is refused" },
	[AB_ROUTE_CUT] = { "upstream_cut", 502,
			   "the upstream ended too early" },
	[AB_ROUTE_SLOW] = { "upstream_timeout", 504,
			    "the upstream took too long" },
	[AB_ROUTE_BODY] = { "body", 400, "the body is malformed" },
	[AB_ROUTE_STALLED] = { "stalled", 408,
			       "the rest of the request did not come" },
	[AB_ROUTE_MEMORY] = { "memory", 503, "out of memory" },
};

static_assert(AB_ARRAY_LEN(reasons) == AB_ROUTE_REASON_COUNT,
	      "a reason without a name");

const char *ab_route_reason_name(enum ab_route_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ? reasons[reason].name :
							"unknown";
}

const char *ab_route_reason_text(enum ab_route_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ? reasons[reason].text :
							"refused";
}

unsigned ab_route_reason_status(enum ab_route_reason reason)
{
	return (size_t)reason < AB_ARRAY_LEN(reasons) ?
		       reasons[reason].status : 500;
}

/* --- the table ------------------------------------------------------------ */

/* One block for all strings and lists of a route, so that one free ends it. */
typedef struct memory {
	char *p;
	size_t used, size;
} memory;

static const char *take(memory *m, const char *s)
{
	size_t n = strlen(s) + 1;
	char *at = m->p ? m->p + m->used : NULL;

	if (at)
		memcpy(at, s, n);
	m->used += n;
	return at;
}

static const char *const *take_list(memory *m, const char *const *items,
				    size_t count)
{
	const char **list;

	m->used = (m->used + sizeof(char *) - 1) & ~(sizeof(char *) - 1);
	list = m->p ? (const char **)(void *)(m->p + m->used) : NULL;
	m->used += count * sizeof(char *);
	for (size_t i = 0; i < count; i++) {
		const char *s = take(m, items[i]);

		if (list)
			list[i] = s;
	}
	return list;
}

/* Without memory it measures. */
static void copy_spec(ab_wire_route *to, const ab_wire_route *from, memory *m)
{
	*to = *from;
	to->closed = take_list(m, from->closed, from->closed_count);
	to->open = take_list(m, from->open, from->open_count);
	to->prefix = take(m, from->prefix);
	to->host = take(m, from->host);
	to->base = take(m, from->base);
	to->secret = take(m, from->secret);
	to->header = take(m, from->header);
	to->scheme = take(m, from->scheme);
	to->user = take(m, from->user);
}

static int init_route(ab_route *route, const ab_wire_route *from)
{
	memory m = { 0 };
	ab_wire_route spec;

	if (ab_target_host(from->host, strlen(from->host), &route->target) !=
	    AB_TARGET_OK)
		return -EINVAL;
	route->target.port = (uint16_t)from->port;
	copy_spec(&spec, from, &m);
	m.p = ab_calloc(1, m.used);
	if (!m.p)
		return -ENOMEM;
	m.used = 0;
	copy_spec(&route->spec, from, &m);
	route->memory = m.p;
	return 0;
}

static int by_prefix(const void *a, const void *b)
{
	return strcmp(((const ab_route *)a)->spec.prefix,
		      ((const ab_route *)b)->spec.prefix);
}

int ab_route_table_init(ab_route_table *table, const ab_wire_route *list,
			size_t count, size_t *at)
{
	int r = 0;

	*table = (ab_route_table){ 0 };
	*at = 0;
	if (count > AB_ROUTES_MAX)
		return -EINVAL;
	table->items = ab_calloc(count + 1, sizeof(*table->items));
	if (!table->items)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++) {
		*at = i;
		table->count = i + 1;
		r = init_route(&table->items[i], &list[i]);
	}
	if (r == 0 && count)
		qsort(table->items, count, sizeof(*table->items), by_prefix);
	for (size_t i = 1; r == 0 && i < count; i++)
		if (by_prefix(&table->items[i - 1], &table->items[i]) == 0)
			r = -EINVAL;
	if (r < 0)
		ab_route_table_end(table);
	return r;
}

void ab_route_table_end(ab_route_table *table)
{
	for (size_t i = 0; table->items && i < table->count; i++)
		free(table->items[i].memory);
	free(table->items);
	*table = (ab_route_table){ 0 };
}

/* --- the verdict ---------------------------------------------------------- */

/* The longest prefix that the path is or lies below. */
static const ab_route *find_route(const ab_route_table *table,
				  const char *path, size_t n)
{
	const ab_route *found = NULL;
	size_t longest = 0;
	size_t rest;

	for (size_t i = 0; i < table->count; i++)
		if (ab_path_below(path, n, table->items[i].spec.prefix,
				  &rest) && rest > longest) {
			found = &table->items[i];
			longest = rest;
		}
	return found;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Behind the name of what is closed: a server may take what follows for a verb
   (":register", Google's AIP-136), a format (".json") or for nothing. */
static bool ends_closed_name(char c)
{
	return !((lower(c) >= 'a' && lower(c) <= 'z') ||
		 (c >= '0' && c <= '9') || c == '_' || c == '-');
}

/*
 * How much of the path is the prefix, or 0. Like ab_path_below(), case apart:
 * some servers do not care for it. In what is closed "*" is any one segment,
 * as the versions of an API are; what opens is taken as it is written.
 */
static size_t below(const char *path, size_t n, const char *prefix,
		    bool closes)
{
	size_t at = 0;

	for (; *prefix; prefix++) {
		size_t from = at;

		if (closes && *prefix == '*')
			while (at < n && path[at] != '/')
				at++;
		else
			at += at < n && lower(path[at]) == lower(*prefix);
		if (at == from)
			return 0;
	}
	return at == n || path[at] == '/' ||
			       (closes && ends_closed_name(path[at])) ?
		       at : 0;
}

static size_t longest_below(const char *path, size_t n,
			    const char *const *list, size_t count, bool closes)
{
	size_t longest = 0;

	for (size_t i = 0; i < count; i++) {
		size_t len = below(path, n, list[i], closes);

		longest = len > longest ? len : longest;
	}
	return longest;
}

/* Some servers do not see dots and spaces at the end of a segment. */
static bool has_odd_end(const char *path, size_t n)
{
	for (size_t i = 1; i <= n; i++)
		if ((i == n || path[i] == '/') &&
		    (path[i - 1] == '.' ||
		     (i >= 3 && memcmp(path + i - 3, "%20", 3) == 0)))
			return true;
	return false;
}

static bool is_closed(const ab_wire_route *spec, const char *path, size_t n)
{
	if (spec->closed_count && has_odd_end(path, n))
		return true;
	return longest_below(path, n, spec->closed, spec->closed_count, true) >
	       longest_below(path, n, spec->open, spec->open_count, false);
}

/* Rights that depend on the path want it without an encoded slash. */
static bool depends_on_path(const ab_wire_route *spec)
{
	return spec->kind == AB_ROUTE_GIT || spec->closed_count;
}

/* As PHP reads a name, which is the loosest of all: these are "_". */
static char loosely(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c + ('a' - 'A'));
	return c && strchr("-. +[", c) ? '_' : (char)c;
}

/* Nothing, before a name: blanks to PHP, "[" to qs, with which "[key]" is
   "key". */
static bool is_lead(unsigned char c)
{
	return c == ' ' || c == '+' || c == '[';
}

/*
 * The name of a parameter, decoded and in lower case; at *part there is a
 * bracket in it, behind which may be the place in a list of that name, or 0.
 * Of one that is too long to be one of ours the end, which may be.
 */
static void read_name(const char *s, size_t n, char *out, size_t size,
		      size_t *part)
{
	size_t len = 0;

	*part = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '%' && i + 2 < n && ab_hex_digit(s[i + 1]) >= 0 &&
		    ab_hex_digit(s[i + 2]) >= 0) {
			c = (unsigned char)(ab_hex_digit(s[i + 1]) << 4 |
					    ab_hex_digit(s[i + 2]));
			i += 2;
		}
		if (len == 0 && is_lead(c))
			continue;
		if ((c == '[' || c == ']') && !*part)
			*part = len;
		if (len + 1 >= size && *part)
			break;
		if (len + 1 >= size)
			memmove(out, out + 1, --len);
		out[len++] = loosely(c);
	}
	out[len] = '\0';
}

/* "-" is written "_" here. What names a caller, and what makes a server read
   another method or other fields than those that were judged. */
static const char *const refused_parameters[] = {
	"authorization", "bearer_token", "id_token",	"oauth_token",
	"private_token", "job_token",	 "refresh_token", "$httpheaders",
	"$http_headers", "$httpmethod",	 "$http_method", "_method",
	"x_http_method", "x_http_method_override",	"x_method_override",
};
/* only where we put a credential of ours in */
static const char *const refused_beside_ours[] = { "key", "token" };

/* No server calls anything else so, whatever stands before it; as fields
   whose names end so do not go along (http_write.c). */
static const char *const refused_endings[] = {
	"access_key",	"accesskey",	    "access_token",  "accesstoken",
	"api_key",	"apikey",	    "api_token",     "apitoken",
	"auth_key",	"authkey",	    "auth_token",    "authtoken",
	"app_key",	"application_key",  "functions_key", "secret_key",
	"client_secret", "deploy_token",    "security_token", "session_token",
	"subscription_key", "subscription_token",
	"amz_credential", "goog_credential", "password",
};

static bool ends_refused(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < AB_ARRAY_LEN(refused_endings); i++) {
		size_t len = strlen(refused_endings[i]);

		if (n >= len && strcmp(name + n - len, refused_endings[i]) == 0)
			return true;
	}
	return false;
}

static bool is_refused(const char *name, bool injects)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(refused_parameters); i++)
		if (strcmp(name, refused_parameters[i]) == 0)
			return true;
	for (size_t i = 0; injects && i < AB_ARRAY_LEN(refused_beside_ours);
	     i++)
		if (strcmp(name, refused_beside_ours[i]) == 0)
			return true;
	return ends_refused(name);
}

static bool query_is_clean(const char *s, size_t n, bool injects)
{
	size_t at = 0;

	while (at < n) {
		size_t end = at;
		size_t name, part;
		char text[32];

		while (end < n && s[end] != '&' && s[end] != ';')
			end++;
		for (name = at; name < end && s[name] != '=';)
			name++;
		read_name(s + at, name - at, text, sizeof(text), &part);
		if (is_refused(text, injects))
			return false;
		text[part] = '\0';
		if (part && is_refused(text, injects))
			return false;
		at = end + 1;
	}
	return true;
}

static bool holds(const char *s, size_t n, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= n; i++) {
		size_t k = 0;

		while (k < len && lower(s[i + k]) == word[k])
			k++;
		if (k == len)
			return true;
	}
	return false;
}

/* Browsers cannot set fields, so some servers take a key among the names of
   protocols ("openai-insecure-api-key.KEY", "token, KEY"). */
static bool protocol_is_clean(const ab_http_head *head, const char *buf)
{
	static const char *const words[] = {
		"api-key", "api_key",	 "apikey",     "authorization",
		"bearer",  "token",	 "secret",     "credential",
		"openai-organization", "openai-project",
	};

	for (size_t i = 0; i < head->field_count; i++) {
		const ab_http_field *f = &head->fields[i];

		if (!ab_http_name_is(buf, f->name, "sec-websocket-protocol"))
			continue;
		for (size_t k = 0; k < AB_ARRAY_LEN(words); k++)
			if (holds(buf + f->value.at, f->value.len, words[k]))
				return false;
	}
	return true;
}

bool ab_route_is_reading(const char *buf, ab_http_span method)
{
	return (method.len == 3 && memcmp(buf + method.at, "GET", 3) == 0) ||
	       (method.len == 4 && memcmp(buf + method.at, "HEAD", 4) == 0);
}

static enum ab_route_reason judge_http(const ab_route_verdict *v,
				       const ab_http_head *head,
				       const char *buf, size_t base)
{
	const ab_wire_route *spec = &v->route->spec;
	const char *query = v->path + v->query;

	if (!(spec->flags & AB_ROUTE_WRITE) &&
	    !ab_route_is_reading(buf, head->method))
		return AB_ROUTE_METHOD;
	/* the upstream may stand in front of another, below a path of its own
	   or not: closed is what is closed in either reading */
	if (is_closed(spec, v->path + base, v->query - base) ||
	    is_closed(spec, v->path, v->query))
		return AB_ROUTE_CLOSED;
	if (v->query < v->len &&
	    !query_is_clean(query + 1, v->len - v->query - 1,
			    spec->secret[0] != '\0'))
		return AB_ROUTE_QUERY;
	if ((head->flags & AB_HTTP_UPGRADE_WS) &&
	    !(spec->flags & AB_ROUTE_WEBSOCKET))
		return AB_ROUTE_UPGRADE;
	return protocol_is_clean(head, buf) ? AB_ROUTE_OK : AB_ROUTE_PROTOCOL;
}

static enum ab_route_reason judge_git(const ab_route_verdict *v,
				      const ab_http_head *head,
				      const char *buf, size_t base)
{
	bool has_query = v->query < v->len;
	const char *query = v->path + v->query + has_query;

	if (head->flags & AB_HTTP_UPGRADE_WS)
		return AB_ROUTE_UPGRADE;
	switch (ab_git_request(buf + head->method.at, head->method.len,
			       v->path + base, v->query - base, query,
			       v->len - v->query - has_query)) {
	case AB_GIT_FETCH:
		return AB_ROUTE_OK;
	case AB_GIT_PUSH:
		return v->route->spec.flags & AB_ROUTE_WRITE ? AB_ROUTE_OK :
							       AB_ROUTE_PUSH;
	case AB_GIT_NEITHER:
		break;
	}
	return AB_ROUTE_NOT_GIT;
}

/* The part of the target before "?", and where that is. */
static size_t path_len(const char *s, size_t n)
{
	const char *mark = memchr(s, '?', n);

	return mark ? (size_t)(mark - s) : n;
}

static enum ab_route_reason path_failed(ab_route_verdict *v,
					enum ab_path_reason reason)
{
	v->path_reason = (uint8_t)reason;
	return reason == AB_PATH_LONG ? AB_ROUTE_LONG : AB_ROUTE_PATH;
}

/* base, what follows the prefix, and the query as it came. */
static bool write_path(ab_route_verdict *v, const char *path, size_t n,
		       const char *query, size_t query_len)
{
	const ab_wire_route *spec = &v->route->spec;
	size_t prefix = strlen(spec->prefix);
	size_t base = strlen(spec->base);
	size_t rest = n - prefix;

	if (base + rest + 1 + query_len > sizeof(v->path))
		return false;
	memcpy(v->path, spec->base, base);
	memcpy(v->path + base, path + prefix, rest);
	v->len = base + rest;
	if (v->len == 0)
		v->path[v->len++] = '/';
	v->query = v->len;
	memcpy(v->path + v->len, query, query_len);
	v->len += query_len;
	return true;
}

static enum ab_route_reason judge(const ab_route_table *table,
				  const ab_http_head *head, const char *buf,
				  ab_route_verdict *v)
{
	const char *s = buf + head->path.at;
	size_t n = path_len(s, head->path.len);
	char path[AB_HTTP_TARGET_MAX];
	enum ab_path_reason reason;
	size_t len;
	size_t base;

	if (head->kind != AB_HTTP_REQUEST || head->reason != AB_HTTP_OK ||
	    head->form != AB_HTTP_FORM_ORIGIN)
		return AB_ROUTE_FORM;
	reason = ab_http_path(s, n, AB_PATH_KEEP_SLASH, path,
				   sizeof(path), &len);
	if (reason != AB_PATH_OK)
		return path_failed(v, reason);
	v->route = find_route(table, path, len);
	/* however its path is spelled, a server of tools is the guard's */
	if (v->route && v->route->spec.kind == AB_ROUTE_MCP)
		v->route = NULL;
	if (!v->route)
		return AB_ROUTE_NONE;
	if (depends_on_path(&v->route->spec))
		reason = ab_http_path(s, n, 0, path, sizeof(path), &len);
	if (reason != AB_PATH_OK)
		return path_failed(v, reason);
	if (!write_path(v, path, len, s + n, head->path.len - n))
		return AB_ROUTE_LONG;
	base = strlen(v->route->spec.base);
	return v->route->spec.kind == AB_ROUTE_GIT ?
		       judge_git(v, head, buf, base) :
		       judge_http(v, head, buf, base);
}

enum ab_route_reason ab_route_judge(const ab_route_table *table,
				    const ab_http_head *head, const char *buf,
				    ab_route_verdict *out)
{
	out->reason = AB_ROUTE_UNJUDGED;
	out->path_reason = AB_PATH_UNREAD;
	out->route = NULL;
	out->len = out->query = 0;
	out->reason = (uint8_t)judge(table, head, buf, out);
	return out->reason;
}

/* --- fields --------------------------------------------------------------- */

/* Answered by us, or read by some servers in place of what was judged: the
   method, the path, the host. */
static const char *const dropped[] = {
	"expect",	 "x-http-method*", "x-method",	    "*-override",
	"x-original-*",	 "x-rewrite-*",	   "x-override-*",  "x-envoy-*",
	"*-unencoded-url", "x-host",	   "origin",	    "referer",
	NULL
};

void ab_route_fields(const ab_route *route, const char *const **only,
		     const char *const **drop)
{
	*only = route->spec.kind == AB_ROUTE_GIT ? ab_git_fields : NULL;
	*drop = dropped;
}
