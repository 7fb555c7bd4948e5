"""Real training code in torch: whatever it forgets to save is the component that is named, and no other."""

import shutil
from pathlib import Path

import pytest

from lastgood.recovery.resuming import audit

pytestmark = pytest.mark.slow
MODULES = Path(__file__).parent / "modules"
FORGETS = {
    "whole": ("", []),
    "optimizer": ("whole.put = without('optimizer')", ["optimizer"]),
    "position": (
        "whole.put = without('loader', ['rng', 'numpy'])",
        ["data loader", "NumPy RNG"],
    ),
}
OTHERS = {
    "model": ("whole.put = without('model')", ["parameters", "buffers"]),
    "buffers": ("whole.state = lambda run: weights_alone(run)", ["buffers"]),
    "schedule": ("whole.put = without('schedule')", ["schedule"]),
    "step": ("whole.put = without('step')", ["step"]),
    "python": ("whole.put = without(['rng', 'python'])", ["Python RNG"]),
    "torch": ("whole.put = without(['rng', 'torch'])", ["torch RNG"]),
}
# A resume that puts back all but some: those keep what the new run has.
HEAD = """
import whole
from whole import *

everything, put_all = whole.state, whole.put

def without(*paths):
    def put(run, saved):
        own = everything(run)
        for path in paths:
            *above, last = [path] if isinstance(path, str) else path
            mine, theirs = own, saved
            for key in above:
                mine, theirs = mine[key], theirs[key]
            theirs[last] = mine[last]
        put_all(run, saved)
    return put

def weights_alone(run):
    found = everything(run)
    found["model"] = {**whole.build(3).model.state_dict(), **dict(run.model.named_parameters())}
    return found
"""


@pytest.mark.parametrize(
    ("more", "lost"),
    [
        *(pytest.param(*case, id=name) for name, case in FORGETS.items()),
        *(pytest.param(*case, id=name, marks=pytest.mark.nightly) for name, case in OTHERS.items()),
    ],
)
def test_what_is_forgotten_is_what_is_named(tmp_path, more, lost):
    shutil.copy(MODULES / "whole.py", tmp_path)
    (tmp_path / "mine.py").write_text(f"{HEAD}\n{more}\n")
    report = audit(str(tmp_path / "mine.py"))
    assert report.stopped == ""
    assert [finding.component for finding in report.lost] == lost
    assert report.status == bool(lost)
    assert report.writer == "torch.save"
    assert {finding.in_file for finding in report.findings} == {"held"}
