"""Lab 18, part A: the two blanks of the GPT."""

from lastgood.teaching.checks.blanks import loss_check, mask_check
from lastgood.teaching.checks.lab18.passages import PREDICTS, SEES

MASK = mask_check("A1 Causal mask", SEES)
LOSS = loss_check("A2 Shifted loss", PREDICTS)
