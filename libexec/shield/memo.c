/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was let through before. The checks of an exec are a function of its
 * words and of where it is: they read no file (the filter of confine.c has no
 * call for it), no clock, and a policy that never changes. So whoever asks
 * with the very same bytes is told the same, and those are compared one by
 * one: a hash only says where they are kept. Only what is allowed is kept.
 * Pure. Spec: parts.h.
 */
#include "config.h"

#include <string.h>

#include "parts.h"

/* FNV-1a */
static uint32_t hash(uint32_t h, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)p[i]) * UINT32_C(16777619);
	return h;
}

static size_t slot_of(const ab_sh_words *w)
{
	uint32_t h = hash(UINT32_C(2166136261), w->path, w->path_len);

	return hash(h, w->text, w->text_len) % AB_SH_MEMO_SLOTS;
}

const char *ab_sh_memo_find(const ab_sh_memo *memo, const ab_sh_words *w,
			    size_t *cwd_len)
{
	const ab_sh_known *k = &memo->slots[slot_of(w)];

	if (!k->is_used || k->path_len != w->path_len ||
	    k->text_len != w->text_len ||
	    memcmp(k->bytes, w->path, w->path_len) != 0 ||
	    memcmp(k->bytes + k->path_len, w->text, w->text_len) != 0)
		return NULL;
	*cwd_len = k->cwd_len;
	return k->bytes + k->path_len + k->text_len;
}

void ab_sh_memo_keep(ab_sh_memo *memo, const ab_sh_words *w, const char *cwd,
		     size_t cwd_len)
{
	ab_sh_known *k = &memo->slots[slot_of(w)];
	size_t room = sizeof(k->bytes);

	if (w->path_len > room || w->text_len > room - w->path_len ||
	    cwd_len > room - w->path_len - w->text_len)
		return;
	k->is_used = true;
	k->path_len = (uint32_t)w->path_len;
	k->text_len = (uint32_t)w->text_len;
	k->cwd_len = (uint32_t)cwd_len;
	memcpy(k->bytes, w->path, w->path_len);
	memcpy(k->bytes + w->path_len, w->text, w->text_len);
	memcpy(k->bytes + w->path_len + w->text_len, cwd, cwd_len);
}
