"""Lab 18's mutants and right solutions."""

from autograder.mutants.lab18.right import RIGHT
from autograder.mutants.lab18.wrong import MUTANTS

__all__ = ["MUTANTS", "RIGHT"]
