#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway: what goes through a preview, and what does not. Row 95 of
GATEWAY-CASES.md; the host's side of it: gateway_host."""

import os
import re
import signal
import socket
import threading

import gateway_lib
from gateway_lib import (files, gateway_of, policy, records_of, resolver,
                         run)
from tool_lib import WAIT, box_test, expect, main, says, start, test, tool

SERVER = """
import socket, sys, threading
family = socket.AF_INET6 if %r == 6 else socket.AF_INET
s = socket.socket(family)
s.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", %d))
s.listen(64)
print("ready", flush=True)
def one(c):
    n = 0
    while True:
        data = c.recv(65536)
        if not data:
            break
        n += len(data)
        c.sendall(data)
    c.sendall(b"end %%d" %% n)
    c.close()
while True:
    threading.Thread(target=one, args=(s.accept()[0],), daemon=True).start()
"""
PORT = 3000


class Box:
    """A box with one preview, whose server is ready."""

    def __init__(self, script, options=("--preview", str(PORT)),
                 document=None, **network):
        doc, self.log = files(document or policy([], network=network))
        self.p = start("run", "--policy", doc, "--audit", self.log,
                       "--resolver", resolver.address, *options, "--",
                       "python3", "-c", script)
        self.said = []
        self.port = None
        while self.port is None:
            line = self.p.stderr.readline().decode()
            expect(line, self.said)
            self.said.append(line)
            m = re.search(r"port %d of the box is at http://127.0.0.1:(\d+)/"
                          % PORT, line)
            self.port = int(m[1]) if m else None
        line = self.p.stdout.readline()
        expect(line == b"ready\n", (line, self.said))

    def dial(self):
        s = socket.create_connection(("127.0.0.1", self.port), WAIT)
        s.settimeout(WAIT)
        return s

    def end(self):
        self.p.send_signal(signal.SIGTERM)
        out, err = self.p.communicate(timeout=2 * WAIT)
        self.said.append(err.decode())
        return [r for r in records_of(self.log) if r["how"] == "preview"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.kill()
            self.p.communicate()


def all_of(s):
    data = b""
    while True:
        try:
            more = s.recv(1 << 20)
        except ConnectionError:
            return data + b"<reset>"
        if not more:
            return data
        data += more


def talk(s, size):
    sent = os.urandom(size)
    t = threading.Thread(target=lambda: (s.sendall(sent),
                                         s.shutdown(socket.SHUT_WR)))
    t.start()
    got = all_of(s)
    t.join()
    s.close()
    expect(got == sent + b"end %d" % size, (len(got), got[-40:]))


@box_test
def row_95_the_boxs_own_loopback_is_reached_by_ipv4():
    with Box(SERVER % (4, PORT)) as b:
        for size in (0, 1, 70000, 8 << 20):
            talk(b.dial(), size)
        rows = b.end()
        expect([r["event"] for r in rows].count("allowed") == 4, rows)
        expect(rows[0]["subject"] == "127.0.0.1:%d" % PORT, rows)
        closed = [r for r in rows if r["event"] == "closed"]
        expect(len(closed) == 4 and closed[-1]["down"] == 8 << 20, rows)


@box_test
def row_95_the_boxs_own_loopback_is_reached_by_ipv6():
    if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
        raise gateway_lib.tool_lib.Skip("this kernel has no IPv6")
    with Box(SERVER % (6, PORT)) as b:
        talk(b.dial(), 100000)
        rows = b.end()
        expect(rows[0]["subject"] == "[::1]:%d" % PORT, rows)


@box_test
def row_95_a_port_nobody_listens_on_is_told_and_comes_later():
    with Box("""
import socket, sys
print("ready", flush=True)
sys.stdin.readline()
s = socket.socket()
s.bind(("127.0.0.1", %d))
s.listen()
print("listens", flush=True)
while True:
    c, _ = s.accept()
    c.sendall(b"here")
    c.close()
""" % PORT) as b:
        try:
            expect(all_of(b.dial()) in (b"", b"<reset>"))
        except ConnectionResetError:
            pass  # so soon that nothing was connected yet
        b.p.stdin.write(b"\n")
        b.p.stdin.flush()
        expect(b.p.stdout.readline() == b"listens\n")
        expect(all_of(b.dial()) == b"here")
        rows = b.end()
        expect(rows[0]["event"] == "failed" and
               rows[0]["reason"] == "connection_refused", rows)


@box_test
def row_95_it_is_on_this_machines_loopback_alone():
    with Box(SERVER % (4, PORT)) as b:
        found = []
        for name in ("tcp", "tcp6"):
            try:
                with open("/proc/net/" + name) as f:
                    rows = [line.split() for line in f][1:]
            except OSError:
                continue
            found += [r[1] for r in rows if r[3] == "0A" and
                      r[1].endswith(":%04X" % b.port)]
        expect(found == ["0100007F:%04X" % b.port], found)
        b.end()


@box_test
def row_95_never_the_reverse():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.setblocking(False)
    at = listener.getsockname()[1]
    with Box(gateway_lib.CLIENT + """
print("ready", flush=True)
for port in sys.stdin.readline().split():
    try:
        socket.create_connection(("127.0.0.1", int(port)), 30)
        print("reached")
    except ConnectionRefusedError:
        print("refused")
    for target in ("127.0.0.1:" + port, "192.0.0.2:" + port,
                   "localhost:" + port):
        s, h = connect(target)
        print(h.split(" ")[1])
sys.stdout.flush()
""", document=policy([], private=())) as b:
        out, _ = b.p.communicate(b"%d %d\n" % (b.port, at), timeout=2 * WAIT)
        expect(out.decode().split() == ["refused", "403", "403", "403"] * 2,
               out)
    try:
        listener.accept()
        raise AssertionError("the box reached the host")
    except BlockingIOError:
        pass
    listener.close()


@box_test
def row_95_a_policy_alone_opens_nothing():
    ran = run(policy([], network={"preview": [PORT]}), "true")
    expect(ran.done.status == 0 and "127.0.0.1" not in ran.done.text, ran)


@box_test
def a_taken_port_gives_way_to_another():
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind(("127.0.0.1", PORT))
        taken.listen()
    except OSError:
        pass  # somebody else has it, which is the same
    with Box(SERVER % (4, PORT)) as b:
        expect(b.port != PORT, b.said)
        talk(b.dial(), 10)
        b.end()
    taken.close()


@box_test
def what_the_host_looks_at_counts_against_no_budget():
    with Box(SERVER % (4, PORT), budget={"bytes": "1KiB", "requests": 1},
             rate={"bytes_per_second": "1KiB"}) as b:
        for _ in range(3):
            talk(b.dial(), 1 << 20)
        b.end()


@box_test
def row_7_a_killed_gateway_listens_no_more():
    with Box(SERVER % (4, PORT)) as b:
        s = b.dial()
        os.kill(gateway_of(b.p.pid), signal.SIGKILL)
        expect(all_of(s) in (b"", b"<reset>"))

        def refused():
            try:
                b.dial().close()
            except ConnectionRefusedError:
                return True
        gateway_lib.tool_lib.until(refused, "its port is free")
        b.end()


@test
def what_is_no_port_is_refused():
    for bad in ("0", "65536", "x", "", "080", "-1", "80,81", "1e3"):
        expect(tool("run", "--preview=" + bad, "--", "true").status == 2, bad)
    doc, _ = files({"agentbox": 1, "extends": "builtin:workspace",
                    "network": {"mode": "host"}})
    done = tool("run", "--policy", doc, "--preview", "3000", "--", "true")
    expect(done.status == 3, done)
    says(done, "this machine's")


main()
