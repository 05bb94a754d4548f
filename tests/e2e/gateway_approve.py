#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls of tools at a live gateway that the host has to approve: what waits,
what is told, and what the server gets to see. The host is gateway_approver."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gateway_lib import CLIENT, files, resolver
from mcp_lib import IN_BOX, Server, document, entry, secret_file
from tool_lib import TOP, WAIT, box_test, expect, main

BUILD = os.environ.get("AB_TEST_BUILDDIR", "build")
HOST = os.path.join(BUILD, "tests", "e2e", "gateway_approver")


class Ran:
    def __init__(self, done):
        self.status, self.out = done.returncode, done.stdout.decode()
        lines = done.stderr.decode().splitlines()
        self.asked = [l[6:] for l in lines if l.startswith("asked ")]
        self.events = [l[6:] for l in lines if l.startswith("event ")]
        self.rest = [l for l in lines if l[:6] not in ("asked ", "event ")]

    def __repr__(self):
        return "%d %r\n%s\n%s\n%s" % (self.status, self.out, self.asked,
                                      self.events, self.rest)


def run(srv, mode, script, timeout_ms=600000, ask=("srv:echo",), **more):
    doc, _ = files(document(entry(srv), tools=dict({"ask": list(ask)},
                                                   **more)))
    state = os.path.join(TOP, "approve-state")
    ran = Ran(subprocess.run(
        [HOST, doc, state, resolver.address, secret_file, mode,
         str(timeout_ms), "python3", "-c", CLIENT + IN_BOX + script],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=6 * WAIT))
    expect(ran.status == 0 and not ran.rest, ran)
    return ran


def called(srv):
    return [m["params"]["name"] for m in srv.messages("tools/call")]


@box_test
def a_call_that_the_host_allows_goes_on():
    for mode in ("allow", "later"):
        srv = Server()
        ran = run(srv, mode, r'''
m = Mcp().begin()
print(m.names(), text(m.call("get_sum")))
print(text(m.call("echo", {"a": "\u00e4\n\"", "b": [1, {"c": None}]})))
print(text(m.call("echo")))
m = Mcp(version="2026-07-28")
print(text(m.call("echo", {"n": 1})))
''')
        expect(ran.out.splitlines() == [
            "['echo', 'get_sum'] did get_sum"] + 3 * ["did echo"], ran)
        # others are not asked about, and each call is asked about for itself
        expect(ran.asked == [
            r'srv:echo {"a":"ä\n\"","b":[1,{"c":null}]}', 'srv:echo {}',
            'srv:echo {"n":1}'], ran)
        expect(called(srv) == ["get_sum"] + 3 * ["echo"], ran)
        told = [e for e in ran.events if "asked" in e]
        expect(told == 3 * ["gateway srv:echo asked: the host is asked"], ran)
        expect(ran.events.count("allowed srv:echo mcp.call: approved") == 3,
               ran)


@box_test
def without_a_yes_the_server_hears_nothing():
    for mode, timeout, asked in (("deny", 600000, 2), ("never", 100, 2),
                                 ("deaf", 100, 2), ("none", 1, 0),
                                 ("gone", 600000, 0)):
        srv = Server()
        ran = run(srv, mode, r'''
m = Mcp().begin()
for i in range(2):
    got = m.call("echo")
    e = got[2][-1]["error"]
    print(got[0], e["code"], e["message"])
    print(e["data"]["reason"])
print(text(m.call("get_sum")))
''', timeout)
        lines = ran.out.splitlines()
        expect(lines[0] == lines[2] == "200 -32000 The call was not approved"
               and lines[4] == "did get_sum", (mode, ran))
        expect(lines[1] == lines[3] == (
            "it was not approved, or not in time" if asked else
            "it has to be approved, and nobody can be asked now"),
            (mode, ran))
        expect(called(srv) == ["get_sum"] and len(ran.asked) == asked,
               (mode, ran))
        expect(len([e for e in ran.events if e.startswith("denied") and
                    "srv:echo" in e]) == 2, (mode, ran))


@box_test
def who_goes_is_not_waited_for():
    srv = Server()
    ran = run(srv, "never", r'''
import select
m = Mcp().begin()
call = {"jsonrpc": "2.0", "id": 70, "method": "tools/call",
        "params": {"name": "echo"}}
# more than can be asked about at once: each makes room for the next
for i in range(40):
    m.open("POST", dict(call, id=100 + i)).close()
until = time.monotonic() + WAIT
while True:
    s = m.open("POST", call)
    if not select.select([s], [], [], 0.5)[0]:
        break
    assert time.monotonic() < until, m.read(s)
s.close()
s = m.open("POST", dict(call, id=71))
# which of the two comes first is the gateway's to say
while not select.select([s], [], [], 0.05)[0]:
    m.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": 71}})
print(m.read(s)[0])
print(text(m.call("get_sum")))
''', rate={"calls_per_minute": 60000, "burst": 1000})
    expect(ran.out == "202\ndid get_sum\n", ran)
    expect(called(srv) == ["get_sum"], ran)
    expect(not [m for m in srv.messages("notifications/cancelled")], ran)


@box_test
def more_than_the_host_can_be_asked_is_refused():
    srv = Server()
    ran = run(srv, "never", r'''
import select
m = Mcp(version="2026-07-28")
call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "echo", "_meta": {
        "io.modelcontextprotocol/protocolVersion": m.version,
        "io.modelcontextprotocol/clientCapabilities": {}}}}
waiting = [m.open("POST", call, extra={
    "MCP-Protocol-Version": m.version, "Mcp-Method": "tools/call",
    "Mcp-Name": "echo"}) for _ in range(40)]
refused = []
while len(refused) < 8:
    for s in select.select(waiting, [], [], WAIT)[0]:
        refused.append(m.read(s)[2][-1]["error"]["data"]["reason"])
        waiting.remove(s)
print(len(waiting), *set(refused), sep=", ")
print(select.select(waiting, [], [], 0.2)[0])
''', rate={"calls_per_minute": 6000, "burst": 100})
    expect(ran.out.splitlines() == [
        "32, it has to be approved, and 32 calls wait for that", "[]"], ran)
    expect(not called(srv), ran)


@box_test
def a_revoked_box_waits_for_nothing():
    srv = Server()
    ran = run(srv, "revoke", r'''
m = Mcp().begin()
s = m.open("POST", {"jsonrpc": "2.0", "id": 7, "method": "tools/call",
                    "params": {"name": "echo"}})
print(end(s))
''')
    expect(ran.out == "reset\n" and len(ran.asked) == 1, ran)
    expect(not called(srv), ran)


@box_test
def what_is_too_long_to_be_asked_about_is_refused():
    srv = Server()
    ran = run(srv, "allow", r'''
m = Mcp().begin()
print(text(m.call("echo", {"a": "x" * 32000})))
e = m.call("echo", {"a": "x" * 33000})[2][-1]["error"]
print(e["code"], e["data"]["reason"])
''')
    expect(ran.out.splitlines() == [
        "did echo", "-32000 it has to be approved, and over 32 KiB is too "
        "much to be asked about"], ran)
    expect([len(a) for a in ran.asked] == [len('srv:echo {"a":""}') + 32000]
           and called(srv) == ["echo"], ran)


main()
