"""A graded lab as an instructor reads it: who has what, what was hard, and who is not done.

Built on `results`, which reads points and reasons, and on the gradebook for what no notebook shows: late
penalties, and answers that a person has to look at again. Nothing here writes.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.course import Course
from autograder.export.book import Book, read_book, read_people
from autograder.reasons import plain
from autograder.results import Exercise, Mark, Results, Row, read_results

BINS = 10
TOP_REASONS = 3
NOT_BEGUN = "handed in, not graded yet"
FAILED = "could not be graded: `autograder grade` says why"


class ReportError(Exception):
    """There is nothing to report; the message says why."""


@dataclass(frozen=True)
class Hard:
    """How an exercise went among those who were graded: `share` is of its points, lost by all together."""

    exercise: Exercise
    share: float
    students: int  # who lost points here
    graded: int
    reasons: tuple[tuple[str, int], ...]  # the most frequent ones, and how many students heard each


@dataclass(frozen=True)
class Total:
    """A student's sum: points, what being late took off, and what counts."""

    student: str
    points: float
    penalty: float

    @property
    def score(self) -> float:
        return max(0.0, self.points - self.penalty)


@dataclass(frozen=True)
class Report:
    """A lab's results, and the lists of those who are not done."""

    results: Results
    totals: tuple[Total, ...]  # of those who were graded
    hardest: tuple[Hard, ...]
    missing: tuple[str, ...]  # students of the gradebook who handed in nothing
    waiting: dict[str, tuple[str, ...]]  # student -> titles of answers that wait for a person
    ungraded: dict[str, str]  # student -> why there are no points

    @property
    def scores(self) -> list[float]:
        return [total.score for total in self.totals]


def read_report(course: Course, lab: str, students: Sequence[str] = ()) -> Report:
    """The report of `lab`, of `students` or of all.

    Raises ReportError, ResultsError where the lab was never released, ExportError where the gradebook does
    not know it.
    """
    handed_in = course.students(lab)
    with course.gradebook() as gradebook:
        people = read_people(gradebook)
        book = read_book(gradebook, lab, people)
    known = {*handed_in, *(person.id for person in people)}
    if unknown := sorted(set(students) - known):
        names = ", ".join(map(repr, unknown))
        raise ReportError(f"{names}: neither in the gradebook nor among those who handed in {lab}")
    wanted = sorted(set(students) or known)
    present = [name for name in wanted if name in handed_in]
    missing = tuple(name for name in wanted if name not in handed_in)
    if not wanted:
        raise ReportError(f"nobody is in the gradebook and nobody handed in {lab}: nothing to report")
    results = read_results(course, lab, present) if present else _nobody(course, lab)
    return Report(
        results,
        _totals(results, book),
        hardest(results),
        missing,
        _waiting(results, book),
        {row.student: _why(row, book) for row in results.rows if not row.marks},
    )


def hardest(results: Results) -> tuple[Hard, ...]:
    """The exercises by the share of their points that was lost, the highest first.

    Answers that wait for a person count for nothing yet.
    """
    found = []
    for exercise in results.exercises:
        marks = [row.marks[exercise.grade_id] for row in results.rows if exercise.grade_id in row.marks]
        graded = [mark for mark in marks if mark.points is not None]
        lost = [mark for mark in graded if _lost(mark)]
        share = sum(map(_lost, lost)) / (exercise.worth * len(graded)) if graded else 0.0
        reasons = Counter(_first_line(mark.reason) for mark in lost if mark.reason)
        found.append(Hard(exercise, share, len(lost), len(graded), tuple(reasons.most_common(TOP_REASONS))))
    return tuple(sorted(found, key=lambda hard: -hard.share))


def histogram(scores: Sequence[float], worth: float) -> list[tuple[float, float, int]]:
    """(from, to, students) of equal bins over 0..worth; each holds its lower end, the last its upper one too.

    A score above `worth`, by extra credit, stands in the last bin.
    """
    bins = min(BINS, max(1, round(worth)))
    counts = Counter(min(bins - 1, int(score * bins / worth)) if worth else 0 for score in scores)
    return [(worth * n / bins, worth * (n + 1) / bins, counts[n]) for n in range(bins)]


def as_json_data(report: Report) -> dict[str, Any]:
    """The report as plain data, for `--json`."""
    results = report.results
    totals = {total.student: total for total in report.totals}
    return {
        "lab": results.lab,
        "worth": results.worth,
        "exercises": [vars(exercise) for exercise in results.exercises],
        "students": [
            {
                "student": row.student,
                "marks": {name: vars(mark) for name, mark in row.marks.items()},
                "points": totals[row.student].points if row.marks else None,
                "penalty": totals[row.student].penalty if row.marks else None,
                "score": totals[row.student].score if row.marks else None,
                "notes": list(row.notes),
            }
            for row in results.rows
        ],
        "hardest": [
            {
                "exercise": hard.exercise.grade_id,
                "share_lost": hard.share,
                "students": hard.students,
                "graded": hard.graded,
                "reasons": [{"reason": why, "students": count} for why, count in hard.reasons],
            }
            for hard in report.hardest
        ],
        "distribution": [
            {"from": low, "to": high, "students": count}
            for low, high, count in histogram(report.scores, results.worth)
        ],
        "missing": list(report.missing),
        "waiting": {student: list(titles) for student, titles in report.waiting.items()},
        "not_graded": report.ungraded,
    }


def _lost(mark: Mark) -> float:
    return max(0.0, mark.lost)  # extra credit loses nothing


def _first_line(text: str) -> str:
    return plain(text).strip().partition("\n")[0]


def _totals(results: Results, book: Book) -> tuple[Total, ...]:
    works = book.works
    return tuple(
        Total(row.student, row.points, work.penalty if (work := works.get(row.student)) else 0.0)
        for row in results.rows
        if row.marks
    )


def _waiting(results: Results, book: Book) -> dict[str, tuple[str, ...]]:
    found = {}
    for row in results.rows:
        work = book.works.get(row.student)
        again = set(work.again) if work and row.marks else set()
        titles = [
            f"{exercise.label} {exercise.title}" + (" (again)" if exercise.grade_id in again else "")
            for exercise in results.exercises
            if exercise.grade_id in again
            or ((mark := row.marks.get(exercise.grade_id)) is not None and mark.points is None)
        ]
        if titles:
            found[row.student] = tuple(titles)
    return found


def _why(row: Row, book: Book) -> str:
    return FAILED if book.works.get(row.student) else NOT_BEGUN


def _nobody(course: Course, lab: str) -> Results:
    """The lab without rows: `read_results` takes no students for all of them."""
    return Results(lab, read_results(course, lab, ()).exercises, ())
