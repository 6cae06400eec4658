"""A figure over the whole window in a lecture: its words are legible from the last row, and uncut.

The test measures figures of the chapters, one of each view, because their sentences and numbers are
the longest that an audience sees.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from figure_pages import PAGE, folder, id_of, open_figures  # noqa: F401
from test_theater import stored

from gpukernels.views.script import classic_script, stylesheet

ROOT = Path(__file__).parents[2]
SCREEN = {"width": 1920, "height": 1080}
#: A figure of each view. If a view has a picture that is hard to show, it is this one.
FIGURES = {
    "compare": ("direction", "fig-all-searches-timed"),
    "energy": ("performance_power_energy", "fig-power-plane"),
    "frontier": ("better_queues", "fig-corners"),
    "graph": ("representations", "fig-neighbors"),
    "hash": ("duplicates", "fig-two-warps"),
    "mapping": ("mapping_dynamic", "fig-look-first"),
    "memory": ("shared_memory", "fig-banks"),
    "parts": ("beyond_one_gpu", "fig-parts"),
    "relax": ("hbf", "fig-nine"),
    "scan": ("scans", "fig-warp-sum"),
    "tile": ("floyd_warshall", "fig-inside-a-tile"),
    "warp": ("simt", "fig-unequal"),
    "workers": ("beyond_one_gpu", "fig-workers"),
}
#: The least size of a word on the screen, the elements outside of it, and those that scroll, for
#: each part and several steps. A program may scroll (`gk-program`); closed lists are not shown.
MEASURED = """(figure) => {
    const range = figure.querySelector(".gk-scrub input");
    const folded = (e) => e.closest("details:not([open]) > :not(summary), .gk-room");
    const program = (e) => e.closest(".gk-program") || e.querySelector(".gk-program");
    const seen = (e) => e.getClientRects().length && !folded(e);
    const found = { sizes: [], cut: [], scrolled: [] };
    const measure = (where) => {
        for (const e of figure.querySelectorAll("*")) {
            if (!seen(e)) continue;
            const box = e.getBoundingClientRect();
            if (e.scrollHeight > e.clientHeight + 1 && getComputedStyle(e).overflowY !== "visible"
                && !e.closest("svg") && !program(e)) found.scrolled.push([...where, e.className]);
            const words = [...e.childNodes].some((c) => c.nodeName === "#text" && c.data.trim());
            if (!words) continue;
            const svg = e.closest("svg");
            const unit = svg ? e.getScreenCTM().d : e.currentCSSZoom;
            const size = unit * parseFloat(getComputedStyle(e).fontSize);
            found.sizes.push([size, e.getAttribute("class"), e.textContent.slice(0, 40), ...where]);
            const outside = box.left < -1 || box.top < -1 || box.right > innerWidth + 1
                || box.bottom > innerHeight + 1;
            if (outside && !program(e))
                found.cut.push([...where, e.getAttribute("class"), e.textContent.slice(0, 40)]);
        }
        for (const e of [figure, figure.querySelector(".gk-body")])
            if (e.scrollHeight > e.clientHeight + 1) found.scrolled.push([...where, e.className]);
    };
    const turns = figure.querySelectorAll(".gk-turns:not([hidden]) button");
    for (const turn of turns.length ? turns : [null]) {
        turn?.click();
        const last = range && range.isConnected ? Number(range.max) : 0;
        for (const step of new Set([0, Math.floor(last / 2), last])) {
            if (last) {
                range.value = step;
                range.dispatchEvent(new Event("input"));
            }
            measure([turn ? turn.textContent : "", step]);
        }
    }
    found.sizes = found.sizes.sort(([a], [b]) => a - b).slice(0, 3);
    return found;
}"""


@pytest.fixture(scope="module")
def chapter_page(tmp_path_factory):
    """Return a function that writes a page of a chapter's figures and returns its address."""
    place = tmp_path_factory.mktemp("lecture")
    (place / "views.js").write_text(classic_script(), encoding="utf-8")
    (place / "views.css").write_text(stylesheet(), encoding="utf-8")

    def written(chapter):
        figures = stored(ROOT / "chapters" / f"{chapter}.ipynb")
        page = PAGE.format(theme="light", paper="#fff", ink="#222832", figures=figures)
        file = place / f"{chapter}.html"
        file.write_text(page, encoding="utf-8")
        return file.as_uri()

    return written


@pytest.fixture
def shown(used_pages, chapter_page):
    """Return a function that opens a chapter's page at an address, on the screen of a hall."""
    with used_pages(SCREEN["width"]) as page:
        page.set_viewport_size(SCREEN)

        def opened(chapter, address):
            page.goto(f"{chapter_page(chapter)}#{address}")
            return page, page.locator(f"[id='{address.partition('?')[0]}']")

        yield opened


@pytest.mark.parametrize("view", sorted(FIGURES))
def test_words_have_a_fortieth_of_the_height_and_nothing_is_cut(shown, view):
    chapter, name = FIGURES[view]
    for how in ["full", "picture"]:
        _, figure = shown(chapter, f"{name}?show={how}")
        assert figure.get_attribute("data-view") == view
        assert figure.bounding_box() == {"x": 0, "y": 0} | SCREEN
        sizes = figure.evaluate(MEASURED)
        assert sizes["sizes"][0][0] >= SCREEN["height"] / 40 - 0.01, (how, sizes["sizes"])
        assert (sizes["cut"], sizes["scrolled"]) == ([], []), how


@pytest.fixture
def frontier(open_figures):  # noqa: F811
    """Return a page with two figures that fills the window with the first, and this figure."""
    page = open_figures("frontier", "graph steps")
    page.evaluate("(id) => { location.hash = `${id}?step=1&show=full`; }", id_of("frontier"))
    page.wait_for_selector("figure.gk-wide")
    return page, page.locator("figure.gk-wide")


def where(figure):
    """Return the frame that the figure shows."""
    return int(figure.locator(".gk-scrub input").input_value())


def test_a_presenter_steps_a_figure_that_fills_the_window_and_no_other(frontier):
    page, figure = frontier
    assert where(figure) == 1
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    assert where(figure) == 3
    page.keyboard.press("PageUp")
    assert where(figure) == 2
    # These keys work wherever the focus is, because a remote control has no others.
    figure.locator(".gk-scrub input").focus()
    page.keyboard.press("PageDown")
    assert where(figure) == 3
    page.keyboard.press("h")
    assert not figure.locator(".gk-controls").is_visible()
    page.keyboard.press("PageUp")
    assert where(figure) == 2
    page.keyboard.press("Escape")
    page.locator("figure").first.focus()
    page.keyboard.press("PageDown")
    assert where(page.locator("figure").first) == 2


def test_controls_key_and_caption_can_be_hidden(frontier):
    page, figure = frontier
    hidden = [".gk-controls", "> .gk-key", "figcaption"]
    shown = dict.fromkeys(hidden, 0)
    turns = figure.locator(".gk-turns button")
    for turn in range(max(1, turns.count())):
        if turns.count():
            turns.nth(turn).click()
        for name in hidden:
            shown[name] += figure.locator(name).is_visible()
    assert min(shown.values()) > 0
    less = figure.get_by_role("button", name="Picture only")
    less.click()
    assert less.get_attribute("aria-pressed") == "true"
    for turn in range(max(1, turns.filter(visible=True).count())):
        if turns.filter(visible=True).count():
            turns.nth(turn).click()
        assert not any(figure.locator(name).is_visible() for name in hidden)
    assert figure.locator(".gk-now").is_visible()
    page.keyboard.press("h")
    assert figure.locator(".gk-controls").is_visible()


def test_the_address_says_that_a_figure_fills_the_window(frontier):
    page, _ = frontier
    page.keyboard.press("h")
    page.wait_for_function("location.hash.endsWith('step=1&show=picture')")
    page.keyboard.press("h")
    page.wait_for_function("location.hash.endsWith('step=1&show=full')")
    page.keyboard.press("Escape")
    page.wait_for_function("location.hash.endsWith('step=1')")
    # An address of another figure is not shown behind this one.
    page.get_by_role("button", name="Full width").first.click()
    page.evaluate("(id) => { location.hash = `${id}?show=picture`; }", id_of("graph steps"))
    page.wait_for_function("document.querySelector('figure.gk-wide[data-view=graph]')")
    assert page.locator("figure.gk-wide").count() == 1


def test_f_asks_for_the_whole_screen_with_the_figure_above_the_page(open_figures):  # noqa: F811
    page = open_figures("frontier", "graph steps")
    figure = page.locator("figure").first
    figure.focus()
    page.keyboard.press("f")
    page.wait_for_function("document.fullscreenElement === document.documentElement")
    page.wait_for_function(
        "document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('figure.gk-wide')"
    )
    assert figure.evaluate("(e) => e.contains(document.activeElement)")
    page.keyboard.press("f")
    page.wait_for_function("!document.fullscreenElement")
    # The figure still fills the window, and Escape gives it back.
    page.keyboard.press("Escape")
    assert page.locator("figure.gk-wide").count() == 0
