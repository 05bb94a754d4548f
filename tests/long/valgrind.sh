#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every unit test program under valgrind, in one process so that it sees all.
if ! command -v valgrind >/dev/null; then
	echo "1..0 # SKIP valgrind not installed"
	exit 77
fi
unset CK_TAP_LOG_FILE_NAME
n=0 status=0
for program in $AB_TEST_UNIT; do
	n=$((n + 1))
	# fds and memory at exit: Check itself keeps a little reachable
	if CK_FORK=no CK_TIMEOUT_MULTIPLIER=30 valgrind -q --error-exitcode=9 \
		--leak-check=full --errors-for-leak-kinds=definite,indirect \
		--log-file=valgrind.log "$AB_TEST_BUILDDIR/$program" >out.log 2>&1; then
		echo "ok $n - ${program##*/}"
	elif grep -q 'unhandled .* syscall' valgrind.log; then
		# what follows a refused pidfd_open is not the program's doing
		nr=$(sed -n 's/.*unhandled .* syscall: //p' valgrind.log | head -1)
		echo "ok $n - ${program##*/} # SKIP valgrind lacks system call $nr"
	else
		echo "not ok $n - ${program##*/}"
		sed 's/^/# /' valgrind.log out.log
		status=1
	fi
done
echo "1..$n"
exit $status
