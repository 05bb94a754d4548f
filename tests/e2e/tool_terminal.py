#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""agentbox run and shell on a terminal: job control, modes, size, endings."""

import os
import re
import signal
import subprocess
import termios
import time

import tool_lib
from tool_lib import (TOP, WORK, Terminal, box_test, command, environment,
                      expect, main, processes, tool, until)


def run(*args, **kw):
    return Terminal(command("run", *args), **kw)


def states(marker):
    found = []
    for pid in processes(marker):
        with open("/proc/%d/stat" % pid) as f:
            found.append(f.read().rpartition(")")[2].split()[0])
    return found


def host_shell(**kw):
    """A shell on a terminal, with its own job control; `box` is run --."""
    path = os.path.join(TOP, "rc")
    with open(path, "w") as f:
        f.write("PS1='host> '; PROMPT_COMMAND=\nbox() { %s \"$@\"; }\n" %
                " ".join("'%s'" % a for a in command("run")))
    t = Terminal(["bash", "--noprofile", "--rcfile", path, "-i"], **kw)
    t.wait_for("host> ")
    return t


@box_test
def on_a_terminal_the_command_has_a_terminal():
    with run("--", "sh", "-c", "test -t 0 && test -t 1 && test -t 2 && "
             "echo y''es; stty size", rows=31, columns=97) as t:
        t.wait_for("yes")
        t.wait_for("31 97")
        expect(t.end() == 0, t.status)


@box_test
def the_terminal_is_not_the_callers():
    with run("--", "sh", "-c", "tty; ls /dev/pts") as t:
        expect(t.end() == 0, t.status)
        # of the box's own, new devpts: the first terminal there
        expect(b"/dev/pts/0" in t.seen and b"not a tty" not in t.seen, t.seen)


@box_test
def without_a_terminal_there_is_none():
    done = tool("run", "--", "sh", "-c",
                "test -t 0 || test -t 1 || test -t 2 || echo none")
    expect(done.out == b"none\n", done)


@box_test
def no_tty_keeps_the_terminal_out_and_relays_it():
    with run("--no-tty", "--", "sh", "-c", "test -t 0 || test -t 1 || "
             "echo no''ne; cat") as t:
        t.wait_for("none")
        t.type("line\n")
        t.wait_for("line\r\nline\r\n")
        t.type("\x04")
        expect(t.end() == 0, t.status)


@box_test
def tty_demands_a_terminal_and_ends_input_with_its_key():
    done = tool("run", "--tty", "--", "sh", "-c", "test -t 0 && cat",
                stdin=b"text\nno newline")
    expect(done.status == 0, done)
    # what is typed is echoed: each line comes twice
    expect(done.out.count(b"text\r\n") == 2, done)
    expect(done.out.count(b"no newline") == 2, done)


@box_test
def with_only_some_streams_on_a_terminal_the_rest_is_relayed():
    with Terminal(["sh", "-c", '"$@" | tr a-z A-Z', "x",
                   *command("run", "--", "sh", "-c",
                            "read x; echo got $x; echo problem >&2")]) as t:
        t.type("it\n")
        expect(t.end() == 0, t.status)
        expect(b"problem\r\n" in t.seen and b"GOT IT\r\n" in t.seen, t.seen)


@box_test
def input_ends_with_the_end_of_file_key():
    with run("--", "cat") as t:
        t.type("hello\n")
        t.wait_for("hello\r\nhello\r\n")
        t.type("\x04")
        expect(t.end() == 0, t.status)


@box_test
def the_interrupt_key_ends_the_command():
    with run("--", "sh", "-c", "echo u''p; exec sleep 1000") as t:
        t.wait_for("up")
        t.type("\x03")
        expect(t.end() == 130, t.status)
    with run("--no-tty", "--", "sh", "-c", "echo u''p; exec sleep 1000") as t:
        t.wait_for("up")
        t.type("\x03")
        expect(t.end() == 130, t.status)


@box_test
def the_modes_are_raw_while_it_runs_and_restored_after():
    with host_shell() as t:
        t.type("stty -g; box -- sh -c 'echo u''p; read x'; stty -g\n")
        before = t.wait_for(r"([0-9a-f]+:[0-9a-f:]+)").group(1)
        t.wait_for("up")
        until(t.raw, "raw mode")
        t.type("\n")
        after = t.wait_for(r"([0-9a-f]+:[0-9a-f:]+)").group(1)
        expect(before == after, (before, after))


@box_test
def the_modes_are_restored_whatever_ends_the_tool():
    for sig in (signal.SIGSEGV, signal.SIGABRT, signal.SIGALRM,
                signal.SIGTERM, signal.SIGINT, signal.SIGBUS):
        with run("--", "sh", "-c", "echo u''p; exec sleep 1000") as t:
            before = t.modes()
            t.wait_for("up")
            until(t.raw, "raw mode")
            os.kill(t.pid, sig)
            t.end()
            expect(t.modes()[:4] == before[:4], "modes after %s" % sig)


@box_test
def the_size_of_the_window_follows():
    with run("--", "sh", "-c", "trap 'stty size' WINCH; echo u''p; "
             "while :; do sleep 0.05; done", rows=20, columns=60) as t:
        t.wait_for("up")
        t.size(33, 111)
        t.wait_for("33 111")
        t.type("\x03")
        t.end()


@box_test
def the_suspend_key_stops_tool_and_command_until_fg():
    marker = "161.%d" % os.getpid()
    with host_shell() as t:
        t.type("box -- sh -c 'echo u''p; sleep %s & cat'\n" % marker)
        t.wait_for("up")
        until(lambda: t.raw() and processes(marker), "it runs, raw")
        t.type("\x1a")
        t.wait_for("Stopped")
        t.wait_for("host> ")
        until(lambda: states(marker) == ["T"], "the command stands still")
        t.type("echo status $?\n")
        t.wait_for("status 148")
        t.type("fg\n")
        until(t.raw, "raw mode again")
        t.type("again\n")
        t.wait_for("again\r\nagain")
        t.type("\x03")
        t.wait_for("host> ")
        t.type("echo end $?\n")
        t.wait_for("end 130")


@box_test
def the_box_does_not_choose_the_key_that_suspends():
    for key in ("e", "' '"):
        with host_shell() as t:
            t.type("box -- sh -c \"stty susp %s; echo u''p; cat\"\n" % key)
            t.wait_for("up")
            until(t.raw, "raw")
            t.type("some letters; echo host''ile\n")
            while t.read(0.5):
                pass
            expect(b"host> " not in t.seen and b"hostile" not in t.seen and
                   b"Stopped" not in t.seen and t.raw(), t.seen)
            t.type("\x03")


@box_test
def what_follows_the_suspend_key_reaches_nobody():
    with host_shell() as t:
        t.type("box -- sh -c 'echo u''p; cat'\n")
        t.wait_for("up")
        until(t.raw, "raw")
        t.type("\x1aecho host''ile\n")
        t.wait_for("Stopped")
        t.wait_for("host> ")
        t.type("fg\n")
        until(t.raw, "raw mode again")
        t.type("again\n")
        t.wait_for("again\r\nagain")
        expect(b"hostile" not in t.seen and b"host''ile" not in t.seen,
               t.seen)
        t.type("\x03")


@box_test
def without_a_terminal_of_its_own_it_suspends_all_the_same():
    with host_shell() as t:
        t.type("box --no-tty -- sh -c 'echo u''p; cat'\n")
        t.wait_for("up")
        time.sleep(0.1)
        t.type("\x1a")
        t.wait_for("Stopped")
        t.type("fg\n")
        t.wait_for("fg\r\n")
        time.sleep(0.2)
        t.type("again\n")
        t.wait_for("again\r\nagain")
        t.type("\x04")
        t.wait_for("host> ")


@box_test
def in_the_background_it_leaves_the_terminal_alone():
    with host_shell() as t:
        t.type("box -- sh -c 'sleep 0.5; echo bg''done' &\n")
        t.wait_for("host> ")
        t.type("echo ty''ped\n")
        t.wait_for("typed")
        t.wait_for("bgdone")
        t.type("wait; echo status $?\n")
        t.wait_for("status 0")


@box_test
def a_background_job_takes_the_terminal_when_it_comes_to_the_front():
    with host_shell() as t:
        t.type("box -- cat &\n")
        t.wait_for("host> ")
        t.type("fg\n")
        t.wait_for("cat\r?\n")
        until(t.raw, "raw mode")
        t.type("hello\n")
        t.wait_for("hello\r\nhello")
        t.type("\x04")
        t.wait_for("host> ")


@box_test
def a_terminal_that_goes_away_ends_the_box():
    marker = "1414.%d" % os.getpid()
    t = Terminal(command("shell"))
    t.wait_for(r"\$ ")
    t.type("sleep %s\n" % marker)
    until(lambda: processes(marker), "the command runs")
    os.close(t.fd)
    t.fd = -1
    until(lambda: os.waitpid(t.pid, os.WNOHANG)[0], "the tool ends")
    t.status = 0
    expect(not processes(marker), "left in the box")


@box_test
def much_output_arrives_whole():
    with run("--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do "
             "echo line-$i; i=$((i+1)); done; echo e''nd", rows=24) as t:
        expect(t.end(60) == 0, t.status)
        lines = re.findall(rb"line-(\d+)\r\n", t.seen)
        expect([int(n) for n in lines] == list(range(20000)),
               "%d lines" % len(lines))


@box_test
def output_that_is_on_its_way_when_the_command_ends_arrives():
    for lines in (2000, 4000, 8000, 16000):
        with run("--", "seq", str(lines)) as t:
            time.sleep(0.4)  # nobody reads: it waits in the terminals
            expect(t.end() == 0, t.status)
            got = re.findall(rb"(\d+)\r\n", t.seen)
            expect(len(got) == lines, "%d of %d" % (len(got), lines))


@box_test
def output_of_a_command_that_ends_at_once_arrives():
    for _ in range(10):
        with run("--", "echo", "quick") as t:
            expect(t.end() == 0 and b"quick\r\n" in t.seen, t.seen)


@box_test
def what_is_left_running_ends_with_the_command():
    marker = "5772.%d" % os.getpid()
    with run("--", "sh", "-c", "setsid sleep %s & sleep 0.1; exit 3"
             % marker) as t:
        expect(t.end() == 3, t.status)
    expect(not processes(marker), "left in the box")


@box_test
def what_the_box_prints_cannot_type_into_the_callers_terminal():
    script = ("import fcntl, termios\n"
              "for c in 'evil\\n':\n"
              "    try: fcntl.ioctl(0, termios.TIOCSTI, c.encode())\n"
              "    except OSError: pass\n")
    if tool("run", "--", "python3", "-c", "pass").status:
        raise tool_lib.Skip("no python3 in the box")
    with host_shell() as t:
        with open(os.path.join(WORK, "sti.py"), "w") as f:
            f.write(script)
        t.type("box -- python3 sti.py; echo af''ter\n")
        t.wait_for("after")
        t.wait_for("host> ")
        time.sleep(0.2)
        t.read()
        expect(b"evil" not in t.seen, t.seen)


@box_test
def a_shell_shows_its_box_and_ends_with_its_status():
    with Terminal(command("shell")) as t:
        box = t.wait_for(r"box ([0-9a-f]{8})").group(1).decode()
        t.wait_for(r"\$ ")
        t.type("echo id=$AGENTBOX_BOX\n")
        t.wait_for("id=" + box)
        t.type("exit 6\n")
        expect(t.end() == 6, t.status)


@box_test
def job_control_works_inside_a_shell():
    marker = "1000.%d" % os.getpid()
    with Terminal(command("shell"), env=environment(SHELL="/bin/bash")) as t:
        t.wait_for(r"\$ ")
        until(t.raw, "raw mode")
        t.type("\x1a")           # at the prompt it means nothing
        t.type("sleep %s\n" % marker)
        # the terminal is its own before it is called so
        until(lambda: states(marker) == ["S"], "it sleeps")
        t.type("\x1a")
        t.wait_for("Stopped")
        t.wait_for(r"\$ ")
        t.type("fg\n")
        until(lambda: states(marker) == ["S"], "it sleeps again")
        t.type("\x03")
        t.type("echo s=$?\n")
        t.wait_for("s=130")
        t.type("exit\n")
        t.end()


@box_test
def a_shell_that_the_box_lacks_is_replaced():
    with Terminal(command("shell"),
                  env=environment(SHELL="/nonexistent/zsh")) as t:
        t.wait_for(r"\$ ")
        t.type("echo w''orks; exit 0\n")
        t.wait_for("works")
        expect(t.end() == 0, t.status)


@box_test
def a_shell_reads_a_script_from_a_pipe():
    done = tool("shell", stdin=b"echo from script\nexit 4\n")
    expect(done.status == 4 and done.out == b"from script\n", done)


@box_test
def reports_fit_a_narrow_terminal():
    with run("--walls", "--", "true", columns=40) as t:
        t.end()
        text = re.sub(rb"\033\[[0-9;]*m", b"", t.seen).decode()
    for line in text.replace("\r", "").split("\n"):
        expect(len(line) <= 40, repr(line))


if __name__ == "__main__":
    main()
