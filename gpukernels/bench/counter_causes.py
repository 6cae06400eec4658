"""Why a counter of the machine and a GPU's differ: rules that ask the compiled kernel.

`facts` reads from a kernel's machine code and from the machine's trace what the rules need:
how often the source names an access, and how many instructions the compiler made of it. `cause`
names an explanation only where these facts, or counts of another order of threads, bear it out.
Each explanation is a section of the page "Where a profiler will disagree".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gpukernels.notebook.assembly import Assembly
from gpukernels.trace import REQUEST_KINDS, Trace

#: Key of an explanation -> label of its section on the page.
SECTIONS = {
    "if": "profiler-if",
    "uniform": "profiler-uniform",
    "unrolled": "profiler-unrolled",
    "once": "profiler-once",
    "later": "profiler-later",
    "grid": "profiler-grid",
    "registers": "profiler-local",
    "stack": "profiler-local",
    "order": "profiler-order",
    "steps": "profiler-steps",
}

_OPCODES = {
    "load": ("LDG", "LD"),
    "store": ("STG", "ST"),
    "atomic": ("ATOMG", "ATOM", "RED"),
    "shared load": ("LDS",),
    "shared store": ("STS",),
    "shared atomic": ("ATOMS",),
    "local": ("LDL", "STL"),
}
#: How far a GPU's count may lie from those of the orders that the machine tried.
_NEAR = 0.05


def in_code(code: Assembly) -> dict[str, Any]:
    """Return what the rules ask of a kernel's machine code.

    Returns
    -------
    dict
        How many instructions make each kind of access; ``instructions`` in all; ``branches`` that
        may part lanes; ``loops``; ``votes`` and ``counts`` of bits; ``grid syncs`` and
        ``divisions`` called;
        ``registers``, ``local bytes``; and ``behind a branch``: whether a line of source has one
        load before a branch and another behind it.
    """
    found: dict[str, Any] = {name: code.count(*names) for name, names in _OPCODES.items()}
    found["instructions"] = len(code)
    found["branches"] = len(code.branches)
    found["loops"] = sum(i.target is not None and i.target <= i.address for i in code.select("BRA"))
    found["votes"] = code.count("VOTE", "VOTEU")
    found["counts"] = code.count("POPC", "UPOPC")
    found["grid syncs"] = sum("cudaCGSynchronize" in name for name in code.calls)
    found["divisions"] = sum("div" in name or "rem" in name for name in code.calls)
    found["registers"] = code.registers
    found["local bytes"] = code.local_bytes
    found["behind a branch"] = _behind_a_branch(code)
    return found


def _behind_a_branch(code) -> bool:
    loads = code.select("LDG")
    steers = [i.address for i in code.instructions if i.predicate and i.is_a("BRA")]
    steers += [i.address for i in code.instructions if i.predicate and i.is_a("EXIT")]
    return any(
        a.line == b.line and a.function == b.function and a.address < at < b.address
        for a in loads
        for b in loads
        for at in steers
    )


def in_source(trace: Trace) -> dict[str, int]:
    """Return how many accesses of each kind the lines of source that ran make when they run."""
    table = trace.requests
    spaces = [a.space for a in trace.arrays]
    found = dict.fromkeys(_OPCODES, 0)
    if not len(table):
        return found
    columns = table.source, table.line, table.array, table.kind
    access = np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()
    step = np.stack([access, table.launch, table.block, table.warp, table.step])
    one, count = np.unique(step, axis=1, return_counts=True)
    most = np.zeros(access.max() + 1, np.int64)
    np.maximum.at(most, one[0], count)
    first = np.unique(access, return_index=True)[1]
    for times, row in zip(most.tolist(), first.tolist(), strict=True):
        space, kind = spaces[table.array[row]], REQUEST_KINDS[table.kind[row]]
        if space == "local":
            found["local"] += times
        elif space in ("global", "shared"):
            found[kind if space == "global" else f"shared {kind}"] += times
    return found


def efficiency_range(trace: Trace) -> list[float]:
    """Return the least and the greatest SIMD efficiency of a source line."""
    steps = trace.steps
    if not len(steps):
        return [0.0, 0.0]
    line = np.unique(np.stack([steps.source, steps.line]), axis=1, return_inverse=True)[1].ravel()
    lanes = np.bincount(line, np.bitwise_count(steps.mask)) / np.bincount(line) / 32
    return [round(float(lanes.min()), 6), round(float(lanes.max()), 6)]


def cause(
    counter: str,
    machine: float,
    ncu: float,
    code: dict[str, Any],
    source: dict[str, int],
    lines: Iterable[float],
    others: Iterable[float] = (),
    requests: tuple[float, float] | None = None,
    in_copies: Iterable[int] = (),
) -> dict[str, Any] | None:
    """Return the explanation that the facts bear out, or None.

    Parameters
    ----------
    counter : str
        A name of `counters.COMPARED`.
    machine, ncu : float
        What each side counted.
    code, source, lines : dict, dict, pair of float
        What `in_code`, `in_source` and `efficiency_range` found.
    others : iterable of float
        What the machine counted where threads came in other orders.
    requests : pair of float, optional
        Of a counter of sectors or bank conflicts: the requests that they belong to, on the machine
        and on the GPU. Copies of an instruction, or one left out, explain nothing unless these
        differ too.
    in_copies : iterable of int
        The sectors of loads that `unrolled.load_sectors` predicts. A GPU that counts just these
        says how it ran the loops.

    Returns
    -------
    dict or None
        ``key``, one of `SECTIONS`, and the numbers that bear it out.
    """
    fewer = ncu < machine
    kind = counter.split()[0]
    if counter == "load sectors" and ncu in in_copies and code["load"] > source["load"]:
        return {**_copies(("load",), code, source), "predicted": ncu}
    if counter == "SIMD efficiency":
        low, high = lines
        if low * (1 - _NEAR) <= ncu <= high * (1 + _NEAR):
            return {"key": "steps", "lines": [low, high]}
        return _copies(("load", "store"), code, source)
    if counter == "divergent branches":
        return _branches(machine, ncu, code)
    if kind == "local":
        return _local(ncu, code, source)
    if counter == "bank conflicts":
        kinds = ("shared load", "shared store", "shared atomic")
        split = requests is None or requests[1] != requests[0]
        copies = _copies(kinds, code, source) if split else None
        return _orders(ncu, machine, others) or copies
    if counter == "atomic sectors" and fewer and code["votes"] and code["counts"]:
        return {"key": "uniform", "votes": code["votes"], "counts": code["counts"]}
    if not fewer and code["grid syncs"]:
        return {"key": "grid", "calls": code["grid syncs"]}
    if requests is not None and (
        requests[1] == requests[0] or fewer != (requests[1] < requests[0])
    ):
        return _orders(ncu, machine, others)
    if not fewer and (copies := _copies((kind,), code, source)):
        return copies
    if fewer and code[kind] < source[kind]:
        return {"key": "once", "access": kind, "source": source[kind], "code": code[kind]}
    if fewer and not code["loops"] and code[kind] * code.get("warps", 0) == ncu:
        # Each warp makes each access once: fewer than the source, whose loop is gone.
        return {
            "key": "once",
            "access": kind,
            "source": machine / code["warps"],
            "code": code[kind],
        }
    if orders := _orders(ncu, machine, others):
        return orders
    # At most one more than the source: a line whose last load no lane of this launch came to.
    if fewer and kind == "load" and code["behind a branch"] and code[kind] <= source[kind] + 1:
        return {"key": "later", "source": source[kind], "code": code[kind]}
    return None


def _copies(kinds, code, source):
    for kind in kinds:
        if code[kind] > source[kind] > 0:
            return {"key": "unrolled", "access": kind, "source": source[kind], "code": code[kind]}
    return None


def _branches(machine, ncu, code):
    if ncu < machine:
        return {"key": "if", "branches": code["branches"]}
    return {"key": "steps", "branches": code["branches"]} if code["branches"] else None


def _local(ncu, code, source):
    if not ncu and not code["local"]:
        return {"key": "registers", "code": 0}
    if not ncu and not code["loops"] and code.get("executed", 0) > code["instructions"]:
        # A warp ran more instructions than this code has: another compiler's code.
        found = {"executed": round(code["executed"]), "code": code["instructions"]}
        return {"key": "registers", **found}
    if ncu and code["grid syncs"]:
        return {"key": "grid", "calls": code["grid syncs"]}
    if ncu and code["local"] != source["local"]:
        return {"key": "stack", "source": source["local"], "code": code["local"]}
    return None


def _orders(ncu, machine, others):
    seen = [machine, *others]
    if min(seen) < max(seen) and min(seen) * (1 - _NEAR) <= ncu <= max(seen) * (1 + _NEAR):
        return {"key": "order", "counted": [min(seen), max(seen)]}
    return None
