# agentbox: wrapper around a build in build/. Tarballs do not have this file.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   make, demo, check, check-long, check-lists, bench, install, distcheck, clean
#
# Missing Debian packages are installed first (.ci/packages); when all are
# there, apt is not called. CONFIGURE_FLAGS="..." configures anew.

BUILD ?= build
CONFIGURE_FLAGS ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
PACKAGES = build
SUB = $(MAKE) --no-print-directory -C $(BUILD) -j$(JOBS)

all:
	@$(SUB) all
check check-long check-lists distcheck abi-update: \
	PACKAGES = build check
bench: PACKAGES = build check bench
demo bench:
	@$(SUB) -s all
	@$(SUB) -s $@
# The count is the last line, also after make's own words about a failure.
check check-long:
	@rm -f $(BUILD)/summary
	@$(SUB) -s all
	@AB_SUMMARY=summary $(SUB) -s $@; status=$$?; \
	test ! -f $(BUILD)/summary || cat $(BUILD)/summary; exit $$status
install distcheck abi-update check-lists:
	@$(SUB) $@
clean:
	rm -rf $(BUILD)

all check check-long check-lists demo bench install distcheck abi-update: \
	configured

packages:
	@.ci/install-packages $(PACKAGES)

# Only the first time, after a change of flags, and when Check has arrived
# since; the build itself notices changed build files. It does not notice other
# flags, of which a prefix is compiled in: what is there goes before.
configured: packages
	@test -x configure || ./autogen.sh
	@mkdir -p $(BUILD)
	@want='$(CONFIGURE_FLAGS)'; have=$$(cat $(BUILD)/.flags 2>/dev/null); \
	if test -f $(BUILD)/Makefile && test -n "$$want" && \
	   test "$$want" != "$$have"; then \
		$(SUB) -s clean && rm -f $(BUILD)/Makefile || exit 1; \
	fi; \
	if ! test -f $(BUILD)/Makefile || \
	   { test -n "$$want" && test "$$want" != "$$have"; } || \
	   { grep -qF 'S["HAVE_CHECK_FALSE"]=""' $(BUILD)/config.status && \
	     pkg-config --exists check; }; then \
		cd $(BUILD) && ../configure -q $${want:-$$have} && \
		printf '%s' "$${want:-$$have}" >.flags; \
	fi

.PHONY: all check check-long check-lists demo bench install distcheck \
	abi-update clean packages configured
