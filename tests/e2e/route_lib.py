# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of the gateway's routes share.

A certificate authority made for one run, upstreams that do what a test says
byte by byte, and route_gateway: the routes of a gateway without the rest.
"""

import atexit
import json
import os
import queue
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import traceback

SRC = os.environ.get("AB_TEST_SRCDIR") or os.path.abspath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("AB_TEST_BUILDDIR", os.path.join(SRC, "build"))
PROGRAM = os.path.join(BUILD, "tests", "e2e", "route_gateway")
TOP = tempfile.mkdtemp(prefix="route", dir=os.environ.get("TMPDIR"))
atexit.register(shutil.rmtree, TOP, True)
# seconds until something that should happen counts as lost
WAIT = 30 * max(1, float(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1")))
KEY = secrets.token_hex(32)
# what no box may ever see
REAL = "real-" + secrets.token_hex(20)

tests = []


def test(fn):
    """Register a test; its name is the sentence."""
    tests.append(fn)
    return fn


def expect(condition, seen=""):
    if not condition:
        raise AssertionError(str(seen))


def equal(got, want):
    expect(got == want, "got %r, wanted %r" % (got, want))


def until(condition, why):
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("did not happen: %s" % why)


def write(name, data):
    path = os.path.join(TOP, name)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(path, 0o600)
    return path


# --- certificates ----------------------------------------------------------

def openssl(*args):
    p = subprocess.run(["openssl", *args], cwd=TOP, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expect(p.returncode == 0, p.stdout.decode("utf-8", "replace"))


class Authority:
    """A certificate authority; `cert` gives (certificate, key) files."""

    def __init__(self, name):
        self.name = name
        self.ca = os.path.join(TOP, name + ".pem")
        self.key = os.path.join(TOP, name + ".key")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj", "/CN=" + name, "-keyout", self.key, "-out", self.ca,
                "-addext", "basicConstraints=critical,CA:true")

    def cert(self, name, alt, start=None, end=None):
        """`start`, `end`: YYYYMMDDHHMMSSZ, for what openssl's ca makes."""
        stem = os.path.join(TOP, self.name + "-" + name)
        openssl("req", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
                "-keyout", stem + ".key", "-out", stem + ".csr")
        ext = write("ext.cnf", "subjectAltName=%s\n" % alt)
        if not start:
            openssl("x509", "-req", "-in", stem + ".csr", "-CA", self.ca,
                    "-CAkey", self.key, "-set_serial",
                    str(secrets.randbits(63)), "-days", "20", "-extfile",
                    ext, "-out", stem + ".pem")
            return stem + ".pem", stem + ".key"
        config = write("ca.cnf", "[ca]\ndefault_ca=d\n[d]\ndatabase=%s\n"
                       "serial=%s\nnew_certs_dir=%s\ndefault_md=sha256\n"
                       "policy=p\n[p]\ncommonName=supplied\n"
                       % (write("index.txt", ""), write("serial", "01\n"),
                          TOP))
        openssl("ca", "-batch", "-config", config, "-in", stem + ".csr",
                "-cert", self.ca, "-keyfile", self.key, "-startdate", start,
                "-enddate", end, "-extfile", ext, "-notext",
                "-out", stem + ".pem")
        return stem + ".pem", stem + ".key"


# --- upstreams -------------------------------------------------------------

class Request:
    def __init__(self, head):
        lines = head.decode("latin-1").split("\r\n")
        self.raw = head
        self.line = lines[0]
        self.fields = [tuple(l.split(": ", 1)) for l in lines[1:] if l]

    def all(self, name):
        return [v for k, v in self.fields if k.lower() == name]

    def get(self, name):
        found = self.all(name)
        return found[0] if found else None


class Peer:
    """One connection to an upstream, for its script."""

    def __init__(self, conn):
        self.conn = conn
        self.buf = b""

    def more(self):
        data = self.conn.recv(65536)
        self.buf += data
        return data

    def head(self):
        """The next request; None at the end."""
        while b"\r\n\r\n" not in self.buf:
            if not self.more():
                return None
        head, self.buf = self.buf.split(b"\r\n\r\n", 1)
        return Request(head)

    def exactly(self, n):
        while len(self.buf) < n:
            if not self.more():
                raise AssertionError("ended after %r" % self.buf)
        data, self.buf = self.buf[:n], self.buf[n:]
        return data

    def until(self, end):
        while end not in self.buf:
            if not self.more():
                raise AssertionError("ended after %r" % self.buf)
        at = self.buf.index(end) + len(end)
        data, self.buf = self.buf[:at], self.buf[at:]
        return data

    def send(self, data):
        self.conn.sendall(data if isinstance(data, bytes) else data.encode())

    def answer(self, body=b"ok", status="200 OK", fields=""):
        body = body if isinstance(body, bytes) else body.encode()
        self.send(("HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n"
                   % (status, len(body), fields)).encode() + body)


class Upstream:
    """
    A TLS server whose connections are each given to `script(peer)`; what it
    raises fails the test that closes it.
    """

    def __init__(self, script, cert, plain=False, at="127.0.0.1", **options):
        self.script, self.plain = script, plain
        self.failed = []
        self.accepted = 0
        self.handshakes = 0
        self.bytes = 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*cert)
        for name, value in options.items():
            if name == "alpn":
                self.context.set_alpn_protocols(value)
            elif name == "ciphers":
                self.context.set_ciphers(value)
            else:
                setattr(self.context, name, value)
        self.sock = socket.create_server(
            (at, 0), backlog=64,
            family=socket.AF_INET6 if ":" in at else socket.AF_INET)
        self.port = self.sock.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self.serve, args=(conn,),
                             daemon=True).start()

    def serve(self, conn):
        conn.settimeout(WAIT)
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if not self.plain:
                conn = self.context.wrap_socket(conn, server_side=True)
                self.handshakes += 1
            self.script(Peer(conn))
            try:
                if not self.plain:
                    conn.unwrap()
            except (OSError, ValueError):
                pass
        except (ssl.SSLError, ConnectionError, TimeoutError):
            pass
        except Exception:
            self.failed.append(traceback.format_exc())
        finally:
            conn.close()

    def close(self):
        self.sock.close()
        expect(not self.failed, "\n".join(self.failed))


# --- the gateway -----------------------------------------------------------

running = []  # those that were not closed


class Gateway:
    def __init__(self, routes, secret_names=("k",), give=True, tools=None):
        policy = {"agentbox": 1, "routes": routes,
                  "secrets": [{"name": n} for n in secret_names],
                  "tools": tools or {}}
        path = write("policy.json", json.dumps(policy))
        self.p = subprocess.Popen([PROGRAM, path, KEY],
                                  stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        running.append(self)
        self.lines = queue.Queue()
        self.records = []
        threading.Thread(target=self.read, daemon=True).start()
        self.port = int(self.line("port").split()[1])
        if give:
            for name in secret_names:
                equal(self.secret(name, REAL), "secret 0")

    def read(self):
        for line in self.p.stdout:
            line = line.decode("utf-8", "replace").rstrip("\n")
            if line.startswith("record "):
                self.records.append(line)
            else:
                self.lines.put(line)
        self.lines.put(None)

    def line(self, word):
        line = self.lines.get(timeout=WAIT)
        expect(line is not None and line.startswith(word), line)
        return line

    def command(self, text):
        self.p.stdin.write(text.encode() + b"\n")
        self.p.stdin.flush()
        return self.line(text.split()[0] if not text.startswith("forget")
                         else "secret")

    def secret(self, name, value):
        return self.command("secret %s %s" % (name, write("value", value)))

    def state(self):
        words = self.command("state").split()
        return {words[i]: int(words[i + 1])
                for i in range(1, len(words), 2)}

    def record(self, text):
        return until(lambda: [r for r in self.records if text in r],
                     "a record with %r in %r" % (text, self.records))

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), WAIT)
        s.settimeout(WAIT)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def kill(self):
        running.remove(self)
        self.p.kill()
        self.p.wait()

    def close(self):
        self.p.stdin.close()
        equal(self.p.wait(WAIT), 0)
        running.remove(self)
        for record in self.records:
            expect(REAL not in record and KEY not in record, record)


def head(line, *fields, key=KEY):
    if key:
        fields += ("x-api-key: " + key,)
    return ("%s HTTP/1.1\r\nHost: gateway.test\r\n%s\r\n"
            % (line, "".join(f + "\r\n" for f in fields))).encode()


class Answer:
    """An answer as it came, read from a socket; framing is checked."""

    def __init__(self, s, is_head=False, buf=b""):
        self.s, self.buf = s, buf
        text = self.until(b"\r\n\r\n").decode("latin-1")
        self.head = text
        self.status = int(text.split(" ")[1])
        self.fields = [l.split(": ", 1) for l in text.split("\r\n")[1:] if l]
        self.body = b"" if is_head else self.read_body()

    def get(self, name):
        found = [v for k, v in self.fields if k.lower() == name]
        expect(len(found) < 2, found)
        return found[0] if found else None

    def until(self, end):
        while end not in self.buf:
            data = self.s.recv(65536)
            expect(data, "ended after %r" % self.buf)
            self.buf += data
        at = self.buf.index(end) + len(end)
        data, self.buf = self.buf[:at], self.buf[at:]
        return data

    def exactly(self, n):
        while len(self.buf) < n:
            data = self.s.recv(65536)
            expect(data, "ended after %r" % self.buf)
            self.buf += data
        data, self.buf = self.buf[:n], self.buf[n:]
        return data

    def chunk(self):
        size = int(self.until(b"\r\n"), 16)
        data = self.exactly(size)
        equal(self.exactly(2), b"\r\n")
        return data

    def read_body(self):
        if self.status in (100, 101, 204, 304):
            return b""
        if self.get("transfer-encoding"):
            return None # the test reads chunk by chunk
        if self.get("content-length") is not None:
            return self.exactly(int(self.get("content-length")))
        data, self.buf = self.buf, b""
        while True:
            more = self.s.recv(65536)
            if not more:
                return data
            data += more

    def chunks(self):
        out = []
        while True:
            data = self.chunk()
            if not data:
                return out
            out.append(data)

    @property
    def reason(self):
        return self.get("x-agentbox-reason")


def ask(gw, request, **kw):
    """One request on a connection of its own."""
    with gw.connect() as s:
        s.sendall(request)
        answer = Answer(s, **kw)
        expect(REAL.encode() not in answer.head.encode("latin-1"),
               answer.head)
        return answer


def refused(answer, status, reason):
    equal((answer.status, answer.reason), (status, reason))
    return answer


def is_closed(s):
    """The connection ends, with or without a reset."""
    try:
        while s.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


def main():
    failed = 0
    named = [fn for fn in tests if fn.__name__ in sys.argv[1:]]
    if len(named) < len(set(sys.argv[1:])):
        sys.exit("no such test in: " + " ".join(sys.argv[1:]))
    print("1..%d" % len(named or tests))
    for i, fn in enumerate(named or tests, 1):
        name = fn.__name__.replace("_", " ")
        before = list(running)
        try:
            fn()
            print("ok %d - %s" % (i, name), flush=True)
        except Exception:
            failed += 1
            print("not ok %d - %s" % (i, name))
            print("\n".join("# " + line for line in
                            traceback.format_exc().splitlines()), flush=True)
            for gw in [g for g in running if g not in before]:
                gw.kill()
    sys.exit(1 if failed else 0)
