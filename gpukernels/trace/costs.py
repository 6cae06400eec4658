"""The cost of each memory request: lanes, bytes, sectors, lines, passes over the banks.

Device allocations are aligned to 256 bytes. So an element's byte offset in its array gives its
32-byte sector and its 128-byte line. In shared memory the offset from the array's start gives its
bank.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpukernels.trace.record import ATOMIC, WARP_SIZE, Record, lanes_of

SECTOR_BYTES = 32
LINE_BYTES = 128
BANKS = 32
BANK_BYTES = 4


class Cost(NamedTuple):
    """Cost of one request; :class:`Costs` explains the numbers."""

    sectors: int
    lines: int
    ideal: int
    useful: int
    passes: int
    same: int


class Costs:
    """Costs of memory requests: int64 arrays with one entry per request, in the trace's order.

    Each array is computed when it is read for the first time.

    Parameters
    ----------
    trace : Record
        Recording with the requests.
    rows : numpy.ndarray of bool, optional
        True for each request to include; by default all are.

    Attributes
    ----------
    lanes : numpy.ndarray
        Active lanes.
    """

    def __init__(self, trace: Record, rows: np.ndarray | None = None):
        self._table = trace.requests if rows is None else trace.requests.where(rows)
        kinds = [(a.itemsize, a.space == "local") for a in trace.arrays]
        self._size, local = np.array(kinds or [(1, 0)], np.int64)[self._table.array].T
        self._local = local.astype(bool)
        self.lanes = np.diff(self._table.start)

    def __len__(self) -> int:
        return len(self._table)

    def one(self, row: int) -> Cost:
        """Return the cost of request `row`."""
        return Cost(*(int(getattr(self, name)[row]) for name in Cost._fields))

    # Elements ------------------------------------------------------------

    @cached_property
    def _row(self):
        return self._table.lane_row()

    @cached_property
    def _lane(self):
        return lanes_of(self._table.mask)[1]

    @cached_property
    def _turn(self):
        """For each lane, the number of earlier lanes of its request on the same element."""
        return ranks(self._row, self._table.index)

    def _count(self, rows):
        return np.bincount(rows.astype(np.intp, copy=False), minlength=len(self))

    @cached_property
    def elements(self) -> np.ndarray:
        """Distinct elements touched."""
        return self._count(self._row[self._turn == 0])

    @cached_property
    def same(self) -> np.ndarray:
        """Most lanes on one element."""
        most = np.zeros(len(self), np.int64)
        np.maximum.at(most, self._row, self._turn + 1)
        return most

    @cached_property
    def useful(self) -> np.ndarray:
        """Distinct bytes touched."""
        return self.elements * self._size

    # Device memory ------------------------------------------------------------

    @cached_property
    def ideal(self) -> np.ndarray:
        """Sectors that the distinct bytes would fill if they lay side by side."""
        return -(-self.useful // SECTOR_BYTES)

    @cached_property
    def sectors(self) -> np.ndarray:
        """Sectors of 32 bytes that move; for shared memory, as if it were global.

        If several lanes of an atomic request touch the same element, they are served in successive
        passes: the r-th lane in pass r. Each pass moves its own sectors, so 32 lanes on one element
        move 32 sectors. The lanes' copies of a local array are interleaved word by word: if 32
        lanes read the same index of 4-byte elements, the elements are adjacent and fill 4 sectors.
        """
        turn = np.where((self._table.kind == ATOMIC)[self._row], self._turn, 0)
        aligned = self._count(self._units(SECTOR_BYTES, turn))
        return np.where(self._local, self._interleaved, aligned)

    @cached_property
    def lines(self) -> np.ndarray:
        """Distinct cache lines of 128 bytes."""
        return self._count(self._units(LINE_BYTES, 0))

    def _units(self, unit_bytes, turn):
        """Return the row of each aligned unit that a request touches, once per turn."""
        unit = self._table.index * self._size[self._row] // unit_bytes
        span = int(unit.max(initial=0)) + 1
        return _distinct((self._row * WARP_SIZE + turn) * span + unit) // span // WARP_SIZE

    @cached_property
    def _interleaved(self):
        row, word, lane = self._words(np.flatnonzero(self._local[self._row]))
        span = int(word.max(initial=0)) + 1
        sector = (row * span + word) * WARP_SIZE + lane // (SECTOR_BYTES // BANK_BYTES)
        return self._count(_distinct(sector) // WARP_SIZE // span)

    def _words(self, at):
        """Return row, number and lane of every word of 4 bytes that the lanes at `at` touch."""
        row = self._row[at]
        words = np.maximum(self._size[row] // BANK_BYTES, 1).astype(np.intp, copy=False)
        first = self._table.index[at] * self._size[row] // BANK_BYTES
        word = np.repeat(first - np.cumsum(words) + words, words) + np.arange(words.sum())
        return np.repeat(row, words), word, np.repeat(self._lane[at], words)

    # Shared memory ------------------------------------------------------------

    @cached_property
    def wavefronts(self) -> np.ndarray:
        """Passes over the 32 banks of 4 bytes of shared memory, in all the turns of a request.

        A pass serves one word of each bank to all lanes that want it. Elements of 8 bytes are
        served in two turns, one per half warp. One turn serves both halves if for each lane ``i``
        the neighbor ``i ^ 1`` is absent or wants the same element, or if this holds for each
        lane's ``i ^ 2``. So 32 lanes take one pass on one word of 8 bytes, and two on 16 words.
        """
        return self._passes_and_turns[0]

    @cached_property
    def conflicts(self) -> np.ndarray:
        """Wavefronts beyond one per turn: 0 if no two words of a turn share a bank."""
        return np.subtract(*self._passes_and_turns)

    @cached_property
    def passes(self) -> np.ndarray:
        """Conflicts plus 1: passes over the banks, without those that wide elements need."""
        return self.conflicts + 1

    @cached_property
    def crowded(self) -> np.ndarray:
        """For each lane, as in ``requests.index``: whether its bank has to serve several words.

        The words of all turns of the request count. An element's bank is the bank of its first
        word.
        """
        word = self._table.index * self._size[self._row] // BANK_BYTES
        bank, words = _words_of_banks(self._row, word)
        own = np.searchsorted(bank, self._row * BANKS + word % BANKS)
        return words[own] > 1

    @cached_property
    def _passes_and_turns(self):
        row, word, lane = self._words(slice(None))
        width = np.maximum(self._size // BANK_BYTES, 1)
        turns = np.where((width == 2) & self._one_turn, 1, width)[row]
        bank, words = _words_of_banks(row * WARP_SIZE + lane * turns // WARP_SIZE, word)
        first = np.flatnonzero(np.diff(bank // BANKS, prepend=-1))
        passes = np.maximum.reduceat(words, first) if first.size else words
        row = bank[first] // BANKS // WARP_SIZE
        row = row.astype(np.intp, copy=False)
        return np.bincount(row, passes, len(self)).astype(np.int64), self._count(row)

    @cached_property
    def _one_turn(self):
        """For each request: whether it has 8-byte elements that one turn serves."""
        wide = self._size == 2 * BANK_BYTES
        at = np.flatnonzero(wide[self._row])
        wants = np.full((np.count_nonzero(wide), WARP_SIZE), -1, np.int64)
        wants[(np.cumsum(wide) - 1)[self._row[at]], self._lane[at]] = self._table.index[at]
        met = np.zeros(len(self), bool)
        for apart in (1, 2):
            other = wants[:, np.arange(WARP_SIZE) ^ apart]
            met[wide] |= ((wants == other) | (wants < 0) | (other < 0)).all(axis=1)
        return met


def _words_of_banks(group, word):
    """Return the banks in use, as ``group * 32 + bank``, and the number of words each serves."""
    depth, bank = np.divmod(word, BANKS)
    span = int(depth.max(initial=0)) + 1
    bank = _distinct((group * BANKS + bank) * span + depth) // span
    first = np.flatnonzero(np.diff(bank, prepend=-1))
    return bank[first], np.diff(np.append(first, bank.size))


def _distinct(numbers):
    """Return the distinct values of non-negative numbers, ascending, as `numpy.unique` does.

    It sorts them.
    """
    numbers = np.sort(numbers)
    return numbers[np.flatnonzero(np.diff(numbers, prepend=-1))]


def ranks(*keys: np.ndarray) -> np.ndarray:
    """Return, for each position, the number of earlier positions with the same keys."""
    order = np.lexsort(keys[::-1])
    new = np.any([np.diff(key[order], prepend=key[order[:1]] - 1) != 0 for key in keys], axis=0)
    first = np.flatnonzero(new)
    earlier = np.empty(order.size, np.int64)
    earlier[order] = np.arange(order.size) - np.repeat(first, np.diff(np.append(first, order.size)))
    return earlier
