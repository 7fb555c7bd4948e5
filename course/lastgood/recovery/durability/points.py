"""At which points of a save it is killed: before its changes, after its renames, amid what it writes.

A random moment finds the same hole again and again and misses the narrow ones, so the points are enumerated
from the changes that an undisturbed save makes to the file system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

MOST_CHANGES, MOST_RENAMES, MOST_OPENED = 5, 2, 2
FRACTIONS = (0.3, 0.9)  # of the largest file


@dataclass(frozen=True)
class Point:
    """One point, in words and in terms of `crash`."""

    says: str
    change: int | None = None  # the number of the change
    done: bool = False  # just after it, not before
    target: str = ""  # the name that a rename gave, for a kill just after it
    size: int | None = None  # bytes of a file at which the kill comes
    kills: int = 1  # saves that are killed one after another
    then_saved: bool = False  # after the kill, a whole save: whatever the kill left must not be in its way


def points(changes: Sequence[str], largest: int) -> list[Point]:
    """The points for a save that makes these changes and whose largest file has so many bytes."""
    found = [*_around_changes(changes, max(1, largest // 2)), *_amid_bytes(changes, largest)]
    if found:
        last = max(0, len(_spread(len(changes), MOST_CHANGES)) - 1)
        found.append(replace(found[last], then_saved=True))
    return found


def _around_changes(changes: Sequence[str], half: int) -> Iterator[Point]:
    renames = [n for n, change in enumerate(changes) if change.startswith("rename ") and "…" not in change]
    opened = [n for n, change in enumerate(changes) if change.startswith("open ")]
    for n in _spread(len(changes), MOST_CHANGES):
        yield Point(f"just before “{changes[n]}”", n)
    for n in renames[-MOST_RENAMES:]:
        yield Point(f"just after “{changes[n]}”", n, done=True, target=changes[n].rpartition(" to ")[2])
    for n in opened[-MOST_OPENED:]:
        yield Point(f"when half of {changes[n][5:]} was written", n, size=half)


def _amid_bytes(changes: Sequence[str], largest: int) -> Iterator[Point]:
    """For writers that Python does not see, as torch's: by the size that a file has reached."""
    if not largest:
        return
    for share in FRACTIONS:
        yield Point(f"when {share:.0%} of the new state was written", size=max(1, int(share * largest)))
    half = max(1, largest // 2)
    says = "in one save and again in the next"
    yield Point(f"{says}, over what the first one left", size=half, kills=2)
    if changes:
        yield Point(
            f"{says}, both times at “{changes[-1]}” or soon after", len(changes) - 1, size=half, kills=2
        )


def _spread(count: int, most: int) -> list[int]:
    """At most `most` of the numbers below `count`, evenly spread, the last among them."""
    return sorted({round(i * (count - 1) / max(1, min(count, most) - 1)) for i in range(min(count, most))})
