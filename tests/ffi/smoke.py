# SPDX-License-Identifier: LGPL-2.1-or-later
"""The public interface, raw, from ctypes: a policy, a box, two commands."""

import ctypes as c
import json
import os
import sys

lib = c.CDLL(sys.argv[1])
P, S, I32, I64, Z = c.c_void_p, c.c_char_p, c.c_int32, c.c_int64, c.c_size_t
PP = c.POINTER(P)
EPOLICY, EWALL, ETIMEOUT = -4, -8, -13

# name: (result, arguments)
for name, (result, arguments) in {
    "version": (S, []),
    "error_get_code": (I32, [P]),
    "error_get_message": (S, [P]),
    "error_get_where": (S, [P]),
    "error_free": (None, [P]),
    "bytes_get_data": (P, [P]),
    "bytes_get_size": (Z, [P]),
    "bytes_free": (None, [P]),
    "context_new": (I32, [PP, PP]),
    "context_set_helper_dir": (I32, [P, S, PP]),
    "context_set_state_dir": (I32, [P, S, PP]),
    "context_unref": (None, [P]),
    "policy_parse": (I32, [P, S, Z, PP, PP]),
    "policy_get_digest": (S, [P]),
    "policy_unref": (None, [P]),
    "sandbox_new": (I32, [P, P, P, PP, PP]),
    "sandbox_get_id": (S, [P]),
    "sandbox_get_fd": (I32, [P]),
    "sandbox_spawn": (I32, [P, P, PP, PP]),
    "sandbox_capture": (I32, [P, P, Z, PP, PP, PP, PP]),
    "sandbox_free": (None, [P]),
    "command_new": (I32, [c.POINTER(S), Z, PP, PP]),
    "command_set_fd": (I32, [P, I32, I32, PP]),
    "command_free": (None, [P]),
    "process_wait": (I32, [P, I64, PP]),
    "process_get_exit_status": (I32, [P]),
    "process_get_reason": (S, [P]),
    "process_to_json": (I32, [P, PP, PP]),
    "process_free": (None, [P]),
}.items():
    function = getattr(lib, "agentbox_" + name)
    function.restype, function.argtypes = result, arguments
    globals()[name] = function


def must(rc, err):
    if rc == 0:
        return
    where = error_get_where(err).decode()
    message = error_get_message(err).decode()
    error_free(err)
    if rc == EWALL:
        print("no box can be raised here: %s: %s" % (where, message))
        sys.exit(77)
    sys.exit("%d at '%s': %s" % (rc, where, message))


def expect(what, have, want):
    if have != want:
        sys.exit("%s is %r, not %r" % (what, have, want))


def text(data):
    out = c.string_at(bytes_get_data(data), bytes_get_size(data))
    bytes_free(data)
    return out


def parse(context, document):
    policy, err = P(), P()
    raw = json.dumps(document).encode()
    rc = policy_parse(context, raw, len(raw), c.byref(policy), c.byref(err))
    return rc, policy, err


def command(*argv):
    made, err = P(), P()
    array = (S * len(argv))(*[a.encode() for a in argv])
    must(command_new(array, len(argv), c.byref(made), c.byref(err)), err)
    return made


def over_a_pipe(box):
    reader, writer = os.pipe()
    process, err = P(), P()
    made = command("/bin/sh", "-c", "echo spawned; exit 3")
    must(command_set_fd(made, 1, writer, c.byref(err)), err)
    must(sandbox_spawn(box, made, c.byref(process), c.byref(err)), err)
    os.close(writer)
    command_free(made)
    with os.fdopen(reader, "rb") as f:
        expect("what was spawned said", f.read(), b"spawned\n")
    must(process_wait(process, 10000, c.byref(err)), err)
    expect("its status", process_get_exit_status(process), 3)
    expect("its reason", process_get_reason(process), b"exited")
    data = P()
    must(process_to_json(process, c.byref(data), c.byref(err)), err)
    expect("its report", json.loads(text(data))["exit_status"], 3)
    process_free(process)


def captured(box):
    process, out, err = P(), P(), P()
    made = command("cat", "file")
    must(sandbox_capture(box, made, 1 << 16, c.byref(process), c.byref(out),
                         None, c.byref(err)), err)
    expect("what was captured", text(out), b"from the workspace\n")
    expect("its status", process_get_exit_status(process), 0)
    process_free(process)
    command_free(made)


def main():
    context, box, err = P(), P(), P()
    tmp = os.environ["TMPDIR"]
    before = len(os.listdir("/proc/self/fd"))
    must(context_new(c.byref(context), c.byref(err)), err)
    must(context_set_helper_dir(context,
                                os.environ["AB_TEST_HELPER_DIR"].encode(),
                                c.byref(err)), err)
    must(context_set_state_dir(context, (tmp + "/state").encode(),
                               c.byref(err)), err)
    rc, _, err = parse(context, {"agentbox": 1, "nonsense": True})
    expect("a wrong policy", rc, EPOLICY)
    expect("its place", error_get_where(err).split()[0], b"/nonsense")
    error_free(err)
    rc, policy, err = parse(context, {
        "agentbox": 1, "extends": "builtin:workspace", "require": [],
        "workspace": {"path": tmp + "/ws"}})
    must(rc, err)
    expect("the digest", policy_get_digest(policy)[:7], b"sha256:")
    must(sandbox_new(context, policy, None, c.byref(box), c.byref(err)), err)
    expect("the length of an id", len(sandbox_get_id(box)), 32)
    expect("an event fd", sandbox_get_fd(box) >= 0, True)
    over_a_pipe(box)
    captured(box)
    sandbox_free(box)
    policy_unref(policy)
    context_unref(context)
    expect("open fds", len(os.listdir("/proc/self/fd")), before)


main()
