"""A made-up class of lab 18, from release to feedback, and a proof that its grades are right.

Everything stands in a folder of its own, which is a course as nbgrader knows it: the course's settings, the
master, the release, submissions, gradebook, feedback. The instructor's own class is never touched.
"""

import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import nbformat
from rich.console import Console

from autograder.course import CONFIG, LOGS, Course
from autograder.mutants import master_text
from autograder.notebooks import master_notebook, to_bytes
from autograder.results import Results, read_results
from autograder.results_view import show
from autograder.runner.places import place
from autograder.runner.run import Wish, grade
from autograder.runner.screen import show as show_progress
from autograder.sample_class import Student, hand_in, lab18_class, submission
from autograder.sandbox.ready import require_sandbox
from autograder.sandbox.settings import Sandbox

LAB = "lab18"
MARK = ".lastgood-demo"  # a folder that holds this file may be deleted
CSV = "grades.csv"
JOBS = 2
CELL_TIMEOUT = 30  # seconds; the endless student's wait. A healthy cell takes under 10 on a busy laptop
_SETTINGS = """
# --- the sample class -------------------------------------------------------------------------------------
c.Execute.timeout = {timeout}
"""


class DemoError(Exception):
    """The demo cannot start; the message says what is in the way."""


def run(
    root: Path,
    folder: Path,
    console: Console,
    *,
    students: Sequence[Student] | None = None,
    jobs: int = JOBS,
    cell_timeout: int = CELL_TIMEOUT,
    unsafe: bool = False,
) -> list[str]:
    """Make, grade and show the class; returns a line for each grade that is not what it should be.

    `root` is the course's, `folder` the demo's: it is emptied first. `jobs` submissions are graded at once;
    each keeps one core busy, at times two. `cell_timeout` is in seconds. `unsafe` runs the notebooks
    without the sandbox. Raises DemoError, CourseError, SandboxError, VariantError and SampleError.
    """
    began = time.monotonic()
    students = lab18_class() if students is None else students
    _leave_alone(folder)
    if not (unsafe or Sandbox(config=Course(root).config).unsafe):
        require_sandbox()
    course = prepare(root, folder, students, cell_timeout, unsafe=unsafe)
    unsafe = Sandbox(config=course.config).unsafe
    kernel = "kernel WITHOUT a sandbox" if unsafe else "sandboxed kernel"
    console.print(
        f"{len(students)} submissions of {LAB} stand in {_shown(folder)}. Each is run in a fresh {kernel}."
    )
    names = [student.name for student in students]
    faults = _grade(course, names, jobs, console)
    course.export_csv(LAB, folder / CSV, folder / LOGS / "export.log")
    results = read_results(course, LAB, names)
    console.print()
    show(results, console, {s.name: f"“{s.variant.says}”" for s in students if s.variant})
    _say_where(folder, console, time.monotonic() - began)
    return list(differences(results, students, faults))


def prepare(
    root: Path,
    folder: Path,
    students: Sequence[Student],
    cell_timeout: int = CELL_TIMEOUT,
    *,
    unsafe: bool = False,
) -> Course:
    """Make the demo's course: settings, master, release, submissions. An earlier demo there is deleted."""
    _clear(folder)
    settings = (root / CONFIG).read_text(encoding="utf-8") + _SETTINGS.format(timeout=cell_timeout)
    settings += "c.Sandbox.unsafe = True\n" if unsafe else ""
    (folder / CONFIG).write_text(settings, encoding="utf-8")
    course = Course(folder)
    master = master_text(root, LAB)
    source = course.folder("source", LAB)
    source.mkdir(parents=True)
    (source / f"{LAB}.ipynb").write_bytes(to_bytes(master_notebook(master)))
    course.generate_assignment(LAB, folder / LOGS / "release.log")
    released = nbformat.read(course.folder("release", LAB) / f"{LAB}.ipynb", as_version=4)
    now = datetime.now(UTC)
    for number, student in enumerate(students):
        handed_in = submission(released, master, student)
        hand_in(
            course.folder("submitted", LAB, student.name).parent,
            LAB,
            handed_in,
            now - timedelta(minutes=number),
        )
    return course


def open_formgrader(folder: Path) -> NoReturn:
    """Become a JupyterLab with the Formgrader on the demo's class. Raises DemoError where there is none."""
    from lastgood.server.launch import Launch, can_open_browser

    if not (folder / MARK).is_file():
        raise DemoError(f"there is no sample class in {folder}: run `autograder demo` first")
    launch = Launch(folder, instructor=True, browser=can_open_browser())
    os.chdir(folder)  # nbgrader reads its settings from the current folder
    command = launch.command()
    os.execve(command[0], command, launch.environment(os.environ))


def differences(results: Results, students: Sequence[Student], faults: Mapping[str, str]) -> Iterator[str]:
    """A line for each mark that is not what the variant declares. `faults`: who was not graded, and why."""
    rows = {row.student: row for row in results.rows}
    for student in students:
        marks = rows[student.name].marks
        if not marks:
            yield f"{student.name}: not graded. {faults.get(student.name, '')}"
            continue
        for exercise in results.exercises:
            mark = marks[exercise.grade_id]
            if exercise.by_person:
                expected = None if student.answers else 0.0
            elif student.loses is None:
                expected = 0.0
            else:
                expected = exercise.worth - student.loses.get(exercise.grade_id, 0.0)
            if mark.points != expected:
                got, wanted = (
                    "waits for a person" if p is None else f"{p:g}" for p in (mark.points, expected)
                )
                why = f"\n  {mark.reason}" if mark.reason else ""
                yield f"{student.name}: {exercise.label} {exercise.title}: {got}, expected {wanted}{why}"


def _grade(course: Course, students: Sequence[str], jobs: int, console: Console) -> dict[str, str]:
    """Grade, with feedback; who could not be graded, and why."""
    wish = Wish(tuple(students), feedback=True)
    with place(course, LAB, jobs) as workers, closing(grade(course, LAB, workers, wish)) as events:
        return {done.student: done.fault for done in show_progress(events, console) if done.fault}


def _say_where(folder: Path, console: Console, seconds: float) -> None:
    shown = _shown(folder)
    console.print(f"\nGraded in {seconds:.0f} s. In {shown}:")
    console.print(f"  feedback/STUDENT/{LAB}/{LAB}.html   what each student gets to read")
    console.print(f"  {CSV}                          the points, as nbgrader exports them")
    console.print("  submitted/, autograded/, gradebook.db, logs/")
    option = "" if folder.name == "demo" else f" --folder {shown}"
    console.print(f"To grade the written answers by hand: autograder demo --formgrader{option}\n")


def _leave_alone(folder: Path) -> None:
    """Raise DemoError where the folder holds what no demo has made."""
    if folder.exists() and not folder.is_dir():
        raise DemoError(f"{folder} is a file; name a folder that is not there yet")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise DemoError(f"{folder} is not empty and no demo made it; name a folder that is not there yet")


def _clear(folder: Path) -> None:
    """Make the folder, empty. Raises DemoError where it holds what no demo has made."""
    _leave_alone(folder)
    if folder.is_dir():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARK).write_text("`autograder demo` made this folder and deletes it when it runs again.\n")


def _shown(folder: Path) -> str:
    """The folder as one would type it from here."""
    here = Path.cwd()
    return f"{folder.relative_to(here)}/" if folder.is_relative_to(here) else f"{folder}/"
