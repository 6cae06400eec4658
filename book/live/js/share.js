// A program in an address: compressed, and readable by another browser. It is shown there, and never run by itself.
const PLACE = /^#edit-([\w-]+)=([\w-]+)$/;

const through = (data, stream) => new Response(new Blob([data]).stream().pipeThrough(stream)).arrayBuffer();

export async function addressOf(id, text) {
  const packed = new Uint8Array(await through(text, new CompressionStream("deflate-raw")));
  const word = btoa(String.fromCharCode(...packed));
  const safe = word.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${location.href.split("#")[0]}#edit-${id}=${safe}`;
}

// The figure's id and the program of this page's address, or null.
export async function sharedProgram() {
  const address = PLACE.exec(location.hash);
  if (!address) return null;
  try {
    const word = atob(address[2].replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(word, (sign) => sign.charCodeAt(0));
    const text = new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw")));
    return { id: address[1], text };
  } catch {
    return null;
  }
}
