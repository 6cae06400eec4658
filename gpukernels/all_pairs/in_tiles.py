"""A result that is made in tiles of rows, by workers or here, and may be kept in a file."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

from gpukernels.device import Device, chosen_device
from gpukernels.distributed import RowTile, digest_of, make_rows, placed
from gpukernels.errors import InvalidArgument

from .host_tiles import Algebra
from .lengths import Lengths
from .result import APSPResult
from .tiles import Options


class InTiles:
    """One call: its arcs, who works on its tiles, and where the result is kept.

    InvalidArgument if tiles cannot have the form that `options` say, or if `into` is to keep paths
    that may be too long to be held.
    """

    def __init__(
        self,
        method: str,
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
        self.method, self.call, self.lengths = method, f"apsp {method}", lengths
        self.client, self.into, self.graph = client, into, lengths.graph()
        self.algebra = Algebra(engine, options.tile, options.per_thread, device, options.padding)

    @property
    def graph_there(self) -> Any:
        """The arcs where the work is done."""
        return self.graph if self.client is None else placed(self.client, self.graph)

    def made_from(self, **own: Any) -> dict[str, Any]:
        """Return the properties that two runs must share if one continues the other's result."""
        if self.into is None:
            return {}
        g, algebra = self.graph, self.algebra
        graph = digest_of(g.offsets, g.targets, g.weights)
        shared = {"call": self.call, "engine": algebra.engine, "graph": graph}
        return shared | {"tile": algebra.tile, "per_thread": algebra.per_thread} | own

    def result(
        self,
        tiles: Callable[[], list[RowTile]],
        work: Callable[..., Any],
        args: tuple,
        made_from: dict[str, Any],
    ) -> APSPResult:
        """Return the distances, when all tiles are made; see `make_rows`."""
        n = self.lengths.n
        rows = make_rows(
            self.call, (n, n), self.lengths.dtype, lambda _: tiles(), work, args, self.client,
            self.into, made_from,
        )  # fmt: skip
        counted = {name: sum(tile_stats[name] for tile_stats in rows.stats) for name in COUNTED}
        stats = {"method": self.method, "read_backs": 0, **counted}
        return APSPResult(rows.matrix, None, stats | {"tiles": rows.tiles, "resumed": rows.resumed})


#: Counts of the work on a tile.
COUNTED = "launches", "operations"


def counts(steps: list[Any]) -> dict[str, int]:
    """Return the sums of several steps."""
    return {name: sum(getattr(step, name) for step in steps) for name in COUNTED}
