#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The public interface from Rust: extern "C", rustc alone.
. "$AB_TEST_SRCDIR/tests/ffi/ffi.sh"
if ! ffi_kept smoke-rust "$FFI_SRC/smoke.rs" "$TMPDIR/smoke"; then
	command -v rustc >/dev/null || skip_all "rustc is not installed"
	rustc --version >/dev/null 2>&1 ||
		skip_all "rustc does not start for this user"
	ffi_build "rust: compiles" rustc --edition 2021 -D warnings -L \
		"$AB_TEST_STAGE_LIBDIR" -o "$TMPDIR/smoke" "$FFI_SRC/smoke.rs"
	ffi_keep "$TMPDIR/smoke" smoke-rust
fi
ffi_run "rust: extern" "$TMPDIR/smoke"
ffi_mutant "rust: extern" "$TMPDIR/smoke"
tap_done
