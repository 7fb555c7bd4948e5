"""When failures come: processes, presets at published rates, and schedules drawn from them.

A schedule is data: `Fault`s in the order of their times. Whoever runs something under it (real processes, in
`supervise`) lets each happen once. Times are hours of the run that the preset describes, whatever a step here
stands for. `simulate` takes a process itself and draws thousands of runs from it.
"""

from lastgood.recovery.faults.kinds import (
    CORRUPTED,
    HOURS_A_DAY,
    HUNG,
    KILLED,
    KINDS,
    STORAGE_FULL,
    TOLD_TO_LEAVE,
    Fault,
    FaultError,
)
from lastgood.recovery.faults.presets import (
    BLOOM_176B,
    KOKOLIS_RSC_1,
    KOKOLIS_RSC_2,
    LLAMA_3_405B,
    OPT_175B,
    OPT_175B_OUTAGE,
    PRESETS,
    Preset,
    preset_named,
)
from lastgood.recovery.faults.processes import (
    Correlated,
    Exponential,
    Mixed,
    Preemption,
    Process,
    Weibull,
)
from lastgood.recovery.faults.rates import mtbf_hours, per_1000_host_days, restarts
from lastgood.recovery.faults.schedules import MIX, exponential_schedule, mixed_schedule, schedule_of
from lastgood.recovery.faults.traces import Trace, describe, load_schedule, save_schedule

__all__ = [
    "BLOOM_176B",
    "CORRUPTED",
    "HOURS_A_DAY",
    "HUNG",
    "KILLED",
    "KINDS",
    "KOKOLIS_RSC_1",
    "KOKOLIS_RSC_2",
    "LLAMA_3_405B",
    "MIX",
    "OPT_175B",
    "OPT_175B_OUTAGE",
    "PRESETS",
    "STORAGE_FULL",
    "TOLD_TO_LEAVE",
    "Correlated",
    "Exponential",
    "Fault",
    "FaultError",
    "Mixed",
    "Preemption",
    "Preset",
    "Process",
    "Trace",
    "Weibull",
    "describe",
    "exponential_schedule",
    "load_schedule",
    "mixed_schedule",
    "mtbf_hours",
    "per_1000_host_days",
    "preset_named",
    "restarts",
    "save_schedule",
    "schedule_of",
]
