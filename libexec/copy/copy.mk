# SPDX-License-Identifier: LGPL-2.1-or-later
# agentbox-copy: one job on a tree. Linked with the static libagentbox, of
# which it takes what it uses: the filter and the content scan are the
# library's own.
pkglibexec_PROGRAMS += libexec/agentbox-copy
libexec_agentbox_copy_SOURCES = \
	libexec/copy/compare.c \
	libexec/copy/file.c \
	libexec/copy/inodes.c \
	libexec/copy/job.h \
	libexec/copy/main.c \
	libexec/copy/publish.c \
	libexec/copy/reader.c libexec/copy/reading.h \
	libexec/copy/rights.c \
	libexec/copy/ring.c libexec/copy/ring.h \
	libexec/copy/staging.c libexec/copy/staging.h \
	libexec/copy/supervise.c libexec/copy/supervise.h \
	libexec/copy/tree.h \
	libexec/copy/verify.c \
	libexec/copy/walk.c \
	libexec/copy/words.c \
	libexec/copy/writer.c
nodist_libexec_agentbox_copy_SOURCES = build-id.h
libexec_agentbox_copy_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/libexec/copy
libexec_agentbox_copy_CFLAGS = $(AM_CFLAGS) $(DEP_CFLAGS)
libexec_agentbox_copy_LDADD = $(PUBLIC_LIBS) $(LIBSODIUM_LIBS)
libexec_agentbox_copy_LDFLAGS = $(AM_LDFLAGS) -static -Wl,--as-needed
