"""Formulas as MathML: no script from elsewhere, no TeX, and they follow the theme."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_LOG = logging.getLogger(__name__)
_OTHERWISE = {r"\lt": "<", r"\gt": ">"}  # commands that JupyterLab knows and docutils does not


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula that stands in a line."""
    translator.body.append(_drawn(node, as_block=False))
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands by itself."""
    translator.body.append(f'<div class="math">{_drawn(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _drawn(node: nodes.Element, *, as_block: bool) -> str:
    formula = re.sub(r"\\[a-z]+", lambda command: _OTHERWISE.get(command[0], command[0]), node.astext())
    try:
        return str(tex2mathml(formula, as_block=as_block))
    except MathError as error:
        _LOG.warning("%s, in the formula %s", str(error).rstrip("."), formula, location=node)
        return ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer it to Sphinx under the name `mathml`."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
