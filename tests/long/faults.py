#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""System calls that fail, one at a time, in every process of a snapshot job:
each call of CALLS at its first, second, ... use, by strace(1) --inject. Who is
behind his filter already does not survive it (the call becomes -1), so he is
killed at that very call. The job may fail. What must hold all the same: it
ends; no secret comes over; what is published is whole and either the
generation before or the one asked for; the next job works and cleans up.
Where a wall cannot be raised nothing is published. Ends after FAULT_SECONDS
(300), and says how far it came."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "e2e"))
from tool_lib import (Skip, TOP, command, environment, expect, main, status,
                      test, tool)

SECONDS = float(os.environ.get("FAULT_SECONDS", "300"))
MOST_USES = 40
SRC, DST = os.path.join(TOP, "src"), os.path.join(TOP, "out", "snap")
SECRET = "AKIA" + "Q3EGRTXDKLPWMZ7N"
WALLS = {"seccomp", "landlock_restrict_self", "landlock_create_ruleset",
         "landlock_add_rule", "setresuid", "setresgid", "setgroups"}
CALLS = """renameat2:EIO linkat:EIO unlinkat:EIO ftruncate:EIO mkdirat:ENOSPC
write:ENOSPC pwrite64:ENOSPC writev:ENOSPC read:EIO pread64:EIO openat2:EMFILE
openat2:EIO openat:EMFILE openat:EIO getdents64:EIO newfstatat:EIO fstat:EIO
statx:EIO fchmod:EPERM fchmodat:EPERM fchown:EPERM utimensat:EIO flock:EIO
mmap:ENOMEM munmap:EINVAL memfd_create:EMFILE fcntl:EMFILE sendmsg:ENOBUFS
sendmsg:EPIPE recvmsg:ECONNRESET recvmsg:ENOMEM ppoll:EINTR poll:EINTR
socketpair:EMFILE eventfd2:EMFILE pidfd_open:EMFILE pidfd_send_signal:EPERM
clone:EAGAIN clone3:EAGAIN vfork:EAGAIN fork:EAGAIN waitid:ECHILD
getrandom:EAGAIN lseek:EINVAL fsync:EIO close_range:EINVAL prctl:EPERM
capset:EPERM seccomp:EINVAL landlock_create_ruleset:ENOMEM
landlock_add_rule:EPERM landlock_restrict_self:EPERM setresuid:EPERM
setresgid:EPERM setgroups:EPERM""".split()

until = time.monotonic() + SECONDS
counts = {"faults": 0, "failed": 0, "calls": 0}


def write(path, text):
    full = os.path.join(SRC, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w") as f:
        f.write(text)


def write_tree(generation):
    for i in range(12):
        write("d%d/f%d.c" % (i % 3, i), "int same;\n" * 50)
    write("new.c", "int generation = %d;\n" % generation)
    write("key.c", "char key[] = \"%s\";\n" % SECRET)
    write(".env", SECRET + "\n")


def files():
    return [os.path.relpath(os.path.join(base, name), DST)
            for base, _, names in os.walk(DST) for name in names
            if not base.endswith("/.agentbox")]


def sum_of(path):
    with open(os.path.join(DST, path), "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def what_is_there():
    """The generation, None for none; it is whole and has no secret."""
    if not os.path.lexists(DST):
        return None
    for base, _, names in os.walk(DST):
        for name in names:
            with open(os.path.join(base, name)) as f:
                expect(SECRET not in f.read() and name != ".env",
                       os.path.join(base, name))
    # the record may be of the next generation, by design (publish.c)
    with open(DST + "/.agentbox/manifest") as f:
        wanted = {e["path"]: e["sha256"] for e in map(json.loads, f)
                  if "path" in e}
    expect({path: sum_of(path) for path in files()} == wanted, "manifest")
    with open(DST + "/new.c") as f:
        return int(re.search(r"\d+", f.read())[0])


def faulty(call, error, use, *args):
    """Whether the fault was met, and the exit status of the job."""
    log = os.path.join(TOP, "strace.log")
    p = subprocess.run(
        ["strace", "-f", "-qq", "-o", log, "-e", "trace=" + call, "-e",
         "inject=%s:error=%s:when=%d" % (call, error, use), *command(*args)],
        env=environment(), cwd=TOP, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    with open(log, "rb") as f:
        met = b"INJECTED" in f.read()
    return met, p.returncode, p.stdout.decode("utf-8", "replace")


def after(call, rc, wanted, before):
    there = what_is_there()
    if rc == 0:
        status(tool("snapshot", "verify", DST, timeout=60), 0)
        expect(there == wanted, "it succeeded and there is %s" % there)
        expect(call not in WALLS, "published without a wall")
    else:
        counts["failed"] += 1
        expect(there in (before, wanted), "there is %s, was %s" % (there,
                                                                   before))


def clean(generation):
    """The next job, with nothing in its way."""
    job = "refresh" if os.path.lexists(DST) else "copy"
    args = [DST] if job == "refresh" else [SRC, DST]
    write_tree(generation)
    deadline = time.monotonic() + 20
    while True:
        done = tool("snapshot", job, *args, timeout=60)
        # who was started by a job that died may need a moment to be gone
        if done.status == 0 or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    status(done, 0)
    expect(what_is_there() == generation, "the next job")
    left = [n for n in os.listdir(os.path.dirname(DST))
            if n.startswith(".agentbox-") and not n.endswith(".old")]
    expect(not left, left)


def scrub():
    tool("snapshot", "scrub", DST, timeout=60)


def try_all(job):
    generation = 0
    for call in CALLS:
        name, error = call.split(":")
        counts["calls"] += 1
        for use in range(1, MOST_USES + 1):
            if time.monotonic() > until:
                return
            generation += 2
            before = None
            if job == "copy":
                scrub()
                args = [SRC, DST]
            else:
                clean(generation)
                before = generation
                args = [DST]
            write_tree(generation + 1)
            met, rc, said = faulty(name, error, use, "snapshot", job, *args)
            if not met:
                break
            counts["faults"] += 1
            try:
                after(name, rc, generation + 1, before)
            except AssertionError as e:
                raise AssertionError("%s, use %d, exit %d: %s\n%s" %
                                     (call, use, rc, said, e)) from None


def each(job):
    global until
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    shutil.rmtree(SRC, ignore_errors=True)
    os.makedirs(os.path.dirname(DST), exist_ok=True)
    write_tree(0)
    scrub()
    until = time.monotonic() + SECONDS / 2
    for key in counts:
        counts[key] = 0
    try:
        try_all(job)
        clean(1 << 20)
    finally:
        print("# %s: %d faults in %d of %d calls, %d jobs failed" %
              (job, counts["faults"], counts["calls"], len(CALLS),
               counts["failed"]))
    expect(counts["faults"] > 10, "no fault was met")


@test
def a_copy_that_meets_a_fault():
    each("copy")


@test
def a_refresh_that_meets_a_fault():
    each("refresh")


if __name__ == "__main__":
    main()
