#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway, asked each thing once: names, heads, hellos and paths that
the readers' own rows answer too, from a box, with what its resolver and its
origins heard. Each row begins with its number in GATEWAY-CASES.md."""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import route_lib
from gateway_lib import (Origin, Ran, arguments, client, policy, records_of,
                         resolver, run)
from model_lib import HOST, Model, secret_file
from route_lib import REAL
from tool_lib import WAIT, WORK, box_test, environment, expect, main, says, \
    tool

NAME = "api.example.test"
resolver.names[NAME] = ["127.0.0.1"]
heard = []


def listen(c):
    data = c.recv(65536)
    if data:
        heard.append(data)
        c.sendall(b"heard")


origin = Origin(listen)
AT = "%s:%d" % (NAME, origin.port)


def doc(*allow, **more):
    return policy(allow or (AT, "*.pkg.test:443"),
                  private=("127.0.0.0/8", NAME), **more)


ASK = r'''
import json
def answer(s):
    """"200", or the reason of the refusal"""
    h = head(s)
    why = [l[19:] for l in h.split("\r\n")
           if l.lower().startswith("x-agentbox-reason: ")]
    return why[0] if why else h.split(" ")[1] if h else "closed"
def ask_connect(target):
    s = dial()
    t = target.encode()
    s.sendall(b"CONNECT " + t + b" HTTP/1.1\r\nHost: " + t + b"\r\n" +
              AUTH.encode() + b"\r\n")
    return answer(s)
def ask_raw(text):
    s = dial()
    s.sendall(text.replace("@AUTH@", AUTH).replace("@KEY@", KEY)
              .encode("latin-1"))
    return answer(s)
def ask_socks(text, port):
    s = dial()
    host = text.encode()
    s.sendall(b"\5\1\2\1\1a\x40" + KEY.encode() + b"\5\1\0\3" +
              bytes([len(host)]) + host + port.to_bytes(2, "big"))
    return str(exactly(s, 14)[5])
def ask_name(text):
    try:
        return socket.getaddrinfo(text, 443)[0][4][0]
    except (OSError, UnicodeError):
        return "none"
def put(*parts):
    return b"".join(parts)
def sized(n, data):
    return len(data).to_bytes(n, "big") + data
def extension(kind, data):
    return kind.to_bytes(2, "big") + sized(2, data)
def sni(name):
    return extension(0, sized(2, b"\0" + sized(2, name.encode())))
def message(*extensions, version=0x0303, session=b"", longer=0):
    body = put(version.to_bytes(2, "big"), bytes(32), sized(1, session),
               sized(2, b"\x13\x01"), b"\1\0", sized(2, put(*extensions)))
    return b"\1" + (len(body) + longer).to_bytes(3, "big") + body
def records(data, size=16384):
    return b"".join(b"\x16\3\1" + sized(2, data[i:i + size])
                    for i in range(0, len(data), size))
V13 = extension(43, b"\2\3\4")
'''


def reasons_of(ran):
    return {r["reason"] for r in ran.records("denied")}


def answers(document, rows, call, **kw):
    """Each row's outcome is what it says; the records of the box."""
    before = len(origin.seen)
    ran = client(document, ASK + r'''
for row, text in json.loads(%r):
    print(json.dumps([row, text, %s]), flush=True)
''' % (json.dumps([r[:2] for r in rows]), call), **kw)
    got = [json.loads(line) for line in ran.out.splitlines()]
    expect(len(got) == len(rows), ran.done)
    for row, mine in zip(rows, got):
        expect(mine == list(row[:3]), (mine, "wanted", row))
    good = [r for r in rows if r[2] in ("200", "0")]
    expect(origin.has_seen(before + len(good)), (origin.seen, ran))
    return ran


def asked_only(before, *names):
    expect(set(resolver.asked[before:]) <= set(names), resolver.asked)


LONG = ".".join(["a" * 61] * 4) + ".pkg.test"  # of 256
CONNECTS = [
    ("18", "API.Example.TEST:%d" % origin.port, "200"),
    ("18", "\u0130.pkg.test:443", "http_target_byte"),
    ("19", "\u0430pi.example.test:443", "http_target_byte"),
    ("20", "api\u3002example\u3002test:443", "http_target_byte"),
    ("20", "\uff45xample.test:443", "http_target_byte"),
    ("21", "xn--pi-6kc.example.test:443", "not_listed"),
    ("22", "a" * 64 + ".pkg.test:443", "http_authority"),
    ("22", LONG + ":443", "http_authority"),
    ("22", "a:443", "http_authority"),
    ("22", ":443", "http_authority"),
    ("27", "http://%s" % AT, "http_authority"),
    ("27", AT + "/", "http_authority"),
    ("29", "_x.pkg.test:443", "http_authority"),
    ("29", "-a.pkg.test:443", "http_authority"),
    ("29", "a-.pkg.test:443", "http_authority"),
    ("45", "foo:443", "not_listed"),
]


@box_test
def rows_18_to_45_names_of_connect():
    before = len(resolver.asked)
    ran = answers(doc(), CONNECTS, "ask_connect(text)",
                  env=environment(LC_ALL="tr_TR.UTF-8"))
    expect({r[2] for r in CONNECTS} - {"200"} == reasons_of(ran), ran)
    asked_only(before, NAME)


SOCKS = [
    ("13", "evil.test\0.pkg.test", "1"),
    ("13", NAME + "\0", "1"),
    ("13", "\0" + NAME, "1"),
    ("18", "API.Example.TEST", "0"),
    ("19", "\u0430pi.example.test", "1"),
    ("20", "api\u3002example\u3002test", "1"),
    ("21", "xn--pi-6kc.example.test", "2"),
    ("22", "a" * 64 + ".pkg.test", "1"),
    ("22", LONG[-254:], "1"),
    ("22", "", "1"),
    ("29", "_x.pkg.test", "1"),
    ("45", "foo", "2"),
]


@box_test
def rows_13_to_45_names_of_socks():
    before = len(resolver.asked)
    ran = answers(doc(), SOCKS, "ask_socks(text, %d)" % origin.port)
    expect(reasons_of(ran) == {"socks_name", "not_listed"}, ran)
    asked_only(before, NAME)


@box_test
def rows_29_and_46_names_that_are_asked_for_have_no_address():
    """Those that no host has in public, though the list allows everything."""
    rows = [("29", n, "none") for n in ("_x.pkg.test", "-a.pkg.test")] + \
        [("46", n, "none") for n in ("a.localhost", "a.local", "a.internal",
                                     "a.home.arpa", "host.docker.internal")]
    before = len(resolver.asked)
    answers(doc("*"), rows, "ask_name(text)")
    ran = answers(doc("*"), [("46", n + ":443", "not_listed") for n in (
        "localhost", "a.localhost", "a.local", "a.internal", "a.home.arpa",
        "host.docker.internal")], "ask_connect(text)")
    expect(reasons_of(ran) == {"not_listed"}, ran)
    asked_only(before)


HTTP = "HTTP/1.1\r\n"
RAW = [
    ("26", "GET / " + HTTP + "Host: %s\r\n@AUTH@\r\n" % AT, "foreign_host"),
    ("26", "GET / " + HTTP + "Host: 192.0.0.1:3128\r\n@AUTH@\r\n", "key"),
    ("26", "GET / " + HTTP + "@AUTH@\r\n", "http_host_missing"),
    ("26", "GET http://192.0.0.1:3128/healthz " + HTTP +
     "Host: 192.0.0.1:3128\r\n@AUTH@\r\n", "special_range"),
    ("27", "CONNECT %s " % AT + HTTP + "Host: %s\r\n" % AT +
     "Content-Length: 5\r\n@AUTH@\r\nhello", "http_body"),
    ("27", "CONNECT %s " % AT + HTTP + "Host: %s\r\n" % AT +
     "Transfer-Encoding: chunked\r\n@AUTH@\r\n0\r\n\r\n", "http_body"),
    ("27", "CONNECT / " + HTTP + "Host: %s\r\n@AUTH@\r\n" % AT,
     "http_authority"),
]


@box_test
def rows_26_and_27_requests_that_lead_nowhere():
    before = len(resolver.asked)
    ran = answers(doc(), RAW, "ask_raw(text)")
    expect(reasons_of(ran) == {r[2] for r in RAW}, ran)
    asked_only(before)


GREASE = "extension(0x0a0a, b'') + extension(0x1a1a, b'\\0')"
HELLOS = [
    ("54", "message(sni('API.Example.test'), V13)", "heard"),
    ("54", "message(sni('api.example.test.'), V13)", "sni_name"),
    ("57", "message(sni(%r), V13, extension(51, bytes(1700)))" % NAME,
     "heard"),
    ("57", "message(sni(%r), V13, extension(51, bytes(16384)))" % NAME,
     "tls_long"),
    ("58", "message(sni(%r), V13, extension(0xfe0d, bytes(9)))" % NAME,
     "ech"),
    ("58", "message(extension(0xfe0d, b'\\0'), sni(%r), V13)" % NAME, "ech"),
    ("58", "message(sni(%r), V13, extension(0xffce, bytes(9)))" % NAME,
     "ech"),
    ("58", "message(%s, sni(%r), V13)" % (GREASE, NAME), "heard"),
    ("61", "message(sni(%r), version=0x0301)" % NAME, "tls_version"),
    ("61", "message(sni(%r), extension(43, b'\\2\\3\\1'))" % NAME,
     "tls_version"),
    ("61", "message(sni(%r), V13, session=bytes(33))" % NAME,
     "tls_session_id"),
    ("61", "message(sni(%r), V13, longer=1)" % NAME, "tls_length"),
    ("61", "message(sni(%r), V13, longer=-1)" % NAME, "tls_length"),
    ("61", "message(sni(%r), sni('evil.test'), V13)" % NAME, "tls_twice"),
    ("61", "message(sni('127.0.0.1'), V13)", "sni_name"),
]


@box_test
def rows_54_to_61_hellos():
    """Whole, in small records, and byte by byte."""
    for cut in ("records(m)", "records(m, 100)"):
        before = len(heard)
        ran = client(doc(), ASK + r'''
for row, text in json.loads(%r):
    s, h = connect(%r)
    m = eval(text)
    try:
        s.sendall(%s)
    except ConnectionError:
        pass
    print(json.dumps(exactly(s, 5).decode() or "closed"), flush=True)
''' % (json.dumps([r[:2] for r in HELLOS]), AT, cut))
        got = [json.loads(line) for line in ran.out.splitlines()]
        expect(len(got) == len(HELLOS), ran.done)
        for row, mine in zip(HELLOS, got):
            expect(mine == ("heard" if row[2] == "heard" else "closed"),
                   (row, mine, cut))
        expect(reasons_of(ran) == {r[2] for r in HELLOS} - {"heard"}, ran)
        expect(len(heard) - before == got.count("heard"), heard[before:])


@box_test
def row_4_what_is_no_pattern_raises_no_box():
    for bad in ("*.", "**", "http://x", "a b", "a..b", "", "a.*.test",
                "x:0443", "10.0.0.0/33", "\u0430.test", "user@x"):
        ran = run(doc(AT, bad), "true")
        expect(ran.done.status not in (0, 1), ran)
        says(ran.done, "network", "allow[1]" if "allow[1]" in ran.done.text
             else "/network/allow/1")
    expect(run(doc(AT, "*.com"), "true").done.status == 0, "too broad")


# --- a route ---------------------------------------------------------------

class Api(Model):
    def answer(self, peer, request):
        peer.exactly(int(request.get("content-length") or 0))
        peer.answer(b"{}")
        return True


api = Api("rows")
OWN = "Host: 192.0.0.1:3128\r\nX-Api-Key: @KEY@\r\n"


def get(path, *fields, method="GET"):
    return "%s %s %s%s%s\r\n" % (method, path, HTTP, OWN, "".join(
        f + "\r\n" for f in fields))


ROUTE = [
    ("75", get("/llm/v1/models", "Connection: x-api-key, host, close"),
     "200"),
    ("75", get("/llm/v1/models", "Connection: transfer-encoding"), "200"),
    ("76", get("/llm/v1/models", "Authorization: Bearer mine",
               "X-Goog-Api-Key: mine", "Ocp-Apim-Subscription-Key: mine",
               "Cookie: mine"), "200"),
    ("77", get("/llm/v1/models", "x_api_key: mine", "x-api_key: mine"),
     "200"),
    ("77", get("/llm/v1/models", ": mine"), "http_field_name"),
    ("77", get("/llm/v1/models", "X-\xc4: mine"), "http_field_name"),
    ("83", get("/llm/v1/models", method="TRACE"), "http_trace"),
    ("83", get("*", method="OPTIONS"), "http_trace"),
    ("83", get("/llm/v1/models", method="CONNECT"), "http_authority"),
    ("85", get("/llm/../other"), "path_dot"),
    ("85", get("/llm/%2e%2e/other"), "path_dot"),
    ("85", get("/llm/v1/.%2E"), "path_dot"),
    ("85", get("//evil.test/llm"), "path_empty"),
    ("85", get("/llm//evil.test/"), "path_empty"),
    ("85", get("/llm@evil.test/"), "no_route"),
    ("85", get("/llm/v1/models;x"), "path_separator"),
    ("85", get("/llm/v1%2fmodels"), "path_separator"),
    ("85", get("/llm/v1/%5c"), "path_separator"),
    ("85", get("/llm/v1/%00"), "path_control"),
    ("85", get("/llm/v1/%252e"), "path_twice"),
    ("85", get("/llm/v1/\\\\x"), "http_target_byte"),
    ("97", get("/llm/v1/models?key=mine"), "query_credential"),
    ("97", get("/llm/v1/models?+key[]=mine"), "query_credential"),
    ("114", get("/llm/v1/files"), "route_closed"),
    ("114", get("/llm/v1/FILES."), "route_closed"),
]


@box_test
def rows_75_to_114_requests_to_a_route():
    document = policy([], private=("127.0.0.0/8", HOST),
                      routes=[api.route("/llm")],
                      secrets=[{"name": "key", "hosts": [HOST]}])
    log, argv = arguments(document, "python3", "-c", _script())
    argv[1:1] = ["--secret", "key=" + secret_file]
    done = tool(*argv, timeout=3 * WAIT)
    expect(REAL.encode() not in done.out + done.err, done)
    ran = Ran(done, records_of(log))
    got = [json.loads(line) for line in ran.out.splitlines()]
    expect([g for g in got] == [r[2] for r in ROUTE],
           [(r[1][:60], r[2], g) for r, g in zip(ROUTE, got) if r[2] != g]
           or ran.done)
    expect(len(api.heads) == got.count("200"), len(api.heads))
    for h in api.heads:
        expect(h.all("x-api-key") == [REAL] and b"mine" not in h.raw and
               h.all("host") == ["%s:%d" % (HOST, api.port)] and
               h.line == "GET /v1/models HTTP/1.1", h.raw)


def _script():
    from gateway_lib import CLIENT
    return CLIENT + ASK + r'''
for text in json.loads(%r):
    print(json.dumps(ask_raw(text)), flush=True)
''' % json.dumps([r[1] for r in ROUTE])


@box_test
def row_78_a_secret_with_the_end_of_a_line_in_it_is_none():
    document = policy([], private=("127.0.0.0/8", HOST),
                      routes=[api.route("/llm")],
                      secrets=[{"name": "key", "hosts": [HOST]}])
    seen = len(api.heads)
    for value in (b"real\r\nX-Evil: 1", b"real\nx", b"real\0", b" real"):
        path = route_lib.write("bad-secret", value + b"\n")
        done = run(document, "true").done  # without any there is a box
        expect(done.status == 0, done)
        log, argv = arguments(document, "true")
        argv[1:1] = ["--secret", "key=" + path]
        done = tool(*argv, timeout=3 * WAIT)
        expect(done.status not in (0, 1) and b"Evil" not in done.err, done)
    expect(len(api.heads) == seen, api.heads)


main()
