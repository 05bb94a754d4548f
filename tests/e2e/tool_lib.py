# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of the agentbox tool share.

TAP with a sentence for a name; the tool with its helpers; a private home and
workspace; a terminal to run it on. A machine that cannot raise a box skips
what needs one, with the tool's own words as the reason.
"""

import ctypes
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback

SRC = os.environ.get("AB_TEST_SRCDIR") or os.path.abspath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
TOOL = os.environ.get("AB_TEST_TOOL", "agentbox")
HELPERS = os.environ.get("AB_TEST_HELPER_DIR")
TOP = tempfile.mkdtemp(prefix="tool", dir=os.environ.get("TMPDIR"))
HOME = os.path.join(TOP, "home")
WORK = os.path.join(TOP, "work")
# seconds until something that should happen counts as lost
WAIT = 20 * max(1, float(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1")))

# Who starts the tests may have these ignored, and what is ignored stays so.
for _signal in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    signal.signal(_signal, signal.SIG_DFL)

tests = []


class Skip(Exception):
    pass


def test(fn):
    """Register a test; its name is the sentence."""
    tests.append((fn, False))
    return fn


def box_test(fn):
    """A test that raises a box."""
    tests.append((fn, True))
    return fn


def needs_to_mount(otherwise):
    """In a mount namespace of its own, which a container has not for root
    either."""
    if os.geteuid() != 0:
        raise Skip(otherwise)
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True,
                      timeout=WAIT).returncode != 0:
        raise Skip("root may not make mount namespaces here")


def environment(**more):
    env = {k: v for k, v in os.environ.items()
           if k in ("PATH", "LANG", "LD_LIBRARY_PATH", "ASAN_OPTIONS",
                    "UBSAN_OPTIONS", "TSAN_OPTIONS")}
    env.update(HOME=HOME, TERM="xterm", **more)
    return {k: v for k, v in env.items() if v is not None}


def command(*args):
    """Options of the tool itself go behind the subcommand's name."""
    argv = [TOOL]
    if HELPERS and args and args[0] in ("run", "shell", "doctor",
                                          "verify"):
        return argv + [args[0], "--helper-dir", HELPERS, *args[1:]]
    if HELPERS and args and args[0] in ("snapshot", "peer"):
        return argv + [*args[:2], "--helper-dir", HELPERS, *args[2:]]
    return argv + list(args)


class Done:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def text(self):
        return self.err.decode("utf-8", "replace")

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return "exit %s\nout: %r\nerr: %s" % (self.status, self.out[:2000],
                                              self.text[:2000])


def tool(*args, cwd=None, env=None, stdin=b"", timeout=WAIT, **kw):
    p = subprocess.run(command(*args), cwd=cwd or WORK,
                       env=env or environment(), input=stdin,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=timeout, **kw)
    return Done(p.returncode, p.stdout, p.stderr)


# include/uapi/asm-generic/unistd.h, and x86_64's own table.
CALLS = {"x86_64": {"write": 1, "openat": 257}}
for _machine in ("aarch64", "riscv64", "loongarch64"):
    CALLS[_machine] = {"write": 64, "openat": 56}


def has_filter():
    """Skips where fail_call() does not know the numbers."""
    if os.uname().machine not in CALLS:
        raise Skip("the filter does not know the numbers of this machine")


def fail_call(name, error, conditions):
    """Of this process from now on: the call of that name fails
    where every (BPF_JEQ 0x15 or BPF_JSET 0x45, offset of an argument in
    seccomp_data, value) holds."""
    number = CALLS[os.uname().machine][name]
    rows = [(0x20, 0, 0, 0), (0x15, 0, 2 * len(conditions) + 1, number)]
    for i, (jump, offset, value) in enumerate(conditions):
        rest = 2 * (len(conditions) - i - 1) + 1
        rows += [(0x20, 0, 0, offset), (jump, 0, rest, value)]
    rows += [(0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(
        b"".join(struct.pack("=HBBI", *row) for row in rows))
    program = struct.pack("@HP", len(rows), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program):
        raise OSError(ctypes.get_errno(), "no filter")


def start(*args, cwd=None, **kw):
    """The tool in the background, pipes unless told otherwise."""
    for name in ("stdin", "stdout", "stderr"):
        kw.setdefault(name, subprocess.PIPE)
    return subprocess.Popen(command(*args), cwd=cwd or WORK,
                            env=kw.pop("env", environment()), **kw)


def expect(condition, seen=""):
    if not condition:
        raise AssertionError(str(seen))


def said(err):
    """Standard error without what the tool tells of this machine's limits."""
    return b"".join(l for l in err.splitlines(keepends=True)
                    if b": weaker here" not in l)


def status(done, want):
    expect(done.status == want, "wanted exit %s, got %r" % (want, done))
    return done


def says(done, *words):
    for word in words:
        expect(word in done.text, "no %r in %r" % (word, done))
    return done


def until(condition, why, seconds=WAIT):
    """Wait for a condition instead of a time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("did not happen in %d s: %s" % (seconds, why))


def write(name, text):
    path = os.path.join(TOP, name)
    with open(path, "w") as f:
        f.write(text)
    return path


class Terminal:
    """A process with a terminal of its own: the tool, or a shell with it."""

    def __init__(self, argv, rows=24, columns=80, env=None, cwd=None):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                self.size(rows, columns, 0)
                os.chdir(cwd or WORK)
                os.execvpe(argv[0], argv, env or environment())
            finally:
                os._exit(127)
        self.status = None

    def size(self, rows, columns, fd=None):
        fcntl.ioctl(self.fd if fd is None else fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        data = text.encode()
        while data:
            data = data[os.write(self.fd, data):]

    def read(self, seconds=0.1):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def wait_for(self, pattern, seconds=WAIT):
        """Read on until the pattern has come; what was read is used up."""
        deadline = time.monotonic() + seconds
        while True:
            m = re.search(pattern.encode(), self.seen)
            if m:
                self.seen = self.seen[m.end():]
                return m
            expect(time.monotonic() < deadline,
                   "no %r on the terminal: %r" % (pattern, self.seen))
            self.read()

    def end(self, seconds=WAIT):
        """Wait for the process: its exit status, -N for a signal."""
        deadline = time.monotonic() + seconds
        while self.status is None:
            pid, st = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(st)
                break
            if time.monotonic() > deadline:
                raise AssertionError("still runs: %r" % self.seen)
            self.read(0.05)
        while self.read(0.05):
            pass
        return self.status

    def modes(self):
        return termios.tcgetattr(self.fd)

    def raw(self):
        return not self.modes()[3] & termios.ICANON

    def close(self):
        """Ends whatever is left: the session leader and so its terminal."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        if self.status is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.waitpid(self.pid, 0)
            self.status = -9

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def processes(marker):
    """Live processes with this word as an argument, ours or a box's."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/cmdline" % entry, "rb") as f:
                if marker.encode() in f.read().split(b"\0"):
                    found.append(int(entry))
        except OSError:
            pass
    return found


def cannot_raise():
    """Why no box can be raised here, or None."""
    done = tool("run", "--", "true")
    if done.status == 0:
        return None
    if done.status == 125 and "[EWALL]" in done.text:
        return "; ".join(done.text.split("\n")[:1])
    return None  # broken, not missing: let the tests fail


def main():
    bad = 0
    os.makedirs(HOME, mode=0o755)
    os.makedirs(WORK, mode=0o755)
    try:
        missing = cannot_raise()
        named = [t for t in tests if t[0].__name__ in sys.argv[1:]]
        if len(named) < len(set(sys.argv[1:])):
            sys.exit("no such test in: " + " ".join(sys.argv[1:]))
        print("1..%d" % len(named or tests))
        for n, (fn, boxed) in enumerate(named or tests, 1):
            name = fn.__name__
            why = None
            if boxed and missing:
                print("ok %d - %s # SKIP %s" % (n, name, missing))
                continue
            try:
                fn()
            except Skip as e:
                print("ok %d - %s # SKIP %s" % (n, name, e))
                continue
            except subprocess.TimeoutExpired as e:
                why = str(e)
            except Exception:  # every kind of failure is a failed test
                why = traceback.format_exc()
            print("%sok %d - %s" % ("not " if why else "", n, name))
            if why:
                bad += 1
                print("\n".join("# " + l for l in why.splitlines()))
            sys.stdout.flush()
    finally:
        shutil.rmtree(TOP, ignore_errors=True)
    sys.exit(1 if bad else 0)
