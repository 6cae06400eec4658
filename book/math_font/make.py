"""Make the font of formulas: of STIX Two Math, the signs that a book like this may write.

    python book/math_font/make.py STIXTwoMath-Regular.ttf

The font is published at https://github.com/stipub/stixfonts under the SIL Open Font License, which
lies beside this file as OFL.txt. Its table of sizes and places (MATH) stays, so that browsers can
build tall brackets and sums. Needs fontTools, which Matplotlib brings.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fontTools import subset

MADE = Path(__file__).parent / "math.woff"
#: First and last code point: ASCII, Greek, and the italic letters that a formula's variables are.
RANGES = [(0x20, 0x7E), (0x391, 0x3A9), (0x3B1, 0x3C9), (0x1D434, 0x1D467), (0x1D6E2, 0x1D714)]
SIGNS = (
    "\u00a0¬¯±·×÷‖‘’“”†•…′″⁡⁢ℎℓℕℝℤ←↑→↓↔↦⇐⇒⇔∀∂∃∅∈∉∋∏∑−∓∖"
    "∗∘√∝∞∣∤∥∧∨∩∪∫∼≈≔≠≡≤≥≪≫≺≻⊂⊃⊆⊇⊊⊕⊖⊗⊙⊤⊥⋀⋁⋂⋃⋅⋮⋯⋱⌈⌉⌊⌋⟨⟩"
)


def main() -> None:
    """Write the font beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("font", type=Path, help="STIXTwoMath-Regular.ttf")
    source = parser.parse_args().font
    options = subset.Options(flavor="woff", layout_features=["*"], hinting=False)
    font = subset.load_font(str(source), options)
    maker = subset.Subsetter(options)
    maker.populate(unicodes=[c for a, b in RANGES for c in range(a, b + 1)], text=SIGNS)
    maker.subset(font)
    subset.save_font(font, str(MADE), options)
    print(f"{MADE}: {MADE.stat().st_size >> 10} KB")


if __name__ == "__main__":
    main()
