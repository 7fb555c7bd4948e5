"""What a learner's function answers, or fails to."""

from typing import Any

import pytest

from lastgood.recovery import learner
from lastgood.training.model import causal_mask


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", ". Is a `return` missing?"),
        ("return", ". Is a `return` missing?"),
        ("if folder:\n        return None", ". Is a `return` missing?"),
        ("return kept", " in a fresh process."),
        ("if not folder:\n        return 1", " in a fresh process."),
    ],
)
def test_a_missing_return_is_told_from_one_that_has_nothing_to_give(body: str, words: str) -> None:
    namespace: dict[str, Any] = {"kept": None}
    exec(f"def load(folder):\n    {body or 'pass'}", namespace)
    with pytest.raises(learner.LearnerError) as caught:
        learner.returned("load", namespace["load"]("x"), namespace["load"])
    assert str(caught.value.error) == f"it returned None{words}"


def test_a_line_of_the_library_is_not_taken_for_the_learners() -> None:
    def save() -> None:
        causal_mask(-1)  # raises in the library, called from here

    with pytest.raises(learner.LearnerError) as caught:
        learner.call("save", save)
    assert learner.own_frames(caught.value.error)[-1].name == "save"
