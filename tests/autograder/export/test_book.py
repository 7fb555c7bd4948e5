"""The gradebook read for an export: scores, what is missing, what is not final."""

from collections.abc import Callable
from typing import Any

import pytest

from autograder.export.book import Person, read_book, read_people, unfinished
from autograder.export.errors import ExportError

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
Enrol = Callable[..., None]


def test_a_score_is_nbgraders_after_the_penalty_and_never_negative(gradebook: Any, enrol: Enrol) -> None:
    enrol("ada", 10, 2, penalty=4)
    enrol("bob", 1, 0, penalty=4)
    book = read_book(gradebook, "lab18", read_people(gradebook))
    assert book.worth == 13
    scores = {student: work and (work.raw, work.penalty, work.score) for student, work in book.works.items()}
    assert scores == {"ada": (12, 4, 8), "bob": (1, 4, 0)}
    assert list(unfinished(book)) == []


def test_extra_credit_counts_as_nbgrader_counts_it(gradebook: Any, enrol: Enrol) -> None:
    enrol("ada", 10, 3)
    gradebook.find_grade("why", "lab18", "lab18", "ada").extra_credit = 2
    gradebook.db.commit()
    work = read_book(gradebook, "lab18", read_people(gradebook)).works["ada"]
    assert work is not None
    assert work.score == 15


@pytest.mark.parametrize(
    ("points", "again", "said"),
    [
        ((10, None), False, "waits for a person: why"),
        ((None, 3), False, "could not be graded"),
        ((None, None), False, "could not be graded"),
        ((10, 3), True, "look once more: why"),
    ],
)
def test_what_is_not_final_is_told_apart(
    gradebook: Any, enrol: Enrol, points: tuple[float | None, ...], again: bool, said: str
) -> None:
    enrol("ada", *points, again=again)
    enrol("bob", 10, 3)
    enrol("cy", handed_in=False)
    book = read_book(gradebook, "lab18", read_people(gradebook))
    assert {student for student, _ in unfinished(book)} == {"ada"}
    assert said in dict(unfinished(book))["ada"] or said in " ".join(what for _, what in unfinished(book))


def test_fields_that_nbgrader_does_not_know_are_empty(gradebook: Any, enrol: Enrol) -> None:
    enrol("ada", first_name="Ada", lms_user_id="7")
    enrol("bob")
    assert read_people(gradebook) == [Person("ada", "Ada", "", "", "7"), Person("bob", "", "", "", "")]
    assert [person.name for person in read_people(gradebook)] == ["Ada", ""]


def test_unknown_students_and_labs_are_errors_that_say_what_to_do(gradebook: Any, enrol: Enrol) -> None:
    enrol("ada")
    with pytest.raises(ExportError, match="'zoe'; `nbgrader db student list`"):
        read_people(gradebook, ["ada", "zoe"])
    with pytest.raises(ExportError, match="nbgrader generate_assignment lab99"):
        read_book(gradebook, "lab99", [])
