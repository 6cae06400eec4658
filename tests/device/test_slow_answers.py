"""A large graph on a SIMT machine by default: a warning that names the faster call, and a bar."""

import warnings

import pytest

import gpukernels as gk
from gpukernels.cores import progress
from gpukernels.device import slow_answers

CALLS = {
    "bfs": lambda **device: gk.bfs(gk.path(40), 0, "frontier", **device),
    "sssp": lambda **device: gk.sssp(gk.path(40), 0, "harish", **device),
    "apsp": lambda **device: gk.apsp(gk.path(40), "blocked", **device),
    "apsp per_root": lambda **device: gk.apsp(gk.path(4), "per_root", **device),
}


class Bar:
    """Keeps what a bar of tqdm would show."""

    def __init__(self, **shown):
        self.shown, self.n, self.is_open = shown, 0, True
        Bar.instances.append(self)

    def update(self, more):
        self.n += more

    def close(self):
        self.is_open = False


@pytest.fixture
def bars(monkeypatch):
    """All graphs are large, all bars are due at once; return the bars."""
    monkeypatch.setattr(slow_answers, "LARGE", 0)
    monkeypatch.setattr(progress, "DELAY", 0)
    monkeypatch.setattr(progress, "_tqdm", lambda: Bar)
    monkeypatch.setenv("GPUKERNELS_DEVICE", "simt")
    Bar.instances = []
    return Bar.instances


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_at_the_callers_line_names_the_faster_call_and_a_bar_counts(name, bars):
    family = name.split()[0]
    with pytest.warns(UserWarning, match=rf"gk\.{family}\(g\), without a method") as record:
        result = CALLS[name]()
    assert [w.filename for w in record] == [__file__]
    (bar,) = bars
    assert bar.n >= result.stats["launches"] > 0  # those that make parents are not among these
    assert (bar.shown["total"], bar.is_open) == (None, False)


@pytest.mark.parametrize("name", CALLS)
def test_who_asks_for_the_machine_is_told_nothing(name, bars):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CALLS[name](device=gk.SimtDevice())
        with gk.trace():
            CALLS[name]()
        gk.bfs(gk.path(40))
        gk.apsp(gk.path(40), "blocked", engine="cpu")
    assert [bar for bar in bars if bar.shown["unit"] == "launches"] == []
