"""Lab 08's mutants and right solutions."""

from autograder.mutants.lab08.adamw import ADAMW_MUTANTS
from autograder.mutants.lab08.counts import COUNTS_MUTANTS
from autograder.mutants.lab08.files import FILES_MUTANTS
from autograder.mutants.lab08.losses import LOSSES_MUTANTS
from autograder.mutants.lab08.moments import MOMENTS_MUTANTS
from autograder.mutants.lab08.momentum import MOMENTUM_MUTANTS
from autograder.mutants.lab08.right import RIGHT_UPDATES
from autograder.mutants.lab08.right_counts import RIGHT_COUNTS
from autograder.mutants.lab08.sizes import SIZES_MUTANTS

MUTANTS = (
    *COUNTS_MUTANTS,
    *SIZES_MUTANTS,
    *MOMENTUM_MUTANTS,
    *MOMENTS_MUTANTS,
    *ADAMW_MUTANTS,
    *FILES_MUTANTS,
    *LOSSES_MUTANTS,
)
RIGHT = (*RIGHT_UPDATES, *RIGHT_COUNTS)

__all__ = ["MUTANTS", "RIGHT"]
