"""How output is counted, and what of it can stand in a notebook."""

from typing import Any

import pytest
from nbformat.v4 import new_output

from autograder.sandbox.output import Meter, presentable, weight


def message(kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"msg_type": kind, "content": {"text": text}, **more}


def test_what_is_kept_is_counted_and_once_over_stays_over() -> None:
    meter = Meter(100)
    meter.take(message("stream", "x" * 90))
    assert not meter.over
    meter.take(message("stream", "x" * 10))
    assert meter.over
    meter.take(message("clear_output", ""))
    assert meter.over


def test_a_picture_that_is_drawn_anew_counts_once() -> None:
    meter = Meter(100)
    for _ in range(15):
        meter.take(message("update_display_data", "x" * 90))
        meter.take(message("stream", "x" * 90))
        meter.take(message("clear_output", ""))
        if meter.passed > 20 * 100:
            break
    assert meter.kept == 0
    assert meter.over == (meter.passed > 20 * 100)


def test_a_cell_that_goes_on_after_its_limit_is_a_flood() -> None:
    meter = Meter(100)
    meter.take(message("stream", "x" * 10**6))
    assert (meter.over, meter.flooded) == (True, False)
    meter.take(message("stream", "x" * 4 * 10**7))
    assert meter.flooded


def test_bytes_beside_a_message_count_too() -> None:
    meter = Meter(100)
    meter.take(message("comm_msg", "", buffers=[memoryview(bytes(200))]))
    assert meter.over


@pytest.mark.parametrize(
    ("value", "bytes_"), [("abc", 3), ({"ab": ["c", "de"]}, 5), (1.5, 8), (None, 8), ([], 0)]
)
def test_plain_data_has_a_weight(value: Any, bytes_: int) -> None:
    assert weight(value) == bytes_


def test_half_a_character_is_replaced() -> None:
    shown = presentable(new_output("stream", name="stdout", text="a\ud800b"))
    assert shown is not None
    assert shown.text == "a?b"


def test_an_honest_output_stays_as_it_is() -> None:
    output = new_output(
        "execute_result", data={"text/plain": "2", "text/html": "<b>2</b>"}, execution_count=1
    )
    assert presentable(output) == output


@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "stream", "name": "stdout", "text": {"not": "text"}},
        {"output_type": "display_data", "data": 3, "metadata": {}},
        {"output_type": "surprise"},
    ],
)
def test_what_no_notebook_may_hold_is_left_out(output: Any) -> None:
    assert presentable(output) is None
