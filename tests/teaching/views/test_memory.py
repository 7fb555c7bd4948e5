"""The memory explorer: its bytes are the library's, its words the picture's, and its presets are sourced."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from lastgood.teaching.views.memory import CASES, OWN, MemoryExplorer, count, in_words, memory_explorer
from lastgood.teaching.views.memory_picture import Plan, bars, binary, decimal
from lastgood.teaching.views.style import INK
from lastgood.training import memory
from lastgood.training.memory import ADAM, FP32, MIXED, MOMENTUM, OPTIMIZERS, PRECISIONS, SGD
from lastgood.training.model import GPT
from lastgood.training.run import RunConfig

OPT, BLOOM, LAB = CASES
SMALL = Plan(1_000_000, FP32, ADAM)


def drawn(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iterfind(".//{*}text")]


def words(explorer: MemoryExplorer) -> str:
    return re.sub(r"<[^>]+>", " ", explorer.view.words.value)


@pytest.fixture
def explorer() -> MemoryExplorer:
    explorer = MemoryExplorer()
    explorer.view.now()
    return explorer


# Numbers


def test_opts_checkpoint_is_what_the_lesson_predicts() -> None:
    sentence, more = in_words(OPT.plan)
    assert sentence == "The checkpoint weighs 1.75 TB, which is 1.59 TiB: 10 bytes a parameter."
    assert "1.40 TB of it, 4 times the weights (350 GB)" in more
    assert "at least 27 GPUs of 80 GB" in more


def test_blooms_checkpoint_is_what_the_lesson_computes() -> None:
    assert "2.46 TB, which is 2.24 TiB: 14 bytes a parameter" in in_words(BLOOM.plan)[0]


def test_the_labs_preset_is_the_run_that_the_labs_train() -> None:
    assert LAB.plan.parameters == sum(p.numel() for p in GPT(RunConfig().model).parameters())


@pytest.mark.parametrize(
    ("size", "in_tens", "in_twos"),
    [
        (0, "0 B", "0 B"),
        (999, "999 B", "999 B"),
        (1_024, "1.02 kB", "1.00 KiB"),
        (999_600, "1.00 MB", "976 KiB"),
        (1e12, "1.00 TB", "931 GiB"),
        (98e9, "98.0 GB", "91.3 GiB"),
        (5e18, "5,000 PB", "4,441 PiB"),
    ],
)
def test_bytes_are_said_with_three_digits_in_both_units(size: float, in_tens: str, in_twos: str) -> None:
    assert (decimal(size), binary(size)) == (in_tens, in_twos)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (105_472, "105,472"),
        (1_500_000, "1.5 million"),
        (175_000_000_000, "175 billion"),
        (10**12, "1 trillion"),
    ],
)
def test_sizes_are_said_as_people_say_them(parameters: int, said: str) -> None:
    assert count(parameters) == said


# Picture and words


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda one: one.name)
@pytest.mark.parametrize("precision", PRECISIONS, ids=lambda one: one.name)
def test_every_component_is_drawn_with_its_bytes_or_as_none(
    precision: memory.Precision, optimizer: memory.Optimizer
) -> None:
    plan = Plan(1_000_000, precision, optimizer)
    texts = drawn(bars(plan, "Bars."))
    assert set(memory.COMPONENTS) <= set(texts)
    assert texts.count("none") == len(memory.COMPONENTS) - len(plan.parts)
    for size in plan.parts.values():
        assert any(text.startswith(f"{decimal(size)}, {size // 1_000_000} B a parameter") for text in texts)


def test_only_gradients_are_marked_as_never_saved() -> None:
    texts = drawn(bars(SMALL, "Bars."))
    assert texts.count("in memory only") == 1
    assert "in memory 16.0 MB; of it into a checkpoint 12.0 MB (filled)" in texts
    assert bars(SMALL, "Bars.").count("stroke-dasharray") == 1


def test_without_moments_the_words_say_so() -> None:
    assert "remembers nothing" in in_words(Plan(1_000_000, FP32, SGD))[1]
    assert "as much as the weights" in in_words(Plan(1_000_000, FP32, MOMENTUM))[1]


# The explorer


def test_the_presets_say_what_is_known_and_what_assumed() -> None:
    explorer = MemoryExplorer(later=lambda seconds, action: None)
    for case in CASES:
        explorer.preset.value = case.title
        assert explorer.plan == case.plan
        assert "<b>Known:</b>" in explorer.note.value
        assert "<b>Assumed:</b>" in explorer.note.value
    for case, published in ((OPT, "about 1.6 TB"), (BLOOM, "2.3 TB")):
        assert published in case.known
        assert "is not said" in case.known


def test_another_optimizer_takes_its_moments_out_of_the_picture(explorer: MemoryExplorer) -> None:
    explorer.preset.value = LAB.title
    before = explorer.view.picture.value
    explorer.optimizer.value = MOMENTUM
    assert explorer.preset.value == OWN
    assert "yours" in explorer.note.value
    assert explorer.view.picture.value != before
    assert "844 kB, which is 824 KiB: 8 bytes a parameter" in words(explorer)


def test_blooms_memory_is_the_same_in_fp32(explorer: MemoryExplorer) -> None:
    explorer.preset.value = BLOOM.title
    assert explorer.precision.value == MIXED
    before = explorer.plan.memory
    explorer.precision.value = FP32
    assert explorer.plan.memory == before


def test_a_moved_slider_changes_the_bytes_and_a_preset_returns(explorer: MemoryExplorer) -> None:
    explorer.parameters.index += 1
    assert explorer.plan.parameters == BLOOM.plan.parameters
    assert "1.76 TB" in words(explorer)
    explorer.preset.value = OPT.title
    assert "1.75 TB" in words(explorer)


@pytest.mark.parametrize("end", [0, -1])
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda one: one.name)
def test_at_the_ends_of_the_slider_there_is_a_picture(
    explorer: MemoryExplorer, end: int, optimizer: memory.Optimizer
) -> None:
    explorer.optimizer.value = optimizer
    explorer.parameters.index = end % len(explorer.parameters.options)
    assert explorer.view.picture.value.startswith("<svg"), words(explorer)


def test_the_sliders_steps_are_in_order_and_named_apart(explorer: MemoryExplorer) -> None:
    names, sizes = zip(*explorer.parameters.options, strict=True)
    assert list(sizes) == sorted(set(sizes))
    assert len(set(names)) == len(names)


def test_the_picture_follows_the_theme_and_tells_its_numbers_to_those_who_do_not_see_it() -> None:
    box = memory_explorer()
    svg = next(child.value for child in box.children if "<svg" in str(getattr(child, "value", "")))
    assert "var(--jp-content-font-color1" in svg
    assert INK not in svg
    alt = ElementTree.fromstring(svg).get("aria-label") or ""
    assert "second moment 700 GB" in alt
    assert "1.59 TiB" in alt
