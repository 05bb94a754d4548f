#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway: ways round it, and where names lead. Each name begins with
the rows of GATEWAY-CASES.md that it shows."""

import os
import signal
import socket
import struct

from gateway_lib import (AAAA, Origin, arguments, client, echo, policy,
                         resolver, run, wire_name)
from tool_lib import WAIT, Skip, box_test, expect, main, start

origin = Origin(echo)
NAME = "api.example.test"
AT = "%s:%d" % (NAME, origin.port)
resolver.names[NAME] = ["127.0.0.1"]


def doc(allow=(AT,), private=("127.0.0.0/8", NAME), **more):
    return policy(allow, private=private, **more)


def leads_to(target, address):
    """An answer with a name in between."""
    def answer(message, end, kind):
        records = b"\xc0\x0c" + struct.pack(">HHIH", 5, 1, 0,
                                            len(wire_name(target)))
        records += wire_name(target)
        count = 1
        if kind != AAAA:
            records += wire_name(target) + struct.pack(">HHIH", 1, 1, 0, 4)
            records += socket.inet_aton(address)
            count = 2
        return message[:2] + struct.pack(">HHHHH", 0x8180, 1, count, 0, 0) + \
            message[12:end] + records
    return answer


@box_test
def row_42_an_alias_is_judged_by_where_it_ends():
    port = origin.port
    resolver.names["alias.test"] = leads_to("internal.corp", "10.0.0.1")
    resolver.names["good.test"] = leads_to("internal.corp", "127.0.0.1")
    before = len(origin.seen)
    ran = client(doc(["alias.test", "good.test"],
                     ("127.0.0.0/8", "good.test", "alias.test")), """
for t in ("alias.test:%d", "good.test:%d"):
    s, h = connect(t)
    print(h.split(" ")[1])
""" % (port, port))
    expect(ran.out == "403\n200\n", ran)
    expect(ran.records("denied", "resolved_private")[0]["subject"] ==
           "alias.test:%d" % port, ran)
    expect(origin.has_seen(before + 1), ran)
    told = [r for r in ran.records("allowed", "alias")]
    expect([(r["how"], r["subject"], r["detail"]) for r in told] == [
        ("dns", "alias.test", "internal.corp"),
        ("dns", "good.test", "internal.corp")], ran)


def chain(length):
    """The same with more names in between, in the answer for each family."""
    names = ["c%d.chain.test" % i for i in range(length)]

    def answer(message, end, kind):
        records, owner = b"", b"\xc0\x0c"
        for name in names:
            records += owner + struct.pack(">HHIH", 5, 1, 0,
                                           len(wire_name(name)))
            owner = wire_name(name)
            records += owner
        if kind != AAAA:
            records += owner + struct.pack(">HHIH", 1, 1, 0, 4)
            records += socket.inet_aton("127.0.0.1")
        return message[:2] + struct.pack(
            ">HHHHH", 0x8180, 1, length + (kind != AAAA), 0, 0) + \
            message[12:end] + records
    return answer


@box_test
def row_43_eight_names_in_between_are_followed_and_not_nine():
    for n in (8, 9):
        resolver.names["chain%d.test" % n] = chain(n)
    before = len(origin.seen)
    names = ["chain8.test", "chain9.test"]
    ran = client(doc(names, ("127.0.0.0/8", *names)), """
for n in (8, 9):
    s, h = connect("chain%%d.test:%d" %% n)
    print(h.split(" ")[1])
""" % origin.port)
    expect(ran.out == "200\n502\n", ran)
    told = ran.records("allowed", "alias")
    expect(len(told) == 1 and told[0]["detail"] == ", ".join(
        "c%d.chain.test" % i for i in range(8)), ran)
    expect(origin.has_seen(before + 1), ran)


@box_test
def row_51_a_refused_address_gives_way_to_the_next_and_nothing_is_asked_again():
    if not os.path.exists("/proc/net/if_inet6"):
        raise Skip("this kernel has no IPv6")
    resolver.names["both.test"] = ["::1", "127.0.0.1"]
    before = resolver.asked.count("both.test")
    ran = client(doc(["both.test"], ("127.0.0.0/8", "::1/128", "both.test")),
                 """
s, h = connect("both.test:%d")
s.sendall(b"ping")
print(h.split(" ")[1], s.recv(4))
""" % origin.port)
    expect(ran.out == "200 b'ping'\n", ran)
    # both families, once
    expect(resolver.asked.count("both.test") == before + 2, resolver.asked)
    expect(ran.records("allowed")[0]["detail"] == "127.0.0.1", ran)


@box_test
def rows_94_and_118_a_key_is_of_its_own_box_alone():
    _, argv = arguments(doc(), "sh", "-c", "echo $HTTP_PROXY; exec sleep 600")
    p = start(*argv)
    line = p.stdout.readline().decode()
    other = line.split(":")[2].split("@")[0]
    expect(len(other) == 64, line)
    ran = client(doc(), """
import base64
for key in ("%s", KEY):
    s, h = connect("%s", "Proxy-Authorization: Basic " + base64.b64encode(
        ("agentbox:" + key).encode()).decode() + "\\r\\n")
    print(h.split(" ")[1])
""" % (other, AT))
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=2 * WAIT)
    expect(ran.out == "407\n200\n", ran)
    expect(len(ran.records("denied", "key")) == 1, ran)


@box_test
def rows_102_and_103_other_families_of_sockets_are_refused():
    ran = run(doc(), "python3", "-c", """
import errno, socket
for family in (17, 21, 29, 30, 31, 38, 40, 42, 43, 44):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW,
                 socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind)
            print("made", family, kind)
        except OSError as e:
            if e.errno not in (errno.EPERM, errno.EACCES,
                               errno.EAFNOSUPPORT):
                print(family, kind, e)
for family in (socket.AF_INET, socket.AF_INET6):
    try:
        socket.socket(family, socket.SOCK_RAW, 1)
        print("raw", family)
    except OSError:
        pass
print("over")
""")
    expect(ran.out == "over\n", ran)


@box_test
def rows_104_and_111_what_the_host_listens_on_is_not_there():
    name = "agentbox-test-%d" % os.getpid()
    u = socket.socket(socket.AF_UNIX)
    u.bind("\0" + name)
    u.listen()
    listeners = [(socket.AF_INET, "127.0.0.1")]
    if os.path.exists("/proc/net/if_inet6"):
        listeners.append((socket.AF_INET6, "::1"))
    made, ports = [], []
    for family, at in listeners:
        s = socket.socket(family)
        s.bind((at, 0))
        s.listen()
        s.setblocking(False)
        made.append(s)
        ports.append((at, s.getsockname()[1]))
    ran = run(doc(), "python3", "-c", """
import socket
s = socket.socket(socket.AF_UNIX)
try:
    s.connect("\\0%s")
    print("reached")
except ConnectionRefusedError:
    pass
for at in %r:
    try:
        socket.create_connection(at, 30)
        print("reached", at)
    except OSError:
        pass
print("over")
""" % (name, ports))
    expect(ran.out == "over\n", ran)
    for s in made:
        try:
            s.accept()
            raise AssertionError("the box reached the host")
        except BlockingIOError:
            s.close()
    u.close()


@box_test
def rows_105_and_106_there_is_no_socket_and_no_descriptor_of_anybodys():
    ran = run(doc(), "python3", "-c", """
import ctypes, errno, os, stat
for top, dirs, names in os.walk("/"):
    if top == "/":
        dirs[:] = [d for d in dirs if d != "proc"]
    for name in names:
        path = os.path.join(top, name)
        try:
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                print("socket", path)
        except OSError:
            pass
for fd in os.listdir("/proc/self/fd"):
    try:
        if stat.S_ISSOCK(os.fstat(int(fd)).st_mode) or int(fd) > 2:
            print("fd", fd)
    except OSError:
        pass  # what listed them
libc = ctypes.CDLL(None, use_errno=True)
r = libc.syscall(425, 4, ctypes.create_string_buffer(256))
print(r, ctypes.get_errno() in (errno.EPERM, errno.ENOSYS))
""", stdin=b"")
    expect(ran.out == "-1 True\n", ran)


@box_test
def row_109_an_address_stands_for_its_own_name_alone():
    seen = []
    o = Origin(lambda c: seen.append(c.recv(1)))
    resolver.names["one.test"] = ["127.0.0.1"]
    resolver.names["two.test"] = ["127.0.0.1"]
    names = ["one.test:%d" % o.port, "two.test:%d" % o.port]
    ran = client(doc(names, ("127.0.0.0/8", "one.test", "two.test")), """
def say(to, name):
    s = dial((to, %d))
    s.sendall(hello(name))
    return end(s)
print(say("one.test", "two.test"))
print(say("two.test", "one.test"))
try:
    print(say("8.8.8.8", "one.test"))
except ConnectionError:
    print("reset")
""" % o.port)
    expect(all(x in ("reset", "closed") for x in ran.out.split()) and
           len(ran.out.split()) == 3, ran)
    expect(len(ran.records("denied", "sni_mismatch")) == 2 and
           len(ran.records("denied", "not_listed")) == 1, ran)
    expect(not any(seen), "a byte went upstream: %r" % seen)


@box_test
def row_112_the_gateway_is_no_process_of_the_box():
    ran = run(doc(), "python3", "-c", """
import os
for p in os.listdir("/proc"):
    if p.isdigit():
        try:
            with open("/proc/%s/comm" % p) as f:
                name = f.read()
        except OSError:
            continue
        if "gatewa" in name:
            print(name)
print("over")
""")
    expect(ran.out == "over\n", ran)


@box_test
def row_113_nobody_in_the_box_can_be_the_gateway():
    ran = client(doc(), """
for at in ("192.0.0.1", "198.18.0.1", "8.8.8.8"):
    s = socket.socket()
    try:
        s.bind((at, 3128))
        print("bound", at)
    except OSError:
        pass
mine = socket.socket()
mine.bind(("0.0.0.0", 3128))
mine.listen()
mine.setblocking(False)
s, h = connect("%s")
print(h.split(" ")[1])
try:
    mine.accept()
    print("it came here")
except BlockingIOError:
    print("over")
""" % AT)
    expect(ran.out == "200\nover\n", ran)


main()
