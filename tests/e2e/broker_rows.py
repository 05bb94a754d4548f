#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Single questions to the broker of one live box, each with what has to come
of it: AWS's endpoint, git's helper, files, leases. And what a box has whose
policy was narrowed by a parent's. Gateway cases 36, 140, 141, 145, 146."""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from broker_lib import VALUE, box, document, good, put
from tool_lib import TOP, box_test, expect, main, status, tool, write

TOOLS = r'''
def http(text, to=("169.254.170.2", 3128), token=True):
    """The status of each answer that comes; "reset" where none does."""
    data = b""
    if token:
        text = text.replace("\r\n\r\n", "\r\nAuthorization: Bearer " + KEY
                            + "\r\n\r\n", 1)
    try:
        with socket.create_connection(to, WAIT) as s:
            s.settimeout(WAIT)
            s.sendall(text.encode("latin-1"))
            while True:
                more = s.recv(65536)
                if not more:
                    break
                data += more
    except OSError:
        pass
    assert (VALUE in data.decode("latin-1")) == (b" 200 " in data)
    return " ".join(l.split(" ")[1] for l in data.decode("latin-1").split(
        "\r\n") if l.startswith("HTTP/1.")) or "reset"
H = "Host: 169.254.170.2:3128\r\n"
def aws(path, fields="", method="GET", version="1.1", body="", host=H):
    return http("%s %s HTTP/%s\r\n%s%s\r\n%s" % (method, path, version, host,
                                                 fields, body))
def git(text, operation="get"):
    p = subprocess.run([TOOL, "git", operation], stdout=subprocess.PIPE,
                       input=text if isinstance(text, bytes)
                       else text.encode("latin-1"),
                       stderr=subprocess.PIPE, timeout=WAIT)
    got = dict(l.split("=", 1) for l in p.stdout.decode().splitlines())
    assert not got or got["password"] == VALUE
    return got.get("username", "as asked") if got else "none" if p.returncode == 0 \
        else "failed"
def at(host, *more):
    return git("".join(l + "\n" for l in ("protocol=https", "host=" + host,
                                          *more)))
def fails(f):
    try:
        f()
    except OSError as e:
        return errno.errorcode[e.errno]
    return "done"
def size(name):
    return os.stat(FILE + name).st_size > 0
def lease(name, column):
    for line in secret("list").stdout.decode().splitlines():
        words = line.split("\t")
        if words[0] == name:
            return words[3 + column]
def left(name, column):
    return lease(name, column) != "-"
def q(verb, name, key=KEY):
    return ask(verb, name, key)[0]
def lasts(name, seconds):
    began = time.monotonic()
    if q(GET, name) != "ok":
        return "refused"
    left = int(lease(name, 0))
    return seconds - (time.monotonic() - began) <= left <= seconds or left
'''

# what is asked, and what comes of it
ROWS = [
    # --- AWS
    ("aws('/aws/cloud')", "200"),
    ("aws('/aws/cloud', version='1.0')", "200"),
    ("aws('/aws/cloud', 'X-A: b\\r\\n')", "200"),
    ("aws('/aws/cloud', method='HEAD')", "404"),
    ("aws('/aws/cloud', method='get')", "404"),
    ("aws('/aws/cloud', 'Content-Length: 1\\r\\n', body='x')", "404"),
    ("aws('/aws/cloud', 'Transfer-Encoding: chunked\\r\\n', "
     "body='0\\r\\n\\r\\n')", "404"),
    # of fields with a credential one has to be the key, as with routes, and
    # each is there once
    ("aws('/aws/cloud', 'Proxy-Authorization: Bearer x\\r\\n')", "200"),
    ("aws('/aws/cloud', 'Authorization: Bearer x\\r\\n')", "400"),
    ("aws('/aws/cloud', 'Authorization: Bearer x\\r\\n' * 4)", "400"),
    ("http('GET /aws/cloud HTTP/1.1\\r\\n' + H + '\\r\\n', token=False)",
     "401"),
    ("http('GET /aws/cloud HTTP/1.1\\r\\n' + H + 'authorization: bearer ' "
     "+ '0' * 64 + '\\r\\n\\r\\n', token=False)", "401"),
    ("aws('/aws/cloud', host='')", "400"),
    ("aws('/aws/cloud', host=H + H)", "400"),
    ("aws('/aws/cloud%2f')", "404"),
    ("aws('/aws/cloud/')", "404"),
    ("aws('/aws//cloud') in ('400', '404')", "True"),
    ("aws('/aws/./cloud') in ('400', '404')", "True"),
    ("aws('/aws/cloud#x')", "400"),
    ("aws('http://169.254.170.2:3128/aws/cloud') != '200'", "True"),
    ("aws('/aws/cloud', 'Connection: upgrade\\r\\nUpgrade: websocket\\r\\n')"
     " != '101'", "True"),
    # one connection, one answer
    ("http(('GET /aws/cloud HTTP/1.1\\r\\n' + H + '\\r\\n') * 2)", "200"),
    ("http('GET /aws/cloud HTTP/1.1\\r\\n' + H + '\\r\\n', "
     "('169.254.170.2', 80)) != '200'", "True"),
    ("http('GET /aws/cloud HTTP/1.1\\r\\n' + H + '\\r\\n', "
     "('169.254.170.23', 3128)) != '200'", "True"),
    ("http('GET /aws/cloud HTTP/1.1\\r\\n' + H + '\\r\\n', "
     "('::ffff:169.254.170.3', 3128)) != '200'", "True"),
    # --- git: which hosts, spelled how
    ("at('git.test')", "bot"),
    ("at('GIT.Test')", "bot"),
    ("at('git.test:443')", "bot"),
    ("at('git.test:8443')", "bot"),
    ("at('git.test.')", "bot"),
    ("at('git.test', 'username=bot')", "as asked"),
    ("at('git.test', 'username=Bot')", "none"),
    ("at('git.test', 'username=bot ')", "none"),
    ("at('git.test', 'username=' + 'b' * 300)", "none"),
    ("at('git.test', 'path=r.git', 'wwwauth[]=Basic', 'x')", "bot"),
    ("at('evil.test', 'host=git.test')", "bot"),
    ("at('git.test', 'host=evil.test')", "none"),
    ("at('git.test', 'protocol=http')", "none"),
    ("git('protocol=HTTPS\\nhost=git.test\\n')", "none"),
    ("git('protocol=ssh\\nhost=git.test\\n')", "none"),
    ("git('host=git.test\\n')", "none"),
    ("git('protocol=https\\n\\nhost=git.test\\n')", "none"),
    ("git('url=https://git.test/r\\n')", "none"),
    ("git('')", "none"),
    ("at('a.wild.test:8443')", "x-access-token"),
    ("at('a.b.wild.test:8443')", "x-access-token"),
    ("at('wild.test:8443')", "none"),
    ("at('a.wild.test')", "none"),
    ("at('a.wild.test:08443')", "none"),
    ("at('evilwild.test:8443')", "none"),
    ("at('bot@git.test')", "none"),
    ("at('git.test/')", "none"),
    ("at('git..test')", "none"),
    ("at('git.test\\r')", "none"),
    ("at('git.test:443:443')", "none"),
    ("at('xn--gt-nja.test')", "none"),
    ("at('127.1')", "none"),
    ("at('[::1]')", "none"),
    ("at('h' * 300)", "none"),
    ("git(b'protocol=https\\nhost=git.test\\0\\n')", "failed"),
    ("git('protocol=https\\nhost=git.test\\n' + 'x' * 70000)", "failed"),
    ("git('protocol=https\\nhost=git.test\\n', 'store')", "none"),
    ("git('protocol=https\\nhost=git.test\\n', 'erase')", "none"),
    ("git('protocol=https\\nhost=git.test\\n', 'approve')", "none"),
    # --- files
    ("sorted(os.listdir(os.environ['CREDENTIALS_DIRECTORY']))",
     "['both', 'one', 'two']"),
    ("size('one'), size('two')", "False False"),
    ("q(GET_FILE, 'one'), size('one'), size('two')", "ok True False"),
    ("q(GET_FILE, 'two'), q(RELEASE, 'one'), size('one'), size('two')",
     "ok ok False True"),
    ("q(GET, 'one'), q(GET_FILE, 'gh')", "refused refused"),
    ("oct(os.stat(FILE + 'two').st_mode)", "0o100400"),
    ("open(FILE + 'two').read() == VALUE", "True"),
    ("q(GET_FILE, 'two'), open(FILE + 'two').read() == VALUE",
     "ok True"),
    ("fails(lambda: os.open(FILE + 'two', os.O_WRONLY))", "EACCES"),
    ("fails(lambda: os.mkdir(FILE + 'x'))", "EROFS"),
    ("fails(lambda: os.mknod(FILE + 'x'))", "EROFS"),
    ("fails(lambda: os.utime(FILE + 'two'))", "EROFS"),
    ("fails(lambda: os.setxattr(FILE + 'two', 'user.a', b'b')) in "
     "('EROFS', 'ENOTSUP')", "True"),
    ("fails(lambda: os.execv(FILE + 'two', ['x']))", "EACCES"),
    ("fails(lambda: os.rename(FILE + 'two', FILE + 'one'))", "EROFS"),
    ("fails(lambda: os.rmdir(FILE)) in ('EBUSY', 'EROFS')", "True"),
    # --- leases
    ("q(RENEW, 'gh'), q(RELEASE, 'gh')", "ended ended"),
    ("q(GET, 'gh'), q(RENEW, 'gh'), q(RELEASE, 'gh'), q(RENEW, 'gh')",
     "ok ok ok ended"),
    ("q(RENEW, 'two', '0' * 64), size('two')", "refused True"),
    ("q(RELEASE, 'two', '0' * 64), size('two')", "refused True"),
    ("q(RENEW, 'seven'), q(RELEASE, 'seven')", "refused refused"),
    ("q(RENEW, 'injected'), q(RELEASE, 'injected')",
     "refused refused"),
    ("q(RENEW, 'unknown'), q(RELEASE, 'unknown')", "refused refused"),
    ("q(GET, 'nobody'), q(RENEW, 'nobody')", "none ended"),
    # one way does not renew or begin another
    ("q(GET, 'both'), left('both', 0), left('both', 1), size('both')",
     "ok True False False"),
    ("q(RENEW, 'both'), left('both', 1)", "ok False"),
    ("q(GET_FILE, 'both'), left('both', 1), q(RELEASE, 'both'), "
     "left('both', 0), left('both', 1)", "ok True ok False False"),
    # what AWS was told is leased as well, and its end is not moved
    ("left('cloud', 3), q(RENEW, 'cloud'), q(RELEASE, 'cloud'), "
     "left('cloud', 3), q(RENEW, 'cloud')",
     "True ok ok False ended"),
    ("aws('/aws/cloud'), left('cloud', 3)", "200 True"),
    ("lasts('short', 60)", "True"),
]


def secrets():
    return [{"name": "cloud", "delivery": ["aws"], "ttl": "1h"},
            {"name": "pw", "delivery": ["git"], "hosts": ["git.test"],
             "user": "bot"},
            {"name": "wild", "delivery": ["git"],
             "hosts": ["*.wild.test:8443"]},
            {"name": "one", "delivery": ["file"]},
            {"name": "two", "delivery": ["file"]},
            {"name": "gh", "delivery": ["memfd"]},
            {"name": "both", "delivery": ["memfd", "file"]},
            {"name": "short", "delivery": ["memfd"], "ttl": "10h",
             "max_ttl": "1m"},
            {"name": "seven", "delivery": ["memfd"], "euids": [7]},
            {"name": "nobody", "delivery": ["memfd"]},
            {"name": "injected"}]


@box_test
def each_question_is_answered_as_its_row_says():
    for name in ("pw", "wild", "one", "two", "gh", "both", "short", "seven"):
        put(name)
    put("cloud", json.dumps({"Version": 1, "AccessKeyId": "AKIDEXAMPLE",
                             "SecretAccessKey": VALUE}))
    ran = box(document(*secrets()), TOOLS + "import errno\nVALUE = %r[::-1]\n"
              % VALUE[::-1] + "".join(
                  "print(%s)\ntime.sleep(0.02)\n" % what for what, _ in ROWS))
    lines = ran.out.splitlines()
    wrong = ["%s: %s, not %s" % (what, got, want)
             for (what, want), got in zip(ROWS, lines)
             if got != want]
    expect(not wrong and len(lines) == len(ROWS) and ran.done.status == 0,
           "\n".join(wrong) + "\n%d of %d\n%s" % (len(lines), len(ROWS),
                                                  ran.done.text[-2000:]))


def narrowed(parent, child):
    paths = [os.path.join(TOP, n) for n in ("parent.json", "child.json")]
    for path, doc in zip(paths, (parent, child)):
        write(path, json.dumps(doc))
    return status(tool("policy", "narrow", *paths), 0).json


@box_test
def a_childs_box_has_no_more_than_its_parents_would():
    """Whatever it asks for: ways, times, hosts, users, programs, secrets."""
    for name in ("gh", "pw", "nobody", "more", "long"):
        put(name)
    doc = narrowed(document(
        {"name": "gh", "delivery": ["memfd"], "ttl": "1m", "max_ttl": "2m"},
        {"name": "pw", "delivery": ["git"], "hosts": ["git.test"],
         "user": "bot"},
        {"name": "nobody", "delivery": ["memfd"], "euids": []},
        {"name": "long", "delivery": ["memfd"]},
        {"name": "prog", "delivery": ["memfd"],
         "command": ["/bin/echo", "parent"]}), document(
        {"name": "gh", "delivery": ["memfd", "file", "aws"], "ttl": "10h",
         "max_ttl": "10h"},
        {"name": "pw", "delivery": ["git"],
         "hosts": ["git.test", "evil.test"], "user": "bot"},
        {"name": "nobody", "delivery": ["memfd"], "euids": [1000]},
        {"name": "long", "delivery": ["memfd"], "ttl": "20h",
         "max_ttl": "1000h"},
        {"name": "prog", "delivery": ["memfd"],
         "command": ["/bin/echo", "child"]},
        {"name": "more", "delivery": ["memfd"]}))
    ran = box(doc, TOOLS + "VALUE = %r[::-1]\n" % VALUE[::-1] + r'''
rows = [l.split("\t") for l in secret("list").stdout.decode().splitlines()]
print([r[:3] for r in rows if r[0] in ("gh", "long")])
print([r[0] for r in rows if r[0] in ("nobody", "more")])
print(q(GET, "gh"), q(GET_FILE, "gh"), q(GET, "nobody"), q(GET, "more"))
print(at("git.test"), at("evil.test"))
r, fds = ask(GET, "prog")
print(r, [value(fd) for fd in fds])
print("AWS_CONTAINER_CREDENTIALS_FULL_URI" in os.environ)
''')
    good(ran, "[['gh', 'memfd', '60'], ['long', 'memfd', '900']]", "[]",
         "ok refused refused refused", "bot none", "refused []", "False")


if __name__ == "__main__":
    main()
