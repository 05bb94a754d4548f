# SPDX-License-Identifier: LGPL-2.1-or-later
# agentbox-verify: runs in boxes, where there may be no library: static and
# libc only, as agentbox-init.
pkglibexec_PROGRAMS += libexec/agentbox-verify
libexec_agentbox_verify_SOURCES = \
	libexec/verify/files.c \
	libexec/verify/kernel.c \
	libexec/verify/main.c \
	libexec/verify/network.c \
	libexec/verify/probe.h
nodist_libexec_agentbox_verify_SOURCES = build-id.h
libexec_agentbox_verify_CPPFLAGS = $(INIT_CPPFLAGS) \
	-I$(top_srcdir)/libexec/verify
libexec_agentbox_verify_CFLAGS = $(INIT_CFLAGS)
libexec_agentbox_verify_LDADD = $(MUSL_END)
libexec_agentbox_verify_LINK = $(INIT_LINK)
