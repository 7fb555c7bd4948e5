"""The parts of lab 20's master that its variants replace, and the cells that check them."""

JOB, WASTE, TIME, BEST = "check-job-mtbf", "check-waste", "check-expected-time", "check-best-interval"
FAILURES, WALL = "check-failure-times", "check-wall-hours"
OPT, BLOOM, LLAMA, MY_RUN = "check-opt-hours", "check-bloom-steps", "check-llama-minutes", "check-my-run"
PLAN = "check-plan"

BEST_BODY = """    young = math.sqrt(2 * save_cost * mtbf)
    candidates = np.geomspace(young / 10, young * 10, 2000)  # each 0.2 % longer than the one before
    hours = [expected_time(1.0, tau, save_cost, mtbf, restart_cost) for tau in candidates]
    return float(candidates[np.argmin(hours)])
"""
TIME_BODY = """    until_saved = mtbf * math.expm1((interval + save_cost) / mtbf)
    return math.exp(restart_cost / mtbf) * until_saved * work / interval
"""
FAILURES_BODY = """    times = []
    time = generator.exponential(mtbf)
    while time <= hours:
        times.append(time)
        time += generator.exponential(mtbf)
    return times
"""
WALL_BODY = """    upcoming = iter([*failures, math.inf])
    failure = next(upcoming)
    now = saved = 0.0
    restarting = False
    while saved < work:
        stretch = min(interval, work - saved)
        end = now + (restart_cost if restarting else stretch + save_cost)
        if failure < end:  # whatever was going on is void
            now = failure
            failure = next(upcoming)
            restarting = True
        else:
            now = end
            saved += 0.0 if restarting else stretch
            restarting = False
    return now
"""
PLAN_BODY = """    often_enough = bound / probability - save_cost
    longest = max(often_enough, bound)  # no failure loses more than one interval
    return min(longest, best(save_cost, mtbf))
"""
