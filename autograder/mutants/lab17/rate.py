"""Lab 17, part A: warm-ups and decays that are off."""

from autograder.mutants import Variant
from autograder.mutants.lab17.parts import DOWN, RATE, RATE_BODY, SHARE, UP

_UP_MUTANTS = (
    Variant(
        "starts-at-zero",
        "step 0 is 0 of the way up",
        ((UP, "        return peak * step / warmup\n"),),
        {RATE: 1},
        ("It starts at 0", "ok decay"),
    ),
    Variant(
        "peak-one-step-late",
        "the peak comes after the warm-up",
        ((UP, "        return peak * (step + 1) / (warmup + 1)\n"),),
        {RATE: 1},
        ("one step late", "ok decay"),
    ),
    Variant(
        "one-step-too-long",
        "the warm-up ends with the step warmup",
        (("    if step < warmup:\n", "    if step <= warmup:\n"),),
        {RATE: 1},
        ("one step too long", "ok decay"),
    ),
    Variant(
        "from-the-floor",
        "the rate is never below the floor",
        ((UP, "        return floor + (peak - floor) * (step + 1) / warmup\n"),),
        {RATE: 1},
        ("starts from the floor", "ok decay"),
    ),
    Variant(
        "no-warm-up",
        "warm-up is for the impatient",
        ((UP, "        return peak\n"),),
        {RATE: 1},
        ("There is no warm-up",),
        slow=True,
    ),
)

_DOWN_MUTANTS = (
    Variant(
        "decay-to-zero",
        "at the end there is nothing left to learn",
        ((DOWN, "    return peak * 0.5 * (1 + math.cos(math.pi * share))\n"),),
        {RATE: 2},
        ("decays to 0 instead of the floor", "ok warm-up", "ok beyond"),
    ),
    Variant(
        "cut-off-at-the-floor",
        "a floor is what nothing falls below",
        ((DOWN, "    return max(floor, peak * 0.5 * (1 + math.cos(math.pi * share)))\n"),),
        {RATE: 2},
        ("cut off at the floor",),
    ),
    Variant(
        "floor-on-top",
        "the floor is added",
        ((DOWN, "    return floor + peak * 0.5 * (1 + math.cos(math.pi * share))\n"),),
        {RATE: 2},
        ("begins above the peak",),
        slow=True,
    ),
    Variant(
        "cosine-from-step-0",
        "the horizon is counted from 0, so the cosine is too",
        ((SHARE, "    share = min(1.0, step / horizon)\n"),),
        {RATE: 2},
        ("counts from step 0", "ok warm-up"),
    ),
    Variant(
        "horizon-after-the-warm-up",
        "the decay takes `horizon` steps",
        ((SHARE, "    share = min(1.0, (step - warmup) / horizon)\n"),),
        {RATE: 3},
        ("horizon - warmup are left", "It falls on"),
    ),
    Variant(
        "linear",
        "down is down",
        ((DOWN, "    return peak + (floor - peak) * share\n"),),
        {RATE: 2},
        ("straight line",),
    ),
    Variant(
        "a-quarter-of-a-wave",
        "a cosine falls from 1 to 0",
        ((DOWN, "    return floor + (peak - floor) * math.cos(math.pi / 2 * share)\n"),),
        {RATE: 2},
        ("quarter of a wave",),
    ),
    Variant(
        "a-whole-wave",
        "a cosine has 2π",
        ((DOWN, "    return floor + (peak - floor) * 0.5 * (1 + math.cos(2 * math.pi * share))\n"),),
        {RATE: 2},
        ("whole wave",),
        slow=True,
    ),
    Variant(
        "degrees",
        "half-way round is 180",
        ((DOWN, "    return floor + (peak - floor) * 0.5 * (1 + math.cos(180 * share))\n"),),
        {RATE: 2},
        ("radians",),
    ),
    Variant(
        "from-one-to-minus-one",
        "a cosine is a cosine",
        ((DOWN, "    return floor + (peak - floor) * math.cos(math.pi * share)\n"),),
        {RATE: 2},
        ("below the floor",),
        slow=True,
    ),
    Variant(
        "without-pi",
        "a share of 1 is the end of a cosine",
        ((DOWN, "    return floor + (peak - floor) * 0.5 * (1 + math.cos(share))\n"),),
        {RATE: 2},
        ("π is missing", "ok beyond"),
    ),
    Variant(
        "not-halved",
        "1 + cos goes from peak to floor",
        ((DOWN, "    return floor + (peak - floor) * (1 + math.cos(math.pi * share))\n"),),
        {RATE: 2},
        ("Halve it", "ok beyond"),
        slow=True,
    ),
    Variant(
        "decay-one-step-ahead",
        "the first step of the decay decays",
        ((SHARE, "    share = min(1.0, (step + 1 - warmup) / (horizon - warmup))\n"),),
        {RATE: 2},
        ("one step ahead",),
        slow=True,
    ),
    Variant(
        "no-cap",
        "nobody trains beyond the horizon",
        ((SHARE, "    share = (step - warmup) / (horizon - warmup)\n"),),
        {RATE: 1},
        ("comes up again", "ok decay"),
    ),
    Variant(
        "nothing-beyond",
        "after the horizon there is no rate",
        ((RATE_BODY, "    if step > horizon:\n        return 0.0\n" + RATE_BODY),),
        {RATE: 1},
        ("It falls on", "It stays there", "ok decay"),
        slow=True,
    ),
    Variant(
        "the-librarys",
        "why write it again",
        (
            ("import torch\nfrom torch import nn\n",
             "import torch\nfrom torch import nn\nfrom lastgood.training.schedule import Schedule\n"),
            (RATE_BODY, "    return Schedule(peak, warmup, horizon, floor).lr(step)\n"),
        ),
        {RATE: 4},
        ("It uses Schedule", "ready-made"),
    ),
)  # fmt: skip

RATE_MUTANTS = (*_UP_MUTANTS, *_DOWN_MUTANTS)
