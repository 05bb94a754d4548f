#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The public interface from Node, through koffi, which npm fetches into the
# build directory (or, where that is somebody else's, a private one).
. "$AB_TEST_SRCDIR/tests/ffi/ffi.sh"
command -v node >/dev/null || skip_all "node is not installed"
koffi=$AB_TEST_BUILDDIR/tests/ffi/koffi
if [ ! -d "$koffi/node_modules/koffi" ]; then
	command -v npm >/dev/null || skip_all "npm is not installed"
	mkdir -p "$koffi" 2>/dev/null && [ -w "$koffi" ] ||
		koffi=$TMPDIR/koffi
	mkdir -p "$koffi"
	timeout 90 npm install --prefix "$koffi" --cache "$TMPDIR/npm" \
		--no-audit --no-fund --no-update-notifier --ignore-scripts \
		--silent koffi@2 >"$TMPDIR/npm.log" 2>&1 ||
		skip_all "the npm registry does not give koffi"
	[ -d "$koffi/node_modules/koffi" ] ||
		skip_all "the npm registry does not give koffi"
	chmod -R go+rX "$koffi"
fi
node -e 'require(process.argv[1] + "/node_modules/koffi")' "$koffi" \
	2>/dev/null || skip_all "koffi has no binary for this node"

ffi_run "node: koffi" node "$FFI_SRC/smoke.js" "$FFI_LIB" "$koffi"
rm -f "$TMPDIR/fifo"
ffi_mutant "node: koffi" node "$FFI_SRC/smoke.js" "$FFI_LIB" "$koffi"
tap_done
