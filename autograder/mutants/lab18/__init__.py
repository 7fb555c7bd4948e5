"""Lab 18's mutants and right solutions."""

from autograder.mutants.lab18.contents import CONTENTS_MUTANTS
from autograder.mutants.lab18.disk import DISK_MUTANTS
from autograder.mutants.lab18.model import MODEL_MUTANTS
from autograder.mutants.lab18.right import RIGHT

MUTANTS = (*MODEL_MUTANTS, *CONTENTS_MUTANTS, *DISK_MUTANTS)

__all__ = ["MUTANTS", "RIGHT"]
