#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# .ci/install-packages, against a pretended dpkg and apt: with all packages
# there it starts neither apt nor sudo; it installs exactly what is missing;
# it says so when it cannot.
. "$AB_TEST_SRCDIR/tests/lib/tap.sh"
list=$AB_TEST_SRCDIR/.ci/packages
tool=$AB_TEST_SRCDIR/.ci/install-packages
if [ ! -f "$list" ]; then
	skip_all "the list of packages is not here"
fi
mkdir bin
PATH=$PWD/bin:$PATH
names=$(sed -e '/^#/d' "$list" | awk '{ sub("=.*", "", $1); print $1 }')
fake() { # name body
	printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
}
# every package but $MISSING
fake dpkg-query "for p in $(echo $names); do
	case \" \$MISSING \" in *\" \$p \"*) ;; *) echo \"installed \$p \" ;; esac
done"
fake apt-get 'echo "apt-get $*" >>'"$PWD"'/calls; exit ${APT_STATUS-0}'
fake sudo 'echo sudo >>'"$PWD"'/calls; exec "$@"'

run() { # MISSING GROUP...
	rm -f calls
	MISSING=$1
	export MISSING
	shift
	"$tool" "$@" >out 2>&1
}

bad=$(sed -e '/^#/d' "$list" | awk 'NF < 3 { print }')
[ -z "$bad" ] && ok "every package has a group and a purpose" ||
	not_ok "every package has a group and a purpose" "$bad"

run "" build check bench && [ ! -e calls ] &&
	ok "with everything there apt is not called" ||
	not_ok "with everything there apt is not called" "$(cat out calls)"

run "clang mandoc" build check && grep -q 'install .* clang mandoc$' calls &&
	ok "exactly what is missing is installed" ||
	not_ok "exactly what is missing is installed" "$(cat out calls)"

run "clang" build && [ ! -e calls ] &&
	ok "another group's packages are left alone" ||
	not_ok "another group's packages are left alone" "$(cat out calls)"

APT_STATUS=100
export APT_STATUS
! run "gcc" build &&
	ok "mutant: a needed package that cannot be had is an error" ||
	not_ok "mutant: a needed package that cannot be had is an error" \
		"$(cat out calls)"
run "crun" bench && grep -q 'optional package crun' out &&
	ok "an optional package that cannot be had is named" ||
	not_ok "an optional package that cannot be had is named" \
		"$(cat out calls)"
if [ "$(id -u)" -ne 0 ]; then
	unset APT_STATUS
	run "gcc" build && grep -q sudo calls &&
		ok "an ordinary user goes through sudo" ||
		not_ok "an ordinary user goes through sudo" "$(cat out calls)"
else
	! grep -q sudo calls && ok "root needs no sudo" ||
		not_ok "root needs no sudo" "$(cat calls)"
fi
tap_done
