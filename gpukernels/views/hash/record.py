"""The steps of a hash64 filter, read from a trace: words stored, words read back, verdicts.

The trace has each word (the vertex in the upper half, the thread in the lower) and its slot;
nothing is computed again. A lane's verdict compares the word that it read with the word that it had
stored ([busato2015bfs4k], section 6, Fig. 11). A duplicate is missed if a lane keeps a vertex that
a thread has kept before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpukernels.checks import check_name_or_none, check_whole_or_none
from gpukernels.errors import InvalidArgument
from gpukernels.trace import LOAD, Trace
from gpukernels.views.places import check_place

#: Kinds of steps: a store that is read back, the reading back, and a store that never is.
STORES, READS, FILLS = 0, 1, 2
#: Verdicts on a word: its own, the same vertex by another thread, another vertex, never read back.
VALID, DUPLICATE, CONFLICT, UNREAD = 0, 1, 2, 3
#: Whether a kept vertex had been kept before: no, by a thread of the block, of another block only.
FIRST, AGAIN, ELSEWHERE = 0, 1, 2
#: Tables of more slots are shown as far as they are in use.
ALL_SHOWN = 512
#: A trace keeps words as float64, exact up to here: vertices below 2**21.
LARGEST_WORD = 2**53


@dataclass
class Word:
    """One word that one lane stored.

    Attributes
    ----------
    lane, slot, vertex, thread : int
        Lane and slot of the store, and the two halves of the word; lane -1 for a fill's word that
        a lane read.
    stored : int
        The step that stored it.
    verdict : int
        VALID, DUPLICATE, CONFLICT or UNREAD.
    seen : int
        The word that its lane read back, as an index into ``HashRecord.words``; -1 if none.
    kept : int
        FIRST, AGAIN or ELSEWHERE; FIRST also where the vertex was not kept.
    before : int
        The word by which the vertex had been kept before; -1 if none.
    """

    lane: int
    slot: int
    vertex: int
    thread: int
    stored: int
    verdict: int = UNREAD
    seen: int = -1
    kept: int = FIRST
    before: int = -1


@dataclass(frozen=True)
class HashStep:
    """One request of a warp to the table, or all those with which a block fills it.

    `words` are those that its lanes stored, by lane; `cleared` the slots that a fill wrote.
    """

    kind: int
    block: int
    warp: int
    line: int
    text: str
    words: list[int]
    cleared: list[int]


@dataclass(frozen=True)
class HashRecord:
    """The steps of a filter in one launch, its blocks one after another.

    Attributes
    ----------
    kernel : str
        The launched kernel.
    array : str
        Name of the table; with a slice where not all of it is shown.
    slots : int
        Slots shown: all, or of a long table as many as are in use.
    steps : list of HashStep
        In order of execution within each block.
    words : list of Word
        In order of storing.
    left_out : int
        Steps beyond the limit.
    """

    kernel: str
    array: str
    slots: int
    steps: list[HashStep]
    words: list[Word]
    left_out: int

    @property
    def blocks(self) -> list[int]:
        """The blocks that have steps, ascending."""
        return sorted({step.block for step in self.steps})

    @property
    def warps(self) -> int:
        """Number of warps of a block, up to the last that has steps."""
        return max(step.warp for step in self.steps) + 1

    def table(self, step: int) -> dict[int, int]:
        """Return the word in each slot of the block's table after `step`."""
        held = {}
        for k in range(step + 1):
            if self.steps[k].kind != READS and self.steps[k].block == self.steps[step].block:
                held |= {self.words[i].slot: i for i in self.steps[k].words}
                for slot in self.steps[k].cleared:
                    held.pop(slot, None)
        return held

    def read_back(self, step: int) -> set[int]:
        """Return the words that were read back up to and including `step`."""
        return {i for s in self.steps[: step + 1] if s.kind == READS for i in s.words}

    def several(self) -> dict[int, list[int]]:
        """Return the words of each vertex that was stored more than once, vertices ascending."""
        words_by_vertex: dict[int, list[int]] = {}
        for i, word in enumerate(self.words):
            if word.verdict != UNREAD:
                words_by_vertex.setdefault(word.vertex, []).append(i)
        return {v: words for v, words in sorted(words_by_vertex.items()) if len(words) > 1}

    def sharing(self) -> set[int]:
        """Return the vertices that were stored to a slot which another of their block had too."""
        held: dict[tuple[int, int], set[int]] = {}
        for word in self.words:
            if word.verdict != UNREAD:
                held.setdefault((self.steps[word.stored].block, word.slot), set()).add(word.vertex)
        return {v for vertices in held.values() if len(vertices) > 1 for v in vertices}

    def outcome(self, vertex: int) -> tuple[int, int, int, int]:
        """Count words of `vertex`: stored, dropped, kept again, kept as in another block."""
        mine = [w for w in self.words if w.vertex == vertex and w.verdict != UNREAD]
        return (
            len(mine),
            sum(w.verdict == DUPLICATE for w in mine),
            *(sum(w.kept == k for w in mine) for k in (AGAIN, ELSEWHERE)),
        )


def read_hash(
    trace: Trace, launch: int | None, block: int | None, array: str, limit: int, name: str
) -> HashRecord:
    """Read the filter's steps in one launch.

    Parameters
    ----------
    trace : Trace
        One recording.
    launch : int, optional
        Which launch; by default the one that stores most words.
    block : int, optional
        Only this block.
    array : str
        Name of the table, an array in shared memory.
    limit : int
        Most steps read.
    name : str
        What to call the trace in an error.

    Raises
    ------
    InvalidArgument
        If there is no such launch or block, nothing was stored to such an array, or a word has
        more than 53 bits.
    """
    check_name_or_none("array", array)
    check_whole_or_none("block", block)
    r = trace.requests
    wanted = [i for i, a in enumerate(trace.arrays) if a.name == array and a.space == "shared"]
    mine = np.isin(r.array, wanted)
    stores = np.diff(r.start) * (mine & (r.kind != LOAD))
    if not stores.any():
        known = ", ".join(sorted({a.name for a in trace.arrays if a.space == "shared"})) or "none"
        raise InvalidArgument(
            name,
            f"no store to a shared array {array}",
            f"a trace of a filter that has one; its shared arrays are {known}",
        )
    if launch is None:
        launch = int(np.argmax(np.bincount(r.launch, stores)))
    check_place("launch", launch, len(trace.launches))
    mine &= r.launch == launch
    if block is not None:
        mine &= r.block == block
    rows = np.flatnonzero(mine)
    if not (stores[rows] > 0).any():
        where = f"launch={launch}" + ("" if block is None else f", block={block}")
        raise InvalidArgument(name, f"no store to {array} with {where}", "one that has stores")
    # Tables of different blocks do not meet: one block after another tells the same story.
    rows = rows[np.argsort(r.block[rows], kind="stable")].tolist()
    used = np.concatenate([r.value[r.start[row] : r.start[row + 1]] for row in rows])
    if np.abs(used).max() >= LARGEST_WORD:
        raise InvalidArgument(
            name,
            f"a word of {used.max():.0f}",
            "words below 2**53: trace a graph of 2**21 vertices",
        )
    reader = _Reader(trace, array, name)
    answered = reader.answered(rows)
    words = 0
    for row in rows:
        if len(reader.steps) <= limit:
            words = len(reader.words)
        if r.kind[row] == LOAD:
            reader.load(row)
        else:
            reader.store(row, row in answered)
    shown = reader.steps[:limit]
    words = len(reader.words) if len(reader.steps) <= limit else words
    if not any(step.words for step in shown):
        raise InvalidArgument(
            name, f"no word stored to {array} and read back", "the trace of a filter"
        )
    used = 1 + int(r.index[np.isin(r.lane_row(), rows)].max())
    whole = max(int(np.prod(trace.arrays[r.array[rows[0]]].shape)), used)
    slots = whole if whole <= ALL_SHOWN else -(-used // 32) * 32
    record = HashRecord(
        trace.launches[launch].kernel,
        array if slots >= whole else f"{array}[:{slots}]",
        slots,
        shown,
        reader.words[:words],
        len(reader.steps) - len(shown),
    )
    _judge(record.words, shown)
    return record


class _Reader:
    """Turns requests into steps: which word each lane stored, and which it read back."""

    def __init__(self, trace: Trace, array: str, name: str) -> None:
        self.trace, self.array, self.name = trace, array, name
        self.words: list[Word] = []
        self.steps: list[HashStep] = []
        #: Content of each slot of each block: a word, or the value of a fill.
        self.held: dict[tuple[int, int], int | _Filled] = {}
        self.last: dict[tuple[int, int, int], int] = {}

    def lanes(self, row: int) -> list[tuple[int, int, int]]:
        """Return lane, slot and value of every lane of a request."""
        r = self.trace.requests
        part = slice(int(r.start[row]), int(r.start[row + 1]))
        value = r.value[part].astype(np.int64).tolist()
        return list(zip(r.lanes(row).tolist(), r.index[part].tolist(), value, strict=True))

    def answered(self, rows: list[int]) -> set[int]:
        """Return the stores of which at least one lane reads its slot back."""
        r = self.trace.requests
        last: dict[tuple[int, int, int], tuple[int, int]] = {}
        numbers = set()
        for row in rows:
            for lane, slot, _ in self.lanes(row):
                thread = int(r.block[row]), int(r.warp[row]), lane
                if r.kind[row] != LOAD:
                    last[thread] = row, slot
                elif last.get(thread, (0, -1))[1] == slot:
                    numbers.add(last[thread][0])
        return numbers

    def add(self, kind: int, row: int, words: list[int], cleared: list[int]) -> None:
        """Add a step; a fill that follows a fill of the block joins it."""
        r = self.trace.requests
        block, line = int(r.block[row]), int(r.line[row])
        before = self.steps[-1] if self.steps else None
        if kind == FILLS and before and (before.kind, before.block) == (FILLS, block):
            before.cleared.extend(cleared)
            return
        text = self.trace.text(int(r.source[row]), line).strip()
        warp = int(r.warp[row])
        self.steps.append(HashStep(kind, block, warp, line, text, words, cleared))

    def store(self, row: int, answered: bool) -> None:
        """Read a store, of words or of a fill."""
        r = self.trace.requests
        block, warp = int(r.block[row]), int(r.warp[row])
        words, cleared = [], []
        for lane, slot, value in self.lanes(row):
            if not answered:
                self.held[block, slot] = _Filled(value)
                cleared.append(slot)
                continue
            words.append(len(self.words))
            self.held[block, slot] = self.last[block, warp, lane] = len(self.words)
            self.words.append(Word(lane, slot, *_split(value), len(self.steps)))
        self.add(STORES if answered else FILLS, row, words, cleared)

    def load(self, row: int) -> None:
        """Read a load; a lane that reads a slot again, or one it has not written, says nothing."""
        r = self.trace.requests
        block, warp = int(r.block[row]), int(r.warp[row])
        words = []
        for lane, slot, value in self.lanes(row):
            own = self.last.get((block, warp, lane), -1)
            if own < 0 or self.words[own].slot != slot or self.words[own].seen >= 0:
                continue
            seen = self.held[block, slot]
            if isinstance(seen, _Filled):
                self.words.append(Word(-1, slot, *_split(seen.value), len(self.steps)))
                seen = len(self.words) - 1
            word = self.words[seen]
            if _split(value) != (word.vertex, word.thread):
                raise InvalidArgument(
                    self.name,
                    f"{self.array}[{slot}] read as {value}",
                    "the word stored there last: trace every store to the table",
                )
            self.words[own].seen = seen
            words.append(own)
        if words:
            self.add(READS, row, words, [])


@dataclass(frozen=True)
class _Filled:
    value: int


def _split(value: int) -> tuple[int, int]:
    return value >> 32, value & 0xFFFFFFFF


def _judge(words: list[Word], steps: list[HashStep]) -> None:
    """Set the verdict of each word that was read back, and the word that kept its vertex before."""
    kept_in: dict[tuple[int, int], int] = {}
    kept_at: dict[int, int] = {}
    for step in steps:
        if step.kind != READS:
            continue
        for i in step.words:
            word, seen = words[i], words[words[i].seen]
            if seen.vertex != word.vertex:
                word.verdict = CONFLICT
            else:
                word.verdict = VALID if seen.thread == word.thread else DUPLICATE
            if word.verdict == DUPLICATE:
                continue
            place = step.block, word.vertex
            if place in kept_in:
                word.kept, word.before = AGAIN, kept_in[place]
            elif word.vertex in kept_at:
                word.kept, word.before = ELSEWHERE, kept_at[word.vertex]
            kept_in[place] = kept_at[word.vertex] = i
    for word in words:
        if word.verdict == UNREAD:
            word.seen = -1
