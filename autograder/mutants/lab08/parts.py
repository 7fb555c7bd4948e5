"""The parts of lab 08's master that its variants replace, and the cells that check them."""

COUNT, REMEMBERED = "check-count-parameters", "check-remembered"
MEMORY, CHECKPOINT, OPT = "check-in-memory", "check-in-checkpoint", "check-opt-checkpoint"
MOMENTUM, MOMENTS, ADAMW = "check-momentum-step", "check-corrected-moments", "check-adamw-step"
FILE, FIRST_UPDATE = "check-file-bytes", "check-first-update"

COUNT_BODY = """    return sum(parameter.numel() for parameter in model.parameters())
"""
REMEMBERED_BODY = """    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    numbers = sum(parameter.numel() for parameter in trained)
    if optimizer == "sgd":
        return 0
    if optimizer == "momentum":
        return numbers
    return 2 * numbers + len(trained)
"""
TRAINED = "trained = [parameter for parameter in model.parameters() if parameter.requires_grad]"
MEMORY_BODY = """    if mixed:
        weights, master, gradients, moment = 2, 4, 2, 4
    else:
        weights, master, gradients, moment = 4, 0, 4, 4
    return parameters * (weights + master + gradients + moments * moment)
"""
CHECKPOINT_BODY = """    bytes_each = 2 + 4 if mixed else 4  # the gradients are computed anew
    return parameters * (bytes_each + 4 * moments)
"""
OPT_BODY = """    size = 175e9 * (2 + 4 + 4)
    return size / 10**12, size / 2**40
"""
MOMENTUM_BODY = """    state["b"] = momentum * state.get("b", 0.0) + gradient
    return parameter - lr * state["b"]
"""
MOMENTS_BODY = """    state["step"] = step = state.get("step", 0) + 1
    state["first"] = beta1 * state.get("first", 0.0) + (1 - beta1) * gradient
    state["second"] = beta2 * state.get("second", 0.0) + (1 - beta2) * gradient**2
    return state["first"] / (1 - beta1**step), state["second"] / (1 - beta2**step)
"""
CORRECTED = '    return state["first"] / (1 - beta1**step), state["second"] / (1 - beta2**step)\n'
ADAMW_BODY = """    first, second = corrected_moments(gradient, state, beta1, beta2)
    shrunk = parameter * (1 - lr * weight_decay)
    return shrunk - lr * first / (second.sqrt() + eps)
"""
MOMENTS_CALL = "    first, second = corrected_moments(gradient, state, beta1, beta2)\n"
UPDATE = "    return shrunk - lr * first / (second.sqrt() + eps)\n"
SHRUNK = "    shrunk = parameter * (1 - lr * weight_decay)\n"
FILE_BODY = """    return 4 * (count_parameters(model) + remembered(model, optimizer))
"""
FIRST_UPDATE_BODY = """    def update(lost: str) -> float:
        first, second, step = 0.0, 0.0, 0
        for number, gradient in enumerate(gradients, start=1):
            if number == len(gradients) and lost in ("everything", "moments"):
                first = second = 0.0
            if number == len(gradients) and lost in ("everything", "step"):
                step = 0
            step += 1
            first = beta1 * first + (1 - beta1) * gradient
            second = beta2 * second + (1 - beta2) * gradient**2
        return first / (1 - beta1**step) / math.sqrt(second / (1 - beta2**step))

    return abs(update(lost) / update("nothing"))
"""
LOSE_MOMENTS = """            if number == len(gradients) and lost in ("everything", "moments"):
"""
LOSE_STEP = """            if number == len(gradients) and lost in ("everything", "step"):
"""
RATIO = '    return abs(update(lost) / update("nothing"))\n'
