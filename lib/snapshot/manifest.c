/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The manifest. The reader refuses whatever the writer would not have
 * written: each line is read, written again and compared. Spec: manifest.h.
 */
#include "config.h"

#include "snapshot/manifest.h"

#include <errno.h>
#include <string.h>

#define NUMBER_WIDTH 20

static void put_padded(ab_line *line, uint64_t v)
{
	uint64_t rest = v;
	int digits = 1;

	while (rest >= 10) {
		rest /= 10;
		digits++;
	}
	for (int i = digits; i < NUMBER_WIDTH; i++)
		ab_line_add(line, " ");
	ab_line_number(line, v);
}

static void put_id(ab_line *line, const char *key,
		   const uint8_t id[AB_MANIFEST_ID_SIZE])
{
	char hex[AB_HEX_SIZE(AB_MANIFEST_ID_SIZE)];

	ab_hex(id, AB_MANIFEST_ID_SIZE, hex);
	ab_line_add(line, key);
	ab_line_add(line, hex);
	ab_line_add(line, "\"");
}

static const char base_key[] = ",\"base\":\"", head_key[] = ",\"head\":\"";

void ab_manifest_put_head(ab_line *line, const ab_manifest_head *head)
{
	ab_line_begin(line);
	ab_line_add(line, "{\"agentbox_manifest\":1,\"files\":");
	put_padded(line, head->files);
	ab_line_add(line, ",\"bytes\":");
	put_padded(line, head->bytes);
	ab_line_add(line, ",\"hash\":");
	ab_line_add(line, head->has_hashes ? "\"sha256\"" : "  \"none\"");
	if (head->has_base)
		put_id(line, base_key, head->git_base);
	if (head->has_head)
		put_id(line, head_key, head->git_head);
	ab_line_add(line, "}\n");
}

size_t ab_manifest_head_size(bool has_head, bool has_base)
{
	static const char text[] = "{\"agentbox_manifest\":1,\"files\":,\"bytes"
				   "\":,\"hash\":\"sha256\"}\n";

	/* a key as it stands there, the id, and a quote */
	const size_t id = sizeof(head_key) - 1 + 2 * AB_MANIFEST_ID_SIZE + 1;

	return sizeof(text) - 1 + 2 * NUMBER_WIDTH + (has_head ? id : 0) +
	       (has_base ? id : 0);
}

void ab_manifest_put(ab_line *line, const ab_manifest_entry *e)
{
	char hex[AB_HEX_SIZE(AB_SHA256_SIZE)];

	ab_line_begin(line);
	ab_line_add(line, "{");
	ab_line_path(line, e->path, e->path_len);
	ab_line_add(line, e->mode == 0555 ? ",\"mode\":\"0555\",\"size\":"
					  : ",\"mode\":\"0444\",\"size\":");
	ab_line_number(line, e->size);
	if (e->has_hash) {
		ab_hex(e->sha256, sizeof(e->sha256), hex);
		ab_line_add(line, ",\"sha256\":\"");
		ab_line_add(line, hex);
		ab_line_add(line, "\"");
	}
	ab_line_add(line, "}\n");
}

/* What is read, bounded. */
typedef struct text {
	const char *p;
	size_t n, at;
} text;

static bool take(text *t, const char *word)
{
	size_t len = strlen(word);

	if (t->n - t->at < len || memcmp(t->p + t->at, word, len) != 0)
		return false;
	t->at += len;
	return true;
}

static bool take_number(text *t, uint64_t *out)
{
	uint64_t v = 0;
	size_t begin = t->at;

	while (t->at < t->n && t->p[t->at] >= '0' && t->p[t->at] <= '9') {
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(t->p[t->at] - '0'),
					   &v))
			return false;
		t->at++;
	}
	*out = v;
	return t->at > begin;
}

static void skip_blanks(text *t)
{
	while (t->at < t->n && t->p[t->at] == ' ')
		t->at++;
}

static bool take_id(text *t, const char *key, uint8_t id[AB_MANIFEST_ID_SIZE])
{
	if (!take(t, key) || t->n - t->at < 2 * AB_MANIFEST_ID_SIZE ||
	    ab_unhex(t->p + t->at, 2 * AB_MANIFEST_ID_SIZE, id,
		     AB_MANIFEST_ID_SIZE))
		return false;
	t->at += 2 * AB_MANIFEST_ID_SIZE;
	return take(t, "\"");
}

bool ab_manifest_is_path(const char *p, size_t n)
{
	if (!n || n > AB_MAX_PATH || memchr(p, 0, n))
		return false;
	for (size_t i = 0; i <= n;) {
		const char *slash = memchr(p + i, '/', n - i);
		size_t len = slash ? (size_t)(slash - p) - i : n - i;

		if (!len || len > AB_MAX_NAME || (len == 1 && p[i] == '.') ||
		    (len == 2 && p[i] == '.' && p[i + 1] == '.'))
			return false;
		i += len + 1;
	}
	return true;
}

int ab_manifest_open(ab_manifest_reader *r, const char *p, size_t n)
{
	text t = { .p = p, .n = n };

	memset(&r->head, 0, sizeof(r->head));
	r->p = p;
	r->n = n;
	r->files = 0;
	r->bytes = 0;
	r->last_len = 0;
	r->pos = ab_manifest_head_size(false, false);
	if (n < r->pos || !take(&t, "{\"agentbox_manifest\":1,\"files\":"))
		return -EPROTO;
	skip_blanks(&t);
	if (!take_number(&t, &r->head.files) || !take(&t, ",\"bytes\":"))
		return -EPROTO;
	skip_blanks(&t);
	if (!take_number(&t, &r->head.bytes) || !take(&t, ",\"hash\":"))
		return -EPROTO;
	r->head.has_hashes = take(&t, "\"sha256\"");
	if (!r->head.has_hashes && !take(&t, "  \"none\""))
		return -EPROTO;
	r->head.has_base = take_id(&t, base_key, r->head.git_base);
	r->head.has_head = take_id(&t, head_key, r->head.git_head);
	ab_manifest_put_head(&r->again, &r->head);
	r->pos = r->again.len;
	return n >= r->pos && !memcmp(p, r->again.text, r->pos) &&
			       (r->head.has_head || !r->head.has_base)
		       ? 0
		       : -EPROTO;
}

/* Strict byte order, and nothing below a path that was a file. */
static bool is_after(const ab_manifest_reader *r, const char *p, size_t n)
{
	size_t least = n < r->last_len ? n : r->last_len;
	int order = memcmp(p, r->last, least);

	if (!r->last_len)
		return true;
	if (order == 0 && n > r->last_len)
		return p[r->last_len] != '/';
	return order > 0;
}

static bool read_fields(text *t, ab_manifest_entry *e, bool has_hashes)
{
	if (take(t, ",\"mode\":\"0444\",\"size\":"))
		e->mode = 0444;
	else if (take(t, ",\"mode\":\"0555\",\"size\":"))
		e->mode = 0555;
	else
		return false;
	if (!take_number(t, &e->size))
		return false;
	e->has_hash = has_hashes;
	if (!has_hashes)
		return take(t, "}");
	if (!take(t, ",\"sha256\":\"") ||
	    t->n - t->at < 2 * sizeof(e->sha256) ||
	    ab_unhex(t->p + t->at, 2 * sizeof(e->sha256), e->sha256,
		     sizeof(e->sha256)))
		return false;
	t->at += 2 * sizeof(e->sha256);
	return take(t, "\"}");
}

int ab_manifest_next(ab_manifest_reader *r, ab_manifest_entry *e)
{
	text t = { .p = r->p + r->pos, .n = r->n - r->pos };
	const char *end = memchr(t.p, '\n', t.n);
	size_t taken;

	if (!t.n)
		return r->files == r->head.files && r->bytes == r->head.bytes
			       ? 0
			       : -EPROTO;
	if (!end || r->files == r->head.files)
		return -EPROTO;
	t.n = (size_t)(end - t.p);
	memset(e, 0, sizeof(*e));
	if (!take(&t, "{") ||
	    !ab_line_read_path(t.p + t.at, t.n - t.at, r->path, &e->path_len,
			       &taken))
		return -EPROTO;
	t.at += taken;
	e->path = r->path;
	if (!read_fields(&t, e, r->head.has_hashes) || t.at != t.n ||
	    !ab_manifest_is_path(e->path, e->path_len) ||
	    !is_after(r, e->path, e->path_len) ||
	    __builtin_add_overflow(r->bytes, e->size, &r->bytes))
		return -EPROTO;
	ab_manifest_put(&r->again, e);
	if (r->again.bad || r->again.len != t.n + 1 ||
	    memcmp(r->again.text, t.p, t.n) != 0)
		return -EPROTO;
	memcpy(r->last, r->path, e->path_len);
	r->last_len = e->path_len;
	r->files++;
	r->pos += t.n + 1;
	return 1;
}
