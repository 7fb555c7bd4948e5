"""A report in a terminal: points, what was hard and why, how the totals lie, who is not done."""

import statistics

from rich.bar import Bar
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.reasons import plain
from autograder.report import Report, histogram
from autograder.results_view import legend, show, table

FEW = 20  # students whose every reason is printed unasked
_BAR = 40  # characters


def show_report(report: Report, console: Console, reasons: bool | None = None) -> None:
    """Print it. `reasons`: why each student lost points; by default where few students are shown."""
    results = report.results
    if results.rows:
        if reasons if reasons is not None else len(results.rows) <= FEW:
            show(results, console)
        else:
            console.print(table(results))
            console.print(legend(results))
        console.print()
        console.print(_hardest(report))
        console.print()
    if report.totals:
        console.print(_distribution(report))
        console.print(Text(summary(report), "dim"))
        console.print()
    for title, lines in to_look_at(report):
        console.print(Text.assemble((f"{title}: {len(lines)}", "bold")))
        for line in lines:
            console.print(Text(f"  {plain(line)}"))


def summary(report: Report) -> str:
    """The middle of the totals, in a sentence."""
    scores = report.scores
    middle, mean = statistics.median(scores), statistics.fmean(scores)
    words = f"{len(scores)} graded, median {middle:.3g}, mean {mean:.3g} of {report.results.worth:g} points"
    late = [total for total in report.totals if total.penalty]
    if late:
        words += f"; late, points off: {', '.join(f'{total.student} {total.penalty:g}' for total in late)}"
    if report.waiting:
        words += "; answers that wait count 0 here"
    return plain(words)


def to_look_at(report: Report) -> list[tuple[str, list[str]]]:
    """Who is not done, and whose files were odd: (title, a line for each) of each list that is not empty."""
    lists = [
        ("handed in nothing", list(report.missing)),
        ("wait for a person", [f"{who}: {', '.join(what)}" for who, what in report.waiting.items()]),
        ("no points", [f"{who}: {why}" for who, why in report.ungraded.items()]),
        ("odd files", [f"{row.student}: {note}" for row in report.results.rows for note in row.notes]),
    ]
    return [(title, lines) for title, lines in lists if lines]


def _hardest(report: Report) -> Table:
    found = Table(
        box=None, padding=(0, 1), header_style="bold", title="hardest exercises first", title_justify="left"
    )
    found.add_column("exercise", no_wrap=True)
    found.add_column("points lost", justify="right")
    found.add_column("students", justify="right")
    found.add_column("most often because")
    for hard in report.hardest:
        why = "\n".join(f"{reason} ({count})" for reason, count in hard.reasons)
        found.add_row(
            Text(f"{hard.exercise.label} {hard.exercise.title}"),
            f"{100 * hard.share:.0f} %" if hard.graded else "-",
            f"{hard.students} of {hard.graded}",
            Text(why),
        )
    return found


def _distribution(report: Report) -> Table:
    bins = histogram(report.scores, report.results.worth)
    most = max(count for _, _, count in bins)
    found = Table(
        box=None, padding=(0, 1), show_header=False, title="totals: points, students", title_justify="left"
    )
    found.add_column(justify="right")
    found.add_column(width=_BAR)
    found.add_column(justify="right")
    for low, high, count in bins:
        found.add_row(f"{low:.3g} to {high:.3g}", Bar(most, 0, count, width=_BAR, color="blue"), f"{count}")
    return found
