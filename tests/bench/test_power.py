"""Power and energy are those of what a meter said, and its thread ends with the block."""

from __future__ import annotations

import builtins
import itertools
import json
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from test_schema import HEAD as HERE

import gpukernels as gk
from gpukernels.bench import energy, power
from gpukernels.bench.power import Nvml, Power, PowerError, Sampling, integral
from gpukernels.bench.schema import contradictions, schema


class Scripted:
    """A meter that says what stands in a list, then its last again; joules grow by `step`."""

    def __init__(self, watts=(100.0,), step=None, fails_after=None):
        self._watts, self.asked, self.closed = list(watts), 0, 0
        self._step, self._joules, self._fails_after = step, 1000.0, fails_after

    def watts(self) -> float:
        self.asked += 1
        if self._fails_after is not None and self.asked > self._fails_after:
            raise PowerError("NVML's power failed: the GPU is lost")
        return self._watts[min(self.asked, len(self._watts)) - 1]

    def joules(self) -> float | None:
        if self._step is None:
            return None
        self._joules += self._step
        return self._joules

    def close(self) -> None:
        self.closed += 1


def samples(meter: Scripted, count: int, **options) -> Power:
    """Return what a block sees that lasts until the meter has been asked so often."""
    with Sampling(meter, interval=1e-4, **options) as seen:
        while meter.asked < count - 1:
            time.sleep(1e-4)
    return seen


def test_energy_is_the_area_under_samples_that_come_irregularly():
    # By hand: 1 s at 100 to 200 W, half a second at 200 to 200, 4 s at 200 to 50.
    assert integral([0, 1, 1.5, 5.5], [100, 200, 200, 50]) == 150 + 100 + 500
    rng = np.random.default_rng(1)
    seconds, watts = np.sort(rng.random(50)) * 9, rng.integers(50, 700, 50)
    assert integral(seconds, watts) == pytest.approx(np.trapezoid(watts, seconds))
    assert integral([3.0], [100.0]) == 0


def test_peak_and_average_are_those_of_windows_side_by_side():
    # By hand: 0.2 s at 700 W, then 0.2 s that fall to 100 W, then 0.4 s and 0.4 s at 100 W.
    seen = Power([0.0, 0.2, 0.4, 0.8, 1.2], [700.0, 700.0, 100.0, 100.0, 100.0])
    assert seen.windows == pytest.approx([700, 400, 100, 100])
    assert (seen.peak, seen.average) == pytest.approx((700, 250))
    assert (seen.duration, seen.apart) == (1.2, None)


def by_counter(watts: float, seconds: float, step: float, at: float) -> Power:
    """Return samples of so many watts, with a counter that is renewed every `step` seconds."""
    times = np.arange(at, at + seconds, 0.004)
    counted = watts * step * np.floor(times / step + 1e-9)
    return Power(times.tolist(), [0.86 * watts] * times.size, counted.tolist())


@pytest.mark.parametrize("at", [0.0, 0.03, 0.05, 0.097])
@pytest.mark.parametrize("step", [0.004, 0.02, 0.1])
def test_a_counter_that_grows_in_steps_tells_the_power_that_is_drawn(step, at):
    seen = by_counter(500.0, 0.5, step, at)
    # The counter's first and last value differ by five steps or by six, 500 or 600 W.
    assert seen.windows == pytest.approx([500] * len(seen.windows), rel=0.03)
    assert seen.peak >= seen.average == pytest.approx(500, rel=0.03)
    assert seen.apart == pytest.approx(-0.14, abs=0.02)


def test_no_peak_is_below_its_average():
    rng = np.random.default_rng(3)
    for _ in range(100):
        times = np.cumsum(rng.random(60) / 50)
        renewed = rng.random(60) < 0.3
        counted = np.cumsum(np.where(renewed, rng.random(60) * 40, 0))
        seen = Power(times.tolist(), (rng.random(60) * 700).tolist(), counted.tolist())
        assert seen.peak >= seen.average
        assert seen.peak >= sum(seen.windows) / len(seen.windows) - 1e-9


def test_a_block_shorter_than_the_steps_of_the_counter_is_told_by_the_samples():
    seen = Power([0.0, 0.05], [100.0, 300.0], [7.0, 90.0])
    assert (seen.windows, seen.apart) == ([pytest.approx(200)], None)


def test_a_block_has_a_sample_at_its_begin_and_one_at_its_end():
    ticks = itertools.count(10.0, 0.5)
    meter = Scripted([100, 300, 200], step=40.0)
    with Sampling(meter, interval=60, clock=lambda: next(ticks)) as seen:
        pass
    assert (seen.seconds, seen.samples) == ([0.5, 1.0], [100, 300])
    assert seen.counts == [1040, 1080]


def test_samples_are_taken_while_the_block_runs():
    seen = samples(Scripted([100, 500, 200]), 6)
    assert len(seen.samples) >= 6
    assert max(seen.samples) == 500
    assert seen.seconds == sorted(seen.seconds)
    assert 100 <= seen.average <= 500


def alive() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "power"]


def watch(meter: Scripted, raises: bool) -> None:
    """Sample until the meter has been asked four times or fails, and perhaps raise KeyError."""
    with Sampling(meter, interval=1e-4):
        while meter.asked < 4 and alive():
            time.sleep(1e-4)
        if raises:
            raise KeyError


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("fails_after", [None, 0, 1, 3])
def test_the_thread_never_outlives_its_block(fails_after, raises):
    meter = Scripted(fails_after=fails_after)
    expected = KeyError if raises and fails_after != 0 else PowerError
    if fails_after is None and not raises:
        watch(meter, raises)
    else:
        with pytest.raises(expected):
            watch(meter, raises)
    assert not alive()


def test_a_meter_that_breaks_otherwise_is_told_as_an_error_of_power():
    meter = Scripted()
    with pytest.raises(PowerError, match="no power can be read: division"), Sampling(meter):
        meter.watts = lambda: 1 / 0


class FakeNvml:
    """What `cuda.bindings.nvml` offers: integers, milliwatts and millijoules."""

    def __init__(self, **broken):
        self.broken, self.open = broken, 0

    def _may_fail(self, name):
        if name in self.broken:
            raise RuntimeError(self.broken[name])

    def init_v2(self):
        self._may_fail("init_v2")
        self.open += 1

    def device_get_handle_by_uuid(self, uuid):
        self._may_fail("device_get_handle_by_uuid")
        assert uuid == "GPU-1"
        return 77

    def device_get_power_usage(self, handle):
        self._may_fail("device_get_power_usage")
        assert handle == 77
        return 123_456

    def device_get_total_energy_consumption(self, handle):
        self._may_fail("device_get_total_energy_consumption")
        return 5_000

    def shutdown(self):
        self.open -= 1


def test_nvml_is_asked_in_watts_and_joules_and_closed():
    library = FakeNvml()
    meter = Nvml("GPU-1", library)
    assert (meter.watts(), meter.joules()) == (123.456, 5.0)
    meter.close()
    assert library.open == 0


def test_pynvml_has_other_names_for_the_same():
    other = FakeNvml()
    library = SimpleNamespace(
        nvmlInit=other.init_v2,
        nvmlDeviceGetHandleByUUID=other.device_get_handle_by_uuid,
        nvmlDeviceGetPowerUsage=other.device_get_power_usage,
        nvmlDeviceGetTotalEnergyConsumption=other.device_get_total_energy_consumption,
        nvmlShutdown=other.shutdown,
    )
    assert Nvml("GPU-1", library).watts() == 123.456


def test_a_gpu_that_counts_no_energy_is_sampled_alone():
    missing = {"device_get_total_energy_consumption": "NOT_SUPPORTED"}
    assert Nvml("GPU-1", FakeNvml(**missing)).joules() is None


@pytest.mark.parametrize("name", ["init_v2", "device_get_handle_by_uuid", "device_get_power_usage"])
def test_an_error_of_nvml_is_named_and_nothing_stays_open(name):
    library = FakeNvml(**{name: "NVML_ERROR_NO_PERMISSION"})
    with pytest.raises(PowerError, match=f"NVML's {name} failed: RuntimeError: NVML_ERROR_NO_PERM"):
        Nvml("GPU-1", library)
    assert library.open == 0


def test_a_missing_package_is_named(monkeypatch):
    real = builtins.__import__

    def none(name, *arguments, **options):
        if "nvml" in name:
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(power.importlib, "import_module", lambda name: none(name))
    with pytest.raises(PowerError, match=r"cuda-bindings 13 .* or nvidia-ml-py"):
        power.find()
    found = SimpleNamespace()
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvml", None)
    monkeypatch.setitem(sys.modules, "pynvml", found)
    assert power.find() is found


def run(go, **head) -> energy.Run:
    return energy.Run({"run": "it", **head}, go, lambda: None)


def test_a_run_s_energy_is_that_of_all_its_time_and_less_what_an_idle_gpu_draws():
    device, calls = gk.SimtDevice(), []
    meter = Scripted([300.0])
    timer = energy.SpanTimer(device)
    told = energy.repeated(
        device, run(lambda there: calls.append(there)), meter, 100.0, 0.02, timer
    )
    assert told["average_watts"] == pytest.approx(300, abs=0.01)
    assert told["peak_watts"] == 300
    joules, idle = 300 * told["seconds"], 100 * told["seconds"]
    assert told["joules"] == pytest.approx(joules, rel=0.1)
    assert told["above_idle_millijoules"] == pytest.approx(told["millijoules"] * 2 / 3, abs=2e-4)
    assert joules - idle > 0
    assert told["runs"] < len(calls)  # a moment before that does not count
    assert told["samples"] >= 2
    assert told["windows"] == 1
    assert "counter_apart" not in told
    # Nothing is launched, so all of the time is the host's.
    assert (told["busy_share"], told["host_bound"]) == (0, True)


def test_how_far_the_counter_is_from_the_samples_is_told(monkeypatch):
    device = gk.SimtDevice()
    monkeypatch.setattr(power, "INTERVAL", 1e-3)
    told = energy.repeated(
        device, run(lambda there: None), Scripted([300.0], step=1e-6), 0.0, 0.2,
        energy.SpanTimer(device),
    )  # fmt: skip
    assert told["average_watts"] < 1  # a millionth of a joule for each sample
    assert told["counter_apart"] > 100


@pytest.mark.parametrize(("share", "bound"), [(0.5, True), (0.89, True), (0.9, False), (1, False)])
def test_a_row_says_whether_the_gpu_waited_for_the_host(monkeypatch, share, bound):
    monkeypatch.setattr(energy, "_kernels", lambda *_: energy.median([2.0 * share]))
    monkeypatch.setattr(energy, "_for", lambda *_: [2.0, 2.0])
    device = gk.SimtDevice()
    told = energy.repeated(device, run(lambda there: None), Scripted(), 0.0, 0.0, None)
    assert (told["busy_share"], told["host_bound"]) == (share, bound)


def test_what_is_repeated_is_checked_again_after_the_loop():
    checked = []

    def check():
        checked.append(True)
        if len(checked) == 2:
            raise AssertionError("the loop has spoiled it")

    given = energy.Run({}, lambda there: None, check)
    with pytest.raises(AssertionError, match="spoiled"):
        energy.repeated(
            gk.SimtDevice(), given, Scripted(), 0.0, 0.0, energy.SpanTimer(gk.SimtDevice())
        )


def test_a_wrong_run_has_no_energy():
    def wrong():
        raise AssertionError("blocked is wrong")

    given = energy.Run({}, lambda there: None, wrong)
    with pytest.raises(AssertionError, match="blocked is wrong"):
        energy.repeated(gk.SimtDevice(), given, Scripted(), 0.0, 0.0, None)


def test_every_technique_on_every_workload_and_the_best_searches_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(energy, "QUEUED", 0)
    monkeypatch.setattr(energy, "TARGETS", list(energy.TARGETS)[:2])
    meter = Scripted([200.0])
    few = {"shrink": 16, "repeat": 1, "methods": ["merge_path"], "seconds": 0.0}
    path = energy.write(gk.SimtDevice(), HERE, tmp_path, meter=meter, **few)
    kept = json.loads(path.read_text())
    assert not list(Draft202012Validator(schema("energy")).iter_errors(kept))
    assert contradictions(kept) == []
    rows = kept["times"]
    mapped = [(row["workload"], row["technique"]) for row in rows if row["run"] == "mapping"]
    assert mapped == [(name, "merge_path") for name in energy.TARGETS]
    others = [(row["run"], row["method"]) for row in rows if row["run"] != "mapping"]
    assert {run for run, _ in others} == {"bfs", "sssp", "apsp", "scan"}
    assert len(others) == 7
    assert kept["idle_watts"] == 200
    assert meter.closed == 1


def test_every_technique_that_is_timed_is_measured():
    device = gk.SimtDevice()
    runs = list(energy.of_mapping(device, 20, tuple(energy.METHODS), 1))
    assert len(runs) == len(energy.TARGETS) * len(energy.chosen_techniques(energy.METHODS))
    for found in runs:
        assert found.kernel_ms > 0
        found.check()  # the launches that were kept, made again
        for _ in range(3):
            found.go(device)
        found.check()


def test_a_technique_whose_launches_do_other_work_the_second_time_is_noticed(monkeypatch):
    def once_only(load, device, threads):
        done = device.device if isinstance(device, energy.Replay) else device
        item = np.repeat(np.arange(load.items, dtype=np.int32), np.diff(done.read(load.offsets)))
        load.item[:] = item
        return {"launches": 1}

    monkeypatch.setitem(energy.METHODS, "merge_path", once_only)
    found = next(energy.of_mapping(gk.SimtDevice(), 20, ("merge_path",), 1))
    with pytest.raises(AssertionError, match="merge_path, replayed: item"):
        found.check()


def test_the_meter_is_closed_when_it_fails(tmp_path):
    meter = Scripted(fails_after=1)
    with pytest.raises(PowerError):
        energy.write(gk.SimtDevice(), HERE, tmp_path, meter=meter, seconds=0.0)
    assert meter.closed == 1
