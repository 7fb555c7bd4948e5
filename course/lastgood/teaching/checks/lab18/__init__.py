"""Lab 18's checks: the two blanks of the GPT, capture and restore, save and load, and the numbers."""

from lastgood.teaching.checks.core import Checks, warm_up
from lastgood.teaching.checks.lab18.contents import CONTENTS
from lastgood.teaching.checks.lab18.disk import DURABILITY
from lastgood.teaching.checks.lab18.model import LOSS, MASK
from lastgood.teaching.checks.lab18.numbers import BYTES, HOURS, LOST, SYMPTOM
from lastgood.teaching.checks.lab18.plan import TAUGHT

__all__ = [
    "BYTES",
    "CHECKS",
    "CONTENTS",
    "DURABILITY",
    "HOURS",
    "LOSS",
    "LOST",
    "MASK",
    "SYMPTOM",
    "TAUGHT",
    "check",
]

CHECKS = (MASK, LOSS, CONTENTS, DURABILITY, HOURS, BYTES, LOST, SYMPTOM)
check = Checks(*CHECKS)

warm_up()
