#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""agentbox run --shield: what is told, asked and recorded, and its end."""

import json
import os
import re
import signal
import time

import tool_lib
from tool_lib import (TOP, WORK, Terminal, box_test, command, expect, main,
                      says, start, status, test, tool, until, write)

# where git may be, by the checks, and nothing of the machine is
GIT = "/opt/homebrew/bin/git"


def policy(**more):
    brew = os.path.join(TOP, "brew")
    os.makedirs(brew, mode=0o755, exist_ok=True)
    path = os.path.join(brew, "git")
    with open(path, "w") as f:
        f.write('#!/bin/sh\necho "ran $1"\n')
    os.chmod(path, 0o755)
    return write("shield.json", json.dumps(dict({
        "agentbox": 1, "extends": "builtin:workspace", "mounts+": [{
            "from": brew, "to": "/opt/homebrew/bin", "access": "read",
            "exec": True}]}, **more)))


def script(text):
    """What a script runs is seen when it runs, and not in the line before."""
    with open(os.path.join(WORK, "script.sh"), "w") as f:
        f.write(text)
    return ["--policy", policy(), "--", "sh", "script.sh"]


def shielded(text, *options):
    return tool("run", *options, *script(text))


def records(log):
    with open(log) as f:
        return [r for r in map(json.loads, f) if r.get("type") == "shield"]


def shield_of(pid):
    """The shield that the process of this id started."""
    for entry in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % entry) as f:
                name, rest = f.read().partition("(")[2].rsplit(")", 1)
        except OSError:
            continue
        if name == "agentbox-shield" and int(rest.split()[1]) == pid:
            return int(entry)
    return None


@box_test
def without_a_mode_it_refuses():
    for option in ("--shield", "--shield=deny", "--shield="):
        done = shielded(GIT + " push; " + GIT + " status\n", option)
        expect(done.out == b"ran status\n", done)
        says(done, "shield: refused: " + GIT + " push: ", "[git.remote]")


@box_test
def audit_lets_it_run_and_both_are_told():
    log = os.path.join(TOP, "audit.jsonl")
    done = status(shielded(GIT + " push\n", "--shield=audit", "--audit", log),
                  0)
    expect(done.out == b"ran push\n", done)
    says(done, "shield: let through: " + GIT + " push: ", "[git.remote]")
    found = [r for r in records(log) if r.get("event") == "tripwire"]
    expect(len(found) == 1 and found[0]["answer"] == "let" and
           found[0]["command"] == GIT + " push", records(log))


@box_test
def without_it_nothing_is_seen():
    done = status(shielded(GIT + " push\n"), 0)
    expect(done.out == b"ran push\n" and "shield" not in done.text, done)


@box_test
def the_same_is_told_once_and_the_rest_is_counted_off():
    done = shielded("for i in 1 2 3; do %s push; done\n" % GIT, "--shield")
    expect(done.text.count("shield: refused") == 1, done)
    # without an audit, one that finds no room is not told
    log = os.path.join(TOP, "forty.jsonl")
    done = shielded("for i in $(seq 40); do %s push $i; done\n" % GIT,
                    "--shield", "--audit", log)
    expect(done.text.count("shield: refused") <= 20, done)
    says(done, "shield: refused", "no more of the shield is told here")
    # records that differ in nothing but what was refused are counted
    expect(sum(r.get("repeat", {"count": 1})["count"] for r in records(log)
               if r["answer"] == "refused") == 40, records(log))


@box_test
def the_first_command_is_refused_in_one_line():
    done = status(tool("run", "--shield", "--policy", policy(), "--", GIT,
                       "push"), 5)
    says(done, "the shield refuses '%s'" % GIT, "--shield=audit")
    expect(done.text.count("git.remote") == 1, done)


@box_test
def a_mode_without_its_sign_is_explained():
    says(status(tool("run", "--shield", "deny", "true"), 127),
         "a mode stands behind '=': --shield=deny")
    done = status(tool("run", "--shield=deny", "audit", "true"), 127)
    expect("stands behind" not in done.text, done)


@box_test
def modes_and_walls_that_do_not_fit_are_told():
    says(status(tool("run", "--shield=loud", "--", "true"), 3),
         '--shield loud: shield.mode: "loud" is not known')
    says(status(tool("run", "--shield", "--bare", "--", "true"), 125),
         "shield")
    says(status(tool("run", "--shield", "--dry-run"), 0),
         "executed in it, in mode 'deny'")


@box_test
def what_is_asked_is_refused_where_nobody_is():
    done = shielded(GIT + " fetch-the-moon\n", "--shield=ask")
    expect(b"ran" not in done.out, done)
    says(done, "shield: refused, for nobody is here to be asked: " + GIT +
         " fetch-the-moon")


@box_test
def names_of_the_box_cannot_drive_the_terminal():
    done = shielded("%s push \"$(printf 'a\\033[2Jb\\nc')\"\n" % GIT,
                    "--shield")
    expect(b"\033" not in done.err, done)
    says(done, "\\x1b[2J")
    # a line of its own could look like one of ours
    for mode in ("deny", "ask"):
        done = shielded("%s fetch-the-moon push 'x\nagentbox: all is well'\n"
                        "%s push 'x\nagentbox: all is well'\n" % (GIT, GIT),
                        "--shield=" + mode)
        expect("\nagentbox: all" not in done.text and
               "\n  agentbox: all" not in done.text, done)
        says(done, "x\\x0aagentbox: all is well")


QUESTION = r"anything else refuses: "


def asked(*options, times=1):
    argv = command("run", "--shield=ask", *options, *script(
        "for i in $(seq %d); do %s fetch-the-moon && echo w''ell || "
        "echo n''o\ndone\n" % (times, GIT)))
    return Terminal(argv)


@box_test
def a_person_is_asked_on_the_terminal():
    for words, then in (("yes\n", "ran fetch-the-moon\r\nwell"),
                        ("no\n", "no"), ("\x04", "no"), ("yess\n", "no")):
        for options in ([], ["--no-tty"]):
            with asked(*options) as t:
                t.wait_for("asked about: " + GIT)
                t.wait_for(QUESTION)
                expect(not t.raw(), "the line can be edited")
                t.type(words)
                t.wait_for(then)
                expect(t.end() == 0, t.status)


@box_test
def each_is_asked_about():
    with asked(times=3) as t:
        for _ in range(3):
            t.wait_for(QUESTION)
            t.type("yes\n")
        t.wait_for("well")
        expect(t.end() == 0, t.status)


@box_test
def what_was_refused_is_not_asked_again_at_once():
    argv = command("run", "--shield=ask", *script(
        "%s fetch-the-moon; %s fetch-the-moon; echo d''one\n" % (GIT, GIT)))
    with Terminal(argv) as t:
        t.wait_for(QUESTION)
        t.type("no\n")
        # on a machine that is slow it is asked about once more
        if b"just" not in t.wait_for("for it was just refused|" +
                                     QUESTION).group(0):
            t.type("no\n")
        t.wait_for("done")
        expect(t.end() == 0 and b"ran" not in t.seen, t.seen)


@box_test
def what_was_typed_before_is_no_answer():
    argv = command("run", "--shield=ask", *script(
        "echo u''p; while ! test -e go; do sleep 0.1; done\n" +
        GIT + " fetch-the-moon || echo n''o\n"))
    with Terminal(argv) as t:
        t.wait_for("up")
        t.type("yes\n")
        t.wait_for("yes")  # echoed by the box: taken from the terminal
        open(os.path.join(WORK, "go"), "w").close()
        t.wait_for(QUESTION)
        os.unlink(os.path.join(WORK, "go"))
        t.type("\n")
        t.wait_for("no")
        expect(t.end() == 0 and b"ran" not in t.seen, t.seen)


@box_test
def the_interrupt_key_ends_the_command_that_asks():
    with asked(times=100) as t:
        t.wait_for(QUESTION)
        t.type("\x03")
        deadline = time.monotonic() + tool_lib.WAIT
        while True:
            try:
                t.end(1)
                break
            except AssertionError:
                expect(time.monotonic() < deadline, t.seen)
            # where the signal is late, what comes next is asked about again
            if re.search(QUESTION.encode(), t.seen):
                t.seen = b""
                t.type("\x03")
        expect(t.end() == 130, (t.status, t.seen))


@box_test
def nothing_of_the_box_is_written_beside_a_question():
    argv = command("run", "--shield=ask", *script(
        "(while :; do echo s''pam; sleep 0.01; done) &\n" +
        GIT + " fetch-the-moon; kill $!\n"))
    with Terminal(argv) as t:
        t.wait_for(QUESTION)
        for _ in range(10):
            t.read(0.05)
        expect(b"spam" not in t.seen, t.seen)
        t.type("yes\n")
        t.wait_for("ran fetch-the-moon")
        expect(t.end() == 0, t.status)


def ended_shield(*options):
    text = ("echo up; while read x; do /bin/true && echo ran || echo not; "
            "done\n")
    p = start("run", "--shield", *options, *script(text))
    stream = p.stderr if "--json" in options else p.stdout
    expect(stream.readline() == b"up\n", "no box")

    def exec_one():
        p.stdin.write(b"\n")
        p.stdin.flush()
        while True:
            line = stream.readline()
            if line in (b"ran\n", b"not\n", b""):
                return line
    expect(exec_one() == b"ran\n", "with a shield")
    pid = until(lambda: shield_of(p.pid), "a shield")
    os.kill(pid, signal.SIGKILL)
    until(lambda: shield_of(p.pid) != pid, "it is dead")
    expect(exec_one() == b"not\n", "without one")
    out, err = p.communicate(timeout=tool_lib.WAIT)
    return tool_lib.Done(p.returncode, out, err)


@box_test
def an_ended_shield_stops_every_exec_and_is_told():
    done = status(ended_shield(), 125)
    expect(done.text.count("the shield of this box has ended") == 1, done)


@box_test
def an_ended_shield_is_in_the_document():
    done = status(ended_shield("--json"), 125)
    expect(done.json["error"]["where"] == "shield" and
           done.json["exit"] == 125 and
           done.json["process"]["exit_status"] == 0, done.json)


@box_test
def every_exec_is_in_the_log():
    log = os.path.join(TOP, "many.jsonl")
    status(shielded("for i in $(seq 200); do /bin/true; done\n", "--shield",
                    "--audit", log), 0)
    seen = [r for r in records(log) if r.get("subject") == "/bin/true"]
    expect(len(seen) == 200, len(seen))


main()
