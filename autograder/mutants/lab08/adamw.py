"""Lab 08, part C: AdamW with its decay in the wrong place, and torch's own."""

from autograder.mutants import Variant
from autograder.mutants.lab08.parts import (
    ADAMW,
    ADAMW_BODY,
    MOMENTS_CALL,
    SHRUNK,
    UPDATE,
)

ADAMW_MUTANTS = (
    Variant(
        "adamw-without-correction",
        "the moments are in the state",
        (
            (
                MOMENTS_CALL,
                '    state["m"] = first = beta1 * state.get("m", 0.0) + (1 - beta1) * gradient\n'
                '    state["v"] = second = beta2 * state.get("v", 0.0) + (1 - beta2) * gradient**2\n',
            ),
        ),
        {ADAMW: 4},
        ("The moments are not corrected in your update",),
        slow=True,
    ),
    Variant(
        "decay-through-the-gradient",
        "Adam with an L2 penalty is AdamW",
        (
            (
                ADAMW_BODY,
                "    gradient = gradient + weight_decay * parameter\n"
                "    first, second = corrected_moments(gradient, state, beta1, beta2)\n"
                "    return parameter - lr * first / (second.sqrt() + eps)\n",
            ),
        ),
        {ADAMW: 2},
        ("The decay goes through the gradient", "L2 penalty"),
    ),
    Variant(
        "decay-in-place-on-the-gradient",
        "the gradient is not needed afterwards",
        (
            (
                ADAMW_BODY,
                "    gradient += weight_decay * parameter\n"
                "    first, second = corrected_moments(gradient, state, beta1, beta2)\n"
                "    return parameter - lr * first / (second.sqrt() + eps)\n",
            ),
        ),
        {ADAMW: 3},
        ("The decay goes through the gradient", "changes the gradient that it is given"),
        slow=True,
    ),
    Variant(
        "decay-forgotten",
        "Adam is AdamW",
        ((SHRUNK, "    shrunk = parameter\n"),),
        {ADAMW: 2},
        ("The weight decay is missing",),
        slow=True,
    ),
    Variant(
        "decay-not-scaled",
        "decay is decay, whatever the learning rate",
        ((SHRUNK, "    shrunk = parameter * (1 - weight_decay)\n"),),
        {ADAMW: 2},
        ("not scaled by the learning rate",),
        slow=True,
    ),
    Variant(
        "decay-divided",
        "the decay is part of the update",
        ((SHRUNK, "    first = first + weight_decay * parameter\n    shrunk = parameter\n"),),
        {ADAMW: 2},
        ("The decay is divided too",),
        slow=True,
    ),
    Variant(
        "decay-after-the-update",
        "move, then shrink",
        (
            (
                UPDATE,
                "    return (parameter - lr * first / (second.sqrt() + eps)) * (1 - lr * weight_decay)\n",
            ),
        ),
        {ADAMW: 2},
        ("comes after the update",),
        slow=True,
    ),
    Variant(
        "decay-grows",
        "a sign",
        ((SHRUNK, "    shrunk = parameter * (1 + lr * weight_decay)\n"),),
        {ADAMW: 2},
        ("The sign of the decay",),
        slow=True,
    ),
    Variant(
        "eps-inside-the-root",
        "eps keeps the root away from zero",
        ((UPDATE, "    return shrunk - lr * first / (second + eps).sqrt()\n"),),
        {ADAMW: 2},
        ("eps is inside the root",),
    ),
    Variant(
        "eps-forgotten",
        "nothing is ever zero",
        ((UPDATE, "    return shrunk - lr * first / second.sqrt()\n"),),
        {ADAMW: 2},
        ("eps is missing",),
        slow=True,
    ),
    Variant(
        "root-forgotten",
        "divide by the second moment",
        ((UPDATE, "    return shrunk - lr * first / (second + eps)\n"),),
        {ADAMW: 4},
        ("The root is missing",),
        slow=True,
    ),
    Variant(
        "adamw-climbs",
        "the gradient points the way",
        ((UPDATE, UPDATE.replace("shrunk - lr", "shrunk + lr")),),
        {ADAMW: 4},
        ("The sign: the parameter climbs",),
        slow=True,
    ),
    Variant(
        "rate-forgotten",
        "the division makes it the right size",
        ((UPDATE, UPDATE.replace("lr * first", "first")),),
        {ADAMW: 4},
        ("The learning rate is missing in the update",),
        slow=True,
    ),
    Variant(
        "adamw-with-a-fresh-state",
        "the moments keep their own state",
        ((MOMENTS_CALL, MOMENTS_CALL.replace("state,", "{},")),),
        {ADAMW: 4},
        ("Each step begins anew",),
        slow=True,
    ),
    Variant(
        "torchs-adamw",
        "torch has it",
        (
            (
                ADAMW_BODY,
                '    if not state:\n        state["p"] = nn.Parameter(parameter)\n'
                '        state["o"] = torch.optim.AdamW([state["p"]], betas=(beta1, beta2), eps=eps)\n'
                '    state["o"].param_groups[0].update(lr=lr, weight_decay=weight_decay)\n'
                '    state["p"].grad = gradient\n'
                '    state["o"].step()\n'
                '    return state["p"].data\n',
            ),
        ),
        {ADAMW: 5},
        ("uses torch.optim, and that is the answer",),
        slow=True,
    ),
    Variant(
        "torchs-adamw-behind-a-helper",
        "a helper hides it",
        (
            (
                "def adamw_step(",
                "def made(parameter, **setting):\n"
                "    return torch.optim.AdamW([parameter], **setting)\n\n\ndef adamw_step(",
            ),
            (
                ADAMW_BODY,
                '    if not state:\n        state["p"] = nn.Parameter(parameter)\n'
                '        state["o"] = made(state["p"], betas=(beta1, beta2), eps=eps)\n'
                '    state["o"].param_groups[0].update(lr=lr, weight_decay=weight_decay)\n'
                '    state["p"].grad = gradient\n'
                '    state["o"].step()\n'
                '    return state["p"].data\n',
            ),
        ),
        {ADAMW: 5},
        ("builds one of torch's optimizers",),
    ),
    Variant(
        "torchs-functional-adamw",
        "torch has it as a function",
        (
            ("import torch\n", "import torch\nfrom torch.optim.adamw import adamw as walk_on\n"),
            (
                ADAMW_BODY,
                '    if not state:\n        state["m"], state["v"] = gradient * 0, gradient * 0\n'
                '        state["t"] = torch.tensor(0.0)\n'
                "    walk_on(\n"
                '        [parameter], [gradient], [state["m"]], [state["v"]], [], [state["t"]],\n'
                "        foreach=False, amsgrad=False, maximize=False,\n"
                "        beta1=beta1, beta2=beta2, lr=lr, weight_decay=weight_decay, eps=eps,\n"
                "    )\n"
                "    return parameter\n",
            ),
        ),
        {ADAMW: 5},
        ("uses walk_on, and that is the answer",),
        slow=True,
    ),
    Variant(
        "eps-behind-the-fraction",
        "brackets change nothing",
        ((UPDATE, UPDATE.replace("(second.sqrt() + eps)", "second.sqrt() + eps")),),
        {ADAMW: 2},
        ("brackets are missing",),
        slow=True,
    ),
    Variant(
        "moments-asked-twice",
        "first and second, one call each",
        (
            (
                MOMENTS_CALL,
                MOMENTS_CALL + "    second = corrected_moments(gradient, state, beta1, beta2)[1]\n",
            ),
        ),
        {ADAMW: 4},
        ("taken in twice",),
        slow=True,
    ),
)
