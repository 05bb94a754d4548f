#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway: connections upstream that serve more than one request of
plain HTTP. What is forwarded is judged and recorded request by request all the
same; a connection is kept where there is no doubt about the end of what was
asked and of what was answered, and nowhere else (RFC 9112 sections 6.3, 9.3
and 11.2). An origin here counts its connections and says which one answers.
"""

import threading

from gateway_lib import Origin, client, policy, resolver
from tool_lib import WAIT, box_test, expect, main

NAMES = ["keep%d.test" % i for i in range(20)]
for name in NAMES:
    resolver.names[name] = ["127.0.0.1"]

MOVED = "moved.test"

state = threading.Condition()
connections = []  # per connection: the heads that came on it
ended = []        # numbers of those that the gateway has closed
first = {}        # of this case: the socket that /late answers on


def plain(body, extra="", status="200 OK", version="1.1"):
    return ("HTTP/%s %s\r\nContent-Length: %d\r\n%s\r\n%s" % (
        version, status, len(body), extra, body)).encode()


FORGED = plain("forged")
ANSWERS = {
    "/more": plain("more") + FORGED,
    "/close": plain("close", "Connection: close\r\n"),
    "/until-close": b"HTTP/1.1 200 OK\r\n\r\nall",
    "/old": plain("old", version="1.0"),
    "/old-alive": plain("old", "Connection: keep-alive\r\n", version="1.0"),
    "/none": b"HTTP/1.1 204 No Content\r\n\r\n",
    "/same": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\n\r\n",
    "/chunks-more": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                    b"3\r\nabc\r\n0\r\n\r\n" + FORGED,
    "/chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
               b"3;x\r\nabc\r\n0\r\nX: y\r\n\r\n",
    "/empty": plain(""),
    "/interim": b"HTTP/1.1 103 Early Hints\r\n\r\n" + plain("late"),
}


def take_head(c):
    """Byte by byte: what follows is read as the next request."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        more = c.recv(1)
        if not more:
            return None
        data += more
    return data.decode("latin-1")


def serve(c):
    with state:
        number = len(connections)
        connections.append([])
    heads = connections[number]
    while True:
        head = take_head(c)
        if head is None:
            break
        with state:
            heads.append(head)
        path = (head.split(" ") + [""])[1]
        if path == "/again" and len(heads) > 1:
            # it was closed as the request came, and the name has moved on
            resolver.names[MOVED] = ["127.0.0.2"]
            break
        if path == "/never":
            break
        if path == "/body":
            # bodies are the next request's to such a server
            head += "(taken)"
        if path == "/first":
            first[head.split("Host: ")[1].split(":")[0]] = c
        if path == "/late":
            first[head.split("Host: ")[1].split(":")[0]].sendall(FORGED)
        c.sendall(ANSWERS.get(path) or plain("%d" % number))
        if path == "/until-close":
            break
    with state:
        ended.append(number)
        state.notify_all()


origin = Origin(serve)


def at(name):
    return "%s:%d" % (name, origin.port)


ASK = """
PORT = %d
def ask(s, name, path, method="GET", extra="", body=b""):
    at = "%%s:%%d" %% (name, PORT)
    s.sendall(("%%s http://%%s%%s HTTP/1.1\\r\\nHost: %%s\\r\\n%%s%%s\\r\\n" %% (
        method, at, path, at, AUTH, extra)).encode() + body)
    h = head(s)
    while h[9:10] == "1":
        h = head(s)
    n = re.search(r"(?i)content-length: (\\d+)", h)
    data = b""
    if "chunked" in h:
        while not data.endswith(b"0\\r\\n\\r\\n"):
            data += s.recv(1000)
    elif n and method != "HEAD" and " 304 " not in h:
        while len(data) < int(n[1]):
            data += s.recv(int(n[1]) - len(data))
    elif "close" in h:
        data = rest(s)
    return h.split(" ")[1], data.decode("latin-1")
def once(name, path, *more, **kw):
    return ask(dial(), name, path, *more, **kw)
""" % origin.port


def keep(script, names=NAMES[:1], **network):
    return client(policy([at(n) for n in names],
                         private=("127.0.0.0/8", *names), network=network),
                  ASK + script)


@box_test
def one_connection_serves_what_is_asked_of_one_host():
    before = len(connections)
    ran = keep("""
s = dial()
print(ask(s, "keep0.test", "/a")[1], ask(s, "keep0.test", "/b")[1])
print(once("keep0.test", "/c")[1])
for path in ["/chunks", "/empty", "/interim"]:
    print(once("keep0.test", path)[0])
print(once("keep0.test", "/d")[1])
""")
    expect(ran.out == "%d %d\n%d\n200\n200\n200\n%d\n" % ((before,) * 4), ran)
    # every one of them was judged, and recorded with where it went
    expect(len(ran.records("allowed")) == 7, ran)
    expect("Connection" not in connections[before][0], connections[before])


@box_test
def requests_that_come_at_once_are_answered_one_by_one():
    before = len(connections)
    ran = keep("""
once("keep0.test", "/first-of-all")
s = dial()
one = ("GET http://%s:%d/x HTTP/1.1\\r\\nHost: %s:%d\\r\\n" + AUTH + "\\r\\n")
s.sendall(b"".join((one % (n, PORT, n, PORT)).encode()
                   for n in ["keep0.test"] * 3 + ["evil.test"]))
for i in range(3):
    h = head(s)
    print(h.split(" ")[1], s.recv(int(re.search("Length: (.*)", h)[1])))
print(head(s).split(" ")[1])
""")
    expect(ran.out == "200 b'%d'\n" % before * 3 + "403\n", ran)
    expect(len(connections) == before + 1 and
           len(connections[before]) == 4, connections[before:])


@box_test
def each_request_is_judged_though_the_connection_is_there():
    before = len(connections)
    ran = keep("""
s = dial()
print(ask(s, "keep0.test", "/a")[1])
for other in ["keep1.test", "evil.test"]:
    print(once(other, "/a")[0])
print(ask(s, "keep2.test", "/a")[1], ask(s, "keep0.test", "/a")[1])
""", names=[NAMES[0], NAMES[2]])
    # the same address and port under another name is another connection
    expect(ran.out == "%d\n403\n403\n%d %d\n" % (before, before + 1, before),
           ran)
    expect(len(ran.records("denied")) == 2, ran)


@box_test
def an_answer_without_an_end_of_its_own_ends_the_connection():
    for path in sorted(ANSWERS):
        if path in ("/chunks", "/empty", "/interim"):
            continue
        before = len(connections)
        ran = keep("""
got = once("keep0.test", "%s")
print(once("keep0.test", "/next")[1], "forged" in got[1])
""" % path)
        expect(ran.out == "%d False\n" % (before + 1), (path, ran))


@box_test
def nothing_is_kept_of_a_request_that_sends_something():
    # a server that does not read bodies takes one for the next request: no
    # other may be answered with what it says to that
    bad = "GET /stolen HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
    for script in ["""
print(once("keep0.test", "/body", "POST", "Content-Length: %%d\\r\\n" %%
           len(BAD), BAD)[0])
""", """
print(once("keep0.test", "/body", "GET", "Content-Length: %%d\\r\\n" %%
           len(BAD), BAD)[0])
""", """
print(once("keep0.test", "/body", "GET", "Transfer-Encoding: chunked\\r\\n",
           b"%%x\\r\\n%%s\\r\\n0\\r\\n\\r\\n" %% (len(BAD), BAD))[0])
""", """
print(once("keep0.test", "/a", "HEAD")[0])
""", """
print(once("keep0.test", "/a", "OPTIONS")[0])
""", """
print(once("keep0.test", "/a", "GET", "Connection: Upgrade\\r\\n"
           "Upgrade: websocket\\r\\n")[0])
"""]:
        before = len(connections)
        ran = keep(("""
BAD = b"%s"
print(once("keep0.test", "/a")[1])
""" % bad) + script.replace("%%", "%") + """
print(once("keep0.test", "/next")[1])
""")
        lines = ran.out.splitlines()
        # neither on one that is kept, nor kept itself
        expect(lines == [str(before), "200", str(before)], (script, ran))
        expect(len(connections) == before + 2 and
               len(connections[before]) == 2, (script, connections[before:]))


@box_test
def what_comes_unasked_ends_a_kept_connection():
    before = len(connections)
    ran = keep("""
print(once("keep0.test", "/first")[1])
s = dial()
s.sendall(("POST http://keep0.test:%d/late HTTP/1.1\\r\\n"
           "Host: keep0.test:%d\\r\\n%s\\r\\n" % (PORT, PORT, AUTH)).encode())
print(head(s).split(" ")[1])
print(once("keep0.test", "/next")[1])
""")
    expect(ran.out == "%d\n200\n%d\n" % (before, before + 2), ran)


@box_test
def a_connection_that_was_closed_meanwhile_is_replaced_once():
    before = len(connections)
    ran = keep("""
print(once("keep0.test", "/a")[1])
print(once("keep0.test", "/again")[1])
print(once("keep0.test", "/never")[0])
print(once("keep0.test", "/b")[1])
""")
    expect(ran.out == "%d\n%d\n502\n%d\n" % (before, before + 1, before + 3),
           ran)
    heads = [h.split(" ")[1] for c in connections[before:] for h in c]
    expect(heads == ["/a", "/again", "/again", "/never", "/never", "/b"],
           heads)
    # what was asked twice is one request of the box's
    expect(len(ran.records("allowed")) == 4, ran)


def two_origins():
    """Of one port, on two addresses."""
    for _ in range(50):
        one = Origin(serve)
        try:
            Origin(serve, one.port, "127.0.0.2")
            return one.port
        except OSError:
            pass  # somebody else has it there
    raise AssertionError("no port is free on both")


@box_test
def one_that_is_replaced_by_another_address_is_recorded_with_both():
    port = two_origins()
    resolver.names[MOVED] = ["127.0.0.1"]
    at = "%s:%d" % (MOVED, port)
    ran = client(policy([at], private=("127.0.0.0/8", MOVED)),
                 ASK.replace("PORT = %d" % origin.port, "PORT = %d" % port) +
                 """
print(once("moved.test", "/a")[0])
# by then its first answer is forgotten
time.sleep(1.2)
print(once("moved.test", "/again")[0])
""")
    expect(ran.out == "200\n200\n", ran)
    expect([r["detail"] for r in ran.records("allowed")] ==
           ["127.0.0.1", "127.0.0.1", "127.0.0.2"], ran)


@box_test
def so_many_are_kept_and_no_more():
    before = len(connections)
    ran = keep("""
for i in range(20):
    print(once("keep%d.test" % i, "/a")[0])
    print(once("keep0.test", "/b")[1])
print(once("keep1.test", "/a")[1])
""", names=NAMES)
    lines = ran.out.splitlines()
    expect(lines[:-1:2] == ["200"] * 20, ran)
    # who is used stays, who is not goes
    expect(set(lines[1::2]) == {str(before)}, ran)
    expect(lines[-1] == str(before + 20), ran)


@box_test
def a_budget_ends_what_is_kept_too():
    ran = keep("""
for i in range(4):
    print(once("keep0.test", "/a")[0])
""", budget={"requests": 2})
    expect(ran.out.split() == ["200", "200", "429", "429"], ran)


@box_test
def what_is_kept_ends_with_the_box():
    before = len(connections)
    keep("""
print(once("keep0.test", "/a")[0])
""")
    with state:
        expect(state.wait_for(lambda: before in ended, WAIT), ended)


main()
