#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""agentbox network: the stored allowlist, and who takes it."""

import fcntl
import json
import os
import resource
import signal
import subprocess
import threading

from gateway_lib import Origin, echo, resolver
from tool_lib import (HOME, TOP, WAIT, box_test, command, environment, expect,
                      main, says, status, test, tool, write)

origin = Origin(echo)
NAME = "stored.test"
resolver.names[NAME] = ["127.0.0.1"]
_count = [0]


def state():
    _count[0] += 1
    return os.path.join(TOP, "state%d" % _count[0])


def network(at, verb, *args):
    return tool("network", verb, "--state", at, *args)


def shown(at, *args):
    return status(network(at, "show", *args), 0).out.decode().split()


def file_of(at, account=None):
    return os.path.join(at, "network", "account-%s.json" % account
                        if account else "allow.json")


def plant(at, text, mode=0o600):
    os.makedirs(os.path.join(at, "network"), mode=0o700)
    os.chmod(at, 0o700)
    with open(file_of(at), "w") as f:
        f.write(text)
    os.chmod(file_of(at), mode)
    return at


def listed(*entries):
    return json.dumps({"agentbox_network": 1, "allow": list(entries)})


@test
def it_is_empty_until_something_is_written():
    at = state()
    done = status(network(at, "show"), 0)
    expect(done.out == b"" and "nothing is allowed" in done.text, done)
    expect(not os.path.exists(at), "show makes nothing")
    says(status(network(at, "allow", "API.Example.test:443", "*"), 0),
         "allowed: api.example.test:443", "allowed: *")
    expect(shown(at) == ["api.example.test:443", "*"])
    status(network(at, "reset"), 0)
    expect(shown(at) == [])


@test
def the_file_is_private_and_replaced_whole():
    at = state()
    os.umask(0)
    try:
        status(network(at, "allow", "a.test"), 0)
        before = os.stat(file_of(at))
        status(network(at, "allow", "b.test"), 0)
    finally:
        os.umask(0o022)
    after = os.stat(file_of(at))
    expect(before.st_ino != after.st_ino and after.st_mode & 0o777 == 0o600,
           oct(after.st_mode))
    for d in (at, os.path.join(at, "network")):
        expect(os.stat(d).st_mode & 0o777 == 0o700, d)
    expect(sorted(os.listdir(os.path.join(at, "network"))) ==
           ["allow.json", "lock"])


@test
def what_is_no_host_is_refused_and_nothing_stored():
    at = state()
    for bad in ("http://x", "*.", "**", "a b", "", "a..test", "1.2.3",
                "x.test:0", "x.test:65536", "ä.test", "127.1", "a.test:"):
        status(network(at, "allow", "good.test", bad), 3)
        expect(shown(at) == [], bad)
    says(status(network(at, "allow", "good.test", "http://x"), 3),
         "http://x")
    says(status(network(at, "allow", "https://x.test:8/a?b"), 3),
         "is a URL", "'x.test:8'")


@test
def what_changes_nothing_says_so_and_warns_once():
    at = state()
    status(network(at, "allow", "a.test", "169.254.169.254"), 0)
    done = says(status(network(at, "allow", "a.test"), 0),
                "allowed already: a.test")
    expect(done.text.count("is never reached") == 1, done)


@test
def an_entry_or_a_file_that_cannot_be_read_is_refused_whole_and_named():
    for text, words in [
            (listed("good.test", "http://bad"), ("entry 2", "http://bad")),
            (listed("good.test", 7), ("entry 2",)),
            (listed("good.test")[:-4], ("no stored allowlist",)),
            ('{"agentbox_network": 1, "allow": [], "allow": ["*"]}',
             ("no stored allowlist",)),
            ('{"agentbox_network": 1, "allow": ["a.test"], "deny": []}',
             ("no stored allowlist",)),
            ('{"agentbox_network": 2, "allow": ["a.test"]}',
             ("no stored allowlist",)),
            ('["a.test"]', ("no stored allowlist",)), ("", ("no stored",)),
            (listed(*["a%d.test" % i for i in range(1001)]), ("no stored",))]:
        at = plant(state(), text)
        for args in (("show",), ("allow", "x.test"), ("disallow", "x.test")):
            says(status(network(at, *args), 3), file_of(at), *words)
        # and no box begins without what it says
        done = status(tool("run", "--state", at, "--dry-run", "--", "true"), 3)
        says(done, *words)
        with open(file_of(at)) as f:
            expect(f.read() == text, "it was changed")
        status(network(at, "reset"), 0)
        expect(shown(at) == [])


@test
def what_others_can_write_is_refused():
    good = listed("a.test")
    for mode in (0o620, 0o602, 0o666):
        at = plant(state(), good, mode)
        for args in (("show",), ("allow", "b.test"), ("disallow", "a.test")):
            says(status(network(at, *args), 5), "can be written by others")
        says(status(tool("run", "--state", at, "--dry-run", "--", "true"), 5),
             "can be written by others")
    for sub in ("", "network"):
        at = plant(state(), good)
        os.chmod(os.path.join(at, sub), 0o777)
        says(status(network(at, "show"), 5), "can be written by others")
        os.chmod(os.path.join(at, sub), 0o700)
    at = plant(state(), good)
    os.rename(file_of(at), file_of(at) + ".real")
    os.symlink("allow.json.real", file_of(at))
    status(network(at, "show"), 5)
    os.unlink(file_of(at))
    os.mkfifo(file_of(at), 0o600)
    status(network(at, "show"), 5)
    if os.geteuid() == 0:
        at = plant(state(), good)
        os.chown(file_of(at), 1234, 1234)
        says(status(network(at, "show"), 5), "belongs to another user")


@test
def a_state_directory_that_is_none_is_told_by_its_option():
    flat = write("flat", "")
    for verb in ("show", "allow", "disallow"):
        done = network(flat, verb, *(() if verb == "show" else ("a.test",)))
        says(status(done, 5), "--state", flat)


@test
def what_cannot_be_written_is_as_it_was():
    at = state()
    status(network(at, "allow", "a.test"), 0)

    def little():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))
    done = tool("network", "allow", "--state", at, "b.test", preexec_fn=little)
    says(status(done, 70), "allow.json: cannot be written, and is as it was",
         "[ESYS]")
    expect(shown(at) == ["a.test"], shown(at))


@test
def disallow_takes_what_its_host_covers_and_tells_what_stays():
    at = state()
    status(network(at, "allow", "a.test:443", "a.test:80", "*.a.test",
                   "b.test"), 0)
    says(status(network(at, "disallow", "x.a.test"), 4), "nothing was changed",
         "still allowed by '*.a.test'")
    status(network(at, "disallow", "b.test", "none.test"), 4)
    expect(shown(at) == ["a.test:443", "a.test:80", "*.a.test", "b.test"])
    status(network(at, "disallow", "a.test"), 0)
    expect(shown(at) == ["*.a.test", "b.test"])
    status(network(at, "allow", "*"), 0)
    says(status(network(at, "disallow", "b.test"), 0),
         "'b.test' is still allowed by '*'")
    expect(shown(at) == ["*.a.test", "*"])


@test
def accounts_have_lists_of_their_own():
    at = state()
    status(network(at, "allow", "--account", "acme", "a.test"), 0)
    status(network(at, "allow", "b.test"), 0)
    expect(shown(at, "--account", "acme") == ["a.test"])
    expect(shown(at, "--account", "other") == [] and shown(at) == ["b.test"])
    for bad in ("../x", "a/b", "", ".", "-x", "a b"):
        status(network(at, "show", "--account=" + bad), 2)
    document = json.loads(status(tool("network", "show", "--json", "--state",
                                      at, "--account", "acme"), 0).out)
    expect(document == {"account": "acme", "allow": ["a.test"],
                        "file": file_of(at, "acme")}, document)


@test
def nothing_is_lost_when_many_change_it_at_once():
    at = state()
    hosts = ["h%d.test" % i for i in range(24)]
    done = []

    def add(host):
        done.append(network(at, "allow", host).status)
    threads = [threading.Thread(target=add, args=(h,)) for h in hosts]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    expect(done == [0] * len(hosts), done)
    expect(sorted(shown(at)) == sorted(hosts))


@test
def who_holds_the_lock_keeps_others_out():
    at = state()
    status(network(at, "allow", "a.test"), 0)
    with open(os.path.join(at, "network", "lock")) as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        p = subprocess.Popen(command("network", "allow", "--state", at,
                                     "b.test"), env=environment(), cwd=HOME,
                             stderr=subprocess.PIPE)
        expect(shown(at) == ["a.test"], "a reader waits for nobody")
        fcntl.flock(f, fcntl.LOCK_UN)
        expect(p.wait(WAIT) == 0, p.stderr.read())
        p.stderr.close()
    expect(shown(at) == ["a.test", "b.test"])


def policy_of(at, *options):
    """The digest of what the options make."""
    return status(tool("run", "--state", at, *options, "--json", "--", "true",
                       timeout=3 * WAIT), 0).json["config_hash"]


@box_test
def a_policy_that_was_chosen_is_not_widened_unasked():
    at, none = state(), state()
    status(network(at, "allow", "a.test"), 0)
    status(network(at, "allow", "--account", "acme", "b.test"), 0)
    doc = write("chosen.json", json.dumps(
        {"agentbox": 1, "extends": "builtin:workspace", "account": "acme"}))
    for options in (["--policy", doc], ["--builtin", "workspace"], ["--bare"],
                    ["--allow", "c.test"]):
        expect(policy_of(at, *options) == policy_of(none, *options), options)
    expect(policy_of(at) == policy_of(none, "--allow", "a.test"))
    expect(policy_of(at) != policy_of(none))
    expect(policy_of(at, "--stored", "--allow", "c.test") ==
           policy_of(none, "--allow", "a.test", "--allow", "c.test"))
    # the account is the policy's
    expect(policy_of(at, "--stored", "--policy", doc) ==
           policy_of(none, "--policy", doc, "--allow", "b.test"))


@box_test
def a_box_reaches_what_is_stored_and_nothing_else():
    at = state()
    doc = write("local.json", json.dumps(
        {"agentbox": 1, "extends": "builtin:workspace",
         "network": {"private": ["127.0.0.0/8", NAME]}}))
    script = """
import re, os, socket
for host in ("%s", "other.test"):
    try:
        s = socket.create_connection((host, %d), 30)
        s.sendall(b"ping")
        print(s.recv(4))
    except OSError as e:
        print("none")
print(os.environ.get("AGENTBOX_NETWORK_ALLOWLIST"))
""" % (NAME, origin.port)
    entry = "%s:%d" % (NAME, origin.port)

    def run(*options):
        return status(tool("run", "--state", at, "--resolver",
                           resolver.address, *options, "--", "python3", "-c",
                           script, timeout=3 * WAIT), 0).out.decode()
    expect(run("--policy", doc) == "none\nnone\nNone\n")
    status(network(at, "allow", entry), 0)
    expect(run("--policy", doc) == "none\nnone\nNone\n")
    expect(run("--policy", doc, "--stored") ==
           "b'ping'\nnone\n%s\n" % entry)
    # without a policy the name is allowed, and leads where nothing opens
    expect(run() == "none\nnone\n%s\n" % entry)
    status(network(at, "disallow", NAME), 0)
    expect(run("--policy", doc, "--stored") == "none\nnone\n\n")


@test
def an_address_that_is_none_is_told_by_its_option():
    """The box's list is read here, the name servers by its gateway."""
    for url in ("http://x.test", "https://x.test:8/a?b", "x.test://"):
        says(status(tool("run", "--allow", url, "--", "true"), 3),
             "--allow", "is a URL; write its host alone")


@box_test
def name_servers_that_are_none_are_told_by_their_option():
    for bad in ("none", "192.0.2.1:x", "192.0.2.1,none"):
        done = status(tool("run", "--allow", NAME, "--resolver", bad, "--",
                           "true"), 2)
        says(done, "--resolver: ", "no addresses of name servers", "[EINVAL]")
        expect("doctor" not in done.text, done)


@test
def a_box_without_walls_has_no_gateway_and_the_advice_says_so():
    doc = write("bare.json", json.dumps(
        {"agentbox": 1, "extends": "builtin:bare",
         "network": {"mode": "gateway", "allow": [NAME]}}))
    done = status(tool("run", "--policy", doc, "--", "true"), 125)
    says(done, "needs a network namespace", "[EWALL]",
         "whose network.mode is not 'gateway'")


main()
