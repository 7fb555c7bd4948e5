"""What a kill led to is told with the file that it cut off, and whether it was a kill at all."""

from typing import Any

import pytest

from lastgood.recovery.durability import verdict


def a_kill(**seen: Any) -> dict[str, Any]:
    where = {"says": "when half of c/tmp was written", "then_saved": False, "survived": 0, "cut": [[]]}
    return {**where, "bytes": None, "target": "", **seen}


@pytest.mark.parametrize(
    ("seen", "line"),
    [
        (a_kill(), "killed when half of c/tmp was written: it tore"),
        (a_kill(survived=1), "killed when half of c/tmp was written: it tore"),
        (
            a_kill(survived=1, cut=[["c/new"]]),
            "the rest was refused, and save went on: it tore. Does save notice",
        ),
        (
            a_kill(cut=[["c/a"], ["c/b"]]),
            "killed when half of c/a was written, and the next save when half of c/b",
        ),
        (a_kill(cut=[["c/a"], ["c/b", "c/a"]]), "was: it tore. Cut off are now c/a and c/b"),
        (
            a_kill(says="when 30% of the new state was written", cut=[["c/a"]]),
            "was written, into c/a: it tore",
        ),
        (a_kill(target="c/new", bytes=1000), "when only 1,000 of 2,000 bytes were in the file: it tore"),
        (a_kill(target="c/new", bytes=2000), "killed when half of c/tmp was written: it tore"),
        (a_kill(then_saved=True), "the next save was not killed: it tore"),
    ],
)
def test_a_line_tells_which_file_was_cut_off_and_whether_it_was_a_kill(
    seen: dict[str, Any], line: str
) -> None:
    assert line in verdict._line(seen, "it tore", {"c/new": 2000})


def test_a_temporary_name_is_not_told_in_full() -> None:
    error = {"stage": "save", "kind": "OSError", "message": "no: '/tmp/lastgood-save-x/torn1/checkpoints/a'"}
    assert verdict._error_words(error) == "save raised OSError (no: 'checkpoints/a')"
