#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The public interface from Python, through ctypes and nothing else.
. "$AB_TEST_SRCDIR/tests/ffi/ffi.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"
python3 -c 'import ctypes' 2>/dev/null ||
	skip_all "this python3 has no ctypes"

ffi_run "python: ctypes" python3 -B "$FFI_SRC/smoke.py" "$FFI_LIB"
ffi_mutant "python: ctypes" python3 -B "$FFI_SRC/smoke.py" "$FFI_LIB"
tap_done
