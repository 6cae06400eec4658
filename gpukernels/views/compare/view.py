"""CompareView: methods against graphs, a counter at a time, with all numbers one click below."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpukernels.checks import as_python, check_text
from gpukernels.errors import InvalidArgument
from gpukernels.views.address import check_address
from gpukernels.views.widget import View
from gpukernels.views.words import count

#: The most of each that one figure draws: more rows outgrow a window, more columns a phone.
MOST_METHODS, MOST_GRAPHS, MOST_COUNTERS = 24, 6, 16
#: A counter whose largest value is so many times its least is drawn on a log scale, if no share.
LOG_FROM = 30
#: Text of a cell without a run, and of a cell whose run does not have the counter.
NO_RUN, NO_VALUE = "no run", "not counted"
#: Names of a row and a column by default.
HEADS = ("method", "graph")


class CompareView(View):
    """Methods against graphs: one counter at a time, chosen from a list, and sorted on request.

    Each row is a method and each column a graph, unless `heads` names others. Each cell shows its
    number and its place on a scale that all cells share. A reader may choose to see the ratio to
    the best number of the column instead. The best number of a column is marked, if the counter has
    a best. One click below shows every number of every counter, also as CSV.

    Parameters
    ----------
    rows : iterable of (str, str, dict)
        The runs: method, graph, and the values of its counters by their names. A value is a finite
        number; None, if it is not known; or a text that says why there is none ("takes no negative
        weights"). Rows and columns stand in the order in which they first come.
    better : dict of str to str, optional
        The better direction of each counter: ``"lower"`` (the default), ``"higher"``, or ``""`` if
        neither is better.
    units : dict of str to str, optional
        Units of counters ("ms", "%").
    counter : str, optional
        The counter shown first; by default the first.
    plays : dict of (str, str) to str, optional
        For runs, by method and graph, the address of a figure of the same page that recorded
        them: ``{("harish", "roads"): "#fig-levels?run=harish"}``. In the book a click on their
        cells plays them, from the first step where the address names none.
    heads : (str, str), optional
        Names of one row and one column, if they are not a method and a graph:
        ``("graph", "mapping")``.
    file : str
        Name of the CSV file, without its ending.
    title, caption, name : str
        Words above and below; addresses call it ``#fig-name``, by default by its title.

    Attributes
    ----------
    trace : str
        The counter shown; may be set and observed.
    csv : str
        All numbers as CSV: method, graph (or the names in `heads`) and one column per counter.

    Raises
    ------
    InvalidArgument
        If a row is no run, a run comes twice, a value is neither a finite number nor a text, or
        there are too many of anything.

    Examples
    --------
    >>> import gpukernels as gk
    >>> g, rows = gk.random_weights(gk.example(), seed=1), []
    >>> for method in ("harish", "topology_driven"):
    ...     stats = gk.sssp(g, method=method).stats
    ...     rows.append((method, "example", {k: stats[k] for k in ("relaxations", "launches")}))
    >>> gk.CompareView(rows)
    CompareView(2 methods, 1 graph; relaxations, launches)
    """

    _kind = "compare"

    def __init__(
        self,
        rows: Iterable[tuple[str, str, Mapping[str, Any]]],
        *,
        better: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        counter: str | None = None,
        plays: Mapping[tuple[str, str], str] | None = None,
        heads: tuple[str, str] = HEADS,
        file: str = "comparison",
        title: str = "Methods and graphs",
        caption: str = "",
        name: str = "",
    ) -> None:
        runs = _runs(rows)
        self._methods = list(dict.fromkeys(method for method, _ in runs))
        self._graphs = list(dict.fromkeys(graph for _, graph in runs))
        self._counters = list(dict.fromkeys(name for run in runs.values() for name in run))
        _check_sizes(self._methods, self._graphs, self._counters)
        check_text("file", file)
        self._heads = _checked_heads(heads)
        better = _of_counters("better", better, self._counters)
        units = _of_counters("units", units, self._counters)
        for counted, which in better.items():
            if which not in ("lower", "higher", ""):
                raise InvalidArgument(f"better[{counted!r}]", which, "'lower', 'higher' or ''")
        self._traces = [
            _counter(runs, self._methods, self._graphs, name, better.get(name, "lower"), unit)
            for name in self._counters
            for unit in [units.get(name, "")]
        ]
        known = isinstance(counter, str) and counter in self._counters
        if counter is not None and not known:
            raise InvalidArgument("counter", counter, f"one of {self._counters}")
        # The counter shown first comes first: a figure without scripts has no other.
        first = self._counters.index(counter) if counter is not None else 0
        self._traces.insert(0, self._traces.pop(first))
        self.csv = _csv(runs, self._counters, units, self._heads)
        payload = {
            "choice": "Counter",
            "methods": self._methods,
            "graphs": self._graphs,
            "counters": [self._labels_of_traces().index(name) for name in self._counters],
            "file": file,
            "csv": self.csv,
            **({} if self._heads == HEADS else {"heads": list(self._heads)}),
            **_plays(plays, runs, self._methods, self._graphs),
            "traces": self._traces,
        }
        labels = self._labels_of_traces()
        self._finish(payload, title=title, caption=caption, name=name, step=0, labels=labels)

    def _labels_of_traces(self) -> list[str]:
        return [trace["label"] for trace in self._traces]

    def _describe(self) -> str:
        sentences = " ".join(f"{t['label']}: {t['sentence']}" for t in self._traces)
        return f"{self._size(' on ')}. {sentences}"

    def _summary(self) -> str:
        return f"{self._size(', ')}; {', '.join(self._counters)}"

    def _size(self, between: str) -> str:
        """Return the numbers of rows and columns, with their names."""
        rows, columns = len(self._methods), len(self._graphs)
        if self._heads == HEADS:
            return f"{count(rows, 'method')}{between}{count(columns, 'graph')}"
        return f"By {self._heads[0]} and {self._heads[1]}, {rows} × {columns}"


def _runs(rows: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the counters of each run by its method and graph, checked."""
    allowed = "(method, graph, {counter: value}), two texts and a dict"
    try:
        listed = None if isinstance(rows, (str, bytes, Mapping)) else list(rows)
    except TypeError:
        listed = None
    if listed is None:
        raise InvalidArgument("rows", rows, f"rows of {allowed}")
    runs: dict[tuple[str, str], dict[str, Any]] = {}
    for k, row in enumerate(listed):
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 3:
            raise InvalidArgument(f"rows[{k}]", row, allowed)
        method, graph, counters = row
        if not isinstance(counters, Mapping):
            raise InvalidArgument(f"rows[{k}]", row, allowed)
        for text in (method, graph, *counters):
            if not isinstance(text, str) or not text:
                raise InvalidArgument(f"rows[{k}]", row, f"{allowed}; no text is empty")
            check_text(f"rows[{k}]", text)
        if (method, graph) in runs:
            raise InvalidArgument(f"rows[{k}]", (method, graph), "a run that did not come before")
        runs[method, graph] = {name: _value(k, name, v) for name, v in counters.items()}
    if not any(runs.values()):
        raise InvalidArgument("rows", list(runs), "at least one run with a counter")
    return runs


def _value(k: int, name: str, number: object) -> float | str | None:
    value = as_python(number)
    if isinstance(value, str):
        check_text(f"rows[{k}][2][{name!r}]", value)
    fits = value is None or (isinstance(value, str) and value)
    if not fits and not isinstance(value, bool) and isinstance(value, (int, float)):
        try:
            fits = math.isfinite(value)
        except OverflowError:
            fits = False
    if not fits:
        raise InvalidArgument(
            f"rows[{k}][2][{name!r}]", number, "a finite number, None, or a text why there is none"
        )
    return value


def _checked_heads(heads: Any) -> tuple[str, str]:
    allowed = "two texts that are not empty, the names of a row and of a column"
    if not isinstance(heads, (tuple, list)) or len(heads) != 2:
        raise InvalidArgument("heads", heads, allowed)
    for k, text in enumerate(heads):
        check_text(f"heads[{k}]", text)
        if not text:
            raise InvalidArgument("heads", heads, allowed)
    return heads[0], heads[1]


def _check_sizes(methods: list[str], graphs: list[str], counters: list[str]) -> None:
    most = {"methods": MOST_METHODS, "graphs": MOST_GRAPHS, "counters": MOST_COUNTERS}
    for name, names in {"methods": methods, "graphs": graphs, "counters": counters}.items():
        if len(names) > most[name]:
            raise InvalidArgument("rows", f"{len(names)} {name}", f"of at most {most[name]} {name}")


def _of_counters(argument: str, texts: Any, counters: list[str]) -> dict[str, str]:
    if texts is None:
        return {}
    if not isinstance(texts, Mapping):
        raise InvalidArgument(argument, texts, "a dict of counters' names to texts")
    for name, text in texts.items():
        if name not in counters:
            raise InvalidArgument(argument, name, f"of the counters {counters}")
        check_text(f"{argument}[{name!r}]", text)
    return dict(texts)


def _plays(plays: Any, runs: Any, methods: list[str], graphs: list[str]) -> dict[str, Any]:
    """Return the address of each run that a page can play, if there is any."""
    if plays is None:
        return {}
    if not isinstance(plays, Mapping):
        raise InvalidArgument("plays", plays, "a dict of (method, graph) to addresses")
    for run, address in plays.items():
        if run not in runs:
            raise InvalidArgument("plays", run, f"of the runs {list(runs)}")
        check_address(f"plays[{run!r}]", address)
    return {"plays": [[plays.get((m, g), "") for g in graphs] for m in methods]} if plays else {}


def _counter(runs, methods, graphs, name, better, unit) -> dict[str, Any]:
    """Return the part of the record for one counter: one list per method, one entry per graph."""
    cells = [[runs.get((method, graph), NO_RUN) for graph in graphs] for method in methods]
    table = [[c if c == NO_RUN else c.get(name) for c in row] for row in cells]
    numbers = [v for row in table for v in row if _is_number(v)]
    best = [_best([row[g] for row in table], better) for g in range(len(graphs))]
    positive = [v for v in numbers if v > 0]
    wide = bool(positive) and max(positive) >= LOG_FROM * min(positive)
    # A share is of its whole, whatever the others are.
    log = wide and min(numbers) >= 0 and unit != "%"
    low, high = ends = _ends(numbers, log)
    units = f" {unit}" if unit else ""
    return {
        "label": name,
        "steps": 1,
        "unit": unit,
        "better": better,
        "log": log,
        "scale": f"{_text(low)} to {_text(high)}{units}",
        "ticks": [_place(v, ends, log) for v in (_powers(low, high) if log else [0])],
        "values": [[v if _is_number(v) else None for v in row] for row in table],
        "places": [[_place(v, ends, log) for v in row] for row in table],
        "texts": [[_text(v) for v in row] for row in table],
        "notes": [[_note(v, best[g]) for g, v in enumerate(row)] for row in table],
        "sentence": _sentence(table, methods, graphs, better, unit),
    }


def _is_number(value: object) -> bool:
    return value is not None and not isinstance(value, str)


def _best(column: list[Any], better: str) -> float | None:
    numbers = [v for v in column if _is_number(v)]
    if not numbers or not better:
        return None
    return min(numbers) if better == "lower" else max(numbers)


def _ends(numbers: list[float], log: bool) -> list[float]:
    """Return where the scale begins and ends: powers of ten, or zero and the farthest value."""
    if log:
        least, most = min(v for v in numbers if v > 0), max(numbers)
        return [10.0 ** math.floor(math.log10(least)), 10.0 ** math.ceil(math.log10(most))]
    return [float(min([0, *numbers])), float(max([0, *numbers]))]


def _powers(low: float, high: float) -> list[float]:
    return [10.0**k for k in range(round(math.log10(low)), round(math.log10(high)) + 1)]


def _place(value: Any, ends: list[float], log: bool) -> int | None:
    """Return how far along its scale a value lies, in thousandths; a log scale has no zero."""
    if not _is_number(value) or (log and value <= 0):
        return None
    low, high = (math.log10(end) for end in ends) if log else ends
    at = math.log10(value) if log else value
    return round(1000 * (at - low) / (high - low)) if high > low else 0


def _text(value: Any) -> str:
    if value is None:
        return NO_VALUE
    if isinstance(value, str):
        return value
    if abs(value) < 1e15 and (float(value).is_integer() or abs(value) >= 1000):
        return f"{round(value):,}"
    return f"{value:.3g}"


def _note(value: Any, best: float | None) -> str:
    """Say how many times the best of its column a value is."""
    if not _is_number(value) or best is None:
        return ""
    if value == best:
        return "best"
    if best <= 0 or value <= 0:
        return ""
    times = value / best
    return f"×{times:.3g}" if times < 9.995 else f"×{round(times):,}"


def _sentence(table, methods, graphs, better, unit) -> str:
    first = f"{better.capitalize()} is better." if better else "Neither more nor less is better."
    sentences = [first]
    for g, graph in enumerate(graphs):
        numbers = {m: row[g] for m, row in zip(methods, table, strict=True) if _is_number(row[g])}
        without = [m for m, row in zip(methods, table, strict=True) if isinstance(row[g], str)]
        if numbers:
            least, most = (pick(numbers.values()) for pick in (min, max))
            who = {v: [m for m in numbers if numbers[m] == v] for v in (least, most)}
            units = f" {unit}" if unit else ""
            words = f"from {_text(least)}{units} ({_named(who[least])})"
            if most != least:
                words += f" to {_text(most)}{units} ({_named(who[most])})"
        else:
            words = "no number"
        if without:
            words += f"; none: {_named(without)}"
        sentences.append(f"{graph}: {words.removesuffix('.')}.")
    return " ".join(sentences)


def _named(methods: list[str]) -> str:
    """Name one or two methods, and of a longer tie the first and how many more there are."""
    if len(methods) < 3:
        return ", ".join(methods)
    return f"{methods[0]} and {len(methods) - 1} others"


def _csv(runs, counters: list[str], units: dict[str, str], heads: tuple[str, str]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    counted = [f"{name} ({units[name]})" if units.get(name) else name for name in counters]
    table.writerow([*heads, *counted])
    for (method, graph), run in runs.items():
        values = [run.get(name) for name in counters]
        table.writerow([method, graph, *("" if v is None else v for v in values)])
    return text.getvalue()
