"""OPT-175B's 56 days as an account: what the chronicles say, what is assumed, and what follows from that.

Only the two ends and the number of restarts are published. The account multiplies: so many restarts, each of
so many hours. It is a mean, to first order; `recovery.simulate` lives the same life failure by failure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from lastgood.recovery import interval
from lastgood.recovery.faults import HOURS_A_DAY, OPT_175B
from lastgood.recovery.simulate import (
    DETECTION,
    DIAGNOSIS,
    LOST,
    RESTARTS,
    ROLLBACKS,
    SAVES,
    SPARES,
)

WALL_DAYS: Final = 56.0  # 11 November 2021 to 6 January 2022 (chronicles)
WORK_DAYS: Final = 33.0 * 1_024 / 992  # the team's estimate for 1,024 GPUs, on the 992 that there were
ALL_RESTARTS: Final = 90  # about, of all causes, over those days (chronicles)
LOST_DAYS: Final = WALL_DAYS - WORK_DAYS
BEST: Final = 0.0  # stands for the best interval for this cost of a save
NEAR_DAYS: Final = 0.5  # the ends meet: the figures themselves are no nearer than that

TITLES: Final = {
    SAVES: "saves",
    LOST: "lost work",
    DETECTION: "detection",
    DIAGNOSIS: "diagnosis by people",
    SPARES: "missing spares",
    RESTARTS: "restarts",
    ROLLBACKS: "rollbacks",
}


@dataclass(frozen=True)
class Assumptions:
    """What nobody has published of this run. Every default is a guess, to be moved."""

    save_s: float = 40.0  # BLOOM's
    interval_h: float = BEST  # work between two saves
    detection_min: float = 15.0  # each failure, until somebody notices
    diagnosis_h: float = 1.0  # each failure, until people know which host it is
    spare_h: float = 0.5  # each failure, until a good host is there
    restart_h: float = 0.5  # each restart: downloads, start, the way back into training
    rollbacks: int = 10  # of the restarts: on purpose, after a divergence
    rollback_h: float = 6.0  # each: the work given up, and the decision

    @property
    def interval(self) -> float:
        """Hours of work between two saves."""
        if self.interval_h != BEST:
            return self.interval_h
        return float(interval.optimum(self.save_s / 3600.0, OPT_175B.mtbf_hours))

    @property
    def failures(self) -> int:
        """Restarts that nobody wanted."""
        return ALL_RESTARTS - self.rollbacks


ONE_WAY: Final = Assumptions(detection_min=20.0, diagnosis_h=2.5, spare_h=1.0, restart_h=1.0, rollback_h=9.0)
"""Assumptions with which the ends meet; there are many others."""


@dataclass(frozen=True)
class Account:
    """Where the days go under these assumptions."""

    assumed: Assumptions

    @cached_property
    def parts(self) -> dict[str, float]:
        """Days of each part beyond the work, in the order of the picture."""
        a = self.assumed
        lost = a.failures * a.interval / 2.0
        given_up = a.rollbacks * a.rollback_h
        trained = WORK_DAYS * HOURS_A_DAY + lost  # what is done again is saved again
        hours = {
            SAVES: trained / a.interval * a.save_s / 3600.0,
            LOST: lost,
            DETECTION: a.failures * a.detection_min / 60.0,
            DIAGNOSIS: a.failures * a.diagnosis_h,
            SPARES: a.failures * a.spare_h,
            RESTARTS: ALL_RESTARTS * a.restart_h,
            ROLLBACKS: given_up,
        }
        return {name: spent / HOURS_A_DAY for name, spent in hours.items()}

    @property
    def explained(self) -> float:
        """Days of all these parts together."""
        return sum(self.parts.values())

    @property
    def missing(self) -> float:
        """Days of the 56 that are still unexplained; negative where the parts are too much."""
        return LOST_DAYS - self.explained

    @property
    def meets(self) -> bool:
        return abs(self.missing) <= NEAR_DAYS

    @property
    def ettr(self) -> float:
        """Effective training time ratio of a run of these parts."""
        return WORK_DAYS / (WORK_DAYS + self.explained)

    @property
    def saving(self) -> float:
        """Days that the choice of an interval decides: saves and lost work."""
        return self.parts[SAVES] + self.parts[LOST]

    def gained(self, **changes: float) -> float:
        """Days fewer if these assumptions were others."""
        return self.explained - Account(replace(self.assumed, **changes)).explained  # type: ignore[arg-type]


def how(name: str, a: Assumptions) -> str:
    """The sum behind one part, as a person would write it."""
    each = {
        SAVES: f"{a.save_s:g} s after every {_hours(a.interval)} of work",
        LOST: f"{a.failures} × half of {_hours(a.interval)}",  # noqa: RUF001 - a sum
        DETECTION: f"{a.failures} × {a.detection_min:g} min",  # noqa: RUF001
        DIAGNOSIS: f"{a.failures} × {a.diagnosis_h:g} h",  # noqa: RUF001
        SPARES: f"{a.failures} × {a.spare_h:g} h",  # noqa: RUF001
        RESTARTS: f"{ALL_RESTARTS} × {a.restart_h:g} h",  # noqa: RUF001
        ROLLBACKS: f"{a.rollbacks} × {a.rollback_h:g} h",  # noqa: RUF001
    }
    return each[name]


def _hours(hours: float) -> str:
    return f"{hours * 60:.0f} min" if hours < 0.995 else f"{hours:g} h"
