"""Results in a terminal: a table of points, and under it why each lost point was lost."""

from collections.abc import Iterator, Mapping

from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.results import Results, Row

WAITS = "…"
_LABELS_WIDTH = 14  # two labels with points a line


def show(results: Results, console: Console, notes: Mapping[str, str] | None = None) -> None:
    """Print the table, its legend, and the reasons. `notes` are words to stand beside students' names."""
    console.print(table(results))
    console.print(legend(results))
    for row in results.rows:
        lost = list(losses(results, row))
        if not lost:
            continue
        note = (notes or {}).get(row.student, "")
        console.print(Text.assemble("\n", (row.student, "bold"), "  ", (note, "italic dim")))
        reasons = Table.grid(padding=(0, 2))
        reasons.add_column(width=_LABELS_WIDTH, style="red")
        reasons.add_column()
        for exercises, why in lost:
            reasons.add_row(exercises, Text(why))
        console.print(Padding(reasons, (0, 0, 0, 2)))


def table(results: Results) -> Table:
    """Students down, exercises across; a full mark is dim, so that what was lost stands out."""
    found = Table(
        box=None, padding=(0, 1), header_style="bold", title=f"{results.lab}: points", title_justify="left"
    )
    found.add_column("student", no_wrap=True)
    for exercise in results.exercises:
        found.add_column(exercise.label, justify="right")
    found.add_column("sum", justify="right")
    for row in results.rows:
        found.add_row(Text(row.student), *_marks(results, row), Text(f"{row.points:g}", "bold"))
    worths = (Text(f"{exercise.worth:g}", "dim") for exercise in results.exercises)
    found.add_row(Text("of", "dim"), *worths, Text(f"{results.worth:g}", "dim"))
    return found


def _marks(results: Results, row: Row) -> Iterator[Text]:
    for exercise in results.exercises:
        mark = row.marks.get(exercise.grade_id)
        if mark is None:
            yield Text("-", "red")
        elif mark.points is None:
            yield Text(WAITS, "yellow")
        else:
            yield Text(f"{mark.points:g}", "bold red" if mark.lost else "dim")


def legend(results: Results) -> Padding:
    """What the columns' labels mean."""
    words = [f"{exercise.label} {exercise.title}" for exercise in results.exercises]
    if any(row.waiting for row in results.rows):
        words.append(f"{WAITS} waits for a person")
    return Padding(Columns([Text(text, "dim") for text in words], padding=(0, 3)), (0, 1))


def losses(results: Results, row: Row) -> Iterator[tuple[str, str]]:
    """(exercises with the points lost there, reason), one for each reason that the student hears."""
    if not row.marks:
        yield "not graded", "nbgrader could not run it"
    said: dict[str, list[str]] = {}
    for exercise in results.exercises:
        mark = row.marks.get(exercise.grade_id)
        if mark is not None and mark.lost:
            said.setdefault(mark.reason, []).append(f"{exercise.label} -{mark.lost:g}")
    for why, exercises in said.items():
        yield ", ".join(exercises), why
