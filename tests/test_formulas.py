"""Formulas become MathML when the book is built, each sign in the book's own font."""

from __future__ import annotations

import io
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml
from built_book import ROOT, built_book

sys.path.insert(0, str(ROOT / "book"))
sys.path.insert(0, str(ROOT / "book" / "_ext"))
mathml = pytest.importorskip("mathml", reason="math-core comes with the book's packages")

FONT = ROOT / "book" / "math_font" / "math.woff"
FORMULA = re.compile(r"<math\b.*?</math>", re.S)
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


def pages() -> list[Path]:
    """Return the built pages of the contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    names = [toc["root"], *(c["file"] for part in toc["parts"] for c in part["chapters"])]
    return [built_book() / f"{name}.html" for name in names]


def test_every_sign_of_every_formula_is_in_the_font():
    from fontTools.ttLib import TTFont

    signs = TTFont(io.BytesIO(FONT.read_bytes())).getBestCmap()
    count = 0
    for page in pages():
        for formula in FORMULA.findall(page.read_text(encoding="utf-8")):
            tree = ElementTree.fromstring(formula)
            assert tree.tag == f"{NAMESPACE}math"
            missing = {sign for sign in "".join(tree.itertext()) if ord(sign) not in signs}
            assert missing <= {"\ufe00"}, page  # it asks for another form of the sign before it
            count += 1
    assert count > 300


def test_no_page_loads_a_script_for_formulas():
    for page in pages():
        assert "mathjax" not in page.read_text(encoding="utf-8").lower().split("<article")[0]
    assert not list((built_book() / "_static").rglob("*mathjax*"))


def test_a_mark_behind_a_formula_stays_on_its_line():
    article = "".join(page.read_text(encoding="utf-8") for page in pages())
    assert not re.findall(r"</math>[.,;:?!]", re.sub(r'<span class="held">.*?</span>', "", article))
    assert article.count('<span class="held"><math') > 30


@pytest.mark.parametrize(
    ("tex", "display", "holds"),
    [
        ("n", False, "<mi>n</mi>"),
        (r"\frac{a}{b}", True, "<mfrac><mi>a</mi><mi>b</mi></mfrac>"),
        (r"\min_k d", True, "<munder>"),
        (r"\min_k d", False, "<msub>"),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", True, "<mtable"),
        ("a < b", False, "<mo>&lt;</mo>"),
    ],
)
def test_a_formula_is_an_element_of_mathml(tex, display, holds):
    element = mathml.mathml(tex, display)
    ElementTree.fromstring(element)
    assert holds in element
    assert ('display="block"' in element) == display


@pytest.mark.parametrize("tex", [r"\nosuchcommand", "{", r"\frac{1}"])
def test_what_is_no_formula_is_refused(tex):
    with pytest.raises(mathml.LatexError):
        mathml.mathml(tex)
