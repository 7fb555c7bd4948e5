"""Hugging Face's Trainer, really run, saved, killed and resumed, and its checkpoints described.

What it loses was seen with Transformers 5.24 and Accelerate 1.15. A test that fails with other versions
says that this has changed.
"""

import math
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from lastgood.recovery.inspect import Report as Described
from lastgood.recovery.inspect import inspect
from lastgood.recovery.resuming import AuditError
from lastgood.recovery.resuming.children import Child, Trouble

from .conftest import RUNS, Audited, lost

pytestmark = [pytest.mark.slow, pytest.mark.needs_frameworks]
RUN = str(RUNS / "trainer_run.py")
PATIENCE = 60
STEPS, EPOCH, HORIZON = 7, 10, 40  # of trainer_run: until the save, an epoch's, the whole run's
FILES = {"model.safetensors", "optimizer.pt", "rng_state.pth", "scheduler.pt", "trainer_state.json",
         "training_args.bin"}  # fmt: skip
GENERATORS = ("Python RNG", "NumPy RNG", "torch RNG")
BYTES = {"torch.float32": 4, "torch.int64": 8}
CHANGED = """
from functools import partial
from trainer_run import build
from lastgood.recovery.resuming.adapters import trainer
make, advance, save, resume, observe = trainer({build})
"""

Forked = Callable[[str, float], AbstractContextManager[Child]]
Changed = Callable[[str], str]


@pytest.fixture
def changed(written: Callable[[str], str]) -> Changed:
    """A module like trainer_run, whose Trainer is built in another way."""
    return lambda build: written(CHANGED.format(build=build))


def test_by_default_all_comes_back_from_inside_an_epoch(audited: Audited) -> None:
    report = audited("trainer_run")
    assert (lost(report), report.first_step, report.second_step, report.status) == ([], None, None, 0)
    assert report.writer == "Hugging Face Trainer"
    assert len(report.findings) == 9


# Trainer._run_epoch fetches a step's batches (get_batch_samples) before it puts the generators back
# (_load_rng_state), so what an item draws as it is fetched comes from other numbers than in the run that was
# killed. Accelerate's DataLoaderShard reads a batch ahead besides: the run that was killed had saved the
# generators after it had read the next batch. Between epochs Trainer puts them back before it fetches.
@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param(STEPS, ["data loader", "Python RNG", "NumPy RNG"], id="inside an epoch"),
        pytest.param(EPOCH, [], id="between epochs"),
    ],
)
def test_data_that_draw_random_numbers_come_back_between_epochs_alone(
    audited: Audited, changed: Changed, before: int, expected: list[str]
) -> None:
    report = audited(changed("partial(build, noisy=True)"), before=before, after=EPOCH)
    assert lost(report) == expected
    assert report.first_step == (before if expected else None)
    assert {finding.in_file for finding in report.findings if finding.component in GENERATORS} == {"held"}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        # The epoch is read anew. torch's generator is put back, and then a new iterator draws its base seed.
        ("ignore_data_skip=True", ["data loader", "torch RNG"]),
        # Nothing draws from Python's and NumPy's generators here, and building a Trainer seeds them alike.
        ("save_only_model=True", ["optimizer", "schedule", "torch RNG"]),
    ],
)
def test_a_setting_that_loses_something_loses_just_that(
    audited: Audited, changed: Changed, setting: str, expected: list[str]
) -> None:
    report = audited(changed(f"partial(build, {setting})"))
    assert (lost(report), report.first_step, report.status) == (expected, STEPS, 1)


def test_unseeded_shuffling_is_right_in_the_first_epoch_and_wrong_after_it(
    audited: Audited, changed: Changed
) -> None:
    # RandomSampler draws its seed from torch's generator as an epoch begins. A resume inside the epoch does
    # not go back there; but a new run stands where the first epoch began.
    report = audited(changed("partial(build, accelerator_config={'use_seedable_sampler': False})"))
    assert (lost(report), report.first_step, report.second_step) == (["data loader"], None, 2 * STEPS + 1)
    assert [finding.status for finding in report.lost] == ["lost the second time"]


@pytest.mark.nightly
def test_persistent_workers_change_the_dropout_of_the_next_epoch(audited: Audited, changed: Changed) -> None:
    # A run that goes on keeps its loader's iterator. A resumed one reads the rest of its epoch with another
    # loader (skip_first_batches), so the next epoch makes an iterator, which draws from torch's generator.
    report = audited(changed("partial(build, dataloader_num_workers=1, dataloader_persistent_workers=True)"))
    assert (lost(report), report.first_step, report.status) == ([], EPOCH, 1)


def test_what_trainer_would_save_and_print_by_itself_it_does_not(
    forked: Forked, changed: Changed, tmp_path: Path
) -> None:
    build = "partial(build, output_dir='own', save_strategy='steps', save_steps=2, logging_steps=1)"
    with forked(f"{changed(build)}.py", PATIENCE) as process:
        process.ask("make")
        process.ask("advance", STEPS)
        assert process._printed() == ""
    assert list((tmp_path / "own").iterdir()) == []


@pytest.mark.parametrize(
    ("build", "message"),
    [
        ("partial(build, max_steps=10)", "training ended at step 10 of 10, before the audit did"),
        ("lambda: build().args", "build() returned a TrainingArguments: return the transformers.Trainer"),
    ],
)
def test_what_cannot_be_audited_is_said(audited: Audited, changed: Changed, build: str, message: str) -> None:
    with pytest.raises(AuditError) as caught:
        audited(changed(build))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ([["make"], ["save", "."]], "call save() right after advance()"),
        ([["resume", "."]], "has no checkpoint-N in it"),
    ],
)
def test_a_call_out_of_order_is_refused(forked: Forked, orders: list[list[Any]], message: str) -> None:
    *before, last = orders
    with forked(RUN, PATIENCE) as process:
        for order in before:
            process.ask(*order)
        with pytest.raises(Trouble) as caught:
            process.ask(*last)
    assert message in str(caught.value)


def tensors(leaves: dict[str, Any]) -> tuple[int, int]:
    """How many there are in an observed component, and their bytes."""
    found = [leaf for leaf in leaves.values() if leaf[0] == "tensor"]
    return len(found), sum(BYTES[dtype] * math.prod(shape) for _, dtype, shape, *_ in found)


def described(forked: Forked, module: str, folder: Path) -> tuple[Described, dict[str, Any]]:
    """A real checkpoint, described; and the real objects that it was made from."""
    folder.mkdir()
    with forked(module, PATIENCE) as process:
        process.ask("make")
        process.ask("advance", STEPS)
        process.ask("save", str(folder))
        return inspect(folder), process.ask("observe")


def test_a_real_checkpoint_is_described_as_it_is(forked: Forked, tmp_path: Path) -> None:
    report, objects = described(forked, RUN, tmp_path / "saved")
    assert report.writer == "Hugging Face Trainer"
    held = {"parameters", "buffers", "moments", "counts", "step", "position", "horizon", *GENERATORS}
    assert {finding.component for finding in report.findings if finding.status == "held"} == held
    assert report.missing == []
    assert (report.status, report.faults, report.notes, report.dangers) == (0, [], [], [])
    for component, seen in (("parameters", "parameters"), ("buffers", "buffers"), ("moments", "optimizer")):
        assert (report[component].tensors, report[component].bytes) == tensors(objects[seen]), component
    assert report["step"].detail == f"{STEPS}."
    assert report["position"].detail == f"last_epoch is {STEPS}."
    assert report["horizon"].detail == f"{HORIZON}."
    assert {file.name for file in report.files} == FILES


def test_the_pickled_arguments_are_described_and_transformers_is_not_imported(
    forked: Forked, tmp_path: Path
) -> None:
    report, _ = described(forked, RUN, tmp_path / "saved")
    assert report.classes[0] == "transformers.training_args.TrainingArguments"
    code = (
        "import sys; from lastgood.recovery.inspect import inspect; inspect(sys.argv[1]);"
        "assert not {'torch', 'transformers', 'accelerate'} & set(sys.modules)"
    )
    arguments = tmp_path / "saved" / f"checkpoint-{STEPS}" / "training_args.bin"
    subprocess.run([sys.executable, "-c", code, str(arguments)], check=True, timeout=60)


def test_a_real_checkpoint_of_the_model_alone_lacks_what_it_lacks(
    forked: Forked, changed: Changed, tmp_path: Path
) -> None:
    module = changed("partial(build, save_only_model=True)")
    report, _ = described(forked, f"{module}.py", tmp_path / "saved")
    assert [finding.component for finding in report.missing] == ["moments", "counts", *GENERATORS]
    assert report["step"].detail == f"{STEPS}."
    assert report["position"].status == "cannot be told"
    assert report.status == 1
