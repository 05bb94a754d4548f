# SPDX-License-Identifier: LGPL-2.1-or-later
# Benchmarks, run by make bench only, built only then:
#   EXTRA_PROGRAMS += tests/bench/x
#   BENCHES += tests/bench/x
#   tests_bench_x_SOURCES = tests/bench/x.c
#   tests_bench_x_LDADD = $(PUBLIC_LIBS)
EXTRA_PROGRAMS += tests/bench/audit
BENCHES += tests/bench/audit
tests_bench_audit_SOURCES = tests/bench/audit.c
tests_bench_audit_LDADD = $(PUBLIC_LIBS)
