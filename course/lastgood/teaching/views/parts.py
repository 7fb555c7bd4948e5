"""Which entries of a captured state make up each of the five components."""

from __future__ import annotations

from typing import Any

from lastgood.recovery import components, state

ENTRIES: dict[str, tuple[str, ...]] = {
    components.PARAMETERS: (state.MODEL,),
    components.OPTIMIZER: (state.OPTIMIZER,),
    components.STEP: (state.STEP, state.SCHEDULE),
    components.LOADER: (state.LOADER,),
    components.RNG: (state.RNG,),
}


def entries_of(component: str, captured: dict[str, Any]) -> dict[str, Any]:
    """The part of a captured state that belongs to one component."""
    return {key: captured[key] for key in ENTRIES[component]}
