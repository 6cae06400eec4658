"""The table of counters that ``t.summary()`` shows, one row per kernel, launch or line."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from gpukernels.trace import metrics
from gpukernels.trace.record import Record

COLUMNS = (
    ("launches", "launches", "{:,.0f}"),
    ("warp steps", "warp steps", "{:,.0f}"),
    ("SIMD efficiency", "active lanes / 32", "{:.1%}"),
    ("divergent branches", "branches that split a warp", "{:,.0f}"),
    ("global requests", "requests to global memory", "{:,.0f}"),
    ("sectors / request", "32-byte sectors per global request", "{:.2f}"),
    ("coalescing", "useful bytes / sector bytes", "{:.1%}"),
    ("bank conflicts / request", "extra passes per shared request", "{:.2f}"),
    ("local requests", "requests to local memory", "{:,.0f}"),
    ("local sectors / request", "32-byte sectors per local request", "{:.2f}"),
    ("atomic conflicts", "lanes that waited for another", "{:,.0f}"),
    ("barriers", "warp arrivals at barriers", "{:,.0f}"),
)


def counters(trace: Record) -> dict[str, float]:
    """Return the counters of the summary table for all rows of `trace`, by column name."""
    used = np.union1d(np.unique(trace.steps.launch), np.unique(trace.requests.launch))
    return {
        "launches": float(used.size),
        "warp steps": float(metrics.warp_steps(trace)),
        "SIMD efficiency": metrics.simd_efficiency(trace),
        "divergent branches": float(metrics.divergent_branches(trace)),
        "global requests": float(metrics.requests(trace)),
        "sectors / request": metrics.sectors_per_request(trace),
        "coalescing": metrics.coalescing_efficiency(trace),
        "bank conflicts / request": metrics.bank_conflicts_per_request(trace),
        "local requests": float(metrics.requests(trace, "local")),
        "local sectors / request": metrics.mean(metrics.local_sectors(trace)),
        "atomic conflicts": float(metrics.atomic_conflicts(trace).sum()),
        "barriers": float(metrics.barriers(trace)),
    }


#: Largest number of rows that the error for a missing row names.
NAMED = 12


class Summary(Mapping[str, dict[str, float]]):
    """A table of counters, by row; prints as text and shows as HTML in a notebook.

    Parameters
    ----------
    head : str
        Subject of a row: ``"kernel"``, ``"launch"`` or ``"line"``.
    rows : dict of str to dict
        Row label -> counters, as :func:`counters` names them.

    Examples
    --------
    >>> import gpukernels as gk
    >>> with gk.trace() as t:
    ...     r = gk.bfs(gk.example(), method="frontier")
    >>> list(t.summary())
    ['expand_frontier']
    >>> {kernel: row["launches"] for kernel, row in t.summary().items()}
    {'expand_frontier': 6.0}
    """

    def __init__(self, head: str, rows: dict[str, dict[str, float]]):
        self.head = head
        self.rows = rows

    def __getitem__(self, row: str) -> dict[str, float]:
        if row not in self.rows:
            named = ", ".join(map(repr, list(self.rows)[:NAMED])) or "none"
            more = len(self.rows) - NAMED
            rest = f" and {more} more" if more > 0 else ""
            raise KeyError(f"no {self.head} {row!r}; there are {named}{rest}")
        return self.rows[row]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def _cells(self):
        # A column with only zeros and undefined values has no information.
        shown = [
            (name, form)
            for name, _, form in COLUMNS
            if any(r[name] == r[name] and r[name] != 0 for r in self.rows.values())
        ]
        head = [self.head, *(name for name, _ in shown)]
        body = [
            [label, *("–" if r[n] != r[n] else form.format(r[n]) for n, form in shown)]
            for label, r in self.rows.items()
        ]
        return head, body

    def __repr__(self) -> str:
        head, body = self._cells()
        widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
        lines = []
        for row in [head, *body]:
            cells = [
                cell.ljust(w) if i == 0 else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, body = self._cells()
        top = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in head)
        rows = "".join(
            f'<tr><th scope="row">{html.escape(r[0])}</th>'
            + "".join(f"<td>{html.escape(c)}</td>" for c in r[1:])
            + "</tr>"
            for r in body
        )
        return (
            '<div class="gk-table"><table><thead><tr>'
            f"{top}</tr></thead><tbody>{rows}</tbody></table></div>"
        )


def summarize(trace: Record, by: str = "kernel") -> Summary:
    """Return the counters per ``"kernel"``, ``"launch"`` or ``"line"`` of source.

    A row for a line has the name of its function, its number in the file and its text.
    """
    if by == "kernel":
        names = dict.fromkeys(item.kernel for item in trace.launches)
        return Summary(by, {name: counters(trace.select(kernel=name)) for name in names})
    if by == "launch":
        return Summary(
            by,
            {
                f"{item.index} {item.label or item.kernel}": counters(
                    trace.select(launch=item.index)
                )
                for item in trace.launches
            },
        )
    if by == "line":
        rows = {}
        pairs = np.unique(np.stack([trace.steps.source, trace.steps.line]), axis=1).T
        names = _function_names(trace, np.unique(trace.steps.source).tolist())
        width = max(map(len, names.values()), default=0)
        for source, line in pairs.tolist():
            text = f"{names[source]:<{width}} {line:>4} {trace.text(source, line)}".rstrip()
            rows[text] = counters(trace.select(source=source, line=line))
        return Summary(by, rows)
    raise ValueError(f"by={by!r}; allowed are 'kernel', 'launch' and 'line'")


def _function_names(trace: Record, sources: list[int]) -> dict[int, str]:
    """Return the name of each source's function, with a number if two have the same name."""
    names, met = {}, Counter()
    for source in sources:
        name = trace.sources[source].function
        met[name] += 1
        names[source] = name if met[name] == 1 else f"{name} ({met[name]})"
    return names
