"""A real browser for the built pages, opened as files with the network off.

Playwright drives the system's chromium and downloads nothing. Without a browser these tests are
skipped; under CI=true they fail.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from built_book import built_book
from effort import EFFORT, SOAK, one_of
from figure_pages import Problems
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

NAMES = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable"),
)
#: Each window would start a process that draws the invisible menu of its address bar: a second of
#: work for every context. Chromium takes only the last such list, so features of Playwright's list
#: that would ask or draw something are named again.
FEATURES_LEFT_OUT = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "AimEnabled"),
    *("HttpsUpgrades", "LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying"),
    *("OptimizationHints", "PaintHolding", "Translate"),
)
HERE = Path(__file__).parent


#: Parameters for the width and theme of a page. If a width has a picture of its own, a test uses
#: another parameter and takes both widths.
LOOKS = {"width", "theme"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that need a browser, so that `-m "not browser"` leaves them out.

    If cases of a test differ only in looks, its name chooses one look, unless all are requested.
    """
    looks: dict[str, list[pytest.Item]] = {}
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")
            if hasattr(item, "callspec") and set(item.callspec.params) <= LOOKS:
                looks.setdefault(item.nodeid.split("[")[0], []).append(item)
    if EFFORT == SOAK:
        return
    left_out = set()
    for name, cases in looks.items():
        chosen = one_of(cases, name)
        if not chosen.get_closest_marker("crossed"):
            left_out.update(set(cases) - {chosen})
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a chromium, from the environment variable CHROMIUM or the PATH."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        reason = f"no browser: none of {', '.join(NAMES)} is on the PATH (or set CHROMIUM)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def playwright(chromium) -> Iterator[Playwright]:
    """Playwright, for its devices and for starting browsers."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright, chromium) -> Iterator[Browser]:
    """One browser for all tests; each page has a context of its own."""
    args = ["--no-sandbox", "--disable-features=" + ",".join(FEATURES_LEFT_OUT)]
    started = playwright.chromium.launch(executable_path=chromium, args=args)
    yield started
    started.close()


@pytest.fixture(scope="session")
def book() -> Path:
    """The folder of built pages."""
    return built_book()


@pytest.fixture(scope="session")
def used_pages(browser) -> Iterator[Callable[..., contextlib.AbstractContextManager[Page]]]:
    """Return a function that lends a page, which may have shown another file before.

    This is for files such as figures, which store nothing that a later file could find. A new page
    takes longer to start than a figure to open.
    """
    idle: dict[tuple, list[Page]] = {}

    @contextlib.contextmanager
    def lent(width: int, **options) -> Iterator[Page]:
        pages = idle.setdefault((width, *sorted(options.items())), [])
        if not pages:
            viewport = {"width": width, "height": 844}
            context = browser.new_context(viewport=viewport, offline=True, **options)
            pages.append(context.new_page())
        page = pages.pop()
        yield page
        page.goto("about:blank")
        page.mouse.move(0, 0)
        pages.append(page)

    yield lent
    for page in itertools.chain.from_iterable(idle.values()):
        page.context.close()


@pytest.fixture(scope="session")
def open_session_page(browser, book) -> Callable[..., tuple[Page, Problems]]:
    """Return a function that opens a page in a context of its own, which the caller closes."""

    def opened(
        name: str | Path,
        *,
        query: str = "",
        width: int = 1280,
        theme: str = "light",
        scripts: bool = True,
        **options,
    ) -> tuple[Page, Problems]:
        context = browser.new_context(
            viewport={"width": width, "height": 800 if width > 600 else 844},
            offline=True,
            java_script_enabled=scripts,
            **options,
        )
        context.add_init_script(
            f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}');"
        )
        page, problems = context.new_page(), Problems()
        problems.watch(page)
        page.goto((book / name).as_uri() + query, wait_until="load")
        return page, problems

    return opened


@pytest.fixture
def open_page(open_session_page) -> Iterator[Callable[..., tuple[Page, Problems]]]:
    """Open a page of the book: ``page, problems = open_page("chapters/simt.html", width=390)``.

    Keywords: ``query`` ("?q=word" or "#anchor"), ``width`` (1280), ``theme`` ("light" or "dark"),
    ``scripts`` (True) and any option of a Playwright context, such as ``reduced_motion="reduce"``.
    `problems` fills as the page runs.
    """
    pages = []

    def opened(name, **options):
        page, problems = open_session_page(name, **options)
        pages.append(page)
        return page, problems

    yield opened
    for page in pages:
        page.context.close()
