"""How hard an exercise is, and about how long it takes: judged by its author, and estimated.

The level is a judgment, by the sentences of `LEVELS`. The minutes are an estimate; no class has
been timed. Reading takes a minute for 100 words or four lines of source. A number to predict takes
three minutes. To find a bug, or to plan a kernel and bring it within its budget, takes ten minutes,
and two more per line of the reference solution that the skeleton lacks. Lines left out of a kernel
that the chapter has printed take two minutes, and one more per line, but no time to read the kernel
again. The work is multiplied by the pace of the level, and the sum is rounded up to five minutes.
"""

from __future__ import annotations

import math

#: The meaning of each level, easiest first.
LEVELS = {
    "easy": "one rule of the chapter is applied, and its figures or kernels show how",
    "medium": "two ideas of the chapter meet, or an argument takes several steps",
    "hard": "the chapter shows no kernel like it, or the order of warps has to be thought through",
}
#: How much longer the same work takes at a level.
PACE = {"easy": 1.0, "medium": 1.5, "hard": 2.0}
#: Kinds of work.
PREDICT, COMPLETE, FIND, WRITE, OPEN = (
    "predict", "complete lines", "find the bug", "write a kernel", "open",
)  # fmt: skip
#: Minutes are given in steps of this many.
STEP = 5


def minutes_of(kind: str, level: str, statement: str, source: str, asked: int) -> int:
    """Return about how many minutes an exercise takes: `statement` and `source` are to be read.

    `asked` counts numbers to predict, or lines that the reference solution adds.
    """
    reading = len(statement.split()) / 100
    if kind != COMPLETE:
        reading += len(source.splitlines()) / 4
    doing = {PREDICT: 3 * asked, COMPLETE: 2 + asked}.get(kind, 10 + 2 * asked)
    return STEP * math.ceil((reading + PACE[level] * doing) / STEP)


def in_words(kind: str, level: str, minutes: int) -> str:
    """Return kind, level and minutes as words: "Predict, easy, about 15 minutes"."""
    return f"{kind.capitalize()}, {level}, about {minutes} minutes"
