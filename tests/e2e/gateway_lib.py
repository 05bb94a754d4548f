# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of a live gateway share: a name server whose answers a test
writes and whose questions it reads, origins on loopback, and boxes whose
policy opens loopback for the names of the tests. Every case asserts what the
box sees, what resolver and origin saw, and what was recorded.
"""

import json
import os
import shutil
import socket
import struct
import subprocess
import threading

import tool_lib
from tool_lib import TOP, WAIT, WORK, expect, tool, until, write

A, AAAA = 1, 28


def name_of(message, at=12):
    labels = []
    while message[at]:
        labels.append(message[at + 1:at + 1 + message[at]].decode("latin-1"))
        at += 1 + message[at]
    return ".".join(labels), at + 1


def wire_name(name):
    return b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) \
        + b"\0"


class Resolver:
    """Answers A and AAAA from a table; a function may answer in its own way."""

    def __init__(self):
        self.names = {}
        self.asked = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    @property
    def address(self):
        return "127.0.0.1:%d" % self.port

    def answer(self, message):
        name, end = name_of(message)
        kind = struct.unpack(">H", message[end:end + 2])[0]
        self.asked.append(name.lower())
        found = self.names.get(name.lower())
        if callable(found):
            return found(message, end + 4, kind)
        records = [] if found is None else [
            a for a in found if (":" in a) == (kind == AAAA)]
        head = struct.pack(">HHHHHH", struct.unpack(">H", message[:2])[0],
                           0x8180 | (3 if found is None else 0), 1,
                           len(records), 0, 0)
        body = b""
        for a in records:
            family = socket.AF_INET6 if kind == AAAA else socket.AF_INET
            data = socket.inet_pton(family, a)
            body += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data))
            body += data
        return head + message[12:end + 4] + body

    def serve(self):
        while True:
            message, peer = self.socket.recvfrom(4096)
            reply = self.answer(message)
            if reply:
                self.socket.sendto(reply, peer)


class Origin:
    """A TCP server of one thread per connection; `handle` gets the socket."""

    def __init__(self, handle, port=0, at="127.0.0.1"):
        self.handle, self.seen, self.open = handle, [], []
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((at, port))
        self.socket.listen(512)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            c, _ = self.socket.accept()
            self.seen.append(c)
            threading.Thread(target=self.one, args=(c,), daemon=True).start()

    def has_seen(self, n):
        """So many, and no more: who is connected may wait to be accepted."""
        until(lambda: len(self.seen) >= n, "each is accepted")
        return len(self.seen) == n

    def one(self, c):
        try:
            self.handle(c)
        except OSError:
            pass
        finally:
            c.close()


def echo(c):
    while True:
        data = c.recv(65536)
        if not data:
            return
        c.sendall(data)


resolver = Resolver()


def policy(allow, deny=(), private=("127.0.0.0/8",), **more):
    """A document for a box whose origins are on loopback."""
    network = {"mode": "gateway", "allow": list(allow), "deny": list(deny),
               "private": list(private), **more.pop("network", {})}
    return {"agentbox": 1, "extends": "builtin:workspace", "name": "gateway",
            "workspace": {"path": WORK, "at": "/workspace"},
            "network": network, **more}


_count = [0]


class Ran:
    def __init__(self, done, log):
        self.done, self.log = done, log

    def __repr__(self):
        return "%r\nrecords: %s" % (self.done, json.dumps(self.log, indent=1))

    @property
    def out(self):
        return self.done.out.decode("utf-8", "replace")

    def records(self, event, reason=None):
        return [r for r in self.log if r["event"] == event and
                (reason is None or r["reason"] == reason)]


def files(document):
    _count[0] += 1
    return (write("p%d.json" % _count[0], json.dumps(document)),
            os.path.join(TOP, "log%d" % _count[0]))


def arguments(document, *command):
    doc, log = files(document)
    return log, ["run", "--policy", doc, "--audit", log, "--resolver",
                 resolver.address, "--", *command]


def records_of(log):
    with open(log) as f:
        rows = [json.loads(line) for line in f]
    return [r for r in rows if r["type"] == "network"]


def run(document, *command, **kw):
    """Run a command in a box of this policy."""
    log, argv = arguments(document, *command)
    done = tool(*argv, timeout=3 * WAIT, **kw)
    return Ran(done, records_of(log) if os.path.exists(log) else [])


CLIENT = r'''
import base64, os, re, socket, ssl, struct, sys, time
PROXY = ("192.0.0.1", 3128)
KEY = re.search("agentbox:([0-9a-f]{64})@", os.environ["HTTP_PROXY"])[1]
AUTH = "Proxy-Authorization: Basic " + base64.b64encode(
    ("agentbox:" + KEY).encode()).decode() + "\r\n"
WAIT = %d
def dial(to=PROXY):
    s = socket.create_connection(to, WAIT)
    s.settimeout(WAIT)
    return s
def head(s):
    data = b""
    while b"\r\n\r\n" not in data:
        more = s.recv(1)
        if not more:
            break
        data += more
    return data.decode("latin-1")
def connect(target, auth=None, extra=""):
    s = dial()
    s.sendall(("CONNECT %%s HTTP/1.1\r\nHost: %%s\r\n%%s%%s\r\n" %% (
        target, target, AUTH if auth is None else auth, extra)).encode())
    return s, head(s)
def rest(s):
    data = b""
    try:
        while True:
            more = s.recv(65536)
            if not more:
                return data
            data += more
    except ConnectionError:
        return data + b"<reset>"
def exactly(s, n):
    """n bytes, or what there is"""
    data = b""
    try:
        while len(data) < n:
            more = s.recv(n - len(data))
            if not more:
                break
            data += more
    except ConnectionError:
        pass
    return data
def hello(name, version=None):
    """The bytes of a ClientHello with this name."""
    c = ssl.create_default_context()
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    if version:
        c.maximum_version = version
    i, o = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        c.wrap_bio(i, o, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return o.read()
def end(s):
    """'closed', 'reset' or what came"""
    try:
        data = s.recv(65536)
    except ConnectionError:
        return "reset"
    return "closed" if not data else data
''' % WAIT


def client(document, script, **kw):
    """The same for a Python script with the functions above."""
    return run(document, "python3", "-c", CLIENT + script, **kw)


def gateway_of(pid):
    """The gateway among the children of the tool."""
    path = "/proc/%d/task/%d/children" % (pid, pid)
    with open(path) as f:
        children = f.read().split()
    for child in children:
        try:
            with open("/proc/%s/comm" % child) as f:
                if f.read().startswith("agentbox-gatewa"):
                    return int(child)
        except OSError:
            pass  # it has ended meanwhile
    return None


_plain = tool_lib.cannot_raise


def cannot_raise():
    """The same for a box with a gateway: a kernel may lack veth(4)."""
    why = _plain()
    if why:
        return why
    done = run(policy([]), "true").done
    return done.text.splitlines()[0] if "[EWALL]" in done.text else None


tool_lib.cannot_raise = cannot_raise


def need(*programs):
    for p in programs:
        if not shutil.which(p):
            raise tool_lib.Skip("no %s here" % p)
