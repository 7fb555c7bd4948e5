"""Lab 19's mutants and right solutions."""

from autograder.mutants.lab19.answers import ANSWER_MUTANTS
from autograder.mutants.lab19.found import FOUND_MUTANTS
from autograder.mutants.lab19.loop import LOOP_MUTANTS
from autograder.mutants.lab19.right import RIGHT

MUTANTS = (*FOUND_MUTANTS, *LOOP_MUTANTS, *ANSWER_MUTANTS)

__all__ = ["MUTANTS", "RIGHT"]
