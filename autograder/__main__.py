"""`python -m autograder …` is `autograder …`."""

from autograder.cli import app

app()
