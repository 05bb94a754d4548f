#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The reference client and servers of the Model Context Protocol through
# agentbox mcp-guard; npm fetches them into the build directory (or, where
# that is somebody else's, a private one).
. "$AB_TEST_SRCDIR/tests/ffi/ffi.sh"
command -v node >/dev/null || skip_all "node is not installed"
node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' ||
	skip_all "node is older than 20"
mcp=$AB_TEST_BUILDDIR/tests/ffi/mcp
if [ ! -e "$mcp/whole" ]; then
	command -v npm >/dev/null || skip_all "npm is not installed"
	mkdir -p "$mcp" 2>/dev/null && [ -w "$mcp" ] || mcp=$TMPDIR/mcp
	mkdir -p "$mcp"
	timeout 120 npm install --prefix "$mcp" --cache "$TMPDIR/npm" \
		--no-audit --no-fund --no-update-notifier --ignore-scripts \
		--silent @modelcontextprotocol/sdk@1.32.2 \
		@modelcontextprotocol/server-everything@2026.8.31 \
		@modelcontextprotocol/server-filesystem@2026.8.31 \
		>"$TMPDIR/npm.log" 2>&1 && : >"$mcp/whole" ||
		skip_all "the npm registry does not give the MCP packages"
	chmod -R go+rX "$mcp"
fi
# a module is looked for beside the script that names it
run_mcp() { # wanted
	rm -rf "$TMPDIR/run"
	mkdir -p "$TMPDIR/run"
	cp "$FFI_SRC/mcp.mjs" "$TMPDIR/run/"
	ln -s "$mcp/node_modules" "$TMPDIR/run/node_modules"
	timeout 120 node "$TMPDIR/run/mcp.mjs" "$(ab_tool)" \
		"$mcp/node_modules" "$TMPDIR/ws" "$@"
}
ab_tool() {
	printf '%s\n' "${AB_TEST_TOOL:-$AB_TEST_STAGE_BINDIR/agentbox}"
}

ffi_run "reference client and servers through mcp-guard" run_mcp
case $mcp:$TMPDIR in
/dev/*|*:/dev/*) boxed="a box has its own /dev, and this lies there" ;;
*) boxed= ;;
esac
if [ -n "$boxed" ]; then
	skip "the same with a server in a box" "$boxed"
elif "$(ab_tool)" run --helper-dir "$AB_TEST_HELPER_DIR" \
	--workspace "$TMPDIR/ws" -- true 2>"$TMPDIR/run.log"
then
	BOXED=1
	export BOXED
	ffi_run "the same with a server in a box" run_mcp
else
	skip "the same with a server in a box" "$(head -n 1 "$TMPDIR/run.log")"
fi
ffi_mutant "reference client and servers" run_mcp
tap_done
