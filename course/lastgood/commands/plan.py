"""`lastgood plan`: how often to save, what that costs, and how little it matters to be exact."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

HOURS = {"s": 1 / 3600, "min": 1 / 60, "h": 1.0, "d": 24.0}
BOUNDS = (0.5, 0.95, 0.99)


def plan(
    save_cost: Annotated[str, typer.Option(help="Time that one save takes from training: 40s, 5min, 0.1h.")],
    restart_cost: Annotated[
        str, typer.Option(help="From a failure until training goes on: noticing, diagnosis, spares, loading.")
    ] = "0h",
    mtbf: Annotated[
        str | None, typer.Option(help="Mean time between failures of the JOB.", show_default=False)
    ] = None,
    host_mtbf: Annotated[
        str | None,
        typer.Option(help="Mean time between failures of ONE HOST; needs --hosts.", show_default=False),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="A published run's hosts and their rate of failures: opt-175b, llama-3-405b, bloom-176b, "
            "kokolis-rsc-1, kokolis-rsc-2.",
            show_default=False,
        ),
    ] = None,
    hosts: Annotated[
        int | None, typer.Option(help="Hosts of the job; a preset has its own.", show_default=False)
    ] = None,
    interval: Annotated[
        str | None, typer.Option(help="Yours, to compare: the work between two saves.", show_default=False)
    ] = None,
    days: Annotated[
        float | None, typer.Option(help="Days of work in all: says how long they take.", show_default=False)
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the curve into this .png or .svg.", show_default=False)
    ] = None,
) -> None:
    """Say how often to save. Times take a unit: s, min, h or d; a number alone is in hours.

    Exits with 2 where the numbers make no plan.
    """
    job = _job(mtbf, host_mtbf, preset, hosts)
    asked = Asked(
        job=job,
        save=_hours("--save-cost", save_cost),
        restart=_hours("--restart-cost", restart_cost, zero=True),
        interval=None if interval is None else _hours("--interval", interval),
        work=None if days is None else _days(days),
    )
    _refuse_nonsense(asked)
    _check_figure(figure)
    _print(asked)
    if figure is not None:
        from lastgood.commands.plan_curve import draw

        draw(figure, asked.save, job.mtbf, asked.restart, asked.interval)
        typer.echo(f"The curve is in {figure}.")


@dataclass(frozen=True)
class Job:
    """What fails: the mean time between failures of the whole job, hours, and where it comes from."""

    mtbf: float
    source: str


@dataclass(frozen=True)
class Asked:
    """What the plan is for. Hours."""

    job: Job
    save: float
    restart: float
    interval: float | None
    work: float | None


def _job(mtbf: str | None, host_mtbf: str | None, preset: str | None, hosts: int | None) -> Job:
    """The job's MTBF from exactly one of three sources."""
    given = {"--mtbf": mtbf, "--host-mtbf": host_mtbf, "--preset": preset}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        found = f"these are {len(named)}: {', '.join(named)}" if named else "there is none"
        raise typer.BadParameter(
            "how often the job fails takes one of --mtbf (of the job), --host-mtbf (of one host, with "
            f"--hosts) and --preset; {found}.",
            param_hint=" / ".join(named or given),
        )
    if hosts is not None and hosts < 1:
        raise typer.BadParameter(f"{hosts}: a job has at least 1 host.", param_hint="--hosts")
    if mtbf is not None:
        return _of_job(_hours("--mtbf", mtbf), hosts)
    if host_mtbf is not None:
        if hosts is None:
            reason = "a host's MTBF makes a job's only with --hosts. For a job's own give --mtbf."
            raise typer.BadParameter(reason, param_hint="--host-mtbf")
        one = _hours("--host-mtbf", host_mtbf)
        return Job(one / hosts, f"{hosts:,} hosts, each failing once in {_span(one)}")
    return _of_preset(str(preset), hosts)


def _of_job(mtbf: float, hosts: int | None) -> Job:
    if hosts is None:
        return Job(mtbf, "as given")
    return Job(mtbf, f"as given: each of its {hosts:,} hosts fails once in {_span(mtbf * hosts)}")


def _of_preset(name: str, hosts: int | None) -> Job:
    from lastgood.recovery.faults import FaultError, mtbf_hours, preset_named

    try:
        chosen = preset_named(name)
    except FaultError as error:
        raise typer.BadParameter(f"{error}.", param_hint="--preset") from None
    count = chosen.hosts if hosts is None else hosts
    rate = chosen.per_1000_host_days
    words = f"{count:,} hosts at the rate of {name}, {rate:.3g} failures per 1,000 host-days"
    return Job(mtbf_hours(count, rate), f"{words} ({chosen.source})")


def _hours(option: str, text: str, *, zero: bool = False) -> float:
    """Hours from `40s`, `5min`, `0.1h`, `2d` or a bare number of hours."""
    found = re.fullmatch(r"\s*([-+.\deE]+|nan|inf)\s*(s|min|h|d|)\s*", text)
    try:
        value = float(found[1]) * HOURS[found[2] or "h"] if found else math.nan
    except ValueError:
        value = math.nan
    if not found or not math.isfinite(value):
        raise typer.BadParameter(
            f"{text!r} is no time: give a number, and s, min, h or d.", param_hint=option
        )
    if value < 0 or (value == 0 and not zero):
        least = "0 or more" if zero else "more than 0"
        raise typer.BadParameter(f"{text!r}: give {least}.", param_hint=option)
    return value


def _days(days: float) -> float:
    if not 0.0 < days < math.inf:
        raise typer.BadParameter(f"{days:g} days of work: give more than 0.", param_hint="--days")
    return days * HOURS["d"]


def _refuse_nonsense(asked: Asked) -> None:
    """Raise BadParameter for numbers that are times, but make no plan."""
    mtbf = asked.job.mtbf
    for option, what, hours in (
        ("--save-cost", "a save", asked.save),
        ("--restart-cost", "a restart", asked.restart),
    ):
        if hours >= mtbf:
            reason = (
                f"{what} of {_span(hours)} takes longer than the job runs between failures, {_span(mtbf)}."
            )
            raise typer.BadParameter(f"{reason} No interval mends that.", param_hint=option)
    if asked.work is not None and asked.interval is not None and asked.interval > asked.work:
        reason = f"an interval of {_span(asked.interval)} is longer than the run, {_span(asked.work)}."
        raise typer.BadParameter(reason, param_hint="--interval")


def _check_figure(figure: Path | None) -> None:
    if figure is None:
        return
    if figure.suffix not in {".png", ".svg"}:
        raise typer.BadParameter(f"{figure} ends in neither .png nor .svg.", param_hint="--figure")
    if not figure.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {figure.parent}.", param_hint="--figure")


def _print(asked: Asked) -> None:
    from rich.console import Console

    from lastgood.commands.plan_curve import curve
    from lastgood.recovery.interval import flat_range

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"MTBF of the job: {_span(asked.job.mtbf)}, {asked.job.source}.", markup=False)
    restart = (
        f"a restart {_span(asked.restart)}"
        if asked.restart
        else "restarts are left out: give --restart-cost to count them"
    )
    console.print(f"A save costs {_span(asked.save)}, {restart}.\n")
    console.print(_table(asked))
    console.print(
        "Save every: work, without the save. Waste: to first order, where Young has the least.\n"
        "ETTR, work by time, and the last column: by the exact formula."
    )
    low, high = flat_range(asked.save, asked.job.mtbf)
    console.print(f"\nWithin 1 % of the optimum: every interval from {_span(low)} to {_span(high)}.")
    for line in _consequences(asked):
        console.print(line)
    console.print()
    width = min(console.width, 100)
    console.print(curve(asked.save, asked.job.mtbf, asked.restart, asked.interval, width), markup=False)


def _table(asked: Asked) -> Table:
    from rich.table import Table

    from lastgood.recovery.interval import daly, ettr, excess, optimum, waste, young

    save, mtbf = asked.save, asked.job.mtbf
    rows = {
        "Young 1974": young(save, mtbf),
        "Daly 2006": daly(save, mtbf),
        "exact optimum": optimum(save, mtbf),
    }
    if asked.interval is not None:
        rows["yours"] = asked.interval
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("")
    for column in ("save every", "waste", "ETTR", "longer than the optimum"):
        table.add_column(column, justify="right")
    for name, hours in rows.items():
        table.add_row(
            name,
            _span(float(hours)),
            f"{100 * float(waste(hours, save, mtbf, asked.restart)):.2f} %",
            f"{float(ettr(hours, save, mtbf, asked.restart)):.4f}",
            f"{100 * float(excess(hours, save, mtbf)):.3f} %",
        )
    return table


def _consequences(asked: Asked) -> list[str]:
    """What the optimum, or the interval asked for, brings with it."""
    from lastgood.recovery.interval import expected_time, lost_bound, optimum

    save, mtbf = asked.save, asked.job.mtbf
    best = float(optimum(save, mtbf))
    hours = best if asked.interval is None else asked.interval
    whose = "the optimum" if asked.interval is None else "your interval"
    losses = [f"{100 * p:g} % lose at most {_span(float(lost_bound(hours, save, mtbf, p)))}" for p in BOUNDS]
    lines = [f"Of all failures at {whose}, {', '.join(losses)} of work, and none more than {_span(hours)}."]
    if asked.work is None:
        return lines
    if hours > asked.work:
        return [*lines, f"The run, {_span(asked.work)} of work, is shorter than that: save once, at its end."]
    wall = float(expected_time(asked.work, hours, save, mtbf, asked.restart))
    return [
        *lines,
        f"{_span(asked.work)} of work take {_span(wall)} on average: expect {wall / mtbf:.1f} restarts.",
    ]


def _span(hours: float) -> str:
    """A time in the unit that suits it: `40 s`, `12.5 min`, `13.7 h`, `60 d`."""
    for unit in ("d", "h", "min"):
        if hours >= (3 if unit == "d" else 1) * HOURS[unit]:
            value = hours / HOURS[unit]
            return f"{value:,.0f} {unit}" if value >= 1_000 else f"{value:.3g} {unit}"
    return f"{hours / HOURS['s']:.3g} s"
