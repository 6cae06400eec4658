"""Cut a matrix into blocks so that the blocks on a device at once stay within a bound."""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

from gpukernels.checks import check_whole
from gpukernels.device import Device
from gpukernels.errors import InvalidArgument

from .tiles import Form

#: Blocks on the device at once: two of columns, two of rows, two of the rest. One of each is in
#: use, the others are on their way.
AT_ONCE = 6
#: The same of vertices that paths go through; they are not kept on the device.
NOTED = 2
#: Bytes of a GPU's smallest allocation, twice: flags, and a stand-in if no vertices are noted.
BESIDE = 512
ITEM = 4
#: Unless told otherwise no more is taken: the host has to lock pages for one and a half as much.
MEMORY = 1 << 30


class Blocks(NamedTuple):
    """A matrix of n x n in `count` x `count` blocks of `rows` rows, a multiple of `tile`.

    The last one may have fewer; on the device it is padded to whole tiles. If there is but one
    block, the device has it `alone` times at once.
    """

    n: int
    tile: int
    rows: int
    count: int
    alone: int = 1

    def span(self, k: int) -> slice:
        """Return the rows of block `k` in the matrix."""
        return slice(k * self.rows, min((k + 1) * self.rows, self.n))

    @property
    def spans(self) -> list[slice]:
        """The rows of all blocks."""
        return [self.span(k) for k in range(self.count)]

    def padded(self, k: int) -> int:
        """Return how many rows block `k` has on the device."""
        span = self.span(k)
        return -(-(span.stop - span.start) // self.tile) * self.tile

    def shape(self, i: int, j: int) -> tuple[int, int]:
        """Return the shape that block `i`, `j` has on the device."""
        return self.padded(i), self.padded(j)

    @property
    def elements(self) -> int:
        """Elements of a full block."""
        return self.rows**2

    def device_bytes(self, noting: bool) -> int:
        """Return how many bytes of a device are in use at once."""
        at_once = AT_ONCE + NOTED * noting if self.count > 1 else self.alone + noting
        return ITEM * at_once * self.elements + BESIDE

    @property
    def operations(self) -> int:
        """Additions of the whole computation, each followed by a minimum."""
        return sum(map(self.padded, range(self.count))) ** 3


def blocks_for(
    n: int,
    form: Form,
    memory: int | None,
    device: Device,
    rows: int | None = None,
    alone: int = 1,
) -> Blocks:
    """Return the blocks that stay within `memory`, or fit the device if that is None.

    A run that is to go on has blocks of so many `rows`; `alone` is as in :class:`Blocks`.
    InvalidArgument if not even tiles stay within it, or the device has not that much free.
    """
    free, tiles = device.free_bytes(), -(-n // form.tile)
    one, several = (
        Blocks(n, form.tile, form.tile, k, alone).device_bytes(form.noting) for k in (1, 2)
    )
    least = one if tiles <= 1 else several
    bound = max(min(MEMORY, free // 2), least) if memory is None else memory
    bound = check_whole("memory", bound, least, 2**63 - 1)
    whole = Blocks(n, form.tile, tiles * form.tile, min(tiles, 1), alone)
    if memory is None and rows is not None:
        blocks = Blocks(n, form.tile, rows, -(-n // rows))
    elif whole.device_bytes(form.noting) <= bound:
        blocks = whole
    else:
        most = isqrt((bound - BESIDE) // (ITEM * (AT_ONCE + NOTED * form.noting))) // form.tile
        count = -(-tiles // most)
        # All blocks about as large as each other, rather than a small one at the end.
        each = -(-tiles // count) * form.tile
        blocks = Blocks(n, form.tile, each, -(-n // each))
    check_fits(blocks, form, device, "memory", memory)
    return blocks


def check_fits(blocks: Blocks, form: Form, device: Device, name: str, value: int | None) -> None:
    """Raise InvalidArgument, for an argument of that name, unless the device has room."""
    free = device.free_bytes()
    if (needed := blocks.device_bytes(form.noting)) > free:
        allowed = f"at most the {free:,} bytes that the device has free (this takes {needed:,})"
        raise InvalidArgument(name, value, allowed)
