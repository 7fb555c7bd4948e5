"""The five functions for a loop on Hugging Face's Accelerate.

Accelerate has no loop of its own, so this is the one of its documentation, with gradient accumulation. What
must be noted beside `save_state` is noted as there, too: the count of batches stands in the folder's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from lastgood.recovery.resuming.five import Five
from lastgood.recovery.resuming.observing import components

_NOTED = re.compile(r"step_([0-9]{1,18})")


class LoopError(ValueError):
    """A loop that cannot be run, or a folder that it cannot resume from."""


@dataclass(kw_only=True)
class Loop:
    """What a loop on Accelerate is made of. All of it has gone through `accelerator.prepare`.

    loss: from the model and a batch, a tensor without dimensions.
    begin_epoch: called with an epoch's number before its first batch, such as the loader's `set_epoch`. The
        documentation's loop does without.
    """

    accelerator: Any
    model: nn.Module
    optimizer: Any
    loader: Any
    loss: Callable[[Any, Any], Tensor]
    scheduler: Any = None
    begin_epoch: Callable[[int], None] | None = None


class _Run:
    """A loop, and how many batches it has trained on."""

    def __init__(self, loop: Loop, done: int = 0) -> None:
        self.loop, self.done = loop, done
        epoch, skipped = divmod(done, _length(loop.loader)) if done else (0, 0)
        self._batches = _batches(loop, epoch, skipped)
        self._fetched: list[Any] = []  # the next batch, where it has been looked at

    def look(self) -> Any:
        """The next batch, which stays the next one."""
        if not self._fetched:
            self._fetched.append(next(self._batches))
        return self._fetched[0]

    def step(self) -> float:
        """Train up to the next step of the optimizer; the mean loss of its batches."""
        losses = [self._batch()]
        while not self.loop.accelerator.sync_gradients:
            losses.append(self._batch())
        return sum(losses) / len(losses)

    def _batch(self) -> float:
        loop = self.loop
        batch = self.look()
        self._fetched.clear()
        with loop.accelerator.accumulate(loop.model):
            loss = loop.loss(loop.model, batch)
            loop.accelerator.backward(loss)
            loop.optimizer.step()
            if loop.scheduler is not None:
                loop.scheduler.step()
            loop.optimizer.zero_grad()
        self.done += 1
        return float(loss.detach())


def accelerate(build: Callable[[], Loop], *, skip: bool = True) -> Five:
    """The five functions for the loop that `build` makes anew at each call.

    Args:
        build: seeds, prepares everything, and registers what else is to be saved, as the script would.
        skip: resume as the documentation says: load_state, the epoch from the noted count of batches, and
            skip_first_batches. Without it, resume with load_state alone: the count and the epoch begin at 0.
    """

    def make() -> _Run:
        return _Run(build())

    def advance(run: _Run, steps: int) -> Sequence[float]:
        return [run.step() for _ in range(steps)]

    def save(run: _Run, folder: Path) -> None:
        run.loop.accelerator.save_state(str(folder / f"step_{run.done}" if skip else folder))

    def resume(folder: Path) -> _Run:
        loop = build()
        where, done = _noted(folder) if skip else (folder, 0)
        loop.accelerator.load_state(str(where))
        return _Run(loop, done)

    def observe(run: _Run) -> dict[str, Any]:
        loop, batch = run.loop, run.look()
        model = loop.accelerator.unwrap_model(loop.model)
        return components(
            model,
            loop.optimizer,
            schedule=loop.scheduler,
            step=run.done,
            batch=batch,
            scaler=loop.accelerator.scaler,
        )

    return Five(make, advance, save, resume, observe)


def _batches(loop: Loop, epoch: int, skipped: int) -> Iterator[Any]:
    """Batches without end, from the middle of an epoch."""
    while True:
        loop.model.train()
        if loop.begin_epoch:
            loop.begin_epoch(epoch)
        loader, any_left = loop.loader, False
        if skipped:
            loader = loop.accelerator.skip_first_batches(loader, skipped)
        for batch in loader:
            any_left = True
            yield batch
        if not any_left:
            raise LoopError(f"the loader gave no batch in epoch {epoch}: give it one at least")
        epoch, skipped = epoch + 1, 0


def _length(loader: Any) -> int:
    try:
        return len(loader)
    except TypeError:
        raise LoopError("the loader has no length, so no epoch to resume in: audit with skip=False") from None


def _noted(folder: Path) -> tuple[Path, int]:
    """The folder's checkpoint, and the count of batches that its name notes."""
    for entry in sorted(folder.iterdir()):
        if match := _NOTED.fullmatch(entry.name):
            return entry, int(match[1])
    raise LoopError(f"{folder} holds no folder step_N, N the count of batches: save with skip=True, too")
