#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The whole suite under ThreadSanitizer, and the minute of 64 threads.
. "$AB_TEST_SRCDIR/tests/long/rebuild.sh"
rebuild tsan --enable-tsan
if make -C "$tree" -s check-some RUNFLAGS='--timeout 900 --as-is' \
	TESTS=long:tests/e2e/long_runs >"$log" 2>&1; then
	echo "ok 2 - 64 threads in 16 boxes are silent under ThreadSanitizer"
else
	cat "$log"
	echo "not ok 2 - 64 threads in 16 boxes are silent under ThreadSanitizer"
fi
suite "the suite is silent under ThreadSanitizer"
