"""Lab 08, part A: numbers counted twice or not at all."""

from autograder.mutants import Variant
from autograder.mutants.lab08.parts import (
    COUNT,
    COUNT_BODY,
    REMEMBERED,
    REMEMBERED_BODY,
    TRAINED,
)

COUNTS_MUTANTS = (
    Variant(
        "from-the-state-dict",
        "a checkpoint's tensors are the parameters",
        ((COUNT_BODY, "    return sum(tensor.numel() for tensor in model.state_dict().values())\n"),),
        {COUNT: 2},
        ("counted twice", "The buffers are counted"),
        slow=True,
    ),
    Variant(
        "tied-head-counted-twice",
        "each module has its own parameters",
        (
            (
                COUNT_BODY,
                "    return sum(p.numel() for m in model.modules() for p in m.parameters(recurse=False))\n",
            ),
        ),
        {COUNT: 1},
        ("counted twice", "under a second name"),
    ),
    Variant(
        "buffers-are-parameters",
        "whatever the model carries is a parameter",
        (
            (
                COUNT_BODY,
                "    return sum(t.numel() for t in (*model.parameters(), *model.buffers()))\n",
            ),
        ),
        {COUNT: 2},
        ("The buffers are counted", "no parameters"),
    ),
    Variant(
        "trained-only",
        "a parameter is what is trained",
        (
            (
                COUNT_BODY,
                "    return sum(p.numel() for p in model.parameters() if p.requires_grad)\n",
            ),
        ),
        {COUNT: 1},
        ("frozen are left out",),
        slow=True,
    ),
    Variant(
        "tensors-not-numbers",
        "a parameter is a tensor",
        ((COUNT_BODY, "    return len(list(model.parameters()))\n"),),
        {COUNT: 2},
        ("how many tensors", "Count the numbers"),
        slow=True,
    ),
    Variant(
        "state-of-frozen-parameters",
        "the optimizer was given them, so it keeps something for them",
        ((TRAINED, "trained = list(model.parameters())"),),
        {REMEMBERED: 2},
        ("frozen parameters too", "no gradient"),
    ),
    Variant(
        "steps-not-counted",
        "a count of steps is nothing",
        (("return 2 * numbers + len(trained)", "return 2 * numbers"),),
        {REMEMBERED: 1},
        ("count of steps is missing",),
    ),
    Variant(
        "one-step-for-all",
        "all parameters have taken the same number of steps",
        (("return 2 * numbers + len(trained)", "return 2 * numbers + 1"),),
        {REMEMBERED: 1},
        ("for each tensor, not one for all",),
        slow=True,
    ),
    Variant(
        "one-moment-remembered",
        "Adam keeps an average",
        (("return 2 * numbers + len(trained)", "return numbers + len(trained)"),),
        {REMEMBERED: 1},
        ("One moment only", "of its square"),
        slow=True,
    ),
    Variant(
        "gradients-are-remembered",
        "plain SGD keeps the gradient",
        (("        return 0\n", "        return numbers\n"),),
        {REMEMBERED: 1},
        ("Plain SGD keeps nothing",),
        slow=True,
    ),
    Variant(
        "state-of-the-tied-head",
        "both tables have moments",
        (
            (
                TRAINED,
                "every = [p for m in model.modules() for p in m.parameters(recurse=False)]\n"
                "    trained = [p for p in every if p.requires_grad]",
            ),
            ("return 2 * numbers + len(trained)", "return 2 * numbers + len(set(trained))"),
        ),
        {REMEMBERED: 2},
        ("counted twice", "It has one state"),
        slow=True,
    ),
    Variant(
        "asks-a-real-optimizer",
        "count what torch makes",
        (
            (
                REMEMBERED_BODY,
                '    real = torch.optim.AdamW(model.parameters()) if optimizer == "adamw" else None\n'
                "    for p in model.parameters():\n"
                "        p.grad = torch.ones_like(p) if p.requires_grad else None\n"
                "    real.step()\n"
                "    return sum(v.numel() for kept in real.state.values() for v in kept.values())\n",
            ),
        ),
        {REMEMBERED: 3},
        ("uses torch.optim, and that is the answer",),
    ),
    Variant(
        "parameters-in-bytes",
        "a size is in bytes",
        ((COUNT_BODY, "    return sum(p.nbytes for p in model.parameters())\n"),),
        {COUNT: 2},
        ("These are bytes, four for each number",),
        slow=True,
    ),
    Variant(
        "steps-of-each-moment",
        "each moment has its count",
        (("return 2 * numbers + len(trained)", "return 2 * (numbers + len(trained))"),),
        {REMEMBERED: 1},
        ("not one for each of its moments",),
        slow=True,
    ),
    Variant(
        "momentum-counts-its-steps",
        "every optimizer counts",
        (("        return numbers\n", "        return numbers + len(trained)\n"),),
        {REMEMBERED: 1},
        ("SGD keeps no count of steps",),
        slow=True,
    ),
    Variant(
        "frozen-and-steps-forgotten",
        "two for each parameter",
        (
            (TRAINED, "trained = list(model.parameters())"),
            ("return 2 * numbers + len(trained)", "return 2 * numbers"),
        ),
        {REMEMBERED: 2},
        ("frozen parameters too, and the count of steps",),
        slow=True,
    ),
    Variant(
        "steps-of-frozen-tensors",
        "each tensor has a step",
        (("return 2 * numbers + len(trained)", "return 2 * numbers + len(list(model.parameters()))"),),
        {REMEMBERED: 1},
        (
            "Where a table is frozen, you count",
            "and no step",
        ),
        slow=True,
    ),
)
