#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every unit test program under valgrind, each test in a process of its own:
# memory accesses, and leaks at the end of each test. AB_TEST_UNIT names a
# part of them. What valgrind cannot run is listed in valgrind-lacks.
if ! command -v valgrind >/dev/null; then
	echo "1..0 # SKIP valgrind not installed"
	exit 77
fi
unset CK_TAP_LOG_FILE_NAME
if [ -z "$AB_TEST_UNIT" ]; then
	echo "1..0 # AB_TEST_UNIT names no program; make check-long sets it"
	exit 1
fi
here=$AB_TEST_SRCDIR/tests/long
# times are valgrind's own (abtest.h)
AB_TEST_SLOWNESS=50
export AB_TEST_SLOWNESS

run() { # program, multiplier of time limits, valgrind's options
	path=$AB_TEST_BUILDDIR/$1 CK_TIMEOUT_MULTIPLIER=$2
	export CK_TIMEOUT_MULTIPLIER
	shift 2
	: >valgrind.log
	"$here/contain" valgrind -q --error-exitcode=9 \
		--suppressions="$here/valgrind.supp" "$@" \
		--log-file=valgrind.log "$path" >out.log 2>&1
}

lacks() {
	grep -q 'unhandled .* syscall\|VALGRIND INTERNAL ERROR' valgrind.log
}

# What valgrind calls an error begins with ==PID== and its name. It may also
# have died itself, of the pointer in valgrind.supp.
accesses_are_good() {
	! grep '^==[0-9]*== [A-Z]' valgrind.log | grep -qv '== Warning'
}

whole() { # program, what the list says of it
	case $2 in
	"no leaks: "*)	run "$1" 30 --leak-check=no ;;
	*)	run "$1" 30 --leak-check=full \
			--errors-for-leak-kinds=definite,indirect ;;
	esac
}

n=0 status=0
for program in $AB_TEST_UNIT; do
	n=$((n + 1))
	name=${program##*/}
	reason=$(sed -n "s/^$name	//p" "$here/valgrind-lacks")
	if [ -n "${reason##no leaks: *}" ] && { run "$program" 5; lacks; } &&
		accesses_are_good; then
		echo "ok $n - $name: accesses only, valgrind lacks $reason"
	elif whole "$program" "$reason"; then
		echo "ok $n - $name${reason:+: $reason}"
	else
		echo "not ok $n - $name"
		lacks && echo "# should it be listed in valgrind-lacks?"
		sed 's/^/# /' valgrind.log out.log
		status=1
	fi
done
echo "1..$n"
exit $status
