"""A semester of lectures and labs, with minutes that are computed from the chapters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import nbformat

from gpukernels.exercises import CATALOG
from gpukernels.exercises.tasks import CHAPTERS

#: The places of the two tables in the page's source.
LECTURES_HERE, LABS_HERE = "<!-- lectures -->", "<!-- labs -->"
#: Chapters that take two lectures.
TWICE = (
    "simt", "representations", "shared_memory", "frontier_bfs", "duplicates", "scans",
    "mapping_dynamic", "sssp_spectrum", "hbf", "floyd_warshall",
)  # fmt: skip
#: Sections for reading at home, where a chapter would take longer than its lectures.
AT_HOME = {
    "before_the_first_warp": ("Shifts, masks, and counting bits", "Work and span"),
    "better_queues": (
        "The table of the papers, counted",
        "What the papers measured",
        "What the languages promise about races",
    ),
    "all_pairs_otherwise": ("A matrix that the device cannot hold",),
}
#: The tasks of each lab, of at most 90 minutes. Each chapter begins with its small tasks.
LABS = (
    ("start-1", "start-3", "start-4", "simt-line", "simt-lines", "simt-1"),
    (
        "representations-line", "representations-lines", "representations-1", "representations-2",
        "mapping-static-line", "mapping-static-lines", "mapping-static-1",
    ),
    ("shared-line", "shared-lines", "shared-1", "shared-2", "shared-3"),
    ("bfs-line", "bfs-lines", "bfs-1", "duplicates-line", "duplicates-lines", "duplicates-1"),
    ("scans-line", "scans-lines", "scans-1", "scans-3"),
    (
        "mapping-dynamic-line", "mapping-dynamic-lines",
        "queues-line", "queues-lines", "queues-1", "queues-3",
    ),
    (
        "bfs4k-line", "bfs4k-lines",
        "direction-line", "direction-lines", "direction-1", "direction-2",
    ),
    ("sssp-line", "sssp-lines", "sssp-1", "sssp-2", "hbf-line", "hbf-lines"),
    ("floyd-line", "floyd-lines", "floyd-1", "floyd-3", "otherwise-line", "otherwise-lines"),
    ("energy-line", "energy-lines", "energy-1", "energy-2", "beyond-line", "beyond-lines"),
)  # fmt: skip
#: The homework of each lab: its longest task, because the lab has no time for it.
HOMEWORK = (
    "simt-2", "mapping-static-3", None, "bfs-2", "scans-2", "mapping-dynamic-1", "bfs4k-1", "hbf-1",
    "floyd-2", "beyond-1",
)  # fmt: skip
#: Minutes for a figure, words per minute, and lines of code per minute.
A_FIGURE, WORDS, LINES = 3, 100, 4
#: A cell that draws a figure.
DRAWS = re.compile(r"View\(|HTML\(|\.plot\(")
#: A drawer without inner drawers: answers to questions, which a lecture leaves closed.
DRAWER = re.compile(r"<details((?!<details).)*?</details>", re.DOTALL)
FOLDED = {"remove-cell", "hide-cell"}
UNSEEN = {"hide-input", "remove-input"}


class Section(NamedTuple):
    """A section of a chapter, with an estimate of how long a teacher talks about it."""

    title: str
    minutes: float


def sections_of(notebook: Path) -> tuple[str, list[Section]]:
    """Return a chapter's title, and its sections up to the exercises."""
    sections, title = [Section("Opening", 0)], ""
    for cell in nbformat.read(notebook, as_version=4).cells:
        tags = {*cell.metadata.get("tags", ())}
        if cell.cell_type == "markdown":
            visible = DRAWER.sub("", DRAWER.sub("", cell.source))  # a drawer may hold others
            for text in re.split(r"^(?=##? )", visible, flags=re.MULTILINE):
                if text.startswith("## Exercises"):
                    return title, sections
                if text.startswith("# "):
                    title = text.splitlines()[0][2:]
                elif text.startswith("## "):
                    sections.append(Section(text.splitlines()[0][3:], 0))
                sections[-1] = _longer(sections[-1], len(text.split()) / WORDS)
        elif not tags & FOLDED:
            lines = 0 if tags & UNSEEN else len(cell.source.splitlines())
            drawn = A_FIGURE if DRAWS.search(cell.source) else 0
            sections[-1] = _longer(sections[-1], lines / LINES + drawn)
    raise ValueError(f"{notebook.name} has no exercises")


def _longer(section: Section, minutes: float) -> Section:
    return section._replace(minutes=section.minutes + minutes)


def lectures(folder: Path) -> Iterator[tuple[str, list[Section]]]:
    """Yield chapter and sections of each lecture; the two of one chapter are about equally long."""
    for name in CHAPTERS:
        _, sections = sections_of(folder / f"{name}.ipynb")
        taught = [s for s in sections if s.title not in AT_HOME.get(name, ())]
        if name not in TWICE:
            yield name, taught
            continue
        sums = list(accumulate(s.minutes for s in taught))
        cut = min(range(1, len(taught)), key=lambda k: abs(2 * sums[k - 1] - sums[-1]))
        yield name, taught[:cut]
        yield name, taught[cut:]


def minutes_of(sections: list[Section]) -> int:
    """Return the estimated minutes of a lecture."""
    return round(sum(section.minutes for section in sections))


def lecture_table(folder: Path) -> str:
    """Return the table of lectures in Markdown."""
    rows = ["| | lecture | sections, with their minutes | minutes |", "|---|---|---|---|"]
    for k, (name, sections) in enumerate(lectures(folder), 1):
        parts = "; ".join(f"{s.title} {max(round(s.minutes), 1)}" for s in sections)
        rows.append(f"| {k} | {{doc}}`../chapters/{name}` | {parts} | {minutes_of(sections)} |")
    return "\n".join(rows)


def lab_table() -> str:
    """Return the table of labs in Markdown."""
    rows = ["| | tasks | minutes | homework |", "|---|---|---|---|"]
    for k, (ids, home) in enumerate(zip(LABS, HOMEWORK, strict=True), 1):
        tasks = ", ".join(map(_link, ids))
        left = f"{_link(home)} ({CATALOG[home].minutes})" if home else ""
        rows.append(f"| {k} | {tasks} | {lab_minutes(ids)} | {left} |")
    return "\n".join(rows)


def _link(id: str) -> str:
    return f"{{ref}}`{id} <exercise-{id}>`"


def lab_minutes(ids: tuple[str, ...]) -> int:
    """Return the estimated minutes of a lab's tasks."""
    return sum(CATALOG[id].minutes for id in ids)


def with_tables(source: str, folder: Path) -> str:
    """Return a page's source with the tables in their places."""
    if LECTURES_HERE in source:
        source = source.replace(LECTURES_HERE, lecture_table(folder))
    return source.replace(LABS_HERE, lab_table()) if LABS_HERE in source else source
