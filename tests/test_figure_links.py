"""A build names figures, keeps links that set them, and refuses those that lead nowhere."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from bs4 import BeautifulSoup
from small_book import book_extensions, build  # noqa: F401

import gpukernels as gk

LEVELS = gk.GraphView(gk.example(), np.arange(48).reshape(3, 16), title="Levels", name="levels")
OTHER = gk.GraphView(gk.example(), np.arange(16), title="Others")
ROWS = [("a", "g", {"x": 1})]


def built(tmp_path, *parts):
    """Build a page of these Markdown texts and figures; return it and the build's warnings."""
    texts = [p if isinstance(p, str) else f"```{{raw}} html\n{p.html}\n```" for p in parts]
    book = {"index.md": "\n\n".join(["# Page", *texts])}
    warnings = io.StringIO()
    settings = {"extensions": ["myst_parser", "figure_links"], "html_theme": "basic"}
    build(tmp_path, book, settings, warnings=warnings)
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    return BeautifulSoup(page, "html.parser"), warnings.getvalue()


pytestmark = pytest.mark.usefixtures("book_extensions")


def test_a_link_keeps_its_figure_and_beside_it_what_it_sets(tmp_path):
    page, warnings = built(tmp_path, "[Go](#fig-levels?step=2), [see](#fig-others).", LEVELS, OTHER)
    assert warnings == ""
    go, see = page.find_all("a", string=["Go", "see"])
    assert (go["href"], go["data-gk-state"]) == ("#fig-levels", "step=2")
    assert (see["href"], see.get("data-gk-state")) == ("#fig-others", None)
    assert [f["id"] for f in page.find_all("figure")] == ["fig-levels", "fig-others"]


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("#fig-level?step=2", "no such figure, but #fig-levels"),
        ("#fig-levels?step=3", 'no step "3", but 0 to 2'),
        ("#fig-levels?run=harish", "one run alone"),
        ("#fig-levels?stop=2", 'no "stop"'),
        ("#fig-Levels", "no such figure"),
    ],
)
def test_a_link_to_a_figure_run_or_step_that_is_not_there_fails_the_build(tmp_path, link, reason):
    _, warnings = built(tmp_path, f"[Go]({link})", LEVELS)
    assert f"WARNING: {link}: " in warnings
    assert reason in warnings


def test_a_cell_that_plays_what_is_not_there_fails_the_build(tmp_path):
    lost = gk.CompareView(ROWS, plays={("a", "g"): "#fig-levels?step=7"})
    _, warnings = built(tmp_path, LEVELS, lost)
    assert '#fig-levels?step=7: it has no step "7"' in warnings
    kept = gk.CompareView(ROWS, plays={("a", "g"): "#fig-levels?step=1"})
    assert built(tmp_path, LEVELS, kept)[1] == ""


def test_a_page_says_where_its_figures_have_gone_and_a_wrong_place_fails_the_build(
    tmp_path, monkeypatch
):
    kept = tmp_path / "addresses.txt"
    kept.write_text("index.html#fig-old?step=4 -> index.html#fig-levels?step=2\nother.html\n")
    monkeypatch.setattr("kept_addresses.FILE", kept)
    page, warnings = built(tmp_path, LEVELS)
    assert warnings == ""
    moves = page.select_one("script.gk-moves").string
    assert json.loads(moves) == [["#fig-old?step=4", "#fig-levels?step=2"]]
    kept.write_text("index.html#fig-old?step=4 -> index.html#fig-levels?step=7\n")
    assert '#fig-levels?step=7: it has no step "7"' in built(tmp_path, LEVELS, OTHER)[1]
    kept.write_text("index.html#fig-old\n")
    assert built(tmp_path, LEVELS)[0].select("script.gk-moves") == []


def test_two_figures_of_one_name_fail_the_build(tmp_path):
    assert "two figures are called fig-levels" in built(tmp_path, LEVELS, LEVELS)[1]
