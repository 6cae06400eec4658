"""First frames: drawn by the page's JavaScript without a browser, or in words without an engine."""

import json
import re
import subprocess
import sys
import threading
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from html import escape
from math import floor

import numpy as np
import pytest
from bs4 import BeautifulSoup
from javascript import asked

import gpukernels as gk
from gpukernels.views import GraphView, engine, script
from gpukernels.views.encoding import pack
from gpukernels.views.words import percent

EXAMPLE = gk.example()


def view(**options):
    return GraphView(EXAMPLE, np.arange(16), caption="One <graph> & “more”", **options)


@pytest.fixture
def no_engine(monkeypatch):
    monkeypatch.setattr(engine, "_engine", lambda: None)
    monkeypatch.setattr(engine, "_started", threading.local())


def test_without_an_engine_words_stand_for_the_picture_and_a_page_can_draw_it(no_engine):
    figure = BeautifulSoup(view(title='"Values"').html, "html.parser").find("figure")
    assert figure["aria-label"] == figure.find(class_="gk-title").text == '"Values"'
    assert figure.find("figcaption").text == "One <graph> & “more”"
    assert figure["data-view"] == "graph"
    record = json.loads(figure.find("script").string)
    assert record["description"] in figure.text
    assert not figure.find("svg")


def test_the_package_does_without_an_engine():
    code = (
        "import sys; sys.modules['quickjs'] = None\n"
        "import gpukernels as gk; print(gk.GraphView(gk.example()).html)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "<figure" in ran.stdout
    assert "<svg" not in ran.stdout


def test_a_figure_without_a_reader_has_nothing_that_waits_for_one():
    soup = BeautifulSoup(view().html, "html.parser")
    answers = ".gk-note, .gk-halo, .gk-arc-picked, .gk-wire-picked, .gk-lit, .gk-pointed"
    assert not soup.select(f"{answers}, [tabindex]")
    assert "aria-live" not in view().html


def test_a_still_comes_from_the_record_alone():
    record = view().payload
    draw = engine.function_of(script.still_script(), "draw")
    assert BeautifulSoup(draw(json.dumps(record)), "html.parser").find("svg")
    with pytest.raises(Exception, match="open"):
        draw(json.dumps({**record, "view": "nothing"}))


@pytest.mark.parametrize("odd", ["a\0b", "\x1f", "\u2028", "🙂", "</script>", "&amp;"])
def test_odd_signs_neither_cut_a_figure_nor_end_its_data(odd):
    html = view(title=f"Title {odd}!").html
    assert html.endswith("</script></figure>")
    assert f"Title {escape(odd)}!</p>" in html
    data = re.search(r'<script type="application/json">(.*)</script></figure>$', html, re.DOTALL)
    assert json.loads(data[1])["title"] == f"Title {odd}!"
    assert html.count("</script>") == 1


def test_coordinates_keep_one_decimal_and_halves_go_up():
    values = [0, 3, -3, 0.04, 0.05, 0.25, 0.75, 1.45, 2.5, 1234.449, -0.25, -17.65, 99.96]
    values += (np.arange(-400, 400) / 16).tolist()

    def rounded(value):
        # The digits are those of the stored number, which is seldom the written decimal.
        tenth = abs(Decimal(value)).quantize(Decimal("0.1"), ROUND_HALF_UP)
        sign = "-" if value < 0 else ""
        return sign + str(tenth).removesuffix(".0")

    assert asked(["element"], "(all) => all.map(number)")(values) == [rounded(v) for v in values]


def test_large_counts_have_commas():
    values = [0, 7, 999, 1000, 12345, 123456, 1234567, 2**31]
    texts = asked(["element"], "(all) => all.map(thousands)")(values)
    assert texts == [f"{v:,}" for v in values]
    assert asked(
        ["element"], "() => [count(1, 'arc'), count(2000, 'arc'), count(2, 'a', 'b')]"
    )() == [
        "1 arc",
        "2,000 arcs",
        "2 b",
    ]


def test_shares_are_the_same_in_words_and_in_numbers():
    pairs = [(part, whole) for whole in (0, 1, 3, 8, 64, 200, 999) for part in range(whole + 1)]
    halves_up = [
        f"{floor(Fraction(100 * part, whole) + Fraction(1, 2))}%" if whole else "0%"
        for part, whole in pairs
    ]
    assert [percent(part, whole) for part, whole in pairs] == halves_up
    texts = asked(["element"], "(all) => all.map((pair) => percent(...pair))")(pairs)
    assert texts == halves_up


@pytest.mark.parametrize(
    "column",
    [
        [],
        [0],
        [255, 0],
        [-128, 127],
        [65535],
        [-30000, 5],
        [2**32 - 1],
        [-(2**31), 0],
        np.arange(5000),
        [0.5, -1.25, 2.0**40],
    ],
    ids=lambda column: f"{len(column)} from {column[0] if len(column) else None}",
)
def test_columns_arrive_as_they_were_packed(column):
    numbers = asked(["decode"], "(text) => Array.from(unpack(text))")(pack(column))
    assert numbers == np.asarray(column, dtype=float).tolist()
