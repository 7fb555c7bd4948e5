"""Lab 18's mutants and right solutions."""

from autograder.mutants.lab18.disk import DISK_MUTANTS
from autograder.mutants.lab18.model import MODEL_MUTANTS
from autograder.mutants.lab18.numbers import NUMBERS_MUTANTS
from autograder.mutants.lab18.positions import POSITIONS_MUTANTS
from autograder.mutants.lab18.right import RIGHT_STYLES
from autograder.mutants.lab18.right_parts import RIGHT_PARTS
from autograder.mutants.lab18.schemes import SCHEMES_MUTANTS
from autograder.mutants.lab18.stashes import STASHES_MUTANTS
from autograder.mutants.lab18.tensors import TENSORS_MUTANTS
from autograder.mutants.lab18.travel import TRAVEL_MUTANTS

MUTANTS = (
    *MODEL_MUTANTS,
    *TENSORS_MUTANTS,
    *POSITIONS_MUTANTS,
    *SCHEMES_MUTANTS,
    *TRAVEL_MUTANTS,
    *DISK_MUTANTS,
    *STASHES_MUTANTS,
    *NUMBERS_MUTANTS,
)
RIGHT = (*RIGHT_STYLES, *RIGHT_PARTS)

__all__ = ["MUTANTS", "RIGHT"]
