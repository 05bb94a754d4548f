#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway: budgets of tokens. A model API on loopback answers as the
common ones do, whole and in pieces that are cut anywhere, and as none does.
Row 117 of GATEWAY-CASES.md."""

import gzip
import json

from gateway_lib import Ran, arguments, client, policy, records_of
from model_lib import HOST, Model, secret_file, take_body
from tool_lib import WAIT, box_test, expect, main, tool

OTHER = "model.other.test"
UNTOLD = 2097152
BODY = b'{"model":"m"}'


def events(*values):
    return "".join("data: %s\n\n" % (v if isinstance(v, str)
                                     else json.dumps(v)) for v in values)


CHAT = {"choices": [{"message": {"content": "hi"}}],
        "usage": {"prompt_tokens": 19, "completion_tokens": 10,
                  "total_tokens": 29}}
START = {"type": "message_start", "message": {
    "usage": {"input_tokens": 25, "output_tokens": 1}}}
DELTA = {"type": "message_delta", "usage": {"output_tokens": 15}}
STOP = {"type": "message_stop"}
# what is written, and what it took
TOLD = {
    "chat": (json.dumps(CHAT), 29),
    "chat_stream": (events({"choices": [{}], "usage": None}, {
        "choices": [], "usage": CHAT["usage"]}, "[DONE]"), 29),
    "responses": (events({"type": "response.created", "response": {
        "usage": None}}, {"type": "response.completed", "response": {"usage": {
            "input_tokens": 37, "output_tokens": 11,
            "total_tokens": 48}}}), 48),
    "messages": (json.dumps({"content": [
        {"type": "tool_use", "input": {"usage": {"input_tokens": 999}}}],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 1000,
                  "cache_creation_input_tokens": 100,
                  "output_tokens": 5}}), 1115),
    "messages_stream": (events(START, DELTA, STOP), 40),
    "gemini": (json.dumps([{"usageMetadata": {"totalTokenCount": 4}}, {
        "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 9,
                          "thoughtsTokenCount": 20,
                          "totalTokenCount": 33}}]), 33),
}


class Api(Model):
    def answer(self, peer, request):
        take_body(peer, request)
        way, name = request.line.split(" ")[1].split("?")[0].split("/")[-2:]
        body = TOLD.get(name, (name, 0))[0].encode()
        if way == "pieces":
            # one after the other, as they are taken
            peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for i in range(0, len(body), 7):
                peer.send(b"%x\r\n%s\r\n" % (len(body[i:i + 7]),
                                             body[i:i + 7]))
            peer.send("0\r\n\r\n")
        elif way == "old":
            peer.send(b"HTTP/1.0 200 OK\r\n\r\n" + body)
            return False
        elif way == "gzip":
            peer.answer(gzip.compress(body), fields="Content-Encoding: gzip"
                        "\r\n")
        elif way == "error":
            peer.answer(body, "529 Overloaded")
        elif way == "cut":
            return False
        elif way in ("half", "last"):
            # no end until the box has gone
            peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            text = events(START).encode() if way == "half" else body
            peer.send(b"%x\r\n%s\r\n" % (len(text), text))
            peer.more()
            return False
        else:
            peer.answer(body)
        return True


api = Api("tokens", OTHER)
route = api.route


def document(routes=None, **network):
    routes = routes or [route("/m")]
    return policy(["%s:%d" % (OTHER, 1)], private=(
        "127.0.0.0/8", HOST, OTHER), routes=routes,
        secrets=[{"name": "key", "hosts": [HOST, OTHER]}], network=network)


AGENT = r'''
import http.client, os, socket, time
from urllib.parse import urlsplit
url = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
key = os.environ["ANTHROPIC_API_KEY"]
def ask(path, method="POST", prefix="/m", **fields):
    c = http.client.HTTPConnection(url.hostname, url.port, timeout=%d)
    c.request(method, prefix + path, %r if method == "POST" else None,
              dict({"x-api-key": key}, **fields))
    r = c.getresponse()
    r.data = r.read()
    return r
def leave(path, after):
    """Goes when this has come, and waits until that was seen."""
    s = socket.create_connection((url.hostname, url.port), %d)
    s.sendall(("POST /m" + path + " HTTP/1.1\r\nHost: " + url.netloc +
               "\r\nx-api-key: " + key + "\r\nContent-Length: 2\r\n\r\n{}"
               ).encode())
    data = b""
    while after not in data:
        data += s.recv(4096)
    s.close()
def until(status):
    end = time.monotonic() + %d
    while ask("/plain/count_tokens").status != status:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
''' % (WAIT, BODY, WAIT, WAIT)


def box(document, script):
    log, argv = arguments(document, "python3", "-c", AGENT + script)
    argv[1:1] = ["--secret", "key=" + secret_file]
    done = tool(*argv, timeout=3 * WAIT)
    return Ran(done, records_of(log))


def said(ran):
    return [r["detail"] for r in ran.records("closed") if r["how"] == "route"]


@box_test
def row_117_tokens_are_counted_as_answers_tell_them():
    names = sorted(TOLD)
    for way in ("plain", "pieces", "old"):
        ran = box(document(budget={"tokens": 1 << 30}), """
for name in %r:
    r = ask("/v1/%s/" + name)
    print(r.status, len(r.data))
""" % (names, way))
        expect(ran.out.splitlines() == ["200 %d" % len(TOLD[n][0])
                                        for n in names], ran)
        expect(said(ran) == ["%d tokens" % TOLD[n][1] for n in names], ran)


@box_test
def row_117_when_they_are_used_up_the_next_is_refused():
    before = len(api.heads)
    ran = box(document(budget={"tokens": 58}), """
r = [ask("/v1/pieces/chat") for _ in range(3)]
print(*[a.status for a in r], r[2].getheader("x-agentbox-reason"))
print(ask("/v1/plain/models", "GET").status)
print(ask("/v1/plain/chat").status)
""")
    expect(ran.out == "200 200 429 budget_tokens\n200\n429\n", ran)
    expect(len(api.heads) == before + 3, ran)
    expect(len(ran.records("denied", "budget_tokens")) == 2, ran)
    expect(said(ran) == ["29 tokens", "29 tokens", ""], ran)


@box_test
def row_117_one_token_that_is_left_is_enough_for_the_next():
    ran = box(document(budget={"tokens": 59}), """
print(*[ask("/v1/plain/chat").status for _ in range(4)])
""")
    expect(ran.out == "200 200 200 429\n", ran)


@box_test
def row_117_what_takes_none_counts_for_none():
    """Errors, what an upstream ends without a word, and what is known to."""
    ran = box(document(budget={"tokens": 1}), """
print(*[ask("/v1/" + p).status for p in (
    "error/chat", "cut/chat", "plain/count_tokens", "plain/m:countTokens")])
print(ask("/v1/plain/x", "DELETE").status)
print(ask("/v1/plain/chat", "GET").status)
print(*[ask("/v1/plain/chat").status for _ in range(2)])
""")
    expect(ran.out == "529 502 200 200\n200\n200\n200 429\n", ran)


@box_test
def row_117_an_answer_that_does_not_tell_counts_for_the_most():
    told = "%d tokens, as the answer did not tell" % UNTOLD
    for path in ("/v1/plain/none", "/v1/gzip/chat", "/v1/pieces/nothing",
                 "/v1/old/data:"):
        ran = box(document(budget={"tokens": UNTOLD}), """
print(ask("%s").status, ask("/v1/plain/chat").status)
""" % path)
        expect(ran.out == "200 429\n" and said(ran) == [told], ran)
    ran = box(document(budget={"tokens": UNTOLD + 1}), """
print(*[ask("/v1/" + p).status for p in (
    "plain/none", "plain/chat", "plain/chat")])
""")
    expect(ran.out == "200 200 429\n", ran)


@box_test
def row_117_who_leaves_before_it_tells_has_taken_the_most():
    ran = box(document(budget={"tokens": UNTOLD}), """
leave("/v1/half/x", b"message_start")
print(until(429))
""")
    told = "%d tokens, as the answer did not tell" % UNTOLD
    expect(ran.out == "True\n" and told in said(ran), ran)


@box_test
def row_117_who_leaves_after_the_last_word_has_taken_what_it_said():
    for name in ("messages_stream", "chat_stream", "responses"):
        tokens = TOLD[name][1]
        ran = box(document(budget={"tokens": tokens}), """
leave("/v1/last/%s", b"\\n\\n\\r\\n")
print(until(429))
""" % name)
        expect(ran.out == "True\n" and "%d tokens" % tokens in said(ran), ran)


@box_test
def row_117_what_is_packed_is_not_asked_for():
    before = len(api.heads)
    script = """
print(ask("/v1/plain/chat", **{"Accept-Encoding": "gzip, br"}).status)
"""
    expect(box(document(budget={"tokens": 100}), script).out == "200\n")
    ran = box(document(budget={"requests": 100}), script)
    expect(ran.out == "200\n" and said(ran) == [""], ran)
    expect([h.all("accept-encoding") for h in api.heads[before:]] ==
           [["identity"], ["gzip, br"]], api.heads[before:])


@box_test
def row_117_what_is_carried_out_later_or_without_end_is_refused():
    before = len(api.heads)
    doc = document([route("/m", HOST, websocket=True)],
                   budget={"tokens": 1 << 30})
    ran = box(doc, """
for path in ("/v1/messages/batches", "/v1/batches/x/y", "/v1/realtime/calls",
             "/v1/m:batchGenerateContent", "/v1/messages/batches/",
             "/v1/batch/jobs", "/v1/m%3AbatchGenerateContent",
             "/v1/m%3abatchgenerateContent", "/v1/messages/Batches"):
    r = ask(path)
    print(r.status, r.getheader("x-agentbox-reason"))
r = ask("/v1/x", "GET", Connection="Upgrade", Upgrade="websocket",
        **{"Sec-WebSocket-Key": "x" * 22 + "==", "Sec-WebSocket-Version": "13"})
print(r.status, r.getheader("x-agentbox-reason"))
""")
    expect(ran.out.splitlines() == ["403 tokens_untold"] * 10, ran)
    expect(len(api.heads) == before, ran)


@box_test
def row_117_a_names_tokens_are_its_own_and_by_no_other_way():
    """A route that is no model's does not tell, so it goes nowhere."""
    routes = [route("/m", HOST), route("/o", OTHER), dict(
        route("/plain", OTHER), preset=None)]
    del routes[2]["preset"]
    ran = box(document(routes, names=[
        {"name": HOST, "budget": {"tokens": 29}},
        {"name": "*.other.test", "budget": {"tokens": 1000}}]), """
print(*[ask("/v1/plain/chat").status for _ in range(2)])
print(*[ask("/v1/plain/chat", prefix="/o").status for _ in range(2)])
for method in ("POST", "GET"):
    r = ask("/v1/plain/chat", method, prefix="/plain")
    print(r.status, r.getheader("x-agentbox-reason"))
""")
    expect(ran.out == "200 429\n200 200\n" + "403 tokens_untold\n" * 2, ran)


@box_test
def row_117_a_tunnel_to_a_name_with_tokens_is_refused():
    """By every way, with a reason that says why; no request is counted."""
    before = api.up.accepted
    ran = client(policy(["%s:%d" % (OTHER, api.port), OTHER + ":80"], private=(
        "127.0.0.0/8", OTHER), network={"names": [
            {"name": OTHER, "budget": {"tokens": 1000}}]}), r'''
print(connect("%s:%d")[1].split(" ")[1])
s = dial()
s.sendall(("GET http://%s/ HTTP/1.1\r\nHost: %s\r\n%%s\r\n" %% AUTH).encode())
h = head(s)
print(h.split(" ")[1], "tokens_untold" in h)
s = dial()
s.sendall(b"\5\1\2")
s.recv(2)
s.sendall(b"\1\x08agentbox" + bytes([len(KEY)]) + KEY.encode())
s.recv(2)
s.sendall(b"\5\1\0\3" + bytes([len("%s")]) + b"%s" + struct.pack(
    ">H", %d))
print(s.recv(10)[1])
''' % (OTHER, api.port, OTHER, OTHER, OTHER, OTHER, api.port))
    expect(ran.out == "403\n403 True\n2\n", ran)
    expect(len(ran.records("denied", "tokens_untold")) == 3, ran)
    expect(api.up.accepted == before, ran)


main()
