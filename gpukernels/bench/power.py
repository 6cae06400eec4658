"""Watts and joules of a GPU while a kernel runs again and again, as NVML tells them.

NVML (NVIDIA's management library, which comes with the driver) tells the power drawn over the last
moments, often a whole second. GPUs from 2018 on also count all energy since the driver was loaded.
A thread reads both while a block of code keeps the GPU busy.

The counter grows in steps, each 0.1 s on an H200. A block of half a second holds five of them or
six, so the difference between its begin and its end is up to a fifth wrong. Therefore energy is
counted from one step to another, in windows of `WINDOW` seconds at least. The average and the peak
come from the same windows, so no peak is below the average. The samples of the power check the
counter, and stand for it on GPUs without one.
"""

from __future__ import annotations

import importlib
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

#: Seconds between two samples: a step of the counter is seen that late at most.
INTERVAL = 0.004
#: Seconds of which a peak is the average, at least: `INTERVAL` is a fortieth of them.
WINDOW = 0.16
#: How far counter and samples may be apart before the difference is told as a warning.
APART = 0.1
#: Packages that can ask NVML, and how to get the first.
PACKAGES = "cuda-bindings 13 (pip install cuda-bindings) or nvidia-ml-py (pip install nvidia-ml-py)"


class PowerError(RuntimeError):
    """Power cannot be measured here; the message says what is missing or what NVML answered."""


class Meter(Protocol):
    """What tells a GPU's power."""

    def watts(self) -> float:
        """Return the power that is drawn."""

    def joules(self) -> float | None:
        """Return the energy since some moment long ago, or None where nothing counts it."""

    def close(self) -> None:
        """Let go of the library."""


@dataclass
class Power:
    """What was seen while a block of code ran.

    Attributes
    ----------
    seconds : list of float
        When each sample was taken, from the begin of the block on.
    samples : list of float
        Watts.
    counts : list of float
        Joules by the counter at each sample; empty where nothing counts.
    """

    seconds: list[float] = field(default_factory=list)
    samples: list[float] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)

    @property
    def duration(self) -> float:
        """Seconds from the first sample to the last."""
        return self.seconds[-1] - self.seconds[0]

    @property
    def windows(self) -> list[float]:
        """Watts on average in windows of `WINDOW` seconds and a little more, side by side.

        They begin and end at steps of the counter; where it has made less than two, at samples. A
        block that is shorter is one window.
        """
        there = self._steps()
        ends = there[:1]
        for seconds, joules in there[1:]:
            if seconds - ends[-1][0] >= WINDOW:
                ends.append((seconds, joules))
        if len(ends) < 2:
            ends = [there[0], there[-1]]
        pairs = pairwise(ends)
        return [(joules - j) / max(seconds - s, 1e-9) for (s, j), (seconds, joules) in pairs]

    def _steps(self) -> list[tuple[float, float]]:
        """Return when energy is known, and the joules then: at least two of these."""
        counted = list(zip(self.seconds, self.counts, strict=False))
        steps = [now for before, now in pairwise(counted) if now[1] != before[1]]
        if len(steps) > 1:
            return steps
        ends = range(1, len(self.seconds) + 1)
        return [(self.seconds[k - 1], integral(self.seconds[:k], self.samples[:k])) for k in ends]

    @property
    def average(self) -> float:
        """Watts on average: the median of the windows."""
        return statistics.median(self.windows)

    @property
    def peak(self) -> float:
        """Watts of the window of most."""
        return max(self.windows)

    @property
    def apart(self) -> float | None:
        """How far the samples are from the counter, as a share of that; None without its steps."""
        steps = self._steps()
        if len(self.counts) < 2 or steps[0][0] == self.seconds[0]:
            return None
        (begin, before), (end, after) = steps[0], steps[-1]
        by_samples = integral(self.seconds, self.samples) / max(self.duration, 1e-9)
        return by_samples * (end - begin) / (after - before) - 1


def integral(seconds: Sequence[float], watts: Sequence[float]) -> float:
    """Return the joules of power that changes evenly from each sample to the next."""
    pairs = pairwise(zip(seconds, watts, strict=True))
    return sum((after - before) * (w + v) / 2 for (before, w), (after, v) in pairs)


class Sampling:
    """Samples a meter in a thread for as long as a block takes.

    Parameters
    ----------
    meter : Meter
        What is asked.
    interval : float
        Seconds between two samples.
    clock : callable
        The time in seconds.

    Examples
    --------
    ::

        with Sampling(meter) as power:
            run()
        power.average

    Raises
    ------
    PowerError
        At the end of the block, if the meter failed meanwhile. An error of the block itself comes
        first. The thread has ended when the block has, whatever happened.
    """

    def __init__(
        self,
        meter: Meter,
        interval: float = INTERVAL,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self._meter, self._interval, self._clock = meter, interval, clock
        self._stop = threading.Event()
        self._failure: Exception | None = None
        self._power = Power()
        self._thread = threading.Thread(target=self._sample, name="power", daemon=True)

    def __enter__(self) -> Power:
        self._begin = self._clock()
        self._take()
        self._thread.start()
        return self._power

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if kind is not None:
            return
        if self._failure is None:
            try:
                self._take()
            except Exception as reason:
                self._failure = reason
        if self._failure is not None:
            if isinstance(self._failure, PowerError):
                raise self._failure
            raise PowerError(f"no power can be read: {self._failure}") from self._failure

    def _take(self) -> None:
        watts, joules = self._meter.watts(), self._meter.joules()
        self._power.seconds.append(self._clock() - self._begin)
        self._power.samples.append(watts)
        if joules is not None:
            self._power.counts.append(joules)

    def _sample(self) -> None:
        while not self._stop.wait(self._interval):
            try:
                self._take()
            except Exception as reason:
                self._failure = reason
                return


class Nvml:
    """The meter of a GPU by NVML.

    Parameters
    ----------
    uuid : str
        The GPU's, such as ``"GPU-1b2c..."``.
    library : object, optional
        What speaks to NVML: by default `cuda.bindings.nvml`, or `pynvml` where that is missing.

    Raises
    ------
    PowerError
        If neither is installed, or NVML does not know the GPU or its power.
    """

    def __init__(self, uuid: str, library: Any = None):
        self._names, self._library = _known(library or find())
        self._call("init")
        try:
            self._handle = self._call("handle", uuid)
            self.watts()
            self._counts = self._has_counter()
        except PowerError:
            self.close()
            raise

    def watts(self) -> float:
        """Return the power that is drawn."""
        return self._call("power", self._handle) / 1e3

    def joules(self) -> float | None:
        """Return the energy since the driver was loaded; None of GPUs that do not count it."""
        return self._call("energy", self._handle) / 1e3 if self._counts else None

    def close(self) -> None:
        """Let go of NVML."""
        self._call("close")

    def _has_counter(self) -> bool:
        try:
            self._call("energy", self._handle)
        except PowerError:
            return False
        return True

    def _call(self, what: str, *arguments: Any) -> Any:
        name = self._names[what]
        try:
            return getattr(self._library, name)(*arguments)
        except Exception as reason:
            raise PowerError(f"NVML's {name} failed: {type(reason).__name__}: {reason}") from reason


#: Our names of NVML's functions -> those of `cuda.bindings.nvml`, and of `pynvml`.
_BINDINGS = {
    "init": "init_v2",
    "handle": "device_get_handle_by_uuid",
    "power": "device_get_power_usage",
    "energy": "device_get_total_energy_consumption",
    "close": "shutdown",
}
_PYNVML = {
    "init": "nvmlInit",
    "handle": "nvmlDeviceGetHandleByUUID",
    "power": "nvmlDeviceGetPowerUsage",
    "energy": "nvmlDeviceGetTotalEnergyConsumption",
    "close": "nvmlShutdown",
}


def find() -> Any:
    """Return the module that speaks to NVML.

    Raises
    ------
    PowerError
        If no package has one.
    """
    for name in ("cuda.bindings.nvml", "pynvml"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise PowerError(f"power is read through NVML, for which a package is missing: {PACKAGES}")


def _known(library: Any) -> tuple[dict[str, str], Any]:
    return (_PYNVML if hasattr(library, "nvmlInit") else _BINDINGS), library


def meter_of_current_gpu() -> Nvml:
    """Return the meter of the GPU on which kernels run."""
    from numba import cuda

    return Nvml(str(cuda.get_current_device().uuid))
