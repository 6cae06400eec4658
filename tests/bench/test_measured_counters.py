"""The cases run on the machine, and launches of two sides are matched or refused."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
from types import SimpleNamespace

import pytest

from gpukernels.bench import counter_causes as causes
from gpukernels.bench import counter_page, counters, ncu
from gpukernels.bench.counter_cases import Case, Noted, cases
from gpukernels.bench.counters import COMPARED, Mismatch, compare, match, merge
from gpukernels.device import SimtDevice
from gpukernels.notebook.assembly import sass


@pytest.fixture(scope="module")
def counted():
    return counters.on_the_machine(cases())


def pairs(counted):
    return [(one.noted, one.counters) for one in counted]


def as_profiled(counted, factor=1.0) -> list[ncu.Profiled]:
    """Return what a profiler would say that counts `factor` times what the machine does."""
    return [
        ncu.Profiled(
            f"{one.kernel}[abi:v1](Array<int, 1>)",
            one.grid,
            one.block,
            {
                names[0]: values[name] * (32 if name == "SIMD efficiency" else 1) * factor
                for name, names in COMPARED.items()
            },
        )
        for one, values in pairs(counted)
    ]


def test_there_are_launches_of_more_than_forty_kernels(counted):
    kernels = {one.kernel for one, _ in pairs(counted)}
    assert len(kernels) >= 60
    assert {case.label for case in cases()} == {one.case for one, _ in pairs(counted)}


def test_what_an_h200_counted_for_the_sum_by_arcs(counted):
    ((values),) = [
        v for n, v in pairs(counted) if n.case == "representations: coo neighbor sum, rmat"
    ]
    assert values["atomic sectors"] == 6_575
    assert values["atomic requests"] == 256


def test_cases_count_what_they_are_there_for(counted):
    by_case = {one.case: values for one, values in pairs(counted)}
    assert by_case["simt: a queue of 16"]["local requests"] == 32 * 18
    assert by_case["simt: transpose unpadded"]["bank conflicts"] == 32 * 31
    assert by_case["simt: transpose padded"]["bank conflicts"] == 0
    assert by_case["atomics: int64, 1 side by side"]["atomic sectors"] == 32
    assert by_case["atomics: int64, 8 a sector apart, kept"]["atomic sectors"] == 32
    assert by_case["shared reads: float64, one word"]["bank conflicts"] == 0
    assert by_case["shared reads: float64, every other word"]["bank conflicts"] == 2
    assert by_case["shared reads: int32, one word"]["bank conflicts"] == 0
    assert by_case["simt: a loop of 0 to 15 turns"]["divergent branches"] > 0


def test_two_runs_on_the_machine_launch_the_same(counted):
    chosen = [case for case in cases() if case.label.startswith(("scans", "simt", "mapping"))]
    again = counters.on_the_machine(chosen)
    labels = {case.label for case in chosen}
    assert pairs(again) == [pair for pair in pairs(counted) if pair[0].case in labels]


def test_equal_counters_agree_and_others_are_told(counted):
    noted = [one for one, _ in pairs(counted)]
    rows = merge(noted, as_profiled(counted), counted, cases())
    assert len(rows) == len(counted)
    told = compare({"rows": rows})
    assert len(told) > 1000
    assert all(row["agrees"] for row in told)
    for factor, agree in ((1.04, True), (1.06, False), (0.94, False)):
        rows = merge(noted, as_profiled(counted, factor), counted, cases())
        assert {row["agrees"] for row in compare({"rows": rows})} == {agree}
    rows[0]["why"] = {"SIMD efficiency": {"key": "unrolled"}}
    assert ", unrolled" in counters.report({"rows": rows})
    assert counters.report({"rows": rows}).startswith("0 of ")


A = Noted("c: one", "alpha", (4, 1, 1), (32, 1, 1))
B = Noted("c: one", "beta", (2, 1, 1), (32, 1, 1))
C = Noted("c: two", "alpha", (4, 1, 1), (32, 1, 1))


def seen(*noted):
    return [ncu.Profiled(f"_ZN{n.kernel}", n.grid, n.block, {}) for n in noted]


def test_launches_in_another_order_are_refused():
    match([A, B, C], seen(A, B, C))
    with pytest.raises(Mismatch, match="launch 0 is alpha"):
        match([A, B, C], seen(B, A, C))
    with pytest.raises(Mismatch, match="launch 2"):
        match([A, B, C], seen(A, B, dataclasses.replace(C, grid=(5, 1, 1))))
    with pytest.raises(Mismatch, match="3 launches were made, and 2 profiled"):
        match([A, B, C], seen(A, B))


def test_launches_that_only_one_side_has_are_refused_where_order_is_fixed():
    sums = dict.fromkeys(COMPARED, 1)
    machine = [counters.Seen(one, sums, {}, [0, 0], (), None, ()) for one in (A, B)]
    ordered = [Case("c", "one", print), Case("c", "two", print)]
    with pytest.raises(Mismatch, match=r"launch 0 of beta in 'c: one'.*no such launch on the GPU"):
        merge([A], seen(A), machine, ordered)
    with pytest.raises(Mismatch, match="launch 0 of alpha in 'c: two'"):
        merge([A, B, C], seen(A, B, C), machine, ordered)
    free = [dataclasses.replace(case, ordered=False) for case in ordered]
    rows = merge([A, C], seen(A, C), machine, free)
    assert [(row["case"], row["kernel"]) for row in rows] == [("c: one", "alpha")]


def test_what_was_collected_is_written_and_read_again(counted, tmp_path, monkeypatch):
    chosen = [case for case in cases() if case.group == "simt"][:4]
    some = counters.on_the_machine(chosen)
    monkeypatch.setattr(counters, "cases", lambda: chosen)
    noted = [dataclasses.asdict(one) for one, _ in pairs(some)]
    here = {"device": "some GPU", "driver": "1", "numba_cuda": "2", "date": "3", "commit": "4"}
    (tmp_path / "launches.json").write_text(json.dumps({"environment": here, "launches": noted}))
    profiled = as_profiled(some)
    names = list(profiled[0].metrics)
    told = {"ncu": "2025.3", "metrics": names}
    (tmp_path / "profiler.json").write_text(json.dumps(told))
    head = ["ID", "Kernel Name", "Block Size", "Grid Size", *names]
    lines = [head, [""] * len(head)]
    for k, p in enumerate(profiled):
        lines.append([k, p.kernel, p.block, p.grid, *p.metrics.values()])
    text = "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines)
    (tmp_path / "ncu.csv").write_text("==PROF== Connected\n" + text)
    counters.main(["--merge", str(tmp_path), "--folder", str(tmp_path)])
    kept = counters.kept_counters(tmp_path)
    assert kept["device"] == "some GPU"
    assert kept["ncu"] == "2025.3"
    assert [row["kernel"] for row in kept["rows"]] == [one.kernel for one, _ in pairs(some)]
    assert [row["machine"] for row in kept["rows"]] == [values for _, values in pairs(some)]
    assert all(row["agrees"] for row in compare(kept))
    assert counters.kept_counters(tmp_path / "elsewhere") is None


def test_a_launch_that_has_changed_since_is_left_out_until_it_is_measured(
    tmp_path, monkeypatch, capsys
):
    chosen = [case for case in cases() if case.group == "simt"][:4]
    some = counters.on_the_machine(chosen)
    noted = [one for one, _ in pairs(some)]
    rows = merge(noted, as_profiled(some, 1.2), some, chosen)
    rows[1]["machine"] = {**rows[1]["machine"], "load requests": 7}
    names = list(rows[0]["machine"])
    kept = {"metrics": list(rows[0]["ncu"]), "counters": names, "code": {}, "rows": rows[:3]}
    (tmp_path / "counters.json").write_text(counters.as_text(kept))
    monkeypatch.setattr(counters, "cases", lambda: chosen)
    counters.main(["--refresh", "--folder", str(tmp_path)])
    said = capsys.readouterr().out
    assert "to measure again: simt: copy of every 2th | copy_strided 0" in said
    assert "to measure again: simt: cheap arms of an if | odd_and_even 0" in said
    left = counters.kept_counters(tmp_path)
    assert [row["case"] for row in left["rows"]] == [noted[0].case, noted[2].case]
    assert set(left["code"]) == {"copy_strided", "odd_and_even"}
    assert all("load requests" not in row.get("why", {}) for row in left["rows"])


def test_a_run_on_a_gpu_writes_what_it_launched(tmp_path, monkeypatch):
    class Gpu(SimtDevice):
        """A device that says what a GPU does."""

        _cuda = SimpleNamespace(synchronize=lambda: None)
        resident_threads = 270_336

        def cooperative_blocks(self, kernel, threads, *arguments):
            return 264

    chosen = [case for case in cases() if case.group == "mapping" or "bfs4k" in case.name]
    monkeypatch.setattr(counters, "cases", lambda: chosen)
    monkeypatch.setattr(counters, "CudaDevice", Gpu)
    monkeypatch.setattr(counters.record, "environment", lambda device, commit: {"commit": commit})
    file = tmp_path / "launches.json"
    counters.main(["--launch", "--noted", str(file), "--commit", "abc"])
    written = json.loads(file.read_text())
    assert written["environment"] == {"commit": "abc"}
    # A larger device launches no more than the machine.
    machine = counters.on_the_machine(chosen)
    assert [one["kernel"] for one in written["launches"]] == [
        one.kernel for one, _ in pairs(machine)
    ]
    assert [tuple(one["grid"]) for one in written["launches"]] == [
        one.grid for one, _ in pairs(machine)
    ]


def test_launches_are_collected_by_a_run_under_the_profiler(tmp_path, monkeypatch, capsys):
    asked = []

    def profile(profiler, command, table, names):
        asked.append((profiler, command, names))
        table.write_text('"ID","Kernel Name","Block Size","Grid Size"\n"0","k","1","1"\n')
        return names[:2]

    monkeypatch.setattr(ncu, "find", lambda: "/bin/ncu")
    monkeypatch.setattr(ncu, "known", lambda profiler: ["a.sum", "b.sum", "c.sum"])
    monkeypatch.setattr(ncu, "version", lambda profiler: "2025.3")
    monkeypatch.setattr(ncu, "profile", profile)
    folder = tmp_path / "new"
    counters.main(["--collect", str(folder), "--commit", "abc"])
    ((profiler, command, names),) = asked
    assert profiler == "/bin/ncu"
    assert names == ["a.sum", "b.sum", "c.sum"]
    module = ["-m", "gpukernels.bench.counters", "--launch", "--commit", "abc"]
    assert command[1:] == [*module, "--noted", str(folder / "launches.json")]
    told = json.loads((folder / "profiler.json").read_text())
    assert told == {"ncu": "2025.3", "metrics": ["a.sum", "b.sum"]}
    assert "1 launches, 2 metrics" in capsys.readouterr().out


def test_the_commit_is_asked_for(capsys):
    with pytest.raises(SystemExit):
        counters.main(["--collect", "somewhere"])
    assert "--commit" in capsys.readouterr().err


def test_every_metric_that_is_compared_is_asked_for():
    assert {name for names in COMPARED.values() for name in names} <= set(ncu.METRICS)


# The record of an H200 -------------------------------------------------------


@pytest.fixture(scope="module")
def kept():
    return counters.kept_counters()


def test_the_record_holds_what_the_machine_counts_today(kept, counted):
    today = {key: sums for key, _, sums in counters._numbered(*counters._sides(counted))}
    recorded = {(r["case"], r["kernel"], r["launch"]): r["machine"] for r in kept["rows"]}
    # Where order matters, a launch that the GPU did not make in this shape is left out.
    assert recorded == {key: today[key] for key in recorded}
    assert len({kernel for _, kernel, _ in recorded}) >= 70


def test_each_counter_agrees_or_its_reason_is_borne_out_by_todays_kernel(kept, counted):
    again = copy.deepcopy(kept)
    counters.explain(again, counted)
    off = [row for row in compare(again) if not row["agrees"]]
    assert [row["why"] for row in off] == [r["why"] for r in compare(kept) if not r["agrees"]]
    assert [row for row in off if row["why"] is None] == []
    page = counter_page.PAGE.read_text()
    for row in off:
        assert f"({causes.SECTIONS[row['why']['key']]})=\n## " in page
    main = [r for r in compare(again) if r["counter"] != "divergent branches"]
    assert sum(r["agrees"] for r in main) / len(main) > 0.8


def test_loads_in_copies_of_a_loop_move_the_sectors_that_the_gpu_counts(kept, counted):
    seen = {key: one for key, _, one in counters._numbered(counters._sides(counted)[0], counted)}
    exact = {"first": set(), "last": set()}
    for row in kept["rows"]:
        one = seen[row["case"], row["kernel"], row["launch"]]
        there = row["ncu"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
        if there > row["machine"]["load sectors"] and row["ordered"]:
            for rest, sectors in zip(exact, one.in_copies, strict=True):
                if sectors == there:
                    exact[rest].add(row["kernel"])
    rows = {"csr_neighbor_sum", "csr_row_sum", "csr_weighted_sum_soa", "csr_weighted_sum_packed"}
    chunks = {"write_by_block_search", "write_two_phase", "write_multi_phase"}
    assert rows <= exact["last"]
    assert chunks <= exact["first"]
    assert "write_by_block_search" not in exact["last"]
    (block,) = (row for row in kept["rows"] if row["kernel"] == "write_by_block_search")
    assert block["machine"]["load sectors"] == 129
    assert block["why"]["load sectors"]["predicted"] == 137


def wrong(kept, counted, counter, change):
    """Return for how many launches a wrong counter of the machine finds no reason."""
    again = copy.deepcopy(kept)
    for row in again["rows"]:
        row["machine"][counter] = change(row["machine"])
    counters.explain(again, counted)
    return sum(
        r["counter"] == counter and not r["agrees"] and r["why"] is None for r in compare(again)
    )


def test_a_metric_that_is_wrong_finds_no_reason(kept, counted):
    # Atomics without their passes, and the rules of bank conflicts and sectors forgotten.
    assert wrong(kept, counted, "atomic sectors", lambda m: m["atomic requests"]) > 40
    assert wrong(kept, counted, "bank conflicts", lambda m: 2 * m["bank conflicts"]) > 5
    assert wrong(kept, counted, "load sectors", lambda m: m["load requests"]) > 100
    assert wrong(kept, counted, "load requests", lambda m: 2 * m["load requests"]) > 100
    assert wrong(kept, counted, "store requests", lambda m: m["store requests"] / 2) > 60


def listings():
    """Return what the page lists: kernel, whether it depends on the compiler's version, text."""
    found = re.findall(
        r"<!-- sass: (\w+)(, compiler)? -->\n```text\n(.*?)```",
        counter_page.PAGE.read_text(),
        re.DOTALL,
    )
    assert len(found) >= 8
    return [pytest.param(*parts, id=parts[0]) for parts in found]


@pytest.mark.parametrize(("kernel", "varies", "text"), listings())
def test_the_instructions_on_the_page_are_the_compilers(kernel, varies, text, kept, counted):
    one = next(one for one in counted if one.noted.kernel == kernel)
    code = sass(one.kernel, one.signature)
    opcodes = iter(i.opcode for i in code.instructions)
    for line in text.splitlines():
        shown = line.removeprefix("@P0").removeprefix("@P1").split()[0]
        assert shown in opcodes, line
    facts = causes.in_code(code)
    recorded = kept["code"][kernel]
    for kind in ("load", "store", "atomic", "local"):
        # What a rule compares with the source stays on its side, whatever the compiler's version.
        assert (facts[kind] > one.source[kind]) == (recorded[kind] > one.source[kind])
    assert (facts["votes"] > 0, facts["grid syncs"]) == (
        recorded["votes"] > 0,
        recorded["grid syncs"],
    )
    assert bool(facts["divisions"]) == bool(recorded["divisions"])


def test_the_table_on_the_page_is_that_of_the_record(kept):
    text = counter_page.PAGE.read_text()
    assert text == counter_page.page(text, kept), "python -m gpukernels.bench.counter_page"
    table = counter_page.table(kept)
    assert len(table) < 25_000
    assert table.count("\n| `") >= 70
    assert "(open)" not in table


def test_numbers_in_the_pages_sentences_are_those_of_the_record(kept):
    rows = kept["rows"]
    ran = [
        row["ncu"]["smsp__inst_executed.sum"] / row["machine"]["warp steps"]
        for row in rows
        if row["kernel"] != "divide"
    ]
    assert (round(min(ran), 1), round(max(ran))) == (1.5, 30)
    said = " ".join(counter_page.PAGE.read_text().split())

    def both(case, kernel, counter):
        told = compare({"rows": [r for r in rows if r["kernel"] == kernel]}, [counter])
        one = next(r for r in told if r["case"].endswith(case))
        for number in (one["machine"], one["ncu"]):
            text = f"{number:.0%}".replace("%", " %") if number < 1 else f"{number:,.0f}"
            assert text in said or number == 0, (case, counter, text)

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


def test_all_probes_of_colliding_atomics_agree_to_the_last_sector(kept):
    told = compare({"rows": [r for r in kept["rows"] if r["case"].startswith("atomics")]})
    told = [r for r in told if r["counter"] == "atomic sectors"]
    assert len(told) == 76
    assert all(r["machine"] == r["ncu"] for r in told)
