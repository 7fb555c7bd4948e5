"""Lab 20's right solutions: vectorised, with SciPy, in plain Python. Each keeps every point."""

from autograder.mutants import Variant
from autograder.mutants.lab20.parts import BEST_BODY, FAILURES_BODY, PLAN_BODY, TIME_BODY, WALL_BODY

RIGHT = (
    Variant(
        "numpy-throughout",
        "arrays in all formulas, a search over one long array, failure times by a cumulative sum",
        (
            (
                TIME_BODY,
                """    span = (np.asarray(interval) + save_cost) / mtbf
    return mtbf * np.exp(restart_cost / mtbf) * (np.exp(span) - 1) * work / interval
""",
            ),
            (
                BEST_BODY,
                """    taus = np.exp(np.linspace(np.log(save_cost / 100), np.log(20 * mtbf), 100_000))
    return taus[np.argmin(expected_time(1000.0, taus, save_cost, mtbf, restart_cost))]
""",
            ),
            (
                FAILURES_BODY,
                """    gaps = generator.exponential(mtbf, size=int(3 * hours / mtbf) + 100)
    times = gaps.cumsum()
    return times[times <= hours]
""",
            ),
            (
                PLAN_BODY,
                "    longest = np.maximum(bound, bound / probability - save_cost)\n"
                "    return np.minimum(longest, best(save_cost, mtbf))\n",
            ),
        ),
    ),
    Variant(
        "scipy",
        "a bounded minimiser, and Poisson's count of failures thrown anywhere into the hours",
        (
            ("import numpy as np\n", "import numpy as np\nfrom scipy.optimize import minimize_scalar\n"),
            (
                BEST_BODY,
                """    def cost(tau):
        return expected_time(1.0, tau, save_cost, mtbf, restart_cost)

    return minimize_scalar(cost, bounds=(save_cost / 100, 3 * mtbf), method="bounded").x
""",
            ),
            (
                FAILURES_BODY,
                """    count = generator.poisson(hours / mtbf)
    return np.sort(generator.uniform(0.0, hours, size=count))
""",
            ),
        ),
    ),
    Variant(
        "lambert-w",
        "the exact optimum in closed form",
        (
            ("import numpy as np\n", "import numpy as np\nfrom scipy.special import lambertw\n"),
            (BEST_BODY, "    return mtbf * (1 + lambertw(-np.exp(-1 - save_cost / mtbf)).real)\n"),
        ),
    ),
    Variant(
        "golden-section",
        "golden section in plain Python, generators, and a loop within a loop for the restarts",
        (
            (
                BEST_BODY,
                """    low, high = 0.001 * save_cost, 5 * mtbf
    golden = (math.sqrt(5) - 1) / 2

    def cost(tau):
        return expected_time(100.0, tau, save_cost, mtbf, restart_cost)

    while high - low > 1e-6 * mtbf:
        left, right = high - golden * (high - low), low + golden * (high - low)
        if cost(left) < cost(right):
            high = right
        else:
            low = left
    return (low + high) / 2
""",
            ),
            (
                FAILURES_BODY,
                """    def endless():
        now = 0.0
        while True:
            now -= mtbf * math.log(1.0 - generator.random())
            yield now

    return tuple(itertools.takewhile(lambda time: time < hours, endless()))
""",
            ),
            ("import math\n", "import itertools\nimport math\n"),
            (
                WALL_BODY,
                """    now, done, left = 0.0, 0.0, list(failures)
    while done < work:
        piece = interval if work - done > interval else work - done
        finished = now + piece + save_cost
        if not left or left[0] >= finished:
            now, done = finished, done + piece
            continue
        now = left.pop(0) + restart_cost
        while left and left[0] < now:
            now = left.pop(0) + restart_cost
    return now
""",
            ),
            (
                PLAN_BODY,
                """    cheapest = best(save_cost, mtbf)
    if cheapest <= bound or bound >= probability * (cheapest + save_cost):
        return cheapest
    return bound if bound / probability < bound + save_cost else bound / probability - save_cost
""",
            ),
        ),
    ),
    Variant(
        "event-by-event",
        "a state machine over a heap of failures, in which a save and a stretch are events of their own",
        (
            ("import math\n", "import heapq\nimport math\n"),
            (
                WALL_BODY,
                """    heap = [float(time) for time in failures]
    heapq.heapify(heap)
    now, on_disk, in_memory, state = 0.0, 0.0, 0.0, "work"
    while True:
        lengths = {"work": min(interval, work - on_disk), "save": save_cost, "restart": restart_cost}
        if heap and heap[0] < now + lengths[state]:
            now, in_memory, state = heapq.heappop(heap), on_disk, "restart"
            continue
        now += lengths[state]
        if state == "work":
            in_memory, state = on_disk + lengths["work"], "save"
        elif state == "save":
            on_disk, state = in_memory, "work"
            if on_disk >= work:
                return now
        else:
            state = "work"
""",
            ),
        ),
    ),
    Variant(
        "round-numbers",
        "nobody needs the optimum: intervals that people can remember",
        (
            ("best(4 / 60, 60 * 24 / 105)", "1.5"),
            ("    return seconds / 105", "    return 100"),
            ("return best(1, minutes_between_failures)", "return 20"),
            ("best(save_minutes / 60, hours_between_failures)", "3"),
        ),
    ),
)
