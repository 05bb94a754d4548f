#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Snapshots of commits (agentbox-git): rows 68, 69 and 76 to 89 of the cases,
and repositories that mean harm. A name `row_NN_...` is of that row. git reads
what was made. Linked worktrees of a repository that the host names:
snapshot_worktree.py."""

import hashlib
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time
import zlib

from snapshot_git_lib import (AWS, DST, GITHUB, MARK, SRC, begin, commit, git,
                              git_env, is_reviewed, is_sound, leftovers,
                              not_read, nowhere, project, refused, remove,
                              snapshot, write)
from tool_lib import (TOP, WAIT, box_test, command, environment, expect, main,
                      says, status, test, tool)


# --- what it is ---

@test
def head_is_one_commit_of_what_was_kept():
    source = project()
    write(".env", "TOKEN=1\n")
    source = commit("four")
    done = snapshot().json
    expect(done["files"] == 4 and done["left_out"] == 1, done)
    expect(done["git"]["source_head"] == source and
           "base" not in done["git"], done)
    is_sound()
    expect(git("rev-list", "--all", cwd=DST).split() == [done["git"]["head"]],
           "commits")
    expect(git("ls-files", cwd=DST).split() ==
           ["README", "run.sh", "src/main.c", "src/new.c"], "names")
    expect(os.stat(DST + "/run.sh").st_mode & 0o777 == 0o555, "mode")
    nowhere(MARK, "Ada", "example.org", "TOKEN", "int gone")


@test
def range_is_two_commits_and_the_branchs_difference():
    project()
    base = git("rev-parse", "main").strip()
    # what main did since is not the branch's
    git("checkout", "-q", "main")
    write("later.c", "int later;\n")
    commit("later")
    git("checkout", "-q", "feature")
    done = snapshot(how="range=main").json
    expect(done["git"]["source_base"] == base, done)
    is_sound()
    expect(git("rev-list", "HEAD", cwd=DST).split() ==
           [done["git"]["head"], done["git"]["base"]], "commits")
    expect(git("diff", "HEAD~1", "HEAD", cwd=DST) ==
           git("diff", base, "feature"), git("diff", "HEAD~1", cwd=DST))
    nowhere(MARK, "Ada", "later")


@test
def what_a_reader_runs_works_and_writes_nothing():
    project()
    snapshot(how="range=main")
    before = sorted((p, os.lstat(os.path.join(b, p)).st_mtime_ns)
                    for b, _, names in os.walk(DST) for p in names)
    for args in (["status"], ["log", "-p"], ["diff", "HEAD~1"], ["show"],
                 ["blame", "README"], ["grep", "int"], ["stash", "list"],
                 ["log", "--follow", "src/new.c"], ["branch", "-a"],
                 ["shortlog", "-s", "HEAD"], ["cat-file", "-p", "HEAD"]):
        git(*args, cwd=DST)
    after = sorted((p, os.lstat(os.path.join(b, p)).st_mtime_ns)
                   for b, _, names in os.walk(DST) for p in names)
    expect(before == after, "something was written")
    expect("world" in git("blame", "README", cwd=DST), "blame")


@test
def a_status_reads_no_file():
    project()
    snapshot()
    p = subprocess.run(["strace", "-f", "-e", "trace=openat,open", "git",
                        "status"], cwd=DST, env=git_env(),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE) \
        if shutil.which("strace") else None
    if p:
        expect(b"src/main.c" not in p.stderr, p.stderr)
    # the same, seen from the index: sizes and times are those of the files
    listed = git("ls-files", "--debug", cwd=DST)
    for path in ("README", "src/main.c"):
        st = os.stat(os.path.join(DST, path))
        part = listed[listed.index(path + "\n"):]
        expect("mtime: %d:" % int(st.st_mtime) in part and
               "size: %d" % st.st_size in part, part)
    expect(os.stat(DST + "/.git/index").st_mtime >
           os.stat(DST + "/README").st_mtime, "the index is not younger")


@test
def the_same_trees_have_the_same_ids_and_digest():
    project()
    first = snapshot(how="range=main").json
    # the same files by other commits, at another time, by somebody else
    git("commit", "-q", "--amend", "-m", "other",
        "--author", "Eve <eve@example.org>", "--date", "2001-01-01T00:00:00")
    remove(DST)
    os.unlink(os.path.join(TOP, ".dst.agentbox"))
    second = snapshot(how="range=main").json
    expect(first["git"]["head"] == second["git"]["head"] and
           first["git"]["base"] == second["git"]["base"], (first, second))
    expect(first["digest"] == second["digest"], "digest")
    expect(first["git"]["source_head"] != second["git"]["source_head"], "same")


@test
def case_068_what_is_not_committed_is_not_in_it():
    project()
    write("src/main.c", "int half_a_change;\n")
    write("untracked.c", "int untracked;\n")
    git("add", "src/main.c")
    snapshot()
    is_sound()
    nowhere("half_a_change", "int untracked")


@test
def case_069_a_lock_of_the_index_is_no_matter():
    project()
    write(".git/index.lock", "")
    snapshot()
    is_sound()


# --- names and contents ---

@test
def both_filters_judge_both_commits():
    begin()
    write("keep.c", "int keep;\n")
    write("both.c", "int both;\n")
    write("config/prod.py", "KEY = '%s'\n" % AWS)
    write("old/.env", "X=%s\n" % MARK)
    write("cured.py", "TOKEN = '%s'\n" % GITHUB)
    commit("one")
    git("branch", "base")
    git("rm", "-q", "-r", "config", "old")
    write("cured.py", "import os\nTOKEN = os.environ['TOKEN']\n")
    write("both.c", "int both; /* %s */\n" % AWS)
    commit("two")
    done = snapshot(how="range=base").json
    is_sound()
    nowhere(AWS, GITHUB, MARK)
    # the head's secret hides the file on both sides, the base's in the base
    expect(git("ls-tree", "-r", "--name-only", "HEAD~1", cwd=DST).split() ==
           ["keep.c"], "base")
    expect(git("ls-files", cwd=DST).split() == ["cured.py", "keep.c"], "head")
    expect(git("diff", "--name-status", "HEAD~1", cwd=DST) ==
           "A\tcured.py\n", "difference")
    expect(done["left_out"] == 1 and done["git"]["base_left_out"] == 3, done)
    report = status(tool("snapshot", "explain", "--git", "range=base",
                         "--json", SRC), 0).json["report"]
    expect([(e["path"], e.get("in"), e["reason"]) for e in report] ==
           [("both.c", None, "content"), ("config/prod.py", "base", "content"),
            ("cured.py", "base", "content"), ("old/.env", "base", "name")],
           report)


@test
def what_is_admitted_is_so_on_both_sides():
    begin()
    write("keep.c", "int keep;\n")
    write("test/old.txt", "%s\n" % GITHUB)
    write("test/key.txt", "%s\n" % GITHUB)
    commit("one")
    git("branch", "base")
    git("rm", "-q", "test/old.txt")
    write("more.c", "%s\n" % GITHUB)
    commit("two")
    admit = ("--admit", "github-pat-classic:test/key.txt", "--admit",
             "github-pat-classic:test/old.txt")
    done = snapshot(*admit, how="range=base").json
    is_sound()
    expect(git("diff", "--name-status", "HEAD~1", cwd=DST) ==
           "D\ttest/old.txt\n", "difference")
    expect(git("ls-files", cwd=DST).split() == ["keep.c", "test/key.txt"],
           "head")
    expect((done["left_out"], done["admitted"]) == (1, 2), done)
    report = status(tool("snapshot", "explain", *admit, "--git", "range=base",
                         "--json", SRC), 0).json["report"]
    expect([(e["path"], e.get("in"), e["reason"], e["rule"], e["line"])
            for e in report] ==
           [("more.c", None, "content", "github-pat-classic", 1),
            ("test/key.txt", None, "admitted", "github-pat-classic", 1),
            ("test/old.txt", "base", "admitted", "github-pat-classic", 1)],
           report)
    again = status(tool("snapshot", "refresh", "--json", DST), 0).json
    expect(again["unchanged"] and
           (again["left_out"], again["admitted"]) == (1, 2), again)


@test
def the_hosts_patterns_hold_on_both_sides():
    project()
    done = snapshot("--exclude", "src/*", how="range=main").json
    is_sound()
    expect(git("diff", "--name-only", "HEAD~1", cwd=DST) == "README\n",
           done)
    nowhere("int ")


@test
def the_trees_own_patterns_hold_committed_or_not():
    project()
    write("private/a.txt", "plum\n")
    write("hidden/b.txt", "quince\n")
    commit("four")
    write(".agentboxignore", "/private\n")
    commit("five")
    write(".agentboxignore", "/hidden\n")
    snapshot(how="range=main")
    is_sound()
    nowhere("plum", "quince")


@test
def links_submodules_and_odd_names_are_left_out():
    begin()
    write("a.c", "int a;\n")
    os.symlink("/etc/passwd", SRC + "/link")
    head = commit("one")
    git("update-index", "--add", "--cacheinfo", "160000,%s,vendor/sub" % head)
    git("commit", "-q", "-m", "two")
    write("b\\c", "odd\n")
    git("add", "b\\c")
    git("commit", "-q", "-m", "three")
    report = status(tool("snapshot", "explain", "--git", "head", "--json",
                         SRC), 0).json["report"]
    expect([(e["path"], e["reason"]) for e in report] ==
           [("b\\c", "name-encoding"), ("link", "symlink"),
            ("vendor/sub", "special")], report)
    expect(snapshot().json["files"] == 1, "files")
    is_sound()


@test
def limits_hold():
    project()
    write("big.bin", os.urandom(3 << 20))
    commit("four")
    refused(5, "max_bytes", args=("--max-bytes", "1000000"))
    refused(5, "max_files", args=("--max-files", "2"))
    expect(snapshot().json["files"] == 5, "files")
    is_sound()
    with open(DST + "/big.bin", "rb") as f, \
            open(SRC + "/big.bin", "rb") as g:
        expect(f.read() == g.read(), "bytes")


# --- rows 76 to 89 ---

@test
def case_076_77_configuration_and_traces_do_not_come_along():
    project()
    git("config", "http.https://example.org/.extraheader",
        "AUTHORIZATION: basic " + MARK)
    git("remote", "add", "origin", "https://u:%s@example.org/x.git" % MARK)
    for name in ("FETCH_HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "hooks/pre-push",
                 "rr-cache/ab/preimage", "rebase-apply/0001.patch",
                 "sequencer/todo", "worktrees/w/gitdir", "description",
                 "info/exclude", "info/grafts", "logs/HEAD"):
        write(".git/" + name, MARK + "\n")
    snapshot(how="range=main")
    is_sound()
    nowhere(MARK, "example.org", "extraheader", "remote")
    expect(not os.path.exists(DST + "/.git/hooks") and
           not os.path.exists(DST + "/.git/logs"), os.listdir(DST + "/.git"))


@test
def case_078_to_82_other_repositories_in_the_tree_are_not_there():
    project()
    for name in (".git/modules/sub/objects/x", "vendor.git/HEAD",
                 "vendor.git/objects/x", "vendor.git/refs/y",
                 "vend/nested/.git/config"):
        write(name, "ref: %s\n" % MARK)
    # whatever git would not add itself
    blob = git("hash-object", "-w", "--stdin", stdin=MARK.encode()).strip()
    for name in ("bare/HEAD", "bare/objects/x", "bare/refs/y", "vend/x"):
        git("update-index", "--add", "--cacheinfo", "100644,%s,%s" %
            (blob, name))
    git("rm", "-q", "--cached", "vend/x")
    git("commit", "-q", "-m", "four")
    snapshot()
    is_sound()
    nowhere(MARK)


@test
def case_081_82_a_pointer_or_a_link_to_a_repository_is_not_followed():
    project()
    os.rename(SRC + "/.git", TOP + "/elsewhere")
    write(".git", "gitdir: %s/elsewhere\n" % TOP)
    says(not_read(), "points to a repository elsewhere")
    os.unlink(SRC + "/.git")
    os.symlink(TOP + "/elsewhere", SRC + "/.git")
    says(not_read(), "symbolic link")


def host_repository():
    """Of the host, beside the tree: nobody granted it to anybody."""
    begin()
    write("host.c", "int host; /* %s */\n" % MARK)
    commit("the host's")
    os.rename(SRC, TOP + "/host")
    git("worktree", "add", "-q", "-b", "side", SRC, cwd=TOP + "/host")


def no_way_in(*words):
    for how in ("head", "range=main"):
        done = not_read(how)
        expect(MARK not in repr(done), done)
        says(done, *words)


@test
def case_081_a_linked_worktree_reads_no_repository_of_the_host():
    where = TOP + "/host/.git/worktrees/src"
    host_repository()
    expect(os.path.isdir(where), os.listdir(TOP + "/host/.git/worktrees"))
    no_way_in("points to a repository elsewhere")
    # registered there once, and another tree's place now
    remove(SRC)
    write("a.c", "int a;\n")
    write(".git", "gitdir: %s\n" % where)
    expect(git("rev-parse", "side").strip(), "the registration is gone")
    no_way_in("points to a repository elsewhere")
    write(".git", "gitdir: ../host/.git\n")
    no_way_in("points to a repository elsewhere")
    # one of the agent's own, which says that the rest is the host's
    own = SRC + "/own/worktrees/src"
    write(".git", "gitdir: %s\n" % own)
    write("own/worktrees/src/gitdir", SRC + "/.git\n")
    write("own/worktrees/src/commondir", TOP + "/host/.git\n")
    write("own/worktrees/src/HEAD", "ref: refs/heads/main\n")
    expect(MARK in git("show", "HEAD:host.c"), "git itself follows it")
    no_way_in("points to a repository elsewhere")
    os.unlink(SRC + "/.git")
    write(".git/commondir", TOP + "/host/.git\n")
    write(".git/HEAD", "ref: refs/heads/main\n")
    os.makedirs(SRC + "/.git/objects")
    os.makedirs(SRC + "/.git/refs")
    expect(MARK in git("show", "HEAD:host.c"), "git itself follows it")
    no_way_in("worktree")
    os.unlink(SRC + "/.git/commondir")
    remove(SRC + "/.git/objects")
    os.symlink(TOP + "/host/.git/objects", SRC + "/.git/objects")
    no_way_in("behind a link")


@test
def case_083_another_repositorys_objects_are_never_read():
    project()
    os.makedirs(TOP + "/lender")
    for name in ("pack", "info"):
        os.makedirs(TOP + "/lender/" + name, exist_ok=True)
    tree = git("rev-parse", "HEAD^{tree}").strip()
    at = ".git/objects/%s/%s" % (tree[:2], tree[2:])
    os.makedirs(TOP + "/lender/" + tree[:2])
    os.rename(os.path.join(SRC, at), "%s/lender/%s/%s" % (TOP, tree[:2],
                                                          tree[2:]))
    write(".git/objects/info/alternates", TOP + "/lender\n")
    expect(git("status", "--porcelain") == "", "the lender does not lend")
    says(not_read(), "alternates", tree)


@test
def case_084_85_a_secret_of_the_history_is_in_no_object():
    project()
    write("key.py", "KEY = '%s'\n" % AWS)
    commit("four")
    git("rm", "-q", "key.py")
    for i in range(3):
        write("n.c", "int n%d;\n" % i)
        commit("five")
    write(".env", "PASSWORD=%s\n" % MARK)
    write("staged.py", "KEY = '%s'\n" % AWS)
    git("add", "-f", ".env", "staged.py")
    for repack in (False, True):
        if repack:
            git("gc", "-q", "--aggressive")
            for name in (DST, os.path.join(TOP, ".dst.agentbox")):
                remove(name)
        snapshot(how="range=main")
        is_sound()
        nowhere(AWS, MARK)
        expect(len(git("rev-list", "--all", cwd=DST).split()) == 2, "commits")


@test
def case_086_nothing_of_the_source_is_run():
    project()
    ran = TOP + "/ran"
    hook = "#!/bin/sh\ntouch %s\n" % ran
    for name in ("post-checkout", "reference-transaction",
                 "post-index-change", "fsmonitor-watchman"):
        write(".git/hooks/" + name, hook, 0o755)
    write("evil.sh", hook, 0o755)
    write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    commit("four")
    if os.path.exists(ran):
        os.unlink(ran)
    for key, value in (("filter.evil.smudge", SRC + "/evil.sh"),
                       ("filter.evil.clean", SRC + "/evil.sh"),
                       ("filter.evil.process", SRC + "/evil.sh"),
                       ("filter.evil.required", "true"),
                       ("diff.evil.textconv", SRC + "/evil.sh"),
                       ("core.fsmonitor", SRC + "/evil.sh"),
                       ("core.hooksPath", SRC + "/.git/hooks"),
                       ("core.sshCommand", SRC + "/evil.sh"),
                       ("include.path", SRC + "/evil.sh")):
        git("config", key, value)
    snapshot(how="range=main")
    expect(not os.path.exists(ran), "something ran")
    is_sound()


@test
def case_086_attributes_of_the_tree_change_no_byte():
    begin()
    write(".gitattributes", "*.txt text eol=crlf\n*.i ident\n"
                            "*.u working-tree-encoding=UTF-16\n")
    write("a.txt", "one\r\ntwo\n")
    write("b.i", "$Id$\n")
    git("add", "-A")
    git("commit", "-q", "-m", "one")
    snapshot()
    is_sound()
    # the blobs' bytes, whatever a checkout would make of them
    for name in ("a.txt", "b.i"):
        with open(os.path.join(DST, name), "rb") as f:
            expect(f.read().decode() == git("cat-file", "-p", "HEAD:" + name),
                   name)


@test
def case_087_88_bundles_patches_and_pointers_of_lfs():
    project()
    write("x.bundle", "# v2 git bundle\n")
    write("0001-fix.patch", "From: Ada <ada@example.org>\n%s\n" % MARK)
    write(".git-rewrite/t", MARK)
    write("model.bin", "version https://git-lfs.github.com/spec/v1\n"
                       "oid sha256:%s\nsize 12\n" % ("0123456789abcdef" * 4))
    write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    write(".git/lfs/objects/x", MARK)
    commit("four")
    snapshot()
    is_sound()
    nowhere(MARK)
    with open(DST + "/model.bin") as f:
        expect(f.read().startswith("version https://git-lfs"), "pointer")


@test
def case_089_git_stops_at_the_snapshot():
    project()
    snapshot()
    expect(git("rev-parse", "--show-toplevel", cwd=DST + "/src").strip() ==
           os.path.realpath(DST), "toplevel")
    if os.getuid() == 0:
        plain = subprocess.run(["git", "status"], cwd=DST,
                               env=git_env(GIT_CONFIG_COUNT="0"),
                               stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        expect(b"dubious ownership" in plain.stderr, plain)


# --- refreshed, ended, killed ---

def refresh(want=0):
    return status(tool("snapshot", "refresh", "--json", DST, timeout=3 * WAIT),
                  want)


@test
def a_refresh_makes_a_generation_for_each_new_commit():
    project()
    first = snapshot(how="range=main").json
    inode = os.stat(DST).st_ino
    write("README", "not committed\n")
    same = refresh().json
    expect(same["unchanged"] and same["git"] == first["git"] and
           same["files"] == first["files"] and
           same["digest"] == first["digest"], same)
    expect(os.stat(DST).st_ino == inode, "another tree")
    commit("four")
    held = os.open(DST, os.O_PATH)
    other = refresh().json
    expect(not other["unchanged"] and other["generation"] == 2 and
           other["git"]["head"] != first["git"]["head"] and
           other["git"]["base"] == first["git"]["base"], other)
    is_sound()
    # who was in the old one goes on reading it
    at = "/proc/self/fd/%d" % held
    expect(open(at + "/README").read() == "hello\nworld\n", "the old one")
    os.close(held)
    # main moves on: another base
    git("checkout", "-q", "main")
    git("merge", "-q", "--ff-only", "feature~1")
    git("checkout", "-q", "feature")
    moved = refresh().json
    expect(moved["git"]["base"] != first["git"]["base"], moved)
    is_sound()
    expect(not leftovers(), leftovers())


@test
def what_becomes_unreadable_leaves_the_generation_before():
    project()
    snapshot(how="range=main")
    git("branch", "-D", "main")
    says(refresh(4), "main")
    is_sound()
    expect(not leftovers(), leftovers())


@test
def verify_sees_what_was_changed_in_the_repository():
    project()
    snapshot()
    for path, how in ((".git/config", "content"), (".git/hooks", "kind"),
                      (".git/HEAD", "missing")):
        full = os.path.join(DST, path)
        subprocess.run(["chmod", "-R", "u+w", DST + "/.git"], check=True)
        if how == "content":
            with open(full, "r+") as f:
                f.write("[core")
        elif how == "kind":
            os.mkdir(full)
        else:
            os.unlink(full)
        seen = tool("snapshot", "verify", DST)
        expect(seen.status == 6 and path in seen.out.decode(), seen)


@test
def a_directory_of_git_in_a_plain_snapshot_is_too_much():
    project()
    status(tool("snapshot", "copy", SRC, DST), 0)
    os.chmod(DST, 0o755)
    os.mkdir(DST + "/.git")
    seen = tool("snapshot", "verify", "--json", DST)
    expect(seen.status == 6, seen)


@test
def a_scrub_ends_the_repository_too():
    project()
    snapshot()
    held = open([os.path.join(b, n) for b, _, names in os.walk(DST)
                 for n in names if n.endswith(".pack")][0], "rb")
    status(tool("snapshot", "scrub", DST), 0)
    expect(held.read() == b"" and not os.path.lexists(DST), "still there")
    held.close()


def children(pid):
    """[] too when it has ended."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(p) for p in f.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


@test
def killed_at_any_moment_it_leaves_the_generation_before():
    project()
    for i in range(300):
        write("many/f%d.c" % i, "int f%d;\n" % i * 40)
    commit("many")
    snapshot(how="range=main")
    rng = random.Random(7)
    for turn in range(12):
        write("README", "turn %d\n" % turn)
        commit("turn")
        before = git("rev-parse", "HEAD", cwd=DST)
        p = subprocess.Popen(command("snapshot", "refresh", DST),
                             env=environment(), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        victims = []
        while not victims and p.poll() is None:
            victims = children(p.pid)
        time.sleep(rng.random() * 0.04)
        if victims and p.poll() is None:
            below = children(victims[0]) if turn % 2 else []
            try:
                os.kill((below or victims)[0], signal.SIGKILL)
            except ProcessLookupError:
                pass
        p.communicate(timeout=3 * WAIT)
        after = git("rev-parse", "HEAD", cwd=DST)
        expect(p.returncode == 0 or after == before or turn % 2 == 0,
               "half of it")
        is_sound()
    refresh()
    is_sound()
    expect(git("show", "HEAD:README", cwd=DST) == "turn 11\n", "the last")
    expect(not leftovers(), leftovers())


@box_test
def a_reviewer_reads_the_branch_in_his_own_box():
    project()
    is_reviewed()


@test
def a_policy_says_which_commits():
    project()
    for git_section, want in (
            ({"git": "range", "git_base": "main"}, 2), ({"git": "head"}, 1)):
        policy = os.path.join(TOP, "policy.json")
        with open(policy, "w") as f:
            json.dump({"agentbox": 1, "snapshot": git_section}, f)
        status(tool("snapshot", "copy", "--policy", policy, SRC, DST), 0)
        is_sound()
        expect(len(git("rev-list", "HEAD", cwd=DST).split()) == want, want)
        remove(DST)
        os.unlink(os.path.join(TOP, ".dst.agentbox"))
    with open(policy, "w") as f:
        json.dump({"agentbox": 1, "snapshot": {"git": "range"}}, f)
    says(tool("snapshot", "copy", "--policy", policy, SRC, DST), "git_base")
    expect(not os.path.lexists(DST), "published")


# --- what else a source may be ---

@test
def what_is_no_repository_is_refused_by_name():
    begin()
    says(not_read(), "HEAD has no commit")
    remove(SRC + "/.git")
    write("a.c", "int a;\n")
    says(refused(4, "no repository"), ".git")
    os.makedirs(SRC + "/.git")
    says(not_read(), "no repository")


@test
def a_bare_repository_is_a_source():
    project()
    subprocess.run(["git", "clone", "-q", "--bare", SRC, TOP + "/bare"],
                   env=git_env(), check=True)
    git("update-ref", "refs/heads/main", "main~0", cwd=TOP + "/bare")
    git("symbolic-ref", "HEAD", "refs/heads/feature", cwd=TOP + "/bare")
    snapshot(how="range=main", src=TOP + "/bare")
    is_sound()


@test
def a_detached_head_and_every_kind_of_base():
    head = project()
    git("tag", "-a", "-m", "annotated", "v1", "main")
    git("tag", "light", "main")
    git("update-ref", "refs/remotes/origin/main", "main")
    git("checkout", "-q", "--detach", head)
    git("pack-refs", "--all")
    full = git("rev-parse", "main").strip()
    ids = set()
    for base in ("main", "v1", "light", "origin/main", "refs/heads/main",
                 full):
        for name in (DST, os.path.join(TOP, ".dst.agentbox")):
            remove(name)
        done = snapshot(how="range=" + base).json
        expect(done["git"]["source_base"] == full, base)
        ids.add(done["git"]["head"])
    expect(len(ids) == 1, ids)


@test
def what_is_no_base_is_refused():
    project()
    for how in ("range=", "range", "range=main~1", "range=../x", "range=-x",
                "range=a b", "range=main@{1}", "maybe", ""):
        done = tool("snapshot", "copy", SRC, DST, "--git", how)
        expect(done.status == 2 and not os.path.lexists(DST), done)
    refused(4, "nowhere", how="range=nowhere")
    refused(4, "missing", how="range=" + "1" * 40)
    tree = git("rev-parse", "HEAD^{tree}").strip()
    says(not_read("range=" + tree), "no commit")
    # nothing in common
    git("checkout", "-q", "--orphan", "lonely")
    git("commit", "-q", "-m", "alone")
    refused(4, "in common", how="range=main")


@test
def formats_that_cannot_be_read_are_refused_by_name():
    begin("--object-format=sha256")
    write("a.c", "int a;\n")
    commit("one")
    says(not_read(), "SHA-256")
    project()
    os.makedirs(SRC + "/.git/reftable")
    says(not_read(), "reftable")
    project()
    write(".git/commondir", "../../elsewhere\n")
    says(not_read(), "worktree")


@test
def a_shallow_or_partial_clone_says_what_it_lacks():
    project()
    git("config", "uploadpack.allowFilter", "true")
    subprocess.run(["git", "clone", "-q", "--depth", "1", "file://" + SRC,
                    TOP + "/shallow"], env=git_env(), check=True)
    snapshot(src=TOP + "/shallow")
    is_sound()
    remove(DST)
    done = tool("snapshot", "copy", TOP + "/shallow", DST, "--git",
                "range=" + git("rev-parse", "main").strip())
    expect(done.status == 4 and "shallow" in done.text, done)
    subprocess.run(["git", "clone", "-q", "--filter=blob:none",
                    "--no-checkout", "file://" + SRC, TOP + "/partial"],
                   env=git_env(), check=True)
    done = tool("snapshot", "copy", TOP + "/partial", DST, "--git", "head")
    expect(done.status == 4 and "partial" in done.text, done)


# --- repositories that mean harm ---

def put_object(kind, data, name=None):
    """A loose object, by its name or by a wrong one."""
    whole = b"%s %d\0" % (kind.encode(), len(data)) + data
    oid = name or hashlib.sha1(whole).hexdigest()
    at = ".git/objects/%s/%s" % (oid[:2], oid[2:])
    full = os.path.join(SRC, at)
    if os.path.exists(full):
        os.chmod(full, 0o644)
    write(at, zlib.compress(whole))
    return oid


def entry(mode, name, oid):
    return mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid)


def put_commit(tree, *parents):
    text = "tree %s\n%sauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n" \
        % (tree, "".join("parent %s\n" % p for p in parents))
    oid = put_object("commit", text.encode())
    write(".git/refs/heads/main", oid + "\n")
    return oid


def report():
    return [(e["path"], e["reason"]) for e in status(
        tool("snapshot", "explain", "--git", "head", "--json", SRC,
             timeout=3 * WAIT), 0).json["report"]]


@test
def names_that_no_directory_could_have_are_left_out():
    begin()
    blob = put_object("blob", b"int x;\n")
    inner = put_object("tree", entry("100644", b"config", blob))
    names = [b".", b"..", b"a/b", b"../../up", b"/etc", b".git", b".GIT",
             b"GIT~1", b"git~1", b".g\xe2\x80\x8cit", b".git ", b".git.",
             b"n\nl", b"back\\slash", b"x" * 300, b".agentbox", b".shared",
             b"\xff\xfe", b"con\x1btrol"]
    tree = b"".join(entry("100644", n, blob) for n in names[:5])
    tree += b"".join(entry("40000", n, inner) for n in names[5:])
    tree += entry("100644", b"kept.c", blob)
    put_commit(put_object("tree", tree))
    done = snapshot().json
    expect(done["files"] == 1 and done["left_out"] == len(names), report())
    is_sound()
    expect(git("ls-tree", "-r", "--name-only", "HEAD", cwd=DST) == "kept.c\n",
           "names")


@test
def trees_out_of_order_or_with_the_same_name_twice():
    begin()
    one = put_object("blob", b"one\n")
    two = put_object("blob", b"two\n")
    inner = put_object("tree", entry("100644", b"f", one))
    put_commit(put_object(
        "tree", entry("100644", b"z", one) + entry("100644", b"a", one) +
        entry("40000", b"a", inner) + entry("100644", b"z", two) +
        entry("100755", b"m", two) + entry("40000", b"dir", inner) +
        entry("40000", b"dir", inner) + entry("100664", b"group", one) +
        entry("170000", b"strange", one) + entry("0", b"none", one)))
    snapshot()
    is_sound()
    expect(git("ls-files", cwd=DST).split() ==
           ["a", "dir/f", "group", "m", "z"], git("ls-files", cwd=DST))


@test
def an_object_that_is_not_what_its_name_says_is_refused():
    project()
    blob = git("rev-parse", "HEAD:README").strip()
    put_object("blob", b"other bytes\n", name=blob)
    says(not_read(), "not what its name says", blob)
    project()
    tree = git("rev-parse", "HEAD^{tree}").strip()
    put_object("tree", b"", name=tree)
    says(not_read(), "not what its name says")
    # a cycle would need one
    begin()
    wrong = "ab" * 20
    put_object("tree", entry("40000", b"a", wrong), name=wrong)
    put_commit(wrong)
    says(not_read(), "not what its name says")


@test
def damaged_objects_are_refused():
    for damage in ("cut", "noise", "bomb", "empty", "kind", "size", "dir",
                   "fifo", "link"):
        project()
        oid = git("rev-parse", "HEAD:src/new.c").strip()
        full = os.path.join(SRC, ".git/objects", oid[:2], oid[2:])
        with open(full, "rb") as f:
            data = f.read()
        os.unlink(full)
        if damage == "dir":
            os.mkdir(full)
        elif damage == "fifo":
            os.mkfifo(full)
        elif damage == "link":
            os.symlink("/etc/passwd", full)
        else:
            data = {"cut": data[:len(data) // 2], "noise": os.urandom(200),
                    "bomb": zlib.compress(b"blob 5\0" + b"x" * (64 << 20)),
                    "empty": b"",
                    "kind": zlib.compress(b"cheese 5\0int x"),
                    "size": zlib.compress(b"blob 99999999999999\0x")}[damage]
            with open(full, "wb") as f:
                f.write(data)
        if damage == "size":
            expect(("src/new.c", "size") in report(), report())
        else:
            not_read()


@test
def a_tree_that_multiplies_ends_at_the_limits():
    begin()
    level = put_object("blob", b"x\n")
    mode = "100644"
    for depth in range(10):
        level = put_object("tree", b"".join(
            entry(mode, b"n%02d" % i, level) for i in range(12)))
        mode = "40000"
    put_commit(level)
    refused(5, "max_files", args=("--max-files", "1000"))
    # as deep as nobody's directories are
    level, mode = put_object("blob", b"x\n"), "100644"
    for depth in range(600):
        level = put_object("tree", entry(mode, b"d", level))
        mode = "40000"
    put_commit(level)
    expect([r for _, r in report()] == ["depth"], report())
    expect(snapshot().json["files"] == 0, "files")
    is_sound()


def put_pack(entries, count=None):
    """A pack of (oid, bytes as they stand in it), and its index."""
    data = struct.pack(">4sII", b"PACK", 2, count or len(entries))
    offsets = {}
    for oid, raw in entries:
        offsets[oid] = (len(data), zlib.crc32(raw))
        data += raw
    trailer = hashlib.sha1(data).digest()
    names = sorted(offsets)
    index = b"\377tOc" + struct.pack(">I", 2)
    index += b"".join(struct.pack(">I", sum(int(n[:2], 16) <= i
                                            for n in names))
                      for i in range(256))
    index += b"".join(bytes.fromhex(n) for n in names)
    index += b"".join(struct.pack(">I", offsets[n][1]) for n in names)
    index += b"".join(struct.pack(">I", offsets[n][0]) for n in names)
    index += trailer
    index += hashlib.sha1(index).digest()
    write(".git/objects/pack/pack-%s.idx" % trailer.hex(), index)
    write(".git/objects/pack/pack-%s.pack" % trailer.hex(), data + trailer)


def head_of(kind, size):
    out = [kind << 4 | (size & 15)]
    size >>= 4
    while size:
        out[-1] |= 128
        out.append(size & 127)
        size >>= 7
    return bytes(out)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def ref_delta(base, delta):
    return head_of(7, len(delta)) + bytes.fromhex(base) + zlib.compress(delta)


@test
def packs_that_mean_harm_are_refused():
    a, b = "a1" * 20, "b2" * 20
    small = zlib.compress(b"x\n")
    huge = varint(100000) + varint(200 << 20)
    huge += b"\xb0\x00\x00" * (200 << 4)
    copies = varint(2) + varint(1 << 40) + b"\x90\x02"
    cases = {
        "a cycle": [(a, ref_delta(b, varint(2) + varint(2) + b"\x90\x02")),
                    (b, ref_delta(a, varint(2) + varint(2) + b"\x90\x02"))],
        "of itself": [(a, ref_delta(a, varint(2) + varint(2) + b"\x90\x02"))],
        "no base": [(a, ref_delta("c3" * 20, b"\x02\x02\x90\x02"))],
        "before the pack": [(a, head_of(6, 4) + b"\xff\xff\xff\x7f" + small)],
        "no distance": [(a, head_of(6, 4) + b"\x00" + small)],
        "a terabyte": [(b, head_of(3, 2) + small), (a, ref_delta(b, copies))],
        "a bomb": [(b, head_of(3, 100000) + zlib.compress(b"x" * 100000)),
                   (a, ref_delta(b, huge))],
        "outside its base": [(b, head_of(3, 2) + small),
                             (a, ref_delta(b, b"\x02\x05\x91\x01\x05"))],
        "no instruction": [(b, head_of(3, 2) + small),
                           (a, ref_delta(b, b"\x02\x02\x00"))],
        "too short": [(a, head_of(3, 200) + small)],
        "too long": [(a, head_of(3, 1) + small)],
        "of no kind": [(a, head_of(5, 2) + small)],
        "endless size": [(a, b"\xbf" + b"\xff" * 60)],
    }
    for about, entries in cases.items():
        begin()
        put_commit(put_object("tree", entry("100644", b"f", a)))
        put_pack(entries)
        if about in ("a terabyte", "a bomb"):
            expect(report() == [("f", "size")], about)
        else:
            says(not_read(), "object")
    # indexes
    begin()
    blob = hashlib.sha1(b"blob 2\0x\n").hexdigest()
    put_commit(put_object("tree", entry("100644", b"f", blob)))
    put_pack([(blob, head_of(3, 2) + small)])
    expect(snapshot().json["files"] == 1, "the pack is right")
    is_sound()
    remove(DST)
    os.unlink(TOP + "/.dst.agentbox")
    name = [n for n in os.listdir(SRC + "/.git/objects/pack")
            if n.endswith(".idx")][0]
    full = SRC + "/.git/objects/pack/" + name
    with open(full, "rb") as f:
        good = f.read()
    for bad in (b"", good[:7], good[:1031], good[:8] + b"\xff" * 1024 +
                good[1032:], good[:4] + b"\0\0\0\3" + good[8:],
                good[:-44] + b"\x7f\xff\xff\xff" + good[-40:],
                good[:-44] + b"\xff\xff\xff\xff" + good[-40:]):
        with open(full, "wb") as f:
            f.write(bad)
        not_read()


@test
def references_that_mean_harm_are_refused():
    for text in ("ref: ../../../etc/passwd\n", "ref: refs/heads/../../x\n",
                 "ref: HEAD\n", "ref: \n", "", "x" * 5000, "\0" * 40,
                 "ref: refs/heads/loop\n"):
        project()
        write(".git/refs/heads/loop", "ref: refs/heads/loop\n")
        write(".git/HEAD", text)
        not_read()
    project()
    os.unlink(SRC + "/.git/HEAD")
    os.mkfifo(SRC + "/.git/HEAD")
    not_read()
    os.unlink(SRC + "/.git/HEAD")
    os.symlink("/etc/hostname", SRC + "/.git/HEAD")
    not_read()


@test
def nothing_is_read_through_links_in_the_repository():
    project()
    shutil.copytree(SRC + "/.git/objects", TOP + "/objects")
    remove(SRC + "/.git/objects")
    os.symlink(TOP + "/objects", SRC + "/.git/objects")
    not_read()
    os.unlink(SRC + "/.git/objects")
    os.makedirs(SRC + "/.git/objects")
    os.symlink(TOP + "/objects/pack", SRC + "/.git/objects/pack")
    for name in os.listdir(TOP + "/objects"):
        if name != "pack":
            os.symlink(TOP + "/objects/" + name,
                       SRC + "/.git/objects/" + name)
    not_read()


if __name__ == "__main__":
    main()
