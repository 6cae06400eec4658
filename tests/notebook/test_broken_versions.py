"""Versions that break each other are refused at the import, with a sentence that helps."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gpukernels.notebook import versions

ROOT = Path(__file__).parents[2]

#: Environments that were made and tried: numba, its limit, numba-cuda, NumPy, what is asked for.
SEEN_TO_BREAK = [
    ("0.68.1", "2.6", "0.30.4", "2.5.0", "numpy<2.5"),
    ("0.68.1", "2.6", "0.30.4", "2.5.5", "numpy<2.5"),
    ("0.64.0", "2.5", "0.22.2", "2.4.6", "numpy<2.4"),
    ("0.64.0", "2.5", "0.24.0", "2.4.6", "numpy<2.4"),
    ("0.61.2", "2.3", "0.22.2", "2.3.5", "numpy<2.3"),
    ("0.61.2", "2.3", "0.22.2", "2.5.5", "numpy<2.3"),
    ("0.66.0", "2.5", "0.22.2", "2.3.5", "numba-cuda>=0.30.4"),
    ("0.68.1", "2.6", "0.30.3", "2.4.6", "numba-cuda>=0.30.4"),
]
SEEN_TO_WORK = [
    ("0.61.2", "2.3", "0.22.2", "2.0.2"),
    ("0.61.2", "2.3", "0.22.2", "2.2.6"),
    ("0.61.2", "2.3", "0.30.4", "2.2.6"),
    ("0.64.0", "2.5", "0.26.0", "2.4.6"),
    ("0.65.1", "2.5", "0.22.2", "2.3.5"),
    ("0.67.0", "2.5", "0.30.4", "2.3.5"),
    ("0.68.1", "2.6", "0.30.4", "2.4.6"),
]


@pytest.fixture
def pretend(monkeypatch):
    """Return a function that says which versions there are; None is a package that is missing."""

    def these(numba, limit, numba_cuda, numpy):
        versions_by_name = {"numba": numba, "numba-cuda": numba_cuda, "numpy": numpy}
        needs = {"numba": ["llvmlite<0.45", f"numpy<{limit},>=1.24"] if limit else []}
        monkeypatch.setattr(
            versions, "installed", lambda name: (versions_by_name[name] or "", needs.get(name, []))
        )

    return these


@pytest.mark.parametrize(("numba", "limit", "numba_cuda", "numpy", "remedy"), SEEN_TO_BREAK)
def test_a_pair_that_breaks_is_named_with_what_to_install(
    pretend, numba, limit, numba_cuda, numpy, remedy
):
    pretend(numba, limit, numba_cuda, numpy)
    with pytest.raises(ImportError) as error:
        versions.refuse_broken()
    message = str(error.value)
    assert f'pip install "{remedy}"' in message
    named = [message.count(f" {version}") for version in (numba, numba_cuda, numpy)]
    assert sum(count > 0 for count in named) == 2, message


@pytest.mark.parametrize(("numba", "limit", "numba_cuda", "numpy"), SEEN_TO_WORK)
def test_a_pair_that_works_is_let_through(pretend, numba, limit, numba_cuda, numpy):
    pretend(numba, limit, numba_cuda, numpy)
    versions.refuse_broken()


@pytest.mark.parametrize(
    ("numba", "limit", "numba_cuda", "numpy"),
    [
        ("0.68.1", "2.6", None, "2.5.5"),  # macOS has no numba-cuda
        ("0.68.1", "2.6", "0.31.0", "2.5.5"),  # a release to come may work
        ("0.68.1", None, "0.30.4", "2.4.6"),
        (None, None, None, None),
    ],
)
def test_what_nobody_has_seen_to_break_is_let_through(pretend, numba, limit, numba_cuda, numpy):
    pretend(numba, limit, numba_cuda, numpy)
    assert versions.advice() == ""


@pytest.mark.parametrize(
    ("version", "numbers"),
    [
        ("2.5.0rc1", (2, 5)),
        ("2.5", (2, 5)),
        ("0.30.4", (0, 30, 4)),
        ("2.10.0+cu128", (2, 10)),
        ("10.0", (10,)),
        ("unknown", ()),
    ],
)
def test_versions_compare_as_numbers(version, numbers):
    assert versions.numbers(version) == numbers


def test_what_is_installed_here_is_let_through():
    assert versions.advice() == ""
    assert versions.installed("no-such-package-as-this") == ("", [])


def test_the_package_says_it_before_numba_is_imported(tmp_path):
    """Metadata that come first on the path stand in for another NumPy and numba-cuda."""
    for name, version in (("numpy", "2.5.1"), ("numba_cuda", "0.30.4"), ("numba", "0.68.1")):
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        folder.joinpath("METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
    tmp_path.joinpath("numba.py").write_text("raise SystemExit('numba was imported')\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    run = subprocess.run(
        [sys.executable, "-c", "import gpukernels"],
        env=os.environ | {"PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        "ImportError: numba-cuda 0.30.4 does not work with numpy 2.5.1: it asks for np.row_stack. "
        'Run pip install "numpy<2.5", then start Python again (on Colab: Runtime > Restart session)'
    )


def test_pip_is_told_not_to_choose_a_numpy_that_breaks():
    """numba-cuda does not tell pip, and the newest of both break."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (numpy,) = (need for need in project["dependencies"] if need.startswith("numpy"))
    newest = max((pair for pair in versions.BROKEN if pair.beside == "numpy"), key=_last)
    assert numpy.endswith(f"<{newest.first}")


def _last(pair: versions.BrokenPair) -> tuple[int, ...]:
    return versions.numbers(pair.last)
