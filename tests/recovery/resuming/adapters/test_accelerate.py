"""The loop on Accelerate, with something that stands for an Accelerator. The real one: tests/frameworks."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from lastgood.recovery.resuming.adapters import Loop, accelerate
from lastgood.recovery.resuming.adapters.accelerate import LoopError

BATCHES = [float(number) for number in range(5)]


class Accelerator:
    """Steps every second batch, and at an epoch's end."""

    scaler = None

    def __init__(self, seen: list[Any]) -> None:
        self.seen, self.count = seen, 0
        self.loaded: str | None = None

    @property
    def sync_gradients(self) -> bool:
        place = self.count % len(BATCHES)
        return place == 0 or place % 2 == 0

    @contextmanager
    def accumulate(self, model: nn.Module) -> Iterator[None]:
        self.count += 1
        yield

    def backward(self, loss: torch.Tensor) -> None:
        loss.backward()

    def unwrap_model(self, model: nn.Module) -> nn.Module:
        return model

    def skip_first_batches(self, loader: Any, number: int) -> Any:
        return list(islice(loader, number, None))

    def save_state(self, folder: str) -> None:
        Path(folder).mkdir(exist_ok=True)
        Path(folder, "count").write_text(str(self.count))

    def load_state(self, folder: str) -> None:
        self.loaded = folder
        self.count = int(Path(folder, "count").read_text())


def loop(seen: list[Any], loader: Any = BATCHES, **more: Any) -> Loop:
    model = nn.Linear(1, 1, bias=False)

    def loss(model: nn.Module, batch: float) -> torch.Tensor:
        seen.append(batch)
        return (model.weight * 0).sum() + batch

    optimizer = torch.optim.SGD(model.parameters())
    return Loop(
        accelerator=Accelerator(seen), model=model, optimizer=optimizer, loader=loader, loss=loss, **more
    )


def test_a_step_is_as_many_batches_as_are_accumulated_and_its_loss_their_mean() -> None:
    seen: list[Any] = []
    make, advance, *_ = accelerate(lambda: loop(seen))
    assert advance(make(), 4) == [0.5, 2.5, 4.0, 0.5]
    assert seen == [0, 1, 2, 3, 4, 0, 1]


def test_looking_at_the_next_batch_leaves_it_the_next() -> None:
    seen: list[Any] = []
    make, advance, _, _, observe = accelerate(lambda: loop(seen))
    run = make()
    advance(run, 1)
    assert [observe(run)["data loader"]["next batch"] for _ in range(2)] == [2.0, 2.0]
    assert seen == [0, 1]
    advance(run, 1)
    assert seen == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("skip", "done", "rest"),
    [
        pytest.param(True, 9, [4, 0, 1], id="as documented"),
        pytest.param(False, 0, [0, 1, 2], id="load_state alone"),
    ],
)
def test_a_resume_goes_on_where_the_count_of_batches_says(
    tmp_path: Path, skip: bool, done: int, rest: list[float]
) -> None:
    seen: list[Any] = []
    make, advance, save, resume, observe = accelerate(lambda: loop(seen), skip=skip)
    run = make()
    advance(run, 5)
    save(run, tmp_path)
    seen.clear()
    resumed = resume(tmp_path)
    assert resumed.loop.accelerator.loaded == str(tmp_path / "step_9" if skip else tmp_path)
    assert observe(resumed)["step"] == done
    advance(resumed, 2)
    assert seen == rest


def test_each_epoch_that_begins_is_told_its_number_also_after_a_resume(tmp_path: Path) -> None:
    told: list[int] = []
    make, advance, save, resume, _ = accelerate(lambda: loop([], begin_epoch=told.append))
    run = make()
    advance(run, 5)
    save(run, tmp_path)
    assert told == [0, 1]
    advance(resume(tmp_path), 2)
    assert told == [0, 1, 1, 2]


def test_a_loader_that_gives_nothing_is_no_loop_for_ever() -> None:
    make, advance, *_ = accelerate(lambda: loop([], loader=[]))
    with pytest.raises(LoopError, match="gave no batch in epoch 0"):
        advance(make(), 1)


def test_a_folder_that_notes_no_count_is_refused(tmp_path: Path) -> None:
    make, advance, save, *_ = accelerate(lambda: loop([]), skip=False)
    run = make()
    advance(run, 1)
    save(run, tmp_path)
    with pytest.raises(LoopError, match="no folder step_N"):
        accelerate(lambda: loop([])).resume(tmp_path)


def test_without_a_length_there_is_no_epoch_to_resume_in(tmp_path: Path) -> None:
    make, advance, save, resume, _ = accelerate(lambda: loop([], loader=iter(BATCHES)))
    run = make()
    advance(run, 1)
    save(run, tmp_path)
    with pytest.raises(LoopError, match="no length, so no epoch to resume in"):
        resume(tmp_path)
