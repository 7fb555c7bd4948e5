"""Lab 00's checks: the small GPT piece by piece, its training, and its text."""

from lastgood.teaching.checks.blanks import loss_check, mask_check
from lastgood.teaching.checks.core import Checks
from lastgood.teaching.checks.lab00.block import BLOCK, MLP
from lastgood.teaching.checks.lab00.heads import HEADS
from lastgood.teaching.checks.lab00.heldout import HELDOUT
from lastgood.teaching.checks.lab00.passages import PREDICTS, SEES
from lastgood.teaching.checks.lab00.sampling import SAMPLE
from lastgood.teaching.checks.lab00.step import STEP
from lastgood.teaching.checks.lab00.vectors import EMBED
from lastgood.teaching.checks.lab00.weights import WEIGHTS
from lastgood.teaching.checks.lab00.whole import WHOLE_MODEL

__all__ = [
    "BLOCK",
    "CHECKS",
    "EMBED",
    "HEADS",
    "HELDOUT",
    "LOSS",
    "MASK",
    "MLP",
    "SAMPLE",
    "STEP",
    "TAUGHT",
    "WEIGHTS",
    "WHOLE_MODEL",
    "check",
]

TAUGHT = ("lastgood.training.model",)
MASK = mask_check("B1 Causal mask", SEES)
LOSS = loss_check("D1 Shifted loss", PREDICTS)
CHECKS = (EMBED, MASK, WEIGHTS, HEADS, MLP, BLOCK, WHOLE_MODEL, LOSS, STEP, HELDOUT, SAMPLE)
check = Checks(*CHECKS)
