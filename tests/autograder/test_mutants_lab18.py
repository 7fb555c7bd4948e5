"""Lab 18's checks, proven: the master earns all, the release nothing, a mutant loses its own points."""

from pathlib import Path

import pytest

from autograder.mutants import Variant, VariantError, affected, master_text, patched, run_checks, variants
from lastgood.teaching.checks import lab18

ROOT = Path(__file__).resolve().parents[2]
MASTER = master_text(ROOT, "lab18")
AUTOMATIC = 24.0


def test_the_master_earns_every_automatic_point() -> None:
    reports = run_checks(MASTER)
    assert {name: report.worth - report.points for name, report in reports.items()} == dict.fromkeys(
        reports, 0.0
    )
    assert sum(report.points for report in reports.values()) == AUTOMATIC
    assert len(reports) == len(lab18.CHECKS)


def test_the_released_notebook_earns_nothing_and_says_that_nothing_is_written_yet() -> None:
    released = (ROOT / "labs/lab18/lab18.ipynb").read_text(encoding="utf-8")
    reports = run_checks(released, fmt="ipynb")
    assert sum(report.worth for report in reports.values()) == AUTOMATIC
    assert sum(report.points for report in reports.values()) == 0.0
    assert all("not written yet" in report.text().lower() for report in reports.values())


@pytest.mark.parametrize("variant", variants("lab18"), ids=lambda variant: variant.name)
def test_a_variant_loses_exactly_its_own_points_and_hears_why(variant: Variant) -> None:
    text = patched(MASTER, variant)
    reports = run_checks(text, affected(MASTER, text))
    assert reports.keys() >= variant.loses.keys()
    lost = {name: r.worth - r.points for name, r in reports.items() if r.points != r.worth}
    assert lost == variant.loses, "\n".join(reports[name].text() for name in {*lost, *variant.loses})
    said = " ".join(" ".join(report.text().lower().split()) for report in reports.values())
    for words in variant.hears:
        assert words.lower() in said, said


def test_only_what_a_patch_touches_is_run_and_what_uses_it() -> None:
    def touched(*edits: tuple[str, str]) -> set[str]:
        return affected(MASTER, patched(MASTER, Variant("some", "", edits)))

    assert touched() == set()
    assert touched((".tril()", ".triu()")) == {"check-causal-mask"}
    assert touched(('"step": run.step,', '"step": 0,')) == {"check-capture-restore", "check-save-load"}
    assert touched(("import copy\n", "import numpy as copy\n")) == {
        "check-capture-restore",
        "check-save-load",
    }


def test_no_message_to_a_mutant_gives_the_solution_away() -> None:
    reports = run_checks(
        patched(MASTER, next(v for v in variants("lab18") if v.name == "no-optimizer-state"))
    )
    said = " ".join(report.text() + report._repr_html_() for report in reports.values())
    assert "run.optimizer.state_dict()" not in said
    assert "deepcopy" not in said


def test_a_patch_that_does_not_fit_the_master_is_an_error() -> None:
    with pytest.raises(VariantError, match="stands 0 times"):
        patched(MASTER, Variant("stale", "", (("text that is not there", ""),)))
