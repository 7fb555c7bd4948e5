"""Every lab's checks, proven: the master earns all, the release nothing, a mutant loses its own points.

Labs are found by their folders in `autograder/mutants`.
"""

import zlib
from importlib import import_module
from pathlib import Path

import pytest

from autograder import mutants
from autograder.mutants import Variant, affected, checking_cells, patched, run_checks
from lastgood.teaching.checks import core
from lastgood.teaching.checks.report import COLUMNS, Report

ROOT = Path(__file__).resolve().parents[2]
LABS = mutants.labs()
MASTERS = {lab: mutants.master_text(ROOT, lab) for lab in LABS}
VARIANTS = [(lab, variant) for lab in LABS for variant in mutants.variants(lab)]
# Of labs whose checks start processes, `make test` tries every fourth one, and `make test-slow` the others.
STARTS_PROCESSES = ("lab18", "lab19")
each_variant = pytest.mark.parametrize(
    ("lab", "variant"),
    [
        pytest.param(
            lab,
            v,
            id=f"{lab}-{v.name}",
            marks=[pytest.mark.slow] if v.slow or (n % 4 and lab in STARTS_PROCESSES) else [],
        )
        for n, (lab, v) in enumerate(VARIANTS)
    ],
)
# The exercises after a mutant's own take seconds where checks start processes: of these labs every third
# mutant by `make test-slow`, the others by `make test-nightly`.
EACH = {"lab18": 3, "lab19": 3}
each_mutant = pytest.mark.parametrize(
    ("lab", "variant"),
    [
        pytest.param(
            lab, v, id=f"{lab}-{v.name}", marks=[pytest.mark.nightly] if n % EACH.get(lab, 1) else []
        )
        for lab in LABS
        for n, v in enumerate(v for where, v in VARIANTS if where == lab and v.loses)
    ],
)
each_lab = pytest.mark.parametrize("lab", LABS)
MOST_LINES = 8  # of a mutant's report that are not about what was kept


@pytest.fixture(autouse=True)
def _same_draws(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails here fails each time. `autograder mutants` draws anew."""
    seed = zlib.crc32(request.node.name.encode()) & 0x7FFFFFFF
    monkeypatch.setattr(core.secrets, "randbits", lambda bits: seed)


def points(lab: str) -> dict[str, float]:
    return {name: c.metadata["nbgrader"]["points"] for name, c in checking_cells(MASTERS[lab]).items()}


def test_every_lab_with_a_master_has_variants() -> None:
    assert tuple(sorted(path.stem for path in ROOT.glob("solutions/*/lab*.py"))) == LABS


@each_lab
def test_the_master_earns_every_automatic_point(lab: str) -> None:
    reports = run_checks(MASTERS[lab])
    assert {name: report.points for name, report in reports.items()} == points(lab)


@each_lab
def test_every_check_has_its_cell(lab: str) -> None:
    checks = import_module(f"lastgood.teaching.checks.{lab}").CHECKS
    called = [cell.source.split("(")[0] for cell in checking_cells(MASTERS[lab]).values()]
    assert called == [f"check.{check.name}" for check in checks]


@each_lab
def test_the_released_notebook_earns_nothing_and_says_that_nothing_is_written_yet(lab: str) -> None:
    released = (ROOT / f"labs/{lab}/{lab}.ipynb").read_text(encoding="utf-8")
    reports = run_checks(released, fmt="ipynb")
    assert {name: report.worth for name, report in reports.items()} == points(lab)
    for report in reports.values():
        assert report.points == 0
        assert "not written yet" in report.text().lower()
        assert "LOST" not in report.text()


@each_lab
def test_names_are_used_once_and_every_check_has_a_mutant_that_it_finds(lab: str) -> None:
    own = [variant for where, variant in VARIANTS if where == lab]
    assert len({variant.name for variant in own}) == len(own)
    assert {name for variant in own for name in variant.loses} == points(lab).keys()
    assert sum(not variant.loses for variant in own) >= 2, "right solutions, written differently"


@each_variant
def test_a_variant_loses_its_own_points_and_hears_why(lab: str, variant: Variant) -> None:
    text = patched(MASTERS[lab], variant)
    touched = affected(MASTERS[lab], text)
    assert touched >= variant.loses.keys()
    reports = run_checks(text, set(variant.loses) or touched)
    assert lost(reports) == variant.loses, said(reports)
    for words in variant.hears:
        assert words.lower() in said(reports).lower()
    for name in variant.loses:
        told = [line for line in reports[name].text().splitlines() if not line.startswith("  ok ")]
        assert len(told) <= MOST_LINES * len([p for p in reports[name].parts if not p.passed]), told
        assert max(map(len, told)) <= COLUMNS, told


@pytest.mark.slow
@each_mutant
def test_a_mutant_loses_nothing_in_the_exercises_after_its_own(lab: str, variant: Variant) -> None:
    text = patched(MASTERS[lab], variant)
    others = affected(MASTERS[lab], text) - variant.loses.keys()
    reports = run_checks(text, others) if others else {}
    assert lost(reports) == {}, said(reports)


def lost(reports: dict[str, Report]) -> dict[str, float]:
    return {name: r.worth - r.points for name, r in reports.items() if r.points != r.worth}


def said(reports: dict[str, Report]) -> str:
    return " ".join(" ".join(report.text().split()) for report in reports.values())
