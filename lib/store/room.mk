# SPDX-License-Identifier: LGPL-2.1-or-later
# Sources of lib/store. Append, e.g.:
#   libagentbox_la_SOURCES += lib/store/x.c lib/store/x.h
libagentbox_la_SOURCES += \
	lib/store/store.c lib/store/store.h
