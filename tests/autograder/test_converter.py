"""Every command and button of nbgrader's that autogrades does it by this course's class."""

from pathlib import Path

import nbgrader.apps.api
import nbgrader.apps.autogradeapp
import nbgrader.converters
import pytest
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.converter import Autograde, adopt
from autograder.intake import Taken
from autograder.intake.released import Marked, released

PLACES = (nbgrader.apps.api, nbgrader.apps.autogradeapp, nbgrader.converters)


def test_nbgraders_command_and_the_formgrader_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in PLACES:
        monkeypatch.setattr(module, "Autograde", module.Autograde)  # put back afterwards
    monkeypatch.setattr(CourseDirectory, "get_existing_timestamp", CourseDirectory.get_existing_timestamp)
    for _ in range(2):
        adopt()
        assert [module.Autograde for module in PLACES] == [Autograde] * len(PLACES)


class TestATask:
    """nbgrader gives it 0 where its file is not there by that name, and never looks at it again."""

    pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own

    @pytest.fixture
    def converter(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Autograde:
        # nbgrader starts a process of seconds to ask for a number that nobody reads here.
        monkeypatch.setattr("nbgrader.api.get_alembic_version", lambda: "0")
        url = f"sqlite:///{tmp_path / 'gradebook.db'}"
        with Gradebook(url, "course") as gradebook:
            gradebook.add_assignment("lab")
            gradebook.add_notebook("lab", "lab")
            gradebook.add_task_cell("essay", "lab", "lab", max_score=4, cell_type="markdown")
            gradebook.add_student("ada")
            gradebook.add_submission("lab", "ada")
        where = {"root": str(tmp_path), "db_url": url, "course_id": "course"}
        return Autograde(coursedir=CourseDirectory(config=Config({"CourseDirectory": where})))

    @pytest.mark.parametrize(("handed_in", "waits"), [(True, (None, True)), (False, (0.0, False))])
    def test_waits_for_a_person_if_it_was_handed_in(
        self, handed_in: bool, waits: tuple[float | None, bool], converter: Autograde
    ) -> None:
        self.mark(converter, 0.0, needs_manual_grade=False)
        mark = Marked("essay", "markdown", "", "", locked=True, task=True, points=4)
        converter._expected = {"lab": released("lab", None, {"essay": mark})}
        converter._taken = {"lab": Taken(new_notebook(), (), handed_in)}
        converter._let_tasks_wait("lab", "ada")
        assert self.marked(converter) == waits

    def test_of_a_notebook_that_cannot_be_read_has_no_points(self, converter: Autograde) -> None:
        self.mark(converter, None, needs_manual_grade=True)
        converter._give_no_points(f"{converter.coursedir.root}/submitted/ada/lab/lab.ipynb")
        assert self.marked(converter) == (0.0, False)

    @staticmethod
    def mark(converter: Autograde, points: float | None, *, needs_manual_grade: bool) -> None:
        with Gradebook(converter.coursedir.db_url, "course") as gradebook:
            (grade,) = gradebook.find_submission_notebook("lab", "lab", "ada").grades
            grade.auto_score, grade.needs_manual_grade = points, needs_manual_grade
            gradebook.db.commit()

    @staticmethod
    def marked(converter: Autograde) -> tuple[float | None, bool]:
        with Gradebook(converter.coursedir.db_url, "course") as gradebook:
            (grade,) = gradebook.find_submission_notebook("lab", "lab", "ada").grades
            return grade.auto_score, grade.needs_manual_grade
