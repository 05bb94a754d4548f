# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a test that failed has said of it: its own lines among those of all its
cases, the failures first. A log may be cut to its first or its last lines; the
end of a program's output is that of other cases.

The programs of tests/e2e say what is wrong before they say "not ok", as
comments that are set in; whatever says it after that begins with "# ".
"""

import re

RESULT = re.compile(r"(not )?ok\b|1\.\.\d")
BAD = re.compile(r"not ok\b\s*\d*\s*(?:-\s*)?(.*?)\s*$")
SKIPPED = re.compile(r"#\s*skip\b", re.I)
# tests/e2e/case.c: "#   file.c:12: ...", or how it ended
CHECK = re.compile(r"#   (\S+\.\w+:\d+: |ended by signal|out of time)")
PLACE = re.compile(r'\s*File "(?:.*/)?([^"/]+)", line (\d+)')
MOST_LETTERS = 400
MOST_CHECKS = 40
AT_THE_END = 20


class Case:
    """One that failed: its name, and what stands before and after that."""

    def __init__(self, name, before, after):
        says_after = after and after[0].startswith("#") and \
            not after[0].startswith("#   ")
        self.name = name
        # what else comes after it is the next one's
        self.after = []
        while says_after and len(self.after) < len(after) and \
                after[len(self.after)].startswith("#"):
            self.after.append(after[len(self.after)])
        self.lines = before or after

    def checks(self):
        """Each with the line before it, which says what was tried."""
        if self.after:
            return self.after
        out = []
        for i, line in enumerate(self.lines):
            if CHECK.match(line):
                if i and not CHECK.match(self.lines[i - 1]):
                    out.append(self.lines[i - 1])
                out.append(line)
        return out

    def message(self):
        """One line."""
        lines = self.after or self.lines
        for line in lines:
            if CHECK.match(line):
                return short(line)
        return of_traceback(lines) or \
            short(next((l for l in lines if l.strip("# ")), ""))


def short(line):
    return line.lstrip("# ").rstrip()[:MOST_LETTERS]


def of_traceback(lines):
    """Python's: the exception's first line and where it was raised."""
    place = None
    said = None
    for line in (re.sub(r"^#( |$)", "", l) for l in lines):
        m = PLACE.match(line)
        if line.startswith("Traceback ("):
            place, said = "", None
        elif m and place is not None:
            place = "%s:%s: " % m.groups()
        elif place is not None and not said and line[:1].strip():
            said = (place + line)[:MOST_LETTERS]
    return said


def failed_cases(lines):
    out = []
    begin = 0
    for i, line in enumerate(lines):
        if not RESULT.match(line):
            continue
        m = BAD.match(line)
        if m and not SKIPPED.search(line):
            end = i + 1
            while end < len(lines) and not RESULT.match(lines[end]):
                end += 1
            out.append(Case(m.group(1), lines[begin:i], lines[i + 1:end]))
        begin = i + 1
    return out


def last_line(lines):
    return short(next((l for l in reversed(lines) if l.strip()), ""))


def messages(lines):
    """By the name of the case; of two with one name both are there."""
    out = {}
    for case in failed_cases(lines):
        out.setdefault(case.name, []).append(case.message())
    return out


def arrange(lines, most):
    """What to print of a test that failed: at most about twice `most` lines,
    or all of it where that is little."""
    plain = [l for l in lines if not l.startswith("ok ")]
    cases = failed_cases(lines)
    if not cases or len(plain) <= AT_THE_END:
        return plain[-most:]
    out = []
    for case in cases:
        out.append("not ok - " + case.name)
        out += case.checks()[:MOST_CHECKS]
    for case in cases:
        if len(out) < most:
            out += ["--- before %s:" % case.name] + case.lines[-most:]
    return out[:2 * most] + ["--- the end of the whole output:"] + \
        plain[-AT_THE_END:]
