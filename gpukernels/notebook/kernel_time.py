"""Measures the time of kernels without the host's time, and the time of calls as a user waits.

A kernel's time is measured by two GPU events, before and after its launch. Python takes 35 to 80
microseconds to launch, so an idle GPU passes the first event long before the launch arrives, and
measures the host's time. Therefore another kernel first keeps the GPU busy, until the host has
queued the launch and both events. If the host is delayed for longer than the GPU waits, the launch
is called late: its time contains milliseconds that no kernel used. A few of thousands of launches
are late, and would make up most of a search's time. So a late launch counts as the mean of the same
kernel's other launches in the run, if there are any and the mean is smaller. ``late`` is the number
of late launches.

Every stored time, of a GPU or of a CPU, is the median of several runs, with their quartiles. Each
run of kernels begins with a cold cache.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda

from gpukernels.device import CudaDevice
from gpukernels.notebook import cold_cache
from gpukernels.notebook.spread import Median, median

#: Rounds of `keep_busy` at most. Each waits for the host's memory, a microsecond or so: they last
#: longer than the host takes to queue anything, but end where it waits for the GPU itself.
BUSY_ROUNDS = 50_000


@cuda.jit
def keep_busy(queued, rounds):
    """Wait until ``queued[0]`` is not 0, or for so many `rounds`.

    The fence keeps the compiler from reading once before the loop, and the cache from answering.
    """
    left = rounds
    while left > 0 and queued[0] == 0:
        cuda.threadfence_system()
        left -= 1


class OutOfPatience(Exception):
    """The launches of a :class:`LaunchTimer` took longer than its limit."""


class LaunchTimer:
    """A device that adds up the milliseconds of its launches, each on a GPU kept busy before.

    It can be passed as any `device` argument. It performs copies and fills as well, but does not
    time them.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where to run.
    busy_rounds : int
        Largest number of rounds of `keep_busy` before each launch; 0 for none.
    limit_ms : float
        Milliseconds after which the next launch raises :class:`OutOfPatience`.

    Attributes
    ----------
    ms : float
        Milliseconds of all launches since :meth:`reset`, with the mean for late ones.
    launches, late : int
        Number of launches, and of late launches among them.
    """

    def __init__(self, device, busy_rounds: int = 0, limit_ms: float = float("inf")):
        self.device = device
        self.busy_rounds = busy_rounds
        self.limit_ms = limit_ms
        self._word, self._word_there = _word_of_both(device)
        self.reset()

    def __getattr__(self, name: str):
        return getattr(self.device, name)

    def reset(self) -> None:
        """Begin again at 0."""
        self.launches, self.late, self._sure_ms = 0, 0, 0.0
        self._in_time: dict[Any, list[float]] = {}
        self._late_ms: list[tuple[Any, float]] = []

    @property
    def ms(self) -> float:
        """Milliseconds of all launches since :meth:`reset`, late ones as their kernel's others."""
        of_others = {kernel: statistics.fmean(ms) for kernel, ms in self._in_time.items()}
        late = (min(ms, of_others.get(kernel, ms)) for kernel, ms in self._late_ms)
        return self._sure_ms + sum(late)

    @contextlib.contextmanager
    def timed(self, kernel: Any = None):
        """Add the time of the block's work to :attr:`ms`, as if it were one launch of `kernel`."""
        if self._sure_ms > self.limit_ms:
            raise OutOfPatience(f"{self._sure_ms:,.0f} ms of {self.launches:,} launches")
        if self.busy_rounds:
            self._word[0] = 0
            self.device.launch(keep_busy, 1, 1, self._word_there, self.busy_rounds)
        try:
            with self.device.timer() as elapsed:
                elapsed.when_queued = self._let_go
                yield
        finally:
            self._let_go()  # also where what was timed has failed
        self.launches += 1
        self.late += elapsed.late
        # A launch that compiles its kernel is late: its time is no reason to give up.
        if elapsed.late:
            self._late_ms.append((kernel, elapsed.ms))
            return
        self._sure_ms += elapsed.ms
        if kernel is not None:
            self._in_time.setdefault(kernel, []).append(elapsed.ms)

    def _let_go(self) -> None:
        self._word[0] = 1

    def launch(self, kernel, blocks, threads, *args, **options) -> None:
        """Launch and wait; the launch's time is added to :attr:`ms`."""
        sizes = blocks if isinstance(blocks, tuple | list) else (blocks,)
        if all(sizes):
            with self.timed(kernel):
                self.device.launch(kernel, blocks, threads, *args, **options)


def _word_of_both(device):
    """Return a word of the host's memory, and what a kernel on `device` knows it by."""
    if not isinstance(device, CudaDevice):
        word = device.full(1, 0, np.int32)
        return word, word
    word = cuda.mapped_array(1, np.int32)
    return word, cuda.as_cuda_array(word)


def kernel_ms(
    device,
    run: Callable[[Any], None],
    repeat: int = 20,
    *,
    prepare: Callable[[], None] = lambda: None,
    check: Callable[[], None] = lambda: None,
    patience: float = 10.0,
    busy_rounds: int | None = None,
) -> Median:
    """Return the median milliseconds of the launches of ``run(device)``, with their quartiles.

    Parameters
    ----------
    device : SimtDevice or CudaDevice
        Where to run.
    run : callable
        Launches on the device that it is given, any number of times.
    repeat : int
        Timed runs; of those on a GPU that had to wait for the host, none counts if others did not.
    prepare : callable
        What to do before every run, outside its time: to clear what it adds to. Afterwards the
        GPU's second cache is emptied.
    check : callable
        Raises if the result is wrong. It is called after a first run, which compiles and is not
        timed, and again after the last: no time of a wrong result is kept.
    patience : float
        Seconds after which no further run is begun.
    busy_rounds : int, optional
        Rounds of `keep_busy` before each launch at most; by default `BUSY_ROUNDS`.
    """
    prepare()
    run(device)
    check()
    timer = LaunchTimer(device, BUSY_ROUNDS if busy_rounds is None else busy_rounds)
    with timer.timed():  # compiles `keep_busy`
        pass
    all_ms, in_time = [], []
    start = time.perf_counter()
    while len(all_ms) < repeat and (not all_ms or time.perf_counter() - start < patience):
        prepare()
        cold_cache.flush(device)
        timer.reset()
        run(timer)
        all_ms.append(timer.ms)
        if not timer.late:
            in_time.append(timer.ms)
    check()
    return median(in_time or all_ms)


def wall_ms(run: Callable[[], Any], repeat: int = 20, *, patience: float = 10.0) -> Median:
    """Return the median milliseconds of ``run()`` by the host's clock, after one run not timed.

    As of :func:`kernel_ms`, no further run is begun after `patience` seconds.
    """
    run()
    times = []
    start = time.perf_counter()
    while len(times) < repeat and (not times or time.perf_counter() - start < patience):
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1e3)
    return median(times)
