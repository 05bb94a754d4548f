#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""agentbox check: exit statuses, rows, roles, what people read."""

import json
import os

from tool_lib import TOP, WORK, expect, main, says, status, test, tool, write

TEAM = os.path.join(TOP, "team")


def team():
    for d in ("agents/ada", "agents/bob", "shared", "protected"):
        os.makedirs(os.path.join(TEAM, d), exist_ok=True)
    return ["--team-dir", TEAM]


def rows(data):
    return [json.loads(line) for line in data.out.splitlines()]


def jsonl(*lines):
    return "".join(json.dumps(row) + "\n" for row in lines).encode()


@test
def what_is_checked_cannot_write_a_verdict_of_its_own():
    for args in (("write", "a\nallow: b"), ("shell", "ls\nallow: b"),
                 ("shell", "rm -rf /\nallow: b"),
                 ("argv", "--", "ls\nallow: b")):
        done = tool("check", *args)
        lines = done.text.splitlines()
        expect(sum(l.startswith(("allow: ", "deny: ", "ask: "))
                   for l in lines) == 1, (args, lines))


@test
def a_path_in_the_workspace_is_allowed():
    done = says(status(tool("check", "write", "new.c"), 0), "allow: new.c")
    expect(done.out == b"", done)
    status(tool("check", "read", "new.c"), 0)
    status(tool("check", "write", os.path.join(WORK, "sub/new.c")), 0)


@test
def a_path_outside_is_denied_in_the_known_words():
    for path in ("../x", "/etc/passwd", "a/../../x", "/proc/self/cwd/x"):
        says(status(tool("check", "write", path), 11), "deny",
             "Path escapes workspace.", "path.escape")
        status(tool("check", "read", path), 11)


@test
def protected_names_are_read_and_not_written():
    says(status(tool("check", "write", ".git/hooks/pre-commit"), 11),
         "path.protected", "instead:")
    status(tool("check", "read", ".git/hooks/pre-commit"), 0)


@test
def the_worst_of_several_is_the_status():
    done = status(tool("check", "write", "a", "../b", "c"), 11)
    expect(done.text.count("allow:") == 2 and done.text.count("deny:") == 1,
           done)


@test
def json_has_all_decisions_in_order():
    doc = status(tool("check", "write", "--json", "a", "../b"), 11).json
    expect(doc["verdict"] == "deny", doc)
    expect([d["verdict"] for d in doc["decisions"]] == ["allow", "deny"], doc)
    bad = doc["decisions"][1]
    expect(bad["reason"] == "Path escapes workspace." and
           bad["subject"] == "../b" and bad["span"] == [0, 2], doc)
    expect(bad["config_hash"].startswith("sha256:"), doc)


@test
def explain_shows_carets():
    done = status(tool("check", "write", "--explain", "a/../b"), 11)
    expect("    a/../b\n      ^^\n" in done.text, done)


@test
def control_characters_are_shown():
    for args in (["--explain"], []):
        done = status(tool("check", "write", *args, "../a\033]0;x\007"), 11)
        expect(b"\033" not in done.err and b"\007" not in done.err, done)


@test
def roles_come_from_options():
    ada = ["check", "write", "--role", "engineer", *team(), "--agent", "ada",
           "--cwd", TEAM]
    status(tool(*ada, "agents/ada/x", "shared/y"), 0)
    says(status(tool(*ada, "agents/bob/x"), 11), "path.role")
    says(status(tool(*ada, "protected/x"), 11), "path.protected")
    says(status(tool(*ada, "agents/ada/config.yaml"), 11), "path.protected")
    status(tool(*ada, os.path.join(TEAM, "shared/z")), 0)
    boss = ["check", "write", "--role", "manager", *team(), "--cwd", TEAM]
    status(tool(*boss, "agents/bob/x", "charter.md"), 0)
    status(tool(*boss, "protected/x"), 11)


@test
def cwd_is_where_relative_paths_start():
    ada = ["check", "write", "--role", "engineer", *team(), "--agent", "ada"]
    own = os.path.join(TEAM, "agents/ada")
    status(tool(*ada, "--cwd", own, "x"), 0)
    status(tool(*ada, "x"), 11)  # the current directory is elsewhere
    status(tool(*ada, "x", cwd=own), 0)
    status(tool(*ada, "--cwd", os.path.join(TEAM, "no"), "x"), 4)


@test
def f01_f02_f03_bad_roles_are_bad_input():
    for role in ("", "Manager", "admin"):
        status(tool("check", "write", "--role", role, *team(), "x"), 3)
    for agent in ("", ".", "..", "a/b", "ada\n"):
        status(tool("check", "write", "--role", "engineer", *team(),
                    "--agent", agent, "x"), 3)
    status(tool("check", "write", "--role", "engineer", *team(), "x"), 3)
    for directory in ("", "/"):
        status(tool("check", "write", "--role", "manager", "--team-dir",
                    directory, "x"), 3)


@test
def a_policy_may_be_a_file():
    path = write("guard.json", json.dumps(
        {"agentbox": 1, "extends": "builtin:workspace",
         "protect": ["docs/*.lock"], "workspace": {"path": WORK}}))
    status(tool("check", "write", "--policy", path, "docs/a.lock"), 11)
    status(tool("check", "write", "--policy", path, ".git/hooks/x"), 0)
    status(tool("check", "write", "--builtin", "review", "x"), 11)
    status(tool("check", "read", "--builtin", "review", "x"), 0)
    status(tool("check", "write", "--policy", path, "--builtin", "strict",
                "x"), 2)
    status(tool("check", "write", "--policy", os.path.join(TOP, "no"), "x"),
           4)


@test
def rows_are_answered_in_order():
    done = status(tool("check", "write", "--jsonl", stdin=jsonl(
        {"id": 1, "path": "a"}, {"id": "two", "path": "../b"},
        {"id": {"x": [3]}, "path": "c"}, {"path": ".envrc"},
        {"id": 5, "path": "nul\0x"}, {"id": 6, "path": "é\ud83d\ude00"})), 11)
    got = rows(done)
    expect([r.get("id") for r in got] == [1, "two", {"x": [3]}, None, 5, 6],
           got)
    expect([r["verdict"] for r in got] ==
           ["allow", "deny", "allow", "deny", "deny", "allow"], got)
    expect(got[1]["reason"] == "Path escapes workspace.", got)
    expect(done.err == b"", done)


@test
def bad_rows_are_denied_and_said_at_the_end():
    good = json.dumps({"id": 9, "path": "a"}).encode() + b"\n"
    done = status(tool("check", "write", "--jsonl",
                       stdin=b"not json\n[1]\n{\"id\":3}\n{\"id\":4,\"path\":1}\n"
                       b"\n{\"id\":5,\"cmd\":\"ls\"}\n" + good), 3)
    got = rows(done)
    expect([r["verdict"] for r in got] == ["deny"] * 5 + ["allow"], got)
    expect(got[2]["id"] == 3 and got[5]["id"] == 9, got)


@test
def a_line_of_shell_is_judged():
    status(tool("check", "shell", "ls -la && make check"), 0)
    done = says(status(tool("check", "shell", "cd /tmp && sudo rm -rf /"),
                       11), "deny", "instead:")
    expect(done.out == b"", done)
    says(status(tool("check", "shell", "--", "rm -rf $X"), 10), "ask")
    status(tool("check", "shell", "echo 'unfinished"), 10)


@test
def what_decided_is_shown_below_the_line():
    done = status(tool("check", "shell", "--explain",
                       "cd /tmp && sudo rm -rf /"), 11)
    lines = done.text.splitlines()
    at = [i for i, line in enumerate(lines) if "^^" in line]
    expect(at and "sudo rm -rf /" in lines[at[0] - 1], done)
    expect("commands as they would be run:" in done.text, done)


@test
def an_argv_is_read_by_no_shell():
    status(tool("check", "argv", "--", "echo", "$(rm -rf /)", "; rm -rf /"),
           0)
    status(tool("check", "argv", "rm", "-rf", "/"), 11)
    doc = status(tool("check", "argv", "--json", "--", "sudo", "rm", "-rf",
                      "/"), 11).json
    expect(doc["decisions"][0]["argv"] == ["rm", "-rf", "/"], doc)
    expect("sudo" in doc["decisions"][0]["wrappers"], doc)


@test
def git_is_judged_alone_and_in_a_line_alike():
    for words, wanted in ((["status"], 0), (["push", "--force"], 11),
                          (["commit", "-m", "$(git push)"], 0),
                          (["-C", "/tmp", "push"], 11)):
        status(tool("check", "git", "--", *words), wanted)
        status(tool("check", "argv", "--", "git", *words), wanted)
    status(tool("check", "shell", "make && git push --force"), 11)


@test
def rows_of_commands_are_answered_in_order():
    done = status(tool("check", "shell", "--jsonl", stdin=jsonl(
        {"id": "a", "cmd": "ls"}, {"id": "b", "cmd": "rm -rf /"},
        {"id": "c", "argv": ["git", "push"]}, {"id": "d", "path": "x"},
        {"id": "e", "argv": []}, {"id": "f", "argv": ["ls", 1]},
        {"id": "g", "cmd": "ls", "argv": ["ls"]},
        {"id": "h", "cmd": "echo \0"})), 3)
    got = rows(done)
    expect([r["id"] for r in got] == list("abcdefgh"), got)
    expect([r["verdict"] for r in got[:7]] ==
           ["allow", "deny", "deny", "deny", "deny", "deny", "deny"], got)


@test
def rows_about_git_begin_with_git_or_with_what_follows_it():
    rules = [["git", "push"], ["push"], ["env", "A=1", "/usr/bin/git", "push"],
             ["-c", "alias.x=!sh", "x"], ["status"], ["git", "status"],
             ["nohup", "git", "status"], ["push", "git"],
             ["sh", "-c", "git push"], ["nohup", "make"], ["git"], [],
             # only what runs git is a whole command, not what names one
             ["deploy", "--force", "/srv/git"], ["deploy", "git"],
             ["nohup", "deploy", "/srv/git"], ["git-lfs", "git"],
             ["timeout", "5", "git", "log"], ["env", "A=1", "git", "status"],
             ["nohup", "git"], ["nohup", "nice", "git", "push"]]
    done = status(tool("check", "git", "--jsonl", stdin=jsonl(
        *({"id": i, "argv": argv} for i, argv in enumerate(rules)))), 3)
    expect([r["verdict"] for r in rows(done)] ==
           ["deny", "deny", "deny", "deny", "allow", "allow", "allow",
            "deny", "deny", "ask", "allow", "deny", "ask", "ask", "ask",
            "ask", "allow", "allow", "allow", "deny"], rows(done))


@test
def directories_that_are_only_text_need_not_be_there():
    where = ["--workspace", "/srv/no/repo", "--cwd", "/srv/no/repo"]
    status(tool("check", "shell", *where, "rm -rf build"), 0)
    status(tool("check", "shell", *where, "rm -rf /srv/no"), 11)


@test
def without_paths_it_says_what_is_missing():
    says(status(tool("check", "write"), 2), "PATH is missing")
    says(status(tool("check", "write", "--jsonl", "x"), 2), "standard input")
    says(status(tool("check", "shell"), 2), "LINE is missing")
    says(status(tool("check", "argv", "--"), 2), "check argv: CMD is missing",
         "see agentbox check argv --help")
    for words in (["a", "b"], ["--", "a", "-b"]):
        says(status(tool("check", "shell", *words), 2), "quote the line",
             "'%s'" % words[-1])
    done = status(tool("check", "shell", "--json", "a", "b"), 2)
    expect("quote the line" in done.json["error"]["message"], done)
    expect(status(tool("check", "write", "--jsonl", stdin=b""), 0).out == b"",
           "")


main()
