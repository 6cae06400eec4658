"""Every frame of every example is drawn as at its last inspection.

A digest shows that a drawing has changed, not whether the change is right. So open the figures of
the chapters before and after the change, and then write new digests by
``python tests/views/example_figures.py``.
"""

from __future__ import annotations

import functools
import hashlib
import json

import pytest
from example_figures import FRAMES, records
from javascript import asked

from gpukernels.views import script
from gpukernels.views.figure import figure_html

#: Everything that a reader sees of a run: at each step, and at the first and last of each choice.
DRAWN = """(data) => {
  const record = JSON.parse(data), view = VIEWS[record.view], frames = [];
  const opened = view.open(record, () => true), counted = opened.counted || view.counted;
  const all = (node) => (node ? toText(node, (one) => [...one.attributes]) : null);
  let scene = null, text = "";
  const look = (steps) => {
    for (const step of steps) {
      scene.show(step);
      opened.cursor?.again(step);
      opened.cursor?.hold();
      const beside = [...(opened.side || []), ...scene.tracks, ...(scene.controls || [])];
      text += [...opened.stage, ...beside, opened.cursor?.node].map(all).join("");
      const counters = scene.counters(step).map(([mark, ...words]) => [all(mark), words]);
      text += JSON.stringify([counted.name(step), scene.sentence(step), counters]);
    }
    const keys = (scene.keys || []).map(([mark, words]) => [all(mark), words]);
    const room = scene.room && [scene.room.steps, scene.room.sentences, scene.room.most];
    text += JSON.stringify([keys, room, counted.of(scene.steps), counted.many(scene.steps)]);
  };
  record.traces.forEach((trace, k) => {
    const choose = () => { scene = opened.choose(k, () => {}, () => {}, choose); };
    text = "";
    choose();
    look(Array.from({ length: scene.steps }, (_, step) => step));
    fieldsOf(scene).forEach(({ entries, at }, i) => {
      const was = at();
      entries.forEach((_, e) => {
        fieldsOf(scene)[i].choose(e);
        look([0, scene.steps - 1]);
      });
      fieldsOf(scene)[i].choose(was);
    });
    const race = sceneOf(view, record, opened, k, () => {}, () => {}, choose);
    race.show(0);
    frames.push(text + race.tracks.map(all).join(""));
  });
  return [...frames, JSON.stringify([view.meanings || {}, view.pace || 0])];
}"""


@functools.cache
def drawn():
    views = ", ".join(f"{kind}: {kind}View" for kind in script.VIEWS)
    return asked([*script.VIEWS, "figure", "words"], DRAWN.replace("VIEWS[", f"{{ {views} }}["))


def frames_of(record):
    """Return a digest of each run of a figure, of its meanings, and of its first frame."""
    texts = [*drawn()(record), figure_html(json.loads(record))]
    return [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]


@pytest.mark.parametrize("name", records())
def test_a_figure_is_drawn_as_it_was(name):
    kept = json.loads(FRAMES.read_text())
    assert frames_of(records()[name]) == kept[name]
