"""This course's own checkpoints: their own code verifies them."""

from __future__ import annotations

from pathlib import Path

MANIFEST, STATE = "manifest.json", "state.pt"
HASHED_BYTES = 1 << 30  # to hash more takes longer than anyone waits for a description


def faults(folder: Path) -> list[str]:
    """What the manifest of the checkpoint at `folder` has against its files."""
    if not (folder / MANIFEST).is_file() or not (folder / STATE).is_file():
        return ["manifest.json or state.pt is not a file"]
    if (folder / MANIFEST).stat().st_size > 1 << 20:
        return ["manifest.json is far too long"]
    if (folder / STATE).stat().st_size > HASHED_BYTES:
        return []
    from lastgood.recovery.checkpoint import CheckpointError, verify  # imports torch, which takes seconds

    try:
        verify(folder)
    except CheckpointError as error:
        return [f"{error.path.name}: {error.cause}"]
    return []
