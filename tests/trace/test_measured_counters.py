"""The machine counts today what the record of a profiled run says that it counted."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from counter_cases import cases, note_launches

from gpukernels.device import SimtDevice
from gpukernels.notebook.assembly import sass
from gpukernels.notebook.counters import compare, executed, kept_counters
from gpukernels.trace import ATOMIC, LOAD, STORE, Trace, metrics

#: Measured once: collisions and reads one by one, which test_costs.py counts in a plain loop.
NO_CASE = re.compile("atomics: |shared reads: |simt: tiles of")
PAGE = Path(__file__).parents[2] / "book" / "profiler.md"


def machine_counters(trace: Trace) -> dict[str, float]:
    """Return what the machine counted, by the names of `COMPARED` and some more."""
    kinds = {"load": (LOAD,), "store": (STORE,), "atomic": (ATOMIC,)}
    counters: dict[str, float] = {}
    for name, kind in kinds.items():
        counters[f"{name} requests"] = metrics.requests(trace, "global", kind)
        counters[f"{name} sectors"] = int(metrics.sectors(trace, kind).sum())
    for name, kind in kinds.items():
        counters[f"shared {name} requests"] = metrics.requests(trace, "shared", kind)
        counters[f"shared {name} conflicts"] = int(metrics.bank_conflicts(trace, kind).sum())
    counters["bank conflicts"] = int(metrics.bank_conflicts(trace).sum())
    counters["local requests"] = metrics.requests(trace, "local")
    counters["local sectors"] = int(metrics.local_sectors(trace).sum())
    counters["atomic conflicts"] = int(metrics.atomic_conflicts(trace).sum())
    counters["warp steps"] = metrics.warp_steps(trace)
    counters["SIMD efficiency"] = round(metrics.simd_efficiency(trace), 6)
    counters["divergent branches"] = metrics.divergent_branches(trace)
    return counters


@pytest.fixture(scope="module")
def kept():
    return kept_counters()


@pytest.fixture(scope="module")
def counted():
    """The machine's counters, and the kernel with its types, by case, kernel and number."""
    rows = {}
    for case in cases():
        noted, launched, numbers = [], [], Counter()
        device = SimtDevice(trace=True)
        note_launches(device, case, noted, launched)
        trace = device.trace
        for launch, one, what in zip(trace.launches, noted, launched, strict=True):
            number = numbers[one.kernel]
            numbers[one.kernel] += 1
            sums = machine_counters(trace.select(launch=launch.index))
            rows[one.case, one.kernel, number] = sums, what
    return rows


def test_the_record_holds_what_the_machine_counts_today(kept, counted):
    recorded = {(r["case"], r["kernel"], r["launch"]): r["machine"] for r in kept["rows"]}
    # Where order matters, a launch that the GPU did not make in this shape is left out.
    recorded = {key: counters for key, counters in recorded.items() if not NO_CASE.match(key[0])}
    assert recorded == {key: counted[key][0] for key in recorded}
    assert len({kernel for _, kernel, _ in recorded}) >= 60


def listings():
    """Return what the page lists: a kernel and its instructions."""
    text = PAGE.read_text(encoding="utf-8")
    matches = re.findall(r"<!-- sass: (\w+)(?:, compiler)? -->\n```text\n(.*?)```", text, re.DOTALL)
    assert len(matches) >= 8
    return [pytest.param(*parts, id=parts[0]) for parts in matches]


@pytest.mark.parametrize(("kernel", "text"), listings())
def test_the_instructions_on_the_page_are_the_compilers(kernel, text, counted):
    launched = next(what for (_, name, _), (_, what) in counted.items() if name == kernel)
    opcodes = iter(i.opcode for i in sass(*launched).instructions)
    for line in text.splitlines():
        shown = line.removeprefix("@P0").removeprefix("@P1").split()[0]
        assert shown in opcodes, line


def test_each_counter_agrees_or_has_a_reason(kept):
    assert [r for r in compare(kept) if not r["agrees"] and r["why"] is None] == []


def test_numbers_in_the_pages_sentences_are_those_of_the_record(kept):
    rows = kept["rows"]
    ran = [
        row["ncu"]["smsp__inst_executed.sum"] / row["machine"]["warp steps"]
        for row in rows
        if row["kernel"] != "divide"
    ]
    assert (round(min(ran), 1), round(max(ran))) == (1.5, 30)
    page_text = " ".join(PAGE.read_text(encoding="utf-8").split())

    def both(case, kernel, counter):
        rows_of_counter = compare({"rows": [r for r in rows if r["kernel"] == kernel]}, [counter])
        one = next(r for r in rows_of_counter if r["case"].endswith(case))
        for number in (one["machine"], one["ncu"]):
            text = f"{number:.0%}".replace("%", " %") if number < 1 else f"{number:,.0f}"
            assert text in page_text or number == 0, (case, counter, text)

    both("neighbor sum, road", "csr_neighbor_sum", "load requests")
    both("neighbor sum, road", "csr_neighbor_sum", "SIMD efficiency")
    both("neighbor sum, rmat", "csr_neighbor_sum", "load requests")
    both("0 to 15 turns", "count_to", "load requests")
    both("edge_parallel, tree", "edge_parallel_level", "load requests")
    both("all threads see", "count_uniformly", "atomic sectors")
    both("multi_phase", "write_multi_phase", "local requests")
    both("bfs4k, rmat", "single_block_levels", "local requests")
    (divide,) = [r for r in rows if r["kernel"] == "divide"]
    assert divide["ncu"]["smsp__inst_executed.sum"] / 32 == 152
    (cells,) = [r for r in rows if r["kernel"] == "matrix_has_edge"]
    assert cells["ncu"]["dram__bytes_read.sum"] == 76_544
    assert cells["machine"]["load sectors"] * 32 == 40_960


def test_the_launches_of_a_case_are_added_up(kept):
    rows = [r for r in kept["rows"] if r["case"] == "scans: device scan"]
    assert len(rows) == 4
    steps = sum(r["machine"]["warp steps"] for r in rows)
    instructions = sum(r["ncu"]["smsp__inst_executed.sum"] for r in rows)
    assert executed("scans: ")["device scan"] == (steps, instructions)
