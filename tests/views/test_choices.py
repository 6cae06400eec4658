"""Each choice in a list of a figure leads to a recording in the page."""

from __future__ import annotations

import json
import re

import pytest
from built_book import ROOT
from javascript import asked

from gpukernels.views import script
from gpukernels.views.encoding import to_json

NOTEBOOKS = sorted((ROOT / "chapters").glob("*.ipynb"))
RECORD = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
#: Sets each list of each run to each of its entries, plays to the end, and returns the faults.
TRY = """(data) => {
  const record = JSON.parse(data), faults = [];
  const view = VIEWS[record.view];
  const opened = view.open(record, () => false);
  const all = (one) => [...one.attributes], parts = (node) => toText(node, all);
  let scene = null, tried = 0;
  const look = (words) => {
    tried++;
    const last = scene.steps - 1;
    if (!(last >= 0)) return faults.push(`${words}: no step`);
    for (const step of new Set([0, last])) {
      scene.show(step);
      const said = [scene.sentence(step), ...scene.counters(step).map((one) => one[2])];
      const drawn = [...opened.stage, ...(opened.side || []), ...scene.tracks].map(parts).join("");
      const wordless = said.some((text) => typeof text !== "string");
      if (wordless) faults.push(`${words}, step ${step}: no words`);
      if (/\\b(undefined|NaN)\\b/.test(said.join(" ") + drawn.replace(/<code>.*?<.code>/gs, "")))
        faults.push(`${words}, step ${step}: a hole`);
    }
  };
  record.traces.forEach((trace, k) => {
    const choose = () => { scene = opened.choose(k, () => {}, () => {}, choose); };
    choose();
    look(`run "${trace.label}"`);
    fieldsOf(scene).forEach(({ name, entries, at }, i) => {
      const was = at();
      entries.forEach((entry, e) => {
        fieldsOf(scene)[i].choose(e);
        const back = wordAt(entries, wordFor(entries, e));
        if (back !== e) faults.push(`${name} "${entry}": no address`);
        look(`run "${trace.label}", ${name} "${entry}"`);
      });
      fieldsOf(scene)[i].choose(was);
    });
  });
  return [tried, faults];
}"""


@pytest.fixture(scope="module")
def tried():
    views = f"{{ {', '.join(f'{kind}: {kind}View' for kind in script.VIEWS)} }}"
    ask = asked([*script.VIEWS, "dom", "words"], TRY.replace("VIEWS[", f"({views})["))

    def answer(record):
        try:
            return ask(to_json(record))
        except Exception as problem:  # the engine's exceptions have several classes
            return 0, [str(problem)]

    return answer


def records_of(notebook):
    for cell in json.loads(notebook.read_text())["cells"]:
        for output in cell.get("outputs", []):
            html = "".join(output.get("data", {}).get("text/html", ""))
            if 'data-view="' in html:
                yield from map(json.loads, RECORD.findall(html))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_choice_in_a_chapter_leads_to_a_recording(tried, notebook):
    for record in records_of(notebook):
        many, faults = tried(record)
        assert faults == [], record["title"]
        assert many >= len(record["traces"])
