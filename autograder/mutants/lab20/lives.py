"""Lab 20, part C: failures that are none, and lives in which they strike too little."""

from autograder.mutants import Variant
from autograder.mutants.lab20.parts import FAILURES, FAILURES_BODY, WALL, WALL_BODY

LIVES_MUTANTS = (
    Variant(
        "evenly-spaced",
        "one failure in each mtbf",
        ((FAILURES_BODY, "    return list(np.arange(mtbf, hours, mtbf) + 0 * generator.random())\n"),),
        {FAILURES: 2},
        ("another generator gives the same times",),
    ),
    Variant(
        "uniform-gaps",
        "a gap is anything from nothing to twice the mean",
        (
            (
                FAILURES_BODY,
                FAILURES_BODY.replace("generator.exponential(mtbf)", "generator.uniform(0, 2 * mtbf)"),
            ),
        ),
        {FAILURES: 2},
        ("Draw the gaps from an exponential",),
    ),
    Variant(
        "rate-for-the-mean",
        "numpy's exponential takes the rate, as in the textbook",
        ((FAILURES_BODY, FAILURES_BODY.replace("exponential(mtbf)", "exponential(1 / mtbf)")),),
        {FAILURES: 2},
        ("takes the mean gap, not the rate",),
    ),
    Variant(
        "gaps-for-times",
        "what is drawn is what is returned",
        ((FAILURES_BODY, "    return generator.exponential(mtbf, size=int(hours / mtbf))\n"),),
        {FAILURES: 2},
        ("Are these the gaps?",),
    ),
    Variant(
        "as-many-as-expected",
        "in so many hours there are hours / mtbf failures",
        (
            (
                FAILURES_BODY,
                "    return np.sort(generator.uniform(0, hours, size=round(hours / mtbf)))\n",
            ),
        ),
        {FAILURES: 2},
        ("How many come is chance too",),
    ),
    Variant(
        "own-generator",
        "any generator will do",
        ((FAILURES_BODY, "    generator = np.random.default_rng()\n" + FAILURES_BODY),),
        {FAILURES: 2},
        ("Draw from the generator that you are given",),
    ),
    Variant(
        "past-the-end",
        "the last failure does no harm",
        (("    while time <= hours:\n", "    while not times or times[-1] <= hours:\n"),),
        {FAILURES: 2},
        ("after the end. Leave those out",),
    ),
    Variant(
        "saves-are-safe",
        "failures strike work; a save is short",
        (
            (
                "        if failure < end:",
                "        while not restarting and now + stretch <= failure < end:\n"
                "            failure = next(upcoming)\n"
                "        if failure < end:",
            ),
        ),
        {WALL: 2},
        ("A save cannot be struck", "torn"),
    ),
    Variant(
        "struck-save-counts",
        "what was done before the save is saved",
        (
            (
                "            now = failure\n",
                "            saved += stretch if not restarting and failure >= now + stretch else 0.0\n"
                "            now = failure\n",
            ),
        ),
        {WALL: 2},
        ("A save that is struck counts as saved",),
    ),
    Variant(
        "restarts-are-safe",
        "nothing runs during a restart that could fail",
        (
            (
                "        if failure < end:",
                "        while restarting and failure < end:\n"
                "            failure = next(upcoming)\n"
                "        if failure < end:",
            ),
        ),
        {WALL: 2},
        ("A restart cannot be struck",),
    ),
    Variant(
        "loses-whole-intervals",
        "a failure costs the interval in which it comes",
        (
            (
                "            now = failure\n            failure = next(upcoming)\n",
                "            now = end\n"
                "            while failure < end:\n"
                "                failure = next(upcoming)\n",
            ),
        ),
        {WALL: 4},
        ("Each failure costs a whole interval",),
    ),
    Variant(
        "clock-begins-anew",
        "the list holds the gaps",
        (
            (
                "            failure = next(upcoming)\n            restarting = True\n",
                "            failure = now + next(upcoming)\n            restarting = True\n",
            ),
        ),
        {WALL: 4},
        ("The clock of the failures begins anew",),
    ),
    Variant(
        "keeps-unsaved-work",
        "what was computed was computed",
        (
            (
                "            now = failure\n",
                "            saved += 0.0 if restarting else min(stretch, failure - now)\n"
                "            now = failure\n",
            ),
        ),
        {WALL: 4},
        ("What was done since the last save is kept",),
    ),
    Variant(
        "from-the-very-beginning",
        "a restart starts the run again",
        (
            (
                "            now = failure\n",
                "            saved = saved if restarting else 0.0\n            now = failure\n",
            ),
        ),
        {WALL: 4},
        ("back to its very beginning",),
    ),
    Variant(
        "save-counts-as-work",
        "an interval is work and its save",
        (
            (
                "saved += 0.0 if restarting else stretch\n",
                "saved += 0.0 if restarting else stretch + save_cost\n",
            ),
        ),
        {WALL: 5},
        ("The time of a save counts as work done",),
    ),
    Variant(
        "last-stretch-is-whole",
        "all intervals are alike",
        (("stretch = min(interval, work - saved)", "stretch = interval"),),
        {WALL: 5},
        ("The last stretch may be shorter",),
    ),
    Variant(
        "no-last-save",
        "after the last step there is nothing left to protect",
        (
            (
                "else stretch + save_cost)",
                "else stretch + (save_cost if saved + stretch < work else 0.0))",
            ),
        ),
        {WALL: 5},
        ("The last stretch ends in a save too",),
    ),
    Variant(
        "restart-is-free",
        "the scheduler restarts at once",
        (("(restart_cost if restarting else", "(0.0 if restarting else"),),
        {WALL: 4},
        ("A restart takes no time",),
    ),
    Variant(
        "an-average-failure",
        "a failure costs half an interval and a restart",
        (
            (
                WALL_BODY,
                """    stretches = math.ceil(work / interval)
    hours = work + stretches * save_cost
    struck = len([time for time in failures if time < hours])
    return hours + struck * (interval / 2 + restart_cost)
""",
            ),
        ),
        {WALL: 4},
        ("is right",),
    ),
    Variant(
        "never-ends",
        "the next failure comes, whether it has struck or not",
        (
            (
                "            failure = next(upcoming)\n            restarting = True\n",
                "            restarting = True\n",
            ),
        ),
        {WALL: 4},
        ("it has not ended after", "a way out"),
    ),
)
