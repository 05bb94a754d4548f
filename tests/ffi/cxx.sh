#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The public interface from C++, against the installed headers and library.
. "$AB_TEST_SRCDIR/tests/ffi/ffi.sh"
cxx=$(command -v g++ || command -v clang++) ||
	skip_all "neither g++ nor clang++ is installed"

for std in c++98 c++20; do
	ffi_build "c++: compiles as $std" "$cxx" -std=$std -Wall -Wextra \
		-Werror -pedantic -Wno-long-long -I"$FFI_INCLUDE" \
		"$FFI_SRC/smoke.cc" -o "$TMPDIR/smoke" \
		-L"$AB_TEST_STAGE_LIBDIR" -lagentbox
	ffi_run "c++: $std" "$TMPDIR/smoke"
done
ffi_mutant "c++" "$TMPDIR/smoke"
tap_done
