# SPDX-License-Identifier: LGPL-2.1-or-later
# agentbox-provider: libc only; it looks up who we are, so libc is not static.
# For tests: who owns what, and where links lead, is a table of theirs.
check_LIBRARIES += tests/lib/libprovider.a
tests_lib_libprovider_a_SOURCES = libexec/provider/trust.c \
	libexec/provider/provider.h tests/lib/no_fortify.h
tests_lib_libprovider_a_CPPFLAGS = $(AM_CPPFLAGS) \
	-include $(top_srcdir)/tests/lib/no_fortify.h \
	-Dlstat=fake_lstat -Dfstatat=fake_fstatat \
	-Dreadlink=fake_readlink -Dopendir=fake_opendir \
	-Dab_fd_next=fake_next -Ddirfd=fake_dirfd -Dclosedir=fake_closedir
tests_lib_libprovider_a_CFLAGS = $(AM_CFLAGS)

pkglibexec_PROGRAMS += libexec/agentbox-provider
libexec_agentbox_provider_SOURCES = \
	libexec/provider/main.c libexec/provider/origin.c \
	libexec/provider/provider.h \
	libexec/provider/run.c libexec/provider/trust.c \
	lib/wire/provider.c lib/wire/provider.h \
	$(HELPER_FILES) $(LIBC_ONLY_FILES)
nodist_libexec_agentbox_provider_SOURCES = build-id.h
libexec_agentbox_provider_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/libexec/provider
libexec_agentbox_provider_CFLAGS = $(AM_CFLAGS)
# nothing; the default is what tests are linked with
libexec_agentbox_provider_LDADD =
libexec_agentbox_provider_LDFLAGS = $(AM_LDFLAGS) -Wl,--as-needed
