#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""agentbox mcp-guard: a scripted client and server with the guard between."""

import json
import os
import select
import signal
import subprocess
import sys
import time

import tool_lib
from tool_lib import (HELPERS, TOOL, TOP, WAIT, WORK, box_test, expect, main,
                      processes, says, start, status, test, tool, until,
                      write)

# Writes what it gets to SEEN; what it is told by name it does.
SERVER = r'''
import json, os, sys, time
seen = open(sys.argv[1], "a")
def put(o):
    sys.stdout.write((o if isinstance(o, str) else json.dumps(o)) + "\n")
    sys.stdout.flush()
TOOLS = [{"name": n, "description": "does " + n,
          "inputSchema": {"type": "object"}}
         for n in ("echo", "secret", "die", "big", "long", "ask", "cwd")]
print("server is up", file=sys.stderr, flush=True)
for line in sys.stdin:
    seen.write(line)
    seen.flush()
    m = json.loads(line)
    p, i = m.get("params", {}), m.get("id")
    if m.get("method") == "initialize":
        put({"jsonrpc": "2.0", "id": i, "result": {
            "protocolVersion": p["protocolVersion"],
            "capabilities": {"tools": {}, "prompts": {}},
            "serverInfo": {"name": "s", "version": "1"}}})
    elif m.get("method") == "tools/list":
        put({"jsonrpc": "2.0", "id": i, "result": {"tools": TOOLS}})
    elif m.get("method") == "tools/call":
        name = p["name"]
        text = "hello"
        if name == "die":
            sys.exit(7)
        if name == "big":
            text = "x" * (1 << 20)
        if name == "long":
            put("x" * (5 << 20))
        if name == "ask":
            put({"jsonrpc": "2.0", "id": 1, "method":
                 "sampling/createMessage", "params": {}})
            text = json.loads(sys.stdin.readline())["error"]["message"]
        if name == "cwd":
            text = "\n".join(sorted(os.listdir("/")))
        put("this is no message")
        put({"jsonrpc": "2.0", "id": i, "result": {
            "content": [{"type": "text", "text": text}]}})
'''
ALL = ["srv:%s" % n for n in ("echo", "die", "big", "long", "ask", "cwd")]
count = 0


class Session:
    """The guard with a server of its own, and its client's side."""

    def __init__(self, allow=ALL, wrap=(), options=(), more=None, ask=()):
        global count
        count += 1
        self.seen = os.path.join(WORK, "seen%d" % count)
        script = os.path.join(WORK, "server.py")
        with open(script, "w") as f:
            f.write(SERVER)
        self.argv = list(wrap) + [sys.executable, script, self.seen]
        policy = {"agentbox": 1, "mode": "bare", "identity": "ada@acme",
                  "tools": {"servers": [dict({"name": "srv",
                                              "command": self.argv},
                                             **(more or {}))],
                            "allow": allow, "ask": list(ask)}}
        self.policy = write("mcp%d.json" % count, json.dumps(policy))
        self.p = start("mcp-guard", "--policy", self.policy, *options, "--",
                       *self.argv)
        self.buffer = b""
        self.id = 0

    def put(self, o):
        data = o if isinstance(o, bytes) else json.dumps(o).encode()
        self.p.stdin.write(data + b"\n")
        self.p.stdin.flush()

    def get(self, seconds=WAIT):
        deadline = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            expect(left > 0, "no answer")
            if select.select([self.p.stdout], [], [], left)[0]:
                data = os.read(self.p.stdout.fileno(), 65536)
                if not data:
                    raise AssertionError("closed: " + self.end_text())
                self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def ask(self, method, params=None):
        self.id += 1
        self.put({"jsonrpc": "2.0", "id": self.id, "method": method,
                  "params": params or {}})
        while True:
            answer = self.get()
            if answer.get("id") == self.id:
                return answer

    def call(self, name, **arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def open(self):
        got = self.ask("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {"sampling": {}},
            "clientInfo": {"name": "t", "version": "1"}})
        expect(got["result"]["capabilities"] == {"tools": {}}, got)
        self.put({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def end_text(self):
        self.p.stdin.close()
        self.p.wait(WAIT)
        return self.p.stderr.read().decode()

    def finish(self):
        """Close the client's side: the exit status."""
        if self.p.poll() is None:
            self.p.stdin.close()
        self.p.wait(WAIT)
        self.text = self.p.stderr.read().decode()
        self.p.stdout.close()
        self.p.stderr.close()
        return self.p.returncode

    def seen_lines(self):
        with open(self.seen) as f:
            return [json.loads(l) for l in f]

    def gone(self):
        """Is no server of this session left?"""
        return not processes(self.seen)


@test
def a_client_sees_and_calls_what_is_allowed_and_nothing_else():
    s = Session().open()
    names = [t["name"] for t in s.ask("tools/list")["result"]["tools"]]
    expect(names == ["echo", "die", "big", "long", "ask", "cwd"], names)
    expect(s.call("echo")["result"]["content"][0]["text"] == "hello")
    got = s.call("secret")
    expect(got["error"]["code"] == -32602 and
           got["error"]["message"] == "Unknown tool: secret", got)
    got = s.ask("resources/read", {"uri": "file:///etc/shadow"})
    expect(got["error"]["code"] == -32601, got)
    expect(s.finish() == 0, s.text)
    expect("server is up" in s.text, s.text)
    methods = [m["method"] for m in s.seen_lines()]
    expect(methods == ["initialize", "notifications/initialized",
                       "tools/list", "tools/call"], methods)
    stamp = s.seen_lines()[3]["params"]["_meta"]["agentbox/identity"]
    expect(stamp["uid"] == os.getuid() and stamp["identity"] == "ada@acme",
           stamp)
    expect(s.seen_lines()[0]["params"]["capabilities"] == {}, "sampling")


@test
def a_policy_that_allows_nothing_shows_nothing():
    s = Session(allow=[]).open()
    expect(s.ask("tools/list")["result"]["tools"] == [], "tools")
    expect("error" in s.call("echo"), "called")
    expect(s.finish() == 0, s.text)


@test
def what_has_to_be_approved_is_refused_where_nobody_is_asked():
    s = Session(ask=["srv:ec*"]).open()
    names = [t["name"] for t in s.ask("tools/list")["result"]["tools"]]
    expect("echo" in names, names)
    got = s.call("echo")["error"]
    expect(got["code"] == -32000 and "nobody is there to be asked" in
           got["data"]["reason"], got)
    expect("result" in s.call("cwd"), "the others")
    expect(s.finish() == 0, s.text)
    calls = [m["params"]["name"] for m in s.seen_lines()
             if m["method"] == "tools/call"]
    expect(calls == ["cwd"], calls)


@test
def a_server_that_the_policy_does_not_list_is_not_started():
    mark = os.path.join(WORK, "started")
    for options in ([], ["--builtin", "strict"]):
        done = tool("mcp-guard", *options, "--", "touch", mark)
        says(status(done, 5), "lists no such server")
    s = Session()
    s.finish()
    done = tool("mcp-guard", "--policy", s.policy, "--server", "srv", "--",
                "touch", mark)
    says(status(done, 5), "another command")
    done = tool("mcp-guard", "--policy", s.policy, "--server", "srv2")
    says(status(done, 5), "lists no such server")
    expect(not os.path.exists(mark), "it was started")
    says(status(tool("mcp-guard"), 2), "SERVER is missing")
    says(status(tool("mcp-guard", "--json", "--", "x"), 2), "--json")


@test
def the_command_of_the_policy_needs_not_be_repeated():
    s = Session()
    s.finish()
    p = start("mcp-guard", "--policy", s.policy, "--server", "srv")
    out, err = p.communicate(b"", WAIT)
    expect(p.returncode == 0 and b"server is up" in err, err)


@test
def what_a_server_asks_for_is_refused_without_a_grant():
    s = Session().open()
    got = s.call("ask")
    expect(got["result"]["content"][0]["text"] == "Method not found", got)
    expect(s.finish() == 0, s.text)


@test
def garbage_is_answered_and_the_session_goes_on():
    s = Session().open()
    for bad in (b"nonsense", b'{"jsonrpc":"2.0","id":1,"id":2}', b"\xff",
                b'{"jsonrpc":"2.0","id":1,"method":"a\\u0000"}'):
        s.put(bad)
        got = s.get()
        expect(got["error"]["code"] == -32700 and got["id"] is None, got)
    expect("result" in s.call("echo"), "lost")
    expect(s.finish() == 0, s.text)


@test
def a_frame_without_end_ends_the_session():
    s = Session().open()
    try:
        for _ in range(100):
            s.p.stdin.write(b"x" * 65536)
            s.p.stdin.flush()
    except BrokenPipeError:
        pass
    expect(s.p.wait(WAIT) == 5, s.p.returncode)
    expect(until(s.gone, "the server ends"), "server")
    s = Session().open()
    s.put({"jsonrpc": "2.0", "id": 9, "method": "tools/call",
           "params": {"name": "long"}})
    expect(s.p.wait(WAIT) == 5, s.p.returncode)
    expect(until(s.gone, "the server ends"), "server")


@test
def the_server_dies_with_its_client_and_the_guard_with_its_server():
    s = Session().open()
    expect(not s.gone(), "no server")
    expect(s.finish() == 0, s.text)
    expect(s.gone(), "the server outlived its client")
    s = Session().open()
    s.put({"jsonrpc": "2.0", "id": 9, "method": "tools/call",
           "params": {"name": "die"}})
    expect(s.p.wait(WAIT) == 7, s.p.returncode)


@test
def a_guard_that_is_killed_takes_its_server_along():
    for signum, want in ((signal.SIGKILL, -9), (signal.SIGTERM, 143)):
        s = Session().open()
        s.p.send_signal(signum)
        expect(s.p.wait(WAIT) == want, s.p.returncode)
        until(s.gone, "the server ends")


@test
def a_client_that_does_not_read_costs_no_memory():
    s = Session().open()
    for n in range(40):
        s.put({"jsonrpc": "2.0", "id": 100 + n, "method": "tools/call",
               "params": {"name": "big"}})
    # the server stands still when its pipe is full, and so does the guard
    until(lambda: select.select([s.p.stdout], [], [], 0)[0], "it answers")

    def resident():
        with open("/proc/%d/status" % s.p.pid) as f:
            return int([l for l in f if l.startswith("VmRSS")][0].split()[1])

    before, now = -1, resident()
    while before != now:
        time.sleep(0.3)
        before, now = now, resident()
    if not os.environ.get("AB_TEST_SANITIZED", "").strip():
        expect(now < 40 << 10, now)
    ids = [s.get()["id"] for _ in range(40)]
    expect(ids == list(range(100, 140)), ids)
    expect(s.finish() == 0, s.text)


@test
def every_decision_is_recorded():
    log = os.path.join(TOP, "mcp.jsonl")
    s = Session(options=["--audit", log]).open()
    s.call("echo")
    s.call("secret")
    expect(s.finish() == 0, s.text)
    status(tool("audit", "verify", log), 0)
    done = status(tool("audit", "show", "--json", "--type", "mcp.call", log),
                  0)
    records = [json.loads(l) for l in done.out.splitlines()]
    expect([(r["subject"], r["verdict"], r["rule"]) for r in records] ==
           [("echo", "allow", "tools.allow"),
            ("secret", "deny", "tools.allow")], records)
    expect(all(r["actor"]["uid"] == os.getuid() and
               r["actor"]["euid"] == os.geteuid() and r["timestamp"] and
               r["config_hash"].startswith("sha256:") for r in records),
           records)


@test
def what_cannot_be_recorded_does_not_happen():
    log = os.path.join(TOP, "spoilt.jsonl")
    s = Session(options=["--audit", log]).open()
    expect("result" in s.call("echo"))
    with open(log, "a") as f:  # another writer: the chain cannot go on
        f.write("x\n")
    s.put({"jsonrpc": "2.0", "id": 99, "method": "tools/call",
           "params": {"name": "echo"}})
    expect(s.p.wait(WAIT) != 0, s.p.returncode)
    until(s.gone, "the server ends")
    expect(99 not in [m.get("id") for m in s.seen_lines()] and
           len(s.seen_lines()) == 3, s.seen_lines())


@box_test
def a_server_in_a_box_is_a_server():
    wrap = [TOOL, "run"] + (["--helper-dir", HELPERS] if HELPERS else []) + [
        "--no-tty", "--workspace", WORK, "--at", "same", "--read",
        os.path.dirname(os.path.dirname(os.path.realpath(sys.executable))),
        "--"]
    s = Session(wrap=wrap).open()
    expect(s.call("echo")["result"]["content"][0]["text"] == "hello")
    top = s.call("cwd")["result"]["content"][0]["text"].split("\n")
    expect("boot" not in top and "srv" not in top, top)
    expect("error" in s.call("secret"), "called")
    expect(s.finish() == 0, s.text)
    until(s.gone, "the box ends")


main()
