#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each fuzz target, or those of AB_TEST_FUZZ_ONLY, under libFuzzer for
# AB_TEST_FUZZ_SECONDS (60), from its corpus, two at a time; those that read
# what an agent writes for four times as long, which is ten minutes on two
# cores for them. What is found goes to the test's own directory, never into
# the tree.
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
goals=$targets
rebuild fuzz CC=clang CXX=clang++ --enable-fuzz --enable-asan --enable-ubsan

fuzz() { # target: leaves NAME.good when nothing was found
	name=$(basename "$1")
	time=$seconds
	case $name in
	shell_parse | shell_run | guard_shell | guard_repeat | guard_pack | \
		guard_git | snapshot_archive)
		time=$((seconds * 4)) ;;
	esac
	mkdir -p "$here/new/$name"
	: >"$here/$name.log"
	[ -x "$tree/$1" ] && "$tree/$1" -max_total_time="$time" \
		-timeout=60 -rss_limit_mb=2048 -artifact_prefix="$here/" \
		"$here/new/$name" "$srcdir/tests/fuzz/corpus/$name" \
		>"$here/$name.log" 2>&1 && : >"$here/$name.good"
}

# Every second target, from the first or the second on.
lane() { # 0 or 1
	turn=$1
	for target in $targets; do
		[ $((turn % 2)) = 1 ] || fuzz "$target"
		turn=$((turn + 1))
	done
}

lane 0 &
lane 1
wait
n=0 status=0
for target in $targets; do
	name=$(basename "$target")
	n=$((n + 1))
	if [ -f "$here/$name.good" ]; then
		echo "ok $n - $name: $(grep -c . "$here/$name.log") lines"
	else
		echo "not ok $n - $name"
		tail -n 60 "$here/$name.log" | sed 's/^/# /'
		status=1
	fi
done
echo "1..$n"
exit $status
