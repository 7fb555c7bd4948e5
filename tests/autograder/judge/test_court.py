"""The judge's process: right answers earn; whatever else comes is a lost check with a reason."""

import base64
import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.judge import court as court_module
from autograder.judge.court import Court
from autograder.sandbox.settings import Sandbox
from lastgood.recovery.wire import pack, unpack
from lastgood.teaching.checks.lab18 import MASK
from lastgood.training.model import causal_mask

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def court() -> Iterator[Court]:
    with Court(ROOT, Sandbox(unsafe=True)) as court:
        yield court


def drawn(court: Court) -> str:
    inputs = court.draw("lab18", "causal_mask")
    assert inputs is not None
    return inputs


def in_base64(data: Any) -> str:
    return base64.b64encode(data if isinstance(data, bytes) else pack(data)).decode()


def measured(inputs: str, mask: Any) -> bytes:
    return MASK.measured({"0": mask}, unpack(base64.b64decode(inputs)))


def test_a_right_answer_earns_the_points_and_a_wrong_one_is_told_why(court: Court) -> None:
    inputs = drawn(court)

    def right(length: int) -> torch.Tensor:
        return torch.ones(length, length, dtype=torch.bool).tril()

    def shifted(length: int) -> torch.Tensor:
        return causal_mask(length).roll(1, 0)

    report = court.judge(
        "lab18", "causal_mask", inputs, in_base64({"measured": measured(inputs, right), "stderr": ""})
    )
    assert report["text/plain"] == "2"
    report = court.judge(
        "lab18", "causal_mask", inputs, in_base64({"measured": measured(inputs, shifted), "stderr": ""})
    )
    assert report["text/plain"] == "0"
    assert "lost" in report["text/html"]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00" * 40,
        pack([]),
        pack({"measured": b"", "stderr": ""}),
        pack({"measured": pack([1, 2]), "stderr": ""}),
        pack({"measured": pack({}), "stderr": ""}),
        pack({"measured": pack({"masks": 7}), "stderr": ""}),
        pack({"measured": pack({"error": ""}), "stderr": 7}),
        pack({"stderr": ""}),
    ],
)
def test_what_is_no_answer_earns_nothing_and_stops_nothing(court: Court, answer: bytes) -> None:
    report = court.judge("lab18", "causal_mask", drawn(court), in_base64(answer))
    assert report["text/plain"] == "0"
    assert "is not an answer that this check can give" in html.unescape(report["text/html"])


def test_an_answer_nested_too_deeply_is_none(court: Court) -> None:
    frame = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    deep = len(frame).to_bytes(8, "little") + frame
    report = court.judge("lab18", "causal_mask", drawn(court), in_base64({"measured": deep, "stderr": ""}))
    assert report["text/plain"] == "0"


def test_what_a_learner_wrote_is_text_in_the_report_and_not_too_long(court: Court) -> None:
    said = "<script>alert(1)</script>" + "x" * 100_000
    answer = {"measured": pack({"error": said}), "stderr": ""}
    report = court.judge("lab18", "causal_mask", drawn(court), in_base64(answer))
    assert "&lt;script&gt;" in report["text/html"]
    assert "<script" not in report["text/html"]
    assert len(report["text/html"]) < 5_000


def test_a_check_that_is_not_there_is_nobodys(court: Court) -> None:
    assert court.draw("lab18", "no_such_check") is None
    assert court.draw("lab77", "causal_mask") is None
    assert court.draw("..os", "path") is None


def test_the_same_seed_draws_the_same_and_another_does_not(court: Court) -> None:
    one, again, other = (court.draw("lab18", "causal_mask", seed) for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.slow  # another judge has to start
def test_a_judge_that_takes_too_long_is_stopped_and_the_next_question_answered(
    court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = drawn(court)
    monkeypatch.setattr(court_module, "JUDGE_S", 0.0)
    report = court.judge("lab18", "causal_mask", inputs, in_base64(pack({})))
    assert report["text/plain"] == "0"
    assert "could not be judged within" in report["text/html"]
    assert drawn(court)
