/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A page that says who made it: base/fork_mark.h. */
#include "config.h"

#include "base/fork_mark.h"

#include <errno.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096 /* the kernel rounds up */

/* madvise(2): MADV_WIPEONFORK, since Linux 4.14. Emulators are known to say
   yes to any advice and to do nothing; no kernel takes this one. */
static bool empties_in_children(void *page)
{
	return madvise(page, PAGE_BYTES, -1) < 0 &&
	       madvise(page, PAGE_BYTES, MADV_WIPEONFORK) == 0;
}

void ab_fork_mark_init(struct ab_fork_mark *m)
{
	int saved = errno;
	void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	m->pid = getpid();
	m->page = NULL;
	if (page != MAP_FAILED && empties_in_children(page)) {
		m->page = page;
		*m->page = 1;
	} else if (page != MAP_FAILED) {
		munmap(page, PAGE_BYTES);
	}
	errno = saved;
}

void ab_fork_mark_end(struct ab_fork_mark *m)
{
	int saved = errno;

	if (m->page)
		munmap((void *)(uintptr_t)m->page, PAGE_BYTES);
	*m = (struct ab_fork_mark){ 0 };
	errno = saved;
}
