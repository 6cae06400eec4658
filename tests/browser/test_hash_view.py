"""HashView in a real browser: every step shows what the lanes stored, read and decided."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from filter_kernels import filter_large, filtered, some_candidates
from test_views import CHANGES, VIEWS, folder, open_figures  # noqa: F401

from gpukernels.views import HashView
from gpukernels.views.encoding import unpack

#: By verdict: valid, duplicate, conflict.
LOOKS = ("gk-s-valid", "gk-s-duplicate", "gk-s-conflict")


def columns(trace):
    at, of = unpack(trace["words"]["at"]), unpack(trace["words"]["of"])
    words = [of[a:b] for a, b in pairwise(at)]
    return words, {name: unpack(trace[name]) for name in ("kind", "slot", "verdict", "kept")}


@pytest.mark.parametrize(("width", "shown"), [(1280, "wide"), (390, "narrow")])
def test_each_step_shows_what_the_lanes_did(open_figures, width, shown):  # noqa: F811
    page = open_figures(["hash"], width=width)
    picture = page.locator(f".gk-hash-{shown}")
    assert picture.is_visible()
    assert page.locator(".gk-hash > svg:visible").count() == 1
    count = """(svg, name) => [...svg.querySelectorAll("." + name)]
        .reduce((n, p) => n + (p.getAttribute("d").match(/M/g) || []).length, 0)"""
    for trace in VIEWS["hash"].payload["traces"]:
        page.get_by_label("Schedule").select_option(trace["label"])
        words, of = columns(trace)
        detected = missed = 0
        for step in range(trace["steps"]):
            page.get_by_role("slider").fill(str(step))
            assert page.locator(".gk-now").text_content() == trace["sentences"][step]
            mine, reading = words[step], of["kind"][step] == 1
            for verdict, look in enumerate(LOOKS):
                truth = (of["verdict"][mine] == verdict).sum() if reading else 0
                assert picture.evaluate(count, look) == truth
            slots = np.unique(of["slot"][mine]).size
            assert picture.evaluate(count, "gk-wire") == (0 if reading else slots)
            assert picture.evaluate(count, "gk-wire-clash") == (0 if reading else len(mine) - slots)
            if reading:
                detected += (of["verdict"][mine] == 1).sum()
                missed += (of["kept"][mine] == 1).sum()
            shown_numbers = dict(
                zip(
                    page.locator(".gk-counter dt").all_text_contents(),
                    page.locator(".gk-counter dd").all_text_contents(),
                    strict=True,
                )
            )
            assert shown_numbers["duplicates detected"] == str(detected)
            assert shown_numbers["duplicates missed"] == str(missed)


def test_a_followed_vertex_stays_when_the_schedule_changes(open_figures):  # noqa: F811
    page = open_figures(["hash"])
    payload = VIEWS["hash"].payload
    shared = set.intersection(*(set(trace["followed"]) for trace in payload["traces"]))
    vertex = next(v for v in sorted(shared) if v != payload["vertex"])
    page.get_by_label("Follow").select_option(str(vertex))
    lines = page.locator(".gk-hash-story li")
    for trace in payload["traces"]:
        page.get_by_label("Schedule").select_option(trace["label"])
        assert page.get_by_label("Follow").input_value() == str(vertex)
        at = trace["followed"].index(vertex)
        assert page.locator(".gk-hash-story p").text_content() == trace["heads"][at]
        story = trace["stories"][at]
        assert [line.split(": ", 1)[1] for line in lines.all_text_contents()] == [
            s for _, s in story
        ]
        when = story[0][0]
        page.get_by_role("slider").fill(str(when))
        now = page.locator(".gk-hash-story .gk-hash-now").all_text_contents()
        assert now == [f"{when + 1}: {line}" for at, line in story if at == when]
        # The lane that stores it and the slot that holds it are framed.
        frame = page.locator(".gk-hash-wide .gk-s-now").get_attribute("d")
        assert frame.count("M") == 1 + len(now)


def test_a_block_can_be_chosen(open_figures):  # noqa: F811
    page = open_figures(["tables"])
    (trace,) = VIEWS["tables"].payload["traces"]
    blocks = unpack(trace["block"]).tolist()
    block, slider = page.get_by_label("Block"), page.get_by_role("slider")
    for number in (1, 0):
        block.select_option(str(number))
        assert slider.input_value() == str(blocks.index(number))
        said = page.locator(".gk-now").text_content()
        assert said.startswith(f"Step {blocks.index(number) + 1}, bl")
    slider.fill(str(len(blocks) - 1))
    assert block.locator("option:checked").text_content() == "1"


def test_lanes_and_slots_tell_their_words_by_keyboard(open_figures):  # noqa: F811
    page = open_figures(["hash"])
    trace = VIEWS["hash"].payload["traces"][0]
    words, _ = columns(trace)
    lane, slot, vertex, thread = (unpack(trace[n]) for n in ("lane", "slot", "vertex", "thread"))
    page.get_by_role("slider").fill("0")
    picture = page.locator(".gk-hash-wide")
    note = picture.locator(".gk-note")
    hint = note.text_content()
    picture.focus()
    first = words[0][0]
    for _ in range(lane[first] + 1):
        page.keyboard.press("ArrowRight")
    assert note.text_content() == (
        f"lane {lane[first]} stores ({vertex[first]}, thread {thread[first]}) in slot {slot[first]}"
    )
    assert picture.locator(".gk-wire-picked").get_attribute("d").count("M") == 3
    for _ in range(32 - lane[first] + slot[first]):
        page.keyboard.press("ArrowRight")
    assert note.text_content() == (
        f"slot {slot[first]}: ({vertex[first]}, thread {thread[first]}), "
        f"stored at step 1 by warp 0, lane {lane[first]}"
    )
    page.keyboard.press("Escape")
    assert note.text_content() == hint


def test_pointing_at_what_a_lane_reads_gives_the_verdict(open_figures):  # noqa: F811
    page = open_figures(["hash"])
    trace = VIEWS["hash"].payload["traces"][0]
    words, of = columns(trace)
    lane = unpack(trace["lane"])
    step = VIEWS["hash"].step
    (word, *_) = (i for i in words[step] if of["verdict"][i] == 1)
    picture = page.locator(".gk-hash-wide")
    # In a low window the picture scrolls in the figure.
    page.locator(".gk-stage").evaluate("(stage) => stage.scrollTo(0, stage.scrollHeight)")
    box = picture.bounding_box()
    wide, tall = map(float, picture.get_attribute("viewBox").split()[2:])
    scale = box["width"] / wide
    page.mouse.move(
        box["x"] + (68 + 18.4 * (lane[word] + 0.5)) * scale, box["y"] + (tall - 50) * scale
    )
    note = picture.locator(".gk-note").text_content()
    assert note.startswith(f"lane {lane[word]} stored (")
    assert note.endswith(": duplicate, dropped")


def large_table():
    """Return a view of a table that many warps fill."""
    candidates = some_candidates(12, 128, vertices=5000, share=0.9)
    return HashView(filtered(candidates, 128, filter_large)[0])


def test_a_step_of_a_large_table_touches_few_elements(open_figures):  # noqa: F811
    page = open_figures(["large"], views={"large": large_table()})
    assert 0 < page.evaluate(CHANGES) < 700
