"""Lab 20, parts D and E: hours for steps, a host for a job, and bounds that are none."""

from autograder.mutants import Variant
from autograder.mutants.lab20.parts import BLOOM, LLAMA, MY_RUN, OPT, PLAN, PLAN_BODY

CHOICES_MUTANTS = (
    Variant(
        "opt-by-the-host",
        "71 days between failures",
        (("best(4 / 60, 60 * 24 / 105)", "best(4 / 60, 71 * 24)"),),
        {OPT: 1},
        ("the interval for one host",),
    ),
    Variant(
        "opt-with-its-restart",
        "a failure costs an hour more, and the formula must know",
        (("best(4 / 60, 60 * 24 / 105)", "best(4 / 60 + 1, 60 * 24 / 105)"),),
        {OPT: 1},
        ("The restart is in your interval",),
    ),
    Variant(
        "opt-minutes-for-hours",
        "a save of 4",
        (("best(4 / 60, 60 * 24 / 105)", "best(4, 60 * 24 / 105)"),),
        {OPT: 1},
        ("the save cost taken for hours",),
    ),
    Variant(
        "opt-every-three-hours",
        "three hours are a round number",
        (("best(4 / 60, 60 * 24 / 105)", "3.0"),),
        {OPT: 0.5},
        ("times as long as the best",),
    ),
    Variant(
        "bloom-in-hours",
        "an interval is in hours",
        (("    return seconds / 105", "    return seconds / 3600"),),
        {BLOOM: 1},
        ("As hours it would be right. Steps are asked for",),
    ),
    Variant(
        "bloom-in-seconds",
        "the formula's result is the interval",
        (("    return seconds / 105", "    return seconds"),),
        {BLOOM: 1},
        ("As seconds it would be right. Steps are asked for",),
    ),
    Variant(
        "bloom-as-at-first",
        "they began with 250",
        (("    return seconds / 105", "    return 250"),),
        {BLOOM: 1},
        ("times as long as the best",),
    ),
    Variant(
        "llama-in-hours",
        "an interval is in hours",
        (("return best(1, minutes_between_failures)", "return best(1, minutes_between_failures) / 60"),),
        {LLAMA: 1},
        ("As hours it would be right. Minutes are asked for",),
    ),
    Variant(
        "llama-by-the-host",
        "each of 2,048 hosts fails every nine months",
        (("54 * 24 * 60 / 419", "2048 * 54 * 24 * 60 / 419"),),
        {LLAMA: 1},
        ("the interval for one host",),
    ),
    Variant(
        "own-run-by-the-host",
        "the rate of a host decides",
        (("1000 * 24 / (hosts * rate)", "1000 * 24 / rate"),),
        {MY_RUN: 2},
        ("the interval for one host",),
    ),
    Variant(
        "own-run-in-minutes",
        "the save is in minutes, so the interval is",
        (
            (
                '"interval_hours": best(save_minutes / 60, hours_between_failures)',
                '"interval_hours": best(save_minutes, hours_between_failures * 60)',
            ),
        ),
        {MY_RUN: 2},
        ("As minutes it would be right. Hours are asked for",),
    ),
    Variant(
        "own-run-by-guess",
        "twice the best is near enough",
        (("best(save_minutes / 60, hours_between_failures)", "6.0"),),
        {MY_RUN: 1},
        ("times as long as the best",),
    ),
    Variant(
        "bound-on-average",
        "half an interval is lost, so the interval is twice the bound",
        ((PLAN_BODY, "    return min(2 * bound, best(save_cost, mtbf))\n"),),
        {PLAN: 2},
        ("holds on average only",),
    ),
    Variant(
        "always-certain",
        "an interval as long as the bound never loses more",
        ((PLAN_BODY, "    return min(bound, best(save_cost, mtbf))\n"),),
        {PLAN: 1},
        ("you were asked for less certainty",),
    ),
    Variant(
        "longest-not-cheapest",
        "the longest interval that keeps the bound saves least, so it costs least",
        (("    return min(longest, best(save_cost, mtbf))\n", "    return longest\n"),),
        {PLAN: 1},
        ("not the cheapest where the optimum is shorter",),
    ),
    Variant(
        "shortest-not-cheapest",
        "the shorter, the safer: half of what would do",
        (
            (
                "    return min(longest, best(save_cost, mtbf))\n",
                "    return min(longest, best(save_cost, mtbf)) / 2\n",
            ),
        ),
        {PLAN: 3},
        ("It may be longer",),
    ),
    Variant(
        "save-not-struck-in-the-bound",
        "a failure strikes work",
        (("often_enough = bound / probability - save_cost", "often_enough = bound / probability"),),
        {PLAN: 2},
        ("can also strike the save",),
    ),
    Variant(
        "more-than-one-interval",
        "the probability is all that counts",
        (("longest = max(often_enough, bound)", "longest = often_enough"),),
        {PLAN: 1},
        ("No failure loses more than one interval",),
    ),
    Variant(
        "bound-forgotten",
        "the optimum is the optimum",
        (("    return min(longest, best(save_cost, mtbf))\n", "    return best(save_cost, mtbf)\n"),),
        {PLAN: 2},
        ("That is too long",),
    ),
)
