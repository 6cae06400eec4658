"""A result that is made in tiles of rows, by workers or here, and may be kept in a file."""

from __future__ import annotations

from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukernels.device import Device, chosen_device
from gpukernels.distributed import RowTile, digest_of, make_rows, mapped, placed, task
from gpukernels.errors import InvalidArgument

from .host_tiles import Algebra
from .lengths import Lengths
from .result import APSPResult
from .tiles import Options

#: Counts of the work on a tile.
COUNTED = "launches", "operations"


class InTiles:
    """One call: its arcs, the client whose workers make its tiles, and where they are kept.

    A method says by `steps` what comes before the tiles. InvalidArgument if tiles cannot have the
    form of the `options`, or if `into` is to keep paths that may be too long to be held.
    """

    method: str

    def __init__(
        self,
        lengths: Lengths,
        device: Device | None,
        client: Any,
        engine: str,
        into: str | PathLike | None,
        options: Options,
    ):
        options.form(lengths.n, lengths.dtype)
        if into is not None and lengths.too_long:
            allowed = f"None where a path may be longer than {lengths.dtype} holds"
            raise InvalidArgument("into", into, allowed)
        if client is None and engine == "kernels":
            device = chosen_device(device)
        self.call, self.lengths, self.graph = f"apsp {self.method}", lengths, lengths.graph()
        self.client, self.into = client, into
        self.algebra = Algebra(engine, options.tile, options.per_thread, device, options.padding)

    @property
    def graph_there(self) -> Any:
        """The arcs where the work is done."""
        return self.graph if self.client is None else placed(self.client, self.graph)

    def do(self, name: str, work: Any, *args: Any) -> Any:
        """Return the result of `work`, done here, or a future of it: it stays with its worker."""
        return task(self.client, self.call, name, work, *args)

    def each(self, names: list[str], work: Any, takes: list[tuple]) -> list[Any]:
        """Return such a result for each of `takes`, its arguments."""
        return mapped(self.client, self.call, names, work, takes)

    def made_from(self, **own: Any) -> dict[str, Any]:
        """Return the properties that two runs must share if one continues the other's result."""
        if self.into is None:
            return {}
        g, algebra = self.graph, self.algebra
        graph = digest_of(g.offsets, g.targets, g.weights)
        shared = {"call": self.call, "engine": algebra.engine, "graph": graph}
        return shared | {"tile": algebra.tile, "per_thread": algebra.per_thread} | own

    def tiles(self, names: list[str], rows: list[NDArray[np.int64]]) -> list[RowTile]:
        """Return tiles of these rows, which take what `steps` returns for their number."""
        return [
            RowTile(name, some, partial(self.steps, at))
            for at, (name, some) in enumerate(zip(names, rows, strict=True))
        ]

    def steps(self, at: int) -> tuple:
        """Return the arguments of the work on tile number `at`; do what comes before it."""
        raise NotImplementedError

    def result(self, tiles: Any, work: Any, args: tuple, made_from: dict[str, Any]) -> APSPResult:
        """Return the distances, when the tiles that `tiles` returns are made; see `make_rows`."""
        n = self.lengths.n
        rows = make_rows(
            self.call, (n, n), self.lengths.dtype, lambda _: tiles(), work, args, self.client,
            self.into, made_from,
        )  # fmt: skip
        counted = {name: sum(tile_stats[name] for tile_stats in rows.stats) for name in COUNTED}
        stats = {"method": self.method, "read_backs": 0, **counted}
        return APSPResult(rows.matrix, None, stats | {"tiles": rows.tiles, "resumed": rows.resumed})


def counts(steps: list[Any]) -> dict[str, int]:
    """Return the sums of several steps."""
    return {name: sum(getattr(step, name) for step in steps) for name in COUNTED}
