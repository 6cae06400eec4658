"""The first visit of a page: it has the right theme from the start, and nothing moves."""

from __future__ import annotations

import pytest

#: Records, from before the page begins, the themes that it names and the distance of its jumps.
RECORD = """
window.themes = [];
window.shift = 0;
new MutationObserver(() => window.themes.push(document.documentElement.dataset.theme))
  .observe(document, { attributes: true, attributeFilter: ["data-theme"], subtree: true });
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["book/index.html", "chapters/simt.html"])
def test_a_first_visit_has_the_system_s_theme_and_nothing_jumps(browser, book, name, width, theme):
    viewport = {"width": width, "height": 844}
    context = browser.new_context(viewport=viewport, color_scheme=theme, offline=True)
    context.add_init_script(RECORD)
    page = context.new_page()
    page.goto((book / name).as_uri(), wait_until="load")
    page.wait_for_selector("figure.gk-view button", state="attached")
    assert set(page.evaluate("window.themes")) == {theme}
    assert page.evaluate("window.shift") < 0.02  # of 0.1, which web vitals call good
    context.close()
