#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""agentbox verify: a box of its own and one that lives, for people and as a
document."""

import json
import os
import signal
import subprocess
import time

from tool_lib import (HOME, WAIT, WORK, box_test, command, environment, expect,
                      main, processes, says, start, status, test, tool, until, write)


def document(done):
    expect(done.json["schema"] == 1, done)
    return done.json


@box_test
def a_box_of_its_own_is_green():
    done = tool("verify", "--json")
    doc = document(done)
    bad = [f for f in doc["findings"] if f["verdict"] in ("missing", "unknown")]
    expect(done.status == 0 and doc["good"] and not bad, bad)
    expect(doc["missing"] == [] and doc["counts"]["pass"] > 80, doc["counts"])
    parts = sum(p["points"] for p in doc["exposure"]["parts"])
    expect(parts == doc["exposure"]["score"], doc["exposure"])
    kinds = {c["kind"] for c in doc["controls"]}
    expect(kinds == {"hard", "soft"}, kinds)


@box_test
def people_are_told_wall_by_wall():
    done = says(status(tool("verify"), 0), "seccomp", "landlock", "netns",
                "exposure", "controls")
    expect("escape.mount" not in done.text, "findings without --all")
    says(tool("verify", "--all"), "escape.mount")


@box_test
def a_wall_that_is_opened_does_not_hold():
    policy = write("open.json", json.dumps({
        "agentbox": 1, "extends": "builtin:workspace",
        "workspace": {"path": WORK}, "network": {"mode": "host"},
        "require": ["seccomp"]}))
    done = status(tool("verify", "--policy", policy), 0)
    line = [l for l in done.text.splitlines()
            if l.split()[:1] == ["netns"] and "tried" in l]
    expect(len(line) == 1 and "not applicable" in line[0], line)


@box_test
def what_the_shield_holds_is_called_soft():
    doc = document(tool("verify", "--shield", "--json"))
    held = [(c["control"], c["kind"]) for c in doc["controls"]
            if "shield" in (c["control"], c["holder"]) or
            c["holder"] == "agentbox-shield"]
    expect(held == [("exec tripwire", "soft")], held)


@box_test
def a_bare_box_is_never_good():
    done = tool("verify", "--bare", "--json")
    expect(done.status == 6 and not document(done)["good"], done)


@box_test
def a_box_that_lives_is_tried_by_its_owner():
    child = start("run", "--name", "ada", "--", "sleep", "600",
                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                  stderr=subprocess.DEVNULL)
    try:
        until(lambda: tool("verify", "ada", "--json").status != 4,
              "a box of that name")
        done = status(tool("verify", "ada", "--json"), 0)
        expect(document(done)["good"], done)
        status(tool("verify", "ada", "--builtin", "strict"), 2)
    finally:
        child.terminate()
        child.wait()


@box_test
def a_weaker_tier_is_told_and_not_counted():
    policy = write("weaker.json", json.dumps({
        "agentbox": 1, "extends": "builtin:workspace",
        "workspace": {"path": WORK}, "require": ["seccomp"]}))
    without = os.path.join(os.environ["AB_TEST_BUILDDIR"], "tests/e2e/without")
    p = subprocess.run(
        [without, "userns", "--",
         *command("verify", "--policy", policy, "--json")],
        cwd=WORK, env=environment(), stdin=subprocess.DEVNULL,
        capture_output=True, timeout=WAIT)
    doc = json.loads(p.stdout)
    bad = [f for f in doc["findings"] if f["verdict"] in ("missing", "unknown")]
    expect(p.returncode == 0 and doc["tier"] == "landlock" and not bad,
           (p.returncode, doc["tier"], bad))
    weaker = {f["wall"] for f in doc["findings"] if f["verdict"] == "weaker"}
    expect({"tier", "netns", "pidns", "mounts"} <= weaker, weaker)


def parent_of(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as f:
            return int(f.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def prober_of(p):
    """The program that tries the walls, in either box of this tool."""
    for pid in processes("/proc/self/fd/9"):
        above = pid
        while above > 1 and above != p.pid:
            above = parent_of(above)
        if above == p.pid:
            return pid
    return None


def is_stopped(pid):
    """It takes no more steps; False: it had ended before."""
    try:
        os.kill(pid, signal.SIGSTOP)
        while True:
            with open("/proc/%d/stat" % pid, "rb") as f:
                state = f.read().rpartition(b")")[2].split()[0]
            if state in b"TZX":
                return state == b"T"
            time.sleep(0.01)
    except (ProcessLookupError, FileNotFoundError):
        return False


def stopped(*args, owner=None):
    """A question, and the program that tries the walls: stopped in time."""
    for _ in range(50):
        p = start(*args)
        pid = until(lambda: prober_of(owner or p) or p.poll() is not None,
                    "it is run")
        if pid is not True and is_stopped(pid) and p.poll() is None:
            return p, pid
        p.communicate(timeout=WAIT)
    raise AssertionError("it is done before it can be stopped")


@box_test
def signals_end_it_soon_and_leave_nothing():
    """Where it waits: the program that tries the walls is stopped."""
    for sig in (signal.SIGINT, signal.SIGTERM):
        p, _ = stopped("verify")
        began = time.monotonic()
        p.send_signal(sig)
        p.communicate(timeout=WAIT)
        expect(p.returncode == 128 + sig, p.returncode)
        expect(time.monotonic() - began < 10, "it took long")
        left = [n for _, dirs, _ in os.walk(HOME) for n in dirs
                if n.startswith("verify-")]
        expect(not left, left)


@box_test
def signals_end_the_question_and_not_the_box():
    """A box of another process: its owner goes on, and with the next one."""
    child = start("run", "--name", "eve", "--", "sleep", "600",
                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                  stderr=subprocess.DEVNULL)
    try:
        until(lambda: tool("verify", "eve", "--json").status != 4,
              "a box of that name")
        for sig in (signal.SIGINT, signal.SIGTERM):
            p, pid = stopped("verify", "eve", owner=child)
            began = time.monotonic()
            p.send_signal(sig)
            p.communicate(timeout=WAIT)
            expect(p.returncode in (128 + sig, -sig), p.returncode)
            expect(time.monotonic() - began < 10, "it took long")
            # the owner ends the program with who asked
            until(lambda: not os.path.exists("/proc/%d" % pid) or
                  prober_of(child) is None, "the program is ended")
            until(lambda: not [n for _, dirs, _ in os.walk(HOME) for n in dirs
                               if n.startswith("verify-")], "nothing is left")
        done = status(tool("verify", "eve", "--json"), 0)
        expect(document(done)["good"], done)
        expect(child.poll() is None, "the box has ended")
    finally:
        child.terminate()
        child.wait()


@test
def an_unknown_box_is_not_found():
    status(tool("verify", "nobody"), 4)


@test
def what_is_no_name_is_wrong_usage():
    for name in ("", " ", "../x", "a\nb", '"}', "x" * 5000):
        done = tool("verify", "--json", "--", name)
        expect(done.status == 2 and done.json["exit"] == 2, done)


@box_test
def no_box_gets_what_is_no_name():
    done = tool("run", "--json", "--name", "a b", "--", "true")
    expect(done.status == 2, done)


main()
