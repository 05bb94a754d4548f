# SPDX-License-Identifier: LGPL-2.1-or-later
# Raw use of the shared library from other languages; exit 77 when the
# toolchain is missing:   FFI_TESTS += tests/ffi/x.sh
# AB_TEST_STAGE_LIBDIR holds libagentbox.so.1. Every script sources ffi.sh.
FFI_TESTS += \
	tests/ffi/cxx.sh \
	tests/ffi/demo.sh \
	tests/ffi/examples.sh \
	tests/ffi/go.sh \
	tests/ffi/mcp.sh \
	tests/ffi/node.sh \
	tests/ffi/python.sh \
	tests/ffi/rust.sh
if HAVE_GATEWAY
FFI_TESTS += tests/ffi/clients.sh
endif
