"""Lab 08, part C: averages that are not corrected, or not averages."""

from autograder.mutants import Variant
from autograder.mutants.lab08.parts import (
    CORRECTED,
    MOMENTS,
)

FIRST = 'state["first"] = beta1 * state.get("first", 0.0) + (1 - beta1) * gradient\n'
SECOND = 'state["second"] = beta2 * state.get("second", 0.0) + (1 - beta2) * gradient**2\n'
STEP = 'state["step"] = step = state.get("step", 0) + 1'

MOMENTS_MUTANTS = (
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
        slow=True,
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
        slow=True,
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
        slow=True,
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
        slow=True,
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
        slow=True,
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
    Variant(
        "corrected-moments-kept",
        "keep what you return",
        (
            (
                CORRECTED,
                '    state["first"] = state["first"] / (1 - beta1**step)\n'
                '    state["second"] = state["second"] / (1 - beta2**step)\n'
                '    return state["first"], state["second"]\n',
            ),
        ),
        {MOMENTS: 2},
        ("The corrected moment is what you remember",),
    ),
    Variant(
        "begins-at-the-first-gradient",
        "an average of one is that one",
        (
            (FIRST, FIRST.replace('state.get("first", 0.0)', 'state.get("first", gradient)')),
            (SECOND, SECOND.replace('state.get("second", 0.0)', 'state.get("second", gradient**2)')),
            (CORRECTED, '    return state["first"], state["second"]\n'),
        ),
        {MOMENTS: 2},
        (
            "Yours begins at the first gradient",
            "is corrected",
        ),
        slow=True,
    ),
    Variant(
        "betas-swapped",
        "β2 is the slower one",
        ((FIRST, FIRST.replace("beta1", "beta2")),),
        {MOMENTS: 1},
        ("with the other β, and corrected with its own",),
        slow=True,
    ),
)
