"""Lab 08, part C: momentum that is none, and memory in the wrong place."""

from autograder.mutants import Variant
from autograder.mutants.lab08.parts import (
    MOMENTUM,
    MOMENTUM_BODY,
)

BUFFER = 'state["b"] = momentum * state.get("b", 0.0) + gradient'

MOMENTUM_MUTANTS = (
    Variant(
        "momentum-not-kept",
        "the new buffer is a new name",
        (
            (
                MOMENTUM_BODY,
                '    b = momentum * state.get("b", 0.0) + gradient\n    return parameter - lr * b\n',
            ),
        ),
        {MOMENTUM: 1},
        ("plain gradient descent", "the caller's `state`"),
    ),
    Variant(
        "momentum-as-an-average",
        "a moving average takes 1 - β",
        ((BUFFER, BUFFER.replace("+ gradient", "+ (1 - momentum) * gradient")),),
        {MOMENTUM: 1},
        ("Your buffer is an average", "adds the whole gradient"),
        slow=True,
    ),
    Variant(
        "rate-in-the-buffer",
        "what is remembered is the last change",
        (
            (
                MOMENTUM_BODY,
                '    state["b"] = momentum * state.get("b", 0.0) + lr * gradient\n'
                '    return parameter - state["b"]\n',
            ),
        ),
        {MOMENTUM: 1},
        ("The learning rate is inside your buffer",),
    ),
    Variant(
        "momentum-stale",
        "move, then remember",
        (
            (
                MOMENTUM_BODY,
                '    moved = parameter - lr * state.get("b", torch.zeros_like(gradient))\n'
                '    state["b"] = momentum * state.get("b", 0.0) + gradient\n'
                "    return moved\n",
            ),
        ),
        {MOMENTUM: 1},
        ("the buffer of the step before",),
        slow=True,
    ),
    Variant(
        "momentum-climbs",
        "the gradient points the way",
        (('return parameter - lr * state["b"]', 'return parameter + lr * state["b"]'),),
        {MOMENTUM: 1},
        ("The sign: the parameter climbs",),
        slow=True,
    ),
    Variant(
        "keeps-the-gradient-itself",
        "at the first step the buffer is the gradient",
        ((BUFFER, 'state["b"] = momentum * state["b"] + gradient if "b" in state else gradient'),),
        {MOMENTUM: 1},
        ("holds the gradient itself, not a copy",),
    ),
    Variant(
        "changes-the-gradient",
        "in place saves memory",
        (
            (
                BUFFER,
                'state["b"] = gradient.add_(momentum * state.get("b", torch.zeros_like(gradient))).clone()',
            ),
        ),
        {MOMENTUM: 1},
        ("changes the gradient that it is given",),
        slow=True,
    ),
    Variant(
        "state-shared-between-parameters",
        "one memory for the run",
        (
            (
                "def momentum_step(",
                'SHARED = {"b": None}\n\n\ndef momentum_step(',
            ),
            (
                MOMENTUM_BODY,
                '    old = SHARED["b"] if state else 0.0\n'
                '    state["seen"] = True\n'
                '    SHARED["b"] = momentum * old + gradient\n'
                '    return parameter - lr * SHARED["b"]\n',
            ),
        ),
        {MOMENTUM: 1},
        ("disturb each other", "outside `state`"),
        slow=True,
    ),
    Variant(
        "torchs-sgd",
        "torch has it",
        (
            (
                MOMENTUM_BODY,
                '    if not state:\n        state["p"] = nn.Parameter(parameter)\n'
                '        state["o"] = torch.optim.SGD([state["p"]], lr=lr, momentum=momentum)\n'
                '    state["p"].grad = gradient\n'
                '    state["o"].step()\n'
                '    return state["p"].data\n',
            ),
        ),
        {MOMENTUM: 2},
        ("uses torch.optim, and that is the answer",),
        slow=True,
    ),
    Variant(
        "momentum-finds-nothing",
        "the buffer is there",
        ((BUFFER, BUFFER.replace('state.get("b", 0.0)', 'state["b"]')),),
        {MOMENTUM: 2},
        ("raised KeyError: 'b'. Before the first step", "`state` is empty"),
        slow=True,
    ),
)
