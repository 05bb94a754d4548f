#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The credential helper of git in a live box: git as it is, a server that
wants a password, and everybody who may not have it: other hosts, ports and
users, other protocols, answers that would be more than a password."""

import base64
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import route_lib
from broker_lib import VALUE, box, document, good, put, reasons
from gateway_lib import need, policy, resolver
from route_lib import Authority, Upstream
from tool_lib import WAIT, WORK, box_test, expect, main, status, tool

HOST = "git.test"
FILL = r'''
def fill(*lines, **env):
    """What git would log in with, or None."""
    p = subprocess.run(["git", "credential", "fill"], timeout=WAIT,
                       input="".join(l + "\n" for l in lines).encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env=dict(os.environ, GIT_TERMINAL_PROMPT="0", **env))
    got = dict(l.split("=", 1) for l in p.stdout.decode().splitlines())
    return (got["username"], got["password"]) if "password" in got else None
def helper(operation, text):
    p = subprocess.run([TOOL, "git", operation], input=text,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=WAIT)
    return p.returncode, p.stdout, p.stderr
VALUE = "%s"[::-1]
''' % VALUE[::-1]


def secret(name="gh", **more):
    return dict({"name": name, "delivery": ["git"], "hosts": [HOST]}, **more)


@box_test
def git_logs_in_where_the_policy_has_a_password():
    need("git", "openssl")
    put(value=VALUE + "\n")
    ca = Authority("git")
    shutil.copy(ca.ca, os.path.join(WORK, "ca.crt"))
    seen = []

    def script(peer):
        while True:
            request = peer.head()
            if not request:
                return
            auth = request.get("authorization")
            seen.append((request.line.split(" ")[1].split("?")[0], auth))
            if not auth:
                peer.answer(b"", "401 Unauthorized",
                            'WWW-Authenticate: Basic realm="r"\r\n')
            elif "info/refs" in request.line:
                peer.answer(b"1" * 40 + b"\trefs/heads/main\n")
            else:
                peer.answer(b"ref: refs/heads/main\n")

    up = Upstream(script, ca.cert("git", "DNS:" + HOST))
    resolver.names[HOST] = ["127.0.0.1"]
    at = "%s:%d" % (HOST, up.port)
    doc = policy([at], private=("127.0.0.0/8", HOST),
                 secrets=[secret(user="bot", hosts=[at])],
                 env={"set": {"HOME": "/tmp"}})
    ran = box(doc, r'''
p = subprocess.run(["git", "-c", "http.sslCAInfo=/workspace/ca.crt",
                    "ls-remote", "https://%s/r.git"],
                   stdout=subprocess.PIPE, timeout=WAIT)
print(p.stdout.decode().split())
''' % at)
    good(ran, str(["1" * 40, "HEAD", "1" * 40, "refs/heads/main"]))
    want = "Basic " + base64.b64encode(("bot:" + VALUE).encode()).decode()
    expect(seen[0][1] is None and {a for _, a in seen[1:]} == {want}, seen)
    allowed = ran.records("allowed", "git")
    expect(allowed and {r["subject"] for r in allowed} == {"gh"}, ran)


@box_test
def only_the_host_port_and_user_of_the_policy_are_answered():
    put()
    put("any", "of-any")
    ran = good(box(document(
        secret(hosts=[HOST + ":443", "*.below.test", "10.0.0.7:8443",
                      "[2001:db8::7]:443"], user="bot"),
        secret("any", hosts=["any.test"])), FILL + r'''
mine = ("bot", VALUE)
HTTPS = "protocol=https"
for host in ("git.test", "git.test:443", "GIT.test", "git.test.",
             "a.b.below.test:9", "10.0.0.7:8443", "[2001:db8::7]"):
    assert fill(HTTPS, "host=" + host) == mine, host
for host in ("git.test:444", "git.test:0", "git.test:0443", "git.test:",
             "git.test:443:443", "x.git.test", "git.test.evil.test",
             "below.test", "10.0.0.7", "10.0.0.8:8443", "0x0a.0.0.7:8443",
             "git.test@evil.test", "evil.test@git.test", "bot@git.test",
             "git.test/x", "git.test%00", "git.test#", "git.test?",
             "git\u2024test", "*", "*.below.test", "gh", "h" * 300, " ",
             "2001:db8::7", "[2001:db8::7%25lo]"):
    assert fill(HTTPS, "host=" + host) is None, host
for protocol in ("http", "HTTPS", "ssh", "https ", "httpsx", "cert", ""):
    assert fill("protocol=" + protocol, "host=git.test") is None, protocol
assert fill(HTTPS) is None and fill("host=git.test") is None
assert fill(HTTPS, "host=git.test", "username=bot") == mine
assert fill(HTTPS, "host=git.test", "username=eve") is None
assert fill(HTTPS, "host=git.test", "username=" + "u" * 300) is None
assert fill(HTTPS, "host=git.test", "path=a/b.git") == mine
# one without a user is for whom git says, and for somebody
assert fill(HTTPS, "host=any.test", "username=eve") == ("eve", "of-any")
assert fill(HTTPS, "host=any.test") == ("x-access-token", "of-any")
# by its name it is not had
print([ask(v, "gh")[0] for v in (GET, GET_FILE)])
'''), "['refused', 'refused']")
    expect({"not_listed", "malformed"} <= set(reasons(ran, "denied")), ran)


@box_test
def of_two_passwords_of_one_host_the_user_says_which():
    put("two", "of-two")
    ran = good(box(document(
        secret("one", hosts=["both.test"], user="me"),
        secret("two", hosts=["*.test", "both.test"], user="you"),
        secret("seven", hosts=["seven.example"], euids=[7]),
        {"name": "of-routes", "hosts": ["route.example"]},
        {"name": "by-name", "delivery": ["memfd"],
         "hosts": ["name.example"]}), FILL + r'''
def at(host, *user):
    return fill("protocol=https", "host=" + host, *user)
print(at("both.test"), at("both.test", "username=you"), at("a.test"),
      at("both.test", "username=me"), at("seven.example"),
      at("route.example"), at("name.example"))
'''), "None ('you', 'of-two') ('you', 'of-two') None None None None")
    expect(reasons(ran, "denied") == ["ambiguous", "euid", "not_listed",
                                      "not_listed"], ran)
    expect(reasons(ran, "failed") == ["no_value"], ran)


@box_test
def a_value_that_is_more_than_a_password_is_none():
    bad = ["a\nusername=x\n", "a\r\n", "a\x00b", "\n", "a\tb", "a\x7f",
           "a\n\n"]
    for i, value in enumerate(bad):
        put("s%d" % i, value)
    put("ok", "p\u00e4ss w=rd\n")
    good(box(document(secret("ok", hosts=["ok.test"]), *[
        secret("s%d" % i, hosts=["s%d.test" % i]) for i in range(len(bad))]),
        FILL + r'''
for i in range(%d):
    assert fill("protocol=https", "host=s%%d.test" %% i) is None, i
    code, out, err = helper("get", b"protocol=https\nhost=s%%d.test\n" %% i)
    assert code and not out and b"no password" in err, (i, code, out, err)
print(fill("protocol=https", "host=ok.test") ==
      ("x-access-token", "p\u00e4ss w=rd"))
''' % len(bad)), "True")


@box_test
def nothing_is_stored_erased_or_said_to_what_is_not_known():
    put()
    ran = good(box(document(secret(ttl="60s")), FILL + r'''
lines = b"protocol=https\nhost=git.test\nusername=x\npassword=y\n\n"
for operation in ("store", "erase", "capability", "", "GET", "get\n"):
    assert helper(operation, lines) == (0, b"", b""), operation
# more than a pipe holds: who writes is not hurt
assert helper("store", lines * 20000) == (0, b"", b"")
assert helper("get", b"protocol=https\nhost=other.test\n") == (0, b"", b"")
code, out, err = helper("get", b"host=git.test\0\nprotocol=https\n")
assert code and not out, out
code, out, err = helper("get", b"x" * 65536)
assert code and not out, out
# the first empty line ends it, what is unknown is nothing
code, out, err = helper("get", b"capability[]=authtype\nwwwauth[]=Basic\n"
                        b"protocol=https\nhost=git.test\n\nhost=evil.test\n")
now = time.time()
got = dict(l.split("=", 1) for l in out.decode().splitlines())
assert sorted(got) == ["password", "password_expiry_utc", "username"], got
assert 0 < int(got["password_expiry_utc"]) - now <= 61, (got, now)
row = secret("list").stdout.decode().rstrip("\n").split("\t")
assert row[:3] == ["gh", "git", "60"] and 0 < int(row[5]) <= 60, row
assert secret("release", "gh").returncode == 0
print(secret("git").returncode, secret("git", "get", "x").returncode)
'''), "2 2")
    expect("released" in reasons(ran, "closed"), ran)


@box_test
def a_box_without_such_a_secret_has_no_helper():
    put()
    good(box(document(), r'''
print([k for k in os.environ if k.startswith("GIT_")])
print(subprocess.run([TOOL, "git", "get"], stdout=subprocess.PIPE,
                     input=b"protocol=https\nhost=git.test\n").stdout)
'''), "[]", "b''")


@box_test
def a_revoked_password_is_none_from_then_on():
    from broker_lib import Live
    put()
    with Live(document(secret()), FILL + r'''
HOW = ("protocol=https", "host=git.test")
said(fill(*HOW) == ("x-access-token", VALUE))
step(1)
said(fill(*HOW))
''') as b:
        expect(b.line() == "True", "no password")
        done = status(tool("secret", "revoke", "gh", "--json"), 0)
        expect(VALUE not in str(done.out), done)
        b.go()
        expect(b.line() == "None", "still there")
        expect(b.p.wait(WAIT) == 0, b.p.stderr.read())


if __name__ == "__main__":
    main()
