#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway: what stands behind a request to upgrade, and frames of SOCKS
that no client sends. Rows 79 to 81 and 88 to 92 of GATEWAY-CASES.md; each
verdict was written down before it was run for the first time."""

import re
import socket
import struct

import gateway_lib
from gateway_lib import AAAA, Origin, client, policy, resolver, wire_name
from tool_lib import WAIT, box_test, expect, main, until

NAME = "api.example.test"
resolver.names[NAME] = ["127.0.0.1"]
heads = []  # the first bytes of each connection, as far as they came at once
later = []  # (path, what came after the answer)

WS = b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
ANSWERS = {
    "/200": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno",
    "/426": b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: h2c\r\n"
            b"Connection: Upgrade\r\nContent-Length: 0\r\n\r\n",
    "/h2c": b"HTTP/1.1 101 x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
    "/both": b"HTTP/1.1 101 x\r\nUpgrade: websocket, h2c\r\n"
             b"Connection: Upgrade\r\n\r\n",
    "/none": b"HTTP/1.1 101 x\r\nConnection: Upgrade\r\n\r\n",
    "/alone": b"HTTP/1.1 101 x\r\nUpgrade: websocket\r\n\r\n",
    "/length": b"HTTP/1.1 101 x\r\n" + WS + b"Content-Length: 3\r\n\r\nabc",
    "/chunks": b"HTTP/1.1 101 x\r\n" + WS +
               b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "/102": b"HTTP/1.1 102 x\r\n\r\nHTTP/1.1 101 x\r\n" + WS + b"\r\nframe",
    "/101": b"HTTP/1.1 101 x\r\n" + WS + b"\r\nframe",
    "/ends": b"HTTP/1.1 101 x\r\n" + WS + b"\r\nframe",
}


def serve(c):
    c.settimeout(WAIT)
    data = b""
    while b"\r\n\r\n" not in data:
        more = c.recv(4096)
        if not more:
            return
        data += more
    # what is not held back would be here by then
    c.settimeout(0.3)
    try:
        data += c.recv(4096)
    except socket.timeout:
        pass
    c.settimeout(WAIT)
    heads.append(data)
    path = re.match(rb"\w+ (\S+)", data)[1].decode()
    c.sendall(ANSWERS[path])
    if path == "/ends":
        c.shutdown(socket.SHUT_WR)
    got = b""
    try:
        while True:
            more = c.recv(4096)
            if not more:
                break
            got += more
        if path == "/101":
            c.sendall(b"bye")
    finally:
        later.append((path, got))


origin = Origin(serve)
AT = "%s:%d" % (NAME, origin.port)

ASK = """
AT = "%s"
def ask(path, behind=b"", version="1.1", upgrade="websocket"):
    s = dial()
    s.sendall(("GET http://%%s%%s HTTP/%%s\\r\\nHost: %%s\\r\\n%%s"
               "Connection: Upgrade\\r\\nUpgrade: %%s\\r\\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n"
               "Sec-WebSocket-Version: 13\\r\\n\\r\\n" %% (
        AT, path, version, AT, AUTH, upgrade)).encode() + behind)
    return s
def code(s):
    return head(s).split(" ")[1]
EVIL = b"GET http://evil.test/ HTTP/1.1\\r\\nHost: evil.test\\r\\n" + \
    AUTH.encode() + b"\\r\\n"
""" % AT


def asks(script):
    del heads[:], later[:]
    return client(policy([AT], private=("127.0.0.0/8", NAME)), ASK + script)


@box_test
def rows_79_80_behind_a_refused_upgrade_stands_a_request_of_its_own():
    ran = asks("""
for path, n in (("/200", 2), ("/426", 0)):
    s = ask(path, EVIL)
    print(code(s), exactly(s, n), code(s))
s = ask("/200", b"\\x81\\x05hello\\r\\n\\r\\n")
print(code(s), exactly(s, 2), head(s)[9:12])
""")
    expect(ran.out == "200 b'no' 403\n426 b'' 403\n200 b'no' 400\n", ran)
    expect([h.partition(b"\r\n\r\n")[2] for h in heads] == [b""] * 3, heads)
    until(lambda: len(later) == 3, "all connections end")
    expect(all(not got for _, got in later), later)
    expect("evil.test" not in resolver.asked, resolver.asked)


@box_test
def row_81_a_101_that_is_none_is_502():
    ran = asks("""
for path in ("/h2c", "/both", "/none", "/alone", "/length", "/chunks"):
    s = ask(path, b"ahead")
    print(path, code(s))
s = ask("/101", version="1.0")
print("1.0", code(s))
s = ask("/101", upgrade="h2c")
print("h2c", code(s))
""")
    expect(ran.out.split() == [
        w for p in ("/h2c", "/both", "/none", "/alone", "/length", "/chunks",
                    "1.0", "h2c") for w in (p, "502")], ran)
    expect([h.partition(b"\r\n\r\n")[2] for h in heads] == [b""] * 8, heads)
    expect(not any(b"upgrade: h2c" in h.lower() for h in heads), heads)
    # HTTP/1.0 knows no upgrade, nor is one passed on that is not granted
    expect(not any(b"upgrade" in h.lower() for h in heads[-2:]), heads)
    until(lambda: len(later) == 8, "all connections end")
    expect(all(not got for _, got in later), later)


@box_test
def row_79_frames_wait_for_the_answer_and_ends_are_passed_on():
    ran = asks("""
s = ask("/101", b"ahead")
print(code(s), exactly(s, 5))
s.sendall(b" later")
s.shutdown(socket.SHUT_WR)
print(rest(s))
s = ask("/102")
print(code(s), code(s), exactly(s, 5))
s.close()
s = ask("/ends")
print(code(s), rest(s))
s.sendall(b"after")
s.close()
""")
    expect(ran.out == "101 b'frame'\nb'bye'\n102 101 b'frame'\n"
           "101 b'frame'\n", ran)
    # nothing of the tunnel came before the origin had granted it
    expect([h.partition(b"\r\n\r\n")[2] for h in heads] == [b""] * 3, heads)
    until(lambda: len(later) == 3, "all connections end")
    expect(dict(later) == {"/101": b"ahead later", "/102": b"",
                           "/ends": b"after"}, later)


# --- SOCKS ------------------------------------------------------------------

def six(text):
    return b"\4" + socket.inet_pton(socket.AF_INET6, text)


def four(text):
    return b"\1" + socket.inet_aton(text)


def name(text):
    return b"\3" + bytes([len(text)]) + text


def request(to, command=1, version=5, reserved=0, port=None):
    return bytes([version, command, reserved]) + to + struct.pack(
        ">H", origin.port if port is None else port)


LOGIN = b"\1\1a\x40KEY"
OK = "05020100"
GOOD = name(NAME.encode())
# what is sent after the greeting and the login, and what comes of it: the code
# of the reply, or "" where there is none but the end
FRAMES = [
    (request(GOOD), "00"),
    (request(name(NAME.encode() + b".")), "00"),
    (request(name(NAME.upper().encode())), "00"),
    (request(GOOD, command=2), "07"),
    (request(GOOD, command=3), "07"),
    (request(name(b"evil.test"), command=3), "07"),
    (request(four("0.0.0.0"), command=3, port=0), "07"),
    (request(GOOD, command=0), "07"),
    (request(GOOD, command=4), "07"),
    (request(GOOD, command=0xf0), "07"),
    (request(b"\0" + bytes(4)), "08"),
    (request(b"\2" + bytes(4)), "08"),
    (request(b"\5" + bytes(4)), "08"),
    (request(GOOD, version=4), None),
    (request(GOOD, version=1), None),
    (request(GOOD, reserved=1), None),
    (request(GOOD, port=0), None),
    (request(name(b"")), None),
    (request(name(b"evil.test\0." + NAME.encode())), None),
    (request(name(NAME.encode() + b"\0")), None),
    (request(name(NAME.encode() + b"\0.evil.test")), None),
    (request(name(NAME.encode() + b"..")), None),
    (request(name(b"user@" + NAME.encode())), None),
    (request(name(NAME.encode() + b":443")), None),
    (request(name(NAME.encode() + b"%00")), None),
    (request(name(NAME.encode() + b"/")), None),
    (request(name(b" " + NAME.encode())), None),
    (request(name("\u0430pi.example.test".encode())), None),
    (request(name(b"a" * 255)), None),
    (request(name(b"127.0.0.1")), "00"),
    (request(four("127.0.0.1")), "00"),
    (request(name(b"127.1")), None),
    (request(name(b"2130706433")), None),
    (request(name(b"0x7f000001")), None),
    (request(name(b"::1")), None),
    (request(name(b"[::1]")), None),
    # the same address, which is allowed, and one that is not
    (request(name(b"[::ffff:127.0.0.1]")), "00"),
    (request(name(b"[::ffff:127.0.0.2]")), None),
    (request(name(b"localhost")), None),
    (request(four("0.0.0.0")), None),
    (request(four("127.0.0.2")), None),
    (request(four("169.254.169.254")), None),
    (request(six("::1")), None),
    (request(six("::")), None),
    (request(six("::ffff:127.0.0.1")), "00"),
    (request(six("::ffff:127.0.0.2")), None),
    (request(six("::127.0.0.1")), None),
    (request(six("64:ff9b::7f00:1")), None),
    (request(six("2002:7f00:1::")), None),
    (request(six("fe80::5efe:7f00:1")), None),
]
# what is sent from the very beginning, and all that comes: "" is the end
GREETINGS = [
    (b"\5\2\0\2" + LOGIN + request(GOOD), OK + "0500"),
    (b"\5\xff" + b"\2" * 255 + LOGIN + request(GOOD), OK + "0500"),
    (b"\5\2\0\1" + request(GOOD), "05ff"),
    (b"\5\1\xff" + request(GOOD), "05ff"),
    (b"\5\1\x80" + LOGIN + request(GOOD), "05ff"),
    # a login of another version, without a name, without a key, of another's
    (b"\5\1\2\5" + LOGIN[1:] + request(GOOD), None),
    (b"\5\1\2\1\0\x40KEY" + request(GOOD), None),
    (b"\5\1\2\1\1a\0" + request(GOOD), None),
    (b"\5\1\2\1\1a\x41KEYx" + request(GOOD), None),
    (b"\5\1\2\1\1a\x3fKEY" + request(GOOD), None),
    # no request, but another login
    (b"\5\1\2" + LOGIN + LOGIN + request(GOOD), None),
    (b"\5\1\2" + request(GOOD), None),
    (b"\4\1" + struct.pack(">H", origin.port) + b"\0\0\0\1a\0" +
     NAME.encode() + b"\0", None),
]


@box_test
def rows_88_to_92_odd_frames_of_socks_lead_nowhere():
    before = len(origin.seen)
    rows = [(b"\5\1\2" + LOGIN + f, OK + "05" + w if w else None)
            for f, w in FRAMES] + GREETINGS
    asked = len(resolver.asked)
    ran = client(policy([NAME, "127.0.0.1:%d" % origin.port],
                        private=("127.0.0.0/8", NAME)), """
for sent in %r:
    s = dial()
    s.sendall(sent.replace(b"KEY", KEY.encode()))
    got = exactly(s, 6).hex()
    if got[8:12] != "0500":
        # whoever is refused hears nothing more, whatever follows
        try:
            s.sendall(%r)
        except OSError:
            pass
        got += rest(s).hex().replace(b"<reset>".hex(), "")
    print(got or "-")
    s.close()
""" % ([s for s, _ in rows], request(GOOD)))
    got = ran.out.split()
    expect(len(got) == len(rows), ran)
    good = 0
    for (sent, want), seen in zip(rows, got):
        granted = seen.startswith((OK + "0500", "0500"))
        good += granted
        expect(seen.startswith(want) if want else not granted, (sent, seen))
        # one reply at most: 4 bytes, and 10 of an answer by IPv4
        expect(granted or len(seen) <= 2 * (4 + 10), (sent, seen))
    expect(good == sum((w or "").endswith("0500") for _, w in rows), got)
    until(lambda: len(origin.seen) == before + good, "each is accepted")
    expect(set(resolver.asked[asked:]) == {NAME}, resolver.asked[asked:])


# --- names that lead elsewhere ----------------------------------------------

def leads(*steps):
    """An answer of these records: (owner or None, CNAME or address)."""
    def answer(message, end, kind):
        body = b""
        for owner, to in steps:
            data, code = (wire_name(to), 5) if to[-1].isalpha() else \
                (socket.inet_aton(to), 1)
            body += (wire_name(owner) if owner else b"\xc0\x0c") + \
                struct.pack(">HHIH", code, 1, 0, len(data)) + data
        n = 0 if kind == AAAA else len(steps)
        return message[:2] + struct.pack(">HHHHH", 0x8180, 1, n, 0, 0) + \
            message[12:end] + (body if n else b"")
    return answer


# What an answer holds, and what comes of it with 127/8 and 169.254/16 opened.
ANSWERED = {
    "plain": (leads((None, "127.0.0.1")), "200"),
    "one": (leads((None, "a.corp"), ("a.corp", "127.0.0.1")), "200"),
    "meta": (leads((None, "a.corp"), ("a.corp", "metadata.google.internal"),
                   ("metadata.google.internal", "169.254.169.254")), "403"),
    "task": (leads((None, "a.corp"), ("a.corp", "169.254.170.2")), "403"),
    "zero": (leads((None, "a.corp"), ("a.corp", "0.0.0.0")), "403"),
    "own": (leads((None, "a.corp"), ("a.corp", "192.0.0.1")), "403"),
    "synthetic": (leads((None, "a.corp"), ("a.corp", "198.18.0.1")), "403"),
    "carrier": (leads((None, "a.corp"), ("a.corp", "100.64.0.1")), "403"),
    "many": (leads((None, "a.corp"), ("a.corp", "224.0.0.1")), "403"),
    "mixed": (leads((None, "a.corp"), ("a.corp", "127.0.0.1"),
                    ("a.corp", "10.0.0.1")), "403"),
    # to itself, and in a circle
    "loop": (leads((None, "loop.odd.test")), "502"),
    "circle": (leads((None, "a.corp"), ("a.corp", "circle.odd.test")), "502"),
}


@box_test
def rows_41_to_43_names_that_lead_into_special_ranges_over_others():
    names = {n + ".odd.test": v for n, v in ANSWERED.items()}
    resolver.names.update({n: f for n, (f, _) in names.items()})
    ran = client(policy(["*.odd.test:%d" % origin.port], private=(
        "127.0.0.0/8", "169.254.0.0/16", "*.odd.test")), """
for name in %r:
    s, h = connect(name + ":%d")
    print(name, h.split(" ")[1])
""" % (sorted(names), origin.port))
    expect(ran.out.splitlines() == ["%s %s" % (n, names[n][1])
                                    for n in sorted(names)], ran)


main()
