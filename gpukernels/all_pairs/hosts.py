"""The places where each method of `apsp` can run, and the lengths that it is given there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpukernels.methods import Driver

from . import block_tasks, per_root, shared_rows


@dataclass(frozen=True)
class Host:
    """How a method runs in one place: ``run(lengths, device, **options)``, or else its driver.

    In tiles, `run` takes the client after the device. The lengths are a whole ``"matrix"``,
    a matrix that is ``"resident"`` on the device, ``"rows"`` made when they are needed, or the
    graph or matrix as ``"given"``. `apsp` finds paths that are too long
    to hold, unless the host does so itself.
    """

    run: Driver | None = None
    lengths: str = "matrix"
    finds_too_long: bool = False


@dataclass(frozen=True)
class Places:
    """The places where one method runs, each None if it does not run there.

    One `device` has all of the result, or streams it; several `devices` of this machine share it;
    in `tiles` it is made by the workers of a client, or here one by one.
    """

    device: Host | None = Host(lengths="resident")
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


#: By method; one that is not here runs on a device that has all of the matrix.
PLACES: dict[str, Places] = {
    "blocked": Places(devices=Host(shared_rows.apsp), tiles=Host(block_tasks.apsp, "rows")),
    "johnson": Places(Host()),
    "out_of_core": Places(Host(lengths="rows", finds_too_long=True)),
    "tran": Places(Host(lengths="rows")),
    "matsumoto": Places(Host(lengths="rows")),
    "per_root": Places(tiles=Host(per_root.in_tiles, "given")),
    "partitioned": Places(None, tiles=Host(lengths="rows")),
}
