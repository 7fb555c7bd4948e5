"""Lab 17's checks: each mistake is named, whatever was drawn, and right is right however it is written."""

import copy
import math
import random
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch

from lastgood.recovery.wire import same
from lastgood.teaching.checks import lab17
from lastgood.teaching.checks.core import Check
from lastgood.teaching.checks.lab17 import after, own
from lastgood.teaching.checks.lab17.damage import missed_and_added
from lastgood.teaching.checks.lab17.saving import Counting
from lastgood.teaching.checks.lab17.shown import first_rates, lived, three_restarts, without_warm_up
from lastgood.teaching.checks.lab17.stand_in import Optimizer
from lastgood.training.rng import capture_rng
from lastgood.training.schedule import Schedule, clip_gradients

SEEDS = range(6)


def names(check: Check, thing: Any, message: str, points: float | None = None) -> None:
    """Over several draws: a check must not depend on its luck."""
    for seed in SEEDS:
        report = check.run((thing,), seed=seed)
        assert report.passed is not bool(message), report.text()
        assert message in " ".join(report.text().split())
        assert points is None or report.points == points, report.text()
        assert report.worth == check.worth


def test_27_points_and_every_check_has_a_name_of_its_own() -> None:
    assert sum(check.worth for check in lab17.CHECKS) == 27
    assert len({check.name for check in lab17.CHECKS}) == len(lab17.CHECKS)
    assert len({check.exercise for check in lab17.CHECKS}) == len(lab17.CHECKS)


# A. The learning rate of a step


def rate(step: int, peak: float, warmup: int, horizon: int, floor: float) -> float:
    """Right, and written otherwise than the library's."""
    if step < warmup:
        return (step + 1) * peak / warmup
    left = (1 + math.cos(math.pi * min(step - warmup, horizon - warmup) / (horizon - warmup))) / 2
    return left * peak + (1 - left) * floor


def constant_up(step: int, peak: float, warmup: int, horizon: int, floor: float) -> float:
    return peak / 2 if step < warmup else rate(step, peak, warmup, horizon, floor)


def stays_up(step: int, peak: float, warmup: int, horizon: int, floor: float) -> float:
    return rate(min(step, warmup), peak, warmup, horizon, floor)


def cosine_throughout(step: int, peak: float, warmup: int, horizon: int, floor: float) -> float:
    return floor + (peak - floor) * (1 + math.cos(math.pi * min(1.0, step / horizon))) / 2


def nearly(step: int, *curve: Any) -> float:
    """Half-way round is 3.14, says this one."""
    peak, warmup, horizon, floor = curve
    share = min(1.0, (step - warmup) / (horizon - warmup))
    return rate(step, *curve) if step < warmup else floor + (peak - floor) * (1 + math.cos(3.14 * share)) / 2


def none_later(step: int, *curve: Any) -> float | None:
    return rate(step, *curve) if step < 50 else None


RATES: dict[str, tuple[Callable[..., Any], str, float]] = {
    "another way": (rate, "", 4),
    "a tensor": (lambda *a: torch.tensor(rate(*a), dtype=torch.float64), "", 4),
    "half up": (constant_up, "it gives", 3),
    "nearly pi": (nearly, "is right", 1),
    "never down": (stays_up, "First the decay", 1),
    "cosine throughout": (cosine_throughout, "There is no warm-up: the cosine begins at step 0", 1),
    "none later": (none_later, "At step 50: The function returned None", 0),
    "text": (lambda *a: "fast", "a number is wanted", 0),
    "the library's": (own.right_rate, "the library's own", 0),
}


def test_a_message_about_a_small_mistake_shows_two_numbers_that_differ() -> None:
    def no_cap(step: int, peak: float, warmup: int, horizon: int, floor: float) -> float:
        return rate(min(step, 2 * horizon - step), peak, warmup, horizon, floor)

    for seed in SEEDS:
        for function, pattern in (
            (nearly, r"it gives (\S+), and (\S+) is right"),
            (no_cap, r"the rate is (\S+), at the horizon, step \d+, it was (\S+)\."),
        ):
            shown = re.search(pattern, " ".join(lab17.RATE.run((function,), seed=seed).text().split()))
            assert shown is not None
            assert shown[1] != shown[2]


@pytest.mark.parametrize("name", RATES)
def test_a_rate_is_right_or_its_mistake_is_named(name: str) -> None:
    names(lab17.RATE, *RATES[name])


def test_the_right_rate_is_the_librarys_over_the_whole_course_and_beyond() -> None:
    curve = (3e-3, 30, 600, 3e-4)
    schedule = Schedule(*curve)
    assert [own.right_rate(s, *curve) for s in range(800)] == [schedule.lr(s) for s in range(800)]


# B. Clipping


def clip(parameters: Iterable[Any], max_norm: float, *, power: float = 2) -> float:
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = sum(g.abs().pow(power).sum().item() for g in gradients) ** (1 / power)
    if not math.isfinite(norm):
        raise ValueError(norm)
    for gradient in gradients if norm > max_norm else ():
        gradient.mul_(max_norm / norm)
    return float(norm)


def assigned(parameters: Iterable[Any], max_norm: float) -> Any:
    """As torch does it, with new tensors."""
    owners = [p for p in parameters if p.grad is not None]
    norm = torch.stack([torch.zeros(()), *(p.grad.float().norm() for p in owners)]).norm()
    if not norm.isfinite():
        raise ValueError("no")
    for p in owners:
        p.grad = p.grad * torch.clamp(max_norm / (norm + 1e-6), max=1.0)
    return norm


def none_at_zero(parameters: Iterable[Any], max_norm: float) -> float | None:
    norm = clip(parameters, max_norm)
    return norm or None


def of_parameters(parameters: Iterable[Any], max_norm: float) -> float:
    norm = math.sqrt(sum(p.detach().pow(2).sum().item() for p in parameters))
    if not math.isfinite(norm):
        raise ValueError(norm)
    return norm


def first_only(parameters: Iterable[Any], max_norm: float) -> float:
    return clip(list(parameters)[:1], max_norm)


CLIPS: dict[str, tuple[Callable[..., Any], str, float | None]] = {
    "in place": (clip, "", 5),
    "assigned": (assigned, "", 5),
    "another norm": (lambda p, m: clip(p, m, power=1), "sum of the absolute values", None),
    "nothing": (lambda p, m: None, "Is a `return` missing?", 0),
    "none at zero": (none_at_zero, "With a gradient of zeros: the function returned None", 4),
    "of the parameters": (of_parameters, "That is the norm of the parameters", 0),
    "the first tensor": (first_only, "norm of the first tensor alone", 1),
    "the norm alone": (lambda p, m: clip(p, math.inf), "Not tested yet", 2),
    "the library's": (clip_gradients, "the library's own", 0),
    "torch's": (lambda p, m: torch.nn.utils.clip_grad_norm_(p, m), "It uses clip_grad_norm_", 0),
}


@pytest.mark.parametrize("name", CLIPS)
def test_a_clipping_is_right_or_its_mistake_is_named(name: str) -> None:
    names(lab17.CLIPPING, *CLIPS[name])


@pytest.mark.parametrize("function", [clip, assigned])
def test_no_right_clipping_is_called_wrong_by_bad_luck(function: Any) -> None:
    assert [s for s in range(30) if not lab17.CLIPPING.run((function,), seed=s).passed] == []


# C. A schedule that counts


learning_rate = rate  # a notebook's own, which the checks replace while they look at a class


class Good:
    """A learner's class."""

    def __init__(self, peak: float, warmup: int, horizon: int, floor: float) -> None:
        self.curve = {"peak": peak, "warmup": warmup, "horizon": horizon, "floor": floor}
        self.position = 0

    @property
    def lr(self) -> float:
        return learning_rate(self.position, **self.curve)  # type: ignore[arg-type]  # two are whole numbers

    def step(self) -> None:
        self.position += 1

    def state_dict(self) -> dict[str, Any]:
        return {"position": self.position, "curve": dict(self.curve)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state["curve"] != self.curve:
            raise ValueError("another curve")
        self.position = state["position"]


def theirs(**changed: Any) -> Any:
    """Good, with some of its methods changed."""
    return type("Scheduler", (Good,), {**changed, "__module__": "__main__"})


def raises_not_written(*arguments: Any) -> Any:
    raise NotImplementedError


def refuses_but_warmup(self: Any, state: dict[str, Any]) -> None:
    if {**state["curve"], "warmup": 0} != {**self.curve, "warmup": 0}:
        raise ValueError("another curve")
    self.position = state["position"]


def adds(self: Any, state: dict[str, Any]) -> None:
    before = self.position
    Good.load_state_dict(self, state)
    self.position += before


SCHEDULERS: dict[str, tuple[Any, str, float]] = {
    "right": (theirs(), "", 6),
    "warm-up not compared": (
        theirs(load_state_dict=refuses_but_warmup),
        "A state saved with warmup",
        4,
    ),
    "added": (theirs(load_state_dict=adds), "the saved position is added", 4),
    "no state": (theirs(state_dict=lambda self: None), "state_dict returned None", 1),
    "load not written": (theirs(load_state_dict=raises_not_written), "Not written yet", 1),
    "step not written": (theirs(step=raises_not_written), "Not written yet", 0),
    "step raises": (theirs(step=lambda self: 1 / 0), "step raised ZeroDivisionError", 0),
    "lr is a method": (theirs(lr=lambda self: 0.1), "lr: The result is a", 0),
    "no __init__": (theirs(__init__=lambda self: None), "__init__ raised TypeError", 0),
    "the library's": (Counting, "the library's own", 0),
}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_scheduler_is_right_or_its_mistake_is_named(name: str) -> None:
    names(lab17.COUNTING, *SCHEDULERS[name])


def test_what_is_not_written_yet_is_not_lost() -> None:
    report = lab17.COUNTING.run((theirs(load_state_dict=raises_not_written),))
    assert "LOST" not in report.text()


def test_a_scheduler_stands_on_the_right_rate_while_it_is_checked_and_on_the_learners_afterwards() -> None:
    cell = """
class Scheduler(Base):
    @property
    def lr(self):
        return learning_rate(self.position, **self.curve)
"""
    notebook: dict[str, Any] = {"Base": theirs(), "learning_rate": None, "__name__": "__main__"}
    exec(cell, notebook)
    assert lab17.COUNTING.run((notebook["Scheduler"],)).passed
    assert notebook["learning_rate"] is None
    del notebook["learning_rate"]
    assert lab17.COUNTING.run((notebook["Scheduler"],)).passed
    assert "learning_rate" not in notebook


def train(steps: int, optimizer: Any, scheduler: Any, every: int, save: Any) -> None:
    for made in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = scheduler.lr
        optimizer.step()
        scheduler.step()
        if made % every == 0:
            save()


def twice(steps: int, optimizer: Any, scheduler: Any, every: int, save: Any) -> None:
    train(steps, optimizer, _Doubled(scheduler), every, save)


class _Doubled:
    def __init__(self, scheduler: Any) -> None:
        self.scheduler = scheduler

    @property
    def lr(self) -> Any:
        return self.scheduler.lr

    def step(self) -> None:
        self.scheduler.step()
        self.scheduler.step()


def at_the_end_as_well(steps: int, optimizer: Any, scheduler: Any, every: int, save: Any) -> None:
    train(steps, optimizer, scheduler, every, save)
    save()


def forever(steps: int, optimizer: Any, scheduler: Any, every: int, save: Any) -> None:
    while True:
        optimizer.step()


TRAINS: dict[str, tuple[Callable[..., Any], str, float]] = {
    "right": (train, "", 3),
    "twice": (twice, "The schedule moves twice", 1),
    "one step too many": (lambda s, *a: train(s + 1, *a), "steps, and", 0),
    "at the end as well": (at_the_end_as_well, "where none is due", 2),
    "forever": (forever, "still the loop goes on", 0),
    "nothing": (lambda *a: None, "optimizer.step() is never called", 0),
}


@pytest.mark.parametrize("name", TRAINS)
def test_a_loop_is_right_or_its_mistake_is_named(name: str) -> None:
    names(lab17.SAVING, *TRAINS[name])


# D. The damage


def restarts(killed: int, *curve: Any) -> dict[str, Any]:
    steps = range(killed, curve[2])
    return {key: [rate_of(s) for s in steps] for key, rate_of in after.curves(killed, *curve).items()}


AFTERS: dict[str, tuple[Callable[..., Any], str, float]] = {
    "right": (restarts, "", 3),
    "as tensors": (
        lambda *a: {k: torch.tensor(v, dtype=torch.float64) for k, v in restarts(*a).items()},
        "",
        3,
    ),
    "one short": (lambda *a: {k: v[:-1] for k, v in restarts(*a).items()}, "rates; steps", 0),
    "one behind": (
        lambda *a: {k: [v[0], *v[:-1]] for k, v in restarts(*a).items()},
        "One step behind",
        0,
    ),
    "halved": (lambda *a: {k: [x / 2 for x in v] for k, v in restarts(*a).items()}, "you have", 0),
    "a list": (lambda *a: list(restarts(*a).values()), "Return a dict", 0),
    "numbers": (lambda *a: dict.fromkeys(after.KEYS, 0.1), "a list of numbers is wanted", 0),
    "nothing": (lambda *a: None, "Is a `return` missing?", 0),
}


@pytest.mark.parametrize("name", AFTERS)
def test_rates_after_a_kill_are_right_or_their_mistake_is_named(name: str) -> None:
    names(lab17.AFTER, _unlent(AFTERS[name][0]), *AFTERS[name][1:])


def _unlent(function: Any) -> Any:
    """A callable that the check takes for a notebook's: this test's own stand on the library."""
    return lambda *arguments: function(*arguments)


def test_a_forgotten_step_and_a_forgotten_horizon_give_the_rates_of_the_lesson() -> None:
    found = after.curves(400, 3e-3, 30, 600, 3e-4)
    assert (
        found["horizon forgotten"](400) == 3e-4
    )  # lesson 17's practice: the floor, for all steps that are left
    assert found["step forgotten"](400) == 3e-3 / 30


DAMAGES: dict[str, tuple[Callable[..., Any], str, float]] = {
    "right": (lambda r, w: _own_damage(r, w), "", 2),
    "a tensor": (lambda r, w: torch.tensor(_own_damage(r, w), dtype=torch.float64), "", 2),
    "one number": (lambda r, w: 0.1, "Return two numbers", 0),
    "added negative": (
        lambda r, w: (_own_damage(r, w)[0], -_own_damage(r, w)[1]),
        "What is added has a minus sign",
        1,
    ),
    "double": (lambda r, w: [2 * x for x in _own_damage(r, w)], "is right", 0),
}


def _own_damage(right: list[float], wrong: list[float]) -> tuple[float, float]:
    return missed_and_added(right, wrong)


@pytest.mark.parametrize("name", DAMAGES)
def test_the_damage_is_right_or_its_mistake_is_named(name: str) -> None:
    names(lab17.DAMAGE, *DAMAGES[name])


def test_missed_and_added_do_not_cancel() -> None:
    assert missed_and_added([3.0, 3.0, 3.0, 3.0], [1.0, 2.0, 4.0, 5.0]) == (3.0, 3.0)


# E. Another setting at a restart


def load_and_set(optimizer: Any, state: Any, betas: Any) -> None:
    optimizer.load_state_dict(state)
    for group in optimizer.param_groups:
        group["betas"] = betas


def one_number(optimizer: Any, state: Any, betas: Any) -> None:
    load_and_set(optimizer, state, betas[0])


def both_settings(optimizer: Any, state: Any, betas: Any) -> None:
    load_and_set(optimizer, state, betas)
    optimizer.param_groups[0]["lr"] = 1.0


BETAS: dict[str, tuple[Callable[..., Any], str, float]] = {
    "load, then set": (load_and_set, "", 3),
    "a list": (lambda o, s, b: load_and_set(o, s, list(b)), "", 3),
    "one number": (one_number, "They are a pair", 2),
    "the rate as well": (both_settings, "learning rates are", 2),
    "nothing": (lambda o, s, b: None, "starts cold", 1),
}


@pytest.mark.parametrize("name", BETAS)
def test_a_resume_is_right_or_its_mistake_is_named(name: str) -> None:
    names(lab17.BETAS, *BETAS[name])


def test_the_stand_in_loads_as_torchs_optimizer_does() -> None:
    ours, new = Optimizer(1e-3, (0.9, 0.95), 1), Optimizer(5e-3, (0.0, 0.95), 2)
    real = [torch.optim.AdamW(copy.deepcopy(o.param_groups)) for o in (ours, new)]
    for group in real[0].param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.ones(3)
    real[0].step()
    for saved, fresh in ((ours, new), (real[0], real[1])):
        state = saved.state_dict()
        before = [group["params"] for group in fresh.param_groups]
        fresh.load_state_dict(state)
        assert [group["betas"] for group in fresh.param_groups] == [(0.9, 0.95)] * 2
        assert [group["lr"] for group in fresh.param_groups] == [1e-3] * 2
        assert all(
            a is b for a, b in zip(before, [g["params"] for g in fresh.param_groups], strict=True)
        ) or (before == [g["params"] for g in fresh.param_groups])
        assert [list(moments) for moments in fresh.state.values()] == [["step", "exp_avg", "exp_avg_sq"]] * 4
        fresh.param_groups[0]["betas"] = (0.5, 0.5)
        assert state["param_groups"][0]["betas"] == (0.9, 0.95)
    assert ours.state_dict().keys() == real[0].state_dict().keys()
    assert [g["params"] for g in ours.state_dict()["param_groups"]] == [[0, 1], [2, 3]]


# What the lab shows


def test_three_restarts_wait_for_what_is_not_written() -> None:
    assert "Not written yet" in three_restarts(raises_not_written, missed_and_added).text
    assert "Not written yet" in three_restarts(restarts, raises_not_written).text


def test_the_first_rates_are_those_of_three_curves() -> None:
    numbers = [float(line.split()[-1]) for line in first_rates().splitlines()]
    assert numbers == [round(rates[0], 5) for rates in restarts(120, 1e-2, 30, 300, 1e-3).values()]


@pytest.mark.slow
def test_a_real_run_shows_what_the_question_asks_for() -> None:
    torch.set_num_threads(1)
    lives = lived(restarts(120, 1e-2, 30, 300, 1e-3))
    right, step, horizon = (lives[key] for key in after.KEYS)
    assert right[120] == step[120] == horizon[120]  # one checkpoint
    assert horizon[140] < right[140] < step[140]
    assert right[300] < step[300] < horizon[300]


@pytest.mark.slow
def test_a_run_with_a_warm_up_is_ahead_after_a_hundred_steps() -> None:
    warm, cold = (float(number) for number in re.findall(r"(\d\.\d\d) ", without_warm_up().text + " "))
    assert warm < cold - 0.3


# All of them


@pytest.mark.parametrize("check", lab17.CHECKS, ids=lambda check: check.name)
def test_a_blank_is_not_written_yet_and_nothing_is_lost(check: Check) -> None:
    report = check.run(
        (raises_not_written if check is not lab17.COUNTING else theirs(lr=property(raises_not_written)),)
    )
    assert report.points == 0
    assert "Not written yet" in report.text()
    assert "LOST" not in report.text()
    assert report.worth == check.worth


def test_a_check_draws_no_global_random_number() -> None:
    random.seed(1)
    torch.manual_seed(1)
    before = capture_rng()
    for check, thing in (
        (lab17.RATE, rate),
        (lab17.CLIPPING, clip),
        (lab17.COUNTING, theirs()),
        (lab17.SAVING, train),
        (lab17.AFTER, _unlent(restarts)),
        (lab17.BETAS, load_and_set),
    ):
        check.run((thing,))
    assert same(capture_rng(), before)


def test_the_answer_to_what_they_saw_cannot_be_read_in_the_check() -> None:
    reports = {letter: lab17.SEEN.run((lambda letter=letter: letter,)) for letter in "abcd"}
    assert [letter for letter, report in reports.items() if report.passed] == ["b"]
    assert all(report.passed or "Look at" in report.text() for report in reports.values())
