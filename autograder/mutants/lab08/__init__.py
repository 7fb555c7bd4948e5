"""Lab 08's mutants and right solutions."""

from autograder.mutants.lab08.adamw import ADAMW_MUTANTS
from autograder.mutants.lab08.counts import COUNTS_MUTANTS
from autograder.mutants.lab08.losses import LOSSES_MUTANTS
from autograder.mutants.lab08.moments import MOMENTS_MUTANTS
from autograder.mutants.lab08.right import RIGHT

MUTANTS = (*COUNTS_MUTANTS, *MOMENTS_MUTANTS, *ADAMW_MUTANTS, *LOSSES_MUTANTS)

__all__ = ["MUTANTS", "RIGHT"]
