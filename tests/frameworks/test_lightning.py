"""Lightning, really run, saved, killed and resumed, and its checkpoints described."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lastgood.recovery.inspect import inspect
from lastgood.recovery.resuming import AuditError

from .conftest import RUNS, Audited, lost

pytestmark = [pytest.mark.slow, pytest.mark.needs_frameworks]
STEPS, EPOCH = 7, 3  # steps until the save, which is inside an epoch; steps of an epoch
RNGS = ["Python RNG", "NumPy RNG", "torch RNG"]
CHANGED = """
from {module} import *
from torch.utils.data import DataLoader
import torch

{code}

make, advance, save, resume, observe = lightning(build)
"""

BY_HAND = """
class Pair(Network):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def configure_optimizers(self):
        both = [torch.optim.AdamW(part.parameters(), lr=0.01) for part in (self.layers[:2], self.layers[2:])]
        return both, [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9) for optimizer in both]

    def training_step(self, batch, index):
        loss = super().training_step(batch, index)
        self.zero_grad()
        self.manual_backward(loss)
        for optimizer, schedule in zip(self.optimizers(), self.lr_schedulers()):
            optimizer.step()
            schedule.step()
        return loss

def build():
    seed(1)
    return L.Trainer(accelerator="cpu", max_steps=99, callbacks=[KeepRNG()]), Pair(), Resumable(Noisy())
"""
SILENT = """
class Silent(Network):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, index):
        self.optimizers().step()

def build():
    return L.Trainer(accelerator="cpu"), Silent(), DataLoader(Noisy(), batch_size=8)
"""
SHORT = """
def build():
    seed(1)
    return L.Trainer(accelerator="cpu", max_steps=9), Network(), DataLoader(Noisy(), batch_size=8)
"""
TURNED = """
def build():
    return Network(), trainer_of(), DataLoader(Noisy())
"""



@pytest.fixture
def changed(written: Callable[[str], str]) -> Callable[[str, str], str]:
    """A module of `runs` with something of it defined anew."""
    return lambda module, code: written(CHANGED.format(module=module, code=code))


# Lightning 2.6.6. Between epochs, too: _CheckpointConnector.dump_checkpoint writes no generator, and
# CombinedLoader._state_dicts asks only loaders that have a state_dict, which torch's DataLoader has not.
# _TrainingEpochLoop.reset warns of that inside an epoch.
@pytest.mark.parametrize("before", [STEPS, 2 * EPOCH])
def test_by_default_the_data_and_all_generators_are_lost(audited: Audited, before: int) -> None:
    report = audited("lightning_run", before=before)
    assert lost(report) == ["data loader", *RNGS]
    assert (report.first_step, report.writer) == (before, "Lightning")
    for finding in report.lost:
        assert finding.in_file == "missing"
        assert "nothing was put back" in finding.why


@pytest.mark.parametrize("before", [STEPS, 2 * EPOCH])
def test_with_a_stateful_loader_and_a_callback_for_the_generators_all_comes_back(
    audited: Audited, before: int
) -> None:
    report = audited("lightning_mended", before=before, after=EPOCH)
    assert (lost(report), report.first_step, report.second_step, report.status) == ([], None, None, 0)
    assert {finding.in_file for finding in report.findings if "RNG" in finding.component} == {"held"}


def test_the_other_package_is_audited_alike(audited: Audited, changed: Callable[[str, str], str]) -> None:
    run = RUNS / "lightning_run.py"
    other = run.read_text().replace("import lightning as L", "import pytorch_lightning as L")
    module = changed("lightning_run", other)
    assert lost(audited(module)) == ["data loader", *RNGS]


def test_two_optimizers_stepped_by_hand_are_both_looked_at(
    audited: Audited, changed: Callable[[str, str], str]
) -> None:
    module = changed("lightning_mended", BY_HAND)
    report = audited(module)
    assert (lost(report), report.status) == ([], 0)
    assert "optimizer 2" in [finding.component for finding in report.findings]


def test_it_writes_nothing_of_its_own(audited: Audited, tmp_path: Path) -> None:
    audited("lightning_run")  # whose Trainer has its loggers and its checkpoints as they are by default
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(SHORT, "fit() ended after 9 steps", id="short"),
        pytest.param(TURNED, "build returned a Network first", id="turned"),
        pytest.param(SILENT, "training_step returned no loss", id="silent"),
    ],
)
def test_a_fit_that_cannot_be_audited_says_why(
    audited: Audited, changed: Callable[[str, str], str], code: str, message: str
) -> None:
    with pytest.raises(AuditError, match="FitError") as caught:
        audited(changed("lightning_run", code))
    assert message in str(caught.value)


def test_what_a_real_checkpoint_holds(saved: Callable[[str, int], Path]) -> None:
    report = inspect(saved("lightning_run", STEPS))
    assert (report.writer, report.status) == ("Lightning", 1)
    assert [(file.name, file.format) for file in report.files] == [("lightning.ckpt", "torch.save, zip")]
    assert {finding.component for finding in report.missing} == {"loader", *RNGS}
    assert (report.faults, report.classes, report.dangers) == ([], [], [])
    assert (report["parameters"].tensors, report["buffers"].tensors) == (6, 3)
    assert report["moments"].detail == "exp_avg, exp_avg_sq of 6 of 6 parameters."
    assert (report["step"].detail, report["step"].where) == (f"{STEPS}.", ["lightning.ckpt:global_step"])
    assert report["position"].detail == f"last_epoch is {STEPS}."


def test_what_is_added_to_a_real_checkpoint_is_found(saved: Callable[[str, int], Path]) -> None:
    report = inspect(saved("lightning_mended", STEPS))
    assert (report.status, report.missing) == (0, [])
    assert report["loader"].detail == "given 12."
    assert report["loader"].where == ["lightning.ckpt:loops.fit_loop.state_dict.combined_loader.0"]
