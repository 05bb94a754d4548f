# SPDX-License-Identifier: LGPL-2.1-or-later
# End-to-end tests: scripts (sh or python3, printing TAP) or programs.
#   E2E_TESTS += tests/e2e/x.sh
# A program is built like a unit test (see tests/unit/base.mk) and listed in
# both check_PROGRAMS and E2E_TESTS; helper programs only in check_PROGRAMS.
# Minutes-long ones: CHECK_LONG_TESTS += tests/e2e/x
# Environment: AB_TEST_SRCDIR AB_TEST_BUILDDIR AB_TEST_HELPER_DIR AB_TEST_TOOL
# TMPDIR (private, writable, removed afterwards), LD_LIBRARY_PATH.
