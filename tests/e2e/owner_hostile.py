#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a process of the same user can do to a keeper over its socket.

Nobody else gets there: the directory is the user's, and a process of a box is
refused by its user namespace. So nothing here is a wall; it is that one
client's mistake, or death, is not another's.
"""

import array
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

import tool_lib
from tool_lib import (HELPERS, TOP, WAIT, WORK, box_test, environment, expect,
                      main, said, status, test, tool, until)

LIST, CALL, SPAWN, KILL, REVOKE, FORGET = range(201, 207)
ANSWER = 200
POLICY = {"agentbox": 1, "extends": "builtin:workspace",
          "workspace": {"path": WORK, "at": "same"},
          # what a machine may be without
          "limits": {"require": []}, "require": []}
SEALS = (fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW |
         fcntl.F_SEAL_WRITE)


class Keeper:
    count = 0

    def __init__(self, state=None):
        Keeper.count += 1
        self.state = state or os.path.join(TOP, "state-%d" % Keeper.count)
        self.p = subprocess.Popen(
            [os.path.join(HELPERS, "agentbox-keeper"), "--state", self.state,
             "--helper-dir", HELPERS, "--idle", "60"], env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def __enter__(self):
        self.path = until(self.find, "the keeper listens")
        return self

    def __exit__(self, *_):
        self.p.kill()
        self.p.communicate()

    def find(self):
        owners = os.path.join(self.state, "owners")
        names = os.listdir(owners) if os.path.isdir(owners) else []
        for name in names:
            if name.startswith("%d-" % self.p.pid):
                return os.path.join(owners, name)
        expect(self.p.poll() is None, self.p.stderr.read()
               if self.p.poll() is not None else "")
        return None

    def connect(self, timeout=WAIT):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(timeout)
        s.connect(self.path)
        return s

    def fds(self):
        return len(os.listdir("/proc/%d/fd" % self.p.pid))

    def at_rest(self):
        """As many as when the clients that are gone have been let go."""
        self.serves()
        seen = -1
        while seen != self.fds():
            seen = self.fds()
            time.sleep(0.3)
        return seen

    def serves(self):
        """A decent client is answered."""
        with self.connect() as s:
            s.send(frame(LIST, 0, 7))
            kind, _, serial, code = struct.unpack("<IIIi", s.recv(65536)[:16])
            expect((kind, serial, code) == (ANSWER, 7, 0),
                   (kind, serial, code))

    def call(self, text, timeout=WAIT):
        """The code and the text of an answer."""
        with self.connect(timeout) as s:
            return ask(s, CALL, b"", [sealed(text)])

    def up(self, name, policy=POLICY):
        return self.call(json.dumps({"command": "up", "name": name,
                                     "policy": policy}).encode())


def frame(kind, fds, serial=1, rest=b""):
    return struct.pack("<III", kind, fds, serial) + rest


def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<I", len(s) + 1) + s + b"\0"


def sealed(content, seals=SEALS):
    fd = os.memfd_create("t", os.MFD_ALLOW_SEALING)
    os.pwrite(fd, content, 0)
    if seals:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def send(s, data, fds=()):
    s.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                        array.array("i", fds))] if fds else [])


def answer(s):
    data, fds, _, _ = socket.recv_fds(s, 65536, 4)
    if not data:
        return None, b""
    _, _, _, code, n = struct.unpack("<IIIiI", data[:20])
    body = data[20:20 + n]
    for fd in fds:
        body = os.pread(fd, 1 << 20, 0)
        os.close(fd)
    return code, body


def ask(s, kind, rest=b"", fds=()):
    send(s, frame(kind, len(fds), 1, rest), fds)
    for fd in fds:
        os.close(fd)
    return answer(s)


def dropped(s):
    """The connection is ended without an answer."""
    try:
        return s.recv(100) == b""
    except ConnectionResetError:
        return True


@test
def frames_that_are_none_end_their_connection_alone():
    frames = [b"\0" * n for n in (1, 3, 4, 7, 8, 11, 12, 4095, 4096, 4097,
                                  65536, 200000)]
    frames += [b"\xff" * n for n in (4, 8, 12, 16, 64, 4096)]
    frames += [frame(LIST, 0)[:n] for n in range(1, 12)]
    frames += [frame(LIST, 0, 1, b"x"), frame(LIST, 1), frame(CALL, 0),
               frame(CALL, 2**32 - 1), frame(0, 0), frame(207, 0),
               frame(ANSWER, 0), frame(KILL, 0), frame(KILL, 0, 1, b"\0" * 4),
               frame(KILL, 0, 1, struct.pack("<I", 2**32 - 1)),
               frame(KILL, 0, 1, struct.pack("<I", 4) + b"a\0b\0"),
               frame(KILL, 0, 1, struct.pack("<I", 2) + b"ab")]
    with Keeper() as k:
        before = k.at_rest()
        for f in frames:
            with k.connect() as s:
                try:
                    s.send(f)
                except OSError:
                    continue  # larger than a datagram may be
                expect(dropped(s), f[:20])
        with k.connect() as s:  # an empty datagram
            s.send(b"")
            expect(dropped(s))
        k.serves()
        until(lambda: k.fds() == before, "its descriptors are closed")


@test
def descriptors_where_none_belong_are_closed():
    r, w = os.pipe()
    with Keeper() as k:
        before = k.at_rest()
        for kind in (LIST, CALL, SPAWN, KILL, 0, 999):
            for sent, announced in ((1, 0), (253, 253), (253, 0), (2, 3),
                                    (100, 100)):
                with k.connect() as s:
                    send(s, frame(kind, announced), [w] * sent)
                    expect(dropped(s), (kind, sent))
        k.serves()
        until(lambda: k.fds() == before, "its descriptors are closed")
    os.close(r)
    os.close(w)


@test
def texts_are_sealed_and_short_or_refused():
    null = os.open("/dev/zero", os.O_RDONLY)
    directory = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    place = os.open("/", os.O_PATH)
    r, w = os.pipe()
    regular = os.open(os.path.join(TOP, "text"), os.O_RDWR | os.O_CREAT)
    os.write(regular, b'{"command": "up"}')
    with Keeper() as k:
        for fd in (null, directory, place, r, w, regular):
            with k.connect() as s:
                code, _ = ask(s, CALL, b"", [os.dup(fd)])
                expect(code is not None and code < 0, fd)
        for content, seals in ((b"{}", 0), (b"{}", fcntl.F_SEAL_WRITE),
                               (b"x" * ((1 << 20) + 1), SEALS)):
            with k.connect() as s:
                code, _ = ask(s, CALL, b"", [sealed(content, seals)])
                expect(code is not None and code < 0, (len(content), seals))
        for content in (b"", b"\0", b"{}\0", b"[" * (1 << 20), b"{}" * 9,
                        b'{"command":"up"}', b'{"command":"up","name":"x"}',
                        b'{"command":"down"}', b'{"command":[]}', b"null",
                        b'{"command":"up","name":"x","policy":{}}',
                        b'{"command":"up","name":1,"policy":{}}',
                        b'{"command":"up","command":"down"}',
                        b"\xff\xfe", b'{"command":"\\u0000"}',
                        b'{"command":"up","name":"../x","policy":'
                        b'{"agentbox":1}}',
                        b'{"command":"up","name":"' + b"n" * 65 +
                        b'","policy":{"agentbox":1}}'):
            code, body = k.call(content)
            expect(code is not None and code < 0 and body, content[:40])
        k.serves()
    for fd in (null, directory, place, r, w, regular):
        os.close(fd)


@test
def names_lead_to_no_other_place():
    with Keeper() as k:
        for name in ("", ".", "..", "../x", "/", "a/b", "x" * 64, "x" * 300,
                     "*", "%n%s", "\x1b[2J", "0" * 32):
            with k.connect() as s:
                code, _ = ask(s, KILL, text(name))
                expect(code == -8 or code is None or code < 0, (name, code))
        k.serves()


@test
def many_silent_clients_are_bounded():
    with Keeper() as k:
        held = []
        for _ in range(300):
            try:
                held.append(k.connect(1))
            except OSError:
                break
        time.sleep(0.2)
        expect(k.fds() < 100, k.fds())
        for s in held:
            s.close()

        def served():
            try:
                k.serves()
                return True
            except (OSError, struct.error):
                return False

        until(served, "a client is served again")


@test
def who_does_not_read_answers_is_let_go():
    with Keeper() as k:
        with k.connect(2) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            try:
                for i in range(20000):
                    s.send(frame(LIST, 0, i))
            except OSError:
                pass
            k.serves()


@test
def a_stopped_keeper_costs_a_client_a_bounded_time():
    with Keeper() as k:
        os.kill(k.p.pid, signal.SIGSTOP)
        begun = time.monotonic()
        done = tool("identity", "list", "--state", k.state, timeout=3 * WAIT)
        spent = time.monotonic() - begun
        os.kill(k.p.pid, signal.SIGCONT)
        expect(spent < 30 and b"agentbox: " in said(done.err), (spent, done))
        k.serves()


@test
def what_stands_in_the_way_is_not_followed():
    """In the directory of sockets: links, files, FIFOs, old sockets."""
    state = os.path.join(TOP, "planted")
    owners = os.path.join(state, "owners")
    os.makedirs(owners, 0o700)
    os.chmod(state, 0o700)
    os.symlink("/etc/passwd", os.path.join(owners, "1-0123456789abcdef"))
    os.mkfifo(os.path.join(owners, "2-0123456789abcdef"))
    os.mkdir(os.path.join(owners, "3-0123456789abcdef"))
    tool_lib.write("planted/owners/4-0123456789abcdef", "x")
    listening = []
    for name, kind in (("5-0123456789abcdef", socket.SOCK_STREAM),
                       ("6-0123456789abcdef", socket.SOCK_DGRAM),
                       ("7-0123456789abcdef", socket.SOCK_SEQPACKET)):
        s = socket.socket(socket.AF_UNIX, kind)
        s.bind(os.path.join(owners, name))
        if kind != socket.SOCK_DGRAM:
            s.listen(1)  # and never accepts, nor answers
        listening.append(s)
    with Keeper(state) as k:
        done = tool("identity", "list", "--state", state, timeout=3 * WAIT)
        expect(done.status in (0, 124) or done.err, done)
        k.serves()
    expect(len(os.listdir(owners)) >= 7, os.listdir(owners))
    for s in listening:
        s.close()


@test
def a_directory_of_others_is_refused():
    for what in ("link", "file", "open"):
        state = os.path.join(TOP, "bad-" + what)
        os.mkdir(state, 0o700)
        owners = os.path.join(state, "owners")
        if what == "link":
            os.symlink(TOP, owners)
        elif what == "file":
            tool_lib.write("bad-file/owners", "")
        else:
            os.mkdir(owners)
            os.chmod(owners, 0o770)
        k = Keeper(state)
        expect(k.p.wait(WAIT) == 125, what)
        expect(b"agentbox-keeper: " in k.p.stderr.read(), what)


@test
def the_socket_is_the_users_alone():
    with Keeper() as k:
        mode = os.stat(k.path).st_mode & 0o777
        expect(mode == 0o600, oct(mode))


def asks_as_another(k):
    """0: connected and dropped; 1: answered; 2: never got to the socket."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(12345)
            os.setuid(12345)
            with k.connect() as s:
                try:
                    s.send(frame(LIST, 0))
                except (BrokenPipeError, ConnectionResetError):
                    os._exit(0)
                os._exit(0 if dropped(s) else 1)
        except BaseException as e:
            os.write(2, repr(e).encode() + b"\n")
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@test
def whoever_gets_as_far_as_the_socket_is_still_not_the_user():
    if os.geteuid() != 0:
        raise tool_lib.Skip("needs root to be another user")
    # the directory of the tests is closed to others
    home = tempfile.mkdtemp(dir="/tmp")
    try:
        with Keeper(os.path.join(home, "state")) as k:
            expect(asks_as_another(k) == 2, "the directory is open")
            for name in (home, k.state, os.path.dirname(k.path)):
                os.chmod(name, 0o711)
            os.chmod(k.path, 0o777)
            result = asks_as_another(k)
            expect(result == 0, result)
            k.serves()
    finally:
        shutil.rmtree(home)


def processes_below(pid):
    """Of a keeper: its helpers and what is in its boxes."""
    found, todo = set(), [pid]
    while todo:
        now = todo.pop()
        for task in os.listdir("/proc"):
            if not task.isdigit():
                continue
            try:
                with open("/proc/%s/stat" % task) as f:
                    parent = f.read().rsplit(")", 1)[1].split()[1]
            except OSError:
                continue
            if int(parent) == now and int(task) not in found:
                found.add(int(task))
                todo.append(int(task))
    return found


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@box_test
def a_box_of_the_keeper_comes_and_goes():
    with Keeper() as k:
        code, body = k.up("one")
        expect(code == 0, body)
        box = json.loads(body)["id"]
        for name in ("one", box):
            code, body = k.up(name)
            expect(code == -17 or code < 0, (name, code, body))
        code, _ = k.call(b'{"command":"down","box":"one"}')
        expect(code == 0)
        code, _ = k.call(b'{"command":"down","box":"one"}')
        expect(code < 0)
        expect(not processes_below(k.p.pid), processes_below(k.p.pid))


@box_test
def a_channel_that_is_none_starts_nothing():
    """SPAWN takes a channel and a memfd; both may be anything."""
    with Keeper() as k:
        expect(k.up("box")[0] == 0)
        before = k.at_rest()
        r, w = os.pipe()
        own = k.connect()
        regular = os.open(os.path.join(TOP, "reg"), os.O_RDWR | os.O_CREAT)
        poll = select.epoll()
        stream = socket.socketpair()
        for fd in (r, w, own.fileno(), regular, poll.fileno(),
                   stream[0].fileno()):
            for command in (b"", b"\0" * 64, b"\xff" * 64):
                with k.connect() as s:
                    code, _ = ask(s, SPAWN, text("box"),
                                  [os.dup(fd), sealed(command)])
                    expect(code is not None and code < 0, (fd, command))
        with k.connect() as s:
            code, _ = ask(s, SPAWN, text("box"), [os.dup(r)])
            expect(code is not None and code < 0, code)
        with k.connect() as s:
            code, _ = ask(s, SPAWN, text("none"), [os.dup(r), sealed(b"x")])
            expect(code is not None and code < 0, code)
        own.close()
        poll.close()
        k.serves()
        until(lambda: k.fds() == before, "its descriptors are closed")
        for s in stream:
            s.close()
        for fd in (r, w, regular):
            os.close(fd)


def name_is_free(state):
    """A child that is not yet its program holds the lock a moment longer."""
    try:
        with open(os.path.join(state, "owners", ".keeper.lock")) as f:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False
    return True


@box_test
def a_keeper_killed_at_any_moment_takes_its_boxes_along():
    state = os.path.join(TOP, "killed")
    for i in range(24):
        with Keeper(state) as k:
            s = k.connect()
            send(s, frame(CALL, 1), [sealed(json.dumps(
                {"command": "up", "name": "box", "policy": POLICY}).encode())])
            if i % 3 == 2:
                answer(s)
            else:
                time.sleep(i * 0.0007)
            below = processes_below(k.p.pid)
            k.p.kill()
            k.p.wait()
            s.close()
            until(lambda: not any(alive(p) for p in below), "all have ended")
            until(lambda: name_is_free(state), "nobody has its name")
        for top, _, files in os.walk(state):
            # dead sockets go when somebody looks, and that a box was killed
            # before its names were put right is there for the next one
            expect(not files or top.endswith(("/owners",
                                              "/quarantine/unsettled")),
                   (top, files))
    with Keeper(state) as k:
        code, body = k.up("box")
        expect(code == 0, body)
        done = tool("identity", "list", "--state", state)
        expect(done.status == 0, done)
        sockets = [n for n in os.listdir(os.path.join(state, "owners"))
                   if not n.startswith(".")]
        expect(len(sockets) == 1, sockets)
        mounts = open("/proc/self/mountinfo").read()
        expect(state not in mounts, "a mount is left")


@box_test
def a_stopped_keeper_keeps_its_box():
    with Keeper() as k:
        expect(k.up("box")[0] == 0)
        before = processes_below(k.p.pid)
        os.kill(k.p.pid, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(k.p.pid, signal.SIGCONT)
        k.serves()
        expect(processes_below(k.p.pid) == before)


def comm(pid):
    with open(f"/proc/{pid}/comm") as f:
        return f.read().strip()


@box_test
def down_tells_what_was_not_put_right():
    os.makedirs(os.path.join(TOP, "direct"), exist_ok=True)
    policy = dict(POLICY, protect=["builtin:code-that-runs-later"],
                  workspace={"path": os.path.join(TOP, "direct"),
                             "at": "/w", "mount": "direct"})
    for is_killed in (False, True):
        with Keeper(os.path.join(TOP, "untold")) as k:
            call = {"command": "up", "name": "box", "policy": policy}
            with k.connect() as s:
                send(s, frame(CALL, 1), [sealed(json.dumps(call).encode())])
                code, body = answer(s)
            expect(code == 0, body)
            s = k.connect()
            below = [p for p in processes_below(k.p.pid)
                     if comm(p) == "agentbox-init"]
            expect(below, "no holder")
            os.kill(k.p.pid, signal.SIGSTOP)
            send(s, frame(CALL, 1), [sealed(json.dumps(
                {"command": "down", "box": "box"}).encode())])
            if is_killed:
                os.kill(min(below), signal.SIGKILL)
            os.kill(k.p.pid, signal.SIGCONT)
            code, body = answer(s)
            s.close()
            expect((code < 0) == is_killed, (code, body))
            expect(not is_killed or b"could not be put right" in body, body)


@box_test
def down_tells_of_a_box_that_ended_by_itself():
    top = os.path.join(TOP, "untold-later")
    os.makedirs(os.path.join(TOP, "direct2"), exist_ok=True)
    policy = dict(POLICY, protect=["builtin:code-that-runs-later"],
                  workspace={"path": os.path.join(TOP, "direct2"),
                             "at": "/w", "mount": "direct"})

    def ask(k, **call):
        with k.connect() as s:
            send(s, frame(CALL, 1), [sealed(json.dumps(call).encode())])
            return answer(s)

    with Keeper(top) as k:
        for signum in (signal.SIGTERM, signal.SIGKILL):
            code, body = ask(k, command="up", name="box", policy=policy)
            expect(code == 0, body)
            holder = min(p for p in processes_below(k.p.pid)
                         if comm(p) == "agentbox-init")
            os.kill(holder, signum)
            until(lambda: not processes_below(k.p.pid), "the box is gone")
            for told in (signum == signal.SIGKILL, False):
                code, body = ask(k, command="down", box="box")
                expect((b"ended by itself" in body) == told, (code, body))
                expect(code < 0, body)
        code, body = ask(k, command="up", name="box", policy=policy)
        expect(code == 0, body)



main()
