"""Makes the embedded fonts: subsets of Inter under another name. Needs fonttools and the Inter OTF files.

    python make_subset.py /usr/share/fonts/opentype/inter     (Debian: fonts-inter)
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

# Latin, Greek, Cyrillic, punctuation, superscripts and subscripts, arrows, common mathematical operators, shapes.
RANGES = [
    (0x20, 0x7E), (0xA0, 0x17F), (0x370, 0x3FF), (0x400, 0x45F), (0x2010, 0x2027), (0x2030, 0x203A), (0x2070, 0x209F),
    (0x20AC, 0x20AC), (0x2190, 0x2199), (0x2202, 0x2265), (0x25A0, 0x25CF), (0xFFFD, 0xFFFD),
]
FAMILY = "Luminary Sans"


def main(folder: Path) -> None:
    for weight, style, out in [("Regular", "Regular", "regular"), ("SemiBold", "SemiBold", "semibold")]:
        options = subset.Options(layout_features=["kern"], hinting=False, desubroutinize=True, notdef_outline=True)
        options.name_IDs = [0, 13, 14]
        font = subset.load_font(folder / f"Inter-{weight}.otf", options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=[c for first, last in RANGES for c in range(first, last + 1)])
        subsetter.subset(font)
        rename(font, style)
        font.save(f"luminary-sans-{out}.otf")


def rename(font: TTFont, style: str) -> None:
    postscript = f"LuminarySans-{style}"
    names = {1: FAMILY, 2: "Regular" if style == "Regular" else "Bold", 4: f"{FAMILY} {style}", 6: postscript}
    names |= {16: FAMILY, 17: style}
    for name_id, value in names.items():
        font["name"].setName(value, name_id, 3, 1, 0x409)
    cff = font["CFF "].cff
    cff.fontNames = [postscript]
    cff[0].FullName = f"{FAMILY} {style}"
    cff[0].FamilyName = FAMILY


main(Path(sys.argv[1]))
