#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""agentbox snapshot and agentbox peer as people and scripts use them."""

import ctypes
import errno
import hashlib
import io
import json
import os
import resource
import shutil
import struct
import subprocess
import tarfile
import time
import traceback

from tool_lib import (TOP, WAIT, WORK, Skip, box_test, command, environment,
                      expect, main, needs_to_mount, says, status, test,
                      tool, until)

SRC = os.path.join(TOP, "src")
DST = os.path.join(TOP, "dst")


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def tree():
    """A small project with what must not be read."""
    for path in (SRC, DST):
        if os.path.isdir(path):
            subprocess.run(["chmod", "-R", "u+w", path], check=True)
            shutil.rmtree(path)
    for name in os.listdir(TOP):
        if name.startswith(".dst"):
            os.unlink(os.path.join(TOP, name))
    write(SRC + "/main.c", "int main(void) { return 0; }\n")
    write(SRC + "/lib/a.c", "int a;\n")
    write(SRC + "/.env", "TOKEN=1\n")
    write(SRC + "/.git/config", "[remote]\n")
    os.symlink("/etc/passwd", SRC + "/link")


def files(top):
    found = set()
    for base, _, names in os.walk(top):
        found |= {os.path.relpath(os.path.join(base, n), top) for n in names}
    return found


@test
def a_copy_has_the_source_and_not_the_secrets():
    tree()
    says(status(tool("snapshot", "copy", SRC, DST), 0), "2 files",
         "3 left out")
    expect(files(DST) == {"main.c", "lib/a.c", ".agentbox/manifest"},
           files(DST))
    expect(os.stat(DST + "/main.c").st_mode & 0o777 == 0o444, "mode")


@test
def what_the_walk_meets_late_counts_from_the_start():
    # a first copy begins while the walk goes on: another name of a secret,
    # a second name of what is kept, and a limit, all told at its end
    tree()
    for part in range(30):
        for i in range(60):
            write("%s/m%02d/%d/f.c" % (SRC, part, i), "int x = %d;\n" % i)
    write(SRC + "/z/.env", "TOKEN=2\n")
    write(SRC + "/z/two.c", "int two;\n")
    os.makedirs(SRC + "/a")
    os.link(SRC + "/z/.env", SRC + "/a/notes.txt")
    os.link(SRC + "/z/two.c", SRC + "/a/one.c")
    status(tool("snapshot", "copy", "--max-files", "1803", SRC, DST), 5)
    expect(not os.path.exists(DST), "over the limit")
    expect(not [n for n in os.listdir(TOP) if "agentbox-" in n], "left")
    says(status(tool("snapshot", "copy", SRC, DST), 0), "1804 files")
    found = files(DST)
    expect("a/notes.txt" not in found, "the secret's other name")
    expect({"a/one.c", "z/two.c", "m29/59/f.c"} <= found, "kept files")
    says(status(tool("snapshot", "verify", DST), 0), "1804 files")


@test
def explain_names_each_place_and_its_reason():
    tree()
    lines = status(tool("snapshot", "explain", SRC), 0).out.decode()
    for line in (".env\tname", ".git\tname", "link\tsymlink"):
        expect(line in lines, lines)
    report = status(tool("snapshot", "explain", "--json", SRC),
                    0).json["report"]
    expect([e["path"] for e in report] == [".env", ".git", "link"], report)
    expect(not os.path.exists(DST), "it wrote")


@test
def a_name_with_a_line_break_is_one_line_of_the_report():
    tree()
    write(SRC + "/x\nmain.c\tname: made up", "int x;\n")
    lines = status(tool("snapshot", "explain", SRC), 0).out.decode()
    expect(len(lines.splitlines()) == 4 and "x\\x0amain.c\\x09name" in lines,
           lines)


# what no service gave out, in two pieces for who scans this file
TOKEN = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
URL = "postgres" + "://app:Zq3Vb8LmXr5Tn1Wc@db.prod.corp.net:5432/x"


def findings():
    """A project in which the scan finds what its owner knows."""
    tree()
    write(SRC + "/docs/a.md", "one\n\nurl: %s\n" % URL)
    write(SRC + "/docs/b/c.md", "url: %s\n" % URL)
    write(SRC + "/docs/both.md", "url: %s\n%s\n" % (URL, TOKEN))
    write(SRC + "/test/token.txt", TOKEN + "\n")


def lines_of(*args):
    done = status(tool("snapshot", *args, "--json"), 0)
    return {(e["path"], e["reason"], e.get("rule"), e.get("line"))
            for e in done.json["report"]}, done.json


@test
def a_finding_is_admitted_by_rule_and_place():
    findings()
    says(status(tool("snapshot", "copy", SRC, DST), 0), "2 files",
         "7 left out")
    status(tool("snapshot", "scrub", DST), 0)
    known = ("--admit", "db-url:docs/", "--admit",
             "github-pat-classic:test/token.txt")
    report, counts = lines_of("explain", *known, SRC)
    expect({("docs/a.md", "admitted", "db-url", 3),
            ("docs/b/c.md", "admitted", "db-url", 1),
            ("docs/both.md", "content", "github-pat-classic", 2),
            ("test/token.txt", "admitted", "github-pat-classic", 1)} <=
           report, report)
    expect((counts["files"], counts["left_out"], counts["admitted"]) ==
           (5, 4, 3), counts)
    says(status(tool("snapshot", "copy", *known, SRC, DST), 0), "5 files",
         "4 left out, 3 admitted")
    expect({"docs/a.md", "docs/b/c.md", "test/token.txt"} <= files(DST) and
           "docs/both.md" not in files(DST), files(DST))
    lines = status(tool("snapshot", "explain", *known, SRC), 0).out.decode()
    expect("docs/a.md:3\tadmitted: db-url\n" in lines, lines)
    expect(TOKEN not in lines and "Zq3Vb8" not in lines, lines)


@test
def what_is_admitted_stays_so_until_the_options_change():
    findings()
    known = ("--admit", "db-url:docs/*.md")
    status(tool("snapshot", "copy", *known, SRC, DST), 0)
    done = status(tool("snapshot", "refresh", "--json", DST), 0).json
    expect(done["unchanged"] and done["admitted"] == 1, done)
    write(SRC + "/docs/d.md", "more: %s\n" % URL)
    done = status(tool("snapshot", "refresh", "--json", DST), 0).json
    expect((done["copied"], done["linked"], done["admitted"]) == (1, 3, 2),
           done)
    # an admitted file that comes to hold something else is out
    write(SRC + "/docs/d.md", "more: %s\n%s\n" % (URL, TOKEN))
    done = status(tool("snapshot", "refresh", "--json", DST), 0).json
    expect(done["admitted"] == 1 and "docs/d.md" not in files(DST), done)
    done = status(tool("snapshot", "refresh", "--admit", "jwt:docs/",
                       "--json", DST), 0).json
    expect(done["admitted"] == 0 and "docs/a.md" not in files(DST), done)


@test
def an_admission_that_is_none_or_too_wide_is_refused():
    findings()
    for text, word in (("docs/", "names no rule"), ("nosuch:x", "no rule"),
                       ("github-pat-classic:*.txt", "one file at a time"),
                       ("db-url:../x", "malformed")):
        says(status(tool("snapshot", "copy", "--admit", text, SRC, DST), 2),
             "--admit", word)
    write(TOP + "/p.json", """{"agentbox": 1, "snapshot": {"admit":
          ["db-url:docs/", "pem-private:*"]}}""")
    says(status(tool("snapshot", "copy", "--policy", TOP + "/p.json", SRC,
                     DST), 2), "/snapshot/admit/1")
    says(status(tool("policy", "check", TOP + "/p.json"), 3),
         "/snapshot/admit/1")
    expect(not os.path.exists(DST), "it wrote")
    write(TOP + "/p.json", """{"agentbox": 1, "snapshot": {"admit":
          ["db-url:docs/a.md"]}}""")
    status(tool("policy", "check", TOP + "/p.json"), 0)
    says(status(tool("snapshot", "copy", "--policy", TOP + "/p.json", SRC,
                     DST), 0), "1 admitted")
    os.unlink(TOP + "/p.json")


@test
def a_refresh_remembers_its_options():
    tree()
    status(tool("snapshot", "copy", "--exclude", "*.bin", SRC, DST), 0)
    write(SRC + "/x.bin", "binary")
    write(SRC + "/new.c", "int n;\n")
    status(tool("snapshot", "refresh", DST), 0)
    expect("new.c" in files(DST) and "x.bin" not in files(DST), files(DST))
    says(status(tool("snapshot", "refresh", DST), 0), "unchanged")


def forge(path, old, new):
    """Say another source in a record, with a checksum that is right."""
    with open(path, "rb") as f:
        text = f.read()[:-32]
    expect(len(old) == len(new) and text.count(old) == 1, old)
    text = text.replace(old, new)
    with open(path, "wb") as f:
        f.write(text + hashlib.sha256(text).digest())


@test
def what_nobody_looks_through_is_not_kept_for_being_clean():
    tree()
    write(SRC + "/.env.example", "A=1\n")
    write(SRC + "/plain.txt", "a\n")
    for more, kept in ([], True), (["--content", "high"], True), \
            (["--content", "off"], False), \
            (["--content", "off", "--include", ".env.example"], True):
        status(tool("snapshot", "copy", *more, SRC, DST), 0)
        expect((".env.example" in files(DST)) == kept, more)
        expect("plain.txt" in files(DST), more)
        status(tool("snapshot", "scrub", DST), 0)


@test
def a_record_that_others_may_write_names_no_source():
    tree()
    record = os.path.join(TOP, ".dst.agentbox")
    other = SRC[:-1] + "x"
    shutil.rmtree(other, ignore_errors=True)
    write(other + "/private.txt", "plain\n")
    status(tool("snapshot", "copy", SRC, DST), 0)
    forge(record, SRC.encode(), other.encode())
    forge(record, struct.pack("<Q", os.stat(SRC).st_ino),
          struct.pack("<Q", os.stat(other).st_ino))
    os.chmod(record, 0o622)
    for more in ([], ["--content", "off"]):
        says(status(tool("snapshot", "refresh", *more, DST), 5),
             "others may write it", "make it anew")
    os.chmod(record, 0o600)
    if os.geteuid() == 0:
        os.chown(record, 12345, 12345)
        says(status(tool("snapshot", "refresh", DST), 5),
             "belongs to uid 12345")
        # who only asks is told
        status(tool("snapshot", "verify", DST), 0)
        os.chown(record, 0, 0)
    expect(not os.path.exists(DST + "/private.txt"), files(DST))
    # whose record it is may say what he likes in it
    status(tool("snapshot", "refresh", DST), 0)
    expect(os.path.exists(DST + "/private.txt"), files(DST))
    shutil.rmtree(other)


@test
def a_refresh_finds_a_source_of_any_name():
    tree()
    for name in (b"src-\xff\\x41", "src-\u00e9".encode()):
        source = os.path.join(os.fsencode(TOP), name)
        os.rename(SRC, source)
        status(tool("snapshot", "copy", source, DST), 0)
        with open(source + b"/more.c", "w") as f:
            f.write("int more;\n")
        status(tool("snapshot", "refresh", DST), 0)
        expect("more.c" in files(DST), files(DST))
        status(tool("snapshot", "scrub", DST), 0)
        os.rename(source, SRC)
        os.unlink(SRC + "/more.c")


@test
def verify_tells_what_was_changed():
    tree()
    status(tool("snapshot", "copy", SRC, DST), 0)
    says(status(tool("snapshot", "verify", DST), 0), "2 files")
    os.chmod(DST + "/main.c", 0o644)
    write(DST + "/main.c", "int main(void) { return 1; }\n")
    os.chmod(DST + "/main.c", 0o444)
    expect(b"main.c" in status(tool("snapshot", "verify", DST), 6).out)


@test
def verify_of_what_is_no_snapshot_says_so():
    tree()
    says(status(tool("snapshot", "verify", DST), 4), "dst")
    says(status(tool("snapshot", "verify", SRC), 4), "no snapshot")
    says(status(tool("snapshot", "verify", SRC + "/main.c"), 4), "no snapshot")
    # what was one has changed, whichever half of it is there
    for gone in (".dst.agentbox", "dst/.agentbox"):
        tree()
        status(tool("snapshot", "copy", SRC, DST), 0)
        subprocess.run(["chmod", "-R", "u+w", DST], check=True)
        path = os.path.join(TOP, gone)
        (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)
        status(tool("snapshot", "verify", DST), 6)
    tree()
    status(tool("snapshot", "copy", SRC, DST), 0)
    subprocess.run(["chmod", "-R", "u+w", DST], check=True)
    shutil.rmtree(DST)
    write(DST, "a file")
    status(tool("snapshot", "verify", DST), 6)
    os.unlink(DST)


@test
def a_copy_is_not_put_into_its_own_source():
    tree()
    os.makedirs(SRC + "/deep/er")
    for dst in (SRC + "/out", SRC + "/deep/er/out", SRC + "/lib/../out"):
        says(status(tool("snapshot", "copy", SRC, dst), 2), "its own source")
    expect(files(SRC) == {"main.c", "lib/a.c", ".env", ".git/config", "link"},
           files(SRC))
    # beside it, and with a name that begins the same
    status(tool("snapshot", "copy", SRC + "/lib", SRC + "/out"), 0)
    expect(files(SRC + "/out") == {"a.c", ".agentbox/manifest"}, "lib")
    status(tool("snapshot", "scrub", SRC + "/out"), 0)
    # where no copy looks nothing is in anything
    status(tool("snapshot", "copy", "--exclude", "/deep/", SRC,
                SRC + "/deep/out"), 0)
    status(tool("snapshot", "refresh", SRC + "/deep/out"), 0)
    status(tool("snapshot", "scrub", SRC + "/deep/out"), 0)


@test
def a_refresh_is_not_put_into_its_own_source():
    tree()
    git = ["git", "-C", SRC, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    shutil.rmtree(SRC + "/.git")
    for words in (["init", "-q"], ["add", "main.c"], ["commit", "-qm", "a"]):
        subprocess.run(git + words, check=True)
    os.makedirs(SRC + "/deep")
    dst = SRC + "/deep/out"
    # of commits it may be there; then the directory itself is asked for
    status(tool("snapshot", "copy", "--git", "head", SRC, dst), 0)
    before = files(dst)
    says(status(tool("snapshot", "refresh", "--git", "none", dst), 2),
         "its own source", "deep")
    expect(files(dst) == before, files(dst))
    # the directory was moved there after the first copy
    os.makedirs(TOP + "/hold", exist_ok=True)
    held = TOP + "/hold/out"
    status(tool("snapshot", "copy", SRC + "/lib", held), 0)
    shutil.rmtree(SRC + "/lib/hold", ignore_errors=True)
    os.rename(TOP + "/hold", SRC + "/lib/hold")
    says(status(tool("snapshot", "refresh", SRC + "/lib/hold/out"), 2),
         "its own source")
    status(tool("snapshot", "scrub", SRC + "/lib/hold/out"), 0)
    status(tool("snapshot", "scrub", dst), 0)


@test
def a_source_that_was_moved_into_its_snapshot_is_kept():
    tree()
    status(tool("snapshot", "copy", SRC, DST), 0)
    os.chmod(DST, 0o755)
    os.rename(SRC, DST + "/src")
    os.symlink(DST + "/src", SRC)
    write(DST + "/src/new.c", "int new;\n")
    for _ in range(2):
        says(status(tool("snapshot", "refresh", DST), 2), "in the snapshot")
    expect("src/new.c" in files(DST), files(DST))
    os.unlink(SRC)
    os.rename(DST + "/src", SRC)
    status(tool("snapshot", "refresh", DST), 0)
    expect("new.c" in files(DST), files(DST))


@test
def a_bind_mount_hides_no_source():
    needs_to_mount("only root may mount")
    tree()
    os.makedirs(SRC + "/lib/out")
    bound = os.path.join(TOP, "bound")
    os.makedirs(bound, exist_ok=True)
    # the way up from there does not meet the source
    script = ('mount --bind "$1" "$2" && shift 2 && exec "$@"')
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", SRC + "/lib/out", bound] +
        command("snapshot", "copy", SRC, bound + "/dst"),
        capture_output=True, text=True, timeout=WAIT)
    expect(done.returncode == 2 and "its own source" in done.stderr, done)
    expect(not os.listdir(SRC + "/lib/out"), os.listdir(SRC + "/lib/out"))
    os.rmdir(bound)


@test
def an_archive_that_gets_no_name_is_not_told_of():
    tree()
    # a file that the kernel lets nobody call so, which shows at the end
    name = os.path.join(TOP, "x" * 300)
    done = tool("snapshot", "tar", "--json", "--output", name, SRC)
    expect(done.status != 0 and "error" in done.json and
           "files" not in done.json, done)


@test
def what_is_in_a_format_that_is_not_read_is_bad_input():
    tree()
    write(SRC + "/.git/HEAD", "ref: refs/heads/main\n")
    for name in ("objects", "refs", "reftable"):
        os.makedirs(SRC + "/.git/" + name)
    says(status(tool("snapshot", "copy", "--git", "head", SRC, DST), 3),
         "EUNSUPPORTED")
    says(status(tool("snapshot", "tar", "--git", "head", "--output",
                     DST + ".tar", SRC), 3), "EUNSUPPORTED")


@test
def a_directory_that_may_not_be_written_is_named():
    if os.getuid() == 0:
        raise Skip("root may write everywhere")
    tree()
    shut = os.path.join(TOP, "shut")
    os.makedirs(shut, exist_ok=True)
    os.chmod(shut, 0o555)
    done = status(tool("snapshot", "copy", SRC, shut + "/dst"), 5)
    says(done, shut + ":", "EACCES")
    status(tool("snapshot", "untar", "-", shut + "/dst"), 5)
    os.chmod(shut, 0o755)
    expect(not os.listdir(shut), os.listdir(shut))
    os.rmdir(shut)
    # nor is a record that may not be read one that was tampered with
    status(tool("snapshot", "copy", SRC, DST), 0)
    record = os.path.join(os.path.dirname(DST), ".dst.agentbox")
    os.chmod(record, 0)
    says(status(tool("snapshot", "verify", DST), 5), "may not be read",
         "EACCES")
    os.chmod(record, 0o600)
    status(tool("snapshot", "verify", DST), 0)


@test
def the_manifest_is_in_byte_order_of_its_paths():
    tree()
    # files beside directories whose names begin the same
    for name in ("a.c", "a-b", "a/b.c", "a0", "A", "aa", "b!x", "b/c.d",
                 "b/c/e", "b/c-", "c+", "c/-", "c/x", "\u00e9", "z\u00df"):
        write(SRC + "/" + name, "x\n")
    status(tool("snapshot", "copy", SRC, DST), 0)
    with open(DST + "/.agentbox/manifest", "rb") as f:
        listed = [json.loads(line)["path"].encode() for line in f
                  if b'"path"' in line]
    expect(set(p.decode() for p in listed) ==
           files(DST) - {".agentbox/manifest"}, listed)
    expect(listed == sorted(listed) and len(listed) > 12, listed)
    write(SRC + "/a-", "x\n")
    write(SRC + "/b/c0", "x\n")
    status(tool("snapshot", "refresh", DST), 0)
    with open(DST + "/.agentbox/manifest", "rb") as f:
        again = [json.loads(line)["path"].encode() for line in f
                 if b'"path"' in line]
    expect(again == sorted(listed + [b"a-", b"b/c0"]), again)
    packed = tool("snapshot", "tar", SRC).out
    with tarfile.open(fileobj=io.BytesIO(packed)) as t:
        found = [m.name.encode() for m in t if m.isfile()]
    expect(found[:-1] == again, found)


@test
def a_source_that_is_a_repository_is_refused():
    tree()
    write(SRC + "/bare/HEAD", "ref: refs/heads/main\n")
    write(SRC + "/bare/config", "[remote \"origin\"]\n\turl = https://u:"
          "hunter2hunter2X9@git.corp.example/x\n")
    write(SRC + "/bare/objects/info/packs", "\n")
    os.makedirs(SRC + "/bare/refs/heads")
    bare = SRC + "/bare"
    for args in (("copy", bare, DST), ("explain", bare), ("tar", bare),
                 ("copy", "--profile", "required", bare, DST),
                 ("copy", "--content", "off", bare, DST)):
        done = status(tool("snapshot", *args), 5)
        says(done, "itself a repository")
        expect(b"hunter2" not in done.out, done)
    expect(not os.path.exists(DST), "it wrote")
    # beside other things it is left out, and no reason to refuse them
    status(tool("snapshot", "copy", SRC, DST), 0)
    expect(files(DST) == {"main.c", "lib/a.c", ".agentbox/manifest"},
           files(DST))
    # what was copied stays as it was when its source becomes one
    os.rename(bare + "/objects", SRC + "/objects")
    os.rename(bare + "/HEAD", SRC + "/HEAD")
    os.rename(bare + "/refs", SRC + "/refs")
    says(status(tool("snapshot", "refresh", DST), 5), "itself a repository")
    says(status(tool("snapshot", "verify", DST), 0), "2 files")


def limited(what, size):
    def limit():
        resource.setrlimit(what, (size, size))
    return {"preexec_fn": limit}


def small_files(size):
    return limited(resource.RLIMIT_FSIZE, size)


@test
def a_limit_of_file_size_is_a_reason_and_no_dead_copier():
    tree()
    # what fits is copied, whatever the processes share meanwhile
    says(status(tool("snapshot", "copy", SRC, DST, **small_files(65536)), 0),
         "2 files")
    status(tool("snapshot", "scrub", DST), 0)
    for size in (300000, 3000000):
        write(SRC + "/large.txt", "a\n" * (size // 2))
        says(status(tool("snapshot", "copy", SRC, DST,
                         **small_files(size - 4096)), 70),
             "large.txt", "file too large")
        expect(not os.path.exists(DST), "it wrote")
        expect(not [n for n in os.listdir(TOP) if "agentbox-" in n], "left")
    # ThreadSanitizer's runtime writes a file when a program starts
    if "thread" not in os.environ.get("AB_TEST_SANITIZED", ""):
        says(status(tool("snapshot", "copy", SRC, DST, **small_files(0)),
                    70), "file too large")
    # who only reads writes no file
    status(tool("snapshot", "explain", SRC, **small_files(65536)), 0)
    says(status(tool("snapshot", "copy", SRC, DST, **small_files(4000000)),
                0), "3 files")


@test
def few_descriptors_are_enough():
    # files that are made wait, open, for what is in them
    tree()
    for i in range(400):
        write(f"{SRC}/d{i // 8}/f{i}.c", f"int f{i};\n")
    says(status(tool("snapshot", "copy", SRC, DST,
                     **limited(resource.RLIMIT_NOFILE, 32)), 0), "402 files")
    status(tool("snapshot", "verify", DST), 0)


@test
def scrub_leaves_nothing_to_read():
    tree()
    status(tool("snapshot", "copy", SRC, DST), 0)
    with open(DST + "/main.c") as held:
        status(tool("snapshot", "scrub", DST), 0)
        expect(held.read() == "", "still there")
    expect(not [n for n in os.listdir(TOP) if "dst" in n], os.listdir(TOP))


@test
def scrub_ends_nothing_but_a_snapshot():
    tree()
    write(DST + "/mine", "mine")
    for record in (False, True):
        if record:
            write(os.path.join(TOP, ".dst.agentbox"), "anything")
        says(status(tool("snapshot", "scrub", DST), 4), "no snapshot")
        with open(DST + "/mine") as f:
            expect(f.read() == "mine", "emptied")
    os.unlink(os.path.join(TOP, ".dst.agentbox"))
    shutil.rmtree(DST)
    os.symlink("src", DST)
    status(tool("snapshot", "scrub", DST), 4)
    expect(len(files(SRC)) > 2, files(SRC))
    os.unlink(DST)


@test
def a_name_that_is_taken_is_refused_and_left():
    tree()
    write(DST + "/mine", "mine")
    status(tool("snapshot", "copy", SRC, DST), 5)
    done = status(tool("snapshot", "copy", SRC, "dst", cwd=TOP), 5)
    expect(done.err.count(b"dst") == 1, done.err)
    expect(files(DST) == {"mine"}, files(DST))


@test
def what_is_wrong_is_named():
    tree()
    says(status(tool("snapshot", "copy", SRC + "x", DST), 4), SRC + "x")
    says(status(tool("snapshot", "refresh", DST), 4), "no record")
    says(status(tool("snapshot", "copy", "--exclude", "a[", SRC, DST), 2),
         "--exclude")
    says(status(tool("snapshot", "copy", "--profile", "lax", SRC, DST), 2),
         "lax")
    says(status(tool("snapshot", "copy", "--max-files", "0", SRC, DST), 2),
         "max_files")
    says(status(tool("snapshot", "copy", "--max-files", "1", SRC, DST), 5),
         "max_files: ", "it is 1: allow more, or exclude more")
    says(status(tool("snapshot", "copy", "--max-bytes", "7", SRC, DST), 5),
         "max_bytes: ", "it is 7: allow more, or exclude more")
    expect(not os.path.exists(DST), "half made")
    for name in (".hidden", "x" * 240):
        dst = os.path.join(os.path.dirname(DST), name)
        says(status(tool("snapshot", "copy", SRC, dst), 2), "the name")
        says(status(tool("snapshot", "verify", dst), 2), "the name")


@test
def peers_need_two_boxes():
    says(status(tool("peer", "grant"), 2), "--reader BOX and --source BOX")
    says(status(tool("peer", "grant", "a", "b"), 2), "takes options only")
    says(status(tool("peer", "grant", "--reader", "a", "--source", "b"), 4),
         "'a'")
    says(status(tool("peer", "list"), 0), "no box is granted anything")


@box_test
def one_box_reads_another():
    tree()
    room = os.path.join(TOP, "reader")
    os.makedirs(room, exist_ok=True)
    boxes = [subprocess.Popen(
        command("run", "--workspace", where, "--name", name, *more, "--",
                "sleep", "60"), env=environment(), cwd=WORK)
        for where, name, more in ((SRC, "writer", ()),
                                  (room, "reader", ("--peering",)))]
    try:
        both = ["--reader", "reader", "--source", "writer"]
        end = time.monotonic() + WAIT
        while tool("peer", "grant", *both, "--as", "code").status != 0:
            expect(time.monotonic() < end, "never granted")
            time.sleep(0.1)
        grants = tool("peer", "list", "--json").json
        expect(len(grants) == 1 and grants[0]["name"] == "code" and
               grants[0]["files"] == 2, grants)
        write(SRC + "/more.c", "int m;\n")
        says(status(tool("peer", "refresh", *both), 0), "3 files")
        says(status(tool("peer", "revoke", *both, "--revoke", "maybe"), 2),
             "maybe")
        status(tool("peer", "revoke", *both), 0)
        expect(tool("peer", "list", "--json").json == [], "listed")
        # what a grant leaves out no refresh brings along
        status(tool("peer", "grant", *both, "--exclude", "more.c"), 0)
        write(SRC + "/again.c", "int n;\n")
        counts = status(tool("peer", "refresh", *both, "--json"),
                        0).json["counts"]
        expect((counts["files"], counts["left_out"]) == (3, 4), counts)
        # unless the host says so
        counts = status(tool("peer", "refresh", *both, "--profile", "strict",
                             "--json"), 0).json["counts"]
        expect((counts["files"], counts["left_out"]) == (4, 3), counts)
        status(tool("peer", "revoke", *both), 0)
    finally:
        for box in boxes:
            box.terminate()
            box.wait()
    expect(not os.path.exists(room + "/.shared"), "the mount point is left")


@box_test
def the_name_of_two_boxes_is_nobodys():
    """Whoever calls a box of theirs as another is called reads nothing."""
    tree()
    says(status(tool("run", "--name", "0123456789abcdef" * 2, "--", "true"),
                2), "form of a box id")
    rooms = [os.path.join(TOP, name) for name in ("theirs", "false")]
    both = ["--reader", "reader", "--source", "writer"]
    boxes = []

    def start(where, name):
        os.makedirs(where, exist_ok=True)
        boxes.append(subprocess.Popen(
            command("run", "--workspace", where, "--name", name, "--peering",
                    "--", "sleep", "60"), env=environment(), cwd=WORK))

    try:
        start(SRC, "writer")
        start(rooms[0], "reader")
        until(lambda: tool("peer", "grant", *both).status == 0, "granted")
        reader = tool("peer", "list", "--json").json[0]["reader"]
        start(rooms[1], "reader")
        until(lambda: tool("verify", "reader").status == 2, "two of a name")
        says(tool("verify", "reader"), "two live boxes have the name 'reader'")
        says(status(tool("peer", "grant", *both, "--as", "code"), 2),
             "two live boxes have the name 'reader'")
        both[1] = reader
        status(tool("peer", "grant", *both, "--as", "code"), 0)
        grants = tool("peer", "list", "--json").json
        expect([g["reader"] for g in grants] == [reader, reader], grants)
    finally:
        for box in boxes:
            box.terminate()
            box.wait()


def fill(path):
    """Until nothing fits any more."""
    with open(path, "ab", buffering=0) as f:
        for size in (65536, 4096, 1):
            try:
                while f.write(b"x" * size) == size:
                    pass
            except OSError as e:
                expect(e.errno == errno.ENOSPC, e)


def on_a_full_disk(state):
    """In its own mount namespace: the state directory is a disk of 3 MiB."""
    tree()
    write(SRC + "/granted.txt", "GRANTED\n")
    room = os.path.join(TOP, "small")
    os.makedirs(room)
    boxes = [subprocess.Popen(
        command("run", "--state", state, "--workspace", where, "--name", name,
                *more, "--", "sh", "-c", line), env=environment(), cwd=WORK)
        for where, name, more, line in (
            (SRC, "writer", (), "sleep 60"),
            (room, "reader", ("--peering",),
             "until [ -e .shared/code/granted.txt ]; do sleep 0.1; done;"
             "exec 3< .shared/code/granted.txt;"
             "touch opened; until [ -e gone ]; do sleep 0.1; done;"
             "cat <&3 > seen; ls .shared/code >> seen 2>&1; touch told;"
             "sleep 60"))]
    try:
        both = ["--state", state, "--reader", "reader", "--source", "writer"]
        until(lambda: tool("peer", "grant", *both, "--as", "code").status == 0,
              "granted", 10)
        until(lambda: os.path.exists(room + "/opened"), "opened")
        fill(state + "/fill")
        expect(len(tool("peer", "list", "--state", state,
                        "--json").json) == 1, "list")
        status(tool("peer", "revoke", *both), 0)
        fill(state + "/fill")
        expect(tool("peer", "list", "--state", state, "--json").json == [],
               "listed")
        open(room + "/gone", "w").close()
        until(lambda: os.path.exists(room + "/told"), "looked")
        with open(room + "/seen") as f:
            seen = f.read()
        expect("GRANTED" not in seen and "No such file" in seen, seen)
        done = tool("peer", "grant", *both, "--as", "code")
        says(status(done, 70), "no space left")
        expect(tool("peer", "list", "--state", state, "--json").json == [],
               "granted")
        os.unlink(state + "/fill")
        status(tool("peer", "grant", *both, "--as", "code"), 0)
        status(tool("peer", "revoke", *both), 0)
    finally:
        for box in boxes:
            box.terminate()
            box.wait()


def on_small_disk(at, options, run):
    """In a child with a mount table of its own, where a disk is at `at`."""
    os.mkdir(at, 0o700)
    pid = os.fork()
    if pid == 0:
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            # CLONE_NEWNS; MS_REC | MS_PRIVATE
            expect(libc.unshare(0x20000) == 0 and
                   libc.mount(None, b"/", None, 0x44000, None) == 0 and
                   libc.mount(b"none", at.encode(), b"tmpfs", 6,
                              options) == 0, "no small disk")
            run(at)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    expect(os.waitpid(pid, 0)[1] == 0, "see above")


@box_test
def a_full_disk_keeps_no_grant_alive():
    needs_to_mount("needs root for a small disk; the store's own test "
                   "does it as a user")
    on_small_disk(os.path.join(TOP, "state"), b"size=3m,mode=700",
                  on_a_full_disk)


def to_a_full_disk(at):
    out = os.path.join(at, "out")
    write(os.path.join(SRC, "big"), "text\n" * 60000)
    for _ in range(2):
        r = status(tool("snapshot", "copy", SRC, out), 70)
        says(r, out, "big: cannot write the file; its disk is full: "
             "make room there", "another destination", "ESYS")
        expect(os.listdir(at) == [], os.listdir(at))
    os.unlink(os.path.join(SRC, "big"))
    for i in range(40):
        write(os.path.join(SRC, "many/%d" % i), "")
    r = status(tool("snapshot", "copy", SRC, out), 70)
    says(r, out, "disk is full", "df -i")
    shutil.rmtree(os.path.join(SRC, "many"))
    status(tool("snapshot", "copy", SRC, out), 0)


@test
def a_full_destination_is_named_with_what_to_do():
    needs_to_mount("needs root for a small disk")
    tree()
    on_small_disk(os.path.join(TOP, "full-disk"), b"size=256k,nr_inodes=24",
                  to_a_full_disk)


if __name__ == "__main__":
    main()
