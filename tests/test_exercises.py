"""The exercises of the labs, as their notebooks tell them."""

import json

import pytest

from lastgood.exercises import ExerciseError, exercises, find, solution
from lastgood.workspace import labs


@pytest.fixture(scope="module")
def lab18(repository):
    return exercises(repository, "lab18")


def marked(repository, lab):
    cells = json.loads((repository / "labs" / lab / f"{lab}.ipynb").read_text())["cells"]
    return [cell["metadata"]["nbgrader"] for cell in cells if "nbgrader" in cell["metadata"]]


def test_every_cell_that_nbgrader_knows_belongs_to_one_exercise_and_points_to_its_last_cell(repository):
    for lab in labs(repository):
        found, known = exercises(repository, lab), marked(repository, lab)
        assert [name for exercise in found for name in exercise.cells] == [mark["grade_id"] for mark in known]
        graded = [mark["grade_id"] for mark in known if mark["grade"]]
        assert [exercise.graded for exercise in found] == graded


def test_every_exercise_says_what_is_asked_and_is_found_by_what_is_listed_for_it(repository):
    for lab in labs(repository):
        found = exercises(repository, lab)
        for exercise in found:
            assert exercise.task
            assert "<details>" not in exercise.task
            for name in (exercise.part, exercise.name, *exercise.functions, *exercise.cells):
                assert find(found, name, lab) == exercise


def test_every_hint_of_a_lab_belongs_to_an_exercise(repository):
    for lab in labs(repository):
        text = (repository / "labs" / lab / f"{lab}.ipynb").read_text()
        hints = {hint for exercise in exercises(repository, lab) for hint in exercise.hints}
        assert len(hints) == text.count("<summary>Hint")
        assert all(hint.text for hint in hints)


def test_hints_come_in_the_labs_order(lab18):
    [save] = [exercise for exercise in lab18 if exercise.name == "save"]
    assert [hint.title[:6] for hint in save.hints] == ["Hint 1", "Hint 2", "Hint 3"]
    assert save.hints[0].text.startswith("As long as the new file is being written")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("causal_mask", "A1"),
        ("causal-mask", "A1"),
        ("Causal mask", "A1"),
        ("`causal_mask()`", "A1"),
        ("check.causal_mask(causal_mask)", "A1"),
        ("check-causal-mask", "A1"),
        ("next", "A2"),
        ("B", "B1"),
        ("restore", "B1"),
        ("c1", "C1"),
        ("A save that a kill cannot tear", "C1"),
        ("symptom", "D4"),
        ("Question 2", "D6"),
        ("how-many", "D6"),
    ],
)
def test_an_exercise_is_found_by_what_a_learner_would_type(lab18, typed, meant):
    assert find(lab18, typed, "lab18").part == meant


@pytest.mark.parametrize(
    ("typed", "said", "listed"),
    [
        ("causal_maks", "no exercise 'causal_maks'. Did you mean causal_mask?", 10),
        ("zebra", "no exercise 'zebra'. Its exercises:", 10),
        ("", "no exercise ''", 10),
        ("Z9", "no exercise 'Z9'", 10),
        ("D", "several exercises of lab 18:", 6),
        ("how", "several exercises of lab 18:", 3),
    ],
)
def test_what_means_none_or_several_lists_what_there_is(lab18, typed, said, listed):
    with pytest.raises(ExerciseError) as error:
        find(lab18, typed, "lab18")
    first, *lines = str(error.value).splitlines()
    assert said in first
    assert len(lines) == listed


def test_every_exercise_has_a_solution_without_the_marks_around_it(repository):
    for lab in labs(repository):
        for exercise in exercises(repository, lab):
            found = solution(repository, lab, exercise)
            assert [kind for kind, _ in found.cells] == ["code" if exercise.functions else "markdown"]
            assert all(text and "SOLUTION" not in text for _, text in found.cells)
            assert bool(found.marking) is not bool(exercise.functions)


def test_a_marking_scheme_ends_where_the_next_question_begins(repository, lab18):
    found = solution(repository, "lab18", find(lab18, "looks-fine", "lab18"))
    assert found.marking.startswith("*A point each: what such a curve shows")
    assert found.marking.endswith("a test that would\ntell.*")


def test_a_course_without_solutions_says_so(course):
    [exercise] = exercises(course, "lab18")
    with pytest.raises(
        ExerciseError, match=r"no solution of lab18: solutions/lab18/lab18\.ipynb is not there"
    ):
        solution(course, "lab18", exercise)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"cells": 3}', '{"cells": [1]}'])
def test_a_lab_that_cannot_be_read_is_named(course, content):
    (course / "labs/lab18/lab18.ipynb").write_text(content)
    with pytest.raises(ExerciseError, match=r"lab18\.ipynb cannot be read as a notebook"):
        exercises(course, "lab18")
