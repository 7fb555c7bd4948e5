"""Lab 08's checks: counts, bytes, two updates, a file, and what a restart costs."""

from lastgood.teaching.checks.core import Checks
from lastgood.teaching.checks.lab08.counts import COUNT, STATE
from lastgood.teaching.checks.lab08.files import FILE
from lastgood.teaching.checks.lab08.moments import MOMENTS
from lastgood.teaching.checks.lab08.momentum import MOMENTUM
from lastgood.teaching.checks.lab08.restarts import FIRST_UPDATE
from lastgood.teaching.checks.lab08.sizes import CHECKPOINT, MEMORY, OPT_SIZE
from lastgood.teaching.checks.lab08.update import UPDATE

__all__ = [
    "CHECKPOINT",
    "CHECKS",
    "COUNT",
    "FILE",
    "FIRST_UPDATE",
    "MEMORY",
    "MOMENTS",
    "MOMENTUM",
    "OPT_SIZE",
    "STATE",
    "TAUGHT",
    "UPDATE",
    "check",
]

TAUGHT = ("lastgood.training.memory",)
CHECKS = (COUNT, STATE, MEMORY, CHECKPOINT, OPT_SIZE, MOMENTUM, MOMENTS, UPDATE, FILE, FIRST_UPDATE)
check = Checks(*CHECKS)
