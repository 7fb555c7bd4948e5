"""Lab 08's right solutions of part C, written differently. Each keeps every point."""

from autograder.mutants import Variant
from autograder.mutants.lab08.parts import (
    ADAMW_BODY,
    MOMENTS_BODY,
    MOMENTUM_BODY,
)

RIGHT_UPDATES = (
    Variant(
        "in-place",
        "torch's own way of writing it: lerp_, addcmul_, addcdiv_, and a step that is a tensor",
        (
            (
                MOMENTUM_BODY,
                """    if "momentum_buffer" not in state:
        state["momentum_buffer"] = gradient.clone()
    else:
        state["momentum_buffer"].mul_(momentum).add_(gradient)
    return parameter.add_(state["momentum_buffer"], alpha=-lr)
""",
            ),
            (
                MOMENTS_BODY,
                """    if not state:
        state["step"] = torch.tensor(0.0)
        state["exp_avg"] = torch.zeros_like(gradient)
        state["exp_avg_sq"] = torch.zeros_like(gradient)
    state["step"] += 1
    step = state["step"].item()
    state["exp_avg"].lerp_(gradient, 1 - beta1)
    state["exp_avg_sq"].mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
    return state["exp_avg"] / (1 - beta1**step), state["exp_avg_sq"] / (1 - beta2**step)
""",
            ),
            (
                ADAMW_BODY,
                """    first, second = corrected_moments(gradient, state, beta1, beta2)
    parameter.mul_(1 - lr * weight_decay)
    return parameter.addcdiv_(first, second.sqrt().add_(eps), value=-lr)
""",
            ),
        ),
    ),
    Variant(
        "foreach",
        "lists of tensors by torch._foreach, and everything of AdamW in one function",
        (
            (
                MOMENTUM_BODY,
                """    buffers = state.setdefault("buffers", [torch.zeros_like(gradient)])
    torch._foreach_mul_(buffers, momentum)
    torch._foreach_add_(buffers, [gradient])
    return torch._foreach_add([parameter], buffers, alpha=-lr)[0]
""",
            ),
            (
                ADAMW_BODY,
                """    both = state.setdefault("both", [gradient * 0, gradient * 0])
    state["t"] = t = state.get("t", 0) + 1
    torch._foreach_mul_(both, [beta1, beta2])
    torch._foreach_add_(both, torch._foreach_mul([gradient, gradient.square()], [1 - beta1, 1 - beta2]))
    first, second = torch._foreach_div(both, [1 - beta1**t, 1 - beta2**t])
    kept = torch._foreach_mul([parameter], 1 - lr * weight_decay)
    torch._foreach_addcdiv_(kept, [first], [second.sqrt() + eps], value=-lr)
    return kept[0]
""",
            ),
        ),
    ),
    Variant(
        "kingma-and-ba",
        "the paper's efficient form: a corrected learning rate, and an eps that goes with it",
        (
            (
                ADAMW_BODY,
                """    t, m, v = state.get("t", 0) + 1, state.get("m", 0), state.get("v", 0)
    m = m - (1 - beta1) * (m - gradient)
    v = v - (1 - beta2) * (v - gradient * gradient)
    state.update(t=t, m=m, v=v)
    root = math.sqrt(1 - beta2**t)
    decayed = parameter - lr * weight_decay * parameter
    return decayed - lr * root / (1 - beta1**t) * m / (v**0.5 + eps * root)
""",
            ),
        ),
        slow=True,
    ),
    Variant(
        "tuples",
        "a tuple under one name, running powers of β instead of a count",
        (
            (
                MOMENTUM_BODY,
                """    (old,) = state.get("all", (torch.zeros_like(parameter),))
    state["all"] = (torch.add(gradient, old, alpha=momentum),)
    return torch.sub(parameter, state["all"][0], alpha=lr)
""",
            ),
            (
                MOMENTS_BODY,
                """    first, second, power1, power2 = state.get("all", (0, 0, 1.0, 1.0))
    first = torch.lerp(gradient, torch.zeros_like(gradient) + first, beta1)
    second = torch.lerp(gradient.pow(2), torch.zeros_like(gradient) + second, beta2)
    state["all"] = first, second, power1 * beta1, power2 * beta2
    return first.div(1 - power1 * beta1), second.div(1 - power2 * beta2)
""",
            ),
        ),
        slow=True,
    ),
    Variant(
        "a-class",
        "a class for the memory, an instance of it in the state",
        (
            (
                "def corrected_moments(",
                '''class Memory:
    """Two sums of weighted gradients, and the sums of their weights."""

    def __init__(self):
        self.sums, self.weights = [0.0, 0.0], [0.0, 0.0]

    def take(self, which, value, beta):
        self.sums[which] = beta * self.sums[which] + (1 - beta) * value
        self.weights[which] = beta * self.weights[which] + (1 - beta)
        return self.sums[which] / self.weights[which]


def corrected_moments(''',
            ),
            (
                MOMENTS_BODY,
                """    memory = state.setdefault("memory", Memory())
    return memory.take(0, gradient, beta1), memory.take(1, gradient**2, beta2)
""",
            ),
            (
                ADAMW_BODY,
                """    memory = state.setdefault("own memory", Memory())
    update = memory.take(0, gradient, beta1) / (memory.take(1, gradient**2, beta2).sqrt() + eps)
    return parameter - lr * (update + weight_decay * parameter)
""",
            ),
        ),
        slow=True,
    ),
    Variant(
        "number-by-number",
        "plain Python over lists of numbers, the optimizer's state as a list for each number",
        (
            (
                MOMENTUM_BODY,
                """    old = state.get("b", [0.0] * gradient.numel())
    state["b"] = [momentum * b + g for b, g in zip(old, gradient.flatten().tolist(), strict=True)]
    moved = [p - lr * b for p, b in zip(parameter.flatten().tolist(), state["b"], strict=True)]
    return torch.tensor(moved, dtype=parameter.dtype).view(parameter.shape)
""",
            ),
            (
                MOMENTS_BODY,
                """    t = state["t"] = state.get("t", 0) + 1
    numbers = gradient.flatten().tolist()
    for key, beta, power in (("m", beta1, 1), ("v", beta2, 2)):
        old = state.get(key, [0.0] * len(numbers))
        state[key] = [beta * o + (1 - beta) * g**power for o, g in zip(old, numbers, strict=True)]
    m = torch.tensor([x / (1 - beta1**t) for x in state["m"]], dtype=gradient.dtype)
    v = torch.tensor([x / (1 - beta2**t) for x in state["v"]], dtype=gradient.dtype)
    return m.view(gradient.shape), v.view(gradient.shape)
""",
            ),
        ),
        slow=True,
    ),
    Variant(
        "in-64-bits",
        "state kept in 64 bits, whatever the gradient has; and in 32 bits for momentum",
        (
            (
                MOMENTUM_BODY,
                """    state["b"] = momentum * state.get("b", 0.0) + gradient.float()
    return (parameter.float() - lr * state["b"]).to(parameter.dtype)
""",
            ),
            (
                MOMENTS_BODY,
                """    wide = gradient.to(torch.float64)
    state["n"] = n = state.get("n", 0) + 1
    state["m"] = torch.as_tensor(state.get("m", 0.0)) * beta1 + wide * (1 - beta1)
    state["v"] = torch.as_tensor(state.get("v", 0.0)) * beta2 + wide.square() * (1 - beta2)
    return state["m"] / -math.expm1(n * math.log(beta1)), state["v"] / -math.expm1(n * math.log(beta2))
""",
            ),
        ),
        slow=True,
    ),
)
