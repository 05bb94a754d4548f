#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The whole suite under AddressSanitizer (leaks too) and UBSan.
. "$AB_TEST_SRCDIR/tests/long/rebuild.sh"
rebuild asan --enable-asan --enable-ubsan
# whole stacks for a leak, also through libraries without frame pointers
ASAN_OPTIONS=abort_on_error=0:fast_unwind_on_malloc=0
export ASAN_OPTIONS
suite "the suite is silent under AddressSanitizer and UBSan"
