"""One look for every picture: an SVG that follows JupyterLab's theme, or stands alone on white.

Figures are made with matplotlib's objects, never pyplot, so a learner's own plots are not disturbed. They are
drawn with a stand-in for the text colour, which `to_svg` replaces by the theme's own variable: the picture
changes with the theme, live. The same figure gives the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Two of Okabe and Ito's, told apart with every colour blindness; both reach 3:1 on white and on black.
BLUE: Final = "#0072b2"
ORANGE: Final = "#d55e00"
INK: Final = "#010203"  # stands for the theme's text colour until `to_svg` knows it
POINTS_WIDE: Final = 450  # every inline picture; shown up to 700 px wide, so 9 points become 14 px

_THEME_INK = "var(--jp-content-font-color1, currentColor)"
_PAGE_INK = "#1f2328"
_FONT = "var(--jp-ui-font-family, system-ui), sans-serif"
_PAGE_FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
_NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
_LINES = "stroke-linejoin:round;stroke-linecap:butt"  # matplotlib's own style sheet, on this element alone

_RC: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": ["sans-serif"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titleweight": "normal",
    "axes.titlelocation": "left",
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


@dataclass(frozen=True)
class View:
    """A picture that a notebook shows and a terminal prints."""

    svg: str = field(repr=False)
    text: str

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text


@contextmanager
def theme() -> Iterator[None]:
    """The course's settings of matplotlib while a figure is made; afterwards the learner's are back."""
    with mpl.rc_context({**_defaults(), **_RC}):
        yield


def _defaults() -> dict[Any, Any]:
    """The library's own settings of what we draw: a style that a learner set must not reach our pictures."""
    drawn = {"axes", "figure", "font", "grid", "lines", "patch", "path", "svg", "text", "xtick", "ytick"}
    return {key: value for key, value in mpl.rcParamsDefault.items() if key.partition(".")[0] in drawn}


def new_figure(height: float, width: float = POINTS_WIDE) -> Figure:
    """A transparent figure of `width` by `height` points. Call it inside `theme()`."""
    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    figure.patch.set_alpha(0.0)
    return figure


def new_axes(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Transparent axes at a place given as fractions of the figure."""
    axes = figure.add_axes((left, bottom, width, height))
    axes.patch.set_alpha(0.0)
    axes.tick_params(length=3, width=0.8)
    return axes


def to_svg(figure: Figure, alt: str, *, page_width: int | None = None) -> str:
    """The figure as an SVG element with `alt` as its text for those who do not see it.

    Inline, it takes the theme's colours and fonts and scales down with the column. With `page_width`, in px,
    it is a whole file on a white background, for a page that knows no theme.

    Raises ValueError where `alt` is empty.
    """
    if not alt.strip():
        raise ValueError("a picture needs a text for those who do not see it: alt is empty")
    buffer = io.StringIO()
    with mpl.rc_context({**_RC, "svg.hashsalt": alt}):  # ids from content, and other ones in another picture
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    drawn = buffer.getvalue()
    # What stands before is a prologue, and a style sheet for `*`, which inline would reach the whole page.
    drawing = _tidy(drawn[drawn.index('<g id="figure_1">') : drawn.rindex("</svg>")])
    width, height = figure.get_size_inches() * 72
    box = f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(alt)}"'
    if page_width is None:
        drawing = _coloured(drawing, _THEME_INK, lines=True)
        place = f"width:100%;max-width:700px;height:auto;font-family:{_FONT}"
        return f'<svg {_NAMESPACES} {box} style="{place};{_LINES}">\n{drawing}</svg>'
    drawing = _coloured(drawing, _PAGE_INK, lines=False)
    size = f'width="{page_width}" height="{page_width * height / width:.0f}"'
    return (
        f'<svg {_NAMESPACES} {size} {box} style="font-family:{_PAGE_FONT};{_LINES}">\n'
        f"<title>{escape(alt)}</title>\n"
        f'<rect width="100%" height="100%" rx="4" style="fill: #ffffff"/>\n{drawing}</svg>\n'
    )


def _tidy(drawing: str) -> str:
    """Shorter by half: coordinates to a hundredth of a point, no ids that nothing names, no empty turns."""
    referred = set(re.findall(r"#([\w.]+)", drawing))

    def tidy_tag(match: re.Match[str]) -> str:
        tag = re.sub(r"\s*\n\s*", " ", match[0])
        tag = re.sub(r' id="([\w.]+)"', lambda m: m[0] if m[1] in referred else "", tag)
        tag = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", tag)
        tag = re.sub(r" font-family: [^;\"]*;?", "", tag)
        return re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), tag)

    return re.sub(r"<[^>]+>", tidy_tag, drawing)


def _coloured(drawing: str, ink: str, *, lines: bool) -> str:
    """With `ink` where INK stands. Coloured text takes a share of it: else it were too pale to read.

    So do `lines`, if wanted: a translucent one is lighter on white than its colour, and darker on black.
    """

    def mixed(tag: str, what: str) -> str:
        return re.sub(
            rf"\b{what}: (#(?!010203)\w{{6}})",
            rf"{what}: \1; {what}: color-mix(in srgb, \1 72%, {ink})",  # the first is for old browsers
            tag,
        )

    drawing = re.sub(r"<text[^>]*>", lambda match: mixed(match[0], "fill"), drawing)
    return (mixed(drawing, "stroke") if lines else drawing).replace(INK, ink)
