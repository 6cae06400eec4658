"""The looks of marks for readers without a style sheet, taken from the style sheet.

Rules for a single class become attributes of a first frame, in the colors of a light page.
``js/paint.js`` has the exceptions.
"""

from __future__ import annotations

import re

_ATTRIBUTES = (
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap"),
    *("fill-opacity", "stroke-opacity", "vector-effect"),
)
#: Thin lines and pale areas need more ink where nothing is lit from behind.
_PRINTED = {"line": "#b8c0c8", "faint": "#e7eaee"}
_NESTED = re.compile(r"/\*.*?\*/|@[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", re.DOTALL)
_CLASS = re.compile(r"(?::is\()?\.(gk-[\w-]+)\)?")


def printed_looks(stylesheet: str) -> dict[str, dict[str, str]]:
    """Return the presentation attributes that a style sheet gives to single classes."""
    sheet = _NESTED.sub("", stylesheet)
    colors: dict[str, str] = {}
    for name, value in re.findall(r"--gk-([\w-]+): *([^;]+);", sheet):
        # The theme's variable has the last word; the color is what holds without a theme.
        if shades := re.findall(r"#[0-9a-f]{3,6}", value):
            colors.setdefault(name, shades[-1])
    colors |= _PRINTED

    def attribute(value: str) -> str:
        value = re.sub(r"var\(--gk-([\w-]+)\)", lambda name: colors[name[1]], value)
        value = re.sub(r"\b0\.(?=\d)", ".", value).removesuffix("px")
        return {"#fff": "#ffffff"}.get(value, value)

    rules: dict[str, dict[str, str]] = {}
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        for name in filter(None, map(_CLASS.fullmatch, map(str.strip, selectors.split(",")))):
            dot = {"fill": "none", "stroke-linecap": "round"} if "-dot-" in name[1] else {}
            rules.setdefault(name[1], dot).update(re.findall(r"([\w-]+): *([^;]+);", body))
    looks = {
        name: {key: attribute(rule[key]) for key in _ATTRIBUTES if key in rule}
        for name, rule in rules.items()
    }
    return {name: look for name, look in looks.items() if look}
