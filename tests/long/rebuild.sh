# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced: rebuild NAME CONFIGURE-OPTION... builds the tree again in
# $AB_TEST_BUILDDIR/long/NAME and leaves the path in $tree. $goals: what of
# it, everything that a suite needs where nothing is said.
rebuild() {
	tree=$AB_TEST_BUILDDIR/long/$1
	shift
	mkdir -p "$tree"
	# The rebuilt suite must find its own things, not this run's.
	unset CK_TAP_LOG_FILE_NAME LD_LIBRARY_PATH MAKEFLAGS MFLAGS MAKELEVEL
	srcdir=$AB_TEST_SRCDIR
	# sanitizers are slow, and slower beside other work: what hangs, hangs
	CK_TIMEOUT_MULTIPLIER=20
	export CK_TIMEOUT_MULTIPLIER
	log=$tree/log
	for name in $(env | sed -n 's/^\(AB_TEST_[A-Z_]*\)=.*/\1/p'); do
		unset "$name"
	done
	if ! { [ -f "$tree/Makefile" ] ||
		(cd "$tree" && "$srcdir/configure" -q "$@"); } >"$log" 2>&1 ||
		! make -C "$tree" build-id.h >>"$log" 2>&1 ||
		! make -C "$tree" -j2 ${goals-check-programs} >>"$log" 2>&1
	then
		tail -n 40 "$log"
		echo "not ok 1 - the tree builds with $*"
		exit 1
	fi
}

# The rebuilt suite without the meta tests, whose subject is the plain build.
suite() { # title
	if make -C "$tree" -s check RUNFLAGS='--timeout 3600' \
		TESTS='$(filter-out meta:%,$(check_suite))' >"$log" 2>&1; then
		grep '^skipped:' "$log"
		echo "ok 1 - $1: $(grep ' passed, ' "$log" | tail -n 1)"
		exit 0
	fi
	cat "$log"
	echo "not ok 1 - $1"
	exit 1
}
