"""`lastgood run`: a small run, hit as often as a published one was restarted, while you watch."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lastgood.commands.run_screen import Plan, Screen, console, progress_bar, report

if TYPE_CHECKING:
    from lastgood.recovery.faults import Fault, Preset
    from lastgood.recovery.supervise import Outcome
    from lastgood.training.run import RunConfig

NO_RUN = 2  # exit status; 1 is a run that is not identical
STEPS_A_DAY = 144  # one in ten minutes, where the days are few
MOST_STEPS = 2880  # so many take about two minutes on two cores: more days get fewer steps each


class Kinds(StrEnum):
    """What befalls the run."""

    KILLED = "killed"
    MIXED = "mixed"


def run(
    preset: Annotated[str, typer.Option(help="Whose rate of failures.")] = "opt-175b",
    days: Annotated[float, typer.Option(help="Days of that run.")] = 5.0,
    kinds: Annotated[
        Kinds, typer.Option(help="SIGKILLs only, or also hangs, notices, corruption and a full disk.")
    ] = Kinds.KILLED,
    steps_per_day: Annotated[
        int | None,
        typer.Option(
            help="Optimizer steps that stand for a day.",
            show_default=f"{STEPS_A_DAY}, fewer where that were more than {MOST_STEPS} in all",
        ),
    ] = None,
    save_every: Annotated[int, typer.Option(help="Steps between two checkpoints.")] = 12,
    seed: Annotated[int, typer.Option(help="Of the run, and of the hours at which it is hit.")] = 175,
    spares: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Hosts in reserve; one that failed is back a day later.",
            show_default="as many as it takes",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Keep checkpoints and events.jsonl here. The same command again goes on with a run that was "
            "interrupted.",
            show_default="a temporary one",
        ),
    ] = None,
) -> None:
    """Train under failures on a published schedule; is the result bit-identical to the undisturbed run?

    Exits with 0 if it is, with 1 if not, and with 2 if there was no run.
    """
    chosen = _preset(preset)
    steps = _steps(days, steps_per_day, save_every)
    plan = Plan(chosen, days, steps, save_every, seed, spares, _faults(chosen, days, seed, kinds))
    with ExitStack() as stack:
        home = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lastgood-run-")))
        outcome = _watched(plan, home)
    report(plan, outcome)
    if not outcome.identical:
        raise typer.Exit(1)


def _faults(preset: Preset, days: float, seed: int, kinds: Kinds) -> list[Fault]:
    from lastgood.recovery.faults import exponential_schedule, mixed_schedule

    if kinds == Kinds.MIXED:
        return mixed_schedule(preset, days=days, seed=seed)
    return exponential_schedule(preset, days, seed)


def _preset(name: str) -> Preset:
    from lastgood.recovery.faults import FaultError, preset_named

    try:
        return preset_named(name)
    except FaultError as error:
        raise typer.BadParameter(f"{error}.", param_hint="--preset") from None


def _steps(days: float, steps_per_day: int | None, save_every: int) -> int:
    """Steps of the whole run. Raises BadParameter for numbers that make none."""
    if not 0.0 < days <= 10_000.0:
        raise typer.BadParameter(f"{days} days: give more than 0 and at most 10,000.", param_hint="--days")
    if steps_per_day is None:
        steps_per_day = max(1, min(STEPS_A_DAY, int(MOST_STEPS / days)))
    if steps_per_day < 1:
        raise typer.BadParameter(f"{steps_per_day}: give 1 or more.", param_hint="--steps-per-day")
    steps = round(days * steps_per_day)
    if steps < 1:
        raise typer.BadParameter(f"{days} days of {steps_per_day} steps are no step.", param_hint="--days")
    if not 1 <= save_every <= steps:
        reason = f"{save_every} steps between checkpoints: give 1 to {steps}, the steps of the whole run."
        raise typer.BadParameter(reason, param_hint="--save-every")
    return steps


def _watched(plan: Plan, folder: Path) -> Outcome:
    """The run, with its progress on stdout. Ends the program with a plain message where there is none."""
    from lastgood.recovery.warm import WarmServerError, shared_server

    server = shared_server()  # imports torch in the background, while we do
    from lastgood.recovery.supervise import SupervisorError, supervise

    screen = console()
    failures = f"{len(plan.faults)} failure{'s' * (len(plan.faults) != 1)}"
    screen.print(
        f"{plan.steps} steps stand for {plan.days:g} days of {plan.preset.name}: {failures}, one in "
        f"{plan.preset.mtbf_hours:.1f} h on average. Saved every {plan.save_every} steps."
    )
    try:
        with progress_bar(screen) as progress:
            return supervise(
                _config(plan.steps),
                seed=plan.seed,
                steps=plan.steps,
                faults=plan.faults,
                folder=folder,
                save_every=plan.save_every,
                hours_per_step=plan.hours_per_step,
                spares=plan.spares,
                on_event=Screen(progress, plan).take,
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
