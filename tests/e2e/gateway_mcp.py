#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""MCP over HTTP at a live gateway: what a client of a box may do. Each name
begins with the rows of GATEWAY-CASES.md that it shows. Hostile servers are in
gateway_mcp_server.py."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gateway_lib import client, policy
from mcp_lib import answer, box, document, entry, event, events, Server
from route_lib import REAL
from tool_lib import WORK, box_test, expect, main, says, until


@box_test
def a_client_lists_and_calls_what_the_policy_grants():
    seen = os.path.join(WORK, "deleted")

    def delete(srv, peer, request):
        peer.answer(b"", "204 No Content")
        open(seen, "w").close()

    srv = Server(DELETE=delete)
    ran = box(document(entry(srv)), r'''
m = Mcp().begin()
print(m.names(), len(m.session))
print(text(m.call("echo")), text(m.call("get_sum", {"a": 1})))
print(error(m.call("remove")), error(m.call("none")))
print(m.request("ping")[2][-1]["result"])
print(m.read(m.open("DELETE"))[0])
print(error(m.call("echo")))
# the server is told of it later than we are
end = time.monotonic() + WAIT
while not os.path.exists("/workspace/deleted") and time.monotonic() < end:
    time.sleep(0.01)
''')
    os.unlink(seen)
    expect(ran.out.splitlines() == [
        "['echo', 'get_sum'] 64", "did echo did get_sum",
        "(200, -32602, 'no such tool is granted here') "
        "(200, -32602, 'no such tool is granted here')", "{}", "204",
        "(404, -32600, 'mcp_no_session')"], ran)
    calls = srv.messages("tools/call")
    expect([c["params"]["name"] for c in calls] == ["echo", "get_sum"], ran)
    who = calls[0]["params"]["_meta"]["agentbox/identity"]
    expect(who["uid"] == os.getuid() and who["name"] == "gateway" and
           who["box"], who)
    for h in srv.heads:
        expect(h.all("authorization") == ["Bearer " + REAL], h.raw)
        expect(h.all("host") == ["tools.test:%d" % srv.port], h.raw)
        expect(h.line.split(" ")[1] == "/mcp", h.raw)
    expect(srv.heads[-1].line.startswith("DELETE") and
           srv.heads[-1].get("mcp-session-id") == "its-own-session", ran)
    expect(srv.heads[1].get("mcp-protocol-version") == "2025-06-18", ran)
    r = ran.records("allowed", "mcp.call")
    expect([x["subject"] for x in r] == ["srv:echo", "srv:get_sum"] and
           r[0]["actor"]["uid"] == os.getuid() and
           r[0]["actor"]["euid"] == os.geteuid() and
           r[0]["verdict"] == "allow" and r[0]["timestamp"], ran)
    r = ran.records("denied", "mcp.call")
    expect([x["subject"] for x in r] == ["srv:remove", "srv:none"], ran)


@box_test
def a_client_without_sessions_speaks_2026_07_28():
    srv = Server(session=None, **{"server/discover": {
        "supportedVersions": ["2025-06-18", "2026-07-28"],
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": {"name": "n", "version": "1"},
        "resultType": "complete"}})
    ran = box(document(entry(srv)), r'''
m = Mcp(version="2026-07-28")
d = m.request("server/discover")[2][-1]["result"]
print(d["supportedVersions"], d["capabilities"], m.names())
print(text(m.call("echo")), error(m.call("remove")))
print(error(m.request("resources/list")))
# ids are each asker's own
held = [m.open("POST", {"jsonrpc": "2.0", "id": 7, "method": "tools/call",
    "params": {"name": "echo", "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28"}}},
    extra={"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
           "Mcp-Name": "echo"}) for _ in range(4)]
print([m.read(s)[2][-1]["id"] for s in held])
''')
    expect(ran.out.splitlines() == [
        "['2026-07-28'] {'tools': {}} ['echo', 'get_sum']",
        "did echo (200, -32602, 'no such tool is granted here')",
        "(404, -32601, 'not granted to this server')", "[7, 7, 7, 7]"], ran)
    call = [h for h, m in srv.seen if m.get("method") == "tools/call"][0]
    expect(call.get("mcp-method") == "tools/call" and
           call.get("mcp-name") == "echo" and
           call.get("mcp-protocol-version") == "2026-07-28" and
           call.get("mcp-session-id") is None, call.raw)


@box_test
def c128_arguments_that_a_tool_wants_in_the_head_are_there():
    srv = Server(session=None)
    srv.tools = [{"name": "echo", "inputSchema": {"type": "object",
                  "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "n": {"type": "integer", "x-mcp-header": "N"},
        "flag": {"type": "boolean", "x-mcp-header": "Flag"},
        "gone": {"type": "string", "x-mcp-header": "Gone"},
        "bad": {"type": "string", "x-mcp-header": "X: y"},
        "list": {"type": "array", "x-mcp-header": "List"},
        "deep": {"type": "object", "properties": {
            "a": {"type": "string", "x-mcp-header": "Deep"}}}}}}]
    ran = box(document(entry(srv)), r'''
m = Mcp(version="2026-07-28")
print(m.names())
print(text(m.call("echo", {"region": "us-west1", "n": -5, "flag": True,
    "bad": "z", "list": [1], "deep": {"a": "\u00e4\r\nX: y"}},
    extra={"Mcp-Param-Region": "forged", "Mcp-Param-Other": "x"})))
''')
    expect(ran.out == "['echo']\ndid echo\n", ran)
    head = srv.seen[-1][0]
    expect({k: v for k, v in head.fields if k.startswith("Mcp-Param")} == {
        "Mcp-Param-Region": "us-west1", "Mcp-Param-N": "-5",
        "Mcp-Param-Flag": "true", "Mcp-Param-Deep":
        "=?base64?w6QNClg6IHk=?="}, head.raw)


@box_test
def c3_nothing_is_granted_where_nothing_is_written():
    srv = Server()
    ran = box(document(entry(srv), allow=()), r'''
m = Mcp().begin()
print(m.names(), error(m.call("echo"))[1])
print(error(Mcp("other").request("ping")), error(Mcp("").request("ping")))
print(error(Mcp("srv/x").request("ping")), error(Mcp("srv?a").request("ping")))
print(error(Mcp("stdio").request("ping")))
''')
    expect(ran.out.splitlines() == [
        "[] -32602", "(404, -32600, 'mcp_server') (404, -32600, 'mcp_server')",
        "(404, -32600, 'mcp_server') (404, -32600, 'mcp_server')",
        "(404, -32600, 'mcp_server')"], ran)
    expect(not srv.messages("tools/call"), ran)
    ran = box(document(entry(srv), {"name": "stdio", "command": ["x"]}), r'''
print(error(Mcp("stdio").request("ping")))
s = dial()
s.sendall(("GET /%6dcp/srv HTTP/1.1\r\nHost: 192.0.0.1:3128\r\nAuthorization: "
           "Bearer " + KEY + "\r\n\r\n").encode())
print(head(s).split(" ")[1])
''')
    expect(ran.out.splitlines() == ["(501, -32600, 'mcp_command')", "404"],
           ran)


@box_test
def c93_95_99_the_key_always_no_page_and_no_other_host():
    srv = Server()
    ran = box(document(entry(srv)), r'''
hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}}
for key in (None, "0" * 64, KEY[:-1], KEY + "0"):
    print(Mcp(key=key).send(hello)[0])
m = Mcp()
print(m.send(hello, extra={"Host": "evil.test"})[0])
for origin in ("https://evil.test", "null", "http://192.0.0.1",
               "http://192.0.0.1:3128.evil.test"):
    print(error(m.send(hello, extra={"Origin": origin})))
print(m.send(hello, extra={"Origin": "http://192.0.0.1:3128"})[0])
''')
    expect(ran.out.splitlines() == ["401"] * 4 + ["403"] +
           ["(403, -32600, 'mcp_origin')"] * 4 + ["200"], ran)
    expect(len(srv.seen) == 1, ran)


@box_test
def c122_123_124_125_126_127_what_is_no_message_goes_nowhere():
    srv = Server()
    ran = box(document(entry(srv)), r'''
m = Mcp().begin()
call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%s}}'
for name in (b'"Echo"', b'"echo "', b'"ech\\u006f\\u0301"', b'"srv/../echo"',
             b'"' + b"e" * 1000 + b'"', b'5', b'null', b'["echo"]'):
    print(error(m.send(call % name))[:2])
for body in (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","method":'
             b'"tools/call","params":{"name":"echo"}}',
             call % b'"remove","name":"echo"', call % b'"\\u0000"',
             call % b'"\\ud800"', call % b'"\xff"', b'\xef\xbb\xbf{}', b'NaN',
             call % b'1e400', (call % b'"echo"') + b"x",
             (call % b'"echo"') * 2, b" ", b"[" * 100000,
             b'{"a":' * 100 + b"1" + b"}" * 100,
             b'[' + b'1,' * 10001 + b'1]'):
    print(error(m.send(body))[:2])
for body in (b'[]', b'[' + call % b'"echo"' + b']', b'5', b'{"id":null,'
             b'"jsonrpc":"2.0","method":"ping"}',
             b'{"id":{},"jsonrpc":"2.0","method":"ping"}',
             b'{"id":1.5,"jsonrpc":"2.0","method":"ping"}',
             b'{"id":9007199254740993,"jsonrpc":"2.0","method":"ping"}',
             b'{"id":1,"jsonrpc":"1.0","method":"ping"}'):
    print(error(m.send(body))[:2])
try:
    print(error(m.send(b" " * (4 << 20) + call % b'"echo"')))
except (ConnectionError, Gone):
    print("closed")
print(m.send({"jsonrpc": "2.0", "id": 99, "result": {}})[0])
print(m.send({"jsonrpc": "2.0", "method": "notifications/progress", "params":
              {"progressToken": 1, "progress": 1}})[0])
print(text(m.call("echo")))
''')
    lines = ran.out.splitlines()
    expect(lines[:8] == ["(200, -32602)"] * 8, ran)
    expect(lines[8:22] == ["(400, -32700)"] * 14, ran)
    expect(lines[22:30] == ["(400, -32600)"] * 8, ran)
    expect(lines[30] in ("(413, -32600, 'mcp_length')", "closed"), ran)
    expect(lines[31:] == ["202", "202", "did echo"], ran)
    expect(len(srv.messages("tools/call")) == 1 and
           not srv.messages("response"), ran)


@box_test
def c128_129_136_heads_versions_and_sessions_that_do_not_fit():
    a, b = Server(), Server(session=None)
    ran = box(document(entry(a), entry(b, "two"), allow=("*",)), r'''
m = Mcp().begin()
n = Mcp("two").begin()
new = Mcp(version="2026-07-28")
print(error(new.call("echo", extra={"Mcp-Method": "tools/list"})))
print(error(new.call("echo", extra={"Mcp-Name": "remove"})))
print(error(new.call("echo", extra={"Mcp-Name": "=?base64?cmVtb3Zl?="})))
print(text(new.call("echo", extra={"Mcp-Name": "=?base64?ZWNobw==?="})))
print(error(new.call("echo", extra={"Mcp-Session-Id": m.session})))
print(error(new.call("echo", extra={"MCP-Protocol-Version": "2025-06-18"})))
print(error(new.call("echo", extra={"MCP-Protocol-Version": "2027-01-01"})))
print(error(m.call("echo", extra={"MCP-Protocol-Version": "2025-03-26"})))
print(text(m.call("echo", drop=("MCP-Protocol-Version",))))
print(error(m.call("echo", drop=("Mcp-Session-Id",))))
for bad in ("x", "its-own-session", "0" * 64, m.session[:-1], m.session + "0",
            m.session.upper(), n.session, ""):
    print(error(m.call("echo", extra={"Mcp-Session-Id": bad}))[2])
print(error(m.request("initialize", {"protocolVersion": "2025-06-18"})))
print(error(m.call("echo", extra={"Last-Event-ID": "1"})))
print(error(m.call("echo", extra={"Accept": "text/html"})))
print(error(m.call("echo", extra={"Content-Type": "text/plain"})))
print(m.send(b"{}", extra={"Mcp-Session-Id": m.session,
                           "mcp-session-id": m.session})[0])
print([m.read(m.open(v))[0] for v in ("GET", "PUT", "OPTIONS", "HEAD")])
print(Mcp(version="1999-01-01").begin()[1]["error"]["code"])
print(Mcp(version="2026-07-28").send({"jsonrpc": "2.0", "id": 1, "method":
    "initialize", "params": {"protocolVersion": "2026-07-28"}})[2][0][
    "error"]["code"])
''')
    expect(ran.out.splitlines() == [
        "(400, -32020, 'mcp_header_mismatch')"] * 3 + ["did echo",
        "(400, -32600, 'mcp_version')",
        "(400, -32020, 'mcp_header_mismatch')",
        "(400, -32022, 'mcp_version')", "(400, -32600, 'mcp_version')",
        "did echo", "(400, -32600, 'mcp_session_missing')"] +
        ["mcp_no_session"] * 7 + ["mcp_session_id",
        "(400, -32600, 'mcp_session_unasked')",
        "(400, -32600, 'mcp_resume')", "(406, -32600, 'mcp_accept')",
        "(415, -32600, 'mcp_type')", "400", "[405, 405, 405, 405]", "-32022",
        "-32022"], ran)
    ids = {h.get("mcp-session-id") for h, _ in a.seen[1:]}
    expect(ids <= {"its-own-session", None}, ids)


@box_test
def c136_a_session_is_one_box_s_and_unknown_to_another():
    srv = Server()
    first = box(document(entry(srv)), "print(Mcp().begin().session)")
    n = len(srv.seen)
    ran = box(document(entry(srv)), r'''
m = Mcp()
m.session = %r
print(error(m.call("echo")), m.read(m.open("GET"))[0],
      m.read(m.open("DELETE"))[0])
a, b = Mcp().begin(), Mcp().begin()
print(len({a.session, b.session, m.session}))
''' % first.out.strip())
    expect(ran.out.splitlines() == ["(404, -32600, 'mcp_no_session') 404 404",
                                    "3"], ran)
    expect(len(srv.seen) == n + 4, ran)


@box_test
def c132_133_134_what_only_a_grant_opens_and_nobody_forges():
    asked = []

    def ask(srv, peer, request, message):
        token = message["params"]["_meta"].get("progressToken")
        events(peer, {"jsonrpc": "2.0", "id": 1, "method":
                      "sampling/createMessage", "params": {}},
               {"jsonrpc": "2.0", "id": 2, "method": "roots/list"},
               {"jsonrpc": "2.0", "id": 3, "method": "elicitation/create",
                "params": {"mode": "url", "url": "https://evil.test"}},
               {"jsonrpc": "2.0", "id": "f", "method": "elicitation/create",
                "params": {"message": "name?", "requestedSchema": {}}},
               {"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": 424242, "progress": 1}},
               {"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": 1}},
               {"jsonrpc": "2.0", "method": "notifications/message",
                "params": {"level": "info", "data": "x"}})
        # each comes over a connection of its own, in any order
        until(lambda: {1, 2, 3, "f"} <= {
            m.get("id") for m in srv.messages() if "method" not in m},
            "an answer to each")
        asked.append(message)
        peer.send(event(answer(message, {"content": [], "_meta": {
            "agentbox/identity": "forged", "x": 1}})))

    srv = Server(**{"tools/call": ask})
    ran = box(document(entry(srv, grant=["elicitation"])), r'''
m = Mcp().begin()
s = m.open("POST", {"jsonrpc": "2.0", "id": "q", "method": "tools/call",
    "params": {"name": "echo", "arguments": {}, "_meta": {
        "progressToken": "mine", "agentbox/identity": {"name": "root"},
        "Agentbox/identity": 1}}}, extra={"Agentbox-Identity": "x",
        "X-Forwarded-For": "1.2.3.4", "Cookie": "a=b",
        "Authorization": "Bearer " + KEY})
h = head(s)
print(h.split(" ")[1], "event-stream" in h)
for e in m.events(s):
    print(e.get("method"), json.dumps(e.get("params", e.get("result"))))
    if e.get("method") == "elicitation/create":
        print(m.send({"jsonrpc": "2.0", "id": e["id"], "result": {
            "action": "accept", "content": {"n": 1}}})[0])
''')
    expect(ran.out.splitlines() == [
        "200 True", 'elicitation/create {"message": "name?", '
        '"requestedSchema": {}}', "202",
        'notifications/progress {"progressToken": "mine", "progress": 1}',
        'None {"content": [], "_meta": {"x": 1}}'], ran)
    head, call = [(h, m) for h, m in srv.seen if m.get("method") ==
                  "tools/call"][0]
    expect(set(call["params"]["_meta"]) == {"agentbox/identity",
                                            "progressToken"} and
           call["params"]["_meta"]["agentbox/identity"]["name"] == "gateway",
           call)
    expect({k.lower() for k, _ in head.fields} == {
        "host", "user-agent", "accept", "content-type", "content-length",
        "mcp-protocol-version", "mcp-session-id", "authorization",
        "connection"}, head.raw)
    answers = {m["id"]: m for m in srv.messages() if "method" not in m}
    expect({i: answers[i]["error"]["code"] for i in (1, 2, 3)} ==
           {1: -32601, 2: -32601, 3: -32601}, answers)
    expect(answers["f"]["result"]["action"] == "accept", answers)
    expect(len(ran.records("denied", "mcp.request")) == 3, ran)
    hello = srv.messages("initialize")[0]["params"]
    expect(hello["capabilities"] == {"elicitation": {}}, hello)


@box_test
def c135_methods_that_nobody_granted_do_not_exist():
    srv = Server()
    ran = box(document(entry(srv)), r'''
m = Mcp().begin()
for method in ("resources/list", "resources/read", "prompts/get",
               "completion/complete", "tasks/list", "logging/setLevel",
               "sampling/createMessage", "nothing/such"):
    print(error(m.request(method, {"uri": "file:///etc/shadow"}))[:2])
''')
    expect(ran.out.splitlines() == ["(200, -32601)"] * 8, ran)
    expect({m["method"] for m in srv.messages()} == {
        "initialize", "notifications/initialized"}, srv.messages())


@box_test
def c135_resources_and_prompts_are_those_that_the_entry_names():
    srv = Server(**{
        "resources/list": {"resources": [
            {"uri": "file:///docs/a", "name": "a"},
            {"uri": "file:///etc/shadow", "name": "s"}]},
        "resources/read": {"contents": [{"uri": "file:///docs/a",
                                         "text": "t"}]},
        "prompts/list": {"prompts": [{"name": "ask"}, {"name": "other"}]},
        "prompts/get": {"messages": []}})
    ran = box(document(entry(srv, grant=["resources", "prompts"],
                             resources=["file:///docs/*"],
                             prompts=["ask"])), r'''
m = Mcp().begin()
print([r["name"] for r in m.request("resources/list")[2][-1]["result"][
    "resources"]])
print([r["name"] for r in m.request("prompts/list")[2][-1]["result"][
    "prompts"]])
for uri in ("file:///docs/a", "file:///etc/shadow",
            "file:///docs/../etc/shadow", "file:///docs/%2e%2e/x"):
    got = m.request("resources/read", {"uri": uri})[2][-1]
    print(got.get("result", {}).get("contents"), got.get("error", {}).get(
        "code"))
print([m.request("prompts/get", {"name": n})[2][-1].get("error", {}).get(
    "code") for n in ("ask", "other")])
''')
    expect(ran.out.splitlines() == [
        "['a']", "['ask']", "[{'uri': 'file:///docs/a', 'text': 't'}] None",
        "None -32602", "None -32602", "None -32602", "[None, -32602]"], ran)
    expect([m["params"]["uri"] for m in srv.messages("resources/read")] ==
           ["file:///docs/a"] and
           [m["params"]["name"] for m in srv.messages("prompts/get")] ==
           ["ask"], srv.messages())


@box_test
def c137_two_servers_are_told_apart_by_their_names():
    a, b = Server(), Server()
    ran = box(document(entry(a, "a"), entry(b, "b"), allow=("a:echo",
                                                           "b:remove")), r'''
a, b = Mcp("a").begin(), Mcp("b").begin()
print(a.names(), b.names(), error(a.call("remove"))[1],
      error(b.call("echo"))[1], text(a.call("echo")), text(b.call("remove")))
''')
    expect(ran.out == "['echo'] ['remove'] -32602 -32602 did echo did "
           "remove\n", ran)
    expect([[m["params"]["name"] for m in s.messages("tools/call")]
            for s in (a, b)] == [["echo"], ["remove"]], ran)


@box_test
def c138_the_rate_holds_for_all_sessions_together():
    srv = Server()
    ran = box(document(entry(srv), tools={"rate": {
        "calls_per_minute": 1, "burst": 5}}), r'''
def one(i):
    m = Mcp().begin() if i % 2 else Mcp(version="2026-07-28")
    out.append(m.call("echo")[2][-1])
out, began = [], time.monotonic()
for i in range(9):
    one(i)
threads = [threading.Thread(target=one, args=(i,)) for i in range(6)]
[t.start() for t in threads]
[t.join() for t in threads]
took = time.monotonic() - began
passed = sum("result" in o for o in out)
print(len(out), 5 <= passed <= 5 + took / 60)
e = [o["error"] for o in out if "error" in o][0]
print(e["code"], e["data"]["retryAfterMs"] > 0)
''')
    expect(ran.out == "15 True\n-32000 True\n", ran)
    expect(len(srv.messages("tools/call")) + len(
        ran.records("denied", "mcp.call")) == 15, ran)


def takes_its_time(network):
    """Two answers of 192 KiB, at 128 KiB a second with as much ahead."""
    size = 192 << 10
    srv = Server(**{"tools/call": {"content": [{"type": "text",
                                                "text": "x" * size}]}})
    ran = box(document(entry(srv), network=network), r'''
m = Mcp().begin()
began = time.monotonic()
for i in range(2):
    print(len(text(m.call("echo"))))
print(time.monotonic() - began)
''')
    rows = ran.out.split()
    expect(rows[:2] == [str(size)] * 2, ran)
    expect(float(rows[2]) > 0.9 * (2 * 192 - 128) / 128, ran)


@box_test
def c116_a_rate_of_bytes_holds_for_what_servers_say():
    takes_its_time({"rate": {"bytes_per_second": "128KiB"}})


@box_test
def c117_a_names_requests_are_of_its_server_too():
    srv = Server()
    ran = box(document(entry(srv), network={"names": [
        {"name": "tools.test", "budget": {"requests": 3}},
        {"name": "other.test", "budget": {"requests": 1}}]}), r'''
m = Mcp().begin()
print(text(m.call("echo")))
print(error(m.call("echo"))[::2])
''')
    expect(ran.out.splitlines() == ["did echo", "(429, 'mcp_busy')"], ran)


@box_test
def c117_a_server_of_tools_of_a_name_with_tokens_is_not_asked():
    srv = Server()
    ran = box(document(entry(srv), network={"names": [
        {"name": "tools.test", "budget": {"tokens": 1000}}]}), r'''
status, fields, got = Mcp().request("initialize", {
    "protocolVersion": "2025-06-18"})
print(error((status, fields, got)))
''')
    expect(ran.out == "(403, -32000, 'tokens_untold')\n", ran)
    expect(not srv.seen and ran.records("denied", "tokens_untold"), ran)


@box_test
def c116_a_names_rate_of_bytes_is_of_its_server_too():
    takes_its_time({"names": [
        {"name": "tools.test", "rate": {"bytes_per_second": "128KiB",
                                        "connections": 1}}]})


@box_test
def c116_a_budget_of_bytes_counts_short_answers_too():
    srv = Server(**{"tools/call": {"content": [{"type": "text",
                                                "text": "x" * 4096}]}})
    ran = box(document(entry(srv), network={"budget": {"bytes": "64KiB"}}),
              r'''
m = Mcp().begin()
got = [m.call("echo")[2][-1] for _ in range(32)]
print("result" in got[0], "result" in got[-1], got[-1]["error"]["code"])
''')
    expect(ran.out == "True False -32000\n", ran)
    expect(ran.records("failed", "budget"), ran)
    expect(len(srv.messages("tools/call")) <= 16, ran)


@box_test
def c139_a_record_is_one_line_whatever_it_is_about():
    srv = Server()
    ran = box(document(entry(srv)), r'''
m = Mcp().begin()
for name in ("a\nb\"c\x1b[31m", "x" * (1 << 20)):
    print(error(m.call(name))[1])
''')
    expect(ran.out == "-32602\n-32602\n", ran)
    r = ran.records("denied", "mcp.call")
    expect(len(r) == 2 and "\x1b" not in r[0]["subject"] and
           len(r[1]["subject"]) < 500, ran)
    for x in r:
        expect(x["timestamp"].endswith("Z") and
               (x["actor"]["uid"], x["actor"]["euid"]) ==
               (os.getuid(), os.geteuid()) and
               x["subject"].startswith(("srv:a", "srv:x")), x)


@box_test
def sessions_streams_and_bodies_are_bounded():
    srv = Server()
    ran = box(document(entry(srv)), r'''
many = [Mcp().begin() for _ in range(66)]
good = [m for m in many if isinstance(m, Mcp)]
bad = [m for m in many if not isinstance(m, Mcp)]
print(len(good), bad[0][0], bad[0][1]["error"]["data"]["reason"])
print(good[0].read(good[0].open("DELETE"))[0], type(Mcp().begin()).__name__)
# who sends nothing holds nothing up
m = good[1]
slow = m.open("POST", b"", extra={"Content-Length": "100"})
print(text(m.call("echo")))
# requests one behind the other on one connection, in one piece
one = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
       {"name": "none"}}
data = json.dumps(one).encode()
text_ = (m.head("POST") + "Content-Length: %d\r\n\r\n" % len(data)).encode()
s = dial()
s.sendall((text_ + data) * 40)
print(sum(m.read(s)[0] == 200 for _ in range(40)))
s.sendall((m.head("POST") + "Transfer-Encoding: chunked\r\n\r\n").encode())
for c in data:
    s.sendall(b"1\r\n%c\r\n" % c)
s.sendall(b"0\r\n\r\n")
print(m.read(s)[2][-1]["error"]["code"])
s.sendall((m.head("POST") + "Transfer-Encoding: chunked\r\n\r\nx\r\n").encode())
print(m.read(s)[0])
''')
    expect(ran.out.splitlines() == [
        "64 429 mcp_sessions", "204 Mcp", "did echo", "40", "-32602", "400"],
        ran)


@box_test
def a_policy_that_cannot_be_carried_out_is_refused():
    srv = Server()
    bad = [
        (entry(srv, ca="/nonexistent.pem"), "/nonexistent.pem"),
        (entry(srv, name="a@b"), "server with a URL"),
        (entry(srv, inject={"secret": "other"}), "other"),
        (entry(srv, url="http://x.test/"), "https://"),
        ({"name": "x", "command": ["y"], "ca": "/x"}, "no meaning"),
    ]
    for server, word in bad:
        done = client(document(server), "print(1)").done
        expect(done.status != 0 and not done.out, done)
        says(done, word)
    doc = policy([], routes=[{"prefix": "/mcp/x", "upstream":
                              "https://x.test"}])
    says(client(doc, "print(1)").done, "below \"/mcp\"")


@box_test
def the_host_of_a_server_is_reached_by_the_guard_alone():
    srv = Server()
    doc = document(entry(srv))
    doc["network"]["allow"] = ["*"]
    ran = box(doc, r'''
s, h = connect("tools.test:%d")
print(h.split(" ")[1], "routed" in h)
''' % srv.port)
    expect(ran.out == "403 True\n", ran)
    expect(srv.up.accepted == 0, ran)


@box_test
def without_the_secret_nothing_is_sent():
    srv = Server()
    ran = box(document(entry(srv)), "print(Mcp().begin())", "--verbose")
    expect("no_secret" in ran.out, ran)
    expect(not srv.seen, ran)


main()
