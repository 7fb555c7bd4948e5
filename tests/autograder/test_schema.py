"""nbgrader's schemas: the same verdicts as jsonschema's own, with the schema itself checked once."""

import jsonschema
import pytest
from jsonschema.validators import validator_for

from autograder.schema import check_once, validate

SCHEMA = {
    "type": "object",
    "properties": {"points": {"type": "number", "minimum": 0}},
    "required": ["points"],
}


@pytest.mark.parametrize("instance", [{"points": 3}, {"points": -1}, {"points": "3"}, {}, [], None])
def test_the_verdict_and_its_words_are_those_of_jsonschema(instance: object) -> None:
    def said(validate) -> str:
        try:
            validate(instance, SCHEMA)
        except jsonschema.ValidationError as error:
            return str(error)
        return "valid"

    assert said(validate) == said(jsonschema.validate)


def test_a_schema_that_is_none_is_refused_each_time() -> None:
    wrong = {"type": "nothing of the kind"}
    for _ in range(2):
        with pytest.raises(jsonschema.SchemaError):
            validate({}, wrong)


def test_nbgrader_checks_its_schema_once_for_all_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    from nbformat.v4 import new_code_cell
    from nbgrader.nbgraderformat import ValidationError, common
    from nbgrader.nbgraderformat.v3 import MetadataValidatorV3

    checked = []
    monkeypatch.setattr(common, "jsonschema", jsonschema)
    validator = MetadataValidatorV3()
    kind = validator_for(validator.schema)
    monkeypatch.setattr(kind, "check_schema", lambda schema: checked.append(schema))
    check_once()
    about = {"schema_version": 3, "grade": False, "solution": True, "locked": False, "task": False}
    cells = [new_code_cell(metadata={"nbgrader": about | {"grade_id": f"a{number}"}}) for number in range(3)]
    for cell in cells:
        validator.validate_cell(cell)
    assert checked == [validator.schema]
    cells[0].metadata.nbgrader["grade"] = "yes"
    with pytest.raises(ValidationError):
        validator.validate_cell(cells[0])
