#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Container credentials of AWS in a live box: what an SDK asks and is told,
and everything that gets nothing: no key, other names, paths, methods and
hosts, values that are no credentials, the proxies, and a revoked secret."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from broker_lib import Live, VALUE, box, document, good, put, reasons
from tool_lib import WAIT, box_test, expect, main, status, tool

ASK = r'''
import json, urllib.request, urllib.error, calendar
URI = os.environ.get("AWS_CONTAINER_CREDENTIALS_FULL_URI", "")
TOKEN = os.environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN", "")
def sdk(uri=URI, token=TOKEN, method="GET", data=None, **fields):
    """As an SDK asks: the token as it is, and the proxy as the environment
    has it. The object, or the status."""
    q = urllib.request.Request(uri, method=method, data=data)
    if token is not None:
        q.add_header("Authorization", token)
    for k, v in fields.items():
        q.add_header(k, v)
    try:
        with urllib.request.urlopen(q, timeout=WAIT) as r:
            assert r.headers["Content-Type"] == "application/json"
            return json.load(r)
    except urllib.error.HTTPError as e:
        e.read()
        return e.code
def raw(head, to=("169.254.170.2", 3128)):
    """What is answered; nothing, where the connection is reset."""
    data = b""
    try:
        with socket.create_connection(to, WAIT) as s:
            s.settimeout(WAIT)
            s.sendall(head.encode())
            while True:
                more = s.recv(65536)
                if not more:
                    break
                data += more
    except ConnectionError:
        pass
    return data.decode("latin-1")
def left(answer):
    return calendar.timegm(time.strptime(answer["Expiration"],
                                         "%Y-%m-%dT%H:%M:%SZ")) - time.time()
VALUE = "''' + VALUE[::-1] + '''"[::-1]
'''


def keys(**more):
    value = {"Version": 1, "AccessKeyId": "AKIDEXAMPLE",
             "SecretAccessKey": VALUE + "/+=", "SessionToken": "tok//en=="}
    value.update(more)
    return json.dumps({k: v for k, v in value.items() if v is not None})


def secret(name="cloud", **more):
    return dict({"name": name, "delivery": ["aws"]}, **more)


@box_test
def an_sdk_finds_its_credentials_and_when_they_end():
    put("cloud", keys(AccountId="123456789012"))
    put("soon", keys(Expiration=time.strftime(
        "%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() + 3600)),
        SessionToken=None))
    ran = good(box(document(secret(ttl="2m"), secret("soon", ttl="10h")),
                   ASK + r'''
print(URI, TOKEN == "Bearer " + KEY)
got = sdk()
assert got == {"AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey":
               VALUE + "/+=", "Token": "tok//en==", "AccountId":
               "123456789012", "Expiration": got["Expiration"]}, got
assert 0 < left(got) <= 121, got
# the value's own end is earlier than the lease's
got = sdk(URI.replace("cloud", "soon"))
assert got["Token"] == "" and 600 < left(got) <= 3600, got
row = [l.split("\t") for l in secret("list").stdout.decode().splitlines()]
assert [r[:2] for r in row] == [["cloud", "aws"], ["soon", "aws"]], row
assert 0 < int(row[0][6]) <= 120, row
# by the other ways they are not had
print([ask(v, "cloud")[0] for v in (GET, GET_FILE)],
      ask(RELEASE, "cloud")[0])
'''), "http://169.254.170.2:3128/aws/cloud True",
        "['refused', 'refused'] ok")
    allowed = ran.records("allowed", "aws")
    expect([r["subject"] for r in allowed] == ["cloud", "soon"], ran)
    expect("released" in reasons(ran, "closed"), ran)


@box_test
def without_the_key_or_under_another_name_there_is_nothing():
    put("cloud", keys())
    put("gh")
    ran = good(box(document(
        secret(), secret("seven", euids=[7]), secret("void"),
        {"name": "gh", "delivery": ["memfd"]}, {"name": "routes"}),
        ASK + r'''
top = URI[:-len("cloud")]
print([sdk(token=t) for t in (None, "", KEY, "Bearer " + "0" * 64,
                              "Bearer " + KEY[:-1], "Basic " + KEY)])
print([sdk(top + n) for n in ("other", "gh", "routes", "seven", "void")])
print([sdk(top + n) for n in (
    "", "cloud/", "CLOUD", "../aws/cloud", "cloud?x=1", "%63loud", "cloud%00",
    "x" * 65, "-cloud", "cloud;x")])
print([sdk(top[:-1] + n) for n in ("", "cloud", "/../aws/cloud")],
      sdk(top.replace("/aws/", "/AWS/") + "cloud"))
print([sdk(method=m) for m in ("POST", "PUT", "DELETE", "OPTIONS")],
      sdk(data=b"x"))
'''), "[401, 401, 401, 401, 401, 401]", "[403, 403, 403, 403, 404]",
        str([404, 404, 403, 404, 404, 404, 404, 404, 404, 404]),
        "[404, 404, 404] 404", "[404, 404, 404, 404] 404")
    expect({"not_listed", "delivery", "euid"} <=
           set(reasons(ran, "denied")), ran)
    expect("no_value" in reasons(ran, "failed"), ran)


@box_test
def the_address_leads_nowhere_else():
    """Not to the service that has it elsewhere, not to another port of it,
    and not through a proxy; and not to routes and the like."""
    put("cloud", keys())
    good(box(document(secret()), ASK + r'''
get = "GET /aws/cloud HTTP/1.1\r\nHost: %s\r\nAuthorization: " + TOKEN + \
    "\r\nConnection: close\r\n\r\n"
OK = "HTTP/1.1 200"
print(raw(get % "169.254.170.2:3128").startswith(OK))
# another Host, and the gateway's own address
for host in ("169.254.170.2", "169.254.170.2:80", "169.254.170.23:3128",
             "[fd00:ec2::23]:3128", "localhost:3128", "192.0.0.1:3128", "evil.test:3128"):
    got = raw(get % host)
    assert VALUE not in got and not got.startswith(OK), (host, got)
assert VALUE not in raw(get % "192.0.0.1:3128", ("192.0.0.1", 3128))
for to in (("169.254.170.2", 80), ("169.254.170.23", 3128),
           ("169.254.169.254", 3128), ("169.254.170.2", 443)):
    got = raw(get % "169.254.170.2:3128", to)
    assert VALUE not in got and not got.startswith(OK), (to, got)
import base64
auth = "Proxy-Authorization: Basic " + base64.b64encode(
    ("agentbox:" + KEY).encode()).decode() + "\r\n"
for line in ("GET http://169.254.170.2:3128/aws/cloud",
             "GET http://169.254.170.2/aws/cloud",
             "CONNECT 169.254.170.2:3128", "CONNECT 169.254.170.2:80"):
    for to in (("192.0.0.1", 3128), ("169.254.170.2", 3128)):
        got = raw("%s HTTP/1.1\r\nHost: 169.254.170.2:3128\r\n%s\r\n" % (
            line, auth), to)
        assert got.startswith("HTTP/1.1 4") and VALUE not in got, \
            (line, to, got)
for path in ("/healthz", "/mcp", "/anthropic/v1/messages", "/"):
    got = raw((get % "169.254.170.2:3128").replace("/aws/cloud", path))
    assert path == "/healthz" or got.startswith("HTTP/1.1 404"), (path, got)
print(sdk()["AccessKeyId"])
'''), "True", "AKIDEXAMPLE")


@box_test
def what_are_no_credentials_are_not_passed_on():
    past = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
    bad = [VALUE, "{}", keys(AccessKeyId=None), keys(Expiration=past),
           keys(Expiration="tomorrow"), keys(SecretAccessKey="a\nb"),
           keys(SecretAccessKey=""), "x" * 20000, keys(Token="two")]
    for i, value in enumerate(bad):
        put("s%d" % i, value)
    put("cloud", keys())
    ran = good(box(document(secret(), *[secret("s%d" % i)
                                        for i in range(len(bad))]), ASK + r'''
print([sdk(URI.replace("cloud", "s%%d" %% i)) for i in range(%d)])
print(sdk()["Token"])
''' % len(bad)), str([502] * len(bad)), "tok//en==")
    expect(reasons(ran, "failed") == ["failed"] * len(bad), ran)
    expired = [r["detail"] for r in ran.records("failed", "failed")]
    expect(expired.count("the value has expired") == 1 and
           "expired" in expired[3], expired)


@box_test
def a_box_without_such_a_secret_has_no_such_address():
    put()
    good(box(document(), ASK + r'''
print([k for k in os.environ if k.startswith("AWS_")])
got = raw("GET /aws/gh HTTP/1.1\r\nHost: 169.254.170.2:3128\r\n"
          "Authorization: Bearer %s\r\nConnection: close\r\n\r\n" % KEY)
print("200 OK" in got)
'''), "[]", "False")


@box_test
def a_revoked_secret_is_none_and_a_revoked_identity_asks_nothing():
    put("cloud", keys())
    with Live(document(secret(), identity="ada@acme"), ASK + r'''
said(sdk()["AccessKeyId"])
step(1)
said(sdk())
idle = socket.create_connection(("169.254.170.2", 3128), WAIT)
idle.settimeout(WAIT)
idle.sendall(b"GET /aws/cloud HTTP/1.1\r\n")
said("idle")
try:
    said(len(idle.recv(1)))
except ConnectionError:
    said(0)
try:
    said(sdk())
except OSError:
    said("nothing")
''') as b:
        expect(b.line() == "AKIDEXAMPLE", "no credentials")
        status(tool("secret", "revoke", "cloud"), 0)
        b.go()
        expect(b.line() == "403", "not revoked")
        expect(b.line() == "idle", "no connection")
        status(tool("identity", "revoke", "ada@acme"), 0)
        expect((b.line(), b.line()) == ("0", "nothing"), "goes on")
        expect(b.p.wait(WAIT) == 0, b.p.stderr.read())


if __name__ == "__main__":
    main()
