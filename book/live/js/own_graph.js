// A reader's own graph in place of the program's: the first graph that the program makes becomes one of the reader's arcs.
const BEGIN =
  /^(\w+) = gk\.(?:example|rmat|road_grid|small_world|random_weights|Graph\.from_arcs|star|ring|path|grid|gnm)\(/m;
const ARC = /^\s*(\d+)[\s,]+(\d+)(?:[\s,]+(\d+))?\s*$/;
const MOST_VERTICES = 4096;
// A statement about the places of vertices, or an argument of a figure that sets them.
const POSITIONS = /^\w+ = .*\.positions\b.*\n|,\s*positions=[^,()]*(?:\([^()]*\)[^,()]*)?(?=[,)])/gm;

// Where the statement ends that begins at `start` with an opened parenthesis.
function endOf(text, start) {
  let depth = 0;
  for (let k = start; k < text.length; k++) {
    if ("([{".includes(text[k])) depth += 1;
    if (")]}".includes(text[k]) && (depth -= 1) === 0) return k + 1;
  }
  return -1;
}

export const hasGraph = (text) => BEGIN.test(text);

// The arcs of lines such as "0 1" or "0 1 7", with a weight, or a sentence that says what is wrong.
export function arcsOf(lines) {
  const arcs = [];
  for (const [k, line] of lines.split("\n").entries()) {
    if (!line.trim() || line.trim().startsWith("#")) continue;
    const arc = ARC.exec(line);
    if (!arc)
      return `Line ${k + 1}, “${line.trim()}”, is not two vertices, such as 0 1, or two and a weight, such as 0 1 7.`;
    arcs.push(
      arc
        .slice(1)
        .filter((part) => part !== undefined)
        .map(Number),
    );
  }
  if (arcs.length === 0) return "Write at least one arc, such as 0 1.";
  if (arcs.some((arc) => arc.length !== arcs[0].length)) return "Give all arcs a weight, or none.";
  const vertices = 1 + Math.max(...arcs.map(([u, v]) => Math.max(u, v)));
  if (vertices > MOST_VERTICES)
    return `Vertex ${vertices - 1} is too large: at most ${MOST_VERTICES - 1} is allowed here.`;
  return { vertices, arcs };
}

// The program with another graph. Positions belong to the old graph.
export function withGraph(text, { vertices, arcs }) {
  const [opening, name] = BEGIN.exec(text);
  const start = text.search(BEGIN);
  const end = endOf(text, start + opening.length - 1);
  const columns = arcs[0].map((_, k) => `[${arcs.map((arc) => arc[k]).join(", ")}]`);
  const graph = `${name} = gk.Graph.from_arcs(${vertices}, ${columns.join(", ")})`;
  return (text.slice(0, start) + graph + text.slice(end)).replace(POSITIONS, "");
}
