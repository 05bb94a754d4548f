#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""agentbox mcp --tools box: a scripted client beside a box."""

import base64
import json
import os
import select
import signal
import subprocess
import time

from tool_lib import (HELPERS, TOOL, TOP, WAIT, WORK, box_test, environment,
                      expect, main, processes, says, status, test, tool,
                      until, write)

KEY = os.path.join(TOP, "key")
STATELESS = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
             "io.modelcontextprotocol/clientCapabilities": {}}
count = 0


def key():
    if not os.path.exists(KEY):
        status(tool("mcp", "--new-key", KEY), 0)
    with open(KEY) as f:
        return f.read().strip()


class Box:
    def __init__(self, *options, stateless=False, work=None):
        global count
        count += 1
        self.work = work or os.path.join(WORK, "box%d" % count)
        os.makedirs(self.work, exist_ok=True)
        argv = [TOOL, "mcp", "--tools", "box", "--key", KEY]
        if HELPERS:
            argv += ["--helper-dir", HELPERS]
        self.p = subprocess.Popen(
            argv + ["--workspace", self.work, *options], cwd=TOP,
            env=environment(AGENTBOX_KEY=key()), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.buffer, self.id, self.stateless = b"", 0, stateless
        self.other = {}
        if not stateless:
            got = self.ask("initialize", {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"}})
            expect("tools" in got["result"]["capabilities"], got)
            self.put({"jsonrpc": "2.0",
                      "method": "notifications/initialized"})

    def put(self, o):
        self.p.stdin.write(json.dumps(o).encode() + b"\n")
        self.p.stdin.flush()

    def get(self):
        deadline = time.monotonic() + WAIT
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            expect(left > 0, "no answer")
            if select.select([self.p.stdout], [], [], left)[0]:
                data = os.read(self.p.stdout.fileno(), 65536)
                if not data:
                    raise AssertionError(self.p.stderr.read())
                self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def send(self, method, params):
        self.id += 1
        if self.stateless:
            params = dict(params, _meta=STATELESS)
        self.put({"jsonrpc": "2.0", "id": self.id, "method": method,
                  "params": params})
        return self.id

    def answer(self, number):
        while number not in self.other:
            got = self.get()
            self.other[got["id"]] = got
        return self.other.pop(number)

    def ask(self, method, params):
        return self.answer(self.send(method, params))

    def start(self, name, **arguments):
        return self.send("tools/call", {"name": name, "arguments": arguments})

    def call(self, name, **arguments):
        got = self.answer(self.start(name, **arguments))
        expect("result" in got, got)
        return got["result"]

    def good(self, name, **arguments):
        got = self.call(name, **arguments)
        expect(not got.get("isError"), got)
        return got["structuredContent"]

    def bad(self, name, *words, **arguments):
        got = self.call(name, **arguments)
        expect(got.get("isError"), got)
        text = got["content"][0]["text"]
        for word in words:
            expect(word in text, "no %r in %r" % (word, text))
        return got

    def path(self, name):
        return os.path.join(self.work, name)

    def finish(self):
        self.p.stdin.close()
        self.p.wait(WAIT)
        self.text = self.p.stderr.read().decode()
        self.p.stdout.close()
        self.p.stderr.close()
        return self.p.returncode


@test
def without_its_key_nothing_is_served():
    key()
    other = os.path.join(TOP, "other")
    status(tool("mcp", "--new-key", other), 0)
    with open(other) as f:
        wrong = f.read().strip()
    for value in (None, "", wrong, key()[:-1], key() + "0", key().upper()):
        env = environment(AGENTBOX_KEY=value)
        says(status(tool("mcp", "--tools", "box", "--key", KEY, env=env), 5),
             "AGENTBOX_KEY")
    says(status(tool("mcp", "--tools", "box"), 2), "--new-key")
    env = environment(AGENTBOX_KEY=wrong)
    os.chmod(other, 0o640)
    says(status(tool("mcp", "--tools", "box", "--key", other, env=env), 5),
         "0600")
    os.unlink(other)
    os.symlink(KEY, other)
    status(tool("mcp", "--tools", "box", "--key", other, env=env), 5)
    empty = write("empty-key", "")
    os.chmod(empty, 0o600)
    says(status(tool("mcp", "--tools", "box", "--key", empty,
                     env=environment(AGENTBOX_KEY="")), 5), "no key")


@test
def a_key_is_made_once_and_for_its_owner():
    path = os.path.join(TOP, "made")
    status(tool("mcp", "--new-key", path), 0)
    expect(os.stat(path).st_mode & 0o777 == 0o600, oct(os.stat(path).st_mode))
    with open(path) as f:
        first = f.read()
    expect(len(first) == 65, first)
    status(tool("mcp", "--new-key", path), 5)
    with open(path) as f:
        expect(f.read() == first, "written again")


@test
def what_is_not_here_is_refused_by_name():
    says(status(tool("mcp", "--tools", "team", "--key", KEY), 125), "team")
    says(status(tool("mcp", "--tools", "all", "--key", KEY), 2), "--tools")
    says(status(tool("mcp", "--tools", "box", "--key", KEY, "--bare",
                     env=environment(AGENTBOX_KEY=key())), 3), "bare")


@box_test
def files_are_read_written_and_listed():
    b = Box()
    names = [t["name"] for t in b.ask("tools/list", {})["result"]["tools"]]
    expect(names == ["read", "write", "list", "run", "result"], names)
    b.good("write", path="a.txt", text="eins\nzwei ä\n")
    b.good("write", path="a.txt", text="drei\n", append=True)
    with open(b.path("a.txt"), encoding="utf-8") as f:
        expect(f.read() == "eins\nzwei ä\ndrei\n", "written")
    got = b.call("read", path="a.txt")
    expect(got["content"][0]["text"] == "eins\nzwei ä\ndrei\n", got)
    got = b.good("read", path="a.txt", offset=5, limit=4)
    expect(got["bytes"] == 4 and got["more"] and got["size"] == 18, got)
    raw = bytes(range(256))
    b.good("write", path="b", base64=base64.b64encode(raw).decode())
    got = b.call("read", path="b")
    expect(base64.b64decode(got["content"][0]["text"]) == raw, got)
    b.bad("write", "[EEXIST]", path="b", text="", create_only=True)
    b.bad("write", path="b", base64="a")
    b.bad("write", path="b", text="a", base64="YQ==")
    os.mkdir(b.path("d"))
    os.symlink("a.txt", b.path("link"))
    got = b.good("list")
    expect([(e["name"], e["type"]) for e in got["entries"]] ==
           [("a.txt", "file"), ("b", "file"), ("d", "directory"),
            ("link", "link")], got)
    # the box's own name of the workspace is one of it
    at = b.good("run", argv=["pwd"])["stdout"].strip()
    expect(b.call("read", path=at + "/a.txt")["content"][0]["text"]
           .startswith("eins"), at)
    expect(b.finish() == 0, b.text)


@box_test
def paths_go_through_the_write_guard():
    b = Box()
    with open(os.path.join(TOP, "outside"), "w") as f:
        f.write("secret")
    os.symlink(os.path.join(TOP, "outside"), b.path("out"))
    os.symlink(TOP, b.path("up"))
    os.mkdir(b.path(".git"))
    for path in ("../outside", "/etc/passwd", "out", "up/outside", "d/../../x",
                 os.path.join(TOP, "outside"), "/proc/self/environ",
                 "/workspace/../etc/passwd"):
        b.bad("read", path=path)
        b.bad("write", path=path, text="changed")
    b.bad("list", path="..")
    b.bad("list", path="up")
    b.bad("list", path="/")
    b.bad("write", path=".git/config", text="x")
    b.bad("write", path=".envrc", text="x")
    b.bad("read", path="")
    b.bad("read", path=5)
    b.bad("read")
    os.mkfifo(b.path("fifo"))
    b.bad("read", path="fifo")
    with open(os.path.join(TOP, "outside")) as f:
        expect(f.read() == "secret", "changed")
    expect(not os.path.exists(b.path(".git/config")), "protected")
    expect(b.finish() == 0, b.text)


@box_test
def what_the_box_does_not_see_is_not_served():
    work = os.path.join(WORK, "hidden")
    os.makedirs(work + "/deep/er")
    for name in (".env", "deep/er/key"):
        with open(os.path.join(work, name), "w") as f:
            f.write("secret")
    os.symlink("deep/er", work + "/short")
    os.symlink("deep/er/new", work + "/nowhere")
    os.symlink("new", work + "/nothing")
    b = Box("--hide", work + "/.env", "--hide", work + "/deep", work=work)
    for path in (".env", "deep/er/key", "short/key"):
        b.bad("read", path=path)
        b.bad("write", path=path, text="x")
    for path in ("deep/new", "deep/er/new", "short/new", "short/./new",
                 "nowhere", "nothing"):
        b.bad("write", path=path, text="x")
        b.bad("write", path=path, text="x", create_only=True)
    b.bad("list", path="deep")
    b.bad("list", path="short")
    expect(os.listdir(work + "/deep") == ["er"] and
           os.listdir(work + "/deep/er") == ["key"] and
           not os.path.exists(work + "/new"), "made")
    with open(work + "/.env") as f:
        expect(f.read() == "secret", "changed")
    expect(b.finish() == 0, b.text)


@box_test
def what_is_hidden_gets_no_other_name():
    """Else what covers it in the box would move along, and on the host it had
    a path that no list names."""
    work = os.path.join(WORK, "renamed")
    os.makedirs(work + "/a/b/deep")
    with open(work + "/a/b/deep/key", "w") as f:
        f.write("secret")
    b = Box("--hide", work + "/a/b/deep", work=work)
    for old, new in ("a/b", "a/c"), ("a", "z"), ("a/b/deep", "g"):
        got = b.call("run", argv=["mv", old, new])
        expect(got["isError"], got)
    expect(os.path.exists(work + "/a/b/deep/key"), os.listdir(work))
    b.bad("read", path="a/b/deep/key")
    expect(b.finish() == 0, b.text)


@box_test
def commands_run_in_the_box():
    b = Box()
    got = b.good("run", command="echo out; echo err >&2; ls / | head -50")
    expect(got["stdout"].startswith("out\n") and got["stderr"] == "err\n" and
           got["exit"] == 0 and not got["running"], got)
    expect("boot" not in got["stdout"].split(), got)
    got = b.call("run", argv=["sh", "-c", "exit 7"])
    expect(got["isError"] and got["structuredContent"]["exit"] == 7, got)
    got = b.good("run", argv=["cat"], input="what comes in")
    expect(got["stdout"] == "what comes in", got)
    got = b.good("run", argv=["sh", "-c", "echo ${AGENTBOX_KEY-none}"])
    expect(got["stdout"] == "none\n", got)
    b.bad("run", argv=["no-such-program"])
    b.bad("run", argv=[])
    b.bad("run", argv=["a", 5])
    b.bad("run")
    b.bad("run", command="true", argv=["true"])
    b.bad("run", "refused by", command="rm -rf / --no-preserve-root")
    expect(b.finish() == 0, b.text)


@box_test
def output_is_bounded_and_kept():
    b = Box()
    got = b.good("run", command="head -c 1000000 /dev/zero | tr '\\0' x")
    expect(len(got["stdout"]) == 256 << 10 and
           got["stdout_dropped"] == 1000000 - (256 << 10), got["exit"])
    again = b.good("result", id=got["id"])
    expect(again == got, "changed")
    got = b.good("run", command="printf 'a\\000\\377b'")
    expect(got["stdout"] == "a\ufffd\ufffdb", got)
    for _ in range(40):
        b.good("run", argv=["true"])
    b.bad("result", id=1)
    b.bad("result", id=-1)
    b.bad("result", id="1")
    expect(b.finish() == 0, b.text)


@box_test
def a_long_command_is_asked_for_later_and_ended():
    b = Box()
    got = b.good("run", command="echo begun; sleep 1000", wait_ms=1)
    expect(got["running"], got)
    until(lambda: b.good("result", id=got["id"], wait_ms=0)["stdout"] ==
          "begun\n", "it writes")
    # others run meanwhile
    expect(b.good("run", argv=["echo", "x"])["stdout"] == "x\n")
    end = b.call("result", id=got["id"], kill=True)["structuredContent"]
    expect(not end["running"] and end["exit"] == 137, end)
    got = b.call("run", command="sleep 1000", timeout_ms=200)
    expect(got["structuredContent"]["reason"] == "wall", got)
    expect(b.finish() == 0, b.text)


@box_test
def a_cancelled_run_is_ended():
    b = Box()
    mark = "1234.5%d" % os.getpid()
    number = b.start("run", argv=["sleep", mark])
    until(lambda: processes(mark), "it runs")
    b.put({"jsonrpc": "2.0", "method": "notifications/cancelled",
           "params": {"requestId": number}})
    until(lambda: not processes(mark), "it ends")
    expect(b.good("run", argv=["echo", "on"])["stdout"] == "on\n")
    expect(number not in b.other, "answered")
    expect(b.finish() == 0, b.text)


@box_test
def the_box_ends_with_its_client_and_with_its_server():
    for how in (None, signal.SIGTERM, signal.SIGKILL):
        b = Box()
        mark = "4321.%d%d" % (how or 0, os.getpid())
        b.start("run", argv=["sleep", mark])
        until(lambda: processes(mark), "it runs")
        if how:
            b.p.send_signal(how)
            b.p.wait(WAIT)
        else:
            expect(b.finish() == 0, b.text)
        until(lambda: not processes(mark), "the box ends")


@box_test
def the_stateless_family_is_spoken():
    b = Box(stateless=True)
    got = b.ask("server/discover", {})["result"]
    expect(got["supportedVersions"] == ["2026-07-28"] and
           got["resultType"] == "complete", got)
    got = b.ask("tools/list", {})["result"]
    expect(len(got["tools"]) == 5 and got["resultType"] == "complete", got)
    got = b.call("run", argv=["echo", "x"])
    expect(got["structuredContent"]["stdout"] == "x\n" and
           got["resultType"] == "complete", got)
    expect(b.finish() == 0, b.text)


@box_test
def a_policy_can_grant_less():
    policy = write("less.json", json.dumps({
        "agentbox": 1, "extends": "builtin:workspace", "tools": {
            "servers": [{"name": "box", "command": ["agentbox"]}],
            "allow": ["box:read", "box:list"]}}))
    b = Box("--policy", policy)
    names = [t["name"] for t in b.ask("tools/list", {})["result"]["tools"]]
    expect(names == ["read", "list"], names)
    got = b.answer(b.start("run", argv=["true"]))
    expect(got["error"]["message"] == "Unknown tool: run", got)
    expect(b.finish() == 0, b.text)


@box_test
def a_live_box_is_served_and_stays():
    work = os.path.join(WORK, "live")
    os.makedirs(work, exist_ok=True)
    mark = "777.%d" % os.getpid()
    options = ["--workspace", work, "--limit", "pids=100"]
    argv = [TOOL, "run"] + (["--helper-dir", HELPERS] if HELPERS else [])
    run = subprocess.Popen(
        argv + ["--name", "live", *options, "--", "sh", "-c",
                "exec sleep " + mark], cwd=TOP,
        env=environment(), stdin=subprocess.DEVNULL)
    try:
        until(lambda: processes(mark), "it runs")
        env = environment(AGENTBOX_KEY=key())
        serve = ["mcp", "--tools", "box", "--key", KEY, "--box"]
        says(status(tool(*serve, "live", "--workspace", work, cwd=TOP,
                         env=env), 5), "another policy")
        status(tool(*serve, "nobody", *options, cwd=TOP, env=env), 4)
        status(tool(*serve, "live", *options, "--name", "x", cwd=TOP,
                    env=env), 2)
        b = Box("--limit", "pids=100", "--box", "live", work=work)
        b.good("write", path="in", text="it")
        got = b.good("run", command="cat in; ps -ef 2>/dev/null | cat; "
                     "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
        expect(got["stdout"].startswith("it"), got)
        expect(mark in got["stdout"], "another box")
        b.bad("read", path="../x")
        expect(b.finish() == 0, b.text)
        expect(processes(mark), "the box ended")
    finally:
        run.terminate()
        run.wait(WAIT)


@box_test
def everything_is_recorded():
    log = os.path.join(TOP, "box.jsonl")
    b = Box("--audit", log)
    b.good("write", path="x", text="y")
    b.good("run", argv=["true"])
    b.bad("run", command="rm -rf /")
    expect(b.finish() == 0, b.text)
    status(tool("audit", "verify", log), 0)
    records = [json.loads(l) for l in
               status(tool("audit", "show", "--json", log), 0)
               .out.splitlines()]
    calls = [r["subject"] for r in records if r["type"] == "mcp.call"]
    expect(calls == ["write", "run", "run"], calls)
    types = [r["type"] for r in records]
    expect("command.start" in types and "guard.decision" in types, types)


main()
