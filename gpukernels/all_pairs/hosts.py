"""The places where each method of `apsp` can run, and the lengths that it is given there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpukernels.methods import Driver

from . import (
    block_tasks,
    blocked,
    johnson,
    kleene,
    matsumoto,
    naive,
    out_of_core,
    partitioned,
    per_root,
    repeated_squaring,
    shared_rows,
    tran,
)


@dataclass(frozen=True)
class Host:
    """What runs a method in one place: ``run(lengths, device, **options)``.

    In tiles, a client follows the device. The lengths are a whole ``"matrix"``, ``"rows"`` made
    when they are asked for, or the graph or matrix as ``"given"``. Paths that are too long to be
    held are found by `apsp`, unless the host does so itself.
    """

    run: Driver
    lengths: str = "matrix"
    finds_too_long: bool = False


@dataclass(frozen=True)
class Places:
    """The places where one method runs, each None if it does not run there.

    One `device` has all of the result, or streams it; several `devices` of this machine share it;
    in `tiles` it is made by the workers of a client, or here one by one.
    """

    device: Host | None = None
    devices: Host | None = None
    tiles: Host | None = None

    def host(self, client: Any, options: Mapping[str, Any]) -> Host:
        """Return where a call with these options runs."""
        apart = client is not None or options.get("engine", "kernels") != "kernels"
        apart = apart or any(options.get(name) is not None for name in ("into", "block"))
        if self.tiles is not None and (apart or self.device is None):
            return self.tiles
        host = self.device if options.get("devices") is None else self.devices
        assert host is not None
        return host


#: By method, as `METHODS` of the family.
PLACES: dict[str, Places] = {
    "naive": Places(Host(naive.apsp)),
    "blocked": Places(
        Host(blocked.apsp), Host(shared_rows.apsp), tiles=Host(block_tasks.apsp, "rows")
    ),
    "repeated_squaring": Places(Host(repeated_squaring.apsp)),
    "kleene": Places(Host(kleene.apsp)),
    "out_of_core": Places(Host(out_of_core.apsp, "rows", finds_too_long=True)),
    "tran": Places(Host(tran.apsp, "rows")),
    "matsumoto": Places(Host(matsumoto.apsp, "rows")),
    "per_root": Places(Host(per_root.apsp), tiles=Host(per_root.in_tiles, "given")),
    "johnson": Places(Host(johnson.apsp)),
    "partitioned": Places(tiles=Host(partitioned.apsp, "rows")),
}
