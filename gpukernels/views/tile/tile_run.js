// A run of TileView's record: its columns, and how things stand after so many frames.
import { unpack, unpackLists } from "../js/decode.js";

export function readTileRun(record) {
  const columns = {};
  for (const name of ["start", "kind", "threads", "blocks", "owner", "launch", "bytes", "operations", "shared"])
    columns[name] = unpack(record[name]);
  for (const name of ["block", "tiles", "reads", "lowered", "kept", "writes", "boxes"])
    columns[name] = unpackLists(record[name]);
  const length = unpack(record.length),
    keptLength = unpack(record.keptLength),
    pivots = unpack(record.pivots);
  const owners = record.owners.map(unpack);
  const { rows, tile } = record;
  const frames = columns.launch.length,
    launches = columns.kind.length;
  const perRow = tile ? Math.floor(rows / tile) : 0;
  // Lists of reads are counted through all launches.
  const firstRead = [0];
  for (let k = 0; k < launches; k++) firstRead.push(firstRead[k] + columns.tiles(k).length);

  const readsOf = (k) => Array.from(columns.tiles(k), (_, i) => Array.from(columns.reads(firstRead[k] + i)));
  // Kinds of launches, as gpukernels/views/tile_run.py counts them.
  const phases = Array.from(columns.kind);

  // Changes by the first frames, on top of the state before the first launch.
  function replay(list, lengths, upTo) {
    const codes = Uint16Array.from(columns.start);
    let at = 0;
    for (let f = 0; f < upTo; f++) {
      for (const element of list(f)) codes[element] = lengths[at++];
    }
    return codes;
  }

  const run = {
    label: record.label,
    rows,
    tile,
    perRow,
    frames,
    launches,
    phases,
    launch: columns.launch,
    bytes: columns.bytes,
    phase: (k) => phases[k],
    threadsOf: (k) => columns.threads[k],
    blocksOf: (k) => columns.blocks[k],
    ownersOf: (k) => owners[columns.owner[k]],
    blockIds: (k) => Array.from(columns.block(k)),
    tilesOf: (k) => Array.from(columns.tiles(k)),
    readsOf,
    pivotsAt: (f) => [pivots[2 * f], pivots[2 * f + 1]],
    loweredAt: (f) => columns.lowered(f),
    keptAt: (f) => columns.kept(f),
    writesAt: (f) => Array.from(columns.writes(f)),
    boxesAt(f) {
      const flat = columns.boxes(f),
        boxes = [];
      for (let i = 0; i < flat.length; i += 7) {
        const [of, array, top, bottom, left, right, state] = flat.subarray(i, i + 7);
        boxes.push({ of, array: record.arrays[array], top, bottom, left, right, state });
      }
      return boxes;
    },
    tileName: (t) => `(${Math.floor(t / perRow)}, ${t % perRow})`,
    corner: (t) => [Math.floor(t / perRow) * tile, (t % perRow) * tile],
    tileOf: ([i, j]) => Math.floor(i / tile) * perRow + Math.floor(j / tile),
    holds: ([i, j]) => i < rows && j < rows,
    sums(over) {
      const sums = { bytes: 0, operations: 0, shared: 0 };
      for (let f = 0; f < over; f++) for (const name of Object.keys(sums)) sums[name] += columns[name][f];
      return sums;
    },
    // For each tile the launch that wrote it last, and whether that was for the pivot tile at hand.
    writers(over) {
      const last = new Int32Array(perRow * perRow).fill(-1);
      for (let f = 0; f < over; f++) for (const t of columns.writes(f)) last[t] = columns.launch[f];
      let round = over ? columns.launch[over - 1] : 0;
      while (round > 0 && phases[round]) round--;
      return Array.from(last, (k) => ({ launch: k, ready: k >= round }));
    },
    at(over) {
      return {
        run,
        over,
        frame: over - 1,
        done: over >= frames,
        sums: run.sums(over),
        memory: replay(columns.lowered, length, over),
        registers: replay(columns.kept, keptLength, over),
      };
    },
  };
  return run;
}
