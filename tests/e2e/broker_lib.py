# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of the credential broker share: a value, a client of its own
inside the box, and boxes that wait for the test."""

import hashlib
import os

from gateway_lib import Ran, arguments, policy, records_of
from tool_lib import WAIT, WORK, expect, start, status, tool, write

VALUE = "s3cr3t-" + hashlib.sha256(os.urandom(16)).hexdigest()[:32]

# A client of its own: every byte of a frame is the test's.
CLIENT = r'''
import array, os, socket, struct, subprocess, sys, time
WAIT = %d
KEY = os.environ["AGENTBOX_KEY"]
TOOL = os.environ["AGENTBOX_SECRET"]
GET, GET_FILE, RENEW, RELEASE, LIST, GET_GIT = 1, 2, 3, 4, 5, 6
RESULTS = ["ok", "refused", "busy", "none", "late", "ended", "failed"]
def dial():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(WAIT)
    s.connect("/run/agentbox/broker")
    return s
def frame(verb, name, key=KEY, kind=224, fds=0, user=None):
    name = name if isinstance(name, bytes) else name.encode() + b"\0"
    key = key.encode()
    user = b"" if user is None else user.encode() + b"\0"
    return (struct.pack("<III", kind, fds, len(key)) + key
            + struct.pack("<II", verb, len(name)) + name
            + (struct.pack("<I", len(user)) + user if user else b""))
def read(s):
    """The result's name and the descriptors; "closed" when there is none."""
    try:
        data, anc, flags, _ = s.recvmsg(8192, socket.CMSG_SPACE(64))
    except ConnectionError:
        return "closed", []
    if not data:
        return "closed", []
    got = []
    for level, kind, body in anc:
        a = array.array("i")
        a.frombytes(body)
        got += a
    head = struct.unpack("<III", data[:12])
    assert head[0] == 225 and head[1] == len(got), head
    return RESULTS[head[2]], got
def ask(verb, name, key=KEY, s=None):
    s = s or dial()
    s.send(frame(verb, name, key))
    return read(s)
def value(fd):
    return os.pread(fd, 100000, 0).decode()
def secret(*args):
    return subprocess.run([TOOL, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=WAIT)
def until(f):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if f():
            return True
        time.sleep(0.02)
    return False
FILE = "/run/agentbox/secrets/"
''' % WAIT


def document(*secrets, **more):
    secrets = secrets or ({"name": "gh", "delivery": ["memfd", "file"]},)
    return policy([], secrets=list(secrets), **more)


def put(name="gh", value=VALUE):
    return status(tool("secret", "put", name, stdin=value.encode()), 0)


def box(doc, script, *options):
    log, argv = arguments(doc, "python3", "-c", CLIENT + script)
    done = tool("run", *options, *argv[1:], timeout=3 * WAIT)
    records = records_of(log) if os.path.exists(log) else []
    if os.path.exists(log):
        with open(log) as f:
            expect(VALUE not in f.read(), "the value is in the log")
    return Ran(done, [r for r in records if r["how"] == "broker"])


def good(ran, *lines):
    expect(ran.done.status == 0, ran)
    expect(ran.out.split("\n")[:-1] == list(lines), ran)
    return ran


def reasons(ran, event):
    return [r["reason"] for r in ran.records(event)]


class Live:
    """A box in the background that waits for the test, step by step."""

    def __init__(self, doc, script, *options):
        self.at = 0
        for name in os.listdir(WORK):
            if name.startswith("step"):
                os.unlink(os.path.join(WORK, name))
        self.log, argv = arguments(doc, "python3", "-u", "-c", CLIENT + r'''
import glob
def step(n):
    assert until(lambda: os.path.exists("/workspace/step%d" % n))
def said(line):
    print(line, flush=True)
''' + script)
        self.p = start("run", *options, *argv[1:])

    def line(self):
        return self.p.stdout.readline().decode().strip()

    def go(self):
        self.at += 1
        write(os.path.join(WORK, "step%d" % self.at), "")

    def children(self, pid=None):
        """Every process below the tool, by its name."""
        found = {}
        for p in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % p) as f:
                    text = f.read()
            except OSError:
                continue
            name, rest = text.split("(", 1)[1].rsplit(") ", 1)
            if int(rest.split()[1]) == (pid or self.p.pid):
                found.setdefault(name, int(p))
                found.update(self.children(int(p)))
        return found

    def end(self):
        if self.p.poll() is None:
            self.p.kill()
        self.p.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.end()
