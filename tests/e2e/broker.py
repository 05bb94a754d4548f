#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The credential broker of a live box, attacked from inside and outside:
keys, users, processes that end, frames that are none, descriptors, floods,
leases that end in every way there is, and a search for the value wherever it
could have stayed. Gateway cases 140-151."""

import fcntl
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tool_lib
from broker_lib import (CLIENT, Live, VALUE, box, document, good, put,
                        reasons)
from gateway_lib import Ran, arguments, policy, records_of
from tool_lib import (HELPERS, TOP, WAIT, WORK, Skip, box_test, expect, main,
                      says, status, test, tool, until, write)

@box_test
def a_secret_comes_as_a_sealed_memfd():
    put()
    ran = good(box(document(), r'''
import fcntl
r, fds = ask(GET, "gh")
print(r, len(fds), value(fds[0]) == "%s"[::-1])
print(fcntl.fcntl(fds[0], 1034) & 15)     # F_GET_SEALS: all four
for mode in (os.O_RDWR, os.O_WRONLY):
    try:
        fd = os.open("/proc/self/fd/%%d" %% fds[0], mode)
        os.write(fd, b"x")
        print("written")
    except OSError as e:
        print(type(e).__name__)
out = secret("get", "gh")
print(out.returncode, out.stdout.decode() == "%s"[::-1])
''' % (VALUE[::-1], VALUE[::-1])), "ok 1 True", "15", "PermissionError",
        "PermissionError", "0 True")
    allowed = ran.records("allowed", "memfd")
    expect(len(allowed) == 2 and allowed[0]["subject"] == "gh", ran)
    for r in allowed:
        expect(r["peer_euid"] == 1000 and r["peer_pid"] > 1 and
               r["verdict"] == "allow" and r["timestamp"], r)


@box_test
def what_leads_to_it_cannot_be_replaced():
    """Row 78 of the sandbox cases: who answers there is the gateway."""
    put()
    good(box(document(), r'''
at = "/run/agentbox/broker"
def listen():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(at)
os.makedirs("/tmp/other/agentbox")
for act in (lambda: os.unlink(at), lambda: os.rename(at, "/tmp/broker"),
            lambda: os.rename(at, at + "2"), lambda: os.chmod(at, 0),
            lambda: os.chown(at, os.getuid(), os.getgid()),
            lambda: os.link(at, "/tmp/link"), listen,
            lambda: os.symlink("/tmp/x", at),
            lambda: os.rename("/run/agentbox", "/run/other"),
            lambda: os.rename("/tmp/other/agentbox", "/run/agentbox"),
            lambda: os.rmdir("/run/agentbox"),
            lambda: os.mkdir("/run/agentbox/new"),
            lambda: os.rename("/run", "/ran")):
    try:
        act()
        print("done")
    except OSError:
        pass
print(ask(GET, "gh")[0])
'''), "ok")


@box_test
def a_file_is_there_for_its_lease_and_empty_for_who_has_it_open():
    put()
    ran = good(box(document({"name": "gh", "delivery": ["file"],
                             "ttl": "10s"}), r'''
path = FILE + "gh"
assert os.environ["CREDENTIALS_DIRECTORY"] + "/gh" == path
print(open(path).read() == "")
print(ask(GET, "gh"))
print(ask(GET_FILE, "gh"))
kept = open(path, "rb", buffering=0)
print(kept.read().decode() == "%s"[::-1])
for act in (lambda: open(path, "w"), lambda: os.unlink(path),
            lambda: os.chmod(path, 0o666), lambda: os.link(path, path + "2"),
            lambda: os.rename(path, "/tmp/x"), lambda: os.truncate(path, 0),
            lambda: os.symlink("/etc/passwd", FILE + "other"),
            lambda: open("/proc/self/fd/%%d" %% kept.fileno(), "wb")):
    try:
        act()
        print("done")
    except OSError:
        pass
print(until(lambda: os.pread(kept.fileno(), 100, 0) == b""))
print(os.stat(path).st_size, ask(RENEW, "gh"))
''' % VALUE[::-1]), "True", "('refused', [])", "('ok', [])", "True", "True",
        "0 ('ended', [])")
    expect("delivery" in reasons(ran, "denied"), ran)
    expect("expired" in reasons(ran, "closed"), ran)


@box_test
def who_has_mapped_a_file_is_ended_and_a_memfd_stays():
    """What agentbox_gateway(3) says of both: the one cannot be read when its
    lease has ended, by nobody; the other cannot be recalled."""
    put()
    good(box(document(), r'''
import mmap, signal
r, fds = ask(GET, "gh")
print(ask(GET_FILE, "gh")[0])
with open(FILE + "gh", "rb") as f:
    seen = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
def look():
    pid = os.fork()
    if pid == 0:
        os._exit(seen[0] != "%s"[-1].encode()[0])
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(look(), ask(RELEASE, "gh")[0], look() == -signal.SIGBUS,
      value(fds[0]) == "%s"[::-1], ask(RENEW, "gh")[0])
''' % (VALUE[::-1], VALUE[::-1])), "ok", "0 ok True True ended")


@box_test
def renewing_keeps_a_lease_and_releasing_ends_it():
    put()
    ran = good(box(document({"name": "gh", "delivery": ["memfd", "file"],
                             "ttl": "60s"}), r'''
def left():
    return int(secret("list").stdout.decode().split()[4])
print(secret("renew", "gh").returncode)
print(secret("get", "--file", "gh").stdout.decode(), end="")
time.sleep(6)
before = left()
out = secret("renew", "gh")
print(out.returncode, out.stdout, before <= 54, left() > before)
print(open(FILE + "gh").read() == "%s"[::-1])
print(secret("list").stdout.decode().split()[:3])
print(secret("release", "gh").returncode, os.stat(FILE + "gh").st_size)
print(secret("release", "gh").returncode, secret("renew", "gh").returncode)
''' % VALUE[::-1]), "4", "/run/agentbox/secrets/gh",
        r"0 b'60\n' True True", "True", "['gh', 'memfd,file', '60']",
        "0 0", "4 4")
    expect("released" in reasons(ran, "closed"), ran)


@box_test
def renewing_goes_no_further_than_the_longest_time():
    """However often; what is had anew has its own time again."""
    put()
    ran = good(box(document({"name": "gh", "delivery": ["memfd", "file"],
                             "ttl": "4s", "max_ttl": "6s"}), r'''
now = time.monotonic
begin = now()
print(ask(GET_FILE, "gh")[0])
had = now()
seen, wrong = [], []
def renewed():
    asked = now()
    out = secret("renew", "gh")
    told = now()
    if out.returncode == 0:
        left = int(out.stdout)  # in whole seconds
        if not (min(4, begin + 6 - told) - 1 < left <= min(4, had + 6 - asked)):
            wrong.append((left, begin, had, asked, told))
        seen.append((left, asked))
    elif told < min(begin + 6, seen[-1][1] + 4) - 0.1:
        wrong.append("it ended before its time")
    time.sleep(0.1)
    return out.returncode
print(until(renewed), wrong)
left = [n for n, _ in seen]
print(left == sorted(left, reverse=True), os.stat(FILE + "gh").st_size)
print(ask(RENEW, "gh")[0], ask(GET_FILE, "gh")[0], ask(RENEW, "gh")[0])
print(open(FILE + "gh").read() == "%s"[::-1])
''' % VALUE[::-1]), "ok", "True []", "True 0", "ended ok ok",
        "True")
    expect("expired" in reasons(ran, "closed"), ran)


@box_test
def what_is_over_is_not_renewed_by_who_asks_before_it_is_noticed():
    """As after a sleep of the machine: the clock and the question come in one
    turn of the gateway, which was stopped meanwhile."""
    put()
    for verb, want in (("RENEW", "ended"), ("RELEASE", "ended")):
        with Live(document({"name": "gh", "delivery": ["file"],
                            "ttl": "1s"}), r'''
s = dial()
said(ask(GET_FILE, "gh")[0])
step(1)
time.sleep(1.5)
s.send(frame(%s, "gh"))
said("asked")
said(read(s)[0])
said(os.stat(FILE + "gh").st_size)
''' % verb) as b:
            expect(b.line() == "ok", "no value")
            pid = b.children()["agentbox-gatewa"]
            os.kill(pid, signal.SIGSTOP)
            b.go()
            expect(b.line() == "asked", "no question")
            os.kill(pid, signal.SIGCONT)
            seen = b.line()
            expect(seen == want, (verb, seen))
            expect(b.line() == "0", "the file stays")
            b.p.wait(WAIT)
        log = [r for r in records_of(b.log) if r["event"] == "closed"]
        expect([r["reason"] for r in log] == ["expired"], log)


@box_test
def leases_go_by_the_clock_that_goes_on_while_the_machine_sleeps():
    """Where that is a hundred days ahead of the one that does not: nothing
    is compared with the wrong one."""
    put()
    if os.geteuid() != 0:
        raise Skip("needs root: in a user namespace its helpers are nobody's")
    apart = os.path.join(TOP, "apart")
    write(apart, "#!/bin/sh\nexec unshare -T --boottime 8640000 -- %s "
          "\"$@\"\n" % tool_lib.TOOL)
    os.chmod(apart, 0o755)
    real, tool_lib.TOOL = tool_lib.TOOL, apart
    try:
        good(box(document({"name": "gh", "delivery": ["file"], "ttl": "8s",
                           "max_ttl": "9s"}), r'''
print(time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic() > 8600000)
print(ask(GET_FILE, "gh")[0], ask(RENEW, "gh")[0])
print(os.stat(FILE + "gh").st_size > 0)
print(until(lambda: os.stat(FILE + "gh").st_size == 0))
print(ask(RENEW, "gh")[0])
'''), "True", "ok ok", "True", "True", "ended")
    finally:
        tool_lib.TOOL = real


@box_test
def every_refusal_looks_the_same_to_the_box_and_the_record_says_which():
    put()
    other = box(document(), "print(KEY)").out.strip()
    ran = good(box(document(
        {"name": "gh", "delivery": ["memfd"]},
        {"name": "nobody", "delivery": ["memfd"], "euids": []},
        {"name": "seven", "delivery": ["memfd"], "euids": [7]},
        {"name": "injected"}), r'''
for key in ("0" * 64, "%s", KEY.upper(), KEY[:-1] + "0" if KEY[-1] != "0"
            else KEY[:-1] + "1"):
    print(ask(GET, "gh", key))
for name in ("unknown", "injected", "GH", "nobody", "seven"):
    print(ask(GET, name))
print(ask(GET_FILE, "gh"), ask(LIST, "", "0" * 64))
out = secret("list").stdout.decode()
print([line.split("\t")[0] for line in out.splitlines()])
''' % other), *["('refused', [])"] * 9,
        "('refused', []) ('refused', [])", "['gh']")
    expect(reasons(ran, "denied") == [
        "key"] * 4 + ["not_listed"] * 3 + ["euid"] * 2 + ["delivery", "key"],
        ran)


@box_test
def frames_that_are_none_end_the_connection_and_leave_the_broker():
    put()
    ran = good(box(document(), r'''
whole = frame(GET, "gh")
bad = [whole[:n] for n in range(1, len(whole))]
bad += [whole + b"\0", whole + b"x" * 3000, b"x" * 100000,
        frame(GET, "gh", kind=225), frame(GET, "gh", fds=1),
        frame(0, "gh"), frame(GET_GIT, "gh"), frame(7, "gh"),
        frame(2**32 - 1, "gh"), frame(GET, "gh", user="x"),
        frame(GET_GIT, "", user="x"), frame(GET_GIT, "h" * 262, user=""),
        frame(GET_GIT, "h", user="u" * 256),
        frame(GET, "gh", key=KEY[:-1]), frame(GET, "gh", key=KEY + "0"),
        frame(GET, "gh", key=""), frame(LIST, "gh"), frame(GET, "")]
bad += [frame(GET, n) for n in (
    b"gh", b"g\0h\0", b"gh\0\0", b"\0", b"", b"../gh\0", b"..\0", b".\0",
    b"/etc/passwd\0", b"gh/\0", b"g*\0", b"-gh\0", b"gh\n\0", b"\xff\0",
    b"a" * 65 + b"\0", b"a" * 300 + b"\0")]
for data in bad:
    s = dial()
    try:
        s.send(data)
    except OSError as e:
        assert e.errno == 90, e     # EMSGSIZE: too much for the socket
        continue
    r = read(s)
    assert r == ("closed", []), (data, r)
print(len(bad) > 100, ask(GET, "gh")[0])
'''), "True ok")
    expect("malformed" in reasons(ran, "denied"), ran)


@box_test
def what_connections_say_does_not_mix():
    """Each is answered on its own and in its order; a frame in two pieces is
    two that are none, on one connection or on two."""
    put()
    put("two", VALUE[:20] + "-two")
    good(box(document({"name": "gh", "delivery": ["memfd"]},
                      {"name": "two", "delivery": ["memfd"]}), r'''
a, b = dial(), dial()
for s, verb, name in ((a, GET, "gh"), (b, GET, "two"), (a, GET, "none"),
                      (b, RENEW, "gh"), (a, GET, "two"), (b, GET, "gh"),
                      (a, RELEASE, "two"), (b, RENEW, "two")):
    s.send(frame(verb, name))
def heard(s):
    r, fds = read(s)
    return r + "".join(" two" if value(fd).endswith("-two") else " gh"
                       for fd in fds)
print([heard(a) for _ in range(4)])
# the other connection has begun and ended leases, before or after
got = [heard(b) for _ in range(4)]
print(got[::2], {got[1], got[3]} <= {"ok", "ended"})
whole = frame(GET, "gh")
for at in (1, 12, 40, len(whole) - 1):
    c, d, e = dial(), dial(), dial()
    c.send(whole[:at])
    d.send(whole[at:])
    e.send(whole[:at])
    try:
        e.send(whole[at:])
    except OSError:
        pass        # hung up on already
    assert [read(s) for s in (c, d, e)] == [("closed", [])] * 3, at
print(ask(GET, "gh")[0])
'''), "['ok gh', 'refused', 'ok two', 'ok']",
         "['ok two', 'ok gh'] True", "ok")


# Linux 6.16 refuses them to who sends; before, the broker closes what came.
GIVE = r'''
try:
    dial().getsockopt(socket.SOL_SOCKET, 83)    # SO_PASSRIGHTS
    REFUSES = True
except OSError:
    REFUSES = False
def give(s, fds, announced):
    """Whether they were taken."""
    try:
        s.sendmsg([frame(GET, "gh", fds=announced)], [(
            socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    except (PermissionError, BrokenPipeError):
        return False
    assert not REFUSES, "descriptors were taken"
    return True
'''


@box_test
def descriptors_that_are_sent_are_closed_and_refused():
    put()
    ran = good(box(document(), GIVE + r'''
r, w = os.pipe()
for count in (1, 3, 60, 250):
    for fds in (0, count):
        s = dial()
        if not give(s, [w] * count, fds):
            s.send(frame(GET, "gh", fds=count))
        assert read(s)[0] == "closed", count
os.close(w)
# nobody has the other end: the pipe is at its end
print(os.read(r, 1) == b"", ask(GET, "gh")[0])
'''), "True ok")
    expect("malformed" in reasons(ran, "denied"), ran)


@box_test
def nobody_waits_for_a_socket_that_lingers():
    """Who closes the last descriptor of one waits for its data to go: of one
    that is read, that waits behind what ends the connection, that is in
    another socket's queue, or that comes where there is no room for more."""
    put()
    ran = box(document(), GIVE + r'''
listener = socket.create_server(("127.0.0.1", 0))
def linger(s, on):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                 struct.pack("ii", on, 10 * WAIT))
def full():
    s = socket.create_connection(listener.getsockname())
    linger(s, 1)
    s.setblocking(False)
    try:
        while True:
            s.send(bytes(65536))
    except BlockingIOError:
        return s, listener.accept()
def lingers(b, fds, s, *others):
    """The last one is the gateway's, where it was taken."""
    if not give(b, fds, len(fds)):
        linger(s, 0)
    for x in (s, *others):
        x.close()
for count in (1, 250):
    s, other = full()
    fds = [0] * (count - 1) + [s.fileno()]
    fds[0] = s.fileno()
    lingers(dial(), fds, s)
    print(ask(GET, "gh")[0])
print(REFUSES)
if REFUSES:
    s, other = full()
    b = dial()
    b.send(b"x" * 20)
    lingers(b, [s.fileno()], s)
    print(ask(GET, "gh")[0])
    s, other = full()
    x, y = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    x.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                        array.array("i", [s.fileno()]))])
    lingers(dial(), [y.fileno()], s, x, y)
    print(ask(GET, "gh")[0])
    s, other = full()
    held = []
    def another():
        try:
            held.append(dial())
        except BlockingIOError:     # it has as many to accept
            time.sleep(0.02)
        return len(held) > 64
    assert until(another)
    lingers(held[-1], [s.fileno()], s)
    for b in held:
        b.close()
    print(until(lambda: ask(GET, "gh")[0] == "ok"))
''')
    # before Linux 6.16 an agent can keep its own gateway waiting
    good(ran, "ok", "ok", *(["True", "ok", "ok", "True"]
                            if "True" in ran.out else ["False"]))


@box_test
def a_process_that_has_ended_asks_no_more():
    put()
    ran = good(box(document(), r'''
# its connection lives on in a child, which has the key as well
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    s = dial()
    parent = os.getpid()
    if os.fork() == 0:
        # the parent has ended when this one belongs to another
        until(lambda: os.getppid() != parent)
        time.sleep(0.2)
        os.write(w, ask(GET, "gh", s=s)[0].encode())
        os._exit(0)
    assert ask(GET, "gh", s=s)[0] == "ok"
    os._exit(0)
os.close(w)
os.waitpid(pid, 0)
print(os.read(r, 100).decode())
# one that became another program is the same process, with the same rights
s = dial()
os.set_inheritable(s.fileno(), True)
program = "import socket, os; s = socket.socket(fileno=%d); " % s.fileno()
if os.fork() == 0:
    os.execvp("python3", ["python3", "-c", program + "s.send(%r); "
              "os._exit(s.recv(9000)[8])" % frame(GET, "gh", "0" * 64)])
print(os.waitstatus_to_exitcode(os.wait()[1]))
'''), "closed", "1")
    expect("peer_gone" in reasons(ran, "denied"), ran)
    expect("key" in reasons(ran, "denied"), ran)


@box_test
def a_flood_is_bounded_and_does_not_take_the_gateway_away():
    put()
    ran = good(box(document(), r'''
seen = {}
s = dial()
for i in range(4):
    # more at once than it takes in a second, however busy the machine is
    for j in range(100):
        s.send(frame(LIST, ""))
    for j in range(100):
        r = read(s)[0]
        seen[r] = seen.get(r, 0) + 1
print(seen["ok"] >= 50, seen["busy"] > 0, sum(seen.values()))
print(until(lambda: ask(GET, "gh")[0] == "ok"))
'''), "True True 400", "True")
    says(ran.done, "rate")


@box_test
def there_are_only_so_many_connections():
    put()
    ran = good(box(document(), r'''
# more connections than there is room for: the last are closed
held, closed = [], 0
for i in range(200):
    try:
        held.append(dial())
    except OSError:
        closed += 1
for s in held[-1:]:
    print(read(s)[0])
for verb in (["get", "gh"], ["list"]):
    r = secret(*verb)
    print(r.returncode, r.stdout)
for s in held:
    s.close()
print(until(lambda: ask(GET, "gh")[0] == "ok"))
'''), "closed", "5 b''", "5 b''", "True")
    # the log counts what repeats itself
    says(ran.done, "too_many")


@box_test
def a_value_that_is_missing_or_open_to_others_is_not_there():
    put()
    store = os.path.join(tool_lib.HOME, ".local/state/agentbox/secrets")
    doc = document(*[{"name": n, "delivery": ["memfd"]}
                     for n in ("gh", "none", "open", "link", "dir", "big",
                               "fifo", "void")])
    os.mkdir(store + "/dir", 0o700)
    os.mkfifo(store + "/fifo", 0o600)
    os.symlink("gh", store + "/link")
    for name, mode, text in (("open", 0o640, VALUE), ("big", 0o600,
                             "x" * 65537), ("void", 0o600, "")):
        with open(os.path.join(store, name), "w") as f:
            f.write(text)
        os.chmod(os.path.join(store, name), mode)
    try:
        ran = good(box(doc, r'''
print([ask(GET, n)[0] for n in ("none", "open", "link", "dir", "fifo", "big",
                                "void")])
print(secret("get", "open").returncode, ask(GET, "gh")[0])
'''), str(["none"] * 7), "4 ok")
        expect(set(reasons(ran, "failed")) == {"no_value"}, ran)
        listed = {s["name"]: s["problem"]
                  for s in tool("secret", "list", "--json").json}
        expect(listed["gh"] is None and "0600" in listed["open"] and
               listed["link"] and listed["fifo"] and listed["dir"], listed)
    finally:
        for name in ("open", "link", "big", "fifo", "void"):
            os.unlink(os.path.join(store, name))
        os.rmdir(store + "/dir")


@box_test
def after_its_release_the_value_is_nowhere_in_the_box():
    put()
    good(box(document(), r'''
keeper = subprocess.Popen(["sleep", "100"])
null = open("/dev/null", "w")
subprocess.run([TOOL, "get", "gh"], stdout=null)
subprocess.run([TOOL, "get", "--file", "gh"], stdout=null)
subprocess.run([TOOL, "release", "gh"])
# backwards here, so that this program is no place where it is
pattern = "%s"
def has(data):
    return data[::-1].find(pattern.encode()) >= 0
# what is there is found: in a file, an environment, a memory
planted = "/tmp/planted"
with open(planted, "w") as f:
    f.write("in the midst " + pattern[::-1] + " of it")
r, w = os.pipe()
holder = subprocess.Popen(["python3", "-c", "import os, sys, time\n"
    "x = sys.stdin.read()[::-1]\nos.close(%%d)\ntime.sleep(1000)" %% w],
    stdin=subprocess.PIPE, pass_fds=[w])
holder.stdin.write(pattern.encode())
holder.stdin.close()
os.close(w)
os.read(r, 1)
bearer = subprocess.Popen(["sleep", "1000"], env={"X": pattern[::-1]})
found = []
def look(path):
    try:
        with open(path, "rb") as f:
            if has(f.read(1 << 26)):
                found.append(path)
    except OSError:
        pass
looked = 0
def look_memory(pid):
    global looked
    try:
        maps = open("/proc/%%s/maps" %% pid).read().splitlines()
        memory = open("/proc/%%s/mem" %% pid, "rb", buffering=0)
    except OSError:
        return
    looked += 1
    for line in maps:
        a, b = (int(x, 16) for x in line.split()[0].split("-"))
        if not line.split()[1].startswith("r") or b - a > 1 << 28:
            continue
        try:
            memory.seek(a)
            if has(memory.read(b - a)):
                found.append("memory of " + pid)
                break
        except (OSError, ValueError, OverflowError):
            pass
def look_everywhere():
    found.clear()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("environ", "cmdline"):
            look("/proc/%%s/%%s" %% (pid, name))
        look_memory(pid)
    for top in ("/run", "/tmp", "/workspace", "/home", "/dev/shm", "/etc"):
        for where, _, names in os.walk(top):
            for n in names:
                path = os.path.join(where, n)
                if os.path.isfile(path):
                    look(path)
look_everywhere()
print(sorted(found) == sorted([planted, "memory of %%d" %% holder.pid,
    "memory of %%d" %% bearer.pid, "/proc/%%d/environ" %% bearer.pid]) or found)
for p in (holder, bearer):
    p.kill()
    p.wait()
os.unlink(planted)
look_everywhere()
keeper.kill()
print(looked > 0, found)
''' % VALUE[::-1]), "True", "True []")


FILE_OUT = r'''
print(secret("get", "--file", "gh").returncode, flush=True)
kept = open(FILE + "gh", "rb", buffering=0)
def is_empty():
    return os.pread(kept.fileno(), 100, 0) == b""
said(not is_empty())
'''


@box_test
def a_revoked_secret_is_taken_from_live_boxes_and_from_the_store():
    put()
    with Live(document({"name": "gh", "delivery": ["file", "memfd"]},
                       {"name": "two", "delivery": ["memfd"]}),
              FILE_OUT + r'''
r, fds = ask(GET, "gh")
said(until(is_empty))
step(1)
said([ask(v, "gh")[0] for v in (GET, GET_FILE, RENEW, RELEASE)])
said(secret("list").stdout.decode().split()[0])
''') as b:
        expect((b.line(), b.line()) == ("0", "True"), "the lease")
        done = status(tool("secret", "revoke", "gh", "--json"), 0)
        expect([x["cut"] for x in done.json] in ([1], [2]), done)
        expect(b.line() == "True", "not emptied")
        # whoever stores it again does not bring it back to this box
        put()
        b.go()
        expect(b.line() == str(["refused"] * 4), "asks on")
        expect(b.line() == "two", "still listed")
        expect(b.p.wait(WAIT) == 0, b.p.stderr.read())
    log = [r for r in records_of(b.log) if r["how"] == "broker"]
    expect("revoked" in [r["reason"] for r in log], log)
    status(tool("secret", "revoke", "gh"), 0)
    says(status(tool("secret", "revoke", "gh"), 4), 'no secret "gh"')


@test
def what_was_done_and_what_is_not_there_is_named():
    says(status(tool("secret", "put", "spare", stdin=b""), 3),
         "standard input: the value is empty")
    status(tool("secret", "put", "spare", stdin=b"x"), 0)
    says(status(tool("secret", "revoke", "spare"), 0),
         "'spare' is not stored any more", "no live box has had 'spare'")
    says(status(tool("secret", "revoke", "spare"), 4), 'no secret "spare"')
    says(status(tool("identity", "revoke", "nobody@x"), 4),
         "no live box has the identity 'nobody@x'")
    says(status(tool("identity", "revoke", ""), 2), "ID is empty")


@box_test
def a_revoked_identity_loses_leases_network_and_new_commands():
    put()
    with Live(document(identity="ada@acme"), FILE_OUT + r'''
held = dial()
said(until(is_empty))
step(1)
said(read(held)[0])
said(read(dial())[0])
try:
    socket.create_connection(("192.0.0.1", 3128), WAIT).recv(1)
    said("closed")
except OSError:
    said("closed")
''', "--name", "ada") as b:
        expect((b.line(), b.line()) == ("0", "True"), "the lease")
        found = tool("identity", "list", "--json").json
        expect([f["identity"] for f in found] == ["ada@acme"], found)
        status(tool("identity", "revoke", "eve@acme", "--json"), 4)
        done = status(tool("identity", "revoke", "ada@acme", "--json"), 0)
        expect([x["name"] for x in done.json] == ["ada"] and
               done.json[0]["cut"] >= 2, done)
        expect(b.line() == "True", "not emptied")
        again = status(tool("identity", "revoke", "ada@acme", "--json"), 0)
        expect(again.json[0]["cut"] == 0, again)
        b.go()
        expect([b.line() for _ in range(3)] == ["closed"] * 3, "goes on")
        expect(b.p.wait(WAIT) == 0, b.p.stderr.read())
    with open(b.log) as f:
        expect('"type":"box.revoke"' in f.read(), "not recorded")


@box_test
def a_killed_gateway_leaves_no_file():
    put()
    with Live(document(), FILE_OUT + "said(until(is_empty))\n") as b:
        expect((b.line(), b.line()) == ("0", "True"), "the lease")
        os.kill(b.children()["agentbox-gatewa"], signal.SIGKILL)
        expect(b.line() == "True", "not emptied")


@box_test
def a_killed_host_leaves_no_file():
    put()
    with Live(document(), FILE_OUT + "time.sleep(10 * WAIT)\n") as b:
        expect((b.line(), b.line()) == ("0", "True"), "the lease")
        pid = b.children()["python3"]
        # whoever has it open outside lives on
        fd = os.open("/proc/%d/root/run/agentbox/secrets/gh" % pid,
                     os.O_RDONLY)
        try:
            expect(os.pread(fd, 100, 0).decode() == VALUE, "another file")
            b.p.kill()
            until(lambda: os.pread(fd, 100, 0) == b"", "the file stays")
        finally:
            os.close(fd)


@box_test
def the_value_passes_no_memory_of_the_host_and_stays_in_none_of_the_gateway():
    put()
    with Live(document(), r'''
r, fds = ask(GET, "gh")
text = value(fds[0])
said(r)
step(1)
''') as b:
        expect(b.line() == "ok", "no value")
        # whoever has it is found
        expect(VALUE.encode() in memory_of(b.children()["python3"]),
               "the search finds nothing")
        names = {"agentbox": b.p.pid}
        if os.geteuid() == 0:
            names["gateway"] = b.children()["agentbox-gatewa"]
        for name, pid in names.items():
            expect(VALUE.encode() not in memory_of(pid), name)
        b.go()
        expect(b.p.wait(WAIT) == 0, b.p.stderr.read())


def memory_of(pid):
    data = []
    with open("/proc/%d/maps" % pid) as f:
        maps = f.read().splitlines()
    with open("/proc/%d/mem" % pid, "rb", buffering=0) as m:
        for line in maps:
            a, b = (int(x, 16) for x in line.split()[0].split("-"))
            if line.split()[1][0] != "r" or b - a > 1 << 28:
                continue
            try:
                m.seek(a)
                data.append(m.read(b - a) or b"")
            except (OSError, OverflowError):
                pass
    expect(len(data) > 10, "nothing was looked at")
    return b"".join(data)


@box_test
def row_143_nobody_in_the_box_asks_as_somebody_else():
    """No id is gained by a call, by a program with a set-uid bit, in a user
    namespace of one's own or by what a message claims; and the broker hears
    the kernel's word, which is the same each time."""
    put()
    su = next((p for p in ("/usr/bin/su", "/bin/su", "/usr/bin/mount")
               if os.path.exists(p)), "")
    ran = good(box(document({"name": "gh", "delivery": ["memfd"],
                             "euids": [1000]}), r'''
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
# EINVAL: there is no such id in the box
REFUSED = (errno.EPERM, errno.EACCES, errno.EINVAL)
def code(rc):
    e = ctypes.get_errno()
    return "done" if rc >= 0 else "refused" if e in REFUSED else e
for uid in (0, 999, 65534):
    print(code(libc.setuid(uid)), code(libc.seteuid(uid)),
          code(libc.setresuid(uid, uid, uid)), code(libc.setfsuid(-1)))
print(code(libc.unshare(0x10000000)), code(libc.unshare(0x10020000)))
try:
    with open("/proc/self/uid_map", "w") as f:
        f.write("0 1000 1\n")
    print("mapped")
except OSError as e:
    print("refused" if e.errno in REFUSED else e)
# what a message claims is checked by the kernel
s = dial()
try:
    s.sendmsg([frame(GET, "gh")], [(socket.SOL_SOCKET, 2,   # SCM_CREDENTIALS
                                    struct.pack("iII", os.getpid(), 0, 0))])
    print("sent")
except OSError as e:
    print("refused" if e.errno in REFUSED else e)
print(open("/proc/self/status").read().split("NoNewPrivs:")[1].split()[0])
program = "%s"
if program:
    st = os.stat(program)
    p = subprocess.Popen([program, "--help"], stdout=subprocess.DEVNULL)
    try:
        ids = open("/proc/%%d/status" %% p.pid).read().split("Uid:")[1]
        assert set(ids.split("\n")[0].split()) == {"1000"}, ids
    except (OSError, IndexError):
        pass
    p.wait()
print(os.getresuid(), ask(GET, "gh")[0])
''' % su), *["refused refused refused done"] * 3, "refused refused",
        "refused", "refused", "1", "(1000, 1000, 1000) ok")
    asked = ran.records("allowed", "memfd")
    expect([r["peer_euid"] for r in asked] == [1000], asked)


@box_test
def who_is_not_of_the_box_is_refused_with_its_key():
    """A process outside, with the box's key, on the box's own socket."""
    put()
    if os.geteuid() != 0:
        raise Skip("needs root to be a second user")
    with Live(document(), 'said(KEY)\nstep(1)\nsaid(ask(GET, "gh")[0])\n') \
            as b:
        key = b.line()
        pid = b.children()["python3"]
        text = CLIENT.replace('"/run', '"/proc/%d/root/run' % pid)
        done = subprocess.run(
            [sys.executable, "-c", text + 'print(ask(GET, "gh"), '
             'ask(LIST, ""))'], stdout=subprocess.PIPE, timeout=WAIT,
            env=dict(os.environ, AGENTBOX_KEY=key, AGENTBOX_SECRET=""))
        expect(done.stdout == b"('refused', []) ('refused', [])\n", done)
        b.go()
        expect(b.line() == "ok", "nobody is served")
        b.p.wait(WAIT)
    log = records_of(b.log)
    foreign = [r for r in log if r["reason"] == "foreign_user"]
    expect(len(foreign) == 2 and foreign[0]["peer_euid"] == 0, log)


def goes_on_while_the_host_is_stopped(b, made):
    """Until there is this file, since the tool that passes output on is
    stopped."""
    expect(b.line() == "ready", "no box")
    b.p.send_signal(signal.SIGSTOP)
    try:
        b.go()
        until(lambda: os.path.exists(os.path.join(WORK, made)), "no answer",
              3 * WAIT)
    finally:
        b.p.send_signal(signal.SIGCONT)


@box_test
def a_host_that_does_not_answer_is_told_to_the_box_in_time():
    put()
    with Live(document(), r'''
said("ready")
step(1)
r = ask(GET, "gh")[0]
open("/workspace/answered", "w").close()
said(r)
''') as b:
        goes_on_while_the_host_is_stopped(b, "answered")
        expect(b.line() == "late", "waits")


@box_test
def questions_that_were_given_up_do_not_take_the_gateway_away():
    put()
    with Live(document(), r'''
said("ready")
step(1)
for i in range(60):
    s = dial()
    s.send(frame(GET, "gh"))
    # it was read when the next one is answered
    s.close()
    assert ask(LIST, "")[0] in ("ok", "busy")
open("/workspace/given-up", "w").close()
step(2)
said(until(lambda: ask(GET, "gh")[0] == "ok"))
''') as b:
        goes_on_while_the_host_is_stopped(b, "given-up")
        b.go()
        expect(b.line() == "True", "no gateway")
        expect(b.p.wait(WAIT) == 0, b.p.stderr.read())


@box_test
def what_cannot_be_delivered_is_refused_by_name():
    for doc, words in (
            (policy([], secrets=[{"name": "a", "delivery": ["memfd"]}],
                    network={"mode": "none"}), "'gateway'"),
            (document({"name": "a", "delivery": ["file"]},
                      require=["noswap"]), "noswap"),
            (document({"name": "a", "delivery": ["memfd"]},
                      mounts=[{"from": WORK, "to": "/run/agentbox",
                               "access": "read"}]), "/run/agentbox"),
            (document(*[{"name": "n%d" % i, "delivery": ["memfd"]}
                        for i in range(33)]), "32")):
        ran = box(doc, "print(1)")
        expect(ran.done.status == 125 and words in ran.done.text, ran)
    # injection alone: no socket, no program
    ran = Ran(tool("run", *arguments(
        document({"name": "a"}), "sh", "-c",
        "test ! -e /run/agentbox && echo none")[1][1:]), [])
    expect(ran.out == "none\n", ran)


@test
def the_store_takes_values_from_standard_input_alone():
    put("one", "x")
    names = [s["name"] for s in tool("secret", "list", "--json").json]
    expect("one" in names, names)
    says(status(tool("secret", "put", "one", "two"), 2), "put")
    for name in ("../x", "a/b", "a.b", "", "-x", "a" * 65, "a b"):
        done = tool("secret", "put", "--", name, stdin=b"v")
        expect(done.status == 3, done)
    says(status(tool("secret", "put", "big", stdin=b"x" * 65537), 3), "64 KiB")
    says(status(tool("secret", "put", "void"), 3), "empty")
    store = os.path.join(tool_lib.HOME, ".local/state/agentbox/secrets")
    # what a killed one has left; and of one that is at work, nothing is taken
    left = os.path.join(store, ".0123456789abcdef")
    at_work = os.open(store, os.O_RDONLY)
    fcntl.flock(at_work, fcntl.LOCK_SH)
    write(left, "x")
    status(tool("secret", "put", "max", stdin=b"x" * 65535), 0)
    expect(os.path.exists(left), "somebody's work is gone")
    os.close(at_work)
    status(tool("secret", "put", "max", stdin=b"x" * 65536), 0)
    expect(not os.path.exists(left), "left over")
    expect(os.stat(store).st_mode & 0o777 == 0o700, "the directory")
    for name in os.listdir(store):
        expect(not name.startswith("."), "left over: " + name)
        expect(os.stat(os.path.join(store, name)).st_mode & 0o777 == 0o600,
               name)
    expect("x" * 100 not in tool("secret", "list", "--json").out.decode(),
           "a value")
    status(tool("secret", "revoke", "one"), 0)
    status(tool("secret", "revoke", "max"), 0)
    expect("one" not in os.listdir(store), "still there")


main()
