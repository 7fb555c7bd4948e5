"""Lab 08's checks of counts, bytes, files and restarts: each mistake is named, whatever was drawn."""

from __future__ import annotations

from typing import Any

import pytest

from lastgood.teaching.checks import lab08
from lastgood.teaching.checks.core import Check
from lastgood.teaching.checks.lab08 import counts, files, models, own, restarts, sizes

SEEDS = range(2)
SIZES = {lab08.MEMORY: own.in_memory, lab08.CHECKPOINT: own.in_checkpoint}
pytestmark = pytest.mark.usefixtures("one_thread")


def words(report: Any) -> str:
    return " ".join(report.text().split())


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
        report = check.run((lambda *a, factor=factor: factor * SIZES[check](*a),), seed=1)
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
        assert own.count_parameters(model) > 500_000
        real = files.saved_bytes(model, models.stepped(model, name))
        assert 0 < real / files._tensors(model, files.MOMENTS[name]) - 1 < 0.008


@pytest.mark.parametrize("name", models.OPTIMIZERS)
def test_each_mistake_about_a_file_is_recognised_and_none_is_within_a_percent(name: str) -> None:
    for seed in SEEDS:
        model = models.gpt(lab08.FILE.draw(seed)["gpt"])
        tensors = files._tensors(model, files.MOMENTS[name])
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


@pytest.mark.parametrize("unit", ["TB", "TiB"])
def test_slips_with_opts_units_are_recognised(unit: str) -> None:
    size, other = (sizes.TB, sizes.TIB) if unit == "TB" else (sizes.TIB, sizes.TB)
    for found, sentence in sizes._opt_slips(size).items():
        told = sizes._opt_part(unit, found, size, other)
        assert sentence in told.why or (unit == "TB" and told.points == 1)  # 10¹² / 10²⁴ · 10¹² is 1


def test_a_function_may_open_the_state_of_its_own_corrected_moments() -> None:
    space: dict[str, Any] = {}
    exec(
        "def corrected_moments(g, state, b1, b2):\n"
        "    t, m, v = state.get('t', 0) + 1, state.get('m', 0.0), state.get('v', 0.0)\n"
        "    state.update(t=t, m=b1 * m + (1 - b1) * g, v=b2 * v + (1 - b2) * g * g)\n"
        "    return state['m'] / (1 - b1**t), state['v'] / (1 - b2**t)\n"
        "def first_update(gradients, lost, b1, b2):\n"
        "    def last(lost):\n"
        "        state = {}\n"
        "        for g in gradients[:-1]:\n"
        "            corrected_moments(g, state, b1, b2)\n"
        "        state.update({} if lost in ('step', '') else {'m': 0.0, 'v': 0.0})\n"
        "        state.update({} if lost in ('moments', '') else {'t': 0})\n"
        "        m, v = corrected_moments(gradients[-1], state, b1, b2)\n"
        "        return m / v**0.5\n"
        "    return abs(last(lost) / last(''))\n",
        space,
    )
    assert lab08.FIRST_UPDATE.run((space["first_update"],), seed=1).passed
