"""The stored figures of a plain notebook work in a program without their style and script."""

from __future__ import annotations

import json

import pytest
from built_book import ROOT

CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("*.ipynb"))
#: The page around an output in JupyterLab, with the two rules of its prose that harm figures.
LAB = """<!doctype html><html lang="en"><head><meta charset="utf-8"><style>
.jp-RenderedHTMLCommon svg { max-width: 100%; height: auto; }
.jp-RenderedHTMLCommon p { margin-bottom: 1em; text-align: left; }
</style></head><body>OUTPUTS</body></html>"""
OUTPUT = '<div class="jp-RenderedHTMLCommon jp-RenderedHTML">{}</div>'


def figures(book, chapter: str) -> list[str]:
    """Return the HTML of the stored views of a chapter's plain notebook."""
    cells = json.loads((book / "notebooks" / f"{chapter}.ipynb").read_text())["cells"]
    outputs = [o.get("data", {}) for cell in cells for o in cell.get("outputs", [])]
    shown = ["".join(data.get("text/html", "")) for data in outputs]
    return [html for html in shown if 'data-view="' in html]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_stored_figures_play_and_keep_their_size(used_pages, book, tmp_path, chapter):
    stored = figures(book, chapter)
    assert stored
    file, problems = tmp_path / "outputs.html", []
    file.write_text(LAB.replace("OUTPUTS", "".join(OUTPUT.format(html) for html in stored)))

    def note(error):
        problems.append(str(error))

    with used_pages(1280) as page:
        page.on("pageerror", note)
        page.goto(file.as_uri())
        drawn = page.locator("figure.gk-view")
        assert drawn.count() == len(stored)
        for figure in drawn.all():
            assert figure.get_attribute("data-ready") == ""
            for strip in figure.locator("svg.gk-strip").all():
                assert strip.bounding_box()["height"] == float(strip.get_attribute("height"))
        sliders = drawn.locator("input[type=range]").all()
        before = [slider.input_value() for slider in sliders]
        drawn.locator("button.gk-step:enabled:visible").first.click()
        assert [slider.input_value() for slider in sliders] != before
        page.remove_listener("pageerror", note)
    assert problems == []
