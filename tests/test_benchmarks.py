"""The benchmarks' own arithmetic, on clocks that are made up; and the table that is committed."""

import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from benchmarks import machine, make_test, table
from benchmarks.__main__ import arguments
from benchmarks.audit import LAB, PACK, START, WRONG, Tracer, contents, lab_functions
from benchmarks.benchmark import Benchmark
from benchmarks.harness import Row, Side, alone, alternate, compare
from benchmarks.peers import PeerRun, PlainGPT, plain_loss, size
from benchmarks.registry import BENCHMARKS
from lastgood.training.data import Batch
from lastgood.training.model import GPT, GPTConfig, next_token_loss
from lastgood.training.run import Run, RunConfig


class Clock:
    """A clock that only the sides move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


def test_sides_take_turns_and_each_prepares_just_before_its_own() -> None:
    said: list[str] = []
    sides = {
        name: Side(partial(said.append, name), before=partial(said.append, f"before {name}")) for name in "AB"
    }
    alternate(sides, repeats=2, warm_up=1)
    assert said == ["before A", "A", "before B", "B"] * 3


def test_neither_the_warm_up_nor_what_comes_before_a_turn_is_counted() -> None:
    clock = Clock()
    slow_at_first = itertools.chain([100.0], itertools.repeat(3.0))
    sides = {
        "A": Side(lambda: clock.pass_by(next(slow_at_first)), before=lambda: clock.pass_by(50.0)),
        "B": Side(lambda: clock.pass_by(2.0)),
    }
    assert alternate(sides, repeats=3, warm_up=1, clock=clock) == {"A": [3.0] * 3, "B": [2.0] * 3}


def test_no_turn_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one turn"):
        alternate({}, 0)


def test_the_ratio_is_that_of_the_medians_and_the_spread_that_of_the_turns() -> None:
    row = compare("it", ours=[1.0, 2.0, 3.0, 4.0, 90.0], other=[1.0, 1.0, 1.0, 2.0, 30.0])
    assert (row.ours, row.other, row.ratio) == (3.0, 1.0, 3.0)  # the median of the turns' ratios is 2
    assert (row.low, row.high) == (2.0, 3.0)  # of 1, 2, 2, 3, 3
    assert row.repeats == 5


def test_one_turn_has_no_spread() -> None:
    row = compare("it", [1.0], [2.0])
    assert row.low == row.ratio == row.high == 0.5


def test_sides_of_unequal_length_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="shorter"):
        compare("it", [1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("row", "met"),
    [
        (compare("it", [1.0], [1.0], most_ratio=1.0), True),
        (compare("it", [1.1], [1.0], most_ratio=1.0), False),
        (alone("it", [0.05], most_seconds=0.06), True),
        (alone("it", [0.07], most_seconds=0.06), False),
        (compare("it", [1.0], [2.0], most_ratio=1.0, most_seconds=0.5), False),
        (alone("it", [0.05]), None),
    ],
)
def test_a_goal_is_met_or_missed_or_there_is_none(row: Row, met: bool | None) -> None:
    assert row.met is met


def made_up(name: str, **more: bool) -> Benchmark:
    return Benchmark(name, name.title(), f"About {name}.", lambda setting: [], **more)


def record(*rows: Row, cores: str = "2") -> table.Record:
    return table.Record(rows, "2026-01-31", "0.1", "ext4", {"cores": cores})


TWO = {name: made_up(name) for name in ("copy", "save")}


def test_the_table_says_what_was_found_and_whether_that_is_enough() -> None:
    rows = (
        compare("small", [0.07], [0.035], most_seconds=0.06),
        compare("large", [2.0], [4.0], most_ratio=1),
    )
    text = table.render({"save": record(*rows)}, TWO)
    assert "| small | 70 ms | 35 ms | 2.00 [2.00, 2.00] | ≤ 60 ms: **missed** | 1 |" in text
    assert "| large | 2 s | 4 s | 0.50 [0.50, 0.50] | ratio ≤ 1: met | 1 |" in text
    assert "2026-01-31, ext4, load average 0.1" in text
    assert "About copy.\n\nNot measured yet: `make bench ONLY=copy`." in text
    assert text.count("## Machine\n") == 1


def test_what_is_compared_with_nothing_has_no_empty_columns() -> None:
    text = table.render({"save": record(alone("part", [2e-5]))}, TWO)
    assert "|  | time | goal | turns |" in text
    assert "| part | 20 µs |  | 1 |" in text


def test_results_of_two_machines_say_which_is_whose() -> None:
    text = table.render({"copy": record(), "save": record(cores="64")}, TWO)
    assert text.index("## Machine 1") < text.index("| cores | 2 |") < text.index("## Machine 2")
    assert "2026-01-31, machine 1, ext4" in text
    assert "2026-01-31, machine 2, ext4" in text


def test_one_benchmark_anew_keeps_the_others_and_forgets_what_is_gone(tmp_path: Path) -> None:
    old = record(compare("small", [1.0], [3.0]))
    table.keep({"copy": old, "save": old}, TWO, tmp_path)
    kept = table.read(tmp_path / "results.json")
    assert kept == {"copy": old, "save": old}
    new = replace(old, date="2026-02-01")
    table.keep({**kept, "save": new, "gone": old}, TWO, tmp_path)
    assert table.read(tmp_path / "results.json") == {"copy": old, "save": new}
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == table.render(
        {"copy": old, "save": new}, TWO
    )


def test_the_committed_table_is_that_of_the_results_and_of_the_benchmarks_there_are() -> None:
    results = table.read()
    assert results.keys() <= BENCHMARKS.keys()
    assert results.keys() >= {name for name, it in BENCHMARKS.items() if it.by_default}
    assert table.README.read_text(encoding="utf-8") == table.render(results, BENCHMARKS), (
        "run `python -m benchmarks --table`"
    )


def test_without_a_name_all_run_that_do_not_take_minutes() -> None:
    long = {"grading", "grading-class", "grading-cost", "inspect-fuzz", "make-test"}
    assert arguments([]).names == [name for name in BENCHMARKS if name not in long]
    assert arguments(["make-test"]).names == ["make-test"]


def test_an_unknown_name_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(["svae"])
    assert "there is no benchmark 'svae'; there are training-step, save" in capsys.readouterr().err


def test_the_file_system_is_that_of_the_nearest_mount_that_is_not_hidden(tmp_path: Path) -> None:
    inner = tmp_path.resolve() / "inner"
    mounts = tmp_path / "mounts"
    lines = [
        "disk / ext4 rw 0 0",
        f"old {inner} xfs rw 0 0",
        f"new {inner} tmpfs rw 0 0",
        "p /proc proc rw 0 0",
    ]
    mounts.write_text("\n".join(lines))
    assert machine.file_system(inner / "deep", mounts) == "tmpfs"
    assert machine.file_system(tmp_path, mounts) == "ext4"
    assert machine.file_system(tmp_path, tmp_path / "none") == "unknown"


def test_the_machine_is_described_without_names_of_hosts_and_paths() -> None:
    words = machine.machine()
    assert set(words) >= {"processor", "cores", "memory", "kernel", "python", "torch", "transformers"}
    assert all(words.values())
    assert not any("/" in word or "+" in word for name, word in words.items() if name != "processor")


def test_the_tests_of_a_folder_are_added_up(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    cases = {"tests.recovery.test_lock": 2.0, "tests.recovery.warm.test_warm": 3.0, "tests.test_cli": 1.5}
    inside = "".join(f'<testcase classname="{name}" time="{time}"/>' for name, time in cases.items())
    junit.write_text(f'<testsuites><testsuite time="4.5">{inside}</testsuite></testsuites>')
    assert make_test.read_junit(junit) == (4.5, {"tests/recovery/": 5.0, "tests/test_cli.py": 1.5})


@pytest.mark.parametrize("text", ["no XML", "<testsuites><testsuite/></testsuites>"])
def test_another_file_is_no_report_of_pytests(tmp_path: Path, text: str) -> None:
    (tmp_path / "junit.xml").write_text(text)
    with pytest.raises(ValueError, match="is not what pytest --junitxml writes"):
        make_test.read_junit(tmp_path / "junit.xml")


def test_the_quick_tests_are_those_of_the_makefile(repository: Path) -> None:
    assert make_test.quick_tests((repository / "Makefile").read_text())[:2] == ["-m", "not slow"]


def test_the_plain_peer_computes_what_our_model_computes() -> None:
    config = GPTConfig(vocab_size=11, block_size=9, n_layer=2, n_head=2, n_embd=16, dropout=0.0)
    ours, plain = GPT(config), PlainGPT(config)
    assert size(ours) == size(plain)
    with torch.no_grad():
        for mine, theirs in zip(in_order(ours), in_order(plain), strict=True):
            theirs.copy_(mine)
    tokens = torch.randint(11, (3, 9))
    targets = torch.cat([tokens[:, 1:], torch.full((3, 1), -1)], dim=1)
    torch.testing.assert_close(plain(tokens, targets), next_token_loss(ours(tokens), tokens))


def in_order(model: torch.nn.Module) -> list[torch.nn.Parameter]:
    """Both write their layers down in the order in which a token meets them."""
    return list(model.parameters())


def test_a_peer_trains_on_the_same_windows() -> None:
    config = RunConfig(model=replace(RunConfig().model, n_layer=1))
    peer, ours = PeerRun(config, plain_loss), Run(config)
    assert torch.equal(peer.loader.next_indices(), ours.loader.next_indices())
    assert peer.advance() == pytest.approx(ours.advance().loss, rel=0.2)


def test_a_model_of_another_size_is_no_peer() -> None:
    def build(config: RunConfig) -> tuple[torch.nn.Module, object]:
        return PlainGPT(replace(config.model, n_layer=1)), None

    with pytest.raises(ValueError, match="ours has"):
        PeerRun(RunConfig(), build)  # type: ignore[arg-type]


def test_every_worker_of_an_audit_is_a_part_of_its_time(repository: Path) -> None:
    from autograder.mutants import master_text, patched, variants

    master = master_text(repository, LAB)
    wrong = lab_functions(patched(master, next(v for v in variants(LAB) if v.name == WRONG)))
    tracer = Tracer()
    with tracer.tracing():
        assert not contents(wrong, seed=1)
    workers = {f"audit: {name}" for name in ("begin", "write", "resume", "reference", "spoil")}
    assert tracer.seconds.keys() == {PACK, START, *workers}
    assert all(seconds > 0 for seconds in tracer.seconds.values())


def test_a_batch_is_what_a_peer_expects() -> None:
    model, loss = plain_loss(RunConfig())
    batch = Run().loader.next_batch()
    again = Batch(batch.inputs, batch.tokens.clone(), batch.indices)
    again.tokens[:, 0] = 0  # nobody's target
    model.eval()
    assert torch.equal(loss(batch), loss(again))
