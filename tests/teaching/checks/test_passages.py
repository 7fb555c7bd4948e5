"""Wherever a report sends its reader back to, that heading is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PASSAGE = re.compile(r"\b(lesson|lab) (\d\d), “([^”]+)”")
CHECKS = ROOT / "course/lastgood/teaching/checks"
PASSAGES = sorted({found for path in CHECKS.rglob("*.py") for found in PASSAGE.findall(path.read_text())})


@pytest.mark.parametrize(("kind", "number", "heading"), PASSAGES)
def test_a_passage_to_reread_is_a_heading(kind: str, number: str, heading: str) -> None:
    where = f"course/lessons/{number}_*.md" if kind == "lesson" else f"solutions/lab{number}/lab{number}.py"
    (path,) = ROOT.glob(where)
    assert re.search(rf"^(# )?#+ {re.escape(heading)}$", path.read_text(), re.MULTILINE), path


def test_a_passage_of_the_glossary_is_an_entry() -> None:
    found = {
        w for path in CHECKS.rglob("*.py") for w in re.findall(r"\bglossary, “([^”]+)”", path.read_text())
    }
    headings = re.findall(r"^## (.+)$", (ROOT / "glossary.md").read_text(), re.MULTILINE)
    assert "Bit-identical" in found
    assert found <= {*headings}


def test_passages_are_found() -> None:
    assert ("lesson", "18", "Copies, and whole files") in PASSAGES
