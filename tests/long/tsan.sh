#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The whole suite under ThreadSanitizer.
. "$AB_TEST_SRCDIR/tests/long/rebuild.sh"
rebuild tsan --enable-tsan
suite "the suite is silent under ThreadSanitizer"
