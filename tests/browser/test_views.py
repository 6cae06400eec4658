"""Every figure in a real browser: one pass over everything that a reader can do with it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

import pytest
from effort import EFFORT, SOAK
from figure_pages import (  # noqa: F401
    LIVE,
    RECORDS,
    faults,
    folder,
    html_of,
    open_figures,
    place,
)

from gpukernels.views.encoding import to_json
from gpukernels.views.script import module_for, still_script

NAMES = pytest.mark.parametrize("name", RECORDS)
#: One of each kind.
KINDS = {record["view"]: name for name, record in reversed(RECORDS.items())}
ASKED = Path(__file__).with_name("asked.json")

# Text, tags and attributes of everything inside a part; numbers are compared separately from words.
OUTLINE = """(root) => {
  const fallback = new Set(["fill", "stroke", "fill-opacity", "stroke-opacity", "stroke-linecap",
    "stroke-dasharray", "font-family", "font-size", "text-anchor", "vector-effect"]);
  const alive = new Set(["class", "tabindex", "aria-live", "aria-atomic", "data-off"]);
  const styled = (node) => /^gk-(arc|wire|task-wire|s-)/.test(node.getAttribute("class"));
  const said = [];
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data && said.push("text " + node.data);
    const picked = ".gk-note, .gk-halo, .gk-arc-picked, .gk-wire-picked, .gk-lit, .gk-pointed";
    if (node.matches(`${picked}, .gk-scrub, .gk-room, .gk-offer`)) return;
    said.push(node.localName + " " + (node.getAttribute("class") || ""));
    [...node.attributes]
      .filter((a) => !fallback.has(a.name) && !alive.has(a.name))
      .filter((a) => !(a.name === "stroke-width" && styled(node)))
      .sort((x, y) => (x.name < y.name ? -1 : 1))
      .forEach((a) => said.push(`${a.name}=${a.value}`));
    node.childNodes.forEach(walk);
  };
  walk(root);
  return said;
}"""
PARTS = (
    ".gk-title, .gk-timeline, .gk-stage, .gk-side, .gk-now, .gk-key:not(:empty), figcaption,"
    " details:not(.gk-save)"
)
#: Draws a first frame by a document of text, in another engine than Python's.
STILL = """([code, data]) => new Function("data", `${code}; return draw(data);`)(data)"""


def numbers_apart(lines):
    words = [re.sub(r"-?\d+(\.\d+)?", "#", line) for line in lines]
    return words, [float(v) for line in lines for v in re.findall(r"-?\d+(?:\.\d+)?", line)]


@NAMES
def test_a_figure_comes_to_life_as_its_first_frame(open_figures, name):  # noqa: F811
    written, drawn = (
        open_figures(name, scripts=scripts)
        .locator(PARTS)
        .evaluate_all(f"(parts) => parts.map({OUTLINE})")
        for scripts in (False, True)
    )
    # A timeline without strips has only the slider, which the first frame leaves out.
    kept = [[part for part in parts if part != ["div gk-timeline"]] for parts in (written, drawn)]
    assert len(kept[0]) == len(kept[1]) >= 4
    for before, after in zip(*kept, strict=True):
        words, values = numbers_apart(before)
        new_words, new_values = numbers_apart(after)
        assert new_words == words
        assert new_values == pytest.approx(values, abs=0.11)
    page = open_figures(name)
    data = to_json(RECORDS[name])
    assert page.evaluate(STILL, [still_script(), data]) == html_of(name)
    figure = page.locator("figure.gk-view")
    assert figure.get_attribute("data-ready") == ""
    assert figure.locator("details p").text_content() == RECORDS[name]["description"]


@NAMES
def test_a_figure_steps_by_buttons_slider_keys_and_timeline_and_plays(open_figures, name):  # noqa: F811
    page = open_figures(name)
    figure = page.locator("figure")
    slider, last = figure.locator(".gk-scrub input"), RECORDS[name]["traces"][0]["steps"] - 1
    assert slider.count() == (1 if last else 0)
    if not last or figure.locator(".gk-offer").count():  # steps of a root or of sizes: below
        return
    noun = slider.get_attribute("aria-label").lower()
    back, forth = (figure.get_by_role("button", name=f"{w} {noun}") for w in ("Previous", "Next"))
    play, now = figure.locator(".gk-play"), figure.locator(".gk-now")
    assert slider.input_value() == str(RECORDS[name]["step"])
    slider.focus()
    page.keyboard.press("Home")
    assert back.is_disabled()
    first = now.text_content()
    forth.click()
    assert (slider.input_value(), back.is_disabled()) == ("1", False)
    label, of = (
        figure.locator(f"output.gk-track-label {part}").text_content() for part in ("", "small")
    )
    assert slider.get_attribute("aria-valuetext") == f"{label.removesuffix(of)} {of}"
    figure.locator(".gk-now").click()
    page.keyboard.press("ArrowLeft")
    assert (slider.input_value(), now.text_content()) == ("0", first)
    page.keyboard.press("Alt+ArrowRight")
    assert slider.input_value() == "0"
    page.keyboard.press("Space")
    assert (play.get_attribute("aria-label"), now.get_attribute("aria-live")) == ("Pause", "off")
    page.keyboard.press("Space")
    assert (play.get_attribute("aria-label"), now.get_attribute("aria-live")) == ("Play", "polite")
    slider.fill(str(last - 1))
    figure.get_by_label("Speed").select_option("8×")
    play.click()
    page.wait_for_function(f"document.querySelector('.gk-scrub input').value === '{last}'")
    figure.get_by_role("button", name="Play").wait_for()
    assert forth.is_disabled()
    play.click()  # at its end it starts again
    assert int(slider.input_value()) <= last // 2
    if last > 3:
        forth.click()  # a step by hand ends it
    else:
        slider.fill("0")
    assert play.get_attribute("aria-label") == "Play"
    strips = figure.locator("svg.gk-strip")
    if strips.count() and last < 60:
        box = strips.first.bounding_box()
        strips.first.click(position={"x": box["width"] * (last + 0.5) / (last + 1), "y": 3})
        assert slider.input_value() == str(last)


#: Elements of a figure that can be scrolled sideways or extend beyond its column.
SIDEWAYS = """() => [...document.querySelectorAll("figure *")].filter((e) => {
    const scrolls = /auto|scroll/.test(getComputedStyle(e).overflowX);
    const right = (box) => box.getBoundingClientRect().right;
    const beyond = right(e) > right(e.closest("figure")) + 1;
    if (e.closest("svg, .gk-scrub, details:not([open])")) return false;
    return scrolls ? e.scrollWidth > e.clientWidth + 1 : beyond;
}).map((e) => e.outerHTML.slice(0, 120))"""
MOVING = """() => [...document.querySelectorAll("figure *")].filter((e) => {
    const s = getComputedStyle(e);
    return s.animationName !== "none" || parseFloat(s.transitionDuration) > 0;
}).length"""
#: The rules for axe: all in one theme at both widths, and only those about colors in the other.
LOOKS = [(1280, "light", {}), (390, "light", {"color": False}), (390, "dark", {"structure": False})]
if EFFORT != SOAK:  # each rule once
    LOOKS[1:2] = []


@pytest.mark.parametrize(("width", "theme", "rules"), LOOKS)
def test_all_figures_pass_axe_and_fit_the_page(open_figures, width, theme, rules):  # noqa: F811
    page = open_figures(*RECORDS, theme=theme, width=width, reduced_motion="reduce")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SIDEWAYS) == []
    assert page.evaluate(MOVING) == 0
    paper = page.locator("figure").first.evaluate("(f) => getComputedStyle(f).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 18, 18)"}[theme]
    controls = page.locator("figure :is(button, select):not(.gk-wider)").filter(visible=True)
    boxes = controls.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().height)")
    assert min(boxes) >= (28 if width > 600 else 27)
    assert faults(page, **rules) == []


#: Uses keys, a pointer and clicks on every picture of the stage and the timeline, in units of the
#: picture, and records the words and lights of the figure each time.
ASK = """() => {
    const figure = document.querySelector("figure"), heard = [];
    const words = ".gk-note, .gk-pointed-words, .gk-tile-in :is(b, small, p), .gk-map-head small";
    const lines = ".gk-lit-line, .gk-halo, .gk-wire-picked, .gk-arc-picked, .gk-tile-own, .gk-s-now"
        + ", .gk-s-tile-looked";
    const note = () => heard.push([
        ...[...figure.querySelectorAll(words)].map((e) => e.textContent),
        ...[...figure.querySelectorAll(lines)].map((e) => e.getAttribute("d") || ""),
        [...figure.querySelectorAll("[data-lit=yes]")].length,
        [...figure.querySelectorAll(".gk-controls :is(input, select)")]
            .map((e) => e.selectedIndex ?? e.value),
        figure.querySelector(".gk-now").textContent,
        figure.querySelector(".gk-scrub input")?.value,
    ]);
    const press = (e, key) => {
        e.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        note();
    };
    const point = (e, x, y, ...names) => {
        const at = { clientX: x, clientY: y, bubbles: true, pointerType: "mouse" };
        for (const name of names) e.dispatchEvent(new PointerEvent(name, at));
        note();
    };
    const pictures = ":is(.gk-stage, .gk-timeline) svg:not(.gk-symbol)";
    const asked = () => [...figure.querySelectorAll(pictures)]
        .filter((svg) => svg.getClientRects().length && !svg.parentElement.closest("svg"));
    const turn = ["Right", "Down", "Down", "Left"].map((way) => `Arrow${way}`);
    turn.push("Enter", "ArrowUp", "Escape");
    for (let k = 0; k < asked().length; k++) {
        for (const key of turn) if (asked()[k].tabIndex === 0) press(asked()[k], key);
        const { x, y, width, height } = asked()[k].viewBox.baseVal;
        for (let i = 0; i < 11; i++) for (let j = 0; j < 7; j++) {
            const svg = asked()[k], at = new DOMPoint(x + (width * (i + 0.37)) / 11,
                y + (height * (j + 0.41)) / 7).matrixTransform(svg.getScreenCTM());
            point(svg, at.x, at.y, "pointermove");
            if ((i + 3 * j) % 5 === 0) point(svg, at.x, at.y, "pointerdown", "click");
        }
        point(asked()[k], 0, 0, "pointerleave");
        press(figure, "Escape");
    }
    for (const row of figure.querySelectorAll(".gk-row code, .gk-code-line"))
        point(row, 0, 0, "pointermove");
    for (const listing of figure.querySelectorAll(".gk-program"))
        for (const key of turn) press(listing, key);
    return heard.map((one) => one.join("|"));
}"""


def answers(page):
    """Return the number of actions, the number of different answers, and a digest of all."""
    heard = page.evaluate(ASK)
    digest = hashlib.sha256("\n".join(heard).encode()).hexdigest()[:16]
    return [len(heard), len(set(heard)), digest]


@NAMES
def test_what_is_asked_of_a_figure_is_answered_as_it_was(open_figures, name):  # noqa: F811
    """If new answers are right, store them by ``KEEP_ANSWERS=1 pytest -n 0 -k answered``."""
    kept, current = json.loads(ASKED.read_text()), answers(open_figures(name))
    if "KEEP_ANSWERS" in os.environ:
        kept[name] = current
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in kept.items())
        ASKED.write_text(f"{{\n{lines}\n}}\n")
    assert current == kept[name]


@pytest.mark.parametrize("name", KINDS.values())
def test_the_live_widget_is_the_same_figure_and_talks_to_its_model(open_figures, name):  # noqa: F811
    record = RECORDS[name]
    page = open_figures(name)
    hydrated = page.locator(".gk-stage").evaluate(OUTLINE)
    page.evaluate(LIVE, [module_for(record["view"]), record])
    assert page.locator(".gk-stage").evaluate(OUTLINE) == hydrated
    page.get_by_role("button", name="Full width").click()
    assert page.locator("figure").bounding_box()["width"] >= 1100
    page.keyboard.press("Escape")
    slider = page.locator(".gk-scrub input")
    last = str(record["traces"][0]["steps"] - 1)
    if slider.count():
        slider.fill(last)
        assert page.evaluate("window.saved.at(-1).step") == int(last)
        page.evaluate("window.model.set('step', 0)")
        assert slider.input_value() == "0"
    if len(record["traces"]) > 1:
        label = record["traces"][-1]["label"]
        page.evaluate("(label) => window.model.set('trace', label)", label)
        assert page.locator("figure select").first.input_value() == label
    page.evaluate("window.undo()")
    page.evaluate(f"window.model.set('step', {last})")
    assert not slider.count() or slider.input_value() == "0"


def test_a_comparison_has_all_its_numbers_below_and_in_a_file(open_figures):  # noqa: F811
    for scripts in (True, False):
        page = open_figures("compare", scripts=scripts)
        page.locator(".gk-compare-numbers summary").click()
        rows = page.locator(".gk-compare-numbers tbody tr").all()
        texts = [row.locator("th, td").all_text_contents() for row in rows]
        assert texts[0] == ["a <b>", "g", "3", "0.25"]
        assert texts[3] == ["c", "h & i", "takes no loops", "-1.5"]
        with page.expect_download() as download:
            page.get_by_role("link", name="Download as CSV").click()
        kept = Path(download.value.path()).read_text(encoding="utf-8")
        assert kept.splitlines()[:2] == ["method,graph,steps,ms (ms)", "a <b>,g,3,0.25"]


#: The most changes of the page in any of 40 steps.
CHANGES = """() => {
    const range = document.querySelector("input[type=range]");
    const seen = new MutationObserver(() => {});
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    seen.observe(document.querySelector("figure"), all);
    let most = 0;
    for (let k = 0; k < 40; k++) {
        range.value = (k * 7) % (Number(range.max) + 1);
        range.dispatchEvent(new Event("input"));
        most = Math.max(most, seen.takeRecords().length);
    }
    return most;
}"""


@NAMES
def test_a_step_touches_few_elements(open_figures, name):  # noqa: F811
    """Marks of one look are one path, so a step does not change each mark separately."""
    page = open_figures(name)
    if page.locator(".gk-scrub input").count():
        assert 0 < page.evaluate(CHANGES) < 800  # eleven mappings at once take most
