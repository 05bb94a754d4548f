# SPDX-License-Identifier: LGPL-2.1-or-later
"""What passed before with the same bytes need not be run again: the results
that `make check` keeps, and what they are tied to.

A result is given back only while nothing differs of what it was had with: each
byte and mode of the source tree and of the build tree (with that the tests,
the library, the helpers and the tool), the list that git has, the machine (its
boot, its kernel settings, the programs of PATH, the packages) and who runs.
Whatever cannot be read, is a day old or was written while the tests ran counts
as a difference, and the test is run.
"""

import hashlib
import json
import os
import stat
import subprocess
import sys
import time

MOST_AGE = 24 * 3600
# Names, wherever they are, that no test reads.
NOT_READ = {".git", "autom4te.cache", "__pycache__", ".deps"}
# What the build and the tests write for themselves, below the build tree: logs,
# and what tests of other languages keep, which are run each time.
NOT_BUILT = {"passed", "passed.new", "summary", "stage.log", "config.log", "long",
             "tests/ffi"}
SETTINGS = ("/proc/sys/net/core", "/proc/sys/net/ipv4", "/proc/sys/net/ipv6",
            "/proc/sys/net/ipv6/conf/all", "/proc/sys/net/ipv6/conf/lo",
            "/proc/sys/user", "/proc/sys/fs", "/proc/sys/kernel",
            "/proc/sys/kernel/yama", "/proc/sys/kernel/seccomp",
            "/proc/sys/vm")
# Numbers that the kernel counts itself are no settings.
COUNTED = {"dentry-state", "file-nr", "inode-nr", "inode-state", "aio-nr",
           "ns_last_pid", "perf_cpu_time_max_percent", "lease-break-time",
           "hung_task_detect_count", "perf_event_max_sample_rate", "tainted",
           "stat_refresh", "drop_caches", "compact_memory"}
FILES = ("/proc/sys/kernel/random/boot_id", "/proc/version", "/proc/filesystems",
         "/proc/self/limits", "/proc/self/cgroup", "/proc/self/uid_map",
         "/proc/self/gid_map", "/sys/kernel/security/lsm",
         "/sys/fs/cgroup/cgroup.controllers",
         "/sys/fs/cgroup/cgroup.subtree_control", "/etc/passwd", "/etc/group",
         "/etc/subuid", "/etc/subgid", "/etc/hosts", "/etc/resolv.conf",
         "/etc/nsswitch.conf", "/etc/os-release", "/etc/ld.so.cache",
         "/etc/gitconfig", "/var/lib/dpkg/status")
PLACES = ("/", "/tmp", "/var/tmp", "/dev/shm", "/dev/fuse", "/dev/net/tun",
          "/dev/ptmx", "/run", "/proc", "/sys", "/sys/fs/cgroup")
STATUS = ("Uid", "Gid", "Groups", "Cap", "NoNewPrivs", "Seccomp", "Umask")


class Changed(Exception):
    """There is no telling what the inputs are."""


def entries(top, leave_out):
    """(path below top, stat) of all that is there, in one order."""
    todo = [""]
    while todo:
        under = todo.pop()
        with os.scandir(os.path.join(top, under)) as found:
            for e in sorted(found, key=lambda e: e.name):
                path = os.path.join(under, e.name)
                if e.name in NOT_READ or path in leave_out:
                    continue
                st = e.stat(follow_symlinks=False)
                if stat.S_ISDIR(st.st_mode):
                    todo.append(path)
                yield path, st


def tree(top, leave_out, digest):
    """Add a tree's bytes to the digest; who would notice that they changed."""
    seen = []
    for path, st in entries(top, leave_out):
        whole = os.path.join(top, path)
        digest.update(b"%s\0%o\0" % (os.fsencode(path), st.st_mode))
        if stat.S_ISREG(st.st_mode):
            with open(whole, "rb") as f:
                content = hashlib.sha256()
                for piece in iter(lambda: f.read(1 << 20), b""):
                    content.update(piece)
            digest.update(content.digest())
        elif stat.S_ISLNK(st.st_mode):
            digest.update(os.fsencode(os.readlink(whole)) + b"\0")
        if not stat.S_ISDIR(st.st_mode):
            seen.append((path, st.st_ino, st.st_size, st.st_mtime_ns,
                         st.st_ctime_ns))
    return seen


def content(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError as e:
        return b"errno %d" % e.errno


def place(path):
    """A name's kind, owner, mode and mount."""
    try:
        st, fs = os.stat(path), os.statvfs(path)
    except OSError as e:
        return [path, e.errno]
    return [path, st.st_mode, st.st_uid, st.st_gid, st.st_dev, st.st_rdev,
            fs.f_flag, fs.f_bsize]


def program(path):
    """What would differ were it another one, or led to another one."""
    found = [os.lstat(path)]
    if stat.S_ISLNK(found[0].st_mode) and os.path.exists(path):
        found.append(os.stat(path))
    return [[st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns]
            for st in found]


def programs(path):
    """Every name on PATH with what would differ were it another program."""
    for directory in path.split(":"):
        try:
            for name in sorted(os.listdir(directory)):
                yield [directory, name, *program(os.path.join(directory, name))]
        except OSError as e:
            yield [directory, e.errno]


def settings():
    for directory in SETTINGS:
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            continue
        for name in names:
            path = os.path.join(directory, name)
            if name not in COUNTED and os.path.isfile(path):
                yield [path, content(path).decode("latin-1")]


def machine():
    status = [line for line in content("/proc/self/status").decode().split("\n")
              if line.startswith(STATUS)]
    return [list(os.uname()), status, os.cpu_count(),
            [[p, hashlib.sha256(content(p)).hexdigest()] for p in FILES],
            [place(p) for p in (*PLACES, os.environ.get("TMPDIR", "/tmp"))],
            list(settings()),
            sys.version, program(sys.executable),
            list(programs(os.environ.get("PATH", "")))]


def listed(srcdir):
    """What git has on its list: a test packs that. (Where no git or no list
    is there, that is what there is to know.)"""
    try:
        return subprocess.run(["git", "-c", "safe.directory=*", "-C", srcdir,
                               "ls-files", "-s", "-z"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE).stdout
    except OSError:
        return b""


def look(srcdir, builddir):
    """(digest of all that a result depends on, who noticed it)"""
    digest = hashlib.sha256()
    try:
        if builddir == srcdir:
            seen = [tree(srcdir, NOT_BUILT - {"tests/ffi"}, digest)]
        else:
            seen = [tree(srcdir, {os.path.relpath(builddir, srcdir)}, digest),
                    tree(builddir, NOT_BUILT, digest)]
        digest.update(listed(srcdir))
        digest.update(json.dumps(machine()).encode())
    except (OSError, ValueError) as e:
        raise Changed("cannot read what they depend on: %s" % e)
    return digest.hexdigest(), seen


def difference(before, after):
    """A name for what is not as it was, or None."""
    if before == after:
        return None
    for old, new in zip(before[1], after[1]):
        for entry in sorted(set(old) ^ set(new)):
            return "'%s' was written" % entry[0]
    return "the machine's settings or programs changed"


def is_fresh(was):
    """A result as it was written, of the last day."""
    try:
        return 0 <= time.time() - was["when"] < MOST_AGE and \
            isinstance(was["passed"], int) and \
            all(len(skip) == 2 for skip in was["skips"])
    except (KeyError, TypeError):
        return False


class Kept:
    """The results of one build tree. Without use_old all tests are run."""

    def __init__(self, path, srcdir, builddir, use_old):
        self.path = path
        self.srcdir = srcdir
        self.builddir = builddir
        self.results = {}
        self.before, self.why_not = None, None
        try:
            self.before = look(srcdir, builddir)
        except Changed as e:
            self.why_not = str(e)
            return
        if use_old:
            self.results = self.load()
        elif os.path.lexists(path):
            os.unlink(path)

    def load(self):
        try:
            with open(self.path, encoding="utf-8") as f:
                was = json.load(f)
            if was["inputs"] != self.before[0]:
                return {}
            return {k: r for k, r in was["results"].items() if is_fresh(r)}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def key(self, who, test, argv, env):
        """One way to run one test, or None for what is run each time: what
        asks registries of other languages, and what is for once. An ordinary
        user may have copies of the trees; all have a TMPDIR of their own."""
        if test.startswith(("ffi:", "once:")):
            return None

        def same(text):
            return text.replace(who.builddir, "<build>") \
                .replace(who.srcdir, "<source>")
        own = [[k, same(v)] for k, v in sorted(env.items())
               if k not in ("HOME", "TMPDIR")]
        text = json.dumps([who.label, who.uid, who.srcdir == self.srcdir, test,
                           [same(word) for word in argv], own])
        return hashlib.sha256(text.encode()).hexdigest()

    def find(self, key):
        """(checks that passed, skips) of last time, or None: run it."""
        was = self.results.get(key)
        return was and (was["passed"], [tuple(s) for s in was["skips"]])

    def add(self, key, passed, skips):
        self.results[key] = {"when": time.time(), "passed": passed,
                             "skips": skips}

    def save(self):
        """Written when nothing has changed meanwhile; else why it was not."""
        try:
            if os.path.lexists(self.path):
                os.unlink(self.path)
            if not self.before:
                return self.why_not
            now = look(self.srcdir, self.builddir)
            changed = difference(self.before, now)
            if changed:
                return changed + " while the tests ran"
            with open(self.path + ".new", "w", encoding="utf-8") as f:
                json.dump({"inputs": now[0], "results": self.results}, f)
            os.rename(self.path + ".new", self.path)
        except (OSError, Changed) as e:
            return str(e)
        return None
