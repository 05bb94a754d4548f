# SPDX-License-Identifier: LGPL-2.1-or-later
META_TESTS += \
	tests/meta/abi \
	tests/meta/build-id \
	tests/meta/dist \
	tests/meta/exports \
	tests/meta/headers \
	tests/meta/imports \
	tests/meta/installcheck \
	tests/meta/kept \
	tests/meta/layers \
	tests/meta/leak.sh \
	tests/meta/mutant \
	tests/meta/packages.sh \
	tests/meta/runner \
	tests/meta/text \
	tests/meta/verify \
	tests/meta/wrapper.sh
