# SPDX-License-Identifier: LGPL-2.1-or-later
# The suite from a release tarball, under sanitizers and under valgrind, and
# the fuzz targets and made programs for some minutes each. These build and
# choose users themselves, so they run once.
CHECK_LONG_ONCE += \
	tests/long/dist.sh \
	tests/long/asan.sh \
	tests/long/tsan.sh \
	tests/long/valgrind.sh \
	tests/long/faults.py \
	tests/long/sound.py \
	tests/long/fuzz.sh
