# SPDX-License-Identifier: LGPL-2.1-or-later
# agentbox-keeper: a host program over the public headers. Linked with the
# static libagentbox (-static is libtool's: ours only), so that it is a real
# program in the build tree and always of the library's build.
pkglibexec_PROGRAMS += libexec/agentbox-keeper
libexec_agentbox_keeper_SOURCES = libexec/keeper/keeper.c
libexec_agentbox_keeper_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
libexec_agentbox_keeper_LDADD = $(PUBLIC_LIBS) $(JANSSON_LIBS)
libexec_agentbox_keeper_LDFLAGS = $(AM_LDFLAGS) -static
