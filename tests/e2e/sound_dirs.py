# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that go from directory to directory and delete something there.

A grammar as that of sound_lib.py, with @d for a directory. TOP stands for
nothing where the guard is asked, and for bash for a directory that has what a
root has. What is deleted outside of the worktree must not have been allowed;
where a cd has failed, only what is deleted of the system (lib/guard/stayed.c).
"""

import os
import re

import sound_lib
from tool_lib import TOP

SYSTEM = re.compile("^/(etc/|$)")
NEAR = ("a", "a/b", "c", ".", '"$v"', "a/..", '"$PWD/a"', "-", "none", "..",
        "b", "..", "TOP/srv/repo/a")
DIRS = NEAR + (
    "../..", "../../../..", "TOP/", "TOP/etc", "TOP/srv/repo", "TOP/tmp", '"$PWD/.."', '"$(pwd)/.."',
    '"$(dirname "$PWD")"', '"${PWD%/*}/"', '""', '"$1"', "./..", "a/../..",
    '"e f"', "$v", "a/", "d", '"$w"', '"$v/.."', '"$v/a"', "TOP/srv/repo/..", '"$PWD"',
    "${v:-a}", "${none:-..}", '"$(cd .. && pwd)"',
    '"$(cd a; pwd)"')
HITS = (
    "HIT etc", "HIT ./etc", "HIT ../etc", 'HIT "$v"/etc', 'HIT "$PWD/etc"',
    "HIT ../../../etc", "HIT etc", "HIT ../../etc", 'HIT "$(pwd)/etc"',
    "env HIT etc", "xargs HIT <<< etc", 'sh -c "HIT etc"', 'HIT "$1/etc"',
    'HIT "$w/etc"', "HIT TOP/srv/repo/a/etc", "find . -maxdepth 0 -exec HIT {}/etc \\;",
    "find @d -maxdepth 0 -execdir HIT etc \\;", "env -C @d HIT etc",
    "xargs -I{} sh -c 'cd {} && HIT etc' <<< @d", "(cd @d && HIT etc)",
    "cd @d && HIT ../../../etc", "cd @d; HIT ../../../etc", "cd @d || exit; HIT ../etc",
    "bash -c 'cd \"$1\" && HIT etc' _ @d",
    "echo @d | { read -r v; cd \"$v\"; HIT etc; }")
PLAIN = (
    "cd @d", "cd @d", "cd @d", "cd @d", "cd @d", "cd -", "pushd @d",
    "pushd @d", "popd", "pushd +1", "pushd -n @d", "popd -n",
    "v=@d", "v=@d", "w=@d", "v=$PWD", "CDPATH=@d", "unset CDPATH",
    "cd -P @d", "cd -L @d", "cd -- @d", "! cd @d", "set -e", "set +e",
    "set -- @d @d", "shift", "@f @d", "@f @d", "@f", "cd @d | true",
    "cd @d & wait", 'cd "$v" || cd @d', "v=@d cd @d", "CDPATH=@d cd @d",
    "cd @d @d", "true", "exit", "return", "unset v", "read -r v <<< @d",
    "v=$(cd @d; pwd)", 'v=$(cd @d && echo "$PWD")', 'eval "cd \\"$v\\""',
    "shopt -s cdable_vars", "set -P", 'cd "$v"/..',
    "pushd @d && HIT etc; popd", 'v=${v##*/}', 'cd "${v%/*}/"', "cd a && cd ..")
NESTED = (
    "(\n@b\n)", "{\n@b\n}", "cd @d && {\n@b\n}", "cd @d || {\n@b\n}",
    "if cd @d; then\n@b\nfi", "if cd @d; then\n@b\nelse\n@b\nfi",
    "if ! cd @d; then\n@b\nfi", "if [ -d @d ]; then\n@b\nfi",
    "for v in @d @d; do\n@b\ndone",
    'for v in @d; do\ncd "$v" || continue\n@b\ndone',
    "while read -r v; do\n@b\ndone <<< @d", "echo x | {\n@b\n}",
    "case $v in\n/*) @b ;;\n*) @b ;;\nesac", "bash -c '\n@q\n' _ @d",
    "eval '\n@q\n'", "trap '\n@q\n' EXIT", "v=$(\n@b\n)",
    "until cd @d; do\n@b\nbreak\ndone", "for ((i = 0; i < 2; i++)); do\n@b\ndone",
    "{\n@b\n} | cat", "{\n@b\n} & wait", "! {\n@b\n}")
FUNCTIONS = ("{\n@b\n}", "(\n@b\n)", '{\ncd "$1"\n@b\n}',
             '{\ncd "$1" || return\n@b\n}')
# each cd that fails is told
FRONT = "".join(
    "%s() { builtin %s \"$@\" || { echo failed >> \"$HIT_LOG\"; return 1; }; }\n"
    "export -f %s\n" % (name, name, name) for name in ("cd", "pushd", "popd"))


class Maker(sound_lib.Maker):
    def __init__(self, seed):
        super().__init__(seed)
        self.is_near = self.random.random() < .7

    def part(self, kind):
        if kind == "d":
            return self.fill(self.pick(*(NEAR if self.is_near and
                                         self.random.random() < .8 else DIRS)))
        return super().part(kind)

    def statement(self):
        kind = self.random.random()
        if kind < .14 and self.hits:
            self.hits -= 1
            return self.fill(self.pick(*HITS))
        if kind < .2 and not self.in_function and self.depth < 4:
            return self.function(FUNCTIONS)
        if kind < .4 and self.depth < 6:
            return self.fill(self.pick(*NESTED))
        return self.fill(self.pick(*PLAIN))

    def program(self):
        lines = [self.statement()
                 for _ in range(2 + self.random.randrange(6))]
        return "\n".join(lines + [self.fill(self.pick(*HITS[:10]))]) + "\n"


class Place(sound_lib.Place):
    """Its directory is /srv/repo of a root of its own."""
    PROGRAMS = sound_lib.Place.PROGRAMS + ["find", "dirname", "pwd"]
    HIT = "for x; do printf '%s\\t%s\\n' \"$(pwd -P)\" \"$x\"; done"
    FRONT = FRONT

    def __init__(self):
        super().__init__()
        self.dir = os.path.join(self.top, "srv/repo")

    def fill(self):
        for name in ("a/b", "c/d", "e f", "../../etc", "../../tmp"):
            os.makedirs(os.path.join(self.dir, name))

    def is_harm(self, log):
        lines = log.decode(errors="replace").splitlines()
        for where, name in (line.split("\t") for line in lines
                            if "\t" in line):
            path = os.path.normpath(os.path.join(where, name)) + "/"
            # nothing is above the root
            path = path[len(self.top):] if path.startswith(self.top + "/") \
                else "/" + os.path.basename(path[:-1]) + "/"
            if SYSTEM.match(path) or ("failed" not in lines and
                                      not path.startswith(("/srv/repo/",
                                                           "/tmp/"))):
                return True
        return False
