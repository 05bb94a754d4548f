/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of single strings. Each refuses what could be read in two ways or
 * would mean more than it says: parent hops, pseudo file systems, shell
 * words, control characters. Nothing is expanded: "~/x" and "${HOME}" are
 * refused as not absolute (B18). Spec: agentbox-policy(5).
 */
#include "config.h"

#include "policy/items.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/limits.h"
#include "path/glob.h"
#include "path/lexical.h"
#include "net/hosts.h"
#include "policy/commit.h"
#include "policy/presets.h"

static bool refuse(char why[AB_WHY_SIZE], const char *text)
{
	snprintf(why, AB_WHY_SIZE, "%s", text);
	return false;
}

static bool keep(const char *s, size_t n, char *out)
{
	memcpy(out, s, n);
	out[n] = '\0';
	return true;
}

static bool has_control(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return true;
	return false;
}

static bool only(const char *s, size_t n, const char *set)
{
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') ||
		      (s[i] >= 'A' && s[i] <= 'Z') ||
		      (s[i] >= '0' && s[i] <= '9') || strchr(set, s[i])))
			return false;
	return true;
}

bool ab_item_text(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (n == 0)
		return refuse(why, "is empty");
	if (n > 255)
		return refuse(why, "is longer than 255 bytes");
	if (has_control(s, n))
		return refuse(why, "has a control character");
	return keep(s, n, out);
}

bool ab_item_id(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (n == 0 || n > 255 || s[0] == '.' || s[0] == '-' ||
	    !only(s, n, "._@+-"))
		return refuse(why, "is not an identifier; use letters, "
				   "digits and . _ @ + -");
	return keep(s, n, out);
}

bool ab_item_secret(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (n == 0 || n > 64 || s[0] == '-' || !only(s, n, "_-"))
		return refuse(why, "is not the name of a secret; use up to "
				   "64 letters, digits, _ and -");
	return keep(s, n, out);
}

bool ab_item_name(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (ab_path_check_name(s, n) < 0 || has_control(s, n))
		return refuse(why, "is not a name: one path component, not "
				   "\".\" or \"..\"");
	return keep(s, n, out);
}

bool ab_item_path(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (n == 0)
		return refuse(why, "is empty; write an absolute path");
	if (s[0] != '/')
		return refuse(why, "is not an absolute path; nothing is "
				   "expanded here");
	if (n >= AB_MAX_PATH)
		return refuse(why, "is longer than a path can be");
	if (ab_path_normalise(s, n, out, AB_ITEM_SIZE) < 0)
		return refuse(why, "has a \"..\" or too long a component");
	return true;
}

static bool is_one_of(const char *path, const char *const *list, bool below)
{
	for (; *list; list++)
		if (strcmp(path, *list) == 0 ||
		    (below && ab_path_is_below(path, *list)))
			return true;
	return false;
}

bool ab_item_source(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	/* a read-only mount still lets a process connect to host sockets */
	static const char *const whole[] = { "/run", "/var/run", NULL };
	static const char *const pseudo[] = { "/proc", "/sys", "/dev", NULL };

	if (!ab_item_path(s, n, out, why))
		return false;
	if (strcmp(out, "/") == 0)
		return refuse(why, "is the whole host; list the directories "
				   "that are needed");
	if (is_one_of(out, pseudo, true))
		return refuse(why, "is a kernel file system; a box has its "
				   "own");
	if (is_one_of(out, whole, false))
		return refuse(why, "holds the host's sockets; list what is "
				   "needed below it");
	return true;
}

bool ab_item_target(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	static const char *const own[] = { "/proc", "/sys", "/dev", NULL };
	static const char *const exact[] = { "/run", "/etc", NULL };

	if (!ab_item_path(s, n, out, why))
		return false;
	if (strcmp(out, "/") == 0)
		return refuse(why, "is the root of the box, which is made "
				   "from the list of mounts");
	if (is_one_of(out, own, true) || is_one_of(out, exact, false))
		return refuse(why, "is made by the box itself; choose "
				   "another place");
	return true;
}

/*
 * A pattern would be taken for a path that does not exist, and what it was
 * meant to hide would stay open: even expanded, files made later would not
 * be covered (case 36).
 */
static bool is_no_pattern(const char *s, size_t n, char why[AB_WHY_SIZE])
{
	for (size_t i = 0; i < n; i++)
		if (strchr("*?[", s[i]) && s[i])
			return refuse(why, "has one of * ? [; a mount takes "
					   "a path, not a pattern");
	return true;
}

bool ab_item_mount_from(const char *s, size_t n, char *out,
			char why[AB_WHY_SIZE])
{
	return is_no_pattern(s, n, why) && ab_item_source(s, n, out, why);
}

bool ab_item_mount_to(const char *s, size_t n, char *out,
		      char why[AB_WHY_SIZE])
{
	return is_no_pattern(s, n, why) && ab_item_target(s, n, out, why);
}

bool ab_item_at(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (n == 4 && memcmp(s, "same", 4) == 0)
		return keep(s, n, out);
	if (n == 0 || s[0] != '/')
		return refuse(why, "is neither \"same\" nor an absolute path");
	return ab_item_target(s, n, out, why);
}

bool ab_item_dir(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (n == 0)
		return refuse(why, "is empty; an empty directory would mean "
				   "everything");
	if (n + 2 * AB_MAX_NAME >= AB_MAX_PATH)
		return refuse(why, "is too long for what lies below it");
	return ab_item_source(s, n, out, why) &&
	       ab_item_target(s, n, out, why);
}

bool ab_item_env(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (n == 0 || n > 255 || (s[0] >= '0' && s[0] <= '9') ||
	    !only(s, n, "_"))
		return refuse(why, "is not the name of a variable; use "
				   "letters, digits and _");
	return keep(s, n, out);
}

bool ab_item_env_runs_code(const char *name)
{
	static const char *const prefixes[] = { "LD_", "GIT_", "DYLD_",
						"BASH_FUNC_", "GCONV_",
						"npm_config_", NULL };
	static const char *const names[] = {
		"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "IFS",
		"PROMPT_COMMAND", "NODE_OPTIONS", "NODE_PATH", "PYTHONSTARTUP",
		"PYTHONPATH", "PYTHONHOME", "PYTHONINSPECT", "PERL5OPT",
		"PERL5LIB", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
		"CLASSPATH", "LUA_INIT", "LUA_PATH", "LUA_CPATH", "PHPRC",
		"PHP_INI_SCAN_DIR", "R_PROFILE", "R_PROFILE_USER", "ZDOTDIR",
		"EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN",
		"LESSCLOSE", "MANPAGER", "SSH_ASKPASS", "SUDO_ASKPASS",
		"RUSTC_WRAPPER", "RUSTC", "CARGO_HOME", "GOFLAGS", "MAKEFLAGS",
		"MALLOC_CONF", "GLIBC_TUNABLES", "HOSTALIASES", "LOCPATH",
		"NLSPATH", "RESOLV_HOST_CONF", "TERMINFO", "TERMCAP",
		"TMPPREFIX", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS",
		NULL
	};

	for (size_t i = 0; prefixes[i]; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	for (size_t i = 0; names[i]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool ab_item_glob(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (n && s[0] == '!')
		return refuse(why, "begins with \"!\"; a pattern cannot take "
				   "another back");
	if (ab_glob_check(s, n) < 0)
		return refuse(why, "is not a relative pattern; write "
				   "\"docs/*.lock\"");
	if (n > 1 && s[n - 1] == '/')
		n--;
	return keep(s, n, out);
}

/* Which rules there are the snapshot's options know. */
bool ab_item_admit(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	size_t rule = 0;

	while (rule < n && ((s[rule] >= 'a' && s[rule] <= 'z') ||
			    (s[rule] >= '0' && s[rule] <= '9') ||
			    s[rule] == '-'))
		rule++;
	if (rule == 0 || rule == n || s[rule] != ':')
		return refuse(why, "names no rule; write RULE:PATTERN, "
				   "\"jwt:docs/*.md\"");
	rule++;
	if (rule < n && s[rule] == '/')
		rule++;
	return ab_item_glob(s + rule, n - rule, out, why) &&
	       keep(s, n, out);
}

bool ab_item_protect(const char *s, size_t n, char *out,
		     char why[AB_WHY_SIZE])
{
	static const char name[] = "builtin:code-that-runs-later";

	if (n >= 8 && memcmp(s, "builtin:", 8) == 0) {
		if (n != sizeof(name) - 1 || memcmp(s, name, n) != 0)
			return refuse(why, "is not a built-in list; there is "
					   "\"builtin:code-that-runs-later\"");
		return keep(s, n, out);
	}
	return ab_item_glob(s, n, out, why);
}

bool ab_item_syscall(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	bool good = n > 0 && n <= 63 && s[0] >= 'a' && s[0] <= 'z';

	for (size_t i = 0; good && i < n; i++)
		good = (s[i] >= 'a' && s[i] <= 'z') ||
		       (s[i] >= '0' && s[i] <= '9') || s[i] == '_';
	if (!good)
		return refuse(why, "is not the name of a system call");
	return keep(s, n, out);
}

static bool one_of(const char *s, size_t n, const char *const *names,
		   const char *kind, char *out, char why[AB_WHY_SIZE])
{
	size_t used;

	for (size_t i = 0; names[i]; i++)
		if (strlen(names[i]) == n && memcmp(names[i], s, n) == 0)
			return keep(s, n, out);
	used = (size_t)snprintf(why, AB_WHY_SIZE, "is not a %s; known:", kind);
	for (size_t i = 0; names[i] && used < AB_WHY_SIZE; i++)
		used += (size_t)snprintf(why + used, AB_WHY_SIZE - used, " %s",
					 names[i]);
	return false;
}

bool ab_item_feature(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	return one_of(s, n, ab_schema_features, "wall", out, why);
}

bool ab_item_limit(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	return one_of(s, n, ab_schema_limits, "limit", out, why);
}

bool ab_item_watch(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	return one_of(s, n, ab_schema_watches, "set of calls", out, why);
}

bool ab_item_delivery(const char *s, size_t n, char *out,
		      char why[AB_WHY_SIZE])
{
	static const char *const names[] = { "inject", "memfd", "file", "git",
					     "aws", NULL };

	return one_of(s, n, names, "way of delivery", out, why);
}

bool ab_item_prefix(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (ab_path_check_absolute(s, n) < 0 || n < 2 || !only(s, n, "/._-"))
		return refuse(why, "is not the prefix of a route; write "
				   "\"/name\"");
	return keep(s, n, out);
}

bool ab_item_host(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	ab_host host;

	(void)n;
	if (!ab_host_parse(s, &host, why))
		return false;
	ab_host_text(&host, out);
	return true;
}

bool ab_item_upstream(const char *s, size_t n, char *out,
		      char why[AB_WHY_SIZE])
{
	static const char scheme[] = "https://";
	char authority[AB_HOST_NAME_SIZE + 16];
	size_t skip = sizeof(scheme) - 1;
	const char *path;
	size_t host_len;
	ab_host host;

	if (n <= skip || memcmp(s, scheme, skip) != 0)
		return refuse(why, "is not an https:// URL");
	path = memchr(s + skip, '/', n - skip);
	host_len = path ? (size_t)(path - s) - skip : n - skip;
	if (host_len == 0 || host_len >= sizeof(authority))
		return refuse(why, "has no usable host");
	keep(s + skip, host_len, authority);
	if (!ab_host_parse(authority, &host, why))
		return false;
	if (host.kind == AB_HOST_ANY || host.kind == AB_HOST_BELOW ||
	    host.range_count > 1 ||
	    (host.range_count && host.ranges[0].low != host.ranges[0].high))
		return refuse(why, "must name one host and one port");
	/* a pattern may have it without, a URL may not (RFC 3986 3.2.2) */
	if (authority[0] != '[' && memchr(authority, ':', host_len) !=
					   memrchr(authority, ':', host_len))
		return refuse(why, "has an IPv6 address without brackets; "
				   "write \"https://[2001:db8::7]\"");
	if (path && !only(path, n - (size_t)(path - s), "/._~%-"))
		return refuse(why, "has a query, fragment or odd character");
	return keep(s, n, out);
}

bool ab_item_preset(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	size_t used;

	for (const ab_preset *p = ab_presets; p->name; p++)
		if (strlen(p->name) == n && memcmp(p->name, s, n) == 0)
			return keep(s, n, out);
	used = (size_t)snprintf(why, AB_WHY_SIZE, "is no preset; known:");
	for (const ab_preset *p = ab_presets; p->name && used < AB_WHY_SIZE;
	     p++)
		used += (size_t)snprintf(why + used, AB_WHY_SIZE - used, " %s",
					 p->name);
	return false;
}

bool ab_item_scheme(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (n == 0 || n > 64 || !only(s, n, "!#$%&'*+-.^_`|~"))
		return refuse(why, "is not the name of a scheme; write "
				   "\"Bearer\", \"Basic\" or \"token\"");
	return keep(s, n, out);
}

bool ab_item_user(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	bool good = n > 0 && n <= 128;

	for (size_t i = 0; good && i < n; i++)
		good = s[i] > ' ' && s[i] < 0x7f && s[i] != ':';
	if (!good)
		return refuse(why, "is not the name of a user: up to 128 "
				   "characters of ASCII, no space, no colon");
	return keep(s, n, out);
}

bool ab_item_header(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	/* framing and the connection are the gateway's */
	static const char *const ours[] = {
		"host", "connection", "content-length", "transfer-encoding",
		"upgrade", "te", "trailer", "expect", "keep-alive",
		"proxy-connection",
	};

	if (n == 0 || n > 64 || !only(s, n, "-_"))
		return refuse(why, "is not the name of a header");
	keep(s, n, out);
	for (size_t i = 0; i < n; i++)
		if (out[i] >= 'A' && out[i] <= 'Z')
			out[i] = (char)(out[i] + ('a' - 'A'));
	for (size_t i = 0; i < AB_ARRAY_LEN(ours); i++)
		if (strcmp(out, ours[i]) == 0)
			return refuse(why, "is a header of the connection; "
					   "no secret goes there");
	return true;
}

bool ab_item_digest(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	bool good = n == 71 && memcmp(s, "sha256:", 7) == 0;

	for (size_t i = 7; good && i < n; i++)
		good = (s[i] >= '0' && s[i] <= '9') ||
		       (s[i] >= 'a' && s[i] <= 'f');
	if (!good)
		return refuse(why, "is not \"sha256:\" and 64 lower-case hex "
				   "digits");
	return keep(s, n, out);
}

bool ab_item_tool(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	size_t body = n && s[n - 1] == '*' ? n - 1 : n;

	if (n == 0 || n > 255 || !only(s, body, "._:/-"))
		return refuse(why, "is not a tool; write \"server:tool\" or "
				   "\"server:prefix*\"");
	return keep(s, n, out);
}

/* A resource's URI or a prompt's name, or how it begins. */
bool ab_item_subject(const char *s, size_t n, char *out,
		     char why[AB_WHY_SIZE])
{
	size_t visible = 0;

	while (visible < n && s[visible] > ' ' && s[visible] < 0x7f &&
	       s[visible] != '\\' && (s[visible] != '*' || visible == n - 1))
		visible++;
	if (n == 0 || n > 1024 || visible < n)
		return refuse(why, "is no URI or name; write it whole, or how "
				   "it begins and \"*\"");
	return keep(s, n, out);
}

/* What an MCP server may be given besides tools: lib/mcp/method.h. */
bool ab_item_grant(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	static const char *const names[] = {
		"resources", "prompts",	    "completion",      "logging",
		"tasks",     "sampling",    "elicitation",     "elicitation-url",
		"roots",     "subscriptions", NULL
	};

	return one_of(s, n, names, "grant of a server", out, why);
}

/* "tool=sha256:..." */
bool ab_item_tool_pin(const char *s, size_t n, char *out,
		      char why[AB_WHY_SIZE])
{
	const char *sign = memchr(s, '=', n);
	size_t name = sign ? (size_t)(sign - s) : 0;
	char digest[AB_ITEM_SIZE];

	if (name == 0 || name > 128 || !only(s, name, "._-"))
		return refuse(why, "is not a pin; write \"tool=sha256:...\"");
	if (!ab_item_digest(sign + 1, n - name - 1, digest, why))
		return false;
	return keep(s, n, out);
}

bool ab_item_argument(const char *s, size_t n, char *out,
		      char why[AB_WHY_SIZE])
{
	if (n >= AB_MAX_PATH)
		return refuse(why, "is longer than 4095 bytes");
	if (has_control(s, n))
		return refuse(why, "has a control character");
	return keep(s, n, out);
}

bool ab_item_reference(const char *s, size_t n, char *out,
		       char why[AB_WHY_SIZE])
{
	if (!ab_item_argument(s, n, out, why))
		return false;
	return ab_commit_is_reference(out) ||
	       refuse(why, "is neither a reference's name nor a commit's; "
			   "write a branch, a tag, or the full name of a "
			   "commit");
}

bool ab_item_head(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	if (!ab_item_argument(s, n, out, why))
		return false;
	return ab_commit_is_head(out) ||
	       refuse(why, "could mean several commits or none; write "
			   "\"refs/heads/NAME\", the full name of a commit, "
			   "\"HEAD\" or \"worktrees/NAME/HEAD\"");
}

/* A kind, or a tool: lib/scope/tool.c. */
bool ab_item_scope(const char *s, size_t n, char *out, char why[AB_WHY_SIZE])
{
	size_t body = n && s[n - 1] == '*' ? n - 1 : n;

	if (n == 0 || n > 128 || !only(s, body, "._:/-"))
		return refuse(why, "is neither a kind of tool nor a tool; write "
				   "\"database\", \"server:tool\" or "
				   "\"server:*\"");
	return keep(s, n, out);
}
