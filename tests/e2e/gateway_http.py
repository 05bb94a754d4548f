#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway: requests of plain HTTP, by a proxy and without one, and the
ClientHello of tunnels. Each name begins with the rows of GATEWAY-CASES.md that
it shows. Origins are on any port but 80, so that no right is needed to listen;
the same code serves port 80 of programs that know of no proxy.
"""

import gzip
import hashlib
import os
import socket
import ssl
import subprocess
import sys
import threading

import gateway_lib
from gateway_lib import Origin, client, need, policy, resolver, run
from tool_lib import TOP, WAIT, box_test, expect, main, until

NAME = "plain.test"
resolver.names[NAME] = ["127.0.0.1"]
resolver.names["other.test"] = ["127.0.0.1"]
requests = []


def read_head(c):
    data = b""
    while b"\r\n\r\n" not in data:
        more = c.recv(4096)
        if not more:
            return None, b""
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    return head.decode("latin-1"), rest


def read_body(c, head, rest):
    low = head.lower()
    if "transfer-encoding: chunked" in low:
        while not rest.endswith(b"0\r\n\r\n"):
            rest += c.recv(65536)
        return rest
    length = 0
    for line in low.split("\r\n"):
        if line.startswith("content-length:"):
            length = int(line.split(":")[1])
    while len(rest) < length:
        rest += c.recv(65536)
    return rest


ANSWERS = {
    "/bad-length": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "/split": b"HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\n\r\n",
    "/interim": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 3 +
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "/flood": b"HTTP/1.1 100 Continue\r\n\r\n" * 40 +
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "/101": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\n\r\n",
    "/redirect": b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
    b"Location: http://169.254.169.254/\r\n\r\n",
    "/chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n",
    "/full": b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nfull",
    "/until-close": b"HTTP/1.1 200 OK\r\n\r\nall of it",
}


def serve(c):
    head, rest = read_head(c)
    if head is None:
        return
    path = head.split(" ")[1].split("?")[0]
    body = b"" if path in ("/ws", "/full") else read_body(c, head, rest)
    requests.append((head, body))
    if path == "/ws":
        c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                  b"Connection: Upgrade\r\n\r\nhello")
        gateway_lib.echo(c)
    elif path == "/events":
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for i in range(3):
            c.sendall(b"data: %d\n\n" % i)
            # the next one is sent when the first has arrived
            if not c.recv(1) and i < 2:
                pass
    elif path in ANSWERS:
        c.sendall(ANSWERS[path])
    else:
        # it ends, and says so: a GET on a connection that ends is asked again
        c.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
                  b"Content-Length: %d\r\n\r\n%s" % (
                      len(head), head.encode("latin-1")))


origin = Origin(serve)
AT = "%s:%d" % (NAME, origin.port)


def doc(allow=(AT,), **more):
    return policy(allow, private=("127.0.0.0/8", NAME), **more)


ASK = """
AT = "%s"
def ask(path, host=AT, head="", body=b"", method="GET", s=None, full=False):
    s = s or dial()
    s.sendall(("%%s http://%%s%%s HTTP/1.1\\r\\nHost: %%s\\r\\n%%s%%s\\r\\n" %% (
        method, host, path, host, AUTH, head)).encode("latin-1") + body)
    return s
def reply(s):
    h = head(s)
    n = re.search(r"(?i)content-length: (\\d+)", h)
    data = b""
    if n:
        while len(data) < int(n[1]):
            data += s.recv(int(n[1]) - len(data))
    return h, data.decode("latin-1")
""" % AT


def http(script, document=None):
    return client(document or doc(), ASK + script)


@box_test
def a_request_is_forwarded_without_what_is_between_client_and_proxy():
    ran = http("""
s = ask("/x?y=1", head="X-Mine: 1\\r\\nProxy-Connection: keep-alive\\r\\n"
        "Connection: x-other\\r\\n")
h, body = reply(s)
print(h.split("\\r\\n")[0])
print(body)
h, body = reply(ask("/again", s=s))
print(body.split("\\r\\n")[0])
""")
    lines = ran.out.splitlines()
    expect(lines[0] == "HTTP/1.1 200 OK" and lines[1] == "GET /x?y=1 HTTP/1.1"
           and "Host: " + AT in lines and "X-Mine: 1" in lines and
           lines[-1] == "GET /again HTTP/1.1", ran)
    expect("proxy-" not in ran.out.lower(), ran)
    expect(len(ran.records("allowed")) == 2, ran)


@box_test
def row_23_host_is_that_of_the_target_or_the_request_is_refused():
    before = len(requests)
    ran = http("""
for request in ["GET http://%%s/ HTTP/1.1\\r\\nHost: evil.test\\r\\n",
                "GET http://%%s/ HTTP/1.1\\r\\nHost: a\\r\\nHost: b\\r\\n",
                "GET http://%%s/ HTTP/1.1\\r\\n",
                "GET https://%%s/ HTTP/1.1\\r\\nHost: %%s\\r\\n",
                "GET ftp://%%s/ HTTP/1.1\\r\\nHost: %%s\\r\\n",
                "GET http://x@%%s/ HTTP/1.1\\r\\nHost: %%s\\r\\n"]:
    s = dial()
    s.sendall((request.replace("%%s", AT) + AUTH + "\\r\\n").encode())
    print(head(s).split(" ")[1])
""".replace("%%", "%"))
    expect(ran.out == "400\n" * 6, ran)
    expect(len(requests) == before, requests[before:])


@box_test
def row_59_no_plain_request_goes_to_the_port_of_tls():
    # listed or not, with a proxy in either of its ways and without one
    ran = http("""
for host in [NAME + ":443", "evil.test:443"]:
    print(reply(ask("/", host=host))[0].split("\\r\\n"))
s, h = connect(NAME + ":80")
print(reply(ask("/", host=NAME + ":443", s=s))[0].split(" ")[1])
""".replace("NAME", repr(NAME)), doc([NAME + ":80,443"]))
    lines = ran.out.splitlines()
    expect(len(lines) == 3 and all("403" in x for x in lines) and
           all("X-Agentbox-Reason: not_tls" in x for x in lines[:2]), ran)
    expect([r["subject"] for r in ran.records("denied", "not_tls")] ==
           [NAME + ":443", "evil.test:443"], ran)
    expect(not ran.records("failed"), ran)


@box_test
def rows_67_to_72_two_readings_of_one_head_are_refused():
    before = len(requests)
    ran = http("""
for extra in ["Content-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n",
              "Transfer-Encoding: chunked, identity\\r\\n",
              "Transfer-Encoding : chunked\\r\\n",
              "Content-Length: 5\\r\\nContent-Length: 5\\r\\n",
              "Content-Length: +5\\r\\n", "X: a\\n", "X: a\\0b\\r\\n",
              " folded\\r\\n", "X: " + "a" * 20000 + "\\r\\n",
              "A: b\\r\\n" * 101]:
    print(reply(ask("/", head=extra))[0].split(" ")[1])
s = dial()
s.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n")
print(head(s).split(" ")[1])
""")
    expect(ran.out.split() == ["400"] * 8 + ["431", "431", "505"] or
           ran.out.split() == ["400"] * 8 + ["431", "431", "400"], ran)
    expect(len(requests) == before, requests[before:])


@box_test
def row_70_chunks_are_read_and_written_anew():
    ran = http("""
body = b"5;x=y\\r\\nhello\\r\\n1\\r\\n!\\r\\n0\\r\\nX-T: 1\\r\\n\\r\\n"
print(reply(ask("/in", method="POST",
                head="Transfer-Encoding: chunked\\r\\n", body=body))[0][:12])
for bad in [b"0x5\\r\\nhello\\r\\n", b"5\\nhello\\r\\n", b"-1\\r\\n",
            b"5\\r\\nhelloX\\r\\n", b"0\\r\\nAuthorization: x\\r\\n\\r\\n"]:
    s = ask("/in-bad", method="POST", head="Transfer-Encoding: chunked\\r\\n",
            body=bad)
    print((head(s) or "    cut").split(" ")[1] or "cut")
s = ask("/chunks")
h = head(s)
print("chunked" in h, rest(s) if "close" in h else s.recv(100))
""")
    lines = ran.out.splitlines()
    expect(lines[0] == "HTTP/1.1 200", ran)
    sent = [b for h, b in requests if h.startswith("POST /in ")]
    expect(b"".join(sent).replace(b"\r\n", b"").endswith(b"hello1!0") or
           b"hello" in sent[-1] and b"X-T" not in sent[-1] and
           b"x=y" not in sent[-1], sent)
    expect(all(x in ("400", "cut") for x in lines[1:6]), ran)
    expect(lines[6].startswith("True") and "X-Trailer" not in lines[6] and
           "ext" not in lines[6], ran)


@box_test
def rows_81_82_answers_that_are_read_in_two_ways_are_502():
    ran = http("""
for path in ["/bad-length", "/split", "/flood", "/101"]:
    print(head(ask(path)).split(" ")[1])
s = ask("/interim")
print([head(s).split(" ")[1] for i in range(4)])
h, body = reply(ask("/redirect"))
print(h.split(" ")[1], "169.254" in h)
s = ask("/until-close")
print(head(s).split(" ")[1], rest(s))
""")
    lines = ran.out.splitlines()
    expect(lines[0] == "502" and lines[1] == "502" and lines[3] == "502", ran)
    expect(lines[4] == "['103', '103', '103', '200']", ran)
    expect(lines[5] == "302 True" and lines[6] == "200 b'all of it'", ran)


@box_test
def row_79_a_granted_websocket_becomes_a_tunnel():
    ran = http("""
s = ask("/ws", head="Connection: Upgrade\\r\\nUpgrade: websocket\\r\\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n"
        "Sec-WebSocket-Version: 13\\r\\n")
print(head(s).split(" ")[1], s.recv(5))
s.sendall(b"frame")
print(s.recv(5))
""")
    expect(ran.out == "101 b'hello'\nb'frame'\n", ran)


@box_test
def row_87_events_arrive_one_by_one():
    ran = http("""
s = ask("/events")
print(head(s).split(" ")[1])
got = b""
while not got.endswith(b"0\\n\\n"):
    got += s.recv(100)
print(got)
""")
    expect(ran.out.splitlines()[0] == "200" and "data: 0" in ran.out, ran)


@box_test
def each_request_on_a_kept_connection_is_judged():
    before = len(requests)
    ran = http("""
s = ask("/one")
print(reply(s)[0][:12])
print(reply(ask("/two", host="evil.test:80", s=s))[0][:12])
""")
    expect(ran.out == "HTTP/1.1 200\nHTTP/1.1 403\n", ran)
    expect(len(requests) == before + 1, requests[before:])
    expect(ran.records("denied")[0]["subject"] == "evil.test:80", ran)


@box_test
def row_74_a_large_body_goes_both_ways_whole():
    ran = http("""
import hashlib
blob = os.urandom(1 << 20) * 4
s = dial()
s.sendall(("POST http://%s/big HTTP/1.1\\r\\nHost: %s\\r\\nContent-Length: "
           "%d\\r\\n%s\\r\\n" % (AT, AT, len(blob), AUTH)).encode())
s.sendall(blob)
print(reply(s)[0][:12], hashlib.sha256(blob).hexdigest())
""")
    import hashlib
    sent = [b for h, b in requests if h.startswith("POST /big ")]
    expect(ran.out.split()[1:] == ["200",
                                   hashlib.sha256(sent[-1]).hexdigest()], ran)


@box_test
def an_early_answer_is_not_lost_to_the_rest_of_an_upload():
    # what still comes is read for a second: one of these is in time
    ran = http("""
import select
def upload():
    s = ask("/full", method="POST", head="Content-Length: 10000000\\r\\n",
            body=b"x" * 1000)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    select.select([s], [], [], WAIT)
    try:
        for i in range(100):
            s.sendall(b"x" * 1000)
    except ConnectionError:
        return "reset"
    h, body = reply(s)
    return h.split(" ")[1] + " " + body
for i in range(20):
    got = upload()
    if got != "reset":
        break
print(got)
""")
    expect(ran.out == "413 full\n", ran)


@box_test
def budgets_are_kept():
    ran = http("""
for i in range(4):
    print(reply(ask("/"))[0].split(" ")[1])
""", doc(network={"budget": {"requests": 2}}))
    expect(ran.out.split() == ["200", "200", "429", "429"], ran)


# --- tunnels of TLS ----------------------------------------------------------

def certificate(name):
    need("openssl")
    at = os.path.join(TOP, name)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    at + ".key", "-out", at + ".crt", "-days", "2", "-subj",
                    "/CN=" + name, "-addext", "subjectAltName=DNS:" + name],
                   check=True, capture_output=True, timeout=WAIT)
    return at


seen_bytes = []


def tls_origin(name, curve=None):
    at = certificate(name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(at + ".crt", at + ".key")
    if curve:
        context.set_ecdh_curve(curve)

    def handle(c):
        first = c.recv(1, 2)  # MSG_PEEK
        if first:
            seen_bytes.append(first)
        s = context.wrap_socket(c, server_side=True)
        s.sendall(b"secret " + s.recv(100))
        s.close()
    return Origin(handle)


# A server of TLS 1.3 that asks for another ClientHello, in pieces of a byte,
# or that answers with something else; what it gets is kept.
RETRY = bytes.fromhex(
    "160303002e0200002a0303"
    "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c"
    "001301000002002b")
HOLDS = RETRY[:11] + b"p" * 32 + RETRY[43:]  # an answer that asks for none


def retry_origin(got, answer, then=b""):
    def handle(c):
        c.settimeout(WAIT)
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = c.recv(65536)
        got.append(data)
        for i in range(len(answer)):
            c.send(answer[i:i + 1])
        while True:
            try:
                more = c.recv(65536)
            except OSError:
                break
            if not more:
                break
            got[-1] += more
            if len(got[-1]) == 2 * len(data):
                c.sendall(then)
        c.close()
    return Origin(handle)


HELLOS = """
GOOD, EVIL = hello("again.test"), hello("evil.test")
OLD = hello("again.test", ssl.TLSVersion.TLSv1_2)  # offers no 1.3
CHANGE = b"\\x14\\x03\\x03\\x00\\x01\\x01"
EARLY = b"\\x17\\x03\\x03\\x00\\x20" + bytes(32)
ALERT = b"\\x15\\x03\\x03\\x00\\x02\\x02\\x2f"
def ask(at, first, then, answer):
    s, h = connect(at)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.sendall(first)
    said = exactly(s, answer)
    try:
        for piece in then:
            s.sendall(piece)
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    print(len(said), end(s))
"""


@box_test
def row_52_another_hello_that_the_server_asks_for_is_the_names_too():
    resolver.names["again.test"] = ["127.0.0.1"]
    got, plain = [], []
    o, p = retry_origin(got, RETRY), retry_origin(plain, HOLDS)
    document = policy(["again.test:%d" % x.port for x in (o, p)],
                      private=("127.0.0.0/8", "again.test"))
    # what is sent first, what then, and whether all of it comes there
    rows = [("GOOD", ["GOOD"], True),
            ("GOOD", ["CHANGE", "GOOD"], True),
            ("GOOD + EARLY", ["CHANGE", "GOOD"], True),
            ("GOOD + CHANGE + EARLY", ["GOOD"], True),
            ("GOOD + CHANGE", ["GOOD[:7]", "GOOD[7:]"], True),
            ("GOOD + EARLY[:9]", ["EARLY[9:]", "GOOD"], True),
            ("GOOD", ["EVIL"], False),
            ("GOOD", ["CHANGE", "EVIL"], False),
            ("GOOD + EARLY", ["CHANGE", "EVIL"], False),
            # it is there before it was asked for
            ("GOOD + EVIL", [], False),
            ("GOOD + CHANGE + EVIL", [], False),
            ("GOOD + EVIL[:3]", ["EVIL[3:]"], False),
            ("GOOD", ["ALERT"], False),
            ("GOOD", ["b'\\x16\\x03\\x03\\0\\5\\2\\0\\0\\1\\0'"], False),
            ("GOOD", ["b'GET / HTTP/1.1\\r\\n\\r\\n'"], False)]
    ran = client(document, HELLOS + "\n".join(
        "ask('again.test:%d', %s, [%s], %d)" % (
            o.port, first, ", ".join(then), len(RETRY))
        for first, then, _ in rows) + """
print(len(GOOD), len(EVIL))
# another answer: what follows is not looked at
ask('again.test:%d', GOOD, [EVIL], %d)
ask('again.test:%d', GOOD + EARLY, [b"anything"], %d)
ask('again.test:%d', GOOD + EVIL, [], %d)
""" % ((p.port, len(HOLDS)) * 3))
    lines = ran.out.splitlines()
    size, other = map(int, lines[len(rows)].split())
    until(lambda: len(got) == len(rows) and len(plain) == 3, "connections")
    for line, seen, (first, then, good) in zip(lines, got, rows):
        sent = eval(" + ".join([first, *then]), {
            "GOOD": b"g" * size, "CHANGE": b"c" * 6,
            "EARLY": b"y" * 37}) if good else b""
        expect(not good or len(seen) == len(sent), (line, first, then, seen))
        expect(good or len(seen) == size, (line, first, then, seen))
        expect(("reset" in line or "closed" in line) or good, (line, first))
    expect([len(x) for x in plain] == [size + other, size + 45, size + other],
           (plain, size, other))
    denied = [r["reason"] for r in ran.records("denied")]
    expect(denied.count("sni_mismatch") == 6 and len(denied) == 9, denied)


@box_test
def row_52_no_server_asks_for_a_third():
    resolver.names["again.test"] = ["127.0.0.1"]
    got, held, third = [], [], []
    origins = (retry_origin(got, RETRY, HOLDS), retry_origin(held, RETRY),
               retry_origin(third, RETRY, RETRY))
    document = policy(["again.test:%d" % o.port for o in origins],
                      private=("127.0.0.0/8", "again.test"))
    ran = client(document, HELLOS + """
for port in (%d, %d, %d):
    s, h = connect("again.test:%%d" %% port)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        s.sendall(GOOD)
        n = len(exactly(s, %d))
        s.sendall(GOOD)
        if port != %d:
            n += len(exactly(s, %d))
        s.sendall(EVIL)
        s.sendall(EARLY)
        s.settimeout(0.5)
        print(n, end(s))
    except OSError as e:
        print(n, type(e).__name__)
print(len(GOOD), len(EVIL))
""" % (*(o.port for o in origins), len(RETRY), origins[1].port, len(RETRY)))
    lines = ran.out.splitlines()
    good, evil = map(int, lines[-1].split())
    until(lambda: got and held and third, "connections")
    # answered: what follows is the box's own; before that nothing goes on
    expect(lines[0] == "%d TimeoutError" % (2 * len(RETRY)), ran)
    expect(lines[1] == "%d TimeoutError" % len(RETRY), ran)
    expect(lines[2].split()[0] == str(len(RETRY)), ran)
    expect([len(x) for x in (got[0], held[0], third[0])] ==
           [2 * good + evil + 37, 2 * good, 2 * good], (got, held, third))
    expect([r["reason"] for r in ran.records("denied")] == ["retry_twice"],
           ran)


def record(data, kind=22):
    return bytes([kind, 3, 3]) + len(data).to_bytes(2, "big") + data


# The same in forms that servers are free to choose, or that some have.
FORMS = {
    "a record a byte": b"".join(record(bytes([b])) for b in RETRY[5:]),
    "cut in its random": record(RETRY[5:30]) + record(RETRY[30:]),
    "behind a warning": record(b"\1\x70", 21) + RETRY,
    "behind an empty record": record(b"") + RETRY,
    "behind a HelloRequest": record(bytes(4)) + RETRY,
    "a draft's": record(b"\6\0\0\6\x7f\x12\0\x17\0\0"),
}


@box_test
def row_52_it_is_asked_for_in_any_form():
    resolver.names["again.test"] = ["127.0.0.1"]
    got = {form: [] for form in FORMS}
    origins = {form: retry_origin(got[form], FORMS[form]) for form in FORMS}
    document = policy(["again.test:%d" % o.port for o in origins.values()],
                      private=("127.0.0.0/8", "again.test"))
    ran = client(document, HELLOS + "".join("""
ask('again.test:%d', GOOD, [GOOD], %d)
ask('again.test:%d', GOOD, [EVIL], %d)
ask('again.test:%d', OLD, [EVIL], %d)
""" % ((o.port, len(FORMS[form])) * 3) for form, o in origins.items()) + """
print(len(GOOD), len(OLD))
""")
    good, old = map(int, ran.out.split()[-2:])
    until(lambda: all(len(g) == 3 for g in got.values()), "connections")
    for form, seen in got.items():
        expect([len(x) for x in seen] == [2 * good, good, old], (form, ran))
    denied = [r["reason"] for r in ran.records("denied")]
    expect(denied == ["sni_mismatch"] * 2 * len(FORMS), denied)


@box_test
def rows_62_63_and_66_nobody_is_in_the_middle_of_a_tunnel():
    """There is no authority to be had: what the box sees is the origin's own
    certificate, and it is told to trust no other."""
    o = tls_origin("own.test")
    resolver.names["own.test"] = ["127.0.0.1"]
    at = "own.test:%d" % o.port
    with open(os.path.join(TOP, "own.test.crt")) as f:
        own = ssl.PEM_cert_to_DER_cert(f.read())
    ran = client(policy([at], private=("127.0.0.0/8", "own.test")), """
import hashlib
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
s, h = connect("%s")
t = context.wrap_socket(s, server_hostname="own.test")
print(hashlib.sha256(t.getpeercert(True)).hexdigest())
t.sendall(b"x")
t.recv(100)
print([k for k in os.environ if "CERT" in k or "CA_" in k or "CAINFO" in k])
""" % at)
    expect(ran.out.splitlines() == [hashlib.sha256(own).hexdigest(), "[]"],
           ran)


@box_test
def row_86_a_body_that_would_swell_goes_on_as_it_is():
    bomb = gzip.compress(bytes(64 << 20))

    def handle(c):
        read_head(c)
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                  b"Content-Length: %d\r\n\r\n" % len(bomb) + bomb)
    o = Origin(handle)
    at = "%s:%d" % (NAME, o.port)
    ran = client(policy([at], private=("127.0.0.0/8", NAME)), """
import hashlib
s = dial()
s.sendall(("GET http://%s/ HTTP/1.1\\r\\nHost: %s\\r\\n" + AUTH +
           "Connection: close\\r\\n\\r\\n").encode())
h = head(s)
print(h.split(" ")[1], "gzip" in h, hashlib.sha256(rest(s)).hexdigest())
""" % (at, at))
    expect(ran.out == "200 True %s\n" % hashlib.sha256(bomb).hexdigest(), ran)


@box_test
def row_52_a_server_that_asks_again_is_served():
    o = tls_origin("again.test", curve="secp384r1")
    resolver.names["again.test"] = ["127.0.0.1"]
    at = "again.test:%d" % o.port
    ran = client(policy([at], private=("127.0.0.0/8", "again.test")), """
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
s, h = connect("%s")
t = context.wrap_socket(s, server_hostname="again.test")
t.sendall(b"x")
print(t.version(), t.recv(100))
""" % at)
    expect(ran.out == "TLSv1.3 b'secret x'\n", ran)


@box_test
def rows_52_to_60_only_a_hello_of_the_name_passes():
    o = tls_origin("secure.test")
    resolver.names["secure.test"] = ["127.0.0.1"]
    at = "secure.test:%d" % o.port
    document = policy([at], private=("127.0.0.0/8", "secure.test"))
    before = len(seen_bytes)
    ran = client(document, """
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
def tls(name, pieces=None):
    s, h = connect("%s")
    i, o = ssl.MemoryBIO(), ssl.MemoryBIO()
    t = context.wrap_bio(i, o, server_hostname=name)
    try:
        t.do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = o.read()
    for at in range(0, len(hello), pieces or len(hello)):
        s.sendall(hello[at:at + (pieces or len(hello))])
    return s
for name in ["evil.test", None]:
    print(name, end(tls(name)))
for name, pieces in [("secure.test", None), ("SECURE.test", None),
                     ("secure.test", 1)]:
    print(name, end(tls(name, pieces))[:1])
s, h = connect("%s")
s.sendall(b"\\x16\\x03\\x01\\x00\\x05\\x02\\x00\\x00\\x01\\x00")
print("other message", end(s))
for kind in (0x14, 0x15):
    s, h = connect("%s")
    s.sendall(bytes([kind]) + b"\\x03\\x01\\x00\\x01\\x01")
    print("other record", end(s))
old = b"\\x80\\x2e\\x01\\x03\\x01\\x00\\x15\\x00\\x00\\x00\\x10" + bytes(37)
for pieces in (48, 1):
    s, h = connect("%s")
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        for i in range(0, len(old), pieces):
            s.sendall(old[i:i + pieces])
    except ConnectionError:
        pass
    print("old hello", end(s))
""" % (at, at, at, at))
    lines = ran.out.splitlines()
    expect(lines[0] in ("evil.test reset", "evil.test closed") and
           lines[1] in ("None reset", "None closed"), ran)
    expect(lines[2:5] == ["secure.test b'\\x16'", "SECURE.test b'\\x16'",
                          "secure.test b'\\x16'"], ran)
    expect(lines[5] in ("other message reset", "other message closed"), ran)
    # a server may take them before a ClientHello, which is not first then
    expect(all(x in ("other record reset", "other record closed")
               for x in lines[6:8]), ran)
    # one of SSL 2 may ask for TLS, too, and names no host
    expect(all(x in ("old hello reset", "old hello closed")
               for x in lines[8:]) and len(lines) == 10, ran)
    expect(len(ran.records("denied", "ssl2_hello")) == 2, ran)
    expect(len(ran.records("denied", "sni_mismatch")) == 1 and
           len(ran.records("denied", "sni_absent")) == 1, ran)
    expect(len(seen_bytes) == before + 3, seen_bytes)


@box_test
def curl_speaks_tls_through_the_gateway_with_and_without_the_proxy():
    need("curl")
    o = tls_origin("secure.test")
    resolver.names["secure.test"] = ["127.0.0.1"]
    at = "secure.test:%d" % o.port
    ran = run(policy([at], private=("127.0.0.0/8", "secure.test")), "sh", "-c",
              "for p in '' '*'; do printf 'GET / HTTP/1.0\\r\\n\\r\\n' >/dev/null;"
              "curl -sk -m 30 --http0.9 --noproxy \"$p\" https://%s/ | "
              "head -c 17; echo; done" % at)
    expect(ran.out.splitlines() == ["secret GET / HTTP"] * 2, ran)


main()
