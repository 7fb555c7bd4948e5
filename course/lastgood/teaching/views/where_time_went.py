"""Explain 0.61: take OPT-175B's 56 days apart until the assumed parts meet the published ends."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

import ipywidgets as widgets

from lastgood.teaching.views.controls import (
    RESTARTED,
    Later,
    Redrawn,
    call_later,
    paragraph,
    slider,
    spoken,
    wrapped,
)
from lastgood.teaching.views.where_time_went_account import (
    ALL_RESTARTS,
    BEST,
    LOST_DAYS,
    NEAR_DAYS,
    ONE_WAY,
    TITLES,
    WALL_DAYS,
    WORK_DAYS,
    Account,
    Assumptions,
)
from lastgood.teaching.views.where_time_went_picture import waterfall

_INTERVALS: Final = (("the best", BEST), *((f"{hours} h", float(hours)) for hours in (1, 2, 3, 4, 6, 8, 12)))
_NOTE: Final = (
    f"<b>From the chronicles:</b> {WALL_DAYS:.0f} days, and about {ALL_RESTARTS} restarts of all causes. "
    f"<b>An estimate:</b> {WORK_DAYS:.0f} days of work, the team's 33 days on 1,024 GPUs × 1,024 / 992; "  # noqa: RUF001
    "the 0.61 rests on it. <b>Assumed:</b> all else, each slider. The 40 s are BLOOM's."
)


class Explain061:
    """Eight sliders, two buttons, the waterfall, and in words how far off the assumptions still are."""

    def __init__(self, *, later: Later = call_later) -> None:
        real, whole = widgets.FloatSlider, widgets.IntSlider
        hours: dict[str, Any] = {"min": 0, "step": 0.25, "readout_format": ".2f"}
        self.controls: dict[str, Any] = {
            "save_s": slider(real, "one save, seconds", min=5, max=600, step=5, readout_format=".0f"),
            "interval_h": slider(widgets.SelectionSlider, "work between two saves", options=_INTERVALS),
            "detection_min": slider(
                real, "to notice a failure, minutes", min=0, max=120, step=5, readout_format=".0f"
            ),
            "diagnosis_h": slider(real, "people find the fault, hours", max=6, **hours),
            "spare_h": slider(real, "a good host comes, hours", max=6, **hours),
            "restart_h": slider(real, "one restart, hours", max=6, **hours),
            "rollbacks": slider(whole, "rollbacks", min=0, max=40),
            "rollback_h": slider(real, "one rollback, hours", min=0, max=48, step=1, readout_format=".0f"),
        }
        self.reset = widgets.Button(description="Start again")
        self.one_way = widgets.Button(description="One way to meet")
        self.view = Redrawn(self._draw, later=later)
        self.assume(Assumptions())
        for control in self.controls.values():
            control.observe(self.view.soon, names="value")
        self.reset.on_click(lambda _: self.assume(Assumptions()))
        self.one_way.on_click(lambda _: self.assume(ONE_WAY))
        self.widget = widgets.VBox(
            [
                wrapped(list(self.controls.values())),
                wrapped([self.reset, self.one_way]),
                self.view.picture,
                self.view.words,
                widgets.HTML(paragraph(f"{_NOTE}<br>{RESTARTED}", quiet=True)),
            ]
        )

    @property
    def assumed(self) -> Assumptions:
        """What the sliders stand for."""
        return Assumptions(**{name: control.value for name, control in self.controls.items()})

    def assume(self, assumptions: Assumptions) -> None:
        """Move the sliders, as a hand would: the picture follows after the pause."""
        for field in fields(assumptions):
            self.controls[field.name].value = getattr(assumptions, field.name)

    def _draw(self) -> tuple[str, str]:
        account = Account(self.assumed)
        verdict, more = in_words(account)
        parts = "; ".join(f"{TITLES[part]} {days:.1f}" for part, days in account.parts.items())
        alt = (
            f"A waterfall from {WALL_DAYS:.0f} days of OPT-175B's run to {WORK_DAYS:.0f} days of work. "
            f"Assumed, in days: {parts}. {verdict}"
        )
        return waterfall(account, alt), spoken(verdict, more)


def in_words(account: Account) -> tuple[str, str]:
    """How far off the account is, and what it tells."""
    with_these = f"With these assumptions the ETTR would be {account.ettr:.2f}"
    a = account.assumed
    counts = f"({ALL_RESTARTS} restarts: {a.failures} failures, {a.rollbacks} rollbacks.)"
    explained = f"The assumed parts come to {account.explained:.1f} of the {LOST_DAYS:.0f} days"
    if account.missing > NEAR_DAYS:
        off = f"{account.missing:.1f} days are not explained yet."
        return f"{explained}; {off}", f"{with_these}, not 0.61. Which part is too small? {counts}"
    if account.missing < -NEAR_DAYS:
        off = f"that is {-account.missing:.1f} days too much."
        return f"{explained}; {off}", f"{with_these}, not 0.61. Which part is too large? {counts}"
    meets = f"The ends meet: an ETTR of {account.ettr:.2f}, and the chronicles' figures give 0.61."
    others = "There are other ways to meet: nobody knows the right one."
    return f"{explained}. {meets}", f"{_learnt(account)} {others}"


def _learnt(account: Account) -> str:
    """At a meeting: what the interval decides, what the restarts decide, and what each would give back."""
    a = account.assumed
    cheaper = account.gained(save_s=a.save_s / 2)
    faster = account.gained(diagnosis_h=a.diagnosis_h / 2)
    gains = (
        f"Half the cost of a save would give back {cheaper:.1f} days, half the time that people need to find "
        f"a fault {faster:.1f}."
    )
    rest = account.explained - account.saving
    if account.saving < rest:
        return (
            f"Saves and lost work are {account.saving:.1f} of these days; {rest:.1f} go into getting back to "
            f"work. {gains} Once saves are cheap, the restart is what costs."
        )
    best = account.gained(interval_h=BEST)
    return (
        f"Saves and lost work are {account.saving:.1f} of these days, because of the interval that you "
        f"assume: the best one would give back {best:.1f}. {gains}"
    )


def explain_061() -> widgets.VBox:
    """The waterfall and its sliders, the first picture drawn."""
    explorer = Explain061()
    explorer.view.now()
    return explorer.widget
