"""What each component of a run weighs: in a picture, in its text, in a printed table."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import torch

from lastgood.recovery.components import LOADER, OPTIMIZER, PARAMETERS, RNG, STEP, digests
from lastgood.teaching.views.weights import component_bytes, component_sizes
from lastgood.training.run import Run, RunConfig


@pytest.fixture
def run(small: RunConfig) -> Run:
    run = Run(small, seed=3)
    for _ in range(3):
        run.advance()
    return run


def test_sizes_are_those_of_the_tensors_and_numbers(run: Run) -> None:
    sizes = component_sizes(run)
    assert sizes[PARAMETERS] == sum(4 * p.numel() for p in run.model.parameters())  # tied ones once
    moments = [value for state in run.optimizer.state.values() for value in state.values()]
    numbers = sizes[OPTIMIZER] - sum(value.nbytes for value in moments)
    assert 0 < numbers < 1_000  # settings of the one group and the numbers of its parameters
    assert sizes[STEP] == 8 + 4 * 8  # the step, and the schedule's four numbers
    assert sizes[LOADER] == 3 * 8  # seed, epoch, cursor
    assert sizes[RNG] > torch.get_rng_state().nbytes


def test_looking_at_the_weights_changes_nothing(run: Run) -> None:
    before = digests(run)
    component_bytes(run)
    assert digests(run) == before


def test_every_size_stands_in_the_picture_its_text_and_the_printed_table(run: Run) -> None:
    view = component_bytes(run)
    picture = ElementTree.fromstring(view._repr_html_())
    drawn = "\n".join(text.text or "" for text in picture.iterfind(".//{*}text"))
    for size in component_sizes(run).values():
        for place in (drawn, picture.get("aria-label") or "", repr(view)):
            assert f"{size:,} B" in place
