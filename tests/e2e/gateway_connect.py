#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live gateway: CONNECT, SOCKS5 and what comes without a proxy. Each name
begins with the rows of GATEWAY-CASES.md that it shows."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import gateway_lib
from gateway_lib import (Origin, arguments, client, echo, gateway_of, need,
                         policy, records_of, resolver, run)
from tool_lib import (HELPERS, TOP, WAIT, WORK, Skip, box_test,
                      command, environment, expect, main, start, test, until)

origin = Origin(echo)
NAME = "api.example.test"
ALLOW = "%s:%d" % (NAME, origin.port)
PRIVATE = ("127.0.0.0/8", NAME)
resolver.names[NAME] = ["127.0.0.1"]


def doc(allow=(ALLOW,), private=PRIVATE, **more):
    return policy(allow, private=private, **more)


def nothing_seen(ran, before):
    expect(resolver.asked == before[0], "asked: %r" % resolver.asked)
    expect(len(origin.seen) == before[1], ran)


def seen():
    return list(resolver.asked), len(origin.seen)


@box_test
def an_allowed_name_is_reached_by_connect_and_recorded():
    ran = client(doc(), """
s, h = connect("%s")
print(h.split("\\r\\n")[0])
s.sendall(b"ping")
print(s.recv(9))
""" % ALLOW)
    expect(ran.out == "HTTP/1.1 200 Connection established\nb'ping'\n", ran)
    r = ran.records("allowed")
    expect(len(r) == 1 and r[0]["subject"] == ALLOW and
           r[0]["verdict"] == "allow" and r[0]["how"] == "connect" and
           r[0]["rule"] == ALLOW, ran)


@box_test
def row_1_an_empty_list_allows_nothing():
    before = seen()
    ran = client(doc(allow=()), """
s, h = connect("%s")
print(h.split("\\r\\n")[0])
try:
    print(socket.getaddrinfo("%s", 1))
except socket.gaierror:
    print("no name")
""" % (ALLOW, NAME))
    expect(ran.out == "HTTP/1.1 403 Forbidden\nno name\n", ran)
    expect(len(ran.records("denied", "not_listed")) >= 2, ran)
    nothing_seen(ran, before)


@box_test
def rows_9_to_12_what_is_not_listed_is_refused_before_any_look_up():
    before = seen()
    targets = ["evil.test:443", "pkg.test:443", "evilpkg.test:443",
               "%s:22" % NAME, "x.denied.pkg.test:443"]
    ran = client(policy([ALLOW, "*.pkg.test:443"], ["*.denied.pkg.test"]), """
for t in %r:
    s, h = connect(t)
    print(h.split(" ")[1], rest(s).decode().strip())
""" % targets)
    lines = ran.out.splitlines()
    expect([x[:3] for x in lines] == ["403"] * 5, ran)
    for line, t in zip(lines, targets):
        expect("agentbox: %s" % t in line, ran)
    expect(len(ran.records("denied")) == 5, ran)
    nothing_seen(ran, before)


@box_test
def rows_14_to_17_malformed_targets_are_400():
    before = seen()
    bad = ["api.example.test\\0.pkg.test:443", "api.example.test%00:443",
           "api.example.test:443@evil.test:443", "api..example.test:443",
           ".example.test:443", "api.example.test:0443", "a b:443",
           "api.example.test:65536", "api.example.test", "",
           "http://api.example.test:443"]
    ran = client(doc(), """
for t in %r:
    s, h = connect(t)
    print(h.split(" ")[1])
""" % [b.replace("\\0", "\0") for b in bad])
    expect(ran.out.split() == ["400"] * len(bad), ran)
    nothing_seen(ran, before)


@box_test
def row_38_a_tunnel_within_a_tunnel_is_the_origins_and_leads_nowhere():
    """What a tunnel carries is bytes: nobody reads a second CONNECT in it, and
    to the gateway itself, by any of its names, there is none."""
    before = seen()
    inner = ["CONNECT evil.test:443 HTTP/1.1\\r\\nHost: evil.test:443\\r\\n\\r\\n",
             "GET http://evil.test/ HTTP/1.1\\r\\nHost: evil.test\\r\\n\\r\\n",
             "\\5\\1\\2"]
    own = ["192.0.0.1:3128", "[::ffff:192.0.0.1]:3128", "127.0.0.1:3128",
           "[64:ff9b::c000:1]:3128"]
    ran = client(doc(), """
for inner in %r:
    inner = inner.encode().decode("unicode_escape").encode()
    s, h = connect("%s")
    s.sendall(inner)
    print(exactly(s, len(inner)) == inner)
for own in %r:
    s, h = connect(own)
    print(h.split(" ")[1])
""" % (inner, ALLOW, own))
    expect(ran.out.split() == ["True"] * 3 + ["403"] * 4, ran)
    expect("evil.test" not in resolver.asked[len(before[0]):] and
           [r["reason"] for r in ran.records("denied")] ==
           ["special_range"] * 2 + ["not_listed", "special_range"], ran)


@box_test
def row_28_what_is_sent_ahead_of_the_answer_arrives_whole():
    ran = client(doc(), """
s = dial()
s.sendall(("CONNECT %s HTTP/1.1\\r\\nHost: %s\\r\\n" + AUTH +
           "\\r\\n").encode() + b"early" * 100)
h = head(s)
got = b""
while len(got) < 500:
    got += s.recv(4096)
print(h.split(" ")[1], got == b"early" * 100)
""" % (ALLOW, ALLOW))
    expect(ran.out == "200 True\n", ran)


@box_test
def bulk_arrives_whole_both_ways_at_once_and_after_pauses():
    ran = client(doc(), """
import hashlib, threading
s, h = connect("%s")
sent, got = hashlib.sha256(), hashlib.sha256()
TOTAL = 48 << 20
def send():
    left = TOTAL
    while left:
        # what begins as a record of TLS would be one
        block = (b"x" + os.urandom((1 << 16) - 1)) * 16
        sent.update(block)
        s.sendall(block)
        left -= len(block)
        if left %% (16 << 20) == 0:
            time.sleep(0.05)
t = threading.Thread(target=send)
t.start()
n = 0
while n < TOTAL:
    data = s.recv(1 << 20)
    if not data:
        break
    if n %% 7 == 0:
        time.sleep(0.001)
    got.update(data)
    n += len(data)
t.join()
s.shutdown(socket.SHUT_WR)
print(n == TOTAL, sent.digest() == got.digest(), s.recv(1))
""" % ALLOW)
    expect(ran.out == "True True b''\n", ran)
    # told when both ends have ended, which is about when the box does
    for r in ran.records("closed"):
        expect(r["up"] == r["down"] == 48 << 20, r)


@box_test
def rows_30_to_37_special_and_unlisted_addresses_are_refused():
    before = seen()
    hosts = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1",
             "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "8.8.8.8",
             "[2002:7f00:1::]", "192.0.0.1", "198.18.0.1", "0.0.0.0"]
    ran = client(policy(["*"], private=()), """
for t in %r:
    s, h = connect(t + ":443")
    print(t, h.split(" ")[1])
""" % [h for h in hosts if h != "8.8.8.8"])
    expect(all(line.endswith(" 403") for line in ran.out.splitlines()) and
           len(ran.out.splitlines()) == 11, ran)
    ran = client(doc(), """
s, h = connect("8.8.8.8:443")
print(h.split(" ")[1])
""")
    expect(ran.out == "403\n", ran)
    nothing_seen(ran, before)


@box_test
def row_36_metadata_is_refused_though_listed_and_opened():
    ran = client(policy(["169.254.169.254", "meta.test"],
                        private=["meta.test", "10.0.0.0/8"]), """
for t in ["169.254.169.254:80", "169.254.169.254:443", "[fd00:ec2::254]:80"]:
    s, h = connect(t)
    print(h.split(" ")[1])
""")
    expect(ran.out == "403\n403\n403\n", ran)
    expect(len(ran.records("denied")) == 3, ran)


# A machine with a public address of its own: a namespace with nothing else.
OWN = "198.41.0.4"
PUBLIC = """
import fcntl, json, socket, struct, subprocess, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
at = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton("%s"))
fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 1))  # SIOCSIFFLAGS: up
fcntl.ioctl(s, 0x8916, struct.pack("16s", b"lo:1") + at)  # SIOCSIFADDR
origin = socket.socket()
origin.bind(("%s", 4443))
origin.listen()
mine = socket.create_connection(("%s", 4443), 30)
origin.accept()
origin.setblocking(False)
p = subprocess.run(json.loads(sys.argv[1]), stdin=subprocess.DEVNULL,
                   stdout=subprocess.PIPE)
try:
    origin.accept()
    print("it was reached")
except BlockingIOError:
    print("nobody came")
sys.stdout.flush()
sys.stdout.buffer.write(p.stdout)
""" % (OWN, OWN, OWN)


@box_test
def row_38_a_public_address_of_this_machine_is_refused():
    need("unshare")
    apart = ["unshare", "-n" if os.geteuid() == 0 else "-rn"]
    if subprocess.run([*apart, "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("no network namespace can be made")
    if os.geteuid() and not HELPERS:
        raise Skip("the helpers have to be copied")
    log, argv = arguments(policy([OWN + ":4443"], private=()), "python3",
                          "-c", gateway_lib.CLIENT + """
s, h = connect("%s:4443")
print(h.split(" ")[1])
try:
    s = socket.create_connection(("%s", 4443), 30)
    print("direct", s.recv(1))
except ConnectionError:
    print("reset")
""" % (OWN, OWN))
    run_it = command(*argv)
    if os.geteuid():
        # who made the namespace is root there, and his files are nobody's
        own = os.path.join(TOP, "helpers")
        shutil.copytree(HELPERS, own)
        run_it[run_it.index(HELPERS)] = own
        run_it = ["unshare", "-U", "--map-user=%d" % os.geteuid(),
                  "--map-group=%d" % os.getegid(), *run_it]
    done = subprocess.run([*apart, sys.executable, "-c", PUBLIC,
                           json.dumps(run_it)], cwd=WORK, env=environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=3 * WAIT)
    expect(done.stdout == b"nobody came\n403\nreset\n", done)
    told = [r for r in records_of(log) if r["event"] == "denied"]
    expect(len(told) == 2 and
           all(r["subject"] == OWN + ":4443" for r in told), told)


@box_test
def rows_39_and_40_a_name_that_leads_inside_is_refused():
    resolver.names["bad.test"] = ["127.0.0.1"]
    resolver.names["mixed.test"] = ["8.8.8.8", "10.0.0.1"]
    before = len(origin.seen)
    port = origin.port
    ran = client(policy(["bad.test", "mixed.test"], private=()), """
for t in ["bad.test:%d", "mixed.test:443"]:
    s, h = connect(t)
    print(h.split(" ")[1], rest(s).decode().strip())
""" % port)
    # the text behind it has the port, whose digits may be any
    expect([x[:4] for x in ran.out.splitlines()] == ["403 "] * 2 and
           len(ran.records("denied", "resolved_private")) == 2, ran)
    expect(len(origin.seen) == before, ran)


@box_test
def row_47_a_private_range_is_open_to_its_name_alone():
    resolver.names["other.test"] = ["127.0.0.1"]
    before = len(origin.seen)
    ran = client(policy([ALLOW, "other.test:%d" % origin.port],
                        private=PRIVATE), """
for t in ["%s", "other.test:%d"]:
    s, h = connect(t)
    print(h.split(" ")[1])
""" % (ALLOW, origin.port))
    expect(ran.out == "200\n403\n", ran)
    expect(origin.has_seen(before + 1), ran)


@box_test
def row_48_a_denied_name_asks_nobody():
    before = seen()
    ran = client(doc(), """
for i in range(20):
    s, h = connect("secret%d.evil.test:443" % i)
    try:
        socket.getaddrinfo("secret%d.evil.test" % i, 443)
    except socket.gaierror:
        pass
""")
    expect(len(ran.records("denied")) >= 20, ran)
    nothing_seen(ran, before)


@box_test
def rows_93_and_97_without_the_key_nothing_is_answered_but_health():
    before = seen()
    ran = client(doc(), """
import base64
def auth(text):
    return "Proxy-Authorization: Basic " + base64.b64encode(
        text.encode("latin-1")).decode() + "\\r\\n"
flip = KEY[:-1] + ("0" if KEY[-1] != "0" else "1")
bad = ["", auth("agentbox:"), auth("agentbox:" + flip),
       auth("agentbox:" + KEY + "\\0x"), auth("agentbox:" + KEY[:32]),
       auth(KEY), "Proxy-Authorization: Bearer\\r\\n",
       "Authorization: Bearer " + KEY + "\\r\\n"]
answers = set()
for a in bad:
    s, h = connect("%s", a)
    answers.add(h + rest(s).decode())
print(len(answers), answers.pop().split("\\r\\n")[0])
for request in ["GET /healthz", "GET /healthz/../x", "GET /x",
                "POST /healthz", "GET /healthz?key=" + KEY, "GET /healthy"]:
    s = dial()
    s.sendall((request + " HTTP/1.1\\r\\nHost: 192.0.0.1:3128\\r\\n\\r\\n")
              .encode())
    print(request.split("?")[0], head(s).split(" ")[1])
""" % ALLOW)
    lines = ran.out.splitlines()
    expect(lines[:1] == ["1 HTTP/1.1 407 Proxy Authentication Required"], ran)
    expect(lines[1] == "GET /healthz 200", ran)
    expect([x.split()[-1] for x in lines[2:]] == ["401"] * 5, ran)
    nothing_seen(ran, before)


@box_test
def row_99_a_foreign_host_is_refused_on_the_gateways_own_port():
    ran = client(doc(), """
s = dial()
s.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: attacker.test\\r\\n"
          b"Origin: https://evil.test\\r\\n\\r\\n")
print(head(s).split(" ")[1])
""")
    expect(ran.out == "403\n", ran)


@box_test
def rows_88_to_92_socks_takes_the_key_and_connect_alone():
    ran = client(doc(), """
def socks(*parts):
    s = dial()
    for p in parts:
        s.sendall(p)
    return s
login = b"\\5\\1\\2" + b"\\1\\5agent\\x40" + KEY.encode()
name = b"%s"
def request(command, host):
    return b"\\5" + bytes([command]) + b"\\0\\3" + bytes([len(host)]) + host \\
        + struct.pack(">H", %d)
s = socks(login + request(1, name) + b"ahead")
s.recv(2), s.recv(2)
reply = s.recv(10)
print("connect", reply[1], s.recv(5))
for what, data in [("bind", login + request(2, name)),
                   ("udp", login + request(3, name)),
                   ("other", login + request(1, b"evil.test")),
                   ("nul", login + request(1, b"evil.test\\0.pkg.test")),
                   ("literal", login + request(1, b"127.0.0.1")),
                   ("noauth", b"\\5\\1\\0" + request(1, name)),
                   ("socks4", b"\\4\\1\\0\\x50\\0\\0\\0\\1x\\0name\\0"),
                   ("wrong", b"\\5\\1\\2\\1\\1a\\1b" + request(1, name))]:
    s = socks(data)
    print(what, rest(s)[:14].hex())
""" % (NAME, origin.port))
    got = dict(x.split(" ", 1) for x in ran.out.splitlines())
    expect(got["connect"] == "0 b'ahead'", ran)
    ok = "05020100"
    expect(got["bind"].startswith(ok + "0507"), ran)
    expect(got["udp"].startswith(ok + "0507"), ran)
    expect(got["other"].startswith(ok + "0502"), ran)
    expect(got["nul"].startswith(ok + "05") and got["nul"][10:12] != "00",
           ran)
    expect(got["literal"].startswith(ok + "0502"), ran)
    expect(got["noauth"] == "05ff", ran)
    expect(not got["socks4"].startswith("005a"), ran)
    expect(got["wrong"].startswith("0502") and got["wrong"][6:8] != "00", ran)


@box_test
def row_107_programs_without_a_proxy_reach_the_same_and_no_more():
    ran = run(doc(), "env", "-u", "HTTP_PROXY", "NO_PROXY=*", "python3", "-c",
              """
import socket
s = socket.create_connection(("%s", %d), 30)
s.sendall(b"hello")
print(s.recv(5), s.getpeername()[0][:5])
for host in ["1.2.3.4", "203.0.113.9", "2606:4700::1"]:
    try:
        c = socket.create_connection((host, %d), 30)
        c.settimeout(30)
        print("reset" if not c.recv(1) else "?")
    except ConnectionError as e:
        print("reset")
    except OSError as e:
        print("reset" if ":" in host else e)  # no IPv6 here
try:
    socket.create_connection(("1.2.3.4", 9), 30)
except ConnectionRefusedError:
    print("refused")
try:
    socket.getaddrinfo("evil.test", 1)
except socket.gaierror:
    print("no name")
""" % (NAME, origin.port, origin.port))
    lines = ran.out.splitlines()
    expect(lines[0] in ("b'hello' 198.1", "b'hello' fd61:"), ran)
    expect(lines[1:4] == ["reset"] * 3 and
           lines[4:] == ["refused", "no name"], ran)
    expect(ran.records("allowed")[0]["how"] == "transparent", ran)
    expect(len(ran.records("denied", "not_listed")) >= 4, ran)


@box_test
def row_50_the_name_server_answers_addresses_of_allowed_names_alone():
    before = seen()
    ran = run(doc(), "python3", "-c", r"""
import socket, struct
def ask(name, kind, server="9.9.9.9", family=socket.AF_INET, tcp=False):
    q = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"".join(
        bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0" + \
        struct.pack(">HH", kind, 1)
    if tcp:
        s = socket.create_connection((server, 53), 30)
        s.sendall(struct.pack(">H", len(q)) + q)
        s.settimeout(30)
        n = struct.unpack(">H", s.recv(2))[0]
        r = b""
        while len(r) < n:
            r += s.recv(n)
    else:
        s = socket.socket(family, socket.SOCK_DGRAM)
        s.connect((server, 53))
        s.settimeout(30)
        s.send(q)
        r = s.recv(2048)
    return r[3] & 15, struct.unpack(">H", r[6:8])[0]
name = "%s"
try:
    six = "eth0" in open("/proc/net/if_inet6").read()
except OSError:
    six = False
# a machine without IPv6 has no such addresses
print(ask(name, 1), ask(name, 28) == (0, int(six)), ask(name, 1, tcp=True))
print(ask(name, 1, "2001:db8::53", socket.AF_INET6) if six else (0, 1))
for kind in (16, 10, 65, 64, 255, 33):
    code, count = ask(name, kind)
    print(kind, count)
print(ask("evil.test", 1), ask("evil.test", 16))
""" % NAME)
    lines = ran.out.splitlines()
    expect(lines[0] == "(0, 1) True (0, 1)" and lines[1] == "(0, 1)", ran)
    expect(all(x.endswith(" 0") for x in lines[2:8]), ran)
    expect(lines[8] == "(3, 0) (3, 0)", ran)
    nothing_seen(ran, before)


@box_test
def row_110_datagrams_elsewhere_are_refused_at_once():
    ran = run(doc(), "python3", "-c", """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("1.2.3.4", 443))
s.settimeout(30)
try:
    s.send(b"x")
    s.send(b"x")
    s.recv(1)
except ConnectionRefusedError:
    print("refused")
""")
    expect(ran.out == "refused\n", ran)


@box_test
def the_boxs_own_ports_stay_free():
    ran = run(doc(), "python3", "-c", """
import socket
for port in (8080, %d):
    s = socket.socket()
    s.bind(("0.0.0.0", port))
    s.listen()
    c = socket.create_connection(("127.0.0.1", port), 30)
    a, _ = s.accept()
    a.sendall(b"mine")
    print(c.recv(4))
""" % origin.port)
    expect(ran.out == "b'mine'\n" * 2, ran)


@box_test
def row_7_a_killed_gateway_leaves_no_network_and_is_told():
    log, argv = arguments(doc(), "python3", "-c", gateway_lib.CLIENT + """
s, h = connect("%s")
s.sendall(b"ping")
print(s.recv(4), flush=True)
print(end(s))
try:
    connect("%s")
    print("connected")
except OSError as e:
    print("none")
try:
    socket.create_connection(("1.2.3.4", %d), 30)
    print("connected")
except OSError as e:
    print("none")
""" % (ALLOW, ALLOW, origin.port))
    p = start(*argv)
    expect(p.stdout.readline() == b"b'ping'\n")
    os.kill(gateway_of(p.pid), signal.SIGKILL)
    out, err = p.communicate(timeout=2 * WAIT)
    lines = out.decode().splitlines()
    expect(lines[0] in ("closed", "reset") and lines[1:] == ["none", "none"],
           (out, err))
    expect(b"no network" in err, err)


@box_test
def row_158_the_gateway_ends_with_its_host():
    log, argv = arguments(doc(), "sleep", "600")
    p = start(*argv)
    gateway = until(lambda: gateway_of(p.pid), "a gateway")
    p.kill()
    p.wait()

    def gone():
        try:
            with open("/proc/%d/stat" % gateway) as f:
                return " Z " in f.read()
        except OSError:
            return True
    until(gone, "the gateway ends")
    for f in (p.stdin, p.stdout, p.stderr):
        f.close()


@box_test
def the_gateway_has_given_up_what_it_does_not_need():
    log, argv = arguments(doc(), "sleep", "600")
    p = start(*argv)
    gateway = until(lambda: gateway_of(p.pid), "a gateway")

    def fields():
        with open("/proc/%d/status" % gateway) as f:
            rows = dict(x.split(":", 1) for x in f if ":" in x)
        return rows if rows["Seccomp"].strip() == "2" else None
    rows = until(fields, "its filter")
    for name in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
        expect(int(rows[name], 16) == 0, rows)
    expect(rows["NoNewPrivs"].strip() == "1", rows)
    expect(os.geteuid() or rows["Uid"].split()[0] != "0", rows)
    if os.geteuid():
        try:
            os.listdir("/proc/%d/fd" % gateway)
            raise AssertionError("it is dumpable")
        except PermissionError:
            pass
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=2 * WAIT)


@box_test
def curl_and_python_reach_what_is_allowed_and_fail_at_once_else():
    need("curl")
    ran = run(doc(), "sh", "-c", """
curl -sv -m 20 https://evil.test/ 2>&1 | grep -c 'response 403'
curl -s -m 20 --noproxy '*' https://evil.test/; echo $?
python3 - <<'END'
import urllib.request
try:
    urllib.request.urlopen("https://evil.test/", timeout=20)
except OSError as e:
    print("403" in str(e))
END
""")
    expect(ran.out.split() == ["1", "6", "True"], ran)


@box_test
def the_link_to_the_gateway_is_not_paced():
    # whatever the machine has for the world outside, also on the way up
    ran = client(policy(["127.0.0.1:%d" % origin.port]), """
for to in (PROXY, ("192.0.2.1", %d), ("2001:db8::1", %d)):
    s = socket.socket(socket.AF_INET6 if ":" in to[0] else socket.AF_INET)
    s.connect_ex(to)  # the last two are reset
    print(s.getsockopt(socket.IPPROTO_TCP, 13, 16).rstrip(b"\\0").decode())
""" % (origin.port, origin.port))
    expect(ran.out == "reno\n" * 3, ran)


main()
