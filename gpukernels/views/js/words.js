// The words for figures, lists and their entries in an address.
//
// A word is short ("no-filter" for "no filter") if only one entry has it, and otherwise written in full.

export function slugOf(text) {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

// A figure's own name, or its title: neither changes when another figure comes before it.
export function figureId(record) {
  return `fig-${slugOf(record.name || record.title) || record.view}`;
}

// The place of a word among the entries of a list, or -1.
export function wordAt(entries, word) {
  if (entries.includes(word)) return entries.indexOf(word);
  const short = entries.map(slugOf);
  const at = short.indexOf(word);
  return word && at === short.lastIndexOf(word) ? at : -1;
}

export function wordFor(entries, at) {
  const short = slugOf(entries[at]);
  return wordAt(entries, short) === at ? short : entries[at];
}

// The lists beside a figure's run and step, each { name, entries, at(), choose(k) }.
export function fieldsOf(scene) {
  return [...(scene.controls || []).map((control) => control.field).filter(Boolean), ...(scene.fields || [])];
}
