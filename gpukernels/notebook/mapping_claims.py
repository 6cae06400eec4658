"""The papers' claims about each mapping technique, compared with counters.

The claims are from [busato2017chapter], section 5. `judge` compares a claim with the worst counter
over several workloads; `claims_table` shows both side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gpukernels.errors import InvalidArgument
from gpukernels.mapping.counters import Measure
from gpukernels.notebook.table import Table

#: An imbalance up to this counts as balanced: at most a third of all lanes, warps or blocks idle.
BALANCED = 1.5

#: Writes count as coalesced up to this many times the sectors that their bytes need.
COALESCED = 2.0


@dataclass(frozen=True)
class Claim:
    """One sentence of the papers about one technique.

    Attributes
    ----------
    says : bool or None
        Whether the technique has the property; None if the papers say nothing, or only compare.
    words : str
        The claim in a few words.
    section : str
        Section of [busato2017chapter].
    """

    says: bool | None
    words: str
    section: str


#: Subjects of claims: attribute of `Measure`, the largest value that agrees, column head.
ASPECTS = {
    "lanes": (BALANCED, "in a warp"),
    "warps": (BALANCED, "among warps"),
    "blocks": (BALANCED, "among blocks"),
    "write_waste": (COALESCED, "waste of writes"),
}


def _claims(section: str, lanes, warps, blocks, writes) -> dict[str, Claim]:
    claims = dict(zip(ASPECTS, (lanes, warps, blocks, writes), strict=True))
    return {aspect: Claim(*claim, section) for aspect, claim in claims.items()}


_SILENT = (None, "not told")

#: The papers' claims, by technique and aspect.
CLAIMS = {
    "work_item_to_thread": _claims(
        "5.1.1",
        (False, "lanes idle"),
        (False, "whole warps idle"),
        (False, "whole blocks idle"),
        (False, "sparse, not coalesced"),
    ),
    "virtual_warp": _claims(
        "5.1.2",
        (True, "good"),
        (False, "not guaranteed"),
        (False, "not guaranteed"),
        (None, "better, as it grows"),
    ),
    "dynamic_virtual_warp": _claims(
        "5.2.1",
        (True, "guaranteed"),
        (True, "guaranteed"),
        (False, "not guaranteed"),
        (None, "better, as it grows"),
    ),
    "cta_warp_scan": _claims("5.2.2", (True, "perfect"), (True, "perfect"), _SILENT, _SILENT),
    "direct_search": _claims(
        "5.3.1", (True, "perfect"), (True, "perfect"), (True, "perfect"), _SILENT
    ),
    "local_warp_search": _claims(
        "5.3.2",
        (True, "fair"),
        (False, "suffers"),
        (False, "not guaranteed"),
        (True, "guaranteed"),
    ),
    "block_search": _claims(
        "5.3.3",
        (True, "perfect"),
        (True, "perfect in a block"),
        (False, "not guaranteed"),
        (False, "not guaranteed"),
    ),
    "two_phase": _claims(
        "5.3.4",
        (True, "perfect"),
        (True, "perfect"),
        (True, "perfect"),
        (False, "very scattered"),
    ),
    "multi_phase": _claims(
        "5.4-5.5",
        (True, "perfect"),
        (True, "perfect"),
        (True, "perfect"),
        (True, "coalesced"),
    ),
    # That section names it as another form of the two-phase search, without claims of its own.
    "merge_path": _claims("5.3.4", _SILENT, _SILENT, _SILENT, _SILENT),
    # Not named in the section; it cuts items and units as merge path does.
    "max_scan": _claims("5.3.4", _SILENT, _SILENT, _SILENT, _SILENT),
}


@dataclass(frozen=True)
class Verdict:
    """A claim and the worst counter, which decides whether the claim holds.

    Attributes
    ----------
    claim : Claim
        The papers' claim.
    worst : float
        The largest counter over the workloads.
    workload : str
        The workload with the largest counter.
    agrees : bool or None
        Whether counter and claim agree; None if the papers say nothing, or only compare.
    """

    claim: Claim
    worst: float
    workload: str
    agrees: bool | None


def judge(method: str, measures: Mapping[str, Measure]) -> dict[str, Verdict]:
    """Compare the claims about a technique with its counters.

    A property is claimed for every workload, so it must hold on the worst workload. If a property
    is said *not* to be guaranteed, at least one workload must lack it.

    Parameters
    ----------
    method : str
        The technique.
    measures : mapping of str to Measure
        Its counters by workload; at least one.

    Returns
    -------
    dict of str to Verdict
        By aspect: "lanes", "warps", "blocks", "write_waste".

    Raises
    ------
    InvalidArgument
        If there are no measures, or one belongs to another technique.
    """
    if not measures:
        raise InvalidArgument("measures", measures, "at least one workload's")
    for name, m in measures.items():
        if m.method != method:
            raise InvalidArgument(f"measures[{name!r}].method", m.method, repr(method))
    verdicts = {}
    for aspect, (most, _) in ASPECTS.items():
        claim = CLAIMS[method][aspect]
        name = max(measures, key=lambda name: getattr(measures[name], aspect))
        worst = getattr(measures[name], aspect)
        agrees = None if claim.says is None else claim.says == (worst <= most)
        verdicts[aspect] = Verdict(claim, worst, name, agrees)
    return verdicts


def claims_table(measured: Mapping[str, Mapping[str, Measure]]) -> Table:
    """Return a table of every technique's claims and worst counters, with a tick or a cross.

    Parameters
    ----------
    measured : mapping of str to mapping of str to Measure
        Counters by technique and workload.

    Returns
    -------
    Table
        One row per technique: ``claim: counter``, then ✓ if both agree, ✗ if they do not, and
        nothing if the papers say nothing, or only compare.
    """
    columns = ("technique", "section", *(head for _, head in ASPECTS.values()), "reads a search")
    rows = [_row(method, measures) for method, measures in measured.items()]
    caption = f"balanced: at most {BALANCED:g}; coalesced: at most {COALESCED:g}"
    return Table(columns, rows, caption)


def _row(method: str, measures: Mapping[str, Measure]) -> Iterable[str]:
    verdicts = judge(method, measures)
    cells = [
        f"{v.claim.words}: {v.worst:.3g}" + {True: " ✓", False: " ✗", None: ""}[v.agrees]
        for v in verdicts.values()
    ]
    searches = sum(m.searches for m in measures.values())
    reads = sum(m.search_reads for m in measures.values())
    section = verdicts["lanes"].claim.section
    return (method, section, *cells, f"{reads / searches:.3g}" if searches else "no search")
