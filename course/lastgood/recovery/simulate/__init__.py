"""The life of a run in simulated time, thousands at once: how long it takes, and where the time goes.

`life` says what a run is. `loop` lives one, event by event, and is the one to read. `fleet` takes many runs
over their next failure in one step of numpy. `lives` draws the failures and puts the results together.
"""

from lastgood.recovery.simulate.life import (
    DETECTION,
    DIAGNOSIS,
    LOST,
    PARTS,
    RESTARTS,
    ROLLBACKS,
    SAVES,
    SPARES,
    WORK,
    Life,
    SimulationError,
)
from lastgood.recovery.simulate.lives import Lives, simulate
from lastgood.recovery.simulate.loop import OneLife, event_loop

__all__ = [
    "DETECTION",
    "DIAGNOSIS",
    "LOST",
    "PARTS",
    "RESTARTS",
    "ROLLBACKS",
    "SAVES",
    "SPARES",
    "WORK",
    "Life",
    "Lives",
    "OneLife",
    "SimulationError",
    "event_loop",
    "simulate",
]
