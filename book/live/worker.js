// The page's interpreter, in a worker of its own: Pyodide with NumPy and this book's package. The page puts Pyodide's scripts
// before this one and hands over all other files, so the worker loads nothing itself.
let python = null;

const nameOf = (url) => new URL(String(url.url || url), "https://files/").pathname.split("/").at(-1);
const TYPES = { wasm: "application/wasm", json: "application/json" };

// Lets Pyodide find the files that the page has handed over, by their names.
function serve(files) {
  self.fetch = async (url) => {
    const data = files.get(nameOf(url));
    if (!data) return new Response(null, { status: 404 });
    return new Response(data, { headers: { "content-type": TYPES[nameOf(url).split(".").at(-1)] || "" } });
  };
}

async function start(files, wheel) {
  serve(files);
  python = await self.loadPyodide({ indexURL: "https://files/", lockFileURL: "https://files/pyodide-lock.json" });
  postMessage({ kind: "at", step: "NumPy" });
  const folder = "/home/pyodide";
  const site = python.runPython("import site; site.getsitepackages()[0]");
  python.unpackArchive(files.get(wheel), "wheel", { extractDir: site });
  python.unpackArchive(files.get("gpukernels.zip"), "zip", { extractDir: folder });
  postMessage({ kind: "at", step: "the book's package" });
  python.runPython("import runner");
}

const ACTIONS = {
  start: ({ files, wheel }) => start(files, wheel),
  run: ({ text }) => JSON.parse(python.globals.get("runner").run(text)),
  judge: ({ name, text }) => JSON.parse(python.globals.get("runner").judge(name, text)),
};

addEventListener("message", async ({ data }) => {
  try {
    postMessage({ kind: "done", id: data.id, result: await ACTIONS[data.action](data) });
  } catch (error) {
    postMessage({ kind: "failed", id: data.id, message: String(error).slice(-2000) });
  }
});
