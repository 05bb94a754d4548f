# SPDX-License-Identifier: LGPL-2.1-or-later
# agentbox-git: the same program as agentbox-copy with another reader, one of
# commits. The only one that links libgit2 and zlib.
pkglibexec_PROGRAMS += libexec/agentbox-git
libexec_agentbox_git_SOURCES = \
	libexec/git/build.c libexec/git/build.h \
	libexec/git/delta.c \
	libexec/git/emit.c libexec/git/emit.h \
	libexec/git/odb.c libexec/git/odb.h \
	libexec/git/out.c libexec/git/out.h \
	libexec/git/pack.c libexec/git/pack.h \
	libexec/git/place.c libexec/git/place.h \
	libexec/git/reader.c \
	libexec/git/sha1.c libexec/git/sha1.h \
	libexec/git/sides.c libexec/git/sides.h \
	libexec/git/store.c libexec/git/store.h \
	libexec/copy/finish.c libexec/copy/finish.h \
	libexec/copy/inodes.c \
	libexec/copy/job.h \
	libexec/copy/levels.c libexec/copy/levels.h \
	libexec/copy/main.c \
	libexec/copy/publish.c \
	libexec/copy/scrub.c \
	libexec/copy/remove.c \
	libexec/copy/rights.c \
	libexec/copy/scout.c \
	libexec/copy/spare.c libexec/copy/spare.h \
	libexec/copy/ring.c libexec/copy/ring.h \
	libexec/copy/staging.c libexec/copy/staging.h \
	libexec/copy/supervise.c libexec/copy/supervise.h \
	libexec/copy/tree.h \
	libexec/copy/walk.c \
	libexec/copy/words.c \
	libexec/copy/writer.c \
	$(HELPER_FILES) $(CONFINE_FILES)
nodist_libexec_agentbox_git_SOURCES = build-id.h
libexec_agentbox_git_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/libexec/copy \
	-I$(top_srcdir)/libexec/git
libexec_agentbox_git_CFLAGS = $(AM_CFLAGS) $(DEP_CFLAGS) $(LIBGIT2_CFLAGS) \
	$(ZLIB_CFLAGS)
libexec_agentbox_git_LDADD = $(PUBLIC_LIBS) $(LIBSODIUM_LIBS) \
	$(LIBGIT2_LIBS) $(ZLIB_LIBS)
libexec_agentbox_git_LDFLAGS = $(AM_LDFLAGS) -static -Wl,--as-needed
