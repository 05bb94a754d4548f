#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""MCP over HTTP at a live gateway: what a client may write on the wire, byte
by byte, and what a server's own reading could make of it. A row is a name,
what has to be in the answer, and the bytes; behind each the session lives on,
and the server has seen nothing that was denied. Rows 67-72, 93, 95, 99, 122,
127, 128, 135, 136 of GATEWAY-CASES.md."""

import json
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mcp_lib import box, document, entry, event, events, Server
from tool_lib import WORK, box_test, expect, main

# more than this asks; what is counted here is not the rate
FAST = {"rate": {"calls_per_minute": 100000, "burst": 10000}}

WIRE = r'''
import re
m, other = Mcp().begin(), Mcp("two").begin()
def message(name="echo", tag="", id=1):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                       "params": {"name": name, "arguments": {"tag": tag}}}
                      ).encode()
KEYED = b"Authorization: Bearer " + KEY.encode() + b"\r\n"
JSON = b"Content-Type: application/json\r\n"
ACCEPT = b"Accept: application/json, text/event-stream\r\n"
CHUNKED = b"Transfer-Encoding: chunked"
NEW = b"MCP-Protocol-Version: 2026-07-28"
def post(body, *fields, path=b"/mcp/srv", version=b"HTTP/1.1", verb=b"POST",
         length=True, session=True):
    lines = [verb + b" " + path + b" " + version, b"Host: 192.0.0.1:3128"]
    if session:
        lines.append(b"Mcp-Session-Id: " + m.session.encode())
    if length:
        lines.append(b"Content-Length: %d" % len(body))
    return (b"\r\n".join(lines) + b"\r\n" + KEYED + ACCEPT + JSON +
            b"".join(f + b"\r\n" for f in fields) + b"\r\n" + body)
def chunk(data, end=b"0\r\n\r\n"):
    return b"%x\r\n%s\r\n%s" % (len(data), data, end)
def other_session(data):
    return data.replace(m.session.encode(), b"0" * 64, 1)
def answers(s, n):
    """Of n answers: their statuses, reasons, codes, and what tools did."""
    data = b""
    try:
        while len(re.findall(rb"HTTP/1.1 [2-5]", data)) < n or \
                not re.search(rb"\r\n\r\n(?:.|\n)+[}\n]$", data):
            more = s.recv(65536)
            if not more:
                break
            data += more
    except ConnectionError:
        data += b"reset"
    return " ".join(f.decode() for f in re.findall(
        rb"(?<=HTTP/1.1 )\d+|(?<=Reason: )\S+|did \w+|-32\d+|reset", data))
def row(name, want, data, n=1, shut=False):
    s = dial()
    s.sendall(data)
    if shut:
        s.shutdown(socket.SHUT_WR)
    got = answers(s, n)
    s.close()
    if not all(w in got.split(" ") or w in got for w in want.split("&")):
        print("WRONG", name, "wanted", want, "got", got)
    if m.request("ping")[0] != 200:
        print("LOST", name)
g = message()
'''


def wire(rows):
    srv, two = Server(), Server()
    with open(os.path.join(WORK, "rows.py"), "w") as f:
        f.write(WIRE + rows + '\nprint("all", text(m.call("echo")))\n')
    ran = box(document(entry(srv), entry(two, "two"),
                       allow=("srv:echo", "two:echo"), tools=FAST),
              "exec(open('/workspace/rows.py').read())")
    expect(ran.out == "all did echo\n", ran)
    for head, message in srv.seen + two.seen:
        seen = str(message) + head.raw.decode("latin-1")
        for word in ("remove", "HIDDEN", "192.0.0.1", "X-Any"):
            expect(word not in seen, (word, seen))


@box_test
def c67_to_72_a_body_has_one_length_or_none_goes_on():
    wire(r'''
row("chunks", "200&did echo", post(chunk(g), CHUNKED, length=False))
for name, data in (
        ("a line feed alone", b"%x\n%s\r\n0\r\n\r\n" % (len(g), g)),
        ("0x", b"0x" + chunk(g)), ("a sign", b"+" + chunk(g)),
        ("no number", b";a=b\r\n"), ("too large", b"f" * 18 + b"\r\n" + g),
        ("a key in a trailer", chunk(g, b"0\r\nAuthorization: x\r\n\r\n")),
        ("a length in a trailer", chunk(g, b"0\r\nContent-Length: 1\r\n\r\n"))):
    row(name, "400", post(data, CHUNKED, length=False))
row("5 MiB", "413&mcp_length", post(b"", b"Content-Length: 5242880",
                                    length=False))
for name, field in (
        ("the same twice", b"Content-Length: %d" % len(g)),
        ("two", b"Content-Length: 5"), ("both", CHUNKED),
        ("identity", b"Transfer-Encoding: identity")):
    row(name, "400", post(g, field))
for name, field in (
        ("a list", b"Content-Length: %d, %d" % (len(g), len(g))),
        ("plus", b"Content-Length: +5"), ("minus", b"Content-Length: -1"),
        ("hex", b"Content-Length: 0x50"),
        ("20 digits", b"Content-Length: 99999999999999999999"),
        ("gzip", b"Transfer-Encoding: gzip, chunked"),
        ("chunked twice", b"Transfer-Encoding: chunked, chunked"),
        ("two fields", CHUNKED + b"\r\n" + CHUNKED),
        ("a space", b"Transfer-Encoding : chunked"),
        ("a vertical tab", b"Transfer-Encoding: \x0bchunked")):
    row(name, "400", post(chunk(g), field, length=False))
row("no body", "400&mcp_body", post(b"", length=False))
row("an empty one", "400&mcp_body", post(b""))
row("packed", "415&mcp_coding", post(g, b"Content-Encoding: gzip"))
for name, data in (
        ("a fold", post(g, b"X-Any: b\r\n c")),
        ("line feeds", post(g).replace(b"\r\n", b"\n")),
        ("a return", post(g, b"X-Any: b\rMcp-Method: x")),
        ("NUL", post(g, b"X-Any: b\0c"))):
    row(name, "400", data)
row("a long head", "431", post(g, b"X-Any: " + b"y" * 60000))
row("half of it", "", post(message(tag="HIDDEN"))[:-3], shut=True)
row("no last chunk", "", post(chunk(message(tag="HIDDEN"), b""), CHUNKED,
                              length=False), shut=True)
row("1.0", "200&did echo", post(g, version=b"HTTP/1.0"))
row("2.0", "505", post(g, version=b"HTTP/2.0"))
row("expect", "100&200&did echo", post(g, b"Expect: 100-continue"))
row("expect else", "417", post(g, b"Expect: 200-ok"))
''')


@box_test
def c72_what_comes_behind_a_refusal_is_not_read():
    wire(r'''
hidden = post(message(tag="HIDDEN"))
row("two in a row", "200&did echo", post(g) + post(message(id=2)), n=2)
row("behind no session", "404", other_session(post(g)) + hidden)
row("in its body", "404", other_session(post(hidden)))
row("behind a type", "415", post(g).replace(b"tion/json\r\n", b"tion/x\r\n")
    + hidden)
row("behind a parse error", "400&-32700", post(b"{") + hidden)
row("behind a verb", "405", post(b"", verb=b"PUT") + hidden)
row("behind no body", "400", post(b"", length=False) + hidden)
row("in a GET", "400&mcp_body", post(hidden, verb=b"GET"))
row("in a DELETE", "400&mcp_body", post(hidden, verb=b"DELETE"))
row("behind a foreign DELETE", "404", other_session(
    post(b"", verb=b"DELETE", length=False)) + hidden)
row("behind a tool", "200&-32602", post(message("remove")[:-1] + b"}"))
row("override", "200&did echo", post(g, b"X-HTTP-Method-Override: DELETE"))
row("upgrade", "200&did echo", post(g, b"Connection: Upgrade",
    b"Upgrade: websocket", b"Sec-WebSocket-Version: 13",
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="))
''')


@box_test
def c93_95_99_one_path_one_key_one_session():
    wire(r'''
for path in (b"/mcp/srv/", b"/mcp//srv", b"/mcp/srv?x=1", b"/mcp/%73rv",
             b"/mcp/two/../srv", b"/MCP/srv", b"/mcp/srv%00", b"/mcp", b"/mcp/",
             b"/%6dcp/srv", b"/mcp%2fsrv", b"/mcp/SRV", b"/mcp/srv;a"):
    row(repr(path), "404", post(g, path=path))
for path in (b"//mcp/srv", b"/mcp/srv#x", b"/./mcp/srv", b"/mcp\\srv",
             b"mcp/srv", b"*"):
    row(repr(path), "400", post(g, path=path))
row("as a proxy", "407", post(g, path=b"http://192.0.0.1:3128/mcp/srv"))
row("another host", "403", post(g).replace(b"192.0.0.1:3128", b"evil.test"))
for origin in (b"null", b"http://192.0.0.1:3128/", b"", b"http://192.0.0.1",
               b"https://192.0.0.1:3128"):
    row(repr(origin), "403&mcp_origin", post(g, b"Origin: " + origin))
for name, field in (("no key", b""), ("a cookie", b"Cookie: key=" +
                                      KEY.encode() + b"\r\n")):
    row(name, "401", post(g).replace(KEYED, field))
row("a query", "401", post(g, path=b"/mcp/srv?key=" + KEY.encode()).replace(
    KEYED, b""))
for verb in (b"POST", b"GET", b"DELETE"):
    row("another's", "404&mcp_no_session", post(
        g if verb == b"POST" else b"", verb=verb, length=verb == b"POST"
        ).replace(m.session.encode(), other.session.encode()))
for verb in (b"GET", b"DELETE"):
    row("resume", "400&mcp_resume", post(b"", b"Last-Event-ID:", verb=verb,
                                         length=False))
for name in (b"mcp-session-id: " + m.session.encode(), b"accept: */*",
             b"MCP-Protocol-Version: 2025-06-18\r\n"
             b"mcp-protocol-version: 2025-06-18"):
    row(repr(name), "400&mcp_field_twice", post(g, name))
row("two types", "400&http_field_twice",
    post(g, b"content-type: application/json"))
for kind, want in ((b"application/json;charset=utf-8", "200"),
                   (b"Application/JSON", "200"),
                   (b"application/json; charset=utf-16", "415"),
                   (b"application/json, text/plain", "415"),
                   (b"application/json;", "415"), (b"", "415"),
                   (b"application/vnd.api+json", "415")):
    row(repr(kind), want, post(g).replace(JSON, b"Content-Type: " + kind +
                                          b"\r\n"))
row("q", "406", post(g).replace(b"n/json,", b"n/json; q=0.00,"))
''')


@box_test
def c128_heads_of_2026_07_28_say_what_the_message_says():
    wire(r'''
def new(*fields, params={"name": "echo"}, method="tools/call", meta=True):
    p = dict(params)
    if meta:
        p["_meta"] = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    return post(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method,
                            "params": p}).encode(), NEW, *fields,
                session=False)
CALL, ECHO = b"Mcp-Method: tools/call", b"Mcp-Name: echo"
row("good", "200&did echo", new(CALL, ECHO))
for name, fields in (
        ("case of the mark", (CALL, b"Mcp-Name: =?BASE64?ZWNobw==?=")),
        ("bits behind it", (CALL, b"Mcp-Name: =?base64?ZWNobx==?=")),
        ("no padding", (CALL, b"Mcp-Name: =?base64?ZWNobw?=")),
        ("case", (b"Mcp-Method: Tools/Call", ECHO)), ("none", (CALL,)),
        ("not this", (CALL, b"Mcp-Name: remove"))):
    row(name, "400&-32020", new(*fields))
row("two", "400&mcp_field_twice", new(CALL, ECHO, b"mcp-name: remove"))
row("a name of a list", "400&-32020", new(
    b"Mcp-Method: tools/list", b"Mcp-Name: remove", method="tools/list",
    params={}))
row("denied", "200&-32602", new(CALL, b"Mcp-Name: remove",
                                params={"name": "remove"}))
row("no version inside", "400&-32020", new(CALL, ECHO, meta=False))
row("no stream", "405", post(b"", NEW, verb=b"GET", length=False,
                             session=False))
row("not granted", "404&-32601", new(b"Mcp-Method: subscriptions/listen",
    method="subscriptions/listen", params={}))
row("a field", "200&did echo", new(CALL, ECHO, b"Mcp-Param-Any: HIDDEN"))
''')


# what a reader that does not care for case would take the second for
TWINS = [
    ("resources/read", {"uri": "file:///docs/a", "Uri": "file:///etc/HIDDEN"}),
    ("resources/read", {"uri": "file:///docs/a", "ur\u0131": "file:///HIDDEN"}),
    ("resources/subscribe", {"uri": "file:///docs/a", "URI": "HIDDEN"}),
    ("prompts/get", {"name": "ask", "Name": "HIDDEN"}),
    ("tools/call", {"name": "echo", "Name": "HIDDEN"}),
    ("tools/call", {"name": "echo", "_Meta": {"agentbox/identity": "HIDDEN"}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "ask"},
                             "Ref": {"type": "ref/prompt", "name": "HIDDEN"}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "ask",
                                     "Name": "HIDDEN"}}),
]


@box_test
def c127_135_no_server_reads_another_name_than_the_guard():
    def ask(srv, peer, request, message):
        events(peer, {"jsonrpc": "2.0", "id": 1, "method":
                      "elicitation/create", "params": {
                          "message": "q", "requestedSchema": {},
                          "mode": "form", "Mode": "url",
                          "url": "https://HIDDEN.test/"}},
               {"jsonrpc": "2.0", "id": 2, "method": "elicitation/create",
                "params": {"message": "q", "requestedSchema": {}}})
        asked.wait(30)
        peer.send(event({"jsonrpc": "2.0", "id": message["id"], "result": {
            "content": []}}))

    def told(srv, peer, request, message):
        peer.answer(b"", "202 Accepted")
        asked.set()

    asked = threading.Event()
    srv = Server(**{"tools/call": ask, "response": told})
    ran = box(document(entry(srv, grant=[
        "resources", "prompts", "completion", "subscriptions", "elicitation"],
        resources=["file:///docs/*"], prompts=["ask"]), tools=FAST), r'''
m = Mcp().begin()
for method, params in json.loads(%r):
    got = m.request(method, params)[2][-1]
    print(got.get("error", {}).get("code"))
for uri in ("file:///docs//etc/HIDDEN", "file:///docs/%%c0%%ae%%c0%%ae/HIDDEN",
            "file:///docs/\uff0e\uff0e/HIDDEN", "file:///docs/%%/HIDDEN"):
    print(m.request("resources/read", {"uri": uri})[2][-1]["error"]["code"])
s = m.open("POST", {"jsonrpc": "2.0", "id": "q", "method": "tools/call",
                    "params": {"name": "echo"}})
head(s)
for e in m.events(s):
    print(e.get("method"), "HIDDEN" in str(e))
    if "method" in e:
        m.send({"jsonrpc": "2.0", "id": e["id"], "result": {
            "action": "accept", "_meta": {"agentbox/identity": "HIDDEN"}}})
''' % json.dumps(TWINS))
    expect(ran.out.splitlines() == ["-32600"] * 7 + ["-32602"] * 5 + [
        "elicitation/create False", "None False"], ran)
    expect("HIDDEN" not in str(srv.messages()), srv.messages())


main()
