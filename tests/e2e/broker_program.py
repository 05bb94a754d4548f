#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that are asked for values, `secrets[].command`: what they print is
the value and nothing else is, whoever could have written them is looked at,
and nothing of them goes on when nobody wants it any more: too slow, revoked,
killed, the box or the host gone."""

import os
import signal
import stat
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tool_lib
from broker_lib import Live, VALUE, box, document, good, put
from tool_lib import (TOP, WAIT, WORK, Skip, box_test, environment, expect,
                      main, says, status, tool, until, write)


def asks(script, name="gh", **more):
    return dict({"name": name, "delivery": ["memfd", "file"],
                 "command": ["/bin/sh", "-c", script]}, **more)


def made(name):
    return os.path.join(WORK, name)


def gone(pid):
    """It is no process any more, or one that has only to be waited for."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(") ", 1)[1][0] in "ZX"
    except OSError:
        return True


def pid_in(name):
    def is_there():
        with open(made(name)) as f:
            return f.read().endswith("\n")
    until(lambda: os.path.exists(made(name)) and is_there(), "no program")
    with open(made(name)) as f:
        return int(f.read())


def forget(*names):
    for name in names:
        if os.path.exists(made(name)):
            os.unlink(made(name))


def failures(ran):
    return {r["subject"]: r["detail"] for r in ran.records("failed",
                                                           "program")}


@box_test
def what_a_program_prints_is_the_value():
    put("gh", "stored")
    forget("runs")
    ran = good(box(document(
        asks("echo run >>%s; echo '%s'; echo noise >&2" % (
            made("runs"), VALUE)),
        {"name": "lines", "delivery": ["memfd"],
         "command": ["/bin/echo", "a b", "", "*$HOME"]},
        {"name": "max", "delivery": ["memfd"], "command": [
            "/bin/sh", "-c", "head -c 65536 /dev/zero; echo"]}), r'''
VALUE = "%s"[::-1]
for i in range(2):
    r, fds = ask(GET, "gh")
    print(r, value(fds[0]) == VALUE)
print(ask(GET_FILE, "gh")[0], open(FILE + "gh").read() == VALUE)
print(repr(value(ask(GET, "lines")[1][0])))
print(os.fstat(ask(GET, "max")[1][0]).st_size)
''' % VALUE[::-1]), "ok True", "ok True", "ok True", "'a b  *$HOME'", "65536")
    with open(made("runs")) as f:
        expect(f.read() == "run\n" * 3, "asked once for each question")
    told = [r for r in ran.records("gateway", "program")
            if r["subject"] == "gh"]
    expect(len(told) == 3 and told[0]["detail"] == "/bin/sh", ran)


@box_test
def the_value_is_on_no_disk():
    """The program puts it together: the policy is a file as well."""
    half = len(VALUE) // 2
    before = holding(VALUE.encode())
    with Live(document(asks("printf %%s '%s'; echo '%s'" % (
            VALUE[:half], VALUE[half:]))), r'''
r, fds = ask(GET, "gh")
said(value(fds[0])[::-1] == "%s")
said(ask(GET_FILE, "gh")[0])
said(open(FILE + "gh").read()[::-1] == "%s")
step(1)
''' % (VALUE[::-1], VALUE[::-1])) as b:
        lines = [b.line(), b.line(), b.line()]
        found = holding(VALUE.encode())
        b.go()
        expect(b.p.wait(WAIT) == 0, b.p.stderr.read())
    expect((lines, found) == (["True", "ok", "True"], before),
           (lines, found))
    # and it would have been found
    kept = write("kept", VALUE)
    found = holding(VALUE.encode())
    os.unlink(kept)
    expect(set(found) == {kept, *before}, found)


def holding(value):
    """Files of the host's home, state and workspace."""
    found = []
    for where, _, names in os.walk(TOP):
        for path in (os.path.join(where, n) for n in names):
            try:
                if stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as f:
                        found += [path] if value in f.read() else []
            except FileNotFoundError:
                pass  # the box lives meanwhile
    return found


@box_test
def credentials_of_other_clients_come_so_too():
    keys = ('{"Version": 1, "AccessKeyId": "AKID", "SecretAccessKey": "%s"}'
            % VALUE)
    good(box(document(
        {"name": "cloud", "delivery": ["aws"],
         "command": ["/bin/echo", keys]},
        {"name": "forge", "delivery": ["git"], "hosts": ["git.test"],
         "user": "bot", "command": ["/bin/echo", VALUE]}), r'''
import json, urllib.request
VALUE = "%s"[::-1]
q = urllib.request.Request(os.environ["AWS_CONTAINER_CREDENTIALS_FULL_URI"])
q.add_header("Authorization", os.environ["AWS_CONTAINER_AUTHORIZATION_TOKEN"])
with urllib.request.urlopen(q, timeout=WAIT) as r:
    print(json.load(r)["SecretAccessKey"] == VALUE)
out = subprocess.run([TOOL, "git", "get"], stdout=subprocess.PIPE,
                     input=b"protocol=https\nhost=git.test\n\n").stdout
print(b"password=" + VALUE.encode() + b"\n" in out)
''' % VALUE[::-1]), "True", "True")


@box_test
def a_program_has_the_hosts_rights_and_little_of_its_world():
    log = made("world")
    script = ("{ env; echo cwd=$(pwd -P); echo mask=$(umask); "
              "echo fds=$(ls /proc/self/fd | wc -l); echo uid=$(id -u); "
              "echo core=$(ulimit -c); read x || echo in=none; "
              "echo nnp=$(grep NoNewPrivs /proc/self/status); } >%s; echo v"
              % log)
    doc = document(asks(script))
    from gateway_lib import arguments
    _, argv = arguments(doc, "sh", "-c", "$AGENTBOX_SECRET get gh")
    done = tool(*argv, env=environment(HOST_ONLY="1", BASH_ENV="/x"))
    expect(done.out == b"v", done)
    with open(log) as f:
        seen = dict(line.rstrip("\n").split("=", 1) for line in f)
    expect(seen["cwd"] == "/" and seen["mask"] == "0077" and
           seen["uid"] == str(os.geteuid()) and seen["in"] == "none" and
           seen["core"] == "0", seen)
    # what has more rights than the host could not be ended
    expect(seen["nnp"].split() == ["NoNewPrivs:", "1"], seen)
    # 0 to 2, and the one that ls looks with
    expect(seen["fds"] == "4", seen)
    names = set(seen) - {"cwd", "mask", "fds", "uid", "in", "core",
                         "nnp"}
    expect(names <= {"PATH", "LANG", "HOME", "USER", "LOGNAME", "PWD", "_",
                     "XDG_RUNTIME_DIR", "SHLVL", "OLDPWD"}, names)


@box_test
def what_is_no_value_is_told_and_nothing_else_is_given():
    program, link = made("program"), made("link")
    write(program, "#!/bin/sh\necho %s\n" % VALUE)
    os.chmod(program, 0o755)
    forget("link")
    os.symlink("/bin/sh", link)
    rows = [
        ("exit 3", "exit status 3"),
        ("echo no such entry >&2; echo more >&2; exit 1",
         "exit status 1: no such entry"),
        ("echo; printf '\\n\\033[1mbold\\n' >&2; exit 2",
         "exit status 2: ?[1mbold"),
        ("head -c 5000 /dev/zero | tr '\\0' x >&2; exit 1",
         "exit status 1: " + "x" * 200),
        ("echo %s; exit 1" % VALUE, "exit status 1"),
        ("kill -9 $$", "was ended by signal 9"),
        ("true", "printed nothing"),
        ("echo; echo is empty >&2", "printed nothing: is empty"),
        ("head -c 65537 /dev/zero", "printed more than 64 KiB"),
        ("yes", "printed more than 64 KiB"),
        (["/nonexistent/program"],
         "'/nonexistent' No such file or directory"),
        (["/etc/group"], "exit status 127: /etc/group: Permission denied"),
        (["/usr"], "'/usr' is no regular file"),
        (["/bin/sh/x"], "Not a directory"),
        ([program], "is not trusted"),
        ([link, "-c", "echo v"], "is not trusted"),
        (["/bin/../.." + program], "is not trusted"),
    ]
    secrets = []
    for i, (command, _) in enumerate(rows):
        put("s%d" % i)
        secrets.append(asks(command, "s%d" % i) if isinstance(command, str)
                       else asks("", "s%d" % i, command=command))
    ran = good(box(document(*secrets), r'''
print({ask(GET, "s%%d" %% i)[0] for i in range(%d)})
''' % len(rows)), "{'none'}")
    told = failures(ran)
    for i, (command, words) in enumerate(rows):
        got = told["s%d" % i]
        expect(got == words if isinstance(command, str) else words in got,
               (command, words, got))
    expect(len(ran.records("failed", "no_value")) == len(rows), ran)


@box_test
def a_program_where_the_box_can_write_is_the_agents():
    """Whoever it belongs to: often the box writes with the caller's id."""
    real = os.path.realpath("/bin/true")
    ran = good(box(document(
        asks("", command=["/bin/true"]),
        mounts=[{"from": d, "to": d, "access": "read", "exec": True,
                 "optional": True} for d in ("/usr", "/bin", "/lib", "/lib64")]
        + [{"from": real, "to": "/mnt/tool", "access": "write"}]), r'''
print(ask(GET, "gh")[0])
'''), "none")
    expect(failures(ran) == {"gh": "'%s' is where the box can write: what lies "
                             "there is the agent's" % real}, ran)


def refused_behind(mounting, command, **more):
    """What is said of the program in a namespace with these mounts."""
    if os.geteuid() != 0:
        raise Skip("needs root to mount anything")
    apart = os.path.join(TOP, "apart")
    write(apart, "#!/bin/sh\nexec unshare -m --propagation private sh -c '"
          "{ %s; } && exec \"$@\"' apart %s \"$@\"\n"
          % (mounting, tool_lib.TOOL))
    os.chmod(apart, 0o755)
    real, tool_lib.TOOL = tool_lib.TOOL, apart
    try:
        ran = box(document(asks("", command=[command]), **more), r'''
r, fds = ask(GET, "gh")
print(r, value(fds[0]) if fds else "")
''')
    finally:
        tool_lib.TOOL = real
    return failures(ran).get("gh", ran.out or repr(ran))


def program(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write(path, "#!/bin/sh\necho agent\n")
    os.chmod(path, 0o755)


@box_test
def a_place_of_the_boxs_is_its_own_by_the_name_of_another_mount():
    program(made("bin/program"))
    told = refused_behind("mount --bind %s /mnt" % made("bin"),
                          "/mnt/program")
    expect("'/mnt' is mounted from where the box can write" in told, told)


@box_test
def a_place_of_the_boxs_is_its_own_as_a_layer():
    apart = os.path.join(TOP, "layers")
    own, other = os.path.join(apart, "lower"), made("layer")
    for name in ("lower", "upper", "work", "a:b", "more"):
        os.makedirs(os.path.join(apart, name))
    program(os.path.join(own, "program"))
    program(os.path.join(apart, "a:b/program"))
    program(os.path.join(other, "program"))

    def told(lower, command="/mnt/program", writes=None):
        """The overlay is at /mnt, its own lower layer also at /srv."""
        return refused_behind(
            "cd %s && mount -t overlay overlay -o lowerdir=%s,"
            "upperdir=%s/upper,workdir=work /mnt && mount --bind lower /srv"
            % (apart, lower, apart), command, **({"mounts+": [
                {"from": writes, "to": "/mnt", "access": "write"}]}
                if writes else {}))
    rows = [
        # what it shows is the workspace's, or another place's
        (told(other), "'/mnt' is mounted from where"),
        (told(own + ":" + made(""), "/mnt/layer/program"), "'/mnt' is"),
        (told(own, writes=own), "'/mnt' is mounted from where"),
        (told(own, writes=own + "/program"), "'/mnt/program' is mounted"),
        (told(own, writes=apart + "/upper"), "'/mnt' is mounted from where"),
        # a layer that cannot be found
        (told("lower"), "or that cannot be told"),
        (told(apart + "/a\\\\:b"), "or that cannot be told"),
        # nothing of the box's; it writes in the upper layer alone
        (told(own), "ok agent"),
        (told(own, writes=apart + "/more"), "ok agent"),
        (told(own, "/srv/program", "/mnt"), "ok agent"),
    ]
    for i, (what, wanted) in enumerate(rows):
        expect(wanted in what, (i, what))


@box_test
def a_program_of_the_system_may_have_two_names_beside_each_other():
    """Also where the box writes as root does, who has the workspace."""
    perl = os.path.realpath("/usr/bin/perl")
    if not os.path.exists(perl) or os.stat(perl).st_nlink < 2:
        raise Skip("no /usr/bin/perl with a second name")
    good(box(document(asks("", command=[perl, "-e", "print 'value'"])), r'''
r, fds = ask(GET, "gh")
print(r, value(fds[0]))
'''), "ok value")


@box_test
def what_a_program_has_started_ends_with_it():
    forget("left", "slow", "child")
    began = time.monotonic()
    ran = good(box(document(
        asks("setsid sleep 1000 & echo $! >%s; echo v" % made("left")),
        asks("setsid sh -c 'echo $$ >%s; sleep 1000' & "
             "echo $$ >%s; echo waits >&2; sleep 1000" % (
                 made("child"), made("slow")), "slow")), r'''
print(value(ask(GET, "gh")[1][0]))
print(ask(GET, "slow")[0])
'''), "v", "none")
    for name in ("left", "child", "slow"):
        until(lambda: gone(pid_in(name)), name + " goes on")
    expect(failures(ran) == {"slow": "did not end within 9 s: waits"}, ran)
    expect(time.monotonic() - began >= 9, "it was not waited for")


# itself: where its runner is killed, what it started is left
SLEEPS = "echo $$ >%s; exec sleep 1000"
ASKS = r'''
said("ready")
said(ask(GET, "gh")[0])
'''


def live(script, name, *options, **more):
    forget(name)
    return Live(document(asks(SLEEPS % made(name)), **more), script, *options)


@box_test
def revoked_while_it_runs():
    with live(ASKS + 'step(1)\nsaid(ask(GET, "gh")[0])\n', "secret") as b:
        pid = pid_in("secret")
        status(tool("secret", "revoke", "gh"), 0)
        until(lambda: gone(pid), "the program goes on")
        expect(b.line() == "ready" and b.line() == "refused",
               "a value")
        b.go()
        expect(b.line() == "refused", "asked again")
        expect(b.p.wait() == 0, b.p.stderr.read())
    with live(ASKS, "identity", identity="ada@acme") as b:
        pid = pid_in("identity")
        status(tool("identity", "revoke", "ada@acme"), 0)
        until(lambda: gone(pid), "the program goes on")
        expect((b.line(), b.line()) == ("ready", "closed"), "a value")
        expect(b.p.wait() == 0, b.p.stderr.read())


@box_test
def nobody_waits_for_it_any_more():
    # the box ends
    script = r'''
s = dial()
s.send(frame(GET, "gh"))
name = "/workspace/%s"
assert until(lambda: os.path.exists(name) and os.path.getsize(name) > 0)
'''
    with live(script % "box", "box") as b:
        pid = pid_in("box")
        expect(b.p.wait() == 0, b.p.stderr.read())
        until(lambda: gone(pid), "the program goes on")
    # the host is killed
    with live(ASKS, "host") as b:
        pid = pid_in("host")
        b.p.kill()
        until(lambda: gone(pid), "the program goes on")
    # who runs it is killed
    with live(ASKS, "helper") as b:
        pid = pid_in("helper")
        os.kill(b.children()["agentbox-provid"], signal.SIGKILL)
        until(lambda: gone(pid), "the program goes on")
        expect((b.line(), b.line()) == ("ready", "none"), "a value")
        expect(b.p.wait() == 0, b.p.stderr.read())


@box_test
def many_are_asked_at_once():
    ran = box(document(asks("sleep 0.3; echo v")), r'''
import select
waiting = [dial() for _ in range(20)]
for s in waiting:
    s.send(frame(GET, "gh"))
seen = [read(s)[0] for s in waiting]
print(seen.count("ok") >= 1, set(seen) <= {"ok", "busy"})
print(until(lambda: ask(GET, "gh")[0] == "ok"))
''')
    good(ran, "True True", "True")


@box_test
def what_cannot_be_asked_so_is_refused_by_name():
    for secret, words in (
            ({"command": ["echo", "v"], "delivery": ["memfd"]},
             "no absolute path"),
            ({"command": [], "delivery": ["memfd"]}, "no absolute path"),
            ({"command": "/bin/echo", "delivery": ["memfd"]}, "list")):
        ran = box(document(dict({"name": "gh"}, **secret)), "print(1)")
        expect(ran.done.status == 3, ran)
        says(ran.done, words)


if __name__ == "__main__":
    main()
