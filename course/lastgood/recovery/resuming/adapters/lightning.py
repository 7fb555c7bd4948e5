"""The five functions for Lightning's Trainer, imported as `lightning` or as `pytorch_lightning`.

`fit()` owns the loop, so it runs in a thread of its own and is held by a callback: before a batch, where the
run is looked at, and after one, where ModelCheckpoint saves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lastgood.recovery.resuming.adapters.handover import Handover
from lastgood.recovery.resuming.five import Five
from lastgood.recovery.resuming.observing import components

NAME = "lightning.ckpt"
_LOOK, _SAVE = "on_train_batch_start", "on_train_batch_end"
_HOME = ".trainer.trainer"  # where a package of Lightning's has its Trainer
_PACKAGES = ("lightning.pytorch", "pytorch_lightning")


class FitError(RuntimeError):
    """A `fit()` that cannot be audited as it is."""


class _Run:
    """A `fit()` in its thread. It is held at the first batch from the beginning."""

    def __init__(self, trainer: Any, module: Any, data: Any, **fit: Any) -> None:
        self.trainer = trainer
        self.batch: Any = None  # the next, or the last
        self._loss: Any = None
        _quieten(trainer)
        _hold(trainer, self._before, self._after)
        # Only by this name does fit() take both a loader and a LightningDataModule.
        self._loop = Handover(lambda: trainer.fit(module, train_dataloaders=data, **fit))
        self._at = ""
        self.look()

    def look(self) -> None:
        """Let the loop go on until its next batch is there."""
        if self._at != _LOOK:
            self._go_on(_LOOK)

    def step(self) -> float:
        """Train up to the next step of the optimizer; its loss."""
        done, loss = self.trainer.global_step, 0.0
        while self.trainer.global_step == done:
            self._go_on(_SAVE)
            loss += self._loss  # Lightning has divided it by the number of accumulated batches
        return loss

    def _go_on(self, point: str) -> None:
        self._at = self._loop.resume_until({point})
        if self._at != point:
            steps = self.trainer.global_step
            raise FitError(
                f"fit() ended after {steps} steps, which is max_epochs, max_steps or an early stop: "
                "audit fewer steps, or let the Trainer train longer"
            )

    def _before(self, trainer: Any, module: Any, batch: Any, index: int) -> None:
        self.batch = batch
        self._loop.reached(_LOOK)

    def _after(self, trainer: Any, module: Any, outputs: Any, batch: Any, index: int) -> None:
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if loss is None:
            raise FitError("training_step returned no loss: return it from a manual optimization, too")
        self._loss = float(loss)
        self._loop.reached(_SAVE)


def lightning(build: Callable[[], tuple[Any, Any, Any]], **fit: Any) -> Five:
    """The five functions for what `build` makes anew at each call.

    The Trainer keeps its settings, max_epochs and max_steps among them. Its progress bar, its summary, its
    loggers and its own checkpoints are taken off.

    Args:
        build: seeds, and returns a Trainer, a LightningModule, and a loader or a LightningDataModule.
        fit: further arguments of `Trainer.fit` on a resume, such as weights_only.
    """

    def make() -> _Run:
        return _Run(*build())

    def advance(run: _Run, steps: int) -> Sequence[float]:
        return [run.step() for _ in range(steps)]

    def save(run: _Run, folder: Path) -> None:
        run.trainer.save_checkpoint(folder / NAME)

    def resume(folder: Path) -> _Run:
        return _Run(*build(), ckpt_path=str(folder / NAME), **fit)

    def observe(run: _Run) -> dict[str, Any]:
        run.look()
        trainer = run.trainer
        if not trainer.optimizers:
            raise FitError("the module has no optimizer: return one from configure_optimizers")
        first, *others = trainer.optimizers
        return components(
            trainer.lightning_module,
            first,
            schedule=_schedules([config.scheduler for config in trainer.lr_scheduler_configs]),
            step=trainer.global_step,
            batch=run.batch,
            scaler=getattr(trainer.precision_plugin, "scaler", None),
            **{f"optimizer {number}": other.state_dict() for number, other in enumerate(others, 2)},
        )

    return Five(make, advance, save, resume, observe)


def _schedules(schedules: list[Any]) -> Any:
    """One schedule, or something that has the state of several."""
    if len(schedules) > 1:
        return SimpleNamespace(state_dict=lambda: [schedule.state_dict() for schedule in schedules])
    return schedules[0] if schedules else None


def _package(trainer: Any) -> str:
    """Of the two packages, the one that this Trainer is from: each has its own callbacks."""
    homes = {kind.__module__ for kind in type(trainer).__mro__}
    for package in _PACKAGES:
        if package + _HOME in homes:
            return package
    raise FitError(f"build returned a {type(trainer).__name__} first: return (Trainer, module, data)")


def _quieten(trainer: Any) -> None:
    """Take off what writes files of its own or on the screen. None of it takes part in training."""
    package = _package(trainer)
    callbacks = import_module(f"{package}.callbacks")
    kinds = (callbacks.ProgressBar, callbacks.ModelSummary, callbacks.Checkpoint)
    trainer.callbacks[:] = [callback for callback in trainer.callbacks if not isinstance(callback, kinds)]
    if trainer.loggers:  # the user's code may call them
        trainer.loggers = [import_module(f"{package}.loggers.logger").DummyLogger()]


def _hold(trainer: Any, before: Callable[..., None], after: Callable[..., None]) -> None:
    """Have these called, after all other callbacks."""
    base = import_module(f"{_package(trainer)}.callbacks").LambdaCallback
    # Of a type of its own, since a module's own callbacks replace the trainer's of the same type.
    hold = type("Hold", (base,), {"__doc__": "Holds the loop."})
    trainer.callbacks.append(hold(on_train_batch_start=before, on_train_batch_end=after))
