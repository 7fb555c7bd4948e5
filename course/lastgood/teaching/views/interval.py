"""An explorer: how often to save, for published runs and for one's own, and what another choice costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

import ipywidgets as widgets

from lastgood.recovery.faults import (
    BLOOM_176B,
    KOKOLIS_RSC_1,
    KOKOLIS_RSC_2,
    LLAMA_3_405B,
    OPT_175B,
    Preset,
)
from lastgood.recovery.interval import job_mtbf
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
from lastgood.teaching.views.interval_picture import Choice, curve, percent, span

OWN: Final = "your own numbers"
BLOOM_INTERVAL_H: Final = 100 * 105 / 3600  # 100 steps of 105 s
MEGASCALE_RESTART_MIN: Final = 25  # under 10 to find and diagnose, within 15 to catch up
_HOPELESS: Final = 100.0  # times the work, and more, with the best interval
_ROUND: Final = (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9)
_SAVE_H: Final = 40 / 3600  # BLOOM's; the slider has four times as much, too, as the lesson asks

_SAVE = "the save, 40 s as BLOOM's"
_RESTART = "the restart, 25 min as MegaScale's"


@dataclass(frozen=True)
class Case:
    """A published rate, and what was assumed to make a plan of it."""

    title: str
    preset: Preset
    known: str
    assumed: str
    mine_hours: float = 1.0


CASES: Final = (
    Case(
        "OPT-175B",
        OPT_175B,
        "124 hosts; at least 35 manual restarts and an estimated 70 automatic ones in about 60 days",
        f"{_SAVE}; {_RESTART}. OPT's own could not be verified",
    ),
    Case(
        "BLOOM",
        BLOOM_176B,
        "48 hosts, about one GPU failure a week, a save of 40 s; yours is set to its later interval, "
        "100 steps of 105 s",
        _RESTART,
        BLOOM_INTERVAL_H,
    ),
    Case(
        "Llama 3 405B",
        LLAMA_3_405B,
        "16,384 GPUs, eight a host; 419 unexpected interruptions in 54 days",
        f"{_SAVE}; {_RESTART}",
    ),
    Case(
        "Kokolis, first cluster",
        KOKOLIS_RSC_1,
        "6.50 failures per 1,000 host-days",
        f"a job of 16,384 GPUs; {_SAVE}; {_RESTART}",
    ),
    Case(
        "Kokolis, second cluster",
        KOKOLIS_RSC_2,
        "2.34 failures per 1,000 host-days",
        f"a job of 16,384 GPUs; {_SAVE}; {_RESTART}",
    ),
)


class IntervalExplorer:
    """A menu of published runs, five sliders, the curve, and in words what the reader's choice costs."""

    def __init__(self, *, later: Later = call_later) -> None:
        self.preset = widgets.Dropdown(
            options=[*(case.title for case in CASES), OWN],
            description="Numbers of",
            style={"description_width": "initial"},
        )
        presets = [case.preset for case in CASES]
        hosts, rates = _round_numbers(1, 30_000), _round_numbers(0.1, 100)
        whole = [number for number in hosts if number == int(number)]
        self.hosts = _choices("hosts", [*whole, *(preset.hosts for preset in presets)], "{:,.0f}".format)
        self.rate = _choices(
            "failures / 1,000 host-days",
            [*rates, *(preset.per_1000_host_days for preset in presets)],
            "{:.3g}".format,
        )
        self.save = _choices("one save", [*_round_times(1 / 3600, 2), _SAVE_H, 4 * _SAVE_H], span)
        self.restart = slider(widgets.IntSlider, "one restart, minutes", min=0, max=240, step=5)
        self.mine = _choices(
            "your interval", [*_round_times(1 / 60, 400), *(case.mine_hours for case in CASES)], span
        )
        self.note = widgets.HTML()
        self.view = Redrawn(self._draw, later=later)
        self.mine.observe(self.view.soon, names="value")
        job = (self.hosts, self.rate, self.save, self.restart)
        Presets(self.preset, OWN, job, show=self._show, soon=self.view.soon)
        self.widget = widgets.VBox(
            [
                self.preset,
                wrapped([*job, self.mine]),
                self.view.picture,
                self.view.words,
                self.note,
                widgets.HTML(paragraph(RESTARTED, quiet=True)),
            ]
        )

    @property
    def choice(self) -> Choice:
        """The numbers that the sliders stand for."""
        return Choice(
            save=self.save.value,
            mtbf=job_mtbf(self.hosts.value, self.rate.value),
            restart=self.restart.value / 60,
            mine=self.mine.value,
        )

    def _show(self, title: str) -> None:
        case = next((case for case in CASES if case.title == title), None)
        if case is None:
            self.note.value = paragraph("These numbers are yours.", quiet=True)
            return
        self.hosts.value = case.preset.hosts
        self.rate.value = case.preset.per_1000_host_days
        self.save.value = _SAVE_H
        self.restart.value = MEGASCALE_RESTART_MIN
        self.mine.value = case.mine_hours
        source = f"<b>Published:</b> {escape(case.known)} ({escape(case.preset.source)})."
        self.note.value = paragraph(f"{source}<br><b>Assumed:</b> {escape(case.assumed)}.", quiet=True)

    def _draw(self) -> tuple[str, str]:
        choice = self.choice
        if not choice.cost(choice.best) < _HOPELESS:
            return "", spoken(*no_way(choice))
        sentence, more = in_words(choice)
        alt = f"What an interval costs, as a curve with a flat valley. {sentence} {more}"
        return curve(choice, alt), spoken(sentence, more)


def no_way(choice: Choice) -> tuple[str, str]:
    """Of a job that hardly gets on, whatever its interval: there is no curve to show."""
    return "No interval helps this job: it hardly gets on.", (
        f"One failure in {span(choice.mtbf)}; a save takes {span(choice.save)}, a restart "
        f"{span(choice.restart)}. Lower the rate, or make the restart or the save quicker."
    )


def _choices(description: str, values: Sequence[float], said: Callable[[float], str]) -> Any:
    """A slider over these numbers and no others; of two with one name, over the later in the list.

    Not a FloatLogSlider: a browser would move a preset's number to the next step, and send it back.
    """
    named = {said(value): float(value) for value in values}
    options = sorted(named.items(), key=lambda option: option[1])
    return slider(widgets.SelectionSlider, description, options=options)


def _round_numbers(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [float(f"{digits}e{decade}") for decade in decades for digits in _ROUND]
    return [number for number in numbers if low <= number <= high]


def _round_times(low: float, high: float) -> list[float]:
    """Hours that are a round number of seconds, of minutes, or of hours."""
    units = ((1 / 3600, 60), (1 / 60, 60), (1.0, math.inf))
    numbers = _round_numbers(1, 1_000)
    times = [number * unit for unit, most in units for number in numbers if number < most]
    return [hours for hours in times if low <= hours <= high]


def in_words(choice: Choice) -> tuple[str, str]:
    """What the reader's interval costs beside the best one, and the numbers of the picture."""
    prices, best_prices = choice.two_prices(choice.mine), choice.two_prices(choice.best)
    excess = choice.excess
    if excess < 5e-5:
        sentence = "Yours costs no more than the best."
    elif excess < 1.0:
        sentence = f"Yours costs {percent(excess)} more time than the best."
    elif math.isfinite(excess):
        sentence = f"With yours the run takes {_times(1.0 + excess)} times as long as with the best."
    else:
        sentence = "With yours the run never ends: no interval passes without a failure."
    shortest, longest = choice.flat
    return sentence, (
        f"Saves and lost work come to {percent(prices)} of the work with yours, {span(choice.mine)}, and to "
        f"{percent(best_prices)} with the best, {span(choice.best)}: {_times(prices / best_prices)} times as "
        "much. "
        f"Young's formula says {span(choice.young)}. One failure in {span(choice.mtbf)}. Any interval from "
        f"{span(shortest)} to {span(longest)} is within 1 % of the best."
    )


def _times(factor: float) -> str:
    return f"{factor:.2f}" if factor < 10 else f"{factor:,.0f}" if factor < 10_000 else "over 10,000"


def interval_explorer() -> widgets.VBox:
    """The explorer, its first picture drawn."""
    explorer = IntervalExplorer()
    explorer.view.now()
    return explorer.widget
