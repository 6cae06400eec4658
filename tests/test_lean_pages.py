"""Signs of the theme become drawings in the page; what the search reads are the words of a page."""

from __future__ import annotations

import sys

import pytest
from built_book import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
lean_pages = pytest.importorskip("lean_pages", reason="Sphinx comes with the book's packages")


@pytest.mark.parametrize("tag", ["i", "span"])
def test_a_sign_becomes_a_drawing_that_keeps_its_classes(tag):
    classes = "theme-switch fa-solid  fa-sun fa-lg"
    html = f'<{tag} class="{classes}" data-mode="light" title="Light"></{tag}>'
    page = lean_pages.with_icons(html)
    assert page.startswith('<svg class="sign theme-switch fa-solid fa-sun fa-lg" data-mode="light"')
    assert "<path d=" in page
    assert "title" not in page


def test_a_sign_that_the_file_lacks_is_named():
    with pytest.raises(LookupError, match=r"icons\.svg has no sign for .*fa-anchor.*: add it"):
        lean_pages.with_icons('<i class="fa-solid fa-anchor"></i>')


def test_scripts_for_signs_and_the_other_search_are_left_out_and_no_others():
    kept = '<script src="_static/scripts/bootstrap.js?digest=1"></script>'
    out = '<script defer src="../_static/scripts/fontawesome.js?digest=1"></script>\n'
    assert lean_pages.with_icons(out + kept + '<script src="searchindex.js"></script>') == kept
