# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests of audit. Each program is five lines (see tests/lib/abtest.h):
#   check_PROGRAMS += tests/unit/audit_x
#   UNIT_TESTS += tests/unit/audit_x
#   tests_unit_audit_x_SOURCES = tests/unit/audit_x.c
#   tests_unit_audit_x_CPPFLAGS = $(UNIT_CPPFLAGS)
#   tests_unit_audit_x_CFLAGS = $(UNIT_CFLAGS)
# It links libagentbox-internal.la, the leak checker and Check by default.
check_PROGRAMS += tests/unit/audit
UNIT_TESTS += tests/unit/audit
tests_unit_audit_SOURCES = tests/unit/audit.c tests/unit/audit_help.h
tests_unit_audit_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_audit_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/audit_internal
UNIT_TESTS += tests/unit/audit_internal
tests_unit_audit_internal_SOURCES = tests/unit/audit_internal.c \
	tests/unit/audit_help.h
tests_unit_audit_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_audit_internal_CFLAGS = $(UNIT_CFLAGS)
EXTRA_DIST += tests/data/audit-vectors.jsonl tests/data/audit-check.py

check_PROGRAMS += tests/unit/audit_forged_internal
UNIT_TESTS += tests/unit/audit_forged_internal
tests_unit_audit_forged_internal_SOURCES = \
	tests/unit/audit_forged_internal.c tests/unit/audit_help.h
tests_unit_audit_forged_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_audit_forged_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/audit_space
UNIT_TESTS += tests/unit/audit_space
tests_unit_audit_space_SOURCES = tests/unit/audit_space.c \
	tests/unit/audit_help.h
tests_unit_audit_space_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_audit_space_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/audit_redact
UNIT_TESTS += tests/unit/audit_redact
tests_unit_audit_redact_SOURCES = tests/unit/audit_redact.c \
	tests/unit/audit_help.h
tests_unit_audit_redact_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_audit_redact_CFLAGS = $(UNIT_CFLAGS)
EXTRA_DIST += tests/data/audit-redact.jsonl
