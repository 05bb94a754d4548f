#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway under a box that means it harm: bytes of every kind on every
port, connections that say nothing, clients that go away at any moment. Each
name begins with the rows of GATEWAY-CASES.md that it shows; afterwards the
gateway has to be the same process and still judge.
"""

import os
import signal
import socket
import threading
import time

import gateway_lib
from gateway_lib import Origin, arguments, client, echo, policy, resolver
from tool_lib import WAIT, box_test, expect, main, start

origin = Origin(echo)
NAME = "api.example.test"
ALLOW = "%s:%d" % (NAME, origin.port)
resolver.names[NAME] = ["127.0.0.1"]


def doc(**more):
    return policy([ALLOW], private=("127.0.0.0/8", NAME), **more)


AFTER = """
for i in range(100):
    # what cannot be recorded is not let through: the rest's records come first
    try:
        s, h = connect("%s")
    except ConnectionError:
        h = ""
    if h:
        break
    time.sleep(0.1)
print(h.split(" ")[1])
s.sendall(b"still")
print(s.recv(5))
s, h = connect("evil.test:443")
print(h.split(" ")[1])
""" % ALLOW


def judges_after(script, document=None):
    ran = client(document or doc(), script + AFTER)
    expect(ran.out.splitlines()[-3:] == ["200", "b'still'", "403"], ran)
    expect(not ran.records("gateway"), ran)
    return ran


@box_test
def row_8_no_bytes_on_any_port_end_it():
    judges_after("""
import random
r = random.Random(7)
good = [b"CONNECT %s HTTP/1.1\\r\\nHost: %s\\r\\n" + AUTH.encode() + b"\\r\\n",
        b"GET http://%s/ HTTP/1.1\\r\\nHost: %s\\r\\n" + AUTH.encode() +
        b"Transfer-Encoding: chunked\\r\\n\\r\\n5\\r\\nhello\\r\\n0\\r\\n\\r\\n",
        b"\\5\\1\\2\\1\\5agent\\x40" + KEY.encode() + b"\\5\\1\\0\\3\\x10%s",
        b"\\x16\\x03\\x01\\x02\\x00\\x01\\x00\\x01\\xfc\\x03\\x03" + bytes(600),
        b"\\x00\\x1d\\x00\\x07\\x01\\x00\\x00\\x01" + bytes(30)]
def mutate(b):
    b = bytearray(b)
    for i in range(r.randrange(8)):
        if b:
            b[r.randrange(len(b))] = r.randrange(256)
    if r.random() < 0.5:
        b = b[:r.randrange(len(b) + 1)]
    return bytes(b)
for i in range(600):
    to = r.choice([PROXY, PROXY, ("10.1.1.1", 53), ("198.18.0.1", %d)])
    data = mutate(r.choice(good))
    try:
        s = socket.create_connection(to, WAIT)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                     struct.pack("ii", r.randrange(2), 0))
        for piece in (data[:len(data) // 2], data[len(data) // 2:]):
            s.sendall(piece)
        if r.random() < 0.3:
            s.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    else:
        s.close()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(2000):
    u.sendto(mutate(good[4][2:]), ("9.9.9.9", 53))
""" % (ALLOW, ALLOW, ALLOW, ALLOW, NAME, origin.port))


@box_test
def row_73_clients_that_say_nothing_do_not_hold_up_others():
    judges_after("""
quiet = []
for i in range(400):
    s = dial()
    if i % 2:
        s.sendall(b"CONNECT ")
    quiet.append(s)
""")


@box_test
def row_73_a_box_has_only_so_many_connections():
    ran = client(doc(network={"rate": {"connections": 8}}), """
held = [dial() for i in range(8)]
time.sleep(0)
refused = 0
for i in range(20):
    try:
        s = dial()
        s.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: 192.0.0.1\\r\\n\\r\\n")
        refused += not s.recv(1)
    except OSError:
        refused += 1
print(refused)
for s in held:
    s.close()
h = ""
while not h:
    # until the ends of the others have arrived
    try:
        s, h = connect("%s")
    except ConnectionError:
        pass
print(h.split(" ")[1])
""" % ALLOW)
    expect(ran.out.splitlines() == ["20", "200"], ran)
    expect(ran.records("denied", "too_many"), ran)


@box_test
def row_96_wrong_keys_are_refused_and_not_all_recorded():
    began = time.monotonic()
    ran = judges_after("""
for i in range(1500):
    s = dial()
    s.sendall(b"CONNECT a.test:443 HTTP/1.1\\r\\nHost: a.test:443\\r\\n"
              b"Proxy-Authorization: Bearer wrong\\r\\n\\r\\n")
    s.close()
""")
    # 200 at once and 100 a second, whatever there were
    took = time.monotonic() - began
    told = len(ran.records("denied", "key"))
    expect(0 < told <= 200 + 100 * took, (told, took))


@box_test
def row_96_each_way_to_bring_a_key_counts_against_the_same_bound():
    """200 at once and 100 a second are told that it is a wrong one; the rest
    has no answer at all."""
    ran = judges_after("""
def told(data):
    s = dial()
    try:
        s.sendall(data)
        return len(rest(s).replace(b"<reset>", b"")) > 2
    except ConnectionError:
        return False
    finally:
        s.close()
for data in (b"CONNECT a.test:443 HTTP/1.1\\r\\nHost: a.test:443\\r\\n"
             b"Proxy-Authorization: Bearer wrong\\r\\n\\r\\n",
             b"GET /x HTTP/1.1\\r\\nHost: 192.0.0.1:3128\\r\\n"
             b"X-Api-Key: wrong\\r\\n\\r\\n",
             b"\\5\\1\\2\\1\\1a\\5wrong"):
    began = time.monotonic()
    n = sum(told(data) for i in range(1000))
    print(0 < n <= 200 + 100 * (time.monotonic() - began + 1), n)
""")
    lines = ran.out.splitlines()[:3]
    expect([x.split()[0] for x in lines] == ["True"] * 3, lines)


@box_test
def row_49_names_under_a_wildcard_are_bounded():
    asked = len(resolver.asked)
    ran = client(policy(["*.pkg.test:443", ALLOW],
                        private=("127.0.0.0/8", NAME)), """
answers = set()
for i in range(800):
    try:
        socket.getaddrinfo("x%d.pkg.test" % i, 443, socket.AF_INET)
        answers.add("address")
    except socket.gaierror:
        answers.add("none")
print(sorted(answers))
""")
    expect(ran.out == "['address', 'none']\n", ran)
    expect(ran.records("denied", "too_many_names"), ran)
    # the stub answers by itself: none of these names went out
    expect(len(resolver.asked) == asked, resolver.asked[asked:][:5])


@box_test
def rows_43_44_answers_of_a_hostile_resolver_are_bounded():
    def many(message, end, kind):
        """More addresses than are judged."""
        if kind != gateway_lib.A:
            return message[:2] + b"\x81\x80" + message[4:6] + bytes(6) + \
                message[12:end]
        head = message[:2] + b"\x81\x80\0\1" + (40).to_bytes(2, "big") + \
            bytes(4)
        return head + message[12:end] + b"".join(
            b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + bytes([8, 8, 8, i])
            for i in range(40))

    def loop(message, end, kind):
        return message[:2] + b"\x81\x80\0\1\0\1" + bytes(4) + \
            message[12:end] + b"\xc0" + bytes([end]) + \
            b"\0\1\0\1\0\0\0\x3c\0\4" + bytes(4)

    def wrong(message, end, kind):
        return bytes([message[0] ^ 1, message[1]]) + b"\x81\x80" + message[4:]

    resolver.names.update({"many.test": many, "loop.test": loop,
                           "wrong.test": wrong, "silent.test":
                           lambda m, e, k: None})
    before = len(origin.seen)
    ran = client(policy(["many.test:443", "loop.test:443", "wrong.test:443",
                         "silent.test:443"], private=("127.0.0.0/8",)), """
import threading
out = {}
def one(name):
    s, h = connect(name + ":443")
    out[name] = h.split(" ")[1]
all = [threading.Thread(target=one, args=(n + ".test",))
       for n in ("many", "loop", "wrong", "silent")]
[t.start() for t in all]
[t.join() for t in all]
print(sorted(out.items()))
""")
    expect(ran.out.count("50") == 4, ran)
    expect(len(origin.seen) == before, ran)


@box_test
def row_41_a_name_is_looked_up_once_and_connected_to_what_was_judged():
    answers = [["127.0.0.1"], ["10.9.9.9"]]

    def rebind(message, end, kind):
        data = bytes(int(p) for p in
                     answers[min(len(asked), 1)][0].split("."))
        if kind == gateway_lib.A:
            asked.append(1)
        count = 1 if kind == gateway_lib.A else 0
        return message[:2] + b"\x81\x80\0\1" + bytes([0, count]) + \
            bytes(4) + message[12:end] + (
                b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + data if count else b"")
    asked = []
    resolver.names["rebind.test"] = rebind
    at = "rebind.test:%d" % origin.port
    ran = client(policy([at], private=("127.0.0.0/8", "rebind.test")), """
s, h = connect("%s")
print(h.split(" ")[1])
time.sleep(1.2)
s, h = connect("%s")
print(h.split(" ")[1])
""" % (at, at))
    expect(ran.out == "200\n403\n", ran)
    expect(len(asked) == 2, asked)
    expect(ran.records("denied", "resolved_private"), ran)


# What a name of the box's can lead to by IPv6, and what comes of it where the
# policy has opened loopback for it, by both families.
SIX = {"one": ("::1", "200"), "mapped": ("::ffff:10.0.0.1", "403"),
       # that one is opened, and nobody listens there
       "same": ("::ffff:127.0.0.1", "502"),
       "compatible": ("::127.0.0.1", "403"),
       "nat64": ("64:ff9b::7f00:1", "403"),
       "nat64-own": ("64:ff9b:1::7f00:1", "403"),
       "6to4": ("2002:7f00:1::1", "403"),
       "teredo": ("2001:0:7f00:1::80ff:fffe", "403"),
       "isatap": ("fe80::5efe:7f00:1", "403"),
       "any": ("::", "403"), "link": ("fe80::1", "403"),
       "site": ("fec0::1", "403"), "own": ("fd00::1", "403"),
       "many": ("ff02::1", "403"), "metadata": ("fd00:ec2::254", "403"),
       "example": ("2001:db8::1", "403"), "black": ("100::1", "403")}


@box_test
def rows_32_to_36_names_that_lead_elsewhere_by_ipv6_alone():
    server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    taken = []

    def serve():
        while True:
            c, _ = server.accept()
            taken.append(c)
            c.sendall(c.recv(100))
    threading.Thread(target=serve, daemon=True).start()
    port = server.getsockname()[1]
    names = {n + ".six.test": v for n, v in SIX.items()}
    resolver.names.update({n: [a] for n, (a, _) in names.items()})
    ran = client(policy(["*.six.test:%d" % port], private=(
        "127.0.0.0/8", "::1/128", "*.six.test")), """
for name in %r:
    s, h = connect(name + ":%d")
    if h.split(" ")[1] == "200":
        s.sendall(b"echo")
        assert s.recv(100) == b"echo"
    print(name, h.split(" ")[1])
""" % (sorted(names), port))
    expect(ran.out.splitlines() == ["%s %s" % (n, names[n][1])
                                    for n in sorted(names)], ran)
    expect(len(taken) == 1, taken)
    expect(len(ran.records("denied")) == len(names) - 2, ran)


def reply(message, end, records, flags=b"\x81\x80", question=None):
    return message[:2] + flags + b"\0\1" + len(records).to_bytes(2, "big") + \
        bytes(4) + (question or message[12:end]) + b"".join(records)


def record(kind, data, name=b"\xc0\x0c", ttl=60):
    return name + kind.to_bytes(2, "big") + b"\0\1" + \
        ttl.to_bytes(4, "big") + len(data).to_bytes(2, "big") + data


@box_test
def rows_42_to_44_answers_with_more_or_less_than_was_asked_for():
    here, inside = bytes([127, 0, 0, 1]), bytes([10, 9, 9, 9])
    # HTTPS with a key for ECH and an address of its own
    https = record(65, b"\0\1\0" + b"\0\4\0\4" + inside + b"\0\5\0\3abc")
    good = record(1, here)

    def only_a(*records, **more):
        return lambda m, e, k: reply(m, e, records if k == gateway_lib.A
                                     else (), **more)
    rows = {
        "https": (only_a(https, good), "200"),
        "https-alone": (only_a(https), "502"),
        "text": (only_a(record(16, b"\3abc"), good), "200"),
        "case": (lambda m, e, k: reply(
            m, e, [good] if k == gateway_lib.A else (),
            question=m[12:end_of(m)].upper() + m[end_of(m):e]), "200"),
        "truncated": (only_a(good, flags=b"\x83\x80"), "502"),
        "short": (only_a(record(1, here[:3])), "502"),
        "long": (only_a(record(1, here + b"x")), "502"),
        "class": (only_a(good[:4] + b"\0\3" + good[6:]), "502"),
        "ends": (lambda m, e, k: reply(m, e, [good])[:-2], "502"),
        "inside": (only_a(good, record(1, inside)), "403"),
        "forever": (only_a(record(1, here, ttl=2 ** 31 - 1)), "200"),
        "refused": (only_a(flags=b"\x81\x85"), "502"),
        "none": (only_a(flags=b"\x81\x83"), "502"),
    }
    resolver.names.update({n + ".more.test": f for n, (f, _) in rows.items()})
    for left in range(4, -1, -1):
        if answers_are_judged(rows, is_last=left == 0):
            return


def answers_are_judged(rows, is_last):
    """False: some name had no answer in time, as on a busy machine, where one
    program here answers to all of them."""
    at = origin.port
    before = len(origin.seen)
    ran = client(policy(["*.more.test:%d" % at], private=(
        "127.0.0.0/8", "*.more.test")), """
import threading
out = {}
def one(name):
    s, h = connect(name + ".more.test:%d")
    out[name] = h.split(" ")[1]
all = [threading.Thread(target=one, args=(n,)) for n in %r]
[t.start() for t in all]
[t.join() for t in all]
for name in sorted(out):
    print(name, out[name])
""" % (at, sorted(rows)))
    wrong = [(a, b) for a, b in zip(
        ran.out.splitlines(), ["%s %s" % (n, rows[n][1])
                               for n in sorted(rows)]) if a != b]
    if wrong and not is_last and all(a.endswith(" 502") for a, _ in wrong):
        return False
    expect(not wrong and len(ran.out.splitlines()) == len(rows), (wrong, ran))
    good = sum(v == "200" for _, v in rows.values())
    expect(origin.has_seen(before + good), origin.seen[before:])
    return True


def end_of(message):
    """Where its first name ends."""
    return gateway_lib.name_of(message)[1]


main()
