"""Lab 17's right solutions, written differently."""

from autograder.mutants import Variant
from autograder.mutants.lab17.parts import (
    AFTER_BODY,
    BETAS_BODY,
    CLIP_BODY,
    DAMAGE_BODY,
    INIT,
    LOAD_BODY,
    LR_BODY,
    PROPERTY,
    RATE_BODY,
    STATE_BODY,
    STEP_BODY,
    TRAIN_BODY,
)

_RATE = "        self.rate = learning_rate(self.position, **self.curve)\n"

RIGHT_STYLES = (
    Variant(
        "by-cases",
        "early returns, comprehensions, new gradients assigned, a state as flat as can be",
        (
            (
                RATE_BODY,
                "    if step >= horizon:\n"
                "        return floor\n"
                "    if step + 1 <= warmup:\n"
                "        return (step + 1) * (peak / warmup)\n"
                "    left = 0.5 + 0.5 * math.cos((step - warmup) / (horizon - warmup) * math.pi)\n"
                "    return peak * left + floor * (1 - left)\n",
            ),
            (
                CLIP_BODY,
                "    owners = [p for p in parameters if p.grad is not None]\n"
                "    norm = torch.stack([torch.zeros(()), *(p.grad.norm() for p in owners)]).norm()\n"
                "    if not norm.isfinite():\n"
                "        raise ValueError('not finite')\n"
                "    factor = torch.clamp(max_norm / (norm + 1e-6), max=1.0)\n"
                "    for p in owners:\n"
                "        p.grad = p.grad * factor\n"
                "    return norm\n",
            ),
            (STATE_BODY, '        return self.curve | {"done": self.position}\n'),
            (
                LOAD_BODY,
                "        for name, value in self.curve.items():\n"
                "            if state[name] != value:\n"
                '                raise ValueError(f"{name} is {value} here, and {state[name]} there")\n'
                '        self.position = state["done"]\n',
            ),
        ),
    ),
    Variant(
        "all-at-once",
        "one long tensor for the norm, torch's many-tensor calls, numpy for the damage",
        (
            (
                CLIP_BODY,
                "    gradients = [p.grad for p in parameters if p.grad is not None]\n"
                "    if not gradients:\n"
                "        return 0.0\n"
                "    norm = torch.linalg.vector_norm(torch.cat([g.flatten() for g in gradients])).item()\n"
                "    if norm == math.inf or norm != norm:\n"
                "        raise ValueError('a gradient is not finite')\n"
                "    if norm > max_norm:\n"
                "        torch._foreach_mul_(gradients, max_norm / norm)\n"
                "    return norm\n",
            ),
            (
                DAMAGE_BODY,
                "    gap = torch.tensor(right, dtype=torch.float64) - torch.tensor(wrong, "
                "dtype=torch.float64)\n"
                "    return torch.stack([gap.clamp(min=0).sum(), (-gap).clamp(min=0).sum()])\n",
            ),
            (
                AFTER_BODY,
                "    def course(position, until):\n"
                "        wanted = horizon - killed\n"
                "        return [learning_rate(position + i, peak, warmup, until, floor) for i in "
                "range(wanted)]\n"
                "\n"
                "    return {\n"
                '        "horizon forgotten": course(killed, horizon - killed),\n'
                '        "step forgotten": course(0, horizon),\n'
                '        "right": course(killed, horizon),\n'
                "    }\n",
            ),
        ),
    ),
    Variant(
        "kept-and-refreshed",
        "the rate is an attribute, computed in step() and after a load",
        (
            (PROPERTY, ""),
            (INIT, INIT + _RATE.replace("self.rate", "self.lr")),
            (STEP_BODY, STEP_BODY + _RATE.replace("self.rate", "self.lr")),
            (LOAD_BODY, LOAD_BODY + _RATE.replace("self.rate", "self.lr")),
        ),
    ),
    Variant(
        "the-whole-dict",
        "a deep copy of __dict__ is the state, and a copy of it is loaded",
        (
            (STATE_BODY, "        import copy\n\n        return copy.deepcopy(vars(self))\n"),
            (
                LOAD_BODY,
                "        import copy\n\n"
                '        if any(state["curve"][name] != self.curve[name] for name in self.curve):\n'
                '            raise ValueError("another curve")\n'
                "        vars(self).update(copy.deepcopy(state))\n",
            ),
            (
                TRAIN_BODY,
                "    made = 0\n"
                "    while made < steps:\n"
                "        rate = scheduler.lr\n"
                "        for group in optimizer.param_groups:\n"
                "            group.update(lr=rate)\n"
                "        optimizer.step()\n"
                "        scheduler.step()\n"
                "        made += 1\n"
                "        if not made % save_every:\n"
                "            save()\n",
            ),
            (
                BETAS_BODY,
                "    import copy\n\n"
                "    changed = copy.deepcopy(state)\n"
                '    for group in changed["param_groups"]:\n'
                '        group["betas"] = tuple(betas)\n'
                "    optimizer.load_state_dict(changed)\n",
            ),
        ),
    ),
    Variant(
        "a-curve-of-its-own",
        "the schedule builds all rates at once, and knows its place in the list",
        (
            (
                INIT,
                INIT + "        every = range(horizon + 1)\n"
                "        self.rates = [learning_rate(step, peak, warmup, horizon, floor) for step "
                "in every]\n",
            ),
            (LR_BODY, "        return self.rates[min(self.position, len(self.rates) - 1)]\n"),
            (STATE_BODY, '        return {"at": self.position, "rates": list(self.rates)}\n'),
            (
                LOAD_BODY,
                '        if state["rates"] != self.rates:\n'
                '            raise ValueError("the state has other rates")\n'
                '        self.position = int(state["at"])\n',
            ),
            (
                TRAIN_BODY,
                "    since = 0\n"
                "    for _ in range(steps):\n"
                "        for i in range(len(optimizer.param_groups)):\n"
                '            optimizer.param_groups[i]["lr"] = scheduler.lr\n'
                "        optimizer.step()\n"
                "        scheduler.step()\n"
                "        since += 1\n"
                "        if since == save_every:\n"
                "            save()\n"
                "            since = 0\n",
            ),
        ),
    ),
)  # fmt: skip
