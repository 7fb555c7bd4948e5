"""One variant, as its author wants to see it: what a learner reads, and whether it is as declared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autograder.mutants import (
    Variant,
    VariantError,
    affected,
    checking_cells,
    master_text,
    patched,
    run_checks,
    variants,
)
from lastgood.teaching.checks.report import Report

MASTER = Variant("master", "the master, as it is", ())


@dataclass(frozen=True)
class Outcome:
    """What a variant came to: the reports of all checks that its patch touches, by grade_id."""

    says: str
    reports: dict[str, Report]
    as_declared: bool  # it lost the points and heard the words that it names, and no others


def named(lab: str) -> dict[str, Variant]:
    """A lab's variants by name, and the master. Raises VariantError where there is no such lab."""
    return {variant.name: variant for variant in (MASTER, *variants(lab))}


def outcome(root: Path, lab: str, name: str) -> Outcome:
    """Run a variant of the lab's master. Raises VariantError where there is none of that name."""
    found = named(lab)
    if name not in found:
        raise VariantError(f"{lab} has no variant {name!r}; `autograder mutants {lab}` lists them")
    variant, master = found[name], master_text(root, lab)
    text = patched(master, variant)
    touched = affected(master, text) if variant.edits else set(checking_cells(master))
    return judged(variant, run_checks(text, touched))


def judged(variant: Variant, reports: dict[str, Report]) -> Outcome:
    """The reports beside what the variant declares."""
    lost = {key: r.worth - r.points for key, r in reports.items() if r.points != r.worth}
    said = " ".join(" ".join(report.text().split()) for report in reports.values()).lower()
    heard = all(words.lower() in said for words in variant.hears)
    return Outcome(variant.says, reports, lost == variant.loses and heard)
