// node run_in_pyodide.mjs FOLDER PACKAGE PROGRAM: run a Python program with Pyodide's interpreter.
//
// FOLDER has Pyodide and a wheel of NumPy for it; PACKAGE is a zip of this package's sources.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, sources, program] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")).href);
const python = await loadPyodide({ indexURL: folder });
const wheel = readdirSync(folder).find((name) => /^numpy-.*wasm32\.whl$/.test(name));
const quiet = { messageCallback: () => {} };
await python.loadPackage(join(folder, wheel), quiet);
python.FS.writeFile("/home/pyodide/package.zip", new Uint8Array(readFileSync(sources)));
python.runPython("import zipfile; zipfile.ZipFile('/home/pyodide/package.zip').extractall()");
python.runPython(readFileSync(program, "utf8"));
