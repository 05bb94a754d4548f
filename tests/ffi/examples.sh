#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The examples as a first reader meets them: compiled against an installation
# with one command, then run. The only thing added is where the helpers of an
# uninstalled library are (--wrap), which an installed one knows.
. "$AB_TEST_SRCDIR/tests/ffi/ffi.sh"
cc=${AB_TEST_CC:-cc}
${cc%% *} --version >/dev/null 2>&1 || skip_all "no C compiler (${cc%% *})"
EXAMPLES=$AB_TEST_SRCDIR/examples

cat >"$TMPDIR/where.c" <<'C'
#include <agentbox/agentbox.h>
#include <stdlib.h>
int32_t __real_agentbox_context_new(agentbox_context **, agentbox_error **);
int32_t __wrap_agentbox_context_new(agentbox_context **c,
				    agentbox_error **err);
int32_t __wrap_agentbox_context_new(agentbox_context **c,
				    agentbox_error **err)
{
	int32_t rc = __real_agentbox_context_new(c, err);

	return rc ? rc : agentbox_context_set_helper_dir(
				 *c, getenv("AB_TEST_HELPER_DIR"), err);
}
C

build() { # name
	ffi_build "$1 compiles against the installed headers" \
		$cc -std=gnu99 -Wall -Wextra -Werror -I"$FFI_INCLUDE" \
		"$EXAMPLES/$1.c" "$TMPDIR/where.c" -o "$TMPDIR/$1" \
		-Wl,--wrap=agentbox_context_new \
		-L"$AB_TEST_STAGE_LIBDIR" -lagentbox
}

build hello
build agent_loop
build audited
build guard
build peers
build docs
build types
build model
build layers
ffi_workspace

# check NAME EXPECTED-STATUS EXPECTED-PATTERN COMMAND...
check() {
	check_name=$1 check_status=$2 check_pattern=$3
	shift 3
	"$@" >"$TMPDIR/out" 2>&1
	rc=$?
	if [ $rc -eq "$check_status" ] &&
		{ [ -z "$check_pattern" ] ||
			grep -q "$check_pattern" "$TMPDIR/out"; }; then
		ok "$check_name"
	else
		not_ok "$check_name" "status $rc: $(cat "$TMPDIR/out")"
	fi
}

# needs no box
check "guard writes what it may, and records it" 0 '"verdict":"allow"' \
	"$TMPDIR/guard" "$TMPDIR/ws" new.txt hello
check "and it is there" 0 "^hello$" cat "$TMPDIR/ws/new.txt"
check "guard refuses in the known words" 1 "^Path escapes workspace\.$" \
	"$TMPDIR/guard" "$TMPDIR/ws" ../new.txt hello
check "guard records the refusal" 1 '"rule":"path.protected"' \
	"$TMPDIR/guard" "$TMPDIR/ws" .git/hooks/pre-commit '#!/bin/sh'
check "guard explains itself" 2 "usage" "$TMPDIR/guard"
check "layers explains itself" 2 "usage" "$TMPDIR/layers" "$TMPDIR/l" walls

"$TMPDIR/agent_loop" "$TMPDIR/ws" "$TMPDIR/state" </dev/null \
	>"$TMPDIR/out" 2>&1
if [ $? -eq 125 ] && grep -q "(EWALL)" "$TMPDIR/out"; then
	# the built-in policy asks for walls this machine does not have
	skip "the examples run" "$(cat "$TMPDIR/out")"
	tap_done
fi

check "hello prints what the command printed" 0 "from the workspace" \
	"$TMPDIR/hello" "$TMPDIR/ws" cat file
check "hello ends with the command's status" 7 "" \
	"$TMPDIR/hello" "$TMPDIR/ws" sh -c 'exit 7'
check "hello says that a signal ended the command" 137 "" \
	"$TMPDIR/hello" "$TMPDIR/ws" sh -c 'kill -9 $$'
check "hello says in one line why there is no box" 125 "^hello: .*nowhere" \
	"$TMPDIR/hello" "$TMPDIR/nowhere" true
check "hello explains itself" 2 "usage" "$TMPDIR/hello"

printf 'echo one\nexit 4\n\nmkdir -p .git/hooks\ncat file' >"$TMPDIR/lines"
loop() { "$TMPDIR/agent_loop" "$TMPDIR/ws" "$TMPDIR/state" <"$TMPDIR/lines"; }
check "agent_loop runs line after line in one box" 0 "from the workspace" loop
check "agent_loop says how each ended" 0 "status 4, signal 0, exited" loop
echo 'echo x >.envrc' >"$TMPDIR/lines"
check "agent_loop hears of a protected name that appears" 0 \
	"event: quarantined .*\.envrc" loop
[ ! -e "$TMPDIR/ws/.envrc" ] && ok "and it is gone from the workspace" ||
	not_ok "and it is gone from the workspace" "$(ls -la "$TMPDIR/ws")"

check "audited verifies its log" 0 '"status":"verified"' \
	"$TMPDIR/audited" "$TMPDIR/ws" "$TMPDIR/log1" cat file
check "audited passes the status on" 9 '"tail":"anchored"' \
	"$TMPDIR/audited" "$TMPDIR/ws" "$TMPDIR/log2" sh -c 'exit 9'
check "audited records the command" 0 '"argv":\["cat","file"\].*command.start' \
	cat "$TMPDIR/log1/audit.jsonl"
check "audited wants a directory of its own" 2 "usage" \
	"$TMPDIR/audited" "$TMPDIR/ws" "$TMPDIR/log2" true

mkdir "$TMPDIR/author" "$TMPDIR/reviewer"
echo "int shared;" >"$TMPDIR/author/a.c"
echo "TOKEN=1" >"$TMPDIR/author/.env"
check "peers lets the reviewer read the author's work" 0 "^int shared;$" \
	"$TMPDIR/peers" "$TMPDIR/author" "$TMPDIR/reviewer" \
	cat .shared/author/a.c
check "and not the author's secrets" 1 "" \
	"$TMPDIR/peers" "$TMPDIR/author" "$TMPDIR/reviewer" \
	cat .shared/author/.env
[ -z "$(ls -A "$TMPDIR/reviewer")" ] && ok "and nothing of it is left" ||
	not_ok "and nothing of it is left" "$(ls -la "$TMPDIR/reviewer")"

# a branch: its diff and its tests, in the reviewer's own box
if [ -x "$AB_TEST_HELPER_DIR/agentbox-git" ] && git --version >/dev/null 2>&1
then
	mkdir "$TMPDIR/branch" "$TMPDIR/branch/src"
	commit() { # message
		git -C "$TMPDIR/branch" add -A && git -C "$TMPDIR/branch" \
			-c user.name=a -c user.email=a@example.org \
			commit -qm "$1"
	}
	git -C "$TMPDIR/branch" init -q -b main
	echo "int answer = 41;" >"$TMPDIR/branch/src/a.c"
	commit one
	git -C "$TMPDIR/branch" checkout -q -b work
	echo "int answer = 42;" >"$TMPDIR/branch/src/a.c"
	echo "grep -q 42 src/a.c && echo tests pass" >"$TMPDIR/branch/check.sh"
	commit two
	echo "TOKEN=1" >"$TMPDIR/branch/.env"
	review='cp -r .shared/author t && chmod -R u+w t && cd t &&
		git diff HEAD~1 && git rev-list --count HEAD && sh check.sh
		cd .. && rm -rf t'
	review() {
		"$TMPDIR/peers" "$TMPDIR/branch" "$TMPDIR/reviewer" \
			--base main sh -c "$review" >"$TMPDIR/review.out" 2>&1
	}
	check "peers reviews a branch" 0 "" review
	check "its diff is there" 0 "^+int answer = 42;" cat "$TMPDIR/review.out"
	check "its tests ran" 0 "^tests pass$" cat "$TMPDIR/review.out"
	check "two commits and no more" 0 "^2$" cat "$TMPDIR/review.out"
else
	skip "peers reviews a branch" "no git, or no agentbox-git"
fi

# two real trees of this project, read by one writer
mkdir "$TMPDIR/writer"
cp -R "$AB_TEST_SRCDIR/include" "$AB_TEST_SRCDIR/man" "$TMPDIR"
chmod -R u+w "$TMPDIR/include" "$TMPDIR/man"
check "docs lets one box read several" 0 "^.Nm " \
	"$TMPDIR/docs" "$TMPDIR/writer" "$TMPDIR/include" "$TMPDIR/man" -- \
	sh -c 'ls .shared/x1-include/agentbox >index; grep -h "^.Nm " \
		.shared/x2-man/agentbox.7'
check "and what it wrote is its own" 0 "^snapshot.h$" \
	cat "$TMPDIR/writer/index"
check "docs explains itself" 2 "usage" "$TMPDIR/docs" "$TMPDIR/writer"

mkdir "$TMPDIR/web"
echo "typedef int order_id;" >"$TMPDIR/include/types.h"
echo '#include "types.h"' >"$TMPDIR/web/main.c"
"$TMPDIR/types" "$TMPDIR/include" "$TMPDIR/web" \
	'echo "typedef long order_id;" >types.h' \
	'cat .shared/backend/types.h; ls .shared/backend' >"$TMPDIR/types.out" 2>&1
check "types sees the change after the refresh and not before" 0 \
	"^int int long $" sh -c \
	"sed -n 's/^typedef \\(.*\\) order_id;/\\1/p' '$TMPDIR/types.out' |
	tr '\\n' ' '; echo"
check "types explains itself" 2 "usage" "$TMPDIR/types"

# an injected instruction and four layers, in two boxes
layers="$TMPDIR/layers $TMPDIR/l"
check "layers: each alone stops what it is for" 0 \
	"prompt: the agent does not ask" $layers
check "layers: without one it happens, all three ways" 3 \
	"REACHED PRODUCTION: bash .*deploy.sh" $layers none
check "layers: the resolver stops the tool that names another" 2 \
	"resolver: mcp__db__run_migration" $layers resolver
check "layers: the hint stops the command that names another" 2 \
	"hint: bash: .*Reading is all that was granted" $layers hint
check "layers: the shield stops what is executed, whatever it was called" 0 \
	"shield: refused: ./psql -h orders-7" $layers shield
check "layers: and asks its own copy of the grants" 0 \
	"shield: mcp__db__run_migration on orders-7: this tool works on" \
	$layers shield
check "layers: an agent that is told does not ask" 0 "prompt:" $layers prompt
check "layers: all of them" 0 "prompt:" $layers resolver hint shield prompt
# that it notices: the same program with one layer that stops nothing
for layer in RESOLVER HINT SHIELD PROMPT; do
	sed "s/h->layers & $layer\>/0 \& $layer/" "$EXAMPLES/layers.c" \
		>"$TMPDIR/without.c"
	$cc -std=gnu99 -I"$FFI_INCLUDE" "$TMPDIR/without.c" \
		"$TMPDIR/where.c" -o "$TMPDIR/without" \
		-Wl,--wrap=agentbox_context_new \
		-L"$AB_TEST_STAGE_LIBDIR" -lagentbox >"$TMPDIR/out" 2>&1
	check "layers: notices that $layer stops nothing" 1 \
		"REACHED PRODUCTION" "$TMPDIR/without" "$TMPDIR/l"
done

check "model explains itself" 2 "usage" "$TMPDIR/model" "$TMPDIR/ws" key --
# or that there is no gateway here
check "model says that there is no key" 125 \
	"nowhere: No such file\|(EUNSUPPORTED)\|(EWALL)" \
	"$TMPDIR/model" "$TMPDIR/ws" "$TMPDIR/nowhere" -- true
model="model gives an agent a model without the key"
if python3 -c "import ssl" >/dev/null 2>&1; then
	python3 "$EXAMPLES/model.py" "$TMPDIR/model" >"$TMPDIR/out" 2>&1
	case $? in
	0) ok "$model" ;;
	77) skip "$model" "$(tail -n 1 "$TMPDIR/out")" ;;
	*) not_ok "$model" "$(cat "$TMPDIR/out")" ;;
	esac
else
	skip "$model" "no python3 with ssl"
fi
tap_done
