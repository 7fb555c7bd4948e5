"""Lab 17's mutants and right solutions."""

from autograder.mutants.lab17.clipping import CLIPPING_MUTANTS
from autograder.mutants.lab17.counting import COUNTING_MUTANTS
from autograder.mutants.lab17.rate import RATE_MUTANTS
from autograder.mutants.lab17.restart import RESTART_MUTANTS
from autograder.mutants.lab17.right import RIGHT_STYLES
from autograder.mutants.lab17.saving import SAVING_MUTANTS

MUTANTS = (*RATE_MUTANTS, *CLIPPING_MUTANTS, *COUNTING_MUTANTS, *SAVING_MUTANTS, *RESTART_MUTANTS)
RIGHT = RIGHT_STYLES

__all__ = ["MUTANTS", "RIGHT"]
