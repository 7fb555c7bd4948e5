"""Lab 20, parts A and B: a rate misread, a price left out, and the forms with a wrong sign."""

from autograder.mutants import Variant
from autograder.mutants.lab20.parts import BEST, BEST_BODY, JOB, TIME, TIME_BODY, WASTE

PRICES_MUTANTS = (
    Variant(
        "mtbf-of-one-host",
        "a host that is good for a year makes a job that is good for a year",
        (("hosts * per_1000_host_days / 1000", "per_1000_host_days / 1000"),),
        {JOB: 2},
        ("the time between failures of one host", "any of its hosts"),
    ),
    Variant(
        "mtbf-in-days",
        "the rate is in days, so the answer is",
        (("return 24 / failures_a_day", "return 1 / failures_a_day"),),
        {JOB: 2},
        ("in days. Hours are wanted",),
    ),
    Variant(
        "rate-for-one-host-day",
        "the rate is failures a host-day",
        (("hosts * per_1000_host_days / 1000", "hosts * per_1000_host_days"),),
        {JOB: 2},
        ("1,000 host-days; you take it for one",),
    ),
    Variant(
        "failures-a-day",
        "a rate is as good as a time",
        (("return 24 / failures_a_day", "return failures_a_day"),),
        {JOB: 2},
        ("That is failures a day",),
    ),
    Variant(
        "more-hosts-fewer-failures",
        "the load is shared by more hosts",
        (("hosts * per_1000_host_days / 1000", "per_1000_host_days / 1000 / hosts"),),
        {JOB: 2},
        ("More hosts make more failures",),
    ),
    Variant(
        "waste-without-the-half",
        "a failure costs an interval",
        (("(interval / 2) / mtbf", "interval / mtbf"),),
        {WASTE: 2},
        ("half of it is lost", "You lose all"),
    ),
    Variant(
        "restart-twice",
        "the job stops and starts: two times a restart",
        (("restarts = restart_cost / mtbf", "restarts = 2 * restart_cost / mtbf"),),
        {WASTE: 2},
        ("The restart is counted twice",),
    ),
    Variant(
        "restart-each-interval",
        "each interval has its own overheads",
        (("restarts = restart_cost / mtbf", "restarts = restart_cost / interval"),),
        {WASTE: 2},
        ("once for each failure, not for each interval",),
    ),
    Variant(
        "waste-without-restarts",
        "a restart is not waste",
        (("return saves + lost_work + restarts", "return saves + lost_work"),),
        {WASTE: 2},
        ("The restart is missing",),
    ),
    Variant(
        "saves-not-exposed",
        "a failure strikes work, and a save takes as long as it takes",
        (
            (
                TIME_BODY,
                """    until_done = mtbf * math.expm1(interval / mtbf)
    return (math.exp(restart_cost / mtbf) * until_done + save_cost) * work / interval
""",
            ),
        ),
        {TIME: 2},
        ("Saves are exposed too",),
    ),
    Variant(
        "restarts-not-exposed",
        "a restart takes R and no more",
        (("math.exp(restart_cost / mtbf) *", "(1 + restart_cost / mtbf) *"),),
        {TIME: 2},
        ("Restarts are exposed too",),
    ),
    Variant(
        "first-order-time",
        "waste is what is added to the work",
        (
            (
                TIME_BODY,
                "    wasted = save_cost / interval + interval / (2 * mtbf) + restart_cost / mtbf\n"
                "    return work * (1 + wasted)\n",
            ),
        ),
        {TIME: 2},
        ("the first order",),
    ),
    Variant(
        "exp-without-minus-one",
        "expm1 is another name of exp",
        (("math.expm1((interval + save_cost) / mtbf)", "math.exp((interval + save_cost) / mtbf)"),),
        {TIME: 2},
        ("The - 1 in the bracket is missing",),
    ),
    Variant(
        "young",
        "Young's formula is the optimum",
        ((BEST_BODY, "    return math.sqrt(2 * save_cost * mtbf)\n"),),
        {BEST: 3},
        ("This is Young's formula", "% longer than it has to"),
    ),
    Variant(
        "young-plus-save",
        "the save has to get in somehow",
        ((BEST_BODY, "    return math.sqrt(2 * save_cost * mtbf) + save_cost\n"),),
        {BEST: 3},
        ("The interval is work, and the save is no part of it",),
    ),
    Variant(
        "daly-plus-save",
        "Daly's rule, from memory",
        (
            (
                BEST_BODY,
                """    half = save_cost / (2 * mtbf)
    bracket = 1 + math.sqrt(half) / 3 + half / 9
    return math.sqrt(2 * save_cost * mtbf) * bracket + save_cost
""",
            ),
        ),
        {BEST: 3},
        ("Daly's bracket with + save_cost",),
    ),
    Variant(
        "from-save-to-save",
        "the interval is the time from one checkpoint to the next",
        (
            (
                "    return float(candidates[np.argmin(hours)])",
                "    return float(candidates[np.argmin(hours)]) + save_cost",
            ),
        ),
        {BEST: 3},
        ("The interval is the work alone",),
    ),
    Variant(
        "restart-in-the-optimum",
        "failures come further apart, by the restart between them",
        ((BEST_BODY, "    return math.sqrt(2 * save_cost * (mtbf + restart_cost))\n"),),
        {BEST: 3},
        ("A slow restart costs the same at each failure",),
    ),
    Variant(
        "restart-beside-the-save",
        "save and restart are both overheads of an interval",
        (
            (
                "expected_time(1.0, tau, save_cost, mtbf, restart_cost)",
                "expected_time(1.0, tau, save_cost + restart_cost, mtbf, 0.0)",
            ),
        ),
        {BEST: 3},
        ("does not move the lowest point",),
    ),
    Variant(
        "coarse-search",
        "twenty candidates are many",
        (("young * 10, 2000)", "young * 10, 20)"),),
        {BEST: 3},
        ("% longer than it has to",),
    ),
)
