#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""model.c without an account: a model API on loopback with a certificate made
for this run, and an agent that streams its answer, looks for the real key, and
tries another host.

    python3 model.py ./model

Ends with 0 when everything was as it has to be, 1 when not, 77 where it
cannot be shown, with the reason.
"""

import http.server
import os
import secrets
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading

WAIT = 120
REAL = "sk-real-" + secrets.token_hex(20)

AGENT = r'''
import os, re, urllib.error, urllib.request
url, key = os.environ["ANTHROPIC_BASE_URL"], os.environ["ANTHROPIC_API_KEY"]
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
def ask(path, body=None):
    return direct.open(urllib.request.Request(
        url + path, body, {"x-api-key": key}), timeout=120)
for line in ask("/v1/messages", b"{}"):
    if line.startswith(b"data: "):
        print("answer:", line[6:].decode().strip(), flush=True)
        ask("/v1/seen").read() # what comes next is not sent before this
found, looked = [], 0
def look(path):
    global looked
    try:
        with open(path, "rb") as f:
            if re.search(rb"sk-real-[0-9a-f]{40}", f.read(1 << 22)):
                found.append(path)
        looked += 1
    except OSError:
        pass
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline"):
        look("/proc/%s/%s" % (pid, name))
for top in ("/workspace", "/home", "/tmp", "/etc", "/run"):
    for where, _, names in os.walk(top):
        for name in names:
            if os.path.isfile(os.path.join(where, name)):
                look(os.path.join(where, name))
print("my key:", key)
print("real key found in:", found, "of", looked > 2 and "many")
try:
    urllib.request.urlopen("http://example.org/", timeout=120)
    print("another host: reached")
except urllib.error.HTTPError as e:
    print("another host:", e.code, e.headers["x-agentbox-reason"])
'''


class Api(http.server.BaseHTTPRequestHandler):
    """Three events, each sent only when the one before was seen."""
    protocol_version = "HTTP/1.1"
    keys, seen = set(), threading.Semaphore(0)

    def do_GET(self):
        self.keys.add(self.headers["x-api-key"])
        self.seen.release()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        self.keys.add(self.headers["x-api-key"])
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for word in ("the", "tests", "pass"):
            event = b"data: %s\n\n" % word.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            if not self.seen.acquire(timeout=WAIT):
                return
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *args):
        pass


def serve(top):
    """The API behind TLS; its address and its authority."""
    cert, key = os.path.join(top, "ca.pem"), os.path.join(top, "ca.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=model", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                    cert], check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "https://127.0.0.1:%d" % server.server_port, cert


def show(model, top):
    work = os.path.join(top, "work")
    os.mkdir(work)
    secret = os.path.join(top, "key")
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
        f.write(REAL + "\n")
    url, ca = serve(top)
    p = subprocess.run([model, work, secret, url, ca, "--", "python3", "-c",
                        AGENT], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    print(p.stdout + p.stderr, end="")
    if p.returncode == 125 and ("(EUNSUPPORTED)" in p.stderr or
                                "(EWALL)" in p.stderr):
        return 77
    print("the API saw the real key and no other:", Api.keys == {REAL})
    return 0 if (
        p.returncode == 0 and Api.keys == {REAL} and
        "answer: the\nanswer: tests\nanswer: pass\n" in p.stdout and
        "real key found in: [] of many\n" in p.stdout and
        "another host: 403 " in p.stdout and
        REAL not in p.stdout + p.stderr) else 1


def main():
    if len(sys.argv) != 2:
        print("usage: model.py /PATH/TO/model", file=sys.stderr)
        return 2
    if not shutil.which("openssl"):
        print("no openssl, which makes the certificate")
        return 77
    if not os.path.exists("/usr/bin/python3"):
        print("no /usr/bin/python3, which the agent in the box is")
        return 77
    with tempfile.TemporaryDirectory() as top:
        return show(os.path.abspath(sys.argv[1]), top)


sys.exit(main())
