"""The colors of the figures: Okabe and Ito's palette, and what each color means.

``views.css`` holds the same roles as custom properties, for light and dark pages. The table here is
the printed look: it is written into the first frame for readers without a style sheet (plain
notebook viewers, paper).
"""

from __future__ import annotations

OKABE_ITO = {
    "black": "#000000",
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "green": "#009e73",
    "yellow": "#f0e442",
    "blue": "#0072b2",
    "vermillion": "#d55e00",
    "purple": "#cc79a7",
}

WORK = OKABE_ITO["blue"]
NEW = OKABE_ITO["orange"]
CLASH = OKABE_ITO["vermillion"]
WAIT = OKABE_ITO["sky"]
BARRIER = OKABE_ITO["purple"]
INK, QUIET, LINE, FAINT, PAPER = "#1f2328", "#57606a", "#b8c0c8", "#e7eaee", "#ffffff"


def _dot(color: str) -> dict[str, str]:
    return {"fill": "none", "stroke": color, "stroke-linecap": "round"}


def _stroke(color: str, width: str, dash: str | None = None) -> dict[str, str]:
    look = {"fill": "none", "stroke": color, "stroke-width": width}
    return look | {"stroke-dasharray": dash} if dash else look


#: Fills of threads, warps and blocks by their number; the number itself stands on them, in dark ink
#: except on the fifth.
OWNERS = (
    *(OKABE_ITO[n] for n in ("sky", "orange", "green", "yellow", "blue", "vermillion", "purple")),
    "#9aa3ac",
)


def _word(color: str, size: str) -> dict[str, str]:
    return {
        "fill": color,
        "font-family": "sans-serif",
        "font-size": size,
        "text-anchor": "middle",
    }


#: Presentation attributes of each class that marks in a first frame carry.
PAINT: dict[str, dict[str, str]] = {
    "gk-f-work": {"fill": WORK},
    "gk-f-new": {"fill": NEW},
    "gk-f-wait": {"fill": WAIT},
    "gk-f-clash": {"fill": CLASH},
    "gk-f-barrier": {"fill": BARRIER},
    "gk-f-line": {"fill": LINE},
    "gk-f-faint": {"fill": FAINT},
    "gk-f-paper": {"fill": PAPER},
    "gk-f-done": {"fill": "#68727d"},
    "gk-f-idle": {"fill": FAINT},
    "gk-s-grid": {
        "fill": "none",
        "stroke": PAPER,
        "stroke-width": ".5",
        "vector-effect": "non-scaling-stroke",
    },
    "gk-f-fetched": {"fill": WORK, "fill-opacity": ".16"},
    "gk-f-playhead": {"fill": WORK, "fill-opacity": ".14"},
    "gk-f-future": {"fill": PAPER, "fill-opacity": ".5"},
    "gk-s-work": _stroke(WORK, ".8"),
    "gk-row-label": {
        "fill": INK,
        "font-family": "monospace",
        "font-size": "10",
        "text-anchor": "end",
    },
    "gk-dot-rim": _dot(QUIET),
    "gk-line-text": {
        "fill": INK,
        "font-family": "sans-serif",
        "font-size": "9",
        "text-anchor": "middle",
    },
    "gk-vertex-name": {"fill": QUIET, "font-family": "sans-serif", "font-size": "8"},
    "gk-cell": {"font-family": "monospace", "font-size": "8", "text-anchor": "middle"},
    "gk-cell-index": {
        "fill": QUIET,
        "font-family": "sans-serif",
        "font-size": "6",
        "text-anchor": "middle",
    },
    "gk-on-new": {"fill": "#1f1400", "font-family": "sans-serif", "font-size": "10"},
    "gk-array-name": {"fill": INK, "font-family": "monospace", "font-size": "10"},
    "gk-tick": {"font-family": "sans-serif", "font-size": "8", "text-anchor": "middle"},
    "gk-s-line": _stroke(LINE, "1"),
    "gk-s-faint": _stroke(FAINT, "1"),
    "gk-arc": _stroke(LINE, "1"),
    "gk-arc-read": _stroke(QUIET, "1.4", "4 2.5"),
    "gk-arc-found": _stroke(NEW, "2.6"),
    "gk-arc-again": _stroke(CLASH, "2.2", "2 2"),
    "gk-arc-tree": _stroke(WORK, "2.4"),
    "gk-dot-ink": _dot(QUIET),
    "gk-dot-paper": _dot(PAPER),
    "gk-dot-unseen": _dot(LINE),
    "gk-dot-done": _dot("#68727d"),
    "gk-dot-work": _dot(WORK),
    "gk-dot-new": _dot(NEW),
    "gk-dot-clash": _dot(CLASH),
    "gk-dot-wait": _dot(WAIT),
    "gk-wire": {"fill": "none", "stroke": WORK, "stroke-width": "1", "stroke-opacity": ".6"},
    "gk-wire-clash": {"fill": "none", "stroke": CLASH, "stroke-width": "1.2"},
    "gk-text": {"fill": INK, "font-family": "sans-serif", "font-size": "10"},
    "gk-text-quiet": {"fill": QUIET, "font-family": "sans-serif", "font-size": "9"},
    "gk-on-dark": {"fill": PAPER, "font-family": "sans-serif", "font-size": "10"},
    "gk-text-clash": {"fill": CLASH, "font-family": "sans-serif", "font-size": "10"},
}
PAINT |= {f"gk-u-{i}": {"fill": "none", "stroke": color} for i, color in enumerate(OWNERS)}
PAINT |= {
    "gk-u-todo": {"fill": FAINT, "stroke": LINE},
    "gk-u-mark": {"fill": "none", "stroke": INK, "stroke-opacity": ".55"},
    "gk-u-rest": {"fill": "none", "stroke": LINE},
    "gk-u-load": {"fill": "none", "stroke": WORK},
    "gk-s-now": _stroke(INK, "2"),
    "gk-s-cut": _stroke(INK, "1.6"),
    "gk-u-item": _word(INK, "10"),
    "gk-u-empty": _word(QUIET, "9"),
    "gk-u-dark": _word("#14110a", "10"),
    "gk-u-light": {"fill": PAPER},
    "gk-u-tiny": {"font-size": "7.5"},
    "gk-u-one": {"fill": LINE},
    "gk-u-many": {"fill": INK},
    "gk-u-once": _word(INK, "9"),
    "gk-u-often": _word(PAPER, "9"),
}
PAINT |= {
    "gk-s-row": {"fill": "none", "stroke": FAINT},
    "gk-scan-was": {"fill": "#b3d4ea"},
    "gk-s-old": _stroke("#8d97a1", "1"),
    "gk-s-carry": _stroke(LINE, "1"),
    "gk-s-add": _stroke(WORK, "1.5"),
    "gk-s-take": _stroke("#a86a00", "1.5", "3 2"),
    "gk-scan-step": _word(QUIET, "9"),
}
_SIGN = {"stroke-linecap": "round"}
PAINT |= {
    "gk-s-valid": _stroke("#a86a00", "1.2"),
    "gk-s-duplicate": _stroke("#68727d", "1.2", "4 2"),
    "gk-s-conflict": _stroke("#a8527f", "1.2", "1.5 2"),
    "gk-s-sign": _stroke(INK, "1.6") | _SIGN,
    "gk-s-missed": _stroke(CLASH, "1.9") | _SIGN,
    "gk-hash-label": {
        "fill": INK,
        "font-family": "sans-serif",
        "font-size": "9",
        "text-anchor": "end",
    },
}

#: Light to dark, for values on a scale; the style sheet turns the order round on dark pages.
RAMP = ("#dcebf5", "#b3d4ea", "#83b9dc", "#4f9acb", "#1f7ab5", "#0b5488")
# In a graph the number stands in the middle of its vertex.
for _name in ("gk-text", "gk-text-quiet", "gk-on-dark", "gk-on-new"):
    PAINT[_name]["text-anchor"] = "middle"
for _i, _color in enumerate(RAMP):
    PAINT[f"gk-dot-v{_i}"] = _dot(_color)
