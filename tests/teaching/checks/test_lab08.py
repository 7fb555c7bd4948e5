"""Lab 08's checks: each mistake is named, whatever was drawn, and right is right however it is written."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lastgood.recovery.wire import same
from lastgood.teaching.checks import lab08
from lastgood.teaching.checks.core import Check
from lastgood.teaching.checks.lab08 import (
    counts,
    files,
    models,
    moments,
    momentum,
    own,
    restarts,
    sizes,
    update,
)
from lastgood.teaching.checks.lab08.walk import SHORT, close
from lastgood.training.memory import in_memory as library_in_memory
from lastgood.training.rng import capture_rng

SEEDS = range(2)
MOMENTS_OF = {"sgd": 0, "momentum": 1, "adamw": 2}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As in the lab: on tensors this small, a second thread costs time and gains none."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def words(report: Any) -> str:
    return " ".join(report.text().split())


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def remembered(model: nn.Module, name: str) -> int:
    trained = [p for p in model.parameters() if p.requires_grad]
    return MOMENTS_OF[name] * sum(p.numel() for p in trained) + (name == "adamw") * len(trained)


def momentum_step(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    b: Tensor = mu * state.get("b", 0.0) + g
    state["b"] = b
    return p - lr * b


def corrected(g: Tensor, state: dict[str, Any], beta1: float, beta2: float) -> tuple[Tensor, Tensor]:
    t, m, v = state.get("all", (0, 0.0, 0.0))
    t, m, v = t + 1, beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
    state["all"] = t, m, v
    return m / (1 - beta1**t), v / (1 - beta2**t)


def adamw_step(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, *rest: float) -> Tensor:
    beta1, beta2, eps, decay = rest
    m, v = corrected(g, state, beta1, beta2)
    return p * (1 - lr * decay) - lr * m / (v.sqrt() + eps)


def first_update(gradients: list[float], lost: str, beta1: float, beta2: float) -> float:
    def walked(lost: str) -> float:
        m = v = float(t := 0)
        for left, g in zip(range(len(gradients) - 1, -1, -1), gradients, strict=True):
            m, v = (0.0, 0.0) if not left and lost in ("everything", "moments") else (m, v)
            t = 1 if not left and lost in ("everything", "step") else t + 1
            m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        return float(m / (1 - beta1**t) / (v / (1 - beta2**t)) ** 0.5)

    return abs(walked(lost) / walked(""))


RIGHT: dict[Check, Callable[..., Any]] = {
    lab08.COUNT: count,
    lab08.STATE: remembered,
    lab08.MEMORY: lambda n, moments, mixed: n * (8 + 4 * moments),
    lab08.CHECKPOINT: lambda n, moments, mixed: n * (4 + 2 * mixed + 4 * moments),
    lab08.OPT_SIZE: lambda: (1.75, 1.75e12 / 2**40),
    lab08.MOMENTUM: momentum_step,
    lab08.MOMENTS: corrected,
    lab08.UPDATE: adamw_step,
    lab08.FILE: lambda model, name: 4 * (1 + MOMENTS_OF[name]) * count(model),
    lab08.FIRST_UPDATE: first_update,
}


def test_twenty_seven_points_and_every_check_has_a_name_of_its_own() -> None:
    assert sum(check.worth for check in lab08.CHECKS) == 27
    assert len({check.name for check in lab08.CHECKS}) == len(lab08.CHECKS)
    assert len({check.exercise for check in lab08.CHECKS}) == len(lab08.CHECKS)


each_check = pytest.mark.parametrize("check", lab08.CHECKS, ids=lambda check: check.name)


@each_check
def test_right_is_right_whatever_was_drawn(check: Check) -> None:
    for seed in SEEDS:
        report = check.run((RIGHT[check],), seed=seed)
        assert (report.points, report.worth) == (check.worth, check.worth), report.text()


@each_check
def test_what_is_not_written_is_not_lost(check: Check) -> None:
    def blank(*arguments: Any) -> None:
        raise NotImplementedError

    report = check.run((blank,), seed=1)
    assert (report.points, report.worth) == (0, check.worth)
    assert "Not written yet" in report.text()
    assert "LOST" not in report.text()


def test_no_check_draws_a_global_random_number_or_leaves_torch_changed() -> None:
    random.seed(1)
    before, real = capture_rng(), torch.optim.Optimizer.__init__
    for check in lab08.CHECKS:
        check.run((RIGHT[check],))
    assert same(capture_rng(), before)
    assert torch.optim.Optimizer.__init__ is real


def a_torch_adamw(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, *rest: float) -> Tensor:
    return torch.optim.AdamW([p], lr=lr).param_groups[0]["params"][0]  # type: ignore[no-any-return]


def fused(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, *rest: float) -> Tensor:
    torch._fused_adamw_([p], [g], [p], [p], [], [p], lr=lr)  # type: ignore[call-overload]
    return p


def hidden(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, *rest: float) -> Tensor:
    models.stepped(nn.Linear(2, 2), "adamw")
    return p


WRONG: dict[str, tuple[Check, Callable[..., Any], str]] = {
    "no return": (lab08.COUNT, lambda model: None, "Is a `return` missing?"),
    "text": (lab08.COUNT, lambda model: "105,472", "the text '105,472'; a number is wanted"),
    "a list": (lab08.MEMORY, lambda n, k, mixed: [n], "a list; a number is wanted"),
    "the library's": (lab08.MEMORY, library_in_memory, "the library's own function"),
    "one number": (lab08.OPT_SIZE, lambda: 1.75, "Return two numbers: terabytes, tebibytes"),
    "three numbers": (lab08.OPT_SIZE, lambda: (1, 2, 3), "Return two numbers"),
    "a shape": (lab08.MOMENTUM, lambda p, g, s, lr, mu: (p - g)[0], "has shape (4,), it should be (3, 4)"),
    "no tensor": (lab08.MOMENTUM, lambda p, g, s, lr, mu: 0.5, "is a float, not a tensor"),
    "one moment": (lab08.MOMENTS, lambda g, s, b1, b2: g, "Return two tensors"),
    "three moments": (lab08.MOMENTS, lambda g, s, b1, b2: (g, g, g), "Return two tensors"),
    "raises": (lab08.UPDATE, lambda *a: a[2]["m"], "Your function raised KeyError"),
    "torch's": (lab08.UPDATE, a_torch_adamw, "uses torch.optim, and that is the answer"),
    "torch's fused kernel": (lab08.UPDATE, fused, "uses _fused_adamw_, and that is the answer"),
    "torch's behind a helper": (lab08.UPDATE, hidden, "builds one of torch's optimizers"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_answer_is_named(name: str) -> None:
    check, function, message = WRONG[name]
    report = check.run((function,), seed=1)
    assert (report.points, report.worth) == (0, check.worth)
    assert message in words(report)


# Walks: what was walked is handed to the verdict as if a learner's function had gone there.


def walked(path: Tensor, **more: Any) -> dict[str, Any]:
    start = path[:SHORT]
    return {
        "path": path,
        "touched": False,
        "again": start,
        "reused": start,
        "in_turn": start,
        "from_a_copy": start,
        **more,
    }


@pytest.mark.parametrize("sentence", momentum.MISTAKES)
def test_each_mistake_about_momentum_is_recognised(sentence: str) -> None:
    for seed in SEEDS:
        inputs = lab08.MOMENTUM.draw(seed)
        path = momentum.MISTAKES[sentence](*momentum._lane(inputs), inputs["rates"], inputs["momentum"])
        report = lab08.MOMENTUM.verdict(inputs, walked(path))
        assert report.points == 1
        assert sentence in words(report)


@pytest.mark.parametrize("which", [0, 1], ids=[moments.FIRST, moments.SECOND])
@pytest.mark.parametrize("sentence", moments.MISTAKES)
def test_each_mistake_about_a_moment_is_recognised(sentence: str, which: int) -> None:
    for seed in SEEDS:
        inputs = lab08.MOMENTS.draw(seed)
        g, betas = moments._lane(inputs)[1], inputs["betas"]
        both = [moments.corrected(g, betas[0]), moments.corrected(g**2, betas[1])]
        both[which] = moments.MISTAKES[sentence]((g, g**2)[which], betas[which])
        report = lab08.MOMENTS.verdict(inputs, walked(torch.stack(both, dim=1)))
        assert report.points == 2
        assert not report.parts[which].passed
        assert sentence in words(report)


def test_each_mistake_about_the_square_is_recognised() -> None:
    for seed in SEEDS:
        inputs = lab08.MOMENTS.draw(seed)
        g, betas = moments._lane(inputs)[1], inputs["betas"]
        first = moments.corrected(g, betas[0])
        for sentence, second in moments._of_the_second(g, betas, first).items():
            report = lab08.MOMENTS.verdict(inputs, walked(torch.stack([first, second], dim=1)))
            assert report.points == 2
            assert sentence in words(report)


def settings(inputs: dict[str, Any]) -> dict[str, update.Setting]:
    return {title: update.Setting(**numbers) for title, numbers in inputs["settings"].items()}


def test_the_right_belief_about_adamw_is_torchs_own_path() -> None:
    for seed in SEEDS:
        inputs = lab08.UPDATE.draw(seed)
        for setting in settings(inputs).values():
            lane = update._lane(inputs)
            assert torch.allclose(update.believed(*lane, setting), update.torchs(*lane, setting), rtol=1e-9)


def test_decay_through_the_gradient_is_torchs_adam() -> None:
    inputs = lab08.UPDATE.draw(1)
    start, gradients = update._lane(inputs)
    setting = settings(inputs)[update.DECAYED]
    parameter = nn.Parameter(start.clone())
    adam = torch.optim.Adam(
        [parameter], betas=(setting.beta1, setting.beta2), eps=setting.eps, weight_decay=setting.weight_decay
    )
    for gradient, rate in zip(gradients, setting.rates, strict=True):
        adam.param_groups[0]["lr"] = rate
        parameter.grad = gradient
        adam.step()
    believed = update.believed(start, gradients, setting, update.Belief(decay="gradient"))
    assert torch.allclose(believed[-1], parameter.detach(), rtol=1e-9)


@pytest.mark.parametrize("sentence", update.BELIEFS | update.DECAYS)
def test_each_belief_about_adamw_is_recognised(sentence: str) -> None:
    belief = (update.BELIEFS | update.DECAYS)[sentence]
    inputs = lab08.UPDATE.draw(len(sentence))
    data = {
        title: walked(update.believed(*update._lane(inputs), setting, belief))
        for title, setting in settings(inputs).items()
    }
    report = lab08.UPDATE.verdict(inputs, data)
    assert report.points == (3 if sentence in update.DECAYS or belief.eps != "outside" else 1)
    assert sentence in words(report)


def test_an_unknown_path_says_where_it_parts() -> None:
    inputs = lab08.MOMENTUM.draw(1)
    path = momentum.torchs(*momentum._lane(inputs), inputs["rates"], inputs["momentum"])
    path[7:] += 0.1
    assert "It is off from step 8 on" in words(lab08.MOMENTUM.verdict(inputs, walked(path)))
    path[7:] = torch.nan
    assert "yours gives nan" in words(lab08.MOMENTUM.verdict(inputs, walked(path)))


SHARED: dict[str, Any] = {}


def in_a_global(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    return momentum_step(p, g, SHARED, lr, mu)


def in_a_global_by_identity(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    kept = SHARED.setdefault(str(id(state)), {"keep": state})
    return momentum_step(p, g, kept, lr, mu)


def emptied(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    if not state:
        SHARED.clear()
    state["begun"] = True
    return momentum_step(p, g, SHARED, lr, mu)


def the_gradient_itself(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    b: Tensor = mu * state["b"] + g if "b" in state else g
    state["b"] = b
    return p - lr * b


def into_the_gradient(p: Tensor, g: Tensor, state: dict[str, Any], lr: float, mu: float) -> Tensor:
    g += mu * state.get("b", 0.0)
    state["b"] = g.clone()
    return p - lr * g


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (in_a_global, "it does not begin anew. Something is kept outside `state`"),
        (in_a_global_by_identity, "`state` was replaced by a copy. It goes on differently"),
        (emptied, "disturb each other"),
        (the_gradient_itself, "holds the gradient itself, not a copy"),
        (into_the_gradient, "changes the gradient that it is given"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_memory_that_is_not_in_the_state_costs_its_own_point(
    function: Callable[..., Any], message: str
) -> None:
    for seed in SEEDS:
        SHARED.clear()
        report = lab08.MOMENTUM.run((function,), seed=seed)
        assert [part.points for part in report.parts] == [1, 0], report.text()
        assert message in words(report)


def test_infinities_and_nan_equal_themselves_and_nothing_else() -> None:
    odd = torch.tensor([1.0, torch.inf, torch.nan])
    assert close(odd, odd, odd)
    assert not close(odd, torch.tensor([1.0, 1.0, 1.0]), odd)
    assert not close(odd, odd[:2], odd)


# Counts and sizes


def test_what_a_real_optimizer_holds_is_what_the_reference_counts() -> None:
    for seed in SEEDS:
        inputs = lab08.STATE.draw(seed)
        for model in counts._models(inputs):
            for name in models.OPTIMIZERS:
                assert models.held(models.stepped(model, name)) == own.remembered(model, name)


@pytest.mark.parametrize("name", models.OPTIMIZERS)
def test_each_mistake_about_the_state_is_recognised(name: str) -> None:
    for seed in SEEDS:
        inputs = lab08.STATE.draw(seed)
        both = counts._models(inputs)
        right = [models.held(models.stepped(model, name)) for model in both]
        wrong = {why: [size(model) for model in both] for why, size in counts._mistakes(name).items()}
        for found in wrong.values():
            if -1 not in found and found != right:
                told = counts._part(name, inputs, [float(size) for size in found])
                assert wrong[told.why] == found


@pytest.mark.parametrize("check", [lab08.MEMORY, lab08.CHECKPOINT], ids=lambda check: check.name)
def test_sizes_in_bits_or_gigabytes_are_recognised(check: Check) -> None:
    for factor, message in ((8, "That is in bits"), (1e-9, "in gigabytes"), (1e-6, "in megabytes")):
        report = check.run((lambda *a, factor=factor: factor * RIGHT[check](*a),), seed=1)
        assert report.points == 0
        assert message in words(report)


def test_sizes_that_nobody_foresaw_are_told_by_the_parameter() -> None:
    report = lab08.MEMORY.run((lambda n, k, mixed: n * (9 + 4 * k),), seed=1)
    assert "With 0 moments you have 9 bytes a parameter, and 8 is right." in words(report)


@pytest.mark.parametrize(("bytes_each", "sentence"), sizes._OPT_MISTAKES.items())
def test_opts_other_sizes_are_recognised(bytes_each: int, sentence: str) -> None:
    report = lab08.OPT_SIZE.run((lambda: (0.175 * bytes_each, 175e9 * bytes_each / 2**40),), seed=1)
    assert report.points == 0
    assert sentence in words(report)
    assert "The same here." in words(report)


@pytest.mark.parametrize("name", models.OPTIMIZERS)
def test_the_files_are_such_that_tensors_alone_predict_them(name: str) -> None:
    for seed in SEEDS:
        model = models.gpt(lab08.FILE.draw(seed)["gpt"])
        assert count(model) > 500_000
        real = files.saved_bytes(model, models.stepped(model, name))
        assert 0 < real / files._tensors(model, MOMENTS_OF[name]) - 1 < 0.008


@pytest.mark.parametrize("name", models.OPTIMIZERS)
def test_each_mistake_about_a_file_is_recognised_and_none_is_within_a_percent(name: str) -> None:
    for seed in SEEDS:
        model = models.gpt(lab08.FILE.draw(seed)["gpt"])
        tensors = files._tensors(model, MOMENTS_OF[name])
        wrong = {why: size(model, tensors) for why, size in files.mistakes(name).items()}
        for sentence, found in wrong.items():
            if found > 0:
                told = files._part(name, model, found, int(1.005 * tensors))
                assert told.points == 0, sentence
                assert wrong[told.why] == pytest.approx(found, rel=0.002)


@pytest.mark.parametrize("lost", restarts.LOSSES)
def test_each_mistake_about_a_loss_is_recognised(lost: str) -> None:
    for sentence, wrong in (restarts.MISTAKES[lost] | restarts.ALWAYS).items():
        for seed in SEEDS:
            runs = restarts._draw(seed)["runs"][lost]
            told = restarts._part(lost, runs, [wrong(g, lost, b1, b2) for g, b1, b2 in runs])
            assert told.points == 0, sentence
            if sentence not in restarts.ALWAYS or wrong(runs[0][0], lost, 0.9, 0.95) != 1.0:
                assert told.why == sentence


@pytest.mark.parametrize(
    ("lost", "beta2", "ratio"),
    [
        ("everything", 0.95, 1.0),
        ("moments", 0.95, 0.447),
        ("moments", 0.999, 3.16),
        ("step", 0.95, 2.236),
        ("step", 0.999, 0.316),
    ],
)
def test_on_a_slope_the_first_update_is_that_of_the_lesson(lost: str, beta2: float, ratio: float) -> None:
    assert restarts.ratio([1.0] * 20_000, lost, 0.9, beta2) == pytest.approx(ratio, rel=2e-3)


def test_a_mistake_in_an_earlier_exercise_costs_nothing_in_a_later_one() -> None:
    space: dict[str, Any] = {"corrected_moments": lambda g, state, b1, b2: (0 * g, 0 * g)}
    source = (
        "def adamw_step(p, g, state, lr, b1, b2, eps, decay):\n"
        "    m, v = corrected_moments(g, state, b1, b2)\n"
        "    return p * (1 - lr * decay) - lr * m / (v.sqrt() + eps)\n"
    )
    exec(source, space)
    theirs = space["corrected_moments"]
    assert lab08.UPDATE.run((space["adamw_step"],), seed=1).passed
    assert space["corrected_moments"] is theirs
