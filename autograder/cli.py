"""`autograder …`: the instructor's commands. Each command is a thin shell over a module of this package."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from autograder import grade_cli, report_cli

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
grade_cli.register(app)
report_cli.register(app)
console = Console(soft_wrap=True)

Root = Annotated[
    Path | None,
    typer.Option(
        help="The course's folder; by default the nearest one, from here up, with nbgrader_config.py."
    ),
]


@app.callback()
def main() -> None:
    """Build, grade and prove the labs of this course."""


@app.command()
def build(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail on any difference.")] = False,
    root: Root = None,
) -> None:
    """Derive every notebook from its text twin: lessons, masters, and the labs that are released."""
    from autograder import build as notebooks  # nbgrader and jupytext take a second: not for `--help`

    course = course_root(root)
    try:
        if check:
            drifted = notebooks.check(course)
        else:
            changed = notebooks.build(course)
    except notebooks.BuildError as error:
        fail(error.path.as_posix(), error.faults)
    if check and drifted:
        fail(f"{len(drifted)} out of step", drifted)
    if check:
        console.print("[green]✓[/] every notebook is what its text twin makes")
        return
    for path in changed:
        console.print(f"[green]✓[/] {escape(path.as_posix())}")
    console.print(f"{len(changed)} written" if changed else "nothing to do: every notebook is up to date")


@app.command()
def demo(
    folder: Annotated[
        Path | None, typer.Option(help="Where the class is made; by default demo/ in the course's folder.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="How many submissions are graded at once.")] = 2,
    cell_timeout: Annotated[
        int, typer.Option(min=5, help="Seconds after which a cell is stopped; more on a very busy machine.")
    ] = 30,
    formgrader: Annotated[
        bool,
        typer.Option("--formgrader", help="Grade nothing: open the Formgrader on the class that is there."),
    ] = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Run the notebooks without the sandbox; each report says so.")
    ] = False,
    root: Root = None,
) -> None:
    """Grade a made-up class of lab 18 from release to feedback, and prove that every grade is right."""
    from autograder import demo as sample
    from autograder.course import CourseError
    from autograder.mutants import VariantError
    from autograder.results import ResultsError
    from autograder.sample_class import SampleError
    from autograder.sandbox.ready import SandboxError

    course = course_root(root)
    place = course / "demo" if folder is None else folder.resolve()
    try:
        if formgrader:
            sample.open_formgrader(place)
        wrong = sample.run(course, place, Console(), jobs=jobs, cell_timeout=cell_timeout, unsafe=unsafe)
    except (sample.DemoError, CourseError, ResultsError, SampleError, SandboxError, VariantError) as error:
        fail("demo", str(error).splitlines())
    if wrong:
        fail(
            "these grades are not what they should be", [line for text in wrong for line in text.splitlines()]
        )
    console.print("[green]✓[/] every grade is what it should be")


@app.command()
def doctor(root: Root = None) -> None:
    """Try to cross each wall of the sandbox that notebooks are graded in, and say which ones held."""
    from autograder.course import Course, CourseError
    from autograder.sandbox.doctor import examine
    from autograder.sandbox.ready import SandboxError

    course = course_root(root)
    broken = []
    try:
        for wall in examine(course, Course(course).config):
            mark = "[green]✓ held    [/]" if wall.held else "[red]✗ NOT held[/]"
            console.print(f"{mark} {wall.name:<18} {escape(wall.saw)}", highlight=False)
            if not wall.held:
                broken.append(wall.name)
    except CourseError as error:
        fail("doctor", str(error).splitlines())
    except SandboxError as error:
        fail("there is no sandbox on this machine", str(error).splitlines())
    if broken:
        fail("grade nobody whom you do not trust", [f"these walls did not hold: {', '.join(broken)}"])
    console.print("[green]✓[/] every wall held")


@app.command()
def mutants(
    lab: Annotated[str, typer.Argument(help="The lab, such as lab18.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="Variants, or `master`; without any, their names are listed.")
    ] = None,
    root: Root = None,
) -> None:
    """Run variants of a lab's master, and show the reports that a learner would read."""
    from autograder.mutants import VariantError, gallery

    try:
        if not names:
            for variant in gallery.named(lab).values():
                console.print(escape(f"{variant.name:<34} {variant.says}"))
        for name in names or ():
            outcome = gallery.outcome(course_root(root), lab, name)
            mark = "[green]✓[/]" if outcome.as_declared else "[red]✗ not what it declares[/]"
            console.print(f"{mark} {escape(name)}: {escape(outcome.says)}\n")
            for report in outcome.reports.values():
                console.print(escape(report.text()) + "\n", highlight=False)
    except VariantError as error:
        fail(lab, str(error).splitlines())


def course_root(given: Path | None) -> Path:
    """The folder a command works in; ends the program with a plain message where there is none."""
    if given is not None:
        return given.resolve()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "nbgrader_config.py").is_file():
            return folder
    fail("no course here", [f"neither {here} nor a folder above it has nbgrader_config.py; give --root"])


def fail(title: str, lines: list[str]) -> NoReturn:
    """Print what is wrong, one line each, and end with exit status 1."""
    console.print(f"[red]✗[/] {escape(title)}")
    for line in lines:
        console.print(f"  {escape(line)}")
    raise typer.Exit(1)
