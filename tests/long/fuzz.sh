#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each fuzz target, or those of AB_TEST_FUZZ_ONLY, under libFuzzer for
# AB_TEST_FUZZ_SECONDS (60), from its corpus; what it finds goes to the test's own
# directory, never into the tree.
if ! command -v clang >/dev/null; then
	echo "1..0 # SKIP clang not installed"
	exit 77
fi
seconds=${AB_TEST_FUZZ_SECONDS-60}
here=$PWD
targets=${AB_TEST_FUZZ_ONLY:-$AB_TEST_FUZZ_TARGETS}
if [ -z "$targets" ]; then
	echo "1..0 # SKIP no fuzz targets listed"
	exit 77
fi
. "$AB_TEST_SRCDIR/tests/long/rebuild.sh"
rebuild fuzz CC=clang CXX=clang++ --enable-fuzz --enable-asan --enable-ubsan
n=0 status=0
for target in $targets; do
	name=$(basename "$target")
	corpus=$srcdir/tests/fuzz/corpus/$name
	program=$tree/$target
	n=$((n + 1))
	mkdir -p "$here/new/$name"
	if [ -x "$program" ] && "$program" -max_total_time="$seconds" \
		-timeout=10 -rss_limit_mb=2048 -artifact_prefix="$here/" \
		"$here/new/$name" "$corpus" >"$here/$name.log" 2>&1; then
		echo "ok $n - $name: $(grep -c . "$here/$name.log") lines"
	else
		echo "not ok $n - $name"
		tail -n 60 "$here/$name.log" | sed 's/^/# /'
		status=1
	fi
done
echo "1..$n"
exit $status
