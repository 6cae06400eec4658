"""Tracing: launches inside ``with trace():`` run on the SIMT machine and are recorded."""

from __future__ import annotations

import contextlib
import contextvars
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from gpukernels.errors import InvalidArgument
from gpukernels.trace import Trace
from gpukernels.trace.summary import Summary

from .simt_device import SimtDevice

tracing: contextvars.ContextVar[SimtDevice | None]
tracing = contextvars.ContextVar("tracing", default=None)

#: For each open ``with trace():``, the threads that existed when it was opened.
_open_traces: list[weakref.WeakSet[threading.Thread]] = []

Result = TypeVar("Result")


class Tracing:
    """The object of ``with trace() as t``: the trace and its summary, also after the block."""

    def __init__(self, device: SimtDevice):
        self.device = device

    @property
    def trace(self) -> Trace:
        """The :class:`~gpukernels.trace.Trace` recorded so far."""
        trace = self.device.trace
        assert trace is not None  # the device is made to trace
        return trace

    def summary(self, by: str = "kernel") -> Summary:
        """Return the metrics per ``"kernel"``, ``"launch"`` or ``"line"`` as a table."""
        return self.trace.summary(by)


@contextlib.contextmanager
def trace(schedule: str = "lockstep", seed: int = 0, limit: int | None = None) -> Iterator[Tracing]:
    """Record every launch of the block on the SIMT machine, whatever the hardware.

    A trace records the thread that opens it. A thread started inside runs untraced, on the
    device that it would have used without the trace, and a warning says so.

    Parameters
    ----------
    schedule, seed, limit
        As for :class:`SimtDevice`. A long trace lies in temporary files.

    Yields
    ------
    Tracing
        Its ``.trace`` and ``.summary()``.

    Examples
    --------
    >>> import gpukernels as gk
    >>> with gk.trace() as t:
    ...     r = gk.bfs(gk.example(), method="frontier")
    >>> summary = t.summary()
    >>> int(summary["expand_frontier"]["launches"])
    6
    >>> round(summary["expand_frontier"]["SIMD efficiency"], 3)
    0.287
    """
    device = SimtDevice(schedule=schedule, seed=seed, trace=True, limit=limit)
    token = tracing.set(device)
    threads = weakref.WeakSet(threading.enumerate())
    threads.add(threading.current_thread())
    _open_traces.append(threads)
    try:
        yield Tracing(device)
    finally:
        tracing.reset(token)
        _open_traces[:] = [other for other in _open_traces if other is not threads]


def warn_if_started_in_a_trace() -> None:
    """Warn where a trace is open that began before this thread, which does not inherit it."""
    thread = threading.current_thread()
    if any(thread not in threads for threads in tuple(_open_traces)):
        warnings.warn(
            f"thread {thread.name!r} was started inside `with gk.trace()`, which records only the "
            "thread that opened it: launches here are not traced. Open a trace in this "
            "thread, or start it as Thread(target=contextvars.copy_context().run, args=(f,))",
            stacklevel=4,
        )


class Traced(NamedTuple, Generic[Result]):
    """The result of :func:`traced`: ``result, trace``.

    Attributes
    ----------
    result : object
        The result of the call.
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
        A pair: the result of the call, and the :class:`~gpukernels.trace.Trace` of its launches.

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
