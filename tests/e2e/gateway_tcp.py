#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway: what network.tcp lets go on unread, and nothing else does.
Rows 52, 53 and 59 of GATEWAY-CASES.md. The ports of TLS and HTTP are of root's
origins, on an address that nothing else listens on."""

import os

from gateway_lib import Origin, client, policy, resolver
from tool_lib import WAIT, box_test, expect, main

AT = "127.83.7.1"
BANNER = b"SSH-2.0-first\r\n"
NAMES = ("raw.test", "other.test", "inside.test")
for name in NAMES:
    resolver.names[name] = [AT]
resolver.names["inside.test"] = ["10.0.0.1"]


def speak_first(c):
    c.settimeout(WAIT)
    c.sendall(BANNER)
    while True:
        data = c.recv(4096)
        if not data:
            return
        c.sendall(data)


free = Origin(speak_first, at=AT)
ports = {"free": free.port}
origins = [free]
if os.geteuid() == 0:
    origins += [Origin(speak_first, p, at=AT) for p in (80, 443)]


def doc(tcp, allow=NAMES):
    ports = "80,443,%d" % free.port
    return policy(["%s:%s" % (n, ports) for n in allow],
                  network={"tcp": ["%s:%s" % (n, p) for n, p in tcp]},
                  private=("127.0.0.0/8", *NAMES))


# By every way: what comes first, and what becomes of a hello of somebody else.
SPEAK = r"""
def by_connect(name, port):
    s, h = connect("%s:%d" % (name, port))
    return s if " 200 " in h else h.split(" ")[1]
def by_socks(name, port):
    s = dial()
    s.sendall(b"\5\1\2")
    exactly(s, 2)
    s.sendall(b"\1\1a\x40" + KEY.encode())
    exactly(s, 2)
    s.sendall(b"\5\1\0\3" + bytes([len(name)]) + name.encode() +
              struct.pack(">H", port))
    reply = exactly(s, 10)
    return s if reply[1] == 0 else reply[1]
def by_name(name, port):
    return dial((name, port))
def speak(way, name, port, bytes_=None):
    try:
        s = way(name, port)
    except socket.gaierror:
        return "no name"
    except ConnectionError:
        # the reset may be there before the connection is
        return ("", False)
    if not isinstance(s, socket.socket):
        return s
    sent = hello("evil.test") if bytes_ is None else bytes_
    first = exactly(s, 15) if bytes_ is None else b""
    try:
        s.sendall(sent)
    except ConnectionError:
        pass
    got = exactly(s, len(sent))
    return (first.decode().strip(), got == sent)
ways = (by_connect, by_socks, by_name)
"""


@box_test
def row_59_what_is_listed_goes_on_unread_by_every_way():
    before = [len(o.seen) for o in origins]
    served = [80, 443, free.port] if os.geteuid() == 0 else [free.port]
    ran = client(doc([("raw.test", "80,443,%d" % free.port)]), SPEAK + """
for port in %r:
    print([speak(w, "raw.test", port) for w in ways])
""" % served)
    expect(ran.out == "[('SSH-2.0-first', True), ('SSH-2.0-first', True), "
           "('SSH-2.0-first', True)]\n" * len(served), ran)
    told = ran.records("allowed", "tcp")
    expect([r["how"] for r in told] ==
           ["connect", "socks", "transparent"] * len(served), ran)
    expect(all(r["rule"] for r in told) and not ran.records("denied"), ran)
    expect([len(o.seen) - n for o, n in zip(origins, before)] ==
           [3] * len(origins), ran)


@box_test
def row_52_other_names_and_other_ports_are_read_as_ever():
    # of this name the other port, and of the other name this port
    ran = client(doc([("raw.test", "443"), ("other.test", "22")]), SPEAK + """
foreign = hello("evil.test")
for name, port in (("raw.test", %d), ("other.test", %d)):
    for w in ways:
        print(speak(w, name, port, foreign)[1])
""" % (free.port, free.port))
    expect(ran.out == "False\n" * 6, ran)
    expect(len(ran.records("denied", "sni_mismatch")) == 6, ran)
    expect(not ran.records("allowed", "tcp"), ran)
    if os.geteuid():
        return
    before = len(origins[2].seen)
    ran = client(doc([("raw.test", "80,%d" % free.port)]), SPEAK + """
for w in ways:
    print(speak(w, "raw.test", 443, b"SSH-2.0-x\\r\\n")[1])
""")
    expect(ran.out == "False\n" * 3 and
           len(ran.records("denied", "not_tls")) == 3, ran)
    # connected to, and not a byte to be answered
    expect(origins[2].has_seen(before + 3), ran)


@box_test
def it_grants_nothing_that_the_other_lists_do_not():
    before = [len(o.seen) for o in origins]
    ran = client(doc([("raw.test", free.port), ("inside.test", free.port)],
                     ("inside.test",)), SPEAK + """
for name in ("raw.test", "inside.test"):
    print([speak(w, name, %d) for w in ways])
""" % free.port)
    expect(ran.out == "['403', 2, 'no name']\n"
           "['403', 2, ('', False)]\n", ran)
    # a program may try both addresses that it was given for the name
    expect({r["how"] for r in ran.records("denied", "resolved_private")} ==
           {"connect", "socks", "transparent"}, ran)
    expect({r["how"] for r in ran.records("denied", "not_listed")} ==
           {"connect", "socks", "dns"}, ran)
    expect([len(o.seen) for o in origins] == before, ran)


main()
