"""Hugging Face's Trainer, held between its steps.

Its loop is left as it is: steps, schedule, epochs and the order of events are those of `build`. Held at

    LOOK      before a step's first micro-batch is trained on: the step's batches are fetched, and a resume
              has put back all that it puts back
    STEPPED   after a step, and before what Trainer does then: log, evaluate, save
    SAVED     after Trainer has written its checkpoint
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lastgood.recovery.resuming.adapters.handover import END, Handover
from lastgood.recovery.resuming.five import Five
from lastgood.recovery.resuming.observing import components

LOOK, STEPPED, SAVED = "look", "stepped", "saved"


class TrainerError(RuntimeError):
    """A Trainer that cannot be audited as it was built, or a checkpoint that is not there."""


def trainer(build: Callable[[], Any]) -> Five:
    """The five functions for a `transformers.Trainer`.

    A step's loss is the sum over its micro-batches of what `training_step` returns, as Trainer logs it.
    `save` leaves a folder `checkpoint-N`; `resume` is `train(resume_from_checkpoint=…)`. While it is
    audited, the Trainer does not evaluate, report or push, and saves only when it is asked to.

    Args:
        build: returns a new Trainer, untrained, with the arguments of the real run. Do not shorten it:
            the schedule's horizon depends on `max_steps` or `num_train_epochs`. It must be longer than
            the audit. Seed in it what your script seeds.
    """
    return Five(
        make=lambda: _Run(build()),
        advance=_advance,
        save=_save,
        resume=lambda folder: _Run(build(), checkpoint=_newest(folder)),
        observe=_observe,
    )


class _Run:
    """A Trainer, and where its loop is held."""

    def __init__(self, built: Any, checkpoint: str | None = None) -> None:
        self.trainer = built
        self.batches: Sequence[Any] = ()  # of the step that is to come
        self.losses: list[Any] = []  # of the micro-batches so far
        self.saving = False
        self.at = ""
        _prepare(self)
        self.handover = Handover(lambda: built.train(resume_from_checkpoint=checkpoint))
        self.go_on_to(LOOK)  # so that an error in restoring is an error of `resume`

    def go_on_to(self, point: str) -> None:
        if self.handover.resume_until({point}) == END:
            state = self.trainer.state
            raise TrainerError(
                f"training ended at step {state.global_step} of {state.max_steps}, before the audit did: "
                "give the Trainer more steps (max_steps, num_train_epochs), or audit fewer"
            )
        self.at = point


def _advance(run: _Run, steps: int) -> list[float]:
    losses = []
    for _ in range(steps):
        run.go_on_to(STEPPED)
        losses.append(float(sum(run.losses)))
        run.losses = []
    return losses


def _save(run: _Run, folder: Path) -> None:
    if run.at != STEPPED:
        raise TrainerError("Trainer saves after a step: call save() right after advance()")
    run.trainer.args.output_dir = str(folder)
    run.saving = True
    run.go_on_to(SAVED)


def _newest(folder: Path) -> str:
    from transformers.trainer_utils import get_last_checkpoint

    found: str | None = get_last_checkpoint(str(folder))
    if found is None:
        raise TrainerError(f"{folder} has no checkpoint-N in it: resume() needs what save() has left")
    return found


def _observe(run: _Run) -> dict[str, Any]:
    if run.at != LOOK:
        run.go_on_to(LOOK)
    trainer = run.trainer
    return components(
        trainer.model,
        trainer.optimizer,
        schedule=trainer.lr_scheduler,
        step=trainer.state.global_step,
        batch=list(run.batches),
        scaler=getattr(trainer.accelerator, "scaler", None),
    )


def _prepare(run: _Run) -> None:
    """Have the loop report its points, and do nothing beside training."""
    from transformers import PrinterCallback, ProgressCallback, Trainer
    from transformers.integrations import get_reporting_integration_callbacks

    if not isinstance(run.trainer, Trainer):
        kind = type(run.trainer).__name__
        raise TrainerError(f"build() returned a {kind}: return the transformers.Trainer itself, untrained")
    args = run.trainer.args
    args.eval_on_start = args.push_to_hub = False
    for callback in (PrinterCallback, ProgressCallback, *get_reporting_integration_callbacks(args.report_to)):
        run.trainer.remove_callback(callback)
    run.trainer.add_callback(_points(run))  # the last: what other callbacks ask for is known by then
    _watch(run)


def _watch(run: _Run) -> None:
    """See each step's batches and losses go by."""
    fetch, train_on = run.trainer.get_batch_samples, run.trainer.training_step

    def get_batch_samples(*args: Any, **kwargs: Any) -> Any:
        batches, count = fetch(*args, **kwargs)
        run.batches = batches
        return batches, count

    def training_step(*args: Any, **kwargs: Any) -> Any:
        if not run.losses:
            run.handover.reached(LOOK)
        loss = train_on(*args, **kwargs)
        run.losses.append(loss)
        return loss

    run.trainer.get_batch_samples, run.trainer.training_step = get_batch_samples, training_step


def _points(run: _Run) -> Any:
    from transformers import TrainerCallback

    class Points(TrainerCallback):  # type: ignore[misc]  # transformers is not there for the type checker
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            run.handover.reached(STEPPED)
            self._only_what_is_asked_for(control)

        def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self._only_what_is_asked_for(control)

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            run.saving = False
            run.handover.reached(SAVED)

        def _only_what_is_asked_for(self, control: Any) -> None:
            control.should_evaluate = False
            control.should_save = run.saving

    return Points()
