"""What the gallery of variants stands on: patches, and which checks a patch can touch."""

from pathlib import Path

import pytest

from autograder.mutants import Variant, VariantError, affected, function, master_text, patched, run_checks

MASTER = master_text(Path(__file__).resolve().parents[2], "lab18")


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


@pytest.mark.parametrize(("text", "times"), [("text that is not there", 0), ("### BEGIN SOLUTION", 10)])
def test_a_patch_that_does_not_fit_the_master_once_is_an_error(text: str, times: int) -> None:
    with pytest.raises(VariantError, match=f"stands {times} times"):
        patched(MASTER, Variant("stale", "", ((text, ""),)))


def test_a_function_is_found_whole() -> None:
    assert function(MASTER, "symptom").startswith("def symptom() -> str:\n")
    with pytest.raises(VariantError, match="no function nowhere"):
        function(MASTER, "nowhere")


LAB = """\
# %%
given = 1

# %%
given = 1 / 0  # a demonstration: not run

# %% nbgrader={"grade": false, "solution": false, "locked": true, "grade_id": "set-up"}
given += 1

# %% nbgrader={"grade": false, "solution": true, "locked": false, "grade_id": "answer"}
def answer():
    return given

# %% nbgrader={"grade": true, "solution": false, "locked": true, "grade_id": "check-answer", "points": 1}
answer()

# %% nbgrader={"grade": true, "solution": false, "locked": true, "grade_id": "check-other", "points": 1}
answer() / 0
"""


def test_imports_solutions_and_locked_cells_are_run_before_the_checks_that_are_asked_for() -> None:
    assert run_checks(LAB, {"check-answer"}) == {"check-answer": 2}
