#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tests/e2e/shell_sound.py with other programs, for some minutes: SOUND_FROM
(10000) and on, SOUND_PROGRAMS (60000) of them."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "e2e"))
import sound_dirs
import sound_files
from sound_lib import judge
from tool_lib import expect, main, test

FROM = int(os.environ.get("SOUND_FROM", "10000"))
COUNT = int(os.environ.get("SOUND_PROGRAMS", "60000"))


def look(*kind):
    wrong, allowed, seen = judge(FROM, COUNT, *kind)
    print("# %d of %d allowed, %d that harm among some others" %
          (allowed, COUNT, seen))
    expect(not wrong, "\n\n".join(wrong))
    expect(allowed > COUNT / 50 and seen, "%d, %d" % (allowed, seen))


@test
def no_program_that_harms_is_allowed():
    look()


@test
def no_program_that_harms_elsewhere_is_allowed():
    look(sound_dirs.Maker, sound_dirs.Place)


@test
def no_file_that_harms_is_run():
    look(sound_files.Maker, sound_files.Place)


main()
