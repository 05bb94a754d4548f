#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Snapshots as archives: what is written, who can read it, and what of a
stranger's archive is taken. Rows are those of SNAPSHOT-CASES.md."""

import errno
import hashlib
import io
import os
import resource
import shutil
import signal
import socket
import subprocess
import struct
import tarfile
import time
import unicodedata
import zipfile
import zlib

from tool_lib import (TOP, WAIT, WORK, Skip, Terminal, command, environment,
                      expect, fail_call, has_filter, main, says, start, status,
                      test, tool)

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
    # as tar does for `| head -c1`: by that signal, and without a word
    write("noise.dat", os.urandom(2 << 20))
    for form in FORMATS:
        job = start("snapshot", "tar", "--format", form, SRC)
        job.stdout.read(1)
        job.stdout.close()
        expect((job.wait(WAIT), job.stderr.read()) ==
               (128 + signal.SIGPIPE, b""), (form, job.returncode))
        job.stderr.close()
        job.stdin.close()
    job = start("snapshot", "tar", "--deadline", "1", SRC)
    begin = time.monotonic()
    _, err = job.stderr.read(), job.wait(WAIT)
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
    expect(job.wait(WAIT) == 0, job.stderr.read())
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
def what_is_killed_leaves_no_half_of_an_archive():
    tree()
    try:
        os.close(os.open(MADE, os.O_WRONLY | os.O_TMPFILE))
    except OSError as e:
        raise Skip("no files without a name here: %s" % e.strerror) from e
    for i in range(400):
        write("many/f%d" % i, b"x" * 20000)
    for i in range(12):
        p = start("snapshot", "tar", "--output", OUT + ".tar", SRC)
        time.sleep(0.004 * (i + 1))
        p.kill()
        p.communicate()
        if os.path.exists(OUT + ".tar"):
            with tarfile.open(OUT + ".tar") as t:  # it was done before
                expect(len(t.getnames()) > 400, len(t.getnames()))
            os.unlink(OUT + ".tar")
        expect(os.listdir(MADE) == [], os.listdir(MADE))


def no_unnamed_files():
    """As on a file system without O_TMPFILE: openat(2) with it fails."""
    fail_call("openat", errno.EOPNOTSUPP, [(0x45, 32, 0o20000000)])


@test
def an_archive_that_is_whole_stays_when_it_cannot_be_told_of():
    has_filter()
    for before in (None, no_unnamed_files):
        tree()
        with open("/dev/full", "w") as full:
            p = subprocess.run(
                command("snapshot", "tar", "--json", "--output", OUT + ".tar",
                        SRC), cwd=WORK, env=environment(), stdout=full,
                stderr=subprocess.PIPE, timeout=WAIT, preexec_fn=before)
        expect(p.returncode == 70 and b"No space" in p.stderr, p)
        with tarfile.open(OUT + ".tar") as t:
            expect("main.c" in [os.path.basename(n) for n in t.getnames()], p)
        os.unlink(OUT + ".tar")
        # and half of one does not, by either way
        write("big", os.urandom(3000000))
        p = subprocess.run(
            command("snapshot", "tar", "--output", OUT + ".tar", SRC),
            cwd=WORK, env=environment(), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, timeout=WAIT, preexec_fn=lambda: (
                before and before(), signal.signal(signal.SIGXFSZ,
                                                   signal.SIG_IGN),
                resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))))
        expect(p.returncode != 0 and os.listdir(MADE) == [], p)


@test
def an_archive_is_a_new_file_as_any_other():
    tree()
    # the mode is that of any new file
    old = os.umask(0o027)
    status(tool("snapshot", "tar", "--output", OUT + ".tar", SRC), 0)
    os.umask(old)
    expect(os.stat(OUT + ".tar").st_mode & 0o777 == 0o640)
    # somebody else was there first
    status(tool("snapshot", "tar", "--output", OUT + ".tar", SRC), 5)
    status(tool("snapshot", "tar", "--output", MADE, SRC), 5)
    status(tool("snapshot", "tar", "--output", MADE + "/", SRC), 5)
    status(tool("snapshot", "tar", "--output", MADE + "/none/x", SRC), 4)
    os.symlink("nowhere", MADE + "/link")
    status(tool("snapshot", "tar", "--output", MADE + "/link", SRC), 5)


@test
def a_terminal_gets_no_archive():
    tree()
    screen = Terminal(command("snapshot", "tar", SRC))
    expect(screen.end() == 2, screen.seen)
    expect(b"terminal" in screen.seen and b"main.c" not in screen.seen,
           screen.seen)



# --- reading what others wrote ---


def unpack(data, *options, wanted=0, timeout=WAIT):
    clean(DST)
    got = status(tool("snapshot", "untar", *options, "-", DST, stdin=data,
                      timeout=timeout), wanted)
    left = [n for n in os.listdir(TOP) if n.startswith(".agentbox-")]
    expect(not left, left)
    if wanted:
        expect(not os.path.lexists(DST), "something was published")
    return got


def refused(data, wanted, *words, options=()):
    says(unpack(data, *options, wanted=wanted), *words)
    expect(sorted(os.listdir(TOP)) == sorted(BEFORE), os.listdir(TOP))


def files(top=DST):
    return {os.path.relpath(os.path.join(base, n), top)
            for base, _, names in os.walk(top) for n in names}


def entry(name, data=b"x\n", kind=tarfile.REGTYPE, **more):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.size = len(data) if kind == tarfile.REGTYPE else 0
    info.mode = 0o755 if kind == tarfile.DIRTYPE else 0o644
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def tar_of(*entries, form=tarfile.GNU_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form,
                      errors="surrogateescape") as t:
        for e in entries:
            info, data = e if isinstance(e, tuple) else entry(e)
            t.addfile(info, io.BytesIO(data) if info.isreg() else None)
    return out.getvalue()


def zip_of(*names, data=b"x\n"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name in names:
            z.writestr(zipfile.ZipInfo(name), data,
                       zipfile.ZIP_DEFLATED)
    return out.getvalue()


def gz(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def room():
    """An empty place, and what is in it."""
    global BEFORE
    clean(SRC, DST, MADE)
    BEFORE = os.listdir(TOP)


def report_of(done):
    return [(e["path"], e["reason"], e.get("rule"))
            for e in done.json["report"]]


def digest_of_copy():
    clean(DST)
    return status(tool("snapshot", "copy", "--json", SRC, DST),
                  0).json["digest"]


@test
def what_was_packed_comes_back_as_the_copy():
    tree()
    want = digest_of_copy()
    with open(DST + "/main.c") as f:
        seen = os.fstat(f.fileno())
    for form in FORMATS[:3]:
        got = unpack(pack(form), "--json").json
        expect(got["digest"] == want and got["job"] == "unpack", (form, got))
        expect(report_of_lines(got) == [(".agentbox", "name")], got)
        again = os.stat(DST + "/main.c")
        expect(again.st_mode == seen.st_mode and
               again.st_uid == seen.st_uid and
               again.st_mtime == 1234567890, again)
        status(tool("snapshot", "verify", DST), 0)
    os.rename(os.path.join(SRC, NFD), os.path.join(
        SRC, unicodedata.normalize("NFC", NFD)))
    want = digest_of_copy()
    expect(unpack(pack("zip"), "--json").json["digest"] == want, "zip")


def report_of_lines(counts):
    return [(e["path"], e["reason"]) for e in counts["report"]]


@test
def an_archive_is_judged_as_the_tree_it_is_of():
    tree()
    write("notes.txt", b"K=1\n")
    os.link(SRC + "/notes.txt", SRC + "/.env.local")
    os.link(SRC + "/lib/a.c", SRC + "/b.c")
    write("node_modules/x/index.js", b"y\n")
    os.link(SRC + "/node_modules/x/index.js", SRC + "/index.js")
    write("vendor.git/HEAD", b"ref: refs/heads/main\n")
    os.makedirs(SRC + "/vendor.git/objects")
    os.makedirs(SRC + "/vendor.git/refs")
    write("target/debug/out.bin", b"b\n")
    write("Cargo.toml", b"[package]\n")
    write("inner.tar.gz", b"z\n")
    write("server.pem", b"-----BEGIN CERTIFICATE-----\nMIIB\n"
          b"-----END CERTIFICATE-----\n")
    write("huge.txt", b"a" * (51 << 20))
    os.mkfifo(SRC + "/pipe")
    write("a\\b", b"x")
    write("bell\a", b"x")
    want = report_of(status(tool("snapshot", "explain", "--json", SRC), 0))
    digest = digest_of_copy()
    for argv in (["tar", "cf", "-", "."], ["tar", "-c", "--format=pax", "."],
                 ["tar", "czf", "-", "--sort=name", "."],
                 ["bsdtar", "-c", "--format=gnutar", "."]):
        if not shutil.which(argv[0]):
            continue
        made = subprocess.run(argv, cwd=SRC, check=True,
                              stdout=subprocess.PIPE).stdout
        got = unpack(made, "--json")
        if "--format=pax" in argv:
            continue  # composed names: see the manual
        expect(got.json["digest"] == digest, argv)
        expect(report_of(got) == want, (argv, want, report_of(got)))


@test
def includes_and_profiles_hold_for_archives():
    room()
    data = tar_of(".env.example", "build/keep/x.c", "build/y.c", "Makefile",
                  "a.env", entry(".claude/notes.md"), ".npmrc")
    unpack(data)
    expect(".claude/notes.md" not in files() and ".npmrc" not in files(),
           files())
    unpack(data, "--exclude", "Makefile")
    expect("Makefile" not in files(), files())
    unpack(tar_of("secrets.tfvars", "x.c"), "--include",
           "force:secrets.tfvars")
    expect("secrets.tfvars" in files(), files())


@test
def rows_1_to_24_names_are_judged():
    room()
    out = [".env", ".ENV", "a/b/.Env", ".env~", "credentials (1).json",
           ".git/config", "GIT~1/config", ".g\u200cit/config",
           "node_modules/x.js", "x\n.env", "bell\a.c", "a\\b.c",
           b"bad\xff.c".decode("utf-8", "surrogateescape"), ".ssh/id_rsa",
           "in.tar.gz", "in.zip", "lib.jar", ".agentbox/manifest",
           ".shared/x"]
    data = tar_of("main.c", "Makefile", "makefile", "-rf", "...", *out)
    got = unpack(data, "--json").json
    expect(files() == {"main.c", "Makefile", "makefile", "-rf", "...",
                       ".agentbox/manifest"}, files())
    with open(os.path.join(DST, MANIFEST), "rb") as f:
        expect(f.read().count(b"\n") == 6, "the archive's own manifest")
    expect(got["left_out"] >= len(out) - 2, got)


@test
def rows_26_to_43_only_files_and_directories_come():
    room()
    data = tar_of("main.c", entry("l", kind=tarfile.SYMTYPE,
                                  linkname="/etc/passwd"),
                  entry("in", kind=tarfile.SYMTYPE, linkname="main.c"),
                  entry("p", kind=tarfile.FIFOTYPE),
                  entry("c", kind=tarfile.CHRTYPE, devmajor=1, devminor=3),
                  entry("b", kind=tarfile.BLKTYPE, devmajor=8),
                  entry("s.sh", mode=0o6755), entry("t.c", mode=0o1000),
                  entry("d", kind=tarfile.DIRTYPE, mode=0o7777),
                  entry("old", kind=tarfile.CONTTYPE))
    got = unpack(data, "--json")
    expect(files() - {"old"} == {"main.c", "s.sh", "t.c", MANIFEST}, files())
    expect([(p, r) for p, r, _ in report_of(got) if p != "old"] ==
           [("b", "special"), ("c", "special"), ("in", "symlink"),
            ("l", "symlink"), ("p", "special")], report_of(got))
    modes = {n: os.stat(os.path.join(DST, n)).st_mode & 0o7777
             for n in ("main.c", "s.sh", "t.c", "d")}
    expect(modes == {"main.c": 0o444, "s.sh": 0o555, "t.c": 0o444,
                     "d": 0o555}, modes)


@test
def row_34_another_name_of_a_secret_is_left_out():
    room()
    for first, second in ((".env", "x.txt"), ("x.txt", ".env"),
                          ("node_modules/y", "x.txt"),
                          ("x.txt", "node_modules/y")):
        data = tar_of("main.c", entry(first, b"S=1\n"),
                      entry(second, kind=tarfile.LNKTYPE, linkname=first))
        got = unpack(data, "--json")
        expect(files() == {"main.c", MANIFEST}, (first, files()))
        expect(("x.txt", "alias") in [(p, r) for p, r, _ in report_of(got)],
               (first, report_of(got)))
    unpack(tar_of(entry("a.c", b"both\n"),
                  entry("b.c", kind=tarfile.LNKTYPE, linkname="./a.c")))
    with open(DST + "/b.c") as f:
        expect(f.read() == "both\n", "a link within is a file")


@test
def row_37_content_is_looked_through():
    room()
    got = unpack(tar_of("main.c", entry("src/config.txt", TOKEN)), "--json")
    expect(files() == {"main.c", MANIFEST}, files())
    expect(report_of(got)[0][:2] == ("src/config.txt", "content"),
           report_of(got))
    got = unpack(zip_of("deep/x.txt", data=b"a\n" * 2000000 + TOKEN))
    expect(files() == {MANIFEST}, files())


@test
def a_finding_is_admitted_in_an_archive_too():
    room()
    admit = ("--admit", "github-pat-classic:src/config.txt", "--json")
    got = unpack(tar_of(entry("src/config.txt", TOKEN),
                        entry("src/other.txt", TOKEN)), *admit)
    expect(files() == {"src/config.txt", MANIFEST}, files())
    expect([e[:2] for e in report_of(got)] == [
        ("src/config.txt", "admitted"), ("src/other.txt", "content")],
           report_of(got))
    tree()
    write("src/config.txt", TOKEN)
    expect("src/config.txt" in members(pack("tar", *admit[:2]), "tar"),
           "packed")
    expect("src/config.txt" not in members(pack("tar"), "tar"), "packed")


@test
def an_archive_that_is_a_repository_is_refused():
    room()
    done = unpack(tar_of("HEAD", "config", "objects/info/packs",
                         "refs/heads/main"), wanted=5)
    says(done, "itself a repository")


@test
def names_that_lead_out_are_refused_with_the_archive():
    room()
    for name in ("/abs", "../x", "a/../../x", "a/../b", "..", "a//b",
                 "a/./b", "a/..", "./../x", "//x"):
        refused(tar_of("main.c", name), 5, "not below its root")
        if name not in ("..",):
            refused(zip_of("main.c", name), 5)
    for target in ("/etc/passwd", "../x", "a/../../x"):
        refused(tar_of("main.c", entry("h", kind=tarfile.LNKTYPE,
                                       linkname=target)), 5,
                "not below its root")
    unpack(tar_of(entry("./", kind=tarfile.DIRTYPE), "./a.c",
                  entry("./d//", kind=tarfile.DIRTYPE), "./d/b.c"))
    expect(files() == {"a.c", "d/b.c", MANIFEST}, files())


@test
def two_things_of_one_name_are_refused_with_the_archive():
    room()
    link = entry("a", kind=tarfile.SYMTYPE, linkname="/tmp")
    folder = entry("a", kind=tarfile.DIRTYPE)
    for what in (("a", "a"), ("a", "a/b"), ("a/b", "a"), (link, "a/b"),
                 (link, "a"), ("a", link), (folder, "a"), (link, folder),
                 ("a", entry("a", kind=tarfile.FIFOTYPE)),
                 ("b", entry("a", kind=tarfile.LNKTYPE, linkname="b"), "a"),
                 ("x/.env", entry("x/.env/y", kind=tarfile.LNKTYPE,
                                  linkname="x/.env"))):
        refused(tar_of("main.c", *what), 5, "the archive has a name")
    for target in ("missing", "d", "later"):
        refused(tar_of(entry("d", kind=tarfile.DIRTYPE),
                       entry("h", kind=tarfile.LNKTYPE, linkname=target),
                       "later"), 5, "hard link")
    unpack(tar_of(folder, "a/b", folder, ".env", ".env"))
    expect(files() == {"a/b", MANIFEST}, files())


@test
def row_48_holes_count_as_what_they_look_like():
    room()
    clean(MADE)
    os.mkdir(MADE)
    for name, size in (("huge", 1 << 40), ("small", 5 << 20)):
        with open(os.path.join(MADE, name + ".txt"), "wb") as f:
            f.write(b"begin\n")
            f.truncate(size)
            f.seek(size // 2)
            f.write(b"middle\n")
    for form in ("gnu", "posix"):
        made = subprocess.run(["tar", "-cS", "--format=" + form, "huge.txt",
                               "small.txt"], cwd=MADE, check=True,
                              stdout=subprocess.PIPE).stdout
        expect(len(made) < 100000, "not sparse")
        got = unpack(made, "--json")
        expect([(p, r) for p, r, _ in report_of(got)] ==
               [("huge.txt", "size")], report_of(got))
        with open(DST + "/small.txt", "rb") as a, \
                open(MADE + "/small.txt", "rb") as b:
            expect(a.read() == b.read(), form)
        unpack(made, "--max-bytes", "1000000", wanted=5)


@test
def row_49_a_large_file_is_left_out():
    room()
    got = unpack(tar_of("main.c", entry("big.txt", b"a" * (51 << 20))),
                 "--json")
    expect(report_of(got)[0][:2] == ("big.txt", "size"), report_of(got))
    expect(files() == {"main.c", MANIFEST}, files())


@test
def rows_50_to_52_limits_hold():
    room()
    many = tar_of(*("f%d" % i for i in range(500)))
    refused(many, 5, "max_files", options=("--max-files", "100"))
    refused(many, 5, "max_bytes", options=("--max-bytes", "999"))
    dirs = tar_of(*[entry("d", kind=tarfile.DIRTYPE)] * 110000)
    refused(dirs, 5, "max_files", options=("--max-files", "100"))
    deep = "/".join("d" * 1 for _ in range(1500))
    got = unpack(tar_of("main.c", deep + "/x.c", deep + "/y.c"), "--json")
    expect([r for _, r, _ in report_of(got)] == ["depth"], report_of(got))
    refused(tar_of("main.c", "/".join("d" for _ in range(3000))), 5)
    refused(tar_of("a" * 256), 5, "longer")
    refused(tar_of("main.c", "/".join("a" * 200 for _ in range(100))), 5)


@test
def row_91_bombs_do_not_go_off():
    room()
    zeros = b"\0" * (100 << 20)
    bomb = tar_of("main.c", entry("z.txt", zeros))
    begin = time.monotonic()
    refused(gz(bomb), 5, "hundred times")
    if shutil.which("zstd"):
        refused(subprocess.run(["zstd", "-19", "--long=27", "-c"],
                               input=bomb, check=True,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL).stdout, 5)
    refused(zip_of("a.txt", "b.txt", data=zeros[:50 << 20]), 5,
            "hundred times")
    refused(gz(gz(bomb)), 3, "twice")
    expect(time.monotonic() - begin < 60, "it took long")


@test
def what_is_cut_off_is_refused():
    room()
    body = tar_of("main.c", entry("lib/a.c", b"a" * 3000), "z.c")
    end = 11 * 512
    for cut in list(range(0, end + 1, 512)) + [100, 600, 1500, end + 511]:
        refused(body[:cut], 3)
    unpack(body[:end + 512])  # a lone zero block is an end
    for form, whole in (("gz", gz(body)), ("zip", zip_of("a.c", "b.c"))):
        for cut in range(0, len(whole) - 1, max(1, len(whole) // 20)):
            refused(whole[:cut], 3)
        refused(whole[:-1], 3)
        unpack(whole)
    if shutil.which("zstd"):
        whole = subprocess.run(["zstd", "-c"], input=body, check=True,
                               stdout=subprocess.PIPE).stdout
        for cut in (3, 10, len(whole) // 2, len(whole) - 5):
            refused(whole[:cut], 3)
        unpack(whole)


@test
def what_follows_the_end_is_refused():
    room()
    body, other = tar_of("main.c"), tar_of("evil.c")
    unpack(body + b"\0" * 70000)
    refused(body + b"x", 3, "follows")
    refused(body + other, 3, "follows")
    refused(gz(body + b"x"), 3, "follows")
    refused(gz(body) + b"x", 3)
    refused(gz(body) + gz(other), 3)
    refused(gz(body) + b"\0" * 512, 3)
    whole = zip_of("a.c")
    refused(whole + b"x", 3)
    refused(b"x" + whole, 3)
    refused(b"\x89PNG\r\n\x1a\n" + whole, 3)
    refused(body + whole, 3, "follows")
    for junk in (b"", b"x", b"\x1f\x8b", b"PK\3\4", b"hello\n" * 1000,
                 b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c" + b"x" * 600,
                 b"070701" + b"0" * 600, b"!<arch>\n" + b"x" * 600):
        refused(junk, 3)


@test
def damaged_zips_and_encrypted_ones_are_refused():
    room()
    whole = bytearray(zip_of("a.c", data=b"int a;\n" * 100))
    at = whole.rindex(b"PK\1\2")
    locked = bytearray(whole)
    locked[6] |= 1
    locked[at + 8] |= 1
    got = tool("snapshot", "untar", "-", DST, stdin=bytes(locked))
    expect(got.status not in (0, 70) and "encrypted" in got.text, got)
    wrong = bytearray(whole)
    wrong[14] ^= 1  # the checksum, in both places
    wrong[at + 16] ^= 1
    refused(bytes(wrong), 3)
    wrong = bytearray(whole)
    wrong[at - 4] ^= 1  # the data
    refused(bytes(wrong), 3)
    wrong = bytearray(whole)
    struct.pack_into("<I", wrong, at + 42, 1 << 30)
    refused(bytes(wrong), 3)
    expect(not os.path.lexists(DST), "published")


@test
def headers_beyond_all_measure_are_refused():
    room()
    big = "x" * (3 << 20)
    info, data = entry("a.c", pax_headers={"comment": big})
    got = tool("snapshot", "untar", "-", DST,
               stdin=tar_of((info, data), form=tarfile.PAX_FORMAT))
    expect(got.status in (0, 3, 5), got)
    clean(DST)
    info, data = entry("a.c", pax_headers={"path": big})
    refused(tar_of((info, data), form=tarfile.PAX_FORMAT), 3)
    info, data = entry("a.c", pax_headers={
        "mtime": "99999999999999999999.5", "SCHILY.xattr.user.x": "y",
        "SCHILY.acl.access": "user::rwx", "uname": "root"})
    unpack(tar_of((info, data), form=tarfile.PAX_FORMAT))
    expect(os.listxattr(DST + "/a.c") == [], os.listxattr(DST + "/a.c"))
    info, data = entry("b.c", mtime=-12345)
    unpack(tar_of((info, data)))
    expect(os.stat(DST + "/b.c").st_mtime == -12345, "time")


@test
def a_stream_may_be_slow_endless_or_in_the_middle():
    room()
    begin = time.monotonic()
    job = start("snapshot", "untar", "--deadline", "1", "-", DST)
    job.stdin.write(tar_of("main.c")[:600])
    job.stdin.flush()
    expect(job.wait(WAIT) != 0, "it ended well")
    for stream in (job.stdin, job.stdout, job.stderr):
        stream.close()
    with open("/dev/zero", "rb") as endless:
        job = start("snapshot", "untar", "--deadline", "1", "-", DST,
                    stdin=endless)
        expect(job.wait(WAIT) != 0, "it ended well")
    job.stdout.close()
    job.stderr.close()
    expect(time.monotonic() - begin < 15, "no deadline")
    expect(sorted(os.listdir(TOP)) == sorted(BEFORE), os.listdir(TOP))
    os.mkdir(MADE)
    for data in (tar_of("main.c"), zip_of("main.c")):
        with open(MADE + "/x", "wb") as f:
            f.write(b"junk" * 100 + data)
        with open(MADE + "/x", "rb") as f:
            f.seek(400)
            done = subprocess.run(command("snapshot", "untar", "-", DST),
                                  stdin=f, env=environment(),
                                  stderr=subprocess.PIPE)
        expect(done.returncode == 0, done)
        expect(files() == {"main.c", MANIFEST}, files())
        clean(DST)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    job = subprocess.Popen(command("snapshot", "untar", "-", DST),
                           stdin=theirs, env=environment(),
                           stderr=subprocess.PIPE)
    theirs.close()
    for piece in (tar_of("main.c")[:700], tar_of("main.c")[700:]):
        ours.sendall(piece)
        time.sleep(0.1)
    ours.close()
    expect(job.wait(WAIT) == 0, job.stderr.read())
    job.stderr.close()
    expect(files() == {"main.c", MANIFEST}, files())


@test
def row_71_killed_in_the_middle_it_leaves_what_the_next_one_sweeps():
    room()
    data = tar_of(*("f%d" % i for i in range(3000)))
    for size in (600, 100000, len(data) - 5000):
        job = start("snapshot", "untar", "-", DST)
        job.stdin.write(data[:size])
        job.stdin.flush()
        time.sleep(0.2)
        job.kill()
        job.wait()
        for stream in (job.stdin, job.stdout, job.stderr):
            stream.close()
        expect(not os.path.lexists(DST), "published")
    end = time.monotonic() + WAIT
    while True:  # the helpers see their host's death a moment later
        try:
            unpack(tar_of("main.c"))
            break
        except AssertionError:
            expect(time.monotonic() < end, os.listdir(TOP))
            time.sleep(0.2)


@test
def row_72_of_two_imports_to_one_name_one_is_there():
    room()
    for turn in range(3):
        jobs = [start("snapshot", "untar", "-", DST) for _ in range(2)]
        archives = [tar_of("main.c", "only%d.c" % i) for i in range(2)]
        # both are in the middle before either can end
        for job, data in zip(jobs, archives):
            job.stdin.write(data[:700])
            job.stdin.flush()
        time.sleep(0.1)
        for job, data in zip(jobs, archives):
            job.stdin.write(data[700:])
            job.stdin.close()
        ends = [(job.wait(WAIT), job.stdout.read(), job.stderr.read())
                for job in jobs]
        expect(sorted(e[0] for e in ends) == [0, 5], ends)
        won = [e[0] for e in ends].index(0)
        expect(b"EEXIST" in ends[1 - won][2] or b"EBUSY" in ends[1 - won][2],
               ends)
        expect(files() == {"main.c", "only%d.c" % won, MANIFEST}, files())
        status(tool("snapshot", "verify", DST), 0)
        expect(not [n for n in os.listdir(TOP) if n.startswith(".agentbox-")],
               os.listdir(TOP))
        for job in jobs:
            job.stdout.close()
            job.stderr.close()
        status(tool("snapshot", "scrub", DST), 0)


@test
def an_import_is_a_snapshot_like_any_other():
    room()
    unpack(tar_of("main.c", "lib/a.c"))
    says(status(tool("snapshot", "verify", DST), 0), "2 files")
    says(status(tool("snapshot", "untar", "-", DST, stdin=tar_of("x.c")), 5),
         "there")
    expect("x.c" not in files(), files())
    if os.getuid() == 0:
        expect({os.lstat(os.path.join(DST, n)).st_uid
                for n in files() | {"."}} == {65533}, "another owner")
    status(tool("snapshot", "scrub", DST), 0)
    expect(not os.path.lexists(DST), "still there")
    says(status(tool("snapshot", "untar", MADE + "/none.tar", DST), 4),
         "none.tar")


if __name__ == "__main__":
    main()
