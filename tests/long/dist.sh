#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make distcheck: the tarball builds outside its tree, which is read-only,
# passes the suite, installs, uninstalls and cleans up after itself.
. "$AB_TEST_SRCDIR/tests/long/rebuild.sh"
unset CK_TAP_LOG_FILE_NAME
rebuild dist
if make -C "$tree" -s -j2 distcheck RUNFLAGS='--timeout 3600' \
	>"$log" 2>&1; then
	grep '^skipped:' "$log"
	echo "ok 1 - make distcheck: $(grep ' passed, ' "$log" | head -n 1)"
else
	tail -n 200 "$log"
	echo "not ok 1 - make distcheck"
	exit 1
fi
