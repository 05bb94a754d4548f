# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/wire: all of it is libc only and goes into helpers too. The
# message numbers and the plan (box.h, plan.h) belong to the walls.

LIBC_ONLY_FILES += \
	lib/wire/codec.c lib/wire/codec.h \
	lib/wire/message.c lib/wire/message.h

libagentbox_la_SOURCES += \
	lib/wire/codec.c lib/wire/codec.h \
	lib/wire/message.c lib/wire/message.h

LIBC_ONLY_FILES += \
	lib/wire/box.c lib/wire/box.h \
	lib/wire/plan.c lib/wire/plan.h

libagentbox_la_SOURCES += \
	lib/wire/box.c lib/wire/box.h \
	lib/wire/plan.c lib/wire/plan.h

libagentbox_la_SOURCES += \
	lib/wire/copy.c lib/wire/copy.h

libagentbox_la_SOURCES += \
	lib/wire/route.c lib/wire/route.h

libagentbox_la_SOURCES += \
	lib/wire/gateway.c lib/wire/gateway.h

# Every helper names it among its own sources: the library does not have it.
HELPER_FILES = lib/wire/helper.c lib/wire/helper.h \
	lib/wire/schedule.c lib/wire/schedule.h
# What those that are no part of a box raise their own walls with.
CONFINE_FILES = lib/wire/confine.c lib/wire/confine.h

libagentbox_la_SOURCES += \
	lib/wire/shield.c lib/wire/shield.h

LIBC_ONLY_FILES += lib/wire/broker.c lib/wire/broker.h
libagentbox_la_SOURCES += lib/wire/broker.c lib/wire/broker.h

libagentbox_la_SOURCES += lib/wire/provider.c lib/wire/provider.h
