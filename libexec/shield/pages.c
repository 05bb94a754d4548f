/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one call reads of an exec: the page its argv begins in, that of the
 * file's name, and those that the arguments of the last exec lay in besides.
 * Whoever starts programs puts their words where he put the last ones, so one
 * call has most of what is needed; what costs is the call and each page, not
 * what it copies. A guess that is wrong costs no more than a call that finds
 * nothing: what is not here is read where it lies, by target.c.
 */
#include "config.h"

#include <errno.h>
#include <sys/uio.h>

#include "base/attr.h"
#include "state.h"

static bool has_page(const uint64_t *at, size_t n, uint64_t page)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] == page)
			return true;
	return false;
}

static void want_page(ab_sh_pages *p, uint64_t page)
{
	if (!has_page(p->at, p->count, page))
		p->at[p->count++] = page;
}

void ab_pages_read(const ab_caller *t, uint64_t path, uint64_t argv)
{
	ab_sh_pages *p = &t->sh->pages;
	struct iovec local = { .iov_base = p->bytes };
	struct iovec remote[AB_ARRAY_LEN(p->at)];
	ssize_t got;

	/* a guess comes last: where there is nothing, reading ends */
	p->count = 0;
	want_page(p, path / AB_PAGE);
	if (argv)
		want_page(p, argv / AB_PAGE);
	for (size_t i = 0; i < p->guess_count; i++)
		want_page(p, p->guess[i]);
	for (size_t i = 0; i < p->count; i++)
		remote[i] = (struct iovec){
			(void *)(uintptr_t)(p->at[i] * AB_PAGE), AB_PAGE };
	local.iov_len = p->count * AB_PAGE;
	got = process_vm_readv(t->pid, &local, 1, remote, p->count, 0);
	p->count = got > 0 ? (size_t)got / AB_PAGE : 0;
}

const char *ab_pages_find(const ab_sh *sh, uint64_t address, size_t *left)
{
	const ab_sh_pages *p = &sh->pages;

	for (size_t i = 0; i < p->count; i++) {
		if (p->at[i] != address / AB_PAGE)
			continue;
		*left = AB_PAGE - (size_t)(address % AB_PAGE);
		return p->bytes + (i + 1) * AB_PAGE - *left;
	}
	return NULL;
}

void ab_pages_learn(ab_sh *sh, uint64_t path, uint64_t argv,
		    const uint64_t *at, size_t n)
{
	ab_sh_pages *p = &sh->pages;

	p->guess_count = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t page = at[i] / AB_PAGE;

		if (page == path / AB_PAGE || page == argv / AB_PAGE ||
		    has_page(p->guess, p->guess_count, page))
			continue;
		if (p->guess_count == AB_ARRAY_LEN(p->guess))
			return;
		p->guess[p->guess_count++] = page;
	}
}
