/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One directory of the two generations before, name by name: in which of them
 * is a name the same file? The older of the two, the spare one, is to go away
 * in this job; what it shares with the other may move into the next one
 * instead, which costs less than a link there and an unlink here.
 */
#ifndef AB_COPY_SPARE_H
#define AB_COPY_SPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct spare_name {
	uint64_t ino;
	uint32_t at;  /* in spare_dir.text */
	bool is_dir, is_same;
	bool is_due;  /* it belongs to the directory that is being made */
} spare_name;

typedef struct spare_dir {
	spare_name *names; /* owned, sorted; of the generation before */
	size_t count, room, due;
	char *text; /* owned, NUL-terminated each */
	size_t text_len, text_room;
	/* both have the same files, and neither has anything else */
	bool is_whole;
} spare_dir;

/*
 * Both directories, open for reading. False: nothing of the spare one may be
 * taken, and *d is empty. Its memory is used again; `raw` is RAW_SIZE.
 */
bool spare_list(spare_dir *d, int old_fd, int spare_fd, uint8_t *raw);
/* NULL: no such name is the same file in both. */
spare_name *spare_find(const spare_dir *d, const char *name);

static inline const char *spare_text(const spare_dir *d, const spare_name *n)
{
	return d->text + n->at;
}

#endif
