# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/gateway.
libagentbox_la_SOURCES += \
	lib/gateway/ask.c \
	lib/gateway/broker.c \
	lib/gateway/environment.c \
	lib/gateway/gateway.c \
	lib/gateway/gateway.h \
	lib/gateway/internal.h \
	lib/gateway/preview.c \
	lib/gateway/program.c \
	lib/gateway/request.c lib/gateway/routes.c \
	lib/gateway/secret.c \
	lib/gateway/start.c lib/gateway/tools.c
