"""Edit and run on a page: editor, fields, errors, links, Stop, and the limits of the worker.

Where ``PYODIDE`` names no folder with Pyodide and NumPy, the worker gets a stand-in for it, which
hands each program to CPython. Page, messages of the worker, and policy are the same.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from figure_pages import Problems
from interpreter import ROOT, Interpreter
from playwright.sync_api import Locator, Page, expect

sys.path.insert(0, str(ROOT / "book"))
import live
from live import pyodide

STAND_IN = """
const HOME = new URL(self.location.href.replace("blob:", "")).origin;
function ask(request) {
  const call = new XMLHttpRequest();
  call.open("POST", `${HOME}/run`, false);
  call.send(JSON.stringify(request));
  return call.responseText;
}
function waitForEver() { for (;;); }
self.loadPyodide = async () => ({
  runPython: () => "",
  unpackArchive() {},
  globals: { get: () => ({
    run: (text) => text.includes("while True") ? waitForEver() : ask({ action: "run", text }),
    judge: (name, text) => ask({ action: "judge", name, text }),
  }) },
});
"""
#: Return the names of the rules of the page's policy that a worker has violated.
FORBIDDEN = """async () => {
  const code = `
    const tell = (event) => postMessage(event.violatedDirective);
    addEventListener("securitypolicyviolation", tell);
    try { eval("1"); } catch { /* refused */ }
    fetch("http://127.0.0.2:9/").catch(() => {});`;
  const worker = new Worker(URL.createObjectURL(new Blob([code])));
  const refused = [];
  await new Promise((resolve) => {
    worker.onmessage = ({ data }) => refused.push(data) === 2 && resolve();
    setTimeout(resolve, 5000);
  });
  return refused.sort();
}"""


class Pages(http.server.SimpleHTTPRequestHandler):
    """The book's pages, the files of Pyodide, and programs that are posted."""

    def __init__(self, *request, files: dict[str, bytes], interpreter: Interpreter, **options):
        self.files, self.interpreter = files, interpreter
        super().__init__(*request, **options)

    def log_message(self, *_) -> None:
        pass

    def do_GET(self) -> None:
        data = self.files.get(self.path.split("?")[0])
        if data is None:
            super().do_GET()
        else:
            self.answer(data)

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(json.dumps(self.interpreter(**request)).encode())

    def answer(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture(scope="module")
def site(book, tmp_path_factory) -> Iterator[str]:
    """The address of a server for the built pages and an interpreter."""
    folder = Path(os.environ.get("PYODIDE") or tmp_path_factory.mktemp("pyodide"))
    if not os.environ.get("PYODIDE"):
        for file in pyodide.FILES:
            (folder / file.name).write_text("{}")
        (folder / "pyodide.js").write_text(STAND_IN)
        (folder / "pyodide.asm.js").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYODIDE", str(folder))
        files = {"/_static/live.js": live.script().encode()}
    for file in pyodide.FILES:
        files[f"/_static/pyodide/{file.name}"] = (folder / file.name).read_bytes()
    interpreter = Interpreter(tmp_path_factory.mktemp("programs"))
    options = {"directory": str(book), "files": files, "interpreter": interpreter}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, **options))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    interpreter.close()


@pytest.fixture
def page(browser, site) -> Iterator[Page]:
    """A page of the book, without problems at the end, that may use the clipboard."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=site)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.add_init_script("localStorage.setItem('mode', 'light')")
    shown, problems = context.new_page(), Problems()
    problems.watch(shown)
    yield shown
    context.close()
    assert [text for text in problems if not text.startswith(f"outside: {site}/")] == []


def button_of(page: Page, name: str) -> Locator:
    """Return the button that opens a panel: in a figure's tools, or in an exercise."""
    return page.locator(f"#{name} .gk-edit, .gk-write:has(+ #edit-{name}) .gk-edit")


class Panel:
    """The panel of a figure or an exercise."""

    def __init__(self, page: Page, name: str):
        self.page = page
        self.bar = page.locator(f"#edit-{name}")
        button_of(page, name).click()
        expect(self.bar.locator(".cm-content")).to_be_visible()

    def text(self) -> str:
        return "\n".join(self.bar.locator(".cm-line").all_inner_texts()).replace("\xa0", " ")

    def status(self) -> Locator:
        return self.bar.locator(".gk-live-panel > .gk-live-words")

    def write(self, text: str) -> None:
        """Replace the program by keys, as a reader pastes it."""
        self.bar.locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)

    def run(self) -> str:
        """Press Run and return what the panel says at the end."""
        self.bar.get_by_role("button", name="Run", exact=True).click()
        status = self.status()
        expect(status).to_contain_text(" s.", timeout=90_000)
        return status.inner_text()

    def press(self, name: str) -> None:
        self.bar.get_by_role("button", name=name, exact=True).click()


def test_another_parameter_redraws_the_figure_and_counters_stand_side_by_side(page):
    page.goto("/chapters/frontier_bfs.html")
    panel = Panel(page, "fig-four-mappings")
    before = panel.text()
    panel.write(before.replace("gk.traced(gk.bfs, g, 0,", "gk.traced(gk.bfs, g, 5,"))
    assert panel.run().startswith("Done")
    table = panel.bar.locator(".gk-changed")
    expect(table).to_contain_text("the page's program", timeout=90_000)
    expect(page.locator("#fig-four-mappings .gk-play")).to_be_visible()
    panel.press("Reset")
    assert panel.text() == before
    expect(table).to_have_count(0)


def test_a_field_changes_the_text_and_the_text_the_field(page):
    page.goto("/chapters/frontier_bfs.html")
    panel = Panel(page, "fig-a-search-of-30-street-corners")
    field = panel.bar.get_by_label("seed")
    field.fill("3")
    assert "seed=3" in panel.text()
    panel.write(panel.text().replace("seed=3", "seed=12"))
    expect(field).to_have_value("12")


def test_an_error_marks_its_line_and_shows_the_warp_at_fault(page):
    page.goto("/chapters/before_the_first_warp.html")
    panel = Panel(page, "fig-first")
    wrong = panel.text().replace("out[i] =", "out[i + 1] =")
    panel.write(wrong)
    assert panel.run().startswith("Ended by an error")
    expect(panel.bar.get_by_role("alert")).to_contain_text("OutOfBounds")
    assert "out[i + 1]" in panel.bar.locator(".gk-wrong-line").inner_text()
    expect(panel.bar.locator(".gk-live-output figure[data-ready]")).to_be_visible()


def test_a_link_shows_the_program_and_runs_nothing(page):
    page.goto("/chapters/before_the_first_warp.html")
    panel = Panel(page, "fig-first")
    panel.write("print('from a classmate')")
    panel.press("Copy link")
    expect(panel.bar).to_contain_text("The link is copied")
    address = page.evaluate("navigator.clipboard.readText()")
    page.evaluate("localStorage.clear()")
    page.goto("/search.html")
    page.goto(address)
    bar = page.locator("#edit-fig-first")
    expect(bar.locator(".cm-content")).to_contain_text("from a classmate")
    expect(bar).to_contain_text("Read it before you run it")
    expect(bar.locator(".gk-printed")).to_have_count(0)
    bar.get_by_role("button", name="Run", exact=True).click()
    expect(bar.locator(".gk-printed")).to_have_text("from a classmate\n", timeout=90_000)


def test_the_text_is_kept_and_keys_alone_are_enough(page):
    page.goto("/chapters/before_the_first_warp.html")
    button_of(page, "fig-first").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#edit-fig-first .cm-content")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("6 * 7")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#edit-fig-first .gk-shown")).to_have_text("42", timeout=90_000)
    page.keyboard.press("Escape")
    expect(page.locator("#edit-fig-first .gk-live-run")).to_be_focused()
    page.reload()
    assert Panel(page, "fig-first").text() == "6 * 7"


def test_stop_ends_a_program_and_the_next_one_runs(page):
    page.goto("/chapters/before_the_first_warp.html")
    panel = Panel(page, "fig-first")
    panel.write("while True:\n    pass")
    panel.press("Run")
    expect(panel.status()).to_have_text("Running.", timeout=90_000)
    panel.press("Stop")
    expect(panel.bar).to_contain_text("Stopped.")
    panel.write("1 + 1")
    assert panel.run().startswith("Done")
    expect(panel.bar.locator(".gk-shown")).to_have_text("2")


def test_stop_ends_loading_and_the_next_run_loads_again(page):
    page.goto("/chapters/before_the_first_warp.html")
    panel = Panel(page, "fig-first")
    panel.write("1 + 1")
    held = []
    page.route("**/pyodide.asm.wasm", lambda route: held.append(route))
    panel.press("Run")
    expect(panel.bar).to_contain_text("Loading")
    panel.press("Stop")
    expect(panel.bar).to_contain_text("Stopped.")
    assert held
    page.unroute("**/pyodide.asm.wasm")
    assert panel.run().startswith("Done")
    expect(panel.bar.locator(".gk-shown")).to_have_text("2")


def test_a_graph_of_ones_own_takes_the_place_of_the_programs(page):
    page.goto("/chapters/frontier_bfs.html")
    panel = Panel(page, "fig-a-search-of-30-street-corners")
    panel.press("Own graph")
    arcs = panel.bar.get_by_label("Arcs, one per line")
    arcs.fill("0 one")
    panel.press("Use this graph")
    expect(panel.bar).to_contain_text("Line 1, “0 one”, is not two vertices")
    arcs.fill("\n".join(f"{v} {(v + 1) % 12}" for v in range(12)))
    panel.press("Use this graph")
    expect(panel.status()).to_contain_text("Done", timeout=90_000)
    assert "gk.Graph.from_arcs(12, [0, 1, 2" in panel.text()


def test_an_exercise_is_judged_on_the_page(page):
    import gpukernels as gk

    exercise = gk.exercise("simt-line")
    page.goto("/chapters/simt.html")
    panel = Panel(page, "simt-line")
    panel.run()
    expect(panel.bar.locator(".gk-shown")).to_contain_text("not yet")
    panel.write(exercise.solution.text)
    panel.run()
    expect(panel.bar.locator(".gk-shown")).to_contain_text("solved")
    records = json.loads(page.evaluate("localStorage.getItem('gk-exercise-records')"))
    assert records["simt-line"]["verdict"] == "solved on the page"


def test_the_worker_may_neither_evaluate_text_nor_ask_another_host(browser, site):
    context = browser.new_context(base_url=site)
    shown = context.new_page()
    shown.goto("/chapters/before_the_first_warp.html")
    assert shown.evaluate(FORBIDDEN) == ["connect-src", "script-src"]
    context.close()


def test_a_page_that_is_a_file_says_how_to_serve_it(open_page):
    page, _ = open_page("chapters/before_the_first_warp.html")
    button_of(page, "fig-first").click()
    expect(page.locator("#edit-fig-first")).to_contain_text("make read")


def test_nothing_is_loaded_before_a_click(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/chapters/before_the_first_warp.html", wait_until="networkidle")
    late = ("pyodide", "gpukernels.zip", "codemirror.js")
    assert not [url for url in asked if url.endswith(late) or "/pyodide/" in url]
