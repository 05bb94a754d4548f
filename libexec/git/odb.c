/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store as a backend of libgit2's object database, in a repository that
 * is nothing but that (git_repository_wrap_odb). Refuses to write.
 */
#include "config.h"

#include "odb.h"

#include <errno.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentbox/base.h"
#include "base/alloc.h"
#include "base/hash.h"

#define CACHE_MAX ((ssize_t)64 << 20)

typedef struct backend {
	git_odb_backend base;
	store *store; /* borrowed */
	int error;    /* of the last call */
} backend;

static void *git_alloc(size_t n)
{
	return git_odb_backend_data_alloc(NULL, n);
}

static void git_release(void *p)
{
	git_odb_backend_data_free(NULL, p);
}

static const store_memory memory = { git_alloc, git_release };

static int told(backend *b, int r)
{
	b->error = r;
	if (r == -ENOENT)
		return GIT_ENOTFOUND;
	if (r) {
		git_error_set_str(GIT_ERROR_ODB, "unreadable");
		return GIT_ERROR;
	}
	return 0;
}

static int backend_read(void **data, size_t *size, git_object_t *type,
			git_odb_backend *base, const git_oid *oid)
{
	backend *b = (backend *)base;
	enum object_type t = OBJECT_BLOB;
	uint8_t *bytes = NULL;
	int r = store_read(b->store, oid->id, &t, &bytes, size);

	*data = bytes;
	*type = (git_object_t)t;
	return told(b, r);
}

static int backend_header(size_t *size, git_object_t *type,
			  git_odb_backend *base, const git_oid *oid)
{
	backend *b = (backend *)base;
	enum object_type t = OBJECT_BLOB;
	int r = store_header(b->store, oid->id, &t, size);

	*type = (git_object_t)t;
	return told(b, r);
}

static int backend_exists(git_odb_backend *base, const git_oid *oid)
{
	enum object_type t;
	size_t size;

	return store_header(((backend *)base)->store, oid->id, &t, &size) == 0;
}

static void backend_free(git_odb_backend *base)
{
	free(base);
}

int objects_init(void)
{
	static const int levels[] = { GIT_CONFIG_LEVEL_SYSTEM,
				      GIT_CONFIG_LEVEL_XDG,
				      GIT_CONFIG_LEVEL_GLOBAL,
				      GIT_CONFIG_LEVEL_PROGRAMDATA };

	if (git_libgit2_init() < 0)
		return -1;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], ""))
			return -1;
	}
	return git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1) ||
	       git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, CACHE_MAX)
		       ? -1
		       : 0;
}

int objects_open(objects *o, git_place *p, copy_failure *failure)
{
	backend *b = ab_new(backend);

	*o = (objects){ .place = p, .failure = failure };
	o->store = store_new(p->objects_fd, &memory);
	if (!b || !o->store || git_odb_new(&o->odb) ||
	    git_odb_init_backend(&b->base, GIT_ODB_BACKEND_VERSION)) {
		free(b);
		return copy_fail(failure, AGENTBOX_ENOMEM, 0, "repository",
				 "out of memory");
	}
	b->base.read = backend_read;
	b->base.read_header = backend_header;
	b->base.exists = backend_exists;
	b->base.free = backend_free;
	b->store = o->store;
	if (git_odb_add_backend(o->odb, &b->base, 1) ||
	    git_repository_wrap_odb(&o->repo, o->odb))
		return copy_fail(failure, AGENTBOX_ENOMEM, 0, "repository",
				 "out of memory");
	return 0;
}

bool objects_is_large(objects *o, const uint8_t oid[OID_SIZE])
{
	enum object_type type;
	size_t size;

	return store_header(o->store, oid, &type, &size) == -EFBIG;
}

/* What the store says of this object, and libgit2 of its bytes. */
static int32_t code_of(objects *o, const uint8_t oid[OID_SIZE], int error,
		       const char **what)
{
	enum object_type type;
	size_t size;
	int r = oid ? store_header(o->store, oid, &type, &size) : 0;

	switch (r) {
	case -ENOENT:
		*what = place_why_missing(o->place);
		return AGENTBOX_ENOTFOUND;
	case -EFBIG:
		*what = "an object is larger than 256 MiB";
		return AGENTBOX_ELIMIT;
	case -E2BIG:
		*what = "the repository has more than 4096 packs";
		return AGENTBOX_ELIMIT;
	case -ENOMEM:
		*what = "out of memory";
		return AGENTBOX_ENOMEM;
	case -EACCES:
	case -EPERM:
		*what = "the source may not read an object";
		return AGENTBOX_EACCES;
	default:
		break;
	}
	if (error == GIT_ENOTFOUND) {
		*what = place_why_missing(o->place);
		return AGENTBOX_ENOTFOUND;
	}
	*what = error == GIT_EMISMATCH
			? "an object is not what its name says"
			: "an object is damaged, or not of the kind that it "
			  "should be";
	return AGENTBOX_EPARSE;
}

int objects_fail(objects *o, const uint8_t oid[OID_SIZE], const char *where,
		 int error)
{
	char hex[AB_HEX_SIZE(OID_SIZE)] = "", text[256];
	const char *what = "";
	int32_t code = code_of(o, oid, error, &what);

	if (oid)
		ab_hex(oid, OID_SIZE, hex);
	snprintf(text, sizeof(text), "%s%s%s", what, oid ? ": " : "", hex);
	return copy_fail(o->failure, code, 0, where, text);
}

int objects_peel(objects *o, const uint8_t oid[OID_SIZE], const char *where,
		 git_commit **commit)
{
	git_object *object = NULL, *peeled = NULL;
	git_oid id;
	int r;

	memcpy(id.id, oid, OID_SIZE);
	r = git_object_lookup(&object, o->repo, &id, GIT_OBJECT_ANY);
	if (r)
		return objects_fail(o, oid, where, r);
	r = git_object_peel(&peeled, object, GIT_OBJECT_COMMIT);
	git_object_free(object);
	if (r == GIT_EPEEL || r == GIT_EINVALIDSPEC)
		return copy_fail(o->failure, AGENTBOX_ENOTFOUND, 0, where,
				 "it is no commit");
	if (r)
		return objects_fail(o, NULL, where, r);
	*commit = (git_commit *)peeled;
	return 0;
}
