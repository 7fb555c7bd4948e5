"""Reports: what nbgrader reads as points, and what a person reads."""

import pytest

from lastgood.teaching.checks.report import COLUMNS, CheckFailed, Part, Report, deliver, part, untested

MIXED = Report(
    "B Something", (part("first", 2, ""), part("second", 4, "It is <lost> & gone. " * 9, "lesson 18"))
)
FULL = Report("A Other", (part("only", 2, "", "lesson 18"),))


def test_the_repr_is_the_points_which_nbgrader_reads_as_partial_credit() -> None:
    assert repr(MIXED) == "2"
    assert repr(FULL) == "2"
    assert float(repr(Report("C", (part("half", 0.5, ""),)))) == 0.5


def test_points_stay_between_nothing_and_all() -> None:
    assert Report("C", (Part("odd", -3, 2),)).points == 0
    assert Report("C", (Part("odd", 9, 2),)).points == 2


@pytest.mark.parametrize("why", [None, 7, ["lost"], {"why": "lost"}])
def test_a_reason_that_is_no_text_is_no_reason(why: object) -> None:
    with pytest.raises(TypeError, match="a reason is a text"):
        part("odd", 2, why)  # type: ignore[arg-type]


def test_the_text_fits_a_dialog_that_does_not_wrap_and_holds_reason_and_reference() -> None:
    lines = MIXED.text().splitlines()
    assert max(map(len, lines)) <= COLUMNS
    assert lines[0] == "B Something: 2 of 6 points"
    assert "  ok   first (2 of 2)" in lines
    assert "  LOST second (0 of 4)" in lines
    assert lines[-1] == "  Reread: lesson 18"
    assert "Reread" not in FULL.text()  # nothing was lost


def test_an_only_part_says_nothing_again_that_stands_in_the_head() -> None:
    assert "<table" not in FULL._repr_html_()
    assert "✓ A Other: 2 of 2 points" in FULL._repr_html_()
    lost = Report("A Other", (part("A Other", 2, "Not written yet."),))._repr_html_()
    assert "<strong>A Other: 0 of 2 points</strong>" in lost
    assert "<strong hidden>A Other</strong>Not written yet." in lost
    assert lost.count("of 2") == 1


def test_a_part_that_waits_is_neither_passed_nor_lost() -> None:
    report = Report("C Third", (part("first", 2, "It is torn."), untested("second", 4, "First the first.")))
    assert (report.points, report.worth, report.passed) == (0, 6, False)
    assert "  LOST first (0 of 2)" in report.text()
    assert "  --   second (0 of 4)\n       Not tested yet. First the first." in report.text()
    assert [mark for mark in ("✗ lost", "○ not yet") if mark in report._repr_html_()] == [
        "✗ lost",
        "○ not yet",
    ]


def test_a_reason_cannot_smuggle_html() -> None:
    assert "&lt;lost&gt; &amp; gone" in MIXED._repr_html_()
    assert "<lost>" not in MIXED._repr_html_()


def test_validate_gets_an_exception_with_the_text_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert deliver(FULL) is FULL
    with pytest.raises(CheckFailed) as failed:
        deliver(MIXED)
    assert failed.value._render_traceback_() == MIXED.text().split("\n")


@pytest.mark.parametrize("where", ["autograde", None])
def test_elsewhere_the_report_is_the_result(monkeypatch: pytest.MonkeyPatch, where: str | None) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    if where:
        monkeypatch.setenv("NBGRADER_EXECUTION", where)
    assert deliver(MIXED) is MIXED
