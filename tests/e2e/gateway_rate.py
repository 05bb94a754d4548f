#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway: rates and budgets. Rows 116 and 117 of GATEWAY-CASES.md. No
time is an upper bound here: a rate is kept when it took as long as it says."""

import os
import re
import threading
import time

from gateway_lib import Origin, client, policy, resolver
from tool_lib import WAIT, box_test, expect, main

RATE = 256 << 10
# more than may go at once, whatever there was not sent before
SIZE = 2 * RATE
NAME = "pkg.test"
OTHER = "a.other.test"
resolver.names[NAME] = resolver.names[OTHER] = ["127.0.0.1"]
arrived = []


def serve(c):
    """Sends as many bytes as it is asked for, or takes them, and ends."""
    head = b""
    while b"\r\n\r\n" not in head:
        more = c.recv(4096)
        if not more:
            return
        arrived.append(len(more))
        head += more
    head, rest = head.split(b"\r\n\r\n", 1)
    method, path = head.decode("latin-1").split(" ")[:2]
    n = int(path.rsplit("/", 1)[1])
    if method == "PUT":
        got = len(rest)
        while got < n:
            more = c.recv(65536)
            if not more:
                break
            got += len(more)
        body = b"%d" % got
    else:
        body = bytes(n)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close"
              b"\r\n\r\n" % len(body) + body)


origin = Origin(serve)
AT = "%s:%d" % (NAME, origin.port)
OTHER_AT = "%s:%d" % (OTHER, origin.port)

GET = r'''
def get(way, n, put=0):
    """How many bytes of the body came, and in what time."""
    if way == "connect":
        s, h = connect("%(at)s")
        if " 200 " not in h:
            return (h.split(" ") + ["cut"])[h != ""], 0
        at, auth = "", ""
    elif way == "direct":
        s, at, auth = dial(("%(name)s", %(port)d)), "", ""
    else:
        s, at, auth = dial(), "http://%(at)s", AUTH
    began = time.monotonic()
    s.sendall(("%%s %%s/%%d HTTP/1.1\r\nHost: %(at)s\r\n%%s%%s\r\n" %% (
        "PUT" if put else "GET", at, put or n, auth,
        "Content-Length: %%d\r\n" %% put if put else "")).encode())
    try:
        if put:
            s.sendall(bytes(put))
        h = head(s)
        if not h.startswith("HTTP/1.1 200"):
            return (h.split(" ") + ["cut"])[h != ""], 0
        want = int(re.search("Content-Length: (.*)\r", h)[1])
        data = b""
        while len(data) < want:
            more = s.recv(65536)
            if not more:
                return "cut", 0
            data += more
    except ConnectionError:
        return "cut", 0
    took = time.monotonic() - began
    if put:
        return data.decode("latin-1"), took
    return len(data), took
'''


def box(script, **network):
    """With get() of the one name and other() of the other."""
    ways = GET % {"at": AT, "name": NAME, "port": origin.port} + GET.replace(
        "def get", "def other") % {"at": OTHER_AT, "name": OTHER,
                                   "port": origin.port}
    return client(policy([AT, OTHER_AT], network=network, private=(
        "127.0.0.0/8", NAME, OTHER)), ways + script)


@box_test
def row_116_a_rate_of_bytes_holds_in_every_way_and_both_directions():
    ran = box("""
began = time.monotonic()
for way in ("connect", "direct", "http"):
    n, took = get(way, %d)
    print(way, n, took)
    n, took = get(way, 0, put=%d)
    print(way, n, took)
print(time.monotonic() - began)
""" % (SIZE, SIZE), rate={"bytes_per_second": "%dKiB" % (RATE >> 10)})
    *rows, total = [x.split() for x in ran.out.splitlines()]
    expect(len(rows) == 6 and all(r[1] == str(SIZE) for r in rows), ran)
    # a second's worth may go at once; after that the rate is what it is
    expect(float(total[0]) > 0.95 * (6 * SIZE - RATE) / RATE, ran)
    for r in rows:
        expect(float(r[2]) > 0.95 * (SIZE - RATE) / RATE, ran)


@box_test
def row_116_many_share_one_rate_and_none_is_left_out():
    ran = box("""
import threading
done = []
began = time.monotonic()
threads = [threading.Thread(target=lambda: done.append(get("connect", %d)))
           for i in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(time.monotonic() - began, [n for n, took in done])
""" % (SIZE // 4), rate={"bytes_per_second": "%dKiB" % (RATE >> 10)})
    took, sizes = ran.out.split(" ", 1)
    expect(sizes.strip() == str([SIZE // 4] * 8), ran)
    # the last piece, of 16 KiB, may go before it is paid
    expect(float(took) > 0.9 * (2 * SIZE - RATE) / RATE, ran)


@box_test
def who_waits_for_the_rate_ends_with_its_other_side():
    ran = box("""
s, h = connect("%s")
s.sendall(b"GET /200000 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
head(s)
t, h = connect("%s")
time.sleep(2)
t.close()
print(len(rest(s)))
""" % (AT, AT), rate={"bytes_per_second": "64KiB"})
    expect(ran.out == "200000\n", ran)


@box_test
def row_116_a_budget_of_bytes_cuts_and_is_recorded():
    for way in ("connect", "direct", "http"):
        ran = box("""
print(*get("%s", 100 << 10))
print(*get("%s", 4 << 20))
print(*get("%s", 1))
""" % (way, way, way), budget={"bytes": "1MiB"})
        rows = ran.out.splitlines()
        expect(rows[0].split()[0] == str(100 << 10), ran)
        expect(all(r.split()[0] != str(4 << 20) for r in rows[1:]), ran)
        expect(ran.records("denied", "budget_bytes"), ran)


@box_test
def row_116_what_comes_with_a_head_is_of_the_budget_too():
    del arrived[:]
    ran = box("""
body = (b"PUT /8000 HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n"
        b"Content-Length: 8000\\r\\n\\r\\n" + bytes(8000))
s = dial()
s.sendall(("CONNECT %s HTTP/1.1\\r\\nHost: %s\\r\\n%%s\\r\\n" %% AUTH).encode()
          + body)
print(b"200 OK" in rest(s))
s = dial()
s.sendall(body.replace(b"/8000", b"http://%s/8000")
          .replace(b"Host: x\\r\\n", ("Host: %s\\r\\n" + AUTH).encode()))
print(b"200 OK" in rest(s))
""" % (AT, AT, AT, AT), budget={"bytes": "4KiB"})
    expect(ran.out == "False\nFalse\n" and sum(arrived) < 4096,
           (ran, arrived))
    expect(ran.records("denied", "budget_bytes"), ran)


@box_test
def row_117_a_budget_of_requests_counts_every_way():
    ran = box("""
for way in ("connect", "direct", "http", "connect", "http", "direct"):
    try:
        print(get(way, 1)[0])
    except OSError:
        print("refused")
""", budget={"requests": 3})
    rows = ran.out.split()
    expect(rows[:3] == ["1"] * 3 and "1" not in rows[3:], ran)


WAYS = ("connect", "direct", "http")
TRY = r'''
def tried(f, *args):
    try:
        return f(*args)[0]
    except (OSError, IndexError):
        return "refused"
'''


@box_test
def row_116_a_names_bytes_are_its_own():
    for way in WAYS:
        ran = box(TRY + """
print(*[tried(f, "%s", n) for f, n in (
    (get, 16 << 10), (get, 4 << 20), (get, 1), (other, 200 << 10),
    (get, 1), (other, 1))])
""" % way, names=[{"name": AT, "budget": {"bytes": "64KiB"}},
                  {"name": "%s:1" % OTHER, "budget": {"bytes": "1KiB"}}])
        rows = ran.out.split()
        expect(len(rows) == 6 and rows[0] == str(16 << 10) and
               rows[3] == str(200 << 10) and rows[5] == "1", (way, ran))
        expect(str(4 << 20) not in rows and rows[2] != "1" and
               rows[4] != "1", (way, ran))
        denied = ran.records("denied", "budget_bytes")
        expect(denied and {r["subject"] for r in denied} == {AT}, ran)


@box_test
def row_117_a_names_requests_are_its_own():
    """By every way together; an entry for all below a name is of all."""
    ran = box(TRY + """
for way in ("connect", "http", "direct"):
    print(tried(get, way, 1), tried(other, way, 1))
print(tried(other, "http", 1))
""", names=[{"name": NAME, "budget": {"requests": 1}},
            {"name": "*.other.test", "budget": {"requests": 3}},
            {"name": "other.test", "budget": {"requests": 1}}])
    rows = [r.split() for r in ran.out.splitlines()]
    expect([r[0] == "1" for r in rows] == [True, False, False, False], ran)
    expect([r[-1] == "1" for r in rows] == [True] * 3 + [False], ran)


@box_test
def row_117_a_names_rate_is_its_own_and_the_boxs_holds_too():
    ran = box(TRY + """
print(tried(get, "connect", 1), tried(get, "http", 1),
      *[tried(other, way, 1) for way in ("connect", "direct", "http")],
      tried(other, "connect", 1))
""", names=[{"name": NAME, "rate": {"requests_per_minute": 1}},
            {"name": "*", "budget": {"requests": 100}}],
              budget={"requests": 5})
    rows = ran.out.split()
    expect([r == "1" for r in rows] == [True, False] + [True] * 3 + [False],
           ran)
    expect("429" in rows[1], ran)


@box_test
def row_116_a_names_rate_of_bytes_is_its_own():
    """By every way, together with what the box may; others go at once."""
    for way in WAYS:
        ran = box("""
import threading
done = []
began = time.monotonic()
threads = [threading.Thread(target=lambda: done.append(get("%s", %d)))
           for i in range(4)]
for t in threads: t.start()
n, took = other("%s", %d)
print(n)
for t in threads: t.join()
print(time.monotonic() - began, [n for n, took in done])
""" % (way, SIZE // 2, way, SIZE),
                  rate={"bytes_per_second": "64MiB"},
                  names=[{"name": AT, "rate": {
                      "bytes_per_second": "%dKiB" % (RATE >> 10)}},
                         {"name": "none.test", "rate": {
                             "bytes_per_second": "1KiB"}}])
        other, took, sizes = ran.out.split(None, 2)
        expect(other == str(SIZE) and
               sizes.strip() == str([SIZE // 2] * 4), (way, ran))
        expect(float(took) > 0.9 * (2 * SIZE - RATE) / RATE, (way, ran))


@box_test
def row_116_the_slowest_of_a_targets_rates_holds():
    ran = box("""
n, took = get("connect", %d)
print(n, took)
""" % SIZE, rate={"bytes_per_second": "64MiB"}, names=[
        {"name": "*", "rate": {"bytes_per_second": "32MiB"}},
        {"name": NAME, "rate": {"bytes_per_second": "%dKiB" % (RATE >> 10)}}])
    n, took = ran.out.split()
    expect(n == str(SIZE) and float(took) > 0.95 * (SIZE - RATE) / RATE, ran)


@box_test
def row_116_a_name_has_so_many_connections_at_once():
    """Counted by every way together, free again with their end, also where a
    request was refused for something else."""
    ran = box(TRY + """
# one is over when the gateway has seen it
def soon(f, way):
    until = time.monotonic() + %d
    while tried(f, way, 1) != 1 and time.monotonic() < until:
        time.sleep(0.05)
    return time.monotonic() < until
ways = ("connect", "http", "direct")
a, h = connect("%s")
print(" 200 " in h, *[tried(other, w, 1) for w in ways])
b, h = connect("%s")
print(" 200 " in h)
print(*[tried(get, w, 1) for w in ways])
print(tried(other, "connect", 1))
b.close()
for i in range(5):
    print(*[soon(get, w) for w in ways])
a.close()
""" % (WAIT, AT, AT), names=[
        {"name": NAME, "rate": {"connections": 2}},
        {"name": "*", "rate": {"connections": 60}}])
    rows = [r.split() for r in ran.out.splitlines()]
    expect(rows[0] == ["True", "1", "1", "1"] and rows[1] == ["True"], ran)
    expect("1" not in rows[2] and rows[2][1] == "429", ran)
    expect(rows[3] == ["1"], ran)
    expect(rows[4:] == [["True"] * 3] * 5, ran)
    expect(ran.records("failed", "too_many") and
           ran.records("denied", "too_many"), ran)


main()
