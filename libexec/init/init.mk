# SPDX-License-Identifier: LGPL-2.1-or-later
# agentbox-init: static, libc only; lib/ files it shares are compiled again
# with its own flags, without sanitizers and without the library.

pkglibexec_PROGRAMS += libexec/agentbox-init
libexec_agentbox_init_SOURCES = \
	libexec/init/absent.c \
	libexec/init/adopt.c \
	libexec/init/broker.c \
	libexec/init/descent.c \
	libexec/init/dev.c \
	libexec/init/dirs.c \
	libexec/init/end.c \
	libexec/init/exec.c \
	libexec/init/first.c \
	libexec/init/gate.c \
	libexec/init/guard.c \
	libexec/init/holder.c libexec/init/holder.h \
	libexec/init/hunt.c \
	libexec/init/init.h \
	libexec/init/inside.c \
	libexec/init/keyed.c \
	libexec/init/late.c \
	libexec/init/launcher.c \
	libexec/init/left.c \
	libexec/init/life.c \
	libexec/init/limits.c \
	libexec/init/main.c \
	libexec/init/bare.c \
	libexec/init/names.c \
	libexec/init/net.c \
	libexec/init/notice.c \
	libexec/init/pid1.c libexec/init/pid1.h \
	libexec/init/pointers.c \
	libexec/init/protect.c \
	libexec/init/quarantine.c \
	libexec/init/record.c \
	libexec/init/relay.c \
	libexec/init/remount.c \
	libexec/init/report.c \
	libexec/init/resolve.c \
	libexec/init/root.c \
	libexec/init/search.c \
	libexec/init/settle.c \
	libexec/init/sys.h \
	libexec/init/tell.c \
	libexec/init/tree.c \
	libexec/init/userns.c \
	libexec/init/walls.c \
	libexec/init/watch.c libexec/init/watcher.h \
	lib/base/alloc.c lib/base/alloc.h \
	lib/base/attr.c lib/base/attr.h \
	lib/base/clock.c lib/base/clock.h \
	lib/base/fd.c lib/base/fd.h \
	lib/base/limits.h \
	lib/base/processor.c lib/base/processor.h \
	lib/path/glob.c lib/path/glob.h \
	lib/wire/box.c lib/wire/box.h \
	lib/wire/broker.c lib/wire/broker.h \
	lib/wire/codec.c lib/wire/codec.h \
	$(HELPER_FILES) \
	lib/wire/message.c lib/wire/message.h \
	lib/wire/plan.c lib/wire/plan.h
nodist_libexec_agentbox_init_SOURCES = build-id.h
libexec_agentbox_init_CPPFLAGS = $(INIT_CPPFLAGS) -I$(top_srcdir)/libexec/init
libexec_agentbox_init_CFLAGS = $(INIT_CFLAGS)
libexec_agentbox_init_LDADD = $(MUSL_END)
# keyed.c in the place of libc's functions of these names
INIT_WRAP = -Wl,--wrap=open -Wl,--wrap=openat -Wl,--wrap=mkdirat \
	-Wl,--wrap=mknodat -Wl,--wrap=symlinkat -Wl,--wrap=unlinkat \
	-Wl,--wrap=rmdir -Wl,--wrap=bind
libexec_agentbox_init_LINK = $(INIT_LINK) $(INIT_WRAP)

# Its tests, with a driver of their own: tests/unit/init_harness.h.
check_PROGRAMS += tests/unit/init_driver_internal \
	tests/unit/init_protect_internal
UNIT_TESTS += tests/unit/init_driver_internal tests/unit/init_protect_internal
tests_unit_init_driver_internal_SOURCES = \
	tests/unit/init_driver_internal.c \
	tests/unit/init_harness.c tests/unit/init_harness.h
nodist_tests_unit_init_driver_internal_SOURCES = build-id.h
tests_unit_init_driver_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_init_driver_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_init_protect_internal_SOURCES = \
	tests/unit/init_protect_internal.c \
	tests/unit/init_harness.c tests/unit/init_harness.h
nodist_tests_unit_init_protect_internal_SOURCES = build-id.h
tests_unit_init_protect_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_init_protect_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/init_late_internal
UNIT_TESTS += tests/unit/init_late_internal
tests_unit_init_late_internal_SOURCES = \
	tests/unit/init_late_internal.c \
	tests/unit/init_harness.c tests/unit/init_harness.h
nodist_tests_unit_init_late_internal_SOURCES = build-id.h
tests_unit_init_late_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_init_late_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/init_first_internal
UNIT_TESTS += tests/unit/init_first_internal
tests_unit_init_first_internal_SOURCES = \
	tests/unit/init_first_internal.c \
	tests/unit/init_harness.c tests/unit/init_harness.h
nodist_tests_unit_init_first_internal_SOURCES = build-id.h
tests_unit_init_first_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_init_first_internal_CFLAGS = $(UNIT_CFLAGS)

# Its parts, with a clock and with neighbours of the test's own.
check_PROGRAMS += tests/unit/init_settle_internal
UNIT_TESTS += tests/unit/init_settle_internal
tests_unit_init_settle_internal_SOURCES = \
	tests/unit/init_settle_internal.c \
	tests/unit/init_neighbours.c tests/unit/init_neighbours.h \
	libexec/init/adopt.c libexec/init/inside.c \
	libexec/init/remount.c libexec/init/search.c \
	libexec/init/settle.c \
	libexec/init/sys.h libexec/init/watcher.h
tests_unit_init_settle_internal_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/libexec/init -Dab_clock_boot_ns=faked_clock_boot_ns
tests_unit_init_settle_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/init_watch_internal
UNIT_TESTS += tests/unit/init_watch_internal
tests_unit_init_watch_internal_SOURCES = \
	tests/unit/init_watch_internal.c \
	tests/unit/init_neighbours.c tests/unit/init_neighbours.h \
	libexec/init/dirs.c libexec/init/search.c \
	libexec/init/settle.c libexec/init/watch.c \
	libexec/init/sys.h libexec/init/watcher.h
tests_unit_init_watch_internal_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/libexec/init -Dab_clock_boot_ns=faked_clock_boot_ns
tests_unit_init_watch_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/init_absent_internal
UNIT_TESTS += tests/unit/init_absent_internal
tests_unit_init_absent_internal_SOURCES = \
	tests/unit/init_absent_internal.c libexec/init/absent.c \
	libexec/init/watcher.h
tests_unit_init_absent_internal_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/libexec/init
tests_unit_init_absent_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/init_end_internal
UNIT_TESTS += tests/unit/init_end_internal
tests_unit_init_end_internal_SOURCES = \
	tests/unit/init_end_internal.c libexec/init/end.c \
	libexec/init/holder.h libexec/init/sys.h
tests_unit_init_end_internal_CPPFLAGS = $(UNIT_CPPFLAGS) \
	-I$(top_srcdir)/libexec/init -D_exit=faked_exit
tests_unit_init_end_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/init_lacks_internal
UNIT_TESTS += tests/unit/init_lacks_internal
tests_unit_init_lacks_internal_SOURCES = \
	tests/unit/init_lacks_internal.c \
	tests/unit/init_harness.c tests/unit/init_harness.h
nodist_tests_unit_init_lacks_internal_SOURCES = build-id.h
tests_unit_init_lacks_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_init_lacks_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/unit/plan_internal tests/unit/boxmsg_internal
UNIT_TESTS += tests/unit/plan_internal tests/unit/boxmsg_internal
tests_unit_plan_internal_SOURCES = tests/unit/plan_internal.c
tests_unit_plan_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_plan_internal_CFLAGS = $(UNIT_CFLAGS)
tests_unit_boxmsg_internal_SOURCES = tests/unit/boxmsg_internal.c
tests_unit_boxmsg_internal_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_boxmsg_internal_CFLAGS = $(UNIT_CFLAGS)

check_PROGRAMS += tests/fuzz/plan tests/fuzz/control
FUZZ_TARGETS += tests/fuzz/plan tests/fuzz/control
# Of the library only what it reads: the demo builds it inside its box.
tests_fuzz_plan_SOURCES = tests/fuzz/plan.c $(FUZZ_MAIN) \
	lib/base/alloc.c lib/wire/broker.c lib/wire/codec.c \
	lib/wire/plan.c
tests_fuzz_plan_LDADD = $(LEAK_LDFLAGS) tests/lib/libabtest.a $(CHECK_LIBS)
tests_fuzz_plan_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_plan_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_plan_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
tests_fuzz_control_SOURCES = tests/fuzz/control.c $(FUZZ_MAIN)
tests_fuzz_control_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_fuzz_control_CFLAGS = $(UNIT_CFLAGS)
tests_fuzz_control_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
