"""The papers' claims are complete, and the verdicts follow from the counters."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gpukernels as gk
from gpukernels.mapping import METHODS
from gpukernels.mapping.counters import measure
from gpukernels.notebook.mapping_claims import (
    ASPECTS,
    BALANCED,
    CLAIMS,
    COALESCED,
    claims_table,
    judge,
)


@pytest.fixture(scope="module")
def measured():
    """Counters of every technique on a regular, a heavy-tailed and a nearly hopeless workload."""
    workloads = {
        name: gk.workload(name, 1_024)
        for name in ("great-britain_osm", "web-NotreDame", "circuit5M")
    }
    knobs = {
        "block_search": {"chunk_items": 256},
        "dynamic_virtual_warp": {"threshold": 256, "resident_threads": 1024},
        "two_phase": {"threads": 64},
        "multi_phase": {"threads": 64},
    }
    return {
        method: {
            name: measure(offsets, method, **knobs.get(method, {}))
            for name, offsets in workloads.items()
        }
        for method in METHODS
    }


def test_every_technique_has_claims_and_a_section():
    assert set(CLAIMS) == set(METHODS)
    for method, claims in CLAIMS.items():
        assert set(claims) == set(ASPECTS), method
        for claim in claims.values():
            assert claim.section.startswith("5.")
            assert claim.words
            assert (claim.says is None) == (claim.words in ("not told", "better, as it grows"))


def test_the_static_and_dynamic_techniques_are_as_the_papers_say(measured):
    """What the papers are right about on these workloads, technique by technique."""
    agreed = {
        "work_item_to_thread": {"lanes", "warps", "blocks", "write_waste"},
        "virtual_warp": {"warps", "blocks"},
        "dynamic_virtual_warp": {"blocks"},
        "cta_warp_scan": {"lanes"},
        "direct_search": {"lanes", "warps", "blocks"},
        "local_warp_search": {"lanes", "warps", "blocks", "write_waste"},
        "block_search": {"lanes", "warps", "blocks", "write_waste"},
        "two_phase": {"lanes", "warps", "blocks", "write_waste"},
        "multi_phase": {"lanes", "warps", "blocks", "write_waste"},
        "merge_path": set(),  # of which they tell nothing
        "max_scan": set(),
    }
    for method, measures in measured.items():
        verdicts = judge(method, measures)
        assert {a for a, v in verdicts.items() if v.agrees} >= agreed[method], method


def test_the_papers_claim_of_virtual_warps_does_not_hold_on_the_worst_workload(measured):
    verdict = judge("virtual_warp", measured["virtual_warp"])["lanes"]
    assert verdict.claim.says is True
    assert verdict.worst > BALANCED
    assert verdict.agrees is False


@pytest.mark.parametrize(("counter", "agrees"), [(1.0, True), (BALANCED, True), (1.51, False)])
def test_a_claim_of_balance_must_hold_on_the_worst_workload(counter, agrees, measured):
    good = measured["direct_search"]["web-NotreDame"]
    measures = {"good": good, "worst": dataclasses.replace(good, blocks=counter)}
    verdict = judge("direct_search", measures)["blocks"]
    assert verdict.agrees is agrees
    assert verdict.worst == pytest.approx(max(counter, good.blocks))


def test_that_nothing_is_guaranteed_must_show_on_one_workload(measured):
    good = dataclasses.replace(measured["block_search"]["web-NotreDame"], blocks=1.0)
    assert judge("block_search", {"good": good})["blocks"].agrees is False
    bad = dataclasses.replace(good, blocks=3.0)
    verdict = judge("block_search", {"good": good, "bad": bad})["blocks"]
    assert verdict.agrees is True
    assert verdict.workload == "bad"


def test_where_the_papers_are_silent_there_is_no_verdict(measured):
    verdict = judge("cta_warp_scan", measured["cta_warp_scan"])["blocks"]
    assert verdict.agrees is None
    assert verdict.worst > 1


def test_coalescing_is_judged_against_its_own_threshold(measured):
    good = measured["multi_phase"]["web-NotreDame"]
    limit = dataclasses.replace(good, coalescing=1 / COALESCED)
    beyond = dataclasses.replace(good, coalescing=0.9 / COALESCED)
    assert judge("multi_phase", {"a": limit})["write_waste"].agrees is True
    assert judge("multi_phase", {"a": beyond})["write_waste"].agrees is False


def test_the_table_has_claim_counter_and_mark_side_by_side(measured):
    table = claims_table(measured)
    assert [row[0] for row in table.rows] == list(METHODS)
    assert all(len(row) == 3 + len(ASPECTS) for row in table.rows)
    text = repr(table)
    assert "perfect: 1" in text
    assert "✓" in text
    assert "✗" in text
    rows = {row[0]: row for row in table.rows}
    assert rows["work_item_to_thread"][-1] == "no search"
    assert float(rows["direct_search"][-1]) == pytest.approx(np.log2(1024), rel=0.15)
    assert "✓" not in rows["cta_warp_scan"][4]
    assert "✗" not in rows["cta_warp_scan"][4]


def test_a_verdict_needs_measures_of_the_technique(measured):
    with pytest.raises(gk.InvalidArgument, match="measures"):
        judge("two_phase", {})
    with pytest.raises(gk.InvalidArgument, match="direct_search"):
        judge("two_phase", {"x": measured["direct_search"]["web-NotreDame"]})
