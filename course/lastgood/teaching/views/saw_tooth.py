"""A player: step through a run that failures of every kind hit, its log of events beside its saw-tooth."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import Any, Final

import ipywidgets as widgets

from lastgood.recovery.faults import CORRUPTED, HUNG, KILLED, STORAGE_FULL, TOLD_TO_LEAVE
from lastgood.teaching.views.controls import (
    RESTARTED,
    Later,
    Redrawn,
    call_later,
    paragraph,
    spoken,
    wrapped,
)
from lastgood.teaching.views.saw_tooth_events import (
    DIED,
    ENDS,
    FAILED,
    FULL,
    RECORDED,
    Events,
    Fall,
    Moment,
    SawTooth,
    read,
)
from lastgood.teaching.views.saw_tooth_picture import SIGNS, saw_tooth

_LINES: Final = 13  # of the log, up to the current one
_PLAY_MS: Final = 1_000  # from one event to the next: time to read a line
_KINDS: Final = (KILLED, HUNG, TOLD_TO_LEAVE, CORRUPTED, STORAGE_FULL)
_MEANING: Final = {
    KILLED: "killed by SIGKILL",
    HUNG: "stopped, and noticed by its silence",
    TOLD_TO_LEAVE: "told to leave by SIGTERM",
    CORRUPTED: "killed, and its newest checkpoint damaged",
    STORAGE_FULL: "no room to save in, for a while",
}

_UNASKED: Final = "ended, on no schedule"


class SawToothPlayer:
    """Buttons and a slider over the events of a run; the picture and the log show it up to one of them.

    Raises SawToothError where the events are none.
    """

    def __init__(self, events: Events = RECORDED, *, later: Later = call_later) -> None:
        self.whole = read(events)
        last = len(self.whole.stops) - 1
        self.at = widgets.IntSlider(
            min=0,
            max=last,
            description="event",
            style={"description_width": "initial"},
            layout=widgets.Layout(width="380px", max_width="100%"),
        )
        self.play = widgets.Play(min=0, max=last, interval=_PLAY_MS, show_repeat=False)
        # In the browser: no way through the kernel for each event.
        self.link = widgets.jslink((self.play, "value"), (self.at, "value"))
        self.previous = self._button("◀ Previous", self._to_previous, "One event back")
        self.next = self._button("Next event ▶", self._to_next, "One event on")
        self.failure = self._button("Next failure ▶▶", self._to_failure, "On to the next failure")
        self.view = Redrawn(self._draw, later=later, pause=0.05)
        self.log = widgets.HTML(layout=widgets.Layout(flex="1 1 270px", min_width="250px"))
        self.view.picture.layout = widgets.Layout(flex="2 1 430px", min_width="300px", max_width="710px")
        self.at.observe(self.view.soon, names="value")
        beside = widgets.Layout(flex_flow="row wrap", grid_gap="0 12px", align_items="flex-start")
        self.widget = widgets.VBox(
            [
                wrapped([self.play, self.previous, self.next, self.failure, self.at]),
                self.view.words,
                widgets.HBox([self.view.picture, self.log], layout=beside),
                widgets.HTML(paragraph(f"{_key(self.whole)}<br>{RESTARTED}", quiet=True)),
            ]
        )

    @property
    def run(self) -> SawTooth:
        """The run up to the current event."""
        return self.whole.until(self.whole.stops[self.at.value])

    def _button(self, words: str, action: Any, tooltip: str) -> widgets.Button:
        button = widgets.Button(description=words, tooltip=tooltip, layout=widgets.Layout(width="auto"))
        button.on_click(lambda _: action())
        return button

    def _to_previous(self) -> None:
        self.at.value = max(0, self.at.value - 1)

    def _to_next(self) -> None:
        self.at.value = min(self.at.max, self.at.value + 1)

    def _to_failure(self) -> None:
        later = range(self.at.value + 1, len(self.whole.stops))
        kinds = (FAILED, DIED, FULL)
        self.at.value = next((i for i in later if self._moment(i).kind in kinds), self.at.max)

    def _moment(self, stop: int) -> Moment:
        return self.whole.moments[self.whole.stops[stop]]

    def _draw(self) -> tuple[str, str]:
        self.log.value = ""
        run = self.run
        where, what = in_words(run, self.whole)
        picture = saw_tooth(run, self.whole, alt=f"Progress of a run, a saw-tooth. {where} {_told(run)}")
        self.log.value = self._log()
        return picture, spoken(where, what)

    def _log(self) -> str:
        """The last lines up to now: what comes is for the reader to predict."""
        first = max(0, self.at.value - _LINES + 1)
        rows = "".join(
            _row(self._moment(i), current=i == self.at.value) for i in range(first, self.at.value + 1)
        )
        head = (
            "<tr><th style='text-align:right;padding:1px 8px;width:1%'>hour</th>"
            "<th style='text-align:left;padding:1px 4px'>event</th></tr>"
        )
        return (
            "<table aria-label='Log of events' style='border-collapse:collapse;width:100%;"
            f"font-size:var(--jp-ui-font-size1,13px);line-height:1.35'>{head}{rows}</table>"
        )


def _row(moment: Moment, *, current: bool) -> str:
    sign = SIGNS.get(moment.cause or "", "▼") if moment.kind in (FAILED, DIED, FULL) else ""
    bar = "var(--jp-brand-color1,#1976d2)" if current else "transparent"
    style = f"border-left:4px solid {bar};vertical-align:top"
    mark = " aria-current='true'" if current else ""
    weight = "font-weight:bold;" if current else ""
    text = escape(f"{sign} {moment.text}".strip())
    cells = (
        f"<td style='text-align:right;padding:1px 8px'>{moment.hours:.1f}</td>"
        f"<td style='text-align:left;padding:1px 4px;overflow-wrap:anywhere'>{text}</td>"
    )
    return f"<tr{mark} style='{weight}{style};background:none'>{cells}</tr>"


def in_words(run: SawTooth, whole: SawTooth) -> tuple[str, str]:
    """Where the run is, and what has just happened or is about to."""
    now = run.now
    where = f"Hour {now.hours:.1f}: step {now.step} of {whole.steps}."
    newest = run.saves[-1][1] if run.saves else 0
    fall = run.falls[-1] if run.falls else None
    match now.kind:
        case "failed" | "died":
            what = f"The newest save was that of step {newest}. How far will the line fall?"
        case "waiting":
            what = f"No process: every spare host is in repair, for {now.wait or 0.0:.1f} h."
        case "restarted" if fall is not None:
            what = _fallen(fall)
        case "full":
            what = f"No save will succeed now. The last that did is that of step {newest}."
        case "refused":
            what = f"A save failed, and the run trains on. The last good save is that of step {newest}."
        case "free":
            what = "Saves succeed again."
        case kind if kind in ENDS:
            what = _told(run)
        case _:
            what = f"Newest complete checkpoint: step {newest}." if newest else "Nothing is saved yet."
    return where, what


def _fallen(fall: Fall) -> str:
    steps = f"{fall.lost} step{'s' * (fall.lost != 1)}"
    most = "" if fall.bound is None else f" No more than {fall.bound} could be lost here."
    fell = f"fell from step {fall.step} to {fall.resumed}"
    return f"{fall.cause.capitalize()}: {fell}, {steps} to do again.{most}"


def _told(run: SawTooth) -> str:
    """Each failure so far, with its numbers."""
    if not run.falls:
        return f"No failure so far; {len(run.saves)} checkpoints."
    said = [
        f"{fall.cause} at hour {fall.hours:.1f}, step {fall.step}"
        + ("" if fall.resumed is None else f", resumed at {fall.resumed}")
        for fall in run.falls[-20:]
    ]
    lost = sum(fall.lost or 0 for fall in run.falls)
    return f"{len(run.falls)} failures, {lost} steps lost: {'; '.join(said)}."


def _key(whole: SawTooth) -> str:
    """The shapes of this run, with how often each came."""
    counts = Counter(fall.cause for fall in whole.falls)
    counts[STORAGE_FULL] = len(whole.outages)
    return " · ".join(
        f"{SIGNS.get(kind, SIGNS[DIED])} {escape(kind)} ({counts[kind]}): {_MEANING.get(kind, _UNASKED)}"
        for kind in (*_KINDS, *sorted(counts.keys() - set(_KINDS)))
        if counts[kind]
    )


def saw_tooth_player(events: Events = RECORDED) -> widgets.VBox:
    """The player, at the run's beginning.

    `events`: the folder of a run of your own, as `lastgood run --folder` writes it, its events.jsonl, or a
    list of events; without it, a recorded run of 120 steps. Raises SawToothError where there are none.
    """
    player = SawToothPlayer(events)
    player.view.now()
    return player.widget
