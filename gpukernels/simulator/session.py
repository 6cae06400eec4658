"""How launches of a program run: the schedule, the checks, and what they have found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gpukernels import simt
from gpukernels.simt.errors import KernelError


@dataclass
class Session:
    """The options of all launches within a block, a script or a test.

    Attributes
    ----------
    schedule : str
        The order of warps (see :func:`gpukernels.simt.launch`).
    seed : int
        Seed of the random schedule; every launch draws from a stream of its own.
    check : bool
        Whether races, and reads of memory that nothing has written, are errors.
    wraparound : bool
        Whether a negative index that a kernel computes counts from the end.
    findings : list of KernelError or None
        Collects what the checks find, so that the program goes on; None has them raised.
    launches : int
        Launches so far.
    """

    schedule: str = "lockstep"
    seed: int = 0
    check: bool = True
    wraparound: bool = False
    findings: list[KernelError] | None = None
    launches: int = field(default=0, init=False)

    def launch(
        self, kernel: Any, grid: Any, block: Any, args: Sequence[Any], shared: int = 0
    ) -> None:
        """Launch a kernel on the machine and wait for it."""
        self.launches += 1
        simt.launch(
            kernel,
            grid,
            block,
            args,
            shared=shared,
            schedule=self.schedule,
            seed=self.seed + self.launches,
            check=self.check,
            wraparound=self.wraparound,
            findings=self.findings,
        )


#: The open sessions, the innermost last; threads of a program share them.
_open: list[Session] = []


def current() -> Session:
    """Return the innermost open session, or one with the default options."""
    return _open[-1] if _open else Session()


def begin(session: Session) -> None:
    """Open a session within the current one."""
    _open.append(session)


def end(session: Session) -> None:
    """Close a session, and all that were opened within it."""
    del _open[_open.index(session) :]
