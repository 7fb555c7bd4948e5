"""A picture suits its theme, says what it shows, and has the same bytes each time."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from lastgood.teaching.views.curves import loss_figure
from lastgood.teaching.views.style import INK, new_figure, theme, to_svg
from lastgood.teaching.views.weights import component_bytes
from lastgood.training.logbook import ENTROPY
from lastgood.training.run import Run, RunConfig


def curves(alt: str = 'Two curves, <b> & "quoted".') -> str:
    reference, resumed = [2.0, 1.9, 1.8, 1.7], [1.8, 1.75]
    return loss_figure(reference, resumed, first_step=5, restart=7, floor=ENTROPY, alt=alt)


def bars(small: RunConfig) -> str:
    return component_bytes(Run(small)).svg


@pytest.mark.parametrize("draw", [lambda small: curves(), bars], ids=["curves", "bars"])
def test_an_inline_picture_follows_the_theme_and_has_a_text(
    draw: Callable[[RunConfig], str], small: RunConfig
) -> None:
    svg = draw(small)
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert "max-width:700px" in (root.get("style") or "")
    assert "var(--jp-content-font-color1, currentColor)" in svg
    assert not re.search(rf"#000\b|#000000|#fff|black|{INK}", svg)
    assert all("fill:" in (text.get("style") or "") for text in root.iterfind(".//{*}text"))  # default: black
    assert not re.search("<style|<metadata|<!DOCTYPE|DejaVu", svg)


def test_coloured_lines_keep_their_contrast_on_any_theme() -> None:
    assert re.search(r"stroke: #0072b2; stroke: color-mix\(in srgb, #0072b2 72%, var\(", curves())


def test_the_text_of_a_picture_is_escaped_and_must_be_there() -> None:
    assert ElementTree.fromstring(curves()).get("aria-label") == 'Two curves, <b> & "quoted".'
    with pytest.raises(ValueError, match="alt is empty"):
        curves(alt=" ")


def test_every_reference_inside_a_picture_is_kept() -> None:
    svg = curves()
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert set(ids) == set(re.findall(r"#([a-z]\w{8,})", svg))
    assert len(ids) == len(set(ids))


def test_the_same_figure_gives_the_same_bytes_whatever_style_a_learner_set() -> None:
    plain = curves()
    with mpl.rc_context({"axes.grid": True, "font.size": 30, "lines.linestyle": ":", "svg.fonttype": "path"}):
        assert curves() == plain
        assert mpl.rcParams["font.size"] == 30


def test_numbers_in_words_are_not_rounded() -> None:
    with theme():
        figure = new_figure(height=50)
        figure.text(0.123456, 0.5, "0.123456")
        svg = to_svg(figure, "A number.")
    assert ">0.123456<" in svg
    assert "55.56" in svg  # 0.123456 of 450 points
