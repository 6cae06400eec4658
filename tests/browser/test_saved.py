"""A figure saved as SVG or PNG looks the same as in the page."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from figure_pages import folder, open_figures  # noqa: F401
from matplotlib.image import imread

#: Figures of each kind of content: graphs, tables, listings, strips, matrices, lines.
NAMES = (
    *("frontier roots", "graph steps", "compare", "warp block", "mapping sizes", "tile", "scan"),
    *("memory", "hash", "relax", "energy", "parts", "workers"),
)


def pixels(png: bytes) -> np.ndarray:
    return imread(io.BytesIO(png))[..., :3]


def saved(page, kind: str) -> tuple[str, bytes]:
    """Save the only figure of a page; return the file's name and content."""
    page.locator(".gk-save summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=f"as {kind}").click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def in_page(page) -> bytes:
    """Return a photo of the figure without the parts that a saved figure leaves out."""
    page.evaluate("document.querySelector('figure').toggleAttribute('data-saved', true)")
    photo = page.locator("figure").screenshot()
    page.evaluate("document.querySelector('figure').toggleAttribute('data-saved', false)")
    return photo


def alone(page, tmp_path, svg: bytes) -> bytes:
    """Return a photo of a saved SVG, opened as a file of its own."""
    file = tmp_path / "saved.svg"
    file.write_bytes(svg)
    page.goto(file.as_uri())
    return page.locator("svg").first.screenshot()


def unlike(one: np.ndarray, other: np.ndarray) -> float:
    """Return the share of pixels that differ; the smoothing of edges may differ."""
    assert max(abs(np.subtract(one.shape, other.shape))) <= 1
    # The last row of a photo may be half figure and half background.
    tall, wide = np.minimum(one.shape, other.shape)[:2] - 1
    apart = np.abs(one[:tall, :wide] - other[:tall, :wide]).max(axis=2)
    return float((apart > 0.35).mean())


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_a_saved_svg_looks_alone_as_in_the_page(open_figures, tmp_path, name, theme):  # noqa: F811
    page = open_figures(name, theme=theme)
    if page.locator(".gk-scrub").count():
        page.locator(".gk-scrub input").press("ArrowLeft")
    photo = pixels(in_page(page))
    _, svg = saved(page, "SVG")
    text = svg.decode()
    # The file needs no other file.
    assert not re.search(r"\b(class|href)=|var\(|<(style|script|image|foreignObject)\b", text)
    apart = unlike(pixels(alone(page, tmp_path, svg)), photo)
    assert apart < 0.004
    # The file has the picture, and not only paper.
    assert np.ptp(photo) > 0.5


def test_a_saved_png_is_the_svg_in_three_times_as_many_pixels(open_figures, tmp_path):  # noqa: F811
    page = open_figures("tile")
    name, png = saved(page, "PNG")
    _, svg = saved(page, "SVG")
    assert name.endswith(".png")
    fine, coarse = pixels(png), pixels(alone(page, tmp_path, svg))
    tall, wide = fine.shape[0] // 3, fine.shape[1] // 3
    assert abs(np.subtract(coarse.shape[:2], (tall, wide))).max() <= 1
    means = fine[: 3 * tall, : 3 * wide].reshape(tall, 3, wide, 3, 3).mean(axis=(1, 3))
    assert unlike(means[: coarse.shape[0], : coarse.shape[1]], coarse[:tall, :wide]) < 0.02


def test_an_iframe_of_another_page_holds_the_figure_alone(open_figures, folder):  # noqa: F811
    page = open_figures("frontier")
    address = f"{page.url.rpartition('/')[2]}#{page.locator('figure').get_attribute('id')}"
    outer = folder / "outer.html"
    frame = f'<iframe src="{address}?show=picture" style="width: 700px; height: 500px"></iframe>'
    outer.write_text(f"<!doctype html><title>Another</title>{frame}")
    page.goto(outer.as_uri())
    inside = page.frame_locator("iframe").locator("figure.gk-wide[data-bare]")
    inside.wait_for()
    # A frame has an edge of 2 pixels, and lies 8 pixels from the edges of its page.
    assert inside.bounding_box() == {"x": 10, "y": 10, "width": 700, "height": 500}
    assert inside.evaluate("(f) => f.scrollHeight - f.clientHeight") <= 1
