# SPDX-License-Identifier: LGPL-2.1-or-later
# agentbox-shield: linked with the static libagentbox, of which it takes the
# checks. Its pure parts have unit tests.
SHIELD_PARTS = \
	libexec/shield/address.c \
	libexec/shield/calls.c \
	libexec/shield/grants.c \
	libexec/shield/memo.c \
	libexec/shield/names.c \
	libexec/shield/parts.h
check_LIBRARIES += tests/lib/libshield.a
tests_lib_libshield_a_SOURCES = $(SHIELD_PARTS)
tests_lib_libshield_a_CPPFLAGS = $(AM_CPPFLAGS) $(FAULT_CPPFLAGS)
tests_lib_libshield_a_CFLAGS = $(AM_CFLAGS)

# The rest but its start: a fuzz target talks to it.
SHIELD_LOOP = \
	libexec/shield/asks.c \
	libexec/shield/control.c \
	libexec/shield/exec.c \
	libexec/shield/notice.c \
	libexec/shield/pages.c \
	libexec/shield/places.c \
	libexec/shield/target.c \
	libexec/shield/state.h

pkglibexec_PROGRAMS += libexec/agentbox-shield
libexec_agentbox_shield_SOURCES = $(SHIELD_PARTS) $(SHIELD_LOOP) \
	libexec/shield/confine.c \
	libexec/shield/main.c \
	libexec/shield/serve.c \
	$(HELPER_FILES) $(CONFINE_FILES)
nodist_libexec_agentbox_shield_SOURCES = build-id.h
libexec_agentbox_shield_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/libexec/shield
libexec_agentbox_shield_CFLAGS = $(AM_CFLAGS) $(DEP_CFLAGS)
libexec_agentbox_shield_LDADD = $(PUBLIC_LIBS) $(JANSSON_LIBS) $(LIBSODIUM_LIBS)
libexec_agentbox_shield_LDFLAGS = $(AM_LDFLAGS) -static -Wl,--as-needed
