"""What `lastgood run` shows: a bar, a line for each failure, and a summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from lastgood.recovery.faults import Fault, Preset
    from lastgood.recovery.supervise import Event, Outcome


@dataclass(frozen=True)
class Plan:
    """What the options come to."""

    preset: Preset
    days: float
    steps: int
    save_every: int
    seed: int
    spares: int | None
    faults: list[Fault]

    @property
    def hours_per_step(self) -> float:
        return self.days * 24 / self.steps


def console() -> Console:
    """Where to print: lines are as long as they are."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def progress_bar(on: Console) -> Progress:
    """Steps, restarts, lost steps and ETTR, in one line that is drawn again and again."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("step"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn(
            "{task.fields[restarts]} restarts, {task.fields[lost]} steps lost, ETTR {task.fields[ettr]:.3f}"
        ),
        TimeRemainingColumn(),
        console=on,
    )


class Screen:
    """Turns events into the progress bar and a line for each failure."""

    def __init__(self, progress: Progress, plan: Plan) -> None:
        self._progress = progress
        self._hours_per_step = plan.hours_per_step
        self._task = progress.add_task("", total=plan.steps, restarts=0, lost=0, ettr=1.0)
        self._restarts = 0
        self._pending: list[str] = []  # what is said in one line with the restart
        self._refused = False  # one line for all saves that a full disk refuses

    def take(self, event: Event) -> None:
        """Show an event."""
        match event.kind:
            case "failed" | "died" | "waiting" | "continued":
                self._pending.append(event.text)
            case "restarted":
                self._restarts += 1
                self._print(*self._pending, event.text)
            case "full" | "free":
                self._print(event.text)
            case "refused" if not self._refused:
                self._print(event.text)
            case "mismatch" | "error":
                self._print(*self._pending)
        if event.kind in ("refused", "saved"):
            self._refused = event.kind == "refused"
        lost = event.executed - event.step  # a restart takes the step back
        ettr = event.step * self._hours_per_step / event.hours if event.hours else 1.0
        self._progress.update(self._task, completed=event.step, restarts=self._restarts, lost=lost, ettr=ettr)

    def _print(self, *parts: str) -> None:
        self._pending = []
        if parts:
            self._progress.console.print(f"  {', '.join(parts)}", markup=False)


def report(plan: Plan, outcome: Outcome) -> None:
    """The summary, and whether the two runs are one."""
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in _summary(plan, outcome).items():
        table.add_row(name, value)
    screen = console()
    screen.print(table)
    if outcome.identical:
        screen.print("✓ The result is bit-identical to the undisturbed run.", style="green")
    else:
        cause = outcome.error or str(outcome.first_mismatch)
        screen.print("✗ The result is not the undisturbed run's.", style="red")
        screen.print(f"  {cause}", markup=False)


def _summary(plan: Plan, outcome: Outcome) -> dict[str, str]:
    preset, lost = plan.preset, sum(outcome.lost_steps)
    mean = f", {lost / outcome.restarts:.1f} a restart" if outcome.restarts else ""
    beyond = [failure for failure in outcome.failures if not failure.within_bound]
    bound = f"; {len(beyond)} times more than the bound" if beyond else ""
    refused = outcome.refused_saves
    hours = [f"{hours:.1f} h {name}" for name, hours in outcome.hours.items() if hours]
    return {
        "failures": f"{preset.name}: {preset.restarts} restarts in {preset.days:g} days, {preset.source}",
        "time": f"{plan.days:g} days, in {outcome.wall_seconds:.0f} s",
        "steps": f"{outcome.reached} of {outcome.steps}, {outcome.executed_steps} executed",
        "restarts": f"{outcome.restarts}, after {outcome.kills} failure{'s' * (outcome.kills != 1)}",
        "lost steps": f"{lost}{mean}{bound}",
        **({"saves": f"{refused} refused while storage was full, each tried again"} if refused else {}),
        "ETTR": f"{outcome.ettr:.3f} ({', '.join(hours)}); saves, diagnosis and restarts are free here",
    }
