#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Snapshots of commits of a linked worktree, whose repository the host names
(row 81): what the tree says of it counts for nothing, and who may write in the
shared repository reaches nothing but it."""

import json
import os
import shutil
import subprocess

from snapshot_git_lib import (AWS, DST, MARK, SRC, commit, git, git_env,
                              grant, is_reviewed, is_sound, leftovers, nowhere,
                              project, remove, snapshot, two_boxes, write)
from tool_lib import (TOP, WAIT, box_test, expect, main, says, status, test,
                      tool)

REPO = os.path.join(TOP, "host")
ADMIN = os.path.join(REPO, ".git/worktrees/src")
FEATURE = "refs/heads/feature"
# In another branch of the same repository, and in another repository.
SECRET = "persimmon-of-another-branch"
FOREIGN = "medlar-of-another-host"


def linked():
    """A repository of the host; a worktree of its branch `feature` at SRC."""
    head = project()
    git("checkout", "-q", "-b", "secret", "main")
    write("host.c", "int host; /* %s */\n" % SECRET)
    commit("secret")
    git("checkout", "-q", "main")
    os.rename(SRC, REPO)
    git("worktree", "add", "-q", SRC, "feature", cwd=REPO)
    expect(os.path.isfile(SRC + "/.git") and os.path.isdir(ADMIN), "no link")
    return head


def foreign():
    """Of another host: nobody named it."""
    top = os.path.join(TOP, "foreign")
    os.makedirs(top)
    git("init", "-q", "-b", "main", cwd=top)
    with open(top + "/x.c", "w") as f:
        f.write("int x; /* %s */\n" % FOREIGN)
    git("add", "x.c", cwd=top)
    git("commit", "-q", "-m", "foreign", cwd=top)
    return top


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


def forget():
    for name in (DST, os.path.join(TOP, ".dst.agentbox")):
        remove(name)


def copy(head=FEATURE, how="head", repo=REPO, *args):
    return tool("snapshot", "copy", SRC, DST, "--git", how, "--repository",
                repo, "--head", head, "--json", *args, timeout=3 * WAIT)


def named(*args):
    done = status(copy(*args), 0)
    is_sound()
    nowhere(SECRET, FOREIGN)
    return done.json


def refused(*words, head=FEATURE, how="head", repo=REPO, want=(3, 4, 5)):
    done = copy(head, how, repo)
    expect(done.status in want, "wanted exit %r, got %r" % (want, done))
    for word in (SECRET, FOREIGN):
        expect(word not in repr(done), done)
    says(done, *words)
    expect(not os.path.lexists(DST) and not leftovers(), "half made")
    return done


# --- what it is ---

@test
def it_is_the_branch_of_the_worktree_and_what_the_branch_did():
    head = linked()
    base = git("rev-parse", "main").strip()
    # what the agent has not committed is not in it
    write("README", "half\n")
    write("untracked.c", "int untracked;\n")
    done = named(FEATURE, "range=refs/heads/main")
    expect(done["git"]["source_head"] == head and
           done["git"]["source_base"] == base, done)
    expect(git("diff", "HEAD~1", "HEAD", cwd=DST) ==
           git("diff", base, head), git("diff", "HEAD~1", cwd=DST))
    expect(git("ls-files", cwd=DST).split() ==
           ["README", "run.sh", "src/main.c", "src/new.c"], "names")
    nowhere(MARK, "Ada", "int untracked", "half")
    report = status(tool("snapshot", "explain", SRC, "--git", "head",
                         "--repository", REPO, "--head", FEATURE, "--json"),
                    0).json
    expect(report["git"]["source_head"] == head, report)


@test
def every_name_of_a_head_means_one_commit():
    head = linked()
    git("tag", "-a", "-m", "annotated", "v1", "feature")
    tag = git("rev-parse", "v1").strip()
    main_head = git("rev-parse", "main").strip()
    for packed in (False, True):
        if packed:
            git("pack-refs", "--all", cwd=REPO)
            git("gc", "-q", cwd=REPO)
        for name, want in ((FEATURE, head), (head, head), (tag, head),
                           ("refs/tags/v1", head), ("HEAD", main_head),
                           ("worktrees/src/HEAD", head)):
            done = named(name)
            expect(done["git"]["source_head"] == want, (name, done))
            forget()
    git("checkout", "-q", "--detach", "feature~1")
    expect(named("worktrees/src/HEAD")["git"]["source_head"] ==
           git("rev-parse", "feature~1").strip(), "detached")


@test
def what_could_mean_two_things_is_no_head():
    linked()
    # the branch's name, as a tag of something else
    git("tag", "feature", "secret")
    git("update-ref", "refs/tags/refs/heads/feature", "secret")
    for name in ("feature", "main", "heads/feature", "tags/v1", "FETCH_HEAD",
                 "ORIG_HEAD", "main-worktree/HEAD", "worktrees/src",
                 "worktrees/src/ORIG_HEAD", "worktrees//HEAD",
                 "worktrees/../HEAD", "worktrees/src/../HEAD",
                 "worktrees/src/x/HEAD", "worktrees/src/HEAD/",
                 "refs/heads/feature~1", "HEAD^", "@", "-x", "refs/../HEAD",
                 "refs/heads/a b", "", "1" * 39, "A" * 40):
        refused(head=name, want=(2,))
    expect(named()["git"]["source_head"] ==
           git("rev-parse", FEATURE).strip(), "the tag")


@test
def a_repository_and_a_head_are_named_together():
    linked()
    for args in (["--repository", REPO], ["--head", FEATURE],
                 ["--git", "head", "--repository", REPO],
                 ["--git", "head", "--head", FEATURE],
                 ["--git", "none", "--repository", REPO, "--head", FEATURE],
                 ["--repository", REPO, "--head", FEATURE]):
        done = tool("snapshot", "copy", SRC, DST, *args)
        expect(done.status == 2 and not os.path.lexists(DST), (args, done))
    says(refused(repo=TOP + "/nowhere", want=(4,)), "nowhere")
    says(refused(repo=SRC + "/README", want=(3, 5, 70)), "README")


@test
def where_a_repository_may_be():
    head = linked()
    subprocess.run(["git", "clone", "-q", "--bare", REPO, TOP + "/bare.git"],
                   env=git_env(), check=True)
    # a link that the host himself names is the host's
    os.symlink(REPO, TOP + "/link")
    for where in (REPO, REPO + "/.git", TOP + "/bare.git", TOP + "/link"):
        expect(named(FEATURE, "head", where)["git"]["source_head"] == head,
               where)
        forget()
    # the worktree itself, what the repository knows of it, and nothing
    refused("points to a repository elsewhere", repo=SRC)
    refused("name the repository itself", repo=ADMIN)
    os.makedirs(TOP + "/empty")
    refused("no repository", repo=TOP + "/empty")
    os.symlink(REPO + "/.git", TOP + "/empty/.git")
    refused("symbolic link", repo=TOP + "/empty")


@test
def the_filters_judge_it():
    linked()
    write("key.py", "KEY = '%s'\n" % AWS)
    write(".env", "TOKEN=%s\n" % MARK)
    commit("four")
    git("rm", "-q", "key.py", ".env")
    write("key2.py", "KEY = '%s'\n" % AWS)
    write(".env.local", "TOKEN=%s\n" % MARK)
    commit("five")
    done = named(FEATURE, "range=" + git("rev-parse", "HEAD~1").strip())
    expect((done["left_out"], done["git"]["base_left_out"]) == (2, 2), done)
    nowhere(AWS, MARK)


# --- what the tree says ---

@test
def what_the_tree_has_as_git_is_not_looked_at():
    head = linked()
    other = foreign()
    first = named(FEATURE, "range=refs/heads/main")["git"]
    pointer = os.path.join(SRC, ".git")

    def nothing():
        pass

    def another():
        put(pointer, "gitdir: %s/.git\n" % other)

    def directory():
        shutil.copytree(other + "/.git", pointer)

    def link():
        os.symlink(other + "/.git", pointer)

    def fifo():
        os.mkfifo(pointer)

    def bare():
        # the tree itself, as a bare repository
        for name in ("HEAD", "objects", "refs"):
            at = os.path.join(other, ".git", name)
            to = os.path.join(SRC, name)
            if os.path.isdir(at):
                shutil.copytree(at, to)
            else:
                shutil.copy(at, to)

    for make in (nothing, another, directory, link, fifo, bare):
        forget()
        remove(pointer)
        make()
        done = named(FEATURE, "range=refs/heads/main")
        expect(done["git"] == first and first["source_head"] == head,
               make.__name__)


@test
def what_the_registration_says_is_read_only_where_it_is_named():
    head = linked()
    other = foreign()
    git("update-ref", "refs/heads/secret2", "secret", cwd=REPO)
    secret = git("rev-parse", "secret").strip()
    put(ADMIN + "/HEAD", "ref: refs/heads/main\n")
    put(ADMIN + "/gitdir", "/nowhere\n")
    put(ADMIN + "/commondir", other + "/.git\n")
    expect(named()["git"]["source_head"] == head, "its HEAD")
    forget()
    # whose HEAD was named says so, within the repository that was
    expect(named("worktrees/src/HEAD")["git"]["source_head"] ==
           git("rev-parse", "main", cwd=REPO).strip(), "its HEAD")
    forget()
    put(ADMIN + "/HEAD", secret + "\n")
    done = status(copy("worktrees/src/HEAD"), 0).json
    expect(done["git"]["source_head"] == secret, "it may name every commit")
    forget()
    put(ADMIN + "/HEAD", git("rev-parse", "HEAD", cwd=other))
    refused("missing", head="worktrees/src/HEAD")


@test
def a_registration_is_no_way_out():
    linked()
    other = foreign()
    top = os.path.dirname(ADMIN)
    os.symlink(other + "/.git", top + "/link")
    os.makedirs(top + "/file")
    os.symlink(other + "/.git/HEAD", top + "/file/HEAD")
    os.makedirs(top + "/fifo")
    os.mkfifo(top + "/fifo/HEAD")
    os.makedirs(top + "/dir/HEAD")
    for name in ("link", "file", "fifo", "dir", "gone"):
        refused("no such reference", head="worktrees/%s/HEAD" % name)
    for text in ("ref: ../../../../foreign/.git/HEAD\n", "ref: HEAD\n",
                 "ref: worktrees/src/HEAD\n", "", "\0" * 40,
                 "ref: refs/heads/../../../foreign\n"):
        put(ADMIN + "/HEAD", text)
        refused(head="worktrees/src/HEAD")
    # its own references lie with it; those of this name are others'
    for kind in ("worktree", "bisect", "rewritten"):
        git("update-ref", "refs/%s/x" % kind, "secret", cwd=REPO)
        put(ADMIN + "/HEAD", "ref: refs/%s/x\n" % kind)
        refused("of the worktree itself", head="worktrees/src/HEAD")


# --- what somebody may write in the shared repository ---

@test
def what_is_packed_means_references_and_nothing_else():
    head = linked()
    secret = git("rev-parse", "secret").strip()
    git("pack-refs", "--all", cwd=REPO)
    with open(REPO + "/.git/packed-refs", "a") as f:
        f.write("%s worktrees/gone/HEAD\n%s HEAD\n" % (secret, secret))
    refused("no such reference", head="worktrees/gone/HEAD")
    os.unlink(REPO + "/.git/HEAD")
    refused(head="HEAD", repo=REPO + "/.git")
    put(REPO + "/.git/HEAD", "ref: refs/heads/main\n")
    expect(named()["git"]["source_head"] == head, "packed")


@test
def replacements_grafts_and_hooks_of_the_repository_are_not_heard():
    head = linked()
    secret = git("rev-parse", "secret").strip()
    ran = TOP + "/ran"
    first = named(FEATURE, "range=refs/heads/main")["git"]
    forget()
    git("replace", head, secret, cwd=REPO)
    put(REPO + "/.git/info/grafts", "%s %s\n" % (head, secret))
    put(REPO + "/.git/shallow", head + "\n")
    put(REPO + "/evil.sh", "#!/bin/sh\ntouch %s\n" % ran)
    os.chmod(REPO + "/evil.sh", 0o755)
    for key, value in (("core.fsmonitor", REPO + "/evil.sh"),
                       ("core.hooksPath", REPO), ("include.path", "/evil"),
                       ("core.worktree", TOP + "/foreign"),
                       ("extensions.worktreeConfig", "true"),
                       ("core.alternateRefsCommand", REPO + "/evil.sh")):
        git("config", key, value, cwd=REPO)
    expect(SECRET in git("show", FEATURE + ":host.c", check=False, cwd=SRC),
           "git itself hears the replacement")
    done = named(FEATURE, "range=refs/heads/main")
    expect(done["git"] == first and not os.path.exists(ran), done)


@test
def objects_come_from_the_repository_and_are_what_their_names_say():
    head = linked()
    other = foreign()
    put(REPO + "/.git/objects/info/alternates", other + "/.git/objects\n")
    there = git("rev-parse", "HEAD", cwd=other).strip()
    git("update-ref", FEATURE, there, cwd=REPO)
    refused("alternates", there)
    git("update-ref", FEATURE, head, cwd=REPO)
    # a link, and another name of a file: both of the same file system
    at = "/%s/%s" % (there[:2], there[2:])
    os.makedirs(REPO + "/.git/objects" + at[:3], exist_ok=True)
    os.symlink(other + "/.git/objects" + at, REPO + "/.git/objects" + at)
    refused("object", head=there)
    os.unlink(REPO + "/.git/objects" + at)
    # the bytes of one under the name of another
    blob = git("rev-parse", FEATURE + ":README").strip()
    wrong = git("rev-parse", "secret:host.c", cwd=REPO).strip()
    full = "%s/.git/objects/%s/%s" % (REPO, blob[:2], blob[2:])
    os.unlink(full)
    os.link("%s/.git/objects/%s/%s" % (REPO, wrong[:2], wrong[2:]), full)
    refused("not what its name says", blob)


@test
def nothing_is_read_through_links_of_the_repository():
    linked()
    other = foreign()
    git("pack-refs", "--all", cwd=REPO)
    remove(REPO + "/.git/refs/heads")
    os.symlink(other + "/.git/refs/heads", REPO + "/.git/refs/heads")
    refused("no such reference", head="refs/heads/only-there")
    git("update-ref", "refs/heads/only-there", "HEAD", cwd=other)
    refused("no such reference", head="refs/heads/only-there")
    os.rename(REPO + "/.git/packed-refs", TOP + "/packed-refs")
    os.symlink(TOP + "/packed-refs", REPO + "/.git/packed-refs")
    refused("packed-refs")
    linked()
    os.rename(REPO + "/.git/objects", TOP + "/objects")
    os.symlink(TOP + "/objects", REPO + "/.git/objects")
    refused("behind a link")
    linked()
    put(REPO + "/.git/commondir", "../../foreign/.git\n")
    refused("linked worktree")


@test
def what_could_be_two_repositories_is_refused():
    linked()
    other = foreign()
    # in the directory that is a repository
    shutil.copytree(other + "/.git", REPO + "/.git/.git")
    refused("another in '.git'", repo=REPO + "/.git")
    named()
    forget()
    remove(REPO + "/.git/.git")
    # and in one that has one
    for name in ("HEAD", "objects", "refs"):
        at = os.path.join(other, ".git", name)
        (shutil.copytree if os.path.isdir(at) else shutil.copy)(
            at, os.path.join(REPO, name))
    refused("another in '.git'")
    named(FEATURE, "head", REPO + "/.git")


def no_reference_may_be_read():
    """Of the repository as it is now, which may be read otherwise."""
    for name in (FEATURE, "packed-refs"):
        at = os.path.join(REPO, ".git", name)
        there = os.path.exists(at)
        if not there:
            put(at, "")
        mode = os.stat(at).st_mode & 0o777
        os.chmod(at, 0o600 if os.getuid() == 0 else 0)
        says(refused(want=(5,)), name, "may not read")
        os.chmod(at, mode)
        if not there:
            os.unlink(at)


@test
def a_repository_that_the_source_may_not_read():
    linked()
    subprocess.run(["chmod", "0700", REPO + "/.git"], check=True)
    if os.getuid() != 0:
        subprocess.run(["chmod", "0", REPO + "/.git/objects"], check=True)
        done = refused(want=(5,))
        subprocess.run(["chmod", "0755", REPO + "/.git/objects"], check=True)
        no_reference_may_be_read()
        return
    # root's own, named for the tree of somebody else
    os.chmod(TOP, 0o755)
    subprocess.run(["chown", "-R", "12345:12345", SRC], check=True)
    says(refused(want=(5,)), "may not read")
    subprocess.run(["chmod", "0755", REPO + "/.git"], check=True)
    subprocess.run(["chmod", "0700", REPO + "/.git/objects"], check=True)
    says(refused(want=(5,)), "objects")
    subprocess.run(["chmod", "0755", REPO + "/.git/objects"], check=True)
    no_reference_may_be_read()
    named()


# --- refreshed, by policy, by a grant ---

def refresh(want=0, *args):
    return status(tool("snapshot", "refresh", "--json", DST, *args,
                       timeout=3 * WAIT), want)


@test
def a_refresh_reads_the_same_repository_again():
    linked()
    first = named(FEATURE, "range=refs/heads/main")
    expect(refresh().json["unchanged"], "changed")
    # the pointer is somebody's business, and not ours
    put(SRC + "/later.c", "int later;\n")
    git("add", "-A")
    git("commit", "-q", "-m", "four")
    put(SRC + "/.git", "gitdir: %s/.git\n" % foreign())
    again = refresh().json
    expect(again["generation"] == 2 and
           again["git"]["source_base"] == first["git"]["source_base"], again)
    is_sound()
    expect("later.c" in git("ls-files", cwd=DST), "the new file")
    nowhere(SECRET, FOREIGN)


@test
def another_repository_at_its_path_is_not_read():
    linked()
    other = foreign()
    git("branch", "feature", cwd=other)
    named()
    head = git("rev-parse", "HEAD", cwd=DST)
    os.rename(REPO, REPO + ".away")
    says(refresh(4), "repository")
    os.symlink(other, REPO)
    says(refresh(5), "symbolic link")
    os.unlink(REPO)
    shutil.copytree(other, REPO)
    says(refresh(5), "another directory")
    expect(git("rev-parse", "HEAD", cwd=DST) == head, "another generation")
    is_sound()
    nowhere(FOREIGN)
    expect(not leftovers(), leftovers())
    # who names it anew means this one
    refresh(0, "--git", "head", "--repository", REPO, "--head", FEATURE)
    expect(git("ls-files", cwd=DST) == "x.c\n", "the other")


@test
def another_name_of_the_same_commit_is_remembered():
    linked()
    named()
    git("branch", "copy", "feature", cwd=REPO)
    refresh(0, "--git", "head", "--repository", REPO, "--head",
            "refs/heads/copy")
    git("update-ref", "refs/heads/copy", "main", cwd=REPO)
    expect(refresh().json["git"]["source_head"] ==
           git("rev-parse", "main", cwd=REPO).strip(), "the first name")


@test
def a_policy_names_it():
    head = linked()
    policy = os.path.join(TOP, "policy.json")
    section = {"git": "range", "git_base": "main",
               "repository": os.path.realpath(REPO), "git_head": FEATURE}
    put(policy, json.dumps({"agentbox": 1, "snapshot": section}))
    done = status(tool("snapshot", "copy", "--policy", policy, SRC, DST,
                       "--json"), 0).json
    expect(done["git"]["source_head"] == head, done)
    is_sound()
    nowhere(SECRET, FOREIGN)
    # and for who asks for commits beside it; nothing for who does not
    for git_mode in ({}, {"git": "none"}):
        put(policy, json.dumps({"agentbox": 1, "snapshot": {
            "repository": section["repository"], "git_head": FEATURE,
            **git_mode}}))
        for asked in (["--git", "head"], []):
            forget()
            done = status(tool("snapshot", "copy", "--policy", policy, SRC,
                               DST, "--json", *asked), 0).json
            expect(done.get("git", {}).get("source_head") ==
                   (head if asked else None), done)
    for bad in ({"repository": "host"}, {"git_head": "feature"},
                {"git_head": None}, {"repository": None}):
        forget()
        put(policy, json.dumps({"agentbox": 1, "snapshot": {
            k: v for k, v in {**section, **bad}.items() if v}}))
        done = tool("snapshot", "copy", "--policy", policy, SRC, DST)
        expect(done.status in (2, 3) and not os.path.lexists(DST), done)


@box_test
def a_reviewer_reads_a_branch_of_a_linked_worktree():
    linked()
    is_reviewed("--head", FEATURE, "--repository", REPO)


@box_test
def a_refresh_of_a_grant_reads_the_repository_that_was_named():
    linked()
    with two_boxes("sleep", "60"):
        grant("--git", "head", "--head", FEATURE, "--repository", REPO)
        git("update-ref", FEATURE, "main", cwd=REPO)
        done = status(tool("peer", "refresh", "--reader", "reader",
                           "--source", "writer", "--json"), 0).json["counts"]
        expect(done["git"]["source_head"] ==
               git("rev-parse", "main", cwd=REPO).strip(), done)


@test
def without_a_name_a_linked_worktree_is_refused_as_before():
    linked()
    done = tool("snapshot", "copy", SRC, DST, "--git", "head")
    expect(done.status != 0 and not os.path.lexists(DST), done)
    says(done, "points to a repository elsewhere", "can name")
    # and a repository of its own is what a snapshot is of
    linked()
    snapshot(src=REPO)
    is_sound()


if __name__ == "__main__":
    main()
