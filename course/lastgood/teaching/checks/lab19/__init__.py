"""Lab 19's checks: what happened, the last good checkpoint, deaths without progress, the loop, lost work."""

from lastgood.teaching.checks.core import Checks, warm_up
from lastgood.teaching.checks.lab19.found import FOUND
from lastgood.teaching.checks.lab19.happened import HAPPENED
from lastgood.teaching.checks.lab19.loop import LOOP
from lastgood.teaching.checks.lab19.lost import ETTR, LOST
from lastgood.teaching.checks.lab19.progress import PROGRESS

__all__ = ["CHECKS", "ETTR", "FOUND", "HAPPENED", "LOOP", "LOST", "PROGRESS", "TAUGHT", "check"]

TAUGHT = ("lastgood.recovery.checkpoint.lookup", "lastgood.recovery.supervise")
CHECKS = (HAPPENED, FOUND, PROGRESS, LOOP, LOST, ETTR)
check = Checks(*CHECKS)

warm_up()
