# SPDX-License-Identifier: LGPL-2.1-or-later
# agentbox-secret: seen in boxes, whatever their root has; static and libc only
# as agentbox-init is.
pkglibexec_PROGRAMS += libexec/agentbox-secret
libexec_agentbox_secret_SOURCES = \
	libexec/secret/git.c libexec/secret/main.c \
	libexec/secret/secret.h \
	lib/base/alloc.c lib/base/alloc.h \
	lib/base/attr.c lib/base/attr.h \
	lib/base/clock.c lib/base/clock.h \
	lib/base/fd.c lib/base/fd.h \
	lib/wire/broker.c lib/wire/broker.h \
	lib/wire/codec.c lib/wire/codec.h \
	lib/wire/message.c lib/wire/message.h
libexec_agentbox_secret_CPPFLAGS = $(INIT_CPPFLAGS)
libexec_agentbox_secret_CFLAGS = $(INIT_CFLAGS)
libexec_agentbox_secret_LDADD = $(MUSL_END)
libexec_agentbox_secret_LINK = $(INIT_LINK)
