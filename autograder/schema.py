"""nbgrader's schemas of a cell's metadata, each checked once: nbgrader checks its own anew for each cell.

For a lab of ninety cells, which are looked at several times, that is a third of all that grading does
besides running the notebook.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

_validators: dict[int, Validator] = {}  # by the identity of a schema, which its validator keeps in memory


def check_once() -> None:
    """Have nbgrader in this process do so. Twice is as once."""
    from nbgrader.nbgraderformat import common

    common.jsonschema = SimpleNamespace(validate=validate)


def validate(instance: Any, schema: dict[str, Any]) -> None:
    """As jsonschema's function of that name; the schema must not change from one call to the next.

    Raises jsonschema's ValidationError and SchemaError.
    """
    validator = _validators.get(id(schema))
    if validator is None:
        kind = validator_for(schema)
        kind.check_schema(schema)
        validator = _validators[id(schema)] = kind(schema)
    error = best_match(validator.iter_errors(instance))
    if error is not None:
        raise error
