#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a program does, the guard has seen: made programs are run by bash, or as
python, with a harmless command, and none that would have harmed was allowed.
tests/long/sound.py goes through many more."""

import sound_dirs
import sound_files
import sound_python
from sound_lib import judge
from tool_lib import expect, main, test


def look(*programs, least=6):
    wrong, allowed, seen = judge(0, *programs)
    expect(not wrong, "\n\n".join(wrong))
    # or nothing was looked at
    expect(allowed > 100, "%d allowed" % allowed)
    expect(seen >= least, "%d harmful ones seen" % seen)


@test
def no_program_that_harms_is_allowed():
    look(4000)


@test
def no_program_that_harms_elsewhere_is_allowed():
    look(1500, sound_dirs.Maker, sound_dirs.Place)


@test
def no_file_that_harms_is_run():
    look(1500, sound_files.Maker, sound_files.Place, least=4)


@test
def no_program_of_python_that_harms_is_allowed():
    look(1500, sound_python.Maker, sound_python.Place, least=4)


main()
