#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What make demo runs: copy the source tree, so that nothing the demo does
# can touch it, give the copy a repository, start the program.
set -eu
: "${AB_TEST_SRCDIR:?run make demo}" "${AB_TEST_BUILDDIR:?}" "${TMPDIR:?}"
work=$TMPDIR/demo
mkdir -p "$work/tree"

# of a build directory inside the tree only the name matters
build=$(basename "$AB_TEST_BUILDDIR")
(cd "$AB_TEST_SRCDIR" && tar -cf - --exclude="./$build" --exclude=./.git \
	--exclude=./build --exclude=./autom4te.cache --exclude=./Makefile .) |
	(cd "$work/tree" && tar -xf -)

# the least git accepts as a repository; git itself need not be here
mkdir -p "$work/tree/.git/hooks" "$work/tree/.git/objects" \
	"$work/tree/.git/refs/heads"
echo 'ref: refs/heads/main' >"$work/tree/.git/HEAD"
printf '[core]\n\trepositoryformatversion = 0\n' >"$work/tree/.git/config"

exec "$AB_TEST_BUILDDIR/examples/demo/demo" "$work" "${AB_TEST_HELPER_DIR-}"
