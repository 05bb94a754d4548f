/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * read, write and list of the box tools. Each path goes through the guard's
 * fd forms, so what is opened is what was judged; and below a mount of the
 * box, where the box sees something else than the host, nothing is served.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp_box.h"
#include "text.h"

/* --- where --------------------------------------------------------------- */

/* A path of the client as one below the workspace; borrowed. */
static const char *below_workspace(const box_server *b, const char *path)
{
	const char *at = b->box.plan.box_workspace;
	const char *rest = path[0] == '/' && at ? tool_below(path, at) : path;

	if (!rest)
		return path; /* the guard says that it leads out */
	while (*rest == '/')
		rest++;
	return *rest ? rest : ".";
}

/* Does the box see another tree at this absolute path of the box? */
static bool is_mounted_over(const box_server *b, const char *path)
{
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(b->box.plan.document, "mounts"), i,
			   v) {
		const char *to = text_of(v, "to");
		const char *at = b->box.plan.box_workspace;

		if (at && tool_below(to, at) && tool_below(path, to))
			return true;
	}
	return false;
}

/*
 * By where the open file really is, so that no link leads below a mount. The
 * workspace's own path may be long gone: then nothing is served.
 */
static bool is_as_in_box(const box_server *b, int fd)
{
	char link[40], real[4096];
	const char *top = b->box.plan.host_workspace;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, real, sizeof(real) - 1);
	if (n < 0 || n >= (ssize_t)sizeof(real) - 1 || !top)
		return false;
	real[n] = '\0';
	const char *rest = tool_below(real, top);
	char *inside = rest ? text_format("%s%s", b->box.plan.box_workspace,
					  rest) : NULL;
	bool ok = inside && !is_mounted_over(b, inside);
	free(inside);
	return ok;
}

static json_t *refused(agentbox_error *err)
{
	json_t *out = box_failure("%s [%s]", agentbox_error_get_message(err),
				  agentbox_error_name(
					  agentbox_error_get_code(err)));

	agentbox_error_free(err);
	return out;
}

/*
 * Open through the guard what is below dirfd, or with -1 the workspace: the
 * fd; -1 with *err where it or the kernel says no, and else with *failure.
 */
static int open_at(box_server *b, uint32_t flags, int dirfd, const char *at,
		   const char *path, agentbox_error **err, json_t **failure)
{
	int32_t fd = -1;

	if (agentbox_guard_open(b->guard, flags, 0666, dirfd, at, strlen(at),
				&fd, &b->decision, err) < 0)
		return -1;
	if (is_as_in_box(b, fd))
		return fd;
	close(fd);
	*failure = box_failure("'%s' is a mount of the box: use run", path);
	return -1;
}

/* The fd, or -1 with *failure. */
static int open_path(box_server *b, uint32_t flags, const char *path,
		     json_t **failure)
{
	agentbox_error *err = NULL;
	int fd = open_at(b, flags, -1, below_workspace(b, path), path, &err,
			 failure);

	if (err)
		*failure = refused(err);
	return fd;
}

/*
 * A new file, by its name in a directory that was seen where it is, and not
 * through a link: else it would be made before it is seen that it is below a
 * mount, where the box has nothing to make.
 */
static int make_file(box_server *b, uint32_t flags, const char *path,
		     json_t **failure)
{
	const char *below = below_workspace(b, path);
	const char *name = strrchr(below, '/');
	agentbox_error *err = NULL;
	char *parent = name ? strndup(below, (size_t)(name - below) + 1)
			    : strdup(".");
	int fd = -1;
	int dirfd = parent ? open_at(b, AGENTBOX_OPEN_READ |
				     AGENTBOX_OPEN_DIRECTORY, -1, parent, path,
				     &err, failure) : -1;

	if (dirfd >= 0) {
		fd = open_at(b, flags | AGENTBOX_OPEN_CREATE |
			     AGENTBOX_OPEN_NOFOLLOW, dirfd,
			     name ? name + 1 : below, path, &err, failure);
		close(dirfd);
	}
	if (err)
		*failure = refused(err);
	free(parent);
	return fd;
}

/* What is there, by whatever link, or a new file. */
static int open_to_write(box_server *b, bool append, bool create,
			 const char *path, json_t **failure)
{
	uint32_t flags = AGENTBOX_OPEN_WRITE |
			 (append ? AGENTBOX_OPEN_APPEND : 0);
	agentbox_error *err = NULL;
	int fd;

	if (create)
		return make_file(b, flags | AGENTBOX_OPEN_EXCLUSIVE, path,
				 failure);
	fd = open_at(b, flags, -1, below_workspace(b, path), path, &err,
		     failure);
	if (!err)
		return fd;
	if (agentbox_error_get_code(err) != AGENTBOX_ENOTFOUND) {
		*failure = refused(err);
		return -1;
	}
	agentbox_error_free(err);
	return make_file(b, flags, path, failure);
}

/* The path of a call: no NUL by the guard's reader of frames. */
static const char *path_of(const json_t *arguments, json_t **failure)
{
	const char *path = box_text(arguments, "path", NULL);

	*failure = NULL;
	if (!path || !*path || strlen(path) > 4095) {
		*failure = box_failure("path must be a text of 1 to 4095 "
				       "bytes");
		return NULL;
	}
	return path;
}

static bool number_of(const json_t *arguments, const char *name,
		      json_int_t least, json_int_t most, json_int_t *out)
{
	const json_t *v = json_object_get(arguments, name);

	if (!v)
		return true;
	*out = json_integer_value(v);
	return json_is_integer(v) && *out >= least && *out <= most;
}

/* --- base64 (RFC 4648 section 4) ----------------------------------------- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv"
			     "wxyz0123456789+/";

static char *encode(const unsigned char *p, size_t n)
{
	char *out = malloc(4 * ((n + 2) / 3) + 1);
	char *to = out;

	for (size_t i = 0; out && i < n; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16 |
			     (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
			     (i + 2 < n ? p[i + 2] : 0);
		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
		*to++ = i + 2 < n ? digits[v & 63] : '=';
	}
	if (out)
		*to = '\0';
	return out;
}

/* Strictly: whole groups, nothing else. NULL when it is not that. */
static unsigned char *decode(const char *s, size_t n, size_t *size)
{
	unsigned char *out = n % 4 ? NULL : malloc(n / 4 * 3 + 1);
	size_t used = 0, pad = 0;

	while (out && pad < 2 && pad < n && s[n - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; out && i < n; i += 4) {
		uint32_t v = 0;
		for (size_t k = 0; k < 4; k++) {
			const char *at = i + k < n - pad && s[i + k]
					 ? strchr(digits, s[i + k]) : NULL;
			if (!at && i + k < n - pad) {
				free(out);
				return NULL;
			}
			v = v << 6 | (at ? (uint32_t)(at - digits) : 0);
		}
		out[used++] = (unsigned char)(v >> 16);
		out[used++] = (unsigned char)(v >> 8);
		out[used++] = (unsigned char)v;
	}
	*size = used - pad;
	return out;
}

/* --- the tools ----------------------------------------------------------- */

static json_t *content_of(const char *path, char *bytes, size_t n,
			  json_int_t offset, json_int_t size)
{
	json_t *text = json_stringn(bytes, n);
	char *coded = text && !memchr(bytes, 0, n) ? NULL
		      : encode((unsigned char *)bytes, n);
	json_t *about = json_pack(
		"{s:s?, s:I, s:I, s:I, s:s, s:b}", "path", path, "size", size,
		"offset", offset, "bytes", (json_int_t)n, "encoding",
		coded ? "base64" : "utf-8", "more",
		offset + (json_int_t)n < size);
	json_t *out = coded ? box_result(coded, strlen(coded), about)
			    : box_result(bytes, n, about);

	json_decref(text);
	free(coded);
	return out;
}

json_t *box_read(box_server *b, const json_t *arguments)
{
	json_int_t offset = 0, limit = BOX_READ;
	json_t *failure, *out;
	const char *path = path_of(arguments, &failure);
	struct stat st;

	if (!path)
		return failure;
	if (!number_of(arguments, "offset", 0, INT64_MAX / 2, &offset) ||
	    !number_of(arguments, "limit", 1, BOX_READ, &limit))
		return box_failure("offset must be at least 0, and limit 1 to "
				   "%u", BOX_READ);
	int fd = open_path(b, AGENTBOX_OPEN_READ, path, &failure);
	if (fd < 0)
		return failure;
	char *bytes = malloc((size_t)limit);
	ssize_t n = -1;
	if (bytes && fstat(fd, &st) == 0)
		n = pread(fd, bytes, (size_t)limit, offset);
	int saved = errno;
	close(fd);
	out = n < 0 ? box_failure("cannot read '%s': %s", path,
				  strerror(saved))
		    : content_of(path, bytes, (size_t)n, offset, st.st_size);
	free(bytes);
	return out;
}

static const char *put_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return strerror(errno);
		p += done;
		n -= (size_t)done;
	}
	return NULL;
}

/* The bytes to write: borrowed, or *owned. */
static const char *bytes_of(const json_t *arguments, size_t *n, char **owned)
{
	const char *text = box_text(arguments, "text", n);
	const char *coded = box_text(arguments, "base64", NULL);

	*owned = NULL;
	if (!text == !coded)
		return NULL;
	if (text)
		return text;
	*owned = (char *)decode(coded, strlen(coded), n);
	return *owned;
}

json_t *box_write(box_server *b, const json_t *arguments)
{
	const json_t *ws = json_object_get(b->box.plan.document, "workspace");
	bool append = json_is_true(json_object_get(arguments, "append"));
	bool create = json_is_true(json_object_get(arguments, "create_only"));
	json_t *failure;
	const char *path = path_of(arguments, &failure);
	const char *bytes, *why = NULL;
	char *owned;
	size_t n;

	if (!path)
		return failure;
	if (!strcmp(text_of(ws, "mount"), "read"))
		return box_failure("the workspace is shown read-only");
	bytes = bytes_of(arguments, &n, &owned);
	if (!bytes)
		return box_failure("give one of text and base64");
	/* before the file is made: where it would be by its name */
	char *inside = text_format("%s/%s", b->box.plan.box_workspace,
				   below_workspace(b, path));
	int fd = -1;
	if (inside && is_mounted_over(b, inside))
		failure = box_failure("'%s' is a mount of the box: use run",
				      path);
	else /* emptied only when it was seen where it is */
		fd = open_to_write(b, append, create, path, &failure);
	free(inside);
	if (fd >= 0) {
		if (!append && ftruncate(fd, 0) < 0)
			why = strerror(errno);
		else
			why = put_all(fd, bytes, n);
		close(fd);
		failure = why ? box_failure("cannot write '%s': %s", path, why)
			      : NULL;
	}
	free(owned);
	if (failure)
		return failure;
	char *line = text_format("%zu bytes written", n);
	json_t *out = line ? box_result(line, strlen(line),
					json_pack("{s:s?, s:I}", "path", path,
						  "bytes", (json_int_t)n))
			   : NULL;
	free(line);
	return out;
}

static json_t *entry_of(int fd, const char *name)
{
	struct stat st;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return NULL;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return NULL;
	const char *type = S_ISDIR(st.st_mode) ? "directory"
			   : S_ISREG(st.st_mode) ? "file"
			   : S_ISLNK(st.st_mode) ? "link" : "other";
	/* a name that is no text cannot be said in JSON, nor asked for */
	return json_pack("{s:s, s:s, s:I}", "name", name, "type", type, "size",
			 (json_int_t)st.st_size);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(text_of(*(json_t *const *)a, "name"),
		      text_of(*(json_t *const *)b, "name"));
}

/* Sorted, as an array and as lines; `entries` are taken. */
static json_t *listing_of(json_t **entries, size_t n, bool more)
{
	json_t *array = json_array();
	char *text = strdup("");

	qsort(entries, n, sizeof(*entries), by_name);
	for (size_t i = 0; i < n; i++) {
		const char *type = text_of(entries[i], "type");
		char *grown = text_format(
			"%s%s%s\n", text ? text : "",
			text_of(entries[i], "name"),
			!strcmp(type, "directory") ? "/"
			: !strcmp(type, "link") ? "@" : "");
		free(text);
		text = grown;
		json_array_append_new(array, entries[i]);
	}
	json_t *out = text ? box_result(text, strlen(text),
					json_pack("{s:o, s:b}", "entries",
						  array, "more", more))
			   : NULL;
	free(text);
	return out;
}

json_t *box_list(box_server *b, const json_t *arguments)
{
	json_t *failure = NULL, *entry, *out;
	const char *path = json_object_get(arguments, "path")
			   ? path_of(arguments, &failure) : ".";
	struct dirent *d;
	size_t n = 0;
	bool more = false;

	if (!path)
		return failure;
	int fd = open_path(b, AGENTBOX_OPEN_READ | AGENTBOX_OPEN_DIRECTORY,
			   path, &failure);
	if (fd < 0)
		return failure;
	DIR *dir = fdopendir(fd);
	json_t **entries = calloc(BOX_ENTRIES, sizeof(*entries));
	if (!dir || !entries) {
		free(entries);
		if (dir)
			closedir(dir);
		else
			close(fd);
		return NULL;
	}
	while (!more && (errno = 0, d = readdir(dir))) {
		entry = entry_of(dirfd(dir), d->d_name);
		if (entry && n == BOX_ENTRIES) {
			more = true;
			json_decref(entry);
		} else if (entry) {
			entries[n++] = entry;
		}
	}
	bool is_cut = !more && errno;
	closedir(dir);
	if (is_cut) {
		while (n)
			json_decref(entries[--n]);
		free(entries);
		return box_failure("'%s' cannot be listed to its end", path);
	}
	out = listing_of(entries, n, more);
	free(entries);
	return out;
}
