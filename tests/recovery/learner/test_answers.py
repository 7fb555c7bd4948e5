"""What a worker says of an exception is looked up in the learner's cells, and nowhere else."""

from pathlib import Path
from typing import Any

import pytest

from lastgood.recovery.learner import bundle
from lastgood.recovery.learner.answers import ask
from lastgood.recovery.wire import pack


class Says:
    """A worker that answers with an exception in a line of a file of its choice."""

    def __init__(self, file: str, number: int) -> None:
        error = {"stage": "save", "kind": "ValueError", "message": "", "blank": False}
        self._answer = pack({"error": error | {"file": file, "number": number, "line": ""}})

    @property
    def channel(self) -> "Says":
        return self

    def recv(self, timeout: float) -> bytes:
        return self._answer


def line(file: str, number: int, **more: Any) -> str:
    answer: dict[str, Any] = ask(Says(file, number), **more)  # type: ignore[arg-type]  # all that it uses
    return str(answer["error"]["line"])


def test_the_line_is_one_of_the_cells() -> None:
    texts = {"<cell 3>": "def save(state, folder):\n    raise ValueError\n"}
    assert line("<cell 3>", 2, texts=texts) == "raise ValueError"


@pytest.mark.parametrize(("file", "number"), [("<cell 3>", 0), ("<cell 3>", 9), ("<cell 4>", 1)])
def test_where_there_is_no_such_line_there_is_none(file: str, number: int) -> None:
    assert line(file, number, texts={"<cell 3>": "x = 1"}) == ""


def test_no_file_is_opened_whatever_a_worker_calls_it(tmp_path: Path) -> None:
    secret = tmp_path / "gradebook.py"
    secret.write_text("somebody's grade\n")
    assert line(str(secret), 1, texts={}) == ""
    assert line(str(secret), 1) == "somebody's grade"  # in the learner's own kernel it is theirs


def test_the_texts_are_those_of_the_functions_cells(tmp_path: Path) -> None:
    cell = tmp_path / "cell.py"
    cell.write_text("def helper():\n    return 1\n\ndef save():\n    return helper()\n")
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(cell.read_text(), str(cell), "exec"), names)
    assert bundle.texts({"save": names["save"]}) == {str(cell): cell.read_text()}
