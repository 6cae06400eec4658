// The interpreter of a page: its files, and the worker in which it runs. Nothing is loaded before the first call.
const HERE = document.currentScript.src;

// A file's bytes. Browsers refuse one whose checksum is not the expected one.
async function download({ name, folder, integrity }, signal) {
  const address = new URL(folder + name, HERE).href;
  let answer;
  try {
    answer = await fetch(address, integrity ? { integrity, signal } : { signal });
  } catch {
    throw new Error(`${address} cannot be loaded. Is there a connection?`);
  }
  if (!answer.ok) throw new Error(`${address} is missing (${answer.status}).`);
  return answer.arrayBuffer();
}

// Loads a script from the folder of this one, and returns a promise of the global that it declares.
export function loadBeside(name, global) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(name, HERE).href;
    script.addEventListener("load", () => resolve(globalThis[global]));
    script.addEventListener("error", () => reject(new Error(`${script.src} is missing.`)));
    document.head.append(script);
  });
}

const MEGABYTE = 1e6;

// One interpreter for all programs of a page. `files` are what it needs, `code` is its worker's.
export function engineOf(files, wheel, code) {
  const needed = [...files, { name: "gpukernels.zip", folder: "", size: 1.3 * MEGABYTE }];
  const all = needed.reduce((sum, file) => sum + file.size, 0);
  let loaded = null,
    worker = null,
    ready = null,
    waiting = null,
    stopping = new AbortController(),
    isBusy = false,
    number = 0;

  // `tell(words, share)` shows how far loading is.
  function load(tell) {
    let done = 0;
    const { signal } = stopping;
    loaded ||= Promise.all(
      needed.map(async (file) => {
        const data = await download(file, signal);
        signal.throwIfAborted();
        done += file.size;
        const from = file.folder.startsWith("http") ? new URL(file.folder).host : "this site";
        const sizes = `${Math.round(done / MEGABYTE)} of ${Math.round(all / MEGABYTE)} MB`;
        tell(`Loading Python, NumPy and this book's package from ${from}: ${sizes}.`, (0.8 * done) / all);
        return [file.name, data];
      }),
    );
    loaded.catch(() => (loaded = null));
    return loaded;
  }

  function ask(message) {
    return new Promise((resolve, reject) => {
      waiting = { id: (number += 1), resolve, reject };
      // A worker has no origin to name.
      // oxlint-disable-next-line require-post-message-target-origin
      worker.postMessage({ ...message, id: number });
    });
  }

  function answer({ data }, tell) {
    if (data.kind === "at") return tell(`Starting ${data.step}.`, 0.9);
    if (!waiting || data.id !== waiting.id) return undefined;
    const { resolve, reject } = waiting;
    waiting = null;
    return data.kind === "done" ? resolve(data.result) : reject(new Error(data.message));
  }

  // A worker made from text has the content security policy of its page.
  async function start(tell) {
    const { signal } = stopping;
    const contents = new Map(await load(tell));
    signal.throwIfAborted();
    tell("Starting Python.", 0.85);
    const scripts = ["pyodide.js", "\n", "pyodide.asm.js", "\n"].map((name) => contents.get(name) || name);
    worker = new Worker(URL.createObjectURL(new Blob([...scripts, code], { type: "text/javascript" })));
    worker.addEventListener("message", (event) => answer(event, tell));
    worker.addEventListener("error", (event) => waiting?.reject(new Error(event.message)));
    await ask({ action: "start", files: contents, wheel });
  }

  async function call(message, tell) {
    isBusy = true;
    const { signal } = stopping;
    try {
      ready ||= start(tell);
      await ready.catch((error) => {
        if (!signal.aborted) end();
        throw error;
      });
      tell("Running.", null);
      return await ask(message);
    } catch (error) {
      throw signal.aborted ? new Error("stopped") : error;
    } finally {
      isBusy = false;
    }
  }

  // Only the end of a worker stops a program, and only the end of its requests stops loading. The next program starts a
  // new worker from the files that the page holds.
  function end() {
    stopping.abort();
    stopping = new AbortController();
    worker?.terminate();
    waiting?.reject(new Error("stopped"));
    worker = ready = waiting = null;
  }

  return { call, stop: end, isBusy: () => isBusy };
}
