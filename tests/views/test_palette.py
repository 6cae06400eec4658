"""Words on colored marks are legible, on light and on dark pages."""

import re

import pytest
from javascript import asked

from gpukernels.views.looks import printed_looks
from gpukernels.views.script import stylesheet

LIGHT, DARK = (
    dict(re.findall(r"(--gk-[\w-]+):\s*([^;]+);", block))
    for block in re.findall(r"gk-view \{\n(.*?)\n\}", stylesheet(), re.DOTALL)[:2]
)
PAIRS = [
    ("on-dark", "work"),
    ("on-dark", "done"),
    ("on-dark", "v4"),
    ("on-dark", "v5"),
    ("on-new", "new"),
    ("ink", "paper"),
    ("quiet", "paper"),
    ("quiet", "faint"),
    ("ink", "faint"),
    ("clash-ink", "paper"),
    *(("ink", f"v{k}") for k in range(4)),
]


def color(name, theme):
    value = {**LIGHT, **(DARK if theme == "dark" else {})}[f"--gk-{name}"]
    # The theme's variable comes first; the color here is for pages without a theme.
    digits = re.findall(r"#([0-9a-f]{3,6})\b", value)[-1]
    digits = digits if len(digits) == 6 else "".join(2 * d for d in digits)
    return [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]


def color_of(name):
    return re.findall(r"#[0-9a-f]{6}", LIGHT[f"--gk-{name}"])[-1]


def luminance(rgb):
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb]
    return sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("word", "ground"), PAIRS)
def test_contrast_is_at_least_four_and_a_half(word, ground, theme):
    a, b = sorted((luminance(color(word, theme)), luminance(color(ground, theme))))
    assert (b + 0.05) / (a + 0.05) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_ramp_runs_one_way(theme):
    ramp = [luminance(color(f"v{k}", theme)) for k in range(6)]
    assert ramp == sorted(ramp, reverse=theme == "light")


def test_the_printed_look_is_that_of_the_light_page():
    looks, painted = printed_looks(stylesheet()), asked(["paint"], "() => Object.keys(PAINT)")()
    dot = {"fill": "none", "stroke": color_of("new"), "stroke-linecap": "round"}
    assert looks["gk-f-work"] == {"fill": color_of("work")}
    assert looks["gk-dot-new"] == dot
    assert set(painted) <= set(re.findall(r"gk-[\w-]+", stylesheet())) | {"gk-text"}
