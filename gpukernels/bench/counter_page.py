"""The table of "Where a profiler will disagree", made from ``counters.json``.

``python -m gpukernels.bench.counter_page`` writes it into ``book/profiler.md``, between its marks.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from gpukernels.bench.counter_causes import SECTIONS
from gpukernels.bench.counters import COMPARED, TOLERANCE, compare, kept_counters

PAGE = Path(__file__).parents[2] / "book" / "profiler.md"
BEGIN, END = "<!-- counters: begin -->\n", "<!-- counters: end -->"

#: Section -> the letter that stands for it in the table.
LETTERS = {label: "abcdefghij"[k] for k, label in enumerate(dict.fromkeys(SECTIONS.values()))}

_SHOWN = {
    "load requests": "load requests",
    "load sectors": "sectors",
    "store requests": "store requests",
    "store sectors": "sectors",
    "atomic requests": "atomic requests",
    "atomic sectors": "sectors",
    "bank conflicts": "bank conflicts",
    "SIMD efficiency": "SIMD efficiency",
}
_FAMILIES = {
    "representations": "Representations",
    "scans": "Scans and searches in sorted offsets",
    "mapping": "Mappings",
    "bfs": "Searches",
    "duplicates": "Culls of duplicates",
    "simt": "Examples",
    "atomics": "Probes: atomics",
    "shared reads": "Probes: shared memory",
}


def table(kept: dict[str, Any]) -> str:
    """Return the table as Markdown: a kernel a row, over all launches of its first case."""
    chosen: dict[str, str] = {}
    for row in kept["rows"]:
        chosen.setdefault(row["kernel"], row["case"])
    parts = []
    for group, title in _FAMILIES.items():
        names = [k for k, case in chosen.items() if case.partition(":")[0] == group]
        if names:
            head = ["kernel", "input", *_SHOWN.values()]
            lines = [
                f"**{title}**\n",
                f"| {' | '.join(head)} |",
                "|---|---|" + "--:|" * len(_SHOWN),
            ]
            lines += [_line(kept, name, chosen[name]) for name in names]
            parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _line(kept, kernel, case) -> str:
    rows = [r for r in kept["rows"] if r["kernel"] == kernel and r["case"] == case]
    told = compare({"rows": rows}, _SHOWN)
    cells = [f"`{kernel}`", case.partition(": ")[2]]
    cells += [_cell(name, *_sums(rows, name), told) for name in _SHOWN]
    return f"| {' | '.join(cells)} |"


def _sums(rows, counter) -> tuple[float, float]:
    if counter == "SIMD efficiency":
        steps = [r["machine"]["warp steps"] for r in rows]
        ours = sum(r["machine"][counter] * n for r, n in zip(rows, steps, strict=True)) / sum(steps)
        ran = sum(r["ncu"]["smsp__inst_executed.sum"] for r in rows)
        return ours, sum(r["ncu"]["smsp__thread_inst_executed.sum"] for r in rows) / ran / 32
    names = COMPARED[counter]
    there = sum(r["ncu"].get(name, 0) for r in rows for name in names)
    return sum(r["machine"][counter] for r in rows), there


def _cell(counter, here, there, told) -> str:
    if not here and not there:
        return ""
    form = "{:.0%}" if counter == "SIMD efficiency" else "{:,.0f}"
    here, there = form.format(here), form.format(there)
    text = here if here == there else f"{here} / {there}"
    off = [r for r in told if r["counter"] == counter and not r["agrees"]]
    labels = Counter(SECTIONS[r["why"]["key"]] if r["why"] else "" for r in off)
    marks = [
        f"{{ref}}`{LETTERS[label]} <{label}>`" if label else "(open)"
        for label in sorted(labels, key=lambda name: LETTERS.get(name, "z"))
    ]
    return " ".join([text, *marks])


def summary(kept: dict[str, Any]) -> str:
    """Return one sentence: how many counters agree, and that the rest is explained or open."""
    rows = [r for r in compare(kept) if r["counter"] in _SHOWN]
    off = [r for r in rows if not r["agrees"]]
    opened = sum(r["why"] is None for r in off)
    kernels = len({row["kernel"] for row in kept["rows"]})
    rest = "each has its section" if not opened else f"{opened} of them are open"
    return (
        f"{len(kept['rows'])} launches of {kernels} kernels on an {kept['device']}, Nsight Compute "
        f"{kept['ncu']}, {kept['date']}: of {len(rows):,} of these counters that are not zero, "
        f"{len(rows) - len(off):,} agree within {TOLERANCE:.0%}. Of the other {len(off)}, {rest}."
    )


def page(text: str, kept: dict[str, Any]) -> str:
    """Return the page with today's table between its marks."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}{summary(kept)}\n\n{table(kept)}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(), kept_counters()))
