"""Colab's versions: which they are, where they come from, how they are renewed, what runs."""

from __future__ import annotations

import datetime
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from built_book import ROOT
from own_make import own_environment

sys.path.insert(0, str(ROOT / "book"))
import colab_versions
from colab_versions import frozen, renewed

LIST = (ROOT / "requirements-colab.txt").read_text(encoding="utf-8")
PINNED = frozen(LIST)

#: As Colab's list begins, and a few of its lines.
FREEZE = """\
# Do not modify this file directly
google-colab @ file:///colabtools/dist/google_colab-1.0.0.tar.gz
IPython==7.35.0
numba==0.62.0
numpy==2.3.5
torch==2.11.0+cu128
"""


def test_what_colab_has_is_pinned():
    assert PINNED["numba"] == "0.61.2"
    assert PINNED["numba-cuda"] == "0.22.2"
    assert PINNED["ipywidgets"] == "7.7.1"
    assert PINNED["anywidget"] == "0.9.21"
    assert PINNED["nvidia-cuda-runtime-cu12"].startswith("12.8.")
    assert PINNED["nvidia-cuda-nvcc-cu12"].startswith("12.8.")


def test_every_line_is_a_remark_or_one_version():
    lines = [line for line in LIST.splitlines() if line and not line.startswith("#")]
    assert all(colab_versions.PIN.fullmatch(line) for line in lines)
    assert len(lines) > 60


def test_it_says_of_when_it_is_where_it_is_from_and_how_to_renew_it():
    head = LIST.partition("\n\n")[0]
    assert colab_versions.DATE.search(head)
    assert "https://github.com/googlecolab/backend-info/blob/main/pip-freeze.gpu.txt" in head
    assert "make colab-versions FREEZE=" in head


def test_nothing_of_it_is_refused_by_the_library():
    from gpukernels.notebook import versions

    for pair in versions.BROKEN:
        package, beside = (versions.numbers(PINNED[name]) for name in (pair.package, pair.beside))
        meets = package <= versions.numbers(pair.last) and beside >= versions.numbers(pair.first)
        assert not meets


def test_a_freeze_is_read_as_pip_names_packages():
    assert frozen(FREEZE) == {
        "ipython": "7.35.0",
        "numba": "0.62.0",
        "numpy": "2.3.5",
        "torch": "2.11.0+cu128",
    }


def test_versions_and_date_are_renewed_and_names_and_remarks_stay():
    old = (
        "# As of then, as of 2026-08: what stays as of 2026-08.\n\n# The library\n"
        'numpy==2.0.2; python_version < "3.13"\nnumpy==2.2.6; python_version >= "3.13"\n'
        "numba==0.61.2\nipython==7.34.0\nhypothesis==6.1\n"
    )
    text, told = renewed(old, frozen(FREEZE), "2027-01")
    assert text == (
        "# As of then, as of 2027-01: what stays as of 2026-08.\n\n# The library\n"
        "numpy==2.3.5\nnumba==0.62.0\nipython==7.35.0\nhypothesis==6.1\n"
    )
    assert told == [
        "numpy 2.0.2 -> 2.3.5",
        "numba 0.61.2 -> 0.62.0",
        "ipython 7.34.0 -> 7.35.0",
        "hypothesis 6.1 stays: it is not on the list",
    ]
    assert renewed(text, frozen(FREEZE), "2027-01") == (text, told[-1:])


def test_the_command_writes_the_file_and_says_what_is_new(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(colab_versions, "FILE", tmp_path / "requirements-colab.txt")
    colab_versions.FILE.write_text(LIST)
    (tmp_path / "freeze.txt").write_text(FREEZE)
    colab_versions.main(str(tmp_path / "freeze.txt"))
    month = datetime.date.today().strftime("%Y-%m")
    assert f"as of {month}" in colab_versions.FILE.read_text()
    assert "numba 0.61.2 -> 0.62.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("", None, "FREEZE= is missing"),
        ("nothing.txt", None, "nothing.txt"),
        ("empty.txt", "", "expected lines such as numba==0.61.2"),
        ("page.html", "<html>numba</html>", "expected lines such as numba==0.61.2"),
    ],
)
def test_what_is_no_list_is_refused_and_nothing_is_written(tmp_path, monkeypatch, name, text, said):
    monkeypatch.setattr(colab_versions, "FILE", tmp_path / "requirements-colab.txt")
    colab_versions.FILE.write_text(LIST)
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(SystemExit, match=re.escape(said)):
        colab_versions.main(str(tmp_path / name) if name else "")
    assert colab_versions.FILE.read_text() == LIST


def planned(*arguments: str) -> str:
    """Return what make would run, with the environments as they would be."""
    made = ["-o", ".venv/test-installed", "-o", ".venv-colab/installed", "-o", "book"]
    plain = own_environment()
    command = ["make", "--dry-run", *made, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=plain, capture_output=True, text=True, check=True
    ).stdout


def test_in_them_run_all_rooms_of_kernels_and_every_plain_notebook_and_in_ci_three_chapters():
    whole, part = planned("test-colab"), planned("test-colab", "FAST=1")
    for room in ("primitives", "mapping", "traversal", "shortest_paths", "all_pairs", "test_ptx"):
        assert f"tests/{room}" in whole
    assert "--bare _build/html/notebooks/*.ipynb" in whole
    chapters = re.findall(r"chapters/(\w+)\.ipynb", part)
    assert len(chapters) >= 3
    for path in (
        *re.findall(r"tests/[\w/.]+", whole + part),
        *(f"chapters/{c}.ipynb" for c in chapters),
    ):
        assert (ROOT / path).exists()
    for line in (whole + part).splitlines():
        if "pytest" in line or "compare_notebooks" in line:
            assert ".venv-colab/bin/python" in line


def test_on_a_gpu_machine_nothing_is_installed_into_its_python():
    recipe = planned("colab-gpu", "PYTHON=their-python")
    assert "their-python -m pip install --quiet --no-deps --target _build/colab ." in recipe
    assert "their-python book/compare_notebooks.py --device cuda" in recipe
    assert "chapters/*.ipynb" in recipe
    assert "venv" not in recipe


@pytest.mark.parametrize("failing", ["", "test-colab", "test"])
def test_ci_runs_both_ends_on_the_summary_of_all_tests_and_fails_if_one_does(tmp_path, failing):
    folder = tmp_path / "project"
    (folder / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("chromium", "make"):
        (tools / name).write_text(f'#!/bin/sh\necho "$@"\n[ "$1" != "{failing}" ]\n')
        (tools / name).chmod(0o755)
    path = f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    run = subprocess.run(
        [folder / ".ci" / "run"],
        env={**os.environ, "PATH": path, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert run.stdout.splitlines() == [
        f"test-colab FAST=1 PYTHON={sys.executable}",
        f"test PYTHON={sys.executable}",
    ]
    assert (run.returncode != 0) == bool(failing)
    assert ("test-colab FAST=1, above" in run.stderr) == (failing == "test-colab")
