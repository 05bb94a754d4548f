#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The reference client and servers of the Model Context Protocol through
# agentbox mcp-guard, and over HTTP through the gateway of a box; npm fetches them into the build directory (or, where
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
run_script() { # script wanted
	script=$1
	shift
	rm -rf "$TMPDIR/run"
	mkdir -p "$TMPDIR/run"
	cp "$FFI_SRC/$script" "$FFI_SRC/mcp_cases.mjs" "$TMPDIR/run/"
	ln -s "$mcp/node_modules" "$TMPDIR/run/node_modules"
	timeout 120 node "$TMPDIR/run/$script" "$(ab_tool)" \
		"$mcp/node_modules" "$TMPDIR/ws" "$@"
}
run_mcp() {
	run_script mcp.mjs "$@"
}
run_mcp_http() {
	run_script mcp_http.mjs "$@"
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
echo '{"agentbox": 1, "extends": "builtin:workspace", "network": {
	"mode": "gateway"}}' >"$TMPDIR/gateway.json"
if [ -n "$boxed" ]; then
	skip "client in a box and server over HTTP" "$boxed"
elif ! command -v openssl >/dev/null; then
	skip "client in a box and server over HTTP" "openssl is not installed"
elif "$(ab_tool)" run --helper-dir "$AB_TEST_HELPER_DIR" --policy \
	"$TMPDIR/gateway.json" --workspace "$TMPDIR/ws" -- true \
	2>"$TMPDIR/run.log"
then
	ffi_run "client in a box and server over HTTP" run_mcp_http
	ffi_mutant "client in a box and server over HTTP" run_mcp_http
else
	skip "client in a box and server over HTTP" \
		"$(head -n 1 "$TMPDIR/run.log")"
fi
tap_done
