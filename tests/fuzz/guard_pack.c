/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pack reader on any text: it ends and stays inside its input. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "guard/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_pack *pack = ab_pack_new();
	agentbox_error *err = NULL;

	if (!pack)
		return 0;
	if (ab_pack_read(pack, AB_LAYER_BASE, "fuzz", (const char *)data,
			 size, &err) < 0 &&
	    !err)
		abort();
	agentbox_error_free(err);
	ab_pack_free(pack);
	return 0;
}
