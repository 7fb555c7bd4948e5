"""Our plain event loop against a model of the same life in SimPy, under the same failures."""

import numpy as np
import pytest

from benchmarks.simpy_life import SimpyLife
from lastgood.recovery.faults import Correlated, Exponential, Mixed, Weibull
from lastgood.recovery.simulate import Life, event_loop

PROCESSES = {
    "exponential": Exponential.with_mtbf(5.0),
    "weibull": Weibull(hosts=40, per_1000_host_days=100.0, shape=0.6),
    "outages": Mixed((Exponential.with_mtbf(8.0), Correlated(40, mtbf_hours=30.0, size=5))),
}
LIVES = {
    # Hosts that fail at one moment are one failure only where the run is down for a moment.
    "plain": Life(100.0, 1.5, 0.1, diagnosis_hours=1e-3),
    "one save": Life(8.0, 8.0, 0.5, diagnosis_hours=1e-3),
    "slow to restart": Life(60.0, 1.5, 0.1, restart_hours=2.0, detection_hours=0.3, diagnosis_hours=0.5),
    "short of spares": Life(
        60.0, 1.5, 0.1, restart_hours=0.2, detection_hours=0.1, spares=2, repair_hours=9.0
    ),
    "no spare": Life(60.0, 1.5, 0.1, restart_hours=0.2, diagnosis_hours=0.4, spares=0, repair_hours=1.5),
    "overlapped saves": Life(
        100.0, 1.5, 1.2, stall_hours=0.02, restart_hours=0.3, spares=3, repair_hours=5.0
    ),
    "overlapped, short last": Life(60.4, 1.5, 1.4, stall_hours=0.0, restart_hours=0.3, detection_hours=0.1),
}


@pytest.mark.parametrize("process", PROCESSES.values(), ids=PROCESSES)
@pytest.mark.parametrize("life", LIVES.values(), ids=LIVES)
def test_the_event_loop_lives_the_life_that_simpy_lives(life, process):
    for times in process.times(600.0, 8, np.random.default_rng(20)):
        failures = times[np.isfinite(times)].tolist()
        ours, theirs = event_loop(life, failures), SimpyLife(life, failures).lived()
        assert ours.restarts == theirs.restarts
        assert ours.wall_hours == pytest.approx(theirs.wall_hours, rel=1e-9)
        assert ours.lost_hours == pytest.approx(theirs.lost_hours, abs=1e-9)
