#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""agentbox audit over logs that agentbox run wrote."""

import json
import os
import shutil
import subprocess
import tempfile

import tool_lib
from tool_lib import (HOME, TOP, WAIT, WORK, box_test, environment, expect,
                      main, says, status, test, tool, until, write)

LOG = os.path.join(TOP, "log.jsonl")


def recorded(log=LOG, *options):
    if os.path.exists(log):
        os.unlink(log)
    for root, _, files in os.walk(os.path.join(HOME, ".local")):
        for name in files:
            if name.startswith(os.path.basename(log)):
                os.unlink(os.path.join(root, name))
    status(tool("run", "--audit", log, *options, "--", "sh", "-c", "exit 3"),
           3)
    return log


@test
def without_a_log_it_says_which_file_to_name():
    for command in ("show", "verify", "report"):
        says(status(tool("audit", command), 4), "run --audit")


@test
def a_log_that_is_not_there_is_told():
    for command in ("show", "verify", "report"):
        says(status(tool("audit", command, "/nonexistent/log"), 4),
             "/nonexistent/log")


@test
def a_wrong_filter_is_wrong_usage():
    path = write("empty.jsonl", "")
    says(status(tool("audit", "show", "--verdict", "perhaps", path), 2),
         "perhaps")
    status(tool("audit", "report", "--since", "yesterday", path), 2)


@test
def a_time_that_is_not_utc_is_wrong_usage():
    path = write("empty.jsonl", "")
    for time in ("2026-01-31T12:00:00+02:00", "2026-01-31T12:00", "2026-01-3",
                 "2026-01-31T12:00:00.", "2026-01-31T12:00:00.1234567Z",
                 "2026-01-31T12:00:00ZZ", "2026-01-31 12:00:00", "",
                 "2026-01-31T12:00:00Z;"):
        for option in ("--since", "--until"):
            says(status(tool("audit", "show", option, time, path), 2), option)


def made(*times):
    """Records as a log has them; show and report do not verify."""
    text = ""
    for seq, time in enumerate(times, 1):
        text += json.dumps({
            "actor": {"box": "", "euid": 0, "generation": 0, "pid": 1,
                      "uid": 0},
            "mono_ns": 1, "prev": "0" * 64, "seq": seq, "timestamp": time,
            "type": "note"}, sort_keys=True, separators=(",", ":")) + "\n"
    return write("made.jsonl", text)


@test
def a_time_names_all_that_is_in_it():
    log = made("2026-01-30T23:59:59.999999Z", "2026-01-31T00:00:00.000000Z",
               "2026-01-31T12:00:00.000000Z", "2026-01-31T12:00:00.500000Z",
               "2026-01-31T12:00:01.000000Z", "2026-01-31T23:59:59.999999Z",
               "2026-02-01T00:00:00.000000Z")
    for option, time, want in (
            ("--since", "2026-01-31", [2, 3, 4, 5, 6, 7]),
            ("--until", "2026-01-31", [1, 2, 3, 4, 5, 6]),
            ("--since", "2026-01-31T12:00:00Z", [3, 4, 5, 6, 7]),
            ("--until", "2026-01-31T12:00:00Z", [1, 2, 3, 4]),
            ("--until", "2026-01-31T12:00:00.0Z", [1, 2, 3]),
            ("--until", "2026-01-31T12:00:00.499999Z", [1, 2, 3]),
            ("--since", "2026-01-31T12:00:00.5", [4, 5, 6, 7]),
            ("--until", "2026-01-31T12:00:00.5", [1, 2, 3, 4])):
        done = status(tool("audit", "show", "--json", option, time, log), 0)
        seen = [json.loads(l)["seq"] for l in done.out.splitlines()]
        expect(seen == want, (option, time, seen))
    # a fraction is a span, too
    log = made("2026-01-31T12:00:00.499999Z", "2026-01-31T12:00:00.512000Z",
               "2026-01-31T12:00:00.599999Z", "2026-01-31T12:00:00.600000Z")
    for time, want in (("12:00:00.5", [1, 2, 3]), ("12:00:00.51", [1, 2]),
                       ("12:00:00.512", [1, 2]), ("12:00:00.50", [1]),
                       ("12:00:00.512000", [1, 2]), ("12:00:00", [1, 2, 3, 4])):
        done = status(tool("audit", "show", "--json", "--until",
                           "2026-01-31T" + time, log), 0)
        seen = [json.loads(l)["seq"] for l in done.out.splitlines()]
        expect(seen == want, (time, seen))


@test
def an_anchor_that_cannot_be_read_is_told():
    log, empty = made("2026-01-31T12:00:00.000000Z"), write("anchor", "")
    for option in ("--anchor", "--start"):
        for path in (empty, TOP, "/nonexistent"):
            done = status(tool("audit", "verify", option, path, log), 4)
            says(done, option, path)
            expect("Success" not in done.text, done)


@test
def a_log_in_a_directory_that_is_missing_is_told():
    done = tool("run", "--audit", "/nonexistent/log", "--", "true")
    expect(done.status not in (0, 127) and "/nonexistent" in done.text, done)


@test
def what_is_no_log_is_neither_verified_nor_taken_for_one():
    for text in ('{"important": 1}', "x", "\n", "two\nlines"):
        path = write("other", text)
        says(status(tool("audit", "verify", path), 6), "tampered")
        says(status(tool("run", "--audit", path, "--", "true"), 6), "--audit")
        with open(path) as f:
            expect(f.read() == text, path)
    status(tool("audit", "show", TOP), 3)
    status(tool("audit", "verify", TOP), 3)
    says(status(tool("run", "--audit", TOP, "--", "true"), 5), "--audit",
         "is not a regular file")
    says(status(tool("run", "--audit", "", "--", "true"), 2), "--audit")


@box_test
def a_run_is_recorded_from_start_to_end():
    recorded()
    done = status(tool("audit", "show", "--json", LOG), 0)
    records = [json.loads(l) for l in done.out.splitlines()]
    types = [r["type"] for r in records]
    for t in ("box.start", "command.start", "command.exit", "box.end"):
        expect(t in types, types)
    start = records[types.index("command.start")]
    expect(start["argv"] == ["sh", "-c", "exit 3"], start)
    expect(start["config_hash"].startswith("sha256:"), start)
    expect(records[types.index("command.exit")]["exit_status"] == 3, records)


@box_test
def every_record_says_who_what_and_when():
    recorded()
    done = status(tool("audit", "show", "--json", LOG), 0)
    records = [json.loads(l) for l in done.out.splitlines()]
    expect(len(records) >= 4, records)
    boxes = {r["actor"]["box"] for r in records if r["actor"]["box"]}
    expect(len(boxes) == 1, boxes)
    for r in records:
        expect(r["timestamp"].endswith("Z") and r["type"], r)
        if r["type"].startswith(("box.", "command.")):
            actor = r["actor"]
            expect(actor["box"] in boxes and isinstance(actor["pid"], int), r)
            expect(actor["uid"] == os.getuid() and
                   actor["euid"] == os.geteuid(), r)
    ran = [r for r in records if r["type"].startswith("command.")]
    expect(len(ran) == 2 and ran[0]["subject"] == "sh" and
           ran[0]["argv"] == ["sh", "-c", "exit 3"], ran)


@box_test
def records_are_shown_one_a_line():
    recorded()
    done = status(tool("audit", "show", LOG), 0)
    text = done.out.decode()
    expect("command.start" in text and "sh -c exit 3" in text, text)
    expect("exit 3" in text and "\033" not in text, text)


@box_test
def a_command_of_any_length_is_recorded():
    recorded()
    for argc in (5000, 20000, 60000):
        status(tool("run", "--audit", LOG, "--", "true",
                    *(["x%d" % i for i in range(argc)])), 0)
    status(tool("run", "--audit", LOG, "--", "true", *(["a" * 99999] * 15)), 0)
    status(tool("run", "--audit", LOG, "--", "true", *(["\u00e9"] * 30000)), 0)
    done = status(tool("audit", "show", "--json", "--type", "command.start",
                       LOG), 0)
    r = [json.loads(l) for l in done.out.splitlines()][1:]
    expect(len(r[0]["argv"]) == 5001 and "truncated" not in r[0], r[0].keys())
    for one, argc in ((r[1], 20001), (r[2], 60001), (r[4], 30001)):
        expect(one["truncated"] is True and one["argc"] == argc, argc)
        expect(one["argv"][0] == "true" and len(one["argv"]) > 1000, argc)
    expect(len(r[3]["argv"]) == 16 and r[3]["cut"]["values"] == 15, r[3].keys())


@box_test
def a_user_with_a_large_number_is_recorded():
    if os.geteuid() != 0:
        raise tool_lib.Skip("needs root to be another user")
    # the directory of the tests is closed to others
    home = tempfile.mkdtemp(dir="/tmp")
    try:
        os.mkdir(os.path.join(home, "work"))
        for path in (home, os.path.join(home, "work")):
            os.chown(path, 3000000000, 3000000000)
        log = os.path.join(home, "log")
        who = {"user": 3000000000, "group": 3000000000, "extra_groups": [],
               "cwd": os.path.join(home, "work"),
               "env": dict(environment(), HOME=home)}
        try:
            tool("--version", **who)
        except PermissionError:
            raise tool_lib.Skip("the build directory is closed to others")
        status(tool("run", "--audit", log, "--", "true", **who), 0)
        done = status(tool("audit", "show", "--json", log), 0)
        uids = {json.loads(l)["actor"]["uid"] for l in done.out.splitlines()}
        expect(uids == {3000000000}, uids)
    finally:
        shutil.rmtree(home)


@box_test
def a_command_cannot_write_a_record_of_its_own():
    recorded()
    forged = "2026-01-31T12:00:00.000000Z  deadbeef  command.exit  exit 0"
    status(tool("run", "--audit", LOG, "--", "true", "a\n" + forged,
                "b\r" + forged, "\x1b[1A\x1b[2K"), 0)
    done = status(tool("audit", "show", LOG), 0)
    count = len(status(tool("audit", "show", "--json", LOG), 0)
                .out.splitlines())
    lines = done.out.decode().splitlines()
    expect(len(lines) == count, (count, lines))
    expect(not any(l.startswith(forged[:30]) for l in lines), lines)
    expect(b"\x1b" not in done.out and b"\r" not in done.out, done)


@box_test
def filters_choose_records():
    recorded()
    done = status(tool("audit", "show", "--json", "--type", "command.*",
                       LOG), 0)
    types = {json.loads(l)["type"] for l in done.out.splitlines()}
    expect(types == {"command.start", "command.exit"}, types)
    says(status(tool("audit", "show", "--type", "nothing", LOG), 0),
         "no record")


@box_test
def an_untouched_log_verifies_up_to_its_anchor():
    recorded()
    says(status(tool("audit", "verify", LOG), 0), "verified", "anchored")
    doc = status(tool("audit", "verify", "--json", LOG), 0)
    expect(doc.json["status"] == "verified" and not doc.err, doc)


@box_test
def a_key_that_signed_nothing_is_refused():
    recorded()
    with open(LOG) as f:
        lines = f.readlines()
    first, last = json.loads(lines[0])["log"], json.loads(lines[-1])["log"]
    status(tool("audit", "verify", "--key", first["key"], LOG), 0)
    # named by the last head, and nothing came after it
    says(status(tool("audit", "verify", "--key", last["next"], LOG), 6),
         "signed")
    # what was recorded up to the first head could be anybody's
    cut = write("cut.jsonl", "".join(lines[:-1]))
    says(status(tool("audit", "verify", "--key", first["key"], cut), 6),
         "signed")
    says(status(tool("audit", "verify", cut), 0), "no record")


@box_test
def a_second_run_continues_the_log():
    recorded()
    status(tool("run", "--audit", LOG, "--", "true"), 0)
    says(status(tool("audit", "verify", LOG), 0), "verified")


@box_test
def changed_dropped_reordered_and_cut_records_show():
    with open(recorded(), "rb") as f:
        lines = f.read().splitlines(keepends=True)
    attacks = {
        "changed": lines[:1] + [lines[1].replace(b"box", b"bax", 1)] +
        lines[2:],
        "dropped": lines[:1] + lines[2:],
        "reordered": lines[:1] + [lines[2], lines[1]] + lines[3:],
        "cut": lines[:-2],
    }
    for name, attacked in attacks.items():
        with open(LOG, "wb") as f:
            f.writelines(attacked)
        done = tool("audit", "verify", LOG)
        expect(done.status == 6, "%s: %r" % (name, done))
        expect(tool("audit", "verify", "--json", LOG).json["status"] ==
               "tampered", name)


@box_test
def a_byte_that_is_no_text_does_not_hide_a_secret():
    recorded()
    status(tool("run", "--audit", LOG, "--", "true", b"a\xffb",
                b"\xff --password=hunter\xfetail x", b"\xc3\xa9 token=wxyz"), 0)
    with open(LOG, "rb") as f:
        log = f.read()
    expect(b"hunter" not in log and b"tail" not in log and
           b"wxyz" not in log and b"68756e746572" not in log, log)
    argv = [json.loads(line).get("argv") for line in log.splitlines()]
    expect(["true", "a\\xffb", "\\xff --password=[redacted] x",
            "\u00e9 token=[redacted]"] in argv, argv)
    status(tool("audit", "verify", LOG), 0)


@box_test
def report_counts_what_happened():
    recorded()
    done = status(tool("audit", "report", "--json", LOG), 0)
    expect(done.json and not done.err, done)
    says(status(tool("audit", "report", LOG), 0), "command.start")


@box_test
def the_signing_key_is_private_and_not_in_the_workspace():
    recorded()
    state = os.path.join(HOME, ".local", "state", "agentbox")
    expect(os.stat(state).st_mode & 0o777 == 0o700, oct(os.stat(
        state).st_mode))
    keys = [n for n in os.listdir(os.path.join(state, "audit"))
            if n.startswith("log.jsonl") and n.endswith(".key")]
    expect(len(keys) == 1, keys)
    mode = os.stat(os.path.join(state, "audit", keys[0])).st_mode
    expect(mode & 0o077 == 0, oct(mode))


@box_test
def a_log_in_the_workspace_is_out_of_the_commands_reach():
    log = os.path.join(WORK, "log.jsonl")
    recorded(log)
    for attack in ("echo x >>log.jsonl", "rm log.jsonl",
                   "mv log.jsonl other", ": >log.jsonl"):
        tool("run", "--audit", log, "--", "sh", "-c", attack)
        status(tool("audit", "verify", log), 0)


@box_test
def a_log_in_use_refuses_a_second_writer():
    recorded()
    first = tool_lib.start("run", "--audit", LOG, "--", "sh", "-c",
                           "echo up; read x")
    first.stdout.readline()
    done = tool("run", "--audit", LOG, "--", "true")
    first.communicate(b"\n", timeout=WAIT)
    says(status(done, 5), "[EBUSY]")


@box_test
def a_log_that_was_removed_is_told_with_what_to_do():
    recorded()
    os.unlink(LOG)
    done = tool("run", "--audit", LOG, "--", "touch", "made")
    says(status(done, 6), "the log is empty", ".key")
    expect(len(done.text.splitlines()) == 2, done)
    expect(not os.path.exists(os.path.join(WORK, "made")), "it ran")
    key = done.text.rpartition("also remove '")[2].partition("'")[0]
    os.unlink(key)
    os.unlink(key[:-4] + ".anchor")
    status(tool("run", "--audit", LOG, "--", "true"), 0)


@box_test
def an_unusable_state_directory_is_told_before_anything_runs():
    path = write("not-a-directory", "")
    done = tool("run", "--state", path + "/x", "--audit",
                os.path.join(TOP, "other.jsonl"), "--", "touch", "made")
    says(status(done, 5), "not-a-directory", "--state")
    expect(not os.path.exists(os.path.join(WORK, "made")), "it ran")


if __name__ == "__main__":
    main()
