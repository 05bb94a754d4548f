#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Routes of a live box: an agent with a key that works nowhere else, a model
API that sees the real one, and a search for the real one in everything the
box can look at. Gateway cases 76, 87, 93, 95, 114, 115, 118, 120."""

import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import route_lib
import tool_lib
from gateway_lib import Ran, arguments, need, policy, records_of, resolver, run
from model_lib import HOST, Model, secret_file, take_body
from route_lib import REAL, Upstream
from tool_lib import WAIT, WORK, box_test, expect, main, says, tool


class Api(Model):
    """/v1/messages streams three events, each of which is sent only when the
    box has acknowledged the one before."""

    def __init__(self):
        self.acks = [threading.Event() for _ in range(3)]
        super().__init__("good")

    def answer(self, peer, request):
        target = request.line.split(" ")[1]
        if target == "/v1/full":
            peer.answer(b"full", "413 Content Too Large")
            return False
        take_body(peer, request)
        if target.startswith("/v1/ack/"):
            self.acks[int(target[8:])].set()
            peer.answer(b"{}")
        elif target == "/v1/messages":
            return self.stream(peer, request.get("x-api-key"))
        elif target.startswith("/v1/bulk/"):
            peer.answer(b"x" * int(target[9:]))
        else:
            peer.answer(b"?", "404 Not Found")
        return True

    def stream(self, peer, key):
        peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                  "Transfer-Encoding: chunked\r\nX-Echo: %s\r\n\r\n" % key)
        for i in range(3):
            data = "data: %d\n\n" % i
            peer.send("%x\r\n%s\r\n" % (len(data), data))
            if not self.acks[i].wait(WAIT):
                return False
            self.acks[i].clear()
        peer.send("0\r\n\r\n")
        return True


api = Api()


def document(routes=None, **more):
    routes = routes or [api.route("/anthropic")]
    return policy([], private=("127.0.0.0/8", HOST), routes=routes,
                  secrets=[{"name": "key", "hosts": [HOST]}], **more)


def box(document, script, *options,
        given=("--secret", "key=" + secret_file)):
    """The script in a box that was given the secret."""
    log, argv = arguments(document, "python3", "-c", script)
    argv[1:1] = options or given
    done = tool(*argv, timeout=3 * WAIT)
    expect(REAL.encode() not in done.out + done.err, done)
    with open(log) as f:
        expect(REAL not in f.read(), "the audit has the secret")
    return Ran(done, records_of(log))


AGENT = r'''
import http.client, os, socket, sys
from urllib.parse import urlsplit
url = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
key = os.environ["ANTHROPIC_API_KEY"]
def ask(method, path, body=None, fields=None, prefix=None):
    c = http.client.HTTPConnection(url.hostname, url.port, timeout=%d)
    c.request(method, (url.path if prefix is None else prefix) + path, body,
              {"x-api-key": key} if fields is None else fields)
    return c.getresponse()
''' % WAIT

SEARCH = r'''
import hashlib, re
WANTED = %r
FORM = re.compile(rb"real-[0-9a-f]{40}")
seen = set()
def look(where, data):
    for m in FORM.findall(data):
        if hashlib.sha256(m).hexdigest() in WANTED:
            seen.add(where)
def look_file(path, most=1 << 22):
    try:
        with open(path, "rb") as f:
            look(path, f.read(most))
    except OSError:
        pass
def look_memory(pid):
    try:
        with open("/proc/%%s/maps" %% pid) as maps, \
                open("/proc/%%s/mem" %% pid, "rb") as mem:
            for line in maps:
                span, rights = line.split()[:2]
                if rights[0] != "r" or line.endswith("[vvar]\n"):
                    continue
                a, b = (int(x, 16) for x in span.split("-"))
                try:
                    mem.seek(a)
                    look("memory", mem.read(b - a))
                except (OSError, ValueError, OverflowError):
                    pass
    except OSError:
        pass
def search():
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            for name in ("environ", "cmdline", "status", "mountinfo"):
                look_file("/proc/%%s/%%s" %% (pid, name))
            look_memory(pid)
    for top in ("/workspace", "/tmp", "/dev", "/run", "/home", "/etc",
                "/var", "/root"):
        for here, dirs, files in os.walk(top):
            for name in files:
                path = os.path.join(here, name)
                if os.path.isfile(path):
                    look_file(path)
    for name in ("/proc/net/unix", "/proc/self/mounts", "/proc/keys"):
        look_file(name)
    return sorted(seen)
'''


def hashes(*values):
    return [hashlib.sha256(v.encode()).hexdigest() for v in values]


@box_test
def row_116_a_rate_of_bytes_holds_for_routes():
    ran = box(document(network={"rate": {"bytes_per_second": "128KiB"}}),
              AGENT + """
import time
began = time.monotonic()
for i in range(2):
    print(len(ask("GET", "/v1/bulk/%d" % (192 << 10)).read()))
print(time.monotonic() - began)
""")
    rows = ran.out.split()
    expect(rows[:2] == [str(192 << 10)] * 2, ran)
    expect(float(rows[2]) > 0.9 * (2 * 192 - 128) / 128, ran)


@box_test
def row_116_with_nothing_left_of_a_budget_no_head_is_sent():
    before = len(api.heads)
    ran = box(document(network={"budget": {"bytes": "64KiB"}}), AGENT + """
try:
    print(len(ask("GET", "/v1/bulk/%d" % (512 << 10)).read()) < 512 << 10)
except (http.client.HTTPException, OSError):
    print(True)
print(ask("GET", "/v1/bulk/1").status)
""")
    expect(ran.out == "True\n429\n", ran)
    expect(len(api.heads) == before + 1, api.heads[before:])
    expect(ran.records("denied", "rate"), ran)


@box_test
def row_117_a_names_budget_holds_for_its_route():
    before = len(api.heads)
    ran = box(document(network={"names": [
        {"name": HOST, "budget": {"requests": 2, "bytes": "1MiB"}},
        {"name": "other.test", "budget": {"requests": 1}}]}), AGENT + """
print(*[ask("GET", "/v1/bulk/1").status for _ in range(4)])
""")
    expect(ran.out == "200 200 429 429\n", ran)
    expect(len(api.heads) == before + 2, api.heads[before:])


@box_test
def row_116_a_names_rate_of_bytes_holds_for_its_route():
    ran = box(document(network={"names": [
        {"name": HOST, "rate": {"bytes_per_second": "256KiB"}},
        {"name": "other.test", "rate": {"bytes_per_second": "1KiB"}}]}),
              AGENT + """
import time
began = time.monotonic()
print(len(ask("GET", "/v1/bulk/%d" % (512 << 10)).read()))
print(time.monotonic() - began)
""")
    rows = ran.out.splitlines()
    expect(rows[0] == "%d" % (512 << 10), ran)
    expect(float(rows[1]) > 0.95, ran)


@box_test
def row_116_a_routes_rate_of_bytes_is_its_own():
    """All of its requests share it, both ways; the other route has none. A
    second's bytes are there from the start, so that three seconds' need two;
    what the other one moves would need 15 here."""
    routes = document()["routes"]
    slow = dict(routes[0], prefix="/slow",
                rate={"bytes_per_second": "256KiB"})
    ran = box(document(routes + [slow]), AGENT + """
import threading, time
def bulk(prefix, kib=256):
    print(len(ask("GET", "/v1/bulk/%%d" %% (kib << 10), prefix=prefix).read()))
began = time.monotonic()
bulk("/slow")
threads = [threading.Thread(target=bulk, args=("/slow",)) for _ in range(2)]
for t in threads: t.start()
for t in threads: t.join()
print(time.monotonic() - began)
began = time.monotonic()
bulk("%s", 4096)
print(time.monotonic() - began)
""" % routes[0]["prefix"])
    rows = ran.out.split()
    expect(rows[:3] == ["%d" % (256 << 10)] * 3, ran)
    expect(float(rows[3]) > 1.9, ran)
    expect(rows[4] == "%d" % (4 << 20) and float(rows[5]) < 10, ran)


@box_test
def row_116_a_names_connections_hold_for_its_route():
    """One is under way for as long as the client does not read it: it is more
    than sockets hold."""
    size = 32 << 20
    ran = box(document(network={"names": [
        {"name": HOST, "rate": {"connections": 1}},
        {"name": "other.test", "rate": {"connections": 7}}]}), AGENT + """
r = ask("GET", "/v1/bulk/%d")
print(r.status, ask("GET", "/v1/bulk/1").status, len(r.read()))
print(ask("GET", "/v1/bulk/1").status)
""" % size)
    expect(ran.out == "200 429 %d\n200\n" % size, ran)
    expect(ran.records("denied", "connections"), ran)


def with_program(*command):
    doc = document()
    doc["secrets"][0]["command"] = list(command)
    return doc


@box_test
def what_is_injected_may_come_from_a_program():
    before = len(api.heads)
    ran = box(with_program("/bin/cat", secret_file), AGENT + SEARCH % hashes(
        REAL) + """
print(ask("GET", "/v1/bulk/1").status, search())
""", given=())
    expect(ran.out == "200 []\n", ran)
    expect([h.all("x-api-key") for h in api.heads[before:]] == [[REAL]],
           ran)
    told = ran.records("gateway", "program")
    expect([r["detail"] for r in told] == ["/bin/cat"], ran)


@box_test
def a_program_without_a_value_raises_no_box():
    for script, words in (("echo locked >&2; exit 3",
                           "exit status 3: locked"),
                          ("echo short", "8 printable"),
                          ("true", "printed nothing"),
                          ("sleep 1000", "did not end within 9 s")):
        done = tool(*arguments(with_program("/bin/sh", "-c", script),
                               "true")[1], timeout=3 * WAIT)
        expect(done.status == 125, done)
        says(done, words)


@box_test
def an_agent_streams_from_a_model_without_ever_seeing_the_real_key():
    before = len(api.heads)
    ran = box(document(), AGENT + SEARCH % hashes(REAL) + r'''
r = ask("POST", "/v1/messages", b"{}", {
    "x-api-key": key, "authorization": "Bearer attacker",
    "anthropic-version": "2023-06-01"})
print(r.status, r.getheader("content-type"))
echo = r.getheader("x-echo")
print(set(echo) == {"*"})
for i in range(3):
    print(r.readline().decode().strip(), r.readline())
    # the next event comes only after this
    ask("GET", "/v1/ack/%d" % i).read()
print(r.read())
print(search())
''')
    expect(ran.out == "200 text/event-stream\nTrue\n"
           "data: 0 b'\\n'\ndata: 1 b'\\n'\ndata: 2 b'\\n'\nb''\n[]\n", ran)
    first = api.heads[before]
    expect(first.all("x-api-key") == [REAL], first.raw)
    expect(first.get("authorization") is None, first.raw)
    expect(first.get("anthropic-version") == "2023-06-01", first.raw)
    r = ran.records("allowed")
    expect(r and r[0]["how"] == "route" and r[0]["rule"] == "/anthropic" and
           r[0]["detail"] == "POST /v1/messages", ran)


@box_test
def an_early_answer_is_not_lost_to_the_rest_of_an_upload():
    # what still comes is read for a while: one of these is in time
    ran = box(document(), AGENT + r'''
import select, time
def upload():
    s = socket.create_connection((url.hostname, url.port), timeout=%d)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.sendall(("POST %%s/v1/full HTTP/1.1\r\nHost: %%s:%%d\r\n"
               "x-api-key: %%s\r\nContent-Length: 10000000\r\n\r\n" %% (
                   url.path, url.hostname, url.port, key)).encode())
    s.sendall(b"x" * 1000)
    select.select([s], [], [], %d)
    try:
        for i in range(10):
            s.sendall(b"x" * 1000)
            time.sleep(0.02)
    except ConnectionError:
        return "reset"
    data = b""
    try:
        while not data.endswith(b"full"):
            more = s.recv(4096)
            if not more:
                break
            data += more
    except ConnectionError:
        return "reset"
    return "%%s %%s" %% (data.split(b" ")[1].decode(), data[-4:].decode())
for i in range(20):
    got = upload()
    if got != "reset":
        break
print(got)
''' % (WAIT, WAIT))
    expect(ran.out == "413 full\n", ran)


@box_test
def the_search_finds_what_is_there():
    planted = "real-" + secrets.token_hex(20)
    path = os.path.join(WORK, "planted")
    with open(path, "w") as f:
        f.write("x" * 5000 + planted)
    try:
        ran = box(document(), AGENT + SEARCH % hashes(planted) + r'''
held = open("/workspace/planted").read()
print(search())
''')
    finally:
        os.unlink(path)
    expect(ran.out == "['/workspace/planted', 'memory']\n", ran)


@box_test
def the_hosts_of_routes_are_reached_by_their_routes_alone():
    asked = len(resolver.asked)
    accepted = api.up.accepted
    ran = box(dict(document(), network=dict(
        document()["network"], allow=["%s:%d" % (HOST, api.port), "*"])),
        AGENT + r'''
import base64
auth = base64.b64encode(("agentbox:" + key).encode()).decode()
for target in ("%s:%d", "%s:443"):
    s = socket.create_connection((url.hostname, url.port), 30)
    s.sendall(("CONNECT %%s HTTP/1.1\r\nHost: %%s\r\nProxy-Authorization: "
               "Basic %%s\r\n\r\n" %% (target, target, auth)).encode())
    text = s.recv(4096).decode()
    print(text.split(" ")[1], "routed" in text)
try:
    print(socket.getaddrinfo("%s", 443))
except socket.gaierror:
    print("no name")
''' % (HOST, api.port, HOST, HOST))
    expect(ran.out == "403 True\n403 True\nno name\n", ran)
    expect(len(resolver.asked) == asked and api.up.accepted == accepted, ran)
    expect(ran.records("denied", "routed"), ran)


@box_test
def without_the_key_or_off_the_route_there_is_nothing():
    accepted = len(api.heads)
    ran = box(document(), AGENT + r'''
for method, path, fields, prefix in (
        ("GET", "/v1/models", {}, None),
        ("GET", "/v1/models", {"x-api-key": "0" * 64}, None),
        ("GET", "/v1/models?key=" + key, {}, None),
        ("GET", "/v1/models", None, "/openai"),
        ("GET", "/v1/models", None, "/anthropic/../openai"),
        ("POST", "/v1/files", None, None),
        ("GET", "/v1/models?api_key=x", None, None)):
    r = ask(method, path, None, fields, prefix)
    print(r.status, r.getheader("x-agentbox-reason"))
r = ask("GET", "/healthz", None, {}, "")
print(r.status)
''')
    expect(ran.out.splitlines() == [
        "401 key", "401 key", "401 key", "404 no_route", "400 path_dot",
        "403 route_closed", "400 query_credential", "200"], ran)
    expect(len(api.heads) == accepted, ran)
    expect(ran.records("denied", "route_closed"), ran)


@box_test
def a_route_without_its_secret_answers_503():
    ran = box(document(), AGENT + r'''
r = ask("GET", "/v1/models")
print(r.status, r.getheader("x-agentbox-reason"))
''', "--no-tty")
    expect(ran.out == "503 no_secret\n", ran)


@box_test
def a_revoked_secret_is_injected_no_more():
    """By whichever way the box has it: `injected` is in a route alone, of
    `both` processes of the box have a lease as well."""
    from broker_lib import Live, put
    put("both", REAL)
    doc = document([{"prefix": "/" + n, "preset": "anthropic",
                     "upstream": "https://%s:%d" % (HOST, api.port),
                     "ca": api.ca, "inject": {"secret": n}}
                    for n in ("key", "injected", "both")])
    doc["secrets"] = [{"name": "key"}, {"name": "injected"},
                      {"name": "both", "delivery": ["inject", "memfd"]}]
    given = [a for n in ("key", "injected", "both")
             for a in ("--secret", "%s=%s" % (n, secret_file))]
    with Live(doc, "leased = ask\n" + AGENT + r'''
def say():
    said([ask("GET", "/v1/models", prefix="/" + n).status
          for n in ("key", "injected", "both")])
    said(leased(GET, "both")[0])
say()
streams = [ask("POST", "/v1/messages", "{}", prefix="/" + n)
           for n in ("injected", "both")]
said([r.readline() for r in streams])
for r in streams:
    # what there was of it may still be read
    try:
        while r.readline():
            pass
        said("ended")
    except (OSError, http.client.HTTPException):
        said("cut")
say()
step(1)
''', *given) as b:
        expect([b.line() for _ in range(3)] == [
            "[404, 404, 404]", "ok", "[b'data: 0\\n', b'data: 0\\n']"], b)
        for name, least in (("injected", 1), ("both", 2)):
            done = tool("secret", "revoke", name, "--json")
            expect(done.status == 0 and len(done.json) == 1 and
                   done.json[0]["cut"] >= least, done)
        lines = [b.line() for _ in range(4)]
        expect(lines[0] in ("cut", "ended") and lines[1] in ("cut", "ended")
               and lines[2:] == ["[404, 503, 503]", "refused"], lines)
        b.go()
        expect(b.p.wait(WAIT) == 0, b.p.stderr.read())


@box_test
def the_systems_list_of_authorities_is_there_after_confinement():
    routes = [{"prefix": "/anthropic", "preset": "anthropic",
               "upstream": "https://%s:%d" % (HOST, api.port),
               "inject": {"secret": "key"}}]
    ran = box(document(routes), AGENT + r'''
r = ask("GET", "/v1/models")
print(r.status, r.getheader("x-agentbox-reason"))
''')
    expect(ran.out == "502 tls_untrusted\n", ran)
    expect(ran.records("failed", "tls_untrusted"), ran)


@box_test
def a_secret_that_others_can_read_is_refused():
    loose = route_lib.write("loose", REAL)
    os.chmod(loose, 0o644)
    link = os.path.join(route_lib.TOP, "link")
    os.symlink(secret_file, link)
    from gateway_lib import files
    doc, _ = files(document())
    for name, word in ((loose, "0600"), (link, "symbolic"),
                       ("/dev/null", "regular"), (route_lib.TOP, "regular"),
                       (route_lib.TOP + "/none", "none': No such file")):
        done = tool("run", "--policy", doc, "--secret", "key=" + name, "--",
                    "true")
        expect(done.status == (4 if "No such" in word else 3), done)
        says(done, word)
    two = route_lib.write("two", "line-one\nline-two")
    for text, word in (("key=" + two, "one line"),
                       ("other=" + secret_file, "no route injects")):
        done = tool("run", "--policy", doc, "--secret", text, "--", "true")
        expect(done.status != 0, done)
        says(done, word)


def needs_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        raise tool_lib.Skip("no IPv6 on this machine's loopback")


def six(upstream, private, handle=None, **more):
    """A route to an upstream on ::1, in a box; what that saw, and the box."""
    heads = []

    def script(peer):
        while True:
            request = peer.head()
            if not request:
                return
            heads.append(request)
            peer.answer(b"six")

    up = Upstream(script, api.authority.cert("six", "IP:::1,DNS:six.test"),
                  at="::1")
    host = upstream % up.port
    routes = [{"prefix": "/six", "upstream": "https://" + host, "ca": api.ca,
               "inject": {"secret": "key", "header": "x-api-key"}}]
    doc = policy([], private=private, routes=routes, secrets=[
        {"name": "key", "hosts": [host]}], **more)
    ran = box(doc, r'''
import http.client, os
from urllib.parse import urlsplit
url = urlsplit(os.environ["AGENTBOX_ROUTES"])
c = http.client.HTTPConnection(url.hostname, url.port, timeout=%d)
for i in range(2):
    c.request("GET", "/six/v1", None, {"x-api-key": os.environ["AGENTBOX_KEY"]})
    r = c.getresponse()
    print(r.status, r.getheader("x-agentbox-reason"), r.read().decode())
''' % WAIT)
    return host, heads, up.accepted, ran


@box_test
def an_upstream_is_reached_by_ipv6_as_a_name_and_as_an_address():
    needs_ipv6()
    resolver.names["six.test"] = ["::1"]
    for upstream, private in (("[::1]:%d", ["::1"]),
                              ("six.test:%d", ["::1/128", "six.test"])):
        host, heads, accepted, ran = six(upstream, private)
        expect(ran.out == "200 None six\n" * 2, ran)
        expect([h.get("x-api-key") for h in heads] == [REAL] * 2 and
               [h.get("host") for h in heads] == [host] * 2, heads)
        # one connection serves both
        expect(accepted == 1, accepted)
        expect(ran.records("allowed")[0]["subject"] == host, ran)


@box_test
def an_ipv6_upstream_that_nothing_opens_is_refused():
    needs_ipv6()
    resolver.names["six.test"] = ["::1"]
    resolver.names["mapped.test"] = ["::ffff:127.0.0.1"]
    resolver.names["both.test"] = ["::1", "127.0.0.1"]
    for upstream, private in (("[::1]:%d", []), ("six.test:%d", ["six.test"]),
                              ("six.test:%d", ["::1/128"]),
                              ("[::ffff:127.0.0.1]:%d", ["::1/128"]),
                              ("mapped.test:%d", ["::1/128", "mapped.test"]),
                              ("both.test:%d", ["::1/128", "both.test"]),
                              ("[64:ff9b::7f00:1]:%d", ["::1/128"]),
                              ("[fe80::1]:%d", ["::1/128"])):
        host, heads, accepted, ran = six(upstream, private)
        expect(not accepted and not heads and not any(
            x.startswith("200") for x in ran.out.splitlines()),
               (upstream, private, ran))
        expect(ran.records("failed") or ran.done.status, (upstream, ran))


@box_test
def a_route_with_authorities_that_are_not_there_is_refused_by_name():
    routes = document()["routes"]
    routes[0]["ca"] = "/nonexistent.pem"
    says(run(document(routes), "true").done, "/nonexistent.pem")


@box_test
def git_in_a_box_fetches_and_may_not_push():
    need("git")
    env = {"PATH": os.environ["PATH"], "HOME": route_lib.TOP,
           "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a",
           "GIT_AUTHOR_EMAIL": "a@a.test", "GIT_COMMITTER_NAME": "a",
           "GIT_COMMITTER_EMAIL": "a@a.test"}

    def git(*args):
        subprocess.run(["git", "-c", "init.defaultBranch=main", *args],
                       cwd=route_lib.TOP, env=env, check=True,
                       stdin=subprocess.DEVNULL)

    git("init", "-q", "work")
    with open(os.path.join(route_lib.TOP, "work", "README"), "w") as f:
        f.write("hello\n")
    git("-C", "work", "add", "README")
    git("-C", "work", "commit", "-qm", "one")
    git("clone", "-q", "--bare", "work", "shop.git")
    git("-C", "shop.git", "config", "http.receivepack", "true")
    lines = []

    def script(peer):
        while True:
            request = peer.head()
            if not request:
                return
            lines.append(request.line)
            body = b""
            if request.get("transfer-encoding"):
                while True:
                    n = int(peer.until(b"\r\n"), 16)
                    body += peer.exactly(n)
                    peer.exactly(2)
                    if not n:
                        break
            else:
                body = peer.exactly(int(request.get("content-length") or 0))
            path, _, query = request.line.split(" ")[1].partition("?")
            out = subprocess.run(["git", "http-backend"], input=body, env=dict(
                env, REQUEST_METHOD=request.line.split(" ")[0],
                PATH_INFO=path, QUERY_STRING=query, GIT_HTTP_EXPORT_ALL="1",
                GIT_PROJECT_ROOT=route_lib.TOP,
                CONTENT_TYPE=request.get("content-type") or "",
                GIT_PROTOCOL=request.get("git-protocol") or "",
                HTTP_CONTENT_ENCODING=request.get("content-encoding") or "",
                CONTENT_LENGTH=str(len(body)), REMOTE_USER="bot",
                REMOTE_ADDR="127.0.0.1"), stdout=subprocess.PIPE).stdout
            fields, _, data = out.partition(b"\r\n\r\n")
            peer.answer(data, fields=fields.decode() + "\r\n")

    up = Upstream(script, api.cert)
    routes = [{"prefix": "/git/shop", "kind": "git", "access": "read",
               "upstream": "https://%s:%d/shop.git" % (HOST, up.port),
               "ca": api.ca, "inject": {"secret": "key", "user": "bot"}}]
    ran = box(document(routes), r'''
import os, subprocess
key = os.environ["AGENTBOX_KEY"]
url = os.environ["AGENTBOX_ROUTES"].replace("http://", "http://box:%s@" % key)
env = dict(os.environ, HOME="/tmp", GIT_TERMINAL_PROMPT="0")
def git(*args):
    p = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@a",
                        *args], env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return p.returncode, p.stdout.decode()
print(git("clone", "-q", url + "/git/shop", "/tmp/shop"))
print(open("/tmp/shop/README").read())
git("-C", "/tmp/shop", "commit", "--allow-empty", "-qm", "mine")
code, text = git("-C", "/tmp/shop", "push", "-q", "origin", "HEAD:main")
print(code != 0, "403" in text)
''')
    expect(ran.out == "(0, '')\nhello\n\nTrue True\n", ran)
    expect(ran.records("denied", "push_denied"), ran)
    expect(lines and not any("receive-pack" in l for l in lines), lines)


main()
