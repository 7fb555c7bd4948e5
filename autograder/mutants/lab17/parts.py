"""The parts of lab 17's master that its variants replace, and the cells that check them."""

RATE, CLIP, SCHEDULER, TRAIN = (
    "check-learning-rate",
    "check-clip-gradients",
    "check-scheduler",
    "check-train",
)
AFTER, DAMAGE, SEEN, BETAS = (
    "check-rates-after-kill",
    "check-damage",
    "check-what-you-saw",
    "check-resume-with-betas",
)

RATE_BODY = """    if step < warmup:
        return peak * (step + 1) / warmup
    share = min(1.0, (step - warmup) / (horizon - warmup))
    return floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * share))
"""
UP = "        return peak * (step + 1) / warmup\n"
SHARE = "    share = min(1.0, (step - warmup) / (horizon - warmup))\n"
DOWN = "    return floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * share))\n"

CLIP_BODY = """    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = math.sqrt(sum(gradient.pow(2).sum().item() for gradient in gradients))
    if not math.isfinite(norm):
        raise ValueError(f"the global norm of the gradients is {norm}")
    if norm > max_norm:
        for gradient in gradients:
            gradient.mul_(max_norm / norm)
    return norm
"""
GRADIENTS = "    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]\n"
NORM = "    norm = math.sqrt(sum(gradient.pow(2).sum().item() for gradient in gradients))\n"
FINITE = """    if not math.isfinite(norm):
        raise ValueError(f"the global norm of the gradients is {norm}")
"""
RESCALE = """    if norm > max_norm:
        for gradient in gradients:
            gradient.mul_(max_norm / norm)
    return norm
"""

INIT = """        self.position = 0  # steps made
"""
LR_BODY = "        return learning_rate(self.position, **self.curve)\n"
STEP_BODY = "        self.position += 1\n"
STATE_BODY = """        return {"position": self.position, "curve": dict(self.curve)}
"""
LOAD_BODY = """        if state["curve"] != self.curve:
            raise ValueError(f"the state is of the curve {state['curve']}, this one is {self.curve}")
        self.position = state["position"]
"""
PROPERTY = """    @property
    def lr(self) -> float:
        \"\"\"The learning rate of the step that comes next.\"\"\"
        ### BEGIN SOLUTION
        return learning_rate(self.position, **self.curve)
        ### END SOLUTION
"""

TRAIN_BODY = """    for made in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = scheduler.lr
        optimizer.step()
        scheduler.step()
        if made % save_every == 0:
            save()
"""
PUT = """        for group in optimizer.param_groups:
            group["lr"] = scheduler.lr
"""
STEPS = """        optimizer.step()
        scheduler.step()
"""
SAVE = """        if made % save_every == 0:
            save()
"""

AFTER_BODY = """    steps = range(killed, horizon)
    left = horizon - killed
    return {
        "right": [learning_rate(step, peak, warmup, horizon, floor) for step in steps],
        "step forgotten": [learning_rate(step - killed, peak, warmup, horizon, floor) for step in steps],
        "horizon forgotten": [learning_rate(step, peak, warmup, left, floor) for step in steps],
    }
"""
DAMAGE_BODY = """    missed = sum(max(0.0, a - b) for a, b in zip(right, wrong, strict=True))
    added = sum(max(0.0, b - a) for a, b in zip(right, wrong, strict=True))
    return missed, added
"""
SEEN_BODY = """    return "b"
"""
BETAS_BODY = """    optimizer.load_state_dict(state)
    for group in optimizer.param_groups:
        group["betas"] = betas
"""
