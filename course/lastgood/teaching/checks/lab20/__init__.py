"""Lab 20's checks: rates and prices, the best interval, a simulation, four choices, and a bound."""

from lastgood.teaching.checks.core import Checks
from lastgood.teaching.checks.lab20.best import BEST
from lastgood.teaching.checks.lab20.bound import PLAN
from lastgood.teaching.checks.lab20.choices import BLOOM, LLAMA, MY_RUN, OPT
from lastgood.teaching.checks.lab20.failures import FAILURES
from lastgood.teaching.checks.lab20.prices import JOB, TIME, WASTE
from lastgood.teaching.checks.lab20.wall import WALL

__all__ = [
    "BEST",
    "BLOOM",
    "CHECKS",
    "FAILURES",
    "JOB",
    "LLAMA",
    "MY_RUN",
    "OPT",
    "PLAN",
    "TAUGHT",
    "TIME",
    "WALL",
    "WASTE",
    "check",
]

TAUGHT = ("lastgood.recovery.interval", "lastgood.recovery.simulate")
CHECKS = (JOB, WASTE, TIME, BEST, FAILURES, WALL, OPT, BLOOM, LLAMA, MY_RUN, PLAN)
check = Checks(*CHECKS)
