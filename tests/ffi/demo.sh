#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The demo's program on a small tree: without its build, with every attack.
# Its twin is linked with a policy that leaves the network open: that must
# show, in words and in the exit status.
. "$AB_TEST_SRCDIR/tests/ffi/ffi.sh"
cc=${AB_TEST_CC:-cc}
${cc%% *} --version >/dev/null 2>&1 || skip_all "no C compiler (${cc%% *})"
DEMO=$AB_TEST_SRCDIR/examples/demo

stage_set() { # directory
	mkdir -p "$1/tree/.git/hooks" "$1/tree/.git/objects" \
		"$1/tree/.git/refs/heads" "$1/tree/examples/demo"
	echo 'ref: refs/heads/main' >"$1/tree/.git/HEAD"
	printf '[core]\n\trepositoryformatversion = 0\n' >"$1/tree/.git/config"
	cp "$DEMO/intruder.c" "$1/tree/examples/demo/"
}

cat >"$TMPDIR/mutant.c" <<'C'
#include <agentbox/agentbox.h>
#include <string.h>
#include <stdio.h>
int32_t __real_agentbox_policy_parse(agentbox_context *, const char *, size_t,
				     agentbox_policy **, agentbox_error **);
int32_t __wrap_agentbox_policy_parse(agentbox_context *c, const char *t,
				     size_t n, agentbox_policy **p,
				     agentbox_error **e);
int32_t __wrap_agentbox_policy_parse(agentbox_context *c, const char *t,
				     size_t n, agentbox_policy **p,
				     agentbox_error **e)
{
	char open[8192];

	(void)n;
	snprintf(open, sizeof(open),
		 "{\"network\":{\"mode\":\"host\"},\"require\":[],%s", t + 1);
	return __real_agentbox_policy_parse(c, open, strlen(open), p, e);
}
C
demo_build() { # name flags...
	demo_name=$1
	shift
	ffi_build "$demo_name compiles against the installed headers" \
		$cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror \
		-I"$FFI_INCLUDE" "$DEMO/demo.c" "$DEMO/attacks.c" \
		"$DEMO/facts.c" "$DEMO/screen.c" "$@" -o "$TMPDIR/$demo_name" \
		-L"$AB_TEST_STAGE_LIBDIR" -lagentbox -ljansson
}
demo_build demo
demo_build mutant "$TMPDIR/mutant.c" -Wl,--wrap=agentbox_policy_parse

# make demo comes before Check is installed, and builds a fuzz target's replay
if ${cc%% *} -M -D_GNU_SOURCE -I"$AB_TEST_BUILDDIR" -I"$AB_TEST_SRCDIR" \
	-I"$AB_TEST_SRCDIR/lib" -I"$AB_TEST_SRCDIR/include" \
	-I"$AB_TEST_SRCDIR/tests/lib" "$AB_TEST_SRCDIR/tests/lib/env.c" \
	"$AB_TEST_SRCDIR/tests/lib/leak.c" \
	"$AB_TEST_SRCDIR/tests/lib/torture.c" \
	"$AB_TEST_SRCDIR/tests/lib/fuzz_replay.c" \
	"$AB_TEST_SRCDIR/tests/fuzz/base_json.c" >"$TMPDIR/needs" 2>&1 &&
	! grep -q '/check\.h' "$TMPDIR/needs"; then
	ok "the demo builds without Check"
else
	not_ok "the demo builds without Check" "$(cat "$TMPDIR/needs")"
fi

stage_set "$TMPDIR/work"
"$TMPDIR/demo" "$TMPDIR/work" "$AB_TEST_HELPER_DIR" no-build \
	>"$TMPDIR/out" 2>&1
rc=$?
if [ $rc -eq 0 ]; then
	ok "everything in the demo holds"
else
	not_ok "everything in the demo holds" "$rc: $(cat "$TMPDIR/out")"
fi
if grep -q "the kernel refuses a wall here" "$TMPDIR/out"; then
	skip "every wall stands" \
		"$(grep -m 1 "refuses a wall" "$TMPDIR/out")"
elif grep -qi "not stopped\|nobody knows" "$TMPDIR/out"; then
	not_ok "every wall stands" "$(cat "$TMPDIR/out")"
else
	ok "every wall stands"
fi
if [ "$(awk 'length > 80' "$TMPDIR/out" | wc -l)" -eq 0 ]; then
	ok "no line is longer than 80 columns"
else
	not_ok "no line is longer than 80 columns" \
		"$(awk 'length > 80' "$TMPDIR/out")"
fi
if grep -q "$(printf '\033')" "$TMPDIR/out"; then
	not_ok "no colours in a file" "$(cat "$TMPDIR/out")"
else
	ok "no colours in a file"
fi

stage_set "$TMPDIR/open"
"$TMPDIR/mutant" "$TMPDIR/open" "$AB_TEST_HELPER_DIR" no-build \
	>"$TMPDIR/out" 2>&1
rc=$?
if [ $rc -eq 1 ] && grep -q "127.0.0.1.*NOT STOPPED" "$TMPDIR/out"; then
	ok "an open network shows as NOT STOPPED"
else
	not_ok "an open network shows as NOT STOPPED" \
		"$rc: $(cat "$TMPDIR/out")"
fi
tap_done
