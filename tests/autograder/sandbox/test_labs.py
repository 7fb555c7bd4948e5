"""The course's own labs behind walls: the master earns all that a check gives, the release nothing."""

from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest

from autograder.course import CONFIG, Course
from autograder.mutants import Variant, labs, master_text
from autograder.notebooks import master_notebook, to_bytes
from autograder.results import read_results
from autograder.sample_class import BLANK, RIGHT, Student, hand_in, submission

ROOT = Path(__file__).resolve().parents[3]
MASTER = Student(RIGHT, Variant(RIGHT, "the master's own code", ()), {})


@pytest.mark.slow
@pytest.mark.needs_bwrap
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own, in this process
@pytest.mark.parametrize("lab", labs())
def test_the_master_earns_all_points_that_checks_give_and_the_release_none(lab: str, tmp_path: Path) -> None:
    course = Course(tmp_path)
    settings = (ROOT / CONFIG).read_text(encoding="utf-8")
    (tmp_path / CONFIG).write_text(settings + "\nc.Execute.timeout = 120  # on a busy machine\n")
    master, log = master_text(ROOT, lab), tmp_path / "log"
    source = course.folder("source", lab) / f"{lab}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(to_bytes(master_notebook(master)))
    course.generate_assignment(lab, log)
    released = nbformat.read(course.folder("release", lab) / f"{lab}.ipynb", as_version=4)
    for student in (MASTER, Student(BLANK, None, None)):
        handed_in = submission(released, master, student)
        hand_in(course.folder("submitted", lab, student.name).parent, lab, handed_in, datetime.now(UTC))
        course.autograde(lab, student.name, log)
    results = read_results(course, lab, [RIGHT, BLANK])
    right, blank = results.rows
    automatic = [exercise for exercise in results.exercises if not exercise.by_person]
    lost = {e.grade_id: right.marks[e.grade_id].reason for e in automatic if right.marks[e.grade_id].lost}
    assert lost == {}
    assert blank.points == 0
