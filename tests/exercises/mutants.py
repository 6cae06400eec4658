"""Answers that are wrong in one small way: what one slip turns a line of a solution into."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

#: A slip: what stands in the line, and what the reader writes instead. None has a loop run for ever
#: that ended before: a check may take long to give up on it.
SLIPS = (
    (r"<=", "<"),
    (r">=", ">"),
    (r"(?<=[\w\])]) (<|>) ", r" \1= "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" \+ 1\b", ""),
    (r" - 1\b", ""),
    (r"\b0xFFFFFFFF\b|\bFULL_MASK\b", "0x0000FFFF"),
    (r"\bsyncthreads\b", "syncwarp"),
    (r"\bgrid\.sync\b", "cuda.syncthreads"),
    (r"\b32\b", "31"),
    (r"\b16\b", "8"),
    (r"\b64\b", "32"),
    (r"= 0$", "= 1"),
    (r", -1, ", ", 0, "),
    (r"\batomic\.max\b", "atomic.exch"),
    (r" % ", " // "),
    (r"\blane\b(?= \+|,)", "0"),
    (r" and ", " or "),
    (r" & ", " | "),
    (r"\bmin\(", "max("),
    (r" - (?!1\b)", " + "),
    (r" \+ (?!1\b)", " - "),
)
#: Slips that may have a loop run for ever: its condition widened, its step undone.
ENDLESS = re.compile(r"^\s*(while .* ([<>]=|or) |first = middle$|slot = \(slot(\)|.*\|))")
#: Statements that may be forgotten without a loop that never ends.
FORGOTTEN = re.compile(
    r"^\s*(cuda\.sync\w+\(\)|grid\.sync\(\)|begin \+= .*|\w+\[.*\] \+?= .*|queue_append.*|return)$"
)


def mutants(skeleton: str, solution: str) -> Iterator[tuple[str, str]]:
    """Yield a description and the text of each mutant of the lines that the solution adds."""
    lines = solution.splitlines()
    for at in _added(skeleton.splitlines(), lines):
        for slip in _slips(lines[at]):
            text = "\n".join([*lines[:at], *slip, *lines[at + 1 :]]) + "\n"
            yield f"{lines[at].strip()} -> {' '.join(slip).strip() or 'nothing'}", text


def _added(before: list[str], after: list[str]) -> list[int]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    spans = [(start, end) for tag, _, _, start, end in matcher.get_opcodes() if tag == "insert"]
    return [at for start, end in spans for at in range(start, end)]


def _slips(line: str) -> Iterator[list[str]]:
    for pattern, instead in SLIPS:
        for match in re.finditer(pattern, line):
            changed = line[: match.start()] + match.expand(instead) + line[match.end() :]
            if changed != line and not ENDLESS.match(changed):
                yield [changed]
    if FORGOTTEN.match(line):
        yield [line[: len(line) - len(line.lstrip())] + "pass"]
