"""One judge for the notebooks of a process: it goes from one to the next, and takes nothing along."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from traitlets.config import Config

from autograder.judge import court as court_module
from autograder.judge.warm import sitting, warm_grader
from autograder.sandbox.settings import Sandbox

ROOT = Path(__file__).resolve().parents[3]
UNSAFE = Sandbox(unsafe=True)  # no kernels are started here


@pytest.fixture
def _warm() -> Iterator[None]:
    with warm_grader(ROOT, Config({"Sandbox": {"unsafe": True}})):
        yield


@pytest.mark.usefixtures("_warm")
def test_notebooks_with_the_same_limits_share_it_and_others_do_not() -> None:
    with sitting(ROOT, UNSAFE) as first, sitting(ROOT, UNSAFE) as meanwhile:
        assert meanwhile is not first  # one notebook at a time
    with sitting(ROOT, UNSAFE) as second:
        assert second is first
    with (
        sitting(ROOT, Sandbox(unsafe=True, processes=99)) as other,
        sitting(ROOT / "labs", UNSAFE) as another,
    ):
        assert other is not first
        assert another is not first


@pytest.mark.usefixtures("_warm")
def test_a_process_that_grades_for_a_second_course_ends_each_in_its_turn() -> None:
    with sitting(ROOT, UNSAFE) as first:
        pass
    config = Config({"Sandbox": {"unsafe": True}})
    with warm_grader(ROOT / "labs", config), sitting(ROOT, UNSAFE) as meanwhile:
        assert meanwhile is not first
    with sitting(ROOT, UNSAFE) as again:
        assert again is first


@pytest.mark.usefixtures("_warm")
def test_what_a_notebook_has_left_is_gone_before_the_next() -> None:
    with sitting(ROOT, UNSAFE) as court:
        assert court._folder is not None
        files = court._folder / "files"
        (files / "a/b").mkdir(parents=True)
        (files / "a/b/secret").write_text("17")
        court._log.write(b"what was said")
    with sitting(ROOT, UNSAFE) as again:
        assert again is court
        assert files.is_dir()
        assert not list(files.iterdir())
        assert b"what was said" not in court._log.read()


@pytest.mark.slow  # another judge has to start
@pytest.mark.usefixtures("_warm")
def test_a_question_that_was_interrupted_is_not_answered_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, sitting(ROOT, UNSAFE) as court:
        bench = court._bench
        patch.setattr(court_module, "_exchanged", interrupted)
        with pytest.raises(KeyboardInterrupt):
            court.draw("lab18", "causal_mask")
    assert bench is not None
    assert bench.returncode is not None
    with sitting(ROOT, UNSAFE) as again:
        assert again is court
        assert again.draw("lab77", "causal_mask") is None  # by another judge


def test_without_it_each_notebook_has_its_own() -> None:
    with warm_grader(ROOT, Config({"Sandbox": {"unsafe": True}})), sitting(ROOT, UNSAFE) as kept:
        pass
    assert kept._bench is None
    with sitting(ROOT, UNSAFE) as first:
        pass
    with sitting(ROOT, UNSAFE) as second:
        assert first is not second
