"""Figures and the window: their height, width and legibility, and their keys.

Every figure that is stored in a notebook is measured in the column of a page of the book, because
these figures have the longest sentences, listings and numbers that readers meet.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from figure_pages import PAGE, folder, open_figures  # noqa: F401

from gpukernels.views.script import classic_script, stylesheet

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted([*(ROOT / "chapters").glob("*.ipynb"), ROOT / "book" / "index.ipynb"])
#: The column of a page of the book, with a figure's edge.
COLUMN = "body { margin: 0 10px } main { max-width: 752px; margin: auto }"
LEAST = 9
#: Marks that need no words: those that separate lines or show the paper.
UNTOLD = {
    "gk-s-grid": "gaps between cells, in the color of paper",
    "gk-f-paper": "paper behind rows of a narrow picture",
    "gk-follow": "not seen: the place that is kept in view",
    "gk-f-future": "its two layers have looks of their own",
    # A comparison gives its scale in words, and marks the best of each graph by a key.
    "gk-s-rule": "the scale",
    "gk-compare-bar-rest": "all but the best",
    "gk-s-dot-rest": "all but the best",
}

MEASURED = """() => [...document.querySelectorAll("figure.gk-view")].map((figure) => {
    const range = figure.querySelector(".gk-scrub input");
    const select = figure.querySelector(".gk-controls > .gk-field:not(.gk-speeds) select");
    const change = (node, value, name) => {
        node.value = value;
        node.dispatchEvent(new Event(name));
    };
    const marks = ":is(.gk-stage, .gk-timeline) svg :is(path, rect)";
    const drawn = (e) => e.getAttribute(e.localName === "path" ? "d" : "width") > "0";
    const heights = [], hidden = [], used = new Set(), keys = new Set();
    let least = [Infinity, ""];
    for (const run of select ? [...select.options].map((o) => o.value) : [""]) {
        if (select) change(select, run, "change");
        const steps = range && range.isConnected ? Number(range.max) + 1 : 1;
        const tall = new Set();
        for (let k = 0; k < steps; k += Math.max(1, Math.floor(steps / 12))) {
            if (steps > 1) change(range, k, "input");
            const box = figure.getBoundingClientRect();
            tall.add(Math.round(box.height));
            for (const part of figure.querySelectorAll(".gk-controls, .gk-now")) {
                if (!part.getClientRects().length) continue;
                const { top, bottom } = part.getBoundingClientRect();
                const inside = top >= box.top - 1 && bottom <= box.bottom + 1;
                if (!inside) hidden.push([run, k, part.className]);
            }
            for (const e of figure.querySelectorAll(".gk-symbol *"))
                e.classList.forEach((name) => keys.add(name));
            for (const e of [...figure.querySelectorAll(marks)].filter(drawn))
                if (!e.closest(".gk-symbol")) e.classList.forEach((name) => used.add(name));
        }
        for (const e of figure.querySelectorAll("*")) {
            const words = [...e.childNodes].some((c) => c.nodeName === "#text" && c.data.trim());
            const folded = e.closest("details:not([open]) > :not(summary)");
            if (!words || folded || !e.getClientRects().length) continue;
            const scale = e.closest("svg") ? e.getScreenCTM().d : 1;
            const size = scale * parseFloat(getComputedStyle(e).fontSize);
            if (size < least[0]) least = [size, `${e.getAttribute("class")}: ${e.textContent}`];
        }
        heights.push([run, [...tall]]);
    }
    return { title: figure.getAttribute("aria-label"), heights, hidden, least,
        untold: [...used].filter((name) => !keys.has(name)) };
})"""


def stored(notebook: Path) -> str:
    """Return the HTML of all figures that a notebook holds."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [o.get("data", {}) for cell in cells for o in cell.get("outputs", [])]
    shown = ["".join(data.get("text/html", "")) for data in outputs]
    return "".join(html for html in shown if 'data-view="' in html)


@pytest.fixture(scope="module")
def page_of(used_pages, tmp_path_factory):
    """Return a function that writes a page of figures and returns its file."""
    place = tmp_path_factory.mktemp("theater")
    (place / "views.js").write_text(classic_script(), encoding="utf-8")
    (place / "views.css").write_text(stylesheet() + COLUMN, encoding="utf-8")

    def written(name, figures):
        file = place / f"{name}.html"
        page = PAGE.format(theme="light", paper="#fff", ink="#222832", figures=figures)
        file.write_text(page, encoding="utf-8")
        return file

    return written


@pytest.fixture(scope="module")
def measured(used_pages, page_of):
    """Return a function that measures every figure of a notebook, once for each width."""
    sizes = {}

    def measure(notebook, width):
        if (notebook, width) not in sizes:
            with used_pages(width) as page:
                page.goto(page_of(notebook.stem, stored(notebook)).as_uri())
                sizes[notebook, width] = page.evaluate(MEASURED)
        assert sizes[notebook, width]
        return sizes[notebook, width]

    return measure


EVERY = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
WIDTHS = pytest.mark.parametrize("width", [1280, 390])


@WIDTHS
@EVERY
def test_every_figure_fits_the_window_as_it_plays_and_can_be_read(measured, notebook, width):
    for figure in measured(notebook, width):
        for run, heights in figure["heights"]:
            assert len(heights) == 1, (figure["title"], run, heights)
            # Pages of these tests are 844 pixels tall.
            assert heights[0] <= 844, (figure["title"], run)
        # Controls and sentence stay in view, words are large enough, and each look has its key.
        assert figure["hidden"] == [], figure["title"]
        assert figure["least"][0] >= LEAST, (figure["title"], figure["least"])
        assert set(figure["untold"]) <= set(UNTOLD), figure["title"]


def test_parts_that_do_not_fit_a_phone_take_turns(used_pages, page_of):
    with used_pages(390) as page:
        page.goto(page_of("turns", stored(ROOT / "chapters" / "hbf.ipynb")).as_uri())
        figure = page.locator("figure.gk-view-relax").first
        buttons = figure.locator(".gk-turns button")
        assert buttons.all_text_contents() == ["no classes", "edge classes", "Key"]
        tall = figure.bounding_box()["height"]
        parts = [".gk-relax-run >> nth=0", ".gk-relax-run >> nth=1", ".gk-key"]
        for turn, button in enumerate(buttons.all()):
            button.click()
            assert [figure.locator(part).is_visible() for part in parts] == [
                k == turn for k in range(3)
            ]
            pressed = [b.get_attribute("aria-pressed") for b in buttons.all()]
            assert pressed == [str(k == turn).lower() for k in range(3)]
            assert figure.bounding_box()["height"] == tall
            assert figure.evaluate("(f) => f.scrollHeight - f.clientHeight") <= 1
        # A step does not change the shown part; paper and a wide window have all parts.
        figure.get_by_role("button", name="Next iteration").click()
        assert buttons.last.get_attribute("aria-pressed") == "true"
        page.emulate_media(media="print")
        assert all(figure.locator(part).is_visible() for part in parts)
        assert not buttons.first.is_visible()
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 1280, "height": 1000})
        page.wait_for_function(
            "() => document.querySelector('figure.gk-view-relax .gk-turns').hidden"
        )
        assert all(figure.locator(part).is_visible() for part in parts)
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_function(
            "() => !document.querySelector('figure.gk-view-relax .gk-turns').hidden"
        )


BELOW = '<p style="height: 2000px">before</p>{}<p style="height: 2000px">after</p>'
#: Panels as around an output of JupyterLab: they scroll, clip and are positioned.
PANEL = (
    '<div style="height: 600px; overflow: auto; contain: strict; transform: translateZ(0)">'
    '<div style="overflow: auto; width: 700px">{}</div></div>'
)


def settled(page, box) -> None:
    """Wait until the figure has the height of `box`: a busy browser lays it out a frame later."""
    height = "document.querySelector('figure').getBoundingClientRect().height"
    page.wait_for_function(f"(height) => {height} === height", arg=box["height"], timeout=10_000)


@pytest.mark.parametrize("around", [BELOW, BELOW.format(PANEL)], ids=["page", "panel"])
@pytest.mark.parametrize("name", ["frontier", "compare", "tile"])
def test_a_figure_takes_the_whole_width_and_gives_it_back(open_figures, name, around):  # noqa: F811
    page = open_figures(name)
    page.evaluate(
        """(around) => {
            const figure = document.querySelector("figure");
            const [place, holder] = [document.createElement("div"), document.createElement("div")];
            holder.innerHTML = around.replace("{}", "<section></section>");
            figure.before(place);
            holder.querySelector("section").append(figure);
            place.append(holder);
            figure.scrollIntoView();
        }""",
        around,
    )
    figure = page.locator("figure")
    before, scrolled = figure.bounding_box(), page.evaluate("scrollY")
    page.get_by_role("button", name="Full width").click()
    wide = figure.bounding_box()
    assert wide["width"] >= 1100
    assert wide["height"] <= 844
    assert figure.locator(".gk-body").bounding_box()["width"] >= 1100
    # The element in the middle of the window is part of the figure, whatever is around it.
    assert page.evaluate("Boolean(document.elementFromPoint(640, 400).closest('figure.gk-wide'))")
    back = page.get_by_role("button", name="Back")
    assert back.evaluate("(button) => button === document.activeElement")
    page.mouse.wheel(0, 900)
    slider = figure.locator(".gk-scrub input")
    if slider.count():
        slider.focus()
    page.keyboard.press("Escape")
    settled(page, before)
    assert figure.bounding_box() == before
    assert page.evaluate("scrollY") == scrolled
    held = slider if slider.count() else page.get_by_role("button", name="Full width")
    assert held.evaluate("(e) => e === document.activeElement")
    # The same again, by the button itself.
    page.get_by_role("button", name="Full width").click()
    page.get_by_role("button", name="Back").click()
    settled(page, before)
    assert figure.bounding_box() == before


def test_tab_stays_in_a_figure_that_hides_the_page(open_figures):  # noqa: F811
    page = open_figures("graph steps", "frontier")
    page.get_by_role("button", name="Full width").last.click()
    for key in ["Tab"] * 12 + ["Shift+Tab"] * 14:
        page.keyboard.press(key)
        assert page.evaluate("Boolean(document.activeElement.closest('figure.gk-wide'))")


def test_an_output_as_low_as_its_content_does_not_squeeze_a_figure(used_pages, page_of):
    inner = page_of("inner", stored(ROOT / "chapters" / "simt.ipynb"))
    outer = inner.with_name("outer.html")
    outer.write_text(f'<iframe src="{inner.name}" style="width: 900px; height: 150px"></iframe>')
    with used_pages(1280) as page:
        page.goto(outer.as_uri())
        frame = page.frame_locator("iframe")
        frame.locator("figure.gk-view-warp button.gk-play").first.wait_for(state="attached")
        tall = frame.locator("figure.gk-view-warp").first.evaluate("(f) => f.offsetHeight")
        assert tall > 500
