# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of snapshots of commits share: repositories made by git, and
what git says of what was made of them, with the owner check off where another
user reads (row 89)."""

import contextlib
import os
import shutil
import subprocess

from tool_lib import (TOP, WAIT, command, environment, expect, says, status,
                      tool, until)

SRC = os.path.join(TOP, "src")
DST = os.path.join(TOP, "dst")
# Forms of secrets, put together here so that no scan of this file finds them.
AWS = "AKIA" + "Q3EGRTXDKLPWMZ7N"
GITHUB = "ghp_" + "x8Kq2mV5nB7cZ1aS4dF6gH9jL0pO3iU2yT1e"
MARK = "kumquat-in-history"


def git_env(**more):
    env = environment(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null",
                      GIT_AUTHOR_NAME="Ada Lovelace",
                      GIT_AUTHOR_EMAIL="ada@example.org",
                      GIT_COMMITTER_NAME="Ada Lovelace",
                      GIT_COMMITTER_EMAIL="ada@example.org",
                      GIT_CONFIG_COUNT="1",
                      GIT_CONFIG_KEY_0="safe.directory",
                      GIT_CONFIG_VALUE_0="*")
    env.update(more)
    return env


def git(*args, cwd=SRC, check=True, stdin=b"", **more):
    p = subprocess.run(["git", *args], cwd=cwd, env=git_env(**more),
                       input=stdin, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    expect(not check or p.returncode == 0,
           "git %s: %s" % (" ".join(args), p.stderr.decode()))
    return p.stdout.decode("utf-8", "replace")


def write(path, text, mode=0o644):
    full = os.path.join(SRC, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(full, mode)


def commit(message="work"):
    git("add", "-A", "-f")
    git("commit", "-q", "--allow-empty", "-m", message)
    return git("rev-parse", "HEAD").strip()


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        subprocess.run(["chmod", "-R", "u+w", path], check=True)
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def clean():
    for name in os.listdir(TOP):
        if name not in ("home", "work"):
            remove(os.path.join(TOP, name))


def begin(*args):
    clean()
    os.makedirs(SRC)
    git("init", "-q", "-b", "main", *args)


def project():
    """A branch of two commits, off main, with a history of its own."""
    begin()
    write("README", "hello\n")
    write("src/main.c", "int main(void) { return 0; }\n")
    write("src/gone.c", "int gone;\n")
    write("run.sh", "#!/bin/sh\n", 0o755)
    commit("one")
    git("checkout", "-q", "-b", "feature")
    write("README", "hello\nworld\n")
    write("src/new.c", "int added;\n")
    os.unlink(os.path.join(SRC, "src/gone.c"))
    commit("two: " + MARK)
    write("src/new.c", "int added = 1;\n")
    return commit("three")


def snapshot(*args, want=0, how="head", src=SRC):
    return status(tool("snapshot", "copy", src, DST, "--git", how, "--json",
                       *args, timeout=3 * WAIT), want)


def inflated(repo):
    """Every object of a repository, as bytes by name."""
    out = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=repo,
        env=git_env(), stdout=subprocess.PIPE, check=True).stdout
    found, at = {}, 0
    while at < len(out):
        eol = out.index(b"\n", at)
        oid, kind, size = out[at:eol].split()
        found[oid.decode()] = (kind.decode(), out[eol + 1:eol + 1 + int(size)])
        at = eol + 2 + int(size)
    return found


def nowhere(*words, top=None):
    """In no file, and in no object."""
    top = top or DST
    for base, dirs, names in os.walk(top):
        for name in dirs + names:
            path = os.path.join(base, name)
            for word in words:
                expect(word not in name, path)
                if os.path.isfile(path):
                    with open(path, "rb") as f:
                        expect(word.encode() not in f.read(),
                               "%s in %s" % (word, path))
    for oid, (kind, data) in inflated(top).items():
        for word in words:
            expect(word.encode() not in data, "%s in %s %s" % (word, kind,
                                                               oid))


def is_sound(top=None):
    """git finds nothing wrong, and nothing that differs."""
    top = top or DST
    p = subprocess.run(["git", "fsck", "--strict", "--full"], cwd=top,
                       env=git_env(), stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    expect(p.returncode == 0, p.stdout)
    expect(b"error" not in p.stdout and b"dangling" not in p.stdout, p.stdout)
    for args in (["status", "--porcelain"], ["diff", "HEAD"], ["diff"]):
        expect(git(*args, cwd=top) == "", args)
    status(tool("snapshot", "verify", top), 0)


def leftovers():
    return [n for n in os.listdir(TOP)
            if n.startswith(".agentbox-") and not n.endswith(".old")]


def refused(code, *words, how="head", args=()):
    """It fails by name, and nothing is half made."""
    done = tool("snapshot", "copy", SRC, DST, "--git", how, *args,
                timeout=3 * WAIT)
    expect(done.status == code, "wanted exit %s, got %r" % (code, done))
    says(done, *words)
    expect(not os.path.lexists(DST), "something was published")
    expect(not leftovers(), leftovers())
    return done


def not_read(how="head"):
    """Refused, whatever the exit status is."""
    done = tool("snapshot", "copy", SRC, DST, "--git", how, timeout=3 * WAIT)
    expect(done.status in (3, 4, 5) and not os.path.lexists(DST) and
           not leftovers(), done)
    return done


# What a reviewer in a box of his own sees of a branch.
REVIEW = """
for i in $(seq 150); do [ -e .shared/code/.git/HEAD ] && break; sleep 0.1; done
cd .shared/code || exit 9
g() { git -c 'safe.directory=*' "$@" || exit 8; }
g status --porcelain
g log --format=%s
g diff --name-only HEAD~1
g blame README | wc -l
"""


@contextlib.contextmanager
def two_boxes(*read):
    """A box over the source, and a reader that does this."""
    room = os.path.join(TOP, "reader")
    os.makedirs(room, exist_ok=True)
    boxes = [subprocess.Popen(
        command("run", "--workspace", where, "--name", name, *more),
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for where, name, more in (
            (SRC, "writer", ("--", "sleep", "60")),
            (room, "reader", ("--peering", "--", *read)))]
    try:
        yield boxes[1]
    finally:
        for box in boxes:
            box.terminate()
            box.communicate()


def grant(*args):
    """As soon as both boxes are there."""
    def asked():
        done = tool("peer", "grant", "--reader", "reader", "--source",
                    "writer", "--json", *args)
        return done if done.status == 0 else None

    return until(asked, "a grant").json


def is_reviewed(*args):
    """A reviewer reads the branch of project(), and nothing but it."""
    with two_boxes("sh", "-c", REVIEW) as reader:
        granted = grant("--as", "code", "--git", "range=main", *args)
        expect("base" in granted["counts"]["git"], granted)
        out, err = reader.communicate(timeout=3 * WAIT)
        expect(out.decode().split("\n") == [
            "head: what was kept of the branch",
            "base: what was kept of where the branch began",
            "README", "src/gone.c", "src/new.c", "2", ""], (out, err))
