"""Colab's versions: which they are, where they come from, how they are renewed, what runs."""

from __future__ import annotations

import datetime
import sys

from built_book import ROOT

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
