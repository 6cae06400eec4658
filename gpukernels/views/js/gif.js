// An animated GIF that starts again at its end, made of frames of one size.
//
// A frame holds the pixels that differ from the frame before. All others have one color, which is clear. Files are smaller so,
// and unchanged pixels do not flicker.

// A frame has 256 colors at most, one of which is the clear one.
const COLORS = 255;

const rgbOf = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];

// Takes the library gifenc.
export function gifWriter({ GIFEncoder, nearestColorIndex }) {
  const gif = GIFEncoder();
  let last = null;

  // Returns the pixels of a frame as places in a palette, and the palette. It has the most frequent colors unchanged; a rarer
  // color becomes the nearest of them. Papers, marks and words have few colors, so the rare ones are shades of smoothed edges.
  function indexed(pixels) {
    const often = new Map(),
      index = new Uint8Array(pixels.length);
    for (let i = 0; i < pixels.length; i++)
      if (pixels[i] !== last[i]) often.set(pixels[i], (often.get(pixels[i]) || 0) + 1);
    const colors = [...often.keys()].sort((one, other) => often.get(other) - often.get(one));
    const palette = colors.slice(0, COLORS).map(rgbOf),
      clear = palette.length;
    const places = new Map(colors.map((c, i) => [c, i < clear ? i : nearestColorIndex(palette, rgbOf(c))]));
    for (let i = 0; i < pixels.length; i++) index[i] = pixels[i] === last[i] ? clear : places.get(pixels[i]);
    return [index, { palette: [...palette, [0, 0, 0]], transparent: true, transparentIndex: clear }];
  }

  return {
    // Adds an ImageData without clear pixels, which is shown for `delay` milliseconds.
    add({ data, width, height }, delay) {
      const pixels = new Uint32Array(data.buffer);
      last ||= new Uint32Array(pixels.length);
      const [index, colors] = indexed(pixels);
      // With 1, a clear pixel leaves that of the frame before.
      gif.writeFrame(index, width, height, { ...colors, delay, dispose: 1 });
      last = pixels;
    },
    end() {
      gif.finish();
      return new Blob([gif.bytesView()], { type: "image/gif" });
    },
  };
}
