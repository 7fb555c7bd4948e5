"""From what was found to what is held, what is missing, and what cannot be told from a file."""

from __future__ import annotations

from lastgood.recovery.inspect import recognise
from lastgood.recovery.inspect.effects import EFFECTS
from lastgood.recovery.inspect.opening import plain
from lastgood.recovery.inspect.report import HELD, MISSING, UNCLEAR, Finding
from lastgood.recovery.inspect.tally import Survey, Tally
from lastgood.recovery.inspect.writers import (
    ACCELERATE,
    LASTGOOD,
    LIGHTNING,
    NANOGPT,
    RANDOM_STATES,
    TRAINER,
)

_ADAM = {"exp_avg", "exp_avg_sq"}
_SHOWN = 4


def findings(survey: Survey, writer: str, ranks: int) -> list[Finding]:
    """One finding a component, in the order in which a run needs them."""
    return [
        _parameters(survey),
        _buffers(survey),
        _moments(survey),
        _counts(survey),
        _step(survey, writer),
        _position(survey, writer),
        _horizon(survey),
        _loader(survey, writer),
        *(_generator(survey, whose, ranks) for whose in (recognise.PYTHON, recognise.NUMPY, recognise.TORCH)),
        _cuda(survey, ranks),
        _scaler(survey),
        _ema(survey),
    ]


def _missing(component: str, detail: str) -> Finding:
    effect, lesson = EFFECTS[component]
    return Finding(component, MISSING, detail, effect=effect, lesson=lesson)


def _held(component: str, detail: str, tally: Tally | None = None) -> Finding:
    if tally is None:
        return Finding(component, HELD, detail)
    dtypes = dict(tally.dtypes.most_common())
    return Finding(component, HELD, detail, tally.tensors, tally.bytes, dtypes, list(tally.where))


def _parameters(survey: Survey) -> Finding:
    tally = survey.tally("parameters")
    return _held("parameters", "", tally) if tally.tensors else _missing("parameters", "No weights are here.")


def _buffers(survey: Survey) -> Finding:
    tally = survey.tally("buffers")
    if tally.tensors:
        return _held("buffers", "By their names or their dtypes.", tally)
    detail = "No tensor bears a buffer's usual name; a file does not mark them."
    return Finding("buffers", UNCLEAR, detail)


def _moments(survey: Survey) -> Finding:
    found, tally = survey.optimizer, survey.tally("optimizer")
    kinds = [kind for kind in found.kinds if kind != "step"]
    if not found.dicts and not tally.tensors:
        return _missing("moments", "No optimizer state is here.")
    if not kinds and found.adaptive:
        return _missing("moments", "An optimizer's settings are here, its state is empty.")
    if not kinds:
        detail = "The optimizer's state is empty. Plain SGD keeps none."
        return Finding("moments", UNCLEAR, detail, where=list(tally.where))
    detail = f"{', '.join(kinds[:_SHOWN])}{', …' if len(kinds) > _SHOWN else ''}"
    if found.dicts and found.parameters:
        detail += f" of {found.remembered:,} of {found.parameters:,} parameters"
    return _held("moments", f"{detail}.", tally)


def _counts(survey: Survey) -> Finding:
    found = survey.optimizer
    if count := found.kinds.get("step"):
        return _held("counts", f"For {count:,} parameters.")
    if _ADAM & set(found.kinds):
        return _missing("counts", "Adam's moments are here, its counts of steps are not.")
    if found.dicts and (found.kinds or not found.adaptive):
        return Finding("counts", UNCLEAR, "None is here; Adam and its kin need one, SGD does not.")
    return _missing("counts", "No optimizer state is here.")


def _step(survey: Survey, writer: str) -> Finding:
    # Accelerate's own is a count of batches in the current epoch, by which it accumulates gradients.
    own = [step for step in survey.steps if writer == ACCELERATE and step[2].startswith(RANDOM_STATES)]
    steps = [step for step in survey.steps if step not in own]
    if own and not steps:
        detail = "Accelerate counts the batches of an epoch. Its users note the step in the folder's name."
        return Finding("step", UNCLEAR, detail, where=[own[0][2]], lesson="18")
    if steps:
        _, _, where, value = min(steps, key=lambda step: step[:2])
        detail = "In a tensor, whose content is not read." if value is None else f"{value:,}."
        return Finding("step", HELD, detail, where=[where])
    epoch = f" There is an epoch: {survey.epoch}." if survey.epoch is not None else ""
    return _missing("step", f"No count of steps is here.{epoch}")


def _position(survey: Survey, writer: str) -> Finding:
    tally = survey.tallies.get("schedule")
    if survey.positions:
        where, value = survey.positions[0]
        return Finding("position", HELD, f"last_epoch is {value}.", where=[where])
    if survey.steps and writer in (LASTGOOD, NANOGPT):
        places = list(tally.where) if tally else [survey.steps[0][2]]
        return Finding("position", HELD, f"{writer} computes it from the step.", where=places)
    if tally:
        return Finding("position", HELD, "In a form of its own.", where=list(tally.where))
    if survey.steps:
        detail = "No schedule's state is here. Code may compute it from the step."
        return Finding("position", UNCLEAR, detail)
    return _missing("position", "Neither a schedule's state nor a step is here.")


def _horizon(survey: Survey) -> Finding:
    if survey.horizons:
        where, value = survey.horizons[0]
        return Finding("horizon", HELD, f"{value:,}.", where=[where])
    detail = "Your code brings it; with another one the same step has another learning rate."
    return Finding("horizon", UNCLEAR, detail, lesson="17")


def _loader(survey: Survey, writer: str) -> Finding:
    tally = survey.tallies.get("loader")
    if tally:
        said = [f"{where.rpartition('.')[2].rpartition(':')[2]} {value}" for where, value in survey.loader
                if isinstance(value, int | float)]  # fmt: skip
        detail = plain(", ".join(said[:_SHOWN]), 100)
        return _held("loader", f"{detail}." if detail else "", tally)
    if writer == TRAINER and survey.steps:
        detail = "Not in the files. Trainer replays the data up to the step, unless ignore_data_skip is set."
        return Finding("loader", UNCLEAR, detail, lesson="18")
    if writer == LIGHTNING:
        return _missing("loader", "The loops count batches. Only a stateful loader's own state is saved.")
    return _missing("loader", "No data-loader's or sampler's state is here.")


def _generator(survey: Survey, whose: str, ranks: int) -> Finding:
    where = survey.generators.get(whose)
    if not where:
        if survey.unsorted:
            detail = f"No state of this form is here. {survey.unsorted} tensors could not be assigned."
        else:
            detail = "No state of this generator is here."
        return _missing(f"{whose} RNG", detail)
    return Finding(f"{whose} RNG", HELD, _of_ranks(len(where), ranks), where=where[:6])


def _cuda(survey: Survey, ranks: int) -> Finding:
    where = survey.generators.get(recognise.CUDA)
    if not where:
        detail = "None is here. A run on CPUs has none; a run on GPUs draws its dropout from it."
        return Finding("CUDA RNG", UNCLEAR, detail, lesson="18")
    return Finding("CUDA RNG", HELD, _of_ranks(len(where), ranks), where=where[:6])


def _of_ranks(count: int, ranks: int) -> str:
    return f"{count} states, of {ranks} ranks." if ranks > 1 else ("" if count == 1 else f"{count} states.")


def _scaler(survey: Survey) -> Finding:
    tally = survey.tallies.get("scaler")
    if tally:
        said = f"The scale is {survey.scale:,}." if survey.scale is not None else ""
        return _held("loss scaler", said, tally)
    detail = "None is here. Training in float16 has one; in float32 or bfloat16 it needs none."
    return Finding("loss scaler", UNCLEAR, detail, lesson="18")


def _ema(survey: Survey) -> Finding:
    tally = survey.tallies.get("ema")
    if tally:
        return _held("EMA", "", tally)
    return Finding("EMA", UNCLEAR, "None is here. Only runs that average their weights have one.")
