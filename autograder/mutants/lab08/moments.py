"""Lab 08, part C: momentum that is none, averages that are not corrected, memory in the wrong place."""

from autograder.mutants import Variant
from autograder.mutants.lab08.parts import (
    CORRECTED,
    MOMENTS,
    MOMENTUM,
    MOMENTUM_BODY,
)

FIRST = 'state["first"] = beta1 * state.get("first", 0.0) + (1 - beta1) * gradient\n'
SECOND = 'state["second"] = beta2 * state.get("second", 0.0) + (1 - beta2) * gradient**2\n'
STEP = 'state["step"] = step = state.get("step", 0) + 1'
BUFFER = 'state["b"] = momentum * state.get("b", 0.0) + gradient'

MOMENTS_MUTANTS = (
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
        "not-corrected",
        "an average is an average",
        ((CORRECTED, '    return state["first"], state["second"]\n'),),
        {MOMENTS: 2},
        ("It is not corrected",),
    ),
    Variant(
        "only-the-first-corrected",
        "the correction is for the momentum",
        ((CORRECTED, '    return state["first"] / (1 - beta1**step), state["second"]\n'),),
        {MOMENTS: 1},
        ("second moment (0 of 1)", "It is not corrected"),
    ),
    Variant(
        "only-the-second-corrected",
        "the second is what starts too small",
        ((CORRECTED, '    return state["first"], state["second"] / (1 - beta2**step)\n'),),
        {MOMENTS: 1},
        ("first moment (0 of 1)", "It is not corrected"),
        slow=True,
    ),
    Variant(
        "correction-begins-anew",
        "the step is 1 in each call",
        ((STEP, "step = 1"),),
        {MOMENTS: 2},
        ("the correction stays that of step 1", "count the steps"),
    ),
    Variant(
        "steps-from-zero",
        "the first step is step 0",
        ((STEP, 'step = torch.tensor(float(state.get("step", 0)))\n    state["step"] = int(step) + 1'),),
        {MOMENTS: 2},
        ("The steps are counted from 0",),
    ),
    Variant(
        "steps-from-zero-in-plain-numbers",
        "count after the correction",
        (
            (
                STEP,
                'step = state.get("step", 0)\n'
                '    state["step"] = step + 1\n'
                "    larger = 1 / (1 - beta1**step), 1 / (1 - beta2**step)",
            ),
            (CORRECTED, '    return state["first"] * larger[0], state["second"] * larger[1]\n'),
        ),
        {MOMENTS: 3},
        ("The first step divides by zero",),
        slow=True,
    ),
    Variant(
        "steps-from-two",
        "the count goes up before and after",
        ((STEP, 'state["step"] = step = state.get("step", 1) + 1'),),
        {MOMENTS: 2},
        ("one too high",),
        slow=True,
    ),
    Variant(
        "correction-multiplied",
        "the correction is a factor",
        (
            (
                CORRECTED,
                '    return state["first"] * (1 - beta1**step), state["second"] * (1 - beta2**step)\n',
            ),
        ),
        {MOMENTS: 2},
        ("You multiply by 1 - βᵗ. Divide",),
        slow=True,
    ),
    Variant(
        "moments-swapped",
        "the order does not matter",
        (
            (
                CORRECTED,
                '    return state["second"] / (1 - beta2**step), state["first"] / (1 - beta1**step)\n',
            ),
        ),
        {MOMENTS: 2},
        ("The moments are swapped",),
    ),
    Variant(
        "first-moment-stale",
        "use what is there, then update it",
        (
            (
                FIRST,
                'old = state.get("first", torch.zeros_like(gradient))\n'
                '    state["first"] = beta1 * old + (1 - beta1) * gradient\n',
            ),
            (CORRECTED, CORRECTED.replace('state["first"] /', "old /")),
        ),
        {MOMENTS: 1},
        ("before this gradient came in",),
    ),
    Variant(
        "second-of-the-gradient",
        "two averages of the gradient, one slower",
        ((SECOND, SECOND.replace("gradient**2", "gradient")),),
        {MOMENTS: 1},
        ("averages its square",),
        slow=True,
    ),
    Variant(
        "square-of-the-mean",
        "the square of what is remembered",
        ((SECOND, SECOND.replace("gradient**2", 'state["first"] ** 2')),),
        {MOMENTS: 1},
        ("the square of the first moment",),
        slow=True,
    ),
    Variant(
        "weights-swapped",
        "β is for what is new",
        ((FIRST, 'state["first"] = (1 - beta1) * state.get("first", 0.0) + beta1 * gradient\n'),),
        {MOMENTS: 1},
        ("The weights are swapped",),
        slow=True,
    ),
    Variant(
        "sums-not-averages",
        "momentum adds the whole gradient",
        ((FIRST, FIRST.replace("(1 - beta1) * gradient", "gradient")),),
        {MOMENTS: 1},
        ("It is a sum, not an average",),
        slow=True,
    ),
    Variant(
        "callers-state-not-updated",
        "a copy is safer",
        ((STEP, 'state = dict(state)\n    state["step"] = step = state.get("step", 0) + 1'),),
        {MOMENTS: 2},
        ("Each step begins anew", "caller's `state`"),
    ),
    Variant(
        "steps-counted-outside",
        "one count for the run",
        (
            ("def corrected_moments(", "COUNT = [0]\n\n\ndef corrected_moments("),
            (
                STEP,
                "if not state:\n        COUNT[0] = 0\n    COUNT[0] += 1\n    step = COUNT[0]",
            ),
        ),
        {MOMENTS: 1},
        ("disturb each other", "outside `state`"),
        slow=True,
    ),
)
