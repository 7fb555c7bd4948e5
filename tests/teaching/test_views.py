"""The pictures and explorers: their numbers are computed, their SVG suits a theme, their errors are seen."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
import torch

from lastgood.recovery.components import COMPONENTS, LOADER, OPTIMIZER, PARAMETERS, RNG, STEP, digests
from lastgood.recovery.wire import same
from lastgood.teaching.views import readme_picture
from lastgood.teaching.views.curves import draw_losses, loss_curves_svg, loss_figure
from lastgood.teaching.views.explorer import ResumeExplorer, call_later, resume_explorer
from lastgood.teaching.views.resume import (
    Curve,
    ResumeError,
    ResumeExperiment,
    describe,
    reasons,
    undisturbed,
)
from lastgood.teaching.views.style import INK, new_axes, new_figure, theme, to_svg
from lastgood.teaching.views.weights import component_bytes, component_sizes
from lastgood.training.logbook import CHARACTERS, ENTROPY
from lastgood.training.model import GPTConfig
from lastgood.training.rng import capture_rng, seed_everything
from lastgood.training.run import Run, RunConfig
from lastgood.training.schedule import Schedule

SMALL = RunConfig(
    model=GPTConfig(vocab_size=len(CHARACTERS), block_size=16, n_layer=1, n_head=2, n_embd=16),
    schedule=Schedule(peak=3e-3, warmup=6, horizon=60, floor=3e-4),
    batch_size=4,
    train_chars=1_000,  # 62 windows, 16 batches an epoch
    heldout_chars=200,
)
BEFORE, AFTER = 24, 12  # killed half-way through the second epoch, and on to the third
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def experiment() -> ResumeExperiment:
    return ResumeExperiment(SMALL, before=BEFORE, after=AFTER)


def without(experiment: ResumeExperiment, *missing: str) -> Curve:
    return experiment.resume(set(COMPONENTS).difference(missing))


# What each component weighs


@pytest.fixture
def run() -> Run:
    run = Run(SMALL, seed=3)
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
    drawn = "\n".join(text.text or "" for text in picture.iter(f"{SVG}text"))
    for size in component_sizes(run).values():
        for place in (drawn, picture.get("aria-label") or "", repr(view)):
            assert f"{size:,} B" in place


# The numbers behind the explorer


def test_with_everything_put_back_the_run_is_the_uninterrupted_one_bit_for_bit(
    experiment: ResumeExperiment,
) -> None:
    curve = experiment.resume(COMPONENTS)
    assert curve.steps == experiment.reference[BEFORE:]
    assert (curve.first_difference, curve.largest_gap) == (None, 0.0)
    assert curve.heldout == curve.reference_heldout
    assert describe(curve) == f"Nothing missing: all {AFTER} losses are equal, bit for bit."


def test_the_reference_is_what_a_plain_run_gives(experiment: ResumeExperiment) -> None:
    with undisturbed():
        run = Run(SMALL, seed=experiment.seed)
        assert tuple(run.advance() for _ in range(BEFORE + AFTER)) == experiment.reference


def test_with_nothing_put_back_it_is_a_new_run_of_another_seed(experiment: ResumeExperiment) -> None:
    with undisturbed():
        run = Run(SMALL, seed=experiment.seed + 1)
        new = tuple(run.advance() for _ in range(AFTER))
    other = ResumeExperiment(SMALL, fresh_seed=experiment.seed + 1, before=BEFORE, after=AFTER)
    assert other.resume([]).steps == new
    assert experiment.fresh_seed != experiment.seed


# Other weights, other windows, other dropout: the first loss already tells. Moments and learning rate only
# enter the update, which comes after the loss was measured: theirs is the second.
@pytest.mark.parametrize(
    ("missing", "later"), [(PARAMETERS, 0), (OPTIMIZER, 1), (STEP, 1), (LOADER, 0), (RNG, 0)]
)
def test_without_one_component_the_loss_differs_from_the_first_step_that_it_can(
    experiment: ResumeExperiment, missing: str, later: int
) -> None:
    curve = without(experiment, missing)
    assert curve.missing == (missing,)
    assert curve.first_difference == BEFORE + later
    assert curve.largest_gap > 1e-4
    assert curve.gaps[curve.largest_gap_at - BEFORE] == curve.largest_gap


def test_each_missing_component_changes_its_own_trace_and_no_other(experiment: ResumeExperiment) -> None:
    whole = experiment.resume(COMPONENTS)
    other_rates = [
        name for name in COMPONENTS if without(experiment, name).learning_rates != whole.learning_rates
    ]
    other_windows = [name for name in COMPONENTS if without(experiment, name).indices != whole.indices]
    assert (other_rates, other_windows) == ([STEP], [LOADER])
    assert without(experiment, STEP).learning_rates[0] == SMALL.schedule.lr(0)


def test_the_words_name_what_is_missing_and_where_it_shows(experiment: ResumeExperiment) -> None:
    curve = without(experiment, OPTIMIZER)
    place = f"{BEFORE + 1} (the second after the resume)"
    assert describe(curve).startswith(
        f"Missing: optimizer state. First step that differs: {place}. Largest gap"
    )
    assert [reason.split(":")[0] for reason in reasons(without(experiment, OPTIMIZER, RNG))] == [
        "Optimizer state",
        "RNG state",
    ]


def test_a_component_that_nothing_depends_on_may_be_missed() -> None:
    still = replace(SMALL, model=replace(SMALL.model, dropout=0.0), augment=0.0)
    curve = without(ResumeExperiment(still, before=2, after=2), RNG)
    assert describe(curve) == "Missing: RNG state. Even so, all 2 losses are equal, bit for bit."


def test_a_set_of_components_is_computed_once(
    experiment: ResumeExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    curve = without(experiment, LOADER)
    monkeypatch.setattr(Run, "advance", lambda self: pytest.fail("computed again"))
    assert without(experiment, LOADER) is curve


def test_an_experiment_leaves_the_kernels_generators_and_threads_alone() -> None:
    seed_everything(5)
    before, threads = capture_rng(), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        without(ResumeExperiment(SMALL, before=2, after=2), RNG)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert same(capture_rng(), before)


def test_generators_are_put_back_after_an_error_too() -> None:
    before = capture_rng()

    def fail() -> None:
        with undisturbed():
            seed_everything(before["python"]["words"][0] + 1)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert same(capture_rng(), before)


def test_what_cannot_be_made_is_refused(experiment: ResumeExperiment) -> None:
    with pytest.raises(ResumeError, match=r"no such component: weights\. There are parameters"):
        experiment.resume(["weights", RNG])
    with pytest.raises(ResumeError, match="after=0"):
        ResumeExperiment(SMALL, after=0)


# Pictures


def curves(**changes: object) -> str:
    settings = {"first_step": 5, "restart": 7, "floor": ENTROPY, "alt": 'Two curves, <b> & "quoted".'}
    return loss_figure([2.0, 1.9, 1.8, 1.7], [1.8, 1.75], **(settings | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("draw", [curves, lambda: component_bytes(Run(SMALL)).svg])
def test_an_inline_picture_follows_the_theme_and_has_a_text(draw: Callable[[], str]) -> None:
    svg = draw()
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert "max-width:700px" in (root.get("style") or "")
    assert "var(--jp-content-font-color1, currentColor)" in svg
    assert not re.search(rf"#000\b|#000000|#fff|black|{INK}", svg)
    assert all("fill:" in (text.get("style") or "") for text in root.iter(f"{SVG}text"))  # default: black
    assert not re.search("<style|<metadata|<!DOCTYPE|DejaVu", svg)


def test_coloured_lines_keep_their_contrast_on_any_theme() -> None:
    assert re.search(r"stroke: #0072b2; stroke: color-mix\(in srgb, #0072b2 72%, var\(", curves())


def test_the_text_of_a_picture_is_escaped_and_must_be_there() -> None:
    assert ElementTree.fromstring(curves()).get("aria-label") == 'Two curves, <b> & "quoted".'
    with pytest.raises(ValueError, match="alt is empty"):
        curves(alt=" ")


def test_every_reference_inside_a_picture_is_kept() -> None:
    svg = curves()
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert set(ids) == set(re.findall(r"#([a-z]\w{8,})", svg))
    assert len(ids) == len(set(ids))


def test_the_same_figure_gives_the_same_bytes_whatever_style_a_learner_set() -> None:
    plain = curves()
    with mpl.rc_context({"axes.grid": True, "font.size": 30, "lines.linestyle": ":", "svg.fonttype": "path"}):
        assert curves() == plain
        assert mpl.rcParams["font.size"] == 30


def test_the_floor_of_the_heldout_loss_is_drawn_and_named() -> None:
    assert f"floor of the held-out loss, {ENTROPY:.3f}" in curves()


@pytest.mark.parametrize(("floor", "lowest"), [(ENTROPY, ENTROPY - 0.12), (None, 1.65)])
def test_the_axis_reaches_down_to_the_floor_only_where_there_is_one(
    floor: float | None, lowest: float
) -> None:
    with theme():
        axes = new_axes(new_figure(height=50), 0, 0, 1, 1)
        draw_losses(axes, [2.0, 1.9, 1.8], [1.7], first_step=5, restart=7, floor=floor)
    assert axes.get_ylim()[0] == pytest.approx(lowest)


def test_numbers_in_words_are_not_rounded() -> None:
    with theme():
        figure = new_figure(height=50)
        figure.text(0.123456, 0.5, "0.123456")
        svg = to_svg(figure, "A number.")
    assert ">0.123456<" in svg
    assert "55.56" in svg  # 0.123456 of 450 points


@pytest.mark.parametrize(
    ("resumed", "words"),
    [
        ([2.0, 1.9, 1.8], "all 3 losses are exactly equal"),
        ([2.0, None, None], "all 1 losses are exactly equal"),
        ([None, None, None], "the resumed run took no step"),
        ([], "the resumed run took no step"),
        ([2.1, float("nan"), float("inf")], "2 losses are not finite"),
    ],
)
def test_the_lower_panel_says_what_dots_cannot(resumed: list[float | None], words: str) -> None:
    svg = loss_curves_svg([2.0, 1.9, 1.8], resumed, 40, "Curves.")
    assert words in svg
    assert (">resumed<" in svg) == any(loss is not None for loss in resumed)


def test_a_tiny_difference_is_not_drawn_as_equality() -> None:
    svg = loss_curves_svg([2.0, 2.0], [2.0, 2.0000002], 0, "Curves.")
    assert "exactly equal" not in svg
    assert ">10⁻⁶<" in svg


def test_the_readmes_picture_is_a_file_of_its_own_with_the_same_bytes_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, experiment: ResumeExperiment
) -> None:
    file = tmp_path / "resume.svg"
    monkeypatch.setattr(
        readme_picture, "ResumeExperiment", lambda **_: ResumeExperiment(SMALL, before=BEFORE, after=AFTER)
    )
    readme_picture.main([str(file)])
    root = ElementTree.parse(file).getroot()
    title = root.findtext(f"{SVG}title") or ""
    assert f"everything put back: all {AFTER} losses equal" in title
    assert f"without optimizer state: differs from step {BEFORE + 1} on" in title
    assert root.find(f"{SVG}rect") is not None
    assert "var(" not in file.read_text(encoding="utf-8")
    assert readme_picture.draw(experiment) == file.read_text(encoding="utf-8")


# The explorer


class Later:
    """Stands in for the event loop: nothing happens until `pass_time`."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def __call__(self, seconds: float, action: Callable[[], None]) -> "Later":
        self.waiting.append(action)
        return self

    def cancel(self) -> None:
        self.waiting.pop()

    def pass_time(self) -> None:
        for action in self.waiting:
            action()
        self.waiting.clear()


def test_at_first_everything_is_ticked_and_nothing_is_missing(experiment: ResumeExperiment) -> None:
    box = resume_explorer(experiment)
    values = [child.value for child in box.children if hasattr(child, "value")]
    assert any("Nothing missing" in value for value in values)
    assert any("<svg" in value for value in values)
    assert any("run this cell again" in value for value in values)


def test_several_quick_ticks_are_answered_once(experiment: ResumeExperiment) -> None:
    later = Later()
    explorer = ResumeExplorer(experiment, later=later)
    explorer.redraw()
    first = explorer.picture.value
    explorer.set_ticked(PARAMETERS, STEP, LOADER)  # two ticks move
    assert (len(later.waiting), explorer.status.value, explorer.picture.value) == (1, "Computing…", first)
    later.pass_time()
    assert explorer.status.value == ""
    assert explorer.picture.value != first
    assert "Missing: optimizer state, RNG state." in explorer.words.value
    assert "uninterrupted" in explorer.words.value  # the held-out losses


def test_an_error_is_shown_and_not_the_old_picture(
    experiment: ResumeExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = Later()
    explorer = ResumeExplorer(experiment, later=later)
    explorer.redraw()

    def fail(components: object) -> Curve:
        raise MemoryError("no <room>")

    monkeypatch.setattr(experiment, "resume", fail)
    explorer.set_ticked(RNG)
    later.pass_time()
    assert "MemoryError: no &lt;room&gt;" in explorer.words.value
    assert (explorer.picture.value, explorer.status.value) == ("", "")


def test_a_redraw_waits_on_the_event_loop_where_there_is_one_and_else_does_not() -> None:
    done: list[str] = []
    assert call_later(60, lambda: done.append("at once")) is None

    async def in_a_kernel() -> None:
        passed = asyncio.Event()
        call_later(0, passed.set)
        waiting = call_later(60, lambda: done.append("too early"))
        assert waiting is not None
        await passed.wait()
        waiting.cancel()

    asyncio.run(in_a_kernel())
    assert done == ["at once"]
