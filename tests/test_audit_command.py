"""The command `lastgood audit`."""

import json

import pytest
from typer.testing import CliRunner

from lastgood.cli import app
from lastgood.recovery.resuming import (
    AFTER,
    BEFORE,
    BROKEN,
    KEPT,
    LOST,
    PATIENCE,
    UNSTABLE,
    AuditError,
    Finding,
    Report,
)

KEPT_STEP = Finding("step", KEPT, "", "held")
LOST_RNG = Finding(
    "torch RNG", LOST, "It stands.", "missing", "Dropout goes on with other numbers.", "18"
)


@pytest.fixture
def audited(monkeypatch):
    """Run the command on what an audit found; return its exit status, stdout and stderr in one line each."""

    def audited(found, *options, asked=None):
        def audit(module, **settings):
            settings.pop("on_stage")("An undisturbed run")
            if asked is not None:
                asked.update(settings, module=module)
            if isinstance(found, AuditError):
                raise found
            return found

        monkeypatch.setattr("lastgood.recovery.resuming.audit", audit)
        result = CliRunner().invoke(app, ["audit", "mine.py", *options], env={"COLUMNS": "200"})
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, " ".join(result.stdout.split()), " ".join(result.stderr.split())

    return audited


def report(*findings, **settings):
    return Report("mine.py", 7, 2, list(findings), expected=[1.0, 2.0], **{"found": [1.0, 2.0], **settings})


def test_a_run_that_comes_back_is_said_to(audited):
    status, out, err = audited(report(KEPT_STEP, bytes=1234, writer="torch.save"))
    assert status == 0
    assert "resumed in a fresh process: 1,234 bytes, written by torch.save." in out
    assert "✓ step yes came back" in out
    assert "2 steps after each of two resumes, 1 components, bit for bit. What comes after step 11," in out
    assert err == "An undisturbed run"


def test_a_run_without_observe_is_not_said_to_be_whole_in_all_that_it_has(audited):
    status, out, _ = audited(report())
    assert status == 0
    assert "Only losses were compared" in out


def test_what_could_not_be_compared_is_named_and_is_no_loss(audited):
    status, out, _ = audited(report(KEPT_STEP, Finding("pid", UNSTABLE, "It differs.")))
    assert status == 0
    assert "- pid It differs." in out
    assert "1 components, bit for bit. Not compared: pid." in out


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (report(KEPT_STEP, LOST_RNG, first_step=8, found=[1.0, 9.0]), "✗ torch RNG no It stands."),
        (
            report(LOST_RNG, first_step=8, found=[1.0, 9.0]),
            "is step 8, the 2nd after resuming. Its loss is 9.0, not 2.0.",
        ),
        (report(LOST_RNG, LOST_RNG), "So: - Dropout goes on with other numbers. (Lesson 18) No loss"),
        (report(LOST_RNG), "No loss of the 2 steps after the resume shows it."),
        (report(LOST_RNG), "It resumes into another run. Lost: torch RNG."),
        (report(Finding("step", BROKEN, "3.")), "After a second resume: 3."),
        (report(KEPT_STEP, first_step=7), "though all that observe shows came back. What else"),
        (report(first_step=7), "With observe(run), the audit can tell what was lost."),
        (report(second_step=9), "After a second resume the first step that differs is step 9."),
        (report(stopped="resume: OSError: gone", found=[]), "It stopped. resume: OSError: gone"),
        (report(stopped="resume: OSError: gone", found=[]), "It does not resume."),
        (report(stopped="x", detail="mine.py\n[red]\n"), "mine.py [red] It stopped. x It does not resume."),
        (report(stopped="save: OSError: full"), "It does not save."),
        (report(first_step=7, notes=["save left no file."]), "save left no file."),
    ],
)
def test_what_was_lost_is_said(audited, found, words):
    status, out, _ = audited(found)
    assert status == 1
    assert words in out


def test_that_nothing_can_be_said_is_said_aside(audited):
    status, out, err = audited(AuditError("Two undisturbed runs differ.", "a traceback"))
    assert (status, out) == (2, "")
    assert err.endswith("Two undisturbed runs differ. a traceback")


def test_programs_read_json(audited):
    status, out, _ = audited(report(LOST_RNG, found=[1.0, float("nan")], first_step=8), "--json")
    data = json.loads(out)
    assert status == data["status"] == 1
    assert data["findings"][0]["component"] == "torch RNG"
    assert data["found"] == [1.0, "nan"], "JSON has no NaN"
    status, out, _ = audited(AuditError("No."), "--json")
    assert (status, json.loads(out)) == (2, {"status": 2, "error": "No.", "detail": ""})


def test_the_steps_and_the_patience_are_passed_on(audited):
    asked = {}
    audited(report(), "--before", "3", "--after", "4", "--patience", "5", asked=asked)
    assert asked == {"module": "mine.py", "before": 3, "after": 4, "patience": 5.0}
    audited(report(), asked=asked)
    assert asked == {"module": "mine.py", "before": BEFORE, "after": AFTER, "patience": PATIENCE}


def test_a_real_module_is_audited(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def make(): return [0]\n"
        "def advance(run, steps):\n"
        "    print('training')\n"
        "    run[0] += steps\n"
        "    return [float(run[0])] * steps\n"
        "def save(run, folder): (folder / 'step').write_text(str(run[0]))\n"
        "def resume(folder): return [int((folder / 'step').read_text())]\n"
    )
    result = CliRunner().invoke(app, ["audit", str(tmp_path / "mine.py"), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["found"] == [15.0] * 8
