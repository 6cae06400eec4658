"""Kernels are shown as they stand in their files."""

import inspect

import pytest

import gpukernels as gk
from gpukernels.traversal.harish import bfs, harish_level


def test_listing_is_the_kernel_s_source_with_its_file():
    listing = gk.show(harish_level)
    assert listing.title == "gpukernels/traversal/harish.py"
    assert listing.text.strip() == inspect.getsource(harish_level.py_func).strip()
    assert repr(listing).startswith("# gpukernels/traversal/harish.py\n@benign_race")


def test_listing_holds_several_functions_in_the_given_order():
    text = gk.show(harish_level, bfs).text
    assert text.index("def harish_level") < text.index("def bfs")


def test_html_listing_escapes_and_highlights():
    html = gk.show(harish_level)._repr_html_()
    assert '<span class="k">def</span>' in html
    assert "u &lt; distance" in html.replace("</span>", "").replace('<span class="o">', "").replace(
        '<span class="n">', ""
    ).replace('<span class="w">', "")


def test_show_refuses_what_is_no_function():
    with pytest.raises(TypeError, match="not int"):
        gk.show(3)


def test_html_listing_scrolls_where_a_notebook_would_wrap_a_name():
    html = gk.show(harish_level)._repr_html_()
    assert '<pre style="white-space: pre; overflow-x: auto">' in html
