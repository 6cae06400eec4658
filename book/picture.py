"""Draw README's picture: the front page's figure in the built book, in both themes.

    make book && python book/picture.py        # needs playwright (make test) and chromium

Writes book/_static/front-light.png and book/_static/front-dark.png.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "_build" / "html" / "book" / "index.html"


def draw() -> None:
    """Open the front page in each theme, and save a picture of the window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for theme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            page.add_init_script(f"localStorage.setItem('theme', '{theme}')")
            page.add_init_script(f"localStorage.setItem('mode', '{theme}')")
            page.goto(PAGE.as_uri())
            page.wait_for_selector("figure.gk-view button", state="attached")
            page.screenshot(path=ROOT / "book" / "_static" / f"front-{theme}.png")
        browser.close()


if __name__ == "__main__":
    draw()
