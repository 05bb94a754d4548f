# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the meta tests share: TAP, where things are, running a command.

A meta test judges the tree, not the code's behaviour. Each first feeds its
own check a mutant that must be refused, so that a check that has stopped
checking shows as a failure.
"""

import os
import re
import subprocess
import sys

SRC = os.environ.get("AB_TEST_SRCDIR") or os.path.abspath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("AB_TEST_BUILDDIR") or os.path.join(SRC, "build")
STAGE = os.environ.get("AB_TEST_STAGE") or os.path.join(BUILD, "stage")
LIBDIR = os.environ.get("AB_TEST_STAGE_LIBDIR") or STAGE + "/usr/local/lib"
SONAME = "libagentbox.so.1"
SANITIZED = os.environ.get("AB_TEST_SANITIZED", "").strip()

# DESIGN.md section 3: a room includes only itself and rooms above it.
ROOMS = ("base wire path net policy audit store shell guard scope mcp "
         "snapshot walls gateway shield sandbox owner peering verify fleet team "
         "worktree").split()


class Tap:
    def __init__(self):
        self.count = 0
        self.bad = 0

    def check(self, name, problems):
        """`problems`: a list of lines, empty when all is well."""
        self.count += 1
        if problems:
            self.bad += 1
        print("%sok %d - %s" % ("not " if problems else "", self.count, name))
        for line in list(problems)[:60]:
            print("# " + str(line))
        sys.stdout.flush()

    def refuses(self, name, problems):
        """The mutant must have been found."""
        self.check("mutant: " + name,
                   [] if problems else ["the check did not notice it"])

    def accepts(self, name, problems):
        self.check("sound input: " + name, problems)

    def skip(self, name, reason):
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, name, reason))

    def done(self):
        print("1..%d" % self.count)
        sys.exit(1 if self.bad else 0)


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def run(argv, **kw):
    kw.setdefault("stdout", subprocess.PIPE)
    kw.setdefault("stderr", subprocess.STDOUT)
    kw.setdefault("stdin", subprocess.DEVNULL)
    p = subprocess.run(argv, text=True, **kw)
    return p.returncode, p.stdout or ""


def have(program):
    return any(os.access(os.path.join(d, program), os.X_OK)
               for d in os.environ.get("PATH", "/usr/bin").split(":"))


def tmp():
    return os.environ.get("TMPDIR", "/tmp")


def write(name, text):
    path = os.path.join(tmp(), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def headers():
    where = os.path.join(SRC, "include", "agentbox")
    return sorted(os.path.join(where, n) for n in os.listdir(where)
                  if n.endswith(".h"))


def strip_comments(text):
    """C text without comments and string contents, lines kept."""
    def blank(m):
        s = m.group(0)
        if s.startswith("/"):
            return re.sub(r"[^\n]", " ", s)
        return s[0] + s[0]
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'
                  r"'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)


def declared(text):
    """Functions declared with AGENTBOX_API in a public header's text."""
    code = re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "",
                  strip_comments(text))
    return set(re.findall(r"AGENTBOX_API\b[^;{}()]*?\b(\w+)\s*\(", code))


def functions(text):
    """Every agentbox_* function declared at all, decorated or not."""
    code = re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "",
                  strip_comments(text))
    code = re.sub(r"\btypedef\b[^;]*;", ";", code)
    return set(re.findall(r"\b(agentbox_\w+)\s*\(", code))


def differences(a, a_name, b, b_name):
    return (["%s: in %s, not in %s" % (n, a_name, b_name)
             for n in sorted(a - b)] +
            ["%s: in %s, not in %s" % (n, b_name, a_name)
             for n in sorted(b - a)])


def mapped(text):
    """Names a version script makes global; anything but names is refused."""
    names = set()
    text = re.sub(r"/\*.*?\*/|#[^\n]*", "", text, flags=re.S)
    for node in re.findall(r"\{(.*?)\}", text, flags=re.S):
        for section in re.findall(r"global:(.*?)(?=local:|$)", node,
                                  flags=re.S):
            names |= {n.strip() for n in section.split(";") if n.strip()}
    return names


def exported(path):
    rc, out = run(["nm", "-D", "--defined-only", path])
    if rc:
        raise SystemExit("nm failed: " + out)
    names = set()
    for line in out.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] != "A":
            names.add(fields[2].split("@")[0])
    return names
