// Turns the compact columns of gpukernels/views/encoding.py back into typed arrays.

const TYPES = {
  u1: Uint8Array,
  i1: Int8Array,
  u2: Uint16Array,
  i2: Int16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
};

export function unpack(text) {
  const colon = text.indexOf(":");
  const kind = text.slice(0, colon);
  const raw = atob(text.slice(colon + 1));
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stored = new TYPES[kind.slice(0, 2)](bytes.buffer);
  if (!kind.endsWith("+")) return stored;
  const column = new Float64Array(stored.length);
  let sum = 0;
  for (let i = 0; i < stored.length; i++) column[i] = sum += stored[i];
  return column;
}

// A function from a row to its list, for the CSR form that pack_lists writes.
export function unpackLists(lists) {
  const at = unpack(lists.at);
  const of = unpack(lists.of);
  return (row) => of.subarray(at[row], at[row + 1]);
}

// The same for the output of pack_rows, which keeps equal lists once.
export function unpackRows(rows) {
  const which = unpack(rows.row),
    list = unpackLists(rows);
  return (row) => list(which[row]);
}

// A function from a row to its text, for texts that share their words.
export function unpackTexts(texts) {
  const of = unpack(texts.of),
    numbers = unpackLists(texts.numbers);
  return (row) => {
    const form = texts.forms[of[row]],
      words = numbers(row);
    return form.map((part, i) => (i ? words[i - 1] : "") + part).join("");
  };
}
