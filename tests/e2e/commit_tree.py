#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commits a directory into a repository in it, object by object, with names
that git itself would not take. commit_tree.py TREE MARKER

  before   a file that is later gone, with the marker
  base     everything in TREE, and what only it has
  head     every second of TREE's entries

The marker is also all that people write: names, messages, a tag, a note, the
branch, its log, the configuration."""

import hashlib
import os
import sys
import zlib

tree, marker = sys.argv[1].encode(), sys.argv[2].encode()
git = os.path.join(tree, b".git")


def put(name, data):
    path = os.path.join(git, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def add(kind, data):
    data = b"%s %d\0%s" % (kind, len(data), data)
    oid = hashlib.sha1(data).hexdigest().encode()
    put(b"objects/%s/%s" % (oid[:2], oid[2:]), zlib.compress(data, 1))
    return oid


def add_tree(entries):
    """entries: name to (mode, oid); in git's order."""
    def key(name):
        return name + b"/" if entries[name][0] == b"40000" else name
    return add(b"tree", b"".join(
        b"%s %s\0%s" % (entries[n][0], n, bytes.fromhex(entries[n][1].decode()))
        for n in sorted(entries, key=key)))


def entries_of(path, but=()):
    found = {}
    for e in os.scandir(path):
        if e.name in but:
            continue
        if e.is_dir(follow_symlinks=False):
            found[e.name] = (b"40000", add_tree(entries_of(e.path)))
        else:
            with open(e.path, "rb") as f:
                found[e.name] = (b"100644", add(b"blob", f.read()))
    return found


def commit(entries, *parents):
    who = b"%s <%s@example.org> 1600000000 +0000" % (marker, marker)
    return add(b"commit", b"tree %s\n%sauthor %s\ncommitter %s\n\n%s\n" % (
        add_tree(entries), b"".join(b"parent %s\n" % p for p in parents),
        who, who, marker))


said = (b"100644", add(b"blob", marker + b"\n"))
kept = (b"100644", add(b"blob", b"int kept;\n"))
full = entries_of(tree, but=(b".git",))
full[b"kept.c"] = kept
half = {n: full[n] for i, n in enumerate(sorted(full)) if i % 2}
half[b"kept.c"] = kept
before = commit({b"gone.c": said})
base = commit(full, before)
head = commit(half, base)
branch = b"refs/heads/" + marker
put(b"HEAD", b"ref: %s\n" % branch)
put(branch, head + b"\n")
put(b"refs/heads/base", base + b"\n")
put(b"refs/tags/" + marker, add(
    b"tag", b"object %s\ntype commit\ntag %s\ntagger %s <x> 1 +0000\n\n%s\n" %
    (head, marker, marker, marker)) + b"\n")
put(b"refs/notes/commits", commit({head: said}) + b"\n")
put(b"logs/HEAD", b"%s %s %s <x> 1 +0000\t%s\n" % (base, head, marker, marker))
put(b"config", b"[core]\n\trepositoryformatversion = 0\n[user]\n\tname = %s\n"
    % marker)
