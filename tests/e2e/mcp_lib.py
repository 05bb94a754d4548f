# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of MCP over HTTP share: servers of tools over TLS that do
what a test says, a policy that names them, and a client of the protocol that
runs in the box.
"""

import json
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import route_lib
from gateway_lib import CLIENT, Ran, arguments, policy, records_of, resolver
from route_lib import Authority, REAL, Upstream
from tool_lib import WAIT, expect, tool

ca = Authority("good")
HOST = "tools.test"
cert = ca.cert("tools", "DNS:" + HOST)
resolver.names[HOST] = ["127.0.0.1"]
secret_file = route_lib.write("secret", REAL + "\n")

TOOLS = [{"name": n, "description": n + " it", "inputSchema": {
    "type": "object"}} for n in ("echo", "get_sum", "remove")]


class Server:
    """A server of tools. `seen` has (head, message); what it answers to a
    method is in `on`: a result, or a function of (server, peer, request,
    message) that does everything itself."""

    def __init__(self, version="2025-06-18", session="its-own-session", **on):
        self.seen, self.heads, self.lock = [], [], threading.Lock()
        self.version, self.session = version, session
        self.tools = list(TOOLS)
        self.on = dict({"ping": {}}, **on)
        self.streams = []
        self.up = Upstream(self.script, cert)
        self.port = self.up.port

    def messages(self, method=None):
        with self.lock:
            return [m for _, m in self.seen
                    if method is None or m.get("method") == method]

    def script(self, peer):
        request = peer.head()
        if not request:
            return
        n = int(request.get("content-length") or 0)
        message = json.loads(peer.exactly(n)) if n else None
        with self.lock:
            self.heads.append(request)
            if message is not None:
                self.seen.append((request, message))
        verb = request.line.split(" ")[0]
        if message is not None and not isinstance(message, list):
            self.answer(peer, request, message)
        elif verb in self.on:
            self.on[verb](self, peer, request)
        elif verb == "DELETE":
            peer.answer(b"", "204 No Content")
        else:
            peer.answer(b"no", "405 Method Not Allowed")

    def answer(self, peer, request, message):
        method = message.get("method", "response")
        act = self.on.get(method)
        if callable(act):
            act(self, peer, request, message)
        elif "id" not in message or method == "response":
            peer.answer(b"", "202 Accepted")
        elif act is not None:
            self.result(peer, message, act)
        elif method == "initialize":
            self.result(peer, message, {
                "protocolVersion": self.version, "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"}},
                "Mcp-Session-Id: %s\r\n" % self.session
                if self.session else "")
        elif method == "tools/list":
            self.result(peer, message, {"tools": self.tools})
        elif method == "tools/call":
            self.result(peer, message, {"content": [{
                "type": "text", "text": "did " + message["params"]["name"]}]})
        else:
            self.error(peer, message, -32601, "what?")

    def result(self, peer, message, result, fields=""):
        self.json(peer, {"jsonrpc": "2.0", "id": message["id"],
                         "result": result}, fields)

    def error(self, peer, message, code, text):
        self.json(peer, {"jsonrpc": "2.0", "id": message["id"],
                         "error": {"code": code, "message": text}})

    def json(self, peer, value, fields=""):
        peer.answer(value if isinstance(value, bytes) else json.dumps(value),
                    fields="Content-Type: application/json\r\n" + fields)


def events(peer, *data, fields=""):
    """A stream of events; each is a value, or text as it goes."""
    peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
              "%sConnection: close\r\n\r\n" % fields)
    for value in data:
        peer.send(value if isinstance(value, (bytes, str)) else event(value))


def event(value, kind="message", id=None):
    return "%sevent: %s\ndata: %s\n\n" % (
        "id: %s\n" % id if id else "", kind, json.dumps(value))


def answer(message, result):
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def entry(server, name="srv", **more):
    more.setdefault("inject", {"secret": "key", "header": "authorization",
                               "scheme": "Bearer"})
    return dict({"name": name, "url": "https://%s:%d/mcp" % (HOST,
                                                             server.port),
                 "ca": ca.ca}, **more)


def document(*servers, allow=("srv:echo", "srv:get_*"), tools=None, **more):
    more.setdefault("private", ("127.0.0.0/8", HOST))
    return policy([], secrets=[{"name": "key", "hosts": [HOST]}],
                  tools=dict({"servers": list(servers),
                              "allow": list(allow)}, **(tools or {})), **more)


# The client in the box: a request, and what came.
IN_BOX = r'''
import json, threading
HEADERS = {"Content-Type": "application/json",
           "Accept": "application/json, text/event-stream"}
class Gone(Exception):
    pass
class Mcp:
    def __init__(self, name="srv", version="2025-06-18", key=KEY):
        self.path, self.version, self.key = "/mcp/" + name, version, key
        self.session, self.id, self.said = None, 0, []
    def head(self, verb, extra=(), drop=()):
        h = dict(HEADERS) if verb == "POST" else {
            "Accept": "text/event-stream"}
        h["Host"] = "192.0.0.1:3128"
        if self.key:
            h["Authorization"] = "Bearer " + self.key
        if self.session:
            h["Mcp-Session-Id"] = self.session
            h["MCP-Protocol-Version"] = self.version
        h.update(extra)
        for name in drop:
            h.pop(name, None)
        return "%s %s HTTP/1.1\r\n" % (verb, self.path) + "".join(
            "%s: %s\r\n" % item for item in h.items())
    def open(self, verb, body=None, extra=(), drop=(), s=None):
        s = s or dial()
        data = b"" if body is None else (
            body if isinstance(body, bytes) else json.dumps(body).encode())
        text = self.head(verb, extra, drop)
        if body is not None and "Transfer-Encoding" not in dict(extra):
            text += "Content-Length: %d\r\n" % len(data)
        s.sendall(text.encode() + b"\r\n" + data)
        return s
    def read(self, s):
        """(status, fields, messages), the last the answer of a POST."""
        h = head(s)
        if not h:
            raise Gone()
        status = int(h.split(" ")[1])
        fields = dict(l.split(": ", 1) for l in h.split("\r\n")[1:] if l)
        fields = {k.lower(): v for k, v in fields.items()}
        if "content-length" in fields:
            n, data = int(fields["content-length"]), b""
            while len(data) < n:
                more = s.recv(n - len(data))
                if not more:
                    raise Gone()
                data += more
            is_json = fields.get("content-type") == "application/json"
            return status, fields, [json.loads(data)] if is_json else []
        if fields.get("content-type") != "text/event-stream":
            return status, fields, []
        return status, fields, list(self.events(s))
    def events(self, s):
        data = b""
        while True:
            size = b""
            while not size.endswith(b"\r\n"):
                c = s.recv(1)
                if not c:
                    raise Gone()
                size += c
            n = int(size, 16) + 2
            chunk = b""
            while len(chunk) < n:
                more = s.recv(n - len(chunk))
                if not more:
                    raise Gone()
                chunk += more
            if n == 2:
                return
            data += chunk[:-2]
            while b"\n\n" in data:
                one, data = data.split(b"\n\n", 1)
                kind, line = one.split(b"\n")
                assert kind == b"event: message" and line[:6] == b"data: "
                yield json.loads(line[6:])
    def send(self, message, **kw):
        return self.read(self.open("POST", message, **kw))
    def request(self, method, params=None, id=None, **kw):
        self.id += 1
        m = {"jsonrpc": "2.0", "id": id or self.id, "method": method}
        if params is not None or self.version == "2026-07-28":
            m["params"] = params or {}
        if self.version == "2026-07-28":
            m["params"]["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "c",
                                                       "version": "1"}}
            extra = {"MCP-Protocol-Version": self.version,
                     "Mcp-Method": method}
            if "name" in m["params"]:
                extra["Mcp-Name"] = m["params"]["name"]
            kw["extra"] = {**extra, **dict(kw.get("extra", {}))}
        return self.send(m, **kw)
    def begin(self):
        status, fields, got = self.request("initialize", {
            "protocolVersion": self.version, "capabilities": {
                "sampling": {}, "roots": {}, "elicitation": {}},
            "clientInfo": {"name": "c", "version": "1"}})
        if "result" not in got[-1]:
            return status, got[-1]
        self.session = fields["mcp-session-id"]
        self.version = got[-1]["result"]["protocolVersion"]
        self.send({"jsonrpc": "2.0",
                   "method": "notifications/initialized"})
        return self
    def call(self, name, arguments=None, **kw):
        return self.request("tools/call", {"name": name, "arguments":
                                           arguments or {}}, **kw)
    def names(self):
        return [t["name"] for t in
                self.request("tools/list")[2][-1]["result"]["tools"]]
def text(got):
    return got[2][-1]["result"]["content"][0]["text"]
def error(got):
    e = got[2][-1]["error"]
    return got[0], e["code"], e.get("data", {}).get("reason")
'''


def box(document, script, *options):
    """The script in a box that has the secret."""
    log, argv = arguments(document, "python3", "-c", CLIENT + IN_BOX + script)
    argv[1:1] = options or ("--secret", "key=" + secret_file)
    done = tool(*argv, timeout=6 * WAIT)
    with open(log) as f:
        expect(REAL not in f.read(), "the audit has the secret")
    ran = Ran(done, records_of(log))
    expect(REAL.encode() not in done.out + done.err, ran)
    expect(b"Traceback" not in done.err, ran)
    return ran
