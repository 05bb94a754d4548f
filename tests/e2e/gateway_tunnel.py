#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway: a tunnel whose ends have taken turns for a while, and what
then comes at once while nobody looks: an end right behind the last bytes,
urgent bytes, more than fits. The kernel tells of each only once by then."""

import os
import signal
import socket

import gateway_lib
from gateway_lib import Origin, arguments, gateway_of, policy, resolver
from tool_lib import WAIT, box_test, expect, main, start, until

NAME = "turns.test"
resolver.names[NAME] = ["127.0.0.1"]
TURNS = 20
BULK = 1 << 20
got = []


def take_turns(c):
    """Echoes as long as it is asked for, then takes all there is."""
    c.settimeout(WAIT)
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(TURNS):
        c.sendall(c.recv(1))
    data = b""
    while True:
        more = c.recv(65536)
        data += more
        if not more:
            break
    got.append(data)


origin = Origin(take_turns)
AT = "%s:%d" % (NAME, origin.port)

BOX = """
s, h = connect("%s")
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(%d):
    s.sendall(b"x")
    assert s.recv(1) == b"x"
def say(word):
    print(word, flush=True)
    sys.stdin.readline()
say("calm")
""" % (AT, TURNS)


class Tunnel:
    """One that is calm, its gateway stopped until goes_on()."""

    def __init__(self, script, **network):
        del got[:]
        document = policy([AT], private=("127.0.0.0/8", NAME),
                          network=network)
        log, argv = arguments(document, "python3", "-c",
                              gateway_lib.CLIENT + BOX + script)
        self.p = start(*argv)
        expect(self.p.stdout.readline() == b"calm\n")
        self.gateway = gateway_of(self.p.pid)
        os.kill(self.gateway, signal.SIGSTOP)
        self.far = origin.seen[-1]

    def step(self):
        """The box's next step; what it says then."""
        self.p.stdin.write(b"\n")
        self.p.stdin.flush()
        return self.p.stdout.readline().decode().strip()

    def goes_on(self):
        os.kill(self.gateway, signal.SIGCONT)

    def ends(self):
        out, err = self.p.communicate(b"\n", timeout=2 * WAIT)
        expect(self.p.returncode == 0, (out, err))
        return out.decode().split()


@box_test
def an_end_right_behind_the_last_bytes_is_seen():
    t = Tunnel("""
print(rest(s).decode(), flush=True)
s.sendall(b"after it")
s.shutdown(socket.SHUT_WR)
""")
    # one segment, as the kernel sends what is left with the end
    t.far.send(b"last", socket.MSG_MORE)
    t.far.shutdown(socket.SHUT_WR)
    t.goes_on()
    expect(t.ends() == ["last"])
    until(lambda: got, "the other direction ends, too")
    expect(got == [b"after it"], got)


@box_test
def an_end_of_the_boxs_right_behind_its_last_bytes_is_seen():
    t = Tunnel("""
s.send(b"last", socket.MSG_MORE)
s.shutdown(socket.SHUT_WR)
say("sent")
print(rest(s).decode())
""")
    expect(t.step() == "sent")
    t.goes_on()
    until(lambda: got, "the origin sees the end")
    expect(got == [b"last"] and t.ends() == [], got)


@box_test
def what_is_behind_an_urgent_byte_is_not_left_lying():
    t = Tunnel("""
print(exactly(s, 4).decode())
""")
    t.far.send(b"ab")
    t.far.send(b"!", socket.MSG_OOB)
    t.far.send(b"cd")
    t.goes_on()
    # the urgent byte itself is for nobody who reads in order
    expect(t.ends() == ["abcd"])


@box_test
def a_burst_arrives_whole_both_ways():
    t = Tunnel("""
s.setblocking(False)
block, sent = b"b" * %d, 0
try:
    while sent < len(block):
        sent += s.send(block[sent:])
except BlockingIOError:
    pass
say(str(sent))
s.setblocking(True)
s.settimeout(WAIT)
s.sendall(block[sent:])
s.shutdown(socket.SHUT_WR)
print(len(rest(s)))
""" % BULK)
    expect(int(t.step()) > 65536)
    t.far.setblocking(False)
    sent = t.far.send(b"f" * BULK)
    expect(sent > 65536, sent)
    t.far.settimeout(WAIT)
    t.goes_on()
    expect(t.ends() == [str(sent)], sent)
    until(lambda: got, "the origin has all")
    expect(got == [b"b" * BULK], len(got[0]))


@box_test
def what_is_more_than_one_read_takes_is_read_on():
    # with a rate of bytes a read is small; nothing comes after these, no end
    n = 50000
    t = Tunnel("""
s.sendall(b"b" * %d)
say("sent")
print(len(exactly(s, %d)), flush=True)
sys.stdin.readline()
""" % (n, n), rate={"bytes_per_second": "64MiB"})
    expect(t.step() == "sent")
    t.far.sendall(b"f" * n)
    t.goes_on()
    expect(t.step() == str(n))
    expect(t.ends() == [])
    until(lambda: got, "the origin has all")
    expect(len(got[0]) == n, len(got[0]))


@box_test
def a_reset_right_behind_the_last_bytes_ends_it():
    t = Tunnel("""
rest(s)
print("ended")
""")
    t.far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                     b"\1\0\0\0\0\0\0\0")
    t.far.send(b"last")
    # its reader sees that, and closes it with a reset
    t.far.shutdown(socket.SHUT_RD)
    until(lambda: t.far.fileno() < 0, "it is closed")
    t.goes_on()
    expect(t.ends() == ["ended"])


main()
