#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The wrapper Makefile, over a pretended configure: it configures once, and when
# other flags are given nothing stays that was built with the old ones.
. "$AB_TEST_SRCDIR/tests/lib/tap.sh"
if [ ! -f "$AB_TEST_SRCDIR/.ci/packages" ] ||
	! grep -q '^configured:' "$AB_TEST_SRCDIR/Makefile"; then
	skip_all "the wrapper is not in a tarball"
fi
unset MAKEFLAGS MFLAGS MAKELEVEL CONFIGURE_FLAGS
mkdir tree tree/.ci
cp "$AB_TEST_SRCDIR/Makefile" tree/
printf '#!/bin/sh\n' >tree/.ci/install-packages
cat >tree/configure <<'SH'
#!/bin/sh
echo "configure $*" >>../calls
echo 'S["HAVE_CHECK_FALSE"]="#"' >config.status
printf 'all install clean:\n\t@echo $@ >>../calls\n' >Makefile
SH
chmod +x tree/configure tree/.ci/install-packages

# title, the calls that are due, arguments of make
calls() {
	title=$1 want=$2
	shift 2
	rm -f tree/calls
	make -C tree "$@" >out 2>&1
	have=$(tr '\n' ';' <tree/calls)
	[ "$have" = "$want" ] && ok "$title" ||
		not_ok "$title" "$have, not $want: $(cat out)"
}

calls "the first time it configures" "configure -q;all;" all
calls "and then no more" "all;" all
calls "what other flags made is made again" \
	"clean;configure -q --prefix=/x;install;" \
	install CONFIGURE_FLAGS=--prefix=/x
calls "the same flags change nothing" "all;" all CONFIGURE_FLAGS=--prefix=/x
calls "they stay for who gives none" "install;" install
tap_done
