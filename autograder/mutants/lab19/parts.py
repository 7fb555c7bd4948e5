"""The parts of lab 19's master that its variants replace, and the cells that check them."""

HAPPENED, FOUND, PROGRESS = "check-what-happened", "check-last-good", "check-no-progress"
LOOP, LOST, ETTR = "check-supervise", "check-lost-steps", "check-ettr"

HAPPENED_BODY = """    if status is None:
        patience = PATIENCE if beats else START_PATIENCE
        return "hung" if silence > patience else "running"
    if status == 0:
        return "finished"
    if status == -signal.SIGTERM:
        return "left"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return "failed"
"""
FOUND_BODY = """    steps = {}
    for path in folder.iterdir():
        if match := re.fullmatch(r"step-(\\d+)", path.name):
            steps[int(match[1])] = path
    skipped = {}
    for step in sorted(steps, reverse=True):
        wrong = fault(steps[step], run, step)
        if not wrong:
            return steps[step], skipped
        skipped[steps[step].name] = wrong
    return None, skipped
"""
PROGRESS_BODY = """    furthest, deaths = 0, 0
    for step in reached:
        if step > furthest:
            furthest, deaths = step, 0
        else:
            deaths += 1
    return deaths
"""
LOOP_BODY = """    reached: list[int] = []
    while no_progress(reached) < LIMIT:
        checkpoint, _ = last_good(job.folder, job.run)
        step = int(checkpoint.name.removeprefix("step-")) if checkpoint else 0
        del job.record[step:]  # what was done beyond the checkpoint will be done again

        process = job.start(checkpoint)
        state = "running"
        while state == "running":
            status = process.poll()
            state = what_happened(status, process.silence, process.beats)
        if state == "finished":
            return state
        if state == "hung":
            process.kill()  # it may wake up, and write beside the next one
        reached.append(process.step)
    return "gave up"
"""
LOST_BODY = """    lost = []
    failed_at = 0
    for event in events:
        if event["kind"] == "failed":
            failed_at = event["step"]
        elif event["kind"] == "restarted":
            lost.append(failed_at - event["step"])
    return lost
"""
ETTR_BODY = """    finished = events[-1]
    return finished["step"] * hours_per_step / finished["hours"]
"""
