"""What lab 18's two audits share: the modules that a learner is to write, and what is drawn."""

from lastgood.recovery import audit
from lastgood.teaching.checks.core import Data

TAUGHT = ("lastgood.recovery.state", "lastgood.recovery.checkpoint")


def draw(seed: int) -> Data:
    """The inputs of an audit: its seed."""
    return {"seed": seed}


def plan(inputs: Data) -> audit.Plan:
    """The audit that these inputs stand for."""
    return audit.draw_plan(TAUGHT, inputs["seed"])
