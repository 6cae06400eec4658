"""A benchmark tells its rows, and on a terminal how far it is."""

from __future__ import annotations

import sys

import pytest

from gpukernels.bench import steps
from gpukernels.graphs import progress


@pytest.fixture
def bars(monkeypatch):
    """The bars that are made, at once rather than after seconds."""
    bars = []

    class Bar:
        def __init__(self, total, desc, **_):
            self.total, self.desc, self.n, self.open = total, desc, 0, True
            bars.append(self)

        def update(self, more):
            self.n += more

        def refresh(self):
            pass

        def close(self):
            self.open = False

    monkeypatch.setattr(progress, "tqdm", Bar)
    monkeypatch.setattr(progress, "DELAY", 0)
    return bars


def test_on_a_terminal_a_bar_follows_the_rows(bars, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with steps.shown("bfs"):
        steps.expect(3)
        steps.tell("a graph", 0)
        steps.tell("one")
        steps.tell("two")
        steps.expect(2)
        (bar,) = bars
        assert (bar.desc, bar.n, bar.total, bar.open) == ("bfs", 2, 5, True)
    assert not bar.open
    assert capsys.readouterr().out.splitlines() == ["a graph", "one", "two"]


def test_in_a_log_and_alone_rows_are_printed_without_a_bar(bars, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with steps.shown("bfs"):
        steps.expect(1)
        steps.tell("one")
    steps.expect(1)
    steps.tell("two")
    assert bars == []
    assert capsys.readouterr().out.splitlines() == ["one", "two"]


def test_a_bar_is_gone_when_a_benchmark_fails(bars, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    def fails():
        with steps.shown("bfs"):
            steps.tell("one")
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert [bar.open for bar in bars] == [False]
    steps.tell("two")
    assert bars[0].n == 1
