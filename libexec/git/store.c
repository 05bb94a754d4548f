/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where an object lies: in a pack, or in a file of its own. A repository may
 * be packed anew while it is read: what is missing is looked for once more in
 * the packs that are there then. Never reads info/alternates (case 83), a
 * multi-pack-index or a commit-graph: nothing that only repeats what the
 * packs say.
 */
#include "config.h"

#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "pack.h"
#include "tree.h"

#define PACKS_MAX 4096
#define LOOKS_MAX 4
#define LOOSE_HEAD_MAX 64

struct store {
	int objects_fd; /* borrowed */
	pack *packs;	/* owned */
	size_t count;
	unsigned looks;
	int damaged; /* why a pack could not be opened, or 0 */
	const pack *last;
	unpacker unpacker;
};

/* --- packs --------------------------------------------------------------- */

static void close_packs(store *s)
{
	for (size_t i = 0; i < s->count; i++)
		pack_close(&s->packs[i]);
	s->count = 0;
	s->last = NULL;
}

static bool is_index_name(const char *name)
{
	size_t n = strlen(name);

	return n > 9 && strncmp(name, "pack-", 5) == 0 &&
	       strcmp(name + n - 4, ".idx") == 0;
}

static int add_pack(store *s, int dirfd, const char *name)
{
	pack *more;
	int r;

	if (s->count == PACKS_MAX)
		return -E2BIG;
	more = ab_realloc(s->packs, s->count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->packs = more;
	r = pack_open(dirfd, name, &s->packs[s->count]);
	if (r == 0)
		s->count++;
	else if (r != -ENOENT)
		s->damaged = r;
	return r == -ENOMEM ? r : 0;
}

static int look_for_packs(store *s)
{
	uint8_t *raw = ab_calloc(RAW_SIZE, 1);
	int fd = open_beneath(s->objects_fd, "pack", O_RDONLY | O_DIRECTORY);
	int r = raw ? 0 : -ENOMEM;
	long n;

	/* their addresses are what the cache knows them by */
	unpacker_end(&s->unpacker);
	memset(s->unpacker.cache, 0, sizeof(s->unpacker.cache));
	s->unpacker.inflater.is_ready = false;
	close_packs(s);
	s->looks++;
	s->damaged = 0;
	while (r == 0 && fd >= 0 && (n = read_names(fd, raw)) > 0) {
		for (long at = 0; r == 0 && at < n;) {
			const raw_dirent *d = (const void *)(raw + at);

			at += d->len;
			if (is_index_name(d->name))
				r = add_pack(s, fd, d->name);
		}
	}
	if (fd >= 0)
		close(fd);
	free(raw);
	return r;
}

static bool find_packed(store *s, const uint8_t *oid, const pack **p,
			uint64_t *at)
{
	if (s->last && pack_find(s->last, oid, at)) {
		*p = s->last;
		return true;
	}
	for (size_t i = 0; i < s->count; i++) {
		if (pack_find(&s->packs[i], oid, at)) {
			*p = s->last = &s->packs[i];
			return true;
		}
	}
	return false;
}

/* --- files of their own -------------------------------------------------- */

typedef struct loose {
	int fd;
	uint64_t file_size;
	size_t head, size; /* of the header, of what follows */
	enum object_type type;
} loose;

/* "blob 12" and a NUL */
static int parse_loose(const char *text, size_t n, loose *l)
{
	static const char *const names[] = { [OBJECT_COMMIT] = "commit ",
					     [OBJECT_TREE] = "tree ",
					     [OBJECT_BLOB] = "blob ",
					     [OBJECT_TAG] = "tag " };
	const char *end = memchr(text, 0, n);
	uint64_t size = 0;

	for (unsigned t = OBJECT_COMMIT; end && t <= OBJECT_TAG; t++) {
		size_t len = strlen(names[t]);
		const char *p = text + len;

		if (strncmp(text, names[t], len) != 0 || p == end)
			continue;
		for (; p < end; p++) {
			if (*p < '0' || *p > '9')
				return -EPROTO;
			size = size * 10 + (uint64_t)(*p - '0');
			if (size > OBJECT_MAX)
				return -EFBIG;
		}
		l->type = (enum object_type)t;
		l->size = (size_t)size;
		l->head = (size_t)(end - text) + 1;
		return 0;
	}
	return -EPROTO;
}

static int open_loose(store *s, const uint8_t *oid, loose *l)
{
	char hex[AB_HEX_SIZE(OID_SIZE)], name[AB_HEX_SIZE(OID_SIZE) + 1];
	char head[LOOSE_HEAD_MAX] = "";
	struct stat st;
	int r;

	ab_hex(oid, OID_SIZE, hex);
	memcpy(name, hex, 2);
	name[2] = '/';
	memcpy(name + 3, hex + 2, sizeof(hex) - 2);
	l->fd = open_beneath(s->objects_fd, name, O_RDONLY | O_NONBLOCK);
	if (l->fd < 0)
		return l->fd;
	if (fstat(l->fd, &st) || !S_ISREG(st.st_mode)) {
		close(l->fd);
		return -EPROTO;
	}
	l->file_size = (uint64_t)st.st_size;
	r = inflate_at(&s->unpacker.inflater, l->fd, 0, l->file_size,
		       (uint8_t *)head, sizeof(head), false);
	if (r == 0)
		r = parse_loose(head, sizeof(head), l);
	if (r)
		close(l->fd);
	return r;
}

static int read_loose(store *s, const loose *l, uint8_t **data)
{
	const store_memory *m = s->unpacker.memory;
	uint8_t *made = m->alloc(l->head + l->size + 1);
	int r;

	if (!made)
		return -ENOMEM;
	r = inflate_at(&s->unpacker.inflater, l->fd, 0, l->file_size, made,
		       l->head + l->size, true);
	if (r) {
		m->release(made);
		return r;
	}
	memmove(made, made + l->head, l->size);
	made[l->size] = 0;
	*data = made;
	return 0;
}

/* --- both ---------------------------------------------------------------- */

store *store_new(int objects_fd, const store_memory *memory)
{
	store *s = ab_new(store);

	if (!s)
		return NULL;
	s->objects_fd = objects_fd;
	s->unpacker.memory = memory;
	return s;
}

void store_free(store *s)
{
	if (!s)
		return;
	unpacker_end(&s->unpacker);
	close_packs(s);
	free(s->packs);
	free(s);
}

/* `data` NULL: the header alone. */
static int get(store *s, const uint8_t *oid, enum object_type *type,
	       uint8_t **data, size_t *size)
{
	const pack *p;
	uint64_t at;
	loose l;
	int r;

	if (find_packed(s, oid, &p, &at))
		return data ? pack_read(&s->unpacker, p, at, type, data, size)
			    : pack_header(&s->unpacker, p, at, type, size);
	r = open_loose(s, oid, &l);
	if (r)
		return r;
	if (data)
		r = read_loose(s, &l, data);
	*type = l.type;
	*size = l.size;
	close(l.fd);
	return r;
}

static int get_or_look(store *s, const uint8_t *oid, enum object_type *type,
		       uint8_t **data, size_t *size)
{
	int r = s->looks ? get(s, oid, type, data, size) : -ENOENT;

	if (r != -ENOENT || s->looks >= LOOKS_MAX)
		return r == -ENOENT && s->damaged ? s->damaged : r;
	r = look_for_packs(s);
	if (r == 0)
		r = get(s, oid, type, data, size);
	return r == -ENOENT && s->damaged ? s->damaged : r;
}

int store_header(store *s, const uint8_t oid[OID_SIZE],
		 enum object_type *type, size_t *size)
{
	return get_or_look(s, oid, type, NULL, size);
}

int store_read(store *s, const uint8_t oid[OID_SIZE], enum object_type *type,
	       uint8_t **data, size_t *size)
{
	return get_or_look(s, oid, type, data, size);
}
