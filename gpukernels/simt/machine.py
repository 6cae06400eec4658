"""Run a ``@cuda.jit`` kernel without a GPU: translate it, then execute its warps."""

from __future__ import annotations

import weakref
from collections import Counter

import numpy as np

from gpukernels.simt.check.races import Races
from gpukernels.simt.errors import (
    BarrierDivergence,
    EndlessLoop,
    KernelAssertion,
    KernelError,
    KernelException,
    KernelTypeError,
    LaunchError,
    UnsetVariable,
)
from gpukernels.simt.run import atomics, records, schedules
from gpukernels.simt.run.dynamic import DynamicBuffer, DynamicMemory
from gpukernels.simt.run.lanes import read, write
from gpukernels.simt.run.memory import BlockMemory, Memory, ThreadMemory
from gpukernels.simt.run.pace import Pace
from gpukernels.simt.run.turns import Scope, Vote
from gpukernels.simt.translate.source import parsed, python_function
from gpukernels.simt.translate.statements import Program
from gpukernels.simt.translate.values import ArrayType, TupleType, can_hold, why_not
from gpukernels.trace import WARP_SIZE

#: Limits of every device of compute capability 7.5 to 10.0, in threads, blocks and bytes.
MAX_BLOCK = (1024, 1024, 64)
MAX_THREADS = 1024
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_SHARED = 48 * 1024
MAX_LOCAL = 512 * 1024
#: Threads of a cooperative launch at the most; a GPU has 1,024 to 2,048 a multiprocessor.
RESIDENT_THREADS = 16 * 1024
#: Iterations of one loop after which the machine gives up on it.
LOOP_BUDGET = 1_000_000
#: Threads that run together at the most; more blocks run in waves, as on a device.
WAVE_THREADS = 1 << 18

_programs = weakref.WeakKeyDictionary()


def launch(
    kernel,
    grid,
    block,
    args,
    *,
    shared: int = 0,
    cooperative: bool = False,
    schedule: str = "lockstep",
    seed: int = 0,
    recorder=None,
    check: bool = True,
    findings=None,
    loop_budget: int = LOOP_BUDGET,
    pace: Pace | None = None,
    wraparound: bool = False,
) -> None:
    """Launch `kernel` on the SIMT machine and wait for it.

    Parameters
    ----------
    kernel : numba.cuda dispatcher or function
        A plain ``@cuda.jit`` kernel.
    grid, block : int or tuple of int
        Blocks in the grid and threads in a block, in up to three dimensions (x first).
    args : sequence
        NumPy arrays, which the kernel changes in place, numbers, and tuples of both. Traces and
        errors name an array in a named tuple by its field.
    shared : int
        Bytes of dynamic shared memory per block.
    cooperative : bool
        Whether all blocks must be resident at once; a kernel with a grid sync is so by itself.
    schedule : {"lockstep", "warp", "random"}
        Order of warps. ``"lockstep"``: all warps run together. ``"warp"``: each warp runs to its
        next barrier before the next warp starts. ``"random"``: a warp is drawn before every
        statement. In a kernel with a loop that waits for other threads, warps take turns under all
        schedules, and under ``"random"`` single lanes do.
    seed : int
        Seed of the random schedule.
    recorder : Recorder, optional
        Records the launch; without one nothing is recorded and nothing is paid.
    check : bool
        Whether races and reads of memory that nothing has written are errors; arrays that the
        kernel declares by ``@benign_race`` are exempt from the former.
    findings : list, optional
        Collects what `check` finds, one error for each pair of lines; the launch goes on. Without
        it the first one is raised.
    loop_budget : int
        Iterations of one loop after which the machine gives up on it.
    pace : Pace, optional
        Counts the steps of all loops, and limits them over all launches that are given it.
    wraparound : bool
        Whether a negative index that the kernel computes counts from the end, as numba compiles it.
        It is an error otherwise, because most of them are mistakes.

    Raises
    ------
    KernelError
        One of its subclasses, with file, line, block and thread; nothing has run yet if the launch
        or the kernel itself is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import cuda
    >>> from gpukernels import simt
    >>> @cuda.jit
    ... def ranks(out):
    ...     lane = cuda.laneid
    ...     out[lane] = cuda.popc(cuda.ballot_sync(0xFFFFFFFF, lane % 2 == 0) & cuda.lanemask_lt())
    >>> out = np.zeros(32, np.int32)
    >>> simt.launch(ranks, 1, 32, (out,))
    >>> out[:8]
    array([0, 1, 1, 2, 2, 3, 3, 4], dtype=int32)
    """
    if not isinstance(schedule, str) or schedule not in schedules.SCHEDULES:
        allowed = ", ".join(repr(s) for s in schedules.SCHEDULES)
        raise LaunchError(f"schedule={schedule!r} is unknown; allowed are {allowed}")
    flags = {"cooperative": cooperative, "check": check, "wraparound": wraparound}
    for name, flag in flags.items():
        if not isinstance(flag, (bool, np.bool_)):
            raise LaunchError(f"{name}={flag!r}; allowed are True and False")
    grid = _shape(grid, "grid", MAX_GRID)
    block = _shape(block, "block", MAX_BLOCK)
    if np.prod(block) > MAX_THREADS:
        raise LaunchError(
            f"block={block} has {np.prod(block)} threads; a block may have {MAX_THREADS}"
        )
    if not _whole(shared) or not 0 <= shared <= MAX_SHARED:
        raise LaunchError(f"shared={shared!r} bytes; allowed are 0 to {MAX_SHARED}")
    if not _whole(loop_budget) or loop_budget < 1:
        raise LaunchError(f"loop_budget={loop_budget!r}; allowed are 1 and more")
    if not _whole(seed) or seed < 0:
        raise LaunchError(f"seed={seed!r}; allowed are whole numbers from 0")
    program = _program(kernel, args, recorder is not None, schedule)
    run = Run(program, grid, block, shared, cooperative or program.cooperative, recorder, check)
    threads = run.blocks * run.threads_per_block
    if run.cooperative and threads > RESIDENT_THREADS:
        raise LaunchError(
            f"grid={grid} of block={block} has {threads:,} threads; a launch whose blocks wait for "
            f"each other may have {RESIDENT_THREADS:,}, because all of them must be resident"
        )
    run.findings = findings
    run.loop_budget = loop_budget
    run.wraparound = wraparound
    if pace is not None:
        run.pace = pace
    if recorder is not None:
        recorder.begin(run)
    values = _arguments(run, program, args)
    if run.races is not None:
        run.races.watch([value for value in values if isinstance(value, Memory)])
    try:
        with np.errstate(all="ignore"):
            schedules.SCHEDULES[schedule](run, values, seed)
    except RecursionError:
        raise KernelError(
            "a function called itself until the stack was full; a GPU has a stack of a kilobyte or "
            "two per thread",
            kernel=run.name,
        ) from None
    records.write_back(run)
    if recorder is not None:
        recorder.end(run)


def forget_translations():
    """Translate each kernel again at its next launch, with the values that its names have then."""
    _programs.clear()
    parsed.cache_clear()


def _whole(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _shape(value, name, limits):
    sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(sizes) <= 3 or not all(_whole(s) for s in sizes):
        raise LaunchError(f"{name}={value!r}; allowed are one to three integers")
    sizes = tuple(int(s) for s in sizes) + (1,) * (3 - len(sizes))
    for size, limit in zip(sizes, limits, strict=True):
        if not 1 <= size <= limit:
            raise LaunchError(f"{name}={value!r}; allowed are 1 to {limits} along (x, y, z)")
    return sizes


def _program(kernel, args, traced, schedule):
    function = python_function(kernel)
    if function is None:
        raise LaunchError(f"kernel={kernel!r} is neither a @cuda.jit kernel nor a function")
    types = tuple(_type_of(a, i) for i, a in enumerate(args))
    key = (types, traced, schedule != "lockstep", schedule == "random")
    cache = _programs.setdefault(function, {})
    if key not in cache:
        program = Program(kernel, types, traced=traced, yielding=key[2], step_yields=key[3])
        if program.polls or program.parts:
            # Only now is it known that its warps, or even its lanes, must take turns.
            program = Program(
                kernel,
                types,
                traced=traced,
                yielding=True,
                step_yields=schedule != "warp",
                parted=program.parts,
                lanes_alone=program.polls and schedule == "random",
            )
        cache[key] = program
    return cache[key]


def _type_of(value, position):
    if isinstance(value, np.ndarray):
        if isinstance(value, np.ma.MaskedArray):
            raise KernelTypeError(
                f"argument {position} is a masked array, which numba cannot pass to a kernel; pass "
                "`.filled(...)`, or `.data` and `.mask` as two arrays"
            )
        if not can_hold(value.dtype):
            raise KernelTypeError(
                f"argument {position} is an array of {value.dtype}; {why_not(value.dtype)}"
            )
        return ArrayType(value.dtype, value.ndim)
    if isinstance(value, (bool, np.bool_)):
        return np.dtype(bool)
    if isinstance(value, int):
        return np.dtype(np.int64 if -(2**63) <= value < 2**63 else np.uint64)
    if isinstance(value, float):
        return np.dtype(np.float64)
    if isinstance(value, complex):
        return np.dtype(np.complex128)
    if isinstance(value, np.generic) and value.dtype.kind in "biufc" and can_hold(value.dtype):
        return value.dtype
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ())
        return TupleType(tuple(_type_of(v, position) for v in value), names)
    if isinstance(value, np.void) and can_hold(value.dtype):
        return ArrayType(value.dtype, 0)
    if value is None:
        raise KernelTypeError(
            f"argument {position} is None, which numba cannot pass to a kernel; allowed are NumPy "
            "arrays, numbers and tuples of them"
        )
    raise KernelTypeError(
        f"argument {position} is a {type(value).__name__}; allowed are NumPy arrays, numbers and "
        "tuples of them"
    )


def _arguments(run, program, args):
    return [_argument(run, *named) for named in named_values(program.parameters, args)]


def named_values(parameters, args) -> list:
    """Return (name, value) of every argument that is no tuple, and of every item of those that are.

    A value inside a named tuple has the name of its field if no other value of the launch has this
    name, and ``parameter.field`` otherwise.
    """
    pairs = zip(parameters, args, strict=False)
    leaves = [leaf for name, value in pairs for leaf in _leaves(name, value)]
    taken = Counter(short for short, _, _ in leaves)
    return [(short if taken[short] == 1 else name, value) for short, name, value in leaves]


def _leaves(name, value, short=None):
    """Yield (field, name with all that it lies in, value) for each value that is no tuple."""
    if not isinstance(value, tuple):
        yield short or name, name, value
        return
    fields = getattr(value, "_fields", None)
    for i, item in enumerate(value):
        if fields:
            yield from _leaves(f"{name}.{fields[i]}", item, fields[i])
        else:
            yield from _leaves(f"{name}[{i}]", item, f"{short or name}[{i}]")


def _argument(run, name, value):
    if isinstance(value, np.ndarray):
        return Memory(run, name, value)
    if isinstance(value, np.void):
        return records.argument(run, name, value)
    return _type_of(value, 0).type(value)


class Run:
    """One launch: the state that the generated code and the schedules share."""

    def __init__(self, program, grid, block, shared, cooperative, recorder, check):
        self.program = program
        self.name = program.source.function
        self.grid = grid
        self.block = block
        self.grid_dims = tuple(np.int32(n) for n in grid)
        self.block_dims = tuple(np.int32(n) for n in block)
        self.grid_size = tuple(np.int64(g) * b for g, b in zip(grid, block, strict=True))
        self.one_dimensional = grid[1:] == block[1:] == (1, 1)
        self.blocks = int(np.prod(grid))
        self.threads_per_block = int(np.prod(block))
        self.warps_per_block = -(-self.threads_per_block // WARP_SIZE)
        self.dynamic_shared = shared
        self.cooperative = cooperative
        self.recorder = recorder
        self.check = check
        tail = self.threads_per_block % WARP_SIZE
        masks = np.full(self.warps_per_block, 0xFFFFFFFF, np.int64)
        if tail:
            masks[-1] = (1 << tail) - 1
        self._launched = masks
        self._constants = {}
        self.thread_indices = {}
        self.findings = None
        self.loop_budget = LOOP_BUDGET
        self.wraparound = False
        self.pace = Pace()
        #: Draws the turns of lanes that meet at an atomic; None has them come in thread order.
        self.turns = None
        self.resident_threads = RESIDENT_THREADS
        self.stalled = False
        benign = getattr(program.python, "__benign_races__", frozenset())
        self.races = Races(self, benign) if check else None
        self.wave(0, 0)

    # Waves ------------------------------------------------------------

    def wave(self, first, blocks):
        """Make blocks ``first`` to ``first + blocks`` resident; shared memory starts again."""
        self.first_block = first
        self.resident = blocks
        self.live = np.full(blocks, self.threads_per_block, np.int64)
        #: Where each resident thread returned from the kernel; -1 if it has not.
        self.left_at = np.full(blocks * self.threads_per_block, -1, np.int32)
        self._returned = None
        self._shared = {}
        self._shared_bytes = 0

    def wave_blocks(self):
        """Return how many blocks run together."""
        if self.cooperative:
            return self.blocks
        return max(1, min(self.blocks, WAVE_THREADS // self.threads_per_block))

    def launched_mask(self, warps):
        """Return the launched lanes of warps, given by their launch-wide numbers."""
        return self._launched.take(warps % self.warps_per_block)

    def returned_mask(self, warps):
        """Return the lanes of warps that have returned from the kernel."""
        if self._returned is None:
            return np.zeros(np.shape(warps), np.int64)
        return self._returned.take(warps - self.first_block * self.warps_per_block)

    # Memory ------------------------------------------------------------

    def shared_array(self, group, place, name, shape, dtype, where):
        """Return the shared array declared at `place`, made at first use."""
        if place not in self._shared:
            if shape == (0,):
                if None not in self._shared:
                    self._shared[None] = DynamicBuffer(self)
                self._shared[place] = DynamicMemory(name, dtype, self._shared[None])
            else:
                self._shared_bytes += int(np.prod(shape)) * dtype.itemsize
            total = self._shared_bytes + self.dynamic_shared
            if total > MAX_SHARED:
                raise self.error(
                    LaunchError,
                    f"the shared arrays take {total} bytes per block; allowed are {MAX_SHARED}",
                    where,
                )
            if place not in self._shared:
                self._shared[place] = BlockMemory(
                    self, name, shape, dtype, self.first_block, self.resident
                )
        return self._shared[place]

    def local_array(self, group, place, name, shape, dtype, where):
        """Return the local array declared at `place`, one copy for each thread of the group."""
        arrays = group.__dict__.setdefault("local_arrays", {})
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if size > MAX_LOCAL:
            reason = f"the local array takes {size:,} bytes per thread; allowed are {MAX_LOCAL:,}"
            raise self.error(LaunchError, reason, where)
        if place not in arrays:
            arrays[place] = ThreadMemory(self, name, shape, dtype, group)
        return arrays[place]

    def constant_array(self, data, name):
        """Return a global array that the kernel captured, read-only as in numba."""
        if id(data) not in self._constants:
            self._constants[id(data)] = Memory(self, name, data, "const")
        return self._constants[id(data)]

    atomic = staticmethod(atomics.atomic)

    # Threads that end ------------------------------------------------------------

    def exited(self, active, where):
        """Note that threads returned from the kernel; later barriers do not wait for them."""
        group = active.frame.group
        block = group.block_of(active.slots) - self.first_block
        self.live -= np.bincount(block, minlength=self.resident)
        self.left_at[active.slots + group.first - self.first_block * self.threads_per_block] = where
        if self._returned is None:
            self._returned = np.zeros(self.resident * self.warps_per_block, np.int64)
        warps = active.warps() - self.first_block * self.warps_per_block
        self._returned[warps] |= active.masks()

    # Checks ------------------------------------------------------------

    def barrier(self, barrier):
        """Hold all blocks of the group at a barrier (lockstep: all of their threads are here).

        A barrier of a block waits for the threads that have not returned, as since Volta.
        """
        scope, vote, active, predicate, where = barrier
        present = self.live
        if vote is not Vote.PLAIN or active.n < present.sum():
            block = active.frame.group.block_of(active.slots) - self.first_block
            present = np.bincount(block, minlength=self.resident)
            short = (present < self.live) & ((present > 0) | (scope is Scope.GRID))
            if short.any():
                at = int(np.argmax(block == np.argmax(short))) if scope is Scope.BLOCK else 0
                number = int(np.argmax(short))
                raise self.divergence(
                    scope, int(present[number]), int(self.live[number]), active, at, where
                )
        if scope is Scope.GRID:
            self.all_arrive(active, where)
        if self.races is not None:
            self.passed(scope, present.nonzero()[0] + self.first_block)
        if vote is Vote.PLAIN:
            return None
        votes = np.broadcast_to(predicate, active.n)
        count = np.bincount(block, weights=votes, minlength=self.resident).astype(np.int64)
        return self.verdict(vote, count, present).astype(np.int32).take(block)

    def passed(self, scope, blocks):
        """Tell the race detector that `blocks` have passed a barrier."""
        if scope is Scope.GRID:
            self.races.grid_barrier()
        else:
            self.races.block_barrier(blocks)

    def fence(self, active, scope):
        """Tell the race detector of a memory fence; memory itself is never late here."""
        if self.races is not None:
            self.races.fence(active, scope)

    def all_arrive(self, active, where):
        """Raise :class:`BarrierDivergence` if a block cannot arrive at a grid sync any more.

        A grid sync is a barrier of each block, which waits for the threads that have not returned,
        then thread 0 of each block arrives for all of it. So a block that has lost its thread 0
        never arrives, and with it one that has returned as a whole.
        """
        first = self.left_at[:: self.threads_per_block]
        if first.max() < 0:
            return
        block = int(np.argmax(first >= 0))
        who = "thread 0 of block" if self.live[block] else "block"
        index = np.unravel_index(self.first_block + block, self.grid[::-1])[::-1]
        source, line = self.program.locations[first[block]]
        raise self.error(
            BarrierDivergence,
            f"grid sync waits for ever: {who} {tuple(int(i) for i in index)}, which must arrive, "
            f"returned at line {line}: {source.line(line).strip()}",
            where,
            active,
            0,
        )

    @staticmethod
    def verdict(vote, count, present):
        """Return what ``syncthreads_count``, ``_and`` or ``_or`` gives for a count of trues."""
        if vote is Vote.COUNT:
            return count
        return (count == present if vote is Vote.AND else count > 0).astype(np.int64)

    def divergence(self, scope, present, live, active, at, where):
        """Return the error for a barrier that only some of the live threads have reached."""
        what = "syncthreads()" if scope is Scope.BLOCK else "grid sync"
        region = self.program.regions.get(where)
        because = ""
        if region is not None:
            source, line = self.program.locations[region]
            because = f"; the threads parted at line {line}: {source.line(line).strip()}"
        return self.error(
            BarrierDivergence,
            f"{what} is reached by {present} of the {live} live threads of a block{because}",
            where,
            active,
            at,
        )

    def affirm(self, active, condition, message, where):
        """Raise :class:`KernelAssertion` if `condition` fails for a thread."""
        holds = np.broadcast_to(condition, active.n)
        if not holds.all():
            text = f"assertion failed: {message}" if message else "assertion failed"
            raise self.error(KernelAssertion, text, where, active, int(np.argmin(holds)))

    def is_set(self, known, active, name, must, where):
        """Check that the active threads have set a variable; return which threads count as set.

        Parameters
        ----------
        known : numpy.ndarray or numpy.bool_
            Whether each thread of the frame has.
        must : bool
            Whether the launch cannot go on without, as with an array, which has no value 0.
        """
        seen = read(known, active)
        if seen.all():
            return known
        error = self.error(
            UnsetVariable,
            f"`{name}` is read by a thread that has not set it: on its way here it came by no "
            "assignment",
            where,
            active,
            int(np.argmin(np.broadcast_to(seen, active.n))),
        )
        error.array = name
        if must:
            raise error
        self.report(error)
        return write(known, active, np.True_)

    def raised(self, active, what, where):
        """Raise :class:`KernelException`: the active threads have come to a ``raise``."""
        raise self.error(KernelException, what, where, active, 0)

    def step_of_range(self, active, step, where):
        """Raise :class:`KernelError` if the step of ``range(...)`` is 0 for a thread."""
        zero = np.broadcast_to(step == 0, active.n)
        if zero.any():
            reason = "the step of range() is 0, so that the loop would never end"
            raise self.error(KernelError, reason, where, active, int(np.argmax(zero)))

    def endless(self, active, where, waits=False):
        """Raise :class:`EndlessLoop`; `waits` says whether the loop waits for other threads."""
        if self.stalled:
            reason = "this loop waits for ever: every other thread waits as well, or has ended"
        elif self.pace.taken > self.pace.limit:
            limit = f"{self.pace.limit:,} steps, the limit"
            reason = f"this loop has not ended when all loops together had taken {limit}"
        else:
            budget = f"{self.loop_budget:,} times, the step budget"
            reason = f"this loop has run {budget}, and has not ended"
        if waits and not self.program.lanes:
            reason += (
                "; other warps have run in between. A loop that waits for a lane of its own warp "
                "ends under the random schedule alone, which runs lanes one by one, as a GPU may "
                "since Volta"
            )
        raise self.error(EndlessLoop, reason, where, active, 0)

    def report(self, error):
        """Raise an error of a check or, if findings are collected, store it and continue."""
        if self.findings is None:
            raise error
        self.findings.append(error)

    def error(self, kind, reason, where, active=None, at=None):
        """Return a :class:`KernelError` that names the line and, with `active`, the thread."""
        source, line = self.program.locations[where]
        block = thread = None
        if active is not None:
            block, thread = active.frame.group.place(active.slots[at])
        error = kind(
            reason,
            kernel=source.function,
            file=source.file,
            line=line,
            text=source.line(line),
            block=block,
            thread=thread,
        )
        error.calls = self.program.calls_of(source)
        return error
