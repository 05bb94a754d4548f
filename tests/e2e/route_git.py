#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Git over a route: fetch and push told apart, one repository and no other,
with the real git on both sides (git http-backend behind TLS)."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from route_lib import (Authority, Gateway, KEY, REAL, TOP, Upstream, WAIT,
                       ask, equal, expect, head, main, refused, test)

ca = Authority("good")
cert = ca.cert("git", "DNS:git.test")
env = {"PATH": os.environ["PATH"], "HOME": TOP, "GIT_CONFIG_NOSYSTEM": "1",
       "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true",
       "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@a.test",
       "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@a.test",
       "NO_PROXY": "*"}


def git(*args, cwd=TOP, good=True):
    p = subprocess.run(["git", "-c", "init.defaultBranch=main", *args],
                       cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=WAIT * 2)
    text = p.stdout.decode("utf-8", "replace")
    expect((p.returncode == 0) == good, text)
    expect(REAL not in text, text)
    return text


def commit(repository, name, size=10):
    with open(os.path.join(repository, name), "wb") as f:
        f.write(os.urandom(size))
    git("add", name, cwd=repository)
    git("commit", "-qm", name, cwd=repository)


class Server:
    """git http-backend for the repositories below TOP/srv, for who brings
    the real credential."""

    def __init__(self):
        self.lines = []
        self.up = Upstream(self.script, cert)

    def body(self, peer, request):
        if request.get("transfer-encoding") == "chunked":
            out = b""
            while True:
                n = int(peer.until(b"\r\n"), 16)
                out += peer.exactly(n)
                peer.exactly(2)
                if n == 0:
                    return out
        return peer.exactly(int(request.get("content-length") or 0))

    def script(self, peer):
        import base64
        want = "Basic " + base64.b64encode(
            ("bot:" + REAL).encode()).decode()
        while True:
            request = peer.head()
            if not request:
                return
            self.lines.append(request.line)
            equal(request.all("authorization"), [want])
            expect(KEY not in str(request.raw), request.raw)
            method, target, _ = request.line.split(" ")
            path, _, query = target.partition("?")
            cgi = dict(env, REQUEST_METHOD=method, PATH_INFO=path,
                       QUERY_STRING=query, GIT_HTTP_EXPORT_ALL="1",
                       GIT_PROJECT_ROOT=os.path.join(TOP, "srv"),
                       REMOTE_USER="bot", REMOTE_ADDR="127.0.0.1",
                       CONTENT_TYPE=request.get("content-type") or "",
                       GIT_PROTOCOL=request.get("git-protocol") or "",
                       HTTP_CONTENT_ENCODING=request.get(
                           "content-encoding") or "")
            body = self.body(peer, request)
            cgi["CONTENT_LENGTH"] = str(len(body))
            out = subprocess.run(["git", "http-backend"], env=cgi,
                                 input=body, stdout=subprocess.PIPE).stdout
            fields, _, data = out.partition(b"\r\n\r\n")
            status = "200 OK"
            keep = ""
            for line in fields.decode().split("\r\n"):
                if line.startswith("Status: "):
                    status = line[8:]
                elif line:
                    keep += line + "\r\n"
            peer.answer(data, status, keep)


def setup():
    srv = os.path.join(TOP, "srv", "acme")
    os.makedirs(srv)
    for name in ("shop", "docs", "other"):
        bare = os.path.join(srv, name + ".git")
        git("init", "-q", "--bare", bare)
        git("config", "http.receivepack", "true", cwd=bare)
        work = os.path.join(TOP, "make-" + name)
        git("init", "-q", work)
        commit(work, "README")
        commit(work, "big", 300000)
        git("push", "-q", bare, "HEAD:main", cwd=work)


setup()
server = Server()
inject = {"secret": "k", "user": "bot"}


def route(prefix, repository, access):
    return {"prefix": prefix, "kind": "git", "access": access, "ca": ca.ca,
            "upstream": "https://git.test:%d/acme/%s.git"
            % (server.up.port, repository), "inject": inject}


gw = Gateway([route("/git/shop", "shop", "read"),
              route("/git/docs", "docs", "write")])


def url(path, key=KEY):
    # as a host's configuration of git would have it
    return ("-c", "http.extraHeader=Authorization: Bearer " + key,
            ), "http://127.0.0.1:%d%s" % (gw.port, path)


@test
def a_repository_is_cloned_and_fetched():
    extra, at = url("/git/shop")
    clone = os.path.join(TOP, "clone")
    git(*extra, "clone", "-q", at, clone)
    expect(os.path.getsize(os.path.join(clone, "big")) == 300000)
    work = os.path.join(TOP, "make-shop")
    commit(work, "later", 100000)
    git("push", "-q", os.path.join(TOP, "srv/acme/shop.git"), "HEAD:main",
        cwd=work)
    git(*extra, "pull", "-q", cwd=clone)
    expect(os.path.exists(os.path.join(clone, "later")))
    expect(all("receive-pack" not in l for l in server.lines), server.lines)


@test
def a_push_is_refused_where_only_fetch_is_allowed():
    extra, at = url("/git/shop")
    clone = os.path.join(TOP, "push-shop")
    git(*extra, "clone", "-q", at, clone)
    commit(clone, "mine")
    before = len(server.lines)
    text = git(*extra, "push", "origin", "HEAD:main", cwd=clone, good=False)
    expect("403" in text, text)
    equal(len(server.lines), before)
    gw.record("denied route git.test:%d push_denied /git/shop"
              % server.up.port)


@test
def a_push_goes_where_it_is_allowed():
    extra, at = url("/git/docs")
    clone = os.path.join(TOP, "push-docs")
    git(*extra, "clone", "-q", at, clone)
    # over http.postBuffer, so that git sends it in chunks
    commit(clone, "mine", 3000000)
    git(*extra, "push", "-q", "origin", "HEAD:main", cwd=clone)
    there = git("rev-parse", "main",
                cwd=os.path.join(TOP, "srv/acme/docs.git"))
    equal(there, git("rev-parse", "HEAD", cwd=clone))


@test
def no_other_repository_is_reached():
    before = len(server.lines)
    for path, status, reason in (
            ("/git/other/info/refs?service=git-upload-pack", 404,
             "no_route"),
            ("/git/shop/../other.git/info/refs?service=git-upload-pack", 400,
             "path_dot"),
            ("/git/shop%2f..%2fother.git/info/refs", 400, "path_dot"),
            ("/git/shop/HEAD", 403, "not_git"),
            ("/git/shop/info/refs", 403, "not_git"),
            ("/git/shop/info/lfs/objects/batch", 403, "not_git")):
        refused(ask(gw, head("GET " + path)), status, reason)
    for service in ("git-receive-pack", "git-upload-archive"):
        expect(ask(gw, head("POST /git/shop/" + service)).status == 403)
    equal(len(server.lines), before)


@test
def without_the_key_there_is_nothing():
    extra, at = url("/git/shop", key="0" * 64)
    before = len(server.lines)
    git(*extra, "clone", "-q", at, os.path.join(TOP, "none"), good=False)
    equal(len(server.lines), before)


@test
def the_end_is_clean():
    gw.close()
    server.up.close()


main()
