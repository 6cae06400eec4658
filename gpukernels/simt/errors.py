"""The errors of the SIMT machine, each with the source line, the block and the thread.

They read like a compiler's messages: the error, the line, and the thread that found it.
"""

from __future__ import annotations

import os.path
from typing import NamedTuple

__all__ = [
    "BarrierDivergence",
    "EndlessLoop",
    "KernelAssertion",
    "KernelError",
    "KernelException",
    "KernelTypeError",
    "LaunchError",
    "OutOfBounds",
    "RaceError",
    "ReadOnlyArray",
    "ShuffleError",
    "SourceNotFound",
    "TraceLimit",
    "UninitializedRead",
    "UnsetVariable",
    "UnsupportedConstruct",
]


class Call(NamedTuple):
    """A line from which a device function is called, and how many other lines call it."""

    function: str
    file: str
    line: int
    text: str
    others: int


class KernelError(Exception):
    """A kernel did something that it must not do, or that the machine cannot run.

    Attributes
    ----------
    reason : str
        The error, in one sentence.
    kernel : str
        Name of the kernel or device function.
    file : str
        The file that defines it.
    line : int
        Line number in that file; 0 where no line applies.
    text : str
        The source line.
    block, thread : tuple of int or None
        (x, y, z) of the first block and thread that are at fault, where that is known.
    calls : tuple of Call
        In a device function, the calls that lead to it, the innermost first.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import cuda
    >>> import gpukernels as gk
    >>> from gpukernels.simt import KernelError
    >>> @cuda.jit
    ... def shift(a, b):
    ...     i = cuda.grid(1)
    ...     b[i] = a[i + 1]
    >>> try:
    ...     gk.SimtDevice().launch(shift, 1, 4, np.zeros(4), np.zeros(4))
    ... except KernelError as error:
    ...     type(error).__name__, error.thread
    ('OutOfBounds', (3, 0, 0))
    """

    calls: tuple[Call, ...] = ()

    def __init__(self, reason, *, kernel="", file="", line=0, text="", block=None, thread=None):
        self.reason = reason
        self.kernel = kernel
        self.file = file
        self.line = line
        self.text = text
        self.block = block
        self.thread = thread
        super().__init__(self._message())

    def _message(self) -> str:
        lines = [self.reason]
        if self.line:
            lines[0] = f"{self.reason}  ({self._place()}, line {self.line}, in {self.kernel})"
            lines.append(f"    {self.line:>4} | {self.text.strip()}")
        elif self.kernel:
            lines[0] = f"{self.reason}  (kernel {self.kernel})"
        if self.thread is not None:
            lines.append(f"    block {self.block}, thread {self.thread}")
        return "\n".join(lines)

    def _place(self) -> str:
        # The same text on every machine and in every run; `file` holds the path.
        name = os.path.basename(self.file)
        return "notebook cell" if "ipykernel" in self.file or name.startswith("<ipython") else name


class SourceNotFound(KernelError):
    """The source of a kernel cannot be read, for instance when it was typed at a prompt."""


class UnsupportedConstruct(KernelError):
    """The kernel uses something that the machine does not run; raised before the launch."""


class KernelTypeError(KernelError, TypeError):
    """Types that numba would refuse, found while the kernel is translated."""


class LaunchError(KernelError, ValueError):
    """The launch configuration is beyond the limits of a device or does not fit the kernel."""


class OutOfBounds(KernelError, IndexError):
    """An element outside an array (a negative index counts as outside)."""


class ReadOnlyArray(KernelError, ValueError):
    """A store into an array that is read-only.

    Attributes
    ----------
    array : str
        The kernel's name for it.
    element : str
        Index of the first element that the store would have changed, as the kernel writes it:
        "3", or "1, 2".
    """

    array = element = ""


class UninitializedRead(KernelError):
    """A read of shared or local memory, or of an ``empty`` array, that nothing has written.

    Attributes
    ----------
    array : str
        The kernel's name for it.
    """

    array = ""


class UnsetVariable(UninitializedRead):
    """A read of a variable that the thread has not set, because it passed by all assignments.

    Attributes
    ----------
    array : str
        The variable's name.
    """


class RaceError(KernelError):
    """Two threads meet on one element with no barrier between.

    At least one of them is there plainly: it writes, or it reads what the other one updates.

    Attributes
    ----------
    array : str
        The kernel's name for the array.
    other_line : int
        The line at which the other thread was.
    within : str
        The smallest group that holds both threads: ``"warp"``, ``"block"`` or ``"grid"``.
    beside_atomic : bool
        Whether one of the accesses is atomic.
    both_store : bool
        Whether both accesses are plain stores.
    lacks : str
        The missing fence, if a flag between the threads orders nothing for lack of it:
        ``"acquire"``, after the atomic that read the flag; ``"release"``, before the atomic that
        set it. Empty if no single fence is known to be missing.
    """

    array = ""
    other_line = 0
    within = "grid"
    beside_atomic = False
    both_store = False
    lacks = ""


class BarrierDivergence(KernelError):
    """A barrier that some live threads of the block (warp, grid) do not reach."""


class ShuffleError(KernelError):
    """A warp operation whose mask or source lane names a lane that does not take part."""


class EndlessLoop(KernelError):
    """A loop that ran past the step budget."""


class KernelAssertion(KernelError, AssertionError):
    """An ``assert`` in a kernel did not hold for a thread."""


class KernelException(KernelError):
    """A thread came to a ``raise``.

    A GPU reports it only if the kernel was compiled with ``@cuda.jit(debug=True, opt=False)``;
    otherwise the thread ends there, and nothing is reported.
    """


class TraceLimit(KernelError, MemoryError):
    """The trace grew past its limit; trace less, or give ``gk.trace`` a higher `limit`."""
