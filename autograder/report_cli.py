"""`autograder report` and `autograder export`: thin shells over their modules."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

Lab = Annotated[str, typer.Argument(help="The lab, such as lab18.")]
Students = Annotated[
    str, typer.Option(help="These students alone, with commas between them; by default everyone.")
]
Root = Annotated[
    Path | None,
    typer.Option(
        help="The course's folder; by default the nearest one, from here up, with nbgrader_config.py."
    ),
]


def register(app: typer.Typer) -> None:
    """Add both commands."""
    app.command()(report)
    app.command()(export)


def report(
    lab: Lab,
    students: Students = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained page to this file.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the distribution of totals as a picture.")] = None,
    reasons: Annotated[
        bool | None,
        typer.Option(
            "--reasons/--no-reasons", help="Why each student lost points; by default up to 20 students."
        ),
    ] = None,
    root: Root = None,
) -> None:
    """Show a graded lab: points, why they were lost, what was hard, how totals lie, and who is not done."""
    from autograder import report_page as pages
    from autograder import report_view as view
    from autograder.cli import console, course_root, fail
    from autograder.course import Course, CourseError
    from autograder.export.errors import ExportError
    from autograder.export.files import replace
    from autograder.report import ReportError, as_json_data, read_report
    from autograder.results import ResultsError

    try:
        course = Course(course_root(root))
        with Console(stderr=True).status(
            f"reading {escape(lab)} …"
        ):  # 500 notebooks take a quarter of a minute
            found = read_report(course, lab, _names(students))
        for path, draw in ((html, pages.page), (svg, pages.picture)):
            if path is not None:
                replace(path, draw(found).encode())
    except (CourseError, ExportError, ReportError, ResultsError) as error:
        fail(f"no report of {lab}", str(error).splitlines())
    if as_json:
        typer.echo(json.dumps(as_json_data(found), indent=1))
        return
    view.show_report(found, Console(), reasons)
    for path in filter(None, (html, svg)):
        console.print(f"[green]✓[/] {escape(str(path))}, readable by you alone")


def export(
    lab: Lab,
    name: Annotated[str, typer.Option("--format", help="canvas, moodle or csv.")],
    to: Annotated[
        str, typer.Option(help="The file; by default LAB-canvas.csv, LAB-moodle.csv or LAB-grades.csv.")
    ] = "",
    students: Students = "",
    partial: Annotated[
        bool, typer.Option("--partial", help="Export although some scores are not final; they are listed.")
    ] = False,
    missing: Annotated[
        str | None, typer.Option(help="What stands for nothing handed in: empty (the default) or zero.")
    ] = None,
    id_is: Annotated[
        str | None,
        typer.Option(
            help="What identifies students there. Canvas: login or sis. Moodle: username, idnumber or email."
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="The column's heading; for Canvas 'Title (number)', as it exports it.")
    ] = None,
    raw_ids: Annotated[
        bool, typer.Option("--raw-ids", help="Write ids that a spreadsheet would take for formulas.")
    ] = False,
    semicolons: Annotated[
        bool | None, typer.Option("--semicolons", help="csv: `;` between cells, and decimal commas.")
    ] = None,
    root: Root = None,
) -> None:
    """Write a lab's scores as a file that Canvas or Moodle imports as it is, or for a spreadsheet."""
    from autograder.cli import console, course_root, fail
    from autograder.course import Course, CourseError
    from autograder.export import formats
    from autograder.export.errors import ExportError
    from autograder.reasons import plain

    try:
        done = formats.export(
            Course(course_root(root)),
            lab,
            name,
            to=to,
            students=_names(students),
            partial=partial,
            missing=missing,
            id_is=id_is,
            column={lab: column} if column else None,
            raw_ids=raw_ids,
            semicolons=semicolons,
        )
    except (CourseError, ExportError) as error:
        fail(f"{lab} is not exported", [plain(line) for line in str(error).splitlines()])
    console.print(f"[green]✓[/] {escape(str(done.path))}: {done.students} students, readable by you alone")
    for remark in done.remarks:
        console.print(f"  {escape(plain(remark))}", highlight=False)


def _names(students: str) -> list[str]:
    return [name.strip() for name in students.split(",") if name.strip()]
