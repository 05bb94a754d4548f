/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of a pack: growing them while it is read, finding things in them
 * afterwards. See pack.h.
 */
#include "config.h"

#include "guard/pack.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/key.h"
#include "guard/pack_internal.h"

bool ab_pack_grow(void **table, uint32_t count, uint32_t *room, size_t size)
{
	if (count < *room)
		return true;
	if (*room >= AB_PACK_MAX_ITEMS)
		return false;
	uint32_t more = *room ? *room * 2 : 64;
	void *p = ab_realloc(*table, more, size);

	if (!p)
		return false;
	*table = p;
	*room = more;
	return true;
}

struct ab_pack *ab_pack_new(void)
{
	struct ab_pack *pack = ab_new(struct ab_pack);

	if (!pack)
		return NULL;
	for (size_t i = 0; i < AB_ARRAY_LEN(pack->known); i++)
		pack->known[i] = UINT16_MAX;
	return pack;
}

void ab_pack_free(struct ab_pack *pack)
{
	if (!pack)
		return;
#define X(name, type) free(pack->name);
	AB_TABLES(X)
#undef X
	for (size_t i = 0; i < AB_ARRAY_LEN(pack->text); i++)
		free(pack->text[i]);
	free(pack->letters);
	free(pack->keys);
	free(pack->end_order);
	free(pack);
}

static const struct ab_program *find(const struct ab_pack *pack,
				     const char *name, size_t n, uint32_t hash)
{
	uint32_t at = pack->buckets[hash % AB_PACK_BUCKETS];
	uint64_t key = ab_pack_key(name, n);

	while (at) {
		const struct ab_program *p = &pack->programs[at - 1];

		if (p->hash == hash && p->name_len == n && p->key == key &&
		    (key || ab_same(p->name, name, n)))
			return p;
		at = p->next;
	}
	return NULL;
}

const struct ab_program *ab_pack_program(const struct ab_pack *pack,
					 const char *name, size_t n)
{
	return find(pack, name, n, ab_pack_hash(name, n));
}

/* GNU's own tools have a g before their names where the system has others. */
static bool is_gnu(const char *name, size_t n)
{
	static const char *const tools[] = {
		"base64", "cat", "chgrp",  "chmod", "chown", "chroot", "cp",
		"cut",	  "dd",	 "env",	   "expr",  "find",  "head",   "kill",
		"link",	  "ln",	 "ls",	   "mkdir", "mkfifo", "mknod", "mv",
		"nice",	  "nl",	 "nohup",  "od",    "paste", "printenv", "rm",
		"rmdir",  "sort", "shred", "shuf",  "split", "stdbuf", "tac",
		"tail",	  "tee", "timeout", "touch", "truncate", "uniq",
		"unlink", "xargs"
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(tools); i++) {
		if (strlen(tools[i]) == n && !memcmp(tools[i], name, n))
			return true;
	}
	return false;
}

/* As long as the name is without what a distribution adds to it: vim.tiny,
   python3-dbg, su-rs; *at: and where it begins, x86_64-linux-gnu-gcc. */
static size_t bare_name(const char *name, size_t n, size_t *at)
{
	static const char *const ends[] = {
		"-dbg", "-static", "-cli", "-remote", "-rs", "-nox", "-gtk",
		".tiny", ".basic", ".nox", ".gtk", ".gtk3", ".traditional",
		".openbsd", ".io"
	};
	static const char *const begins[] = { "-linux-gnu-", "-linux-musl-",
					      "-linux-gnueabihf-",
					      "-w64-mingw32-" };

	/* zsh/files: zf_rm */
	*at = n > 3 && !memcmp(name, "zf_", 3) ? 3 : 0;
	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		size_t k = strlen(ends[i]);

		if (n > k && !memcmp(name + n - k, ends[i], k))
			return n - k;
	}
	/* python3.13t has no lock */
	if (n > 7 && name[n - 1] == 't' && name[n - 2] >= '0' &&
	    name[n - 2] <= '9' && !memcmp(name, "python", 6))
		return n - 1;
	for (size_t i = 0; i < AB_ARRAY_LEN(begins); i++) {
		size_t k = strlen(begins[i]);
		const char *found = memmem(name, n - 1, begins[i], k);

		/* what builds: the others only read and write its files */
		if (found && memchr("cgl", found[k], 3))
			*at = (size_t)(found - name) + k;
	}
	return n;
}

/* Of what is not in the table under its very name. */
static const struct ab_program *find_other(const struct ab_pack *pack,
					   const char *name, size_t n)
{
	const struct ab_program *p;
	char text[64];
	size_t k = n, at;

	if (!n || n > 60)
		return NULL;
	if (n > 4 && !strncasecmp(name + n - 4, ".exe", 4))
		return ab_pack_program(pack, name, n - 4);
	/* python3.11, gcc-12 */
	while (k && ((name[k - 1] >= '0' && name[k - 1] <= '9') ||
		     name[k - 1] == '.' || name[k - 1] == '-'))
		k--;
	if (k && k < n && (p = ab_pack_program(pack, name, k)))
		return p;
	if (*name == 'g' && is_gnu(name + 1, n - 1))
		return ab_pack_program(pack, name + 1, n - 1);
	k = bare_name(name, n, &at);
	if ((k < n || at) && (p = ab_pack_find(pack, name + at, k - at)))
		return p;
	/* mkfs.ext4 is mkfs.* */
	const char *dot = memchr(name, '.', n);

	if (!dot || dot == name)
		return NULL;
	k = (size_t)(dot - name);
	memcpy(text, name, k);
	memcpy(text + k, ".*", 2);
	return ab_pack_program(pack, text, k + 2);
}

const struct ab_program *ab_pack_find_hash(const struct ab_pack *pack,
					   const char *name, size_t n,
					   uint32_t hash)
{
	const struct ab_program *p = find(pack, name, n, hash);

	return p ? p : find_other(pack, name, n);
}

const struct ab_program *ab_pack_find(const struct ab_pack *pack,
				      const char *name, size_t n)
{
	return ab_pack_find_hash(pack, name, n, ab_pack_hash(name, n));
}

uint16_t ab_pack_rule(const struct ab_pack *pack, const char *id, size_t n)
{
	for (uint32_t i = 0; i < pack->rules_count; i++) {
		const char *have = pack->rules[i].id;

		if (!strncmp(have, id, n) && !have[n])
			return (uint16_t)i;
	}
	return UINT16_MAX;
}
