"""Pages of frozen figures for browser tests, opened from a folder, offline."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from accessibility import TAGS, violations
from playwright.sync_api import Page, Request

from gpukernels.views.address import figure_id
from gpukernels.views.figure import figure_html
from gpukernels.views.script import classic_script, encoder_script, stylesheet

#: The records of tests/views/example_figures.py, by the names of their figures.
RECORDS = json.loads(
    (Path(__file__).parents[1] / "views" / "records.json").read_text(encoding="utf-8")
)
PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Figures</title>
<style>:root {{ --pst-color-background: {paper}; --pst-color-text-base: {ink}; }}
body {{ margin: 0 16px; background: {paper}; color: {ink}; font: 16px/1.5 sans-serif; }}</style>
<link rel="stylesheet" href="views.css"><script src="views.js"></script></head>
<body><main>{figures}</main></body></html>"""
COLORS = {
    "light": {"paper": "#ffffff", "ink": "#222832"},
    "dark": {"paper": "#121212", "ink": "#ced6dd"},
}
#: The page around the figures belongs to the tests, not to the book.
NOT_OURS = {"region", "landmark-one-main", "page-has-heading-one"}
#: The place of the point (x, y) of a picture in the window.
PLACE = """(svg, [x, y]) => {
    const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
    return [at.x, at.y];
}"""
#: Renders a view's module as a notebook would, given its code and record.
LIVE = """async ([code, payload]) => {
    const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    const values = { payload, step: payload.step, trace: payload.traces[0].label };
    const hooks = {};
    window.saved = [];
    window.model = {
        get: (name) => values[name],
        set(name, value) {
            if (values[name] === value) return;
            values[name] = value;
            (hooks["change:" + name] || []).forEach((f) => f());
        },
        save_changes() { window.saved.push({ step: values.step, trace: values.trace }); },
        on(event, f) { (hooks[event] ||= []).push(f); },
        off(event, f) { hooks[event] = (hooks[event] || []).filter((g) => g !== f); },
    };
    document.body.replaceChildren(document.createElement("main"));
    const el = document.querySelector("main");
    window.undo = module.default.render({ model: window.model, el });
}"""


class Problems(list):
    """The problems of a page while it was open: console errors, exceptions, requests to others."""

    def watch(self, page: Page) -> None:
        """Listen to `page` from now on."""
        page.on("console", lambda m: self.append(f"console: {m.text}") if m.type == "error" else 0)
        page.on("pageerror", lambda error: self.append(f"exception: {error}"))
        page.on("requestfailed", self._note_failure)
        page.on("request", lambda request: self._note(request.url))

    def _note_failure(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page itself has ended that one
            self.append(f"failed: {request.url}")

    def _note(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            self.append(f"outside: {url}")


def html_of(name, /, **changes):
    """Return a figure in the form of a page, with `changes` of its record, such as step or name."""
    return figure_html(RECORDS[name] | changes)


def id_of(name):
    return figure_id(RECORDS[name])


def place(page, picture, x, y):
    """Return where the point (x, y) of a picture lies on the page."""
    picture.scroll_into_view_if_needed()
    return picture.evaluate(PLACE, [x, y])


def faults(page, **rules):
    results = violations(page, tags=(*TAGS, "best-practice"), **rules)
    return [fault for fault in results if fault[0] not in NOT_OURS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("figures")
    (path / "views.js").write_text(classic_script())
    (path / "output.js").write_text(classic_script("frontier"))
    (path / "gifenc.js").write_text(encoder_script())
    (path / "views.css").write_text(stylesheet())
    return path


@pytest.fixture
def open_figures(used_pages, folder) -> Iterator:
    """Open a page of figures by their names; fails at the end if the page had any problem."""
    problems = Problems()
    with contextlib.ExitStack() as at_the_end:

        def opened(*names, theme="light", width=1280, scripts=True, html=None, **options):
            lent = used_pages(width, java_script_enabled=scripts, **options)
            page = at_the_end.enter_context(lent)
            problems.watch(page)
            file = folder / f"{'-'.join(names)[:99]}-{theme}.html"
            figures = html or "".join(map(html_of, names))
            file.write_text(PAGE.format(theme=theme, figures=figures, **COLORS[theme]))
            page.goto(file.as_uri())
            return page

        yield opened
    assert problems == []
