/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The content scan on any bytes, and on what they say as a template of
 * content_text.h (so the corpus holds no secret and the target still sees
 * some): it ends, stays inside its memory, and chunks and the prefilter
 * change nothing.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "content_text.h"
#include "snapshot/content_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool scan(ab_content *s, const uint8_t *p, size_t n, size_t chunk,
		 ab_content_find find, ab_content_finding *finding)
{
	memset(finding, 0, sizeof(*finding));
	ab_content_set_find(s, find);
	ab_content_begin(s, AB_CONTENT_STRICT, "a/b.txt", 7);
	for (size_t i = 0; i < n; i += chunk) {
		size_t len = n - i < chunk ? n - i : chunk;
		/* exactly as long, so that a sanitizer sees one too many */
		char *part = ab_memdup0(p + i, len);
		bool is_over = !part || ab_content_feed(s, part, len);

		free(part);
		if (is_over)
			break;
	}
	return ab_content_end(s, finding);
}

static void compare(ab_content *s, const uint8_t *p, size_t n, size_t chunk)
{
	ab_content_finding a, b;
	bool found = scan(s, p, n, n ? n : 1, ab_content_find_best(), &a);
	ab_content_find find;

	if (found && (!a.rule || a.offset >= n))
		abort();
	for (size_t i = 0; (find = ab_content_find_nth(i)); i++) {
		if (scan(s, p, n, chunk, find, &b) != found ||
		    a.rule != b.rule || a.offset != b.offset ||
		    a.line != b.line)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static ab_content *s;
	content_random r = { 88172645463325252u };
	char *template, *text;
	size_t n;

	if (!s)
		s = ab_content_new();
	if (!s || size < 2)
		return 0;
	compare(s, data, size, 1 + data[0] + 64 * (size_t)data[1]);
	if (size > 4096)
		return 0;
	template = ab_memdup0(data, size);
	text = template ? content_text(&r, template, &n) : NULL;
	if (text)
		compare(s, (const uint8_t *)text, n,
			1 + data[0] + 64 * (size_t)data[1]);
	free(text);
	free(template);
	return 0;
}
