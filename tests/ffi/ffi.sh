# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the tests of this directory. Each language does the same: parse
# a policy (and a wrong one), raise a box, run one command over a pipe and
# one captured, check, free everything. A program ends with 77 and one line
# when this machine can hold no box at all.
. "$AB_TEST_SRCDIR/tests/lib/tap.sh"

[ -x "$AB_TEST_HELPER_DIR/agentbox-init" ] ||
	skip_all "agentbox-init is not installed in the stage"
[ -z "${AB_TEST_SANITIZED-}" ] ||
	skip_all "a sanitized library cannot be loaded by other runtimes"

FFI_SRC=$AB_TEST_SRCDIR/tests/ffi
FFI_LIB=$AB_TEST_STAGE_LIBDIR/libagentbox.so.1
FFI_INCLUDE=$AB_TEST_STAGE${AB_TEST_INCLUDEDIR:-/usr/local/include}

# What a program finds: a workspace with one file in it.
ffi_workspace() {
	rm -rf "$TMPDIR/ws" "$TMPDIR/state"
	mkdir -p "$TMPDIR/ws"
	echo "from the workspace" >"$TMPDIR/ws/file"
}

# Run a program of the scenario; its last line tells why it skips or fails.
ffi_run() { # name command...
	ffi_name=$1
	shift
	ffi_workspace
	ffi_out=$("$@" 2>&1)
	ffi_rc=$?
	case $ffi_rc in
	0) ok "$ffi_name" ;;
	77) skip "$ffi_name" "$(printf '%s\n' "$ffi_out" | tail -n 1)" ;;
	*) not_ok "$ffi_name" "exit status $ffi_rc: $ffi_out" ;;
	esac
}

# The scenario must notice what is wrong: the same with an expectation that
# cannot be met.
ffi_mutant() { # name command...
	ffi_name=$1
	shift
	ffi_workspace
	echo "something else" >"$TMPDIR/ws/file"
	ffi_out=$("$@" 2>&1)
	ffi_rc=$?
	case $ffi_rc in
	0) not_ok "$ffi_name notices a wrong answer" "it did not" ;;
	77) skip "$ffi_name notices a wrong answer" \
		"$(printf '%s\n' "$ffi_out" | tail -n 1)" ;;
	*) ok "$ffi_name notices a wrong answer" ;;
	esac
}

# Compile, or fail with the compiler's words.
ffi_build() { # name command...
	ffi_name=$1
	shift
	if ffi_out=$("$@" 2>&1); then
		ok "$ffi_name"
	else
		not_ok "$ffi_name" "$ffi_out"
		tap_done
	fi
}

# Where a compiled program is kept for the next run, and for an ordinary user
# who cannot reach the toolchain.
ffi_keep() { # program name
	if mkdir -p "$AB_TEST_BUILDDIR/tests/ffi" 2>/dev/null &&
		[ -w "$AB_TEST_BUILDDIR/tests/ffi" ]; then
		cp "$1" "$AB_TEST_BUILDDIR/tests/ffi/$2"
	fi
}

# Copy a kept program that is newer than its source and the headers.
ffi_kept() { # name source target
	ffi_program=$AB_TEST_BUILDDIR/tests/ffi/$1
	[ -x "$ffi_program" ] || return 1
	for ffi_file in "$2" "$AB_TEST_SRCDIR"/include/agentbox/*.h; do
		[ -z "$(find "$ffi_file" -newer "$ffi_program")" ] || return 1
	done
	cp "$ffi_program" "$3"
}
