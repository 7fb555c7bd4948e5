"""Two threads of which one runs at a time."""

import contextvars
import random
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest
import torch

from lastgood.recovery.resuming.adapters.handover import END, Handover, HandoverError


def loop(says: list[str], steps: int = 3) -> Handover:
    """A framework's loop of so many steps, each of which begins and ends."""

    def target() -> None:
        for step in range(steps):
            says.append(f"begins {step}")
            handover.reached("begun")
            says.append(f"ends {step}")
            handover.reached("ended")
        says.append("returns")

    handover = Handover(target)
    return handover


class Word:
    """Sets a context variable for a while."""

    variable = contextvars.ContextVar("word", default="unset")

    def __enter__(self) -> None:
        self._token = self.variable.set("set")

    def __exit__(self, *_: object) -> None:
        self.variable.reset(self._token)


def test_it_begins_at_the_first_call_and_is_held_where_it_was_asked_to_be() -> None:
    says: list[str] = []
    handover = loop(says)
    assert says == []
    assert handover.resume_until({"ended"}) == "ended"
    assert says == ["begins 0", "ends 0"]
    assert handover.resume_until({"begun"}) == "begun"
    assert says[2:] == ["begins 1"]
    assert handover.resume_until({"ended"}) == "ended"
    assert says[3:] == ["ends 1"]


def test_it_is_held_at_the_first_of_several_points() -> None:
    handover = loop([])
    assert [handover.resume_until({"begun", "ended"}) for _ in range(4)] == ["begun", "ended"] * 2


def test_a_point_that_is_not_waited_for_holds_nothing() -> None:
    says: list[str] = []
    assert loop(says).resume_until({"never"}) == END
    assert says[-1] == "returns"


def test_the_end_is_an_outcome_each_time() -> None:
    handover = loop([], steps=1)
    assert [handover.resume_until({"ended"}) for _ in range(3)] == ["ended", END, END]


@pytest.mark.parametrize("error", [ValueError("no data"), SystemExit(3), KeyboardInterrupt()])
def test_what_the_loop_raises_is_raised_in_the_auditing_thread_each_time(error: BaseException) -> None:
    def fails_while_training() -> None:
        raise error

    def target() -> None:
        handover.reached("begun")
        fails_while_training()

    handover = Handover(target)
    assert handover.resume_until({"begun"}) == "begun"
    for _ in range(2):
        with pytest.raises(type(error)) as caught:
            handover.resume_until({"begun"})
        assert caught.value is error
        assert "fails_while_training" in "".join(traceback.format_tb(caught.value.__traceback__))


def test_the_two_never_run_at_the_same_time() -> None:
    running: list[str] = []
    overlaps = []

    def runs(name: str) -> None:
        running.append(name)
        overlaps.extend([list(running)] if len(running) > 1 else [])
        sum(range(20_000))  # long enough for the interpreter to change threads
        running.remove(name)

    def target() -> None:
        for _ in range(100):
            runs("loop")
            handover.reached("step")

    handover = Handover(target)
    while handover.resume_until({"step"}) != END:
        runs("audit")
    assert overlaps == []


def test_generators_of_the_process_go_on_in_the_loop_as_they_would_have_without_it() -> None:
    def draws() -> list[float]:
        return [random.random(), np.random.random(), torch.rand(()).item()]

    def seeded() -> None:
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)

    seeded()
    expected = [draws() for _ in range(4)]
    found: list[list[float]] = []

    def target() -> None:
        for _ in range(2):
            found.append(draws())
            handover.reached("step")

    handover = Handover(target)
    seeded()
    while handover.resume_until({"step"}) != END:
        found.append(draws())
    assert found == expected


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (lambda: torch.set_grad_enabled(False), (False, "cpu", "unset")),
        (lambda: torch.device("meta"), (True, "meta", "unset")),
        (Word, (True, "cpu", "set")),
    ],
    ids=["grad mode", "default device", "context variable"],
)
def test_what_belongs_to_a_thread_is_as_it_was_where_the_audit_called(
    setting: Callable[[], AbstractContextManager[object]], expected: tuple[bool, str, str]
) -> None:
    found: list[object] = []

    def target() -> None:
        found.append((torch.is_grad_enabled(), str(torch.empty(0).device), Word.variable.get()))

    handover = Handover(target)
    with setting():
        handover.resume_until(())
    assert found == [expected]
    assert torch.is_grad_enabled()


def test_the_loop_is_told_not_to_wait_for_itself() -> None:
    handover = Handover(lambda: handover.resume_until({"step"}))  # type: ignore[arg-type, return-value]
    with pytest.raises(HandoverError, match="by the loop itself"):
        handover.resume_until({"step"})


def test_a_point_that_another_thread_reaches_is_refused() -> None:
    handover = loop([])
    handover.resume_until({"begun"})
    with pytest.raises(HandoverError, match=r"'begun' was reached outside the loop's thread"):
        handover.reached("begun")
    assert handover.resume_until({"ended"}) == "ended"


HELD = """
import sys
from lastgood.recovery.resuming.adapters.handover import Handover
handover = Handover(lambda: handover.reached("step"))
print(handover.resume_until({"step"}), {"accelerate", "lightning", "transformers"} & set(sys.modules))
"""


def test_a_process_ends_while_its_loop_is_held_and_has_imported_no_framework() -> None:
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "step set()\n", "")


def test_no_thread_is_left_behind_by_a_loop_that_ended() -> None:
    before = threading.active_count()
    handover = loop([])
    assert handover.resume_until(()) == END
    handover._thread.join(timeout=30)
    assert threading.active_count() == before
