# SPDX-License-Identifier: LGPL-2.1-or-later
# agentbox-init: static, libc only; lib/ files it shares are compiled again
# with its own flags. All helpers are built in libexec/ of the build tree.
#   pkglibexec_PROGRAMS += libexec/agentbox-init
#   libexec_agentbox_init_SOURCES = libexec/init/x.c lib/wire/x.c
#   nodist_libexec_agentbox_init_SOURCES = build-id.h
#   libexec_agentbox_init_CPPFLAGS = $(INIT_CPPFLAGS)
#   libexec_agentbox_init_CFLAGS = $(INIT_CFLAGS)
#   libexec_agentbox_init_LDADD =
#   libexec_agentbox_init_LINK = $(INIT_LINK)
