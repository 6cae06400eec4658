"""Nsight Compute's table is read, and its refusals are answered, without a GPU."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from gpukernels.bench import ncu

#: What `ncu --csv --page raw --log-file` writes, shortened.
TABLE = """\
==PROF== Connected to process 71 (/usr/bin/python3.12)
==PROF== Profiling "csr_neighbor_sum" - 0: 0%....50%....100% - 8 passes
==PROF== Disconnected from process 71
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",\
"Grid Size","Device","CC","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",\
"smsp__thread_inst_executed_per_inst_executed.ratio","lts__t_sectors_op_red.sum"
"","","","","","","","","","","","sector","","sector"
"1","71","python3.12","127.0.0.1","coo_neighbor_sum[abi:v2](Array<int, 1>)","1","7",\
"(256, 1, 1)","(32, 1, 1)","0","9.0","4,617","31.50","n/a"
"0","71","python3.12","127.0.0.1","csr_neighbor_sum[abi:v1](Array<int, 1>)","1","7",\
"(256, 1, 1)","(4, 1, 1)","0","9.0","30,412","6.25","0"
"""


def test_the_table_is_read_in_the_order_of_launches():
    first, second = ncu.read(TABLE)
    assert first.kernel.startswith("csr_neighbor_sum")
    assert (first.grid, first.block) == ((4, 1, 1), (256, 1, 1))
    assert first.metrics == {
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 30_412,
        "smsp__thread_inst_executed_per_inst_executed.ratio": 6.25,
        "lts__t_sectors_op_red.sum": 0,
    }
    assert second.kernel.startswith("coo_neighbor_sum")
    assert "lts__t_sectors_op_red.sum" not in second.metrics, "n/a is no zero"


def test_a_log_without_a_table_is_refused():
    with pytest.raises(ncu.ProfilerError, match="no table of ncu"):
        ncu.read("==ERROR== ERR_NVGPUCTRPERM\n")


#: Refuses metrics with "nosuch" in their name, as ncu does, and else writes the table.
PROFILER = f"""#!{sys.executable}
import pathlib, sys
if "--version" in sys.argv:
    print("NVIDIA (R) Nsight Compute Command Line Profiler\\nVersion 2025.3.1.0 (build 1)")
elif "--query-metrics" in sys.argv:
    print("Device NVIDIA H200 (GH100)\\n----\\nl1tex__t_sectors  Counter  sector  # of sectors")
else:
    asked = sys.argv[sys.argv.index("--metrics") + 1].split(",")
    log = pathlib.Path(sys.argv[sys.argv.index("--log-file") + 1])
    for name in asked:
        if "nosuch" in name:
            sys.exit(f"==ERROR== Failed to find metric {{name}}")
    if "fail" in sys.argv:
        sys.exit("==ERROR== ERR_NVGPUCTRPERM")
    log.write_text({TABLE!r})
"""


@pytest.fixture
def profiler(tmp_path) -> str:
    file = Path(tmp_path, "ncu")
    file.write_text(PROFILER)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def test_a_metric_that_the_profiler_does_not_know_does_not_lose_the_run(profiler, tmp_path):
    table = tmp_path / "table.csv"
    wanted = ["a__nosuch.sum", "l1tex__t_sectors.sum", "b__nosuch.sum"]
    assert ncu.profile(profiler, ["true"], table, wanted) == ["l1tex__t_sectors.sum"]
    assert len(ncu.read(table.read_text())) == 2


def test_only_metrics_that_the_profiler_lists_are_asked_for(profiler):
    wanted = ("l1tex__t_sectors.sum", "gone__since.sum", "smsp__sass_unlisted.sum")
    found = ncu.known(profiler, wanted)
    assert found == ["l1tex__t_sectors.sum", "smsp__sass_unlisted.sum"]
    assert ncu.known("true", wanted) == list(wanted), "it lists none"
    assert ncu.version(profiler) == "2025.3.1.0"


def test_another_failure_is_told_in_the_profilers_words(profiler, tmp_path):
    with pytest.raises(ncu.ProfilerError, match="ERR_NVGPUCTRPERM"):
        ncu.profile(profiler, ["fail"], tmp_path / "table.csv", ["l1tex__t_sectors.sum"])


def test_a_machine_without_the_profiler_says_so(monkeypatch):
    monkeypatch.setattr(ncu.shutil, "which", lambda *_, **__: None)
    with pytest.raises(ncu.ProfilerError, match="not on the path"):
        ncu.find()


def test_metrics_are_named_once():
    assert len(set(ncu.METRICS)) == len(ncu.METRICS)
