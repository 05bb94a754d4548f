#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The public interface from Go, through cgo and the installed headers.
. "$AB_TEST_SRCDIR/tests/ffi/ffi.sh"

build() {
	go=$(command -v go) || skip_all "go is not installed"
	command -v gcc >/dev/null || command -v clang >/dev/null ||
		skip_all "cgo needs gcc or clang"
	mkdir -p "$TMPDIR/src"
	cp "$FFI_SRC/smoke.go" "$TMPDIR/src/main.go"
	printf 'module smoke\n\ngo 1.18\n' >"$TMPDIR/src/go.mod"
	GOCACHE=$TMPDIR/cache GOPATH=$TMPDIR/path GOFLAGS=-mod=mod
	GOPROXY=off GOTOOLCHAIN=local GOTELEMETRY=off CGO_ENABLED=1
	CGO_CFLAGS=-I$FFI_INCLUDE CGO_LDFLAGS=-L$AB_TEST_STAGE_LIBDIR
	export GOCACHE GOPATH GOFLAGS GOPROXY GOTOOLCHAIN GOTELEMETRY
	export CGO_ENABLED CGO_CFLAGS CGO_LDFLAGS
	cd "$TMPDIR/src" || exit 1
	ffi_build "go: compiles" "$go" build -o "$TMPDIR/smoke" .
	ffi_keep "$TMPDIR/smoke" smoke-go
}

ffi_kept smoke-go "$FFI_SRC/smoke.go" "$TMPDIR/smoke" || build
ffi_run "go: cgo" "$TMPDIR/smoke"
ffi_mutant "go: cgo" "$TMPDIR/smoke"
tap_done
