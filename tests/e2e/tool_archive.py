#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Snapshots as archives: what is written, and who can read it."""

import hashlib
import io
import os
import shutil
import socket
import subprocess
import tarfile
import time
import unicodedata
import zipfile

from tool_lib import (TOP, WORK, Terminal, command, environment, expect, main,
                      says, start, status, test, tool)

SRC = os.path.join(TOP, "src")
DST = os.path.join(TOP, "dst")
MADE = os.path.join(TOP, "made")
OUT = os.path.join(MADE, "out")
FORMATS = ("tar", "tar.gz", "tar.zst", "zip")
# a token that no service gave out, in two pieces for who scans this file
TOKEN = b"ghp_" + b"wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx\n"
NFD = "cafe\u0301.txt"
LONG = "d" * 90 + "/" + "e" * 120 + "/" + "f" * 200 + ".c"


def clean(*paths):
    for path in paths:
        if os.path.isdir(path):
            subprocess.run(["chmod", "-R", "u+w", path], check=True)
            shutil.rmtree(path)
    for name in os.listdir(TOP):
        if name.startswith(".dst"):
            os.unlink(os.path.join(TOP, name))


def write(path, data=b"", mode=0o644):
    path = os.path.join(SRC, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, mode)


def tree():
    """A project with what must not be read, and what is hard to write."""
    clean(SRC, DST, MADE)
    os.mkdir(MADE)
    write("main.c", b"int main(void) { return 0; }\n")
    write("run.sh", b"#!/bin/sh\n", 0o4755)
    write("lib/a.c", b"int a;\n")
    write("lib.c", b"int l;\n")
    write(NFD, b"coffee\n")
    write(LONG, b"deep\n")
    write("-rf", b"x\n")
    write("big.txt", b"0123456789abcdef" * 200000)
    write(".env", b"TOKEN=1\n")
    write(".git/config", b"[remote]\n")
    write("token.txt", TOKEN)
    write("late.txt", b"0123456789abcde\n" * 200000 + TOKEN)
    os.mkdir(SRC + "/empty")
    os.symlink("/etc/passwd", SRC + "/link")
    os.utime(SRC + "/main.c", (1000, 1234567890.5))


KEPT = {"main.c", "run.sh", "lib/a.c", "lib.c", NFD, LONG, "-rf", "big.txt"}
MANIFEST = ".agentbox/manifest"


def pack(form="tar", *options):
    return status(tool("snapshot", "tar", "--format", form, *options, SRC),
                  0).out


def members(data, form):
    """{name: bytes} of the files, by Python's own readers."""
    if form == "zip":
        z = zipfile.ZipFile(io.BytesIO(data))
        expect(z.testzip() is None, "damaged")
        return {i.filename: z.read(i) for i in z.infolist()
                if not i.is_dir()}
    if form == "tar.zst":
        data = subprocess.run(["zstd", "-dc"], input=data, check=True,
                              stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as t:
        return {m.name: t.extractfile(m).read() for m in t if m.isfile()}


def kept_of_copy():
    clean(DST)
    status(tool("snapshot", "copy", SRC, DST), 0)
    with open(os.path.join(DST, MANIFEST), "rb") as f:
        return f.read()


@test
def an_archive_holds_what_a_copy_holds_and_nothing_else():
    tree()
    manifest = kept_of_copy()
    forms = [f for f in FORMATS
             if f != "tar.zst" or shutil.which("zstd")]
    for form in forms:
        got = members(pack(form), form)
        expect(set(got) == KEPT | {MANIFEST}, (form, sorted(got)))
        expect(got[MANIFEST] == manifest, form)
        for name in KEPT:
            with open(os.path.join(SRC, name), "rb") as f:
                expect(f.read() == got[name], (form, name))


@test
def no_byte_of_what_was_found_goes_out():
    tree()
    data = pack()
    expect(TOKEN[:20] not in data and b"TOKEN=1" not in data, "a secret")
    expect(b"late.txt" not in data, "a file that was found late has begun")


@test
def the_same_tree_makes_the_same_bytes():
    tree()
    for form in FORMATS:
        first = pack(form)
        time.sleep(1.1)  # whatever counts seconds
        other = status(tool("snapshot", "tar", "--format", form,
                            "../src", cwd=WORK, env=environment(
                                TZ="Asia/Tokyo", LANG="de_DE.UTF-8")), 0).out
        expect(hashlib.sha256(first).digest() ==
               hashlib.sha256(other).digest(), form)


@test
def entries_say_no_owner_and_no_more_than_the_snapshot():
    tree()
    with tarfile.open(fileobj=io.BytesIO(pack())) as t:
        entries = t.getmembers()
    names = [m.name for m in entries]
    body = [m.name + "/" * m.isdir() for m in entries][:-2]
    expect(body == sorted(body, key=os.fsencode), body)
    expect(names[-2:] == [".agentbox", MANIFEST], names[-2:])
    expect(len(set(names)) == len(names), "a name is there twice")
    expect("empty" in names, "the empty directory")
    for m in entries:
        expect((m.uid, m.gid, m.uname, m.gname) == (0, 0, "", ""), m.name)
        expect(m.isdir() or m.isfile(), m.name)
        expect(not m.pax_headers, m.pax_headers)
        expect(m.mode == (0o755 if m.isdir() else
                          0o555 if m.name == "run.sh" else 0o444), m.name)
    at = {m.name: m.mtime for m in entries}
    expect(at["main.c"] == 1234567890, at["main.c"])


@test
def everybody_reads_it():
    tree()
    made = {}
    for form in ("tar", "zip"):
        made[form] = OUT + "." + form
        status(tool("snapshot", "tar", "--output", made[form], SRC), 0)
    for argv, form in ((["tar", "xf"], "tar"), (["bsdtar", "xf"], "tar"),
                       (["bsdtar", "xf"], "zip"), (["unzip", "-q"], "zip")):
        if not shutil.which(argv[0]):
            continue
        clean(DST)
        os.mkdir(DST)
        subprocess.run([*argv, made[form]], cwd=DST, check=True)
        found = {os.path.relpath(os.path.join(base, n), DST)
                 for base, _, names in os.walk(DST) for n in names}
        # libarchive's readers compose names where a zip says "UTF-8"
        same = (lambda n: unicodedata.normalize("NFC", n)
                if argv[0] == "bsdtar" else n)
        expect(set(map(same, found)) == set(map(same, KEPT)) | {MANIFEST},
               (argv, sorted(found)))
        expect(os.path.isdir(DST + "/empty"), argv)
        expect(os.access(DST + "/run.sh", os.X_OK), argv)
        with open(DST + "/big.txt", "rb") as a, \
                open(SRC + "/big.txt", "rb") as b:
            expect(a.read() == b.read(), argv)


@test
def options_are_those_of_a_copy():
    tree()
    got = members(pack("tar", "--exclude", "lib*", "--no-hashes"), "tar")
    expect(set(got) == KEPT - {"lib/a.c", "lib.c"} | {MANIFEST}, sorted(got))
    expect(b'"none"' in got[MANIFEST], got[MANIFEST])


@test
def a_job_that_fails_leaves_an_archive_without_an_end():
    tree()
    got = tool("snapshot", "tar", "--max-bytes", "100000", SRC)
    says(status(got, 5), "max_bytes")
    expect(not got.out.endswith(b"\0" * 1024), "it looks whole")
    status(tool("snapshot", "tar", "--max-bytes", "100000", "--output",
                OUT + ".tar", SRC), 5)
    expect(not os.path.exists(OUT + ".tar"), "half an archive stays")


@test
def a_reader_who_goes_away_or_sleeps_ends_it():
    tree()
    job = start("snapshot", "tar", SRC)
    job.stdout.read(10)
    job.stdout.close()
    expect(job.wait(20) != 0, "nobody was there")
    job.stderr.close()
    job.stdin.close()
    job = start("snapshot", "tar", "--deadline", "1", SRC)
    begin = time.monotonic()
    _, err = job.stderr.read(), job.wait(20)
    expect(err != 0 and time.monotonic() - begin < 10, "no deadline")
    for stream in (job.stdin, job.stdout, job.stderr):
        stream.close()


@test
def a_socket_that_does_not_block_gets_all_of_it():
    tree()
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    job = subprocess.Popen(command("snapshot", "tar", SRC), stdout=theirs,
                           stderr=subprocess.PIPE, env=environment())
    theirs.close()
    data = b""
    while True:
        piece = ours.recv(65536)
        if not piece:
            break
        data += piece
    expect(job.wait(20) == 0, job.stderr.read())
    job.stderr.close()
    ours.close()
    expect(data == pack(), "another archive")


@test
def what_cannot_be_is_said():
    tree()
    says(status(tool("snapshot", "tar", "--format", "rar", SRC), 2), "rar")
    says(status(tool("snapshot", "tar", "--json", SRC), 2), "--output")
    says(status(tool("snapshot", "tar", SRC + "x"), 4), SRC + "x")
    write("out.tar", b"mine")
    mine = os.path.join(SRC, "out.tar")
    says(status(tool("snapshot", "tar", "--output", mine, SRC), 5), "out.tar")
    with open(mine, "rb") as f:
        expect(f.read() == b"mine", "it was overwritten")
    counts = status(tool("snapshot", "tar", "--json", "--output",
                         OUT + ".tgz", SRC), 0).json
    expect(counts["job"] == "pack" and counts["files"] == len(KEPT), counts)
    with open(OUT + ".tgz", "rb") as f:
        expect(f.read(2) == b"\x1f\x8b", "not by its suffix")


@test
def a_terminal_gets_no_archive():
    tree()
    screen = Terminal(command("snapshot", "tar", SRC))
    expect(screen.end() == 2, screen.seen)
    expect(b"terminal" in screen.seen and b"main.c" not in screen.seen,
           screen.seen)


if __name__ == "__main__":
    main()
