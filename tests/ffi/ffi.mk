# SPDX-License-Identifier: LGPL-2.1-or-later
# Raw use of the shared library from other languages; exit 77 when the
# toolchain is missing:   FFI_TESTS += tests/ffi/x.sh
# AB_TEST_STAGE_LIBDIR holds libagentbox.so.1.
