import pytest
from typer.testing import CliRunner

from lastgood.cli import app
from lastgood.recovery import supervise as supervisor
from lastgood.recovery.outcome import Mismatch, Outcome


def invoke(*arguments):
    # Wide, so that a message in a box stays on one line.
    return CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, ["run", *arguments])


def test_a_run_shows_its_kill_and_ends_bit_identical(tmp_path):
    folder = tmp_path / "kept"
    done = invoke("--days", "0.5", "--steps-per-day", "40", "--save-every", "5", "--folder", str(folder))
    assert done.exit_code == 0, done.output
    assert "20 steps stand for 0.5 days of opt-175b: 1 kill," in done.output
    assert "kill 1 after step" in done.output
    assert "resumed at step" in done.output
    assert "1, after 1 kill" in done.output
    assert "bit-identical to the undisturbed run" in done.output
    assert {path.name for path in folder.iterdir()} == {"checkpoints", "events.jsonl"}


def ended(**changes):
    fields = {
        "identical": False,
        "steps": 720,
        "reached": 60,
        "executed_steps": 70,
        "kills": 2,
        "restarts": 2,
        "lost_steps": (4, 6),
        "first_mismatch": None,
        "error": None,
        "wall_seconds": 3.0,
    }
    return Outcome(**fields | changes)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (
            ended(first_mismatch=Mismatch(2, 60, ("optimizer",))),
            "after kill 2 the run resumed at step 60 and had lost its optimizer state",
        ),
        (ended(error="save raised OSError: disk full"), "save raised OSError: disk full"),
    ],
)
def test_a_run_that_is_another_one_exits_with_1_and_says_where(monkeypatch, outcome, words):
    monkeypatch.setattr(supervisor, "supervise", lambda config, **options: outcome)
    done = invoke()
    assert done.exit_code == 1
    assert words in done.output
    assert "not the undisturbed run's" in done.output
    assert "10, 5.0 a restart" in done.output


def test_the_default_is_five_days_in_which_opt_175b_would_have_been_restarted_nine_times(monkeypatch):
    given = {}
    monkeypatch.setattr(
        supervisor, "supervise", lambda config, **options: given.update(options) or ended(identical=True)
    )
    assert invoke().exit_code == 0
    assert len(given["faults"]) == 9
    assert given["steps"] * given["hours_per_step"] == pytest.approx(120)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--preset", "opt-176b"], "there is: opt-175b"),
        (["--days", "0"], "more than 0"),
        (["--days", "-2"], "more than 0"),
        (["--days", "nan"], "more than 0"),
        (["--days", "inf"], "at most 10,000"),
        (["--days", "0.001"], "are no step"),
        (["--steps-per-day", "0"], "give 1 or more"),
        (["--save-every", "0"], "give 1 to 720"),
        (["--save-every", "721"], "give 1 to 720"),
    ],
)
def test_nonsense_is_refused_with_the_reason(arguments, words):
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert words in done.output
    assert arguments[0] in done.output


def test_a_folder_with_another_run_is_refused_and_left_alone(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    done = invoke("--folder", str(tmp_path))
    assert done.exit_code == 2
    assert "is not an empty folder; it may hold another run" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoints"]
