import pytest
from typer.testing import CliRunner

from lastgood.cli import app
from lastgood.commands.run_screen import Plan, Screen, console, progress_bar
from lastgood.recovery import supervise as supervisor
from lastgood.recovery.faults import KILLED, KINDS, OPT_175B
from lastgood.recovery.supervise.outcome import Event, Mismatch


def invoke(*arguments):
    # Wide, so that a message in a box stays on one line.
    return CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, ["run", *arguments])


def test_a_run_shows_its_kill_and_ends_bit_identical(tmp_path):
    folder = tmp_path / "kept"
    done = invoke("--days", "0.5", "--steps-per-day", "40", "--save-every", "5", "--folder", str(folder))
    assert done.exit_code == 0, done.output
    assert "20 steps stand for 0.5 days of opt-175b: 1 failure," in done.output
    assert "kill 1 after step" in done.output
    assert "resumed at step" in done.output
    assert "1, after 1 failure" in done.output
    assert "bit-identical to the undisturbed run" in done.output
    assert {path.name for path in folder.iterdir()} == {"checkpoints", "events.jsonl", "run.json"}


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (
            {"first_mismatch": Mismatch(2, 60, ("optimizer",))},
            "after kill 2 the run resumed at step 60 and had lost its optimizer state",
        ),
        ({"error": "save raised OSError: disk full"}, "save raised OSError: disk full"),
    ],
)
def test_a_run_that_is_another_one_exits_with_1_and_says_where(monkeypatch, ended, end, words):
    monkeypatch.setattr(supervisor, "supervise", lambda config, **options: ended(**end))
    done = invoke()
    assert done.exit_code == 1
    assert words in done.output
    assert "not the undisturbed run's" in done.output
    assert "10, 5.0 a restart" in done.output


def test_the_default_is_five_days_in_which_opt_175b_would_have_been_restarted_nine_times(monkeypatch, ended):
    given = {}
    monkeypatch.setattr(
        supervisor, "supervise", lambda config, **options: given.update(options) or ended(identical=True)
    )
    assert invoke().exit_code == 0
    assert len(given["faults"]) == 9
    assert given["steps"] * given["hours_per_step"] == pytest.approx(120)


@pytest.mark.parametrize(("days", "steps"), [("5", 720), ("20", 2880), ("60", 2880), ("4000", 4000)])
def test_many_days_get_fewer_steps_each(monkeypatch, ended, days, steps):
    given = {}
    monkeypatch.setattr(
        supervisor, "supervise", lambda config, **options: given.update(options) or ended(identical=True)
    )
    assert invoke("--days", days).exit_code == 0
    assert given["steps"] == steps
    assert given["steps"] * given["hours_per_step"] == pytest.approx(24 * float(days))


def test_mixed_kinds_are_drawn_at_the_same_hours(monkeypatch, ended):
    drawn = {}

    def supervise(config, **options):
        drawn[options["spares"]] = options["faults"]
        return ended(identical=True)

    monkeypatch.setattr(supervisor, "supervise", supervise)
    assert invoke("--spares", "1").exit_code == 0
    assert invoke("--spares", "2", "--kinds", "mixed").exit_code == 0
    assert {fault.kind for fault in drawn[1]} == {KILLED}
    assert {fault.kind for fault in drawn[2]} == set(KINDS)
    assert [fault.time_hours for fault in drawn[1]] == [fault.time_hours for fault in drawn[2]]


def test_the_screen_has_a_line_for_each_failure_and_one_for_all_refused_saves():
    screen = console()
    plan = Plan(OPT_175B, 1.0, 24, 8, 1, None, [])
    events = [
        Event("refused", 8, 8, 8.0, "step 8 not saved: full"),
        Event("refused", 9, 9, 9.0, "step 9 not saved: full"),
        Event("failed", 9, 9, 9.0, "kill 1"),
        Event("waiting", 9, 9, 11.0, "no spare host for 2.0 h"),
        Event("restarted", 0, 9, 11.0, "resumed at step 0: 9 steps to do again"),
    ]
    with screen.capture() as said, progress_bar(screen) as progress:
        shown = Screen(progress, plan)
        for event in events:
            shown.take(event)
    lines = said.get().splitlines()
    assert lines[0] == "  step 8 not saved: full"
    assert lines[1] == "  kill 1, no spare host for 2.0 h, resumed at step 0: 9 steps to do again"
    assert "1 restarts, 9 steps lost, ETTR 0.000" in lines[2]


def test_the_same_command_again_goes_on_or_says_that_the_run_has_ended(tmp_path):
    arguments = (
        "--days",
        "0.1",
        "--steps-per-day",
        "40",
        "--save-every",
        "2",
        "--folder",
        str(tmp_path / "kept"),
    )
    assert invoke(*arguments).exit_code == 0
    again = invoke(*arguments)
    assert again.exit_code == 2
    assert "has ended" in again.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--preset", "opt-176b"], "there is: opt-175b"),
        (["--days", "0"], "more than 0"),
        (["--days", "-2"], "more than 0"),
        (["--days", "nan"], "more than 0"),
        (["--days", "inf"], "at most 10,000"),
        (["--days", "0.001"], "are no step"),
        (["--kinds", "odd"], "'odd' is not one of"),
        (["--spares", "-1"], "0"),
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
