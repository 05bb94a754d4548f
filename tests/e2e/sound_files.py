# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that write files, change them and run or read them.

A grammar as that of sound_lib.py: @F is a file of the directory, @f one of
them by its plain name, @l a line of a script, @d a text, @e a part of one.
Nothing is written but those files, and no line of a script writes any.
"""

import sound_lib

FILES = ("t1", "t2", "t3", "t1", "t2", "./t1", '"$PWD/t2"', "d/t1", '"$v"')
LINES = ("HIT @d", "HIT @d", "HIT @d", "echo @d", "a=@d", "HIT $a", 'HIT "$1"',
         "HIT @d # x", "x=1; HIT @d", "@d", "HIT @d && echo", "# HIT @d",
         "echo HIT @d", "if true; then HIT @d; fi", "f0() { HIT @d; }", "f0",
         "HIT \\", "exit", "t=@d", "HIT $t")
WRITES = (
    "echo '@l' > @F", "echo '@l' >> @F", "printf '%s\\n' '@l' '@l' > @F",
    "printf '%s\\n' '@l' >> @F", "cat > @F <<'E'\n@l\n@l\nE",
    "cat > @F <<E\n@l\n@l\nE", "cat >> @F <<'E'\n@l\nE", "tee @F <<< '@l'",
    "echo '@l' | tee @F", "echo '@l' | tee -a @F", "echo '@l' | cat > @F",
    "{ echo '@l'; echo '@l'; } > @F", "{ date; echo '@l'; } | tee @F",
    "(echo '@l') >> @F", "for i in 1 2; do echo '@l'; done > @F",
    "for i in 1 2; do echo '@l'; done | cat > @F", "echo -n '@l ' > @F",
    "printf 'HIT %s\\n' @d @d > @F", "echo @d >> @F", "cat <<< '@l' > @F",
    "exec 3> @F; echo '@l' >&3; exec 3>&-", "a=@d; echo \"HIT $a\" > @F",
    "echo '@l' | sed s/ok/@e/ > @F", "echo '@l' | tr o O > @F",
    "echo '@l' | dd of=@F oflag=append conv=notrunc")
CHANGES = (
    "sed -i 's,ok,@d,' @F", "sed -i 's/@e/@e/' @F", "sed -i 1d @F",
    "sed 's,ok,@d,' @F > @F", "sed -i '1i @l' @F", "sed -i 's/^/HIT /' @F",
    "sed -i 's/# *//' @F", "sed -n 1p @F > @F", "cp @F @F", "cp -n @F @F",
    "mv @F @F", "ln -s @F @F", "ln -sf @F @F", "ln @F @F", "cat @F @F > @F",
    "cat @F >> @F", "head -n1 @F > @F", "tail -n1 @F > @F",
    "grep HIT @F > @F", "grep -v HIT @F > @F", "sort @F > @F", "tac @F > @F",
    "tr o O < @F > @F", "cut -d' ' -f1 @F > @F", "cut -d' ' -f2 @F > @F",
    "rev @F > @F", "base64 @F > @F", "base64 -d @F > @F", "dd if=@F of=@F",
    "install @F @F", "truncate -s 0 @F", ": > @F", "rm -f @F", "mkdir -p d",
    "cp @F d/", "mv @F d/t1", "paste -d' ' @F @F > @F", "touch @F",
    "cp @F @F.bak", "mv @F.bak @F", "xargs echo < @F > @F",
    "awk '{print $2}' @F > @F", "sort -u @F -o @F", "cat @F | tee @F",
    "while read -r l; do echo \"$l\"; done < @F > @F",
    "while read -r l; do echo \"HIT $l\"; done < @F >> d/t1", "v=@f", "a=@d",
    "a=@d", "set -C", "chmod 400 @F", "read -r a < @F", "read -r a _ < @F",
    "set -- @d", "chmod +x @F", "cp -t d @F")
RUNS = (
    "sh @F", "bash @F", ". ./@f", "source ./@f", "chmod +x @f; ./@f",
    "bash < @F", "cat @F | sh", 'sh -c "$(cat @F)"', 'eval "$(cat @F)"',
    'eval "$(<@F)"', "env sh @F", "bash -c '. ./@f'", "xargs -a @F HIT",
    "xargs HIT < @F", "cat @F | xargs HIT", "HIT $(cat @F)", 'HIT "$(cat @F)"',
    'while read -r l; do HIT "$l"; done < @F', "HIT $(<@F)", "HIT $a",
    "while read -r x y; do HIT $y; done < @F",
    'while read -r l; do eval "$l"; done < @F', "(sh @F)", "bash -s @d < @F",
    "sh @F @d", ". ./@f @d", "find . -name 't*' -exec sh {} \\;",
    "trap 'sh @F' EXIT", "cat @F @F | sh", "head -n1 @F | sh",
    "sed 's,ok,@d,' @F | bash", "grep HIT @F | sh", "source <(cat @F)",
    "for f in t*; do sh $f; done", 'mapfile -t A < @F; HIT "${A[@@]}"',
    'read -r a < @F; HIT "$a"', 'read -r _ a < @F; HIT "$a"',
    "exec 4< @F; read -r a <&4; HIT $a", "HIT $(cut -d' ' -f2 @F)",
    "HIT $(head -n1 @F)", "cp @F s; sh s", 'sh "$v"', "xargs -n1 HIT < @F",
    "xargs -I{} sh -c '{}' < @F", "echo @F | xargs cat | sh",
    "awk '{print $2}' @F | xargs HIT", "sort @F | xargs HIT")
NESTED = (
    "if true; then\n@b\nfi", "if [ -e @F ]; then\n@b\nfi", "(\n@b\n)",
    "for i in 1 2; do\n@b\ndone", "{\n@b\n}", "f0() {\n@b\n}\nf0",
    "bash -c '\n@q\n'", "true && {\n@b\n}", "false || {\n@b\n}",
    "if [ -s @F ]; then\n@b\nelse\n@b\nfi", "trap '\n@q\n' EXIT",
    "while read -r v; do\n@b\ndone <<< @f", "for v in t1 t2; do\n@b\ndone",
    "for a in ok @d; do\n@b\ndone")
TOOLS = ("sed tr head tail cp mv ln tee grep awk rev base64 dd install rm "
         "mkdir chmod touch sort cut paste tac find truncate date").split()


class Maker(sound_lib.Maker):
    def __init__(self, seed):
        super().__init__(seed)
        # much of what is written is never run
        self.harm *= 2

    def part(self, kind):
        if kind == "F":
            return self.fill(self.pick(*FILES))
        if kind == "f":
            return self.pick("t1", "t2", "t3")
        if kind == "l":
            return self.fill(self.pick(*LINES))
        if kind == "e":
            return self.pick("o", "ok", "zz", "x", "#", "k", "a")
        if kind == "d":
            return "/etc/zz" if self.random.random() < self.harm \
                else self.pick("ok", "ok", "zz", "x", "ok zz")
        return super().part(kind)

    def statement(self):
        kind = self.random.random()
        if kind < .07 and self.depth < 5:
            return self.fill(self.pick(*NESTED))
        return self.fill(self.pick(*(WRITES if kind < .55 else
                                     CHANGES if kind < .8 else RUNS)))

    def program(self):
        lines = [self.statement()
                 for _ in range(3 + self.random.randrange(7))]
        return "\n".join(lines + [self.fill(self.pick(*RUNS))]) + "\n"


class Place(sound_lib.Place):
    PROGRAMS = sound_lib.Place.PROGRAMS + TOOLS
