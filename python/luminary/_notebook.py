"""How archives, schedulers and results show themselves: one line in the interpreter, a card in notebooks."""

from __future__ import annotations

import base64
from html import escape

from luminary._heatmap_image import heatmap_png

#: What an object may lack: archives of users implement what they need, and some keep no elites.
_ABSENT = (NotImplementedError, AttributeError, KeyError, TypeError)

_CARD = (
    '<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:center">'
    "<div><b>{title}</b><table>{rows}</table></div>{picture}</div>"
)
_ROW = '<tr><td style="text-align:left">{}</td><td style="text-align:right;padding-left:1.5em">{}</td></tr>'
_PICTURE = (
    '<figure style="margin:0"><img alt="heatmap" style="width:160px;height:{height}px;image-rendering:pixelated;'
    'border:1px solid gray" src="data:image/png;base64,{data}"><figcaption>colours: {low} to {high}</figcaption></figure>'
)


class Shown:
    """Shows an object by its facts. Both ways always work, also for objects that are only half built."""

    def _facts(self):
        """Names and values of what is worth knowing, as text."""
        return {}

    def _shown_archive(self):
        """The archive of the heatmap; None without one."""
        return None

    def __repr__(self):
        facts = _facts_of(self)
        line = ", ".join(f"{name} {value}" for name, value in facts.items())
        return f"<{type(self).__name__}: {line}>" if line else f"<{type(self).__name__}>"

    def _repr_html_(self):
        rows = "".join(_ROW.format(escape(name), escape(value)) for name, value in _facts_of(self).items())
        return _CARD.format(title=escape(type(self).__name__), rows=rows, picture=_picture_of(self))


def archive_facts(archive):
    """The statistics of an archive."""
    stats = archive.stats
    facts = {"elites": f"{stats.num_elites:,}"}
    if archive._can_be_full:
        facts["cells"] = f"{archive.cells:,}"
        facts["coverage"] = f"{100 * float(stats.coverage):.2f} %"
    facts["QD score"] = _number(stats.qd_score)
    if stats.obj_max is not None:
        facts["best"] = _number(stats.obj_max)
        facts["mean"] = _number(stats.obj_mean)
    return facts


def _number(value):
    return f"{float(value):.5g}"


def _facts_of(thing):
    try:
        return thing._facts()
    except _ABSENT:
        return {}


def _picture_of(thing):
    """The heatmap as an image that needs no other file; nothing if there is none."""
    try:
        archive = thing._shown_archive()
        drawn = None if archive is None else heatmap_png(archive)
    except _ABSENT:
        return ""
    if drawn is None:
        return ""
    png, (low, high) = drawn
    height = 24 if archive.measure_dim == 1 else 160
    data = base64.b64encode(png).decode()
    return _PICTURE.format(height=height, data=data, low=escape(_number(low)), high=escape(_number(high)))
