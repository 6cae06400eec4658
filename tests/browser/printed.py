"""What a figure prints in each of its cells, by where the glyphs stand on the screen.

The order of elements says nothing about that: a number that has lost its height stands in another
row. So every cell that a picture draws is laid over the boxes of the glyphs drawn there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple

from playwright.sync_api import Page

READ = """([selects, parts]) => {
    const figure = document.querySelector("figure");
    const range = figure.querySelector("input[type=range]");
    const boxesOf = (node) => {
        const look = node.getAttribute("class");
        const value = (name) => Number(node.getAttribute(name));
        if (node.localName === "rect") {
            return [[look, ...["x", "y", "width", "height"].map(value)]];
        }
        const thick = value("stroke-width"), half = thick / 2;
        const [dash, gap] = (node.getAttribute("stroke-dasharray") || "").split(" ").map(Number);
        const marks = /M(\\S+) ([^hv]+)([hv])([^vMz]+)(?:v([^hMz]+))?/g;
        // A box, a dot, a thick line across a cell, or a dashed one along a row or a column.
        return [...node.getAttribute("d").matchAll(marks)].flatMap(([, x, y, way, long, tall]) => {
            const [a, b, of] = [x, y, long].map(Number);
            if (tall) return [[look, a, b, of, Number(tall)]];
            if (!of) return [[look, a - half, b - half, thick, thick]];
            const pitch = gap ? dash + gap : of, wide = gap ? dash : of;
            return Array.from({ length: Math.floor(of / pitch + 0.01) }, (_, k) => (way === "h"
                ? [look, a + k * pitch, b - half, wide, thick]
                : [look, a - half, b + k * pitch, thick, wide]));
        });
    };
    const cellsOf = (picture, selector) => [...picture.querySelectorAll(selector)].flatMap(boxesOf)
        .sort((p, q) => (Math.abs(p[2] - q[2]) > 1 ? p[2] - q[2] : p[1] - q[1]));
    const wordsOf = (picture, selector, [right, down]) => {
        const back = picture.getScreenCTM().inverse();
        const nodes = [...picture.querySelectorAll(selector)];
        return nodes.filter((node) => node.textContent).map((node) => {
            const { x, y, width, height } = node.getBoundingClientRect();
            const at = new DOMPoint(x + width / 2, y + height / 2).matrixTransform(back);
            return [node.textContent, at.x + right, at.y + down];
        });
    };
    const read = ({ picture, words, cells, shift }) =>
        [...figure.querySelectorAll(picture)].map((svg) => {
            const found = cellsOf(svg, cells), read = found.map(() => []), astray = [];
            for (const [word, x, y] of wordsOf(svg, words, shift || [0, 0])) {
                if (!shift) {
                    const away = found.map(([, a, b, w, t]) =>
                        Math.hypot(x - a - w / 2, y - b - t / 2));
                    read[away.indexOf(Math.min(...away))].push(word);
                    continue;
                }
                let alone = true;
                found.forEach(([, a, b, w, t], k) => {
                    if (x < a || x > a + w || y < b || y > b + t) return;
                    read[k].push(word);
                    alone = false;
                });
                if (alone) astray.push(word);
            }
            return [found.map(([look]) => look), read.map((some) => some.join(" ")), astray];
        });
    const frames = [];
    const walk = (names, chosen) => {
        if (names.length) {
            const select = [...figure.querySelectorAll(".gk-field")]
                .find((field) => field.textContent.startsWith(names[0])).querySelector("select");
            for (const option of [...select.options].map((o) => o.value)) {
                select.value = option;
                select.dispatchEvent(new Event("change"));
                walk(names.slice(1), [...chosen, option]);
            }
            return;
        }
        for (let step = 0; step <= (range ? Number(range.max) : 0); step++) {
            if (range) {
                range.value = step;
                range.dispatchEvent(new Event("input"));
            }
            frames.push([chosen, step, parts.map(read)]);
        }
    };
    walk(selects, []);
    return JSON.stringify(frames); // One string crosses over far faster than its arrays.
}"""


@dataclass(frozen=True)
class Part:
    """Words and cells of a picture, as CSS selectors.

    `shift` moves the words onto their cells; None if each word stands beside the nearest.
    """

    picture: str
    words: str
    cells: str
    shift: tuple[float, float] | None = (0, 0)


class Picture(NamedTuple):
    """One picture in one frame: its cells in reading order, and the words that stand on none.

    `looks` holds the class of each cell, `words` what stands on it, parted by blanks.
    """

    looks: list[str]
    words: list[str]
    astray: list[str]


def read_frames(
    page: Page, parts: list[Part], selects: tuple[str, ...] = ()
) -> list[tuple[list[str], int, list[list[Picture]]]]:
    """Read every frame of a page's first figure, under every choice of its `selects`.

    Returns a tuple a frame: the options chosen, the step, and for each part its pictures.
    """
    # However tall it is: what stands in another turn has no place.
    page.evaluate("""() => {
        document.querySelectorAll("figure").forEach((f) => { f.style.maxHeight = "none"; });
        dispatchEvent(new Event("resize"));
    }""")
    asked = [vars(part) | {"shift": part.shift and list(part.shift)} for part in parts]
    frames = json.loads(page.evaluate(READ, [list(selects), asked]))
    return [
        (chosen, step, [[Picture(*found) for found in pictures] for pictures in read])
        for chosen, step, read in frames
    ]
