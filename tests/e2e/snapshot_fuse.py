#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Snapshots of file systems that fold case, hang, fail, have no end or are
made of two: FUSE servers of the test's own, and an overlay, in a mount
namespace of the test's own. Rows are those of SNAPSHOT-CASES.md."""

import ctypes
import errno
import itertools
import os
import shutil
import signal
import stat
import struct
import subprocess
import time

import tool_lib
from tool_lib import (TOP, WAIT, Skip, expect, main, says, start, status, test,
                      tool)

SRC = os.path.join(TOP, "src")
DST = os.path.join(TOP, "out/dst")
FAIL = os.path.join(TOP, "fail")
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_REC, MS_PRIVATE, MNT_DETACH = 0x4000, 0x40000, 2
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS = 1, 2, 3, 14, 15, 17
RELEASE, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR = 18, 25, 26, 27, 28, 29
INTERRUPT, BATCH_FORGET, DESTROY = 36, 42, 38
SILENT = {FORGET, BATCH_FORGET, INTERRUPT, DESTROY}
libc = ctypes.CDLL(None, use_errno=True)


def call(name, *args):
    if getattr(libc, name)(*args) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def mount(source, target, kind, flags=0, data=None):
    call("mount", source.encode(), target.encode(),
         kind.encode() if kind else None, ctypes.c_ulong(flags),
         data.encode() if data else None)


def private_mounts():
    """Once: mounts that nobody else sees, by an ordinary user too."""
    if private_mounts.done:
        return
    uid, gid = os.getuid(), os.getgid()
    try:
        call("unshare", CLONE_NEWNS | (CLONE_NEWUSER if uid else 0))
        if uid:
            for name, text in (("setgroups", "deny"),
                               ("uid_map", f"{uid} {uid} 1"),
                               ("gid_map", f"{gid} {gid} 1")):
                with open("/proc/self/" + name, "w") as f:
                    f.write(text)
        mount("none", "/", None, MS_REC | MS_PRIVATE)
    except OSError as e:
        raise Skip(f"no mounts here: {e.strerror}") from e
    private_mounts.done = True
    if uid and tool_lib.HELPERS:
        # root's files are nobody's here, and are not trusted
        shutil.copytree(tool_lib.HELPERS, TOP + "/helpers")
        tool_lib.HELPERS = TOP + "/helpers"


private_mounts.done = False


class Hangs:
    """Of a file or a directory: the answer never comes."""


class Endless:
    """A directory with a file of another name for each that was read."""


class Fails:
    """A file whose second piece cannot be read once FAIL is there."""
    data = b"int x;\n" * 60000


class Server:
    """One FUSE mount at SRC; a tree is {name: bytes, tree or a class}."""

    def __init__(self, tree, fold=False, at=SRC):
        private_mounts()
        self.at, self.fold = at, fold
        self.nodes, self.numbers = {1: tree}, {}
        os.makedirs(at, exist_ok=True)
        try:
            self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        except OSError as e:
            raise Skip(f"no /dev/fuse: {e.strerror}") from e
        mount("test", at, "fuse", 6, f"fd={self.fd},rootmode=40755,"
              f"user_id={os.getuid()},group_id={os.getgid()},allow_other")
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.serve()
            finally:
                os._exit(0)
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        call("umount2", self.at.encode(), MNT_DETACH)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def serve(self):
        while True:
            try:
                p = os.read(self.fd, 1 << 20)
            except OSError as e:
                if e.errno in (errno.EINTR, errno.ENOENT):
                    continue
                return
            _, op, unique, node = struct.unpack_from("IIQQ", p)
            try:
                answer, error = self.answer(op, node, p[40:]), 0
            except OSError as e:
                answer, error = b"", -e.errno
            if op in SILENT or answer is Hangs:
                continue
            os.write(self.fd, struct.pack("IiQ", 16 + len(answer), error,
                                          unique) + answer)

    def attributes(self, number):
        node = self.nodes[number]
        data = Fails.data if node is Fails else node
        is_file = isinstance(data, bytes) or node is Hangs.File
        size = len(data) if isinstance(data, bytes) else 4096
        mode = stat.S_IFREG | 0o644 if is_file else stat.S_IFDIR | 0o755
        # what fails has changed, or a refresh need not read it
        when = 10 ** 9 + (node is Fails and os.path.exists(FAIL))
        return struct.pack("6Q10I", number, size, 8, when, when,
                           when, 0, 0, 0, mode, 1, os.getuid(),
                           os.getgid(), 0, 4096, 0)

    def number(self, parent, name):
        """The inode of a name there is, or OSError."""
        node = self.nodes[parent]
        if node is Endless:
            child = b"int e;\n"
        else:
            if self.fold:
                name = next((n for n in node if n.lower() == name.lower()),
                            name)
            if name not in node:
                raise OSError(errno.ENOENT, name)
            child = node[name]
        found = self.numbers.setdefault((parent, name),
                                        len(self.numbers) + 2)
        self.nodes[found] = child
        return found

    def entries(self, number, offset):
        node = self.nodes[number]
        names = (f"f{i:08}.c" for i in itertools.count(offset)) \
            if node is Endless else list(node)[offset:]
        out = b""
        for i, name in enumerate(names, offset + 1):
            raw = name.encode()
            one = struct.pack("QQII", 1000 + i, i, len(raw), 0) + raw
            one += bytes(-len(one) % 8)
            if len(out) + len(one) > 4096:
                break
            out += one
        return out

    def answer(self, op, node, p):
        if op in SILENT:
            return b""
        if op == INIT:
            return struct.pack("4I2H2I2H8I", 7, 31, 0, 0, 0, 0, 4096, 1, 0,
                               0, *[0] * 8)
        if op == LOOKUP:
            found = self.number(node, p[:p.index(b"\0")].decode())
            return struct.pack("5Q2I", found, 0, 0, 0, 0, 0, 0)[:40] + \
                self.attributes(found)
        if op == GETATTR:
            return struct.pack("QII", 0, 0, 0) + self.attributes(node)
        if op in (OPEN, OPENDIR):
            return struct.pack("QII", 0, 0, 0)
        if op in (READ, READDIR):
            _, offset, size = struct.unpack_from("QQI", p)
            what = self.nodes[node]
            if what in (Hangs.File, Hangs.Directory):
                return Hangs
            if op == READDIR:
                return self.entries(node, offset)
            if what is Fails:
                if offset and os.path.exists(FAIL):
                    raise OSError(errno.EIO, "read")
                what = Fails.data
            return what[offset:offset + size]
        if op == STATFS:
            return struct.pack("5Q10I", *[0] * 5, 4096, 255, 4096, *[0] * 7)
        if op in (RELEASE, RELEASEDIR, FLUSH):
            return b""
        raise OSError(errno.ENOSYS, "no such request")


Hangs.File = type("File", (), {})
Hangs.Directory = type("Directory", (), {})


def new_place():
    subprocess.run(["chmod", "-R", "u+w", TOP + "/out"], check=False,
                   stderr=subprocess.DEVNULL)
    shutil.rmtree(TOP + "/out", ignore_errors=True)
    os.mkdir(TOP + "/out")
    os.makedirs(SRC, exist_ok=True)
    if os.path.exists(FAIL):
        os.unlink(FAIL)


def kept(top=DST):
    """The files that the manifest is of."""
    return {os.path.relpath(os.path.join(at, name), top)
            for at, _, names in os.walk(top) for name in names
            if "/.agentbox" not in at}


def nothing_is_there():
    expect(os.listdir(TOP + "/out") == [], os.listdir(TOP + "/out"))


@test
def case_062_a_name_in_any_case_is_left_out():
    new_place()
    tree = {"main.c": b"int main;\n", ".ENV": b"T=1\n", "Id_Rsa": b"k\n",
            "Credentials.JSON": b"{}\n", ".Git": {"config": b"[a]\n"},
            "sub": {".Env.Local": b"T=2\n", "a.c": b"int a;\n"}}
    with Server(tree, fold=True):
        with open(SRC + "/.env") as f:
            expect(f.read() == "T=1\n", "the file system does not fold")
        status(tool("snapshot", "copy", SRC, DST), 0)
        expect(kept() == {"main.c", "sub/a.c"}, kept())


@test
def case_054_a_directory_without_end_ends_at_the_limit():
    new_place()
    with Server({"main.c": b"int main;\n", "deep": Endless}):
        # each file is asked of a Python program: on a busy machine that takes
        # longer than a copy may by itself
        done = tool("snapshot", "copy", "--max-files", "3000", "--deadline",
                    "600", SRC, DST, timeout=900)
        expect(done.status != 0, done.err)
        says(done, "max_files", "ELIMIT")
        nothing_is_there()


@test
def case_057_what_hangs_ends_at_the_deadline():
    for name, what in (("a.c", Hangs.File), ("d", Hangs.Directory)):
        new_place()
        with Server({"main.c": b"int main;\n", name: what}):
            began = time.monotonic()
            done = tool("snapshot", "copy", "--deadline", "2", SRC, DST)
            took = time.monotonic() - began
            expect(done.status != 0, done.err)
            expect(2 <= took < 60, took)
            nothing_is_there()


@test
def case_057_what_hangs_in_a_mount_is_not_entered():
    new_place()
    with open(SRC + "/main.c", "w") as f:
        f.write("int main;\n")
    os.makedirs(SRC + "/fs", exist_ok=True)
    with Server({"a.c": Hangs.File, "d": Hangs.Directory}, at=SRC + "/fs"):
        status(tool("snapshot", "copy", SRC, DST), 0)
        expect(kept() == {"main.c"}, kept())
    shutil.rmtree(SRC)


@test
def case_057_who_waits_can_interrupt():
    new_place()
    with Server({"a.c": Hangs.File}):
        p = start("snapshot", "copy", SRC, DST)
        time.sleep(1)
        p.send_signal(signal.SIGINT)
        expect(p.wait(WAIT) != 0, "it ended well")
        expect(not os.path.exists(DST), "it was published")
    # what it had staged is removed by the next
    with Server({"main.c": b"int main;\n"}):
        status(tool("snapshot", "copy", SRC, DST), 0)
        expect(sorted(os.listdir(TOP + "/out")) == [".dst.agentbox", "dst"],
               os.listdir(TOP + "/out"))


@test
def case_060_what_cannot_be_read_ends_the_job_and_keeps_the_one_before():
    new_place()
    with Server({"main.c": b"int main;\n", "big.c": Fails}):
        open(FAIL, "w").close()
        done = tool("snapshot", "copy", SRC, DST)
        expect(done.status != 0, done.err)
        nothing_is_there()
        os.unlink(FAIL)
        status(tool("snapshot", "copy", SRC, DST), 0)
        expect(kept() == {"main.c", "big.c"}, kept())
        before = os.stat(DST + "/big.c")
        open(FAIL, "w").close()
        done = tool("snapshot", "refresh", DST)
        expect(done.status != 0, (done.out, done.err))
        expect(os.stat(DST + "/big.c").st_size == before.st_size,
               "it was cut")
        status(tool("snapshot", "verify", DST), 0)


@test
def case_059_of_an_overlay_the_merged_view_is_copied():
    new_place()
    private_mounts()
    base = TOP + "/overlay"
    os.makedirs(base, exist_ok=True)
    try:
        mount("none", base, "tmpfs")
        for name in ("lower/d", "upper", "work", "merged"):
            os.makedirs(f"{base}/{name}")
        for name in ("gone.c", "stays.c", "d/old.c"):
            with open(f"{base}/lower/{name}", "w") as f:
                f.write("int x;\n")
        mount("none", base + "/merged", "overlay", 0,
              f"lowerdir={base}/lower,upperdir={base}/upper,"
              f"workdir={base}/work" + ("" if os.getuid() == 0 else
                                        ",userxattr"))
    except OSError as e:
        raise Skip(f"no overlay here: {e.strerror}") from e
    os.unlink(base + "/merged/gone.c")
    shutil.rmtree(base + "/merged/d")
    os.mkdir(base + "/merged/d")
    with open(base + "/merged/d/new.c", "w") as f:
        f.write("int y;\n")
    expect(stat.S_ISCHR(os.lstat(base + "/upper/gone.c").st_mode), "whiteout")
    status(tool("snapshot", "copy", base + "/merged", DST), 0)
    expect(kept() == {"stays.c", "d/new.c"}, kept())
    # the layer alone: a whiteout is a device, and no attribute goes along
    status(tool("snapshot", "copy", base + "/upper", TOP + "/out/upper"), 0)
    expect(kept(TOP + "/out/upper") == {"d/new.c"}, kept(TOP + "/out/upper"))
    expect(os.listxattr(TOP + "/out/upper/d") == [], "an attribute")


if __name__ == "__main__":
    main()
