"""Axe checks a few of the elements that look alike, and still finds one with another look."""

from __future__ import annotations

import pytest
from accessibility import violations

WORDS = "".join(f'<span class="k">word{i}</span> ' for i in range(9))
PAGE = f"""<!doctype html><html lang="en"><head><title>Page</title><style>
html {{ background: #fff; color: #000; }}
html.dark {{ background: #000; color: #fff; }}
.faint {{ color: #ddd; }}
html.dark .odd {{ color: #333; }}
</style></head><body><main><h1>Page</h1>
<pre>{WORDS}<span class="odd">odd word</span></pre>
<p>{WORDS}</p>MORE</main></body></html>"""


@pytest.fixture
def find(used_pages):
    with used_pages(1280) as page:

        def low_contrast(more="", dark=False):
            if not dark:
                page.set_content(PAGE.replace("MORE", more))
            page.evaluate("(dark) => document.documentElement.classList.toggle('dark', dark)", dark)
            return [fault for fault in violations(page, structure=False) if "contrast" in fault[0]]

        yield low_contrast


def test_a_token_that_is_faint_in_a_later_theme_alone_is_found(find):
    assert find() == []
    ((_, message),) = find(dark=True)
    assert "odd word" in message


@pytest.mark.parametrize(
    "faint",
    [
        '<p class="faint">some words</p>',
        '<p class="faint">so<b>m</b>e</p>',
        '<p><label>Name <input class="faint" value="some words"></label></p>',
        '<pre><span>a word <span class="faint">within</span></span></pre>',
    ],
)
def test_what_is_faint_is_found_wherever_its_words_are(find, faint):
    assert len(find(faint)) == 1
