"""A learner's checkpoint on trial: killed on schedule, restarted, compared, and watched while it goes."""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from lastgood.recovery.faults import OPT_175B, schedule_of
from lastgood.recovery.learner import bundle
from lastgood.recovery.supervise import Event, Outcome, supervise
from lastgood.teaching.views.style import BLUE, ORANGE
from lastgood.training.logbook import CHARACTERS
from lastgood.training.model import GPTConfig
from lastgood.training.run import RunConfig
from lastgood.training.schedule import Schedule

STEPS_A_KILL = 16
SAVE_EVERY = 6
_REDRAW_S = 0.2
_WIDE, _HIGH = 700, 90


def trial(
    capture: Callable[..., Any],
    restore: Callable[..., Any],
    save: Callable[..., Any],
    load: Callable[..., Any],
    *,
    kills: int = 8,
    seed: int | None = None,
    full: bool = False,
) -> TrialResult:
    """Put the four functions through a small run that is killed `kills` times, at OPT-175B's rate.

    They are called as capture(run) -> state, restore(run, state), save(state, folder), load(folder) -> state,
    in fresh processes. `full` means as many kills as OPT-175B had restarts. Without `seed` each trial is
    another one. Raises FaultError where `kills` is below 1.
    """
    kills = OPT_175B.restarts if full else kills
    seed = secrets.randbelow(2**31) if seed is None else seed
    strip = Strip(kills * STEPS_A_KILL, kills)
    if os.environ.get("NBGRADER_EXECUTION"):
        strip.conclude("No trial while the notebook is validated or graded. Run this cell to see it.")
        return TrialResult(strip, seed, None)
    faults = schedule_of(OPT_175B, kills, seed)
    live = _Live(strip)
    outcome = None
    try:
        with tempfile.TemporaryDirectory(prefix="lastgood-trial-") as folder:
            outcome = supervise(
                _config(strip.steps),
                seed=seed,
                steps=strip.steps,
                faults=faults,
                folder=folder,
                save_every=SAVE_EVERY,
                hours_per_step=OPT_175B.mtbf_hours / STEPS_A_KILL,
                functions=bundle.dumps({"capture": capture, "restore": restore, "save": save, "load": load}),
                on_event=live.take,
            )
        strip.conclude(verdict(outcome))
    except bundle.BundleError as error:
        strip.conclude(str(error))
    live.redraw()
    return TrialResult(strip, seed, outcome, live.cell)


def _config(steps: int) -> RunConfig:
    """Small enough for a hundred restarts a minute, and with all that makes every component matter."""
    return RunConfig(
        model=GPTConfig(len(CHARACTERS), block_size=32, n_layer=1, n_head=4, n_embd=32),
        schedule=Schedule(peak=3e-3, warmup=min(20, steps - 1), horizon=steps, floor=3e-4),
        batch_size=4,
        train_chars=32 * (4 * 24 - 2),  # 24 batches an epoch, the last one smaller
        heldout_chars=320,
    )


def verdict(outcome: Outcome) -> str:
    """What came of it, in plain words."""
    again = outcome.executed_steps - outcome.reached
    if outcome.identical:
        return (
            f"Bit-identical. Killed {outcome.kills} times, {again} steps done again, and in the end the very "
            "run that nothing ever hit: parameters, moments, step, samples and generators."
        )
    if outcome.first_mismatch is not None:
        return f"Not the same run: {outcome.first_mismatch}."
    return f"Stopped at step {outcome.reached}. {outcome.error}"


@dataclass
class Strip:
    """The run so far: how far it had got after each step executed, and where it was hit."""

    steps: int
    kills: int
    corners: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])  # (executed, step)
    hits: list[tuple[int, int]] = field(default_factory=list)
    climbing: bool = False  # the last corner is the end of a slope that may go on
    caption: str = "starting two processes: the run, and the one that nothing hits"
    conclusion: str = ""

    def take(self, event: Event) -> None:
        """Note an event of the supervised run."""
        here = (event.executed, event.step)
        if event.kind in ("step", "restarted"):
            if self.climbing and event.kind == "step":
                self.corners.pop()
            self.corners.append(here)
            self.climbing = event.kind == "step"
        elif event.kind == "failed":
            self.hits.append(here)
        again = event.executed - event.step
        self.caption = (
            f"step {event.step} of {self.steps} · {len(self.hits)} of {self.kills} kills · "
            f"{again} step{'s' * (again != 1)} done again"
        )

    def conclude(self, words: str) -> None:
        self.conclusion = words

    def __repr__(self) -> str:
        return f"{self.caption}\n{self.conclusion}".rstrip()

    def _repr_html_(self) -> str:
        return f"{self._svg()}<div>{escape(self.caption)}</div>{self._conclusion_html()}"

    def _conclusion_html(self) -> str:
        if not self.conclusion:
            return ""
        outcome, stop, why = self.conclusion.partition(". ")
        words = f"<strong>{escape(outcome + stop)}</strong>{escape(why)}"
        return f"<div style='white-space:pre-wrap;margin-top:8px'>{words}</div>"

    def _svg(self) -> str:
        expected = self.steps + self.kills * SAVE_EVERY // 2
        across = _WIDE / max(expected, self.corners[-1][0])
        line = " ".join(f"{x * across:.1f},{_y(y, self.steps):.1f}" for x, y in self.corners)
        hits = "".join(f"M{x * across:.1f},{_y(y, self.steps) - 7:.1f}v14" for x, y in self.hits)
        ink = "var(--jp-content-font-color1, currentColor)"
        goal = _y(self.steps, self.steps)
        return (
            f'<svg viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-label="{escape(str(self))}" '
            f'style="width:100%;max-width:{_WIDE}px;height:auto" font-size="12" fill="none">'
            f'<path d="M0,{goal}H{_WIDE}" stroke="{ink}" stroke-dasharray="3 4" opacity="0.5"/>'
            f'<text x="2" y="{goal + 14}" fill="{ink}">step {self.steps}</text>'
            f'<text x="{_WIDE - 2}" y="{_HIGH - 4}" fill="{ink}" text-anchor="end">steps executed →</text>'
            f'<polyline points="{line}" stroke="{BLUE}" stroke-width="2"/>'
            f'<path d="{hits}" stroke="{ORANGE}" stroke-width="2.5"/></svg>'
        )


def _y(step: int, steps: int) -> float:
    return _HIGH - 10 - (_HIGH - 20) * step / steps


class _Live:
    """Shows the strip while the run goes, where there is a notebook to show it in."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        self._drawn = time.monotonic()
        self.cell = _current_cell()
        self._handle = None if self.cell is None else display(strip, display_id=True)

    def take(self, event: Event) -> None:
        self._strip.take(event)
        if time.monotonic() - self._drawn > _REDRAW_S:
            self.redraw()

    def redraw(self) -> None:
        self._drawn = time.monotonic()
        if self._handle is not None:
            self._handle.update(self._strip)


def _current_cell() -> int | None:
    """The number of the cell that runs; None where Python runs outside a notebook."""
    shell = get_ipython()
    return int(shell.execution_count) if shell is not None and hasattr(shell, "kernel") else None


@dataclass(frozen=True)
class TrialResult:
    """A trial that is over."""

    strip: Strip
    seed: int  # trial(…, seed=this) is hit at the same hours again
    outcome: Outcome | None  # None where it did not come to a run
    shown_in: int | None = None  # the cell that has shown it while it went

    @property
    def identical(self) -> bool:
        return self.outcome is not None and self.outcome.identical

    def __repr__(self) -> str:
        return repr(self.strip)

    def _ipython_display_(self) -> None:
        if self.shown_in is None or self.shown_in != _current_cell():  # not twice in one cell
            display(self.strip)
