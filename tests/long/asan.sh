#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The whole suite under AddressSanitizer (leaks too) and UBSan.
. "$AB_TEST_SRCDIR/tests/long/rebuild.sh"
rebuild asan --enable-asan --enable-ubsan
suite "the suite is silent under AddressSanitizer and UBSan"
