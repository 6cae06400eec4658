"""Draw the book's logo, its icon and the pictures of the chapter cards as SVG.

    python book/drawings.py        # writes book/_static/*.svg and book/_static/cards/*.svg

The logo is the title: a warp of 32 threads, as on a loom, with a small graph woven through it. An
edge passes over the even lanes and under the odd ones; the lanes that hold a vertex are active.
Cards are set inline in the page and take its colors from CSS variables (``--book-*`` in book.css).
"""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent / "_static"

LANES = 32
PITCH, MARGIN, HEIGHT = 8.0, 8.0, 96.0
WIDTH = 2 * MARGIN + PITCH * (LANES - 1)

#: Vertices of the logo's graph: lane and height.
VERTICES = ((2, 58), (8, 24), (9, 78), (16, 50), (23, 22), (24, 76), (30, 46))
EDGES = ((0, 1), (0, 2), (1, 3), (2, 3), (1, 4), (3, 4), (3, 5), (4, 6), (5, 6), (2, 5))

LIGHT = {"lane": "#c9ccd9", "accent": "#31449b", "edge": "#1d2333", "fill": "#ffffff"}
DARK = {"lane": "#4a5068", "accent": "#a9b8fa", "edge": "#e4e7f2", "fill": "#14171f"}


def lane_x(lane: int) -> float:
    """Return the horizontal position of a lane."""
    return MARGIN + PITCH * lane


def edge_path(u: tuple[int, int], v: tuple[int, int]) -> str:
    """Return a thread's gentle curve from vertex `u` to vertex `v`."""
    (x0, y0), (x1, y1) = (lane_x(u[0]), u[1]), (lane_x(v[0]), v[1])
    bend = (x1 - x0) * 0.45
    return f"M{x0:g} {y0:g}C{x0 + bend:g} {y0:g} {x1 - bend:g} {y1:g} {x1:g} {y1:g}"


def logo(color: dict[str, str]) -> str:
    """Return the logo in the given colors, on a transparent ground."""
    active = {lane for lane, _ in VERTICES}
    lanes = ""
    for i in range(LANES):
        top, width, stroke = (4, 2.6, "accent") if i in active else (12, 1.8, "lane")
        lanes += (
            f'<path d="M{lane_x(i):g} {top}V{HEIGHT - top:g}" '
            f'stroke="{color[stroke]}" stroke-width="{width}"/>'
        )
    under = "".join(
        f'<rect x="{lane_x(i) - 2:g}" width="4" height="{HEIGHT:g}"/>' for i in range(1, LANES, 2)
    )
    edges = "".join(f'<path d="{edge_path(VERTICES[u], VERTICES[v])}"/>' for u, v in EDGES)
    vertices = "".join(f'<circle cx="{lane_x(x):g}" cy="{y}" r="5.6"/>' for x, y in VERTICES)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'width="{WIDTH:g}" height="{HEIGHT:g}" role="img">'
        "<title>A small graph woven through the 32 lanes of a warp</title>"
        f'<defs><mask id="over"><rect width="{WIDTH:g}" height="{HEIGHT:g}" fill="#fff"/>'
        f'<g fill="#000">{under}</g></mask></defs>'
        f'<g stroke-linecap="round" fill="none">{lanes}</g>'
        f'<g fill="none" stroke="{color["edge"]}" stroke-width="2.4" mask="url(#over)">{edges}</g>'
        f'<g fill="{color["fill"]}" stroke="{color["accent"]}" stroke-width="3">{vertices}</g>'
        "</svg>\n"
    )


def favicon() -> str:
    """Return the icon: five lanes and an edge through them."""
    lanes = "".join(f'<path d="M{x} 12V52"/>' for x in (14, 23, 32, 41, 50))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">'
        f'<rect width="64" height="64" rx="14" fill="{LIGHT["accent"]}"/>'
        f'<g stroke="#aab6ee" stroke-width="3" stroke-linecap="round">{lanes}</g>'
        '<path d="M14 42C26 42 38 22 50 22" fill="none" stroke="#fff" stroke-width="4.5"/>'
        '<g fill="#fff"><circle cx="14" cy="42" r="7"/><circle cx="50" cy="22" r="7"/></g>'
        "</svg>\n"
    )


def card(title: str, body: str) -> str:
    """Return a card's picture, 240 by 112, colored by the page's style sheet."""
    return (
        '<svg class="card-picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 112" '
        f'role="img" aria-label="{title}">{body}</svg>\n'
    )


def simt_card() -> str:
    """Return a warp at a branch: all lanes, then one side, then the other, then all again."""
    masks = (0xFFFFFF, 0xFFFFFF, 0x0F0F3C, 0xF0F0C3, 0xF0F0C3, 0xFFFFFF)
    cells = ""
    for step, mask in enumerate(masks):
        for lane in range(24):
            cells += (
                f'<rect x="{18 + 8.6 * lane:g}" y="{14 + 14.5 * step:g}" width="6.6" height="10.5" '
                f'rx="1.6" class="{"on" if mask >> lane & 1 else "off"}"/>'
            )
    return card("A warp at a branch: lanes of one side wait for the other", cells)


def representations_card() -> str:
    """Return one graph as a matrix and as row offsets over a list of targets."""
    rows = ((1, 2), (2, 3, 4), (0,), (4,), (0, 1, 3))
    n, cell = len(rows), 16.8
    matrix = "".join(
        f'<rect x="{18 + cell * v:g}" y="{14 + cell * u:g}" width="14.4" height="14.4" rx="2" '
        f'class="{"on" if v in rows[u] else "off"}"/>'
        for u in range(n)
        for v in range(n)
    )
    targets, lines, at = "", "", 0
    for u, row in enumerate(rows):
        x = 126 + 9.8 * at
        lines += f'<path class="line" d="M{134 + 19.6 * u:g} 36L{x + 4:g} 76"/>'
        lines += f'<circle class="dot" cx="{134 + 19.6 * u:g}" cy="29" r="7"/>'
        for _ in row:
            x = 126 + 9.8 * at
            shade = "on" if u % 2 == 0 else "half"
            targets += f'<rect x="{x:g}" y="78" width="8" height="18" rx="1.6" class="{shade}"/>'
            at += 1
    return card("One graph as a matrix and as compressed sparse rows", matrix + lines + targets)


def scans_card() -> str:
    """Return the four steps of a scan over sixteen lanes: each adds what lies 1, 2, 4, 8 below."""
    lanes, cell, row = 16, 12.8, 21.5
    body = ""
    for step in range(5):
        for lane in range(lanes):
            added = step > 0 and lane >= 1 << (step - 1)
            x, y = 18 + cell * lane, 13 + row * step
            if added:
                below = x - cell * (1 << (step - 1))
                body += f'<path class="line" d="M{below + 5:g} {y - row + 9:g}L{x + 5:g} {y:g}"/>'
            body += (
                f'<rect x="{x:g}" y="{y:g}" width="10" height="9" rx="1.8" '
                f'class="{"on" if added else "half"}"/>'
            )
    return card("A scan: in each step a lane adds the value of one twice as far below", body)


#: Units of the work-items on the mapping cards.
ITEMS = (2, 9, 1, 4)


def mapping_static_card() -> str:
    """Return four threads with an item each: one works long after the others are done."""
    body = ""
    for thread, units in enumerate(ITEMS):
        y = 15 + 22 * thread
        for unit in range(max(ITEMS)):
            kind = "off" if unit >= units else "on" if thread % 2 == 0 else "half"
            body += (
                f'<rect x="{18 + 23 * unit:g}" y="{y}" width="20" height="15" rx="2.4" '
                f'class="{kind}"/>'
            )
    return card("A thread for each work-item: the longest decides when the warp is done", body)


def shared_memory_card() -> str:
    """Return a column of a tile in one bank, and the same column with one more word a row."""
    body = ""
    for side, words in enumerate((8, 9)):
        for row in range(8):
            for bank in range(8):
                kind = "on" if (bank - row * words) % 8 == 0 else "off"
                body += (
                    f'<rect x="{18 + 112 * side + 11.6 * bank:g}" y="{12 + 11 * row}" width="9.4" '
                    f'height="8.6" rx="1.6" class="{kind}"/>'
                )
    return card("A column of a tile in one bank, and spread over all banks by one more word", body)


def mapping_dynamic_card() -> str:
    """Return the same units cut into equal shares, whatever item they belong to."""
    share, width = sum(ITEMS) // 4, 12.6
    owner = [item for item, units in enumerate(ITEMS) for _ in range(units)]
    body = ""
    for unit, item in enumerate(owner):
        kind = "on" if item % 2 == 0 else "half"
        x = 18 + width * unit
        body += f'<rect x="{x:g}" y="16" width="10.4" height="18" rx="2" class="{kind}"/>'
        thread, turn = divmod(unit, share)
        to_x, to_y = 40 + 48 * thread, 66 + 8.6 * turn
        if turn == share // 2:
            body += f'<path class="line" d="M{x + 5.2:g} 36L{to_x + 10:g} 63"/>'
        body += f'<rect x="{to_x:g}" y="{to_y:g}" width="20" height="6.6" rx="1.6" class="{kind}"/>'
    return card("Units in equal shares: every thread does the same number", body)


def frontier_card() -> str:
    """Return a breadth-first search one level at a time: done, frontier, not yet reached."""
    levels = (
        ((30, 56),),
        ((84, 28), (84, 84)),
        ((142, 18), (142, 56), (142, 94)),
        ((204, 34), (204, 78)),
    )
    arcs = (
        ((0, 0), (1, 0)),
        ((0, 0), (1, 1)),
        ((1, 0), (2, 0)),
        ((1, 0), (2, 1)),
        ((1, 1), (2, 1)),
        ((1, 1), (2, 2)),
        ((2, 0), (3, 0)),
        ((2, 1), (3, 0)),
        ((2, 1), (3, 1)),
        ((2, 2), (3, 1)),
    )
    lines = ""
    for (a, i), (b, j) in arcs:
        (x0, y0), (x1, y1) = levels[a][i], levels[b][j]
        lines += f'<path class="line" d="M{x0} {y0}L{x1} {y1}"/>'
    kinds = ("half", "half", "on", "open")
    vertices = "".join(
        f'<circle class="{kinds[level]}" cx="{x}" cy="{y}" r="9"/>'
        for level, row in enumerate(levels)
        for x, y in row
    )
    return card(
        "A breadth-first search: visited, frontier and unvisited vertices", lines + vertices
    )


def duplicates_card() -> str:
    """Return a vertex's entries in the queue by level: one is needed, the rest are copies."""
    body = ""
    for level in range(6):
        x = 22 + 36 * level
        for entry in range(min(1 << level, 16)):
            row, column = entry % 8, entry // 8
            kind = "on" if entry == 0 else "half"
            body += (
                f'<rect x="{x + 11.5 * column:g}" y="{90 - 11 * row:g}" width="9.6" height="8.4" '
                f'rx="1.8" class="{kind}"/>'
            )
    return card("A vertex in the queue, level by level: its entries double", body)


def better_queues_card() -> str:
    """Return three small queues of a block that are copied into one."""
    body = '<path class="line" d="M120 40V70"/>'
    for queue, filled in enumerate((5, 3, 4)):
        for slot in range(5):
            kind = "on" if slot < filled else "off"
            body += (
                f'<rect x="{16 + 72 * queue + 13 * slot}" y="20" width="11" height="16" rx="2" '
                f'class="{kind}"/>'
            )
    for slot in range(14):
        kind = "half" if slot < 12 else "off"
        x = 22 + 14 * slot
        body += f'<rect x="{x}" y="74" width="12" height="18" rx="2" class="{kind}"/>'
    return card("Small queues of a block, copied together into the global one", body)


def bfs4k_card() -> str:
    """Return frontier sizes by level: small ones stay in one block, large ones take the GPU."""
    sizes = (1, 2, 4, 8, 15, 23, 19, 11, 5, 3, 2, 1)
    body = '<path class="line" d="M14 76L226 76"/>'
    for level, size in enumerate(sizes):
        tall = 3.6 * size
        kind = "half" if tall < 24 else "on"
        body += (
            f'<rect x="{20 + 17 * level}" y="{98 - tall:g}" width="13" height="{tall:g}" rx="2" '
            f'class="{kind}"/>'
        )
    return card("A frontier by level: small levels in one block, large ones over the GPU", body)


def direction_card() -> str:
    """Return a frontier that reads all its arcs, and vertices left over that read one each."""
    body = ""
    for left, kind in ((14, "off"), (134, "on")):
        ends = [20 + 24 * other for other in range(4)]
        for k in range(3):
            y = 32 + 24 * k
            for end in ends if kind == "off" else ends[k : k + 1]:
                body += f'<path class="line" d="M{left + 10} {y}L{left + 78} {end}"/>'
            body += f'<circle cx="{left + 10}" cy="{y}" r="6" class="on"/>'
        for other, end in enumerate(ends):
            reads = "half" if kind == "off" or other < 3 else "off"
            body += f'<circle cx="{left + 80}" cy="{end}" r="6" class="{reads}"/>'
    return card("Top-down, a frontier reads all its arcs; bottom-up, who is left reads one", body)


def sssp_spectrum_card() -> str:
    """Return rounds that fall and relaxations that rise as delta grows."""
    body = ""
    for k, (rounds, relaxations) in enumerate(
        ((80, 20), (56, 21), (38, 23), (27, 29), (20, 41), (16, 58), (14, 72))
    ):
        for shift, tall, kind in ((0, rounds, "on"), (13, relaxations, "half")):
            body += (
                f'<rect x="{16 + 32 * k + shift:g}" y="{98 - tall:g}" width="11" '
                f'height="{tall:g}" rx="2" class="{kind}"/>'
            )
    return card("Delta from small to large: fewer rounds, more relaxations", body)


def hbf_card() -> str:
    """Return a vertex with arcs of four kinds, of which one alone needs an atomic."""
    kinds = ("on", "half", "half", "off", "off", "off")
    body = '<circle cx="36" cy="56" r="14" class="on"/>'
    for k, kind in enumerate(kinds):
        y = 14 + 17 * k
        body += f'<path class="line" d="M50 56L190 {y:g}"/>'
        body += f'<circle cx="200" cy="{y:g}" r="7" class="{kind}"/>'
    return card("Arcs by class: an atomic, a store, or nothing at all", body)


def floyd_warshall_card() -> str:
    """Return a matrix of tiles: the pivot tile, its row and column, and the rest."""
    body = ""
    for row in range(5):
        for column in range(5):
            kind = "on" if (row, column) == (2, 2) else "half" if 2 in (row, column) else "off"
            body += (
                f'<rect x="{70 + 20 * column:g}" y="{6 + 20 * row:g}" width="18" height="18" '
                f'rx="2" class="{kind}"/>'
            )
    return card("Tiles of a matrix: first the pivot, then its row and column, then the rest", body)


def all_pairs_otherwise_card() -> str:
    """Return the cells of three matrices, each the product of the one before with itself."""
    body = ""
    for at, reach in enumerate((1, 2, 4)):
        for i in range(6):
            for j in range(6):
                kind = "on" if i == j else "half" if abs(i - j) <= reach else "off"
                body += (
                    f'<rect x="{18 + 74 * at + 10 * j:g}" y="{26 + 10 * i:g}" width="8" '
                    f'height="8" rx="1.5" class="{kind}"/>'
                )
    return card("A matrix, its square, and the square of that: known paths double", body)


def performance_power_energy_card() -> str:
    """Return marks on a plane of time and power, with lines of equal energy."""
    body = '<path class="line" d="M24 8V104H244"/>'
    for shift in (0, 64, 128):
        body += f'<path class="line" d="M{40 + shift:g} 14L{108 + shift:g} 96"/>'
    for x, y, kind in ((58, 22, "on"), (84, 32, "half"), (130, 50, "half"), (212, 92, "off")):
        body += f'<circle cx="{x:g}" cy="{y:g}" r="9" class="{kind}"/>'
    return card("Time to the right, power upwards: the hardest worker costs the least energy", body)


def beyond_one_gpu_card() -> str:
    """Return a map in three parts, each in a place of its own, and the vertices between them."""
    body = ""
    for row in range(4):
        for column in range(10):
            x, y = 26 + 20 * column + 8 * (column // 4), 22 + 22 * row
            if column < 9 and (column % 4 != 3 or row in (1, 2)):
                step = 28 if column % 4 == 3 else 20
                body += f'<path class="line" d="M{x:g} {y:g}h{step:g}"/>'
            if row < 3 and (row + column) % 3:
                body += f'<path class="line" d="M{x:g} {y:g}v22"/>'
            kind = "on" if row in (1, 2) and column in (3, 4, 7, 8) else "half"
            body += f'<circle cx="{x:g}" cy="{y:g}" r="5" class="{kind}"/>'
    return card("A map in three parts, and the vertices between them", body)


def drawings() -> dict[str, str]:
    """Return every drawing by its path under ``book/_static``."""
    return {
        "logo.svg": logo(LIGHT),
        "logo-dark.svg": logo(DARK),
        "favicon.svg": favicon(),
        "cards/simt.svg": simt_card(),
        "cards/representations.svg": representations_card(),
        "cards/scans.svg": scans_card(),
        "cards/frontier_bfs.svg": frontier_card(),
        "cards/duplicates.svg": duplicates_card(),
        "cards/better_queues.svg": better_queues_card(),
        "cards/bfs4k.svg": bfs4k_card(),
        "cards/direction.svg": direction_card(),
        "cards/mapping_static.svg": mapping_static_card(),
        "cards/shared_memory.svg": shared_memory_card(),
        "cards/mapping_dynamic.svg": mapping_dynamic_card(),
        "cards/sssp_spectrum.svg": sssp_spectrum_card(),
        "cards/hbf.svg": hbf_card(),
        "cards/floyd_warshall.svg": floyd_warshall_card(),
        "cards/all_pairs_otherwise.svg": all_pairs_otherwise_card(),
        "cards/performance_power_energy.svg": performance_power_energy_card(),
        "cards/beyond_one_gpu.svg": beyond_one_gpu_card(),
    }


if __name__ == "__main__":
    for name, text in drawings().items():
        path = STATIC / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
