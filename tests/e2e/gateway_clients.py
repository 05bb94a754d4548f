#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs as people have them, unmodified, in a box: what is allowed works,
with the proxy and without, and everything else fails at once and says why.
Row 108 of GATEWAY-CASES.md. With the argument "more": those that are in no
list of what the tests need (tests/ffi/clients.sh).

The origin is an HTTPS server on the host's loopback: a repository of git, an
index of Python packages, a registry of npm, a page.
"""

import base64
import hashlib
import io
import json
import os
import shutil
import ssl
import subprocess
import sys
import tarfile
import time
import zipfile

from gateway_lib import Origin, need, policy, resolver, run
from tool_lib import TOP, WAIT, WORK, Skip, box_test, expect, main

MORE = "more" in sys.argv[1:]
sys.argv = [a for a in sys.argv if a != "more"]  # the others name tests
NAME, OTHER = "pkg.test", "other.test"
PATIENCE = 4 * WAIT
site = {}


def authority():
    """The page's certificate and who signed it, which is itself."""
    need("openssl")
    at = os.path.join(TOP, "page")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    at + ".key", "-out", at + ".crt", "-days", "2", "-subj",
                    "/CN=" + NAME, "-addext",
                    "subjectAltName=DNS:" + NAME], check=True,
                   capture_output=True, timeout=WAIT)
    os.makedirs(WORK, exist_ok=True)
    shutil.copy(at + ".crt", os.path.join(WORK, "ca.crt"))
    return at


def answer(c):
    """Requests of one connection, until it ends."""
    rest = b""
    while True:
        while b"\r\n\r\n" not in rest:
            more = c.recv(65536)
            if not more:
                return
            rest += more
        head, rest = rest.split(b"\r\n\r\n", 1)
        method, path = head.decode("latin-1").split(" ")[:2]
        kind, body = site.get(path.split("?")[0], (None, b"no such page\n"))
        c.sendall(b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n"
                  b"\r\n" % (b"200 OK" if kind else b"404 Not Found",
                             (kind or "text/plain").encode(), len(body)) +
                  (b"" if method == "HEAD" else body))


_origin = []


def origin():
    if not _origin:
        at = authority()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(at + ".crt", at + ".key")

        def handle(c):
            answer(context.wrap_socket(c, server_side=True))
        _origin.append(Origin(handle))
        resolver.names[NAME] = ["127.0.0.1"]
        site["/page"] = ("text/plain", b"the page\n")
    return _origin[0].port


def url(path, name=NAME):
    return "https://%s:%d%s" % (name, origin(), path)


TRUST = ("CURL_CA_BUNDLE", "SSL_CERT_FILE", "GIT_SSL_CAINFO", "PIP_CERT",
         "NODE_EXTRA_CA_CERTS", "npm_config_cafile")
NO_PROXY = "unset HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy " \
    "all_proxy NODE_USE_ENV_PROXY; export NO_PROXY='*'\n"


def shell(script, proxy=True, **more):
    """In a box that may reach the page and nothing else."""
    env = {k: "/workspace/ca.crt" for k in TRUST}
    env.update(HOME="/tmp", GIT_TERMINAL_PROMPT="0", **more.pop("env", {}))
    origin()
    return run(policy(["%s:%d" % (NAME, origin())],
                      private=("127.0.0.0/8", NAME), env={"set": env},
                      **more),
               "sh", "-c", "cd /tmp\n" + ("" if proxy else NO_PROXY) + script)


def works(name, script, want, **more):
    """With the proxy and without."""
    for proxy in (True, False):
        ran = shell(script, proxy, **more)
        expect(want in ran.out and ran.done.status == 0,
               "%s, proxy %s: %r" % (name, proxy, ran))
        expect(ran.records("allowed"), ran)


def fails(name, script, **more):
    """At once, and the host is named with the reason."""
    for proxy in (True, False):
        before, began = len(_origin[0].seen), time.monotonic()
        # apart from the tool's own lines, which it may cut in two
        ran = shell("{ " + script + "\n} 2>&1\necho status $?", proxy,
                    **more)
        took = time.monotonic() - began
        expect("status 0" not in ran.out and "status " in ran.out,
               "%s, proxy %s: %r" % (name, proxy, ran))
        expect(took < PATIENCE, "%s took %d s" % (name, took))
        expect(OTHER in ran.done.text and
               "is not in network.allow" in ran.done.text, ran)
        denied = ran.records("denied", "not_listed")
        expect(any(OTHER in r["subject"] for r in denied), ran)
        expect(len(_origin[0].seen) == before, "it reached the origin")


# --- what the tests need anyhow ----------------------------------------------

def urllib_of(at):
    return ("/usr/bin/python3 -c \"import urllib.request as u, sys\n"
            "h = [u.ProxyHandler({})] if sys.argv[1:] else []\n"
            "print(u.build_opener(*h).open('%s', timeout=%d).read())\" "
            % (at, PATIENCE))


def python_with_and_without_support_of_proxies():
    works("urllib", urllib_of(url("/page")), "the page")
    works("urllib, no proxies", urllib_of(url("/page")) + "none", "the page")
    fails("urllib", urllib_of(url("/page", OTHER)))
    fails("urllib, no proxies", urllib_of(url("/page", OTHER)) + "none")


def curl_fetches_pages():
    need("curl")
    get = "curl -sS --max-time %d " % PATIENCE
    works("curl", get + url("/page"), "the page")
    fails("curl", get + url("/page", OTHER))
    ran = shell(get + url("/page", OTHER) + " 2>&1")
    expect("403" in ran.out, ran)


def repository():
    """A bare repository as plain files: what git calls the dumb protocol."""
    need("git")
    top = os.path.join(TOP, "repository")
    if not os.path.exists(top):
        env = {"PATH": os.environ["PATH"], "HOME": TOP,
               "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a",
               "GIT_AUTHOR_EMAIL": "a@test", "GIT_COMMITTER_NAME": "a",
               "GIT_COMMITTER_EMAIL": "a@test"}

        def git(*args, at=top):
            subprocess.run(["git", *args], cwd=at, env=env, check=True,
                           capture_output=True, timeout=WAIT)
        os.makedirs(top)
        git("init", "-q", "-b", "main")
        with open(os.path.join(top, "file"), "w") as f:
            f.write("of the repository\n")
        git("add", "file")
        git("commit", "-q", "-m", "one")
        git("update-server-info")
    for at, _, names in os.walk(os.path.join(top, ".git")):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as f:
                site["/repo.git/" + os.path.relpath(
                    path, os.path.join(top, ".git"))] = (
                        "application/octet-stream", f.read())


def git_clones_over_https():
    repository()
    works("git", "git clone -q %s made && cat made/file" % url("/repo.git"),
          "of the repository")
    fails("git", "git clone -q %s made" % url("/repo.git", OTHER))
    ran = shell("git clone -q %s made 2>&1" % url("/repo.git", OTHER))
    expect("403" in ran.out, ran)


def need_in_box(*programs):
    """A box has the system's programs and no others."""
    need(*programs)
    for p in programs:
        if not os.path.realpath(shutil.which(p)).startswith("/usr/"):
            raise Skip("no %s below /usr" % p)


# --- what may not be here ----------------------------------------------------

def wheel():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("demo.py", "WORD = 'of the package'\n")
        z.writestr("demo-1.0.dist-info/METADATA",
                   "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
        z.writestr("demo-1.0.dist-info/WHEEL",
                   "Wheel-Version: 1.0\nGenerator: test\n"
                   "Root-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr("demo-1.0.dist-info/RECORD", "")
    return out.getvalue()


def wget_fetches_pages():
    need_in_box("wget")
    get = "wget -q -O - --tries 1 --timeout %d --ca-certificate " \
        "/workspace/ca.crt %%s" % PATIENCE
    works("wget", get % url("/page"), "the page")
    fails("wget", get.replace("-q", "-nv") % url("/page", OTHER))
    ran = shell(get.replace("-q", "-nv") % url("/page", OTHER) + " 2>&1")
    expect("Forbidden" in ran.out, ran)


def pip_installs_from_an_index():
    if subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"],
                      capture_output=True).returncode:
        raise Skip("no pip here")
    file = "demo-1.0-py3-none-any.whl"
    site["/files/" + file] = ("application/zip", wheel())
    site["/simple/demo/"] = ("text/html", (
        '<!DOCTYPE html><a href="/files/%s">%s</a>' % (file, file)).encode())
    pip = "/usr/bin/python3 -m pip install -q --no-input --no-cache-dir " \
        "--disable-pip-version-check --retries 0 --target /tmp/to " \
        "--index-url %s demo"
    works("pip", pip % url("/simple") + " && PYTHONPATH=/tmp/to "
          "/usr/bin/python3 -c 'import demo; print(demo.WORD)'",
          "of the package")
    fails("pip", pip % url("/simple", OTHER))


def npm_installs_from_a_registry():
    need_in_box("npm", "node")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for name, text in (("package.json", json.dumps(
                {"name": "demo", "version": "1.0.0", "main": "index.js"})),
                ("index.js", "module.exports = 'of the package'\n")):
            data = text.encode()
            info = tarfile.TarInfo("package/" + name)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    data = out.getvalue()
    site["/demo/-/demo-1.0.0.tgz"] = ("application/octet-stream", data)
    site["/demo"] = ("application/json", json.dumps(
        {"name": "demo", "dist-tags": {"latest": "1.0.0"}, "versions": {
            "1.0.0": {"name": "demo", "version": "1.0.0", "dist": {
                "tarball": url("/demo/-/demo-1.0.0.tgz"),
                "integrity": "sha512-" + base64.b64encode(
                    hashlib.sha512(data).digest()).decode()}}}}).encode())
    npm = "mkdir p && cd p && npm install --no-audit --no-fund " \
        "--no-update-notifier --fetch-retries=0 --cache /tmp/npm " \
        "--registry %s demo"
    works("npm", npm % url("/") +
          " && node -e 'console.log(require(\"demo\"))'", "of the package")
    fails("npm", npm % url("/", OTHER))


def fetch_of_node():
    need_in_box("node")
    fetch = "node -e 'fetch(\"%s\").then(r => r.text()).then(t => " \
        "console.log(t)).catch(e => { console.error(e); " \
        "process.exit(1) })'"
    works("fetch", fetch % url("/page"), "the page")
    fails("fetch", fetch % url("/page", OTHER))


GO = """package main

import ("fmt"; "io"; "net/http"; "os")

func main() {
	r, err := http.Get(os.Args[1])
	if err != nil { fmt.Println(err); os.Exit(1) }
	b, _ := io.ReadAll(r.Body)
	fmt.Print(string(b))
}
"""


def built_by_go():
    """Kept beside the build: the standard library takes a while."""
    kept = os.path.join(os.environ.get("AB_TEST_BUILDDIR", TOP), "tests",
                        "ffi", "clients-go-" +
                        hashlib.sha256(GO.encode()).hexdigest()[:16])
    if os.path.exists(kept):
        return kept
    need("go")
    at = os.path.join(TOP, "go")
    os.makedirs(at)
    with open(os.path.join(at, "main.go"), "w") as f:
        f.write(GO)
    with open(os.path.join(at, "go.mod"), "w") as f:
        f.write("module get\n\ngo 1.18\n")
    made = os.path.join(at, "get")
    done = subprocess.run(
        ["go", "build", "-o", made], cwd=at, capture_output=True,
        timeout=20 * WAIT,
        env={"PATH": os.environ["PATH"], "HOME": TOP, "GOFLAGS": "-mod=mod",
             "GOCACHE": os.path.join(TOP, "gocache"), "GOPROXY": "off",
             "GOPATH": os.path.join(TOP, "gopath"), "CGO_ENABLED": "0",
             "GOTOOLCHAIN": "local", "GOTELEMETRY": "off"})
    expect(done.returncode == 0, done)
    try:
        shutil.copy(made, kept + ".new")
        os.rename(kept + ".new", kept)
    except OSError:
        pass  # somebody else's build
    return made


def client_of_go():
    shutil.copy(built_by_go(), os.path.join(WORK, "get"))
    works("go", "/workspace/get " + url("/page"), "the page")
    fails("go", "/workspace/get " + url("/page", OTHER))


JAVA = """
import java.net.*; import java.net.http.*;
class Get {
    public static void main(String[] a) throws Exception {
        var c = HttpClient.newBuilder().proxy(ProxySelector.getDefault());
        String[] p = a.length > 1 ? a[1].split("[:/@]+") : null;
        if (p != null)
            c.authenticator(new Authenticator() {
                protected PasswordAuthentication getPasswordAuthentication() {
                    return new PasswordAuthentication(p[1],
                                                      p[2].toCharArray());
                }
            });
        System.out.println(c.build().send(HttpRequest.newBuilder(
            URI.create(a[0])).build(),
            HttpResponse.BodyHandlers.ofString()).body());
    }
}
"""


def client_of_java():
    need("javac", "keytool")
    need_in_box("java")
    origin()
    with open(os.path.join(TOP, "Get.java"), "w") as f:
        f.write(JAVA)
    subprocess.run(["javac", "-d", WORK, os.path.join(TOP, "Get.java")],
                   check=True, capture_output=True, timeout=10 * WAIT)
    subprocess.run(["keytool", "-importcert", "-noprompt", "-file",
                    os.path.join(WORK, "ca.crt"), "-keystore",
                    os.path.join(WORK, "trust.p12"), "-storetype", "PKCS12",
                    "-storepass", "secret"], check=True, capture_output=True,
                   timeout=10 * WAIT)
    # its settings are below /etc, which a box does not have as a whole
    home = os.path.realpath(shutil.which("java"))[:-len("/bin/java")]
    security = os.path.realpath(os.path.join(home, "conf/security"
                                             "/java.security"))
    etc = os.path.dirname(os.path.dirname(security))
    more = {} if etc.startswith(("/usr/", "/opt/")) else {
        "mounts+": [{"from": etc, "to": etc, "access": "read"}]}
    java = "java -Xmx128m -Djavax.net.ssl.trustStore=/workspace/trust.p12 " \
        "-Djavax.net.ssl.trustStorePassword=secret " \
        "-Djdk.http.auth.tunneling.disabledSchemes= "
    by_proxy = "-Dhttps.proxyHost=192.0.0.1 -Dhttps.proxyPort=3128 "
    get = "${HTTPS_PROXY:+" + by_proxy + "} -cp /workspace Get %s $HTTPS_PROXY"
    works("java", java + get % url("/page"), "the page", **more)
    fails("java", java + get % url("/page", OTHER), **more)


for fn in ((wget_fetches_pages, pip_installs_from_an_index,
            npm_installs_from_a_registry, fetch_of_node, client_of_go,
            client_of_java) if MORE else
           (python_with_and_without_support_of_proxies, curl_fetches_pages,
            git_clones_over_https)):
    box_test(fn)
main()
