// Loads a script from the folder of this one when a reader needs it. A page that is opened from a file may not import modules.
import { h } from "./element.js";

const HERE = document.currentScript.src;

// Returns a promise of the library gifenc. Its script declares it for the whole page.
export function gifencBeside() {
  return new Promise((resolve, reject) => {
    const script = h("script", { src: new URL("gifenc.js", HERE).href });
    script.addEventListener("load", () => resolve(globalThis.gifenc));
    script.addEventListener("error", () => reject(new Error(`${script.src} is missing`)));
    document.head.append(script);
  });
}
