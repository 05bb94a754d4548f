# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/audit.
libagentbox_la_SOURCES += lib/audit/audit.c lib/audit/audit.h \
	lib/audit/arguments.c lib/audit/arguments.h \
	lib/audit/canon.c lib/audit/check.c lib/audit/filter.c \
	lib/audit/flood.c lib/audit/internal.h lib/audit/key.c \
	lib/audit/log.c lib/audit/reader.c lib/audit/record.c \
	lib/audit/redact.c lib/audit/resume.c lib/audit/rotate.c \
	lib/audit/scan.c lib/audit/secret_options.c lib/audit/show.c \
	lib/audit/sink.c lib/audit/verify.c
