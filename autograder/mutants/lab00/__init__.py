"""Lab 00's mutants and right solutions."""

from autograder.mutants.lab00.attention import ATTENTION_MUTANTS
from autograder.mutants.lab00.borrowed import BORROWED_MUTANTS
from autograder.mutants.lab00.model import MODEL_MUTANTS
from autograder.mutants.lab00.right import RIGHT_STYLES
from autograder.mutants.lab00.sampling import SAMPLING_MUTANTS
from autograder.mutants.lab00.training import TRAINING_MUTANTS
from autograder.mutants.lab00.vectors import VECTORS_MUTANTS

MUTANTS = (
    *VECTORS_MUTANTS,
    *ATTENTION_MUTANTS,
    *MODEL_MUTANTS,
    *TRAINING_MUTANTS,
    *SAMPLING_MUTANTS,
    *BORROWED_MUTANTS,
)
RIGHT = RIGHT_STYLES

__all__ = ["MUTANTS", "RIGHT"]
