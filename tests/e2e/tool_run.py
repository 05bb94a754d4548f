#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""agentbox run and doctor without a terminal: statuses, streams, signals."""

import errno
import fcntl
import json
import os
import pty
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import tool_lib
from tool_lib import (HOME, TOP, WAIT, WORK, box_test, command, environment,
                      expect, fail_call, main, processes, said, says, start, status, test,
                      tool, until, write)


def sh(script, *options, **kw):
    return tool("run", *options, "--", "sh", "-c", script, **kw)


@test
def doctor_tells_every_tier_and_agrees_with_its_json():
    doc = tool("doctor", "--json")
    expect(set(doc.json["tiers"]) == {"full", "no-proc", "landlock"}, doc)
    expect(not doc.err, doc)
    want = 0 if doc.json["best_tier"] != "none" else 125
    status(doc, want)
    done = status(tool("doctor"), want)
    expect(not done.out, done)
    says(done, "full", "no-proc", "landlock", doc.json["kernel"])
    for tier in doc.json["tiers"].values():
        if not tier["available"]:
            says(done, tier["cause"].split()[0])


def gateway_of(doc):
    return doc.json["gateway"]


@box_test
def doctor_says_of_the_gateway_what_a_box_says():
    gateway = gateway_of(tool("doctor", "--json"))
    done = tool("run", "--allow", "example.org", "--", "true")
    expect(gateway["available"] == (done.status == 0), (gateway, done))
    told = tool("doctor")
    if gateway["available"]:
        says(told, "gateway     yes: ",
             "IPv4 and IPv6" if gateway["ipv6"] else "IPv4 only")
    else:
        expect(gateway["cause"] and gateway["stage"], gateway)
        says(told, "gateway     no: " + gateway["cause"][:20])


def some_helpers(name, *helpers):
    """A directory with no other helpers, ours to trust as any user."""
    where = os.path.join(TOP, name)
    os.mkdir(where, 0o755)
    for helper in helpers:
        shutil.copy(os.path.join(tool_lib.HELPERS or "", helper), where)
    return where


def need_gateway():
    gateway = gateway_of(tool("doctor", "--json"))
    if not tool_lib.HELPERS or not gateway["available"]:
        raise tool_lib.Skip(gateway["cause"] or "no directory of helpers")


def doctor_at(where, *before):
    """The word of the tool for people and for programs, of one machine."""
    def run(*options):
        p = subprocess.run([*before, tool_lib.TOOL, "doctor", "--helper-dir",
                            where, *options], cwd=WORK, env=environment(),
                           capture_output=True, timeout=WAIT)
        return tool_lib.Done(p.returncode, p.stdout, p.stderr)
    return run(), run("--json")


@box_test
def doctor_goes_on_where_state_cannot_be_had():
    state = os.path.join(TOP, "no-state")
    with open(state, "w"):
        pass
    told = tool("doctor", "--state", state)
    says(told, "--state: ", "[EDENIED]", "tiers", "machine")
    doc = tool("doctor", "--state", state, "--json")
    expect(gateway_of(doc), doc)
    for done in told, doc:
        expect(done.status in (5, 125), done)


@box_test
def doctor_says_that_the_gateways_program_is_missing_or_another():
    need_gateway()
    where = some_helpers("no-gateway", "agentbox-init")
    for _ in range(2):
        told, doc = doctor_at(where)
        gateway = gateway_of(status(doc, 0))
        expect(not gateway["available"] and "agentbox-gateway" in
               gateway["cause"] and gateway["fix"], gateway)
        says(status(told, 0), "gateway     no: ", "to fix it: install "
             "agentbox-gateway of this build")
        shutil.copy(os.path.join(where, "agentbox-init"),
                    os.path.join(where, "agentbox-gateway"))


@box_test
def doctor_says_that_a_second_network_namespace_is_refused():
    need_gateway()
    where = some_helpers("limited", "agentbox-init", "agentbox-gateway")
    limited = ["unshare", "-Ur", "sh", "-c",
               "echo 1 >/proc/sys/user/max_net_namespaces && exec \"$@\"",
               "sh"]
    try:
        subprocess.run([*limited, "true"], check=True, capture_output=True,
                       timeout=WAIT)
    except (OSError, subprocess.CalledProcessError) as e:
        raise tool_lib.Skip("no such limit can be set: %s" % e)
    told, doc = doctor_at(where, *limited)
    gateway = gateway_of(doc)
    expect(not gateway["available"] and gateway["fix"], gateway)
    says(told, "gateway     no: ")
    # a namespace of a tier before may be alive still: then it is that
    if doc.json["best_tier"] in ("full", "no-proc"):
        expect("user.max_net_namespaces" in gateway["fix"], doc)


@test
def a_missing_helper_is_told_with_what_to_do():
    p = subprocess.run([tool_lib.TOOL, "run", "--helper-dir", TOP, "true"],
                       cwd=WORK, env=environment(), capture_output=True,
                       timeout=WAIT)
    expect(p.returncode == 125 and b"agentbox-init" in p.stderr and
           b"--helper-dir" in p.stderr, p)


@test
def work_that_takes_longer_than_a_second_says_so():
    slow = os.path.join(TOP, "slow")
    os.makedirs(slow, mode=0o755, exist_ok=True)
    source = write("slow.c", "#include <unistd.h>\n"
                   "int main(void) { sleep(2); return 0; }\n")
    cc = os.environ.get("AB_TEST_CC", "cc").split()
    subprocess.run([*cc, "-o", os.path.join(slow, "agentbox-init"), source],
                   check=True, timeout=3 * WAIT)
    p = subprocess.run([tool_lib.TOOL, "run", "--helper-dir", slow, "true"],
                       cwd=WORK, env=environment(), capture_output=True,
                       timeout=WAIT)
    expect(p.returncode == 125 and b"raising the box..." in p.stderr, p)


@test
def a_workspace_that_is_missing_or_no_directory_is_told():
    says(status(tool("run", "--workspace", "/nonexistent", "true"), 4),
         "/nonexistent")
    says(status(tool("run", "--workspace", write("file", ""), "true"), 3),
         "not a directory")


@test
def a_home_is_not_a_workspace_by_accident():
    for where in (HOME, "/"):
        says(status(tool("run", "true", cwd=where), 5), "--workspace DIR")
    says(status(tool("run", "--workspace", HOME, "true"), 5), "state")


@test
def wrong_options_of_run_are_told_by_name():
    says(status(tool("run", "--limit", "memory=x", "true"), 3),
         "--limit memory=x", "limits.memory")
    says(status(tool("run", "--limit", "nope=1", "true"), 3), "nope")
    says(status(tool("run", "--limit", "memory", "true"), 2), "NAME=VALUE")
    says(status(tool("run", "--read", "/nonexistent", "true"), 4),
         "--read", "/nonexistent")
    says(status(tool("run", "--builtin", "nope", "true"), 4), "workspace")


@test
def a_bare_run_says_so_and_ends_as_the_command_ends():
    for options in (["--bare"], ["--builtin", "bare"]):
        done = sh("cat; echo out; echo err >&2; exit 7", *options,
                  stdin=b"in\n")
        says(status(done, 7), "BARE", "err")
        expect(done.out == b"in\nout\n", done)
    says(status(sh("kill -TERM $$", "--bare"), 143), "BARE")
    says(status(tool("run", "--bare", "--", "no-such-program"), 127), "BARE")
    doc = status(sh("exit 3", "--bare", "--json"), 3)
    says(doc, "BARE")
    expect(doc.json["tier"] == "bare" and doc.json["exit"] == 3, doc)


@test
def a_bare_dry_run_says_that_no_wall_would_stand():
    done = status(tool("run", "--bare", "--dry-run", "--", "true"), 0)
    says(done, "BARE")


@test
def a_bare_run_without_helper_is_told_as_any_other():
    p = subprocess.run([tool_lib.TOOL, "run", "--helper-dir", TOP, "--bare",
                        "true"], cwd=WORK, env=environment(),
                       capture_output=True, timeout=WAIT)
    expect(p.returncode == 125 and b"EHELPER" in p.stderr, p)


@test
def a_dry_run_says_what_would_be_and_starts_nothing():
    done = tool("run", "--dry-run", "--", "touch", "made")
    if done.status == 125:
        raise tool_lib.Skip(done.text.split("\n")[0])
    says(status(done, 0), "/workspace", "limits")
    expect(not os.path.exists(os.path.join(WORK, "made")), "it ran")
    plan = status(tool("run", "--dry-run", "--json"), 0).json
    expect(any(m["at"] == "/workspace" for m in plan["mounts"]), plan)


@box_test
def the_exit_status_is_the_commands_own():
    for n in (0, 1, 7, 255):
        status(sh("exit %d" % n), n)


@box_test
def a_signal_ends_as_128_plus_its_number():
    status(sh("kill -KILL $$"), 137)
    status(sh("kill -TERM $$"), 143)


@box_test
def what_is_not_there_is_127_and_what_cannot_run_126():
    says(status(tool("run", "--", "no-such-program"), 127),
         "'no-such-program' was not found")
    says(status(tool("run", "--", "/usr"), 126), "/usr")


@box_test
def a_program_of_the_host_only_gives_a_hint():
    path = write("only-here", "#!/bin/sh\necho here\n")
    os.chmod(path, 0o755)
    says(status(tool("run", "--", path), 127), "--read " + path)
    done = status(tool("run", "--read", path, "--", path), 0)
    expect(done.out == b"here\n", done)


@box_test
def a_missing_directory_is_told_as_such():
    says(status(tool("run", "--cwd", "nowhere", "true"), 4),
         "/workspace/nowhere")


@box_test
def the_command_starts_where_the_caller_is():
    sub = os.path.join(WORK, "sub")
    os.makedirs(sub, exist_ok=True)
    expect(sh("pwd").out == b"/workspace\n", "at the top")
    expect(sh("pwd", "--workspace", WORK, cwd=sub).out ==
           b"/workspace/sub\n", "below")
    expect(sh("pwd", "--cwd", "sub").out == b"/workspace/sub\n", "--cwd")
    expect(sh("pwd", "--cwd", sub).out == b"/workspace/sub\n", "host path")
    expect(sh("pwd", "--workspace", WORK, "--at", "same").out ==
           WORK.encode() + b"\n", "same")


@box_test
def bytes_pass_unchanged_in_both_directions():
    data = bytes(range(256)) * 4096
    done = status(tool("run", "--", "cat", stdin=data), 0)
    expect(done.out == data, "%d bytes of %d" % (len(done.out), len(data)))


@box_test
def files_pass_on_every_stream():
    source = os.path.join(TOP, "in")
    with open(source, "wb") as f:
        f.write(os.urandom(300000))
    outs = [os.path.join(TOP, n) for n in ("out", "err")]
    with open(source, "rb") as i, open(outs[0], "wb") as o, \
            open(outs[1], "wb") as e:
        p = subprocess.run(command("run", "--", "sh", "-c",
                                   "cat; echo err >&2"), cwd=WORK,
                           env=environment(), stdin=i, stdout=o, stderr=e,
                           timeout=WAIT)
    expect(p.returncode == 0, p)
    with open(source, "rb") as i, open(outs[0], "rb") as o:
        expect(i.read() == o.read(), "the copy differs")
    with open(outs[1], "rb") as e:
        expect(said(e.read()) == b"err\n", "standard error")


@box_test
def a_file_open_for_both_is_relayed_both_ways():
    path = write("both", "first\n")
    with open(path, "r+b") as f:
        p = subprocess.run(command("run", "--", "cat"), cwd=WORK, stdin=f,
                           env=environment(), capture_output=True, timeout=WAIT)
    expect(p.stdout == b"first\n", p)
    with open(path, "r+b") as f:
        p = subprocess.run(command("run", "--", "echo", "second"), cwd=WORK,
                           stdout=f, env=environment(), timeout=WAIT)
    with open(path) as f:
        expect(f.read() == "second\n", "written")


def over(pair, script, **kw):
    """The tool with one end of a connection as its streams; what came back."""
    ours, theirs = pair
    with ours, theirs:
        p = subprocess.Popen(command("run", "--", "sh", "-c", script),
                             cwd=WORK, env=environment(), stdin=theirs,
                             stdout=theirs, stderr=kw.get("stderr", theirs))
        theirs.close()
        ours.settimeout(WAIT)

        def send():
            ours.sendall(kw.get("data", b""))
            ours.shutdown(socket.SHUT_WR)

        # what comes back may have to be read before all is taken
        sender = threading.Thread(target=send)
        sender.start()
        seen = b"".join(iter(lambda: ours.recv(65536), b""))
        sender.join()
    return p.wait(timeout=WAIT), said(seen)


def connection():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        return ours, listener.accept()[0]


@box_test
def a_socket_is_relayed_and_never_enters_the_box():
    look = "readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2"
    for pair in (connection(), socket.socketpair()):
        code, seen = over(pair, look)
        expect(code == 0 and seen.count(b"pipe:") == 3, seen)
    data = os.urandom(300000)
    for pair in (connection(), socket.socketpair()):
        expect(over(pair, "cat", data=data) == (0, data), "bytes changed")
    code, seen = over(connection(), "for i in 1 2 3 4 5; do echo $i; "
                      "echo $i >&2; done; exit 3")
    expect(code == 3 and seen.split() ==
           [b"%d" % (i // 2) for i in range(2, 12)], seen)


SET_FLAGS = """import fcntl, os
for fd in range(3):
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)
"""


@box_test
def flags_that_the_box_sets_on_pipes_stay_its_own():
    if status(tool("run", "--", "sh", "-c", "command -v python3 || true"),
              0).out == b"":
        raise tool_lib.Skip("no python3 in the box")
    pipes = [os.pipe() for _ in range(3)]
    ours = [pipes[0][0], pipes[1][1], pipes[2][1]]
    before = [fcntl.fcntl(fd, fcntl.F_GETFL) for fd in ours]
    p = subprocess.run(command("run", "--", "python3", "-c", SET_FLAGS),
                       cwd=WORK, env=environment(), stdin=ours[0],
                       stdout=ours[1], stderr=ours[2], timeout=WAIT)
    after = [fcntl.fcntl(fd, fcntl.F_GETFL) for fd in ours]
    for fd in [fd for pair in pipes for fd in pair]:
        os.close(fd)
    expect(p.returncode == 0 and before == after, (p, before, after))


@box_test
def a_pipe_that_cannot_be_opened_again_is_relayed():
    """A named one whose readers are gone, as another user's pipe is."""
    path = os.path.join(TOP, "fifo")
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(path, os.O_WRONLY)
    os.close(reader)
    with open(os.devnull) as null:
        p = subprocess.run(command("run", "--", "readlink", "/proc/self/fd/1"),
                           cwd=WORK, env=environment(), stdin=null,
                           stdout=writer, stderr=subprocess.PIPE, timeout=WAIT)
    os.close(writer)
    os.unlink(path)
    expect(p.returncode in (0, 141), p)


@box_test
def an_endless_device_is_read_as_far_as_wanted():
    with open("/dev/zero", "rb") as f:
        p = subprocess.run(command("run", "--", "head", "-c", "70000"),
                           cwd=WORK, stdin=f, env=environment(),
                           capture_output=True, timeout=WAIT)
    expect(p.returncode == 0 and p.stdout == b"\0" * 70000, p.returncode)


@box_test
def a_directory_on_standard_input_is_refused():
    fd = os.open("/", os.O_RDONLY)
    p = subprocess.run(command("run", "--", "cat"), cwd=WORK, stdin=fd,
                       env=environment(), capture_output=True, timeout=WAIT)
    os.close(fd)
    expect(p.returncode == 5 and b"standard input" in p.stderr, p)


@box_test
def output_streams_while_the_command_runs():
    p = start("run", "--", "sh", "-c", "echo one; read x; echo two")
    expect(p.stdout.readline() == b"one\n", "the first line at once")
    p.stdin.write(b"\n")
    p.stdin.close()
    expect(p.stdout.read() == b"two\n" and p.wait(WAIT) == 0, "the second")
    p.stdout.close(), p.stderr.close()


@box_test
def the_end_of_input_is_passed_on():
    status(tool("run", "--", "cat", stdin=b""), 0)


@box_test
def the_command_dies_of_a_reader_that_left():
    p = subprocess.run(
        ["bash", "-c", '"$@" yes | head -n 1; echo ${PIPESTATUS[0]}', "x",
         *command("run", "--")], cwd=WORK, env=environment(),
        capture_output=True, timeout=WAIT)
    expect(p.stdout == b"y\n141\n" and not said(p.stderr), p)


@box_test
def a_writer_outlives_a_command_that_reads_one_line():
    p = subprocess.run(
        ["bash", "-c", 'yes | "$@" head -n 1; echo ${PIPESTATUS[*]}', "x",
         *command("run", "--")], cwd=WORK, env=environment(),
        capture_output=True, timeout=WAIT)
    expect(p.stdout == b"y\n141 0\n", p)


@box_test
def output_that_is_lost_on_a_full_disk_is_not_success():
    if not os.path.exists("/dev/full"):
        raise tool_lib.Skip("no /dev/full")
    for line, wanted in (("echo x", 70), ("echo x; exit 9", 9), ("true", 0)):
        with open("/dev/full", "w") as full:
            p = subprocess.run(command("run", "--", "sh", "-c", line),
                               cwd=WORK, env=environment(), stdout=full,
                               stderr=subprocess.PIPE, timeout=WAIT)
        expect(p.returncode == wanted, p)
        expect((b"standard output cannot be written: No space" in p.stderr) ==
               (wanted != 0), p)


@box_test
def output_that_a_broken_disk_loses_is_not_success():
    tool_lib.has_filter()
    # 777 bytes to descriptor 1, which is another one in the box
    with tempfile.TemporaryFile() as broken:
        p = subprocess.run(
            command("run", "--", "python3", "-c",
                    "import os; os.write(os.dup(1), b'x' * 777)"), cwd=WORK,
            env=environment(), stdout=broken, stderr=subprocess.PIPE,
            timeout=WAIT, preexec_fn=lambda: fail_call(
                "write", errno.EIO, [(0x15, 16, 1), (0x15, 32, 777)]))
    expect(p.returncode == 70 and b"standard output cannot be written: Input"
           in p.stderr, p)


@box_test
def a_terminal_that_is_gone_is_no_lost_output():
    master, slave = pty.openpty()
    os.close(master)
    p = subprocess.run(command("run", "--", "echo", "x"), cwd=WORK,
                       env=environment(), stdin=subprocess.DEVNULL,
                       stdout=slave, stderr=subprocess.PIPE, timeout=WAIT)
    os.close(slave)
    expect(p.returncode == 0 and b"lost" not in p.stderr, p)


@box_test
def closed_streams_are_dev_null_for_the_command():
    p = subprocess.run(
        ["sh", "-c", '"$@" <&- >&- 2>&-', "x",
         *command("run", "--", "sh", "-c", "cat; echo x && exit 9")],
        cwd=WORK, env=environment(), timeout=WAIT)
    expect(p.returncode == 9, p)


HOG = """import array, resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512))
kept = []
try:
    for i in range(100):
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        kept += [a, b]
        a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                            array.array("i", [0] * 250))])
except OSError:
    pass
print(flush=True)
sys.stdin.read()
"""


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (
        256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


@box_test
def descriptors_in_flight_stop_no_box():
    """As another box of the same user could keep them; root has no bound."""
    hog = subprocess.Popen([sys.executable, "-c", HOG], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
    try:
        expect(hog.stdout.readline() == b"\n", "the hog is not ready")
        status(sh("exit 7", preexec_fn=few_files), 7)
    finally:
        hog.communicate()


@box_test
def a_command_has_the_limit_of_files_that_the_tool_had():
    done = status(sh("ulimit -Sn", "--bare", preexec_fn=few_files), 0)
    expect(done.out == b"256\n", done)
    done = status(sh("ulimit -Sn", preexec_fn=few_files), 0)
    expect(int(done.out) > 256, done)


@box_test
def ending_signals_reach_the_command_and_end_as_it_ends():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        p = start("run", "--", "sh", "-c", "echo up; exec sleep 1000")
        p.stdout.readline()
        p.send_signal(sig)
        got = p.wait(WAIT)
        p.communicate()
        expect(got == 128 + sig, "%s gave %s" % (sig, got))


def tree_of(pid):
    """It and all below it that can be signalled, as of now."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            below = [int(word) for word in f.read().split()]
    except OSError:
        below = []
    return [pid] + [one for child in below for one in tree_of(child)]


@box_test
def a_signal_to_all_of_it_is_told_as_one():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        p = start("run", "--", "sh", "-c", "trap '' INT TERM HUP QUIT; "
                  "echo up; while :; do sleep 0.05; done")
        p.stdout.readline()
        for pid in tree_of(p.pid):
            try:
                os.kill(pid, sig)
            except OSError:
                pass
        got = p.wait(20)
        _, err = p.communicate()
        expect(got == 128 + sig, "%s gave %s: %s" % (sig, got, err))


@box_test
def a_box_that_is_killed_is_an_internal_error():
    p = start("run", "--", "sh", "-c", "trap '' TERM; trap 'echo got' USR1; "
              "echo up; while :; do sleep 0.05; done")
    p.stdout.readline()
    # else it may not know yet that the command has begun, and ends for that
    p.send_signal(signal.SIGUSR1)
    p.stdout.readline()
    p.send_signal(signal.SIGTERM)
    os.kill(tree_of(p.pid)[1], signal.SIGKILL)
    p.wait(20)
    err = p.communicate()[1]
    expect(p.returncode in (70, 125), "%s: %s" % (p.returncode, err))


@box_test
def a_command_that_handles_a_signal_ends_as_it_likes():
    p = start("run", "--", "sh", "-c", "trap 'echo caught; exit 3' TERM; "
              "echo up; while :; do sleep 0.05; done")
    p.stdout.readline()
    p.send_signal(signal.SIGTERM)
    out, _ = p.communicate(timeout=WAIT)
    expect(p.returncode == 3 and out == b"caught\n", (p.returncode, out))


@box_test
def an_ignored_signal_stays_ignored():
    p = subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "x",
         *command("run", "--", "sh", "-c", "echo up; read x; exit 4")],
        cwd=WORK, env=environment(), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE)
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    time.sleep(0.2)
    expect(p.poll() is None, "it ended")
    p.communicate(b"\n", timeout=WAIT)
    expect(p.returncode == 4, p.returncode)


@box_test
def stop_and_continue_reach_the_command():
    # a job of its own: the kernel does not stop an orphaned process group
    p = start("run", "--", "sh", "-c", "echo up; while read x; do "
              "echo $x; done; exit 6", preexec_fn=os.setpgrp)
    p.stdout.readline()
    p.send_signal(signal.SIGTSTP)
    until(lambda: os.waitid(os.P_PID, p.pid, os.WSTOPPED | os.WNOHANG |
                            os.WNOWAIT), "the tool stops")
    p.stdin.write(b"later\n")
    p.stdin.flush()
    p.send_signal(signal.SIGCONT)
    expect(p.stdout.readline() == b"later\n", "after the continue")
    p.stdin.close()
    expect(p.wait(WAIT) == 6, "its status")
    p.stdout.close(), p.stderr.close()


@box_test
def nothing_of_the_box_is_left():
    marker = "3141.%d" % os.getpid()
    done = status(sh("setsid sleep %s & (sleep %s &) & sleep 0.2; echo done"
                     % (marker, marker)), 0)
    expect(done.out == b"done\n", done)
    expect(not processes(marker), "processes are left")


@box_test
def a_killed_tool_takes_its_box_along():
    marker = "2718.%d" % os.getpid()
    p = start("run", "--", "sh", "-c", "echo up; exec sleep " + marker)
    p.stdout.readline()
    until(lambda: processes(marker), "the command runs")
    p.kill()
    p.communicate()
    until(lambda: not processes(marker), "the box ends with its owner")


@box_test
def the_wall_clock_limit_ends_as_124_and_is_named():
    says(status(tool("run", "--limit", "wall=300ms", "--", "sleep", "100"),
                124), "wall-clock limit of 300ms", "limits.wall")


@box_test
def the_environment_is_what_the_policy_passes_and_options_set():
    done = sh("env", "--env", "MINE=1", "--env", "EMPTY=",
              env=environment(SECRET="s3cret", LANG="C.UTF-8"))
    lines = done.out.decode().split("\n")
    expect("MINE=1" in lines and "EMPTY=" in lines, lines)
    expect("LANG=C.UTF-8" in lines, lines)
    expect("s3cret" not in done.out.decode(), lines)
    says(status(tool("run", "--env", "X", "true"), 2), "NAME=VALUE")


@box_test
def paths_are_shown_and_hidden_as_asked():
    write("work/secret.txt", "s3cret")
    other = os.path.join(TOP, "other")
    os.makedirs(other, exist_ok=True)
    write("other/data", "data\n")
    os.chmod(other, 0o755)
    expect(b"s3cret" in sh("cat secret.txt").out, "it is there")
    done = sh("cat secret.txt", "--hide", "secret.txt")
    expect(done.status and b"s3cret" not in done.out, done)
    expect("--hide" not in done.text, done)
    done = sh("cat secret.txt", "--hide", "secret.tx", "--hide", "secret.txt",
              "--read", other, "--hide", other + "/dat")
    expect(done.status and b"s3cret" not in done.out, done)
    for place in ("/workspace/secret.tx", other + "/dat"):
        says(done, "--hide: there is no '%s'" % place, "nothing is hidden")
    expect(done.text.count("--hide") == 2, done)
    many = ["--hide=no-such-file-%d" % n for n in range(400)]
    done = sh("true", *many)
    told = done.text.count("nothing is hidden")
    expect(told > 200, told)
    says(done, "more places were not there than could be told")
    done = sh("cat %s/data; echo x 2>/dev/null >%s/new" % (other, other),
              "--read", other)
    expect(done.out == b"data\n" and done.status, done)
    status(sh("echo x >%s/new" % other, "--write", other), 0)
    expect(os.path.exists(os.path.join(other, "new")), "written")


@box_test
def a_directory_that_cannot_be_looked_through_is_named():
    closed = os.path.join(TOP, "closed")
    os.makedirs(closed, exist_ok=True)
    os.chmod(closed, 0)
    if os.access(closed, os.R_OK):
        raise tool_lib.Skip("root may look through everything")
    try:
        for option in ("--workspace", "--write"):
            says(status(tool("run", option, closed, "--", "true"), 125),
                 "'%s'" % closed, "protected names", "[EACCES]")
    finally:
        os.rmdir(closed)


@box_test
def what_was_not_shown_is_not_there():
    write("outside", "s3cret")
    done = sh("cat %s/outside; ls %s" % (TOP, HOME))
    expect(done.status and b"s3cret" not in done.out, done)


@box_test
def walls_are_printed_before_the_command_runs():
    done = status(tool("run", "--walls", "--", "echo", "hi"), 0)
    expect(done.out == b"hi\n", done)
    says(done, "tier", "seccomp", "landlock", "limits", "memory")


@box_test
def json_is_alone_on_standard_output():
    done = status(tool("run", "--json", "--", "sh", "-c", "echo hi; exit 5"),
                  5)
    doc = done.json
    expect(doc["exit"] == 5 and doc["process"]["reason"] == "exited", doc)
    expect(doc["walls"]["walls"]["seccomp"]["standing"], doc)
    expect(len(doc["box"]) == 32 and "hi\n" in done.text, doc)
    doc = status(tool("run", "--json", "--", "no-such-program"), 127).json
    expect(doc["error"]["code"] == "ENOTFOUND" and doc["exit"] == 127, doc)


@box_test
def a_policy_file_is_what_is_raised():
    path = write("tight.json", json.dumps({
        "agentbox": 1, "extends": "builtin:strict",
        "env": {"set": {"PATH": "/usr/bin:/bin", "FROM": "policy"}}}))
    done = status(sh("echo $FROM", "--policy", path), 0)
    expect(done.out == b"policy\n", done)


@box_test
def a_wall_that_cannot_be_had_is_named_with_what_to_do():
    path = write("cgroup.json", json.dumps({
        "agentbox": 1, "extends": "builtin:workspace",
        "require": ["groups", "noswap", "idmap", "cgroup"]}))
    done = sh("true", "--policy", path)
    if done.status != 0:  # root with a pool of ids holds them all
        says(status(done, 125), "required", "agentbox doctor", "[EWALL]")


@box_test
def a_planted_hook_is_reported_before_the_end():
    repo = os.path.join(WORK, "repo")
    os.makedirs(os.path.join(repo, ".git", "hooks"), exist_ok=True)
    write("work/repo/.git/HEAD", "ref: refs/heads/main\n")
    hook = os.path.join(repo, ".git", "hooks", "pre-commit")
    sh("echo evil >.git/hooks/pre-commit", cwd=repo)
    expect(not os.path.exists(hook), "the hook is on the host")
    done = sh("echo evil >.envrc", cwd=repo)
    expect(not os.path.exists(os.path.join(repo, ".envrc")), done)
    if done.status == 0:
        says(done, ".envrc")


@box_test
def what_a_left_process_plants_after_the_commands_end_is_told():
    path = os.path.join(WORK, "left")
    os.makedirs(path)
    # A terminal that nobody reads holds the tool between both ends.
    reader, terminal = os.openpty()
    p = start("run", "--no-tty", "--", "sh", "-c", "(setsid sh -c 'sleep 1; "
              "echo evil >.envrc; echo x >planted' </dev/null >/dev/null 2>&1 "
              "&); head -c 20000 /dev/zero", cwd=path, stdout=terminal)
    os.close(terminal)
    until(lambda: os.path.exists(os.path.join(path, "planted")), "it plants")
    expect(p.poll() is None, "it did not wait")
    try:
        while os.read(reader, 65536):
            pass
    except OSError:  # the other side is closed
        pass
    os.close(reader)
    _, err = p.communicate(timeout=WAIT)
    expect(p.returncode == 0 and b".envrc' is protected" in err, err)
    expect(not os.path.exists(os.path.join(path, ".envrc")), "it is there")


@box_test
def what_a_file_is_called_is_no_warning():
    name = "a is read-only in this box: b"
    write("elsewhere", "x")
    os.link(os.path.join(TOP, "elsewhere"), os.path.join(TOP, "work", name))
    done = sh("echo x >new", "--json")
    walls = json.loads(done.out)["walls"]
    expect(any(name in note for note in walls["notes"]), walls)
    expect(not any(of["kind"] == "read-only" for of in walls["noted"]), walls)
    done = sh("echo x >new")
    expect(done.status == 0 and "read-only" not in done.text, done)
    os.unlink(os.path.join(TOP, "work", name))


@box_test
def a_workspace_that_has_too_much_to_protect_is_told_to_be_read_only():
    for n in range(4200):
        os.makedirs(os.path.join(TOP, "work/d%d" % n))
        write("work/d%d/.envrc" % n, "x")
    done = sh("echo x >not-here")
    expect(done.status and not os.path.exists(TOP + "/work/not-here"), done)
    says(done, "the workspace is read-only in this box: ")


@box_test
def a_user_has_boxes_where_proc_hides_processes():
    if os.geteuid() != 0:
        raise tool_lib.Skip("needs root to mount a /proc with hidepid")
    home = tempfile.mkdtemp(dir="/tmp")
    uid = "54399"
    user = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"]
    try:
        for path in (home, home + "/work"):
            os.makedirs(path, exist_ok=True)
            os.chown(path, int(uid), int(uid))
        argv = command("run", "--state", home + "/state", "--workspace",
                       home + "/work", "--", "sh", "-c", "echo boxed")
        if subprocess.run([*user, argv[0], "--version"], env=environment(),
                          capture_output=True).returncode:
            raise tool_lib.Skip("the build directory is closed to other users")
        p = subprocess.run(
            ["unshare", "-mpf", "--propagation", "private", "sh", "-c",
             "mount -t proc -o hidepid=2 proc /proc || exit 77; exec \"$@\"",
             "sh", *user, *argv], cwd=home, env=environment(),
            capture_output=True, timeout=WAIT)
        if p.returncode == 77:
            raise tool_lib.Skip("no /proc can be mounted here")
        expect(p.stdout == b"boxed\n", p)
    finally:
        shutil.rmtree(home, ignore_errors=True)


@box_test
def what_cannot_be_moved_away_is_an_error_of_its_own():
    if not os.access("/dev/shm", os.W_OK):
        raise tool_lib.Skip("no second file system at /dev/shm")
    state = tempfile.mkdtemp(prefix="state", dir="/dev/shm")
    try:
        if os.stat(state).st_dev == os.stat(WORK).st_dev:
            raise tool_lib.Skip("one file system holds both directories")
        path = os.path.join(WORK, "big")
        os.makedirs(path, exist_ok=True)
        # Too deep to be looked through, and the quarantine is elsewhere.
        script = ("d=deep; for i in $(seq 70); do d=$d/d; done; "
                  "mkdir -p $d; exit 3")
        done = status(sh(script, "--state", state, cwd=path), 125)
        says(done, "deep/d/", "ended with status 3", "[EWALL]")
        shutil.rmtree(os.path.join(path, "deep"))
        doc = status(sh(script, "--state", state, "--json", cwd=path),
                     125).json
        expect(doc["error"]["code"] == "EWALL" and doc["exit"] == 125, doc)
        expect(doc["process"]["exit_status"] == 3, doc)
    finally:
        shutil.rmtree(state, ignore_errors=True)
        shutil.rmtree(os.path.join(WORK, "big"), ignore_errors=True)


@test
def a_state_directory_that_cannot_be_is_told_by_its_option():
    flat = write("flat", "")
    for state in (flat, flat + "/below", "/proc/nothing/here"):
        done = status(tool("run", "--state", state, "--", "true"), 125)
        says(done, "--state", state)


@test
def a_tool_in_its_build_tree_finds_its_helpers():
    # The suite runs the installed tool; this one is the build's own.
    build = os.environ.get("AB_TEST_BUILDDIR", "")
    built = os.path.join(build, "tools", ".libs", "agentbox")
    if not os.path.exists(built):
        raise tool_lib.Skip("the tool of the build tree is not there")
    env = environment(LD_LIBRARY_PATH=os.path.join(build, ".libs"))
    p = subprocess.run([built, "doctor"], cwd=WORK, timeout=WAIT, env=env,
                       capture_output=True)
    expect(p.returncode in (0, 125) and b"EHELPER" not in p.stderr, p)


@test
def doctor_without_helper_says_what_to_do():
    p = subprocess.run([tool_lib.TOOL, "doctor", "--helper-dir", TOP],
                       cwd=WORK, env=environment(), capture_output=True,
                       timeout=WAIT)
    expect(p.returncode == 125 and b"--helper-dir names another" in p.stderr,
           p)


@box_test
def the_state_directory_is_never_shown():
    state = os.path.join(WORK, "state")
    os.makedirs(state, mode=0o700, exist_ok=True)
    done = tool("run", "--state", state, "--", "ls", "state")
    says(status(done, 5), "state")


if __name__ == "__main__":
    main()
