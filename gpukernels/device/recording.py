"""Call something on the SIMT machine; keep what it returns and what its warps did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from gpukernels.device import trace
from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace

Result = TypeVar("Result")


class Traced(NamedTuple, Generic[Result]):
    """What :func:`traced` gives: ``result, trace``.

    Attributes
    ----------
    result : object
        What the call returned.
    trace : Trace
        All launches of the call.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.traced(gk.sssp, gk.path(4)).trace.launches[0].blocks
    1
    """

    result: Result
    trace: Trace


def traced(
    call: Callable[..., Result],
    *args: Any,
    schedule: str = "lockstep",
    seed: int = 0,
    **options: Any,
) -> Traced[Result]:
    """Call a function on the SIMT machine and record it, whatever the hardware.

    Parameters
    ----------
    call : callable
        Such as :func:`gpukernels.bfs`, or a function of your own that launches kernels.
    *args, **options
        Its arguments.
    schedule, seed
        As for :class:`SimtDevice`.

    Returns
    -------
    Traced
        A pair: what the call returned, and the :class:`~gpukernels.trace.Trace` of its launches.

    Raises
    ------
    InvalidArgument
        If `call` cannot be called.

    Examples
    --------
    >>> import gpukernels as gk
    >>> r, t = gk.traced(gk.bfs, gk.example(), 0, "frontier")
    >>> int(r.distance.max()), len(t.launches)
    (5, 6)
    """
    if not callable(call):
        raise InvalidArgument("call", call, "a function, such as gk.bfs")
    with trace(schedule, seed) as recording:
        result = call(*args, **options)
    return Traced(result, recording.trace)
