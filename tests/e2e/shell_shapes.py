#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a line is judged does not depend on how it comes to be run: each
labelled line of tests/data/corpus that is denied is denied, and each that is
allowed is allowed, in every shape that runs it and does nothing else."""

import glob
import json
import os
import shlex

from sound_lib import decisions
from tool_lib import SRC, expect, main, test

quote = shlex.quote


def ansi(line):
    """$'...'"""
    return "$'%s'" % (line.replace("\\", "\\\\").replace("'", "\\'")
                          .replace("\n", "\\n"))


def double(line):
    """"..." """
    for byte in "\\\"$`":
        line = line.replace(byte, "\\" + byte)
    return '"%s"' % line


def python(line):
    return "import os\nos.system(%r)\n" % line


def raw(before, line, after):
    """A text whose lines are as they are, up to a line of its own."""
    return "%s\n%s\nSHAPE\n%s" % (before, line, after)


SHAPES = {
    "a subshell": lambda s: "(\n%s\n)" % s,
    "a group": lambda s: "{\n%s\n}" % s,
    "a group's output": lambda s: "{\n%s\n} | cat" % s,
    "the background": lambda s: "{\n%s\n} &" % s,
    "if": lambda s: "if [ -n \"$CI\" ]; then\n%s\nfi" % s,
    "else": lambda s: "if [ -f x ]; then :; else\n%s\nfi" % s,
    "for": lambda s: "for i_ in 1 2; do\n%s\ndone" % s,
    "case": lambda s: "case $1 in x)\n%s\n;; esac" % s,
    "a function": lambda s: "f_() {\n%s\n}\nf_ \"$@\"" % s,
    "a substitution": lambda s: "x_=$(\n%s\n)" % s,
    "behind set": lambda s: "set -euxo pipefail\n%s\necho done" % s,
    "sh -c": lambda s: "sh -c " + quote(s),
    "bash -c \"\"": lambda s: "bash -c " + double(s),
    "bash -c $''": lambda s: "bash -c " + ansi(s),
    "sh -c twice": lambda s: "bash -c " + quote("sh -c " + quote(s)),
    "timeout": lambda s: "timeout -k 5 60 bash -ec " + quote(s),
    "env": lambda s: "env A_=1 nice bash -c " + quote(s),
    "eval": lambda s: "eval " + quote(s),
    "a trap": lambda s: "trap %s EXIT" % quote(s),
    "a variable": lambda s: "c_=%s; bash -c \"$c_\"" % quote(s),
    "an exported one": lambda s: "export C_=%s; bash -c 'eval \"$C_\"'"
                                 % quote(s),
    "an array": lambda s: "a_=(%s x); eval \"${a_[0]}\"" % quote(s),
    "a map": lambda s: "declare -A m_=([k]=%s); eval \"${m_[k]}\"" % quote(s),
    "printf -v": lambda s: "printf -v c_ %%s %s; eval \"$c_\"" % quote(s),
    "bash <<": lambda s: raw("bash <<'SHAPE'", s, ""),
    "bash <<<": lambda s: "bash <<< " + quote(s),
    "a process's output": lambda s: "source <(echo %s)" % quote(s),
    "a script": lambda s: raw("cat > s.sh <<'SHAPE'", s, "bash s.sh"),
    "a program": lambda s: raw("tee s.sh <<'SHAPE' > /dev/null", s,
                               "chmod +x s.sh && ./s.sh"),
    "python -c": lambda s: "python3 -c " + quote(python(s)),
    "python <<": lambda s: raw("python3 - <<'SHAPE'", python(s), ""),
    "node": lambda s: "node -e " + quote(
        "require('child_process').execSync(%s)" % json.dumps(s)),
    "perl": lambda s: "perl -e " + quote(raw("my $c = <<'SHAPE';", s,
                                             "system($c);")),
    "ruby": lambda s: "ruby -e " + quote(raw("c = <<~'SHAPE'", s,
                                             "system(c)")),
    "PHP": lambda s: "php -r " + quote("$c = <<<'SHAPE'\n%s\nSHAPE;\n"
                                       "system($c);" % s),
}
# what is no longer the same line in that shape, and is judged for that
OTHERWISE = {
    # a child has no stdin to read a choice from but the text of its shell
    ("SB0370", "bash <<"), ("SB0370", "bash <<<"),
    # it edits every file, the program too
    ("SB0168", "a program"),
}


def lines(expected):
    for path in sorted(glob.glob(os.path.join(SRC, "tests/data/corpus",
                                              "*.jsonl"))):
        with open(path) as f:
            for row in map(json.loads, f):
                line = row.get("cmd", "\0") # or it is an argv
                if row["expect"] == expected and "\0" not in line:
                    yield row["id"], line


def look(expected, least):
    every = list(lines(expected))
    expect(len(every) >= least, "%d lines" % len(every))
    plain = decisions([line for _, line in every])
    every = [row for row, said in zip(every, plain)
             if said["verdict"] == expected]
    expect(len(every) >= least, "%d lines alone" % len(every))
    shaped = [(id, name, shape(line)) for id, line in every
              for name, shape in SHAPES.items()]
    # one of OTHERWISE that is judged alike is wrong as well: take it out
    wrong = ["%s in %s: %s (%s)\n%s" % (id, name, said["verdict"],
                                        said.get("rule"), text)
             for (id, name, text), said
             in zip(shaped, decisions([text for _, _, text in shaped]))
             if (said["verdict"] == expected) == ((id, name) in OTHERWISE)]
    expect(not wrong, "%d of %d\n%s" % (len(wrong), len(shaped),
                                        "\n\n".join(wrong[:20])))


@test
def a_line_that_is_denied_is_denied_in_every_shape():
    look("deny", 1100)


@test
def a_line_that_is_allowed_is_allowed_in_every_shape():
    look("allow", 540)


main()
