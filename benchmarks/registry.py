"""Which benchmarks there are. Each is a module with a `BENCHMARK`, and reads alone."""

from __future__ import annotations

from benchmarks import (
    async_save,
    audit,
    grading,
    grading_class,
    grading_cost,
    inspect_cost,
    inspect_fuzz,
    kills,
    make_test,
    recovery,
    resume,
    save,
    simulate,
    training_step,
)
from benchmarks.benchmark import Benchmark

BENCHMARKS: dict[str, Benchmark] = {
    module.BENCHMARK.name: module.BENCHMARK
    for module in (
        training_step,
        save,
        async_save,
        resume,
        recovery,
        kills,
        audit,
        inspect_cost,
        inspect_fuzz,
        simulate,
        grading,
        grading_class,
        grading_cost,
        make_test,
    )
}
