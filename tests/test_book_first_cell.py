"""The set-up cell, run as Colab would run it: with a stand-in for Colab and for pip."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from types import SimpleNamespace

import pytest
from built_book import ROOT
from fake_gpu import FakeGpus
from IPython.core.inputtransformer2 import TransformerManager

from gpukernels.device import CudaDevice
from gpukernels.notebook import colab

sys.path.insert(0, str(ROOT / "book"))
import first_cell


@pytest.fixture
def on_colab(monkeypatch):
    """Modules of Colab; the list holds what the set-up called."""
    called = []
    output = types.SimpleNamespace(enable_custom_widget_manager=lambda: called.append("widgets"))
    google = types.ModuleType("google")
    google.colab = types.ModuleType("google.colab")
    google.colab.output = output
    monkeypatch.setitem(sys.modules, "google", google)
    monkeypatch.setitem(sys.modules, "google.colab", google.colab)
    return called


@pytest.fixture
def address(monkeypatch) -> tuple[str, str]:
    """Give the book an address, as `make colab-url` does."""
    where = "https://github.com/someone/copy", "v1.0"
    monkeypatch.setattr(first_cell, "repository", lambda: where)
    return where


def run_cell() -> list[tuple[str, str]]:
    """Run the cell as IPython does; return its magics, which are not carried out."""
    magics: list[tuple[str, str]] = []
    shell = SimpleNamespace(run_line_magic=lambda *words: magics.append(words))
    code = TransformerManager().transform_cell(first_cell.source())
    exec(compile(code, "first cell", "exec"), {"get_ipython": lambda: shell})
    return magics


def test_on_colab_a_placeholder_is_refused_before_anything_is_installed(on_colab, monkeypatch):
    owner = "https://github.com/OWNER/graphs-on-the-gpu", "main"
    monkeypatch.setattr(first_cell, "repository", lambda: owner)
    with pytest.raises(RuntimeError, match="`make colab-url URL="):
        run_cell()
    assert on_colab == []


def test_on_colab_it_installs_the_library_and_leaves_numba_and_cuda_alone(
    on_colab, address, monkeypatch
):
    monkeypatch.setattr(colab, "set_up", lambda: on_colab.append("set up"))
    url, tag = address
    assert run_cell() == [("pip", f"install --no-deps git+{url}@{tag}")]
    assert on_colab == ["set up"]


def test_set_up_names_the_device_that_answers(on_colab, monkeypatch, capsys):
    monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    monkeypatch.setattr(colab.cuda, "is_available", lambda: False)
    colab.set_up()
    printed = capsys.readouterr().out
    assert on_colab == ["widgets"]
    assert colab.NO_GPU in printed
    assert f"Python {sys.version_info[0]}.{sys.version_info[1]}" in printed


@pytest.fixture
def gpu(monkeypatch):
    """A GPU that numba finds; where it lies, kernels run on the SIMT machine."""
    fake = FakeGpus(monkeypatch)
    monkeypatch.delenv("GPUKERNELS_DEVICE", raising=False)
    yield fake
    fake.close()


def test_a_gpu_that_runs_the_probe_is_named(on_colab, gpu, capsys):
    colab.set_up()
    printed = capsys.readouterr().out
    assert "Ready: kernels run on fake." in printed
    assert "No GPU" not in printed
    assert "GPUKERNELS_DEVICE" not in os.environ
    assert gpu.calls["cuMemcpyDtoH"] > 0  # the probe's answer


@pytest.mark.parametrize("failure", ["the driver is too old", "wrote nothing"])
def test_a_gpu_that_cannot_run_the_probe_is_reported_and_set_aside(
    on_colab, gpu, monkeypatch, capsys, failure
):
    def launch(device, kernel, *args, **options):
        if failure != "wrote nothing":
            raise RuntimeError(failure)

    monkeypatch.setenv("GPUKERNELS_DEVICE", "")
    monkeypatch.setattr(CudaDevice, "launch", launch)
    colab.set_up()
    printed = capsys.readouterr().out
    assert f"{failure})" in printed
    assert "cannot run a kernel" in printed
    assert "same results, no times. Runtime > Disconnect and delete runtime" in printed
    assert colab.NO_GPU not in printed
    assert os.environ["GPUKERNELS_DEVICE"] == "simt"
    assert not colab.cuda.is_available()  # or a chapter's cell that takes times would fail


def test_only_what_is_missing_is_installed_and_no_version_is_changed(monkeypatch, capsys):
    commands = []
    monkeypatch.setattr(subprocess, "run", lambda command, **options: commands.append(command))
    colab._install_missing("numpy")
    assert commands == []
    colab._install_missing("a_package_that_is_not_there")
    (command,) = commands
    assert command[1:] == [
        *("-m", "pip", "install", "--quiet", "--upgrade-strategy", "only-if-needed"),
        "a_package_that_is_not_there",
    ]
    assert "Installing a_package_that_is_not_there ..." in capsys.readouterr().out


def test_what_one_chapter_needs_is_installed_on_colab_alone(monkeypatch):
    commands = []
    monkeypatch.setattr(subprocess, "run", lambda command, **options: commands.append(command))
    assert colab.bring("numpy")
    assert not colab.bring("a_package_that_is_not_there")
    assert commands == []
    monkeypatch.setitem(sys.modules, "google.colab", object())
    assert not colab.bring("a_package_that_is_not_there")
    assert commands[0][-1] == "a_package_that_is_not_there"
