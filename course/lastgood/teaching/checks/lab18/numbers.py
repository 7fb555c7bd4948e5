"""Lab 18, part D: numbers, and a choice."""

from __future__ import annotations

from lastgood.teaching.checks.lab18.passages import HOW_OFTEN, MORE_THAN_WEIGHTS, TRADE_OFF
from lastgood.teaching.checks.questions import choice, numeric

HOURS = numeric(
    "hours_between_restarts",
    "D1 Hours between restarts",
    lambda: 60 * 24 / (35 + 70),
    mistakes={
        "That counts the 35 manual restarts alone. Add the automatic ones.": lambda: 60 * 24 / 35,
        "That counts the automatic restarts alone. Add the manual ones.": lambda: 60 * 24 / 70,
        "That is restarts a day. The question asks for hours between two of them.": lambda: 105 / 60,
        "That is days. The question asks for hours.": lambda: 60 / 105,
    },
    reread=HOW_OFTEN,
)

BYTES = numeric(
    "state_bytes",
    "D2 Bytes of parameters and AdamW state",
    lambda n: 12 * n,
    lambda source: [source.randrange(10**6, 10**9)],
    {
        "That is the parameters alone. AdamW keeps two more numbers for each of them.": lambda n: 4 * n,
        "That is one moment. AdamW keeps two: of the gradient and of its square.": lambda n: 8 * n,
        "That includes the gradients. They are none of the five components: each step computes them anew.": (
            lambda n: 16 * n
        ),
        "That is bits, not bytes.": lambda n: 96 * n,
    },
    reread=MORE_THAN_WEIGHTS,
)

LOST = numeric(
    "lost_hours",
    "D3 Work lost to restarts",
    lambda restarts, interval: restarts * interval / 2,
    lambda source: [source.randrange(20, 200), source.randrange(2, 13)],
    {
        "That is the worst case. A failure comes on average in the middle of an interval.": lambda r, h: (
            r * h
        ),
        "That is one restart. The question asks for all of them.": lambda r, h: h / 2,
    },
    reread=TRADE_OFF,
)

SYMPTOM = choice(
    "symptom",
    "D4 A symptom",
    "lab18/symptom/",
    "72d3a0043400a60149e46e12ad2270a180bb28dd705a0274a87d224fa335c41c",
    {
        "a": "Without its parameters the loss would jump back to where training began.",
        "b": "Lost moments make the first updates odd, but the learning rate does not come from them.",
        "d": "Another RNG state gives other dropout masks, and leaves the learning rate alone.",
    },
    reread=MORE_THAN_WEIGHTS,
)
