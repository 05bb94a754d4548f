# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/snapshot. Append, e.g.:
#   libagentbox_la_SOURCES += lib/snapshot/x.c lib/snapshot/x.h
# Public headers in include/agentbox/ are picked up by themselves.
# The content scan, which helpers compile as well.
CONTENT_FILES = \
	lib/snapshot/content.c lib/snapshot/content.h \
	lib/snapshot/content_anchor.c \
	lib/snapshot/content_assign.c \
	lib/snapshot/content_call.c \
	lib/snapshot/content_command.c \
	lib/snapshot/content_config.c \
	lib/snapshot/content_cookie.c \
	lib/snapshot/content_digits.c \
	lib/snapshot/content_escape.c \
	lib/snapshot/content_internal.h \
	lib/snapshot/content_key.c \
	lib/snapshot/content_lines.c \
	lib/snapshot/content_login.c \
	lib/snapshot/content_made.c \
	lib/snapshot/content_name.c \
	lib/snapshot/content_param.c \
	lib/snapshot/content_rules.c \
	lib/snapshot/content_shape.c \
	lib/snapshot/content_table.c \
	lib/snapshot/content_text.c \
	lib/snapshot/content_value.c \
	lib/snapshot/content_vector.c

libagentbox_la_SOURCES += \
	$(CONTENT_FILES)

libagentbox_la_SOURCES += \
	lib/snapshot/line.c lib/snapshot/line.h \
	lib/snapshot/manifest.c lib/snapshot/manifest.h \
	lib/snapshot/record.c lib/snapshot/record.h \
	lib/snapshot/report.c lib/snapshot/report.h

libagentbox_la_SOURCES += \
	lib/snapshot/filter.c lib/snapshot/filter.h \
	lib/snapshot/filter_new.c lib/snapshot/internal.h \
	lib/snapshot/fold.c lib/snapshot/fold.h \
	lib/snapshot/match.c lib/snapshot/match.h \
	lib/snapshot/names.c lib/snapshot/names.h \
	lib/snapshot/pattern.c lib/snapshot/pattern.h \
	lib/snapshot/place.c lib/snapshot/place.h \
	lib/snapshot/proof.c

libagentbox_la_SOURCES += \
	lib/snapshot/archive.c \
	lib/snapshot/copy.c \
	lib/snapshot/describe.c \
	lib/snapshot/job.c lib/snapshot/job.h \
	lib/snapshot/options.c \
	lib/snapshot/repository.c \
	lib/snapshot/snapshot.h
