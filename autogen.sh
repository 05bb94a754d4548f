#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Make configure from a checkout. Two builds of one tree may ask at once.
set -eu
cd "$(dirname "$0")"
if [ "${AB_AUTOGEN_LOCKED-}" != 1 ] && command -v flock >/dev/null; then
	AB_AUTOGEN_LOCKED=1 exec flock configure.ac "$0" "$@"
fi
mkdir -p m4 build-aux
# autoreconf fetches libtool's macros after its first pass, and takes what it
# remembers of that pass for the present when both fall into one second: the
# tarball would lack them. So they are there before it starts.
rm -rf autom4te.cache
libtoolize --copy --quiet
exec autoreconf --install "$@"
