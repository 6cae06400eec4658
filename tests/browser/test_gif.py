"""A run saved as an animated GIF: each step is a frame, which looks like the figure."""

from __future__ import annotations

import io

import numpy as np
import pytest
from figure_pages import LIVE, RECORDS, faults, folder, html_of, open_figures  # noqa: F401
from PIL import Image, ImageSequence
from test_saved import in_page, pixels, unlike

from gpukernels.views.script import classic_script, module_for

#: Lets each picture take a second, so that a film does not end before a test has seen it.
SLOW = """() => {
    const { prototype } = HTMLImageElement, add = prototype.addEventListener;
    prototype.addEventListener = function (type, f) {
        add.call(this, type, type === "load" ? () => setTimeout(f, 1000) : f);
    };
}"""


def save_gif(page) -> tuple[str, bytes]:
    """Save the run of the only figure of a page; return the file's name and content."""
    page.locator(".gk-save summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="run as GIF").click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def frames_of(gif: bytes) -> tuple[np.ndarray, list[int]]:
    """Return the pixels of every frame, and its time in milliseconds."""
    frames = ImageSequence.Iterator(Image.open(io.BytesIO(gif)))
    read = [(np.asarray(frame.convert("RGB")), frame.info["duration"]) for frame in frames]
    return np.stack([frame for frame, _ in read]), [shown for _, shown in read]


def most_frequent_color(picture: np.ndarray) -> list[int]:
    colors, counts = np.unique(picture.reshape(-1, 3), axis=0, return_counts=True)
    return colors[counts.argmax()].tolist()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["frontier roots", "warp", "tile"])
def test_a_gif_has_each_step_as_a_frame_that_looks_as_in_the_page(open_figures, name, theme):  # noqa: F811
    page = open_figures(name, theme=theme)
    slider = page.locator(".gk-scrub input")
    slider.fill("2")
    file, gif = save_gif(page)
    frames, shown = frames_of(gif)
    assert file.endswith(".gif")
    assert len(frames) == int(slider.get_attribute("max")) + 1
    assert Image.open(io.BytesIO(gif)).info["loop"] == 0
    assert len(set(shown[:-1])) == 1
    assert shown[-1] >= 2 * shown[0]
    # The reader's step is shown again.
    assert slider.input_value() == "2"
    for step in (0, len(frames) // 2, len(frames) - 1):
        slider.fill(str(step))
        photo = pixels(in_page(page))
        tall, wide = np.asarray(frames.shape[1:3]) // 2
        means = frames[step].reshape(tall, 2, wide, 2, 3).mean(axis=(1, 3)) / 255
        assert unlike(means, photo) < 0.02
        seen = np.rint(photo * 255).astype(int)
        assert most_frequent_color(frames[step]) == most_frequent_color(seen)
        others = [k for k in range(len(frames)) if k != step]
        assert all((frames[k] != frames[step]).any() for k in others)


def test_a_page_loads_what_writes_a_gif_when_one_is_wanted(open_figures):  # noqa: F811
    page, asked = open_figures("scan"), []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.locator(".gk-save summary").click()
    assert page.evaluate("typeof gifenc") == "undefined"
    page.keyboard.press("Escape")
    save_gif(page)
    assert [url for url in asked if url.endswith(".js")] == ["gifenc.js"]
    assert "GIF89a" not in classic_script()


@pytest.mark.parametrize("host", ["widget", "output"])
def test_a_notebook_has_what_writes_a_gif_within(open_figures, host):  # noqa: F811
    page = open_figures("frontier")
    record = RECORDS["frontier"]
    if host == "widget":
        page.evaluate(LIVE, [module_for("frontier"), record])
    else:
        page.locator("main").evaluate(
            "(main, html) => (main.innerHTML = html)", html_of("frontier")
        )
        page.add_script_tag(content=classic_script("frontier"))
    file, gif = save_gif(page)
    assert file == f"{page.locator('figure').get_attribute('id')}.gif"
    assert len(frames_of(gif)[0]) == record["traces"][0]["steps"]
    # Python receives only the steps that a reader took.
    assert host == "output" or page.evaluate("window.saved") == []


def test_a_long_run_shows_how_far_it_is_and_ends_where_a_reader_cancels(open_figures):  # noqa: F811
    page = open_figures("memory all")
    page.evaluate(SLOW)
    downloads = []
    page.on("download", lambda download: downloads.append(download))
    page.locator(".gk-save summary").click()
    assert faults(page) == []
    steps = RECORDS["memory all"]["traces"][0]["steps"]
    offer = page.get_by_role("button", name=f"run as GIF ({steps} frames)")
    for end in ("cancel", "escape"):
        offer.focus()
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelector('.gk-save progress').value > 0")
        cancel = page.get_by_role("button", name="Cancel the GIF")
        # The focus stays, and a screen reader does not announce every step.
        assert cancel.evaluate("(button) => button === document.activeElement")
        assert page.locator(".gk-now").get_attribute("aria-live") == "off"
        if end == "cancel":
            assert faults(page) == []
            page.keyboard.press("Enter")
        else:
            page.keyboard.press("Escape")
            assert page.evaluate("document.activeElement.localName") == "summary"
            page.keyboard.press("Enter")
        offer.wait_for()
        page.locator(".gk-now[aria-live=polite]").wait_for()
        assert page.locator(".gk-save progress").is_hidden()
    assert downloads == []
