"""Lab 08's other right solutions, written differently. Each keeps every point."""

from autograder.mutants import Variant
from autograder.mutants.lab08.parts import (
    CHECKPOINT_BODY,
    COUNT_BODY,
    FILE_BODY,
    FIRST_UPDATE_BODY,
    MEMORY_BODY,
    OPT_BODY,
    REMEMBERED_BODY,
)

RIGHT_COUNTS = (
    Variant(
        "counting-otherwise",
        "tensors told apart by their place in memory, tables of bytes, overhead predicted too",
        (
            (
                COUNT_BODY,
                """    places = {p.data_ptr(): p.numel() for p in model.parameters()}
    return sum(places.values())
""",
            ),
            (
                REMEMBERED_BODY,
                """    total = 0
    for parameter in model.parameters():
        if parameter.requires_grad:
            total += {"sgd": 0, "momentum": parameter.numel(), "adamw": 2 * parameter.numel() + 1}[optimizer]
    return total
""",
            ),
            (
                MEMORY_BODY,
                """    table = {"weights": (4, 2), "master": (0, 4), "gradients": (4, 2)}
    return parameters * (sum(pair[mixed] for pair in table.values()) + moments * 4)
""",
            ),
            (
                CHECKPOINT_BODY,
                """    return in_memory(parameters, moments, mixed) - parameters * (2 if mixed else 4)
""",
            ),
            (
                OPT_BODY,
                """    bits = 16 + 2 * 32
    return 175 * bits / 8 / 1000, 175e9 * bits / 8 / 1024**4
""",
            ),
            (
                FILE_BODY,
                """    tensors = list(model.parameters())
    kept = {"sgd": 1, "momentum": 2, "adamw": 4}[optimizer]  # for each, the step among them
    numbers = count_parameters(model) * {"sgd": 1, "momentum": 2, "adamw": 3}[optimizer]
    return 4 * numbers + 288 * kept * len(tensors)
""",
            ),
            (
                FIRST_UPDATE_BODY,
                """    *before, last = gradients
    n = len(gradients)

    def average(values, beta):
        return (1 - beta) * sum(beta**i * value for i, value in enumerate(reversed(values)))

    def update(kept, t):
        whole = before if kept else []
        m, v = average([*whole, last], beta1), average([g**2 for g in (*whole, last)], beta2)
        return m / (1 - beta1**t) / (v / (1 - beta2**t)) ** 0.5

    kept, t = {"everything": (False, 1), "moments": (False, n), "step": (True, 1)}[lost]
    return abs(update(kept, t)) / abs(update(True, n))
""",
            ),
        ),
    ),
    Variant(
        "by-its-own-update",
        "the first update found by the functions of part C, with the state opened",
        (
            (
                FIRST_UPDATE_BODY,
                """    def update(lost):
        state = {}
        for gradient in gradients[:-1]:
            corrected(torch.tensor(gradient).double(), state)
        if lost in ("everything", "moments"):
            state.update(first=0.0, second=0.0)
        if lost in ("everything", "step"):
            state["step"] = 0
        first, second = corrected(torch.tensor(gradients[-1]).double(), state)
        return first / second.sqrt()

    def corrected(gradient, state):
        state["step"] = step = state.get("step", 0) + 1
        state["first"] = beta1 * state.get("first", 0.0) + (1 - beta1) * gradient
        state["second"] = beta2 * state.get("second", 0.0) + (1 - beta2) * gradient**2
        return state["first"] / (1 - beta1**step), state["second"] / (1 - beta2**step)

    return (update(lost) / update("")).abs()
""",
            ),
        ),
        slow=True,
    ),
    Variant(
        "by-its-own-moments",
        "the first update found by corrected_moments, whose state it opens",
        (
            (
                FIRST_UPDATE_BODY,
                """    def update(lost):
        state = {}
        for number, gradient in enumerate(gradients, start=1):
            if number == len(gradients) and lost in ("everything", "moments"):
                state["first"] = state["second"] = 0.0
            if number == len(gradients) and lost in ("everything", "step"):
                state["step"] = 0
            first, second = corrected_moments(gradient, state, beta1, beta2)
        return first / second**0.5

    return abs(update(lost) / update(""))
""",
            ),
        ),
    ),
)
