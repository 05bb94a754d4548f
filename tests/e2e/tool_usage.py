#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line of the tool: tables, errors, help, completion, policy."""

import json
import os
import socket
import subprocess

import tool_lib
from tool_lib import (SRC, TOP, WAIT, WORK, Terminal, environment, expect,
                      main, said, says, status, test, tool, write)

BAD = '{"agentbox": 1,\n  "limits": {"memory": "4 GiB"}}\n'
GOOD = '{"agentbox": 1, "name": "mine", "extends": "builtin:strict"}\n'


@test
def without_a_command_it_lists_the_commands():
    says(status(tool(), 2),
         "doctor, run, shell, check, policy, snapshot, peer, scope, network, mcp, "
         "mcp-guard",
         "audit")


@test
def an_unknown_command_lists_those_that_exist():
    says(status(tool("fleet", "up", "--", "ls"), 2), "unknown command",
         "doctor, run, shell, check, policy, snapshot, peer, scope, network, mcp, "
         "mcp-guard",
         "audit")


@test
def a_mistyped_command_names_the_nearest():
    says(status(tool("polcy", "check"), 2), "did you mean 'policy'?")
    says(status(tool("policy", "chekc", "x"), 2), "did you mean 'check'?")


@test
def a_line_of_the_tool_is_written_at_once():
    """A command in the box may share its stderr and write between."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    tool_lib.start("policy", "check", "absent.json", stderr=its).wait(WAIT)
    its.close()
    written = []
    while True:
        data = ours.recv(65536)
        if not data:
            break
        written.append(data)
    expect(written and written[0].startswith(b"agentbox: ") and
           all(x.endswith(b"\n") for x in written), written)


@test
def a_mistyped_option_names_the_nearest():
    says(status(tool("run", "--polcy", "x", "--", "true"), 2),
         "unknown option '--polcy'; did you mean '--policy'?")


@test
def options_are_exact_names():
    says(status(tool("run", "--poli", "x", "--", "true"), 2),
         "unknown option '--poli'")


@test
def options_that_lack_or_have_a_value_wrongly_are_named():
    says(status(tool("run", "--policy"), 2), "'--policy' needs FILE")
    says(status(tool("run", "--tty=1", "true"), 2), "takes no value")
    says(status(tool("run", "--policy", "a", "--policy", "b", "x"), 2),
         "given twice")
    says(status(tool("run", "--shield", "--shield=ask", "x"), 2),
         "given twice")
    says(status(tool("run", "--shield"), 2), "CMD is missing")


@test
def missing_and_superfluous_operands_are_named():
    says(status(tool("run"), 2), "run: CMD is missing")
    says(status(tool("policy", "narrow", "a"), 2), "CHILD is missing")
    says(status(tool("policy", "check"), 2), "FILE is missing")
    says(status(tool("policy", "check", "a", "b"), 2), "'b'")


@test
def what_this_build_lacks_is_refused_in_one_line():
    for option in (["--overlay"], ["--apply"]):
        done = status(tool("run", *option, "--", "true"), 125)
        expect(len(done.text.splitlines()) == 1, done)
        says(done, option[0], "which this build lacks")


@test
def what_a_policy_wants_of_a_box_and_this_build_lacks_is_refused_the_same():
    name = os.path.join(WORK, "overlay.json")
    with open(name, "w") as f:
        json.dump({"agentbox": 1, "workspace": {"path": WORK,
                                                "mount": "overlay"}}, f)
    for words in (["run", "--json", "--policy", name, "--", "true"],
                  ["run", "--json", "--policy", name, "--dry-run"],
                  ["verify", "--json", "--policy", name]):
        done = status(tool(*words), 125)
        expect(done.json["exit"] == 125 and
               done.json["error"]["code"] == "EUNSUPPORTED", done)


@test
def exclusive_options_are_refused():
    status(tool("run", "--bare", "--builtin", "strict", "--", "true"), 2)
    status(tool("run", "--tty", "--json", "--", "true"), 2)


@test
def with_json_a_usage_error_is_one_document():
    for args in (["--json"], ["fleet", "--json"], ["policy", "--json", "x"],
                 ["run", "--json"], ["run", "--json", "--polcy", "x"],
                 ["run", "--polcy", "x", "--json"], ["run", "--tty=1", "--json"],
                 ["run", "--json", "--policy"], ["shell", "--json", "a"],
                 ["policy", "narrow", "a", "--json"],
                 ["policy", "check", "a", "b", "--json"],
                 ["run", "--bare", "--builtin", "x", "--json", "--", "true"]):
        done = status(tool(*args), 2)
        expect(done.json["exit"] == 2 and set(done.json) == {"exit", "error"},
               done)
        expect(done.json["error"]["code"] == "EINVAL" and
               done.json["error"]["message"] in done.text, done)


@test
def a_word_of_the_command_is_no_option_of_the_tool():
    for args in (["run", "--polcy", "x", "ls", "--json"],
                 ["run", "--polcy", "--", "ls", "--json"]):
        expect(status(tool(*args), 2).out == b"", args)


@test
def the_version_is_a_document_too():
    done = status(tool("--version", "--json"), 0)
    expect(status(tool("--version"), 0).out.decode() ==
           "agentbox %(version)s (build %(build)s)\n" % done.json, done)


@test
def words_that_are_no_utf_8_are_told():
    """Escaped, for a terminal that is not for UTF-8 and in the document."""
    for word, seen in ((b"a\xffb", "a\\xffb"), (b"\x9b31m", "\\x9b31m"),
                       (b"\xc3\xa9\xc3", "\u00e9\\xc3"),
                       (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
                       (b"\xf0\x9f\x98\x80", "\U0001f600")):
        done = status(tool("policy", "check", "--json", word), 4)
        says(done, seen)
        expect(done.json["error"]["about"] == seen, done)
    done = status(tool("run", "--json", b"--\xff"), 2)
    expect("--\\xff" in done.json["error"]["message"], done)


@test
def a_word_that_is_too_long_does_not_hide_the_reason():
    for word in ("/a" + 5000 * "x" + "/end", "/" + 3000 * "\u00e9" + "/end"):
        done = status(tool("policy", "check", "--json", word), 3)
        says(done, word[:50], "...", "/end: ", "name too long")
        expect(len(done.err) < 600 and "\\x" not in done.text, done)
        expect(done.json["error"]["about"] == word, done)
    says(status(tool("snapshot", "explain", 5000 * "x"), 3), "name too long")
    says(status(tool("run", "--resolver", 5000 * "1", "--", "true"), 2),
         "--resolver: ")


@test
def help_goes_to_standard_output_and_exits_0():
    for args in (["--help"], ["run", "--help"], ["policy", "--help"],
                 ["audit", "verify", "--help"], ["-h"]):
        done = status(tool(*args), 0)
        expect(done.out.startswith(b"usage: agentbox"), done)
        expect(not done.err, done)


@test
def help_is_a_command_too():
    for command in ([], ["run"], ["policy"], ["audit", "verify"]):
        expect(status(tool("help", *command), 0).out ==
               tool(*command, "--help").out, command)
    says(status(tool("help", "nonesuch"), 2), "unknown command 'nonesuch'")


@test
def usage_lines_end_where_they_end():
    for command in ("doctor", "shell", "policy check"):
        done = status(tool(*command.split(), "--help"), 0)
        expect(not any(line.endswith(b" ") for line in done.out.splitlines()),
               done)


@test
def a_command_of_a_group_is_explained_there():
    says(status(tool("policy"), 2), "see agentbox policy --help")
    says(status(tool("audit", "nonesuch"), 2), "see agentbox audit --help")


@test
def a_built_in_policy_named_like_a_file_is_explained():
    says(status(tool("run", "--policy", "strict", "true"), 4), "builtin:strict")
    expect("builtin" not in status(tool("policy", "check", "none"), 4).text,
           "no built-in policy has that name")


@test
def help_names_every_command_and_option():
    rows = [l.split("\t") for l in
            tool("--list-options").out.decode().splitlines()]
    for command in sorted({r[0] for r in rows if r[0]}):
        text = tool(*command.split(), "--help").out.decode()
        for row in rows:
            if row[0] in ("", command) and row[1].startswith("--"):
                expect(row[1] in text, "%s %s" % (command, row[1]))


@test
def the_manual_page_names_every_command_and_option():
    with open(os.path.join(SRC, "man", "agentbox.1")) as f:
        page = f.read()
    for line in tool("--list-options").out.decode().splitlines():
        command, option = line.split("\t")[:2]
        for word in command.split():
            expect(".Cm" in page and word in page, word)
        if option.startswith("--"):
            expect("Fl " + option[1:] in page or
                   ", " + option[1:] in page, option)


@test
def version_names_the_build():
    done = status(tool("--version"), 0)
    expect(b"agentbox 1." in done.out and b"build" in done.out, done)


@test
def help_fits_a_narrow_terminal():
    with Terminal([tool_lib.TOOL, "run", "--help"], columns=40) as t:
        t.end()
        lines = t.seen.decode().replace("\r", "").split("\n")
    import re
    for line in lines:
        line = re.sub("\033\\[[0-9;]*m", "", line)
        # commands to type are not broken
        if not line.startswith("  agentbox "):
            expect(len(line) <= 40, repr(line))


@test
def colours_are_for_terminals_without_no_color():
    with Terminal([tool_lib.TOOL, "nope"]) as t:
        t.end()
        expect(b"\033[" in t.seen, t.seen)
    with Terminal([tool_lib.TOOL, "nope"], env=environment(NO_COLOR="1")) as t:
        t.end()
        expect(b"\033[" not in t.seen, t.seen)
    expect(b"\033[" not in tool("nope").err, "colour in a pipe")


@test
def names_cannot_drive_the_terminal():
    done = tool("policy", "check", "a\033]0;x\007b")
    expect(b"\033" not in done.err and b"\\x1b" in done.err, done)


@test
def a_name_cannot_turn_or_hide_the_text_around_it():
    hidden = ("\u202a\u202e\u2066\u2069\u200b\u200f\u061c\ufeff\u2028\u2060"
              "\U000e0041\x85")
    for c in hidden:
        done = tool("run", "--workspace", "/no/a%sb" % c, "true")
        expect(c not in done.text and "".join(
            "\\x%02x" % b for b in c.encode()) in done.text, done)
    for c in "\u00e9\u4e2d\u201c\u2026\u2070\U0001f600\ufb01\u0627":
        done = tool("run", "--workspace", "/no/a%sb" % c, "true")
        expect("a%sb" % c in done.text, done)


@test
def a_closed_reader_ends_it_quietly():
    for args in ("--list-options", "policy show builtin:workspace"):
        p = subprocess.run(["sh", "-c", "'%s' %s | head -n 1" % (
            tool_lib.TOOL, args)], env=environment(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=WAIT)
        expect(not p.stderr and p.stdout.count(b"\n") == 1, p)


@test
def a_full_disk_is_not_success():
    if not os.path.exists("/dev/full"):
        raise tool_lib.Skip("no /dev/full")
    for args in (["policy", "digest", "builtin:strict"], ["--help"],
                 ["--version"], ["--list-options"], ["--version", "--json"]):
        with open("/dev/full", "w") as full:
            p = subprocess.run([tool_lib.TOOL, *args], env=environment(),
                               stdout=full, stderr=subprocess.PIPE,
                               timeout=WAIT)
        expect(p.returncode == 70 and b"standard output" in p.stderr, p)


@test
def what_goes_to_a_closed_standard_output_is_no_success():
    for args in ("policy digest builtin:strict", "--help", "--version",
                 "--version --json", "--json check shell ls",
                 "snapshot tar '%s'" % WORK):
        p = subprocess.run(["sh", "-c", "'%s' %s >&-" % (tool_lib.TOOL, args)],
                           env=environment(), timeout=WAIT,
                           stderr=subprocess.PIPE)
        wanted = 2 if args.startswith("snapshot") else 70
        expect(p.returncode == wanted and p.stderr, (args, p))


@test
def closed_standard_streams_do_no_harm():
    for closing in ("<&-", "<&- >&- 2>&-"):
        p = subprocess.run(["sh", "-c", "'%s' policy check builtin:strict %s"
                            % (tool_lib.TOOL, closing)], env=environment(),
                           timeout=WAIT, capture_output=True)
        expect(p.returncode == 0, p)


def in_a_directory_that_is_gone(*args):
    gone = os.path.join(TOP, "gone")
    os.mkdir(gone)

    def enter():
        os.chdir(gone)
        os.rmdir(gone)

    return tool(*args, preexec_fn=enter)


@test
def a_directory_that_is_gone_is_told():
    policy = write("good.json", '{"agentbox": 1}')
    for args in (("check", "write", "f"), ("check", "read", "f"),
                 ("check", "shell", "ls"), ("check", "git", "--", "status"),
                 ("check", "argv", "--", "ls"), ("run", "--", "true"),
                 ("snapshot", "explain", "."), ("snapshot", "tar", "x"),
                 ("snapshot", "copy", "x", os.path.join(TOP, "dst")),
                 ("snapshot", "copy", WORK, "dst"),
                 ("snapshot", "untar", "x.tar", "dst")):
        done = in_a_directory_that_is_gone(*args)
        expect(done.status in (3, 4) and b"agentbox: " in said(done.err),
               (args, done))
    status(in_a_directory_that_is_gone("policy", "check", policy), 0)


@test
def a_home_that_is_not_there_is_not_made():
    home = os.path.join(TOP, "none", "such")
    pair = ("--reader", "a", "--source", "b")
    for args, want in ((("network", "show"), 5), (("secret", "list"), 5),
                       (("secret", "put", "x"), 5),
                       (("secret", "revoke", "x"), 5),
                       (("identity", "list"), 5), (("peer", "list"), 5),
                       (("peer", "grant") + pair, 5),
                       (("peer", "refresh") + pair, 5),
                       (("peer", "revoke") + pair, 5),
                       (("verify", "box"), 5), (("run", "--", "true"), 125)):
        done = tool(*args, env=dict(environment(), HOME=home), stdin=b"")
        expect(done.status == want, (args, done))
        says(done, "--state: ", "--state DIR")
        expect("agentbox_" not in done.text, done)
        expect(not os.path.exists(os.path.dirname(home)), args)
    status(tool("network", "show", "--state", os.path.join(TOP, "kept"),
                env=dict(environment(), HOME=home)), 0)


@test
def words_that_are_missing_are_told_first():
    for command in ("grant", "refresh", "revoke"):
        for args in ((), ("--reader", "a"), ("--source", "b")):
            done = tool("peer", command, *args,
                        env=dict(environment(), HOME="/nonexistent"))
            expect(done.status == 2, (command, args, done))
            says(done, "give --")


@test
def completion_offers_what_the_tables_have():
    script = r'''
. "%s/tools/completion/agentbox"
try() { COMP_WORDS=("$TOOL" "$@"); COMP_CWORD=$#; COMPREPLY=(); _agentbox
	echo "$* = ${COMPREPLY[*]}"; }
try po
try policy sh
try run --builtin str
try run --limit me
try audit show --verdict d
try run --work
try run --shield = as
try run --shield =
try run --shield --pol
''' % SRC
    p = subprocess.run(["bash", "-c", script], timeout=WAIT, cwd=WORK,
                       env=environment(TOOL=tool_lib.TOOL),
                       capture_output=True)
    for line in (b"po = policy", b"policy sh = show", b"str = strict",
                 b"me = memory=", b"d = deny", b"--work = --workspace",
                 b"= as = ask\n", b"= = audit deny ask\n",
                 b"--pol = --policy"):
        expect(line in p.stdout, p)


@test
def a_good_policy_is_good():
    path = write("good.json", GOOD)
    says(status(tool("policy", "check", path), 0), "good", "mine")
    done = status(tool("policy", "check", "--json", path), 0)
    expect(done.json["status"] == "good" and not done.err, done)
    expect(done.json["digest"].startswith("sha256:"), done)


@test
def a_bad_policy_is_told_with_line_and_column():
    path = write("bad.json", BAD)
    done = says(status(tool("policy", "check", path), 3), path,
                "limits.memory", "line 2 column 2", "[EPOLICY]")
    expect(len(done.text.splitlines()) == 1, done)
    done = status(tool("policy", "check", "--json", path), 3)
    expect(done.json["error"]["code"] == "EPOLICY", done)
    expect(done.json["error"]["where"].startswith("/limits/memory"), done)


@test
def bad_documents_each_give_one_line_and_a_code():
    for name, text, code in (
            ("unknown key", '{"agentbox": 1, "nope": 2}', "EPOLICY"),
            ("duplicate", '{"agentbox": 1, "agentbox": 1}', "EPARSE"),
            ("type", '{"agentbox": 1, "limits": 3}', "EPOLICY"),
            ("overflow", '{"agentbox": 1, "limits": '
             '{"memory": "99999999999999999999GiB"}}', "EPOLICY"),
            ("not JSON", '{"agentbox": 1', "EPARSE"),
            ("empty", '', "EPARSE"),
            ("10 MB", '{"agentbox": 1}' + " " * 10000000, "ELIMIT")):
        done = status(tool("policy", "check", write("x.json", text)), 3)
        expect(len(done.text.splitlines()) == 1, name + repr(done))
        says(done, "[%s]" % code)


@test
def policies_come_from_files_standard_input_and_built_ins():
    a = status(tool("policy", "digest", "-", stdin=GOOD.encode()), 0)
    b = status(tool("policy", "digest", write("good.json", GOOD)), 0)
    expect(a.out == b.out and a.out.startswith(b"sha256:"), a)
    status(tool("policy", "digest", "builtin:strict"), 0)
    says(status(tool("policy", "digest", "builtin:nope"), 4), "workspace")
    status(tool("policy", "digest", "/nonexistent/x"), 4)
    status(tool("policy", "digest", TOP), 3)


@test
def an_unreadable_policy_is_refused():
    path = write("secret.json", GOOD)
    os.chmod(path, 0)
    # root reads every file
    says(status(tool("policy", "check", path),
                0 if os.access(path, os.R_OK) else 5), path)


@test
def a_limit_that_there_is_not_is_refused():
    # "x-pids" would be a good key of a policy, and hold nothing
    for name in ("foo", "x-pids", "Memory", "require"):
        says(status(tool("run", "--limit", name + "=3", "--dry-run", "--",
                         "true"), 3), "there is no limit '%s'" % name,
             "memory, cpus, pids, disk, files, wall")


@test
def a_policy_that_is_too_long_is_refused_with_the_limit():
    path = write("long.json", GOOD + " " * (3 << 20))
    done = says(status(tool("policy", "check", path), 3), path,
                "more than 1048576 bytes")
    expect("2097152" not in done.text, done)
    exact = write("exact.json", GOOD + " " * ((1 << 20) - len(GOOD)))
    status(tool("policy", "check", exact), 0)


@test
def show_prints_a_policy_with_the_same_digest():
    shown = status(tool("policy", "show", write("good.json", GOOD)), 0)
    again = tool("policy", "digest", write("shown.json", shown.out.decode()))
    expect(again.out == tool("policy", "digest",
                             write("good.json", GOOD)).out, again)


@test
def contains_answers_with_0_or_5():
    status(tool("policy", "contains", "builtin:workspace", "builtin:strict"),
           0)
    wide = write("wide.json", '{"agentbox": 1, "extends": "builtin:strict", '
                 '"limits": {"memory": "64GiB"}}')
    says(status(tool("policy", "contains", "builtin:strict", wide), 5),
         "memory")
    status(tool("policy", "contains", "-", "-"), 2)


@test
def narrow_cuts_the_child_to_the_parent():
    wide = write("wide.json", '{"agentbox": 1, "extends": "builtin:strict", '
                 '"limits": {"memory": "64GiB"}}')
    cut = status(tool("policy", "narrow", "builtin:strict", wide), 0)
    expect(cut.json["limits"]["memory"] == "2GiB", cut)
    status(tool("policy", "contains", "builtin:strict",
                write("cut.json", cut.out.decode())), 0)


if __name__ == "__main__":
    main()
