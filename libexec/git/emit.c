/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring's other end, and what a repository is besides its objects. Its
 * configuration names what git may do there and leaves nothing to a default
 * that could run something; its attributes say that a file's bytes are its
 * blob's. The index tells size and time of every file, so that a status
 * neither reads them nor has to write. Spec: gitrepository-layout(5),
 * gitformat-index(5), git-config(1).
 */
#include "config.h"

#include "emit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

#define BRANCH "refs/heads/snapshot"
#define INDEX_YOUNGER_NS INT64_C(1000000000)

static ring_record *reserve(emitter *e, enum ring_kind kind, const char *name,
			    size_t data_len)
{
	size_t n = name ? strlen(name) : 0;
	ring_record *r = ring_reserve(&e->job->ring, n, data_len);

	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->name_len = (uint32_t)n;
	r->data_len = data_len;
	r->source.flags = e->flags;
	r->source.mtime_ns = e->mtime_ns;
	if (n)
		memcpy(ring_name(r), name, n);
	return r;
}

static void commit(emitter *e, const ring_record *r)
{
	ring_commit(&e->job->ring, r);
}

void emit_down(emitter *e, const char *name)
{
	e->names[e->depth++] = name;
}

void emit_up(emitter *e)
{
	if (e->entered == e->depth) {
		commit(e, reserve(e, RING_UP, NULL, 0));
		e->entered--;
	}
	e->depth--;
}

static void enter(emitter *e)
{
	for (; e->entered < e->depth; e->entered++) {
		ring_record *r = reserve(e, RING_DIR, e->names[e->entered], 0);

		r->source.mode = 0040755;
		commit(e, r);
	}
}

void emit_finish(emitter *e)
{
	commit(e, reserve(e, RING_FINISH, NULL, 0));
	ring_end(&e->job->ring);
}

/* --- files --------------------------------------------------------------- */

/* Where a large file's bytes come from. */
typedef int (*fetch)(void *data, uint64_t at, uint8_t *p, size_t n);

static int send(emitter *e, const char *name, const ab_record_entry *source,
		fetch get, void *data)
{
	enum ring_kind kind = RING_BEGIN;
	ring_record *r;
	int rc = 0;

	for (uint64_t at = 0; at < source->size;) {
		size_t n = source->size - at < RING_DATA_MAX
				   ? (size_t)(source->size - at)
				   : RING_DATA_MAX;

		r = reserve(e, kind, kind == RING_BEGIN ? name : NULL, n);
		r->source = *source;
		rc = get(data, at, ring_data(r), n);
		if (rc)
			return rc;
		commit(e, r);
		kind = RING_DATA;
		at += n;
	}
	r = reserve(e, RING_END, NULL, 0);
	r->source = *source;
	commit(e, r);
	return 0;
}

static ab_record_entry describe(const emitter *e, bool is_exec, uint64_t size)
{
	return (ab_record_entry){
		.size = size,
		.mtime_ns = e->mtime_ns,
		.mode = is_exec ? 0100755 : 0100644,
		.flags = e->flags | (is_exec ? AB_RECORD_EXEC : 0),
	};
}

static int from_memory(void *data, uint64_t at, uint8_t *p, size_t n)
{
	memcpy(p, (const uint8_t *)data + at, n);
	return 0;
}

void emit_file(emitter *e, const char *name, bool is_exec, const void *p,
	       size_t n)
{
	ab_record_entry source = describe(e, is_exec, n);
	ring_record *r;

	enter(e);
	if (!(e->job->plan.flags & AB_COPY_NO_HASHES) ||
	    (e->flags & AB_RECORD_APART)) {
		e->job->hash(p, n, source.sha256);
		source.flags |= AB_RECORD_HASHED;
	}
	if (n >= RING_DATA_MAX) {
		(void)send(e, name, &source, from_memory, (void *)(uintptr_t)p);
		return;
	}
	r = reserve(e, RING_FILE, name, n);
	r->source = source;
	if (n)
		memcpy(ring_data(r), p, n);
	commit(e, r);
}

/* --- the pack ------------------------------------------------------------ */

typedef struct pack_source {
	const pack_out *o;
	const uint8_t *sum;
} pack_source;

static int from_pack(void *data, uint64_t at, uint8_t *p, size_t n)
{
	const pack_source *s = data;

	return out_read(s->o, at, s->sum, p, n);
}

static int hash_pack(const emitter *e, const pack_source *s, uint64_t size,
		     uint8_t sum[AB_SHA256_SIZE])
{
	uint8_t *buffer = ab_calloc(OUT_BUFFER, 1);
	ab_sha256_stream stream;
	int r = buffer ? 0 : -ENOMEM;

	ab_sha256_begin(&stream, e->job->hash);
	for (uint64_t at = 0; r == 0 && at < size;) {
		size_t n = size - at < OUT_BUFFER ? (size_t)(size - at)
						  : OUT_BUFFER;

		r = out_read(s->o, at, s->sum, buffer, n);
		if (r == 0)
			ab_sha256_add(&stream, buffer, n);
		at += n;
	}
	ab_sha256_end(&stream, sum);
	free(buffer);
	return r;
}

static int emit_pack(emitter *e, pack_out *o)
{
	char hex[AB_HEX_SIZE(SHA1_SIZE)], name[96];
	uint8_t sum[SHA1_SIZE], *index = NULL;
	pack_source s = { o, sum };
	ab_record_entry source;
	uint64_t size = 0;
	size_t n = 0;
	int r = out_finish(o, &size, sum);

	if (r == 0)
		r = out_index(o, sum, &index, &n);
	if (r)
		return r;
	ab_hex(sum, sizeof(sum), hex);
	snprintf(name, sizeof(name), "pack-%s.idx", hex);
	emit_file(e, name, false, index, n);
	free(index);
	source = describe(e, false, size);
	r = hash_pack(e, &s, size, source.sha256);
	source.flags |= AB_RECORD_HASHED;
	snprintf(name, sizeof(name), "pack-%s.pack", hex);
	return r ? r : send(e, name, &source, from_pack, &s);
}

/* --- the index ----------------------------------------------------------- */

#define INDEX_HEAD 12u
#define INDEX_ENTRY 62u

static void put_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static uint8_t *index_room(index_out *i, size_t n)
{
	size_t want = i->room ? i->room * 2 : 65536;
	uint8_t *more;

	/* the head, and later the checksum, have their place too */
	if (!i->n)
		i->n = INDEX_HEAD;
	if (i->n + n + SHA1_SIZE > i->room) {
		if (want < i->n + n + SHA1_SIZE)
			want = i->n + n + SHA1_SIZE;
		more = i->bad ? NULL : ab_realloc(i->p, want, 1);
		if (!more) {
			i->bad = true;
			return NULL;
		}
		i->p = more;
		i->room = want;
	}
	memset(i->p + i->n, 0, n);
	return i->p + i->n;
}

void index_add(index_out *i, const char *at, size_t n, bool is_exec,
	       const uint8_t oid[OID_SIZE], uint64_t size, int64_t mtime_ns)
{
	size_t whole = (INDEX_ENTRY + n + 8) & ~(size_t)7;
	uint8_t *p = index_room(i, whole);

	if (!p)
		return;
	put_be32(p + 8, (uint32_t)(mtime_ns / 1000000000));
	put_be32(p + 24, is_exec ? 0100755 : 0100644);
	put_be32(p + 36, (uint32_t)size);
	memcpy(p + 40, oid, OID_SIZE);
	p[60] = (uint8_t)((n < 0xfff ? n : 0xfff) >> 8);
	p[61] = (uint8_t)(n < 0xfff ? n : 0xfff);
	memcpy(p + INDEX_ENTRY, at, n);
	i->n += whole;
	i->count++;
}

static int emit_index(emitter *e, index_out *i)
{
	sha1 s;

	if (!index_room(i, 0))
		return -ENOMEM;
	memcpy(i->p, "DIRC", 4);
	put_be32(i->p + 4, 2);
	put_be32(i->p + 8, i->count);
	sha1_begin(&s);
	sha1_add(&s, i->p, i->n);
	sha1_end(&s, i->p + i->n);
	emit_file(e, "index", false, i->p, i->n + SHA1_SIZE);
	return 0;
}

/* --- the rest ------------------------------------------------------------ */

static const char config[] =
	"[core]\n"
	"\trepositoryformatversion = 0\n"
	"\tfilemode = true\n"
	"\tbare = false\n"
	"\tlogallrefupdates = false\n"
	"\tignorecase = false\n"
	"\tprecomposeunicode = false\n"
	"\tautocrlf = false\n"
	"\tfsmonitor = false\n"
	"\tuntrackedCache = false\n"
	"\ttrustctime = false\n"
	"\tcheckStat = minimal\n"
	"\thooksPath = /dev/null\n"
	"\tattributesFile = /dev/null\n"
	"\texcludesFile = /dev/null\n"
	"[gc]\n"
	"\tauto = 0\n"
	"[maintenance]\n"
	"\tauto = false\n"
	"[submodule]\n"
	"\trecurse = false\n";

/* Before every .gitattributes of the tree (gitattributes(5)). */
static const char attributes[] =
	"* -text -ident -filter -working-tree-encoding\n";

/* Ours; the tree's own .gitignore holds as everywhere. */
static const char exclude[] = "/.agentbox/\n";

static void emit_text(emitter *e, const char *name, const char *text)
{
	emit_file(e, name, false, text, strlen(text));
}

static void emit_branch(emitter *e, const uint8_t head[OID_SIZE])
{
	char text[AB_HEX_SIZE(OID_SIZE) + 1];

	ab_hex(head, OID_SIZE, text);
	strcat(text, "\n");
	emit_down(e, "refs");
	emit_down(e, "heads");
	emit_text(e, "snapshot", text);
	emit_up(e);
	emit_up(e);
}

int emit_repository(emitter *e, pack_out *o, index_out *index,
		    const uint8_t head[OID_SIZE])
{
	int r;

	e->flags = AB_RECORD_APART;
	/* younger than every file, or git would look into each */
	e->mtime_ns += INDEX_YOUNGER_NS;
	emit_down(e, ".git");
	emit_text(e, "HEAD", "ref: " BRANCH "\n");
	emit_text(e, "config", config);
	r = emit_index(e, index);
	if (r)
		return r;
	emit_down(e, "info");
	emit_text(e, "attributes", attributes);
	emit_text(e, "exclude", exclude);
	emit_up(e);
	emit_down(e, "objects");
	emit_down(e, "pack");
	r = emit_pack(e, o);
	if (r)
		return r;
	emit_up(e);
	emit_up(e);
	emit_branch(e, head);
	emit_up(e);
	e->flags = 0;
	return 0;
}
