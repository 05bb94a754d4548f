# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of python that remove something, by names that they made.

A grammar as that of sound_lib.py: @v is a variable, @w an expression, @c a
condition, @f a function, @t a text, @d a part of one, @b statements. They are
run here, with modules in place of os, shutil and subprocess that only write
down what they were given. Nothing but what is named here can be reached.
"""

import base64
import builtins
import codecs
import os
import pathlib
import posixpath
import re
import shlex
import signal
import string
import types

import sound_lib

TEXTS = ("ok", "ok", "zz", "x y", "1", "a", "", "/etc", "/zz", "etc/zz", "/",
         "ok:/etc/zz", "zz/cte/", "k", "build", "%s", "{}")
WORDS = (
    "'@t'", '"@t"', "'@t'", "@v", "@v", "@v", "@v", "(@v)",
    # put together
    "f'{@v}'", "f'/{@v}'", "f'{@v}/@t'", "'%s' % @v", "'%s/%s' % (@v, @w)",
    "'{}'.format(@v)", "'{0}{1}'.format(@v, @w)", "'{x}/zz'.format(x=@v)",
    "'/'.join([@w, @w])", "''.join(L)", "'/'.join(L)", "' '.join(L)",
    "@v + @w", "'/' + @v", "@v + '@t'", "@v.format(@w)", "@v % @w",
    "'%(k)s' % D", "f'{@v!s}'", "f'{@v:>3}'",
    "str.join('/', [@v, @w])", "@v.__add__(@w)", "chr(47) + @v",
    # made of a text
    "@v.replace('@e', '@d')", "@v.replace('o', '/')", "@v.strip('z')",
    "@v.lstrip('o')", "@v[1:]", "@v[:4]", "@v[::-1]", "@v.split('/')[0]",
    "@v.split(':')[-1]", "@v.rsplit(':', 1)[-1]", "@v.partition(':')[2]",
    "@v.lower()", "@v.upper().lower()", "@v.title()", "@v * 1",
    "''.join(reversed(@v))", "@v.zfill(3)", "@v.ljust(3)",
    "@v.encode().decode()", "b'@t'.decode()", "bytes([47]).decode() + @v",
    "repr(@v)[1:-1]", "base64.b64decode('L2V0Yy96eg==').decode()",
    "codecs.decode('/rgp/mm', 'rot13')",
    "string.Template('$x').substitute(x=@v)",
    # of lists and maps
    "L[0]", "L[-1]", "L[1]", "L[n]", "L.pop()", "D['k']", "D.get('k')",
    "D.get('z', @w)", "[@w, @w][0]", "[@w, @w][n]", "(@w, @w)[1]",
    "{'k': @w}['k']", "next(iter(L))", "sorted(L)[0]", "(@v, @w)[n]",
    "dict(k=@w)['k']", "list(D.values())[0]", "[x for x in L][0]",
    "[x + '/zz' for x in L][-1]", "L[:1][0]", "L[1:][0]", "(L + [@w])[-1]",
    "[*L, @w][-1]", "max(@v, @w)", "min(@v, @w, key=len)",
    # one of several, and what returns it
    "@v or @w", "(@w if @c else @w)", "str(@v)", "@f(@w)", "@f(@w, @w)",
    "@f(x=@w)", "(lambda x: x)(@w)", "(lambda: @v)()", "(a := @w)", "C.x",
    "C().y(@w)", "O.x", "getattr(O, 'x')", "globals()['@v']", "vars()['@v']",
    "eval('@v')", "os.environ.get('NONE', @w)",
    # paths
    "os.path.join(@v, @w)", "os.path.join('/', @v)", "os.path.dirname(@v)",
    "os.path.basename(@v)", "os.path.normpath(@v)", "os.sep + @v",
    "str(Path(@v) / @w)", "str(Path('/') / @v)", "str(Path(@v).parent)",
    "Path(@v).name", "Path(@v).as_posix()", "os.path.expandvars(@v)",
)
CONDITIONS = (
    "@v == @w", "@v", "not @v", "@v.startswith('/')", "len(@v) > 2", "n",
    "True", "False", "'@t' in @v", "@v in L", "@v != '@t'", "len(L) > 1",
    "'k' in D", "os.path.exists('none')", "isinstance(@v, str)", "n == 1",
)
HITS = (
    "shutil.rmtree(@w)", "shutil.rmtree(@w)", "shutil.rmtree(path=@w)",
    "shutil.rmtree(@w, ignore_errors=True)", "shutil.rmtree(*[@w])",
    "shutil.rmtree(**{'path': @w})", "getattr(shutil, 'rmtree')(@w)",
    "rm = shutil.rmtree\nrm(@w)", "from shutil import rmtree\nrmtree(@w)",
    "shutil.rmtree(Path(@w))", "shutil.rmtree(Path(@w) / @w)",
    "os.system('rm -rf ' + @w)", "os.system(f'rm -rf {@v}')",
    "os.system('rm -rf %s' % @v)", "os.system('rm -rf {}'.format(@v))",
    "os.system(' '.join(['rm', '-rf', @w]))", "os.popen('rm -rf ' + @w)",
    "cmd = 'rm -rf '\ncmd += @w\nos.system(cmd)",
    "cmd = f'rm -rf {@v}'\nos.system(cmd)",
    "subprocess.run(['rm', '-rf', @w])", "subprocess.run(['rm', '-rf', *L])",
    "subprocess.run(['rm', '-rf'] + L)", "subprocess.Popen(['rm', '-rf', @w])",
    "subprocess.run(f'rm -rf {@v}', shell=True)",
    "subprocess.run('rm -rf ' + @w, shell=True)",
    "subprocess.run(args=['rm', '-rf', @w])",
    "subprocess.run(shlex.split('rm -rf ' + @w))",
    "subprocess.run(('rm -rf ' + @w).split())",
    "subprocess.run(['sh', '-c', 'rm -rf ' + @w])",
    "subprocess.call(['rm', '-rf', *[@w, @w]])",
    "p = subprocess.run\np(['rm', '-rf', @w])",
    "from subprocess import run as r\nr(['rm', '-rf', @w])",
    "cmd = ['rm', '-rf']\ncmd.append(@w)\nsubprocess.run(cmd)",
    "cmd = ['rm', '-rf']\ncmd += [@w]\nsubprocess.run(cmd)",
    "cmd = ['rm']\ncmd.extend(['-rf', @w])\nsubprocess.run(cmd)",
    "os.execvp('rm', ['rm', '-rf', @w])",
    "for p in L:\n    shutil.rmtree(p)", "[shutil.rmtree(p) for p in L]",
    "list(map(shutil.rmtree, L))", "for p in L + [@w]:\n    g(p)",
    "for p in [@w, @w]:\n    shutil.rmtree(p)",
    "for i in range(len(L)):\n    shutil.rmtree(L[i])",
    "for i, p in enumerate(L):\n    shutil.rmtree(p)",
    "for k, p in D.items():\n    shutil.rmtree(p)",
    "while L:\n    shutil.rmtree(L.pop())", "g(@w)", "g(@w)", "O.rm(@w)",
    "C().rm(@w)", "try:\n    shutil.rmtree(@w)\nexcept Exception:\n    pass",
    "exec('shutil.rmtree(' + repr(@w) + ')')", "eval('shutil.rmtree(@v)')",
)
PLAIN = (
    "@v = @w", "@v = @w", "@v = @w", "@v = @w", "@v = @w", "@v += @w",
    "@v, @v = @w, @w", "@v = @v = @w", "(@v, n) = (@w, 1)", "@v: str = @w",
    "[@v, @v] = [@w, @w]", "@v, *L = [@w, @w]", "*L, @v = [@w, @w]",
    "@v = @w; @v = @w", "if @c: @v = @w", "n = 1", "n = 0", "n += 1",
    "L = [@w, @w]", "L = [@w]", "L.append(@w)", "L.insert(0, @w)",
    "L[0] = @w", "L[-1] += @w", "L[1:] = [@w]", "L += [@w]",
    "L.extend([@w, @w])", "L = L[::-1]", "L.reverse()", "L.sort()",
    "L = [x for x in L if x]", "L = [@d + x for x in L]",
    "L = list(map(str, L))", "L = '@t @t'.split()", "L = @v.split(':')",
    "L = L + [@w]", "L = list(D.values())", "L.clear()\nL.append(@w)",
    "D = {'k': @w}", "D['k'] = @w", "D.update(k=@w)", "D.update({'k': @w})",
    "D.setdefault('k', @w)", "D = dict(zip(['k'], [@w]))",
    "D = {**D, 'k': @w}", "D['k'] += @w", "O.x = @w", "setattr(O, 'x', @w)",
    "C.x = @w", "O.__dict__['x'] = @w", "globals()['@v'] = @w",
    "exec('@v = \"@d\"')", "global_()", "@v = @f(@w)", "@f(@w)", "print(@w)",
    "os.environ['NONE'] = @w",
)
NESTED = (
    "if @c:\n@b", "if @c:\n@b\nelse:\n@b", "for @v in [@w, @w]:\n@b",
    "for @v in L:\n@b", "for @v in (@w, @w):\n@b\n    break",
    "for @v in '@t'.split(':'):\n@b", "while n < 2:\n    n += 1\n@b",
    "try:\n@b\nexcept Exception:\n@b", "try:\n@b\nfinally:\n@b",
    "for i in range(2):\n@b", "for @v, n in [(@w, 1)]:\n@b",
    "for @v in sorted([@w, @w]):\n@b", "while True:\n@b\n    break",
    "for @v in map(str, [@w]):\n@b", "with O:\n@b",
    "for @v in [x for x in [@w, @w] if x]:\n@b",
    "try:\n    raise ValueError(@w)\nexcept ValueError as e:\n"
    "    @v = str(e)\n@b",
)
FUNCTIONS = (
    "def @f(x='@t', y='@t'):\n    return x",
    "def @f(x='@t', y='@t'):\n    return y",
    "def @f(x='@t', y='@d'):\n    return x + y",
    "def @f(x='@t', *y):\n    return x", "def @f(x='@t', **y):\n    return x",
    "def @f(x='@t', y=None):\n    x = y or x\n    return x",
    "def @f(x='@t', y=''):\n    global @v\n    @v = x\n    return x",
    "def @f(x='@t', y=''):\n    L.append(x)\n    return x",
    "def @f(x='@t', y=''):\n    if @c:\n        return @w\n    return x",
    "def @f(x='@t', y=''):\n    return os.path.join('/', x)",
    "@f = lambda x='@t', y='': x", "@f = lambda x='@t', y='@d': y + x",
    "def @f(x='@t', y=''):\n    def h():\n        return @w\n    return h()",
    "def @f(x='@t', y=''):\n    @v = x\n    return @v",
    "def g(x):\n    shutil.rmtree(x)", "def g(x):\n    shutil.rmtree(@w)",
    "def g(x, y='@d'):\n    subprocess.run(['rm', '-rf', x])",
    "def g(x):\n    os.system('rm -rf ' + x)",
)
HEAD = """\
import os, shutil, subprocess, shlex, base64, codecs, string
from pathlib import Path
a = b = c = d = 'ok'
n = 0
L = ['ok']
D = {'k': 'ok'}
class C:
    x = 'ok'
    def y(self, x):
        return x
    def rm(self, x):
        shutil.rmtree(x)
    def __enter__(self):
        return self
    def __exit__(self, *x):
        pass
O = C()
def f0(x='ok', y=''):
    return x
f1 = f0
def g(x):
    shutil.rmtree(x)
def global_():
    global a
    a = b
"""
TAIL = "PYTHON\n"
HARM = re.compile(r"/+(etc(/.*)?)?$")


class Maker(sound_lib.Maker):
    def part(self, kind):
        if kind == "w":
            return self.fill(self.pick(*(WORDS if self.depth < 4
                                         else WORDS[:8])))
        if kind == "t":
            return "/etc/zz" if self.random.random() < self.harm \
                else self.pick(*TEXTS)
        if kind == "d":
            return "/etc/zz" if self.random.random() < 2 * self.harm \
                else self.pick("ok", "zz", "x", "/et", "o")
        if kind == "e":
            return self.pick("ok", "o", "zz", "x", "/")
        if kind == "c":
            return self.fill(self.pick(*CONDITIONS))
        if kind == "f":
            return self.pick("f0", "f1")
        if kind == "b":
            return "\n".join("    " + line for line in
                             "\n".join(self.some(2, "s")).split("\n"))
        return super().part(kind)

    def statement(self):
        kind = self.random.random()
        if kind < .14 and self.hits:
            self.hits -= 1
            return self.fill(self.pick(*HITS))
        if kind < .2 and self.depth < 2:
            return self.fill(self.pick(*FUNCTIONS))
        if kind < .36 and self.depth < 5:
            return self.fill(self.pick(*NESTED))
        return self.fill(self.pick(*PLAIN))

    def text(self):
        lines = [self.statement() for _ in range(self.random.randrange(6))]
        lines.append(self.fill(self.pick(*HITS)))
        return HEAD + "\n".join(lines) + "\n"

    def program(self):
        while True:
            text = self.text()
            try:
                compile(text, "made", "exec")
            except SyntaxError:
                continue  # (a := x) stands not everywhere
            return "python3 - <<'PYTHON'\n" + text + TAIL


class Stop(BaseException):
    """No program catches it."""


def stop(*_):
    raise Stop


class Place:
    """Where they run: what they import, and what their commands were."""

    def __init__(self):
        self.log = []
        signal.signal(signal.SIGVTALRM, stop)

    def command(self, words, **options):
        if isinstance(words, (list, tuple)):
            words = [os.fspath(word) for word in words]
            if options.get("shell"):
                words = words[0]
            elif words[:2] == ["sh", "-c"]:
                words = words[2]
        if isinstance(words, str):
            words = shlex.split(words)
        self.log.append(words)
        return types.SimpleNamespace(returncode=0, stdout="")

    def run(self, args, **options):
        return self.command(args, **options)

    def execute(self, _, words):
        self.command(words)
        raise Stop

    def remove(self, path, *_, **__):
        self.log.append(["rm", os.fspath(path)])

    def modules(self):
        run = self.run
        return {
            "os": types.SimpleNamespace(
                sep="/", path=posixpath, fspath=os.fspath,
                environ={"HOME": "/home/u"}, system=self.command,
                popen=self.command, execvp=self.execute),
            "shutil": types.SimpleNamespace(rmtree=self.remove),
            "subprocess": types.SimpleNamespace(run=run, call=run, Popen=run),
            "shlex": shlex, "base64": base64, "codecs": codecs,
            "string": string, "pathlib": pathlib,
        }

    def harms(self, program):
        text = program[program.index("\n") + 1:-len(TAIL)]
        modules, names = self.modules(), dict(vars(builtins))
        names.update(print=lambda *_: None, open=None,
                     __import__=lambda name, *_: modules[name])
        self.log.clear()
        code = compile(text, "made", "exec")
        # of its own time, however busy the machine is: some have no end
        signal.setitimer(signal.ITIMER_VIRTUAL, .5)
        try:
            exec(code, {"__builtins__": names, "__name__": "__main__"})
        except (Exception, Stop):
            pass  # what it did up to there counts
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return any(words and words[0] == "rm" and
                   any(HARM.match(posixpath.normpath(word)) for word in
                       words[1:] if word) for words in self.log)
