# SPDX-License-Identifier: LGPL-2.1-or-later
# agentbox-copy: one job on a tree. Linked with the static libagentbox, of
# which it takes what it uses: the filter and the content scan are the
# library's own. agentbox-archive is the same with libarchive, in a program of
# its own: its libraries cost every start 6.5 ms, and only it parses archives.
COPY_FILES_BUT_READER = \
	libexec/copy/finish.c libexec/copy/finish.h \
	libexec/copy/inodes.c \
	libexec/copy/job.h \
	libexec/copy/levels.c libexec/copy/levels.h \
	libexec/copy/main.c \
	libexec/copy/publish.c \
	libexec/copy/remove.c \
	libexec/copy/rights.c \
	libexec/copy/ring.c libexec/copy/ring.h \
	libexec/copy/scout.c \
	libexec/copy/scrub.c \
	libexec/copy/spare.c libexec/copy/spare.h \
	libexec/copy/staging.c libexec/copy/staging.h \
	libexec/copy/supervise.c libexec/copy/supervise.h \
	libexec/copy/tree.h \
	libexec/copy/verify.c \
	libexec/copy/walk.c \
	libexec/copy/words.c \
	libexec/copy/writer.c \
	$(HELPER_FILES) $(CONFINE_FILES)
COPY_FILES = $(COPY_FILES_BUT_READER) \
	libexec/copy/compare.c \
	libexec/copy/file.c \
	libexec/copy/reader.c libexec/copy/reading.h

pkglibexec_PROGRAMS += libexec/agentbox-copy
libexec_agentbox_copy_SOURCES = $(COPY_FILES) libexec/copy/no_archive.c
nodist_libexec_agentbox_copy_SOURCES = build-id.h
libexec_agentbox_copy_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/libexec/copy
libexec_agentbox_copy_CFLAGS = $(AM_CFLAGS) $(DEP_CFLAGS)
libexec_agentbox_copy_LDADD = $(PUBLIC_LIBS) $(LIBSODIUM_LIBS)
libexec_agentbox_copy_LDFLAGS = $(AM_LDFLAGS) -static -Wl,--as-needed

if HAVE_ARCHIVES
pkglibexec_PROGRAMS += libexec/agentbox-archive
libexec_agentbox_archive_SOURCES = $(COPY_FILES) \
	libexec/copy/archive.c libexec/copy/archives.h \
	libexec/copy/archive_in.c \
	libexec/copy/archive_out.c \
	libexec/copy/extract.c \
	libexec/copy/pack.c \
	libexec/copy/parse.c
nodist_libexec_agentbox_archive_SOURCES = build-id.h
libexec_agentbox_archive_CPPFLAGS = $(libexec_agentbox_copy_CPPFLAGS)
libexec_agentbox_archive_CFLAGS = $(AM_CFLAGS) $(DEP_CFLAGS) \
	$(LIBARCHIVE_CFLAGS)
libexec_agentbox_archive_LDADD = $(PUBLIC_LIBS) $(LIBSODIUM_LIBS) \
	$(LIBARCHIVE_LIBS)
libexec_agentbox_archive_LDFLAGS = $(AM_LDFLAGS) -static -Wl,--as-needed
endif
