# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs for the shell that are made by a grammar, run by bash(1) and judged.

In each of them HIT stands for a command. bash runs it as `hit`, which only
writes down what it was given; the guard is asked about the same text with
`rm -rf`. Where bash gave it a path below /etc, or the root, the guard must not
have allowed the text: it took a value for another one.

A template is bash with @v for a variable, @w a word, @W some, @b statements,
@c a condition, @t a text, @p a pattern, @f a function and @h the command.
Functions call none, so every program ends; only `t1` is written to.
"""

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess

from tool_lib import TOP, WAIT, expect, tool

WHERE = ("--cwd", "/srv/repo", "--workspace", "/srv/repo")
HARM = re.compile(rb"^/(etc.*)?$", re.M)

TEXTS = ("ok", "ok", "ok", "zz", "x y", "1", "a", "b", "", "/etc", "/zz",
         "etc/zz", "/", "ok:/etc/zz", "k=/etc/zz", "zz/cte/", "*k", "o?")
VALUES = ("ok", "ok", "zz", "x", "/et", "/etc/zz")
PATTERNS = ("/*", "*/", "*z", "o*", "?", "/etc", "*", "ok", "[a-z]", "*:", "zz")

WORDS = (
    # as they stand, and quoted
    "'@t'", '"@t"', "$'@t'", "@T", '"$@v"', '"$@v"', '"$@v"', "$@v", '"${@v}"',
    # parameters
    '"${@v:-@d}"', "${@v:-@d}", '"${@v:=@d}"', '"${@v:+@d}"', "${@v:+@d}",
    '"${@v-@d}"', '"${@v+@d}"', '"${@v#@p}"', '"${@v##@p}"', '"${@v%@p}"',
    '"${@v%%@p}"', '"${@v/@p/@d}"', '"${@v//@p/@d}"', '"${@v/#/@d}"',
    '"${@v/%/@d}"', '"${@v:0:4}"', '"${@v:1}"', '"${@v: -2}"', '"${@v^^}"',
    '"${@v,,}"', '"${@v@@Q}"', '"${!r}"', '"${!r:-@d}"', '"${#@v}"',
    # arguments and lists
    '"$1"', '"$2"', "$1", '"$@@"', '"$*"', "$*", '"${@@:2}"', '"${@@: -1}"',
    '"${1:-@d}"', "${2:+@d}", '"${1#@p}"', '"${A[0]}"', '"${A[1]}"', "$A",
    '"${A[@@]}"', '"${A[*]}"', '"${A[-1]}"', '"${A[@@]:1}"', "${A[@@]}",
    '"${A[@@]%@p}"', '"${A[n]}"', '"${#A[@@]}"',
    # commands, sums, braces, patterns
    '"$(echo @w)"', "$(printf '%s' @w)", '"`echo @w`"', "$((n + 1))",
    "{@d,@d}", "@d{,/zz}", '"$@v"{,/zz}', "/{etc,b}/zz", "*.none", "no*",
    '"$@v""$@v"', "/etc$@v", '"/$@v"', "$(cat t1)", "$(<t1)",
)
CONDITIONS = (
    '[ "$@v" = @w ]', '[[ $@v == @p ]]', '[ -n "$@v" ]', '[ -z "$@v" ]',
    '[[ "$@v" =~ ^/etc ]]', "(( n ))", "true", "false", "! true",
    '[ "$#" -gt 1 ]', '[[ -n $@v && $@v != ok ]]', "test -e none",
)
HITS = (
    "HIT @w", "HIT @w", "HIT @w", "HIT -- @w", "HIT @W", "$h @w",
    "command HIT @w", "env HIT @w", "echo @w | xargs HIT",
    "printf '%s\\0' @W | xargs -0 HIT", "xargs HIT <<< @w",
    "echo @w | xargs -I{} HIT {}", 'eval "HIT \\$@v"', 'eval HIT @w',
    "{ read -r @v; HIT \"$@v\"; } <<< @w", "@v=@w eval 'HIT \"$@v\"'",
    "sh -c 'HIT \"$1\"' _ @w", "echo 'HIT @d' | sh",
    "for @v in @W; do HIT \"$@v\"; done",
)
PLAIN = (
    # values
    "@v=@w", "@v=@w", "@v=@w", "@v=@w", "@v+=@w", "@v=@w @v=@w", "n=1", "n=0",
    "n=${#A[@@]}", "A=(@W)", "A=(@W)", "A+=(@W)", "A[0]=@w", "A[1]=@w",
    "A[-1]=@w", 'A=("${A[@@]}" @w)', 'A=("$@@")', "@v=${A[*]}", "unset @v",
    "unset A", "unset 'A[0]'", "r=@v", "r='A[1]'", ": ${@v:=@d}", "h=HIT",
    # declarations
    # (readonly is left out: who assigns such a one ends the line for bash)
    "export @v=@w", "declare @v=@w", "typeset @v={@d,@d}",
    "declare -n r=@v", "declare -l @v", "declare -u @v",
    "declare -a A=(@W)", "declare -i n=1", "export a b",
    # what is read
    "read -r @v <<< @w", "read -r @v @v <<< @w", "IFS=/ read -r @v @v <<< @w",
    "IFS=: read -r @v @v <<< @w", "IFS= read -r @v <<< @w", "read -ra A <<< @w",
    "mapfile -t A < <(printf '%s\\n' @W)", "read -r @v < <(echo @w)",
    "printf -v @v '%s' @W", "printf -v @v '/%s' @w", "printf -v @v '%.4s' @w",
    "read -rN 4 @v <<< @w", "exec 3<<< @w; read -r @v <&3; exec 3<&-",
    "echo @w > t1", "printf '%s\\n' @W >> t1", "read -r @v < t1",
    # arguments and options
    "set -- @W", 'set -- "$@@" @w', "shift", "set -f", "set +f", "set -u",
    "shopt -s nullglob", "shopt -s lastpipe", "shopt -s nocasematch", "IFS=/",
    "IFS=:", "unset IFS", 'eval "@v=\\$@v"', "eval '@v=@d'", "echo @w",
    ". /dev/stdin <<< '@v=@d'", "trap - EXIT", "@f @W", "@f @W",
)
NESTED = (
    "for @v in @W; do\n@b\ndone", "while read -r @v; do\n@b\ndone <<< @w",
    "while read -r @v; do\n@b\ndone <<E\n@d\n$@v\nE",
    "echo @w | while read -r @v; do\n@b\ndone", "(\n@b\n)", "{\n@b\n}",
    "printf '%s\\n' @W | {\nread -r @v\n@b\n}", "if @c; then\n@b\nfi",
    "if @c; then\n@b\nelse\n@b\nfi", "@c && {\n@b\n}", "@c || {\n@b\n}",
    "if @c; then\n@b\nelse\n@b\nexit\nfi", "if @c; then\n@b\nexit\nfi",
    "if @c; then\n@b\nelse\n@b\nexit\nfi", "if @c; then\n@b\nreturn\nfi",
    "case $@v in\n@p) @b ;;\n*) @b\nexit ;;\nesac",
    "case $@v in\n@p) @b ;;\n*) @b ;;\nesac",
    "case $@v in\n@p) @b ;&\nok) @b ;;\nesac",
    "for ((i = 0; i < 2; i++)); do\n@b\ndone", "trap '\n@q\n' EXIT",
    "eval '\n@q\n'", "bash -c '\n@q\n' _ @W", "@v=$(\n@b\n)",
)
FUNCTIONS = ("{\n@b\n}", "{\nlocal @v=$1\n@b\n}", "{\nlocal @v={$2,ok}\n@b\n}",
             "{\nshift\n@b\n}", "{\nset -- \"$@@\" ok\n@b\n}", "(\n@b\n)")


class Maker:
    """One program, always the same for a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.hits = self.random.choice((1, 1, 2))
        # few texts are harmful, or every program would be refused
        self.harm = self.random.choice((.03, .08, .15))
        self.depth = 0
        self.in_function = self.in_quotes = False

    def pick(self, *all_of):
        return self.random.choice(all_of)

    def fill(self, template):
        self.depth += 1
        text = re.sub("@(.)", lambda m: self.part(m.group(1)), template)
        self.depth -= 1
        return text

    def some(self, count, what):
        return [self.part(what)
                for _ in range(1 + self.random.randrange(count))]

    def part(self, kind):
        if kind == "v":
            return self.pick(*"abcd")
        if kind == "w":
            return self.fill(self.pick(*(WORDS if self.depth < 5
                                         else WORDS[:9])))
        if kind == "W":
            return " ".join(self.some(3, "w"))
        if kind in "tT":
            text = "/etc/zz" if self.random.random() < self.harm \
                else self.pick(*TEXTS)
            return text if kind == "t" or text.isalnum() else "zz"
        if kind == "d":
            return "/etc/zz" if self.random.random() < 2 * self.harm \
                else self.pick(*VALUES)
        if kind == "p":
            return self.pick(*PATTERNS)
        if kind == "c":
            return self.fill(self.pick(*CONDITIONS))
        if kind == "f":
            return "true" if self.in_function else self.pick("f0", "f1")
        if kind == "b":
            return "\n".join(self.some(2, "s"))
        if kind == "q":
            return self.quoted()
        if kind == "s":
            return self.statement()
        return kind

    def quoted(self):
        """Statements within '...', where no other stand."""
        if self.in_quotes:
            return "true"
        self.in_quotes = True
        text = self.part("b").replace("'", "'\\''")
        self.in_quotes = False
        return text

    def function(self, bodies=FUNCTIONS):
        self.in_function = True
        body = self.fill(self.pick(*bodies))
        self.in_function = False
        return self.pick("f0", "f1") + "() " + body

    def statement(self):
        kind = self.random.random()
        if kind < .16 and self.hits:
            self.hits -= 1
            return self.fill(self.pick(*HITS))
        if kind < .22 and not self.in_function and self.depth < 4:
            return self.function()
        if kind < .4 and self.depth < 7:
            return self.fill(self.pick(*NESTED))
        return self.fill(self.pick(*PLAIN))

    def program(self):
        lines = [self.statement()
                 for _ in range(4 + self.random.randrange(9))]
        return "\n".join(lines + [self.fill("HIT @w")]) + "\n"


def decisions(texts):
    """What the guard says of each."""
    rows = "".join(json.dumps({"id": str(i), "cmd": t}) + "\n"
                   for i, t in enumerate(texts))
    done = tool("check", "shell", "--jsonl", *WHERE, stdin=rows.encode(),
                timeout=20 * WAIT)
    said = [json.loads(line) for line in done.out.splitlines()]
    expect(len(said) == len(texts), done)
    return said


def verdicts(programs):
    return [said["verdict"] for said in
            decisions([p.replace("HIT", "rm -rf").replace("TOP", "")
                       for p in programs])]


class Place:
    """Where bash runs them: in its PATH is only what the grammar names."""
    PROGRAMS = "bash cat echo env false printf sh test true xargs".split()
    HIT = "printf '%s\\n' \"$@\""
    FRONT = ""

    def __init__(self):
        self.top = self.dir = os.path.join(TOP, "sound")
        self.log = os.path.join(TOP, "hits")
        path = os.path.join(TOP, "bin")
        os.makedirs(path, exist_ok=True)
        for name in self.PROGRAMS:
            if not os.path.lexists(os.path.join(path, name)):
                os.symlink(shutil.which(name), os.path.join(path, name))
        with open(os.path.join(path, "hit"), "w") as f:
            f.write('#!/bin/sh\n{ %s; } >> "$HIT_LOG"\n' % self.HIT)
        os.chmod(f.name, 0o755)
        self.env = {"PATH": path, "HOME": "/home/u", "HIT_LOG": self.log}

    def fill(self):
        """What there is when bash begins."""
        os.makedirs(self.dir)

    def is_harm(self, log):
        return bool(HARM.search(log))

    @staticmethod
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (4, 4))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    def harms(self, program):
        """What bash gave the command is harm."""
        shutil.rmtree(self.top, ignore_errors=True)
        self.fill()
        open(self.log, "w").close()
        bash = subprocess.Popen(
            [shutil.which("bash"), "--norc", "-c",
             self.FRONT + program.replace("HIT", "hit")
             .replace("TOP", self.top)],
            cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=self.limit)
        try:
            bash.wait(WAIT)
        finally:
            try:
                os.killpg(bash.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            bash.wait()
        with open(self.log, "rb") as f:
            return self.is_harm(f.read())


def judge(first, count, maker=Maker, place=Place):
    """The allowed programs that harm, and how many were allowed, and refused
    ones that do harm of those that were looked at."""
    place, wrong, allowed, seen = place(), [], 0, 0
    for start in range(first, first + count, 2000):
        programs = [maker(seed).program()
                    for seed in range(start, min(start + 2000, first + count))]
        for seed, (text, verdict) in enumerate(zip(programs,
                                                   verdicts(programs)), start):
            if verdict == "allow":
                allowed += 1
                if place.harms(text):
                    wrong.append("seed %d:\n%s" % (seed, text))
            elif seed % 20 == 0:
                seen += place.harms(text)
    return wrong, allowed, seen
