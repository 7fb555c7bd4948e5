"""An explorer: what a model of any size keeps in memory and in a checkpoint, byte by byte."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Final

import ipywidgets as widgets

from lastgood.teaching.views.controls import (
    RESTARTED,
    Later,
    Presets,
    Redrawn,
    call_later,
    paragraph,
    slider,
    spoken,
    wrapped,
)
from lastgood.teaching.views.memory_picture import Plan, bars, binary, decimal
from lastgood.training.memory import (
    ADAM,
    FP32,
    MIXED,
    MIXED_NO_MASTER,
    OPTIMIZERS,
    PRECISIONS,
    Optimizer,
    Precision,
    gpt_parameters,
)
from lastgood.training.run import RunConfig

OWN: Final = "your own model"
_LAB: Final = RunConfig().model
_ROUND: Final = (1, 1.5, 2, 3, 4, 5, 7)


@dataclass(frozen=True)
class Case:
    """A model, what is published of its checkpoint, and what was assumed to compute one."""

    title: str
    plan: Plan
    known: str
    assumed: str


CASES: Final = (
    Case(
        "OPT-175B",
        Plan(175_000_000_000, MIXED_NO_MASTER, ADAM),
        "175 billion parameters (Zhang et al. 2022); a checkpoint of about 1.6 TB, as 992 files of about "
        "1.7 GB (chronicles, 27% update). Whether TB or TiB is meant is not said",
        "that the files hold 16-bit weights and two 32-bit moments, as the paper has them in training",
    ),
    Case(
        "BLOOM",
        Plan(176_000_000_000, MIXED, ADAM),
        "176 billion parameters; a checkpoint of 2.3 TB (chronicles). Whether TB or TiB is meant is not said",
        "what the files hold: 16-bit weights, 32-bit master weights and two 32-bit moments",
    ),
    Case(
        "the lab's GPT",
        Plan(gpt_parameters(_LAB.n_layer, _LAB.n_embd, _LAB.vocab_size, _LAB.block_size), FP32, ADAM),
        "counted in this course's own model, which computes in 32 bits",
        "nothing",
    ),
)


class MemoryExplorer:
    """Menus of published models, precisions and optimizers, a slider for the size, bars, and words."""

    def __init__(self, *, later: Later = call_later) -> None:
        self.preset = slider(widgets.Dropdown, "Numbers of", options=[*(case.title for case in CASES), OWN])
        self.precision = slider(
            widgets.Dropdown, "Precision", options=[(one.name, one) for one in PRECISIONS]
        )
        self.optimizer = slider(
            widgets.Dropdown, "Optimizer", options=[(one.name, one) for one in OPTIMIZERS]
        )
        sizes = {*_round_sizes(), *(case.plan.parameters for case in CASES)}
        self.parameters = slider(
            widgets.SelectionSlider, "parameters", options=[(count(size), size) for size in sorted(sizes)]
        )
        self.note = widgets.HTML()
        self.view = Redrawn(self._draw, later=later)
        own = (self.parameters, self.precision, self.optimizer)
        Presets(self.preset, OWN, own, show=self._show, soon=self.view.soon)
        self.widget = widgets.VBox(
            [
                self.preset,
                wrapped([*own]),
                self.view.picture,
                self.view.words,
                self.note,
                widgets.HTML(paragraph(RESTARTED, quiet=True)),
            ]
        )

    @property
    def plan(self) -> Plan:
        """What the controls stand for."""
        precision: Precision = self.precision.value
        optimizer: Optimizer = self.optimizer.value
        return Plan(self.parameters.value, precision, optimizer)

    def _show(self, title: str) -> None:
        case = next((case for case in CASES if case.title == title), None)
        if case is None:
            self.note.value = paragraph("This model is yours.", quiet=True)
            return
        self.parameters.value = case.plan.parameters
        self.precision.value = case.plan.precision
        self.optimizer.value = case.plan.optimizer
        known, assumed = escape(case.known), escape(case.assumed)
        self.note.value = paragraph(f"<b>Known:</b> {known}.<br><b>Assumed:</b> {assumed}.", quiet=True)

    def _draw(self) -> tuple[str, str]:
        sentence, more = in_words(self.plan)
        each = "; ".join(f"{name} {decimal(size)}" for name, size in self.plan.parts.items())
        return bars(self.plan, f"A bar for each part: {each}. {sentence} {more}"), spoken(sentence, more)


def count(parameters: int) -> str:
    """A number of parameters as a person says it."""
    for power, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if parameters >= power:
            return f"{parameters / power:g} {name}"
    return f"{parameters:,}"


def in_words(plan: Plan) -> tuple[str, str]:
    """What the checkpoint weighs, the optimizer's part of it beside the weights, and what memory holds."""
    sentence = (
        f"The checkpoint weighs {decimal(plan.checkpoint)}, which is {binary(plan.checkpoint)}: "
        f"{plan.each(plan.checkpoint)} bytes a parameter."
    )
    weights = plan.parts["weights"]
    if plan.moments:
        times = plan.moments / weights
        beside = "as much as" if times == 1 else f"{times:g} times"
        state = (
            f"What the optimizer remembers takes {decimal(plan.moments)} of it, "
            f"{beside} the weights ({decimal(weights)})."
        )
    else:
        state = "The optimizer remembers nothing for a parameter."
    place = f"at least {plan.gpus:,} GPUs of 80 GB" if plan.gpus > 1 else "one GPU of 80 GB holds that"
    return sentence, (
        f"{state} Memory holds {decimal(plan.memory)} with the gradients, {plan.each(plan.memory)} bytes a "
        f"parameter: {place}, activations not counted."
    )


def _round_sizes() -> list[int]:
    sizes = [round(digits * 10**power) for power in range(4, 13) for digits in _ROUND]
    return [size for size in sizes if size <= 2_000_000_000_000]


def memory_explorer() -> widgets.VBox:
    """The explorer, its first picture drawn."""
    explorer = MemoryExplorer()
    explorer.view.now()
    return explorer.widget
