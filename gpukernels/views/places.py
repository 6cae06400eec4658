"""Checks of the launch, block, warp and step that a caller selects in a recording."""

from __future__ import annotations

from gpukernels.checks import is_whole
from gpukernels.errors import InvalidArgument
from gpukernels.trace import Launch, Trace


def check_place(name: str, place: object, many: int) -> None:
    """Refuse a place that is not from 0 to `many` - 1."""
    if not is_whole(place) or not 0 <= place < many:
        raise InvalidArgument(name, place, f"from 0 to {many - 1}")


def launch_of(trace: Trace, launch: object, block: object = 0, warp: object = 0) -> Launch:
    """Return a launch by its place, if it has this block and, in a block, this warp."""
    check_place("launch", launch, len(trace.launches))
    shape = trace.launches[launch]
    check_place("block", block, shape.blocks)
    check_place("warp", warp, shape.warps_per_block)
    return shape
