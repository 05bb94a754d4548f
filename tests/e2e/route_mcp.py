#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Servers of tools without the rest of a gateway: what is over is held no
longer, and a revocation cuts everything. Gateway cases 125, 152."""

import json
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import route_lib
from route_lib import (Answer, Authority, KEY, REAL, Upstream, WAIT, equal,
                       expect, is_closed, main, test, until)

ca = Authority("tools")
cert = ca.cert("tools", "DNS:tools.test")


class Server:
    """Holds each call and each stream until it is let go."""

    def __init__(self):
        self.held, self.cut, self.let_go = [], [], threading.Event()
        self.up = Upstream(self.script, cert)

    def hold(self, peer, first):
        peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                  "Connection: close\r\n\r\n" + first)
        self.held.append(peer)
        try:
            while not self.let_go.wait(0.05):
                peer.send(": x\n\n")
        except OSError:
            self.cut.append(peer)
            raise

    def script(self, peer):
        request = peer.head()
        if not request:
            return
        n = int(request.get("content-length") or 0)
        message = json.loads(peer.exactly(n)) if n else {}
        method = message.get("method")
        if request.line.startswith("GET"):
            self.hold(peer, ": begun\n\n")
        elif method == "tools/call":
            self.hold(peer, "data: %s\n\n" % json.dumps({
                "jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progress": 1, "progressToken":
                           message["params"]["_meta"]["progressToken"]}}))
        elif method == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {},
                      "serverInfo": {"name": "n", "version": "1"}}
            peer.answer(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                                    "result": result}),
                        fields="Content-Type: application/json\r\n"
                        "Mcp-Session-Id: its-own\r\n")
        else:
            peer.answer(b"", "202 Accepted")


def gateway(server):
    return route_lib.Gateway([], tools={"allow": ["s:*"], "servers": [{
        "name": "s", "url": "https://tools.test:%d/mcp" % server.up.port,
        "ca": ca.ca, "inject": {"secret": "k"}}]})


def request(gw, verb, session=None, message=None, length=None):
    s = gw.connect()
    body = json.dumps(message).encode() if message else b""
    s.sendall(("%s /mcp/s HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: "
               "Bearer %s\r\nAccept: application/json, text/event-stream\r\n"
               "%s%s\r\n" % (
                   verb, KEY, "Mcp-Session-Id: %s\r\n" % session
                   if session else "",
                   "Content-Type: application/json\r\nContent-Length: %d\r\n"
                   % (length or len(body)) if verb == "POST" else
                   "")).encode() + body)
    return s


def begin(gw):
    s = request(gw, "POST", message={
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {}}})
    return Answer(s).get("mcp-session-id")


def call(gw, session, number):
    """A call of which the first progress was read."""
    s = request(gw, "POST", session, {
        "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
            "name": "x", "_meta": {"progressToken": number}}})
    answer = Answer(s)
    expect(b'"progressToken":%d' % number in answer.chunk(), answer.head)
    return s


def quiet(gw, **want):
    want = dict({"posts": 0, "legs": 0, "held": 0}, **want)
    until(lambda: all(gw.state()[k] == v for k, v in want.items()),
          "%r, at last %r" % (want, gw.state()))


@test
def a_revocation_cuts_sessions_streams_calls_and_bodies():
    server = Server()
    gw = gateway(server)
    sessions = [begin(gw) for _ in range(5)]
    quiet(gw, sessions=5)
    open_ = [request(gw, "GET", s) for s in sessions]
    for s in open_:
        equal(Answer(s).status, 200)
    for i, s in enumerate(sessions * 4):
        open_.append(call(gw, s, i + 10))
    for s in sessions:
        open_.append(request(gw, "POST", s, {"a": "b" * 5000}, 100000))
    until(lambda: gw.state()["posts"] == 30 and gw.state()["legs"] == 25,
          "all are under way")
    until(lambda: len(server.held) == 25, "the server has them all")
    until(lambda: gw.state()["held"] > 0, "a part of the bodies is held")
    gw.command("cut")
    for s in open_:
        expect(is_closed(s))
    quiet(gw, sessions=0)
    until(lambda: len(server.cut) == 25, "the server's side is cut")
    equal(Answer(request(gw, "GET", sessions[0])).status, 404)
    expect(begin(gw) not in sessions)
    gw.close()


@test
def a_server_that_is_taken_away_takes_its_sessions_along():
    server = Server()
    gw = gateway(server)
    session = begin(gw)
    open_ = [request(gw, "GET", session)]
    equal(Answer(open_[0]).status, 200)
    open_ += [call(gw, session, i + 10) for i in range(5)]
    open_.append(request(gw, "POST", session, {"a": "b" * 5000}, 100000))
    until(lambda: gw.state()["posts"] == 7 and gw.state()["legs"] == 6,
          "all are under way")
    until(lambda: len(server.held) == 6, "the server has them all")
    expect(int(gw.command("remove /mcp/s").split()[1]) >= 14)
    for s in open_:
        expect(is_closed(s))
    quiet(gw, sessions=0)
    until(lambda: len(server.cut) == 6, "the server's side is cut")
    for verb in ("GET", "DELETE"):
        equal(Answer(request(gw, verb, session)).status, 403)
    gw.close()


class Telling(Server):
    """Its answer to a call is what it was sent as its credential."""

    def hold(self, peer, first):
        super().hold(peer, first)
        if self.call:
            peer.send("data: %s\n\n" % json.dumps({
                "jsonrpc": "2.0", "id": self.call, "result": {"content": [
                    {"type": "text", "text": "<%s>" % REAL}]}}))

    def script(self, peer):
        self.call = None
        request = peer.head()
        if not request:
            return
        body = peer.exactly(int(request.get("content-length") or 0))
        message = json.loads(body or "{}")
        if message.get("method") == "tools/call":
            self.call = message["id"]
        peer.buf = request.raw + b"\r\n\r\n" + body
        super().script(peer)


@test
def a_secret_that_was_replaced_meanwhile_is_masked_all_the_same():
    for times in (1, 2, 3):
        server = Telling()
        gw = gateway(server)
        s = call(gw, begin(gw), 7)
        for i in range(times):
            equal(gw.secret("k", "another-%d" % i), "secret 0")
        server.let_go.set()
        data = b""
        while more := s.recv(65536):
            data += more
            if data.endswith(b"0\r\n\r\n"):
                break
        expect(REAL.encode() not in data, data)
        expect((b"<%s>" % (b"*" * len(REAL)) in data) == (times < 3) and
               (b"secret_replaced" in data) == (times == 3), data)
        gw.close()


@test
def what_is_over_is_held_no_longer():
    server = Server()
    gw = gateway(server)
    session = begin(gw)
    # half a body, a stream and calls whose clients go
    gone = [request(gw, "POST", session, {"a": "b" * 9000}, 1 << 20)
            for _ in range(20)]
    gone += [call(gw, session, i + 10) for i in range(20)]
    gone.append(request(gw, "GET", session))
    equal(Answer(gone[-1]).status, 200)
    for s in gone:
        s.close()
    quiet(gw, sessions=1)
    until(lambda: len(server.cut) == 21, "the server's side is cut")
    # answers of a server that ends without one
    left = [call(gw, session, i + 10) for i in range(20)]
    server.let_go.set()
    for s in left:
        s.close()
    quiet(gw, sessions=1)
    equal(Answer(request(gw, "DELETE", session)).status, 204)
    quiet(gw, sessions=0)
    gw.close()


main()
