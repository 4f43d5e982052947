"""Drawings: floor plans, rack fronts, matrices and heat as SVG text; sheets as SVG and PDF.

Every function here takes plain Python values and returns one ``<svg>`` element as a string. The
element is complete XML on its own (it carries its name space) and can be put inside an HTML page
as it is. All text is escaped; the same input gives the same bytes; nothing refers to a file, a
font file or a network address. Lengths inside a drawing are CSS pixels (``_px``).

Drawings are for people: beyond a size at which nothing could be distinguished they fall back to a
coarser picture, and say so in the picture itself.
"""

from flyloom.draw.floor import floor_svg, racks_svg
from flyloom.draw.heat import heat_floor_svg, heat_matrix_svg
from flyloom.draw.matrix import adjacency_svg, link_classes, matrix_order
from flyloom.draw.svg import SvgDrawing, note_svg

__all__ = [
    "SvgDrawing", "adjacency_svg", "floor_svg", "heat_floor_svg", "heat_matrix_svg", "link_classes",
    "matrix_order", "note_svg", "racks_svg",
]
