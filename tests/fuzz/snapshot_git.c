/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pack and its index of a stranger: nothing is read outside them, and what
 * a header says of an object is what its bytes are. The input is the length
 * of the index in two bytes, the index, and the pack; the pack is also tried
 * as a delta of the index.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "pack.h"

#define TRIED 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *get(size_t n)
{
	/* what may be larger than an input has a right to is not tried */
	return n > (4u << 20) ? NULL : malloc(n);
}

static const store_memory memory = { get, free };

static void read_one(unpacker *u, const pack *p, uint64_t at)
{
	enum object_type type = 0, told = 0;
	size_t n = 0, promised = 0;
	uint8_t *bytes = NULL;
	int r = pack_header(u, p, at, &told, &promised);

	if (pack_read(u, p, at, &type, &bytes, &n))
		return;
	if (r || type != told || n != promised || bytes[n])
		abort();
	free(bytes);
}

static void read_pack(const uint8_t *idx, size_t n, const uint8_t *p,
		      size_t size)
{
	int fd = memfd_create("pack", MFD_CLOEXEC);
	/* of its own, so that a sanitizer sees its end */
	uint8_t *copy = malloc(n ? n : 1);
	unpacker *u = calloc(1, sizeof(*u));
	pack k = { .fd = fd, .size = size, .idx = copy, .idx_size = n };

	if (fd < 0 || !copy || !u || ab_fd_write_full(fd, p, size))
		abort();
	memcpy(copy, idx, n);
	u->memory = &memory;
	if (pack_check(&k) == 0) {
		for (uint32_t i = 0; i < k.count && i < TRIED; i++) {
			uint64_t at;

			if (pack_find(&k, copy + 8 + 1024 + i * OID_SIZE, &at))
				read_one(u, &k, at);
		}
		read_one(u, &k, 12);
	}
	unpacker_end(u);
	free(u);
	free(copy);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *made = NULL;
	size_t n, made_size = 0, promised = 0;

	if (size < 2)
		return 0;
	n = (size_t)data[0] << 8 | data[1];
	data += 2;
	size -= 2;
	if (n > size)
		n = size;
	read_pack(data, n, data + n, size - n);
	if (delta_apply(&memory, data, n, data + n, size - n, &made,
			&made_size) == 0) {
		if (delta_result(data + n, size - n, &promised) ||
		    promised != made_size)
			abort();
		free(made);
	}
	return 0;
}
