"""Lab 17's checks: schedule, clipping, a schedule that counts, its saves, what a wrong restart costs."""

from lastgood.teaching.checks.core import Checks
from lastgood.teaching.checks.lab17.after import AFTER
from lastgood.teaching.checks.lab17.betas import BETAS
from lastgood.teaching.checks.lab17.clipping import CLIPPING
from lastgood.teaching.checks.lab17.counting import COUNTING
from lastgood.teaching.checks.lab17.damage import DAMAGE, SEEN
from lastgood.teaching.checks.lab17.rate import RATE
from lastgood.teaching.checks.lab17.saving import SAVING

__all__ = [
    "AFTER",
    "BETAS",
    "CHECKS",
    "CLIPPING",
    "COUNTING",
    "DAMAGE",
    "RATE",
    "SAVING",
    "SEEN",
    "TAUGHT",
    "check",
]

TAUGHT = ("lastgood.training.schedule",)
CHECKS = (RATE, CLIPPING, COUNTING, SAVING, AFTER, DAMAGE, SEEN, BETAS)
check = Checks(*CHECKS)
