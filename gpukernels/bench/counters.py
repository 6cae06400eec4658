"""The counters of the SIMT machine beside those that Nsight Compute reads on a GPU.

``python -m gpukernels.bench counters`` runs every launch of `counter_cases` on the current GPU
under ``ncu`` and on the SIMT machine, some minutes, and writes ``data/benchmarks/counters.json``.
In two steps, of which the second needs no GPU::

    python -m gpukernels.bench.counters --collect FOLDER --commit ID
    python -m gpukernels.bench.counters --merge FOLDER

``--refresh`` looks for the reasons of all differences again, and leaves out launches whose kernel
has changed since they were measured. ``--launch`` is what runs under ``ncu``: all launches once, in
a fixed order. `compare` reads the file.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gpukernels.bench import counter_causes as causes
from gpukernels.bench import ncu, record
from gpukernels.bench.counter_cases import Case, Noted, cases, note_launches
from gpukernels.bench.unrolled import load_sectors
from gpukernels.device import CudaDevice, SimtDevice
from gpukernels.notebook.assembly import sass
from gpukernels.trace import ATOMIC, LOAD, STORE, Trace, metrics

_GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_LOCAL = "l1tex__t_{}_pipe_lsu_mem_local_op_{}.sum"

#: Counter of the machine -> the metrics whose sum it stands for.
COMPARED: dict[str, tuple[str, ...]] = {
    "load requests": (_GLOBAL.format("requests", "ld"),),
    "load sectors": (_GLOBAL.format("sectors", "ld"),),
    "store requests": (_GLOBAL.format("requests", "st"),),
    "store sectors": (_GLOBAL.format("sectors", "st"),),
    "atomic requests": tuple(_GLOBAL.format("requests", kind) for kind in ("atom", "red")),
    "atomic sectors": tuple(_GLOBAL.format("sectors", kind) for kind in ("atom", "red")),
    # Their total without a suffix counts other traffic too, even in kernels without shared memory.
    "bank conflicts": tuple(
        f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{kind}.sum"
        for kind in ("ld", "st", "atom")
    ),
    "local requests": tuple(_LOCAL.format("requests", kind) for kind in ("ld", "st")),
    "local sectors": tuple(_LOCAL.format("sectors", kind) for kind in ("ld", "st")),
    "SIMD efficiency": ("smsp__thread_inst_executed_per_inst_executed.ratio",),
    "divergent branches": ("smsp__sass_branch_targets_threads_divergent.sum",),
}

#: The groups of cases, each a chapter or subject.
GROUPS = (
    "representations",
    "scans",
    "mapping",
    "bfs",
    "duplicates",
    "simt",
    "atomics",
    "shared reads",
)

#: How far two counters may be apart and still agree.
TOLERANCE = 0.05
#: Schedules and seeds beside lockstep, for launches whose counts follow who came first.
OTHER_ORDERS = (("warp", 0), *(("random", seed) for seed in range(4)))


class Mismatch(ValueError):
    """Two records of the same launches do not tell of the same ones."""


def machine_counters(trace: Trace) -> dict[str, float]:
    """Return what the machine counted, by the names of `COMPARED` and some more."""
    kinds = {"load": (LOAD,), "store": (STORE,), "atomic": (ATOMIC,)}
    found: dict[str, float] = {}
    for name, kind in kinds.items():
        found[f"{name} requests"] = metrics.requests(trace, "global", kind)
        found[f"{name} sectors"] = int(metrics.sectors(trace, kind).sum())
    for name, kind in kinds.items():
        found[f"shared {name} requests"] = metrics.requests(trace, "shared", kind)
        found[f"shared {name} conflicts"] = int(metrics.bank_conflicts(trace, kind).sum())
    found["bank conflicts"] = int(metrics.bank_conflicts(trace).sum())
    found["local requests"] = metrics.requests(trace, "local")
    found["local sectors"] = int(metrics.local_sectors(trace).sum())
    found["atomic conflicts"] = int(metrics.atomic_conflicts(trace).sum())
    found["warp steps"] = metrics.warp_steps(trace)
    found["SIMD efficiency"] = round(metrics.simd_efficiency(trace), 6)
    found["divergent branches"] = metrics.divergent_branches(trace)
    return found


@dataclasses.dataclass(frozen=True)
class Seen:
    """One launch on the machine: what it is, what was counted, and what tells why a GPU differs.

    Attributes
    ----------
    noted : Noted
        The launch.
    counters : dict
        What `machine_counters` found.
    source, lines : dict, list
        What `counter_causes.in_source` and `counter_causes.efficiency_range` found.
    in_copies : tuple of int
        What `unrolled.load_sectors` found, with the rest first and with the rest last.
    kernel, signature
        What was launched, and at which types.
    """

    noted: Noted
    counters: dict[str, float]
    source: dict[str, int]
    lines: list[float]
    in_copies: tuple[int, ...]
    kernel: Any
    signature: tuple


def on_the_machine(chosen: Iterable[Case], schedule: str = "lockstep", seed: int = 0) -> list[Seen]:
    """Run cases on the SIMT machine; return each launch with its counters."""
    found = []
    for case in chosen:
        noted: list[Noted] = []
        launched: list[tuple] = []
        device = SimtDevice(trace=True, schedule=schedule, seed=seed)
        note_launches(device, case, noted, launched)
        trace = device.trace
        for launch, one, what in zip(trace.launches, noted, launched, strict=True):
            part = trace.select(launch=launch.index)
            source, lines = causes.in_source(part), causes.efficiency_range(part)
            in_copies = tuple(load_sectors(part, rest=rest) for rest in ("first", "last"))
            found.append(Seen(one, machine_counters(part), source, lines, in_copies, *what))
    return found


def launch_all(
    file: Path | None, commit: str = "", groups: Sequence[str] | None = None
) -> list[Noted]:
    """Run every case once on the current GPU, and write which launches that were."""
    device, noted = CudaDevice(), []
    for case in _cases_of(groups):
        note_launches(device, case, noted)
    device._cuda.synchronize()
    if file is not None:
        launches = [dataclasses.asdict(one) for one in noted]
        here = record.environment(device, commit)
        file.write_text(json.dumps({"environment": here, "launches": launches}))
    return noted


def _cases_of(groups: Sequence[str] | None) -> list[Case]:
    return [case for case in cases() if groups is None or case.group in groups]


def match(noted: list[Noted], profiled: list[ncu.Profiled]) -> None:
    """Check that the launches that a run noted are those that the profiler saw, one by one.

    Raises
    ------
    Mismatch
        At the first launch that differs in kernel or shape, or if one has more launches.
    """
    for k, (one, seen) in enumerate(zip(noted, profiled, strict=False)):
        if one.kernel not in seen.kernel or one.grid != seen.grid or one.block != seen.block:
            raise Mismatch(
                f"launch {k} is {one.kernel} {one.grid} {one.block} of '{one.case}', but the "
                f"profiler's is {seen.kernel} {seen.grid} {seen.block}"
            )
    if len(noted) != len(profiled):
        raise Mismatch(f"{len(noted)} launches were made, and {len(profiled)} profiled")


def merge(
    noted: list[Noted],
    profiled: list[ncu.Profiled],
    counted: list[Seen],
    chosen: Iterable[Case],
) -> list[dict[str, Any]]:
    """Return a row a launch: what it is, and both sides' counters.

    Launches belong together that are the same of their kernel in their case, by number. Where
    threads may come in any order, one side may have a launch that the other has not, or in another
    shape; it is left out.

    Raises
    ------
    Mismatch
        If the profiler saw other launches than were made, or an ordered case has other launches on
        the machine than on the GPU.
    """
    match(noted, profiled)
    on_gpu = {key: (one, seen) for key, one, seen in _numbered(noted, profiled)}
    machine = {key: (one, sums) for key, one, sums in _numbered(*_sides(counted))}
    ordered = {case.label: case.ordered for case in chosen}
    rows = []
    for key in dict.fromkeys([*machine, *on_gpu]):
        case, kernel, number = key
        there, here = on_gpu.get(key), machine.get(key)
        same = there is not None and here is not None and there[0] == here[0]
        if not same and ordered.get(case, True):
            raise Mismatch(
                f"launch {number} of {kernel} in '{case}': {_said(here)} on the machine, "
                f"{_said(there)} on the GPU"
            )
        if not same:
            continue
        rows.append(
            {
                "case": case,
                "kernel": kernel,
                "launch": number,
                "grid": list(here[0].grid),
                "block": list(here[0].block),
                "ordered": ordered.get(case, True),
                "machine": here[1],
                "ncu": there[1].metrics,
            }
        )
    return rows


def _said(pair) -> str:
    return "no such launch" if pair is None else f"{pair[0].grid} {pair[0].block}"


def _sides(counted):
    return [one.noted for one in counted], [one.counters for one in counted]


def _numbered(noted, others):
    """Yield each launch with its case, its kernel, and its number among those."""
    seen: Counter = Counter()
    for one, other in zip(noted, others, strict=True):
        name = one.case, one.kernel
        yield (*name, seen[name]), one, other
        seen[name] += 1


def compare(kept: dict[str, Any], counters: Iterable[str] = COMPARED) -> list[dict[str, Any]]:
    """Return a row a launch and counter that one side at least does not find zero.

    Parameters
    ----------
    kept : dict
        What ``counters.json`` holds, as `kept_counters` returns it.
    counters : iterable of str
        Names of `COMPARED`.

    Returns
    -------
    list of dict
        ``case``, ``kernel``, ``launch``, ``counter``, ``machine``, ``ncu``, ``difference`` (of the
        machine from ncu, as a share of ncu's), ``agrees`` (within `TOLERANCE`), and ``why``: what
        `counter_causes.cause` found, or None.
    """
    rows = []
    for row in kept["rows"]:
        for counter in counters:
            names = [name for name in COMPARED[counter] if name in row["ncu"]]
            if not names:
                continue
            there, here = sum(row["ncu"][name] for name in names), row["machine"][counter]
            if counter == "SIMD efficiency":
                there /= 32
            if not there and not here:
                continue
            difference = (here - there) / there if there else math.inf
            rows.append(
                {
                    **{name: row[name] for name in ("case", "kernel", "launch")},
                    "counter": counter,
                    "machine": here,
                    "ncu": there,
                    "difference": difference,
                    "agrees": abs(difference) <= TOLERANCE,
                    "why": row.get("why", {}).get(counter),
                }
            )
    return rows


def explain(kept: dict[str, Any], counted: list[Seen]) -> None:
    """Put into each row why a counter of it differs, as far as `counter_causes` bears it out.

    Parameters
    ----------
    kept : dict
        What `kept_counters` returns, with ``code``: facts of each kernel's machine code. A row's
        ``others`` are counters of the machine where threads came in other orders.
    counted : list of Seen
        All cases on the machine.
    """
    seen = {key: one for key, _, one in _numbered(_sides(counted)[0], counted)}
    for row in kept["rows"]:
        row.pop("why", None)
        one = seen[row["case"], row["kernel"], row["launch"]]
        warps = math.prod(row["grid"]) * -(-math.prod(row["block"]) // 32)
        executed = row["ncu"].get("smsp__inst_executed.sum", 0) / warps
        code = {**kept["code"][row["kernel"]], "warps": warps, "executed": executed}
        for told in compare({"rows": [row]}):
            if told["agrees"]:
                continue
            name = told["counter"]
            others = row.get("others", {}).get(name, ())
            sides = told["machine"], told["ncu"]
            facts = code, one.source, one.lines, others, _requests(row, name), one.in_copies
            if why := causes.cause(name, *sides, *facts):
                row.setdefault("why", {})[name] = why


def _requests(row, counter) -> tuple[float, float] | None:
    """Return the requests that a counter's sectors or passes belong to, of both sides."""
    kind, _, what = counter.partition(" ")
    if what == "conflicts":
        there = [row["ncu"].get(f"smsp__inst_executed_op_shared_{k}.sum") for k in ("ld", "st")]
        here = [row["machine"][f"shared {k} requests"] for k in ("load", "store")]
        return None if None in there else (sum(here), sum(there))
    if what != "sectors" or kind == "local":
        return None
    names = [name for name in COMPARED[f"{kind} requests"] if name in row["ncu"]]
    return row["machine"][f"{kind} requests"], sum(row["ncu"][name] for name in names)


def code_of(counted: Iterable[Seen], kernels: Iterable[str] | None = None) -> dict[str, Any]:
    """Compile the kernels that were launched, at the types of their first launch."""
    found: dict[str, Any] = {}
    for one in counted:
        name = one.noted.kernel
        if name not in found and (kernels is None or name in kernels):
            found[name] = causes.in_code(sass(one.kernel, one.signature))
    return found


def other_orders(kept: dict[str, Any], counted: list[Seen]) -> None:
    """Keep what `counted`, under another schedule, has for counters that differ from a GPU's."""
    seen = {key: one for key, _, one in _numbered(_sides(counted)[0], counted)}
    for row in kept["rows"]:
        one = seen.get((row["case"], row["kernel"], row["launch"]))
        if one is None or row["ordered"]:
            continue
        for told in compare({"rows": [row]}):
            if not told["agrees"]:
                name = told["counter"]
                row.setdefault("others", {}).setdefault(name, []).append(one.counters[name])


def collect(folder: Path, commit: str, groups: Sequence[str] | None = None) -> None:
    """Run all launches under the profiler; keep its table and what was launched in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    profiler = ncu.find()
    command = [sys.executable, "-m", "gpukernels.bench.counters", "--launch"]
    command += ["--commit", commit, "--noted", str(folder / "launches.json")]
    command += [] if groups is None else ["--groups", *groups]
    table = folder / "ncu.csv"
    asked = ncu.profile(profiler, command, table, ncu.known(profiler))
    told = {"ncu": ncu.version(profiler), "metrics": asked}
    (folder / "profiler.json").write_text(json.dumps(told))
    print(f"{len(ncu.read(table.read_text()))} launches, {len(asked)} metrics; see {folder}")


def as_text(kept: dict[str, Any]) -> str:
    """Return a record as JSON with a launch a line; each side's counters are lists."""
    head = {name: value for name, value in kept.items() if name not in ("rows", "code")}
    head = json.dumps(head, indent=1).removesuffix("\n}")
    code = [f"  {json.dumps(name)}: {json.dumps(facts)}" for name, facts in kept["code"].items()]
    head += ',\n "code": {\n' + ",\n".join(code) + "\n }"
    rows = []
    for row in kept["rows"]:
        sides = {
            "machine": [row["machine"][name] for name in kept["counters"]],
            "ncu": [row["ncu"].get(name) for name in kept["metrics"]],
        }
        rows.append("  " + json.dumps({**row, **sides}))
    return head + ',\n "rows": [\n' + ",\n".join(rows) + "\n ]\n}\n"


def kept_counters(folder: Path = record.FOLDER) -> dict[str, Any] | None:
    """Return what ``counters.json`` holds, with the counters of both sides by name, or None."""
    kept = record.kept("counters", folder)
    if kept is not None:
        for row in kept["rows"]:
            row["machine"] = dict(zip(kept["counters"], row["machine"], strict=True))
            values = zip(kept["metrics"], row["ncu"], strict=True)
            row["ncu"] = {name: value for name, value in values if value is not None}
    return kept


def write_profiled(
    device,
    here: dict[str, Any],
    folder: Path,
    *,
    groups: Sequence[str] | None = None,
) -> Path:
    """Collect and merge; return the path of the file. The launches have a process of their own."""
    with tempfile.TemporaryDirectory() as collected:
        collect(Path(collected), here["commit"], groups)
        return write(Path(collected), folder, groups)


def write(folder: Path, into: Path = record.FOLDER, groups: Sequence[str] | None = None) -> Path:
    """Merge what `collect` kept with the machine's counters into ``counters.json``."""
    made = json.loads((folder / "launches.json").read_text())
    told = json.loads((folder / "profiler.json").read_text())
    noted = [
        Noted(one["case"], one["kernel"], tuple(one["grid"]), tuple(one["block"]))
        for one in made["launches"]
    ]
    profiled = ncu.read((folder / "ncu.csv").read_text())
    match(noted, profiled)
    chosen = _cases_of(groups)
    counted = on_the_machine(chosen)
    rows = merge(noted, profiled, counted, chosen)
    kept = {
        "what": "counters of the SIMT machine and of Nsight Compute, by launch",
        **made["environment"],
        **told,
        "counters": list(rows[0]["machine"]),
        "rows": rows,
    }
    return _write_explained(kept, counted, chosen, into)


def _write_explained(kept, counted, chosen, into: Path) -> Path:
    kept["code"] = code_of(counted)
    free = [case for case in chosen if not case.ordered]
    for schedule, seed in OTHER_ORDERS:
        other_orders(kept, on_the_machine(free, schedule, seed))
    explain(kept, counted)
    into.mkdir(parents=True, exist_ok=True)
    path = into / "counters.json"
    path.write_text(as_text(kept))
    return path


def refresh(into: Path = record.FOLDER) -> tuple[Path, list[str]]:
    """Look for all reasons again, and leave out the launches that are no longer what was measured.

    What the profiler counted belongs to the kernels of its day. A launch for which the machine
    counts something else today, or which is not made any more, has to be measured again.

    Returns
    -------
    path : pathlib.Path
        The file that was written.
    left_out : list of str
        The launches without a row now: changed ones, and new ones that were never measured.
    """
    kept, chosen = kept_counters(into), cases()
    counted = on_the_machine(chosen)
    today = {key: sums for key, _, sums in _numbered(*_sides(counted))}
    measured = {(r["case"], r["kernel"], r["launch"]): r for r in kept["rows"]}
    same = [key for key, row in measured.items() if today.get(key) == row["machine"]]
    kept["rows"] = [measured[key] for key in same]
    for row in kept["rows"]:
        row.pop("others", None)
    path = _write_explained(kept, counted, chosen, into)
    gone = sorted({*today, *measured} - set(same))
    return path, [f"{case} | {kernel} {number}" for case, kernel, number in gone]


def report(kept: dict[str, Any]) -> str:
    """Return how many counters agree, and those that do not, a line each."""
    rows = compare(kept)
    lines = [f"{sum(r['agrees'] for r in rows)} of {len(rows)} counters within {TOLERANCE:.0%}"]
    for r in rows:
        if not r["agrees"]:
            lines.append(
                f"{r['case']} | {r['kernel']} {r['launch']} | {r['counter']}: "
                f"machine {r['machine']:,.6g}, ncu {r['ncu']:,.6g} ({r['difference']:+.1%})"
                + (f", {r['why']['key']}" if r["why"] else ", not explained")
            )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Launch, collect, merge or look: ``python -m gpukernels.bench counters`` does all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--launch", action="store_true", help="run every case once on the GPU")
    mode.add_argument("--collect", type=Path, metavar="FOLDER", help="that, under ncu, kept there")
    mode.add_argument("--merge", type=Path, metavar="FOLDER", help="write what was collected there")
    mode.add_argument("--refresh", action="store_true", help="leave out kernels changed since")
    mode.add_argument("--compare", action="store_true", help="print what the file says")
    parser.add_argument("--commit", default="", help="the commit that is measured")
    parser.add_argument("--folder", type=Path, default=record.FOLDER, help="where the file is")
    parser.add_argument("--groups", nargs="*", choices=GROUPS, help="some groups of cases alone")
    parser.add_argument("--noted", type=Path, help="where --launch writes what it launched")
    options = parser.parse_args(arguments)
    if options.collect and not options.commit:
        parser.error("--commit is required: the commit that is measured")
    if options.launch:
        print(f"{len(launch_all(options.noted, options.commit, options.groups))} launches")
    elif options.collect:
        collect(options.collect, options.commit, options.groups)
    elif options.merge:
        write(options.merge, options.folder, options.groups)
    elif options.refresh:
        for line in refresh(options.folder)[1]:
            print("to measure again:", line)
    if options.merge or options.refresh or options.compare:
        kept = kept_counters(options.folder)
        print("no counters.json there" if kept is None else report(kept))


if __name__ == "__main__":
    main()
