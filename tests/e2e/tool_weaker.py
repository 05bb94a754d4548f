#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is weaker than it could be is told by every output, and by all alike:
the lines of run, its document, the plan, doctor, verify, the audit record."""

import json
import os
import subprocess
import tempfile

from tool_lib import (TOP, WAIT, WORK, Done, box_test, command, environment,
                      expect, main, needs_to_mount, says, status, test, write)

WITHOUT = os.path.join(os.environ["AB_TEST_BUILDDIR"], "tests/e2e/without")


class Place:
    """How the tool is started: behind `before`, as by env(1)."""

    def __init__(self, before=(), **kw):
        self.before, self.kw = list(before), kw

    def tool(self, *args):
        p = subprocess.run(self.before + command(*args), cwd=WORK,
                           env=environment(), input=b"", capture_output=True,
                           timeout=WAIT, **self.kw)
        return Done(p.returncode, p.stdout, p.stderr)


def names(o):
    for w in o["weaker"]:
        expect(set(w) == {"wall", "what", "why", "fix"} and w["what"], w)
    return [w["wall"] for w in o["weaker"]]


def record_of(log):
    with open(log, encoding="utf-8") as f:
        for line in f:
            record = json.loads(line)
            if record.get("type") == "box.start":
                return record
    raise AssertionError("no record of the start")


def told(place, *options, dry=True):
    """The list, after every output has been held against it."""
    # a name of its own: a log that was removed is one that was tampered with
    log = os.path.join(tempfile.mkdtemp(dir=TOP), "log")
    done = status(place.tool("run", *options, "--json", "--audit", log, "--",
                             "true"), 0)
    want = names(done.json["walls"])
    expect(record_of(log)["weaker"] == want, record_of(log))
    if dry:
        plan = status(place.tool("run", *options, "--json", "--dry-run"), 0)
        expect(names(plan.json) == want, (names(plan.json), want))
        says(place.tool("run", *options, "--dry-run"), *want)
    says(place.tool("run", *options, "--walls", "--", "true"), *want)
    verify = place.tool("verify", *options, "--json")
    expect(names(verify.json) == want, (names(verify.json), want))
    says(place.tool("verify", *options), *want)
    line = status(place.tool("run", *options, "--", "true"), 0).text
    for wall in want:
        expect(wall in line or wall in ("limits.disk", "mode"), (wall, line))
    return want


def told_by_doctor(place):
    doc = place.tool("doctor", "--json").json
    says(place.tool("doctor"), *names(doc))
    return names(doc)


@box_test
def every_output_has_the_same_list():
    place = Place()
    want = told(place)
    limits = status(place.tool("run", "--json", "--", "true"), 0).json["limits"]
    soft = {"limits." + name for name, l in limits.items()
            if l["requested"] is not None and not l["hard"]}
    expect({w for w in want if w.startswith("limits.")} == soft,
           (want, limits))
    # the machine's, without a workspace that is written to
    expect(set(want) - {"limits.disk"} <= set(told_by_doctor(place)), want)


@box_test
def groups_that_are_kept_are_told():
    if os.geteuid() != 0:
        place, kept = Place(), set(os.getgroups()) - {os.getegid()}
        expect(("groups" in told(place)) == bool(kept), kept)
        expect(("groups" in told_by_doctor(place)) == bool(kept), kept)
        return
    # root of a user namespace of one id can drop none either
    inside = ["unshare", "--user", "--map-root-user", "--"]
    place = Place(inside, extra_groups=[54321, 54322])
    expect({"groups", "ids"} <= set(told(place)), "the box")
    expect("groups" in told_by_doctor(place), "doctor")
    expect("groups" not in told(Place(inside, extra_groups=[])), "without")


@box_test
def a_weaker_tier_is_told():
    policy = write("tier.json", json.dumps({
        "agentbox": 1, "extends": "builtin:workspace",
        "workspace": {"path": WORK}, "require": ["seccomp"]}))
    # a plan is of the first tier: which one it becomes the kernel says
    want = told(Place([WITHOUT, "userns", "--"]), "--policy", policy,
                dry=False)
    expect("namespaces" in want, want)
    expect("namespaces" in told_by_doctor(Place([WITHOUT, "userns", "--"])),
           "doctor")


@box_test
def the_hosts_network_is_told():
    policy = write("net.json", json.dumps({
        "agentbox": 1, "extends": "builtin:workspace",
        "workspace": {"path": WORK}, "network": {"mode": "host"},
        "require": ["seccomp"]}))
    expect("netns" in told(Place(), "--policy", policy), "netns")


@box_test
def a_bare_box_is_told_as_nothing_else():
    expect(told(Place(), "--bare") == ["mode"], "bare")
    says(Place().tool("run", "--bare", "--", "true"), "BARE")


# All that / has, below a directory that is no mount, and there.
CHROOT = r'''
for at in /*; do
	if [ -L "$at" ]; then cp -Pf "$at" "$0$at"
	elif [ -d "$at" ]; then mkdir -p "$0$at" && mount --rbind "$at" "$0$at"
	fi || exit 99
done
exec chroot "$0" env -C "$PWD" "$@"'''

# A mount, which could be the root of a namespace: init's is another.
CHROOT_ON_MOUNT = r'''
mount --rbind / "$0" && chroot "$0" env -C "$PWD" "$@"
exit $?'''


# The same without a /dev.
CHROOT_WITHOUT_DEV = r'''
mount --rbind / "$0" && mount -t tmpfs none "$0/dev" || exit 99
exec chroot "$0" env -C "$PWD" "$@"'''


@test
def a_place_without_devices_is_told_as_that():
    """What is missing is what every helper begins with, and no helper."""
    needs_to_mount("needs root to call chroot")
    with tempfile.TemporaryDirectory(dir=TOP) as root:
        inside = Place(["unshare", "--mount", "sh", "-c", CHROOT_WITHOUT_DEV,
                        root])
        for words in (["doctor"], ["run", "--", "true"]):
            done = status(inside.tool(*words), 125)
            says(done, "/dev/null", "give this place a /dev", "[EHELPER]")
            expect("installed" not in done.text, done)


@test
def doctor_in_a_chroot_names_it():
    needs_to_mount("needs root to call chroot")
    with tempfile.TemporaryDirectory(dir=TOP) as root:
        inside = Place(["unshare", "--mount", "sh", "-c", CHROOT, root])
        done = inside.tool("doctor", "--json")
        full = done.json["tiers"]["full"]
        expect("this is a chroot" in full["cause"] and
               "mount namespace" in full["fix"], done)
        says(inside.tool("doctor"), "this is a chroot", "to fix it: start the")
    with tempfile.TemporaryDirectory(dir=TOP) as root:
        inside = Place(["unshare", "--mount", "--pid", "--fork",
                        "--mount-proc", "sh", "-c", CHROOT_ON_MOUNT, root])
        says(inside.tool("doctor"), "this is a chroot", "to fix it: start the")
    done = Place(["unshare", "--mount"]).tool("doctor")
    expect("chroot" not in done.text or "chroot" in Place().tool(
        "doctor").text, done)


main()
