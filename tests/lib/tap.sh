# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by shell tests: TAP with counting. End with tap_done.
tap_n=0 tap_status=0
ok() { # name
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1"
}
not_ok() { # name detail
	tap_n=$((tap_n + 1)) tap_status=1
	echo "not ok $tap_n - $1"
	printf '%s\n' "$2" | sed 's/^/# /'
}
# The missing kernel feature or program by name.
skip() { # name reason
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}
skip_all() { # reason
	echo "1..0 # SKIP $1"
	exit 77
}
tap_done() {
	echo "1..$tap_n"
	exit $tap_status
}
