#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The leak checker fails a program that leaks, for each kind of leak, and only
# then.
. "$AB_TEST_SRCDIR/tests/lib/tap.sh"
unset CK_TAP_LOG_FILE_NAME
leaky=$AB_TEST_BUILDDIR/tests/lib/leaky

expect() { # name status text command...
	name=$1 want=$2 text=$3
	shift 3
	out=$("$@" 2>&1)
	rc=$?
	case $out in
	*"$text"*)	found=1 ;;
	*)		found=0 ;;
	esac
	if [ "$rc" = "$want" ] && [ $found = 1 ]; then
		ok "$name"
	else
		not_ok "$name" "status $rc, not $want: $out"
	fi
}

expect "a clean program passes" 0 "" "$leaky" clean
expect "its own failure is kept" 3 "" "$leaky" fail
expect "a child that ends in time is no leak" 0 "" "$leaky" brief
expect "mutant: a leaked descriptor" 99 "leaked fd" "$leaky" fd
expect "mutant: a leaked child" 99 "leaked a living child" "$leaky" child
expect "mutant: a leaked daemon" 99 "leaked a living child" "$leaky" daemon
expect "mutant: a leak in a forked test" 1 "leaked fd" "$leaky" fixture
if unshare -Urm true 2>/dev/null; then
	expect "mutant: a leaked mount" 99 "leaked mount" \
		unshare -Urm "$leaky" mount
else
	skip "mutant: a leaked mount" "no user namespaces"
fi
tap_done
