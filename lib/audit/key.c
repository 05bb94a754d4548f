/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The signing key of the log's heads. Key number i signs head i, which names
 * the public half of key i+1; the seed of key i+1 is a hash of seed i, so it
 * can be computed forward and never back. After a head the old seed is wiped
 * in memory and overwritten in the key file: whoever takes the present key
 * cannot sign an earlier head again (FssAgg, forward security by key
 * evolution; Bellare and Yee). Refuses key files that others can read.
 *
 * The key file is two slots of 512 bytes; a new seed goes to the slot that is
 * not in use, is synced, and then the old slot is zeroed and synced. A crash
 * in between leaves a valid slot. A file system that writes elsewhere instead
 * of in place keeps old blocks: that is outside what a program can wipe.
 * Spec: agentbox-audit(5), "HEADS AND KEYS".
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/secret.h"

#define SLOT_SIZE 512
#define SIG_HEX (2 * AB_AUDIT_SIG_SIZE)
#define SIG_MARK "\"sig\":\""
#define SIGN_PREFIX "agentbox audit head 1\n"
#define EVOLVE_PREFIX "agentbox audit key 1\n"
#define SLOT_MAGIC "agentbox-audit-key 1\n"

typedef struct slot {
	char magic[sizeof(SLOT_MAGIC) - 1];
	uint8_t count[8]; /* big endian */
	uint8_t seed[AB_AUDIT_SEED_SIZE];
	uint8_t check[AB_SHA256_SIZE]; /* of all before it */
	uint8_t zero[SLOT_SIZE - sizeof(SLOT_MAGIC) + 1 - 8 -
		     AB_AUDIT_SEED_SIZE - AB_SHA256_SIZE];
} slot;

_Static_assert(sizeof(slot) == SLOT_SIZE, "a slot is one sector");

static bool public_of(const uint8_t *seed, char hex[AB_AUDIT_KEY_HEX])
{
	uint8_t pk[crypto_sign_PUBLICKEYBYTES];
	uint8_t sk[crypto_sign_SECRETKEYBYTES];
	int rc = crypto_sign_seed_keypair(pk, sk, seed);

	sodium_memzero(sk, sizeof(sk));
	ab_hex(pk, sizeof(pk), hex);
	return rc == 0;
}

/* One way: seed may be the same memory as out. */
static void evolve(const uint8_t *seed, uint8_t *out)
{
	uint8_t text[sizeof(EVOLVE_PREFIX) - 1 + AB_AUDIT_SEED_SIZE];

	memcpy(text, EVOLVE_PREFIX, sizeof(EVOLVE_PREFIX) - 1);
	memcpy(text + sizeof(EVOLVE_PREFIX) - 1, seed, AB_AUDIT_SEED_SIZE);
	crypto_hash_sha256(out, text, sizeof(text));
	sodium_memzero(text, sizeof(text));
}

static uint64_t slot_count(const slot *s)
{
	uint64_t v = 0;

	for (size_t i = 0; i < 8; i++)
		v = v << 8 | s->count[i];
	return v;
}

static bool is_slot(const slot *s)
{
	uint8_t check[AB_SHA256_SIZE];

	crypto_hash_sha256(check, (const uint8_t *)s, offsetof(slot, check));
	return memcmp(s->magic, SLOT_MAGIC, sizeof(s->magic)) == 0 &&
	       ab_secret_equal(check, s->check, sizeof(check));
}

static int write_at(int fd, const void *p, size_t n, off_t at)
{
	ssize_t done;

	do {
		done = pwrite(fd, p, n, at);
	} while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	return (size_t)done == n ? 0 : -ENOSPC;
}

static int save(const ab_audit_key *key, bool syncs)
{
	slot *s = ab_secret_new(sizeof(*s));
	off_t at = (off_t)(key->count % 2) * SLOT_SIZE;
	int rc;

	if (!s)
		return -ENOMEM;
	memset(s, 0, sizeof(*s));
	memcpy(s->magic, SLOT_MAGIC, sizeof(s->magic));
	for (size_t i = 0; i < 8; i++)
		s->count[i] = (uint8_t)(key->count >> (56 - 8 * i));
	memcpy(s->seed, key->seed, AB_AUDIT_SEED_SIZE);
	crypto_hash_sha256(s->check, (uint8_t *)s, offsetof(slot, check));
	rc = write_at(key->fd, s, sizeof(*s), at);
	if (rc == 0 && syncs && fdatasync(key->fd) != 0)
		rc = -errno;
	if (rc == 0) {
		memset(s, 0, sizeof(*s));
		rc = write_at(key->fd, s, sizeof(*s), SLOT_SIZE - at);
	}
	if (rc == 0 && syncs && fdatasync(key->fd) != 0)
		rc = -errno;
	ab_secret_free(s);
	return rc;
}

/*
 * 1 loaded, 2 loaded with an older one beside it, 0 the file is empty,
 * -EBADMSG it holds no key, -errno.
 */
static int load(ab_audit_key *key)
{
	slot *s = ab_secret_new(2 * sizeof(*s));
	const slot *best = NULL;
	int rc = 0, valid = 0;
	ssize_t n;

	if (!s)
		return -ENOMEM;
	do {
		n = pread(key->fd, s, 2 * sizeof(*s), 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		rc = -errno;
	/* a new file whose maker was killed has its first slot only */
	for (size_t i = 0; i < 2 && n >= (ssize_t)((i + 1) * sizeof(*s)); i++) {
		if (!is_slot(&s[i]))
			continue;
		valid++;
		if (!best || slot_count(&s[i]) > slot_count(best))
			best = &s[i];
	}
	if (best) {
		key->count = slot_count(best);
		memcpy(key->seed, best->seed, AB_AUDIT_SEED_SIZE);
		rc = valid;
	} else if (n > 0) {
		rc = -EBADMSG;
	}
	ab_secret_free(s);
	return rc;
}

static int32_t open_file(ab_audit_key *key, const char *path, bool syncs,
			 bool *is_made, agentbox_error **err)
{
	struct stat st;
	int32_t rc = ab_audit_open_file(path, O_CREAT, &key->fd, is_made, err);
	int loaded;

	if (rc != 0)
		return rc;
	if (fstat(key->fd, &st) != 0 || (st.st_mode & 077))
		return ab_error_set(err, AGENTBOX_EACCES, "",
				    "key file '%s' is open to others; "
				    "make it 0600",
				    path);
	loaded = load(key);
	if (loaded == -EBADMSG)
		return ab_error_set(err, AGENTBOX_ETAMPERED, "",
				    "key file '%s' does not hold a key", path);
	/* what could not be read may hold a key that has signed: never write */
	if (loaded < 0)
		return ab_error_sys(err, -loaded, "",
				    "cannot read key file '%s'", path);
	if (loaded == 1)
		return 0;
	/* new, or a crash came before the old slot was wiped */
	loaded = save(key, syncs);
	if (loaded == 0 && syncs)
		return ab_audit_sync_dir(path, err);
	if (loaded < 0)
		return ab_error_sys(err, -loaded, "", "cannot use key file '%s'",
				    path);
	return 0;
}

int32_t ab_audit_key_open(ab_audit_key *key, const char *path, bool syncs,
			  agentbox_error **err)
{
	bool is_made = false;
	int32_t rc = 0;

	key->fd = -1;
	key->count = 0;
	key->seed = ab_secret_new(AB_AUDIT_SEED_SIZE);
	if (!key->seed)
		return ab_error_nomem(err);
	if (ab_random(key->seed, AB_AUDIT_SEED_SIZE) != 0)
		rc = ab_error_set(err, AGENTBOX_ESYS, "",
				  "the kernel gives no randomness");
	if (rc == 0 && path)
		rc = open_file(key, path, syncs, &is_made, err);
	if (rc == 0 && !public_of(key->seed, key->hex))
		rc = ab_error_set(err, AGENTBOX_ESYS, "", "cannot make a key");
	if (rc != 0 && path)
		ab_audit_unmake_file(path, key->fd, &is_made);
	if (rc != 0)
		ab_audit_key_close(key);
	return rc;
}

int32_t ab_audit_key_next(const ab_audit_key *key, char hex[AB_AUDIT_KEY_HEX],
			  agentbox_error **err)
{
	uint8_t *seed = ab_secret_new(AB_AUDIT_SEED_SIZE);
	bool ok;

	if (!seed)
		return ab_error_nomem(err);
	evolve(key->seed, seed);
	ok = public_of(seed, hex);
	ab_secret_free(seed);
	return ok ? 0 :
		    ab_error_set(err, AGENTBOX_ESYS, "", "cannot make a key");
}

int32_t ab_audit_key_advance(ab_audit_key *key, bool syncs,
			     agentbox_error **err)
{
	int rc = 0;

	evolve(key->seed, key->seed);
	key->count++;
	if (!public_of(key->seed, key->hex))
		return ab_error_set(err, AGENTBOX_ESYS, "", "cannot make a key");
	if (key->fd >= 0)
		rc = save(key, syncs);
	if (rc != 0)
		return ab_error_sys(err, -rc, "", "cannot write the key file");
	return 0;
}

/* The 128 digits of the signature in a head line, or NULL. */
static char *find_sig(char *line, size_t n)
{
	size_t mark = sizeof(SIG_MARK) - 1;
	char *at = memmem(line, n, SIG_MARK, mark);

	/* in a string the quotes would be escaped, so this is the member */
	if (!at || (size_t)(line + n - at) < mark + SIG_HEX + 1 ||
	    at[mark + SIG_HEX] != '"')
		return NULL;
	return at + mark;
}

/* What is signed: the prefix and the line with a zero signature. */
static void head_digest(const char *line, size_t n,
			uint8_t out[AB_SHA256_SIZE])
{
	crypto_hash_sha256_state state;

	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const uint8_t *)SIGN_PREFIX,
				  sizeof(SIGN_PREFIX) - 1);
	crypto_hash_sha256_update(&state, (const uint8_t *)line, n);
	crypto_hash_sha256_final(&state, out);
}

int32_t ab_audit_key_sign(const ab_audit_key *key, char *line, size_t n,
			  agentbox_error **err)
{
	char *at = find_sig(line, n);
	uint8_t digest[AB_SHA256_SIZE], sig[AB_AUDIT_SIG_SIZE];
	uint8_t pk[crypto_sign_PUBLICKEYBYTES];
	uint8_t sk[crypto_sign_SECRETKEYBYTES];
	char hex[SIG_HEX + 1];
	int rc;

	if (!at)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "head record has no place to sign");
	head_digest(line, n, digest);
	rc = crypto_sign_seed_keypair(pk, sk, key->seed);
	if (rc == 0)
		rc = crypto_sign_detached(sig, NULL, digest, sizeof(digest),
					  sk);
	sodium_memzero(sk, sizeof(sk));
	if (rc != 0)
		return ab_error_set(err, AGENTBOX_ESYS, "",
				    "cannot sign a head record");
	ab_hex(sig, sizeof(sig), hex);
	memcpy(at, hex, SIG_HEX);
	return 0;
}

bool ab_audit_head_is_signed(const char *line, size_t n, const char *key_hex)
{
	uint8_t digest[AB_SHA256_SIZE], sig[AB_AUDIT_SIG_SIZE];
	uint8_t pk[crypto_sign_PUBLICKEYBYTES];
	char copy[4096], *at;

	if (n > sizeof(copy) ||
	    ab_unhex(key_hex, strlen(key_hex), pk, sizeof(pk)) != 0)
		return false;
	memcpy(copy, line, n);
	at = find_sig(copy, n);
	if (!at || ab_unhex(at, SIG_HEX, sig, sizeof(sig)) != 0)
		return false;
	memset(at, '0', SIG_HEX);
	head_digest(copy, n, digest);
	return crypto_sign_verify_detached(sig, digest, sizeof(digest), pk) ==
	       0;
}

void ab_audit_key_close(ab_audit_key *key)
{
	int saved = errno;

	ab_secret_free(key->seed);
	key->seed = NULL;
	if (key->fd >= 0)
		close(key->fd);
	key->fd = -1;
	errno = saved;
}
