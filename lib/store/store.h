/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What outlives a process: one SQLite file in the state directory, shared by
 * every host of one user (sqlite.org: "Atomic Commit In SQLite"). A decision
 * that has to hold against other hosts is made inside ab_store_begin() and
 * ab_store_commit(): one at a time, on the whole file.
 *
 * A handle belongs to one thread at a time and to the process that opened it:
 * SQLite's locks do not survive a fork (AGENTBOX_EFORKED).
 */
#ifndef AB_STORE_STORE_H
#define AB_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/base.h"
#include "base/attr.h"

#define AB_STORE_NAME "store.db"

typedef struct ab_store ab_store;

/*
 * Opens, and makes or migrates it. Errors: those of the state directory;
 * EUNSUPPORTED for a file of a later version; EBUSY when others hold it for
 * five seconds; ETAMPERED when it is no store of ours; ESYS with SQLite's
 * words.
 */
int32_t ab_store_open(agentbox_context *context, ab_store **out,
		      agentbox_error **err);
void ab_store_close(ab_store *store);
AB_DEFINE_AUTO(ab_store, ab_store_close)

/* A write transaction; nothing else writes until it ends. */
int32_t ab_store_begin(ab_store *store, agentbox_error **err);
int32_t ab_store_commit(ab_store *store, agentbox_error **err);
/* Ends one that was begun and not committed; else does nothing. */
void ab_store_rollback(ab_store *store);

/*
 * One statement. `types` has one letter per value that follows: 's' a string
 * or NULL, 'i' an int64_t. `row` (may be NULL) is called for each row with
 * the columns as text, NULL for NULL, borrowed for the call; what it returns
 * other than 0 ends the statement and is returned.
 */
typedef int32_t (*ab_store_row)(void *data, const char *const *columns,
				size_t count, agentbox_error **err);
int32_t ab_store_run(ab_store *store, ab_store_row row, void *data,
		     agentbox_error **err, const char *sql, const char *types,
		     ...);
/*
 * Taking back must not need room that others can take: whoever grants calls
 * this first, and grants nothing when it fails (ESYS with ENOSPC). From then
 * on revoking what is there writes where the files have their blocks already,
 * and reading writes nothing at all.
 */
int32_t ab_store_hold_room(ab_store *store, agentbox_error **err);
/* Rows that the last statement changed. */
int64_t ab_store_changes(const ab_store *store);

#endif
