"""What is kept: lessons read, reps ticked, points of a lab."""

import json

import pytest

from lastgood.teaching.study import record
from lastgood.teaching.study.outline import Rep
from lastgood.teaching.study.record import Points, keep_points, mark_read, mark_rep, so_far

REP = Rep("Measure it. Twice.")


def test_at_first_there_is_nothing():
    progress = so_far()
    assert (progress.read, progress.ticked, progress.points, progress.notes) == (frozenset(), {}, {}, ())


@pytest.mark.parametrize("done", [True, False])
def test_what_is_marked_can_be_taken_back(done):
    for value in (True, done):
        mark_read("18", value)
        mark_rep("18", REP, value)
    progress = so_far()
    assert progress.read == ({"18"} if done else frozenset())
    assert progress.ticked["18"] == ({REP.key} if done else frozenset())


def test_lessons_and_reps_do_not_disturb_each_other(home):
    mark_rep("18", REP, True)
    mark_read("18", True)
    mark_rep("20", REP, True)
    kept = json.loads((home / "progress.json").read_text())["lessons"]
    assert kept["18"].keys() == {"read", "reps"}
    assert kept["18"]["reps"][REP.key]["text"] == "Measure it."
    assert so_far().ticked.keys() == {"18", "20"}


def test_a_labs_points_are_those_of_its_last_validation(home):
    keep_points("lab18", {"mask": Points(2, 2), "loss": Points(2, 2)})
    keep_points("lab18", {"mask": Points(0.1 + 0.2, 2), "loss": Points(2, 2)})
    assert str(so_far().points["lab18"]) == "2.3 of 4 points"
    kept = json.loads((home / "progress.json").read_text())["labs"]["lab18"]
    assert kept["exercises"] == {"mask": {"earned": 0.3, "possible": 2}, "loss": {"earned": 2, "possible": 2}}
    assert (kept["earned"], kept["possible"]) == (2.3, 4)


def test_what_a_newer_course_may_keep_of_a_lab_or_a_lesson_stays(home):
    home.mkdir(parents=True)
    lab = {"validated": "", "earned": 1, "possible": 2, "best": 2}
    content = {"version": 1, "lessons": {"18": {"mood": "good"}}, "labs": {"lab18": lab}}
    (home / "progress.json").write_text(json.dumps(content))
    keep_points("lab18", {"mask": Points(2, 2)})
    mark_read("18", True)
    kept = json.loads((home / "progress.json").read_text())
    assert kept["labs"]["lab18"]["best"] == 2
    assert kept["lessons"]["18"]["mood"] == "good"


def test_a_damaged_file_is_told(home):
    home.mkdir(parents=True)
    (home / "progress.json").write_text("{")
    assert "set aside" in record.so_far().notes[0]
