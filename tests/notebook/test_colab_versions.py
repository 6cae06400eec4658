"""Colab's versions: which they are, where they come from, how they are renewed, what runs."""

from __future__ import annotations

import datetime
import sys

from built_book import ROOT

sys.path.insert(0, str(ROOT / "book"))
import colab_versions
import pytest

LIST = (ROOT / "requirements-colab.txt").read_text(encoding="utf-8")
PINNED = colab_versions.frozen(LIST)

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


def test_the_command_renews_versions_and_date_and_leaves_names_and_remarks(tmp_path, monkeypatch):
    monkeypatch.setattr(colab_versions, "FILE", tmp_path / "requirements-colab.txt")
    colab_versions.FILE.write_text("# as of 2026-08.\nnumba==0.1\nipython==7; a\nx==1\n")
    (tmp_path / "freeze.txt").write_text(FREEZE)
    colab_versions.main(str(tmp_path / "freeze.txt"))
    new = "# as of {:%Y-%m}.\nnumba==0.62.0\nipython==7.35.0; a\nx==1\n"
    assert colab_versions.FILE.read_text() == new.format(datetime.date.today())


def test_what_is_no_list_is_refused_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(colab_versions, "FILE", tmp_path / "requirements-colab.txt")
    (tmp_path / "page.html").write_text("<html>numba</html>")
    for name in ("", str(tmp_path / "page.html")):
        with pytest.raises(SystemExit, match="expected a file with lines"):
            colab_versions.main(name)
    assert not colab_versions.FILE.exists()
