// SPDX-License-Identifier: LGPL-2.1-or-later

// The public interface, raw, from Go through cgo: a policy, a box, two
// commands.
package main

// #cgo LDFLAGS: -lagentbox
// #include <agentbox/agentbox.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unsafe"
)

// By address: when a plain err is read, before the call or after, is not
// defined.
func must(rc C.int32_t, failure **C.agentbox_error) {
	if rc == 0 {
		return
	}
	err := *failure
	where := C.GoString(C.agentbox_error_get_where(err))
	message := C.GoString(C.agentbox_error_get_message(err))
	C.agentbox_error_free(err)
	if rc == C.AGENTBOX_EWALL {
		fmt.Printf("no box can be raised here: %s: %s\n", where, message)
		os.Exit(77)
	}
	fmt.Printf("%d at '%s': %s\n", rc, where, message)
	os.Exit(1)
}

func expect(what string, have, want any) {
	if have != want {
		fmt.Printf("%s is %v, not %v\n", what, have, want)
		os.Exit(1)
	}
}

func command(words ...string) *C.agentbox_command {
	var made *C.agentbox_command
	var err *C.agentbox_error
	argv := make([]*C.char, len(words))
	for i, word := range words {
		argv[i] = C.CString(word)
		defer C.free(unsafe.Pointer(argv[i]))
	}
	must(C.agentbox_command_new(&argv[0], C.size_t(len(argv)), &made, &err),
		&err)
	return made
}

func overAPipe(box *C.agentbox_sandbox) {
	var process *C.agentbox_process
	var err *C.agentbox_error
	reader, writer, problem := os.Pipe()
	expect("os.Pipe", problem, nil)
	made := command("/bin/sh", "-c", "echo spawned; exit 3")
	must(C.agentbox_command_set_fd(made, 1, C.int32_t(writer.Fd()), &err),
		&err)
	must(C.agentbox_sandbox_spawn(box, made, &process, &err), &err)
	writer.Close()
	C.agentbox_command_free(made)
	said, _ := io.ReadAll(reader)
	reader.Close()
	expect("what was spawned said", string(said), "spawned\n")
	must(C.agentbox_process_wait(process, 10000, &err), &err)
	expect("its status", int(C.agentbox_process_get_exit_status(process)), 3)
	expect("its reason", C.GoString(C.agentbox_process_get_reason(process)),
		"exited")
	C.agentbox_process_free(process)
}

func captured(box *C.agentbox_sandbox) {
	var process *C.agentbox_process
	var out *C.agentbox_bytes
	var err *C.agentbox_error
	made := command("cat", "file")
	must(C.agentbox_sandbox_capture(box, made, 1<<16, &process, &out, nil,
		&err), &err)
	text := C.GoStringN(C.agentbox_bytes_get_data(out),
		C.int(C.agentbox_bytes_get_size(out)))
	expect("what was captured", text, "from the workspace\n")
	expect("its status", int(C.agentbox_process_get_exit_status(process)), 0)
	C.agentbox_bytes_free(out)
	C.agentbox_process_free(process)
	C.agentbox_command_free(made)
}

func parse(context *C.agentbox_context, document string) (
	C.int32_t, *C.agentbox_policy, *C.agentbox_error) {
	var policy *C.agentbox_policy
	var err *C.agentbox_error
	text := C.CString(document)
	defer C.free(unsafe.Pointer(text))
	rc := C.agentbox_policy_parse(context, text, C.size_t(len(document)),
		&policy, &err)
	return rc, policy, err
}

func main() {
	var context *C.agentbox_context
	var box *C.agentbox_sandbox
	var err *C.agentbox_error
	tmp := os.Getenv("TMPDIR")
	must(C.agentbox_context_new(&context, &err), &err)
	must(C.agentbox_context_set_helper_dir(context,
		C.CString(os.Getenv("AB_TEST_HELPER_DIR")), &err), &err)
	must(C.agentbox_context_set_state_dir(context,
		C.CString(tmp+"/state"), &err), &err)
	rc, _, wrong := parse(context, `{"agentbox":1,"nonsense":true}`)
	expect("a wrong policy", int(rc), C.AGENTBOX_EPOLICY)
	expect("its place", strings.Fields(
		C.GoString(C.agentbox_error_get_where(wrong)))[0], "/nonsense")
	C.agentbox_error_free(wrong)
	rc, policy, why := parse(context, `{"agentbox":1,"require":[],
		"extends":"builtin:workspace",
		"workspace":{"path":"`+tmp+`/ws"}}`)
	must(rc, &why)
	expect("the digest",
		C.GoString(C.agentbox_policy_get_digest(policy))[:7], "sha256:")
	must(C.agentbox_sandbox_new(context, policy, nil, &box, &err), &err)
	expect("the length of an id",
		len(C.GoString(C.agentbox_sandbox_get_id(box))), 32)
	overAPipe(box)
	captured(box)
	C.agentbox_sandbox_free(box)
	C.agentbox_policy_unref(policy)
	C.agentbox_context_unref(context)
}
