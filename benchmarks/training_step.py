"""Our training step against those of `transformers` and of nanoGPT's architecture."""

from __future__ import annotations

from functools import partial

from benchmarks.benchmark import Benchmark, Setting
from benchmarks.harness import Row, Side, alternate, compare
from benchmarks.peers import PeerRun, Steps, plain_loss, transformers_loss
from lastgood.training.logbook import CHARACTERS
from lastgood.training.model import GPTConfig
from lastgood.training.run import Run, RunConfig

STEPS = 5  # in one turn
WIDER = GPTConfig(len(CHARACTERS), block_size=64, n_layer=4, n_head=4, n_embd=128)
SIZES = {  # a configuration, and how many turns
    "the lab's size": (RunConfig(), 100),
    "4 layers, 128 wide": (RunConfig(model=WIDER, batch_size=12), 20),
}


def some_steps(run: Steps) -> None:
    for _ in range(STEPS):
        run.advance()


def run(setting: Setting) -> list[Row]:
    rows = []
    for size, (config, usual) in SIZES.items():
        runs: dict[str, Steps] = {
            "ours": Run(config),
            "transformers' GPT-2": PeerRun(config, transformers_loss),
            "nanoGPT's architecture": PeerRun(config, plain_loss),
        }
        sides = {name: Side(partial(some_steps, steps)) for name, steps in runs.items()}
        seconds = {
            name: [turn / STEPS for turn in turns]
            for name, turns in alternate(sides, setting.turns(usual)).items()
        }
        ours = seconds.pop("ours")
        rows += [
            compare(f"{size}, against {name}", ours, turns, most_ratio=1.0) for name, turns in seconds.items()
        ]
    return rows


BENCHMARK = Benchmark(
    "training-step",
    "Training step",
    "`Run.advance()` against the same loop around another model: same corpus, vocabulary, block, layers, "
    "heads, width, dropout, AdamW (fused), clipping and batch, one thread. The peers are `GPT2LMHeadModel`, "
    "built from its configuration, and nanoGPT's architecture written plainly ([`peers.py`](peers.py)). "
    f"A turn is {STEPS} steps; times are of one step.",
    run,
)
