"""Accelerate, really run, saved, killed and resumed, and its checkpoints described."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lastgood.recovery.inspect import inspect

from .conftest import Audited, lost

pytestmark = [pytest.mark.slow, pytest.mark.needs_frameworks]
STEPS, EPOCH = 7, 3  # steps until the save, which is inside an epoch; steps of an epoch
WITHOUT = """
from functools import partial
from accelerate_mended import build
from lastgood.recovery.resuming.adapters import accelerate
make, advance, save, resume, observe = accelerate(partial(build, {measure}=False))
"""



# Accelerate 1.15.0, torch 2.13. save_accelerator_state writes all global generators, and no sampler of a data
# set that has a length. So inside an epoch:
# data loader: torch's RandomSampler.__iter__ draws an epoch's order from that generator at the epoch's start.
#     load_state puts back that of the save, so skip_first_batches skips in another order.
# NumPy RNG: DataLoaderShard.__iter__ reads a batch ahead: its noise is drawn before the save, and once more.
# torch RNG: torch's _BaseDataLoaderIter.__init__ draws a number, and a resumed run begins to iterate again.
def test_inside_an_epoch_the_documented_resume_loses_the_data_and_two_generators(audited: Audited) -> None:
    report = audited("accelerate_run", before=STEPS)
    assert lost(report) == ["data loader", "NumPy RNG", "torch RNG"]
    assert (report.first_step, report.writer) == (STEPS, "Hugging Face Accelerate")
    in_file = {finding.component: finding.in_file for finding in report.findings}
    assert in_file["NumPy RNG"] == in_file["torch RNG"] == "held"  # in the file, and not enough
    assert in_file["data loader"] == "missing"


def test_between_epochs_the_documented_resume_loses_nothing(audited: Audited) -> None:
    report = audited("accelerate_run", before=2 * EPOCH, after=EPOCH)
    assert (lost(report), report.first_step, report.second_step, report.status) == ([], None, None, 0)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param(STEPS, ["step", "data loader", "NumPy RNG", "torch RNG"], id="inside an epoch"),
        pytest.param(2 * EPOCH, ["step"], id="between epochs"),
    ],
)
def test_load_state_alone_brings_back_no_count_of_steps(
    audited: Audited, before: int, expected: list[str]
) -> None:
    report = audited("accelerate_naive", before=before)
    assert lost(report) == expected
    step = next(finding for finding in report.lost if finding.component == "step")
    assert "nothing was put back" in step.why


def test_data_that_follow_from_the_count_of_batches_come_back(audited: Audited) -> None:
    report = audited("accelerate_mended", before=STEPS)
    assert (lost(report), report.first_step, report.second_step, report.status) == ([], None, None, 0)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("steady", ["data loader", "NumPy RNG"]),
        ("seedable", ["data loader"]),
        # Accelerate 1.15.0: DataLoaderShard.iteration is in no checkpoint, so __iter__ begins at epoch 0.
        ("told", ["data loader"]),
        ("own", ["torch RNG"]),
    ],
)
def test_each_measure_mends_one_loss(
    audited: Audited, written: Callable[[str], str], measure: str, expected: list[str]
) -> None:
    assert lost(audited(written(WITHOUT.format(measure=measure)), before=STEPS)) == expected


def test_what_a_real_checkpoint_holds(saved: Callable[[str, int], Path]) -> None:
    folder = saved("accelerate_run", STEPS)
    assert [entry.name for entry in folder.iterdir()] == ["step_12"]  # batches
    report = inspect(folder)
    assert (report.writer, report.status) == ("Hugging Face Accelerate", 1)
    assert [file.name for file in report.files] == [
        "model.safetensors", "optimizer.bin", "random_states_0.pkl", "scheduler.bin",
    ]  # fmt: skip
    assert {finding.component for finding in report.missing} == {"loader"}
    assert (report.faults, report.classes, report.dangers) == ([], [], [])
    assert (report["parameters"].tensors, report["buffers"].tensors) == (6, 3)
    assert report["moments"].detail == "exp_avg, exp_avg_sq of 6 of 6 parameters."
    assert report["position"].detail == f"last_epoch is {STEPS}."
    assert (report["step"].status, report["step"].where) == ("cannot be told", ["random_states_0.pkl:step"])
    held = [finding.component for finding in report.findings if finding.status == "held"]
    assert held == [
        "parameters", "buffers", "moments", "counts", "position", "Python RNG", "NumPy RNG", "torch RNG",
    ]  # fmt: skip
