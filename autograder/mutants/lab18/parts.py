"""The parts of lab 18's master that its variants replace, and the cells that check them."""

MODEL, LOSS = "check-causal-mask", "check-next-token-loss"
CONTENTS, DISK = "check-capture-restore", "check-save-load"
HOURS, BYTES = "check-hours-between-restarts", "check-state-bytes"
LOST, SYMPTOM = "check-lost-hours", "check-symptom"

CAPTURE_BODY = """    return {
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "step": run.step,
        "loader": run.loader.state_dict(),
        "rng": capture_rng(),
    }
"""
RESTORE_BODY = """    run.model.load_state_dict(state["model"])
    run.optimizer.load_state_dict(state["optimizer"])
    run.step = state["step"]
    run.loader.load_state_dict(state["loader"])
    restore_rng(state["rng"])
"""
SAVE_BODY = """    temporary = Path(folder) / "newest.tmp"
    with open(temporary, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, Path(folder) / "newest.pt")
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)  # the rename itself is on disk only now
    os.close(directory)
"""
LOAD_BODY = """    return torch.load(Path(folder) / "newest.pt", weights_only=True)
"""
