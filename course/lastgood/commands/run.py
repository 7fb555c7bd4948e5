"""`lastgood run`: a small run, killed as often as a published one was restarted, while you watch."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from lastgood.recovery.faults import Fault, Preset
    from lastgood.recovery.supervise import Event, Outcome
    from lastgood.training.run import RunConfig

NO_RUN = 2  # exit status; 1 is a run that is not identical


def run(
    preset: Annotated[str, typer.Option(help="Whose rate of failures.")] = "opt-175b",
    days: Annotated[float, typer.Option(help="Days of that run.")] = 5.0,
    steps_per_day: Annotated[
        int, typer.Option(help="Optimizer steps that stand for a day: 144 are one in ten minutes.")
    ] = 144,
    save_every: Annotated[int, typer.Option(help="Steps between two checkpoints.")] = 12,
    seed: Annotated[int, typer.Option(help="Of the run, and of the hours at which it is hit.")] = 175,
    folder: Annotated[
        Path | None,
        typer.Option(help="Keep checkpoints and events.jsonl here.", show_default="a temporary one"),
    ] = None,
) -> None:
    """Train under SIGKILLs on a published schedule; is the result bit-identical to the undisturbed run?

    Exits with 0 if it is, with 1 if not, and with 2 if there was no run.
    """
    from lastgood.recovery.faults import exponential_schedule

    chosen = _preset(preset)
    steps = _steps(days, steps_per_day, save_every)
    faults = exponential_schedule(chosen, days, seed)
    with ExitStack() as stack:
        home = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lastgood-run-")))
        outcome = _watched(chosen, faults, steps, 24 / steps_per_day, save_every, seed, home)
    _report(chosen, days, outcome)
    if not outcome.identical:
        raise typer.Exit(1)


def _preset(name: str) -> Preset:
    from lastgood.recovery.faults import FaultError, preset_named

    try:
        return preset_named(name)
    except FaultError as error:
        raise typer.BadParameter(f"{error}.", param_hint="--preset") from None


def _steps(days: float, steps_per_day: int, save_every: int) -> int:
    """Steps of the whole run. Raises BadParameter for numbers that make none."""
    if not 0.0 < days <= 10_000.0:
        raise typer.BadParameter(f"{days} days: give more than 0 and at most 10,000.", param_hint="--days")
    if steps_per_day < 1:
        raise typer.BadParameter(f"{steps_per_day}: give 1 or more.", param_hint="--steps-per-day")
    steps = round(days * steps_per_day)
    if steps < 1:
        raise typer.BadParameter(f"{days} days of {steps_per_day} steps are no step.", param_hint="--days")
    if not 1 <= save_every <= steps:
        reason = f"{save_every} steps between checkpoints: give 1 to {steps}, the steps of the whole run."
        raise typer.BadParameter(reason, param_hint="--save-every")
    return steps


def _watched(
    preset: Preset,
    faults: list[Fault],
    steps: int,
    hours_per_step: float,
    save_every: int,
    seed: int,
    folder: Path,
) -> Outcome:
    """The run, with its progress on stdout. Ends the program with a plain message where there is none."""
    from lastgood.recovery.warm import WarmServerError, shared_server

    server = shared_server()  # imports torch in the background, while we do
    from lastgood.recovery.supervise import SupervisorError, supervise

    console = _console()
    kills = f"{len(faults)} kill{'s' * (len(faults) != 1)}, one in {preset.mtbf_hours:.1f} h on average"
    stand_for = f"{steps} steps stand for {steps * hours_per_step / 24:g} days of {preset.name}"
    console.print(f"{stand_for}: {kills}. Saved every {save_every} steps.")
    try:
        with _progress(console) as progress:
            return supervise(
                _config(steps),
                seed=seed,
                steps=steps,
                faults=faults,
                folder=folder,
                save_every=save_every,
                hours_per_step=hours_per_step,
                on_event=_Screen(progress, steps).take,
                server=server,
            )
    except (SupervisorError, WarmServerError) as error:
        typer.secho(str(error), fg=typer.colors.RED, err=True)
        raise typer.Exit(NO_RUN) from None


def _config(steps: int) -> RunConfig:
    """The labs' run, its schedule stretched over these steps."""
    from lastgood.training.run import RunConfig

    config = RunConfig()
    horizon = max(2, steps)
    warmup = min(config.schedule.warmup, horizon // 2)
    return replace(config, schedule=replace(config.schedule, warmup=warmup, horizon=horizon))


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def _progress(console: Console) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("step"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.fields[restarts]} restarts, {task.fields[lost]} steps lost"),
        TimeRemainingColumn(),
        console=console,
    )


class _Screen:
    """Turns events into the progress bar and a line for each failure."""

    def __init__(self, progress: Progress, steps: int) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=steps, restarts=0, lost=0)
        self._restarts = 0
        self._failure = ""

    def take(self, event: Event) -> None:
        match event.kind:
            case "killed" | "died":
                self._failure = event.text
            case "restarted":
                self._restarts += 1
                self._print(f"{self._failure}, {event.text}")
            case "mismatch" | "error":
                self._print(self._failure)
        lost = event.executed - event.step  # a restart takes the step back
        self._progress.update(self._task, completed=event.step, restarts=self._restarts, lost=lost)

    def _print(self, line: str) -> None:
        if line:
            self._progress.console.print(f"  {line}", markup=False)


def _report(preset: Preset, days: float, outcome: Outcome) -> None:
    """The summary, and whether the two runs are one."""
    from rich.table import Table

    lost = sum(outcome.lost_steps)
    mean = f", {lost / outcome.restarts:.1f} a restart" if outcome.restarts else ""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    rows = {
        "failures": f"{preset.name}: {preset.restarts} restarts in {preset.days:g} days, {preset.source}",
        "time": f"{days:g} days, in {outcome.wall_seconds:.0f} s",
        "steps": f"{outcome.reached} of {outcome.steps}, {outcome.executed_steps} executed",
        "restarts": f"{outcome.restarts}, after {outcome.kills} kill{'s' * (outcome.kills != 1)}",
        "lost steps": f"{lost}{mean}",
        "ETTR": f"{outcome.ettr:.3f}, counting redone work only, not diagnosis, spares or saves",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    console = _console()
    console.print(table)
    if outcome.identical:
        console.print("✓ The result is bit-identical to the undisturbed run.", style="green")
    else:
        cause = outcome.error or str(outcome.first_mismatch)
        console.print("✗ The result is not the undisturbed run's.", style="red")
        console.print(f"  {cause}", markup=False)
