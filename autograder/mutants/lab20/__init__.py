"""Lab 20's mutants and right solutions."""

from autograder.mutants.lab20.choices import CHOICES_MUTANTS
from autograder.mutants.lab20.lives import LIVES_MUTANTS
from autograder.mutants.lab20.prices import PRICES_MUTANTS
from autograder.mutants.lab20.right import RIGHT

MUTANTS = (*PRICES_MUTANTS, *LIVES_MUTANTS, *CHOICES_MUTANTS)

__all__ = ["MUTANTS", "RIGHT"]
