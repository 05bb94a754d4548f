# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/scope.
libagentbox_la_SOURCES += \
	lib/scope/address.c \
	lib/scope/check.c \
	lib/scope/decode.c \
	lib/scope/decode_codes.c \
	lib/scope/decode_escape.c \
	lib/scope/decode_names.c \
	lib/scope/decode_puny.c \
	lib/scope/decode_runs.c \
	lib/scope/decode_sql.c \
	lib/scope/document.c \
	lib/scope/find.c \
	lib/scope/find_place.c \
	lib/scope/hint.c \
	lib/scope/internal.h \
	lib/scope/look.c \
	lib/scope/names.c \
	lib/scope/packed.c \
	lib/scope/pass.c \
	lib/scope/plain.c \
	lib/scope/read.c \
	lib/scope/scope.c \
	lib/scope/shared.c \
	lib/scope/tool.c \
	lib/scope/tool.h \
	lib/scope/words.c
