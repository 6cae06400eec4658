"""HashView in words: a step, a vertex's way through the steps, and a filter's totals."""

from __future__ import annotations

from gpukernels.views.hash.record import (
    AGAIN,
    CONFLICT,
    DUPLICATE,
    ELSEWHERE,
    FILLS,
    READS,
    STORES,
    UNREAD,
    VALID,
    HashRecord,
    HashStep,
    Word,
)
from gpukernels.views.words import count

#: Most lines about a followed vertex.
STORY = 12

#: Words for the result of one lane, and of several.
_FINDS = {
    VALID: ("its own word (valid)", "their own words (valid)"),
    DUPLICATE: (
        "its vertex with another thread (duplicate, dropped)",
        "their vertex with another thread (duplicates, dropped)",
    ),
    CONFLICT: ("another vertex (conflict, kept)", "another vertex (conflicts, kept)"),
}


def name_of(vertex: int) -> str:
    """Write a vertex as it stands in a cell."""
    return "·" if vertex < 0 else str(vertex)


def _who(record: HashRecord, step: HashStep) -> str:
    several = len(record.blocks) > 1
    return f"block {step.block}, warp {step.warp}" if several else f"warp {step.warp}"


def sentence(record: HashRecord, k: int) -> str:
    """Describe one step; steps are counted from 1 in words."""
    step = record.steps[k]
    words = [record.words[i] for i in step.words]
    text = f"Step {k + 1}, {_who(record, step)} "
    if step.kind == READS:
        return text + "reads back: " + _verdicts(words)
    if step.kind == FILLS:
        filled = count(len(set(step.cleared)), "slot")
        return f"Step {k + 1}, block {step.block} fills {filled}, and no lane reads them back."
    slots: dict[int, set[int]] = {}
    for word in words:
        slots.setdefault(word.slot, set()).add(word.vertex)
    verb = "writes" if len(words) == 1 else "write"
    text += f"stores: {count(len(words), 'lane')} {verb} {count(len(slots), 'slot')}."
    crowds = {s: sum(w.slot == s for w in words) for s in slots}
    same = sum(crowds[s] > 1 and len(slots[s]) == 1 for s in slots)
    other = sum(len(slots[s]) > 1 for s in slots)
    if same:
        text += f" In {count(same, 'slot')} lanes with the same vertex meet."
    if other:
        text += f" In {count(other, 'slot')} lanes with different vertices meet."
    held = record.table(k - 1) if k and record.steps[k - 1].block == step.block else {}
    lost = {held[s] for s in slots if s in held}
    if lost:
        read = record.read_back(k)
        waiting = sum(record.words[i].verdict != UNREAD and i not in read for i in lost)
        text += f" {count(len(lost), 'older word')} {'is' if len(lost) == 1 else 'are'} overwritten"
        if not waiting:
            text += ", read back before."
        elif len(lost) == 1:
            text += " before its lane reads it back."
        else:
            text += f", {'all' if waiting == len(lost) else waiting} before their lanes read back."
    return text


def _verdicts(words: list[Word]) -> str:
    parts = []
    for verdict, finds in _FINDS.items():
        some = sum(word.verdict == verdict for word in words)
        if some:
            lanes = str(some) if parts else f"{count(some, 'lane')} find{'s' if some == 1 else ''}"
            parts.append(f"{lanes} {finds[some > 1]}")
    text = ", ".join(parts) + "."
    again = sum(word.kept == AGAIN for word in words)
    if again:
        missed = "a duplicate is missed" if again == 1 else f"{again} duplicates are missed"
        text += f" {again} of those kept had been kept before: {missed}."
    elsewhere = sum(word.kept == ELSEWHERE for word in words)
    if elsewhere:
        text += f" {elsewhere} had been kept by another block, out of this table's sight."
    return text


def totals(record: HashRecord, step: int) -> list[int]:
    """Count calls, words stored, valid, duplicates, conflicts, missed, missed across blocks."""
    steps = record.steps[: step + 1]
    read = [record.words[i] for s in steps if s.kind == READS for i in s.words]
    return [
        sum(s.kind == STORES for s in steps),
        sum(len(s.words) for s in steps if s.kind == STORES),
        *(sum(w.verdict == v for w in read) for v in (VALID, DUPLICATE, CONFLICT)),
        *(sum(w.kept == k for w in read) for k in (AGAIN, ELSEWHERE)),
    ]


def story(record: HashRecord, vertex: int) -> list[tuple[int, str]]:
    """Tell what happened to one vertex: every store and read of its threads, with its step."""
    mine = [i for i, w in enumerate(record.words) if w.vertex == vertex and w.verdict != UNREAD]
    # Another vertex's word is part of it where one of the threads reads it.
    stored = sorted({*mine, *(record.words[i].seen for i in mine)})
    lines = []
    for k, step in enumerate(record.steps):
        who = _who(record, step)
        for i in step.words:
            word = record.words[i]
            if step.kind != READS and i in stored:
                lines.append((k, f"{who}, lane {word.lane} stores {_pair(word)}"))
            elif step.kind == READS and i in mine:
                seen = record.words[word.seen]
                lines.append((k, f"{who}, lane {word.lane} reads {_pair(seen)}: {_fate(word)}"))
    if len(lines) > STORY:
        lines = [*lines[:STORY], (len(record.steps), f"and {len(lines) - STORY} more")]
    return lines


def _pair(word: Word) -> str:
    return f"({name_of(word.vertex)}, thread {word.thread})" if word.vertex >= 0 else "no vertex"


def _fate(word: Word) -> str:
    text = ("valid, kept", "duplicate, dropped", "conflict, kept")[word.verdict]
    return text + ("", " again: missed", ", as in another block")[word.kept]


def headline(record: HashRecord, vertex: int) -> str:
    """Say how a vertex fared."""
    stored, detected, missed, elsewhere = record.outcome(vertex)
    slots = [word.slot for word in record.words if word.vertex == vertex]
    if not stored:
        return f"Vertex {vertex}: no lane stores it and reads it back."
    text = f"Vertex {vertex}, slot {slots[0]}: stored by {count(stored, 'lane')}"
    kept = stored - detected
    duplicates = f"{count(detected, 'duplicate')} detected"
    duplicates += f", {missed} missed" if missed else ""
    duplicates += f", {elsewhere} in other blocks" if elsewhere else ""
    return f"{text}, kept by {kept}; {duplicates}."


def outcome(record: HashRecord) -> str:
    """Say in one phrase what a filter did."""
    _, stored, _, detected, conflicts, missed, elsewhere = totals(record, len(record.steps) - 1)
    text = (
        f"{count(stored, 'word')} stored, {count(detected, 'duplicate')} detected, "
        f"{count(conflicts, 'conflict')}, {count(missed, 'duplicate')} missed"
    )
    return text + (f", {elsewhere} more across blocks" if elsewhere else "")
